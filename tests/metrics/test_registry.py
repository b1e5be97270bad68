"""The registry of measures: complete, true to the functions, and runnable by name."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias import metrics
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.errors import ArgumentError, LostWordsError, LostWordsWarning, MeasureError
from bayesbias.metrics.directions.word_scores import RULES
from bayesbias.metrics.measure_result import MeasureResult
from bayesbias.metrics.registry import MEASURES, find_measure, measure
from tests.metrics.made import PETS, vectors

VECTORS = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
# Functions that are no measure of a study: parts of measures, tables, and measures of single lists.
TOOLS = {
    "congruences", "direction_posterior",
    "gender_direction", "kindel_comparison", "lattice", "leave_one_word_out",
    "load_base_pairs", "mac_t_tests", "measure", "nearest_neighbours", "randomisation_nulls", "study_nulls",
    "subset_consistency", "subspace_similarity", "t_tests",
}  # fmt: skip
PAIRS = [("cat", "dog"), ("kitten", "puppy")]


def pets_options(name: str) -> dict[str, Any]:
    """What some measures need for `PETS`, or do quicker with."""
    special = {"nbm": {"k": 3}, "sc_weat": {"targets": "cats"}}
    return MEASURES[name].accepted(base_pairs=PAIRS, pairs=PAIRS, splits=0) | special.get(name, {})


@pytest.fixture(scope="module")
def embedding() -> bb.Embedding:
    return bb.load_embedding(VECTORS)


STUDIES = [name for name, entry in MEASURES.items() if entry.about == "association"]
WHOLE = [name for name in MEASURES if name not in STUDIES]
TOOLS_OF_A_DIRECTION = ("direction_posterior", "gender_direction", "measure", "nearest_neighbours")
# What scores of a whole embedding use.
TOOLS_OF_WHOLE = {metrics.neutral_words, metrics.paired_change, metrics.indirect_bias}
TOOLS_OF_WHOLE |= {metrics.read_similarity, metrics.read_analogies, metrics.read_sembias}
FILES = {
    "sembias": "he:she art:poetry math:science doctor:nurse\nman:woman art:science poetry:math doctor:dance\n",
    "word_similarity": "she he 9\nnurse doctor 5\nman woman 8\nart music 4\n",
    "analogies": "he she man woman\nman woman he she\nboy girl man woman\n",
}


def test_every_public_measure_is_registered() -> None:
    public = {value for name in metrics.__all__ if inspect.isfunction(value := getattr(metrics, name))}
    assert {function.__name__ for function in public - TOOLS_OF_WHOLE} - TOOLS == {
        entry.function.__name__ for entry in MEASURES.values()
    }
    assert {entry.function for entry in MEASURES.values()} <= public
    results = {function for function in public if inspect.signature(function).return_annotation is MeasureResult}
    assert results >= {entry.function for entry in MEASURES.values()}


def test_entries_are_whole() -> None:
    for name, entry in MEASURES.items():
        assert entry.name == name
        assert all(entry.card.values()), name
        assert (entry.sign is None) == (entry.better is not None) == (name in WHOLE)
        assert entry.about in ("association", "bias", "quality")
        assert entry.better in (None, "lower", "higher", "nearer to 0")
        here = entry.of_similarities
        assert entry.posterior == (here is not None)
        assert here is None or (here.words is None) == (here.word_value == "")
    assert {name for name, entry in MEASURES.items() if entry.posterior} >= {"weat", "weat_score", "mac", "ect"}


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_each_gives_one_result_of_a_bundled_study(name: str, embedding: bb.Embedding) -> None:
    entry = MEASURES[name]
    result = measure(name, embedding, "weat7", **({"targets": "math"} if name == "sc_weat" else {}))
    assert isinstance(result, MeasureResult)
    assert result.measure == name
    assert result.contents.title.endswith("?")
    assert result.contents.figures["scores"].plot.endswith(".forest")
    assert list(result.scores) == ["word", "group", "attribute_group", "base_pair", "score"]
    assert len(result.scores) > 0
    assert np.isfinite(result.scores["score"]).all()
    keys = result.scores.drop(columns="score")
    assert not keys.isna().any(axis=None)
    assert not keys.duplicated().any()
    if entry.range.endswith(("2", "1", "4")):
        low, high = map(float, entry.range.split(" to "))
        assert low <= result.value <= high


@pytest.mark.parametrize("name", [name for name, entry in MEASURES.items() if entry.posterior])
def test_the_function_of_similarities_is_the_measure(name: str) -> None:
    here = MEASURES[name].of_similarities
    assert here is not None
    lists = here.lists(PETS, None, None)
    similarities, _ = metrics.Similarities.of_embedding(vectors(), lists)
    result = measure(name, vectors(), PETS, **dict(here.same_as))
    statistics = here.statistics(similarities)
    assert list(result.statistics)[: len(statistics)] == list(statistics)
    for statistic, value in statistics.items():
        assert float(value) == pytest.approx(result.statistics[statistic], abs=1e-12)
    if here.words is not None:
        np.testing.assert_allclose(here.words(similarities).ravel(), result.scores["score"], atol=1e-12)


@pytest.mark.parametrize(
    "name", [name for name in STUDIES if name not in ("direct_bias", "db_wa", "ripa", "ripa_unit", "nbm")]
)
def test_lists_by_name_are_as_good_as_a_study(name: str) -> None:
    options = pets_options(name)
    expected = measure(name, vectors(), PETS, **options).statistics
    group = options.pop("targets", None)
    protected = PETS.protected if group is None else {str(group): PETS.protected[str(group)]}
    assert measure(name, vectors(), {**protected, **PETS.attributes}, **options).statistics == expected


@pytest.mark.parametrize("name", STUDIES)
def test_each_refuses_lists_that_lost_too_many_words(name: str) -> None:
    given = vectors("tom", "hound", "growl")  # a third of three lists, so that WEAT still compares groups of one size
    options = pets_options(name)
    with pytest.raises(LostWordsError, match=r"1 .* 3 .* 'loud' \(growl\)\. .* max_lost=0\.34\.$"):
        measure(name, given, PETS, **options)
    with pytest.warns(LostWordsWarning, match=r"1 .* 3 .* 'loud' \(growl\)"):
        result = measure(name, given, PETS, max_lost=1, **options)
    assert result.lost_words["loud"] == ("growl",)
    assert np.isfinite(result.value)


def test_all_that_look_lists_up_take_the_share_that_may_be_lost() -> None:
    """But for scores of a whole embedding: their items are many, and what is lost stands in the score's coverage."""
    functions = {value for name in metrics.__all__ if inspect.isfunction(value := getattr(metrics, name))}
    for function in functions - TOOLS_OF_WHOLE - {MEASURES[name].function for name in WHOLE}:
        parameters = inspect.signature(function).parameters
        if "embedding" in parameters and function.__name__ not in TOOLS_OF_A_DIRECTION:
            assert parameters["max_lost"].default == MAX_LOST, function.__name__
            assert parameters["max_lost"].kind is inspect.Parameter.KEYWORD_ONLY, function.__name__


