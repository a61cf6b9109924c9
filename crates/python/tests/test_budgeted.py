"""Estimators with a budget: bits, budgets, streams, storage."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from lao_learn import (
    BudgetedClassifier,
    BudgetedClassifierCV,
    BudgetedRegressor,
    BudgetedRegressorCV,
    HardThresholdingRegressor,
    RemoteTable,
    _core,
)

HERE = Path(__file__).resolve().parent


def command():
    """Returns the command `lao`, if it was built: of several the newest."""
    places = [HERE.parents[2] / "target" / profile / "lao" for profile in ("release", "debug")]
    named = os.environ.get("LAO")
    if named:
        return named
    found = [place for place in places if place.is_file()]
    return str(max(found, key=lambda place: place.stat().st_mtime)) if found else None


def write_csv(path, X, y):
    names = [f"x{j}" for j in range(X.shape[1])] + ["y"]
    rows = [",".join(names)] + [",".join(map(repr, row)) for row in np.column_stack([X, y]).tolist()]
    path.write_text("\n".join(rows) + "\n")


def same_bits(model, text):
    """Asserts that an estimator has the coefficients of a model file, bit for bit."""
    other = json.loads(text)
    places = {f"x{j}": j for j in range(model.n_features_in_)}
    assert [places[one["column"]] for one in other["coefficients"]] == model.support_.tolist()
    assert [one["value"] for one in other["coefficients"]] == np.ravel(model.coef_)[model.support_].tolist()
    assert other["intercept"] == float(np.ravel(model.intercept_)[0])
    assert other["holdout"]["mean_squared_error"] == model.holdout_["mean_squared_error"]
    assert other["spent"]["attributes"] == model.spent_["attributes"]
    errors = [one.get("standard_error") for one in other["coefficients"]]
    if errors[0] is not None:
        assert errors == np.ravel(model.standard_error_)[model.support_].tolist()


@pytest.mark.parametrize("method", ["pursuit", "hybrid", "exploration", "naive", "fkk"])
def test_same_seed_and_data_give_the_bits_of_rust(method, problem, tmp_path):
    X, y = problem
    write_csv(tmp_path / "table.csv", X, y)
    most = 2 if method == "fkk" else None
    model = BudgetedRegressor(12, method=method, random_state=7, most_attributes=most)
    choices = {**model._choices(), "random_state": 7}
    text = _core.fit_file(tmp_path / "table.csv", "y", 12, choices)
    for order in "CF":
        same_bits(model.fit(np.asarray(X, order=order), y), text)


def test_every_choice_reaches_the_model_and_gives_the_bits_of_the_command(problem, tmp_path):
    lao = command()
    if lao is None:
        pytest.skip("the command lao is not built: cargo build -p lao-cli, or set LAO to its path")
    X, y = problem
    write_csv(tmp_path / "table.csv", X, y)
    line = [lao, "fit", "table.csv", "-t", "y", "-b", "12", "--seed", "3", "--json", "--quiet"]
    for options, given in [
        (["--level", "0.1%"], {"level": 0.001}),
        (["--always", "x3", "--always", "x5"], {"always": ["x3", "x5"]}),
        (["--half-life", "400"], {"half_life": 400.0}),
        (["--most-attributes", "3"], {"most_attributes": 3}),
        (["--holdout", "30%"], {"holdout": 0.3}),
        (["--passes", "2"], {"passes": 2}),
        (["--in-order"], {"shuffle": False}),
        (["--method", "hybrid"], {"method": "hybrid"}),
    ]:
        done = subprocess.run([*line, *options], cwd=tmp_path, capture_output=True, check=True, text=True)
        text = done.stdout
        model = BudgetedRegressor(12, random_state=3, **given).fit(X, y)
        same_bits(model, text)
        name, value = next(iter(given.items()))
        assert model.plan_[name] == value
        if name == "always":
            assert {3, 5} <= set(model.support_.tolist())


def test_same_seed_and_data_give_the_bits_of_the_command(problem, tmp_path):
    lao = command()
    if lao is None:
        pytest.skip("the command lao is not built: cargo build -p lao-cli, or set LAO to its path")
    X, y = problem
    write_csv(tmp_path / "table.csv", X, y)
    line = [lao, "fit", "table.csv", "--target", "y", "--budget", "12", "--seed", "3", "--json", "--quiet"]
    text = subprocess.run(line, cwd=tmp_path, capture_output=True, check=True, text=True).stdout
    model = BudgetedRegressor(12, random_state=3).fit(X, y)
    same_bits(model, text)
    write_csv(tmp_path / "table.csv", X, (y > 0).astype(float))
    text = subprocess.run(line, cwd=tmp_path, capture_output=True, check=True, text=True).stdout
    same_bits(BudgetedClassifier(12, random_state=3).fit(X, y > 0), text)
    # And the command reads the model of Python, which predicts the same.
    model.save(tmp_path / "python.lao.json")
    line = [lao, "predict", "python.lao.json", "table.csv", "-o", "out.csv"]
    subprocess.run(line, cwd=tmp_path, capture_output=True, check=True)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [float(row.split(",")[0]) for row in lines[1:]] == model.predict(X).tolist()


def test_a_model_is_saved_whole_or_not_at_all(problem, tmp_path):
    X, y = problem
    model = BudgetedRegressor(12, random_state=3).fit(X, y)
    path = tmp_path / "model.lao.json"
    path.write_text("before", encoding="utf-8")
    path.chmod(0o640)
    model.save(str(path))
    assert path.read_text(encoding="utf-8") == model.model_ and path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "nowhere" / "model.lao.json")
    with pytest.raises(OSError, match="it is a folder"):
        model.save(tmp_path)
    assert list(tmp_path.iterdir()) == [path]


def test_every_sparse_method_of_the_registry_runs_and_dense_ones_are_refused(problem):
    X, y = problem
    with pytest.raises(ValueError, match="The methods are") as refused:
        BudgetedRegressor(method="nothing").fit(X, y)
    names = str(refused.value).split("The methods are ")[1].split(", ")
    ran = 0
    for name in names:
        model = BudgetedRegressor(8, most_attributes=2, method=name, random_state=1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X[:600, :12], y[:600])
        except ValueError as error:
            whole = "buys every one" if name == "exchange" else "its predictor would read all attributes"
            assert whole in str(error), name
            continue
        assert model.spent_["most_attributes"] <= 8, name
        ran += 1
    assert ran >= 5


def test_exchange_buys_all_attributes_and_chooses_their_number(problem):
    X, y = problem
    model = BudgetedRegressor(X.shape[1], method="exchange", random_state=1).fit(X, y)
    chosen = HardThresholdingRegressor("auto").fit(X, y)
    assert model.support_.tolist() == chosen.support_.tolist()
    assert np.isnan(model.standard_error_).all()
    assert model.spent_["attributes"] == X.shape[1] * model.spent_["examples"]
    weights = np.where(np.arange(len(y)) % 2, 2.0, 1.0)
    assert model.fit(X, y, sample_weight=weights).support_.tolist() == chosen.support_.tolist()
    classes = BudgetedClassifier(X.shape[1], method="exchange", random_state=1).fit(X, y > y.mean())
    assert np.mean(classes.predict(X) == (y > y.mean())) > 0.8
    assert ((classes.predict_proba(X)[:, 1] > 0.5) == classes.predict(X)).mean() > 0.95


def test_no_example_costs_more_than_the_budget(problem):
    X, y = problem
    model = BudgetedRegressor(5, random_state=1).fit(X, y)
    assert model.spent_["most_attributes"] == 5
    assert model.spent_["attributes"] == 5 * model.spent_["examples"]
    assert len(model.support_) <= 4
    assert (model.coef_ != 0.0).sum() == model.get_support().sum() == len(model.support_)
    assert model.transform(X).shape == (len(X), len(model.support_))
    assert np.isnan(model.standard_error_[~model.get_support()]).all()
    low, high = model.interval_.T
    assert np.isnan(low[~model.get_support()]).all()
    assert (low < model.coef_)[model.support_].all() and (model.coef_ < high)[model.support_].all()
    known = model.evidence_
    assert known["low"].tolist() == pytest.approx(low.tolist(), rel=1e-6, nan_ok=True)
    assert (high - low)[model.support_].tolist() > (4.0 * model.standard_error_[model.support_]).tolist()


def test_budgets_are_numbers_shares_or_refused(problem):
    X, y = problem
    assert BudgetedRegressor(0.1).fit(X, y).plan_["budget"] == 6
    assert BudgetedRegressor().fit(X, y).plan_["budget"] == 10
    with pytest.warns(UserWarning, match="greater than n_features"):
        BudgetedRegressor(1000).fit(X, y)
    for budget in [0, -3, 0.0, 1.5, "many", True]:
        with pytest.raises(ValueError, match="budget"):
            BudgetedRegressor(budget).fit(X, y)
    for parameters in [{"holdout": 1.0}, {"passes": 0}, {"missing": "guess"}, {"random_state": -1}]:
        with pytest.raises(ValueError):
            BudgetedRegressor(**parameters).fit(X, y)


def test_a_pickled_model_predicts_and_goes_on_with_the_same_bits(problem):
    X, y = problem
    for method in ["pursuit", "hybrid"]:
        model = BudgetedRegressor(12, method=method, random_state=1).fit(X[:2000], y[:2000])
        other = pickle.loads(pickle.dumps(model))
        assert (other.predict(X) == model.predict(X)).all()
        model.partial_fit(X[2000:], y[2000:])
        other.partial_fit(X[2000:], y[2000:])
        assert (other.coef_ == model.coef_).all() and other.intercept_ == model.intercept_


def test_parts_of_a_stream_are_learned_like_the_whole(problem):
    X, y = problem
    whole = BudgetedRegressor(12, holdout=0.0, random_state=1).fit(X, y)
    parts = BudgetedRegressor(12, random_state=1)
    for begin in range(0, len(X), 17):
        parts.partial_fit(X[begin : begin + 17], y[begin : begin + 17])
    assert parts.support_.tolist() == whole.support_.tolist() == [2, 7]
    assert parts.spent_["examples"] == whole.spent_["examples"] == len(X)
    np.testing.assert_allclose(parts.coef_[[2, 7]], [3.0, -2.0], atol=0.05)
    with pytest.raises(ValueError, match="features"):
        parts.partial_fit(X[:, :5], y)


def test_a_warm_start_goes_on_and_a_cold_one_begins_anew(problem):
    X, y = problem
    model = BudgetedRegressor(12, warm_start=True, random_state=1).fit(X[:1000], y[:1000])
    model.fit(X[1000:], y[1000:])
    assert model.spent_["examples"] == 900 + 2700
    for parameters in [{"budget": 5}, {"method": "hybrid"}]:
        before = model.get_params()
        with pytest.raises(ValueError, match="the learner began with"):
            model.set_params(**parameters).fit(X[1000:], y[1000:])
        model.set_params(**before)
    model.set_params(warm_start=False).fit(X[1000:], y[1000:])
    assert model.spent_["examples"] == 2700


def test_weights_of_zero_hide_rows_and_equal_weights_change_nothing(problem):
    X, y = problem
    plain = BudgetedRegressor(12, random_state=1).fit(X, y)
    equal = BudgetedRegressor(12, random_state=1).fit(X, y, sample_weight=np.full(len(X), 3.0))
    assert (plain.coef_ == equal.coef_).all()
    wrong = np.concatenate([y, -5.0 * y])
    weights = np.concatenate([np.ones(len(y)), np.zeros(len(y))])
    hidden = BudgetedRegressor(12, random_state=1).fit(np.vstack([X, X]), wrong, sample_weight=weights)
    np.testing.assert_allclose(hidden.coef_[[2, 7]], [3.0, -2.0], atol=0.05)
    for bad in [-np.ones(len(y)), np.zeros(len(y))]:
        with pytest.raises(ValueError, match="(?i)sample.weight"):
            BudgetedRegressor(12).fit(X, y, sample_weight=bad)


def test_weights_are_unbiased():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((20_000, 3))
    group = rng.random(20_000) < 0.5
    y = np.where(group, 1.0, 3.0) * x[:, 0] + 0.1 * rng.standard_normal(20_000)
    # Three parts of slope 1 and one part of slope 3.
    model = BudgetedRegressor(3, random_state=1).fit(x, y, sample_weight=np.where(group, 3.0, 1.0))
    assert model.coef_[0] == pytest.approx(1.5, abs=0.02)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("gaps", [False, True])
def test_weighted_sums_are_weighted_least_squares(scale, gaps):
    rng = np.random.default_rng(5)
    x = rng.uniform(-1.0, 1.0, (8000, 3)) @ [[1.0, 0.6, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]] + 7.0
    weights = rng.uniform(0.1, 3.0, 8000)
    # The slope depends on the weight, so that sums without weights have another minimum.
    y = (1.0 + weights) * x[:, 0] - x[:, 1] + rng.standard_normal(8000)
    if gaps:
        x[rng.random(x.shape) < 0.01] = np.nan
    missing = "skip" if gaps else "error"
    names = ["x0", "x1", "x2"]
    model = BudgetedRegressor(3, always=names, holdout=0.0, missing=missing, random_state=1)
    model.fit(x, y, sample_weight=scale * weights)
    full = np.isfinite(x).all(axis=1)
    design, w = np.column_stack([np.ones(full.sum()), x[full]]), weights[full]
    wanted = np.linalg.solve(design.T @ (w[:, None] * design), design.T @ (w * y[full]))
    bread = np.linalg.inv(design.T @ (w[:, None] * design))
    residual = w * (y[full] - design @ wanted)
    errors = np.sqrt(np.diag(bread @ (design.T @ (residual[:, None] ** 2 * design)) @ bread))[1:]
    found = np.abs(model.coef_ - wanted[1:])
    assert (found < (1.0 if gaps else 0.3) * errors).all(), (model.coef_, wanted, errors)
    plain = np.linalg.lstsq(design, y[full], rcond=None)[0]
    assert abs(plain[1] - wanted[1]) > 3.0 * errors[0]
    middle = np.nanmean(x, axis=0)
    assert model.predict(middle[None])[0] == pytest.approx(wanted[0] + middle @ wanted[1:], abs=0.1)


def test_one_row_that_weighs_as_much_as_all_others_leaves_nothing_to_learn_but_no_row_out():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((2000, 20))
    y = X[:, 3] + rng.standard_normal(2000)
    weights = np.ones(2000)
    even = BudgetedRegressor(5, random_state=1).fit(X, y, sample_weight=weights)
    weights[7] = 3.0
    more = BudgetedRegressor(5, random_state=1).fit(X, y, sample_weight=weights)
    assert more.spent_["examples"] == even.spent_["examples"] == 1800
    np.testing.assert_allclose(more.coef_, even.coef_, atol=0.02)
    weights[7] = 1e4
    with pytest.warns(ConvergenceWarning):
        alone = BudgetedRegressor(5, random_state=1, holdout=0.0).fit(X, y, sample_weight=weights)
    assert alone.spent_["examples"] == 2000 and not alone.coef_.any()
    assert alone.intercept_ == pytest.approx(y[7], abs=0.5)


def test_balanced_weights_have_even_probabilities():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((20_000, 10))
    y = (rng.random(20_000) < expit(2.0 * X[:, 2] - 5.0)).astype(int)
    weights = compute_sample_weight("balanced", y)
    model = BudgetedClassifier(4, random_state=1).fit(X, y, sample_weight=weights)
    full = LogisticRegression().fit(X, y, sample_weight=weights)
    found, wanted = model.predict_proba(X)[:, 1], full.predict_proba(X)[:, 1]
    assert np.average(found, weights=weights) == pytest.approx(0.5, abs=0.03)
    assert np.average(np.abs(found - wanted), weights=weights) < 0.05


def test_a_method_without_weighted_sums_says_so(problem):
    X, y = problem
    weights = np.linspace(1.0, 2.0, len(y))
    with pytest.raises(ValueError, match="weights.*pursuit"):
        BudgetedRegressor(12, method="hybrid").fit(X, y, sample_weight=weights)


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20_000, 30))
    odds = 1.5 * X[:, 3] - X[:, 4] + 0.5
    y = np.where(rng.random(20_000) < 1.0 / (1.0 + np.exp(-odds)), "ill", "well")
    model = BudgetedClassifier(8, random_state=1).fit(X[:10_000], y[:10_000])
    full = LogisticRegression().fit(X[:10_000], y[:10_000])
    assert model.classes_.tolist() == ["ill", "well"]
    found = model.predict_proba(X[10_000:])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.abs(found - full.predict_proba(X[10_000:])).mean() < 0.03
    np.testing.assert_allclose(np.log(found), model.predict_log_proba(X[10_000:]), atol=1e-9)
    assert model.score(X[10_000:], y[10_000:]) > full.score(X[10_000:], y[10_000:]) - 0.01
    assert ((found[:, 1] > 0.5) == (model.predict(X[10_000:]) == "well")).all()
    assert model.holdout_["accuracy"] > 0.7


def test_a_method_without_probabilities_says_so():
    assert not hasattr(BudgetedClassifier(method="hybrid"), "predict_proba")
    assert hasattr(BudgetedClassifier(), "predict_proba")


def test_more_than_two_classes_are_refused_with_a_remedy_that_works(problem):
    X, y = problem
    three = np.digitize(y, np.quantile(y, [0.33, 0.66]))
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        BudgetedClassifier(12).fit(X, three)
    many = OneVsRestClassifier(BudgetedClassifier(12, random_state=1)).fit(X, three)
    assert many.score(X, three) > 0.6


def test_clones_pipelines_searches_and_threads(problem):
    X, y = problem
    model = clone(BudgetedRegressor(12, random_state=1))
    assert cross_val_score(model, X, y, n_jobs=2).min() > 0.95
    search = GridSearchCV(
        make_pipeline(StandardScaler(), model), {"budgetedregressor__budget": [2, 12]}, n_jobs=2
    )
    assert search.fit(X, y).best_params_["budgetedregressor__budget"] in (2, 12)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_cross_validation_chooses_the_smallest_budget_that_does(problem, n_jobs):
    X, y = problem
    model = BudgetedRegressorCV([1, 4, 16, 60], random_state=1, n_jobs=n_jobs).fit(X, y)
    assert model.cv_results_["budgets"].tolist() == [1, 4, 16, 60]
    assert model.budget_ == model.plan_["budget"] == 4
    plain = BudgetedRegressor(4, random_state=1).fit(X, y)
    assert (plain.coef_ == model.coef_).all()
    classes = BudgetedClassifierCV([1, 4, 16], random_state=1, n_jobs=n_jobs).fit(X, y > np.median(y))
    assert classes.budget_ >= 4 and classes.score(X, y > np.median(y)) > 0.9


def test_nothing_to_find_predicts_the_mean():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((500, 20)), rng.standard_normal(500) + 3.0
    model = BudgetedRegressor(5, random_state=1).fit(X, y)
    assert not model.found_ and len(model.support_) == 0
    assert model.predict(X) == pytest.approx(np.full(500, model.intercept_))
    assert model.intercept_ == pytest.approx(3.0, abs=0.2)
    with pytest.warns(UserWarning, match="no update"):
        few = BudgetedRegressor(5, random_state=1).fit(X[:6], y[:6])
    assert few.intercept_ == pytest.approx(y[:6].mean())


def test_history_and_evidence_are_there_for_plots(problem):
    X, y = problem
    model = BudgetedRegressor(12, random_state=1).fit(X, y)
    assert np.all(np.diff(model.history_["attributes"]) > 0)
    assert model.history_["error"][-1] < model.history_["error"][0]
    known = model.evidence_
    assert set(np.argsort(-np.abs(known["z"]))[:2]) == {2, 7}
    # The examples of a block that is not full are bought, and not yet learned from.
    assert 0 <= model.spent_["attributes"] - known["examples"].sum() <= 12 * 25
    assert BudgetedRegressor(12, method="hybrid", random_state=1).fit(X, y).evidence_ is None


INTERRUPTED = """
    import os, signal, sys, threading, time
    import numpy as np
    from lao_learn import BudgetedRegressor, BudgetedRegressorCV, HardThresholdingRegressor

    # A shell that starts a program in the background lets it ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 400))
    y = 3.0 * X[:, 2] - 2.0 * X[:, 7] + rng.standard_normal(20_000)
    model = {model}
    sent = []

    def send():
        # By then a slow machine that does other things, too, has learned something.
        time.sleep(4.0)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print(time.process_time() - sent[0])
        if isinstance(model, BudgetedRegressorCV):
            assert not hasattr(model, "coef_")
            sys.exit(0)
        assert model.interrupted_
        assert set(model.support_) >= {{2, 7}}, model.support_
        assert model.score(X, y) > 0.9
        sys.exit(0)
    sys.exit("the run ended before it was interrupted")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")
