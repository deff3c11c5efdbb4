// Python bindings of the core: check shapes, release the GIL, call. No mathematics here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hss/box.hpp"
#include "hss/compress.hpp"
#include "hss/interpolate.hpp"
#include "hss/kernel.hpp"
#include "hss/lapack.hpp"
#include "hss/predict.hpp"
#include "hss/smo.hpp"
#include "hss/split.hpp"
#include "hss/sweep.hpp"
#include "io/libsvm_text.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hss::Index;

namespace {

template <class T>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = Array<const Index>;

void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

template <class T>
Index size(const T& array) {
    return static_cast<Index>(array.size());
}

void check_indices(const Indices& indices, Index n) {
    for (Index i = 0; i < size(indices); ++i)
        require(indices.data()[i] >= 0 && indices.data()[i] < n, "row index out of range");
}

void check_offsets(const Indices& offsets, Index last) {
    require(size(offsets) >= 1 && offsets.data()[0] == 0 && offsets.data()[size(offsets) - 1] == last,
            "offsets do not fit");
    for (Index i = 0; i + 1 < size(offsets); ++i)
        require(offsets.data()[i] <= offsets.data()[i + 1], "offsets must not decrease");
}

// --- BLAS and LAPACK from SciPy ------------------------------------------------------------------

template <class T>
void load(const nb::dict& capsules, char prefix, const char* name, T& pointer) {
    const std::string full = std::string(1, prefix) + name;
    nb::object capsule = capsules[full.c_str()];
    const char* signature = PyCapsule_GetName(capsule.ptr());
    if (!signature || std::string(signature).find(" int *") == std::string::npos)
        throw nb::import_error(("hssvm needs a SciPy with 32-bit BLAS integers; " + full +
                                " has another signature").c_str());
    pointer = reinterpret_cast<T>(PyCapsule_GetPointer(capsule.ptr(), signature));
}

template <class T>
void load_lapack(char prefix) {
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

// --- rows of data and their kernel matrix --------------------------------------------------------

// Rows of X, dense or sparse, float or double, with the arrays that hold them.
struct Rows {
    std::variant<hss::DenseRows<float>, hss::DenseRows<double>, hss::SparseRows<float>,
                 hss::SparseRows<double>>
        rows;
    std::vector<std::shared_ptr<void>> owners;

    template <class T, class F>
    void visit(F&& f) const {
        if (auto* dense = std::get_if<hss::DenseRows<T>>(&rows))
            f(*dense);
        else if (auto* sparse = std::get_if<hss::SparseRows<T>>(&rows))
            f(*sparse);
        else
            throw nb::type_error("rows and arrays differ in dtype");
    }
    Index n_rows() const {
        return std::visit([](auto& r) { return r.n; }, rows);
    }
    Index n_features() const {
        return std::visit([](auto& r) { return r.p; }, rows);
    }
};

template <class A>
std::shared_ptr<void> keep(const A& array) {
    return std::make_shared<A>(array);
}

template <class T>
void bind_rows(nb::class_<Rows>& cls) {
    cls.def("__init__",
            [](Rows* self, Matrix<const T> X) {
                const Index n = static_cast<Index>(X.shape(0)), p = static_cast<Index>(X.shape(1));
                new (self) Rows{hss::DenseRows<T>{X.data(), n, p}, {keep(X)}};
            },
            "X"_a.noconvert());
    cls.def("__init__",
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
                new (self) Rows{hss::SparseRows<T>{indptr.data(), indices.data(), data.data(), n,
                                                   n_features},
                                {keep(indptr), keep(indices), keep(data)}};
            },
            "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n_features"_a);
}

// Whether this thread is inside a kernel function of the user's. The core's scratch memory is then in
// use, so that function must not start another sweep.
thread_local bool in_kernel_function = false;

void require_no_sweep() {
    if (in_kernel_function)
        throw std::runtime_error("a kernel function must not compress, factor, solve or multiply");
}

// K of a Python function (I, J, dtype) -> C-contiguous (len(I), len(J)) array
struct CallableKernelMatrix final : hss::KernelMatrix {
    nb::object function;
    explicit CallableKernelMatrix(nb::object function) : function(std::move(function)) {}

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
    bool fits_float() const override { return false; }  // nobody knows
};

// The kernel matrix with the Python objects it reads from.
struct KernelMatrix {
    std::unique_ptr<hss::KernelMatrix> matrix;
    Index n;
    nb::object owner;
};

hss::Kernel make_kernel(const std::string& name, double gamma, double coef0, int degree) {
    const std::pair<const char*, hss::Shape> shapes[] = {{"gaussian", hss::Shape::gaussian},
                                                         {"laplacian", hss::Shape::laplacian},
                                                         {"matern32", hss::Shape::matern32},
                                                         {"matern52", hss::Shape::matern52},
                                                         {"polynomial", hss::Shape::polynomial}};
    for (auto& [known, shape] : shapes)
        if (name == known) return {shape, gamma, coef0, degree};
    throw nb::value_error(("unknown kernel " + name).c_str());
}

void rows_kernel_matrix(KernelMatrix* self, const hss::Kernel& kernel, nb::object rows_object) {
    const Rows& rows = nb::cast<const Rows&>(rows_object);
    std::visit(
        [&](auto& X) {
            using R = std::decay_t<decltype(X)>;
            new (self) KernelMatrix{std::make_unique<hss::RowsKernelMatrix<R>>(kernel, X), X.n,
                                    rows_object};
        },
        rows.rows);
}

template <class T>
void kernel_block(const hss::Kernel& kernel, const Rows& X, const Rows& Y, Matrix<T> out) {
    require(X.n_features() == Y.n_features(), "X and Y differ in their number of features");
    require(static_cast<Index>(out.shape(0)) == X.n_rows() &&
                static_cast<Index>(out.shape(1)) == Y.n_rows(),
            "out has the wrong shape");
    nb::gil_scoped_release release;
    X.visit<T>([&](auto& rows) {
        const auto* other = std::get_if<std::decay_t<decltype(rows)>>(&Y.rows);
        if (!other) throw nb::type_error("X and Y must both be dense or both be sparse");
        hss::kernel_block<T>(kernel, rows, *other, out.data());
    });
}

// --- tree ----------------------------------------------------------------------------------------

template <class T>
void split_level(const Rows& X, Index n_nodes, Index n_samples, Index n_starts,
                 Index n_iterations, std::uint64_t seed, Array<Index> perm, Matrix<T> directions, Array<T> thresholds) {
    require(size(perm) == X.n_rows(), "perm must list every row");
    check_indices(Indices(perm.data(), {perm.size()}), X.n_rows());
    require(static_cast<Index>(directions.shape(0)) == n_nodes &&
                static_cast<Index>(directions.shape(1)) == X.n_features() &&
                size(thresholds) == n_nodes && 2 * n_nodes <= X.n_rows() && n_samples > 1 &&
                n_starts > 0,
            "split_level: shapes do not fit");
    nb::gil_scoped_release release;
    X.visit<T>([&](auto& rows) {
        hss::split_level<T>(rows, n_nodes, {n_samples, n_starts, n_iterations}, seed, perm.data(),
                            directions.data(), thresholds.data());
    });
}

template <class T>
void route(const Rows& X, Index depth, Matrix<const T> directions, Array<const T> thresholds,
           Array<Index> leaf) {
    require(depth >= 0 && depth < 62, "route: depth");
    require(size(leaf) == X.n_rows() && size(thresholds) == (Index(1) << depth) - 1 &&
                static_cast<Index>(directions.shape(0)) == size(thresholds) &&
                static_cast<Index>(directions.shape(1)) == X.n_features(),
            "route: shapes do not fit");
    nb::gil_scoped_release release;
    X.visit<T>([&](auto& rows) {
        hss::route<T>(rows, depth, directions.data(), thresholds.data(), leaf.data());
    });
}

// --- compression ---------------------------------------------------------------------------------

// Memory for an array, and the Python object that frees it.
template <class T>
std::pair<T*, nb::capsule> allocate(std::size_t size) {
    std::unique_ptr<T[]> data(new T[size]);
    nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return {data.release(), std::move(owner)};
}

// One array of what every node keeps, node after node.
template <class Node, class Part>
nb::object concatenate(std::vector<Node>& nodes, Part&& part) {
    using Value = typename std::decay_t<decltype(part(nodes[0]))>::value_type;
    std::vector<Index> start(nodes.size() + 1, 0);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        start[i + 1] = start[i] + static_cast<Index>(part(nodes[i]).size());
    auto [data, owner] = allocate<Value>(static_cast<std::size_t>(start.back()));
    {
        nb::gil_scoped_release release;
        hss::parallel_for(static_cast<Index>(nodes.size()), [&, data = data](Index i) {
            auto& values = part(nodes[i]);
            std::copy(values.begin(), values.end(), data + start[i]);
            std::decay_t<decltype(values)>().swap(values);
        });
    }
    return nb::cast(Array<Value>(data, {static_cast<std::size_t>(start.back())}, owner));
}

// What a level leaves for the level above.
struct Below {
    std::vector<Index> sizes, ranks;  // a rotation is kept where they differ
    std::vector<std::vector<double>> cholesky, rotation;

