"""What the programs of the library decide, written without counting: regular expressions, stacks, slices, parsers."""

import re
from collections import Counter


def expression(pattern):
    """Membership in a regular language."""
    compiled = re.compile(pattern)
    return lambda word: compiled.fullmatch(word) is not None


def nested(depth):
    """D_n = (a D_(n-1) b)*, D_0 = the empty word."""
    pattern = ""
    for _ in range(depth):
        pattern = f"(?:a{pattern}b)*"
    return expression(pattern)


def brackets(pairs, deepest=None):
    """Balanced brackets of several types, by a stack that may not grow beyond a height."""
    closes = {pair[1]: pair[0] for pair in pairs}

    def member(word):
        stack = []
        for letter in word:
            if letter in closes:
                if not stack or stack.pop() != closes[letter]:
                    return False
            else:
                stack.append(letter)
            if deepest is not None and len(stack) > deepest:
                return False
        return not stack

    return member


def shuffled(*pairs):
    """Each type balanced on its own."""
    parts = [(pair, brackets([pair])) for pair in pairs]
    return lambda word: all(one("".join(c for c in word if c in pair)) for pair, one in parts)


def equal_blocks(letters):
    """a^n b^n c^n ..., by writing the one candidate down."""

    def member(word):
        n, rest = divmod(len(word), len(letters))
        return rest == 0 and word == "".join(letter * n for letter in letters)

    return member


def prefix_expression(word):
    """One expression in prefix form, read by recursive descent."""
    operands = {"v": 0, "u": 1, "b": 2, "t": 3}

    def read(at):
        if at is None or at >= len(word):
            return None
        end = at + 1
        for _ in range(operands[word[at]]):
            end = read(end)
            if end is None:
                return None
        return end

    return read(0) == len(word)


def more(left, right, word):
    """Whether one letter stands more often in a word than another."""
    return sorted(word).count(left) > sorted(word).count(right)


def interleaved(word):
    return len(word) % 3 == 0 and all(more("1", "0", word[start::3]) for start in range(3))


def weighted(word):
    return word.count("a") * (2 if "b" not in word else 1) >= word.count("b") + 3


def last_is_most_frequent(word):
    found = Counter(word).most_common()
    return bool(word) and found[0][0] == word[-1] and (len(found) == 1 or found[1][1] < found[0][1])


def last_was_followed(word):
    return len(word) > 1 and word[-1] in word[:-1]  # anything that is not last is followed


PELL = "ambnaaambbbncpeq"


def pell_word(x, y):
    """The word of a solution: x rounds of the first half, y of the second."""

    def half(rounds, a, b, m, n):
        text, count = "", 0
        for number in range(1, rounds + 1):
            step = 2 * number - 1
            text += a * step + m + b * step + n
            count += step
        return text

    return half(x, "a", "b", "m", "n") + half(y, "c", "e", "p", "q")


