"""Trees, and any estimator on what is bought."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from lao_learn import (
    Budgeted,
    BudgetedClassifier,
    BudgetedRegressor,
    BudgetedSelector,
    RemoteTable,
)


@pytest.fixture(scope="module")
def curved():
    """Five of 40 columns matter, not linearly."""
    return make_friedman1(3000, 40, noise=1.0, random_state=1)


class Counted(RemoteTable):
    """A table that counts what is read of each row."""

    def __init__(self, X):
        self.X, self.reads = X, np.zeros(len(X), dtype=int)
        super().__init__(self.read, rows=len(X), columns=[f"c{j}" for j in range(X.shape[1])])

    def read(self, columns, rows):
        self.reads[rows] += len(columns)
        return np.ascontiguousarray(self.X[np.ix_(rows, columns)].T)


def test_the_data_choose_trees_and_a_line(curved):
    X, y = curved
    line = BudgetedRegressor(8, shape="line", random_state=1).fit(X[:2000], y[:2000])
    auto = BudgetedRegressor(8, random_state=1).fit(X[:2000], y[:2000])
    assert line.decision_ is None
    assert auto.decision_["chosen"] == "trees" and set(auto.decision_["errors"]) == {
        "pursuit",
        "ridge",
        "trees",
    }
    assert 1 - auto.score(X[2000:], y[2000:]) < 0.7 * (1 - line.score(X[2000:], y[2000:]))
    assert np.isnan(auto.standard_error_).all() and len(auto.support_) == 7
    # The line of a linear label is Pursuit's.
    y = X @ np.r_[2.0, -3.0, np.zeros(38)] + np.random.default_rng(2).standard_normal(3000)
    auto = BudgetedRegressor(8, random_state=1).fit(X, y)
    assert auto.decision_["chosen"] == "pursuit" and not np.isnan(auto.standard_error_[auto.support_]).any()


def test_a_model_of_trees_is_kept(curved, tmp_path):
    import pickle

    X, y = curved
    model = BudgetedRegressor(8, shape="trees", random_state=1).fit(X, y)
    model.save(tmp_path / "m.json")
    other = pickle.loads(pickle.dumps(model))
    assert (other.predict(X) == model.predict(X)).all()
    assert '"trees"' in (tmp_path / "m.json").read_text()
    # Other rows are learned from complete, too.
    more = BudgetedRegressor(8, shape="trees", warm_start=True, random_state=1).fit(X[:1500], y[:1500])
    before = more.spent_["attributes"]
    more.fit(X[1500:], y[1500:])
    assert more.spent_["attributes"] > 1.5 * before


def test_probabilities_of_trees(curved):
    X, y = curved
    sick = y > np.median(y)
    model = BudgetedClassifier(8, shape="trees", random_state=1).fit(X[:2000], sick[:2000])
    q = model.predict_proba(X[2000:])[:, 1]
    assert model.score(X[2000:], sick[2000:]) > 0.8 and abs(q.mean() - sick[2000:].mean()) < 0.05


@pytest.mark.parametrize("shape", ["auto", "trees"])
def test_the_budget_holds_in_all_phases(curved, shape):
    X, y = curved
    table = Counted(X)
    model = BudgetedRegressor(8, shape=shape, holdout=0.0, random_state=1).fit(table, y)
    assert table.reads.max() == model.spent_["most_attributes"] == 8


def test_what_cannot_be_done_is_said(curved):
    X, y = curved
    with pytest.raises(ValueError, match="partial_fit does not know how many rows"):
        BudgetedRegressor(8, shape="trees").partial_fit(X, y)
    with pytest.raises(ValueError, match="shape"):
        BudgetedRegressor(8, shape="bush").fit(X, y)
    with pytest.raises(ValueError, match="one pass"):
        BudgetedRegressor(8, shape="trees", passes=2).fit(X, y)
    with pytest.raises(ValueError, match="pursuit"):
        BudgetedRegressor(8, shape="trees", method="hybrid").fit(X, y)
    with pytest.raises(ValueError, match="too few for this budget"):
        Budgeted(LinearRegression(), 8).fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="multiclass"):
        Budgeted(HistGradientBoostingClassifier(), 8).fit(X, np.arange(len(X)) % 3)


@pytest.mark.parametrize("estimator", [HistGradientBoostingRegressor(random_state=1), LinearRegression()])
def test_any_estimator_keeps_to_the_budget(curved, estimator):
    X, y = curved
    table = Counted(X[:2000])
    model = Budgeted(estimator, 8, random_state=1).fit(table, y[:2000])
    assert table.reads.max() == 8 and model.spent_["attributes"] == table.reads.sum()
    assert len(model.support_) <= 8
    # An estimator that takes NaN gets the rows with gaps as well.
    takes_gaps = isinstance(estimator, HistGradientBoostingRegressor)
    assert model.rows_ == 2000 if takes_gaps else 1150 <= model.rows_ < 1250
    fresh = Counted(X[2000:])
    model.predict(fresh)
    assert (fresh.reads == len(model.support_)).all()
    assert model.score(X[2000:], y[2000:]) > (0.8 if takes_gaps else 0.6)


def test_any_classifier_gives_its_probabilities(curved):
    X, y = curved
    sick = np.where(y > np.median(y), "ill", "well")
    model = Budgeted(HistGradientBoostingClassifier(random_state=1), 8, random_state=1)
    assert hasattr(model, "predict_proba") and not hasattr(Budgeted(LinearRegression()), "predict_proba")
    model.fit(X[:2000], sick[:2000])
    assert model.classes_.tolist() == ["ill", "well"]
    assert model.predict_proba(X[2000:]).shape == (1000, 2)
    assert model.score(X[2000:], sick[2000:]) > 0.8


def test_a_selection_returns_what_it_bought(curved):
    X, y = curved
    table = Counted(X)
    selector = BudgetedSelector(8, random_state=1)
    bought = selector.fit_transform(table, y)
    known = ~np.isnan(bought)
    assert bought.shape == (3000, len(selector.support_)) and table.reads.max() == 8
    assert known.all(axis=1).sum() > 1700 and not known.all()
    np.testing.assert_array_equal(bought[known], X[:, selector.support_][known])
    np.testing.assert_array_equal(selector.transform(X), X[:, selector.support_])
    steps = make_pipeline(BudgetedSelector(8, random_state=1), HistGradientBoostingRegressor(random_state=1))
    assert steps.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) > 0.8
