"""Writes the broken certificates of this folder, each wrong in one way, and reasons.json: what a checker must say.

Run it after a change of the format: python tests/broken/make.py. A test checks that the files are what it writes. Those
that they are made of, good/*.json, are valid; all but worst*.json, which tests/helpers_worst.py wrote, are lengthwise's.
"""

import copy
import json
import re
from pathlib import Path

HERE = Path(__file__).parent
STRING, LENGTH, PLAIN, STRINGS = (
    json.loads((HERE / "good" / f"{name}.json").read_text()) for name in ("string", "length", "plain", "strings")
)
WORST, SUFFIX, HARD = (
    json.loads((HERE / "good" / f"{name}.json").read_text()) for name in ("worst", "worst-suffix", "worst-hard")
)
REFUSED, UNREADABLE = "refused", "unreadable"


def changed(base, path, value):
    """The certificate with another value at a path, words and indices separated by blanks."""
    result = copy.deepcopy(base)
    *way, last = [int(key) if key.isdigit() else key for key in path.split()]
    place = result
    for key in way:
        place = place[key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return result


def edited(base, *changes):
    """The certificate with several values changed."""
    for path, value in changes:
        base = changed(base, path, value)
    return base


HEAD = "models 0 layers 0 heads 0"
MLP = "models 0 layers 0 mlp"
# name: (certificate, refused or unreadable, words that the reason must contain)
CASES = {
    # the strings and the counts
    "class-size-of-the-long-string": (
        edited(STRING, ("long table 0 0", 299), ("long table 0 1", 201)),
        REFUSED,
        "no string has the long table: 500 of 1000 positions have residue 0",
    ),
    "class-size-of-the-short-string": (
        edited(STRING, ("short table 0 0", 4), ("short table 0 1", 5)),
        REFUSED,
        "no string has the short table: 9 of 18 positions have residue 0",
    ),
    "length-of-the-long-string": (changed(STRING, "long length", 1003), REFUSED, "the long string's length is 1001, not 1003"),
    "length-of-the-short-string": (changed(STRING, "short length", 17), REFUSED, "the short string's length is 19, not 17"),
    "another-residue-at-the-end": (
        edited(STRING, ("short table 0 1", 5), ("short length", 20), ("window", [20, 20])),
        REFUSED,
        "the lengths 1001 and 20 differ modulo the period 2",
    ),
    "outside-the-window": (changed(STRING, "window", [21, 22]), REFUSED, "has 19 tokens, outside the window 21 to 22"),
    "suffix-shorter-than-the-locality": (
        changed(STRING, f"{HEAD} phi", [0, "1*2^-3"]),
        REFUSED,
        "the suffix has 1 tokens, and a locality of 1 needs 2",
    ),
    "masked-offset-counts-as-local": (
        changed(STRING, f"{HEAD} phi", [0, 0, "masked"]),
        REFUSED,
        "the suffix has 1 tokens, and a locality of 2 needs 3",
    ),
    "suffix-of-unknown-tokens": (changed(STRING, "suffix", [2]), REFUSED, "no nonempty list of tokens 0 to 1"),
    "empty-suffix": (
        edited(STRING, ("suffix", []), ("long length", 1000), ("short length", 18), ("window", [18, 18])),
        REFUSED,
        "no nonempty list of tokens 0 to 1",
    ),
    "row-missing-in-a-table": (
        changed(STRING, "short table", [[5, 4]]),
        UNREADABLE,
        "short, table: wanted a list of 2 entries; got one of 1",
    ),
    "negative-count": (changed(STRING, "short table 0 0", -5), UNREADABLE, "wanted a whole number >= 0; got -5"),
    "fraction-as-a-count": (changed(STRING, "short table 0 0", "11/2"), UNREADABLE, "wanted a whole number >= 0"),
    # the error, and the weights it follows from
    "error-too-small": (changed(STRING, "error", "2/2506"), REFUSED, "at most 2/2505, and 1/1253 is claimed"),
    "error-of-another-model": (changed(STRING, "models 0 unembedding 0 3", 2), REFUSED, "at most 4/2505, and 1/1000"),
    "attention-to-the-other-residue": (changed(STRING, f"{HEAD} key 0", [0, 1, 0, 0]), REFUSED, "1/1000 is claimed"),
    "no-hardmax-at-the-short-length": (changed(STRING, "models 0 bits", 5), REFUSED, "and 1/1000 is claimed"),
    "no-rounding": (changed(STRING, "models 0 bits", None), REFUSED, "and 1/1000 is claimed"),
    "plain-instead": (
        edited(STRING, ("models 0 bits", None), ("models 0 attention", "plain"), ("error", "1/5000")),
        REFUSED,
        "and 1/5000 is claimed",
    ),
    "smaller-margin": (changed(STRING, f"{HEAD} query", [[0, "9/10", "9/10", 0]]), REFUSED, "and 1/1000 is claimed"),
    "hidden-unit-that-amplifies": (
        changed(STRING, "models 0 layers 0 mlp", {"inner": [[0, 0, 0, 3]], "bias": [0], "outer": [[0], [0], [0], [1]], "activation": ["tanh"]}),
        REFUSED,
        "and 1/1000 is claimed",
    ),
    "weight-with-a-huge-denominator": (
        edited(STRING, (f"{HEAD} query 0 2", f"{10**1000 + 1}/{10**1000}"), (f"{HEAD} query 0 1", 1)),
        UNREADABLE,
        "weights up to 2^1100 with a common denominator up to 2^1100",
    ),
    "the-other-model-has-another-vocabulary": (
        changed(STRING, "models", [STRING["models"][0], changed(STRING, "models 0 embedding", [[0, 0, 0, 0]])["models"][0]]),
        UNREADABLE,
        "[(1, 1), (2, 1)]",
    ),
    "the-other-model-has-another-output": (
        changed(STRING, "models", [STRING["models"][0], changed(STRING, "models 0 unembedding", [[0, 0, 0, 1]] * 2)["models"][0]]),
        UNREADABLE,
        "equally many tokens and outputs",
    ),
    "three-models": (changed(STRING, "models", STRING["models"] * 3), UNREADABLE, "one model, or two"),
    "period-that-does-not-fit-the-model": (
        edited(STRING, ("period", 1), ("long table", [[500], [500]]), ("short table", [[9], [9]])),
        UNREADABLE,
        "a multiple of every model's period",
    ),
    # shapes and words of a model
    "ragged-matrix": (changed(STRING, f"{HEAD} value 1", [0, 0, 0]), UNREADABLE, "value: wanted a list of 4 entries"),
    "query-of-another-height": (changed(STRING, f"{HEAD} query", [[0, 1, 1, 0]] * 2), UNREADABLE, "query: wanted a list of 1"),
    "unknown-activation": (
        changed(LENGTH, f"{MLP} activation", ["gelu"]),
        UNREADABLE,
        "wanted one of relu, heaviside, sin, tanh, identity; got 'gelu'",
    ),
    "unknown-attention": (changed(STRING, "models 0 attention", "log-suffix"), UNREADABLE, "one of log-length, plain"),
    "bits-of-plain-attention": (changed(STRING, "models 0 attention", "plain"), UNREADABLE, "null where attention is plain"),
    "no-bits-at-all": (changed(STRING, "models 0 bits", 0), UNREADABLE, "models[0], bits: wanted a whole number >= 1"),
    "two-layers": (
        changed(STRING, "models 0 layers", STRING["models"][0]["layers"] * 2),
        UNREADABLE,
        "layers: wanted a list of 1 entries; got one of 2",
    ),
    # fields and numbers
    "missing-field": (changed(STRING, "window", ...), UNREADABLE, "wanted the field window"),
    "unknown-field": (changed(STRING, "comment", "trust me"), UNREADABLE, "got also 'comment'"),
    "unknown-kind": (changed(STRING, "kind", "worst-error"), UNREADABLE, "kind: wanted one of shortening, length"),
    "unknown-version": (changed(STRING, "version", 2), UNREADABLE, "in version 1"),
    "another-format": (changed(STRING, "format", "certificate"), UNREADABLE, 'the format "lengthwise certificate"'),
    "float-as-a-string": (changed(STRING, "error", "0.001"), UNREADABLE, "error: wanted a number"),
    "nan-as-a-string": (changed(STRING, "error", "NaN"), UNREADABLE, "error: wanted a number"),
    "division-by-zero": (changed(STRING, "error", "1/0"), UNREADABLE, "error: wanted a number"),
    "negative-error": (changed(STRING, "error", "-1/1000"), UNREADABLE, "an error >= 0"),
    "true-as-a-number": (changed(STRING, "suffix", [True]), UNREADABLE, "suffix: wanted a number"),
    "huge-exponent": (changed(STRING, "error", "1*2^99999"), UNREADABLE, "exponents from -2200 to 2200"),
    "huge-integer": (changed(STRING, "long length", "1" + "0" * 2000), UNREADABLE, "long, length: wanted a number"),
    # training lengths, Theorem 2
    "length-one-too-small": (changed(LENGTH, "length", 746), REFUSED, "the length is below 747"),
    "threshold-below-the-margin": (changed(LENGTH, "threshold", 15), REFUSED, "at the threshold a gap of the margin of model 0"),
    "threshold-below-the-suffix": (
        edited(LENGTH, ("models 0 bits", 1), ("models 1 bits", 1), ("threshold", 1)),
        REFUSED,
        "the threshold is below locality + 1 + period = 2",
    ),
    "margin-too-large": (changed(LENGTH, "margins 0", 2), REFUSED, "head 0 of model 0 has a smaller margin"),
    "infinite-margin": (changed(LENGTH, "margins 0", None), REFUSED, "head 0 of model 0 has a smaller margin"),
    "sensitivity-too-small": (changed(LENGTH, "sensitivities 0 0", "399/100"), REFUSED, "has the sensitivity 4, more than"),
    "budget-too-large": (changed(LENGTH, "queries 0 groups 0 budget", "1/15"), REFUSED, "exceed the error"),
    "budget-of-one": (changed(LENGTH, "queries 0 groups 0 budget", 1), REFUSED, "a budget is not between 0 and 1"),
    "count-too-small": (changed(LENGTH, "queries 0 count", "1489/2"), REFUSED, "the count is less than"),
    "ties-too-few": (changed(LENGTH, "queries 0 ties", 0), REFUSED, "more suffix positions can tie"),
    "query-type-missing": (changed(LENGTH, "queries 0 types", [[0, 0], [1, 0]]), REFUSED, "2 of the 3 query types occur"),
    "query-type-twice": (changed(LENGTH, "queries 0 types 2", [1, 0]), REFUSED, "the query type [1, 0] occurs twice"),
    "head-forgotten": (changed(LENGTH, "queries 0 groups", LENGTH["queries"][0]["groups"][:1]), REFUSED, "every head once"),
    "free-head-not-paid-for": (
        edited(LENGTH, ("queries 0 groups", LENGTH["queries"][0]["groups"][:1]), ("queries 0 free", [[1, 0]])),
        REFUSED,
        "exceed the error",
    ),
    "unlike-heads-in-one-group": (
        edited(LENGTH, ("queries 0 groups", [{"heads": [[0, 0], [1, 0]], "budget": "1/16"}]), ("queries 0 count", 100), ("length", 1000)),
        REFUSED,
        "the heads of a group compare differently",
    ),
    "locality-too-small": (changed(LENGTH, f"{HEAD} phi", [0, 1]), REFUSED, "the locality is 0, less than that of a model"),
    "error-of-zero": (changed(LENGTH, "error", 0), REFUSED, "the error is 0"),
    "step-in-the-hidden-layer": (changed(LENGTH, f"{MLP} activation", ["heaviside"]), REFUSED, "a heaviside unit has no slope"),
    "period-too-large-to-check": (changed(LENGTH, "period", 10**6), UNREADABLE, "for which 200000000 steps suffice"),
    "theorem-for-plain-attention": (
        edited(LENGTH, ("models 0 attention", "plain"), ("models 0 bits", None)),
        REFUSED,
        "Theorem 2 needs log-length attention with bits",
    ),
    # training lengths, Theorem P
    "plain-length-one-too-small": (changed(PLAIN, "length", PLAIN["length"] - 1), REFUSED, f"the length is below {PLAIN['length']}"),
    "plain-count-too-small": (changed(PLAIN, "queries 0 count", PLAIN["queries"][0]["count"] - 1), REFUSED, "the count is below"),
    "spread-too-small": (changed(PLAIN, "queries 0 acting 0 spread", "1/2"), REFUSED, "has a larger spread"),
    "theorem-for-log-length-attention": (changed(PLAIN, "models 0 attention", "log-length"), REFUSED, "Theorem P needs plain"),
    "nothing-left-for-the-acting-heads": (
        edited(PLAIN, ("queries 0 free", [PLAIN["queries"][0]["acting"][0]["head"]]), ("queries 0 acting", PLAIN["queries"][0]["acting"][1:])),
        REFUSED,
        "leave nothing of the error",
    ),
    # two strings written out, two layers
    "strings-error-too-small": (changed(STRINGS, "error", "1/100000"), REFUSED, "the errors are only known to be at most"),
    "strings-another-token": (changed(STRINGS, "short", STRINGS["short"][:-1] + [1 - STRINGS["short"][-1]]), REFUSED, "the errors are only known"),
    "strings-unknown-token": (changed(STRINGS, "short 0", 2), REFUSED, "the short string is no nonempty list of tokens 0 to 1"),
    "strings-empty": (changed(STRINGS, "long", []), REFUSED, "the long string is no nonempty list"),
    "strings-too-long": (changed(STRINGS, "long", [0] * 13_500), UNREADABLE, "for which 500000 operations suffice"),
    "strings-of-plain-attention": (changed(STRINGS, "models 0 attention", "plain"), UNREADABLE, "one of log-suffix"),
    "strings-three-layers": (
        changed(STRINGS, "models 0 layers", STRINGS["models"][0]["layers"] * 2),
        UNREADABLE,
        "a list of 1 to 2 layers",
    ),
    # worst errors over all strings
    "worst-lower-raised": (changed(WORST, "lower", "23169/2000"), REFUSED, "the error at the witness is only known"),
    "worst-error-too-small": (changed(WORST, "error", "23/2"), REFUSED, "the leaf's claim is empty or exceeds the error 23/2"),
    "worst-leaf-too-narrow": (changed(WORST, "roots 0 tree 3", [-1, 1]), REFUSED, "roots[0], node 3: the difference is only known"),
    "worst-leaf-missing": (changed(WORST, "roots 1 tree 14", ...), UNREADABLE, "roots[1], node 14: wanted a node for every cell"),
    "worst-leaf-twice": (changed(WORST, "roots 1 tree", WORST["roots"][1]["tree"] + [[0, 0]]), UNREADABLE, "roots[1], node 15: wanted a tree that ends"),
    "worst-root-missing": (changed(WORST, "roots 1", ...), REFUSED, "no root is about the strings that end with [1]"),
    "worst-cut-outside-the-edge": (changed(WORST, "roots 0 tree 0 3", 16), REFUSED, "does not name an edge of the cell"),
    "worst-condition-that-holds": (changed(WORST, "roots 0 tree 3", WORST["roots"][0]["tree"][3] + [0]), REFUSED, "condition 0 holds at a corner"),
    "worst-point-halved": (changed(WORST, "roots 0 tree 0", "t"), REFUSED, "the interval is a point"),
    "worst-unbounded-target": (
        edited(WORST, ("target under", [[0], [1]]), ("lower", 0), ("witness", {"suffix": [0], "length": 2, "table": [[0], [1]]})),
        REFUSED,
        "its numerator is not 0 at a corner where its denominator is",
    ),
    "worst-witness-outside": (changed(WORST, "witness", {"suffix": [1], "length": 10, "table": [[0], [9]]}), REFUSED, "does not meet condition 0"),
    "worst-two-outputs": (changed(WORST, "models 0 unembedding", WORST["models"][0]["unembedding"] * 2), REFUSED, "one model with one output"),
    "worst-step": (changed(WORST, f"{MLP} activation 0", "heaviside"), REFUSED, "a heaviside unit has no slope, and no enclosure"),
    "worst-small-too-small": (changed(SUFFIX, "small", 3), REFUSED, "small is 3, less than 4"),
    "worst-too-many-short-strings": (changed(SUFFIX, "small", 10**30), UNREADABLE, "leaves, endings and short strings for which"),
    "worst-not-hard": (changed(HARD, "models 0 bits", 4), REFUSED, "do not make head 0 hard"),
    "worst-level-missing": (changed(HARD, "roots 3", ...), REFUSED, "residue 0, levels [1]"),
}  # fmt: skip


def texts():
    """Broken texts that no JSON writer gives: name -> (text, kind, words)."""
    good = json.dumps(STRING)
    return {
        "repeated-field": (good.replace('"period": 2', '"period": 2, "period": 2'), UNREADABLE, "'period' twice"),
        "float": (good.replace('"1/1000"', "0.001"), UNREADABLE, "numbers without a point or an exponent"),
        "exponent": (good.replace('"1/1000"', "1e-3"), UNREADABLE, "numbers without a point or an exponent"),
        "nan": (good.replace('"1/1000"', "NaN"), UNREADABLE, "numbers without a point or an exponent"),
        "infinity": (good.replace('"1/1000"', "-Infinity"), UNREADABLE, "numbers without a point or an exponent"),
        "cut-off": (good[: len(good) // 2], UNREADABLE, "wanted JSON"),
        "list": (f"[{good}]", UNREADABLE, "wanted a JSON object"),
        "escape": (good.replace("log-length", "log\\u002dlength"), UNREADABLE, "ASCII text without a backslash"),
        "not-ascii": (good.replace("log-length", "log–length"), UNREADABLE, "ASCII text without a backslash"),
        "nested": (good.replace('"suffix": [1]', '"suffix": ' + "[" * 20 + "]" * 20), UNREADABLE, "at most 12 deep"),
        "digits": (re.sub(r'"window": \[19, 19\]', '"window": [19, 1' + "0" * 2000 + "]", good), UNREADABLE, "2000 digits"),
        "empty": ("", UNREADABLE, "wanted JSON"),
    }  # fmt: skip


def files():
    """Every file of the folder by name, as bytes."""
    plain = {name: (json.dumps(value), kind, words) for name, (value, kind, words) in CASES.items()}
    every = plain | texts()
    written = {f"{name}.json": f"{text}\n".encode() for name, (text, _, _) in every.items()}
    reasons = {name: {"ends": kind, "reason": words} for name, (_, kind, words) in every.items()}
    return written | {"reasons.txt": (json.dumps(reasons, indent=1) + "\n").encode()}


if __name__ == "__main__":
    for old in HERE.glob("*.json"):
        old.unlink()
    for name, content in files().items():
        (HERE / name).write_bytes(content)
