"""Iterative nullspace projection: remove the directions of linear classifiers until none does better than chance."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import HDI_PROB, check_count, check_flag, check_probability
from bayesbias.base.machine import require
from bayesbias.base.statements import Facts
from bayesbias.debias.debias_words import DebiasWords
from bayesbias.debias.linear.linear_map import FittedLinearMap, projection, removal
from bayesbias.debias.method import Method
from bayesbias.debias.subspace import neutral_word_bias
from bayesbias.embeddings.embedding import Embedding
from bayesbias.estimates.intervals import share_interval
from bayesbias.geometry import unit_rows

if TYPE_CHECKING:
    import pandas as pd

# Of ten words in the order of their bias: two halves, which take turns in training and testing a classifier, and the
# others, which test the result.
_HALVES, _HELD_OUT = ((0, 3, 5, 8), (1, 4, 6, 9)), (2, 7)
_CLASSES = 3  # of the first side, of the second, of neither
_LEAST = 20  # words per class


@dataclass(frozen=True, eq=False, repr=False)
class FittedINLP(FittedLinearMap):
    """A projection away from the directions of classifiers, with the classifiers' accuracies.

    Parameters
    ----------
    sets, method, matrix, directions, weights, unchanged
        As in `FittedLinearMap`.
    rounds : pd.DataFrame
        One row per classifier: `iteration`; `accuracy`, the share of test words classified correctly, with its interval
        `hdi_low`, `hdi_high`; `chance`; and `words`, the number of test words. The last classifier was not removed.
    held_out : pd.DataFrame
        The same for new classifiers of the vectors before and after, tested on words that had no part in the fit.
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


