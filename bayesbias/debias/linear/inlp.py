"""Iterative nullspace projection: take away whatever a linear classifier finds, until it finds nothing."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import HDI_PROB, check_count, check_probability
from bayesbias.base.statements import Facts
from bayesbias.debias.debias_words import DebiasWords, Sets, as_debias_words, spelled
from bayesbias.debias.linear.linear_map import FittedLinearMap, removal
from bayesbias.debias.subspace import bias_subspace, unit_rows, whole_embedding
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError

if TYPE_CHECKING:
    import pandas as pd

# Of ten words that follow each other in the order of their bias: two halves, which take turns in teaching a classifier
# and judging it, and the rest, which judges what comes out.
_HALVES, _HELD_OUT = ((0, 3, 5, 8), (1, 4, 6, 9)), (2, 7)
_CLASSES = 3  # of the first side, of the second, of neither
_LEAST = 20  # words a class


@dataclass(frozen=True)
class INLP:
    """Iterative nullspace projection of Ravfogel et al.

    Parameters
    ----------
    iterations
        Most classifiers that are learnt and removed, 35 in the source. Fewer are, once the words that they did not
        learn from are classified no better than by chance.
    words
        Number of words of each of three classes: the most biased ones towards either side, and those with the least
        bias. 7,500 in the source; at most a third of the words that are left.
    hdi_prob
        Probability inside the intervals of the classifiers' accuracy.

    Raises
    ------
    ArgumentError
        If `iterations` or `words` is not a whole number of at least 1, or `hdi_prob` is not between 0 and 1.

    Notes
    -----
    **What it needs.** Definitional sets, from whose first direction the bias of words is read off; a vocabulary from
    which at least 60 words that are neither definitional nor specific are left; scikit-learn.

    **What it changes.** Every word loses its part in the directions of all classifiers: up to 105 of 300 dimensions.

    **What it cannot do.** Hide bias from a classifier that is not linear; and the more dimensions are taken away, the
    more of what words mean goes with them.

    References
    ----------
    Ravfogel, Elazar, Gonen, Twiton and Goldberg (2020), Null it out: guarding protected attributes by iterative
    nullspace projection, ACL 2020, 7237-7256, arXiv:2004.07667: algorithm 1; section 6.1 for words. As in its code,
    linear support vector machines without an intercept (squared hinge loss, C = 1). Its neutral words are drawn at
    random among those of little bias, its split is random, and one half learns all the time; here neither is left to
    chance, and two halves take turns: else what the words that judge could still teach would stay.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> fitted = bb.debias.INLP().fit(bb.load_embedding(vectors), [["she", "he"], ["woman", "man"]])
    >>> fitted.held_out[["when", "accuracy", "chance"]].round(1)
         when  accuracy  chance
    0  before       0.7     0.3
    1   after       0.3     0.3
    """

    iterations: int = 35
    words: int = 7500
    hdi_prob: float = HDI_PROB

    def __post_init__(self) -> None:
        check_count("iterations", self.iterations)
        check_count("words", self.words)
        check_probability("hdi_prob", self.hdi_prob)

    def fit(
        self, embedding: EmbeddingLike, sets: str | os.PathLike[str] | DebiasWords | Sets, *, name: str | None = None
    ) -> "FittedINLP":
        """Learn classifiers, one after the other, until two in a row are no better than chance.

        Two halves of four fifths of the words take turns in teaching a classifier and judging it, so that what one half
        alone would show is not left. The last fifth has no part in this, and judges what is left for a new classifier
        (`FittedINLP.held_out`).

        Parameters
        ----------
        embedding
            Classifiers learn from its vectors brought to unit length; the map takes vectors as they are.
        sets
            Definitional sets: a name of `list_debias_words`, a path, `DebiasWords`, or a list such as
            ``[["he", "she"], ["man", "woman"]]``.
        name
            What is removed; it becomes part of the debiased embedding's name. Default: that of `sets`.

        Raises
        ------
        MeasureError
            If scikit-learn is not installed, there is no bias direction, or fewer than 60 words are left to learn from.

        Warns
        -----
        LostWordsWarning
            If sets are left out because the embedding lacks a word.
        """
        words = as_debias_words(sets, name=name)
        embedding = whole_embedding(embedding)
        direction = bias_subspace(embedding, words, components=1).directions[0]
        classes = self._classes(embedding, words, direction)
        labels = np.repeat(np.arange(_CLASSES), len(classes[0]))
        units = unit_rows(embedding.vectors[np.concatenate(classes)])
        place = np.tile(np.arange(len(classes[0])) % 10, _CLASSES)
        halves, held = [np.isin(place, half) for half in _HALVES], np.isin(place, _HELD_OUT)
        basis: Floats = np.empty((0, embedding.dimensions))
        rounds = []
        for iteration in range(1, self.iterations + 1):
            left = units - units @ basis.T @ basis
            learnt, judge = halves[iteration % 2 - 1], halves[iteration % 2]
            classifier = _classifier(left[learnt], labels[learnt])
            right = int((classifier.predict(left[judge]) == labels[judge]).sum())
            rounds.append({"iteration": iteration, **self._share(right, int(judge.sum()))})
            at_chance = sum(each["accuracy"] <= each["chance"] for each in rounds[-2:])
            if at_chance == 2 or len(basis) + _CLASSES >= embedding.dimensions:
                break
            basis = _with_rows(basis, classifier.coef_)
        held_out = []
        for when, removed in (("before", basis[:0]), ("after", basis)):
            left = units - units @ removed.T @ removed
            classifier = _classifier(left[~held], labels[~held])
            right = int((classifier.predict(left[held]) == labels[held]).sum())
            held_out.append({"when": when, **self._share(right, int(held.sum()))})
        import pandas as pd

        ones = np.ones(len(basis))
        frames = pd.DataFrame(rounds), pd.DataFrame(held_out)
        return FittedINLP(words, "inlp", removal(basis), basis, ones, (), *frames)

    def _classes(self, embedding: Embedding, words: DebiasWords, direction: Floats) -> list[Integers]:
        """Return the rows of the words of each class, from the most to the least typical one."""
        known = set(spelled([*words.specific, *(word for each in words.definitional for word in each)]))
        open_rows = np.array([row for row, word in enumerate(embedding.words) if word not in known], dtype=int)
        count = min(self.words, len(open_rows) // _CLASSES)
        if count < _LEAST:
            raise MeasureError(
                f"The embedding {embedding.name!r} has {len(open_rows)} words that are not of the sets of "
                f"{words.name!r} themselves (words={self.words}), but each of three classes needs "
                f"{_LEAST}. Load more of its words."
            )
        bias = unit_rows(embedding.vectors[open_rows]) @ direction
        order = open_rows[np.argsort(bias, kind="stable")]
        first, second = order[::-1][:count], order[:count]
        taken = np.concatenate([first, second])
        others = ~np.isin(open_rows, taken)
        neither = open_rows[others][np.argsort(np.abs(bias[others]), kind="stable")][:count]
        return [first, second, neither]

    def _share(self, right: int, count: int) -> dict[str, float]:
        low, high = share_interval(right, count, self.hdi_prob)
        share = {"accuracy": right / count, "hdi_low": low, "hdi_high": high}
        return share | {"chance": 1 / _CLASSES, "words": count}


@dataclass(frozen=True, eq=False, repr=False)
class FittedINLP(FittedLinearMap):
    """A projection away from what classifiers found, and how well they did.

    Parameters
    ----------
    sets, method, matrix, directions, weights, spared
        As of `FittedLinearMap`.
    rounds : pd.DataFrame
        One row a classifier: `iteration`; `accuracy`, its share of right answers on words that it did not learn from,
        with its interval `hdi_low`, `hdi_high`; `chance`; and how many `words` judge it. The last one was not removed.
    held_out : pd.DataFrame
        The same for a new classifier of the vectors before and after, judged by words that had no part in the fit.
    """

    rounds: "pd.DataFrame"
    held_out: "pd.DataFrame"

    @property
    def _facts(self) -> Facts:
        after = self.held_out.iloc[-1]
        shown = f"{after['accuracy']:.3f} ({after['hdi_low']:.3f} to {after['hdi_high']:.3f})"
        return {
            "sets": self.sets.name,
            "components": len(self.directions),
            "accuracy_on_held_out_words": f"{shown}, chance {after['chance']:.3f}",
        }


def share_interval(right: int, count: int, prob: float) -> tuple[float, float]:
    """Return the highest posterior density interval of a share, with a uniform prior.

    >>> low, high = share_interval(40, 100, 0.89)
    >>> round(low, 3), round(high, 3)
    (0.324, 0.479)
    """
    from scipy.stats import beta

    posterior = beta(right + 1, count - right + 1)
    below = np.linspace(0.0, 1.0 - prob, 2001)
    lows, highs = posterior.ppf(below), posterior.ppf(np.minimum(below + prob, 1.0))
    narrowest = int(np.argmin(highs - lows))
    return float(lows[narrowest]), float(highs[narrowest])


def _classifier(vectors: Floats, labels: Integers) -> Any:
    try:
        from sklearn.svm import LinearSVC  # type: ignore[import-untyped]
    except ImportError as error:
        raise MeasureError(
            "INLP needs scikit-learn, which is not installed. Install it with: pip install 'bayesbias[classifiers]'."
        ) from error
    return LinearSVC(fit_intercept=False, dual=False, random_state=0, max_iter=5000).fit(vectors, labels)


def _with_rows(basis: Floats, rows: Floats) -> Floats:
    """Return an orthonormal basis that spans more rows; parts that it spans already are rounding."""
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for _ in range(2):
        units = units - units @ basis.T @ basis
    _, sizes, axes = np.linalg.svd(units, full_matrices=False)
    return np.concatenate([basis, axes[sizes > 1e-6]])
