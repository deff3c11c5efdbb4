// Fuzz target for the parser of LIBSVM text. The first byte of an input selects the precision and
// the largest index; the others are the text. Text in one chunk and in two must give the same rows
// or the same error.
#include "io/libsvm_text.hpp"

#include <cstdio>
#include <cstdlib>

using hss::Index;

namespace {

#define CHECK(condition)                                                      \
    if (!(condition)) {                                                       \
        std::fprintf(stderr, "line %d: %s is false\n", __LINE__, #condition); \
        std::abort();                                                         \
    }

// All rows of a text, or the message of the error.
template <class T>
struct Parsed {
    hss::io::LibsvmRows<T> rows;
    std::string error;
};

template <class T>
Parsed<T> parse(const std::vector<std::string>& chunks, Index max_index) {
    Parsed<T> parsed;
    hss::io::LibsvmText<T> text(max_index);
    try {
        for (const auto& chunk : chunks) text.feed(chunk.data(), static_cast<Index>(chunk.size()));
    } catch (const std::invalid_argument& error) {
        parsed.error = error.what();
        CHECK(parsed.error.compare(0, 5, "line ") == 0);
        return parsed;
    }
    auto& all = parsed.rows;
    const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    for (const auto& part : text.parts) {
        CHECK(part.labels.size() == (*text.labeled ? part.counts.size() : 0));
        append(all.labels, part.labels);
        append(all.counts, part.counts);
        append(all.columns, part.columns);
        append(all.values, part.values);
        all.n_features = std::max(all.n_features, part.n_features);
    }
    return parsed;
}

template <class T>
void check_rows(const hss::io::LibsvmRows<T>& rows, Index max_index) {
    CHECK(rows.n_features <= max_index && rows.columns.size() == rows.values.size());
    std::size_t i = 0;
    for (Index count : rows.counts) {
        CHECK(count >= 0);
        for (std::int32_t last = -1; count > 0; --count, ++i) {
            CHECK(i < rows.values.size() && rows.columns[i] > last);
            CHECK(rows.columns[i] < rows.n_features && std::isfinite(rows.values[i]));
            last = rows.columns[i];
        }
    }
    CHECK(i == rows.values.size());
    for (double label : rows.labels) CHECK(std::isfinite(label));
}

template <class T>
void check(const std::string& text, Index max_index) {
    const Parsed<T> whole = parse<T>({text}, max_index);
    check_rows(whole.rows, max_index);
    const std::size_t line_end = text.find('\n', text.size() / 2);
    if (line_end == std::string::npos) return;
    const Parsed<T> halves =
        parse<T>({text.substr(0, line_end + 1), text.substr(line_end + 1)}, max_index);
    CHECK(halves.error == whole.error);
    CHECK(halves.rows.labels == whole.rows.labels && halves.rows.counts == whole.rows.counts);
    CHECK(halves.rows.columns == whole.rows.columns && halves.rows.values == whole.rows.values);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const Index max_index = data[0] & 2 ? 7 : std::numeric_limits<std::int32_t>::max();
    if (data[0] & 1)
        check<float>(text, max_index);
    else
        check<double>(text, max_index);
    return 0;
}
