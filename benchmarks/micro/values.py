"""Rate of the values of radial kernels, relative to the Gaussian kernel.

python -m benchmarks.micro.values [--repeats 20]

Each kernel computes the values of 512 and 2,000 rows on one thread. The kernels take turns, and the
fastest block of each counts. Sparse rows have a tenth of the features, at least four. The third
table is the part of all values that are of at least a thousandth, so that no kernel is fast because
its values vanish.
"""

import argparse

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

from benchmarks.markdown import number, table
from benchmarks.timing import Fastest
from hssvm.kernels import Exponential, Gaussian, Laplacian, Matern32, Matern52

KERNELS = [Gaussian, Exponential, Matern32, Matern52, Laplacian]
FEATURES = [8, 22, 54, 200]
FORMATS = [("dense", "float32"), ("dense", "float64"), ("CSR", "float32"), ("CSR", "float64")]
N_X, N_Y = 512, 2000
