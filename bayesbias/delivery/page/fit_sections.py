"""Sections of the page of a fit on words, robustness and methods."""

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import (
    counted,
    distance_text,
    interval_text,
    p_text,
    p_value_text,
    percent_text,
    shown_name,
    signed_text,
)
from bayesbias.base.results import ResultTable
from bayesbias.base.statements import rows_of
from bayesbias.delivery.page.blocks import (
    Block,
    Bullets,
    Heading,
    Notice,
    Paragraph,
    Section,
    Table,
    Verbatim,
    fact_table,
    figure,
)
from bayesbias.delivery.page.sections import embedded, table_block
from bayesbias.delivery.plots.posterior import figure_of_connections, figure_of_words
from bayesbias.errors import (
    BayesBiasError,
    MeasureError,
    NotEnoughMemoryError,
    QuestionWarning,
    ReportError,
    StudyError,
    collected_warnings,
    name_some,
)
from bayesbias.estimates.intervals import independent_draws, is_settled
from bayesbias.metrics.associations.weat import associations, weat_statistics
from bayesbias.metrics.look_up import four_lists
from bayesbias.metrics.significance import mac_t_tests, p_value, t_tests
from bayesbias.metrics.similarities import Similarities, table_study
from bayesbias.models.fit_files import USER, added_parameters, changed_by_hand, sampler_text
from bayesbias.models.fits import fit_attribute, fitted_table, priors_in_use
from bayesbias.models.spec import ModelSpec, model_equations
from bayesbias.reports.checks.prior_check import check_prior
from bayesbias.reports.fit_report import FitReport
from bayesbias.reports.guidelines import guideline_rows
from bayesbias.reports.measures.false_positive_rates import LEVEL
from bayesbias.reports.methods import methods_and_references, methods_text
from bayesbias.reports.posterior.contrasts import at_level
from bayesbias.reports.posterior.estimate_tables import HEADINGS, difference_table, net_meaning
from bayesbias.reports.posterior.questions import own_questions, planned_contrasts
from bayesbias.reports.posterior.summary import units_text
from bayesbias.reports.robustness.model_comparison import (
    AS_GOOD,
    FEWEST_WORDS,
    MODELS,
    PREFERRED,
    WORSE,
    compare_models,
)
from bayesbias.reports.robustness.random_list_check import RandomListCheck
from bayesbias.reports.robustness.sensitivity import LEAVE_OUT, RefitSettings, sensitivities
from bayesbias.studies.study import study_file_name
from bayesbias.tables.measures import other_measure

if TYPE_CHECKING:
    import pandas as pd


# A figure of more words is too tall to read and to print.
_MOST_WORDS = 150
_MOST_OPEN = 5

_MOMENTS = ("mean", "sd", "hdi_low", "hdi_high")
_DIAGNOSTICS = ("ess_bulk", "r_hat")
_DIFFERENCE = (
    *(*_MOMENTS, "direction", "probability_of_direction", "observed"),
    *("list_nearness", "nearness_low", "nearness_high", "net_mean", "net_low", "net_high", "probability_in_rope"),
)

# Level of a contrast -> its column, and what a row is.
_OF_EACH = {"protected_group": ("protected_group", "group"), "word": ("protected_word", "word")}
# The shares of a thousand samples have an error below 2 %; the function itself takes 4,000.
PRIOR_SAMPLES = 1000
_PREDICTIONS = "Does the model describe the data?"
_SINGLE_NUMBERS = "What single numbers say"
_PRIORS = "What the priors alone predict"
# Enough to rank models and refits; the functions themselves draw more by default.
_COMPARISON_DRAWS = 500
_SENSITIVITY_DRAWS = 500
_COMPARISON = "Which model to trust"
_SENSITIVITY = "What the conclusions are sensitive to"
# What is left out -> a phrase with its name, or with the prior that is tried.
_CASES = {
    "attribute_word": "without '{}'",
    "protected_word": "without '{}'",
    "list": "without the {}",
    "prior": "with the prior {}",
}
_COVARIATES = "Do leans follow the covariates?"
_EMBEDDINGS = "Comparison with other embeddings"
_RANDOM_LISTS = "Is it only frequency? Claims for random words"


