// Sweeps over a level: factor, solve, multiply.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "arrays.hpp"
#include "gil.hpp"
#include "hss/predict.hpp"
#include "hss/sweep.hpp"
#include "kernel_matrix.hpp"
#include "module.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

// The layout of a level, with the arrays that it points into.
struct LevelLayout {
    Indices offsets, ranks;
    std::optional<Indices> child_ranks, rows;
    hss::LevelLayout layout;

    LevelLayout(Indices offsets, Indices ranks, std::optional<Indices> child_ranks,
                std::optional<Indices> rows)
        : offsets(offsets), ranks(ranks), child_ranks(child_ranks), rows(rows),
          layout(check(offsets, ranks, child_ranks, rows), offsets.data(), ranks.data(),
                 child_ranks ? child_ranks->data() : nullptr, rows ? rows->data() : nullptr) {}

    static Index check(const Indices& offsets, const Indices& ranks,
                       const std::optional<Indices>& child_ranks,
                       const std::optional<Indices>& rows) {
        const Index n_nodes = size(offsets) - 1;
        require(n_nodes >= 1 && size(ranks) == n_nodes + 1, "one rank per node");
        require(!child_ranks || size(*child_ranks) == 2 * n_nodes + 1, "two children per node");
        require(child_ranks.has_value() != rows.has_value(),
                "a level must have either rows or children");
        check_offsets(offsets, rows ? size(*rows) : child_ranks->data()[size(*child_ranks) - 1]);
        check_offsets(ranks, ranks.data()[size(ranks) - 1]);
        if (rows) check_indices(*rows, size(*rows));
        if (child_ranks) {
            check_offsets(*child_ranks, child_ranks->data()[size(*child_ranks) - 1]);
            for (Index i = 0; i <= n_nodes; ++i)
                require(child_ranks->data()[2 * i] == offsets.data()[i], "offsets do not match");
        }
        return n_nodes;
    }
    Index n_rows() const { return layout.offsets[layout.n_nodes]; }
    Index n_coefficients() const { return layout.ranks[layout.n_nodes]; }
    void require_basis(Index values) const {
        forbid_reentry();
        require(values == layout.basis_start.back(), "basis has the wrong size");
    }
    template <class Block>
    Index require_blocks(const Block& rows_block, const Block& coefficients) const {
        require(static_cast<Index>(rows_block.shape(0)) == n_rows() &&
                    static_cast<Index>(coefficients.shape(0)) == n_coefficients() &&
                    rows_block.shape(1) == coefficients.shape(1),
                "block of right-hand sides has the wrong shape");
        return static_cast<Index>(rows_block.shape(1));
    }
};

template <class T>
void factor_level(const LevelLayout& level, const KernelMatrix* K,
                  std::optional<Array<const T>> shift, Array<const T> basis,
                  Array<const T> coupling, bool projection, std::optional<Array<const T>> child_R,
                  Array<T> packed, Array<T> W, Array<T> R) {
    level.require_basis(size(basis));
    level.require_basis(size(W));
    require(size(coupling) == level.layout.coupling_start.back() &&
                size(packed) == level.layout.triangle_start.back() &&
                size(R) == level.layout.square_start.back() &&
                level.layout.leaf() == (K != nullptr) && level.layout.leaf() == shift.has_value() &&
                level.layout.leaf() != child_R.has_value(),
            "factor_level: shapes do not match");
    if (child_R)
        require(size(*child_R) == level.layout.child_square_start.back(),
                "child_R has the wrong size");
    if (K)
        require(K->n == level.n_rows() && size(*shift) == level.n_rows(),
                "kernel matrix, shift and level differ in size");
    const hss::KernelMatrix* matrix = K ? K->matrix.get() : nullptr;
    ReleaseGil release;
    hss::factor_level<T>(level.layout, matrix, shift ? shift->data() : nullptr, basis.data(),
                         coupling.data(), projection, child_R ? child_R->data() : nullptr,
                         packed.data(), W.data(), R.data());
}

