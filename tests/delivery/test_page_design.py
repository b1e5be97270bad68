"""One design of every page: what its first screen holds, the order of its sections, and its tables and figures."""

import re
from collections import Counter
from html import unescape

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.base.results import ALERTS, DOUBTS, MOST_LINES, MOST_WORDS, Contents
from bayesbias.base.statements import Statement
from bayesbias.delivery.page.sections import drawn
from bayesbias.errors import LostWordsWarning
from tests.delivery.results import RESULTS, result_of


@pytest.fixture(scope="module", params=RESULTS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def page(kind: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = bb.write(result_of(kind), tmp_path_factory.mktemp("page") / "page.html", progress=False)
    return path.read_text(encoding="utf-8")


def test_question_alerts_answer_number_and_figure_stand_in_this_order(kind: str, page: str) -> None:
    contents = result_of(kind).contents
    marks = [
        "<h1",
        *(['class="answer"'] if contents.answer else []),
        *(['class="estimate"'] if contents.estimate else []),
    ]
    marks += [*(["<figure"] if contents.figures else []), "<nav", *(f'<section id="{name}' for name in _opened(page))]
    places = [page.index(mark) for mark in marks]
    assert places == sorted(places)
    if contents.alerts:
        assert page.index('class="notice"') < page.index('class="answer"')
    else:
        assert 'class="notice"' not in page[: page.index("<nav")]


def test_the_answer_is_one_short_sentence(kind: str) -> None:
    contents = result_of(kind).contents
    assert 0 < len(contents.answer.split()) <= MOST_WORDS
    assert contents.answer.endswith((".", "?"))
    assert "\n" not in contents.answer
    # The question of a fit is that of its study, which this one lacks.
    assert "?" in contents.title or kind == "fit"


def test_the_first_figure_has_at_most_12_lines(kind: str) -> None:
    result = result_of(kind)
    for request in list(result.contents.figures.values())[:1]:
        figure = drawn(result, request)
        columns = Counter[float]()
        for axes in figure.axes:
            labels = [label.get_text() for label in axes.get_yticklabels()]
            named = [label for label in labels if re.search(r"[^\W\d_]", label)]  # numbers are a scale
            columns[round(axes.get_position().x0, 1)] += len(named)
        assert max(columns.values(), default=0) <= MOST_LINES
        assert len(request.caption) > 20


def test_every_kind_of_page_has_a_first_figure() -> None:
    # A check of words counts, before there is anything to draw.
    assert [kind for kind in RESULTS if not result_of(kind).contents.figures] == ["words"]


def test_groups_and_words_are_open_then_doubts_and_the_others_are_folded(kind: str, page: str) -> None:
    contents = result_of(kind).contents
    titles = [section.title for section in contents.sections if not section.folded]
    assert titles == [title for title in (*contents.opened, DOUBTS) if title in titles]
    shown = [unescape(text) for text in re.findall(r'<h2 id="[^"]*-title">(.*?)</h2>', page)]
    assert [title for title in shown if title in titles] == titles
    last = page[page.index('<section id="details"') if 'id="details"' in page else page.index('id="part-') :]
    assert not re.search(r"</details>\s*<(table|figure|ul)", last), "tables, figures and lists are folded there"


def test_no_bullet_stands_there_twice(page: str) -> None:
    bullets = Counter(re.findall(r"<li>(?!<a)(.*?)</li>", page, re.S))
    assert [text for text, count in bullets.items() if count > 1] == []


def test_every_table_and_figure_scrolls_in_its_own_box(page: str) -> None:
    assert len(re.findall(r"<table", page)) == len(re.findall(r'<div class="scroll"[^>]*>\s*<table', page))
    assert len(re.findall(r"<img", page)) == len(re.findall(r'<div class="scroll"[^>]*>\s*<img', page))


def test_marks_explain_themselves(kind: str) -> None:
    for table in result_of(kind).contents.tables.values():
        if table.mark is not None:
            marks = [table.mark(row) for row in table.frame.to_dict("records")]
            assert {mark[0] for mark in marks} <= set("●⊙○")


def test_doubts_that_change_the_answer_precede_it_and_others_follow_the_words() -> None:
    doubts = (Statement("convergence", "The draws did not converge."), Statement("lost words", "Two words were lost."))
    contents = Contents("Q?", answer="Yes.", doubts=doubts)
    assert contents.alerts == doubts[:1]
    assert doubts[0].kind in ALERTS
    (section,) = contents.sections
    assert (section.title, section.parts[0].statements) == (DOUBTS, doubts[1:])


def test_the_first_figures_of_nulls_measures_robustness_and_reliability_are_forests_with_captions() -> None:
    kinds = ("null", "false claims", "measure", "study measure", "score of an embedding", "shares", "reliability")
    for kind in (*kinds, "random lists", "study sizes", "words left out", "sensitivity", "reliability drivers"):
        first = next(iter(result_of(kind).contents.figures.values()))
        assert first.plot.endswith(".forest"), kind
        assert first.caption.endswith("."), kind


def test_a_measure_of_words_that_a_list_lost_warns_before_its_answer() -> None:
    rng = np.random.default_rng(1)
    study = bb.load_study("weat1")
    words = [word for word in study.words if word not in study.protected["flowers"][2:]]
    vectors = {word: rng.normal(size=10) for word in words}
    with pytest.warns(LostWordsWarning):
        result = bb.metrics.weat(vectors, study, max_lost=1.0, random_seed=1)
    contents = result.contents
    (alert,) = contents.alerts
    assert "23 of the 25 of 'flowers'" in alert.text
    assert "Lost: 23: 23 of flowers" in contents.about
    assert str(result).startswith("Beware: ")
    assert contents.title == "Does flowers lean more to pleasant than insects does?"


def _opened(page: str) -> list[str]:
    return [name for name in re.findall(r'<section id="([^"]+)"', page) if name != "answer"]
