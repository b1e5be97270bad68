"""From an embedding to an answer: the demo, and the commands that lead from vectors to a page."""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import bayesbias as bb
from bayesbias.cli.base import (
    FileDelivery,
    Settings,
    answer,
    by_embedding,
    claim,
    command,
    command_line,
    describe,
    names_of,
    priors_from,
    rated_table,
    read_each,
)
from bayesbias.cli.messages import spoken
from bayesbias.cli.own_embeddings import folder_or_function, lines_or_name, study_of_command, vectors_of_folder
from bayesbias.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

# Two of the four studies lose words in the small bundled vectors: they have 15 of 25 flowers, and three of four words
# of Islam.
_DEMO_STUDIES, _DEMO_MAX_LOST = ("weat1", "weat7", "gender", "religion"), 0.4
_DEMO_WORKERS = 2


@command()
def demo(
    output: Path = Path("bayesbias-demo"), random_seed: int = 1, overwrite: bool = False, quiet: bool = False
) -> None:
    """Audit four well-known questions in bundled vectors: which are settled, and which are not.

    Flowers and insects (WEAT 1), mathematics and arts (WEAT 7), gender, and religion, in small Wikipedia vectors.
    Writes report.html, one figure with a page for each question, audit.png and audit.csv. No file of yours is needed.
    """
    from bayesbias.audits.audit_frame import answers
    from bayesbias.audits.audit_report import AuditReport
    from bayesbias.base.files.outputs import check_folder
    from bayesbias.base.statements import wrap
    from bayesbias.delivery.writing import write
    from bayesbias.errors import BayesBiasWarning
    from bayesbias.workers.process_workers import process_workers

    check_folder(output, overwrite=overwrite)
    claim(output)
    answer("Reading the bundled vectors", quiet=quiet)
    vectors = bb.load_embedding(
        bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), name="Wikipedia 2018 skip-gram"
    )
    answer(
        f"Asking {len(_DEMO_STUDIES)} questions: the model is fitted to each",
        quiet=quiet,
    )
    # The same processes fit the models and draw the pages: most of the start of a process is the import of libraries.
    with process_workers(_DEMO_WORKERS) as team:
        with warnings.catch_warnings():
            # The page says that words are lost, and that WEAT has no answer to three religions.
            warnings.simplefilter("ignore", BayesBiasWarning)
            frame = bb.audit(
                [vectors],
                _DEMO_STUDIES,
                ("contrast", "weat", "mac"),
                max_lost=_DEMO_MAX_LOST,
                keep_fits=True,
                random_seed=random_seed,
                workers=team,
                progress=not quiet,
            )
        answer("Writing the figure, and a page for each question", quiet=quiet)
        write(frame, output, overwrite=overwrite, workers=team, progress=not quiet)
    first = "\n".join(wrap(spoken(statement)) for statement in AuditReport(frame).first)
    statements = "\n".join(wrap(spoken(statement), bullet=True) for statement in answers(frame))
    answer(
        f"\n{first}\n\n{statements}\n\nOpen {output / 'report.html'} in a browser: what is settled and what is "
        "not, and a page for each question.\nYour own vectors: bayesbias audit --help",
        quiet=quiet,
    )


