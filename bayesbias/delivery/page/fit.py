"""The folded parts of the page of a fit: checks, and methods and tables."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import pandas as pd

from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted, distance_text, interval_text, percent_text, shown_name
from bayesbias.base.progress import with_progress
from bayesbias.base.results import ResultTable
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
from bayesbias.delivery.page.fit_sections import (
    comparison_section,
    covariates_section,
    embeddings_section,
    model_section,
    overall_section,
    predictions_section,
    priors_section,
    random_lists_section,
    sampler_section,
    sensitivity_section,
    single_numbers_section,
    words_section,
)
from bayesbias.delivery.page.sections import table_block
from bayesbias.delivery.plots.posterior import plot_distances
from bayesbias.embeddings.embedding import OF_WORDS
from bayesbias.errors import ReportError, name_some
from bayesbias.models.fit_files import USER, changed_by_hand, sampler_text
from bayesbias.models.fits import fit_attribute, fitted_model, fitted_rows
from bayesbias.models.spec import model_code
from bayesbias.reports.fit_report import BASELINE, FitReport
from bayesbias.reports.measures.mac_shares import mac_shares
from bayesbias.reports.posterior.effective_words import list_records
from bayesbias.reports.posterior.questions import attribute_phrases
from bayesbias.reports.posterior.references import reference
from bayesbias.studies.study import list_studies, load_study, study_file_name, study_text
from bayesbias.tables.measures import COSINE_DISTANCE, SURPRISAL
from bayesbias.tables.schema import lost_words

if TYPE_CHECKING:
    import xarray as xr

_CONTROLS = ("human", "neutral")
# Column of a measure -> what its numbers mean.
_MEANINGS = {
    COSINE_DISTANCE.column: "Nearness is the cosine distance of two word vectors: 0 for the same direction, 1 for "
    "unrelated, 2 for opposite.",
    SURPRISAL.column: "The surprisal of a word is minus the natural logarithm of its probability: a word with a "
    "surprisal that is lower by 0.69 nats is twice as likely.",
}


def conclusions_section(page: FitReport) -> Section:
    """Return the section with the conclusions and their limits."""
    title = "What can and cannot be concluded"
    if reason := page.nothing_to_compare:
        return Section("conclusions", title, [Notice(f"No conclusion about associations can be drawn. {reason}")])
    conclusions = page.conclusions
    blocks: list[Block] = [
        Paragraph(conclusions.verdict.text),
        Heading("What the posterior shows"),
        Bullets(tuple(statement.text for statement in conclusions.shown)),
        Heading("What it does not show"),
        Bullets(tuple(statement.text for statement in conclusions.limits)),
    ]
    return Section("conclusions", title, blocks)


def reproduction_section(page: FitReport) -> Section:
    """Return the section with settings, priors, versions, hashes and code."""
    fit = page.fit
    facts, model = page.facts, fit_attribute(fit, "model")
    embedding = facts.get("embedding", {})
    settings = {
        "Study": str(facts.get("study", "not named")),
        "Embedding": page.embedding,
        f"Embedding hash, {OF_WORDS}": str(embedding.get("hash", "not known")),
        "Case rule": str(embedding.get("case", "not known")),
        "Table hash": str(fit_attribute(fit, "table_hash")),
        "Model": f"{model['name']} (hash {fit_attribute(fit, 'model_hash')})",
        **{f"Prior of {name}": prior for name, prior in model["priors"].items()},
        **{f"Switch {name}": value for name, value in model["switches"].items()},
        "Sampler": sampler_text(fit),
        "Draws": f"{fit_attribute(fit, 'draws'):,} in each of {fit_attribute(fit, 'chains')} chains",
        "Seed of this page": str(page.random_seed),
        "Interval": f"{percent_text(page.hdi_prob)} HPDI",
        "Region of practical equivalence": "none given" if page.rope is None else interval_text(*page.rope),
    }
    versions = {**fit_attribute(fit, "versions"), "bayesbias (this page)": version("bayesbias")}
    study = page.study_of_table
    words: list[Block] = []
    if study:
        words = [Heading(f"The study, for a file {study_file_name(study.name)}"), Verbatim(study_text(study))]
    blocks: list[Block] = [
        fact_table("Settings", settings, header=("Setting", "Value"), folded=True),
        fact_table(
            "Versions of packages, when the model was fitted", versions, header=("Package", "Version"), folded=True
        ),
        *words,
        *_code_to_keep(fit),
        Heading("In Python"),
        Verbatim(_code(page, study_file_name(study.name) if study else page.facts.get("study"))),
    ]
    return Section("reproduce", "How to repeat it", blocks)


def _code_to_keep(fit: "xr.DataTree") -> Iterator[Block]:
    """Yield what is known of a model that no code of this page repeats: one that the user sampled or changed."""
    if fit_attribute(fit, "sampler") != USER:
        return
    change = changed_by_hand(fit)
    model = f"the model {shown_name(fitted_model(fit).name)}{f', whose change is: {change}' if change else ''}"
    yield Notice(
        f"The draws were sampled outside of bayesbias ({fit_attribute(fit, 'sampled_by')}), from {model}. A fit stores "
        "draws and the change in words, but not the code of a model. Keep the code that built and sampled it with this "
        "page; bb.as_fit makes the fit from its draws."
    )


def _code(page: FitReport, study: str | None) -> str:
    """Return Python code that repeats the page; names are quoted as JSON, which is valid Python."""
    fit, facts = page.fit, page.facts
    lines = ["import bayesbias as bb", ""]
    if {"study", "embedding"} <= set(facts) and page.measure in (COSINE_DISTANCE, SURPRISAL):
        case = facts["embedding"].get("case", "exact")
        policy = facts.get("duplicates", {}).get("policy", "drop")
        options = f", duplicates={json.dumps(policy)}" if policy != "drop" else ""
        options += f", max_lost={facts['max_lost']}" if facts.get("max_lost", MAX_LOST) != MAX_LOST else ""
        edited = "  # its rows were edited afterwards" if facts.get("edited") else ""
        if page.measure == COSINE_DISTANCE:
            made = [
                f'embedding = bb.load_embedding("PATH", words=study.words, case={json.dumps(case)})',
                f"table = bb.distance_table(embedding, study{options}){edited}",
            ]
        else:
            templates = json.dumps(facts.get("templates", []))
            options += ", controls=True" if page.table["connection"].isin(["human", "neutral"]).any() else ""
            made = [f'table = bb.surprisal_table("PATH", study, {templates}{options}){edited}']
        lines += [
            f"study = bb.load_study({json.dumps(study)})",
            *made,
        ]
    else:
        lines.append(f"table = bb.read_table({json.dumps(facts.get('source', 'PATH'))})")
    covariates = ", covariates=COVARIATES" if "covariate_value" in fit["constant_data"] else ""
    arguments = ", ".join(f"{name}={fit_attribute(fit, name)}" for name in ("draws", "tune", "chains"))
    compared = ""
    if page.comparison is not None:
        first, *others = page.comparison.conditions
        lines += [
            f"other_{place} = bb.read_table({json.dumps('PATH of the table ' + name)})"
            for place, name in enumerate(others, 1)
        ]
        tables = ", ".join(f"{json.dumps(name)}: other_{place}" for place, name in enumerate(others, 1))
        settings = ", ".join(
            f"{name}={page.comparison.facts[name]}" for name in ("hdi_prob", "rope", "draws", "random_seed")
        )
        lines.append(f"comparison = bb.compare_embeddings({{{json.dumps(first)}: table, {tables}}}, {settings})")
        compared = "comparison=comparison, "
    fitted = (
        'fit = bb.read_fit("PATH")  # sampled outside of bayesbias: see above'
        if fit_attribute(fit, "sampler") == USER
        else f"fit = bb.fit(table, {model_code(page.spec)}, sampler={json.dumps(fit_attribute(fit, 'sampler'))}, "
        f"{arguments}, random_seed={fit_attribute(fit, 'random_seed')}{covariates})"
    )
    lines += [
        fitted,
        f"report = bb.report(fit, {compared}hdi_prob={page.hdi_prob}, rope={page.rope}, "
        f"random_seed={page.random_seed})",
        'bb.write(report, "report.html")',
    ]
    return "\n".join(lines)


def citation_section(page: FitReport) -> Section:
    """Return the section on the citation of the software and of the model's source."""
    entries = [reference(key).entry for key in ("bayesbias", "dobrzeniecka2024")]
    blocks: list[Block] = [
        Paragraph("Cite the package, and the paper that it builds on; bayesbias methods FIT has further entries."),
        Verbatim("\n".join(entries)),
    ]
    if page.spec.source:
        blocks.append(Paragraph(f"Source of the model {page.spec.name}: {page.spec.source}."))
    return Section("cite", "How to cite", blocks)


