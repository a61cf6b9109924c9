"""Tables in Parquet files, of which an estimator reads the pages that it buys."""

from __future__ import annotations

import os
import warnings
from os import PathLike
from typing import Any, Protocol, Sequence

import numpy as np

from lao_learn import _core


class Dataset(Protocol):
    """What is needed of a `pyarrow.dataset`: its files."""

    @property
    def files(self) -> list[str]: ...


def _paths(path: str | PathLike[str] | Sequence[str | PathLike[str]] | Dataset) -> list[str | PathLike[str]]:
    if isinstance(path, (str, os.PathLike)):
        return [path]
    files = getattr(path, "files", path)
    # A dataset of another file system has paths without the beginning that says which one.
    kind = getattr(getattr(path, "filesystem", None), "type_name", "local")
    schemes = {"local": "", "s3": "s3://", "gcs": "gs://", "abfs": "abfs://"}
    if kind not in schemes:
        raise ValueError(f"files of the file system {kind} are not read; give their URLs")
    if not isinstance(files, Sequence) or not files:
        raise ValueError("path is neither a path, nor a list of paths, nor a dataset with files")
    return [schemes[kind] + os.fspath(file) for file in files]


class ParquetTable:
    """A table in Parquet files for the estimators with a budget.

    Nothing is read but the footers and the column of the label. `fit` reads the pages that it buys, `predict`
    those of the model's columns; `spent_` of the estimator counts the bytes.

    Parameters
    ----------
    path : str, path-like, sequence of these, or pyarrow.dataset.Dataset
        A file, or a folder whose files end in .parquet, in the order of their names; or the files of one
        table, as a list or as a dataset, of which nothing is read but the list. A path may be a URL, such as
        ``s3://bucket/table`` or ``https://...``; credentials are read from the environment.
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
        path: str | PathLike[str] | Sequence[str | PathLike[str]] | Dataset,
        *,
        target: str,
        drop: Sequence[str] = (),
        positive: str | None = None,
    ) -> None:
        opened = _core.open_parquet(_paths(path), target, list(drop), positive)
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