def overall_section(page: FitReport) -> Section:
    """Return the section on the mean distances of all protected words and their differences."""
    prob = percent_text(page.hdi_prob)
    frame = page.summary[page.summary["protected_word"] == ""]
    means = frame[frame["parameter"] == "connection_mean"]
    added = frame[frame["parameter"].isin(added_parameters(page.fit))]
    others = frame[(frame["parameter"] != "connection_mean") & ~frame["parameter"].isin(added["parameter"])]
    units = units_text(page.measure, others["parameter"])
    blocks: list[Block] = [
        figure(
            figure_of_connections(page.fit, page.summary),
            f"Posterior means (points) and {prob} intervals (lines) of the mean {page.measure.short} of all protected "
            "words, by connection.",
            f"Points with intervals on an axis of mean {page.measure.name}, one per connection: {_intervals(means)}.",
        ),
        _table(
            means,
            f"Mean {page.measure.in_units} of all protected words, {prob} HPDI",
            ("connection", "pairs", *_MOMENTS, *_DIAGNOSTICS),
        ),
        _differences(page, "overall"),
        *_group_differences(page),
        *_questions(page),
        _table(
            others,
            f"Variation between words, pairs and attribute words, {units}; {prob} HPDI",
            ("parameter", "connection", "effect", "attribute_list", *_MOMENTS, *_DIAGNOSTICS),
            folded=True,
        ),
        *_added(page, added),
    ]
    return Section("overall", "All protected words", blocks, [*page.statements("contrast"), *_open_statements(page)])


def _added(page: FitReport, rows: "pd.DataFrame") -> list[Block]:
    """Return the table of the parameters that the user added to the model, if there are any."""
    if rows.empty:
        return []
    dims = [name for name in map(str, rows) if name in page.fit["posterior"].dims or name == "protected_group"]
    caption = f"Parameters added by hand ({changed_by_hand(page.fit)}); {percent_text(page.hdi_prob)} HPDI"
    return [_table(rows, caption, ("parameter", *dims, *_MOMENTS, *_DIAGNOSTICS))]


def words_section(page: FitReport) -> Section:
    """Return the section on the means of each protected word and their differences."""
    prob = percent_text(page.hdi_prob)
    frame = page.summary[page.summary["parameter"] == "word_mean"]
    word_count = frame["protected_word"].nunique()
    statements = page.statements("words")
    blocks: list[Block] = []
    if word_count > _MOST_WORDS:
        blocks.append(
            Notice(f"A figure of {word_count:,} words would be too tall for a page. Draw it: bb.plots.plot_words(fit).")
        )
    else:
        nearest_text = " ".join(statements) or f"Nearest: {_intervals(frame.nsmallest(3, 'mean'), 'protected_word')}."
        blocks.append(
            figure(
                figure_of_words(page.fit, page.summary),
                f"Posterior means and {prob} intervals of each protected word, by connection; the top panel has those "
                "of all words. A hollow point is a word without any pair of that connection.",
                f"Points with intervals for {counted(word_count, 'protected word')}, at most four connections. "
                f"{nearest_text} The tables below hold the numbers.",
            )
        )
    columns = ("protected_word", "protected_group", "connection", "pairs", *_MOMENTS, *_DIAGNOSTICS)
    blocks += [
        _differences(page, "word"),
        _table(frame, f"Mean {page.measure.in_units} of each protected word, {prob} HPDI", columns, folded=True),
    ]
    return Section("words", "Word by word", blocks, statements)


