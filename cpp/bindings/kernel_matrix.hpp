// Rows of data and their kernel matrix, as Python holds them.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <variant>
#include <vector>

#include "hss/kernel.hpp"
#include "hss/kernel_matrix.hpp"
#include "hss/view.hpp"

namespace bindings {

namespace nb = nanobind;
using hss::Index;

// Rows of X, dense or sparse, float or double, with the arrays that they point into.
struct Rows {
    std::variant<hss::DenseRows<float>, hss::DenseRows<double>, hss::SparseRows<float>,
                 hss::SparseRows<double>>
        rows;
    std::vector<std::shared_ptr<void>> owners;

    template <class T, class F>
    void visit(F&& f) const {
        if (auto* dense = std::get_if<hss::DenseRows<T>>(&rows))
            f(*dense);
        else if (auto* sparse = std::get_if<hss::SparseRows<T>>(&rows))
            f(*sparse);
        else
            throw nb::type_error("rows and arrays differ in dtype");
    }
    Index n_rows() const {
        return std::visit([](auto& r) { return r.n; }, rows);
    }
    Index n_features() const {
        return std::visit([](auto& r) { return r.p; }, rows);
    }
};

// The kernel matrix with the Python object it reads from: a `Rows`, or a kernel function.
struct KernelMatrix {
    std::unique_ptr<hss::KernelMatrix> matrix;
    Index n;
    nb::object rows, function;
};

// Throws when called from inside a user's kernel function: the core's scratch memory is in use
// then, so the function must not start another sweep.
void forbid_reentry();

}  // namespace bindings
