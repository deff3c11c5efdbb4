// Splits of the cluster tree.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "arrays.hpp"
#include "gil.hpp"
#include "hss/split.hpp"
#include "kernel_matrix.hpp"
#include "module.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

template <class T>
void split_level(const Rows& X, Indices halves, Array<const std::uint64_t> seeds, Index n_samples,
                 Index n_starts, Index n_iterations, Array<Index> perm, Matrix<T> directions,
                 Array<T> thresholds) {
    require(size(perm) == X.n_rows(), "perm must list every row");
    check_indices(Indices(perm.data(), {perm.size()}), X.n_rows());
    const Index n_nodes = size(seeds);
    require(size(halves) == 2 * n_nodes + 1 && halves.data()[0] == 0 &&
                halves.data()[2 * n_nodes] == X.n_rows(),
            "split_level: halves");
    for (Index i = 0; i < 2 * n_nodes; ++i)
        require(halves.data()[i] < halves.data()[i + 1], "split_level: an empty half");
    require(static_cast<Index>(directions.shape(0)) == n_nodes &&
                static_cast<Index>(directions.shape(1)) == X.n_features() &&
                size(thresholds) == n_nodes && n_samples > 1 && n_starts > 0,
            "split_level: shapes do not match");
    ReleaseGil release;
    X.visit<T>([&](auto& rows) {
        hss::split_level<T>(rows, halves.data(), n_nodes, seeds.data(),
                            {n_samples, n_starts, n_iterations}, perm.data(), directions.data(),
                            thresholds.data());
    });
}

template <class T>
void project(const Rows& X, Matrix<const T> directions, Indices node, Array<T> values) {
    require(size(node) == X.n_rows() && size(values) == X.n_rows() &&
                static_cast<Index>(directions.shape(1)) == X.n_features(),
            "project: shapes do not match");
    check_indices(node, static_cast<Index>(directions.shape(0)));
    ReleaseGil release;
    X.visit<T>(
        [&](auto& rows) { hss::project<T>(rows, directions.data(), node.data(), values.data()); });
}

void sample_positions(Index n_rows, Index n_samples, std::uint64_t seed, Array<Index> positions) {
    require(size(positions) == std::min(n_rows, n_samples), "sample_positions: shapes");
    for (Index s = 0; s < size(positions); ++s)
        positions.data()[s] = hss::sample_position(s, n_rows, n_samples, seed);
}

template <class T>
void route(const Rows& X, Index depth, Matrix<const T> directions, Array<const T> thresholds,
           Array<Index> leaf) {
    require(depth >= 0 && depth < 62, "route: depth");
    require(size(leaf) == X.n_rows() && size(thresholds) == (Index(1) << depth) - 1 &&
                static_cast<Index>(directions.shape(0)) == size(thresholds) &&
                static_cast<Index>(directions.shape(1)) == X.n_features(),
            "route: shapes do not match");
    ReleaseGil release;
    X.visit<T>([&](auto& rows) {
        hss::route<T>(rows, depth, directions.data(), thresholds.data(), leaf.data());
    });
}

void ties_below(Index first, Index n_ties, Index n_below, std::uint64_t seed, Array<bool> below) {
    require(first >= 0 && first + size(below) <= n_ties && n_below >= 0 && n_below <= n_ties,
            "ties_below: there are fewer ties");
    hss::Ties{n_ties, n_below, seed}.draw(first, size(below), below.data());
}

template <class T>
void bind_functions(nb::module_& m) {
    m.def("split_level", &split_level<T>, "X"_a, "halves"_a, "seeds"_a.noconvert(), "n_samples"_a,
          "n_starts"_a, "n_iterations"_a, "perm"_a.noconvert(), "directions"_a.noconvert(),
          "thresholds"_a.noconvert());
    m.def("project", &project<T>, "X"_a, "directions"_a.noconvert(), "node"_a,
          "values"_a.noconvert());
    m.def("route", &route<T>, "X"_a, "depth"_a, "directions"_a.noconvert(),
          "thresholds"_a.noconvert(), "leaf"_a.noconvert());
}

}  // namespace

void bind_tree(nb::module_& m) {
    bind_functions<float>(m);
    bind_functions<double>(m);
    m.def("sample_positions", &sample_positions, "n_rows"_a, "n_samples"_a, "seed"_a,
          "positions"_a.noconvert());
    m.def("ties_below", &ties_below, "first"_a, "n_ties"_a, "n_below"_a, "seed"_a,
          "below"_a.noconvert());
}

}  // namespace bindings
