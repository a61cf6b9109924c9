"""Tables whose rows lie on the workers of a Dask cluster.

Every estimator of this package takes `Partitions` as its table. The learner asks for certain columns of
certain rows; each ask is one task per partition, which sends back these values and nothing else. All
arithmetic is done where `fit` was called, so that the result has the same bits for any number of workers and
partitions, and the bits of the same rows in memory. A task is a pure function of its partition: if a worker
is lost, Dask computes the partition again on another worker, and runs the task there.

    with distributed.Client() as client:
        table, y = Partitions.from_parquet(["part-0.parquet", "part-1.parquet"], target="y")
        model = BudgetedRegressor(12, shuffle=False, random_state=1).fit(table, y)

An ask takes 10 to 20 milliseconds, and one more for each further partition that has rows of it; a run has
some hundred asks for each factor of ten by which its examples grow. Few large partitions are therefore better
than many small ones, and a table that fits into memory is faster there.

A table that fits into the memory of all workers together stays there (`from_array`, `from_dataframe`). One
that does not is made column by column when it is asked for (`from_parquet`, `from_map`); a worker keeps as
many columns as it has room for. If the order of its rows tells nothing of the label, `shuffle=False` then
makes learning fast: rows that follow one another come from one partition.
"""

from __future__ import annotations

import os
import uuid
from typing import Any, Callable, Sequence

import numpy as np

from lao_learn._parts import Recipe, RowGroup, load_row_group, stamp_of, take_made, take_part
from lao_learn._table import RemoteTable

ROOM = 1 << 28
"""The bytes of columns that a worker keeps, if nothing else is said."""


