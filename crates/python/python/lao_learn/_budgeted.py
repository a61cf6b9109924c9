"""Estimators that buy few attributes of each example."""

from __future__ import annotations

import json
import math
import numbers
import warnings
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted

from lao_learn import _core
from lao_learn._prices import by_column, take_money, take_prices
from lao_learn._table import check_rows, take, take_weights


def resolve_budget(budget: Any, dim: int) -> int:
    """Returns the number of attributes that may be bought of an example."""
    if budget is None:
        # The learner keeps a sum for each pair of an attribute and one that is bought.
        return min(dim, max(10, math.ceil(dim / 10)), max(1, 2**27 // dim))
    known = not isinstance(budget, bool)
    if known and isinstance(budget, (int, np.integer)):
        if budget < 1:
            raise ValueError(f"budget = {budget}: give at least one attribute per example")
        if budget > dim:
            warnings.warn(
                f"budget={budget} is greater than n_features={dim}. All the features will be bought.",
                UserWarning,
                stacklevel=4,
            )
        return min(int(budget), dim)
    if known and isinstance(budget, numbers.Real) and 0.0 < float(budget) <= 1.0:
        return max(1, math.ceil(float(budget) * dim))
    raise ValueError(
        f"budget = {budget!r}: give a number of attributes, a share of them above 0 and at most 1.0, or None"
    )


def resolve_seed(random_state: Any) -> int:
    """Returns the seed: a whole number stands for itself."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        seed = int(random_state)
        if not 0 <= seed < 2**64:
            raise ValueError(f"random_state = {seed}: give a number from 0 to 2**64 - 1")
        return seed
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


# The choices of a fit beside budget and seed, each a parameter of every estimator.
CHOICES = tuple(name for name, *_ in _core.OPTIONS if name != "random_state")


_STORED = (_core.Learner, _core.Model)


def _keep_parameters(estimator: Any, given: dict[str, Any]) -> None:
    """Keeps the parameters of a constructor, which are its local variables."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


class WithBudget(SelectorMixin, BaseEstimator):
    """What the estimators with a budget have in common."""

    # Set by the constructors of the estimators.
    prices: Any
    predict_budget: float | None
    method: str
    shape: str
    holdout: float
    missing: str
    random_state: Any

    # Set by `fit`.
    n_features_in_: int
    coef_: np.ndarray
    intercept_: Any
    standard_error_: np.ndarray
    interval_: np.ndarray
    plan_: dict[str, Any]
    _parts: int

    # Whether what is bought of the attributes of the model is kept, in `_bought`.
    _keeps = False
    # Whether rows come in parts, so that their number is not known.
    _streams = False
    _bought: np.ndarray | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "skip"
        tags.target_tags.required = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        # Objects of Rust by what restores them, for formats other than pickle's.
        state = super().__getstate__()
        held = {name: value for name, value in state.items() if isinstance(value, _STORED)}
        state = {name: value for name, value in state.items() if name not in held}
        state["_stored"] = {
            name: [type(value).__name__, *value.__reduce__()[1]] for name, value in held.items()
        }
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        for name, (kind, *arguments) in state.pop("_stored", {}).items():
            state[name] = getattr(_core, kind).restore(*arguments)
        super().__setstate__(state)

    def _labels(self, y: Any, *, classes: Any = None) -> tuple[np.ndarray, tuple[str, str] | None]:
        """Checks the labels; returns them as numbers, and the names of the two classes if they are
        classes."""
        raise NotImplementedError

    def _learn(
        self,
        X: Any,
        y: Any,
        *,
        budget: Any,
        sample_weight: Any = None,
        start: Any = None,
        holdout: float | None = None,
        classes: Any = None,
        reset: bool = True,
    ) -> None:
        """Learns, and keeps what came of it."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        # A first part of a stream may have a single row; a table may not.
        table = take(self, X, reset=reset, missing=self.missing, least=2 if holdout is None else 1)
        target = str(getattr(y, "name", None) or "y")
        labels, names_of_classes = self._labels(y, classes=classes)
        check_rows(table, labels)
        seed = resolve_seed(self.random_state)
        prices = self._prices(target)
        if prices is None:
            budget = resolve_budget(budget, self.n_features_in_)
        else:
            budget = take_money("budget", budget, prices)
        if start is not None:
            # How rows are passed over is no matter of the learner, and its shape was decided at its
            # beginning.
            of_rows = ("holdout", "passes", "shuffle", "shape")
            began_with = {name: now for name, now in self._choices().items() if name not in of_rows}
            for name, now in {"budget": budget, **began_with}.items():
                if self.plan_[name] != now:
                    raise ValueError(
                        f"{name} = {now!r}: the learner began with {self.plan_[name]!r}, and goes on with "
                        "it; fit anew, without a warm start"
                    )
            if self.plan_["prices"] != by_column(prices):
                raise ValueError(
                    "prices: the learner began with others, which are in plan_, and goes on with them; fit "
                    "anew, without a warm start"
                )
            self._parts += 1
            # Each part has draws of its own.
            seed = (seed + 0x9E3779B97F4A7C15 * self._parts) % 2**64
        else:
            self._parts = 0
        self._fit_table(
            table,
            labels,
            names_of_classes,
            rows=None,
            weights=take_weights(sample_weight, table),
            target=target,
            budget=budget,
            prices=prices,
            holdout=self.holdout if holdout is None else holdout,
            seed=seed,
            start=start,
        )

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{j}" for j in range(self.n_features_in_)]
        # The command `lao` reads names without the blanks around them.
        stripped = [str(name).strip() for name in names]
        different = len(set(stripped)) == len(stripped) and all(stripped)
        return stripped if different else [str(name) for name in names]

    def _prices(self, target: str) -> _core.Prices | None:
        """Returns the prices of the columns; None if the budget is a number of attributes."""
        named = getattr(self, "feature_names_in_", None) is not None
        prices = take_prices(self.prices, self._names(), target, named=named)
        if self.predict_budget is not None:
            if prices is None:
                raise ValueError(
                    f"predict_budget = {self.predict_budget!r}: it is money, and needs prices; without them "
                    "most_attributes limits the attributes of a prediction"
                )
            take_money("predict_budget", self.predict_budget, prices)
        return prices

    def _choices(self) -> dict[str, Any]:
        """Returns the choices that every estimator has as parameters."""
        choices = {name: getattr(self, name) for name in CHOICES}
        if self._streams:
            # Without the number of rows nothing can be planned.
            choices["shape"] = "line"
        return choices

    def _fit_table(
        self,
        table: Any,
        labels: np.ndarray,
        classes: tuple[str, str] | None,
        *,
        rows: np.ndarray | None,
        target: str,
        budget: int | float,
        prices: _core.Prices | None,
        holdout: float,
        seed: int,
        weights: np.ndarray | None = None,
        start: Any = None,
        stop: _core.Stop | None = None,
    ) -> None:
        result = _core.fit(
            table,
            np.ascontiguousarray(labels, dtype=np.float64),
            rows,
            self._names(),
            target,
            None if classes is None else list(classes),
            budget,
            {**self._choices(), "holdout": holdout, "random_state": seed},
            weights=weights,
            prices=prices,
            start=start,
            stop=stop,
            keep=self._keeps,
        )
        lacking = result["spent"]["passed_over"] + result["spent"]["missing"]
        if self.missing == "error" and lacking > 0:
            raise ValueError(
                f"Input X contains NaN: {lacking} times a value was missing that was to "
                f'be bought. {type(self).__name__}(missing="skip") learns from what is there '
                '(method="pursuit") or skips such examples.'
            )
        self._keep(result, budget=budget, prices=prices, holdout=holdout, seed=seed)
        for note in result["notes"]:
            warnings.warn(note, ConvergenceWarning, stacklevel=4)
        if not self.found_ and not result["notes"] and result["interrupt"] is None:
            warnings.warn(
                "nothing was found: no attribute has a significant effect, and the mean is predicted",
                ConvergenceWarning,
                stacklevel=4,
            )
        if result["interrupt"] is not None:
            # Everything that was learned so far is kept: the estimator is fitted.
            raise result["interrupt"]

    def _keep(
        self,
        result: dict[str, Any],
        *,
        budget: int | float,
        prices: _core.Prices | None,
        holdout: float,
        seed: int,
    ) -> None:
        dim = self.n_features_in_
        self.support_ = np.asarray(result["indices"], dtype=np.int64)
        self._core_model = result["model"]
        self._link = result["link"]
        coefficients = np.zeros(dim)
        coefficients[self.support_] = result["values"]
        errors = np.full(dim, np.nan)
        errors[self.support_] = result["errors"]
        self._set_linear(coefficients, float(result["intercept"]), errors)
        self.interval_ = np.full((len(coefficients), 2), np.nan)
        self.interval_[self.support_] = np.reshape(result["intervals"], (-1, 2))
        if self._keeps:
            self._bought = result["bought"]
        self.found_ = bool(result["found"])
        self.decision_ = result["decision"]
        self.interrupted_ = result["interrupt"] is not None
        self.holdout_ = result["holdout"]
        self.spent_ = {**result["spent"], "reads": result["reads"]}
        self.cost_ = result["cost"]
        self.history_ = result["history"]
        self.model_ = self._core_model.json
        self._learner = result["learner"]
        origin = json.loads(self.model_)["origin"]
        self.plan_ = {
            "budget": budget,
            "prices": by_column(prices),
            **self._choices(),
            "holdout": holdout,
            "seed": seed,
            "safeguarded": origin["safeguarded"],
            "parameters": origin["parameters"],
        }

    def _set_linear(self, coefficients: np.ndarray, intercept: float, errors: np.ndarray) -> None:
        self.coef_, self.intercept_, self.standard_error_ = coefficients, intercept, errors

    @property
    def evidence_(self) -> dict[str, np.ndarray] | None:
        """What is known of each attribute.

        Arrays `examples`, `z`, `coefficient`, `standard_error`, `low` and `high` (the ends of its
        interval), and
        `until_added`. None for methods that keep no count.
        """
        check_is_fitted(self)
        return self._learner.evidence()

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask

    def _predict_table(self, table: Any, rows: np.ndarray | None = None) -> np.ndarray:
        """Returns the predicted labels of some rows, by default all."""
        return self._core_model.predict(table, self.missing, rows)

    def _sums(self, X: Any) -> np.ndarray:
        """Returns the intercept plus the products. Of a frame only the columns of the support are read,
        and no others need be there."""
        check_is_fitted(self)
        needed = self.support_.tolist()
        return self._predict_table(take(self, X, reset=False, missing=self.missing, needed=needed))

    def save(self, path: str | Path) -> None:
        """Write the model to a file that the command `lao predict` and the crate `lao` read.

        Parameters
        ----------
        path : str or Path
            The file, which is replaced completely or not at all.
        """
        check_is_fitted(self)
        self._core_model.save(path)


class RegressorPart(RegressorMixin, WithBudget):
    """Numbers as labels."""

    def _labels(self, y: Any, *, classes: Any = None) -> tuple[np.ndarray, None]:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        return column_or_1d(y, warn=True), None

    def _fold_error(self, sums: np.ndarray, labels: np.ndarray) -> float:
        return float(np.mean((sums - labels) ** 2))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each row.

        A value further than four standard deviations from the mean of its column in training counts as if
        it lay
        there.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        labels : array
            The label of each row.
        """
        return self._sums(X)


def _has_link(estimator: Any) -> bool:
    if estimator.method in ("pursuit", "exchange"):
        if getattr(estimator, "_link", True) is None:
            raise AttributeError(
                "no probabilities: the classes of the rows come one after the other; shuffle=True takes "
                "the rows in a random order"
            )
        return True
    raise AttributeError(
        f"method {estimator.method!r} gives no probabilities; method='pursuit' does, and "
        "sklearn.calibration.CalibratedClassifierCV adds them to any classifier"
    )


class ClassifierPart(ClassifierMixin, WithBudget):
    """Two classes as labels: least squares on +1 and -1, and a logistic link."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _labels(self, y: Any, *, classes: Any = None) -> tuple[np.ndarray, tuple[str, str]]:
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        found = np.unique(y)
        known = found if classes is None else np.unique(classes)
        if len(known) != 2:
            name = type(self).__name__
            if len(known) < 2:
                raise ValueError(f"{name} needs samples of 2 classes, but the data contains only one class")
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: {name} has "
                f"2 classes, and y has {len(known)}. sklearn.multiclass.OneVsRestClassifier({name}(..)) "
                "learns one model for each class, each of which spends the budget."
            )
        strange = np.setdiff1d(found, known)
        if len(strange) > 0:
            raise ValueError(f"y has the label {strange[0]!r}, which is not in classes")
        self.classes_ = known
        names = (str(known[0]), str(known[1]))
        return np.where(y == known[1], 1.0, -1.0), names if names[0] != names[1] else ("-1", "+1")

    def _set_linear(self, coefficients: np.ndarray, intercept: float, errors: np.ndarray) -> None:
        self.coef_ = coefficients[np.newaxis, :]
        self.intercept_ = np.array([intercept])
        self.standard_error_ = errors[np.newaxis, :]

    def _decide(self, sums: np.ndarray) -> np.ndarray:
        offset, slope = self._link or (0.0, 1.0)
        return offset + slope * sums

    def _fold_error(self, sums: np.ndarray, labels: np.ndarray) -> float:
        """Returns the logarithmic loss if there are probabilities, else the share of errors."""
        odds = labels * self._decide(sums)
        if self._link is None:
            return float(np.mean(odds <= 0.0))
        return float(np.mean(np.logaddexp(0.0, -odds)))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return a number for each row, above 0 where the second class is predicted.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        decision : array
            For the method "pursuit" the logarithm of the odds of the second class.
        """
        return self._decide(self._sums(X))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        classes : array
            One of `classes_` for each row.
        """
        second = self.decision_function(X) > 0.0
        return self.classes_[second.astype(np.intp)]

    @available_if(_has_link)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both classes.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        probabilities : array of shape (n_rows, 2)
            In the order of `classes_`.
        """
        second = expit(self.decision_function(X))
        return np.column_stack([1.0 - second, second])

    @available_if(_has_link)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of both classes.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        logarithms : array of shape (n_rows, 2)
            In the order of `classes_`.
        """
        odds = self.decision_function(X)
        return np.column_stack([-np.logaddexp(0.0, odds), -np.logaddexp(0.0, -odds)])


_PARAMETERS = """
    Parameters
    ----------
    budget : int, float or None
        The number of attributes that may be bought of each example, or the share of them. If it exceeds the
        number of columns, all columns are bought. By default it is a tenth of the columns, but at least 10.
        With `prices`, the money that an example may cost.
    prices : dict, sequence, path or None
        What the columns cost, in any unit of money: a dict of names and prices, a sequence of prices in
        column order, or the path of a file of lines `attribute,price[,panel[,further]]`. A price of 0 is
        free. Instead of a price, a pair `(price, panel)` names the panel with which the column is bought: the
        panel is paid once per example, and each of its columns repeats the price of the whole panel. With
        `(price, panel, further)` each column is bought by itself, for `price` if it is the first of its panel
        and for `further` beside another one: a blood sample is taken once.
%(choices)s
    missing : {"error", "skip"}
        What is done about NaN. "error" refuses it: an array is checked as a whole, a frame where a value is
        bought or a prediction needs it.
        "skip" passes over an example that lacks a value which is to be bought, and predicts with the mean.
    warm_start : bool
        Whether `fit` goes on with what was learned before. The rows must be new ones.
    random_state : int, RandomState or None
        The seed from which all draws descend. The same whole number gives the same bits as `--seed` of the
        command `lao fit`.

    Attributes
    ----------
    coef_, intercept_, standard_error_
        The model in the units of the columns; standard errors are NaN outside the support, and for methods
        that do not know them. They rest on the examples since the significant attributes changed last, and
        are NaN where these are too few. `predict` clips values at four standard deviations from the mean,
        so that it may differ from the product for values beyond.
    interval_ : array of shape (n_features, 2)
        For each attribute the ends of a 95 %% interval that holds whenever it is looked at: however often
        more rows are learned from, all looks together miss with probability 5 %%. What it holds is the
        coefficient of the best linear predictor from the attributes of the model. NaN where there is no
        standard error.
    decision_ : dict or None
        What decided the shape of the model, unless it is a line from the start: `chosen` ("pursuit", the line
        of coefficients that are significant; "ridge", a line on all of `support_`; "trees"), the `rows` that
        were compared, and the mean squared `errors` of these three on them, as parts of the label's variance.
        A model of trees predicts by `coef_` and by trees on what this leaves; its line has no standard
        errors, and `model_` has the significant line beside it.
    support_
        The attributes of the model, ascending; `get_support` and `transform` select them.
    found_ : bool
        Whether any attribute has a significant effect. If not, the mean of the labels is predicted.
    spent_ : dict
        `examples` learned from, `attributes` (values bought), `most_attributes` of one example, `missing`
        (those
        of the values bought that were missing), `passed_over` (examples that were skipped for a gap), and
        `reads`, how many values of each attribute were read, including those
        read to score the held-out rows.
        With prices also `money` in all, `most_money` of one example, and `panels`, a list of dicts: `panel`,
        `columns`, `price`, the `examples` for which it was bought, and the `money`.
    cost_ : float or None
        The money that a prediction costs, if there are prices.
    history_ : dict of arrays
        `examples`, `attributes`, `support`, `error` (mean squared, held out) and its `standard_error`, each
        time the examples had doubled; with prices also the `money` so far.
    holdout_ : dict or None
        The errors on the rows held out: `examples`, `mean_squared_error` and its `standard_error`; for
        numbers
        `r2`; for classes `accuracy`, the share of the `majority`, `auc`, `log_loss`, `log_loss_of_share`
        (that
        of the share of the class alone) and `calibration`, groups of examples, each their number, the mean
        probability and the share of the second class.
    plan_ : dict
        The choices made: budget, prices (the price and the panel of each column), limit of a prediction,
        seed, parameters of the method.
    evidence_ : dict of arrays or None
        What is known of each attribute.
    model_ : str
        The model in the format of lao's model files.

    Notes
    -----
    `fit` looks at signals about every 20 ms. On Ctrl-C it keeps what was learned so far, so that the
    estimator is fitted and `interrupted_` is True, and then raises KeyboardInterrupt. `predict` ends as soon.

    `sample_weight` makes sums over rows weighted sums; the method must be "pursuit". Only ratios matter, in
    each call. Weighted rows count as (sum w)^2 / sum w^2 rows of equal weight, so that standard errors and
    the level stay right; a row of weight 0 is not bought. `holdout_` weighs all rows alike.
"""


class _Streaming(WithBudget):
    """`fit` with a warm start, and `partial_fit`."""

    budget: Any
    warm_start: bool

    def __init__(
        self,
        budget: int | float | None = None,
        *,
        prices: Any = None,
        predict_budget: float | None = None,
        method: str = "pursuit",
        most_attributes: int | None = None,
        level: float | None = None,
        fdr: float | None = None,
        always: Sequence[str] = (),
        shape: str = "auto",
        half_life: float | None = None,
        holdout: float = 0.1,
        passes: int = 1,
        shuffle: bool = True,
        missing: str = "error",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        _keep_parameters(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from rows within the budget.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows, with one column for each attribute.
        y : array
            The label of each row: a number, or one of two classes.
        sample_weight : array or None
            The weight of each row, at least 0; by default all are 1.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        start = getattr(self, "_learner", None) if self.warm_start else None
        reset = start is None
        self._streams = self._streams and not reset
        classes = None if reset else getattr(self, "classes_", None)
        self._learn(
            X, y, budget=self.budget, sample_weight=sample_weight, start=start, reset=reset, classes=classes
        )
        return self

    def _part(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
        if self.shape == "trees":
            raise ValueError(
                "shape = 'trees': partial_fit does not know how many rows will come, and learns a line; give "
                "shape='line', or all rows to fit"
            )
        self._streams = True
        start = getattr(self, "_learner", None)
        with warnings.catch_warnings():
            # A part may be shorter than an update.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._learn(
                X,
                y,
                budget=self.budget,
                sample_weight=sample_weight,
                start=start,
                holdout=0.0,
                reset=start is None,
                classes=classes,
            )
        return self


def _described() -> str:
    """Returns the descriptions of the parameters that are options of a fit, in the order of the signature."""
    options, texts = {option[0]: option for option in _core.OPTIONS}, []
    for name, parameter in signature(_Streaming.__init__).parameters.items():
        if name not in CHOICES:
            continue
        _, purpose, default, allowed, _ = options[name]
        default = f" By default: {default}." if default else ""
        allowed = f" Allowed: {allowed}." if allowed else ""
        text = f"{purpose}.{default}{allowed}".replace("`", "")
        kind = str(parameter.annotation).replace(" | ", " or ").replace("Sequence[str]", "sequence of str")
        texts.append(
            f"    {name} : {kind}\n" + fill(text, 110, initial_indent=8 * " ", subsequent_indent=8 * " ")
        )
    return "\n".join(texts)


_PARAMETERS %= {"choices": _described()}


class BudgetedRegressor(_Streaming, RegressorPart):
    """Sparse linear regression that looks at no more than `budget` attributes of each example."""

    __doc__ = (__doc__ or "") + "\n" + _PARAMETERS

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> BudgetedRegressor:
        """Go on to learn from more rows, which must be new ones.

        Nothing is held out.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows, with one column for each attribute.
        y : array
            The label of each row, a number.
        sample_weight : array or None
            The weight of each row, at least 0; by default all are 1.

        Returns
        -------
        self : BudgetedRegressor
            The fitted estimator.
        """
        return self._part(X, y, None, sample_weight)


class BudgetedClassifier(_Streaming, ClassifierPart):
    """Sparse linear classification that looks at no more than `budget` attributes of each example.

    There are two classes: least squares on +1 and -1, and probabilities by a logistic link.
    """

    __doc__ = (__doc__ or "") + "\n" + _PARAMETERS

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> BudgetedClassifier:
        """Go on to learn from more rows, which must be new ones.

        Nothing is held out.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows, with one column for each attribute.
        y : array
            The class of each row.
        classes : array or None
            The two classes. The first call needs them, unless y has both.
        sample_weight : array or None
            The weight of each row, at least 0; by default all are 1.

        Returns
        -------
        self : BudgetedClassifier
            The fitted estimator.
        """
        if classes is None and hasattr(self, "_learner"):
            classes = self.classes_
        return self._part(X, y, classes, sample_weight)
