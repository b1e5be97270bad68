"""How useful an embedding is: similarity of words and analogies; and the readers of users' files of items."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sized

import numpy as np
import pandas as pd

from bayesbias.base.arrays import ROUNDING, Floats, Integers
from bayesbias.base.checks import HDI_PROB, check_count, resolve_seed
from bayesbias.base.files.inputs import LINES, read_utf8
from bayesbias.base.files.word_lists import read_word_lists
from bayesbias.base.progress import with_progress
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.geometry import unit_rows
from bayesbias.metrics.look_up import as_embedding, judge_lost_rows
from bayesbias.metrics.measure_entry import Measure, shared_parameters
from bayesbias.metrics.measure_result import Items, MeasureResult, result_of_items
from bayesbias.metrics.quantities import Quantity

SimilarityPairs = list[tuple[str, str, float]]
_SEPARATORS = ("\t", ";", ",")
_TAGGED = re.compile(r".+-[njv]")
_TUPLE = "priest:nun dog:bitch book:magazine doctor:nurse"
_WORDS = 4096  # words of the vocabulary per block
_QUESTIONS = 512  # questions per block
MOST_SCORED_PAIRS = 10_000
"""Pairs of a file of word similarity."""
MOST_SECTIONS = 1000
"""Sections of a file of analogies."""
_DIGITS = 12  # of the cosine of float64 vectors
_CROSSED = ("first_pair", "second_pair")


def read_similarity(path: str | os.PathLike[str]) -> SimilarityPairs:
    r"""Return the pairs of words in a file of word similarity, with people's scores.

    Each line holds two words and a score, possibly with other columns in between. Columns are separated by tabs,
    semicolons, commas or spaces. A first line without a score is a header, and lines that begin with ``#`` are
    comments. RG-65, MTurk, MEN (whose tags, as in ``sun-n``, are removed), SimLex-999 and WS-353 have this format.

    Parameters
    ----------
    path
        Path of the file, in UTF-8.

    Raises
    ------
    MeasureError
        If a line is not a pair with a score, or there are fewer than three pairs or more than 10,000.
    InputFileError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "pairs.csv"
    >>> _ = path.write_text("Word 1,Word 2,Human (mean)\nlove,sex,6.77\ntiger,cat,7.35\nbook,paper,7.46\n")
    >>> bb.metrics.read_similarity(path)
    [('love', 'sex', 6.77), ('tiger', 'cat', 7.35), ('book', 'paper', 7.46)]
    """
    pairs: SimilarityPairs = []
    column = None
    for number, line in _lines(path):
        cells = _cells(line)
        numeric = [place for place, cell in enumerate(cells) if place > 1 and _as_number(cell) is not None]
        if column is None and not numeric and not pairs and number == 1:
            continue  # the header
        column = numeric[0] if column is None and numeric else column
        score = _as_number(cells[column]) if column is not None and column < len(cells) else None
        if score is None or not cells[0] or not cells[1]:
            raise MeasureError(
                f"{path}, line {number}: {line[:60]!r} is not two words and a score. Write it as 'tiger cat 7.35'."
            )
        pairs.append((cells[0], cells[1], score))
        if len(pairs) > MOST_SCORED_PAIRS:
            raise MeasureError(
                f"{path} has more than {MOST_SCORED_PAIRS:,} pairs, which are ranked again at each draw: take a random "
                "sample of the lines. Published files have up to about 3,500 pairs."
            )
    _raise_if_few(path, pairs, 3, "pairs of words with a score", "tiger cat 7.35")
    if all(_TAGGED.fullmatch(word) for pair in pairs for word in pair[:2]):
        return [(first[:-2], second[:-2], score) for first, second, score in pairs]
    return pairs


def read_analogies(path: str | os.PathLike[str]) -> list[tuple[str, tuple[str, str, str, str]]]:
    r"""Return the questions of a file of analogies, each with its section.

    Each line is a question of four words, such as ``Athens Greece Baghdad Iraq``, which asks for the last. A line that
    begins with a colon names the section of the lines below it. Google's and MSR's questions have this format.

    Parameters
    ----------
    path
        Path of the file, in UTF-8.

    Raises
    ------
    MeasureError
        If a line is not four words, there are fewer than two, or there are more than 1,000 sections.
    InputFileError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "questions.txt"
    >>> _ = path.write_text(": family\nboy girl brother sister\nboy girl king queen\n")
    >>> bb.metrics.read_analogies(path)[0]
    ('family', ('boy', 'girl', 'brother', 'sister'))
    """
    section, questions = "", []
    sections: set[str] = set()
    for number, line in _lines(path):
        if line.startswith(":"):
            section = line[1:].strip()
            continue
        words = line.split()
        if len(words) != 4:
            raise MeasureError(
                f"{path}, line {number}: {line[:60]!r} is not four words. Write it as 'Athens Greece Baghdad Iraq'."
            )
        questions.append((section, (words[0], words[1], words[2], words[3])))
        sections.add(section)
        if len(sections) > MOST_SECTIONS:
            raise MeasureError(
                f"{path} has more than {MOST_SECTIONS:,} sections, each of which has a share with an interval. Join "
                "them, or leave out lines that begin with a colon."
            )
    _raise_if_few(path, questions, 2, "questions", "Athens Greece Baghdad Iraq")
    return questions


def read_sembias(path: str | os.PathLike[str]) -> list[tuple[tuple[str, str], ...]]:
    r"""Return the tuples of a file of SemBias, each of four pairs of words.

    Each line is a tuple. Pairs are separated by tabs or spaces, the words of a pair by a colon. As in the authors'
    file, the first pair is a definition, the second and third are unrelated to gender, and the last is a stereotype.

    Parameters
    ----------
    path
        Path of the file, in UTF-8.

    Raises
    ------
    MeasureError
        If a line is not four pairs, or there are fewer than two.
    InputFileError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "sembias.txt"
    >>> line = "priest:nun\tdog:bitch\tbook:magazine\tdoctor:nurse\n"
    >>> _ = path.write_text(2 * line)
    >>> bb.metrics.read_sembias(path)[0]
    (('priest', 'nun'), ('dog', 'bitch'), ('book', 'magazine'), ('doctor', 'nurse'))
    """
    tuples = []
    for number, line in _lines(path):
        pairs = [tuple(cell.split(":")) for cell in line.split()]
        if len(pairs) != 4 or any(len(pair) != 2 or not all(pair) for pair in pairs):
            raise MeasureError(f"{path}, line {number}: {line[:60]!r} is not four pairs. Write them as '{_TUPLE}'.")
        tuples.append(tuple((pair[0], pair[1]) for pair in pairs))
    _raise_if_few(path, tuples, 2, "lines of four pairs", _TUPLE)
    return tuples


def read_words(path: str | os.PathLike[str]) -> list[str]:
    r"""Return the words of a file, or raise `MeasureError` if there are none; see `read_word_lists` for its layout.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "words.txt"
    >>> _ = path.write_text("nurse\n\nclerk\n")
    >>> read_words(path)
    ['nurse', 'clerk']
    """
    words = [word for words in read_word_lists(path).values() for word in words]
    if not words:
        raise MeasureError(f"{path} has no words. Write one word per line, or columns of words.")
    return words


def benchmark_measure(path: str | os.PathLike[str]) -> str:
    """Return ``"analogies"`` if the first line of a file is a section or four words, else ``"word_similarity"``."""
    first = next((line for _, line in _lines(path)), "")
    words = first.split()
    four = len(words) == 4 and not any(_as_number(word) is not None for word in words) and "," not in first
    return "analogies" if first.startswith(":") or (four and "\t" not in first) else "word_similarity"


def _raise_if_few(path: str | os.PathLike[str], rows: Sized, least: int, what: str, example: str) -> None:
    if len(rows) < least:
        raise MeasureError(
            f"{path} has {len(rows)} {what}, but at least {least} are needed, one per line, such as '{example}'."
        )


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither empty nor comments, with their numbers."""
    for number, line in enumerate(re.split(r"\r?\n|\r", read_utf8(path, LINES)), start=1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip()


def _cells(line: str) -> list[str]:
    separator = next((candidate for candidate in _SEPARATORS if line.count(candidate) > 1), None)
    cells = [cell.strip() for cell in line.split(separator)]
    return cells if len(cells) > 1 else [*cells, ""]


def _as_number(cell: str) -> float | None:
    """Return the number that a cell holds in decimal notation, or None."""
    if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", cell):
        return None
    value = float(cell)
    return value if abs(value) < 1e300 else None


@shared_parameters()
def word_similarity(
    embedding: EmbeddingLike,
    path: str | os.PathLike[str],
    *,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
) -> MeasureResult:
    r"""Return the rank correlation of the cosine similarities of pairs of words with people's scores.

    Parameters
    ----------
    embedding
        Word vectors. Files have upper and lower case; an embedding in lower case finds place names if it is loaded with
        ``case=("exact", "lower")``.
    path
        File of word similarity (see `read_similarity`): RG-65, MTurk, MEN, SimLex-999, WS-353 or your own.

    Returns
    -------
    MeasureResult
        `spearman`, the rank correlation of cosine similarities and people's scores, from -1 to 1. The items are the
        pairs, with `human` and `cosine`. Pairs of which the embedding lacks a word are left out and listed
        (`lost_words`).

    Raises
    ------
    MeasureError
        If a line of the file is not a pair with a score, fewer than three pairs are left, or all have the same score.

    Warns
    -----
    LostWordsWarning
        If pairs are lost.

    Notes
    -----
    The interval comes from the Bayesian bootstrap over pairs (Rubin 1981), which ranks them again at each draw. To
    compare two embeddings on the pairs that both have, use `paired_change`.

    References
    ----------
    Herbert Rubenstein and John B. Goodenough (1965). Contextual correlates of synonymy. Communications of the ACM 8,
    627-633. Felix Hill, Roi Reichart and Anna Korhonen (2015). SimLex-999. Computational Linguistics 41, 665-695.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "pairs.txt"
    >>> _ = path.write_text("cat dog 9\ncat car 1\ncar van 8\ndog van 2\n")
    >>> vectors = {"cat": [1.0, 0.1], "dog": [1.0, 0.3], "car": [0.1, 1.0], "van": [0.0, 1.0]}
    >>> round(bb.metrics.word_similarity(vectors, path, random_seed=1).value, 3)
    0.8
    """
    seed = resolve_seed(random_seed)
    pairs = read_similarity(path)
    source = as_embedding(embedding, {word for first, second, _ in pairs for word in (first, second)})
    forms = source.lookup(word for first, second, _ in pairs for word in (first, second)).matches
    embedded_pairs = [pair for pair in pairs if pair[0] in forms and pair[1] in forms]
    lost = [f"{first} ~ {second}" for first, second, _ in pairs if first not in forms or second not in forms]
    judge_lost_rows(source, path, len(pairs), lost, "pairs", least=3)
    first, second = (
        unit_rows(source.matrix(column)) for column in ([p[0] for p in embedded_pairs], [p[1] for p in embedded_pairs])
    )
    items = pd.DataFrame({
        "item": [f"{a} ~ {b}" for a, b, _ in embedded_pairs],
        "human": [score for _, _, score in embedded_pairs],
        "cosine": _cosines(first, second),
    })  # fmt: skip
    return result_of_items(
        "word_similarity",
        source.name,
        Items(items, {"pairs": lost}),
        [Quantity("spearman", "spearman", ("human", "cosine"))],
        question=f"Does {source.name} find those words similar that people do?",
        conventions="Spearman's correlation of cosine similarity and people's scores, ties at their mean rank",
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


def _cosines(first: Floats, second: Floats) -> Floats:
    """Return the cosines of rows of unit vectors; those that rounding alone tells apart are equal, and get one rank."""
    cosines: Floats = np.clip(np.einsum("ij,ij->i", first, second), -1.0, 1.0).round(_DIGITS)
    return cosines if np.ptp(cosines) > ROUNDING else np.full_like(cosines, cosines[0])


WORD_SIMILARITY = Measure(
    "word_similarity", "word similarity", "Spearman's correlation of cos(a, b) with people's scores of the pairs",
    "-1 to 1", "a file of word similarity", "Rubenstein and Goodenough (1965); Hill, Reichart and Korhonen (2015)",
    "pairs with lost words are left out and named; Bayesian bootstrap over pairs",
    "to compare embeddings of different words, other than on the pairs that both have (paired_change)",
    word_similarity, about="quality", better="higher", read=read_similarity,
)  # fmt: skip


@shared_parameters()
def analogies(
    embedding: EmbeddingLike,
    path: str | os.PathLike[str],
    *,
    most: int | None = None,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
    progress: bool = True,
) -> MeasureResult:
    r"""Return the share of analogies that an embedding completes correctly (3CosAdd).

    The answer to ``a b c d`` is the word with the largest cosine similarity to b - a + c, other than a, b and c. It is
    correct if it is d.

    Parameters
    ----------
    embedding
        Word vectors. Google's file has place names in upper case; an embedding in lower case finds them if it is loaded
        with ``case=("exact", "lower")``.
    path
        File of analogies (see `read_analogies`): Google's, MSR's or your own.
    most
        Number of the embedding's first words to use, for questions and answers. None: all.

    Returns
    -------
    MeasureResult
        `accuracy`, the share of correct answers, from 0 to 1; if some sections begin with ``gram``, as Google's do, the
        shares `syntactic` (of these sections) and `semantic` (of the others); and the share of each section. The items
        are the questions, with `answer` and `correct`. Questions of which the embedding lacks a word are left out and
        listed in `lost_words`.

    Raises
    ------
    MeasureError
        If a line of the file is not four words, or fewer than two questions are left.

    Warns
    -----
    LostWordsWarning
        If questions are lost.

    Notes
    -----
    The questions of a section combine each of a few dozen pairs with each other one, so they are far from independent:
    the intervals come from draws of the pairs, not of the questions (Owen and Eckles 2012). Similarities are computed
    in float32.

    References
    ----------
    Tomas Mikolov, Wen-tau Yih and Geoffrey Zweig (2013). Linguistic regularities in continuous space word
    representations. NAACL-HLT 2013, 746-751. Tomas Mikolov, Kai Chen, Greg Corrado and Jeffrey Dean (2013). Efficient
    estimation of word representations in vector space. arXiv:1301.3781, section 4.1.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "questions.txt"
    >>> _ = path.write_text(": family\nman woman king queen\nking queen man woman\nman king queen woman\n")
    >>> vectors = {"man": [1.0, 0.2, 0.0], "woman": [0.2, 1.0, 0.0], "king": [1.0, 0.2, 1.0], "queen": [0.2, 1.0, 1.0]}
    >>> score = bb.metrics.analogies(vectors, path, random_seed=1)
    >>> score.value, list(score.estimates["quantity"])
    (1.0, ['accuracy', 'family'])
    """
    seed = resolve_seed(random_seed)
    questions = read_analogies(path)
    source = as_embedding(embedding)
    words = source.words if most is None else source.words[: check_count("most", most, least=4)]
    row_of = {word: row for row, word in enumerate(words)}
    forms = source.lookup(word for _, four in questions for word in four).matches
    rows = {word: row_of[form] for word, form in forms.items() if form in row_of}
    answerable = [(section, four) for section, four in questions if all(word in rows for word in four)]
    lost = [" ".join(four) for _, four in questions if not all(word in rows for word in four)]
    judge_lost_rows(source, path, len(questions), lost, "questions", least=2)
    places = np.array([[rows[word] for word in four] for _, four in answerable])
    answers = _answers(source, len(words), places[:, :3], progress=progress)
    items = pd.DataFrame({
        "item": [" ".join(four) for _, four in answerable],
        "part": [section for section, _ in answerable],
        "first_pair": [" ".join(four[:2]) for _, four in answerable],
        "second_pair": [" ".join(four[2:]) for _, four in answerable],
        "answer": [words[row] for row in answers],
        "correct": (answers == places[:, 3]).astype(int),
    })  # fmt: skip
    return result_of_items(
        "analogies",
        source.name,
        Items(items, {"questions": lost}),
        _quantities(items["part"]),
        question=f"How many analogies does {source.name} solve?",
        conventions=(
            f"3CosAdd among {'all' if most is None else f'the first {most:,}'} words, those of the question left out; "
            "pairs are drawn, not questions"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


def _quantities(parts: "pd.Series[str]") -> list[Quantity]:
    """Return the accuracies: over all questions, over both kinds of Google's sections, and over each section."""
    sections = [section for section, count in Counter(parts).items() if section and count > 1]
    syntactic = tuple(section for section in sections if section.startswith("gram"))
    semantic = tuple(section for section in sections if section not in syntactic)
    groups: dict[str, tuple[str, ...] | None] = {"accuracy": None}
    if syntactic and semantic:
        groups |= {"semantic": semantic, "syntactic": syntactic}
    groups |= {section: (section,) for section in sections if section not in groups}
    return [Quantity(name, "share", ("correct",), chosen, _CROSSED) for name, chosen in groups.items()]


def _answers(source: Embedding, count: int, questions: Integers, *, progress: bool) -> Integers:
    """Return the row of each question's answer among the first `count` words; questions have shape (questions, 3).

    The word with the largest cosine to b - a + c is that with the largest cos(b) - cos(a) + cos(c), since the length of
    b - a + c is the same for all words. So only the similarities of the questions' few words are computed.
    """
    question_rows, place = np.unique(questions, return_inverse=True)
    place = place.reshape(questions.shape)
    question_units = _unit32(source.vectors[question_rows])
    best = np.full(len(questions), -np.inf, dtype=np.float32)
    answers = np.zeros(len(questions), dtype=np.int64)
    for start in with_progress(range(0, count, _WORDS), "Analogies", progress=progress):
        similarity = question_units @ _unit32(source.vectors[start : min(start + _WORDS, count)]).T
        for first in range(0, len(questions), _QUESTIONS):
            block = slice(first, first + _QUESTIONS)
            a, b, c = place[block].T
            scores = similarity[b] - similarity[a]
            scores += similarity[c]
            columns = questions[block] - start
            row, side = np.nonzero((columns >= 0) & (columns < scores.shape[1]))
            scores[row, columns[row, side]] = -np.inf
            top = scores.argmax(axis=1)
            value = scores[np.arange(len(top)), top]
            better = value > best[block]
            best[block][better] = value[better]
            answers[block][better] = top[better] + start
    return answers


def _unit32(vectors: Floats) -> Floats:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    units: Floats = (vectors / lengths[:, np.newaxis]).astype(np.float32)
    return units


ANALOGIES = Measure(
    "analogies", "analogies (3CosAdd)",
    "share of questions a : b = c : d whose d is the word of largest cos(w, b - a + c)", "0 to 1",
    "a file of analogies", "Mikolov et al. (2013)",
    "the words of the question are left out, and questions with lost words named; pairs are drawn, not "
    "questions",
    "to compare embeddings of different vocabularies, where wrong answers can be fewer", analogies, about="quality",
    better="higher", read=read_analogies,
)  # fmt: skip