    std::vector<hss::NodeView> views() const {
        std::vector<hss::NodeView> nodes(sizes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            nodes[i].L = {cholesky[i].data(), sizes[i], sizes[i]};
            if (ranks[i] < sizes[i]) nodes[i].Q = {rotation[i].data(), sizes[i], ranks[i]};
        }
        return nodes;
    }

    // The blocks of all nodes, one after the other.
    nb::tuple arrays() const {
        auto itself = [](std::vector<double>& block) -> auto& { return block; };
        auto L = cholesky, Q = rotation;
        return nb::make_tuple(concatenate(L, itself), concatenate(Q, itself));
    }
    static Below of(Indices sizes, Indices ranks, Array<const double> cholesky,
                    Array<const double> rotation) {
        require(size(sizes) == size(ranks), "Below: one size and one rank per node");
        Below below;
        Index c = 0, q = 0;
        for (Index i = 0; i < size(sizes); ++i) {
            const Index s = sizes.data()[i], r = ranks.data()[i];
            require(0 <= r && r <= s, "Below: ranks must be between 0 and the sizes");
            const Index n_c = s * s, n_q = r < s ? s * r : 0;
            require(c + n_c <= size(cholesky) && q + n_q <= size(rotation), "Below: blocks do not fit");
            below.sizes.push_back(s);
            below.ranks.push_back(r);
            below.cholesky.emplace_back(cholesky.data() + c, cholesky.data() + c + n_c);
            below.rotation.emplace_back(rotation.data() + q, rotation.data() + q + n_q);
            c += n_c;
            q += n_q;
        }
        require(c == size(cholesky) && q == size(rotation), "Below: blocks do not fit");
        return below;
    }
};

nb::object running_sum(const std::vector<Index>& counts) {
    auto [sums, owner] = allocate<Index>(counts.size() + 1);
    sums[0] = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) sums[i + 1] = sums[i] + counts[i];
    return nb::cast(Array<Index>(sums, {counts.size() + 1}, owner));
}

