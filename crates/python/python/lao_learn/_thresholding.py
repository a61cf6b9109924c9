"""Sparse linear models at full information: hard thresholding on finite sums."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted

from lao_learn import _core
from lao_learn._budgeted import resolve_seed
from lao_learn._table import check_rows, take, take_weights

_PARAMETERS = """
    All attributes of all rows are read. An array is read where it lies; sparse matrices and frames are
    copied. To buy few attributes, see `BudgetedRegressor` and `BudgetedClassifier`.

    Parameters
    ----------
    n_nonzero : int, "auto" or None
        The number of attributes of the model, for each class of more than two. None is 10. More than there
        are counts as all. "auto" tries 1, 2, 3, ... and takes the one of least `criterion_`, the extended
        information criterion: n log(loss), or 2 n loss for classes, and log(n) and about 2 log(d) for each
        coefficient. It needs the method "exchange".
    method : str
        "exchange" (attributes are exchanged as long as that lowers the loss), "htp" (a refit after each
        gradient step), "gd-ht-normalized", "gd-ht", or one of the stochastic methods "sg-ht", "hsg-ht",
        "svrg-ht", "scsg-ht-i", "scsg-ht-ii". With "-pruned" ("htp-pruned", "scsg-ht-ii-pruned", ...) a method
        keeps more attributes than are wanted, and then drops those that the others can do without.
    max_iter : int
        The largest number of rounds: updates, or epochs of stochastic methods.
    tol : float
        The run ends after a round that moved the model by at most this share of its norm.
    step_size : float or None
        The step size of "gd-ht" and the stochastic methods. None: they choose it, and the stochastic ones
        their batches too.
    ridge : float
        The weight of the squared norm, in standardized units.
    fit_intercept : bool
        Whether the model has an intercept.
    standardize : {"auto", "center", "scale", "no"}
        Whether columns are centered and scaled, only scaled, or taken as they are. The model is in the units
        of the columns in any case. "auto" centers unless X is sparse.
    always : sequence of str or int
        Columns, by name or place, that the model always has; `n_nonzero` counts them. It needs the method
        "exchange".
    groups : array of shape (n_features,) or None
        A label for each column: columns of the same label, such as the indicators of one category, enter and
        leave the model together, and `n_nonzero` counts groups. It needs the method "exchange".
%s    random_state : int, RandomState or None
        The seed of stochastic methods.

    Attributes
    ----------
    coef_, intercept_
        The model in the units of the columns.
    support_
        The attributes of the model, ascending; `get_support` and `transform` select them.
    n_iter_ : int
        The number of rounds.
    calls_ : int
        How often the loss of a row was evaluated with its gradient.
    objective_ : float
        The mean loss, and the ridge.
    chosen_ : dict or None
        What a stochastic method chose last: "batch", "step_size" and "mini_batch".
    criterion_ : array or None
        With `n_nonzero="auto"`: the information criterion of each number of attributes that was tried,
        from 1.

    Notes
    -----
    On Ctrl-C, `fit` ends its step, which may read all values a few times, and keeps the model, so that the
    estimator is fitted and `interrupted_` is True, and then raises KeyboardInterrupt.

    `sample_weight` makes the mean loss a weighted mean, and means and scales of columns too: a row of weight
    2 counts like two rows. Only ratios matter.
"""

_CERTIFY = """    certify : bool
        With the method "exchange": before the run ends, look at all exchanges of an attribute of the model
        for another one, which reads the values `n_nonzero` times more, and go on if one lowers the loss by a
        millionth. `certified_` then says whether the run has come to its end. (That is no proof that no
        other set of attributes is better.)
