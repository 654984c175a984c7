"""The programs that come with the package, by name: `library()["dyck1"]`, on the command line crasp:dyck1."""

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path

from lengthwise.crasp.syntax import Program
from lengthwise.errors import WrongInput, nearest, shown

_FOLDER = Path(__file__).with_name("library")


class Library(Mapping[str, Program]):
    """Programs by name, each read when it is asked for."""

    def __getitem__(self, name: str) -> Program:
        """The program of a name; an unknown name gets the nearest ones."""
        return _program(name)

    def __contains__(self, name: object) -> bool:
        """Whether there is a program of this name."""
        return name in _names()

    def __iter__(self) -> Iterator[str]:
        """The names in alphabetical order."""
        return iter(_names())

    def __len__(self) -> int:
        """How many programs there are."""
        return len(_names())

    def source(self, name: str) -> str:
        """The text of a program with its comment: which language it is, and why it is right."""
        if name not in self:
            near = " or ".join(nearest(name, list(_names())))
            raise WrongInput("a program of the library", shown(name), f"nearest: {near}")
        return (_FOLDER / f"{name}.crasp").read_text(encoding="utf-8")


def library() -> Library:
    """The programs that come with the package."""
    return Library()


@functools.cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.crasp")))


@functools.cache
def _program(name: str) -> Program:
    from lengthwise.crasp.parse import parse

    return parse(Library().source(name), f"crasp:{name}")
