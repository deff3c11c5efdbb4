"""Parts of the library: files, the encoder of tables, and kernel matrices."""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file

import hssvm
from hssvm.io import load_data
from hssvm.kernels import Gaussian
from hssvm.tables import TableEncoder

from . import rows


class Files:
    """Data and models in files."""

    def setup(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        X, y = rows.classes(20_000)
        dump_svmlight_file(X, y, str(self.path / "rows.libsvm"), zero_based=False)
        self.model = hssvm.SVC().fit(X[:3000], y[:3000])
        self.model.save(self.path / "model")

    def teardown(self):
        self.folder.cleanup()

    def time_read_libsvm_text(self):
        load_data(self.path / "rows.libsvm")

    def time_save(self):
        self.model.save(self.path / "saved")

    def time_load(self):
        hssvm.load(self.path / "model")


class Tables:
    """Frames with columns of several kinds."""

    def setup(self):
        self.frame, self.y = rows.frame(1000)

    def time_encoder(self):
        TableEncoder().fit_transform(self.frame, self.y)


class Kernels:
    """Kernel values."""

    def setup(self):
        self.X, _ = rows.classes(4000)
        self.weights = np.ones((len(self.X), 1), np.float32)
        self.kernel = Gaussian(gamma=0.1)

    def time_block(self):
        self.kernel.block(self.X)

    def time_product(self):
        self.kernel.product(self.X, self.X, self.weights)
