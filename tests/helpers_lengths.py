"""Pairs of programs for the tests of lengths: the note's test vectors, random pairs by fragment, all short words."""

import random

import numpy as np

from lengthwise.crasp.interpret import run
from lengthwise.crasp.parse import parse

H = "let h := count('a') - count('b')\n"
BLOCKS = "count('a') == count('b') and count('a' and count('b') >= 1) == 0"
VECTORS = {  # alphabet, two accept lines, fragment, length of a shortest disagreement (None: equal), proved bound
    "V1": ("ab", "count('a') >= 3", "count('a') >= 4", "positive", 3, 5),
    "V2": ("01", "count('1') > count('0')", "count('1') >= count('0')", "linear-top", 0, 5),
    "V3": ("01", "count('1') > count('0')", "3 * count('1') > 4 * count('0')", "linear-top", 7, 32),
    "V4": ("ab", "2 * count('a') >= 4 * count('b') - 1", "count('a') >= 2 * count('b')", "linear-top", None, 9),
    "V5": (
        "ab",
        "3 * count('b') + 2 >= 4 * count('a')",
        "2 * count('b') + 2 >= 3 * count('a')",
        "linear-top",
        11,
        64,
    ),
    "V6": (
        "ab",
        "2 * count('a') >= 3 * count('b') + 3 and 2 * count('b') >= count('a') + 3",
        "false",
        "linear-top",
        24,
        48,
    ),
    "V7": ("ab", "count('a') >= 2 and 'b'", "count('a') >= 2 and not 'a'", "positive", None, 3),
    "V8": ("ab", BLOCKS, "count('a') == count('b')", "linear-top", 2, 211),
    "V9": ("ab", BLOCKS, BLOCKS + " and count('a') <= 3", "linear-top", 8, 819),
    "V10": ("a", "count(true) == 4", "pos % 7 in {4}", "positive", 11, 42),
    "V11": (
        "ab",
        "count('a' and pos % 2 in {0}) >= count('b' and pos % 2 in {1}) + 3",
        "count('a') >= count('b') + 3",
        "linear-top",
        3,
        243,
    ),
    "V12": (
        "abc",
        "count('a' and count[back 1]('b') == 1) >= 2 and count('c') == 0 and count('b') <= 1",
        "false",
        "positive",
        None,
        12,
    ),
    "V13": (
        "ab",
        "count('a' and count[back 1]('a') == 1) > count('b' and count[back 1]('b') == 1) + 2",
        "count('a') > count('b') + 2",
        "linear-top",
        3,
        1015,
    ),
    "V14": (
        "ab",
        "count('b' and count[back 1]('a') == 1) >= 1",
        "count('b' and count('a') >= 1) >= 1",
        "positive",
        None,
        8,
    ),
    "V15": (
        "ab",
        "count('b' and count[back 1]('a') == 1) - count('a' and count[back 1]('b') == 1) <= 1",
        "true",
        "linear-top",
        None,
        106,
    ),
    "V16": (
        "ab",
        H + "accept h == 0 and count(h < 0 or h > 3) == 0",
        H + "accept h == 0 and count(h < 0) == 0",
        "one-difference",
        8,
        75,
    ),
    "V17": (
        "ab",
        H + "accept h == 0 and count(h < 0) == 0",
        H + "accept h == 0 and count('b' and h <= -1) == 0",
        "one-difference",
        None,
        57,
    ),
    "V18": (
        "ab",
        "(if count('b') == 0 then 2 * count('a') else count('a')) >= count('b') + 3",
        "count('a') >= count('b') + 3",
        "linear-top",
        2,
        32,
    ),
}
DISAGREEMENTS = {"V1": 1, "V3": 35, "V5": 462, "V8": 1, "V9": 1, "V11": 1, "V13": 1, "V16": 1, "V18": 1}


def program(alphabet, body, name="p"):
    """A program from its accept line, or from lets and an accept line."""
    body = body if "accept" in body else f"accept {body}"
    return parse(f"program {name}\nalphabet {' '.join(map(repr, alphabet))}\n{body}\n")


def vector(name):
    """The two programs of a test vector."""
    alphabet, first, second, *_ = VECTORS[name]
    return program(alphabet, first, "p"), program(alphabet, second, "q")


def all_words(symbols, length):
    """All words of a length, as rows of symbol indices."""
    return np.indices((symbols,) * length).reshape(length, -1).T if length else np.zeros((1, 0), dtype=int)


def disagreements(first, second, length):
    """On how many words of a length two programs differ, by running both on all of them."""
    words = all_words(len(first.alphabet), length)
    return int((run(first, words).accepts != run(second, words).accepts).sum())


def brute_force(first, second, longest):
    """The length of a shortest word on which two programs differ, among all up to a length; None where they agree."""
    return next((n for n in range(longest + 1) if disagreements(first, second, n)), None)


def random_linear(seed, letters="ab"):
    """A linear-top program: linear inequalities over counts whose guards read letters, windows, residues, thresholds."""
    rng = random.Random(f"linear {seed}")
    guards = [f"'{letter}'" for letter in letters]
    extra = rng.choice(
        ["", "", "pos % 2 in {1}", "pos % 3 in {0, 1}", "count[back 1]('b') == 1", "count('b') >= 1", "count('a') >= 2"]
    )
    if extra:
        guards.append(f"'{rng.choice(letters)}' and {extra}")
    return program(letters, _combined(rng, [_inequality(rng, guards) for _ in range(rng.randint(1, 3))]), "linear")


def random_positive(seed, letters="ab"):
    """A positive program: thresholds on counts that never fall, nested."""
    rng = random.Random(f"positive {seed}")
    guards = [f"'{letter}'" for letter in letters] + ["true", f"'{rng.choice(letters)}' and pos % 2 in {{0}}"]
    guards += [f"'{rng.choice(letters)}' and count('{rng.choice(letters)}') >= {rng.randint(1, 2)}"]
    guards += [f"'{rng.choice(letters)}' and count[back 1]('{rng.choice(letters)}') == 1"]
    guards = rng.sample(guards, 3)
    tests = []
    for _ in range(rng.randint(1, 3)):
        form = " + ".join(f"{rng.randint(1, 2)} * count({guard})" for guard in rng.sample(guards, rng.randint(1, 2)))
        tests.append(f"{form} {rng.choice(['>=', '<', '=='])} {rng.randint(1, 4)}")
    return program(letters, _combined(rng, [*tests, f"'{rng.choice(letters)}'"]), "positive")


def random_difference(seed, letters="ab"):
    """A program with one difference of counts, tested anywhere, and thresholds."""
    rng = random.Random(f"difference {seed}")
    test = lambda: f"h {rng.choice(['>=', '<', '==', '<='])} {rng.randint(-2, 3)}"  # noqa: E731
    guards = [test(), f"'{rng.choice(letters)}' and {test()}"]
    tests = [f"count({guard}) {rng.choice(['>=', '<', '=='])} {rng.randint(0, 2)}" for guard in guards]
    return program(
        letters, f"{H}accept {_combined(rng, [*rng.sample(tests, rng.randint(1, 2)), test()])}", "difference"
    )


def _inequality(rng, guards):
    terms = [f"{rng.choice([-3, -2, -1, 1, 2, 3])} * count({guard})" for guard in rng.sample(guards, 2)]
    return f"{' + '.join(terms)} {rng.choice(['>=', '<', '=='])} {rng.randint(-3, 3)}"


def _combined(rng, tests):
    found = tests[0]
    for test in tests[1:]:
        found = f"({found}) {rng.choice(['and', 'or'])} ({rng.choice(['', 'not '])}({test}))"
    return found
