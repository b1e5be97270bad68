"""`score_array`: bias scores by rule, base pair, target word and seed, from which reliability is estimated."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import check_choice, check_count, check_items, check_type
from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.base.lost_words import MAX_LOST, WordList, check_max_lost, judge_lost_words
from bayesbias.base.machine import free_memory, require, threadpool_limits
from bayesbias.base.number_text import counted
from bayesbias.base.progress import with_progress
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import (
    ArgumentError,
    DuplicatesWarning,
    LostWordsWarning,
    MeasureError,
    NotEnoughMemoryError,
    did_you_mean,
    name_some,
    warn_user,
)
from bayesbias.geometry import unit_rows
from bayesbias.metrics.directions.word_scores import (
    RULES,
    BasePairs,
    Pairs,
    as_base_pairs,
    nbm,
    pair_label,
    raise_if_parallel,
    rule_conventions,
)
from bayesbias.metrics.look_up import as_embedding, checked_words

if TYPE_CHECKING:
    import xarray as xr


Queries = Mapping[str, Sequence[str]] | str | os.PathLike[str]
DIMS = ("rule", "base_pair", "target_word", "seed")
# Words that a core scores at once, so that their vectors stay in its cache.
_WORDS = 2000
# Scores larger than this share of the free memory are kept on disk and read in parts of `_PART` bytes.
_SHARE = 0.5
_PART = 64e6
_NEIGHBOURS = 100


def load_target_words(name: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return a list of target words, bundled or from a file.

    Parameters
    ----------
    name
        ``"occ16"``, 320 occupation words of Bolukbasi et al. (2016), some of them phrases such as
        ``assistant_professor``; ``"occ18"``, 76 occupation words, or ``"adj"``, 230 adjectives of Garg et al. (2018).
        Or the path of a TOML file (text that ends in ``.toml`` is a path) with ``words = ["nurse", ...]``.

    Raises
    ------
    MeasureError
        If there is no such list, or the file has no list of words.
    InputFileError
        If the file cannot be read.

    Notes
    -----
    The paper's fourth list, Google10K, is not bundled: its source allows educational, personal and research use only.
    It is at github.com/first20hours/google-10000-english, ``google-10000-english.txt``, with one word per line.

    References
    ----------
    Du, Fang and Nguyen (2021), section 5.1 and appendix A.2.

    Examples
    --------
    >>> [len(bb.reliability.load_target_words(name)) for name in ("occ16", "occ18", "adj")]
    [320, 76, 230]
    """
    path = _path(name, "words", "target words")
    document = read_toml(path, MeasureError)
    words = checked_words(f"{path}: words", document.get("words"))
    if not words:
        raise MeasureError(f'{path} has no words. Write them as words = ["nurse", ...].')
    return words


def load_queries(name: str | os.PathLike[str] = "gender") -> dict[str, tuple[str, ...]]:
    """Return queries, bundled or from a file: lists of words by the name of the concept that they represent.

    Parameters
    ----------
    name
        ``"gender"``: career, family, arts, arts_2, math and science, of eight words each. Or the path of a TOML file
        (text that ends in ``.toml`` is a path) with a table ``[queries]`` of lists, such as ``pets = ["cat", "dog"]``.

    Raises
    ------
    MeasureError
        If there are no such queries, or one has fewer than two words.
    InputFileError
        If the file cannot be read.

    References
    ----------
    Du, Fang and Nguyen (2021), appendix A.3, after Caliskan, Bryson and Narayanan (2017).

    Examples
    --------
    >>> bb.reliability.load_queries()["math"][:3]
    ('math', 'algebra', 'geometry')
    """
    path = _path(name, "queries", "queries")
    return checked_queries(read_toml(path, MeasureError).get("queries"), f"{path}: ")


def as_queries(queries: Queries) -> dict[str, tuple[str, ...]]:
    """Return queries, given as lists of words or as a name or file."""
    if isinstance(queries, str | os.PathLike):
        return load_queries(queries)
    return checked_queries(queries, "")


