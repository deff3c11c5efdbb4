// Decimal numbers in text, correctly rounded to double.
#pragma once
#include <charconv>
#include <cstdint>
#include <limits>
#ifndef __cpp_lib_to_chars
#include <locale.h>
#include <cstdlib>
#include <string>
#ifdef __APPLE__
#include <xlocale.h>
#endif
#endif

#include "hss/view.hpp"

namespace hss::io {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The unsigned number [first, last), of any length, whose last digit stands for 10^exponent;
// infinite on overflow, 0 on underflow.
#ifdef __cpp_lib_to_chars
inline double any_decimal(const char* first, const char* last, Index exponent) {
    double value = 0;
    if (std::from_chars(first, last, value).ec == std::errc()) return value;
    // Out of range; the power of ten of the first digit tells overflow from underflow.
    while (first < last && (*first == '0' || *first == '.')) ++first;
    Index n_digits = 0;
    for (; first < last && (is_digit(*first) || *first == '.'); ++first) n_digits += *first != '.';
    return n_digits > 0 && exponent + n_digits > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}
#else
inline double any_decimal(const char* first, const char* last, Index) {
    static const locale_t with_point = newlocale(LC_ALL_MASK, "C", nullptr);
    return strtod_l(std::string(first, last).c_str(), nullptr, with_point);
}
#endif

// Reads [sign] digits [. digits] [e [sign] digits] from the start of [p, end). Returns where it
// stopped, or nullptr if there is no such number.
inline const char* read_decimal(const char* p, const char* end, double* value) {
    static constexpr double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const auto sign = [&] {
        const bool negative = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) ++p;
        return negative;
    };
    std::uint64_t whole = 0;  // all digits without the point
    const auto digits = [&] {
        const char* from = p;
        while (p < end && is_digit(*p)) whole = 10 * whole + static_cast<std::uint64_t>(*p++ - '0');
        return static_cast<Index>(p - from);
    };
    const bool negative = sign();
    const char* first = p;
    Index n_digits = digits(), exponent = 0;
    if (p < end && *p == '.') {
        ++p;
        exponent = -digits();
        n_digits -= exponent;
    }
    if (n_digits == 0) return nullptr;
    if (p < end && (*p == 'e' || *p == 'E')) {
        ++p;
        const bool small = sign();
        if (p == end || !is_digit(*p)) return nullptr;
        Index shift = 0;
        for (; p < end && is_digit(*p); ++p)
            if (shift < Index(1) << 50) shift = 10 * shift + (*p - '0');
        exponent += small ? -shift : shift;
    }
    // A single rounding of two exact numbers is correct.
    if (n_digits <= 19 && whole <= std::uint64_t(1) << 53 && -22 <= exponent && exponent <= 22) {
        const double exact = static_cast<double>(whole);
        *value = exponent < 0 ? exact / power[-exponent] : exact * power[exponent];
    } else {
        *value = any_decimal(first, p, exponent);
    }
    if (negative) *value = -*value;
    return p;
}

}  // namespace hss::io
