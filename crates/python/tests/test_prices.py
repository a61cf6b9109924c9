"""Prices: budgets in money, panels that are paid once, and what is refused."""

import json
import pickle
import subprocess

import numpy as np
import pytest
from conftest import sparse_problem
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from test_budgeted import command, same_bits, write_csv

from lao_learn import (
    BudgetedClassifier,
    BudgetedClassifierCV,
    BudgetedRegressor,
    BudgetedRegressorCV,
    Study,
    _core,
)

# Attributes that are never bought are a warning, which one test looks for.
pytestmark = pytest.mark.filterwarnings("ignore:never bought")

# x2 and x7 matter. They are in panels with attributes that do not.
PRICES = {f"x{j}": 1.0 for j in range(12)} | {
    "x0": 0,
    "x2": (4.0, "blood"),
    "x3": (4.0, "blood"),
    "x7": (2, "urine"),
    "x8": (2.0, "urine"),
    "x11": 50,
}
IN_ORDER = [PRICES[f"x{j}"] for j in range(12)]


@pytest.fixture
def small():
    return sparse_problem(3000, 12)


def write_prices(path):
    pairs = {name: one if isinstance(one, tuple) else (one, "") for name, one in PRICES.items()}
    lines = [f"{name},{price},{panel}" for name, (price, panel) in pairs.items()]
    path.write_text("\n".join(["attribute,price,panel", *lines]) + "\n")


def test_no_example_costs_more_than_the_money(small):
    X, y = small
    model = BudgetedRegressor(8, prices=IN_ORDER, shape="line", random_state=1).fit(X, y)
    assert model.support_.tolist() == [2, 7]
    spent = model.spent_
    panels = {line["panel"]: line for line in spent["panels"]}
    assert panels["blood"]["columns"] == ["x2", "x3"] and panels["blood"]["price"] == 4.0
    assert "x11" not in panels, "it costs more than there is"
    assert panels["x0"]["money"] == 0.0
    for line in spent["panels"]:
        assert line["money"] == pytest.approx(line["price"] * line["examples"])
        assert line["examples"] <= spent["examples"]
    assert spent["money"] == pytest.approx(sum(line["money"] for line in spent["panels"]))
    assert 6.0 <= spent["most_money"] <= 8.0 * (1.0 + 1e-9)
    assert spent["money"] <= 8.0 * spent["examples"] * (1.0 + 1e-9)
    assert model.cost_ == 6.0
    # Both attributes of a panel that is paid are looked at.
    seen = model.evidence_["examples"]
    assert panels["blood"]["examples"] >= seen[2] == seen[3] > 0.9 * panels["blood"]["examples"]
    money = model.history_["money"]
    assert np.all(np.diff(money) >= 0.0) and money[-1] == spent["money"]
    assert model.plan_["budget"] == 8.0 and model.plan_["predict_budget"] is None
    assert model.plan_["prices"]["x2"] == (4.0, "blood") and model.plan_["prices"]["x11"] == (50.0, None)
    assert json.loads(model.model_)["spent"]["money"]["total"] == spent["money"]


def test_the_first_column_of_a_panel_costs_more_than_a_further_one(small, tmp_path):
    X, y = small
    further = PRICES | {"x2": (4.0, "blood", 1.0), "x3": (3.5, "blood", 0.5)}
    model = BudgetedRegressor(8, prices=[further[f"x{j}"] for j in range(12)], random_state=1).fit(X, y)
    spent = model.spent_
    panels = {line["panel"]: line for line in spent["panels"]}
    assert (panels["blood"]["price"], panels["x2"]["price"], panels["x3"]["price"]) == (3.0, 1.0, 0.5)
    assert panels["blood"]["examples"] == max(panels["x2"]["examples"], panels["x3"]["examples"])
    assert model.support_.tolist() == [2, 7] and model.cost_ == 6.0
    assert spent["most_money"] <= 8.0 * (1.0 + 1e-9)
    assert model.plan_["prices"]["x3"] == (3.5, "blood", 0.5)
    with pytest.raises(ValueError, match="in the panel `blood` the first column costs 3 more"):
        BudgetedRegressor(8, prices=[(4, "blood", 1), (4, "blood", 2)] + [1] * 10).fit(X, y)
    study = Study.create(tmp_path / "study", "y", [f"x{j}" for j in range(12)], 8, prices=further)
    assert study.prices["x2"] == (4.0, "blood", 1.0) and study.prices["x7"] == (2.0, "urine")


