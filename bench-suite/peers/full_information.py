"""Sparse models at full information: the time to a model of k attributes that is as good as the true one.

A learner gets all values, k, and an effort. A run reaches the goal if its model has at most k attributes and
a training loss of at most 1.01 times that of the best model on the attributes that determine the label: mean
squared error, or mean log loss for tables of two classes. A learner whose effort can be limited is run from
scratch with the efforts of its row, ascending, until a run reaches the goal; the time is that of this run
alone. No learner fits an intercept or scales columns: dense columns have mean 0 and variance 1, sparse rows
have length 1. Weights that are not the best on their attributes are replaced by these, and the time of this
is counted. A learner that does not take a table's loss or its sparse rows has no result there.
"""

import time

import numpy as np
import scipy.sparse

GOAL = 1.01
ROUNDS = [1, 2, 4, 8, 16, 32, 64, 128]
PENALTIES = [10, 20, 40, 80]


class Squares:
    """The mean squared error."""

    name = "squares"

    @staticmethod
    def loss(margins, y):
        return float(np.mean((y - margins) ** 2))

    @staticmethod
    def best(X, y):
        return np.linalg.lstsq(X, y, rcond=None)[0]


class Logistic:
    """The mean log loss of classes 0 and 1."""

    name = "logistic"

    @staticmethod
    def loss(margins, y):
        return float(np.mean(np.logaddexp(0.0, margins) - y * margins))

    @staticmethod
    def best(X, y):
        """Newton steps, halved until the loss falls."""
        weights = np.zeros(X.shape[1])
        for _ in range(50):
            margins = X @ weights
            p = 1.0 / (1.0 + np.exp(-margins))
            curvature = np.maximum(p * (1.0 - p), 1e-10)
            step = np.linalg.solve(X.T @ (X * curvature[:, None]) + 1e-12 * np.eye(X.shape[1]), X.T @ (y - p))
            before, part = Logistic.loss(margins, y), 1.0
            while part > 1e-6 and Logistic.loss(X @ (weights + part * step), y) > before:
                part /= 2.0
            weights = weights + part * step
            if before - Logistic.loss(X @ weights, y) <= 1e-12 * before:
                break
        return weights


def dense(X, found):
    """Returns some columns, dense."""
    columns = X[:, found]
    return columns.toarray() if scipy.sparse.issparse(columns) else columns


def refit(X, y, found, loss):
    """Returns the best weights on the attributes of `found`."""
    weights = np.zeros(X.shape[1])
    weights[found] = loss.best(dense(X, found), y)
    return weights


def largest(X, y, weights, k, loss):
    """Returns the best weights on the attributes of the k largest weights."""
    order = np.argsort(-np.abs(weights), kind="stable")[:k]
    return refit(X, y, np.sort(order[weights[order] != 0.0]), loss)


def lao(method):
    from lao_learn import HardThresholdingClassifier, HardThresholdingRegressor

    refits = method in ("exchange", "htp") or method.endswith("-pruned")

    def run(X, y, k, rounds, seed, loss):
        kind = HardThresholdingRegressor if loss is Squares else HardThresholdingClassifier
        model = kind(
            k,
            method=method,
            max_iter=rounds,
            tol=0.0,
            ridge=0.0,
            fit_intercept=False,
            standardize="no",
            random_state=seed,
        ).fit(X, y)
        return model.coef_.ravel() if refits else refit(X, y, model.support_, loss)

    return run


def omp():
    from sklearn.linear_model import OrthogonalMatchingPursuit

    def run(X, y, k, _, seed, loss):
        model = OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=False, precompute=False)
        return model.fit(X, y).coef_

    return run


def down_a_path(fit):
    """Makes a learner from a function that returns the weights at each of descending penalties: the best
    weights on the k largest of the first model that has k of them, or of the last model."""

    def run(X, y, k, count, seed, loss):
        slopes = X.T @ (y if loss is Squares else y - 0.5)
        greatest = np.max(np.abs(slopes)) / len(y)
        for weights in fit(X, y, np.geomspace(greatest, greatest / 100.0, count), loss):
            if np.count_nonzero(weights) >= k:
                break
        return largest(X, y, weights, k, loss)

    return run


def lasso():
    from sklearn.linear_model import Lasso

    def fit(X, y, grid, loss):
        model = Lasso(fit_intercept=False, warm_start=True)
        for model.alpha in grid:
            yield model.fit(X, y).coef_

    return down_a_path(fit)


