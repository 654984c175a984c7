"""Records: what they accept, that nobody changes them afterwards, and how they name what does not fit."""

import dataclasses
from decimal import Decimal
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import WrongInput
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer, map_arrays, named_arrays
from lengthwise.limit.validate import check_names

WIDTH, INSIDE, UNITS, SYMBOLS, PERIOD, OUTPUTS = 3, 2, 4, 5, 6, 7  # all different: a swapped axis cannot hide


def numbers(*shape):
    """Some array of this shape."""
    return np.arange(1.0, np.prod(shape) + 1).reshape(shape)


def head(**changes):
    """A head that fits, but for the changes."""
    fitting = {
        "key": numbers(INSIDE, WIDTH),
        "query": numbers(INSIDE, WIDTH),
        "value": numbers(WIDTH, WIDTH),
        "phi": [0.0, 1.0],
    }
    return Head(**(fitting | changes))


def mlp(**changes):
    """An MLP that fits, but for the changes."""
    fitting = {"inner": numbers(UNITS, WIDTH), "bias": numbers(UNITS), "outer": numbers(WIDTH, UNITS)}
    return MLP(**(fitting | changes))


def model(**changes):
    """A model that fits, but for the changes."""
    fitting = {
        "embedding": numbers(SYMBOLS, WIDTH),
        "positions": numbers(PERIOD, WIDTH),
        "layers": [Layer([head()], mlp())],
        "unembedding": numbers(OUTPUTS, WIDTH),
        "attention": "log-length",
    }
    return LimitTransformer(**(fitting | changes))


def with_entry(array, entry, value):
    """A copy of the array with one entry changed."""
    array = np.array(array, dtype=float)
    array[entry] = value
    return array


NAN, INF = float("nan"), float("inf")
WIDER = numbers(INSIDE, WIDTH + 1)
OTHER_WIDTH_HEAD = Head(WIDER, WIDER, numbers(WIDTH + 1, WIDTH + 1))
OTHER_WIDTH_MLP = MLP(numbers(UNITS, WIDTH + 1), numbers(UNITS), numbers(WIDTH + 1, UNITS))

