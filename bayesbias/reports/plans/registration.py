"""A frozen plan as answers to the fields of a registry: those of the OSF preregistration, in Markdown."""

from collections.abc import Iterator

from bayesbias.base.number_text import counted, percent_text, quoted_name
from bayesbias.base.statements import markdown_text
from bayesbias.errors import name_some
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.guidelines import OPEN
from bayesbias.reports.plans.frozen_plan import NO_DATE, FrozenPlan, planned_sizes
from bayesbias.reports.plans.planned_numbers import LEVEL_TEXTS, power_text
from bayesbias.studies.study import Study
from bayesbias.tables.measures import COSINE_DISTANCE

_MOST_WORDS = 1000


def registration_text(plan: FrozenPlan) -> str:
    """Return a frozen plan as answers to the fields of the OSF preregistration, in Markdown.

    Parameters
    ----------
    plan
        Plan that `freeze_plan` returned, or `read_plan`.

    Returns
    -------
    str
        A heading for each field, and below it what the plan says. What only the author can say begins with
        ``Author:``.

    Examples
    --------
    >>> text = bb.reports.registration_text(bb.audits.freeze_plan("weat7", rope=0.02))
    >>> [line for line in text.splitlines() if line.startswith("## ")][:3]
    ['## Study information', '## Design plan', '## Sampling plan']
    """
    studies, record = list(plan.studies.values()), plan.record
    named = name_some([study.name for study in studies], 20)
    sections: dict[str, dict[str, list[str]]] = {
        "Study information": {
            "Title": [f"Associations of words: {named}. {OPEN} a title."],
            "Authors": [f"{OPEN} names."],
            "Description": [_described(study) for study in studies],
            "Hypotheses": list(_hypotheses(studies)),
        },
        "Design plan": {
            "Study type": ["Observational: what is measured of words is there already, and nothing is manipulated."],
            "Blinding": ["No blinding: nobody judges the words."],
            "Study design": list(_design(plan)),
            "Randomization": ["None."],
        },
        "Sampling plan": {
            "Existing data": [f"{OPEN} whether the vectors exist, and whether anyone has seen these words in them."],
            "Explanation of existing data": [f"{OPEN} what is known of these associations in these vectors."],
            "Data collection procedures": [_vectors(plan), *_settings(plan)],
            "Sample size": [_sizes(study) for study in studies],
            "Sample size rationale": [power_text(plan.power) if plan.power else f"{OPEN} why these sizes suffice."],
            "Stopping rule": ["All words of the lists that have a vector are used."],
        },
        "Variables": {
            "Manipulated variables": ["None."],
            "Measured variables": [_measured(plan)],
            "Indices": [f"Measures: {name_some(plan.measures, 20)}.", *_contrasts(plan)],
        },
        "Analysis plan": {
            "Statistical models": [_model(spec) for spec in plan.models.values()] or ["No model is fitted."],
            "Transformations": ["None."],
            "Inference criteria": [
                f"Highest posterior density intervals of {percent_text(record.hdi_prob)}. {plan.rule}",
                f"Region of practical equivalence: {record.region or 'none'}.",
            ],
            "Data exclusion": [f"{OPEN} which words are left out, and why."],
            "Missing data": ["Words without a vector are lost, and named in the report."],
            "Exploratory analysis": ["All numbers that the plan does not name; the report marks each."],
        },
        "Other": {
            "Other": [
                f"The plan was frozen on {plan.date} by {plan.package}. {NO_DATE}",
                *(f"The file was edited since: {text}." for text in plan.edits),
                *(
                    f"Hash of the lists of {quoted_name(study)}: {question.study_hash}; of the model "
                    f"{model or 'none'}: {question.model_hash or 'none'}."
                    for (_, study, model), question in record.questions.items()
                ),
            ],
        },
    }
    lines = ["# Preregistration", ""]
    for title, fields in sections.items():
        lines += [f"## {title}", ""]
        for field, texts in fields.items():
            lines += [f"### {field}", "", *(f"{markdown_text(text)}\n" for text in dict.fromkeys(texts))]
    return "\n".join(lines).rstrip()


def _described(study: Study) -> str:
    text = study.description or f"{OPEN} the question of {study.name}."
    return f"{study.name}: {text}{f' Source of the words: {study.source}' if study.source else ''}"


def _hypotheses(studies: list[Study]) -> Iterator[str]:
    for study in studies:
        pairs = name_some([f"{quoted_name(a)} with {quoted_name(b)}" for a, b in study.associated], 40)
        yield (
            f"{study.name}: protected words are nearer to the attribute words that are associated with their group "
            f"than to others. Associated are {pairs}."
        )
        for name, sides in study.questions.items():
            differences = ", ".join(f"{quoted_name(group)} with {quoted_name(words)}" for group, words in sides)
            yield f"{study.name}, question {quoted_name(name)}: {differences}."


def _design(plan: FrozenPlan) -> Iterator[str]:
    for study in plan.studies.values():
        lists = {**study.protected, **study.attribute_lists}
        yield from (f"{name}: {name_some(words, _MOST_WORDS)}." for name, words in lists.items())
        for factor, levels in {**study.factors, **study.attribute_factors}.items():
            yield f"Factor {factor}: {'; '.join(f'{level} ({name_some(names)})' for level, names in levels.items())}."


def _vectors(plan: FrozenPlan) -> str:
    names = f"Vectors: {name_some(plan.embeddings, 40)}." if plan.embeddings else f"{OPEN} which vectors."
    return f"{names} No vectors were read to make this plan."


def _measured(plan: FrozenPlan) -> str:
    region, words = plan.record.region, "of each protected word and each attribute word"
    if region is None or region.standardised or region.unit == COSINE_DISTANCE.name:
        return f"The cosine distance {words}."
    return f"A number in {region.unit} {words}. {OPEN} what it is, and what gives it."


def _settings(plan: FrozenPlan) -> list[str]:
    return [f"{name}: {text}." for name, text in plan.settings.items()]


def _sizes(study: Study) -> str:
    protected, attributes = planned_sizes(study).values()
    return (
        f"{study.name}: at least {counted(protected, 'protected word')} in each of "
        f"{counted(len(study.protected), 'group')}, and {counted(attributes, 'attribute word')} in each of "
        f"{counted(len(study.attributes), 'list')}."
    )


def _contrasts(plan: FrozenPlan) -> list[str]:
    if not plan.contrasts:
        return []
    levels = " and of ".join(LEVEL_TEXTS[level] for level in plan.levels)
    return [f"Contrasts of interest: {name_some(plan.contrasts)} of {levels}; below 0, the first words are nearer."]


def _model(spec: ModelSpec) -> str:
    priors = "; ".join(f"{name} ~ {prior}" for name, prior in spec.priors.items())
    switches = "; ".join(f"{name}: {value}" for name, value in spec.switches.items())
    return f"Model {spec.name} ({switches}). Priors: {priors}."
