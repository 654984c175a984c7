"""What a limit transformer is: weights that do not depend on the length of the string, for any length.

A string x_1 ... x_n enters as  y_i = embedding[x_i] + positions[i mod period].  Each layer adds to y_i its heads and
then its MLP,

    y_i += sum over heads of  (weighted mean over j <= i of value @ y_j)
    y_i += outer @ activation(inner @ y_i + bias)

and the output at position i is unembedding @ y_i. Head weights come from the logits

    content(j, i) = (key @ y_j) . (query @ y_i),      phi[i - j]  (0 beyond the end of phi)

by one of three rules, the model's `attention`:

    plain        weight = exp(content + phi)                 what ordinary trained models compute
    log-suffix   weight = exp(content + log(i) * phi)        two layers, infinite precision
    log-length   weight = exp(log(n) * (content + phi))      one layer, and compiled programs; with `bits` = p, logits
                 are shifted by the largest, weights <= 2^-p become 0, and the rest is normalised

An entry of phi may be -inf: that offset is masked. A position whose every key is masked receives 0 from that head.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from jaxtyping import Float

from lengthwise.errors import WrongInput, shown
from lengthwise.limit.validate import ACTIVATIONS, Attention, as_array, as_tuple, check_names, proven, wanted_shape
from lengthwise.strings import default_names

__all__ = ["ACTIVATIONS", "MLP", "Attention", "Head", "Layer", "LimitTransformer", "map_arrays", "named_arrays"]


@dataclass(frozen=True, eq=False)
class Head:
    """One attention head: logit of key position j for query position i = (key @ y_j) . (query @ y_i) + phi[i - j].

    known_spread and known_diameter may declare proven values of the head's logit spread and of the diameter of its
    values (constructions know theirs; the general formulas can be far larger). They are stated, not checked.
    """

    __no_type_check__ = True  # for the tests' type checker: __post_init__ checks, with errors for people

    key: Float[Any, "inside width"]
    query: Float[Any, "inside width"]
    value: Float[Any, "width width"]
    phi: Float[Any, " offsets"] = ()
    known_spread: float | None = None
    known_diameter: float | None = None

    def __post_init__(self) -> None:
        """Makes arrays of what came and checks what one head can check alone."""
        for name, axes in (("key", 2), ("query", 2), ("value", 2), ("phi", 1)):
            object.__setattr__(self, name, as_array(getattr(self, name), name, axes, minus_infinity=name == "phi"))
        for name in ("known_spread", "known_diameter"):
            object.__setattr__(self, name, proven(getattr(self, name), name))
        inside, width = self.key.shape
        if self.query.shape != (inside, width):
            raise WrongInput(
                f"the shape of key, {(inside, width)}", f"{self.query.shape}", "they meet in an inner product", "query"
            )
        if self.value.shape != (width, width):
            raise WrongInput(
                f"shape {(width, width)}, from key's columns", f"{self.value.shape}", "match the width", "value"
            )

    @property
    def locality(self) -> int:
        """The largest offset whose phi is not 0 (0 when there is none): beyond it a head sees no positions."""
        if not isinstance(self.phi, np.ndarray):
            return max(len(self.phi) - 1, 0)  # traced values are unknown: the declared length is safe
        offsets = np.flatnonzero(self.phi)
        return int(offsets[-1]) if offsets.size else 0

    @property
    def has_suffix_term(self) -> bool:
        """Whether any offset carries a positional logit."""
        return bool(len(self.phi)) and (not isinstance(self.phi, np.ndarray) or bool(np.any(self.phi)))


@dataclass(frozen=True, eq=False)
class MLP:
    """y += outer @ activation(inner @ y + bias); one activation, or one a unit."""

    __no_type_check__ = True  # for the tests' type checker: __post_init__ checks, with errors for people

    inner: Float[Any, "units width"]
    bias: Float[Any, " units"]
    outer: Float[Any, "width units"]
    activation: str | tuple[str, ...] = "relu"

    def __post_init__(self) -> None:
        """Makes arrays of what came and checks what one MLP can check alone."""
        for name, axes in (("inner", 2), ("bias", 1), ("outer", 2)):
            object.__setattr__(self, name, as_array(getattr(self, name), name, axes))
        units, width = self.inner.shape
        for name, shape in (("bias", (units,)), ("outer", (width, units))):
            got = getattr(self, name).shape
            if got != shape:
                raise WrongInput(f"shape {shape}, from inner's {(units, width)}", f"{got}", "match inner", name)
        if not isinstance(self.activation, str):
            object.__setattr__(self, "activation", as_tuple(self.activation, "activations", "activation"))
        for name in (self.activation,) if isinstance(self.activation, str) else self.activation:
            if not isinstance(name, str) or name not in ACTIVATIONS:
                raise WrongInput(
                    f"an activation: {', '.join(ACTIVATIONS)}", shown(name), "use one of them", "activation"
                )
        if len(self.activations) != units:
            raise WrongInput(
                f"one activation, or {units}, one a unit",
                f"{len(self.activations)}",
                "match the rows of inner",
                "activation",
            )

    @property
    def activations(self) -> tuple[str, ...]:
        """The activation of every unit."""
        return (self.activation,) * len(self.inner) if isinstance(self.activation, str) else self.activation


@dataclass(frozen=True, eq=False)
class Layer:
    """Heads that read the same residual stream side by side, then an MLP (or none)."""

    __no_type_check__ = True  # for the tests' type checker: __post_init__ checks, with errors for people

    heads: tuple[Head, ...] = ()
    mlp: MLP | None = None

    def __post_init__(self) -> None:
        """Accepts any sequence of heads."""
        object.__setattr__(self, "heads", as_tuple(self.heads, "Head records", "heads"))
        for number, head in enumerate(self.heads):
            if not isinstance(head, Head):
                raise WrongInput("a Head record", shown(head), "build it with lw.Head", f"heads.{number}")
        if not isinstance(self.mlp, (MLP, type(None))):
            raise WrongInput("an MLP record or None", shown(self.mlp), "build it with lw.MLP", "mlp")

    @property
    def locality(self) -> int:
        """The largest offset with a positional logit in any head."""
        return max((head.locality for head in self.heads), default=0)


@dataclass(frozen=True, eq=False, kw_only=True)
class LimitTransformer:
    """A limit transformer: see the top of this file for what it computes.

    positions: row r serves the positions i with i mod period == r, positions counted from 1; None for no positions.
    bits: the precision p of log-length attention, or None for none. tokens and coordinates are optional names.
    """

    __no_type_check__ = True  # for the tests' type checker: __post_init__ checks, with errors for people

    embedding: Float[Any, "symbols width"]
    positions: Float[Any, "period width"] = None
    layers: tuple[Layer, ...]
    unembedding: Float[Any, "outputs width"]
    attention: Attention
    bits: int | None = None
    tokens: tuple[str, ...] | None = None
    coordinates: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Makes arrays of what came; anything that does not fit is named with what was wanted."""
        object.__setattr__(self, "embedding", as_array(self.embedding, "embedding", 2))
        symbols, width = self.embedding.shape
        if not symbols or not width:
            raise WrongInput(
                "at least one symbol and one coordinate", f"shape {(symbols, width)}", "add rows", "embedding"
            )
        if self.positions is None:
            zeros = self.embedding.__array_namespace__().zeros((1, width), dtype=self.embedding.dtype)
            object.__setattr__(self, "positions", zeros)
        object.__setattr__(self, "positions", as_array(self.positions, "positions", 2))
        object.__setattr__(self, "unembedding", as_array(self.unembedding, "unembedding", 2))
        object.__setattr__(self, "layers", as_tuple(self.layers, "Layer records", "layers"))
        wrong = next((layer for layer in self.layers if not isinstance(layer, Layer)), self.layers)
        if not self.layers or wrong is not self.layers:
            raise WrongInput("at least one Layer record", shown(wrong), "build them with lw.Layer", "layers")
        if len(self.positions) < 1:
            raise WrongInput("a period of at least 1", "a period of 0", "give one row a residue, or None", "positions")
        if len(self.unembedding) < 1:
            raise WrongInput("at least one output", "0", "give one row an output", "unembedding")
        for name, array in named_arrays(self).items():
            wanted_shape(name, array.shape, width)
        self._check_rule()
        object.__setattr__(self, "tokens", check_names(self.tokens, symbols, "tokens"))
        object.__setattr__(self, "coordinates", check_names(self.coordinates, width, "coordinates"))

    def _check_rule(self) -> None:
        if not isinstance(self.attention, str) or self.attention not in get_args(Attention):
            raise WrongInput(
                f"one of {', '.join(get_args(Attention))}", shown(self.attention), "name the rule", "attention"
            )
        if self.bits is None:
            return
        if self.attention != "log-length":
            raise WrongInput(
                "bits only with log-length attention", f"{self.attention} with bits", "leave bits out", "bits"
            )
        if (
            isinstance(self.bits, bool)
            or not isinstance(self.bits, (int, np.integer))
            or not 1 <= self.bits <= 1_000_000
        ):
            raise WrongInput(
                "a whole number of bits from 1 to 1000000", shown(self.bits), "leave it out for none", "bits"
            )
        object.__setattr__(self, "bits", int(self.bits))

    @property
    def symbols(self) -> int:
        """Size of the vocabulary."""
        return int(self.embedding.shape[0])

    @property
    def width(self) -> int:
        """Number of coordinates of the residual stream."""
        return int(self.embedding.shape[1])

    @property
    def period(self) -> int:
        """Number of positional vectors."""
        return int(self.positions.shape[0])

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.layers)

    @property
    def locality(self) -> int:
        """The largest offset with a positional logit in any layer."""
        return max(layer.locality for layer in self.layers)

    @property
    def types(self) -> int:
        """Number of (token, residue) types."""
        return self.symbols * self.period

    @property
    def names(self) -> tuple[str, ...]:
        """The token names, 0, 1, 2, ... where none were given."""
        return self.tokens or default_names(self.symbols)


