"""Kind `strings`: two strings written out, and models of one or two log-suffix layers. Section 7 of the format."""

from fractions import Fraction
from functools import cache
from math import isqrt
from typing import Any

from .enclose import Enclosure, exp, log
from .evaluate import NOTHING, product, through
from .model import Head, Model, times
from .reader import MOST_WORK, Refused, Unreadable, items, natural, upward

FIELDS: tuple[str, ...] = ("long", "short")
RULES: tuple[tuple[str, ...], int] = (("log-suffix",), 2)
STEP = 400  # of MOST_WORK, for one operation on enclosures
ROOT = 200  # binary places of a square root
BITS = 160  # certain digits of an exponential

Vector = list[Enclosure]


def check(claim: list[Any], models: list[Model], period: int, error: Fraction) -> str:
    """What the certificate says, in words, once every rule holds; Refused or Unreadable otherwise."""
    long, short = (
        [natural(token, name) for token in items(value, name)] for value, name in zip(claim, FIELDS, strict=True)
    )
    for string, name in ((long, "long"), (short, "short")):
        if not string or max(string) >= models[0].symbols:
            raise Refused(f"the {name} string is no nonempty list of tokens 0 to {models[0].symbols - 1}")
    if STEP * sum(_work(model, len(long) + len(short)) for model in models) > MOST_WORK:
        raise Unreadable(
            f"strings and models for which {MOST_WORK // STEP} operations suffice", "longer or larger ones"
        )
    errors = [distance(outputs(model, long), outputs(model, short)) for model in models]
    if sum(errors) > error:
        raise Refused(
            f"the errors are only known to be at most {upward(sum(errors, Fraction(0)))}, and {upward(error)} is claimed"
        )
    who = "the output of the model differs" if len(models) == 1 else "the outputs of the two models differ"
    total = " + ".join(map(upward, errors))
    return f"On a string of {len(long)} tokens and one of {len(short)} {who} by at most {total} <= {upward(error)} in Euclidean norm."


