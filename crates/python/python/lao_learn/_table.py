"""Tables of other libraries as the arithmetic reads them: where they lie, without copies."""

from __future__ import annotations

import sys
from typing import Any, Callable, Sequence

import numpy as np
import scipy.sparse
from sklearn import get_config
from sklearn.utils.validation import _check_sample_weight, validate_data

from lao_learn import _core
from lao_learn._frame import FLOATS, as_frame, columns_of, is_frame


class RemoteTable:
    """A table that a function reads, which every estimator of this package takes as X.

    Parameters
    ----------
    read : callable
        `read(columns, rows)` is given two arrays of whole numbers, and returns an array of float64 with one
        line for each column, and in each line one value for each row: NaN where a value is missing. It is
        called for what the learner buys, and for nothing else, and must answer the same whenever it is asked
        the same.
    rows : int
        The number of rows.
    columns : sequence of str
        The names of the columns.
    """

    def __init__(
        self, read: Callable[[np.ndarray, np.ndarray], np.ndarray], *, rows: int, columns: Sequence[str]
    ) -> None:
        self.columns = list(columns)
        self.shape = (int(rows), len(self.columns))
        self._read = read

    def __len__(self) -> int:
        return self.shape[0]

    def _lao_table(self) -> _core.Table:
        return _core.Table.remote(*self.shape, self._read)


def take_weights(sample_weight: Any, table: _core.Table) -> np.ndarray | None:
    """Checks the weights of the rows of a table; returns None if there are none."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, np.empty((table.shape[0], 1)), dtype=np.float64)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0.0) or not np.any(weights > 0.0):
        raise ValueError("sample_weight: give finite weights of at least 0, and one above 0")
    return np.ascontiguousarray(weights)


def check_rows(table: _core.Table, labels: np.ndarray) -> None:
    """Refuses labels of another number than the table has rows."""
    if table.shape[0] != len(labels):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{table.shape[0]}, {len(labels)}]"
        )


def take(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    missing: str,
    least: int = 1,
    checked_later: bool = False,
    needed: Sequence[int] | None = None,
) -> _core.Table:
    """Checks X against what the estimator knows, and returns it as a table.

    Of a frame no value is looked at here: its columns are fetched when they are asked for. An array or a
    sparse matrix is checked for values that are not finite, unless `missing` is "skip" or scikit-learn is
    told to assume finite values, or, of an array, the arithmetic checks it, since it reads all values
    (`checked_later`). Of a frame that lacks columns, those at the places `needed` are enough, and are
    taken by name.
    """
    if missing not in ("error", "skip"):
        raise ValueError(f'missing = {missing!r}: give "error" or "skip"')
    if hasattr(X, "_lao_table"):
        _check_names(estimator, list(X.columns), reset=reset)
        return X._lao_table()
    X = as_frame(X)
    if is_frame(X):
        places = None if reset or not needed else _places(estimator, X, needed)
        if places is not None:
            return _core.Table.frame(int(X.shape[0]), int(estimator.n_features_in_), columns_of(X, places))
        _check_frame(estimator, X, reset=reset)
        rows = int(X.shape[0])
        if rows < least:
            raise ValueError(f"Found array with {rows} sample(s) while a minimum of {least} is required.")
        return _core.Table.frame(rows, int(X.shape[1]), columns_of(X))
    if isinstance(X, np.ma.MaskedArray):
        # What is masked is missing.
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if getattr(getattr(X, "dtype", None), "kind", "f") in "mM":
        raise ValueError("X has dates or durations; give numbers, for example the days since another date")
    if not isinstance(X, np.ndarray) and hasattr(X, "__array_namespace__"):
        if get_config()["array_api_dispatch"]:
            raise TypeError(
                f"X is an array of {type(X).__module__}, and lao_learn reads arrays of numpy: give "
                "numpy.asarray(X), or fit without array_api_dispatch"
            )
    if hasattr(X, "check_format"):
        # scipy itself reads beyond the arrays of a matrix whose indices were changed by hand.
        try:
            X.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"the sparse matrix X: {error}; make it anew with scipy.sparse") from error
    finite: bool | str = "allow-nan" if missing == "skip" else True
    if checked_later and not scipy.sparse.issparse(X):
        finite = False
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=("csr", "csc"),
        accept_large_sparse=True,
        dtype=FLOATS,
        ensure_all_finite=finite,
        ensure_min_samples=least,
    )
    if scipy.sparse.issparse(X):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        by = "rows" if X.format == "csr" else "columns"
        return _core.Table.sparse([int(n) for n in X.shape], by, X.indptr, X.indices, X.data)
    if not X.flags.aligned:
        X = X.copy()
    return _core.Table.dense(X)


def _places(estimator: Any, X: Any, needed: Sequence[int]) -> dict[int, int] | None:
    """Returns where the columns at the places `needed` are in a frame that lacks others; None if it lacks
    one of these, or none at all."""
    known = getattr(estimator, "feature_names_in_", None)
    if known is None:
        return None
    names = list(getattr(X, "column_names", None) or X.columns)
    if set(known) <= set(names) or len(set(names)) < len(names):
        return None
    places = {name: place for place, name in enumerate(names)}
    if any(known[j] not in places for j in needed):
        return None
    return {int(j): places[known[j]] for j in needed}


def _check_frame(estimator: Any, X: Any, *, reset: bool) -> None:
    """Sets, or checks, the number and the names of the attributes."""
    arrow = sys.modules.get("pyarrow")
    if arrow is None or not isinstance(X, arrow.Table):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return
    _check_names(estimator, X.column_names, reset=reset)


def _check_names(estimator: Any, columns: list[str], *, reset: bool) -> None:
    """Sets, or checks, the number and the names of the attributes, as scikit-learn does."""
    names = np.asarray(columns, dtype=object)
    if reset:
        estimator.n_features_in_, estimator.feature_names_in_ = len(names), names
        return
    known = getattr(estimator, "feature_names_in_", None)
    if len(names) != estimator.n_features_in_:
        raise ValueError(
            f"X has {len(names)} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    if known is not None and list(known) != list(names):
        raise ValueError("The feature names should match those that were passed during fit.")
