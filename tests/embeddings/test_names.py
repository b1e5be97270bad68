"""Names of people: one look-up for methods and measures, against vocabularies whose words are written out."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError

NAMES = (["Mary", "Dawn", "Heather", "Ruth"], ["John", "Bill", "Mark"])
CASED = ("Mary", "Dawn", "dawn", "heather", "RUTH", "John", "bill", "Mark", "mark", "table", "chair", "lamp")


@pytest.mark.parametrize("case", ["exact", "lower", ("exact", "lower")])
def test_with_capitals_in_the_vocabulary_lower_case_is_another_word(case: object) -> None:
    embedding = bb.Embedding(CASED, np.eye(len(CASED)), case=case)
    with pytest.warns(LostWordsWarning, match=r"3 of 4 and 2 of 3 names.*Heather, Bill"):
        first, second = bb.embeddings.names_in(embedding, NAMES)
    assert first.matches == {"Mary": "Mary", "Dawn": "Dawn", "Ruth": "RUTH"}
    assert second.matches == {"John": "John", "Mark": "Mark"}
    assert (first.lost, second.lost) == (("Heather",), ("Bill",))


@pytest.mark.parametrize("case", ["exact", "lower"])
def test_without_capitals_lower_case_is_the_name(case: str) -> None:
    words = ("mary", "dawn", "john", "bill")
    first, second = bb.embeddings.names_in(
        bb.Embedding(words, np.eye(4), case=case), (["Mary", "Dawn"], ["John", "Bill"])
    )
    assert (*first.matches.values(), *second.matches.values()) == words


def test_a_form_of_the_case_rule_counts() -> None:
    embedding = bb.Embedding(("en_Mary", "en_Ann"), np.eye(2), case=lambda word: f"en_{word}")
    (looked_up,) = bb.embeddings.names_in(embedding, [["Mary", "Ann"]])
    assert looked_up.matches == {"Mary": "en_Mary", "Ann": "en_Ann"}


def test_too_few_names_are_refused() -> None:
    with pytest.raises(MeasureError, match=r"'cased' has 3 of 4 and 1 of 1 names, and 2 .*Heather"):
        bb.embeddings.names_in(bb.Embedding(CASED, np.eye(len(CASED)), name="cased"), (NAMES[0], ["John"]))


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.parametrize("case", ["exact", ("exact", "lower")])
def test_misp_and_midb_use_the_same_names(case: object) -> None:
    """MISP's directions and weights are those of MIDB, so one gives the other's value."""
    random = np.random.default_rng(1)
    embedding = bb.Embedding(CASED, random.normal(size=(len(CASED), 5)), case=case)
    words = bb.debias.DebiasWords("gender", [["table", "chair"]], names=NAMES)
    fitted = bb.debias.MISP(components=2).fit(embedding, words)
    neutral = ["table", "chair", "lamp", "dawn", "bill"]
    score = bb.metrics.midb(embedding, NAMES, neutral, components=2, random_seed=1)
    assert score.scores["item"].tolist() == neutral, "words in lower case are no names"
    by_misp = embedding.matrix(neutral).astype(float) @ (fitted.weights @ fitted.directions)
    np.testing.assert_allclose(score.scores["bias"], by_misp, atol=1e-6)
    assert "3 of 4 and 2 of 3 names" in score.conventions


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_names_of_google_news_are_those_with_a_capital(shared: Path) -> None:
    path = shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz"
    words = bb.debias.load_debias_words("gender_bolukbasi")
    for case in ("exact", ("exact", "lower")):
        embedding = bb.load_embedding(path, case=case)
        lookups = bb.embeddings.names_in(embedding, words.names)
        expected = [{name for name in names if name in set(embedding.words)} for names in words.names]
        assert [set(lookup.matches.values()) for lookup in lookups] == expected
        assert list(map(len, expected)) == [29, 66]
