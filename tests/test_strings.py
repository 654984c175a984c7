"""Strings and counts against their definitions, by brute force over all small strings."""

import itertools
import json
import time

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import WrongInput, shown
from lengthwise.limit.validate import check_names
from lengthwise.strings import Counts, class_size, decode, encode, read_counts, read_strings, split_text

CHARACTERS = st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zs", "Zl", "Zp"])
LETTERS = st.lists(CHARACTERS, min_size=1, max_size=8, unique=True)
WORDS = st.lists(st.text(CHARACTERS, min_size=1, max_size=4), min_size=1, max_size=8, unique=True)


def brief(value):
    """A parameter's name in the list of tests; pytest itself would print integers too long to print."""
    return shown(value, 30)


def refused(function, *arguments):
    """The error a call ends in."""
    with pytest.raises(WrongInput) as caught:
        list(function(*arguments))
    return caught.value


def read(content, names="01", source="f.txt"):
    """The strings of a file with this content, as lists."""
    return [string.tolist() for string in read_strings(content.splitlines(keepends=True), names, source)]


# encode, decode, split_text


@given(st.one_of(LETTERS, WORDS), st.data())
def test_what_is_decoded_encodes_to_the_same_string(names, data):
    indices = data.draw(st.lists(st.integers(0, len(names) - 1), min_size=1, max_size=30))
    assert check_names(names, len(names), "tokens") == tuple(names)
    text = decode(indices, names)
    assert encode(text, names).tolist() == indices
    assert encode("\t " + "  ".join(names[index] for index in indices) + "\r\n", names).tolist() == indices
    assert encode([names[index] for index in indices], names).tolist() == indices
    assert encode(indices, names).tolist() == indices
    assert encode(np.array(indices, dtype=np.int32), names).tolist() == indices
    (line,) = read_strings([text.encode()], names, "file")
    assert line.tolist() == indices
    assert line.dtype == np.int64


@pytest.mark.parametrize(
    ("text", "names", "tokens"),
    [
        ("0110", "01", ["0", "1", "1", "0"]),
        (" 0 1\t10 ", "01", ["0", "1", "10"]),
        ("0110", ["0", "10"], ["0110"]),
        ("ab ab", ["ab", "c"], ["ab", "ab"]),
        ("🙂🙃", "🙂🙃", ["🙂", "🙃"]),
        ("👨‍👩‍👧 a", ["👨‍👩‍👧", "a"], ["👨‍👩‍👧", "a"]),
        ("a\u00a0b\u3000c", "abc", ["a", "b", "c"]),
        ("", "01", []),
        (" \n", ["ab"], []),
    ],
)
def test_text_is_cut_at_blanks_or_into_characters(text, names, tokens):
    assert split_text(text, names) == tokens


def test_strings_come_in_every_form():
    for string in ("011", ["0", "1", "1"], [0, 1, 1], (0, 1, 1), np.array([0, 1, 1]), jnp.array([0, 1, 1]), range(0)):
        if len(string):
            assert encode(string, "01").tolist() == [0, 1, 1]
        else:
            assert "no tokens" in refused(encode, string, "01").got


@pytest.mark.parametrize(
    ("string", "names", "got", "where"),
    [
        ("", "01", "no tokens", ""),
        ("  ", "01", "no tokens", ""),
        ([], "01", "no tokens", ""),
        ("012", "01", "'2'", "position 3"),
        (["0", "2"], "01", "'2'", "position 2"),
        ([0, 1, 2], "01", "2", "position 3"),
        ([0, -1], "01", "-1", "position 2"),
        ([0, "1"], "01", "[0, '1']", ""),
        ([0, 1.0], "01", "[0, 1.0]", ""),
        ([0, True], "01", "True", ""),
        ([10**30], "01", "1000", ""),
        ([10**5000], "01", "list", ""),
        ([[0, 1]], "01", "[[0, 1]]", ""),
        (np.array([0.0, 1.0]), "01", "float64", ""),
        (np.array([True]), "01", "bool", ""),
        (np.array([[0, 1]]), "01", "(1, 2)", ""),
        (np.array([2**64 - 1], dtype=np.uint64), "01", "18446744073709551615", "position 1"),
        (np.array([], dtype=np.int64), "01", "no tokens", ""),
        (5, "01", "5", ""),
        (None, "01", "None", ""),
        (b"01", "01", "b'01'", ""),
        ({"0": 1}, "01", "{'0': 1}", ""),
        ({"0"}, "01", "{'0'}", ""),
    ],
)
def test_what_is_no_string_is_named(string, names, got, where):
    error = refused(encode, string, names)
    assert got in error.got
    assert error.where == where


