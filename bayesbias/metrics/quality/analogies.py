"""Analogies: a is to b as c is to which word."""

import os

import numpy as np
import pandas as pd

from bayesbias.base.arrays import Floats, Integers
from bayesbias.base.checks import HDI_PROB, check_count, resolve_seed, with_progress
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.metrics.embedding_scores.result import EmbeddingScore, embedding_score
from bayesbias.metrics.embedding_scores.statistics import Quantity
from bayesbias.metrics.look_up import as_embedding
from bayesbias.metrics.quality.benchmark_files import read_analogies

_WORDS = 4096  # of the vocabulary, and
_QUESTIONS = 512  # that are scored at a time
_CROSSED = ("first_pair", "second_pair")


def analogies(
    embedding: EmbeddingLike,
    path: str | os.PathLike[str],
    *,
    most: int | None = None,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
    progress: bool = True,
) -> EmbeddingScore:
    r"""Measure how many analogies an embedding completes (3CosAdd).

    Of ``a b c d`` the answer is the word of the vocabulary that is most similar in cosine to b - a + c, the three words
    of the question left out; it is right if it is d.

    Parameters
    ----------
    embedding
        See `bayesbias.metrics`. Google's file has names of places in upper case: an embedding in lower case finds them
        with ``case=("exact", "lower")``.
    path
        A file of analogies (see `read_analogies`): Google's, MSR's or your own.
    most
        Only so many of the embedding's first words, of questions and of answers; None: all.
    random_seed
        Seed of the intervals' draws.
    hdi_prob
        Probability inside the intervals.
    progress
        Show a bar.

    Returns
    -------
    EmbeddingScore
        `accuracy`, the share of right answers, from 0 to 1; where some sections begin with ``gram``, as Google's do,
        the shares `semantic` and `syntactic` (these sections); and that of each section. The items are the questions:
        `answer` and `correct`. Questions of which the embedding lacks a word are left out and named in `lost`.

    Raises
    ------
    MeasureError
        If a line of the file is not four words, or fewer than two questions are left.

    Warns
    -----
    LostWordsWarning
        If questions are lost: the accuracy is about the others.

    Notes
    -----
    The questions of a section are made by setting each of a few dozen pairs against each other one, so that they are
    far from independent: for the intervals the pairs are drawn, not the questions (Owen and Eckles 2012). Similarities
    are taken in float32.

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
    forms = source.lookup(word for _, four in questions for word in four).found
    rows = {word: row_of[form] for word, form in forms.items() if form in row_of}
    kept = [(section, four) for section, four in questions if all(word in rows for word in four)]
    lost = [" ".join(four) for _, four in questions if not all(word in rows for word in four)]
    if len(kept) < 2:
        raise MeasureError(
            f"Of the {len(questions):,} questions of {os.fspath(path)} the embedding {source.name!r} has the words of "
            f"{len(kept)}, but at least two are needed (the case rule is {source.case_text!r})."
        )
    if lost:
        warn_user(
            f"The embedding {source.name!r} lacks a word of {len(lost):,} of the {len(questions):,} questions: "
            f"{name_some(lost, 3)}. The accuracy is about the others; its result names them (lost).",
            LostWordsWarning,
        )
    places = np.array([[rows[word] for word in four] for _, four in kept])
    answers = _answers(source, len(words), places[:, :3], progress=progress)
    items = pd.DataFrame({
        "item": [" ".join(four) for _, four in kept],
        "part": [section for section, _ in kept],
        "first_pair": [" ".join(four[:2]) for _, four in kept],
        "second_pair": [" ".join(four[2:]) for _, four in kept],
        "answer": [words[row] for row in answers],
        "correct": (answers == places[:, 3]).astype(int),
    })  # fmt: skip
    return embedding_score(
        "analogies",
        source.name,
        items,
        _quantities(items["part"]),
        conventions=(
            f"3CosAdd among {'all' if most is None else f'the first {most:,}'} words, those of the question left out; "
            "pairs are drawn, not questions"
        ),
        random_seed=seed,
        hdi_prob=hdi_prob,
        lost={"questions": lost},
    )


def _quantities(parts: "pd.Series[str]") -> list[Quantity]:
    """Return the accuracy of all questions, of both kinds of Google's sections, and of each section."""
    sections = [section for section in dict.fromkeys(parts) if section and (parts == section).sum() > 1]
    syntactic = tuple(section for section in sections if section.startswith("gram"))
    semantic = tuple(section for section in sections if section not in syntactic)
    groups: dict[str, tuple[str, ...] | None] = {"accuracy": None}
    if syntactic and semantic:
        groups |= {"semantic": semantic, "syntactic": syntactic}
    groups |= {section: (section,) for section in sections if section not in groups}
    return [Quantity(name, "share", ("correct",), chosen, _CROSSED) for name, chosen in groups.items()]


def _answers(source: Embedding, count: int, questions: Integers, *, progress: bool) -> Integers:
    """Return for each question, of shape (questions, 3), the row of its answer among the first words.

    b - a + c is nearest in cosine to the word whose similarities have the largest cos(b) - cos(a) + cos(c): the
    length of the sum is that of the question. So only the similarities of the questions' few words are products.
    """
    asked, place = np.unique(questions, return_inverse=True)
    place = place.reshape(questions.shape)
    own = _unit32(source.vectors[asked])
    best = np.full(len(questions), -np.inf, dtype=np.float32)
    answers = np.zeros(len(questions), dtype=np.int64)
    for start in with_progress(range(0, count, _WORDS), "Analogies", progress=progress):
        similarity = own @ _unit32(source.vectors[start : min(start + _WORDS, count)]).T
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
