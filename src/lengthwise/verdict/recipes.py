"""How a Boolean of the search was made, and the expression and the size that this stands for.

The size of an expression: 1 for every symbol test, `true`, residue test, not, and, or, count and comparison; a constant,
factor, offset or period n > 1 in absolute value has one less than its binary digits, 0 and 1 are free, and so are + and -.

    'a' 1    count('a') >= 1 3    count('b' and count('a') >= 4) == 0 9    pos % 3 in {1} 2    count[back 1]('a') == 1 3
"""

from collections.abc import Sequence

from lengthwise.crasp.syntax import (
    And,
    Boolean,
    Compare,
    Count,
    Minus,
    Node,
    Not,
    Number,
    Or,
    Phi,
    Plus,
    Quantity,
    Relation,
    Sym,
    Times,
    Truth,
    fold,
)

Terms = tuple[tuple[int, int], ...]  # (coefficient, index of a Boolean that is counted)
# ("is", symbol), ("phi", period, residue), ("true",), ("not", i), ("and", i, j), ("or", i, j),
# ("recent", i, offsets, relation, c), ("sum", terms, relation, c)
Recipe = tuple[object, ...]


def cost(number: int) -> int:
    """What a number adds to a size: one less than its binary digits; 0 and 1 are free."""
    return max(0, abs(number).bit_length() - 1)


def size(tree: Node) -> int:
    """The size of an expression."""

    def step(one: Node, inside: Sequence[int]) -> int:
        match one:
            case Phi(period, _):
                return 1 + cost(period)
            case Number(value):
                return cost(value)
            case Times(factor, _):
                return cost(factor) + sum(inside)
            case Plus() | Minus():
                return sum(inside)
            case Count(_, back):
                return 1 + sum(map(cost, back or ())) + sum(inside)
        return 1 + sum(inside)

    return fold(tree, step)


def expression(recipes: Sequence[Recipe], recipe: Recipe, alphabet: Sequence[str]) -> Boolean:
    """The expression of a recipe; the numbers in it are places among the recipes."""

    def of(place: object) -> Boolean:
        assert isinstance(place, int)
        return expression(recipes, recipes[place], alphabet)

    match recipe:
        case ("is", int(symbol)):
            return Sym(alphabet[symbol])
        case ("phi", int(period), int(residue)):
            return Phi(period, (residue,))
        case ("true",):
            return Truth(True)
        case ("not", body):
            return Not(of(body))
        case ("and", left, right):
            return And(of(left), of(right))
        case ("or", left, right):
            return Or(of(left), of(right))
        case ("recent", body, tuple(offsets), relation, int(constant)):
            return Compare(Count(of(body), offsets), relation, Number(constant))  # type: ignore[arg-type]
        case ("sum", tuple(terms), relation, int(constant)):
            return compared([(k, Count(of(body))) for k, body in terms], relation, constant)  # type: ignore[arg-type]
    raise TypeError(recipe)


def compared(terms: Sequence[tuple[int, Quantity]], relation: Relation, constant: int) -> Compare:
    """A sum of coefficient * quantity, compared with a constant, as people write it: negative terms on the right."""
    left, right = ([Times(abs(k), one) if abs(k) > 1 else one for k, one in terms if k * sign > 0] for sign in (1, -1))
    if not left:
        turned: dict[Relation, Relation] = {">=": "<=", "<=": ">=", "==": "==", "!=": "!="}
        return compared([(-k, one) for k, one in terms], turned[relation], -constant)
    if right and (relation, constant) in ((">=", 1), ("<=", -1)):
        relation, constant = ">" if constant > 0 else "<", 0
    if not right:
        return Compare(_sum(left), relation, Number(constant))
    if constant < 0:
        left.append(Number(-constant))
    elif constant > 0:
        right.append(Number(constant))
    return Compare(_sum(left), relation, _sum(right))


def _sum(parts: Sequence[Quantity]) -> Quantity:
    found = parts[0]
    for part in parts[1:]:
        found = Plus(found, part)
    return found
