"""The eight algorithmic tasks of the length-generalization literature: what is known of each, with theorem or witness.

A task is a next-token function: after the input and a separator it says the output token by token. `published` is the
share of exact answers, in per cent, at lengths up to 50, 51 to 100 and 101 to 150, with learned positions and random
offsets (no penalty) and without positions, means over the runs that fit the first.

Source: Huang et al. 2025, section on algorithmic tasks, and its public logs. The programs, the argument for interleaved
majority, and the numbers of rows: ours.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lengthwise.verdict.machine import Machine
from lengthwise.verdict.prediction import Side
from lengthwise.verdict.task_machines import Addition, CopyRepeat

Shares = tuple[float, float, float]
SOURCE = "Huang et al. 2025, public logs of the algorithmic tasks"
PARITY = "(0*10*1)*0*"
GROWING = (
    " This is about a fixed alphabet, of 150 symbols in the experiments; with an alphabet that grows with the length the "
    "task leaves the theory, and its first half must tell the second linearly many bits."
)
THEOREM_9 = "Huang et al. 2025, Theorems 7 and 9; the program"
THEOREM_12 = "Huang et al. 2025, Theorem 12; the number of rows: ours"
FIXED = (
    "The symbols of an input are different, so inputs end at the size of the alphabet; the program is the one for 5 symbols "
    "of a scheme for any number ({scheme})."
)


@dataclass(frozen=True)
class Task:
    """A task by name: its verdicts, a program of the library for it, or a machine whose communication is counted.

    regular  an expression for the language that the task asks about, where there is one
    """

    name: str
    says: str
    positions: Side | None
    nope: Side | None
    published_positions: Shares
    published_without: Shares
    program: str | None = None
    machine: Callable[[], Machine] | None = None
    regular: str | None = None
    notes: tuple[str, ...] = ()


def _inside(what: str) -> Side:
    return Side("generalizes", "proved", what, THEOREM_9)


def _rows(why: str) -> Side:
    return Side("fails", "proved", why, THEOREM_12)


_PLAIN = _inside("A program without positions computes the task, so both kinds of limit transformers do.")
_SORT = _inside(f"{_PLAIN.reason}{GROWING}")
_INTERLEAVE = Side(
    "fails",
    "decided",
    "No plain program computes the task: for each there is a word w such that it does not tell w 011 from w 101 at the "
    "separator, and the first answers are 0 and 1.",
    "ours, docs/predict.md; Huang et al. 2025 flag it outside too",
)
_COPY_NOPE = Side(
    "fails",
    "conjectured",
    "Plain counts do not tell neighbours; the public code flags the task outside for them. With a fixed alphabet there are "
    "finitely many inputs, so some plain program exists, but none of the scheme's kind is known.",
    "Huang et al. 2025, public code",
)
_COPY = (
    "Two words of n symbols over a and b that first differ at place i ask for different tokens after a separator and the "
    "first i - 1 symbols of their copy: 2^n different rows, n bits from the first part of the word to the second, "
    "where a periodic, local limit transformer gets by with O(log n)."
)
_ADD = (
    "Two first operands of n digits and a second operand 1 have different sums, so they ask for different tokens after `1=` "
    "and the digits that the sums share: 2^(n-1) different rows, n - 1 bits from `u+` to the rest, where a periodic, local "
    "limit transformer gets by with O(log n)."
)

TASKS = (
    Task(
        "binary-majority",
        "the more frequent bit",
        _PLAIN,
        _PLAIN,
        (100.0, 99.99, 99.96),
        (100.0, 100.0, 100.0),
        program="binary_majority",
    ),
    Task(
        "majority",
        "the most frequent of 26 letters",
        _PLAIN,
        _PLAIN,
        (100.0, 99.62, 97.81),
        (100.0, 99.86, 98.46),
        program="majority26",
    ),
    Task(
        "binary-majority-interleave",
        "the majorities of three interleaved words",
        _inside("A program with period 3 computes the task."),
        _INTERLEAVE,
        (100.0, 96.75, 84.7),
        (96.16, 68.81, 39.47),
        program="binary_majority_interleave3",
    ),
    Task(
        "copy-unique",
        "the input again, its symbols all different",
        _inside(
            "A program with offset 1 computes the task: the next symbol is the one that followed the current one."
            + GROWING
        ),
        _COPY_NOPE,
        (100.0, 99.86, 98.74),
        (100.0, 18.0, 0.0),
        program="copy_unique5",
        notes=(FIXED.format(scheme="lengthwise.crasp.generators.copy_task"),),
    ),
    Task(
        "copy-repeat",
        "the input again, over a and b",
        _rows(_COPY),
        _rows(_COPY),
        (100.0, 25.55, 0.0),
        (100.0, 28.01, 0.0),
        machine=CopyRepeat,
    ),
    Task(
        "sort",
        "the input in ascending order, its symbols all different",
        _SORT,
        _SORT,
        (100.0, 99.96, 99.37),
        (100.0, 99.81, 80.6),
        program="sort5",
        notes=(FIXED.format(scheme="lengthwise.crasp.generators.sort_task"),),
    ),
    Task(
        "parity",
        "whether the number of ones is even",
        None,
        None,
        (100.0, 82.95, 62.06),
        (97.52, 74.5, 63.3),
        regular=PARITY,
    ),
    Task(
        "addition",
        "the binary sum of two numbers, most significant digit first",
        _rows(_ADD),
        _rows(_ADD),
        (99.74, 26.78, 0.0),
        (99.5, 27.69, 0.0),
        machine=Addition,
    ),
)


def algorithmic_task(name: str) -> Task | None:
    """The task of a name; None for any other text."""
    return next((one for one in TASKS if one.name == name.replace("_", "-")), None)
