"""One word under the magnifying glass: every expression of a program at every position, and why the word is rejected."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from lengthwise.crasp.syntax import (
    And,
    Boolean,
    BoolName,
    Compare,
    Count,
    CountName,
    Definition,
    Node,
    Not,
    Number,
    Or,
    Phi,
    Program,
    Quantity,
    Sym,
    Truth,
    fold,
    nodes,
)
from lengthwise.crasp.words import encode_word

PLACES = 8  # positions that a sentence lists


@dataclass(frozen=True)
class Row:
    """An expression, the name it has if any, and its value at each position; `failing` where it rejects the word."""

    expression: str
    name: str
    values: tuple[bool | int, ...]
    failing: bool

    @property
    def label(self) -> str:
        """The expression with its name before it."""
        sign = " " if self.name == "accept" else " := " if self.name else ""
        return f"{self.name}{sign}{self.expression}"


@dataclass(frozen=True)
class Explanation:
    """The table of a program on one word: rows are expressions, columns are positions; `why` says why it is rejected.

    The empty word has one column, position 0.
    """

    program: str
    word: tuple[str, ...]
    accepts: bool | None
    rows: tuple[Row, ...]
    why: tuple[str, ...]
    first: int = 1

    @property
    def positions(self) -> range:
        """The positions of the columns."""
        return range(self.first, self.first + len(self.word)) if self.word else range(1)

    def cut(self, start: int, end: int) -> "Explanation":
        """The columns of the positions from start to end."""
        part = slice(start - self.positions[0], end - self.positions[0] + 1)
        rows = tuple(replace(row, values=row.values[part]) for row in self.rows)
        return replace(self, word=self.word[part], rows=rows, first=start)

    def to_json(self) -> dict[str, Any]:
        """The table in JSON's own types."""
        rows = [
            {"expression": row.expression, "name": row.name, "failing": row.failing, "values": list(row.values)}
            for row in self.rows
        ]
        fields: dict[str, Any] = {"program": self.program, "word": list(self.word), "accepts": self.accepts}
        return fields | {"why": list(self.why), "first": self.positions[0], "rows": rows}

    def __str__(self) -> str:
        """The verdict as a sentence."""
        if self.accepts is None:
            return f"{self.program} accepts nothing and shows {len(self.rows)} expressions"
        reasons = f": {'; '.join(self.why)}" if self.why else ""
        return f"{self.program} {'accepts' if self.accepts else 'rejects'} the word{reasons}"

    def to_html(self, file: str | Path) -> None:
        """Writes the table as one self-contained page."""
        from jinja2 import Environment

        template = Path(__file__).with_name("templates").joinpath("explain.html").read_text(encoding="utf-8")
        page = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(template)
        Path(file).write_text(page.render(found=self), encoding="utf-8")


def explain(program: Program, word: Any) -> Explanation:
    """Every expression of a program on one word, a text or a list of symbols; the rows stand in the program's order."""
    from lengthwise.crasp.interpret import run
    from lengthwise.crasp.words import Words

    tokens = encode_word(word, program.alphabet) if isinstance(word, str) else Words.of([word], program.alphabet).tokens
    symbols = tuple(program.alphabet[int(token)] for token in tokens)
    bodies = {one.name: one.body for one in program.definitions}
    if program.accept is not None:
        bodies["accept"] = program.accept
    places = {
        node: index for index, node in enumerate(dict.fromkeys(one for body in bodies.values() for one in nodes(body)))
    }
    prefix = "row" + "_" * max(map(len, bodies), default=0)  # longer than every name, so no name begins with it
    extra = [Definition("let", f"{prefix}{index}", cast(Boolean | Quantity, node)) for node, index in places.items()]
    whole = Program(program.name, program.alphabet, (*program.definitions, *extra), program.accept)
    answer = run(whole, [symbols], "all" if symbols else "last", every=True)
    values = {node: tuple(answer.values[f"{prefix}{index}"].tolist()) for node, index in places.items()}
    accepts = None if program.accept is None else bool(values[program.accept][-1])
    blamed = {} if program.accept is None or accepts else dict(_blame(program.accept, bodies, values))
    rows = [Row(repr(node), name, values[node], node in blamed) for node, name in _shown(bodies)]
    why = tuple(reason for reason in blamed.values() if reason)
    return Explanation(program.name, symbols, accepts, tuple(rows), why)


def _shown(bodies: Mapping[str, Node]) -> Iterator[tuple[Node, str]]:
    """The expressions with a row of their own, inner ones first: no constants, names, symbols or parts of a chain."""
    done: set[Node] = set()
    for name, body in bodies.items():
        chained = _inner_links(body)
        order: list[Node] = []
        fold(body, lambda one, _, order=order: order.append(one))  # type: ignore[misc]
        for one in order:
            plain = isinstance(one, (Truth, Number, BoolName, CountName, Sym)) or one in chained
            if one is not body and one not in done and not plain:
                done.add(one)
                yield one, ""
        yield body, name


def _inner_links(body: Node) -> set[Node]:
    """The parts of a chain of and, or of or, that are such chains themselves."""
    links = [one for one in nodes(body) if isinstance(one, (And, Or))]
    return {part for one in links for part in (one.left, one.right) if type(part) is type(one)}


def _blame(
    accept: Boolean, bodies: Mapping[str, Node], values: Mapping[Node, tuple[bool | int, ...]]
) -> Iterator[tuple[Node, str]]:
    """The expressions that make `accept` false at the last position, and for the innermost ones a sentence.

    An `and` is false by those parts that are false, an `or` by all its parts; under `not` the other way round.
    """
    ahead: list[tuple[Node, bool]] = [(accept, True)]
    seen: set[tuple[Node, bool]] = set()
    while ahead:
        node, wanted = ahead.pop()
        if (node, wanted) in seen or values[node][-1] == wanted:
            continue
        seen.add((node, wanted))
        match node:
            case And(left, right) | Or(left, right):
                yield node, ""
                ahead += [(right, wanted), (left, wanted)]
            case Not(body):
                yield node, ""
                ahead.append((body, not wanted))
            case BoolName(name):
                yield node, ""
                ahead.append((bodies[name], wanted))
            case _:
                yield node, _reason(node, wanted, bodies, values)


def _reason(node: Node, wanted: bool, bodies: Mapping[str, Node], values: Mapping[Node, tuple[bool | int, ...]]) -> str:
    """Why a comparison or test is what it should not be at the last position."""
    said = f"{node!r} is {'false' if wanted else 'true'}"
    if not isinstance(node, Compare):
        return said
    facts = []
    for side in (node.left, node.right):
        if isinstance(side, Number):
            continue
        fact = f"{side!r} is {values[side][-1]}"
        inner = bodies[side.name] if isinstance(side, CountName) else side
        if isinstance(inner, Count) and inner.back is None:
            held = [i for i, one in enumerate(values[inner.body], start=1) if one]
            if held and not isinstance(inner.body, (Sym, Phi, Truth)):
                listed = ", ".join(map(str, held[:PLACES])) + (", ..." if len(held) > PLACES else "")
                fact += f" (position{'s' * (len(held) > 1)} {listed})"
        facts.append(fact)
    return f"{said}, as {' and '.join(facts)}" if facts else said
