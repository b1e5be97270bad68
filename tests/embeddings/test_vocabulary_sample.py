"""The sample of a vocabulary: the same for all formats and orders, and never in the way of the words asked for."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings import vocabulary_sample
from bayesbias.embeddings.loading import read_vocabulary
from bayesbias.embeddings.vocabulary_sample import FEWEST, SAMPLE, WantedWithSample, sampled_vectors
from bayesbias.errors import EmbeddingError, InputFileError

WORDS = 5_000


def letters(number: int) -> str:
    return "".join(chr(97 + number // 26**place % 26) for place in range(4))


@pytest.fixture(scope="module")
def vectors() -> bb.Embedding:
    rng = np.random.default_rng(1)
    names = tuple(letters(number) for number in range(WORDS)) + tuple(f"Name_{number}" for number in range(500))
    return bb.Embedding(names, rng.standard_normal((len(names), 5)).astype(np.float32))


@pytest.mark.parametrize("ending", [".npz", ".bin", ".vec", ".txt"])
def test_a_file_gives_the_sample_of_its_whole_vocabulary(vectors: bb.Embedding, tmp_path: Path, ending: str) -> None:
    path = bb.write_embedding(vectors, tmp_path / f"vectors{ending}")
    part = bb.load_embedding(path, words=["aaaa", "baaa"])
    assert part.words == ("aaaa", "baaa")
    assert part.vocabulary_sample is not None
    assert part.reference is not None
    assert vectors.reference is not None
    assert part.reference.shape == (SAMPLE, 5)
    np.testing.assert_allclose(part.reference, vectors.reference, atol=1e-6)


def test_the_sample_has_lower_case_words_where_there_are_enough(vectors: bb.Embedding) -> None:
    plain = {tuple(row) for row in vectors.vectors[:WORDS].tolist()}
    sample = sampled_vectors(vectors.words, vectors.vectors)
    assert sample is not None
    assert all(tuple(row) in plain for row in sample.tolist())
    assert len(np.unique(sample, axis=0)) == SAMPLE


def test_the_sample_does_not_depend_on_the_order_of_words() -> None:
    words = [letters(number) for number in range(WORDS)]
    chosen = []
    for order in (words, words[::-1]):
        wanted = WantedWithSample(frozenset(["aaaa"]))
        asked = [word for word in order if word in wanted]
        assert "aaaa" in asked
        chosen.append({word for word in asked if wanted.is_sampled(word)})
    assert chosen[0] == chosen[1]
    # Each word is drawn with the probability 1,350 / 5,000.
    assert abs(len(chosen[0]) - 1_350) < 4 * np.sqrt(5_000 * 0.27 * 0.73)


def test_after_the_frequent_words_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary_sample, "FIRST_ENTRIES", 10)
    wanted = WantedWithSample(frozenset(["zzzz"]))
    assert all(letters(number) in wanted for number in range(10))
    assert letters(11) not in wanted
    assert "zzzz" in wanted


def test_few_words_are_no_vocabulary(vectors: bb.Embedding) -> None:
    few = bb.Embedding(vectors.words[: FEWEST - 1], vectors.vectors[: FEWEST - 1])
    assert few.reference is None
    assert bb.load_embedding(few, words=["aaaa"]).reference is None


def test_rows_without_a_direction_are_in_no_sample(vectors: bb.Embedding, tmp_path: Path) -> None:
    broken = vectors.vectors.copy()
    broken[10], broken[20, 0] = 0.0, np.nan
    path = tmp_path / "vectors.npz"
    np.savez(path, words=np.array(vectors.words), vectors=broken)
    part = bb.load_embedding(path, words=["aaaa"])
    assert part.vocabulary_sample is not None
    assert np.isfinite(part.vocabulary_sample).all()


def test_a_file_of_a_part_keeps_the_sample(vectors: bb.Embedding, tmp_path: Path) -> None:
    part = bb.load_embedding(vectors, words=["aaaa", "baaa"])
    again = bb.load_embedding(bb.write_embedding(part, tmp_path / "part.npz"))
    assert part.vocabulary_sample is not None
    assert again.vocabulary_sample is not None
    np.testing.assert_array_equal(again.vocabulary_sample, part.vocabulary_sample)
    centred = bb.embeddings.without_common_part(again, reference=vectors)
    assert centred.vocabulary_sample is not None
    mean = vectors.vectors.mean(axis=0)
    np.testing.assert_allclose(centred.vocabulary_sample, part.vocabulary_sample - mean, atol=1e-6)


@pytest.mark.parametrize("sample", [np.ones((FEWEST, 3)), np.ones((5, 2)), np.zeros((FEWEST, 2)), np.ones(FEWEST, int)])
def test_samples_that_cannot_be_are_refused(sample: np.ndarray) -> None:
    with pytest.raises(EmbeddingError, match="vocabulary_sample"):
        bb.Embedding(("a",), np.ones((1, 2)), vocabulary_sample=sample)


def test_a_file_whose_sample_holds_no_numbers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    np.savez(path, words=np.array(["a"]), vectors=np.ones((1, 2)), vocabulary_sample=np.array(["b"]))
    with pytest.raises(InputFileError, match="vocabulary_sample"):
        bb.load_embedding(path)


def test_a_vocabulary_has_places_vectors_and_a_sample_in_one_pass(vectors: bb.Embedding) -> None:
    ranks, of_words, sample = read_vocabulary(vectors, ["baaa", "missing"])
    assert (len(ranks), ranks["aaaa"], ranks["Name_499"]) == (len(vectors), 1, len(vectors))
    assert list(of_words) == ["baaa"]
    np.testing.assert_array_equal(of_words["baaa"], vectors["baaa"])
    assert sample is not None
    assert len(sample) == SAMPLE


def test_places_go_on_when_the_sample_is_complete(vectors: bb.Embedding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary_sample, "FIRST_ENTRIES", 100)
    monkeypatch.setattr("bayesbias.embeddings.loading.FIRST_ENTRIES", 100)
    assert read_vocabulary(vectors)[0]["Name_499"] == len(vectors)
