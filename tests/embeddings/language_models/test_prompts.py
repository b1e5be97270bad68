"""Templates with two places: grammar by rule, and what is refused."""

import pytest

import bayesbias as bb
from bayesbias.embeddings.language_models.prompts import (
    ATTRIBUTE,
    PROTECTED,
    Prompt,
    fill_protected,
    pair_templates,
    warn_of_plurals,
)
from bayesbias.errors import ArgumentError, QuestionWarning


@pytest.mark.parametrize(
    ("template", "word", "expected"),
    [
        ("A PROTECTED met the ATTRIBUTE.", "engineer", [("An engineer met the ", ".", ("man", "ox"))]),
        ("ATTRIBUTE is a PROTECTED.", "user", [("", " is a user.", ("Man", "Ox"))]),
        (
            "PROTECTED is a ATTRIBUTE.",
            "john",
            [("John is a ", ".", ("man",)), ("John is an ", ".", ("ox",))],
        ),
        ("It rains. PROTECTED left ATTRIBUTE.", "heir", [("It rains. Heir left ", ".", ("man", "ox"))]),
        ("The ATTRIBUTE ATTRIBUTES PROTECTED", "dog", [("The ", " ATTRIBUTES dog", ("man", "ox"))]),
    ],
)
def test_words_fit_into_their_places(
    template: str, word: str, expected: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    prompts = fill_protected(template, word).prompts(["man", "ox"])
    assert [prompt for prompt, _ in prompts] == [Prompt(*texts) for texts in expected]
    assert sorted(place for _, places in prompts for place in places) == [0, 1]


def test_a_word_that_reads_like_a_placeholder_is_a_word() -> None:
    assert fill_protected("The PROTECTED saw ATTRIBUTE.", ATTRIBUTE).before == f"The {ATTRIBUTE} saw "


@pytest.mark.parametrize("name", ["pronouns", "nouns", "traits", "names"])
def test_bundled_sets_are_valid_and_have_eight_templates_or_more(name: str) -> None:
    sentences = bb.embeddings.load_pair_templates(name)
    assert pair_templates(list(sentences)) == pair_templates(name) == sentences
    assert len(sentences) >= 8
    if name != "names":  # a causal model reads them from the left
        assert sum(text.index(PROTECTED) < text.index(ATTRIBUTE) for text in sentences) >= 6


@pytest.mark.parametrize(
    "templates",
    [
        ["PROTECTED ATTRIBUTE" + 10_000 * "x"],
        ["The PROTECTED left."],
        ["PROTECTED PROTECTED ATTRIBUTE"],
        ["PROTECTEDs are ATTRIBUTE"],
        [5],
        [],
    ],
)
def test_other_templates_are_refused(templates: list[object]) -> None:
    with pytest.raises(ArgumentError, match=r"templates.*PROTECTED"):
        pair_templates(templates)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="pronouns"):
        pair_templates("pronoun")


def test_plurals_after_an_article_are_named() -> None:
    words = {PROTECTED: ["nurse", "waitress"], ATTRIBUTE: ["doctors", "boss", "bus", "girls"]}
    with pytest.warns(QuestionWarning, match="'doctors', 'girls' look like a plural"):
        warn_of_plurals(["The PROTECTED saw a ATTRIBUTE."], words.__getitem__)
    warn_of_plurals(["A PROTECTED saw the ATTRIBUTE."], words.__getitem__)
