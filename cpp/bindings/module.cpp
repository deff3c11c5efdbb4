// The Python module. Bindings check shapes, release the GIL and call; they contain no mathematics.
#include "module.hpp"

#include <nanobind/nanobind.h>

NB_MODULE(_core, m) {
    bindings::load_lapack();
    bindings::bind_threads(m);
    bindings::bind_data(m);
    bindings::bind_kernel(m);
    bindings::bind_tree(m);
    bindings::bind_predict(m);
    bindings::bind_compress(m);
    bindings::bind_ulv(m);
    bindings::bind_svm(m);
    bindings::bind_shapley(m);
    bindings::bind_io(m);
}
