from os import PathLike
from typing import Any, Callable, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Learner",
    "Linear",
    "Model",
    "Prices",
    "OPTIONS",
    "Stop",
    "Study",
    "Table",
    "__version__",
    "command",
    "fit",
    "fit_file",
    "open_parquet",
    "solve",
]

__version__: str
OPTIONS: list[tuple[str, str, str, str, bool]]

@final
class Table:
    @staticmethod
    def dense(array: NDArray[Any]) -> Table: ...
    @staticmethod
    def frame(rows: int, columns: int, fetch: Callable[[int], NDArray[Any]]) -> Table: ...
    @staticmethod
    def remote(
        rows: int, columns: int, read: Callable[[NDArray[np.uint32], NDArray[np.uint32]], NDArray[np.float64]]
    ) -> Table: ...
    @staticmethod
    def sparse(
        shape: list[int], by: str, begins: NDArray[Any], indices: NDArray[Any], data: NDArray[Any]
    ) -> Table: ...
    def read(self, attributes: NDArray[np.uint32]) -> NDArray[np.float64]: ...
    @property
    def shape(self) -> tuple[int, int]: ...

@final
class Learner:
    @staticmethod
    def restore(bytes: bytes) -> Learner: ...
    @property
    def dim(self) -> int: ...
    def evidence(self) -> dict[str, NDArray[np.float64]] | None: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Learner], tuple[bytes]]: ...

@final
class Model:
    @staticmethod
    def restore(text: str, places: list[int]) -> Model: ...
    @property
    def json(self) -> str: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def places(self) -> list[int]: ...
    def onnx(self) -> bytes: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def predict(
        self, table: Table, missing: str, rows: NDArray[np.uint32] | None = None
    ) -> NDArray[np.float64]: ...
    def __reduce__(self) -> tuple[Callable[[str, list[int]], Model], tuple[str, list[int]]]: ...

@final
class Linear:
    def __new__(cls, indices: NDArray[Any], values: NDArray[Any], intercept: float) -> Linear: ...
    def predict(self, table: Table) -> NDArray[np.float64]: ...

@final
class Prices:
    @staticmethod
    def of(lines: list[tuple[str, float, str | None, float | None]]) -> Prices: ...
    @staticmethod
    def read(path: str | PathLike[str]) -> Prices: ...
    def lines(self) -> list[tuple[str, float, str | None, float | None]]: ...
    def check(self, columns: list[str], target: str) -> None: ...

@final
class Study:
    @staticmethod
    def create(
        folder: str | PathLike[str],
        target: str,
        attributes: list[str],
        budget: float,
        classes: tuple[str | None, str | None] | None,
        examples: int | None,
        made: dict[str, Any],
        *,
        prices: Prices | None = None,
    ) -> Study: ...
    @staticmethod
    def open(folder: str | PathLike[str]) -> Study: ...
    def close(self) -> None: ...
    def ask(
        self, count: int, ahead: bool
    ) -> list[tuple[int, list[str], list[str], float | None, str | None]]: ...
    def open_slots(self) -> list[tuple[int, list[str], list[str], float | None, str | None]]: ...
    def tell(self, slot: int, values: list[float], label: float | None = None) -> None: ...
    def tell_all(self, rows: list[tuple[int, list[float], float | None]]) -> None: ...
    def label(self, slot: int, label: float) -> None: ...
    def label_all(self, labels: list[tuple[int, float]]) -> None: ...
    def join(self, attributes: list[tuple[str, float | None, str | None, float | None]]) -> None: ...
    def import_all(self, examples: list[tuple[list[int], list[float], float]]) -> None: ...
    def name(self, slot: int, name: str) -> None: ...
    def void(self, slot: int, reason: str) -> None: ...
    def verify(self) -> int: ...
    def model(self) -> Model: ...
    def description(self) -> tuple[str, list[str], float, tuple[str, str] | None]: ...
    def prices(self) -> tuple[list[tuple[float, str, float | None]], float | None] | None: ...
    def status(self) -> dict[str, Any]: ...
    def evidence(self) -> dict[str, NDArray[np.float64]]: ...

@final
class Stop:
    def __init__(self) -> None: ...
    def set(self) -> None: ...

def fit(
    table: Table,
    labels: NDArray[np.float64],
    rows: NDArray[np.uint32] | None,
    names: list[str],
    target: str,
    classes: list[str] | None,
    budget: float,
    made: dict[str, Any],
    *,
    weights: NDArray[np.float64] | None = None,
    prices: Prices | None = None,
    start: Learner | None = None,
    stop: Stop | None = None,
    keep: bool = False,
) -> dict[str, Any]: ...
def fit_file(
    path: str | PathLike[str],
    target: str,
    budget: float,
    made: dict[str, Any],
    *,
    prices: str | PathLike[str] | None = None,
) -> str: ...
def solve(
    table: Table,
    labels: NDArray[np.float64],
    classes: int,
    *,
    weights: NDArray[np.float64] | None,
    method: str,
    sparsity: int,
    chosen: bool,
    whole: bool,
    step_size: float | None,
    rounds: int,
    change: float,
    always: list[int],
    groups: list[int],
    certify: bool,
    ridge: float,
    intercept: bool,
    standardize: str,
    seed: int,
) -> dict[str, Any]: ...
def command(arguments: list[str]) -> int: ...
def open_parquet(
    paths: list[str | PathLike[str]], target: str, drop: list[str], positive: str | None = None
) -> tuple[Table, list[str], NDArray[np.float64], list[str] | None, list[str]]: ...
