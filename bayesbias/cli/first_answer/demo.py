"""The demo: an audit of well-known questions in bundled vectors."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import Command, Overwrite, Quiet, answer, app, claim

# Two of the four studies lose words in the small bundled vectors: they have 15 of 25 flowers, and three of four words
# of Islam.
_DEMO_STUDIES, _DEMO_MAX_LOST = ("weat1", "weat7", "gender", "religion"), 0.4
_DEMO_WORKERS = 2


@app.command(cls=Command)
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the results.")] = Path("bayesbias-demo"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same draws on the same machine.")] = 1,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Audit four well-known questions in bundled vectors: which are settled, and which are not.

    Flowers and insects (WEAT 1), mathematics and arts (WEAT 7), gender, and religion, in small Wikipedia vectors.
    Writes report.html, one figure with a page for each question, audit.png and audit.csv. No file of yours is needed.
    """
    from bayesbias.base.files.inputs import bundled
    from bayesbias.base.files.outputs import check_folder
    from bayesbias.base.statements import wrap
    from bayesbias.cells.audit import audit as run_audit
    from bayesbias.delivery.writing import write
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.errors import BayesBiasWarning
    from bayesbias.reports.audits.answers import answers
    from bayesbias.workers.process_workers import process_workers

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
    # The same processes fit the models and draw the pages: most of the start of a process is the import of libraries.
    with process_workers(_DEMO_WORKERS) as team:
        with warnings.catch_warnings():
            # The page says that words are lost, and that WEAT has no answer to three religions.
            warnings.simplefilter("ignore", BayesBiasWarning)
            frame = run_audit(
                [vectors],
                _DEMO_STUDIES,
                ("contrast", "weat", "mac"),
                max_lost=_DEMO_MAX_LOST,
                keep_fits=True,
                random_seed=seed,
                workers=team,
                progress=not quiet,
            )
        answer("Writing the figure, and a page for each question", quiet=quiet)
        write(frame, output, overwrite=overwrite, workers=team, progress=not quiet)
    statements = "\n".join(wrap(str(statement), bullet=True) for statement in answers(frame))
    answer(
        f"\n{statements}\n\nOpen {output / 'report.html'} in a browser: what is settled and what is not, and a page "
        "for each question.\nYour own vectors: bayesbias audit --help",
        quiet=quiet,
    )
