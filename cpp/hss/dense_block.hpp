// Blocks of a kernel matrix of dense rows.
#pragma once
#include <algorithm>

#include "absolute_distances.hpp"
#include "kernel.hpp"
#include "lapack.hpp"
#include "simd.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

// Columns of a block to process at once, so that the block stays in the second-level cache.
template <class T>
Index chunk_columns(Index n_rows) {
    const Index bytes = 1024 * 1024;
    return std::max<Index>(16,
                           bytes / (static_cast<Index>(sizeof(T)) * std::max<Index>(n_rows, 1)));
}

// to = x - center; returns s(to, to)
template <class T, class S>
S gather(const Kernel& kernel, const T* x, const S* center, Index p, S* to) {
    const S squares = simd::centered(x, center, p, to);
    return kernel.similarity == Similarity::products ? squares : similarity(kernel, to, to, p);
}

// out(i, j) = s(column i of X, column j of Y)
template <class S>
void similarities(const Kernel& kernel, View<const S> X, View<const S> Y, View<S> out) {
    if (kernel.similarity == Similarity::products) return gemm<S>('T', 'N', S(1), X, Y, S(0), out);
    for (Index j = 0; j < Y.cols; ++j)
        for (Index i = 0; i < X.cols; ++i)
            out(i, j) = similarity(kernel, X.col(i), Y.col(j), X.rows);
}

// Values of kernels of |x - y|_1
template <class T, class S>
void direct_block(const Kernel& kernel, const DenseRows<T>& X, const Index* I, Index n_rows,
                  const DenseRows<T>& Y, const Index* J, Index n_cols, View<S> out) {
    static thread_local RowLanes<S> rows;
    rows.gather(X.data, I, n_rows, X.p);
    for (Index j = 0; j < n_cols; j += simd::together) {
        const Index width = std::min(simd::together, n_cols - j);
        rows.distances(Y.data, J + j, out.block(0, j, n_rows, width));
        for (Index c = j; c < j + width; ++c) apply_kernel(kernel, out.col(c), n_rows);
    }
}

template <class T, class S>
void kernel_block(const Kernel& kernel, const DenseRows<T>& X, const Index* I, Index n_rows,
                  const DenseRows<T>& Y, const Index* J, Index n_cols, View<S> out) {
    if (n_rows == 0 || n_cols == 0) return;
    if (kernel.direct()) return direct_block(kernel, X, I, n_rows, Y, J, n_cols, out);
    static thread_local Buffer<S> rows_buffer, cols_buffer, norm_buffer, center_buffer;
    const Index p = X.p;
    const Index chunk = std::min(chunk_columns<S>(n_rows), n_cols);
    View<S> rows = rows_buffer.take(p, n_rows), cols = cols_buffer.take(p, chunk);
    S *norm = norm_buffer.take(n_rows + chunk), *norm_y = norm + n_rows;

    // Distances are invariant under translation, and rounding errors are smallest around a nearby
    // center.
    S* center = center_buffer.take(p);
    std::fill_n(center, p, S(0));
    if (kernel.translation_invariant()) {
        for (Index i = 0; i < n_rows; ++i)
            for (Index f = 0; f < p; ++f) center[f] += X.data[I[i] * p + f];
        for (Index f = 0; f < p; ++f) center[f] /= static_cast<S>(n_rows);
    }
    for (Index i = 0; i < n_rows; ++i)
        norm[i] = gather(kernel, X.data + I[i] * p, center, p, rows.col(i));

    for (Index begin = 0; begin < n_cols; begin += chunk) {
        const Index width = std::min(chunk, n_cols - begin);
        for (Index j = 0; j < width; ++j)
            norm_y[j] = gather(kernel, Y.data + J[begin + j] * p, center, p, cols.col(j));
        similarities<S>(kernel, rows, cols.block(0, 0, p, width),
                        out.block(0, begin, n_rows, width));
        for (Index j = 0; j < width; ++j) {
            const T* y = Y.data + J[begin + j] * p;
            finish_column(kernel, out.col(begin + j), n_rows, norm, norm_y[j],
                          [&](Index i) { return distance(kernel, X.data + I[i] * p, y, p); });
        }
    }
}

}  // namespace hss
