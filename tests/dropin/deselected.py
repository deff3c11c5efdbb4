"""Tests of scikit-learn that a drop-in cannot pass."""

SAME_TO_6_DIGITS = (
    "compares a fit of hssvm with one that falls back, to six digits; both are exact to tol only"
)
DESELECTED = {
    "test_precomputed": SAME_TO_6_DIGITS,
    "test_svc_clone_with_callable_kernel": SAME_TO_6_DIGITS,
    "test_svm_with_infinite_C[42-inf0-SVR-make_regression]": SAME_TO_6_DIGITS,
    "test_svm_with_infinite_C[42-inf1-SVR-make_regression]": SAME_TO_6_DIGITS,
}
"""Tests that a drop-in cannot pass, and why."""
