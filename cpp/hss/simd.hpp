// Sums and products of vectors: loops that the compiler vectorizes, compiled for several
// instruction sets (clones.hpp). kernel_functions.hpp has those that turn sums into kernel values.
#pragma once
#include <algorithm>
#include <cstdint>

#include "clones.hpp"
#include "terms.hpp"
#include "view.hpp"

namespace hss::simd {

template <class Term, class T>
HSS_INLINE T sum_body(const T* x, const T* y, Index n) {
    T sum = 0;
    HSS_SIMD(reduction(+ : sum))
    for (Index i = 0; i < n; ++i) sum += Term::of(x[i], y[i]);
    return sum;
}
#define HSS_REDUCTION(name, Term)                                                                 \
    HSS_CLONES(double, name, (const double* x, const double* y, Index n), sum_body<Term<double>>, \
               (x, y, n))                                                                         \
    HSS_CLONES(float, name, (const float* x, const float* y, Index n), sum_body<Term<float>>,     \
               (x, y, n))
HSS_REDUCTION(dot, Product)
HSS_REDUCTION(squared_distance, SquaredDifference)
HSS_REDUCTION(sum_of_minima, Minimum)
HSS_REDUCTION(absolute_distance, AbsoluteDifference)
HSS_REDUCTION(sum_of_harmonic_means, HarmonicMean)
HSS_REDUCTION(chi_squared_distance, ChiSquaredDifference)
HSS_REDUCTION(count_of_matches, Match)
HSS_REDUCTION(sum_of_overlaps, Overlap)
#undef HSS_REDUCTION

// v[i] += the terms of x[i] and y
template <class Term, class T>
HSS_INLINE void add_terms_body(const T* x, T y, Index n, T* v) {
    HSS_SIMD()
    for (Index i = 0; i < n; ++i) v[i] += Term::of(x[i], y);
}
#define HSS_TERMS(name, Term, T) \
    HSS_CLONES(void, name, (const T* x, T y, Index n, T* v), add_terms_body<Term<T>>, (x, y, n, v))
HSS_TERMS(add_minima, Minimum, double)
HSS_TERMS(add_minima, Minimum, float)
HSS_TERMS(add_harmonic_means, HarmonicMean, double)
HSS_TERMS(add_harmonic_means, HarmonicMean, float)
HSS_TERMS(add_matches, Match, double)
HSS_TERMS(add_matches, Match, float)
HSS_TERMS(add_absolute_differences, AbsoluteDifference, double)
HSS_TERMS(add_absolute_differences, AbsoluteDifference, float)
#undef HSS_TERMS

// to = x - center; returns <to, to>
template <class T, class S>
HSS_INLINE S centered_body(const T* x, const S* center, Index n, S* to) {
    S sum = 0;
    HSS_SIMD(reduction(+ : sum))
    for (Index i = 0; i < n; ++i) {
        to[i] = x[i] - center[i];
        sum += to[i] * to[i];
    }
    return sum;
}
#define HSS_CENTERED(T, S)                                                                \
    HSS_CLONES(S, centered, (const T* x, const S* center, Index n, S* to), centered_body, \
               (x, center, n, to))
HSS_CENTERED(float, float)
HSS_CENTERED(float, double)
HSS_CENTERED(double, double)
HSS_CENTERED(double, float)
#undef HSS_CENTERED

// Inner products and squared distances of x with rows I[0], I[1], ... of Y, which has n columns. In
// short rows, the last steps of a sum take longer than the rest: so four rows at a time, in vectors
// of four numbers, take half the time.
template <class Term, class T>
HSS_INLINE void rows_body(const T* x, const T* Y, const Index* I, Index n_rows, Index n, T* out) {
    for (Index i = 0; i < n_rows; i += 4) {
        const Index last = n_rows - 1;
        const T *a = Y + I[i] * n, *b = Y + I[std::min(i + 1, last)] * n,
                *c = Y + I[std::min(i + 2, last)] * n, *d = Y + I[std::min(i + 3, last)] * n;
        T sum_a = 0, sum_b = 0, sum_c = 0, sum_d = 0;
        HSS_SIMD_4(reduction(+ : sum_a, sum_b, sum_c, sum_d))
        for (Index f = 0; f < n; ++f) {
            sum_a += Term::of(x[f], a[f]), sum_b += Term::of(x[f], b[f]);
            sum_c += Term::of(x[f], c[f]), sum_d += Term::of(x[f], d[f]);
        }
        const T sums[] = {sum_a, sum_b, sum_c, sum_d};
        std::copy_n(sums, std::min<Index>(4, n_rows - i), out + i);
    }
}
#define HSS_ROWS(name, Term, T)                                                         \
    HSS_CLONES(void, name,                                                              \
               (const T* x, const T* Y, const Index* I, Index n_rows, Index n, T* out), \
               rows_body<Term<T>>, (x, Y, I, n_rows, n, out))
HSS_ROWS(dots, Product, double)
HSS_ROWS(dots, Product, float)
HSS_ROWS(squared_distances, SquaredDifference, double)
HSS_ROWS(squared_distances, SquaredDifference, float)
HSS_ROWS(absolute_distances, AbsoluteDifference, double)
HSS_ROWS(absolute_distances, AbsoluteDifference, float)
#undef HSS_ROWS

// Dot products of x with `width` columns a, a + ld, ... of length n at once, and y += a weighted
// sum of the columns. Solves with a single right-hand side run at memory speed with these; trsv and
// gemv of BLAS reach half of it at these sizes.
constexpr Index width = 8;

template <class T>
HSS_INLINE void dot_columns_body(const T* a, Index ld, Index n, const T* x, T* out) {
    T s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    const T *a1 = a + ld, *a2 = a1 + ld, *a3 = a2 + ld, *a4 = a3 + ld, *a5 = a4 + ld, *a6 = a5 + ld,
            *a7 = a6 + ld;
    HSS_SIMD(reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7))
    for (Index i = 0; i < n; ++i) {
        s0 += a[i] * x[i], s1 += a1[i] * x[i], s2 += a2[i] * x[i], s3 += a3[i] * x[i];
        s4 += a4[i] * x[i], s5 += a5[i] * x[i], s6 += a6[i] * x[i], s7 += a7[i] * x[i];
    }
    out[0] = s0, out[1] = s1, out[2] = s2, out[3] = s3;
    out[4] = s4, out[5] = s5, out[6] = s6, out[7] = s7;
}
template <class T>
HSS_INLINE void add_columns_body(const T* a, Index ld, Index n, const T* w, T* y) {
    const T *a1 = a + ld, *a2 = a1 + ld, *a3 = a2 + ld, *a4 = a3 + ld, *a5 = a4 + ld, *a6 = a5 + ld,
            *a7 = a6 + ld;
    const T w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4], w5 = w[5], w6 = w[6], w7 = w[7];
    HSS_SIMD()
    for (Index i = 0; i < n; ++i)
        y[i] += ((w0 * a[i] + w1 * a1[i]) + (w2 * a2[i] + w3 * a3[i])) +
                ((w4 * a4[i] + w5 * a5[i]) + (w6 * a6[i] + w7 * a7[i]));
}

