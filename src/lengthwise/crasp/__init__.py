"""C-RASP[periodic, local]: the language, what its programs compute, and transformers that compute the same.

The public names load on first use: `import lengthwise as lw`, then lw.crasp.parse(text), lw.crasp.run(program, words).
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from lengthwise.lazy import Package

_HOMES = {
    "Compiled": "compiled",
    "Passes": "passes",
    "compile": "compiled",
    "automaton": "automata",
    "decide": "regular",
    "explain": "explain",
    "fragment": "fragment",
    "run": "interpret",
    "library": "library",
    "parse": "parse",
    "text": "printer",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from lengthwise.crasp.automata import automaton as automaton
    from lengthwise.crasp.compiled import Compiled as Compiled
    from lengthwise.crasp.compiled import compile as compile
    from lengthwise.crasp.explain import explain as explain
    from lengthwise.crasp.fragment import fragment as fragment
    from lengthwise.crasp.interpret import run as run
    from lengthwise.crasp.library import library as library
    from lengthwise.crasp.parse import parse as parse
    from lengthwise.crasp.passes import Passes as Passes
    from lengthwise.crasp.printer import text as text
    from lengthwise.crasp.regular import decide as decide


def __getattr__(name: str) -> Any:
    """Loads a public name from the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module 'lengthwise.crasp' has no attribute {name!r}")
    return getattr(importlib.import_module(f"lengthwise.crasp.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


sys.modules[__name__].__class__ = Package
