"""Hard thresholding at full information, against numpy and scikit-learn."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold

from lao_learn import (
    HardThresholdingClassifier,
    HardThresholdingClassifierCV,
    HardThresholdingRegressor,
    HardThresholdingRegressorCV,
)

SOLVERS = ["gd-ht", "gd-ht-normalized", "htp", "sg-ht", "hsg-ht", "svrg-ht", "scsg-ht-i", "scsg-ht-ii"]


def wide(rows=300, dim=1000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, dim)) + 5.0
    return X, X[:, [3, dim // 2, dim - 1]] @ [3.0, -2.0, 1.0] - 4.0 + 0.3 * rng.standard_normal(rows)


def pursuit_in_numpy(X, y, k):
    """Hard thresholding pursuit with normalized steps, without intercept and scaling."""
    n, d = X.shape
    x, support = np.zeros(d), None
    for _ in range(100):
        gradient = X.T @ (X @ x - y) / n
        along = np.argsort(-np.abs(gradient))[:k] if support is None else support
        part = gradient[along]
        step = part @ part / np.mean((X[:, along] @ part) ** 2)
        chosen = np.sort(np.argsort(-np.abs(x - step * gradient))[:k])
        if support is not None and (chosen == support).all():
            return x, support
        support, x = chosen, np.zeros(d)
        x[support] = np.linalg.lstsq(X[:, support], y, rcond=None)[0]
    raise AssertionError("numpy's pursuit did not settle")


@pytest.mark.parametrize("order", "CF")
def test_htp_is_that_of_numpy(order):
    X, y = wide()
    X, y = X - X.mean(axis=0), y - y.mean()
    x, support = pursuit_in_numpy(X, y, 5)
    model = HardThresholdingRegressor(5, standardize="no", fit_intercept=False)
    model.fit(np.asarray(X, order=order), y)
    assert model.support_.tolist() == support.tolist()
    np.testing.assert_allclose(model.coef_, x, atol=1e-9)


def test_a_model_is_the_least_squares_fit_on_its_support_in_any_units():
    X, y = wide()
    model = HardThresholdingRegressor(3).fit(X, y)
    assert model.support_.tolist() == [3, 500, 999]
    plain = LinearRegression().fit(X[:, model.support_], y)
    np.testing.assert_allclose(model.coef_[model.support_], plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), plain.predict(X[:, model.support_]), rtol=1e-6)
    scales = 10.0 ** (np.arange(1000) % 7 - 3.0)
    other = HardThresholdingRegressor(3).fit(X * scales + 7.0, y)
    np.testing.assert_allclose(other.coef_ * scales, model.coef_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", SOLVERS)
def test_every_solver_improves_on_the_mean(method):
    X, y = wide(dim=100)
    model = HardThresholdingRegressor(10, method=method, max_iter=300, random_state=1)
    first = model.fit(X, y).coef_
    assert model.score(X, y) > 0.5 and len(model.support_) <= 10 and model.calls_ > 0
    assert (model.fit(X, y).coef_ == first).all()


def test_two_classes_are_logistic_regression_on_the_support():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 50))
    odds = 2.0 * X[:, 3] - 1.5 * X[:, 9] + 0.5
    y = np.where(rng.random(2000) < 1.0 / (1.0 + np.exp(-odds)), "yes", "no")
    model = HardThresholdingClassifier(2, ridge=0.0, tol=1e-8).fit(X, y)
    assert model.support_.tolist() == [3, 9] and model.coef_.shape == (1, 50)
    plain = LogisticRegression(C=1e9, tol=1e-10).fit(X[:, [3, 9]], y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X[:, [3, 9]]), atol=1e-3)


def test_more_classes_have_a_support_each():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 30))
    y = np.array(["a", "b", "c"])[np.argmax(X[:, [1, 2, 3]] + 0.2 * rng.standard_normal((1500, 3)), axis=1)]
    model = HardThresholdingClassifier(3).fit(X, y)
    assert model.coef_.shape == (3, 30) and (model.coef_ != 0.0).sum(axis=1).max() <= 3
    assert model.score(X, y) > 0.85
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("method", ["sg-ht", "hsg-ht", "svrg-ht", "scsg-ht-i", "scsg-ht-ii"])
def test_stochastic_methods_need_nothing_chosen(method):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 2000))
    y = X[:, :10] @ np.resize([1.0, -1.0], 10) + rng.standard_normal(400)
    model = HardThresholdingRegressor(10, method=method, random_state=1).fit(X, y)
    assert list(model.support_) == list(range(10))
    assert model.chosen_["step_size"] > 0.0 and 1 <= model.chosen_["mini_batch"] <= model.chosen_["batch"]
    pruned = HardThresholdingRegressor(10, method=f"{method}-pruned", random_state=1).fit(X, y)
    assert list(pruned.support_) == list(range(10))
    given = HardThresholdingRegressor(10, method=method, step_size=1e-4, max_iter=2, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert given.fit(X, y).chosen_ is None


def test_a_certificate_is_given_where_no_exchange_lowers_the_loss():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 300))
    for j in range(1, 300):
        X[:, j] = 0.95 * X[:, j - 1] + 0.3 * X[:, j]
    y = X[:, [20, 150, 280]] @ [1.0, -1.0, 1.0] + rng.standard_normal(60)
    model = HardThresholdingRegressor(3, certify=True).fit(X, y)
    assert model.certified_ and not hasattr(HardThresholdingRegressor(3).fit(X, y), "certified_")
    for out in model.support_:
        for into in set(range(300)) - set(model.support_):
            other = [*(set(model.support_) - {out}), into]
            left = y - LinearRegression().fit(X[:, other], y).predict(X[:, other])
            assert np.mean(left**2) > model.objective_ * (1.0 - 2e-6)
    with pytest.raises(ValueError, match="certify = True"):
        HardThresholdingRegressor(3, method="htp", certify=True).fit(X, y)


def test_columns_that_are_always_wanted_are_in_the_model():
    X, y = wide(rows=200, dim=80)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(80)])
    named = HardThresholdingRegressor(5, always=["x7", "x8"]).fit(frame, y)
    placed = HardThresholdingRegressor(5, always=[8, 7]).fit(X, y)
    assert named.support_.tolist() == placed.support_.tolist() == [3, 7, 8, 40, 79]
    chosen = HardThresholdingRegressor("auto", always=[7, 8]).fit(X, y)
    assert chosen.support_.tolist() == [3, 7, 8, 40, 79] and np.argmin(chosen.criterion_) == 3
    folds = HardThresholdingRegressorCV(9, always=[7, 8]).fit(X, y)
    assert {3, 7, 8, 40, 79} <= set(folds.support_) and len(folds.cv_losses_) == 8
    classes = HardThresholdingClassifier(4, always=[7]).fit(X, y > y.mean())
    assert {3, 7, 40} <= set(classes.support_)
    for parameters in [{"always": ["x7"]}, {"always": [80]}, {"always": [1], "method": "htp"}]:
        with pytest.raises(ValueError, match="always"):
            HardThresholdingRegressor(3, **parameters).fit(X, y)


def test_columns_of_a_group_enter_and_leave_together():
    rng = np.random.default_rng(8)
    words = rng.integers(0, 4, (400, 6))
    X = np.column_stack([words[:, column] == word for column in range(6) for word in range(4)]).astype(float)
    groups = np.repeat(["age", "sex", "diet", "ward", "drug", "team"], 4)
    # Each of two columns of words has three effects, next to a word without one.
    effects = np.array([[0.0, 1.0, 2.0, -1.0], [0.0, -2.0, 1.0, 1.0]])
    y = effects[0][words[:, 2]] + effects[1][words[:, 4]] + 0.5 * rng.standard_normal(400)
    for model in [
        HardThresholdingRegressor(2, groups=groups),
        HardThresholdingRegressor("auto", groups=groups),
        HardThresholdingRegressorCV(4, groups=groups),
    ]:
        model.fit(X, y)
        assert {"diet", "drug"} <= set(groups[model.support_])
        assert np.sum(groups[model.support_] == "diet") == 3
    chosen = HardThresholdingRegressor("auto", groups=groups).fit(X, y)
    assert set(groups[chosen.support_]) == {"diet", "drug"}
    always = HardThresholdingRegressor(3, groups=groups, always=[0]).fit(X, y)
    assert set(groups[always.support_]) == {"age", "diet", "drug"}
    classes = HardThresholdingClassifier(2, groups=groups).fit(X, y > 0.5)
    assert set(groups[classes.support_]) == {"diet", "drug"}
    with pytest.raises(ValueError, match="a label for each of 24 columns"):
        HardThresholdingRegressor(2, groups=groups[:5]).fit(X, y)
    with pytest.raises(ValueError, match="groups need"):
        HardThresholdingRegressor(2, groups=groups, method="htp").fit(X, y)


def test_what_is_not_allowed_is_refused():
    X, y = wide(rows=50, dim=20)
    for parameters, text in [
        ({"n_nonzero": 0}, "n_nonzero = 0"),
        ({"method": "simplex"}, "the solvers are gd-ht"),
        ({"standardize": "twice"}, "standardize = twice"),
        ({"max_iter": 0}, "max_iter = 0"),
        ({"tol": -1.0}, "tol = -1"),
        ({"ridge": -1.0}, "ridge = -1"),
        ({"method": "sg-ht", "step_size": -1.0}, "step"),
    ]:
        with pytest.raises(ValueError, match=text):
            HardThresholdingRegressor(**parameters).fit(X, y)
    with pytest.warns(UserWarning, match="greater than n_features"):
        HardThresholdingRegressor(100).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        HardThresholdingRegressor(3, method="svrg-ht", max_iter=1, tol=0.0).fit(X, y)
    with pytest.raises(ArithmeticError, match="diverged"):
        HardThresholdingRegressor(3, method="gd-ht", step_size=1e6, max_iter=10_000, tol=0.0).fit(X, y)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_weight_is_a_number_of_rows(sparse):
    X, y = wide(rows=200, dim=60)
    if sparse:
        X = scipy.sparse.csr_array(np.where(np.abs(X - 5.0) < 1.0, X, 0.0))
    repeats = np.arange(200) % 3
    again = np.repeat(np.arange(200), repeats)
    for estimator, label in [
        (HardThresholdingRegressor(4), y),
        (HardThresholdingClassifier(4), y > y.mean()),
        (HardThresholdingClassifier(4), np.digitize(y, [-5.0, 5.0])),
    ]:
        # Where supports alternate, rounding grows from round to round.
        estimator.set_params(max_iter=10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            weighted = clone(estimator).fit(X, label, sample_weight=0.1 * repeats)
            repeated = clone(estimator).fit(X[again], label[again])
            plain = clone(estimator).fit(X, label)
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-6)
        assert np.abs(weighted.coef_ - plain.coef_).max() > 1e-3


@pytest.mark.parametrize("method", SOLVERS)
def test_all_solvers_take_weights(method):
    X, y = wide(rows=300, dim=40)
    wrong = np.arange(300) % 2 == 0
    y[wrong] = -y[wrong]
    weights = np.where(wrong, 0.0, 1.0)
    estimator = HardThresholdingRegressor(3, method=method, max_iter=400, tol=1e-9, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weighted = clone(estimator).fit(X, y, sample_weight=weights)
        without = clone(estimator).fit(X[~wrong], y[~wrong])
    scale = y[~wrong].var()
    left = [((y - model.predict(X))[~wrong] ** 2).mean() / scale for model in (weighted, without)]
    # Of labels half of which have the other sign, nothing can be predicted. Steps are shorter, since the
    # largest weight is 2.
    assert max(left) < 0.1, left


@pytest.mark.parametrize("seed", range(4))
def test_the_number_of_attributes_is_found(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 300))
    margin = X[:, [3, 50, 120, 200, 299]] @ [1.0, -1.0, 1.0, -0.7, 0.6]
    model = HardThresholdingRegressor("auto").fit(X, margin + rng.standard_normal(400))
    assert model.support_.tolist() == [3, 50, 120, 200, 299]
    assert np.argmin(model.criterion_) == 4 and 10 <= len(model.criterion_) < 20
    y = (2.0 * margin + rng.logistic(size=400) > 0.0).astype(int)
    found = HardThresholdingClassifier("auto").fit(X, y).support_.tolist()
    assert set(found) <= {3, 50, 120, 200, 299} and len(found) >= 4
    nothing = HardThresholdingRegressor("auto").fit(X, rng.standard_normal(400))
    assert len(nothing.support_) <= 2
    for parameters in [{"n_nonzero": "auto", "method": "htp"}, {"n_nonzero": "many"}]:
        with pytest.raises(ValueError, match="n_nonzero"):
            HardThresholdingRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize("seed", range(3))
def test_the_number_of_attributes_is_that_of_least_loss_on_rows_left_out(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 100))
    margin = X[:, [3, 50, 70, 99]] @ [2.0, -2.0, 2.0, -1.0]
    y = margin + rng.standard_normal(300)
    model = HardThresholdingRegressorCV(12).fit(X, y)
    assert {3, 50, 70, 99} <= set(model.support_) and len(model.support_) == model.n_nonzero_
    assert len(model.cv_losses_) == 12 and np.argmin(model.cv_losses_) + 1 == model.n_nonzero_
    # The losses are those of models that are learned without the fold, one number of attributes at a time.
    folds = KFold(5)
    for k in (1, 4):
        losses = []
        for train, held in folds.split(X):
            one = HardThresholdingRegressor(k).fit(X[train], y[train])
            losses.append(np.mean((one.predict(X[held]) - y[held]) ** 2))
        np.testing.assert_allclose(model.cv_losses_[k - 1], np.mean(losses), rtol=1e-6)
    plain = HardThresholdingRegressor(model.n_nonzero_).fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_)
    np.testing.assert_allclose(model.predict(X), plain.predict(X))


def test_classes_are_chosen_for_by_log_loss():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((600, 60))
    margin = 3.0 * X[:, [2, 30, 59]] @ [1.0, -1.0, 1.0]
    y = np.where(margin + rng.logistic(size=600) > 0.0, "yes", "no")
    model = HardThresholdingClassifierCV(8, cv=4).fit(X, y)
    assert {2, 30, 59} <= set(model.support_) and model.score(X, y) > 0.8
    assert model.cv_losses_.min() < 0.45 < model.cv_losses_[0]
    weights = np.where(X[:, 0] > 0.0, 1.0, 0.0)
    weighted = HardThresholdingClassifierCV(5).fit(X, y, sample_weight=weights)
    assert {2, 30, 59} <= set(weighted.support_)
    # The one row of a class is in a fold of its own.
    rare = np.concatenate([["never"], np.digitize(margin[1:], [-1.0, 1.0]).astype(str)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(HardThresholdingClassifierCV(3, cv=3).fit(X, rare).classes_) == 4
    for parameters, text in [({"max_nonzero": -1}, "max_nonzero = -1"), ({"cv": 1}, "k-fold")]:
        with pytest.raises(ValueError, match=text):
            HardThresholdingClassifierCV(**parameters).fit(X, y)
