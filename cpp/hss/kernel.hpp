// Blocks of a kernel matrix: out = K(X[I], Y[J]).
//
// Every kernel here is a function of a similarity s(x, y), which is a sum over the features: the
// inner product, the sum of the minima or of the harmonic means of nonnegative features, or the
// number of features in which two rows agree (dense rows only, since zeros agree, too). With
// the norms |x|^2 = s(x, x), radial kernels are functions of d^2 = |x|^2 + |y|^2 - 2 s(x, y), the
// others of s(x, y) and the norms. So a block is one product of gathered rows and one vectorized
// map, computed for as many columns at a time as fit in the cache. Where d^2 is small compared with
// the norms, the difference cancels, and that pair is computed from x - y instead: duplicates get
// exactly K(x, x). The precision S of a block may be wider than the precision T of the rows.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel_functions.hpp"
#include "lapack.hpp"
#include "parallel.hpp"
#include "simd.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

enum class Similarity { products, minima, harmonic_means, matches };

// The radial kernels come first. ratio is s(x, y) / (|x|^2 + |y|^2 - s(x, y)), and cosine s(x, y) /
// (|x| |y|)
enum class KernelType { gaussian, exponential, matern32, matern52, polynomial, ratio, cosine };

struct Kernel {
    KernelType type;
    Similarity similarity;
    double gamma;  // multiplies the distance, or the similarity in a polynomial
    double coef0;  // polynomial only, like degree: (gamma s(x, y) + coef0)^degree
    int degree;

    bool radial() const { return type < KernelType::polynomial; }
    bool translation_invariant() const { return radial() && similarity == Similarity::products; }
    bool needs_norms() const {  // beside squared Euclidean distances or inner products
        return similarity != Similarity::products || type > KernelType::polynomial;
    }
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

// Values of a kernel that is not normalized, from squared distances or similarities, in place
template <class T>
void apply_kernel(const Kernel& kernel, T* v, Index n) {
    const T gamma = static_cast<T>(kernel.gamma);
    switch (kernel.type) {
        case KernelType::gaussian: return simd::gaussian(v, n, gamma);
        case KernelType::exponential: return simd::exponential(v, n, gamma);
        case KernelType::matern32: return simd::matern32(v, n, gamma);
        case KernelType::matern52: return simd::matern52(v, n, gamma);
        default: {
            const T coef0 = static_cast<T>(kernel.coef0);
            for (Index i = 0; i < n; ++i) v[i] = power(gamma * v[i] + coef0, kernel.degree);
        }
    }
}

// Kernel values from the similarities v[i] = s(x_i, y); distance(i) recomputes the squared distance
// of x_i and y.
template <class T, class Distance>
void finish_column(const Kernel& kernel, T* v, Index n, const T* norm, T norm_y,
                   Distance&& distance) {
    if (kernel.type == KernelType::ratio) return simd::ratios(v, n, norm, norm_y);
    if (kernel.type == KernelType::cosine) return simd::cosines(v, n, norm, norm_y);
    if (kernel.radial() && simd::distances(v, n, norm, norm_y)) {
        const T tau = simd::cancellation_threshold<T>();
        for (Index i = 0; i < n; ++i)
            if (v[i] <= tau * (norm[i] + norm_y)) v[i] = distance(i);
    }
    apply_kernel(kernel, v, n);
}

// k(x, x), where norm = s(x, x)
template <class T>
T diagonal_value(const Kernel& kernel, T norm) {
    T v = norm;
    finish_column(kernel, &v, 1, &norm, norm, [](Index) { return T(0); });
    return v;
}

// Columns of a block to process at once, so that the block stays in the second-level cache.
template <class T>
Index chunk_columns(Index n_rows) {
    const Index bytes = 1024 * 1024;
    return std::max<Index>(16,
                           bytes / (static_cast<Index>(sizeof(T)) * std::max<Index>(n_rows, 1)));
}

// s(x, y), unless it is the inner product
template <class S>
S similarity(const Kernel& kernel, const S* x, const S* y, Index p) {
    switch (kernel.similarity) {
        case Similarity::minima: return simd::sum_of_minima(x, y, p);
        case Similarity::harmonic_means: return simd::sum_of_harmonic_means(x, y, p);
        default: return simd::count_of_matches(x, y, p);
    }
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

// The squared distance from x - y
template <class T>
T distance(const Kernel& kernel, const T* x, const T* y, Index p) {
    switch (kernel.similarity) {
        case Similarity::minima: return simd::absolute_distance(x, y, p);
        case Similarity::harmonic_means: return simd::chi_squared_distance(x, y, p);
        case Similarity::matches: return 2 * (static_cast<T>(p) - simd::count_of_matches(x, y, p));
        default: return simd::squared_distance(x, y, p);
    }
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
        sum += products ? static_cast<S>(X.data[a]) * X.data[a] : static_cast<S>(X.data[a]);
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
