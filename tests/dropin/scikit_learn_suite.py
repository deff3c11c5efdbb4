"""A pytest plugin that runs the tests of `sklearn.svm` with the drop-ins.

PYTHONPATH=tests/dropin python -m pytest -c /dev/null -p scikit_learn_suite \\
    --pyargs sklearn.svm.tests.test_svm sklearn.svm.tests.test_sparse

The drop-ins are used for few rows, too. The summary counts the fits of hssvm and scikit-learn.
"""

import logging
from collections import Counter

from deselected import DESELECTED

import hssvm
from hssvm.dropin import decision, fallback

fallback.MIN_ROWS, decision.MIN_VALUES = dict.fromkeys(fallback.MIN_ROWS, 0), 0
hssvm.patch_sklearn()


class Count(logging.Handler):
    def __init__(self):
        super().__init__()
        self.fits = Counter()

    def emit(self, record):
        self.fits[record.getMessage().split(": ", 1)[1]] += 1


COUNT = Count()
logger = logging.getLogger("hssvm.dropin")
logger.setLevel(logging.INFO)
logger.addHandler(COUNT)


def pytest_collection_modifyitems(config, items):
    dropped = [item for item in items if item.nodeid.split("::")[-1] in DESELECTED]
    config.hook.pytest_deselected(items=dropped)
    items[:] = [item for item in items if item not in dropped]


def pytest_terminal_summary(terminalreporter):
    for reason, count in COUNT.fits.most_common():
        terminalreporter.write_line(f"{count:5d} {reason}")
