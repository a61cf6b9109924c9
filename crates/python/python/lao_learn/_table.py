"""Tables of other libraries as the arithmetic reads them: where they lie, without copies."""

from __future__ import annotations

import sys
from typing import Any, Callable

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from lao_learn import _core

FLOATS = [np.float64, np.float32]


def is_frame(X: Any) -> bool:
    """Returns whether X is a frame of pandas or polars, or a table of pyarrow."""
    kinds = [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")]
    modules = [(sys.modules.get(module), kind) for module, kind in kinds]
    return any(module is not None and isinstance(X, getattr(module, kind)) for module, kind in modules)


def take(estimator: Any, X: Any, *, reset: bool, missing: str, least: int = 1) -> _core.Table:
    """Checks X against what the estimator knows, and returns it as a table.

    Of a frame no value is looked at here: its columns are fetched when they are asked for. An array or a
    sparse matrix is checked for values that are not finite, unless `missing` is "skip" or scikit-learn is
    told to assume finite values.
    """
    if missing not in ("error", "skip"):
        raise ValueError(f'missing = {missing!r}: give "error" or "skip"')
    if hasattr(X, "_lao_table"):
        _check_names(estimator, list(X.columns), reset=reset)
        return X._lao_table()
    if is_frame(X):
        _check_frame(estimator, X, reset=reset)
        rows = int(X.shape[0])
        if rows < least:
            raise ValueError(f"Found array with {rows} sample(s) while a minimum of {least} is required.")
        return _core.Table.frame(rows, int(X.shape[1]), _columns(X))
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=("csr", "csc"),
        accept_large_sparse=True,
        dtype=FLOATS,
        ensure_all_finite="allow-nan" if missing == "skip" else True,
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


def _check_frame(estimator: Any, X: Any, *, reset: bool) -> None:
    """Sets, or checks, the number and the names of the attributes."""
    arrow = sys.modules.get("pyarrow")
    if arrow is None or not isinstance(X, arrow.Table):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return
    _check_names(estimator, X.column_names, reset=reset)


def _check_names(estimator: Any, columns: list[str], *, reset: bool) -> None:
    """Sets, or checks, the number and the names of the attributes, as scikit-learn does for its own frames."""
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


def _columns(X: Any) -> Callable[[int], np.ndarray]:
    """Returns the function that fetches a column. Columns of floats are not copied."""

    def fetch(j: int) -> np.ndarray:
        if sys.modules.get("pandas") is not None and isinstance(X, sys.modules["pandas"].DataFrame):
            column, name = X.iloc[:, j], X.columns[j]
        elif sys.modules.get("pyarrow") is not None and isinstance(X, sys.modules["pyarrow"].Table):
            chunked, name = X.column(j), X.column_names[j]
            column = chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()
        else:
            column, name = X.to_series(j), X.columns[j]
        try:
            return _floats(column)
        except (TypeError, ValueError) as error:
            kind = getattr(column, "dtype", getattr(column, "type", "unknown"))
            raise ValueError(
                f"column {name!r} has the type {kind}; give numbers, for example by one-hot encoding"
            ) from error

    return fetch


def _floats(column: Any) -> np.ndarray:
    """Returns a column as an array of floats, NaN where a value is missing."""
    if hasattr(column, "null_count") and not callable(column.null_count) and hasattr(column, "to_numpy"):
        # An array of pyarrow.
        values = column.to_numpy(zero_copy_only=False)
    else:
        values = column.to_numpy()
    if values.dtype in FLOATS:
        return values
    return values.astype(np.float64)
