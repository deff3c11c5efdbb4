// Shapley values of kernel expansions.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "arrays.hpp"
#include "gil.hpp"
#include "module.hpp"
#include "shapley/values.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

template <class T>
using Cube = nb::ndarray<T, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Doubles = Array<const double>;

// What the values of all expansions with one kernel share.
struct ShapleyRules {
    Indices ends;
    Doubles nodes, weights, widths;
    Matrix<const double> limits;
    double negligible;

    ShapleyRules(Indices ends, Doubles nodes, Doubles weights, Doubles widths,
                 Matrix<const double> limits, double negligible)
        : ends(ends), nodes(nodes), weights(weights), widths(widths), limits(limits),
          negligible(negligible) {
        check_offsets(ends, size(nodes));
        require(size(ends) >= 2 && size(nodes) == size(weights) &&
                    size(widths) == shapley::n_ellipses &&
                    static_cast<Index>(limits.shape(0)) == size(ends) - 1 &&
                    static_cast<Index>(limits.shape(1)) == shapley::n_ellipses,
                "ShapleyRules: shapes do not match");
    }

    shapley::Rules view() const {
        return {size(ends) - 1, ends.data(),   nodes.data(), weights.data(),
                widths.data(),  limits.data(), negligible};
    }
};

void shapley_values(const ShapleyRules& rules, Indices term_ends, Array<const std::int32_t> kinds,
                    Doubles gammas, Matrix<const double> support, Matrix<const double> W,
                    Matrix<const double> X, Matrix<const double> background,
                    Doubles background_weight, Cube<double> values, Array<double> base) {
    const Index p = size(term_ends) - 1;
    check_offsets(term_ends, size(kinds));
    require(size(kinds) == size(gammas), "shapley_values: shapes do not match");
    for (Index i = 0; i < size(kinds); ++i)
        require(kinds.data()[i] >= 0 && kinds.data()[i] <= 3, "shapley_values: unknown kind");
    require(support.shape(1) == X.shape(1) && static_cast<Index>(X.shape(1)) == p &&
                static_cast<Index>(background.shape(1)) == p && W.shape(0) == support.shape(0) &&
                background.shape(0) == background_weight.size() && values.shape(0) == X.shape(0) &&
                values.shape(1) == W.shape(1) && values.shape(2) == X.shape(1) &&
                base.size() == W.shape(1),
            "shapley_values: shapes do not match");
    const shapley::Problem problem{support.data(),
                                   W.data(),
                                   static_cast<Index>(support.shape(0)),
                                   static_cast<Index>(W.shape(1)),
                                   X.data(),
                                   static_cast<Index>(X.shape(0)),
                                   background.data(),
                                   background_weight.data(),
                                   static_cast<Index>(background.shape(0))};
    const shapley::Terms terms{p, term_ends.data(), kinds.data(), gammas.data()};
    ReleaseGil release;
    shapley::shapley_values(problem, terms, rules.view(), values.data(), base.data());
}

}  // namespace

void bind_shapley(nb::module_& m) {
    nb::class_<ShapleyRules>(m, "ShapleyRules")
        .def(nb::init<Indices, Doubles, Doubles, Doubles, Matrix<const double>, double>(),
             "ends"_a.noconvert(), "nodes"_a.noconvert(), "weights"_a.noconvert(),
             "widths"_a.noconvert(), "limits"_a.noconvert(), "negligible"_a);
    m.def("shapley_values", &shapley_values, "rules"_a, "term_ends"_a.noconvert(),
          "kinds"_a.noconvert(), "gammas"_a.noconvert(), "support"_a.noconvert(), "W"_a.noconvert(),
          "X"_a.noconvert(), "background"_a.noconvert(), "background_weight"_a.noconvert(),
          "values"_a.noconvert(), "base"_a.noconvert());
}

}  // namespace bindings
