// Products with rows of a kernel matrix that are kept in memory.
#pragma once
#include <algorithm>

#include "hss/few_rhs.hpp"
#include "hss/lapack.hpp"
#include "hss/parallel.hpp"
#include "hss/view.hpp"

namespace svm {

// out += block' W for an m x n block, W (m x k) and out (n x k), all in C order.
template <class T>
void add_transposed_product(const T* block, Index m, Index n, const T* W, Index k, T* out) {
    const Index tile = 2048;  // a tile of `out` stays in the first-level cache
    hss::parallel_for((n + tile - 1) / tile, [&](Index t) {
        const Index begin = t * tile, size = std::min(tile, n - begin);
        const hss::View<const T> columns{block + begin, size, m, n};
        if (k == 1)
            hss::add_columns<T>(columns, W, out + begin);
        else
            hss::gemm<T>('N', 'T', T(1), {W, k, m}, columns, T(1), {out + begin * k, k, size});
    });
}

}  // namespace svm
