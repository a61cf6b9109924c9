"""A child of a process has none of its threads."""

import multiprocessing
import os

import numpy as np
import pytest

from lao_learn import BudgetedRegressor, HardThresholdingRegressor


def learn(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 200))
    y = X[:, 3] - X[:, 8] + rng.normal(size=2000)
    dense = HardThresholdingRegressor(n_nonzero=2).fit(X, y)
    bought = BudgetedRegressor(budget=20, random_state=1).fit(X, y)
    return dense.support_.tolist(), bought.support_.tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_learns_after_its_parent_has_learned():
    here = learn(1)
    assert here == ([3, 8], [3, 8])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(learn, [1, 1, 1]).get(timeout=60) == [here] * 3
