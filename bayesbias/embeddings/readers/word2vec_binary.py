"""Reader of word2vec binary files."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import normalized
from bayesbias.base.files.inputs import check_sealed_file, is_packed, open_content
from bayesbias.embeddings.readers.text import parse_header
from bayesbias.embeddings.rows import BYTES_A_WORD, Rows, Wanted, check_header, check_room, decode, row_allowance
from bayesbias.errors import EmbeddingError

_CHUNK = 1 << 20
_LONGEST_WORD = 10_000
_SAMPLE = 1000  # rows whose numbers show the order of their bytes
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

        words: list[str] = []
        places: list[int] = []
        data = bytearray()
        width, allowance = 4 * dimensions, row_allowance(path)
        # `buffer` begins at byte `start` of the file; the next row begins at `position` in it.
        buffer, start, position, row = b"", len(line), 0, 0
        line_ends = False  # whether rows begin after a line end
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
                word_start = position + line_ends
                try:
                    word = buffer[word_start:space].decode()
                except UnicodeDecodeError:
                    place = f"of row {row + 1} at byte {start + word_start}"
                    word = decode(buffer[word_start:space], source=source, where=place)
                if (
                    wanted is None
                    or (word if word.isascii() else normalized(word, where=f"{source}, row {row + 1}: ")) in wanted
                ):
                    allowance.take(width + BYTES_A_WORD + len(word))
                    words.append(word)
                    places.append(start + word_start)
                    data += buffer[space + 1 : end]
                position = end
                row += 1
            if row < count and (not more or (space < 0 and size - position >= _LONGEST_WORD)):
                raise _stop(source, row, count, position=start + position, ended=not more)
        # Reading past the end makes a decompressor check its data.
        trailing = buffer[position:] + stream.read(_CHUNK)
        _check_trailing(source, trailing.removesuffix(seal), count, position=start + position, line_ends=line_ends)
    vectors = np.frombuffer(data, dtype="<f4").reshape(len(words), dimensions)
    _check_byte_order(source, vectors[:_SAMPLE])
    return Rows(words, vectors, places, "byte")


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
