"""Lists of target words and queries, bundled from the literature or from TOML files."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesbias.base.checks import check_type
from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.base.number_text import counted
from bayesbias.errors import MeasureError, did_you_mean
from bayesbias.metrics.look_up import checked_words

Queries = Mapping[str, Sequence[str]] | str | os.PathLike[str]


def load_target_words(name: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return a list of target words, bundled or from a file.

    Parameters
    ----------
    name
        ``"occ16"``, 320 occupation words of Bolukbasi et al. (2016), some of them phrases such as
        ``assistant_professor``; ``"occ18"``, 76 occupation words, or ``"adj"``, 230 adjectives of Garg et al. (2018).
        Or the path of a TOML file (text that ends in ``.toml`` is a path) with ``words = ["nurse", ...]``.

    Raises
    ------
    MeasureError
        If there is no such list, or the file has no list of words.
    InputFileError
        If the file cannot be read.

    Notes
    -----
    The paper's fourth list, Google10K, is not bundled: its source allows educational, personal and research use only.
    It is at github.com/first20hours/google-10000-english, ``google-10000-english.txt``, with one word per line.

    References
    ----------
    Du, Fang and Nguyen (2021), section 5.1 and appendix A.2.

    Examples
    --------
    >>> [len(bb.reliability.load_target_words(name)) for name in ("occ16", "occ18", "adj")]
    [320, 76, 230]
    """
    path = _path(name, "words", "target words")
    document = read_toml(path, MeasureError)
    words = checked_words(f"{path}: words", document.get("words"))
    if not words:
        raise MeasureError(f'{path} has no words. Write them as words = ["nurse", ...].')
    return words


def load_queries(name: str | os.PathLike[str] = "gender") -> dict[str, tuple[str, ...]]:
    """Return queries, bundled or from a file: lists of words by the name of the concept that they represent.

    Parameters
    ----------
    name
        ``"gender"``: career, family, arts, arts_2, math and science, of eight words each. Or the path of a TOML file
        (text that ends in ``.toml`` is a path) with a table ``[queries]`` of lists, such as ``pets = ["cat", "dog"]``.

    Raises
    ------
    MeasureError
        If there are no such queries, or one has fewer than two words.
    InputFileError
        If the file cannot be read.

    References
    ----------
    Du, Fang and Nguyen (2021), appendix A.3, after Caliskan, Bryson and Narayanan (2017).

    Examples
    --------
    >>> bb.reliability.load_queries()["math"][:3]
    ('math', 'algebra', 'geometry')
    """
    path = _path(name, "queries", "queries")
    return checked_queries(read_toml(path, MeasureError).get("queries"), f"{path}: ")


def as_queries(queries: Queries) -> dict[str, tuple[str, ...]]:
    """Return queries, given as lists of words or as a name or file."""
    if isinstance(queries, str | os.PathLike):
        return load_queries(queries)
    return checked_queries(queries, "")


def checked_queries(queries: Any, where: str) -> dict[str, tuple[str, ...]]:
    """Return queries; raise `MeasureError` unless each has two or more different words. Messages begin with `where`."""
    if not isinstance(queries, Mapping) or not queries or not all(isinstance(name, str) for name in queries):
        raise MeasureError(
            f"{where}queries={queries!r}: give lists of words by name, such as {{'math': ['algebra', 'geometry']}}; "
            'in a TOML file below [queries], as math = ["algebra", "geometry"].'
        )
    checked = {name: checked_words(f"{where}The query {name!r}", words) for name, words in queries.items()}
    for name, words in checked.items():
        if len(words) < 2 or len(set(words)) < len(words):
            raise MeasureError(
                f"{where}The query {name!r} has {counted(len(words), 'word')}, {len(set(words))} of them different. "
                "Give two or more, each once."
            )
    return checked


def _path(name: str | os.PathLike[str], kind: str, what: str) -> Path:
    """Return the path of a bundled list, or the given path."""
    check_type("name", name, (str, os.PathLike), f"the name of {what}, or the path of a TOML file")
    if isinstance(name, os.PathLike) or name.endswith(".toml"):
        return Path(name)
    bundled_names = sorted(path.stem for path in bundled("data", "reliability", kind).glob("*.toml"))
    if name not in bundled_names:
        raise MeasureError(
            f"There are no {what} {name!r}{did_you_mean(name, bundled_names)}. Give the name of a bundled list "
            f"({', '.join(bundled_names)}) or the path of a TOML file."
        )
    return bundled("data", "reliability", kind, f"{name}.toml")
