"""Which models and targets a certified worst error can be asked for, and what is said of the others."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

from lengthwise.errors import WrongInput
from lengthwise.exact import ceil_power_of_two
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.tables import LogitTable, slots
from lengthwise.theory.forms import FormMaker
from lengthwise.theory.frequency_target import FrequencyTarget, whole_counts
from lengthwise.theory.where import Condition
from lengthwise.type_counts import Counts

ATTACK = "search for bad strings instead: lengthwise attack"
MOST_DIMENSIONS = 6  # of frequencies: (tokens - 1) for every residue
MOST_UNITS = 3_000
MOST_ENDINGS = 2_000
MOST_TABLES = 4_000_000
MOST_LEVEL_BITS = 40  # log2 of the length from which attention is hard, beyond which nothing is listed


@dataclass(frozen=True, eq=False)
class Problem:
    """A model and a target that fit each other, with what they are compared on."""

    model: LimitTransformer
    target: FrequencyTarget
    shortest: int
    where: Condition | None
    maker: FormMaker
    hard_from: int

    def holds(self, counts: Counts) -> bool:
        """Whether a string meets the conditions, exactly."""
        return self.where is None or self.where.holds(whole_counts(counts), counts.length)

    def check_tables(self, tables: int, start: int) -> None:
        """Whether the short strings can be listed."""
        if tables > MOST_TABLES:
            why = "attention is hard" if self.model.attention != "plain" else "cells take over"
            raise WrongInput(
                f"at most {MOST_TABLES:,} short strings to look at",
                f"{'more' if tables > MOST_TABLES else f'{tables:,}'} below length {start:,} ({why} from there on)",
                f"ask about longer strings only: --from-length {start}",
                "model",
            )


def admitted(model: LimitTransformer, target: FrequencyTarget, shortest: int, where: Condition | None) -> Problem:
    """The problem, if a certificate can speak of it."""
    if model.depth != 1:
        raise WrongInput("a model with one layer", f"{model.depth} layers", ATTACK, "model")
    if model.attention == "log-suffix":
        raise WrongInput("plain or log-length attention", "log-suffix", ATTACK, "model")
    if model.attention == "log-length" and model.bits is None:
        raise WrongInput(
            "log-length attention with bits, which becomes hard", "attention without bits", "give --bits P", "model"
        )
    if len(model.unembedding) != 1:
        raise WrongInput("a model with one output", f"{len(model.unembedding)} outputs", ATTACK, "model")
    mlp = model.layers[0].mlp
    if mlp is not None and "heaviside" in mlp.activations:
        raise WrongInput("units of relu, sin, tanh or identity", "heaviside units", ATTACK, "model")
    if mlp is not None and len(mlp.bias) > MOST_UNITS:
        raise WrongInput(f"at most {MOST_UNITS:,} units", f"{len(mlp.bias):,}", ATTACK, "model")
    if not model.layers[0].heads:
        raise WrongInput(
            "a layer with at least one head", "none", "its output is a constant of the last token", "model"
        )
    if target.symbols != model.symbols:
        raise WrongInput(
            f"a target over the model's {model.symbols} tokens",
            f"{target.symbols}",
            "name the task it was made for",
            "task",
        )
    if target.period % model.period:
        raise WrongInput(
            f"a target whose period is a multiple of the model's {model.period}", f"{target.period}", ATTACK, "task"
        )
    if where is not None and not where.homogeneous:
        raise WrongInput(
            "conditions on frequencies, without constants", f"{where}", "multiply the constant with n", "where"
        )
    dimensions = (target.symbols - 1) * target.period
    if dimensions > MOST_DIMENSIONS:
        raise WrongInput(
            f"at most {MOST_DIMENSIONS} free frequencies (tokens - 1, for every residue)",
            f"{dimensions}, which would take some 10^{2 * dimensions} cells",
            ATTACK,
            "model",
        )
    maker = FormMaker(model, target, () if where is None else where.rows)
    many = target.symbols ** max(maker.apart, 1) * target.period
    if many > MOST_ENDINGS:
        raise WrongInput(f"at most {MOST_ENDINGS:,} endings", f"{many:,} (locality {maker.locality})", ATTACK, "model")
    problem = Problem(model, target, shortest, where, maker, 1)
    return Problem(model, target, shortest, where, maker, threshold(problem))


def threshold(problem: Problem) -> int:
    """The length from which every head is a hardmax: the least n with n^g >= 2^p, g the least gap of two of its logits.

    1 for plain attention, which needs none. Source: one-layer note, Lemma 1; the least gap of all logits a query type
    can meet, which is at most the margin of the note, so that a checker can find it without the note's slots.
    """
    model, maker, target = problem.model, problem.maker, problem.target
    if model.attention == "plain":
        return 1
    least: Fraction | None = None
    for token, residue in product(range(target.symbols), range(target.period)):
        for table in maker.tables:
            gap = _least_gap(table, token, residue, target.period)
            least = gap if least is None or (gap is not None and gap < least) else least
    if least is None:
        return 1
    assert model.bits is not None
    if Fraction(model.bits) / least > MOST_LEVEL_BITS:
        raise WrongInput(
            f"attention that is hard from a length up to 2^{MOST_LEVEL_BITS}",
            f"2^{float(Fraction(model.bits) / least):.4g}",
            f"round the logits, take fewer bits, or {ATTACK}",
            "model",
        )
    return ceil_power_of_two(Fraction(model.bits) / least)


def _least_gap(table: LogitTable, token: int, residue: int, period: int) -> Fraction | None:
    options = slots(table, token, residue, period)
    values = sorted({*options.prefix, *(value for given in options.suffix for value in given)})
    gaps = [b - a for a, b in pairwise(values)]
    return Fraction(min(gaps), options.denominator) if gaps else None
