"""The 17 formal languages of the length-generalization suite, by name: a program of the library, or an automaton.

`published` is the share of strings right at all positions, in per cent, for test lengths like those of training and for
two bins of longer ones, with learned positions and random offsets, and without positions. What trained transformers
reached is no part of the verdict; it stands beside it.

Source: Huang et al. 2025, the figure of formal languages and its public data.
"""

import re
from dataclasses import dataclass

from lengthwise.crasp.automata import Automaton, automaton, minimal

SOURCE = "Huang et al. 2025, public data of the figure of formal languages"
_BITS = ("0", "1")
_DEPTH = re.compile(r"D_([1-9][0-9]?)")
# No odd run of 0s directly after an odd run of 1s. States: even run of 1s, odd run of 1s, odd and even run of 0s
# after an odd run of 1s, 0s that are free, and lost; a run of 0s after an even run of 1s is free.
_TOMITA3 = Automaton(_BITS, ((4, 1), (2, 0), (3, 5), (2, 1), (4, 1), (5, 5)), 0, frozenset([0, 1, 3, 4]))
# Even numbers of 0s and of 1s; number of 0s less number of 1s divisible by 3.
_TOMITA5 = Automaton(_BITS, ((1, 2), (0, 3), (3, 0), (2, 1)), 0, frozenset([0]))
_TOMITA6 = Automaton(_BITS, ((1, 2), (2, 0), (0, 1)), 0, frozenset([0]))

Shares = tuple[float, float, float]


@dataclass(frozen=True)
class Language:
    """A language of the suite.

    program is the name of a program of the library, where there is one; definition an expression or an automaton over
    the symbols of that program.
    """

    name: str
    says: str
    definition: str | Automaton
    symbols: str
    program: str | None
    positions: Shares
    without: Shares
    aliases: tuple[str, ...] = ()

    @property
    def automaton(self) -> Automaton:
        """The minimal automaton."""
        if isinstance(self.definition, Automaton):
            return minimal(self.definition)
        return automaton(self.definition, tuple(self.symbols))


_ALL = (100.0, 100.0, 100.0)
_FIRST = (100.0, 0.0, 0.0)


def nested(depth: int) -> str:
    """The expression of D_n = (a D_(n-1) b)*, with D_0 the empty word."""
    return "(a" * depth + "b)*" * depth


LANGUAGES = (
    Language("tomita1", "1*", "1*", "01", "tomita1", _ALL, _ALL),
    Language("tomita2", "(10)*", "(10)*", "01", "tomita2", _ALL, _ALL),
    Language(
        "tomita3",
        "no odd run of 0 directly after an odd run of 1",
        _TOMITA3,
        "01",
        None,
        (60.45, 7.7, 0.0),
        (21.1, 0.0, 0.0),
    ),
    Language("tomita4", "no 000", "(1|01|001)*(0|00)?", "01", "tomita4", (100.0, 85.4, 84.4), (100.0, 16.45, 0.0)),
    Language("tomita5", "even numbers of 0 and of 1", _TOMITA5, "01", None, (54.4, 0.0, 0.0), (7.1, 0.0, 0.0)),
    Language(
        "tomita6",
        "number of 0 minus number of 1 divisible by 3",
        _TOMITA6,
        "01",
        None,
        (59.6, 0.0, 0.0),
        (2.4, 0.0, 0.0),
    ),
    Language("tomita7", "0*1*0*1*", "0*1*0*1*", "01", "tomita7", (100.0, 94.2, 93.2), (100.0, 87.5, 76.2)),
    *(
        Language(f"D_{n}", f"brackets nested at most {n} deep", nested(n), "ab", f"D_{n}", _ALL, _ALL, (f"d-{n}",))
        for n in (2, 3, 4, 12)
    ),
    Language("aa_star", "(aa)*", "(aa)*", "ab", "aa_star", _ALL, _FIRST, ("(aa)*",)),
    Language("aaaa_star", "(aaaa)*", "(aaaa)*", "ab", "aaaa_star", (100.0, 92.3, 86.7), _FIRST, ("(aaaa)*",)),
    Language("abab_star", "(abab)*", "(abab)*", "ab", "abab_star", (100.0, 89.4, 82.3), _FIRST, ("(abab)*",)),
    Language(
        "blocks5",
        "aa*bb*cc*dd*ee*",
        "aa*bb*cc*dd*ee*",
        "abcde",
        "blocks5",
        _ALL,
        _ALL,
        ("aa*bb*cc*dd*ee*", "aabbccddee"),
    ),
    Language(
        "ab_d_bc",
        "{a,b}*d{b,c}*",
        "[ab]*d[bc]*",
        "abcd",
        "ab_d_bc",
        (100.0, 99.8, 98.5),
        (100.0, 99.8, 98.5),
        ("{a,b}*d{b,c}*", "adbc"),
    ),
    Language(
        "flip_flop",
        "{0,1,2}*02*",
        "[012]*02*",
        "012",
        None,
        (99.7, 24.4, 1.2),
        (18.2, 11.2, 0.0),
        ("{0,1,2}*02*", "012"),
    ),
)


def depth_of(name: str) -> int | None:
    """N for the name D_n, n up to 99; None for any other text."""
    found = _DEPTH.fullmatch(name)
    return None if found is None else int(found[1])


def suite_language(name: str) -> Language | None:
    """The language of the suite with this name or another name of its own; None for any other text."""
    return next((one for one in LANGUAGES if name == one.name or name in one.aliases), None)


def names() -> list[str]:
    """The names of the suite."""
    return [one.name for one in LANGUAGES]
