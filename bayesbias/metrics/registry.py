"""Every measure by its name: what it computes, what its sign means, what it needs, and how to run it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from bayesbias.errors import MeasureError, did_you_mean, name_some
from bayesbias.metrics.result import MeasureResult
from bayesbias.metrics.similarities import KERNELS
from bayesbias.studies import Study, load_study

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_FOUR = "two protected groups, two attribute groups"
_TWO = "two protected groups, one or more attribute groups"
_SCORE = "(A:C + B:D) - (B:C + A:D)"
_PAIRS = "base pairs (23 are bundled), target words"
_DU = "Du, Fang and Nguyen (2021), section 3.1"
_KINDEL = "Kindel (2023)"


@dataclass(frozen=True)
class Measure:
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
    function
        Module and function that compute it: ``"weat:weat"``, in ``bayesbias.metrics``.
    options
        Options of the function that make it this measure.
    base_pairs
        Name of its option that takes pairs of words, where it has one.
    whole_embedding
        Whether it needs more words than those that it measures.
    of_table
        Whether the function takes a distance table in place of an embedding and a study.
    """

    name: str
    title: str
    formula: str
    sign: str
    range: str
    needs: str
    source: str
    conventions: str
    function: str
    options: Mapping[str, Any] = field(default_factory=dict)
    base_pairs: str = ""
    whole_embedding: bool = False
    of_table: bool = False

    @property
    def posterior(self) -> bool:
        """Whether it is a function of pairwise similarities, so that a fit has a posterior of it."""
        return self.name in KERNELS


