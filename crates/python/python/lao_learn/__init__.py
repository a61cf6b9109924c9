"""Sparse linear models that buy few attributes: within a budget per example, in training and in use."""

from __future__ import annotations

from lao_learn._core import __version__

# The command starts in a few milliseconds more than its program, since nothing is imported that it does not
# need: type checkers take this name for that of `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lao_learn._budgeted import BudgetedClassifier, BudgetedRegressor
    from lao_learn._complete import Budgeted, BudgetedSelector
    from lao_learn._cv import BudgetedClassifierCV, BudgetedRegressorCV
    from lao_learn._parquet import ParquetTable
    from lao_learn._study import Slot, Study
    from lao_learn._table import RemoteTable
    from lao_learn._thresholding import HardThresholdingClassifier, HardThresholdingRegressor
    from lao_learn._thresholding_cv import HardThresholdingClassifierCV, HardThresholdingRegressorCV

__all__ = [
    "Budgeted",
    "BudgetedClassifier",
    "BudgetedClassifierCV",
    "BudgetedRegressor",
    "BudgetedRegressorCV",
    "BudgetedSelector",
    "HardThresholdingClassifier",
    "HardThresholdingClassifierCV",
    "HardThresholdingRegressor",
    "HardThresholdingRegressorCV",
    "ParquetTable",
    "RemoteTable",
    "Slot",
    "Study",
    "__version__",
]

# Estimators are imported when they are asked for: workers of a cluster and live studies do not need
# scikit-learn.
_PLACES = {
    "Budgeted": "_complete",
    "BudgetedClassifier": "_budgeted",
    "BudgetedClassifierCV": "_cv",
    "BudgetedRegressor": "_budgeted",
    "BudgetedRegressorCV": "_cv",
    "BudgetedSelector": "_complete",
    "HardThresholdingClassifier": "_thresholding",
    "HardThresholdingClassifierCV": "_thresholding_cv",
    "HardThresholdingRegressor": "_thresholding",
    "HardThresholdingRegressorCV": "_thresholding_cv",
    "ParquetTable": "_parquet",
    "RemoteTable": "_table",
    "Slot": "_study",
    "Study": "_study",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES])
