"""Valid certificates of every sort, ways to alter them, and a second opinion that shares no code with the checker.

The opinion reads a certificate with a few lines of its own and asks the package: limit.* and theory.* for outputs,
sensitivities and margins, in rationals and python-flint balls. The checker is never asked about itself.
"""

import copy
import importlib.util
import json
import math
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

import lengthwise as lw
from helpers_quantities import random_one_layer
from lengthwise.exact import Ball, power_reaches
from lengthwise.limit.constructions import mod_p_task, simple_task, tail_task
from lengthwise.limit.margins import slots_margin
from lengthwise.limit.patterns import Comparison, ranks
from lengthwise.theory.budgets import class_size
from lengthwise.theory.certificate import certificate_text, length_certificate, shortening_certificate
from lengthwise.theory.errors import Reading, distance
from lengthwise.theory.realise import by_type, with_prefix
from lengthwise.theory.scaling import scale

ROOT = Path(__file__).parent.parent


def alone(name="lengthwise_check"):
    """The checker as it is shipped: a package of its own, outside ours (and outside the tests' type checks)."""
    folder = ROOT / "src" / "lengthwise" / "check"
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


CHECKER = alone()


def verdict(certificate):
    """What the checker says of a certificate: True, or the reason; Unreadable passes."""
    found = CHECKER.check_bytes(certificate_text(certificate).encode())
    return True if found.valid else found.reason


def accepted(certificate):
    """Whether the checker finds a certificate valid; what it cannot read is not."""
    try:
        return verdict(certificate) is True
    except CHECKER.Unreadable:
        return False


# --- models and strings ---


def uniform_task(omega, bits):
    """SimpleTask with logit 1 for every token: its head averages everything."""
    model = simple_task(omega, bits=bits)
    head, mlp = model.layers[0].heads[0], model.layers[0].mlp
    key = np.zeros_like(head.key)
    key[0, :3] = 1
    return replace(model, layers=(lw.Layer((replace(head, key=key),), mlp),))


def trained(number):
    """A model that the engine trained for the documentation."""
    return lw.load(sorted((ROOT / "docs" / "golden" / "study" / "weights").iterdir())[number])


def scaled(counts, size):
    """A string with the same suffix and proportions, and class size `size`."""
    return with_prefix(counts, scale(by_type(counts), counts.period, size))


def random_counts(rng, symbols, period, suffix, classes, rest):
    """A table with floor(M / period) = classes and M mod period = rest, some types absent."""
    table = np.zeros((symbols, period), dtype=object)
    for residue in range(period):
        total = classes + (1 <= residue <= rest)
        shares = rng.dirichlet([0.7] * symbols)
        column = [int(total * share) for share in shares[:-1]]
        table[:, residue] = [*column, total - sum(column)]
    return lw.Counts(tuple(int(t) for t in rng.integers(0, symbols, suffix)), table.tolist())


def error_of(models, long, short):
    """The sum over models of the largest difference of an output, as a rational or a ball."""
    total = Fraction(0)
    for model in models:
        outputs = [Reading.of(model, counts).outputs(by_type(counts), counts.length) for counts in (long, short)]
        total = distance(*outputs) + total
    return total


def claimed(models, long, short):
    """A short rational a little above the error."""
    error = error_of(models, long, short)
    upper = error if isinstance(error, Fraction) else Fraction(error.upper())
    return Fraction(math.ceil(upper * 10**6) + 1, 10**6)


def shortening(first, second, long, size):
    short = scaled(long, size) if isinstance(size, int) else size
    return shortening_certificate(
        first, second, long, short, claimed([m for m in (first, second) if m is not None], long, short)
    )


