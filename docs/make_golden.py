"""Writes docs/golden/: what the program prints for one small case a verb. Tests compare up to times and versions."""

import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lengthwise as lw
from lengthwise.limit.constructions import kgram_and, simple_task

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "run": ["run", "model.safetensors", "--strings", "words.txt", "--json"],
    "run-hardmax": ["run", "model.safetensors", "--counts", "table.json", "--hardmax", "--json"],
    "run-nl": ["run", "model.safetensors", "--strings", "words.txt", "--nl"],
    "certify": shlex.split("certify modp:period=2,residue=1 --bits 3 --within 0.334 --certificate c.json --json"),
    "check-worst": ["check", "worst.json", "--json"],
    "attack": shlex.split(
        "attack study/weights/02b891270bed8eab.safetensors --task simple:omega=2 --length 1..30 --json"
    ),
    "attack-strings": shlex.split("attack kgram.safetensors --task kgram:symbols=2,backoff=0.25 --length 1..8 --json"),
    "shorten": shlex.split(
        "shorten model.safetensors --counts table.json --error 0.1 --certificate certificate.json --json"
    ),
    "shorten-trained": shlex.split(
        "shorten study/weights/02b891270bed8eab.safetensors study/weights/2ab70e23a365f1cc.safetensors "
        "--counts table.json --error 0.01 --json"
    ),
    "show": ["show", "model.safetensors", "--json"],
    "show-two-layers": ["show", "kgram.safetensors", "--json"],
    "check": ["check", "certificate.json", "--json"],
    "check-refused": ["check", "refused.json", "--json"],
    "bound": shlex.split("bound modp:period=3,residue=0 modp:period=3,residue=1 --bits 4 --error 0.1 --json"),
    "bound-plain": ["bound", "study/weights/02b891270bed8eab.safetensors", "--error", "0.1", "--json"],
    "bound-constants": shlex.split(
        "bound --vocabulary 3 --sensitivity 8 --margin 1e-9 --bits 4 --error 0.1 --same-attention --json"
    ),
    "bound-average": shlex.split("bound simple:omega=4 simple:omega=3 --bits 4 --error 0.5 --average 1 --json"),
    "bound-none": shlex.split("bound simple:omega=4 --error 0.1 --json"),
    "forecast": shlex.split(
        "forecast simple:omega=1 --loss 0.01 --steps 300 --batch 64 --budget 600 --out forecast --json"
    ),
    "crasp-run": ["crasp", "run", "crasp:D_2", "--strings", "brackets.txt", "--json"],
    "crasp-run-all": ["crasp", "run", "crasp:histogram3", "abac", "--positions", "all", "--json"],
    "crasp-run-nl": ["crasp", "run", "crasp:D_2", "--strings", "brackets.txt", "--nl"],
    "crasp-lint": ["crasp", "lint", "crasp:shuffle_dyck2", "--json"],
    "crasp-explain": ["crasp", "explain", "crasp:dyck1", "())(", "--json"],
    "crasp-compare": ["crasp", "compare", "crasp:D_2", "crasp:D_3", "--json"],
    "crasp-compare-equal": ["crasp", "compare", "crasp:dyck1", "balanced.crasp", "--json"],
    "crasp-compile": ["crasp", "compile", "crasp:tomita4", "--out", "tomita4.safetensors", "--json"],
    "crasp-decide": ["crasp", "decide", "(aa|b)*", "--json"],
    "crasp-decide-no": ["crasp", "decide", "[012]*02*", "--json"],
    "sweep": ["sweep", "study/study.toml", "--out", "study", "--resume", "--json"],
    "measure": ["measure", "study", "--loss", "0.005", "--json"],
    "report": ["report", "study", "--json"],
    "tasks": ["tasks", "--json"],
    "communication": ["communication", "dyck1", "--max-length", "12", "--json"],
    "predict": ["predict", "tomita4", "--json"],
    "predict-fails": ["predict", "parity", "--json"],
    "predict-function": ["predict", "squares.py:is_square", "--alphabet", "ab", "--budget", "60", "--json"],
    "predict-words": ["predict", "words.tsv", "--json"],
    "doctor": ["doctor", "--json"],
    "error": ["run", "model.safetensors", "--strings", "bad.txt", "--json"],
}
LONG = {"reproduce": ["reproduce", "figure1", "--json"]}  # minutes: written with --long only
BALANCED = """\
program balanced
alphabet '(' ')'
let h := count('(') - count(')')
accept h == 0 and count(')' and h <= -1) == 0
"""
SQUARES = """\
def is_square(word):
    half = len(word) // 2
    return word[:half] == word[half:]
"""
STUDY = """\
task = "simple"
lengths = [4, 16]
seeds = 2
tile = 4
[grid]
omega = [1, 2]
[model]
width = 4
units = 16
[training]
batch = 128
steps = 1000
[testing]
lengths = [100, 10000, 1000000]
samples = 4096
"""


