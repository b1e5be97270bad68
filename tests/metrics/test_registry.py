"""The registry of measures: complete, true to the functions, and runnable by name."""

import inspect

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias import metrics
from bayesbias.errors import MeasureError
from bayesbias.metrics.registry import MEASURES, measure, result_frame, words_needed
from bayesbias.metrics.result import MeasureResult
from bayesbias.metrics.similarities import KERNELS

VECTORS = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
# Functions that are no measure of a study: parts of measures, word pairs, and measures of single lists.
TOOLS = {
    "gender_direction", "index_of_inconsistency", "lattice", "load_base_pairs", "measure", "nearest_neighbours",
    "subset_consistency", "subspace_similarity",
    "leave_one_word_out", "randomisation_nulls", "study_nulls",
}  # fmt: skip


@pytest.fixture(scope="module")
def embedding() -> bb.Embedding:
    return bb.load_embedding(VECTORS)


def test_every_public_measure_is_registered() -> None:
    public = {name for name in metrics.__all__ if inspect.isfunction(getattr(metrics, name))}
    registered = {entry.function.split(":")[1] for entry in MEASURES.values()}
    assert public - TOOLS == registered


def test_entries_are_whole() -> None:
    for name, entry in MEASURES.items():
        assert entry.name == name
        texts = (entry.title, entry.formula, entry.sign, entry.range, entry.needs, entry.source, entry.conventions)
        assert all(texts), name
    assert {name for name, entry in MEASURES.items() if entry.posterior} == set(KERNELS)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_each_runs_on_a_bundled_study(name: str, embedding: bb.Embedding) -> None:
    entry = MEASURES[name]
    words = words_needed(name, bb.load_study("weat7"))
    source = embedding if words is None else bb.load_embedding(VECTORS, words=words)
    result = measure(name, source, "weat7")
    frame = result_frame(result)
    assert len(frame) > 0
    numbers = frame.select_dtypes("number")
    assert np.isfinite(numbers.to_numpy()).all()
    if isinstance(result, MeasureResult):
        assert result.measure == name
        if entry.range.endswith(("2", "1", "4")):
            low, high = map(float, entry.range.split(" to "))
            assert low <= result.value <= high
    else:
        assert isinstance(result, pd.DataFrame | xr.DataArray)
        assert not isinstance(result, xr.DataArray) or result["rule"].to_numpy().tolist() == [name]


def test_words_that_are_needed_suffice(embedding: bb.Embedding) -> None:
    study = bb.load_study("weat7")
    assert words_needed("nbm", study) is None
    assert "he" in words_needed("db_wa", study, base_pairs=[("he", "she")])  # type: ignore[operator]
    assert set(words_needed("weat", study) or ()) == set(study.words)
    pairs = [("he", "she"), ("man", "woman")]
    base = ["he", "she", "man", "woman"]
    few = bb.load_embedding(VECTORS, words=[*study.protected_words, *study.attribute_words, *base])
    scores = measure("db_wa", few, study, base_pairs=pairs)
    assert isinstance(scores, xr.DataArray)
    xr.testing.assert_allclose(scores, metrics.word_scores(embedding, study, pairs, rules=("db_wa",)))
    frame = result_frame(scores).set_index("word")
    by_hand = [embedding["poetry"] @ embedding[m] / np.linalg.norm(embedding[m]) for m in base]
    length = np.linalg.norm(embedding["poetry"])
    expected = [(by_hand[0] - by_hand[1]) / length, (by_hand[2] - by_hand[3]) / length]
    row = frame.loc["poetry"]
    assert [row["mean"], row["lowest"], row["highest"]] == pytest.approx(
        [np.mean(expected), min(expected), max(expected)], abs=1e-6
    )
    assert row["base_pairs"] == 2


def test_options_reach_the_function(embedding: bb.Embedding) -> None:
    result = measure("weat", embedding, "weat7", ddof=0)
    assert isinstance(result, MeasureResult)
    assert result.effect_size == pytest.approx(metrics.weat(embedding, "weat7", ddof=0).effect_size)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("WEAT-ES", {}, "no measure 'WEAT-ES'"),
        ("waet", {}, "did you mean 'weat'"),
        ("weat", {"dof": 0}, r"no option 'dof' \(did you mean 'ddof'\?\); it has targets"),
        ("weat", {"samples": "abc"}, "samples='abc': give a whole number"),
        ("weat", {"random_seed": -1}, "random_seed=-1"),
        ("weat", {"random_seed": "x"}, "random_seed='x'"),
        ("weat", {"targets": 3}, "targets=3: give names"),
        ("ect", {"attributes": [1, 2]}, "give names"),
        ("rnd", {"normalize": 1}, "normalize=1: give True or False"),
        ("direct_bias", {"c": "1"}, "c='1': give a number"),
        ("direct_bias", {"pairs": 1}, "pairs=1: give pairs"),
        ("direct_bias", {"direction": "up"}, "direction='up': give numbers"),
        ("db_wa", {"base_pairs": [("he", "she", "it")]}, "give pairs of words"),
        ("db_wa", {"base_pairs": "gendr"}, "did you mean 'gender'"),
        ("db_wa", {"rules": ("ripa",)}, "no option 'rules'"),
        ("mac", {"targets": ("math", "arts")}, "it has none"),
        ("mac_t_tests", {"after": 1}, "no option 'after'"),
        ("nbm", {"k": 0}, "k=0"),
    ],
)
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_mistakes(embedding: bb.Embedding, name: str, options: dict[str, object], words: str) -> None:
    with pytest.raises(MeasureError, match=words):
        measure(name, embedding, "weat7", **options)