// -> skeleton_offsets, skeleton, ranks (running sum), basis, coupling, expansion, below
template <class T>
nb::tuple compress_level(const KernelMatrix& K, Indices candidates, Indices offsets,
                         Matrix<const Index> samples, Index max_rank, Index max_size, double rtol,
                         const Below* below) {
    require_no_sweep();
    require(max_rank >= 0 && max_size >= max_rank, "compress_level: max_rank and max_size");
    const Index n_nodes = size(offsets) - 1;
    check_indices(candidates, K.n);
    check_offsets(offsets, size(candidates));
    require(static_cast<Index>(samples.shape(0)) == n_nodes, "one row of samples per node");
    check_indices(Indices(samples.data(), {samples.size()}), K.n);
    std::vector<hss::NodeView> children;
    if (below) {
        children = below->views();
        require(static_cast<Index>(children.size()) == 2 * n_nodes, "two children per node");
        for (Index i = 0; i < n_nodes; ++i)
            require(below->sizes[2 * i] + below->sizes[2 * i + 1] ==
                        offsets.data()[i + 1] - offsets.data()[i],
                    "candidates are the children's skeletons");
    }
    std::vector<hss::NodeBasis<T>> nodes;
    {
        nb::gil_scoped_release release;
        nodes = hss::compress_level<T>(*K.matrix, candidates.data(), offsets.data(), n_nodes,
                                       samples.data(), static_cast<Index>(samples.shape(1)),
                                       {max_rank, max_size, rtol}, children);
    }
    Below here;
    for (auto& node : nodes) {
        here.sizes.push_back(static_cast<Index>(node.skeleton.size()));
        here.ranks.push_back(node.rank);
        here.cholesky.push_back(std::move(node.cholesky));
        here.rotation.push_back(std::move(node.rotation));
    }
    using Node = hss::NodeBasis<T>;
    return nb::make_tuple(running_sum(here.sizes),
                          concatenate(nodes, [](Node& n) -> auto& { return n.skeleton; }),
                          running_sum(here.ranks),
                          concatenate(nodes, [](Node& n) -> auto& { return n.basis; }),
                          concatenate(nodes, [](Node& n) -> auto& { return n.coupling; }),
                          concatenate(nodes, [](Node& n) -> auto& { return n.expansion; }),
                          std::move(here));
}

