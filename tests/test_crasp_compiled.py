"""A compiled program is the program: at every position of every word, however the model is run."""

from dataclasses import replace

import numpy as np
import pytest

import lengthwise as lw
from cases import LIBRARY, RANDOM, all_words, harnesses, interpreted, program, right, with_begin
from lengthwise.crasp.compiled import ALL, NONE, begin_symbol, compile
from lengthwise.crasp.interpret import run
from lengthwise.crasp.library import library
from lengthwise.crasp.operations import InResidues, operations
from lengthwise.crasp.parse import parse
from lengthwise.crasp.syntax import Count, Definition, Number, Phi, Program, Sym, Truth
from lengthwise.errors import WrongInput
from lengthwise.limit.evaluate import evaluate

LONG = (
    "majority",
    "dyck1",
    "D_12",
    "tomita4",
    "tomita7",
    "aaaa_star",
    "slt_mix",
    "prefix_bool3",
    "contains_ab",
    "subseq_abc",
)


def short(symbols, slow):
    """All words to this length: 8, or 6 for larger alphabets, in the slow run."""
    if slow:
        return 8 if symbols <= 2 else 6 if symbols <= 5 else 4 if symbols <= 6 else 2
    return 6 if symbols <= 2 else 3 if symbols <= 5 else 1


