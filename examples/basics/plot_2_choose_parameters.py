"""
Choosing C and gamma
====================

Run a cross-validation over a grid of parameters.
"""

# %%
# The task is to tell even from odd handwritten digits, from 1,797 images of 8 x 8 pixels.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hssvm import SVCCV
from hssvm.plotting import ScoreGridDisplay

X, digit = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, digit % 2 == 0, random_state=0)

# %%
# ``SVCCV`` trains a model for every pair of values and fold. With more rows than here, it would
# start with a sample, and only the best pairs would be compared on all rows.

model = SVCCV(Cs=np.logspace(-1, 3, 5), gammas=np.logspace(-3, 0, 7), random_state=0).fit(
    X_train, y_train
)
print(model.best_params_)
print(f"cross-validation {model.best_score_:.4f}, test {model.score(X_test, y_test):.4f}")

# %%
# A frame marks the best pair, and dashed frames those within one standard error. If it lies on
# an edge of the map, extend the grid in that direction.

ScoreGridDisplay.from_estimator(model).plot()