def test_without_prices_nothing_is_said_of_money(small):
    X, y = small
    model = BudgetedRegressor(8, random_state=1).fit(X, y)
    assert "money" not in model.spent_ and "panels" not in model.spent_ and "money" not in model.history_
    assert model.cost_ is None and model.plan_["prices"] is None


def test_names_order_files_and_series_mean_the_same_and_are_the_bits_of_rust(small, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = small
    write_csv(tmp_path / "table.csv", X, y)
    write_prices(tmp_path / "prices.csv")
    choices = {**BudgetedRegressor(predict_budget=6.5)._choices(), "random_state": 7}
    text = _core.fit_file(tmp_path / "table.csv", "y", 8, choices, prices=tmp_path / "prices.csv")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    single = {name: 1.0 for name in PRICES}
    plans = []
    for table, prices in [
        (X, IN_ORDER),
        (X, tuple(IN_ORDER)),
        (X, PRICES),
        (frame, PRICES),
        (frame, IN_ORDER),
        (frame, dict(reversed(PRICES.items()))),
        (frame, tmp_path / "prices.csv"),
        (frame, str(tmp_path / "prices.csv")),
    ]:
        model = BudgetedRegressor(8, prices=prices, predict_budget=6.5, random_state=7).fit(table, y)
        same_bits(model, text)
        assert json.loads(text)["spent"]["money"]["total"] == model.spent_["money"]
        plans.append(model.plan_)
    assert all(plan == plans[0] for plan in plans)
    by_name = BudgetedRegressor(4, prices=single, random_state=7).fit(frame, y)
    for prices in [pd.Series(single), np.ones(12), np.ones(12, dtype=np.float32), np.ones(12, dtype=int)]:
        model = BudgetedRegressor(4, prices=prices, random_state=7).fit(frame, y)
        assert (model.coef_ == by_name.coef_).all()


def test_prices_of_one_are_a_number_of_attributes(small):
    X, y = small
    plain = BudgetedRegressor(4, random_state=1).fit(X, y)
    priced = BudgetedRegressor(4.0, prices=np.ones(12), random_state=1).fit(X, y)
    assert (plain.coef_ == priced.coef_).all()
    assert priced.spent_["money"] == plain.spent_["attributes"] == priced.spent_["attributes"]


def test_a_prediction_costs_no_more_than_its_limit(small):
    X, y = small
    dear = BudgetedRegressor(8, prices=IN_ORDER, shape="line", random_state=1).fit(X, y)
    with pytest.warns(UserWarning, match="never bought, since a prediction may cost 4: x11"):
        cheap = BudgetedRegressor(8, prices=IN_ORDER, predict_budget=4, shape="line", random_state=1)
        cheap.fit(X, y)
    assert dear.cost_ == 6.0 and cheap.cost_ <= 4.0
    assert set(cheap.support_) < set(dear.support_)
    assert cheap.plan_["predict_budget"] == 4


@pytest.mark.parametrize(
    ("prices", "text"),
    [
        (PRICES | {"x4": -1.0}, "column `x4`: its price is -1; give a finite number of at least 0"),
        (PRICES | {"x4": float("nan")}, "column `x4`: its price is NaN; give a finite"),
        (PRICES | {"x4": float("inf")}, "column `x4`: its price is inf; give a finite"),
        (PRICES | {"x4": "5 EUR"}, "the price of 'x4' is '5 EUR'; give a number"),
        (PRICES | {"x4": True}, "the price of 'x4' is True"),
        (PRICES | {"x4": None}, "the price of 'x4' is None"),
        (PRICES | {"x4": (1.0, "a", "b")}, "the price of 'x4' is (1.0, 'a', 'b')"),
        (PRICES | {"x4": (1.0, 7)}, "the panel of 'x4' is 7; give its name"),
        (PRICES | {"x4": (9.0, "blood")}, "its panel `blood` costs 9 here and 4 at `x2`; give each column"),
        (PRICES | {"weight": 2.0}, "column `weight`: it has the price 2, but is no attribute; correct or"),
        ({n: p for n, p in PRICES.items() if n != "x4"}, "column `x4`: it has no price"),
        (PRICES | {3: 1.0}, "3 is not the name of a column"),
        ({}, "give a price for each column"),
        ([1.0, 2.0], "2 prices for 12 columns; give one for each"),
        (7.0, "prices = 7.0: give a dict"),
    ],
)
def test_what_are_no_prices_is_refused_by_column_value_and_remedy(prices, text, small):
    pd = pytest.importorskip("pandas")
    X, y = small
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    with pytest.raises(ValueError) as refused:
        BudgetedRegressor(8, prices=prices).fit(frame, y)
    assert text in str(refused.value)


def test_a_name_that_is_misspelled_is_named_and_so_is_a_table_without_names(small, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = small
    names = ["age", "weight", "pulse", *(f"x{j}" for j in range(3, 12))]
    frame = pd.DataFrame(X, columns=names)
    prices = dict.fromkeys(names, 1.0)
    wrong = prices | {"wieght": 1.0}
    del wrong["weight"]
    with pytest.raises(ValueError, match="`wieght`.*did you mean `weight`"):
        BudgetedRegressor(3, prices=wrong).fit(frame, y)
    with pytest.raises(ValueError, match="X has no column names.*sequence of prices in column order"):
        BudgetedRegressor(3, prices={"age": 1.0, "weight": 2.0}).fit(X, y)
    (tmp_path / "prices.csv").write_text("age,1\nweight,2\npulse,-3\n")
    with pytest.raises(ValueError, match="prices.csv, line 3: the price of `pulse` is `-3`"):
        BudgetedRegressor(3, prices=tmp_path / "prices.csv").fit(frame, y)
    with pytest.raises(FileNotFoundError):
        BudgetedRegressor(3, prices=tmp_path / "nothing.csv").fit(frame, y)
    # The label may have a price, which is not used.
    BudgetedRegressor(3, prices=prices | {"response": 9.0}).fit(frame, pd.Series(y, name="response"))


def test_money_that_buys_nothing_is_refused(small):
    X, y = small
    for budget in [None, 0.5, -1, float("nan"), float("inf"), "many", True]:
        with pytest.raises(ValueError, match="with prices, give the money that an example may cost"):
            BudgetedRegressor(budget, prices=np.ones(12)).fit(X, y)
    with pytest.raises(ValueError, match="at least 1.0, the lowest price; all columns together cost 12.0"):
        BudgetedRegressor(prices=np.ones(12)).fit(X, y)
    with pytest.raises(ValueError, match="predict_budget = 0.5: .* the money that a prediction may cost"):
        BudgetedRegressor(8, prices=np.ones(12), predict_budget=0.5).fit(X, y)
    with pytest.raises(ValueError, match="predict_budget = 4: it is money, and needs prices"):
        BudgetedRegressor(8, predict_budget=4).fit(X, y)
    with pytest.raises(ValueError, match="choose one that takes money, such as pursuit"):
        BudgetedRegressor(8, method="rda2", prices=IN_ORDER).fit(X, y)
    with pytest.raises(ValueError, match="leave out attribute 11 .price 50."):
        BudgetedRegressor(8, method="hybrid", prices=IN_ORDER).fit(X, y)
    model = BudgetedRegressor(8, method="hybrid", prices=IN_ORDER[:11], random_state=1).fit(X[:, :11], y)
    assert 4.0 <= model.spent_["most_money"] <= 8.0 * (1.0 + 1e-9) and model.cost_ <= 8.0
    model = BudgetedRegressor(8, method="hybrid", prices=np.full(12, 2.0), random_state=1).fit(X, y)
    assert model.spent_["most_attributes"] == 4 and model.spent_["most_money"] == 8.0


def test_sums_of_tenths_are_compared_as_people_do(small):
    X, y = small
    model = BudgetedRegressor(0.3, prices=np.full(12, 0.1), random_state=1).fit(X, y)
    assert model.spent_["most_attributes"] == 3


def test_clones_parameters_storage_and_searches(small):
    X, y = small
    model = BudgetedRegressor(8, prices=PRICES, predict_budget=7.0, random_state=1)
    assert model.get_params()["prices"] is PRICES
    assert clone(model).get_params() == model.get_params()
    assert "prices={" in repr(model)
    model.fit(X[:2000], y[:2000])
    other = pickle.loads(pickle.dumps(model))
    assert other.plan_ == model.plan_ and other.spent_["money"] == model.spent_["money"]
    before = model.spent_["money"]
    for one in [model, other]:
        one.partial_fit(X[2000:], y[2000:])
    assert (other.coef_ == model.coef_).all() and other.spent_["money"] == model.spent_["money"] > before
    search = GridSearchCV(clone(model), {"budget": [5.0, 8.0]}, cv=3).fit(X, y)
    assert search.best_estimator_.plan_["budget"] == search.best_params_["budget"]


def test_a_warm_start_keeps_its_prices(small):
    X, y = small
    model = BudgetedRegressor(8, prices=IN_ORDER, warm_start=True, random_state=1).fit(X[:1500], y[:1500])
    model.set_params(prices=PRICES).fit(X[1500:], y[1500:])
    assert model.spent_["examples"] == 2700
    for parameters, text in [
        ({"prices": np.ones(12)}, "prices: the learner began with others"),
        ({"prices": None}, "prices: the learner began with others"),
        ({"budget": 9}, "budget = 9.0: the learner began with 8.0"),
        ({"predict_budget": 5.0}, "predict_budget = 5.0: the learner began with None"),
    ]:
        kept = model.get_params()
        with pytest.raises(ValueError, match=text):
            model.set_params(**parameters).fit(X[1500:], y[1500:])
        model.set_params(**kept)


@pytest.mark.parametrize("named", [False, True])
def test_cross_validation_compares_amounts_of_money(named, small):
    X, y = small
    if named:
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    amounts = [4.0, 8, 12.5]
    model = BudgetedRegressorCV(amounts, prices=PRICES if named else IN_ORDER, random_state=1).fit(X, y)
    assert model.cv_results_["budgets"].tolist() == [4.0, 8.0, 12.5]
    money = model.cv_results_["mean_money"]
    assert np.all(np.diff(money) > 0.0) and np.all(money <= np.array(amounts) * len(X))
    assert model.budget_ == model.plan_["budget"] == 8.0
    plain = BudgetedRegressor(8, prices=IN_ORDER, random_state=1).fit(X, y)
    assert (plain.coef_ == model.coef_).all() and plain.spent_["money"] == model.spent_["money"]
    with pytest.raises(ValueError, match="budgets = None: with prices, give the money"):
        BudgetedRegressorCV(prices=IN_ORDER).fit(X, y)
    with pytest.raises(ValueError, match="budgets is empty"):
        BudgetedRegressorCV([], prices=IN_ORDER).fit(X, y)


def test_classes_have_prices_too(small):
    X, y = small
    model = BudgetedClassifier(8, prices=IN_ORDER, shape="line", random_state=1).fit(X, y > np.median(y))
    assert model.support_.tolist() == [2, 7] and model.cost_ == 6.0
    assert model.predict_proba(X).shape == (len(X), 2)
    chosen = BudgetedClassifierCV([4, 8], prices=IN_ORDER, random_state=1).fit(X, y > np.median(y))
    assert chosen.budget_ == 8.0 and chosen.spent_["most_money"] <= 8.0 * (1.0 + 1e-9)


def test_pictures_show_money(small):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from lao_learn import plot

    X, y = small
    model = BudgetedRegressor(8, prices=IN_ORDER, random_state=1).fit(X, y)
    assert plot.error_curve(model).get_xlabel() == "money spent"
    bars = plot.spending(model, most=3)
    assert bars.get_xlabel() == "money spent"
    assert sum(bar.get_width() for bar in bars.patches) == pytest.approx(model.spent_["money"])
    matplotlib.pyplot.close("all")


def test_a_live_study_has_prices(tmp_path):
    names = ["CRP", "IL6", "LDH", "age"]
    prices = {"CRP": (8.0, "blood"), "IL6": (8.0, "blood"), "LDH": 3.0, "age": 0.0}
    rng = np.random.default_rng(1)
    with Study.create(tmp_path / "study", "y", names, 11.0, prices=prices, predict_budget=8.5) as study:
        assert study.budget == 11.0 and study.predict_budget == 8.5
        spent = 0.0
        for _ in range(150):
            (slot,) = study.ask()
            assert slot.cost <= 11.0 and ("blood" in slot.panels) == ("CRP" in slot.attributes)
            spent += slot.cost
            patient = dict(zip(names, rng.standard_normal(4)))
            label = 2.0 * patient["IL6"] + 0.1 * rng.standard_normal()
            study.tell(slot, {name: patient[name] for name in slot.attributes}, label)
        assert study.status()["spent"] == pytest.approx(spent)
        assert study.status()["support"] == ["IL6"]
        assert json.loads(study.model())["spent"]["money"]["total"] == pytest.approx(spent)
    with Study.open(tmp_path / "study") as study:
        assert study.prices["CRP"] == (8.0, "blood") and study.prices["LDH"] == (3.0, "LDH")
        assert study.verify() == 300 and study.predict_budget == 8.5
    with Study.create(tmp_path / "count", "y", names, 2) as study:
        assert study.prices is None and study.budget == 2 and isinstance(study.budget, int)
        (slot,) = study.ask()
        assert slot.cost is None and slot.panels == []
    for change, text in [
        ({"prices": prices | {"LDH": -1.0}}, "`LDH`: its price is -1"),
        ({"prices": {"CRP": 1.0}}, "`IL6`: it has no price"),
        ({"prices": prices, "budget": float("nan")}, "budget = nan: with prices"),
        ({"predict_budget": 3.0}, "it is money, and needs prices"),
    ]:
        with pytest.raises(ValueError, match=text):
            Study.create(tmp_path / "other", "y", names, **({"budget": 11} | change))
    assert not (tmp_path / "other").exists()
    with pytest.raises(ValueError, match="budget = 2.5: give a whole number of attributes"):
        Study.create(tmp_path / "other", "y", names, 2.5)


def test_the_command_spends_the_same_money_and_finds_the_same_bits(small, tmp_path):
    lao = command()
    if lao is None:
        pytest.skip("the command lao is not built: cargo build -p lao-cli, or set LAO to its path")
    X, y = small
    write_csv(tmp_path / "table.csv", X, y)
    write_prices(tmp_path / "prices.csv")
    line = [lao, "fit", "table.csv", "--target", "y", "--prices", "prices.csv", "--json", "--quiet"]
    line += ["--budget", "8", "--predict-budget", "6.5", "--seed", "3"]
    text = subprocess.run(line, cwd=tmp_path, capture_output=True, check=True, text=True).stdout
    model = BudgetedRegressor(8, prices=IN_ORDER, predict_budget=6.5, random_state=3).fit(X, y)
    same_bits(model, text)
    assert json.loads(text)["spent"]["money"]["total"] == model.spent_["money"]
