"""`lengthwise crasp decide`: answers, exit codes, files, and wrong input."""

import json

import lengthwise as lw


def test_a_member_is_printed_as_a_program_that_works(command, tmp_path):
    ended = command("crasp", "decide", "(aa|b)*")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(
        "// (aa|b)* is in C-RASP: a program with period 2; checked on all words up to length 13."
    )
    (tmp_path / "found.crasp").write_text(ended.out)
    answers = command("crasp", "run", "found.crasp", "aabaa", "aba", "--json")
    assert answers.json["accepts"] == [True, False]


def test_what_is_no_member_or_not_known_ends_with_one(command):
    no = command("crasp", "decide", "[012]*02*")
    assert (no.code, no.err) == (1, "")
    assert no.out.startswith("[012]*02* is not in C-RASP[periodic, local]: ")
    assert "star-free: yes; dot-depth at most one: no; states of the minimal automaton: 2" in no.out
    unknown = command("crasp", "decide", "(a{8})*", "--json")
    assert unknown.code == 1
    assert (unknown.json["member"], unknown.json["certainty"], unknown.json["program"]) == (None, "unknown", None)
    assert command("crasp", "decide", "(a{8})*", "--max-period", 8).code == 0


def test_the_fields(command):
    fields = command("crasp", "decide", "(a(ab)*b)*", "--json").json
    assert fields["verb"] == "crasp decide"
    assert (fields["member"], fields["certainty"], fields["plain"]) == (True, "decided", True)
    assert (fields["period"], fields["window"], fields["depth"], fields["states"]) == (1, 0, 2, 4)
    assert (fields["star_free"], fields["dot_depth_one"]) == (True, False)
    assert lw.crasp.parse(fields["program"]).alphabet == ("a", "b")
    assert fields["tried"] == [{"period": 1, "window": 0, "outcome": "told apart"}]


def test_options(command):
    assert command("crasp", "decide", "a*", "--alphabet", "abc", "--json").json["alphabet"] == ["a", "b", "c"]
    assert command("crasp", "decide", "'up'*", "--alphabet", "up down", "--json").json["alphabet"] == ["up", "down"]
    marked = command("crasp", "decide", "(a|b)*b", "--end-marker", "--json").json
    assert (marked["plain"], marked["window"], marked["alphabet"]) == (False, 1, ["a", "b", "$"])
    assert command("crasp", "decide", "(ab|b)*", "--max-window", 0).code == 1


def test_an_automaton_from_a_file_or_standard_input(command, tmp_path):
    table = {"alphabet": ["a", "b"], "start": 0, "accepting": [0], "table": [[1, 0], [0, 2], [2, 2]]}
    (tmp_path / "machine.json").write_text(json.dumps(table))
    from_file = command("crasp", "decide", "--automaton", "machine.json", "--json").json
    piped = command("crasp", "decide", "--automaton", "-", "--json", stdin=json.dumps(table).encode()).json
    wanted = command("crasp", "decide", "(aa|b)*", "--json").json
    assert from_file["program"] == piped["program"] == wanted["program"]


def test_wrong_input_is_one_line_and_ends_with_two(command, tmp_path):
    (tmp_path / "bad.json").write_text('{"alphabet": "ab"}')
    for arguments, said in [
        (["(a"], "the end of the expression: wanted a closing bracket )"),
        (["a{9,1}"], "column 2"),
        ([], "wanted REGEX or --automaton FILE; got neither"),
        (["a", "--automaton", "bad.json"], "got both"),
        (["--automaton", "bad.json"], "bad.json: wanted an object with the keys"),
        (["--automaton", "none.json"], "no such file"),
        (["--automaton", "bad.json", "--alphabet", "ab"], "wanted --alphabet with an expression"),
        (["ab", "--alphabet", "a"], "column 2"),
        (["a", "--max-period", "0"], "max_period"),
        (["a", "--max-window", "many"], "--max-window"),
        (["a{500}"], "at most 300 states"),
        (["(a|b)*a(a|b){40}"], "at most 5000 states"),
        ([""], "at least one symbol"),
    ]:
        ended = command("crasp", "decide", *arguments)
        assert (ended.code, ended.out) == (2, ""), arguments
        assert said in ended.err, ended.err
        assert ended.err.count("\n") == 1
        error = command("crasp", "decide", *arguments, "--json").error
        assert error["remedy"]