@dataclass(frozen=True)
class INLP(Method[FittedINLP]):
    """Iterative nullspace projection of Ravfogel et al.

    Parameters
    ----------
    iterations
        Largest number of classifiers that are trained and removed, 35 in the source. It stops earlier once two in a
        row classify test words no better than chance.
    words
        Number of words in each of three classes: the most biased words of either side, and those with the least bias.
        7,500 in the source; at most a third of the neutral words.
    weighted
        Whether each direction is removed only by how far its classifier was above chance: by (accuracy - chance) / (1 -
        chance), 1 for a classifier that is always right and 0 at chance. Default: directions are removed wholly.
    hdi_prob
        Probability inside the intervals of the classifiers' accuracies.

    Raises
    ------
    ArgumentError
        If `iterations` or `words` is not a whole number of at least 1, `weighted` is not True or False, or `hdi_prob`
        is not between 0 and 1.
    MeasureError
        In `fit`: if scikit-learn is not installed, there is no bias direction, or fewer than 60 words are neutral.

    Notes
    -----
    **What it needs.** Definitional sets, whose first direction orders words by their bias; a vocabulary with at least
    60 words that are neither definitional nor specific; scikit-learn.

    **What it changes.** Every word loses its part in the directions of all classifiers: up to 105 of 300 dimensions.

    **What it cannot do.** Hide bias from a classifier that is not linear; and the more dimensions are removed, the more
    of the words' meaning is lost.

    Classifiers are trained on vectors of length 1. Two halves of four fifths of the words take turns in training and
    testing, so that nothing remains that one half alone would show. The last fifth has no part in this; it tests new
    classifiers of the vectors before and after (`FittedINLP.held_out`).

    With `weighted`, classifiers are still trained on what is left without the earlier directions as a whole, so that
    the directions are those of INLP.

    References
    ----------
    Ravfogel, Elazar, Gonen, Twiton and Goldberg (2020), Null it out: guarding protected attributes by iterative
    nullspace projection, ACL 2020, 7237-7256, arXiv:2004.07667: algorithm 1; section 6.1 for words. As in its code,
    classifiers are linear support vector machines without an intercept (squared hinge loss, C = 1). In the source,
    neutral words are drawn at random among those of little bias, the split is random, and the same half trains every
    classifier; here nothing is random, and the halves take turns, or what the test words show would remain. Dawkins
    (2021), section 5, suggests weights of (1 - 2 acc) for two classes, the same as here but for the sign, untried.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> fitted = bb.debias.INLP().fit(bb.load_embedding(vectors), [["she", "he"], ["woman", "man"]])
    >>> fitted.held_out[["when", "accuracy", "chance"]].round(1)
         when  accuracy  chance
    0  before       0.7     0.3
    1   after       0.3     0.3
    """

    name = "inlp"

    iterations: int = 35
    words: int = 7500
    hdi_prob: float = HDI_PROB
    weighted: bool = False

    def __post_init__(self) -> None:
        check_count("iterations", self.iterations)
        check_count("words", self.words)
        check_probability("hdi_prob", self.hdi_prob)
        check_flag("weighted", self.weighted)

    def _fit(self, source: Embedding, words: DebiasWords) -> FittedINLP:
        import pandas as pd

        classes = self._classes(source, words)
        count = len(classes[0])
        labels = np.repeat(np.arange(_CLASSES), count)
        units = unit_rows(source.vectors[np.concatenate(classes)])
        position = np.tile(np.arange(count) % 10, _CLASSES)
        halves, held_out = [np.isin(position, half) for half in _HALVES], np.isin(position, _HELD_OUT)

        def tested(
            basis: Floats, training: Any, test: Any, weights: Floats | float = 1.0
        ) -> tuple[Any, dict[str, float]]:
            """Return a classifier of what is left of the words without a basis, and its accuracy."""
            left = units @ removal(basis, weights)
            classifier = _classifier(left[training], labels[training])
            correct = int((classifier.predict(left[test]) == labels[test]).sum())
            return classifier, self._share(correct, int(test.sum()))

        basis: Floats = np.empty((0, source.dimensions))
        weights: Floats = np.empty(0)
        rounds = []
        for iteration in range(1, self.iterations + 1):
            classifier, accuracy = tested(basis, halves[iteration % 2 - 1], halves[iteration % 2])
            rounds.append({"iteration": iteration, **accuracy})
            at_chance = sum(row["accuracy"] <= row["chance"] for row in rounds[-2:])
            if at_chance == 2 or len(basis) + _CLASSES >= source.dimensions:
                break
            basis = _with_rows(basis, classifier.coef_)
            weight = max(accuracy["accuracy"] - accuracy["chance"], 0.0) / (1 - accuracy["chance"])
            weights = np.pad(weights, (0, len(basis) - len(weights)), constant_values=weight if self.weighted else 1.0)
        final = [
            {"when": when, **tested(basis, ~held_out, held_out, removed)[1]}
            for when, removed in (("before", 0.0), ("after", weights))
        ]
        return FittedINLP(
            **vars(projection(words, "inlp", basis, weights)), rounds=pd.DataFrame(rounds), held_out=pd.DataFrame(final)
        )

    def _classes(self, source: Embedding, words: DebiasWords) -> list[Integers]:
        """Return the rows of the words of each class, the most typical ones first."""
        rows, bias, count = neutral_word_bias(source, words, classes=_CLASSES, words=self.words, least=_LEAST)
        order = np.argsort(bias, kind="stable")
        first, second = order[::-1][:count], order[:count]
        others = np.setdiff1d(order, np.concatenate([first, second]))
        neither = others[np.argsort(np.abs(bias[others]), kind="stable")][:count]
        return [rows[first], rows[second], rows[neither]]

    def _share(self, correct: int, count: int) -> dict[str, float]:
        low, high = share_interval(correct, count, self.hdi_prob)
        share = {"accuracy": correct / count, "hdi_low": low, "hdi_high": high}
        return share | {"chance": 1 / _CLASSES, "words": count}


def _classifier(vectors: Floats, labels: Integers) -> Any:
    svm = require("sklearn.svm", "classifiers", "INLP")
    return svm.LinearSVC(fit_intercept=False, dual=False, random_state=0, max_iter=5000).fit(vectors, labels)


def _with_rows(basis: Floats, rows: Floats) -> Floats:
    """Return an orthonormal basis that spans more rows; directions that it spans already are left out."""
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for _ in range(2):
        units = units - units @ basis.T @ basis
    _, sizes, axes = np.linalg.svd(units, full_matrices=False)
    return np.concatenate([basis, axes[sizes > 1e-6]])
