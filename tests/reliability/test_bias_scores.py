import numpy as np
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import (
    ArgumentError,
    BayesBiasError,
    DuplicatesWarning,
    LostWordsError,
    LostWordsWarning,
    MeasureError,
)
from bayesbias.metrics import word_scores
from bayesbias.reliability import bias_scores as room
from tests.reliability.made import PAIRS, WORDS, made_seeds

RULES = ("db_wa", "ripa", "nbm", "ripa_unit")


def scored(seeds, words=WORDS, **options):
    return bb.reliability.score_array(
        seeds, words, **{"base_pairs": PAIRS, "rules": RULES, "k": 5, "progress": False} | options
    )


def test_equals_the_scores_of_single_words(monkeypatch):
    """Rule by rule and seed by seed, in blocks of words."""
    monkeypatch.setattr(room, "_WORDS", 5)
    seeds = made_seeds()
    scores = scored(seeds)
    assert scores.dims == ("rule", "base_pair", "target_word", "seed")
    assert scores["seed"].values.tolist() == [1, 2, 3]
    for rule in RULES:
        for seed, embedding in seeds.items():
            k = 5 if rule == "nbm" else None
            frame = word_scores(embedding, WORDS, PAIRS, rule=rule, k=k).scores
            one = frame.pivot(index="base_pair", columns="word", values="score")
            single = scores.sel(rule=rule, seed=seed).to_pandas()
            np.testing.assert_allclose(single, one.loc[single.index, single.columns], rtol=0, atol=1e-13)


def test_every_word_that_all_seeds_have():
    seeds = made_seeds(2, more=5)
    scores = scored(seeds, None)
    assert scores["target_word"].values.tolist() == list(seeds[1].words)
    np.testing.assert_allclose(scores.sel(target_word=WORDS), scored(seeds), atol=1e-13)


def test_lost_words_and_pairs_are_dropped_for_all_seeds_and_named():
    seeds = made_seeds()
    words = [word for word in seeds[2].words if word not in ("w3", "queen")]
    seeds[2] = bb.Embedding(tuple(words), seeds[2].matrix(words))
    with pytest.warns(LostWordsWarning) as warned:
        scores = scored(seeds, [*WORDS, "gone"])
    assert ["w3, gone" in str(warning.message) for warning in warned] == [True, False]
    assert "king ~ queen" in str(warned[1].message)
    assert scores.attrs["lost_words"] == ["w3", "gone"]
    assert scores.attrs["lost_base_pairs"] == ["king ~ queen"]
    assert not {"w3", "gone"} & set(scores["target_word"].values)
    assert scores.sizes["base_pair"] == 3
    assert np.isfinite(scores).all()


def test_files_are_read_with_the_words_that_are_needed(tmp_path):
    seeds = made_seeds(more=30)
    paths = {}
    for seed, embedding in seeds.items():
        paths[f"seed{seed}"] = tmp_path / f"seed{seed}.npz"
        bb.write_embedding(embedding, paths[f"seed{seed}"])
    np.testing.assert_array_equal(scored(paths).values, scored(seeds).values)


@pytest.mark.filterwarnings("error")
def test_scores_beyond_the_memory_are_kept_on_disk(monkeypatch):
    import dask.array

    seeds = made_seeds(4)
    held = scored(seeds)
    monkeypatch.setattr(room, "free_memory", lambda: 1000)
    monkeypatch.setattr(room, "_PART", 4 * 4 * 4 * 8 * 5)  # five words a part
    large = scored(seeds)
    assert isinstance(large.data, dask.array.Array)
    assert large.data.numblocks == (1, 1, 3, 1)
    np.testing.assert_array_equal(large.values, held.values)
    for dim in ("target_word", "base_pair"):
        for report in (bb.reliability.test_retest, bb.reliability.inter_rater):
            np.testing.assert_allclose(report(large, dim)["mean"], report(held, dim)["mean"], atol=1e-12)
    queries = {"few": WORDS[:4]}
    on_disk, in_memory = (bb.reliability.internal_consistency(array, queries)["mean"] for array in (large, held))
    np.testing.assert_allclose(on_disk, in_memory, atol=1e-12)


