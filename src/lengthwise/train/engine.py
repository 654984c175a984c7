"""Hundreds of small models trained by one compiled program.

Members train in tiles of fixed width; `train_chunk` advances one tile by a fixed number of steps:

    (state, trace) = train_chunk(state, plan)

Everything that differs between members of a shape is traced: seed, longest training length, task parameters, learning
rate, number of steps, stop rule. A member that stops is frozen bit for bit; between chunks the unfinished members are
re-packed into fewer tiles. Its numbers depend on its own record and on the tile's width, never on its neighbours.
"""

import functools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from lengthwise.config import TrainingPath
from lengthwise.tasks.protocol import RegressionTask, Statistics
from lengthwise.train.common_draws import common_drawing
from lengthwise.train.sequences import everywhere, last_query, strings_of
from lengthwise.train.statistics import Architecture, Weights, drawing, initial_weights, outputs, rate_factors

BETAS, EPSILON = (0.9, 0.999), 1e-8
SMOOTHING = 0.98  # of the loss that the stop rule reads: about 50 steps


@dataclass(frozen=True)
class Shape:
    """What a compiled program is made for; the task's traced parameters do not count."""

    task: Any
    sizes: Architecture
    batch: int
    tile: int
    chunk: int
    path: TrainingPath = "statistics"
    padded: int = 0  # length of the arrays that strings stand in, where strings are made at all
    corners: int = 0  # strings of each batch that are drawn at the corners


class Plan(NamedTuple):
    """What differs between members and does not change: one entry a member."""

    stream: UInt32[Any, "... 2"]  # the words of the run id, where the member's random numbers start
    longest: Int[Any, "..."]  # training lengths are uniform on shortest..longest
    parameters: dict[str, Float[Any, "..."]]  # the task's traced parameters
    rate: Float[Any, "..."]  # Adam's learning rate for embeddings, at the start
    steps: Int[Any, "..."]  # the cosine decay reaches 0 here
    stop: Float[Any, "..."]  # smoothed training loss at which the member stops


class State(NamedTuple):
    """What changes: one entry a member. `step` counts the updates made."""

    weights: Weights
    first: Weights  # Adam's moments
    second: Weights
    step: Int[Any, "..."]
    loss: Float[Any, "..."]  # smoothed
    done: Bool[Any, "..."]
    diverged: Bool[Any, "..."]


