"""Scores of single words against pairs of base words: DB/WA, RIPA and NBM."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_choice, check_type
from bayesbias.base.files import bundled, read_toml
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, did_you_mean, name_some, warn_user
from bayesbias.geometry import unit_rows
from bayesbias.metrics.directions.neighbours import nearest_neighbours
from bayesbias.metrics.look_up import FoundLists, StudyLists, checked_pairs, checked_words, find_lists
from bayesbias.metrics.result import MeasureResult, score_frame
from bayesbias.studies.study import Study, StudyLike, load_study

Pairs = tuple[tuple[str, str], ...]
BasePairs = Sequence[tuple[str, str]] | str | os.PathLike[str]

RULES: Mapping[str, str] = {
    "db_wa": "cos(w, m) - cos(w, f), from -2 to 2",
    "ripa": "inner product of the word's vector, as long as it is, with (m - f) / |m - f|; unbounded",
    "ripa_unit": "inner product of the word's vector, of length 1, with (m - f) / |m - f|, from -1 to 1",
    "nbm": (
        "of the {k} nearest neighbours by cosine among {vocabulary:,} words, the word itself left out: the share with "
        "DB/WA above 0 minus the share with DB/WA below 0, from -1 to 1; base words count as neighbours"
    ),
}
"""The scoring rules and their conventions; m is the first word of a pair, f the second."""

_BLOCK = 10_000
_NEIGHBOURS = 100
_ONE_LIST = "target words"


def db_wa(words: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
    """Return how much nearer each word is to the first word of each pair than to the second: cos(w, m) - cos(w, f).

    `words` have shape (words, dimensions) and any length but zero, the words of the pairs (pairs, dimensions); the
    result has (pairs, words). Yupei Du, Qixiang Fang and Dong Nguyen (2021). Assessing the reliability of word
    embedding gender bias measures. EMNLP 2021, 10012-10034, section 3.1, DB/WA (direct bias / word association).

    >>> db_wa([[2.0, 0.0], [3.0, 4.0]], first=[[1.0, 0.0]], second=[[0.0, 5.0]]).round(3)
    array([[ 1. , -0.2]])
    """
    scores: Floats = (unit_rows(first) - unit_rows(second)) @ unit_rows(words).T
    return scores


def ripa(words: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
    """Return the inner product of each word with the unit difference of each pair: w (m - f) / |m - f|.

    Shapes are those of `db_wa`. Lengths count: give unit vectors of words for the rule ``"ripa_unit"``. Kawin
    Ethayarajh, David Duvenaud and Graeme Hirst (2019). Understanding undesirable word embedding associations. ACL 2019,
    1696-1705: relational inner product association. Du, Fang and Nguyen (2021), section 3.1, RIPA.

    >>> ripa([[2.0, 0.0], [3.0, 4.0]], first=[[1.0, 0.0]], second=[[0.0, 0.0]]).round(3)
    array([[2., 3.]])
    """
    m, f = (np.asarray(vectors, dtype=np.float64) for vectors in (first, second))
    lengths = np.linalg.norm(m - f, axis=1)
    if not np.all(lengths > 1e-12 * np.linalg.norm(m, axis=1)):
        raise MeasureError("The words of a base pair have the same vector, so they differ in no direction.")
    scores: Floats = ((m - f) / lengths[:, None]) @ np.asarray(words, dtype=np.float64).T
    return scores


def nbm(
    words: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    vocabulary: Floats,
    k: int = 100,
    own: ArrayLike | None = None,
) -> Floats:
    """Return by how much the neighbours of each word lean to the first word of each pair.

    (neighbours with DB/WA above 0 - neighbours with DB/WA below 0) / k; a score within 1e-12 of 0 counts on neither
    side. Shapes are those of `db_wa`; neighbours are sought in `vocabulary`, of shape (vocabulary, dimensions). For `k`
    and `own`, each word's row in `vocabulary`, see `nearest_neighbours`. Du, Fang and Nguyen (2021), section 3.1, NBM
    (neighbourhood bias metric), after Gonen and Goldberg (2019). Their published code counts a DB/WA of exactly 0 as
    masculine; their equation does not.

    >>> vocabulary = np.array([[1.0, 0.1], [1.0, 0.2], [0.1, 1.0]])
    >>> nbm([[1.0, 0.0]], first=[[1.0, 0.0]], second=[[0.0, 1.0]], vocabulary=vocabulary, k=3).round(3)
    array([[0.333]])
    """
    neighbours = nearest_neighbours(words, vocabulary, k, own=own)
    blocks = (vocabulary[start : start + _BLOCK] for start in range(0, len(vocabulary), _BLOCK))
    leaning = [db_wa(block, first, second) for block in blocks]
    sides = np.concatenate([(score > 1e-12).astype(np.int8) - (score < -1e-12) for score in leaning], axis=1)
    return np.stack([side[neighbours].sum(axis=1) / k for side in sides])


def load_base_pairs(name: str | os.PathLike[str] = "gender") -> Pairs:
    """Return bundled base pairs, or those of a file.

    Parameters
    ----------
    name
        ``"gender"``: the 23 pairs of Du, Fang and Nguyen (2021), appendix A.1, the masculine word first. Or the path of
        a TOML file (a text that ends in ``.toml`` is one) with ``pairs = [["he", "she"], ...]``.

    Raises
    ------
    MeasureError
        If there are no such pairs, or the file's are not pairs of words.
    InputFileError
        If the file cannot be read.

    Examples
    --------
    >>> len(load_base_pairs()), load_base_pairs()[0]
    (23, ('boy', 'girl'))
    """
    check_type("name", name, (str, os.PathLike), "the name of base pairs, or the path of a TOML file")
    known = sorted(path.stem for path in bundled("data", "pairs").glob("*.toml"))
    is_file = isinstance(name, os.PathLike) or name.endswith(".toml")
    if not is_file and name not in known:
        raise MeasureError(
            f"There are no base pairs {name!r}{did_you_mean(str(name), known)}. Bundled are {', '.join(known)}; or "
            "give a list of pairs, such as [('he', 'she')], or the path of a TOML file that holds one."
        )
    path = Path(name) if is_file else bundled("data", "pairs", f"{name}.toml")
    document = read_toml(path, MeasureError)
    if "pairs" not in document:
        raise MeasureError(f'{path} has no pairs. Write them as pairs = [["he", "she"], ...].')
    return checked_pairs(document["pairs"])


def as_base_pairs(base_pairs: BasePairs) -> Pairs:
    """Return base pairs that are given as pairs, or by the name or file of some."""
    if isinstance(base_pairs, str | os.PathLike):
        return load_base_pairs(base_pairs)
    return checked_pairs(base_pairs)


def word_scores(
    embedding: EmbeddingLike,
    words: Sequence[str] | StudyLike,
    base_pairs: BasePairs = "gender",
    *,
    rule: str = "db_wa",
    k: int | None = None,
    vocabulary: Sequence[str] | None = None,
    max_lost: float = MAX_LOST,
) -> MeasureResult:
    """Score single words by how much they lean to the first or to the second word of base pairs.

    Parameters
    ----------
    embedding, max_lost
        See `bayesbias.metrics`.
    words
        The target words, or lists of them by name; or a study: the words of its protected and its attribute groups.
    base_pairs
        Pairs of words, or the name or file of some (see `load_base_pairs`).
    rule
        ``"db_wa"``, ``"ripa"`` (word vectors as long as they are: the equation of the paper), ``"ripa_unit"``
        (word vectors of length 1: what the paper's published code computes) or ``"nbm"``.
    k
        How many neighbours ``"nbm"`` counts, by default 100; for no other rule.
    vocabulary
        Words that these neighbours are sought among; for no other rule. None: every word of the embedding; the scores
        then depend on which words it was loaded with.

    Returns
    -------
    MeasureResult
        `mean` (the headline number) over all words and pairs, and `mean_absolute`, that of the scores without their
        signs. The scores are those of each target word by each base pair, such as ``"he ~ she"``; a positive one leans
        to the first word of the pair. Words of lists by name bear the list as their attribute group.

    Raises
    ------
    MeasureError
        If there is no word or pair left, the rule is not known, the words of a pair have the same direction, a
        pair is listed twice, or `k` is larger than the vocabulary.

    Notes
    -----
    Besides lost target words, there is a warning of lost words of the pairs and of the vocabulary; a pair that lost a
    word is left out.

    References
    ----------
    Du, Fang and Nguyen (2021), section 3.1: DB/WA, RIPA and NBM, the terms of Haiyang Zhang, Alison Sneyd and Mark
    Stevenson (2020).

    Examples
    --------
    >>> vectors = {"he": [1.0, 0.0], "she": [0.0, 1.0], "nurse": [0.6, 0.8], "pilot": [1.6, 1.2]}
    >>> word_scores(vectors, ["nurse", "pilot"], [("he", "she")], rule="ripa").scores.round(3)
        word group attribute_group base_pair  score
    0  nurse                        he ~ she -0.141
    1  pilot                        he ~ she  0.283
    """
    check_choice("rule", rule, RULES)
    if rule != "nbm" and (k, vocabulary) != (None, None):
        raise MeasureError(
            f"The rule {rule!r} counts no neighbours: leave k and vocabulary out, or take the rule 'nbm'."
        )
    k = _NEIGHBOURS if k is None else k
    if vocabulary is not None:
        vocabulary = checked_words("vocabulary", vocabulary)
    pairs = as_base_pairs(base_pairs)
    lists = _target_lists(words)
    whole = rule == "nbm" and vocabulary is None
    others = [word for pair in pairs for word in pair]
    found = find_lists(
        embedding, lists.by_name, max_lost=max_lost, least=1, others=None if whole else [*others, *(vocabulary or ())]
    )
    source = found.source
    kept, lost_pairs = _kept_pairs(pairs, source)
    vectors = np.concatenate(list(found.vectors.values()))
    first, second = (source.matrix(pair[side] for pair in kept).astype(np.float64) for side in (0, 1))
    raise_if_parallel(kept, first, second)
    lost = dict(found.lost) | ({"base pairs": tuple(map(pair_label, lost_pairs))} if lost_pairs else {})
    candidates: Floats = np.empty((0, source.dimensions))
    if rule == "nbm":
        rows, lost_vocabulary = _vocabulary_rows(source, vocabulary)
        lost |= {"vocabulary": lost_vocabulary} if lost_vocabulary else {}
        # A view where the vocabulary is the whole embedding: its vectors may be most of the memory.
        candidates = source.vectors if vocabulary is None else source.stored(rows)
        own = [rows.get(source.match(word) or word, -1) for group in found.words.values() for word in group]
        scores = nbm(vectors, first, second, vocabulary=candidates, k=k, own=own)
    elif rule == "db_wa":
        scores = db_wa(vectors, first, second)
    else:
        scores = ripa(vectors if rule == "ripa" else unit_rows(vectors), first, second)
    return MeasureResult(
        measure=rule,
        statistics={"mean": float(scores.mean()), "mean_absolute": float(np.abs(scores).mean())},
        scores=_frame(scores, lists, found, [pair_label(pair) for pair in kept]),
        conventions=(
            f"{RULES[rule].format(k=k, vocabulary=len(candidates))}; positive: towards the first word of the pair (m), "
            "against the second (f)"
        ),
        study=lists.study,
        embedding=source.name,
        lost_words=lost,
    )


def _frame(scores: Floats, lists: StudyLists, found: FoundLists, pairs: Sequence[str]) -> pd.DataFrame:
    """Return one row a word and base pair."""
    kinds = [(name, "") for name in lists.protected] + [("", name) for name in lists.attributes]
    labels = [
        (word, group, attribute_group if attribute_group != _ONE_LIST else "")
        for (group, attribute_group), words in zip(kinds, found.words.values(), strict=True)
        for word in words
    ]
    word, group, attribute_group = (np.repeat(column, len(pairs)) for column in zip(*labels, strict=True))
    return score_frame(
        scores.T, word=word, group=group, attribute_group=attribute_group, base_pair=[*pairs] * len(labels)
    )


def pair_label(pair: tuple[str, str]) -> str:
    """Return a base pair as scores name it."""
    return f"{pair[0]} ~ {pair[1]}"


def _target_lists(words: Any) -> StudyLists:
    """Return the target words by the list that they come from."""
    if isinstance(words, Study | str | os.PathLike):
        study = load_study(words)
        return StudyLists(study.name, study.protected, study.attributes)
    if isinstance(words, Mapping):
        lists = StudyLists("word lists", {}, words)
    else:
        lists = StudyLists("a list of words", {}, {_ONE_LIST: checked_words("words", words)})
    if not any(map(len, lists.attributes.values())):
        raise MeasureError("There are no target words. Give a list of words, lists by name, or a study.")
    return lists


def _kept_pairs(pairs: Pairs, source: Embedding) -> tuple[Pairs, Pairs]:
    """Return the pairs that the embedding has, and those of which it lacks a word."""
    lost_words = source.lookup(word for pair in pairs for word in pair).lost
    lost = tuple(pair for pair in pairs if set(pair) & set(lost_words))
    kept = tuple(pair for pair in pairs if pair not in lost)
    if not kept:
        raise MeasureError(
            f"The embedding {source.name!r} lacks {name_some(lost_words)}, so no base pair is left. Give pairs of "
            f"words that it has (the case rule is {source.case_text!r})."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks {name_some(lost_words)}: left {len(lost)} of the {len(pairs)} base "
            f"pairs out ({name_some(map(pair_label, lost))}).",
            LostWordsWarning,
        )
    return kept, lost


def raise_if_parallel(pairs: Pairs, first: Floats, second: Floats) -> None:
    """Raise `MeasureError` if the two words of a pair have the same direction."""
    for pair, apart in zip(pairs, np.linalg.norm(unit_rows(first) - unit_rows(second), axis=1), strict=True):
        if apart < 1e-12:
            raise MeasureError(
                f"The words of the base pair {pair_label(pair)} have the same direction, so no word leans to either. "
                "Leave the pair out."
            )


def _vocabulary_rows(source: Embedding, vocabulary: Sequence[str] | None) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the row of each of the neighbours' words, and the words of the vocabulary that are lost."""
    if vocabulary is None:
        return {word: row for row, word in enumerate(source.words)}, ()
    found = source.lookup(vocabulary)
    if found.lost:
        warn_user(
            f"The embedding {source.name!r} lacks {len(found.lost):,} of the {len(vocabulary):,} words of the "
            f"vocabulary ({name_some(found.lost)}): neighbours are sought among the others.",
            LostWordsWarning,
        )
    if not found.found:
        raise MeasureError(f"The vocabulary has no word that the embedding {source.name!r} has. Give words of it.")
    return {form: row for row, form in enumerate(dict.fromkeys(found.found.values()))}, found.lost