MEASURES: dict[str, Measure] = {
    entry.name: entry
    for entry in (
        Measure(
            "weat", "Word Embedding Association Test",
            "(mean s(x, A, B) over X - mean s(y, A, B) over Y) / sd of s over both; s(w, A, B) = mean cos(w, a) - mean "
            "cos(w, b)",
            "positive: X nearer to A and Y to B, the associations of the study", "-2 to 2 (effect size)", _FOUR,
            "Caliskan, Bryson and Narayanan (2017)",
            "sd with n - 1; the p-value is one-sided and counts all partitions up to a million", "weat:weat",
        ),
        Measure(
            "weat_score", "mean-cosine score (WEAT_0, WEAT_1, WEAT_k)", f"{_SCORE}, X:Y the mean cosine of X and Y",
            "positive: A nearer to C and B to D, the associations of the study", "-4 to 4", _FOUR,
            f"{_KINDEL}, equation WEAT(A, B, C, D) and supplement, WEAT_0, WEAT_1, WEAT_k",
            "all pairs (grand_mean); 'paired' by place, 'centroid' of the vectors as stored. A posterior only without "
            "the centroid", "subspaces.mean_cosine:weat_score",
        ),
        Measure(
            "canonical_subspace", "canonical subspace score",
            f"{_SCORE}, X:Y = trace(P_X P_Y) / sqrt(rank X * rank Y), P the projectors onto the words' spans",
            "positive: A nearer to C and B to D, the associations of the study", "-2 to 2", _FOUR,
            f"{_KINDEL}, Sim_CCA;k and Table 1", "uncentred; scaled by the ranks (scaled=False: not)",
            "subspaces.canonical_subspace:canonical_subspace",
        ),
        Measure(
            "congruences", "canonical congruences", "cosines of the principal angles between the spans of two lists",
            "large: the lists share a direction", "0 to 1", _FOUR, f"{_KINDEL}, Figure 3",
            "uncentred; one row a congruence of each of the four comparisons",
            "subspaces.canonical_subspace:congruences",
        ),
        Measure(
            "kindel_comparison", "WEAT by mean cosine and by the canonical metric",
            f"{_SCORE} under both; Spearman's rho of the four components; ratio of the scores",
            "positive: A nearer to C and B to D under that metric", "-4 to 4 (cosine), -2 to 2 (canonical)", _FOUR,
            f"{_KINDEL}, Table 1", "canonical components scaled by the ranks",
            "subspaces.kindel_comparison:kindel_comparison",
        ),
        Measure(
            "mac", "Mean Average Cosine distance", "mean over words t and attribute groups A_j of mean (1 - cos(t, a))",
            "large: far from all attributes, associated or not", "0 to 2", "protected groups, attribute groups",
            "Manzini et al. (2019)", "a distance, not a similarity; each attribute group counts the same", "mac:mac",
        ),
        Measure(
            "direct_bias", "direct bias", "mean of |cos(w, g)|^c over words w, g the main direction of the pairs",
            "large: words lie along the direction; the mean cosine is positive towards the first words of the pairs",
            "0 to 1", "pairs (10 are bundled), words that should be neutral: those of the attribute groups",
            "Bolukbasi et al. (2016), section 5.2", "c = 1; uncentred differences of unit vectors",
            "direct_bias:direct_bias", base_pairs="pairs",
        ),
        Measure(
            "rnd", "Relative Norm Distance", "mean over words a of |a - mean X| - |a - mean Y|",
            "positive: attribute words nearer to Y", "-2 to 2", _TWO, "Garg et al. (2018)",
            "unit vectors; mean, not sum, over words (rnd_sum: the sum, as published)", "rnd:rnd",
        ),
        Measure(
            "ect", "Embedding Coherence Test", "Spearman's rho of cos(a, mean X) and cos(a, mean Y) over words a",
            "near 1: both groups rank the attribute words alike", "-1 to 1", _TWO, "Dev and Phillips (2019)",
            "vectors as stored (normalize=False). The posterior is that with normalize=True", "ect:ect",
        ),
        Measure(
            "rnsb", "Relative Negative Sentiment Bias",
            "Kullback-Leibler divergence from equal shares of the words' probabilities of being negative",
            "large: some words are taken for more negative than others; 0: all alike", "0 to log(words), in nats",
            "protected groups, a positive and a negative attribute group", "Sweeney and Najafian (2019)",
            "logistic regression on vectors as stored; the second attribute group is the negative one; needs "
            "scikit-learn", "rnsb:rnsb",
        ),
        Measure(
            "db_wa", "direct bias / word association of single words", "cos(w, m) - cos(w, f)",
            "positive: towards m, the first word of the pair", "-2 to 2", _PAIRS, f"{_DU}, DB/WA",
            "base pairs masculine word first", "word_scores:word_scores", {"rules": ("db_wa",)}, "base_pairs",
        ),
        Measure(
            "ripa", "Relational Inner Product Association of single words", "w (m - f) / |m - f|",
            "positive: towards m, the first word of the pair", "unbounded", _PAIRS,
            f"Ethayarajh, Duvenaud and Hirst (2019); {_DU}, RIPA", "vectors as stored", "word_scores:word_scores",
            {"rules": ("ripa",)}, "base_pairs",
        ),
        Measure(
            "ripa_unit", "RIPA of unit vectors", "w (m - f) / |m - f|, w of length 1",
            "positive: towards m, the first word of the pair", "-1 to 1", _PAIRS, f"published code of {_DU}, RIPA",
            "the word's vector of length 1, those of the pair as stored", "word_scores:word_scores",
            {"rules": ("ripa_unit",)}, "base_pairs",
        ),
        Measure(
            "nbm", "Neighbourhood Bias Metric of single words",
            "(neighbours with DB/WA above 0 - neighbours with DB/WA below 0) / k",
            "positive: neighbours lean to m, the first word of the pair", "-1 to 1", f"{_PAIRS}, a vocabulary",
            f"{_DU}, NBM, after Gonen and Goldberg (2019)", "k = 100 nearest words by cosine, the word itself left out",
            "word_scores:word_scores", {"rules": ("nbm",)}, "base_pairs", whole_embedding=True,
        ),
        Measure(
            "t_tests", "t-tests of two groups' distances",
            "Welch's t of the distances of X and Y to each attribute group",
            "positive: X farther from the attribute group than Y", "-2 to 2 (difference)", _TWO,
            "Dobrzeniecka and Urbaniak (2024), section on pre-averaging",
            "two-sided; averages of words (preaveraged) and single distances (raw)", "t_tests:t_tests", of_table=True,
        ),
        Measure(
            "mac_t_tests", "t-tests of MAC", "t of the distances against 1, that of unrelated words",
            "positive: farther than unrelated words", "-1 to 1 (difference)", "protected groups, attribute groups",
            "Manzini et al. (2019); Dobrzeniecka and Urbaniak (2024), section on pre-averaging",
            "two-sided; averages of words (preaveraged) and single distances (raw)", "t_tests:mac_t_tests",
            of_table=True,
        ),
    )
}  # fmt: skip
"""Name -> `Measure`, of everything in ``bayesbias.metrics`` that gives numbers for a study in an embedding."""


def measure(
    name: str, embedding: Any, study: Study | str | os.PathLike[str], **options: Any
) -> "MeasureResult | pd.DataFrame | xr.DataArray":
    """Run a measure by its name.

    Parameters
    ----------
    name
        A name in `MEASURES`.
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, or the path of a TOML file.
    **options
        Options of the measure's own function, such as `targets`, `attributes`, `ddof`, `base_pairs`.

    Returns
    -------
    MeasureResult, pandas.DataFrame or xarray.DataArray
        What the measure's function returns: an array of scores for the measures of single words, a frame for
        ``"congruences"``, ``"kindel_comparison"`` and the t-tests, else a `MeasureResult`.

    Raises
    ------
    MeasureError
        If there is no such measure or option, an option has the wrong type, or the measure cannot be computed.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> measure("mac", vectors, "weat7").measure
    'mac'
    """
    entry = find_measure(name)
    function = _function(entry)
    _check_options(entry, options)
    loaded = load_study(study)
    first: tuple[Any, ...] = embedding, loaded
    if entry.of_table:
        from bayesbias.tables.build import distance_table

        first = (distance_table(embedding, loaded),)
    result: MeasureResult | pd.DataFrame | xr.DataArray = function(*first, **entry.options, **options)
    return result


