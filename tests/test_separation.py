"""What counts can tell apart, against brute force: all simple cycles listed, and ranks by Gauss over the rationals."""

import itertools
import random
from fractions import Fraction

import pytest

from lengthwise.crasp.annotated import annotated, part_of, parts_by
from lengthwise.crasp.automata import automaton, minimal
from lengthwise.crasp.potentials import potential, weights
from lengthwise.crasp.separation import levels
from lengthwise.exact import null_space
from regular_oracles import all_words, bounded_depth, random_automaton


def rank(rows):
    rows, found = [list(map(Fraction, row)) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(len(rows)):
            if i != found and rows[i][column]:
                factor = rows[i][column] / rows[found][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


def simple_cycles(count, moves):
    """Label counts of all simple cycles, each found from its least state by walking."""
    after = {s: [(letter, t) for source, letter, t in moves if source == s] for s in range(count)}

    def walk(start, here, seen, labels):
        for letter, t in after[here]:
            if t == start:
                yield [*labels, (here, letter)]
            elif t > start and t not in seen:
                yield from walk(start, t, seen | {t}, [*labels, (here, letter)])

    for start in range(count):
        yield from walk(start, start, {start}, [])


def classes_by_cycles(first, moves):
    """One round by definition: p and q are one if the labels of some path p..q lie in the span of those of all cycles.

    A weight of the labels is a potential exactly if all cycles have weight 0, and v(q) - v(p) is the weight of any path.
    """
    count = len(first)
    labels = sorted({(first[s], letter) for s, letter, _ in moves})
    index = {label: i for i, label in enumerate(labels)}

    def vector(edges):
        row = [0] * len(labels)
        for s, letter in edges:
            row[index[first[s], letter]] += 1
        return row

    span = [vector(cycle) for cycle in simple_cycles(count, moves)]
    base = rank(span)
    same = [[p == q for q in range(count)] for p in range(count)]
    for p in range(count):
        paths, ahead = {p: []}, [p]
        for here in ahead:
            for s, letter, t in moves:
                if s == here and t not in paths:
                    paths[t] = [*paths[here], (s, letter)]
                    ahead.append(t)
        for q, path in paths.items():
            same[p][q] = rank([*span, vector(path)]) == base and first[p] == first[q]
    return same


def strongly_connected(rng, count, letters, more=4):
    """Moves of a random graph: a cycle through all states, and some more."""
    order = list(range(count))
    rng.shuffle(order)
    moves = {(order[i], rng.randrange(letters)): order[(i + 1) % count] for i in range(count)}
    for _ in range(rng.randint(0, more)):
        moves.setdefault((rng.randrange(count), rng.randrange(letters)), rng.randrange(count))
    return [(s, letter, t) for (s, letter), t in moves.items()]


@pytest.mark.parametrize("seed", range(80))
def test_every_round_against_all_simple_cycles(seed):
    rng = random.Random(seed)
    count, letters = rng.randint(2, 5), rng.randint(1, 3)
    moves = strongly_connected(rng, count, letters)
    first = [0] * count
    for level in levels(first, moves):
        same = classes_by_cycles(first, moves)
        for p, q in itertools.product(range(count), repeat=2):
            assert (level.after[p] == level.after[q]) == same[p][q], (moves, p, q)
        first = list(level.after)


def test_graphs_that_take_several_rounds():
    """Larger graphs against the same oracle, also once nothing changes any more; many need a second round."""
    several = 0
    for seed in range(120):
        moves = strongly_connected(random.Random(seed), 8, 2, more=2)
        found = levels([0] * 8, moves)
        first = [0] * 8
        for after in [*(level.after for level in found), found[-1].after]:
            same = classes_by_cycles(first, moves)
            assert all((after[p] == after[q]) == same[p][q] for p, q in itertools.product(range(8), repeat=2))
            first = after
        several += len(found) > 2
    assert several > 20


@pytest.mark.parametrize("seed", range(50))
def test_potentials_are_potentials_and_tell_classes_apart(seed):
    rng = random.Random(seed)
    count = rng.randint(2, 7)
    moves = strongly_connected(rng, count, rng.randint(1, 3))
    for level in levels([0] * count, moves):
        values = potential(level, moves, level.after)
        found = weights(values, level.before, moves)
        for s, letter, t in moves:
            assert values[t] - values[s] == found[level.before[s], letter]
        for p, q in itertools.combinations(range(count), 2):
            if level.before[p] == level.before[q]:
                assert (values[p] == values[q]) == (level.after[p] == level.after[q])


@pytest.mark.parametrize("depth", range(1, 6))
def test_the_height_of_bracketed_words_is_the_potential(depth):
    machine = automaton(bounded_depth(depth))
    product = annotated(machine, 1, 0)
    inside = max(parts_by(product, "places"), key=len)
    assert len(inside) == depth + 1
    part = part_of(product, inside)
    assert part.confused is None
    values = potential(part.levels[0], part.moves, part.levels[0].after)
    found = weights(values, part.levels[0].before, part.moves)
    assert set(found.values()) == {1, -1}
    assert sorted(values) in (list(range(depth + 1)), list(range(-depth, 1)))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("period", "window"), [(1, 0), (3, 0), (1, 2), (2, 1)])
def test_annotated_automata_know_the_position_and_the_last_letters(seed, period, window):
    machine = minimal(random_automaton(seed))
    product = annotated(machine, period, window)
    for word in all_words(range(2), 6):
        place = 0
        for letter in word:
            place = product.table[place][letter]
        found = product.places[place]
        assert found.state == machine.after([machine.alphabet[letter] for letter in word])
        assert found.residue == len(word) % period
        assert found.window == (word[-window:] if window else ())
    assert annotated(machine, period, window, most=len(product.places)) is not None
    if len(product.places) > 1:
        assert annotated(machine, period, window, most=len(product.places) - 1) is None


def test_null_spaces_by_gauss():
    rng = random.Random(0)
    for _ in range(200):
        height, width = rng.randint(1, 5), rng.randint(1, 6)
        rows = [[rng.randint(-3, 3) for _ in range(width)] for _ in range(height)]
        basis = null_space([{i: value for i, value in enumerate(row) if value} for row in rows], width)
        assert len(basis) == width - rank(rows)
        assert all(sum(a * b for a, b in zip(row, v, strict=True)) == 0 for row in rows for v in basis)
        assert not basis or rank(basis) == len(basis)
    assert null_space([], 2) == [[1, 0], [0, 1]]