@command()
def table(
    study: str,
    output: Path,
    loading: Annotated[Settings, "bb.load_embedding case prefix suffix phrases format name allow_pickle"],
    building: Annotated[Settings, "bb.distance_table max_lost duplicates reference"],
    contextual: Annotated[Settings, "bb.embeddings.contextual_embedding layer most device precision cache random_seed"],
    scoring: Annotated[Settings, "bb.score_table unit trials"],
    predicting: Annotated[Settings, "bb.surprisal_table context"],
    embedding: Path | None = None,
    contexts: Path | None = None,
    templates: str | None = None,
    surprisal: bool = False,
    baseline: str | None = None,
    scores: Path | None = None,
    value: str | None = None,
    lower: Literal["nearer", "farther"] | None = None,
    controls: bool | None = None,
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Build the table of cosine distances between the words of a study, or of surprisals or scores of its pairs.

    The vectors come from an embedding, from the folder of a sentence encoder, or from a language model such as BERT.
    Reads only the words of the study, so the file may hold gigabytes. An encoder gives vectors of words alone, or means
    over templates; a language model means over contexts. With two or more of them, cosines are corrected for their
    number, and each pair gets its error (cosine_sd) and the distance of the mean vectors (plain_distance).

    With --surprisal, a language model says how likely attribute words are beside protected words in templates; with
    --scores, a file has the numbers.

    A table is of one embedding. For one model trained with several seeds, `bayesbias trainings` reads all the
    embeddings and says how much the answer depends on the seed.

    For example:

        bayesbias table GoogleNews.bin.gz --study weat7 --output weat7.csv

        bayesbias table bert/ --study weat7 --contexts wikipedia.contexts --output weat7.csv

        bayesbias table bert/ --study occupations.toml --surprisal --templates pronouns --output occupations.csv

        bayesbias table --scores times.csv --study pets.toml --value time --unit ms --lower nearer --output pets.csv
    """
    from bayesbias.tables.table_files import check_table_output

    check_table_output(output, overwrite=overwrite)
    claim(output)
    scoring |= {"value": value, "lower": lower}
    _check_kind(scoring | predicting | {"baseline": baseline}, surprisal=surprisal, scores=scores is not None)
    with_controls = controls if controls is not None else not surprisal and scores is None
    loaded = study_of_command(bb.load_study(study), controls=with_controls)
    if controls and not (loaded.human or loaded.neutral):
        raise ArgumentError(
            f"--controls: the study {loaded.name!r} has no control words. A CSV of lists has none; a TOML study has "
            "those of the section [controls], or the usual English ones without it."
        )
    shared = {"max_lost": building["max_lost"], "name": loading["name"], "controls": with_controls}
    if scores is not None:
        if embedding is not None or contexts is not None or templates is not None:
            raise ArgumentError("--scores has all numbers: leave out VECTORS, --contexts and --templates.")
        built = _scores(scores, loaded, **scoring, **shared)
    elif embedding is None:
        raise ArgumentError(
            "Give VECTORS: a file of vectors, or the folder of a model. For numbers of your own: --scores."
        )
    elif surprisal:
        if contexts is not None or templates is None:
            raise ArgumentError(
                "--surprisal needs --templates, and no --contexts: a text file of sentences with PROTECTED and "
                "ATTRIBUTE in them, or a bundled set such as pronouns."
            )
        asking = {option: contextual[option] for option in ("device", "precision", "cache")} | predicting | shared
        built = _surprisals(str(embedding), loaded, templates, baseline, **asking, progress=not quiet)
    else:
        texts: Settings = {"contexts": contexts, "templates": templates}
        vectors = _vectors(embedding, loaded, loading, **texts, **contextual, progress=not quiet)
        built = bb.distance_table(vectors, loaded, **building)
    bb.write_table(built, output, overwrite=overwrite)
    following = command_line("fit", output, "--output", f"{output.name.split('.')[0]}/")
    if built["protected_group"].nunique() == 1:
        slopes = f"{output.name.split('.')[0]}-slopes/"
        rated = command_line("covariate", output, "--covariates", "FILE", "--output", slopes)
        following += f"\nOr, with a number for each word: {rated}"
    answer(f"{describe(built)}\nWrote {output}. Next: {following}", quiet=quiet)


# Options that one kind of table has.
_OF_KIND = {"--scores": ("value", "unit", "lower", "trials"), "--surprisal": ("context", "baseline")}


def _check_kind(options: Settings, *, surprisal: bool, scores: bool) -> None:
    """Raise `ArgumentError` if options of another kind of table are given, or scores lack theirs."""
    if surprisal and scores:
        raise ArgumentError("--surprisal and --scores exclude each other. Give one of them.")
    for kind, wanted in (("--scores", scores), ("--surprisal", surprisal)):
        if not wanted and (others := [option for option in _OF_KIND[kind] if options[option]]):
            raise ArgumentError(f"--{others[0]} needs {kind}.")
    if scores and (lacking := [f"--{option}" for option in ("value", "lower") if options[option] is None]):
        raise ArgumentError(
            f"--scores needs {' and '.join(lacking)}: --value COLUMN has the numbers, and --lower nearer or --lower "
            "farther says what a lower number means."
        )


def _vectors(
    embedding: Path,
    study: "bb.Study",
    loading: Settings,
    *,
    contexts: Path | None,
    templates: str | None,
    **settings: Any,
) -> "bb.Embedding":
    """Return the vectors of a study's words, from a file or from the folder of an encoder or a language model."""
    if embedding.is_dir():
        sources = {"contexts": contexts, "templates": templates, "name": loading["name"]}
        return vectors_of_folder(embedding, study, **sources, **settings)
    if contexts is not None or templates is not None:
        raise ArgumentError(f"--contexts and --templates need the folder of a language model, and {embedding} is none.")
    return bb.load_embedding(embedding, words=study.words, **loading)


def _surprisals(
    model: str, study: "bb.Study", templates: str, baseline: str | None, *, name: str | None, **settings: Any
) -> "pd.DataFrame":
    """Return the surprisals of a model's folder, or of the function that MODULE:FUNCTION names."""
    source = folder_or_function("VECTORS", model)
    neutral = list(names_of(baseline)) if baseline not in (None, "mask") else baseline
    label = model if name is None and callable(source) else name
    return bb.surprisal_table(source, study, lines_or_name(templates), baseline=neutral, name=label, **settings)


def _scores(path: Path, study: "bb.Study", *, name: str | None, **settings: Any) -> "pd.DataFrame":
    """Return the scores of a CSV file."""
    from bayesbias.base.files.inputs import printable
    from bayesbias.base.files.spreadsheets import read_csv

    words = ("protected_word", "attribute_word")
    frame = read_csv(path, f"Give a row a pair, with the columns {' and '.join(words)}.", keys=words, texts=words)
    return bb.score_table(frame, study, source=printable(path.stem) if name is None else name, **settings)


@command()
def fit(
    table: Path,
    sampling: Annotated[Settings, "bb.fit model sampler draws tune chains random_seed hdi_prob rope"],
    reading: Annotated[Settings, "bb.read_table duplicates"],
    delivery: FileDelivery,
    prior: list[str] | None = None,
    covariates: Path | None = None,
    word_column: str | None = None,
    column: list[str] | None = None,
    drop_unrated: bool = False,
) -> None:
    """Fit a model to a distance table; print and write the conclusions.

    Writes table.csv, fit.nc (all draws), summary.csv, contrasts.csv, conclusions.txt, conclusions.json, and figures:
    groups.png, words.png and distances.png. Also questions.csv if the study asks questions of its own, and
    covariate.png with --covariates.

    Example:

        bayesbias fit weat7.csv --output weat7/ --seed 1
    """
    from bayesbias.delivery.plots.style import new_figure
    from bayesbias.reports.fit_report import check_request

    delivery.begin()
    new_figure(1, 1)  # settings with which matplotlib cannot draw raise an error before the work
    distances, numbers = rated_table(
        bb.read_table(table, **reading), covariates, word_column, column=column, drop_unrated=drop_unrated
    )
    check_request(distances, hdi_prob=sampling["hdi_prob"], rope=sampling["rope"])
    fitted = bb.fit(
        distances,
        **sampling,
        progress=delivery.progress,
        priors=priors_from(prior or []),
        covariates=numbers,
    )
    draws, result = delivery.output / "fit.nc", bb.report(fitted, table=distances)
    picture = delivery.output / f"{next(iter(result.contents.figures))}.png"
    next_step = (
        f"Look at {picture}; numbers: {command_line('summary', draws)}\n"
        f"One page with checks and sensitivity: {command_line('report', draws, '-o', 'report.html')}"
    )
    delivery.finish(result, next_step=next_step)


@command()
def report(
    fit: Path,
    output: Path,
    reporting: Annotated[Settings, "bb.report hdi_prob rope title quick frozen_plan"],
    compare_with: list[Path] | None = None,
    random_seed: int | None = None,
    full: bool = False,
    quiet: bool = False,
    overwrite: bool = False,
) -> None:
    """Write one page with the results of a fit, its checks and its sensitivity.

    Prints the answer first. The whole page then takes up to a minute; with --quick, a few seconds. Reads table.csv in
    the folder of the fit, if it is there and of the same user; a link is not followed.

    Example:

        bayesbias report weat7/fit.nc --output weat7.html --compare debiased.csv
    """
    from bayesbias.base.files.inputs import printable
    from bayesbias.base.statements import wrap
    from bayesbias.errors import OutputError
    from bayesbias.models.fits import hdi_prob_of, rope_of
    from bayesbias.reports import fit_report

    if output.suffix.lower() != ".html":
        raise OutputError(
            f"{output} is not the name of a page. Give a .html file; `bayesbias fit --output` "
            "writes other forms, without the checks of the page."
        )
    delivery = FileDelivery(output, quiet=quiet, overwrite=overwrite)
    delivery.begin()
    fitted = bb.read_fit(fit)
    beside = fit.parent / "table.csv"
    table = table_beside(fit, beside) if os.path.lexists(beside) else None
    seed = bb.models.fit_attribute(fitted, "random_seed") if random_seed is None else random_seed
    comparison = None
    if compare_with:
        original = table if table is not None else bb.models.fitted_table(fitted)
        tables = {printable(str(beside)): original, **read_each(compare_with)}
        comparison = bb.compare_embeddings(
            by_embedding(tables),
            hdi_prob=hdi_prob_of(fitted, reporting["hdi_prob"]),
            rope=rope_of(fitted, reporting["rope"]),
            random_seed=seed,
            progress=delivery.progress,
        )
    shown = fit_report.report(fitted, table=table, comparison=comparison, random_seed=seed, **reporting)
    if not shown.nothing_to_compare:
        conclusions = shown.conclusions
        first = (*shown.slope_answer, conclusions.verdict, *conclusions.shown[:1])
        planned = [str(shown.planned.part)] if shown.planned else []
        delivery.answer("\n\n".join([*(wrap(statement.text) for statement in first), *planned]) + "\n")
    delivery.write(shown, full=full)
    delivery.answer(f"Wrote {output}. Open it in a browser; it needs no network.")


def table_beside(fit: Path, table: Path) -> "pd.DataFrame | None":
    """Return the table of a file beside a fit.

    A link there, or a file of another user, may come from a stranger: it is not read, and a warning says so.
    """
    from bayesbias.base.files.inputs import open_input
    from bayesbias.base.files.openings import opening_of_user
    from bayesbias.errors import InputFileError, QuestionWarning, warn_user
    from bayesbias.tables.table_files import read_opened_table

    with open_input(fit) as stream:
        opening = opening_of_user(os.fstat(stream.fileno()).st_uid)
    try:
        open_input(table, opening).close()
    except InputFileError as error:
        warn_user(f"The page does without the table beside the fit. {error}", QuestionWarning)
        return None
    return read_opened_table(table, "keep", opening)