// -> skeleton_offsets (and ranks), skeleton, basis, coupling
template <class T>
nb::tuple interpolate_level(const KernelMatrix& K, Indices candidates, Indices offsets,
                            std::optional<Indices> left, Indices samples, Indices sample_ends,
                            Index max_rank, double rtol, double atol) {
    require_no_sweep();
    const Index n_nodes = size(offsets) - 1;
    check_indices(candidates, K.n);
    check_offsets(offsets, size(candidates));
    check_indices(samples, K.n);
    check_offsets(sample_ends, size(samples));
    require(max_rank >= 0 && size(sample_ends) == n_nodes + 1 && (!left || size(*left) == n_nodes),
            "interpolate_level: shapes do not fit");
    for (Index i = 0; left && i < n_nodes; ++i)
        require(left->data()[i] >= 0 &&
                    left->data()[i] <= offsets.data()[i + 1] - offsets.data()[i],
                "interpolate_level: left children");
    std::vector<hss::NodeBasis<T>> nodes;
    {
        nb::gil_scoped_release release;
        nodes = hss::interpolate_level<T>(*K.matrix, candidates.data(), offsets.data(), n_nodes,
                                          left ? left->data() : nullptr, samples.data(),
                                          sample_ends.data(), {max_rank, rtol, atol});
    }
    std::vector<Index> ranks;
    for (auto& node : nodes) ranks.push_back(node.rank);
    using Node = hss::NodeBasis<T>;
    return nb::make_tuple(running_sum(ranks),
                          concatenate(nodes, [](Node& n) -> auto& { return n.skeleton; }),
                          concatenate(nodes, [](Node& n) -> auto& { return n.basis; }),
                          concatenate(nodes, [](Node& n) -> auto& { return n.coupling; }));
}

// --- prediction ----------------------------------------------------------------------------------

template <class T>
void grouped_product(const hss::Kernel& kernel, const Rows& X, Indices x_order, Indices x_ends,
                     const Rows& Y, Indices y_ends, Matrix<const T> W, Matrix<T> out) {
    require(X.n_features() == Y.n_features(), "X and Y differ in their number of features");
    check_offsets(x_ends, X.n_rows());
    check_offsets(y_ends, Y.n_rows());
    check_indices(x_order, X.n_rows());
    require(size(x_order) == X.n_rows() && size(x_ends) == size(y_ends) &&
                static_cast<Index>(W.shape(0)) == Y.n_rows() &&
                static_cast<Index>(out.shape(0)) == X.n_rows() && out.shape(1) == W.shape(1),
            "grouped_product: shapes do not fit");
    nb::gil_scoped_release release;
    X.visit<T>([&](auto& rows) {
        const auto* other = std::get_if<std::decay_t<decltype(rows)>>(&Y.rows);
        if (!other) throw nb::type_error("X and Y must both be dense or both be sparse");
        hss::grouped_product<T>(kernel, rows, x_order.data(), x_ends.data(), *other, y_ends.data(),
                                size(x_ends) - 1, W.data(), static_cast<Index>(W.shape(1)),
                                out.data());
    });
}

// --- factor, solve, multiply ---------------------------------------------------------------------

// The shape of a level with the arrays that hold it.
struct Level {
    Indices offsets, ranks;
    std::optional<Indices> child_ranks, rows;
    hss::Level shape;

    Level(Indices offsets, Indices ranks, std::optional<Indices> child_ranks,
          std::optional<Indices> rows)
        : offsets(offsets), ranks(ranks), child_ranks(child_ranks), rows(rows),
          shape(check(offsets, ranks, child_ranks, rows), offsets.data(), ranks.data(),
                child_ranks ? child_ranks->data() : nullptr, rows ? rows->data() : nullptr) {}