def _differences(page: FitReport, level: str) -> Table | Notice:
    """Return the contrasts at a level, or a notice that says why there are none."""
    if reason := page.nothing_to_compare:
        return Notice(f"No differences are shown. {reason}")
    frame = at_level(page.contrasts, level)
    if frame.empty:
        return Notice("No differences are shown: no protected group has both sides of one.")
    columns: tuple[str, ...]
    if level == "overall":
        columns, of_what = ("contrast", *_DIFFERENCE, *_DIAGNOSTICS), "of overall means"
    else:
        name, label = _OF_EACH[level]
        columns = (name, "contrast", *_DIFFERENCE, "baseline_pairs", "other_pairs")
        of_what = f"for each protected {label}"
    caption = f"Differences {of_what}, {percent_text(page.hdi_prob)} HPDI; below 0, {page.measure.nearer}"
    shown = {"folded": level != "overall", "legend": net_meaning(page.measure) if level == "protected_group" else ""}
    return table_block(difference_table(page.measure, frame, "", caption, columns, HEADINGS, **shown))


def _group_differences(page: FitReport) -> list[Block]:
    """Return the contrasts of each protected group if there are several, else nothing."""
    if len(page.compared_groups) == 1 or page.nothing_to_compare:
        return []
    folded_statements = () if _open_statements(page) else page.statements("group")
    return [*([Bullets(folded_statements)] if folded_statements else []), _differences(page, "protected_group")]


def _open_statements(page: FitReport) -> tuple[str, ...]:
    """Return the statements on groups if they are few enough to stand open."""
    statements = page.statements("group")
    return tuple(statements) if len(statements) <= _MOST_OPEN else ()


def _questions(page: FitReport) -> list[Block]:
    """Return notices that say why questions of the study have no answer; the others stand first on the page."""
    if not own_questions(fitted_table(page.fit)):
        return []
    with collected_warnings(QuestionWarning) as caught:
        planned_contrasts(page.fit, hdi_prob=page.hdi_prob, rope=page.rope)
    return [Notice(str(warning.message)) for warning in caught]


def _table(frame: "pd.DataFrame", caption: str, columns: tuple[str, ...], *, folded: bool = False) -> Table:
    return table_block(ResultTable(frame, "", caption, columns, folded=folded))


def _intervals(frame: "pd.DataFrame", name: str = "connection") -> str:
    return "; ".join(
        f"{row[name]} {distance_text(row['mean'])} "
        f"({distance_text(row['hdi_low'])} to {distance_text(row['hdi_high'])})"
        for row in frame.to_dict("records")
    )


def sampler_section(page: FitReport) -> Section:
    """Return the section on the convergence of the sampler."""
    problems = fit_attribute(page.fit, "convergence_problems")
    name, draws, chains = (fit_attribute(page.fit, fact) for fact in ("sampler", "draws", "chains"))
    drawn = f"{draws * chains:,} draws ({draws:,} in each of {chains} chains)"
    draw_count = f"The sampler {name} made {drawn}."
    if name == USER:
        draw_count = f"The user sampled {drawn}, by {fit_attribute(page.fit, 'sampled_by')}."
    if (independent := independent_draws(page.fit)) and independent != draws * chains:
        draw_count += (
            f" The weights behind them are worth {independent:,.0f} independent draws, the ESS of all tables; more "
            "draws lower the Monte Carlo errors of intervals (low_se, high_se), not this number."
        )
    if not problems:
        return Section("sampler", "Did the sampler converge?", [], [f"{draw_count} No diagnostic indicates a problem."])
    notice = Notice(f"Do not report these numbers: the sampler did not converge. {draw_count}")
    return Section("sampler", "Did the sampler converge?", [notice, Bullets(tuple(problems))])


def predictions_section(page: FitReport) -> Section:
    """Return the section that compares observed distances with predictions of the fitted model."""
    if isinstance(check := page.check, BayesBiasError):
        return Section("predictions", _PREDICTIONS, [Notice(f"Not computed. {check}")])
    misfits = "misfits, which are listed below" if check.misfits else "no misfit"
    return embedded(check, "predictions", _PREDICTIONS, [f"{check.summary[1].text} The check found {misfits}."])