def test_an_unknown_token_comes_with_its_nearest():
    error = refused(encode, "open clse", ["open", "close", "stop"])
    assert (error.got, error.where) == ("'clse'", "position 2")
    assert error.remedy == "nearest: close"


# files of strings


def test_a_file_is_read_line_by_line():
    assert read(b"01\n1 0 0\n1") == [[0, 1], [1, 0, 0], [1]]


def test_line_ends_byte_order_marks_and_tabs_are_no_tokens():
    assert read(b"\xef\xbb\xbf01\r\n1\t0\r\n") == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("content", "got", "where"),
    [
        (b"", "an empty file", "f.txt"),
        (b"01\n\n1\n", "no tokens", "f.txt, line 2"),
        (b"01\n  \n", "no tokens", "f.txt, line 2"),
        (b"\xef\xbb\xbf", "no tokens", "f.txt, line 1"),
        (b"01\n\xef\xbb\xbf1\n", "'", "f.txt, line 2, position 1"),
        (b"01\n1\xff0\n", "byte 0xff at byte 2", "f.txt, line 2"),
        ("01\n".encode("utf-16"), "byte 0xff at byte 1", "f.txt, line 1"),
        ("01\n".encode("utf-16-le"), "'\\x00'", "f.txt, line 1, position 2"),
        (b"\xed\xa0\x80\n", "byte 0xed", "f.txt, line 1"),
        (b"01\n12\n", "'2'", "f.txt, line 2, position 2"),
    ],
)
def test_a_line_that_is_no_string_is_named(content, got, where):
    error = refused(read, content)
    assert got in error.got
    assert error.where == where


def test_lines_ended_by_carriage_returns_alone_are_not_joined():
    assert "carriage return" in refused(read_strings, [b"0 1\r1 0\r"], "01", "f.txt").got


def test_lines_before_a_bad_one_are_read_and_none_is_read_ahead():
    def lines():
        yield b"01\n"
        yield b"2\n"
        raise AssertionError("read ahead")

    strings = read_strings(lines(), "01", "file")
    assert next(strings).tolist() == [0, 1]
    with pytest.raises(WrongInput, match="line 2"):
        next(strings)


@pytest.mark.parametrize("glue", [b"", b" "])
def test_a_million_tokens_within_a_second(glue):
    line = glue.join([b"0", b"1"] * 500_000)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        (string,) = read_strings([line], "01", "file")
        seconds.append(time.process_time() - start)
    assert string.shape == (1_000_000,)
    assert string.sum() == 500_000
    assert min(seconds) < 1


# counts


def residue_counts(string, symbols, period):
    """table[token][residue] of a whole string, from the definition."""
    places = list(enumerate(string, start=1))
    return tuple(
        tuple(sum(token == s and i % period == r for i, token in places) for r in range(period)) for s in range(symbols)
    )


@pytest.mark.parametrize("period", [1, 2, 3, 5])
def test_class_size_is_the_number_of_positions(period):
    for prefix, residue in itertools.product(range(20), range(period)):
        assert class_size(prefix, residue, period) == sum(i % period == residue for i in range(1, prefix + 1))


@pytest.mark.parametrize(("symbols", "period", "locality"), [*itertools.product([1, 2, 3], [1, 2, 3], [0, 1, 3])])
def test_counts_of_every_small_string(symbols, period, locality):
    for length in range(1, 6):
        for string in itertools.product(range(symbols), repeat=length):
            counts = Counts.of(np.array(string), symbols, period, locality)
            cut = max(0, length - locality - 1)
            assert counts.suffix == string[cut:]
            assert counts.table == residue_counts(string[:cut], symbols, period)
            sizes = (counts.symbols, counts.period, counts.prefix_length, counts.length)
            assert sizes == (symbols, period, cut, length)


