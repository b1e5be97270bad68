"""The reader of fastText's ``.bin`` files."""

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.files.inputs import open_input
from bayesbias.base.machine import check_memory
from bayesbias.embeddings.rows import (
    BYTES_A_WORD,
    Rows,
    Wanted,
    check_header,
    check_room,
    decode,
    is_wanted,
)
from bayesbias.errors import EmbeddingError, InputFileError, worded

FASTTEXT_MAGIC = struct.pack("<i", 793712314)
_LONGEST_WORD = 10_000
# Of one word; words of 100 letters have 400 by fastText's own settings. More would take the seconds of a hostile file.
_MOST_NGRAMS, _MOST_STEPS = 100_000, 1_000_000
# Of all words: the steps that any file may take, and larger ones one for each byte.
_FEW_STEPS, _SMALL = 4_000_000, 1 << 26
_FNV_BASIS, _FNV_PRIME = 2166136261, 16777619
_BYTES_AN_NGRAM = 100  # as an object, its hash, and the place of its row


def read_fasttext_bin(path: Path, wanted: Wanted) -> Rows:
    """Read a fastText ``.bin`` of an unsupervised model that is not quantised.

    A word's vector is the mean of its own row and of those of its n-grams; only the rows of wanted words are read. The
    file is not mapped into memory: if its owner cut it meanwhile, the system would end the process.
    """
    with open_input(path) as stream:
        layout = _layout(stream, path)
        check_room(len(layout.words), layout.dimensions, wanted, path)
        chosen = [row for row, word in enumerate(layout.words) if is_wanted(word, wanted, row, path)]
        _check_ngrams([layout.words[row] for row in chosen], layout, path)
        file: RawIOBase = cast(Any, stream).raw  # without its buffer, which is larger than a row
        every = range(len(layout.words) + layout.buckets)
        at_once = 4 * len(every) * layout.dimensions <= _SMALL
        matrix = _stored_rows(file, layout, every, path) if at_once else None
        vectors = np.empty((len(chosen), layout.dimensions), dtype=np.float32)
        for place, row in enumerate(chosen):
            hashes = ngram_hashes(layout.words[row], layout.shortest, layout.longest)
            rows = [row, *(len(layout.words) + number % layout.buckets for number in hashes)]
            with np.errstate(over="ignore", invalid="ignore"):  # reported later, with the row
                stored = _stored_rows(file, layout, rows, path) if matrix is None else matrix[rows]
                vectors[place] = stored.mean(axis=0, dtype=np.float64)
    return Rows([layout.words[row] for row in chosen], vectors, [row + 1 for row in chosen], "row")


def ngram_hashes(word: str, shortest: int, longest: int) -> Iterator[int]:
    """Yield the hashes of a word's n-grams of letters, in fastText's order; none if `longest` is 0.

    ``Dictionary::computeSubwords`` and ``Dictionary::hash`` of fastText: FNV-1a, but of signed bytes.

    >>> list(ngram_hashes("a", 3, 6))  # of "<a>"
    [2359087600]
    """
    # A byte from 128 on is negative there, and fills the higher bits.
    letters = [[byte | 0xFFFFFF00 if byte & 0x80 else byte for byte in letter.encode()] for letter in f"<{word}>"]
    for start in range(len(letters)):
        number = _FNV_BASIS
        for length, letter in enumerate(letters[start : start + longest], 1):
            for byte in letter:
                number = (number ^ byte) * _FNV_PRIME & 0xFFFFFFFF
            is_edge = length == 1 and start in (0, len(letters) - 1)
            if length >= shortest and not is_edge:
                yield number


def _stored_rows(file: RawIOBase, layout: "_Layout", rows: Sequence[int], path: Path) -> NDArray[np.float32]:
    """Return some rows of the matrix of words and n-grams, in their order."""
    numbers = np.empty((len(rows), layout.dimensions), dtype="<f4")
    for numbers_of_row, row in zip(numbers, rows, strict=True):
        file.seek(layout.offset + row * numbers.strides[0])
        if file.readinto(numbers_of_row) != numbers.strides[0]:
            raise InputFileError(f"{path} was cut short while it was read. Download or write it again.")
    return numbers


@dataclass(frozen=True)
class _Layout:
    words: list[str]
    dimensions: int
    buckets: int
    shortest: int
    longest: int
    offset: int


