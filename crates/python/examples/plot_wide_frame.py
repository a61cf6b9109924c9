"""
A wide frame
============

Of a frame with two thousand columns a fit fetches only the columns that it buys, and a prediction only those
of the model. With pandas, polars and pyarrow nothing is copied.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lao_learn import BudgetedClassifier, plot

rng = np.random.default_rng(0)
columns = rng.standard_normal((2000, 8000))
X = pd.DataFrame(columns.T, columns=[f"gene{j}" for j in range(2000)], copy=False)
odds = 2.0 * X["gene17"] - 1.5 * X["gene1400"] + 1.0
y = np.where(rng.random(8000) < 1.0 / (1.0 + np.exp(-odds)), "yes", "no")

model = BudgetedClassifier(budget=50, random_state=1).fit(X, y)
print("the model:", list(model.get_feature_names_out()))
print(f"{model.spent_['attributes']} of {X.size} values bought; {model.holdout_['accuracy']:.2f} correct")
print("probabilities of the first rows:", model.predict_proba(X.head(3))[:, 1].round(2))

# %%
plot.evidence(model, most=12)
plt.show()
