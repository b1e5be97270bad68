"""The command for many questions at once."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import AsJson, Command, Overwrite, Quiet, answer, app, claim, printed


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
    from bayesbias.outputs import check_folder, whole_folder
    from bayesbias.page import write_audit_page
    from bayesbias.reports.audits.audit import audit as run
    from bayesbias.reports.audits.plan import read_audit_plan
    from bayesbias.results import AUDIT, write_audit

    if output is not None:
        check_folder(output, overwrite=overwrite)
        claim(output)
    asked = read_audit_plan(plan)
    found = run(asked.embeddings, asked.studies, asked.measures, progress=not quiet, **asked.settings)
    if output is not None:
        with whole_folder(output, names=(*AUDIT, "audit.html"), overwrite=overwrite) as folder:
            write_audit(found, folder)
            write_audit_page(found, folder / "audit.html")
    shown = found.drop(columns=["p_value_mcse", "ess_bulk", "ess_tail", "r_hat"]).dropna(axis=1, how="all")
    wrote = f"\nWrote {output}. Open {output / 'audit.html'} in a browser." if output else ""
    answer(printed(shown) + wrote, {"audit": found}, as_json=as_json, quiet=quiet)
