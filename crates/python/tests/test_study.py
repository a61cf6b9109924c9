"""Live studies: the folders of the command `lao study`."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from test_budgeted import command

from lao_learn import Study

NAMES = ["CRP", "IL6", "LDH", "AST", "ALT", "age"]


def patient(rng):
    values = dict(zip(NAMES, rng.standard_normal(len(NAMES))))
    return values, 2.0 * values["IL6"] - values["age"] + 0.1 * rng.standard_normal()


def buy(slot, values):
    return {name: values[name] for name in slot.attributes}


def test_a_study_finds_what_matters_and_replays(tmp_path):
    rng = np.random.default_rng(1)
    with Study.create(tmp_path / "study", "response", NAMES, budget=3, seed=4) as study:
        for _ in range(200):
            (slot,) = study.ask()
            assert len(slot.attributes) <= 3
            values, label = patient(rng)
            study.tell(slot, buy(slot, values), label)
        status = study.status()
        assert sorted(status["support"]) == ["IL6", "age"]
        assert (status["told"], status["open"], status["bought"]) == (200, [], 600)
        assert study.verify() == 400
        model = study.model()
        found = {one["column"]: one["value"] for one in json.loads(model)["coefficients"]}
        assert found == pytest.approx({"IL6": 2.0, "age": -1.0}, abs=0.15)
        evidence = study.evidence()
        assert evidence["examples"].sum() == 600 and len(evidence["z"]) == len(NAMES)
    with Study.open(tmp_path / "study") as study:
        assert study.model() == model
        assert study.attributes == NAMES and study.budget == 3 and study.target == "response"


def test_earlier_patients_are_imported_by_name(tmp_path):
    rng = np.random.default_rng(5)
    people = [patient(rng) for _ in range(200)]
    rows = [values for values, _ in people]
    rows[3][NAMES[0]] = None
    labels = [label for _, label in people]
    labels[4] = None
    with Study.create(tmp_path / "study", "pressure", NAMES, 3) as study:
        assert study.import_all(rows, labels) == 199
        status = study.status()
        assert (status["imported"], status["bought"]) == (199, 0)
        assert sorted(status["support"]) == ["IL6", "age"]
        with pytest.raises(ValueError, match="already"):
            study.import_all(rows, labels)
        with pytest.raises(ValueError, match="example 1: the study has no attribute smoker"):
            study.import_all([{"smoker": 1.0}], [1.0])
        with pytest.raises(TypeError, match="has no names"):
            study.import_all([[1.0] * len(NAMES)], [1.0])
        with pytest.raises(ValueError):
            study.import_all(rows, labels[1:])
        evidence = study.evidence()["examples"]
        assert evidence[0] == 198 and (evidence[1:] == 199).all()
    pandas = pytest.importorskip("pandas")
    with Study.create(tmp_path / "framed", "pressure", NAMES, 3) as study:
        # The order of the columns does not matter.
        frame = pandas.DataFrame(rows)[NAMES[::-1]]
        assert study.import_all(frame, pandas.Series(labels)) == 199
        assert (study.evidence()["examples"] == evidence).all()


def test_a_test_that_is_new_joins(tmp_path):
    rng = np.random.default_rng(6)
    names = [name for name in NAMES if name != "IL6"]
    with Study.create(tmp_path / "study", "pressure", names, 3) as study:
        for told in range(500):
            if told == 100:
                study.join("IL6")
                assert study.attributes == [*names, "IL6"]
                with pytest.raises(ValueError, match="`IL6` is there twice"):
                    study.join(["IL6"])
            (slot,) = study.ask()
            values, label = patient(rng)
            study.tell(slot, {name: values[name] for name in slot.attributes}, label)
        assert sorted(study.status()["support"]) == ["IL6", "age"]
        assert study.evidence()["examples"][-1] > 300
    prices = {name: (3.0, "blood", 1.0) for name in names}
    with Study.create(tmp_path / "priced", "pressure", names, 5.0, prices=prices) as study:
        with pytest.raises(ValueError, match="`IL6` needs a price"):
            study.join(["IL6"])
        study.join(["IL6"], prices={"IL6": (4.0, "blood", 2.0)})
        assert study.prices["IL6"] == (4.0, "blood", 2.0)


def test_labels_come_later_and_slots_come_to_nothing(tmp_path):
    with Study.create(tmp_path / "study", "ill", NAMES, 3, positive="yes", negative="no") as study:
        first, second, third = study.ask(3)
        study.tell(first, [1.0] * len(first.attributes))
        study.tell(second, [0.0] * len(second.attributes), "yes")
        study.void(third, "sample lost")
        assert [slot.number for slot in study.open_slots()] == []
        study.label(first, "no")
        status = study.status()
        assert (status["told"], status["void"], status["waiting"]) == (2, 1, [])
        with pytest.raises(ValueError, match="the classes are no and yes"):
            (slot,) = study.ask()
            study.tell(slot, [0.0] * 3, "perhaps")


def test_slots_have_names(tmp_path):
    with Study.create(tmp_path / "study", "response", NAMES, budget=3) as study:
        (slot,) = study.ask()
        assert slot.name is None
        study.name(slot, "P-17")
        assert study.open_slots()[0].name == "P-17"
        study.ask()
        with pytest.raises(ValueError, match="slot 1 has it"):
            study.name(2, "P-17")


def test_many_slots_are_told_at_once_or_not_at_all(tmp_path):
    with Study.create(tmp_path / "study", "ill", NAMES, 2, positive="yes", negative="no") as study:
        assert study.classes == ("no", "yes")
        slots = study.ask(4)
        good = [dict.fromkeys(slot.attributes, 1.0) for slot in slots]
        before = study.verify()
        with pytest.raises(ValueError, match="1 values for 2"):
            study.tell_all([(slots[0], good[0], "yes"), (slots[1], [1.0])])
        with pytest.raises(ValueError, match="slot 1 is told with its label already"):
            study.tell_all([(slots[0], good[0], "yes"), (slots[0], good[0], "no")])
        assert study.verify() == before and len(study.open_slots()) == 4
        study.tell_all([(slots[0], good[0], "yes"), (slots[1], good[1]), (3, [0.5, 1.5], "no"), (4, good[3])])
        assert study.verify() == before + 1
        assert study.status()["waiting"] == [2, 4]
        with pytest.raises(ValueError, match="slot 1"):
            study.label_all({2: "yes", 1: "no"})
        assert study.status()["waiting"] == [2, 4]
        study.label_all({slots[1]: "yes", 4: "no"})
        assert (study.status()["waiting"], study.status()["told"]) == ([], 4)
        study.tell_all([])
        assert study.verify() == before + 2
    for one in [{"positive": "yes"}, {"positive": "a", "negative": "a"}]:
        with pytest.raises(ValueError, match="two different classes"):
            Study.create(tmp_path / "other", "ill", NAMES, 2, **one)


def test_a_plan_lets_the_data_choose_trees(tmp_path):
    rng = np.random.default_rng(2)
    with Study.create(tmp_path / "study", "response", NAMES, 3, examples=400, shape="trees") as study:
        for _ in range(400):
            (slot,) = study.ask()
            values, label = patient(rng)
            study.tell(slot, buy(slot, values), label + 4.0 * abs(values["age"]))
        model = json.loads(study.model())
        assert study.status()["stage"] == "complete"
    assert model["trees"]["trees"] and model["evidence"]["coefficients"]
    with pytest.raises(ValueError, match="number of examples that is planned"):
        Study.create(tmp_path / "other", "response", NAMES, 3, shape="trees")


def test_a_half_life_is_passed_on(tmp_path):
    Study.create(tmp_path / "study", "y", NAMES, 2, half_life=100).close()
    with Study.open(tmp_path / "study") as study:
        assert study.ask(1)
    with pytest.raises(ValueError, match="half_life"):
        Study.create(tmp_path / "other", "y", NAMES, 2, half_life=3)


def test_attributes_that_are_always_included_are_checked(tmp_path):
    Study.create(tmp_path / "study", "y", NAMES, 2, always=[NAMES[0]]).close()
    with pytest.raises(ValueError, match="`nobody` is not an attribute"):
        Study.create(tmp_path / "other", "y", NAMES, 2, always=["nobody"])


def test_opening_waits_until_another_process_lets_go(tmp_path):
    folder = tmp_path / "study"
    Study.create(folder, "y", NAMES, 2).close()
    code = f"""