# build, changes, where, part of what it says it got
WRONG = [
    # shapes of every array
    (head, {"key": numbers(WIDTH)}, "key", "(3,)"),
    (head, {"key": numbers(1, INSIDE, WIDTH)}, "key", "(1, 2, 3)"),
    (head, {"key": 1.0}, "key", "()"),
    (head, {"key": np.float64(1)}, "key", "()"),
    (head, {"key": numbers(INSIDE + 1, WIDTH)}, "query", "(2, 3)"),
    (head, {"query": numbers(INSIDE + 1, WIDTH)}, "query", "(3, 3)"),
    (head, {"query": numbers(INSIDE, WIDTH + 1)}, "query", "(2, 4)"),
    (head, {"query": numbers(WIDTH)}, "query", "(3,)"),
    (head, {"value": numbers(WIDTH, WIDTH + 1)}, "value", "(3, 4)"),
    (head, {"value": numbers(WIDTH + 1, WIDTH)}, "value", "(4, 3)"),
    (head, {"phi": [[0.0, 1.0]]}, "phi", "(1, 2)"),
    (head, {"phi": 1.0}, "phi", "()"),
    (mlp, {"inner": numbers(WIDTH)}, "inner", "(3,)"),
    (mlp, {"bias": numbers(UNITS + 1)}, "bias", "(5,)"),
    (mlp, {"bias": numbers(UNITS, 1)}, "bias", "(4, 1)"),
    (mlp, {"outer": numbers(UNITS, WIDTH)}, "outer", "(4, 3)"),
    (mlp, {"outer": numbers(WIDTH, UNITS + 1)}, "outer", "(3, 5)"),
    (model, {"embedding": numbers(SYMBOLS)}, "embedding", "(5,)"),
    (model, {"embedding": []}, "embedding", "(0, 0)"),
    (model, {"embedding": np.zeros((0, WIDTH))}, "embedding", "(0, 3)"),
    (model, {"embedding": np.zeros((SYMBOLS, 0))}, "embedding", "(5, 0)"),
    (model, {"positions": numbers(WIDTH)}, "positions", "(3,)"),
    (model, {"positions": numbers(PERIOD, WIDTH + 1)}, "positions", "(6, 4)"),
    (model, {"positions": np.zeros((0, WIDTH))}, "positions", "a period of 0"),
    (model, {"positions": []}, "positions", "a period of 0"),
    (model, {"unembedding": numbers(OUTPUTS, WIDTH + 1)}, "unembedding", "(7, 4)"),
    (model, {"unembedding": numbers(WIDTH)}, "unembedding", "(3,)"),
    (model, {"unembedding": np.zeros((0, WIDTH))}, "unembedding", "0"),
    (model, {"layers": [Layer([head(), OTHER_WIDTH_HEAD])]}, "layers.0.heads.1.key", "(2, 4)"),
    (model, {"layers": [Layer([head()]), Layer([], OTHER_WIDTH_MLP)]}, "layers.1.mlp.inner", "(4, 4)"),
    # entries
    (head, {"key": with_entry(numbers(INSIDE, WIDTH), (1, 2), NAN)}, "key[1, 2]", "nan"),
    (head, {"query": with_entry(numbers(INSIDE, WIDTH), (0, 1), INF)}, "query[0, 1]", "inf"),
    (head, {"value": with_entry(numbers(WIDTH, WIDTH), (2, 0), -INF)}, "value[2, 0]", "-inf"),
    (head, {"phi": [0.0, NAN]}, "phi[1]", "nan"),
    (head, {"phi": [0.0, -INF, INF]}, "phi[2]", "inf"),
    (mlp, {"inner": with_entry(numbers(UNITS, WIDTH), (3, 2), NAN)}, "inner[3, 2]", "nan"),
    (mlp, {"bias": with_entry(numbers(UNITS), 1, -INF)}, "bias[1]", "-inf"),
    (mlp, {"outer": with_entry(numbers(WIDTH, UNITS), (0, 3), INF)}, "outer[0, 3]", "inf"),
    (model, {"embedding": with_entry(numbers(SYMBOLS, WIDTH), (4, 0), NAN)}, "embedding[4, 0]", "nan"),
    (model, {"positions": with_entry(numbers(PERIOD, WIDTH), (5, 2), -INF)}, "positions[5, 2]", "-inf"),
    (model, {"unembedding": with_entry(numbers(OUTPUTS, WIDTH), (6, 1), INF)}, "unembedding[6, 1]", "inf"),
    (head, {"phi": jnp.array([0.0, 1.0, NAN])}, "phi[2]", "nan"),
    (head, {"key": jnp.full((INSIDE, WIDTH), -INF)}, "key[0, 0]", "-inf"),
    (head, {"phi": np.array([0.0, "1e999"], dtype=np.longdouble)}, "phi[1]", "inf"),
    # kinds of value
    (head, {"key": [[1, 2, 3], [4, 5]]}, "key", "[[1, 2, 3], [4, 5]]"),
    (head, {"phi": ["0", "1"]}, "phi", "['0', '1']"),
    (head, {"phi": [Fraction(1), "1"]}, "phi[1]", "'1'"),
    (head, {"phi": b"01"}, "phi", "b'01'"),
    (head, {"phi": [0.0, None]}, "phi[1]", "None"),
    (head, {"phi": [1j]}, "phi", "1j"),
    (head, {"phi": jnp.array([1j])}, "phi", "complex64"),
    (head, {"phi": np.array([[1, 2], [3]], dtype=object)}, "phi[0]", "[1, 2]"),
    (head, {"phi": [object()]}, "phi[0]", "object"),
    (head, {"phi": {"a": 1}}, "phi", "{'a': 1}"),
    (head, {"phi": [10**400]}, "phi", "[1000"),
    (head, {"phi": [10**5000]}, "phi", "list"),
    (head, {"phi": [Decimal("sNaN")]}, "phi", "sNaN"),
    (head, {"phi": np.array(["2020-01-01"], dtype="datetime64[D]")}, "phi", "2020"),
    (head, {"known_spread": -1.0}, "known_spread", "-1.0"),
    (head, {"known_spread": INF}, "known_spread", "inf"),
    (head, {"known_diameter": NAN}, "known_diameter", "nan"),
    (head, {"known_diameter": "1"}, "known_diameter", "'1'"),
    (head, {"known_diameter": True}, "known_diameter", "True"),
    (head, {"known_diameter": 10**400}, "known_diameter", "1000"),
    # activations
    (mlp, {"activation": "gelu"}, "activation", "'gelu'"),
    (mlp, {"activation": ("relu", "sin", "tanh")}, "activation", "3"),
    (mlp, {"activation": ("relu", "sin", "tanh", "gelu")}, "activation", "'gelu'"),
    (mlp, {"activation": ("relu", "sin", "tanh", np.ones(2))}, "activation", "array"),
    (mlp, {"activation": None}, "activation", "None"),
    # records in records
    (Layer, {"heads": 5}, "heads", "5"),
    (Layer, {"heads": [head(), mlp()]}, "heads.1", "MLP"),
    (Layer, {"mlp": head()}, "mlp", "Head"),
    (model, {"layers": []}, "layers", "()"),
    (model, {"layers": None}, "layers", "None"),
    (model, {"layers": [Layer(), head()]}, "layers", "Head"),
    (model, {"layers": Layer()}, "layers", "Layer"),
    # the rule and its bits
    (model, {"attention": "softmax"}, "attention", "'softmax'"),
    (model, {"attention": None}, "attention", "None"),
    (model, {"attention": np.array(["plain"])}, "attention", "plain"),
    (model, {"attention": "plain", "bits": 8}, "bits", "plain with bits"),
    (model, {"attention": "log-suffix", "bits": 8}, "bits", "log-suffix with bits"),
    (model, {"bits": 0}, "bits", "0"),
    (model, {"bits": -1}, "bits", "-1"),
    (model, {"bits": 1_000_001}, "bits", "1000001"),
    (model, {"bits": 10**5000}, "bits", "int of 16610 bits"),
    (model, {"bits": 8.0}, "bits", "8.0"),
    (model, {"bits": True}, "bits", "True"),
    (model, {"bits": "8"}, "bits", "'8'"),
    # names
    (model, {"tokens": "abcd"}, "tokens", "4"),
    (model, {"tokens": 5}, "tokens", "5"),
    (model, {"tokens": ["a", "b", "c", "d", "a"]}, "tokens[4]", "'a' twice"),
    (model, {"tokens": ["a", "", "c", "d", "e"]}, "tokens[1]", "''"),
    (model, {"tokens": ["a", "b", " ", "d", "e"]}, "tokens[2]", "' '"),
    (model, {"tokens": ["a", "b", "c", "d\te", "f"]}, "tokens[3]", "d\\te"),
    (model, {"tokens": ["a", "b", "c", "d", 5]}, "tokens[4]", "5"),
    (model, {"tokens": ["\ud800", "b", "c", "d", "e"]}, "tokens[0]", "ud800"),
    (model, {"tokens": ["a", "\ufeffb", "c", "d", "e"]}, "tokens[1]", "ufeff"),
    (model, {"coordinates": ["x", "y"]}, "coordinates", "2"),
    (model, {"coordinates": ["x", "y", "x"]}, "coordinates[2]", "'x' twice"),
    (model, {"coordinates": ["x", "y", "z\u00a0"]}, "coordinates[2]", "'z"),
]