def train() -> None:
    """A small study, kept in docs/golden/study so that what is measured on it is the same everywhere."""
    shutil.rmtree(GOLDEN / "study", ignore_errors=True)
    lw.sweep(lw.Study.parse(STUDY, "study"), GOLDEN / "study")
    for name in ("lock", "index.sqlite", "checkpoints"):
        path = GOLDEN / "study" / name
        path.rmdir() if path.is_dir() else path.unlink()


def prepare(folder: Path) -> None:
    """The files that the cases read."""
    shutil.copytree(GOLDEN / "study", folder / "study")
    lw.save(simple_task(omega=4, bits=8), folder / "model.safetensors")
    lw.save(kgram_and(symbols=2, order=1, backoff=0.25), folder / "kgram.safetensors")
    example = (GOLDEN.parent / "certificates" / "shortening.json").read_text(encoding="utf-8")
    (folder / "certificate.json").write_text(example, encoding="utf-8")
    (folder / "refused.json").write_text(example.replace('"1/1000"', '"1/2000"'), encoding="utf-8")
    shutil.copy(GOLDEN.parent / "certificates" / "worst.json", folder)
    (folder / "words.txt").write_text("0010210201\n0 1 2 2 2\n", encoding="utf-8")
    (folder / "brackets.txt").write_text("aabb\n\nabba\n", encoding="utf-8")
    (folder / "balanced.crasp").write_text(BALANCED, encoding="utf-8")
    lines = (f"{word}\t{int(word == 'ab' * (len(word) // 2))}\n" for word in all_words("ab", 7))
    (folder / "words.tsv").write_text("".join(lines), encoding="utf-8")
    (folder / "squares.py").write_text(SQUARES, encoding="utf-8")
    (folder / "bad.txt").write_text("0010210201\n01x\n", encoding="utf-8")
    table = [[499999999999999999], [300000000000000000], [200000000000000000]]
    (folder / "table.json").write_text(json.dumps({"suffix": "0", "table": table}), encoding="utf-8")


def all_words(symbols: str, longest: int) -> list[str]:
    """All words up to a length."""
    return ["".join(word) for size in range(longest + 1) for word in itertools.product(symbols, repeat=size)]


def printed(arguments: list[str], folder: Path) -> str:
    """What the program prints in a folder: standard output, or standard error where that is empty."""
    command = [sys.executable, "-m", "lengthwise.cli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    return done.stdout or done.stderr


def tour() -> str:
    """What the tour prints."""
    script = Path(__file__).parent.parent / "examples" / "tour.py"
    return subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True).stdout


def demo(folder: Path) -> str:
    """What `make demo` says of its forecast, without the lines that tell the time."""
    command = [sys.executable, "-m", "lengthwise.cli", *shlex.split("forecast simple:omega=4 --loss 0.01 --out demo")]
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", check=True
    )
    return "".join(line for line in done.stdout.splitlines(keepends=True) if " members, " not in line)


def without_times(text: str) -> str:
    """The tour's output with its times taken out."""
    return re.sub(r"\[[\d.]+ m?s\]", "[time]", text)


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    train()
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        for case, arguments in (CASES | (LONG if "--long" in sys.argv else {})).items():
            (GOLDEN / f"{case}.json").write_text(printed(arguments, Path(name)), encoding="utf-8")
        (GOLDEN / "forecast.txt").write_text(demo(Path(name)), encoding="utf-8")
    (GOLDEN / "tour.txt").write_text(tour(), encoding="utf-8")
