"""
A table with categories
=======================

Train on the passenger list of the Titanic: a table with numbers, categories and missing values.
"""

# %%
# The table comes from OpenML. It has 1,309 passengers, of whom 500 survived.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import fetch_openml
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from hssvm import SVCCV

table, survived = fetch_openml(data_id=40945, parser="liac-arff", return_X_y=True)
numbers = ["age", "sibsp", "parch", "fare"]  # sibsp and parch count relatives on board
categories = ["pclass", "sex", "embarked"]
table = table[numbers + categories]
print("missing values:", table.isna().sum().to_dict())

# %%
# Distance-based kernels need numbers of similar size. Fill the gaps with the median and standardize
# the numbers, and give every category a column of zeros and ones. ``SVCCV`` chooses C and gamma. In
# a pipeline, all of this is learned from the training rows alone.

columns = make_column_transformer(
    (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
    (OneHotEncoder(handle_unknown="ignore"), categories),
)
model = make_pipeline(columns, SVCCV(random_state=0))
train, test, y_train, y_test = train_test_split(
    table, survived, test_size=0.4, stratify=survived, random_state=0
)
model.fit(train, y_train)
print("C {C:.3g}, gamma {gamma:.3g}".format(**model[-1].best_params_))
print(f"accuracy {model.score(test, y_test):.3f}")
print(f"share of the larger class {np.mean(y_test == '0'):.3f}")

# %%
# The pipeline accepts the table itself, so scikit-learn's tools for tables work with it. Shuffle
# one column of the test rows at a time, and measure how much accuracy this costs.

importance = permutation_importance(model, test, y_test, n_repeats=10, random_state=0)
order = importance.importances_mean.argsort()
loss, spread = importance.importances_mean[order], importance.importances_std[order]
figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.barh(table.columns[order], loss, xerr=spread, color="#5b8fb9", ecolor="0.3")
ax.set(xlabel="loss of accuracy if the column is shuffled")
ax.spines[["top", "right"]].set_visible(False)
