"""
The error against the values bought
===================================

Diabetes data have ten measurements of each patient. A model within a budget of four looks at four of them, in
training and in use.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from lao_learn import BudgetedRegressor, plot

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
known, fresh, y_known, y_fresh = train_test_split(X, y, random_state=0)
model = BudgetedRegressor(budget=4, random_state=1).fit(known, y_known)

# %%
# Ordinary least squares on all ten, for comparison: at full information it wins, and costs more than twice.
full = LinearRegression().fit(known, y_known)
print(f"all 10 measurements: R2 {full.score(fresh, y_fresh):.2f}, {known.size} values bought")
print(
    f"4 measurements:      R2 {model.score(fresh, y_fresh):.2f}, {model.spent_['attributes']} values bought"
)
print("The model looks at", ", ".join(model.get_feature_names_out()))

# %%
figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
plot.error_curve(model, ax=axes[0, 0])
plot.coefficients(model, ax=axes[0, 1])
plot.evidence(model, ax=axes[1, 0])
plot.spending(model, ax=axes[1, 1])
plt.show()
