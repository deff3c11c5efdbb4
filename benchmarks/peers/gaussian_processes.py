"""Gaussian processes beside GPyTorch's variational ones: errors, deviations and times.

python -m benchmarks.peers.gaussian_processes [NAME ...] [--steps 1000] [--resume] [--render]

`GaussianProcessRegressor` has its defaults. The process of GPyTorch has inducing points, the same
kernel with a scale for every feature, and is trained by that many steps of Adam on 1,024 rows each;
see its example of SVGP. Features and targets are standardized, all in single precision. The results
go to docs/results/gaussian_processes.json. Threads: set OMP_NUM_THREADS.
"""

import os

import numpy as np
from scipy.stats import norm

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import load
from benchmarks.markdown import number, prefixes, seconds, setup, table
from benchmarks.timing import timed
from hssvm import GaussianProcessRegressor

NAMES = ["kin40k", "casp", "cadata"]
OURS, VARIATIONAL = "hssvm", "GPyTorch"
TEST_ROWS = 10_000
INDUCING, BATCH, RATE = 1024, 1024, 0.01
LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
"""Probabilities of the intervals whose shares of the test targets are counted."""


def load_rows(name):
    X, y, X_test, y_test = load(name, scale="standard")
    mean, std = y.mean(), y.std()
    rows = X.astype(np.float32), X_test[:TEST_ROWS].astype(np.float32)
    return rows[0], (y - mean) / std, rows[1], (y_test[:TEST_ROWS] - mean) / std


def fit_ours(X, y, _steps):
    """Return means and standard deviations as a function of rows."""
    model = GaussianProcessRegressor(random_state=0).fit(X, y)
    return lambda rows: model.predict(rows, return_std=True)


def fit_variational(X, y, steps):
    """Train a variational process with inducing points, which are rows at first."""
    import gpytorch
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    torch.manual_seed(0)
    X, y = torch.from_numpy(X), torch.from_numpy(y.astype(np.float32))

    class Process(gpytorch.models.ApproximateGP):
        def __init__(self, points):
            distribution = gpytorch.variational.CholeskyVariationalDistribution(len(points))
            super().__init__(gpytorch.variational.VariationalStrategy(self, points, distribution))
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel(ard_num_dims=points.shape[1])
            )

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    model = Process(X[torch.randperm(len(X))[:INDUCING]].clone())
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(X))
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=RATE)
    for _ in range(steps):
        some = torch.randint(len(X), (BATCH,))
        optimizer.zero_grad()
        loss = -bound(model(X[some]), y[some])
        loss.backward()
        optimizer.step()
    model.eval()
    likelihood.eval()

    def predict(rows):
        with torch.no_grad():
            found = [likelihood(model(part)) for part in torch.from_numpy(rows).split(BATCH)]
        mean = torch.cat([one.mean for one in found])
        std = torch.cat([one.stddev for one in found])
        return mean.numpy().astype(float), std.numpy().astype(float)

    return predict


METHODS = {OURS: fit_ours, VARIATIONAL: fit_variational}


def run_method(name, method, steps):
    X, y, X_test, y_test = load_rows(name)
    predictor, fit = timed(lambda: METHODS[method](X, y, steps))
    (mean, std), predict = timed(lambda: predictor(X_test))
    errors = np.abs(y_test - mean) / std
    return {
        "rows": len(X), "features": X.shape[1], "fit": fit, "predict": predict,
        "rmse": float(np.sqrt(np.mean((y_test - mean) ** 2))),
        "negative log density": float(-norm.logpdf(y_test, mean, std).mean()),
        "coverage": [float(np.mean(errors <= norm.ppf((1 + level) / 2))) for level in LEVELS],
    }  # fmt: skip


def run_all(results, arguments):
    for name in arguments.names:
        for method in METHODS:
            results.measure(f"{name}: {method}", run_method, name, method, arguments.steps)


def errors_table(results):
    lines = []
    for name in prefixes(results):
        runs = [results.runs[f"{name}: {method}"] for method in METHODS]
        lines.append([
            name, f"{runs[0]['rows']:,} x {runs[0]['features']}",
            *(f"{run['rmse']:.3f}" for run in runs),
            *(f"{run['negative log density']:.2f}" for run in runs),
            *(f"{100 * run['coverage'][LEVELS.index(0.9)]:.1f} %" for run in runs),
        ])  # fmt: skip
    heads = [
        f"{what}, {method}"
        for what in ("RMSE", "negative log density", "in 90 % intervals")
        for method in METHODS
    ]
    return table(["data", "rows x features", *heads], lines)


def times_table(results):
    lines = []
    for name in prefixes(results):
        runs = [results.runs[f"{name}: {method}"] for method in METHODS]
        times = [f"{seconds(run['fit'])} + {seconds(run['predict'])}" for run in runs]
        lines.append([name, *times, number(runs[1]["fit"] / runs[0]["fit"], 2)])
    return table(["data", *METHODS, "ratio of the fits"], lines)


TABLES = {"setup": setup, "errors": errors_table, "times": times_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--steps", type=int, default=1000, help="of GPyTorch")
    run_command("gaussian_processes", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
