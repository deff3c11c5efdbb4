// The separable step of ADMM, and SMO.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.hpp"
#include "gil.hpp"
#include "module.hpp"
#include "svm/prox.hpp"
#include "svm/smo.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

template <class T>
void bind_functions(nb::module_& m) {
    m.def(
        "shifted_prox",
        [](Matrix<const T> V, Array<const T> beta, Array<const double> tau, Matrix<const T> bound,
           bool symmetric, Array<const double> l1_weight, Matrix<T> Z, Matrix<double> sums) {
            const Index n = static_cast<Index>(V.shape(0)), k = static_cast<Index>(V.shape(1));
            require(size(beta) == n && size(tau) == k && size(l1_weight) == k &&
                        bound.shape(0) == V.shape(0) && bound.shape(1) == V.shape(1) &&
                        Z.shape(0) == V.shape(0) && Z.shape(1) == V.shape(1) &&
                        sums.shape(0) == 3 && sums.shape(1) == V.shape(1) && k > 0,
                    "shifted_prox: shapes do not match");
            ReleaseGil release;
            svm::shifted_prox<T>(V.data(), beta.data(), tau.data(), bound.data(), symmetric,
                                 l1_weight.data(), n, k, Z.data(), sums.data());
        },
        "V"_a.noconvert(), "beta"_a.noconvert(), "tau"_a.noconvert(), "bound"_a.noconvert(),
        "symmetric"_a, "l1_weight"_a.noconvert(), "Z"_a.noconvert(), "sums"_a.noconvert());
    m.def(
        "set_symmetric",
        [](Matrix<const T> block, Indices at, Matrix<T> K) {
            const Index m = static_cast<Index>(block.shape(0)),
                        q = static_cast<Index>(block.shape(1));
            require(
                size(at) == m && K.shape(0) == K.shape(1) && q <= static_cast<Index>(K.shape(0)),
                "set_symmetric: shapes do not match");
            check_indices(at, q);
            ReleaseGil release;
            svm::set_symmetric<T>(block.data(), m, q, at.data(), K.data(),
                                  static_cast<Index>(K.shape(1)));
        },
        "block"_a.noconvert(), "at"_a.noconvert(), "K"_a.noconvert());
    m.def(
        "smo",
        [](Matrix<const T> K, Indices offsets, Indices members, Array<const T> lower,
           Array<const T> upper, Array<const double> l1_weight, Array<T> z, Array<T> g,
           Array<const double> tol, Index max_steps, Array<Index> steps) {
            check_offsets(offsets, size(members));
            check_indices(members, static_cast<Index>(K.shape(0)));
            const Index n_problems = size(offsets) - 1;
            require(K.shape(0) == K.shape(1) && size(lower) == size(members) &&
                        size(upper) == size(members) && size(z) == size(members) &&
                        size(g) == size(members) && size(l1_weight) == n_problems &&
                        size(tol) == n_problems && size(steps) == n_problems,
                    "smo: shapes do not match");
            ReleaseGil release;
            svm::smo<T>(K.data(), static_cast<Index>(K.shape(1)), n_problems, offsets.data(),
                        members.data(), lower.data(), upper.data(), l1_weight.data(), z.data(),
                        g.data(), tol.data(), max_steps, steps.data());
        },
        "K"_a.noconvert(), "offsets"_a.noconvert(), "members"_a.noconvert(), "lower"_a.noconvert(),
        "upper"_a.noconvert(), "l1_weight"_a.noconvert(), "z"_a.noconvert(), "g"_a.noconvert(),
        "tol"_a.noconvert(), "max_steps"_a, "steps"_a.noconvert());
}

}  // namespace

void bind_svm(nb::module_& m) {
    bind_functions<float>(m);
    bind_functions<double>(m);
}

}  // namespace bindings
