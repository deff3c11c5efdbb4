// The kernel matrix of one set of rows. Entries are computed on request, in the requested
// precision, by several threads at once.
#pragma once
#include <algorithm>
#include <atomic>
#include <vector>

#include "kernel.hpp"
#include "parallel.hpp"
#include "view.hpp"

namespace hss {

struct KernelMatrix {
    virtual ~KernelMatrix() = default;
    // out(i, j) = K(I[i], J[j])
    virtual void block(const Index* I, Index n_rows, const Index* J, Index n_cols,
                       View<float> out) const = 0;
    virtual void block(const Index* I, Index n_rows, const Index* J, Index n_cols,
                       View<double> out) const = 0;
    // Whether the entries, their squares and their computation stay within the range of float.
    virtual bool fits_float() const = 0;
};

template <class S, class T>
S squared_norm(const DenseRows<T>& X, Index i) {
    S sum = 0;
    for (Index f = 0; f < X.p; ++f)
        sum += static_cast<S>(X.data[i * X.p + f]) * X.data[i * X.p + f];
    return sum;
}

template <class Rows>
double largest_squared_norm(const Rows& X) {
    const Index chunk = 4096, n_chunks = (X.n + chunk - 1) / chunk;
    std::vector<double> largest(static_cast<std::size_t>(n_chunks), 0.0);
    parallel_for(n_chunks, [&](Index c) {
        for (Index i = c * chunk; i < std::min(X.n, (c + 1) * chunk); ++i)
            largest[c] = std::max(largest[c], squared_norm<double>(X, i));
    });
    return n_chunks > 0 ? *std::max_element(largest.begin(), largest.end()) : 0.0;
}

inline bool fits_float(const Kernel& kernel, double largest_squared_norm) {
    if (!(kernel.gamma > 1e-30 && kernel.gamma < 1e30 && largest_squared_norm < 1e36)) return false;
    if (kernel.radial()) return true;
    const double largest = power(kernel.gamma * largest_squared_norm + kernel.coef0, kernel.degree);
    return largest > 1e-16 && largest < 1e16;
}

template <class Rows>
struct RowsKernelMatrix final : KernelMatrix {
    Kernel kernel;
    Rows X;
    mutable std::atomic<double> largest{-1};  // |x|^2, or -1 before it is computed

    RowsKernelMatrix(Kernel kernel, Rows X) : kernel(kernel), X(X) {}
    bool fits_float() const override {
        if (largest < 0) largest = largest_squared_norm(X);
        return hss::fits_float(kernel, largest);
    }
    void block(const Index* I, Index n_rows, const Index* J, Index n_cols,
               View<float> out) const override {
        kernel_block(kernel, X, I, n_rows, X, J, n_cols, out);
    }
    void block(const Index* I, Index n_rows, const Index* J, Index n_cols,
               View<double> out) const override {
        kernel_block(kernel, X, I, n_rows, X, J, n_cols, out);
    }
};

}  // namespace hss
