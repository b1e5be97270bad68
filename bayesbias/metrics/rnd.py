"""RND: the relative norm distance of Garg et al. (2018)."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesbias.errors import MeasureError, did_you_mean, name_some
from bayesbias.metrics.look_up import as_embedding, word_sets
from bayesbias.metrics.result import MeasureResult
from bayesbias.studies import Study, load_study

Floats = NDArray[np.floating[Any]]
Lists = Study | str | os.PathLike[str] | Mapping[str, Sequence[str]]


def distance_difference(
    words: ArrayLike, first: ArrayLike, second: ArrayLike, *, distance: Literal["norm", "cosine"] = "norm"
) -> Floats:
    """Return how much farther each word is from the mean of one group of vectors than from that of another.

    Parameters
    ----------
    words
        Vectors of shape (words, dimensions).
    first, second
        Vectors of the two groups, of shapes (n, dimensions) and (m, dimensions).
    distance
        ``"norm"``, the Euclidean distance, or ``"cosine"``, 1 - cosine similarity.

    Returns
    -------
    array
        d(w, mean of first) - d(w, mean of second), of shape (words,).

    Raises
    ------
    MeasureError
        If a cosine is asked for and a vector or a group's mean is zero.

    References
    ----------
    Garg, Schiebinger, Jurafsky and Zou (2018), the terms of the relative norm distance.

    Examples
    --------
    >>> distance_difference([[0.0, 3.0]], first=[[4.0, 0.0]], second=[[0.0, 1.0], [0.0, 3.0]])
    array([4.])
    """
    w, x, y = (np.asarray(vectors, dtype=np.float64) for vectors in (words, first, second))
    means = x.mean(axis=0), y.mean(axis=0)
    if distance == "cosine":
        far = [1.0 - cosine_to(w, mean) for mean in means]
    else:
        far = [np.linalg.norm(w - mean, axis=1) for mean in means]
    difference: Floats = far[0] - far[1]
    return difference


def rnd(
    embedding: Any,
    study: Lists,
    *,
    targets: tuple[str, str] | None = None,
    attributes: Sequence[str] | str | None = None,
    distance: Literal["norm", "cosine"] = "norm",
    normalize: bool = True,
) -> MeasureResult:
    """Compare the distances of attribute words to the mean vectors of two groups.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, the path of a TOML file, or lists by name: two groups, then one
        list or more of attribute words.
    targets
        The protected groups X and Y; may be left out where the study has exactly two.
    attributes
        The attribute groups (or control lists) whose words are compared, all together; by default every
        attribute group, without the controls.
    distance
        ``"norm"``, the Euclidean distance, or ``"cosine"``, 1 - cosine similarity.
    normalize
        Whether every word's vector is scaled to length 1 first, as Garg et al. do; the packages' default differs.

    Returns
    -------
    MeasureResult
        `rnd` (the headline number): the mean over the attribute words of their distance to the mean of X minus
        their distance to the mean of Y, so that a positive value says that they are nearer to Y; `rnd_sum`,
        the sum, as published; with several attribute groups, `rnd_` and its name: the mean over each. `words` holds
        the difference of each word.

    Raises
    ------
    MeasureError
        If the groups are not determined or have fewer than two words left.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.

    References
    ----------
    Nikhil Garg, Londa Schiebinger, Dan Jurafsky and James Zou (2018). Word embeddings quantify 100 years of gender
    and ethnic stereotypes. PNAS 115(16), E3635-E3644: the relative norm distance.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = rnd(vectors, "weat7", attributes="male")
    >>> bool(np.isclose(result.rnd * len(result.words), result.rnd_sum))
    True
    """
    if distance not in ("norm", "cosine"):
        hint = did_you_mean(str(distance), ("norm", "cosine"))
        raise MeasureError(f"distance={distance!r}{hint}: 'norm' or 'cosine'.")
    compared = compare_groups(embedding, study, targets, attributes, normalize=normalize)
    x, y = compared.targets
    words = compared.attribute_words
    words["difference"] = distance_difference(
        np.concatenate([compared.vectors[name] for name in compared.attributes]),
        compared.vectors[x],
        compared.vectors[y],
        distance=distance,
    )
    statistics = {"rnd": float(words["difference"].mean()), "rnd_sum": float(words["difference"].sum())}
    if len(compared.attributes) > 1:
        means = words.groupby("group", sort=False)["difference"].mean()
        statistics |= {f"rnd_{group}": float(mean) for group, mean in means.items()}
    kind = "Euclidean distance" if distance == "norm" else "1 - cosine similarity"
    return MeasureResult(
        measure="rnd",
        value=statistics["rnd"],
        statistics=statistics,
        words=words,
        lost_words=compared.lost,
        conventions=(
            f"mean over words of {kind} to the mean of X = {x} minus that to the mean of Y = {y}, so positive is "
            f"nearer to {y}; {lengths_of_vectors(normalize)}"
        ),
        study=compared.study,
        embedding=compared.embedding,
    )


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two groups and the attribute lists that they are compared on, with the vectors of their words."""

    study: str
    embedding: str
    targets: tuple[str, str]
    attributes: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]
    vectors: Mapping[str, Floats]
    lost: Mapping[str, tuple[str, ...]]

    @property
    def attribute_words(self) -> pd.DataFrame:
        """The attribute words with their groups."""
        rows = [(word, name) for name in self.attributes for word in self.words[name]]
        return pd.DataFrame(rows, columns=["word", "group"])


