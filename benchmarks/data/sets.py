"""The data sets: what they are, and where each of their files is published."""

from functools import partial

import numpy as np

from benchmarks.data.converters import kddcup99, power
from benchmarks.data.entries import DataSet, File, Part
from benchmarks.data.formats import delimited, idx, libsvm

BINARY, MULTICLASS, REGRESSION = "binary", "multiclass", "regression"
LIBSVM, UCI = "LIBSVM", "UCI"
PAGE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
ARCHIVE = "https://archive.ics.uci.edu/static/public/"


def page(*paths, **options):
    """The parts of a set of the LIBSVM page."""
    return tuple(Part((File(PAGE + path),), partial(libsvm, **options)) for path in paths)


def usps(path, md5):
    """A part of USPS; the page adds one to the digits."""
    file = File(f"{PAGE}multiclass/{path}", known_hash=f"md5:{md5}")
    return Part((file,), partial(libsvm, labels=lambda y: y - 1))


def six_classes(y):
    """Satimage has no class 6, so that class 7 is."""
    return np.where(y == 7, 6, y)


def images(address, of, *md5s):
    """A part of MNIST or Fashion-MNIST."""
    names = f"{of}-images-idx3-ubyte.gz", f"{of}-labels-idx1-ubyte.gz"
    pairs = zip(names, md5s, strict=True)
    return Part(tuple(File(address + name, known_hash=f"md5:{md5}") for name, md5 in pairs), idx)


def table(path, member, **options):
    """A part of a set of UCI."""
    return Part((File(ARCHIVE + path, member),), partial(delimited, **options))


MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
FASHION = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
KDD = (
    File("http://kdd.ics.uci.edu/databases/kddcup99/kddcup.data_10_percent.gz",
        known_hash="8045aca0d84e70e622d1148d7df782496f6333bf6eb979a1b0837c42a9fd9561"),
    File("http://kdd.ics.uci.edu/databases/kddcup99/corrected.gz"),
)  # fmt: skip
POWER = "235/individual+household+electric+power+consumption.zip"
SHUTTLE = "148/statlog+shuttle.zip"
SATELLITE = "146/statlog+landsat+satellite.zip"
PROTEIN = "265/physicochemical+properties+of+protein+tertiary+structure.zip"

