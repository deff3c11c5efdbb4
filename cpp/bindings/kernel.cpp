// Rows, kernels, kernel matrices, and sums of kernel functions.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "hss/kernel_block.hpp"
#include "hss/kernel_matrix.hpp"
#include "hss/predict.hpp"
#include "hss/sign_sums.hpp"
#include "kernel_matrix.hpp"
#include "module.hpp"

namespace bindings {

using namespace nb::literals;

namespace {

template <class T>
void bind_rows(nb::class_<Rows>& cls) {
    cls.def(
        "__init__",
        [](Rows* self, Matrix<const T> X) {
            const Index n = static_cast<Index>(X.shape(0)), p = static_cast<Index>(X.shape(1));
            new (self) Rows{hss::DenseRows<T>{X.data(), n, p}, {retain(X)}};
        },
        "X"_a.noconvert());
    cls.def(
        "__init__",
        [](Rows* self, Indices indptr, Array<const std::int32_t> indices, Array<const T> data,
           Index n_features) {
            const Index n = size(indptr) - 1;
            require(n >= 0 && indptr.data()[0] == 0 && indptr.data()[n] <= size(indices) &&
                        indptr.data()[n] <= size(data),
                    "not a CSR matrix");
            for (Index i = 0; i < n; ++i)
                require(indptr.data()[i] <= indptr.data()[i + 1], "indptr must not decrease");
            for (Index a = 0; a < indptr.data()[n]; ++a)
                require(indices.data()[a] >= 0 && indices.data()[a] < n_features,
                        "column index out of range");
            new (self)
                Rows{hss::SparseRows<T>{indptr.data(), indices.data(), data.data(), n, n_features},
                     {retain(indptr), retain(indices), retain(data)}};
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n_features"_a);
}

// Whether this thread is inside a user's kernel function.
thread_local bool in_kernel_function = false;

// The kernel matrix of a Python function (I, J, dtype) -> C-contiguous (len(I), len(J)) array.
struct CallableKernelMatrix final : hss::KernelMatrix {
    const nb::object& function;  // of the KernelMatrix that owns this
    explicit CallableKernelMatrix(const nb::object& function) : function(function) {}

    template <class T>
    void call(const Index* I, Index n_rows, const Index* J, Index n_cols, hss::View<T> out) const {
        if (n_rows == 0 || n_cols == 0) return;
        nb::gil_scoped_acquire gil;
        auto wrap = [](const Index* data, Index n) {
            return nb::cast(Indices(data, {static_cast<std::size_t>(n)}), nb::rv_policy::copy);
        };
        struct Inside {
            Inside() { in_kernel_function = true; }
            ~Inside() { in_kernel_function = false; }
        } inside;
        const char* dtype = sizeof(T) == 4 ? "float32" : "float64";
        auto block = nb::cast<Matrix<const T>>(function(wrap(I, n_rows), wrap(J, n_cols), dtype));
        require(static_cast<Index>(block.shape(0)) == n_rows &&
                    static_cast<Index>(block.shape(1)) == n_cols,
                "the kernel function returned a block of the wrong shape");
        for (Index j = 0; j < n_cols; ++j)
            for (Index i = 0; i < n_rows; ++i) out(i, j) = block.data()[i * n_cols + j];
    }
    void block(const Index* I, Index n_rows, const Index* J, Index n_cols,
               hss::View<float> out) const override {
        call(I, n_rows, J, n_cols, out);
    }
    void block(const Index* I, Index n_rows, const Index* J, Index n_cols,
               hss::View<double> out) const override {
        call(I, n_rows, J, n_cols, out);
    }
    bool fits_float() const override { return false; }  // its range is unknown
    bool bounded() const override { return false; }
};

template <class T, std::size_t N>
T by_name(const std::pair<const char*, T> (&named)[N], const std::string& name) {
    for (auto& [known, value] : named)
        if (name == known) return value;
    throw nb::value_error(("unknown kernel " + name).c_str());
}

hss::Kernel make_kernel(const std::string& name, const std::string& similarity, double gamma,
                        double coef0, int degree) {
    using hss::KernelType, hss::Similarity;
    static const std::pair<const char*, KernelType> types[] = {
        {"gaussian", KernelType::gaussian},     {"exponential", KernelType::exponential},
        {"matern32", KernelType::matern32},     {"matern52", KernelType::matern52},
        {"polynomial", KernelType::polynomial}, {"ratio", KernelType::ratio},
        {"cosine", KernelType::cosine}};
    static const std::pair<const char*, Similarity> similarities[] = {
        {"products", Similarity::products},
        {"minima", Similarity::minima},
        {"harmonic_means", Similarity::harmonic_means},
        {"matches", Similarity::matches},
        {"overlaps", Similarity::overlaps}};
    return {by_name(types, name), by_name(similarities, similarity), gamma, coef0, degree};
}

void rows_kernel_matrix(KernelMatrix* self, const hss::Kernel& kernel, nb::object rows_object) {
    const Rows& rows = nb::cast<const Rows&>(rows_object);
    std::visit(
        [&](auto& X) {
            using R = std::decay_t<decltype(X)>;
            new (self) KernelMatrix{
                std::make_unique<hss::RowsKernelMatrix<R>>(kernel, X), X.n, rows_object, {}};
        },
        rows.rows);
}

// The sum or product of kernel matrices, which the Python object keeps alive
void combined_kernel_matrix(KernelMatrix* self, nb::list matrices, bool product) {
    std::vector<const hss::KernelMatrix*> parts;
    Index n = 0;
    for (nb::handle handle : matrices) {
        const KernelMatrix& part = nb::cast<const KernelMatrix&>(handle);
        require(parts.empty() || part.n == n, "kernel matrices differ in size");
        parts.push_back(part.matrix.get());
        n = part.n;
    }
    require(!parts.empty(), "no kernel matrices");
    new (self) KernelMatrix{
        std::make_unique<hss::CombinedKernelMatrix>(std::move(parts), product), n, matrices, {}};
}

// A kernel function may refer to objects that hold its matrix, so the garbage collector has to know
// of it.
int traverse_kernel_matrix(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) {
        Py_VISIT(nb::inst_ptr<KernelMatrix>(self)->function.ptr());
        Py_VISIT(nb::inst_ptr<KernelMatrix>(self)->rows.ptr());
    }
    return 0;
}
int clear_kernel_matrix(PyObject* self) {
    if (nb::inst_ready(self)) {
        KernelMatrix* K = nb::inst_ptr<KernelMatrix>(self);
        if (K->function.is_valid()) K->function = nb::none();
    }
    return 0;
}
PyType_Slot kernel_matrix_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse_kernel_matrix)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_kernel_matrix)},
    {0, nullptr}};

