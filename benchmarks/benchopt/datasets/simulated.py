"""Rings around the origin, with noise."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Two classes, by the distance from the origin in the first two features."""

    name = "simulated"
    parameters = {"n_rows, n_features": [(2000, 5), (10_000, 5)]}

    def get_data(self):
        rng = np.random.default_rng(self.get_seed())
        X = rng.standard_normal((self.n_rows, self.n_features)).astype(np.float32)
        radius = np.hypot(X[:, 0], X[:, 1]) + 0.2 * rng.standard_normal(self.n_rows)
        return {"X": X, "y": np.where(radius > 1.2, 1.0, -1.0), "gamma": 1 / self.n_features}