def test_options_reach_the_function(embedding: bb.Embedding) -> None:
    expected = metrics.weat(embedding, "weat7", ddof=0)
    for ddof in (0, np.int64(0)):
        assert measure("weat", embedding, "weat7", ddof=ddof).effect_size == expected.effect_size


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.parametrize("name", WHOLE)
def test_every_score_of_a_whole_embedding_has_one_signature_and_one_result(name: str, tmp_path: Path) -> None:
    entry = MEASURES[name]
    assert next(iter(inspect.signature(entry.function).parameters)) == "embedding"
    assert {"random_seed", "hdi_prob"} <= set(entry.option_names)
    data: object = (["woman", "girl", "mother"], ["man", "boy", "father"]) if entry.data == "names" else None
    if entry.data == "path":
        data = tmp_path / "file.txt"
        (tmp_path / "file.txt").write_text(FILES[name])
    assert (data is None) == (not entry.required)
    settings = entry.accepted(random_seed=1, progress=False, reference=VECTORS, words_in_all=100, neighbours=20)
    settings |= entry.accepted(splits=2, classifiers=["rbf_svm"])
    score = measure(name, VECTORS, data, **settings)
    assert isinstance(score, MeasureResult)
    assert score.measure == name
    assert score.interval is not None
    assert score.interval[0] <= score.interval[1]
    again = measure(name, VECTORS, data, **settings)
    assert score.estimates is not None
    assert score.estimates.equals(again.estimates)
    other = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed2.npz")
    change = metrics.paired_change(score, measure(name, other, data, **settings), random_seed=1)
    assert list(change["quantity"]) == list(score.statistics) == list(score.estimates["quantity"])