template <class T>
void kernel_block(const hss::Kernel& kernel, const Rows& X, const Rows& Y, Matrix<T> out) {
    require(X.n_features() == Y.n_features(), "X and Y differ in their number of features");
    require(static_cast<Index>(out.shape(0)) == X.n_rows() &&
                static_cast<Index>(out.shape(1)) == Y.n_rows(),
            "out has the wrong shape");
    ReleaseGil release;
    X.visit<T>([&](auto& rows) {
        const auto* other = std::get_if<std::decay_t<decltype(rows)>>(&Y.rows);
        if (!other) throw nb::type_error("X and Y must both be dense or both be sparse");
        hss::kernel_block<T>(kernel, rows, *other, out.data());
    });
}

template <class T>
void grouped_product(const hss::Kernel& kernel, const Rows& X, Indices x_order, Indices x_offsets,
                     const Rows& Y, Indices y_order, Indices y_offsets, Matrix<const T> W,
                     Matrix<T> out) {
    require(X.n_features() == Y.n_features(), "X and Y differ in their number of features");
    check_offsets(x_offsets, X.n_rows());
    check_offsets(y_offsets, size(y_order));
    check_indices(x_order, X.n_rows());
    check_indices(y_order, Y.n_rows());
    require(size(x_order) == X.n_rows() && size(x_offsets) == size(y_offsets) &&
                static_cast<Index>(W.shape(0)) == size(y_order) &&
                static_cast<Index>(out.shape(0)) == X.n_rows() && out.shape(1) == W.shape(1),
            "grouped_product: shapes do not match");
    ReleaseGil release;
    X.visit<T>([&](auto& rows) {
        const auto* other = std::get_if<std::decay_t<decltype(rows)>>(&Y.rows);
        if (!other) throw nb::type_error("X and Y must both be dense or both be sparse");
        hss::grouped_product<T>(kernel, rows, x_order.data(), x_offsets.data(), *other,
                                y_order.data(), y_offsets.data(), size(x_offsets) - 1, W.data(),
                                static_cast<Index>(W.shape(1)), out.data());
    });
}

void sign_sums(Matrix<const double> V, Matrix<const double> X, Matrix<const double> Y,
               Matrix<double> out) {
    require(V.shape(0) == X.shape(0) && X.shape(1) == Y.shape(0) && V.shape(1) == Y.shape(1) &&
                out.shape(0) == X.shape(0) && out.shape(1) == X.shape(1),
            "sign_sums: shapes do not match");
    ReleaseGil release;
    hss::sign_sums(V.data(), X.data(), Y.data(), static_cast<Index>(V.shape(0)),
                   static_cast<Index>(V.shape(1)), static_cast<Index>(X.shape(1)), out.data());
}

template <class T>
void bind_functions(nb::module_& m) {
    m.def("kernel_block", &kernel_block<T>, "kernel"_a, "X"_a, "Y"_a, "out"_a.noconvert());
    m.def("grouped_product", &grouped_product<T>, "kernel"_a, "X"_a, "x_order"_a.noconvert(),
          "x_offsets"_a.noconvert(), "Y"_a, "y_order"_a.noconvert(), "y_offsets"_a.noconvert(),
          "W"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void forbid_reentry() {
    if (in_kernel_function)
        throw std::runtime_error("a kernel function must not compress, factor, solve or multiply");
}

void bind_kernel(nb::module_& m) {
    nb::class_<hss::Kernel>(m, "Kernel")
        .def(
            "__init__",
            [](hss::Kernel* self, const std::string& name, double gamma, double coef0, int degree,
               const std::string& similarity) {
                new (self) hss::Kernel(make_kernel(name, similarity, gamma, coef0, degree));
            },
            "name"_a, "gamma"_a = 1.0, "coef0"_a = 0.0, "degree"_a = 1,
            "similarity"_a = "products");
    nb::class_<Rows> rows(m, "Rows");
    bind_rows<float>(rows);
    bind_rows<double>(rows);
    nb::class_<KernelMatrix>(m, "KernelMatrix", nb::type_slots(kernel_matrix_slots))
        .def("__init__", &rows_kernel_matrix, "kernel"_a, "rows"_a)
        .def(
            "__init__",
            [](KernelMatrix* self, nb::callable function, Index n) {
                new (self) KernelMatrix{
                    std::make_unique<CallableKernelMatrix>(self->function), n, {}, function};
            },
            "function"_a, "n"_a)
        .def("__init__", &combined_kernel_matrix, "matrices"_a, "product"_a);
    m.def("sign_sums", &sign_sums, "V"_a.noconvert(), "X"_a.noconvert(), "Y"_a.noconvert(),
          "out"_a.noconvert());
    bind_functions<float>(m);
    bind_functions<double>(m);
}

}  // namespace bindings
