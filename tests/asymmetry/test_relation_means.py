"""Means of relations: what pools them, what makes them wider, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from scipy.stats import t as student

import bayesbias as bb
from bayesbias.asymmetry.relation_means import (
    Means,
    chosen_relations,
    draw_pooled,
    dyadic_variance,
    reliability_influences,
    spearman_influences,
    word_codes,
)
from bayesbias.errors import ArgumentError, MeasureError
from tests.asymmetry.made import made_norms, made_relations
from tests.refusals import refusals


def ratios(values: dict[str, list[float]], *, sd: float = 0.0, shared: bool = False) -> pd.DataFrame:
    rows = [
        (f"{name}0" if shared else f"{name}{number}", f"{name}-{number}", name, value, sd, 0.9, "")
        for name, relation in values.items()
        for number, value in enumerate(relation)
    ]
    return pd.DataFrame(rows, columns=["a", "b", "relation", "lar", "sd", "probability_of_direction", "left_out"])


def test_one_relation_alone_is_its_plain_mean_with_an_interval_of_student() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0.3, 1, 50)
    row = bb.asymmetry.alar(ratios({"IsA": values.tolist()}), draws=100_000, random_seed=1).loc[0]
    assert row["mean_lar"] == pytest.approx(values.mean())
    # Of 50 pairs the four that are shared hardly matter: the interval is about Student's.
    half = student.ppf(0.945, 49) * values.std(ddof=1) / np.sqrt(50)
    assert row["hdi_high"] - row["hdi_low"] == pytest.approx(2 * half, rel=0.03)
    assert row["share_forward"] == pytest.approx(np.where(values > 0, 0.9, 0.1).mean())
    assert (row["pairs"], row["words"]) == (50, 100)


def test_small_relations_are_drawn_to_the_others_and_large_ones_are_not() -> None:
    rng = np.random.default_rng(2)
    values = {name: rng.normal(0, 1, 200).tolist() for name in "abcdef"} | {"small": [2.0, 2.5, 1.5]}
    frame = ratios(values)
    pooled, plain = (
        bb.asymmetry.alar(frame, pooled=pooled, random_seed=1).set_index("relation") for pooled in (True, False)
    )
    assert plain.loc["small", "mean"] == pytest.approx(2, abs=0.1)
    assert pooled.loc["small", "mean"] < 1.6
    assert pooled.loc["a", "mean"] == pytest.approx(plain.loc["a", "mean"], abs=0.06)


def test_shared_words_and_errors_make_intervals_wider() -> None:
    values = {"r": np.random.default_rng(3).normal(0, 1, 40).tolist()}
    values["r"] = [abs(value) for value in values["r"][:20]] + [-abs(value) for value in values["r"][20:]]
    frame = ratios(values)
    hubs = frame.assign(a=["up"] * 20 + ["down"] * 20)
    wide = [bb.asymmetry.alar(relation, random_seed=1).loc[0, "sd"] for relation in (frame, hubs, frame.assign(sd=1.0))]
    assert wide[1] > 2 * wide[0]
    assert wide[2] == pytest.approx(np.sqrt(wide[0] ** 2 + 1 / 40), rel=0.1)


def test_pairs_without_direction_or_number_do_not_enter() -> None:
    source = bb.asymmetry.evocation(made_norms())
    pairs = bb.asymmetry.with_relations(source.pairs(), made_relations())
    means = bb.asymmetry.lar(source, pairs)
    every = bb.asymmetry.alar(means, random_seed=1)
    assert every["relation"].tolist() == pairs["relation"].value_counts().index.tolist()
    half = means.assign(directed=means["relation"] == "IsA")
    assert bb.asymmetry.alar(half, random_seed=1)["relation"].tolist() == ["IsA"]
    lost = means.assign(left_out=np.where(means["relation"] == "IsA", "lost", ""))
    assert bb.asymmetry.alar(lost, random_seed=1)["relation"].tolist() == ["PartOf"]
    assert bb.asymmetry.alar(means, relations="IsA", random_seed=1)["relation"].tolist() == ["IsA"]
    with pytest.raises(MeasureError, match=r"pairs, 0 .* 2 "):
        bb.asymmetry.alar(means.assign(directed=False), random_seed=1)
    with pytest.raises(MeasureError, match=r"ratios .*: lost \("):
        bb.asymmetry.alar(means.assign(left_out="lost"), random_seed=1)


test_refusals = refusals(
    (lambda: bb.asymmetry.alar(ratios({"r": [0.1, 0.2]}).drop(columns="lar")), MeasureError, r"ratios .*columns lar"),
    (lambda: bb.asymmetry.alar(ratios({"r": [0.1, 0.2]}).assign(lar=[np.nan, 1])), MeasureError, r"ratios .*left_out"),
    (lambda: bb.asymmetry.alar(ratios({"r": [0.1, 0.2]}).drop(columns="relation")), MeasureError, "relation"),
    (lambda: bb.asymmetry.alar([1, 2]), ArgumentError, r"bb\.asymmetry\.lar"),
)


def test_ratios_that_are_all_the_same() -> None:
    means = bb.asymmetry.alar(ratios({"r": [0.5] * 5, "s": [0.5] * 5}), random_seed=1)
    assert means["mean"].round(6).tolist() == [0.5, 0.5]


def test_the_paper_s_mean_is_that_of_counts_and_the_other_that_of_posterior_means() -> None:
    """Equation 2 by hand, of shares of answers; a prior moves ratios of few answers towards 0."""
    source = bb.asymmetry.evocation(made_norms(participants=60))
    pairs = bb.asymmetry.with_relations(source.pairs(), made_relations())
    ratios = bb.asymmetry.lar(source, pairs)
    shares = pairs["forward"] / pairs["forward_participants"], pairs["backward"] / pairs["backward_participants"]
    by_hand = (np.log(shares[0]) - np.log(shares[1])).groupby(pairs["relation"]).mean()
    means = bb.asymmetry.alar(ratios, random_seed=1).set_index("relation")
    assert means["mean_from_counts"].to_dict() == pytest.approx(by_hand.to_dict())
    assert means["mean_lar"].to_dict() == pytest.approx(ratios.groupby("relation")["lar"].mean().to_dict())
    assert np.abs(means["mean_lar"] - means["mean_from_counts"]).min() > 0.001
    either = bb.asymmetry.lar(source, bb.asymmetry.with_relations(source.pairs(seen="either"), made_relations()))
    assert either["lar_from_counts"].isna().equals((either["forward"] == 0) | (either["backward"] == 0))
    assert bb.asymmetry.alar(either, random_seed=1)["mean_from_counts"].isna().all()
    assert bb.asymmetry.alar(ratios.drop(columns="lar_from_counts"), random_seed=1)["mean_from_counts"].isna().all()


@pytest.mark.shared
def test_parts_and_wholes_in_south_florida(shared: Path, south_florida: bb.asymmetry.Evocation) -> None:
    """ALAR of PartOf from the counts of the file itself, by pandas alone: 0.307; of posterior means it is larger."""
    folder = shared / "data"
    norms = pd.read_csv(folder / "evocation" / "usf_free_association.csv.gz", keep_default_na=False)
    counts = norms.assign(share=norms["responses"] / norms["participants"]).set_index(["cue", "target"])["share"]
    relations = pd.read_csv(folder / "relations" / "evalution_1.0.csv.gz", keep_default_na=False)
    parts = relations[relations["relation"] == "PartOf"][["head", "tail"]].drop_duplicates()
    both = set(map(tuple, parts.to_numpy()))
    pairs = [(a, b) for a, b in both if (b, a) not in both and (a, b) in counts and (b, a) in counts]
    by_hand = np.mean([np.log(counts[a, b] / counts[b, a]) for a, b in pairs])
    known = bb.asymmetry.read_relations(folder / "relations" / "evalution_1.0.csv.gz")
    ratios = bb.asymmetry.lar(south_florida, bb.asymmetry.with_relations(south_florida.pairs(), known))
    row = bb.asymmetry.alar(ratios, relations="PartOf", random_seed=1).loc[0]
    assert row["pairs"] == len(pairs)
    assert row["mean_from_counts"] == pytest.approx(by_hand)
    assert by_hand == pytest.approx(0.307, abs=0.0005)
    assert row["mean_lar"] > by_hand


def test_pooled_draws_are_those_of_the_model_on_a_grid() -> None:
    """Numerical integration over mu and omega, of two relations with errors that are all but known."""
    means = Means(np.array([1.0, -0.5]), np.array([0.2, 0.4]), np.array([1e9, 1e9]))
    drawn = draw_pooled(means, 40_000, 1.0, np.random.default_rng(4))
    mu, omega = np.meshgrid(np.linspace(-8, 8, 801), (np.arange(600) + 0.5) / 200, indexing="ij")
    spread = means.variances[:, None, None] + omega**2
    logs = -((means.values[:, None, None] - mu) ** 2) / spread / 2 - np.log(spread) / 2
    weights = np.exp(logs.sum(axis=0) - omega**2 / 2)
    weights /= weights.sum()
    shrinkage = omega**2 / spread
    expected = (weights * (mu + shrinkage * (means.values[:, None, None] - mu))).sum(axis=(1, 2))
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=5 * drawn.std(axis=0).max() / 200)


def test_variances_of_dyads_are_sums_over_all_pairs_that_share_a_word() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 12, (2, 60))
    second = np.where(first == second, second + 12, second)
    level = rng.standard_normal(24)
    errors = level[first] + level[second] + rng.standard_normal(60) / 2
    total = sum(
        errors[i] * errors[j] for i in range(60) for j in range(60) if {first[i], second[i]} & {first[j], second[j]}
    )
    independent = {}
    for i in range(60):
        key = frozenset((first[i], second[i]))
        independent[key] = independent.get(key, 0) + errors[i]
    least = sum(value**2 for value in independent.values())
    assert dyadic_variance(errors, first, second) == pytest.approx(max(total, least))
    assert total > least, "the other case"


def test_spearman_and_its_influences_are_those_of_scipy_and_the_jackknife() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal(120)
    y = 0.5 * x + rng.standard_normal(120)
    value, influences = spearman_influences(x, y)
    assert value == pytest.approx(spearmanr(x, y).statistic)
    left = np.array([spearmanr(np.delete(x, place), np.delete(y, place)).statistic for place in range(120)])
    jackknife = (len(x) - 1) * (left.mean() - left)
    assert np.corrcoef(jackknife, influences)[0, 1] > 0.999
    assert influences.std() == pytest.approx(jackknife.std(), rel=0.05)


def test_ties_have_their_mean_rank() -> None:
    x, y = np.array([1.0, 1, 2, 3, 3, 3]), np.array([2.0, 1, 1, 3, 5, 4])
    assert spearman_influences(x, y)[0] == pytest.approx(spearmanr(x, y).statistic)
    value, influences = spearman_influences(np.ones(6), y)
    assert value == 0
    assert not influences.any()


def test_reliability_and_its_influences() -> None:
    rng = np.random.default_rng(3)
    true, errors = rng.standard_normal(200_000), rng.uniform(0.3, 0.9, 200_000)
    means = (true + errors * rng.standard_normal(200_000)) / (1 + errors**2)
    sds = errors / np.sqrt(1 + errors**2)
    value, influences = reliability_influences(means, sds)
    assert value == pytest.approx(np.corrcoef(means, true)[0, 1] ** 2, abs=0.005)
    some = np.arange(150)
    left = [reliability_influences(np.delete(means[some], place), np.delete(sds[some], place))[0] for place in some]
    jackknife = (len(some) - 1) * (np.mean(left) - np.array(left))
    assert np.corrcoef(jackknife, reliability_influences(means[some], sds[some])[1])[0, 1] > 0.999
    assert influences.mean() == pytest.approx(0, abs=1e-9)


def test_codes_are_shared_by_both_sides() -> None:
    first, second = word_codes(["b", "a"], ["a", "c"])
    assert (first[1], second[0]) == (second[0], first[1])
    assert len({*first.tolist(), *second.tolist()}) == 3


RELATIONS = pd.DataFrame(
    [("cat", "IsA", "pet"), ("cat", "RelatedTo", "pet"), ("hot", "Antonym", "cold"), ("cold", "Antonym", "hot")],
    columns=["head", "relation", "tail"],
)


def test_pairs_are_turned_as_their_relation_says() -> None:
    pairs = pd.DataFrame({"a": ["pet", "cold", "sun"], "b": ["cat", "hot", "moon"], "n": [1, 2, 3]})
    frame = bb.asymmetry.with_relations(pairs, RELATIONS, unlisted="none")
    assert frame.values.tolist() == [
        ["cat", "pet", "IsA", True, 1],
        ["cat", "pet", "RelatedTo", True, 1],
        ["cold", "hot", "Antonym", False, 2],  # listed in both orders: it has no direction
        ["sun", "moon", "none", False, 3],
    ]
    assert len(bb.asymmetry.with_relations(pairs, RELATIONS, unlisted=None)) == 3
    again = bb.asymmetry.with_relations(frame.drop_duplicates(["a", "b"]), RELATIONS)
    assert again.drop(columns="n")["relation"].tolist() == ["IsA", "RelatedTo", "Antonym", "RelatedTo"]


@pytest.mark.parametrize(
    ("relations", "error", "message"),
    [
        (RELATIONS.drop(columns="tail"), MeasureError, "columns tail"),
        (RELATIONS.iloc[:0], MeasureError, "relations .*rows"),
        (RELATIONS.assign(head=None), MeasureError, "Row 0 .*relations .*None as head"),
        (RELATIONS.assign(head="x"), MeasureError, " 1 pairs .*pet - cat"),
        ("relations.csv", ArgumentError, "bb.asymmetry.read_relations"),
    ],
)
def test_relations_that_are_none(relations: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        bb.asymmetry.with_relations([("pet", "cat")], relations)


def test_a_relation_that_is_unknown() -> None:
    frame = bb.asymmetry.with_relations([("pet", "cat")], RELATIONS)
    with pytest.raises(MeasureError, match=r"'RelatdTo' .*'RelatedTo'"):
        chosen_relations(frame, "RelatdTo")
    with pytest.raises(MeasureError, match=r"relation.*bb\.asymmetry\.with_relations"):
        chosen_relations(frame.drop(columns="relation"), None)


@pytest.mark.shared
def test_evalution(shared: Path) -> None:
    frame = bb.asymmetry.read_relations(shared / "data" / "relations" / "evalution_1.0.csv.gz")
    assert len(frame) == 7_492
    assert frame["relation"].value_counts()["IsA"] == 1_880


def test_counts_follow_the_order_of_the_pair() -> None:
    """30 of 100 answer pet with cat, 5 of 80 cat with pet; the relation turns the pair."""
    table = pd.DataFrame(
        [("cat", "pet", 5, 80), ("pet", "cat", 30, 100), ("cold", "hot", 7, 90), ("hot", "cold", 9, 70)],
        columns=["cue", "response", "count", "participants"],
    )
    source = bb.asymmetry.evocation(table)
    relations = pd.DataFrame([("pet", "Has", "cat"), ("cold", "Antonym", "hot")], columns=["head", "relation", "tail"])
    frame = bb.asymmetry.lar(source, bb.asymmetry.with_relations(source.pairs(), relations)).set_index("a")
    counts = ["forward", "backward", "forward_participants", "backward_participants"]
    assert frame.loc["pet", counts].tolist() == [30, 5, 100, 80]
    assert frame.loc["cold", counts].tolist() == [7, 9, 90, 70]
    assert frame.loc["pet", "lar_from_counts"] == pytest.approx(np.log(0.3 / (5 / 80)))
