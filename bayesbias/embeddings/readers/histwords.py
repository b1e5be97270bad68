"""Reader of HistWords' files: ``1990-w.npy`` with the vectors, ``1990-vocab.pkl`` with the words beside it.

The vocabulary is a pickle. It is never given to Python's unpickler: its opcodes are listed, and only those of a list of
strings are followed.
"""

import pickletools
import tokenize
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from bayesbias.base.files.inputs import input_file
from bayesbias.base.machine.memory import check_memory
from bayesbias.embeddings.embedding import as_vectors
from bayesbias.embeddings.rows import MOST_DIMENSIONS, Rows, Wanted, check_room, is_wanted
from bayesbias.errors import EmbeddingError, InputFileError, collected_warnings

VECTORS, VOCABULARY = "-w.npy", "-vocab.pkl"
_BYTES_AN_OPCODE = 100
_TEXTS = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE"}
_BYTES = {"SHORT_BINSTRING", "BINSTRING", "STRING", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8"}
_STORES, _FETCHES = {"BINPUT", "LONG_BINPUT", "PUT"}, {"BINGET", "LONG_BINGET", "GET"}
_NOTHING = {"PROTO", "FRAME"}
_MARK = object()
# Raised for damaged headers of arrays.
_DAMAGED = (
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

    Raises
    ------
    InputFileError
        If the vocabulary is not there, or a file is damaged.
    EmbeddingError
        If the vocabulary is not a list of strings, or does not fit the vectors.
    """
    if not path.name.endswith(VECTORS):
        raise EmbeddingError(
            f"{path} is a NumPy array without words. HistWords calls its files YEAR{VECTORS} and YEAR{VOCABULARY}; "
            "otherwise save words and vectors together, with np.savez(path, words=words, vectors=vectors)."
        )
    vocabulary = path.with_name(path.name.removesuffix(VECTORS) + VOCABULARY)
    words = read_vocabulary_pickle(input_file(vocabulary))
    try:
        # NumPy warns of headers that Python 2 wrote, as HistWords' are.
        with collected_warnings(UserWarning):
            matrix = open_memmap(path, mode="r")
    except _DAMAGED as error:
        raise InputFileError(f"{path} is no complete NumPy array ({error}). Download it again.") from error
    shape = matrix.shape
    if matrix.dtype.kind not in "iuf" or len(shape) != 2 or not 1 <= shape[1] <= MOST_DIMENSIONS:
        raise EmbeddingError(
            f"{path} has the type {matrix.dtype} and the shape {shape}; it must be numbers of the shape "
            "(words, dimensions)."
        )
    if shape[0] != len(words):
        raise EmbeddingError(f"{path} has {shape[0]:,} vectors, but {vocabulary.name} has {len(words):,} words.")
    check_room(shape[0], shape[1], wanted, path, bytes_a_number=4 + matrix.dtype.itemsize)
    places = [place for place, word in enumerate(words) if is_wanted(word, wanted)]
    vectors = np.asarray(matrix[places])
    present = np.flatnonzero((vectors != 0).any(axis=1)).tolist() if places else []
    chosen = as_vectors(vectors[present]) if present else np.empty((0, shape[1]), dtype=np.float32)
    return Rows([words[places[row]] for row in present], chosen, [places[row] + 1 for row in present], "row")


def read_vocabulary_pickle(path: Path) -> list[str]:
    """Return the strings of a pickled list, without unpickling.

    Raises
    ------
    EmbeddingError
        If the pickle holds anything but one list of strings.
    InputFileError
        If it is damaged or cut short.
    """
    check_memory(
        path.stat().st_size * _BYTES_AN_OPCODE, f"{path}: the words of a pickle", "Check whether it is a vocabulary."
    )
    stack: list[Any] = []
    memory: dict[int, Any] = {}
    try:
        for opcode, argument, _ in pickletools.genops(path.read_bytes()):
            if opcode.name == "STOP":
                break
            _follow(opcode.name, argument, stack, memory)
    except _OtherContentError as error:
        raise EmbeddingError(
            f"{path} is no vocabulary: it is a pickle that {error}, and only a list of strings is read. It was not "
            "loaded, because a pickle can run any code that its author put in it."
        ) from error
    except (ValueError, IndexError, KeyError, OverflowError, UnicodeError, AttributeError, TypeError) as error:
        raise InputFileError(f"{path} is no complete pickle ({error}). Download it again.") from error
    (content,) = stack if len(stack) == 1 else (None,)
    if not isinstance(content, list) or not content or not all(isinstance(word, str) for word in content):
        raise EmbeddingError(f"{path} is no vocabulary: it is a pickle of something else than a list of strings.")
    return content


class _OtherContentError(Exception):
    """The pickle holds something else than a list of strings."""


def _follow(name: str, argument: Any, stack: list[Any], memory: dict[int, Any]) -> None:
    """Follow one opcode of a list of strings, or raise `_OtherContentError`."""
    if name in _TEXTS:
        stack.append(argument)
    elif name in _BYTES:
        # Strings of Python 2 are bytes, which pickletools shows as Latin-1.
        content = argument.encode("latin-1") if isinstance(argument, str) else argument
        stack.append(content.decode())
    elif name in ("EMPTY_LIST", "MARK"):
        stack.append([] if name == "EMPTY_LIST" else _MARK)
    elif name in ("APPEND", "APPENDS", "LIST"):
        start = len(stack) - 1 if name == "APPEND" else len(stack) - 1 - stack[::-1].index(_MARK)
        words = stack[start:] if name == "APPEND" else stack[start + 1 :]
        del stack[start:]
        if not all(isinstance(word, str) for word in words):
            raise _OtherContentError("holds a list of something else than strings")
        if name == "LIST":
            stack.append(words)
        elif stack and isinstance(stack[-1], list):
            stack[-1].extend(words)
        else:
            raise _OtherContentError("adds to something that is no list")
    elif name in _STORES:
        memory[argument] = stack[-1]
    elif name == "MEMOIZE":
        memory[len(memory)] = stack[-1]
    elif name in _FETCHES:
        stack.append(memory[argument])
    elif name not in _NOTHING:
        raise _OtherContentError(f"has the opcode {name}")
