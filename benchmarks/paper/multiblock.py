"""Multi-block ADMM on the exact kernel, in the spirit of RACQP (Mihic, Zhu and Ye, 2020).

RACQP is a Matlab program; this is its idea in a page, to be timed beside the others. In signed
coefficients z, with v for the part in the box::

    minimize  1/2 z'Kz - y'z    subject to    sum z = 0,    z = v,    0 <= y v <= C

Every sweep assembles the rows into new random blocks, minimizes the augmented Lagrangian over one
block of z after the other, and then over v. A sweep costs n**2 kernel values.
"""

import time

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

BETA = 10.0
BLOCK_SIZE = 1000
MAX_SWEEPS = 20
TOL = 1e-3


@threadpool_limits.wrap(limits=1, user_api="blas")  # or it fights with kernel threads
def train(kernel, X, y, C, max_time, seed=0):
    """Return the coefficients v, the intercept and the number of sweeps.

    Ends when both residuals are below `TOL` of the coefficients, after `MAX_SWEEPS`, or when
    another sweep would take it beyond `max_time` seconds.
    """
    rng = np.random.default_rng(seed)
    n, start = len(y), time.perf_counter()
    z, v, u, F = (np.zeros(n) for _ in range(4))
    total = multiplier = 0.0
    low, high = np.minimum(0, C * y), np.maximum(0, C * y)
    for sweep in range(1, MAX_SWEEPS + 1):
        for block in np.array_split(rng.permutation(n), -(-n // BLOCK_SIZE)):
            K = kernel.block(X[block])
            right = K @ z[block] - F[block] + y[block] + BETA * (v[block] - u[block])
            right -= BETA * (total - z[block].sum() + multiplier)
            factor = cho_factor(K + BETA * (np.eye(len(block)) + 1))
            step = cho_solve(factor, right) - z[block]
            z[block] += step
            total += step.sum()
            F += kernel.product(X, X[block], step[:, None])[:, 0]
        before, v = v, np.clip(z + u, low, high)
        u += z - v
        multiplier += total
        size = TOL * max(np.linalg.norm(v), np.linalg.norm(z))
        if max(np.linalg.norm(z - v), np.linalg.norm(v - before), abs(total)) <= size:
            break
        elapsed = time.perf_counter() - start
        if elapsed * (sweep + 1) / sweep > max_time:
            break
    return v, BETA * multiplier, sweep
