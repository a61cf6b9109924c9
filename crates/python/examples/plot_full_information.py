"""
When all attributes are free
============================

If every value is at hand, methods at full information need fewer rows: hard thresholding here, and the Lasso
of scikit-learn. A budget is worth its price only where values are bought.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV

from lao_learn import BudgetedRegressor, HardThresholdingRegressor

rng = np.random.default_rng(0)
weights = np.zeros(300)
weights[:6] = [3.0, -2.0, 2.0, 1.0, -1.0, 1.0]
fresh = rng.standard_normal((5000, 300))
sizes = [100, 200, 400, 800, 1600, 3200]
models = {
    "hard thresholding, all values": HardThresholdingRegressor(6),
    "Lasso, all values": LassoCV(cv=3, max_iter=5000),
    "budget of 30 of 300 values": BudgetedRegressor(30, random_state=1),
}
errors = {name: [] for name in models}
for rows in sizes:
    X = rng.standard_normal((rows, 300))
    y = X @ weights + rng.standard_normal(rows)
    for name, model in models.items():
        error = np.mean((model.fit(X, y).predict(fresh) - fresh @ weights) ** 2)
        errors[name].append(error)
        print(f"{rows:5d} rows, {name}: excess error {error:.4f}")

# %%
figure, ax = plt.subplots(layout="constrained")
for name, values in errors.items():
    ax.loglog(sizes, values, marker="o", label=name)
ax.set(xlabel="rows", ylabel="excess error")
ax.legend()
plt.show()
