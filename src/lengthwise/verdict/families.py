"""Families of programs whose disagreements are as long as they can be: what no method can beat.

Each is a program, or a pair, with the length of its shortest disagreement in closed form. The first three attain the
bounds of `verdict.bounds` in their order of growth; the last two have two levels of counts, where no computable bound
exists (Yang et al. 2026): only a constant of the program changes, and the lengths jump.

Source: programs note, sections 3.3 and 4.5.
"""

from itertools import pairwise
from math import isqrt

from lengthwise.crasp.parse import parse
from lengthwise.crasp.syntax import Program


def cone(coefficient: int) -> tuple[Program, int]:
    """Two inequalities that leave a narrow cone; accepts nothing shorter than 4 T^2 - 4 T, for T >= 2.

    (T-1) a - T b - T >= 0  and  (T-1) b - (T-2) a - T >= 0.  The matrix has determinant 1 and a nonnegative inverse, so
    a = (T-1) u + T v and b = (T-2) u + (T-1) v with integers u, v >= T.
    """
    T = coefficient
    accept = f"{T - 1} * count('a') >= {T} * count('b') + {T} and {T - 1} * count('b') >= {T - 2} * count('a') + {T}"
    return _program("cone", "ab", accept), 4 * T * T - 4 * T


def constant_pair(coefficient: int, constant: int) -> tuple[Program, Program, int]:
    """Two inequalities that first differ at C + T + 1 symbols.

    (T-1) b + C >= a  against  T b + C >= a:  they differ iff C + (T-1) b < a <= C + T b, first at b = 1, a = C + T.
    """
    T, C = coefficient, constant
    low = _program("low", "ab", f"{T - 1} * count('b') + {C} >= count('a')")
    high = _program("high", "ab", f"{T} * count('b') + {C} >= count('a')")
    return low, high, C + T + 1


def chain(coefficient: int, letters: int) -> tuple[Program, int]:
    """x1 >= T, x2 >= T x1, ..., xk >= T x(k-1): accepts nothing shorter than T + T^2 + ... + T^k."""
    T, names = coefficient, "abcdefghij"[:letters]
    tests = [f"count('{names[0]}') >= {T}"]
    tests += [f"count('{y}') >= {T} * count('{x}')" for x, y in pairwise(names)]
    return _program("chain", names, " and ".join(tests)), sum(T**power for power in range(1, letters + 1))


def one_letter(states: int, period: int) -> tuple[Program, Program, int]:
    """A word of one length against a residue class; they differ first after n1 + n2 - 2 symbols, for 2 <= n1 <= n2.

    {a^(n1-2)} has n1 states with the sink, {a^i : i = n1-2 mod n2} has n2. Nothing longer is needed for two automata.
    """
    first = _program("one_length", "a", f"count(true) == {states - 2}")
    second = _program("residue", "a", f"pos % {period} in {{{(states - 2) % period}}}")
    return first, second, states + period - 2


def doubling(markers: int, factor: int = 2) -> tuple[Program, int]:
    """A program that accepts one word, of length 2^n + n - 1 for factor 2: a constant of the program doubles the length.

    Phases of a and b alternate, each ended by a marker when its count is factor times the other's, one more for a. An
    overshoot is never repaired. Block totals are u_1 = 1, u_j = c u_(j-1) + [j odd]; the length is u_n + u_(n-1) + n.
    """
    n, c = markers, factor
    text = f"""program doubling
alphabet 'a' 'b' 'x' 'y'
let inA := count('x') == count('y')
let bad1 := 'a' and not inA
let bad2 := 'b' and inA
let bad3 := 'x' and not (count('x') == count('y') + 1 and count('a') == {c} * count('b') + 1)
let bad4 := 'y' and not (count('x') == count('y') and count('b') == {c} * count('a'))
accept count(bad1 or bad2 or bad3 or bad4) == 0 and count('x' or 'y') == {n} and ('x' or 'y')
"""
    before, last = 0, 1
    for block in range(2, n + 1):
        before, last = last, c * last + block % 2
    return parse(text), last + before + n


def pell(factor: int) -> tuple[Program, int | None]:
    """A program that accepts the words of the solutions of x^2 - d y^2 = 1, y >= 1; with d a square, no word at all.

    Counts inside counts force squares: in rounds a..a m b..b n the j-th m comes at count(a) = count(b) + 2 j - 1, n at
    count(b) = count(a), so after x rounds count(a) = 1 + 3 + ... = x^2. The length is 2x^2 + 2x + 2y^2 + 2y, None for a
    square.
    """
    text = f"""program pell
alphabet 'a' 'b' 'm' 'n' 'c' 'e' 'p' 'q'
let second := count('c' or 'p' or 'e' or 'q') >= 1
let s1 := count('m') == count('n')
let s2 := count('p') == count('q')
let w1 := 'a' and not s1
let w2 := 'b' and s1
let w3 := 'm' and not (count('m') == count('n') + 1 and count('a') == count('b') + 2 * count('m') - 1)
let w4 := 'n' and not (s1 and count('b') == count('a'))
let w5 := 'c' and not s2
let w6 := 'e' and s2
let w7 := 'p' and not (count('p') == count('q') + 1 and count('c') == count('e') + 2 * count('p') - 1)
let w8 := 'q' and not (s2 and count('e') == count('c'))
let w9 := second and ('a' or 'b' or 'm' or 'n' or not count('a') == count('b'))
accept count(w1 or w2 or w3 or w4 or w5 or w6 or w7 or w8 or w9) == 0 and 'q' and s1 and count('a') == {factor} * count('c') + 1
"""
    least = least_solution(factor)
    if least is None:
        return parse(text), None
    x, y = least
    return parse(text), 2 * x * x + 2 * x + 2 * y * y + 2 * y


def least_solution(factor: int) -> tuple[int, int] | None:
    """The least x, y >= 1 with x^2 - d y^2 = 1, from the continued fraction of the root of d; None for a square.

    The convergents x / y are tried in order; Lagrange: one of them is the least solution.
    """
    root = isqrt(factor)
    if root * root == factor:
        return None
    shift, divisor, whole = 0, 1, root
    x, x_before, y, y_before = root, 1, 1, 0
    while x * x - factor * y * y != 1:
        shift = divisor * whole - shift
        divisor = (factor - shift * shift) // divisor
        whole = (root + shift) // divisor
        x, x_before = whole * x + x_before, x
        y, y_before = whole * y + y_before, y
    return x, y


def _program(name: str, letters: str, accept: str) -> Program:
    alphabet = " ".join(f"'{letter}'" for letter in letters)
    return parse(f"program {name}\nalphabet {alphabet}\naccept {accept}\n")
