"""The ledger: its inequalities are true of the numbers, its lengths honest, and just above them real models go wrong."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from cases import LIBRARY, all_words, interpreted, program, with_begin
from lengthwise.crasp.assemble import assemble
from lengthwise.crasp.build import plan
from lengthwise.crasp.compiled import compile
from lengthwise.crasp.describe import Words
from lengthwise.crasp.ledger import DIGITS, EVALUATORS, Ledger
from lengthwise.crasp.library import library
from lengthwise.crasp.operations import operations
from lengthwise.crasp.parse import parse
from lengthwise.crasp.passes import ALL
from lengthwise.crasp.translate import Translation
from lengthwise.crasp.units import largest_value
from lengthwise.limit.counts import evaluate_counts
from limit_executor import bfloat16, execute, float32

SEQUENTIAL, ONCE = EVALUATORS["sequential_sums"], EVALUATORS["counts_divided_once"]


def single(model):
    return lw.map_arrays(model, lambda array: np.asarray(array, dtype=np.float32))


def test_every_length_is_right_in_exact_arithmetic_where_rationals_say_so():
    """The claim of every mean row, in rationals, from the matrices: sum >= cut exactly if the mean is > 0."""
    compiled = compile(library()["linear_ineq"])  # 2 a >= 3 b + 1
    model = compiled.model
    (row,) = np.flatnonzero(np.any(model.layers[0].heads[0].value != 0, axis=1))
    value = [Fraction(float(x)) for x in model.embedding @ model.layers[0].heads[0].value[row]]
    for a, b in itertools.product(range(40), repeat=2):
        mean = (value[0] + a * value[1] + b * value[2]) / (1 + a + b)
        assert (mean > 0) == (2 * a >= 3 * b + 1)
        assert abs(mean) >= compiled.ledger.margin(compiled.ledger.thresholds[0], a + b)


def test_the_bound_of_a_looked_up_value():
    """Rho in rationals: no number of other keys, whatever they hold, moves a look-up by more; it falls with the length."""
    for half in range(2, 6):
        bounds = []
        for keys in range(2, 60):
            rho = 1 / (1 + Fraction(keys**half, keys - 1))
            bounds.append(rho)
            others = keys - 2  # the begin symbol, the target, and the rest, which may all hold the opposite
            held = Fraction(keys ** (2 * half), keys ** (2 * half) + keys**half + others)
            if keys >= 3:
                assert 1 - held <= rho
            assert Fraction(others, keys ** (2 * half) + keys**half + others) <= rho
            assert Fraction(keys - 1, keys ** (3 * half) + keys - 1) <= rho  # the target is the begin symbol
            assert Fraction(keys - 1, keys**half + keys - 1) <= rho  # there is no target
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[0] == Fraction(1, 1 + 2**half)


def test_rounded_weights_move_a_looked_up_value_most_at_two_keys():
    for half in range(2, 12):
        tilt = 0.1175 * half  # 30 k u for the coarsest format there is a ledger for
        moved = [n**tilt / (1 + n**half / (n - 1)) for n in range(2, 4000)]
        assert max(moved) == moved[0]
        assert moved[0] == pytest.approx(2**tilt / (1 + 2**half))


def test_the_ledger_is_the_inequality():
    """Brute force over lengths against the search, for every kind of threshold, format and evaluator."""
    for case in ("majority", "D_12", "tomita4", "second_last_is_a", "window_majority5"):
        ledger = compile(program(case)).ledger
        for threshold in ledger.thresholds:
            for error in (*EVALUATORS.values(), lambda keys, roundoff: roundoff * math.isqrt(keys)):
                found = ledger.threshold_length(threshold, 8, error)
                right = [ledger.right(threshold, n, 8, error) for n in range(400)]
                expected = right.index(False) if False in right else None
                if expected is None:
                    assert found is None or found >= 399
                else:
                    assert found == max(expected - 1, 0)


def test_lengths_of_majority_by_hand():
    """A mean of values +-1 and 1/2: eps (n + 1/2) < 1/2; exact sums: n + 1/2 <= 2^(digits - 1)."""
    ledger = compile(library()["majority"]).ledger
    assert ledger.length(24) == 2**23 - 1
    assert ledger.length(24, ONCE) == 2**22 - 1
    assert ledger.length(24, SEQUENTIAL) == math.isqrt(2**23) - 1
    assert ledger.length(53) == 2**52 - 1
    assert ledger.length(8) == 127
    found = ledger.lengths()
    assert list(found) == list(DIGITS)
    assert found["float32"]["exact_sums"] == 2**23 - 1


def test_programs_without_counts_are_right_at_every_length():
    for case in ("last_is_a", "len_mod3_eq1"):
        assert all(
            length is None for row in compile(library()[case]).ledger.lengths().values() for length in row.values()
        )


def test_a_weight_that_is_no_number_of_the_format():
    """300 - 1/2 has ten binary digits: bfloat16 would compare with 300 or 298."""
    compiled = compile(parse("program p alphabet 'a' accept count('a') >= 300"))
    assert compiled.ledger.length(8) == 0
    assert compiled.ledger.length(24) == 2**23 - 300


@pytest.mark.parametrize("case", LIBRARY[::5])
def test_the_ledger_reads_as_a_table_and_as_json(case):
    ledger = compile(program(case)).ledger
    record = ledger.to_json()
    assert record["exact"] is None
    assert len(record["thresholds"]) == len(ledger.thresholds)
    lines = str(ledger).splitlines()
    assert lines[0].startswith("right up to length")
    assert len(lines) == 5 + 2 + len(ledger.thresholds)


# --- honest: nothing wrong up to the length, something wrong above -----------------------------------------------------

NEAR_TIES = {
    "majority": lambda n: [[0, 1] * (n // 2) + [0] * (n % 2), [1] * (n - n // 2) + [0] * (n // 2), [1, 0] * (n // 2)],
    "linear_ineq": lambda n: [
        [0] * a + [1] * b for a in range(1, n) for b in ((2 * a - 1) // 3, (2 * a - 1) // 3 + 1) if n - 3 <= a + b <= n
    ],
    "exactly3a": lambda n: [[0] * a + [1] * (n - a) for a in (2, 3, 4)] + [[1] * (n - a) + [0] * a for a in (2, 3, 4)],
    "D_2": lambda n: [[0, 1] * (n // 2), [0, 0, 1, 1] * (n // 4), [0, 1] * (n // 2 - 2) + [0, 0, 1, 1]],
    "dyck1": lambda n: [
        [0] * (n // 2) + [1] * (n // 2),
        [0, 1] * (n // 2 - 1) + [1, 0],
        [0] * (n // 2) + [1] * (n - n // 2),
    ],
    "anbn": lambda n: [[0] * (n // 2) + [1] * (n // 2), [0] * (n // 2) + [1] * (n // 2 - 1) + [0]],
    "tomita4": lambda n: [[0, 0, 1] * (n // 3), [0, 0, 1] * (n // 3 - 1) + [0, 0, 0]],
    "a_star_b_star": lambda n: [[0] * (n // 2) + [1] * (n // 2), [0] * (n // 2) + [1] * (n // 2 - 1) + [0]],
}


def wrong(model, case, length, rounded, weights_first):
    """How many outputs, at any position of the near ties of about a length, are wrong in some arithmetic."""
    found = 0
    for word in NEAR_TIES[case](length):
        words = np.array([word], dtype=np.int64)
        wanted = interpreted(program(case), words)
        found += int(np.sum((execute(model, with_begin(words), rounded, weights_first) > 0) != wanted))
    return found


def bfloat16_lengths(case, error, numbers):
    length = compile(program(case)).ledger.length(8, error)
    return sorted({max(4, length * k // numbers) for k in range(1, numbers + 1)})


@pytest.mark.parametrize("case", ["majority", "exactly3a", "D_2", "dyck1", "tomita4", "linear_ineq"])
def test_bfloat16_is_right_up_to_its_length(case):
    """Every operation rounded to 8 digits; sums one after the other, divided last: exact while they fit."""
    model = compile(program(case)).model
    for length in bfloat16_lengths(case, None, 3):
        assert wrong(model, case, length, bfloat16, weights_first=False) == 0, length


@pytest.mark.parametrize("case", ["majority", "exactly3a", "D_2", "dyck1", "linear_ineq"])
def test_bfloat16_with_weights_divided_first_is_right_up_to_the_length_of_sequential_sums(case):
    model = compile(program(case)).model
    length = compile(program(case)).ledger.length(8, SEQUENTIAL)
    for one in range(4, length + 1):
        assert wrong(model, case, one, bfloat16, weights_first=True) == 0, one


LOSING = {  # words whose sums go far and come back to a near tie
    "majority": lambda n: [1] * (n // 2 + 1) + [0] * (n // 2),
    "linear_ineq": lambda n: [0] * (n - (2 * n - 1) // 5) + [1] * ((2 * n - 1) // 5),
    "dyck1": lambda n: [0] * (n // 2) + [1] * (n // 2 + 1),
}


@pytest.mark.parametrize(("case", "weights_first"), [*((case, False) for case in LOSING), ("linear_ineq", True)])
def test_bfloat16_does_go_wrong_above(case, weights_first, monkeypatch):
    monkeypatch.setitem(NEAR_TIES, case, lambda n: [LOSING[case](n)])
    compiled = compile(program(case))
    above = compiled.ledger.length(8, SEQUENTIAL if weights_first else None) + 1
    lengths = range(above, 130, 7) if weights_first else (above + 40, 300, 521, 601)
    assert any(wrong(compiled.model, case, n, bfloat16, weights_first) for n in lengths)


def softmax_mean(values):
    """The mean at the last position as float32 attention forms it: weights 1/n first, then one sum after the other."""
    weight = np.float32(1) / np.float32(len(values))
    return float(np.cumsum(values.astype(np.float32) * weight, dtype=np.float32)[-1])


RATIOS = {  # program: symbols of which so many of the one balance so many of the other
    "linear_ineq": ("accept 2 * count('a') >= 3 * count('b') + 1", 3, 2),
    "double": ("accept count('a') >= 2 * count('b')", 2, 1),
    "prefix": ("accept 1 + 2 * count('b') <= count('a')", 2, 1),
    "four_thirds": ("accept 3 * count('a') > 4 * count('b')", 4, 3),
}


@pytest.mark.parametrize("case", RATIOS)
def test_float32_sequential_sums_are_right_up_to_their_length_and_wrong_above(case):
    """The honest length is about 1,000 to 3,000; real disagreements start between 5,000 and 60,000."""
    text, many, few = RATIOS[case]
    compiled = compile(parse(f"program {case} alphabet 'a' 'b' {text}"))
    length = compiled.ledger.length(24, SEQUENTIAL)
    (row,) = rows_of_layer_1(compiled.model)

    def disagrees(n):
        for more, less in itertools.product((-1, 0, 1, 2), (0, 1)):
            word = np.repeat([0, 1], [n * many // (many + few) + more, n * few // (many + few) + less])
            for one in (word, word[::-1]):
                values = row[with_begin(one[None])[0]]
                if len(one) <= n and (softmax_mean(values) > 0) != (values.sum() > 0):
                    return True
        return False

    assert not any(disagrees(int(n)) for n in np.geomspace(10, length, 100))
    assert any(disagrees(n) for n in range(length + 1, 60_000, 501))


def rows_of_layer_1(model):
    """The values of every token in each row of the averaging head of layer 1."""
    value = model.embedding @ model.layers[0].heads[0].value.T
    return value[:, np.any(value != 0, axis=0)].T


ONE_LAYER = {
    "majority": lambda n: [(n // 2, n - n // 2), (n // 2 + 1, n // 2 + 1), (n // 2, n // 2 + 1)],
    "linear_ineq": lambda n: [(n - (2 * n - 1) // 5 - shift, (2 * n - 1) // 5 + shift) for shift in (-1, 0, 1)],
    "exactly3a": lambda n: [(a, n) for a in (2, 3, 4)],
    "tomita1": lambda n: [(0, n), (1, n)],
    "majority4": lambda n: [(n // 4 + more, n // 4, n // 4, n // 4) for more in (0, 1)],
}


def table_of(case, counts):
    """Counts of the begin symbol and of the word's symbols, the last one of them at the end."""
    symbols = len(program(case).alphabet)
    rows = [1, *counts, *[0] * (symbols - len(counts))]
    if case == "majority4":  # it answers at the separator, the last symbol of its alphabet
        return lw.Counts([symbols], [[count] for count in rows])
    last = max(index for index, count in enumerate(rows) if count)
    rows[last] -= 1
    return lw.Counts([last], [[count] for count in rows])


