"""A table in a Parquet file: what is read of it, and how long a model takes.

The label is linear in few of the columns, which are independent normal with variance 1, and noise. A learner
gets the path of a file. That of the others than lao, `whole.parquet`, is as pyarrow writes it by itself;
`table.parquet` is in short pages. Before each run the system is asked to drop what it keeps of files, which
only some systems allow; `dropped` says whether it did.

Lasso is given what it needs at its best: the variance of the noise, for the penalty sigma sqrt(2 log d / n),
and least squares on the columns that it chooses. Where the noise is not known, it gets columns that are
standardized and cut at four standard deviations, which lao does on its own, and cross-validates the penalty.

A learner returns its weights, its intercept, the share of the file that it read, and how it predicts.

Learners "from a store" get the URL of an object store on this machine, whose answers come 20 ms after the
requests; others than lao download the file first, in eight parts at once. Some of these stores send 100
million bits per second and no more.
"""

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np
from purchases import Scale

LATENCY = 0.02
SLOW = 100e6 / 8
CHUNK = 1 << 18


class Line:
    """What all answers go through: so many bytes per second."""

    def __init__(self, rate):
        self.rate = rate
        self.busy_until = 0.0

    async def take(self, size):
        self.busy_until = max(self.busy_until, time.monotonic()) + size / self.rate
        await asyncio.sleep(max(self.busy_until - time.monotonic(), 0.0))


async def answer(request, writer, line):
    """Answers a request for a range of a file of the folder in which the store was started."""
    path = Path(request.split(b" ", 2)[1].split(b"?")[0].decode()).name
    asked = re.search(rb"\r\n[Rr]ange: *bytes=(\d+)-(\d+)", request)
    await asyncio.sleep(LATENCY)
    if not os.path.exists(path):
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        return
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        begin, end = (int(asked[1]), min(int(asked[2]) + 1, size)) if asked else (0, size)
        head = (
            f"HTTP/1.1 {'206 Partial Content' if asked else '200 OK'}\r\nContent-Length: {end - begin}\r\n"
            f"Content-Range: bytes {begin}-{end - 1}/{size}\r\n"
            f'Last-Modified: Tue, 03 Nov 2026 10:00:00 GMT\r\nETag: "{size}"\r\n\r\n'
        )
        writer.write(head.encode())
        for at in range(begin, end, CHUNK):
            step = min(CHUNK, end - at)
            if line.rate < float("inf"):
                await line.take(step)
            writer.write(os.pread(file.fileno(), step, at))
            await writer.drain()


def serve(rate):
    line = Line(rate)

    async def connection(reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await answer(await reader.readuntil(b"\r\n\r\n"), writer, line)
        writer.close()

    async def run():
        server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=1024)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(run())


