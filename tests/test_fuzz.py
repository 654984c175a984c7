"""Whatever comes, nothing but our own error comes out: 2,000 cases here, 100,000 in `make test-all`."""

import copy
import json
import struct
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lengthwise.errors import WrongInput
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer, named_arrays
from lengthwise.limit.storage import load, save
from lengthwise.strings import Counts, encode, read_counts, read_strings

SIZES = [1, pytest.param(50, marks=pytest.mark.slow)]
NAMES = [("0", "1"), ("a", "bb", "🙂"), ("x",)]


def model():
    """A model with every kind of part, small enough that most mutations hit something."""
    head = Head(np.eye(2), np.eye(2), np.eye(2), [0.0, -np.inf], 1.0)
    mlp = MLP(np.eye(2), np.zeros(2), np.eye(2), ("relu", "sin"))
    layers = [Layer([head, head], mlp), Layer([head])]
    return LimitTransformer(
        embedding=np.eye(2), positions=np.eye(2), layers=layers, unembedding=np.eye(2), attention="plain", tokens="ab"
    )


def fuzz(cases, attempt, *strategies, needed=()):
    """Runs an attempt on that many cases; it may end well or in our error, and every needed ending must occur."""
    endings = Counter()

    @settings(max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.tuples(*strategies))
    def run(drawn):
        ending, line = "done", ""
        try:
            attempt(*drawn)
        except WrongInput as error:
            ending, line = error.wanted, str(error)
        endings[ending] += 1
        assert line.isprintable(), "one line, whatever was in the input"
        assert len(line) < 2000

    run()
    for ending in needed:
        assert endings[ending], f"the cases never reach {ending!r}, only {dict(endings)}"


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The bytes of a model's file."""
    path = tmp_path_factory.mktemp("model") / "m"
    save(model(), path)
    return path.read_bytes()


