"""Files in the older syntax (.cr) of the public interpreter c-rasp, as far as they need no code but their own.

Such a file names no alphabet: it is the symbols that are tested, in order of appearance, and any that are named beside.
Each statement gives a name to an expression; a word is accepted if the last one is true at its last position.
Predicates of positions are Python functions there, edited by each user. Those that come with it are known here:

    pred    the position just before         #[pred] "a"    is  count[back 1]('a')
    pred4   the position four before         #[pred4] "a"   is  count[back 4]('a')
    pos_even                                 pos_even       is  pos % 2 in {1}, since it counts positions from 0

Any other would mean to run code that is not in the file, and is refused.
"""

from pathlib import PurePath

from lengthwise.crasp.complaints import Text
from lengthwise.crasp.parse import grammar, syntax_tree
from lengthwise.crasp.reader import Placed, Reader, Rule
from lengthwise.crasp.syntax import (
    RESERVED,
    Boolean,
    BoolName,
    Compare,
    Count,
    Definition,
    If,
    Node,
    Phi,
    Program,
    check_alphabet,
)
from lengthwise.errors import WrongInput

GRAMMAR = "older.lark"
SIGNS = {"'": 'write symbols in double quotes: "a"', "&": "write &&", "|": "write ||", ":": "write = to define"}
WORDS = frozenset({"true", "false", "if", "else", "min", "max"})
BACK = {"pred": (1,), "pred4": (4,)}
PERIODIC = {"pos_even": (2, (1,))}


def parse_older(text: str, source: str = "", symbols: tuple[str, ...] = ()) -> Program:
    """The program of a .cr file; `symbols` are those of the alphabet beyond the ones it tests."""
    place = Text(text, source, SIGNS)
    tree = syntax_tree(GRAMMAR, place, WORDS)
    tested = [str(token)[1:-1] for token in grammar(GRAMMAR).lex(text) if token.type == "STRING"]
    try:
        alphabet = check_alphabet(list(dict.fromkeys([*tested, *symbols])))
    except WrongInput as error:
        raise WrongInput(error.wanted, error.got, "name the symbols beside the file: --alphabet", source) from None
    return _OlderReader(place, alphabet).program(tree, _title(source))


def _title(source: str) -> str:
    """A name for the program after its file."""
    stem = PurePath(source).stem
    return stem if stem.isidentifier() and stem not in RESERVED else "older"


class _OlderReader(Reader):
    """Reads the statements of a .cr file."""

    def __init__(self, place: Text, alphabet: tuple[str, ...]) -> None:
        super().__init__(place)
        self.alphabet = alphabet
        self.imported: set[str] = set()

    def program(self, tree: Rule, name: str) -> Program:
        """All statements; the last one accepts, or where it is a quantity is an output."""
        for statement in (child for child in tree.children if hasattr(child, "data")):
            if statement.data == "predicate":
                self.predicate(statement.children[1])
            else:
                self.definition(statement)
        if not self.known:
            raise self.place.wrong("at least one statement", "none", "write name = expression", 0)
        last = list(self.known)[-1]
        if isinstance(self.known[last].body, Boolean):
            return Program(name, self.alphabet, tuple(self.known.values()), BoolName(last))
        self.known[last] = Definition("output", last, self.known[last].body)
        return Program(name, self.alphabet, tuple(self.known.values()))

    def predicate(self, token: Rule) -> None:
        """A predicate of positions that is used below."""
        if token not in BACK and token not in PERIODIC:
            wanted = f"one of the predicates that come with c-rasp: {', '.join([*BACK, *PERIODIC])}"
            remedy = "its code is not in this file; write count[back k](...) or pos % m in {r} in a .crasp file"
            raise self.place.wrong(wanted, str(token), remedy, token.start_pos)
        self.imported.add(str(token))

    def definition(self, tree: Rule) -> None:
        """A statement that gives a name to an expression."""
        name, _, expression = tree.children
        title = _ours(name)
        if title in self.known:
            raise self.place.wrong("every name once", f"{name} again", "rename one of them", name.start_pos)
        self.known[title] = Definition("let", title, self.folded(expression).node)

    def _if_else(self, tokens: Rule, then: Placed, test: Placed, otherwise: Placed) -> Node:
        return self._choice(tokens, test, then, otherwise)

    def _least(self, tokens: Rule, left: Placed, right: Placed) -> Node:
        one, other = self.quantity(left, "inside min"), self.quantity(right, "inside min")
        return If(Compare(one, "<=", other), one, other)

    def _most(self, tokens: Rule, left: Placed, right: Placed) -> Node:
        one, other = self.quantity(left, "inside max"), self.quantity(right, "inside max")
        return If(Compare(one, ">=", other), one, other)

    def _recent(self, tokens: Rule, body: Placed) -> Node:
        name = tokens[2]
        self._needs_import(name)
        if name not in BACK:
            wanted = f"a predicate of two positions: {', '.join(BACK)}"
            raise self.place.wrong(wanted, str(name), "it is one of a single position", name.start_pos)
        return Count(self.boolean(body, "after #"), BACK[name])

    def _name(self, tokens: Rule) -> Node:
        name = tokens[0]
        if _ours(name) not in self.known and (name in PERIODIC or name in BACK):
            self._needs_import(name)
            if name in BACK:
                raise self.place.wrong("an expression", str(name), f"write #[{name}] before a Boolean", name.start_pos)
            return Phi(*PERIODIC[name])
        return super()._name([name.update(value=_ours(name))])

    def _needs_import(self, name: Rule) -> None:
        if name not in self.imported:
            raise self.place.wrong("an imported predicate", str(name), f"write #import {name} above", name.start_pos)


def _ours(name: str) -> str:
    """A name as it may stand in our language, which has other words."""
    return f"{name}_" if name in RESERVED else str(name)
