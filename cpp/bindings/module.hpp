// What each file of this folder adds to the module.
#pragma once
#include <nanobind/nanobind.h>

namespace bindings {

namespace nb = nanobind;

void load_lapack();
void bind_threads(nb::module_& m);
void bind_data(nb::module_& m);
void bind_kernel(nb::module_& m);
void bind_tree(nb::module_& m);
void bind_predict(nb::module_& m);
void bind_compress(nb::module_& m);
void bind_ulv(nb::module_& m);
void bind_svm(nb::module_& m);
void bind_shapley(nb::module_& m);
void bind_io(nb::module_& m);

}  // namespace bindings
