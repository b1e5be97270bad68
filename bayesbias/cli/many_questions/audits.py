"""The command that asks many questions at once, and the options of its plan."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli.base import (
    AsJson,
    Command,
    OptionalOutput,
    Overwrite,
    Quiet,
    Rope,
    Scheduler,
    WorkerCount,
    answer,
    app,
    claim,
    printed,
)

if TYPE_CHECKING:
    from bayesbias.cells.plan import AuditPlan

UNANSWERED = 5
"""Exit code where an embedding cannot answer a question."""
# The folder in the output that keeps the answers of cells.
_CELLS = "cells"


Plan = Annotated[
    Path, typer.Argument(metavar="PLAN", help="A TOML file: [embeddings] with names and files, and studies.")
]
PlanMaxLost = Annotated[
    float | None,
    typer.Option(
        help="Largest share of a list's words that an embedding may lack, from 0 to 1, in place of the plan's."
    ),
]


def planned(path: Path, **options: Any) -> "AuditPlan":
    """Return a plan with the options of the command that were given in place of its own settings."""
    from bayesbias.cells.plan import read_audit_plan

    plan = read_audit_plan(path)
    settings = dict(plan.settings)
    if options["workers"] is not None or options["scheduler"] is not None:  # one replaces the other
        settings |= {"workers": None, "scheduler": None}
    return replace(plan, settings=settings | {name: value for name, value in options.items() if value is not None})


@app.command(cls=Command)
def audit(
    plan: Plan,
    output: OptionalOutput = None,
    pages: Annotated[
        bool, typer.Option("--pages", help="With --output: a page for each contrast too, of the first model and seed.")
    ] = False,
    rope: Rope = None,
    max_lost: PlanMaxLost = None,
    skip_unanswered: Annotated[
        bool,
        typer.Option(
            "--skip-unanswered", help="Go on where an embedding cannot answer a study; the exit code is then 5."
        ),
    ] = False,
    workers: WorkerCount = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Ask many studies of many embeddings with many measures, on one process or many workers.

    With --output: audit.csv, audit.png and the page report.html; of several embeddings ranks.csv and ranks.png too,
    and of three or more rank_correlations.csv; with --pages a question_NUMBER.html for each contrast. A plan:

        studies = ["weat7", "my_study.toml"]
        measures = ["contrast", "weat", "mac"]

        [embeddings]
        GloVe = "glove.6B.300d.txt"

    For thousands of fits a plan can also have lists such as models = ["crossed", "hierarchical"] and seeds = [1, 2],
    and workers = 8. With workers or a scheduler, the answer of each cell (a study of an embedding by a model with a
    seed) is kept in the folder cells/ of the output. Run a stopped audit again to continue it. If you extend the plan,
    only new cells are computed. With --pages nothing is kept there. Cells that failed are in failed.csv with
    their errors; the next run, with --overwrite, tries them again. Whoever reaches a Dask scheduler can run programs
    there and here: start it with certificates (tls://).

    Examples
    --------
        bayesbias audit audit.toml --output audit/

        bayesbias audit audit.toml --output audit/ --scheduler tls://10.0.0.1:8786
    """
    from bayesbias.base.files.outputs import check_folder
    from bayesbias.cells.audit import audit as run_audit
    from bayesbias.delivery.writing import write
    from bayesbias.reports.audits.audit_frame import failed_cells

    plan_content = planned(plan, rope=rope, max_lost=max_lost, workers=workers, scheduler=scheduler)
    settings = dict(plan_content.settings)
    has_workers = not settings.keys().isdisjoint(("scheduler", "workers"))
    cells = output / _CELLS if output is not None and has_workers and not pages else None
    if output is not None:
        check_folder(output, overwrite=overwrite, beside=(_CELLS,) if cells else ())
        claim(output)
    settings |= {"keep_fits": pages and output is not None, "cells": cells, "progress": not quiet}
    settings["skip_unanswered"] = skip_unanswered
    frame = run_audit(plan_content.embeddings, plan_content.studies, plan_content.measures, **settings)
    if output is not None:
        write(
            frame,
            output,
            overwrite=overwrite or cells is not None,
            workers=settings.get("workers"),
            progress=not quiet,
        )
    constant = [name for name in ("model", "random_seed") if frame[name].nunique() == 1]
    shown = frame.drop(columns=["p_value_mcse", "ess_bulk", "ess_tail", "r_hat", *constant]).dropna(axis=1, how="all")
    wrote = f"\nWrote {output}. Open {output / 'report.html'} in a browser." if output else ""
    failed = failed_cells(frame) if skip_unanswered else frame.iloc[:0]
    unanswered = "".join(f"\nunanswered: {row.embedding}, {row.study}: {row.error}" for row in failed.itertuples())
    data = {"audit": frame, **({"unanswered": failed} if skip_unanswered else {})}
    answer(printed(shown) + unanswered + wrote, data, as_json=as_json, quiet=quiet)
    if len(failed):
        raise typer.Exit(UNANSWERED)
