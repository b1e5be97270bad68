"""Measures as functions of the pairwise similarities alone: for many sets of similarities at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.errors import MeasureError, did_you_mean, name_some
from bayesbias.metrics.look_up import weat_lists
from bayesbias.metrics.mac import mean_distances
from bayesbias.metrics.rnd import known_groups, raise_if_shared
from bayesbias.metrics.subspaces.association_lists import COMPONENTS, score
from bayesbias.metrics.weat import association, effect_size, test_statistic
from bayesbias.studies import Study

Floats = NDArray[np.floating[Any]]
Names = tuple[tuple[str, ...], tuple[str, ...]]
Statistics = dict[str, Floats]


@dataclass(frozen=True, eq=False)
class Similarities:
    """Cosine similarities of lists of protected words to lists of attribute words.

    Parameters
    ----------
    values : array, shape (..., protected words, attribute words)
        List after list.
    protected, attributes
        List -> its words.
    associated
        Pairs of a protected and an attribute list that the study takes for associated.

    Examples
    --------
    >>> here = Similarities(np.eye(3), {"X": ["x1", "x2"], "Y": ["y"]}, {"A": ["a"], "B": ["b1", "b2"]})
    >>> here.of("X", "B")
    array([[0., 0.],
           [1., 0.]])
    """

    values: Floats
    protected: Mapping[str, Sequence[str]]
    attributes: Mapping[str, Sequence[str]]
    associated: frozenset[tuple[str, str]] = frozenset()

    def of(self, protected: str, attribute: str) -> Floats:
        """Return the similarities of one list to another, shape (..., words, words)."""
        rows, columns = _place(self.protected, protected), _place(self.attributes, attribute)
        return self.values[..., rows, columns]

    def to(self, attribute: str) -> Floats:
        """Return the similarities of all protected words to one list, shape (..., words, words)."""
        return self.values[..., :, _place(self.attributes, attribute)]


def _place(lists: Mapping[str, Sequence[str]], name: str) -> slice:
    ends = pairwise(accumulate((len(words) for words in lists.values()), initial=0))
    return dict(zip(lists, (slice(*each) for each in ends), strict=True))[name]


@dataclass(frozen=True)
class Kernel:
    """A measure of pairwise similarities.

    Parameters
    ----------
    lists
        From a study, `targets` and `attributes` to the names of the protected and of the attribute lists.
    statistics
        From similarities (and the measure's options) to statistics by name, each with the leading axes of the
        similarities; the first is the headline number. Names and values are those of the measure's result.
    words
        From similarities to the values of single protected words, shape (..., words), or of single words
        and attribute lists, shape (..., words, lists). None where the measure has none.
    word_value
        What these values are, in a few words.
    same_as
        Options of the measure itself that make it a function of the similarities.
    """

    lists: Callable[[Study, Any, Any], Names]
    statistics: Callable[..., Statistics]
    words: Callable[[Similarities], Floats] | None = None
    word_value: str = ""
    same_as: tuple[tuple[str, object], ...] = ()


def _two_and_two(study: Study, targets: Any, attributes: Any) -> Names:
    x, y, a, b = weat_lists(study, targets, attributes)
    return (x, y), (a, b)


def _every_group(study: Study, targets: Any, attributes: Any) -> Names:
    if targets is not None or attributes is not None:
        raise MeasureError("MAC takes every group of a study. Leave targets and attributes out.")
    return tuple(study.protected), tuple(study.attributes)


def _two_and_any(study: Study, targets: Any, attributes: Any) -> Names:
    if targets is None and len(study.protected) != 2:
        raise MeasureError(
            f"The study {study.name!r} has {len(study.protected)} protected groups ({name_some(study.protected)}), "
            f"but two are compared. Name them: targets={tuple(study.protected)[:2]!r}."
        )
    pair = known_groups(targets or tuple(study.protected), study.protected, "targets", study)
    if len(pair) != 2:
        raise MeasureError(f"targets={targets!r}: name two different groups of the study {study.name!r}.")
    others = known_groups(attributes or tuple(study.attributes), study.attribute_lists, "attributes", study)
    raise_if_shared(pair, others, study)
    return pair, others


def _associations(similarities: Similarities) -> Floats:
    a, b = similarities.attributes
    return association(similarities.to(a), similarities.to(b))


def _weat(similarities: Similarities, *, statistic: str = "sum", ddof: int = 1) -> Statistics:
    if statistic not in ("sum", "mean"):
        raise MeasureError(f"statistic={statistic!r}{did_you_mean(str(statistic), ('sum', 'mean'))}: 'sum' or 'mean'.")
    s = _associations(similarities)
    s_x, s_y = (s[..., _place(similarities.protected, group)] for group in similarities.protected)
    difference = test_statistic(s_x, s_y) if statistic == "sum" else s_x.mean(axis=-1) - s_y.mean(axis=-1)
    return {"effect_size": effect_size(s_x, s_y, ddof=ddof), "test_statistic": difference}


def _weat_score(similarities: Similarities, *, estimator: str = "grand_mean") -> Statistics:
    if estimator not in ("grand_mean", "paired"):
        raise MeasureError(
            f"estimator={estimator!r}: a function of the similarities of protected to attribute words is 'grand_mean' "
            "or 'paired'; the centroid is none, as it depends on the lengths of the vectors."
        )
    (x, y), (a, b) = similarities.protected, similarities.attributes
    parts = []
    for first, second in ((x, a), (x, b), (y, b), (y, a)):
        block = similarities.of(first, second)
        if estimator == "grand_mean":
            parts.append(block.mean(axis=(-2, -1)))
            continue
        if block.shape[-1] != block.shape[-2]:
            raise MeasureError(
                f"{first!r} and {second!r} have {block.shape[-2]} and {block.shape[-1]} words, so they cannot be "
                "paired. Give lists of the same length, or use estimator='grand_mean'."
            )
        parts.append(np.diagonal(block, axis1=-2, axis2=-1).mean(axis=-1))
    return {"score": score(np.stack(parts, axis=-1)), **dict(zip(COMPONENTS, parts, strict=True))}


def _average_distances(similarities: Similarities) -> Floats:
    return mean_distances(*(similarities.to(name) for name in similarities.attributes))


def _mac(similarities: Similarities) -> Statistics:
    distances = _average_distances(similarities)
    found = {"mac": distances.mean(axis=(-2, -1))}
    found["similarity"] = 1.0 - found["mac"]
    by_connection: dict[str, list[Floats]] = {}
    for group in similarities.protected:
        rows = _place(similarities.protected, group)
        for column, name in enumerate(similarities.attributes):
            connection = "associated" if (group, name) in similarities.associated else "different"
            by_connection.setdefault(connection, []).append(distances[..., rows, column])
    return found | {
        f"mac_{name}": np.concatenate(by_connection[name], axis=-1).mean(axis=-1) for name in sorted(by_connection)
    }


def _ect(similarities: Similarities) -> Statistics:
    from scipy.stats import rankdata

    means = [
        similarities.values[..., _place(similarities.protected, group), :].mean(axis=-2)
        for group in similarities.protected
    ]
    if means[0].shape[-1] < 3:
        raise MeasureError(
            f"There are {means[0].shape[-1]} attribute words. A rank correlation needs three: add words."
        )
    x, y = (ranks - ranks.mean(axis=-1, keepdims=True) for ranks in (rankdata(mean, axis=-1) for mean in means))
    lengths = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    if not np.all(lengths > 0):
        raise MeasureError("All attribute words are equally similar to a group, so there are no ranks to correlate.")
    return {"ect": (x * y).sum(axis=-1) / lengths}


_ASSOCIATION = "association s(w, A, B): mean similarity to A minus mean similarity to B"

KERNELS: Mapping[str, Kernel] = {
    "weat": Kernel(_two_and_two, _weat, _associations, _ASSOCIATION),
    "weat_score": Kernel(_two_and_two, _weat_score, _associations, _ASSOCIATION),
    "mac": Kernel(_every_group, _mac, _average_distances, "mean distance s(t, A_j) to an attribute group"),
    "ect": Kernel(_two_and_any, _ect, same_as=(("normalize", True),)),
}
"""The measures that need nothing but the similarities of protected to attribute words.

ECT is one if every vector is scaled to length 1: the cosine to a mean of unit vectors is then the mean cosine, but for
a factor that no rank feels."""
