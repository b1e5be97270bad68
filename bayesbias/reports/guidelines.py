"""Answers of a fit to reporting guidelines, item by item, with what only the author can say left open."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import counted, digits_text, interval_text, percent_text, signed_text
from bayesbias.base.statements import markdown_text
from bayesbias.errors import BayesBiasError, name_some
from bayesbias.estimates.intervals import independent_draws
from bayesbias.models.fit_files import USER, changed_by_hand
from bayesbias.models.fits import (
    fit_attribute,
    fitted_model,
    fitted_table,
    hdi_prob_of,
    measure_of_fit,
    priors_in_use,
    rope_of,
)
from bayesbias.models.numerics.proposals import KHAT_MAX
from bayesbias.models.samplers.registry import SAMPLERS
from bayesbias.reports.checks.posterior_check import PosteriorCheck, judged_statistics
from bayesbias.reports.posterior.conclusions import nothing_to_compare
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.summary import summary

if TYPE_CHECKING:
    import xarray as xr

BARG = "Bayesian analysis reporting guidelines (Kruschke 2021)"
RESPONSIBLE_NLP = "Responsible NLP checklist (ACL Rolling Review), items on data and results"
OPEN = "Author:"
"""What begins the part of an answer that is left open."""


@dataclass(frozen=True)
class ReportingItem:
    """One item of a guideline, and what a fit answers.

    - `guideline`: `BARG` or `RESPONSIBLE_NLP`.
    - `item`: number of the item there.
    - `request`: what it asks for, in short.
    - `answer`: what the fit answers; empty if it cannot.
    - `author`: what only the author can say; empty if nothing is open.
    """

    guideline: str
    item: str
    request: str
    answer: str = ""
    author: str = ""

    @property
    def text(self) -> str:
        """The answer, then what is left open."""
        return " ".join(filter(None, (self.answer, f"{OPEN} {self.author}" if self.author else "")))


def reporting_items(
    fit: "xr.DataTree",
    *,
    hdi_prob: float | None = None,
    rope: float | tuple[float, float] | None = None,
    check: PosteriorCheck | BayesBiasError | None = None,
) -> tuple[ReportingItem, ...]:
    """Return the answers of a fit to the items of both guidelines.

    `hdi_prob` and `rope` are as for `bayesbias.methods`; `check` is the predictive check, or the reason why there is
    none.
    """
    region = rope_of(fit, rope)
    frame = None
    if not nothing_to_compare(fit["constant_data"].to_dataset()["connection"].to_numpy().tolist()):
        frame = contrasts(fit, level="overall", hdi_prob=hdi_prob, rope=rope)
    estimates = () if frame is None else tuple(_estimate(row) for row in frame.to_dict("records"))
    answers = _answers(fit, percent_text(hdi_prob_of(fit, hdi_prob)), region, estimates)
    answers["3.A"] = (_predictions(check), "")
    answers |= _computation(fit)
    return tuple(
        ReportingItem(guideline, item, request, *answers.get(item, ("", "")))
        for guideline, requests in ((BARG, _BARG), (RESPONSIBLE_NLP, _RESPONSIBLE_NLP))
        for item, request in requests.items()
    )


_BARG = {
    "Preamble A": "Why Bayesian",
    "Preamble B": "Goals of the analysis",
    "1.A": "Data variables",
    "1.B": "Likelihood and parameters",
    "1.C": "Prior distribution, and why this one",
    "1.D": "Formal specification",
    "1.E": "Prior predictive check",
    "2.A": "Software",
    "2.B": "Convergence of chains",
    "2.C": "Resolution of chains (effective sample size)",
    "2.D": "If not MCMC: the error of the approximation",
    "3.A": "Posterior predictive check",
    "3.B": "Summary of the posterior",
    "3.C": "Bayes factors and model probabilities",
    "4.A": "Why decisions are made",
    "4.B": "Loss function",
    "4.C": "Limits of the region of practical equivalence, and why these",
    "4.D": "Threshold of a Bayes factor",
    "4.E": "Estimates beside decisions",
    "5.A": "Sensitivity to broad priors",
    "5.B": "Sensitivity to informed priors",
    "5.C": "Sensitivity to default priors",
    "5.D": "Sensitivity of Bayes factors",
    "5.E": "Sensitivity of decisions",
    "6.A": "Software and installation",
    "6.B": "Script and data",
    "6.C": "Readable script",
    "6.D": "Auxiliary files",
    "6.E": "The script runs as deposited",
    "6.F": "The posterior can be reproduced",
}
_RESPONSIBLE_NLP = {
    "B6": "Statistics of the data",
    "C1": "Number of parameters, computing budget, infrastructure",
    "C2": "Experimental setup and hyperparameters",
    "C3": "Descriptive statistics of results: error bars, one run or several",
    "C4": "Packages, with their settings",
}
_NO_BAYES_FACTOR = "None is computed."


def _answers(
    fit: "xr.DataTree", prob: str, region: tuple[float, float] | None, estimates: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """Return what a fit answers, and what is left open, by item; without those on computation and predictions."""
    spec, table, facts = fitted_model(fit), fitted_table(fit), fit_attribute(fit, "table")
    measure, versions = measure_of_fit(fit), fit_attribute(fit, "versions")
    seed, version = fit_attribute(fit, "random_seed"), versions.get("bayesbias", "")
    protected, attributes = (table[f"{side}_word"].nunique() for side in ("protected", "attribute"))
    counts = (
        f"{counted(len(table), 'pair')} of {counted(protected, 'protected word')} and "
        f"{counted(attributes, 'attribute word')}"
    )
    lost = facts.get("lost_words")
    losses = "lost words are not recorded" if lost is None else f"{counted(len(lost), 'word')} of the lists lost"
    priors = len(priors_in_use(fit))
    shown = f"{'; '.join(estimates)} ({prob} HPDI)" if estimates else "nothing was compared"
    packages = name_some([f"{name} {number}" for name, number in versions.items()], 12)
    question = facts.get("description", "")
    change = changed_by_hand(fit)
    sensitivity = "bb.sensitivity and bb.compare_models; the page of the fit has both unless it is quick."
    return {
        "Preamble A": ("", "why a Bayesian analysis, if readers ask for it."),
        "Preamble B": (question, "" if question else "what was to be learned."),
        "1.A": (f"Predicted: {measure.of_means}. Predictors: group, list and connection of each pair. {counts}.", ""),
        "1.B": (f"Model {spec.name} with {counted(priors, 'prior')}; the fourth paragraph above defines each.", ""),
        "1.C": ("The fourth paragraph above has all priors.", "why these are right for these data."),
        "1.D": (
            f"bb.pymc_model states {spec.name} as code (hash {spec.digest}"
            f"{f'; changed by hand: {change}' if change else ''}).",
            "where this code is deposited." if change else "",
        ),
        "1.E": ("Not part of this text: bb.check_prior, and the page of the fit unless it is quick.", ""),
        "2.A": (f"{packages}.", ""),
        "3.B": (f"Means and intervals: {shown}.", "where all groups and words are reported."),
        "3.C": (_NO_BAYES_FACTOR, ""),
        "4.A": ("", "why decisions are needed beside estimates."),
        "4.B": ("None: decisions follow from intervals alone.", ""),
        "4.C": (
            ("No region was given.", "a region, or why none is needed.")
            if region is None
            else (f"{interval_text(*region)}.", "why these limits.")
        ),
        "4.D": (_NO_BAYES_FACTOR, ""),
        "4.E": ("Each decision stands beside its mean and interval.", ""),
        "5.A": (f"Not part of this text: {sensitivity}", "what they showed."),
        "5.B": ("", "whether an informed prior changes the answer, or why none was tried."),
        "5.C": ("", "whether the default priors decide the answer, as 5.A shows."),
        "5.D": (_NO_BAYES_FACTOR, ""),
        "5.E": ("", "whether a decision changes under the priors of 5.A to 5.C."),
        "6.A": (f"pip install bayesbias=={version}" if version else "", "" if version else "how to install it."),
        "6.B": ("The hashes above identify vectors, table and model.", "where script and data are deposited."),
        "6.C": ("The page of the fit has the code that repeats it.", "where your script is deposited."),
        "6.D": ("fit.nc holds all draws.", "where it is deposited."),
        "6.E": ("", "whether it was run as deposited."),
        "6.F": (
            "The draws were sampled outside of bayesbias."
            if fit_attribute(fit, "sampler") == USER
            else f"The random seed {seed} gives the same draws on the same machine.",
            "how to repeat them." if fit_attribute(fit, "sampler") == USER else "",
        ),
        "B6": (f"{counts}; {losses}.", ""),
        "C1": ("", "parameters of the embedding or language model, hours and machine."),
        "C2": (f"Model {spec.name}, {_draws(fit)}, seed {seed}.", "whether settings were searched, and by what."),
        "C3": (
            f"{shown}. One fit; intervals are about words, not about other trainings of the vectors.",
            "whether the vectors were trained more than once.",
        ),
        "C4": (f"{packages}.", ""),
    }


def _draws(fit: "xr.DataTree") -> str:
    return f"{fit_attribute(fit, 'draws'):,} draws in each of {counted(fit_attribute(fit, 'chains'), 'chain')}"


def _estimate(row: Mapping[Any, Any]) -> str:
    return f"{row['contrast']} {signed_text(row['mean'])} ({interval_text(row['hdi_low'], row['hdi_high'])})"


def _computation(fit: "xr.DataTree") -> dict[str, tuple[str, str]]:
    """Return what a fit says of its chains, or of its independent draws."""
    sampler, stats = fit_attribute(fit, "sampler"), fit["sample_stats"].to_dataset()
    if independent_draws(fit) is None:
        frame = summary(fit)
        bulk, tail = (float(frame[f"ess_{part}"].min()) for part in ("bulk", "tail"))
        diverging = ""
        if "diverging" in stats:
            diverging = f", divergent transitions: {int(np.asarray(stats['diverging']).sum()):,}"
        return {
            "2.B": (f"Largest R-hat {digits_text(float(frame['r_hat'].max()), 4)}{diverging}.", ""),
            "2.C": (f"Smallest effective sample size {bulk:,.0f} in the bulk, {tail:,.0f} in the tails.", ""),
            "2.D": ("The draws are those of Markov chains.", ""),
        }
    method = SAMPLERS[sampler].method if sampler in SAMPLERS else "another method"
    accuracy = "the draws are independent."
    if "pareto_khat" in stats:
        accuracy = (
            f"Pareto k {float(stats['pareto_khat']):.2f} (reliable below {KHAT_MAX:g}), effective sample size of the "
            f"weights {float(stats['importance_ess']):,.0f}."
        )
    return {
        "2.B": ("There are no Markov chains: see 2.D.", ""),
        "2.C": ("There are no Markov chains: see 2.D.", ""),
        "2.D": (f"Draws by {method}: {accuracy}", ""),
    }


def _predictions(check: PosteriorCheck | BayesBiasError | None) -> str:
    """Return what a predictive check showed."""
    if not isinstance(check, PosteriorCheck):
        return "None was made."
    judged = judged_statistics(check.statistics)
    failed = [row for one in check.problems if one.kind == "statistics" for row in one.numbers["statistics"]]
    replicated = f"{counted(len(failed), 'was', 'were')} not replicated" if failed else "all were replicated"
    return f"{counted(len(judged), 'statistic')} compared in {check.replicates:,} replicated tables: {replicated}."


def guideline_rows(items: Sequence[ReportingItem]) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Yield each guideline with the rows of its table: number, request, answer."""
    for guideline in dict.fromkeys(item.guideline for item in items):
        yield guideline, [(item.item, item.request, item.text) for item in items if item.guideline == guideline]


def guideline_tables(items: Sequence[ReportingItem]) -> str:
    """Return a table of each guideline in Markdown.

    >>> print(guideline_tables([ReportingItem("Guideline", "1", "Data", "128 pairs.", "why these.")]))
    **Guideline**
    <BLANKLINE>
    | Item | Asks for | Answer |
    | --- | --- | --- |
    | 1 | Data | 128 pairs. Author: why these. |
    """
    texts = []
    for guideline, rows in guideline_rows(items):
        lines = [f"| {' | '.join(map(markdown_text, row))} |" for row in rows]
        texts.append("\n".join([f"**{guideline}**", "", "| Item | Asks for | Answer |", "| --- | --- | --- |", *lines]))
    return "\n\n".join(texts)
