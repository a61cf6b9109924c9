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
    """An example of which certain attributes are to be bought.

    Parameters
    ----------
    number : int
        The number of the slot, counted from 1.
    attributes : list of str
        The names of the attributes to buy.
    panels : list of str
        The names of the panels to pay, if attributes have prices.
    cost : float or None
        What they cost together, if attributes have prices.
    name : str or None
        What people call it, if they have given it a name.
    """

    number: int
    attributes: list[str] = field(hash=False)
    panels: list[str] = field(default_factory=list, hash=False)
    cost: float | None = None
    name: str | None = None


class Study:
    """A live study in a folder, the same as of the command `lao study`.

    What was told is on the disk before the call returns. One process at a time has the folder; leaving the
    `with` block lets go of it.

    Parameters
    ----------
    study : lao_learn._core.Study
        What `create` and `open` make, by which studies begin.

    Examples
    --------
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
        """Begin a study in a folder, which must not exist.

        Parameters
        ----------
        folder : str or path
            The folder of the study.
        target : str
            The name of the label.
        attributes : sequence of str
            The names of what can be bought.
        budget : float
            The number of attributes that may be bought of an example; with `prices`, the money that it may
            cost.
        prices : dict, sequence, path or None
            What the attributes cost, as of `BudgetedRegressor`.
        predict_budget : float or None
            With `prices`, the money that a prediction may cost.
        positive : str or None
            One of the two classes of a label that is not a number.
        negative : str or None
            The other class.
        most_attributes : int or None
            The largest number of attributes of the model, by default four fifths of the budget.
        level : float or None
            A bound on the probability, by default 0.05, that the model ever includes an irrelevant
            attribute.
        fdr : float or None
            In place of the level, a bound on the expected share of irrelevant attributes among those that
            the
            model ever includes.
        always : sequence of str
            Attributes that every model includes.
        shape : {"auto", "line", "trees"}
            What is learned of a study that has a plan; without one, it is a line.
        half_life : float or None
            The number of further examples after which the weight of an example is halved, for coefficients
            that
            drift; by default all examples have the same weight.
        examples : int or None
            The number of examples that is planned: once the attributes are found, the best of them are
            bought of
            every further example, and the data choose between a line and trees.
        seed : int
            The seed of all draws.

        Returns
        -------
        study : Study
            The study, which this process has until it is closed.
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
        """Open a study, and replay what its newest snapshot lacks.

        Parameters
        ----------
        folder : str or path
            The folder of the study.
        wait : float
            The seconds to wait while another process has the study.

        Returns
        -------
        study : Study
            The study, which this process has until it is closed.

        Raises
        ------
        BlockingIOError
            If another process still has the study.
        ValueError
            If the study is damaged, or if this version of lao would have bought other attributes than the
            journal
            names.
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
        """Let go of the folder. Everything is on the disk already."""
        self._study.close()

    def ask(self, count: int = 1, *, ahead: bool = False) -> list[Slot]:
        """Hand out slots, each for one example.

        Parameters
        ----------
        count : int
            The largest number of slots.
        ahead : bool
            Hand out all of them, and buy what the present choice buys. This is for labels that come long
            after
            their values.

        Returns
        -------
        slots : list of Slot
            There are fewer, or none, if what to buy next depends on slots that are not told yet.
        """
        return [Slot(*slot) for slot in self._study.ask(count, ahead)]

    def open_slots(self) -> list[Slot]:
        """Return the slots that are handed out and not told.

        Returns
        -------
        slots : list of Slot
            In the order of their numbers.
        """
        return [Slot(*slot) for slot in self._study.open_slots()]

    def tell(
        self, slot: Slot | int, values: Mapping[str, float] | Sequence[float], label: Any = None
    ) -> None:
        """Tell the values of a slot, and the label if it is known.

        If a value does not fit, nothing is recorded.

        Parameters
        ----------
        slot : Slot or int
            The slot, or its number.
        values : mapping or sequence of float
            What carries names is taken by name: a dict, a pandas Series such as a row of a frame, or a
            polars row
            with `named=True`. A list, tuple or array has the order of the slot's attributes. A value is
            None, NaN
            or NA if nothing came of the test.
        label : float, str or None
            The label; None if it comes later.
        """
        self._study.tell(*self._row(self._asked, slot, values, label))

    def tell_all(self, rows: Iterable[Sequence[Any]]) -> None:
        """Tell several slots at once: all of them are recorded, or none.

        Parameters
        ----------
        rows : iterable of sequences
            Each is `(slot, values)` or `(slot, values, label)`, as the arguments of `tell`.
        """
        asked = cache(self._asked)
        self._study.tell_all([self._row(asked, *row) for row in rows])

    def label(self, slot: Slot | int, label: Any) -> None:
        """Tell the label of a slot whose values are told.

        Parameters
        ----------
        slot : Slot or int
            The slot, or its number.
        label : float or str
            The label.
        """
        self._study.label(_number(slot), self._label(label))

    def label_all(self, labels: Mapping[Slot | int, Any]) -> None:
        """Tell the labels of several slots: all of them are recorded, or none.

        Parameters
        ----------
        labels : mapping
            From slots whose values are told, or their numbers, to labels.
        """
        self._study.label_all([(_number(slot), self._label(label)) for slot, label in labels.items()])

    def name(self, slot: Slot | int, name: str) -> None:
        """Give a slot a name, such as the pseudonym of a patient, or another one.

        Parameters
        ----------
        slot : Slot or int
            The slot, or its number.
        name : str
            The name.
        """
        self._study.name(_number(slot), name)

    def void(self, slot: Slot | int, reason: str = "") -> None:
        """Close a slot that will never be told.

        What was bought stays spent, and another example takes its place.

        Parameters
        ----------
        slot : Slot or int
            The slot, or its number.
        reason : str
            Why, for the journal.
        """
        self._study.void(_number(slot), reason)

    def import_all(self, examples: Any, labels: Iterable[Any]) -> int:
        """Add examples that were known before: all of them are recorded, or none.

        They cost nothing, and may have more values than the budget allows. Which values are known must not
        depend on
        the label, beyond what the values themselves say of it.

        Parameters
        ----------
        examples : DataFrame or sequence
            Rows that carry names: of a frame, dicts, Series or records. None, NaN or NA is a value that is
            not
            known.
        labels : iterable
            One label for each example. A row without a label, or without any value, is skipped.

        Returns
        -------
        count : int
            The number of examples that were added.
        """
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
        """Let attributes join, such as a test that did not exist when the study began.

        They are bought first once the present block is told. The level then holds for the attributes of the
        beginning, and a part of it, m/d for m new ones of d, for those that join.

        Parameters
        ----------
        attributes : sequence of str
            Their names.
        prices : dict, sequence, path or None
            If the study has prices, those of the new attributes, as in `create`; a panel may be one of the
            study.
        """
        names = [attributes] if isinstance(attributes, str) else list(attributes)
        found = take_prices(prices, names, self.target)
        given: dict[str, tuple[str, float | None, str | None, float | None]]
        given = {name: (name, None, None, None) for name in names}
        given.update({line[0]: line for line in (found.lines() if found else [])})
        self._study.join([given[name] for name in names])
        self._describe()

    def status(self) -> dict[str, Any]:
        """Return where the study stands.

        Returns
        -------
        status : dict
            Slots, told, open, waiting, void, imported, bought, room, updates, support; with prices the
            money spent,
            and with a plan its stage: "search", "contest", "complete" (what is found is bought of every
            example) or
            "line".
        """
        return self._study.status()

    def evidence(self) -> dict[str, np.ndarray]:
        """Return what is known of each attribute.

        Returns
        -------
        evidence : dict of arrays
            In the order of `attributes`.
        """
        return self._study.evidence()

    def verify(self) -> int:
        """Replay the whole journal, and compare.

        Returns
        -------
        lines : int
            The number of its lines.

        Raises
        ------
        ValueError
            If a line is damaged, or the journal leads to another state.
        """
        return self._study.verify()

    def model(self) -> str:
        """Return the model so far.

        Returns
        -------
        model : str
            In the format of lao's model files.
        """
        return self._study.model().json

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model so far to a file that the command `lao predict` reads.

        Parameters
        ----------
        path : str or path
            The file, which is replaced completely or not at all.
        """
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
        raise ValueError(f"{row}: {name} = {value!r}: give a number, or None; nothing was recorded") from None


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
