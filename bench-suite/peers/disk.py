"""A table in a Parquet file: what is read of it, and how long a model takes.

The label is linear in few of the columns, which are independent normal with variance 1, and noise. A learner
gets the path of a file. That of the others than lao, `whole.parquet`, is as pyarrow writes it by itself;
`table.parquet` is in short pages. Before each run the system is asked to drop what it keeps of files, which
only some systems allow; `dropped` says whether it did.

Lasso is given what it needs at its best: the variance of the noise, for the penalty sigma sqrt(2 log d / n),
and least squares on the columns that it chooses.

Learners "from a store" get the URL of an object store on this machine, whose answers come 20 ms after the
requests; others than lao download the file first, in eight parts at once.
"""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np

LATENCY = 0.02


class Store(BaseHTTPRequestHandler):
    """Answers requests for ranges of the files of the folder in which it was started."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        time.sleep(LATENCY)
        path = Path(self.path.split("?")[0]).name
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        try:
            size = os.stat(path).st_size
        except OSError:
            self.send_error(404)
            return
        begin, end = (int(asked[1]), min(int(asked[2]) + 1, size)) if asked else (0, size)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(end - begin))
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{size}")
        self.send_header("Last-Modified", "Tue, 03 Nov 2026 10:00:00 GMT")
        self.send_header("ETag", f'"{size}"')
        self.end_headers()
        self.wfile.flush()
        with open(path, "rb") as file:
            self.connection.sendfile(file, begin, end - begin)

    def log_message(self, *_):
        pass


def serve():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    print(server.server_address[1], flush=True)
    server.serve_forever()


@contextmanager
def store(folder):
    """The address of a store with the files of a folder, a process of its own."""
    command = [sys.executable, __file__]
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


def from_store(learner):
    """The learner, with the folder behind a store."""

    def run(folder, request):
        with store(folder) as address:
            start = time.perf_counter()
            result = learner(folder, request, address)
            return result, time.perf_counter() - start

    run.times_itself = True
    return run


def lao_from_store(folder, request, address):
    from lao_learn import BudgetedRegressor, ParquetTable

    os.environ.update(AWS_ENDPOINT_URL=address, AWS_ALLOW_HTTP="true", AWS_SKIP_SIGNATURE="true")
    model = BudgetedRegressor(budget=request["budget"], shape="line", random_state=request["seed"])
    table = ParquetTable("s3://bucket/table.parquet", target="y")
    model.fit(table, table.y)
    return model.coef_, model.intercept_, model.spent_["bytes"] / (folder / "table.parquet").stat().st_size


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
            return model.coef_, model.intercept_, model.spent_["bytes"] / path.stat().st_size
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        model.fit(table.drop_columns(["y"]), table["y"].to_numpy())
        return model.coef_, model.intercept_, 1.0

    return run


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
        penalty = request["noise"] * np.sqrt(2.0 * np.log(d) / n)
        found = np.flatnonzero(Lasso(alpha=penalty, copy_X=False).fit(X, y).coef_)
        chosen = np.column_stack([np.ones(n), X[:, found]])
        best = np.linalg.lstsq(chosen, y, rcond=None)[0]
        weights = np.zeros(d)
        weights[found] = best[1:]
        return weights, best[0], 1.0

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
    weights, intercept, share = result
    theta = data["theta"]
    import pyarrow.parquet as pq

    rows = pq.read_metadata(folder / "table.parquet").num_rows
    return rows, {
        "seconds": seconds,
        "share of the file read": share,
        "excess risk": float(np.sum((weights - theta) ** 2) + intercept**2),
        "attributes": float(np.count_nonzero(weights)),
        "files dropped from memory": float(dropped),
    }


if __name__ == "__main__":
    serve()
