"""A study of 1,000 fits on one worker and on two, and what a cell costs beside its own work."""

import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import bayesbias as bb
from bayesbias.cells.audit_cell import AuditCell, make_cells
from bayesbias.cells.kept_answers import KeptAnswers
from bayesbias.models.spec import load_model
from bayesbias.workers.process_workers import process_workers
from bayesbias.workers.workers import StartWorkers, this_process

_FITS = 1000


def measure(fits: int = _FITS) -> Iterator[dict[str, object]]:
    """Yield the overhead of a cell, and how much faster two workers are than one; workers have started before."""
    embedding = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    settings = {"max_lost": 0.2, "hdi_prob": 0.89, "draws": 250, "tune": 250, "chains": 4}
    grid = [embedding], [bb.load_study("weat7")]
    light = make_cells(*grid, [None], range(fits), measures=("mac",), **settings)
    alone, sent = (_seconds(team, embedding, light) for team in (this_process, partial(process_workers, 1)))
    overhead = {"what": "a cell on a worker, beside its own work", "seconds": (sent - alone) / fits, "target": 0.005}
    yield overhead
    cells = make_cells(*grid, [load_model("no_pooling")], range(fits), measures=("contrast",), **settings)
    one, two = (_seconds(partial(process_workers, count), embedding, cells) for count in (1, 2))
    yield {"what": f"{fits:,} fits on two workers", "seconds": two, "faster": one / two, "target": 1.8}


def _seconds(start_workers: StartWorkers, embedding: bb.Embedding, cells: list[AuditCell]) -> float:
    """Return the seconds from the first cell to the last that is kept; what each worker imports is imported before."""
    with tempfile.TemporaryDirectory() as folder, start_workers() as team:
        sources, store = {embedding.name: embedding}, KeptAnswers(Path(folder))
        list(team.outcomes(sources, cells[:4]))
        start = time.perf_counter()
        for cell, answer in team.outcomes(sources, cells):
            if isinstance(answer, str):
                raise SystemExit(answer)
            store.write(cell, answer)
        return time.perf_counter() - start
