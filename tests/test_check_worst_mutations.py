"""Valid certificates about worst errors with one thing changed each: refused or unreadable, for that reason."""

import copy
import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import strategies as st

from helpers_certificates import CHECKER, altered, places
from test_check_fuzz import ANYTHING, ending, fuzz
from test_check_worst import opened

FOLDER = Path(__file__).parent / "broken" / "good"
GOOD = {name: json.loads((FOLDER / f"{name}.json").read_text()) for name in ("worst", "worst-suffix", "worst-hard")}
SIZES = [1, pytest.param(50, marks=pytest.mark.slow)]


def tightened(certificate):
    """The same with every leaf's claim as narrow as the checker can prove it."""
    result = copy.deepcopy(certificate)
    walks = {root.key: (walk, cell) for root, walk, cell in opened(certificate)}
    for entry in result["roots"]:
        walk, start = walks[tuple(entry["suffix"]), entry["residue"], tuple(entry["levels"])]
        cells = [start]
        for node in entry["tree"]:
            cell = cells.pop()
            if node == "t":
                middle = (cell.low + cell.high) / 2
                cells += [type(cell)(cell.vertices, middle, cell.high), type(cell)(cell.vertices, cell.low, middle)]
            elif len(node) == 4:
                cells += walk._split(cell, node, "")[::-1]
            elif len(node) == 2:
                shift = walk.scene.network.digits - 30
                low, high = CHECKER.leaf.enclosure(walk.scene, walk.corners(cell)) or (0, 0)
                node[:] = [low >> shift, -(-high >> shift)]
    return result


TIGHT = {name: tightened(certificate) for name, certificate in GOOD.items()}


def said(certificate):
    try:
        found = CHECKER.check_bytes(json.dumps(certificate).encode())
    except CHECKER.Unreadable as error:
        return f"unreadable: {error}"
    return "valid" if found.valid else f"refused: {found.reason}"


def edited(certificate, *changes):
    result = copy.deepcopy(certificate)
    for path, value in changes:
        *way, last = [int(key) if key.lstrip("-").isdigit() else key for key in path.split()]
        place = result
        for key in way:
            place = place[key]
        if value is ...:
            del place[last]
        else:
            place[last] = value(place[last]) if callable(value) else value
    return result


@pytest.mark.parametrize("name", GOOD)
def test_they_are_valid(name):
    assert said(GOOD[name]) == "valid"
    assert said(TIGHT[name]) == "valid"


def leaves(certificate):
    return [
        (r, i)
        for r, root in enumerate(certificate["roots"])
        for i, node in enumerate(root["tree"])
        if node[0] != "t" and len(node) == 2
    ]


@pytest.mark.parametrize("name", GOOD)
def test_every_leaf_is_needed_once_and_as_wide_as_it_is(name):
    for r, i in leaves(TIGHT[name])[::3]:
        tree = TIGHT[name]["roots"][r]["tree"]
        for changed in (tree[:i] + tree[i + 1 :], [*tree[:i], tree[i], *tree[i:]]):
            assert said(edited(TIGHT[name], (f"roots {r} tree", changed))).startswith(
                ("unreadable: roots", "refused: roots")
            )
        low, high = tree[i]
        for narrow in ([low + 1, high], [low, high - 1]):
            found = said(edited(TIGHT[name], (f"roots {r} tree {i}", narrow)))
            assert f"roots[{r}], node {i}: " in found
            assert "only known to be between" in found or narrow[0] > narrow[1]
        wide = [-(2**60), high]
        assert "exceeds the error" in said(edited(TIGHT[name], (f"roots {r} tree {i}", wide)))


@pytest.mark.parametrize("name", ["worst", "worst-suffix"])
def test_every_weight_is_needed(name):
    """One percent more, wherever the weight is not 0: a leaf or the witness notices."""
    noticed = 0
    for path in places(TIGHT[name]["models"]):
        value = TIGHT[name]
        where = " ".join(map(str, ("models", *path)))
        for key in ("models", *path):
            value = value[key]
        if isinstance(value, bool) or path[-1] in ("bits",) or not Fraction(str(value).split("*")[0]):
            continue
        more = CHECKER.reader.number(value, "") * Fraction(101, 100)
        found = said(edited(TIGHT[name], (where, str(more))))
        assert found == "valid" or found.startswith("refused: "), found
        noticed += found != "valid"
    assert noticed > 12


