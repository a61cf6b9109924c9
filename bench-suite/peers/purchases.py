"""Accuracy at equal purchases: a budget per example, or the complete rows that the same purchases pay for.

A learner gets the training rows, a budget per row and the largest number of attributes of its model.
lao_learn buys at most the budget of each row. The others get the first of the rows, which are in random
order, with all attributes: as many rows as cost the same in all. Columns are raw; each learner scales them by
what it bought.

All settings are in this file. Cross-validation has five folds. Among the models that it compares, those with
too many attributes are left out.
"""

import time

import numpy as np

FOLDS = 5

# Values are cut at so many standard deviations, where lao_learn cuts them, too. On heavy tails this matters
# more than the choice of a learner.
FARTHEST = 4.0


class LinearModel:
    """A linear predictor in the units of the columns."""

    def __init__(self, scale, weights):
        self.scale, self.weights = scale, weights

    def predict(self, X):
        return self.scale.labels_of(self.scale.of(X) @ self.weights)

    def reads(self, X):
        return float(np.count_nonzero(self.weights))

    def columns(self):
        return np.flatnonzero(self.weights)


class Scale:
    """The means and scales of columns and labels on the rows that were bought. Standardized values are cut at
    FARTHEST, in training and in prediction. Columns that are constant on the rows bought are dropped."""

    def __init__(self, X, y):
        self.kept = np.flatnonzero(X.max(axis=0) > X.min(axis=0))
        X = X[:, self.kept]
        self.mean, self.deviation = X.mean(axis=0), X.std(axis=0)
        self.label_mean, self.label_scale = y.mean(), y.std() or 1.0

    def of(self, X):
        standardized = (X[:, self.kept] - self.mean) / self.deviation
        return np.asfortranarray(np.clip(standardized, -FARTHEST, FARTHEST))

    def labels(self, y):
        return (y - self.label_mean) / self.label_scale

    def labels_of(self, standardized):
        return self.label_mean + self.label_scale * standardized


def folds(rows):
    """Returns pairs of training and validation rows. The rows are in random order, so folds are blocks."""
    parts = np.array_split(np.arange(rows), FOLDS)
    return [(np.concatenate(parts[:i] + parts[i + 1 :]), parts[i]) for i in range(FOLDS)]


def refit(X, y, weights):
    """Returns least squares on the attributes of `weights`."""
    found = np.flatnonzero(weights)
    fitted = np.zeros_like(weights)
    if len(found) > 0:
        fitted[found] = np.linalg.lstsq(X[:, found], y, rcond=None)[0]
    return fitted


def both(X, y, path):
    """Returns the models of a path, and least squares on the attributes of each."""
    return [*path, *(refit(X, y, weights) for weights in path)]


def best_of_path(X, y, most, grid, path):
    """Returns the model of a path that is best in cross-validation, among those with at most so many
    attributes. `path` returns a model for each number of a grid, without the last ones where they have too
    many attributes."""
    known = path(X, y, grid, most)
    grid = grid[: len(known)]
    candidates = both(X, y, known)
    errors = np.zeros(len(candidates))
    for train, held in folds(len(X)):
        models = path(X[train], y[train], grid, X.shape[1])
        models = both(X[train], y[train], models)
        errors += [np.sum((X[held] @ weights - y[held]) ** 2) for weights in models]
    return candidates[int(np.argmin(errors))]


def penalties(X, y, count, ratio):
    """Returns penalties from the largest that matters down to a share of it."""
    largest = np.max(np.abs(X.T @ y)) / len(y)
    return np.geomspace(max(largest, 1e-12), max(largest, 1e-12) * ratio, count)


