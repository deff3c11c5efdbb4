// Compression of a level.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "hss/compress.hpp"
#include "hss/interpolate.hpp"
#include "kernel_matrix.hpp"
#include "module.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

// The bases of a level's nodes, as the level above needs them.
struct ChildBases {
    std::vector<Index> sizes, ranks;  // a rotation is stored where they differ
    std::vector<std::vector<double>> cholesky, rotation;

    std::vector<hss::NodeView> views() const {
        std::vector<hss::NodeView> nodes(sizes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            nodes[i].L = {cholesky[i].data(), sizes[i], sizes[i]};
            if (ranks[i] < sizes[i]) nodes[i].Q = {rotation[i].data(), sizes[i], ranks[i]};
        }
        return nodes;
    }

    // The blocks of all nodes, one after the other.
    nb::tuple arrays() const {
        auto identity = [](std::vector<double>& block) -> auto& { return block; };
        auto L = cholesky, Q = rotation;
        return nb::make_tuple(concatenate(L, identity), concatenate(Q, identity));
    }
    static ChildBases of(Indices sizes, Indices ranks, Array<const double> cholesky,
                         Array<const double> rotation) {
        require(size(sizes) == size(ranks), "ChildBases: one size and one rank per node");
        ChildBases bases;
        Index c = 0, q = 0;
        for (Index i = 0; i < size(sizes); ++i) {
            const Index s = sizes.data()[i], r = ranks.data()[i];
            require(0 <= r && r <= s, "ChildBases: ranks must be between 0 and the sizes");
            const Index n_c = s * s, n_q = r < s ? s * r : 0;
            require(c + n_c <= size(cholesky) && q + n_q <= size(rotation),
                    "ChildBases: blocks do not match");
            bases.sizes.push_back(s);
            bases.ranks.push_back(r);
            bases.cholesky.emplace_back(cholesky.data() + c, cholesky.data() + c + n_c);
            bases.rotation.emplace_back(rotation.data() + q, rotation.data() + q + n_q);
            c += n_c;
            q += n_q;
        }
        require(c == size(cholesky) && q == size(rotation), "ChildBases: blocks do not match");
        return bases;
    }
};

// -> skeleton_offsets, skeleton, ranks (running sum), basis, coupling, expansion, bases
template <class T>
nb::tuple compress_level(const KernelMatrix& K, Indices candidates, Indices offsets,
                         Matrix<const Index> samples, Index max_rank, Index max_size, double rtol,
                         const ChildBases* child_bases) {
    forbid_reentry();
    require(max_rank >= 0 && max_size >= max_rank, "compress_level: max_rank and max_size");
    const Index n_nodes = size(offsets) - 1;
    check_indices(candidates, K.n);
    check_offsets(offsets, size(candidates));
    require(static_cast<Index>(samples.shape(0)) == n_nodes, "one row of samples per node");
    check_indices(Indices(samples.data(), {samples.size()}), K.n);
    std::vector<hss::NodeView> children;
    if (child_bases) {
        children = child_bases->views();
        require(static_cast<Index>(children.size()) == 2 * n_nodes, "two children per node");
        for (Index i = 0; i < n_nodes; ++i)
            require(child_bases->sizes[2 * i] + child_bases->sizes[2 * i + 1] ==
                        offsets.data()[i + 1] - offsets.data()[i],
                    "candidates must be the children's skeletons");
    }
    std::vector<hss::NodeBasis<T>> nodes;
    {
        ReleaseGil release;
        nodes = hss::compress_level<T>(*K.matrix, candidates.data(), offsets.data(), n_nodes,
                                       samples.data(), static_cast<Index>(samples.shape(1)),
                                       {max_rank, max_size, rtol}, children);
    }
    ChildBases bases;
    for (auto& node : nodes) {
        bases.sizes.push_back(static_cast<Index>(node.skeleton.size()));
        bases.ranks.push_back(node.rank);
        bases.cholesky.push_back(std::move(node.cholesky));
        bases.rotation.push_back(std::move(node.rotation));
    }
    using Node = hss::NodeBasis<T>;
    return nb::make_tuple(
        running_sum(bases.sizes), concatenate(nodes, [](Node& n) -> auto& { return n.skeleton; }),
        running_sum(bases.ranks), concatenate(nodes, [](Node& n) -> auto& { return n.basis; }),
        concatenate(nodes, [](Node& n) -> auto& { return n.coupling; }),
        concatenate(nodes, [](Node& n) -> auto& { return n.expansion; }), std::move(bases));
}

