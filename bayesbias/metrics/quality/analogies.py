"""Accuracy on analogies: a is to b as c is to which word."""

import os

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import HDI_PROB, check_count, resolve_seed
from bayesbias.base.progress import with_progress
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.metrics.look_up import as_embedding, judge_lost_rows
from bayesbias.metrics.measure_entry import Measure
from bayesbias.metrics.quality.benchmark_files import read_analogies
from bayesbias.metrics.quantities import Quantity
from bayesbias.metrics.result import Items, MeasureResult, result_of_items
from bayesbias.metrics.shared_parameters import shared_parameters

_WORDS = 4096  # words of the vocabulary per block
_QUESTIONS = 512  # questions per block
_CROSSED = ("first_pair", "second_pair")


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
        conventions=(
            f"3CosAdd among {'all' if most is None else f'the first {most:,}'} words, those of the question left out; "
            "pairs are drawn, not questions"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
    )


def _quantities(parts: "pd.Series[str]") -> list[Quantity]:
    """Return the accuracies: over all questions, over both kinds of Google's sections, and over each section."""
    sections = [section for section in dict.fromkeys(parts) if section and (parts == section).sum() > 1]
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
    """Return vectors of length 1 in float32."""
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
