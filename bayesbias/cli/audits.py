"""The commands for many questions at once: in this process, and on many workers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Ask many studies of many embeddings with many measures.

    With --output: audit.csv, audit.png and the page audit.html; of several embeddings ranks.csv,
    rank_correlations.csv and ranks.png too. A plan:

        studies = ["weat7", "my_study.toml"]
        measures = ["contrast", "weat", "mac"]

        [embeddings]
        GloVe = "glove.6B.300d.txt"

    Example:

        bayesbias audit audit.toml --output audit/
    """
    from bayesbias.outputs import check_folder
    from bayesbias.reports.audits.audit import audit as ask
    from bayesbias.reports.audits.plan import read_audit_plan

    if output is not None:
        check_folder(output, overwrite=overwrite)
        claim(output)
    asked = read_audit_plan(plan)
    settings = asked.of_one_process
    found = ask(asked.embeddings, asked.studies, asked.measures, progress=not quiet, **settings)
    if output is not None:
        _write(found, output, overwrite=overwrite)
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
    from bayesbias.cluster.run import run_study
    from bayesbias.outputs import check_folder
    from bayesbias.reports.audits.plan import read_audit_plan

    check_folder(output, overwrite=overwrite, beside=(_CELLS,))
    claim(output)
    asked = read_audit_plan(plan)
    settings = asked.of_workers
    if scheduler is not None or workers is not None:  # these are about this run, and not about what is asked
        settings |= {"scheduler": scheduler, "workers": workers}
    questions = asked.embeddings, asked.studies, asked.measures
    found = run_study(*questions, cells=output / _CELLS, progress=not quiet, **settings)
    _write(found, output, overwrite=True)
    _answer(found, output, as_json=as_json, quiet=quiet)


def _write(found: "AuditFrame", output: Path, *, overwrite: bool) -> None:
    from bayesbias.outputs import whole_folder
    from bayesbias.page import write_audit_page
    from bayesbias.results import AUDIT, write_audit

    with whole_folder(output, names=(*AUDIT, "audit.html"), overwrite=overwrite) as folder:
        write_audit(found, folder)
        write_audit_page(found, folder / "audit.html")


def _answer(found: "AuditFrame", output: Path | None, *, as_json: bool, quiet: bool) -> None:
    one = [name for name in ("model", "seed") if found[name].nunique() == 1]
    shown = found.drop(columns=["p_value_mcse", "ess_bulk", "ess_tail", "r_hat", *one]).dropna(axis=1, how="all")
    wrote = f"\nWrote {output}. Open {output / 'audit.html'} in a browser." if output else ""
    answer(printed(shown) + wrote, {"audit": found}, as_json=as_json, quiet=quiet)
