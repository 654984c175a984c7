"""Out of all potentials of a part, small ones that tell apart what a program must tell apart."""

import random
from collections.abc import Hashable, Sequence

from lengthwise.crasp.separation import Level, Move

TRIES = 200


def potential(level: Level, moves: Sequence[Move], apart: Sequence[Hashable]) -> list[int]:
    """Integers v by state: a potential for the labels (class of source, letter) of a level.

    States of one class with different entries of `apart` get different values; the potentials must be able to do so.
    Constants are added on each class of the level so that few labels have a weight, and these small ones.
    """
    values = [0] * len(level.before)
    for factor, basis in zip(_factors(level, apart), level.basis, strict=True):
        for state, value in basis.items():
            values[state] += factor * value
    return _with_constants(values, level.before, moves)


def weights(values: Sequence[int], classes: Sequence[int], moves: Sequence[Move]) -> dict[tuple[int, int], int]:
    """The weight of each label (class of source, letter) under a potential."""
    return {(classes[s], letter): values[t] - values[s] for s, letter, t in moves}


Row = list[tuple[Hashable, list[tuple[int, int]]]]  # per state of a class: its key, and (basis vector, value)
Label = tuple[int, int, int]  # class of the source, class of the target, weight


def _factors(level: Level, apart: Sequence[Hashable]) -> list[int]:
    """Small integers that make one potential out of a basis.

    Some integers do: each pair that must be told apart excludes a hyperplane of factors. All ones are tried first, then
    random ones of growing size; then those that are not needed are set to 0.
    """
    count = len(level.basis)
    members: dict[int, list[int]] = {}
    for state, number in enumerate(level.before):
        members.setdefault(number, []).append(state)
    rows: list[Row] = []
    for states in members.values():
        if len({apart[state] for state in states}) > 1:
            rows.append(
                [(apart[s], [(i, basis[s]) for i, basis in enumerate(level.basis) if s in basis]) for s in states]
            )
    rng, size, tried = random.Random(0), 1, 0
    factors = [1] * count
    while not _separates(factors, rows):
        tried += 1
        size += tried % TRIES == 0
        factors = [rng.randint(-size, size) for _ in range(count)]
    for index in range(count):
        without = [*factors[:index], 0, *factors[index + 1 :]]
        if factors[index] and _separates(without, rows):
            factors = without
    return factors


def _separates(factors: Sequence[int], rows: Sequence[Row]) -> bool:
    for states in rows:
        found: dict[int, Hashable] = {}
        for key, terms in states:
            value = sum([factors[index] * entry for index, entry in terms])
            if found.setdefault(value, key) != key:
                return False
    return True


def _with_constants(values: list[int], classes: Sequence[int], moves: Sequence[Move]) -> list[int]:
    """The potential plus a constant on each class, so that few weights are not 0, by changing one constant at a time."""
    labels: dict[tuple[int, int], Label] = {}
    for s, letter, t in moves:
        labels[classes[s], letter] = (classes[s], classes[t], values[t] - values[s])
    crossing = [label for label in labels.values() if label[0] != label[1]]
    if not crossing:
        return values
    count = max(classes) + 1
    tree: list[int | None] = [None] * count
    for number in range(count):
        tree[number] = tree[number] or 0
        for s, t, w in crossing:
            if s == number and tree[t] is None:
                tree[t] = (tree[s] or 0) - w
    starts = [[0] * count, [value or 0 for value in tree]]
    constants = min((_descended(start, crossing) for start in starts), key=lambda found: _cost(found, crossing))
    return [value + constants[number] for value, number in zip(values, classes, strict=True)]


def _descended(constants: list[int], crossing: Sequence[Label]) -> list[int]:
    """The constants after each has been made as good as can be, given the others, again and again."""
    touching: dict[int, list[Label]] = {}
    for label in crossing:
        touching.setdefault(label[0], []).append(label)
        touching.setdefault(label[1], []).append(label)
    changed = True
    while changed:
        changed = False
        for number, near in touching.items():
            # The weight of a label is 0 at exactly one value of the constant: relative + constant, or minus it.
            zeros = [constants[t] + w if s == number else constants[s] - w for s, t, w in near]
            best = min(sorted(set(zeros), key=abs), key=lambda c, zeros=zeros: _distance(c, zeros))  # type: ignore[misc]
            if _distance(best, zeros) < _distance(constants[number], zeros):
                constants[number] = best
                changed = True
    return constants


def _distance(constant: int, zeros: Sequence[int]) -> tuple[int, int]:
    """How many weights are not 0, and the sum of their sizes."""
    gaps = [abs(constant - zero) for zero in zeros]
    return sum([gap != 0 for gap in gaps]), sum(gaps)


def _cost(constants: Sequence[int], crossing: Sequence[Label]) -> tuple[int, int]:
    found = [w + constants[t] - constants[s] for s, t, w in crossing]
    return sum([w != 0 for w in found]), sum(map(abs, found))
