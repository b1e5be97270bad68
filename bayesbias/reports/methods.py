"""The methods section of a paper, written from a fit."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_type
from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted, digits_text, interval_text, percent_text, quoted_name, share_text
from bayesbias.base.statements import markdown_sentence, markdown_text
from bayesbias.embeddings.embedding import OF_WORDS
from bayesbias.errors import BayesBiasError, ReportError, name_some
from bayesbias.estimates.intervals import independent_draws
from bayesbias.models.covariates import NO_NUMBER
from bayesbias.models.fit_files import USER, added_parameters
from bayesbias.models.fits import (
    fit_attribute,
    fitted_model,
    fitted_rows,
    fitted_table,
    groups_without_contrast,
    hdi_prob_of,
    measure_of_fit,
    priors_in_use,
    rope_of,
)
from bayesbias.models.multivariate.posterior_draws import KHAT_TO_MOVE, MOVES
from bayesbias.models.numerics.proposals import KHAT_MAX
from bayesbias.models.samplers.registry import SAMPLERS
from bayesbias.models.spec import MEANINGS
from bayesbias.reports.checks.posterior_check import (
    PosteriorCheck,
    check_or_reason,
    influential_pairs_text,
    judged_statistics,
    statistic_name,
    undecided_text,
)
from bayesbias.reports.covariates.effect_statements import methods_sentence
from bayesbias.reports.covariates.slopes import lean_sides
from bayesbias.reports.guidelines import ReportingItem, guideline_tables, reporting_items
from bayesbias.reports.posterior.contrasts import has_list_nearness
from bayesbias.reports.posterior.doubts import data_facts
from bayesbias.reports.posterior.effective_words import is_question_list, list_records
from bayesbias.reports.posterior.factor_effects import factor_design
from bayesbias.reports.posterior.factor_statements import factors_sentence
from bayesbias.reports.posterior.questions import has_factors, own_questions
from bayesbias.reports.posterior.references import Bibliography, reference
from bayesbias.reports.posterior.summary import summary
from bayesbias.studies.study import control_list, list_studies
from bayesbias.tables.measures import COSINE_DISTANCE, SURPRISAL, measure_of
from bayesbias.tables.schema import associated_lists, associations_text, lost_by_list

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_MOST_WORDS = 12
_MOST_OWN_WORDS = 120  # of lists that a paper prints in its text
# Column of a measure -> what was measured.
_MEASURED = {
    COSINE_DISTANCE.column: "cosine distances (1 minus cosine similarity)",
    SURPRISAL.column: "surprisals (minus the natural logarithm of the probability of an attribute word, in nats)",
}
_NUTS = ("the No-U-Turn sampler", "hoffman2014")
_CONTROLS = {
    "human": "are about people, but about no protected group",
    "neutral": "stand for words in general",
}


def methods(
    fit: "xr.DataTree",
    *,
    hdi_prob: float | None = None,
    rope: float | tuple[float, float] | None = None,
    check: PosteriorCheck | None = None,
) -> str:
    r"""Return the methods section of a paper for a fit, in Markdown.

    Parameters
    ----------
    fit
        Fit returned by `fit`.
    hdi_prob
        Probability inside the intervals that the paper reports. None: that of the fit.
    rope
        Region of practical equivalence that the paper uses, as for `contrasts`.
    check
        Result of `check_posterior` for the fit. None: it is made with the seed of the fit, which takes seconds.

    Returns
    -------
    str
        Six paragraphs: data (embedding, lists with their sizes, lost words), what is asked and compared, what the
        estimates are about (scope, dependent words), model with its priors and its predictive check, posterior
        (sampler, draws, seed, diagnostics, intervals), and software; then the hashes of embedding, table and model, and
        a BibTeX entry of each work that the text cites, except those that only a study or model of your own names; at
        the end two tables, which answer the Bayesian analysis reporting guidelines of Kruschke (2021) and the items on
        data and results of the Responsible NLP checklist. What only the author can say begins with ``Author:``. All
        numbers come from the fit and the check.

    Raises
    ------
    FitError, ArgumentError
        If `fit` is not a fit, or another argument is not usable.

    Examples
    --------
    >>> data, question, scope, model, posterior, software, hashes, bibtex, *tables = bb.methods(fit).split("\n\n")
    >>> print(data.partition(",")[0])
    We measured cosine distances (1 minus cosine similarity) in the embedding Google News word2vec
    >>> "`sigma` ~ Exponential(rate=2)" in model, "We took 6,000 draws from the posterior" in posterior
    (True, True)
    >>> bibtex.splitlines()[1]
    '@software{bayesbias,'
    >>> tables[0], tables[1].splitlines()[4]
    ('**Bayesian analysis reporting guidelines (Kruschke 2021)**', '| 1.A | Data variables | Predicted: cosine ...')
    """
    if check is not None:
        check_type("check", check, PosteriorCheck, "what bb.check_posterior returned")
    return methods_text(*methods_and_references(fit, hdi_prob=hdi_prob, rope=rope, check=check))


def methods_text(prose: str, cited: Bibliography, items: Sequence[ReportingItem] = ()) -> str:
    """Return the methods section with its BibTeX entries and its tables of reporting guidelines, in Markdown."""
    return "\n\n".join(filter(None, (prose, f"```bibtex\n{cited.bibtex}\n```", guideline_tables(items))))


def methods_and_references(
    fit: "xr.DataTree",
    *,
    hdi_prob: float | None = None,
    rope: float | tuple[float, float] | None = None,
    check: PosteriorCheck | BayesBiasError | None = None,
) -> tuple[str, Bibliography, tuple[ReportingItem, ...]]:
    """Return the methods section in Markdown with the line of hashes, the works it cites, and reporting guidelines.

    `check` is as for `methods`, or the reason why there is none.
    """
    prob, region, cited = hdi_prob_of(fit, hdi_prob), rope_of(fit, rope), Bibliography()
    table = fitted_table(fit)
    if check is None:
        check = check_or_reason(fit, fit_attribute(fit, "random_seed"))
    parts = (
        _data(fit, table, cited),
        _question(fit, table, cited),
        _scope(fit, cited),
        (*_model(fit, cited), *_predictions(check)),
        _posterior(fit, cited, prob, region),
        _software(fit, cited),
    )
    prose = [" ".join(part) for part in parts]
    cited.cite("kruschke2021")
    items = reporting_items(fit, hdi_prob=prob, rope=region, check=check)
    return "\n\n".join([*prose, _hashes(fit)]), cited, items


def _data(fit: "xr.DataTree", table: "pd.DataFrame", cited: Bibliography) -> Iterator[str]:
    facts, measure = fit_attribute(fit, "table"), measure_of_fit(fit)
    embedding = facts.get("embedding", {})
    what = "We simulated" if facts.get("simulated") else "We measured"
    if "name" in embedding:
        source = f"in the {measure.source} {markdown_text(embedding['name'])}"
    else:
        source = f"of the table {markdown_text(facts.get('source', 'without a name'))}"
    yield f"{what} {markdown_text(_MEASURED.get(measure.column, measure.of_means))} {source}."
    yield from bundled_origin(str(embedding.get("name")))
    if case := embedding.get("case"):
        forms = markdown_text(name_some(case.split(",")))
        yield (
            "Words were looked up as the lists spell them."
            if case == "exact"
            else f"Of each word, the first of these spellings that the embedding has was used: {forms}."
        )
    if "steps" in embedding:
        yield f"Preparation of the vectors: {markdown_text(embedding['steps'])}."
    if measure.column == SURPRISAL.column:
        templates = facts.get("templates", [])
        yield markdown_text(
            f"Surprisals are means over {counted(len(templates), 'template')}: "
            f"{name_some([f'"{template}"' for template in templates], _MOST_WORDS)}."
        )
        if subjects := facts.get("baseline"):
            yield markdown_text(f"The surprisal beside {name_some(subjects)} was subtracted.")
    elif "contexts" in facts:
        what = "sentences, the same for all words" if facts["contexts"].get("same_for_all") else "contexts"
        yield f"Vectors are means over {what}, in the median {facts['contexts'].get('median', 0):,} of each word."
        if facts["contexts"].get("corrected"):
            yield "Cosines are corrected for this number: inner products and lengths are over different sentences only."
    source = f" (source: {markdown_text(cited.source(facts['study_source']))})" if "study_source" in facts else ""
    study = "We used our own word lists:" if "study" in facts else "We used"
    is_own = not source and facts.get("study") not in list_studies()
    if not is_own:
        study = f"The word lists are those of the study {_name(facts.get('study', ''))}{source}:"
    connections = ", ".join(
        f"{count:,} {name}" for name, count in table["connection"].value_counts(sort=False).items() if count
    )
    yield (
        f"{study} {counted(table['protected_word'].nunique(), 'protected word')} ({_sizes(table, 'protected')}) and "
        f"{counted(table['attribute_word'].nunique(), 'attribute word')} ({_sizes(table, 'attribute')}). They make "
        f"{counted(len(table), 'pair')} ({connections})."
    )
    if is_own:
        yield from _own_lists(table)
    yield from _lost_and_left_out(facts)
    for fact in data_facts(fit):
        if fact.kind == "many lost words":
            lists = name_some(list(map(_name, fact.numbers["lists"])))
            shortfall = "so those that are left may cover the topic incompletely"
            yield f"More than {MAX_LOST:.0%} of the words of {lists} were lost, {shortfall}."
        else:
            yield markdown_text(fact.text)


def _own_lists(table: "pd.DataFrame") -> Iterator[str]:
    """Yield the words of lists that no bundled study has, if they are few enough to read."""
    lists: dict[str, list[str]] = {}
    for side in ("protected", "attribute"):
        pairs = table.loc[:, [f"{side}_group", f"{side}_word"]].astype(str).drop_duplicates()
        for name, words in pairs.groupby(f"{side}_group", sort=False)[f"{side}_word"]:
            if side == "protected" or name not in _CONTROLS:
                lists[f"{_name(name)}"] = [markdown_text(word) for word in words]
    if sum(map(len, lists.values())) <= _MOST_OWN_WORDS:
        yield f"The words are {'; '.join(f'{name}: {", ".join(words)}' for name, words in lists.items())}."


def bundled_origin(name: str) -> Iterator[str]:
    """Yield dimensions, training, text and source of bundled vectors, by the name that a table stores."""
    vectors = read_toml(bundled("data", "vectors", "origin.toml"), ReportError)["vectors"]
    for origin in (entry for entry in vectors if name in entry["names"]):
        yield markdown_text(
            f"These vectors have {origin['dimensions']} dimensions and were trained {origin['training']} on "
            f"{origin['text']} (source: {origin['source']})."
        )


def _question(fit: "xr.DataTree", table: "pd.DataFrame", cited: Bibliography) -> Iterator[str]:
    """Yield what is asked, which lists are associated, what the controls are and whose, and what a contrast is."""
    facts = fit_attribute(fit, "table")
    if "description" in facts:
        yield f"We asked: {markdown_text(facts['description'])}"
    if (paired := associated_lists(table)) and table["protected_group"].nunique() == 1:  # the side is but a sign
        (names,) = paired.values()
        yield f"Associated words are those of {name_some([_name(name) for name in names], 4)}."
    elif paired:
        yield f"The hypothesis associates {markdown_text(associations_text(paired, ', and '))}."
    for name, sides in own_questions(table).items():
        short = measure_of_fit(fit).short
        texts = [
            f"the mean distance of {_name(group)} to {_name(words)}"
            if short == COSINE_DISTANCE.short
            else f"the mean {short} of {_name(words)} with {_name(group)}"
            for group, words in sides
        ]
        halves = [" minus ".join(texts[start : start + 2]) for start in range(0, len(texts), 2)]
        difference = halves[0] if len(halves) == 1 else f"({halves[0]}) minus ({halves[1]})"
        yield f"We also asked about {_name(name)}: {difference}."
    if has_factors(fit) and "list_mean" in fit["posterior"]:
        yield markdown_text(factors_sentence(factor_design(fit), measure_of_fit(fit)))
    if lacking := groups_without_contrast(fit):
        named = "; ".join(f"{_name(group)}: {markdown_text(text)}" for group, text in lacking.items())
        fitted = "" if fitted_model(fit).multivariate else ", and the model was fitted without their words"
        yield f"Contrasts leave out groups that lack a side ({named}){fitted}."
    rows, measure = fitted_rows(fit), measure_of_fit(fit)
    others = [name for name in rows.connections if name != "associated"]
    if "different" in others:
        groups = table["protected_group"].unique()
        lists = table.loc[table["connection"] == "different", "attribute_group"].unique()
        other = "are associated with another protected group"
        if len(groups) == 1:
            other = f"the hypothesis does not associate with {_name(groups[0])} ({name_some(map(_name, lists))})"
        yield f"Different words are those that {other}."
    for control in (name for name in others if name in _CONTROLS):
        words = set(table.loc[table["connection"] == control, "attribute_word"].str.lower())
        bundled = words <= set(control_list(control))
        source = f", from the lists of {cited.cite('dobrzeniecka2024')}" if bundled else " of the study itself"
        yield f"{control.capitalize()} words are controls that {_CONTROLS[control]} ({len(words)} words{source})."
    if "associated" in rows.connections and others:
        named = " or ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
        weights = ", with equal weights of the protected groups" if fitted_model(fit).multivariate else ""
        link = measure.preposition
        yield (
            f"A contrast is the mean {measure.short} {link} associated words minus that {link} {named} words{weights}: "
            f"below 0, associated words are {measure.nearer}."
        )
    if has_list_nearness(fit, rows):
        yield (
            f"Some attribute lists can be {measure.nearer} {measure.to} all groups than others. The net "
            "contrast of a group or word leaves out what all groups share: it is the contrast minus that of the same "
            "lists averaged over the groups."
        )


def _scope(fit: "xr.DataTree", cited: Bibliography) -> Iterator[str]:
    """Yield what the estimates are about, and what words that depend on each other count for."""
    rows, multivariate = fitted_rows(fit), fitted_model(fit).multivariate
    if "associated" in rows.connections:
        yield (
            "Contrasts over all protected words are about words like these, of which ours are taken as a sample; "
            "contrasts of single groups and words are about exactly these protected words. All are about attribute "
            f"words like ours, in {measure_of_fit(fit).made_by} alone."
        )
    records = [record for record in list_records(rows, fit_attribute(fit, "table")) if is_question_list(record)]
    measured = records[0]["measured"]
    if not multivariate or measured == "unknown":
        yield "Each word counts in full, so intervals are too narrow where the words of a list resemble each other."
        return
    basis = (
        f"the {rows.measure.numbers}, which show about half of it"
        if measured == "distances"
        else f"the vectors of the words, compared with {measured}"
    )
    worths = [f"{_name(row['list'])} {row['effective_words']:.1f} of {row['words']}" for row in records]
    yield (
        "Words that resemble each other are not separate evidence. Each list therefore counts as its effective number "
        f"of words, which is the number of words divided by a design effect ({cited.cite('kish1965', inside=True)}) "
        f"that was estimated from {basis}: {', '.join(worths)}."
    )
    if topics := [_name(record["list"]) for record in records if record["topic"]]:
        yield (
            f"Within {'the list' if len(topics) == 1 else 'each of the lists'} {name_some(topics)}, words resemble "
            "each other more than within 99% of random lists, so results hold only for words of the same topic."
        )


def _lost_and_left_out(facts: dict[str, Any]) -> Iterator[str]:
    source = measure_of(facts).source
    if "lost_words" not in facts:
        yield f"Whether the {source} lacked words of the study is not recorded."
    lost = facts.get("lost_words", [])
    unrated = [entry for entry in lost if entry["reason"] == NO_NUMBER]
    lacking = [entry for entry in lost if entry["reason"] != NO_NUMBER]
    if "lost_words" in facts and not lacking:
        yield f"The {source} has all words of the lists."
    for entries, before in ((lacking, f"The {source} lacked"), (unrated, "The covariates had no number for")):
        if entries:
            lists = [
                f"{len(words):,} of {_name(name)}: {markdown_text(name_some(words, _MOST_WORDS))}"
                for name, words in lost_by_list(entries).items()
            ]
            was = "was" if len(entries) == 1 else "were"
            yield f"{before} {counted(len(entries), 'word')}, which {was} left out ({'; '.join(lists)})."
    if means := facts.get("embedding", {}).get("means_of_words"):
        yield f"Entries of several words without a vector have the mean vector of their words: {markdown_text(means)}."
    if left_out := facts.get("left_out_controls"):
        words = markdown_text(name_some(left_out, _MOST_WORDS))
        yield f"Control words that the study itself uses were left out: {words}."
    duplicates = facts.get("duplicates", {})
    if dropped := duplicates.get("dropped", 0):
        yield f"Of repeated rows the first was used, and {counted(dropped, 'was', 'were')} dropped."


def _name(name: object) -> str:
    return markdown_text(quoted_name(str(name)))


def _sizes(table: "pd.DataFrame", side: str) -> str:
    words = table.drop_duplicates([f"{side}_word", f"{side}_group"]).groupby(f"{side}_group", sort=False)
    return ", ".join(f"{_name(name)}: {size:,}" for name, size in words.size().items())


def _model(fit: "xr.DataTree", cited: Bibliography) -> Iterator[str]:
    spec = fitted_model(fit)
    yield f"We fitted a Bayesian model ({markdown_text(spec.name)})."
    if spec.description:
        yield markdown_sentence(f"{spec.description.rstrip('.')}.")
    if (measure := measure_of_fit(fit)).column != COSINE_DISTANCE.column:
        yield f"Its distances are {markdown_text(measure.of_means)} here, and its priors follow their unit."
    if spec.source and (source := cited.source(spec.source)) != "bayesbias":
        yield markdown_sentence(f"Its source is {source}.")
    added = added_parameters(fit)
    before = " before the change" if added else ""
    priors = [f"`{name}` ~ {prior.rounded} ({MEANINGS[name]})" for name, prior in priors_in_use(fit).items()]
    yield f"The priors{before} are {'; '.join(priors)}."
    if added:
        yield f"The change added {markdown_text(', '.join(added))}."
    if spec.multivariate:
        yield (
            "The means of lists to whole groups have a flat prior. The standard deviations `effect_sd` of a group are "
            "multiplied by exp(t z), with z ~ Normal(0, 1) for each group and effect, and t ~ HalfNormal(0.5)."
        )
    if "covariate" in fit["constant_data"].coords:
        names = fit["constant_data"].coords["covariate"].to_numpy().tolist()
        yield "Distances to single words are regressed on the covariates too."
        percent = fitted_rows(fit).percent_covariates
        yield markdown_sentence(methods_sentence(names, lean_sides(fit), measure, percent, cited.cite("bell2002")))
    if spec.caution:
        yield markdown_sentence(spec.caution)


def _predictions(check: PosteriorCheck | BayesBiasError) -> Iterator[str]:
    """Yield what a posterior predictive check found, or why there is none."""
    if isinstance(check, BayesBiasError):
        yield "We made no posterior predictive check."
        return
    judged = judged_statistics(check.statistics)
    failed = [row for one in check.problems if one.kind == "statistics" for row in one.numbers["statistics"]]
    yield (
        f"A posterior predictive check compared {counted(len(judged), 'statistic')} of the {check.measure.numbers} "
        f"with those of {check.replicates:,} tables that the model replicated."
    )
    if failed:
        named = "; ".join(
            f"{statistic_name(row)}: {digits_text(row['observed'])}, replicated "
            f"{digits_text(row['low'])} to {digits_text(row['high'])}"
            for row in failed
        )
        chance = next(problem for problem in check.problems if problem.kind == "chance").numbers["probability"]
        yield markdown_text(
            f"The model failed to replicate {len(failed)} of them ({named} in 89% of the tables). Even if it were "
            f"right, chance would flag at least one in {share_text(chance)} of such checks.{undecided_text(judged)}"
        )
    else:
        yield markdown_text(f"The model replicated all of these statistics.{undecided_text(judged)}")
    for problem in check.problems:
        if problem.kind == "coverage":
            yield markdown_text(f"{problem.text[0].upper()}{problem.text[1:]}")
        if problem.kind == "influential pairs":
            yield influential_pairs_text(problem.numbers)


def _posterior(
    fit: "xr.DataTree", cited: Bibliography, hdi_prob: float, region: tuple[float, float] | None
) -> Iterator[str]:
    sampler, chains, draws, tune, seed = (
        fit_attribute(fit, name) for name in ("sampler", "chains", "draws", "tune", "random_seed")
    )
    stats = fit["sample_stats"].to_dataset()
    if independent_draws(fit) is None:
        frame = summary(fit, hdi_prob=hdi_prob)
        bulk, tail = (frame[f"ess_{part}"].min() for part in ("bulk", "tail"))
        if sampler == USER:
            how, seeded = f"outside of bayesbias, by {markdown_text(fit_attribute(fit, 'sampled_by'))}", ""
        else:
            name, key = ("Gibbs sampling", "gelfand1990") if sampler in SAMPLERS else _NUTS
            how = f"by {name} ({cited.cite(key, inside=True)}; sampler `{sampler}`)"
            seeded = f", with the random seed {seed}"
        yield (
            f"We drew from the posterior {how}, {chains} chains of {draws:,} draws after {tune:,} tuning "
            f"steps{seeded}. The largest R-hat is "
            f"{frame['r_hat'].max():.3f}, and the smallest effective sample size is {bulk:,.0f} in the bulk and "
            f"{tail:,.0f} in the tails ({cited.cite('vehtari2021', inside=True)})."
        )
    else:
        method = SAMPLERS[sampler].method if sampler in SAMPLERS else "another method"  # files may have any name
        by = markdown_sentence(f"by {method} (sampler `{sampler}`)")
        yield f"We took {chains * draws:,} draws from the posterior {by}, with the random seed {seed}."
        if "pareto_khat" not in stats:
            yield "The draws are independent."
    if "pareto_khat" in stats:
        yield (
            "The hyperparameters were resampled by importance weights (effective sample size "
            f"{float(stats['importance_ess']):,.0f}). Given the hyperparameters, all means were drawn exactly. The "
            "Monte Carlo errors of the ends of intervals were estimated from batches of the draws. The Pareto k of the "
            f"weights is {float(stats['pareto_khat']):.2f}, where values below {KHAT_MAX:g} are reliable "
            f"({cited.cite('vehtari2024', inside=True)})."
        )
        if sampler == "conjugate" and float(stats["pareto_khat"]) > KHAT_TO_MOVE:
            yield f"Since such weights can be inexact, {MOVES} Metropolis steps then moved each point."
    if "diverging" in stats:
        yield f"Divergent transitions: {int(np.asarray(stats['diverging']).sum()):,}."
    problems = fit_attribute(fit, "convergence_problems")
    yield (
        f"**The sampler did not converge:** {markdown_text(' '.join(problems))}"
        if problems
        else "No diagnostic of the sampler showed a problem."
    )
    yield (
        f"Estimates are posterior means with highest posterior density intervals of {percent_text(hdi_prob)}, "
        f"{measure_of_fit(fit).in_unit}. A contrast is settled if its interval excludes 0 by more than three "
        "Monte Carlo errors of its ends."
    )
    if region is not None:
        yield (
            f"Differences from {interval_text(*region)} count as too small to matter (region of practical equivalence)."
        )


def _software(fit: "xr.DataTree", cited: Bibliography) -> Iterator[str]:
    versions = dict(fit_attribute(fit, "versions"))
    package_version = versions.pop("bayesbias", "")
    others = markdown_text(", ".join(cited.package(name, number) for name, number in versions.items()))
    yield (
        f"We used {cited.package('bayesbias', markdown_text(package_version))} ({reference('bayesbias').authors}), "
        f"which builds on {cited.cite('dobrzeniecka2024')}, with {others}."
    )


def _hashes(fit: "xr.DataTree") -> str:
    """Return the line by which others can check that they have the same data and model."""
    of_embedding = fit_attribute(fit, "table").get("embedding", {}).get("hash")
    hashes = {f"embedding ({OF_WORDS})": of_embedding}
    hashes |= {name: fit_attribute(fit, f"{name}_hash") for name in ("table", "model")}
    return "Hashes: " + ", ".join(f"{name} `{markdown_text(value)}`" for name, value in hashes.items() if value) + "."
