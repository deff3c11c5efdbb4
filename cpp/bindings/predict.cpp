// Predictions at few rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "hss/predict.hpp"
#include "kernel_matrix.hpp"
#include "module.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

// The expansions of one tree, with the arrays that they point into.
struct LeafExpansions {
    std::variant<hss::LeafExpansions<float>, hss::LeafExpansions<double>> tree;
    std::vector<std::shared_ptr<void>> owners;
};

template <class T>
void make(LeafExpansions* self, const hss::Kernel& kernel, const Rows& Y, Indices rows,
          Indices ends, Matrix<const T> W, Matrix<const T> directions, Array<const T> thresholds,
          std::optional<Matrix<const T>> constants, double clip) {
    const auto* dense = std::get_if<hss::DenseRows<T>>(&Y.rows);
    if (!dense) throw nb::type_error("Y must be dense, with the dtype of W");
    const Index n_leaves = size(ends) - 1;
    Index depth = 0;
    while (depth < 61 && (Index(1) << depth) < n_leaves) ++depth;
    require((Index(1) << depth) == n_leaves && size(thresholds) == n_leaves - 1 &&
                static_cast<Index>(directions.shape(0)) == size(thresholds) &&
                static_cast<Index>(directions.shape(1)) == dense->p &&
                static_cast<Index>(W.shape(0)) == size(rows) &&
                (!constants || (static_cast<Index>(constants->shape(0)) == n_leaves &&
                                constants->shape(1) == W.shape(1))) &&
                clip > 0,
            "LeafExpansions: shapes do not match");
    check_offsets(ends, size(rows));
    check_indices(rows, dense->n);
    auto owners = Y.owners;
    owners.insert(owners.end(),
                  {retain(rows), retain(ends), retain(W), retain(directions), retain(thresholds)});
    if (constants) owners.push_back(retain(*constants));
    new (self) LeafExpansions{
        hss::LeafExpansions<T>{kernel, *dense, rows.data(), ends.data(), W.data(),
                               static_cast<Index>(W.shape(1)), depth, directions.data(),
                               thresholds.data(), constants ? constants->data() : nullptr,
                               static_cast<T>(clip)},
        std::move(owners)};
}

template <class T>
void add_to(const LeafExpansions& self, Matrix<const T> X, Matrix<T> out) {
    const auto* tree = std::get_if<hss::LeafExpansions<T>>(&self.tree);
    if (!tree) throw nb::type_error("X and the expansions differ in dtype");
    const Index n = static_cast<Index>(X.shape(0)), p = static_cast<Index>(X.shape(1));
    require(p == tree->Y.p && static_cast<Index>(out.shape(0)) == n &&
                static_cast<Index>(out.shape(1)) == tree->k,
            "LeafExpansions: shapes do not match");
    ReleaseGil release;
    hss::add_few_values<T>(*tree, {X.data(), n, p}, out.data());
}

template <class T>
void bind_expansions(nb::class_<LeafExpansions>& cls) {
    cls.def("__init__", &make<T>, "kernel"_a, "Y"_a, "rows"_a.noconvert(), "ends"_a.noconvert(),
            "W"_a.noconvert(), "directions"_a.noconvert(), "thresholds"_a.noconvert(),
            "constants"_a.noconvert().none(), "clip"_a);
    cls.def("add_to", &add_to<T>, "X"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void bind_predict(nb::module_& m) {
    nb::class_<LeafExpansions> cls(m, "LeafExpansions");
    bind_expansions<float>(cls);
    bind_expansions<double>(cls);
}

}  // namespace bindings
