"""Tables on the workers of a Dask cluster: bits, lost workers, limits of time. Each test has one itself."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from conftest import sparse_problem

from lao_learn import BudgetedClassifier, BudgetedRegressor, BudgetedRegressorCV, HardThresholdingRegressor

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

from lao_learn.dask import Partitions  # noqa: E402

ROWS, CHUNK = 900, 250


@pytest.fixture(autouse=True)
def limit():
    """Ends a test that hangs."""

    def late(_signal, _frame):
        raise TimeoutError("the test took longer than five minutes")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def cluster(workers):
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )


@pytest.fixture(scope="module")
def client():
    with cluster(2) as here, distributed.Client(here) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    return sparse_problem(rows=ROWS, dim=20)


def fitted(table, y, **parameters):
    return BudgetedRegressor(6, random_state=1, **parameters).fit(table, y)


def same(model, other):
    assert (model.coef_ == other.coef_).all() and model.intercept_ == other.intercept_
    assert model.spent_["attributes"] == other.spent_["attributes"]


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_any_number_of_workers_gives_the_bits_of_one_process(workers, data):
    X, y = data
    with cluster(workers) as here, distributed.Client(here) as client:
        table = Partitions.from_array(da.from_array(X, chunks=(CHUNK, 7)), client=client)
        assert table.shape == X.shape
        model = fitted(table, y)
        plain = fitted(X, y)
        same(model, plain)
        assert (model.predict(table) == plain.predict(X)).all()


def test_the_other_estimators_take_partitions(client, data):
    X, y = data
    table = Partitions.from_array(da.from_array(X, chunks=(CHUNK, 20)), client=client)
    model = BudgetedClassifier(6, random_state=1).fit(table, y > 0)
    assert (model.coef_ == BudgetedClassifier(6, random_state=1).fit(X, y > 0).coef_).all()
    assert model.predict_proba(table).shape == (ROWS, 2)
    chosen = BudgetedRegressorCV([6], cv=2, random_state=1).fit(table, y)
    same(chosen, BudgetedRegressorCV([6], cv=2, random_state=1).fit(X, y))
    full = HardThresholdingRegressor(2).fit(table, y)
    assert (full.coef_ == HardThresholdingRegressor(2).fit(np.asfortranarray(X), y).coef_).all()


@pytest.mark.parametrize("kind", ["in memory", "made"])
def test_a_worker_that_is_killed_is_replaced_and_the_bits_stay(kind, data):
    X, y = data

    def load(begin, names):
        return X[begin : begin + CHUNK, [int(name) for name in names]]

    with cluster(2) as here, distributed.Client(here) as client:
        if kind == "in memory":
            table = Partitions.from_array(da.from_array(X, chunks=(CHUNK, 20)), client=client)
        else:
            lengths = [CHUNK] * (ROWS // CHUNK) + [ROWS % CHUNK]
            begins = list(range(0, ROWS, CHUNK))
            table = Partitions.from_map(load, begins, lengths, list(map(str, range(20))), client=client)
        victim = next(iter(client.run(os.getpid).values()))
        asks, read = [], table._read

        def counting(attributes, rows):
            asks.append(len(rows))
            if len(asks) == 20:
                os.kill(victim, signal.SIGKILL)
            return read(attributes, rows)

        table._read = counting
        model = fitted(table, y)
        assert len(asks) > 40
        deadline = time.monotonic() + 30.0
        while victim in (now := client.run(os.getpid).values()) or len(now) < 2:
            assert time.monotonic() < deadline, "the worker was not replaced"
            time.sleep(0.1)
        same(model, fitted(X, y))


def test_workers_that_do_not_answer_end_in_an_error_and_not_in_silence(data):
    X, y = data
    with cluster(1) as here, distributed.Client(here) as client:
        table = Partitions.from_array(da.from_array(X, chunks=(CHUNK, 20)), client=client, timeout=1.0)
        worker = next(iter(client.run(os.getpid).values()))
        os.kill(worker, signal.SIGSTOP)
        begin = time.monotonic()
        try:
            with pytest.raises(TimeoutError, match="did not answer within 1.0 seconds"):
                fitted(table, y)
            assert time.monotonic() - begin < 10.0
        finally:
            os.kill(worker, signal.SIGCONT)


def test_an_interrupt_keeps_what_was_learned(client, data):
    # A shell that starts a program in the background lets it ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    X, y = data
    table = Partitions.from_array(da.from_array(X, chunks=(CHUNK, 20)), client=client)
    model = BudgetedRegressor(6, passes=1000, random_state=1)
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(table, y)
    assert model.interrupted_ and model.spent_["examples"] > 0


def test_parquet_files_are_read_by_column_and_row_group(client, data, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X, y = data
    paths = []
    for part, begin in enumerate(range(0, ROWS, 2 * CHUNK)):
        rows = slice(begin, begin + 2 * CHUNK)
        columns = {f"c{j}": X[rows, j] for j in range(20)} | {"y": y[rows]}
        paths.append(tmp_path / f"part-{part}.parquet")
        parquet.write_table(pyarrow.table(columns), paths[-1], row_group_size=CHUNK)
    table, labels = Partitions.from_parquet(paths, "y", client=client)
    assert (labels == y).all() and table.shape == (ROWS, 20) and len(table.parts) == 4
    model = fitted(table, labels)
    same(model, fitted(X, y))
    assert set(model.get_feature_names_out()) >= {"c2", "c7"}
    # Nothing is read twice where there is room, but by another worker.
    assert 0 < table.nbytes_read <= 2 * table.nbytes
    fresh, _ = Partitions.from_parquet(paths, "y", client=client)
    assert fresh.nbytes_read == 0
    assert len(model.predict(fresh)) == ROWS
    support = sum(fresh._sizes[:, model.support_].sum(axis=0))
    assert support <= fresh.nbytes_read <= 2 * support < fresh.nbytes
    values = fresh._read(np.array([3], dtype=np.uint32), np.arange(CHUNK + 5, CHUNK + 9, dtype=np.uint32))
    assert (values == X[CHUNK + 5 : CHUNK + 9, [3]].T).all(), "the second row group"
    table, labels = Partitions.from_parquet(paths, "y", client=client)
    parquet.write_table(parquet.read_table(paths[0]).slice(1), paths[0])
    with pytest.raises(ValueError, match="was changed after the table was made"):
        fitted(table, labels)
    with pytest.raises(ValueError, match="has no column 'z'; its columns are"):
        Partitions.from_parquet(paths, "z", client=client)


def test_partitions_are_made_when_they_are_asked_for_and_dropped_where_there_is_no_room(client, data):
    X, y = data
    begins = list(range(0, ROWS, CHUNK))
    lengths = [min(CHUNK, ROWS - begin) for begin in begins]
    names = [f"c{j}" for j in range(20)]

    def load(begin, columns):
        return X[begin : begin + CHUNK, [int(name[1:]) for name in columns]]

    plain = fitted(X, y, shuffle=False)
    most = {}
    for room in [0, 2 * 8 * CHUNK, 1 << 30]:
        table = Partitions.from_map(load, begins, lengths, names, client=client, room=room)
        assert (table.shape, table.nbytes) == (X.shape, 8 * X.size)
        same(fitted(table, y, shuffle=False), plain)
        most[room] = table.nbytes_read
    assert most[0] > most[2 * 8 * CHUNK] > most[1 << 30] > 0

    def too_short(begin, columns):
        return load(begin, columns)[1:]

    table = Partitions.from_map(too_short, begins, lengths, names, client=client)
    with pytest.raises(ValueError, match="249,.* values were loaded, and the partition has 250 rows"):
        fitted(table, y)
    with pytest.raises(ValueError, match="4 parts and 3 lengths"):
        Partitions.from_map(load, begins, lengths[1:], names, client=client)


@pytest.mark.parametrize(
    "rows",
    [
        300_000,
        pytest.param(
            10_000_000,
            marks=pytest.mark.skipif("LAO_SLOW" not in os.environ, reason="LAO_SLOW is not set: minutes"),
        ),
    ],
)
def test_a_table_of_a_thousand_columns_that_is_never_in_memory_takes_little(rows):
    """All values would take 2.4 gigabytes, or 80."""
    signal.alarm(300 if rows < 10_000_000 else 900)
    per_part, dim, room = rows // 100, 1_000, 100_000_000

    def column(part, j):
        # Any column can be made alone.
        return np.random.default_rng([part, j]).random(per_part, dtype=np.float32)

    def load(part, names):
        return [column(part, int(name[1:])) for name in names]

    parts = range(rows // per_part)
    y = np.concatenate([2.0 * column(part, 300) - column(part, 700) for part in parts])
    y += np.random.default_rng(1).standard_normal(rows)
    with cluster(2) as here, distributed.Client(here) as client:
        names = [f"c{j}" for j in range(dim)]
        lengths = [per_part] * len(parts)
        table = Partitions.from_map(load, list(parts), lengths, names, client=client, room=room)
        client.run(load, 0, names[:20])
        before = client.run(peak)
        model = BudgetedRegressor(20, shuffle=False, random_state=1).fit(table, y)
        after = client.run(peak)
        assert model.spent_["examples"] == rows * 9 // 10
        assert set(model.support_) == {300, 700}
        assert np.abs(model.coef_[[300, 700]] - [2.0, -1.0]).max() < 0.03
        for worker, most in after.items():
            assert most - before[worker] < room + 100_000_000


def peak():
    """Returns the most bytes that this process has had in memory."""
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_dataframes(client, data):
    pandas = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y = data
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(20)])
    frame["y"] = y
    table, labels = Partitions.from_dataframe(dd.from_pandas(frame, npartitions=4), "y", client=client)
    assert (labels == y).all()
    same(fitted(table, labels), fitted(X, y))
