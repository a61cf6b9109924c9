"""Live studies: what to buy of the next example, and a journal on disk that survives power cuts."""

from __future__ import annotations

import numbers
import os
import time
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from types import TracebackType
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from lao_learn import _core
from lao_learn._prices import take_money, take_prices


@dataclass(frozen=True)
class Slot:
    """An example of which certain attributes are to be bought."""

    number: int
    """The number of the slot, counted from 1."""
    attributes: list[str] = field(hash=False)
    """The names of the attributes to buy."""
    panels: list[str] = field(default_factory=list, hash=False)
    """The names of the panels to pay, if attributes have prices."""
    cost: float | None = None
    """What they cost together, if attributes have prices."""
    name: str | None = None
    """What people call it, if they have given it a name."""


class Study:
    """A live study in a folder, the same as of the command `lao study`. What was told is on the disk before
    the call returns. One process at a time has the folder; leaving the `with` block lets go of it.

    >>> with Study.create("tumor", "response", ["CRP", "IL6", "LDH"], budget=2) as study:  # doctest: +SKIP
    ...     for slot in study.ask(2):
    ...         study.tell(slot, laboratory(slot.attributes), label=response)
    """

    def __init__(self, study: _core.Study) -> None:
        self._study = study
        self._describe()

    def _describe(self) -> None:
        """Reads what the study is about."""
        study = self._study
        self.target, self.attributes, self.budget, self.classes = study.description()
        self.prices: dict[str, tuple[float, str] | tuple[float, str, float]] | None = None
        self.predict_budget: float | None = None
        priced = study.prices()
        if priced is None:
            self.budget = int(self.budget)
        else:
            prices, self.predict_budget = priced
            self.prices = {
                name: (price, panel) if further is None else (price, panel, further)
                for name, (price, panel, further) in zip(self.attributes, prices)
            }

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        target: str,
        attributes: Sequence[str],
        budget: float,
        *,
        prices: Any = None,
        predict_budget: float | None = None,
        positive: str | None = None,
        negative: str | None = None,
        most_attributes: int | None = None,
        level: float | None = None,
        fdr: float | None = None,
        always: Sequence[str] = (),
        shape: str = "auto",
        half_life: float | None = None,
        examples: int | None = None,
        seed: int = 1,
    ) -> Study:
        """Begins a study in a folder, which must not exist.

        `budget` is the number of attributes that may be bought of an example. With `prices` it is the money
        that an example may cost, and `predict_budget` the money that a prediction may cost; prices are given
        as to `BudgetedRegressor`: a dict of names, a sequence in the order of the attributes, or a path.

        `positive` and `negative` are the two classes of a label that is not a number; `most_attributes` is
        the largest number of attributes of the model, by default four fifths of the budget; `level` bounds
        the probability, by default 0.05, that the model ever includes an irrelevant attribute, and `fdr` in
        its place the expected share of irrelevant ones among those that it ever includes; `always` lists
        attributes that every model includes; `examples` is the number of examples that is planned: once the
        attributes are found, the best of them are bought of every further example, and the data choose
        between a line and trees unless `shape` is one of them, while without it the model is a line;
        `half_life` is the number of further examples after which the
        weight of an example is halved, for coefficients that drift, and by default all examples have the same
        weight.
        """
        made = {**locals(), "random_state": seed}
        attributes = list(attributes)
        priced = take_prices(prices, attributes, target)
        if priced is not None:
            budget = take_money("budget", budget, priced)
            if predict_budget is not None:
                made["predict_budget"] = take_money("predict_budget", predict_budget, priced)
        elif predict_budget is not None:
            raise ValueError(f"predict_budget = {predict_budget!r}: it is money, and needs prices")
        elif isinstance(budget, bool) or not isinstance(budget, numbers.Integral):
            raise ValueError(
                f"budget = {budget!r}: give a whole number of attributes; an amount of money needs prices"
            )
        if (positive is None) != (negative is None) or (positive is not None and positive == negative):
            raise ValueError(
                f"positive = {positive!r} and negative = {negative!r}: give two different classes, or "
                "neither if the label is a number"
            )
        study = _core.Study.create(
            os.fspath(folder),
            target,
            attributes,
            budget,
            None if positive is None else (negative, positive),
            examples,
            {name: made[name] for name, *_, in_studies in _core.OPTIONS if in_studies and name in made},
            prices=priced,
        )
        return cls(study)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, wait: float = 10.0) -> Study:
        """Opens a study, and replays what its newest snapshot lacks.

        While another process has the study, the call waits for up to `wait` seconds, and then raises
        BlockingIOError. It raises ValueError if the study is damaged, or if this version of lao would have
        bought other attributes than the journal names.
        """
        end = time.monotonic() + wait
        while True:
            try:
                return cls(_core.Study.open(os.fspath(folder)))
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise
                time.sleep(0.005)

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the folder. Everything is on the disk already."""
        self._study.close()

    def ask(self, count: int = 1, *, ahead: bool = False) -> list[Slot]:
        """Hands out up to `count` slots, each for one example. There are fewer, or none, if what to buy next
        depends on slots that are not told yet.

        With `ahead` there are always `count`: they buy what the present choice buys. This is for labels that
        come long after their values."""
        return [Slot(*slot) for slot in self._study.ask(count, ahead)]

    def open_slots(self) -> list[Slot]:
        """Returns the slots that are handed out and not told."""
        return [Slot(*slot) for slot in self._study.open_slots()]

    def tell(
        self, slot: Slot | int, values: Mapping[str, float] | Sequence[float], label: Any = None
    ) -> None:
        """Tells the values of a slot, and the label if it is known. If a value does not fit, nothing is
        recorded.

        What carries names is taken by name: a dict, a pandas Series such as a row of a frame, or a polars row
        with `named=True`. A list, tuple or array has the order of the slot's attributes. A value is None, NaN
        or NA if nothing came of the test."""
        self._study.tell(*self._row(self._asked, slot, values, label))

    def tell_all(self, rows: Iterable[Sequence[Any]]) -> None:
        """Tells several slots at once: all of them are recorded, or none. A row is `(slot, values)` or
        `(slot, values, label)`, as the arguments of `tell`."""
        asked = cache(self._asked)
        self._study.tell_all([self._row(asked, *row) for row in rows])

    def label(self, slot: Slot | int, label: Any) -> None:
        """Tells the label of a slot whose values are told."""
        self._study.label(_number(slot), self._label(label))

    def label_all(self, labels: Mapping[Slot | int, Any]) -> None:
        """Tells the labels of several slots whose values are told: all of them are recorded, or none.
        `labels` is a dict from slots, or their numbers, to labels."""
        self._study.label_all([(_number(slot), self._label(label)) for slot, label in labels.items()])

    def name(self, slot: Slot | int, name: str) -> None:
        """Gives a slot a name, such as the pseudonym of a patient, or another one."""
        self._study.name(_number(slot), name)

    def void(self, slot: Slot | int, reason: str = "") -> None:
        """Closes a slot that will never be told. What was bought stays spent, and another example takes its
        place."""
        self._study.void(_number(slot), reason)

    def import_all(self, examples: Any, labels: Iterable[Any]) -> int:
        """Adds examples that were known before, such as earlier patients, and returns their number: all of
        them are recorded, or none. They cost nothing, and may have more values than the budget allows.

        `examples` is a DataFrame, or rows that carry names: dicts, Series, records. `labels` has one label
        for each. None, NaN or NA is a value that is not known; a row without a label, or without any value,
        is passed over. Which values are known must not depend on the label, beyond what the values themselves
        say of it."""
        if hasattr(examples, "to_dicts"):
            examples = examples.to_dicts()
        elif hasattr(examples, "to_dict") and hasattr(examples, "columns"):
            examples = examples.to_dict("records")
        places = {name: place for place, name in enumerate(self.attributes)}
        given = []
        for number, (example, label) in enumerate(zip(examples, labels, strict=True), start=1):
            row = _by_name(example, f"example {number}")
            if not isinstance(row, Mapping):
                raise TypeError(
                    f"example {number}: {type(example).__name__} has no names; give a dict; nothing was "
                    "recorded"
                )
            for name in row:
                if name not in places:
                    raise ValueError(
                        f"example {number}: the study has no attribute {name}; nothing was recorded"
                    )
            known = sorted(
                (places[name], _value(f"example {number}", name, value))
                for name, value in row.items()
                if not _is_missing(value)
            )
            if known and not _is_missing(label):
                given.append(([place for place, _ in known], [x for _, x in known], self._label(label)))
        self._study.import_all(given)
        return len(given)

    def join(self, attributes: Sequence[str], prices: Any = None) -> None:
        """Lets attributes join, such as a test that did not exist when the study began: they are bought first
        once the present block is told. If the study has prices, `prices` has those of the new attributes, as
        in `create`; a panel may be one of the study. The level then holds for the attributes of the
        beginning, and a part of it, m/d for m new ones of d, for those that join."""
        names = [attributes] if isinstance(attributes, str) else list(attributes)
        found = take_prices(prices, names, self.target)
        given: dict[str, tuple[str, float | None, str | None, float | None]]
        given = {name: (name, None, None, None) for name in names}
        given.update({line[0]: line for line in (found.lines() if found else [])})
        self._study.join([given[name] for name in names])
        self._describe()

    def status(self) -> dict[str, Any]:
        """Returns where the study stands: slots, told, open, waiting, void, imported, bought, room, updates,
        support, with prices the money spent, and with a plan its stage: "search", "contest", "complete" (what
        is found is bought of every example) or "line"."""
        return self._study.status()

    def evidence(self) -> dict[str, np.ndarray]:
        """Returns what is known of each attribute, as arrays in the order of `attributes`."""
        return self._study.evidence()

    def verify(self) -> int:
        """Replays the whole journal and compares; returns the number of its lines.

        Raises ValueError if a line is damaged, or the journal leads to another state.
        """
        return self._study.verify()

    def model(self) -> str:
        """Returns the model so far, in the format of lao's model files."""
        return self._study.model().json

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model so far to a file that the command `lao predict` reads."""
        self._study.model().save(path)

    def _asked(self) -> dict[int, list[str]]:
        """Returns the attributes of each open slot."""
        return {slot.number: slot.attributes for slot in self.open_slots()}

    def _row(
        self,
        asked: Callable[[], dict[int, list[str]]],
        slot: Slot | int,
        values: Mapping[str, float] | Sequence[float],
        label: Any = None,
    ) -> tuple[int, list[float], float | None]:
        """Returns the number of the slot, the values in the order of its attributes, and the label."""
        number = _number(slot)
        values = _by_name(values, f"slot {number}")
        if isinstance(values, Mapping):
            # A slot that is not open is refused with the reason when it is told.
            names = asked().get(number, list(values))
            for name in values:
                if name not in names:
                    raise ValueError(
                        f"slot {number}: {name} was not asked for, but {', '.join(names)}; nothing was "
                        "recorded"
                    )
            for name in names:
                if name not in values:
                    raise ValueError(
                        f"slot {number}: {name} was asked for and is missing; give it, or None if nothing "
                        "came of it; nothing was recorded"
                    )
            values = [values[name] for name in names]
        order = asked().get(number, range(len(values)))
        named = zip_longest(order, values, fillvalue=None)
        told = [_value(f"slot {number}", name, value) for name, value in named]
        return number, told[: len(values)], None if _is_missing(label) else self._label(label)

    def _label(self, label: Any) -> float:
        if self.classes is None:
            return float(label)
        # A class may be told as what the table has, such as 1 or True.
        label = label if label in self.classes else str(label)
        if label not in self.classes:
            raise ValueError(
                f"{self.target} = {label!r}: the classes are {self.classes[0]} and {self.classes[1]}; "
                "nothing was recorded"
            )
        return 1.0 if label == self.classes[1] else -1.0


def _is_missing(value: Any) -> bool:
    """Returns whether a value is None, NaN, or the NA of pandas."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _value(row: str, name: Any, value: Any) -> float:
    if _is_missing(value):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"{row}: {name} = {value!r}: give a number, or None; nothing was recorded"
        ) from None


def _by_name(values: Any, row: str) -> Mapping[str, Any] | Sequence[Any]:
    """Returns values that carry names as a dict, others as a list."""
    if isinstance(values, Mapping):
        return values
    if isinstance(values, (str, bytes)) or hasattr(values, "columns"):
        raise TypeError(
            f"{row}: {type(values).__name__} is not one row; give a dict, a pandas Series, or the values in "
            "the order of the slot's attributes; nothing was recorded"
        )
    if hasattr(values, "keys"):
        return {name: values[name] for name in values.keys()}
    names = getattr(values, "_fields", None) or getattr(getattr(values, "dtype", None), "names", None)
    if names is not None:
        return {name: values[i] for i, name in enumerate(names)}
    if hasattr(values, "__len__") and hasattr(values, "__getitem__"):
        return list(values)
    raise TypeError(
        f"{row}: {type(values).__name__} has no order; give a dict, or a list in the order of the "
        "slot's attributes; nothing was recorded"
    )


def _number(slot: Slot | int) -> int:
    return slot.number if isinstance(slot, Slot) else slot
