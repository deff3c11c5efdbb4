"""What `explain` returns: Shapley values, and what plots need beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Explanation:
    """Shapley values of some rows; see `hssvm.SVC.explain`.

    Attributes
    ----------
    values : (m, p) array, or (m, p, k) if the model has k > 1 outputs
        How much each feature adds to each output of each row.
    base_values : (m,) or (m, k) array
        Mean output of the background. A base value and the values of its row sum to the output.
        The rows of approximations, which use the models of different leaves, have different ones.
    data : (m, p) array or CSR matrix
        The features. With groups, those of several columns have NaN; see `with_data`.
    feature_names : list of str
    output_names : list of str or None
        Names of the outputs, None if there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import SVR
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    >>> model = SVR(C=100, epsilon=0.01, random_state=0).fit(X, X[:, 0] - 2 * X[:, 1])
    >>> explanation = model.explain([[0.5, 0.5, 0.5]], background=[[0.0, 0.0, 0.0]])
    >>> explanation.values.round(1) + 0.0
    array([[ 0.5, -1. ,  0. ]])
    >>> explanation.feature_names
    ['feature 0', 'feature 1', 'feature 2']
    """

    values: NDArray[np.float64]
    base_values: NDArray[np.float64]
    data: Any
    feature_names: list[str]
    output_names: list[str] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Explanation:
        """Select rows: by a slice, indices or a mask; an int is a slice of one row."""
        if isinstance(rows, int | np.integer):
            rows = slice(rows, None if rows == -1 else rows + 1)
        return replace(
            self,
            values=self.values[rows],
            base_values=self.base_values[rows],
            data=self.data[rows],
        )

    @property
    def importances(self) -> NDArray[np.float64]:
        """Mean absolute value of each feature, (p,), summed over the outputs."""
        means: NDArray[np.float64] = np.abs(self.values).mean(axis=0)
        return means if means.ndim == 1 else means.sum(axis=1)

    def output(self, name: Any) -> Explanation:
        """Return the explanation of one of several outputs.

        Parameters
        ----------
        name : str or int
            One of `output_names`, or its index.

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import SVC
        >>> X = np.random.default_rng(0).standard_normal((200, 2))
        >>> model = SVC(random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
        >>> model.explain(X[:4]).output(1).values.shape
        (4, 2)
        """
        if self.output_names is None:
            raise ValueError("the model has a single output, which this explanation is for")
        if str(name) in self.output_names:
            index = self.output_names.index(str(name))
        elif isinstance(name, int | np.integer) and 0 <= name < len(self.output_names):
            index = int(name)
        else:
            raise ValueError(f"{name!r} is not one of the outputs {', '.join(self.output_names)}")
        values, base = self.values[:, :, index], self.base_values[:, index]
        return replace(self, values=values, base_values=base, output_names=None)

    def with_data(self, data: Any) -> Explanation:
        """Return the explanation with other features beside the values, such as a data frame.

        Parameters
        ----------
        data : (m, p) array or frame
            The columns of a frame are matched by name.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.pipeline import make_pipeline
        >>> from hssvm import SVC
        >>> from hssvm.tables import TableEncoder
        >>> frame = pd.DataFrame({"city": ["Oslo", "Rome", "Bern"] * 9, "rooms": [1, 2, 3] * 9})
        >>> model = make_pipeline(TableEncoder(), SVC()).fit(frame, frame["city"] == "Rome")
        >>> encoder, classifier = model
        >>> X = encoder.transform(frame[:2])
        >>> explanation = classifier.explain(X, groups=encoder.output_columns_)
        >>> explanation.with_data(frame[:2]).data
        array([['Oslo', 1],
               ['Rome', 2]], dtype=object)
        """
        if hasattr(data, "columns"):
            missing = [name for name in self.feature_names if name not in list(data.columns)]
            if missing:
                raise ValueError(f"data has no column {missing[0]!r}, which the explanation has")
            data = data[self.feature_names]
        data = np.asarray(data)
        if data.shape != self.values.shape[:2]:
            raise ValueError(
                f"data has the shape {data.shape}, and the values have {self.values.shape[:2]}; "
                "pass the rows that are explained"
            )
        return replace(self, data=data)

    def to_shap(self) -> Any:
        """Return a `shap.Explanation`, which ``shap.plots`` accept.

        It needs the package shap. For a plot of several outputs, select one first: `output`.
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError("to_shap needs shap: pip install shap") from error
        data = self.data.toarray() if scipy.sparse.issparse(self.data) else self.data
        return shap.Explanation(
            self.values,
            self.base_values,
            data,
            feature_names=self.feature_names,
            output_names=self.output_names,
        )
