"""Templates: bundled sets, lists of one's own, and a list for each word."""

import pytest

import bayesbias as bb
from bayesbias.base import machine as memory
from bayesbias.embeddings import templates as template_files
from bayesbias.embeddings.language_models.prompts import pair_templates
from bayesbias.embeddings.templates import template_steps, templates_of_words
from bayesbias.errors import ArgumentError, NotEnoughMemoryError


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


def test_lists_of_a_study_have_templates_by_part_of_speech():
    chosen = bb.embeddings.templates_by_list(
        "weat6", {"male_names": "name", "female_names": "name", "other": ["WORD."]}
    )
    assert set(chosen) == set(bb.load_study("weat6").words)
    assert chosen["Amy"] == bb.embeddings.load_templates("name")
    assert chosen["executive"] == ("WORD.",)


@pytest.mark.parametrize(
    ("templates", "fact"),
    [({"male": "name", "other": "noun"}, "male_names"), ({"male_names": "name"}, "'female_names'")],
)
def test_lists_that_are_not_there_or_have_no_templates_are_refused(templates, fact):
    with pytest.raises(ArgumentError, match=fact):
        bb.embeddings.templates_by_list("weat6", templates)


def test_sentences_of_all_words_are_counted_before_they_are_made(monkeypatch):
    sentences = [f"{number} {1000 * 'a'} WORD." for number in range(100)]
    monkeypatch.setattr(memory, "free_memory", lambda: 1_000_000)
    assert len(templates_of_words(["king"], sentences)["king"]) == 100
    with pytest.raises(NotEnoughMemoryError, match="Take fewer words, or fewer templates"):
        templates_of_words(["king", "queen", "man"], sentences)


def test_the_step_of_templates_follows_the_sentences_of_each_word() -> None:
    one, two = ("A WORD.",), ("WORD is here.", "The WORD.")
    (step,) = template_steps({"cat": one, "dog": two})
    assert "1 to 2 templates" in step
    assert template_steps({"dog": two, "cat": one}) == (step,)
    assert template_steps({"cat": two, "dog": one}) != (step,)
    assert "2 templates" in template_steps({"cat": two})[0]


def test_templates_have_a_limit() -> None:
    with pytest.raises(ArgumentError, match="templates: 1,001 sentences are more than 1,000"):
        templates_of_words(["king"], ["A WORD."] * 1001)
    with pytest.raises(ArgumentError, match="templates: 1,001 sentences are more than 1,000"):
        pair_templates(["The PROTECTED is ATTRIBUTE."] * 1001)


def test_bundled_templates_are_read_once_for_thousands_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading and checking them for each of 10,000 words took half a minute."""
    reads: list[object] = []
    read = template_files.read_toml
    monkeypatch.setattr(template_files, "read_toml", lambda *given: reads.append(given) or read(*given))
    template_files._bundled_sets.cache_clear()
    words = [f"w{place}" for place in range(100)]
    assert set(templates_of_words(words, dict.fromkeys(words, "noun")).values()) == {
        bb.embeddings.load_templates("noun")
    }
    assert len(reads) == 1


def test_sentences_of_many_lists_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checks: list[object] = []
    check = template_files.checked_templates
    monkeypatch.setattr(template_files, "checked_templates", lambda given: checks.append(given) or check(given))
    lists = {f"list {place}": [f"w{place}"] for place in range(100)}
    study = bb.Study(
        name="x", protected={"a": ["x"]}, attributes=lists, associated=[("a", "list 0")], human="none", neutral="none"
    )
    chosen = bb.embeddings.templates_by_list(study, {"other": ["This is WORD."], "a": ["A WORD."]})
    assert chosen["x"] == ("A WORD.",)
    assert {chosen[f"w{place}"] for place in range(100)} == {("This is WORD.",)}
    assert len(checks) == 2
