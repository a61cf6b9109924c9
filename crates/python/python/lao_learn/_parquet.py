"""Tables in Parquet files, of which an estimator reads the pages that it buys."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, Sequence

import numpy as np

from lao_learn import _core


class ParquetTable:
    """A table in a Parquet file, or in a folder of them, for the estimators with a budget.

    Nothing is read but the footers and the column of the label. `fit` reads the pages that it buys, `predict`
    those of the model's columns; `spent_` of the estimator counts the bytes.

    Parameters
    ----------
    path : str or path-like
        A file, or a folder whose files end in .parquet, in the order of their names.
    target : str
        The column of the label.
    drop : sequence of str, default=()
        Columns that are no attributes.
    positive : str, optional
        Of a label with several classes, the one that is learned against all others.

    Attributes
    ----------
    columns : list of str
        The attributes: the other columns of numbers and truth values. Columns of words are left out, and a
        warning says so.
    y : ndarray of shape (n_rows,)
        The label.
    shape : tuple of int
        The numbers of rows and attributes.

    Examples
    --------
    >>> table = ParquetTable("wide.parquet", target="pressure")  # doctest: +SKIP
    >>> model = BudgetedRegressor(budget=20).fit(table, table.y)  # doctest: +SKIP
    >>> model.spent_["bytes"] / model.spent_["bytes_of_table"]  # doctest: +SKIP
    0.013
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        target: str,
        drop: Sequence[str] = (),
        positive: str | None = None,
    ) -> None:
        opened = _core.open_parquet(path, target, list(drop), positive)
        self._table, self.columns, labels, classes, notes = opened
        unknown = int(np.isnan(labels).sum())
        if unknown > 0:
            raise ValueError(f"{unknown} rows have no {target}; write the table without them")
        self.y: np.ndarray = labels if classes is None else np.where(labels > 0.0, classes[1], classes[0])
        self.shape = self._table.shape
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=2)

    def __len__(self) -> int:
        return self.shape[0]

    def _lao_table(self) -> Any:
        return self._table
