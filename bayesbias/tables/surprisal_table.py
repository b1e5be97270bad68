"""Build a table of surprisals from a language model and a study."""

import os
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_flag, check_items, is_text
from bayesbias.base.lost_words import MAX_LOST, check_max_lost
from bayesbias.base.machine import check_memory
from bayesbias.embeddings.language_models.candidates import word_vectors
from bayesbias.embeddings.language_models.device_loop import Precision
from bayesbias.embeddings.language_models.prompts import (
    ATTRIBUTE,
    PROTECTED,
    Prompt,
    fill_protected,
    mirrored,
    pair_templates,
    places_in,
    warn_of_plurals,
)
from bayesbias.embeddings.surprisals import (
    ModelSource,
    Predictor,
    Source,
    function_source,
    log_probabilities,
    model_source,
)
from bayesbias.errors import ArgumentError, QuestionWarning, name_some, warn_user
from bayesbias.studies.study import Study, StudyLike, load_study
from bayesbias.tables.errors_over_contexts import template_facts
from bayesbias.tables.measures import KEY as MEASURE
from bayesbias.tables.measures import SURPRISAL
from bayesbias.tables.schema import with_provenance
from bayesbias.tables.study_pairs import StudyPairs, judge_lost, lost_entries
from bayesbias.tables.word_worths import KEY as DEPENDENT_WORDS
from bayesbias.tables.word_worths import Vocabulary, dependence_record, lists_of_pairs

_BYTES_A_NUMBER = 200  # peak, of one template, protected and attribute word: pieces, keys and answers


