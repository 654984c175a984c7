"""Programs from labelled words alone: `python benchmarks/search.py [--seconds S] [--write] [NAME ...]`.

For each of the library's 43 first programs, only its labels are used: of all words up to a length, and of the longer
words on which a candidate is tested. The time is that of one core, so other work on the machine does not count. The
found program is then compared with the library's. Programs without `accept` only have outputs; they are left out and
count as not found.
"""

import argparse
import time

from _stored import store

import lengthwise as lw
from lengthwise.verdict.compare import compare
from lengthwise.verdict.labelled import labelled_words
from lengthwise.verdict.machine import ProgramMachine
from lengthwise.verdict.search import search

STATES = 50_000  # of the comparison with the library's program
LANGUAGES = """
D_2 D_3 D_4 a_star_b_star aa_star aaaa_star ab_d_bc ab_or_ba_star abab_star anbn anbncn
cond_weight contains_ab dyck1 exactly3a first_is_a interleave3_all_ones last_is_a len_mod3_eq1
linear_ineq majority prefix_bool3 same_first_last second_last_is_a shuffle_dyck2 slt_mix subseq_abc three_blocks
tomita1 tomita2 tomita4 tomita7 two_back_copy
D_12 anbncndn blocks5 dyck_2_2 even_a_blocks
binary_majority binary_majority_interleave3 copy_unique5 majority4 sort5
""".split()  # noqa: SIM905


def row(name, seconds):
    """One language: what was found, how long it took, and how it compares."""
    known = lw.crasp.library()[name]
    if known.accept is None:
        return {"what": name, "verdict": "only outputs, left out", "found": False}
    start = time.process_time()
    machine = ProgramMachine(known)
    words = labelled_words(machine)
    result = search(words, machine, seconds=0)
    while not result.finished and time.process_time() - start < seconds:
        result = search(words, machine, seconds=0.2, state=result.state)
    spent = time.process_time() - start
    verdict, found = "not found", False
    if result.program is not None:
        verdict, found = compared(known, result.program)
    return {
        "what": name,
        "verdict": verdict,
        "found": found,
        "ours_seconds": spent,
        "size": result.size,
        "all words up to": result.checked_to,
        "tested up to": result.retested_to,
        "failed candidates": len(result.rejected),
        "looked at": result.candidates,
        "no smaller up to": result.complete_size,
        "accept": None if result.program is None else f"`{result.program.accept}`",  # brackets are no links
    }


def compared(known, found):
    """What is known of the two programs, and whether the found one counts."""
    result = compare(known, found, most_states=STATES)
    if result.equal:
        return f"equal ({'proved' if result.exactness == 'proved' else 'a solver found no difference'})", True
    if result.equal is None:
        return f"agrees up to {result.agrees_up_to}", True
    return f"differs at length {result.length}", False


def main():
    """Prints the rows; with --write also keeps them."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*", help="languages; all 43 by default")
    arguments.add_argument("--seconds", type=float, default=60.0, help="time for one language")
    arguments.add_argument("--write", action="store_true", help="keep the results for the page of benchmarks")
    chosen = arguments.parse_args()
    rows = []
    for name in chosen.names or LANGUAGES:
        rows.append(row(name, chosen.seconds))
        print("  ".join(f"{key} {value}" for key, value in rows[-1].items() if value is not None), flush=True)
    many = sum(one["found"] for one in rows)
    print(f"{many} of {len(rows)}")
    if chosen.write:
        total = {
            "what": f"found of {len(rows)}, {chosen.seconds:g} s of one core each",
            "verdict": str(many),
            "wanted": ">= 15",
        }
        store(
            "search",
            "programs from labelled words alone",
            [total, *({key: value for key, value in one.items() if key != "found"} for one in rows)],
        )


if __name__ == "__main__":
    main()
