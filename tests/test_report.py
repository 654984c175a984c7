"""The page of a study: one file, everything escaped, every number that was measured; and reproducing a figure."""

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import lengthwise as lw
from figure_helpers import DEVICE, NO_PICTURES, laid, law, refuses, trainer
from lengthwise.limit.constructions import mod_p_task
from lengthwise.study import drawing
from lengthwise.study.claims import LOSS
from lengthwise.study.published import published
from lengthwise.study.report import VERDICTS, inlined, number
from study_helpers import study, sweep


class Page(HTMLParser):
    """What a page consists of: tags, ids, what it fetches, its text, and its tables row by row."""

    EMPTY = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self, path):
        super().__init__()
        self.ids, self.fetched, self.text, self.rows, self.open, self.tags = [], [], "", [], [], set()
        self.cells = None
        self.feed(path.read_text(encoding="utf-8"))
        assert self.open == [], "every tag is closed"

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.tags.add(tag)
        self.ids += [named["id"]] if "id" in named else []
        self.fetched += [v for k, v in attributes if k in ("src", "href", "xlink:href") and not v.startswith("#")]
        if tag not in self.EMPTY:
            self.open.append(tag)
        if tag == "tr":
            self.cells = []
        elif tag in ("td", "th") and self.cells is not None:
            self.cells.append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "tr":
            self.rows.append([cell.strip() for cell in self.cells])
            self.cells = None

    def handle_data(self, data):
        self.text += data
        if self.cells:
            self.cells[-1] += data


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    """Pictures take seconds, and one set of real ones, that of `figure1`, is enough; tests/test_panels.py draws them."""
    monkeypatch.setattr(drawing, "drawn", lambda rows: NO_PICTURES)


@pytest.fixture(scope="module")
def figure1(tmp_path_factory):
    """Figure 1 reproduced from curves as published."""
    path = tmp_path_factory.mktemp("figure1") / "there"
    return lw.reproduce("figure1", out=path, trainer=trainer())


def test_curves_as_published_reproduce_figure_1(figure1):
    assert figure1.holds
    assert [claim.holds for claim in figure1.report.claims] == [True] * 4 + [True, True, None, None]
    assert "6 claims hold, 0 fail, 2 cannot be judged" in f"{figure1}"  # log-length has one omega at this scale
    told = json.loads(figure1.to_json())
    assert told["claims"][0].keys() >= {"claim", "published", "measured", "holds", "required"}
    assert told["figures"] == [str(path) for path in figure1.report.files]
    assert all(path.is_file() for path in figure1.report.files)


def test_the_page_is_one_file_that_fetches_nothing(figure1):
    page = Page(figure1.report.page)
    assert page.fetched == []
    assert page.tags & {"script", "link", "iframe", "img"} == set()
    text = figure1.report.page.read_text()
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []
    assert len(page.ids) == len(set(page.ids)) > 10
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', text)) <= set(page.ids)


def test_the_page_says_what_was_measured(figure1):
    page = Page(figure1.report.page)
    words = " ".join(page.text.split())
    measured = lw.measure(figure1.report.directory.path)
    for claim in figure1.report.claims:
        assert f"{claim.claim}: {VERDICTS[claim.holds]}" in words
        assert claim.measured in words
        assert claim.published in words
    for line, need in zip(measured.series, measured.required_lengths(LOSS), strict=True):
        assert [line.name, need.sentence, need.interval_reason] in page.rows
    for group in measured.plateaus():
        for one in group:
            assert any(row[:2] == [str(one.longest), number(one.median)] for row in page.rows)
    for one in measured.exponents(LOSS):
        said = one.reason if one.exponent is None else number(one.exponent)
        assert any(row[0] == one.against and said in row for row in page.rows)
    assert published("figure1").toml().strip() in page.text


def test_worst_errors_stand_beside_the_theorem_where_it_speaks(figure1):
    """Plain attention has a panel with both; log-length attention has none, and the caption says why."""
    found = figure1.report
    table = next(path for path in found.files if path.name == "figure1-worst.csv").read_text()
    assert {line.split(",")[0] for line in table.splitlines()[1:]} == {"plain attention"}
    assert "Theorem P for the trained weights,proved," in table
    words = found.figures[0].caption
    assert "Worst error 0.5: circles" in words
    assert "No bound beside log-length attention: " in words
    assert "plain attention: " not in words


def test_what_stands_in_a_run_file_is_text_and_never_html(figure1):
    text = figure1.report.page.read_text()
    assert DEVICE in Page(figure1.report.page).text
    assert DEVICE not in text


def test_a_finished_study_is_measured_again_and_not_trained(figure1):
    again = lw.reproduce("figure1", out=figure1.report.directory.path, trainer=refuses())
    assert again.to_json() == figure1.to_json()