def priors_section(page: FitReport) -> Section:
    """Return the section on the distances that the priors alone predict."""
    if reason := other_measure(page.facts, "This check") or page.skip_reason(1, "bb.check_prior(table)"):
        return Section("priors", _PRIORS, [Notice(f"Not computed. {reason}")])
    check = check_prior(page.table, page.spec, samples=PRIOR_SAMPLES, random_seed=page.random_seed, progress=False)
    return embedded(check, "priors", _PRIORS)


def comparison_section(page: FitReport) -> Section:
    """Return the section that compares the fitted model with others."""
    name = page.spec.name
    if page.table["attribute_word"].nunique() < FEWEST_WORDS:
        alone = "Not computed. Models are compared by leaving out one attribute word at a time; there is only one."
        return Section("comparison", _COMPARISON, [Notice(alone)])
    models: list[str | ModelSpec] = [
        *([] if page.needs_nuts else [page.spec]),
        *[model for model in MODELS if model != name],
    ]
    # The prediction of each pair and attribute word from each draw costs about 20 fits.
    if reason := page.skip_reason(20 * len(models), "bb.compare_models(table)"):
        return Section("comparison", _COMPARISON, [Notice(f"Not computed. {reason}")])
    try:
        compared = compare_models(
            page.table,
            models,
            hdi_prob=page.hdi_prob,
            draws=_COMPARISON_DRAWS,
            random_seed=page.random_seed,
            progress=False,
        )
    except NotEnoughMemoryError as error:
        return Section("comparison", _COMPARISON, [Notice(f"Not computed. {error}")])
    if not page.nothing_to_compare:
        compared = replace(compared, contrasts=_with_those_of_the_fit(page, compared.contrasts))
    reading = dict(zip(compared.models["model"], compared.models["reading"], strict=True)).get(name)
    headlines = [_headline(name, reading, compared.models), *_headline_of_others(page, compared.contrasts)]
    section = embedded(compared, "comparison", _COMPARISON, headlines)
    if reading in (None, WORSE):
        return replace(section, blocks=[Notice(headlines[0]), *section.blocks])
    return section


def _headline(name: str, reading: str | None, models: pd.DataFrame) -> str:
    """Return how well the fitted model predicts beside others; without a reading, why it was not compared."""
    if reading is None:
        return (
            f"The fitted model, {name}, is sampled by NUTS and not compared here, because leaving out words takes "
            f"minutes. Run bb.compare_models(table, ['{name}', ...])."
        )
    if reading == WORSE:
        return (
            f"The fitted model, {name}, predicts unseen attribute words worse than {models['model'].iloc[0]}: "
            "its intervals may be too narrow or too wide. Fit the better model."
        )
    predictions = {
        PREFERRED: "predicts unseen attribute words best",
        AS_GOOD: "predicts about as well as the best one",
    }
    return f"Of {len(models)} models compared, the fitted one, {name}, {predictions[reading]}."


