"""Small files that become large, or say so: arrays, frames and packed texts, read where there is little memory."""

import gzip
import io
import math
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow
from pyarrow import parquet

import bayesbias as bb
from bayesbias.base import machine as memory
from bayesbias.embeddings.training.corpus import read_corpus
from tests.base.files.bombs import DIMENSIONS, PACKINGS, READERS, lying_gzip, with_header
from tests.fuzz.mutations import mutated
from tests.fuzz.storages import one_of

Generator = np.random.Generator
_FREE = 50_000_000
_MOST = 400_000_000  # more than this, and a reader took what there was not


def in_little_memory(read: Callable[[Path], object], path: Path) -> object:
    """Read a path where little memory is free; raise `AssertionError` if reading takes much."""
    before = _peak()
    with patch.object(memory, "free_memory", lambda: _FREE):
        try:
            return read(path)
        finally:
            if (took := _peak() - before) > _MOST:
                raise AssertionError(f"took {took / 1e6:,.0f} MB")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


# --- arrays -----------------------------------------------------------------------------------------------

_TYPES = (
    *("<f4", "<f8", ">f8", "<f2", "<i8", "<u1", "|b1", "<c16", "|O", "|V100000", "<U9", "<U0", "<U9000000", "|S9"),
    "<M8[s]",
)


def bomb_of_arrays(rng: Generator) -> bytes:
    """Return the name of an array, and arrays whose headers and sizes say anything."""
    name, stream = one_of(rng, READERS), io.BytesIO()
    for other in dict.fromkeys([name, *(one_of(rng, (*READERS, "vectors")) for _ in range(int(rng.integers(3))))]):
        dtype = READERS[other][0] if rng.random() < 0.6 and other in READERS else one_of(rng, _TYPES)
        dimensions = DIMENSIONS.get(other, 1) if rng.random() < 0.8 else int(rng.integers(5))
        sizes = (0, 1, 3, 1000, 10**6, 10**9, 10**12, 2**31, 2**62, 2**63, -1, 10**30)
        shape = tuple(int(one_of(rng, sizes)) for _ in range(dimensions))
        content = bytes(int(one_of(rng, (0, 12, 4000, 10**6, 10**6, 150 * 10**6))) if rng.random() < 0.5 else 36)
        if rng.random() < 0.5 and 0 <= (right := math.prod(shape) * np.dtype(dtype).itemsize) < 10**8:
            content = bytes(right)
        with_header(stream, shape, dtype, content, other)
    content, size = stream.getvalue(), int(rng.integers(2**32)).to_bytes(4, "little")
    if rng.random() < 0.2:  # what the archive says of a size
        at = content.rindex(b"PK\1\2") + int(one_of(rng, (20, 24)))
        content = content[:at] + size + content[at + 4 :]
    return name.encode() + b"\n" + (mutated(content, rng) if rng.random() < 0.2 else content)


def arrays_read_by_name(path: Path) -> object:
    """Read the archive after the first line with the reader of the array that the line names."""
    name, content = path.read_bytes().split(b"\n", 1)
    place = path.with_name("a_seed1.npz")
    place.write_bytes(content)
    return str(in_little_memory(READERS[name.decode()][1], place))[:100]


# --- frames -----------------------------------------------------------------------------------------------


