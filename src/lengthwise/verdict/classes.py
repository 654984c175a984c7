"""The exact length complexity of small classes: the least N such that agreement up to N is equality.

A class here is all programs  accept sum_x a_x count(x) + c >= 0  with |a_x| <= T and |c| <= C. All of them are told
apart by all count vectors of 0, 1, 2, ... symbols, up to the proved bound of the class; the last length at which two
are told apart is the answer, exactly.

Source: programs note, section 3.6; tables in section 3.4.
"""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Bool, Int

from lengthwise.errors import WrongInput
from lengthwise.verdict import bounds
from lengthwise.verdict.vectors import vectors

MOST_FUNCTIONS = 200_000

Inequality = tuple[int, ...]  # coefficients of the letters, then the constant


@dataclass(frozen=True)
class ClassLength:
    """The length complexity of a class of inequalities.

    length     L: some two different members agree on all words shorter than this, and none on all words up to it
    bound      what the theorem proves for the class
    functions  how many different functions there are
    pair       two members first told apart at `length`; None where all are equal
    target     for a given member: the length that tells it from all others
    """

    length: int
    bound: int
    functions: int
    pair: tuple[Inequality, Inequality] | None
    target: int | None = None


def inequality_class(letters: int, coefficient: int, constant: int, target: Inequality | None = None) -> ClassLength:
    """One inequality in the counts of k letters, coefficients up to T, constants up to C."""
    members = inequalities(letters, coefficient, constant)
    bound = bounds.linear_class(letters, 1, coefficient, constant)
    numbers = np.zeros(len(members), dtype=np.int64)
    at = None if target is None else _place(members, target)
    pair, length, alone = None, 0, 0
    for n in range(bound + 1):
        truth = members[:, :-1] @ vectors(letters, n).T + members[:, -1:] >= 0
        _, after = np.unique(_keys(numbers, truth), return_inverse=True)
        after = after.ravel()
        if after.max() == numbers.max():
            continue
        pair, length = _split(members, numbers, after), n
        if at is not None and (numbers == numbers[at]).sum() != (after == after[at]).sum():
            alone = n
        numbers = after
    functions = int(numbers.max()) + 1
    return ClassLength(length, bound, functions, pair, None if at is None else alone)


def conjunction_class(coefficient: int, constant: int) -> tuple[int, int]:
    """The longest shortest word of f1 and f2, over all pairs of inequalities in two letters; and the proved bound.

    This is the length complexity of `f1 and f2` against `false`. No pair is satisfied first after the bound.
    Source: programs note, Theorem 3 with s = 2 forms; section 3.4, column 6.
    """
    members = inequalities(2, coefficient, constant)
    # F >= c with |c| <= C; its negation is F <= c - 1: thresholds up to C + 1
    bound = bounds.linear_top(1, 2, 2, coefficient, constant + 1, last_letter=False)
    met = np.zeros((len(members), len(members)), dtype=bool)
    longest = 0
    for n in range(bound + 1):
        truth = (members[:, :-1] @ vectors(2, n).T + members[:, -1:] >= 0).astype(np.float32)
        now = truth @ truth.T > 0.5  # sums of at most n + 1 ones are exact
        if (now & ~met).any():
            longest = n
            met |= now
    return longest, bound


def inequalities(letters: int, coefficient: int, constant: int) -> Int[np.ndarray, "members columns"]:
    """All inequalities of a class; of those that are equal by division of the coefficients, one."""
    if min(letters, coefficient) < 1 or constant < 0:
        raise WrongInput("at least one letter and coefficients up to 1", f"{letters}, {coefficient}", "give more")
    if (2 * coefficient + 1) ** letters * (2 * constant + 1) > MOST_FUNCTIONS:
        raise WrongInput(f"at most {MOST_FUNCTIONS} inequalities", "more", "take fewer letters or smaller constants")
    every = range(-coefficient, coefficient + 1)
    found: dict[Inequality, Inequality] = {}
    for terms in product(every, repeat=letters):
        shared = math.gcd(*terms)
        for c in range(-constant, constant + 1):
            normal = (*(a // shared for a in terms), c // shared) if shared else (*terms, -int(c < 0))
            found.setdefault(normal, (*terms, c))
    return np.array(list(found), dtype=np.int64)


def _keys(numbers: Int[np.ndarray, " members"], truth: Bool[np.ndarray, "members vectors"]) -> np.ndarray:
    """One value for every member: its class and what it says of all vectors."""
    packed = np.packbits(truth, axis=1)
    keys = np.concatenate([numbers.astype(">i8").view(np.uint8).reshape(len(numbers), 8), packed], axis=1)
    return np.ascontiguousarray(keys).view(np.dtype((np.void, keys.shape[1]))).ravel()


def _split(
    members: Int[np.ndarray, "members columns"],
    before: Int[np.ndarray, " members"],
    after: Int[np.ndarray, " members"],
) -> tuple[Inequality, Inequality]:
    """Two members that were together before and are not any more."""
    first: dict[int, int] = {}
    for place, (old, new) in enumerate(zip(before.tolist(), after.tolist(), strict=True)):
        other = first.setdefault(old, place)
        if after[other] != new:
            return tuple(members[other].tolist()), tuple(members[place].tolist())
    raise AssertionError("no class was split")


def _place(members: Int[np.ndarray, "members columns"], target: Inequality) -> int:
    shared = math.gcd(*target[:-1]) or 1
    normal = [value // shared for value in target]
    same = len(normal) == members.shape[1]
    found = np.flatnonzero((members == normal).all(axis=1)).tolist() if same else []
    if not found:
        raise WrongInput("a member of the class", str(target), "give coefficients and a constant within it", "target")
    return int(found[0])
