"""CAM, directional accuracy and similarity: against SciPy and plain loops."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, spearmanr, t

import bayesbias as bb
from bayesbias.asymmetry.agreement import _fisher
from bayesbias.errors import LostWordsWarning, MeasureError, QuestionWarning
from tests.asymmetry.made import WORDS, made_vectors
from tests.asymmetry.toy_language import WORDS as TOY_WORDS
from tests.asymmetry.toy_language import Language, trained_bert


def frames(seed: int = 1, pairs: int = 60, noise: float = 0.0) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    true = rng.standard_normal(pairs)
    labels = {"a": [f"a{place}" for place in range(pairs)], "b": [f"b{place}" for place in range(pairs)]}
    relation = ["IsA"] * (pairs // 2) + ["RelatedTo"] * (pairs - pairs // 2)
    frame = pd.DataFrame(labels).assign(relation=relation, left_out="", probability_of_direction=0.99)
    seen = (true + noise * rng.standard_normal(pairs)) / (1 + noise**2)
    people = frame.assign(lar=seen, sd=noise / np.sqrt(1 + noise**2))
    return people, frame.assign(lar=0.6 * true + 0.8 * rng.standard_normal(pairs), sd=0.0)


def test_cam_is_spearmans_by_relation_and_weighted() -> None:
    people, vectors = frames()
    agreement = bb.asymmetry.cam(people, vectors).set_index("relation")
    by_hand = {
        name: spearmanr(people.loc[people["relation"] == name, "lar"], vectors.loc[people["relation"] == name, "lar"])
        for name in ("IsA", "RelatedTo")
    }
    for name, result in by_hand.items():
        assert agreement.loc[name, "cam"] == pytest.approx(result.statistic)
    assert agreement.loc["SA", "cam"] == pytest.approx(np.mean([part.statistic for part in by_hand.values()]))
    assert agreement.loc["SR", "cam"] == agreement.loc["IsA", "cam"]
    assert (agreement["hdi_low"] < agreement["cam"]).all()
    assert (agreement["cam"] < agreement["hdi_high"]).all()
    # The usual error of a rank correlation of independent pairs, on Fisher's scale (Fieller and Pearson 1961).
    whole = bb.asymmetry.cam(people.drop(columns="relation"), vectors).loc[0]
    width = np.arctanh(whole["hdi_high"]) - np.arctanh(whole["hdi_low"])
    assert width == pytest.approx(2 * 1.598 * np.sqrt(1.06 / 57), rel=0.25)


def test_pairs_of_few_words_have_students_interval_of_the_words_and_hold_the_truth() -> None:
    """Ten words, one of which is in most pairs: 0 is the truth, as the two sides have nothing in common."""
    rng = np.random.default_rng(3)
    pairs = [(a, b) for a in range(10) for b in range(a + 1, 10) if a == 0 or (a + b) % 3 == 0]
    first, second = np.array(pairs).T
    counts = np.bincount(np.concatenate([first, second]))
    words = counts.sum() ** 2 / (counts**2).sum()
    repeats = 800
    level = rng.standard_normal((2, repeats, 10))
    values = level[:, :, first] - level[:, :, second] + rng.standard_normal((2, repeats, len(pairs)))
    # Each study has words of its own and is a relation of one table: as many tables take ten times as long.
    labels = pd.DataFrame(
        [(f"{study} w{a}", f"{study} w{b}", f"study {study}") for study in range(repeats) for a, b in pairs],
        columns=["a", "b", "relation"],
    ).assign(left_out="", probability_of_direction=0.9, sd=0.0)
    sides = (labels.assign(lar=side.ravel()) for side in values)
    agreement = bb.asymmetry.cam(*sides).query("relation != 'SA'")
    assert agreement["pairs"].tolist() == [len(pairs)] * repeats
    held = agreement["hdi_low"].lt(0) & agreement["hdi_high"].gt(0)
    middle = np.arctanh(agreement["cam"])
    half = np.arctanh(agreement["hdi_high"]) - middle
    wider = t.ppf(0.945, words - 1) / norm.ppf(0.945) * np.sqrt(words / (words - 1))
    by_normal = middle.abs() < half / wider
    assert held.mean() > by_normal.mean() + 0.03
    assert 0.89 - 0.04 < held.mean() < 0.97


def test_errors_of_people_are_corrected_for() -> None:
    noisy, vectors = frames(pairs=20_000, noise=0.8)
    exact = bb.asymmetry.cam(frames(pairs=20_000)[0], frames(pairs=20_000)[1]).iloc[-2]
    agreement = bb.asymmetry.cam(noisy, vectors).iloc[-2]
    assert agreement["reliability_first"] == pytest.approx(1 / (1 + 0.64), abs=0.01)
    assert agreement["reliability_second"] == 1
    assert agreement["cam"] < exact["cam"] - 0.08
    assert agreement["cam_corrected"] == pytest.approx(exact["cam"], abs=0.02)
    assert agreement["cam_corrected_low"] < agreement["cam_corrected"] < agreement["cam_corrected_high"]


def test_pairs_are_found_in_either_order() -> None:
    people, vectors = frames()
    turned = vectors.rename(columns={"a": "b", "b": "a"}).assign(lar=-vectors["lar"])
    pd.testing.assert_frame_equal(
        bb.asymmetry.cam(people, vectors), bb.asymmetry.cam(people, turned.sample(frac=1, random_state=1))
    )


def test_small_relations_have_no_row_and_are_named() -> None:
    people, vectors = frames()
    people["relation"] = ["few"] * 4 + ["IsA"] * 56
    with pytest.warns(QuestionWarning, match=r"tables of agreement .* few \(4\)"):
        agreement = bb.asymmetry.cam(people, vectors)
    assert agreement["relation"].tolist() == ["IsA", "SA"]
    with pytest.raises(MeasureError, match=r" 10 pairs .*few \(4\)"):
        bb.asymmetry.cam(people, vectors, relations="few")


def test_too_few_pairs_in_common() -> None:
    people, vectors = frames()
    with pytest.raises(MeasureError, match="column lar of second "):
        bb.asymmetry.cam(people, vectors.assign(lar="x"))
    with pytest.raises(MeasureError, match=r"9 pairs .* 10 "):
        bb.asymmetry.cam(people, vectors.head(9))
    with pytest.raises(MeasureError, match="'PartOf'"):
        bb.asymmetry.cam(people, vectors, relations=["PartOf"])


@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_directional_accuracy_is_equation_13(gamma: float) -> None:
    people, vectors = frames()
    people["probability_of_direction"] = np.where(np.arange(60) % 3 == 0, 0.99, 0.7)

    def direction(value: float) -> int:
        return 1 if value > gamma else -1 if value < -gamma else 0

    right = [direction(x) == direction(y) for x, y in zip(people["lar"], vectors["lar"], strict=True)]
    agreement = bb.asymmetry.directional_accuracy(people, vectors, gamma=gamma).set_index("relation")
    assert agreement.loc["all pairs", "accuracy"] == pytest.approx(np.mean(right))
    assert agreement.loc["IsA", "accuracy"] == pytest.approx(np.mean(right[:30]))
    assert agreement.loc["all pairs", "clear_accuracy"] == pytest.approx(np.mean(right[::3]))
    assert agreement.loc["all pairs", "clear_pairs"] == 20
    assert agreement.loc["all pairs", "hdi_low"] < np.mean(right) < agreement.loc["all pairs", "hdi_high"]


def test_similarity_is_the_geometric_mean() -> None:
    people, _ = frames()
    logs = people.assign(log_b_given_a=np.log(0.2), log_a_given_b=np.log(0.05))
    agreement = bb.asymmetry.similarity(logs)
    np.testing.assert_allclose(agreement["similarity"], 0.1)
    np.testing.assert_allclose(agreement["log_similarity"], np.log(0.1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.assign(lar=0.5), "all 0.5"),
        (lambda frame: frame.assign(sd=-1.0), " sd"),
        (lambda frame: frame.assign(lar=frame["lar"] * 1e200), "1e"),
        (lambda frame: frame.assign(probability_of_direction=1.5), " 0 to 1"),
        (lambda frame: pd.concat([frame, frame.head(1)]), "a0 - b0 - IsA"),
    ],
)
def test_ratios_that_are_none_are_refused(change: Callable[[pd.DataFrame], pd.DataFrame], message: str) -> None:
    people, vectors = frames()
    with pytest.raises(MeasureError, match=message):
        bb.asymmetry.cam(people, change(vectors))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_interval_of_a_cam_near_its_bound_contains_it(sign: int) -> None:
    people, _ = frames(pairs=400)
    nearly = people.assign(lar=sign * people["lar"] * (1 + 1e-4 * np.random.default_rng(1).normal(size=400)))
    rows = bb.asymmetry.cam(people, nearly)
    assert (rows["cam"].abs() > 0.9995).all()
    assert ((rows["hdi_low"] <= rows["cam"]) & (rows["cam"] <= rows["hdi_high"])).all()


def test_agreement_near_1_has_a_narrow_interval() -> None:
    """With an sd of 0.03, no correlation near 1 has an interval that reaches down to 0.8."""
    ends = [_fisher(value, 0.03**2, 50, 0.89) for value in (0.95, 0.98, 0.99, 0.998, 1.05)]
    assert ends[0] == pytest.approx((0.868, 0.982), abs=0.001)
    assert all(low > 0.8 for low, _ in ends)
    assert all(high >= value for (_, high), value in zip(ends, (0.95, 0.98, 0.99, 0.998, 1.0), strict=True))
    mirrored = _fisher(-0.99, 0.03**2, 50, 0.89)
    assert (-mirrored[1], -mirrored[0]) == pytest.approx(ends[2])


def scores(path: Path, rows: list[tuple[str, str, float]]) -> Path:
    path.write_text("".join(f"{a} {b} {score}\n" for a, b, score in rows), encoding="utf-8")
    return path


def test_the_score_is_the_rank_correlation_with_the_product_of_both_softmaxes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    pairs = [(a, b) for at, a in enumerate(WORDS[:12]) for b in WORDS[at + 1 : 12]]
    human = rng.integers(0, 10, len(pairs)).tolist()
    path = scores(tmp_path / "pairs.txt", [(a, b, score) for (a, b), score in zip(pairs, human, strict=True)])
    vectors = made_vectors()
    score = bb.asymmetry.similarity_to_people(bb.asymmetry.static(vectors), path, random_seed=1)
    matrix = np.asarray(vectors.vectors, dtype=float)
    projections = matrix @ matrix.T / np.linalg.norm(matrix, axis=1, keepdims=True)
    shares = np.exp(projections) / np.exp(projections).sum(axis=1, keepdims=True)
    rows = [(WORDS.index(a), WORDS.index(b)) for a, b in pairs]
    products = [shares[a, b] * shares[b, a] for a, b in rows]
    assert score.value == pytest.approx(spearmanr(products, human).statistic)
    low, high = score.estimates.loc[0, ["hdi_low", "hdi_high"]]
    assert low < score.value < high


def test_lost_pairs_and_too_few(tmp_path: Path) -> None:
    vectors = bb.asymmetry.static({"cat": [1.0, 0.1], "dog": [1.0, 0.3], "car": [0.1, 1.0], "van": [0.0, 1.0]})
    rows = [("cat", "dog", 9.0), ("cat", "car", 1.0), ("car", "van", 8.0), ("cat", "yak", 3.0), ("cat", "dog", 9.0)]
    with pytest.warns(LostWordsWarning, match="1 of the 4 pairs: cat ~ yak"):
        score = bb.asymmetry.similarity_to_people(vectors, scores(tmp_path / "some.txt", rows), random_seed=1)
    assert list(score.lost_words["pairs"]) == ["cat ~ yak"]
    assert len(score.scores) == 3
    with pytest.raises(MeasureError, match="2 of the 3 pairs"):
        bb.asymmetry.similarity_to_people(vectors, scores(tmp_path / "few.txt", rows[1:4]), random_seed=1)


@pytest.mark.extras
@pytest.mark.slow
def test_a_language_model_finds_the_similarity_that_its_language_has(tmp_path: Path) -> None:
    """The truth is the language's own probabilities, which people are made to follow."""
    language = Language.made(1)
    model = trained_bert(tmp_path / "bert", language, steps=300)
    index = bb.embeddings.index_contexts(
        language.sentences(12_000, np.random.default_rng(2)), tmp_path / "toy.contexts"
    )
    pairs = [(a, b) for a in range(len(TOY_WORDS)) for b in range(a + 1, len(TOY_WORDS))]
    truth = [language.log_conditional(a, b) + language.log_conditional(b, a) for a, b in pairs]
    rows = [(TOY_WORDS[a], TOY_WORDS[b], round(10 + value, 4)) for (a, b), value in zip(pairs, truth, strict=True)]
    source = bb.asymmetry.masked_model(model, index, random_seed=1, progress=False)
    score = bb.asymmetry.similarity_to_people(source, scores(tmp_path / "people.txt", rows), random_seed=1)
    assert len(score.scores) > 0.9 * len(pairs)
    assert score.value > 0.9
    turned = [(a, b, -value) for a, b, value in rows]
    assert bb.asymmetry.similarity_to_people(source, scores(tmp_path / "not.txt", turned), random_seed=1).value < -0.9


def test_cam_of_the_shares_of_answers_is_the_papers() -> None:
    """As the docstring has it: Spearman's, of the log ratios of shares, by hand."""
    rng = np.random.default_rng(2)
    words = [f"w{place}" for place in range(12)]
    rows = [(a, b, int(rng.integers(1, 9)), 100) for a in words for b in words if a != b]
    norms = bb.asymmetry.evocation(pd.DataFrame(rows, columns=["cue", "response", "count", "participants"]))
    people = bb.asymmetry.lar(norms, [(a, b) for a in words for b in words if a < b])
    vectors = people.assign(lar=rng.standard_normal(len(people)) + people["lar"], sd=0.0)
    from_counts = people.assign(lar=people["lar_from_counts"], sd=0.0).dropna(subset="lar")
    counts = {(a, b): count for a, b, count, _ in rows}
    by_hand = [counts[a, b] / counts[b, a] for a, b in zip(people["a"], people["b"], strict=True)]
    agreement = bb.asymmetry.cam(from_counts, vectors).iloc[0]
    assert agreement["cam"] == pytest.approx(spearmanr(by_hand, vectors["lar"]).statistic)
    assert agreement["reliability_first"] == 1
