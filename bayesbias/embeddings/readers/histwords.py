"""Reader of HistWords' files: ``1990-w.npy`` with the vectors, ``1990-vocab.pkl`` with the words beside it.

The vocabulary is a pickle. It is never given to Python's unpickler: its opcodes are listed, and only those of a list of
strings are followed.
"""

import pickletools
import tokenize
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from bayesbias.base.files.inputs import MemoryCost, input_file, open_input, read_content
from bayesbias.base.files.stored_arrays import StoredArray
from bayesbias.embeddings.embedding import as_vectors
from bayesbias.embeddings.rows import MOST_DIMENSIONS, Rows, Wanted, check_room, is_wanted
from bayesbias.errors import EmbeddingError, InputFileError, collected_warnings

VECTORS, VOCABULARY = "-w.npy", "-vocab.pkl"
_OPCODES = MemoryCost(100)
_TEXTS = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE"}
_BYTES = {"SHORT_BINSTRING", "BINSTRING", "STRING", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8"}
_STORES, _FETCHES = {"BINPUT", "LONG_BINPUT", "PUT"}, {"BINGET", "LONG_BINGET", "GET"}
_NOTHING = {"PROTO", "FRAME"}
_LONGEST_WORD = 10_000
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# Raised for damaged headers of arrays.
_DAMAGED = (
    KeyError,
    ValueError,
    EOFError,
    SyntaxError,
    TypeError,
    OverflowError,
    MemoryError,
    RecursionError,
    tokenize.TokenError,
)


def read_histwords(path: Path, wanted: Wanted) -> Rows:
    """Read the vectors of one period and its vocabulary; words whose vectors are 0 are those that the period lacks.

    Raises `InputFileError` if the vocabulary is not there, or a file is damaged. Raises `EmbeddingError` if the
    vocabulary is not a list of strings, or does not fit the vectors.
    """
    if not path.name.endswith(VECTORS):
        raise EmbeddingError(
            f"{path} is a NumPy array without words. HistWords calls its files YEAR{VECTORS} and YEAR{VOCABULARY}; "
            "otherwise save words and vectors together, with np.savez(path, words=words, vectors=vectors)."
        )
    vocabulary = path.with_name(path.name.removesuffix(VECTORS) + VOCABULARY)
    words = read_vocabulary_pickle(input_file(vocabulary))
    with open_input(path) as stream:
        matrix = _matrix(stream, path)
        if matrix.shape[0] != len(words):
            raise EmbeddingError(
                f"{path} has {matrix.shape[0]:,} vectors, but {vocabulary.name} has {len(words):,} words."
            )
        check_room(len(words), matrix.shape[1], wanted, path, bytes_a_number=4 + matrix.dtype.itemsize)
        places = [place for place, word in enumerate(words) if is_wanted(word, wanted, place, vocabulary)]
        try:
            vectors = matrix.chosen(np.array(places, dtype=np.intp))
        except EOFError as error:
            raise _incomplete(path, error) from error
    present = np.flatnonzero((vectors != 0).any(axis=1)).tolist()
    chosen = as_vectors(vectors[present]) if present else np.empty((0, matrix.shape[1]), dtype=np.float32)
    return Rows([words[places[row]] for row in present], chosen, [places[row] + 1 for row in present], "row")


def _matrix(stream: BinaryIO, path: Path) -> StoredArray:
    """Return the matrix in a file of NumPy, of which only the rows that are used are kept.

    It is not mapped into memory: if the owner of the file cut it meanwhile, the system would end the process.
    """
    try:
        # NumPy warns of headers that Python 2 wrote, as HistWords' are.
        with collected_warnings(UserWarning):
            shape, is_fortran, dtype = _HEADERS[npy.read_magic(stream)](stream)
        if dtype.hasobject:
            raise ValueError("it holds Python objects, which are a pickle")
    except _DAMAGED as error:
        raise _incomplete(path, error) from error
    if dtype.kind not in "iuf" or len(shape) != 2 or not 1 <= shape[1] <= MOST_DIMENSIONS:
        raise EmbeddingError(
            f"{path} has the type {dtype} and the shape {shape}; it must be numbers of the shape (words, dimensions)."
        )
    return StoredArray(stream, dtype, shape, is_fortran, str(path))


def _incomplete(path: Path, error: BaseException) -> InputFileError:
    return InputFileError(f"{path} is no complete NumPy array ({error}). Download it again.")


def read_vocabulary_pickle(path: Path) -> list[str]:
    """Return the strings of a pickled list, without unpickling.

    Raises `EmbeddingError` if the pickle holds anything but one list of strings. Raises `InputFileError` if it is
    damaged or cut short.
    """
    pickled = read_content(path, _OPCODES)
    stacks: list[list[Any]] = [[]]
    memory: dict[int, Any] = {}
    try:
        for opcode, argument, _ in pickletools.genops(pickled):
            if opcode.name == "STOP":
                break
            _follow(opcode.name, argument, stacks, memory)
    except _OtherContentError as error:
        raise EmbeddingError(
            f"{path} is no vocabulary: it is a pickle that {error}, and only a list of strings is read. It was not "
            "loaded, because a pickle can run any code that its author put in it."
        ) from error
    except (ValueError, IndexError, KeyError, OverflowError, UnicodeError, AttributeError, TypeError) as error:
        raise InputFileError(f"{path} is no complete pickle ({error}). Download it again.") from error
    (content,) = stacks[0] if len(stacks) == len(stacks[0]) == 1 else (None,)
    if not isinstance(content, list) or not content or not all(isinstance(word, str) for word in content):
        raise EmbeddingError(f"{path} is no vocabulary: it is a pickle of something else than a list of strings.")
    return content


class _OtherContentError(Exception):
    """The pickle holds something else than a list of strings."""


def _follow(name: str, argument: Any, stacks: list[list[Any]], memory: dict[int, Any]) -> None:
    """Follow one opcode of a list of strings, or raise `_OtherContentError`; a mark begins the last of the stacks."""
    stack = stacks[-1]
    if name in _TEXTS:
        stack.append(_word(argument))
    elif name in _BYTES:
        # Strings of Python 2 are bytes, which pickletools shows as Latin-1.
        content = argument.encode("latin-1") if isinstance(argument, str) else argument
        stack.append(_word(content.decode()))
    elif name == "EMPTY_LIST":
        stack.append([])
    elif name == "MARK":
        stacks.append([])
    elif name == "LIST":
        words = _strings(stacks.pop())
        stacks[-1].append(words)
    elif name in ("APPEND", "APPENDS"):
        words = _strings([stack.pop()] if name == "APPEND" else stacks.pop())
        target = stacks[-1][-1] if stacks[-1] else None
        if not isinstance(target, list):
            raise _OtherContentError("adds to something that is no list")
        target.extend(words)
    elif name in _STORES:
        memory[argument] = stack[-1]
    elif name == "MEMOIZE":
        memory[len(memory)] = stack[-1]
    elif name in _FETCHES:
        stack.append(memory[argument])
    elif name not in _NOTHING:
        raise _OtherContentError(f"has the opcode {name}")


def _word(text: str) -> str:
    if len(text) > _LONGEST_WORD:
        raise _OtherContentError(f"holds a word of {len(text):,} characters")
    return text


def _strings(values: list[Any]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise _OtherContentError("holds a list of something else than strings")
    return values