@pytest.mark.parametrize(("symbols", "period"), [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
def test_counts_are_accepted_exactly_when_some_string_has_them(symbols, period):
    largest = 3 if symbols * period < 6 else 1
    longest = symbols * period * largest
    realised = {
        residue_counts(string, symbols, period)
        for length in range(longest + 1)
        for string in itertools.product(range(symbols), repeat=length)
    }
    verdicts = set()
    for entries in itertools.product(range(largest + 1), repeat=symbols * period):
        table = tuple(entries[s * period : (s + 1) * period] for s in range(symbols))
        if table in realised:
            assert Counts((0,), table).table == table
        else:
            assert refused(Counts, (0,), table).where.startswith("table, residue ")
        verdicts.add(table in realised)
    assert verdicts == ({True} if period == 1 else {True, False})


@given(st.integers(1, 7), st.integers(10**59, 10**61), st.data())
def test_counts_of_huge_strings_are_exact(period, prefix, data):
    columns = [prefix // period if r == 0 else (prefix - r) // period + 1 for r in range(period)]
    first = [data.draw(st.integers(0, size)) for size in columns]
    table = [first, [size - count for size, count in zip(columns, first, strict=True)]]
    counts = Counts([1, 0, 1], table)
    assert counts.prefix_length == prefix
    assert counts.length == prefix + 3
    assert counts.table == tuple(map(tuple, table))
    assert read_counts(json.dumps({"suffix": "101", "table": table}).encode(), "01", "f")[0].table == counts.table
    if period > 1:
        table[0][0] += 1
        table[1][1] = max(0, table[1][1] - 2)  # the sum moves too, whatever the residues
        assert "no string has these counts" in refused(Counts, [0], table).remedy


def test_counts_take_any_integers_and_nothing_changes_them_afterwards():
    table = np.array([[1, 1], [1, 2]])
    counts = Counts(np.array([0, 1]), table)
    table[0, 0] = 9
    assert counts.table == ((1, 1), (1, 2))
    assert {type(entry) for entry in (*counts.suffix, *counts.table[0])} == {int}
    assert Counts(iter([0]), (iter([0]) for _ in range(2))).table == ((0,), (0,))


@pytest.mark.parametrize(
    ("suffix", "table", "got", "where"),
    [
        ([], [[0]], "an empty suffix", "suffix"),
        ([2], [[0], [0]], "token 2", "suffix"),
        ([-1], [[0]], "-1", "suffix[0]"),
        ([0, 1.0], [[0], [0]], "1.0", "suffix[1]"),
        ([True], [[0], [0]], "True", "suffix[0]"),
        (["0"], [[0]], "'0'", "suffix[0]"),
        ([10**5000], [[0]], "int of 16610 bits", "suffix"),
        ("0", [[0]], "'0'", "suffix"),
        (b"\x00", [[0]], "b'", "suffix"),
        ({0}, [[0]], "{0}", "suffix"),
        (0, [[0]], "0", "suffix"),
        ([0], [], "rows of lengths []", "table"),
        ([0], [[]], "rows of lengths [0]", "table"),
        ([0], [[1, 1], [1]], "rows of lengths [1, 2]", "table"),
        ([0], [0, 0], "0", "table[0]"),
        ([0], [[0], "0"], "'0'", "table[1]"),
        ([0], {0: [0]}, "{0: [0]}", "table"),
        ([0], None, "None", "table"),
        ([0], [[0, 0], [0, -1]], "-1", "table[1][1]"),
        ([0], [[0, 0.5]], "0.5", "table[0][1]"),
        ([0], [[False]], "False", "table[0][0]"),
        ([0], [[np.True_]], "True", "table[0][0]"),
        ([0], [[[0]]], "[0]", "table[0][0]"),
        ([0], [[1, 0]], "counts that sum to 1", "table, residue 0"),
        ([0], [[10**60, 0]], "counts that sum to 1000", "table, residue 0"),
        ([0], [[10**5000, 0]], "int of 16610 bits", "table, residue 0"),
    ],
    ids=brief,
)
def test_counts_that_are_none_are_named(suffix, table, got, where):
    error = refused(Counts, suffix, table)
    assert got in error.got
    assert error.where == where


@pytest.mark.parametrize(
    ("arguments", "got"),
    [((2, 0, 0), "0 and 0"), ((2, 1, -1), "1 and -1"), ((1, 1, 0), "1"), ((2, -1, 0), "-1 and 0")],
)
def test_counts_of_a_string_that_does_not_fit(arguments, got):
    assert got in refused(Counts.of, np.array([0, 1, 0]), *arguments).got


# files of counts

TABLE = [[1, 1], [1, 2]]


@pytest.mark.parametrize("suffix", ["ba", "b a", ["b", "a"], [1, 0]])
def test_a_suffix_in_a_file_is_text_names_or_indices(suffix):
    text = json.dumps({"suffix": suffix, "table": TABLE}).encode()
    for content in (text, b"\xef\xbb\xbf" + text, b"[" + text + b"]"):
        (counts,) = read_counts(content, "ab", "c.json")
        assert counts.suffix == (1, 0)
        assert counts.table == ((1, 1), (1, 2))


def test_names_of_digits_are_names_when_they_are_text():
    (counts,) = read_counts(b'{"suffix": ["1", "0"], "table": [[0], [0]]}', ["1", "0"], "c.json")
    assert counts.suffix == (0, 1)


def test_a_list_of_counts_keeps_its_order():
    text = json.dumps([{"suffix": "a", "table": [[n], [0]]} for n in (3, 1, 2)]).encode()
    assert [counts.prefix_length for counts in read_counts(text, "ab", "c.json")] == [3, 1, 2]


@pytest.mark.parametrize("digits", [16, 60, 4300])
def test_integers_of_any_size_survive_a_file(digits):
    whole = 10**digits - 1
    (counts,) = read_counts(b'{"suffix": "a", "table": [[' + b"9" * digits + b"]]}", "a", "c.json")
    assert counts.prefix_length == whole


@pytest.mark.parametrize(
    ("text", "got", "where"),
    [
        (b"", "line 1, column 1", "c.json"),
        (b"{", "line 1, column 2", "c.json"),
        (b"\xff", "byte 0xff", "c.json"),
        (b"null", "None", "c.json"),
        (b"[]", "an empty list", "c.json"),
        (b"[1]", "1", "c.json, entry 1"),
        (b'{"suffix": "a"}', "{'suffix': 'a'}", "c.json"),
        (b'{"suffix": "a", "table": [[0]], "length": 1}', "length", "c.json"),
        (b'{"suffix": "a", "table": [[0]], "suffix": "a"}', "'suffix' twice", "c.json"),
        (b'{"suffix": "c", "table": [[0], [0]]}', "'c'", "c.json, suffix, position 1"),
        (b'{"suffix": "", "table": [[0], [0]]}', "no tokens", "c.json, suffix"),
        (b'{"suffix": [], "table": [[0], [0]]}', "no tokens", "c.json, suffix"),
        (b'{"suffix": [2], "table": [[0], [0]]}', "2", "c.json, suffix, position 1"),
        (b'{"suffix": [0, "a"], "table": [[0], [0]]}', "[0, 'a']", "c.json, suffix"),
        (b'{"suffix": [true], "table": [[0], [0]]}', "[True]", "c.json, suffix"),
        (b'{"suffix": {"a": 1}, "table": [[0], [0]]}', "{'a': 1}", "c.json, suffix"),
        (b'{"suffix": null, "table": [[0], [0]]}', "None", "c.json, suffix"),
        (b'{"suffix": [1.0], "table": [[0], [0]]}', "1.0", "c.json"),
        (b'{"suffix": "a", "table": [[0]]}', "1", "c.json, table"),
        (b'{"suffix": "a", "table": [[0], [0], [0]]}', "3", "c.json, table"),
        (b'{"suffix": "a", "table": [[1e3], [0]]}', "1e3", "c.json"),
        (b'{"suffix": "a", "table": [[NaN], [0]]}', "NaN", "c.json"),
        (b'{"suffix": "a", "table": [[-Infinity], [0]]}', "-Infinity", "c.json"),
        (b'{"suffix": "a", "table": [[true], [0]]}', "True", "c.json, table[0][0]"),
        (b'{"suffix": "a", "table": [["1"], [0]]}', "'1'", "c.json, table[0][0]"),
        (b'{"suffix": "a", "table": [[-1], [0]]}', "-1", "c.json, table[0][0]"),
        (b'{"suffix": "a", "table": {"a": [0], "b": [0]}}', "{'a': [0]", "c.json, table"),
        (b'{"suffix": "a", "table": [[2, 0], [0, 0]]}', "sum to 2", "c.json, table, residue 0"),
        (b'[{"suffix": "a", "table": [[0], [0]]}, {}]', "{}", "c.json, entry 2"),
        (b'{"suffix": "a", "table": [[' + b"9" * 4301 + b"], [0]]}", "one of 4301", "c.json"),
        (b'{"suffix": "a", "table": [[-' + b"9" * 5000 + b"], [0]]}", "one of 500", "c.json"),
        (b"[" * 10**6, "deeper", "c.json"),
        (b'{"suffix": ' * 10**5, "deeper", "c.json"),
        (b'{"suffix": "a", "table": ' + b"[" * 500 + b"]" * 500 + b"}", "[", "c.json, table[0][0]"),
    ],
    ids=brief,
)
def test_a_file_that_holds_no_counts_is_named(text, got, where):
    error = refused(read_counts, text, "ab", "c.json")
    assert got in error.got
    assert error.where == where
