"""Templates: bundled sets, lists of one's own, and a list for each word."""

import pytest

import bayesbias as bb
from bayesbias.embeddings.templates import templates_of_words
from bayesbias.errors import ArgumentError


@pytest.mark.parametrize("part", ["any", "name", "noun", "plural", "adjective", "verb"])
def test_bundled_templates_hold_the_word_once(part):
    templates = bb.embeddings.load_templates(part)
    assert len(set(templates)) == len(templates) >= 6
    assert all(template.count("WORD") == 1 for template in templates)


def test_each_word_may_have_its_own_sentences():
    templates = {"Ann": ["WORD is here.", "This is WORD."], "run": ["They WORD."]}
    assert templates_of_words(["Ann", "run"], templates) == {
        "Ann": ("WORD is here.", "This is WORD."), "run": ("They WORD.",),
    }  # fmt: skip
    with pytest.raises(ArgumentError, match="'swim'"):
        templates_of_words(["Ann", "swim"], templates)


@pytest.mark.parametrize(
    ("templates", "fact"),
    [(["This is it."], "'This is it.'"), (["WORD WORD"], "'WORD WORD'"), ([], "WORD"), ("no_set", "adjective")],
)
def test_templates_without_a_place_are_refused(templates, fact):
    with pytest.raises(ArgumentError, match=fact):
        templates_of_words(["Ann"], templates)
