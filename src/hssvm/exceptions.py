"""Warnings of hssvm; convergence problems use scikit-learn's `ConvergenceWarning`."""


class DataWarning(UserWarning):
    """The fit converged, but the parameters do not suit the data; the message says what to do.

    Examples
    --------
    >>> import warnings
    >>> from hssvm.exceptions import DataWarning
    >>> warnings.simplefilter("error", DataWarning)  # or "ignore"
    """