def truth(case, counts):
    match case:
        case "majority":
            return counts[1] > counts[0]
        case "linear_ineq":
            return 2 * counts[0] >= 3 * counts[1] + 1
        case "exactly3a":
            return counts[0] == 3
        case "tomita1":
            return counts[0] == 0
        case "majority4":  # the first output: the first symbol beats all others
            return counts[0] > max(counts[1:])
    return None


@pytest.mark.parametrize("case", ["majority", "linear_ineq", "exactly3a", "tomita1"])
def test_float32_of_our_evaluators_is_right_up_to_its_length(case):
    model, ledger = single(compile(program(case)).model), compile(program(case)).ledger
    for n in [*np.geomspace(10, ledger.length(24) - 4, 20).astype(int), ledger.length(24) - 4]:
        for counts in ONE_LAYER[case](int(n)):
            if sum(counts) <= ledger.length(24):
                assert (evaluate_counts(model, table_of(case, counts))[0] > 0) == truth(case, counts), counts


@pytest.mark.parametrize("case", ["majority", "linear_ineq", "majority4"])
def test_float32_of_our_evaluators_does_go_wrong_above(case):
    """From 2^24 on, counts are no longer float32 numbers, and near ties are lost."""
    model, ledger = single(compile(program(case)).model), compile(program(case)).ledger
    wrong = [
        n
        for n in range(2**26 - 40, 2**26 + 40)
        for counts in ONE_LAYER[case](n)
        if (evaluate_counts(model, table_of(case, counts))[0] > 0) != truth(case, counts)
    ]
    assert wrong
    assert all(n > ledger.length(24) for n in wrong)


