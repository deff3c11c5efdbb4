// Readers of data files.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "arrays.hpp"
#include "gil.hpp"
#include "io/libsvm_text.hpp"
#include "module.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

template <class T>
void bind_libsvm_text(nb::module_& m, const char* name) {
    using Text = hss::io::LibsvmText<T>;
    using Part = hss::io::LibsvmRows<T>;
    nb::class_<Text>(m, name)
        .def(
            "__init__",
            [](Text* self, Index max_index) {
                require(max_index >= 0 && max_index <= std::numeric_limits<std::int32_t>::max(),
                        "max_index must be below 2**31");
                new (self) Text(max_index);
            },
            "max_index"_a)
        .def(
            "feed",
            [](Text& self, nb::bytes lines) {
                const char* text = lines.c_str();
                const Index n_bytes = static_cast<Index>(lines.size());
                ReleaseGil release;
                self.feed(text, n_bytes);
            },
            "lines"_a)
        // -> labels or None, counts, columns, values, n_features, of the lines since the last call
        .def("take", [](Text& self) {
            Index n_features = 0;
            for (auto& part : self.parts) n_features = std::max(n_features, part.n_features);
            const bool labeled = self.labeled.value_or(false);
            nb::object labels = concatenate(self.parts, [](Part& p) -> auto& { return p.labels; });
            nb::tuple taken = nb::make_tuple(
                labeled ? labels : nb::none(),
                concatenate(self.parts, [](Part& p) -> auto& { return p.counts; }),
                concatenate(self.parts, [](Part& p) -> auto& { return p.columns; }),
                concatenate(self.parts, [](Part& p) -> auto& { return p.values; }), n_features);
            self.parts.clear();
            return taken;
        });
}

}  // namespace

void bind_io(nb::module_& m) {
    // No argument determines the precision of the result, hence two names.
    bind_libsvm_text<float>(m, "LibsvmText_f32");
    bind_libsvm_text<double>(m, "LibsvmText_f64");
}

}  // namespace bindings
