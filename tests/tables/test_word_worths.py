"""Which words of a table depend on each other: from vectors, kept by the table, or from its distances."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, TableError
from bayesbias.estimates.dependence import ChanceCorrelations
from bayesbias.models.data import model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.tables.word_worths import KEY, links_of_distances

VECTORS = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
STUDY = bb.Study(
    name="kin",
    protected={"math": ["math", "algebra", "geometry", "calculus"], "arts": ["poetry", "art", "dance", "novel"]},
    attributes={
        "kin": ["father", "son", "brother", "uncle", "war", "church", "club", "death"],
        "she": ["she", "her", "woman", "girl"],
    },
    associated=[("math", "kin"), ("arts", "she")],
    human="none",
    neutral="none",
)


@pytest.fixture(scope="module")
def made() -> pd.DataFrame:
    return bb.distance_table(VECTORS, STUDY)


def record_of(table: pd.DataFrame, name: str) -> dict[str, Any]:
    return next(record for record in table.attrs["bayesbias"][KEY]["lists"] if record["list"] == name)


def test_relatives_depend_on_each_other(made: pd.DataFrame) -> None:
    kin = record_of(made, "kin")
    linked = {frozenset((kin["words"][first], kin["words"][second])) for first, second, _ in kin["links"]}
    assert frozenset(("brother", "son")) in linked
    assert not any("war" in pair for pair in linked)
    sample = attribute_sample(model_data(made))
    worths = dict(zip(sample.lists, sample.list_worths, strict=True))
    assert worths["kin"] < 6
    assert made.attrs["bayesbias"][KEY]["measured"] == "vectors of 1,000 random words"


def test_a_file_keeps_the_record(made: pd.DataFrame, tmp_path: Path) -> None:
    again = bb.read_table(bb.write_table(made, tmp_path / "table.csv"))
    assert again.attrs["bayesbias"][KEY] == made.attrs["bayesbias"][KEY]
    pd.testing.assert_frame_equal(bb.effective_words(again), bb.effective_words(made))


def test_a_fit_keeps_the_record(made: pd.DataFrame, tmp_path: Path) -> None:
    fit = bb.fit(made, draws=100, random_seed=1, progress=False)
    again = bb.read_fit(bb.write_fit(fit, tmp_path / "fit.nc"))
    pd.testing.assert_frame_equal(bb.effective_words(bb.models.fitted_table(again)), bb.effective_words(made))


def test_words_that_are_left_out_take_their_links_along(made: pd.DataFrame) -> None:
    kin = made["attribute_word"].isin(["son", "brother", "uncle"])
    part = made[~kin]
    part.attrs = made.attrs
    worth = bb.effective_words(part).set_index("list")
    assert (worth.loc["kin", "words"], worth.loc["kin", "effective_words"]) == (5, 5.0)


def test_a_reference_stands_for_a_vocabulary(made: pd.DataFrame) -> None:
    source = bb.load_embedding(VECTORS)
    words = {word: source[word] for word in STUDY.words}
    with_reference = bb.distance_table(words, STUDY, reference=source)
    assert with_reference.attrs["bayesbias"][KEY] == made.attrs["bayesbias"][KEY]
    assert KEY not in bb.distance_table(words, STUDY).attrs["bayesbias"]


@pytest.mark.parametrize("reference", [{"a": np.ones(100)}, bb.Embedding(("a",), np.ones((1, 3)))])
def test_a_reference_has_many_words_of_the_same_dimensions(reference: Any) -> None:
    with pytest.raises(ArgumentError, match="reference"):
        bb.distance_table(VECTORS, STUDY, reference=reference)


@pytest.mark.parametrize(
    "change",
    [
        {"links": [[0, 99, 0.5]]},
        {"links": [[0, 0, 0.5]]},
        {"links": [[0, 1, "strong"]]},
        {"links": "none"},
        {"words": [1, 2]},
        {"chance": -1},
        {"topic": "yes"},
        {"role": 5},
    ],
)
def test_records_that_cannot_be_are_refused(made: pd.DataFrame, change: dict[str, Any]) -> None:
    broken, facts = made.copy(), dict(made.attrs["bayesbias"])
    lists = [{**record, **change} for record in facts[KEY]["lists"]]
    broken.attrs["bayesbias"] = {**facts, KEY: {**facts[KEY], "lists": lists}}
    with pytest.raises(TableError, match=KEY):
        bb.effective_words(broken)


def test_distances_alone_show_copies() -> None:
    rng = np.random.default_rng(1)
    concepts = rng.standard_normal((12, 10))
    list_of = np.repeat([0, 1], 24)
    copies = links_of_distances(np.repeat(concepts, 4, axis=0), list_of)
    independent = links_of_distances(rng.standard_normal((48, 10)), list_of)
    assert copies is not None
    assert independent is not None
    assert copies.design_effect(np.arange(24)) > 3
    assert independent.design_effect(np.arange(24)) < 1.3


@pytest.mark.parametrize(("words", "distances", "lists"), [(8, 3, 2), (8, 10, 1), (4, 10, 2)])
def test_too_few_distances_show_nothing(words: int, distances: int, lists: int) -> None:
    values = np.random.default_rng(1).standard_normal((words * lists, distances))
    assert links_of_distances(values, np.repeat(np.arange(lists), words)) is None


def test_all_pairs_are_sorted_once_for_each_kind_of_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each list takes hours with thousands of lists."""
    sorted_pairs: list[int] = []

    def counted(correlations: np.ndarray) -> ChanceCorrelations:
        sorted_pairs.append(correlations.size)
        return ChanceCorrelations(np.sort(correlations, axis=None))

    monkeypatch.setattr(ChanceCorrelations, "from_pairs", counted)
    values = np.random.default_rng(1).standard_normal((120, 10))
    assert links_of_distances(values, np.repeat(np.arange(20), 6), np.repeat([0, 1], 60)) is not None
    assert len(sorted_pairs) == 2
