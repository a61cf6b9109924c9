"""Estimators that choose their budget by cross-validation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from inspect import Parameter, Signature, signature
from typing import Any, NamedTuple, Sequence

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv

from lao_learn import _core
from lao_learn._budgeted import (
    CHOICES,
    WithBudget,
    BudgetedClassifier,
    BudgetedRegressor,
    ClassifierPart,
    RegressorPart,
    resolve_budget,
    resolve_seed,
)
from lao_learn._prices import take_money
from lao_learn._table import check_rows, take


# The parameters that the estimators without "CV" have, too.
_SHARED = [
    parameter
    for parameter in signature(BudgetedRegressor.__init__).parameters.values()
    if parameter.name in (*CHOICES, "prices", "missing", "random_state")
]


class Fold(NamedTuple):
    """What is kept of a fit within one of the budgets, without one of the folds."""

    place: int
    """The place of the budget among all."""
    error: float
    spent: dict[str, Any]
    coefficients: np.ndarray


class _Chosen(WithBudget):
    """Within the budget that cross-validation chooses.

    Parameters
    ----------
    budgets : sequence of int or float, or None
        The budgets to compare, as of the estimator without "CV"; None is 1/2, 1, 2 and 4 times its default.
        With `prices`, amounts of money, which have no default.
    cv : int, splitter or None
        The folds, as everywhere in scikit-learn.
    rule : {"one-standard-error", "best"}
        The smallest budget whose error is within one standard error of the smallest error, or the budget of
        the smallest error.
    n_jobs : int or None
        The number of threads; the arithmetic does not hold Python's lock.
    %(shared)s : as there
        Those of the estimator without "CV".

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
        **options: Any,
    ) -> None:
        self.budgets = budgets
        self.cv = cv
        self.rule = rule
        self.n_jobs = n_jobs
        for option in _SHARED:
            setattr(self, option.name, options.pop(option.name, option.default))
        if options:
            raise TypeError(f"{type(self).__name__} has no parameter {next(iter(options))!r}")

    def fit(self, X: Any, y: Any) -> Any:
        """Choose the budget, and learn from all rows within it.

        Rows are not copied for the folds. Ctrl-C ends all fits that run; unless the budget was chosen
        already,
        nothing is kept.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows, with one column for each attribute.
        y : array
            The label of each row: a number, or one of two classes.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        if self.rule not in ("one-standard-error", "best"):
            raise ValueError(f'rule = {self.rule!r}: give "one-standard-error" or "best"')
        table = take(self, X, reset=True, missing=self.missing, least=2)
        labels, classes = self._labels(y)
        check_rows(table, labels)
        rows, dim = table.shape
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


# scikit-learn, editors and `help` see each parameter by its name.
_own = [
    parameter
    for parameter in signature(_Chosen.__init__).parameters.values()
    if parameter.kind is not Parameter.VAR_KEYWORD
]
setattr(_Chosen.__init__, "__signature__", Signature([*_own, *_SHARED]))


_DOCUMENTED = (_Chosen.__doc__ or "") % {"shared": ", ".join(parameter.name for parameter in _SHARED)}


class BudgetedRegressorCV(RegressorPart, _Chosen):
    """`BudgetedRegressor` whose budget is chosen by cross-validation."""

    __doc__ = (__doc__ or "") + "\n\n    " + _DOCUMENTED
    _plain = BudgetedRegressor


class BudgetedClassifierCV(ClassifierPart, _Chosen):
    """`BudgetedClassifier` whose budget is chosen by cross-validation."""

    __doc__ = (__doc__ or "") + "\n\n    " + _DOCUMENTED
    _plain = BudgetedClassifier