// The same for vectors of groups: entry i of x, out, w and y is the `group` numbers from i * group
// on. Columns from `columns` on count as zero.
constexpr Index group = 8;

template <class T>
HSS_INLINE void dot_columns_of_groups_body(const T* a, Index ld, Index columns, Index n, const T* x,
                                           T* out) {
    const T* col[width];
    T sum[width][group] = {};
    for (Index b = 0; b < width; ++b) col[b] = a + std::min(b, columns - 1) * ld;
    HSS_OUTER
    for (Index i = 0; i < n; ++i) {
        HSS_OUTER
        for (Index b = 0; b < width; ++b) {
            HSS_SIMD()
            for (Index l = 0; l < group; ++l) sum[b][l] += col[b][i] * x[i * group + l];
        }
    }
    std::copy_n(&sum[0][0], columns * group, out);
}
template <class T>
HSS_INLINE void add_columns_of_groups_body(const T* a, Index ld, Index columns, Index n, const T* w,
                                           T* y) {
    const T* col[width];
    T weight[width][group] = {};
    std::copy_n(w, columns * group, &weight[0][0]);
    for (Index b = 0; b < width; ++b) col[b] = a + std::min(b, columns - 1) * ld;
    HSS_OUTER
    for (Index i = 0; i < n; ++i) {
        T sum[group];
        for (Index l = 0; l < group; ++l) sum[l] = y[i * group + l];
        for (Index b = 0; b < width; ++b) {
            HSS_SIMD()
            for (Index l = 0; l < group; ++l) sum[l] += weight[b][l] * col[b][i];
        }
        for (Index l = 0; l < group; ++l) y[i * group + l] = sum[l];
    }
}
#define HSS_COLUMNS(name, T)                                                               \
    HSS_CLONES(void, name, (const T* a, Index ld, Index n, const T* x, T* y), name##_body, \
               (a, ld, n, x, y))                                                           \
    HSS_CLONES(void, name##_of_groups,                                                     \
               (const T* a, Index ld, Index columns, Index n, const T* x, T* y),           \
               name##_of_groups_body, (a, ld, columns, n, x, y))
HSS_COLUMNS(dot_columns, double)
HSS_COLUMNS(dot_columns, float)
HSS_COLUMNS(add_columns, double)
HSS_COLUMNS(add_columns, float)
#undef HSS_COLUMNS

// out[l] = sum over the entries of a sparse row of the terms of values[slot of the entry][l] and
// the entry. Terms with a 0 are 0.
constexpr Index lanes = 32;

template <template <class> class Term, class S, class T>
HSS_INLINE void sparse_sums_body(const S* values, const std::int32_t* slot,
                                 const std::int32_t* indices, const T* data, Index nnz, S* out) {
    S sum[lanes];
    for (Index l = 0; l < lanes; ++l) sum[l] = 0;
    for (Index a = 0; a < nnz; ++a) {
        const S x = data[a];
        const S* v = values + slot[indices[a]] * lanes;
        HSS_SIMD()
        for (Index l = 0; l < lanes; ++l) sum[l] += Term<S>::of(x, v[l]);
    }
    for (Index l = 0; l < lanes; ++l) out[l] = sum[l];
}
#define HSS_SPARSE_TYPES(name, Term, S, T)                                              \
    HSS_CLONES(void, name,                                                              \
               (const S* values, const std::int32_t* slot, const std::int32_t* indices, \
                const T* data, Index nnz, S* out),                                      \
               sparse_sums_body<Term>, (values, slot, indices, data, nnz, out))
#define HSS_SPARSE(name, Term)                   \
    HSS_SPARSE_TYPES(name, Term, float, float)   \
    HSS_SPARSE_TYPES(name, Term, double, float)  \
    HSS_SPARSE_TYPES(name, Term, double, double) \
    HSS_SPARSE_TYPES(name, Term, float, double)
HSS_SPARSE(sparse_dots, Product)
HSS_SPARSE(sparse_minima, Minimum)
HSS_SPARSE(sparse_harmonic_means, HarmonicMean)
HSS_SPARSE(sparse_overlaps, Overlap)
#undef HSS_SPARSE
#undef HSS_SPARSE_TYPES

// One elimination step inside a pool of p candidates (see skeleton.hpp): with u the scaled pivot
// column of the kernel residual E and g = scale * (pivot column of G),
//     E -= u u',   G -= g u' + u g' - weight u u'.
HSS_INLINE void eliminate_body(double* E, double* G, Index p, const double* u, const double* g,
                               double weight) {
    for (Index j = 0; j < p; ++j) {
        double *e = E + j * p, *h = G + j * p;
        const double uj = u[j], gj = g[j] - weight * u[j];
        for (Index i = 0; i < p; ++i) {
            e[i] -= u[i] * uj;
            h[i] -= g[i] * uj + u[i] * gj;
        }
    }
}
HSS_CLONES(void, eliminate,
           (double* E, double* G, Index p, const double* u, const double* g, double weight),
           eliminate_body, (E, G, p, u, g, weight))

}  // namespace hss::simd
