// Eight numbers that are computed together: one for each of eight support vectors.
#pragma once
#include <cstdint>

#include "hss/clones.hpp"
#include "hss/view.hpp"
#include "hss/workspace.hpp"

namespace shapley {

using hss::Index;

constexpr Index n_lanes = 8;

// GCC and Clang split this type into what the instruction set of a clone has, and keep it in
// registers; arrays of eight numbers would go through memory.
#if defined(__GNUC__) || defined(__clang__)
typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));
#define SHAPLEY_LARGER(a, b) ((a) > (b) ? (a) : (b))
#else
struct Lanes {
    double v[n_lanes];
    double operator[](Index l) const { return v[l]; }
};
#define SHAPLEY_OPERATOR(op)                                           \
    inline Lanes operator op(const Lanes& a, const Lanes& b) {         \
        Lanes c;                                                       \
        for (Index l = 0; l < n_lanes; ++l) c.v[l] = a.v[l] op b.v[l]; \
        return c;                                                      \
    }                                                                  \
    inline Lanes operator op(const Lanes& a, double b) {               \
        Lanes c;                                                       \
        for (Index l = 0; l < n_lanes; ++l) c.v[l] = a.v[l] op b;      \
        return c;                                                      \
    }
SHAPLEY_OPERATOR(+)
SHAPLEY_OPERATOR(-)
SHAPLEY_OPERATOR(*)
#undef SHAPLEY_OPERATOR
inline Lanes larger(const Lanes& a, const Lanes& b) {
    Lanes c;
    for (Index l = 0; l < n_lanes; ++l) c.v[l] = a.v[l] > b.v[l] ? a.v[l] : b.v[l];
    return c;
}
#define SHAPLEY_LARGER(a, b) larger(a, b)
#endif

// The numbers at an address, which need not be aligned to their size
HSS_INLINE Lanes& lanes(double* values) { return *reinterpret_cast<Lanes*>(values); }
HSS_INLINE const Lanes& lanes(const double* values) {
    return *reinterpret_cast<const Lanes*>(values);
}

// Memory for numbers, aligned to lanes: a vector then never lies in two lines of the cache.
class LaneBuffer {
    hss::Buffer<double> buffer_;

  public:
    double* take(Index size) {
        const auto address = reinterpret_cast<std::uintptr_t>(buffer_.take(size + n_lanes));
        constexpr std::uintptr_t line = n_lanes * sizeof(double);
        return reinterpret_cast<double*>((address + line - 1) / line * line);
    }
};

}  // namespace shapley