def named_arrays(model: LimitTransformer) -> dict[str, Any]:
    """Every weight array of a model under the name it has in a file: embedding, layers.0.heads.1.key, ..."""
    arrays = {"embedding": model.embedding, "positions": model.positions}
    for index, layer in enumerate(model.layers):
        for number, head in enumerate(layer.heads):
            for name in ("key", "query", "value", "phi"):
                arrays[f"layers.{index}.heads.{number}.{name}"] = getattr(head, name)
        if layer.mlp is not None:
            for name in ("inner", "bias", "outer"):
                arrays[f"layers.{index}.mlp.{name}"] = getattr(layer.mlp, name)
    return arrays | {"unembedding": model.unembedding}


def map_arrays(model: LimitTransformer, function: Callable[[Any], Any]) -> LimitTransformer:
    """The same model with a function applied to every weight array, such as jnp.asarray or a cast."""

    def layer(old: Layer) -> Layer:
        heads = tuple(
            replace(h, key=function(h.key), query=function(h.query), value=function(h.value), phi=function(h.phi))
            for h in old.heads
        )
        mlp = old.mlp and replace(
            old.mlp, inner=function(old.mlp.inner), bias=function(old.mlp.bias), outer=function(old.mlp.outer)
        )
        return Layer(heads, mlp)

    return replace(
        model,
        embedding=function(model.embedding),
        positions=function(model.positions),
        layers=tuple(layer(old) for old in model.layers),
        unembedding=function(model.unembedding),
    )
