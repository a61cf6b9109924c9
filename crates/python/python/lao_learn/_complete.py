"""Any estimator on what is bought: a selection, and an estimator behind it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_method_params, check_is_fitted

from lao_learn._budgeted import BudgetedClassifier, BudgetedRegressor, _keep_parameters
from lao_learn._frame import as_frame
from lao_learn._table import take


class _KeepingRegressor(BudgetedRegressor):
    _keeps = True


class _KeepingClassifier(BudgetedClassifier):
    _keeps = True


class BudgetedSelector(SelectorMixin, BaseEstimator):
    """Finds few columns, within a budget of values per row.

    `fit` searches on the first rows, in a random order; once the columns are found, it buys the best of them
    of every further row. `fit_transform` returns what was bought of the columns that are kept, and NaN for
    what was not, so that a pipeline keeps to the budget; its next step must take NaN. `transform` selects
    the columns, and reads all of their values.

    Parameters
    ----------
    budget, prices, predict_budget, most_attributes, level, always, shuffle, missing, random_state : as there
        Those of `BudgetedRegressor`. `most_attributes` is the largest number of columns that are kept.

    Attributes
    ----------
    support_
        The columns that are kept, ascending.
    spent_ : dict
        What was bought, as of `BudgetedRegressor`.
    """

    missing: str

    def __init__(
        self,
        budget: int | float | None = None,
        *,
        prices: Any = None,
        predict_budget: float | None = None,
        most_attributes: int | None = None,
        level: float | None = None,
        always: Sequence[str] = (),
        shuffle: bool = True,
        missing: str = "error",
        random_state: Any = None,
    ) -> None:
        _keep_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "skip"
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> BudgetedSelector:
        """Find the columns within the budget.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows, with one column for each attribute.
        y : array
            The label of each row: a number, or one of two classes.

        Returns
        -------
        self : BudgetedSelector
            The fitted estimator.
        """
        self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> np.ndarray:
        """Finds the columns, and returns what was bought of them, NaN for what was not."""
        if y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        is_two_classes = type_of_target(y, input_name="y", raise_unknown=True) == "binary"
        keeping = _KeepingClassifier if is_two_classes else _KeepingRegressor
        bought = keeping(**self.get_params(deep=False), shape="trees", holdout=0.0)
        with warnings.catch_warnings():
            # That no single column is significant does not keep an estimator from learning.
            warnings.simplefilter("ignore", ConvergenceWarning)
            bought.fit(X, y)
        for name in ("n_features_in_", "feature_names_in_", "support_", "spent_", "cost_", "evidence_"):
            if hasattr(bought, name):
                setattr(self, name, getattr(bought, name))
        values = bought._bought
        assert values is not None
        return values

    def fit_transform(self, X: Any, y: Any = None, **ignored: Any) -> np.ndarray:
        """Find the columns, and return what was bought of them.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows, with one column for each attribute.
        y : array
            The label of each row: a number, or one of two classes.
        **ignored : dict
            What other steps of a pipeline take.

        Returns
        -------
        bought : array
            One column for each that is kept; NaN is what was not bought.
        """
        return self._fit(X, y)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask


def _has(method: str) -> Any:
    """Returns whether the estimator has a method, the fitted one if there is one."""

    def check(self: Budgeted) -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), method)

    return available_if(check)


class Budgeted(MetaEstimatorMixin, BaseEstimator):
    """Any estimator on few columns, bought within a budget of values per row.

    `fit` finds the columns as `BudgetedSelector` does, and then fits the estimator to the rows of which all
    columns that are kept were bought. An estimator that takes NaN gets the other rows as well, NaN for what
    was not bought of them. A prediction reads the columns that are kept, and no others.

    Parameters
    ----------
    estimator : estimator
        The estimator to fit, of any package: `HistGradientBoostingRegressor()`, a pipeline, a search.
    budget, prices, predict_budget, most_attributes, level, always, shuffle, missing, random_state : as there
        Those of `BudgetedSelector`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    selector_ : BudgetedSelector
        The fitted selection.
    support_
        The columns that a prediction reads, ascending.
    spent_ : dict
        What was bought, as of `BudgetedRegressor`.
    rows_ : int
        The number of rows that the estimator was fitted to.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from lao_learn import Budgeted
    >>> X, y = make_friedman1(3000, 50, random_state=1)
    >>> model = Budgeted(HistGradientBoostingRegressor(), 10, random_state=1).fit(X, y)
    >>> model.spent_["most_attributes"], bool(model.score(X, y) > 0.8)
    (10, True)
    """

    estimator: Any
    missing: str

    def __init__(
        self,
        estimator: Any,
        budget: int | float | None = None,
        *,
        prices: Any = None,
        predict_budget: float | None = None,
        most_attributes: int | None = None,
        level: float | None = None,
        always: Sequence[str] = (),
        shuffle: bool = True,
        missing: str = "error",
        random_state: Any = None,
    ) -> None:
        _keep_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags = own.classifier_tags
        tags.regressor_tags = own.regressor_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "skip"
        tags.target_tags.required = True
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what `fit` hands on to the estimator.

        Returns
        -------
        routing : MetadataRouter
            As scikit-learn's metadata routing asks.
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self)).add(estimator=self.estimator, method_mapping=to_fit)

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Budgeted:
        """Buy within the budget, and fit the estimator to what was bought.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows, with one column for each attribute.
        y : array
            The label of each row: a number, or one of two classes.
        **fit_params : dict
            Metadata of the rows, such as weights, that the estimator has requested; they need scikit-
            learn's
            `enable_metadata_routing`.

        Returns
        -------
        self : Budgeted
            The fitted estimator.
        """
        if fit_params and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"fit was given {sorted(fit_params)}: Budgeted hands them on to the estimator where "
                "sklearn.set_config(enable_metadata_routing=True) and the estimator's set_fit_request say so"
            )
        routed = process_routing(self, "fit", **fit_params).estimator.fit if fit_params else {}
        X = as_frame(X)
        if is_classifier(self.estimator) and y is not None:
            y = column_or_1d(y, warn=True)
            check_classification_targets(y)
            classes = len(np.unique(y))
            if classes < 2:
                raise ValueError("Budgeted needs samples of 2 classes, but the data contains only one class")
            if classes > 2:
                raise ValueError(
                    "Only binary classification is supported. The type of the target is multiclass: Budgeted "
                    f"has 2 classes, and y has {classes}."
                )
        parameters = self.get_params(deep=False)
        parameters.pop("estimator")
        self.selector_ = BudgetedSelector(**parameters)
        bought = self.selector_._fit(X, y)
        for name in ("n_features_in_", "feature_names_in_", "support_", "spent_", "cost_"):
            if hasattr(self.selector_, name):
                setattr(self, name, getattr(self.selector_, name))
        known = ~np.isnan(bought)
        complete = known.all(axis=1)
        if bought.shape[1] == 0 or not complete.any():
            raise ValueError(
                f"nothing was bought complete: {len(bought)} rows are too few for this budget; give more "
                "rows, or a budget of all columns"
            )
        takes_gaps = get_tags(self.estimator).input_tags.allow_nan
        rows = known.any(axis=1) if takes_gaps else complete
        routed = _check_method_params(X, routed, indices=np.flatnonzero(rows))
        self.estimator_ = clone(self.estimator).fit(bought[rows], np.asarray(y)[rows], **routed)
        self.rows_ = int(rows.sum())
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def _read(self, X: Any) -> np.ndarray:
        """Returns the values of the columns that are kept."""
        check_is_fitted(self)
        table = take(self, X, reset=False, missing=self.missing, needed=self.support_.tolist())
        return table.read(self.support_.astype(np.uint32))

    @_has("predict")
    def predict(self, X: Any) -> np.ndarray:
        """Return what the estimator predicts for each row.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        labels : array
            The label of each row.
        """
        values = self._read(X)
        return self.estimator_.predict(values)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities that the estimator gives.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        probabilities : array of shape (n_rows, n_classes)
            In the order of `classes_`.
        """
        values = self._read(X)
        return self.estimator_.predict_proba(values)

    @_has("decision_function")
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision function of the estimator.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.

        Returns
        -------
        decision : array
            As the estimator returns it.
        """
        values = self._read(X)
        return self.estimator_.decision_function(values)

    @_has("score")
    def score(self, X: Any, y: Any) -> float:
        """Return the score of the estimator.

        Parameters
        ----------
        X : array, sparse matrix, frame or table
            The rows. Of a frame the columns of the model are enough.
        y : array
            The label of each row.

        Returns
        -------
        score : float
            As the estimator returns it.
        """
        values = self._read(X)
        return self.estimator_.score(values, y)
