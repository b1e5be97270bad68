"""Analogies against plain loops and gensim; sections, what is lost, and the forms of the files."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.quality import analogies as module

RANDOM = np.random.default_rng(21)
PAIRS = [(f"a{n}", f"b{n}") for n in range(9)]
OFFSET = RANDOM.normal(size=6)
VECTORS = {a: RANDOM.normal(size=6) for a, _ in PAIRS}
VECTORS |= {b: VECTORS[a] + 2.5 * OFFSET + RANDOM.normal(size=6) for a, b in PAIRS}
VECTORS |= {f"other{n}": 2 * RANDOM.normal(size=6) for n in range(40)}
QUESTIONS = [(*first, *second) for first in PAIRS for second in PAIRS if first != second]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "questions.txt"
    lines = [" ".join(four) for four in QUESTIONS]
    file.write_text("\n".join([": family", *lines[:40], ": gram1-made", *lines[40:]]))
    return file


def plain_answer(a: str, b: str, c: str) -> str:
    units = {word: v / np.linalg.norm(v) for word, v in VECTORS.items()}
    target = units[b] - units[a] + units[c]
    return max((word for word in VECTORS if word not in (a, b, c)), key=lambda word: float(units[word] @ target))


@pytest.mark.parametrize("block", [4096, 7])
def test_the_answers_are_those_of_plain_loops(block: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WORDS", block)
    monkeypatch.setattr(module, "_QUESTIONS", block)
    score = bb.metrics.analogies(VECTORS, path, random_seed=1, progress=False)
    answers = [plain_answer(*four[:3]) for four in QUESTIONS]
    assert list(score.scores["answer"]) == answers
    right = np.array([answer == four[3] for answer, four in zip(answers, QUESTIONS, strict=True)])
    assert 0 < right.sum() < len(right)
    values = score.estimates.set_index("quantity")["value"]
    assert list(values.index) == ["accuracy", "semantic", "syntactic", "family", "gram1-made"]
    assert values["accuracy"] == right.mean()
    assert values["syntactic"] == values["gram1-made"] == right[40:].mean()


def test_lost_questions_are_named_and_most_leaves_words_out(path: Path) -> None:
    fewer = {word: vector for word, vector in VECTORS.items() if word != "b8"}
    with pytest.warns(LostWordsWarning, match="16 .* 72 "):
        score = bb.metrics.analogies(fewer, path, random_seed=1, progress=False)
    assert len(score.lost_words["questions"]) == 16
    assert all("b8" in question for question in score.lost_words["questions"])
    alone = bb.metrics.analogies(VECTORS, path, most=18, random_seed=1, progress=False)
    assert not any(answer.startswith("other") for answer in alone.scores["answer"])
    with pytest.raises(MeasureError, match=r" 0 .* 72 "):
        bb.metrics.analogies(VECTORS, path, most=5, progress=False)


def test_intervals_are_about_pairs(path: Path) -> None:
    """One pair that is always wrong as c : d is an eighth of the questions, and not nine independent ones."""
    score = bb.metrics.analogies(VECTORS, path, random_seed=1, progress=False)
    low, high = score.interval
    coins = 2 * 1.6 * np.sqrt(score.value * (1 - score.value) / len(QUESTIONS))
    assert high - low > 1.3 * coins


@pytest.mark.parametrize(
    ("content", "message"),
    [(": all\na b c\n", "line 2: 'a b c'"), (": all\na b c d\n", " 1 questions")],
)
def test_a_damaged_file_is_an_error(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_text(content)
    with pytest.raises(MeasureError, match=message):
        bb.metrics.read_analogies(file)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("name", ["questions-words.txt", "MSR-syntax.txt"])
def test_the_accuracy_is_gensims(name: str, shared: Path) -> None:
    from gensim.models import KeyedVectors

    embedding = bb.load_embedding(shared / "data" / "embeddings" / "glove_6b_50d_10382.txt")
    path = shared / "data" / "benchmarks" / name
    with pytest.warns(LostWordsWarning):
        score = bb.metrics.analogies(embedding, path, random_seed=1, progress=False)
    vectors = KeyedVectors(embedding.dimensions)
    vectors.add_vectors(list(embedding.words), np.asarray(embedding.vectors))
    accuracy, sections = vectors.evaluate_word_analogies(str(path), case_insensitive=False)
    assert score.value == pytest.approx(accuracy, abs=2e-4)  # a near tie in float32
    estimates = score.estimates.set_index("quantity")
    for section in sections:
        if section["section"] in estimates.index:
            right, wrong = len(section["correct"]), len(section["incorrect"])
            assert estimates.loc[section["section"], "items"] == right + wrong
            assert estimates.loc[section["section"], "value"] == pytest.approx(right / (right + wrong), abs=5e-3)
