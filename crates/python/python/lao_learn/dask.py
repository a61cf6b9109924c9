"""Tables whose rows lie on the workers of a Dask cluster.

Every estimator of this package takes `Partitions` as its table. The learner asks for certain columns of
certain rows; each ask is one task per partition, which sends back these values and nothing else. All
arithmetic is done where `fit` was called, so that the result has the same bits for any number of workers and
partitions, and the bits of the same rows in memory. A task is a pure function of its partition: if a worker
is lost, Dask computes the partition again on another worker, and runs the task there.

    with distributed.Client() as client:
        table, y = Partitions.from_parquet(["part-0.parquet", "part-1.parquet"], target="y")
        model = BudgetedRegressor(12, random_state=1).fit(table, y)

An ask takes about a millisecond for each partition. Few large partitions are therefore better than many small
ones, and a table that fits into memory is faster there.
"""

from __future__ import annotations

import os
from typing import Any, Sequence

import numpy as np

from lao_learn import _core
from lao_learn._parts import ParquetPart, stamp_of, take_part


class Partitions:
    """A table as partitions by rows, each of which stays on a worker.

    Make it with `from_array`, `from_dataframe` or `from_parquet`. An ask that takes longer than `timeout`
    seconds raises TimeoutError.
    """

    def __init__(
        self, client: Any, parts: Sequence[Any], lengths: Sequence[int], columns: list[str], timeout: float
    ) -> None:
        if not parts:
            raise ValueError("the table has no partition; give at least one")
        self.client, self.parts, self.columns, self.timeout = client, list(parts), columns, timeout
        self._ends = np.cumsum(np.asarray(lengths, dtype=np.int64))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return int(self._ends[-1]), len(self.columns)

    def __len__(self) -> int:
        return self.shape[0]

    @classmethod
    def from_array(
        cls, X: Any, *, client: Any = None, columns: Sequence[str] | None = None, timeout: float = 60.0
    ) -> Partitions:
        """Takes a dask array of two dimensions. Its chunks are made to have all columns."""
        client = _client(client)
        if X.ndim != 2:
            raise ValueError(f"the array has {X.ndim} dimensions; give one of rows and columns")
        X = X.rechunk({1: -1})
        parts = client.compute([row[0] for row in X.to_delayed()])
        lengths = _lengths(client, parts, timeout)
        names = [f"x{j}" for j in range(X.shape[1])] if columns is None else list(columns)
        return cls(client, parts, lengths, names, timeout)

    @classmethod
    def from_dataframe(
        cls, frame: Any, target: str, *, client: Any = None, timeout: float = 60.0
    ) -> tuple[Partitions, np.ndarray]:
        """Takes a dask dataframe; returns the table of the columns beside the target, and the labels."""
        client = _client(client)
        names = [name for name in frame.columns if name != target]
        if len(names) == len(frame.columns):
            raise ValueError(f"the frame has no column {target!r}; its columns are {', '.join(names)}")
        parts = client.compute(frame[names].to_delayed())
        lengths = _lengths(client, parts, timeout)
        return cls(client, parts, lengths, names, timeout), frame[target].compute(scheduler=client).to_numpy()

    @classmethod
    def from_parquet(
        cls,
        paths: Sequence[str | os.PathLike[str]],
        target: str,
        *,
        client: Any = None,
        timeout: float = 60.0,
    ) -> tuple[Partitions, np.ndarray]:
        """Takes Parquet files of the same columns, which all workers can read; returns the table of the
        columns beside the target, and the labels. A column is read when it is first asked for."""
        import pyarrow.parquet

        client = _client(client)
        files = [os.fspath(path) for path in paths]
        if not files:
            raise ValueError("there are no files; give at least one")
        names, lengths, labels = None, [], []
        for path in files:
            file = pyarrow.parquet.ParquetFile(path)
            here = list(file.schema_arrow.names)
            if target not in here:
                raise ValueError(f"{path} has no column {target!r}; its columns are {', '.join(here)}")
            if names is not None and here != names:
                raise ValueError(
                    f"{path} has other columns than {files[0]}; write them anew with the same ones"
                )
            names = here
            lengths.append(file.metadata.num_rows)
            labels.append(file.read(columns=[target]).column(0).to_numpy())
        others = [name for name in names or [] if name != target]
        parts = [client.submit(ParquetPart, path, others, stamp_of(path), pure=False) for path in files]
        return cls(client, parts, lengths, others, timeout), np.concatenate(labels)

    def _read(self, attributes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Returns the values of the attributes, one line each, in the rows: one task per partition."""
        places = np.searchsorted(self._ends, rows, side="right")
        tasks, masks = [], []
        for place in np.unique(places):
            mask = places == place
            begin = 0 if place == 0 else self._ends[place - 1]
            local = rows[mask].astype(np.int64) - begin
            tasks.append(self.client.submit(take_part, self.parts[place], attributes, local, pure=False))
            masks.append(mask)
        values = np.empty((len(attributes), len(rows)))
        for mask, part in zip(masks, _gather(self.client, tasks, self.timeout)):
            values[:, mask] = part
        return values

    def _lao_table(self) -> _core.Table:
        rows, columns = self.shape
        return _core.Table.remote(rows, columns, self._read)


def _client(client: Any) -> Any:
    if client is not None:
        return client
    from distributed import get_client

    return get_client()


def _lengths(client: Any, parts: Sequence[Any], timeout: float) -> list[int]:
    return _gather(client, [client.submit(len, part, pure=False) for part in parts], timeout)


def _gather(client: Any, tasks: list[Any], timeout: float) -> list[Any]:
    from distributed import TimeoutError as LateError

    async def gather() -> list[Any]:
        return await client.gather(tasks, asynchronous=True)

    # One limit for the work and for the way back: a worker may be lost in between.
    try:
        return client.sync(gather, callback_timeout=timeout)
    except (LateError, TimeoutError) as error:
        client.cancel(tasks)
        raise TimeoutError(
            f"the workers did not answer within {timeout} seconds; look at Dask's dashboard, or raise timeout"
        ) from error
