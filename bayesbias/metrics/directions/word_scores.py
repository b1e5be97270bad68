"""DB/WA, RIPA and NBM: scores of single words against pairs of base words."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias.base.arrays import ROUNDING, Floats
from bayesbias.base.checks import check_choice, check_type
from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, did_you_mean, name_some, warn_user
from bayesbias.geometry import unit_rows
from bayesbias.metrics.directions.neighbours import nearest_neighbours
from bayesbias.metrics.look_up import EmbeddedLists, StudyLists, checked_base_pairs, checked_words, find_lists
from bayesbias.metrics.measure_entry import DU, PAIRS, Measure, shared_parameters
from bayesbias.metrics.measure_result import MeasureResult, score_frame
from bayesbias.studies.study import Study, StudyLike, load_study

Pairs = tuple[tuple[str, str], ...]
BasePairs = Sequence[tuple[str, str]] | str | os.PathLike[str]

_BLOCK = 10_000
_NEIGHBOURS = 100
_ONE_LIST = "target words"


def db_wa(words: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
    """Return cos(w, m) - cos(w, f) of each word w and pair (m, f), of shape (pairs, words).

    `words` have shape (words, dimensions), `first` and `second` (pairs, dimensions); no vector may be zero. Yupei Du,
    Qixiang Fang and Dong Nguyen (2021). Assessing the reliability of word embedding gender bias measures. EMNLP 2021,
    10012-10034, section 3.1, DB/WA (direct bias / word association).

    >>> db_wa([[2.0, 0.0], [3.0, 4.0]], first=[[1.0, 0.0]], second=[[0.0, 5.0]]).round(3)
    array([[ 1. , -0.2]])
    """
    scores: Floats = (unit_rows(first) - unit_rows(second)) @ unit_rows(words).T
    return scores


def ripa(words: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
    """Return the inner product of each word w with the unit difference of each pair, w (m - f) / |m - f|.

    Shapes are those of `db_wa`. Vectors are taken as long as they are; for the rule ``"ripa_unit"``, give unit vectors
    of words. Kawin Ethayarajh, David Duvenaud and Graeme Hirst (2019). Understanding undesirable word embedding
    associations. ACL 2019, 1696-1705: relational inner product association. Du, Fang and Nguyen (2021), section 3.1,
    RIPA.

    >>> ripa([[2.0, 0.0], [3.0, 4.0]], first=[[1.0, 0.0]], second=[[0.0, 0.0]]).round(3)
    array([[2., 3.]])
    """
    m, f = (np.asarray(vectors, dtype=np.float64) for vectors in (first, second))
    lengths = np.linalg.norm(m - f, axis=1)
    if not np.all(lengths > ROUNDING * np.linalg.norm(m, axis=1)):
        raise MeasureError("The words of a base pair have the same vector, so their difference has no direction.")
    scores: Floats = ((m - f) / lengths[:, None]) @ np.asarray(words, dtype=np.float64).T
    return scores


def nbm(
    words: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    vocabulary: Floats,
    k: int = 100,
    target_rows: ArrayLike | None = None,
) -> Floats:
    """Return the share of each word's neighbours that are nearer to m minus the share nearer to f, for each pair.

    It is (neighbours with DB/WA above 0 - neighbours with DB/WA below 0) / k; a DB/WA within 1e-6 of 0 counts on
    neither side. Shapes are those of `db_wa`; neighbours are rows of `vocabulary`, of shape (vocabulary, dimensions).
    `k` and `target_rows`, each word's row in `vocabulary`, are those of `nearest_neighbours`. Du, Fang and Nguyen
    (2021), section 3.1, NBM (neighbourhood bias metric), after Gonen and Goldberg (2019). Their published code counts a
    DB/WA of exactly 0 as masculine; their equation does not.

    >>> vocabulary = np.array([[1.0, 0.1], [1.0, 0.2], [0.1, 1.0]])
    >>> nbm([[1.0, 0.0]], first=[[1.0, 0.0]], second=[[0.0, 1.0]], vocabulary=vocabulary, k=3).round(3)
    array([[0.333]])
    """
    neighbours = nearest_neighbours(words, vocabulary, k, target_rows=target_rows, progress=False)
    blocks = (vocabulary[start : start + _BLOCK] for start in range(0, len(vocabulary), _BLOCK))
    leaning = [db_wa(block, first, second) for block in blocks]
    sides = np.concatenate([(score > ROUNDING).astype(np.int8) - (score < -ROUNDING) for score in leaning], axis=1)
    return np.stack([side[neighbours].sum(axis=1) / k for side in sides])


def bundled_base_pairs() -> list[str]:
    """Return the names of the bundled base pairs."""
    return sorted(path.stem for path in bundled("data", "pairs").glob("*.toml"))


def load_base_pairs(name: str | os.PathLike[str] = "gender") -> Pairs:
    """Return bundled base pairs, or those of a file.

    Parameters
    ----------
    name
        ``"gender"`` for the 23 pairs of Du, Fang and Nguyen (2021), appendix A.1, the masculine word first; those of
        Kozlowski, Taddy and Evans (2019), ``"affluence"``, ``"gender_kozlowski"``, ``"race"``, ``"cultivation"``,
        ``"education"``, ``"employment"``, ``"morality"`` or ``"status"``; those of Joseph and Morgan (2020), ``"age"``,
        ``"evaluation"``, ``"potency"`` or ``"activity"``; or the path of a TOML file with
        ``pairs = [["he", "she"], ...]``. A string is a path if it ends in ``.toml``.

    Raises
    ------
    MeasureError
        If no bundled pairs have this name, or the file does not hold pairs of words.
    InputFileError
        If the file cannot be read.

    Examples
    --------
    >>> len(load_base_pairs()), load_base_pairs()[0]
    (23, ('boy', 'girl'))
    """
    check_type("name", name, (str, os.PathLike), "the name of base pairs, or the path of a TOML file")
    bundled_names = bundled_base_pairs()
    is_file = isinstance(name, os.PathLike) or name.endswith(".toml")
    if not is_file and name not in bundled_names:
        raise MeasureError(
            f"There are no base pairs {name!r}{did_you_mean(str(name), bundled_names)}. Give one of "
            f"{', '.join(bundled_names)}, a list of pairs such as [('he', 'she')], or the path of a TOML file."
        )
    path = Path(name) if is_file else bundled("data", "pairs", f"{name}.toml")
    document = read_toml(path, MeasureError)
    if "pairs" not in document:
        raise MeasureError(f'{path} has no pairs. Write them as pairs = [["he", "she"], ...].')
    try:
        return checked_base_pairs(document["pairs"])
    except MeasureError as error:
        raise MeasureError(f"{path}: {error}") from error


def as_base_pairs(base_pairs: BasePairs) -> Pairs:
    """Return base pairs, loaded if they are given by name or file."""
    if isinstance(base_pairs, str | os.PathLike):
        return load_base_pairs(base_pairs)
    return checked_base_pairs(base_pairs)


@shared_parameters()
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
    """Return scores of single words on base pairs: whether they lean to the first or the second word of each pair.

    Parameters
    ----------
    words
        Target words, lists of them by name, or a study: the words of its protected and attribute lists.
    base_pairs
        Pairs of words, or their name or file (see `load_base_pairs`).
    rule
        ``"db_wa"``; ``"ripa"``, with word vectors as long as they are, as in the paper's equation; ``"ripa_unit"``,
        with word vectors of length 1, as in the paper's published code; or ``"nbm"``.
    k
        Number of neighbours for ``"nbm"``; only for this rule. Default: 100.
    vocabulary
        Words among which ``"nbm"`` seeks neighbours; only for this rule. None: all words of the embedding, so that
        scores depend on which words it was loaded with.

    Returns
    -------
    MeasureResult
        `mean` (the headline number) over all words and pairs, and `mean_absolute`, the mean of the scores' absolute
        values. The scores are those of each target word on each base pair, such as ``"he ~ she"``; a positive score
        leans to the first word of the pair. The attribute group of words from lists by name is the name of the list.

    Raises
    ------
    MeasureError
        If no word or pair is left, the rule is unknown, the words of a pair have the same direction, a pair is listed
        twice, or `k` is larger than the vocabulary.

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
            f"The rule {rule!r} counts no neighbours. Leave out k and vocabulary, or use the rule 'nbm'."
        )
    k = _NEIGHBOURS if k is None else k
    if vocabulary is not None:
        vocabulary = checked_words("vocabulary", vocabulary)
    pairs = as_base_pairs(base_pairs)
    lists = target_lists(words)
    whole = rule == "nbm" and vocabulary is None
    others = [word for pair in pairs for word in pair]
    embedded_lists = find_lists(
        embedding, lists.by_name, max_lost=max_lost, least=1, others=None if whole else [*others, *(vocabulary or ())]
    )
    source = embedded_lists.source
    embedded_pairs, lost_pairs = embedded_pairs_of(pairs, source)
    vectors = np.concatenate(list(embedded_lists.vectors.values()))
    first, second = (source.matrix(pair[side] for pair in embedded_pairs).astype(np.float64) for side in (0, 1))
    raise_if_parallel(embedded_pairs, first, second)
    lost = dict(embedded_lists.lost) | ({"base pairs": tuple(map(pair_label, lost_pairs))} if lost_pairs else {})
    candidates: Floats = np.empty((0, source.dimensions))
    if rule == "nbm":
        rows, lost_vocabulary = _vocabulary_rows(source, vocabulary)
        lost |= {"vocabulary": lost_vocabulary} if lost_vocabulary else {}
        # No copy of the whole embedding: its vectors may take most of the memory.
        candidates = source.vectors if vocabulary is None else source.stored(rows)
        target_rows = [
            rows.get(source.match(word) or word, -1) for group in embedded_lists.words.values() for word in group
        ]
        scores = nbm(vectors, first, second, vocabulary=candidates, k=k, target_rows=target_rows)
    elif rule == "db_wa":
        scores = db_wa(vectors, first, second)
    else:
        scores = ripa(vectors if rule == "ripa" else unit_rows(vectors), first, second)
    return MeasureResult(
        measure=rule,
        statistics={"mean": float(scores.mean()), "mean_absolute": float(np.abs(scores).mean())},
        scores=_frame(scores, lists, embedded_lists, [pair_label(pair) for pair in embedded_pairs]),
        question="To which side of the base pairs do these words lean?",
        conventions=(
            f"{rule_conventions(rule, k, len(candidates))}; positive: towards the first word of the pair (m), against "
            "the second (f)"
        ),
        study=lists.study,
        embedding=source.name,
        lost_words=lost,
    )


