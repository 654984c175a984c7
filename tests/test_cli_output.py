import json
import math
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.cli.output import LARGEST_EXACT, answer, plain
from lengthwise.exact import Ball


def read_back(fields):
    """The fields as any JSON reader sees them; NaN and Infinity are refused."""

    def refuse(text):
        raise AssertionError(text)

    return json.loads(json.dumps(plain(fields), allow_nan=False), parse_constant=refuse)


@pytest.mark.parametrize(
    ("value", "reason"), [(math.inf, "infinite"), (-math.inf, "minus infinity"), (math.nan, "not a number")]
)
def test_what_is_not_finite_is_null_with_a_reason(value, reason):
    assert read_back({"bound": value}) == {"bound": None, "bound_reason": reason}
    assert read_back({"bound": np.float64(value)}) == {"bound": None, "bound_reason": reason}
    assert read_back({"bounds": [1.0, value]}) == {"bounds": [1.0, None], "bounds_reason": f"null stands for: {reason}"}
    assert read_back({"bounds": np.array([[value, 2.0]])})["bounds"] == [[None, 2.0]]


def test_a_reason_that_is_given_stays():
    assert read_back({"bound": math.inf, "bound_reason": "no bits"})["bound_reason"] == "no bits"


def test_finite_values_have_no_siblings():
    fields = {"a": 1, "b": 0.5, "c": "x", "d": None, "e": True, "f": [1, 2.5], "g": {"h": [None, "y"]}}
    assert read_back(fields) == fields


@pytest.mark.parametrize("value", [LARGEST_EXACT, -LARGEST_EXACT, 0])
def test_integers_that_every_reader_holds_stay_numbers(value):
    assert read_back({"length": value}) == {"length": value}


@pytest.mark.parametrize("value", [LARGEST_EXACT + 1, -LARGEST_EXACT - 1, 10**18])
def test_larger_integers_are_digits_with_their_log2(value):
    found = read_back({"length": value})
    assert int(found["length"]) == value
    assert found["log2_length"] == pytest.approx(math.log2(abs(value)), rel=1e-15)


def test_integers_beyond_what_python_prints():
    digits = read_back({"length": -(3 * 10**9000 + 10**4 + 7)})["length"]
    assert digits == "-3" + "0" * (9000 - 5) + "10007"


def test_large_integers_in_lists():
    found = read_back({"lengths": [5, 2**60]})
    assert found == {"lengths": [5, str(2**60)], "log2_lengths": [None, 60.0]}


@pytest.mark.parametrize("value", [Fraction(3, 7), Fraction(-2), Fraction(10**30, 3)])
def test_rationals_are_p_over_q(value):
    text = read_back({"margin": value})["margin"]
    p, q = text.split("/")
    assert Fraction(int(p), int(q)) == value


def test_numpy_values_become_plain():
    fields = {"a": np.float32(0.5), "b": np.int64(7), "c": np.arange(4).reshape(2, 2), "d": np.bool_(True)}
    assert read_back(fields) == {"a": 0.5, "b": 7, "c": [[0, 1], [2, 3]], "d": True}


def test_balls_enclose():
    third = Ball.of(Fraction(1, 3))
    found = read_back({"output": third})["output"]
    assert Fraction(found["lower"]) < Fraction(1, 3) < Fraction(found["upper"])


def test_rules_hold_inside_objects():
    assert read_back({"deep": {"margin": math.inf}}) == {"deep": {"margin": None, "margin_reason": "infinite"}}


def test_what_has_no_form_is_our_mistake():
    with pytest.raises(TypeError, match="object"):
        plain({"a": object()})


def test_every_answer_says_who_and_how_long():
    found = answer("run", 0.0, {"outputs": []})
    assert list(found)[:3] == ["lengthwise", "verb", "seconds"]
    assert found["verb"] == "run"
    assert found["seconds"] > 0
