"""Word lists, and more of a fit: studies, estimates in other forms, covariates, predictive checks."""

import json
from itertools import batched
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import bayesbias as bb
from bayesbias.base.machine import show
from bayesbias.cli.base import (
    Delivery,
    FileDelivery,
    Settings,
    answer,
    app,
    claim,
    command,
    command_line,
    names_of,
    rated_table,
)
from bayesbias.errors import ArgumentError, OutputError


class _StudiesOrOne(TyperGroup):
    """The commands of studies; a name that is none of them is that of a study to show."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name of the command, the command, and what follows it."""
        is_study = len(args) == 1 and args[0] not in self.commands and not args[0].startswith("-")
        return super().resolve_command(ctx, ["show", *args] if is_study else args)


studies_app = typer.Typer(
    cls=_StudiesOrOne,
    subcommand_metavar="[STUDY | COMMAND [ARGS]...]",
    invoke_without_command=True,
)
app.add_typer(studies_app, name="studies")
plan_app = typer.Typer(help="Freeze a plan before the data are seen.", no_args_is_help=True)
app.add_typer(plan_app, name="plan")


@studies_app.callback()
def studies(context: typer.Context) -> None:
    """List the bundled studies, show one, or begin your own.

    For example:

        bayesbias studies weat7

        bayesbias studies new my_study.toml
    """
    if context.invoked_subcommand is None:
        studies_list()


@command("list", studies_app)
def studies_list() -> None:
    """List the bundled studies."""
    for name in bb.list_studies():
        study = bb.load_study(name)
        show(f"{name:10} {study.description or study.source}")
    show("\nShow one with `bayesbias studies NAME`; begin your own with `bayesbias studies new my_study.toml`.")


@command("show", studies_app)
def studies_show(study: str) -> None:
    """Show the words, associations and source of a study."""
    from bayesbias.studies.faults import is_english

    shown = bb.load_study(study)
    show(f"{shown.name}: {shown.description}".rstrip(": "))
    language = "" if is_english(shown.language) else shown.language
    for title, text in (("Language", language), ("Source", shown.source), ("Notes", shown.notes)):
        if text:
            show(f"{title}: {text}")
    for title, lists in (("Protected", shown.protected), ("Attributes", shown.attribute_lists)):
        for group, words in lists.items():
            show(f"{title} {group} ({len(words)}): {', '.join(words)}")
    for protected, attribute in shown.associated:
        show(f"Associated: {protected} with {attribute}")
    for factor, levels in {**shown.factors, **shown.attribute_factors}.items():
        show(f"Factor {factor}: {'; '.join(f'{level} ({", ".join(names)})' for level, names in levels.items())}")
    show(f"Next: {command_line('table', 'VECTORS', '--study', study, '--output', 'table.csv')}")


@command("new", studies_app)
def studies_new(path: Path, overwrite: bool = False) -> None:
    """Write a commented study file, to be filled in with your own words."""
    written = bb.studies.write_study_template(path, overwrite=overwrite)
    show(f"Wrote {written}. Edit its words, then: bayesbias table VECTORS --study {written} --output table.csv")


@command("weathub", studies_app)
def studies_weathub(path: Path, lists: str, test: str, output: Path, overwrite: bool = False) -> None:
    """Write a study of word lists in another language, from your copy of WEATHub."""
    from bayesbias.base.files.outputs import write_text
    from bayesbias.studies.study import study_text

    study = bb.studies.load_weathub(path, lists, test)
    write_text(output, f"{study_text(study)}\n", overwrite=overwrite)
    show(
        f"Wrote {output}. {study.notes} Next: {command_line('words', 'VECTORS', '--study', output)}".replace("  ", " ")
    )


