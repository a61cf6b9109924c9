"""Every option of a fit in Rust is a parameter of every estimator, and of live studies."""

import inspect

import pytest
from lao_learn import (
    BudgetedClassifier,
    BudgetedClassifierCV,
    BudgetedRegressor,
    BudgetedRegressorCV,
    Study,
    _core,
)

ESTIMATORS = [BudgetedRegressor, BudgetedClassifier, BudgetedRegressorCV, BudgetedClassifierCV]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_have_every_option_of_a_fit(estimator):
    known = estimator().get_params()
    # The estimators that choose their budget have several.
    of_cv = {"budget": "budgets"} if "budgets" in known else {}
    options = ["budget", "prices", *(name for name, *_ in _core.OPTIONS)]
    missing = [name for name in options if of_cv.get(name, name) not in known]
    assert missing == []


def test_studies_have_every_option_that_they_can():
    known = inspect.signature(Study.create).parameters
    names = {"random_state": "seed"}
    missing = [name for name, *_, has in _core.OPTIONS if has and names.get(name, name) not in known]
    assert missing == []
