"""Tables of other libraries: the same bits, no copies, and no column that was not asked for."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from lao_learn import BudgetedClassifier, BudgetedRegressor, BudgetedRegressorCV, HardThresholdingRegressor
from lao_learn import _table


def fitted(X, y, **parameters):
    return BudgetedRegressor(12, random_state=1, **parameters).fit(X, y)


def same(model, other):
    assert (model.coef_ == other.coef_).all() and model.intercept_ == other.intercept_


@pytest.fixture
def sparse(problem):
    X, y = problem
    X = np.where(np.abs(X - np.arange(X.shape[1])) < 0.5 * (1.0 + np.arange(X.shape[1])), 0.0, X)
    return X, X[:, 2] - 0.5 * X[:, 7] + np.random.default_rng(1).standard_normal(len(X))


def test_arrays_in_any_order_and_with_any_strides(problem):
    X, y = problem
    plain = fitted(X, y)
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    backwards = np.ascontiguousarray(X[::-1, ::-1])
    for other in [np.asfortranarray(X), wide[::2, ::3], backwards[::-1, ::-1]]:
        model = fitted(other, y)
        same(plain, model)
        assert (model.predict(other) == plain.predict(X)).all()
    single = X.astype(np.float32)
    same(fitted(single, y), fitted(single.astype(np.float64), y))
    whole = np.rint(X).astype(np.int32)
    same(fitted(whole, y), fitted(whole.astype(np.float64), y))


def test_unaligned_and_foreign_bytes_are_converted(problem):
    X, y = problem
    swapped = X.astype(X.dtype.newbyteorder())
    raw = np.zeros(X.size * 8 + 1, dtype=np.uint8)
    unaligned = raw[1:].view(np.float64).reshape(X.shape)
    unaligned[...] = X
    for other in [swapped, unaligned]:
        same(fitted(X, y), fitted(other, y))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_sparse_matrices(form, kind, sparse):
    X, y = sparse
    X = X.astype(kind)
    other = scipy.sparse.csr_array(X).asformat(form)
    model, plain = fitted(other, y), fitted(X, y)
    same(model, plain)
    assert (model.predict(other) == plain.predict(X)).all()
    full = HardThresholdingRegressor(2, standardize="scale")
    assert full.fit(other, y).coef_[2] == pytest.approx(full.fit(X, y).coef_[2], rel=1e-9)


def test_sparse_matrices_with_unsorted_and_repeated_entries(sparse):
    X, y = sparse
    other = scipy.sparse.csr_matrix(X)
    order = np.concatenate(
        [np.arange(end - 1, begin - 1, -1) for begin, end in zip(other.indptr, other.indptr[1:])]
    )
    data = np.repeat(other.data[order] / 2.0, 2)
    unsorted = scipy.sparse.csr_matrix((data, np.repeat(other.indices[order], 2), 2 * other.indptr), X.shape)
    before = unsorted.data.copy()
    same(fitted(unsorted, y), fitted(X, y))
    assert (unsorted.data == before).all(), "the matrix of the caller was changed"


def frames(X, names=None):
    """Returns the table as a frame of each library that is installed."""
    names = names or [f"c{j}" for j in range(X.shape[1])]
    found = {}
    try:
        import pandas

        found["pandas"] = pandas.DataFrame(X, columns=names)
        if np.isfinite(X).all() and "c1" in names:
            mixed = found["pandas"].copy()
            mixed["c1"] = mixed["c1"].round().astype("int64")
            found["pandas, mixed"] = mixed
    except ImportError:
        pass
    try:
        import polars

        found["polars"] = polars.DataFrame({name: X[:, j] for j, name in enumerate(names)})
        found["polars, chunks"] = polars.concat([found["polars"][:100], found["polars"][100:]], rechunk=False)
    except ImportError:
        pass
    try:
        import pyarrow

        found["pyarrow"] = pyarrow.table({name: X[:, j] for j, name in enumerate(names)})
        found["pyarrow, one batch"] = found["pyarrow"].to_batches()[0]
        found["pyarrow, chunks"] = pyarrow.concat_tables([found["pyarrow"][:100], found["pyarrow"][100:]])
    except ImportError:
        pass
    return found


KINDS = ["pandas", "pandas, mixed", "polars", "polars, chunks"]
KINDS += ["pyarrow", "pyarrow, chunks", "pyarrow, one batch"]


@pytest.mark.parametrize("kind", KINDS)
def test_frames(kind, problem):
    X, y = problem
    if kind == "pandas, mixed":
        X = X.copy()
        X[:, 1] = np.rint(X[:, 1])
    frame = frames(X).get(kind)
    if frame is None:
        pytest.skip(f"{kind} is not installed")
    model, plain = fitted(frame, y), fitted(X, y)
    same(model, plain)
    assert list(model.feature_names_in_) == [f"c{j}" for j in range(60)]
    assert list(model.get_feature_names_out()) == ["c2", "c7"]
    assert (model.predict(frame) == plain.predict(X)).all()
    same(
        HardThresholdingRegressor(2).fit(frame, y), HardThresholdingRegressor(2).fit(np.asfortranarray(X), y)
    )
    other = BudgetedRegressorCV([4, 12], random_state=1).fit(frame, y)
    same(other, BudgetedRegressorCV([4, 12], random_state=1).fit(X, y))
    assert BudgetedClassifier(12, random_state=1).fit(frame, y > 0).score(frame, y > 0) > 0.9


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "pandas"])
def test_other_names_are_refused(kind, problem):
    X, y = problem
    frame = frames(X).get(kind)
    if frame is None:
        pytest.skip(f"{kind} is not installed")
    model = fitted(frame, y)
    renamed = [f"d{j}" for j in range(60)]
    if kind == "pandas":
        other = frame.set_axis(renamed, axis=1)
    elif kind == "polars":
        other = frame.rename(dict(zip(frame.columns, renamed)))
    else:
        other = frame.rename_columns(renamed)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(other)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_only_columns_that_are_asked_for_are_touched(kind, problem, monkeypatch):
    X, y = problem
    frame = frames(X).get(kind)
    if frame is None:
        pytest.skip(f"{kind} is not installed")
    touched = []
    columns = _table.columns_of

    def counting(X):
        fetch = columns(X)

        def count(j):
            touched.append(j)
            return fetch(j)

        return count

    monkeypatch.setattr(_table, "columns_of", counting)
    # The first block of ten examples looks at five columns, and the second at up to five others.
    few = frame.slice(0, 20) if kind == "pyarrow" else frame[:20]
    model = BudgetedRegressor(5, holdout=0.0, random_state=1).fit(few, y[:20])
    assert len(touched) == len(set(touched)) <= 10
    assert sorted(touched) == np.flatnonzero(model.spent_["reads"]).tolist()
    model = fitted(frame, y)
    touched.clear()
    model.predict(frame)
    assert sorted(touched) == model.support_.tolist()


def test_words_in_a_column_are_named(problem):
    pandas = pytest.importorskip("pandas")
    X, y = problem
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(60)])
    frame["c7"] = "word"
    with pytest.raises(ValueError, match="column 'c7' has the type .*one-hot"):
        fitted(frame, y)


def test_missing_values_are_refused_or_passed_over(problem):
    X, y = problem
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.02] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fitted(gaps, y)
    model = fitted(gaps, y, missing="skip")
    assert model.spent_["missing"] > 0 and model.spent_["passed_over"] == 0
    assert model.support_.tolist() == [2, 7]
    other = fitted(gaps, y, missing="skip", method="naive")
    assert other.spent_["passed_over"] > 0
    assert np.isfinite(model.predict(gaps)).all()
    for kind, frame in frames(gaps).items():
        with pytest.raises(ValueError, match='missing="skip"'):
            fitted(frame, y)
        same(fitted(frame, y, missing="skip"), model)
        with pytest.raises(ValueError, match='row .* lacks attribute .*missing="skip"'):
            fitted(X, y).predict(frame)
    with pytest.raises(ValueError, match="infinit"):
        fitted(np.where(np.isnan(gaps), np.inf, gaps), y)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_dates_are_no_numbers(kind):
    """As numbers they would be nanoseconds, or days, whichever the frame has."""
    module = pytest.importorskip(kind)
    days = np.datetime64("2026-01-01", "us") + np.arange(60) * np.timedelta64(1, "D")
    columns = {"day": days, "x": np.arange(60.0)}
    frame = module.table(columns) if kind == "pyarrow" else module.DataFrame(columns)
    with pytest.raises(ValueError, match="column 'day' has the type .*; give numbers"):
        BudgetedRegressor(2, random_state=1).fit(frame, np.arange(60.0))


def test_nulls_of_polars_and_pyarrow_are_missing_values(problem):
    X, y = problem
    column = [None if i % 50 == 0 else float(x) for i, x in enumerate(X[:, 2])]
    gaps = X.copy()
    gaps[::50, 2] = np.nan
    model = fitted(gaps, y, missing="skip")
    for module in ["polars", "pyarrow"]:
        library = pytest.importorskip(module)
        data = {f"c{j}": X[:, j] for j in range(60)} | {"c2": column}
        frame = library.DataFrame(data) if module == "polars" else library.table(data)
        same(fitted(frame, y, missing="skip"), model)


MEMORY = """
    import resource, sys
    import numpy as np
    from lao_learn import BudgetedRegressor, HardThresholdingRegressor

    rows, dim = 1_000, 10_000
    rng = np.random.default_rng(0)
    {make}
    y = first + rng.standard_normal(rows)
    # What is imported and allocated once is not counted.
    {model}.fit(rng.standard_normal((50, 200)), y[:50])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = {model}.fit(X, y)
    model.predict(X)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # A sparse matrix has a value and an index, of four bytes, for each entry.
    entries = X.nnz * 12 if hasattr(X, "nnz") else rows * dim * (4 if "float32" in {make!r} else 8)
    print((after - before) * 1024, entries)