def _frame(scores: Floats, lists: StudyLists, embedded_lists: EmbeddedLists, pairs: Sequence[str]) -> pd.DataFrame:
    """Return the frame of scores, one row per word and base pair."""
    kinds = [(name, "") for name in lists.protected] + [("", name) for name in lists.attributes]
    labels = [
        (word, group, attribute_group if attribute_group != _ONE_LIST else "")
        for (group, attribute_group), words in zip(kinds, embedded_lists.words.values(), strict=True)
        for word in words
    ]
    word, group, attribute_group = (np.repeat(column, len(pairs)) for column in zip(*labels, strict=True))
    return score_frame(
        scores.T, word=word, group=group, attribute_group=attribute_group, base_pair=[*pairs] * len(labels)
    )


def pair_label(pair: tuple[str, str]) -> str:
    """Return the label of a base pair in scores."""
    return f"{pair[0]} ~ {pair[1]}"


def target_lists(words: Any) -> StudyLists:
    """Return the target words as lists."""
    if isinstance(words, Study | str | os.PathLike):
        study = load_study(words)
        return StudyLists(study.name, study.protected, study.attributes)
    if isinstance(words, Mapping):
        lists = StudyLists("word lists", {}, words)
    else:
        lists = StudyLists("a list of words", {}, {_ONE_LIST: checked_words("words", words)})
    if not any(map(len, lists.attributes.values())):
        raise MeasureError("Found 0 target words. Give a list of words, lists by name, or a study.")
    return lists


