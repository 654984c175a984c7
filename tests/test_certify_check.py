"""Certificates of worst errors as they are found, held against the independent checker; and broken afterwards."""

import copy
from pathlib import Path

import numpy as np
import pytest

import lengthwise as lw
from helpers_certify import case
from lengthwise.check import check_bytes
from lengthwise.theory.certificate import certificate_text
from lengthwise.theory.certify import Limits
from lengthwise.theory.worst_certificate import trees_of, worst_certificate

HIDES = Path(__file__).parent.parent / "results" / "hides"


def verdict(tree):
    return check_bytes(certificate_text(tree).encode())


def accepted(tree):
    """Neither refused nor unreadable."""
    try:
        return verdict(tree).valid
    except ValueError:
        return False


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(s, marks=pytest.mark.slow) for s in range(10, 150))])
def test_what_is_found_is_accepted(seed):
    """Random models of every kind: suffixes, periods, several heads, hard attention, conditions."""
    model, target, where = case(seed)
    found = lw.certify(model, target, where=where, small=1, limits=Limits(tolerance=0.05, most_cells=60))
    ended = verdict(worst_certificate(found))
    assert ended.valid, ended.reason


@pytest.fixture(scope="module")
def proof():
    model, task = lw.load(HIDES / "simple-omega2.safetensors"), lw.task("simple:omega=2")
    return worst_certificate(lw.certify(model, task, where="c0 + c1 >= 0.05 n"))


def test_a_trained_member_is_accepted(proof):
    assert verdict(proof).valid


def test_a_weight_widened_by_one_per_cent_is_refused(proof):
    """Every kind of weight, at its largest entry; leaves are tight to 2^-29, so each of them is noticed."""
    places = [("embedding",), ("unembedding",), ("layers", 0, "heads", 0, "key"), ("layers", 0, "heads", 0, "query")]
    places += [("layers", 0, "heads", 0, "value"), ("layers", 0, "mlp", "inner"), ("layers", 0, "mlp", "outer")]
    for place in places:
        broken = copy.deepcopy(proof)
        rows = broken["models"][0]
        for name in place:
            rows = rows[name]
        sizes = [[abs(_value(entry)) for entry in row] for row in rows]
        row, column = np.unravel_index(np.argmax(sizes), np.shape(sizes))
        rows[row][column] = _wider(rows[row][column])
        assert not verdict(broken).valid, place


def _value(entry):
    if isinstance(entry, int):
        return float(entry)
    whole, _, power = entry.partition("*2^")
    return int(whole) * 2.0 ** int(power or 0)


def _wider(entry):
    return f"{round(_value(entry) * 1.01 * 2**60)}*2^-60"


def test_a_certificate_without_one_of_its_cells_is_refused(proof):
    for root in range(len(proof["roots"])):
        leaves = [i for i, node in enumerate(proof["roots"][root]["tree"]) if isinstance(node, list) and len(node) < 4]
        for place in (leaves[0], leaves[len(leaves) // 2], leaves[-1]):
            broken = copy.deepcopy(proof)
            del broken["roots"][root]["tree"][place]
            assert not accepted(broken)
    fewer = copy.deepcopy(proof)
    del fewer["roots"][1]
    assert not verdict(fewer).valid


def test_a_claim_below_the_truth_is_refused(proof):
    for change in ({"error": f"{round(0.3 * 2**30)}*2^-30"}, {"lower": "1/3"}):
        assert not verdict(proof | change).valid


def test_the_file_can_be_gone_on_from(tmp_path):
    model, task = lw.load(HIDES / "modp-period2-residue0.safetensors"), lw.task("modp:period=2,residue=0")
    first = lw.certify(model, task, small=16, limits=Limits(most_cells=12))
    path = first.certificate(tmp_path / "c.json")
    assert lw.check(path).valid
    again = lw.certify(model, task, small=16, begun=trees_of(path.read_text(), "c.json"), limits=Limits(most_cells=12))
    assert again.fields() == first.fields()
    assert lw.certify(model, task, small=16, begun=trees_of(path.read_text(), "c.json")).proved


NONSENSE = [
    [],
    ["t"],
    [[0, 0, 1, 40]],
    [[0, 1, 0, 8]],
    [[0, 0, 9, 8]],
    [[7, 0, 1, 8]],
    [[0, 0, 1, -1]],
    [[0, 0, 1, -9]],
]
NONSENSE += [[[0, 0, 1, 0]], [[0, 0, 1, "8"]], [None, 3], ["t"] * 9, [[0, 0]] * 5]


@pytest.mark.parametrize("first", range(0, len(NONSENSE), 3))
def test_a_file_that_is_none_of_ours_is_not_believed(first):
    """What cannot be a split of a cell is passed over: the answer is proved all the same."""
    model, task = lw.load(HIDES / "simple-omega2.safetensors"), lw.task("simple:omega=2")
    begun = {((token,), 0, ()): tree for token, tree in enumerate(NONSENSE[first : first + 3])}
    found = lw.certify(model, task, begun=begun, where="c0 >= 2 n", limits=Limits(most_cells=3))
    assert (found.witness, found.upper) == (None, 0)
    found = lw.certify(model, task, begun=begun, where="c0 + c1 >= 0.5 n", limits=Limits(most_cells=60))
    assert found.lower <= found.upper
    assert verdict(worst_certificate(found)).valid
