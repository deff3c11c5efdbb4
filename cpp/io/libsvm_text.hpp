// LIBSVM's text format, one row per line:
//     label [qid:id] index:value index:value ... [# comment]
// with increasing indices that start at 1. Either all lines have a label or none has.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "decimal.hpp"
#include "hss/parallel.hpp"

namespace hss::io {

inline bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
inline const char* skip_blanks(const char* p, const char* end) {
    while (p < end && is_blank(*p)) ++p;
    return p;
}
inline const char* skip_token(const char* p, const char* end) {
    while (p < end && !is_blank(*p)) ++p;
    return p;
}
inline const char* find(const char* p, const char* end, char c) {
    if (p >= end) return end;
    const void* at = std::memchr(p, c, static_cast<std::size_t>(end - p));
    return at ? static_cast<const char*>(at) : end;
}

// The word at p as a message shows it: in quotes, printable, not too long.
inline std::string quoted(const char* p, const char* end) {
    end = skip_token(p, end);
    std::string shown = "'";
    for (const char* last = std::min(end, p + 40); p < last; ++p)
        shown += *p >= ' ' && *p <= '~' ? *p : '?';
    return shown + (p < end ? "...'" : "'");
}

// Rows of a part of the text, in CSR with counts instead of their running sum.
template <class T>
struct LibsvmRows {
    std::vector<double> labels;
    std::vector<Index> counts;
    std::vector<std::int32_t> columns;
    std::vector<T> values;
    Index n_features = 0;
    std::string error;  // what is wrong with the line at `bad`
    const char* bad = nullptr;
};

inline double read_label(const char*& p, const char* end) {
    double label = 0;
    const char* stop = read_decimal(p, end, &label);
    if (stop && (stop == end || is_blank(*stop)) && std::isfinite(label)) {
        p = stop;
        return label;
    }
    const std::string shown = quoted(p, end);
    const char* word_end = skip_token(p, end);
    if (find(p, word_end, ':') < word_end)
        throw std::invalid_argument("no label before " + shown + ", though lines above have one");
    if (find(p, word_end, ',') < word_end)
        throw std::invalid_argument("several labels, " + shown +
                                    "; keep one per line, or make one file per label");
    throw std::invalid_argument("label " + shown +
                                " is not a finite number; replace labels by numbers");
}

// One feature, p at its first digit: its index from 1 and its value.
template <class T>
std::pair<Index, T> read_feature(const char*& p, const char* end, Index previous, Index max_index) {
    const char* word = p;
    std::uint64_t number = 0;
    for (; p < end && is_digit(*p) && p - word < 19; ++p)
        number = 10 * number + static_cast<std::uint64_t>(*p - '0');
    const bool has_index = p > word && p < end && *p == ':';
    double value = 0;
    const char* stop = has_index ? read_decimal(p + 1, end, &value) : nullptr;
    if (!stop || (stop < end && !is_blank(*stop)))
        throw std::invalid_argument(quoted(word, end) + " is not index:value with two numbers" +
                                    (has_index ? "; leave out or impute what is missing" : ""));
    if (number == 0)
        throw std::invalid_argument("index 0, but indices count from 1; add 1 to all of this file");
    if (number > static_cast<std::uint64_t>(max_index))
        throw std::invalid_argument("index " + std::to_string(number) + " is above " +
                                    std::to_string(max_index) +
                                    ", the largest allowed; raise n_features");
    const Index index = static_cast<Index>(number);
    if (index <= previous)
        throw std::invalid_argument("index " + std::to_string(index) + " after " +
                                    std::to_string(previous) +
                                    "; sort each line by index, with no index twice");
    const T rounded = static_cast<T>(value);
    if (!std::isfinite(rounded))
        throw std::invalid_argument(quoted(word, end) + " is too large" +
                                    (std::isfinite(value)
                                         ? " for float32; read with dtype=np.float64"
                                         : "; rescale the feature"));
    p = stop;
    return {index, rounded};
}

// Appends the row in [p, end), which is not empty.
template <class T>
void read_row(const char* p, const char* end, bool labeled, Index max_index, LibsvmRows<T>& rows) {
    if (labeled) {
        rows.labels.push_back(read_label(p, end));
        p = skip_blanks(p, end);
    }
    if (end - p >= 4 && std::memcmp(p, "qid:", 4) == 0) p = skip_blanks(skip_token(p, end), end);
    const std::size_t start = rows.values.size();
    Index index = 0;
    for (; p < end; p = skip_blanks(p, end)) {
        T value;
        std::tie(index, value) = read_feature<T>(p, end, index, max_index);
        rows.columns.push_back(static_cast<std::int32_t>(index - 1));
        rows.values.push_back(value);
    }
    rows.counts.push_back(static_cast<Index>(rows.values.size() - start));
    rows.n_features = std::max(rows.n_features, index);
}

// body(start, end) for the content of each line of [text, end), without comments and leading
// blanks, until body returns false. Skips empty lines.
template <class Body>
void each_line(const char* text, const char* end, Body&& body) {
    while (text < end) {
        const char* line_end = find(text, end, '\n');
        const char* start = skip_blanks(text, line_end);
        const char* stop = find(start, line_end, '#');
        if (start < stop && !body(start, stop)) return;
        text = line_end < end ? line_end + 1 : end;
    }
}

// A text that arrives in chunks of whole lines.
template <class T>
class LibsvmText {
  public:
    std::vector<LibsvmRows<T>> parts;
    std::optional<bool> labeled;  // as the first row is

    explicit LibsvmText(Index max_index) : max_index(max_index) {}

    // Throws std::invalid_argument with the first line that is malformed.
    void feed(const char* text, Index n_bytes) {
        const char* end = text + n_bytes;
        if (!labeled)
            each_line(text, end, [&](const char* p, const char* stop) {
                const char* word_end = skip_token(p, stop);
                labeled = find(p, word_end, ':') == word_end;
                return false;
            });
        const Index step = Index(1) << 20, n_parts = n_bytes / step + 1;
        const auto cut = [&](Index i) {  // the line after byte i * step
            if (i == 0) return text;
            const char* line_end = i < n_parts ? find(text + i * step, end, '\n') : end;
            return line_end < end ? line_end + 1 : end;
        };
        std::vector<LibsvmRows<T>> read(static_cast<std::size_t>(n_parts));
        parallel_for(n_parts, [&](Index i) { read_part(cut(i), cut(i + 1), read[i]); });
        for (auto& rows : read) {
            if (rows.bad)
                throw std::invalid_argument(
                    "line " + std::to_string(n_lines + std::count(text, rows.bad, '\n') + 1) +
                    ": " + rows.error);
            parts.push_back(std::move(rows));
        }
        n_lines += std::count(text, end, '\n');
    }

  private:
    Index max_index, n_lines = 0;

    // Errors are stored, so that feed reports the first in the text and not the first in time.
    void read_part(const char* text, const char* end, LibsvmRows<T>& rows) const {
        const auto n_pairs = static_cast<std::size_t>(std::count(text, end, ':'));
        rows.columns.reserve(n_pairs);
        rows.values.reserve(n_pairs);
        each_line(text, end, [&](const char* start, const char* stop) {
            try {
                read_row(start, stop, *labeled, max_index, rows);
            } catch (const std::invalid_argument& error) {
                rows.error = error.what();
                rows.bad = start;
            }
            return rows.bad == nullptr;
        });
    }
};

}  // namespace hss::io
