"""Count vectors, all of them: an exact answer where the order of symbols does not matter.

Over a guard automaton with one state a word is its vector of counts and its last symbol. So two such programs are told
apart up to a length by finitely many vectors, C(length + k, k) of them, in exact integers and without any solver.

Source: programs note, section 3.5.
"""

from functools import lru_cache
from math import comb

import numpy as np
from jaxtyping import Bool, Int

from lengthwise.crasp.operations import AllOf, AnyOf, AtLeastZero, Opposite
from lengthwise.verdict.guards import Edge, Guards

MOST_TESTS = 300_000_000  # vectors times operations
LARGEST = 2**62


@lru_cache(maxsize=4096)
def vectors(letters: int, total: int) -> Int[np.ndarray, "vectors letters"]:
    """All vectors of k counts with a given sum, in lexicographic order."""
    if letters == 1:
        return np.array([[total]], dtype=np.int64)
    rest = [vectors(letters - 1, total - first) for first in range(total + 1)]
    firsts = np.repeat(np.arange(total + 1), [len(one) for one in rest])
    return np.column_stack([firsts, np.concatenate(rest)])


def agree_up_to(guards: Guards, longest: int) -> bool:
    """Whether two programs over one state are seen to agree on all words of 1 to `longest` symbols; False if too many."""
    edges = guards.edges
    letters = len(edges)
    lasts = edges if guards.tests_last_letter else edges[:1]
    count = comb(longest + letters, letters) * len(lasts) * len(guards.top)
    largest = guards.step * longest + guards.constant
    if guards.states != 1 or count > MOST_TESTS or largest >= LARGEST:
        return False
    steps = np.array([edge.increments for edge in edges], dtype=np.int64)
    for length in range(1, longest + 1):
        for last in lasts:
            if guards.tests_last_letter:
                forms = vectors(letters, length - 1) @ steps + np.array(last.increments)
            else:
                forms = vectors(letters, length) @ steps
            if _differ(guards, last, forms).any():
                return False
    vectors.cache_clear()
    return True


def _differ(guards: Guards, last: Edge, forms: Int[np.ndarray, "vectors forms"]) -> Bool[np.ndarray, " vectors"]:
    """Where the two programs say different things, given the values of all forms after the last edge."""
    literals, settled = dict(last.setting.literals), dict(last.setting.settled)
    truth: dict[int, np.ndarray] = {}
    for index in guards.top:
        operation = guards.pair.operations.list[index]
        if index in settled:
            truth[index] = np.full(len(forms), settled[index])
            continue
        match operation:
            case Opposite(one):
                truth[index] = ~truth[one]
            case AllOf(several):
                truth[index] = np.logical_and.reduce([truth[one] for one in several])
            case AnyOf(several):
                truth[index] = np.logical_or.reduce([truth[one] for one in several])
            case AtLeastZero():
                form, threshold, above = literals[index]
                truth[index] = (forms[:, form] >= threshold) == above
    differ = np.zeros(len(forms), dtype=bool)
    for left, right in guards.pair.roots:
        differ |= truth[left] != truth[right]
    return differ
