"""Processes that sweep and are killed; tests run this file, nothing imports it.

python dying.py points DIR            fork after fork sweeps without computing, each killed before its next file
                                      operation; prints one JSON line for each: what was left, what resuming made of it
python dying.py after N SECONDS ...   `lengthwise ...` that keeps a checkpoint at every chunk and kills itself some
                                      seconds after its N-th look at the clock (0: after its start)
"""

import json
import os
import shutil
import signal
import sys
import threading
from pathlib import Path

IN_PLACE = 77
OPERATIONS = {"os.rename", "os.remove", "os.mkdir", "os.truncate", "sqlite3.connect"}


def die():
    """As `kill -9`: nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_before(operation, folder):
    """Dies before the n-th operation that changes something in the folder; opening to write is one."""
    seen = 0

    def watch(event, arguments):
        nonlocal seen
        writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wxa+")
        if writes and str(arguments[0]).startswith(str(folder)) and Path(arguments[0]).name[0] not in ".l":
            os._exit(IN_PLACE)  # only what is written aside can be killed halfway without a trace; the lock is empty
        if (event in OPERATIONS or writes) and str(arguments[0]).startswith(str(folder)):
            seen += 1
            if seen == operation:
                die()

    sys.addaudithook(watch)


def points(folder):
    """A sweep killed at every operation in turn, then resumed."""
    from lengthwise.study.store import Store
    from study_helpers import contents, study, sweep

    settings = ("grid.omega=[1]", "lengths=[6]")
    reference, path = folder / "reference", folder / "study"
    sweep(reference, *settings)
    wanted, runs = contents(reference), study(*settings).runs()
    for operation in range(1, 1000):
        shutil.rmtree(path, ignore_errors=True)
        child = os.fork()
        if child == 0:
            die_before(operation, path)
            sweep(path, *settings)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) != IN_PLACE, "a file was opened for writing in its place"
            assert os.WEXITSTATUS(status) == 0, status
            return
        found, broken = Store(path).examined(runs)
        kept = {run_id: (path / "runs" / f"{run_id}.json").read_bytes() for run_id in found}
        swept = sweep(path, *settings, resume=True)
        lost = [run_id for run_id, was in kept.items() if (path / "runs" / f"{run_id}.json").read_bytes() != was]
        same = contents(path) == wanted
        line = {"done": len(found), "broken": broken, "redone": swept.redone, "lost": lost, "same": same}
        print(json.dumps(line | {"complete": swept.complete}))


def after(looks, seconds, arguments):
    """The command line, killed."""
    from lengthwise.cli import progress
    from lengthwise.cli.endings import outcome
    from lengthwise.train import ensemble

    ensemble.CHECKPOINT_SECONDS = ensemble.FLUSH_SECONDS = 0.0
    timer = threading.Timer(seconds, die)
    timer.daemon = True
    left = iter(range(looks, -1, -1))

    def look(self, told):
        if next(left, None) == 1:
            timer.start()

    progress.Lines.progress = look
    if looks == 0:
        timer.start()
    sys.exit(outcome(arguments))


if __name__ == "__main__":
    if sys.argv[1] == "points":
        points(Path(sys.argv[2]))
    else:
        after(int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])