class Partitions(RemoteTable):
    """A table as partitions by rows, on the workers of a cluster.

    Make it with `from_array`, `from_dataframe`, `from_parquet` or `from_map`. There is no time limit for
    loading partitions into memory, whose progress Dask's dashboard shows.

    Parameters
    ----------
    client : dask.distributed.Client
        The client of the cluster.
    parts : sequence
        Futures of partitions in memory or, with `sizes`, what makes them.
    lengths : sequence of int
        The number of rows of each partition.
    columns : list of str
        The names of the columns.
    timeout : float
        An ask that takes more seconds raises TimeoutError.
    sizes : array or None
        The bytes that are read to make a column (one column for each) of a partition (one row for each).
    """

    def __init__(
        self,
        client: Any,
        parts: Sequence[Any],
        lengths: Sequence[int],
        columns: list[str],
        timeout: float,
        *,
        sizes: np.ndarray | None = None,
    ) -> None:
        if not parts:
            raise ValueError("the table has no partition; give at least one")
        self._ends = np.cumsum(np.asarray(lengths, dtype=np.int64))
        super().__init__(self._ask, rows=int(self._ends[-1]), columns=columns)
        self.client, self.parts, self.timeout = client, list(parts), timeout
        self._sizes, self._read_bytes = sizes, 0
        self._homes = sorted(client.ncores()) if sizes is not None else []

    @property
    def nbytes(self) -> int | None:
        """The bytes of all columns.

        Of Parquet files as they are compressed in the files, of other tables eight for each value. None for
        partitions in memory, which are loaded as a whole.
        """
        return None if self._sizes is None else int(self._sizes.sum())

    @property
    def nbytes_read(self) -> int | None:
        """The bytes that workers have read, or made, for all asks so far.

        What was read again, because a worker had no room to keep it, counts again. None for partitions in
        memory.
        """
        return None if self._sizes is None else self._read_bytes

    @classmethod
    def from_array(
        cls, X: Any, *, client: Any = None, columns: Sequence[str] | None = None, timeout: float = 60.0
    ) -> Partitions:
        """Take a dask array of two dimensions, and load it into the memory of the workers.

        Parameters
        ----------
        X : dask array
            Its chunks are made to have all columns.
        client : dask.distributed.Client or None
            The client of the cluster; by default the one that is in use.
        columns : sequence of str or None
            The names of the columns, by default x0, x1, ...
        timeout : float
            The seconds to wait for an answer of the workers before the call fails.

        Returns
        -------
        table : Partitions
            What every estimator of this package takes as X.
        """
        client = _client(client)
        if X.ndim != 2:
            raise ValueError(f"the array has {X.ndim} dimensions; give one of rows and columns")
        X = X.rechunk({1: -1})
        parts = client.compute([row[0] for row in X.to_delayed()])
        lengths = _loaded(client, parts)
        names = [f"x{j}" for j in range(X.shape[1])] if columns is None else list(columns)
        return cls(client, parts, lengths, names, timeout)

    @classmethod
    def from_dataframe(
        cls, frame: Any, target: str, *, client: Any = None, timeout: float = 60.0
    ) -> tuple[Partitions, np.ndarray]:
        """Take a dask dataframe, and load it into the memory of the workers.

        Parameters
        ----------
        frame : dask dataframe
            Its columns are numbers.
        target : str
            The column of the labels.
        client : dask.distributed.Client or None
            The client of the cluster; by default the one that is in use.
        timeout : float
            The seconds to wait for an answer of the workers before the call fails.

        Returns
        -------
        table : Partitions
            The columns beside the target.
        labels : array
            The target.
        """
        client = _client(client)
        names = [name for name in frame.columns if name != target]
        if len(names) == len(frame.columns):
            raise ValueError(f"the frame has no column {target!r}; its columns are {', '.join(names)}")
        parts = client.compute(frame[names].to_delayed())
        lengths = _loaded(client, parts)
        return cls(client, parts, lengths, names, timeout), frame[target].compute(scheduler=client).to_numpy()

    @classmethod
    def from_parquet(
        cls,
        paths: Sequence[str | os.PathLike[str]],
        target: str,
        *,
        client: Any = None,
        room: int = ROOM,
        timeout: float = 60.0,
    ) -> tuple[Partitions, np.ndarray]:
        """Take Parquet files of the same columns, which all workers can read.

        Each row group is a partition. A worker reads a column of a row group when it is asked for;
        `nbytes_read` says
        how much was read.

        Parameters
        ----------
        paths : sequence of str or path
            The files.
        target : str
            The column of the labels.
        client : dask.distributed.Client or None
            The client of the cluster; by default the one that is in use.
        room : int
            The bytes of columns that a worker keeps.
        timeout : float
            The seconds to wait for an answer of the workers before the call fails.

        Returns
        -------
        table : Partitions
            The columns beside the target.
        labels : array
            The target.
        """
        import pyarrow.parquet

        files = [os.fspath(path) for path in paths]
        if not files:
            raise ValueError("there are no files; give at least one")
        names: list[str] | None = None
        parts, lengths, labels, sizes = [], [], [], []
        for path in files:
            stamp = stamp_of(path)
            with pyarrow.parquet.ParquetFile(path) as file:
                here = list(file.schema_arrow.names)
                if target not in here:
                    raise ValueError(f"{path} has no column {target!r}; its columns are {', '.join(here)}")
                if names is not None and here != names:
                    raise ValueError(
                        f"{path} has other columns than {files[0]}; write them anew with the same ones"
                    )
                names = here
                labels.append(file.read(columns=[target]).column(0).to_numpy())
                for group in range(file.num_row_groups):
                    known = file.metadata.row_group(group)
                    if known.num_rows == 0:
                        continue
                    columns = [known.column(c) for c in range(known.num_columns)]
                    if len(columns) != len(here):
                        raise ValueError(f"{path} has columns within columns; write each as a column itself")
                    of_others = zip(here, columns)
                    sizes.append([c.total_compressed_size for name, c in of_others if name != target])
                    parts.append(RowGroup(path, group, stamp))
                    lengths.append(known.num_rows)
        others = [name for name in names or [] if name != target]
        table = cls._made(load_row_group, parts, lengths, others, np.array(sizes), client, room, timeout)
        return table, np.concatenate(labels)

    @classmethod
    def from_map(
        cls,
        load: Callable[[Any, list[str]], Any],
        parts: Sequence[Any],
        lengths: Sequence[int],
        columns: Sequence[str],
        *,
        client: Any = None,
        room: int = ROOM,
        timeout: float = 60.0,
    ) -> Partitions:
        """Take a function that makes columns of a partition.

        Parameters
        ----------
        load : callable
            `load(part, names)` returns the columns of these names, in this order, as a list of arrays, a
            frame, or
            an array of two dimensions. It is called on a worker, may be called again for the same columns,
            and must
            then return the same.
        parts : sequence
            What `load` is given.
        lengths : sequence of int
            The number of rows of each part.
        columns : sequence of str
            The names of the columns.
        client : dask.distributed.Client or None
            The client of the cluster; by default the one that is in use.
        room : int
            The bytes of columns that a worker keeps.
        timeout : float
            The seconds to wait for an answer of the workers before the call fails.

        Returns
        -------
        table : Partitions
            What every estimator of this package takes as X.
        """
        if len(parts) != len(lengths):
            raise ValueError(f"there are {len(parts)} parts and {len(lengths)} lengths; give one for each")
        sizes = np.repeat(8 * np.asarray(lengths, dtype=np.int64)[:, np.newaxis], len(columns), axis=1)
        return cls._made(load, parts, lengths, list(columns), sizes, client, room, timeout)

    @classmethod
    def _made(
        cls,
        load: Callable[[Any, list[str]], Any],
        parts: Sequence[Any],
        lengths: Sequence[int],
        columns: list[str],
        sizes: np.ndarray,
        client: Any,
        room: int,
        timeout: float,
    ) -> Partitions:
        """Returns the table of partitions that are made when they are asked for."""
        table = uuid.uuid4().hex
        recipes = [
            Recipe(load, part, place, int(rows), table, room)
            for place, (part, rows) in enumerate(zip(parts, lengths))
        ]
        return cls(_client(client), recipes, lengths, columns, timeout, sizes=sizes)

    def _ask(self, attributes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Returns the values of the attributes, one line each, in the rows: one task per partition."""
        places = np.searchsorted(self._ends, rows, side="right")
        names = [self.columns[j] for j in attributes.tolist()]
        tasks, masks, asked = [], [], np.unique(places)
        for place in asked.tolist():
            mask = places == place
            begin = 0 if place == 0 else self._ends[place - 1]
            local = rows[mask].astype(np.int64) - begin
            tasks.append(self._submit(place, attributes, names, local))
            masks.append(mask)
        values = np.empty((len(attributes), len(rows)))
        for place, mask, answer in zip(asked, masks, _gather(self.client, tasks, self.timeout)):
            if self._sizes is not None:
                answer, made = answer
                self._read_bytes += int(self._sizes[place, made].sum())
            values[:, mask] = answer
        return values

    def _submit(self, place: int, attributes: np.ndarray, names: list[str], rows: np.ndarray) -> Any:
        part = self.parts[place]
        if self._sizes is None:
            return self.client.submit(take_part, part, attributes, rows, pure=False)
        # Columns are kept where they were made. Another worker makes them anew if this one is lost.
        home = self._homes[place % len(self._homes)] if self._homes else None
        return self.client.submit(
            take_made, part, attributes, names, rows, pure=False, workers=home, allow_other_workers=bool(home)
        )


def _client(client: Any) -> Any:
    if client is not None:
        return client
    from distributed import get_client

    return get_client()


def _loaded(client: Any, parts: Sequence[Any]) -> list[int]:
    """Waits until all partitions are in memory; returns their lengths."""
    return client.gather([client.submit(len, part, pure=False) for part in parts])


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
