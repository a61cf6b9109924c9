"""A table in a Parquet file: what is read of it, and how long a model takes.

The label is linear in few of the columns, which are independent normal with variance 1, and noise. A learner
gets the path of a file. That of the others than lao, `whole.parquet`, is as pyarrow writes it by itself;
`table.parquet` is in short pages. Before each run the system is asked to drop what it keeps of files, which
only some systems allow; `dropped` says whether it did.

Lasso is given what it needs at its best: the variance of the noise, for the penalty sigma sqrt(2 log d / n),
and least squares on the columns that it chooses.
"""

import time
from pathlib import Path

import numpy as np


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


def lasso(reader):
    from sklearn.linear_model import Lasso

    def run(folder, request):
        path = folder / "whole.parquet"
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
    weights, intercept, share = run(folder, request)
    seconds = time.perf_counter() - start
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