    static Index check(const Indices& offsets, const Indices& ranks,
                       const std::optional<Indices>& child_ranks,
                       const std::optional<Indices>& rows) {
        const Index n_nodes = size(offsets) - 1;
        require(n_nodes >= 1 && size(ranks) == n_nodes + 1, "one rank per node");
        require(!child_ranks || size(*child_ranks) == 2 * n_nodes + 1, "two children per node");
        require(child_ranks.has_value() != rows.has_value(), "a level has rows or children");
        check_offsets(offsets, rows ? size(*rows) : child_ranks->data()[size(*child_ranks) - 1]);
        check_offsets(ranks, ranks.data()[size(ranks) - 1]);
        if (rows) check_indices(*rows, size(*rows));
        if (child_ranks) {
            check_offsets(*child_ranks, child_ranks->data()[size(*child_ranks) - 1]);
            for (Index i = 0; i <= n_nodes; ++i)
                require(child_ranks->data()[2 * i] == offsets.data()[i], "offsets do not fit");
        }
        return n_nodes;
    }
    Index n_rows() const { return shape.offsets[shape.n_nodes]; }
    Index n_coefficients() const { return shape.ranks[shape.n_nodes]; }
    void require_basis(Index values) const {
        require_no_sweep();
        require(values == shape.basis_start.back(), "basis has the wrong size");
    }
    template <class Block>
    Index require_blocks(const Block& rows_block, const Block& coefficients) const {
        require(static_cast<Index>(rows_block.shape(0)) == n_rows() &&
                    static_cast<Index>(coefficients.shape(0)) == n_coefficients() &&
                    rows_block.shape(1) == coefficients.shape(1),
                "block of right-hand sides has the wrong shape");
        return static_cast<Index>(rows_block.shape(1));
    }
};

template <class T>
void factor_level(const Level& level, const KernelMatrix* K, std::optional<Array<const T>> shift,
                  Array<const T> basis, Array<const T> coupling, bool projection,
                  std::optional<Array<const T>> R_below, Array<T> packed, Array<T> W, Array<T> R) {
    level.require_basis(size(basis));
    level.require_basis(size(W));
    require(size(coupling) == level.shape.coupling_start.back() &&
                size(packed) == level.shape.triangle_start.back() &&
                size(R) == level.shape.square_start.back() &&
                level.shape.leaf() == (K != nullptr) && level.shape.leaf() == shift.has_value() &&
                level.shape.leaf() != R_below.has_value(),
            "factor_level: shapes do not fit");
    if (R_below)
        require(size(*R_below) == level.shape.child_square_start.back(),
                "R_below has the wrong size");
    if (K)
        require(K->n == level.n_rows() && size(*shift) == level.n_rows(),
                "kernel matrix, shift and level differ in size");
    const hss::KernelMatrix* matrix = K ? K->matrix.get() : nullptr;
    nb::gil_scoped_release release;
    hss::factor_level<T>(level.shape, matrix, shift ? shift->data() : nullptr, basis.data(),
                         coupling.data(), projection, R_below ? R_below->data() : nullptr,
                         packed.data(), W.data(), R.data());
}

// --- files ---------------------------------------------------------------------------------------

template <class T>
void bind_libsvm_text(nb::module_& m, const char* name) {
    using Text = hss::io::LibsvmText<T>;
    using Part = hss::io::LibsvmRows<T>;
    nb::class_<Text>(m, name)
        .def("__init__",
             [](Text* self, Index max_index) {
                 require(max_index >= 0 && max_index <= std::numeric_limits<std::int32_t>::max(),
                         "max_index must be below 2**31");
                 new (self) Text(max_index);
             },
             "max_index"_a)
        .def("feed",
             [](Text& self, nb::bytes lines) {
                 const char* text = lines.c_str();
                 const Index n_bytes = static_cast<Index>(lines.size());
                 nb::gil_scoped_release release;
                 self.feed(text, n_bytes);
             },
             "lines"_a)
        // -> labels or None, counts, columns, values, n_features
        .def("take", [](Text& self) {
            Index n_features = 0;
            for (auto& part : self.parts) n_features = std::max(n_features, part.n_features);
            const bool labelled = self.labelled.value_or(false);
            nb::object labels = concatenate(self.parts, [](Part& p) -> auto& { return p.labels; });
            return nb::make_tuple(
                labelled ? labels : nb::none(),
                concatenate(self.parts, [](Part& p) -> auto& { return p.counts; }),
                concatenate(self.parts, [](Part& p) -> auto& { return p.columns; }),
                concatenate(self.parts, [](Part& p) -> auto& { return p.values; }), n_features);
        });
}

