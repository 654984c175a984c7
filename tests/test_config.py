"""Records of a study: ids, the texts they are written as, and messages that name the key and the nearest right one."""

import hashlib
import json
import math
import subprocess
import sys
import tomllib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lengthwise as lw
from lengthwise.config import Run, canonical, record, toml_text
from lengthwise.study.plan import LEAST_TILE, MODEL_AXES, Study, differences
from study_helpers import TEXT, study

SEEDS = st.integers(0, 2**40)
COUNTS = st.integers(1, 5000)
RATES = st.floats(1e-12, 1e3)
MODELS = st.fixed_dictionaries(
    {
        "width": COUNTS,
        "units": COUNTS,
        "heads": st.integers(1, 9),
        "offsets": st.none() | st.integers(0, 9),
        "attention": st.sampled_from(["plain", "log-length", "log-suffix"]),
    }
)
TRAININGS = st.fixed_dictionaries(
    {"batch": COUNTS, "steps": COUNTS, "rate": RATES, "stop": st.just(0.0) | st.floats(0, 10), "chunk": COUNTS},
    optional={"adversarial": st.floats(0, 0.9)},
)
LENGTHS = st.lists(st.integers(9, 2**24), min_size=1, max_size=5, unique=True)
TESTINGS = st.fixed_dictionaries({"lengths": LENGTHS, "samples": COUNTS})
RUNS = st.fixed_dictionaries(  # tables: records draw random numbers while their shapes are checked, strategies may not
    {
        "task": st.sampled_from(["simple:omega=2.0,symbols=3", "modp:period=3,residue=1"]),
        "longest": COUNTS,
        "seed": SEEDS,
        "model": MODELS,
        "training": TRAININGS,
        "testing": TESTINGS,
        "tile": st.integers(4, 9),
    }
)


def axis(values):
    return st.lists(values, min_size=1, max_size=3, unique=True)


@st.composite
def studies(draw):
    name = draw(st.sampled_from(["simple", "modp", "tail"]))
    own = {
        "simple": {"omega": axis(st.floats(1e-3, 1e3)), "symbols": axis(st.integers(3, 9))},
        "modp": {"period": axis(st.integers(2, 9))},
        "tail": {"tail": axis(st.integers(1, 9))},
    }[name]
    shared = {
        "adversarial": axis(st.floats(0, 1)),
        "attention": axis(st.sampled_from(["plain", "log-length"])),
        "width": axis(st.integers(1, 64)),
        "rate": axis(RATES),
    }
    axes = own | shared
    chosen = draw(st.lists(st.sampled_from(sorted(axes)), unique=True))
    grid = {axis: draw(axes[axis]) for axis in chosen}
    beside = [{axis: draw(axes[axis]) for axis in chosen}] if draw(st.booleans()) else []
    return {
        "name": draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)),
        "task": name,
        "grid": grid,
        "beside": [other for other in beside if any(not set(other[axis]) & set(grid[axis]) for axis in grid)],
        "lengths": draw(LENGTHS),
        "seeds": draw(st.integers(1, 3)),
        "model": draw(MODELS),
        "training": draw(TRAININGS),
        "testing": draw(TESTINGS),
        "tile": draw(st.integers(LEAST_TILE, 20)),
    }


def shuffled(value, order):
    """The same tables with their keys in another order."""
    if not isinstance(value, dict):
        return value
    keys = list(value)
    order.shuffle(keys)
    return {key: shuffled(value[key], order) for key in keys}


@given(RUNS, st.randoms())
@settings(max_examples=60, deadline=None)
def test_the_id_of_a_run_does_not_depend_on_the_order_of_keys(run, order):
    one = record(run, Run, "run")
    tables = shuffled(msgspec.to_builtins(one), order)
    again = record(tables, Run, "run")
    assert again == one
    assert again.id == one.id == hashlib.sha256(canonical(tables)).hexdigest()[:16]


