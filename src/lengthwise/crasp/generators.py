"""Programs of any size from one pattern: more letters, deeper brackets."""

from collections.abc import Sequence
from functools import reduce
from operator import add, and_, or_

from lengthwise.crasp.syntax import Boolean, BoolName, Count, CountName, Definition, Not, Phi, Program, Sym, Truth
from lengthwise.crasp.tree import whole
from lengthwise.errors import WrongInput, shown

SEPARATOR = "S"


def bounded_dyck(pairs: Sequence[str], depth: int) -> Program:
    """Brackets of several types, such as "()" and "[]", nested at most so deep.

    h is the depth. At each level, the brackets that open it and those that close it take turns; of each type, those
    opened less those closed is 0 or 1. A bracket closed by the wrong type makes the difference of that type -1: so
    the word is right if h stays within 0..depth, no difference is ever negative, and h is 0 at the end.
    """
    whole(depth, "as a depth", 1)
    if not pairs or not all(len(pair) == 2 for pair in pairs) or len(set("".join(pairs))) < 2 * len(pairs):
        raise WrongInput("pairs of brackets, each bracket once", shown(pairs), 'write ["()", "[]"]')
    h = CountName("h")
    left, right = (reduce(add, [Count(Sym(pair[side])) for pair in pairs]) for side in (0, 1))
    definitions = [Definition("let", "h", left - right)]
    bad: Boolean = (h < 0) | (h > depth)
    for level in range(1, depth + 1):
        for index, pair in enumerate(pairs, start=1):
            name = f"open{level}_{index}"
            difference = Count(Sym(pair[0]) & h.eq(level)) - Count(Sym(pair[1]) & h.eq(level - 1))
            definitions.append(Definition("let", name, difference))
            bad = bad | (CountName(name) < 0)
    accept = h.eq(0) & Count(bad).eq(0)
    return Program(f"dyck_{len(pairs)}_{depth}", tuple("".join(pairs)), tuple(definitions), accept)


def bounded_brackets(depth: int) -> Program:
    """D_n, the brackets a, b of one type nested at most n deep, with the letters that may come next."""
    whole(depth, "as a depth", 1)
    h = CountName("h")
    definitions = (
        Definition("let", "h", Count(Sym("a")) - Count(Sym("b"))),
        Definition("let", "bad", (h < 0) | (h > depth)),
        Definition("output", "next_a", h < depth),
        Definition("output", "next_b", h > 0),
    )
    return Program(f"D_{depth}", ("a", "b"), definitions, h.eq(0) & Count(BoolName("bad")).eq(0))


def majority_task(symbols: Sequence[str], name: str = "majority") -> Program:
    """After a word and the separator S: the letter that came most often, then the end E; nothing on a tie."""
    letters = _letters(symbols, 2)
    after = Definition("let", "after", Count(Sym(SEPARATOR)) >= 1)
    outputs = [
        Definition(
            "output",
            f"out_{letter}",
            reduce(
                and_, (Count(Sym(letter)) > Count(Sym(other)) for other in letters if other != letter), Sym(SEPARATOR)
            ),
        )
        for letter in letters
    ]
    end = Definition("output", "out_E", BoolName("after") & ~Sym(SEPARATOR))
    return Program(name, (*letters, SEPARATOR), (after, *outputs, end))


def sort_task(symbols: Sequence[str], name: str = "sort") -> Program:
    """After distinct symbols and the separator S: the same symbols in the order of the alphabet, then the end E."""
    letters = _letters(symbols, 1)
    definitions = [
        Definition("let", "after", Count(Sym(SEPARATOR)) >= 1),
        Definition("let", "inp", Count(Sym(SEPARATOR)).eq(0)),
    ]
    definitions += [Definition("let", f"has{letter}", Count(Sym(letter) & BoolName("inp")) >= 1) for letter in letters]

    def none_between(start: int, end: int, first: Boolean) -> Boolean:
        return reduce(and_, (Not(BoolName(f"has{letter}")) for letter in letters[start:end]), first)

    for index, letter in enumerate(letters):
        ways = [none_between(0, index, Sym(SEPARATOR) & BoolName(f"has{letter}"))]
        for lower in range(index):
            ways.append(
                none_between(lower + 1, index, BoolName("after") & Sym(letters[lower]) & BoolName(f"has{letter}"))
            )
        definitions.append(Definition("output", f"out_{letter}", reduce(or_, ways)))
    ends = [
        none_between(index + 1, len(letters), BoolName("after") & Sym(letter)) for index, letter in enumerate(letters)
    ]
    definitions.append(Definition("output", "out_E", reduce(or_, ends)))
    return Program(name, (*letters, SEPARATOR), tuple(definitions))


def copy_task(symbols: Sequence[str], name: str = "copy_unique") -> Program:
    """After distinct symbols and the separator S: the same symbols in the same order, then the end E."""
    letters = _letters(symbols, 1)
    definitions = [
        Definition("let", "after", Count(Sym(SEPARATOR)) >= 1),
        Definition("let", "inp", Count(Sym(SEPARATOR)).eq(0)),
        Definition("let", "first", Count(Truth(True)).eq(1)),
    ]

    def followed(letter: str, by: Boolean) -> Boolean:
        return BoolName("after") & Sym(letter) & (Count(by & Count(Sym(letter), (1,)).eq(1)) >= 1)

    for letter in letters:
        start = Sym(SEPARATOR) & (Count(Sym(letter) & BoolName("first")) >= 1)
        ways = [followed(other, Sym(letter) & BoolName("inp")) for other in letters if other != letter]
        definitions.append(Definition("output", f"out_{letter}", reduce(or_, ways, start)))
    ends = [followed(letter, Sym(SEPARATOR)) for letter in letters]
    definitions.append(Definition("output", "out_E", reduce(or_, ends)))
    return Program(name, (*letters, SEPARATOR), tuple(definitions))


def interleaved_majority(period: int) -> Program:
    """Of so many interleaved words over 0 and 1, equally long, each has more ones than zeros."""
    whole(period, "as a number of words", 1)
    parts = [
        Count(Sym("1") & Phi(period, (r % period,))) > Count(Sym("0") & Phi(period, (r % period,)))
        for r in range(1, period + 1)
    ]
    return Program(f"interleave{period}_all_ones", ("0", "1"), (), reduce(and_, [*parts, Phi(period, (0,))]))


def contains_factor(factor: Sequence[str], alphabet: Sequence[str]) -> Program:
    """The words in which some symbols follow one another directly."""
    if not factor:
        raise WrongInput("a factor of at least one symbol", "none", "every word has the empty factor")
    behind = [Count(Sym(symbol), (back,)).eq(1) for back, symbol in enumerate(reversed(factor[:-1]), start=1)]
    here = reduce(and_, behind, Sym(factor[-1]))
    return Program("contains_factor", tuple(alphabet), (), Count(here) >= 1)


def _letters(symbols: Sequence[str], least: int) -> list[str]:
    letters = list(symbols)
    if len(letters) < least or SEPARATOR in letters or not all(f"out_{one}".isidentifier() for one in letters):
        wanted = f"at least {least} symbols of letters and digits, none of them {SEPARATOR}"
        raise WrongInput(wanted, shown(symbols), "write for example abcd")
    return letters