template <class T>
void bind_functions(nb::module_& m) {
    m.def("kernel_block", &kernel_block<T>, "kernel"_a, "X"_a, "Y"_a, "out"_a.noconvert());
    m.def("grouped_product", &grouped_product<T>, "kernel"_a, "X"_a, "x_order"_a.noconvert(),
          "x_ends"_a.noconvert(), "Y"_a, "y_ends"_a.noconvert(), "W"_a.noconvert(),
          "out"_a.noconvert());
    m.def("split_level", &split_level<T>, "X"_a, "n_nodes"_a, "n_samples"_a, "n_starts"_a,
          "n_iterations"_a, "seed"_a, "perm"_a.noconvert(), "directions"_a.noconvert(),
          "thresholds"_a.noconvert());
    m.def("route", &route<T>, "X"_a, "depth"_a, "directions"_a.noconvert(),
          "thresholds"_a.noconvert(), "leaf"_a.noconvert());
    m.def("factor_level", &factor_level<T>, "level"_a, "K"_a.none(),
          "shift"_a.noconvert().none(), "basis"_a.noconvert(), "coupling"_a.noconvert(), "projection"_a, "R_below"_a.noconvert().none(),
          "packed"_a.noconvert(), "W"_a.noconvert(), "R"_a.noconvert());
    m.def("solve_up_leaves",
          [](const Level& level, Array<const T> packed, Array<const T> W, Matrix<const T> B,
             Matrix<T> X, Matrix<T> c) {
              level.require_basis(size(W));
              const Index k = level.require_blocks(X, c);
              require(level.shape.leaf() && B.size() == X.size() &&
                          size(packed) == level.shape.triangle_start.back(),
                      "solve_up_leaves: shapes do not fit");
              nb::gil_scoped_release release;
              hss::solve_up_leaves<T>(level.shape, packed.data(), W.data(), B.data(), X.data(), k,
                                      c.data());
          },
          "level"_a, "packed"_a.noconvert(), "W"_a.noconvert(), "B"_a.noconvert(),
          "X"_a.noconvert(), "c"_a.noconvert());
    m.def("solve_up",
          [](const Level& level, Array<const T> packed, Array<const T> W, Matrix<T> coefficients,
             Matrix<T> c) {
              level.require_basis(size(W));
              const Index k = level.require_blocks(coefficients, c);
              require(!level.shape.leaf() && size(packed) == level.shape.triangle_start.back(),
                      "solve_up: shapes do not fit");
              nb::gil_scoped_release release;
              hss::solve_up<T>(level.shape, packed.data(), W.data(), coefficients.data(), k,
                               c.data());
          },
          "level"_a, "packed"_a.noconvert(), "W"_a.noconvert(), "coefficients"_a.noconvert(),
          "c"_a.noconvert());
    m.def("solve_down",
          [](const Level& level, Array<const T> W, Matrix<T> delta, Matrix<T> rows) {
              level.require_basis(size(W));
              const Index k = level.require_blocks(rows, delta);
              nb::gil_scoped_release release;
              if (level.shape.leaf())
                  hss::solve_down_leaves<T>(level.shape, W.data(), delta.data(), rows.data(), k);
              else
                  hss::solve_down<T>(level.shape, W.data(), delta.data(), rows.data(), k);
          },
          "level"_a, "W"_a.noconvert(), "delta"_a.noconvert(), "rows"_a.noconvert());
    m.def("matmul_up",
          [](const Level& level, Array<const T> basis, Matrix<const T> B, Matrix<T> c) {
              level.require_basis(size(basis));
              const Index k = level.require_blocks(Matrix<const T>(B), Matrix<const T>(c));
              nb::gil_scoped_release release;
              hss::matmul_up<T>(level.shape, basis.data(), B.data(), k, c.data());
          },
          "level"_a, "basis"_a.noconvert(), "B"_a.noconvert(), "c"_a.noconvert());
    m.def("matmul_down_leaves",
          [](const Level& level, const KernelMatrix& K, Array<const T> basis, Matrix<T> delta,
             Matrix<const T> B, Matrix<T> Y) {
              level.require_basis(size(basis));
              const Index k = level.require_blocks(Y, delta);
              require(level.shape.leaf() && B.size() == Y.size() && K.n == level.n_rows(),
                      "matmul_down_leaves: shapes do not fit");
              nb::gil_scoped_release release;
              hss::matmul_down_leaves<T>(level.shape, *K.matrix, basis.data(), delta.data(), B.data(),
                                         Y.data(), k);
          },
          "level"_a, "K"_a, "basis"_a.noconvert(), "delta"_a.noconvert(), "B"_a.noconvert(),
          "Y"_a.noconvert());
    m.def("multiply_down_leaves",
          [](const Level& level, Array<const T> packed, Array<const T> basis, bool projection,
             Matrix<T> delta, Matrix<const T> B, Matrix<T> Y) {
              level.require_basis(size(basis));
              const Index k = level.require_blocks(Y, delta);
              require(level.shape.leaf() && B.size() == Y.size() &&
                          size(packed) == level.shape.triangle_start.back(),
                      "multiply_down_leaves: shapes do not fit");
              nb::gil_scoped_release release;
              hss::multiply_down_leaves<T>(level.shape, packed.data(), basis.data(), projection,
                                           delta.data(), B.data(), Y.data(), k);
          },
          "level"_a, "packed"_a.noconvert(), "basis"_a.noconvert(), "projection"_a, "delta"_a.noconvert(),
          "B"_a.noconvert(), "Y"_a.noconvert());
    m.def("shifted_prox",
          [](Matrix<const T> V, Array<const T> beta, Array<const double> tau, Matrix<const T> bound,
             bool symmetric, Array<const double> kink, Matrix<T> Z, Matrix<double> sums) {
              const Index n = static_cast<Index>(V.shape(0)), k = static_cast<Index>(V.shape(1));
              require(size(beta) == n && size(tau) == k && size(kink) == k && bound.shape(0) == V.shape(0) &&
                          bound.shape(1) == V.shape(1) && Z.shape(0) == V.shape(0) &&
                          Z.shape(1) == V.shape(1) && sums.shape(0) == 3 &&
                          sums.shape(1) == V.shape(1) && k > 0,
                      "shifted_prox: shapes do not fit");
              nb::gil_scoped_release release;
              hss::shifted_prox<T>(V.data(), beta.data(), tau.data(), bound.data(), symmetric,
                                   kink.data(), n, k, Z.data(), sums.data());
          },
          "V"_a.noconvert(), "beta"_a.noconvert(), "tau"_a.noconvert(), "bound"_a.noconvert(),
          "symmetric"_a, "kink"_a.noconvert(), "Z"_a.noconvert(), "sums"_a.noconvert());
    m.def("set_symmetric",
          [](Matrix<const T> block, Indices at, Matrix<T> K) {
              const Index m = static_cast<Index>(block.shape(0)), q = static_cast<Index>(block.shape(1));
              require(size(at) == m && K.shape(0) == K.shape(1) &&
                          q <= static_cast<Index>(K.shape(0)),
                      "set_symmetric: shapes do not fit");
              check_indices(at, q);
              nb::gil_scoped_release release;
              hss::set_symmetric<T>(block.data(), m, q, at.data(), K.data(),
                                    static_cast<Index>(K.shape(1)));
          },
          "block"_a.noconvert(), "at"_a.noconvert(), "K"_a.noconvert());
    m.def("smo",
          [](Matrix<const T> K, Indices ends, Indices members, Array<const T> lower,
             Array<const T> upper, Array<const double> kink, Array<T> z, Array<T> g,
             Array<const double> tol, Index max_steps, Array<Index> steps) {
              check_offsets(ends, size(members));
              check_indices(members, static_cast<Index>(K.shape(0)));
              const Index n_problems = size(ends) - 1;
              require(K.shape(0) == K.shape(1) && size(lower) == size(members) &&
                          size(upper) == size(members) && size(z) == size(members) &&
                          size(g) == size(members) && size(kink) == n_problems && size(tol) == n_problems &&
                          size(steps) == n_problems,
                      "smo: shapes do not fit");
              nb::gil_scoped_release release;
              hss::smo<T>(K.data(), static_cast<Index>(K.shape(1)), n_problems, ends.data(),
                          members.data(), lower.data(), upper.data(), kink.data(), z.data(), g.data(),
                          tol.data(), max_steps, steps.data());
          },
          "K"_a.noconvert(), "ends"_a.noconvert(), "members"_a.noconvert(), "lower"_a.noconvert(),
          "upper"_a.noconvert(), "kink"_a.noconvert(), "z"_a.noconvert(), "g"_a.noconvert(),
          "tol"_a.noconvert(), "max_steps"_a, "steps"_a.noconvert());
    m.def("leaf_weights",
          [](const Level& level, Indices skeleton_ends, Indices skeleton, Array<const T> expansion,
             Matrix<const T> delta, Matrix<T> weights) {
              const Index k = level.require_blocks(weights, Matrix<T>(delta));
              check_offsets(skeleton_ends, size(skeleton));
              check_indices(skeleton, level.n_rows());
              require(level.shape.leaf() && size(skeleton_ends) == level.shape.n_nodes + 1 &&
                          size(expansion) ==
                              hss::expansion_size(level.shape, skeleton_ends.data()),
                      "leaf_weights: shapes do not fit");
              nb::gil_scoped_release release;
              hss::leaf_weights<T>(level.shape, skeleton_ends.data(), skeleton.data(),
                                   expansion.data(), delta.data(), weights.data(), k);
          },
          "level"_a, "skeleton_ends"_a.noconvert(), "skeleton"_a.noconvert(),
          "expansion"_a.noconvert(), "delta"_a.noconvert(), "weights"_a.noconvert());
    m.def("matmul_down",
          [](const Level& level, Array<const T> basis, Array<const T> coupling, Matrix<T> delta,
             Matrix<T> coefficients) {
              level.require_basis(size(basis));
              const Index k = level.require_blocks(coefficients, delta);
              require(!level.shape.leaf() && size(coupling) == level.shape.coupling_start.back(),
                      "matmul_down: shapes do not fit");
              nb::gil_scoped_release release;
              hss::matmul_down<T>(level.shape, basis.data(), coupling.data(), delta.data(),
                                  coefficients.data(), k);
          },
          "level"_a, "basis"_a.noconvert(), "coupling"_a.noconvert(), "delta"_a.noconvert(),
          "coefficients"_a.noconvert());
}

}  // namespace

