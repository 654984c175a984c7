"""Errors are one line for a person and four fields for a program."""

import copy
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import LengthwiseError, MachineStopped, WrongInput, nearest, shown


def test_the_line_says_place_wanted_got_and_remedy_in_this_order():
    error = WrongInput("a cat", "a dog", "feed it", "the house")
    assert str(error) == "the house: wanted a cat; got a dog; feed it"
    assert str(WrongInput("a cat", "a dog", "feed it")) == "wanted a cat; got a dog; feed it"


def test_fields_for_programs():
    fields = {"wanted": "a cat", "got": "a dog", "remedy": "feed it", "where": "the house"}
    assert WrongInput(**fields).as_dict() == fields


def test_exit_codes_of_the_design():
    assert (LengthwiseError.exit_code, WrongInput.exit_code, MachineStopped.exit_code) == (1, 2, 3)


def test_places_nest_from_outside_in_and_the_kind_stays():
    inner = MachineStopped("room", "a full disk", "free it", "line 3")
    outer = inner.at("file.txt")
    assert type(outer) is MachineStopped
    assert outer.where == "file.txt, line 3"
    assert WrongInput("a", "b", "c").at("file.txt").where == "file.txt"


def test_errors_are_value_errors_and_survive_a_copy():
    error = WrongInput("a", "b", "c", "d")
    assert isinstance(error, ValueError)
    assert str(copy.copy(error)) == str(error)


@given(st.tuples(*[st.text()] * 4))
def test_always_one_printable_line(parts):
    line = str(WrongInput(*parts))
    assert line.isprintable()
    assert len(line.splitlines()) == 1


def test_control_characters_do_not_reach_the_terminal():
    assert "\x1b" not in str(WrongInput("a\nb", "\x1b[31mred", "c"))
    assert "wanted a b;" in str(WrongInput("a\nb", "c", "d"))


def test_nearest_names():
    assert nearest("tomita44", ["copy-unique", "tomita4", "majority"], count=1) == ["tomita4"]
    assert nearest("zzz", ["a", "b"]) == ["a", "b"], "nothing is near: all that there is"
    assert len(nearest("a1", [f"a{i}" for i in range(50)])) == 3


@given(st.one_of(st.text(), st.integers(), st.lists(st.floats())), st.integers(5, 80))
def test_shown_is_the_repr_or_its_start(value, limit):
    text = shown(value, limit)
    assert len(text) <= limit
    assert text == repr(value) or (text.endswith("…") and repr(value).startswith(text[:-1]))


def _nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


class _Unprintable:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "part"),
    [(10**5000, "int of 16610 bits"), ([10**5000], "list"), (_nested(10**5), "list"), (_Unprintable(), "_Unprintable")],
    ids=["integer", "list", "nest", "object"],
)
def test_shown_survives_what_python_cannot_print(value, part):
    assert part in shown(value)


def test_the_ground_floor_is_light():
    code = (
        "import sys, lengthwise, lengthwise.errors, lengthwise.strings, lengthwise.limit.storage\n"
        "heavy = {'jax', 'scipy', 'matplotlib', 'flint', 'safetensors'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