import time
from lao_learn import Study
with Study.open({str(folder)!r}):
    print("open", flush=True)
    time.sleep(0.5)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(BlockingIOError):
            Study.open(folder, wait=0.0)
        Study.open(folder, wait=60.0).close()


def test_what_does_not_fit_is_refused_and_leaves_no_trace(tmp_path):
    with Study.create(tmp_path / "study", "y", NAMES, 2) as study:
        (slot,) = study.ask()
        before = study.verify()
        good = dict.fromkeys(slot.attributes, 1.0)
        for values, text in [
            ({slot.attributes[0]: 1.0}, "missing"),
            (good | {"more": 1.0}, "not asked for"),
            ([1.0], "1 values for 2"),
            ([1.0, "many"], "give a number, or None"),
            ([None, float("nan")], "nothing came of it"),
        ]:
            with pytest.raises(ValueError, match=text):
                study.tell(slot, values, 1.0)
        with pytest.raises(ValueError, match="never handed out"):
            study.tell(99, [1.0, 2.0], 1.0)
        assert study.verify() == before
        study.tell(slot, good, 1.0)
    with pytest.raises(ValueError, match="closed; open it anew"):
        study.ask()
    with pytest.raises(FileExistsError):
        Study.create(tmp_path / "study", "y", NAMES, 2)
    with pytest.raises(FileNotFoundError, match="is not a study"):
        Study.open(tmp_path / "nothing")
    with pytest.raises(ValueError, match="budget"):
        Study.create(tmp_path / "other", "y", NAMES, 0)


