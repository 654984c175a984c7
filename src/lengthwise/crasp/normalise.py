"""From a program's tree to its normal form: every node once, every operation once."""

from collections.abc import Sequence
from typing import NamedTuple

from lengthwise.crasp.cases import Guard, Split, always, combined, within
from lengthwise.crasp.operations import (
    Case,
    Cases,
    Constant,
    Operations,
    RecentTally,
    SymbolIs,
    Tally,
)
from lengthwise.crasp.store import Store
from lengthwise.crasp.syntax import (
    And,
    Boolean,
    BoolName,
    Compare,
    Count,
    CountName,
    If,
    Minus,
    Negative,
    Node,
    Not,
    Number,
    Or,
    Phi,
    Plus,
    Program,
    Relation,
    Sym,
    Times,
    Truth,
    fold,
)


class Chain(NamedTuple):
    """An and of ands, or an or of ors, that is still growing: made into one operation when something else uses it."""

    conjunction: bool
    left: "int | Chain"
    right: "int | Chain"
    origin: Node


Made = int | Chain | Split


def normal_form(program: Program) -> Operations:
    """The operations of a program, those of its definitions in their order, then those of `accept`."""
    maker = _Maker(program.alphabet)
    quantities: dict[str, Cases] = {}
    for definition in program.definitions:
        made = maker.made(definition.body)
        if isinstance(made, int):
            maker.names[definition.name] = made
        else:
            maker.splits[definition.name] = made
            quantities[definition.name] = tuple(Case(maker.guard(guard), *total) for guard, total in made)
    accept = None if program.accept is None else maker.made(program.accept)
    assert accept is None or isinstance(accept, int)
    shown = tuple(one.name for one in program.outputs)
    outputs = {name: maker.names[name] for name in shown if name in maker.names}
    return Operations(
        program.alphabet, tuple(maker.list), accept, outputs, maker.names, quantities, shown, maker.origins, maker.parts
    )


class _Maker(Store):
    """Makes the operations of one expression after the other."""

    def __init__(self, alphabet: tuple[str, ...]) -> None:
        super().__init__()
        self.symbols = {symbol: index for index, symbol in enumerate(alphabet)}
        self.names: dict[str, int] = {}
        self.splits: dict[str, Split] = {}
        self.origins: dict[int, Node] = {}
        self.parts: dict[int, Node] = {}

    def made(self, tree: Node) -> int | Split:
        """The index of a Boolean, or a quantity by cases."""
        return self._settled(fold(tree, self._step))

    def _step(self, tree: Node, inside: Sequence[Made]) -> Made:
        if isinstance(tree, (And, Or)):
            conjunction = isinstance(tree, And)
            left, right = (
                one if isinstance(one, Chain) and one.conjunction == conjunction else self._settled(one)
                for one in inside
            )
            return Chain(conjunction, left, right, tree)  # type: ignore[arg-type]
        settled = [self._settled(one) for one in inside]
        made = self._boolean(tree, settled) if isinstance(tree, Boolean) else self._quantity(tree, settled)
        if isinstance(made, int):
            self.origins.setdefault(made, tree)
        return made

    def _settled(self, made: Made) -> int | Split:
        """A chain as the one operation it is; anything else as it is."""
        if not isinstance(made, Chain):
            return made
        links: list[int] = []
        ahead: list[int | Chain] = [made]
        while ahead:
            link = ahead.pop()
            if isinstance(link, Chain):
                ahead += (link.right, link.left)
            else:
                links.append(link)
        index = self.all_of(links) if made.conjunction else self.any_of(links)
        self.origins.setdefault(index, made.origin)
        return index

    def _boolean(self, tree: Node, inside: Sequence[int | Split]) -> int:
        match tree, list(inside):
            case Truth(value), _:
                return self.constant(value)
            case Sym(symbol), _:
                return self.add(SymbolIs(self.symbols[symbol]))
            case Phi(period, residues), _:
                return self.in_residues(period, residues)
            case BoolName(name), _:
                return self.names[name]
            case Not(), [int(body)]:
                return self.opposite(body)
            case Compare(_, relation, _), [tuple(left), tuple(right)]:
                start = len(self.list)
                index = self.compare(left, relation, right)
                self.parts |= dict.fromkeys(range(start, len(self.list)), tree)
                return index
        raise TypeError(type(tree).__name__)

    def _quantity(self, tree: Node, inside: Sequence[int | Split]) -> Split:
        match tree, list(inside):
            case Number(value), _:
                return always((), value)
            case CountName(name), _:
                return self.splits[name]
            case Count(_, back), [int(body)]:
                return self.count(body, back, tree)
            case Times(factor, _), [tuple(body)]:
                return combined((factor, body))
            case Negative(), [tuple(body)]:
                return combined((-1, body))
            case Plus(), [tuple(left), tuple(right)]:
                return combined((1, left), (1, right))
            case Minus(), [tuple(left), tuple(right)]:
                return combined((1, left), (-1, right))
            case If(), [int(test), tuple(then), tuple(otherwise)]:
                return self.choice(test, then, otherwise)
        raise TypeError(type(tree).__name__)

    def count(self, body: int, back: tuple[int, ...] | None, origin: Node) -> Split:
        """A tally, over all positions so far or over some offsets back."""
        if self.list[body] == Constant(False):
            return always((), 0)
        index = self.add(Tally(body) if back is None else RecentTally(body, back))
        self.origins.setdefault(index, origin)
        return always(((1, index),), 0)

    def compare(self, left: Split, relation: Relation, right: Split) -> int:
        """A relation between two quantities, by sums that are at least zero."""
        above, below = combined((1, left), (-1, right)), combined((1, right), (-1, left))
        match relation:
            case ">=":
                return self.at_least(above, 0)
            case ">":
                return self.at_least(above, 1)
            case "<=":
                return self.at_least(below, 0)
            case "<":
                return self.at_least(below, 1)
            case "==":
                return self.all_of((self.at_least(above, 0), self.at_least(below, 0)))
            case "!=":
                return self.any_of((self.at_least(above, 1), self.at_least(below, 1)))

    def at_least(self, split: Split, bound: int) -> int:
        """Whether a quantity is at least a bound: in some case its guard and the comparison hold."""
        guards: dict[int, list[int]] = {}
        for guard, (terms, constant) in split:
            index = self.guard(guard)
            guards.setdefault(self.at_least_zero(terms, constant - bound), []).extend([] if index is None else [index])
            if index is None:
                return self.at_least_zero(terms, constant - bound)
        return self.any_of([self.all_of((test, self.any_of(ways))) for test, ways in guards.items()])

    def choice(self, test: int, then: Split, otherwise: Split) -> Split:
        """One quantity where a test holds, another where it does not."""
        operation = self.list[test]
        if isinstance(operation, Constant):
            return then if operation.value else otherwise
        if then == otherwise:
            return then
        known = self.known_opposite(test)
        positive = known is None or test < known
        literal = test if known is None else min(test, known)
        return within(literal, positive, then) + within(literal, not positive, otherwise)

    def guard(self, guard: Guard) -> int | None:
        """A guard as a Boolean; None where it always holds."""
        if not guard:
            return None
        return self.all_of([test if holds else self.opposite(test) for test, holds in sorted(guard)])
