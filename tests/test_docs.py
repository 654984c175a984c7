"""The pages say what the program does: generated parts are up to date, examples run, every field is shown."""

import contextlib
import importlib.util
import io
import json
import re
import shlex
from pathlib import Path

import click
import pytest

from lengthwise.cli.verbs import lengthwise_command

TOP = click.Context(lengthwise_command, info_name="lengthwise")
VERBS = {words: command for words, command, _ in lengthwise_command.leaves(TOP)}
ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TRAINED = {"forecast"}  # cases whose numbers depend on the processor: names and kinds of values are compared
VARY = {"seconds", "versions", "device", "devices", "system", "cores", "memory_bytes", "disk_free_bytes", "difference"}
FIELDS = {  # what the verbs promise to other tools
    "bound": {"kind", "training_length", "log2_training_length", "terms", "dominant_term", "window", "lower_bound"}
    | {"theorem", "hypotheses", "attention", "reason"},
    "run": {"outputs"},
    "attack": {"worst_error", "witness"},
    "certify": {"worst_error", "lower", "upper", "witness", "certificate"},
    "shorten": {"length", "errors", "bound", "method", "string", "counts", "certificate"},
    "show": {"layers", "heads", "period", "locality", "logit_margin", "position_margin", "sensitivity", "complexity"},
    "check": {"valid", "statement", "reason"},
    "sweep": {"study", "runs", "done", "failed", "device", "versions"},
    "measure": {"required_length", "interval", "plateaus", "exponents", "device", "versions"},
    "report": {"report", "figures", "device", "versions"},
    "reproduce": {"claims", "figures", "report", "device", "versions"},
    "tasks": {"tasks"},
    "communication": {"rows", "rank", "growth"},
    "predict": {
        "verdict",
        "without_positions",
        "certainty",
        "checked_to",
        "class",
        "reason",
        "bound",
        "source",
        "program",
    },
    "forecast": {"sentence", "required_length", "interval", "metric", "threshold", "held_out", "worst_error"}
    | {"theory", "prediction", "budget_spent", "report"},
    "doctor": {"device", "versions", "seed", "checks"},
    "crasp run": {"accepts", "outputs"},
    "crasp lint": {"kind", "period", "offsets", "depth", "fragment"},
    "crasp explain": {"word", "accepts", "why", "rows"},
    "crasp compare": {"equal", "word", "length", "exactness", "fragment", "bound"},
    "crasp compile": {"file", "kind", "layers", "heads", "width", "ledger"},
    "crasp decide": {"member", "certainty", "program"},
}


def script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_verb_is_documented():
    assert set(VERBS) == set(FIELDS)
    page = (DOCS / "commands.md").read_text()
    for verb in VERBS:
        assert f"## lengthwise {verb}\n" in page
        assert f"## {verb}\n" in (DOCS / "json.md").read_text()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_examples_and_every_option_help(verb):
    found = VERBS[verb]
    assert f"lengthwise {verb}" in found.help
    assert "Exit codes:" in found.help
    assert "JSON fields:" in found.help
    options = [parameter for parameter in found.params if isinstance(parameter, click.Option)]
    assert "--json" in {name for option in options for name in option.opts}
    for option in options:
        assert option.help, option.opts


def test_the_help_page_is_up_to_date():
    assert script("make_help").page() == (DOCS / "commands.md").read_text(), "run `make pages`"


def test_the_benchmark_page_is_up_to_date():
    assert script("make_benchmarks").page() == (DOCS / "benchmarks.md").read_text(), "run `make pages`"


def test_a_benchmark_table():
    rows = [{"what": "n = 10", "ours": 0.5, "rival": 1.0, "ratio": 2.0}, {"what": "a|b", "ours": 3, "unit": "s"}]
    result = {"benchmark": "linear", "date": "2025-01-01", "device": "cpu", "versions": {"numpy": "2"}, "rows": rows}
    table = [line for line in script("make_benchmarks")._section(result).splitlines() if line.startswith("|")]
    assert table[0] == "| what | ours | rival | ratio | unit |"
    assert table[2:] == ["| n = 10 | 0.5 | 1 | 2 |  |", "| a\\|b | 3 |  |  | s |"]


def steady(value):
    """The value without what differs from run to run; numbers to ten digits."""
    if isinstance(value, dict):
        return {name: "varies" if name in VARY else steady(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [steady(entry) for entry in value]
    return pytest.approx(value, rel=1e-10, abs=1e-14) if isinstance(value, float) else value


def kinds(value):
    """The names in a value and the kinds of what they hold; of a list the kinds of its entries."""
    if isinstance(value, dict):
        return {name: kinds(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return sorted({str(kinds(entry)) for entry in value})
    return "number" if type(value) in (int, float) else type(value).__name__


GOLDEN = script("make_golden")


@pytest.mark.parametrize("case", GOLDEN.CASES)
def test_golden_examples_are_what_is_printed(command, tmp_path, case):
    GOLDEN.prepare(tmp_path)
    ended = command(*GOLDEN.CASES[case])
    now = [json.loads(line) for line in objects(ended.out or ended.err)]
    shown = [json.loads(line) for line in objects((DOCS / "golden" / f"{case}.json").read_text())]
    if case in TRAINED:
        assert [kinds(entry) for entry in shown] == [kinds(entry) for entry in now]
        return
    assert [steady(entry) for entry in shown] == [steady_names(entry) for entry in now]


def steady_names(value):
    if isinstance(value, dict):
        return {name: "varies" if name in VARY else steady_names(entry) for name, entry in value.items()}
    return [steady_names(entry) for entry in value] if isinstance(value, list) else value


def objects(text):
    """The JSON objects of a text: one over several lines, or one a line."""
    return [text] if text.startswith("{\n") else text.splitlines()


@pytest.mark.parametrize("verb", VERBS)
def test_every_promised_field_is_in_a_golden_example(verb):
    shown = [
        json.loads(path.read_text())
        for path in (DOCS / "golden").glob(f"{verb.replace(' ', '-')}*.json")
        if "nl" not in path.name
    ]
    assert shown
    for example in shown:
        assert {"lengthwise", "verb", "seconds"} | FIELDS[verb] <= set(example)


def test_the_tour_prints_what_the_page_shows():
    shown = (DOCS / "golden" / "tour.txt").read_text()
    assert GOLDEN.without_times(GOLDEN.tour()) == GOLDEN.without_times(shown), "run `make pages`"


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run_and_print_what_their_comments_say(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for block in blocks(page, "python"):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(block, page.name, "exec"), {})
        said = re.findall(r"^print\(.*\)  # (.*)$", block, re.MULTILINE)
        assert output.getvalue().splitlines() == said


def test_the_readme_commands_run(command, monkeypatch, tmp_path):
    with contextlib.redirect_stdout(io.StringIO()):
        for block in blocks(ROOT / "README.md", "python"):
            exec(compile(block, "README.md", "exec"), {})
    lines = [line for block in blocks(ROOT / "README.md", "sh") for line in block.splitlines() if "lengthwise" in line]
    assert len(lines) == 3
    for line in lines:
        before, _, ours = line.rpartition("| ")
        stdin = before.removeprefix("echo ").strip().encode() + b"\n"
        ended = command(*shlex.split(ours)[1:], stdin=stdin)
        assert (ended.code, ended.err) == (0, ""), line
        assert ended.out


def test_make_targets_that_are_named_exist():
    makefile = (ROOT / "Makefile").read_text()
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (page.name, target)


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert (page.parent / target).exists(), (page.name, target)
