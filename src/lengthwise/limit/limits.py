"""The limit of the first layer of a log-suffix model, and how far a two-layer model is from its limit."""

import numpy as np
from jaxtyping import Float

from lengthwise.errors import WrongInput, shown
from lengthwise.exact import Ball, least, power_sum
from lengthwise.limit.attention import add_mlp
from lengthwise.limit.complexity import Complexity, FirstLayerHead
from lengthwise.limit.layer_constants import total
from lengthwise.limit.model import Head, LimitTransformer
from lengthwise.limit.regimes import Regime, regimes
from lengthwise.strings import encode

_CHUNK = 65_536


def layer_one_error(constants: Complexity, position: int) -> float:
    """How far layer 1 can be from its limit at a position (2-norm), rounded up.

        E_1(i) = lambda_1 sum_h D_h min(1, (tau + 1) e^omega_h i^-eta_h),   eta_h = min(gamma_h, 1)

    Source: two-layer note, section 2 and Lemma 1.
    """
    return _at(constants, _natural(position, "position")).upper()


def limit_error(constants: Complexity, length: int) -> float:
    """How far the whole network can be from its limit on strings of a length (2-norm), rounded up; any length.

        Delta_lim(n) = Lambda { E_1(n) (1 + sum kappa) + sum_h beta_h [e^omega_2 mean_{i <= n} E_1(i)
                       + at_h E_1(max(n - tau, 1))] + sum_h has_h D_2 min(1, (tau + 1) e^omega_2 n^-eta_2) }

    Source: two-layer note, section 2 and Lemma 4.
    """
    n = _natural(length, "length")
    tau, heads = constants.locality, constants.second
    here, mean, early = _at(constants, n), _mean(constants, n), _at(constants, max(n - tau, 1))
    result = here * (1 + total(Ball.upto(head.query_gain) for head in heads))
    for head in heads:
        ratio = Ball.upto(head.spread).apply("exp")
        result = result + Ball.upto(head.key_gain) * (ratio * mean + (early if head.atoms else 0))
        if head.has_suffix:
            far = (tau + 1) * ratio * Ball.of(n).power(-head.regime.rate)
            result = result + Ball.upto(head.diameter) * least(far, Ball.of(1))
    return (Ball.upto(constants.readout_gain) * result).upper()


def _natural(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise WrongInput("a whole number >= 1", shown(value), "positions and lengths start at 1", name)
    return value


def _factor(constants: Complexity, head: FirstLayerHead) -> Ball:
    """(tau + 1) e^omega_h."""
    return (constants.locality + 1) * Ball.upto(head.spread).apply("exp")


def _at(constants: Complexity, position: int) -> Ball:
    return Ball.upto(constants.mlp_gain) * total(
        Ball.upto(head.diameter)
        * least(_factor(constants, head) * Ball.of(position).power(-head.regime.rate), Ball.of(1))
        for head in constants.first
    )


def _mean(constants: Complexity, length: int) -> Ball:
    """(1/n) sum_{i <= n} E_1(i): the 1 of the minimum up to i_0 = c^(1/eta), then c i^-eta; any i_0 bounds it."""
    sums = []
    for head in constants.first:
        factor, rate = _factor(constants, head), head.regime.rate
        turn = factor.apply("log") / rate
        last = min(turn.apply("exp").floor(), length) if turn.certainly_less(Ball.of(length).apply("log")) else length
        tail = factor * power_sum(last + 1, length, rate) if last < length else Ball.of(0)
        sums.append(Ball.upto(head.diameter) * (tail + last))
    return Ball.upto(constants.mlp_gain) * total(sums) / length


def limit_rows(model: LimitTransformer, string: object) -> Float[np.ndarray, "n width"]:
    """The rows y_i after the first layer with every head replaced by its limit, in float64 and linear time.

        F_h(i) = mean of V_h e under the weights  [phi* <= 1] mu_i(e) e^{c_h(e, e_i)}  and, for t in T*,
                 e^{c_h(e_{i-t}, e_i)} at e_{i-t};     mu_i = law of e_1..e_i, indices below 1 are read as 1

    Source: two-layer note, section 4. A position that has only masked keys is not treated apart.
    """
    tokens = encode(string, model.names)
    found = regimes(model)[0]
    positions = np.arange(1, len(tokens) + 1)
    types = tokens * model.period + positions % model.period
    vectors = np.repeat(np.asarray(model.embedding, np.float64), model.period, axis=0)
    vectors = vectors + np.tile(np.asarray(model.positions, np.float64), (model.symbols, 1))
    seen = np.zeros(model.types)
    blocks = []
    for start in range(0, len(types), _CHUNK):
        chunk = types[start : start + _CHUNK]
        counts = seen + np.cumsum(chunk[:, None] == np.arange(model.types), axis=0)
        seen = counts[-1]
        rows = vectors[chunk]
        for head, regime in zip(model.layers[0].heads, found, strict=True):
            rows = rows + _limit_head(head, regime, vectors, types, counts, start)
        blocks.append(np.asarray(add_mlp(model.layers[0], rows.T).T))
    return np.concatenate(blocks)


def _limit_head(
    head: Head, regime: Regime, vectors: np.ndarray, types: np.ndarray, counts: np.ndarray, start: int
) -> Float[np.ndarray, "chunk width"]:
    """F_h for the positions start + 1, ... of the chunk whose counts are given; logits are shifted, none is raised."""
    content = (vectors @ np.asarray(head.query).T) @ (vectors @ np.asarray(head.key).T).T  # (query, key)
    values = vectors @ np.asarray(head.value).T
    here = np.arange(start, start + len(counts))
    queries = types[here]
    atoms = [types[np.maximum(here - offset, 0)] for offset in regime.offsets]
    columns = [content[queries, atom][:, None] for atom in atoms]
    if regime.domination != "position":
        with np.errstate(divide="ignore"):
            columns.append(content[queries] + np.log(counts / (here + 1)[:, None]))
    logits = np.concatenate(columns, axis=1)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    mean = (
        weights[:, len(atoms) :] @ values if regime.domination != "position" else np.zeros((len(here), len(values[0])))
    )
    for index, atom in enumerate(atoms):
        mean = mean + weights[:, index : index + 1] * values[atom]
    return np.asarray(mean)
