"""The rows and units of a compiled model, each above the code with the proof that it decides what it should.

Conventions. The model reads `$ w`: position 1 holds the begin symbol, position i + 1 the i-th symbol of the word, and
N = n + 1 is the length of what the model reads. Where the program speaks of position i the model stands at i + 1: a mean
over all its keys is a mean over i + 1 values, and row r of `positions` serves the word's positions = r - 1 modulo the
period. All coordinates `is` and `not` are exactly 0 or 1 at every position, the begin symbol included; there they have
the value of the program's virtual position 0: every symbol test false, every count 0, position 0.

A unit is Heaviside: 1 above 0, else 0. So it is enough that what enters it is > 0 where the condition holds and < 0
where it does not; by how much, in exact arithmetic, is its margin, and the ledger makes lengths of margins. The opposite
condition is the unit with all signs turned, so `not` is the same proof and the same margin.
"""

from dataclasses import replace
from itertools import accumulate

from lengthwise.crasp.conditions import Atom, Condition, Cuts, Member, Subject, apart, complement
from lengthwise.crasp.plan import Coordinate, Threshold, Unit, Weights
from lengthwise.crasp.schedule import ANY, MOST_PARTS, Schedule, atom_at_start, combined, spelled_out

HALF = 0.5  # all weights are integers and halves of at most 51 digits: floats hold them exactly


def of_atoms(terms: dict[Atom, int]) -> dict[Coordinate, float]:
    """Integer multiples of atoms as weights of their coordinates."""
    return {("is", subject, value): coefficient for (subject, value), coefficient in terms.items()}


def begin_correction(terms: dict[Atom, int]) -> int:
    """What a row of values must take away at the begin symbol, which is never counted whatever holds there."""
    return sum(coefficient * atom_at_start(atom) for atom, coefficient in terms.items())


# mean_row. Claim: under an averaging head (all logits 0) the row writes, at position i of the word (i = 0: the begin
# symbol),
#
#     m(i) = (S(i) - cut + 1/2) / (i + 1),      S(i) = sum over atoms of k * #{1 <= j <= i : atom at j},
#
# so that  m(i) >= 1/(2 (i + 1)) where S(i) >= cut  and  m(i) <= -1/(2 (i + 1)) elsewhere.
#
# Proof. The head averages the row over i + 1 keys of equal weight. Position j >= 1 of the word contributes
# sum k [atom at j]: the weights of the atoms. The begin symbol contributes the same sum as it is there, which is
# `begin_correction`, minus the correction, plus 1/2 - cut. All together: S(i) + 1/2 - cut. S(i) and cut are integers, so
# this is >= 1/2 where S(i) >= cut and <= -1/2 where S(i) <= cut - 1.  QED
#
# The comparison is made inside the mean, before the division: an evaluator that adds the values exactly and divides once
# rounds m(i), never its sign. (With one mean a count and one for 1/(i+1), rounding can turn the sign at large i.)
def mean_row(begin: Coordinate, subject: Subject, cut: int, margin: float = HALF) -> Weights:
    """The row of V whose mean is positive where the sum is >= cut, negative elsewhere."""
    terms = dict(subject.terms)
    return {**of_atoms(terms), begin: margin - cut - begin_correction(terms)}


# look_row. Let a head have phi = K at offset s, else 0, and content logit k = K/2 for the begin symbol and 0 for all
# others, K even and >= 4. Claim: with the row [P at j] for the word's positions j and 0 at the begin symbol, what
# the head writes at position i of the word is within
#
#     rho(N) = 1 / (1 + N^k / (N - 1)) = (N - 1) / (x + N - 1)  <=  rho(2) = 1 / (1 + 2^k),     x = N^k, N >= 2
#
# of 1 if i - s >= 1 and P holds there, and of 0 else; at N = 1 it is 0.
#
# Proof. Weights are N^logit, on i + 1 <= N keys. All values lie in [0, 1], that of the begin symbol is 0.
#   The target is in the word (i - s >= 1): it weighs x^2, the begin symbol x, the others 1 each, N - 2 at most. If P holds
#     at the target, the distance from 1 is at most (x + N - 2)/(x^2 + x + N - 2); else that from 0 is at most
#     (N - 2)/(x^2 + x + N - 2), which is less. The first is <= rho(N), as (N - 1)(x^2 + x + N - 2) - (x + N - 2)(x + N - 1)
#     = (N - 2) x (x - 1) >= 0.
#   The target is the begin symbol (i = s): it weighs x^3, the others N - 1 at most: below rho(N).
#   There is no target (i < s): the begin symbol weighs x, the others N - 1 at most: at most rho(N).
# N^k/(N - 1) grows with N >= 2, its logarithm having the slope k/N - 1/(N - 1) >= 0 for k >= 2: so rho(N) <= rho(2).
# With bits, weights that are too light become 0. The begin symbol is never lighter than the others: if it goes they all
# go, and what is left is the target; if only the others go, the distances above lose their N - 2 or N - 1.  QED
def look_row(begin: Coordinate, schedule: Schedule, subject: Subject) -> Weights:
    """The row of V for the truth of a condition some positions before; the begin symbol has value 0."""
    assert subject.inside is not None
    terms = spelled_out(schedule.indicator(subject.inside))
    weights = of_atoms(terms)
    weights[begin] = weights.get(begin, 0) - begin_correction(terms)
    return {coordinate: weight for coordinate, weight in weights.items() if weight}


