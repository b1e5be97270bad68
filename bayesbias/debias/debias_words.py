"""The words that define what a debiasing method removes, and from which words it does not."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bayesbias.base.files import bundled, read_toml
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.case_rules import forms
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import LostWordsWarning, MeasureError, did_you_mean, name_some, warn_user

Sets = Sequence[Sequence[str]]
_SPELLINGS = ("exact", "lower", "title", "upper")
_TEXTS = ("name", "description", "source")
_LISTS = ("definitional", "equalize", "specific", "sides", "names", "concept")
_MEANINGS = {
    "sides": "the words of each side, such as [['woman', 'aunt'], ['man', 'uncle']]",
    "names": "two lists of names, one for each side, such as [['Mary', 'Linda'], ['John', 'James']]",
    "concept": "the words of the concept that is to be free of it, such as occupations",
}


@dataclass(frozen=True, repr=False)
class DebiasWords(Described):
    """Words that define what is removed: sets that differ in nothing else, such as (he, she), (king, queen).

    Parameters
    ----------
    name
        What is removed; it becomes part of the name of the debiased embedding.
    definitional
        Sets of at least two words each, from which the bias subspace is found.
    equalize
        Sets whose words hard debiasing makes equally near to every neutral word. None (default): `definitional`.
    specific
        Words that mean what is removed (such as "beard"), which hard debiasing therefore leaves as they are.
    sides
        A list of such words for each side (feminine words, masculine words), in the order of the definitional sets.
    names
        A list of names for each side, in the same order.
    concept
        Words of the concept that is to be free of what is removed, such as occupations.
    description, source
        For people.

    Raises
    ------
    MeasureError
        If there is no definitional set, a set or list has fewer than two different words, a word is in two lists, or a
        word is not a text.

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
        own = {word for each in (*definitional, *self.sides) for word in each}
        if both := own & set(self.concept):
            raise MeasureError(
                f"{min(both)!r} is a word of the concept, and a definitional word or one of the sides too. Leave it "
                "out of the concept, which is to be free of what these mean."
            )

    @property
    def largest(self) -> int:
        """Number of words of the largest definitional set."""
        return max(map(len, self.definitional))


def list_debias_words() -> list[str]:
    """Return the names of the bundled words for debiasing.

    >>> list_debias_words()
    ['gender_bolukbasi', 'gender_manzini', 'race_manzini', 'religion_manzini']
    """
    return sorted(path.stem for path in bundled("data", "debias").glob("*.toml"))


def load_debias_words(source: str | os.PathLike[str] | DebiasWords) -> DebiasWords:
    """Return bundled words for debiasing, or those of a TOML file.

    Parameters
    ----------
    source
        A name of `list_debias_words`, the path of a TOML file with the fields of `DebiasWords`, or a `DebiasWords`.

    Raises
    ------
    MeasureError
        If there are no such words or they are not usable.
    InputFileError
        If the file cannot be opened.

    Examples
    --------
    >>> load_debias_words("religion_manzini").definitional[0]
    ('judaism', 'christianity', 'islam')
    """
    if isinstance(source, DebiasWords):
        return source
    known, name = list_debias_words(), os.fspath(source)
    if name not in known and not name.endswith(".toml"):
        raise MeasureError(
            f"There are no words for debiasing {name!r}{did_you_mean(name, known)}. Known are {', '.join(known)}; or "
            "give the path of a .toml file, DebiasWords, or a list of sets."
        )
    path = bundled("data", "debias", f"{name}.toml") if name in known else Path(name)
    content = read_toml(path, MeasureError)
    fields = (*_TEXTS, *_LISTS)
    unknown = [key for key in content if key not in fields]
    if unknown:
        raise MeasureError(
            f"{path}: unknown key {unknown[0]!r}{did_you_mean(unknown[0], fields)}. Words for debiasing have "
            f'{", ".join(fields)}; such as definitional = [["he", "she"], ["man", "woman"]].'
        )
    for key in _TEXTS:
        if not isinstance(content.get(key, ""), str):
            raise MeasureError(f"{path}: {key} must be a text.")
    if "definitional" not in content:
        raise MeasureError(
            f"{path} has no list 'definitional'. Give sets of words that differ in nothing but what is to be removed: "
            'definitional = [["he", "she"], ["man", "woman"]].'
        )
    try:
        return DebiasWords(**{"name": path.stem, **content})
    except MeasureError as error:
        raise MeasureError(f"{path}: {error}") from error


def as_debias_words(
    sets: str | os.PathLike[str] | DebiasWords | Sets, *, equalize: Sets | None = None, name: str | None = None
) -> DebiasWords:
    """Return what a user gave as `DebiasWords`: a name, a path, `DebiasWords` or plain sets."""
    if isinstance(sets, str | os.PathLike | DebiasWords):
        found = load_debias_words(sets)
        return replace(found, name=name or found.name, equalize=found.equalize if equalize is None else equalize)
    return DebiasWords(name or "custom words", sets, equalize)


def needed(words: DebiasWords, field: str, method: str, *, lists: int | None = None) -> Sets:
    """Return a field of words for debiasing; raise `MeasureError`, which says what to give, if it is empty."""
    found: Sets = getattr(words, field)
    if not found or lists not in (None, len(found)):
        raise MeasureError(
            f"{method} needs {_MEANINGS[field]}; the words for {words.name!r} have {len(found) or 'none'}. Give "
            f"`{field}` in DebiasWords or in the .toml file, as the bundled 'gender_bolukbasi' does."
        )
    return found


