"""Compares lao_learn with estimators of scikit-learn, and writes the page README.md beside this file.

    python benchmarks/compare.py                # two minutes at most; prints the page
    python benchmarks/compare.py --write        # replaces README.md
    python benchmarks/compare.py --splits 1     # a trial
"""

import argparse
import gzip
import os
import textwrap
import time
import warnings
from pathlib import Path

# One thread each. It must be set before numpy is imported.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import sklearn
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import (
    LassoCV,
    LinearRegression,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
)
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lao_learn
from lao_learn import BudgetedRegressor, BudgetedRegressorCV

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "data"
FOLDS = 5
SPLITS = 20

INTRODUCTION = """\
# Comparison with scikit-learn

`python benchmarks/compare.py --write` wrote this page. It compares estimators within a budget with estimators
of scikit-learn that read everything:

- `LassoCV`, on standardized columns;
- `OrthogonalMatchingPursuitCV`, on standardized columns, with up to all attributes;
- `SelectKBest` with `f_regression`, and `LinearRegression` on the attributes that it selects, whose number is
  chosen by `GridSearchCV` among 1, 2, 3, 5, 8, 12, 20, 32, 50 and all.

Two lines buy *rows for the same price*: as many complete rows, drawn at random, as can be bought for what
`BudgetedRegressor` of the first line spent. One is `LassoCV`. The other is `OrthogonalMatchingPursuit` with
as many attributes as the model of the first line, so that a prediction reads as many.

All cross-validation has five folds. The *error* is the mean squared error on a quarter of the rows, which no
estimator sees in training, divided by the error of predicting the mean label of the training rows: 0 is
perfect, 1 is useless. It is the mean over SPLITS random splits, with its standard error over the splits; rows
of different splits overlap, so that this standard error is rather too small. *Read in training* counts the
values of attributes that the estimator looks at, each row once, however often the estimator goes through it
again. *Read per prediction* is the mean number of attributes whose coefficient is not 0. *Seconds* is the
median time of a fit, on one thread.
"""

UNFAIR = """\
## What is unfair

- The estimators of scikit-learn may look at every value, and an error that is lower for this reason is no
  merit of the method. The comparison at equal price is that with rows for the same price.
- `OrthogonalMatchingPursuit` is told the number of attributes, which the first line had to find.
- At equal price, rows and labels are taken to be free: a budget per row uses all rows and all labels. If a
  label costs more than the attributes, few complete rows are the better purchase.
- The budgets of lao_learn were chosen before any result was seen: half of the attributes (diabetes), those of
  the book (prices) and of the scenario `digits`, a tenth (chain). Another budget gives another error.
- `BudgetedRegressorCV` buys values for each fold and each budget that it compares. The table counts all of
  these purchases, although some are of the same value, so that the sum may exceed the whole table. The
  estimators of scikit-learn use the values that they have for all folds.
- The estimators of scikit-learn minimize the error, and nothing asks them to read few attributes. `LassoCV`
  with a larger penalty than the best one reads fewer.
- lao_learn learns from each row once, and an attribute must show a significant effect before it enters the
  model. On a small table this is a handicap.
- Reading a value from memory costs nothing. The seconds say what the arithmetic takes, and depend on the
  machine; where values are bought, the price decides. `SelectKBest` is fitted for up to ten numbers of
  attributes.
- The label of the chain is a linear function of five attributes, plus noise, as the theory of all these
  methods assumes. The digit as a number is a label that no linear model fits well.
"""

PRICES = {"age": 0.0, "sex": 0.0, "bmi": 1.0, "bp": 2.0, "glu": 3.0}
PRICES.update(dict.fromkeys(["tc", "ldl", "hdl", "tch", "ltg"], (8.0, "lipids")))


def shipped(name):
    """Returns the names of the attributes, the attributes and the labels of a table of the repository."""
    with gzip.open(DATA / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",")
    return names[:-1], table[:, :-1], table[:, -1]


def chain():
    """Returns 4,000 rows of 200 attributes, each of which is correlated with its neighbors; five matter."""
    rng = np.random.default_rng(2026)
    X = rng.standard_normal((4000, 200))
    for j in range(1, 200):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    theta = np.zeros(200)
    theta[[10, 50, 90, 130, 170]] = [2.0, -1.5, 1.0, -1.0, 0.5]
    y = X @ theta + 2.0 * rng.standard_normal(4000)
    return [f"x{j}" for j in range(200)], X, y


