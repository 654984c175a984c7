"""Tasks as explicit weights, each with the derivation beside them.

simple_task    sin(omega (c_0 - c_1) / (c_0 + c_1)), c_s the number of tokens s
mod_p_task     the mean of the tokens at positions congruent to a residue
tail_task      the mean of all tokens plus the mean of the last few, minus 1
kgram_add      the law of what followed the last k tokens, from added logits
kgram_and      the same with an exact limit, from a conjunction in the MLP
"""

import math
from itertools import product

import numpy as np

from lengthwise.errors import WrongInput, shown
from lengthwise.limit.model import MLP, Attention, Head, Layer, LimitTransformer

_SQRT2_UP = math.nextafter(math.sqrt(2), 2)


def simple_task(
    omega: float, bits: int | None = None, attention: Attention = "log-length", symbols: int = 3
) -> LimitTransformer:
    """SimpleTask: under hardmax the output is sin(omega (c_0 - c_1)/(c_0 + c_1)), and 0 if there is no 0 and no 1.

    Every query gives the tokens 0 and 1 the logit 1 and the others 0; the values are +1, -1, 0, .... So the hardmax
    attends the 0s and 1s alike and its mean is (c_0 - c_1)/(c_0 + c_1); one sin unit finishes. Sensitivity 2 omega,
    margin 1.
    """
    _check(symbols >= 3, "at least 3 symbols", f"{symbols}")
    balance, answer, width = symbols, symbols + 1, symbols + 2
    head = Head(
        key=_row(width, {0: 1, 1: 1}),
        query=_row(width, dict.fromkeys(range(symbols), 1.0)),
        value=_matrix(width, {(balance, 0): 1, (balance, 1): -1}),
    )
    mlp = MLP(_row(width, {balance: omega}), [0], _row(width, {answer: 1}).T, "sin")
    return LimitTransformer(
        embedding=np.eye(symbols, width),
        layers=(Layer((head,), mlp),),
        unembedding=_row(width, {answer: 1}),
        attention=attention,
        bits=bits,
        coordinates=(*(f"token={token}" for token in range(symbols)), "balance", "answer"),
    )


def mod_p_task(
    period: int, residue: int, bits: int | None = None, attention: Attention = "log-length"
) -> LimitTransformer:
    """ModPTask: under hardmax the output is the mean of the tokens at positions i with i mod period == residue.

    Keys at that residue get logit 1, the others 0; the value is the token itself. Sensitivity 1, margin 1. A string
    shorter than its first such position has nothing to attend to there and the output is the mean of all tokens.
    """
    _check(period >= 1 and 0 <= residue < period, "a residue in 0..period-1", f"residue {residue}, period {period}")
    width, answer = period + 2, period + 1
    head = Head(
        key=_row(width, {1 + residue: 1}),
        query=_row(width, {1 + r: 1 for r in range(period)}),
        value=_matrix(width, {(answer, 0): 1}),
    )
    return LimitTransformer(
        embedding=_matrix(width, {(1, 0): 1})[:2],
        positions=np.eye(period, width, k=1),
        layers=(Layer((head,)),),
        unembedding=_row(width, {answer: 1}),
        attention=attention,
        bits=bits,
        coordinates=("token", *(f"residue={r}" for r in range(period)), "answer"),
    )


def tail_task(tail: int, bits: int | None = None) -> LimitTransformer:
    """TailTask: under hardmax the output is the mean of all tokens plus the mean of the last `tail` ones, minus 1.

    The first head has all logits 0 and averages everything; the second has phi = 1 on the offsets 0..tail - 1, so its
    hardmax attends exactly those. Log-length attention, sensitivities 1 and 1, margin 1.
    """
    _check(tail >= 1, "a tail of at least 1 token", f"{tail}")
    width, answer = 3, 2  # token, constant 1, answer
    zero, read = np.zeros((1, width)), _matrix(width, {(answer, 0): 1})
    return LimitTransformer(
        embedding=[[0, 1, -1], [1, 1, -1]],
        layers=(Layer((Head(zero, zero, read), Head(zero, zero, read, phi=np.ones(tail)))),),
        unembedding=_row(width, {answer: 1}),
        attention="log-length",
        bits=bits,
        coordinates=("token", "one", "answer"),
    )


def kgram_add(symbols: int, order: int, sharpness: float, dominance: float = 3.0) -> LimitTransformer:
    """In-context k-gram by adding logits: the more of the last k tokens agree, the larger the logit.

    Layer 1 copies the token t positions back into block t (see `_lags`). Layer 2 compares key lag t with query lag
    t - 1, so its logit is b * (number of agreeing lags), at most b k for a full match and b (k-1) otherwise:
    TV(f(x), law after matches) <= e^-b (1 - pi)/pi + an error that falls with the length (two-layer notes, 9.3).
    Declared: spread k b and diameter sqrt 2, because all blocks stay in simplices.
    """
    _check_kgram(symbols, order, dominance)
    _check(0 < sharpness < math.inf, "a sharpness > 0", shown(sharpness))
    width = symbols * (order + 2)
    lags = symbols * order
    head = Head(
        key=np.eye(lags, width, k=symbols),  # lags 1..k of the key
        query=sharpness * np.eye(lags, width),  # lags 0..k-1 of the query
        value=_copy_block(width, symbols, 0, order + 1),
        known_spread=math.nextafter(order * sharpness, math.inf),
        known_diameter=_SQRT2_UP,
    )
    return LimitTransformer(
        embedding=np.eye(symbols, width),
        layers=(Layer(_lags(symbols, order, width, dominance)), Layer((head,))),
        unembedding=np.eye(symbols, width, k=symbols * (order + 1)),
        attention="log-suffix",
        coordinates=_lag_names(symbols, order),
    )


