"""From an embedding to an answer: the demo, and the commands that lead from vectors to a page."""

import warnings
from pathlib import Path
from typing import Annotated

import bayesbias as bb
from bayesbias.cli.base import (
    FileDelivery,
    Settings,
    answer,
    claim,
    command,
    command_line,
    describe,
    priors_from,
    rated_table,
)
from bayesbias.cli.many_questions import by_embedding, read_each
from bayesbias.cli.own_embeddings import study_of_command, vectors_of_folder
from bayesbias.errors import ArgumentError

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
    first = "\n".join(wrap(str(statement)) for statement in AuditReport(frame).first)
    statements = "\n".join(wrap(str(statement), bullet=True) for statement in answers(frame))
    answer(
        f"\n{first}\n\n{statements}\n\nOpen {output / 'report.html'} in a browser: what is settled and what is "
        "not, and a page for each question.\nYour own vectors: bayesbias audit --help",
        quiet=quiet,
    )


@command()
def table(
    embedding: Path,
    study: str,
    output: Path,
    loading: Annotated[Settings, "bb.load_embedding case prefix suffix phrases format name allow_pickle"],
    building: Annotated[Settings, "bb.distance_table max_lost duplicates reference"],
    contextual: Annotated[Settings, "bb.embeddings.contextual_embedding layer most device precision cache random_seed"],
    contexts: Path | None = None,
    templates: str | None = None,
    no_controls: bool = False,
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Build the table of cosine distances between the words of a study.

    The vectors come from an embedding, from the folder of a sentence encoder, or from a language model such as BERT.
    Reads only the words of the study, so the file may hold gigabytes. An encoder gives vectors of words alone, or means
    over templates; a language model means over contexts. With templates or contexts, each pair gets the error of its
    cosine (cosine_sd).

    For example:

        bayesbias table GoogleNews.bin.gz --study weat7 --output weat7.csv

        bayesbias table bert/ --study weat7 --contexts wikipedia.contexts --output weat7.csv
    """
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.tables.table_files import check_table_output

    check_table_output(output, overwrite=overwrite)
    claim(output)
    loaded = study_of_command(bb.load_study(study), no_controls=no_controls)
    vectors: Embedding
    if embedding.is_dir():
        sources = {"contexts": contexts, "templates": templates, "name": loading["name"]}
        vectors = vectors_of_folder(embedding, loaded, **sources, **contextual, progress=not quiet)
    elif contexts is not None or templates is not None:
        raise ArgumentError(f"--contexts and --templates need the folder of a language model, and {embedding} is none.")
    else:
        vectors = bb.load_embedding(embedding, words=loaded.words, **loading)
    built = bb.distance_table(vectors, loaded, **building)
    bb.write_table(built, output, overwrite=overwrite)
    following = command_line("fit", output, "--output", f"{output.name.split('.')[0]}/")
    answer(f"{describe(built)}\nWrote {output}. Next: {following}", quiet=quiet)


@command()
def fit(
    table: Path,
    sampling: Annotated[Settings, "bb.fit model sampler draws tune chains random_seed hdi_prob rope"],
    reading: Annotated[Settings, "bb.read_table duplicates"],
    delivery: FileDelivery,
    prior: list[str] | None = None,
    covariates: Path | None = None,
    word_column: str | None = None,
    drop_unrated: bool = False,
) -> None:
    """Fit a model to a distance table; print and write the conclusions.

    Writes table.csv, fit.nc (all draws), summary.csv, contrasts.csv, conclusions.txt, conclusions.json, and figures:
    groups.png, words.png and distances.png. Also questions.csv if the study asks questions of its own.

    Example:

        bayesbias fit weat7.csv --output weat7/ --seed 1
    """
    from bayesbias.delivery.plots.style import new_figure
    from bayesbias.reports.fit_report import check_request

    delivery.begin()
    new_figure(1, 1)  # settings with which matplotlib cannot draw raise an error before the work
    distances, numbers = rated_table(
        bb.read_table(table, **reading), covariates, word_column, drop_unrated=drop_unrated
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
    reporting: Annotated[Settings, "bb.report hdi_prob rope title quick"],
    compare_with: list[Path] | None = None,
    random_seed: int | None = None,
    full: bool = False,
    quiet: bool = False,
    overwrite: bool = False,
) -> None:
    """Write one page with the results of a fit, its checks and its sensitivity.

    Prints the answer first; the whole page then takes up to a minute, a quick one seconds. Reads table.csv in the
    folder of the fit, if it exists.

    Example:

        bayesbias report weat7/fit.nc --output weat7.html --compare debiased.csv
    """
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
    table = bb.read_table(beside, duplicates="keep") if is_of_its_owner(beside, fit) else None
    seed = bb.models.fit_attribute(fitted, "random_seed") if random_seed is None else random_seed
    comparison = None
    if compare_with:
        original = table if table is not None else bb.models.fitted_table(fitted)
        tables = {str(beside): original, **read_each(compare_with)}
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
        first = (conclusions.verdict, *conclusions.shown[:1])
        delivery.answer("\n\n".join(wrap(statement.text) for statement in first) + "\n")
    delivery.write(shown, full=full)
    delivery.answer(f"Wrote {output}. Open it in a browser; it needs no network.")


def is_of_its_owner(beside: Path, file: Path) -> bool:
    """Return whether there is a file beside another one that is of the same user, not one that a stranger put there.

    So must a link be that leads there: strangers would choose which file of the user is read.
    """
    return beside.is_file() and {beside.stat().st_uid, beside.lstat().st_uid} == {file.stat().st_uid}