class Price:
    """What attributes cost: each 1, or by panels."""

    def __init__(self, names, prices):
        pairs = [prices[name] if prices else 1.0 for name in names]
        pairs = [pair if isinstance(pair, tuple) else (pair, name) for pair, name in zip(pairs, names)]
        self.prices, self.panels = [price for price, _ in pairs], [panel for _, panel in pairs]

    def of(self, attributes):
        return sum({self.panels[j]: self.prices[j] for j in attributes}.values())


def lasso():
    return make_pipeline(StandardScaler(), LassoCV(cv=FOLDS))


def pursuit(dim):
    return make_pipeline(StandardScaler(), OrthogonalMatchingPursuitCV(max_iter=dim, cv=FOLDS))


def select(dim):
    numbers = [k for k in [1, 2, 3, 5, 8, 12, 20, 32, 50] if k < dim] + ["all"]
    steps = make_pipeline(SelectKBest(f_regression), LinearRegression())
    return GridSearchCV(steps, {"selectkbest__k": numbers}, cv=FOLDS, scoring="neg_mean_squared_error")


def support(model):
    """Returns the attributes that a fitted model reads."""
    if isinstance(model, GridSearchCV):
        return np.flatnonzero(model.best_estimator_[0].get_support())
    if hasattr(model, "support_"):
        return model.support_
    return np.flatnonzero(model[-1].coef_)


def of_all_folds(model):
    """Returns what cross-validation and the last fit bought together."""
    unit = "money" if "mean_money" in model.cv_results_ else "attributes"
    return FOLDS * model.cv_results_[f"mean_{unit}"].sum() + model.spent_[unit]


def lines(names, X, budget, budgets, prices):
    """Returns for each line of a table its name, and a function that fits it to rows: it returns the model
    and what training cost. `first` is what the first line returned."""
    dim, price = X.shape[1], Price(names, prices)
    in_order = [prices[name] for name in names] if prices else None
    unit = "money" if prices else "attributes"
    whole = price.of(range(dim))

    def budgeted(X, y, seed, first):
        model = BudgetedRegressor(budget, prices=in_order, holdout=0.0, random_state=seed).fit(X, y)
        return model, model.spent_[unit]

    def chosen(X, y, seed, first):
        model = BudgetedRegressorCV(budgets, prices=in_order, cv=FOLDS, holdout=0.0, random_state=seed)
        return model, of_all_folds(model.fit(X, y))

    def on_all_rows(make):
        return lambda X, y, seed, first: (make().fit(X, y), whole * len(X))

    def same_price(X, y, seed, first, make=lambda first: lasso()):
        rows = np.random.default_rng(seed).permutation(len(X))[: int(first[1] / whole)]
        return make(first[0]).fit(X[rows], y[rows]), whole * len(rows)

    def same_price_and_attributes(X, y, seed, first):
        def make(model):
            few = OrthogonalMatchingPursuit(n_nonzero_coefs=max(1, len(model.support_)))
            return make_pipeline(StandardScaler(), few)

        return same_price(X, y, seed, first, make)

    compared = ", ".join(f"{one:g}" for one in budgets)
    return [
        (f"lao_learn `BudgetedRegressor({budget})`", budgeted),
        (f"lao_learn `BudgetedRegressorCV`, of {compared}", chosen),
        ("`LassoCV`, rows for the same price", same_price),
        ("`OrthogonalMatchingPursuit`, the same, as many attributes", same_price_and_attributes),
        ("`LassoCV`", on_all_rows(lasso)),
        ("`OrthogonalMatchingPursuitCV`", on_all_rows(lambda: pursuit(dim))),
        ("`SelectKBest`, `LinearRegression`", on_all_rows(lambda: select(dim))),
    ]