@pytest.mark.parametrize(("build", "changes", "where", "got"), WRONG, ids=[f"{i}-{c[2]}" for i, c in enumerate(WRONG)])
def test_what_does_not_fit_is_named(build, changes, where, got):
    with pytest.raises(WrongInput) as caught:
        build(**changes)
    assert caught.value.where == where
    assert got in caught.value.got


def test_the_examples_above_fit_but_for_their_change():
    assert model(bits=8, tokens="abcde", coordinates=["x", "y", "z"]).bits == 8


@pytest.mark.parametrize("bits", [1, 1_000_000, np.int64(8)])
def test_bits_at_the_ends_of_the_range(bits):
    assert model(bits=bits).bits == int(bits)
    assert type(model(bits=bits).bits) is int


@pytest.mark.parametrize(
    ("given_values", "stored"),
    [
        ([Fraction(1, 3), 2], [1 / 3, 2.0]),
        ([1, 2**53], [1.0, 2.0**53]),
        ([True, False], [1.0, 0.0]),
        ([Decimal("0.1")], [0.1]),
        (np.array([1, 2], dtype=np.uint8), [1.0, 2.0]),
        (np.array([0.5], dtype=np.float16), [0.5]),
        (np.array([0.1], dtype=">f8"), [0.1]),
        (range(3), [0.0, 1.0, 2.0]),
        ([], []),
        ((-INF, 0.0), [-INF, 0.0]),
    ],
)
def test_real_numbers_of_every_kind_become_float64(given_values, stored):
    phi = head(phi=given_values).phi
    assert phi.dtype == np.float64
    assert phi.dtype.isnative
    assert phi.tolist() == stored
    assert phi.ndim == 1