@cache
def shortenings():
    """Valid certificates of kind shortening by name."""
    rng = np.random.default_rng(5)
    f, uniform = simple_task(2, bits=4), uniform_task(2, 4)
    plain = [random_one_layer(rng, 3, period=p, locality=1, attention="plain") for p in (2, 1)]
    smooth = [random_one_layer(rng, 2, period=1, locality=2) for _ in range(2)]
    rounded = [replace(random_one_layer(rng, 3, period=2, locality=1), bits=9) for _ in range(2)]
    thousands = lw.Counts((2,), [[700], [300], [1000000]])
    nested = lw.Counts((0,), [[6 * 10**59], [3 * 10**59], [10**59]])
    return {
        "simple": shortening(f, uniform, thousands, lw.Counts((2,), [[14], [6], [160]])),
        "one model": shortening(f, None, thousands, 100),
        "length 10^60": shortening(f, uniform, nested, lw.Counts((0,), [[14], [7], [2]])),
        "modp": shortening(
            mod_p_task(3, 0, bits=4),
            mod_p_task(3, 1, bits=4),
            lw.Counts((1,), [[9993, 4000, 0], [7, 6001, 10000]]),
            lw.Counts((1,), [[60, 24, 0], [0, 37, 60]]),
        ),
        "periods 2 and 3": shortening(
            mod_p_task(2, 1, bits=4), mod_p_task(3, 0, bits=4), random_counts(rng, 2, 6, 1, 5000, 4), 40
        ),
        "locality 2": shortening(tail_task(3, bits=4), tail_task(2, bits=4), random_counts(rng, 2, 1, 3, 10**6, 0), 57),
        "trained": shortening(trained(0), trained(1), random_counts(rng, 3, 1, 1, 10**5, 0), 60),
        "plain": shortening(*plain, random_counts(rng, 3, 2, 3, 10**4, 1), 30),
        "no bits": shortening(*smooth, random_counts(rng, 2, 1, 3, 10**4, 0), 9000),
        "count form": shortening(*rounded, random_counts(rng, 3, 2, 2, 500, 1), 17),
    }


@cache
def lengths():
    """Valid certificates of kind length by name."""
    tail = tail_task(2, bits=4)
    return {
        "two attentions": length_certificate(simple_task(2, bits=4), uniform_task(2, 4), "1/2"),
        "one attention": length_certificate(simple_task(1, bits=4), simple_task(4, bits=5), "1/10"),
        "residues": length_certificate(mod_p_task(2, 0, bits=4), mod_p_task(2, 1, bits=4), "1/10"),
        "periods 2 and 3": length_certificate(mod_p_task(2, 0, bits=4), mod_p_task(3, 1, bits=4), "1/10"),
        "two heads": length_certificate(tail, tail_task(3, bits=3), "1/3"),
        "free head": length_certificate(tail, weak_tail(), "1/3"),
        "plain": length_certificate(
            *(replace(m, attention="plain", bits=None) for m in (simple_task(1), tail3())), "1/2"
        ),
        "plain, trained": length_certificate(trained(0), trained(1), "1/10"),
        "plain, free": length_certificate(*plain_pair(), "2"),
        "many query types": length_certificate(*queried(), "3/2"),
    }


def weak_tail():
    """TailTask whose second head hardly counts: it is declared free."""
    model = tail_task(3, bits=4)
    average, last = model.layers[0].heads
    return replace(model, layers=(lw.Layer((average, replace(last, value=last.value / 64))),))


def tail3():
    """Locality 2 and a suffix that weighs more, over three tokens."""
    model = simple_task(2)
    head, mlp = model.layers[0].heads[0], model.layers[0].mlp
    return replace(model, layers=(lw.Layer((replace(head, phi=[0.5, -1.0, 0.25]),), mlp),))


def plain_pair():
    """Plain models with several query types, of which one head has a spread that is dearer than its sensitivity."""
    rng = np.random.default_rng(4)
    models = [random_one_layer(rng, 2, period=p, locality=1, heads=2, attention="plain") for p in (1, 2)]
    first, second = models[0].layers[0].heads
    wide = replace(first, query=first.query * 16, value=first.value / 64)
    return replace(models[0], layers=(lw.Layer((wide, second), models[0].layers[0].mlp),)), models[1]


def queried():
    """Two models whose groups differ from one query type to the next."""
    rng = np.random.default_rng(2)
    return [replace(random_one_layer(rng, 2, period=2, locality=1, heads=2), bits=3) for _ in range(2)]


# --- alterations ---


def is_number(value):
    return not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, str) and value[:1] in tuple("-0123456789"))
    )