def skglm(penalty):
    from skglm import Lasso, MCPRegression, SparseLogisticRegression

    def fit(X, y, grid, loss):
        if loss is Logistic:
            model = SparseLogisticRegression(fit_intercept=False, warm_start=True)
        elif penalty == "lasso":
            model = Lasso(fit_intercept=False, warm_start=True)
        else:
            model = MCPRegression(gamma=3.0, fit_intercept=False, warm_start=True)
        for model.alpha in grid:
            yield model.fit(X, y).coef_.ravel()

    return down_a_path(fit)


def abess():
    from abess import LinearRegression, LogisticRegression

    def run(X, y, k, _, seed, loss):
        kind = LinearRegression if loss is Squares else LogisticRegression
        return kind(support_size=k, fit_intercept=False, thread=1).fit(X, y).coef_.ravel()

    return run


def skscope():
    from purchases import LeastSquares
    from skscope import ScopeSolver

    def run(X, y, k, _, seed, loss):
        solver = ScopeSolver(
            X.shape[1],
            k,
            sample_size=len(y),
            numeric_solver=LeastSquares.minimum,
            random_state=seed % 2**31,
        )
        return np.asarray(solver.solve(LeastSquares.loss, data=(X, y), gradient=LeastSquares.gradient))

    return run


# The tables that a learner takes, by loss, and with a second word if it takes them with sparse rows.
ALL = {"squares", "squares sparse", "logistic", "logistic sparse"}

# The efforts of each learner, the layout in which it is fastest, what it takes, and the learner.
LEARNERS = {
    "lao-exchange": (["lao_learn"], lambda: (ROUNDS, "F", ALL, lao("exchange"))),
    "lao-htp": (["lao_learn"], lambda: (ROUNDS, "F", ALL, lao("htp"))),
    "lao-htp-pruned": (["lao_learn"], lambda: (ROUNDS, "F", ALL, lao("htp-pruned"))),
    "lao-gd-ht": (["lao_learn"], lambda: (ROUNDS, "F", ALL, lao("gd-ht-normalized"))),
    "lao-svrg-ht": (["lao_learn"], lambda: (ROUNDS, "C", ALL, lao("svrg-ht"))),
    "lao-svrg-ht-pruned": (["lao_learn"], lambda: (ROUNDS, "C", ALL, lao("svrg-ht-pruned"))),
    "lao-scsg-ht": (["lao_learn"], lambda: (ROUNDS, "C", ALL, lao("scsg-ht-ii"))),
    "lao-scsg-ht-pruned": (["lao_learn"], lambda: (ROUNDS, "C", ALL, lao("scsg-ht-ii-pruned"))),
    "omp": (["scikit-learn"], lambda: ([1], "F", {"squares"}, omp())),
    # For classes, skglm has the same models in less time.
    "lasso": (
        ["scikit-learn"],
        lambda: (PENALTIES, "F", {"squares", "squares sparse"}, lasso()),
    ),
    "skglm-lasso": (["skglm", "numba"], lambda: (PENALTIES, "F", ALL, skglm("lasso"))),
    "skglm-mcp": (
        ["skglm", "numba"],
        lambda: (PENALTIES, "F", {"squares", "squares sparse"}, skglm("mcp")),
    ),
    # On the sparse table abess takes more than the limit of five minutes.
    "abess": (["abess"], lambda: ([1], "C", {"squares", "logistic"}, abess())),
    "skscope": (["skscope"], lambda: ([1], "F", {"squares"}, skscope())),
}


def table_of(tables, order):
    """Returns the rows in the layout that is asked for."""
    if "train-x" in tables:
        return np.asarray(tables["train-x"], order=order)
    shape = tables["shape"].astype(np.int64)
    arrays = (tables["values"], tables["places"].astype(np.int32), tables["starts"].astype(np.int64))
    X = scipy.sparse.csr_matrix(arrays, shape=tuple(shape))
    return X if order == "C" else X.tocsc()


def measure(learner, tables, request, first):
    """Returns the number of rows, and the measurements of the run that reached the goal, or of the last."""
    efforts, order, takes, run = learner
    loss = Logistic if request["classes"] else Squares
    y, support = tables["train-y"], tables["support"].astype(np.int64)
    if loss.name + ("" if "train-x" in tables else " sparse") not in takes:
        return len(y), {}
    k, seed = len(support), request["seed"]
    X = table_of(tables, order)
    best = loss.loss(dense(X, support) @ loss.best(dense(X, support), y), y)
    measured, start = {}, time.perf_counter()
    if first:
        run(X, y, k, efforts[0], seed, loss)
        measured["seconds of the first fit"] = time.perf_counter() - start
    for effort in efforts:
        begin = time.perf_counter()
        weights = run(X, y, k, effort, seed, loss)
        seconds = time.perf_counter() - begin
        found = np.flatnonzero(weights)
        ratio = loss.loss(dense(X, found) @ weights[found], y) / best
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
    return len(y), measured
