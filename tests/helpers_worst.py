"""Certificates of kind `worst` written by definition: roots, trees of equal splits, targets and errors in plain floats.

Nothing here asks the checker. Types (token, residue) have the index residue * symbols + token, as in its tables.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

import lengthwise as lw
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from lengthwise.theory.certificate_form import model_form

BEND = {"identity": lambda v: v, "sin": np.sin, "tanh": np.tanh, "relu": lambda v: np.maximum(v, 0)}


def tiny(rng, symbols, period=1, phi=(), heads=1, units=("relu", "relu", "relu"), width=2):
    """A random plain model with one output; small dyadic weights."""

    def draw(*shape, size=1.0):
        return np.round(rng.normal(0, size, shape) * 64) / 64

    own = tuple(
        Head(draw(width, width), draw(width, width, size=0.7), draw(width, width), np.asarray(phi, float))
        for _ in range(heads)
    )
    mlp = MLP(draw(len(units), width, size=2), draw(len(units)), draw(width, len(units)), units) if units else None
    return LimitTransformer(
        embedding=draw(symbols, width),
        positions=draw(period, width, size=0.5),
        layers=(Layer(own, mlp),),
        unembedding=draw(1, width),
        attention="plain",
    )


def weighted(values, units=()):
    """A plain model by hand: head a gives the mean of values[a][token], weighted with weights[a][token].

    values[a] is a list of (weight, value) by token. Coordinates: one-hot token, one answer a head, the output. A unit is
    (activation, factor by head, bias, weight in the output); without units the output is the sum of the answers.
    """
    symbols = len(values[0])
    width = symbols + len(values) + 1
    own = []
    for a, pairs in enumerate(values):
        key, query, value = np.zeros((1, width)), np.zeros((1, width)), np.zeros((width, width))
        key[0, :symbols] = [math.log(weight) for weight, _ in pairs]
        query[0, :symbols] = 1
        value[symbols + a, :symbols] = [v for _, v in pairs]
        own.append(Head(key, query, value))
    inner = np.array([[0] * symbols + list(factors) + [0] for _, factors, _, _ in units], float).reshape(-1, width)
    outer = np.zeros((width, len(units)))
    outer[-1] = [weight for *_, weight in units]
    last = np.zeros((1, width))
    last[0, -1] = 1
    if not units:
        last[0, symbols:-1] = 1
    mlp = MLP(inner, [bias for _, _, bias, _ in units], outer, tuple(kind for kind, *_ in units)) if units else None
    return LimitTransformer(
        embedding=np.eye(symbols, width), layers=(Layer(tuple(own), mlp),), unembedding=last, attention="plain"
    )


def target(over, under, scale=1, activation="identity", tail=()):
    """The field `target`; over and under by token and residue."""
    return {
        "activation": activation,
        "scale": scale,
        "over": [list(row) for row in over],
        "under": [list(row) for row in under],
        "tail": [list(row) for row in tail],
    }


def flat(table):
    """A table [token][residue] by the index of the type."""
    return [float(Fraction(v)) for column in zip(*table, strict=True) for v in column]


def aim(goal, counts, suffix=()):
    """T for numbers of types, suffix included; suffix in reading order."""
    over, under = (float(np.dot(flat(goal[name]), counts)) for name in ("over", "under"))
    v = float(Fraction(goal["scale"])) * over / under if under else 0.0
    tail = sum(float(Fraction(row[token])) for row, token in zip(goal["tail"], reversed(suffix), strict=False))
    return float(BEND[goal["activation"]](v)) + tail


def output(model, query, counts, near, size=1.0, length=None):
    """F by definition in floats: real numbers of types, and tokens with offsets that count `size` each.

    query and near hold (token, residue); log-length attention with bits is that of a string of `length`, or hard.
    """
    symbols, own = model.symbols, model.period
    kinds = [(k % symbols, (k // symbols) % own) for k in range(len(counts))]
    vector = {
        kind: model.embedding[kind[0]] + model.positions[kind[1]]
        for kind in itertools.product(range(symbols), range(own))
    }
    ask = vector[query[0], query[1] % own]
    y = ask.copy()
    for head in model.layers[0].heads:
        entries = [(kind, n, 0.0) for kind, n in zip(kinds, counts, strict=True)]
        for k, (token, residue) in enumerate(near):
            entries.append(((token, residue % own), size, float(head.phi[k]) if k < len(head.phi) else 0.0))
        logits = [float((head.key @ vector[kind]) @ (head.query @ ask)) + phi for kind, _, phi in entries]
        there = [v for v, (_, n, _) in zip(logits, entries, strict=True) if n > 0 and v > -math.inf]
        if not there:
            continue
        masses = [n * _weight(model, max(there) - v, length) for v, (_, n, _) in zip(logits, entries, strict=True)]
        mean = sum(m * vector[kind] for m, (kind, _, _) in zip(masses, entries, strict=True) if m) / sum(masses)
        y = y + head.value @ mean
    mlp = model.layers[0].mlp
    if mlp is not None:
        before = mlp.inner @ y + mlp.bias
        y = y + mlp.outer @ np.array([BEND[kind](v) for kind, v in zip(mlp.activations, before, strict=True)])
    return float((model.unembedding @ y)[0])


def _weight(model, gap, length):
    if gap == math.inf or gap < -1e-12:
        return 0.0
    if model.attention == "plain":
        return math.exp(-gap)
    if length is None:
        return float(gap < 1e-9)
    return 0.0 if gap * math.log2(length) >= model.bits - 1e-9 else length**-gap


# --- certificates ---


def depth_of(model, goal):
    """h: how many tokens are set apart."""
    local = any(np.any(head.phi != 0) for head in model.layers[0].heads)
    reach = max(
        [k for head in model.layers[0].heads for k, phi in enumerate(head.phi) if phi != 0] + [len(goal["tail"]) - 1, 0]
    )
    return reach + 1 if local or goal["tail"] else 0


def roots_of(model, goal, period):
    """Every (suffix, residue, levels, allowed tokens by residue) that may have strings."""
    h, symbols = depth_of(model, goal), model.symbols
    for suffix in itertools.product(range(symbols), repeat=max(h, 1)):
        for residue in range(period):
            if model.attention == "plain":
                yield list(suffix), residue, [], [list(range(symbols))] * period
                continue
            choices, tables = [], []
            for head in model.layers[0].heads:
                ask = head.query @ (model.embedding[suffix[-1]] + model.positions[residue % model.period])

                def logit(s, r, head=head, ask=ask):
                    return round(float((head.key @ (model.embedding[s] + model.positions[r % model.period])) @ ask), 9)

                near = [
                    logit(s, residue - k) + (head.phi[k] if k < len(head.phi) else 0)
                    for k, s in enumerate(reversed(suffix))
                ]
                table = {(s, r): logit(s, r) for s in range(symbols) for r in range(period)}
                least = max(near)
                choices.append(
                    [(v, v == least) for v in sorted({v for v in table.values() if v >= least} | {least})[::-1]]
                )
                tables.append(table)
            for levels in itertools.product(*(range(len(own)) for own in choices)):
                tops = [own[level] for own, level in zip(choices, levels, strict=True)]
                fits = {
                    t for t in tables[0] if all(table[t] <= top for table, (top, _) in zip(tables, tops, strict=True))
                }
                allowed = [[s for s in range(symbols) if (s, r) in fits] for r in range(period)]
                found = all(
                    given or any(table[t] == top for t in fits)
                    for table, (top, given) in zip(tables, tops, strict=True)
                )
                if found and all(allowed):
                    yield list(suffix), residue, list(levels), allowed


def tree(vertices, depth, leaf, rows=(), residue=0):
    """Nodes of equal splits of the longest edges, residue by residue, down to a depth.

    rows: conditions as a number a token (one residue, no suffix); in the end, edges on which one changes its sign are cut there.
    """
    for k, row in enumerate(() if depth else rows):
        signs = [float(np.dot(row, q)) for q in vertices[0]]
        if max(signs) < 1e-12:
            return [[*leaf, k]]
        pairs = itertools.combinations(range(len(signs)), 2)
        for a, b in (pair for pair in pairs if signs[pair[0]] * signs[pair[1]] < -1e-12):
            one, two = abs(signs[b]), abs(signs[a])
            point = (one * vertices[0][a] + two * vertices[0][b]) / (one + two)
            return _both(vertices, 0, a, b, -1 - k, point, lambda cell: tree(cell, depth, leaf, rows, residue))
    r = next(
        (r % len(vertices) for r in range(residue, residue + len(vertices)) if len(vertices[r % len(vertices)]) > 1),
        None,
    )
    if not depth or r is None:
        return [leaf]
    own = vertices[r]
    a, b = max(itertools.combinations(range(len(own)), 2), key=lambda e: np.abs(own[e[0]] - own[e[1]]).max())
    return _both(vertices, r, a, b, 8, (own[a] + own[b]) / 2, lambda cell: tree(cell, depth - 1, leaf, rows, r + 1))


def _both(vertices, r, a, b, cut, point, further):
    found = [[r, a, b, cut]]
    for gone in (b, a):
        child = [*vertices[r][:gone], point, *vertices[r][gone + 1 :]]
        found += further([*vertices[:r], child, *vertices[r + 1 :]])
    return found


def certificate(
    model, goal, error, *, period=1, shortest=1, small=12, where=(), depth=0, halves=0, witness=None, lower=0
):
    """A certificate whose leaves claim all that the error allows, by equal splits; `halves` halves the intervals first."""
    most = math.floor(Fraction(str(error)) * 2**30)
    h, roots = depth_of(model, goal), []
    for suffix, residue, levels, allowed in roots_of(model, goal, period):
        corners = [[np.eye(model.symbols)[s] for s in own] for own in allowed]
        flat_interval = not h and not (residue - h) % period
        cuts = (
            [[v + float(Fraction(c["length"])) for v in flat(c["counts"])] for c in where]
            if flat_interval and period == 1
            else []
        )
        nodes = tree(corners, depth, [-most, most], cuts)
        for _ in range(0 if flat_interval else halves):
            nodes = ["t", *nodes, *nodes]
        roots.append({"suffix": suffix, "residue": residue, "levels": levels, "tree": nodes})
    return {
        "format": "lengthwise certificate",
        "version": 1,
        "kind": "worst",
        "error": str(Fraction(str(error))),
        "period": period,
        "models": [model_form(model, "")],
        "target": goal,
        "shortest": shortest,
        "where": list(where),
        "small": small,
        "roots": roots,
        "witness": witness or any_witness(model.symbols, period, max(h, 1), shortest + h + period),
        "lower": lower,
    }


def any_witness(symbols, period, apart, length):
    """A string of zeros."""
    prefix = length - apart
    sizes = [prefix // period + (1 <= r <= prefix % period) for r in range(period)]
    return {
        "suffix": [0] * apart,
        "length": length,
        "table": [sizes if s == 0 else [0] * period for s in range(symbols)],
    }


def strings(model, goal, period, lengths, where=()):
    """(error, suffix, table, length) of every string of these lengths that meets the conditions, by lw.evaluate_counts."""
    apart, symbols = max(depth_of(model, goal), 1), model.symbols
    for n in lengths:
        near = min(n, apart)
        sizes = [(n - near) // period + (1 <= r <= (n - near) % period) for r in range(period)]
        columns = itertools.product(
            *([c for c in itertools.product(range(size + 1), repeat=symbols) if sum(c) == size] for size in sizes)
        )
        for rows in columns:
            table = [[column[s] for column in rows] for s in range(symbols)]
            for suffix in itertools.product(range(symbols), repeat=near):
                counts = np.array([v for column in rows for v in column], float)
                for k, s in enumerate(reversed(suffix)):
                    counts[(n - k) % period * symbols + s] += 1
                if all(np.dot(flat(c["counts"]), counts) + float(Fraction(c["length"])) * n >= 0 for c in where):
                    f = float(lw.evaluate_counts(model, lw.Counts(suffix, table))[0])
                    yield f - aim(goal, counts, suffix), suffix, table, n