def question_section(page: FitReport) -> Section:
    """Return the section on the question: word lists, and which lists are associated with which groups."""
    table, records = page.table, list_records(fitted_rows(page.fit), page.facts)
    protected = _words_by(table, "protected_group", "protected_word")
    attributes = _words_by(table, "attribute_group", "attribute_word")
    associated = table[table["connection"] == BASELINE].groupby("protected_group")["attribute_group"].unique()
    protected["own_lists"] = [name_some(associated.get(name, ["none"])) for name in protected["list"]]
    control = attributes["list"].isin(_CONTROLS)
    for frame, role in ((protected, "protected"), (attributes, "attribute")):
        worth = {record["list"]: record["effective_words"] for record in records if record["role"] == role}
        frame["effective_words"] = [worth.get(name, float("nan")) for name in frame["list"]]
    blocks: list[Block] = [
        *_about_the_study(page),
        Paragraph(f"{_question_text(page)} {_MEANINGS.get(page.measure.column, '')}".strip()),
        _words_table(protected, "Protected words", "Group"),
    ]
    if not control.all():
        blocks.append(_words_table(attributes[~control], "Attribute words", "List"))
    if control.any():
        blocks.append(_words_table(attributes[control], "Control words", "List", folded=True))
    return Section("question", "The question", blocks)


