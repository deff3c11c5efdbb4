"""Settings and results of Cipolla and Gondzio (2021), as printed in the paper.

Their machine has four Intel Xeon E7-4830 v2 (2.2 GHz, 10 cores each), used "in a sequential
architecture", with STRUMPACK 5.1.0, LIBSVM 3.25, and RACQP in Matlab. Tables are numbered as in the
paper. Sets have the names of ``benchmarks.libsvm_files``; the paper prints cod.rna, skin.nonskin,
webspam.uni, and ijcnn in tables 4 and 5.
"""

from typing import NamedTuple

H_GRID = (0.1, 1, 10)
C_GRID = (0.1, 1, 10)
ADMM_ITERATIONS = 10

# Strumpack parameters of tables 4 and 5; all others are its defaults.
TOLERANCES = {
    "loose": {"rtol": 1, "atol": 0.1, "max_rank": 200, "n_neighbors": 64},
    "tight": {"rtol": 0.5, "atol": 0.05, "max_rank": 2000, "n_neighbors": 512},
}

# Not in the paper: the default of STRUMPACK, from its source (HSSOptions.hpp).
LEAF_SIZE = 512


def beta(n_rows):
    """Penalty of ADMM for a number of training rows; the paper gives no value below 10,000."""
    if n_rows < 10**5:
        return 10**2
    return 10**3 if n_rows < 10**6 else 10**4


class Counts(NamedTuple):
    """A row of table 1."""

    features: int
    train_rows: int
    train_positives: int
    test_rows: int
    test_positives: int


class HSSResult(NamedTuple):
    """A row of tables 4 and 5: seconds, MB, best h, values of C that are best, accuracy in %."""

    compress: float
    factor: float
    memory: float
    admm: float
    h: float
    C: tuple[float, ...]
    accuracy: float


class Result(NamedTuple):
    """A row of tables 2 and 3: seconds, accuracy in %."""

    runtime: float
    accuracy: float


# Table 1: problem set details.
DATA_SETS = {
    "a8a": Counts(122, 22696, 5506, 9865, 2335),
    "w7a": Counts(300, 24692, 740, 25057, 739),
    "rcv1.binary": Counts(47236, 20242, 10491, 135480, 71326),
    "a9a": Counts(122, 32561, 7841, 16281, 3846),
    "w8a": Counts(300, 49749, 1479, 14951, 454),
    "ijcnn1": Counts(22, 49990, 4853, 91701, 8712),
    "cod-rna": Counts(8, 59535, 19845, 271617, 90539),
    "skin_nonskin": Counts(3, 171540, 135986, 73517, 58212),
    "webspam": Counts(254, 245000, 148717, 105000, 63472),
    "susy": Counts(18, 3500000, 1601659, 1500000, 686168),
}

# Table 2: LIBSVM with the best h and C of table 5; None: stopped after 10 hours.
LIBSVM = {
    "a8a": Result(123.308, 83.953),
    "w7a": Result(148.110, 97.904),
    "rcv1.binary": Result(261.399, 93.247),
    "a9a": Result(305.913, 82.697),
    "w8a": Result(508.232, 99.444),
    "ijcnn1": Result(345.805, 96.007),
    "cod-rna": Result(110.997, 90.374),
    "skin_nonskin": Result(344.938, 99.960),
    "webspam": Result(13354.384, 99.081),
    "susy": None,
}

# Table 3: RACQP with the best h and C of table 5; None: stopped after 10 hours.
RACQP = {
    "a8a": Result(98.269, 79.757),
    "w7a": Result(82.838, 97.050),
    "rcv1.binary": Result(67.830, 71.987),
    "a9a": Result(206.527, 82.237),
    "w8a": Result(348.122, 97.806),
    "ijcnn1": Result(427.551, 91.460),
    "cod-rna": Result(531.787, 33.333),
    "skin_nonskin": Result(4689.815, 97.649),
    "webspam": Result(21669.329, 92.830),
    "susy": None,
}

HSS = {
    # Table 4: Strumpack & ADMM, the loose tolerances.
    "loose": {
        "a8a": HSSResult(135.923, 6.181, 112.968, 0.300, 1, (1, 10), 83.314),
        "w7a": HSSResult(2161.920, 14.442, 99.345, 0.486, 1, (1, 10), 97.465),
        "rcv1.binary": HSSResult(6319.780, 1.665, 58.839, 0.173, 10, (1, 10), 89.940),
        "a9a": HSSResult(256.032, 8.162, 179.192, 0.471, 1, (1, 10), 83.477),
        "w8a": HSSResult(10476.200, 107.71, 273.1, 1.498, 1, (1, 10), 97.679),
        "ijcnn1": HSSResult(9.772, 1.980, 153.586, 0.470, 0.1, (1, 10), 92.403),
        "cod-rna": HSSResult(2.900, 2.863, 181.47, 0.444, 10, (0.1,), 89.305),
        "skin_nonskin": HSSResult(1127.79, 11.078, 538.349, 1.219, 10, (0.1, 1, 10), 99.846),
        "webspam": HSSResult(5809.6, 3.228, 757.969, 0.909, 0.1, (0.1, 1, 10), 95.551),
        "susy": HSSResult(3938.68, 25.614, 13599.4, 9.471, 1, (0.1, 1, 10), 72.338),
    },
    # Table 5: Strumpack & ADMM, the tight tolerances.
    "tight": {
        "a8a": HSSResult(795.597, 16.276, 218.673, 0.588, 1, (1, 10), 83.476),
        "w7a": HSSResult(2311.330, 15.229, 107.393, 0.621, 1, (1, 10), 97.465),
        "rcv1.binary": HSSResult(14211.0, 1.425, 58.84, 0.210, 10, (1, 10), 87.921),
        "a9a": HSSResult(1176.99, 21.3909, 379.852, 0.986, 1, (1, 10), 83.643),
        "w8a": HSSResult(10774.900, 124.076, 296.472, 1.738, 1, (1, 10), 97.672),
        "ijcnn1": HSSResult(21.393, 2.041, 168.007, 0.298, 0.1, (1, 10), 92.314),
        "cod-rna": HSSResult(23.242, 2.377, 182.424, 0.280, 10, (1, 10), 89.308),
        "skin_nonskin": HSSResult(1232.730, 7.560, 544.544, 0.972, 10, (0.1, 1, 10), 99.855),
        "webspam": HSSResult(7003.52, 5.640, 861.542, 1.297, 0.1, (0.1, 1, 10), 96.123),
        "susy": HSSResult(14495.9, 159.972, 18264.2, 15.889, 1, (0.1, 1, 10), 72.047),
    },
}


def best_pair(name):
    """The h that the paper gives to LIBSVM and RACQP, and the smallest and largest such C.

    It takes the best of table 5. Where several C are best it does not say which it took.
    """
    best = HSS["tight"][name]
    return best.h, tuple(sorted({best.C[0], best.C[-1]}))
