"""Reader of word2vec binary files."""

import re
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import normalized
from bayesbias.base.files.inputs import check_sealed_file, is_packed, open_content
from bayesbias.embeddings.readers.text import parse_header
from bayesbias.embeddings.rows import (
    KeptRows,
    Rows,
    SkippedRows,
    Wanted,
    check_header,
    check_room,
    decode,
)
from bayesbias.errors import EmbeddingError

_CHUNK = 1 << 20
_LONGEST_WORD = 10_000
_SAMPLE = 1000  # rows whose numbers show the order of their bytes
_ODD_LETTER = re.compile(rb"[\0-\x1f\x7f]")
_LETTERS = re.compile(rb"([!-~\x80-\xff]{1,40}) ")
_MOST_UNUSUAL = 0.2  # of the numbers of a vector, if its word was read to its end
_USUAL = 1e-12, 1e12  # numbers whose bytes are in the wrong order have exponents of all sizes


def read_word2vec_binary(path: Path, wanted: Wanted) -> Rows:
    """Read word2vec binary: a line ``words dimensions``; then each word, a space and its float32 numbers.

    Vectors may end with a line end, as from Google's tool, or without, as from gensim.

    Raises `EmbeddingError` if the file has another format, is cut short, or has bytes after its last row other than our
    checksum. Raises `InputFileError` if the checksum does not match the content.
    """
    source = str(path)
    seal = check_sealed_file(path)
    with open_content(path) as stream:
        line = stream.readline(100)
        header = parse_header(line)
        if header is None or not line.endswith(b"\n"):
            raise EmbeddingError(
                f"{source}: its first line begins {line[:40]!r}, not two whole numbers (words and "
                "dimensions), so it is no word2vec file, or it is cut short."
            )
        count, dimensions = header
        check_header(count, dimensions, source)
        _check_size(path, count, dimensions, len(line))
        check_room(count, dimensions, wanted, path)

        width, wanted_rows = 4 * dimensions, KeptRows(path, dimensions, "byte")
        # `buffer` begins at byte `start` of the file; the next row begins at `position` in it.
        buffer, start, position, row = b"", len(line), 0, 0
        line_ends = False  # whether rows begin after a line end
        skipped = SkippedRows(source)
        # Of the row before: its buffer, the first byte of that, where its word begins and ends, where its row ends.
        previous = b"", 0, 0, 0, 0
        ended_rows, not_ended = 0, None  # rows with a line end, and the first row without one
        while row < count:
            more = stream.read(_CHUNK)
            start += position
            buffer = buffer[position:] + more
            position, size, find = 0, len(buffer), buffer.find
            while row < count:
                space = find(b" ", position, position + _LONGEST_WORD)
                end = space + 1 + width
                if space < 0 or end > size:
                    break
                line_ends = buffer[position] == 10
                ended_rows += line_ends
                if row and not line_ends and not_ended is None:
                    not_ended = previous
                word_start = position + line_ends
                word: str | None
                try:
                    word = buffer[word_start:space].decode()
                except UnicodeDecodeError:
                    word = ""
                if not word or _ODD_LETTER.search(buffer, word_start, space):
                    try:
                        _check_word_before(source, *previous)
                    except EmbeddingError:  # an earlier row may be the first that was cut
                        _check_words_end(source, wanted_rows.rows())
                        raise
                    try:
                        word = decode(
                            buffer[word_start:space],
                            source=source,
                            where=f"of row {row + 1} at byte {start + word_start}",
                        )
                    except EmbeddingError as error:
                        skipped.add(error)
                        word = None
                previous = buffer, start, word_start, space, end
                if word is not None and (
                    wanted is None
                    or (word if word.isascii() else normalized(word, where=f"{source}, row {row + 1}: ")) in wanted
                ):
                    wanted_rows.add(word, start + word_start, buffer[space + 1 : end])
                position = end
                row += 1
            if row < count and (not more or (space < 0 and size - position >= _LONGEST_WORD)):
                raise _stop(source, row, count, position=start + position, ended=not more)
        if not_ended is not None and 2 * ended_rows > count:
            cut, first, begin, stop, end = not_ended
            raise _space_in_word(source, cut[begin:stop].decode(errors="replace"), cut[stop + 1 : end], first + begin)
        skipped.settle(count)
        rows = wanted_rows.rows()
        _check_words_end(source, rows)
        # Reading past the end makes a decompressor check its data.
        trailing = buffer[position:] + stream.read(_CHUNK)
        _check_trailing(source, trailing.removesuffix(seal), count, position=start + position, line_ends=line_ends)
    _check_byte_order(source, rows.vectors[:_SAMPLE])
    return rows