def compare_groups(
    embedding: Any,
    study: Lists,
    targets: tuple[str, str] | None,
    attributes: Sequence[str] | str | None,
    *,
    normalize: bool,
) -> Comparison:
    """Look up the words of two groups and of attribute lists."""
    if isinstance(study, Mapping):
        if len(study) < 3 or targets or attributes:
            raise MeasureError(
                f"Found {len(study)} word lists. Give two groups and one or more attribute lists by name, in this "
                "order, without targets or attributes; or give a study."
            )
        name, lists, groups = "word lists", study, tuple(study)
        pair, others = (groups[0], groups[1]), groups[2:]
    else:
        loaded = load_study(study)
        if targets is None and len(loaded.protected) != 2:
            raise MeasureError(
                f"The study {loaded.name!r} has {len(loaded.protected)} protected groups "
                f"({name_some(loaded.protected)}), but two are compared. Name them: "
                f"targets={tuple(loaded.protected)[:2]!r}."
            )
        chosen = known_groups(targets or tuple(loaded.protected), loaded.protected, "targets", loaded)
        if len(chosen) != 2:
            raise MeasureError(f"targets={targets!r}: name two different groups of the study {loaded.name!r}.")
        name, pair = loaded.name, (chosen[0], chosen[1])
        others = known_groups(attributes or tuple(loaded.attributes), loaded.attribute_lists, "attributes", loaded)
        raise_if_shared(pair, others, loaded)
        lists = {group: loaded.protected[group] for group in pair} | {
            group: loaded.attribute_lists[group] for group in others
        }
    source = as_embedding(embedding, (word for words in lists.values() for word in words))
    sets = word_sets(source, lists)
    vectors = sets.units
    if not normalize:
        vectors = {group: source.matrix(words).astype(np.float64) for group, words in sets.words.items()}
    return Comparison(name, source.name, pair, others, sets.words, vectors, sets.lost)


def known_groups(names: Sequence[str] | str, known: Mapping[str, object], what: str, study: Study) -> tuple[str, ...]:
    """Return the names of groups as a tuple; raise `MeasureError` if one is not known or stands twice."""
    chosen = (names,) if isinstance(names, str) else tuple(names)
    for name in chosen:
        if name not in known:
            hint = did_you_mean(str(name), known)
            raise MeasureError(
                f"{what}={names!r}: the study {study.name!r} has no {name!r}{hint}; it has {name_some(known, 20)}."
            )
    if len(set(chosen)) < len(chosen):
        raise MeasureError(f"{what}={names!r}: a group stands twice. Name each once.")
    return chosen


def raise_if_shared(targets: Sequence[str], attributes: Sequence[str], study: Study) -> None:
    """Raise `MeasureError` if a protected and an attribute group bear the same name."""
    if shared := set(targets) & set(attributes):
        raise MeasureError(
            f"The study {study.name!r} has a protected and an attribute group {min(shared)!r}: rename one."
        )


def lengths_of_vectors(normalize: bool) -> str:
    """Say whether vectors were scaled."""
    return "vectors of length 1" if normalize else "vectors as long as they are"


def cosine_to(words: Floats, vector: Floats) -> Floats:
    """Return the cosine similarity of each word's vector to one vector."""
    lengths = np.linalg.norm(words, axis=1) * np.linalg.norm(vector)
    # The mean of opposed vectors may be zero but for rounding.
    if not np.all(lengths > 1e-12 * np.linalg.norm(words, axis=1) ** 2):
        raise MeasureError("A word's vector or the mean of a group is zero, so it has no direction.")
    similarity: Floats = np.clip(words @ vector / lengths, -1.0, 1.0)
    return similarity
