// Number of threads, interrupts, forks, freed memory, and calls in progress at exit.
#include <nanobind/nanobind.h>

#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "arrays.hpp"
#include "gil.hpp"
#include "hss/parallel.hpp"
#include "module.hpp"

namespace bindings {

using namespace nb::literals;

void bind_threads(nb::module_& m) {
    hss::watch_forks();
    hss::check_interrupt = [] {
        nb::gil_scoped_acquire gil;
        check_exit();
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };
    nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
        // Only daemon threads still run now. Python does not release what they hold: that is
        // not a leak.
        if (nb::cast<int>(nb::module_::import_("threading").attr("active_count")()) > 1)
            nb::set_leak_warnings(false);
        stop_calls();
    }));
    m.def(
        "set_max_threads",
        [](int n) {
            require(n >= 0, "the number of threads must not be negative");
            hss::max_threads = n;
        },
        "n"_a);
    m.def("thread_count", &hss::thread_count);
    // The allocator keeps small arrays that were freed; a compression frees gigabytes of them.
    m.def("trim_heap", [] {
#ifdef __GLIBC__
        malloc_trim(0);
#endif
    });
}

}  // namespace bindings