def test_float32_keeps_its_bits():
    values = np.array([0.1, -0.0, 1e-45], dtype=np.float32)
    assert head(phi=values).phi.dtype == np.float32
    assert head(phi=values).phi.tobytes() == values.tobytes()


def test_any_memory_layout_is_read_by_its_indices():
    wanted = numbers(INSIDE, WIDTH)
    assert np.array_equal(head(key=np.asfortranarray(wanted)).key, wanted)
    assert np.array_equal(head(key=numbers(2 * INSIDE, WIDTH)[::-2]).key, numbers(2 * INSIDE, WIDTH)[::-2])


@pytest.mark.parametrize("name", sorted(named_arrays(model())))
def test_nobody_changes_weights_from_outside(name):
    array = named_arrays(model())[name]
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.setflags(write=True)
    while isinstance(array, np.ndarray):  # neither through what the array is a view of
        assert not array.flags.writeable
        array = array.base
    assert isinstance(array, bytes)


def test_changing_what_a_model_was_made_of_does_not_change_it():
    embedding, layers, heads, tokens = numbers(SYMBOLS, WIDTH), [Layer()], [head()], list("abcde")
    built = model(embedding=embedding, layers=layers, tokens=tokens)
    layer = Layer(heads)
    embedding[0, 0] = 99
    layers.clear()
    heads.clear()
    tokens[0] = "z"
    assert built.embedding[0, 0] == 1
    assert (len(built.layers), len(layer.heads), built.tokens) == (1, 1, tuple("abcde"))


@pytest.mark.parametrize("record", [model(), head(), mlp(), Layer()])
def test_fields_are_frozen(record):
    for field in dataclasses.fields(record):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field.name, None)


def test_no_positions_are_one_row_of_zeros():
    for xp in (np, jnp):
        plain = model(embedding=xp.ones((SYMBOLS, WIDTH), dtype=xp.float32), positions=None)
        assert isinstance(plain.positions, type(plain.embedding))
        assert plain.positions.dtype == np.float32
        assert plain.period == 1
        assert plain.positions.tolist() == [[0.0] * WIDTH]


def test_sizes_are_read_off_the_arrays():
    built = model(layers=[Layer([head(phi=[1.0, 0, 0, 2.0, 0])]), Layer([head()])])
    sizes = (built.symbols, built.width, built.period, built.depth, built.locality, built.types)
    assert sizes == (SYMBOLS, WIDTH, PERIOD, 2, 3, SYMBOLS * PERIOD)
    assert built.names == ("0", "1", "2", "3", "4")
    assert model(tokens="abcde").names == tuple("abcde")
    assert Layer().locality == 0


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -INF])))
def test_locality_is_the_last_offset_that_matters(phi):
    built = head(phi=phi)
    assert built.locality == max((offset for offset, entry in enumerate(phi) if entry != 0), default=0)
    assert built.has_suffix_term == any(entry != 0 for entry in phi)


