"""
Choosing the budget by cross-validation
=======================================

How many attributes of each example are worth their price? The smallest budget whose error is within one
standard error of the best is often far below the number of attributes.
"""

import matplotlib.pyplot as plt
import numpy as np

from lao_learn import BudgetedRegressorCV, plot

rng = np.random.default_rng(0)
X = rng.standard_normal((6000, 200))
y = X[:, :5] @ [2.0, -1.5, 1.0, 1.0, -0.5] + rng.standard_normal(6000)

model = BudgetedRegressorCV([2, 4, 8, 16, 32, 64], random_state=1, n_jobs=2).fit(X, y)
results = model.cv_results_
for budget, error, bought in zip(results["budgets"], results["mean_error"], results["mean_attributes"]):
    print(f"budget {budget:3d}: error {error:.3f}, {bought:9.0f} values bought")
print("chosen:", model.budget_)

# %%
figure, (ax, below) = plt.subplots(2, sharex=True, layout="constrained")
ax.errorbar(results["budgets"], results["mean_error"], yerr=results["standard_error"], marker="o", capsize=3)
ax.axvline(model.budget_, color="0.6", linestyle="dashed")
ax.set(ylabel="mean squared error")
plot.path(model, most=5, ax=below)
plt.show()