CHANGES = {
    # targets, conditions, lengths
    "two outputs": ("worst", [("models 0 unembedding", lambda rows: rows * 2)], "refused", "one output"),
    "two models": ("worst", [("models", lambda models: models * 2)], "refused", "of one model"),
    "no head": ("worst", [("models 0 layers 0 heads", [])], "refused", "at least one head"),
    "a heaviside unit": ("worst", [("models 0 layers 0 mlp activation 0", "heaviside")], "refused", "a heaviside unit has no slope"),
    "no bits": ("worst-hard", [("models 0 bits", None)], "refused", "without bits"),
    "more bits": ("worst-hard", [("models 0 bits", 4)], "refused", "do not make head 0 hard for [0, 0]"),
    "a negative factor": ("worst", [("target under 0 0", -1)], "refused", "a negative factor"),
    "another activation": ("worst", [("target activation", "tanh")], "unreadable", "identity, sin"),
    "a longer tail": ("worst-suffix", [("target tail", lambda rows: rows * 3)], "refused", "no root is about"),
    "a condition less": ("worst", [("where", [])], "refused", "there is no condition 0"),
    "shortest of 0": ("worst", [("shortest", 0)], "unreadable", "a whole number >= 1"),
    "small below shortest": ("worst", [("small", 1)], "refused", "less than shortest"),
    "small too small": ("worst-suffix", [("small", 3)], "refused", "small is 3, less than 4"),
    "longer short strings": ("worst", [("small", 10**30)], "unreadable", "steps suffice"),
    "shorter strings too": ("worst-hard", [("shortest", 2), ("error", "1/1000")], "refused", "leaf's claim"),
    "a shortest that is false": ("worst-hard", [("models 0 layers 0 heads 0 value 3 0", 3), ("shortest", 2)], "refused", "only known"),
    "the target's numerator without its denominator": (
        "worst",
        [("target under", [[0], [1]]), ("witness length", 5), ("witness table", [[2], [2]]), ("lower", 0)],
        "refused",
        "its numerator is not 0",
    ),
    # the witness
    "lower raised": ("worst", [("lower", "23169/2000")], "refused", "error at the witness"),
    "lower negative": ("worst", [("lower", -1)], "unreadable", "lower: wanted a number >= 0"),
    "a witness that misses a condition": ("worst", [("witness table", [[0], [9]]), ("witness length", 10), ("witness suffix", [1])], "refused", "does not meet condition 0"),
    "a witness too short": ("worst", [("witness table", [[0], [0]]), ("witness length", 1)], "refused", "less than shortest"),
    "a witness of another length": ("worst", [("witness length", 3)], "refused", "the witness's length is 2, not 3"),
    "a witness that is no string": ("worst-suffix", [("witness table", [[2, 0], [0, 0]]), ("witness length", 3)], "refused", "no string has the witness table"),
    "a witness with a short suffix": ("worst-suffix", [("witness table", [[1, 1], [0, 0]]), ("witness length", 3)], "refused", "has a suffix of 1 tokens, and 2"),
    # roots
    "a root deleted": ("worst", [("roots 1", ...)], "refused", "no root is about the strings that end with [1]"),
    "a root twice": ("worst", [("roots", lambda roots: [*roots, roots[0]])], "refused", "roots[2]: this root is listed twice"),
    "a root that is none": ("worst", [("roots", lambda roots: [*roots, {**roots[0], "residue": 1}])], "refused", "roots[2]: there is no such root"),
    "another residue": ("worst-suffix", [("roots 0 residue", 1)], "refused", "listed twice"),
    "a level of a plain root": ("worst", [("roots 0 levels", [0])], "refused", "no root is about"),
    "a level that nobody has": ("worst-hard", [("roots", lambda roots: [*roots, {**roots[0], "levels": [1]}])], "refused", "there is no such root"),
    "a level forgotten": ("worst-hard", [("roots 3", ...)], "refused", "end with [2], residue 0, levels [1]"),
    # trees
    "a weight of 0": ("worst", [("roots 0 tree 0 3", 0)], "refused", "roots[0], node 0: [residue, a, b, cut]"),
    "a weight of 16": ("worst", [("roots 0 tree 0 3", 16)], "refused", "does not name an edge"),
    "an edge backwards": ("worst", [("roots 0 tree 0", [0, 1, 0, 8])], "refused", "does not name an edge"),
    "a vertex that is none": ("worst", [("roots 0 tree 0", [0, 0, 2, 8])], "refused", "does not name an edge"),
    "a residue that is none": ("worst", [("roots 0 tree 0", [1, 0, 1, 8])], "refused", "does not name an edge"),
    "a condition that is none": ("worst", [("roots 0 tree 0", [0, 0, 1, -2])], "refused", "there is no such condition"),
    "a condition without change of sign": ("worst", [("roots 0 tree 1", [0, 0, 1, -1])], "refused", "does not change its sign"),
    "a condition beside a suffix": ("worst-suffix", [("roots 0 tree 1", [0, 0, 1, -1])], "refused", "no such condition"),
    "a condition that holds": ("worst", [("roots 0 tree 3", lambda leaf: [*leaf, 0])], "refused", "condition 0 holds at a corner"),
    "a condition of a leaf that is none": ("worst", [("roots 0 tree -1 2", 1)], "refused", "there is no condition 1"),
    "an interval that is a point": ("worst", [("roots 0 tree 0", "t")], "refused", "the interval is a point"),
    "another word": ("worst", [("roots 0 tree 0", "never")], "unreadable", 'a list or "t"'),
    "a fraction in a leaf": ("worst", [("roots 0 tree 3 0", "1/2")], "unreadable", "2 to 4 integers"),
    "no node": ("worst", [("roots 0 tree", [])], "unreadable", "a tree that ends before"),
    "a lower end above the upper": ("worst", [("roots 0 tree 3", [2, 1])], "refused", "the leaf's claim is empty"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_noticed(name):
    base, changes, ends, words = CHANGES[name]
    found = said(edited(GOOD[base], *changes))
    assert found.startswith(ends), found
    assert words in found


@pytest.mark.parametrize(
    ("name", "r", "i"), [("worst", 0, 0), ("worst", 1, 8), ("worst-suffix", 2, 0), ("worst-hard", 1, 1)]
)
def test_children_swapped(name, r, i):
    """The two subtrees of a node, exchanged: the leaves' claims are about other cells."""
    tree = TIGHT[name]["roots"][r]["tree"]

    def end(start):
        open_cells, at = 1, start
        while open_cells:
            open_cells += 1 if tree[at] == "t" or len(tree[at]) == 4 else -1
            at += 1
        return at

    middle, last = end(i + 1), end(end(i + 1))
    swapped = tree[: i + 1] + tree[middle:last] + tree[i + 1 : middle] + tree[last:]
    found = said(edited(TIGHT[name], (f"roots {r} tree", swapped)))
    assert f"roots[{r}], node " in found


def test_much_work_is_refused_before_it_is_done(monkeypatch):
    deep = edited(GOOD["worst"], ("roots 0 tree", [[0, 0, 1, 1]] * 2_000), ("where", []))
    assert "common denominator up to 2^1100" in said(deep)
    assert "at most 10000 types" in said(edited(GOOD["worst"], ("period", "1*2^2200")))
    assert "steps suffice" in said(edited(GOOD["worst-suffix"], ("target tail", [[0, 1]] * 40)))
    monkeypatch.setattr(CHECKER.worst, "MOST", 40_000)
    assert "for which 40000 steps suffice" in said(GOOD["worst"])


# --- whatever is read, it ends with a verdict or with Unreadable ---


@pytest.mark.parametrize("size", SIZES)
def test_any_value_anywhere(size):
    every = list(GOOD.values())
    paths = [list(places(certificate)) for certificate in every]

    def attempt(which, place, value):
        path = paths[which][place % len(paths[which])][: 1 + place % 9]
        return ending(json.dumps(altered(every[which], path, value)).encode())

    found = fuzz(120 * size, attempt, st.integers(0, 2), st.integers(0, 10**6), ANYTHING | NODES)
    assert found["unreadable"]
    assert found["refused"]


NODES = st.one_of(
    st.just("t"),
    st.lists(st.integers(-20, 20), min_size=1, max_size=5),
    st.lists(st.lists(st.integers(-2, 17), max_size=4), max_size=4),
)


@pytest.mark.parametrize("size", SIZES)
def test_bytes_changed(size):
    data = [json.dumps(certificate).encode() for certificate in GOOD.values()]
    change = st.tuples(st.integers(0, 10**4), st.integers(0, 20), st.binary(max_size=6))

    def attempt(which, changes):
        text = data[which]
        for start, length, new in changes:
            text = text[: start % len(text)] + new + text[start % len(text) + length :] or b"0"
        return ending(text)

    assert fuzz(150 * size, attempt, st.integers(0, 2), st.lists(change, min_size=1, max_size=2))["unreadable"]
