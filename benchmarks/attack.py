"""How bad a string the search finds, beside random search of equal budget: `python benchmarks/attack.py [--write]`.

Two kinds of models that see the order of tokens:

    k-gram        both two-layer constructions against the hard target, which they approach as strings grow
    suite         compiled programs for languages of the length-generalization suite, made imperfect: every step is a ReLU ramp
                  of width 1/16, as in a network without steps, and every weight is off by 2 % (relative, normal). The
                  error is what an output lacks of a margin of 1/2 on its side; 1/2 and more is a wrong answer.

The rivals have the same number of evaluations: strings from the task's own law and five others (repeated words, runs,
chains, ...), which is how `attack --strategy random` draws and how ours begins; and the plain one, uniform tokens.
Largest errors found, medians over three seeds.
"""

import argparse
import itertools
import statistics
import time
from dataclasses import replace

import numpy as np
from _stored import store

import lengthwise as lw
from lengthwise.crasp.compiled import compile
from lengthwise.crasp.library import library
from lengthwise.limit.constructions import kgram_add, kgram_and
from lengthwise.tasks.judged import judged
from lengthwise.theory.attack_strings import StringSpace, attack_strings
from lengthwise.theory.effort import Effort

EVALUATIONS, SEEDS = 1500, (0, 1, 2)
KGRAMS = [(2, 1), (3, 1), (2, 2)]
SUITE = ["tomita4", "tomita7", "D_2", "D_4", "a_star_b_star", "ab_d_bc", "abab_star", "blocks5"]
LENGTH, SLOPE, NOISE = 128, 16, 0.02


def ramps(model):
    """Every step H(v) a ramp relu(k v) - relu(k v - 1): the same from v = 1/k on."""

    def layer(old):
        if old.mlp is None:
            return old
        inner, bias, outer = old.mlp.inner, old.mlp.bias, old.mlp.outer
        inner, bias = np.concatenate([SLOPE * inner] * 2), np.concatenate([SLOPE * bias, SLOPE * bias - 1])
        return lw.Layer(old.heads, lw.MLP(inner, bias, np.concatenate([outer, -outer], axis=1), "relu"))

    return replace(model, layers=tuple(layer(old) for old in model.layers))


def perturbed(model, seed=0):
    """Every finite weight times 1 + 0.02 times a normal number."""
    generator = np.random.default_rng(seed)
    return lw.map_arrays(
        model, lambda a: np.where(np.isfinite(a), a * (1 + NOISE * generator.normal(size=np.shape(a))), a)
    )


def uniform(score, symbols, length, seed):
    """The largest score of strings of uniform tokens."""
    generator = np.random.default_rng(seed)
    scores = (score(generator.integers(0, symbols, length)) for _ in range(EVALUATIONS))
    return max(float(np.max(found)) for found in scores if found is not None)


def row(what, known, length):
    """The three searches on one model and length."""
    space = StringSpace(known.symbols, length, length)
    search = lambda seed, strategy: attack_strings(known.score, space, Effort(EVALUATIONS, seed), strategy, known.draw)  # noqa: E731
    started = time.perf_counter()
    ours = statistics.median(search(seed, "evolution").error for seed in SEEDS)
    seconds = (time.perf_counter() - started) / len(SEEDS)
    drawn = statistics.median(search(seed, "random").error for seed in SEEDS)
    plain = statistics.median(uniform(known.score, known.symbols, length, seed) for seed in SEEDS)
    found = {"what": what, "ours": ours, "unit": "largest error", "wanted": "ratio >= 1"}
    found |= {"rival_name": "random strings with structure, equal budget", "rival": max(0.0, drawn)}
    found |= {"ratio": ours / drawn if drawn > 0 else None}
    found |= {"rival_2_name": "uniform tokens, equal budget", "rival_2": max(0.0, plain)}
    return found | {"ratio_2": ours / plain if plain > 0 else None, "ours_seconds": seconds}


def kgrams():
    for symbols, order in KGRAMS:
        task = lw.task(f"kgram:symbols={symbols},order={order}")
        for name, model in (("and", kgram_and(symbols, order, 0.05)), ("add", kgram_add(symbols, order, 3.0))):
            known = replace(
                judged(model, lambda tokens, task=task: task.hard_target(tokens)),
                draw=lambda generator, length, task=task: task.strings(generator, length, 1)[0],
            )
            for length in (64, 512):
                yield row(f"{symbols} symbols, order {order}, construction {name!r}, length {length}", known, length)


def suite():
    for name in SUITE:
        program = library()[name]
        known = judged(perturbed(ramps(compile(program).model)), program)
        yield row(f"{name}, ramps and 2 % noise, length {LENGTH}", known, LENGTH)


def main():
    """Runs all rows, prints them, and with --write stores them for the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the rows in benchmarks/results/attack.json")
    write = parser.parse_args().write
    rows = []
    for one in itertools.chain(kgrams(), suite()):
        rows.append(one)
        rest = {name: round(value, 3) for name, value in one.items() if isinstance(value, float)}
        print(f"{one['what']}: {rest}", flush=True)
    if write:
        store("attack", f"attack, {EVALUATIONS} evaluations", rows)


if __name__ == "__main__":
    main()
