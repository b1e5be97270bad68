"""Sentences with a place for a protected word and one for an attribute word, and the rules by which words fit in.

The rules are those of English: the first letter of a sentence is a capital, and "a" becomes "an" before a vowel.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bayesbias.base.checks import check_choice, is_text
from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.embeddings.templates import check_sentences
from bayesbias.errors import ArgumentError, QuestionWarning, name_some, warn_user

PROTECTED, ATTRIBUTE = "PROTECTED", "ATTRIBUTE"
"""Placeholders of the two words of a pair in a template."""

_PLACE = re.compile(f"(?<!\\w)({PROTECTED}|{ATTRIBUTE})(?!\\w)")
_ARTICLE = re.compile(r"(?<!\w)([Aa])n?(\s+)$")
# Words that are spelled with a vowel and begin with the sound of "you" or "one", and those with a silent h.
_AS_CONSONANT = re.compile(r"(?:eu|ew|one(?!r)|once|ouija|u[bcfkqrst][aeiou]|uni(?!n|m)|usu|uto)", re.IGNORECASE)
_SILENT = re.compile(r"(?:heir|honest|hono|hour)", re.IGNORECASE)
_SINGULAR = re.compile(r"(?<!\w)(?:an?|every|each|one)\s+$", re.IGNORECASE)
_PLURAL = re.compile(r"(?<=[a-rt-z])(?<!i)(?<!u)s$")
_LONGEST = 10_000  # letters of a template, which is read with each word
_OPENING = "\"'([{\u2018\u201c\u00ab\u00bf\u00a1"


@dataclass(frozen=True)
class Prompt:
    """A sentence with a place for a word, and the words whose probabilities there are compared.

    - `before`, `after`: the text before the place, and the text after it.
    - `words`: candidates as they are written in this place, such as "He" at the beginning of a sentence.
    """

    before: str
    after: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class WordPlace:
    """A template from the view of one protected word: its text around the place of the attribute word."""

    before: str
    after: str

    def prompts(self, words: Sequence[str]) -> list[tuple[Prompt, list[int]]]:
        """Return one prompt for each text before the place, with the positions of its words in `words`."""
        starts = _starts_sentence(self.before)
        positions: dict[str, list[int]] = {}
        for position, word in enumerate(words):
            positions.setdefault(_with_article(self.before, word), []).append(position)
        return [
            (
                Prompt(
                    before, self.after, tuple(_capital(words[place]) if starts else words[place] for place in places)
                ),
                places,
            )
            for before, places in positions.items()
        ]


def pair_templates(templates: str | Iterable[str]) -> tuple[str, ...]:
    """Return distinct templates with the places PROTECTED and ATTRIBUTE, each once.

    - `templates`: sentences, or the name of a bundled set (`load_pair_templates`).

    Raises `ArgumentError` if a template lacks a place, has one twice, or joins it to other letters; or at over 1,000.
    """
    if isinstance(templates, str):
        return load_pair_templates(templates)
    sentences = check_sentences("templates", templates)
    for sentence in sentences:
        places = places_in(sentence) if is_text(sentence) else []
        if sorted(places) != [ATTRIBUTE, PROTECTED] or "\n" in sentence:
            raise ArgumentError(
                f"templates: {sentence!r:.80} must be one line that holds {PROTECTED} once and {ATTRIBUTE} once, each "
                f"as a word of its own, as in 'The {PROTECTED} said that {ATTRIBUTE} was tired.'"
            )
        if len(sentence) > _LONGEST:
            raise ArgumentError(
                f"templates: {sentence!r:.80}... has {len(sentence):,} letters, and may have {_LONGEST:,}."
            )
    if not sentences:
        raise ArgumentError(f"templates is empty. Give sentences such as 'The {PROTECTED} is {ATTRIBUTE}.'")
    return tuple(dict.fromkeys(sentence.strip() for sentence in sentences))


def load_pair_templates(name: str = "pronouns") -> tuple[str, ...]:
    """Return bundled templates with the places PROTECTED and ATTRIBUTE, for `surprisal_table`.

    Parameters
    ----------
    name
        Kind of question: ``"pronouns"`` (default; protected words are occupations, attribute words "he" and "she"),
        ``"nouns"`` (both are nouns, such as occupations by "man" and "woman"), ``"traits"`` (protected words are nouns
        for people in the singular, attribute words adjectives), or ``"names"`` (protected words are first names,
        attribute words nouns for people).

    Returns
    -------
    tuple of str
        Sentences.

    Raises
    ------
    ArgumentError
        If there is no such set.

    Examples
    --------
    >>> bb.embeddings.load_pair_templates("pronouns")[0]
    'The PROTECTED said that ATTRIBUTE was tired.'
    """
    sets = read_toml(bundled("data", "templates", "pairs.toml"), ArgumentError)["templates"]
    check_choice("templates", name, tuple(sets))
    return tuple(sets[name])


def places_in(template: str) -> list[str]:
    """Return the placeholders of a template in their order.

    >>> places_in("PROTECTED has ATTRIBUTES of ATTRIBUTE.")
    ['PROTECTED', 'ATTRIBUTE']
    """
    return _PLACE.findall(template)


def mirrored(template: str) -> str:
    """Return a template with its two places exchanged.

    >>> mirrored("PROTECTED has ATTRIBUTES of ATTRIBUTE.")
    'ATTRIBUTE has ATTRIBUTES of PROTECTED.'
    """
    return _PLACE.sub(lambda place: PROTECTED if place.group() == ATTRIBUTE else ATTRIBUTE, template)


def fill_protected(template: str, word: str) -> WordPlace:
    """Return a template with a protected word in its place, split at the place of the attribute word.

    >>> fill_protected("A PROTECTED met the ATTRIBUTE.", "engineer")
    WordPlace(before='An engineer met the ', after='.')
    """
    start, first, middle, _, end = _PLACE.split(template)
    text = start if first == PROTECTED else start + ATTRIBUTE + middle
    written = _with_article(text, word) + (_capital(word) if _starts_sentence(text) else word)
    if first == PROTECTED:
        return WordPlace(written + middle, end)
    return WordPlace(start, written.removeprefix(start + ATTRIBUTE) + end)


def warn_of_plurals(templates: Sequence[str], words_at: Callable[[str], Iterable[str]]) -> None:
    """Warn of words that look like plurals after "a", "every" and the like.

    `words_at` gives the words of a placeholder.
    """
    for template in templates:
        for match in _PLACE.finditer(template):
            if not _SINGULAR.search(template[: match.start()]):
                continue
            if plurals := [word for word in words_at(match.group()) if _PLURAL.search(word)]:
                like = f"look{'s' if len(plurals) == 1 else ''} like a plural"
                warn_user(
                    f"The template {template!r} wants a singular for {match.group()}, and "
                    f"{name_some(map(repr, plurals), 3)} {like}. A wrong sentence measures its fault as well: give "
                    "templates without the article, or singular words.",
                    QuestionWarning,
                )
                return


def _with_article(before: str, word: str) -> str:
    """Return a text whose last word, if it is "a" or "an", agrees with the word that follows.

    >>> [_with_article("It was a ", word) for word in ("nurse", "engineer", "user", "heir")]
    ['It was a ', 'It was an ', 'It was a ', 'It was an ']
    """
    if not (article := _ARTICLE.search(before)):
        return before
    vowel = _SILENT.match(word) or (word[:1].lower() in "aeiou" and not _AS_CONSONANT.match(word))
    return before[: article.start()] + article.group(1) + ("n" if vowel else "") + article.group(2)


def _starts_sentence(before: str) -> bool:
    """Return whether a word after this text begins a sentence.

    >>> [_starts_sentence(before) for before in ("", '"', "The ", "It rains. ")]
    [True, True, False, True]
    """
    text = before.rstrip().rstrip(_OPENING).rstrip()
    return not text or text[-1] in ".!?"


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
