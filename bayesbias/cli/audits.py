"""Commands for many questions at once: the audit, one on many workers, and the demo, which is of well-known ones."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesbias.base.statements import wrap
from bayesbias.cli.base import AsJson, Command, Overwrite, Quiet, answer, app, claim, printed

if TYPE_CHECKING:
    from bayesbias.reports.audits.audit_frame import AuditFrame

# The folder in a run's output that keeps the answers of its cells.
_CELLS = "cells"


@app.command(cls=Command)
def audit(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN", help="A TOML file: [embeddings] with names and files, and studies.")
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A folder for the results.")] = None,
    pages: Annotated[
        bool, typer.Option("--pages", help="With --output: a page for each contrast too, to which audit.html links.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Ask many studies of many embeddings with many measures.

    With --output: audit.csv, audit.png and the page audit.html; of several embeddings ranks.csv,
    rank_correlations.csv and ranks.png too; with --pages a question_NUMBER.html for each fit. A plan:

        studies = ["weat7", "my_study.toml"]
        measures = ["contrast", "weat", "mac"]

        [embeddings]
        GloVe = "glove.6B.300d.txt"

    Example:

        bayesbias audit audit.toml --output audit/
    """
    from bayesbias.base.outputs import check_folder
    from bayesbias.reports.audits.audit import audit as ask
    from bayesbias.reports.audits.plan import read_audit_plan

    if output is not None:
        check_folder(output, overwrite=overwrite)
        claim(output)
    asked = read_audit_plan(plan)
    settings = asked.of_one_process
    kept = pages and output is not None
    found = ask(asked.embeddings, asked.studies, asked.measures, keep_fits=kept, progress=not quiet, **settings)
    if output is not None:
        _write(found, output, overwrite=overwrite, quiet=quiet)
    _answer(found, output, as_json=as_json, quiet=quiet)


@app.command(cls=Command)
def run(
    plan: Annotated[
        Path,
        typer.Argument(metavar="PLAN", help="A TOML file: what `bayesbias audit` takes, and models, seeds, workers."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for results and the cells' answers.")],
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786; one that you trust.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes of this machine, in place of a scheduler; one for each core if left out."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Ask many studies of many embeddings by many models and seeds, on many workers.

    What `bayesbias audit` does, for thousands of fits. The answer of each cell (a study of an embedding by a model with
    a seed) is kept in the folder cells/ of the output, and is computed once: a run that was stopped goes on when it is
    started again, and one that grew computes what is new. At the end: what an audit writes, and, where cells failed,
    failed.csv with their errors; these are tried again by the next run, with --overwrite. A plan:

        studies = ["weat7", "my_study.toml"]
        models = ["crossed", "hierarchical"]
        seeds = [1, 2]
        workers = 8

        [embeddings]
        GloVe = "glove.6B.300d.txt"

    Workers are processes of this machine, or those of a Dask cluster that runs already. Whoever reaches a Dask
    scheduler can run programs there: keep it inside a network that is closed.

    Example:

        bayesbias run study.toml --output study/ --scheduler tcp://10.0.0.1:8786
    """
    from bayesbias.base.outputs import check_folder
    from bayesbias.cluster.run import run_study
    from bayesbias.reports.audits.plan import read_audit_plan

    check_folder(output, overwrite=overwrite, beside=(_CELLS,))
    claim(output)
    asked = read_audit_plan(plan)
    settings = asked.of_workers
    if scheduler is not None or workers is not None:  # these are about this run, and not about what is asked
        settings |= {"scheduler": scheduler, "workers": workers}
    questions = asked.embeddings, asked.studies, asked.measures
    found = run_study(*questions, cells=output / _CELLS, progress=not quiet, **settings)
    _write(found, output, overwrite=True, quiet=quiet)
    _answer(found, output, as_json=as_json, quiet=quiet)


def _answer(found: "AuditFrame", output: Path | None, *, as_json: bool, quiet: bool) -> None:
    one = [name for name in ("model", "seed") if found[name].nunique() == 1]
    shown = found.drop(columns=["p_value_mcse", "ess_bulk", "ess_tail", "r_hat", *one]).dropna(axis=1, how="all")
    wrote = f"\nWrote {output}. Open {output / 'audit.html'} in a browser." if output else ""
    answer(printed(shown) + wrote, {"audit": found}, as_json=as_json, quiet=quiet)


# Two of the four lose words in the small bundled vectors: of 25 flowers there are 15, of four words of Islam three.
_DEMO_STUDIES, _DEMO_MAX_LOST = ("weat1", "weat7", "gender", "religion"), 0.4
# Twice the usual: with fewer the chains of weat1, which has the most words, disagree on single ones of its numbers.
_DEMO_DRAWS = 2000


@app.command(cls=Command)
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the results.")] = Path("bayesbias-demo"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same draws on the same machine.")] = 1,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Audit four well-known questions in bundled vectors: which are settled, and which are not.

    Flowers and insects (WEAT 1), mathematics and arts (WEAT 7), gender, and religion, in small Wikipedia vectors.
    Writes audit.html, one figure with a page for each question, audit.png and audit.csv. No file of yours is needed.
    """
    from bayesbias.base.files import bundled
    from bayesbias.base.outputs import check_folder
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.errors import BayesBiasWarning
    from bayesbias.reports.audits.answers import answers
    from bayesbias.reports.audits.audit import audit as run

    check_folder(output, overwrite=overwrite)
    claim(output)
    answer("Reading the bundled vectors", quiet=quiet)
    vectors = load_embedding(
        bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"), name="Wikipedia 2018 skip-gram"
    )
    answer(
        f"Asking {len(_DEMO_STUDIES)} questions: the model is fitted to each",
        quiet=quiet,
    )
    with warnings.catch_warnings():
        # That words are lost, and that WEAT has no answer to three religions, stands on the page.
        warnings.simplefilter("ignore", BayesBiasWarning)
        found = run(
            [vectors],
            _DEMO_STUDIES,
            ("contrast", "weat", "mac"),
            max_lost=_DEMO_MAX_LOST,
            keep_fits=True,
            random_seed=seed,
            progress=not quiet,
            draws=_DEMO_DRAWS,
            tune=_DEMO_DRAWS,
        )
    answer("Writing the figure, and a page for each question", quiet=quiet)
    _write(found, output, overwrite=overwrite, quiet=quiet)
    said = "\n".join(wrap(str(each), bullet=True) for each in answers(found))
    answer(
        f"\n{said}\n\nOpen {output / 'audit.html'} in a browser: what is settled and what is not, and a page for each "
        "question.\nYour own vectors: bayesbias audit --help",
        quiet=quiet,
    )


def _write(found: "AuditFrame", output: Path, *, overwrite: bool, quiet: bool) -> None:
    """Write an audit to a folder: numbers, figures and pages."""
    from bayesbias.base.outputs import whole_folder
    from bayesbias.delivery.page.audit import QUESTION_PAGES, write_audit_pages
    from bayesbias.results import AUDIT, write_audit

    with whole_folder(output, names=(*AUDIT, "audit.html", QUESTION_PAGES), overwrite=overwrite) as folder:
        write_audit(found, folder)
        write_audit_pages(found, folder, progress=not quiet)
