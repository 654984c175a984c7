"""A short program that agrees with all labelled words: enumerated by size, completed to conjunctions, tested on longer ones.

Rounds. The Booleans of candidates.py are found by size; each is offered, as it is and counted (closing.py), to two set
covers (covers.py): for the target, and for its opposite. The smallest cover is a candidate when no smaller program is
left, or when 400 S^2 Booleans were looked at, S its size: a long program that fits the words may fit them by chance, and
something shorter may come. With an oracle a candidate is run on longer words, random ones and some it accepts (retest.py);
those it gets wrong join the labelled words, with their prefixes, and the next round begins.

What is promised of a program that is found: it agrees with every labelled word, and with the oracle on the longer words.
Not that it is equal to the target; no length makes it so in general (programs note, sections 1 and 4.5).
No enumerated program of at most `complete_size` agrees, but perhaps the one found. Among larger ones, conjunctions and
disjunctions are found by a bounded search, so a smaller program may have been missed.
"""

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lengthwise.crasp.syntax import Boolean, Program, Truth
from lengthwise.errors import WrongInput, shown
from lengthwise.verdict.candidates import Bank, enumerate_size
from lengthwise.verdict.closing import Closing
from lengthwise.verdict.labelled import Labelled
from lengthwise.verdict.machine import Machine, Word
from lengthwise.verdict.recipes import size
from lengthwise.verdict.retest import longer_words, values, wrong_words
from lengthwise.verdict.sample import Sample

EARNED = 400  # a program of size S is taken when 400 S^2 candidates were looked at: long ones fit by chance
MOST_BYTES = 1 << 29  # of the rows that are kept,
MOST_KEPT = 1_500_000  # and how many
AHEAD = 4  # Booleans up to this size have their counts compared with one another early
BETWEEN = 50_000  # new Booleans after which covers are looked for again
LEARNED = 12  # words of each kind that a failed test adds


@dataclass(frozen=True)
class Found:
    """What a search found.

    program         the program, or None where none was found (yet)
    size            its size, see recipes.py
    checked_to      it agrees on all words up to this length; -1 where not even the empty word was labelled
    words           with how many labelled words it agrees
    retested_to     it agrees with the oracle on longer words, up to this length; None without an oracle
    retested        on how many
    candidates      how many Booleans were looked at
    complete_size   all enumerated programs up to this size were looked at: none smaller than the one found agrees
    rejected        programs that agreed with the words at hand and failed on a longer one, with the word
    finished        whether the search came to its end; if not, give its state to the next call
    """

    program: Program | None
    size: int | None
    checked_to: int
    words: int
    retested_to: int | None
    retested: int
    candidates: int
    complete_size: int
    rejected: tuple[tuple[str, str], ...]
    finished: bool
    state: "Search" = field(repr=False, compare=False)

    @property
    def text(self) -> str | None:
        """The program as text."""
        return None if self.program is None else str(self.program)

    def fields(self) -> dict[str, Any]:
        """The result in words."""
        return {
            "sentence": str(self),
            "program": self.text,
            "size": self.size,
            "checked_to": self.checked_to if self.checked_to >= 0 else None,
            "words": self.words,
            "retested_to": self.retested_to,
            "retested": self.retested,
            "candidates": self.candidates,
            "complete_size": self.complete_size,
            "rejected": [{"accept": accept, "word": word} for accept, word in self.rejected],
            "finished": self.finished,
        }

    def __str__(self) -> str:
        """The result as a sentence."""
        seen = f"{self.candidates:,} candidates"
        if self.program is None:
            more = "" if self.finished else "; more time may find one"
            return f"No program found among {seen}; none up to size {self.complete_size} agrees with all {self.words} words{more}."
        if self.retested_to is None:
            upto, test = f"all {self.words} labelled words", "there is no oracle to test it on others"
        else:
            upto = f"all words up to length {self.checked_to}"
            test = f"and on {self.retested} longer words up to length {self.retested_to}"
        return f"A program of size {self.size} agrees on {upto}, {test}; that is no proof of equality ({seen})."


