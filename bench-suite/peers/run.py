"""Runs one learner of a comparison, for `cargo xtask bench`.

    python run.py QUESTION LEARNER THREADS

QUESTION is `purchases`, `full-information` or `disk`, LEARNER a name in the table of that file. The program
writes a line of JSON when the learner is imported, then answers each request, a line of JSON on the standard
input, by a line of JSON on the standard output:

    <- {"software": ["Python 3.11.7", "numpy 2.4.6", "1 thread", ...]}
    -> {"repetition": 0, "folder": "...", "seed": 7, "seconds": 300, ...}
    <- {"repetition": 0, "examples": 331, "measurements": {"seconds": 0.01, ...}}

A measurement that is not a number is null. Instead of its other keys, a line may have the key `error`, with
the reason. What a library prints goes to the standard error.

The folder of a request has the files `train-x.npy`, `train-y.npy`, `test-x.npy`, `test-y.npy`, and
`support.npy` where the label is known to be a linear function of few attributes. For the question `disk` it
has `table.parquet`, and `theta.npy`, the true coefficients, or the files of the test rows.
"""

import json
import os
import sys
from pathlib import Path


def limit_threads(threads):
    """Limits this process to so many processors. Must be called before numpy is imported."""
    for name in ["OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"]:
        os.environ[f"{name}_NUM_THREADS"] = str(threads)
    if threads == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    if hasattr(os, "sched_setaffinity"):
        # Binding the process also limits libraries that count processors and read no variable.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
        return "bound to as many processors"
    return "limited by the variables of the libraries alone"


def private_stdout():
    """Returns the standard output as a file of its own, and sends what libraries print to the standard
    error."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own


def software(modules, threads, how):
    """Returns what the results depend on besides the data."""
    from importlib.metadata import PackageNotFoundError, version

    def named(name):
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            return f"{name}, version unknown"

    python = ".".join(str(part) for part in sys.version_info[:3])
    limit = f"{threads} thread{'s' if threads > 1 else ''} for each learner, {how}"
    return [f"Python {python}", limit, *(named(name) for name in ["numpy", *modules])]


def say(own, line):
    own.write(json.dumps(line, allow_nan=False) + "\n")
    own.flush()


def reason(error):
    """Returns an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def load(folder):
    """Returns the arrays of a request by name, each in the order of columns."""
    import numpy as np

    return {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}


def main():
    own = private_stdout()
    question, learner, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    how = limit_threads(threads)
    # What is never bought, and paths that do not converge, show in the errors.
    os.environ["PYTHONWARNINGS"] = "ignore"
    import warnings

    warnings.simplefilter("ignore")
    try:
        if question == "purchases":
            import purchases as asked
        elif question == "full-information":
            import full_information as asked
        elif question == "disk":
            import disk as asked
        else:
            raise ValueError(f"question {question!r}: give 'purchases', 'full-information' or 'disk'")
        if learner not in asked.LEARNERS:
            raise ValueError(f"learner {learner!r}: the learners are {', '.join(asked.LEARNERS)}")
        modules, make = asked.LEARNERS[learner]
        run = make()
    except Exception as error:
        say(own, {"error": reason(error)})
        return
    say(own, {"software": software(modules, threads, how)})
    seen = set()
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"repetition": request["repetition"]}
        try:
            # Some libraries compile code in the first fit of a process; others compile for each shape.
            first = request["table"] not in seen
            seen.add(request["table"])
            answer["examples"], answer["measurements"] = asked.measure(
                run, load(request["folder"]), request, first
            )
        except Exception as error:
            answer = {"repetition": request["repetition"], "error": reason(error)}
        say(own, answer)


if __name__ == "__main__":
    main()
