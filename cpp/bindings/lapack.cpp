// BLAS and LAPACK from SciPy.
#include <nanobind/nanobind.h>

#include <string>

#include "hss/lapack.hpp"
#include "module.hpp"

namespace bindings {

namespace {

template <class T>
void load(const nb::dict& capsules, char prefix, const char* name, T& pointer) {
    const std::string full = std::string(1, prefix) + name;
    nb::object capsule = capsules[full.c_str()];
    const char* signature = PyCapsule_GetName(capsule.ptr());
    if (!signature || std::string(signature).find(" int *") == std::string::npos)
        throw nb::import_error(
            ("hssvm needs a SciPy with 32-bit BLAS integers; " + full + " has another signature")
                .c_str());
    pointer = reinterpret_cast<T>(PyCapsule_GetPointer(capsule.ptr(), signature));
}

template <class T>
void load_routines(char prefix) {
    using L = hss::Lapack<T>;
    nb::dict blas = nb::module_::import_("scipy.linalg.cython_blas").attr("__pyx_capi__");
    nb::dict lapack = nb::module_::import_("scipy.linalg.cython_lapack").attr("__pyx_capi__");
    load(blas, prefix, "gemm", L::gemm);
    load(blas, prefix, "syrk", L::syrk);
    load(blas, prefix, "trsm", L::trsm);
    load(blas, prefix, "trmm", L::trmm);
    load(lapack, prefix, "potrf", L::potrf);
    load(lapack, prefix, "pstrf", L::pstrf);
    load(lapack, prefix, "lauum", L::lauum);
    load(lapack, prefix, "geqrf", L::geqrf);
    load(lapack, prefix, "orgqr", L::orgqr);
}

}  // namespace

void load_lapack() {
    load_routines<float>('s');
    load_routines<double>('d');
}

}  // namespace bindings
