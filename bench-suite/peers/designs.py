"""The solvers of lao_learn at full information on designs that mislead a solver, each with k known.

`python bench-suite/peers/designs.py` writes the table of the book, bench-suite/figures/designs.md, which
`cargo xtask report` puts into it. Each cell says in how many of five instances the training loss is at most
1.01 times that of least squares on the attributes that determine the label, the largest such ratio, and the
median time in seconds. The designs were fixed before a solver was run on them, except the last one, which is
the limit that is known of single exchanges.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np

from lao_learn import HardThresholdingRegressor, __version__

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
        return HardThresholdingRegressor(k, method=method).fit(X, y).objective_

    return run


def pruned(X, y, k):
    """HTP at 2k, then the least of the attributes dropped one by one."""
    places = list(HardThresholdingRegressor(2 * k, method="htp").fit(X, y).support_)
    Z, v = X[:, places] - X[:, places].mean(axis=0), y - y.mean()
    gram, right, left = Z.T @ Z, Z.T @ v, list(range(len(places)))
    while len(left) > k:
        inverse = np.linalg.pinv(gram[np.ix_(left, left)])
        left.pop(int(np.argmin((inverse @ right[left]) ** 2 / np.diag(inverse))))
    residual = v - Z[:, left] @ np.linalg.lstsq(Z[:, left], v, rcond=None)[0]
    return residual @ residual / len(y)


SOLVERS = {"exchange": by("exchange"), "HTP": by("htp"), "HTP at 2k, pruned": pruned}


def cell(design, solver):
    ratios, times = [], []
    for instance in range(INSTANCES):
        X, places, effects = design(np.random.default_rng(1000 + instance))
        noise = np.random.default_rng([2000, instance]).standard_normal(len(X))
        y = X[:, places] @ effects + noise
        known = np.column_stack([np.ones(len(X)), X[:, places]])
        residual = y - known @ np.linalg.lstsq(known, y, rcond=None)[0]
        begin = time.perf_counter()
        loss = solver(X, y, len(places))
        times.append(time.perf_counter() - begin)
        ratios.append(loss / (residual @ residual / len(y)))
    reached = sum(ratio <= GOAL for ratio in ratios)
    return f"{reached} of {INSTANCES}, {max(ratios):.3f}, {np.median(times):.3f}"


def main():
    warnings.simplefilter("ignore")
    lines = [f"| design | {' | '.join(SOLVERS)} |", "|---|" + "---:|" * len(SOLVERS)]
    for name, design in DESIGNS.items():
        lines.append(f"| {name} | {' | '.join(cell(design, solver) for solver in SOLVERS.values())} |")
        print(lines[-1], file=sys.stderr, flush=True)
    versions = f"lao_learn {__version__}, numpy {np.__version__}"
    lines += ["", f"By `bench-suite/peers/designs.py`, {versions}, one thread."]
    path = Path(__file__).parents[1] / "figures" / "designs.md"
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