def embedded_pairs_of(pairs: Pairs, source: Embedding) -> tuple[Pairs, Pairs]:
    """Return the pairs whose words the embedding has, and the other pairs, of which it warns."""
    lost_words = source.lookup(word for pair in pairs for word in pair).lost
    lost_pairs = tuple(pair for pair in pairs if set(pair) & set(lost_words))
    available_pairs = tuple(pair for pair in pairs if pair not in lost_pairs)
    if not available_pairs:
        raise MeasureError(
            f"The embedding {source.name!r} lacks {name_some(lost_words)}, so no base pair is left. Give pairs of "
            f"words that it has, or change the case rule, which is {source.case_text!r}."
        )
    if lost_pairs:
        warn_user(
            f"The embedding {source.name!r} lacks {name_some(lost_words)}: left out {len(lost_pairs)} of the "
            f"{counted(len(pairs), 'base pair')} ({name_some(map(pair_label, lost_pairs))}).",
            LostWordsWarning,
        )
    return available_pairs, lost_pairs


def raise_if_parallel(pairs: Pairs, first: Floats, second: Floats) -> None:
    """Raise `MeasureError` if the two words of a pair have the same direction."""
    for pair, distance in zip(pairs, np.linalg.norm(unit_rows(first) - unit_rows(second), axis=1), strict=True):
        if distance < ROUNDING:
            raise MeasureError(f"The words of the base pair {pair_label(pair)} have the same direction. Leave it out.")