def compiled_is_interpreted(case, slow):
    one = program(case)
    model = compile(one).model
    for words in all_words(len(one.alphabet), short(len(one.alphabet), slow)):
        for part in np.array_split(words, 1 + len(words) // 4096):
            assert right(model, part, interpreted(one, part)), (case, words.shape)


@pytest.mark.parametrize("case", LIBRARY)
def test_library_programs_on_all_short_words(case):
    compiled_is_interpreted(case, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("case", LIBRARY)
def test_library_programs_on_all_words(case):
    compiled_is_interpreted(case, slow=True)


@pytest.mark.parametrize("case", LIBRARY)
def test_random_words_of_length_200(case):
    one = program(case)
    model = compile(one).model
    rng = np.random.default_rng(len(case))
    words = rng.integers(0, len(one.alphabet), size=(3, 200))
    wanted = interpreted(one, words)
    for word, expected in zip(words, wanted, strict=True):
        assert np.array_equal(evaluate(model, with_begin(word[None])[0], "dense", "all") > 0, expected)


@pytest.mark.parametrize("case", [*LIBRARY[::7], *RANDOM])
def test_every_harness_gives_one_answer(case, tmp_path):
    one = program(case)
    ways = harnesses(compile(one).model, tmp_path)
    rng = np.random.default_rng(5)
    for length in (0, 1, 2, 5, 23):
        words = rng.integers(0, len(one.alphabet), size=(2, length))
        wanted = interpreted(one, words)
        for tokens, expected in zip(with_begin(words), wanted, strict=True):
            for name, way in ways.items():
                assert np.array_equal(way(tokens) > 0, expected), (name, tokens)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_random_programs_with_and_without_each_optimisation(part):
    for seed in range(1000 + 60 * part, 1060 + 60 * part):
        one = program(seed)
        left_out = [replace(ALL, **{name: False}) for name in ALL.names]
        for passes in (ALL, NONE, left_out[seed % len(left_out)]):
            model = compile(one, passes=passes).model
            for words in all_words(2, 6):
                assert right(model, words, interpreted(one, words)), (seed, passes)


def test_reloading_keeps_every_bit(tmp_path):
    model = compile(library()["sort5"]).model
    lw.save(model, tmp_path / "m.safetensors")
    again = lw.load(tmp_path / "m.safetensors")
    tokens = with_begin(np.random.default_rng(0).integers(0, 6, size=(1, 300)))[0]
    assert np.array_equal(evaluate(again, tokens, "linear", "all"), evaluate(model, tokens, "linear", "all"))
    assert again.tokens == model.tokens
    assert again.coordinates == model.coordinates


# --- members and their mutants -------------------------------------------------------------------------------------------


def balanced(rng, half, deepest):
    """A random word with as many 0 as 1, no prefix with more 1, none with more than `deepest` open."""
    word, open_, left = [], 0, half
    while left or open_:
        up = left and open_ < deepest and (open_ == 0 or rng.random() < 0.5)
        word.append(0 if up else 1)
        open_, left = open_ + (1 if up else -1), left - bool(up)
    return word


MEMBERS = {
    "dyck1": lambda rng: balanced(rng, 100, 100),
    "D_2": lambda rng: balanced(rng, 100, 2),
    "D_12": lambda rng: balanced(rng, 100, 12),
    "majority": lambda rng: rng.permutation([0] * 100 + [1] * 101).tolist(),
    "anbn": lambda rng: [0] * 100 + [1] * 100,
    "anbncn": lambda rng: [0] * 67 + [1] * 67 + [2] * 67,
    "tomita2": lambda rng: [1, 0] * 100,
    "aaaa_star": lambda rng: [0] * 200,
    "abab_star": lambda rng: [0, 1] * 100,
    "ab_or_ba_star": lambda rng: [bit for pair in rng.integers(0, 2, 100) for bit in (pair, 1 - pair)],
    "blocks5": lambda rng: np.sort(rng.permutation([0, 1, 2, 3, 4, *rng.integers(0, 5, 195)])).tolist(),
    "exactly3a": lambda rng: rng.permutation([0] * 3 + [1] * 197).tolist(),
    "tomita4": lambda rng: [bit for _ in range(66) for bit in (0, 0, 1)],
    "slt_mix": lambda rng: [bit for pick in rng.integers(0, 2, 80) for bit in ((0, 1) if pick else (0, 0, 1))],
}


@pytest.mark.parametrize("case", MEMBERS)
def test_members_and_one_symbol_mutants_near_200(case):
    one, rng = program(case), np.random.default_rng(1)
    model = compile(one).model
    members = {True: 0, False: 0}
    for number in range(8):
        word = np.array(MEMBERS[case](rng), dtype=np.int64)
        if number:  # the first is a member
            place = int(rng.integers(0, len(word)))
            word[place] = (word[place] + rng.integers(1, len(one.alphabet))) % len(one.alphabet)
        wanted = interpreted(one, word[None])[0]
        members[bool(wanted[-1, 0])] += 1
        assert np.array_equal(evaluate(model, with_begin(word[None])[0], "linear", "all") > 0, wanted)
    assert members[True] >= 1
    assert members[False] >= 1


@pytest.mark.parametrize("case", LONG)
def test_length_100_000(case):
    one = program(case)
    model = compile(one).model
    rng = np.random.default_rng(2)
    word = np.array(balanced(rng, 50_000, 12)) if case in ("dyck1", "D_12") else None
    if word is None:
        word = rng.integers(0, len(one.alphabet), size=100_000)
    wanted = interpreted(one, word[None])[0]
    assert np.array_equal(evaluate(model, with_begin(word[None])[0], "linear", "all") > 0, wanted)


def test_a_million_symbols_in_linear_time():
    one = program("dyck1")
    model = compile(one).model
    word = np.array(balanced(np.random.default_rng(3), 500_000, 1000))
    for changed, accepted in ((None, True), (999_999, False), (500_000, False)):
        tokens = with_begin(word[None])[0]
        if changed is not None:
            tokens[changed + 1] = 3 - tokens[changed + 1]
        assert bool(evaluate(model, tokens, "linear")[0] > 0) is accepted


# --- what the model is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["tomita4", "slt_mix", "copy_unique5", "D_2", "interleave3_all_ones", "window_mod3"])
def test_few_bits_of_precision_change_nothing(case):
    one = program(case)
    model = compile(one).model
    for words in all_words(len(one.alphabet), short(len(one.alphabet), slow=False)):
        wanted = interpreted(one, words)
        for bits in (1, 2, 4, 8, 16):
            assert right(replace(model, bits=bits), words, wanted), bits


@pytest.mark.parametrize(
    "case", ["aa_star", "aaaa_star", "abab_star", "interleave3_all_ones", "len_mod3_eq1", "window_mod3"]
)
def test_offset_invariant_models_may_start_anywhere(case):
    one = program(case)
    model, plain = compile(one, offset_invariant=True).model, compile(one).model
    noticed = False
    for first in (0, 1, 7, 100):
        for words in all_words(len(one.alphabet), 6):
            moved = replace(model, positions=np.roll(model.positions, -first, axis=0))
            assert right(moved, words, interpreted(one, words)), (first, words.shape)
            if plain.period > 1 and first % plain.period:
                shifted = replace(plain, positions=np.roll(plain.positions, -first, axis=0))
                noticed = noticed or not right(shifted, words, interpreted(one, words))
    assert noticed or plain.period == 1  # a plain model does notice


def test_offset_invariant_random_programs():
    for seed in range(12):
        one = random_program_with_residues(seed)
        model = compile(one, offset_invariant=True).model
        moved = replace(model, positions=np.roll(model.positions, -seed, axis=0))
        for words in all_words(2, 5):
            assert right(moved, words, interpreted(one, words)), seed


def random_program_with_residues(seed):
    while True:
        one = program(seed)
        if any(isinstance(operation, InResidues) for operation in operations(one).list):
            return one
        seed += 1000


def test_large_periods_that_have_no_small_common_one():
    accept = (Phi(7, (1, 2)) | Phi(11, (0, 4))) & ~Phi(13, (5,)) & (Count(Phi(7, (3,))) >= 1)
    one = Program("p", ("a",), (), accept)
    model = compile(one).model
    assert model.period == 1001
    word = np.zeros((1, 300), dtype=np.int64)
    assert np.array_equal(evaluate(model, with_begin(word)[0], "linear", "all") > 0, interpreted(one, word)[0])


def test_mixed_counts_and_recent_counts():
    text = """
    program mixed
    alphabet 'a' 'b'
    accept count('a') - 2 * count[back 0, 1, 3]('b') + 3 * count[back 2](count('b') >= 2) >= count('b') - 1
    output most := count[back 0, 1, 2]('a') + 2 * count[back 1]('b') >= 2
    """
    one = parse(text)
    for passes in (NONE, compile(one).passes):
        model = compile(one, passes=passes).model
        for words in all_words(2, 8):
            assert right(model, words, interpreted(one, words))


def test_what_holds_at_the_begin_symbol_is_not_counted():
    """`not 'a'` holds at the begin symbol; neither counts nor looks back may see it."""
    text = """
    program begin
    alphabet 'a' 'b'
    let c := count(not 'a') < 1
    accept count(c) >= 2 and count[back 1](not 'a') == 0
    output here := count[back 0](not 'a') == 1
    output every := count[back 0, 1, 2](not 'b' or pos % 2 in {0}) >= 2
    output never := count(count(false) == 0) == 0
    """
    one = parse(text)
    model = compile(one).model
    for words in all_words(2, 7):
        assert right(model, words, interpreted(one, words))


def test_constant_programs():
    for truth in (True, False):
        one = Program("t", ("a",), (Definition("output", "x", Count(Sym("a")) >= Number(0)),), Truth(truth))
        for words in all_words(1, 4):
            assert right(compile(one).model, words, interpreted(one, words))


def test_the_begin_symbol_is_no_symbol_of_the_word():
    assert begin_symbol(("a", "b")) == "$"
    assert begin_symbol(("$", "b")) == "^"
    assert begin_symbol(("$", "^", "⊢")) == "<s>"
    assert begin_symbol(("$", "^", "⊢", "<s>", "<s2>")) == "<s1>"
    one = Program("d", ("$", "^"), (), Count(Sym("$")) > Count(Sym("^")))
    compiled = compile(one)
    assert compiled.model.tokens == ("⊢", "$", "^")
    assert evaluate(compiled.model, "⊢$^$")[0] > 0


def test_the_record_says_what_it_is():
    compiled = compile(library()["slt_mix"])
    record = compiled.to_json()
    assert record["kind"] == "local"
    assert record["layers"] == compiled.model.depth
    assert record["outputs"][0] == "accept"
    assert str(compiled).startswith("slt_mix (local): 2 layers")
    assert len(set(compiled.model.coordinates)) == compiled.model.width


@pytest.mark.parametrize(
    ("accept", "message"),
    [
        (Count(Sym("a")) >= Number(2**60), "2\\^50"),
        (Count(Sym("a"), (20_000,)) >= Number(1), "offsets up to 10000"),
        (Phi(100_003, (1,)), "common multiple up to 100000"),
        (2**49 * Count(Sym("a")) + (2**49 + 1) * Count(Sym("b")) >= Number(2), "2\\^50"),
        (Count(Sym("a")) >= sum((2**k * Count(Sym("b"), (k,)) for k in range(9)), Number(0)), "256 values"),
        (None, "accepts or has a Boolean output"),
    ],
)
def test_what_cannot_be_compiled_is_said(accept, message):
    with pytest.raises(WrongInput, match=message):
        compile(Program("p", ("a", "b"), (), accept))


def test_deep_and_wide_programs_compile():
    """Long chains of definitions, of `and` in `or` in `and`, and sums of many comparisons; without going deep ourselves."""
    chain = "let x0 := 'a'\n" + "\n".join(
        f"let x{i + 1} := (x{i} and count('b') >= {i}) or (not x{i} and count('a') >= {i} * count('b'))"
        for i in range(60)
    )
    wide = " and ".join(f"(count('a') >= {i} * count('b') or count('b') >= {i})" for i in range(2, 60))
    zigzag = "'a'"
    for i in range(200):
        zigzag = f"(count('a') >= {i} * count('b') {'and' if i % 2 else 'or'} {zigzag})"
    for body in (f"{chain}\naccept x60", f"accept {wide}", f"accept {zigzag}"):
        one = parse(f"program p\nalphabet 'a' 'b'\n{body}")
        model = compile(one).model
        words = np.random.default_rng(0).integers(0, 2, size=(4, 30))
        assert right(model, words, interpreted(one, words))


def test_a_model_that_would_not_fit_is_refused_at_once():
    body = "'a'"
    for _ in range(400):
        body = f"count({body}) >= 2"
    with pytest.raises(WrongInput, match="at most 50000000 weights"):
        compile(parse(f"program p alphabet 'a' accept {body}"))


def test_outputs_that_are_counts_are_left_out():
    definitions = (Definition("output", "n", Count(Sym("a"))), Definition("output", "x", Count(Sym("a")) > Number(1)))
    compiled = compile(Program("p", ("a",), definitions, None))
    assert compiled.outputs == ("x",)
    assert compiled.left_out == ("n",)
    assert run(Program("p", ("a",), definitions, None), ["aa"]).values["x"].tolist() == [True]


def test_public_names_stay_what_they_are_whatever_is_imported():
    import importlib

    for _ in range(2):
        for name in lw.crasp.__all__:
            assert callable(getattr(lw.crasp, name)), name
        importlib.import_module("lengthwise.crasp.parse")
        importlib.import_module("lengthwise.crasp.library")
