// Non-owning column-major matrix views, as LAPACK sees matrices.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hss {

using Index = std::int64_t;

template <class T>
struct View {
    T* data = nullptr;
    Index rows = 0, cols = 0, ld = 1;

    View() = default;
    View(T* data, Index rows, Index cols) : View(data, rows, cols, rows) {}
    View(T* data, Index rows, Index cols, Index ld)
        : data(data), rows(rows), cols(cols), ld(ld > 0 ? ld : 1) {}

    T& operator()(Index i, Index j) const { return data[i + j * ld]; }
    T* col(Index j) const { return data + j * ld; }
    View block(Index i, Index j, Index n_rows, Index n_cols) const {
        return {data + i + j * ld, n_rows, n_cols, ld};
    }
    operator View<const T>() const { return {data, rows, cols, ld}; }
};

}  // namespace hss
