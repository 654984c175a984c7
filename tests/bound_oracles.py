"""Theorem 2 and Theorem P once more, from the weights and the definitions alone; shares no code with what it tests."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from helpers_quantities import apply, exact_logit, exact_vector, fractions
from lengthwise.limit.constructions import simple_task


def uniform(omega, bits=4):
    """SimpleTask with all logits equal."""
    model = simple_task(omega, bits=bits)
    (head,) = model.layers[0].heads
    return replace(model, layers=(replace(model.layers[0], heads=(replace(head, key=0 * head.key),)),))


def options(model, head, query, period, locality):
    """Prefix slots by residue, then suffix slots by offset, each a list of logits; masked offsets are empty."""
    symbols, (token, residue) = range(model.symbols), query
    far = len(head.phi)  # phi is 0 from here on
    prefix = [[exact_logit(model, head, (s, r), (token, residue), far) for s in symbols] for r in range(period)]
    suffix = []
    for k in range(locality + 1):
        tokens = symbols if k else [token]
        slot = [exact_logit(model, head, (s, (residue - k) % period), (token, residue), k) for s in tokens]
        suffix.append([value for value in slot if value is not None])
    return prefix, suffix


def gap(prefix, suffix):
    """The logit margin of one query type, pair by pair."""
    beta = max(min(slot) for slot in [*prefix, *suffix] if slot)
    named = [(value, "prefix") for slot in prefix for value in slot]
    named += [(value, k) for k, slot in enumerate(suffix) for value in slot]
    pairs = itertools.product(named, named)
    return min(
        (u - v for (u, at), (v, other) in pairs if u >= beta and v < u and (at == "prefix" or at != other)),
        default=math.inf,
    )


def pattern(prefix, suffix):
    """All comparisons between slot options, as a table of signs."""
    flat = [value for slot in prefix for value in slot] + [value for slot in suffix for value in slot]
    return tuple(map(len, suffix)), tuple((u > v) - (u < v) for u in flat for v in flat)


def slope(model, head):
    """L of a head by its formula, over all pairs of types and outputs."""
    mlp, U = model.layers[0].mlp, fractions(model.unembedding)
    vectors = [exact_vector(model, s, r) for s in range(model.symbols) for r in range(model.period)]
    moves = [apply(fractions(head.value), [a - b for a, b in zip(e, o, strict=True)]) for e in vectors for o in vectors]
    if mlp is None:
        return max(abs(value) for d in moves for value in apply(U, d))
    low = {"relu": 0, "tanh": 0, "sin": -1, "identity": 1}
    mid = [Fraction(low[kind] + 1, 2) for kind in mlp.activations]
    rad = [Fraction(1 - low[kind], 2) for kind in mlp.activations]
    A, W = fractions(mlp.inner), [apply(list(zip(*fractions(mlp.outer), strict=True)), row) for row in U]
    best = Fraction(0)
    for d in moves:
        inside = apply(A, d)
        for c, row in enumerate(W):
            linear = apply(U, d)[c] + sum(w * m * a for w, m, a in zip(row, mid, inside, strict=True))
            swing = sum(abs(w) * r * abs(a) for w, r, a in zip(row, rad, inside, strict=True))
            best = max(best, abs(linear) + swing)
    return best


def certificate_n(f, g, error, change=None):
    """N of Theorem 2, and ceil(B), by the note's pseudo-code; `change` makes one mistake on purpose."""
    period, locality = math.lcm(f.period, g.period), max(f.locality, g.locality)
    S = f.symbols * period
    heads = [(model, head, slope(model, head)) for model in (f, g) for head in model.layers[0].heads]
    threshold, best = Fraction(0), 0
    for query in itertools.product(range(f.symbols), range(period)):
        groups = {}
        for model, head, L in heads:
            if L:
                slots = options(model, head, query, period, locality)
                groups.setdefault(pattern(*slots), []).append((model, slots, L))
        act = sorted(groups.values(), key=lambda group: sum(L for _, _, L in group))
        if change == "heads are never grouped":
            act = sorted(([one] for group in act for one in group), key=lambda group: group[0][2])
        sums, rest = [sum(L for _, _, L in group) for group in act], error
        while sums and change != "no head is free" and sums[0] <= rest / len(sums):
            rest, sums, act = rest - sums[0], sums[1:], act[1:]
        etas = [rest / (len(sums) * L) for L in sums]
        if change == "the error is not shared":
            etas = [rest / L for L in sums]
        ties = [
            sum(any(value in itertools.chain(*prefix) for value in slot) for slot in suffix)
            for group in act
            for _, (prefix, suffix), _ in group[:1]
        ]
        c = Fraction(S, 2) + period - 1 + max(ties, default=0)
        if change == "c without the period":
            c -= period - 1
        if change == "c without ties":
            c -= max(ties, default=0)
        if etas:
            top = max(etas)
            raised = c + Fraction(S, 2) * top / (1 + top) * (change != "c is not raised")
            used = sorted(etas) if change == "no cap" else sorted(etas)[:S]
            B = raised * math.prod(1 + 1 / eta for eta in used) - c
            best = max(best, math.ceil(B) + (change == "one too many"))
        for group in act:
            for model, slots, _ in group:
                margin = gap(*slots)
                threshold = max(threshold, 0 if margin == math.inf else model.bits / Fraction(margin))
    n0 = max(math.ceil(2 ** float(threshold)), locality + 1 + period)
    return max(n0 + period - 1, locality + period + period * best), best, threshold


def theorem_p(f, g, error):
    """N of Theorem P in floats before rounding up, no head free."""
    period, locality = math.lcm(f.period, g.period), max(f.locality, g.locality)
    S, best = f.symbols * period, 0.0
    for query in itertools.product(range(f.symbols), range(period)):
        total = 0.0
        for model in (f, g):
            for head in model.layers[0].heads:
                prefix, _ = options(model, head, query, period, 0)
                flat = [value for slot in prefix for value in slot]
                phi = [float(head.phi[k]) if k < len(head.phi) else 0.0 for k in range(locality + 1)]
                reach = S / 4 + period - 1 + float(np.sum(np.exp(phi)))
                total += float(slope(model, head)) * math.exp(max(flat) - min(flat)) * reach
        best = max(best, total / float(error))
    return best, period, locality