def sharpness(looked_up: int) -> int:
    """The smallest K for which as many looked-up values together are wrong by at most 1/8.

    looked_up * rho(2) <= 1/8  exactly if  2^(K/2) >= 8 looked_up - 1. (1/2 would do in exact arithmetic.)
    """
    half = 2
    while 2**half < 8 * looked_up - 1:
        half += 1
    return 2 * half


# mean_unit. The unit reads m(i) of `mean_row` alone, with weight 1: its claim is that of the row.
def mean_unit(begin: Coordinate, positive: bool, subject: Subject, cut: int, layer: int, name: str) -> Unit:
    """Whether a sum is >= cut."""
    sign = 1 if positive else -1
    row = mean_row(begin, subject, cut)
    return Unit(
        {("mean", subject, cut): sign},
        0,
        (("is" if positive else "not", subject, cut),),
        _average(name, layer, begin, row),
    )


def _average(name: str, layer: int, begin: Coordinate, row: Weights, gates: int = 0, large: int = 0) -> Threshold:
    weights = frozenset(map(abs, (*row.values(), large)))
    slope, start = largest_value(row, begin), abs(row[begin])
    return Threshold(name, layer, "average", slope, start, 0, 1 + gates, weights)


def largest_value(row: Weights, begin: Coordinate) -> int:
    """The largest size of a row of values at a position of the word: subject by subject the values it may add.

    Of a symbol or residue one cell is 1 (or one that the row does not name). Of an integer the atoms >= cut are 1 from
    the smallest cut on up to some cut: sums of the first weights in order. Of conditions that exclude each other, such
    as two that want different symbols, at most one is 1.
    """
    parts: dict[Subject, dict[int, float]] = {}
    for (_, subject, value), weight in row.items():
        parts.setdefault(subject, {})[value] = weight
    possible, together = [], _exclusive([one for one in parts if one.kind == "both"])
    for subject, weights in parts.items():
        if subject.kind in ("symbol", "residue"):
            known = [weight for cell, weight in weights.items() if subject != begin[1] or cell]
            possible.append(known if len(known) == subject.cells - (subject == begin[1]) else [*known, 0.0])
        elif subject.kind != "both":
            possible.append([0.0, *accumulate(weights[cut] for cut in sorted(weights))])
    possible += [[0.0, *(weight for one in group for weight in parts[one].values())] for group in together]
    return int(max(sum(map(max, possible)), -sum(map(min, possible))))


def _exclusive(subjects: list[Subject]) -> list[list[Subject]]:
    """Groups of subjects that exclude each other, put together as they come."""
    groups: list[list[Subject]] = []
    if len(subjects) > MOST_PARTS:
        return [[subject] for subject in subjects]
    for subject in subjects:
        fitting = (group for group in groups if all(_apart(subject, other) for other in group))
        group = next(fitting, None)
        if group is None:
            groups.append([subject])
        else:
            group.append(subject)
    return groups


def _apart(one: Subject, other: Subject) -> bool:
    return one.inside is not None and other.inside is not None and apart(one.inside, other.inside)


# fused_unit. One member is a half-line of a sum, with m = m(i) or -m(i) as its sign says; for each other member there are
# coordinates that are all 0 where it holds and of which one is 1 where it does not; F is the sum of all of them, and
# M a power of two >= 2 |row| at every position. The unit reads m - M F. Claim: it is m where the other members hold,
# at most -M/2 where one fails, so its sign is that of the conjunction, with the margin of m.
#
# Proof. If all other members hold then F = 0: every product M * coordinate is 0 and the sum is m, without any rounding.
# If one fails, F >= 1 and, as |m| <= max |row| <= M/2, m - M F <= M/2 - M < 0.  QED
def fused_unit(
    begin: Coordinate, positive: bool, both: Subject, fused: Member, gates: list[Coordinate], layer: int, name: str
) -> Unit:
    """Whether a sum is on one side of its cut and all gates are 0."""
    subject, values = fused
    assert isinstance(values, Cuts)
    (cut,) = values.cuts
    row = mean_row(begin, subject, cut)
    threshold = _average(name, layer, begin, row)
    large = 1
    while large < 2 * threshold.slope or large < 2 * threshold.start:
        large *= 2
    sign = 1 if positive else -1
    side = -1 if values.start else 1
    weights: dict[Coordinate, float] = {("mean", subject, cut): sign * side}
    for gate in gates:
        weights[gate] = weights.get(gate, 0) - sign * large
    threshold = _average(name, layer, begin, row, len(gates), large)
    return Unit(weights, 0, (("is" if positive else "not", both, 1),), threshold)