def test_a_layer_may_be_empty_and_an_mlp_may_have_no_units():
    none = MLP(np.zeros((0, WIDTH)), [], np.zeros((WIDTH, 0)))
    assert none.activations == ()
    assert MLP(np.zeros((0, WIDTH)), [], np.zeros((WIDTH, 0)), ()).activations == ()
    assert model(layers=[Layer((), none), Layer()]).depth == 2


def test_one_activation_serves_every_unit_or_each_has_its_own():
    assert mlp(activation="sin").activations == ("sin",) * UNITS
    own = ["relu", "heaviside", "tanh", "identity"]
    assert mlp(activation=own).activations == tuple(own)


def test_stated_values_become_floats():
    built = head(known_spread=2, known_diameter=np.float32(0.5))
    assert (built.known_spread, built.known_diameter) == (2.0, 0.5)
    assert type(built.known_spread) is type(built.known_diameter) is float


def test_every_array_is_mapped_once_and_nothing_else_changes():
    built = model(
        layers=[Layer([head(known_spread=1.0), head(phi=[-INF, 5.0])], mlp(activation="sin")), Layer()],
        bits=7,
        tokens="abcde",
        coordinates="xyz",
    )
    seen = []
    halved = map_arrays(built, lambda array: seen.append(array) or array / 2)
    before, after = named_arrays(built), named_arrays(halved)
    assert sorted(map(id, seen)) == sorted(map(id, before.values()))
    assert list(before) == list(after)
    assert all(np.array_equal(before[name] / 2, after[name]) for name in before)
    assert halved.layers[0].heads[0].known_spread == 1.0
    assert halved.layers[0].mlp.activation == "sin"
    kept = ("attention", "bits", "tokens", "coordinates")
    assert [getattr(built, name) for name in kept] == [getattr(halved, name) for name in kept]


def test_jax_arrays_stay_jax_arrays():
    built = map_arrays(model(), jnp.asarray)
    assert all(isinstance(array, jax.Array) for array in named_arrays(built).values())
    assert built.layers[0].locality == 1


def test_jax_integers_and_short_floats_become_jax_floats():
    for dtype in (jnp.int32, jnp.bfloat16, jnp.float16, jnp.bool_):
        phi = head(phi=jnp.array([0, 1], dtype=dtype)).phi
        assert isinstance(phi, jax.Array)
        assert phi.dtype == np.float32
        assert phi.tolist() == [0.0, 1.0]


def test_records_can_be_built_and_differentiated_under_jit():
    @jax.jit
    def total(phi, embedding):
        built = model(
            embedding=embedding,
            positions=None,
            layers=[Layer([head(phi=phi)], mlp(bias=embedding[0, 0] * jnp.ones(4)))],
        )
        assert built.locality == 2, "traced values are unknown: the declared length is safe"
        assert built.layers[0].heads[0].has_suffix_term
        return 3 * built.layers[0].heads[0].phi.sum() + built.positions.sum() + built.layers[0].mlp.bias.sum()

    arguments = (jnp.array([1.0, 2.0, 4.0]), jnp.ones((SYMBOLS, WIDTH)))
    assert total(*arguments) == 25
    assert jax.grad(total)(*arguments).tolist() == [3.0, 3.0, 3.0]
    stacked = jax.vmap(total, in_axes=(0, None))(jnp.ones((2, 3)), arguments[1])
    assert stacked.tolist() == [13.0, 13.0]


def test_shapes_are_checked_under_jit():
    with pytest.raises(WrongInput, match="query"):
        jax.jit(lambda query: head(query=query).query)(jnp.ones((INSIDE + 1, WIDTH)))


def test_names_may_be_any_visible_unicode():
    names = ["é", "日本", "🙂", "👨‍👩‍👧", "\U0001fae8", "a-b_c.d", "ß", "ﷺ"]  # \U0001fae8 is younger than Python 3.11
    assert check_names(names, len(names), "tokens") == tuple(names)


def test_every_blank_of_unicode_is_refused():
    blanks = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    assert len(blanks) > 20
    for blank in blanks:
        with pytest.raises(WrongInput):
            check_names([f"a{blank}b"], 1, "tokens")
