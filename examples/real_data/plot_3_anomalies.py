"""
Anomalies in measurements of cells
==================================

Learn what benign tumors look like, and find malignant ones without having seen any.
"""

# %%
# Each row has 30 measurements of the cells of a breast tumor. Train on two thirds of the benign
# tumors. The malignant ones are for testing only, as if anomalies were too rare to learn from.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict, train_test_split

from hssvm import OneClassSVM

X, label = load_breast_cancer(return_X_y=True)
benign, malignant = X[label == 1], X[label == 0]
train, test = train_test_split(benign, test_size=1 / 3, random_state=0)

# %%
# ``nu`` is an upper bound on the share of training rows outside of the region, here 5 %. New benign
# rows can be outside more often: with a large gamma, the region fits the training rows closely.
# Measure these false alarms by cross-validation, which needs no anomalies, and use the largest
# gamma with at most 10 %.

model = OneClassSVM(nu=0.05, scaling="standard", random_state=0)
alarms = {}
for gamma in (0.001, 0.003, 0.01, 0.03, 0.1):
    model.set_params(gamma=gamma)
    alarms[gamma] = np.mean(cross_val_predict(model, train, cv=5) == -1)
    print(f"gamma {gamma:<5}: {alarms[gamma]:5.1%} false alarms")
model.set_params(gamma=max(gamma for gamma in alarms if alarms[gamma] <= 0.1)).fit(train)

# %%
# The model finds most malignant tumors. With 119 benign ones, a rate of false alarms is only known
# to within a few percent.

values = {"benign": model.decision_function(test), "malignant": model.decision_function(malignant)}
for name, v in values.items():
    print(f"{name:9s} {np.mean(v < 0):5.1%} of {v.size} are outside")

# %%
# ``predict`` rejects rows with a decision value below 0, but you can choose another threshold. The
# area under the ROC curve does not depend on it: it is the probability that a malignant tumor has a
# smaller decision value than a benign one.

both = np.concatenate(list(values.values()))
is_malignant = np.arange(both.size) >= len(test)
print(f"area under the ROC curve {roc_auc_score(is_malignant, -both):.3f}")

# %%
# Plot the decision values. Rows to the left of the line are rejected.

figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
edges = np.linspace(both.min(), both.max(), 40)
for name, color in {"benign": "C0", "malignant": "C3"}.items():
    ax.hist(values[name], edges, color=color, alpha=0.6, label=name)
ax.axvline(0, color="black")
ax.set(xlabel="decision value", ylabel="tumors")
ax.legend(frameon=False, loc="upper center")
