"""The protocol of Theorem 12: the second half computes its activations from the message alone, and the message is short."""

import csv
import functools
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers_quantities import random_two_layer
from lengthwise.crasp.compiled import compile
from lengthwise.crasp.library import library
from lengthwise.errors import WrongInput
from lengthwise.limit.dense import dense_layer, embed
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import Head, Layer, LimitTransformer
from lengthwise.verdict.communication import communication
from lengthwise.verdict.machine import ProgramMachine
from lengthwise.verdict.message_bits import code, cost, message_counts
from lengthwise.verdict.protocol import continued, message

PROGRAMS = library()
TABLE = {  # of the facts, section 8: different messages for N = 1, 2, ...
    "majority": (2, 4, 6, 8, 10, 12, 14, 16, 18, 20),
    "dyck1": (2, 4, 8, 14, 22, 32, 44, 58, 74, 92),
    "tomita4": (2, 4, 8, 16, 32, 64, 104, 160, 240, 344),
    "tomita7": (2, 4, 8, 16, 32, 62, 114, 198, 326, 512),
    "abab_star": (2, 4, 6, 8, 10, 12, 14, 16, 18, 20),
    "contains_ab": (3, 9, 18, 45, 81, 126, 180),
    "anbncn": (3, 9, 27, 63, 123, 213, 339),
}


@functools.cache
def compiled(name, **options):
    return compile(PROGRAMS[name], **options)


def rows_of(model, string):
    """The activations of the whole string before and after every layer, from the definition."""
    rows = [embed(model, np.asarray(string))]
    for layer in model.layers:
        rows.append(dense_layer(model, layer, rows[-1], 0, 1024))
    return rows


def difference(model, string, cut, change=lambda sent: sent, window=None):
    """The largest difference of an activation of the second half, computed from the message and from the definition."""
    sent = change(message(model, string[:cut], len(string), window))
    found = continued(model, sent, string[cut:], len(string))
    return max(np.abs(one - all_[cut:]).max() for one, all_ in zip(found, rows_of(model, string), strict=True))


def words(symbols, length):
    return itertools.product(range(1, symbols), repeat=length)


# --- the second half knows all of its activations


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_activation_of_the_second_half_follows_from_the_message(name):
    rng = np.random.default_rng(len(name))
    for offset_invariant in (False, True) if name != "majority26" else (False,):
        model = compiled(name, offset_invariant=offset_invariant).model
        for size in (2, 7, 30, 118) if model.width < 150 else (12,):
            string = np.array([0, *rng.integers(1, model.symbols, size)])
            cut = int(rng.integers(1, size + 1))
            assert difference(model, string, cut) < 1e-12
            assert difference(model, string, cut, window=model.locality) < 1e-12


def test_outputs_too_and_on_words_where_they_matter():
    for name, word in (("dyck1", "()" * 40), ("anbncn", "a" * 20 + "b" * 20 + "c" * 20), ("tomita4", "001" * 25)):
        made = compiled(name)
        string = [made.model.names.index(symbol) for symbol in (made.begin, *word)]
        for cut in range(1, len(string), 7):
            rows = continued(made.model, message(made.model, string[:cut], len(string)), string[cut:], len(string))
            wanted = evaluate(made.model, string, positions="all")[cut:]
            assert np.abs(rows[-1] @ made.model.unembedding.T - wanted).max() < 1e-12
            assert (wanted[-1, 0] > 0) == (rows[-1][-1] @ made.model.unembedding[0] > 0)


@pytest.mark.parametrize("rule", ["plain", "log-length", "log-suffix"])
def test_the_protocol_is_about_any_limit_transformer(rule):
    """Keys may take as many values as there are positions; then the message is long, and still enough."""
    rng = np.random.default_rng(3)
    for seed in range(20):
        made = random_two_layer(np.random.default_rng(seed), ("relu", "tanh"))
        model = replace(made, attention=rule, bits=4 if rule == "log-length" and seed % 2 else None)
        string = rng.integers(0, model.symbols, 25)
        assert difference(model, string, int(rng.integers(1, 25))) < 1e-10


def test_text_is_read_and_what_makes_no_sense_is_refused():
    model = compiled("dyck1").model
    rows = continued(model, message(model, "$(()(", 8), ")))", 8)
    wanted = rows_of(model, [0, 1, 1, 2, 1, 2, 2, 2])
    assert all(np.abs(one - all_[5:]).max() < 1e-12 for one, all_ in zip(rows, wanted, strict=True))
    for first in ("", "$(x", [0, 1, 7], [0] * 8):
        with pytest.raises(WrongInput):
            message(model, first, 8)


# --- and needs what the message says


def spoilt(sent, depth, number):
    """The message without one value that is not 0 in one of its sums."""
    known = sent[depth].heads[number]
    sums = known.sums.copy()
    at = tuple(np.argwhere(sums)[0])
    sums[at] -= np.sign(sums[at])
    heads = list(sent[depth].heads)
    heads[number] = replace(known, sums=sums)
    return (*sent[:depth], replace(sent[depth], heads=tuple(heads)), *sent[depth + 1 :])


