"""The word lists of debiasing methods: what defines the bias, and which words it is removed from."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Required, TypedDict

from bayesbias.base.files.inputs import bundled, printable
from bayesbias.base.files.settings import read_declared_toml
from bayesbias.base.number_text import counted
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.vocabularies import forms
from bayesbias.errors import LostWordsWarning, MeasureError, did_you_mean, name_some, warn_user

Sets = Sequence[Sequence[str]]
_SPELLINGS = ("exact", "lower", "title", "upper")
_TWO_LISTS = ("sides",)
_MEANINGS = {
    "sides": "two lists of words, one for each side, such as [['woman', 'aunt'], ['man', 'uncle']]",
    "names": "lists of names, one for each group, such as [['Mary', 'Linda'], ['John', 'James']]",
    "concept": "the words of a concept to be made free of bias, such as occupations",
}


class _WordsFile(TypedDict, total=False):
    name: str
    description: str
    source: str
    definitional: Required[list[list[str]]]
    equalize: list[list[str]]
    specific: list[str]
    sides: list[list[str]]
    names: list[list[str]]
    concept: list[str]


@dataclass(frozen=True, repr=False)
class DebiasWords(Described):
    """Word lists of debiasing methods, such as definitional sets (he, she), (king, queen).

    Parameters
    ----------
    name
        Name of the bias, such as "gender"; part of the name of the debiased embedding.
    definitional
        Sets of at least two words that differ in nothing but the bias; they define the bias subspace.
    equalize
        Sets whose words hard debiasing places at the same distance from every neutral word. None (default):
        `definitional`.
    specific
        Words whose meaning includes the bias (such as "beard"), which hard debiasing leaves unchanged.
    sides
        A list of such words for each side (feminine words, masculine words), in the order of the definitional sets.
    names
        A list of names for each side or group, in the same order: first names, or other words that stand for a group.
    concept
        Words of a concept to be made free of the bias, such as occupations.
    description, source
        Text for readers.

    Raises
    ------
    MeasureError
        If there is no definitional set, a set or list has fewer than two different words, a word is in two lists, or a
        word is not a string.

    Examples
    --------
    >>> DebiasWords("gender", definitional=[["he", "she"], ["man", "woman"]]).equalize
    (('he', 'she'), ('man', 'woman'))
    """

    name: str
    definitional: Sets
    equalize: Sets | None = None
    specific: Sequence[str] = ()
    sides: Sets = ()
    names: Sets = ()
    concept: Sequence[str] = ()
    description: str = ""
    source: str = ""

    @property
    def _facts(self) -> Facts:
        return {
            "name": self.name,
            "definitional": self.definitional,
            "equalize": self.equalize,
            "specific": self.specific,
            "sides": tuple(map(len, self.sides)),
            "names": tuple(map(len, self.names)),
            "concept": self.concept,
        }

    def __post_init__(self) -> None:
        definitional = _checked(self.definitional, "definitional")
        if not definitional:
            raise MeasureError("There is no definitional set. Give at least one, such as ['he', 'she'].")
        equalize = definitional if self.equalize is None else _checked(self.equalize, "equalize")
        object.__setattr__(self, "definitional", definitional)
        object.__setattr__(self, "equalize", equalize)
        for field in ("specific", "concept"):
            object.__setattr__(self, field, _texts(getattr(self, field), field))
        for field in ("sides", "names"):
            lists = _checked(getattr(self, field), field)
            _check_apart(lists, field)
            object.__setattr__(self, field, lists)
        if shared := {*_flat((*definitional, *self.sides))} & set(self.concept):
            raise MeasureError(
                f"{min(shared)!r} is in `concept` and also in `definitional` or `sides`. Remove it from `concept`."
            )

    @property
    def largest_set_size(self) -> int:
        """Number of words in the largest definitional set."""
        return max(map(len, self.definitional))

    @property
    def non_neutral(self) -> tuple[str, ...]:
        """Specific and definitional words: all others are neutral."""
        return (*self.specific, *_flat(self.definitional))


type DebiasWordsLike = str | os.PathLike[str] | DebiasWords | Sets
"""A name of `list_debias_words`, a path of a TOML file, `DebiasWords`, or a list of definitional sets."""


def list_debias_words() -> list[str]:
    """Return the names of the bundled word lists for debiasing.

    >>> list_debias_words()
    ['gender_bolukbasi', 'gender_manzini', 'race_manzini', 'religion_manzini']
    """
    return sorted(path.stem for path in bundled("data", "debias").glob("*.toml"))


def load_debias_words(source: str | os.PathLike[str] | DebiasWords) -> DebiasWords:
    """Return bundled word lists for debiasing, or those of a TOML file.

    Parameters
    ----------
    source
        A name of `list_debias_words`, the path of a TOML file with the fields of `DebiasWords`, or a `DebiasWords`.

    Raises
    ------
    MeasureError
        If there are no such word lists, or they are not usable.
    InputFileError
        If the file cannot be opened.

    Examples
    --------
    >>> load_debias_words("religion_manzini").definitional[0]
    ('judaism', 'christianity', 'islam')
    """
    if isinstance(source, DebiasWords):
        return source
    bundled_names, name = list_debias_words(), os.fspath(source)
    if name not in bundled_names and not name.endswith(".toml"):
        raise MeasureError(
            f"There are no word lists {name!r} for debiasing{did_you_mean(name, bundled_names)}. Bundled are "
            f"{', '.join(bundled_names)}. Give one of these, the path of a .toml file, DebiasWords, or a list of sets."
        )
    path = bundled("data", "debias", f"{name}.toml") if name in bundled_names else Path(name)
    fields: dict[str, Any] = {"name": printable(path.stem), **read_declared_toml(path, _WordsFile, MeasureError)}
    try:
        return DebiasWords(**fields)
    except MeasureError as error:
        raise MeasureError(f"{path}: {error}") from error


def as_debias_words(sets: DebiasWordsLike, *, equalize: Sets | None = None, name: str | None = None) -> DebiasWords:
    """Return a name, a path, `DebiasWords` or plain sets as `DebiasWords`."""
    if isinstance(sets, str | os.PathLike | DebiasWords):
        words = load_debias_words(sets)
        return replace(words, name=name or words.name, equalize=words.equalize if equalize is None else equalize)
    return DebiasWords(name or "custom words", sets, equalize)


def check_has(words: DebiasWords, field: str, method: str) -> None:
    """Raise `MeasureError` if word lists lack a list that a method needs, or one for each of two sides."""
    lists: Sets = getattr(words, field)
    if not lists or (field in _TWO_LISTS and len(lists) != 2):
        raise MeasureError(
            f"{method} needs {_MEANINGS[field]}; the words of {words.name!r} have {len(lists) or 'none'}. Give "
            f"`{field}` in DebiasWords or in the .toml file; the bundled 'gender_bolukbasi' is an example."
        )


def words_in(embedding: Embedding, words: Sequence[str], what: str, *, least: int = 2) -> list[str]:
    """Return the words of a list that the embedding has, in its spelling: "Mary" finds "mary" too.

    Raises `MeasureError` if the embedding has fewer than `least` of them.

    Gives a `LostWordsWarning` if the embedding lacks some of them.
    """
    looked_up, vocabulary = embedding.lookup(words).matches, set(embedding.words)
    candidates = ([looked_up[word]] if word in looked_up else forms(word, _SPELLINGS) for word in words)
    spellings = [next((form for form in word_forms if form in vocabulary), None) for word_forms in candidates]
    lost = [word for word, form in zip(words, spellings, strict=True) if form is None]
    present = list(dict.fromkeys(form for form in spellings if form is not None))
    if len(present) < least:
        raise MeasureError(
            f"The embedding {embedding.name!r} has {len(present)} of the {counted(len(words), 'word')} of {what}, and "
            f"{least} are needed: it lacks {name_some(lost)}. Give words that it has, or load more of its words."
        )
    if lost:
        warn_user(
            f"The embedding {embedding.name!r} lacks {len(lost)} of the {counted(len(words), 'word')} of {what} "
            f"({name_some(lost)}).",
            LostWordsWarning,
        )
    return present


def sets_in(embedding: Embedding, sets: Sets) -> tuple[tuple[str, ...], ...]:
    """Return the definitional sets of which the embedding has all words, in its spelling; warn of the others."""
    look_up = embedding.lookup(_flat(sets))
    complete = [words for words in sets if not set(words) & set(look_up.lost)]
    if look_up.lost:
        warn_user(
            f"The embedding {embedding.name!r} lacks {len(look_up.lost)} of the definitional words "
            f"({name_some(look_up.lost)}): left out {len(sets) - len(complete)} of {counted(len(sets), 'set')}.",
            LostWordsWarning,
        )
    # Under a case rule that lowers words, ("He", "She") is the same set as ("he", "she").
    return tuple(dict.fromkeys(tuple(look_up.matches[word] for word in words) for words in complete))


def spelled(words: Iterable[str]) -> list[str]:
    """Return words in all spellings that have the same meaning.

    >>> spelled(["actress", "He"])
    ['actress', 'Actress', 'ACTRESS', 'He', 'he', 'HE']
    """
    return [form for word in words for form in forms(word, _SPELLINGS)]


def spelled_sets_in(embedding: Embedding, sets: Sets) -> tuple[tuple[str, ...], ...]:
    """Return the sets to equalize, in each spelling of which the embedding has all words; warn of sets without one.

    No word is in two of them.
    """
    vocabulary, complete, missing = set(embedding.words), dict[tuple[str, ...], None](), []
    for words in sets:
        look_up = embedding.lookup(words)
        spellings = [] if look_up.lost else [tuple(look_up.matches[word] for word in words)]
        spellings += [tuple(form for word in words for form in forms(word, [name])) for name in _SPELLINGS]
        present = [spelling for spelling in dict.fromkeys(spellings) if vocabulary.issuperset(spelling)]
        taken = set(_flat(complete))
        complete |= dict.fromkeys(spelling for spelling in present if taken.isdisjoint(spelling))
        if not present:
            missing.append((*look_up.lost, *words)[0])
    if missing:
        warn_user(
            f"The embedding {embedding.name!r} lacks words ({name_some(missing)}): left out {len(missing)} of "
            f"{counted(len(sets), 'set')} to equalize.",
            LostWordsWarning,
        )
    return tuple(complete)


def _flat(lists: Iterable[Sequence[str]]) -> list[str]:
    return [word for words in lists for word in words]


def _checked(sets: object, what: str) -> tuple[tuple[str, ...], ...]:
    if isinstance(sets, str) or not isinstance(sets, Iterable):
        raise MeasureError(f"The {what} sets must be a list of sets of words, not {sets!r}.")
    checked = []
    for number, words in enumerate(sets, start=1):
        if isinstance(words, str):
            raise MeasureError(f"The {what} set {number} is a string, {words[:40]!r}. Give a list of words.")
        texts = _texts(words, f"{what} set {number}")
        if len(texts) < 2 or len(set(texts)) < len(texts):
            raise MeasureError(f"The {what} set {number} is {list(texts)}. Give at least two different words.")
        checked.append(texts)
    return tuple(checked)


def _texts(words: object, what: str) -> tuple[str, ...]:
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise MeasureError(f"The words of {what} must be a list, not {words!r}.")
    texts = tuple(words)
    for word in texts:
        if not isinstance(word, str) or not word.strip():
            raise MeasureError(f"The words of {what} must be strings that are not blank, not {word!r}.")
    return texts


def _check_apart(lists: Sets, what: str) -> None:
    if len(lists) == 1:
        raise MeasureError(f"`{what}` has one list. Give one for each side, as a list of lists.")
    list_of_word: dict[str, int] = {}
    for number, words in enumerate(lists, start=1):
        for word in words:
            if list_of_word.setdefault(word, number) != number:
                raise MeasureError(
                    f"{word!r} is in lists {list_of_word[word]} and {number} of `{what}`. Remove it from one."
                )


def check_disjoint(sets: Sets) -> None:
    """Raise `MeasureError` if a word is in two different sets to equalize."""
    seen: dict[str, tuple[str, ...]] = {}
    for words in dict.fromkeys(map(tuple, sets)):
        for word in words:
            if word in seen:
                raise MeasureError(
                    f"{word!r} is in two sets to equalize, {list(seen[word])} and {list(words)}: equalizing the second "
                    "would undo the first. Give `equalize` with each word once (an empty list equalizes none)."
                )
            seen[word] = words
