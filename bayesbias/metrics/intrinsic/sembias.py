"""SemBias: which of four pairs of words is most like he and she."""

import os

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_flag, resolve_seed
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import unit_rows
from bayesbias.metrics.embedding_scores.result import EmbeddingScore, embedding_score
from bayesbias.metrics.embedding_scores.statistics import Quantity
from bayesbias.metrics.look_up import as_embedding, checked_pairs
from bayesbias.metrics.quality.benchmark_files import read_sembias

KINDS = ("definition", "none", "none", "stereotype")
_SUBSET = (440, 40)  # the authors' file, and how many of its last tuples none of their training words are in


def sembias(
    embedding: EmbeddingLike,
    path: str | os.PathLike[str],
    *,
    pair: tuple[str, str] = ("he", "she"),
    normalize: bool = False,
    subset: int | None = None,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> EmbeddingScore:
    r"""Measure how often the pair that is most like he and she is a definition, a stereotype, or neither.

    Of each tuple of four pairs, that one is taken whose difference has the largest cosine with that of he and she.

    Parameters
    ----------
    embedding
        See `bayesbias.metrics`.
    path
        The file of SemBias (see `read_sembias`).
    pair
        The two words that the pairs are compared with, the masculine one first as in the file.
    normalize
        Whether each word's vector is scaled to length 1 before differences are taken. The published code does not.
    subset
        How many of the last tuples are of words that the authors did not train on, and are reported on their own too.
        None: 40, if the file has 440 tuples; else none.
    random_seed
        Seed of the intervals' draws.
    hdi_prob
        Probability inside the intervals.

    Returns
    -------
    EmbeddingScore
        The shares `definition` (the headline; higher is better), `stereotype` and `none`, and where there is a subset
        `definition_of_subset` and so on. The items are the tuples. Those of which the embedding lacks a word are left
        out and named in `lost`.

    Raises
    ------
    MeasureError
        If a line of the file is not four pairs, the embedding lacks a word of `pair`, fewer than two tuples are left,
        or the two words of a pair have the same vector.

    Warns
    -----
    LostWordsWarning
        If tuples are lost.

    Notes
    -----
    The 440 tuples are made of 22 definitions and 20 stereotypes, each of one with each of the other. They are not 440
    independent ones: for the intervals the definitions and the stereotypes are drawn, not the tuples (Owen and Eckles
    2012). Before any tuple is seen, each share has Jeffreys' prior.

    References
    ----------
    Jieyu Zhao, Yichao Zhou, Zeyu Li, Wei Wang and Kai-Wei Chang (2018). Learning gender-neutral word embeddings. EMNLP
    2018, section 4.1. Dawkins (2021), appendix B.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "sembias.txt"
    >>> rows = ["king:queen cup:lid pen:pencil cook:maid", "king:queen pen:lid cup:pencil maid:cook"]
    >>> _ = path.write_text("\n".join(rows))
    >>> words = "he", "she", "king", "queen", "cup", "lid", "pen", "pencil", "cook", "maid"
    >>> score = bb.metrics.sembias((words, np.random.default_rng(3).normal(size=(10, 5))), path, random_seed=1)
    >>> list(score.items["chosen"])
    ['none', 'definition']
    """
    seed = resolve_seed(random_seed)
    tuples = read_sembias(path)
    (pair,) = checked_pairs([pair])
    default = _SUBSET[1] if len(tuples) == _SUBSET[0] else 0
    last = default if subset is None else check_count("subset", subset, least=0)
    source = as_embedding(embedding, {*pair, *(word for four in tuples for each in four for word in each)})
    if missing := source.lookup(pair).lost:
        raise MeasureError(f"The embedding {source.name!r} lacks {name_some(missing)}. Give another pair.")
    known = source.lookup(word for four in tuples for each in four for word in each).found
    has = [all(word in known for each in four for word in each) for four in tuples]
    labels = [" ".join(f"{a}:{b}" for a, b in four) for four in tuples]
    lost = [label for label, whole in zip(labels, has, strict=True) if not whole]
    if sum(has) < 2:
        raise MeasureError(
            f"Of the {len(tuples):,} tuples the embedding {source.name!r} has the words of {sum(has)}, but at least "
            f"two are needed (the case rule is {source.case_text!r})."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks a word of {len(lost):,} of the {len(tuples):,} tuples: "
            f"{name_some(lost, 3)}. The shares are about the others; the result names them (lost).",
            LostWordsWarning,
        )
    places = np.flatnonzero(has)
    kept = [tuples[place] for place in places]
    target = _differences(source, [pair], scaled=check_flag("normalize", normalize))[0]
    candidates = _differences(source, [each for four in kept for each in four], scaled=normalize)
    chosen = (candidates @ target).reshape(-1, len(KINDS)).argmax(axis=1)
    kinds = np.array(KINDS)[chosen]
    items = pd.DataFrame({
        "item": [labels[place] for place in places],
        "part": np.where(places >= len(tuples) - last, "subset", "") if last else "",
        "definition_pair": [":".join(four[0]) for four in kept],
        "stereotype_pair": [":".join(four[3]) for four in kept],
        "chosen": kinds,
    })  # fmt: skip
    names = ("definition", "stereotype", "none")
    items = items.assign(**{name: (kinds == name).astype(int) for name in names})
    crossed = ("definition_pair", "stereotype_pair")
    quantities = [Quantity(name, "share", (name,), crossed=crossed) for name in names]
    if last and (items["part"] == "subset").sum() > 1:
        quantities += [Quantity(f"{name}_of_subset", "share", (name,), ("subset",), crossed) for name in names]
    return embedding_score(
        "sembias",
        source.name,
        items,
        quantities,
        conventions=(
            f"largest cosine with {pair[0]} - {pair[1]}, differences of vectors "
            f"{'of length 1' if normalize else 'as stored'}; definitions and stereotypes are drawn, not tuples"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
        lost={"tuples": lost},
    )


def _differences(source: Embedding, pairs: list[tuple[str, str]], *, scaled: bool) -> Floats:
    """Return the differences of pairs of words, of length 1."""
    words = [[pair[side] for pair in pairs] for side in (0, 1)]
    first, second = (unit_rows(found) if scaled else found.astype(np.float64) for found in map(source.matrix, words))
    differences = first - second
    lengths = np.linalg.norm(differences, axis=1)
    if (lengths < 1e-12).any():
        a, b = pairs[int(lengths.argmin())]
        raise MeasureError(
            f"{a!r} and {b!r} have the same vector in the embedding {source.name!r}, so they differ in no direction."
        )
    scaled_differences: Floats = differences / lengths[:, np.newaxis]
    return scaled_differences
