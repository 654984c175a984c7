"""Shortest prefixes by integer program: the note's numbers, and brute force over all count tables."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from helpers_quantities import random_one_layer, table_model
from lengthwise.errors import WrongInput
from lengthwise.exact import certainly_at_most
from lengthwise.limit.constructions import kgram_and, mod_p_task, simple_task
from lengthwise.limit.model import Layer
from lengthwise.theory.errors import Reading, distance
from lengthwise.theory.realise import by_type
from lengthwise.theory.shortest_prefix import Allowance, Wanted, shortest_prefix, units
from lengthwise.type_counts import Counts, class_size


def uniform(model):
    """The same values and read-out under uniform attention."""
    layer = model.layers[0]
    return replace(model, layers=(Layer(tuple(replace(h, key=h.key * 0) for h in layer.heads), layer.mlp),))


def wanted(models, counts, budgets, least=1, fits=None):
    """The heads of models, one each, with budgets eta; a prefix fits if every total variation is within, exactly."""
    readings = tuple(Reading.of(model, counts) for model in models)
    heads = {(index, 0): Allowance(Fraction(1), Fraction(budget)) for index, budget in enumerate(budgets)}
    asked = Wanted(readings, counts, heads, least, fits or (lambda table: True))

    def within(table):
        return all(
            asked.mixture(head, range(len(table))).variation(asked.table, table) <= one.budget
            for head, one in heads.items()
        )

    return replace(asked, fits=fits or within)


F2 = simple_task(2, bits=4)
SIMPLE = (F2, uniform(F2))


@pytest.mark.parametrize(
    ("counts", "query", "length"),
    [
        ((3, 5, 100_000), 2, 24),
        ((700, 300, 10**6), 2, 32),
        ((600_000, 300_000, 100_000), 0, 16),
        ((1, 40, 9958), 0, 55),
    ],
)
def test_simple_task_against_uniform(counts, query, length):
    asked = wanted(SIMPLE, Counts((query,), [[n] for n in counts]), ["1/8", "1/8"], least=16)
    found = shortest_prefix(asked, "variation")
    assert sum(found.table) + 1 == length
    assert found.bound + 1 == length
    assert found.finished


def test_mod_p_task():
    counts = Counts((1,), [[9993, 4000, 0], [7, 6001, 10000]])
    models = (mod_p_task(3, 0, bits=4), mod_p_task(3, 1, bits=4))
    found = shortest_prefix(wanted(models, counts, ["1/10", "1/10"], least=16), "variation")
    assert sum(found.table) + 1 == 17


CHAIN = (table_model([1, 1, 0, 0], [1, 2, 3, 4], bits=1), table_model([0, 1, 1, 0], [1, 2, 3, 4], bits=1))


def test_chain():
    counts = Counts((3,), [[1000], [8000], [64000], [0]])
    found = shortest_prefix(wanted(CHAIN, counts, ["1/10", "1/10"], least=2), "variation")
    assert sum(found.table) + 1 == 21


def tables(size, counts, allowed):
    """All prefixes of a class size over the allowed types, in no special order."""
    period, prefix = counts.period, counts.prefix_length
    columns = []
    for residue in range(period):
        places = size + class_size(prefix, residue, period) - prefix // period
        types = [t for t in allowed if t % period == residue]
        columns.append(
            [
                dict(
                    zip(
                        types,
                        (b - a - 1 for a, b in itertools.pairwise((-1, *bars, places + len(types) - 1))),
                        strict=True,
                    )
                )
                for bars in itertools.combinations(range(places + len(types) - 1), len(types) - 1)
            ]
            if types
            else [{}] * (places == 0)
        )
    for parts in itertools.product(*columns):
        chosen = {t: count for part in parts for t, count in part.items()}
        yield tuple(chosen.get(t, 0) for t in range(counts.symbols * period))


def shortest_by_enumeration(asked, support):
    """The least class size at which some table fits, with an attended type present where no suffix position ties."""
    counts = asked.original
    allowed = asked.allowed(support)
    smallest, largest = asked.sizes(asked.least, None)
    mixtures = {asked.mixture(head, allowed) for head in asked.heads}
    for size in range(smallest, largest + 1):
        for table in tables(size, counts, allowed):
            if all(one.near or any(table[t] for t, _ in one.weights) for one in mixtures if one.weights) and asked.fits(
                table
            ):
                return size
    return None


def random_instance(rng):
    """Two random one-layer models with ties, and a random long string."""
    symbols, period = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    first = random_one_layer(rng, symbols, period, masks=False)
    second = random_one_layer(rng, symbols, period, masks=False)
    locality = max(first.locality, second.locality)
    period = int(np.lcm(first.period, second.period))
    prefix = int(rng.integers(4 * period, 16 * period))
    table = np.zeros((symbols, period), dtype=int)
    for residue in range(period):
        share = rng.dirichlet(rng.choice([0.2, 1.0, 5.0], size=symbols))
        table[:, residue] = rng.multinomial(class_size(prefix, residue, period), share)
    counts = Counts(tuple(int(s) for s in rng.integers(0, symbols, locality + 1)), table.tolist())
    readings = (Reading.of(first, counts), Reading.of(second, counts))
    budget = Fraction(1, int(rng.integers(3, 12)))
    heads = {
        (m, h): Allowance(Fraction(1), budget) for m, reading in enumerate(readings) for h in range(len(reading.views))
    }
    return readings, counts, heads


@pytest.mark.parametrize("support", ["same", "any"])
def test_no_table_is_shorter(support):
    """The TV mode against all count tables, exactly."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        readings, counts, heads = random_instance(rng)
        asked = Wanted(readings, counts, heads, 1, lambda table: True)
        allowed = asked.allowed(support)
        kept = {head: asked.mixture(head, allowed) for head in heads}

        def fits(table, asked=asked, kept=kept, heads=heads):
            return all(
                one.variation(asked.table, table) <= heads[head].budget for head, one in kept.items() if one.weights
            )

        asked = replace(asked, fits=fits)
        found = shortest_prefix(asked, "variation", support)
        wished = shortest_by_enumeration(asked, support)
        assert sum(found.table) // counts.period == wished == found.bound


