"""What the workers of a cluster do with a partition of a table."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from lao_learn._frame import columns_of, is_frame


class Kept:
    """Columns that a worker keeps, up to a number of bytes: those go first that were not used for longest."""

    def __init__(self) -> None:
        self._columns: OrderedDict[tuple[str, int, int], np.ndarray] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: tuple[str, int, int]) -> np.ndarray | None:
        """Returns a column, if it is kept."""
        with self._lock:
            column = self._columns.get(key)
            if column is not None:
                self._columns.move_to_end(key)
            return column

    def put(self, key: tuple[str, int, int], column: np.ndarray, room: int) -> None:
        """Keeps a column, and as many others as there is room for."""
        with self._lock:
            if key in self._columns:
                return
            self._columns[key] = column
            self._bytes += column.nbytes
            while self._bytes > room and self._columns:
                _, old = self._columns.popitem(last=False)
                self._bytes -= old.nbytes


KEPT = Kept()


@dataclass(frozen=True)
class Recipe:
    """How a worker makes columns of a partition."""

    load: Callable[[Any, list[str]], Any]
    """Returns the columns of these names, in this order."""
    part: Any
    """Which partition; what `load` is given."""
    place: int
    """The number of the partition."""
    rows: int
    table: str
    """What tells this table from others."""
    room: int
    """The bytes that a worker may keep."""


def take_made(
    recipe: Recipe, attributes: np.ndarray, names: list[str], rows: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """Returns the values of the attributes, one line each, in the rows of a partition that is made when it is
    needed, and the attributes that had to be made."""
    wanted = attributes.tolist()
    name_of = dict(zip(wanted, names))
    kept = {j: KEPT.get((recipe.table, recipe.place, j)) for j in wanted}
    columns = {j: column for j, column in kept.items() if column is not None}
    missing = [j for j in kept if j not in columns]
    if missing:
        made = recipe.load(recipe.part, [name_of[j] for j in missing])
        for c, j in enumerate(missing):
            column = column_of(made, c)
            if column.shape != (recipe.rows,):
                raise ValueError(
                    f"partition {recipe.place}, column {name_of[j]!r}: {column.shape} values were loaded, "
                    f"and the partition has {recipe.rows} rows"
                )
            columns[j] = column
            KEPT.put((recipe.table, recipe.place, j), column, recipe.room)
    return np.array([columns[j][rows] for j in wanted], dtype=np.float64), missing


def take_part(part: Any, attributes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Returns the values of the attributes, one line each, in the rows of a partition in memory."""
    if is_frame(part):
        fetch = columns_of(part)
        return np.array([fetch(j)[rows] for j in attributes.tolist()], dtype=np.float64)
    return np.ascontiguousarray(np.asarray(part)[np.ix_(rows, attributes)].T, dtype=np.float64)


def column_of(table: Any, c: int) -> np.ndarray:
    """Returns a column of a list of columns, of a frame, or of an array with one column for each name."""
    if isinstance(table, (list, tuple)):
        return np.asarray(table[c])
    return columns_of(table)(c) if is_frame(table) else np.ascontiguousarray(np.asarray(table)[:, c])


@dataclass(frozen=True)
class RowGroup:
    """A row group of a Parquet file."""

    path: str
    group: int
    stamp: tuple[int, int]
    """Size and time of change of the file, as it was when the table was made."""


def load_row_group(part: RowGroup, names: list[str]) -> Any:
    """Reads columns of a row group; no other bytes of the file but its footer are read."""
    import pyarrow.parquet

    if stamp_of(part.path) != part.stamp:
        raise ValueError(f"{part.path} was changed after the table was made; make the table anew")
    with pyarrow.parquet.ParquetFile(part.path) as file:
        return file.read_row_group(part.group, columns=names).select(names)


def stamp_of(path: str) -> tuple[int, int]:
    """Returns size and time of change of a file."""
    known = os.stat(path)
    return known.st_size, known.st_mtime_ns