def checked_queries(queries: Any, where: str) -> dict[str, tuple[str, ...]]:
    """Return queries; raise `MeasureError` unless each has two or more different words. Messages begin with `where`."""
    if not isinstance(queries, Mapping) or not queries or not all(isinstance(name, str) for name in queries):
        raise MeasureError(
            f"{where}queries={queries!r}: give lists of words by name, such as {{'math': ['algebra', 'geometry']}}; "
            'in a TOML file below [queries], as math = ["algebra", "geometry"].'
        )
    checked = {name: checked_words(f"{where}The query {name!r}", words) for name, words in queries.items()}
    for name, words in checked.items():
        if len(words) < 2 or len(set(words)) < len(words):
            raise MeasureError(
                f"{where}The query {name!r} has {counted(len(words), 'word')}, {len(set(words))} of them different. "
                "Give two or more, each once."
            )
    return checked


def _path(name: str | os.PathLike[str], kind: str, what: str) -> Path:
    check_type("name", name, (str, os.PathLike), f"the name of {what}, or the path of a TOML file")
    if isinstance(name, os.PathLike) or name.endswith(".toml"):
        return Path(name)
    bundled_names = sorted(path.stem for path in bundled("data", "reliability", kind).glob("*.toml"))
    if name not in bundled_names:
        raise MeasureError(
            f"There are no {what} {name!r}{did_you_mean(name, bundled_names)}. Give the name of a bundled list "
            f"({', '.join(bundled_names)}) or the path of a TOML file."
        )
    return bundled("data", "reliability", kind, f"{name}.toml")


