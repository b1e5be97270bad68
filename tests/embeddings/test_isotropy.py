"""What all vectors share: measured, removed, and recorded."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding
from bayesbias.errors import EmbeddingError, InputFileError


def made(count=40, dimensions=6, seed=1):
    """Vectors with a common part, along the first axis, and a large second one."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, dimensions)) * [1, 4, 1, 1, 1, 1] + [3, 0, 0, 0, 0, 0]
    return bb.Embedding(tuple(f"word{place}" for place in range(count)), vectors, "made")


def test_the_mean_and_the_components_are_those_of_the_algorithm():
    source = made()
    changed = bb.embeddings.without_common_part(source, 2)
    # Algorithm 1 of Mu and Viswanath (2018), by a singular value decomposition.
    centred = source.vectors - source.vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred)
    np.testing.assert_allclose(changed.vectors, centred - centred @ axes[:2].T @ axes[:2], atol=1e-10)
    assert np.linalg.matrix_rank(changed.vectors, tol=1e-8) == 4


def test_a_reference_gives_the_mean():
    source, other = made(), made(seed=2)
    changed = bb.embeddings.without_common_part(source, reference=other)
    np.testing.assert_allclose(changed.vectors, source.vectors - other.vectors.mean(axis=0))
    with pytest.raises(EmbeddingError, match="6 dimensions"):
        bb.embeddings.without_common_part(source, reference=made(dimensions=6, count=3), components=3)


def test_what_was_done_is_recorded_in_tables_and_files(tmp_path):
    study = bb.Study(
        name="pets", protected={"one": ["word0", "word1"], "two": ["word2", "word3"]},
        attributes={"up": ["word4", "word5"], "down": ["word6", "word7"]},
        associated=[("one", "up"), ("two", "down")], human="none", neutral="none",
    )  # fmt: skip
    changed = bb.embeddings.without_common_part(made(), 1)
    assert changed.steps == ("centred on 40 words, without 1 principal component",)
    read = bb.load_embedding(bb.write_embedding(changed, tmp_path / "changed.npz"), words=study.words)
    assert read.steps == bb.load_embedding(changed).steps == changed.steps
    table = bb.distance_table(read, study)
    assert table.attrs["bayesbias"]["embedding"]["steps"] == changed.steps[0]
    fit = bb.fit(table, "hierarchical", draws=200, random_seed=1)
    assert changed.steps[0] in bb.methods(fit)
    debiased = bb.debias.LinearProjection().fit(read, [["word0", "word1"]], name="pets").transform(read)
    assert debiased.steps == (*changed.steps, "linear-debiased (pets)")


@pytest.mark.parametrize("steps", [np.array([[1.0]]), np.array(["a", "b"])[:, None]])
def test_damaged_records_are_refused(tmp_path, steps):
    np.savez(tmp_path / "v.npz", words=np.array(["a", "b"]), vectors=np.eye(2), steps=steps)
    with pytest.raises(InputFileError, match="'steps'"):
        bb.load_embedding(tmp_path / "v.npz")


def test_the_spread_over_templates_stays_that_of_the_changed_vectors():
    rng = np.random.default_rng(3)
    texts = {f"{word} {place}": rng.standard_normal(4) for word in "abc" for place in range(5)}
    sentences = [f"WORD {place}" for place in range(5)]
    embedding = bb.encode(lambda asked: np.stack([texts[text] for text in asked]), list("abc"), sentences, name="toy")
    centred = bb.embeddings.without_common_part(embedding)
    assert isinstance(centred, ContextualEmbedding)
    # Per template, the centred vector of a word is its own less the mean of all words in this template.
    rows = np.stack([texts[f"a {place}"] - sum(texts[f"{w} {place}"] for w in "abc") / 3 for place in range(5)])
    np.testing.assert_allclose((centred.deviations[0] ** 2).sum(axis=0), rows.var(axis=0, ddof=1) / 5, rtol=1e-4)


def test_shares_and_cosines_are_those_of_a_plain_loop():
    source = made()
    (row,) = bb.embeddings.common_part(source).to_dict("records")
    units = source.vectors / np.linalg.norm(source.vectors, axis=1, keepdims=True)
    cosines = [units[i] @ units[j] for i in range(40) for j in range(i)]
    assert row["mean_cosine"] == pytest.approx(np.mean(cosines))
    assert row["sd_cosine"] == pytest.approx(np.std(cosines))
    assert row["mean_share"] == pytest.approx(float(np.sum(units.mean(axis=0) ** 2)))
    after = bb.embeddings.common_part(bb.embeddings.without_common_part(source)).iloc[0]
    assert after["mean_share"] < 0.1 * row["mean_share"]
    with pytest.raises(EmbeddingError, match="one word"):
        bb.embeddings.common_part({"cat": [1.0, 0.0]})


def test_nothing_left_is_refused():
    with pytest.raises(EmbeddingError, match="'a'"):
        bb.embeddings.without_common_part({"a": [1.0, 0.0], "b": [1.0, 1.0], "c": [1.0, -1.0]})
