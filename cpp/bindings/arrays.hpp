// NumPy arrays passed in and out: types, checks of their contents, and arrays made from vectors.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "gil.hpp"
#include "hss/parallel.hpp"
#include "hss/view.hpp"

namespace bindings {

namespace nb = nanobind;
using hss::Index;

template <class T>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = Array<const Index>;

inline void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

template <class T>
Index size(const T& array) {
    return static_cast<Index>(array.size());
}

// Keeps an array alive, whatever its type.
template <class A>
std::shared_ptr<void> retain(const A& array) {
    return std::make_shared<A>(array);
}

inline void check_indices(const Indices& indices, Index n) {
    for (Index i = 0; i < size(indices); ++i)
        require(indices.data()[i] >= 0 && indices.data()[i] < n, "row index out of range");
}

inline void check_offsets(const Indices& offsets, Index last) {
    require(
        size(offsets) >= 1 && offsets.data()[0] == 0 && offsets.data()[size(offsets) - 1] == last,
        "offsets do not match");
    for (Index i = 0; i + 1 < size(offsets); ++i)
        require(offsets.data()[i] <= offsets.data()[i + 1], "offsets must not decrease");
}

// Memory for an array, and the Python object that frees it.
template <class T>
std::pair<T*, nb::capsule> allocate(std::size_t size) {
    std::unique_ptr<T[]> data(new T[size]);
    nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return {data.release(), std::move(owner)};
}

// One array of `part(node)` for all nodes, one after the other; frees the parts.
template <class Node, class Part>
nb::object concatenate(std::vector<Node>& nodes, Part&& part) {
    using Value = typename std::decay_t<decltype(part(nodes[0]))>::value_type;
    std::vector<Index> start(nodes.size() + 1, 0);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        start[i + 1] = start[i] + static_cast<Index>(part(nodes[i]).size());
    auto [data, owner] = allocate<Value>(static_cast<std::size_t>(start.back()));
    {
        ReleaseGil release;
        hss::parallel_for(static_cast<Index>(nodes.size()), [&, data = data](Index i) {
            auto& values = part(nodes[i]);
            std::copy(values.begin(), values.end(), data + start[i]);
            std::decay_t<decltype(values)>().swap(values);
        });
    }
    return nb::cast(Array<Value>(data, {static_cast<std::size_t>(start.back())}, owner));
}

inline nb::object running_sum(const std::vector<Index>& counts) {
    auto [sums, owner] = allocate<Index>(counts.size() + 1);
    sums[0] = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) sums[i + 1] = sums[i] + counts[i];
    return nb::cast(Array<Index>(sums, {counts.size() + 1}, owner));
}

}  // namespace bindings