def table(names, X, y, *, budget, budgets, splits, prices=None):
    """Returns a comparison as a table of Markdown."""
    price = Price(names, prices)
    methods = lines(names, X, budget, budgets, prices)
    results = {name: [] for name, _ in methods}
    for split in range(splits):
        X_known, X_fresh, y_known, y_fresh = train_test_split(X, y, test_size=0.25, random_state=split)
        useless = np.mean((y_fresh - y_known.mean()) ** 2)
        first = None
        for name, fit in methods:
            begin = time.perf_counter()
            model, cost = fit(X_known, y_known, split, first)
            seconds = time.perf_counter() - begin
            first = first or (model, cost)
            error = np.mean((model.predict(X_fresh) - y_fresh) ** 2) / useless
            results[name].append([error, cost, price.of(support(model)), seconds])
    verb = "paid" if prices else "read"
    (ours, _), _, (same, _) = methods[:3]
    text = f"| estimator | error | {verb} in training | {verb} per prediction | seconds |\n"
    text += "|---|---:|---:|---:|---:|\n"
    for name, rows in results.items():
        error, cost, reads, seconds = np.array(rows).T
        doubt = f" +- {error.std(ddof=1) / np.sqrt(splits):.3f}" if splits > 1 else ""
        text += (
            f"| {name} | {error.mean():.3f}{doubt} | {cost.mean():,.0f} | {reads.mean():.1f} | "
            f"{np.median(seconds):.3f} |\n"
        )
    return text + "\n" + verdict(np.array(results[ours]), np.array(results[same]), verb)


def verdict(ours, same, verb):
    """Returns sentences on the first line of a table, and on `LassoCV` on rows for the same price."""
    if len(ours) == 1:
        return "One split decides nothing.\n"
    more = ours[:, 0] - same[:, 0]
    doubt = more.std(ddof=1) / np.sqrt(len(more))
    who = "complete rows do better" if more.mean() > 0.0 else "the budget per row does better"
    if abs(more.mean()) < 2.0 * doubt:
        who = "neither way is better by two standard errors"
    reads = "costs" if verb == "paid" else "reads"
    text = (
        f"For the same price in training, {who}: the error of `BudgetedRegressor` less that of `LassoCV` on "
        f"rows for the same price is {more.mean():+.3f} +- {doubt:.3f}, the mean over the splits. A "
        f"prediction {reads} {ours[:, 2].mean():.1f} instead of {same[:, 2].mean():.1f}."
    )
    return textwrap.fill(text, 110) + "\n"


def page(splits):
    """Returns the page."""
    parts = [INTRODUCTION.replace("SPLITS", str(splits))]
    names, X, y = shipped("diabetes")
    parts.append("## Diabetes: 442 patients, 10 attributes\n")
    parts.append(table(names, X, y, budget=5, budgets=[3, 5, 8], splits=splits))
    parts.append(
        "## Diabetes with prices\n\n"
        "`age` and `sex` are free, `bmi` costs 1, `bp` 2, `glu` 3, and `tc`, `ldl`, `hdl`, `tch` and `ltg`\n"
        "cost 8 together: 14 for all. The estimators of scikit-learn know no prices.\n"
    )
    parts.append(table(names, X, y, budget=11, budgets=[6, 11, 14], splits=splits, prices=PRICES))
    names, X, y = shipped("digits")
    parts.append("## Digits: 1,797 images of 64 pixels\n\nThe label is the digit as a number.\n")
    parts.append(table(names, X, y, budget=16, budgets=[8, 16, 32], splits=splits))
    names, X, y = chain()
    parts.append(
        "## Chain: 4,000 synthetic rows of 200 attributes\n\n"
        "Neighbors have correlation 0.5. Five attributes matter; the rest of the label is noise.\n"
    )
    parts.append(table(names, X, y, budget=20, budgets=[10, 20, 40], splits=splits))
    parts.append(UNFAIR)
    versions = [("lao_learn", lao_learn), ("scikit-learn", sklearn), ("numpy", np)]
    versions = ", ".join(f"{name} {module.__version__}" for name, module in versions)
    parts.append(f"Versions: {versions}.\n")
    return "\n".join(parts)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--splits", type=int, default=SPLITS, help="the number of splits of every table")
    arguments.add_argument("--write", action="store_true", help="replace README.md beside this file")
    chosen = arguments.parse_args()
    if chosen.splits < 1:
        arguments.error(f"--splits {chosen.splits}: give at least 1")
    with warnings.catch_warnings():
        # What is never bought, and paths that do not converge, show in the errors.
        warnings.simplefilter("ignore")
        text = page(chosen.splits)
    if chosen.write:
        (HERE / "README.md").write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
