"""From a plan to matrices."""

import math

import numpy as np
from jaxtyping import Float

from lengthwise.crasp.describe import Words
from lengthwise.crasp.plan import Coordinate, Plan, Unit, Weights
from lengthwise.errors import WrongInput
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer

MOST_WEIGHTS = 50_000_000


def assemble(plan: Plan, words: Words, begin: Coordinate, share: bool) -> LimitTransformer:
    """The model that a plan describes; `share` is the pass of that name."""
    return _Assembly(plan, words, begin, share).model()


class _Assembly:
    """Coordinates with their places; weights as rows over them."""

    def __init__(self, plan: Plan, words: Words, begin: Coordinate, share: bool) -> None:
        self.plan, self.words, self.begin, self.share = plan, words, begin, share
        depth = range(1, plan.depth + 1)
        found = list(dict.fromkeys(plan.shared.values()))
        for layer in depth:
            found += [one for rows in self._rows(layer) for one in rows]
            found += [one for unit in plan.units.get(layer, ()) for one in unit.writes]
        self.place = {coordinate: index for index, coordinate in enumerate(dict.fromkeys(found))}
        heads = sum(len(self._heads_of(rows)) for layer in depth for rows in self._rows(layer))
        self.width = max(1, len(self.place))
        self.period = math.lcm(*(subject.cells for _, subject, _ in plan.shared if subject.kind == "residue"))
        rows = heads * self.width + 2 * sum(map(len, plan.units.values())) + len(words.symbols) + self.period
        weights = self.width * rows
        if weights > MOST_WEIGHTS:
            remedy = "compile a smaller program, or parts of it"
            raise WrongInput(f"a program whose model has at most {MOST_WEIGHTS} weights", f"{weights}", remedy)

    def _rows(self, layer: int) -> list[dict[Coordinate, Weights]]:
        """What each kind of head writes in a layer: the average, the look-backs, the look at the begin symbol."""
        looks = [rows for (at, _), rows in sorted(self.plan.looks.items()) if at == layer]
        return [self.plan.means.get(layer, {}), *looks, *([self.plan.starts] if layer == 1 else [])]

    def _heads_of(self, rows: dict[Coordinate, Weights]) -> list[dict[Coordinate, Weights]]:
        if self.share:
            return [rows] if rows else []
        return [{coordinate: weights} for coordinate, weights in rows.items()]

    def model(self) -> LimitTransformer:
        symbols = len(self.words.symbols)
        embedding = np.zeros((symbols, self.width))
        positions = np.zeros((self.period, self.width))
        for coordinate, stands in self.plan.shared.items():
            _, subject, cell = coordinate
            if subject.kind == "symbol":
                embedding[cell, self.place[stands]] = 1
            elif coordinate[0] == "here" or not self.plan.starts:
                # Row r serves the model's positions = r, the word's positions = r - 1, modulo the period.
                positions[(cell + 1) % subject.cells :: subject.cells, self.place[stands]] = 1
        names = self._names()
        return LimitTransformer(
            embedding=embedding,
            positions=positions if len(positions) > 1 else None,
            layers=tuple(self._layer(layer) for layer in range(1, self.plan.depth + 1)),
            unembedding=self._matrix(list(self.plan.outputs.values())),
            attention="log-length",
            tokens=self.words.symbols,
            coordinates=names,
        )

    def _layer(self, layer: int) -> Layer:
        heads = [self._head(rows) for rows in self._heads_of(self.plan.means.get(layer, {}))]
        for (at, offset), rows in sorted(self.plan.looks.items()):
            if at == layer:
                heads += [self._head(one, offset) for one in self._heads_of(rows)]
        if layer == 1:
            heads += [self._head(one, 0) for one in self._heads_of(self.plan.starts)]
        units = self.plan.units.get(layer)
        return Layer(tuple(heads), self._mlp(units) if units else None)

    def _head(self, rows: dict[Coordinate, Weights], offset: int | None = None) -> Head:
        """A head that writes rows. No offset: all logits 0. Else phi = K at the offset and content K/2 at the begin.

        Offset 0 stands for the look at the begin symbol: no phi, content K.
        """
        value = np.zeros((self.width, self.width))
        value[[self.place[coordinate] for coordinate in rows]] = self._matrix(list(rows.values()))
        key, query = np.zeros((1, self.width)), np.zeros((1, self.width))
        phi: list[float] = []
        if offset is not None:
            key[0, self.place[self.begin]] = self.plan.sharpness / (2 if offset else 1)
            query[0, [self.place[one] for one in set(self.plan.shared.values()) if one[1].kind == "symbol"]] = 1
            phi = [0.0] * offset + [float(self.plan.sharpness)] if offset else []
        return Head(key, query, value, phi)

    def _mlp(self, units: list[Unit]) -> MLP:
        outer = np.zeros((self.width, len(units)))
        for number, unit in enumerate(units):
            for coordinate in unit.writes:
                outer[self.place[coordinate], number] = 1
        bias = [float(unit.bias) for unit in units]
        return MLP(self._matrix([unit.weights for unit in units]), bias, outer, "heaviside")

    def _matrix(self, rows: list[Weights]) -> Float[np.ndarray, "rows width"]:
        matrix = np.zeros((len(rows), self.width))
        for number, weights in enumerate(rows):
            for coordinate, weight in weights.items():
                stands = self.plan.shared.get(coordinate, coordinate)
                matrix[number, self.place[stands]] = float(weight)  # cells that share a coordinate have equal weights
        return matrix

    def _names(self) -> tuple[str, ...]:
        groups: dict[Coordinate, list[Coordinate]] = {}
        for coordinate, stands in self.plan.shared.items():
            groups.setdefault(stands, []).append(coordinate)
        names: dict[str, None] = {}
        for coordinate in self.place:
            name = self.words.name(groups.get(coordinate, [coordinate]))
            while name in names:
                name += "'"
            names[name] = None
        return tuple(names) or ("nothing",)
