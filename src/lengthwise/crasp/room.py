"""Arrays that are used again for the next block, so that no memory is asked for and given back all the time.

Columns of a few hundred kilobytes sit where the C library's allocator likes to return memory to the system; the page
faults that follow can cost more than the arithmetic.
"""

from typing import Any

import numpy as np


class Room:
    """A place for the columns of one block at a time; for one thread."""

    def __init__(self) -> None:
        """Nothing is held yet."""
        self._free: dict[Any, list[Any]] = {}
        self._taken: list[Any] = []

    def array(self, size: int, dtype: Any) -> Any:
        """An array with any content, until the next `clear`."""
        dtype = np.dtype(dtype)
        free = self._free.get(dtype, [])
        whole = free.pop() if free and len(free[-1]) >= size else np.empty(size, dtype=dtype)
        self._taken.append(whole)
        return whole[:size]

    def clear(self) -> None:
        """All arrays may be used again; what they hold is no longer anybody's."""
        for whole in self._taken:
            self._free.setdefault(whole.dtype, []).append(whole)
        self._taken.clear()
