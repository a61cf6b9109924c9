"""Columns of frames as arrays. Workers of a cluster import this module, which needs nothing but numpy."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Callable

import numpy as np

FLOATS = [np.float64, np.float32]


def is_frame(X: Any) -> bool:
    """Returns whether X is a frame of pandas or polars, or a table of pyarrow."""
    kinds = [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")]
    modules = [(sys.modules.get(module), kind) for module, kind in kinds]
    return any(module is not None and isinstance(X, getattr(module, kind)) for module, kind in modules)


def as_frame(X: Any) -> Any:
    """Returns X, or, if it is a table of another library that hands on its columns by Arrow's PyCapsule
    interface, these columns as a table of pyarrow or polars, whichever is there. A query that is not yet
    evaluated is evaluated."""
    if is_frame(X):
        return X
    if not hasattr(X, "__arrow_c_stream__") and hasattr(X, "collect_schema") and hasattr(X, "collect"):
        X = X.collect()
    if hasattr(X, "__arrow_c_array__") or hasattr(X, "__arrow_c_stream__"):
        for module, make in [("pyarrow", "table"), ("polars", "DataFrame")]:
            try:
                return getattr(import_module(module), make)(X)
            except ImportError:
                continue
        name = f"{type(X).__module__}.{type(X).__qualname__}"
        raise TypeError(f"X is a {name}: to read it, lao_learn needs pyarrow or polars; pip install pyarrow")
    return X


def columns_of(X: Any, places: dict[int, int] | None = None) -> Callable[[int], np.ndarray]:
    """Returns the function that fetches a column, by its place or by that of `places`. Columns of floats
    are not copied."""

    def fetch(j: int) -> np.ndarray:
        j = j if places is None else places[j]
        # The list of all names is made anew whenever it is asked for.
        if sys.modules.get("pandas") is not None and isinstance(X, sys.modules["pandas"].DataFrame):
            column = X.iloc[:, j]
            name = column.name
        elif sys.modules.get("pyarrow") is not None and isinstance(X, sys.modules["pyarrow"].Table):
            chunked, name = X.column(j), X.field(j).name
            column = chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()
        else:
            column = X.to_series(j)
            name = column.name
        try:
            return _floats(column)
        except (TypeError, ValueError) as error:
            kind = getattr(column, "dtype", getattr(column, "type", "unknown"))
            raise ValueError(
                f"column {name!r} has the type {kind}; give numbers, for example words by one-hot encoding, "
                "and a date as the days since another"
            ) from error

    return fetch


def _floats(column: Any) -> np.ndarray:
    """Returns a column as an array of floats, NaN where a value is missing."""
    if hasattr(column, "null_count") and not callable(column.null_count) and hasattr(column, "to_numpy"):
        # An array of pyarrow.
        values = column.to_numpy(zero_copy_only=False)
    elif hasattr(getattr(column, "array", None), "_hasna") and column.array._hasna:
        # pandas has no NaN in a column of booleans or whole numbers.
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = column.to_numpy()
    if values.dtype in FLOATS:
        return values
    if values.dtype.kind in "mM":
        raise TypeError("a date is no number")
    return values.astype(np.float64)
