// The separable step of ADMM, SMO, and products with kept rows of a kernel matrix.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <variant>

#include "arrays.hpp"
#include "gil.hpp"
#include "kernel_matrix.hpp"
#include "module.hpp"
#include "ridge.hpp"
#include "svm/parts.hpp"
#include "svm/prox.hpp"
#include "svm/small.hpp"
#include "svm/smo.hpp"
#include "svm/transposed_product.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

// Asks a Python function, if there is one, whether to stop; handles Ctrl-C in any case. To be made
// with the GIL, and to outlive the scope without it.
svm::Watch watch(const nb::object& stop) {
    return svm::Watch([&stop] {
        hss::check_interrupt();
        if (stop.is_none()) return false;
        nb::gil_scoped_acquire gil;
        return nb::cast<bool>(nb::bool_(stop()));
    });
}

template <class T>
svm::SmallProblem<T> small_problem(Index n, const Array<const T>& linear,
                                   const Array<const T>& lower, const Array<const T>& upper,
                                   double l1_weight, const Ridge<T>& ridge, const Array<T>& z,
                                   const Array<double>& F) {
    require(
        size(linear) == n && size(lower) == n && size(upper) == n && size(z) == n && size(F) == n,
        "solve_small: shapes do not match");
    return {n,         linear.data(),      lower.data(), upper.data(),
            l1_weight, ridge_of(ridge, n), z.data(),     F.data()};
}

// Rows of a kernel matrix with the memory that they need.
template <class T>
struct OwnedRows {
    hss::Buffer<T> buffer;
    svm::KernelRows<T> rows;

    OwnedRows(const hss::Kernel& kernel, const hss::DenseRows<T>& X) : rows(kernel, X, buffer) {}
};

// The rows of a small kernel matrix in the precision of X, for one thread at a time.
struct SmallKernelMatrix {
    Rows X;  // owns the features
    std::variant<std::unique_ptr<OwnedRows<float>>, std::unique_ptr<OwnedRows<double>>> K;

    SmallKernelMatrix(const hss::Kernel& kernel, const Rows& points) : X(points) {
        if (!(take<float>(kernel) || take<double>(kernel))) throw nb::type_error("X must be dense");
    }

    template <class T>
    svm::KernelRows<T>& rows() {
        if (auto* own = std::get_if<std::unique_ptr<OwnedRows<T>>>(&K)) return (*own)->rows;
        throw nb::type_error("solve_small: K and z differ in dtype");
    }

  private:
    template <class T>
    bool take(const hss::Kernel& kernel) {
        const auto* dense = std::get_if<hss::DenseRows<T>>(&X.rows);
        if (dense) K = std::make_unique<OwnedRows<T>>(kernel, *dense);
        return dense;
    }
};

template <class T>
void bind_small(nb::module_& m) {
    m.def(
        "solve_small",
        [](SmallKernelMatrix& K, Array<const T> linear, Array<const T> lower, Array<const T> upper,
           double l1_weight, Array<T> z, Array<double> F, double tol, Index max_steps,
           nb::object stop, Ridge<T> ridge) {
            svm::KernelRows<T>& rows = K.rows<T>();
            const auto problem =
                small_problem(rows.size(), linear, lower, upper, l1_weight, ridge, z, F);
            svm::SmallResult result;
            svm::Watch watched = watch(stop);
            {
                ReleaseGil release;
                result = svm::solve_small<T>(rows, problem, tol, max_steps, watched);
            }
            watched.rethrow();
            return nb::make_tuple(result.steps, result.gap);
        },
        "K"_a, "linear"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "l1_weight"_a,
        "z"_a.noconvert(), "F"_a.noconvert(), "tol"_a, "max_steps"_a, "stop"_a = nb::none(),
        "ridge"_a = nb::none());
    m.def(
        "solve_small",
        [](Matrix<const T> K, Array<const T> linear, Array<const T> lower, Array<const T> upper,
           double l1_weight, Array<T> z, Array<double> F, double tol, Index max_steps,
           nb::object stop, Ridge<T> ridge) {
            const Index n = static_cast<Index>(K.shape(0));
            require(K.shape(0) == K.shape(1), "solve_small: K must be square");
            const auto problem = small_problem(n, linear, lower, upper, l1_weight, ridge, z, F);
            svm::SmallResult result;
            svm::Watch watched = watch(stop);
            {
                ReleaseGil release;
                svm::DenseMatrix<T> matrix{K.data(), n};
                result = svm::solve_small<T>(matrix, problem, tol, max_steps, watched);
            }
            watched.rethrow();
            return nb::make_tuple(result.steps, result.gap);
        },
        "K"_a.noconvert(), "linear"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
        "l1_weight"_a, "z"_a.noconvert(), "F"_a.noconvert(), "tol"_a, "max_steps"_a,
        "stop"_a = nb::none(), "ridge"_a = nb::none());
}

