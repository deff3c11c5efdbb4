// The BLAS and LAPACK routines used, through function pointers that bindings/lapack.cpp reads from
// SciPy (scipy.linalg.cython_blas, cython_lapack) when the module is imported. The core links to no
// BLAS, so the process has only SciPy's, whose threads Python limits with threadpoolctl.
#pragma once
#include <algorithm>

#include "view.hpp"
#include "workspace.hpp"

namespace hss {

template <class T>
struct Lapack {
    using c = char*;
    using i = int*;
    using t = T*;
    static inline void (*gemm)(c, c, i, i, i, t, t, i, t, i, t, t, i);
    static inline void (*syrk)(c, c, i, i, t, t, i, t, t, i);
    static inline void (*trsm)(c, c, c, c, i, i, t, t, i, t, i);
    static inline void (*trmm)(c, c, c, c, i, i, t, t, i, t, i);
    static inline void (*potrf)(c, i, t, i, i);
    static inline void (*pstrf)(c, i, t, i, i, i, t, t, i);
    static inline void (*lauum)(c, i, t, i, i);
    static inline void (*geqrf)(i, i, t, i, t, t, i, i);
    static inline void (*orgqr)(i, i, i, t, i, t, t, i, i);
};

// C = alpha op(A) op(B) + beta C
template <class T>
void gemm(char ta, char tb, T alpha, View<const T> A, View<const T> B, T beta, View<T> C) {
    int m = static_cast<int>(C.rows), n = static_cast<int>(C.cols);
    int k = static_cast<int>(ta == 'N' ? A.cols : A.rows);
    int lda = static_cast<int>(A.ld), ldb = static_cast<int>(B.ld), ldc = static_cast<int>(C.ld);
    if (m == 0 || n == 0) return;
    Lapack<T>::gemm(&ta, &tb, &m, &n, &k, &alpha, const_cast<T*>(A.data), &lda,
                    const_cast<T*>(B.data), &ldb, &beta, C.data, &ldc);
}

// Lower triangle of C += alpha A A' (trans 'N') or alpha A' A (trans 'T')
template <class T>
void syrk_lower(char trans, T alpha, View<const T> A, View<T> C) {
    int n = static_cast<int>(C.cols), k = static_cast<int>(trans == 'N' ? A.cols : A.rows);
    int lda = static_cast<int>(A.ld), ldc = static_cast<int>(C.ld);
    char uplo = 'L';
    T one = 1;
    if (n == 0 || k == 0) return;
    Lapack<T>::syrk(&uplo, &trans, &n, &k, &alpha, const_cast<T*>(A.data), &lda, &one, C.data,
                    &ldc);
}

// B = op(A)^-1 B (side 'L') or B op(A)^-1 (side 'R'), A triangular
template <class T>
void trsm(char side, char uplo, char trans, View<const T> A, View<T> B) {
    int m = static_cast<int>(B.rows), n = static_cast<int>(B.cols);
    int lda = static_cast<int>(A.ld), ldb = static_cast<int>(B.ld);
    char diag = 'N';
    T one = 1;
    if (m == 0 || n == 0) return;
    Lapack<T>::trsm(&side, &uplo, &trans, &diag, &m, &n, &one, const_cast<T*>(A.data), &lda, B.data,
                    &ldb);
}

// B = op(A) B (side 'L') or B op(A) (side 'R'), A triangular
template <class T>
void trmm(char side, char uplo, char trans, View<const T> A, View<T> B) {
    int m = static_cast<int>(B.rows), n = static_cast<int>(B.cols);
    int lda = static_cast<int>(A.ld), ldb = static_cast<int>(B.ld);
    char diag = 'N';
    T one = 1;
    if (m == 0 || n == 0) return;
    Lapack<T>::trmm(&side, &uplo, &trans, &diag, &m, &n, &one, const_cast<T*>(A.data), &lda, B.data,
                    &ldb);
}

// Lower triangle of A = L L'; returns false if A is not positive definite.
template <class T>
bool potrf_lower(View<T> A) {
    int n = static_cast<int>(A.cols), lda = static_cast<int>(A.ld), info = 0;
    char uplo = 'L';
    if (n > 0) Lapack<T>::potrf(&uplo, &n, A.data, &lda, &info);
    return info == 0;
}

// Lower triangle of P'AP = L L' with diagonal pivoting, stopped when the remaining diagonal is
// below tol; returns the rank. pivot[j] is the row of A chosen in step j. Only the first `rank`
// columns are L.
template <class T>
Index pstrf_lower(View<T> A, int* pivot, T tol) {
    static thread_local Buffer<T> work;
    int n = static_cast<int>(A.cols), lda = static_cast<int>(A.ld), rank = 0, info = 0;
    char uplo = 'L';
    Lapack<T>::pstrf(&uplo, &n, A.data, &lda, pivot, &rank, &tol, work.take(2 * A.cols), &info);
    for (int j = 0; j < n; ++j) --pivot[j];
    return rank;
}

// Lower triangle: L becomes L' L
template <class T>
void lauum_lower(View<T> L) {
    int n = static_cast<int>(L.cols), ld = static_cast<int>(L.ld), info = 0;
    char uplo = 'L';
    if (n > 0) Lapack<T>::lauum(&uplo, &n, L.data, &ld, &info);
}

// Overwrites Y (m x r, m >= r) by the Q of its thin QR, and R (r x r) by the upper triangle.
template <class T>
void thin_qr(View<T> Y, View<T> R, Buffer<T>& scratch) {
    int m = static_cast<int>(Y.rows), r = static_cast<int>(Y.cols), ld = static_cast<int>(Y.ld);
    int info = 0;
    if (r == 0) return;
    int lwork = 64 * r;
    T* tau = scratch.take(r + lwork);
    T* work = tau + r;
    Lapack<T>::geqrf(&m, &r, Y.data, &ld, tau, work, &lwork, &info);
    for (Index j = 0; j < r; ++j) {
        std::copy_n(Y.col(j), j + 1, R.col(j));
        std::fill_n(R.col(j) + j + 1, r - j - 1, T(0));
    }
    Lapack<T>::orgqr(&m, &r, &r, Y.data, &ld, tau, work, &lwork, &info);
}

}  // namespace hss
