"""Naive versions, from the definitions, and the data they are tried on."""

import math
import warnings

import clarabel
import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse

from hssvm.kernels import (
    CallableKernel,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
)


def kernel_value(kernel, x, y):
    """k(x, y) in float64, by the formula in the kernel's docstring."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    d = np.sqrt(((x - y) ** 2).sum())
    match kernel:
        case Gaussian(gamma):
            return np.exp(-gamma * d**2)
        case Exponential(gamma):
            return np.exp(-gamma * d)
        case Laplacian(gamma):
            return np.exp(-gamma * np.abs(x - y).sum())
        case Matern32(gamma):
            a = np.sqrt(3) * gamma * d
            return (1 + a) * np.exp(-a)
        case Matern52(gamma):
            a = np.sqrt(5) * gamma * d
            return (1 + a + a**2 / 3) * np.exp(-a)
        case Polynomial(gamma, coef0, degree):
            return (gamma * (x @ y) + coef0) ** degree
        case Linear():
            return x @ y
        case CallableKernel(function):
            return function(x[None], y[None])[0, 0]


def kernel_matrix(kernel, X, Y=None):
    """K by a double loop."""
    Y = X if Y is None else Y
    return np.array([[kernel_value(kernel, x, y) for y in Y] for x in X])


def exponential_function(X, Y):
    """A kernel as a user would write one."""
    return np.exp(-np.sqrt(((X[:, None] - Y[None]) ** 2).sum(-1)))


def all_kernels(gamma=1.0):
    """One of each kernel."""
    return [
        Gaussian(gamma),
        Laplacian(gamma),
        Exponential(gamma),
        Matern32(gamma),
        Matern52(gamma),
        Polynomial(gamma, coef0=1.0, degree=3),
        Linear(),
        CallableKernel(exponential_function),
    ]


def nested_nystroem(H):
    """K~ by the definition in hssvm.hss, from the kernel and each node's subspace.

    A node's subspace is given by its skeleton J and an orthonormal rotation Q of the basis
    k_J L^-T, which is read off `basis` and checked. Projecting every function k(., x) on the
    subspace of its leaf, then of the leaf's parent and so on gives the entries of K~.
    """
    tree, K = H.tree, H.kernel.block(H.X.astype(np.float64))
    dense = np.zeros_like(K)
    below = {}
    for level in reversed(range(tree.depth + 1)):
        offsets, data = tree.offsets(level), H.levels[level]
        here, start = {}, 0
        for node in range(2**level):
            rows = tree.perm[offsets[node] : offsets[node + 1]]
            J = data.skeleton[data.skeleton_offsets[node] : data.skeleton_offsets[node + 1]]
            rank = data.ranks[node + 1] - data.ranks[node]
            L = np.linalg.cholesky(K[np.ix_(J, J)])
            children = [below[2 * node], below[2 * node + 1]] if level < tree.depth else None
            if children is None:
                dense[np.ix_(rows, rows)] = K[np.ix_(rows, rows)]
                project = np.linalg.solve(L, K[np.ix_(J, rows)]).T
                phi = np.eye(rows.size)
            else:
                (rows_a, J_a, G_a, phi_a), (rows_b, J_b, G_b, phi_b) = children
                C = G_a.T @ K[np.ix_(J_a, J_b)] @ G_b
                assert np.linalg.norm(C, 2) <= 1 + 1e-6
                dense[np.ix_(rows_a, rows_b)] = phi_a @ C @ phi_b.T
                dense[np.ix_(rows_b, rows_a)] = dense[np.ix_(rows_a, rows_b)].T
                G = scipy.linalg.block_diag(G_a, G_b)
                candidates = np.concatenate([J_a, J_b])
                project = np.linalg.solve(L, K[np.ix_(J, candidates)] @ G).T
                phi = scipy.linalg.block_diag(phi_a, phi_b)
            m = project.shape[0]
            basis = data.basis[start : start + m * rank].reshape(rank, m).T.astype(float)
            start += m * rank
            Q = np.linalg.lstsq(project, basis, rcond=None)[0]
            tol = 1e-2 if H.dtype == np.float32 else 1e-6  # small pivots amplify rounding
            assert np.allclose(Q.T @ Q, np.eye(rank), atol=tol)
            here[node] = rows, J, np.linalg.solve(L.T, Q), phi @ project @ Q
        below = here
    return dense


def awkward_points(rng, n, p, kind):
    """Points with a name for what is odd about them."""
    X = rng.standard_normal((n, p))
    match kind:
        case "plain":
            pass
        case "duplicates":
            X = X[rng.integers(0, max(1, n // 2), n)]
        case "one point":
            X = np.repeat(X[:1], n, axis=0)
        case "constant feature":
            X[:, rng.integers(p)] = 3.0
        case "clusters":
            X = 0.01 * X + 10.0 * rng.integers(0, 3, (n, 1))
        case "line":
            X = np.linspace(0, 1, n)[:, None] * X[:1]
        case "offset":
            X = X + 1e3
    return X


AWKWARD = ["plain", "duplicates", "one point", "constant feature", "clusters", "line", "offset"]


def svc_dual(K, bound):
    """Solve min 1/2 z'Kz - |z|_1, z between 0 and bound, sum z = 0, by SciPy; bound is (n,)."""
    sign = np.sign(bound)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Values in x were outside bounds")  # of older SciPy
        result = scipy.optimize.minimize(
            lambda z: (z @ K @ z / 2 - sign @ z, K @ z - sign),
            np.zeros(len(bound)),
            jac=True,
            method="SLSQP",
            bounds=[(min(b, 0), max(b, 0)) for b in bound],
            constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
            options={"maxiter": 2000, "ftol": 1e-14},
        )
    return result.x