def _column(rng: Generator, rows: int) -> pyarrow.Array:
    text = pyarrow.array(["x" * int(one_of(rng, (1, 1000, 100_000)))] * min(rows, 500))
    few = min(rows, 500)
    kinds: list[Callable[[], pyarrow.Array]] = [
        lambda: pyarrow.array(["he"]).take(pyarrow.array(np.zeros(rows, dtype=np.int32))),
        lambda: pyarrow.array(np.zeros(rows)),
        lambda: pyarrow.nulls(rows),
        lambda: pyarrow.array(["he"]).dictionary_encode().take(pyarrow.array(np.zeros(rows, dtype=np.int32))),
        lambda: text,
        lambda: text.dictionary_encode(),
        lambda: pyarrow.array([["x" * 1000] * 10] * few),
        lambda: pyarrow.array([{"a": "x" * 1000}] * few),
        lambda: pyarrow.array([[[[]]]] * few),
        lambda: pyarrow.array([[("a", 1)]] * few, pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        lambda: pyarrow.array([b"x" * 10_000] * few, pyarrow.binary(10_000)),
        lambda: pyarrow.array([1] * few).cast(pyarrow.decimal128(30, 2)),
        lambda: pyarrow.array([0] * few, pyarrow.timestamp("s")),
    ]
    return one_of(rng, kinds)()


def bomb_of_rows(rng: Generator) -> bytes:
    """Return a Parquet file of columns of any kind, with up to a million rows; at times damaged."""
    rows = int(one_of(rng, (0, 1, 100, 500, 50_000, 1_000_000)))
    names = ("protected_word", "attribute_word", "cosine_distance", "connection", "a", "", "x" * 5000)
    columns = {one_of(rng, names): _column(rng, rows) for _ in range(int(rng.integers(1, 6)))}
    shortest = min(map(len, columns.values()))
    table = pyarrow.table({name: column.slice(0, shortest) for name, column in columns.items()})
    metadata = one_of(
        rng, (None, {"bayesbias": "{}"}, {"bayesbias": "\0"}, {"pandas": "{}"}, {"ARROW:schema": "eHh4eA=="})
    )
    stream = io.BytesIO()
    parquet.write_table(
        table.replace_schema_metadata(metadata),
        stream,
        compression=one_of(rng, ("snappy", "zstd", "gzip", "none", "brotli", "lz4")),
        use_dictionary=bool(rng.random() < 0.5),
        row_group_size=int(one_of(rng, (1000, 100_000, 1_000_000))),
        data_page_version=one_of(rng, ("1.0", "2.0")),
        write_page_checksum=bool(rng.random() < 0.5),
    )
    return mutated(stream.getvalue(), rng) if rng.random() < 0.3 else stream.getvalue()


def rows_of(path: Path) -> object:
    """Read a table where there is little memory."""
    return len(in_little_memory(bb.read_table, path))  # type: ignore[arg-type]


# --- packed texts -----------------------------------------------------------------------------------------

_READERS_OF_TEXT: dict[str, Callable[[Path], object]] = {
    "glove.txt": bb.load_embedding,
    "table.csv": bb.read_table,
    "corpus.txt": lambda path: read_corpus(path, min_count=1).facts(),
    "pairs.csv": bb.nli.read_pairs,
    "norms.csv": bb.asymmetry.read_evocation,
    "relations.csv": bb.asymmetry.read_relations,
    "study.toml": bb.load_study,
}
_PIECES = (
    *(b"he 1 2 3\n", b"a,b\n", b"\n", b"x", b"\0", b",", b'"', b"1\n", b"a.", b"cue,response,count\nhe,she,3\n"),
    b"\r",
)


def bomb_of_text(rng: Generator) -> bytes:
    """Return the name of a file, and a text that repeats, packed in any way, perhaps twice."""
    name, piece = one_of(rng, _READERS_OF_TEXT), one_of(rng, _PIECES)
    # A corpus is read line by line, whatever its size.
    sizes = (10, 1000, 100_000, 1_000_000 if name == "corpus.txt" else 20_000_000)
    text = piece * (int(one_of(rng, sizes)) // len(piece))
    for _ in range(int(rng.integers(1, 3))):
        # The slow ways pack what is small, and what was packed.
        ways = [*PACKINGS.values(), lying_gzip, bytes] if len(text) < 10**6 else [lambda given: gzip.compress(given, 1)]
        text = one_of(rng, ways)(text)
    content = mutated(text, rng) if rng.random() < 0.2 else text
    return f"{name}\n".encode() + content


def text_of(path: Path) -> object:
    """Read the text after the first line, as the file that the line names."""
    name, content = path.read_bytes().split(b"\n", 1)
    place = path.with_name(name.decode())
    place.write_bytes(content)
    return str(in_little_memory(_READERS_OF_TEXT[name.decode()], place))[:100]
