"""Within which length two unequal programs differ: explicit, exact integers.

Each function is one theorem; the quantities are measured on a pair of programs by `verdict.fragments`.

Source: programs note, sections 2, 3.3, 4.3 and 4.4. The published statements (Chen, Ma, Li 2025; Yang et al. 2026) give
orders of growth only; the constants are ours.
"""

from math import isqrt

_DETERMINANTS = (1, 1, 2, 4, 16, 48, 160, 576, 4096, 14336, 73728)


def automata(first_states: int, second_states: int) -> int:
    """Two deterministic automata that differ do so within n1 + n2 - 2 symbols; attained for all n1, n2 >= 2.

    Source: programs note, Theorem 2; for one class of automata with at most n states, 2n - 2: Chen, Ma, Li 2025.
    """
    return max(0, first_states + second_states - 2)


def largest_determinant(size: int) -> int:
    """At least the largest determinant of a square matrix with entries in [-1, 1].

    Exact up to size 10 (Hadamard's maximal determinants); above, Hadamard's bound n^(n/2), rounded down.
    """
    return _DETERMINANTS[size] if size < len(_DETERMINANTS) else isqrt(size**size)


def linear_top(states: int, letters: int, forms: int, step: int, constant: int, last_letter: bool) -> int:
    """Two linear-top programs that differ do so within this length.

    V states of the guard automaton, k letters, s distinct forms tested at the top, T the largest step of one, C the
    largest |c| among F >= c, F <= c and their negations. With D = (k-1) V + 1, p = min(s, D), q = min(s, D-1),
    B = C + T (V (V-1) + 1) and H_p the largest determinant of size p:

        V (V-1) + 1 + V p H_p (V T)^(p-1) B + D V (q+1) H_q (V T)^q

    and for V = 1 without tests of the last letter at the top:  p H_p T^(p-1) C + k (q+1) H_q T^q.

    Source: programs note, Theorem 3.
    """
    V, k, s, T, C = states, letters, forms, step, constant
    D = (k - 1) * V + 1
    p, q = min(s, D), min(s, D - 1)
    rays: int = (q + 1) * largest_determinant(q) * (V * T) ** q
    if V == 1 and not last_letter:
        plain: int = p * largest_determinant(p) * T ** (p - 1) * C if p else 0
        return plain + k * rays
    B = C + T * (V * (V - 1) + 1)
    vertices: int = V * p * largest_determinant(p) * (V * T) ** (p - 1) * B if p else 0
    return V * (V - 1) + 1 + vertices + D * V * rays


def linear_class(letters: int, inequalities: int, coefficient: int, constant: int) -> int:
    """All pairs of plain programs of a class: at most s0 inequalities sum a_x count(x) + c >= 0 in any combination.

    |a_x| <= T, |c| <= C0, no test of the last letter. For two letters 4 T (C0 + 1) + 4 T, however many inequalities.

    Source: programs note, Corollary 4, by Theorem 3 with s = 2 s0 forms and C = C0 + 1.
    """
    return linear_top(1, letters, 2 * inequalities, coefficient, constant + 1, last_letter=False)


def positive(control: int, thresholds: int) -> int:
    """Two positive programs that differ do so within V (Theta + 1) symbols; without windows and residues attained.

    V values of residue and bits looked back at; Theta the sum of ceil(cap / least coefficient) over all forms.
    Source: programs note, Theorem 5.
    """
    return control * (thresholds + 1)


def highest_difference(control: int, thresholds: int, step: int, constant: int) -> int:
    """The absolute value R that the one difference of two programs never exceeds in a shortest disagreement.

    R = K + (Theta + 1) V T + (2 Theta + 1) V^2 T^2.  Source: programs note, Theorem 6.
    """
    V, Theta, T, K = control, thresholds, step, constant
    return K + (Theta + 1) * V * T + (2 * Theta + 1) * V * V * T * T


def one_difference(control: int, thresholds: int, step: int, constant: int) -> int:
    """Two programs with one difference of counts that differ do so within V (Theta + 1) (2 R + 1) symbols.

    T the largest step of the difference, K the largest |c| in its tests and their negations, R its height.
    Source: programs note, Theorem 6.
    """
    return control * (thresholds + 1) * (2 * highest_difference(control, thresholds, step, constant) + 1)