def places(value, path=()):
    """The path of every number in a certificate."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if is_number(value):
        yield path
    for key, entry in entries:
        yield from places(entry, (*path, key))


def at(certificate, path):
    for key in path:
        certificate = certificate[key]
    return certificate


def altered(certificate, path, value):
    """The certificate with another value at a path."""
    changed = copy.deepcopy(certificate)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def neighbours(value):
    """Numbers near a number: its digits one up and down, one exponent or denominator further, and its negative."""
    if isinstance(value, int):
        return [value + 1, value - 1, -value]
    top, mark, bottom = value.partition("*2^") if "*" in value else value.partition("/")
    near = [f"{int(top) + step}{mark}{bottom}" for step in (1, -1)]
    return near + ([f"{top}{mark}{int(bottom) + 1}"] if mark else [])


# --- the second opinion ---


def number(value):
    if isinstance(value, int):
        return Fraction(value)
    top, mark, exponent = value.partition("*2^")
    return Fraction(top) * Fraction(2) ** int(exponent) if mark else Fraction(value)


def whole(value):
    exact = number(value)
    assert exact.denominator == 1
    return int(exact)


def pairs(values):
    return [(whole(first), whole(second)) for first, second in values]


def array(rows):
    """Numbers as floats; those that are none are nobody's weights."""
    if isinstance(rows, list):
        return [array(row) for row in rows]
    if rows == "masked":
        return -math.inf
    exact = number(rows)
    assert Fraction(float(exact)) == exact
    return float(exact)


def model_of(value):
    layer = value["layers"][0]
    width = len(value["embedding"][0])
    heads = [
        lw.Head(
            *(np.array(array(head[name])).reshape(-1, width) for name in ("key", "query", "value")), array(head["phi"])
        )
        for head in layer["heads"]
    ]
    mlp = layer["mlp"]
    if mlp is not None:
        mlp = lw.MLP(array(mlp["inner"]), array(mlp["bias"]), array(mlp["outer"]), tuple(mlp["activation"]))
    return lw.LimitTransformer(
        embedding=array(value["embedding"]),
        positions=array(value["positions"]),
        layers=[lw.Layer(heads, mlp)],
        unembedding=array(value["unembedding"]),
        attention=value["attention"],
        bits=None if value["bits"] is None else whole(value["bits"]),
    )


def second_opinion(certificate):
    """Whether a certificate's statement follows, by the package's own code."""
    try:
        models = [model_of(value) for value in certificate["models"]]
        judge = {"shortening": string_opinion, "length": length_opinion, "strings": strings_opinion}[
            certificate["kind"]
        ]
        return certificate["version"] == 1 and judge(certificate, models)
    except lw.WrongInput:
        return False  # no string has these counts, no model these bits, ...


def strings_opinion(certificate, models):
    """By the definition in floats, to twelve digits."""
    long, short = ([whole(v) for v in certificate[name]] for name in ("long", "short"))
    if not long or not short or max(long + short) >= models[0].symbols:
        return False
    away = [math.dist(lw.evaluate(m, long, "dense"), lw.evaluate(m, short, "dense")) for m in models]
    return sum(away) <= float(number(certificate["error"])) * (1 + 1e-9) + 1e-12


def string_opinion(certificate, models):
    suffix = tuple(map(whole, certificate["suffix"]))
    strings = [certificate["long"], certificate["short"]]
    long, short = (lw.Counts(suffix, [[whole(v) for v in row] for row in one["table"]]) for one in strings)
    least, most = map(number, certificate["window"])
    told = all(number(s["length"]) == counts.length for s, counts in zip(strings, (long, short), strict=True))
    period = whole(certificate["period"])
    fits = all(counts.period == period and period % model.period == 0 for counts in (long, short) for model in models)
    alike = (long.length - short.length) % period == 0 and all(len(suffix) > model.locality for model in models)
    if not (told and fits and alike and least <= short.length <= most):
        return False
    return at_most(error_of(models, long, short), number(certificate["error"]))


def at_most(value, limit):
    return (value if isinstance(value, Fraction) else Fraction(value.upper())) <= limit


