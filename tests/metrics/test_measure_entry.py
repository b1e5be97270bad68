"""Entries of the registry: their strengths, and whether they have a posterior."""

import numpy as np

from bayesbias.metrics.embedding_registry import EMBEDDING_MEASURES
from bayesbias.metrics.measure_entry import EmbeddingMeasure, Measure, below_one
from bayesbias.metrics.registry import MEASURES


def entry(**changes: object) -> Measure:
    texts = ("name", "title", "formula", "sign", "range", "needs", "source", "conventions", "avoid")
    given = {text: f"the {text}" for text in texts} | {"function": print} | changes
    return Measure(**given)  # type: ignore[arg-type]


def test_strengths_grow_with_the_distance_from_no_association() -> None:
    values = np.array([-2.0, 0.5, 1.0])
    assert entry().strength(values).tolist() == [2.0, 0.5, 1.0]
    assert entry(strength=below_one).strength(values).tolist() == [3.0, 0.5, 0.0]


def test_ect_and_mac_are_1_where_nothing_is_associated() -> None:
    """Manzini et al. (2019) and Dev and Phillips (2019): 1 is no association; of WEAT it is 0."""
    below = {name for name, measure in MEASURES.items() if measure.strength is below_one}
    assert {"ect", "mac"} <= below
    assert "weat" not in below


def test_an_entry_shows_its_texts_and_has_a_posterior_by_its_similarities() -> None:
    described = entry()
    for text in ("formula", "sign", "range", "needs", "conventions", "avoid", "source"):
        assert f"the {text}" in str(described)
    assert not described.posterior
    assert entry(of_similarities=MEASURES["weat"].of_similarities).posterior


def test_what_a_score_takes_is_read_from_its_function() -> None:
    def scaled(embedding: object, words: object, *, normalize: bool, reference: object) -> None: ...

    texts = ("name", "title", "about", "formula", "better", "range", "needs", "data", "source", "conventions", "avoid")
    given = {text: f"the {text}" for text in texts} | {"required": False}
    entries = [EmbeddingMeasure(**given, function=function) for function in (scaled, print)]  # type: ignore[arg-type]
    assert [(one.depends_on_length, one.takes_reference) for one in entries] == [(True, True), (False, False)]
    assert "the better" in str(entries[0])


def test_files_are_read_by_the_scores_that_take_a_path() -> None:
    """Zhao et al. (2018), Hill et al. (2015) and Mikolov et al. (2013) publish their items as files."""
    readers = {name for name, entry in EMBEDDING_MEASURES.items() if entry.read is not None}
    assert readers == {name for name, entry in EMBEDDING_MEASURES.items() if entry.data == "path"}
    assert readers == {"analogies", "sembias", "word_similarity"}