def distance(one: Vector, two: Vector) -> Fraction:
    """The upper end of the Euclidean norm of the difference."""
    square = sum(((a - b).size ** 2 for a, b in zip(one, two, strict=True)), Fraction(0))
    if not square:
        return Fraction(0)
    return Fraction(isqrt((square.numerator << 2 * ROOT) // square.denominator) + 1, 1 << ROOT)


def outputs(model: Model, string: list[int]) -> Vector:
    """The outputs at the last position, by section 7 of the format."""
    kinds = [(token, place % model.period) for place, token in enumerate(string, start=1)]
    index = {kind: number for number, kind in enumerate(sorted(set(kinds)))}
    vectors = [model.vector(kind) for kind in index]
    codes = [index[kind] for kind in kinds]
    deep = len(model.layers) == 2
    heads = [_First(model, head, vectors) for head in model.layers[0].heads]
    counts, rows = [0] * len(vectors), []
    reach = max(1, *(len(head.phi) for head in model.layers[0].heads), 1)
    for place in range(1, len(codes) + 1):
        if place > reach:
            counts[codes[place - reach - 1]] += 1  # what is behind every suffix
        if deep or place == len(codes):
            near = codes[max(0, place - reach) : place][::-1]
            y = [Enclosure.of(Fraction(v, model.below)) for v in vectors[codes[place - 1]]]
            for head in heads:
                y = [a + b for a, b in zip(y, head.output(place, near, counts), strict=True)]
            rows.append([entry.rounded() for entry in through(model.layers[0].mlp, y, model.below)])
    last = rows[-1]
    if deep:
        found = [_second(model, head, rows) for head in model.layers[1].heads]
        for output in found:
            last = [a + b for a, b in zip(last, output, strict=True)]
        last = through(model.layers[1].mlp, last, model.below)
    return product(model.unembedding, last, model.below)


class _First:
    """A head of layer 1: weights of contents are few and are made once; those of offsets are i^phi times such a one."""

    def __init__(self, model: Model, head: Head, vectors: list[list[int]]) -> None:
        self.below, self.head = model.below, head
        keys, queries = ([times(rows, v) for v in vectors] for rows in (head.key, head.query))
        logits = [[sum(a * b for a, b in zip(k, q, strict=True)) for k in keys] for q in queries]
        under = model.below**4
        self.weights = [[exp(Enclosure.of(Fraction(c - max(row), under)), BITS) for c in row] for row in logits]
        self.values = [[Fraction(v, under) * model.below**2 for v in times(head.value, vector)] for vector in vectors]

    def output(self, place: int, near: list[int], counts: list[int]) -> Vector:
        """The weighted mean of the values: the last positions one by one, the others by their counts; 0 if all masked."""
        weights = self.weights[near[0]]
        masses = [weights[kind] * count for kind, count in enumerate(counts)]
        for offset, kind in enumerate(near):
            shift = self.head.shift(offset)
            if shift is not None:
                masses[kind] = masses[kind] + _times(weights[kind], _power(place, Fraction(shift, self.below)))
        total = _mass(masses)
        if total is None:
            return [NOTHING] * len(self.values[0])
        columns = zip(*self.values, strict=True)
        return [sum((m * v for m, v in zip(masses, column, strict=True) if v), NOTHING) / total for column in columns]


def _second(model: Model, head: Head, rows: list[Vector]) -> Vector:
    """A head of layer 2 at the last position, over rows that are known to enclosures only."""
    n, below = len(rows), model.below
    asked = product(head.query, rows[-1], below)
    toward = product([list(column) for column in zip(*head.key, strict=True)], asked, below)
    logits: list[Enclosure | None] = []
    for place, row in enumerate(rows, start=1):
        shift = head.shift(n - place)
        content = sum((_times(a, b) for a, b in zip(row, toward, strict=True)), NOTHING)
        logits.append(None if shift is None else (content + _log(n) * Fraction(shift, below)).rounded())
    largest = max((logit.high for logit in logits if logit is not None), default=Fraction(0))
    weights = [NOTHING if c is None else exp(c - Enclosure.of(largest), BITS).rounded() for c in logits]
    total = _mass(weights)
    if total is None:
        return [NOTHING] * len(rows[0])
    sums = [
        sum((_times(w, y) for w, y in zip(weights, column, strict=True)), NOTHING) for column in zip(*rows, strict=True)
    ]
    return product(head.value, [entry / total for entry in sums], below)


def _mass(weights: Vector) -> Enclosure | None:
    """The sum, None if all are exactly 0."""
    total = sum(weights, NOTHING).rounded()
    if total.high == 0:
        return None
    if total.low <= 0:
        raise Refused("logits of one head are so far apart that its weights could not be told from 0")
    return total


@cache
def _log(n: int) -> Enclosure:
    return log(Fraction(n))


def _power(place: int, phi: Fraction) -> Enclosure:
    """i^phi."""
    return Enclosure.of(1) if place == 1 or not phi else exp((_log(place) * phi).rounded(), BITS)


def _times(one: Enclosure, two: Enclosure) -> Enclosure:
    """The product of two numbers of which neither need be exact."""
    ends = [a * b for a in (one.low, one.high) for b in (two.low, two.high)]
    return Enclosure(min(ends), max(ends)).rounded()


def _work(model: Model, length: int) -> int:
    """Operations on enclosures, before any is made."""
    width, kinds = len(model.positions[0]), model.symbols * model.period
    each = 0
    for layer in model.layers:
        units = 0 if layer.mlp is None else len(layer.mlp.bias)
        each += 2 * width * units + sum((kinds + len(head.phi) + width) * (width + 1) for head in layer.heads)
    return (length + kinds**2) * (each + width) * (1 + model.below.bit_length() // 200)
