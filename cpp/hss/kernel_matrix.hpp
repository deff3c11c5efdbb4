// The kernel matrix of one set of rows. Entries are computed on request, in the requested
// precision, by several threads at once.
#pragma once
#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include "kernel_block.hpp"
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
    // Whether all entries are between -1 and 1.
    virtual bool bounded() const = 0;
};

template <class T>
double squared_norm(const DenseRows<T>& X, Index i) {
    double sum = 0;
    for (Index f = 0; f < X.p; ++f)
        sum += static_cast<double>(X.data[i * X.p + f]) * X.data[i * X.p + f];
    return sum;
}
template <class T>
double squared_norm(const SparseRows<T>& X, Index i) {
    double sum = 0;
    for (Index a = X.indptr[i]; a < X.indptr[i + 1]; ++a)
        sum += static_cast<double>(X.data[a]) * X.data[a];
    return sum;
}

struct NormRange {
    double smallest, largest;  // |x|^2; the smallest that is not 0
};

template <class Rows>
NormRange norm_range(const Rows& X) {
    const Index chunk = 4096, n_chunks = (X.n + chunk - 1) / chunk;
    const NormRange none{std::numeric_limits<double>::infinity(), 0.0};
    std::vector<NormRange> ranges(static_cast<std::size_t>(n_chunks), none);
    parallel_for(n_chunks, [&](Index c) {
        for (Index i = c * chunk; i < std::min(X.n, (c + 1) * chunk); ++i) {
            const double norm = squared_norm(X, i);
            ranges[c].largest = std::max(ranges[c].largest, norm);
            if (norm > 0) ranges[c].smallest = std::min(ranges[c].smallest, norm);
        }
    });
    NormRange range = none;
    for (const NormRange& part : ranges) {
        range.largest = std::max(range.largest, part.largest);
        range.smallest = std::min(range.smallest, part.smallest);
    }
    return range;
}

inline bool fits_float(const Kernel& kernel, const NormRange& norms) {
    if (!(kernel.gamma > 1e-30 && kernel.gamma < 1e30 && norms.largest < 1e36)) return false;
    if (kernel.radial()) return true;
    if (kernel.type != KernelType::polynomial) return norms.smallest > 1e-30;
    const double largest = power(kernel.gamma * norms.largest + kernel.coef0, kernel.degree);
    return largest > 1e-16 && largest < 1e16;
}

template <class Rows>
struct RowsKernelMatrix final : KernelMatrix {
    Kernel kernel;
    Rows X;
    mutable std::atomic<int> fits{-1};  // -1 before it is computed

    RowsKernelMatrix(Kernel kernel, Rows X) : kernel(kernel), X(X) {}
    bool fits_float() const override {
        if (fits < 0) fits = hss::fits_float(kernel, norm_range(X));
        return fits == 1;
    }
    bool bounded() const override { return kernel.type != KernelType::polynomial; }
    void block(const Index* I, Index n_rows, const Index* J, Index n_cols,
               View<float> out) const override {
        kernel_block(kernel, X, I, n_rows, X, J, n_cols, out);
    }
    void block(const Index* I, Index n_rows, const Index* J, Index n_cols,
               View<double> out) const override {
        kernel_block(kernel, X, I, n_rows, X, J, n_cols, out);
    }
};

// The sum or the product of kernel matrices, entry by entry
struct CombinedKernelMatrix final : KernelMatrix {
    std::vector<const KernelMatrix*> parts;
    bool product;

    CombinedKernelMatrix(std::vector<const KernelMatrix*> parts, bool product)
        : parts(std::move(parts)), product(product) {}
    bool fits_float() const override {
        const auto unbounded =
            std::count_if(parts.begin(), parts.end(), [](auto* p) { return !p->bounded(); });
        return (!product || unbounded <= 1) &&
               std::all_of(parts.begin(), parts.end(), [](auto* p) { return p->fits_float(); });
    }
    bool bounded() const override {
        return product &&
               std::all_of(parts.begin(), parts.end(), [](auto* p) { return p->bounded(); });
    }
    template <class S>
    void combine(const Index* I, Index n_rows, const Index* J, Index n_cols, View<S> out) const {
        parts[0]->block(I, n_rows, J, n_cols, out);
        // Not a thread's scratch memory: a part may be combined itself.
        std::vector<S> memory(static_cast<std::size_t>(n_rows * n_cols));
        const View<S> other(memory.data(), n_rows, n_cols);
        for (std::size_t i = 1; i < parts.size(); ++i) {
            parts[i]->block(I, n_rows, J, n_cols, other);
            for (Index j = 0; j < n_cols; ++j)
                for (Index r = 0; r < n_rows; ++r)
                    out(r, j) = product ? out(r, j) * other(r, j) : out(r, j) + other(r, j);
        }
    }
    void block(const Index* I, Index n_rows, const Index* J, Index n_cols,
               View<float> out) const override {
        combine(I, n_rows, J, n_cols, out);
    }
    void block(const Index* I, Index n_rows, const Index* J, Index n_cols,
               View<double> out) const override {
        combine(I, n_rows, J, n_cols, out);
    }
};

}  // namespace hss
