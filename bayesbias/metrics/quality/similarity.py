"""Word similarity: agreement of cosine similarities with people's scores."""

import os

import numpy as np
import pandas as pd

from bayesbias.base.checks import HDI_PROB, resolve_seed
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.geometry import unit_rows
from bayesbias.metrics.look_up import as_embedding, judge_lost_rows
from bayesbias.metrics.measure_entry import Measure
from bayesbias.metrics.quality.benchmark_files import read_similarity
from bayesbias.metrics.quantities import Quantity
from bayesbias.metrics.result import Items, MeasureResult, result_of_items
from bayesbias.metrics.shared_parameters import shared_parameters


@shared_parameters()
def word_similarity(
    embedding: EmbeddingLike,
    path: str | os.PathLike[str],
    *,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> MeasureResult:
    r"""Return the rank correlation of the cosine similarities of pairs of words with people's scores.

    Parameters
    ----------
    embedding
        Word vectors. Files have upper and lower case; an embedding in lower case finds place names if it is loaded with
        ``case=("exact", "lower")``.
    path
        File of word similarity (see `read_similarity`): RG-65, MTurk, MEN, SimLex-999, WS-353 or your own.

    Returns
    -------
    MeasureResult
        `spearman`, the rank correlation of cosine similarities and people's scores, from -1 to 1. The items are the
        pairs, with `human` and `cosine`. Pairs of which the embedding lacks a word are left out and listed
        (`lost_words`).

    Raises
    ------
    MeasureError
        If a line of the file is not a pair with a score, fewer than three pairs are left, or all have the same score.

    Warns
    -----
    LostWordsWarning
        If pairs are lost.

    Notes
    -----
    The interval comes from the Bayesian bootstrap over pairs (Rubin 1981), which ranks them again at each draw. To
    compare two embeddings on the pairs that both have, use `paired_change`.

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
    forms = source.lookup(word for first, second, _ in pairs for word in (first, second)).matches
    kept_pairs = [pair for pair in pairs if pair[0] in forms and pair[1] in forms]
    lost = [f"{first} ~ {second}" for first, second, _ in pairs if first not in forms or second not in forms]
    judge_lost_rows(source, path, len(pairs), lost, "pairs", least=3)
    first, second = (
        unit_rows(source.matrix(column)) for column in ([p[0] for p in kept_pairs], [p[1] for p in kept_pairs])
    )
    items = pd.DataFrame({
        "item": [f"{a} ~ {b}" for a, b, _ in kept_pairs],
        "human": [score for _, _, score in kept_pairs],
        "cosine": np.clip(np.einsum("ij,ij->i", first, second), -1.0, 1.0),
    })  # fmt: skip
    return result_of_items(
        "word_similarity",
        source.name,
        Items(items, {"pairs": lost}),
        [Quantity("spearman", "spearman", ("human", "cosine"))],
        conventions="Spearman's correlation of cosine similarity and people's scores, ties at their mean rank",
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


WORD_SIMILARITY = Measure(
    "word_similarity", "word similarity", "Spearman's correlation of cos(a, b) with people's scores of the pairs",
    "-1 to 1", "a file of word similarity", "Rubenstein and Goodenough (1965); Hill, Reichart and Korhonen (2015)",
    "pairs with lost words are left out and named; Bayesian bootstrap over pairs",
    "to compare embeddings of different words, other than on the pairs that both have (paired_change)",
    word_similarity, about="quality", better="higher", read=read_similarity,
)  # fmt: skip
