"""
A live study
============

Patients come one after the other, and the laboratory can afford four of twelve tests for each. The session
says which to order next. It lives in a folder, and survives power cuts; here a simulation answers for the
laboratory.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from lao_learn import Study

rng = np.random.default_rng(0)
tests = [f"test {letter}" for letter in "ABCDEFGHIJKL"]
folder = Path(tempfile.mkdtemp()) / "study"
supports = []

with Study.create(folder, "response", tests, budget=4, seed=1) as study:
    for _patient in range(300):
        truth = dict(zip(tests, rng.standard_normal(len(tests))))
        response = 2.0 * truth["test C"] - truth["test H"] + 0.5 * rng.standard_normal()
        (slot,) = study.ask()
        study.tell(slot, {name: truth[name] for name in slot.attributes}, response)
        supports.append(len(study.status()["support"]))
    print("found:", study.status()["support"])
    print("lines of the journal that were replayed and agree:", study.verify())
    seen = study.evidence()["examples"]

# %%
# The tests that matter are ordered for nearly every patient, the others only now and then.
figure, ax = plt.subplots(layout="constrained")
ax.barh(tests[::-1], seen[::-1])
ax.set_xlabel("patients of whom the test was ordered")
plt.show()
