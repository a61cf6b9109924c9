"""scikit-learn's own checks, strict: a check that is expected to fail and passes is an error."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_set_output_transform,
    check_set_output_transform_pandas,
    parametrize_with_checks,
)

import lao_learn

ESTIMATORS = [
    lao_learn.BudgetedRegressor(random_state=1),
    lao_learn.BudgetedClassifier(random_state=1),
    lao_learn.BudgetedRegressorCV(random_state=1),
    lao_learn.BudgetedClassifierCV(random_state=1),
    lao_learn.BudgetedSelector(random_state=1),
    lao_learn.Budgeted(Ridge(), random_state=1),
    lao_learn.Budgeted(LogisticRegression(), random_state=1),
    lao_learn.HardThresholdingRegressor(random_state=1),
    lao_learn.HardThresholdingRegressorCV(cv=3),
    lao_learn.HardThresholdingClassifierCV(cv=3),
    lao_learn.HardThresholdingClassifier(random_state=1),
]

WEIGHTS = (
    "rows come in blocks, in a random order, and means are those so far: a weight of 2 equals two rows up to "
    "a small part of a standard error, not in bits; scikit-learn expects the same failure of its own "
    "stochastic estimators"
)


def expected_failures(estimator):
    """Returns the checks that an estimator fails, each with its reason."""
    if hasattr(estimator, "partial_fit"):
        return {
            "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
            "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
        }
    if isinstance(estimator, lao_learn.HardThresholdingRegressorCV):
        reason = "rows that are repeated come into other folds than rows with weights"
        return {"check_sample_weight_equivalence_on_sparse_data": reason}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_checks(estimator, check):
    check(estimator)


# Checks that `check_estimator` leaves out, of estimators that transform.
TRANSFORMERS = [estimator for estimator in ESTIMATORS if hasattr(estimator, "transform")]


@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize(
    "check",
    [check_dataframe_column_names_consistency, check_set_output_transform, check_set_output_transform_pandas],
    ids=lambda check: check.__name__,
)
def test_further_checks(estimator, check):
    check(type(estimator).__name__, estimator)
