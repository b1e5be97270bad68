"""The mapping of seeds to embeddings, and folders that do not hold one training."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.training.trained import read_matrices
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError
from tests.embeddings.training.texts import SHORT, documents

pytestmark = pytest.mark.gensim  # the default algorithm


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bb.embeddings.TrainedEmbeddings:
    return bb.embeddings.train_embeddings(
        documents(), tmp_path_factory.mktemp("trained") / "folder", seeds=[10, 9], **SHORT
    )


def test_it_is_a_mapping_of_seeds_to_embeddings(trained: bb.embeddings.TrainedEmbeddings):
    assert isinstance(trained, Mapping)
    assert list(trained) == [9, 10]
    assert len(trained) == 2
    assert 9 in trained
    assert 1 not in trained
    assert trained.get(1) is None
    with pytest.raises(KeyError, match=r"seed 1 .*; .* 9, 10"):
        trained[1]
    embedding = trained[10]
    assert embedding.name == "skipgram, seed 10"
    assert embedding.digest == bb.load_embedding(trained.paths[10]).digest != trained[9].digest
    assert str(trained) == "skipgram, seeds 9 and 10, of lists of words (720 words)"
    assert repr(trained).startswith(
        "TrainedEmbeddings(algorithm='skipgram', seeds=2, corpus='lists of words', folder='"
    )
    assert "<td>9, 10</td>" in trained._repr_html_()


def test_a_folder_is_read_again(trained: bb.embeddings.TrainedEmbeddings):
    again = bb.embeddings.read_embeddings(str(trained.folder))
    assert again.paths == trained.paths
    assert again.provenance == trained.provenance


def test_folders_that_hold_none(trained: bb.embeddings.TrainedEmbeddings, tmp_path: Path):
    with pytest.raises(InputFileError, match="folder"):
        bb.embeddings.read_embeddings(tmp_path / "none")
    with pytest.raises(InputFileError, match="file"):
        bb.embeddings.read_embeddings(tmp_path)
    content = trained.paths[9].read_bytes()
    for name in ("skipgram_seed8.npz", "cbow_seed9.npz"):  # a name that is not its own
        (tmp_path / name).write_bytes(content)
        with pytest.raises(EmbeddingError, match="train_embeddings"):
            bb.embeddings.read_embeddings(tmp_path)
        (tmp_path / name).unlink()
    path = tmp_path / "skipgram_seed9.npz"
    path.write_bytes(content[:-100])
    with pytest.raises(InputFileError, match=r"\.npz"):
        bb.embeddings.read_embeddings(tmp_path)
    for provenance in (
        {},
        {"provenance": np.array("{}")},
        {"provenance": np.array("[" * 9)},
        {"provenance": np.ones(3)},
    ):
        np.savez(path, words=np.array(["a"]), vectors=np.ones((1, 2)), **provenance)
        with pytest.raises((EmbeddingError, InputFileError), match=r"train_embeddings|'provenance' .* texts"):
            bb.embeddings.read_embeddings(tmp_path)
    with np.load(trained.paths[9]) as arrays:
        parts = dict(arrays)
    sound = json.loads(str(parts["provenance"]))
    for lie in (
        *({"settings": odd} for odd in (5, None, "x", [1])),
        *({"corpus": {**sound["corpus"], name: None}} for name in sound["corpus"]),
        *({name: odd} for name in ("corpus", "repeats", "algorithm", "trainer", "seed") for odd in (1.5, [], "\ud800")),
    ):
        np.savez(path, **{**parts, "provenance": np.array(json.dumps({**sound, **lie}))})
        with pytest.raises(EmbeddingError, match="train_embeddings"):
            bb.embeddings.read_embeddings(tmp_path)
    path.write_bytes(content)
    other = bb.embeddings.train_embeddings(documents(61), tmp_path / "other", seeds=[11], **SHORT).paths[11]
    (tmp_path / other.name).write_bytes(other.read_bytes())
    with pytest.raises(EmbeddingError, match=r"skipgram_seed9.npz .* skipgram_seed11.npz.*corpus"):
        bb.embeddings.read_embeddings(tmp_path)


def test_context_vectors_predict_what_follows_and_vectors_of_one_matrix_do_not(tmp_path: Path) -> None:
    """Each document is a word of a first half and one of a second; words of a half are never neighbours.

    The truth is that of the corpus: the inner product of a word and a context is high where they are neighbours (Levy
    and Goldberg 2014), while words of one half, which have the same neighbours, have similar word vectors.
    """
    rng = np.random.default_rng(1)
    first, second = (tuple(f"{half}{number}" for number in range(60)) for half in "xy")
    texts = [[str(rng.choice(first)), str(rng.choice(second))] for _ in range(6000)]
    settings = {"dimensions": 8, "epochs": 40, "min_count": 1, "progress": False, "seeds": [1]}
    words, contexts = bb.embeddings.train_embeddings(texts, tmp_path / "out", window=1, **settings).both_matrices(1)
    own = words.matrix(first) @ contexts.matrix(first).T
    across = words.matrix(first) @ contexts.matrix(second).T
    assert across.mean() > own.mean() + 0.5
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in map(words.matrix, (first, second))]
    assert (unit[0] @ unit[0].T).mean() > (unit[0] @ unit[1].T).mean()
    source = bb.asymmetry.static(words, contexts)
    pairs = [(a, b) for a in first[:5] for b in (*first[5:10], *second[:5])]
    neighbours = np.array([b.startswith("y") for _, b in pairs])
    logs = bb.asymmetry.lar(source, pairs)["log_b_given_a"]
    assert logs[neighbours].mean() > logs[~neighbours].mean() + 0.5


def test_both_matrices_of_glove_sum_to_its_vectors(tmp_path: Path) -> None:
    trained = bb.embeddings.train_embeddings(documents(), tmp_path / "out", algorithm="glove", seeds=[1], **SHORT)
    words, contexts = trained.both_matrices(1)
    assert words.words == contexts.words == trained[1].words
    np.testing.assert_array_equal(words.vectors + contexts.vectors, trained[1].vectors)


@pytest.mark.parametrize("contexts", [np.ones((4, 2)), np.full((5, 2), np.nan), np.ones(5), np.full((5, 2), "x")])
def test_context_vectors_that_are_none_are_refused(tmp_path: Path, contexts: np.ndarray) -> None:
    """Vectors of zeros are left out; those with a NaN were left out with them."""
    path = tmp_path / "skipgram_seed1.npz"
    vectors = np.arange(10.0).reshape(5, 2) + 1
    np.savez(path, words=np.array(list("abcde")), vectors=vectors, context_vectors=vectors * [[0], [1], [1], [1], [1]])
    assert read_matrices(path)[1].words == tuple("bcde")
    np.savez(path, words=np.array(list("abcde")), vectors=vectors, context_vectors=contexts)
    with pytest.raises(BayesBiasError, match=r"skipgram_seed1\.npz"):
        read_matrices(path)


def test_a_file_without_context_vectors(tmp_path: Path) -> None:
    trained = bb.embeddings.train_embeddings(documents(), tmp_path / "out", seeds=[1], **SHORT)
    with pytest.raises(KeyError, match="seed 2"):
        trained.both_matrices(2)
    with np.load(trained.paths[1]) as arrays:
        older = {name: arrays[name] for name in arrays.files if name != "context_vectors"}
    np.savez(trained.paths[1], **older)
    with pytest.raises(EmbeddingError, match=r"skipgram_seed1\.npz has no context vectors"):
        trained.both_matrices(1)


def test_names_of_a_stranger_turn_no_line(trained: bb.embeddings.TrainedEmbeddings, tmp_path: Path) -> None:
    path = next(iter(trained.paths.values()))
    arrays = dict(np.load(path))
    facts = json.loads(str(arrays["provenance"]))
    facts["corpus"]["name"] = "\x1b[31m\u202ered"
    np.savez(tmp_path / path.name, **{**arrays, "provenance": np.asarray(json.dumps(facts))})
    assert r"of \x1b[31m\u202ered (" in str(bb.embeddings.read_embeddings(tmp_path))
