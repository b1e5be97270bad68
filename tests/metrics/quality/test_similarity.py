"""Word similarity against gensim and SciPy; the forms in which its files go about."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import InputFileError, LostWordsWarning, MeasureError

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


@pytest.mark.shared
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
