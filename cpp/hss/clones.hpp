// Functions that are compiled for several instruction sets, of which the CPU has some, and loops
// that are vectorized.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__)
#define HSS_SIMD(clauses)
#else
#define HSS_PRAGMA(text) _Pragma(#text)
#define HSS_SIMD(clauses) HSS_PRAGMA(omp simd clauses)
#endif
// HSS_SIMD_4 makes vectors of four numbers: Clang would take four vectors at a time, and up to 15
// numbers at the end one by one. HSS_OUTER is for loops around a short vector loop: Clang would
// unroll that one, and vectorize this.
#if defined(__clang__)
#define HSS_SIMD_4(clauses) _Pragma("clang loop vectorize_width(4) interleave_count(1)")
#define HSS_OUTER _Pragma("clang loop vectorize(disable)")
#else
#define HSS_SIMD_4(clauses) HSS_SIMD(simdlen(4) clauses)
#define HSS_OUTER
#endif
#if defined(__GNUC__) || defined(__clang__)
#define HSS_INLINE inline __attribute__((always_inline))
#else
#define HSS_INLINE __forceinline
#endif

// Defines `result name parameters { return body arguments; }`, compiled for several instruction
// sets. A call runs the best one that the CPU has. The attribute target_clones would need glibc,
// and Clang 14 and 16 accept it but do not test for the sets that it names.
#if defined(__x86_64__) && !defined(_MSC_VER)
#define HSS_AVX2 __attribute__((target("avx2,fma")))
#define HSS_AVX512 __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")))
#define HSS_CLONES(result, name, parameters, body, arguments)                    \
    HSS_AVX2 inline result name##_avx2 parameters { return body arguments; }     \
    HSS_AVX512 inline result name##_avx512 parameters { return body arguments; } \
    inline result name parameters {                                              \
        using hss::Instructions;                                                 \
        switch (hss::instructions) {                                             \
            case Instructions::avx512: return name##_avx512 arguments;           \
            case Instructions::avx2: return name##_avx2 arguments;               \
            default: return body arguments;                                      \
        }                                                                        \
    }

namespace hss {

enum class Instructions { baseline, avx2, avx512 };

inline const Instructions instructions = [] {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return Instructions::baseline;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx512 ? Instructions::avx512 : Instructions::avx2;
}();

}  // namespace hss
#else
#define HSS_CLONES(result, name, parameters, body, arguments) \
    inline result name parameters { return body arguments; }
#endif
