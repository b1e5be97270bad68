"""Several norms side by side: what they have in common, and which cannot be compared."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from tests.asymmetry.made import WORDS, made_norms, made_relations, made_vectors


def test_three_norms_and_what_they_have_in_common() -> None:
    """Two norms are answers of other people to the same world; the third is of another world."""
    same, other = ({**made_world(1)}, {**made_world(2)})
    norms = {"first": asked_norms(same, 3), "second": asked_norms(same, 4), "third": asked_norms(other, 5)}
    seen = []

    def vectors(norms: bb.asymmetry.Evocation) -> bb.asymmetry.StaticVectors:
        seen.append(norms.name)
        return bb.asymmetry.static(made_vectors(2), vocabulary=norms.vocabulary)

    group = bb.asymmetry.report(norms, {"vectors": vectors}, made_relations(), random_seed=1)
    assert list(group.results) == ["between_norms", "first", "second", "third"]
    assert seen == ["first", "second", "third"]
    norms_table = group.results["between_norms"].agreement
    whole = norms_table[norms_table["relation"] == "SA"].set_index(["first", "second"])
    assert len(set(whole["pairs"])) == 1
    assert whole.loc[("first", "second"), "cam"] > 0.5
    assert whole.loc[("first", "second"), "cam_corrected_high"] > 0.9
    assert whole.loc[("first", "third"), "hdi_low"] < 0 < whole.loc[("first", "third"), "hdi_high"]
    keys = [set(map(tuple, source.pairs()[["a", "b"]].to_numpy())) for source in norms.values()]
    assert whole["pairs"].iloc[0] == len(set.intersection(*keys))
    counts = group.results["between_norms"].counts
    assert counts["pairs"].tolist() == list(map(len, keys))
    assert "between_norms_agreement" in group.contents.tables


def made_world(seed: int) -> dict[str, np.ndarray]:
    """Return the probabilities of answers to each word: popular words, and tastes of each cue."""
    rng = np.random.default_rng(seed)
    popular = rng.exponential(size=len(WORDS)) + 0.3
    weights = popular * (rng.exponential(size=(len(WORDS), len(WORDS))) + 0.3)
    np.fill_diagonal(weights, 0)
    return {"probabilities": weights / weights.sum(axis=1, keepdims=True)}


def asked_norms(world: dict[str, np.ndarray], seed: int) -> bb.asymmetry.Evocation:
    counts = np.random.default_rng(seed).multinomial(150, world["probabilities"])
    rows = [(WORDS[cue], WORDS[word], counts[cue, word], 150) for cue, word in zip(*np.nonzero(counts), strict=True)]
    return bb.asymmetry.evocation(pd.DataFrame(rows, columns=["cue", "response", "count", "participants"]))


def test_norms_that_cannot_be_compared() -> None:
    people = bb.asymmetry.evocation(made_norms(), name="people")
    with pytest.raises(MeasureError, match="people, people"):
        bb.asymmetry.compare_norms([people, people])
    with pytest.raises(MeasureError, match="one of the norms, people"):
        bb.asymmetry.compare_norms([people])
    words = tuple(f"x{number}" for number in range(30))
    strangers = bb.asymmetry.evocation(made_norms(words=words), name="strangers")
    with pytest.raises(MeasureError, match="people, strangers have 0 pairs"):
        bb.asymmetry.compare_norms([people, strangers])
