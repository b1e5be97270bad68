"""Building a distance table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import bayesbias as bb
from bayesbias.base import machine as memory
from bayesbias.errors import (
    ArgumentError,
    DuplicatesWarning,
    LostWordsError,
    LostWordsWarning,
    NotEnoughMemoryError,
    StudyError,
)

PETS = bb.Study(
    name="pets",
    protected={"cats": ["cat", "kitten"], "dogs": ["dog"]},
    attributes={"quiet": ["purr", "nap"], "loud": ["bark"]},
    associated=[("cats", "quiet"), ("dogs", "loud")],
    human=["walk"],
    neutral=["stone", "door"],
)


def vectors(*left_out: str, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {word: rng.normal(size=6) for word in PETS.words if word not in left_out}


def test_distances_are_those_of_scipy() -> None:
    given = vectors()
    table = bb.distance_table(given, PETS)
    pairs = zip(table["protected_word"], table["attribute_word"], strict=True)
    expected = [cdist([given[p]], [given[a]], metric="cosine")[0, 0] for p, a in pairs]
    np.testing.assert_allclose(table["cosine_distance"], expected, atol=1e-12)
    np.testing.assert_allclose(table["cosine_similarity"], 1 - table["cosine_distance"], atol=1e-12)


def test_lists_of_the_same_name_that_share_a_vector_are_told_apart() -> None:
    study = bb.Study(
        name="names",
        protected={"female": ["Mary", "Anna"], "male": ["John"]},
        attributes={"female": ["mary", "she"], "male": ["he"]},
        associated=[("female", "female"), ("male", "male")],
        human="none",
        neutral="none",
    )
    words = ("mary", "anna", "john", "she", "he")
    embedding = bb.Embedding(words, np.random.default_rng(1).normal(size=(5, 4)), case="lower")
    with pytest.raises(StudyError, match=r"'Mary' .* 'female'. .* 'mary' .* 'female'."):
        bb.distance_table(embedding, study)


def test_more_pairs_than_the_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 100)
    with pytest.raises(NotEnoughMemoryError, match=r"3 .* 6"):
        bb.distance_table(vectors(), PETS)


def test_schema_and_connections() -> None:
    table = bb.distance_table(vectors(), PETS)
    assert table.columns.tolist() == [
        "protected_word",
        "protected_group",
        "attribute_word",
        "attribute_group",
        "connection",
        "cosine_distance",
        "cosine_similarity",
    ]
    assert table["connection"].cat.categories.tolist() == ["associated", "different", "human", "neutral"]
    assert table["connection"].cat.ordered
    assert len(table) == 3 * 6
    connections = table.set_index(["protected_word", "attribute_word"])["connection"]
    assert connections["cat", "purr"] == "associated"
    assert connections["dog", "purr"] == "different"
    assert connections["dog", "bark"] == "associated"
    assert connections["kitten", "walk"] == "human"
    assert connections["kitten", "door"] == "neutral"


def test_lost_words_are_named_and_warned_of() -> None:
    with pytest.warns(LostWordsWarning, match=r"2 words: 1 .* 2 .* 'cats' \(kitten\); 1 .* 2 .* 'neutral' \(door\)"):
        table = bb.distance_table(vectors("kitten", "door"), PETS, max_lost=0.5)
    lost = bb.lost_words(table)
    assert lost[["word", "role", "list"]].to_numpy().tolist() == [
        ["kitten", "protected", "cats"],
        ["door", "attribute", "neutral"],
    ]
    assert "kitten" not in set(table["protected_word"])
    assert len(table) == 2 * 5


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        (("dog",), "'dogs'"),
        (("bark",), "'loud'"),
        (("walk",), "'human'"),
    ],
)
def test_a_list_without_words_is_an_error(left_out: tuple[str, ...], message: str) -> None:
    with pytest.raises(LostWordsError, match=message):
        bb.distance_table(vectors(*left_out), PETS)


def test_no_word_at_all_is_an_error() -> None:
    embedding = bb.Embedding(words=("else",), vectors=np.ones((1, 3)), name="tiny")
    with pytest.raises(LostWordsError, match=r"'tiny' .* 9 words"):
        bb.distance_table(embedding, PETS)


def test_words_that_match_the_same_vector_are_dropped_or_kept() -> None:
    study = bb.Study(
        name="names",
        protected={"a": ["Rose", "rose"], "b": ["Bill"]},
        attributes={"x": ["home"], "y": ["work"]},
        associated=[("a", "x"), ("b", "y")],
        human="none",
        neutral="none",
    )
    rng = np.random.default_rng(1)
    embedding = bb.load_embedding({word: rng.normal(size=4) for word in ("rose", "bill", "home", "work")}, case="lower")
    with pytest.warns(DuplicatesWarning, match="Dropped 2 .* 6 rows"):
        dropped = bb.distance_table(embedding, study)
    assert dropped["protected_word"].unique().tolist() == ["Rose", "Bill"]
    assert dropped.attrs["bayesbias"]["duplicates"] == {"policy": "drop", "dropped": 2, "same_vectors": 0}
    with pytest.warns(DuplicatesWarning, match="Kept 2 .* 6 rows"):
        assert len(bb.distance_table(embedding, study, duplicates="keep")) == 6
    with pytest.raises(ArgumentError, match="duplicates='ignore'"):
        bb.distance_table(embedding, study, duplicates="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize(("one", "other"), [("protected", "attributes"), ("protected", "protected")])
def test_words_of_two_lists_that_match_one_vector_are_an_error(one: str, other: str) -> None:
    lists = {"protected": {"a": ["cat"], "b": ["dog"]}, "attributes": {"x": ["purr"], "y": ["bark"]}}
    lists[one]["a"].append("Rose")
    lists[other]["b" if other == "protected" else "y"].append("rose")
    study = bb.Study(name="s", **lists, associated=[("a", "x"), ("b", "y")], human="none", neutral="none")
    rng = np.random.default_rng(3)
    words = ("cat", "dog", "purr", "bark", "rose")
    embedding = bb.load_embedding({word: rng.normal(size=4) for word in words}, case="lower")
    with pytest.raises(StudyError, match=r"'Rose' .* 'rose' .* vector 'rose'"):
        bb.distance_table(embedding, study)


def test_a_control_word_that_the_study_uses_is_left_out_and_said() -> None:
    study = bb.Study(
        name="meals",
        protected={"a": ["judge"], "b": ["cook"]},
        attributes={"x": ["dinner"], "y": ["court"]},
        associated=[("a", "y"), ("b", "x")],
    )
    rng = np.random.default_rng(2)
    table = bb.distance_table({word: rng.normal(size=4) for word in study.words}, study)
    assert table.loc[table["attribute_word"] == "dinner", "attribute_group"].unique().tolist() == ["x"]
    assert bb.lost_words(table).empty
    assert table.attrs["bayesbias"]["left_out_controls"] == ["dinner"]


def test_provenance_names_embedding_and_study() -> None:
    table = bb.distance_table(bb.load_embedding(vectors(), name="made up"), PETS)
    facts = table.attrs["bayesbias"]
    assert (facts["embedding"]["name"], facts["study"], facts["lost_words"]) == ("made up", "pets", [])
    other = bb.distance_table(vectors(seed=1), PETS)
    assert facts["hash"] != other.attrs["bayesbias"]["hash"]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["gender", "religion", "weat7"])
def test_google_news_pairs_agree_with_the_published_tables(name: str, shared: Path) -> None:
    study = bb.load_study(name)
    embedding = bb.load_embedding(
        shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz", words=study.words
    )

    def held_words(lists: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        held = {group: [word for word in words if word in embedding] for group, words in lists.items()}
        return {group: words for group, words in held.items() if words}

    # Our vectors are a selection: a study of just the words that they hold. No group of `religion` is whole.
    protected, attributes = held_words(study.protected), held_words(study.attributes)
    ours = bb.distance_table(
        embedding,
        bb.Study(
            name=name,
            protected=protected,
            attributes=attributes,
            associated=[(p, a) for p, a in study.associated if p in protected and a in attributes],
            human=[word for word in study.human if word in embedding],
            neutral=[word for word in study.neutral if word in embedding],
        ),
    )
    published = bb.read_table(shared / "data" / "published" / "tables" / f"{name}_google.csv.gz")
    pair = ["protected_word", "attribute_word"]
    both = ours.merge(published, on=pair, suffixes=("", "_published"), validate="one_to_one")
    held = published[
        published["protected_word"].isin(ours["protected_word"])
        & published["attribute_word"].isin(ours["attribute_word"])
    ]
    assert len(both) == len(held) == len(ours)
    np.testing.assert_allclose(both["cosine_distance"], both["cosine_distance_published"], rtol=0, atol=1e-6)
    assert (both["connection"].astype(str) == both["connection_published"].astype(str)).all()


def test_a_function_of_ones_own_is_applied_once() -> None:
    rng = np.random.default_rng(1)
    words = [f"{letter}{number}" for letter in "aA" for number in range(1, 5)]
    embedding = bb.load_embedding(dict(zip(words, rng.normal(size=(8, 3)), strict=True)), case=str.swapcase)
    lists = {"X": ["a1"], "Y": ["a2"], "A": ["a3"], "B": ["a4"]}
    table = bb.distance_table(embedding, lists)
    for row in table.to_dict("records"):
        one, other = (embedding[row[name]] for name in ("protected_word", "attribute_word"))
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert row["cosine_distance"] == pytest.approx(1 - cosine)
    prefixed = bb.load_embedding(
        {f"/c/en/{word}": [1.0, number] for number, word in enumerate(words)}, case="/c/en/{}".format
    )
    assert len(bb.distance_table(prefixed, lists)) == 4
