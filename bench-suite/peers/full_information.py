"""Sparse regression at full information: the time to a model of k attributes that is as good as the true one.

A learner gets all values, k, and an effort. A run reaches the goal if its model has at most k attributes and
a training loss of at most 1.01 times that of least squares on the attributes that determine the label. A
learner whose effort can be limited is run from scratch with the efforts of its row, ascending, until a run
reaches the goal; the time is that of this run alone. No learner fits an intercept or scales columns, since
the columns have mean 0 and variance 1. Weights that are not least squares are replaced by least squares on
their attributes, and the time of this is counted.
"""

import time

import numpy as np

GOAL = 1.01
ROUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
PENALTIES = [10, 20, 40, 80]


def refit(X, y, found):
    """Returns least squares on the attributes of `found`."""
    weights = np.zeros(X.shape[1])
    weights[found] = np.linalg.lstsq(X[:, found], y, rcond=None)[0]
    return weights


def largest(X, y, weights, k):
    """Returns least squares on the attributes of the k largest weights."""
    order = np.argsort(-np.abs(weights), kind="stable")[:k]
    return refit(X, y, np.sort(order[weights[order] != 0.0]))


def lao(method):
    from lao_learn import HardThresholdingRegressor

    def run(X, y, k, rounds, seed):
        model = HardThresholdingRegressor(
            k,
            method=method,
            max_iter=rounds,
            tol=0.0,
            fit_intercept=False,
            standardize="no",
            random_state=seed,
        ).fit(X, y)
        return model.coef_ if method in ("exchange", "htp") else refit(X, y, model.support_)

    return run


def omp():
    from sklearn.linear_model import OrthogonalMatchingPursuit

    def run(X, y, k, _, seed):
        model = OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=False, precompute=False)
        return model.fit(X, y).coef_

    return run


def down_a_path(fit):
    """Makes a learner from a function that returns the weights at each of descending penalties: least squares
    on the k largest weights of the first model that has k of them, or of the last model."""

    def run(X, y, k, count, seed):
        greatest = np.max(np.abs(X.T @ y)) / len(y)
        for weights in fit(X, y, np.geomspace(greatest, greatest / 100.0, count)):
            if np.count_nonzero(weights) >= k:
                break
        return largest(X, y, weights, k)

    return run


def lasso():
    from sklearn.linear_model import Lasso

    def fit(X, y, grid):
        model = Lasso(fit_intercept=False, warm_start=True)
        for model.alpha in grid:
            yield model.fit(X, y).coef_

    return down_a_path(fit)


def skglm(penalty):
    from skglm import Lasso, MCPRegression

    def fit(X, y, grid):
        if penalty == "lasso":
            model = Lasso(fit_intercept=False, warm_start=True)
        else:
            model = MCPRegression(gamma=3.0, fit_intercept=False, warm_start=True)
        for model.alpha in grid:
            yield model.fit(X, y).coef_

    return down_a_path(fit)


def abess():
    from abess import LinearRegression

    def run(X, y, k, _, seed):
        return LinearRegression(support_size=k, fit_intercept=False, thread=1).fit(X, y).coef_

    return run


def skscope():
    from purchases import LeastSquares
    from skscope import ScopeSolver

    def run(X, y, k, _, seed):
        solver = ScopeSolver(
            X.shape[1],
            k,
            sample_size=len(X),
            numeric_solver=LeastSquares.minimum,
            random_state=seed % 2**31,
        )
        return np.asarray(solver.solve(LeastSquares.loss, data=(X, y), gradient=LeastSquares.gradient))

    return run


# The efforts of each learner, the layout in which it is fastest, and the learner.
LEARNERS = {
    "lao-exchange": (["lao_learn"], lambda: (ROUNDS, "F", lao("exchange"))),
    "lao-htp": (["lao_learn"], lambda: (ROUNDS, "F", lao("htp"))),
    "lao-gd-ht": (["lao_learn"], lambda: (ROUNDS, "F", lao("gd-ht-normalized"))),
    "lao-scsg-ht": (["lao_learn"], lambda: (ROUNDS, "C", lao("scsg-ht-ii"))),
    "omp": (["scikit-learn"], lambda: ([1], "F", omp())),
    "lasso": (["scikit-learn"], lambda: (PENALTIES, "F", lasso())),
    "skglm-lasso": (["skglm", "numba"], lambda: (PENALTIES, "F", skglm("lasso"))),
    "skglm-mcp": (["skglm", "numba"], lambda: (PENALTIES, "F", skglm("mcp"))),
    "abess": (["abess"], lambda: ([1], "C", abess())),
    "skscope": (["skscope"], lambda: ([1], "F", skscope())),
}


def measure(learner, tables, request, first):
    """Returns the number of rows, and the measurements of the run that reached the goal, or of the last."""
    efforts, order, run = learner
    X, y, support = tables["train-x"], tables["train-y"], tables["support"].astype(np.int64)
    k, seed = len(support), request["seed"]
    best = float(np.mean((y - X @ refit(X, y, support)) ** 2))
    X = np.asarray(X, order=order)
    measured, start = {}, time.perf_counter()
    if first:
        run(X, y, k, efforts[0], seed)
        measured["seconds of the first fit"] = time.perf_counter() - start
    for effort in efforts:
        begin = time.perf_counter()
        weights = run(X, y, k, effort, seed)
        seconds = time.perf_counter() - begin
        found = np.flatnonzero(weights)
        ratio = float(np.mean((y - X[:, found] @ weights[found]) ** 2)) / best
        reached = len(found) <= k and ratio <= GOAL
        # The next run would take about twice as long. It is not begun where the limit would end it.
        if reached or time.perf_counter() - start + 3.0 * seconds > request["seconds"]:
            break
    hits = len(np.intersect1d(found, support))
    measured["seconds"] = seconds if reached else None
    measured["reached"] = float(reached)
    measured["seconds of the last run"] = seconds
    measured["effort"] = float(effort)
    measured["training loss over that of the true support"] = ratio if np.isfinite(ratio) else None
    measured["support F1"] = 2.0 * hits / (len(found) + k)
    measured["attributes"] = float(len(found))
    return len(X), measured
