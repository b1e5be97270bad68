"""Covariances of GloVe vectors: against weighted least squares by a QR of the rows, and what is refused."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, EmbeddingError, LostWordsWarning
from tests.embeddings.training.texts import SHORT, documents

TEXTS = documents()


def trained(folder, **changes):
    settings = {**SHORT, "algorithm": "glove", "dimensions": 3, "seeds": [1, 2], **changes}
    return bb.embeddings.train_embeddings(TEXTS, folder, **settings)


def cooccurrences(word: str, window: int) -> dict[str, float]:
    """Sums of 1 / distance, by a plain loop."""
    sums: dict[str, float] = {}
    for text in TEXTS:
        for place, center in enumerate(text):
            if center != word:
                continue
            for other in range(max(0, place - window), min(len(text), place + window + 1)):
                if other != place:
                    sums[text[other]] = sums.get(text[other], 0.0) + 1 / abs(other - place)
    return sums


def test_covariance_is_that_of_weighted_least_squares(tmp_path) -> None:
    """Vallebueno et al. (2024), by a plain loop over the corpus and a QR of the weighted rows."""
    embeddings = trained(tmp_path)
    settings = embeddings.provenance["settings"]
    word = embeddings[2].words[0]
    variance = bb.embeddings.glove_variance(embeddings, TEXTS, [word], training_seed=2)
    with np.load(embeddings.paths[2]) as arrays:
        ranks = {name: rank for rank, name in enumerate(arrays["words"].tolist())}
        counts = cooccurrences(word, settings["window"])
        rows = [ranks[name] for name in counts]
        numbers = np.array(list(counts.values()))
        contexts = arrays["context_vectors"][rows].astype(float)
        biases = arrays["word_biases"][ranks[word]].astype(float) + arrays["context_biases"][rows]
        vector = arrays["word_vectors"][ranks[word]].astype(float)
    weights = np.minimum(1, (numbers / settings["x_max"]) ** settings["alpha"])
    inverse = np.linalg.inv(np.linalg.qr(np.sqrt(weights)[:, None] * contexts)[1])
    residuals = np.log(numbers) - biases - contexts @ vector
    expected = inverse @ inverse.T * (weights @ residuals**2) / (len(rows) - 3)
    np.testing.assert_allclose(variance.covariances[0], expected, rtol=1e-4)
    assert variance.contexts.tolist() == [len(rows)]
    np.testing.assert_array_equal(variance.vectors[0], vector)


def test_draws_have_the_covariance(tmp_path) -> None:
    embeddings = trained(tmp_path)
    variance = bb.embeddings.glove_variance(embeddings, TEXTS, embeddings[1].words[:2])
    draws = variance.draws(draws=4000, random_seed=1)
    np.testing.assert_array_equal(draws, variance.draws(draws=4000, random_seed=1))
    for place in range(2):
        spread = np.cov(draws[:, place].T)
        scale = np.trace(variance.covariances[place])
        np.testing.assert_allclose(spread, variance.covariances[place], atol=0.1 * scale)


def test_what_has_no_covariance(tmp_path) -> None:
    embeddings = trained(tmp_path / "glove")
    with pytest.warns(LostWordsWarning, match="nonsense"):
        variance = bb.embeddings.glove_variance(embeddings, TEXTS, [embeddings[1].words[0], "nonsense"])
    assert variance.lost_words == ("nonsense",)
    with pytest.raises(EmbeddingError, match="occurs with more than 3"):
        bb.embeddings.glove_variance(embeddings, TEXTS, ["nonsense"])
    with pytest.raises(EmbeddingError, match="not the corpus"):
        bb.embeddings.glove_variance(embeddings, TEXTS[:-1], ["nonsense"])
    with pytest.raises(ArgumentError, match="training_seed=3"):
        bb.embeddings.glove_variance(embeddings, TEXTS, ["nonsense"], training_seed=3)
    with pytest.raises(ArgumentError, match="resampled documents"):
        bb.embeddings.glove_variance(trained(tmp_path / "drawn", resample="documents"), TEXTS, ["nonsense"])
