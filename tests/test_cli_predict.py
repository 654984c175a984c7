"""`lengthwise predict` on the command line: every kind of target, what it prints, exit codes, what it loads."""

import itertools
import json
import subprocess
import sys

import pytest

from lengthwise.cli.word_target import REGRESSION
from lengthwise.tasks.registry import TASKS

PROGRAM = "program p\nalphabet 'a' 'b'\nlet h := count('a') - count('b')\naccept h == 0 and count(h < 0) == 0\n"
MINE = """
def doubled(word):
    return word == word[::2] * 2

doubled.alphabet = "ab"

def nonsense(word):
    return [] if word == "ab" else True

nonsense.alphabet = "ab"

def numbered(word):
    return True

numbered.alphabet = 2

def leaves(word):
    raise SystemExit(0)

leaves.alphabet = "ab"
"""
AUTOMATON = {"alphabet": ["a", "b"], "start": 0, "accepting": [0], "table": [[1, 0], [0, 1]]}


def test_a_verdict_is_printed_and_is_the_exit_code(command):
    yes = command("predict", "tomita4")
    assert (yes.code, yes.err) == (0, "")
    assert yes.out.startswith("tomita4: generalizes (proved); without positions: fails (decided). ")
    assert "1. program: in C-RASP[local] (window 2)" in yes.out
    no = command("predict", "parity")
    assert (no.code, no.err) == (1, "")
    assert "fails (decided)" in no.out
    assert "Parity" in no.out


def test_json_has_what_is_printed(command):
    found = command("predict", "regex:(aa|b)*", "--json").json
    assert (found["verb"], found["verdict"], found["certainty"]) == ("predict", "generalizes", "decided")
    assert (found["period"], found["window"], found["class"]) == (2, 0, "C-RASP[periodic]")
    assert found["bound"]["answer"] == "bound"
    assert found["bound"]["training_length"] == 4  # 2 n - 2 for three states
    assert found["program"].startswith("program ")
    assert [one["step"] for one in found["steps"]] == ["program", "regular"]
    assert found["sentence"] in command("predict", "regex:(aa|b)*").out
    large = command("predict", "crasp:binary_majority_interleave3", "--json").json
    assert large["bound"]["training_length"] == 6810910064671
    assert large["without_positions"] == "fails"  # it is the task's own program


def test_files(command, tmp_path):
    (tmp_path / "p.crasp").write_text(PROGRAM)
    (tmp_path / "p.json").write_text(json.dumps(AUTOMATON))
    (tmp_path / "mine.py").write_text(MINE)
    for target, stdin in (("p.crasp", b""), ("-", PROGRAM.encode())):
        found = command("predict", target, "--json", stdin=stdin).json
        assert (found["verdict"], found["certainty"], found["without_positions"]) == (
            "generalizes",
            "proved",
            "generalizes",
        )
    found = command("predict", "p.json", "--json").json  # an even number of a is Parity
    assert (found["verdict"], found["certainty"]) == ("fails", "decided")
    assert found["witness"].keys() == {"first", "second", "loop", "then"}
    ended = command("predict", "mine.py:doubled", "--budget", "2", "--json")
    assert (ended.code, ended.json["verdict"], ended.json["certainty"]) in [
        (1, "unknown", None),
        (1, "fails", "conjectured"),
    ]


def test_labelled_words(command, tmp_path):
    words = ("".join(word) for size in range(7) for word in itertools.product("01", repeat=size))
    (tmp_path / "words.tsv").write_text("".join(f"{w}\t{int(w.count('1') > w.count('0'))}\n" for w in words))
    ended = command("predict", "words.tsv", "--json")
    found = ended.json
    assert (ended.code, found["verdict"], found["certainty"], found["checked_to"]) == (0, "generalizes", "checked", 6)
    assert found["class"] == "plain C-RASP"
    (tmp_path / "words.tsv").write_text("01\t1\n10\t0\n")
    ended = command("predict", "words.tsv")
    assert (ended.code, ended.err) == (1, "")
    assert "unknown" in ended.out


def test_the_culprit_of_a_program_without_a_bound_is_named_with_its_line(command, tmp_path):
    text = "program p\n\nalphabet 'a' 'b' 'c'\nlet h := count('a') - count('b')\nlet g := count('b') - count('c')\n"
    (tmp_path / "p.crasp").write_text(text + "\naccept count(h < 0) == 0 and count(g < 0) == 0\n")
    bound = command("predict", "p.crasp", "--json").json["bound"]
    assert (bound["answer"], bound["line"], bound["training_length"]) == ("no computable bound", 7, None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tomita9"], "nearest: tomita"),
        (["crasp:dyk1"], "dyck1"),
        (["none.crasp"], "no such file"),
        (["none.json"], "no such file"),
        (["none.py:f"], "no such file"),
        (["folder/none"], "a .crasp, .json, .py or .tsv file"),
        (["model.safetensors"], "a .crasp, .json, .py or .tsv file"),
        (["half.json"], "one next state for each of the 2 symbols"),
        (["gone.json"], "a state from 0 to 1"),
        (["bad.json"], "JSON"),
        (["none.tsv"], "no such file"),
        (["bad.tsv"], "'ab' labelled 1 on line 1 and 0 on line 3"),
        (["no.tsv"], "bad"),
        (["mine.py:nonsense"], "word 'ab'"),
        (["mine.py:doubld"], "doubled"),
        (["mine.py:numbered"], "mine.py, numbered.alphabet"),
        (["mine.py:leaves"], "SystemExit"),
        (["ends.py:f"], "SystemExit"),
        (["simple:omega=0"], "omega above 0"),
        (["regex:(ab"], "closing bracket"),
        (["tomita4", "--alphabet", "01"], "leave it out"),
        (["tomita4", "--budget", "0"], "a number of seconds above 0"),
        ([], "TARGET"),
    ],
)
def test_wrong_input_is_one_line(command, tmp_path, arguments, said):
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "ends.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "bad.tsv").write_text("ab\t1\nb\t0\nab\t0\n")
    (tmp_path / "no.tsv").write_text("ab\tbad\n")
    (tmp_path / "half.json").write_text(json.dumps(AUTOMATON | {"table": [[1, 0], [0]]}))
    (tmp_path / "gone.json").write_text(json.dumps(AUTOMATON | {"table": [[1, 0], [0, 2]]}))
    ended = command("predict", *arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert said in ended.err


def test_tasks_with_real_outputs_are_known_by_name(command):
    assert set(TASKS) == REGRESSION
    found = command("predict", "modp:period=5", "--json").json
    assert (found["verdict"], found["class"], found["period"]) == ("generalizes", "limit transformers", 5)


def loaded(*arguments):
    program = (
        "import sys\nfrom lengthwise.cli.endings import outcome\n"
        f"code = outcome({list(arguments)!r})\nprint(code, *sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    code, *modules = done.stderr.split()
    return int(code), set(modules)


def test_a_program_in_the_class_needs_no_jax_and_no_scipy():
    heavy = {"jax", "jaxlib", "scipy", "matplotlib", "optax", "jaxtyping", "rich"}
    for target in ("tomita4", "dyck1", "majority4"):
        code, modules = loaded("predict", target)
        assert code == 0
        assert {"numpy", "click"} <= modules  # the probe sees what is loaded
        assert heavy & modules == set()
