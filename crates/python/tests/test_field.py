"""lao_learn among other packages of the field: tables without a name, searches, pipelines, other formats."""

import importlib.util
import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import HalvingGridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_budgeted import command

import lao_learn
from lao_learn import Budgeted, BudgetedClassifier, BudgetedRegressor, BudgetedSelector
from lao_learn import HardThresholdingRegressor, HardThresholdingRegressorCV

NAMES = [f"x{j}" for j in range(12)]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((600, len(NAMES)))
    return X, 3.0 * X[:, 2] - 2.0 * X[:, 7] + rng.standard_normal(600)


def forms(X):
    """Tables of other libraries that hand on their columns, and a query that is not yet evaluated."""
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    arrow = pa.table(dict(zip(NAMES, X.T)))

    class Capsule:
        """A table of a library without a name."""

        def __arrow_c_stream__(self, requested_schema=None):
            return arrow.__arrow_c_stream__(requested_schema)

    yield "capsule", Capsule()
    yield "record batch", arrow.to_batches()[0]
    yield "LazyFrame", pl.DataFrame(arrow).lazy()
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    yield "DuckDB", connection.from_arrow(arrow)
    if importlib.util.find_spec("ibis"):
        import ibis

        yield "Ibis", ibis.memtable(arrow)


@pytest.mark.parametrize(
    "model",
    [
        BudgetedRegressor(6, random_state=1),
        Budgeted(Ridge(), 6, random_state=1),
        HardThresholdingRegressor(2, random_state=1),
        HardThresholdingRegressorCV(5, cv=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_tables_without_a_name_are_read(table, model):
    X, y = table
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(dict(zip(NAMES, X.T)))
    expected = clone(model).fit(frame, y).predict(frame)
    seen = []
    for name, form in forms(X):
        fitted = clone(model).fit(form, y)
        assert np.array_equal(fitted.predict(form), expected), name
        assert list(fitted.feature_names_in_) == NAMES, name
        seen.append(name)
    assert len(seen) >= 4


def test_a_table_without_a_reader_says_what_to_install(table, monkeypatch):
    class Capsule:
        def __arrow_c_stream__(self, requested_schema=None):
            raise AssertionError

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(
        TypeError, match="Capsule: to read it, lao_learn needs pyarrow or polars; pip install"
    ):
        BudgetedRegressor(6).fit(Capsule(), table[1])


def test_arrays_of_other_libraries_are_refused_with_a_remedy():
    pytest.importorskip("array_api_strict")
    text = """
import array_api_strict as xp, numpy as np, sklearn
from lao_learn import BudgetedRegressor
sklearn.set_config(array_api_dispatch=True)
try:
    BudgetedRegressor(2).fit(xp.asarray(np.eye(9)), np.arange(9.0))
except TypeError as error:
    print(error)
"""
    # scipy reads this once, when it is imported.
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment)
    assert "X is an array of array_api_strict" in told.stdout, told
    assert "give numpy.asarray(X)" in told.stdout


def test_halving_searches_the_budget(table):
    grid = {"budget": [3, 6, 12]}
    search = HalvingGridSearchCV(BudgetedRegressor(random_state=1), grid, random_state=1, cv=3).fit(*table)
    assert search.best_params_["budget"] in (3, 6, 12) and search.score(*table) > 0.8


def test_a_pipeline_keeps_the_selection(table, tmp_path):
    memory = joblib.Memory(tmp_path, verbose=0)
    steps = [StandardScaler(), BudgetedSelector(6, random_state=1)]
    from sklearn.ensemble import HistGradientBoostingRegressor

    last = HistGradientBoostingRegressor(random_state=0)
    first = make_pipeline(*steps, last, memory=memory).fit(*table)
    again = make_pipeline(*map(clone, steps), clone(last), memory=memory).fit(*table)
    assert np.array_equal(first.predict(table[0]), again.predict(table[0]))
    assert list(tmp_path.rglob("output.pkl"))


def test_metadata_reach_the_estimator(table):
    X, y = table
    classes, weights = y > 0, np.where(y > 0, 1.0, 5.0)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        Budgeted(LogisticRegression(), 6, random_state=1).fit(X, classes, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = LogisticRegression().set_fit_request(sample_weight=True)
        weighted = Budgeted(asks, 6, random_state=1).fit(X, classes, sample_weight=weights)
        plain = Budgeted(LogisticRegression(), 6, random_state=1).fit(X, classes)
        assert weighted.predict(X).mean() < plain.predict(X).mean()
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            Budgeted(LogisticRegression(), 6).fit(X, classes, sample_weight=weights)
        own = BudgetedRegressor(6, random_state=1).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        make_pipeline(scaler, own).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("shape", ["line", "trees"])
def test_models_survive_pickle_joblib_and_skops(table, tmp_path, shape):
    X, y = table
    model = BudgetedRegressor(6, shape=shape, random_state=1).fit(X, y)
    wanted = model.predict(X)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), wanted)
    joblib.dump(model, tmp_path / "model.joblib")
    assert np.array_equal(joblib.load(tmp_path / "model.joblib").predict(X), wanted)
    skops = pytest.importorskip("skops.io")
    stored = skops.dumps(model)
    trusted = skops.get_untrusted_types(data=stored)
    assert all(name.startswith("lao_learn.") or name.startswith("builtins.") for name in trusted), trusted
    assert np.array_equal(skops.loads(stored, trusted=trusted).predict(X), wanted)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_pipelines_become_onnx(table, kind):
    skl2onnx, runtime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    from lao_learn import onnx

    onnx.register()
    X, y = table
    close = dict(rtol=1e-4, atol=1e-4)

    def run(model, labels):
        pipeline = make_pipeline(StandardScaler(), model).fit(X, labels)
        options = {id(pipeline): {"zipmap": False}} if hasattr(pipeline, "classes_") else None
        stored = skl2onnx.to_onnx(pipeline, X[:1].astype(kind), target_opset=19, options=options)
        session = runtime.InferenceSession(stored.SerializeToString(), providers=["CPUExecutionProvider"])
        return pipeline, session.run(None, {session.get_inputs()[0].name: X.astype(kind)})

    noise = np.random.default_rng(0).standard_normal(len(y))
    for labels, model in [(noise, BudgetedRegressor), (noise > 0, BudgetedClassifier)]:
        # Nothing is found: each row gets the same.
        pipeline, (told, *_) = run(model(6, shape="line", random_state=1), labels)
        assert len(pipeline[-1].support_) == 0
        np.testing.assert_allclose(told.ravel(), pipeline.predict(X), **close)

    for shape in ["line", "trees"]:
        pipeline, (told,) = run(BudgetedRegressor(6, shape=shape, random_state=1), y)
        np.testing.assert_allclose(told.ravel(), pipeline.predict(X), **close)
        for labels in [(y > 0).astype(int), np.where(y > 0, "ill", "well")]:
            pipeline, (told, odds) = run(BudgetedClassifier(6, shape=shape, random_state=1), labels)
            # A row at the threshold may fall on the other side of it in single precision.
            assert (told == pipeline.predict(X)).mean() > 0.99
            np.testing.assert_allclose(odds, pipeline.predict_proba(X), **close)


def test_the_package_brings_the_command():
    own = [sys.executable, "-m", "lao_learn"]
    help_text = subprocess.run([*own, "--help"], capture_output=True, check=True).stdout
    program = command()
    if program is not None:
        assert help_text == subprocess.run([program, "--help"], capture_output=True, check=True).stdout
    for line, status in [(["--version"], 0), (["fit"], 2), (["inspect", "none.json"], 2), ([], 2)]:
        assert subprocess.run([*own, *line], capture_output=True).returncode == status, line
    # Another program with the package's script is the one that pip installs.
    script = Path(sys.executable).with_name("lao")
    assert subprocess.run([script, "--help"], capture_output=True, check=True).stdout == help_text


def test_the_command_imports_nothing_heavy():
    text = "import sys, lao_learn.__main__; print(sorted({'numpy', 'sklearn', 'typing'} & set(sys.modules)))"
    told = subprocess.run(
        [sys.executable, "-I", "-c", text], capture_output=True, check=True, text=True
    ).stdout
    assert told == "[]\n"


# Checks of numpydoc that this package does not keep: examples, pointers to others and long summaries are
# where they help, docstrings begin on the line of the quotes, and types are words.
LEFT_OUT = set("EX01 SA01 ES01 GL01 GL02 GL03 PR06 PR08 PR09 RT02 RT03 RT04 RT05".split())


def public():
    from lao_learn import dask, onnx, plot

    for name in [*lao_learn.__all__, "dask.Partitions", "onnx.register", *(f"plot.{n}" for n in vars(plot))]:
        owner = {"dask": dask, "onnx": onnx, "plot": plot}.get(name.split(".")[0], lao_learn)
        item = getattr(owner, name.split(".")[-1])
        if name.startswith("__") or not callable(item) or not item.__module__.startswith("lao_learn"):
            continue
        yield f"lao_learn.{name}"
        if inspect.isclass(item):
            for member, value in vars(item).items():
                if not member.startswith("_") and callable(value):
                    yield f"lao_learn.{name}.{member}"


def test_docstrings_are_those_of_numpydoc():
    validate = pytest.importorskip("numpydoc.validate").validate
    pytest.importorskip("dask"), pytest.importorskip("skl2onnx"), pytest.importorskip("matplotlib")
    names = [name for name in public() if "._" not in name]
    assert len(names) > 50
    wrong = []
    for name in names:
        found = [error for error in validate(name)["errors"] if error[0] not in LEFT_OUT]
        wrong += [f"{name}: {code} {text}" for code, text in found]
    assert not wrong, "\n".join(wrong)