LANGUAGES = {  # name: (membership, all words up to this length as a matter of course, and in the long run)
    "tomita1": (expression("1*"), 9, 12),
    "tomita2": (expression("(10)*"), 9, 12),
    "tomita4": (lambda w: "000" not in w, 9, 12),
    "tomita7": (expression("0*1*0*1*"), 9, 12),
    "D_2": (nested(2), 10, 14),
    "D_3": (nested(3), 10, 14),
    "D_4": (nested(4), 10, 14),
    "D_12": (nested(12), 10, 14),
    "aa_star": (expression("(aa)*"), 9, 12),
    "aaaa_star": (expression("(aaaa)*"), 9, 13),
    "abab_star": (expression("(abab)*"), 9, 13),
    "blocks5": (expression("a+b+c+d+e+"), 6, 8),
    "ab_d_bc": (expression("[ab]*d[bc]*"), 6, 9),
    "majority": (lambda w: more("1", "0", w), 9, 12),
    "dyck1": (brackets(["()"]), 10, 14),
    "anbn": (equal_blocks("ab"), 10, 14),
    "anbncn": (equal_blocks("abc"), 7, 11),
    "anbncndn": (equal_blocks("abcd"), 6, 9),
    "shuffle_dyck2": (shuffled("()", "[]"), 6, 9),
    "prefix_bool3": (prefix_expression, 6, 9),
    "linear_ineq": (lambda w: 2 * w.count("a") - 3 * w.count("b") > 0, 9, 12),
    "exactly3a": (expression("(b*a){3}b*"), 9, 12),
    "subseq_abc": (expression(".*a.*b.*c.*"), 7, 11),
    "first_is_a": (expression("a.*"), 9, 12),
    "last_is_a": (expression(".*a"), 9, 12),
    "second_last_is_a": (expression(".*a."), 9, 12),
    "contains_ab": (lambda w: "ab" in w, 7, 11),
    "slt_mix": (expression("(ab|aab)+"), 9, 12),
    "two_back_copy": (lambda w: w[2:] == w[:-2], 9, 12),
    "ab_or_ba_star": (expression("(ab|ba)*"), 9, 12),
    "three_blocks": (expression("a+b+a+"), 9, 12),
    "interleave3_all_ones": (interleaved, 9, 12),
    "cond_weight": (weighted, 9, 12),
    "a_star_b_star": (expression("a*b*"), 9, 12),
    "len_mod3_eq1": (expression("(...)*."), 9, 12),
    "same_first_last": (expression(r"(.)(.*\1)?"), 9, 12),
    "even_a_blocks": (expression("((aa)|b)*"), 10, 14),
    "dyck_2_2": (brackets(["()", "[]"], 2), 6, 9),
    "dyck_2_3": (brackets(["()", "[]"], 3), 7, 9),
    "dyck_3_2": (brackets(["()", "[]", "{}"], 2), 5, 7),
    "window_mod3": (lambda w: w[-4:].count("a") % 3 == 0, 9, 12),
    "window_majority5": (lambda w: more("a", "b", w[-5:]), 9, 12),
    "no_repeat3": (lambda w: all(len(set(w[i : i + 3])) == len(w[i : i + 3]) for i in range(len(w))), 6, 9),
    "five_blocks": (expression("a+b+a+b+a+"), 9, 12),
    "third_last_is_a": (expression(".*a.."), 9, 12),
    "ab_equals_ba": (lambda w: w[:1] == w[-1:], 9, 12),
    "ballot": (lambda w: all(more("a", "b", w[:i]) for i in range(1, len(w) + 1)), 9, 12),
    "mod2_balance": (lambda w: w[::2].count("a") == w[1::2].count("b"), 9, 12),
    "histogram3": (last_is_most_frequent, 7, 10),
    "follows3": (last_was_followed, 7, 10),
    "doubling_4": (lambda w: w == "axbbyaaaaxbbbbbbbby", 6, 9),
    "pell_3": (lambda w: w in (pell_word(2, 1), pell_word(7, 4)), 4, 6),
}


def answers_of_the_tasks(name, word):
    """The output of a task for an input without ties or repeats, as a list of symbols, the end included."""
    if name in ("binary_majority", "majority4", "majority26"):
        found = Counter(word).most_common(2)
        if not found or (len(found) == 2 and found[0][1] == found[1][1]):
            return None
        return [found[0][0], "E"]
    if name == "binary_majority_interleave3":
        parts = [Counter(word[start::3]) for start in range(3)]
        if len(word) % 3 or not word or any(part["0"] == part["1"] for part in parts):
            return None
        return [*("1" if part["1"] > part["0"] else "0" for part in parts), "E"]
    if not word or len(set(word)) < len(word):
        return None
    return [*(sorted(word) if name == "sort5" else word), "E"]


TASKS = {  # name: letters, all inputs up to this length, and in the long run
    "binary_majority": ("01", 7, 11),
    "majority4": ("abcd", 4, 6),
    "binary_majority_interleave3": ("01", 9, 12),
    "sort5": ("12345", 5, 5),
    "copy_unique5": ("12345", 5, 5),
}