@given(RUNS, st.data())
@settings(max_examples=60, deadline=None)
def test_every_field_of_a_run_is_part_of_its_id(run, data):
    one = record(run, Run, "run")
    tables = msgspec.to_builtins(one)
    inner = data.draw(st.sampled_from([tables, tables["model"], tables["training"], tables["testing"]]))
    key = data.draw(st.sampled_from([key for key, value in inner.items() if not isinstance(value, dict)]))
    other = {"task": "tail:tail=2", "offsets": 10, "path": "sequences"}
    other["attention"] = "plain" if inner[key] != "plain" else "log-length"
    if key in ("rate", "stop", "adversarial"):
        changed = math.nextafter(inner[key], 1e9)  # the last bit counts
    else:
        changed = [*inner[key], 3] if key == "lengths" else other[key] if key in other else inner[key] + 1
    inner[key] = changed
    assert record(tables, Run, "run").id != one.id


def test_an_id_is_the_same_in_another_process():
    """No hash of Python's is in it; the id is 16 digits of the SHA-256 of what `canonical` promises."""
    code = (
        "import sys; sys.path.insert(0, 'tests'); import study_helpers as s; print(*[r.id for r in s.study().runs()])"
    )
    root = str(lw.errors.__file__).split("/src/")[0]
    out = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert out.stdout.split() == [run.id for run in study().runs()]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.randoms())
@settings(max_examples=100, deadline=None)
def test_canonical_json_reads_back_bit_for_bit_and_ignores_order(value, order):
    text = canonical(value)
    back = json.loads(text)
    assert repr(shuffled_away(back)) == repr(shuffled_away(value))  # repr tells -0.0 from 0.0 and 1.0 from 1
    assert canonical(back) == text == canonical(shuffled(value, order))


def shuffled_away(value):
    if isinstance(value, dict):
        return [(key, shuffled_away(value[key])) for key in sorted(value)]
    return [shuffled_away(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_canonical_json_has_no_number_that_is_none(value):
    with pytest.raises(ValueError):
        canonical({"a": [value]})


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), st.text() | st.integers() | st.floats(-1e9, 1e9)))
@settings(max_examples=100, deadline=None)
def test_toml_texts_read_back(tables):
    """Quotes, escapes, control characters, and a table beside plain entries."""
    whole = tables | {"inner": tables, "several": [{"a": 1}, tables], "left_out": None, "nothing": []}
    back = tomllib.loads(toml_text(whole))
    assert back == tables | ({"inner": tables} if tables else {}) | {"several": [{"a": 1}, tables]}


@given(studies())
@settings(max_examples=60, deadline=None)
def test_a_study_reads_back_from_its_file_as_itself(tables):
    one = record(tables, Study, "study")
    back = Study.parse(one.toml(), "study.toml")
    assert back == one
    assert back.toml() == one.toml()
    assert [run.id for run in back.runs()] == [run.id for run in one.runs()]
    assert differences(one, back) == []


