"""The glossary: heading, number format and meaning of every column that results share."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import (
    count_text,
    digits_text,
    distance_text,
    p_value_text,
    probability_text,
    share_text,
    shown_name,
    signed_digits_text,
    signed_text,
)
from bayesbias.base.results import MORE_DRAWS, VERDICTS
from bayesbias.tables.measures import measure_of

if TYPE_CHECKING:
    import pandas as pd

MISSING = "\N{EN DASH}"
"""What a table shows in place of a missing number."""


@dataclass(frozen=True)
class Column:
    """Heading, format and meaning of a column.

    - `heading`: heading of the column.
    - `form`: format of its values, a key of `FORMS`.
    - `meaning`: meaning of a value as a noun phrase; empty if the heading suffices.
    """

    heading: str
    form: str = "text"
    meaning: str = ""


# Tables of differences write an estimate with its sign.
FORMS: dict[str, Callable[[Any], str]] = {
    "text": lambda value: ("no", "yes")[int(value)] if isinstance(value, bool | np.bool) else str(value),
    "words": lambda value: shown_name(str(value)),
    "count": count_text,
    "estimate": distance_text,
    "distance": distance_text,
    "difference": signed_text,
    "probability": probability_text,
    "share": share_text,
    "digits": digits_text,
    "signed_digits": signed_digits_text,
    "tenths": "{:,.1f}".format,
    "sds": "{:+.2f}".format,
    "r_hat": lambda value: digits_text(value, 4),
    "p_value": p_value_text,
}

_INTERVAL = "shortest interval that contains the value with the probability named in the settings"
# Lower ends of intervals, such as hdi_low and low_89, but not low_se.
_LOWER_END = re.compile(r"(^|_)low(_\d+)?$")
# The entry of the lower end of an interval describes both ends, which share a cell.
COLUMNS: dict[str, Column] = {
    # what a row is about
    "contrast": Column(
        "Contrast", meaning="mean distance to the first kind of attribute words minus that to the second"
    ),
    "connection": Column("Connection", meaning="how attribute words relate to a protected word"),
    "embedding": Column("Embedding"),
    "study": Column("Study", "words"),
    "model": Column("Model", "words"),
    "measure": Column("Measure"),
    "method": Column("Method"),
    "quantity": Column("Quantity", meaning="what the value measures"),
    "covariate": Column("Covariate", "words", meaning="name of a number of each protected word"),
    "unit": Column("For", meaning="change of the covariate that the slope is for"),
    "scope": Column("Scope", "words", "population: words like these; these words: these words alone"),
    "protected_word": Column("Word"),
    "protected_group": Column("Group", "words"),
    "attribute_word": Column("Attribute word"),
    "attribute_group": Column("Attribute list", "words"),
    "question": Column("Question", "words"),
    "lean": Column("Lean", "words", "mean distance to the first attribute list minus that to the second"),
    "effect": Column("Effect", "words"),
    "within": Column("Within", "words", "levels of the other factors"),
    "cell": Column("Cell", "words", "one level of each factor"),
    "planned": Column(
        "Plan",
        meaning="planned: the frozen plan names the number; changed since: it does, but lists, model, region or "
        "interval are others now; exploratory: it does not",
    ),
    "own_lists": Column("Associated lists", "words", "attribute lists that are associated with the group"),
    "parameter": Column("Parameter"),
    "word": Column("Word"),
    "group": Column("Group", "words"),
    "period": Column("Period"),
    "condition": Column("Condition", meaning="one of the embeddings that are compared"),
    "conditions": Column("Conditions", "count", "conditions that have the word"),
    "role": Column("Role"),
    "lacks": Column("Lacking in", meaning="conditions that lack the word"),
    "first": Column("First"),
    "second": Column("Second"),
    "a": Column("First word"),
    "b": Column("Second word"),
    "source": Column("Source"),
    "relation": Column("Relation"),
    "run": Column("Training", "count"),
    "seed": Column("Seed"),
    "random_seed": Column("Random seed"),
    "rule": Column("Rule"),
    "sample": Column("Sample", "count"),
    "statistic": Column("Statistic"),
    "kind": Column("Kind"),
    "left_out": Column("Left out because"),
    "error_message": Column("Error"),
    "form": Column("Stored as", meaning="form under the case rule that the vocabulary has"),
    "near": Column("Near spellings", meaning="spellings that the vocabulary has"),
    "place": Column("Place", "count", "place in the vocabulary from 1, which in most files is that of frequency"),
    "median_place": Column("Median place", "count", "of the words that the vocabulary has"),
    # how many
    "pairs": Column("Pairs", "count", "pairs of words"),
    "baseline_pairs": Column("Pairs", "count", "pairs with the first kind of attribute words"),
    "other_pairs": Column("Other pairs", "count", "pairs with the second kind of attribute words"),
    "clear_pairs": Column("Clear pairs", "count", "pairs whose direction is clear in people's answers"),
    "words": Column("Words", "count"),
    "effective_words": Column("Worth", "tenths", "number of independent words that the words of a list are worth"),
    "worth": Column("Worth", "digits", "number of independent pairs that the pairs are worth"),
    "nearly_one": Column("Nearly one", "text", "words that count nearly as one"),
    "topic": Column(
        "Topic", "text", "whether the words resemble each other more than those of nearly all random lists"
    ),
    "measured": Column("Measured by", "text", "what shows the dependence of words"),
    "items": Column("Items", "count", "pairs, words or questions behind the number"),
    "lost": Column("Lost", "count", "items that the embedding lacks"),
    "lost_words": Column("Lost words", "text", "words that the embedding lacks"),
    "embeddings": Column("Embeddings", "count"),
    "samples": Column("Samples", "count"),
    "seeds": Column("Seeds", "count"),
    "dimensions_used": Column(
        "Dimensions used", "text", "rank of the debiased vectors, from the smallest to the largest over seeds"
    ),
    "nearer": Column("Seeds: nearer", "count", "seeds whose interval lies below 0"),
    "farther": Column("Seeds: farther", "count", "seeds whose interval lies above 0"),
    "not_settled": Column("Seeds: not settled", "count", "seeds in which it is not settled, or borderline"),
    "protected_words": Column("Protected words", "count", "protected words per group"),
    "attribute_words": Column("Attribute words", "count", "attribute words per list"),
    "studies": Column("Studies", "count", "simulated studies"),
    # estimates
    "mean": Column("Mean", "estimate", "posterior mean"),
    "sd": Column("SD", "distance", "posterior standard deviation"),
    "observed": Column("Observed", "estimate", "value in the data, all lists, groups or items weighing the same"),
    "value": Column("Value", "estimate"),
    "covariate_value": Column("Value", "estimate", "value of the covariate"),
    "association": Column("Association", "estimate", "mean similarity to the first list minus that to the second"),
    "change": Column("Change", "difference", "after minus before, on the same words"),
    "correlation": Column("Correlation", "difference"),
    "change_observed": Column("Observed change", "difference", "change of the value in the data"),
    "hdi_low": Column("Interval", "estimate", _INTERVAL),
    "value_low": Column("Interval of the value", "estimate", _INTERVAL),
    "change_low": Column("Interval of the change", "difference", _INTERVAL),
    "seeds_low": Column(
        "Interval over seeds alone",
        "difference",
        "on average over seeds, for these words",
    ),
    "next_low": Column("Interval, one more seed", "difference", "interval in an embedding trained with another seed"),
    "low": Column("Range", "estimate", "ends of the range named in the caption"),
    "cosine_distance": Column("Distance", "distance", "cosine distance in the data"),
    "low_se": Column("SE, lower end", "distance", "Monte Carlo standard error of the lower end of the interval"),
    "high_se": Column("SE, upper end", "distance", "Monte Carlo standard error of the upper end of the interval"),
    "spread": Column("SD of differences", "distance", "standard deviation of the pairs' differences"),
    "context_sd": Column(
        "Error over contexts", "difference", "standard error over contexts or templates of the vectors"
    ),
    "context_low": Column("Low with contexts", "difference", "low end of the interval with the error over contexts"),
    "context_high": Column("High with contexts", "difference", "high end of the interval with the error over contexts"),
    "list_nearness": Column("Nearness of lists", "difference", "how much nearer a list is to all groups"),
    "nearness_low": Column("Interval, nearness of lists", "difference", _INTERVAL),
    "net_mean": Column("Mean, net of nearness", "difference", "contrast without the nearness of the lists"),
    "control_sd": Column("SD of controls", "distance", "standard deviation of single distances to control words"),
    "standardised": Column("Standardised", "difference", "contrast divided by the standard deviation of single pairs"),
    "contrast_unit": Column("Unit"),
    "pair_sd": Column("SD of pairs", "distance", "standard deviation of single numbers of the pairs, net of words"),
    "standardised_low": Column("Interval, standardised", "difference", _INTERVAL),
    "net_low": Column("Interval, net", "difference", _INTERVAL),
    "repeated_low": Column("Interval, again", "estimate", "interval of the value if the same pairs are measured again"),
    "least_squares_low": Column("Least squares interval", "estimate", "ignores the error of each lean"),
    "wefat": Column("WEFAT", "estimate", "difference of mean similarities, divided by the sd of a word's similarities"),
    "wefat_correlation": Column("Correlation, WEFAT", "difference", "observed correlation of WEFAT's statistic"),
    "these_words_low": Column("Interval, these words", "estimate", f"the same for exactly these words: {_INTERVAL}"),
    "null_mean": Column("Mean, null", "estimate", "mean if nothing is associated"),
    "null_low": Column("Interval, null", "estimate", "95% prediction interval if nothing is associated"),
    "null_se": Column("SE, null", "distance", "Monte Carlo standard error of the ends of the null's interval"),
    "null_share": Column("Null as far out", "share", "share of null values at least as extreme as the observed one"),
    "null_share_se": Column("SE of share", "share", "Monte Carlo standard error"),
    "beyond_null": Column(
        "Beyond null", "share", "probability that a value measured again lies outside the null's interval"
    ),
    "beyond_null_se": Column("SE of beyond", "share", "Monte Carlo standard error"),
    # verdicts and probabilities
    "borderline": Column("Borderline", meaning=f"whether {VERDICTS['borderline']}; {MORE_DRAWS}"),
    "agree": Column("Seeds agree"),
    "direction": Column("Direction", meaning="nearer if the estimate is below 0, farther if it is above"),
    "reading": Column(
        "Reading",
        meaning=f"what the interval, or the intervals of a change and of both contrasts, show; smaller: nearer to 0; "
        f"settled if {VERDICTS['settled']}; borderline if {VERDICTS['borderline']}; {MORE_DRAWS}",
    ),
    "wrong": Column(
        "P(wrong)", "probability", "probability that there is no effect, or one of the other sign, given all questions"
    ),
    "decided": Column("Decided", meaning="whether the question is decided, of all that were asked"),
    "better": Column("Better", meaning="values that are better"),
    "probability": Column("Probability", "probability", "probability of that rank"),
    "probability_of_direction": Column(
        "P(this sign)", "probability", "probability that the value has the sign of its estimate"
    ),
    "rank_correlation": Column("Rank correlation", "digits", "Spearman's, right for values far from Normal too"),
    "kurtosis": Column("Kurtosis", "digits", "of the ratings; 3 if they are Normal, larger if a few are extreme"),
    "rank_correlation_low": Column("Interval, rank correlation", "digits", _INTERVAL),
    "probability_in_rope": Column(
        "P(too small to matter)", "probability", "probability inside the region of equivalence"
    ),
    "probability_worse": Column(
        "Worse", "probability", "probability of being farther from the middle of the region than the baseline"
    ),
    "baseline_mean": Column("Baseline", "difference", "posterior mean in the baseline"),
    "outcome": Column(
        "Outcome",
        meaning="pass if the interval is inside the region of equivalence, or if the contrast is not shown to be worse "
        "than in a baseline; fail if it is beyond the region, and worse than in a baseline if there is one",
    ),
    "reason": Column("Reason"),
    "p_value": Column("p", "p_value", "p-value, one-sided"),
    "durbin_watson": Column("Durbin-Watson", "digits", "about 2 for independent periods, less where neighbours agree"),
    # axes
    "axis": Column("Axis", meaning="axis that pairs of opposite words name"),
    "pairs_agree": Column("Agree", meaning="whether the pairs are shown to name one axis"),
    "pair_se": Column("SE over pairs", "distance", "standard error over pairs"),
    "pair_share": Column("Share", "share", "share in the squared length of the mean difference of the pairs"),
    "cosine": Column("Cosine", "difference", "cosine with the axis of all pairs like these"),
    "cosine_low": Column("Interval, cosine", "difference", _INTERVAL),
    "rating": Column("Rating"),
    "correlation_low": Column("Interval, correlation", "difference", _INTERVAL),
    "observed_correlation": Column("Observed correlation", "difference", "of the projections as they are"),
    # seeds
    "seed_sd": Column("SD of seeds", "distance", "standard deviation between seeds"),
    "seed_sd_low": Column("Interval, SD of seeds", "distance", _INTERVAL),
    "lists_sd": Column("SD of words", "distance", "standard deviation due to the choice of words"),
    "seed_share": Column("Seed's share", "share", "share of the seed in the variance of one embedding's contrast"),
    "seed_share_low": Column("Interval, share", "share", _INTERVAL),
    "documents_low": Column("Interval over documents", "difference", "on average over samples of such documents"),
    "document_sd": Column("SD of documents", "distance", "standard deviation between samples of documents"),
    "document_sd_low": Column("Interval, SD of documents", "distance", _INTERVAL),
    "document_share": Column("Documents' share", "share", "share of the documents in that variance"),
    "document_share_low": Column("Interval, documents' share", "share", _INTERVAL),
    # ranks
    "strength": Column(
        "Strength",
        "digits",
        "distance of the observed value from that of no association, which is 1 for MAC and ECT and 0 for others; of a "
        "contrast standardised by the SD of pairs; in rows of all studies, the mean",
    ),
    "rank": Column("Rank", "digits", "1: the weakest association, least strength; the last: the strongest"),
    "rank_low": Column(
        "Range of ranks", "digits", "from those that are settled weaker to those that are settled stronger"
    ),
    "band_low": Column("Band", "difference", "bands that hold the differences of all pairs of a study at once"),
    "order": Column(
        "Order",
        meaning="stronger or weaker: the first, by the band; tied: the band has 0; equal: the same numbers for every "
        "word",
    ),
    "order_probability": Column("P(order)", "probability", "probability that the whole order of the embeddings holds"),
    "strongest": Column("Strongest", "probability", "probability that no other association is as strong"),
    # reliability
    "target_word": Column("Target word", meaning="word whose scores are judged"),
    "base_pair": Column("Base pair", meaning="pair of words that a score is taken along"),
    "query": Column("Query", meaning="list of words that are scored together"),
    "vectors": Column("Vectors", meaning="embeddings of one algorithm and corpus, over seeds"),
    "list": Column("List", "words", "list of words"),
    "rows": Column("Rows", "count", "rows of the matrix of scores"),
    "columns": Column("Columns", "count", "columns of the matrix of scores, such as seeds or rules"),
    "ms_rows": Column("MS of rows", "digits", "mean square of rows"),
    "ms_columns": Column("MS of columns", "digits", "mean square of columns"),
    "ms_error": Column("MS of error", "digits", "mean square of the residuals"),
    "row_kurtosis": Column("Kurtosis", "digits", "excess kurtosis of the means of rows; 0 for a Normal distribution"),
    "factor": Column("Factor", meaning="column of the data, or an interaction of columns"),
    "level": Column("Level", meaning="level of a factor of text, compared with its first level; empty for a number"),
    "part": Column("Part", meaning="source of the variance that is explained"),
    "spread_ratio": Column("Spread", "digits", "sd of the reliability by the jackknife over that of Normal rows"),
    # asymmetry
    "lar": Column("LAR", "difference", "log asymmetry ratio; above 0, the first word evokes the second more"),
    "lar_from_counts": Column("LAR from counts", "difference", "log ratio of the shares of answers, without a prior"),
    "mean_lar": Column("Mean LAR", "difference", "plain mean of the log asymmetry ratios of pairs"),
    "mean_from_counts": Column("ALAR from counts", "difference", "mean of the log ratios of the shares of answers"),
    "cam_first": Column("CAM, first", "difference", "rank correlation of the first source with people"),
    "cam_second": Column("CAM, second", "difference", "rank correlation of the second source with people"),
    "gamma": Column("Threshold", "digits", "log asymmetry ratios nearer to 0 have no direction"),
    "forward_participants": Column("Participants, forward", "count", "participants who answered to the first word"),
    "backward_participants": Column("Participants, backward", "count", "participants who answered to the second word"),
    "compared": Column("Compared", meaning="whether the pair is among those that all sources have"),
    "cam": Column("CAM", "difference", "rank correlation of log asymmetry ratios with those of people"),
    "cam_corrected": Column("CAM, corrected", "difference", "corrected for attenuation by the errors of both sources"),
    "cam_corrected_low": Column("Interval, corrected", "difference", _INTERVAL),
    "share_forward": Column("Forward", "share", "mean probability that the first word evokes the second more"),
    "reliability_first": Column("Reliability, first", "digits", "reliability of the first source"),
    "reliability_second": Column("Reliability, second", "digits", "reliability of the second source"),
    "log_b_given_a": Column("log P(second | first)", "digits", "natural logarithm of a probability"),
    "log_a_given_b": Column("log P(first | second)", "digits", "natural logarithm of a probability"),
    "accuracy": Column("Accuracy", "share", "share of directions, or of answers, that are right"),
    "clear_accuracy": Column(
        "Accuracy where clear", "share", "the same for pairs whose direction is clear in people's answers"
    ),
    # models of inference
    "overall": Column("Overall", "distance"),
    "distance": Column("Distance d", "distance", "distance between the mean answers of the two groups"),
    "largest_label": Column("Most frequent label", "share", "accuracy of always giving the most frequent label"),
    # checks
    "low_89": Column("89% interval", "distance", "predictive interval"),
    "low_50": Column("50% interval", "distance", "predictive interval"),
    "loo_pit": Column(
        "LOO-PIT", "probability", "probability of a smaller distance, if the pair is predicted from the others"
    ),
    "inside_89": Column("Inside 89%", "share", "share of pairs inside their predictive interval"),
    "inside_50": Column("Inside 50%", "share", "share of pairs inside their predictive interval"),
    "loo_inside_89": Column("Inside 89%, unseen", "share", "the same, if the pair is predicted from the others"),
    "loo_inside_50": Column("Inside 50%, unseen", "share", "the same, if the pair is predicted from the others"),
    "se_89": Column("SE of 89%", "share", "standard error of such a share under the model"),
    "se_50": Column("SE of 50%", "share", "standard error of such a share under the model"),
    "pit_distance": Column("Distance from uniform", "distance", "Kolmogorov-Smirnov distance of the PIT values"),
    "k_high": Column("Unreliable", "count", "pairs whose Pareto k is above 0.7"),
    "p_value_se": Column("SE of p", "p_value", "Monte Carlo standard error"),
    "p_value_mcse": Column("SE of p", "p_value", "Monte Carlo standard error"),
    "median": Column("Median", "distance"),
    "outside": Column("Impossible", "share", "prior probability of a distance outside 0 to 2"),
    "outside_se": Column("SE", "share", "Monte Carlo standard error"),
    "below_0": Column("Below 0", "share"),
    "above_2": Column("Above 2", "share"),
    "smallest": Column("Smallest", "distance", "smallest observed distance"),
    "average": Column("Average", "distance", "average observed distance"),
    "largest": Column("Largest", "distance", "largest observed distance"),
    "inside_observed": Column("In observed range", "share", "prior probability of a distance in the observed range"),
    "mean_se": Column("SE of mean", "distance", "Monte Carlo standard error"),
    # draws
    "ess_bulk": Column(
        "ESS",
        "count",
        "effective sample size, bulk: number of independent draws that these draws are worth",
    ),
    "ess_tail": Column("ESS, tails", "count", "effective sample size, tails: as ESS, for the ends of intervals"),
    "r_hat": Column("R-hat", "r_hat", "agreement of chains; above 1.01 they disagree"),
    "pareto_k": Column("Pareto k", "digits", "reliability of importance weights; above 0.7 they are unreliable"),
    "inside": Column("Inside", "share", "share of pairs inside the band"),
    "above": Column("Above", "share", "share of pairs above the band"),
    "below": Column("Below", "share", "share of pairs below the band"),
    # tests
    "values": Column("Values", meaning="what is tested: averages or single pairs"),
    "n": Column("Count", "count", "number of values"),
    "difference": Column("Difference", "difference"),
    # refits and models
    "shift": Column("Shift", "difference", "mean minus the mean with everything"),
    "shift_in_sd": Column("Shift in SD", "sds", "shift in posterior standard deviations with everything"),
    "changes_reading": Column("Changes it", meaning="whether the reading changes, by more than Monte Carlo error"),
    "elpd_words": Column("Words", "tenths", "expected log predictive density of attribute words that were left out"),
    "words_diff": Column("Words, to best", "tenths", "difference to the best model, in attribute words"),
    "words_diff_se": Column("SE", "tenths", "standard error of that difference"),
    "elpd_pairs": Column("Pairs", "tenths", "expected log predictive density of pairs that were left out"),
    "pairs_diff": Column("Pairs, to best", "tenths", "difference to the best model, in pairs"),
    "pairs_diff_se": Column("SE", "tenths", "standard error of that difference"),
    # false claims and sizes of studies
    "rate": Column("Rate", "share", "share of claims"),
    "data_sets": Column("Data sets", "count"),
    "not_fitted": Column("Not fitted", "count", "data sets that the fast sampler could not fit"),
    "nominal": Column("Nominal rate", "share", "nominal share of claims if nothing is associated"),
    "claims": Column("Claims", "share", "share of random lists for which an association is claimed"),
    "claims_se": Column("SE of claims", "share", "Monte Carlo standard error"),
    "posterior_sd": Column("Posterior SD", "distance", "root mean square of the posterior standard deviations"),
    "error": Column("Error", "distance", "root mean square error of the posterior means"),
    "error_se": Column("SE of error", "distance", "Monte Carlo standard error"),
    "study_value": Column("The study's own", "difference"),
    "study_claims": Column("Claimed for the study"),
    "share_as_extreme": Column("As extreme", "share", "share of random lists at least as far from 0 as the study's"),
    "share_as_extreme_se": Column("SE", "share", "Monte Carlo standard error"),
    "beyond_se": Column("SE", "share", "Monte Carlo standard error"),
    "mean_width": Column("Mean width", "distance", "mean width of the intervals"),
    "mc_se": Column("SE of width", "distance", "Monte Carlo standard error"),
    "share_narrower": Column("Narrow enough", "share", "share of studies whose interval is narrower than requested"),
    "share_se": Column("SE", "share", "Monte Carlo standard error"),
    "power": Column("Power", "share", "share of studies whose interval excludes 0 on the side of the true contrast"),
    "power_se": Column("SE of power", "share", "Monte Carlo standard error"),
    "suffices": Column("Suffices", meaning="at least 80% of the studies have an interval narrower than requested"),
    # pairs of words in norms
    "directed": Column("Directed", meaning="whether the pair has one direction, from the first word to the second"),
    "forward": Column("Forward", "count", "participants who answered the second word to the first"),
    "backward": Column("Backward", "count", "participants who answered the first word to the second"),
    # densities
    "replicated": Column("Replicated", "digits", "density of distances simulated from the posterior"),
    "prior": Column("Prior", "digits", "density of distances simulated from the prior"),
    "smallest_size": Column("Smallest", meaning="no smaller size tried suffices"),
}


def column(name: str, frame: "pd.DataFrame") -> Column:
    """Return the entry of a column; a column outside the glossary gets its name as heading and a format by type.

    Meanings are about the measure in the settings of the frame, if it has any.

    >>> column("hdi_low", pd.DataFrame({"hdi_low": [0.1]})).heading
    'Interval'
    """
    if name in COLUMNS:
        entry = COLUMNS[name]
        return replace(entry, meaning=measure_of(getattr(frame, "settings", {})).phrase(entry.meaning))
    form = {"f": "digits", "i": "count", "u": "count"}.get(frame[name].dtype.kind, "text")
    heading = shown_name(name)
    return Column(heading[:1].upper() + heading[1:], form)


def intervals_joined(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return column names as shown: both ends of an interval together, other columns alone.

    >>> intervals_joined(["mean", "hdi_low", "hdi_high", "low_89", "high_89"])
    [('mean',), ('hdi_low', 'hdi_high'), ('low_89', 'high_89')]
    """
    uppers = {name: _LOWER_END.sub(r"\1high\2", name) for name in names if _LOWER_END.search(name)}
    uppers = {low: high for low, high in uppers.items() if high in names}
    others = [name for name in names if name not in uppers.values()]
    return [(name, uppers[name]) if name in uppers else (name,) for name in others]


def value_writer(form: str, *, differences: bool, digits: bool = False) -> Callable[[Any], str]:
    """Return the function that formats the values of a column, with a dash for a missing number."""
    if digits and form in ("estimate", "distance", "difference"):
        form = "digits" if form == "distance" else "signed_digits"
    write = FORMS["difference" if differences and form == "estimate" else form]

    def written(value: Any) -> str:
        missing = isinstance(value, float) and value != value
        return (
            MISSING if missing else write(value) if form in ("text", "words") or not isinstance(value, str) else value
        )

    return written
