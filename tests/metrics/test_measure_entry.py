"""Entries of the registry: their strengths, and whether they have a posterior."""

import numpy as np

from bayesbias.metrics.measure_entry import Measure, below_one
from bayesbias.metrics.registry import MEASURES


def entry(**changes: object) -> Measure:
    texts = ("name", "title", "formula", "sign", "range", "needs", "source", "conventions", "avoid")
    given = {text: f"the {text}" for text in texts} | {"function": lambda embedding, study: None} | changes
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


def test_what_a_measure_takes_is_read_from_its_function() -> None:
    def scaled(embedding: object, words: object, *, normalize: bool, reference: object, rule: str) -> None: ...

    def plain(embedding: object, path: object = None) -> None: ...

    one, other = (entry(function=function, about="bias", options={"rule": "x"}) for function in (scaled, plain))
    assert [each.depends_on_length for each in (one, other)] == [True, False]
    assert [each.card["reference"] for each in (one, other)] == ["chooses the words or directions", "none"]
    assert [(each.data, each.required) for each in (one, other)] == [("words", True), ("path", False)]
    assert one.option_names == ["normalize", "reference"]
    assert one.accepted(reference=1, seed=2, rule="y", words=3) == {"reference": 1}
    assert "the better" in str(entry(better="the better"))


def test_files_are_read_by_the_scores_that_take_a_path() -> None:
    """Zhao et al. (2018), Hill et al. (2015) and Mikolov et al. (2013) publish their items as files."""
    readers = {name for name, entry in MEASURES.items() if entry.read is not None}
    assert readers == {name for name, entry in MEASURES.items() if entry.data == "path"}
    assert readers == {"analogies", "sembias", "word_similarity"}