def test_one_process_at_a_time_has_a_study(tmp_path):
    with Study.create(tmp_path / "study", "y", NAMES, 2):
        code = f"from lao_learn import Study; Study.open({str(tmp_path / 'study')!r}, wait=0.0)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "BlockingIOError" in done.stderr and "open in another process" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="a process is killed as on Unix")
def test_a_process_that_is_killed_loses_nothing_that_was_told(tmp_path):
    code = f"""
import os, signal
from lao_learn import Study
study = Study.create({str(tmp_path / "study")!r}, "y", {NAMES!r}, 2)
for slot in study.ask(5):
    study.tell(slot, [1.0, 2.0], float(slot.number))
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    with Study.open(tmp_path / "study") as study:
        assert study.status()["told"] == 5 and study.verify() == 6


def test_the_command_and_python_have_the_same_studies(tmp_path):
    lao = command()
    if lao is None:
        pytest.skip("the command lao is not built: cargo build -p lao-cli, or set LAO to its path")

    def run(*line):
        done = subprocess.run([lao, "session", *line], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "panel.txt").write_text("\n".join(NAMES))
    run("new", "-S", "study", "--target", "y", "--attributes", "panel.txt", "--budget", "2", "--seed", "3")
    asked = json.loads(run("ask", "-S", "study", "-n", "2", "--json"))["slots"]
    with Study.open(tmp_path / "study") as study:
        slots = study.open_slots()
        assert [(slot.number, slot.attributes) for slot in slots] == [
            (one["slot"], one["attributes"]) for one in asked
        ]
        study.tell(slots[0], [1.0, 2.0], 0.5)
    told = json.loads(run("status", "-S", "study", "--json"))["status"]
    assert (told["told"], told["open"]) == (1, [2])
    run("verify", "-S", "study")


def test_what_carries_names_is_told_by_name(tmp_path):
    pandas = pytest.importorskip("pandas")
    with Study.create(tmp_path / "study", "y", NAMES, 2, positive="1", negative="0") as study:
        slots = study.ask(6)
        one, two = slots[0].attributes
        row = pandas.Series({two: 20.0, one: 10.0})
        study.tell(slots[0], row)
        frame = pandas.DataFrame([{two: 20.0, one: 10.0}])
        study.tell(slots[1], frame.iloc[0])
        record = np.array([(20.0, 10.0)], dtype=[(two, float), (one, float)])[0]
        study.tell(slots[2], record)
        study.tell_all([(slots[3], {two: 20.0, one: 10.0}), (slots[4], [10.0, 20.0])])
        journal = (tmp_path / "study" / "journal.jsonl").read_text()
        assert journal.count('"values":[10.0,20.0]') == 5
        for wrong in [frame, "10, 20", {10.0, 20.0}]:
            with pytest.raises(TypeError, match="nothing was recorded"):
                study.tell(slots[5], wrong)
        with pytest.raises(ValueError, match="not asked for"):
            study.tell(slots[5], pandas.Series({"other": 1.0, one: 10.0}))
        study.tell(slots[5], {one: pandas.NA, two: 3.0}, 1)
        assert '"values":[null,3.0],"label":1.0' in (tmp_path / "study" / "journal.jsonl").read_text()
        study.label(slots[0], True if False else "0")
        assert study.status()["told"] == 2 and study.verify() > 0


def test_slots_are_handed_out_ahead_of_late_labels(tmp_path):
    rng = np.random.default_rng(5)
    with Study.create(tmp_path / "study", "y", NAMES, 2) as study:
        late = []
        for _ in range(400):
            (slot,) = study.ask(ahead=True)
            values = dict(zip(NAMES, rng.normal(size=len(NAMES))))
            study.tell(slot, {name: values[name] for name in slot.attributes})
            late.append((slot, 3.0 * values[NAMES[0]] + rng.normal()))
            if len(late) > 60:
                study.label(*late.pop(0))
        assert study.status()["support"] == [NAMES[0]] and len(study.status()["waiting"]) == 60
        study.verify()
    with Study.open(tmp_path / "study") as study:
        study.label_all(dict(late))
        assert study.status()["told"] == 400 and study.verify() > 400