"""


class Thresholding(SelectorMixin, BaseEstimator):
    """What the estimators at full information have in common."""

    n_nonzero: int | str | None
    method: str
    max_iter: int
    tol: float
    step_size: float | None
    ridge: float
    fit_intercept: bool
    standardize: str
    always: Sequence[str | int]
    groups: Any
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    # The largest number of attributes of a path, all of which is wanted.
    _whole: int | None = None

    def _solve(
        self, X: Any, table: _core.Table, labels: np.ndarray, classes: int, sample_weight: Any
    ) -> None:
        dim = self.n_features_in_
        chosen = isinstance(self.n_nonzero, str)
        if chosen and (self.n_nonzero != "auto" or self.method != "exchange"):
            raise ValueError(
                f'n_nonzero = {self.n_nonzero!r}, method = {self.method!r}: give a number, or "auto" with '
                'the method "exchange"'
            )
        most = self._whole or min(dim, max(1, table.shape[0] // 2), 1000)
        nonzero = most if chosen else 10 if self.n_nonzero is None else int(self.n_nonzero)
        if self.n_nonzero is not None and nonzero > dim:
            warnings.warn(
                f"n_nonzero={nonzero} is greater than n_features={dim}. All the features will be used.",
                UserWarning,
                stacklevel=3,
            )
        if nonzero < 1:
            raise ValueError(f"n_nonzero = {nonzero}: give at least 1")
        if self.max_iter < 1:
            raise ValueError(f"max_iter = {self.max_iter}: give at least 1")
        certify = bool(getattr(self, "certify", False))
        always, groups = self._always_places(), self._group_numbers()
        if groups and (self.method != "exchange" or certify):
            raise ValueError('groups need the method "exchange", without certify=True')
        wanted = {groups[place] for place in always} if groups else set(always)
        if always and (self.method != "exchange" or len(wanted) > nonzero):
            raise ValueError(
                f'always = {list(self.always)!r}: it needs the method "exchange", and n_nonzero counts them'
            )
        if certify and (chosen or self.method != "exchange"):
            raise ValueError(
                f'certify = True: it needs the method "exchange" and a number n_nonzero, not '
                f"method = {self.method!r}, n_nonzero = {self.n_nonzero!r}"
            )
        standardize = self.standardize
        if standardize == "auto":
            standardize = "scale" if scipy.sparse.issparse(X) else "center"
        result = _core.solve(
            table,
            np.ascontiguousarray(labels, dtype=np.float64),
            classes,
            weights=take_weights(sample_weight, table),
            method=self.method,
            sparsity=min(nonzero, dim),
            chosen=chosen,
            whole=self._whole is not None,
            step_size=self.step_size,
            rounds=self.max_iter,
            change=self.tol,
            always=always,
            groups=groups,
            certify=certify,
            ridge=self.ridge,
            intercept=self.fit_intercept,
            standardize=standardize,
            seed=resolve_seed(self.random_state),
        )
        self._path = result["path"]
        self._outputs = list(zip(result["indices"], result["values"]))
        self._intercepts = result["intercepts"]
        coefficients = np.zeros((len(self._outputs), dim))
        for row, (indices, values) in zip(coefficients, self._outputs):
            row[indices] = values
        self.coef_, self.intercept_ = self._shaped(coefficients, self._intercepts)
        self.support_ = np.flatnonzero(np.any(coefficients != 0.0, axis=0))
        self.n_iter_ = max(1, int(result["rounds"]))
        self.calls_ = int(result["calls"])
        self.objective_ = float(result["objective"])
        self.criterion_ = result["criterion"] if chosen else None
        self.chosen_ = result["choice"]
        if certify:
            self.certified_ = bool(result["certified"])
        self.interrupted_ = result["interrupt"] is not None
        if result["interrupt"] is not None:
            raise result["interrupt"]
        if not result["converged"]:
            warnings.warn(
                f"{self.method} did not converge in {self.max_iter} rounds; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _always_places(self) -> list[int]:
        names = list(getattr(self, "feature_names_in_", ()))
        places = set()
        for column in self.always:
            if isinstance(column, str):
                place = names.index(column) if column in names else -1
            else:
                place = int(column)
            if not 0 <= place < self.n_features_in_:
                raise ValueError(f"always = {list(self.always)!r}: there is no column {column!r}")
            places.add(place)
        return sorted(places)

    def _group_numbers(self) -> list[int]:
        """Returns the number of the group of each column; nothing without groups."""
        if self.groups is None:
            return []
        labels = np.asarray(self.groups)
        if labels.shape != (self.n_features_in_,):
            raise ValueError(
                f"groups has the shape {labels.shape}: give a label for each of {self.n_features_in_} columns"
            )
        return [int(number) for number in np.unique(labels, return_inverse=True)[1]]

    def _shaped(self, coefficients: np.ndarray, intercepts: np.ndarray) -> tuple[Any, Any]:
        return coefficients, intercepts

    def _take(self, X: Any, y: Any) -> _core.Table:
        """Checks X, and returns it as a table."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        return take(self, X, reset=True, missing="error", least=2, checked_later=True)

    def _sums(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        table = take(self, X, reset=False, missing="error")
        outputs = zip(self._outputs, self._intercepts)
        models = [_core.Linear(indices, values, intercept) for (indices, values), intercept in outputs]
        return np.column_stack([model.predict(table) for model in models])

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask


class HardThresholdingRegressor(RegressorMixin, Thresholding):
    """Least squares with at most `n_nonzero` coefficients."""

    __doc__ = (__doc__ or "") + "\n" + _PARAMETERS % _CERTIFY

    def __init__(
        self,
        n_nonzero: int | str | None = None,
        *,
        method: str = "exchange",
        max_iter: int = 200,
        tol: float = 1e-6,
        step_size: float | None = None,
        ridge: float = 0.0,
        fit_intercept: bool = True,
        standardize: str = "auto",
        always: Sequence[str | int] = (),
        groups: Any = None,
        certify: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_nonzero = n_nonzero
        self.method = method
        self.max_iter = max_iter
        self.tol = tol
        self.step_size = step_size
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.always = always
        self.groups = groups
        self.certify = certify
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HardThresholdingRegressor:
        """Learn from rows of which all values are read.

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
        self : HardThresholdingRegressor
            The fitted estimator.
        """
        table = self._take(X, y)
        labels = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        labels = column_or_1d(labels, warn=True)
        check_rows(table, labels)
        self._solve(X, table, labels, 0, sample_weight)
        return self

    def _shaped(self, coefficients: np.ndarray, intercepts: np.ndarray) -> tuple[Any, Any]:
        return coefficients[0], float(intercepts[0])

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each row.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        labels : array
            The label of each row.
        """
        return self._sums(X)[:, 0]


class HardThresholdingClassifier(ClassifierMixin, Thresholding):
    """Logistic regression with at most `n_nonzero` coefficients.

    With more than two classes it is softmax, with at most `n_nonzero` coefficients for each.
    """

    __doc__ = (__doc__ or "") + "\n" + _PARAMETERS % ""

    def __init__(
        self,
        n_nonzero: int | str | None = None,
        *,
        method: str = "exchange",
        max_iter: int = 200,
        tol: float = 1e-4,
        step_size: float | None = None,
        ridge: float = 1e-3,
        fit_intercept: bool = True,
        standardize: str = "auto",
        always: Sequence[str | int] = (),
        groups: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_nonzero = n_nonzero
        self.method = method
        self.max_iter = max_iter
        self.tol = tol
        self.step_size = step_size
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.always = always
        self.groups = groups
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HardThresholdingClassifier:
        """Learn from rows of which all values are read.

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
        self : HardThresholdingClassifier
            The fitted estimator.
        """
        table = self._take(X, y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        check_rows(table, y)
        self.classes_, places = np.unique(y, return_inverse=True)
        weights = take_weights(sample_weight, table)
        weighed = np.bincount(places, weights) if weights is not None else np.ones(len(self.classes_))
        if len(self.classes_) < 2 or np.count_nonzero(weighed) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of 2 classes, but the data contains only one class"
            )
        self._solve(X, table, places.astype(np.float64), len(self.classes_), sample_weight)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the numbers that decide the class of each row.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        decision : array
            The logarithm of the odds of the second class; of more classes one number for each, of which the
            largest decides.
        """
        sums = self._sums(X)
        return sums[:, 0] if len(self.classes_) == 2 else sums

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
        decided = self.decision_function(X)
        places = np.argmax(decided, axis=1) if decided.ndim == 2 else (decided > 0.0).astype(np.intp)
        return self.classes_[places]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        probabilities : array of shape (n_rows, n_classes)
            In the order of `classes_`.
        """
        decided = self.decision_function(X)
        if decided.ndim == 2:
            return softmax(decided, axis=1)
        second = expit(decided)
        return np.column_stack([1.0 - second, second])
