"""What the workers of a cluster do with a partition of a table."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from lao_learn._frame import columns_of, is_frame


class ParquetPart:
    """The columns of a Parquet file. A column is read when a task first asks for it; the worker keeps it."""

    def __init__(self, path: str, names: list[str], stamp: tuple[int, int]) -> None:
        self.path, self.names, self.stamp = path, names, stamp
        self._read: dict[int, np.ndarray] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:
        # A worker that receives the part reads the file itself.
        return ParquetPart, (self.path, self.names, self.stamp)

    def column(self, j: int) -> np.ndarray:
        """Returns a column as an array of floats, NaN where a value is missing."""
        with self._lock:
            known = self._read.get(j)
            if known is None:
                import pyarrow.parquet

                if stamp_of(self.path) != self.stamp:
                    raise ValueError(f"{self.path} was changed after the table was made; make the table anew")
                table = pyarrow.parquet.read_table(self.path, columns=[self.names[j]])
                known = self._read[j] = columns_of(table)(0)
            return known


def stamp_of(path: str) -> tuple[int, int]:
    """Returns size and time of change of a file."""
    known = os.stat(path)
    return known.st_size, known.st_mtime_ns


def take_part(part: Any, attributes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Returns the values of the attributes, one line each, in the rows of a partition."""
    if isinstance(part, ParquetPart):
        return np.array([part.column(j)[rows] for j in attributes.tolist()], dtype=np.float64)
    if is_frame(part):
        fetch = columns_of(part)
        return np.array([fetch(j)[rows] for j in attributes.tolist()], dtype=np.float64)
    return np.ascontiguousarray(np.asarray(part)[np.ix_(rows, attributes)].T, dtype=np.float64)
