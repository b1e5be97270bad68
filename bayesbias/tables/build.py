"""Build a distance table from an embedding and a study."""

from collections.abc import Mapping
from typing import get_args
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from bayesbias.base.checks import check_choice
from bayesbias.base.lost_words import MAX_LOST, check_max_lost
from bayesbias.embeddings.embedding import (
    Embedding,
    EmbeddingLike,
    same_vectors_hint,
    unit_rows_of,
    words_with_same_vectors,
)
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.vocabularies import spelling_hint
from bayesbias.embeddings.vocabulary_sample import FEWEST
from bayesbias.errors import ArgumentError, LostWordsError, StudyError, name_some, setting, worded
from bayesbias.studies.faults import CONTROLS
from bayesbias.studies.study import Study, StudyLike, is_bundled, load_study
from bayesbias.tables.errors_over_contexts import contrast_errors
from bayesbias.tables.schema import PLAIN, RANK, Duplicates, apply_duplicates_policy, with_provenance
from bayesbias.tables.study_pairs import StudyPairs, judge_lost, lists_of, lost_entries, members
from bayesbias.tables.word_worths import KEY as DEPENDENT_WORDS
from bayesbias.tables.word_worths import Vocabulary, dependence_record, lists_of_pairs

# Kept as long as the embeddings, whose vectors may take gigabytes.
_VOCABULARIES: WeakKeyDictionary[Embedding, Vocabulary | None] = WeakKeyDictionary()


def distance_table(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    duplicates: Duplicates = "drop",
    max_lost: float = MAX_LOST,
    reference: EmbeddingLike | None = None,
) -> pd.DataFrame:
    """Return the table of cosine distances between a study's protected words and all its attribute words.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, or the path of a TOML file.
    duplicates
        Policy for words that match the same vector ("Mary" and "mary" under the case rule ``"lower"``): ``"drop"``
        keeps the first and warns; ``"keep"`` keeps all. Different words with identical vectors, as of a pruned table,
        count once (``"drop"``): the others are lost words. If they stand in several lists, all of them are lost.
    max_lost
        Largest share of a group's words that the embedding may lack, from 0 to 1; control words have no limit.
    reference
        Vectors of random words of the same language from the same source, at least 1,000: what chance resemblance is,
        beside which words of a list are dependent. None (default): a sample of the embedding's own vocabulary, which
        `load_embedding` reads beside the words of a study; vectors of a study's words alone have none.

    Returns
    -------
    pandas.DataFrame
        One row per pair, in the order of the study; the cosine distance is 1 minus the cosine similarity and
        lies between 0 and 2 (equations Sim and Distance of Dobrzeniecka and Urbaniak).
        Of a `ContextualEmbedding`, whose vectors are means over contexts, distances are corrected for the number of
        contexts (`ContextualEmbedding.cosines`), so that they can lie below 0. There is a column `cosine_sd`, the
        standard error over contexts of each cosine, and `plain_distance`, the distance of the mean vectors.
        ``attrs["bayesbias"]`` names embedding and study, lists the lost words, and keeps which words of a list depend
        on each other (`effective_words`).

    Raises
    ------
    LostWordsError
        If a group or control list of the study has no word left, or a group lost more than `max_lost`.
    StudyError
        If words of different lists match the same vector.
    ArgumentError
        If `duplicates` or `max_lost` is not valid.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.
    DuplicatesWarning
        If several words matched the same vector.

    Examples
    --------
    >>> study = bb.Study(
    ...     name="pets", protected={"cats": ["cat"], "dogs": ["dog"]},
    ...     attributes={"quiet": ["purr"], "loud": ["bark"]},
    ...     associated=[("cats", "quiet"), ("dogs", "loud")], human="none", neutral="none",
    ... )
    >>> vectors = {"cat": [1.0, 0.0], "dog": [0.0, 1.0], "purr": [2.0, 0.0], "bark": [0.6, 0.8]}
    >>> columns = ["protected_word", "attribute_word", "connection", "cosine_distance"]
    >>> bb.distance_table(vectors, study)[columns].round(3)
      protected_word attribute_word  connection  cosine_distance
    0            cat           purr  associated              0.0
    1            cat           bark   different              0.4
    2            dog           purr   different              1.0
    3            dog           bark  associated              0.2
    """
    check_choice("duplicates", duplicates, get_args(Duplicates))
    max_lost = check_max_lost(max_lost)
    study = load_study(study)
    if not isinstance(embedding, Embedding):
        embedding = load_embedding(embedding, words=study.words)
    pairs, forms, lost = matched_pairs(embedding, study, duplicates=duplicates, max_lost=max_lost)
    protected, attributes = pairs.protected, pairs.attributes
    plain = np.clip(
        unit_rows_of(embedding, protected["word"]) @ unit_rows_of(embedding, attributes["word"]).T,
        -1.0,
        1.0,
    )
    numbers: dict[str, np.ndarray] = {"cosine_distance": 1.0 - plain, "cosine_similarity": plain}
    if isinstance(embedding, ContextualEmbedding):
        corrected = embedding.cosines(protected["word"], attributes["word"])
        errors = embedding.cosine_errors(protected["word"], attributes["word"])
        numbers = {"cosine_distance": 1.0 - corrected, "cosine_similarity": corrected}
        numbers |= {"cosine_sd": errors, PLAIN: 1.0 - plain}
    table = pairs.frame(numbers)
    same_vectors = pd.DataFrame(
        {
            "protected": table["protected_word"].map(forms),
            "attribute": table["attribute_word"].map(forms),
        }
    ).duplicated()
    table, dropped = apply_duplicates_policy(
        table, same_vectors, duplicates, "because several words matched the same vector"
    )
    means = [word for word in study.words if forms.get(word) in set(embedding.phrases)]
    provenance = {
        "embedding": {
            "name": embedding.name,
            "hash": embedding.digest,
            "case": embedding.case_text,
            **({"means_of_words": ", ".join(means)} if means else {}),
            **({"steps": "; ".join(embedding.steps)} if embedding.steps else {}),
        },
        **_rank(embedding),
        **pairs.facts,
        **_of_contexts(embedding, protected, attributes, pairs.connections),
        "lost_words": lost,
        "max_lost": max_lost,
        "duplicates": {
            "policy": duplicates,
            "dropped": dropped,
            "same_vectors": int(same_vectors.sum()) - dropped,
        },
    }
    table = table.reset_index(drop=True)
    if dependent := _dependent_words(table, embedding, reference):
        provenance[DEPENDENT_WORDS] = dependent
    return with_provenance(table, provenance)


