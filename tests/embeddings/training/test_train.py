"""`train_embeddings`: one file a seed, repeated bit for bit, continued where it was interrupted, never mixed."""

import json
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.training import ALGORITHMS, train
from bayesbias.errors import ArgumentError, EmbeddingError, OutputError, TrainingWarning
from tests.embeddings.training.texts import PAIRS, SHORT, documents

TEXTS = documents()
pytestmark = pytest.mark.gensim  # the default algorithm


def trained(folder: Path, **changes):
    return bb.embeddings.train_embeddings(TEXTS, folder, **{"seeds": [1, 2], **SHORT, **changes})


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_thread_repeats_bit_for_bit(algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # 2 million vectors of n-grams take seconds.
    small = {**train._WORD2VEC_FIXED, "min_n": 3, "max_n": 6, "buckets": 500}
    monkeypatch.setitem(
        ALGORITHMS, "fasttext", train.Algorithm(train.fasttext, "gensim", train._WORD2VEC_DEFAULTS, small)
    )
    lists = {"pairs": PAIRS} if algorithm == "gn_glove" else {}
    first, again = (trained(tmp_path / name, algorithm=algorithm, **lists) for name in ("first", "again"))
    assert list(first) == [1, 2]
    for seed, path in first.paths.items():
        assert path.name == f"{algorithm}_seed{seed}.npz"
        assert path.read_bytes() == again.paths[seed].read_bytes()
    assert (first[1].vectors != first[2].vectors).any()
    assert first[1].words == first[2].words
    assert first.provenance["repeats"] is True
    given = {"dimensions", "min_count", *ALGORITHMS[algorithm].defaults, *lists, *({"sides"} if lists else ())}
    assert set(first.provenance["settings"]) == given | set(ALGORITHMS[algorithm].fixed)


def test_defaults_are_those_of_the_paper(tmp_path: Path):
    """Du, Fang and Nguyen (2021), section 5.1 and its footnote 6; x_max and alpha: GloVe's own program."""
    settings = bb.embeddings.train_embeddings(TEXTS, tmp_path / "skipgram", seeds=[1]).provenance["settings"]
    expected = {"dimensions": 300, "window": 5, "min_count": 5, "epochs": 5, "negative": 5}
    assert expected.items() <= settings.items()
    expected = {"dimensions": 300, "window": 15, "min_count": 5, "epochs": 15, "x_max": 100, "alpha": 0.75}
    assert (
        expected.items()
        <= bb.embeddings.train_embeddings(TEXTS, tmp_path / "glove", seeds=[1], algorithm="glove")
        .provenance["settings"]
        .items()
    )


def test_a_file_says_what_it_was_made_from(tmp_path: Path):
    (tmp_path / "corpus.txt").write_text("\n".join(" ".join(text) for text in TEXTS))
    path = bb.embeddings.train_embeddings(
        tmp_path / "corpus.txt", tmp_path / "out", seeds=[5], algorithm="glove", **SHORT
    ).paths[5]
    with np.load(path, allow_pickle=False) as arrays:
        facts = json.loads(str(arrays["provenance"]))
        assert set(arrays) == {
            *("words", "vectors", "word_vectors", "context_vectors", "word_biases", "context_biases", "provenance")
        }
        np.testing.assert_array_equal(arrays["vectors"], arrays["word_vectors"] + arrays["context_vectors"])
    assert facts["seed"] == 5
    assert facts["algorithm"] == "glove"
    assert facts["trainer"].startswith("numba ")
    assert facts["corpus"] | {"sha256": ""} == {"name": "corpus.txt", "sha256": "", "documents": 60, "tokens": 720}
    assert {"bayesbias", "numpy", "python"} <= set(facts["versions"])
    # The same words from a file and from lists are the same corpus: files are kept.
    assert trained(tmp_path / "out", algorithm="glove", seeds=[5]).paths[5] == path


def test_an_interrupted_run_goes_on_with_the_first_seed_that_has_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    whole = trained(tmp_path / "whole", seeds=[1, 2, 3])
    written_files, real = [], train.write_seed

    def write(path, *arguments, **options):
        written_files.append(path.name)
        if len(written_files) == 2:
            raise KeyboardInterrupt
        real(path, *arguments, **options)

    monkeypatch.setattr(train, "write_seed", write)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "halves", seeds=[1, 2, 3])
    assert [path.name for path in (tmp_path / "halves").iterdir()] == ["skipgram_seed1.npz"]
    embeddings = trained(tmp_path / "halves", seeds=[1, 2, 3])
    assert written_files == [f"skipgram_seed{seed}.npz" for seed in (1, 2, 2, 3)]
    for seed in whole:
        assert embeddings.paths[seed].read_bytes() == whole.paths[seed].read_bytes()
    assert list(trained(tmp_path / "halves", seeds=[9])) == [1, 2, 3, 9]
    assert not list(tmp_path.rglob("*.bayesbias"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dimensions": 7}, "dimensions 7, there 6"),
        ({"algorithm": "cbow"}, "algorithm cbow, there skipgram"),
        ({"min_count": 1, "negative": 2}, "min_count 1, there 5; negative 2, there 5"),
    ],
)
def test_another_setting_in_the_same_folder_is_an_error(tmp_path: Path, changes, message: str):
    before = trained(tmp_path).paths[1].read_bytes()
    with pytest.raises(OutputError, match=f"skipgram.*{message}"):
        trained(tmp_path, **changes)
    assert trained(tmp_path).paths[1].read_bytes() == before
    if "algorithm" not in changes:
        with pytest.raises(OutputError, match="skipgram_seed2"):
            trained(tmp_path, seeds=[1], overwrite=True, **changes)
        assert trained(tmp_path, overwrite=True, **changes).paths[1].read_bytes() != before


