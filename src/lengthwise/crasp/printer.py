"""The one way a program is written: what `parse` reads back to the same tree."""

from collections.abc import Sequence

from lengthwise.crasp.syntax import (
    And,
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
    Sym,
    Times,
    Truth,
    fold,
)

# How tightly a form binds; an operand that binds less tightly than its place demands stands in parentheses.
CHOICE, OR, AND, NOT, COMPARE, SUM, TERM, SIGN, ATOM = range(9)


def text(program: Program) -> str:
    """The program, one definition a line."""
    lines = [f"program {program.name}", f"alphabet {' '.join(map(quoted, program.alphabet))}"]
    lines += [f"{one.kind} {one.name} := {expression(one.body)}" for one in program.definitions]
    if program.accept is not None:
        lines.append(f"accept {expression(program.accept)}")
    return "\n".join(lines) + "\n"


def quoted(symbol: str) -> str:
    """A symbol between quotes; a quote or backslash inside it is written after a backslash."""
    return "'" + symbol.replace("\\", "\\\\").replace("'", "\\'") + "'"


def expression(tree: Node) -> str:
    """An expression, with the parentheses it needs, and those around and inside or."""
    return fold(tree, _written)[1]


Written = tuple[int, str]  # how tightly it binds, and its text


def _placed(operand: Written, place: int) -> str:
    """An operand where a form must bind at least so tightly."""
    tightness, written = operand
    return written if tightness >= place else f"({written})"


def _written(tree: Node, inside: Sequence[Written]) -> Written:
    match tree:
        case Truth(value):
            return ATOM, "true" if value else "false"
        case Sym(symbol):
            return ATOM, quoted(symbol)
        case Phi(period, residues):
            return COMPARE, f"pos % {digits(period)} in {{{', '.join(map(digits, residues))}}}"
        case BoolName(name) | CountName(name):
            return ATOM, name
        case Not():
            return NOT, f"not {_placed(inside[0], NOT)}"
        case And():
            return AND, f"{_placed(inside[0], AND)} and {_placed(inside[1], NOT)}"
        case Or(left, _):  # parentheses around and: nobody should have to remember which binds tighter
            return OR, f"{_placed(inside[0], OR if isinstance(left, Or) else NOT)} or {_placed(inside[1], NOT)}"
        case Compare(_, relation, _):
            return COMPARE, f"{_placed(inside[0], SUM)} {relation} {_placed(inside[1], SUM)}"
        case Number(value):
            return ATOM, digits(value)
        case Count(_, back):
            where = "" if back is None else f"[back {', '.join(map(digits, back))}]"
            return ATOM, f"count{where}({_placed(inside[0], CHOICE)})"
        case Times(factor, _):
            return TERM, f"{digits(factor)} * {_placed(inside[0], TERM)}"
        case Plus():
            return SUM, f"{_placed(inside[0], SUM)} + {_placed(inside[1], TERM)}"
        case Minus():
            return SUM, f"{_placed(inside[0], SUM)} - {_placed(inside[1], TERM)}"
        case Negative(body):
            return SIGN, f"-({_placed(inside[0], CHOICE)})" if isinstance(
                body, (Number, Times)
            ) else f"-{_placed(inside[0], SIGN)}"
        case If():
            return (
                CHOICE,
                f"if {_placed(inside[0], OR)} then {_placed(inside[1], CHOICE)} else {_placed(inside[2], CHOICE)}",
            )
    raise TypeError(type(tree).__name__)


def digits(value: int) -> str:
    """All digits of an integer; str() refuses more than 4300."""
    if value.bit_length() < 10_000:
        return str(value)
    high, low = divmod(abs(value), 10**2_000)
    return ("-" if value < 0 else "") + digits(high) + f"{low:02000d}"