# integer_unit. It reads sum k x - cut + 1/2, where the x are 0/1 coordinates or looked-up values within rho of 0 or 1.
# The sum of k times the truths is an integer, so with L = sum of |k| over looked-up x the value is >= 1/2 - L rho where
# the sum is >= cut and <= -1/2 + L rho elsewhere; `sharpness` makes L rho <= 1/8. Without looked-up values it is a
# half-integer that floating point holds exactly. A cleaned look-up is the case of one x; `and` of k conditions is
# "fewer than one of them fails":  -(sum of failures) >= 0.
def integer_unit(
    terms: Weights, cut: int, positive: bool, write: tuple[Coordinate, ...], layer: int, name: str
) -> Unit:
    """Whether integer multiples of coordinates sum up to at least cut."""
    sign = 1 if positive else -1
    weights = {coordinate: sign * weight for coordinate, weight in terms.items()}
    sizes = {coordinate: abs(weight) for coordinate, weight in terms.items()}
    looked_up = sum(size for coordinate, size in sizes.items() if coordinate[0] == "raw")
    bias, size = sign * (HALF - cut), sum(sizes.values())
    kind = "lookup" if looked_up else "exact"
    known = frozenset([*sizes.values(), abs(bias)])
    threshold = Threshold(name, layer, kind, int(size), abs(bias), int(looked_up), len(weights) + 1, known)
    return Unit(weights, bias, write, threshold)


def raw_atoms(terms: dict[Atom, int]) -> Weights:
    """Weights of atoms, but the constant, for a unit that may read what attention has looked up in its own layer."""
    return {
        ("raw" if subject.kind == "before" else "is", subject, value): coefficient
        for (subject, value), coefficient in terms.items()
        if subject.kind != "symbol" or value != ANY
    }


def constant(terms: dict[Atom, int]) -> int:
    """The multiple of the constant 1 among atoms."""
    return sum(
        coefficient for (subject, value), coefficient in terms.items() if subject.kind == "symbol" and value == ANY
    )


def failures(schedule: Schedule, condition: Condition) -> dict[Atom, int]:
    """How many members fail, as integer multiples of atoms."""
    outside = (schedule.subjects.where(subject, complement(values)) for subject, values in condition.sorted)
    return combined((1, schedule.indicator(one)) for one in outside)


# residue_units, where positions may start anywhere: the begin symbol stands at a position = b modulo the period, this one
# at a, so the program's position is a - b. A head of layer 1 with content logit K for the begin symbol and 0 for all
# others writes the one-hot of b: its key weighs N^K, the others at most N - 1 together, so what it writes is
# (1 - d) times the one-hot plus d times a mean of one-hots, d <= (N - 1)/(N^K + N - 1) <= rho(N), and the sum over any set
# of residues is within d of 1 or 0. For each a there is one unit:  here = a  and  b in {a - cell : cell wanted},  which is
# integer_unit with  here + sum - 3/2 >= 0  and one looked-up value. The unit of the true a says whether a - b is wanted,
# all others are 0: their sum is the wanted coordinate.
def residue_units(subject: Subject, cells: frozenset[int], write: Coordinate) -> list[Unit]:
    """Units that write whether the residue relative to the begin symbol is among the cells."""
    units = []
    for here in range(subject.cells):
        terms: dict[Coordinate, float] = {("here", subject, here): 1}
        terms |= {("raw", subject, (here - cell) % subject.cells): 1 for cell in sorted(cells)}
        name = f"pos % {subject.cells} in {{{', '.join(map(str, sorted(cells)[:6]))}}} at {here}"
        unit = integer_unit(terms, 2, True, (write,), 1, name)
        units.append(replace(unit, threshold=replace(unit.threshold, looked_up=1)))
    return units


# read_out. Fold: the value is 1/2 minus the number of members that fail, so >= 1/2 exactly where all hold and <= -1/2
# elsewhere; for `not all` the signs are turned. Coordinates are 0 or 1 and weights small integers: nothing is rounded.
def read_out(schedule: Schedule, condition: Condition, fold: bool) -> Weights:
    """Weights of an output that is >= 1/2 where the condition holds and <= -1/2 elsewhere."""
    if fold:
        counted = failures(schedule, Condition(condition.members))
        sign = -1 if condition.holds else 1
    else:
        counted, sign = schedule.indicator(condition), 1
    result: dict[Coordinate, float] = dict.fromkeys(of_atoms(spelled_out(schedule.one())), -sign * HALF)
    for coordinate, weight in of_atoms(spelled_out(counted)).items():
        result[coordinate] = result.get(coordinate, 0) + sign * weight
    return {coordinate: weight for coordinate, weight in result.items() if weight}