def lipschitz_error(asked, unit, table):
    """max_c |Lin d|_c + sum_j rad_j |W_cj| |(A d)_j| for the change of a unit's mean, from its definition."""
    change = tuple(a - b for a, b in zip(unit.mean(table), unit.mean(asked.table), strict=True))
    outputs = unit.outputs
    return max(
        abs(line) + sum(s * abs(d) for s, d in zip(swing, change[outputs:], strict=True))
        for line, swing in zip(unit.linear(change), unit.swing, strict=True)
    )


def test_slopes_against_enumeration():
    rng = np.random.default_rng(8)
    for _ in range(25):
        readings, counts, heads = random_instance(rng)
        heads = {head: Allowance(Fraction(int(rng.integers(1, 5)), 8), Fraction(1, 3)) for head in heads}
        asked = Wanted(readings, counts, heads, 1, lambda table: True)
        pairs = units(asked, asked.allowed("same"))

        def fits(table, asked=asked, pairs=pairs):
            return all(lipschitz_error(asked, unit, table) <= share for unit, share in pairs if unit.rows)

        asked = replace(asked, fits=fits)
        shares = tuple(share for _, share in pairs)
        found = shortest_prefix(asked, "slopes", splits=[shares])
        assert sum(found.table) // counts.period == shortest_by_enumeration(asked, "same") == found.bound


def test_a_box_is_exact_where_the_read_out_is_monotone():
    """SimpleTask with small omega: sin is monotone on [-1, 1], so the box is exactly |f(z) - f(x)| <= error."""
    for omega, counts, query in ((1, (20, 7, 3), 2), (1, (3, 30, 1), 0), (1, (9, 9, 14), 1)):
        model = simple_task(omega, bits=4)
        string = Counts((query,), [[n] for n in counts])
        heads = {(0, 0): Allowance(Fraction(2 * omega), Fraction(1, 40))}
        reading = Reading.of(model, string)
        long = reading.outputs(by_type(string), 10**9)

        def fits(table, reading=reading, long=long, error=Fraction(omega, 20)):
            return certainly_at_most(distance(long, reading.outputs(table, 10**9)), error)

        asked = Wanted((reading,), string, heads, 1, fits)
        found = shortest_prefix(asked, "box")
        assert sum(found.table) == shortest_by_enumeration(asked, "same") == found.bound


def test_each_mode_is_at_most_as_long_as_the_one_before():
    rng = np.random.default_rng(9)
    shorter = 0
    for _ in range(8):
        omega, counts = int(rng.integers(1, 5)), np.exp(rng.uniform(0, 12, 3)).astype(int) + 1
        models = (simple_task(omega, bits=4), uniform(simple_task(omega, bits=4)))
        string = Counts((int(rng.integers(3)),), [[int(n)] for n in counts])
        readings = tuple(Reading.of(model, string) for model in models)
        heads = {(m, 0): Allowance(Fraction(2 * omega), Fraction(1, 8 * omega)) for m in range(2)}
        asked = Wanted(readings, string, heads, 1, lambda table: True)
        sizes = [sum(shortest_prefix(asked, mode).table) for mode in ("variation", "slopes", "box")]
        assert sizes[0] >= sizes[1] >= sizes[2]
        shorter += sizes[2] < sizes[0]
    assert shorter > 2


def test_a_proposal_that_fails_the_exact_check_is_not_returned():
    counts = Counts((2,), [[30], [50], [1000]])
    assert shortest_prefix(wanted(SIMPLE, counts, ["1/8", "1/8"], fits=lambda table: False), "variation") is None