template <class T>
void bind_functions(nb::module_& m) {
    m.def("factor_level", &factor_level<T>, "level"_a, "K"_a.none(), "shift"_a.noconvert().none(),
          "basis"_a.noconvert(), "coupling"_a.noconvert(), "projection"_a,
          "child_R"_a.noconvert().none(), "packed"_a.noconvert(), "W"_a.noconvert(),
          "R"_a.noconvert());
    m.def(
        "solve_up_leaves",
        [](const LevelLayout& level, Array<const T> packed, Array<const T> W, Matrix<const T> B,
           Matrix<T> X, Matrix<T> c) {
            level.require_basis(size(W));
            const Index k = level.require_blocks(X, c);
            require(level.layout.leaf() && B.size() == X.size() &&
                        size(packed) == level.layout.triangle_start.back(),
                    "solve_up_leaves: shapes do not match");
            ReleaseGil release;
            hss::solve_up_leaves<T>(level.layout, packed.data(), W.data(), B.data(), X.data(), k,
                                    c.data());
        },
        "level"_a, "packed"_a.noconvert(), "W"_a.noconvert(), "B"_a.noconvert(), "X"_a.noconvert(),
        "c"_a.noconvert());
    m.def(
        "solve_up",
        [](const LevelLayout& level, Array<const T> packed, Array<const T> W,
           Matrix<T> coefficients, Matrix<T> c) {
            level.require_basis(size(W));
            const Index k = level.require_blocks(coefficients, c);
            require(!level.layout.leaf() && size(packed) == level.layout.triangle_start.back(),
                    "solve_up: shapes do not match");
            ReleaseGil release;
            hss::solve_up<T>(level.layout, packed.data(), W.data(), coefficients.data(), k,
                             c.data());
        },
        "level"_a, "packed"_a.noconvert(), "W"_a.noconvert(), "coefficients"_a.noconvert(),
        "c"_a.noconvert());
    m.def(
        "solve_down",
        [](const LevelLayout& level, Array<const T> W, Matrix<T> delta, Matrix<T> rows) {
            level.require_basis(size(W));
            const Index k = level.require_blocks(rows, delta);
            ReleaseGil release;
            if (level.layout.leaf())
                hss::solve_down_leaves<T>(level.layout, W.data(), delta.data(), rows.data(), k);
            else
                hss::solve_down<T>(level.layout, W.data(), delta.data(), rows.data(), k);
        },
        "level"_a, "W"_a.noconvert(), "delta"_a.noconvert(), "rows"_a.noconvert());
    m.def(
        "matmul_up",
        [](const LevelLayout& level, Array<const T> basis, Matrix<const T> B, Matrix<T> c) {
            level.require_basis(size(basis));
            const Index k = level.require_blocks(Matrix<const T>(B), Matrix<const T>(c));
            ReleaseGil release;
            hss::matmul_up<T>(level.layout, basis.data(), B.data(), k, c.data());
        },
        "level"_a, "basis"_a.noconvert(), "B"_a.noconvert(), "c"_a.noconvert());
    m.def(
        "matmul_down",
        [](const LevelLayout& level, Array<const T> basis, Array<const T> coupling, Matrix<T> delta,
           Matrix<T> coefficients) {
            level.require_basis(size(basis));
            const Index k = level.require_blocks(coefficients, delta);
            require(!level.layout.leaf() && size(coupling) == level.layout.coupling_start.back(),
                    "matmul_down: shapes do not match");
            ReleaseGil release;
            hss::matmul_down<T>(level.layout, basis.data(), coupling.data(), delta.data(),
                                coefficients.data(), k);
        },
        "level"_a, "basis"_a.noconvert(), "coupling"_a.noconvert(), "delta"_a.noconvert(),
        "coefficients"_a.noconvert());
    m.def(
        "matmul_down_leaves",
        [](const LevelLayout& level, const KernelMatrix& K, Array<const T> basis, Matrix<T> delta,
           Matrix<const T> B, Matrix<T> Y) {
            level.require_basis(size(basis));
            const Index k = level.require_blocks(Y, delta);
            require(level.layout.leaf() && B.size() == Y.size() && K.n == level.n_rows(),
                    "matmul_down_leaves: shapes do not match");
            ReleaseGil release;
            hss::matmul_down_leaves<T>(level.layout, *K.matrix, basis.data(), delta.data(),
                                       B.data(), Y.data(), k);
        },
        "level"_a, "K"_a, "basis"_a.noconvert(), "delta"_a.noconvert(), "B"_a.noconvert(),
        "Y"_a.noconvert());
    m.def(
        "matmul_down_leaves_from_factor",
        [](const LevelLayout& level, Array<const T> packed, Array<const T> basis, bool projection,
           Matrix<T> delta, Matrix<const T> B, Matrix<T> Y) {
            level.require_basis(size(basis));
            const Index k = level.require_blocks(Y, delta);
            require(level.layout.leaf() && B.size() == Y.size() &&
                        size(packed) == level.layout.triangle_start.back(),
                    "matmul_down_leaves_from_factor: shapes do not match");
            ReleaseGil release;
            hss::matmul_down_leaves_from_factor<T>(level.layout, packed.data(), basis.data(),
                                                   projection, delta.data(), B.data(), Y.data(), k);
        },
        "level"_a, "packed"_a.noconvert(), "basis"_a.noconvert(), "projection"_a,
        "delta"_a.noconvert(), "B"_a.noconvert(), "Y"_a.noconvert());
    m.def(
        "leaf_weights",
        [](const LevelLayout& level, Indices skeleton_offsets, Indices skeleton,
           Array<const T> expansion, Matrix<const T> delta, Matrix<T> weights) {
            const Index k = level.require_blocks(weights, Matrix<T>(delta));
            check_offsets(skeleton_offsets, size(skeleton));
            check_indices(skeleton, level.n_rows());
            require(
                level.layout.leaf() && size(skeleton_offsets) == level.layout.n_nodes + 1 &&
                    size(expansion) == hss::expansion_size(level.layout, skeleton_offsets.data()),
                "leaf_weights: shapes do not match");
            ReleaseGil release;
            hss::leaf_weights<T>(level.layout, skeleton_offsets.data(), skeleton.data(),
                                 expansion.data(), delta.data(), weights.data(), k);
        },
        "level"_a, "skeleton_offsets"_a.noconvert(), "skeleton"_a.noconvert(),
        "expansion"_a.noconvert(), "delta"_a.noconvert(), "weights"_a.noconvert());
}

}  // namespace

void bind_ulv(nb::module_& m) {
    nb::class_<LevelLayout>(m, "LevelLayout")
        .def(nb::init<Indices, Indices, std::optional<Indices>, std::optional<Indices>>(),
             "offsets"_a.noconvert(), "ranks"_a.noconvert(), "child_ranks"_a.noconvert().none(),
             "rows"_a.noconvert().none());
    bind_functions<float>(m);
    bind_functions<double>(m);
}

}  // namespace bindings
