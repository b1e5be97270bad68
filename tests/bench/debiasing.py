"""Debiasing: linear methods on a large vocabulary, and the report on many methods, on one worker and on two."""

import time
import tracemalloc
from collections.abc import Iterator

import numpy as np

import bayesbias as bb

_WORDS, _DIMENSIONS = 400_000, 300
_LINEAR = ("linear", "bam", "half_sibling", "misp", "mhd")
_METHODS = ["linear", "hard", "soft", "double_hard", "bam", "oscar", "inlp", "half_sibling", "misp", "mhd"]
_TRADE_WORDS = 13_000


def measure() -> Iterator[dict[str, object]]:
    """Yield seconds and memory of linear methods, and the seconds of a report of ten methods and three embeddings."""
    large = _filled(_WORDS, _DIMENSIONS, seed=1)
    for name in _LINEAR:
        fitted = bb.debias.METHODS[name]().fit(large, "gender_bolukbasi")
        start = time.perf_counter()
        fitted.transform(large)
        seconds = time.perf_counter() - start
        tracemalloc.start()
        fitted.transform(large)
        copies = tracemalloc.get_traced_memory()[1] / large.vectors.nbytes
        tracemalloc.stop()
        what = f"{name} debiasing of {_WORDS:,} x {_DIMENSIONS}"
        yield {"what": what, "seconds": seconds, "target": 5, "copies": copies}
    del large, fitted
    embeddings = [_filled(_TRADE_WORDS, _DIMENSIONS, seed=seed) for seed in (1, 2, 3)]
    taken = []
    for workers in (None, 1, 2):
        start = time.perf_counter()
        bb.debias_report(
            *(embeddings, "gender", _METHODS),
            sets="gender_bolukbasi",
            random_seed=1,
            workers=workers,
            progress=False,
        )
        taken.append(time.perf_counter() - start)
    what = f"{len(_METHODS)} methods x 3 embeddings of {_TRADE_WORDS:,}"
    yield {"what": what, "seconds": taken[0], "target": 300}
    yield {"what": f"{what}, one worker", "seconds": taken[1], "target": 300}
    yield {"what": f"{what}, two workers", "seconds": taken[2], "faster": taken[1] / taken[2], "target": 1.7}


def line(row: dict[str, object]) -> str:
    """Return a row of the table in a line."""
    more = f"   {row['copies']:.2f} copies of memory, at most 2 besides the vectors" if "copies" in row else ""
    if "faster" in row:
        said = f"{row['faster']:.2f} times as fast as one   at least {row['target']:g}"
        return f"{row['what']:48} {row['seconds']:9.1f} s {said}"
    return f"{row['what']:48} {row['seconds']:9.2f} s   under {row['target']:g} s{more}"


def _filled(words: int, dimensions: int, *, seed: int) -> bb.Embedding:
    """Return the words of a study and of methods among many others, whose vectors are random and lean to a side."""
    rng = np.random.default_rng(seed)
    sets, study = bb.debias.load_debias_words("gender_bolukbasi"), bb.load_study("gender")
    lists = [*sets.definitional, *sets.names, *sets.sides, *sets.equalize, sets.concept, sets.specific]
    asked = [word for some in lists for word in some] + list(study.words)
    known = list(dict.fromkeys([*asked, *(word.lower() for word in asked)]))
    names = [*known, *(f"w{_letters(at)}" for at in range(words - len(known)))]
    vectors = rng.standard_normal((words, dimensions), dtype=np.float32)
    vectors[:, 0] *= 3
    for side, sign in zip(sets.sides or sets.names, (2, -2), strict=False):
        rows = [names.index(word) for word in side]
        vectors[rows, 0] += sign
    return bb.Embedding(names[:words], vectors[:words], name=f"made {seed}")


def _letters(number: int) -> str:
    found = ""
    for _ in range(5):
        number, at = divmod(number, 26)
        found += chr(97 + at)
    return found
