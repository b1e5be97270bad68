"""The methods section of a paper, written from a fit."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.statements import markdown_sentence, markdown_text
from bayesbias.embeddings.embedding import OF_WORDS
from bayesbias.errors import name_some
from bayesbias.estimates.intervals import independent_draws
from bayesbias.models.fit_files import USER, added_parameters
from bayesbias.models.fits import (
    check_fit,
    fit_attribute,
    fitted_model,
    fitted_rows,
    fitted_table,
    groups_without_contrast,
)
from bayesbias.models.multivariate.posterior_draws import KHAT_TO_MOVE, MOVES
from bayesbias.models.samplers.registry import SAMPLERS
from bayesbias.reports.posterior.doubts import data_facts
from bayesbias.reports.posterior.references import cite, cited_references, package_citation, reference
from bayesbias.reports.posterior.summary import summary
from bayesbias.studies.study import control_list
from bayesbias.tables.schema import lost_by_list

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_MOST_WORDS = 30
_CONTROLS = {
    "human": "are related to people, but to no protected group",
    "neutral": "represent words in general",
}


def methods(fit: "xr.DataTree", *, hdi_prob: float = HDI_PROB) -> str:
    r"""Return the methods section of a paper for a fit, in Markdown.

    Parameters
    ----------
    fit
        Fit returned by `fit`.
    hdi_prob
        Probability inside the intervals that the paper reports.

    Returns
    -------
    str
        Five paragraphs: data (embedding, lists with their sizes, lost words), what is compared, model with its priors,
        posterior (sampler, draws, seed, diagnostics, intervals), and software; then the hashes of embedding, table and
        model, and a BibTeX entry of each work that the text cites. All numbers come from the fit.

    Raises
    ------
    FitError, ArgumentError
        If `fit` is not a fit, or `hdi_prob` is not a probability.

    Examples
    --------
    >>> data, question, model, posterior, software, hashes, bibtex = bb.methods(fit).split("\n\n")
    >>> print(data.partition(",")[0])
    We measured cosine distances (1 minus cosine similarity) in the embedding Google News word2vec
    >>> "`sigma` ~ Exponential(rate=2)" in model, "2 chains of 3,000 draws, with the random seed 3" in posterior
    (True, True)
    >>> bibtex.splitlines()[1]
    '@software{bayesbias,'
    """
    check_probability("hdi_prob", hdi_prob)
    table = fitted_table(check_fit(fit))
    parts = (_data(fit, table), _question(fit, table), _model(fit), _posterior(fit, hdi_prob), _software(fit))
    text = "\n\n".join(" ".join(part) for part in parts)
    entries = [entry.entry for entry in cited_references(text)]
    return "\n\n".join([text, _hashes(fit), "\n".join(["```bibtex", *entries, "```"])])


def _data(fit: "xr.DataTree", table: "pd.DataFrame") -> Iterator[str]:
    facts = fit_attribute(fit, "table")
    embedding = facts.get("embedding", {})
    what = "We simulated" if facts.get("simulated") else "We measured"
    if "name" in embedding:
        source = f"in the embedding {markdown_text(embedding['name'])}"
    else:
        source = f"of the table {markdown_text(facts.get('source', 'without a name'))}"
    yield f"{what} cosine distances (1 minus cosine similarity) {source}."
    if "case" in embedding:
        yield f"Words were looked up by the case rule '{markdown_text(embedding['case'])}'."
    if "steps" in embedding:
        yield f"Preparation of the vectors: {markdown_text(embedding['steps'])}."
    if "contexts" in facts:
        what = "sentences, the same for all words" if facts["contexts"].get("same_for_all") else "contexts"
        yield f"Vectors are means over {what}, in the median {facts['contexts'].get('median', 0):,} of each word."
    if "description" in facts:
        yield f"We asked: {markdown_text(facts['description'])}"
    source = f" (source: {markdown_text(facts['study_source'].rstrip('.'))})" if "study_source" in facts else ""
    study = f"The study is '{markdown_text(facts['study'])}'{source}:" if "study" in facts else "The words are"
    connections = ", ".join(
        f"{count:,} {name}" for name, count in table["connection"].value_counts(sort=False).items() if count
    )
    yield (
        f"{study} {counted(table['protected_word'].nunique(), 'protected word')} ({_sizes(table, 'protected')}) and "
        f"{counted(table['attribute_word'].nunique(), 'attribute word')} ({_sizes(table, 'attribute')}), "
        f"{counted(len(table), 'pair')} ({connections})."
    )
    yield from _lost_and_left_out(facts)
    yield from (markdown_text(fact.text) for fact in data_facts(fit))


def _question(fit: "xr.DataTree", table: "pd.DataFrame") -> Iterator[str]:
    """Yield which lists are associated, what the controls are and whose, and what a contrast is."""
    associated = table[table["connection"] == "associated"].groupby("protected_group", sort=False)["attribute_group"]
    if pairs := [
        f"{markdown_text(name_some(lists.unique()))} (for {markdown_text(str(group))})" for group, lists in associated
    ]:
        yield f"The associated lists are {', '.join(pairs)}."
    if lacking := groups_without_contrast(fit):
        named = "; ".join(f"{markdown_text(group)}: {markdown_text(text)}" for group, text in lacking.items())
        fitted = "" if fitted_model(fit).multivariate else ", and the model was fitted without their words"
        yield f"Contrasts leave out groups that lack a side ({named}){fitted}."
    connections = fitted_rows(fit).connections
    sides = [name for name in connections if name != "associated"]
    for control in (name for name in sides if name in _CONTROLS):
        words = set(table.loc[table["connection"] == control, "attribute_word"].str.lower())
        source = f", of {cite('dobrzeniecka2024')}" if words <= set(control_list(control)) else ""
        yield f"{control.capitalize()} words are controls that {_CONTROLS[control]} ({len(words)} words{source})."
    if "different" in sides:
        yield "Different words are those that are associated with another protected group."
    if "associated" in connections and sides:
        others = " or ".join(filter(None, [", ".join(sides[:-1]), sides[-1]]))
        weights = ", with equal weights of the protected groups" if fitted_model(fit).multivariate else ""
        yield (
            f"A contrast is the mean distance to associated words minus that to {others} words{weights}: below 0, "
            "associated words are nearer."
        )


def _lost_and_left_out(facts: dict[str, Any]) -> Iterator[str]:
    if "lost_words" not in facts:
        yield "Whether the embedding lacked words of the study is not recorded."
    elif lost := lost_by_list(facts["lost_words"]):
        lists = [
            f"{len(words):,} of {markdown_text(name)}: {markdown_text(name_some(words, _MOST_WORDS))}"
            for name, words in lost.items()
        ]
        yield (
            f"The embedding lacked {counted(sum(map(len, lost.values())), 'word')}, which were left out "
            f"({'; '.join(lists)})."
        )
    else:
        yield "No word was lost."
    if means := facts.get("embedding", {}).get("means_of_words"):
        yield f"Entries of several words without a vector have the mean vector of their words: {markdown_text(means)}."
    if left_out := facts.get("left_out_controls"):
        words = markdown_text(name_some(left_out, _MOST_WORDS))
        yield f"Control words that the study itself uses were left out: {words}."
    duplicates = facts.get("duplicates", {})
    if dropped := duplicates.get("dropped", 0):
        yield f"Of repeated rows the first was used, and {counted(dropped, 'was', 'were')} dropped."


def _sizes(table: "pd.DataFrame", side: str) -> str:
    words = table.drop_duplicates([f"{side}_word", f"{side}_group"]).groupby(f"{side}_group", sort=False)
    return ", ".join(f"{markdown_text(str(name))}: {size:,}" for name, size in words.size().items())


def _model(fit: "xr.DataTree") -> Iterator[str]:
    spec = fitted_model(fit)
    description = f" ({spec.description.rstrip('.')})" if spec.description else ""
    yield markdown_sentence(f"We fitted the Bayesian model `{spec.name}`{description}.")
    if spec.source:
        yield markdown_sentence(f"Source: {spec.source.rstrip('.')}.")
    added = added_parameters(fit)
    before = " before the change" if added else ""
    yield f"The priors{before} are {', '.join(f'`{name}` ~ {prior}' for name, prior in spec.priors.items())}."
    if added:
        yield f"The change added {', '.join(f'`{markdown_text(name)}`' for name in added)}."
    if spec.multivariate:
        yield "The means of lists to whole groups have a flat prior."
    if "covariate" in fit["constant_data"].coords:
        names = markdown_text(name_some(fit["constant_data"].coords["covariate"].to_numpy().tolist()))
        yield (
            f"The slopes of distances on covariates of the protected words ({names}) have a flat prior. They are "
            "those of least squares over words; the error of words like these has the variance HC2 with the degrees of "
            f"freedom of {cite('bell2002')}, around leans without the chance variation of attribute words."
        )
    if spec.caution:
        yield markdown_sentence(spec.caution)


def _posterior(fit: "xr.DataTree", hdi_prob: float) -> Iterator[str]:
    sampler, chains, draws, tune, seed = (
        fit_attribute(fit, name) for name in ("sampler", "chains", "draws", "tune", "random_seed")
    )
    stats, drawn = fit["sample_stats"].to_dataset(), f"{chains} chains of {draws:,} draws"
    if independent_draws(fit) is None:
        frame = summary(fit, hdi_prob=hdi_prob)
        gibbs, nuts = (cite(key, inside=True) for key in ("gelfand1990", "hoffman2014"))
        method = f"Gibbs sampling ({gibbs})" if sampler in SAMPLERS else f"the No-U-Turn sampler ({nuts})"
        bulk, tail = (frame[f"ess_{part}"].min() for part in ("bulk", "tail"))
        how, seeded = f"by {method} (sampler `{sampler}`)", f", with the random seed {seed}"
        if sampler == USER:
            how, seeded = f"outside of bayesbias, by {markdown_text(fit_attribute(fit, 'sampled_by'))}", ""
        yield (
            f"We drew from the posterior {how}, {drawn} after {tune:,} tuning steps{seeded}. The largest R-hat is "
            f"{frame['r_hat'].max():.3f}, and the smallest effective sample size is {bulk:,.0f} in the bulk and "
            f"{tail:,.0f} in the tails ({cite('vehtari2021', inside=True)})."
        )
    else:
        method = SAMPLERS[sampler].method if sampler in SAMPLERS else "another method"  # files may have any name
        by = markdown_sentence(f"by {method} (sampler `{sampler}`)")
        yield f"We drew from the posterior {by}, {drawn}, with the random seed {seed}."
        if "pareto_khat" not in stats:
            yield "The draws are independent."
    if "pareto_khat" in stats:
        yield (
            f"They were resampled from weighted points worth {float(stats['importance_ess']):,.0f} independent draws, "
            f"with a Pareto k of {float(stats['pareto_khat']):.2f} ({cite('vehtari2024', inside=True)})."
        )
        if sampler == "conjugate" and float(stats["pareto_khat"]) > KHAT_TO_MOVE:
            yield f"Since weights like these can be off, each point was then moved by {MOVES} Metropolis steps."
    if "diverging" in stats:
        yield f"Divergent transitions: {int(np.asarray(stats['diverging']).sum()):,}."
    problems = fit_attribute(fit, "convergence_problems")
    yield (
        f"**The sampler did not converge:** {markdown_text(' '.join(problems))}"
        if problems
        else "No diagnostic of the sampler showed a problem."
    )
    yield (
        f"Estimates are posterior means with highest posterior density intervals of {percent_text(hdi_prob)}, in units "
        "of cosine distance."
    )


def _software(fit: "xr.DataTree") -> Iterator[str]:
    versions = dict(fit_attribute(fit, "versions"))
    package_version = versions.pop("bayesbias", "")
    others = markdown_text(", ".join(package_citation(name, number) for name, number in versions.items()))
    yield (
        f"We used bayesbias {markdown_text(package_version)} ({reference('bayesbias').authors}), which builds on "
        f"{cite('dobrzeniecka2024')}, with {others}."
    )


def _hashes(fit: "xr.DataTree") -> str:
    """Return the line by which others can check that they have the same data and model."""
    of_embedding = fit_attribute(fit, "table").get("embedding", {}).get("hash")
    hashes = {f"embedding ({OF_WORDS})": of_embedding}
    hashes |= {name: fit_attribute(fit, f"{name}_hash") for name in ("table", "model")}
    return "Hashes: " + ", ".join(f"{name} `{markdown_text(value)}`" for name, value in hashes.items() if value) + "."
