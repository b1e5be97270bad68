"""Every measure by its name: what it computes, what its sign means, what it needs, and how to run it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, did_you_mean, name_some
from bayesbias.metrics.associations.mac import average_distances, mac, mac_statistics
from bayesbias.metrics.associations.mean_vectors import ect, ect_statistics, rnd
from bayesbias.metrics.associations.rnsb import rnsb
from bayesbias.metrics.associations.semaxis import semaxis
from bayesbias.metrics.associations.single_category import normalized_association_score, sc_weat
from bayesbias.metrics.associations.weat import associations, weat, weat_statistics
from bayesbias.metrics.directions.direct_bias import direct_bias
from bayesbias.metrics.directions.word_scores import word_scores
from bayesbias.metrics.look_up import every_group, four_lists, two_groups
from bayesbias.metrics.result import MeasureResult
from bayesbias.metrics.similarities import SimilarityMeasure
from bayesbias.metrics.subspaces.canonical_subspace import canonical_subspace
from bayesbias.metrics.subspaces.mean_cosine import weat_score, weat_score_statistics
from bayesbias.studies.study import StudyLike

_FOUR = "two protected groups, two attribute groups"
_TWO = "two protected groups, one or more attribute groups"
_SCORE = "(A:C + B:D) - (B:C + A:D)"
_ASSOCIATION = "association s(w, A, B)"
_PAIRS = "base pairs (23 are bundled), target words"
_DU = "Du, Fang and Nguyen (2021), section 3.1"
_KINDEL = "Kindel (2023)"


def _magnitude(values: Floats) -> Floats:
    return np.abs(values)


def _below_one(values: Floats) -> Floats:
    return 1.0 - values


@dataclass(frozen=True, repr=False)
class Measure(Described):
    """What a measure is.

    Parameters
    ----------
    name, title
        Its name in `MEASURES`, and in words.
    formula
        As plain text.
    sign
        What a positive, or a large, value means.
    range
        Which values it may take.
    needs
        The word lists that it takes.
    source
        Who proposed it, and where.
    conventions
        What the formula leaves open.
    avoid
        When not to use it.
    function
        What computes it: it takes an embedding and a study, and returns a `MeasureResult`.
    options
        Options of the function that make it this measure.
    of_similarities
        The measure as a function of the similarities alone, where it is one.
    strength
        From values of the measure to numbers that grow with the strength of what it measures, in either direction.
    """

    name: str
    title: str
    formula: str
    sign: str
    range: str
    needs: str
    source: str
    conventions: str
    avoid: str
    function: Callable[..., MeasureResult]
    options: Mapping[str, Any] = field(default_factory=dict)
    of_similarities: SimilarityMeasure | None = None
    strength: Callable[[Floats], Floats] = _magnitude

    @property
    def _facts(self) -> Facts:
        return {
            name: getattr(self, name)
            for name in ("name", "title", "formula", "sign", "range", "needs", "conventions", "avoid", "source")
        }

    @property
    def posterior(self) -> bool:
        """Whether it is a function of pairwise similarities, so that a fit has a posterior of it."""
        return self.of_similarities is not None


MEASURES: dict[str, Measure] = {
    entry.name: entry
    for entry in (
        Measure(
            "weat", "Word Embedding Association Test",
            "(mean s(x, A, B) over X - mean s(y, A, B) over Y) / sd of s over both; s(w, A, B) = mean cos(w, a) - mean "
            "cos(w, b)",
            "positive: X nearer to A and Y to B, the associations of the study", "-2 to 2 (effect size)", _FOUR,
            "Caliskan, Bryson and Narayanan (2017)",
            "sd with n - 1; the p-value is one-sided and counts all partitions up to a million",
            "to compare sizes between studies: it is divided by the spread of the words' own associations, so "
            "that a small gap that all words share is large; with 3 and 3 words, which no p-value below 0.05 can "
            "come from; to speak of other attribute words than these",
            weat,
            of_similarities=SimilarityMeasure(four_lists, weat_statistics, associations, _ASSOCIATION),
        ),
        Measure(
            "sc_weat", "single-category WEAT",
            "(mean over A of cos(X, a) - mean over B of cos(X, b)) / sd over A and B; cos(X, a) = mean over X of "
            "cos(x, a)",
            "positive: A nearer to the group X than B", "-2 to 2 (effect size)",
            "one protected group, two attribute groups",
            "Caliskan, Bryson and Narayanan (2017), WEFAT; Caliskan et al. (2022), SC-WEAT",
            "sd with n - 1; attribute words are exchanged for the p-value, all partitions up to a million",
            "where there are two groups to compare: of one group alone it cannot tell an association from "
            "attribute words that are near to everything",
            sc_weat,
        ),
        Measure(
            "normalized_association_score", "normalized association score of single words (WEFAT)",
            "(mean cos(w, a) - mean cos(w, b)) / sd of w's similarities to A and B together",
            "positive: nearer to A, the first attribute group", "-2 to 2",
            "protected groups, two attribute groups",
            "Caliskan, Bryson and Narayanan (2017), WEFAT; Chan (2022), sweater, normalized_association_score", "sd with n - 1",
            "to say how sure it is: it is a standardized size and no test; and a word alone cannot tell an "
            "association from attribute words that are near to everything, so compare words with each other",
            normalized_association_score,
        ),
        Measure(
            "semaxis", "SemAxis of single words", "cos(w, mean of A - mean of B)",
            "positive: towards A, the first attribute group", "-1 to 1", "protected groups, two attribute groups",
            "An, Kwak and Ahn (2018), equations 1 and 2", "vectors as stored (normalize=False)",
            "to compare a word with 0: words in general lie off it; compare words with each other",
            semaxis,
        ),
        Measure(
            "weat_score", "mean-cosine score (WEAT_0, WEAT_1, WEAT_k)", f"{_SCORE}, X:Y the mean cosine of X and Y",
            "positive: A nearer to C and B to D, the associations of the study", "-4 to 4", _FOUR,
            f"{_KINDEL}, equation WEAT(A, B, C, D) and supplement, WEAT_0, WEAT_1, WEAT_k",
            "all pairs (grand_mean); 'paired' by place, 'centroid' of the vectors as stored. A posterior only without "
            "the centroid",
            "to say whether it is more than chance: it has no test; weat has, and bb.measure_posterior an "
            "interval",
            weat_score,
            of_similarities=SimilarityMeasure(four_lists, weat_score_statistics, associations, _ASSOCIATION),
        ),
        Measure(
            "canonical_subspace", "canonical subspace score",
            f"{_SCORE}, X:Y = trace(P_X P_Y) / sqrt(rank X * rank Y), P the projectors onto the words' spans",
            "positive: A nearer to C and B to D, the associations of the study", "-2 to 2", _FOUR,
            f"{_KINDEL}, Sim_CCA;k and Table 1", "uncentred; scaled by the ranks (scaled=False: not)",
            "with lists of nearly as many words as the vectors have dimensions: their spans meet whatever the "
            "words are; compare it with bb.metrics.study_nulls",
            canonical_subspace,
        ),
        Measure(
            "mac", "Mean Average Cosine distance", "mean over words t and attribute groups A_j of mean (1 - cos(t, a))",
            "large: far from all attributes, associated or not", "0 to 2", "protected groups, attribute groups",
            "Manzini et al. (2019)", "a distance, not a similarity; each attribute group counts the same",
            "to ask whether groups differ: it averages associated and different pairs, so that what one gains the"
            " other loses; and 1 is no neutral value",
            mac,
            of_similarities=SimilarityMeasure(
                every_group, mac_statistics, average_distances, "mean distance s(t, A_j) to an attribute group"
            ),
            strength=_below_one,
        ),
        Measure(
            "direct_bias", "direct bias", "mean of |cos(w, g)|^c over words w, g the main direction of the pairs",
            "large: words lie along the direction; the mean cosine is positive towards the first words of the pairs",
            "0 to 1", "pairs (10 are bundled), words that should be neutral: those of the attribute groups",
            "Bolukbasi et al. (2016), section 5.2", "c = 1; uncentred differences of unit vectors",
            "to show that debiasing worked: hard debiasing makes it 0 by construction, while words keep their "
            "neighbours (Gonen and Goldberg 2019)",
            direct_bias,
        ),
        Measure(
            "rnd", "Relative Norm Distance", "mean over words a of |a - mean X| - |a - mean Y|",
            "positive: attribute words nearer to Y", "-2 to 2", _TWO, "Garg et al. (2018)",
            "unit vectors; mean, not sum, over words (rnd_sum: the sum, as published)",
            "with groups whose words scatter unlike: the mean of near words is longer, and so farther from a word"
            " that is unrelated to both; distance=\"cosine\" does not see that",
            rnd,
        ),
        Measure(
            "ect", "Embedding Coherence Test", "Spearman's rho of cos(a, mean X) and cos(a, mean Y) over words a",
            "near 1: both groups rank the attribute words alike", "-1 to 1", _TWO, "Dev and Phillips (2019)",
            "vectors as stored (normalize=False). The posterior is that with normalize=True",
            "to find a shift that all attribute words share: if each is nearer to the first group by as much, it is "
            "still 1",
            ect,
            of_similarities=SimilarityMeasure(two_groups, ect_statistics, same_as=(("normalize", True),)),
            strength=_below_one,
        ),
        Measure(
            "rnsb", "Relative Negative Sentiment Bias",
            "Kullback-Leibler divergence from equal shares of the words' probabilities of being negative",
            "large: some words are taken for more negative than others; 0: all alike", "0 to log(words), in nats",
            "protected groups, a positive and a negative attribute group", "Sweeney and Najafian (2019)",
            "logistic regression on vectors as stored; the second attribute group is the negative one; needs "
            "scikit-learn",
            "where the classifier hardly tells positive from negative words (see accuracy), and to compare "
            "studies with different numbers of words, whose upper ends differ",
            rnsb,
        ),
        Measure(
            "db_wa", "direct bias / word association of single words", "cos(w, m) - cos(w, f)",
            "positive: towards m, the first word of the pair", "-2 to 2", _PAIRS, f"{_DU}, DB/WA",
            "base pairs masculine word first",
            "with a single base pair: all else that its two words differ in counts too; compare several "
            "(bb.metrics.index_of_inconsistency)",
            word_scores, {"rule": "db_wa"},
        ),
        Measure(
            "ripa", "Relational Inner Product Association of single words", "w (m - f) / |m - f|",
            "positive: towards m, the first word of the pair", "unbounded", _PAIRS,
            f"Ethayarajh, Duvenaud and Hirst (2019); {_DU}, RIPA", "vectors as stored",
            "to compare frequent with rare words: long vectors score more; ripa_unit does not see lengths",
            word_scores,
            {"rule": "ripa"},
        ),
        Measure(
            "ripa_unit", "RIPA of unit vectors", "w (m - f) / |m - f|, w of length 1",
            "positive: towards m, the first word of the pair", "-1 to 1", _PAIRS, f"published code of {_DU}, RIPA",
            "the word's vector of length 1, those of the pair as stored",
            "to repeat published values of ripa, which have the words' lengths in them",
            word_scores,
            {"rule": "ripa_unit"},
        ),
        Measure(
            "nbm", "Neighbourhood Bias Metric of single words",
            "(neighbours with DB/WA above 0 - neighbours with DB/WA below 0) / k",
            "positive: neighbours lean to m, the first word of the pair", "-1 to 1", f"{_PAIRS}, a vocabulary",
            f"{_DU}, NBM, after Gonen and Goldberg (2019)", "k = 100 nearest words by cosine, the word itself left out",
            "without a whole vocabulary: the nearest words of a study are not those of the language",
            word_scores, {"rule": "nbm"},
        ),
    )
}  # fmt: skip
"""Name -> `Measure`, of everything in ``bayesbias.metrics`` that gives numbers for a study in an embedding."""


def measure(name: str, embedding: EmbeddingLike, study: StudyLike, **options: Any) -> MeasureResult:
    """Run a measure by its name.

    Parameters
    ----------
    name
        A name in `MEASURES`.
    embedding, study
        See `bayesbias.metrics`.
    **options
        Options of the measure's own function, such as `targets`, `attributes`, `ddof`, `base_pairs`.

    Returns
    -------
    MeasureResult
        What the measure's function returns.

    Raises
    ------
    MeasureError
        If there is no such measure or option, or the measure cannot be computed.
    ArgumentError
        If an option is not usable.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> round(measure("mac", vectors, "weat7").mac, 4)
    0.7561
    """
    entry = find_measure(name)
    optional = [item for item in signature(entry.function).parameters.values() if item.default is not Parameter.empty]
    known = [item.name for item in optional if item.name not in entry.options]
    for option in options:
        if option not in known:
            hint = did_you_mean(option, known)
            raise MeasureError(f"{name} has no option {option!r}{hint}; it has {name_some(known, 20)}.")
    return entry.function(embedding, study, **entry.options, **options)


def find_measure(name: str) -> Measure:
    """Return the entry of a measure; raise `MeasureError` if there is none of this name.

    >>> find_measure("ect").range
    '-1 to 1'
    """
    if not isinstance(name, str) or name not in MEASURES:
        raise MeasureError(
            f"There is no measure {name!r}{did_you_mean(str(name).lower().replace('-', '_'), MEASURES)}. "
            f"Known are {', '.join(MEASURES)}."
        )
    return MEASURES[name]