@given(studies())
@settings(max_examples=60, deadline=None)
def test_members_are_all_combinations_each_once(tables):
    one = record(tables, Study, "study")
    runs = one.runs()
    assert len(runs) == one.members == len({run.id for run in runs})
    assert [run.seed for run in runs[: one.seeds]] == list(range(one.seeds))
    for run in runs[:: max(1, len(runs) // 5)]:
        task = lw.task(run.task)
        for name, values in one.grid.items():
            home = run.model if name in MODEL_AXES else run.training if name == "rate" else task
            beside = [value for grid in one.beside for value in grid[name]]
            found = run.training.corner_share if name == "adversarial" else getattr(home, name)
            assert found in values + beside
        assert run.model.offsets is not None
        wanted = one.model.offsets if one.model.offsets is not None else task.locality + 1 if task.locality else 0
        assert run.model.offsets == wanted


def test_grids_beside_each_other_are_all_their_combinations_and_no_others():
    one = study("grid.attention=['plain']", "beside=[{omega=[4], attention=['log-length']}]")
    found = {(lw.task(run.task).omega, run.model.attention) for run in one.runs()}
    assert found == {(1, "plain"), (2, "plain"), (4, "log-length")}
    assert one.members == 3 * 2 * 2
    (said,) = differences(one, study("grid.attention=['plain']"))
    assert said.startswith("beside: ")


MISSPELT = [
    ("lenghts", "lengths"),
    ("seed", "seeds"),
    ("grdi.omega", "grid"),
    ("model.widht", "width"),
    ("training.step", "steps"),
    ("testing.smaples", "samples"),
    ("grid.omgea", "omega"),
    ("grid.atention", "attention"),
]


@pytest.mark.parametrize(("wrong", "right"), MISSPELT)
def test_a_misspelt_key_is_named_with_the_nearest_right_one(wrong, right):
    """In --set and, the same key, in the file."""
    value = "[3]" if wrong.startswith(("grid", "grdi", "lenghts")) else "3"
    key = wrong.split(".")[-1] if not wrong.startswith("grdi") else "grdi"
    with pytest.raises(lw.WrongInput) as in_set:
        study(f"{wrong}={value}")
    table, _, inner = wrong.rpartition(".")
    text = TEXT if f"[{table}]" in TEXT else f"{wrong} = {value}\n{TEXT}"
    text = text.replace(f"[{table}]", f"[{table}]\n{inner} = {value}")
    with pytest.raises(lw.WrongInput) as in_file:
        Study.parse(text, "s.toml")
    for error in (in_set.value, in_file.value):
        assert error.got == repr(key)
        assert error.remedy.startswith(f"nearest: {right}")
    assert in_file.value.where.startswith("s.toml")
    assert in_set.value.where.startswith("study.toml with --set")
    if table in ("model", "training", "testing", "grid"):
        assert table in in_file.value.where


@pytest.mark.parametrize(
    ("setting", "wanted", "where"),
    [
        ("lengths=[0]", "an integer of at least 1", "lengths"),
        ("lengths=[]", "a list of integers with something in it", "lengths"),
        ("lengths=[3, 3]", "each number once", "lengths"),
        ("lengths=[1.5]", "an integer", "lengths"),
        ("lengths=7", "a list", "lengths"),
        ("testing.lengths=[0]", "an integer of at least 1", "testing, lengths"),
        ("seeds=0", "an integer of at least 1", "seeds"),
        ("seeds=true", "an integer", "seeds"),
        ("seeds=1000000", "at most 1000000 members", ""),
        ("tile=3", "an integer of at least 4", "tile"),
        ("tile=100000", "an integer of at most 4096", "tile"),
        ("training.steps=0", "an integer of at least 1", "training, steps"),
        ("training.steps=10000000000", "an integer of at most 1000000000", "training, steps"),
        ("training.chunk=10000000000", "an integer of at most 1000000000", "training, chunk"),
        ("training.batch=10000000000", "an integer of at most 16777216", "training, batch"),
        ("training.rate=0", "a finite number above 0", "training, rate"),
        ("training.rate=1e300", "a learning rate of at most 1e+30", "training, rate"),
        ("training.rate=inf", "a finite number above 0", "training, rate"),
        ("training.adversarial=1.5", "a share from 0 to 1", "training, adversarial"),
        ("training.stop=-1", "a finite number, 0 or more", "training, stop"),
        ("testing.samples=10000000000", "an integer of at most 16777216", "testing, samples"),
        ("model.width=1000000000", "an integer of at most 65536", "model, width"),
        ("model.heads=0", "an integer of at least 1", "model, heads"),
        ("model.offsets=-1", "an integer of at least 0", "model, offsets"),
        ("model.attention=plian", "one of plain, log-length, log-suffix", "model, attention"),
        ("model=3", "a table", "model"),
        ("name=a/b", "a name of letters, digits, . _ -", "name"),
        ("grid=3", "a table", "grid"),
        ("beside=3", "a list", "beside"),
        ("beside=[3]", "a table", "beside"),
        ("beside=[{omega=4}]", "a list of values", "beside, omega"),
        ("beside=[{symbols=[4]}]", "the axes of grid: omega", "beside"),
        ("beside=[{omega=[2, 4]}]", "each combination once", "beside"),
        ("beside=[{omega=[8]}, {omega=[8]}]", "each combination once", "beside"),
        ("beside=[{omega=[-1]}]", "omega above 0", ""),
        ("grid.omega=2", "a list of values", "grid, omega"),
        ("grid.omega=[]", "a list with something in it", "grid, omega"),
        ("grid.omega=[[2]]", "numbers or texts", "grid, omega"),
        ("grid.omega=[true]", "numbers or texts", "grid, omega"),
        ("grid.omega=[2, 2.0]", "each value once", "grid, omega"),
        ("grid.omega=[0]", "omega above 0", "omega=0"),
        ("grid.omega=['x']", "omega, a finite number", "grid, omega"),
        ("grid.symbols=[2]", "at least 3 symbols", "symbols=2"),
        ("grid.symbols=[3.5]", "symbols, an integer", "grid, symbols"),
        ("grid.attention=['plian']", "one of plain, log-length, log-suffix", "grid, attention"),
        ("grid.width=[0]", "an integer of at least 1", "grid, width"),
        ("grid.rate=[0]", "a finite number above 0", "grid, rate"),
        ("grid.adversarial=[2]", "a share from 0 to 1", "grid, adversarial"),
        ("grid.rate=[1e300]", "a learning rate of at most", "grid, rate"),
        ("task=simpel", "a task", "task"),
        ("task=simple:omgea=3", "a parameter of simple", "task simple:omgea=3"),
        ("task=simple:omega=3", "omega in one place", "task"),
        ("task=simple:", "simple:parameter=value", "task"),
        ("task=simple:symbols=x", "symbols, an integer", "task simple:symbols=x"),
        ("task=simple:symbols=3,symbols=4", "each parameter once", "task simple"),
        ("training.steps.x=3", "a key of the study, steps has none inside", "--set"),
        ("training", "key=value", "--set"),
        ("=3", "key=value", "--set"),
        ("grid.=3", "key=value", "--set"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(setting, wanted, where):
    with pytest.raises(lw.WrongInput) as caught:
        study(setting)
    assert caught.value.wanted.startswith(wanted)
    assert where in caught.value.where
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("key", ["task", "lengths", "seeds"])
def test_a_missing_key_is_named(key):
    text = "\n".join(line for line in TEXT.splitlines() if not line.startswith(f"{key} ="))
    text = text.replace("[testing]", "[testing]\nlengths = [10]") if key == "lengths" else text
    with pytest.raises(lw.WrongInput, match=f"the key {key}"):
        Study.parse(text, "s.toml")


@pytest.mark.parametrize("text", ["task = ", "[a", "a = 1\na = 2", "\0", "x = " + "[" * 5000])
def test_a_file_that_is_no_toml(text):
    with pytest.raises(lw.WrongInput, match="a TOML file"):
        Study.parse(text, "s.toml")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    for name, got in (("binary.toml", "UTF-8"), ("nowhere.toml", "No such file"), (".", "directory"), ("a\0b", "null")):
        with pytest.raises(lw.WrongInput, match=got):
            Study.load(tmp_path / name)


def test_settings_are_values_of_toml_or_plain_texts():
    one = study("training.steps=7", "model.attention=log-length", 'name="x y"'.replace(" ", "-"), "grid.omega=[3, 4]")
    assert (one.training.steps, one.model.attention, one.name) == (7, "log-length", "x-y")
    assert one.grid == {"omega": [3.0, 4.0]}
    assert study("task=modp:period=5", "grid={}").task == "modp:period=5,residue=1"


def test_differences_are_told_in_words():
    assert differences(study(), study("name=other")) == []
    assert differences(study(), study("training.steps=7", "grid.omega=[1]")) == [
        "grid.omega: [1.0, 2.0] there, [1.0] here",
        "training.steps: 200 there, 7 here",
    ]


def test_a_length_too_short_for_some_tasks_of_the_grid_is_left_out_for_them():
    some = study("task=modp", "grid={period=[2, 5]}", "lengths=[4, 6]", "seeds=2")
    members = [(run.task, run.longest, run.seed) for run in some.runs()]
    two, five = (f"modp:period={period},residue=1" for period in (2, 5))
    lengths = [(two, 4), (two, 6), (five, 6)]
    assert members == [(*pair, seed) for pair in lengths for seed in (0, 1)]
    assert some.members == 6


@pytest.mark.parametrize(("lengths", "least"), [("[1, 6]", 2), ("[2, 4]", 5)])
def test_a_length_too_short_for_all_tasks_and_a_task_without_a_length(lengths, least):
    with pytest.raises(lw.WrongInput, match=f"at least {least} for modp:period={least}"):
        study("task=modp", "grid={period=[2, 5]}", f"lengths={lengths}")


def test_a_length_too_short_for_one_task_of_the_grid():
    with pytest.raises(lw.WrongInput, match="at least 5 for modp:period=5") as caught:
        study("task=modp", "grid={period=[2, 5]}", "lengths=[4]")
    assert caught.value.where.endswith("lengths")