def test_a_file_keeps_them(tmp_path):
    scores = scored(made_seeds())
    scores.to_netcdf(tmp_path / "scores.nc", engine="h5netcdf")
    with xr.open_dataarray(tmp_path / "scores.nc", engine="h5netcdf") as again:
        xr.testing.assert_identical(again.load().drop_attrs(), scores.drop_attrs())


def test_words_of_one_vector_are_one_target():
    seeds = {
        seed: bb.Embedding(embedding.words, embedding.vectors, case="lower") for seed, embedding in made_seeds().items()
    }
    with pytest.warns(DuplicatesWarning, match="W1"):
        scores = scored(seeds, ["w1", "W1", "w2", "w2"])
    assert scores["target_word"].values.tolist() == ["w1", "w2"]


def test_bad_input():
    seeds = made_seeds()
    with pytest.raises(MeasureError, match=r"Seed 1 .* 10 dimensions, .*seed 9 .* 4"):
        scored(seeds | made_seeds(1, dimensions=4) | {9: made_seeds(1, dimensions=4)[1], 1: seeds[1]})
    with pytest.raises(MeasureError, match="seeds 2 and 8 "):
        scored(seeds | {8: seeds[2]})
    other = {
        seed: bb.Embedding(tuple(f"{w}!" for w in embedding.words), embedding.vectors)
        for seed, embedding in seeds.items()
    }
    with pytest.raises(LostWordsError, match="12 of the 12"):
        scored({1: seeds[1], 2: other[2]})
    with pytest.raises(LostWordsError, match="40 of the 40"):
        scored({1: seeds[1], 2: other[2]}, None)
    with pytest.warns(LostWordsWarning), pytest.raises(MeasureError, match="target word"):
        scored({1: seeds[1], 2: other[2]}, max_lost=1)
    with pytest.raises(MeasureError, match="base pair"):
        scored(seeds, base_pairs=[("x", "y")])
    with pytest.raises(MeasureError, match="same direction"):
        scored(seeds, base_pairs=[("he", "he")])
    with pytest.raises(MeasureError, match=r"k .*'nbm'"):
        scored(seeds, rules=["ripa"], k=5)
    with pytest.raises(ArgumentError, match="'ripa'"):
        scored(seeds, rules=["rippa"])
    for wrong in ([], ["ripa", "ripa"], "ripa"):
        with pytest.raises(ArgumentError, match="rules="):
            scored(seeds, rules=wrong)
    for wrong in ({}, {1.5: seeds[1]}, seeds[1], None):
        with pytest.raises(ArgumentError, match="embeddings"):
            scored(wrong)
    with pytest.raises(MeasureError, match="target words"):
        scored(seeds, [])
    with pytest.raises(BayesBiasError):
        scored({1: [1.0, 2.0], 2: [2.0, 3.0]})


def test_a_small_vocabulary_has_fewer_neighbours_or_no_nbm(monkeypatch):
    seeds = made_seeds()
    size = len(seeds[1])
    assert size < 100
    with monkeypatch.context() as patched:
        patched.setattr(room, "_score", None)  # the error comes before any scoring
        for k, sought in ((None, 100), (size, size)):
            with pytest.raises(MeasureError, match=rf"{size} words.*'nbm'.* {sought} .*k of at most {size - 1}"):
                scored(seeds, k=k)
    assert np.isfinite(scored(seeds, k=size - 1)).all()
    assert scored(seeds, rules=["db_wa", "ripa"], k=None).sizes["rule"] == 2


def test_errors_come_before_any_scoring(monkeypatch):
    def score(*_arguments):
        raise AssertionError("scored")

    monkeypatch.setattr(room, "_score", score)
    with pytest.raises(MeasureError, match="dimensions"):
        scored(made_seeds(2) | {3: made_seeds(1, dimensions=4)[1]})