def test_a_run_that_is_not_whole_is_named_and_trained_again(tmp_path):
    path = laid("figure1", tmp_path / "there")
    torn = next((path / "runs").iterdir())
    torn.write_text(torn.read_text()[:-20])
    said = []
    with pytest.raises(lw.WrongInput, match="--resume"):
        lw.reproduce("figure1", out=path, trainer=trainer())
    assert lw.reproduce("figure1", out=path, trainer=trainer(), resume=True, say=said.append).holds
    assert any(torn.stem in message for message in said)


def test_a_folder_with_another_study_is_refused(tmp_path):
    sweep(tmp_path / "other")
    with pytest.raises(lw.WrongInput, match="the study that this folder holds"):
        lw.reproduce("figure1", out=tmp_path / "other", trainer=refuses())


def rising(run):
    """The plateau rises with the training length, beyond doubt."""
    return [(length, run.longest * (1 + run.seed / 1000), 1.0) for length in run.testing.lengths]


def test_a_required_claim_that_is_false_is_told(tmp_path):
    found = lw.reproduce("figure1", out=tmp_path / "there", trainer=trainer(rising))
    assert not found.holds
    assert ["falls with the training length" in claim.claim for claim in found.report.failed] == [True]
    assert "fails" in Page(found.report.page).text


def test_diverged_members_are_named(tmp_path):
    first = published("figure1").runs()[0]

    def curve(run):
        return [(length, math.inf, math.inf) for length in run.testing.lengths] if run == first else law(run)

    path = laid("figure1", tmp_path / "there", curve_of=curve, ended=lambda r: "diverged" if r == first else "steps")
    page = Page(lw.report(path).page)
    assert f"{first.id} (simple, up to {first.longest}, seed {first.seed})" in " ".join(page.text.split())


def test_figure_3_looks_at_the_models_of_every_training_length(tmp_path):
    def solved(run):
        """Hardmax over the residue, sharp enough for plain attention."""
        model = mod_p_task(5, 1)
        (layer,) = model.layers
        (head,) = layer.heads
        sharp = replace(layer, heads=(replace(head, key=20 * head.key),))
        return replace(model, layers=(sharp,), attention=run.model.attention)

    found = lw.reproduce(
        "figure3", out=tmp_path / "there", trainer=trainer(lambda run: flat(run, 1e-4), weights_of=solved)
    )
    assert {figure.name for figure in found.report.figures} == {"figure3", "figure3-loss"}
    rows = [row for claim in found.report.claims for row in claim.data]
    assert {row["training_length"] for row in rows} == set(published("figure3").lengths)
    assert all(row["farthest_on"] < 0.01 for row in rows)


def flat(run, value):
    return [(length, value, value) for length in run.testing.lengths]


def test_vocabulary_and_locality_are_held_beside_the_theory_and_nothing_is_required(tmp_path):
    found = lw.reproduce("vocabulary", out=tmp_path / "there", trainer=trainer())
    assert found.report.claims
    assert not any(claim.required for claim in found.report.claims)
    assert all("not published" in claim.published for claim in found.report.claims)
    table = next(path for path in found.report.files if path.name == "vocabulary-required.csv").read_text()
    assert "slope 1: Theorem P's worst case (no bound)" in table


def test_a_study_of_one_s_own_has_a_page_without_claims(tmp_path):
    sweep(tmp_path / "own")
    found = lw.report(tmp_path / "own")
    page = Page(found.page)
    assert found.claims == ()
    assert "Claims" not in page.text
    assert {path.parent.name for path in found.files} == {"figures"}


def test_a_study_that_is_not_finished_says_so(tmp_path):
    asked = iter([False, False, False, True, True])
    lw.sweep(study(), tmp_path / "part", trainer=trainer(lambda run: flat(run, 0.1)), should_stop=lambda: next(asked))
    found = lw.report(tmp_path / "part")
    assert "5 runs are missing" in " ".join(Page(found.page).text.split())


@pytest.mark.parametrize("place", ["nowhere", "empty"])
def test_a_folder_without_runs_is_refused(tmp_path, place):
    (tmp_path / "empty").mkdir()
    with pytest.raises(lw.WrongInput):
        lw.report(tmp_path / place)


def test_ids_of_two_drawings_on_one_page_differ():
    svg = '<?xml?>\n<svg width="9pt" height="8pt" viewBox="0 0 9 8"><g id="a"/><use xlink:href="#a"/><path clip-path="url(#a)"/></svg>'
    one, other = inlined(svg, "f0-"), inlined(svg, "f1-")
    assert one == '<svg viewBox="0 0 9 8"><g id="f0-a"/><use xlink:href="#f0-a"/><path clip-path="url(#f0-a)"/></svg>'
    assert "f0" not in other
