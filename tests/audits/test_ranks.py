"""Ranks from given contributions of words, by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal, norm

import bayesbias as bb
from bayesbias.audits.audit_frame import COLUMNS, AuditFrame, AuditRecord
from bayesbias.audits.coherence import Coherence
from bayesbias.audits.ranks import Strengths, paired_differences, paired_draws
from bayesbias.audits.word_contributions import WordContributions
from bayesbias.errors import ReportError

SOUND = Coherence(0.2, 0.3, 0.1, 0.0)


def words_of(contributions: dict[str, float], own_error: float = 1e-6) -> WordContributions:
    """Contributions of independent words of one list, which is so long that it is as good as Normal."""
    words = pd.DataFrame({"word": list(contributions), "contribution": list(contributions.values())})
    return WordContributions(words.assign(role="protected", list="words", effect=1.0), own_error)


type Key = tuple[str, str, str]


def audit_of(
    estimates: dict[Key, float], draws: dict[Key, np.ndarray], errors: dict[Key, dict[str, float]] | None = None
) -> pd.DataFrame:
    """An audit with these estimates by (embedding, study, measure), and contributions of words to their errors."""
    rows = [
        {"embedding": e, "study": s, "measure": m, "protected_group": "", "observed": value, "mean": np.nan}
        for (e, s, m), value in estimates.items()
    ]
    frame = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    frame["protected_group"] = ""
    frame["quantity"] = "value"
    frame["pair_sd"] = 1.0
    for key, values in draws.items():
        here = (frame[["embedding", "study", "measure"]] == list(key)).all(axis=1)
        frame.loc[here, ["mean", "hdi_low", "hdi_high"]] = [values.mean(), *np.quantile(values, [0.055, 0.945])]
    made = AuditFrame(frame)
    lost: dict[tuple[str, str], tuple[str, ...]] = {key[:2]: () for key in estimates}
    coherences = dict.fromkeys(lost, SOUND)
    made.record = AuditRecord(
        draws,
        lost,
        {},
        0.89,
        "crossed" if draws else "",
        coherences=coherences,
        contributions={key: words_of(of_words) for key, of_words in (errors or {}).items()},
    )
    return made


def test_the_stronger_association_has_the_higher_rank_whatever_its_sign() -> None:
    values = {("A", "s", "weat"): -1.5, ("B", "s", "weat"): 0.5, ("A", "s", "mac"): 0.9, ("B", "s", "mac"): 0.7}
    ranks = bb.audits.rank(audit_of(values, {})).ranks.set_index(["measure", "study", "embedding"])["rank"]
    assert ranks["weat", "s", "A"] == ranks["weat", "", "A"] == 2
    assert ranks["mac", "s", "A"] == 1  # far from all attributes
    contrast = {("A", "s", "contrast"): -0.2, ("B", "s", "contrast"): 0.1}
    assert bb.audits.rank(audit_of(contrast, {})).ranks["rank"].tolist() == [2, 1, 2, 1]


WORDS = [f"w{number}" for number in range(400)]


def shared(sd: float, *, seed: int) -> dict[str, float]:
    """Contributions of the words whose sum has this standard deviation."""
    values = np.random.default_rng(seed).normal(size=len(WORDS))
    return dict(zip(WORDS, (values / np.linalg.norm(values) * sd).tolist(), strict=True))


def ranked(values: list[float], errors: list[dict[str, float]]) -> bb.audits.Ranks:
    """Ranks of embeddings A, B, C, ... by a study with these values and contributions."""
    keys = [(name, "s", "weat") for name in "ABCDEFGH"[: len(values)]]
    audit = audit_of(dict(zip(keys, values, strict=True)), {}, dict(zip(keys, errors, strict=True)))
    return bb.audits.rank(audit)


def test_probabilities_are_those_of_normal_errors() -> None:
    ranks = ranked([1.0, -1.2, 5.0], [shared(0.3, seed=1), shared(0.3, seed=2), shared(0.1, seed=3)])
    correlation = sum(a * b for a, b in zip(shared(1, seed=1).values(), shared(1, seed=2).values(), strict=True))
    # Of |A| and |B|, which are far from 0: B is negative.
    below = norm.cdf(0.2 / np.sqrt(0.3**2 * 2 * (1 + correlation)))
    rows = ranks.ranks[ranks.ranks["study"] == "s"].set_index("embedding")
    assert rows.loc["A", "probability"] == rows.loc["B", "probability"] == pytest.approx(below, abs=0.03)
    assert rows.loc["C", ["probability", "strongest", "rank_low"]].tolist() == [1, 1, 3]
    assert rows.loc["A", ["rank_low", "rank_high"]].tolist() == [1, 2]
    assert "C 5 (over 0.99)" in str(ranks)


def test_what_two_embeddings_share_cancels_in_their_difference() -> None:
    """Both have an error of 1, of which 0.1 is their own: their difference is settled, and not if it was not paired."""
    common, own = shared(1.0, seed=1), shared(0.1, seed=2)
    second = {word: common[word] + own[word] for word in WORDS}
    row = ranked([3.0, 3.5], [common, second]).differences.iloc[0]
    assert row["order"] == "weaker"
    assert row["hdi_high"] - row["hdi_low"] == pytest.approx(2 * norm.ppf(0.945) * 0.1, rel=0.06)
    others = {f"other {word}": value for word, value in second.items()}
    apart = ranked([3.0, 3.5], [common, others]).differences.iloc[0]
    assert apart["order"] == "tied"
    assert apart["hdi_high"] - apart["hdi_low"] == pytest.approx(2 * norm.ppf(0.945) * np.sqrt(2.0), rel=0.06)


def test_equal_embeddings_tie_exactly() -> None:
    """Rounding of a copy in single precision is no difference."""
    words = shared(1.0, seed=1)
    copy = {word: float(np.float32(value)) for word, value in words.items()}
    ranks = ranked([2.0, 2.0 + 1e-9, 1.0], [words, copy, shared(0.5, seed=2)])
    rows = ranks.ranks[ranks.ranks["study"] == ""].set_index("embedding")
    assert rows["rank"].tolist() == [2.5, 2.5, 1.0]
    assert rows.loc["A", "probability"] == rows.loc["B", "probability"] > 0.5
    pair = ranks.differences.iloc[0]
    assert (pair["first"], pair["second"], pair["order"]) == ("A", "B", "equal")
    assert pair[["difference", "hdi_low", "hdi_high", "band_low", "band_high"]].tolist() == [0] * 5
    assert "Equal in every word, and so tied: A and B." in " ".join(str(ranks).split())
    assert "A and B tie for the strongest association" in str(ranks)


def test_bands_hold_all_differences_at_once() -> None:
    """Eight embeddings with equal strengths: bands of all pairs leave out 0 in a tenth of the cases at most."""
    rng, settled = np.random.default_rng(4), []
    for trial in range(20):
        errors = rng.normal(size=(8, 40)) * 0.3 / np.sqrt(40)
        values = 3 + errors @ rng.normal(size=40)
        words = [words_of(dict(zip(WORDS, row, strict=False))) for row in errors.tolist()]
        pairs = paired_differences(Strengths(values, *paired_draws(values, words, study="s", seed=trial)), 0.89)
        settled.append(((pairs["order"] != "tied").any(), (pairs["hdi_low"] * pairs["hdi_high"] > 0).any()))
    at_once, single = np.mean(settled, axis=0)
    assert at_once <= 0.11 + 3 * np.sqrt(0.11 * 0.89 / 20)
    assert single > 0.5


def test_ranges_of_ranks_are_those_of_settled_pairs() -> None:
    errors = [shared(0.1, seed=seed) for seed in range(4)]
    rows = ranked([1.0, 1.05, 3.0, 9.0], errors).ranks.query("study == 's'")
    assert rows[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2], [1, 2], [3, 3], [4, 4]]


def test_the_probability_of_the_whole_order_is_that_of_each_step() -> None:
    errors = [shared(0.5, seed=1), {}, shared(0.5, seed=2)]
    errors[1] = dict.fromkeys(WORDS, 0.0)
    ranks = ranked([3.0, 3.5, 4.0], errors)
    weights = np.array([list(errors[0].values()), list(errors[2].values())])
    covariance = weights @ weights.T
    expected = multivariate_normal([0, 0], covariance * [[1, -1], [-1, 1]]).cdf([0.5, 0.5])
    value = ranks.ranks["order_probability"].iloc[0]
    assert value == pytest.approx(expected, abs=0.03)
    assert f"the whole order holds with probability {value:.2f}." in " ".join(str(ranks).split())


def test_words_of_several_studies_are_drawn_once() -> None:
    """Opposite errors of the same words in two studies cancel in their mean."""
    words = shared(1.0, seed=1)
    opposite = {word: -value for word, value in words.items()}
    zero = dict.fromkeys(WORDS, 0.0)
    keys = [(name, study, "weat") for name in "AB" for study in "st"]
    values = dict(zip(keys, (9.0, 9.0, 8.0, 8.0), strict=True))
    audit = audit_of(values, {}, dict(zip(keys, (words, opposite, zero, zero), strict=True)))
    pairs = bb.audits.rank(audit).differences
    width = (pairs["hdi_high"] - pairs["hdi_low"]).set_axis(pairs["study"])
    assert width["s"] == pytest.approx(2 * norm.ppf(0.945), rel=0.06)
    assert width[""] < 0.2


def test_contrasts_of_embeddings_with_other_scales_are_standardised() -> None:
    audit = audit_of({("A", "s", "contrast"): -0.2, ("B", "s", "contrast"): -0.1}, {})
    audit.loc[audit["embedding"] == "B", "pair_sd"] = 0.25
    assert bb.audits.rank(audit).ranks["strength"].tolist() == [0.2, 0.4, 0.2, 0.4]


def test_ties_share_their_rank() -> None:
    values = {(name, "s", "weat"): value for name, value in (("A", 1.0), ("B", -1.0), ("C", 2.0))}
    assert bb.audits.rank(audit_of(values, {})).ranks["rank"].tolist()[:3] == [1.5, 1.5, 3]


def test_only_studies_that_all_embeddings_answer_count() -> None:
    values = {("A", "s", "weat"): 1.0, ("B", "s", "weat"): 2.0, ("A", "t", "weat"): 9.0}
    ranks = bb.audits.rank(audit_of(values, {})).ranks
    assert ranks["study"].tolist() == ["", "", "s", "s"]
    assert ranks["strength"].tolist() == [1, 2, 1, 2]


def test_correlations_of_measures() -> None:
    names = ("A", "B", "C", "D")
    values = {(name, "s", "weat"): 1.0 + place for place, name in enumerate(names)}
    values |= {(name, "s", "rnd"): (1, 3, 2, 4)[place] for place, name in enumerate(names)}
    values |= {(name, "s", "mac"): 0.5 + place / 10 for place, name in enumerate(names)}
    correlations = bb.audits.rank(audit_of(values, {})).correlations.set_index(["first", "second"])
    assert correlations.loc[("weat", "rnd"), "correlation"] == pytest.approx(0.8)
    assert correlations.loc[("weat", "mac"), "correlation"] == -1
    assert correlations["low"].isna().all()
    errors = {(name, "s", "weat"): dict.fromkeys(WORDS, 0.0) for name in names}
    with_draws = bb.audits.rank(audit_of(values, {}, errors)).correlations.set_index(["first", "second"])
    assert with_draws.loc[("weat", "rnd"), ["low", "high"]].tolist() == pytest.approx([0.8, 0.8])
    two = {key: value for key, value in values.items() if key[0] in "AB"}
    assert bb.audits.rank(audit_of(two, {})).correlations.empty


def test_mistakes() -> None:
    with pytest.raises(ReportError, match="one"):
        bb.audits.rank(audit_of({("A", "s", "weat"): 1.0}, {}))
    with pytest.raises(ValueError, match="audit=5"):
        bb.audits.rank(5)  # type: ignore[arg-type]


def test_a_study_that_only_one_embedding_answers_does_not_decide_what_is_averaged() -> None:
    answers = {("B", "first", "contrast"): 0.1, ("B", "second", "contrast"): 0.2, ("A", "second", "contrast"): 0.3}
    audit = audit_of(answers, {})
    audit.loc[audit["study"] == "second", "quantity"] = "associated - human"
    ranks = bb.audits.rank(audit).ranks
    assert ranks[["study", "embedding", "rank"]].values.tolist() == [
        ["", "B", 1.0],
        ["", "A", 2.0],
        ["second", "B", 1.0],
        ["second", "A", 2.0],
    ]
