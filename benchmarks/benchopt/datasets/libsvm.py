"""Data sets from the LIBSVM page; see benchmarks.data."""

import numpy as np
from benchopt import BaseDataset

from benchmarks.datasets import dense, load


class Dataset(BaseDataset):
    """The training rows, with the kernel width of the other benchmarks."""

    name = "libsvm"
    parameters = {"data, h": [("ijcnn1", 0.5)]}

    def get_data(self):
        X, y, _, _ = load(self.data)
        return {
            "X": np.ascontiguousarray(dense(X)),
            "y": np.where(y == y.max(), 1.0, -1.0),
            "gamma": 1 / (2 * self.h**2),
        }
