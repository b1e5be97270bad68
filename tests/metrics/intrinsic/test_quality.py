"""Word similarity against gensim and SciPy; the forms in which its files go about."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import InputFileError, LostWordsWarning, MeasureError
from bayesbias.metrics.intrinsic import quality as module
from bayesbias.metrics.intrinsic.quality import benchmark_measure, read_words

FORMS = {
    "tabs": "cat\tdog\t9.1\ncar\tvan\t8\nnurse\tcar\t.5\n",
    "crlf": "cat\tdog\t9.1\r\ncar\tvan\t8\r\nnurse\tcar\t0.50\r\n",
    "semicolons": "cat;dog;9.1\ncar;van;8\nnurse;car;0.5\n",
    "head": "Word 1,Word 2,Human (mean)\ncat,dog,9.1\ncar,van,8\nnurse,car,0.5\n",
    "simlex": "word1\tword2\tPOS\tSimLex999\tconc(w1)\ncat\tdog\tN\t9.1\t5\ncar\tvan\tN\t8\t4\nnurse\tcar\tN\t0.5\t3\n",
    "men": "cat-n dog-n 9.1\ncar-n van-n 8\nnurse-n car-n 0.5\n",
    "remarks": "# who and when\n\ncat dog 9.1\ncar van 8\nnurse car 5e-1\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_files_is_read(form: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_bytes(FORMS[form].encode())
    assert bb.metrics.read_similarity(path) == [("cat", "dog", 9.1), ("car", "van", 8.0), ("nurse", "car", 0.5)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("cat dog 1\ncar van\ncat car 2\n", "line 2: 'car van'"),
        ("cat dog 1\ncar van nan\ncat car 2\n", "line 2"),
        ("cat dog 1\ncar van 1_0\ncat car 2\n", "line 2"),
        ("cat dog 1\ncar van 3\n", " 2 .* 3 "),
        ("", " 0 .* 3 "),
        ("cat\ndog\n", "line 2: 'dog'"),
    ],
)
def test_a_damaged_file_is_an_error_that_names_the_line(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(content)
    with pytest.raises(MeasureError, match=message):
        bb.metrics.read_similarity(path)


def test_files_of_very_many_pairs_are_refused(tmp_path: Path) -> None:
    """Ranking 200,000 pairs at each draw took minutes."""
    path = tmp_path / "pairs.txt"
    lines = [f"cat{number} dog {number}\n" for number in range(10_001)]
    path.write_text("".join(lines[1:]))
    assert len(bb.metrics.read_similarity(path)) == 10_000
    path.write_text("".join(lines))
    with pytest.raises(MeasureError, match=r"more than 10,000 pairs.* random sample"):
        bb.metrics.read_similarity(path)


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_bytes(b"caf\xe9 bar 1\n")
    with pytest.raises(InputFileError, match="UTF-8"):
        bb.metrics.read_similarity(path)


def test_too_few_pairs_and_equal_scores_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    vectors = {"cat": [1.0, 0.0], "dog": [1.0, 0.1], "car": [0.0, 1.0], "van": [0.1, 1.0]}
    path.write_text("cat dog 1\ncar bus 2\ncat cow 3\n")
    with pytest.raises(MeasureError, match=" 1 of the 3 "):
        bb.metrics.word_similarity(vectors, path, random_seed=1)
    path.write_text("cat dog 1\ncar van 1\ncat van 1\n")
    with pytest.raises(MeasureError, match=" 3 items"):
        bb.metrics.word_similarity(vectors, path, random_seed=1)


def test_differences_of_rounding_have_no_ranks(tmp_path: Path) -> None:
    path, random = tmp_path / "pairs.txt", np.random.default_rng(1)
    words = [f"w{number}" for number in range(12)]
    vectors = dict(zip(words, random.normal(size=(12, 7)), strict=True))
    with_themselves = [f"{word} {word} {score}\n" for score, word in enumerate(words)]
    path.write_text("".join(with_themselves))
    with pytest.raises(MeasureError, match="the same value"):
        bb.metrics.word_similarity(vectors, path, random_seed=1)
    path.write_text("".join([*with_themselves, "w0 w1 3\n"]))
    score = bb.metrics.word_similarity(vectors, path, random_seed=1)
    expected = stats.spearmanr([*range(12), 3], [1] * 12 + [0]).statistic
    assert score.value == pytest.approx(expected, abs=1e-9)
    short = {
        word: np.float32(length) * np.float32([0.6, 0.8, 0.1])
        for length, word in zip(random.random(12) + 1, words, strict=True)
    }
    path.write_text("".join(f"{word} axis {score}\n" for score, word in enumerate(words)))
    with pytest.raises(MeasureError, match="the same value"):
        bb.metrics.word_similarity({**short, "axis": np.float32([1, 0, 0])}, path, random_seed=1)


@pytest.mark.shared
@pytest.mark.gensim
@pytest.mark.parametrize("name", ["RG-65", "MEN-TR-3k", "SIMLEX-999", "WS-353-ALL", "MTurk-287", "MTurk-771"])
def test_the_correlation_is_gensims(name: str, shared: Path) -> None:
    from gensim.models import KeyedVectors

    embedding = bb.load_embedding(shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz")
    path = shared / "data" / "benchmarks" / f"EN-{name}.txt"
    with pytest.warns(LostWordsWarning):
        score = bb.metrics.word_similarity(embedding, path, random_seed=1)
    vectors = KeyedVectors(embedding.dimensions)
    vectors.add_vectors(list(embedding.words), np.asarray(embedding.vectors))
    expected = vectors.evaluate_word_pairs(str(path), case_insensitive=False)
    assert score.value == pytest.approx(expected[1].statistic, abs=1e-6)
    assert 1 - score.coverage == pytest.approx(expected[2] / 100, abs=1e-9)
    low, high = score.interval
    # The interval is about as long as that of Bonett and Wright (2000).
    width = 2 * stats.norm.ppf(0.945) * np.sqrt((1 + score.value**2 / 2) / (len(score.scores) - 3))
    assert np.arctanh(high) - np.arctanh(low) == pytest.approx(width, rel=0.4)


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


def test_files_of_very_many_sections_are_refused(tmp_path: Path) -> None:
    """Each section has draws of its own: 10,000 took 18 s."""
    path = tmp_path / "questions.txt"
    sections = [f": {number}\nboy girl king queen\nking queen boy girl\n" for number in range(1001)]
    path.write_text("".join(sections[1:]) + sections[1])
    assert len(bb.metrics.read_analogies(path)) == 2002
    path.write_text("".join(sections))
    with pytest.raises(MeasureError, match=r"more than 1,000 sections.* Join them"):
        bb.metrics.read_analogies(path)


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
@pytest.mark.gensim
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


@pytest.mark.parametrize(
    ("content", "measure"),
    [
        (": family\nboy girl man woman\n", "analogies"),
        ("# theirs\nboy girl man woman\n", "analogies"),
        ("boy girl 3.5\n", "word_similarity"),
        ("boy girl N 3.5\n", "word_similarity"),
        ("word1\tword2\tPOS\tscore\nboy\tgirl\tN\t3\n", "word_similarity"),
        ("Word 1,Word 2,Human (mean)\nboy,girl,3\n", "word_similarity"),
        ("", "word_similarity"),
    ],
)
def test_the_measure_of_a_file_is_seen_by_its_first_line(content: str, measure: str, tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(content)
    assert benchmark_measure(path) == measure


@pytest.mark.shared
def test_the_measure_of_the_usual_files_is_seen(shared: Path) -> None:
    folder = shared / "data" / "benchmarks"
    measures = {path.name: benchmark_measure(path) for path in folder.glob("*.txt")}
    assert {name for name, measure in measures.items() if measure == "analogies"} == {
        "questions-words.txt",
        "MSR-syntax.txt",
    }


def test_a_file_without_words_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("# none yet\n")
    with pytest.raises(MeasureError, match=r"words.txt"):
        read_words(path)
    with pytest.raises(InputFileError, match=r"other.txt"):
        read_words(tmp_path / "other.txt")