NB_MODULE(_core, m) {
    // A worker process that ends while a task runs leaves objects behind; that is no leak.
    nb::set_leak_warnings(false);
    load_lapack<float>('s');
    load_lapack<double>('d');
    hss::watch_forks();
    hss::check_interrupt = [] {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };

    m.def("set_max_threads", [](int n) {
        require(n >= 0, "the number of threads must not be negative");
        hss::max_threads = n;
    }, "n"_a);
    m.def("thread_count", &hss::thread_count);

    nb::class_<hss::Kernel>(m, "Kernel")
        .def("__init__",
             [](hss::Kernel* self, const std::string& name, double gamma, double coef0, int degree) {
                 new (self) hss::Kernel(make_kernel(name, gamma, coef0, degree));
             },
             "name"_a, "gamma"_a, "coef0"_a = 0.0, "degree"_a = 1);
    nb::class_<Rows> rows(m, "Rows");
    bind_rows<float>(rows);
    bind_rows<double>(rows);
    nb::class_<KernelMatrix>(m, "KernelMatrix")
        .def("__init__", &rows_kernel_matrix, "kernel"_a, "rows"_a)
        .def("__init__",
             [](KernelMatrix* self, nb::callable function, Index n) {
                 new (self) KernelMatrix{std::make_unique<CallableKernelMatrix>(function), n,
                                         function};
             },
             "function"_a, "n"_a);
    nb::class_<Level>(m, "Level")
        .def(nb::init<Indices, Indices, std::optional<Indices>, std::optional<Indices>>(),
             "offsets"_a.noconvert(), "ranks"_a.noconvert(), "child_ranks"_a.noconvert().none(),
             "rows"_a.noconvert().none());

    nb::class_<Below>(m, "Below")
        .def("__init__",
             [](Below* self, Indices sizes, Indices ranks, Array<const double> cholesky,
                Array<const double> rotation) {
                 new (self) Below(Below::of(sizes, ranks, cholesky, rotation));
             },
             "sizes"_a.noconvert(), "ranks"_a.noconvert(), "cholesky"_a.noconvert(),
             "rotation"_a.noconvert())
        .def("arrays", &Below::arrays);

    // No argument of these tells the precision of its result: two names.
    bind_libsvm_text<float>(m, "LibsvmText_f32");
    bind_libsvm_text<double>(m, "LibsvmText_f64");
    m.def("compress_level_f32", &compress_level<float>, "K"_a, "candidates"_a.noconvert(),
          "offsets"_a.noconvert(), "samples"_a.noconvert(), "max_rank"_a, "max_size"_a, "rtol"_a,
          "below"_a.none());
    m.def("compress_level_f64", &compress_level<double>, "K"_a, "candidates"_a.noconvert(),
          "offsets"_a.noconvert(), "samples"_a.noconvert(), "max_rank"_a, "max_size"_a, "rtol"_a,
          "below"_a.none());
    m.def("interpolate_level_f32", &interpolate_level<float>, "K"_a, "candidates"_a.noconvert(),
          "offsets"_a.noconvert(), "left"_a.noconvert().none(), "samples"_a.noconvert(),
          "sample_ends"_a.noconvert(), "max_rank"_a, "rtol"_a, "atol"_a);
    m.def("interpolate_level_f64", &interpolate_level<double>, "K"_a, "candidates"_a.noconvert(),
          "offsets"_a.noconvert(), "left"_a.noconvert().none(), "samples"_a.noconvert(),
          "sample_ends"_a.noconvert(), "max_rank"_a, "rtol"_a, "atol"_a);
    bind_functions<float>(m);
    bind_functions<double>(m);
}
