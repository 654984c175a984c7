"""Choosing one vector from each group so that every prefix sum stays near the sum of the groups' means.

The constructive argument of Barany and Grinberg: fractional choices are moved along null vectors until all but few
groups are decided, and decided groups never change again. Source: two-layer note, section 8.3.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

Vectors = Float[np.ndarray, "options statistics"]
Weights = Float[np.ndarray, " options"]


def thinned(vectors: Vectors, weights: Weights) -> tuple[Int[np.ndarray, " few"], Float[np.ndarray, " few"]]:
    """At most D + 1 options with new weights, the same weighted mean and the same total (Caratheodory's theorem).

    Ours: options are first merged into 2 (D + 1) clusters of equal weights' ratio, and whole clusters are dropped;
    each round halves the options, where one option at a time would take thousands of null vectors.
    """
    most = vectors.shape[1] + 1
    kept = np.arange(len(vectors))
    while len(kept) > most:
        clusters = np.array_split(np.arange(len(kept)), min(2 * most, len(kept)))
        mass = np.array([weights[cluster].sum() for cluster in clusters])
        means = np.array(
            [weights[cluster] @ vectors[kept[cluster]] / m for cluster, m in zip(clusters, mass, strict=True)]
        )
        moved = _reduced(np.column_stack([means, np.ones(len(means))]), mass)
        alive = [index for index in range(len(clusters)) if moved[index] > 0]
        weights = np.concatenate([weights[clusters[index]] * (moved[index] / mass[index]) for index in alive])
        kept = np.concatenate([kept[clusters[index]] for index in alive])
    return kept, weights


def _reduced(rows: Float[np.ndarray, "options columns"], weights: Weights) -> Weights:
    """The weights moved along null vectors of the rows until no more are positive than there are columns."""
    weights = weights.copy()
    while (positive := np.flatnonzero(weights > 0)).size > rows.shape[1]:
        chosen = positive[: rows.shape[1] + 1]
        _emptied(weights, chosen, _null_vector(rows[chosen].T))
    return weights


def _null_vector(matrix: Float[np.ndarray, "rows columns"]) -> Float[np.ndarray, " columns"]:
    """A vector that a matrix with more columns than rows sends to 0."""
    return np.asarray(np.linalg.svd(matrix, full_matrices=True)[2][-1])


def _emptied(weights: Weights, chosen: Int[np.ndarray, " some"], direction: Float[np.ndarray, " some"]) -> None:
    """Moves the chosen weights along the direction until the first of them is 0."""
    if direction.max() <= 0:
        direction = -direction
    down = direction > 1e-300
    steps = np.where(down, weights[chosen] / np.where(down, direction, 1), np.inf)
    first = int(steps.argmin())
    weights[chosen] = np.maximum(weights[chosen] - steps[first] * direction, 0)
    weights[chosen[first]] = 0


@dataclass
class Balancer:
    """Takes groups one by one; `finish` gives the option chosen in each."""

    dimensions: int
    chosen: list[int] = field(default_factory=list)
    _groups: list[tuple[int, Int[np.ndarray, " options"], Vectors, Weights]] = field(default_factory=list)

    def add(self, vectors: Vectors) -> None:
        """One more group, its options equally likely."""
        kept, weights = thinned(vectors, np.full(len(vectors), 1 / len(vectors)))
        self._groups.append((len(self.chosen), kept, vectors[kept], weights))
        self.chosen.append(int(kept[0]))
        self._settle()

    def finish(self) -> list[int]:
        """The choices; groups that are still open take their heaviest option."""
        for group, options, _, weights in self._groups:
            self.chosen[group] = int(options[weights.argmax()])
        return self.chosen

    def _settle(self) -> None:
        """Moves open weights until at most D + (number of open groups) options are positive."""
        while sum(len(weights) for *_, weights in self._groups) > self.dimensions + len(self._groups):
            sizes = [len(weights) for *_, weights in self._groups]
            rows = np.concatenate([vectors for *_, vectors, _ in self._groups])
            member = np.repeat(np.eye(len(sizes)), sizes, axis=0)
            flat = np.concatenate([weights for *_, weights in self._groups])
            few = np.arange(self.dimensions + len(sizes) + 1)
            _emptied(flat, few, _null_vector(np.column_stack([rows, member])[few].T))
            self._keep(np.split(flat, np.cumsum(sizes)[:-1]))

    def _keep(self, parts: list[np.ndarray]) -> None:
        open_groups = []
        for (group, options, vectors, _), weights in zip(self._groups, parts, strict=True):
            alive = weights > 0
            if alive.sum() == 1:
                self.chosen[group] = int(options[alive][0])
            else:
                open_groups.append((group, options[alive], vectors[alive], weights[alive]))
        self._groups = open_groups


def balanced_choices(groups: Iterable[Float[np.ndarray, "_ statistics"]], dimensions: int) -> list[int]:
    """One option from each group.

    After every group the sum of the chosen vectors differs from the sum of the groups' means through at most D
    groups, each by at most the diameter of its options. Source: two-layer note, section 8.3, its invariant.
    """
    balancer = Balancer(dimensions)
    for vectors in groups:
        balancer.add(vectors)
    return balancer.finish()