def kgram_and(symbols: int, order: int, backoff: float, dominance: float = 3.0) -> LimitTransformer:
    """In-context k-gram by conjunction; in the limit exactly (sum over matches + backoff * sum over all) / masses.

    For each context c of k tokens, key unit ReLU(sum_t lag_t[c_t] - (k-1)) is 1 iff lags 1..k of the key are c, and
    query unit ReLU(sum_t lag_{t-1}[c_t] - (k-1)) iff lags 0..k-1 of the query are c. Their product over contexts is
    1 iff the two agree, so the logit is b on a match and 0 elsewhere; with e^b = 1 + 1/backoff the weights of a match
    and of the others are in ratio (1 + backoff) : backoff. Source: two-layer notes, 9.4. Declared: spread b, diameter
    sqrt 2 (Proposition F').
    """
    _check_kgram(symbols, order, dominance)
    _check(0 < backoff < math.inf, "a backoff > 0", shown(backoff))
    _check(symbols**order <= 100_000, "at most 100000 contexts", f"{symbols}**{order}", "use kgram_add")
    contexts = list(product(range(symbols), repeat=order))
    visible, number = symbols * (order + 2), len(contexts)
    width = visible + 2 * number
    inner = np.zeros((2 * number, width))
    for unit, context in enumerate(contexts):
        for lag, token in enumerate(context, start=1):
            inner[unit, symbols * lag + token] = 1
            inner[number + unit, symbols * (lag - 1) + token] = 1
    mlp = MLP(inner, np.full(2 * number, 1.0 - order), np.eye(width, 2 * number, k=-visible))
    gain = math.log1p(1 / backoff)
    head = Head(
        key=np.eye(number, width, k=visible),
        query=gain * np.eye(number, width, k=visible + number),
        value=_copy_block(width, symbols, 0, order + 1),
        known_spread=math.nextafter(gain, math.inf),
        known_diameter=_SQRT2_UP,
    )
    spelt = ["".join(map(str, context)) if symbols <= 10 else "-".join(map(str, context)) for context in contexts]
    names = tuple(f"{kind}={context}" for kind in ("key", "query") for context in spelt)
    return LimitTransformer(
        embedding=np.eye(symbols, width),
        layers=(Layer(_lags(symbols, order, width, dominance), mlp), Layer((head,))),
        unembedding=np.eye(symbols, width, k=symbols * (order + 1)),
        attention="log-suffix",
        coordinates=_lag_names(symbols, order) + names,
    )


def _lags(symbols: int, order: int, width: int, dominance: float) -> tuple[Head, ...]:
    """Heads t = 1..k whose output is nearly the one-hot of the token t positions back, written to block t.

    Content logits are 0 and phi is dominance > 1 at offset t only: that key has weight i^dominance against i - 1
    others of weight 1, so 1 - O(i^(1 - dominance)) of the attention, for every length.
    """
    zero = np.zeros((1, width))
    return tuple(
        Head(zero, zero, _copy_block(width, symbols, 0, lag), phi=[0.0] * lag + [dominance])
        for lag in range(1, order + 1)
    )


def _lag_names(symbols: int, order: int) -> tuple[str, ...]:
    blocks = ["token", *(f"lag{t}" for t in range(1, order + 1)), "next"]
    return tuple(f"{block}={token}" for block in blocks for token in range(symbols))


def _check_kgram(symbols: int, order: int, dominance: float) -> None:
    _check(symbols >= 1 and order >= 1, "at least one symbol and order 1", f"{symbols} symbols, order {order}")
    _check(1 < dominance < math.inf, "a dominance > 1", shown(dominance), "positions must outweigh all other keys")


def _check(good: bool, wanted: str, got: str, remedy: str = "choose other parameters") -> None:
    if not good:
        raise WrongInput(wanted, got, remedy)


def _row(width: int, at: dict[int, float]) -> np.ndarray:
    return _matrix(width, {(0, column): value for column, value in at.items()})[:1]


def _matrix(width: int, at: dict[tuple[int, int], float]) -> np.ndarray:
    matrix = np.zeros((width, width))
    for place, value in at.items():
        matrix[place] = value
    return matrix


def _copy_block(width: int, size: int, source: int, target: int) -> np.ndarray:
    return _matrix(width, {(target * size + k, source * size + k): 1 for k in range(size)})
