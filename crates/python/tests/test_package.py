"""The package as users meet it: the README, the gallery, pictures, types."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from test_budgeted import command

import lao_learn
from lao_learn import BudgetedClassifier, BudgetedClassifierCV, BudgetedRegressor, BudgetedRegressorCV

HERE = Path(__file__).resolve().parent
EXAMPLES = sorted((HERE.parent / "examples").glob("plot_*.py"))


def run(*line, **more):
    done = subprocess.run([sys.executable, *line], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_examples_of_the_readme_run():
    text = (HERE.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 3
    assert run("-c", blocks[0]).startswith("[2 7]")
    pytest.importorskip("pandas")
    assert run("-c", blocks[1]).startswith("['age', 'LDL'] for 8.0\n")
    assert run("-c", blocks[2]) == "1 2\n"


def test_there_are_five_examples():
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_gallery_runs(example):
    pytest.importorskip("matplotlib")
    if example.stem == "plot_wide_frame" or example.stem == "plot_budget":
        pytest.importorskip("pandas")
    assert run(str(example), env={**os.environ, "MPLBACKEND": "Agg"})


def test_the_pictures(problem):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from lao_learn import plot

    X, y = problem
    regressor = BudgetedRegressor(12, random_state=1).fit(X, y)
    classifier = BudgetedClassifier(12, random_state=1).fit(X, y > 0)
    hybrid = BudgetedRegressor(12, method="hybrid", random_state=1).fit(X, y)
    for model in [regressor, classifier]:
        for draw in [plot.error_curve, plot.coefficients, plot.evidence, plot.spending]:
            ax = draw(model)
            ax.figure.canvas.draw()
            matplotlib.pyplot.close(ax.figure)
    bars = plot.spending(regressor, most=5)
    assert sum(bar.get_width() for bar in bars.patches) == regressor.evidence_["examples"].sum()
    assert [text.get_text() for text in plot.coefficients(regressor).get_yticklabels()] == ["x7", "x2"]
    chosen = BudgetedRegressorCV([3, 6, 12], cv=3, random_state=1).fit(X, y)
    path = plot.path(chosen, most=2)
    assert path.get_legend_handles_labels()[1] == ["x2", "x7"]
    named = {line.get_label(): line.get_ydata() for line in path.lines}
    assert (named["x2"] == chosen.cv_results_["mean_coefficients"][:, 2]).all()
    classes = BudgetedClassifierCV([3, 6], cv=3, random_state=1).fit(X, y > 0)
    assert plot.path(classes).get_xlabel() == "budget"
    with pytest.raises(ValueError, match="has one budget"):
        plot.path(regressor)
    plot.spending(hybrid)
    plot.coefficients(hybrid)
    with pytest.raises(ValueError, match="keeps no evidence"):
        plot.evidence(hybrid)
    with pytest.raises(ValueError, match="nothing was held out"):
        plot.error_curve(BudgetedRegressor(12, holdout=0.0, random_state=1).fit(X, y))
    matplotlib.pyplot.close("all")


def blocks_of_the_book():
    """Returns the programs of the book's chapter on Python: the packages that each needs, and its text."""
    chapter = (HERE.parents[1] / "lao" / "book" / "src" / "python.md").read_text()
    return re.findall(r"^```python,?(\w*)\n(.*?)^```", chapter, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("last", range(len(blocks_of_the_book())))
def test_the_programs_of_the_book_run(last, tmp_path):
    """Each with the first one, on which it builds."""
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    blocks = blocks_of_the_book()
    package, text = blocks[last]
    pytest.importorskip(package or ("distributed" if "dask" in text else "pandas"))
    # Spark would take the system's Python for its workers.
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    if "lao" in text.split('"'):
        if command() is None:
            pytest.skip("the command lao is not built: cargo build -p lao-cli, or set LAO to its path")
        environment["PATH"] = os.pathsep.join([str(Path(command()).parent), environment["PATH"]])
    shutil.copy(HERE.parents[2] / "data" / "diabetes.csv.gz", tmp_path)
    (tmp_path / "program.py").write_text(blocks[0][1] + (text if last > 0 else ""))
    said = run("program.py", cwd=tmp_path, env=environment)
    assert "bmi" in said and "False" not in said, said


def test_every_public_name_has_a_docstring():
    for name in lao_learn.__all__:
        if name != "__version__":
            assert getattr(lao_learn, name).__doc__, name
    assert "budget : int, float or None" in BudgetedRegressor.__doc__


def test_workers_and_live_studies_import_no_scikit_learn():
    run("-c", "import sys, lao_learn._parts, lao_learn._study; sys.exit('sklearn' in sys.modules)")
    assert set(lao_learn.__all__) <= set(dir(lao_learn))
    with pytest.raises(AttributeError, match="no attribute"):
        lao_learn.Nothing  # noqa: B018


def test_types_are_checked():
    pytest.importorskip("mypy")
    run("-m", "mypy", "-p", "lao_learn", "--config-file", str(HERE / "mypy.ini"))


def test_stubs_are_those_of_the_module():
    pytest.importorskip("mypy")
    run("-m", "mypy.stubtest", "lao_learn._core", "--mypy-config-file", str(HERE / "mypy.ini"))


def test_stubs_are_complete_for_pyright(tmp_path):
    pytest.importorskip("pyright")
    shutil.copy(Path(lao_learn.__file__).with_name("_core.pyi"), tmp_path)
    strict = {"include": ["_core.pyi"], "typeCheckingMode": "strict", "pythonVersion": "3.10"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(strict), encoding="utf-8")
    run("-m", "pyright", "--project", str(tmp_path), "--pythonpath", sys.executable)


LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]


def repository_license(name):
    return (HERE.parents[2] / name).read_bytes()


def test_the_wheel_has_the_licenses_of_the_repository():
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        wheel = distribution("lao-learn")
    except PackageNotFoundError:
        pytest.skip("lao-learn is not installed, but on the path")
    assert wheel.metadata.get_all("License-File") == LICENSES
    assert wheel.metadata["License-Expression"] == "MIT OR Apache-2.0"
    listed = {file.name: file for file in wheel.files if "licenses" in file.parts}
    assert sorted(listed) == LICENSES
    for name, file in listed.items():
        assert file.read_binary() == repository_license(name), name


def test_the_source_distribution_has_the_licenses_of_the_repository():
    found = sorted((HERE.parent / "target" / "wheels").glob("lao_learn-*.tar.gz"))
    if not found:
        pytest.skip("there is no source distribution; test.sh makes one")
    for path in found:
        with tarfile.open(path) as archive:
            top = path.name.removesuffix(".tar.gz")
            for name in LICENSES:
                assert archive.extractfile(f"{top}/{name}").read() == repository_license(name), name


def test_module_and_wheel_have_one_version():
    from importlib.metadata import PackageNotFoundError, version

    try:
        assert version("lao-learn") == lao_learn.__version__
    except PackageNotFoundError:
        pytest.skip("lao-learn is not installed, but on the path")
