"""Embeddings of several periods from a folder: a file or a folder a period."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesbias.base.checks import check_path
from bayesbias.base.files.inputs import printable
from bayesbias.base.number_text import counted
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import file_stem, load_embedding
from bayesbias.embeddings.readers.histwords import VECTORS
from bayesbias.embeddings.vocabularies import Case
from bayesbias.errors import InputFileError, name_some

_ENDINGS = (".npz", ".txt", ".vec", ".bin", ".gz", ".kv", ".model")
_NUMBER = re.compile(r"\d+")


def load_periods(
    folder: str | os.PathLike[str],
    *,
    words: Iterable[str] | None = None,
    case: Case = "exact",
    prefix: str = "",
    suffix: str = "",
) -> dict[str, Embedding]:
    """Load the embeddings of several periods from a folder, in the order of time.

    Parameters
    ----------
    folder
        A folder with a file per period: ``1900-w.npy`` with ``1900-vocab.pkl`` (HistWords), ``1900.npz``, or any other
        file of `load_embedding`; or with a folder a period that holds one such file. Names have numbers, by which they
        are ordered, and a period is called by its only number, or else by the name.
    words, case, prefix, suffix
        As for `load_embedding`.

    Returns
    -------
    dict
        Period -> `Embedding`.

    Raises
    ------
    InputFileError
        If the folder holds fewer than two embeddings, a name has no number, or two periods have the same number.
    EmbeddingError, LostWordsError
        As by `load_embedding`.

    References
    ----------
    Hamilton, Leskovec and Jurafsky (2016), Diachronic word embeddings reveal statistical laws of semantic change, ACL,
    published the vectors by decade called HistWords. A word that a decade lacks has the vector 0 there.

    Examples
    --------
    >>> vectors = bb.embeddings.load_periods(bb.bundled("data", "vectors", "planted_drift"))
    >>> list(vectors), vectors["1990"].name
    (['1950', '1960', '1970', '1980', '1990'], '1990')
    """
    files = period_files(folder)
    words = None if words is None else list(words)
    look_up: dict[str, Any] = {"words": words, "case": case, "prefix": prefix, "suffix": suffix}
    return {period: load_embedding(path, name=period, **look_up) for period, path in files.items()}


def period_files(folder: str | os.PathLike[str]) -> Mapping[str, Path]:
    """Return the file of each period, in the order of time."""
    place = check_path(folder, "folder")
    if not place.is_dir():
        raise InputFileError(f"{place} is no folder. Give one with a file or a folder a period, such as 1900.npz.")
    files: dict[str, Path] = {}
    for entry in sorted(place.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            inside = [path for path in sorted(entry.iterdir()) if _is_embedding(path)]
            if len(inside) > 1:
                raise InputFileError(
                    f"{entry} holds {len(inside)} embeddings ({name_some([path.name for path in inside], 3)}); the "
                    "folder of a period holds one."
                )
            files |= {printable(entry.name): path for path in inside}
        elif _is_embedding(entry):
            files[_period_name(entry)] = entry
    if len(files) < 2:
        raise InputFileError(
            f"{place} holds {counted(len(files), 'embedding')}, and at least two periods are needed: files such as "
            f"1900.npz or 1900{VECTORS}, or a folder for each period."
        )
    numbers = {name: tuple(map(int, _NUMBER.findall(name))) for name in files}
    if without := [name for name, parts in numbers.items() if not parts]:
        raise InputFileError(
            f"{place}: {name_some(without)} have no number in their names, so the order of the periods is not clear. "
            "Rename them, or give a mapping of periods to files in the order of time."
        )
    if len(set(numbers.values())) < len(numbers):
        raise InputFileError(f"{place}: several of {name_some(files)} have the same numbers. Keep one file per period.")
    single = all(len(parts) == 1 for parts in numbers.values())
    ordered = sorted(files, key=numbers.__getitem__)
    return {str(numbers[name][0]) if single else name: files[name] for name in ordered}


def periods_of(paths: Sequence[Path]) -> Path | dict[str, Path]:
    """Return the only path, a folder, or files of periods by their names without endings, in their order."""
    if len(paths) == 1:
        return paths[0]
    files: dict[str, Path] = {}
    for path in paths:
        name = file_stem(path).removesuffix(".csv").removesuffix(".parquet")
        if name in files:
            raise InputFileError(f"{files[name]} and {path} have the same name. Give each period a name of its own.")
        files[name] = path
    return files


def _is_embedding(path: Path) -> bool:
    return path.is_file() and (path.name.endswith(VECTORS) or path.suffix in _ENDINGS)


def _period_name(path: Path) -> str:
    return printable(path.name.removesuffix(VECTORS)) if path.name.endswith(VECTORS) else file_stem(path)