def length_opinion(certificate, models):
    """Theorem 2 by the functions of theory.budgets and limit.*, entry by entry."""
    comparison = Comparison(*models)
    period, tau, error = whole(certificate["period"]), whole(certificate["locality"]), number(certificate["error"])
    if period % comparison.period or tau < comparison.locality or error <= 0:
        return False
    comparison.period, comparison.locality, comparison.types = period, tau, comparison.symbols * period
    claims = {(m, h): number(L) for m, own in enumerate(certificate["sensitivities"]) for h, L in enumerate(own)}
    good = all(claims[a] >= L for a, L in comparison.sensitivities.items())
    if certificate["theorem"] == "P":
        return good and plain_opinion(certificate, comparison, claims, error)
    kinds, n0 = [], number(certificate["threshold"])
    least = max(n0 + period - 1, tau + period)
    gaps = {m: [math.inf] for m in range(len(models))}
    for entry in certificate["queries"]:
        groups = [pairs(group["heads"]) for group in entry["groups"]]
        etas = [number(group["budget"]) for group in entry["groups"]]
        free = pairs(entry["free"])
        heads = [a for group in groups for a in group]
        good &= sorted(heads + free) == sorted(claims) and all(0 < eta < 1 for eta in etas) and all(groups)
        if not good:
            return False
        spent = sum(eta * claims[a] for eta, group in zip(etas, groups, strict=True) for a in group)
        good &= spent + sum(claims[a] for a in free) <= error
        for kind in pairs(entry["types"]):
            kinds.append(kind)
            if not (0 <= kind[0] < comparison.symbols and 0 <= kind[1] < period):
                return False
            for group in groups:
                slots = [comparison.slots(a, *kind) for a in group]
                good &= len({ranks(options) for options in slots}) == 1
                for (m, _), options in zip(group, slots, strict=True):
                    gaps[m].append(slots_margin(options))
                    ties = sum(bool(set(option) & set(options.prefix)) for option in options.suffix)
                    good &= ties <= number(entry["ties"])
        offset = Fraction(comparison.types, 2) + period - 1 + number(entry["ties"])
        count = number(entry["count"])
        good &= count >= class_size(offset, comparison.types, etas)
        least = max(least, tau + period + period * math.ceil(count))
    good &= len(kinds) == len(set(kinds)) == comparison.types and n0 >= tau + 1 + period
    for m, claim in enumerate(certificate["margins"]):
        least_gap = min(gaps[m])
        if claim is None:
            good &= least_gap == math.inf
        else:
            gap = number(claim)
            good &= 0 < gap <= least_gap and power_reaches(int(n0), gap, models[m].bits)
    return bool(good and number(certificate["length"]) >= least)


def plain_opinion(certificate, comparison, claims, error):
    """Theorem P by the definition: logits by limit.tables, sums of exponentials in balls."""
    kinds, least = [], comparison.locality + comparison.period
    for entry in certificate["queries"]:
        acting = {pairs([share["head"]])[0]: number(share["spread"]) for share in entry["acting"]}
        free = pairs(entry["free"])
        if sorted([*(pairs([share["head"]])[0] for share in entry["acting"]), *free]) != sorted(claims):
            return False
        rest = error - sum(claims[a] for a in free)
        if rest <= 0:
            return False
        positions = Ball.of(0)
        for a, omega in acting.items():
            for kind in pairs(entry["types"]):
                options = comparison.slots(a, *kind)
                if omega < options.exact(max(options.prefix) - min(options.prefix)):
                    return False
            phi = (list(comparison.models[a[0]].layers[0].heads[a[1]].phi) + [0.0] * 99)[: comparison.locality + 1]
            near = sum((Ball.of(Fraction(float(v))).apply("exp") for v in phi if np.isfinite(v)), Ball.of(0))
            wide = near + Fraction(comparison.types, 4) + comparison.period - 1
            positions = positions + wide * Ball.of(omega).apply("exp") * claims[a]
        kinds += pairs(entry["types"])
        count = number(entry["count"])
        if not at_most(positions / rest / comparison.period, count):
            return False
        least = max(least, comparison.locality + comparison.period * (1 + math.ceil(count)))
    every = [(token, residue) for token in range(comparison.symbols) for residue in range(comparison.period)]
    return sorted(kinds) == every and number(certificate["length"]) >= least


def written(certificate, path):
    path.write_text(json.dumps(certificate))
    return path