def score_array(
    embeddings: Mapping[Any, EmbeddingLike],
    words: Sequence[str] | str | os.PathLike[str] | None = None,
    *,
    rules: Sequence[str] = ("db_wa", "ripa", "nbm"),
    base_pairs: BasePairs = "gender",
    k: int | None = None,
    max_lost: float = MAX_LOST,
    progress: bool = True,
) -> "xr.DataArray":
    """Return scores of target words by rule and base pair, in embeddings that differ only in their training's seed.

    Parameters
    ----------
    embeddings
        Embeddings by seed, of the same dimensions. Files are read twice, and one at a time is in memory.
    words
        Target words, or the name or file of a list (see `load_target_words`). None uses every word that all seeds have.
    rules
        ``"db_wa"``, ``"ripa"``, ``"nbm"`` or ``"ripa_unit"`` (see `bayesbias.metrics.word_scores`). The paper's
        equation of RIPA, ``"ripa"``, uses the original lengths of word vectors; its published code, ``"ripa_unit"``,
        scales them to length 1.
    base_pairs
        Pairs of words, or the name or file of some (see `bayesbias.metrics.load_base_pairs`).
    k
        Number of neighbours, among all words of an embedding, that ``"nbm"`` counts: by default 100. Not for other
        rules.
    max_lost
        Share of the target words that may be lost, from 0 to 1.
    progress
        Whether to show a progress bar, with one step per seed.

    Returns
    -------
    xarray.DataArray
        Scores with the dims `rule`, `base_pair` (such as ``"he ~ she"``; a positive score leans towards the first
        word), `target_word` and `seed`: the paper's B; its B' is ``scores.mean("seed")``. Words and base pairs that any
        seed lacks are left out for all seeds, and listed in `attrs`: `lost_words`, `lost_base_pairs`. Scores that would
        need more than half of the free memory are kept in a temporary file, as a dask array.

    Raises
    ------
    MeasureError
        If the seeds' embeddings differ in dimensions, two of them are the same, no word or base pair is left, or an
        embedding has no more than `k` words and the rules include ``"nbm"``.
    LostWordsError
        If more target words are lost than `max_lost` allows; without `words`, of the words that any seed has.
    NotEnoughMemoryError
        If the scores do not fit into memory, and dask is not installed.

    References
    ----------
    Yupei Du, Qixiang Fang and Dong Nguyen (2021). Assessing the reliability of word embedding gender bias measures.
    EMNLP 2021, 10012-10034, sections 3.1 and 4.

    Examples
    --------
    >>> seeds = {seed: bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2, 3)}
    >>> scores = bb.reliability.score_array(seeds, ["algebra", "poetry"], base_pairs=[("he", "she"), ("man", "woman")])
    >>> dict(scores.sizes)
    {'rule': 3, 'base_pair': 2, 'target_word': 2, 'seed': 3}
    >>> scores.sel(rule="db_wa", target_word="poetry").mean("seed").round(2).values
    array([-0.07, -0.05])
    """
    import xarray as xr

    check_type("embeddings", embeddings, Mapping, "a mapping of seeds to embeddings")
    chosen = _checked_rules(rules)
    if "nbm" not in chosen and k is not None:
        raise MeasureError("k is given, but no rule counts neighbours. Leave it out, or add the rule 'nbm'.")
    neighbours = check_count("k", _NEIGHBOURS if k is None else k)
    pairs = as_base_pairs(base_pairs)
    check_max_lost(max_lost)
    wanted = _target_words(words)
    seeds = _checked_seeds(embeddings)
    others = None if wanted is None or "nbm" in chosen else (*wanted, *(word for pair in pairs for word in pair))
    survey = _survey(embeddings, others, wanted, pairs, max_lost)
    if "nbm" in chosen and neighbours >= survey.smallest:
        raise MeasureError(
            f"An embedding has {survey.smallest:,} words, but the rule 'nbm' seeks {neighbours:,} neighbours each. "
            f"Give k of at most {survey.smallest - 1:,}, load more words, or leave 'nbm' out of the rules."
        )
    labels = [pair_label(pair) for pair in survey.pairs]
    sizes = (len(seeds), len(chosen), len(labels), len(survey.words))
    held, keep = _room(sizes)
    last, rows = survey.vocabulary, survey.vocabulary.rows(survey.words)
    for place, given in enumerate(with_progress(list(embeddings.values()), "Scoring seeds", progress=progress)):
        source = as_embedding(given, others)
        vocabulary = _vocabulary(source, survey.words, last)
        if vocabulary is not last:
            last, rows = vocabulary, vocabulary.rows(survey.words)
        _score(source, rows, survey, chosen, neighbours, held[place])
    scores = xr.DataArray(
        keep(held),
        dims=("seed", "rule", "base_pair", "target_word"),
        coords={
            "seed": seeds,
            "rule": np.asarray(chosen, dtype=str),
            "base_pair": np.asarray(labels, dtype=str),
            "target_word": np.asarray(survey.words, dtype=str),
        },
        name="score",
        attrs={
            "lost_words": list(survey.lost_words),
            "lost_base_pairs": [pair_label(pair) for pair in survey.lost_pairs],
            "conventions": "; ".join(f"{rule}: {rule_conventions(rule, neighbours, survey.size)}" for rule in chosen),
        },
    )
    return scores.transpose(*DIMS)


@dataclass(frozen=True)
class _Survey:
    """Words and base pairs that all seeds have, and those that are lost."""

    words: tuple[str, ...]
    pairs: Pairs
    lost_words: tuple[str, ...]
    lost_pairs: Pairs
    size: int  # of the largest vocabulary
    smallest: int
    vocabulary: "_Vocabulary"  # of the last seed


def _checked_rules(rules: Sequence[str]) -> list[str]:
    chosen = [check_choice("rules", rule, RULES) for rule in check_items("rules", rules, "a list of scoring rules")]
    if not chosen or len(set(chosen)) < len(chosen):
        raise ArgumentError(f"rules={chosen!r}: give one or more of {', '.join(RULES)}, each once.")
    return chosen


