"""
Choosing C and gamma
====================

Cross-validation over a grid, without a refit for every fold and value of C.
"""

# %%
# Handwritten digits, 1,797 images of 8 x 8 points; is it an even digit?

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hssvm import SVCCV
from hssvm.plotting import ScoreGridDisplay

X, digit = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, digit % 2 == 0, random_state=0)

# %%
# The kernel matrix is compressed once for every gamma (here, with fewer than 2,000 rows, it is kept
# as it is). All values of C and all folds are columns of the same solves: a row that a fold holds
# out is one whose coefficient must stay 0.

model = SVCCV(Cs=np.logspace(-1, 3, 5), gammas=np.logspace(-3, 0, 7), random_state=0).fit(
    X_train, y_train
)
print(model.best_params_)
print(f"cross-validation {model.best_score_:.4f}, test {model.score(X_test, y_test):.4f}")

# %%
# If the best pair, in the frame, lies on an edge of the map, the grid should go on there.

ScoreGridDisplay.from_estimator(model).plot()
