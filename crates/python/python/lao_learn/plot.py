"""Pictures of what was bought and learned, with matplotlib. Each function draws on an axes, and returns
it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError("lao_learn.plot needs matplotlib: pip install lao-learn[plot]") from error
    return matplotlib.pyplot.subplots(layout="constrained")[1]


def _names(model: Any) -> np.ndarray:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(model.n_features_in_)]
    return np.asarray(names, dtype=object)


def error_curve(model: Any, *, ax: Any = None) -> Any:
    """Draw the held-out error against the values bought, or the money spent.

    The band is two standard errors wide on each side.

    Parameters
    ----------
    model : estimator
        A fitted estimator with a budget.
    ax : matplotlib axes or None
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib axes
        Where it was drawn.
    """
    check_is_fitted(model)
    history = model.history_
    known = np.isfinite(history["error"])
    if not known.any():
        raise ValueError("nothing was held out; fit with holdout above 0 on 20 or more rows")
    ax = _axes(ax)
    unit = "money" if "money" in history else "attributes"
    bought, error = history[unit][known], history["error"][known]
    doubt = 2.0 * history["standard_error"][known]
    ax.fill_between(bought, error - doubt, error + doubt, alpha=0.25, linewidth=0.0)
    ax.plot(bought, error, marker="o", markersize=3.0)
    ax.set_xscale("log")
    ax.set_xlabel("money spent" if unit == "money" else "values bought")
    ax.set_ylabel("mean squared error, held out")
    ax.set_ylim(bottom=0.0)
    return ax


def coefficients(model: Any, *, ax: Any = None) -> Any:
    """Draw the coefficients of the model with their intervals of 95 %, the largest on top.

    Each is per unit of its attribute. Methods without intervals show none.

    Parameters
    ----------
    model : estimator
        A fitted estimator with a budget.
    ax : matplotlib axes or None
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib axes
        Where it was drawn.
    """
    check_is_fitted(model)
    ax = _axes(ax)
    support = np.asarray(model.support_)
    values = np.atleast_2d(model.coef_)[0][support]
    intervals = getattr(model, "interval_", None)
    intervals = np.full((len(support), 2), np.nan) if intervals is None else intervals[support]
    order = np.argsort(np.abs(values))
    places = np.arange(len(support))
    names = _names(model)[support]
    ax.axvline(0.0, color="0.6", linewidth=0.8)
    ax.hlines(places, *intervals[order].T)
    ax.plot(values[order], places, "o", markersize=4.0)
    ax.set_yticks(places, labels=list(names[order]))
    ax.set_xlabel("coefficient, and 95 % interval")
    return ax


def path(model: Any, *, most: int = 10, ax: Any = None) -> Any:
    """Draw the coefficients against the budgets, as means over the folds.

    A dashed line is the budget that was chosen.

    Parameters
    ----------
    model : estimator
        A fitted estimator that chose its budget.
    most : int
        The number of attributes that are shown by name: those whose coefficients are ever largest. The
        others
        are gray.
    ax : matplotlib axes or None
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib axes
        Where it was drawn.
    """
    check_is_fitted(model)
    results = getattr(model, "cv_results_", None)
    if results is None:
        raise ValueError(
            f"{type(model).__name__} has one budget; BudgetedRegressorCV has a path over several"
        )
    ax = _axes(ax)
    budgets, values = results["budgets"], results["mean_coefficients"]
    largest = np.abs(values).max(axis=0)
    order = np.argsort(-largest, kind="stable")
    order = order[largest[order] > 0.0]
    names = _names(model)
    for j in order[most:]:
        ax.plot(budgets, values[:, j], color="0.8", linewidth=0.8, zorder=0)
    for j in order[:most]:
        ax.plot(budgets, values[:, j], marker="o", markersize=3.0, label=str(names[j]))
    ax.axvline(model.budget_, color="0.6", linestyle="dashed")
    ax.axhline(0.0, color="0.6", linewidth=0.8)
    ax.set_xscale("log")
    ax.set_xticks(budgets, labels=[f"{budget:g}" for budget in budgets])
    ax.minorticks_off()
    ax.set_xlabel("money for an example" if "mean_money" in results else "budget")
    ax.set_ylabel("coefficient, mean over the folds")
    if len(order) > 0:
        ax.legend()
    return ax


def evidence(model: Any, *, most: int = 25, ax: Any = None) -> Any:
    """Draw the evidence for the attributes of which there is most.

    The effects are in standard deviations, filled for attributes of the model, with the number of examples
    in
    which each was seen.

    Parameters
    ----------
    model : estimator
        A fitted estimator with a budget.
    most : int
        The number of attributes.
    ax : matplotlib axes or None
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib axes
        Where it was drawn.
    """
    check_is_fitted(model)
    known = model.evidence_
    if known is None:
        raise ValueError(f"method {model.method!r} keeps no evidence; method='pursuit' does")
    ax = _axes(ax)
    z = np.abs(known["z"])
    order = np.argsort(z, kind="stable")[-most:]
    places = np.arange(len(order))
    inside = np.isin(order, model.support_)
    ax.hlines(places, 0.0, z[order], color="0.8", linewidth=1.0, zorder=0)
    ax.scatter(z[order][inside], places[inside], label="in the model")
    ax.scatter(
        z[order][~inside], places[~inside], facecolors="none", edgecolors="0.4", label="not in the model"
    )
    ax.set_xscale("symlog", linthresh=4.0)
    ax.set_xlim(left=0.0)
    names = _names(model)[order]
    seen = known["examples"][order]
    ax.set_yticks(places, labels=[f"{name} ({int(count)})" for name, count in zip(names, seen)])
    ax.set_xlabel("effect in standard deviations (examples seen)")
    ax.legend(loc="lower right")
    return ax


def spending(model: Any, *, most: int = 25, ax: Any = None) -> Any:
    """Draw how many values of each attribute were bought.

    Together they are `spent_["attributes"]`. With prices, draw the money spent on each panel. Methods that
    keep no
    count show the values that were read, to score included.

    Parameters
    ----------
    model : estimator
        A fitted estimator with a budget.
    most : int
        The number of attributes, those of which most were bought; the rest is one bar.
    ax : matplotlib axes or None
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib axes
        Where it was drawn.
    """
    check_is_fitted(model)
    ax = _axes(ax)
    known = model.evidence_
    if "panels" in model.spent_:
        panels = model.spent_["panels"]
        bought = np.array([line["money"] for line in panels])
        names = np.asarray([line["panel"] for line in panels], dtype=object)
        used = set(_names(model)[model.support_])
        inside = np.array([not used.isdisjoint(line["columns"]) for line in panels], dtype=bool)
        others, label = "other panels", "money spent"
    else:
        bought = model.spent_["reads"].astype(float) if known is None else known["examples"]
        names, inside = _names(model), np.isin(np.arange(len(bought)), model.support_)
        others, label = "others", "values bought" if known is not None else "values read"
    order = np.argsort(bought, kind="stable")[::-1]
    first, rest = order[:most], order[most:]
    counts, labels = list(bought[first]), list(names[first])
    colors = ["C0" if inside[j] else "0.7" for j in first]
    if len(rest) > 0:
        counts.append(bought[rest].sum())
        labels.append(f"{len(rest)} {others}")
        colors.append("0.9")
    places = np.arange(len(counts))[::-1]
    ax.barh(places, counts, color=colors)
    ax.set_yticks(places, labels=labels)
    ax.set_xlabel(label)
    return ax
