"""What we say when something is wrong: wanted, got, remedy, in one line."""


class LengthwiseError(Exception):
    """Anything we say to a person; `exit_code` is what the command line returns for it."""

    exit_code = 1


class WrongInput(LengthwiseError, ValueError):
    """An input that cannot be used: what was wanted, what came, and what to do about it.

    `where` is the file, line or array the trouble sits in; it may be empty.
    """

    exit_code = 2

    def __init__(self, wanted: str, got: str, remedy: str, where: str = "") -> None:
        self.wanted, self.got, self.remedy, self.where = (_one_line(part) for part in (wanted, got, remedy, where))
        super().__init__(wanted, got, remedy, where)

    def __str__(self) -> str:
        """One line for a person."""
        place = f"{self.where}: " if self.where else ""
        return f"{place}wanted {self.wanted}; got {self.got}; {self.remedy}"

    def at(self, place: str) -> "WrongInput":
        """The same error, placed: the outer place goes before the inner one."""
        where = f"{place}, {self.where}" if self.where else place
        return type(self)(self.wanted, self.got, self.remedy, where)

    def as_dict(self) -> dict[str, str]:
        """The error as the command line prints it with --json."""
        return {"wanted": self.wanted, "got": self.got, "remedy": self.remedy, "where": self.where}


class MachineStopped(WrongInput):
    """The input was fine and the machine could not: disk, memory, device. Finished work is kept."""

    exit_code = 3


def nearest(name: str, known: list[str], count: int = 3) -> list[str]:
    """The known names that look most like an unknown one, best first; all of them when there are few."""
    from difflib import get_close_matches

    return get_close_matches(name, known, n=count, cutoff=0.3) or known[:count]


def shown(value: object, limit: int = 60) -> str:
    """A value as it fits into an error message: its repr, cut in the middle of nowhere if long.

    A repr can fail: Python refuses to print integers of more than 4300 digits, and lists nested a thousand deep.
    """
    try:
        text = repr(value)
    except Exception:
        kind = f"{value.bit_length()} bits" if isinstance(value, int) else "a size or form that cannot be printed"
        text = f"some {type(value).__name__} of {kind}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