def dual_by_clarabel(K, problem, j):
    """Column j of a `Problem` by an interior-point method; returns z and the dual value."""
    n = problem.n
    l1, zero, one = float(problem.l1_weight[j]), np.zeros((n, n)), scipy.sparse.eye_array(n)
    # variables z and u >= |z|
    ridge = np.diag(problem.ridge_at(np.arange(n)).astype(float))
    P = scipy.sparse.csc_array(np.triu(np.block([[K + ridge, zero], [zero, zero]])))
    q = np.concatenate([-problem.linear[:, j], np.full(n, l1)])
    ones = np.concatenate([np.ones(n), np.zeros(n)])[None]
    A = scipy.sparse.csc_array(
        scipy.sparse.vstack(
            [
                ones,
                scipy.sparse.hstack([one, 0 * one]),
                scipy.sparse.hstack([-one, 0 * one]),
                scipy.sparse.hstack([one, -one]),
                scipy.sparse.hstack([-one, -one]),
            ]
        )
    )
    b = [
        problem.equality_rhs[j : j + 1],
        problem.upper[:, j],
        -problem.lower[:, j],
        np.zeros(2 * n),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-9
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(4 * n)]
    solved = clarabel.DefaultSolver(P, q, A, np.concatenate(b), cones, settings).solve()
    return np.array(solved.x[:n]), -solved.obj_val


def svc_primal(K, z, sign, cost, intercept):
    """``1/2 z'Kz`` plus the hinge losses; sign and cost are (n,)."""
    return z @ K @ z / 2 + (cost * np.maximum(0, 1 - sign * (K @ z + intercept))).sum()


def svc_gap(K, problem, Z, j):
    """Relative duality gap of column j with the best intercept, in float64."""
    z, bound = Z[:, j].astype(float), problem.bound[:, j].astype(float)
    f, sign = K @ z, np.sign(bound)
    loss = min(
        (np.abs(bound) * np.maximum(0, 1 - sign * (f + b))).sum() for b in (sign - f)[bound != 0]
    )
    primal, dual = z @ f / 2 + loss, np.abs(z).sum() - z @ f / 2
    return (primal - dual) / primal


def paper_admm(K, y, C, beta, max_iter):
    """Algorithm 3 of Cipolla and Gondzio with its slips corrected, letter by letter; returns z."""
    d = len(y)
    e, Y = np.ones(d), np.diag(y)
    inverse = np.linalg.inv(Y @ K @ Y + beta * np.eye(d))
    w = inverse @ y
    z, mu = np.zeros(d), np.zeros(d)
    for _ in range(max_iter):
        q = e + mu + beta * z
        x = inverse @ q
        x = x - w * (y @ x) / (y @ w)
        z = np.clip(x - mu / beta, 0, C)
        mu = mu - beta * (x - z)
    return z


def shapley_values(function, x, background, weight):
    """Interventional Shapley values of a row, (p, k), by enumeration of all sets of features."""
    p = x.size
    sets = (np.arange(2**p)[:, None] >> np.arange(p)) % 2 == 1
    points = np.where(sets[:, None], x, background).reshape(-1, p)
    worth = np.einsum("z,szk->sk", weight, function(points).reshape(2**p, len(background), -1))
    size, values = sets.sum(axis=1), []
    for j in range(p):
        without = np.flatnonzero(~sets[:, j])
        share = np.array([1 / (p * math.comb(p - 1, int(n))) for n in size[without]])
        values.append(share @ (worth[without + 2**j] - worth[without]))
    return np.stack(values)
