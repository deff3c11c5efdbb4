// Splitting the nodes of a level into equal halves, and routing new points to leaves.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernel.hpp"
#include "parallel.hpp"
#include "view.hpp"

namespace hss {

template <class T>
T dot(const DenseRows<T>& X, Index i, const T* v) {
    return simd::dot(X.data + i * X.p, v, X.p);
}
template <class T>
T dot(const SparseRows<T>& X, Index i, const T* v) {
    T sum = 0;
    for (Index a = X.indptr[i]; a < X.indptr[i + 1]; ++a) sum += X.data[a] * v[X.indices[a]];
    return sum;
}
template <class T>
void axpy(const DenseRows<T>& X, Index i, T weight, T* v) {
    const T* x = X.data + i * X.p;
    for (Index f = 0; f < X.p; ++f) v[f] += weight * x[f];
}
template <class T>
void axpy(const SparseRows<T>& X, Index i, T weight, T* v) {
    for (Index a = X.indptr[i]; a < X.indptr[i + 1]; ++a) v[X.indices[a]] += weight * X.data[a];
}

// A small counter-based generator (splitmix64): the numbers do not depend on the thread.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
    std::uint64_t z = seed + (counter + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

struct TwoMeansOptions {
    Index n_samples, n_starts, n_iterations;
};

// Position among n_rows rows of sample s, without repetition if all rows are sampled.
inline Index sample_position(Index s, Index n_rows, Index n_samples, std::uint64_t seed) {
    if (n_rows <= n_samples) return s;
    return static_cast<Index>(random_bits(seed, s) % static_cast<std::uint64_t>(n_rows));
}

// Balanced two-means: the direction v between the means of the two halves that the median of
// <x, v> makes of a sample of the rows, iterated to (nearly) a fixed point from several random
// directions; the pair of means farthest apart wins. Written by hand because k-means in libraries
// does not balance the clusters, and a node needs this cheaply for dense and for sparse rows. The
// direction depends on the sampled rows and their order only.
template <class T, class Rows>
void two_means_direction(const Rows& X, const Index* rows, Index n_rows,
                         const TwoMeansOptions& options, std::uint64_t seed, T* direction) {
    const Index p = X.p;
    std::vector<Index> sample(static_cast<std::size_t>(std::min(n_rows, options.n_samples)));
    const Index n = static_cast<Index>(sample.size()), half = n / 2;
    for (Index s = 0; s < n; ++s)
        sample[s] = rows[sample_position(s, n_rows, options.n_samples, seed)];
    std::vector<T> mean(static_cast<std::size_t>(p), T(0)), v(mean.size()), next(mean.size());
    for (Index i : sample) axpy(X, i, T(1) / static_cast<T>(n), mean.data());
    std::vector<std::pair<T, Index>> projected(sample.size());
    auto normalize = [](std::vector<T>& x) {
        double norm = 0;
        for (T value : x) norm += static_cast<double>(value) * value;
        norm = std::sqrt(norm);
        if (norm > 0)
            for (T& value : x) value = static_cast<T>(value / norm);
        return norm;
    };

    double widest = -1;
    for (Index start = 0; start < options.n_starts; ++start) {
        for (Index f = 0; f < p; ++f)
            v[f] = static_cast<T>(random_bits(seed ^ 0x5851F42D4C957F2Du, start * p + f) >> 11) /
                       static_cast<T>(1ull << 53) -
                   T(0.5);
        double width = normalize(v);
        for (Index t = 0; t < options.n_iterations; ++t) {
            for (Index s = 0; s < n; ++s) projected[s] = {dot(X, sample[s], v.data()), s};
            std::nth_element(projected.begin(), projected.begin() + half, projected.end());
            // Mean of the upper half minus mean of all: parallel to the difference of the halves.
            for (Index f = 0; f < p; ++f) next[f] = -mean[f];
            for (Index s = half; s < n; ++s)
                axpy(X, sample[projected[s].second], T(1) / static_cast<T>(n - half), next.data());
            width = normalize(next);
            if (!(width > 0)) break;  // all points equal: any direction will do
            v.swap(next);
        }
        if (width > widest) {
            widest = width;
            std::copy(v.begin(), v.end(), direction);
        }
    }
}

// values[i] = <x_i, directions[node[i]]>, for each row i of X.
template <class T, class Rows>
void project(const Rows& X, const T* directions, const Index* node, T* values) {
    const Index chunk = 4096;
    parallel_for((X.n + chunk - 1) / chunk, [&](Index c) {
        for (Index i = c * chunk; i < std::min(X.n, (c + 1) * chunk); ++i)
            values[i] = dot(X, i, directions + node[i] * X.p);
    });
}

// Many rows may lie exactly on a median, and then n_below of these n_ties rows belong to the lower
// half: of every 64 consecutive ones the same share, drawn at random. So the halves are alike
// whatever the order of the rows, which may be sorted by class; and which half a row belongs to
// follows from its place among the ties alone.
struct Ties {
    static constexpr Index together = 64;
    Index n_ties, n_below;
    std::uint64_t seed;

    // below[i]: whether the row at place first + i is in the lower half.
    void draw(Index first, Index count, bool* below) const {
        std::vector<std::pair<std::uint64_t, Index>> drawn;
        const Index last = first + count;
        for (Index begin = first / together * together; begin < last; begin += together) {
            const Index end = std::min(n_ties, begin + together);
            drawn.clear();
            for (Index j = begin; j < end; ++j)
                drawn.emplace_back(random_bits(seed ^ 0xD6E8FEB86659FD93u, j), j);
            std::sort(drawn.begin(), drawn.end());
            const Index share = end * n_below / n_ties - begin * n_below / n_ties;
            for (Index i = 0; i < end - begin; ++i) {
                const Index j = drawn[i].second;
                if (j >= first && j < last) below[j - first] = i < share;
            }
        }
    }
};

// Reorders perm so that the first half of each node is below the threshold of its split; writes
// directions (n_nodes, p) and thresholds (n_nodes). Node i owns perm[halves[2 i] : halves[2 i +
// 2]], and its upper half begins at halves[2 i + 1]. Rows keep their order within each half.
template <class T, class Rows>
void split_level(const Rows& X, const Index* halves, Index n_nodes, const std::uint64_t* seeds,
                 const TwoMeansOptions& options, Index* perm, T* directions, T* thresholds) {
    const Index n = X.n, p = X.p;
    parallel_for(n_nodes, [&](Index i) {
        const Index begin = halves[2 * i], end = halves[2 * i + 2];
        two_means_direction<T>(X, perm + begin, end - begin, options, seeds[i], directions + i * p);
    });
    std::vector<T> values(static_cast<std::size_t>(n));
    const Index chunk = 4096;
    parallel_for((n + chunk - 1) / chunk, [&](Index c) {
        const Index begin = c * chunk, end = std::min(n, begin + chunk);
        Index node = (std::upper_bound(halves, halves + 2 * n_nodes, begin) - halves - 1) / 2;
        for (Index q = begin; q < end; ++q) {
            while (q >= halves[2 * node + 2]) ++node;
            values[q] = dot(X, perm[q], directions + node * p);
        }
    });
    parallel_for(n_nodes, [&](Index i) {
        const Index begin = halves[2 * i], end = halves[2 * i + 2];
        const Index n_lower = halves[2 * i + 1] - begin;
        std::vector<T> ranked(values.begin() + begin, values.begin() + end);
        std::nth_element(ranked.begin(), ranked.begin() + n_lower, ranked.end());
        const T median = ranked[n_lower];
        thresholds[i] =
            *std::max_element(ranked.begin(), ranked.begin() + n_lower) / 2 + median / 2;
        const auto is_less = [&](T value) { return value < median; };
        const Index n_less = std::count_if(ranked.begin(), ranked.begin() + n_lower, is_less);
        const Index n_ties = std::count(ranked.begin(), ranked.end(), median);
        std::unique_ptr<bool[]> tie_below(new bool[static_cast<std::size_t>(n_ties)]);
        Ties{n_ties, n_lower - n_less, seeds[i]}.draw(0, n_ties, tie_below.get());
        std::vector<Index> above;
        above.reserve(static_cast<std::size_t>(end - begin - n_lower));
        Index below = begin, tie = 0;
        for (Index q = begin; q < end; ++q) {
            if (is_less(values[q]) || (values[q] == median && tie_below[tie++]))
                perm[below++] = perm[q];
            else
                above.push_back(perm[q]);
        }
        std::copy(above.begin(), above.end(), perm + below);
    });
}

// The leaf of row i of X. Directions and thresholds are those of all levels, root first.
template <class T, class Rows>
Index leaf_of(const Rows& X, Index i, Index depth, const T* directions, const T* thresholds) {
    Index node = 0;
    for (Index level = 0; level < depth; ++level) {
        const Index split = (Index(1) << level) - 1 + node;
        node = 2 * node + (dot(X, i, directions + split * X.p) > thresholds[split]);
    }
    return node;
}

template <class T, class Rows>
void route(const Rows& X, Index depth, const T* directions, const T* thresholds, Index* leaf) {
    const Index chunk = 256;
    parallel_for((X.n + chunk - 1) / chunk, [&](Index c) {
        for (Index i = c * chunk; i < std::min(X.n, (c + 1) * chunk); ++i)
            leaf[i] = leaf_of(X, i, depth, directions, thresholds);
    });
}

}  // namespace hss
