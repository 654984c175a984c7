"""Expected errors measured: random strings drawn as count vectors, at a cost that does not depend on their length.

What a one-layer model sees of a string is its ending and its counts. So m strings of any length are m draws of
proportions, of endings, and of one multinomial count vector for every residue. Two lengths are compared on the same
proportions and endings, which is the coupling of the theorem's proof.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from lengthwise.errors import WrongInput, shown
from lengthwise.limit.counts import evaluate_counts
from lengthwise.limit.linear import first_layer_columns
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.patterns import Comparison, ranks
from lengthwise.theory.law import DirichletLaw
from lengthwise.theory.pair import check_pair
from lengthwise.type_counts import Counts, class_size

LONGEST = 2**62  # NumPy draws counts as 64-bit integers
BLOCK = 8_192  # strings evaluated at a time
CONFIDENCE = 0.95
_NORMAL = 1.959963984540054  # the standard normal quantile of 0.975


@dataclass(frozen=True)
class Mean:
    """A sample mean: +- interval is 1.96 s/sqrt(m), right for large m; radius is Hoeffding's, right for every m.

    radius is that of a 95 % two-sided statement about values in an interval of the length `width`.
    """

    mean: float
    interval: float
    radius: float
    width: float
    samples: int

    @classmethod
    def of(cls, values: Float[np.ndarray, " samples"], width: float) -> "Mean":
        """The mean of independent values that lie in an interval of this length.

        radius = width sqrt(log(2 / (1 - confidence)) / (2 m)). Source: one-layer note, section 8 (Hoeffding).
        """
        m = len(values)
        spread = float(values.std(ddof=1)) if m > 1 else math.inf
        radius = width * math.sqrt(math.log(2 / (1 - CONFIDENCE)) / (2 * m))
        return cls(float(values.mean()), _NORMAL * spread / math.sqrt(m), radius, width, m)


@dataclass(frozen=True)
class Sampled:
    """Expected errors of two models at some lengths, and what the coupling of the proof sees.

    errors[length] is E max_c |f - g|_c; drift is that at the last length minus that at the first, on the same
    proportions; variation[head] is E TV between the attended laws of a head (model, head) at these two lengths, with no entries for a single length;
    bound: sum_h L_h E TV_h, so what of the theorem's bound is due to the Lipschitz constants alone.
    """

    errors: dict[int, Mean]
    drift: Mean
    variation: dict[tuple[int, int], Mean]
    seed: int

    def bound(self, comparison: Comparison) -> float:
        """sum_h L_h E TV_h, from the estimates."""
        return sum(float(comparison.sensitivities[head]) * one.mean for head, one in self.variation.items())


def sample_errors(
    first: LimitTransformer,
    second: LimitTransformer,
    alpha: Any,
    lengths: Sequence[int],
    samples: int = 10_000,
    seed: int = 0,
) -> Sampled:
    """Expected errors at several lengths by m random strings each, drawn as counts; float64.

    The lengths must be congruent modulo the common period, since the coupling keeps the residues of the ending. The
    same seed gives the same draws; proportions and endings are common to all lengths, prefixes are independent.
    Source: one-layer note, section 8, Monte-Carlo companion.
    """
    check_pair(first, second)
    law = DirichletLaw.of(alpha, first.symbols)
    comparison = Comparison(first, second)
    _check(comparison, law, lengths, samples, seed)
    root = np.random.SeedSequence(seed)
    common, *own = (np.random.Generator(np.random.PCG64(child)) for child in root.spawn(1 + len(lengths)))
    shares = common.dirichlet([float(weight) for weight in law.alpha], size=samples)
    suffix = _suffixes(common, shares, comparison.locality + 1)
    errors: dict[int, Float[np.ndarray, " samples"]] = {}
    seen: list[Int[np.ndarray, "types samples"]] = []
    for length, stream in zip(lengths, own, strict=True):
        drawn = draw_counts(stream, shares, length - comparison.locality - 1, comparison.period)
        errors[length] = _errors(first, second, drawn, suffix, length)
        seen = [*seen[:1], drawn]  # of the first and of the last length
    moving = _moving(comparison) if len(lengths) > 1 else []
    width = error_range(first, second, comparison, lengths[0])
    return Sampled(
        {length: Mean.of(values, width) for length, values in errors.items()},
        Mean.of(errors[lengths[-1]] - errors[lengths[0]], 2 * width),
        {head: Mean.of(_variation(comparison, head, suffix, lengths[0], *seen), 1.0) for head in moving},
        seed,
    )


def draw_counts(
    stream: np.random.Generator, shares: Float[np.ndarray, "samples symbols"], prefix: int, period: int
) -> Int[np.ndarray, "types samples"]:
    """Counts by type of random prefixes: for every residue class of C_r positions, a multinomial of size C_r."""
    samples, symbols = shares.shape
    table = np.empty((symbols, period, samples), dtype=np.int64)
    for residue in range(period):
        table[:, residue] = stream.multinomial(class_size(prefix, residue, period), shares).T
    return table.reshape(symbols * period, samples)


def error_range(first: LimitTransformer, second: LimitTransformer, comparison: Comparison, length: int) -> float:
    """No error is larger: max over query tokens of |f(x0) - g(x0)| + sum of all L, with x0 = y y y ... of query y.

    Total variations are at most 1 and the L run over all pairs of types, so any one string per query type will do, in
    any regime of attention. Source: one-layer note, section 8. Rounded up by 1e-9, far more than float64 errs by.
    """
    total = float(sum(slope for slope in comparison.sensitivities.values()))
    period, prefix = comparison.period, length - comparison.locality - 1
    sizes = [class_size(prefix, residue, period) for residue in range(period)]
    largest = 0.0
    for token in range(comparison.symbols):
        table = [sizes if row == token else [0] * period for row in range(comparison.symbols)]
        counts = Counts((token,) * (comparison.locality + 1), tuple(map(tuple, table)))
        gap = np.asarray(evaluate_counts(first, counts)) - np.asarray(evaluate_counts(second, counts))
        largest = max(largest, float(np.abs(gap).max()))
    return (largest + total) * (1 + 1e-9)


def _errors(
    first: LimitTransformer,
    second: LimitTransformer,
    counts: Int[np.ndarray, "types samples"],
    suffix: Int[np.ndarray, "offsets samples"],
    length: int,
) -> Float[np.ndarray, " samples"]:
    """Max_c |f - g|_c for every sample."""
    parts = []
    for start in range(0, counts.shape[1], BLOCK):
        block = slice(start, start + BLOCK)
        outputs = [outputs_of_counts(model, counts[:, block], suffix[:, block], length) for model in (first, second)]
        parts.append(np.abs(outputs[0] - outputs[1]).max(axis=0))
    return np.concatenate(parts)


def outputs_of_counts(
    model: LimitTransformer,
    counts: Int[np.ndarray, "types samples"],
    suffix: Int[np.ndarray, "offsets samples"],
    length: int,
) -> Float[np.ndarray, "outputs samples"]:
    """A model's outputs on many strings of one length: attention with its own rule and precision, in float64.

    counts: of the prefix by type, at a multiple of the model's period; suffix: the tokens, offset 0 first.
    """
    symbols, own = model.symbols, model.period
    lifted = len(counts) // symbols
    folded = counts.reshape(symbols, lifted // own, own, -1).sum(axis=1).reshape(symbols * own, -1).astype(np.float64)
    offsets = np.arange(suffix.shape[0])[:, None]
    types = suffix * own + (length - offsets) % own
    log_position = np.full(suffix.shape[1], math.log(length))
    stream = first_layer_columns(model, folded, types, log_position, length)
    return np.asarray(np.asarray(model.unembedding, np.float64) @ stream)


def _variation(
    comparison: Comparison,
    head: tuple[int, int],
    suffix: Int[np.ndarray, "offsets samples"],
    length: int,
    short: Int[np.ndarray, "types samples"],
    long: Int[np.ndarray, "types samples"],
) -> Float[np.ndarray, " samples"]:
    """The total variation between what a head attends to under hardmax in two strings, sample by sample.

    Atoms are types and suffix offsets; attended sets are decided by the ranks of exact logits. Where the largest
    logits differ it is 1.
    """
    prefix, near = _rank_tables(comparison, head, length)
    attended = [
        _law(prefix[:, suffix[0]], near[np.arange(len(suffix))[:, None], suffix[0], suffix], counts)
        for counts in (short, long)
    ]
    (first, first_top), (second, second_top) = attended
    moved = np.abs(first - second).sum(axis=0) / 2
    return np.where(first_top == second_top, moved, 1.0)


def _rank_tables(
    comparison: Comparison, head: tuple[int, int], length: int
) -> tuple[Int[np.ndarray, "types symbols"], Int[np.ndarray, "offsets symbols symbols"]]:
    """Ranks of logits by (key type, query token) and by (offset, query token, key token); -1 where masked."""
    symbols = comparison.symbols
    prefix = np.empty((comparison.types, symbols), dtype=np.int64)
    near = np.full((comparison.locality + 1, symbols, symbols), -1)
    for token in range(symbols):
        own, *others = ranks(comparison.slots(head, token, length))
        prefix[:, token] = own
        for offset, options in enumerate(others):
            if options:
                near[offset, token] = options if offset else options[0]
    return prefix, near


def _law(
    prefix: Int[np.ndarray, "types samples"],
    near: Int[np.ndarray, "offsets samples"],
    counts: Int[np.ndarray, "types samples"],
) -> tuple[Float[np.ndarray, "atoms samples"], Int[np.ndarray, " samples"]]:
    """The attended law over types and offsets, and the rank of the largest logit."""
    top = np.maximum(np.where(counts > 0, prefix, -1).max(axis=0), near.max(axis=0))
    weights = np.concatenate([np.where(prefix == top, counts, 0), near == top]).astype(np.float64)
    return weights / np.maximum(weights.sum(axis=0), 1), top


def _suffixes(
    stream: np.random.Generator, shares: Float[np.ndarray, "samples symbols"], offsets: int
) -> Int[np.ndarray, "offsets samples"]:
    """The last tokens, offset 0 first, drawn independently from the proportions."""
    ends = np.cumsum(shares, axis=1)
    drawn = stream.random((offsets, len(shares), 1)) * ends[:, -1:]
    found: Bool[np.ndarray, "offsets samples symbols"] = drawn >= ends
    return np.asarray(np.minimum(found.sum(axis=2), shares.shape[1] - 1))


def _moving(comparison: Comparison) -> list[tuple[int, int]]:
    return [head for head, slope in comparison.sensitivities.items() if slope]


def _check(comparison: Comparison, law: DirichletLaw, lengths: Sequence[int], samples: int, seed: int) -> None:
    if law.missing:
        got = f"weight 0 for token {law.missing[0]}"
        raise WrongInput("weights above 0", got, "leave the token out of the models", "alpha")
    if math.inf in comparison.sensitivities.values():
        raise WrongInput("models with finite sensitivities", "a Heaviside step", "replace it by a steep ramp", "models")
    least = comparison.locality + 1
    bad = next((n for n in lengths if not isinstance(n, int) or not least <= n <= LONGEST), None)
    if bad is not None or not lengths:
        got = "none" if not lengths else shown(bad)
        raise WrongInput(f"lengths from {least} to 2^62", got, "choose others", "lengths")
    if len({n % comparison.period for n in lengths}) > 1:
        wanted = f"lengths that are congruent modulo the period {comparison.period}"
        raise WrongInput(wanted, shown(list(lengths)), "the ending keeps its residues", "lengths")
    if not isinstance(samples, int) or samples < 2:
        raise WrongInput("at least 2 samples", shown(samples), "draw more", "samples")
    if not isinstance(seed, int) or seed < 0:
        raise WrongInput("a seed >= 0", shown(seed), "choose another", "seed")