def test_types_that_are_not_in_the_string_can_make_it_shorter_and_keep_the_hardmax():
    """A third value near the mean of two stands in for both; the gap it brings is checked."""
    model = table_model([1, 1, 1, 0], [0, 2, 1, 0], bits=1)
    counts = Counts((3,), [[500], [500], [0], [7]])
    reading = Reading.of(model, counts)
    long = reading.outputs(by_type(counts), counts.length)

    def fits(table):
        length = sum(table) + 1
        return certainly_at_most(distance(long, reading.outputs(table, length)), Fraction(1, 100))

    asked = Wanted((reading,), counts, {(0, 0): Allowance(Fraction(2), Fraction(1, 200))}, 1, fits)
    same, free = shortest_prefix(asked, "box", "same"), shortest_prefix(asked, "box", "any")
    assert same.table[2] == 0 < free.table[2]
    assert sum(free.table) == 1 < sum(same.table)  # of length 2 = 2^bits: shorter ones are no hardmax


def test_twenty_types_take_well_under_a_second_each():
    """The size the benchmark takes; here only that it is solved to the end."""
    rng = np.random.default_rng(1)
    counts = Counts((0,), [[int(n)] for n in np.exp(rng.uniform(0, 14, 20)).astype(int) + 1])
    models = tuple(table_model(rng.integers(0, 2, 20), rng.integers(0, 9, 20), bits=1) for _ in range(2))
    found = shortest_prefix(wanted(models, counts, ["1/16", "1/16"]), "variation")
    assert found.finished
    assert found.bound == sum(found.table)


def test_the_shortest_is_at_most_as_long_as_the_construction_and_fits():
    """On random models with ties, against `shorten`; errors by the softmax on explicit counts."""
    rng = np.random.default_rng(12)
    for _ in range(12):
        readings, counts, _ = random_instance(rng)
        first, second = (replace(reading.model, bits=int(rng.integers(1, 3))) for reading in readings)
        error = Fraction(1, int(rng.integers(2, 12)))
        try:
            built = lw.shorten(first, second, counts, error)
        except WrongInput:
            continue  # an error above all sensitivities
        found = lw.shortest(first, second, counts, error)
        assert found.length <= built.length
        moved = [
            np.abs(lw.evaluate_counts(model, counts) - lw.evaluate_counts(model, found.counts)).max()
            for model in (first, second)
        ]
        assert sum(moved) <= float(error) + 1e-12


def test_ordinary_attention_has_programs_too():
    model = simple_task(3, attention="plain")
    counts = Counts((0,), [[50], [3000], [7]])
    built, found = (
        lw.shorten(model, uniform(model), counts, "1/100"),
        lw.shortest(model, uniform(model), counts, "1/100"),
    )
    assert found.length <= built.length
    assert found.at_least is None or found.at_least <= found.length


def test_one_model_alone_and_a_certificate(tmp_path):
    counts = Counts((2,), [[700 * 10**12], [300 * 10**12], [10**18]])
    model = simple_task(2, bits=4)
    assert lw.shorten(model, uniform(model), counts, "1/10").length > 500
    found = lw.shortest(model, uniform(model), counts, "1/10")
    assert found.length == 91
    assert found.at_least == 91
    assert found.method == "integer program (box)"
    assert json.loads(found.to_json())["at_least_certainty"] == "numerical"
    found.certificate(tmp_path / "c.json")
    assert lw.check(tmp_path / "c.json").valid
    alone = lw.shortest(model, None, counts, "1/100")
    assert alone.length <= lw.shorten(model, None, counts, "1/100").length


@pytest.mark.parametrize(
    ("counts", "bits", "reason"),
    [
        ([[1], [0], [0]], 4, "too short"),
        ([[0], [0], [0]], 4, "no shorter string"),
        ([[900], [5], [0]], None, "without bits"),
    ],
)
def test_where_no_program_says_anything(counts, bits, reason):
    found = lw.shortest(simple_task(1, bits=bits), None, Counts((2,), counts), "1/10")
    assert found.at_least is None
    assert reason in found.unsolved
    assert reason in json.loads(found.to_json())["at_least_reason"]


def test_wrong_questions():
    model = simple_task(1, bits=4)
    for words in ({"mode": "tv"}, {"support": "all"}):
        with pytest.raises(WrongInput, match="wanted one of"):
            lw.shortest(model, None, [0, 1, 2], "1/10", **words)
    with pytest.raises(WrongInput, match="one layer"):
        lw.shortest(kgram_and(2, 1, 0.1), None, [0, 1, 0], "1/10")


def test_the_command(command, tmp_path):
    (tmp_path / "x.json").write_text('{"suffix": ["2"], "table": [[700000], [300000], [1000000]]}')
    ended = command(
        "shorten", "simple:omega=2", "--bits", "4", "--counts", "x.json", "--error", "0.1", "--shortest", "--json"
    )
    found = json.loads(ended.out)
    assert found["at_least"] is None or found["at_least"] <= found["length"]
    assert ended.code == 0