@command("freeze", plan_app)
def plan_freeze(
    source: str,
    output: Path,
    freezing: Annotated[Settings, "bb.audits.freeze_plan model hdi_prob rope width true_contrast samples random_seed"],
    contrast: list[str] | None = None,
    level: list[str] | None = None,
    pilot: Path | None = None,
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Write the plan of a study or an audit before its vectors are read: lists, model, region, contrasts, power.

    The file can be edited, so that its date is no proof: deposit it at a registry. `bayesbias report` and `bayesbias
    audit` with --frozen-plan FILE say of each number whether it was planned, and name what was changed since, word by
    word.

    For example:

        bayesbias plan freeze weat7 --rope 0.02 --output plan.toml

        bayesbias report weat7/fit.nc --frozen-plan plan.toml --output weat7.html
    """
    from bayesbias.base.files.outputs import check_output

    check_output(output, overwrite=overwrite)
    claim(output)
    chosen: Settings = {"contrasts": contrast, **({"levels": level} if level else {})}
    plan = bb.audits.freeze_plan(source, pilot=_pilot(pilot), progress=not quiet, **chosen, **freezing)
    bb.reports.write_plan(plan, output, overwrite=overwrite)
    answer(
        f"Wrote {output}: {', '.join(plan.studies)}; {', '.join(plan.contrasts) or 'no contrasts'}. Neither its date "
        f"nor its checksum proves when it was made.\nAnswers for a registry: "
        f"{command_line('plan', 'template', output, '-o', 'registration.md')}",
        quiet=quiet,
    )


@command("template", plan_app)
def plan_template(frozen_plan: Path, output: Path | None = None, overwrite: bool = False) -> None:
    """Print a frozen plan as answers to the fields of the OSF preregistration, in Markdown.

    What only you can say begins with "Author:".

    For example:

        bayesbias plan template plan.toml --output registration.md
    """
    from bayesbias.base.files.outputs import check_output, write_text

    if output is not None:
        if output.suffix.lower() != ".md":
            raise OutputError(f"{output}: the answers are Markdown. Give a .md file.")
        check_output(output, overwrite=overwrite)
        claim(output)
    text = bb.reports.registration_text(bb.reports.read_plan(frozen_plan))
    if output is not None:
        write_text(output, f"{text}\n", overwrite=overwrite)
    show(text if output is None else f"Wrote {output}. Fill in what begins with Author: before you deposit it.")


def _pilot(path: Path | None) -> Any:
    """Return the fit of a pilot, or assumed parameters from a TOML file."""
    from bayesbias.base.files.inputs import read_toml
    from bayesbias.errors import ReportError

    if path is None:
        return None
    return read_toml(path, ReportError) if path.suffix.lower() == ".toml" else bb.read_fit(path)


@command()
def models(name: str = "", as_json: bool = False) -> None:
    """List the bundled models, or show one: its priors, switches, source and limits.

    Give a prior of a model by its name:

        bayesbias fit weat7.csv --model crossed --prior "connection_mean=Normal(1, 0.2)" --output weat7/
    """
    from bayesbias.models.spec import MEANINGS

    chosen = [bb.load_model(name)] if name else [bb.load_model(model) for model in bb.list_models()]
    cards = {spec.name: spec.to_dict() for spec in chosen}
    if not name:
        lines = [f"{spec.name:20} {spec.description.split(':')[0]}" for spec in chosen]
        answer("\n".join(lines) + "\n\nShow one with `bayesbias models NAME`.", cards, as_json=as_json)
        return
    card = cards[chosen[0].name]
    texts = [f"{chosen[0].name}: {chosen[0].description}", "", "Priors (--prior NAME=DISTRIBUTION)"]
    texts += [f"  {parameter:20} {prior:35} {MEANINGS[parameter]}" for parameter, prior in card["priors"].items()]
    texts += ["", *(f"{switch}: {value}" for switch, value in card["switches"].items()), ""]
    limits = {"When not to use it": f"{card['caution']} {card['avoid']}".strip(), "Source": card["source"]}
    texts += [f"{title}: {text}" for title, text in limits.items() if text]
    answer("\n".join(texts), cards, as_json=as_json)


@command()
def words(
    embedding: Path,
    study: str,
    checking: Annotated[Settings, "bb.check_words case prefix suffix phrases format max_lost allow_pickle"],
    delivery: Delivery,
) -> None:
    """Look up the words of a study in a vocabulary: stored, lost and why, near spellings, places.

    For example:

        bayesbias words cc.de.300.vec.gz --study my_study.toml
    """
    delivery.begin()
    delivery.finish(bb.check_words(embedding, study, **checking))


@command()
def summary(
    fit: Path,
    tabulating: Annotated[Settings, "bb.reports.paper_table level baseline rope scope hdi_prob parameters"],
    delivery: Delivery,
) -> None:
    """Print the contrasts of a fit as one table for a paper: of all words, then of each protected group.

    With --output, also write it: the same rows and columns as .tex, .md and .docx, and all columns as .csv. With
    --parameters, mean distances and hyperparameters follow.

    Example:

        bayesbias summary weat7/fit.nc --output table.tex
    """
    delivery.begin()
    _deliver_tables(bb.reports.paper_table(bb.read_fit(fit), **tabulating), delivery)


@command()
def contrast(
    fit: Path,
    contrasting: Annotated[Settings, "bb.planned_contrasts hdi_prob rope"],
    delivery: Delivery,
    sides: list[str] | None = None,
) -> None:
    """Print differences between the mean distances of protected groups to attribute lists.

    Subtracts the second side from the first. Without sides, answers the questions of the study ([questions] in its TOML
    file).

    Example:

        bayesbias contrast weat7/fit.nc math male arts male
    """
    from bayesbias.reports.posterior.doubts import all_doubts

    delivery.begin()
    pairs: list[Any] = list(batched(sides or [], 2))  # `compared` raises an error if a side lacks its list
    fitted = bb.read_fit(fit)
    questions = bb.planned_contrasts(fitted, *pairs, **contrasting)
    _deliver_tables(bb.reports.EstimateTables({"questions": questions}, all_doubts(fitted)), delivery)


@command()
def factors(
    fit: Path,
    contrasting: Annotated[Settings, "bb.factor_effects hdi_prob rope"],
    delivery: Delivery,
) -> None:
    """Print the effects of the factors of a study, such as race and gender: main effects, interactions, simple effects.

    The study has them in the section [factors] of its TOML file. With --output, also writes a page or a folder with
    the table of effects and a figure of means.

    Example:

        bayesbias factors names/fit.nc --output names.html
    """
    delivery.begin()
    delivery.finish(bb.factor_effects(bb.read_fit(fit), **contrasting))


def _deliver_tables(tables: "bb.reports.EstimateTables", delivery: Delivery) -> None:
    """Print tables and the doubts about them, and write them to the output, if given."""
    from bayesbias.base.results import DOUBTS, MORE_DRAWS
    from bayesbias.base.statements import StatementList
    from bayesbias.cli.messages import spoken
    from bayesbias.delivery.documents import terminal_table
    from bayesbias.delivery.page.sections import table_block

    texts = [terminal_table(table_block(table)) for table in tables.contents.tables.values()]
    if any(frame["borderline"].any() for frame in tables.frames.values() if "borderline" in frame):
        texts += [f"Of borderline rows: {spoken(MORE_DRAWS)}."]
    texts += [str(StatementList(DOUBTS, tables.doubts))] if tables.doubts else []
    delivery.finish(tables, text="\n\n".join(texts))


@command()
def methods(
    fit: Path,
    writing: Annotated[Settings, "bb.methods hdi_prob rope"],
    output: Path | None = None,
    as_json: bool = False,
    overwrite: bool = False,
) -> None:
    """Print the methods section of a paper for a fit, in Markdown, with BibTeX entries and reporting guidelines.

    Two tables at its end answer the Bayesian analysis reporting guidelines and the Responsible NLP checklist, as far as
    the fit can; the rest begins with "Author:". With --output, write it: a .md or .txt file gets all, a .tex file text
    and tables as LaTeX, and a .bib file the entries.

    Example:

        bayesbias methods weat7/fit.nc --output methods.md
    """
    from bayesbias.base.files.outputs import check_output, write_text
    from bayesbias.delivery.documents import latex_methods
    from bayesbias.reports.methods import methods_and_references, methods_text

    suffix = "" if output is None else output.suffix.lower()
    if output is not None:
        if suffix not in (".md", ".txt", ".tex", ".bib"):
            raise OutputError(
                f"{output}: methods are text with BibTeX entries. Give a .md or .txt file for both, a .tex file for "
                "the text, or a .bib file for the entries."
            )
        check_output(output, overwrite=overwrite)
        claim(output)
    prose, cited, items = methods_and_references(bb.read_fit(fit), **writing)
    bibtex, text = cited.bibtex, methods_text(prose, cited, items)
    if output is not None:
        written = bibtex if suffix == ".bib" else latex_methods(prose, cited, items) if suffix == ".tex" else text
        write_text(output, f"{written}\n", overwrite=overwrite)
    shown = text if output is None else f"Wrote {output}."
    answer(shown, {"methods": prose, "bibtex": bibtex, "guidelines": list(map(vars, items))}, as_json=as_json)


@command()
def covariate(
    table: Path,
    covariates: Path,
    fitting: Annotated[Settings, "bb.fit draws random_seed hdi_prob"],
    relating: Annotated[Settings, "bb.covariate_effect within_groups"],
    delivery: FileDelivery,
    lists: str = "",
    word_column: str | None = None,
    column: list[str] | None = None,
    drop_unrated: bool = False,
) -> None:
    """Ask whether the lean of words follows a covariate, such as the share of women in an occupation.

    Fits the default model with the covariates, and writes slopes, correlations, a figure and a page.

    Example:

        bayesbias table vectors.txt --study occupations.toml --output occupations.csv

        bayesbias covariate occupations.csv --covariates shares.csv --lists female,male --output shares/
    """
    from bayesbias.base.files.inputs import printable

    delivery.begin()
    names = names_of(lists) if lists else ()
    if len(names) not in (0, 2):
        raise ArgumentError(f"--lists {lists}: give two attribute lists with a comma, such as female,male.")
    distances, numbers = rated_table(
        bb.read_table(table), covariates, word_column, column=column, drop_unrated=drop_unrated
    )
    fitted = bb.fit(distances, **fitting, progress=delivery.progress, covariates=numbers)
    # For the page on how to repeat it.
    fitted.attrs["table_file"] = json.dumps(printable(str(table)), ensure_ascii=False)
    delivery.finish(bb.covariate_effect(fitted, (names[0], names[1]) if names else None, **relating))


@command()
def check(fit: Path, checking: Annotated[Settings, "bb.check_posterior random_seed"], delivery: Delivery) -> None:
    """Compare the predictions of a fitted model, and of its priors alone, with the distances.

    Prints where the model fails; with --output also writes a page, figures and tables.

    Example:

        bayesbias check weat7/fit.nc --output weat7-check/
    """
    from bayesbias.base.results import ResultGroup
    from bayesbias.models.fits import fitted_model

    delivery.begin()
    fitted = bb.read_fit(fit)
    posterior = bb.check_posterior(fitted, **checking, progress=delivery.progress)
    table, model = bb.models.fitted_table(fitted), fitted_model(fitted)
    prior = bb.check_prior(table, model, random_seed=posterior.random_seed, progress=delivery.progress)
    delivery.finish(ResultGroup("Checks of model and priors", {"posterior": posterior, "prior": prior}))
