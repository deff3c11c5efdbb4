// Splits of the cluster tree.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "arrays.hpp"
#include "gil.hpp"
#include "hss/split.hpp"
#include "kernel_matrix.hpp"
#include "module.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

template <class T>
void split_level(const Rows& X, Index n_nodes, Index n_samples, Index n_starts, Index n_iterations,
                 std::uint64_t seed, Array<Index> perm, Matrix<T> directions, Array<T> thresholds) {
    require(size(perm) == X.n_rows(), "perm must list every row");
    check_indices(Indices(perm.data(), {perm.size()}), X.n_rows());
    require(static_cast<Index>(directions.shape(0)) == n_nodes &&
                static_cast<Index>(directions.shape(1)) == X.n_features() &&
                size(thresholds) == n_nodes && 2 * n_nodes <= X.n_rows() && n_samples > 1 &&
                n_starts > 0,
            "split_level: shapes do not match");
    ReleaseGil release;
    X.visit<T>([&](auto& rows) {
        hss::split_level<T>(rows, n_nodes, {n_samples, n_starts, n_iterations}, seed, perm.data(),
                            directions.data(), thresholds.data());
    });
}

template <class T>
void route(const Rows& X, Index depth, Matrix<const T> directions, Array<const T> thresholds,
           Array<Index> leaf) {
    require(depth >= 0 && depth < 62, "route: depth");
    require(size(leaf) == X.n_rows() && size(thresholds) == (Index(1) << depth) - 1 &&
                static_cast<Index>(directions.shape(0)) == size(thresholds) &&
                static_cast<Index>(directions.shape(1)) == X.n_features(),
            "route: shapes do not match");
    ReleaseGil release;
    X.visit<T>([&](auto& rows) {
        hss::route<T>(rows, depth, directions.data(), thresholds.data(), leaf.data());
    });
}

template <class T>
void bind_functions(nb::module_& m) {
    m.def("split_level", &split_level<T>, "X"_a, "n_nodes"_a, "n_samples"_a, "n_starts"_a,
          "n_iterations"_a, "seed"_a, "perm"_a.noconvert(), "directions"_a.noconvert(),
          "thresholds"_a.noconvert());
    m.def("route", &route<T>, "X"_a, "depth"_a, "directions"_a.noconvert(),
          "thresholds"_a.noconvert(), "leaf"_a.noconvert());
}

}  // namespace

void bind_tree(nb::module_& m) {
    bind_functions<float>(m);
    bind_functions<double>(m);
}

}  // namespace bindings
