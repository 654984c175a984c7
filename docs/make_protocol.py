"""Runs the protocol of Theorem 12 on compiled programs and writes docs/protocol.csv and docs/protocol.svg.

For halves of N symbols: the bits of the message, the line they stay under, how many different messages there are, with
the rows of locality + 1 last positions, as the bits are counted, and with the `locality` that are needed, and how many
any protocol must have.
"""

import csv
import math
from pathlib import Path

from lengthwise.crasp.compiled import compile
from lengthwise.crasp.library import library
from lengthwise.verdict.communication import merge, reachable
from lengthwise.verdict.machine import ProgramMachine
from lengthwise.verdict.message_bits import cost, message_counts

TABLE, FIGURE = Path(__file__).with_name("protocol.csv"), Path(__file__).with_name("protocol.svg")
PROGRAMS = ("majority", "dyck1", "abab_star", "tomita4", "tomita7", "contains_ab", "anbncn")
COUNTED, MOST = 24, 1200  # halves whose messages are counted, as long as they are so few
LONGEST = 2**12
COLUMNS = ("program", "half", "bits", "line", "messages", "fewest_messages", "rows")


def rows():
    """One row a program and length of the half."""
    for name in PROGRAMS:
        program = library()[name]
        compiled, machine = compile(program), ProgramMachine(program)
        price = cost(compiled)
        sent = message_counts(compiled, COUNTED, most=MOST)
        fewest = message_counts(compiled, len(sent), window=compiled.model.locality)
        halves = sorted({*range(1, COUNTED + 1), *(2**k for k in range(LONGEST.bit_length()))})
        for half in halves:
            counted = (sent[half - 1], fewest[half - 1]) if half <= len(sent) else ("", "")
            least = different_rows(machine, half) if half <= COUNTED else ""
            yield name, half, price.bits(half), f"{price.line(half):.6g}", *counted, least


def different_rows(machine, half):
    """How many first halves a second half must be able to tell apart."""
    layers = reachable(machine, 2 * half)
    return len(set(merge(machine, layers)[half].values()))


def figure(table, path):
    """A panel a program: bits against the logarithm of the half's length."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "lengthwise", "font.size": 8}
    import matplotlib.pyplot as plt

    drawn, panels = plt.subplots(2, 4, figsize=(10, 5), layout="constrained", sharex=True)
    for name, axis in zip(PROGRAMS, panels.flat, strict=False):
        found = [row for row in table if row["program"] == name]
        halves = [int(row["half"]) for row in found]
        axis.step(halves, [int(row["bits"]) for row in found], where="post", color="tab:blue", label="bits sent")
        axis.plot(
            halves, [float(row["line"]) for row in found], "--", color="grey", label="$A + C\\,\\log_2 N$, proved"
        )
        for column, style, colour, label in (
            ("messages", "o", "tab:orange", "$\\log_2$ messages that occur"),
            ("fewest_messages", ".", "tab:green", "the same, no row sent that is not needed"),
            ("rows", "_", "black", "$\\log_2$ rows: no protocol sends less"),
        ):
            some = [(int(row["half"]), math.log2(int(row[column]))) for row in found if row[column]]
            axis.plot(*zip(*some, strict=True), style, color=colour, markersize=4, label=label)
        axis.set_xscale("log", base=2)
        axis.set_title(name)
        axis.set_ylim(bottom=-0.5)
        axis.grid(lw=0.3)
    panels[1, 3].axis("off")
    panels[1, 3].legend(*panels[0, 0].get_legend_handles_labels(), loc="center", frameon=False)
    drawn.supxlabel("N, symbols of the first half")
    drawn.supylabel("bits")
    drawn.savefig(path, metadata={"Date": None})
    plt.close(drawn)


if __name__ == "__main__":
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows()])
    with TABLE.open(encoding="utf-8", newline="") as file:
        figure(list(csv.DictReader(file)), FIGURE)