def _words_table(frame: pd.DataFrame, caption: str, name: str, *, folded: bool = False) -> Table:
    columns = ("list", "size", "effective_words", "own_lists", "words")
    headings = {"list": name, "size": "Words", "words": "The words"}
    return table_block(ResultTable(frame, "", caption, columns, headings, folded=folded))


def _question_text(page: FitReport) -> str:
    """Return what is asked of which attribute words: associated ones and others, if there are any."""
    phrases, measure = attribute_phrases(len(page.compared_groups)), page.measure
    names = {
        "different": f"{phrases.different} (different)",
        "human": "control words about people (human)",
        "neutral": "neutral control words",
    }
    connections = set(page.table["connection"])
    others = " or ".join(name for connection, name in names.items() if connection in connections)
    if not others:
        return ""
    if measure.to == "to":
        return f"Are the protected words nearer to {phrases.associated} than to {others}?"
    return f"Are {phrases.associated} {measure.nearer} with the protected words than {others}?"


def _words_by(table: pd.DataFrame, by: str, word: str) -> pd.DataFrame:
    """Return the words of each group or list: columns `list`, `size`, `words`."""
    lists = table.drop_duplicates(word).groupby(by, sort=False)[word]
    return lists.agg(size="size", words=", ".join).rename_axis("list").reset_index().astype({"list": str})


def _about_the_study(page: FitReport) -> Iterator[Block]:
    name = page.facts.get("study")
    if name is None:
        yield Paragraph(f"The table ({page.embedding}) does not name a study.")
        return
    yield Paragraph(f"Study: {shown_name(name)}. {page.measure.source.capitalize()}: {page.embedding}.")
    if "description" in page.facts:
        yield Paragraph(page.facts["description"])
    if name in list_studies() and page.study_of_table is None and (notes := load_study(name).notes):
        yield Paragraph(notes)
    if "study_source" in page.facts:
        yield Paragraph(f"Source of the words: {page.facts['study_source']}")