@pytest.mark.parametrize(
    "model",
    [
        "BudgetedRegressor(40, passes=10_000, random_state=1)",
        "HardThresholdingRegressor(20, method='sg-ht', max_iter=10**9, tol=0.0, random_state=1)",
        "BudgetedRegressorCV([40], cv=2, passes=10_000, n_jobs=1, random_state=1)",
        "BudgetedRegressorCV([40], cv=2, passes=10_000, n_jobs=2, random_state=1)",
    ],
)
def test_an_interrupt_is_answered_within_a_tenth_of_a_second_and_keeps_what_was_learned(model):
    text = textwrap.dedent(INTERRUPTED).format(model=model)
    # In time of this process. Two jobs take twice the time. What else the machine does can only add to it, so
    # that one of three answers in time is enough.
    limit = 0.2 if "n_jobs=2" in model else 0.1
    took = []
    while len(took) < 3 and all(time >= limit for time in took):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        took.append(float(done.stdout))
    assert min(took) < limit, took


def test_predict_is_interrupted(problem):
    """A table that lies elsewhere, and whose reader takes its time."""
    X, y = problem
    model = BudgetedRegressor(12, random_state=1).fit(X, y)
    reads = []

    def read(attributes, rows):
        reads.append(len(rows))
        if len(reads) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.03)
        return np.zeros((len(attributes), len(rows)))

    slow = RemoteTable(read, rows=3_000_000, columns=[f"x{j}" for j in range(X.shape[1])])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.predict(slow)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(reads) <= 5


def test_other_threads_run_while_a_model_is_fitted(problem):
    """The counter of the main thread goes on while the fit holds no lock."""
    import threading

    X, y = problem
    model = BudgetedRegressor(12, passes=300, random_state=1)
    thread = threading.Thread(target=model.fit, args=(X, y))
    begin = time.perf_counter()
    thread.start()
    longest, last = 0.0, time.perf_counter()
    while thread.is_alive():
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
        time.sleep(0.001)
    whole = time.perf_counter() - begin
    assert longest < 0.5 * whole