def _check_size(path: Path, count: int, dimensions: int, header: int) -> None:
    """Raise `EmbeddingError` if a file is too short for its header."""
    if is_packed(path):
        return
    least, size = header + count * (4 * dimensions + 1), path.stat().st_size
    if size < least:
        raise EmbeddingError(
            f"{path}: the header promises {count} words of {dimensions} dimensions, at least {least} bytes, "
            f"but the file has {size}. It is cut short, or its header is wrong. Download or write it again."
        )


def _check_byte_order(source: str, vectors: NDArray[np.float32]) -> None:
    """Raise `EmbeddingError` if the numbers make sense only with their bytes in the other order."""
    if _usual_share(vectors) < 0.5 and _usual_share(vectors.view(">f4")) > 0.9:
        raise EmbeddingError(
            f"{source}: its numbers are big-endian: the first of their four bytes is the most significant one. Write "
            'the file again on a machine of today, or turn its numbers round with numpy.frombuffer(..., ">f4").'
        )


def _check_word_before(source: str, buffer: bytes, start: int, word_start: int, space: int, end: int) -> None:
    """Raise `EmbeddingError` if the numbers of a row are none, because its word was longer: it held a space."""
    vector = np.frombuffer(buffer[space + 1 : end], dtype="<f4")
    if len(vector) and _unusual_share(vector[np.newaxis])[0]:
        word = buffer[word_start:space].decode("utf-8", "backslashreplace")
        raise _space_in_word(source, word, buffer[space + 1 : end], start + word_start)


def _check_words_end(source: str, rows: Rows) -> None:
    """Raise `EmbeddingError` for the first word with numbers that are none, among rows whose numbers are."""
    vectors = rows.vectors
    for first in range(0, len(vectors), _SAMPLE):
        shares = _unusual_share(vectors[first : first + _SAMPLE])
        # Letters that are read as a number make a huge one; three letters and a space a tiny one, at the beginning.
        huge = (np.abs(vectors[first : first + _SAMPLE]) > _USUAL[1]) & np.isfinite(vectors[first : first + _SAMPLE])
        tiny = _unusual_share(vectors[first : first + _SAMPLE, :1]) > 0
        odd = np.flatnonzero((shares > _MOST_UNUSUAL) | huge.any(axis=1) | tiny)
        if len(odd) and 2 * len(odd) < len(shares):
            row = first + odd[0]
            raise _space_in_word(source, rows.words[row], vectors[row].tobytes(), rows.places[row])


def _unusual_share(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return for each vector the share of finite numbers of a size that components of vectors do not have."""
    with np.errstate(invalid="ignore"):  # of NaNs
        sizes = np.abs(vectors.astype(np.float64))
    unusual = np.isfinite(sizes) & (sizes != 0) & ((sizes < _USUAL[0]) | (sizes > _USUAL[1]))
    return np.asarray(unusual.mean(axis=1), dtype=np.float64)


def _space_in_word(source: str, word: str, following: bytes, place: int) -> EmbeddingError:
    """Return the error of a word that ended at a space within it, with the letters that follow up to the next space."""
    if letters := _LETTERS.match(following):
        with suppress(UnicodeDecodeError):
            word = f"{word} {letters[1].decode()}"
    return EmbeddingError(
        f"{source}: the vector of {word!r} at byte {place} is not made of numbers: a word that begins with {word!r} "
        "seems to hold a space, at which this format ends words. Write the file again with underscores in place of "
        "spaces, or as .npz."
    )


def _usual_share(vectors: NDArray[np.float32]) -> float:
    """Return the share of the numbers that are 0 or of a size which components of vectors have."""
    sizes = np.abs(np.nan_to_num(vectors.astype(np.float64), nan=np.inf))
    return float(((sizes == 0) | ((sizes > _USUAL[0]) & (sizes < _USUAL[1]))).mean()) if vectors.size else 1.0


def _stop(source: str, row: int, count: int, *, position: int, ended: bool) -> EmbeddingError:
    if ended:
        return EmbeddingError(
            f"{source} ends within row {row + 1}, which begins at byte {position}; the header promises {count} "
            "words. It is cut short, or its header is wrong. Download or write it again."
        )
    return EmbeddingError(
        f"{source}: the word of row {row + 1} at byte {position} has no end within {_LONGEST_WORD} bytes. The file "
        "is damaged, its header is wrong, or it is in another format."
    )


def _check_trailing(source: str, trailing: bytes, count: int, *, position: int, line_ends: bool) -> None:
    if line_ends and not trailing:
        raise EmbeddingError(
            f"{source} ends at byte {position} without the line end of its other rows: it is cut short. Download or "
            "write it again."
        )
    if trailing not in (b"", b"\n"):
        raise EmbeddingError(
            f"{source}: more bytes follow at byte {position}, after the last of the {count} words that the header "
            "promises. The header is wrong, or the file is damaged."
        )
