"""Templates: sentences with a place for a word, bundled or of one's own."""

from collections.abc import Iterable, Mapping
from typing import Any

from bayesbias.base.checks import check_choice, check_items, is_text
from bayesbias.base.files import bundled, read_toml
from bayesbias.errors import ArgumentError, name_some

MARK = "WORD"
"""Placeholder of the word in a template."""

type TemplatesLike = str | Iterable[str] | Mapping[str, Iterable[str]]
"""Templates for all words: the name of a bundled set or a list of sentences. Or a mapping of each word to its list."""


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
    sets = read_toml(bundled("data", "templates", "seat.toml"), ArgumentError)["templates"]
    check_choice("part", part, tuple(sets))
    return tuple(sets[part])


def templates_of_words(words: list[str], templates: TemplatesLike) -> dict[str, tuple[str, ...]]:
    """Return the templates of each word.

    Raises
    ------
    ArgumentError
        If a template does not hold ``WORD`` exactly once, or words have no templates.
    """
    if isinstance(templates, Mapping):
        if lacking := [word for word in words if word not in templates]:
            raise ArgumentError(
                f"templates has no sentences for {name_some(map(repr, lacking))}. Give some for every word, or one "
                "list for all."
            )
        return {word: checked_templates(templates[word]) for word in words}
    common = load_templates(templates) if isinstance(templates, str) else checked_templates(templates)
    return dict.fromkeys(words, common)


def checked_templates(templates: Any, *, argument: str = "templates") -> tuple[str, ...]:
    """Return distinct templates; raise `ArgumentError` if one does not hold the placeholder once."""
    candidates = check_items(argument, templates, "a list of sentences")
    for template in candidates:
        if not is_text(template) or template.count(MARK) != 1:
            raise ArgumentError(
                f"{argument}: the template {template!r:.60} must hold {MARK} once, as 'This is {MARK}.'"
            )
    if not candidates:
        raise ArgumentError(f"{argument} is empty. Give sentences that hold {MARK}, such as 'This is {MARK}.'")
    return tuple(dict.fromkeys(candidates))