def test_float64_of_our_evaluators_at_a_thousand_million_million():
    """10^15 is inside the ledger's float64 length; one symbol decides."""
    compiled = compile(library()["majority"])
    assert compiled.ledger.length(53) > 10**15
    half = 10**15 // 2
    for ones in (half, half + 1):
        assert (evaluate_counts(compiled.model, table_of("majority", (half, ones)))[0] > 0) == (ones > half)


def test_float32_rounding_of_everything_on_short_words():
    """Each operation rounded to float32, all short words, programs that look back and mix."""
    for case in ("tomita4", "slt_mix", "window_mod3", "contains_ab"):
        one = program(case)
        model = compile(one).model
        for words in all_words(len(one.alphabet), 6 if len(one.alphabet) == 2 else 3):
            assert np.array_equal(execute(model, with_begin(words), float32) > 0, interpreted(one, words))


def test_the_worst_threshold_decides():
    ledger = compile(library()["D_12"]).ledger
    lengths = [ledger.threshold_length(one, 24) for one in ledger.thresholds]
    assert ledger.length(24) == min(length for length in lengths if length is not None)
    assert Ledger((), 4).length(8) is None


def test_no_value_of_a_row_is_larger_than_its_threshold_says():
    """Brute force over words: the values that every averaging head averages, against the size the ledger counts with."""
    rng = np.random.default_rng(0)
    for case in [*LIBRARY[::3], *range(60)]:
        one = program(case)
        form = operations(one)
        roots = {"accept": form.accept} if form.accept is not None else dict(form.outputs)
        translation = Translation.of(form, roots.values(), ALL, False)
        begin = ("is", translation.subjects.symbol(), 0)
        words = Words(("$", *form.alphabet))
        made = plan(
            translation.schedule, words, {name: translation.conditions[at] for name, at in roots.items()}, True, False
        )
        model = assemble(made, words, begin, True)
        names = list(model.coordinates)
        tokens = with_begin(rng.integers(0, len(one.alphabet), size=(20, 12)))
        for layer, rows in made.means.items():
            below = replace(model, layers=(*model.layers[: layer - 1], lw.Layer()), unembedding=np.eye(model.width))
            head = model.layers[layer - 1].heads[0]
            written = np.flatnonzero(np.any(head.value != 0, axis=1))
            values = np.abs(execute(below, tokens) @ head.value.T)[:, 1:, written].max(axis=(0, 1))
            assert len(written) == len(rows)
            slopes = sorted(largest_value(row, begin) for row in rows.values())
            assert all(found <= slope for found, slope in zip(sorted(values), slopes, strict=True)), (case, names)
