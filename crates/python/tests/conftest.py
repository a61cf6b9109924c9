"""Data that several tests use."""

import numpy as np
import pytest


def sparse_problem(rows=4000, dim=60, seed=0):
    """Returns rows whose label is 3 x_2 - 2 x_7 + 10, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, dim)) * (1.0 + np.arange(dim)) + np.arange(dim)
    y = 3.0 * X[:, 2] - 2.0 * X[:, 7] + 10.0 + rng.standard_normal(rows)
    return X, y


@pytest.fixture
def problem():
    return sparse_problem()
