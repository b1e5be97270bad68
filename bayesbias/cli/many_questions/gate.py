"""The command that passes or fails the questions of an audit, for continuous integration."""

from pathlib import Path
from typing import Annotated

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
    begin,
)
from bayesbias.cli.many_questions.audits import Plan, PlanMaxLost, planned


@app.command(cls=Command)
def gate(
    plan: Plan,
    output: OptionalOutput = None,
    rope: Rope = None,
    baseline: Annotated[
        Path | None, typer.Option(help="A gate.json of an earlier gate: only what got worse fails.")
    ] = None,
    max_lost: PlanMaxLost = None,
    workers: WorkerCount = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Pass or fail each question of a plan by a region of practical equivalence.

    The plan is that of `bayesbias audit`, with rope = 0.02 or so. Only contrasts are used. Prints one line per
    question, then the outcome. Exit codes:

        0  pass        every interval lies inside the region

        3  fail        an interval lies beyond it

        4  undecided   no failure, but an interval reaches across an edge

        5  unanswered  no failure, but an embedding cannot answer, such as one that lacks a list

        2  mistake     nothing was asked: the message says why

    With --output FOLDER: gate.json (the next baseline), junit.xml, model_card.md, and the page report.html.

    Examples
    --------
        bayesbias gate gate.toml --output gate/

        bayesbias gate gate.toml --baseline released/gate.json
    """
    from bayesbias.cells.audit import audit as run_audit
    from bayesbias.delivery.writing import write
    from bayesbias.errors import ReportError
    from bayesbias.reports.audits.audit_frame import CONTRAST
    from bayesbias.reports.audits.baseline import read_baseline
    from bayesbias.reports.audits.gate import gate as decide

    content = planned(plan, rope=rope, max_lost=max_lost, workers=workers, scheduler=scheduler)
    if "rope" not in content.settings:
        raise ReportError(f"{plan} has no rope: add a region of practical equivalence, such as rope = 0.02, or --rope.")
    begin(output, overwrite=overwrite)
    if baseline is not None:
        read_baseline(baseline)  # a wrong file is named before any work
    settings = {**content.settings, "skip_unanswered": True, "progress": not quiet}
    frame = run_audit(content.embeddings, content.studies, [CONTRAST], **settings)
    result = decide(frame, baseline=baseline)
    if output is not None:
        write(result, output, overwrite=overwrite, progress=not quiet)
    answer(str(result), result.to_dict(), as_json=as_json, quiet=quiet)
    raise typer.Exit(result.exit_code)
