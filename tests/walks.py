"""How many files and functions of the package a call enters: what a reader walks through to follow it.

    python -m tests.walks

Each call is made twice, and the second is counted, so that imports and caches are no part of it.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any

import bayesbias as bb

PACKAGE = str(Path(bb.__file__).parent)


@contextmanager
def entered() -> Iterator[set[CodeType]]:
    """Collect the code of the package that runs."""
    codes: set[CodeType] = set()

    def note(code: CodeType, _: int) -> Any:
        if code.co_filename.startswith(PACKAGE):
            codes.add(code)
        return watch.DISABLE  # this code: once is enough

    watch, tool = sys.monitoring, sys.monitoring.PROFILER_ID
    watch.use_tool_id(tool, "walks")
    watch.register_callback(tool, watch.events.PY_START, note)
    watch.set_events(tool, watch.events.PY_START)
    watch.restart_events()
    try:
        yield codes
    finally:
        watch.set_events(tool, watch.events.NO_EVENTS)
        watch.free_tool_id(tool)


def calls() -> dict[str, Callable[[], object]]:
    """Return the calls that are counted, by name."""
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    fitted = bb.fit(table, random_seed=1, progress=False)
    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    moved = table.assign(cosine_distance=table["cosine_distance"] * 0.95).drop(columns="cosine_similarity")
    settings: dict[str, Any] = {"draws": 100, "random_seed": 1, "progress": False}

    def written() -> None:
        with TemporaryDirectory() as folder:
            bb.write(bb.report(fitted, quick=True), f"{folder}/page.html")

    return {
        "distance_table": lambda: bb.distance_table(vectors, "weat7"),
        "fit": lambda: bb.fit(table, random_seed=1, progress=False),
        "contrasts": lambda: bb.contrasts(fitted),
        "trend": lambda: bb.trend({"1900": table, "1990": moved}, **settings),
        "compare_embeddings": lambda: bb.compare_embeddings({"old": table, "new": moved}, **settings),
        "audit": lambda: bb.audit(vectors, ["weat7"], measures=("mac",), random_seed=1, progress=False, workers=None),
        "write(fit), quick": written,
    }


def walk(call: Callable[[], object]) -> tuple[int, int]:
    """Return the number of files and of functions that the second run of a call enters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
        with entered() as codes:
            call()
    named = {code for code in codes if not code.co_name.startswith("<")}
    return len({code.co_filename for code in codes}), len(named)


def main() -> None:
    """Print a line for each call."""
    for name, call in calls().items():
        files, functions = walk(call)
        print(f"{name:<22}{files:>5} files{functions:>6} functions")


if __name__ == "__main__":
    main()
