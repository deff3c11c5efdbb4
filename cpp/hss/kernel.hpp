// Blocks of a kernel matrix: out = K(X[I], Y[J]).
//
// Every kernel here is a function of a similarity s(x, y), which is a sum over the features: the
// inner product, the sum of the minima or of the harmonic means of nonnegative features, the number
// of features in which two rows agree (dense rows only, since zeros agree, too), or the sum of the
// overlaps of the intervals from 0 to x_j and from 0 to y_j. With
// the norms |x|^2 = s(x, x), radial kernels are functions of d^2 = |x|^2 + |y|^2 - 2 s(x, y), the
// others of s(x, y) and the norms. So a block is one product of gathered rows and one vectorized
// map, computed for as many columns at a time as fit in the cache. Where d^2 is small compared with
// the norms, the difference cancels, and that pair is computed from x - y instead: duplicates get
// exactly K(x, x). With overlaps, d^2 is |x - y|_1, which is summed directly for
// dense rows. The precision S of a block may be wider than the precision T of the rows.
#pragma once
#include <algorithm>
#include <cmath>

#include "kernel_functions.hpp"
#include "simd.hpp"
#include "view.hpp"

namespace hss {

enum class Similarity { products, minima, harmonic_means, matches, overlaps };

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
        return !(similarity == Similarity::products || direct()) || type > KernelType::polynomial;
    }
    bool direct() const { return similarity == Similarity::overlaps; }  // d^2 is |x - y|_1
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

// s(x, y), unless it is the inner product
template <class S>
S similarity(const Kernel& kernel, const S* x, const S* y, Index p) {
    switch (kernel.similarity) {
        case Similarity::minima: return simd::sum_of_minima(x, y, p);
        case Similarity::harmonic_means: return simd::sum_of_harmonic_means(x, y, p);
        case Similarity::overlaps: return simd::sum_of_overlaps(x, y, p);
        default: return simd::count_of_matches(x, y, p);
    }
}

// The squared distance from x - y
template <class T>
T distance(const Kernel& kernel, const T* x, const T* y, Index p) {
    switch (kernel.similarity) {
        case Similarity::minima:
        case Similarity::overlaps: return simd::absolute_distance(x, y, p);
        case Similarity::harmonic_means: return simd::chi_squared_distance(x, y, p);
        case Similarity::matches: return 2 * (static_cast<T>(p) - simd::count_of_matches(x, y, p));
        default: return simd::squared_distance(x, y, p);
    }
}

}  // namespace hss
