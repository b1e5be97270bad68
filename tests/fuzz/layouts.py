"""Hostile files as people write them: vectors, word lists and numbers of words as CSV."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import bayesbias as bb
from bayesbias.base.files.spreadsheets import numbers_only, read_csv
from bayesbias.base.files.word_lists import read_word_lists
from bayesbias.metrics.intrinsic.quality import read_words
from bayesbias.models.covariates import read_covariates, with_covariates
from bayesbias.models.data import model_data
from tests.fuzz.mutations import mutated
from tests.fuzz.sound import VECTORS, small_table
from tests.fuzz.storages import one_of

Generator = np.random.Generator
_CELLS = (
    *("", " ", '"', '""', '"a', "a\rb", "a\0b", "\ufeff", "#", "word", "Word", "1", "1_0", "1,5", "-", "nan", "1e999"),
    *("12%", "1,000", "1.000,5", "\u202e", "\x85", "x" * 140_000, "é", "\udcff", "=1+1", "he", "list", "١"),
)
_DELIMITERS = (",", ";", "\t", " ", "  ", ", ", "|")
_ENDS = ("\n", "\r\n", "\n", "\r", "\n\n", "", " ", "1", "\n \n")


def _written(rows: list[list[str]], rng: Generator) -> bytes:
    """Return rows as a text of separated cells, at times with odd cells, other separators, and without a last end."""
    delimiter, end = one_of(rng, (*_DELIMITERS, *[","] * 10, "\t")), one_of(rng, _ENDS[:4])
    for _ in range(int(one_of(rng, (0, 0, 1, 3)))):
        row = rows[int(rng.integers(len(rows)))]
        at = int(rng.integers(len(row) + 1))
        row[at : at + int(rng.integers(3))] = [one_of(rng, _CELLS) for _ in range(int(rng.integers(3)))]
    if rng.random() < 0.1:
        rows.append([one_of(rng, _CELLS)])
    quote = '"' if rng.random() < 0.3 else ""
    lines = [delimiter.join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
    text = (one_of(rng, ("", "", "\ufeff", "\n", "# a\n")) + end.join(lines) + one_of(rng, _ENDS)).encode(
        one_of(rng, (*["utf-8"] * 8, "utf-16", "latin-1")), "replace"
    )
    return mutated(text, rng) if rng.random() < 0.2 else text


def vectors_in_cells(rng: Generator) -> bytes:
    """Return vectors as CSV, at times with names of columns, row numbers, decimal commas, or a header of word2vec."""
    comma = rng.random() < 0.2
    rows = [[word, *(str(number).replace(".", "," if comma else ".") for number in VECTORS[word])] for word in VECTORS]
    if rng.random() < 0.3:
        rows.insert(0, [one_of(rng, ("word", "")), *map(str, range(6))])
    if rng.random() < 0.3:
        rows = [[str(place), *row] for place, row in enumerate(rows)]
    if rng.random() < 0.2:
        rows.insert(0, [str(int(one_of(rng, (0, len(VECTORS), 10**12)))), "6"])
    return _written(rows, rng)


def words_in_cells(rng: Generator) -> bytes:
    """Return word lists in columns, in rows, or a word a line."""
    words = list(VECTORS)
    rows = one_of(
        rng,
        (
            [["X", "A", "B"], *(list(words[place : place + 3]) for place in range(0, 6, 3))],
            [["X", "Y", "A", "B"], words[:4], [*words[4:7], ""]],
            [["word", "list"], *([word, one_of(rng, ("X", "A", "B"))] for word in words)],
            [[word] for word in words],
        ),
    )
    return _written(rows, rng)


def numbers_of_words(rng: Generator) -> bytes:
    """Return a covariate of words as CSV."""
    numbers = ("12%", "1,000", "3.5", "1.000,5", "NA", "", "nan", "1e999", "-0", "1e308")
    return _written([["word", "share"], *([word, one_of(rng, numbers)] for word in VECTORS)], rng)


def lists_of(path: Path) -> object:
    """Read word lists, as lists and as a study."""
    return any_of(lambda: read_word_lists(path), lambda: read_words(path), lambda: str(bb.load_study(path)))


def numbers_of(path: Path) -> object:
    """Read numbers of words as covariates of a model, of pairs, and as rows of a regression."""
    table, model = small_table(), bb.load_model("multivariate")
    return any_of(
        lambda: with_covariates(model_data(table), read_covariates(path), table, model).covariates.tolist(),  # type: ignore[union-attr]
        lambda: numbers_only(read_csv(path, "", keys=("period",)), ("period",), "periods").to_csv(),
        lambda: bb.reliability.load_word_properties(path).to_csv(),
    )


def any_of(*reads: Callable[[], object]) -> list[object]:
    """Return what the reads return; raise an error of ours if each of them is refused."""
    answers: list[object] = []
    refused = None
    for read in reads:
        try:
            answers.append(read())
        except bb.errors.BayesBiasError as error:
            refused = error
    if refused is not None and not answers:
        raise refused
    return answers