def find_measure(name: str) -> Measure:
    """Return the entry of a measure; raise `MeasureError` if there is none of this name.

    >>> find_measure("ect").range
    '-1 to 1'
    """
    if name not in MEASURES:
        raise MeasureError(
            f"There is no measure {name!r}{did_you_mean(str(name).lower().replace('-', '_'), MEASURES)}. "
            f"Known are {', '.join(MEASURES)}."
        )
    return MEASURES[name]


def words_needed(name: str, study: Study, **options: Any) -> tuple[str, ...] | None:
    """Return the words whose vectors a measure needs, or None where it needs the whole embedding.

    >>> len(words_needed("mac", bb.load_study("weat7")))
    343
    """
    from bayesbias.metrics.direct_bias import GENDER_PAIRS
    from bayesbias.metrics.word_scores import load_base_pairs

    entry = find_measure(name)
    _check_options(entry, options)
    if entry.whole_embedding:
        return None
    pairs = options.get(entry.base_pairs, GENDER_PAIRS if entry.base_pairs == "pairs" else "gender")
    if not entry.base_pairs:
        pairs = ()
    pairs = load_base_pairs(pairs) if isinstance(pairs, str) else pairs
    return (*study.words, *(word for pair in pairs for word in pair))


def result_frame(result: "MeasureResult | pd.DataFrame | xr.DataArray") -> "pd.DataFrame":
    """Return the values of a result as a frame: of words, of comparisons, or scores over base pairs.

    Scores of single words become one row a word: their `mean`, `lowest` and `highest` over the base pairs.
    """
    import pandas as pd

    if isinstance(result, MeasureResult):
        return result.words
    if isinstance(result, pd.DataFrame):
        return result
    frame = pd.DataFrame({"word": result["target_word"].to_numpy()})
    if "group" in result.coords:
        frame["group"] = result["group"].to_numpy()
    scores = result.isel(rule=0)
    return frame.assign(
        mean=scores.mean("base_pair").to_numpy(),
        lowest=scores.min("base_pair").to_numpy(),
        highest=scores.max("base_pair").to_numpy(),
        base_pairs=result.sizes["base_pair"],
    )


def _function(entry: Measure) -> Any:
    file, name = entry.function.split(":")
    return getattr(import_module(f"bayesbias.metrics.{file}"), name)


def _check_options(entry: Measure, options: Mapping[str, Any]) -> None:
    """Raise `MeasureError` for an option that the measure has not, or of a type that it cannot be."""
    parameters = list(signature(_function(entry)).parameters.values())
    optional = [item for item in parameters if item.default is not Parameter.empty]
    known = {item.name: item.default for item in optional if item.name not in (*entry.options, "after")}
    for name, value in options.items():
        if name not in known:
            has = f"it has {name_some(known, 20)}" if known else "it has none"
            raise MeasureError(f"{entry.name} has no option {name!r}{did_you_mean(name, known)}; {has}.")
        wanted = None if value is None and known[name] is None else _wanted(entry, name, known[name], value)
        if wanted is not None:
            raise MeasureError(f"{entry.name}: {name}={value!r}: give {wanted}.")


def _wanted(entry: Measure, name: str, default: Any, value: Any) -> str | None:
    """Return what an option should be, or None where it may be what it is."""
    listed = isinstance(value, list | tuple)
    if name == entry.base_pairs:
        pairs = listed and all(isinstance(pair, list | tuple) and _texts(pair) and len(pair) == 2 for pair in value)
        return None if pairs or isinstance(value, str) else "pairs of words, such as [('he', 'she')]"
    if name in ("targets", "attributes", "vocabulary"):
        return None if (listed and _texts(value)) or isinstance(value, str) else "names of lists or words"
    if name == "random_seed":
        usable = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return None if usable else "a whole number of at least 0"
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "True or False"
    if isinstance(default, int):
        return None if isinstance(value, int) and not isinstance(value, bool) else "a whole number"
    if isinstance(default, float):
        return None if isinstance(value, int | float) and not isinstance(value, bool) else "a number"
    return "numbers" if name == "direction" and isinstance(value, str) else None


def _texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)
