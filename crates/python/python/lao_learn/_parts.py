"""What the workers of a cluster do with a partition of a table."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from lao_learn._frame import columns_of, is_frame

# Columns of Parquet files that tasks of this process have read. They are never changed.
_READ: dict[tuple[str, str], np.ndarray] = {}
_LOCK = threading.Lock()


class ParquetPart:
    """The columns of a Parquet file. A column is read when a task first asks for it; the worker keeps it."""

    def __init__(self, path: str, names: list[str]) -> None:
        self.path, self.names = path, names

    def column(self, j: int) -> np.ndarray:
        """Returns a column as an array of floats, NaN where a value is missing."""
        key = (self.path, self.names[j])
        with _LOCK:
            known = _READ.get(key)
        if known is None:
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(self.path, columns=[self.names[j]])
            known = columns_of(table)(0).astype(np.float64)
            with _LOCK:
                _READ[key] = known
        return known


def take_part(part: Any, attributes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Returns the values of the attributes, one line each, in the rows of a partition."""
    if isinstance(part, ParquetPart):
        return np.array([part.column(j)[rows] for j in attributes.tolist()], dtype=np.float64)
    if is_frame(part):
        fetch = columns_of(part)
        return np.array([fetch(j)[rows] for j in attributes.tolist()], dtype=np.float64)
    return np.ascontiguousarray(np.asarray(part)[np.ix_(rows, attributes)].T, dtype=np.float64)
