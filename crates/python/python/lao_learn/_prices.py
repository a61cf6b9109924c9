"""Prices of columns as people give them: by name, in column order, or in a file."""

from __future__ import annotations

import math
import numbers
import os
from typing import Any, Mapping, Sequence

import numpy as np

from lao_learn import _core


def take_prices(
    prices: Any, columns: Sequence[str], target: str, *, named: bool = True
) -> _core.Prices | None:
    """Returns the prices of these columns; None if there are none. `named` says whether the columns have
    names, or are called x0, x1, ... for want of them."""
    if prices is None:
        return None
    if hasattr(prices, "to_dict"):
        # A series of pandas.
        prices = prices.to_dict()
    if isinstance(prices, (str, os.PathLike)):
        found = _core.Prices.read(os.fspath(prices))
    elif isinstance(prices, Mapping):
        for name in prices:
            if not isinstance(name, str):
                raise ValueError(
                    f"prices: {name!r} is not the name of a column; give names, which are words, or a "
                    "sequence of prices in column order"
                )
        if not named and not any(name in columns for name in prices):
            raise ValueError(
                f"prices: X has no column names, and {next(iter(prices), None)!r} is none; give a sequence "
                "of prices in column order, or X as a frame"
            )
        found = _core.Prices.of([_line(name, one) for name, one in prices.items()])
    elif isinstance(prices, (list, tuple, np.ndarray)):
        if len(prices) != len(columns):
            raise ValueError(
                f"prices: {len(prices)} prices for {len(columns)} columns; give one for each, in their "
                "order, or a dict of names and prices"
            )
        found = _core.Prices.of([_line(name, one) for name, one in zip(columns, prices)])
    else:
        raise ValueError(
            f"prices = {prices!r}: give a dict of column names and prices, a sequence of prices in column "
            "order, or the path of a file of lines attribute,price[,panel[,further]]"
        )
    found.check(list(columns), target)
    return found


def _line(column: str, one: Any) -> tuple[str, float, str | None, float | None]:
    """Returns the column, its price, its panel, and its price beside others of the panel."""
    parts = one if isinstance(one, (tuple, list)) and len(one) in (2, 3) else (one,)
    price, panel, further = (*parts, None, None)[:3]
    for number in (price, 0.0 if further is None else further):
        if isinstance(number, (bool, np.bool_)) or not isinstance(number, numbers.Real):
            raise ValueError(
                f"prices: the price of {column!r} is {one!r}; give a number of at least 0, a pair of a "
                "number and the name of a panel, or beside them the price if another column of the panel is "
                "bought"
            )
    if panel is not None and (not isinstance(panel, str) or not panel):
        raise ValueError(f"prices: the panel of {column!r} is {panel!r}; give its name, or None")
    return column, float(price), panel, None if further is None else float(further)


def take_money(name: str, money: Any, prices: _core.Prices) -> float:
    """Returns an amount of money that buys something."""
    known = isinstance(money, numbers.Real) and not isinstance(money, (bool, np.bool_))
    amount = float(money) if known else math.nan
    least = min(price for _, price, _, _ in prices.lines())
    # Sums of prices are rounded, and are compared up to a part in 10^9.
    if not math.isfinite(amount) or amount < 0.0 or amount * (1.0 + 1e-9) < least:
        what = "a prediction" if name.startswith("predict") else "an example"
        raise ValueError(
            f"{name} = {money!r}: with prices, give the money that {what} may cost, a finite number of at "
            f"least {least}, the lowest price; all columns together cost {_sum(prices)}"
        )
    return amount


def by_column(prices: _core.Prices | None) -> dict[str, tuple[Any, ...]] | None:
    """Returns the price and the panel of each column, and its price beside others of the panel if it has
    one."""
    if prices is None:
        return None
    return {
        column: (price, panel) if further is None else (price, panel, further)
        for column, price, panel, further in prices.lines()
    }


def _sum(prices: _core.Prices) -> float:
    """Returns what all columns cost together, each panel once."""
    panels, alone = {}, []
    for column, price, panel, further in prices.lines():
        panels[(panel is None, panel or column)] = price - (further or 0.0)
        alone.append(further or 0.0)
    return math.fsum([*panels.values(), *alone])
