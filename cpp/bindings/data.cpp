// Maps of the rows before the kernel.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.hpp"
#include "data/interpolate_columns.hpp"
#include "gil.hpp"
#include "module.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

template <class T>
void bind_interpolate_columns(nb::module_& m) {
    m.def(
        "interpolate_columns",
        [](Matrix<const T> X, Matrix<const T> x, Matrix<const T> y, Matrix<T> out) {
            const Index n = static_cast<Index>(X.shape(0)), p = static_cast<Index>(X.shape(1)),
                        n_knots = static_cast<Index>(x.shape(1));
            require(static_cast<Index>(out.shape(0)) == n && out.shape(1) == X.shape(1) &&
                        static_cast<Index>(x.shape(0)) == p && x.shape(0) == y.shape(0) &&
                        x.shape(1) == y.shape(1) && n_knots > 0,
                    "interpolate_columns: shapes do not match");
            ReleaseGil release;
            data::interpolate_columns(X.data(), n, p, x.data(), y.data(), n_knots, out.data());
        },
        "X"_a.noconvert(), "x"_a.noconvert(), "y"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void bind_data(nb::module_& m) {
    bind_interpolate_columns<float>(m);
    bind_interpolate_columns<double>(m);
}

}  // namespace bindings
