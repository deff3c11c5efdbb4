// Blocks of a kernel matrix: out = K(X[I], Y[J]).
//
// Every kernel here is a function of inner products: radial kernels of |x - y|^2 = |x|^2 + |y|^2 -
// 2 <x, y>, the others of <x, y> itself. So a block is one product of gathered rows and one
// vectorized map, computed for as many columns at a time as fit in the cache. Where |x - y|^2 is
// small compared with the norms, the difference cancels, and that pair is computed from x - y
// instead: duplicates get exactly K(x, x). The precision S of a block may be wider than the
// precision T of the rows.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "lapack.hpp"
#include "parallel.hpp"
#include "simd.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

enum class KernelType { gaussian, laplacian, matern32, matern52, polynomial };

struct Kernel {
    KernelType type;
    double gamma;  // multiplies the distance or the inner product
    double coef0;  // polynomial only, like degree: (gamma <x, y> + coef0)^degree
    int degree;

    bool radial() const { return type != KernelType::polynomial; }
};

// n x p, rows contiguous
template <class T>
struct DenseRows {
    const T* data;
    Index n, p;
};

// n x p in compressed rows, column indices sorted and unique within a row
template <class T>
struct SparseRows {
    const Index* indptr;
    const std::int32_t* indices;
    const T* data;
    Index n, p;
};

// base^degree, by squaring: degrees may be large
template <class T>
T power(T base, int degree) {
    T result = 1;
    for (; degree > 0; degree /= 2, base *= base)
        if (degree % 2) result *= base;
    return result;
}

template <class T>
void apply_kernel(const Kernel& kernel, T* v, Index n) {
    const T gamma = static_cast<T>(kernel.gamma);
    switch (kernel.type) {
        case KernelType::gaussian: return simd::gaussian(v, n, gamma);
        case KernelType::laplacian: return simd::laplacian(v, n, gamma);
        case KernelType::matern32: return simd::matern32(v, n, gamma);
        case KernelType::matern52: return simd::matern52(v, n, gamma);
        case KernelType::polynomial: {
            const T coef0 = static_cast<T>(kernel.coef0);
            for (Index i = 0; i < n; ++i) v[i] = power(gamma * v[i] + coef0, kernel.degree);
        }
    }
}

// Kernel values from the inner products v[i] = <x_i, y>; distance(i) recomputes |x_i - y|^2.
template <class T, class Distance>
void finish_column(const Kernel& kernel, T* v, Index n, const T* norm, T norm_y,
                   Distance&& distance) {
    if (kernel.radial() && simd::distances(v, n, norm, norm_y)) {
        const T tau = simd::cancellation_threshold<T>();
        for (Index i = 0; i < n; ++i)
            if (v[i] <= tau * (norm[i] + norm_y)) v[i] = distance(i);
    }
    apply_kernel(kernel, v, n);
}

// Columns of a block to process at once, so that the block stays in the second-level cache.
template <class T>
Index chunk_columns(Index n_rows) {
    const Index bytes = 1024 * 1024;
    return std::max<Index>(16,
                           bytes / (static_cast<Index>(sizeof(T)) * std::max<Index>(n_rows, 1)));
}

template <class T, class S>
void kernel_block(const Kernel& kernel, const DenseRows<T>& X, const Index* I, Index n_rows,
                  const DenseRows<T>& Y, const Index* J, Index n_cols, View<S> out) {
    if (n_rows == 0 || n_cols == 0) return;
    static thread_local Buffer<S> rows_buffer, cols_buffer, norm_buffer, center_buffer;
    const Index p = X.p;
    const Index chunk = std::min(chunk_columns<S>(n_rows), n_cols);
    View<S> rows = rows_buffer.take(p, n_rows), cols = cols_buffer.take(p, chunk);
    S *norm = norm_buffer.take(n_rows + chunk), *norm_y = norm + n_rows;

    // Distances are invariant under translation, and rounding errors are smallest around a nearby
    // center.
    S* center = center_buffer.take(p);
    std::fill_n(center, p, S(0));
    if (kernel.radial()) {
        for (Index i = 0; i < n_rows; ++i)
            for (Index f = 0; f < p; ++f) center[f] += X.data[I[i] * p + f];
        for (Index f = 0; f < p; ++f) center[f] /= static_cast<S>(n_rows);
    }
    for (Index i = 0; i < n_rows; ++i)
        norm[i] = simd::centered(X.data + I[i] * p, center, p, rows.col(i));

    for (Index begin = 0; begin < n_cols; begin += chunk) {
        const Index width = std::min(chunk, n_cols - begin);
        for (Index j = 0; j < width; ++j)
            norm_y[j] = simd::centered(Y.data + J[begin + j] * p, center, p, cols.col(j));
        gemm<S>('T', 'N', S(1), rows, cols.block(0, 0, p, width), S(0),
                out.block(0, begin, n_rows, width));
        for (Index j = 0; j < width; ++j) {
            const T* y = Y.data + J[begin + j] * p;
            finish_column(kernel, out.col(begin + j), n_rows, norm, norm_y[j],
                          [&](Index i) { return simd::squared_distance(X.data + I[i] * p, y, p); });
        }
    }
}

