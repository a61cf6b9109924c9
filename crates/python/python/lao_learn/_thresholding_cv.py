"""Sparse linear models at full information, with as many coefficients as predict best on rows left out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, column_or_1d, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array

from lao_learn import _core
from lao_learn._frame import as_frame
from lao_learn._table import check_rows, take
from lao_learn._thresholding import HardThresholdingClassifier, HardThresholdingRegressor, Thresholding

_FOLDS = """
    The number of attributes is the one of least loss in cross-validation. For each fold, a path of models
    with 1, 2, 3, ... attributes is made by the method "exchange", each from the one before; then one model is
    learned from all rows.

    Parameters
    ----------
    max_nonzero : int or None
        The largest number of attributes that is tried. None: half of the rows that a fold leaves, at most 50.
    cv : int, splitter or iterable
        The folds, as scikit-learn takes them. Rows are not shuffled.
    max_iter, tol, ridge, fit_intercept, standardize, always, groups : as there
        Those of the estimator without "CV".

    Attributes
    ----------
    n_nonzero_ : int
        The number of attributes that was chosen.
    cv_losses_ : array
        The mean loss on the rows left out, for 1, 2, 3, ... attributes, or from those of `always` on: squared
        error, or log loss.
    coef_, intercept_, support_ : as there
        As all other attributes of the estimator without "CV".
"""


class Folds(Thresholding):
    """What the estimators with cross-validation have in common."""

    max_nonzero: int | None
    cv: Any
    # The estimator without cross-validation.
    _plain: ClassVar[Any]

    def _without_folds(self, n_nonzero: int | str) -> Any:
        parameters = self.get_params(deep=False)
        shared = {name: parameters[name] for name in parameters if name not in ("max_nonzero", "cv")}
        return self._plain(n_nonzero, **shared)

    def _held_loss(
        self, path: Thresholding, sums: np.ndarray, y: np.ndarray, weights: np.ndarray | None
    ) -> float:
        raise NotImplementedError

    def _choose_and_fit(self, X: Any, y: Any, sample_weight: Any, folds: Any) -> None:
        """Chooses the number of attributes, and learns with it from all rows."""
        (indexed,) = indexable(X)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        pairs = list(folds.split(X, y))
        rows = min(len(train) for train, _ in pairs)
        most = self.max_nonzero or min(50, max(1, rows // 2))
        if most < 1:
            raise ValueError(f"max_nonzero = {self.max_nonzero}: give at least 1, or None")
        most, losses = min(most, self.n_features_in_), []
        for train, held in pairs:
            path = self._without_folds("auto")
            path._whole = most
            own = None if weights is None else weights[train]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                path.fit(_safe_indexing(indexed, train), y[train], sample_weight=own)
            table = take(path, _safe_indexing(indexed, held), reset=False, missing="error")
            of_held = None if weights is None else weights[held]
            if of_held is not None and not np.any(of_held > 0.0):
                continue
            sums = []
            for model in path._path:
                outputs = zip(model["indices"], model["values"], model["intercepts"])
                sums.append(np.column_stack([_core.Linear(*output).predict(table) for output in outputs]))
            # Where a path ends early, its last model stands for longer ones.
            found = [self._held_loss(path, one, y[held], of_held) for one in sums]
            losses.append(found + found[-1:] * (most + 1 - self._least() - len(found)))
        self.cv_losses_ = np.mean(losses, axis=0)
        self.n_nonzero_ = self._least() + int(np.argmin(self.cv_losses_))
        fitted = self._without_folds(self.n_nonzero_).fit(X, y, sample_weight=sample_weight)
        for name, value in vars(fitted).items():
            if name.startswith("_") or name.endswith("_"):
                setattr(self, name, value)

    def _least(self) -> int:
        """Returns the first number of attributes that is tried."""
        always, groups = self._always_places(), self._group_numbers()
        return max(1, len({groups[place] for place in always} if groups else always))


class HardThresholdingRegressorCV(Folds, HardThresholdingRegressor):
    """Least squares whose number of coefficients is chosen by cross-validation."""

    _plain = HardThresholdingRegressor

    __doc__ = (__doc__ or "") + "\n" + _FOLDS

    def __init__(
        self,
        max_nonzero: int | None = None,
        *,
        cv: Any = 5,
        max_iter: int = 200,
        tol: float = 1e-6,
        ridge: float = 0.0,
        fit_intercept: bool = True,
        standardize: str = "auto",
        always: Sequence[str | int] = (),
        groups: Any = None,
    ) -> None:
        self.max_nonzero = max_nonzero
        self.cv = cv
        self.max_iter = max_iter
        self.tol = tol
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.always = always
        self.groups = groups

    def _held_loss(
        self, path: Thresholding, sums: np.ndarray, y: np.ndarray, weights: np.ndarray | None
    ) -> float:
        return float(np.average((y - sums[:, 0]) ** 2, weights=weights))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HardThresholdingRegressorCV:
        """Choose the number of attributes, and learn with it from all rows.

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
        self : HardThresholdingRegressorCV
            The fitted estimator.
        """
        X = as_frame(X)
        table = self._take(X, y)
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"), warn=True)
        check_rows(table, y)
        self._choose_and_fit(X, y, sample_weight, check_cv(self.cv, y, classifier=False))
        return self


class HardThresholdingClassifierCV(Folds, HardThresholdingClassifier):
    """Logistic regression, or softmax, whose number of coefficients is chosen by cross-validation."""

    _plain = HardThresholdingClassifier

    __doc__ = (__doc__ or "") + "\n" + _FOLDS

    def __init__(
        self,
        max_nonzero: int | None = None,
        *,
        cv: Any = 5,
        max_iter: int = 200,
        tol: float = 1e-4,
        ridge: float = 1e-3,
        fit_intercept: bool = True,
        standardize: str = "auto",
        always: Sequence[str | int] = (),
        groups: Any = None,
    ) -> None:
        self.max_nonzero = max_nonzero
        self.cv = cv
        self.max_iter = max_iter
        self.tol = tol
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.always = always
        self.groups = groups

    def _held_loss(
        self, path: Thresholding, sums: np.ndarray, y: np.ndarray, weights: np.ndarray | None
    ) -> float:
        if sums.shape[1] == 1:
            second = expit(sums[:, 0])
            of_path = np.column_stack([1.0 - second, second])
        else:
            of_path = softmax(sums, axis=1)
        # A fold may lack a class.
        probability = np.zeros((len(y), len(self.classes_)))
        probability[:, np.searchsorted(self.classes_, path.classes_)] = of_path
        return float(log_loss(y, probability, sample_weight=weights, labels=self.classes_))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HardThresholdingClassifierCV:
        """Choose the number of attributes, and learn with it from all rows.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows, with one column for each attribute.
        y : array
            The class of each row.
        sample_weight : array or None
            The weight of each row, at least 0; by default all are 1.

        Returns
        -------
        self : HardThresholdingClassifierCV
            The fitted estimator.
        """
        X = as_frame(X)
        table = self._take(X, y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        check_rows(table, y)
        self.classes_ = np.unique(y)
        self._choose_and_fit(X, y, sample_weight, check_cv(self.cv, y, classifier=True))
        return self
