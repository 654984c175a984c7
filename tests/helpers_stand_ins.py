"""Nasty instances for stand-ins, and the definitions that judge them by brute force; shares no code with what it tests.

An instance is what one query sees: a table of integer logits a head, a suffix, counts by type, and what is allowed.
"""

import math
import random
from dataclasses import dataclass
from fractions import Fraction

SMALL = [Fraction(*pair) for pair in ((9, 10), (1, 2), (1, 3), (1, 4), (1, 7), (1, 10), (1, 50))]


@dataclass
class Instance:
    """Heads by their logits: prefix[a][t] of type t = token * period + residue, suffix[a][k] of offset k."""

    period: int
    tokens: int
    table: list[int]
    prefix: list[list[int]]
    suffix: list[list[int]]
    budgets: list[Fraction]
    least_length: int

    @property
    def offsets(self):
        return len(self.suffix[0])

    @property
    def length(self):
        return sum(self.table) + self.offsets

    def attended(self, head, table=None):
        """(types, offsets) with the largest logit; None for a string on which no key is there."""
        table = self.table if table is None else table
        seen = [u for u, n in zip(self.prefix[head], table, strict=True) if n] + self.suffix[head]
        top = max(seen)
        types = {t for t, u in enumerate(self.prefix[head]) if table[t] and u == top}
        return top, types, {k for k, u in enumerate(self.suffix[head]) if u == top}

    def law(self, head, table):
        """The hardmax law over atoms: a type, or one suffix offset; with the largest logit, so that it can be compared."""
        top, types, offsets = self.attended(head, table)
        mass = sum(table[t] for t in types) + len(offsets)
        law = {("type", t): Fraction(table[t], mass) for t in types}
        return top, law | {("offset", k): Fraction(1, mass) for k in offsets}


def total_variation(instance, head, short):
    """Between the attended laws on the long and the short string; 1 where the largest logits differ."""
    (top, law), (other, found) = instance.law(head, instance.table), instance.law(head, short)
    if top != other:
        return Fraction(1)
    return sum((abs(law.get(k, 0) - found.get(k, 0)) for k in law.keys() | found.keys()), Fraction(0)) / 2


def class_sums(table, period):
    return [sum(table[r::period]) for r in range(period)]


def sizes_of(prefix, period):
    """How many of the positions 1..prefix have each residue, counted (by whole periods where it is long)."""
    whole, rest = divmod(prefix, period)
    return [whole + sum(1 for j in range(1, rest + 1) if j % period == r) for r in range(period)]


def bound(instance, types, ties):
    """Theorem 1: (c, ceil(B)) with S types, bbar ties; B over the min(K, S) smallest budgets of distinct patterns."""
    c = Fraction(types, 2) + instance.period - 1 + ties
    patterns = {}
    for head, eta in enumerate(instance.budgets):
        _, held, offsets = instance.attended(head)
        if held:
            patterns.setdefault((frozenset(held), frozenset(offsets)), []).append(eta)
    etas = sorted(min(group) for group in patterns.values())
    if not etas:
        return c, 0
    raised = c + Fraction(types, 2) * etas[-1] / (1 + etas[-1])
    product = math.prod((1 + 1 / eta for eta in etas[:types]), start=Fraction(1))
    return c, math.ceil(raised * product - c)


def violations(instance, short, smallest, chosen, largest_size):
    """What Theorem 1 promises and a short table does not keep, in words."""
    n, z = instance.length, sum(short) + instance.offsets
    found = []
    if class_sums(short, instance.period) != sizes_of(sum(short), instance.period):
        found.append("no string has these counts")
    if (n - z) % instance.period or z > n:
        found.append("length")
    if z < instance.least_length:
        found.append("too short for the hardmax")
    if any(m < 0 or (m and not count) for m, count in zip(short, instance.table, strict=True)):
        found.append("a type that the long string does not have")
    if sum(short) // instance.period != chosen:
        found.append("not the class size it says")
    rest = sum(instance.table) % instance.period
    needed = max(0, math.ceil(Fraction(instance.least_length - instance.offsets - rest, instance.period)))
    if sum(instance.table) // instance.period >= largest_size and smallest > max(largest_size, needed):
        found.append("longer than the theorem allows")
    for head, eta in enumerate(instance.budgets):
        if total_variation(instance, head, short) > eta:
            found.append(f"head {head} moves too far")
    return found


# --- instances ---


