"""The drop-ins pass scikit-learn's estimator checks, as far as its own classes do."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hssvm import dropin

pytestmark = [
    pytest.mark.usefixtures("few_rows"),
    pytest.mark.filterwarnings("ignore"),
]

WEIGHTS = "to scikit-learn's classes, a weight is not the same as repeating a row"
FAILS = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
NU_FAILS = FAILS | {
    "check_class_weight_classifiers": "NuSVC ignores class_weight",
    "check_classifiers_one_label_sample_weights": "nu is infeasible",
}
"""What scikit-learn's own classes fail, too."""

MODELS = [dropin.SVC(), dropin.NuSVC(), dropin.SVR()]


@parametrize_with_checks(
    MODELS,
    expected_failed_checks=lambda model: NU_FAILS if isinstance(model, dropin.NuSVC) else FAILS,
)
def test_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
