"""Warnings of hssvm; convergence has scikit-learn's `ConvergenceWarning`."""


class DataWarning(UserWarning):
    """The fit converged, but data and parameters do not go together; the text says what to do.

    Examples
    --------
    >>> import warnings
    >>> from hssvm.exceptions import DataWarning
    >>> warnings.simplefilter("error", DataWarning)  # or "ignore"
    """