def _vocabulary_rows(source: Embedding, vocabulary: Sequence[str] | None) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the row of each word that may be a neighbour, and the words of the vocabulary that are lost."""
    if vocabulary is None:
        return {word: row for row, word in enumerate(source.words)}, ()
    lookup = source.lookup(vocabulary)
    if lookup.lost:
        warn_user(
            f"The embedding {source.name!r} lacks {len(lookup.lost):,} of the {len(vocabulary):,} words of the "
            f"vocabulary ({name_some(lookup.lost)}): neighbours are sought among the others.",
            LostWordsWarning,
        )
    if not lookup.matches:
        raise MeasureError(f"The embedding {source.name!r} has no word of the vocabulary. Give words that it has.")
    return {form: row for row, form in enumerate(dict.fromkeys(lookup.matches.values()))}, lookup.lost


DB_WA = Measure(
    "db_wa", "direct bias / word association of single words", "cos(w, m) - cos(w, f)", "-2 to 2", PAIRS,
    f"{DU}, DB/WA", "vectors of any length; the bundled gender pairs have the masculine word first",
    "with a single base pair: every other difference between its two words counts too; compare several",
    word_scores, sign="positive: towards m, the first word of the pair", options={"rule": "db_wa"},
    units={"score": "DB/WA (difference of cosines, -2 to 2)"},
)  # fmt: skip

RIPA = Measure(
    "ripa", "Relational Inner Product Association of single words", "w (m - f) / |m - f|", "unbounded", PAIRS,
    f"Ethayarajh, Duvenaud and Hirst (2019); {DU}, RIPA", "vectors as stored",
    "to compare frequent with rare words: long vectors score more; ripa_unit does not see lengths", word_scores,
    sign="positive: towards m, the first word of the pair", options={"rule": "ripa"},
    units={"score": "RIPA (length of the projection)"},
)  # fmt: skip

RIPA_UNIT = Measure(
    "ripa_unit", "RIPA of unit vectors", "w (m - f) / |m - f|, w of length 1", "-1 to 1", PAIRS,
    f"published code of {DU}, RIPA", "the word's vector of length 1, those of the pair as stored",
    "to reproduce published values of ripa, which depend on the words' lengths", word_scores,
    sign="positive: towards m, the first word of the pair", options={"rule": "ripa_unit"},
    units={"score": "RIPA of unit vectors (-1 to 1)"},
)  # fmt: skip

NBM = Measure(
    "nbm", "Neighbourhood Bias Metric of single words",
    "(neighbours with DB/WA above 0 - neighbours with DB/WA below 0) / k", "-1 to 1", f"{PAIRS}, a vocabulary",
    f"{DU}, NBM, after Gonen and Goldberg (2019)", "k = 100 nearest words by cosine, the word itself left out",
    "without a whole vocabulary: the nearest words of a study are not those of the language", word_scores,
    sign="positive: neighbours lean to m, the first word of the pair", options={"rule": "nbm"},
    units={"score": "NBM (difference of neighbours' shares, -1 to 1)"}, whole_vocabulary=True,
)  # fmt: skip

RULES: Mapping[str, Measure] = {rule.name: rule for rule in (DB_WA, RIPA, RIPA_UNIT, NBM)}
"""Scoring rules; in their formulas m is the first word of a pair, f the second."""


def rule_conventions(rule: str, k: int, vocabulary: int) -> str:
    """Return the formula and the conventions of a rule, with k neighbours among so many words.

    >>> rule_conventions("ripa", 100, 0)
    'w (m - f) / |m - f|, unbounded; vectors as stored'
    """
    neighbours = f"the {k} nearest neighbours by cosine among {vocabulary:,} words, the word itself left out"
    chosen = f"{neighbours}; base words count as neighbours" if rule == "nbm" else RULES[rule].conventions
    return f"{RULES[rule].formula}, {RULES[rule].range}; {chosen}"
