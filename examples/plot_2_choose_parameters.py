"""
Choosing C and gamma
====================

Run a cross-validation over a grid without refitting for every fold and value of C.
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
# ``SVCCV`` compresses the kernel matrix once for every gamma (up to 2,000 rows, as here, it
# keeps the exact matrix). All values of C and all folds are columns of the same problem:
# to hold out a row, ``SVCCV`` fixes its coefficient at 0.

model = SVCCV(Cs=np.logspace(-1, 3, 5), gammas=np.logspace(-3, 0, 7), random_state=0).fit(
    X_train, y_train
)
print(model.best_params_)
print(f"cross-validation {model.best_score_:.4f}, test {model.score(X_test, y_test):.4f}")

# %%
# A frame marks the best pair. If it lies on an edge of the map, extend the grid in that
# direction.

ScoreGridDisplay.from_estimator(model).plot()
