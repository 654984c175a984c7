"""The prediction from a cold start: `python benchmarks/predict.py [--write]`.

Each row is a whole command, Python's own start included: the best of several, modules compiled to bytecode before, as in
any installation. Beside it, Python alone, the same with NumPy, and the help of the verb; --runs asks for more runs
where the machine is not quiet.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from _stored import store

ALLOWED = 0.3
COMMANDS = {
    "tomita4: local, its automaton asked for a plain program": "tomita4",
    "dyck1: one difference of counts": "dyck1",
    "crasp:majority: one layer": "crasp:majority",
    "aa_star: period 2": "aa_star",
    "sort: the scheme of a task": "sort",
}
OTHERS = {
    "majority: 26 letters, 326 linear forms": "majority",
    "regex:(aa|b)*: decided, a program written": "regex:(aa|b)*",
    "parity: decided, outside": "parity",
    "copy-repeat: communication counted": "copy-repeat",
}


def seconds(arguments, runs, compiled):
    """The least time of some runs of a command, after one that compiles."""
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    surroundings["PYTHONPYCACHEPREFIX"] = compiled
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=False, env=surroundings)
        times.append(time.perf_counter() - start)
    return min(times[1:])


def rows(runs, compiled):
    """The commands, those that are held to the limit first."""
    for what, target in (COMMANDS | OTHERS).items():
        row = {"what": what, "seconds": seconds(["-m", "lengthwise.cli", "predict", target], runs, compiled)}
        yield row | ({"allowed_seconds": ALLOWED} if what in COMMANDS else {})
    for what, arguments in {
        "Python alone": ["-c", ""],
        "Python and NumPy": ["-c", "import numpy"],
        "lengthwise predict --help": ["-m", "lengthwise.cli", "predict", "--help"],
    }.items():
        yield {"what": what, "seconds": seconds(arguments, runs, compiled)}


def main():
    """Prints the rows; with --write also keeps them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the results for the page of benchmarks")
    parser.add_argument("--runs", type=int, default=10, help="how often each command runs")
    arguments = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as compiled:
        for row in rows(arguments.runs, compiled):
            print("  ".join(f"{name} {x:.3f}" if isinstance(x, float) else f"{name} {x}" for name, x in row.items()))
            found.append(row)
    if arguments.write:
        store("predict", "predicting from a cold start", found)


if __name__ == "__main__":
    main()
