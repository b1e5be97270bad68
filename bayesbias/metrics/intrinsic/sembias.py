"""SemBias: which of four pairs of words differs most as he and she do."""

import os

import numpy as np
import pandas as pd

from bayesbias.base.arrays import ROUNDING, Floats
from bayesbias.base.checks import HDI_PROB, check_count, check_flag, resolve_seed
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.geometry import unit_rows
from bayesbias.metrics.intrinsic.clustering import lengths
from bayesbias.metrics.intrinsic.name_directions import NameLists, weighted_direction
from bayesbias.metrics.intrinsic.quality import read_sembias
from bayesbias.metrics.look_up import as_embedding, checked_base_pairs, judge_lost_rows
from bayesbias.metrics.measure_entry import DAWKINS, Measure, shared_parameters
from bayesbias.metrics.measure_result import Items, MeasureResult, result_of_items
from bayesbias.metrics.quantities import Quantity

KINDS = ("definition", "none", "none", "stereotype")
_SUBSET = (440, 40)  # tuples in the authors' file; the last 40 have none of their training words


@shared_parameters()
def sembias(
    embedding: EmbeddingLike,
    path: str | os.PathLike[str],
    *,
    pair: tuple[str, str] = ("he", "she"),
    names: NameLists | None = None,
    components: int = 4,
    normalize: bool = False,
    subset: int | None = None,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> MeasureResult:
    r"""Return how often the pair of words most similar to he and she is a definition, a stereotype, or neither.

    From each tuple of four pairs, it takes the pair whose difference has the largest cosine with he - she.

    Parameters
    ----------
    path
        File of SemBias (see `read_sembias`).
    pair
        Two words with which the pairs are compared, the masculine word first as in the file.
    names
        Two lists of names: the pair of largest sum_i a_i <g_i, a - b> / abs(a - b) is then chosen, along the directions
        of the names (`bb.metrics.midb`, names of length 1) in place of the difference of `pair`, as Dawkins (2021)
        suggests. They point from the second word of `pair` to the first, whichever list is first.
    components
        With `names`, the number of directions.
    normalize
        Whether vectors are scaled to length 1 before differences are taken. The published code does not scale.
    subset
        Number of the last tuples that the authors' training words do not occur in, whose shares are also given
        separately. None: 40 if the file has 440 tuples, else 0.

    Returns
    -------
    MeasureResult
        The shares `definition` (the headline; higher is better), `stereotype` and `none`, and those of a subset, such
        as `definition_of_subset`. The items are the tuples. Tuples of which the embedding lacks a word are left out and
        listed in `lost_words`.

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
    The 440 tuples combine each of 22 definitions with each of 20 stereotypes, so they are not independent: the
    intervals come from draws of definitions and stereotypes, not of tuples (Owen and Eckles 2012). The prior of each
    share is Jeffreys'.

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
    >>> list(score.scores["chosen"])
    ['none', 'definition']
    """
    seed = resolve_seed(random_seed)
    tuples = read_sembias(path)
    (pair,) = checked_base_pairs([pair])
    default = _SUBSET[1] if len(tuples) == _SUBSET[0] else 0
    last = default if subset is None else check_count("subset", subset, least=0)
    source = as_embedding(
        embedding,
        None if names is not None else {*pair, *(word for four in tuples for word_pair in four for word in word_pair)},
    )
    if missing := source.lookup(pair).lost:
        raise MeasureError(f"The embedding {source.name!r} lacks {name_some(missing)}. Give another pair.")
    available_words = source.lookup(word for four in tuples for word_pair in four for word in word_pair).matches
    is_complete = [all(word in available_words for word_pair in four for word in word_pair) for four in tuples]
    labels = [" ".join(f"{a}:{b}" for a, b in four) for four in tuples]
    lost = [label for label, complete in zip(labels, is_complete, strict=True) if not complete]
    judge_lost_rows(source, path, len(tuples), lost, "tuples", least=2)
    places = np.flatnonzero(is_complete)
    embedded_tuples = [tuples[place] for place in places]
    target = _differences(source, [pair], scaled=check_flag("normalize", normalize))[0]
    target_text = f"{pair[0]} - {pair[1]}"
    if names is not None:
        direction, target_text = weighted_direction(source, names, check_count("components", components))
        target = direction if direction @ target >= 0 else -direction
    candidates = _differences(source, [word_pair for four in embedded_tuples for word_pair in four], scaled=normalize)
    chosen = (candidates @ target).reshape(-1, len(KINDS)).argmax(axis=1)
    kinds = np.array(KINDS)[chosen]
    items = pd.DataFrame({
        "item": [labels[place] for place in places],
        "part": np.where(places >= len(tuples) - last, "subset", "") if last else "",
        "definition_pair": [":".join(four[0]) for four in embedded_tuples],
        "stereotype_pair": [":".join(four[3]) for four in embedded_tuples],
        "chosen": kinds,
    })  # fmt: skip
    if not normalize:
        of_words = [lengths(source, [word for word_pair in four for word in word_pair]) for four in embedded_tuples]
        items["length"] = [float(np.exp(np.log(some).mean())) for some in of_words]
    shares = ("definition", "stereotype", "none")
    items = items.assign(**{name: (kinds == name).astype(int) for name in shares})
    crossed = ("definition_pair", "stereotype_pair")
    quantities = [Quantity(name, "share", (name,), crossed=crossed) for name in shares]
    if last and (items["part"] == "subset").sum() > 1:
        quantities += [Quantity(f"{name}_of_subset", "share", (name,), ("subset",), crossed) for name in shares]
    return result_of_items(
        "sembias",
        source.name,
        Items(items, {"tuples": lost}),
        quantities,
        question=f"Does {source.name} tell definitions of gender from stereotypes?",
        conventions=(
            f"largest cosine with {target_text}, differences of vectors "
            f"{'of length 1' if normalize else 'as stored'}; definitions and stereotypes are drawn, not tuples"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


def _differences(source: Embedding, pairs: list[tuple[str, str]], *, scaled: bool) -> Floats:
    words = [[pair[side] for pair in pairs] for side in (0, 1)]
    first, second = (
        unit_rows(vectors) if scaled else vectors.astype(np.float64) for vectors in map(source.matrix, words)
    )
    differences = first - second
    lengths = np.linalg.norm(differences, axis=1)
    if (lengths < ROUNDING * np.linalg.norm(first, axis=1)).any():
        a, b = pairs[int(lengths.argmin())]
        raise MeasureError(
            f"{a!r} and {b!r} have the same vector in the embedding {source.name!r}, so their difference has no "
            "direction. Leave the pair out, or give another embedding."
        )
    scaled_differences: Floats = differences / lengths[:, np.newaxis]
    return scaled_differences


SEMBIAS = Measure(
    "sembias", "SemBias", "share of tuples whose pair of largest cos(he - she, a - b) is the definition", "0 to 1",
    "the file of SemBias", f"Zhao et al. (2018), GN-GloVe; {DAWKINS}",
    "differences of vectors as stored; stereotype and none are given too; the definitions and stereotypes are "
    "drawn, not the tuples",
    "with an embedding that lacks many of its words; where she and he were made alike; without normalize=True, "
    "to compare embeddings whose vectors differ in length",
    sembias, about="bias", better="higher", read=read_sembias,
)  # fmt: skip
