"""The importances of the features of models with learned scales."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class FeatureImportancesMixin:
    """Mixin with `feature_importances_`."""

    _feature_scales: NDArray[np.float64] | None
    """Learned scales of the features; None unless `scaling` is learned."""

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Learned scales of the features, divided by their sum, (p,).

        A feature that the targets do not depend on has about a thousandth of the largest value. All
        are equal if the scales gained nothing on held-out rows.
        """
        scales = vars(self).get("_feature_scales")
        if scales is None:
            raise AttributeError(
                "feature_importances_ is available for fitted models with scaling='learned' or "
                "'learned-quantiles'; for others, see feature_importances, a method that needs rows"
            )
        importances: NDArray[np.float64] = scales / scales.sum()
        return importances