def data_section(page: FitReport) -> Section:
    """Return the section on the data: distances, lost words and duplicates."""
    table, facts = page.table, page.facts
    by_connection = table.groupby("connection", observed=True, sort=True)
    distances = by_connection[page.measure.column]
    pairs = pd.DataFrame(
        {
            "pairs": distances.size(),
            "protected_words": by_connection["protected_word"].nunique(),
            "attribute_words": by_connection["attribute_word"].nunique(),
            "average": distances.mean(),
            "sd": distances.std(),
            "smallest": distances.min(),
            "largest": distances.max(),
        }
    ).reset_index()
    blocks: list[Block] = [
        Paragraph(
            f"{counted(table['protected_word'].nunique(), 'protected word')} and {table['attribute_word'].nunique():,} "
            f"attribute words give {counted(len(table), 'pair')}."
        ),
        table_block(
            ResultTable(
                pairs,
                "",
                f"{page.measure.of_means.capitalize()} by connection, as they are in the table: each pair counts "
                "once. In observed differences "
                "each list, word and group counts the same",
            )
        ),
        *_distributions(page),
        *_lost(page),
    ]
    notes = []
    if dropped := facts.get("duplicates", {}).get("dropped", 0):
        notes.append(f"{counted(dropped, 'repeated row was', 'repeated rows were')} dropped before the fit.")
    if left_out := facts.get("left_out_controls"):
        notes.append(f"Control words left out because the study uses them: {name_some(left_out, 20)}.")
    if facts.get("simulated"):
        notes.append(f"The {page.measure.numbers} were simulated.")
    if notes:
        blocks.append(Bullets(tuple(notes)))
    return Section("data", "The data", blocks)


def _distributions(page: FitReport) -> Iterator[Block]:
    if page.measure != COSINE_DISTANCE:
        return
    try:
        shares = mac_shares(page.table)
    except ReportError as error:
        yield Paragraph(f"The distributions are not compared with MAC. {error}")
        return
    abouts, rows = (part.statements for part in shares.parts)
    yield from (Paragraph(about.text) for about in abouts)
    yield figure(
        plot_distances(page.table),
        f"Similarities (1 minus distance) as they are in the table, by connection, with the band 0 +/- "
        f"{distance_text(shares.band)}.",
        f"Histograms of cosine similarity, one per connection. {'; '.join(row.text.rstrip('.') for row in rows)}.",
    )
    columns = ("connection", "pairs", "mean", "low_89", "high_89", "inside", "above", "below")
    yield table_block(replace(shares.contents.tables["shares"], section="", columns=columns, folded=True))


def _lost(page: FitReport) -> Iterator[Block]:
    if "lost_words" not in page.facts:
        yield Paragraph("The table does not say whether words of the study were lost.")
        return
    lost = lost_words(page.table)
    if lost.empty:
        yield Paragraph(f"The {page.measure.source} has all words of the study.")
        return
    by_list = lost.groupby("list", sort=False)["word"].size()
    where = ", ".join(f"{number} of {shown_name(str(name))}" for name, number in by_list.items())
    yield Notice(
        f"{counted(len(lost), 'word was', 'words were')} lost ({where}). All numbers describe the remaining words."
    )
    rows = lost.groupby(["list", "role", "reason"], sort=False)["word"].agg(size="size", words=", ".join).reset_index()
    columns, headings = ("list", "role", "size", "words", "reason"), {"size": "Words", "words": "The words"}
    yield table_block(ResultTable(rows, "", "Lost words", columns, headings, folded=True))


# Title of a part -> its folded sections.
PARTS: dict[str, tuple[Callable[[FitReport], Section], ...]] = {
    "Checks": (
        conclusions_section,
        covariates_section,
        sampler_section,
        predictions_section,
        sensitivity_section,
        comparison_section,
        embeddings_section,
        random_lists_section,
        priors_section,
        single_numbers_section,
    ),
    "Methods and tables": (
        words_section,
        overall_section,
        question_section,
        data_section,
        model_section,
        reproduction_section,
        citation_section,
    ),
}


def fit_details(report: FitReport, *, progress: bool = False) -> list[Section]:
    """Return the parts of the page of a fit below its answer, groups, words and doubts."""
    from bayesbias.base.machine import threadpool_limits

    steps = [(part, section) for part, sections in PARTS.items() for section in sections]
    folded: dict[str, list[Section]] = {part: [] for part in PARTS}
    # Threads slow down the many small systems of equations.
    with threadpool_limits(1, "blas"):
        for part, section in with_progress(steps, "Sections of the page", progress=progress):
            folded[part].append(section(report))
    return [Section(f"part-{part.lower().split()[0]}", part, [], details=details) for part, details in folded.items()]