// |x_i - y_j|^2 of two sparse rows, by merging their indices
template <class T>
T squared_distance(const SparseRows<T>& X, Index i, const SparseRows<T>& Y, Index j) {
    Index a = X.indptr[i], b = Y.indptr[j];
    const Index a_end = X.indptr[i + 1], b_end = Y.indptr[j + 1];
    T sum = 0;
    while (a < a_end || b < b_end) {
        T difference;
        if (b == b_end || (a < a_end && X.indices[a] < Y.indices[b]))
            difference = X.data[a++];
        else if (a == a_end || Y.indices[b] < X.indices[a])
            difference = Y.data[b++];
        else
            difference = X.data[a++] - Y.data[b++];
        sum += difference * difference;
    }
    return sum;
}

template <class S, class T>
S squared_norm(const SparseRows<T>& X, Index i) {
    S sum = 0;
    for (Index a = X.indptr[i]; a < X.indptr[i + 1]; ++a)
        sum += static_cast<S>(X.data[a]) * X.data[a];
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
    // Inner products of the gathered rows with row y of Y
    template <class T>
    void dots(const SparseRows<T>& Y, Index y, S* out) {
        simd::sparse_dots(values, slot.data(), Y.indices + Y.indptr[y], Y.data + Y.indptr[y],
                          Y.indptr[y + 1] - Y.indptr[y], out);
    }
};

template <class T, class S>
void kernel_block(const Kernel& kernel, const SparseRows<T>& X, const Index* I, Index n_rows,
                  const SparseRows<T>& Y, const Index* J, Index n_cols, View<S> out) {
    static thread_local SparseLanes<S> lanes;
    static thread_local Buffer<S> norm_buffer;
    S products[simd::lanes];
    S* norm = norm_buffer.take(n_rows);
    for (Index i = 0; i < n_rows; ++i) norm[i] = squared_norm<S>(X, I[i]);
    for (Index i = 0; i < n_rows; i += simd::lanes) {
        const Index width = std::min(simd::lanes, n_rows - i);
        lanes.gather(X, I + i, width);
        for (Index j = 0; j < n_cols; ++j) {
            S* column = out.col(j) + i;
            const bool whole = width == simd::lanes;
            lanes.dots(Y, J[j], whole ? column : products);
            if (!whole) std::copy_n(products, width, column);
        }
    }
    for (Index j = 0; j < n_cols; ++j)
        finish_column(kernel, out.col(j), n_rows, norm, squared_norm<S>(Y, J[j]),
                      [&](Index i) { return squared_distance(X, I[i], Y, J[j]); });
}

// All of K(X, Y), out(i, j) = k(x_i, y_j) with contiguous rows, in tiles on all threads.
template <class T, class Rows>
void kernel_block(const Kernel& kernel, const Rows& X, const Rows& Y, T* out) {
    const Index tile_x = 256, tile_y = 512;
    const Index n_x = (X.n + tile_x - 1) / tile_x, n_y = (Y.n + tile_y - 1) / tile_y;
    std::vector<Index> iota(static_cast<std::size_t>(std::max(X.n, Y.n)));
    for (std::size_t i = 0; i < iota.size(); ++i) iota[i] = static_cast<Index>(i);
    parallel_for(n_x * n_y, [&](Index t) {
        const Index x = (t / n_y) * tile_x, y = (t % n_y) * tile_y;
        const Index width = std::min(tile_x, X.n - x), height = std::min(tile_y, Y.n - y);
        kernel_block(kernel, Y, iota.data() + y, height, X, iota.data() + x, width,
                     View<T>(out + y + x * Y.n, height, width, Y.n));
    });
}

}  // namespace hss
