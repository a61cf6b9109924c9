"""The solvers of lao_learn at full information on designs that mislead a solver, and the choice of k.

`python bench-suite/peers/designs.py` writes two tables of the book, bench-suite/figures/designs.md and
choices.md, which `cargo xtask report` puts into it. The designs were fixed before a solver was run on them,
except the last one, which is the limit that is known of single exchanges.

In the first table k is known. Each cell says in how many of five instances the training loss is at most 1.01
times that of least squares on the attributes that determine the label, the largest such ratio, and the median
time in seconds.

In the second table k is chosen among 1 to twice the true number and ten. Each cell has the median number
chosen, and the median of the squared error of the fitted values against the mean of the labels, as a multiple
of that of least squares on the true attributes.
"""

import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from lao_learn import HardThresholdingRegressor, HardThresholdingRegressorCV, __version__

INSTANCES = 5
GOAL = 1.01


def chain(rng, n, d, correlation):
    X = np.asfortranarray(rng.standard_normal((n, d)))
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
    return X


def far(rng, X, k):
    """Effects of 1 and -1 in turn, at k random places."""
    return X, np.sort(rng.choice(X.shape[1], k, replace=False)), np.resize([1.0, -1.0], k)


def neighbors(rng, X, pairs):
    """Pairs of neighbors, with effects of 1 and -1."""
    first = 2 * np.sort(rng.choice(X.shape[1] // 2, pairs, replace=False))
    return X, np.sort(np.concatenate([first, first + 1])), np.resize([1.0, -1.0], 2 * pairs)


def normal(rng, n, d):
    return np.asfortranarray(rng.standard_normal((n, d)))


def equicorrelated(rng, n, d):
    return np.asfortranarray(np.sqrt(0.5) * (rng.standard_normal((n, 1)) + rng.standard_normal((n, d))))


def factors(rng, n, d):
    common = rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) / np.sqrt(5.0)
    return np.asfortranarray(np.sqrt(0.7) * common + np.sqrt(0.3) * rng.standard_normal((n, d)))


def decaying(rng, X, k):
    places = np.sort(rng.choice(X.shape[1], k, replace=False))
    return X, places, np.resize([2.0, -2.0], k) * 0.85 ** np.arange(k)


DESIGNS = {
    "independent, 1,000 x 5,000, k = 20": lambda rng: far(rng, normal(rng, 1000, 5000), 20),
    "chain .9, 1,000 x 5,000, k = 20": lambda rng: far(rng, chain(rng, 1000, 5000, 0.9), 20),
    "chain .95, 1,000 x 5,000, k = 20": lambda rng: far(rng, chain(rng, 1000, 5000, 0.95), 20),
    "chain .99, 1,000 x 5,000, k = 20": lambda rng: far(rng, chain(rng, 1000, 5000, 0.99), 20),
    "equal correlations .5, 1,000 x 5,000, k = 20": lambda rng: far(
        rng, equicorrelated(rng, 1000, 5000), 20
    ),
    "five factors, 1,000 x 5,000, k = 20": lambda rng: far(rng, factors(rng, 1000, 5000), 20),
    "neighbors of opposite sign, chain .8, 1,000 x 2,000, k = 20": lambda rng: neighbors(
        rng, chain(rng, 1000, 2000, 0.8), 10
    ),
    "short, 150 x 2,000, k = 10": lambda rng: far(rng, normal(rng, 150, 2000), 10),
    "Student's t, 3 degrees of freedom, 1,000 x 5,000, k = 20": lambda rng: far(
        rng, np.asfortranarray(rng.standard_t(3, (1000, 5000))), 20
    ),
    "means of 10,000, 1,000 x 5,000, k = 20": lambda rng: far(rng, normal(rng, 1000, 5000) + 1e4, 20),
    "signs, 2,000 x 3,000, k = 30": lambda rng: far(rng, np.sign(normal(rng, 2000, 3000)), 30),
    "effects that decay, chain .7, 2,000 x 5,000, k = 20": lambda rng: decaying(
        rng, chain(rng, 2000, 5000, 0.7), 20
    ),
    "chain .5, 2,000 x 5,000, k = 100": lambda rng: far(rng, chain(rng, 2000, 5000, 0.5), 100),
    "neighbors of opposite sign, chain .95, 1,000 x 2,000, k = 20": lambda rng: neighbors(
        rng, chain(rng, 1000, 2000, 0.95), 10
    ),
}


def by(method):
    def run(X, y, k):
        return HardThresholdingRegressor(k, method=method, random_state=1).fit(X, y).objective_

    return run


SOLVERS = {
    "exchange": by("exchange"),
    "HTP": by("htp"),
    "HTP at 2k, pruned": by("htp-pruned"),
    "SVRG-HT at 8k, pruned": by("svrg-ht-pruned"),
    "SCSG-HT II at 8k, pruned": by("scsg-ht-ii-pruned"),
}


def instance_of(design, instance):
    X, places, effects = design(np.random.default_rng(1000 + instance))
    noise = np.random.default_rng([2000, instance]).standard_normal(len(X))
    known = np.column_stack([np.ones(len(X)), X[:, places]])
    mean = X[:, places] @ effects
    fitted = known @ np.linalg.lstsq(known, mean + noise, rcond=None)[0]
    return X, places, mean, mean + noise, fitted


def cell(design, solver):
    ratios, times = [], []
    for instance in range(INSTANCES):
        X, places, _, y, fitted = instance_of(design, instance)
        begin = time.perf_counter()
        loss = solver(X, y, len(places))
        times.append(time.perf_counter() - begin)
        ratios.append(loss / np.mean((y - fitted) ** 2))
    reached = sum(ratio <= GOAL for ratio in ratios)
    return f"{reached} of {INSTANCES}, {max(ratios):.3f}, {np.median(times):.3f}"


def extended(n, d, k):
    return k * math.log(n) + 2.0 * (math.lgamma(d + 1) - math.lgamma(k + 1) - math.lgamma(d - k + 1))


# What each criterion adds to n log(loss) for k of d attributes and n rows.
CRITERIA = {
    "extended BIC (the default)": extended,
    "BIC": lambda n, d, k: k * math.log(n),
    "SIC, of abess": lambda n, d, k: k * math.log(d) * math.log(math.log(n)),
}


def choices(design):
    """Returns the cells of a line: for each criterion, and for cross-validation."""
    found = {name: [] for name in [*CRITERIA, "cross-validation"]}
    for instance in range(INSTANCES):
        X, places, mean, y, fitted = instance_of(design, instance)
        (n, d), most = X.shape, 2 * len(places) + 10
        models = [HardThresholdingRegressor(k).fit(X, y) for k in range(1, most + 1)]
        for name, added in CRITERIA.items():
            values = [n * math.log(m.objective_) + added(n, d, k) for k, m in enumerate(models, 1)]
            found[name].append(models[int(np.argmin(values))])
        found["cross-validation"].append(HardThresholdingRegressorCV(most).fit(X, y))
        for models_of in found.values():
            model = models_of[-1]
            error = np.mean((model.predict(X) - mean) ** 2) / np.mean((fitted - mean) ** 2)
            models_of[-1] = (len(model.support_), error)
    return [
        f"{np.median([k for k, _ in pairs]):.0f}, {np.median([error for _, error in pairs]):.2f}"
        for pairs in found.values()
    ]


def write(name, header, lines):
    lines = [f"| design | {' | '.join(header)} |", "|---|" + "---:|" * len(header), *lines]
    versions = f"lao_learn {__version__}, numpy {np.__version__}"
    lines += ["", f"By `bench-suite/peers/designs.py`, {versions}, one thread."]
    (Path(__file__).parents[1] / "figures" / name).write_text("\n".join(lines) + "\n")


def main():
    warnings.simplefilter("ignore")
    solved, chosen = [], []
    for name, design in DESIGNS.items():
        cells = [cell(design, solver) for solver in SOLVERS.values()]
        solved.append(f"| {name} | {' | '.join(cells)} |")
        print(solved[-1], file=sys.stderr, flush=True)
    write("designs.md", list(SOLVERS), solved)
    for name in CHOSEN:
        chosen.append(f"| {name} | {' | '.join(choices(DESIGNS[name]))} |")
        print(chosen[-1], file=sys.stderr, flush=True)
    write("choices.md", [*CRITERIA, "cross-validation"], chosen)


# The designs of the second table: those in which k is at most 30.
LEFT_OUT = ("chain .5", "neighbors of opposite sign, chain .95")
CHOSEN = [name for name in DESIGNS if not name.startswith(LEFT_OUT)]

if __name__ == "__main__":
    main()
