"""Kind `worst`: how far a model is from its target on all strings. Section 8 of the format, rule by rule."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

from .claim import Case, read_case
from .enclose import Enclosure, reaches, sin
from .evaluate import View, outputs
from .model import Model
from .network import Network
from .reader import MOST_WORK, Refused, Unreadable, about, fields, items, natural, number
from .roots import Key, check_roots, read_roots
from .shortening import check_string, check_views, read_view
from .small import check_small, how_many
from .words import conditions_in_words, decimal, target_in_words

FIELDS: tuple[str, ...] = ("target", "shortest", "where", "small", "roots", "witness", "lower")
MOST = 5 * MOST_WORK  # steps: more of them go into a second than in the other kinds
ALWAYS = 500  # steps of an evaluation, whatever the model
BENT = 100  # columns that a sin or tanh unit counts for


def check(claim: list[Any], models: list[Model], period: int, error: Fraction) -> str:
    """What the certificate says, in words, once every rule holds; Refused or Unreadable otherwise."""
    target, shortest, where, small, roots, said, least = claim
    case = read_case(target, shortest, where, small, models, period, error)
    suffix, length, table = fields(said, "witness", "suffix", "length", "table")
    tokens = [natural(token, "witness, suffix") for token in items(suffix, "witness, suffix")]
    witness = read_view({"length": length, "table": table}, "witness", tokens, case.model.symbols, period)
    lower = number(least, "lower")
    if lower < 0:
        raise Unreadable("a number >= 0", "a negative one", "lower")
    listed = read_roots(roots, case)
    network = Network(case)
    _check_work(case, network, listed)
    _check_witness(case, witness, lower)
    if (case.apart or period > 1) and case.small < case.apart + period:
        raise Refused(f"small is {about(case.small)}, less than {case.apart + period}: a residue may have no position")
    _check_hard(case)
    check_roots(case, network, listed)
    check_small(case, network)
    return (
        f"On every string of at least {about(case.shortest)} token{'s' * (case.shortest > 1)}{conditions_in_words(case)} the output of the model "
        f"differs from {target_in_words(case.target, case.model.symbols)} by at most {decimal(error, True)}; on the string of "
        f"{about(witness.length)} tokens with the counts of the witness it differs by at least {decimal(lower, False)}."
    )


def _check_witness(case: Case, witness: View, lower: Fraction) -> None:
    """Rule 1, by the evaluation of the other kinds: it shares nothing with that of cells."""
    check_string(witness, "witness", case.model.symbols, case.period)
    check_views(witness, witness, [case.model])
    prefix = [witness.table[token][residue] for token, residue in case.types]
    if len(witness.suffix) <= case.reach and any(prefix):
        raise Refused(f"the witness has a suffix of {len(witness.suffix)} tokens, and {case.reach + 1} are needed")
    if witness.length < case.shortest:
        raise Refused(f"the witness has {about(witness.length)} tokens, less than shortest")
    counts = prefix
    for offset, token in enumerate(reversed(witness.suffix)):
        counts[(witness.length - offset) % case.period * case.model.symbols + token] += 1
    for index, row in enumerate(case.conditions):
        if sum(v * count for v, count in zip(row, counts, strict=True)) < 0:
            raise Refused(f"the witness does not meet condition {index}")
    over, under = (
        sum(v * c for v, c in zip(row, counts, strict=True)) for row in (case.target.over, case.target.under)
    )
    value = Enclosure.of(case.target.scale * over / under if under else Fraction(0))
    value = sin(value) if case.target.activation == "sin" else value
    found = outputs(case.model, witness)[1][0] - value - Enclosure.of(case.target.ending(witness.suffix))
    apart = max(found.low, -found.high, Fraction(0))
    if apart < lower:
        raise Refused(f"the error at the witness is only known to be at least {decimal(apart, False)}")


def _check_hard(case: Case) -> None:
    """Rule 4: n_0^g >= 2^p for the least positive difference g of two logits of one head and query type."""
    if case.model.attention == "plain":
        return
    for head, logits in enumerate(case.logits):
        for query in case.types:
            values = sorted({v for slot in logits.slots(query, case.period) for v in slot})
            gaps = [b - a for a, b in pairwise(values)]
            if gaps and not reaches(case.small, Fraction(min(gaps), logits.denominator), case.model.bits or 1):
                raise Refused(f"strings of {about(case.small)} tokens do not make head {head} hard for {list(query)}")


def _check_work(case: Case, network: Network, listed: dict[Key, tuple[list[Any], str]]) -> None:
    """Bounds the time before any is spent: evaluations at corners and short strings, and the tables of every ending."""
    model, symbols = case.model, case.model.symbols
    entries = len(case.types) + case.reach + 1
    columns = 4 + network.relus + BENT * len(network.smooth)
    target = [case.target.scale.numerator, case.target.scale.denominator, *case.target.over, *case.target.under]
    places = network.places + max(map(int.bit_length, target))
    each = (len(model.heads) * entries * columns + ALWAYS) * (1 + places // 100)
    limit = MOST // each
    endings = symbols ** min(max(case.apart, 1), limit.bit_length() + 1) * case.period
    corners = symbols ** min(case.period, limit.bit_length() + 1) * (1 if case.period == 1 and not case.apart else 2)
    leaves = sum((len(tree) + 1) // 2 for tree, _ in listed.values())
    if endings + leaves * corners + how_many(case, limit) > limit:
        raise Unreadable(f"leaves, endings and short strings for which {MOST} steps suffice", "more")
