"""Word similarity: whether the cosine orders pairs of words as people do."""

import os

import numpy as np
import pandas as pd

from bayesbias.base.checks import HDI_PROB, resolve_seed
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import unit_rows
from bayesbias.metrics.embedding_scores.result import EmbeddingScore, embedding_score
from bayesbias.metrics.embedding_scores.statistics import Quantity
from bayesbias.metrics.look_up import as_embedding
from bayesbias.metrics.quality.benchmark_files import read_similarity


def word_similarity(
    embedding: EmbeddingLike,
    path: str | os.PathLike[str],
    *,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> EmbeddingScore:
    r"""Measure how well the cosine similarities of pairs of words agree with what people say.

    Parameters
    ----------
    embedding
        See `bayesbias.metrics`. Files have upper and lower case: an embedding in lower case finds the names of places
        with ``case=("exact", "lower")``.
    path
        A file of word similarity (see `read_similarity`): RG-65, MTurk, MEN, SimLex-999, WS-353 or your own.
    random_seed
        Seed of the interval's draws.
    hdi_prob
        Probability inside the interval.

    Returns
    -------
    EmbeddingScore
        `spearman`, the rank correlation of cosine similarities and people's scores, from -1 to 1. The items are the
        pairs: `human` and `cosine`. Pairs of which the embedding lacks a word are left out and named in `lost`.

    Raises
    ------
    MeasureError
        If a line of the file is not a pair with a score, fewer than three pairs are left, or all have the same score.

    Warns
    -----
    LostWordsWarning
        If pairs are lost: the correlation is about the others.

    Notes
    -----
    The interval is of the Bayesian bootstrap over pairs (Rubin 1981), with ranks made anew at each draw. Two embeddings
    are compared by `paired_change`, on the pairs that both have.

    References
    ----------
    Herbert Rubenstein and John B. Goodenough (1965). Contextual correlates of synonymy. Communications of the ACM 8,
    627-633. Felix Hill, Roi Reichart and Anna Korhonen (2015). SimLex-999. Computational Linguistics 41, 665-695.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "pairs.txt"
    >>> _ = path.write_text("cat dog 9\ncat car 1\ncar van 8\ndog van 2\n")
    >>> vectors = {"cat": [1.0, 0.1], "dog": [1.0, 0.3], "car": [0.1, 1.0], "van": [0.0, 1.0]}
    >>> round(bb.metrics.word_similarity(vectors, path, random_seed=1).value, 3)
    0.8
    """
    seed = resolve_seed(random_seed)
    pairs = read_similarity(path)
    source = as_embedding(embedding, {word for first, second, _ in pairs for word in (first, second)})
    known = source.lookup(word for first, second, _ in pairs for word in (first, second)).found
    kept = [pair for pair in pairs if pair[0] in known and pair[1] in known]
    lost = [f"{first} ~ {second}" for first, second, _ in pairs if first not in known or second not in known]
    if len(kept) < 3:
        raise MeasureError(
            f"Of the {len(pairs):,} pairs of {os.fspath(path)} the embedding {source.name!r} has {len(kept)}, but at "
            f"least three are needed (the case rule is {source.case_text!r})."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks a word of {len(lost):,} of the {len(pairs):,} pairs: "
            f"{name_some(lost, 5)}. The correlation is about the others; its result names them (lost).",
            LostWordsWarning,
        )
    first, second = (unit_rows(source.matrix(column)) for column in ([p[0] for p in kept], [p[1] for p in kept]))
    items = pd.DataFrame({
        "item": [f"{a} ~ {b}" for a, b, _ in kept],
        "human": [score for _, _, score in kept],
        "cosine": np.clip(np.einsum("ij,ij->i", first, second), -1.0, 1.0),
    })  # fmt: skip
    return embedding_score(
        "word_similarity",
        source.name,
        items,
        [Quantity("spearman", "spearman", ("human", "cosine"))],
        conventions="Spearman's correlation of cosine similarity and people's scores, ties at their mean rank",
        random_seed=seed,
        hdi_prob=hdi_prob,
        lost={"pairs": lost},
    )