def matched_pairs(
    embedding: Embedding, study: Study, *, duplicates: Duplicates = "drop", max_lost: float = MAX_LOST
) -> tuple[StudyPairs, dict[str, str], list[dict[str, str]]]:
    """Return the words of a study in an embedding, their stored forms by word, and a record of each lost word.

    Raises and warns as `distance_table`, which needs nothing else of the study.
    """
    forms = usable_forms(embedding, study)
    _raise_if_lists_share_a_vector(study, forms, embedding)
    same: dict[str, str] = {}
    if duplicates == "drop":
        forms, same = matched_words(embedding, study)
    pairs = StudyPairs.from_words(study, forms)
    spelt = spelling_hint(study.words, embedding.words) if pairs.empty_lists else None
    advice = spelt if spelt and spelt.options else _case_hint(embedding)
    named, noise = f"The embedding {embedding.name!r}", _noise_hint(study, embedding)
    pairs.raise_if_a_list_is_empty(
        named,
        f"Use other words.{advice} {worded('bb.check_words', '`bayesbias words`')} lists all lost words.{noise}",
    )
    reasons = {word: same.get(word) or embedding.why_lost(word) for word in study.words if word not in forms}
    lost = lost_entries(study, reasons)
    hint = _lost_hint(study, lost, embedding) + same_vectors_hint(same) + noise
    try:
        judge_lost(study, lost, named, hint=hint, max_lost=max_lost)
    except LostWordsError as error:
        raise LostWordsError(f"{error}{noise}") from None
    pairs.check_memory()
    return pairs, forms, lost


def _rank(embedding: Embedding) -> dict[str, list[int]]:
    """Return how many dimensions vectors use that were changed, such as debiased ones; not of few words alone."""
    if not embedding.steps or len(embedding) < 2 * embedding.dimensions:
        return {}
    return {RANK: [embedding.rank, embedding.dimensions]}


def matched_words(embedding: Embedding, study: Study) -> tuple[dict[str, str], dict[str, str]]:
    """Return the stored forms of a study's words that have a vector of their own, and why others have none, by word."""
    forms = usable_forms(embedding, study)
    same = words_with_same_vectors(embedding, forms, lists_of(study))
    return {word: form for word, form in forms.items() if word not in same}, same


def usable_forms(embedding: Embedding, study: Study) -> dict[str, str]:
    """Return the stored forms of a study's words, without those whose contexts have too little in common."""
    forms = embedding.lookup(study.words).matches
    if not isinstance(embedding, ContextualEmbedding):
        return forms
    return {word: form for word, form in forms.items() if form in embedding.usable_words}