// -> skeleton_offsets (and ranks), skeleton, basis, coupling
template <class T>
nb::tuple interpolate_level(const KernelMatrix& K, Indices candidates, Indices offsets,
                            std::optional<Indices> left, Indices samples, Indices sample_offsets,
                            Index max_rank, double rtol, double atol) {
    forbid_reentry();
    const Index n_nodes = size(offsets) - 1;
    check_indices(candidates, K.n);
    check_offsets(offsets, size(candidates));
    check_indices(samples, K.n);
    check_offsets(sample_offsets, size(samples));
    require(
        max_rank >= 0 && size(sample_offsets) == n_nodes + 1 && (!left || size(*left) == n_nodes),
        "interpolate_level: shapes do not match");
    for (Index i = 0; left && i < n_nodes; ++i)
        require(
            left->data()[i] >= 0 && left->data()[i] <= offsets.data()[i + 1] - offsets.data()[i],
            "interpolate_level: left children");
    std::vector<hss::NodeBasis<T>> nodes;
    {
        ReleaseGil release;
        nodes = hss::interpolate_level<T>(*K.matrix, candidates.data(), offsets.data(), n_nodes,
                                          left ? left->data() : nullptr, samples.data(),
                                          sample_offsets.data(), {max_rank, rtol, atol});
    }
    std::vector<Index> ranks;
    for (auto& node : nodes) ranks.push_back(node.rank);
    using Node = hss::NodeBasis<T>;
    return nb::make_tuple(running_sum(ranks),
                          concatenate(nodes, [](Node& n) -> auto& { return n.skeleton; }),
                          concatenate(nodes, [](Node& n) -> auto& { return n.basis; }),
                          concatenate(nodes, [](Node& n) -> auto& { return n.coupling; }));
}

}  // namespace

void bind_compress(nb::module_& m) {
    nb::class_<ChildBases>(m, "ChildBases")
        .def(
            "__init__",
            [](ChildBases* self, Indices sizes, Indices ranks, Array<const double> cholesky,
               Array<const double> rotation) {
                new (self) ChildBases(ChildBases::of(sizes, ranks, cholesky, rotation));
            },
            "sizes"_a.noconvert(), "ranks"_a.noconvert(), "cholesky"_a.noconvert(),
            "rotation"_a.noconvert())
        .def("arrays", &ChildBases::arrays);

    // No argument determines the precision of the result, hence two names.
    m.def("compress_level_f32", &compress_level<float>, "K"_a, "candidates"_a.noconvert(),
          "offsets"_a.noconvert(), "samples"_a.noconvert(), "max_rank"_a, "max_size"_a, "rtol"_a,
          "children"_a.none());
    m.def("compress_level_f64", &compress_level<double>, "K"_a, "candidates"_a.noconvert(),
          "offsets"_a.noconvert(), "samples"_a.noconvert(), "max_rank"_a, "max_size"_a, "rtol"_a,
          "children"_a.none());
    m.def("interpolate_level_f32", &interpolate_level<float>, "K"_a, "candidates"_a.noconvert(),
          "offsets"_a.noconvert(), "left"_a.noconvert().none(), "samples"_a.noconvert(),
          "sample_offsets"_a.noconvert(), "max_rank"_a, "rtol"_a, "atol"_a);
    m.def("interpolate_level_f64", &interpolate_level<double>, "K"_a, "candidates"_a.noconvert(),
          "offsets"_a.noconvert(), "left"_a.noconvert().none(), "samples"_a.noconvert(),
          "sample_offsets"_a.noconvert(), "max_rank"_a, "rtol"_a, "atol"_a);
}

}  // namespace bindings
