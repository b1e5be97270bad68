"""Gender-preserving debiasing: an encoder that keeps what gendered words say and hides it in words of a concept."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_count, resolve_seed, with_progress
from bayesbias.base.statements import Described, Facts
from bayesbias.debias.by_word.autoencoder import (
    Adam,
    Weights,
    classification,
    encoded,
    first_weights,
    reconstruction,
    through_encoder,
)
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words, needed, spelled, words_in
from bayesbias.debias.linear.linear_map import debiased_name
from bayesbias.debias.subspace import chosen_rows, row_blocks, unit_rows, whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError

_RATE, _BATCH, _DROPPED = 2e-4, 512, 0.05  # of the first stages
_JOINT_RATE, _JOINT_DROPPED, _WEIGHT = 0.1, 0.01, 1e-4  # of the last one


@dataclass(frozen=True)
class GenderPreserving:
    """Gender-preserving debiasing of Kaneko and Bollegala, for any two sides.

    Parameters
    ----------
    words
        How many of the embedding's first words teach the autoencoder; the source takes all.
    epochs
        Of the autoencoder alone, 315 in the source's code.
    classifier_epochs, joint_epochs
        Of the two classifiers alone, and of all together: 15 and 5 in the source's code.
    random_seed
        Of the first weights, and of what is dropped and shuffled. 0 by default, as in the source.

    Raises
    ------
    ArgumentError
        If a number is no whole number of at least 1, or `random_seed` none of at least 0.

    Notes
    -----
    **What it needs.** Words of both `sides`; a `concept` whose words the sides should not show in, such as occupations;
    words that are of neither, which are taken from the rest of the vocabulary; minutes.

    **What it changes.** All: every word becomes the hidden layer of an autoencoder, in coordinates of its own.

    **What it cannot do.** Change bias much: the source weighs what debiases 10,000 times less than the reconstruction,
    and most of the change is what an autoencoder does to vectors: with these settings, cosines of random pairs of words
    in Google News correlate at 0.88 with those before. Vectors from before and after cannot be compared, nor words that
    were changed with words that were not.

    References
    ----------
    Kaneko and Bollegala (2019), Gender-preserving debiasing for pre-trained word embeddings, ACL 2019, 1641-1650,
    arXiv:1906.00742: equations of L_f, L_m, L_g and L_r, with the settings of its code for GloVe. Here all words have
    length 1, the last epoch is taken and not the best of held-out words, and neutral words are no list of their own.

    Examples
    --------
    >>> bb.debias.GenderPreserving(epochs=10)
    GenderPreserving(words=5000, epochs=10, classifier_epochs=15, joint_epochs=5, random_seed=0)
    """

    words: int = 5000
    epochs: int = 315
    classifier_epochs: int = 15
    joint_epochs: int = 5
    random_seed: int = 0

    def __post_init__(self) -> None:
        for name in ("words", "epochs", "classifier_epochs", "joint_epochs"):
            check_count(name, getattr(self, name))
        object.__setattr__(self, "random_seed", resolve_seed(self.random_seed))

    def fit(
        self,
        embedding: EmbeddingLike,
        sets: str | os.PathLike[str] | DebiasWords | Sets,
        *,
        name: str | None = None,
        progress: bool = True,
    ) -> "FittedGenderPreserving":
        """Train the autoencoder, then the classifiers, then all together.

        Parameters
        ----------
        embedding
            Its vectors are brought to unit length.
        sets
            Words with `sides` and a `concept`: a name of `list_debias_words`, a path, or `DebiasWords`.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.
        progress
            Whether to show a bar.

        Raises
        ------
        MeasureError
            If there are no two sides or no concept, the embedding has fewer than two words of one of them, or no word
            that is of neither.

        Warns
        -----
        LostWordsWarning
            If the embedding lacks words.
        """
        given, embedding = as_debias_words(sets, name=name), whole_embedding(embedding)
        quads = _quads(embedding, given)
        generator = np.random.default_rng(self.random_seed)
        weights = first_weights(embedding.dimensions, generator)
        rows = unit_rows(embedding.vectors[: self.words]).astype(np.float32)
        adam = Adam(_RATE)
        for _ in with_progress(range(self.epochs), "Autoencoder", progress=progress):
            order = generator.permutation(len(rows))
            for start in range(0, len(rows), _BATCH):
                batch = rows[order[start : start + _BATCH]]
                seen = _dropped(batch, _DROPPED, generator)
                _, hidden, slope, slopes = reconstruction(batch, seen, weights)
                adam.update(weights, slopes | through_encoder(seen, hidden, slope))
        adam = Adam(_RATE)
        labels = np.eye(4, dtype=np.float32)
        for _ in range(self.classifier_epochs):
            for quad in quads[generator.permutation(len(quads))]:
                hidden = encoded(quad, weights)
                for side, classifier in enumerate(("first", "second")):
                    adam.update(weights, classification(hidden, labels[side], classifier, weights)[2])
        for _ in range(self.joint_epochs):
            means = encoded(quads, weights).mean(axis=0)
            for quad in quads[generator.permutation(len(quads))]:
                seen = _dropped(quad, _JOINT_DROPPED, generator)
                _, slopes = joint_loss(quad, seen, means[1] - means[0], weights)
                for part, slope in slopes.items():
                    weights[part] -= np.float32(_JOINT_RATE) * slope
        return FittedGenderPreserving(given, weights["encoder"], weights["encoder_bias"])


@dataclass(frozen=True, eq=False, repr=False)
class FittedGenderPreserving(Described):
    """A trained encoder.

    Parameters
    ----------
    sets
        The words.
    matrix : array, shape (dimensions, dimensions)
        A vector w of length 1, as a row, becomes ``tanh(w matrix + bias)``.
    bias : array, shape (dimensions,)
        See `matrix`.
    """

    sets: DebiasWords
    matrix: Floats
    bias: Floats

    @property
    def _facts(self) -> Facts:
        return {"sets": self.sets.name, "dimensions": len(self.bias)}

    def transform(
        self, embedding: EmbeddingLike, *, target: Iterable[str] | None = None, ignore: Iterable[str] | None = None
    ) -> Embedding:
        """Return an embedding of encoded words; the given one is not touched.

        Parameters
        ----------
        embedding
            The embedding that was fitted, or more or fewer words of the same vectors.
        target
            Words to encode. None (default): all.
        ignore
            Words that are not encoded. None (default): none. They stay in coordinates of their own.

        Returns
        -------
        Embedding
            The same words, number type and case rule. Its name says what was done.

        Raises
        ------
        LostWordsError
            If the embedding lacks a target word.
        MeasureError
            If the number of dimensions differs.

        Warns
        -----
        LostWordsWarning
            If words to ignore are absent.
        """
        embedding = whole_embedding(embedding, dimensions=len(self.bias))
        _, chosen = chosen_rows(embedding, target, ignore)
        vectors = embedding.vectors.copy()
        weights = {"encoder": self.matrix, "encoder_bias": self.bias}
        for rows in row_blocks(np.flatnonzero(chosen)):
            vectors[rows] = encoded(unit_rows(embedding.vectors[rows]), weights)
        name = debiased_name(embedding, "gender_preserving", self.sets)
        return Embedding(embedding.words, vectors, name=name, case=embedding.case)


def joint_loss(quad: Floats, seen: Floats, across: Floats, weights: Weights) -> tuple[float, Weights]:
    """Return the loss of one word of each kind, and its slopes.

    Parameters
    ----------
    quad, seen
        Words of the first side, the second, the concept and neither, in rows; and what goes in of them.
    across
        The mean difference between the sides in the hidden layer, which is taken as known.
    weights
        All of them.

    References
    ----------
    Kaneko and Bollegala (2019): ``L_r + 1e-4 (L_f + L_m + L_g)``, with L_r the mean squared error, L_f and L_m the
    cross-entropies, and L_g the squared inner products of the last two words with `across`.
    """
    loss, hidden, slope, slopes = reconstruction(quad, seen, weights)
    labels = np.eye(4, dtype=quad.dtype)
    for side, classifier in enumerate(("first", "second")):
        error, own, its = classification(hidden, labels[side], classifier, weights)
        loss += _WEIGHT * error
        slope = slope + _WEIGHT * own
        slopes |= {part: _WEIGHT * each for part, each in its.items()}
    along = (hidden @ across) * np.array([0, 0, 1, 1], dtype=quad.dtype)
    loss += _WEIGHT * float(along @ along)
    slope = slope + _WEIGHT * 2 * np.outer(along, across)
    return loss, slopes | through_encoder(seen, hidden, slope)


def _quads(embedding: Embedding, given: DebiasWords) -> Floats:
    """Return unit vectors of words of the first side, the second, the concept, and neither; (quads, 4, dimensions)."""
    first, second = needed(given, "sides", "Gender-preserving debiasing", lists=2)
    concept = [str(word) for word in needed(given, "concept", "Gender-preserving debiasing")]
    lists = [
        words_in(embedding, words, what)
        for words, what in ((first, "the first side"), (second, "the second side"), (concept, "the concept"))
    ]
    known = set(spelled([*(word for each in (first, second, *given.definitional) for word in each), *given.specific]))
    known |= {word for each in lists for word in each}
    neither = [word for word in embedding.words if word not in known]
    if not neither:
        raise MeasureError(f"No word of {embedding.name!r} is of neither side. Load more words than those of the sets.")
    count = min(map(len, lists))
    places = np.linspace(0, len(neither) - 1, min(count, len(neither))).astype(int)
    lists.append([neither[place] for place in places])
    count = min(map(len, lists))
    stacked = [unit_rows(embedding.stored(words[:count])) for words in lists]
    quads: Floats = np.stack(stacked, axis=1).astype(np.float32)
    return quads


def _dropped(rows: Floats, share: float, generator: np.random.Generator) -> Floats:
    kept: Floats = rows * ((generator.random(rows.shape, dtype=np.float32) >= share) / np.float32(1 - share))
    return kept
