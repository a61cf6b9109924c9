"""What the command `lao export` writes, run by another program."""

import csv
import subprocess

import numpy as np
import pytest
from test_budgeted import command


@pytest.fixture
def run(tmp_path):
    """Returns a function that runs the command in a folder with a table of numbers, words and gaps."""
    lao = command()
    if lao is None:
        pytest.skip("the command lao is not built: cargo build -p lao-cli, or set LAO to its path")
    rng = np.random.default_rng(1)
    rows = ["age,color,pulse,dose,y,sick"]
    for i in range(3000):
        age, pulse = rng.normal(50, 10), rng.normal(70, 8)
        dose = 1e6 if i == 5 else rng.normal(3, 1)
        color = ["red", "green", "blue"][rng.integers(3)]
        y = 0.4 * age + 2.0 * dose * (dose < 100) + 5.0 * (color == "red") + rng.normal()
        fields = ["" if i % 50 == 7 else repr(age), "" if i % 70 == 3 else color, repr(pulse), repr(dose)]
        rows.append(",".join(fields + [repr(y), "yes" if y > 30 else "no"]))
    (tmp_path / "table.csv").write_text("\n".join(rows) + "\n")

    def run(*words):
        done = subprocess.run([lao, *words], cwd=tmp_path, capture_output=True, check=True, text=True)
        return done.stdout

    return run


@pytest.mark.parametrize("shape", ["line", "trees"])
@pytest.mark.parametrize(("target", "other"), [("y", "sick"), ("sick", "y")])
def test_onnxruntime_predicts_what_the_command_does(run, tmp_path, target, other, shape):
    onnxruntime = pytest.importorskip("onnxruntime")
    run("fit", "table.csv", "--target", target, "--drop", other, "--budget", "3", "-o", "m.json", "--quiet",
        "--shape", shape)
    run("export", "m.json", "--to", "onnx", "-o", "m.onnx")
    told = list(csv.reader(run("predict", "m.json", "table.csv").splitlines()))
    rows = list(csv.DictReader((tmp_path / "table.csv").open()))
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    given = {}
    for column in session.get_inputs():
        values = [row[column.name] for row in rows]
        if "string" in column.type:
            given[column.name] = np.array(values, dtype=object).reshape(-1, 1)
        else:
            given[column.name] = np.array([float(x or "nan") for x in values]).reshape(-1, 1)
    assert len(given) >= 2
    outputs = dict(zip([one.name for one in session.get_outputs()], session.run(None, given)))
    close = np.testing.assert_allclose
    # Trees are in single precision there.
    precision = 1e-9 if shape == "line" else 1e-4
    close(outputs["predicted"].ravel(), [float(row[0]) for row in told[1:]], rtol=precision, atol=precision)
    if target == "sick":
        assert told[0] == ["predicted sick", "class", "probability of yes"]
        assert outputs["class"].ravel().tolist() == [row[1] for row in told[1:]]
        close(outputs["probability"].ravel(), [float(row[2]) for row in told[1:]], rtol=max(precision, 1e-6))