template <class T>
svm::Parts<T> make_parts(Index n_rows, Indices offsets, Indices rows, Matrix<const T> lower,
                         Matrix<const T> upper, Matrix<const T> linear,
                         Array<const double> l1_weight, Array<const double> tol, Indices max_steps,
                         Matrix<T> z, Matrix<T> F, Matrix<double> primal, Matrix<double> dual,
                         Matrix<double> intercept, Matrix<Index> steps, const Ridge<T>& ridge) {
    check_offsets(offsets, size(rows));
    check_indices(rows, n_rows);
    const Index n_parts = size(offsets) - 1, m = size(rows),
                k = static_cast<Index>(linear.shape(1));
    const auto has = [](const auto& array, Index n, Index width) {
        return static_cast<Index>(array.shape(0)) == n &&
               static_cast<Index>(array.shape(1)) == width;
    };
    require(has(lower, m, k) && has(upper, m, k) && has(linear, m, k) && has(z, m, k) &&
                has(F, m, k) && has(primal, n_parts, k) && has(dual, n_parts, k) &&
                has(intercept, n_parts, k) && has(steps, n_parts, k) && size(l1_weight) == k &&
                size(tol) == k && size(max_steps) == n_parts,
            "solve_parts: shapes do not match");
    const T* own_ridge = ridge_of(ridge, m);
    return {n_parts,        k,
            offsets.data(), rows.data(),
            lower.data(),   upper.data(),
            linear.data(),  l1_weight.data(),
            tol.data(),     max_steps.data(),
            own_ridge,      z.data(),
            F.data(),       primal.data(),
            dual.data(),    intercept.data(),
            steps.data()};
}

template <class T>
void bind_parts(nb::module_& m) {
    const auto bind = [&m](auto solve, auto... kernel) {
        m.def("solve_parts", solve, kernel..., "offsets"_a.noconvert(), "rows"_a.noconvert(),
              "lower"_a.noconvert(), "upper"_a.noconvert(), "linear"_a.noconvert(),
              "l1_weight"_a.noconvert(), "tol"_a.noconvert(), "max_steps"_a.noconvert(),
              "z"_a.noconvert(), "F"_a.noconvert(), "primal"_a.noconvert(), "dual"_a.noconvert(),
              "intercept"_a.noconvert(), "steps"_a.noconvert(), "stop"_a = nb::none(),
              "ridge"_a = nb::none());
    };
    bind(
        [](const hss::Kernel& kernel, const Rows& X, Indices offsets, Indices rows,
           Matrix<const T> lower, Matrix<const T> upper, Matrix<const T> linear,
           Array<const double> l1_weight, Array<const double> tol, Indices max_steps, Matrix<T> z,
           Matrix<T> F, Matrix<double> primal, Matrix<double> dual, Matrix<double> intercept,
           Matrix<Index> steps, nb::object stop, Ridge<T> ridge) {
            const auto* dense = std::get_if<hss::DenseRows<T>>(&X.rows);
            if (!dense) throw nb::type_error("X must be dense, with the dtype of z");
            const auto parts =
                make_parts<T>(dense->n, offsets, rows, lower, upper, linear, l1_weight, tol,
                              max_steps, z, F, primal, dual, intercept, steps, ridge);
            svm::Watch watched = watch(stop);
            {
                ReleaseGil release;
                const auto make = [&](const Index* own, Index q, hss::Buffer<T>& buffer) {
                    return svm::OwnKernelRows<T>(kernel, *dense, own, q, buffer);
                };
                svm::solve_parts<T>(make, parts, watched);
            }
            watched.rethrow();
        },
        "kernel"_a, "X"_a);
    bind(
        [](const KernelMatrix& K, Indices offsets, Indices rows, Matrix<const T> lower,
           Matrix<const T> upper, Matrix<const T> linear, Array<const double> l1_weight,
           Array<const double> tol, Indices max_steps, Matrix<T> z, Matrix<T> F,
           Matrix<double> primal, Matrix<double> dual, Matrix<double> intercept,
           Matrix<Index> steps, nb::object stop, Ridge<T> ridge) {
            const auto parts =
                make_parts<T>(K.n, offsets, rows, lower, upper, linear, l1_weight, tol, max_steps,
                              z, F, primal, dual, intercept, steps, ridge);
            svm::Watch watched = watch(stop);
            {
                ReleaseGil release;
                const auto make = [&](const Index* own, Index q, hss::Buffer<T>& buffer) {
                    return svm::AnyKernelRows<T>(*K.matrix, own, q, buffer);
                };
                svm::solve_parts<T>(make, parts, watched);
            }
            watched.rethrow();
        },
        "K"_a);
}