@pytest.fixture
def loads(tmp_path):
    """Loads bytes as a file; what loads must be a model in order."""

    def attempt(content):
        path = tmp_path / "m"
        path.write_bytes(content)
        for array in named_arrays(load(path)).values():
            assert not np.isnan(array).any()

    return attempt


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([2**31, 10**30, -1, 0, 1, 2]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = (
    st.sampled_from(["suffix", "table", "format", "layers", "heads", "embedding", "dtype", "__metadata__"]) | st.text()
)


def places(value, path=()):
    """Every place inside a JSON value, from the outside in."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inside:
        yield from places(entry, (*path, key))


@st.composite
def edits(draw, value, most=3):
    """The JSON value as it is, or with a few places replaced, removed, copied from elsewhere, or renamed."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(0, most))):
        paths = [path for path in places(value) if path]
        if not paths:
            return value
        *outer, key = draw(st.sampled_from(paths))
        holder = value
        for step in outer:
            holder = holder[step]
        kind = draw(st.sampled_from(["replace", "replace", "remove", "copy", "rename", "nudge"]))
        if kind == "replace":
            holder[key] = draw(JSON)
        elif kind == "remove":
            del holder[key]
        elif kind == "copy":
            found = value
            for step in draw(st.sampled_from(paths)):
                found = found[step]
            holder[key] = copy.deepcopy(found)
        elif kind == "rename" and isinstance(holder, dict):
            holder[draw(KEYS)] = holder.pop(key)
        elif kind == "nudge" and isinstance(holder[key], (int, float)):
            holder[key] += draw(st.integers(-2, 2))
    return value


@st.composite
def cuts(draw, content):
    """The bytes flipped, cut, spliced with themselves or with noise, at a few places."""
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        assume(content)
        last = len(content) - 1
        place = draw(st.integers(0, last) | st.integers(last // 2, last))  # the weights are at the end
        kind = draw(st.sampled_from(["flip", "flip", "flip", "cut", "drop", "noise", "repeat"]))
        length = draw(st.integers(1, 16))
        if kind == "flip":
            content[place] ^= 1 << draw(st.integers(0, 7))
        elif kind == "cut":
            del content[place:]
        elif kind == "drop":
            del content[place : place + length]
        elif kind == "noise":
            content[place : place + length] = draw(st.binary(max_size=16))
        else:
            content[place:place] = content[place // 2 : place // 2 + length]
    return bytes(content)


@pytest.mark.parametrize("times", SIZES)
def test_random_bytes_as_a_model(loads, times):
    framed = st.builds(lambda text: struct.pack("<Q", len(text)) + text, st.binary(max_size=64))
    fuzz(200 * times, loads, st.binary(max_size=64) | framed, needed=["a safetensors file"])


@pytest.mark.parametrize("times", SIZES)
def test_flipped_cut_and_spliced_models(loads, content, times):
    needed = ["done", "a safetensors file", "finite numbers"]
    fuzz(400 * times, loads, cuts(content), needed=needed[: 2 if times == 1 else 3])


@pytest.mark.parametrize("times", SIZES)
def test_edited_headers_of_models(loads, content, times):
    (size,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + size]), content[8 + size :]
    note = json.loads(header["__metadata__"]["lengthwise"])

    def attempt(whole, inner, noted):
        """Edits the outer header, or the note inside it."""
        changed = {**header, "__metadata__": {"lengthwise": json.dumps(inner)}} if noted else whole
        text = json.dumps(changed).encode()
        loads(struct.pack("<Q", len(text)) + text + data)

    needed = ["done", "a safetensors file", "a header as docs/model-file.md says"]
    fuzz(200 * times, attempt, edits(header), edits(note), st.integers(0, 2), needed=needed)


@pytest.mark.parametrize("times", SIZES)
def test_random_lines_as_strings(times):
    near = st.text(st.sampled_from("01abx🙂 \t\r\n\ufeff\u2028\ud7ff"), max_size=12).map(str.encode)
    good = st.text(st.sampled_from("01"), min_size=1).map(str.encode)
    needed = ["done", "UTF-8 text", "a nonempty string", "one string a line", "one of the 2 tokens of the vocabulary"]
    fuzz(
        400 * times,
        lambda lines, names: list(read_strings(lines, names, "file")),
        st.lists(st.binary(max_size=12) | near, max_size=3) | st.lists(good, min_size=1, max_size=3),
        st.sampled_from(NAMES),
        needed=needed,
    )


@pytest.mark.parametrize("times", SIZES)
def test_random_values_as_strings(times):
    tokens = st.lists(st.sampled_from(["0", "1", "bb", 0, 1, 2, -1, True, 0.5, 10**20, None, "🙂"]), max_size=4)
    needed = ["done", "a nonempty string", "token names or token indices", "a string of tokens"]
    fuzz(300 * times, encode, st.text() | tokens | JSON, st.sampled_from(NAMES), needed=needed)


@pytest.mark.parametrize("times", SIZES)
def test_edited_and_random_counts_in_files(times):
    fitting = [{"suffix": "01", "table": [[10**20, 3], [0, 10**20 - 3]]}, {"suffix": [1], "table": [[1, 1], [0, 1]]}]
    texts = (edits(fitting) | JSON).map(json.dumps).map(str.encode)
    broken = cuts(json.dumps(fitting[1]).encode())
    needed = ["done", "JSON", 'an object with the keys "suffix" and "table"', "every key once"]
    fuzz(
        300 * times,
        lambda text: read_counts(text, ("0", "1"), "file"),
        texts | texts.map(lambda text: text.replace(b"table", b"suffix")) | broken | st.binary(max_size=24),
        needed=needed,
    )


@pytest.mark.parametrize("times", SIZES)
def test_random_values_as_counts(times):
    entry = st.integers(-1, 3) | st.just(10**5000) | JSON
    fuzz(
        100 * times,
        lambda suffix, table: Counts(suffix, table),
        st.just([0, 1]) | st.lists(st.integers(-1, 2), max_size=3) | JSON,
        st.just([[10**20, 10**20], [1, 1]])
        | st.lists(st.lists(st.integers(0, 1), min_size=2, max_size=2), min_size=2, max_size=2)
        | st.lists(st.lists(entry, max_size=3) | JSON, max_size=3)
        | JSON,
        needed=["done", "a sequence", "a whole number"] if times > 1 else ["done", "a sequence"],
    )


@pytest.mark.parametrize("times", SIZES)
def test_random_values_as_weights(times):
    rows = st.lists(st.lists(st.floats() | st.integers(-1, 1), min_size=2, max_size=2), min_size=1, max_size=2)
    names = st.sampled_from(["key", "query", "value", "phi", "known_spread", "inner", "bias", "outer", "activation"])

    def attempt(name, value):
        eye = np.eye(2)
        fitting = {"key": eye, "query": eye, "value": eye, "phi": [], "known_spread": None}
        if name in fitting:
            Head(**(fitting | {name: value}))
        else:
            MLP(**({"inner": eye, "bias": [0, 0], "outer": eye} | {name: value}))

    needed = ["done", "finite numbers", "an array of real numbers"]
    fuzz(100 * times, attempt, names, rows | JSON, needed=needed if times > 1 else needed[:1])