def root_key(stream: UInt32[Any, " 2"]) -> Array:
    """The key that all random numbers of a member come from: fold_in of both words of its run id."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(0), stream[0]), stream[1])


def start(key: Array, sizes: Architecture) -> State:
    """A member before its first step."""
    weights = initial_weights(jax.random.fold_in(key, 0), sizes)
    zeros = jax.tree.map(jnp.zeros_like, weights)
    return State(weights, zeros, zeros, jnp.int32(0), jnp.float32(jnp.inf), jnp.bool_(False), jnp.bool_(False))


@functools.lru_cache(maxsize=64)
def first_states(sizes: Architecture) -> Any:
    """The compiled start of a tile: streams -> states."""
    return jax.jit(jax.vmap(lambda stream: start(root_key(stream), sizes)))


def squared_error(weights: Weights, shape: Shape, task: RegressionTask, key: Array, length: Array) -> Array:
    """Mean squared error on one string of each length, drawn from the task's law; all paths see the same strings.

    The first `shape.corners` strings are drawn at the corners instead; the others are those that there are without.
    """
    statistics = task.statistics(length, drawing(key))
    if shape.corners:
        key_of_corners = jax.random.fold_in(key, (1 << 16) + 1)
        statistics = beginning(statistics, task.corners(length[: shape.corners], drawing(key_of_corners)))
    if shape.path == "statistics":
        found = outputs(weights, shape.sizes, statistics)
    else:
        strings = strings_of(statistics, task.period, shape.padded, jax.random.fold_in(key, 1 << 16))
        one_layer = last_query if shape.path == "last-query" else everywhere
        found = one_layer(weights, shape.sizes, strings, length)
    return jnp.mean((found - task.target_of(statistics)) ** 2)


def beginning(statistics: Statistics, others: Statistics) -> Statistics:
    """The statistics with the first columns replaced by others."""
    parts = ((getattr(there, name) for there in (others, statistics)) for name in ("length", "prefix", "suffix"))
    columns = others.length.shape[0]
    return Statistics(*(jnp.concatenate([new, old[..., columns:]], axis=-1) for new, old in parts))


def step(shape: Shape, plan: Plan, state: State) -> tuple[State, Array]:
    """One update of one member: fresh strings, Adam with cosine decay; frozen once done. Returns the batch's loss."""
    task = replace(shape.task, **plan.parameters)
    key = jax.random.fold_in(jax.random.fold_in(root_key(plan.stream), 1), state.step)
    length = jax.random.randint(jax.random.fold_in(key, 0), (shape.batch,), task.shortest, plan.longest + 1)
    loss, gradient = jax.value_and_grad(squared_error)(state.weights, shape, task, jax.random.fold_in(key, 1), length)
    count = state.step + 1
    rate = plan.rate * 0.5 * (1 + jnp.cos(jnp.pi * state.step / plan.steps))
    first = _moment(state.first, gradient, BETAS[0], 1)
    second = _moment(state.second, gradient, BETAS[1], 2)
    correction = [1 - jnp.power(jnp.float32(beta), count) for beta in BETAS]
    weights = {
        name: value - rate * factor * (first[name] / correction[0]) / (jnp.sqrt(second[name] / correction[1]) + EPSILON)
        for (name, value), factor in zip(state.weights.items(), _factors(shape, state.weights), strict=True)
    }
    smooth = jnp.where(jnp.isinf(state.loss), loss, SMOOTHING * state.loss + (1 - SMOOTHING) * loss)
    diverged = ~jnp.isfinite(loss)
    done = diverged | (smooth < plan.stop) | (count >= plan.steps)
    new = State(weights, first, second, count, smooth, done, diverged)
    last_good = state._replace(done=done, diverged=diverged)  # a diverged member keeps the weights it had
    new = jax.tree.map(lambda old, fresh: jnp.where(diverged, old, fresh), last_good, new)
    return jax.tree.map(lambda old, fresh: jnp.where(state.done, old, fresh), state, new), loss


def _factors(shape: Shape, weights: Weights) -> list[float]:
    factors = rate_factors(shape.sizes)
    return [factors[name] for name in weights]


def _moment(old: Weights, gradient: Weights, beta: float, order: int) -> Weights:
    return {name: beta * value + (1 - beta) * gradient[name] ** order for name, value in old.items()}


@functools.lru_cache(maxsize=64)
def train_chunk(shape: Shape) -> Any:
    """The compiled program of a shape: (plan, state) of one tile -> state after `chunk` steps, mean loss of the chunk."""

    def member(plan: Plan, state: State) -> tuple[State, Array]:
        state, losses = jax.lax.scan(lambda s, _: step(shape, plan, s), state, None, length=shape.chunk)
        return state, jnp.mean(losses)

    return jax.jit(jax.vmap(member), donate_argnums=1)


@functools.lru_cache(maxsize=64)
def test_loss(shape: Shape, samples: int) -> Any:
    """The compiled test: (plan, weights, length) of one tile -> mean and worst squared error at one length."""

    def member(plan: Plan, weights: Weights, length: Array) -> tuple[Array, Array]:
        task = replace(shape.task, **plan.parameters)
        key = jax.random.fold_in(root_key(plan.stream), 2)  # the same at every length, see `common_drawing`
        statistics = task.statistics(jnp.full(samples, length), common_drawing(key))
        errors = (outputs(weights, shape.sizes, statistics) - task.target_of(statistics)) ** 2
        return jnp.mean(errors), jnp.max(errors)

    return jax.jit(jax.vmap(member, in_axes=(0, 0, None)))
