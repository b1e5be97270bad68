"""Statements: three renderings of the same fields."""

import json
import re

import numpy as np
import pytest
from markdown_it import MarkdownIt

from bayesbias.base.statements import (
    LINE,
    Conclusions,
    Statement,
    StatementList,
    markdown_text,
    plain,
    render_html,
    render_text,
)

LONG = " ".join(["word"] * 60)


def made() -> Conclusions:
    return Conclusions(
        about=Statement("data", "Two <words>."),
        doubts=(Statement("convergence", "The chains disagree."),),
        verdict=Statement("nothing", "Nothing is shown.", {"settled": {}}),
        shown=(Statement("contrast", LONG, {"mean": np.float64(0.25), "observed": float("nan"), "words": ("a", "b")}),),
        limits=(Statement("bias", "Bias."),),
        heading="What is shown (89% HPDI)",
    )


def test_text_has_doubts_first_and_short_lines() -> None:
    paragraphs = str(made()).split("\n\n")
    assert paragraphs[:5] == [
        "DOUBTS",
        "- The chains disagree.",
        "Two <words>.",
        "WHAT IS SHOWN (89% HPDI)",
        "Nothing is shown.",
    ]
    assert paragraphs[5].startswith("- word")
    assert " ".join(paragraphs[5].split()) == f"- {LONG}"
    assert paragraphs[5].splitlines()[1].startswith("  word")
    assert max(map(len, str(made()).splitlines())) <= LINE
    assert paragraphs[6:] == ["WHAT IT DOES NOT SHOW", "- Bias."]


@pytest.mark.parametrize("word", [r"\(x\)", r"\[x\]", r"\begin{align}x\end{align}", r"\\(x\\)", r"\ref{x}"])
def test_no_word_is_mathematics(word: str) -> None:
    """MathJax reads texts between tags, and programs for Markdown `\\\\(` in a file; MathJax reads what they make."""
    html = Statement("words", word)._repr_html_()
    assert re.sub("<.*?>", "", html) == word
    for text in (*re.split("<.*?>", html), MarkdownIt().render(markdown_text(word))):
        assert not re.search(r"\\[(\[]|\\(begin|ref)", text)
    assert not re.search(r"\\\\[(\[]|(?<!\\)\\(begin|ref)", markdown_text(word))


@pytest.mark.parametrize(
    "word", ["https://evil.example", "FTP://a.b", "www.evil.example", "a@evil.example", "mailto:a"]
)
def test_no_word_is_an_address(word: str) -> None:
    """GitHub makes links of such texts, without any markup around them."""
    written = markdown_text(word)
    assert not re.search(r"(?<!\\)(?:://|@)|www\.|mailto:", written)
    assert MarkdownIt().render(written) == f"<p>{word}</p>\n"


def test_html_is_escaped() -> None:
    html = made()._repr_html_()
    assert "<p>Two &lt;words&gt;.</p>" in html
    assert "<h4>Doubts</h4><ul><li>The chains disagree.</li></ul>" in html
    assert (
        render_html([StatementList("<b>", (Statement("data", "x"),), bulleted=False)]) == "<h4>&lt;b&gt;</h4><p>x</p>"
    )


def test_json_has_every_field_and_only_numbers_that_json_has() -> None:
    loaded = json.loads(json.dumps(made().to_dict(), allow_nan=False))
    assert loaded["verdict"] == {"kind": "nothing", "text": "Nothing is shown.", "numbers": {"settled": {}}}
    assert loaded["shown"][0]["numbers"] == {"mean": 0.25, "observed": None, "words": ["a", "b"]}
    assert plain({"a": {2}, 1: np.int64(3), "b": (np.bool_(True), np.inf)}) == {"a": [2], "1": 3, "b": [True, None]}


def test_what_is_empty_is_not_titled() -> None:
    nothing = Conclusions(made().about, (), made().verdict, (), ())
    assert [part.title for part in nothing.parts] == ["", "What the posterior shows"]
    assert repr(nothing) == "Conclusions('Nothing is shown.', 0 shown, 0 doubts)"
    assert render_text([]) == ""
