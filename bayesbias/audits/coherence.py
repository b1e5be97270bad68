"""How much more the words of one list resemble each other than words of different lists: what a contrast shrinks with.

A part that all vectors share, noise, coarse rounding and mixed-up words bring contrasts nearer to 0 without any change
of an association. They bring the resemblance within lists nearer to that across lists by about the same factor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbias.base.arrays import ROUNDING, Floats
from bayesbias.base.checks import is_number
from bayesbias.base.number_text import signed_text
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import setting
from bayesbias.studies.study import Study
from bayesbias.tables.build import matched_words

COMPARABLE = (0.85, 1.25)
"""Smallest and largest ratio to the baseline's coherence with which a question is compared (`validation/gate`)."""
MOST_BY_CHANCE = 0.05
MOST_ALIKE = 0.5
"""Mean cosine of words above which a region in units of cosine distance shows nothing by itself."""
_SHUFFLES = 199
_LARGEST = 2  # of a difference of cosines


@dataclass(frozen=True)
class Coherence:
    """Resemblance of the words of a study in an embedding.

    - `coherence`: mean cosine of two words of one list, minus that of a protected and an attribute word; missing if no
      list has two words.
    - `centred_coherence`: the same after the mean of these words' unit vectors is subtracted from each. A part that all
      vectors share hardly changes it, and their lengths do not.
    - `mean_cosine`: mean cosine of a protected and an attribute word.
    - `chance`: share of random exchanges of words between lists after which the lists are more coherent.
    """

    coherence: float
    centred_coherence: float
    mean_cosine: float
    chance: float

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> "Coherence | None":
        """Return the coherence in facts that were read from a file; None if they are not such facts."""
        values: dict[str, Any] = {name: facts.get(name) for name in COHERENCE}
        values = {name: float("nan") if value is None else value for name, value in values.items()}
        if not all(value != value or (is_number(value) and abs(value) <= _LARGEST) for value in values.values()):
            return None
        return cls(**values)


COHERENCE = tuple(Coherence.__annotations__)
"""Names of the facts of a `Coherence`, which are columns of a gate's questions."""


def list_coherence(embedding: Embedding, study: Study) -> Coherence:
    """Return the coherence of a study's lists in an embedding, without its control words.

    >>> vectors = {"cat": [1.0, 0.0], "tom": [1.0, 0.1], "purr": [0.0, 1.0], "meow": [0.1, 1.0]}
    >>> lists = {"protected": {"cats": ["cat", "tom"]}, "attributes": {"sounds": ["purr", "meow"]}}
    >>> study = bb.Study(name="cats", **lists, associated=[("cats", "sounds")], human="none", neutral="none")
    >>> round(list_coherence(bb.load_embedding(vectors), study).coherence, 2)
    0.9
    """
    forms, _ = matched_words(embedding, study)
    sides = [
        [embedding.stored(dict.fromkeys(forms[word] for word in words if word in forms)) for words in lists.values()]
        for lists in (study.protected, study.attributes)
    ]
    return coherence_of(*sides)


def coherence_of(protected: Sequence[np.ndarray], attributes: Sequence[np.ndarray]) -> Coherence:
    """Return the coherence of lists of vectors, each of shape (words, dimensions); lists without words are left out."""
    lists = [np.asarray(vectors, dtype=float) for vectors in (*protected, *attributes) if len(vectors)]
    count = sum(len(vectors) > 0 for vectors in protected)
    sizes = np.array(list(map(len, lists)))
    if not (sizes > 1).any() or not 0 < count < len(lists):
        return Coherence(*[float("nan")] * len(COHERENCE))
    vectors = np.vstack(lists)
    units = _directions(vectors / np.abs(vectors).max())
    value, across = _coherence(units, sizes, count)
    # Unit vectors, so that lengths, which change no cosine, cannot make up for a change of the lists.
    centred, _ = _coherence(_directions(units - units.mean(axis=0)), sizes, count)
    rng = np.random.default_rng(0)
    shuffled = [_coherence(rng.permutation(units), sizes, count)[0] for _ in range(_SHUFFLES)]
    return Coherence(value, centred, across, float(np.mean(np.array(shuffled) > value + ROUNDING)))


def _directions(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > ROUNDING, lengths, np.inf))


def _coherence(units: Floats, sizes: np.ndarray, count: int) -> tuple[float, float]:
    """Return the coherence of lists of unit vectors, of which the first `count` are protected, and the mean across."""
    sums = np.add.reduceat(units, np.concatenate([[0], np.cumsum(sizes)[:-1]]))
    several = sizes > 1
    within = ((sums[several] ** 2).sum(axis=1) - sizes[several]) / (sizes[several] * (sizes[several] - 1))
    means = sums / sizes[:, None]
    across = float(means[:count].mean(axis=0) @ means[count:].mean(axis=0))
    return float(within.mean()) - across, across


def remedy() -> str:
    """Return what to do where all words resemble each other more, or less, than they did."""
    return (
        "Remove what all words share (bb.embeddings.without_common_part), or take a region in units of coherence "
        f"({standardised_rope()})"
    )


def standardised_rope() -> str:
    """Return the setting of a region in units of coherence."""
    return setting("rope", {"standardised": 0.3}, option="--rope-standardised 0.3")


def why_not_comparable(now: Coherence, before: Coherence | None, *, standardised: bool) -> str:
    """Return why a gate must not decide a question with these vectors; an empty text if it may.

    - `before`: coherence of the same lists in the baseline, if that asked the same.
    - `standardised`: whether the region has units of coherence.
    """
    if np.isnan(now.coherence):
        return (
            "no list has two words with a vector of their own, so that nothing shows whether the vectors hide "
            "associations. Give longer lists"
        )
    if now.chance > MOST_BY_CHANCE:
        return (
            f"its lists are no more coherent than chance (coherence {signed_text(now.coherence)}, surpassed by "
            f"{now.chance:.0%} of random exchanges of their words): the vectors are random, or those of "
            "other words"
        )
    if standardised and now.coherence <= 0:
        return "the words of its lists resemble those of other lists more: there is no unit to standardise by"
    if before is None:
        return ""
    if scale := _other_scale(now.centred_coherence, before.centred_coherence):
        return (
            f"the lists' coherence without what all words share {scale}. Noise, coarse rounding, fewer dimensions or "
            "vectors of other words do this. Check the vectors; if the change is meant, record a new baseline"
        )
    if not standardised and (scale := _other_scale(now.coherence, before.coherence)):
        cosines = f"mean cosine {now.mean_cosine:.2f}, {before.mean_cosine:.2f} in the baseline"
        return f"coherence {scale} ({cosines}). {remedy()}"
    return ""


def _other_scale(now: float, before: float) -> str:
    """Return both coherences if their ratio is out of `COMPARABLE`; an empty text if it is not."""
    low, high = COMPARABLE
    if low * before <= now <= high * before:
        return ""
    return f"is {now:.3f}, {before:.3f} in the baseline, so that contrasts have another scale"