def _dependent_words(
    table: pd.DataFrame, embedding: Embedding, reference: EmbeddingLike | None
) -> dict[str, object] | None:
    """Return the record of dependent words, None without random words of the vocabulary."""
    source = embedding
    if reference is not None:
        source = reference if isinstance(reference, Embedding) else load_embedding(reference)
        if source.dimensions != embedding.dimensions or source.reference is None:
            raise ArgumentError(
                f"reference: {source.name!r} has {len(source):,} words of {source.dimensions} dimensions. Give vectors "
                f"of at least {FEWEST:,} random words, with the {embedding.dimensions} dimensions of "
                f"{embedding.name!r}."
            )
    if (vocabulary := vocabulary_statistics(source)) is None:
        return None
    lists = lists_of_pairs(table)
    words = list(dict.fromkeys(word for members in lists.values() for word in members))
    vectors = dict(zip(words, unit_rows_of(embedding, words), strict=True))
    return dependence_record(lists, vectors, vocabulary)


def vocabulary_statistics(embedding: Embedding) -> Vocabulary | None:
    """Return what random words of an embedding have in common, None without a sample of them; computed once."""
    if embedding not in _VOCABULARIES:
        reference = embedding.reference
        _VOCABULARIES[embedding] = None if reference is None else Vocabulary.from_reference(reference)
    return _VOCABULARIES[embedding]


def _of_contexts(
    embedding: Embedding, protected: pd.DataFrame, attributes: pd.DataFrame, connections: Mapping[tuple[str, str], str]
) -> dict[str, object]:
    """Return the number of contexts of a word, and the errors of contrasts over them, if the vectors are means."""
    if not isinstance(embedding, ContextualEmbedding):
        return {}
    words = [*protected["word"], *attributes["word"]]
    counts = embedding.keeping([form for word in words if (form := embedding.match(word))]).contexts
    return {
        "contexts": {
            "median": int(np.median(counts)),
            "fewest": int(counts.min()),
            "same_for_all": embedding.paired,
            "corrected": True,
        },
        "context_errors": contrast_errors(embedding, protected, attributes, connections),
    }


def _raise_if_lists_share_a_vector(study: Study, forms: dict[str, str], embedding: Embedding) -> None:
    """Raise `StudyError` if words of two lists match the same vector."""
    first_words: dict[str, tuple[str, str, str]] = {}
    for role, lists in (("protected", study.protected), ("attribute", study.attribute_lists)):
        for word, name in members(lists, forms).itertuples(index=False):
            other, *where = first_words.setdefault(forms[word], (word, role, name))
            if where != [role, name]:
                its_list = where[1]
                raise StudyError(
                    f"The words {other!r} (in {its_list!r}) and {word!r} (in {name!r}) of the study {study.name!r} "
                    f"match the same vector {forms[word]!r} under the case rule {embedding.case_text!r}. Take one of "
                    f"them out of its list, or look words up as they are ({setting('case', 'exact')})."
                )


def _lost_hint(study: Study, lost: list[dict[str, str]], embedding: Embedding) -> str:
    """Return sentences on why words may be lost, and where to see more."""
    texts = [_case_hint(embedding)]
    if any(" " in entry["word"] for entry in lost):
        texts.append(f" Entries of several words can be the mean of their words ({setting('phrases', 'mean')}).")
    controls = [entry for entry in lost if entry["list"] in CONTROLS and entry["role"] == "attribute"]
    english = sum(len(words) for words in (study.human, study.neutral) if is_bundled(words))
    if 2 * sum(is_bundled(getattr(study, entry["list"])) for entry in controls) > english:
        texts.append(
            " Most of the lost words are bundled English control words. If the study is not in English, state its "
            'language (language = "de") and take human = "none" and neutral = "none", or lists in that language.'
        )
    return f"{''.join(texts)} {worded('bb.check_words', '`bayesbias words`')} lists near spellings."


def _noise_hint(study: Study, embedding: Embedding) -> str:
    """Return a sentence on words whose contexts have too little in common; empty if there are none."""
    present, usable = embedding.lookup(study.words).matches, usable_forms(embedding, study)
    noisy = [word for word in present if word not in usable]
    if not noisy:
        return ""
    return (
        f" Of {name_some(map(repr, noisy))} {embedding.why_lost(noisy[0])}: no cosine can be corrected for the number "
        "of contexts. Give more sentences."
    )


def _case_hint(embedding: Embedding) -> str:
    if embedding.case_text != "exact":
        return ""
    forms = setting("case", "exact,lower,title")
    return f" If the words are only spelt in another way, look them up in other forms too ({forms})."
