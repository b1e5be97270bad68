"""Templates: sentences with a place for a word, bundled or your own."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from bayesbias.base.checks import check_choice, check_items, is_text
from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.base.files.vector_cache import vector_key
from bayesbias.base.machine import check_memory
from bayesbias.base.number_text import counted
from bayesbias.errors import ArgumentError, did_you_mean, name_some
from bayesbias.studies.study import StudyLike, load_study

_OTHER = "other"
_MOST = 1000
_BYTES_A_TEXT, _BYTES_A_LETTER = 500, 4  # of a sentence, with its key in a cache
MARK = "WORD"
"""Placeholder of the word in a template."""
IN_SENTENCES = "in sentences of "
"""Beginning of the step of an embedding that says in which sentences its words were encoded."""

type TemplatesLike = str | Iterable[str] | Mapping[str, str | Iterable[str]]
"""Templates for all words: the name of a bundled set or a list of sentences. Or a mapping of each word to either."""


def load_templates(part: str = "any") -> tuple[str, ...]:
    """Return bundled templates: sentences with little meaning of their own in which ``WORD`` stands for a word.

    Parameters
    ----------
    part
        Part of speech for which the sentences are correct: ``"any"`` (default), ``"name"``, ``"noun"``, ``"plural"``,
        ``"adjective"`` or ``"verb"``.

    Returns
    -------
    tuple of str
        Sentences, each with ``WORD`` once.

    Raises
    ------
    ArgumentError
        If there is no such part.

    References
    ----------
    May, Wang, Bordia, Bowman and Rudinger (2019). On measuring social biases in sentence encoders. NAACL.

    Examples
    --------
    >>> bb.embeddings.load_templates("name")[-2:]
    ('WORD is a person.', "The person's name is WORD.")
    """
    sets = _bundled_sets()
    check_choice("part", part, tuple(sets))
    return tuple(sets[part])


@cache
def _bundled_sets() -> dict[str, list[str]]:
    """Return the bundled sets by part of speech; the file is read once, not for each of thousands of words."""
    sets: dict[str, list[str]] = read_toml(bundled("data", "templates", "seat.toml"), ArgumentError)["templates"]
    return sets


def templates_of_words(words: list[str], templates: TemplatesLike) -> dict[str, tuple[str, ...]]:
    """Return the templates of each word.

    Raises `ArgumentError` if a template does not hold ``WORD`` exactly once, or words have no templates. Raises
    `NotEnoughMemoryError` if all sentences would not fit into the free memory.
    """
    sentences = _templates_of_words(words, templates)
    letters = {listed: sum(map(len, listed)) for listed in set(sentences.values())}
    needed = sum(
        letters[listed] + len(listed) * (len(word) + _BYTES_A_TEXT / _BYTES_A_LETTER)
        for word, listed in sentences.items()
    )
    check_memory(_BYTES_A_LETTER * needed, "The sentences of all words", "Take fewer words, or fewer templates.")
    return sentences


def _templates_of_words(words: list[str], templates: TemplatesLike) -> dict[str, tuple[str, ...]]:
    if isinstance(templates, Mapping):
        if lacking := [word for word in words if word not in templates]:
            raise ArgumentError(
                f"templates has no sentences for {name_some(map(repr, lacking))}. Give some for every word, or one "
                "list for all."
            )
        return {word: _listed(templates[word]) for word in words}
    return dict.fromkeys(words, _listed(templates))


def template_steps(sentences: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the step of an embedding that records the templates of its words; none if each word stands alone.

    The same templates for all words have the same hash, whichever the words are.

    >>> template_steps({"cat": (MARK,)})
    ()
    >>> template_steps({"cat": ("A WORD.", "The WORD.")}) == template_steps({"dog": ("A WORD.", "The WORD.")})
    True
    """
    different = set(sentences.values())
    if different == {(MARK,)}:
        return ()
    digest = vector_key(*(different if len(different) == 1 else sorted(sentences.items()))).hex()[:16]
    counts = sorted({len(listed) for listed in different})
    text = counted(counts[0], "template") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} templates"
    return (f"{IN_SENTENCES}{text} (hash {digest})",)


def templates_by_list(study: StudyLike, templates: Mapping[str, str | Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Return the templates of a study's words, chosen for each of its lists, such as by part of speech.

    Parameters
    ----------
    study
        Study, or the name or path of one.
    templates
        Name of a list of the study (protected and attribute groups, ``"human"``, ``"neutral"``) -> sentences, or the
        name of a bundled set (`load_templates`). ``"other"`` stands for all lists that are not named.

    Returns
    -------
    dict
        Word -> its sentences, for `encode`.

    Raises
    ------
    ArgumentError
        If a list has no templates, or the study has no such list.

    Notes
    -----
    A contrast compares lists with each other. Different sentences for these lists would themselves change it: give
    lists that are compared the same sentences.

    Examples
    --------
    >>> sets = {"male_names": "name", "female_names": "name", "other": "noun"}
    >>> chosen = bb.embeddings.templates_by_list("weat6", sets)
    >>> chosen["John"][-1], chosen["executive"][-1]
    ("The person's name is WORD.", 'A WORD is a thing.')
    """
    loaded = load_study(study)
    lists = {**loaded.protected, **loaded.attribute_lists}
    if strange := [name for name in templates if name not in lists and name != _OTHER]:
        raise ArgumentError(
            f"templates: the study {loaded.name!r} has no list {strange[0]!r}{did_you_mean(strange[0], lists)}. Its "
            f"lists are {name_some(lists)}; {_OTHER!r} stands for those that are not named."
        )
    if lacking := [name for name in lists if name not in templates and _OTHER not in templates]:
        raise ArgumentError(f"templates: {name_some(map(repr, lacking))} have none. Add them, or {_OTHER!r} for all.")
    listed = {name: _listed(sentences) for name, sentences in templates.items()}
    return {word: listed[name if name in listed else _OTHER] for name, words in lists.items() for word in words}


def _listed(templates: Any) -> tuple[str, ...]:
    return load_templates(templates) if isinstance(templates, str) else checked_templates(templates)


def checked_templates(templates: Any, *, argument: str = "templates") -> tuple[str, ...]:
    """Return distinct templates; raise `ArgumentError` if one does not hold the placeholder once, or at over 1,000."""
    candidates = check_sentences(argument, templates)
    for template in candidates:
        if not is_text(template) or template.count(MARK) != 1:
            raise ArgumentError(
                f"{argument}: the template {template!r:.60} must hold {MARK} once, as 'This is {MARK}.'"
            )
    if not candidates:
        raise ArgumentError(f"{argument} is empty. Give sentences that hold {MARK}, such as 'This is {MARK}.'")
    return tuple(dict.fromkeys(candidates))


def check_sentences(argument: str, sentences: Any) -> list[Any]:
    """Return the items of a list of sentences with places for words; raise `ArgumentError` at over 1,000."""
    items = check_items(argument, sentences, "a list of sentences")
    if len(items) > _MOST:
        raise ArgumentError(f"{argument}: {len(items):,} sentences are more than {_MOST:,}. Give fewer.")
    return items
