"""A short string for a long one by sampling and measuring: for every model that the evaluators run.

The theorems for two layers promise a rate with worst-case constants; evaluation is linear in the length, so drawing a
few short strings and measuring them finds much better ones. What is reported is what was measured.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from lengthwise.errors import WrongInput
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import LimitTransformer
from lengthwise.theory.balanced_windows import balanced_offsets
from lengthwise.theory.samplers import boundaries, drawn_offsets, kept_windows, tail_length
from lengthwise.theory.sampling_rates import Shape

LARGEST_BALANCED = 200_000_000  # numbers in the rows that balanced windows keep in memory
Report = Callable[[int, int, float], None]


@dataclass(frozen=True)
class Measured:
    """A short string as positions of the long one (from 0), the measured 2-norm error of each model, and the search.

    blocks and window: of the windows it is made of; tried: how many strings were evaluated.
    """

    positions: Int[np.ndarray, " kept"]
    errors: tuple[float, ...]
    sampler: str
    blocks: int
    window: int
    tried: int

    @property
    def error(self) -> float:
        """The sum of the models' errors."""
        return sum(self.errors)


def shape_of(models: Sequence[LimitTransformer], statistics: int = 0) -> Shape:
    """The sizes that a sampler must respect for these models."""
    period = int(np.lcm.reduce([model.period for model in models]))
    return Shape(models[0].symbols, max(model.locality for model in models), period, statistics)


def measured_search(
    models: Sequence[LimitTransformer],
    tokens: Int[np.ndarray, " n"],
    length: int,
    draws: int = 16,
    seed: int = 0,
    balanced: bool = True,
    report: Report | None = None,
) -> Measured:
    """The best of some sampled strings of at most `length` tokens, and of re-draws of single windows of the best.

        minimise  sum_f ||f(z) - f(x)||  over z = x_I, I windows (S1 drawn, S2 balanced) and the tail

    A third of the draws goes to each stage: a grid of windows, the best windows again, one window at a time.
    Deterministic by seed. Source: two-layer note, section 7. Ours: for any model that `evaluate` runs; nothing is
    promised beforehand where no theorem covers the model.
    """
    shape = shape_of(models)
    tail = tail_length(len(tokens), shape)
    if len(tokens) <= length:
        return Measured(np.arange(len(tokens)), (0.0,) * len(models), "the string itself", 0, 0, 0)
    if length < tail + shape.period:
        raise WrongInput(
            f"a length of at least {tail + shape.period} (locality {shape.locality}, period {shape.period})",
            f"{length}",
            "allow a longer string",
            "length",
        )
    search = _Search(models, tokens, shape, report, 3 * max(1, draws // 3) + balanced)
    generator = np.random.default_rng(seed)
    grid = window_grid(length - tail, len(tokens) - tail, shape)
    for blocks, window in itertools.islice(itertools.cycle(grid), max(1, draws // 3)):
        search.try_windows(drawn_offsets(generator, len(tokens), blocks, window, shape), window, "stratified windows")
    best = search.best
    for _ in range(max(1, draws // 3)):
        offsets = drawn_offsets(generator, len(tokens), best.blocks, best.window, shape)
        search.try_windows(offsets, best.window, "stratified windows")
    if balanced and _can_balance(models, tokens):
        blocks, window = min(grid, key=lambda pair: abs(pair[0] - pair[1] / shape.period))
        search.try_windows(balanced_offsets(models, tokens, blocks, window, shape), window, "balanced windows")
    ends = np.diff(boundaries(len(tokens), search.best.blocks, shape))
    for _ in range(max(1, draws // 3)):
        block = int(generator.integers(search.best.blocks))
        moved = search.offsets.copy()
        moved[block] = shape.period * generator.integers(ends[block] // shape.period)
        search.try_windows(moved, search.best.window, search.best.sampler)
    return search.best


def window_grid(kept: int, prefix: int, shape: Shape) -> list[tuple[int, int]]:
    """Pairs (K, B) with K B <= kept <= T', B a multiple of Delta: around n^(1/3) and n^(1/2), the best of the rates."""
    sizes = []
    for power in (1 / 2, 1 / 3, 2 / 3, 1 / 5):
        window = shape.period * max(1, round(kept**power / shape.period))
        if window <= kept and (kept // window) * window <= prefix and window not in sizes:
            sizes.append(window)
    return [(kept // window, window) for window in sizes] or [(kept // shape.period, shape.period)]


def _can_balance(models: Sequence[LimitTransformer], tokens: Int[np.ndarray, " n"]) -> bool:
    """Balanced windows are about the functionals of a second layer, and keep a row a position in memory."""
    fits = sum(model.width for model in models) * len(tokens) <= LARGEST_BALANCED
    return fits and all(model.depth == 2 and model.attention == "log-suffix" for model in models)


class _Search:
    """The best string so far."""

    def __init__(
        self,
        models: Sequence[LimitTransformer],
        tokens: Int[np.ndarray, " n"],
        shape: Shape,
        report: Report | None,
        planned: int,
    ) -> None:
        self.models, self.tokens, self.shape, self.report, self.planned = models, tokens, shape, report, planned
        self.wanted = tuple(np.asarray(evaluate(model, tokens)) for model in models)
        self.best = Measured(np.arange(0), (np.inf,) * len(models), "", 0, 0, 0)
        self.offsets: Int[np.ndarray, " K"] = np.zeros(0, np.int64)

    def try_windows(self, offsets: np.ndarray, window: int, sampler: str) -> None:
        """Evaluates one short string and keeps it if it is the best so far."""
        positions = kept_windows(len(self.tokens), window, offsets, self.shape)
        errors = tuple(self._errors(self.tokens[positions]))
        tried = self.best.tried + 1
        if sum(errors) < self.best.error or not len(self.best.positions):
            self.offsets = np.asarray(offsets)
            self.best = Measured(positions, errors, sampler, len(offsets), window, tried)
        else:
            old = self.best
            self.best = Measured(old.positions, old.errors, old.sampler, old.blocks, old.window, tried)
        if self.report is not None:
            self.report(tried, self.planned, self.best.error)

    def _errors(self, short: Int[np.ndarray, " m"]) -> Iterator[float]:
        for model, wanted in zip(self.models, self.wanted, strict=True):
            yield measured_error(wanted, np.asarray(evaluate(model, short)))


def measured_error(long: Float[np.ndarray, " outputs"], short: Float[np.ndarray, " outputs"]) -> float:
    """The Euclidean distance of two outputs, in float64."""
    return float(np.linalg.norm(np.asarray(long, np.float64) - np.asarray(short, np.float64)))