SETS = {
    "a8a": DataSet(BINARY, (22_696, 9_865), 123, LIBSVM, 0.1,
        page("binary/a8a", "binary/a8a.t"), sparse=True),
    "a9a": DataSet(BINARY, (32_561, 16_281), 123, LIBSVM, 0.2,
        page("binary/a9a", "binary/a9a.t"), sparse=True),
    "w7a": DataSet(BINARY, (24_692, 25_057), 300, LIBSVM, 0.4,
        page("binary/w7a", "binary/w7a.t"), sparse=True),
    "w8a": DataSet(BINARY, (49_749, 14_951), 300, LIBSVM, 0.5,
        page("binary/w8a", "binary/w8a.t"), sparse=True),
    "ijcnn1": DataSet(BINARY, (49_990, 91_701), 22, LIBSVM, 2.3,
        page("binary/ijcnn1.bz2", "binary/ijcnn1.t.bz2")),
    "cod-rna": DataSet(BINARY, (59_535, 271_617), 8, LIBSVM, 0.8,
        page("binary/cod-rna", "binary/cod-rna.t")),
    "skin_nonskin": DataSet(BINARY, (245_057,), 3, UCI, 0.3,
        (table("229/skin+segmentation.zip", "Skin_NonSkin.txt"),)),
    "kddcup99": DataSet(BINARY, (494_021, 311_029), 119, UCI, 2.0,
        (Part(KDD, kddcup99), Part(KDD[::-1], kddcup99))),
    "covtype": DataSet(MULTICLASS, (581_012,), 54, UCI, 5.4,
        (table("31/covertype.zip", "covtype.data.gz", delimiter=",", dtype=np.int16),)),
    "covtype.binary": DataSet(BINARY, (581_012,), 54, UCI, 5.4, positive=2, stored_as="covtype"),
    "phishing": DataSet(BINARY, (11_055,), 68, LIBSVM, 0.1, page("binary/phishing"), sparse=True),
    "mushrooms": DataSet(BINARY, (8_124,), 112, LIBSVM, 0.1, page("binary/mushrooms"),
        sparse=True),
    "heart_scale": DataSet(BINARY, (270,), 13, LIBSVM, 0.1, page("binary/heart_scale")),
    "australian": DataSet(BINARY, (690,), 14, LIBSVM, 0.1, page("binary/australian")),
    "diabetes": DataSet(BINARY, (768,), 8, LIBSVM, 0.1,  # the page has -1 for tested positive
        page("binary/diabetes", labels=np.negative)),
    "higgs_sample": DataSet(BINARY, (10_984,), 28, UCI, 1.2,
        reason="it is not known which rows of HIGGS it has"),
    "susy_sample": DataSet(BINARY, (10_000, 1_000), 8, UCI, 0.8,
        reason="it is not known which rows of SUSY it has"),
    "mnist": DataSet(MULTICLASS, (60_000, 10_000), 784, "LeCun, Cortes, Burges", 11.5, (
        images(MNIST, "train", "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "d53e105ee54ea40749a09fcbcd1e9432"),
        images(MNIST, "t10k", "9fb629c4189551a2d022fa330f9573f3",
            "ec29112dd5afa0611ce80d1b7f02629c"))),
    "fashion-mnist": DataSet(MULTICLASS, (60_000, 10_000), 784, "Zalando Research", 30.9, (
        images(FASHION, "train", "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "25c81989df183df01b3e8a0aad5dffbe"),
        images(FASHION, "t10k", "bef4ecab320f06d8554ea6380940ec79",
            "bb300cfdad3c16e7a12a480ee83cd310"))),
    "usps": DataSet(MULTICLASS, (7_291, 2_007), 256, LIBSVM, 2.3, (
        usps("usps.bz2", "ec16c51db3855ca6c91edd34d0e9b197"),
        usps("usps.t.bz2", "8ea070ee2aca1ac39742fdd1ef5ed118"))),
    "letter": DataSet(MULTICLASS, (15_000, 5_000), 16, LIBSVM, 0.2,
        page("multiclass/letter.scale", "multiclass/letter.scale.t")),
    "pendigits": DataSet(MULTICLASS, (7_494, 3_498), 16, LIBSVM, 0.2,
        page("multiclass/pendigits", "multiclass/pendigits.t")),
    "satimage": DataSet(MULTICLASS, (4_435, 2_000), 36, UCI, 0.2, (
        table(SATELLITE, "sat.trn", labels=six_classes),
        table(SATELLITE, "sat.tst", labels=six_classes))),
    "shuttle": DataSet(MULTICLASS, (43_500, 14_500), 9, UCI, 0.3,
        (table(SHUTTLE, "shuttle.trn.Z"), table(SHUTTLE, "shuttle.tst"))),
    "cadata": DataSet(REGRESSION, (20_640,), 8, LIBSVM, 0.3, page("regression/cadata")),
    "casp": DataSet(REGRESSION, (45_730,), 9, UCI, 1.4,
        (table(PROTEIN, "CASP.csv", delimiter=",", header=1, target=0),)),
    "cpusmall": DataSet(REGRESSION, (8_192,), 12, LIBSVM, 0.2, page("regression/cpusmall")),
    "abalone_scale": DataSet(REGRESSION, (4_177,), 8, LIBSVM, 0.1,
        page("regression/abalone_scale")),
    "kin40k": DataSet(REGRESSION, (40_000,), 8, "Schwaighofer and Tresp", 1.3,
        reason="its publisher no longer offers it"),
    "power": DataSet(REGRESSION, (256_869,), 8, UCI, 2.2, (
        Part((File(ARCHIVE + POWER, "household_power_consumption.txt"),), power),)),
    "hiv": DataSet(BINARY, (41_120,), 2048, "MoleculeNet", 1.8, sparse=True,
        reason="its fingerprints were computed by RDKit, from molecules"),
}  # fmt: skip
