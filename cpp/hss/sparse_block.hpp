// Blocks of a kernel matrix of sparse rows.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel.hpp"
#include "simd.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

// The squared distance of two sparse rows, by merging their indices
template <class T>
T distance(const Kernel& kernel, const SparseRows<T>& X, Index i, const SparseRows<T>& Y, Index j) {
    Index a = X.indptr[i], b = Y.indptr[j];
    const Index a_end = X.indptr[i + 1], b_end = Y.indptr[j + 1];
    T sum = 0;
    while (a < a_end || b < b_end) {
        T x = 0, y = 0;
        if (b == b_end || (a < a_end && X.indices[a] < Y.indices[b]))
            x = X.data[a++];
        else if (a == a_end || Y.indices[b] < X.indices[a])
            y = Y.data[b++];
        else
            x = X.data[a++], y = Y.data[b++];
        sum += distance(kernel, &x, &y, 1);
    }
    return sum;
}

// s(x, x)
template <class S, class T>
S self_similarity(const Kernel& kernel, const SparseRows<T>& X, Index i) {
    const bool products = kernel.similarity == Similarity::products;
    S sum = 0;
    for (Index a = X.indptr[i]; a < X.indptr[i + 1]; ++a)
        sum +=
            products ? static_cast<S>(X.data[a]) * X.data[a] : static_cast<S>(std::abs(X.data[a]));
    return sum;
}

// `simd::lanes` rows of X side by side, as dense vectors over the features that occur in them: an
// entry of another row is multiplied with all of them in one vector operation.
template <class S>
class SparseLanes {
    std::vector<std::int32_t> slot;  // of each feature; slot 0 stays zero, for absent ones
    std::vector<Index> used;
    Buffer<S> buffer;
    S* values = nullptr;

  public:
    template <class T>
    void gather(const SparseRows<T>& X, const Index* I, Index n_rows) {
        if (static_cast<Index>(slot.size()) < X.p) slot.assign(static_cast<std::size_t>(X.p), 0);
        for (Index f : used) slot[f] = 0;
        used.clear();
        for (Index i = 0; i < n_rows; ++i)
            for (Index a = X.indptr[I[i]]; a < X.indptr[I[i] + 1]; ++a)
                if (slot[X.indices[a]] == 0) {
                    used.push_back(X.indices[a]);
                    slot[X.indices[a]] = static_cast<std::int32_t>(used.size());
                }
        values = buffer.take((static_cast<Index>(used.size()) + 1) * simd::lanes);
        std::fill_n(values, (used.size() + 1) * simd::lanes, S(0));
        for (Index i = 0; i < n_rows; ++i)
            for (Index a = X.indptr[I[i]]; a < X.indptr[I[i] + 1]; ++a)
                values[slot[X.indices[a]] * simd::lanes + i] = X.data[a];
    }
    // Similarities of the gathered rows with row y of Y
    template <class T>
    void similarities(const Kernel& kernel, const SparseRows<T>& Y, Index y, S* out) {
        const std::int32_t* indices = Y.indices + Y.indptr[y];
        const T* data = Y.data + Y.indptr[y];
        const Index nnz = Y.indptr[y + 1] - Y.indptr[y];
        switch (kernel.similarity) {
            case Similarity::minima:
                return simd::sparse_minima(values, slot.data(), indices, data, nnz, out);
            case Similarity::harmonic_means:
                return simd::sparse_harmonic_means(values, slot.data(), indices, data, nnz, out);
            case Similarity::overlaps:
                return simd::sparse_overlaps(values, slot.data(), indices, data, nnz, out);
            default: return simd::sparse_dots(values, slot.data(), indices, data, nnz, out);
        }
    }
};

template <class T, class S>
void kernel_block(const Kernel& kernel, const SparseRows<T>& X, const Index* I, Index n_rows,
                  const SparseRows<T>& Y, const Index* J, Index n_cols, View<S> out) {
    static thread_local SparseLanes<S> lanes;
    static thread_local Buffer<S> norm_buffer;
    S products[simd::lanes];
    S* norm = norm_buffer.take(n_rows);
    for (Index i = 0; i < n_rows; ++i) norm[i] = self_similarity<S>(kernel, X, I[i]);
    for (Index i = 0; i < n_rows; i += simd::lanes) {
        const Index width = std::min(simd::lanes, n_rows - i);
        lanes.gather(X, I + i, width);
        for (Index j = 0; j < n_cols; ++j) {
            S* column = out.col(j) + i;
            const bool whole = width == simd::lanes;
            lanes.similarities(kernel, Y, J[j], whole ? column : products);
            if (!whole) std::copy_n(products, width, column);
        }
    }
    for (Index j = 0; j < n_cols; ++j)
        finish_column(kernel, out.col(j), n_rows, norm, self_similarity<S>(kernel, Y, J[j]),
                      [&](Index i) { return distance(kernel, X, I[i], Y, J[j]); });
}

}  // namespace hss
