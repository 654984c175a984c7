"""One sweep at a time in a study directory.

The lock is the kernel's (flock on the file `lock`), so that a killed holder leaves nothing to clean up; the holder's
process id stands in the file only to be shown.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lengthwise.errors import MachineStopped, WrongInput

_PATIENCE = 0.5  # seconds for a holder to write its process id


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock file while the body runs; refuses if another process does."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise MachineStopped("to write there", f"{error.strerror}", "choose another place", str(path)) from None
    try:
        _take(file, path)
        try:
            os.ftruncate(file, 0)
            os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            raise MachineStopped("to write there", f"{error.strerror}", "free the disk", str(path)) from None
        try:
            yield
        finally:
            with suppress(OSError):
                os.ftruncate(file, 0)
    finally:
        os.close(file)


def _take(file: int, path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise MachineStopped("a disk that can lock files", f"{error.strerror}", "use another", str(path)) from None
        who = _holder(file)
        raise WrongInput(
            "a study that no other sweep works on",
            f"process {who} working on it" if who else "another process working on it",
            f"wait for it, or stop it (kill {who}) and use --resume" if who else "wait for it",
            str(path.parent),
        ) from None


def _holder(file: int) -> int | None:
    """The process id that the holder has written, or is about to write."""
    until = time.monotonic() + _PATIENCE
    while True:
        said = os.pread(file, 32, 0).strip()
        if said.isdigit():
            return int(said)
        if time.monotonic() > until:
            return None
        time.sleep(0.02)
