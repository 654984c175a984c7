"""Packages whose public names load on first use, also where a module inside is spelled like one of the names."""

from types import ModuleType
from typing import Any


class Package(ModuleType):
    """A package that lists its public names in _HOMES; its own __getattr__ finds them.

    Importing a module binds its name in the package. Where a public name is spelled the same, that must not happen:
    `lw.crasp.parse` is the function, whoever imported the module `lengthwise.crasp.parse` before.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        """Binds a name, but no module over a public name."""
        if not (isinstance(value, ModuleType) and name in vars(self).get("_HOMES", ())):
            super().__setattr__(name, value)