class Search:
    """A search that can be stopped between any two pieces of work and goes on where it was."""

    def __init__(self, labelled: Labelled, oracle: Machine | None, seed: int) -> None:
        """A search at its beginning."""
        wrong = next((label for label in labelled.labels if not isinstance(label, (bool, np.bool_))), None)
        if wrong is not None:
            raise WrongInput("labels true and false", shown(wrong), "search one truth value at a time", "labels")
        if oracle is not None and oracle.alphabet != labelled.alphabet:
            got = f"{shown(oracle.alphabet)} and {shown(labelled.alphabet)}"
            raise WrongInput("an oracle over the alphabet of the words", got, "give both the same symbols", "oracle")
        self.first, self.labelled, self.oracle, self.seed = labelled, labelled, oracle, seed
        self.looked_at, self.complete_size = 0, 0
        self.accept: Boolean | None = None
        self._tried: list[Word] = []
        self._said: list[bool] = []
        self.rejected: list[tuple[str, str]] = []
        self.finished = False
        self._work = self._rounds()

    def go_on(self, seconds: float) -> None:
        """Works for a time, or to the end; at least one piece."""
        end = time.monotonic() + seconds
        for _ in self._work:
            if time.monotonic() >= end:
                return

    def found(self) -> Found:
        """What there is so far."""
        accept = self.accept
        tested = accept is not None and self.oracle is not None
        return Found(
            None if accept is None else self._program(accept),
            None if accept is None else size(accept),
            self.first.complete_to,
            len(self.labelled.words),
            self._longest if tested else None,
            len(self._tried) if tested else 0,
            self.looked_at,
            self.complete_size,
            tuple(self.rejected),
            self.finished,
            self,
        )

    @property
    def _longest(self) -> int:
        """Three times the length of the words that were given."""
        return 3 * max(1, self.first.longest)

    def _program(self, accept: Boolean) -> Program:
        return Program("found", self.labelled.alphabet, (), accept)

    def _rounds(self) -> Iterator[None]:
        while not self.finished:
            accept = None
            for accept in self._candidate():  # noqa: B007 (the last one is the program)
                yield
            if accept is None:
                self.finished = True
            elif not (learned := self._wrong(accept)):
                self.accept, self.finished = accept, True
            else:
                self.rejected.append((str(accept), self.labelled.text(learned[0])))
                self._learn(learned)
            yield

    def _candidate(self) -> Iterator[Boolean | None]:
        """Pieces of the search for a program that agrees with the labelled words; the last one is the program."""
        if len(set(self.labelled.labels)) <= 1:
            yield Truth(bool(self.labelled.labels and self.labelled.labels[0]))
            return
        bank = Bank(Sample.of(self.labelled))
        closing = Closing(bank)
        before, self.complete_size, tried = self.looked_at, 0, 0
        for now in itertools.count(1):
            for _ in enumerate_size(bank, now):
                closing.offer_new(now)
                self.looked_at = before + bank.looked_at
                yield None
                if len(bank) > tried + BETWEEN:
                    tried = len(bank)
                    best = closing.best()
                    if best is not None and EARNED * size(best) ** 2 <= bank.looked_at:
                        yield best
                        return
                if bank.rows.nbytes > MOST_BYTES or len(bank) > MOST_KEPT:
                    yield closing.best()
                    return
            closing.offer_new(now)
            if now == AHEAD:
                yield from closing.offer_differences(now)
            self.complete_size = now
            best = closing.best()
            if best is not None and (size(best) <= now + 1 or EARNED * size(best) ** 2 <= bank.looked_at):
                yield best
                return

    def _wrong(self, accept: Boolean) -> list[Word]:
        """Longer words that a candidate gets wrong, shortest first; none where there is no oracle."""
        program = self._program(accept)
        if missed := wrong_words(program, self.labelled.words, self.labelled.labels):
            raise AssertionError(f"{accept} does not agree on {missed[0]}")
        if self.oracle is None:
            return []
        known = [word for word, label in zip(self.labelled.words, self.labelled.labels, strict=True) if label]
        shortest = self.first.complete_to + 1
        seed = self.seed + len(self.rejected)
        self._tried = longer_words(program, shortest, self._longest, known, seed)
        self._said = values(self.oracle, self._tried)
        return wrong_words(program, self._tried, self._said)

    def _learn(self, wrong: list[Word]) -> None:
        """Adds the shortest few words that were wrong, of either label, and of all in the language, with their prefixes."""
        assert self.oracle is not None
        labels = dict(zip(self.labelled.words, self.labelled.labels, strict=True))
        said = dict(zip(self._tried, self._said, strict=True))
        few = [word for truth in (True, False) for word in [w for w in wrong if said[w] == truth][:LEARNED]]
        few += [word for word, label in said.items() if label][:LEARNED]
        new = dict.fromkeys(word[:end] for word in few for end in range(len(word) + 1))
        fresh = [word for word in new if word not in labels]
        labels |= dict(zip(fresh, values(self.oracle, fresh), strict=True))
        first = self.first
        self.labelled = Labelled(first.alphabet, tuple(labels), tuple(labels.values()), first.complete_to, first.source)


def search(
    labelled: Labelled,
    oracle: Machine | None = None,
    seconds: float = 10.0,
    state: Search | None = None,
    seed: int = 0,
) -> Found:
    """Searches for a short program for a time; with the `state` of an earlier call it goes on where that stopped.

    Stopping and going on gives what one long call gives: the time decides how far the work goes, never what it is.
    """
    if seconds < 0:
        raise WrongInput("a time of at least 0 seconds", shown(seconds), "give the search a second", "seconds")
    work = Search(labelled, oracle, seed) if state is None else state
    work.go_on(seconds)
    return work.found()