@pytest.mark.parametrize("name", TABLE)
def test_a_missing_summand_is_noticed(name):
    model, rng, tried = compiled(name).model, np.random.default_rng(0), 0
    for depth, layer in enumerate(model.layers):
        for number in range(len(layer.heads)):
            for _ in range(5):
                string = np.array([0, *rng.integers(1, model.symbols, 12)])
                if not np.any(message(model, string[:7], 13)[depth].heads[number].sums):
                    continue
                tried += 1
                assert difference(model, string, 7, lambda sent, d=depth, h=number: spoilt(sent, d, h)) > 1e-10
    assert tried >= 5


@pytest.mark.parametrize("name", ["tomita4", "contains_ab"])
def test_a_window_below_the_locality_is_too_short(name):
    model = compiled(name).model
    strings = [np.array([0, *word]) for word in words(model.symbols, 5)]
    assert max(difference(model, string, 4, window=model.locality) for string in strings) < 1e-12
    assert max(difference(model, string, 4, window=model.locality - 1) for string in strings) > 0.5


def test_counts_of_keys_are_needed():
    """A head that tells two keys apart: with one key more counted the mean moves."""
    head = Head([[1.0, 0.0]], [[1.0, 1.0]], np.eye(2))
    model = LimitTransformer(embedding=np.eye(2), layers=(Layer((head,)),), unembedding=np.eye(2), attention="plain")
    string = np.array([0, 1, 1, 0, 1, 0])

    def one_more(sent):
        known = sent[0].heads[0]
        return (replace(sent[0], heads=(replace(known, counts=known.counts + 1),)),)

    assert difference(model, string, 4) < 1e-15
    assert difference(model, string, 4, one_more) > 0.01


# --- how many messages there are


def in_full(model, sent):
    """The message word for word: rows with all their coordinates, and the sums; equal up to 1e-9 is equal."""
    known = [(s.window, *(part for far in s.heads for part in (far.keys, far.counts, far.sums))) for s in sent]
    return tuple(np.round(part + 0.0, 9).tobytes() for parts in known for part in parts)


@pytest.mark.parametrize("name", TABLE)
def test_the_messages_of_the_facts(name):
    """With the last rows sent in full, what heads have written there included, over all words."""
    model = compiled(name).model
    lengths = range(1, 9 if model.symbols == 3 else 5)
    for length in lengths:
        sent = (message(model, (0, *word), 2 * length + 1) for word in words(model.symbols, length))
        assert len({in_full(model, one) for one in sent}) == TABLE[name][length - 1]


@pytest.mark.parametrize("name", TABLE)
def test_the_messages_that_are_told(name):
    """As many as over all words; those of the facts where no head looks back, fewer where one does."""
    made = compiled(name)
    counts = message_counts(made, 7)
    for length in range(1, 8 if made.model.symbols == 3 else 5):
        sent = (message(made.model, (0, *word), 2 * length + 1) for word in words(made.model.symbols, length))
        assert len({code(made, one) for one in sent}) == counts[length - 1]
    if made.model.locality == 0:
        assert counts == TABLE[name][:7]
    assert all(ours <= theirs for ours, theirs in zip(counts, TABLE[name], strict=False))


@pytest.mark.parametrize("name", TABLE)
def test_the_bits_lie_between_the_messages_and_the_line(name):
    made, longest = compiled(name), 6
    price = cost(made)
    counts = message_counts(made, longest)
    lean = message_counts(made, longest, window=made.model.locality)
    rows = communication(ProgramMachine(PROGRAMS[name]), 2 * longest).rows
    for half, (sent, least, row) in enumerate(zip(counts, lean, rows, strict=True), 1):
        assert row.rows <= least <= sent <= 2 ** price.bits(half)
    for half in (*range(1, 300), 10**6, 10**30):
        assert price.bits(half) <= price.line(half)
    assert price.bits(10**30) >= price.line(10**30) - 2 * len(
        price.spreads
    )  # and the line is no looser than it must be


def test_sums_range_as_far_as_they_are_said_to():
    """Every sum that is sent fits its code, and for majority all values of it occur."""
    for name in TABLE:
        made = compiled(name)
        numbers = np.array([code(made, message(made.model, (0, *w), 15)) for w in words(made.model.symbols, 5)])
        spread = (np.ptp(numbers, axis=0) / 2).max()
        assert 0 < spread <= 5 * max(cost(made).spreads)
    assert cost(compiled("majority")).spreads == (2,)
    assert message_counts(compiled("majority"), 9, window=0) == tuple(
        range(2, 11)
    )  # exactly the rows: nothing is wasted


def test_the_numbers_behind_the_figure():
    """The counts of the facts to their end where no head looks back, and everything in its order."""
    table = Path(__file__).parent.parent / "docs" / "protocol.csv"
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for name, counted in TABLE.items():
        made, found = compiled(name), [row for row in rows if row["program"] == name]
        assert all(int(row["bits"]) == cost(made).bits(int(row["half"])) <= float(row["line"]) + 1e-4 for row in found)
        known = [row for row in found if row["messages"]]
        assert all(int(row["rows"]) <= int(row["fewest_messages"]) <= int(row["messages"]) for row in known)
        if made.model.locality == 0:
            assert tuple(int(row["messages"]) for row in known)[: len(counted)] == counted