def words_in(embedding: Embedding, words: Sequence[str], what: str, *, least: int = 2) -> list[str]:
    """Return those of a list's words that the embedding has, as it writes them: "Mary" finds "mary" too.

    Raises
    ------
    MeasureError
        If fewer than `least` are left.

    Warns
    -----
    LostWordsWarning
        If words are left out.
    """
    found, present = embedding.lookup(words).found, set(embedding.words)
    ways = ([found[word]] if word in found else forms(word, _SPELLINGS) for word in words)
    kept = [next((form for form in way if form in present), None) for way in ways]
    lost = [word for word, form in zip(words, kept, strict=True) if form is None]
    left = list(dict.fromkeys(form for form in kept if form is not None))
    if len(left) < least:
        raise MeasureError(
            f"The embedding {embedding.name!r} has {len(left)} of the {len(words)} words of {what}, and {least} are "
            f"needed: it lacks {name_some(lost)}. Give words that it has, or load more of its words."
        )
    if lost:
        warn_user(
            f"The embedding {embedding.name!r} lacks {len(lost)} of the {len(words)} words of {what} "
            f"({name_some(lost)}).",
            LostWordsWarning,
        )
    return left


def sets_in(embedding: Embedding, sets: Sets) -> tuple[tuple[str, ...], ...]:
    """Return the definitional sets that the embedding has whole, in the forms that it has; warn of the others."""
    found = embedding.lookup(word for words in sets for word in words)
    kept = [words for words in sets if not set(words) & set(found.lost)]
    if found.lost:
        warn_user(
            f"The embedding {embedding.name!r} lacks {len(found.lost)} of the definitional words "
            f"({name_some(found.lost)}), so {len(sets) - len(kept)} of {len(sets)} sets are left out.",
            LostWordsWarning,
        )
    # Under a case rule that lowers words, ("He", "She") is the same set as ("he", "she").
    return tuple(dict.fromkeys(tuple(found.found[word] for word in words) for words in kept))


def spelled(words: Iterable[str]) -> list[str]:
    """Return words in the ways of writing them in which they mean the same.

    >>> spelled(["actress", "He"])
    ['actress', 'Actress', 'ACTRESS', 'He', 'he', 'HE']
    """
    return [form for word in words for form in forms(word, _SPELLINGS)]


def spelled_sets_in(embedding: Embedding, sets: Sets) -> tuple[tuple[str, ...], ...]:
    """Return the sets to equalize in each spelling of which the embedding has all words; warn of sets without any.

    No word is in two of them.
    """
    present, kept, without = set(embedding.words), dict[tuple[str, ...], None](), []
    for words in sets:
        found = embedding.lookup(words)
        ways = [tuple(found.found[word] for word in words)] if not found.lost else []
        ways += [tuple(form for word in words for form in forms(word, [name])) for name in _SPELLINGS]
        whole = [way for way in dict.fromkeys(ways) if present.issuperset(way)]
        taken = {word for way in kept for word in way}
        kept |= dict.fromkeys(way for way in whole if taken.isdisjoint(way))
        if not whole:
            without.append(next(word for word in (*found.lost, *words)))
    if without:
        warn_user(
            f"The embedding {embedding.name!r} lacks words of {len(without)} of {len(sets)} sets to equalize "
            f"({name_some(without)}), which are left out.",
            LostWordsWarning,
        )
    return tuple(kept)


def _checked(sets: object, what: str) -> tuple[tuple[str, ...], ...]:
    if isinstance(sets, str) or not isinstance(sets, Iterable):
        raise MeasureError(f"The {what} sets must be a list of sets of words, not {sets!r}.")
    checked = []
    for place, words in enumerate(sets, start=1):
        if isinstance(words, str):
            raise MeasureError(f"The {what} set {place} is one text, {words[:40]!r}. Give a list of words.")
        texts = _texts(words, f"{what} set {place}")
        if len(texts) < 2 or len(set(texts)) < len(texts):
            raise MeasureError(
                f"The {what} set {place} is {list(texts)}. A set needs at least two words, all different."
            )
        checked.append(texts)
    return tuple(checked)


def _texts(words: object, what: str) -> tuple[str, ...]:
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise MeasureError(f"The words of {what} must be a list, not {words!r}.")
    found = tuple(words)
    for word in found:
        if not isinstance(word, str) or not word.strip():
            raise MeasureError(f"The words of {what} must be texts that are not blank; found {word!r}.")
    return found


def _check_apart(lists: Sets, what: str) -> None:
    if len(lists) == 1:
        raise MeasureError(f"There is one list of {what}. Give one for each side, as a list of lists.")
    of: dict[str, int] = {}
    for place, words in enumerate(lists, start=1):
        for word in words:
            if of.setdefault(word, place) != place:
                raise MeasureError(f"{word!r} is in the lists {of[word]} and {place} of {what}. Leave it out of one.")


def check_disjoint(sets: Sets) -> None:
    """Raise `MeasureError` if a word is in two different sets to equalize."""
    seen: dict[str, tuple[str, ...]] = {}
    for words in dict.fromkeys(map(tuple, sets)):
        for word in words:
            if word in seen:
                raise MeasureError(
                    f"{word!r} is in two sets to equalize, {list(seen[word])} and {list(words)}: making the second "
                    "equal would undo the first. Give `equalize` with each word once (an empty list equalizes none)."
                )
            seen[word] = words