@contextlib.contextmanager
def store(folder, rate):
    """The address of a store with the files of a folder, a process of its own."""
    command = [sys.executable, __file__, str(rate)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        finally:
            server.kill()


def download(url, to):
    with urlopen(Request(url, headers={"Range": "bytes=0-3"})) as answer:
        size = int(answer.headers["Content-Range"].split("/")[1])
    with open(to, "wb") as file:
        file.truncate(size)

    def part(ends):
        with urlopen(Request(url, headers={"Range": f"bytes={ends[0]}-{ends[1] - 1}"})) as answer:
            with open(to, "r+b") as file:
                file.seek(ends[0])
                file.write(answer.read())

    step = max(-(-size // 8), 8 << 20)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(part, [(begin, min(begin + step, size)) for begin in range(0, size, step)]))


def from_store(learner, rate=float("inf")):
    """The learner, with the folder behind a store that sends so many bytes per second."""

    def run(folder, request):
        with store(folder, rate) as address:
            start = time.perf_counter()
            result = learner(folder, request, address)
            return result, time.perf_counter() - start

    run.times_itself = True
    return run


def of(model, share):
    """What is returned of a model of lao. Its weights are for values that are not far out."""
    return model.coef_, model.intercept_, share, model.predict


def lao_from_store(folder, request, address):
    from lao_learn import BudgetedRegressor, ParquetTable

    os.environ.update(AWS_ENDPOINT_URL=address, AWS_ALLOW_HTTP="true", AWS_SKIP_SIGNATURE="true")
    model = BudgetedRegressor(budget=request["budget"], shape="line", random_state=request["seed"])
    table = ParquetTable("s3://bucket/table.parquet", target="y")
    model.fit(table, table.y)
    return of(model, model.spent_["bytes"] / (folder / "table.parquet").stat().st_size)


def lasso_from_store(reader):
    def run(folder, request, address):
        to = folder / "downloaded.parquet"
        download(f"{address}/bucket/whole.parquet", to)
        try:
            return lasso(reader, to.name)(folder, request)
        finally:
            to.unlink()

    return run


def drop_cache():
    """Asks the system to drop what it keeps of files; returns whether it did."""
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3")
    except OSError:
        return False
    return True


def lao(pages):
    from lao_learn import BudgetedRegressor, ParquetTable

    def run(folder, request):
        model = BudgetedRegressor(budget=request["budget"], shape="line", random_state=request["seed"])
        path = folder / "table.parquet"
        if pages:
            table = ParquetTable(path, target="y")
            model.fit(table, table.y)
            return of(model, model.spent_["bytes"] / path.stat().st_size)
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        model.fit(table.drop_columns(["y"]), table["y"].to_numpy())
        return of(model, 1.0)

    return run


def cross_validated(X, y):
    from sklearn.linear_model import LassoCV

    scale = Scale(X.astype(float), y)
    model = LassoCV(cv=5, n_jobs=-1).fit(scale.of(X), scale.labels(y))
    weights = np.zeros(X.shape[1])
    weights[scale.kept] = model.coef_ / scale.deviation * scale.label_scale
    intercept = scale.labels_of(model.intercept_) - weights[scale.kept] @ scale.mean
    return weights, intercept, 1.0, lambda X: scale.labels_of(model.predict(scale.of(X)))


def lasso(reader, file="whole.parquet"):
    from sklearn.linear_model import Lasso

    def run(folder, request):
        path = folder / file
        if reader == "polars":
            import polars

            table = polars.read_parquet(path)
            y = table.drop_in_place("y").to_numpy()
            X = table.to_numpy()
        else:
            import pyarrow.parquet as pq

            table = pq.read_table(path)
            y = table["y"].to_numpy()
            X = np.column_stack([table[name].to_numpy() for name in table.column_names if name != "y"])
        n, d = X.shape
        if request["noise"] is None:
            return cross_validated(X, y)
        penalty = request["noise"] * np.sqrt(2.0 * np.log(d) / n)
        found = np.flatnonzero(Lasso(alpha=penalty, copy_X=False).fit(X, y).coef_)
        chosen = np.column_stack([np.ones(n), X[:, found]])
        best = np.linalg.lstsq(chosen, y, rcond=None)[0]
        weights = np.zeros(d)
        weights[found] = best[1:]
        return weights, best[0], 1.0, lambda X: X @ weights + best[0]

    return run


LEARNERS = {
    "lao-by-page": (["lao-learn"], lambda: lao(True)),
    "lao-in-memory": (["lao-learn", "pyarrow"], lambda: lao(False)),
    "pyarrow-lasso": (["pyarrow", "scikit-learn"], lambda: lasso("pyarrow")),
    "polars-lasso": (["polars", "scikit-learn"], lambda: lasso("polars")),
    "lao-from-store": (["lao-learn"], lambda: from_store(lao_from_store)),
    "pyarrow-lasso-from-store": (
        ["pyarrow", "scikit-learn"],
        lambda: from_store(lasso_from_store("pyarrow")),
    ),
    "polars-lasso-from-store": (["polars", "scikit-learn"], lambda: from_store(lasso_from_store("polars"))),
    "lao-from-slow-store": (["lao-learn"], lambda: from_store(lao_from_store, SLOW)),
    "polars-lasso-from-slow-store": (
        ["polars", "scikit-learn"],
        lambda: from_store(lasso_from_store("polars"), SLOW),
    ),
}


def prepare(folder):
    """Writes the file that others read, if it is not there."""
    import pyarrow.parquet as pq

    whole = folder / "whole.parquet"
    if not whole.exists():
        pq.write_table(pq.read_table(folder / "table.parquet"), whole)


def measure(run, data, request, first):
    folder = Path(request["folder"])
    prepare(folder)
    dropped = drop_cache()
    start = time.perf_counter()
    result = run(folder, request)
    seconds = time.perf_counter() - start
    if getattr(run, "times_itself", False):
        result, seconds = result
    weights, intercept, share, predict = result
    import pyarrow.parquet as pq

    rows = pq.read_metadata(folder / "table.parquet").num_rows
    measured = {
        "seconds": seconds,
        "share of the file read": share,
        "attributes": float(np.count_nonzero(weights)),
        "files dropped from memory": float(dropped),
    }
    if "theta" in data:
        measured["excess risk"] = float(np.sum((weights - data["theta"]) ** 2) + intercept**2)
    else:
        y = pq.read_table(folder / "table.parquet", columns=["y"])["y"].to_numpy()
        errors = data["test-y"] - predict(data["test-x"])
        useless = np.mean((data["test-y"] - y.mean()) ** 2)
        measured["relative test error"] = float(np.mean(errors**2) / useless)
    return rows, measured


if __name__ == "__main__":
    serve(float(sys.argv[1]))