def random_instance(rng: random.Random) -> Instance:
    """Small integer logits with many ties, periods 1-4, localities 0-4, up to six heads, counts of any shape."""
    tokens, period, offsets, heads = rng.randint(2, 5), rng.randint(1, 4), rng.randint(1, 5), rng.randint(1, 6)
    ranks = rng.randint(1, 3)
    prefix = [[rng.randint(0, ranks) for _ in range(tokens * period)] for _ in range(heads)]
    suffix = [[rng.choice(row) + rng.choice([0, 0, 0, -1, 1]) for _ in range(offsets)] for row in prefix]
    instance = Instance(period, tokens, [], prefix, suffix, [rng.choice(SMALL) for _ in range(heads)], 1)
    size = _class_size(rng, instance)
    instance.table = _counts(rng, tokens, period, size, rng.randrange(period))
    return _with_threshold(rng, instance)


def chain_instance(rng: random.Random) -> Instance:
    """Heads that chain nested scales: head a attends to links a and a + 1 of a chain whose counts grow like 1/eta."""
    heads, period, offsets = rng.randint(1, 6), rng.choice([1, 1, 2, 3]), rng.randint(1, 3)
    tokens = max(2, -(-(heads + 2) // period) + rng.randint(0, 1))
    eta = [rng.choice(SMALL[1:]) if rng.random() < 0.5 else Fraction(1, rng.randint(2, 60)) for _ in range(heads)]
    types = tokens * period
    order = rng.sample(range(types), types)
    prefix = [[0] * types for _ in range(heads)]
    for head, row in enumerate(prefix):
        for t in (order[head], order[min(head + 1, types - 1)], *rng.sample(order, rng.choice([0, 0, 1]))):
            row[t] = 1
    suffix = [[rng.choice([0, 0, 1, -1]) for _ in range(offsets)] for _ in range(heads)]
    instance = Instance(period, tokens, [], prefix, suffix, eta, 1)
    table, count = [0] * types, Fraction(rng.choice([1, 2, 3, 5, 10, 30, 10**3, 10 ** rng.randint(1, 30)]))
    for place, t in enumerate(order):
        table[t] = max(1, int(count * rng.choice([1, 1, Fraction(9, 10), Fraction(11, 10)])))
        if place < heads:
            count /= eta[place] * rng.choice([1, 1, Fraction(9, 10), Fraction(1, 2), 2])
    instance.table = _padded(rng, table, tokens, period)
    return _with_threshold(rng, instance)


def _with_threshold(rng, instance):
    least = instance.offsets + instance.period
    floors = [1, least, least, rng.randint(1, 200), int(instance.length * rng.random())]
    instance.least_length = min(instance.length, rng.choice(floors))
    return instance


def _class_size(rng, instance):
    """Anything up to 10^15, rarely to 10^60, and often just above what the theorem needs."""
    if rng.random() < 0.4:
        instance.table = [1] * (instance.tokens * instance.period)
        _, needed = bound(instance, len(instance.table), instance.offsets)
        return max(1, needed + rng.randint(0, 3))
    return rng.randint(1, 10 ** rng.choice([1, 2, 3, 5, 9, 15, 15, 15, 60]))


def _counts(rng, tokens, period, size, rest):
    """Counts with the class sizes of a prefix of size * period + rest: uniform, log-uniform, or with rare types."""
    table = [0] * (tokens * period)
    kind = rng.choice(["uniform", "log", "rare"])
    for residue, total in enumerate(sizes_of(size * period + rest, period)):
        left = total
        for token in rng.sample(range(tokens), tokens)[:-1]:
            if kind == "uniform":
                share = rng.randint(0, left)
            elif kind == "log":
                share = rng.randint(0, 2 ** rng.randint(0, left.bit_length())) if left else 0
            else:
                share = rng.randint(0, 4)
            table[token * period + residue] = min(left, share)
            left -= min(left, share)
        rarest = [token for token in range(tokens) if not table[token * period + residue]]
        table[rng.choice(rarest or range(tokens)) * period + residue] += left
    return table


def _padded(rng, table, tokens, period):
    """The least change that makes the column sums those of a prefix: the largest type of a short class is raised."""
    table = [max(0, n) for n in table]
    size = max(sum(table[r::period]) for r in range(period))
    for residue, total in enumerate(sizes_of(size * period + rng.randrange(period), period)):
        column = range(residue, len(table), period)
        table[max(column, key=lambda t: table[t])] += total - sum(table[residue::period])
    return table