def _checked_seeds(embeddings: Mapping[Any, EmbeddingLike]) -> Any:
    """Return the seeds as labels: integers, or else text."""
    seeds = list(embeddings)
    if not seeds or not all(isinstance(seed, int | np.integer | str) for seed in seeds):
        raise ArgumentError(
            f"embeddings has {counted(len(seeds), 'seed')}{f', such as {seeds[0]!r}' if seeds else ''}: give a "
            "mapping such as "
            '{1: "seed1.npz", 2: "seed2.npz"}.'
        )
    whole = all(isinstance(seed, int | np.integer) for seed in seeds)
    return np.asarray(seeds) if whole else np.asarray([str(seed) for seed in seeds], dtype=str)


def _target_words(words: Any) -> tuple[str, ...] | None:
    if words is None:
        return None
    listed = load_target_words(words) if isinstance(words, str | os.PathLike) else checked_words("words", words)
    if not listed:
        raise MeasureError("There are no target words. Give a list of words, the name of one, or None for all.")
    return tuple(dict.fromkeys(listed))


def _survey(
    embeddings: Mapping[Any, EmbeddingLike],
    others: Sequence[str] | None,
    wanted: tuple[str, ...] | None,
    pairs: Pairs,
    max_lost: float,
) -> _Survey:
    """Return what all seeds have in common, before any is scored; raise errors and warn about differences."""
    dimensions: dict[Any, int] = {}
    contents: dict[bytes, Any] = {}
    every: dict[str, str] = {}
    common: set[str] = set()
    last: _Vocabulary | None = None
    base_words = {word for pair in pairs for word in pair}
    lost_base_words: set[str] = set()
    sizes: list[int] = []
    for seed, given in embeddings.items():
        source = as_embedding(given, others)
        dimensions[seed] = source.dimensions
        if len(set(dimensions.values())) > 1:
            first = next(iter(dimensions))
            raise MeasureError(
                f"Seed {first} has vectors of {dimensions[first]} dimensions, but seed {seed} of {source.dimensions}. "
                "Train the embeddings with the same settings, so that they differ only in the seed."
            )
        vocabulary = _vocabulary(source, wanted, last)
        if vocabulary is not last:
            forms = vocabulary.forms
            common = common & forms.keys() if last else set(forms)
            every |= {word: form for word, form in forms.items() if word not in every}
            last = vocabulary
        base = source.lookup(base_words)
        lost_base_words.update(base.lost)
        sizes.append(len(source))
        some = {*base.matches.values(), *islice(forms.values(), 100)}
        content = source.stored(sorted(some)).tobytes()
        if content and content in contents:
            raise MeasureError(
                f"The embeddings of seeds {contents[content]} and {seed} are identical. Give only one of them."
            )
        contents[content] = seed
    targets = tuple(every) if wanted is None else wanted
    lost = tuple(word for word in targets if word not in common)
    judge_lost_words(
        f"One or more of the {counted(len(embeddings), 'embedding')}",
        [WordList("the target words", len(targets), lost)],
        "They are left out for all seeds, and named in the scores' attrs (lost_words).",
        max_lost=max_lost,
    )
    distinct_words = _distinct([word for word in targets if word in common], every)
    if not distinct_words:
        raise MeasureError("There is no target word that all seeds have. Give other target words.")
    lost_pairs = tuple(pair for pair in pairs if set(pair) & lost_base_words)
    embedded_pairs = tuple(pair for pair in pairs if pair not in lost_pairs)
    missing = f"One or more of the embeddings lack {name_some(sorted(lost_base_words))}"
    if not embedded_pairs:
        raise MeasureError(f"{missing}, so no base pair is left. Give pairs of words that all embeddings have.")
    if lost_pairs:
        warn_user(
            f"{missing}: left {len(lost_pairs)} of the {counted(len(pairs), 'base pair')} out "
            f"({name_some(map(pair_label, lost_pairs))}).",
            LostWordsWarning,
        )
    return _Survey(distinct_words, embedded_pairs, lost, lost_pairs, max(sizes), min(sizes), vocabulary)


