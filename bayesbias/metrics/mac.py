"""MAC: the mean average cosine distance of Manzini et al. (2019)."""

import os
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesbias.metrics.look_up import word_sets
from bayesbias.metrics.result import MeasureResult
from bayesbias.studies import Study, load_study


def mean_distances(*similarities: ArrayLike) -> NDArray[np.floating[Any]]:
    """Return the mean cosine distance of each word to each set of attributes: s(t, A_j).

    Parameters
    ----------
    similarities
        For each set of attributes, the cosine similarities of the words to them, of shape (..., words, n_j).

    Returns
    -------
    array
        Of shape (..., words, sets). Its mean over words and sets is MAC.

    References
    ----------
    Dobrzeniecka and Urbaniak (2024), s(t, A_j); Manzini et al. (2019).

    Examples
    --------
    >>> mean_distances([[0.5, 0.3], [0.1, 0.1]], [[0.2], [0.0]])
    array([[0.6, 0.8],
           [0.9, 1. ]])
    """
    means = [np.mean(np.asarray(values, dtype=np.float64), axis=-1) for values in similarities]
    distances: NDArray[np.floating[Any]] = 1.0 - np.stack(means, axis=-1)
    return distances


def mac(embedding: Any, study: Study | str | os.PathLike[str]) -> MeasureResult:
    """Average the cosine distances of a study's protected words to its sets of attributes.

    For each protected word and each set of attributes the distances are averaged first; MAC is the mean of these
    averages, so that each set counts the same, however many words it has. Control words do not enter.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, or the path of a TOML file.

    Returns
    -------
    MeasureResult
        `mac` (the headline number, a distance between 0 and 2), `similarity` (1 - MAC), and
        `mac_associated` and `mac_different`: the same mean over the pairs of a word and a set that the study
        takes for associated and for different, which MAC itself does not tell apart. `words` holds
        the mean distance s(t, A_j) of each protected word to each set.

    Raises
    ------
    MeasureError
        If a list has fewer than two words left.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.

    References
    ----------
    Thomas Manzini, Yao Chong Lim, Yulia Tsvetkov and Alan W Black (2019). Black is to criminal as Caucasian is to
    police: detecting and removing multiclass bias in word embeddings. NAACL-HLT 2019, 615-621, whose code
    averages distances. Dobrzeniecka and Urbaniak (2024), equations s(t, A_j) and mac(T, A).

    Examples
    --------
    >>> result = mac(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), "weat7")
    >>> round(result.mac + result.similarity, 12), len(result.words)
    (1.0, 32)
    """
    loaded = load_study(study)
    # A protected and an attribute group may bear the same name.
    protected = {group: f"protected group {group}" for group in loaded.protected}
    attributes = {group: f"attribute group {group}" for group in loaded.attributes}
    sets = word_sets(
        embedding,
        {name: loaded.protected[group] for group, name in protected.items()}
        | {name: loaded.attributes[group] for group, name in attributes.items()},
    )
    distances = np.concatenate(
        [
            mean_distances(*(sets.similarity(name, other) for other in attributes.values()))
            for name in protected.values()
        ]
    )
    targets = [(word, group) for group, name in protected.items() for word in sets.words[name]]
    words = pd.DataFrame(
        [
            (word, group, attribute, loaded.connection(group, attribute))
            for word, group in targets
            for attribute in attributes
        ],
        columns=["word", "group", "attribute_group", "connection"],
    ).assign(mean_distance=distances.ravel())
    by_connection = words.groupby("connection")["mean_distance"].mean()
    statistics = {"mac": float(distances.mean()), "similarity": 1.0 - float(distances.mean())}
    statistics |= {f"mac_{connection}": float(mean) for connection, mean in by_connection.items()}
    return MeasureResult(
        measure="mac",
        value=statistics["mac"],
        statistics=statistics,
        words=words,
        lost_words=sets.lost,
        conventions=(
            "mean cosine distance (1 - cosine similarity), each attribute group averaged first; similarity = 1 - MAC"
        ),
        study=loaded.name,
        embedding=sets.embedding,
    )
