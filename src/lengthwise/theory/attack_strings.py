"""The worst string of any model: search over edits, where a string is more than its counts.

First random strings; then a population of the best of them is edited, crossed and selected; when it no longer improves,
one is begun from new random strings, and at the end the best of all go on together. What is found is a lower bound on
the worst error.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from lengthwise.errors import WrongInput
from lengthwise.theory.edits import OTHER_LENGTH, SAME_LENGTH, Edit, crossed, random_string
from lengthwise.theory.effort import Effort, Tally
from lengthwise.theory.where import Condition

String = Int[np.ndarray, " _"]
Score = Callable[[String], Float[np.ndarray, " _"] | float | None]
Fitness = tuple[float, float]  # the largest error of an output, then the mean over the outputs

POPULATION = 16
PATIENCE = 25  # generations without improvement after which a population is given up
TOGETHER = 0.4  # share of the evaluations for the best of all populations together
TRIES = 50  # draws for one string that meets a condition
CROSSING = 0.15  # share of children with two parents
SCREENING = 0.25  # share of the evaluations for random strings before anything else
NEWCOMERS = 4  # random strings that join a population with each generation


@dataclass(frozen=True)
class StringSpace:
    """The strings of lengths shortest..longest that meet a condition on their counts by this period."""

    symbols: int
    shortest: int
    longest: int
    period: int = 1
    where: Condition | None = None

    def holds(self, string: String) -> bool:
        """Whether a string is in the space."""
        if not self.shortest <= len(string) <= self.longest:
            return False
        if self.where is None:
            return True
        counts = np.zeros((self.symbols, self.period), dtype=np.int64)
        np.add.at(counts, (string, np.arange(1, len(string) + 1) % self.period), 1)
        return self.where.holds(counts.tolist(), len(string))

    def size(self, most: int) -> int:
        """How many strings there are, whatever the condition; counted up to `most`."""
        total = 0
        for length in range(self.shortest, self.longest + 1):
            total += self.symbols**length if length * np.log2(max(self.symbols, 2)) < 64 else most
            if total >= most:
                return most
        return total

    def every(self) -> Iterator[String]:
        """All strings, shortest first."""
        for length in range(self.shortest, self.longest + 1):
            for string in itertools.product(range(self.symbols), repeat=length):
                if self.holds(np.asarray(string, dtype=np.int64)):
                    yield np.asarray(string, dtype=np.int64)


@dataclass(frozen=True)
class WorstString:
    """The worst string that was found, and how the search went; see `attack_counts.WorstCounts`."""

    string: String | None
    error: float
    evaluations: int
    restarts: int
    trace: tuple[tuple[int, float], ...]
    complete: bool


def attack_strings(
    score: Score,
    space: StringSpace,
    effort: Effort,
    strategy: str = "evolution",
    draw: Callable[[np.random.Generator, int], String] | None = None,
) -> WorstString:
    """The string of a space with the largest score that the search finds; None is the score of a string without a target.

    A score may be several numbers, one an output: the largest is maximised, their mean decides between equals.

    If there are no more strings than evaluations, all of them are tried. draw(generator, length): strings to start from
    beside those of edits.random_string, such as a task's own. strategy "random" is the rival: nothing but such starts.
    """
    if strategy not in ("evolution", "random"):
        raise WrongInput("evolution or random", strategy, "name a strategy", "strategy")
    search = _Search(score, space, Tally(effort), np.random.default_rng(effort.seed), draw)
    complete = space.size(effort.evaluations + 1) <= effort.evaluations
    if complete:
        for string in space.every():
            complete = complete and bool(search.tally.left)
            if not complete:
                break
            search.score(string)
    elif strategy == "random":
        search.screen(effort.evaluations)
    else:
        search.evolve()
    tally = search.tally
    return WorstString(tally.best, tally.error, tally.evaluations, tally.restarts, tuple(tally.trace), complete)


@dataclass
class _Search:
    """The strings scored so far and how often each edit helped."""

    scorer: Score
    space: StringSpace
    tally: Tally
    generator: np.random.Generator
    draw: Callable[[np.random.Generator, int], String] | None
    known: dict[bytes, Fitness] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Edits that change the length only where it may change."""
        lengths = OTHER_LENGTH if self.space.longest > self.space.shortest else ()
        self.edits: tuple[Edit, ...] = (*SAME_LENGTH, *lengths)
        self.credit = np.ones(len(self.edits))

    def score(self, string: String) -> Fitness:
        """How bad a string is; one seen before costs nothing."""
        key = _key(string)
        if key not in self.known:
            found = self.scorer(string)
            values = np.atleast_1d(np.asarray(-np.inf if found is None else found, dtype=np.float64))
            self.known[key] = (float(values.max()), float(values.mean()))
            self.tally.add(values.max(keepdims=True), lambda _: string)
        return self.known[key]

    def start(self) -> String | None:
        """A new random string of the space; None if none was found."""
        space = self.space
        for _ in range(TRIES * 20):
            share = self.generator.random()
            length = int(np.exp(np.log(space.shortest) + share * np.log((space.longest + 1) / space.shortest)))
            length = min(max(length, space.shortest), space.longest)
            if self.draw is not None and self.generator.random() < 0.5:
                string = self.draw(self.generator, length)
            else:
                string = random_string(self.generator, length, space.symbols)
            if space.holds(string):
                return string
        return None

    def screen(self, stop: int) -> list[String]:
        """Random strings, until so many evaluations; the best of them."""
        best: list[String] = []
        while self.tally.left and self.tally.evaluations < stop:
            before = self.tally.evaluations
            best = self._fittest([*best, *self._newcomers(4 * POPULATION)])
            if self.tally.evaluations == before:  # nothing new is left, or nothing meets the condition
                break
        return best

    def evolve(self) -> None:
        """Random strings, then populations one after the other, then the best of each together."""
        total = self.tally.effort.evaluations
        population = self.screen(int(SCREENING * total))
        bests: list[String] = []
        while population and self.tally.left and self.tally.evaluations < (1 - TOGETHER) * total:
            before = self.tally.evaluations
            self.tally.restarts += 1
            bests += self._grow(population, int((1 - TOGETHER) * total), PATIENCE)[:2]
            population = self._fittest(self._newcomers(4 * POPULATION))
            if self.tally.evaluations == before:
                break
        while bests and self.tally.left:
            before = self.tally.evaluations
            bests = self._grow([*bests, *population], total, 4 * PATIENCE)
            population = self._newcomers(POPULATION)
            if self.tally.evaluations == before:
                return

    def _newcomers(self, number: int) -> list[String]:
        return [string for string in (self.start() for _ in range(number)) if string is not None]

    def _grow(self, population: list[String], stop: int, patience: int) -> list[String]:
        """A population, improved until it stays the same for too long, or until so many evaluations; best first."""
        population, quiet = self._fittest(population), 0
        while population and quiet < patience and self.tally.left and self.tally.evaluations < stop:
            top = self.known[_key(population[0])]
            children = [child for child in (self._child(population) for _ in range(POPULATION)) if child is not None]
            population = self._fittest([*population, *children, *self._newcomers(NEWCOMERS)])
            quiet = 0 if self.known[_key(population[0])] > top else quiet + 1
        return population

    def _fittest(self, strings: list[String]) -> list[String]:
        """The best of some strings, each once; those without a score last. Ties keep the newer ones."""
        unique = {_key(string): string for string in reversed(strings)}
        for string in unique.values():
            if not self.tally.left and _key(string) not in self.known:
                break
            self.score(string)
        known = [string for key, string in unique.items() if key in self.known]
        return sorted(known, key=lambda string: self.known[_key(string)], reverse=True)[:POPULATION]

    def _child(self, population: list[String]) -> String | None:
        """An edited string: a good parent more often than others, an edit that helped before more often too."""
        generator = self.generator
        for _ in range(TRIES):
            parent = population[int(len(population) * generator.random() ** 2)]
            if len(population) > 1 and generator.random() < CROSSING:
                child, used = crossed(generator, parent, population[int(generator.integers(len(population)))]), None
            else:
                used = int(generator.choice(len(self.edits), p=self.credit / self.credit.sum()))
                child = self.edits[used](generator, parent, self.space.symbols)
                while generator.random() < 0.3 and len(child):
                    child = self.edits[int(generator.integers(len(SAME_LENGTH)))](generator, child, self.space.symbols)
            if len(child) and _key(child) not in self.known and self.space.holds(child) and self.tally.left:
                better = self.score(child) > self.known[_key(parent)]
                if used is not None:
                    self.credit[used] = max(0.3, 0.98 * self.credit[used] + 1.0 * better)
                return child
        return None


def _key(string: String) -> bytes:
    return string.astype(np.int32).tobytes()
