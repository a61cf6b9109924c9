"""Estimators that choose their budget by cross-validation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Sequence

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv

from lao_learn import _core
from lao_learn._budgeted import (
    Budgeted,
    BudgetedClassifier,
    BudgetedRegressor,
    ClassifierPart,
    RegressorPart,
    resolve_budget,
    resolve_seed,
)
from lao_learn._prices import take_money
from lao_learn._table import take


class Fold(NamedTuple):
    """What is kept of a fit within one of the budgets, without one of the folds."""

    place: int
    """The place of the budget among all."""
    error: float
    spent: dict[str, Any]
    coefficients: np.ndarray


class _Chosen(Budgeted):
    """The budget that cross-validation chooses.

    Parameters
    ----------
    budgets : sequence of int or float, or None
        The budgets to compare, as of the estimator without "CV"; None is 1/2, 1, 2 and 4 times its default.
        With `prices`, amounts of money, which have no default.
    prices, predict_budget
        As of the estimator without "CV".
    cv : int, splitter or None
        The folds, as everywhere in scikit-learn.
    rule : {"one-standard-error", "best"}
        The smallest budget whose error is within one standard error of the smallest error, or the budget of
        the smallest error.
    n_jobs : int or None
        The number of threads; the arithmetic does not hold Python's lock.
    method, most_attributes, level, always, half_life, holdout, passes, shuffle, missing, random_state
        As of the estimator without "CV".

    Attributes
    ----------
    budget_ : int or float
        The budget that was chosen; all attributes of the estimator without "CV" are those of a fit to all
        rows within this budget.
    cv_results_ : dict of arrays
        `budgets`, and for each `mean_error`, `standard_error`, `mean_attributes`, the values bought, and
        `mean_coefficients`, one row for each budget; with prices also `mean_money`. Means are over the folds.
        The error is the mean squared one; of classes with probabilities, the logarithmic loss, and else the
        share of errors.
    """

    _plain: type

    def __init__(
        self,
        budgets: Any = None,
        *,
        cv: Any = None,
        rule: str = "one-standard-error",
        n_jobs: int | None = None,
        prices: Any = None,
        predict_budget: float | None = None,
        method: str = "pursuit",
        most_attributes: int | None = None,
        level: float | None = None,
        always: Sequence[str] = (),
        half_life: float | None = None,
        holdout: float = 0.1,
        passes: int = 1,
        shuffle: bool = True,
        missing: str = "error",
        random_state: Any = None,
    ) -> None:
        self.budgets = budgets
        self.cv = cv
        self.rule = rule
        self.n_jobs = n_jobs
        self.prices = prices
        self.predict_budget = predict_budget
        self.method = method
        self.most_attributes = most_attributes
        self.level = level
        self.always = always
        self.half_life = half_life
        self.holdout = holdout
        self.passes = passes
        self.shuffle = shuffle
        self.missing = missing
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Chooses the budget, and learns from all rows within it. Rows are not copied for the folds. Ctrl-C
        ends all fits that run; unless the budget was chosen already, nothing is kept."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        if self.rule not in ("one-standard-error", "best"):
            raise ValueError(f'rule = {self.rule!r}: give "one-standard-error" or "best"')
        table = take(self, X, reset=True, missing=self.missing, least=2)
        labels, classes = self._labels(y)
        rows, dim = table.shape
        if len(labels) != rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: [{rows}, {len(labels)}]"
            )
        target = str(getattr(y, "name", None) or "y")
        prices = self._prices(target)
        budgets = self._budgets(dim) if prices is None else self._amounts(prices)
        seed = resolve_seed(self.random_state)
        folds = check_cv(self.cv, labels, classifier=is_classifier(self))
        places = np.arange(rows, dtype=np.uint32)
        jobs = [
            (place, train.astype(np.uint32), test.astype(np.uint32))
            for train, test in folds.split(places, labels)
            for place in range(len(budgets))
        ]

        def run(place: int, train: np.ndarray, test: np.ndarray) -> Fold:
            model = clone(self._model(budgets[place]))
            model.n_features_in_ = dim
            if hasattr(self, "feature_names_in_"):
                model.feature_names_in_ = self.feature_names_in_
            if hasattr(self, "classes_"):
                model.classes_ = self.classes_
            model._fit_table(
                table,
                labels,
                classes,
                rows=train,
                target=target,
                budget=budgets[place],
                prices=prices,
                holdout=0.0,
                seed=seed,
                stop=stop,
            )
            error = model._fold_error(model._predict_table(table, test), labels[test])
            # The learner of each fold would hold a product for each pair of attributes that it has watched.
            return Fold(place, error, model.spent_, np.atleast_2d(model.coef_)[0])

        stop = _core.Stop()
        # With one job, fits run in this thread, as `pdb` and profilers expect.
        if (jobs_at_once := effective_n_jobs(self.n_jobs)) == 1:
            done = [run(*job) for job in jobs]
        else:
            with ThreadPoolExecutor(jobs_at_once) as pool:
                try:
                    done = list(pool.map(run, *zip(*jobs)))
                except BaseException:
                    # Fits in other threads see no signals; those that have not begun never do.
                    stop.set()
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
        folds_of = [[fold for fold in done if fold.place == at] for at in range(len(budgets))]
        errors = np.array([[fold.error for fold in folds] for folds in folds_of])

        def bought(unit: str) -> np.ndarray:
            spent = [[fold.spent[unit] for fold in folds] for folds in folds_of]
            return np.array(spent, dtype=np.float64).mean(axis=1)

        mean = errors.mean(axis=1)
        doubt = errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1]) if errors.shape[1] > 1 else 0.0 * mean
        best = int(np.argmin(mean))
        if self.rule == "one-standard-error":
            best = int(np.flatnonzero(mean <= mean[best] + doubt[best])[0])
        self.cv_results_ = {
            "budgets": np.array(budgets),
            "mean_error": mean,
            "standard_error": doubt,
            "mean_attributes": bought("attributes"),
            "mean_coefficients": np.array(
                [np.mean([fold.coefficients for fold in folds], axis=0) for folds in folds_of]
            ),
        }
        if prices is not None:
            self.cv_results_["mean_money"] = bought("money")
        self.budget_ = budgets[best]
        self._fit_table(
            table,
            labels,
            classes,
            rows=None,
            target=target,
            budget=self.budget_,
            prices=prices,
            holdout=self.holdout,
            seed=seed,
        )
        return self

    def _budgets(self, dim: int) -> list[int]:
        """Returns the budgets to compare, ascending, each once."""
        wanted: Sequence[Any]
        if self.budgets is None:
            middle = resolve_budget(None, dim)
            wanted = [max(1, middle // 2), middle, min(dim, 2 * middle), min(dim, 4 * middle)]
        else:
            wanted = list(self.budgets)
            if not wanted:
                raise ValueError("budgets is empty; give at least one")
        return sorted({resolve_budget(budget, dim) for budget in wanted})

    def _amounts(self, prices: _core.Prices) -> list[float]:
        """Returns the amounts of money to compare, ascending, each once."""
        amounts = [None] if self.budgets is None else list(self.budgets)
        if not amounts:
            raise ValueError("budgets is empty; give at least one")
        return sorted({take_money("budgets", amount, prices) for amount in amounts})

    def _model(self, budget: int | float) -> Any:
        return self._plain(budget, missing=self.missing, **self._choices())


class BudgetedRegressorCV(RegressorPart, _Chosen):
    """`BudgetedRegressor` whose budget is chosen by cross-validation."""

    __doc__ = (__doc__ or "") + "\n\n" + (_Chosen.__doc__ or "")
    _plain = BudgetedRegressor


class BudgetedClassifierCV(ClassifierPart, _Chosen):
    """`BudgetedClassifier` whose budget is chosen by cross-validation."""

    __doc__ = (__doc__ or "") + "\n\n" + (_Chosen.__doc__ or "")
    _plain = BudgetedClassifier
