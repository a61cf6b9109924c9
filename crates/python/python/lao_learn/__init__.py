"""Sparse linear models that buy few attributes: within a budget per example, in training and in use."""

from lao_learn._budgeted import BudgetedClassifier, BudgetedRegressor
from lao_learn._core import __version__
from lao_learn._cv import BudgetedClassifierCV, BudgetedRegressorCV
from lao_learn._session import Session, Slot
from lao_learn._thresholding import HardThresholdingClassifier, HardThresholdingRegressor

__all__ = [
    "BudgetedClassifier",
    "BudgetedClassifierCV",
    "BudgetedRegressor",
    "BudgetedRegressorCV",
    "HardThresholdingClassifier",
    "HardThresholdingRegressor",
    "Session",
    "Slot",
    "__version__",
]