def _layout(stream: IO[bytes], path: Path) -> _Layout:
    """Return the layout of a file from its header and words, after checking that the file is complete."""
    size = path.stat().st_size

    def take(layout: str) -> tuple[int, ...]:
        wanted = struct.Struct("<" + layout)
        raw = stream.read(wanted.size)
        if len(raw) < wanted.size:
            raise _cut(path, size)
        return tuple(map(int, wanted.unpack(raw)))

    if stream.read(4) != FASTTEXT_MAGIC:
        raise InputFileError(f"{path} is no fastText .bin file. If it is gzipped, unpack it first (gunzip).")
    # Names and order are those of fastText's Args::save and Dictionary::save.
    _version, dimensions, *_training, buckets, shortest, longest, _rate = take("13i")
    stream.seek(8, 1)  # the sampling threshold, a double
    entries, words, labels, _tokens, pruned = take("3i2q")
    check_header(words, dimensions, str(path))
    if buckets < 0:  # fewer rows than words
        raise EmbeddingError(f"{path}: its header promises {buckets} buckets. It is damaged.")
    if labels or entries != words or pruned > 0:
        raise EmbeddingError(
            f"{path} is a supervised or pruned fastText model. Give a model of words (cbow or skipgram)."
        )
    check_memory(BYTES_A_WORD * min(words, size // 10), f"{path}: its words", "Allow more memory.")
    names = list(_names(stream, path, words, cut=lambda: _cut(path, size)))
    (quantised,) = take("?")
    if quantised:
        raise EmbeddingError(f"{path} is a quantised fastText model (.ftz). Use the .bin or .vec that it came from.")
    offset = _matrix(take, stream, path, expected=(words + buckets, dimensions), size=size)
    take("?")  # whether the output matrix is quantised
    _matrix(take, stream, path, expected=(words, dimensions), size=size)
    if stream.read(1):
        raise EmbeddingError(f"{path}: more bytes follow at byte {stream.tell() - 1}, after the last vector.")
    usable = buckets > 0 and 0 < shortest <= longest
    if longest and not usable:
        raise EmbeddingError(f"{path}: its header promises n-grams of {shortest} to {longest} in {buckets} buckets.")
    return _Layout(names, dimensions, buckets, shortest, longest, offset)


def _check_ngrams(words: list[str], layout: _Layout, path: Path) -> None:
    """Raise an error if words have more n-grams than those of a model, or the rows of a word need too much memory."""
    if not words or not layout.longest:
        return
    longest = max(words, key=len)
    letters = len(longest) + 2  # with the signs of its start and end
    lengths = range(layout.shortest, min(layout.longest, letters) + 1)
    ngrams = sum(letters + 1 - length for length in lengths)
    # Shorter ones than `shortest` are hashed on the way.
    if ngrams > _MOST_NGRAMS or letters * (lengths.stop - 1) > _MOST_STEPS:
        raise EmbeddingError(
            f"{path}: the word {longest[:30]!r}... of {len(longest):,} letters has {ngrams:,} n-grams of "
            f"up to {layout.longest:,} letters. Leave it out: give words without it."
        )
    size = 4 * lengths.stop + _BYTES_AN_NGRAM + 4 * layout.dimensions
    check_memory(ngrams * size, f"{path}: the n-grams of {longest[:30]!r}", "Allow more memory.")
    steps = sum(min(layout.longest, len(word) + 2) * (len(word) + 2) for word in words)
    if steps > max(_FEW_STEPS, path.stat().st_size):
        raise EmbeddingError(
            f"{path}: its {len(words):,} words have {steps:,} n-grams of up to {layout.longest:,} letters, more than "
            f"a file of this size explains. Give words{worded('=[...]', '')}, to read fewer."
        )


def _names(stream: IO[bytes], path: Path, count: int, *, cut: Callable[[], EmbeddingError]) -> Iterator[str]:
    """Yield the words: each ends with a zero byte, followed by its count (8 bytes) and kind (1 byte)."""
    for number in range(count):  # each is 10 bytes or more
        place = stream.tell()
        word = bytearray()
        while (letter := stream.read(1)) != b"\0":
            if not letter:
                raise cut()
            if len(word) == _LONGEST_WORD:
                raise EmbeddingError(f"{path}: word {number + 1} at byte {place} has no end; the file is damaged.")
            word += letter
        if len(stream.read(9)) < 9:
            raise cut()
        yield decode(bytes(word), source=str(path), where=f"of row {number + 1} at byte {place}")


def _matrix(
    take: Callable[[str], tuple[int, ...]],
    stream: IO[bytes],
    path: Path,
    *,
    expected: tuple[int, int],
    size: int,
) -> int:
    """Return the byte at which the numbers of a matrix begin, after checking its shape; move past the matrix."""
    place = stream.tell()
    shape = take("2q")
    if shape != expected:
        raise EmbeddingError(
            f"{path}: at byte {place} there is a matrix of the shape {shape}; the header promises "
            f"{expected}. It is damaged, or of a kind of model that cannot be read."
        )
    offset = stream.tell()
    if offset + 4 * shape[0] * shape[1] > size:
        raise _cut(path, size)
    stream.seek(4 * shape[0] * shape[1], 1)
    return offset


def _cut(path: Path, size: int) -> EmbeddingError:
    return EmbeddingError(
        f"{path} ends at byte {size}, before the end that its header promises. Download or write it again."
    )