@dataclass(frozen=True, eq=False)
class _Vocabulary:
    """Words of an embedding, which seeds usually share, and the forms of the target words among them."""

    words: tuple[str, ...]
    case: Any
    forms: dict[str, str]

    def rows(self, words: tuple[str, ...]) -> Integers:
        """Return the rows of target words that the embedding has."""
        if words == self.words:
            return np.arange(len(words))
        row = dict(zip(self.words, range(len(self.words)), strict=True))
        rows: Integers = np.fromiter((row[self.forms[word]] for word in words), dtype=np.int64, count=len(words))
        return rows


def _vocabulary(source: Embedding, wanted: Sequence[str] | None, last: _Vocabulary | None) -> _Vocabulary:
    """Return the vocabulary of an embedding, or the last one if it is the same, since looking up all words is slow."""
    if last is not None and last.case == source.case and last.words == source.words:
        return last
    return _Vocabulary(source.words, source.case, source.lookup(source.words if wanted is None else wanted).matches)


def _distinct(words: Sequence[str], forms: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words without those that match the same vector as an earlier one."""
    if len(set(map(forms.__getitem__, words))) == len(words):
        return tuple(words)
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(forms[word], word)
    dropped = [word for word in words if first[forms[word]] != word]
    warn_user(
        f"{len(dropped)} of the {len(words)} target words are left out, because they match the same vector as an "
        f"earlier word: {name_some(dropped)}.",
        DuplicatesWarning,
    )
    return tuple(first.values())


def _score(source: Embedding, rows: Integers, survey: _Survey, rules: Sequence[str], k: int, scores: Floats) -> None:
    """Write the scores of some rows of an embedding into an array of shape (rules, base pairs, words)."""
    first, second = (source.matrix(pair[side] for pair in survey.pairs).astype(np.float64) for side in (0, 1))
    raise_if_parallel(survey.pairs, first, second)
    linear = [position for position, rule in enumerate(rules) if rule != "nbm"]
    if linear:
        _score_linear(
            source,
            rows,
            first,
            second,
            [rules[position] for position in linear],
            [scores[position] for position in linear],
        )
    if "nbm" in rules:
        scores[list(rules).index("nbm")] = nbm(
            source.vectors[rows], first, second, vocabulary=source.vectors, k=k, target_rows=rows
        )


def _score_linear(
    source: Embedding,
    rows: Integers,
    first: Floats,
    second: Floats,
    rules: Sequence[str],
    rule_scores: Sequence[Floats],
) -> None:
    """Write the scores by rules that are inner products with one direction per base pair, in one matrix product."""
    apart = unit_rows(first) - unit_rows(second)
    along = unit_rows(first - second)
    directions = np.concatenate([apart if rule == "db_wa" else along for rule in rules])
    whole = np.array_equal(rows, np.arange(len(source)))

    def score(start: int) -> None:
        part = slice(start, start + _WORDS)
        vectors = source.vectors[part] if whole else source.vectors[rows[part]]
        vectors = vectors.astype(np.float64)
        products = directions @ vectors.T
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        for rule, scores, product in zip(rules, rule_scores, np.split(products, len(rules)), strict=True):
            if rule == "ripa":
                scores[:, part] = product
            else:
                np.divide(product, lengths, out=scores[:, part])

    # Blocks in parallel, each on one core.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(score, range(0, len(rows), _WORDS)))


def _room(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return an array for scores, on disk if it is large, and a function that makes the final array from it."""
    needed = 8 * int(np.prod(shape))
    if needed <= _SHARE * free_memory():
        return np.empty(shape), np.asarray
    purpose = f"A file of {needed / 1e9:,.1f} GB, of the scores of {shape[-1]:,} words, more than half the free memory,"
    advice = "Or use fewer words."
    arrays = require("dask.array", "cluster", purpose, error=NotEnoughMemoryError, advice=advice)
    with TemporaryFile(suffix=".scores") as file:  # the mapping holds it until the scores are gone
        on_disk = np.memmap(file, dtype=np.float64, mode="w+", shape=shape)
    size = max(1, int(_PART / (needed / shape[-1])))

    def keep(scores: Any) -> Any:
        return arrays.from_array(scores, chunks=(*shape[:-1], size), name=False)

    return on_disk, keep
