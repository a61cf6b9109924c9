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
        raise TimeoutError("the test took longer than 90 seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(90)
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


def test_a_worker_that_is_killed_is_replaced_and_the_bits_stay(data):
    X, y = data
    with cluster(2) as here, distributed.Client(here) as client:
        table = Partitions.from_array(da.from_array(X, chunks=(CHUNK, 20)), client=client)
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


def test_parquet_files_are_read_by_column(client, data, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X, y = data
    paths = []
    for part, begin in enumerate(range(0, ROWS, CHUNK)):
        rows = slice(begin, begin + CHUNK)
        columns = {f"c{j}": X[rows, j] for j in range(20)} | {"y": y[rows]}
        paths.append(tmp_path / f"part-{part}.parquet")
        parquet.write_table(pyarrow.table(columns), paths[-1])
    table, labels = Partitions.from_parquet(paths, "y", client=client)
    assert (labels == y).all() and table.shape == (ROWS, 20)
    model = fitted(table, labels)
    same(model, fitted(X, y))
    assert set(model.get_feature_names_out()) >= {"c2", "c7"}
    assert len(model.predict(table)) == ROWS
    table, labels = Partitions.from_parquet(paths, "y", client=client)
    parquet.write_table(parquet.read_table(paths[0]).slice(1), paths[0])
    with pytest.raises(ValueError, match="was changed after the table was made"):
        fitted(table, labels)
    with pytest.raises(ValueError, match="has no column 'z'; its columns are"):
        Partitions.from_parquet(paths, "z", client=client)


def test_dataframes(client, data):
    pandas = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y = data
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(20)])
    frame["y"] = y
    table, labels = Partitions.from_dataframe(dd.from_pandas(frame, npartitions=4), "y", client=client)
    assert (labels == y).all()
    same(fitted(table, labels), fitted(X, y))