template <class T>
void bind_functions(nb::module_& m) {
    m.def(
        "shifted_prox",
        [](Matrix<const T> V, Array<const T> beta, Array<const double> tau, Matrix<const T> lower,
           Matrix<const T> upper, Array<const double> l1_weight, Matrix<T> Z, Matrix<double> sums) {
            const Index n = static_cast<Index>(V.shape(0)), k = static_cast<Index>(V.shape(1));
            require(size(beta) == n && size(tau) == k && size(l1_weight) == k &&
                        lower.shape(0) == V.shape(0) && lower.shape(1) == V.shape(1) &&
                        upper.shape(0) == V.shape(0) && upper.shape(1) == V.shape(1) &&
                        Z.shape(0) == V.shape(0) && Z.shape(1) == V.shape(1) &&
                        sums.shape(0) == 3 && sums.shape(1) == V.shape(1) && k > 0,
                    "shifted_prox: shapes do not match");
            ReleaseGil release;
            svm::shifted_prox<T>(V.data(), beta.data(), tau.data(), lower.data(), upper.data(),
                                 l1_weight.data(), n, k, Z.data(), sums.data());
        },
        "V"_a.noconvert(), "beta"_a.noconvert(), "tau"_a.noconvert(), "lower"_a.noconvert(),
        "upper"_a.noconvert(), "l1_weight"_a.noconvert(), "Z"_a.noconvert(), "sums"_a.noconvert());
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
           Array<const double> tol, Index max_steps, Array<Index> steps, nb::object stop,
           Ridge<T> ridge) {
            check_offsets(offsets, size(members));
            check_indices(members, static_cast<Index>(K.shape(0)));
            const Index n_problems = size(offsets) - 1;
            require(K.shape(0) == K.shape(1) && size(lower) == size(members) &&
                        size(upper) == size(members) && size(z) == size(members) &&
                        size(g) == size(members) && size(l1_weight) == n_problems &&
                        size(tol) == n_problems && size(steps) == n_problems,
                    "smo: shapes do not match");
            svm::Watch watched = watch(stop);
            {
                ReleaseGil release;
                svm::smo<T>(K.data(), static_cast<Index>(K.shape(1)), n_problems, offsets.data(),
                            members.data(), lower.data(), upper.data(), l1_weight.data(),
                            ridge_of(ridge, size(members)), z.data(), g.data(), tol.data(),
                            max_steps, steps.data(), watched);
            }
            watched.rethrow();
        },
        "K"_a.noconvert(), "offsets"_a.noconvert(), "members"_a.noconvert(), "lower"_a.noconvert(),
        "upper"_a.noconvert(), "l1_weight"_a.noconvert(), "z"_a.noconvert(), "g"_a.noconvert(),
        "tol"_a.noconvert(), "max_steps"_a, "steps"_a.noconvert(), "stop"_a = nb::none(),
        "ridge"_a = nb::none());
    m.def(
        "add_transposed_product",
        [](Matrix<const T> block, Matrix<const T> W, Matrix<T> out) {
            require(block.shape(0) == W.shape(0) && block.shape(1) == out.shape(0) &&
                        W.shape(1) == out.shape(1) && W.shape(1) > 0,
                    "add_transposed_product: shapes do not match");
            ReleaseGil release;
            svm::add_transposed_product<T>(block.data(), static_cast<Index>(block.shape(0)),
                                           static_cast<Index>(block.shape(1)), W.data(),
                                           static_cast<Index>(W.shape(1)), out.data());
        },
        "block"_a.noconvert(), "W"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void bind_svm(nb::module_& m) {
    bind_functions<float>(m);
    bind_functions<double>(m);
    nb::class_<SmallKernelMatrix>(m, "SmallKernelMatrix")
        .def(nb::init<const hss::Kernel&, const Rows&>(), "kernel"_a, "X"_a,
             nb::call_guard<ReleaseGil>());
    bind_small<float>(m);
    bind_small<double>(m);
    bind_parts<float>(m);
    bind_parts<double>(m);
}

}  // namespace bindings