def _with_those_of_the_fit(page: FitReport, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the contrasts of other models, and of the fit itself in place of its shorter repetition."""
    of_the_fit = at_level(page.contrasts, "overall").assign(model=page.spec.name)
    return pd.concat([of_the_fit, rows[rows["model"] != page.spec.name]]).sort_values("contrast", kind="stable")


def _headline_of_others(page: FitReport, rows: pd.DataFrame) -> list[str]:
    """Return a sentence with the first contrast in the other models, if there is one."""
    if rows.empty:
        return []
    first = rows[(rows["contrast"] == rows["contrast"].iloc[0]) & (rows["model"] != page.spec.name)]
    texts = [
        f"{signed_text(row['mean'])} ({interval_text(row['hdi_low'], row['hdi_high'])}) in {row['model']}"
        for row in rows_of(first)
    ]
    return [f"In other models '{first['contrast'].iloc[0]}' is {' and '.join(texts)}."]


def sensitivity_section(page: FitReport) -> Section:
    """Return the section on fits without each word and list, and with other priors."""
    blocks: list[Block] = []
    deciding: dict[str, list[str]] = {}
    edges: list[str] = []
    refits = 0
    reason = page.nothing_to_compare
    if not reason and page.needs_nuts:
        reason = (
            f"The model {page.spec.name} is sampled by NUTS and would have to be fitted again for each word. Run "
            f"bb.sensitivity(table, '{page.spec.name}'), or report a crossed model."
        )
    reason = reason or page.skip_reason(
        page.table["attribute_word"].nunique() + page.table["protected_word"].nunique(), "bb.sensitivity(table)"
    )
    if reason:
        return Section("sensitivity", _SENSITIVITY, [Notice(f"Not computed. {reason}")])
    settings = RefitSettings(_SENSITIVITY_DRAWS, page.random_seed, page.hdi_prob)
    for changes in sensitivities(page.table, page.spec, LEAVE_OUT, settings, progress=False):
        if changes.stopped:  # an interrupt is meant for the page
            raise KeyboardInterrupt
        blocks += [Heading(changes.contents.title), *embedded(changes, "sensitivity", _SENSITIVITY).blocks]
        refits += changes.refits
        if changes.leave_out == LEAVE_OUT[0]:  # the refit with everything is the same for all
            edges = _edges(page, changes.contrasts)
        for contrast, names in changes.deciding.items():
            deciding.setdefault(contrast, []).extend(map(_CASES[changes.leave_out].format, names))
    tried = f"{refits:,} fits, each without a word, a list or words that count nearly as one, or with another prior"
    headlines = [
        f"'{contrast}' has another answer in {len(names)} of {tried}: {name_some(names, 5)}. All other answers hold."
        for contrast, names in deciding.items()
        if names
    ]
    drawn = f"Refits have {_SENSITIVITY_DRAWS:,} draws a chain, so that their interval with everything can differ from "
    blocks = [*map(Notice, edges), Paragraph(f"{drawn}that of the fit by its Monte Carlo error."), *blocks]
    unchanged = f"No answer, settled or not, changes in any of {tried}."
    return Section("sensitivity", _SENSITIVITY, blocks, [*edges, *(headlines or [unchanged])])


def _edges(page: FitReport, refitted: pd.DataFrame) -> list[str]:
    """Return sentences on intervals so near to 0 that a refit of the same model changes the conclusion."""
    fitted = at_level(page.contrasts, "overall").set_index("contrast")
    edges = []
    for row in rows_of(refitted):
        fitted_row = fitted.loc[row["contrast"]]
        settles = is_settled(fitted_row["hdi_low"], fitted_row["hdi_high"])
        if settles != (row["reading"] != "not settled"):
            edges.append(
                f"The conclusion on '{row['contrast']}' is on the edge: its interval ends so near to 0 that chance "
                f"in the simulation decides it "
                f"({interval_text(fitted_row['hdi_low'], fitted_row['hdi_high'])} in the fit, "
                f"{interval_text(row['hdi_low'], row['hdi_high'])} in a refit with all words). Do not rely on it."
            )
    return edges


def single_numbers_section(page: FitReport) -> Section:
    """Return the section on single-number measures, where they are defined."""
    if reason := other_measure(page.facts, "A single-number measure"):
        return Section("single-numbers", _SINGLE_NUMBERS, [Notice(f"Not computed. {reason}")])
    blocks: list[Block] = [
        Paragraph(
            "Measures from the literature that summarise the same distances in one number. Their p-values ask whether "
            "these particular words differ by more than chance. They treat words or pairs as independent. WEAT and MAC "
            "ignore control words. If control words differ as much, the association is not specific to the lists: the "
            "t-tests compare with them, if the study has any."
        )
    ]
    blocks += [Heading("WEAT"), *_weat(page), Heading("MAC and t-tests"), *_t_tests(page)]
    return Section("single-numbers", _SINGLE_NUMBERS, blocks)


def _weat(page: FitReport) -> Iterator[Block]:
    groups = page.table["protected_group"].nunique()
    if groups != 2:
        yield Paragraph(f"WEAT is not shown: it compares two groups of protected words, and there are {groups}.")
        return
    try:
        lists = four_lists(table_study(page.table))
        similarities = Similarities.of_table(page.table, lists)
        sizes = [weat_statistics(similarities, statistic="mean", ddof=ddof)["effect_size"] for ddof in (1, 0)]
        values = associations(similarities)
        test = p_value(*similarities.by_group(values), random_seed=page.random_seed)
    except (MeasureError, StudyError) as error:
        yield Paragraph(f"WEAT is not shown: {error}")
        return
    first, second, near, far = map(shown_name, (*lists.protected, *lists.attributes))
    how = f"all {test.partitions:,} partitions" if test.exact else f"{test.partitions:,} partitions drawn at random"
    yield fact_table(
        f"WEAT: {first} and {second} against {near} and {far}; p-value from {how}",
        {
            "Effect size, sd with n - 1": signed_text(float(sizes[0])),
            "Effect size, sd with n": signed_text(float(sizes[1])),
            "One-sided p-value": p_value_text(float(test.p_value)),
        },
        header=("Number", "Value"),
    )
    yield table_block(
        ResultTable(
            pd.DataFrame(
                {"protected_word": similarities.words, "protected_group": similarities.groups, "association": values}
            ),
            "",
            f"WEAT association of each word: mean cosine similarity to {near} minus that to {far}",
            differences=True,
            folded=True,
        )
    )
    yield from _beside_the_contrast(page, float(test.p_value))


def _beside_the_contrast(page: FitReport, p: float) -> Iterator[Block]:
    """Yield a paragraph on why WEAT and the contrast disagree, if they do."""
    if page.nothing_to_compare or "different" not in set(page.table["connection"].astype(str)):
        return
    row = rows_of(page.contrasts)[0]
    claimed = is_settled(row["hdi_low"], row["hdi_high"]) and row["direction"] == "nearer"
    if claimed == (p < LEVEL):
        return
    interval = interval_text(row["hdi_low"], row["hdi_high"])
    if p < LEVEL:
        yield Paragraph(
            f"WEAT finds an association ({p_text(p)}) where the contrast does not settle one ({interval}): "
            "its p-value takes these words as given, while the interval also counts which words of both sides were "
            "chosen. Random attribute words show how often this misleads."
        )
    else:
        yield Paragraph(
            f"The contrast settles an association ({interval}) where WEAT does not ({p_text(p)}): "
            "WEAT compares the two groups over few words; the contrast uses all words of the fit and models their "
            "correlation."
        )


def _t_tests(page: FitReport) -> Iterator[Block]:
    test = ("difference", "low", "high", "p_value")
    headings = {"low": "95% confidence interval", "mean": "MAC"}
    try:
        frame = mac_t_tests(page.table)
    except MeasureError as error:
        yield Paragraph(f"MAC is not tested: {error}")
    else:
        caption = "MAC against 1, the distance of unrelated words: t-tests of averages and of single pairs"
        yield table_block(ResultTable(frame, "", caption, ("values", "n", "mean", *test), headings))
    try:
        frame = t_tests(page.table)
    except MeasureError as error:
        yield Paragraph(f"Two groups are not tested against each other: {error}")
        return
    first, second = map(shown_name, page.table["protected_group"].astype(str).unique())
    caption = f"Mean distance of {first} minus that of {second}, by attribute list: Welch's t-tests"
    columns = ("attribute_group", "values", *test)
    yield table_block(ResultTable(frame, "", caption, columns, headings, differences=True, folded=True))


def covariates_section(page: FitReport) -> Section:
    """Return the section on how the leans of words, associated minus different, follow the covariates of the fit."""
    effect = page.slopes
    if effect is None:
        ask = (
            "To ask whether leans follow a number of each word, such as the share of women in an occupation, run "
            "bayesbias covariate TABLE --covariates FILE, or fit with bb.fit(table, covariates=...)."
        )
        return Section("covariates", _COVARIATES, [], [ask])
    if isinstance(effect, ReportError):
        return Section("covariates", _COVARIATES, [], [f"Slopes are not computed. {effect}"])
    contents = effect.contents
    section = embedded(
        effect,
        "covariates",
        _COVARIATES,
        [f"{contents.answer} {contents.estimate}", *(f"Beware: {doubt}" for doubt in contents.doubts)],
    )
    lists = (
        "For the contrast of two attribute lists, use bb.covariate_effect(fit, (first, second)) or bayesbias covariate "
        "TABLE --lists first,second."
    )
    return replace(section, blocks=[*section.blocks, Paragraph(lists)])


def embeddings_section(page: FitReport) -> Section:
    """Return the section on the changes from the fitted embedding to others."""
    changes = page.comparison
    if changes is None:
        return Section("embeddings", _EMBEDDINGS, [])
    headlines = [*map(str, changes.verdicts), *(f"Beware: {doubt}" for doubt in changes.doubts)]
    return embedded(changes, "embeddings", _EMBEDDINGS, headlines)


def random_lists_section(page: FitReport) -> Section:
    """Return the section on how often methods claim an association for random attribute words."""
    claims: RandomListCheck | None = page.claims
    if claims is None:
        study, limit = page.study_of_table, page.facts.get("max_lost", MAX_LOST)
        name = study_file_name(study.name) if study else str(page.facts.get("study", "STUDY"))
        options = f" --max-lost {limit}" if limit != MAX_LOST else ""
        where = f", and {name} has the text of the study below" if study else ""
        ask = (
            "Is it only frequency? To see what random words of about the same frequency show, run bayesbias "
            f"random-lists VECTORS --study {shlex.quote(name)}{options}, where VECTORS is the file of the "
            f"embedding{where}; or give bb.report(fit, claims=bb.check_random_lists(...))."
        )
        return Section("random-lists", _RANDOM_LISTS, [], [ask])
    headlines = [str(claims.summary[1]), *(f"Beware: {statement}" for statement in claims.problems)]
    return embedded(claims, "random-lists", _RANDOM_LISTS, headlines)


def model_section(page: FitReport) -> Section:
    """Return the section on the fitted model."""
    spec = page.spec
    draws, chains = fit_attribute(page.fit, "draws"), fit_attribute(page.fit, "chains")
    headline = (
        f"Model {spec.name}: {spec.description.rstrip('.') or 'without a description'}. {draws * chains:,} draws, "
        f"{sampler_text(page.fit)}."
    )
    priors = {name: str(prior.rounded) for name, prior in priors_in_use(page.fit).items()}
    blocks: list[Block] = [
        *_methods_paragraph(page),
        *([Paragraph("Equations and priors before the change:")] if changed_by_hand(page.fit) else []),
        Verbatim("\n".join(model_equations(spec))),
        fact_table("Priors", priors, header=("Parameter", "Prior")),
        *([Paragraph(f"When to use another model: {spec.avoid}")] if spec.avoid else []),
    ]
    return Section("model", "Model, priors and sampler", blocks, [headline])


def _methods_paragraph(page: FitReport) -> list[Block]:
    """Return the methods paragraph for papers, as text that can be copied, and its reporting guidelines as tables."""
    prose, cited, items = methods_and_references(page.fit, hdi_prob=page.hdi_prob, rope=page.rope, check=page.check)
    header, texts = ("Item", "Asks for", "Answer"), (True, True, True)
    return [
        Paragraph("For a paper (bb.methods, Markdown):"),
        Verbatim(methods_text(prose, cited)),
        *(Table(title, header, tuple(rows), texts, folded=True) for title, rows in guideline_rows(items)),
    ]