def on_rows(fit, make=LinearModel):
    """Makes a learner that buys complete rows from a function of the standardized rows, and the class of its
    model."""

    def run(X, y, request):
        count = int(len(X) * request["budget"] // X.shape[1])
        X, y = X[:count], y[:count]
        scale = Scale(X, y)
        most = min(request["longest"], len(scale.kept))
        return make(scale, fit(scale.of(X), scale.labels(y), most, request["seed"])), X.size

    return run


class OnColumns:
    """A model that gets some of the columns."""

    def __init__(self, model, columns):
        self.model, self.columns = model, columns

    def predict(self, X):
        return self.model.predict(X[:, self.columns])

    def reads(self, X):
        return self.model.reads(X[:, self.columns])


def in_halves(fit, make=LinearModel):
    """As `on_rows`, with half of the money for complete rows, which select columns, and the rest for further
    rows of these columns alone: the model is fitted to all rows of which they were bought."""

    def run(X, y, request):
        rows, dim = X.shape
        first = int(rows * request["budget"] / 2 // dim)
        scale = Scale(X[:first], y[:first])
        most = min(request["longest"], len(scale.kept))
        model = make(scale, fit(scale.of(X[:first]), scale.labels(y[:first]), most, request["seed"]))
        columns = scale.kept[model.columns()]
        if len(columns) == 0:
            return model, first * dim
        further = min(rows - first, (rows * request["budget"] - first * dim) // len(columns))
        X, y = X[: first + further, columns], y[: first + further]
        scale = Scale(X, y)
        most = len(scale.kept)
        model = make(scale, fit(scale.of(X), scale.labels(y), most, request["seed"]))
        return OnColumns(model, columns), first * dim + further * len(columns)

    return run


class BudgetedModel:
    def __init__(self, model):
        self.model = model

    def predict(self, X):
        return self.model.predict(X)

    def reads(self, X):
        return float(len(self.model.support_))


def lao(method, shape="line"):
    from lao_learn import BudgetedRegressor

    def run(X, y, request):
        # Other methods than Pursuit keep half of the budget for exploration by default.
        most = request["longest"] if method == "pursuit" else None
        seed = request["seed"]
        model = BudgetedRegressor(
            request["budget"],
            method=method,
            shape=shape,
            most_attributes=most,
            holdout=0.0,
            random_state=seed,
        )
        model.fit(X, y)
        return BudgetedModel(model), model.spent_["attributes"]

    return run


def lao_then(make):
    from lao_learn import Budgeted

    def run(X, y, request):
        budget, most, seed = request["budget"], request["longest"], request["seed"]
        model = Budgeted(make(seed % 2**31), budget, most_attributes=most, random_state=seed).fit(X, y)
        return BudgetedModel(model), model.spent_["attributes"]

    return run


def lao_then_boosting():
    from sklearn.ensemble import HistGradientBoostingRegressor

    return lao_then(lambda seed: HistGradientBoostingRegressor(random_state=seed))


def lao_then_lightgbm():
    from lightgbm import LGBMRegressor

    fixed = {"num_leaves": 15, "min_child_samples": 10, "n_jobs": 1, "deterministic": True, "verbose": -1}
    return lao_then(lambda seed: LGBMRegressor(**fixed, force_row_wise=True, random_state=seed))


def lasso_weights(X, y, most):
    from sklearn.linear_model import lasso_path

    def path(X, y, grid, most):
        weights = lasso_path(X, y, alphas=grid)[1].T
        return up_to(weights, most)

    return best_of_path(X, y, most, penalties(X, y, 50, 1e-3), path)


def up_to(weights, most):
    """Returns the models of a path up to the first that has more attributes than allowed."""
    many = [np.count_nonzero(one) > most for one in weights]
    return list(weights[: many.index(True) if True in many else len(weights)])


def lasso(spend=on_rows):
    import sklearn.linear_model  # noqa: F401, the first fit does not wait for it

    return spend(lambda X, y, most, seed: lasso_weights(X, y, most))


def lasso_on_all():
    """Lasso on all rows with any number of attributes: what no budget limits."""
    from sklearn.linear_model import LassoCV

    def run(X, y, request):
        scale = Scale(X, y)
        model = LassoCV(cv=folds(len(X)), fit_intercept=False).fit(scale.of(X), scale.labels(y))
        return LinearModel(scale, model.coef_), X.size

    return run


def omp():
    from sklearn.linear_model import orthogonal_mp

    def path(X, y, grid, most):
        # Fewer steps than rows and than columns can be made.
        steps = min(len(grid), *X.shape)
        found = orthogonal_mp(X, y, n_nonzero_coefs=steps, return_path=True)
        found = found.reshape(X.shape[1], -1).T
        # A pursuit that ends early keeps its last model.
        return [found[min(i, len(found) - 1)] for i in range(len(grid))]

    return on_rows(lambda X, y, most, seed: best_of_path(X, y, most, np.arange(1, most + 1), path))


def sgd():
    from sklearn.feature_selection import SelectFromModel
    from sklearn.linear_model import SGDRegressor
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    def fit(X, y, most, seed):
        select = SelectFromModel(
            SGDRegressor(penalty="l1", random_state=seed), max_features=most, threshold=-np.inf
        )
        steps = Pipeline([("select", select), ("fit", SGDRegressor(fit_intercept=False, random_state=seed))])
        # The same penalty for the selection, by l1, and for the fit, by l2.
        grid = [{"select__estimator__alpha": [a], "fit__alpha": [a]} for a in [1e-4, 1e-3, 1e-2, 1e-1]]
        search = GridSearchCV(steps, grid, cv=FOLDS, scoring="neg_mean_squared_error").fit(X, y)
        chosen = search.best_estimator_
        weights = np.zeros(X.shape[1])
        weights[chosen["select"].get_support()] = chosen["fit"].coef_
        return weights

    return on_rows(fit)


def skglm(spend=on_rows):
    from skglm import MCPRegression

    def path(X, y, grid, most):
        model, found = MCPRegression(gamma=3.0, fit_intercept=False, warm_start=True), []
        for alpha in grid:
            model.alpha = alpha
            found.append(model.fit(X, y).coef_.copy())
            if np.count_nonzero(found[-1]) > most:
                return found[:-1]
        return found

    return spend(lambda X, y, most, seed: best_of_path(X, y, most, penalties(X, y, 30, 1e-2), path))


def abess(spend=on_rows):
    from abess import LinearRegression

    def fit(X, y, most, seed):
        # Of one column abess returns a number.
        model = LinearRegression(support_size=range(most + 1), cv=FOLDS, thread=1).fit(X, y)
        return np.atleast_1d(model.coef_)

    return spend(fit)


class LeastSquares:
    """The squared loss for skscope: its value, its gradient, and its minimum over few attributes. They are
    much faster than what skscope derives from a loss in jax, and do not depend on jax's precision."""

    @staticmethod
    def loss(weights, data):
        X, y = data
        found = np.flatnonzero(weights)
        return float(np.mean((y - X[:, found] @ weights[found]) ** 2))

    @staticmethod
    def gradient(weights, data):
        X, y = data
        found = np.flatnonzero(weights)
        return X.T @ (y - X[:, found] @ weights[found]) * (-2.0 / len(y))

    @staticmethod
    def minimum(loss, value_and_gradient, weights, free, data):
        X, y = data
        rest = weights.copy()
        rest[free] = 0.0
        others = np.flatnonzero(rest)
        left = y - X[:, others] @ rest[others]
        weights[free] = np.linalg.lstsq(X[:, free], left, rcond=None)[0]
        return loss(weights, data), weights


def skscope():
    from skscope import ScopeSolver

    def fit(X, y, most, seed):
        solver = ScopeSolver(
            X.shape[1],
            np.arange(1, most + 1),
            sample_size=len(X),
            cv=FOLDS,
            split_method=lambda data, rows: (data[0][rows], data[1][rows]),
            numeric_solver=LeastSquares.minimum,
            random_state=seed % 2**31,
        )
        return np.asarray(solver.solve(LeastSquares.loss, data=(X, y), gradient=LeastSquares.gradient))

    return on_rows(fit)


class Trees:
    """Boosted trees and the attributes that they read."""

    def __init__(self, model):
        self.model = model
        self.read = [self.of_leaves(tree["tree_structure"]) for tree in model.dump_model()["tree_info"]]

    @staticmethod
    def of_leaves(root):
        """Returns for each leaf of a tree the attributes on the path to it, as bits of a number."""
        read, open_nodes = {}, [(root, 0)]
        while open_nodes:
            node, bits = open_nodes.pop()
            if "split_feature" in node:
                bits |= 1 << node["split_feature"]
                open_nodes += [(node["left_child"], bits), (node["right_child"], bits)]
            else:
                read[node.get("leaf_index", 0)] = bits
        return read

    def predict(self, X):
        return self.model.predict(X)

    def attributes(self):
        """Returns the number of attributes of all trees together."""
        return int(np.count_nonzero(self.model.feature_importance()))

    def on_paths(self, X):
        """Returns the mean number of different attributes on the paths of a row."""
        total = 0
        for leaves in np.atleast_2d(self.model.predict(X, pred_leaf=True).reshape(len(X), -1)):
            bits = 0
            for tree, leaf in zip(self.read, leaves):
                bits |= tree[int(leaf)]
            total += bits.bit_count()
        return total / len(X)


class TreeModel:
    """Trees in the units of the columns."""

    def __init__(self, scale, trees):
        self.scale, self.trees = scale, trees

    def predict(self, X):
        return self.scale.labels_of(self.trees.predict(self.scale.of(X)))

    def columns(self):
        return np.flatnonzero(self.trees.model.feature_importance())

    def reads(self, X):
        return self.trees.on_paths(self.scale.of(X))


def lightgbm(kind, spend=on_rows):
    import lightgbm as library

    fixed = {
        "objective": "regression",
        "learning_rate": 0.1,
        "num_leaves": 15,
        "min_data_in_leaf": 10,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
    }
    shares = [0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003]

    def train(X, y, share, seed):
        # A price is paid once for the whole model, or for each row; a gain is a sum over rows.
        price = share * len(X) if kind == "coupled" else share
        prices = {f"cegb_penalty_feature_{kind}": [price] * X.shape[1]}
        settings = {**fixed, **prices, "seed": seed % 2**31}
        return Trees(library.train(settings, library.Dataset(X, y), num_boost_round=100))

    def fit(X, y, most, seed):
        best = None
        for share in shares:
            model = train(X, y, share, seed)
            if (model.attributes() if kind == "coupled" else model.on_paths(X)) > most:
                continue
            error = 0.0
            for known, held in folds(len(X)):
                error += np.sum((train(X[known], y[known], share, seed).predict(X[held]) - y[held]) ** 2)
            if best is None or error < best[0]:
                best = (error, model)
        if best is None:
            raise ValueError(f"no price on the grid gives a model of at most {most} attributes")
        return best[1]

    return spend(fit, TreeModel)


# The learners: the packages whose versions are recorded, and a function that imports them and returns the
# learner.
LEARNERS = {
    "lao-auto": (["lao_learn"], lambda: lao("pursuit", "auto")),
    "lao-pursuit": (["lao_learn"], lambda: lao("pursuit")),
    "lao-then-boosting": (["lao_learn", "scikit-learn"], lao_then_boosting),
    "lao-then-lightgbm": (["lao_learn", "lightgbm"], lao_then_lightgbm),
    "lao-hybrid": (["lao_learn"], lambda: lao("hybrid")),
    "lasso": (["scikit-learn"], lasso),
    "lasso-halves": (["scikit-learn"], lambda: lasso(in_halves)),
    "lasso-all": (["scikit-learn"], lasso_on_all),
    "omp": (["scikit-learn"], omp),
    "sgd": (["scikit-learn"], sgd),
    "skglm": (["skglm", "numba"], skglm),
    "skglm-halves": (["skglm", "numba"], lambda: skglm(in_halves)),
    "abess": (["abess"], abess),
    "abess-halves": (["abess"], lambda: abess(in_halves)),
    "skscope": (["skscope"], skscope),
    "lightgbm-coupled": (["lightgbm"], lambda: lightgbm("coupled")),
    "lightgbm-halves": (["lightgbm"], lambda: lightgbm("coupled", in_halves)),
    "lightgbm-lazy": (["lightgbm"], lambda: lightgbm("lazy")),
}


def measure(run, tables, request, first):
    """Returns the number of training rows, and the measurements of a fit."""
    X, y, X_test, y_test = (tables[name] for name in ["train-x", "train-y", "test-x", "test-y"])
    measured = {}
    if first:
        begin = time.perf_counter()
        run(X, y, request)
        measured["seconds of the first fit"] = time.perf_counter() - begin
    begin = time.perf_counter()
    model, bought = run(X, y, request)
    measured["seconds"] = time.perf_counter() - begin
    useless = np.mean((y_test - y.mean()) ** 2)
    error = float(np.mean((model.predict(X_test) - y_test) ** 2) / useless)
    measured["relative test error"] = error if np.isfinite(error) else None
    measured["values bought"] = float(bought)
    measured["attributes per prediction"] = model.reads(X_test)
    return len(X), measured
