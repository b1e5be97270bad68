"""The last sections: conclusions, settings to repeat the page, and citation."""

import json
import re
from importlib.metadata import version

from bayesbias.base.files.inputs import bundled
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import percent_text
from bayesbias.delivery.page.blocks import Block, Bullets, Heading, Notice, Paragraph, Section, Verbatim, fact_table
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.spec import list_models, load_model
from bayesbias.reports.fit_report import FitReport
from bayesbias.studies.study import Study, study_text

_CITATION = bundled("CITATION.cff")
_PAPER = (
    "Dobrzeniecka, A. and Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation. "
    "Computational Linguistics 50(2)."
)


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
        "Embedding hash": str(embedding.get("hash", "not known")),
        "Case rule": str(embedding.get("case", "not known")),
        "Table hash": str(fit_attribute(fit, "table_hash")),
        "Model": f"{model['name']} (hash {fit_attribute(fit, 'model_hash')})",
        **{f"Prior of {name}": prior for name, prior in model["priors"].items()},
        **{f"Switch {name}": value for name, value in model["switches"].items()},
        "Sampler": str(fit_attribute(fit, "sampler")),
        "Draws": f"{fit_attribute(fit, 'draws'):,} in each of {fit_attribute(fit, 'chains')} chains",
        "Seed of the fit": str(fit_attribute(fit, "random_seed")),
        "Seed of this page": str(page.random_seed),
        "Interval": f"{percent_text(page.hdi_prob)} HPDI",
        "Region of practical equivalence": "none given" if page.rope is None else str(page.rope),
    }
    versions = {**fit_attribute(fit, "versions"), "bayesbias (this page)": version("bayesbias")}
    study = page.own_study
    words: list[Block] = []
    if study:
        words = [Heading(f"The study, for a file {_file_name(study)}"), Verbatim(study_text(study))]
    blocks: list[Block] = [
        fact_table("Settings", settings, header=("Setting", "Value"), folded=True),
        fact_table(
            "Versions of packages, when the model was fitted", versions, header=("Package", "Version"), folded=True
        ),
        *words,
        Heading("In Python"),
        Verbatim(_code(page, _file_name(study) if study else page.facts.get("study"))),
    ]
    return Section("reproduce", "How to repeat it", blocks)


def _file_name(study: Study) -> str:
    return f"{re.sub(r'[^\w-]+', '_', study.name)}.toml"


def _code(page: FitReport, study: str | None) -> str:
    """Return Python code that repeats the page; names are quoted as JSON, which is valid Python."""
    fit, facts = page.fit, page.facts
    lines = ["import bayesbias as bb", ""]
    if "study" in facts and "embedding" in facts:
        case = facts["embedding"].get("case", "exact")
        policy = facts.get("duplicates", {}).get("policy", "drop")
        options = f", duplicates={json.dumps(policy)}" if policy != "drop" else ""
        options += f", max_lost={facts['max_lost']}" if facts.get("max_lost", MAX_LOST) != MAX_LOST else ""
        edited = "  # its rows were edited afterwards" if facts.get("edited") else ""
        lines += [
            f"study = bb.load_study({json.dumps(study)})",
            f'embedding = bb.load_embedding("PATH", words=study.words, case={json.dumps(case)})',
            f"table = bb.distance_table(embedding, study{options}){edited}",
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
    lines += [
        f"fit = bb.fit(table, {json.dumps(page.spec.name)}, sampler={json.dumps(fit_attribute(fit, 'sampler'))}, "
        f"{arguments}, random_seed={fit_attribute(fit, 'random_seed')}{_other_priors(page)}{covariates})",
        f"report = bb.report(fit, {compared}hdi_prob={page.hdi_prob}, rope={page.rope}, "
        f"random_seed={page.random_seed})",
        'bb.write(report, "report.html")',
    ]
    return "\n".join(lines)


def _other_priors(page: FitReport) -> str:
    """Return the argument `priors` if a bundled model was fitted with other priors, else an empty text."""
    if page.spec.name not in list_models():
        return ""
    usual_priors = load_model(page.spec.name).priors
    changed_priors = {
        name: str(prior) for name, prior in page.spec.priors.items() if str(prior) != str(usual_priors.get(name))
    }
    return f", priors={json.dumps(changed_priors)}" if changed_priors else ""


def citation_section(page: FitReport) -> Section:
    """Return the section on the citation of the software and of the model's source."""
    blocks: list[Block] = [
        Paragraph("Cite the package, and the paper that it builds on:"),
        Paragraph(_PAPER),
    ]
    if page.spec.source:
        blocks.append(Paragraph(f"Source of the model {page.spec.name}: {page.spec.source}."))
    if _CITATION.is_file():
        blocks += [Paragraph("CITATION.cff of the package:"), Verbatim(_CITATION.read_text(encoding="utf-8"))]
    else:
        blocks.append(Paragraph(f"bayesbias, version {version('bayesbias')}, The bayesbias developers."))
    return Section("cite", "How to cite", blocks)