def test_another_corpus_in_the_same_folder_is_an_error(tmp_path: Path):
    trained(tmp_path)
    with pytest.raises(OutputError, match=r"[0-9a-f]{12}, .* [0-9a-f]{12}"):
        bb.embeddings.train_embeddings(documents(61), tmp_path, seeds=[1], **SHORT)


def test_more_threads_say_that_they_do_not_repeat(tmp_path: Path):
    with pytest.warns(TrainingWarning, match="2 threads, skipgram"):
        embeddings = trained(tmp_path / "skipgram", threads=2)
    assert embeddings.provenance["repeats"] is False
    with pytest.raises(OutputError, match=r"True, .* False"):
        trained(tmp_path / "skipgram", seeds=[3])
    one, two = (trained(tmp_path / f"glove{threads}", algorithm="glove", threads=threads) for threads in (1, 2))
    assert two.provenance["repeats"] is True
    assert one.paths[1].read_bytes() == two.paths[1].read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm": "gloves"}, "did you mean 'glove'"),
        ({"x_max": 5.0}, r"x_max=5.0: skipgram .* glove"),
        ({"algorithm": "glove", "negative": 5}, "negative=5: glove"),
        ({"algorithm": "glove", "alpha": 0}, r"alpha=0: .* 0"),
        ({"window": 0}, "window=0"),
        ({"negative": 2**40}, r"negative=1099511627776: .* 1,000,000"),
        ({"epochs": 1.5}, "epochs=1.5"),
        ({"threads": 0}, "threads=0"),
        ({"workers": 0}, "workers=0"),
        ({"workers": 2, "scheduler": "tcp://127.0.0.1:1"}, "workers and scheduler"),
        ({"workers": 2, "threads": 2}, "threads=2: .*one core"),
        ({"dimensions": True}, "dimensions=True"),
        ({"dimensions": 100_001}, r"dimensions=100001: .* 100,000"),  # no reader takes more
        ({"seeds": 3}, "seeds=3"),
        ({"seeds": []}, "seeds="),
        ({"seeds": [1, 1]}, "seeds="),
        ({"seeds": [None]}, "seeds="),
        ({"seeds": [-1]}, r"seeds: -1: .* 0 .* 4294967295"),
    ],
)
def test_arguments_are_checked_before_any_work(tmp_path: Path, changes, message: str):
    with pytest.raises(ArgumentError, match=message):
        trained(tmp_path / "folder", **changes)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_one(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        trained(tmp_path / "file")
    with pytest.raises(OutputError, match="exist"):
        trained(tmp_path / "no" / "folder")


@pytest.mark.parametrize("algorithm", train.ALGORITHMS)
def test_words_that_have_no_neighbour_are_not_left_random(algorithm: str, tmp_path: Path):
    alone = [["he", "rare"], ["she"], ["she"]] * 4 + [["he"], ["seldom", "he"]]
    lists = {"pairs": [["she", "he"]]} if algorithm == "gn_glove" else {}
    with pytest.raises(EmbeddingError, match=r"2 .* 5 "):
        bb.embeddings.train_embeddings(alone, tmp_path, algorithm=algorithm, **lists)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("algorithm", ["skipgram", "glove"])
def test_too_little_text_leaves_nothing(algorithm: str, tmp_path: Path):
    with pytest.raises(EmbeddingError, match=r"500 .* 720 .* 60 "):
        trained(tmp_path / "folder", algorithm=algorithm, min_count=500)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("algorithm", ["skipgram", "glove"])
def test_resampled_trainings_repeat_and_say_what_they_are(algorithm: str, tmp_path: Path):
    first, again = (trained(tmp_path / name, algorithm=algorithm, resample="documents") for name in ("first", "again"))
    assert first.provenance["settings"]["resample"] == "documents"
    for seed, path in first.paths.items():
        assert path.read_bytes() == again.paths[seed].read_bytes()
    plain = trained(tmp_path / "plain", algorithm=algorithm)
    assert "resample" not in plain.provenance["settings"]
    assert first.provenance["corpus"] == plain.provenance["corpus"]
    assert set(first[1].words) <= set(plain[1].words)
    with pytest.raises(OutputError, match="resample"):
        trained(tmp_path / "plain", algorithm=algorithm, resample="documents")
    with pytest.raises(ArgumentError, match="resample='words'"):
        trained(tmp_path / "other", resample="words")


def test_pairs_and_sides_are_gn_gloves_and_are_stored(tmp_path: Path):
    settings = trained(tmp_path / "out", algorithm="gn_glove", pairs=PAIRS, seeds=[1]).provenance["settings"]
    assert settings["pairs"] == PAIRS
    assert settings["sides"] == [["king", "man"], ["queen", "woman"]]
    with pytest.raises(OutputError, match="sides"):
        trained(tmp_path / "out", algorithm="gn_glove", pairs=PAIRS, sides=[["king"], ["queen"]])
    for changes, message in [
        ({"algorithm": "glove", "pairs": PAIRS}, "pairs: glove"),
        ({"sides": PAIRS}, "sides: skipgram"),
        ({"algorithm": "gn_glove"}, "pairs"),
        ({"algorithm": "gn_glove", "pairs": [["king", "king"]]}, "different words"),
        ({"algorithm": "gn_glove", "pairs": [["king", 3]]}, "not a word"),
        ({"algorithm": "gn_glove", "pairs": [["king", "queen", "man"]]}, "two different"),
        ({"algorithm": "gn_glove", "pairs": PAIRS, "sides": [["king"]]}, "there are 1"),
        ({"algorithm": "gn_glove", "pairs": PAIRS, "sides": [["king"], ["king"]]}, "'king' is on both"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            trained(tmp_path / "other", **changes)