def surprisal_table(
    model: str | os.PathLike[str] | Predictor,
    study: StudyLike,
    templates: str | Iterable[str],
    *,
    context: Literal["both", "left", "sentence"] | None = None,
    baseline: Literal["mask"] | Iterable[str] | None = None,
    by_template: bool = False,
    controls: bool = False,
    max_lost: float = MAX_LOST,
    batch: int | None = None,
    attempts: int = 3,
    timeout: float | None = None,
    cache: str | os.PathLike[str] | None = None,
    device: str | None = None,
    precision: Precision | None = None,
    name: str | None = None,
    version: str | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Return the table of surprisals of a study's attribute words beside its protected words, in a language model.

    Parameters
    ----------
    model
        Folder of a masked or causal language model that transformers' ``save_pretrained`` wrote. Or a function: it
        takes a list of prompts, each with ``before``, ``after`` and ``words``, and returns for each the natural log
        probabilities of its words between these texts.
    study
        A `Study`, the name of a bundled one, or the path of a TOML file.
    templates
        Sentences with ``PROTECTED`` and ``ATTRIBUTE`` in place of the two words, or the name of a bundled set
        (`load_pair_templates`). Words at the beginning of a sentence get a capital, and "a" becomes "an" where it must.
    context
        What an attribute word is given. ``"both"``: the sentence on both sides (masked models). ``"left"``: the text on
        its left (causal models, their default), so that PROTECTED must come before ATTRIBUTE. ``"sentence"``: the
        probability of the whole sentence in a causal model, among the sentences with the study's attribute words.
    baseline
        Surprisal to subtract, as Kurita et al. (2019) do: ``"mask"`` for that of the attribute word with the protected
        word masked as well (masked models), or neutral words in the place of PROTECTED, such as ``["person"]``, for
        their mean. None (default): none; the contrast over several groups cancels what is likely beside all of them.
    by_template
        Whether to return one row for each pair and template, with the column `template`: to look at, not to fit.
    controls
        Whether to ask about the human and neutral control words of the study too, which are most of its words.
    max_lost
        Largest share of a list's words that the model may not know, from 0 to 1; control words have no limit.
    batch
        Pieces in a batch on the device, padding included; for a function, prompts in one call (default 32).
    attempts, timeout
        For a function, as in `encode`.
    cache
        File that keeps the log probabilities, as in `encode`: an interrupted run continues where it stopped.
    device, precision
        As for `contextual_embedding`.
    name, version
        Name of the model in reports; with a cache, a function needs one. Version of a function's model.
    progress
        Whether to show the number of texts and a progress bar.

    Returns
    -------
    pandas.DataFrame
        One row per pair, in the order of the study, with the columns of a distance table but `surprisal` and
        `surprisal_sd` in place of the two cosines: minus the natural log probability of the attribute word, in nats,
        mean over templates, and its standard error over templates (without one template alone).
        ``attrs["bayesbias"]`` names model, templates, measure and lost words.

    Raises
    ------
    ArgumentError
        If an argument is not valid, or a template does not fit the model.
    EmbeddingError
        If the model cannot be loaded or fails, or a function returns something else than log probabilities.
    InputFileError
        If the folder holds no language model, or the cache is damaged.
    LostWordsError
        If a list has no word that the model knows, or a group lost more than `max_lost`.
    NotEnoughMemoryError
        If the numbers of all templates do not fit into the free memory.

    Warns
    -----
    LostWordsWarning
        If the model does not know some words.
    QuestionWarning
        If words look like plurals where a template wants singulars, or there is a single template.

    Notes
    -----
    A word of several pieces is predicted piece by piece: in masked models with the later pieces of the word masked as
    well (Kauf and Ivanova 2023); in causal models, the probability includes that the word ends there (Pimentel and
    Meister 2024), so that "he" is not the beginning of "hero".

    References
    ----------
    Kauf and Ivanova (2023). A better way to do masked language model scoring. ACL.
    Kurita, Vyas, Pareek, Black and Tsvetkov (2019). Measuring bias in contextualized word representations. GeBNLP.
    Pimentel and Meister (2024). How to compute the probability of a word. EMNLP.

    Examples
    --------
    A function in place of a model: "he" has a probability of 0.6 after "engineer", else 0.2.

    >>> def model(prompts):
    ...     share = {("engineer", "he"): 0.6}
    ...     return [[np.log(share.get((prompt.before.split()[1], word), 0.2)) for word in prompt.words]
    ...             for prompt in prompts]
    >>> study = bb.Study(
    ...     name="occupations", protected={"male": ["engineer"], "female": ["nurse"]},
    ...     attributes={"he": ["he"], "she": ["she"]},
    ...     associated=[("male", "he"), ("female", "she")], human="none", neutral="none",
    ... )
    >>> templates = ["The PROTECTED said that ATTRIBUTE was tired.", "The PROTECTED left because ATTRIBUTE was late."]
    >>> table = bb.surprisal_table(model, study, templates)
    >>> table[["protected_word", "attribute_word", "connection", "surprisal"]].round(3)
      protected_word attribute_word  connection  surprisal
    0       engineer             he  associated      0.511
    1       engineer            she   different      1.609
    2          nurse             he   different      1.609
    3          nurse            she  associated      1.609
    """
    check_flag("by_template", by_template)
    max_lost = check_max_lost(max_lost)
    loaded, sentences = load_study(study), pair_templates(templates)
    if not check_flag("controls", controls):
        loaded = loaded.without_controls()
    source: Source
    if isinstance(model, str | os.PathLike):
        _check_absent("a folder is known by its files", version=version, timeout=timeout)
        source = model_source(model, context, device=device, precision=precision, batch=batch, name=name)
    else:
        _check_absent("a function has its own", context=context, device=device, precision=precision)
        source = function_source(
            model, batch=batch, attempts=attempts, timeout=timeout, name=name, version=version, cached=cache is not None
        )
    _check_order(source, sentences)
    subjects = _subjects(baseline, source)
    if baseline != "mask" and (strange := _unknown(source, map(mirrored, sentences), subjects)):
        raise ArgumentError(f"baseline: {source.name!r} does not know {name_some(map(repr, sorted(strange)))}.")
    pairs, lost = _known_pairs(source, loaded, sentences, max_lost)
    words_at = {PROTECTED: pairs.protected["word"], ATTRIBUTE: pairs.attributes["word"]}
    warn_of_plurals(sentences, words_at.__getitem__)
    if len(sentences) == 1 and not by_template:
        warn_user(
            "With a single template, the error that comes from the choice of the sentence is unknown, and the "
            "intervals leave it out. Give several templates.",
            QuestionWarning,
        )
    protected, attributes = pairs.protected["word"].tolist(), pairs.attributes["word"].tolist()
    rows = [*protected, *subjects]
    check_memory(
        len(sentences) * len(rows) * len(attributes) * _BYTES_A_NUMBER,
        f"The surprisals of {len(rows):,} x {len(attributes):,} words in {len(sentences):,} templates",
        "Take shorter lists, or fewer templates.",
    )
    every = _surprisals(source, sentences, rows, attributes, cache=cache, progress=progress)
    numbers = every[:, : len(protected)]
    if subjects:
        numbers = numbers - every[:, len(protected) :].mean(axis=1, keepdims=True)
    if by_template:
        frames = [pairs.frame({SURPRISAL.column: of_template}) for of_template in numbers]
        return pd.concat([frame.assign(template=text) for frame, text in zip(frames, sentences, strict=True)])
    pairs.check_memory()
    return _table(source, pairs, sentences, numbers, lost, subjects, max_lost)


def _table(
    source: Source,
    pairs: StudyPairs,
    sentences: tuple[str, ...],
    numbers: Floats,
    lost: list[dict[str, str]],
    subjects: list[str],
    max_lost: float,
) -> pd.DataFrame:
    """Return the table of surprisals (templates, protected words, attribute words) with its provenance."""
    count = len(sentences)
    columns = {SURPRISAL.column: numbers.mean(axis=0)}
    facts: dict[str, Any] = {}
    if count > 1:
        columns["surprisal_sd"] = numbers.std(axis=0, ddof=1) / np.sqrt(count)
        facts = {
            "contexts": {"median": count, "fewest": count, "same_for_all": True},
            **template_facts(numbers, pairs.protected, pairs.attributes, pairs.connections),
        }
    table = pairs.frame(columns)
    if isinstance(source, ModelSource) and (dependent := _dependent_words(source, table)):
        facts[DEPENDENT_WORDS] = dependent
    record = {
        "embedding": source.facts,
        **pairs.facts,
        MEASURE: SURPRISAL.record(),
        "templates": list(sentences),
        **({"baseline": subjects} if subjects else {}),
        **facts,
        "lost_words": lost,
        "max_lost": max_lost,
        "duplicates": {"policy": "drop", "dropped": 0, "same_vectors": 0},
    }
    return with_provenance(table, record)


def _check_absent(reason: str, **values: object) -> None:
    """Raise `ArgumentError` if an argument is given that this kind of model does not take."""
    for argument, value in values.items():
        if value is not None:
            raise ArgumentError(f"{argument}={value!r:.60} is not for this model: {reason}. Leave it out.")


def _check_order(source: Source, sentences: Iterable[str]) -> None:
    if not isinstance(source, ModelSource) or source.context != "left":
        return
    for sentence in sentences:
        if places_in(sentence)[0] == ATTRIBUTE:
            raise ArgumentError(
                f"templates: in {sentence!r:.80}, {ATTRIBUTE} comes before {PROTECTED}, of which a causal model then "
                "knows nothing. Put PROTECTED first, or compare whole sentences (context='sentence')."
            )


def _subjects(baseline: Any, source: Source) -> list[str]:
    """Return the words in the place of PROTECTED whose mean surprisal is subtracted."""
    if baseline is None:
        return []
    if isinstance(baseline, str):
        if baseline != "mask":
            raise ArgumentError(
                f"baseline={baseline!r:.60}: give 'mask', or a list of neutral words such as ['person']."
            )
        if not isinstance(source, ModelSource) or source.context != "both":
            raise ArgumentError(
                "baseline='mask' needs a masked model. Give a list of neutral words, such as ['person']."
            )
        return [str(source.model.tokenizer.mask_token)]
    subjects = check_items("baseline", baseline, "a list of neutral words")
    if not subjects or not all(is_text(word) and word.strip() for word in subjects):
        raise ArgumentError("baseline: give neutral words, such as ['person', 'someone'].")
    return list(dict.fromkeys(subjects))


def _known_pairs(
    source: Source, study: Study, sentences: Sequence[str], max_lost: float
) -> tuple[StudyPairs, list[dict[str, str]]]:
    """Return the words of a study that the source knows, and the entries of the others."""
    attributes, protected = (
        list(dict.fromkeys(chain.from_iterable(lists.values()))) for lists in (study.attribute_lists, study.protected)
    )
    unknown = {*_unknown(source, sentences, attributes), *_unknown(source, map(mirrored, sentences), protected)}
    pairs = StudyPairs.from_words(study, [word for word in study.words if word not in unknown])
    named = f"The model {source.name!r}"
    hint = "Use other words, or leave this list out of the study."
    pairs.raise_if_a_list_is_empty(named, hint)
    lost = lost_entries(study, dict.fromkeys(unknown, "the model's tokenizer does not know it"))
    judge_lost(study, lost, named, hint="", max_lost=max_lost)
    return pairs, lost


def _unknown(source: Source, sentences: Iterable[str], words: Sequence[str]) -> set[str]:
    """Return the words that the source does not know in the place of ATTRIBUTE in one of the sentences."""
    unknown: set[str] = set()
    for sentence in sentences:
        for prompt, places in fill_protected(sentence, "person").prompts(words):
            lacking = set(source.unknown(prompt))
            unknown |= {words[place] for word, place in zip(prompt.words, places, strict=True) if word in lacking}
    return unknown


def _surprisals(
    source: Source,
    sentences: tuple[str, ...],
    rows: list[str],
    attributes: list[str],
    *,
    cache: str | os.PathLike[str] | None,
    progress: bool,
) -> Floats:
    """Return the surprisals (templates, rows, attribute words) in nats."""
    places: list[tuple[Prompt, tuple[int, int], list[int]]] = []
    for number, sentence in enumerate(sentences):
        for row, word in enumerate(rows):
            of_place = fill_protected(sentence, word).prompts(attributes)
            places += [(prompt, (number, row), columns) for prompt, columns in of_place]
    answers = log_probabilities(source, [prompt for prompt, _, _ in places], cache=cache, progress=progress)
    numbers = np.empty((len(sentences), len(rows), len(attributes)))
    for (_, (number, row), columns), values in zip(places, answers, strict=True):
        numbers[number, row, columns] = -values
    if isinstance(source, ModelSource) and source.context == "sentence":  # among those with the study's words
        numbers += np.logaddexp.reduce(-numbers, axis=2, keepdims=True)
    return numbers


def _dependent_words(source: ModelSource, table: pd.DataFrame) -> dict[str, object] | None:
    """Return the record of dependent words from the model's vectors of its output pieces, None if it has few words."""
    lists = lists_of_pairs(table)
    words = list(dict.fromkeys(chain.from_iterable(lists.values())))
    measured = word_vectors(source.model, words)
    if measured is None:
        return None
    vectors, reference = measured
    return dependence_record(lists, dict(zip(words, vectors, strict=True)), Vocabulary.from_reference(reference))