"""

MAKES = {
    "an array by rows": "X = rng.standard_normal((rows, dim)); first = X[:, 0]",
    "an array by columns": "X = rng.standard_normal((dim, rows)).T; first = X[:, 0]",
    "an array of float32": "X = rng.standard_normal((rows, dim), dtype=np.float32); first = X[:, 0]",
    "pandas": "import pandas; a = rng.standard_normal((dim, rows)); first = a[0]; "
    "X = pandas.DataFrame(a.T, columns=[f'c{j}' for j in range(dim)], copy=False)",
    "polars": "import polars; a = rng.standard_normal((dim, rows)); first = a[0]; "
    "X = polars.DataFrame({f'c{j}': a[j] for j in range(dim)})",
    "pyarrow": "import pyarrow; a = rng.standard_normal((dim, rows)); first = a[0]; "
    "X = pyarrow.table({f'c{j}': a[j] for j in range(dim)})",
} | {
    f"scipy {form}": "import scipy.sparse; a = rng.standard_normal((rows, dim)); "
    "a[rng.random(a.shape) < 0.4] = 0; "
    f"first = a[:, 0].copy(); X = scipy.sparse.{form}_array(a); del a"
    for form in ("csr", "csc")
}


def grown(kind, model):
    """Returns by how many bytes the memory of a process grows, at most, and the bytes of the table."""
    if kind in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(kind)
    text = textwrap.dedent(MEMORY).format(make=MAKES[kind], model=model)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return tuple(map(int, done.stdout.split()))


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured as on Linux")
@pytest.mark.parametrize("kind", list(MAKES))
def test_a_wide_table_is_not_copied(kind):
    more, whole = grown(kind, "BudgetedRegressor(20, random_state=1)")
    # The learner itself has a product for each pair of an attribute and a watched one.
    learner = 10_000 * 20 * 8 * 4
    assert more < learner + 0.2 * whole, (more, whole)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured as on Linux")
@pytest.mark.parametrize("kind", list(MAKES))
def test_full_information_takes_at_most_as_much_memory_again(kind):
    more, whole = grown(kind, "HardThresholdingRegressor(5)")
    whole_arrays = ("an array by columns", "an array by rows", "an array of float32")
    assert more < (0.2 if kind in whole_arrays else 1.1) * whole, (more, whole)


def test_a_frame_needs_the_columns_of_the_model_alone(problem):
    pandas = pytest.importorskip("pandas")
    X, y = problem
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(60)])
    model = fitted(frame, y)
    assert model.support_.tolist() == [2, 7]
    np.testing.assert_array_equal(model.predict(frame[["c7", "c2"]]), model.predict(frame))
    for kind, some in frames(X[:, [2, 7]], names=["c2", "c7"]).items():
        np.testing.assert_array_equal(model.predict(some), model.predict(frame), err_msg=kind)
    with pytest.raises(ValueError, match="c7"):
        model.predict(frame.drop(columns="c7"))


def test_booleans_with_gaps_are_learned_from(problem):
    pandas = pytest.importorskip("pandas")
    X, y = problem
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(60)])
    frame["c7"] = pandas.array(X[:, 7] > 0, dtype="boolean")
    frame.loc[::50, "c7"] = pandas.NA
    model = fitted(frame, y, missing="skip")
    assert 7 in model.support_ and model.spent_["missing"] > 0
    plain = frame.assign(c7=frame["c7"].to_numpy(dtype=float, na_value=np.nan))
    np.testing.assert_array_equal(model.predict(frame), model.predict(plain))


def test_nothing_found_is_a_warning():
    rng = np.random.default_rng(3)
    with pytest.warns(ConvergenceWarning, match="nothing was found"):
        model = BudgetedRegressor(budget=4, random_state=1)
        model.fit(rng.normal(size=(300, 10)), rng.normal(size=300))
    assert not model.found_


def test_masked_values_are_missing_and_dates_are_refused(problem):
    X, y = problem
    mask = np.random.default_rng(0).random(X.shape) < 0.02
    masked = np.ma.MaskedArray(X, mask=mask)
    with pytest.raises(ValueError, match="NaN"):
        fitted(masked, y)
    same(fitted(masked, y, missing="skip"), fitted(np.where(mask, np.nan, X), y, missing="skip"))
    with pytest.raises(ValueError, match="dates"):
        fitted(np.zeros((50, 3), dtype="datetime64[D]"), np.arange(50.0))
    with pytest.raises(ValueError, match=r"from 0 to 2\*\*64 - 1"):
        BudgetedRegressor(4, random_state=2**64).fit(X, y)


@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csc_array])
@pytest.mark.parametrize(
    "part, place, value",
    [
        ("indices", 5, 1000),
        ("indices", 5, -1),
        ("indptr", -1, 10**6),
        ("indptr", 3, 10**5),
        ("indptr", 2, -5),
        ("indptr", 0, 4),
    ],
)
@pytest.mark.parametrize("estimator", [BudgetedRegressor(5), HardThresholdingRegressor(3)])
def test_a_sparse_matrix_with_wrong_indices_is_refused(form, part, place, value, estimator):
    rng = np.random.default_rng(0)
    X = form(np.where(rng.random((200, 30)) < 0.3, rng.standard_normal((200, 30)), 0.0))
    getattr(X, part)[place] = value
    with pytest.raises(ValueError, match="(?i)ind(ex|ptr|ices)"):
        estimator.fit(X, rng.standard_normal(200))
