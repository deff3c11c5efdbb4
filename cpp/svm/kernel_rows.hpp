// The rows of a small kernel matrix, computed when they are first needed: a solver that starts at 0
// needs those of the support vectors, and few others.
#pragma once
#include <cstddef>
#include <vector>

#include "hss/absolute_distances.hpp"
#include "hss/dense_block.hpp"
#include "hss/few_rhs.hpp"
#include "hss/kernel.hpp"
#include "hss/simd.hpp"
#include "hss/view.hpp"
#include "hss/workspace.hpp"

namespace svm {

using hss::Index;

// A whole matrix in C order, with leading dimension ld.
template <class T>
struct DenseMatrix {
    const T* data;
    Index ld;

    const T* row(Index i) const { return data + i * ld; }
    T diagonal(Index i) const { return data[i * ld + i]; }
};

template <class T>
class KernelRows {
    const hss::Kernel kernel;
    const hss::DenseRows<T> X;
    std::vector<T> columns, norm, point;  // the features around their means, one after the other
    T* const values;  // memory of the rows that are never needed stays untouched
    std::vector<char> known;

  public:
    // The buffer must outlive the rows; new memory costs more than some of the kernel values.
    KernelRows(const hss::Kernel& kernel, const hss::DenseRows<T>& X, hss::Buffer<T>& buffer)
        : kernel(kernel), X(X), columns(static_cast<std::size_t>(X.n * X.p)), norm(X.n), point(X.p),
          values(buffer.take(X.n * X.n)), known(X.n, 0) {
        std::vector<T> center(X.p, T(0));
        if (kernel.translation_invariant()) {
            for (Index i = 0; i < X.n; ++i)
                for (Index f = 0; f < X.p; ++f) center[f] += X.data[i * X.p + f];
            for (T& mean : center) mean /= static_cast<T>(X.n);
        }
        for (Index i = 0; i < X.n; ++i) {
            norm[i] = hss::gather(kernel, X.data + i * X.p, center.data(), X.p, point.data());
            for (Index f = 0; f < X.p; ++f) columns[f * X.n + i] = point[f];
        }
    }

    Index size() const { return X.n; }

    const T* row(Index i) {
        T* v = values + i * X.n;
        if (known[i]) return v;
        std::fill_n(v, X.n, T(0));
        for (Index f = 0; f < X.p; ++f) point[f] = columns[f * X.n + i];
        add_similarities(v);
        if (kernel.radial()) v[i] = 0;  // else every row would look as if it had a duplicate
        finish(i, v);
        v[i] = diagonal(i);
        known[i] = 1;
        return v;
    }

    T diagonal(Index i) const { return hss::diagonal_value(kernel, norm[i]); }

  private:
    void finish(Index i, T* v) const {
        if (kernel.direct()) return hss::apply_kernel(kernel, v, X.n);
        const T* x = X.data + i * X.p;
        hss::finish_column(kernel, v, X.n, norm.data(), norm[i], [&](Index j) {
            return hss::distance(kernel, X.data + j * X.p, x, X.p);
        });
    }
    // v[j] += s(x_j, point), or their distance
    void add_similarities(T* v) const {
        const hss::View<const T> rows(columns.data(), X.n, X.p);
        if (kernel.direct()) return hss::add_absolute_distances<T>(rows, point.data(), v);
        if (kernel.similarity == hss::Similarity::products)
            return hss::add_columns<T>(rows, point.data(), v);
        for (Index f = 0; f < X.p; ++f) {
            const T* column = columns.data() + f * X.n;
            switch (kernel.similarity) {
                case hss::Similarity::minima:
                    hss::simd::add_minima(column, point[f], X.n, v);
                    break;
                case hss::Similarity::harmonic_means:
                    hss::simd::add_harmonic_means(column, point[f], X.n, v);
                    break;
                default: hss::simd::add_matches(column, point[f], X.n, v);
            }
        }
    }
};

}  // namespace svm