def test_names_of_one_kind() -> None:
    assert find_measure("gipe", "bias", "quality") is find_measure("gipe") is MEASURES["gipe"]
    with pytest.raises(MeasureError, match=r"'weat' of bias or quality\."):
        find_measure("weat", "bias", "quality")
    with pytest.raises(MeasureError, match=r"'SemBiass' of bias .*'sembias'"):
        find_measure("SemBiass", "bias")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("WEAT-ES", {}, "'WEAT-ES'"),
        ("waet", {}, "did you mean 'weat'"),
        ("t_tests", {}, "'t_tests'"),
        ("weat", {"dof": 0}, r"'dof' \(did you mean 'ddof'\?\); it has targets"),
        ("weat", {"samples": "abc"}, "samples='abc'"),
        ("weat", {"random_seed": -1}, "random_seed=-1"),
        ("weat", {"random_seed": "x"}, "random_seed='x'"),
        ("weat", {"targets": 3}, "targets=3"),
        ("ect", {"attributes": [1, 2]}, "attributes=.* 1"),
        ("rnd", {"normalize": 1}, "normalize=1"),
        ("rnsb", {"random_seed": -1}, "random_seed=-1"),
        ("canonical_subspace", {"scaled": "no"}, "scaled='no'"),
        ("direct_bias", {"c": "1"}, "c='1'"),
        ("direct_bias", {"pairs": 1}, "pairs"),
        ("direct_bias", {"direction": "up"}, "direction='up'"),
        ("db_wa", {"base_pairs": [("he", "she", "it")]}, "'he', 'she', 'it'"),
        ("db_wa", {"base_pairs": "gendr"}, "did you mean 'gender'"),
        ("db_wa", {"rule": "ripa"}, "'rule'"),
        ("mac", {"targets": ("math", "arts")}, r"mac .*'targets'.* max_lost\.$"),
        ("gipe", {"neighbors": 5}, "'neighbors'.*'neighbours'"),
        ("nbm", {"k": 0}, "k=0"),
    ],
)
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_mistakes(embedding: bb.Embedding, name: str, options: dict[str, object], words: str) -> None:
    with pytest.raises((MeasureError, ArgumentError), match=words):
        measure(name, embedding, "weat7", **options)


@pytest.mark.parametrize("rule", list(RULES))
def test_a_rule_of_word_scores_is_found_by_its_name(rule: str) -> None:
    with pytest.raises(AttributeError, match=rf"has no attribute '{rule}'\. Use .*word_scores\(..., rule='{rule}'\)"):
        getattr(bb.metrics, rule)


def test_a_study_of_one_group_is_sent_to_its_measure() -> None:
    study = bb.Study(
        name="one", protected={"jobs": ["nurse", "doctor"]}, attributes={"a": ["he"], "b": ["she"]},
        associated=[("jobs", "a")], human="none", neutral="none",
    )  # fmt: skip
    with pytest.raises(MeasureError, match="'sc_weat', which is about one"):
        measure("weat", VECTORS, study)


def test_data_that_are_missing() -> None:
    for name in ("sembias", "weat"):
        with pytest.raises(MeasureError, match=rf"{name} .* data"):
            measure(name, VECTORS)
