"""All forms of a model give the same numbers: the command, Python, SQLite, DuckDB and ONNX, for random
models of
which names, words and gaps are odd, and for random rows of which values are missing, unseen or out of
range."""

import csv
import json
import math
import random
import sqlite3
import subprocess

import numpy as np
import pytest
from test_budgeted import command

NAMES = ["dose", "Dose mg/l", "select", "a=b", "it's", 'say "x"', "Größe", "x;y", "c1", "a\\b", "a]b", "z*/"]
WORDS = ["yes", "no", "it's", "High", "high", "a b", "ß", "0", "NA-1", "x\\y", "None of it", "1e3"]
MODELS, ROWS = 500, 12


@pytest.fixture
def lao():
    found = command()
    if found is None:
        pytest.skip("the command lao is not built: cargo build -p lao-cli, or set LAO to its path")
    return found


def drawn(rng, number):
    """Returns a model file, and for each of its columns whether it has words."""
    columns = rng.sample(NAMES, rng.randint(1, 4))
    kinds = {name: rng.random() < 0.4 for name in columns}
    coefficients = []
    for name, is_word in kinds.items():
        for word in rng.sample(WORDS, rng.randint(1, 2)) if is_word else [None]:
            low, high = sorted([rng.uniform(-5, 5), rng.uniform(-5, 5)])
            one = {"column": name, "value": rng.uniform(-3, 3), "mean": rng.uniform(low, high)}
            if word is not None:
                one["word"], one["mean"] = word, rng.random()
            if rng.random() < 0.8:
                one["within"] = [-0.4, 1.2] if is_word else [low, high]
            coefficients.append(one)
    gaps = [["-999"], ["-999", "unknown"], ["dose=7"] if "dose" in kinds else [], []][number % 4]
    reading = {"missing": gaps} if gaps else {}
    if number % 5 == 0:
        reading["missing_only"] = True
    label = {"classes": {"positive": "ill", "negative": "well"}} if number % 2 else "number"
    model = {
        "lao": {"format": 1, "version": "0.1.0"},
        "target": "y",
        "label": label,
        "intercept": rng.uniform(-2, 2),
        "coefficients": coefficients,
        "spent": {"examples": 1, "attributes": 1, "most_attributes": 1, "passed_over": 0},
        "history": [],
        "candidates": [],
        "origin": {
            "method": "pursuit",
            "holdout": 0.1,
            "passes": 1,
            "seed": 1,
            "safeguarded": False,
            "parameters": {
                "method": "pursuit",
                "dim": 4,
                "budget": 4,
                "level": 0.05,
                "longest": None,
                "always": [],
                "never": [],
            },
            "table": "t.csv",
            "sha256": "0" * 64,
            "attributes": 4,
            "examples": 10,
            "budget": 4,
            "reading": reading,
        },
    }
    if number % 2 and number % 4 == 1:
        model["link"] = {"offset": rng.uniform(-2, 2), "slope": rng.uniform(0.1, 40)}
    return model, kinds, reading


def cell(rng, is_word, reading):
    """Returns a value as a database has it: a number, a text, or None."""
    if rng.random() < 0.15:
        return None
    if is_word:
        marks = [] if reading.get("missing_only") else ["NA", "?", "null"]
        return rng.choice([*WORDS, "never seen", "", "unknown", *marks])
    return rng.choice([rng.uniform(-6, 6), -999.0, 7.0, 1e9, -1e9, 0.0])


def test_random_models_give_the_same_numbers_in_all_forms(lao, tmp_path):
    duckdb, onnxruntime = pytest.importorskip("duckdb"), pytest.importorskip("onnxruntime")
    rng = random.Random(32)
    compared = dict.fromkeys(["python", "sqlite", "duckdb", "onnx"], 0)

    def run(*words):
        done = subprocess.run([lao, *words], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    for number in range(MODELS):
        model, kinds, reading = drawn(rng, number)
        rows = [{name: cell(rng, word, reading) for name, word in kinds.items()} for _ in range(ROWS)]
        (tmp_path / "m.json").write_text(json.dumps(model), encoding="utf-8")
        with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            # A column beside those of the model keeps a row from being an empty line.
            out.writerow([*kinds, "other"])
            out.writerows(["" if x is None else x for x in row.values()] + ["1"] for row in rows)
        told = list(csv.DictReader(run("predict", "m.json", "t.csv", "--separator", ",").splitlines()))
        sums = [float(one["predicted y"]) for one in told]
        likely = "link" in model
        wanted = [float(one["probability of ill"]) for one in told] if likely else sums

        def close(form, found, expected):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=f"{form} {number}")
            compared[form] += len(expected)

        space = {}
        exec(run("export", "m.json", "--to", "python"), space)
        close("python", [space["predict"](row) for row in rows], sums)
        if likely:
            close("python", [space["probability"](row) for row in rows], wanted)
        if number % 2:
            assert [space["classify"](row) for row in rows] == [one["class"] for one in told]
        nan = [{name: math.nan if x is None else x for name, x in row.items()} for row in rows]
        close("python", [space["predict"](row) for row in nan], sums)

        expression = run("export", "m.json", "--to", "sql")
        quoted = ['"' + name.replace('"', '""') + '"' for name in kinds]
        for form, base in [("sqlite", sqlite3.connect(":memory:")), ("duckdb", duckdb.connect())]:
            if form == "sqlite":
                base.create_function("EXP", 1, math.exp)
            text, real = ("text", "real") if form == "sqlite" else ("varchar", "double")
            types = [f"{name} {text if word else real}" for name, word in zip(quoted, kinds.values())]
            base.execute(f"create table t (i integer, {', '.join(types)})")
            holes = ", ".join("?" * (len(kinds) + 1))
            for i, row in enumerate(rows if form == "sqlite" else nan):
                # A NaN of DuckDB is a number beyond all others.
                values = [x if not (isinstance(x, float) and math.isnan(x) and kinds[name]) else None
                          for name, x in row.items()]
                base.execute(f"insert into t values ({holes})", [i, *values])
            found = base.execute(f"select {expression} from t order by i").fetchall()
            close(form, [x for (x,) in found], wanted)
            base.close()

        run("export", "m.json", "--to", "onnx", "-o", "m.onnx")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            tmp_path / "m.onnx", options, providers=["CPUExecutionProvider"]
        )
        given = {}
        for one in session.get_inputs():
            values = [row[one.name] for row in rows]
            if kinds[one.name]:
                values = np.array(["" if x is None else x for x in values], dtype=object)
            else:
                values = np.array([math.nan if x is None else x for x in values])
            given[one.name] = values.reshape(-1, 1)
        names = [one.name for one in session.get_outputs()]
        outputs = dict(zip(names, session.run(None, given)))
        close("onnx", outputs["predicted"].ravel(), sums)
        if number % 2:
            assert outputs["class"].ravel().tolist() == [one["class"] for one in told]
    assert min(compared.values()) >= MODELS * ROWS
