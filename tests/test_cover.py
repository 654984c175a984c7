"""Covers: every wanted point, no forbidden one; and how tests read."""

import itertools
import random

import pytest

from lengthwise.crasp.cover import Space, contains, cover
from lengthwise.crasp.printer import expression
from lengthwise.crasp.syntax import CountName
from lengthwise.crasp.wording import choice


def random_points(rng, space, count):
    points = set()
    while len(points) < count:
        finite = [rng.randrange(size) for size in space.sizes]
        points.add((*finite, *(rng.randint(-3, 3) for _ in range(space.integers))))
    return sorted(points)


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("exact", [False, True])
def test_covers_contain_what_is_wanted_and_nothing_forbidden(seed, exact):
    rng = random.Random(seed)
    space = Space(tuple(rng.randint(2, 4) for _ in range(rng.randint(1, 3))), rng.randint(1, 2))
    points = random_points(rng, space, rng.randint(2, 14))
    rng.shuffle(points)
    cut = rng.randint(1, len(points) - 1)
    wanted, forbidden = points[:cut], points[cut:]
    boxes = cover(wanted, forbidden, space, exact)
    assert all(any(contains(box, point) for box in boxes) for point in wanted)
    assert not any(contains(box, point) for box in boxes for point in forbidden)
    for left_out in range(len(boxes)):
        rest = boxes[:left_out] + boxes[left_out + 1 :]
        assert not all(any(contains(box, point) for box in rest) for point in wanted), "a box too many"


def test_nothing_wanted_and_nothing_forbidden():
    space = Space((3, 1), 1)
    assert cover([], [(0, 0, 1)], space) == []
    assert cover([(0, 0, 1)], [], space) == [(None, None, None)]


def worded(wanted, forbidden, space, exact=False):
    return expression(choice(wanted, forbidden, space, "ab", [CountName("h")], exact))


def test_tests_read_as_one_would_write_them():
    plain = Space((3, 1), 1)  # the letter a, b or none; no remainders; one quantity
    height = [(letter, 0, h) for letter in (0, 1) for h in range(3)]
    assert worded([(1, 0, -1), (0, 0, 3)], height, plain) == "h < 0 or h > 2"
    assert worded([(0, 0, 5), (0, 0, 6)], [(1, 0, 5), (1, 0, 6)], plain) == "'a'"
    assert worded([(0, 0, 1)], [(0, 0, 0), (0, 0, 2)], plain) == "h == 1"
    assert worded([(0, 0, 0), (1, 0, 0)], [(0, 0, 1)], plain, exact=True) == "h == 0"
    thirds = Space((2, 6), 1)
    residues = [(0, r, 0) for r in range(6)]
    assert worded(residues[1::3], residues[0::3] + residues[2::3], thirds) == "pos % 3 in {1}"
    back = Space((3, 1, 3, 3), 1)
    contexts = [(a, 0, b, c, 0) for a, b, c in itertools.product(range(2), range(3), range(3)) if b < 2 or c == 2]
    thrice = [point for point in contexts if point[0] == point[2] == point[3] == 0]
    others = [point for point in contexts if point not in thrice]
    assert worded(thrice, others, back) == "count[back 0, 1, 2]('a') == 3"
