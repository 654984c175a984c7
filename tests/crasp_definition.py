"""What a program means, read off the definition: every expression at every position, from the tree, counting anew."""

import operator

from lengthwise.crasp.syntax import (
    And,
    BoolName,
    Compare,
    Count,
    CountName,
    If,
    Minus,
    Negative,
    Not,
    Number,
    Or,
    Phi,
    Plus,
    Sym,
    Times,
    Truth,
)

RELATIONS = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}


def value(program, expression, word, i):
    """The value of an expression at position i of a word (a sequence of symbols), positions from 1; 0 is virtual."""
    bodies = {definition.name: definition.body for definition in program.definitions}
    known = {}

    def at(tree, i):
        if (id(tree), i) not in known:
            known[id(tree), i] = step(tree, i)
        return known[id(tree), i]

    def step(tree, i):
        match tree:
            case Truth(truth):
                return truth
            case Sym(symbol):
                return i >= 1 and word[i - 1] == symbol
            case Phi(period, residues):
                return i % period in residues
            case Not(body):
                return not at(body, i)
            case And(left, right):
                return at(left, i) and at(right, i)
            case Or(left, right):
                return at(left, i) or at(right, i)
            case Compare(left, relation, right):
                return RELATIONS[relation](at(left, i), at(right, i))
            case BoolName(name) | CountName(name):
                return at(bodies[name], i)
            case Number(number):
                return number
            case Count(body, None):
                return sum(at(body, j) for j in range(1, i + 1))
            case Count(body, back):
                return sum(at(body, i - s) for s in back if i - s >= 1)
            case Times(factor, body):
                return factor * at(body, i)
            case Plus(left, right):
                return at(left, i) + at(right, i)
            case Minus(left, right):
                return at(left, i) - at(right, i)
            case Negative(body):
                return -at(body, i)
            case If(test, then, otherwise):
                return at(then, i) if at(test, i) else at(otherwise, i)
        raise TypeError(tree)

    return at(expression, i)


def accepts(program, word):
    """Whether the program accepts: read at the last position, for the empty word at position 0."""
    return value(program, program.accept, word, len(word))


def outputs(program, word, i):
    """All outputs at a position, by name."""
    return {one.name: value(program, one.body, word, i) for one in program.outputs}
