"""Ranks from given draws, by hand."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.audit_frame import COLUMNS, AuditFrame, AuditRecord
from bayesbias.audits.coherence import Coherence
from bayesbias.audits.ranks import simultaneous_ranks
from bayesbias.errors import ReportError

SOUND = Coherence(0.2, 0.3, 0.1, 0.0)


def audit_of(
    estimates: dict[tuple[str, str, str], float], draws: dict[tuple[str, str, str], np.ndarray]
) -> pd.DataFrame:
    """An audit with these estimates by (embedding, study, measure)."""
    rows = [
        {"embedding": e, "study": s, "measure": m, "protected_group": "", "observed": value, "mean": np.nan}
        for (e, s, m), value in estimates.items()
    ]
    frame = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    frame["protected_group"] = ""
    frame["quantity"] = "value"
    for key, values in draws.items():
        here = (frame[["embedding", "study", "measure"]] == list(key)).all(axis=1)
        frame.loc[here, ["mean", "hdi_low", "hdi_high"]] = [values.mean(), *np.quantile(values, [0.055, 0.945])]
    made = AuditFrame(frame)
    lost: dict[tuple[str, str], tuple[str, ...]] = {key[:2]: () for key in estimates}
    coherences = dict.fromkeys(lost, SOUND)
    made.record = AuditRecord(draws, lost, {}, 0.89, "crossed" if draws else "", coherences=coherences)
    return made


def test_the_stronger_association_has_the_higher_rank_whatever_its_sign() -> None:
    values = {("A", "s", "weat"): -1.5, ("B", "s", "weat"): 0.5, ("A", "s", "mac"): 0.9, ("B", "s", "mac"): 0.7}
    ranks = bb.audits.rank(audit_of(values, {})).ranks.set_index(["measure", "study", "embedding"])["rank"]
    assert ranks["weat", "s", "A"] == ranks["weat", "", "A"] == 2
    assert ranks["mac", "s", "A"] == 1  # far from all attributes
    contrast = {("A", "s", "contrast"): -0.2, ("B", "s", "contrast"): 0.1}
    assert bb.audits.rank(audit_of(contrast, {})).ranks["rank"].tolist() == [2, 1, 2, 1]


def test_probabilities_are_shares_of_the_draws() -> None:
    rng = np.random.default_rng(1)
    a, b, c = rng.normal(1.0, 0.3, 4000), rng.normal(-1.2, 0.3, 4000), rng.normal(5, 0.1, 4000)
    keys = [(name, "s", "weat") for name in "ABC"]
    ranks = bb.audits.rank(
        audit_of(dict(zip(keys, (1.0, -1.2, 5.0), strict=True)), dict(zip(keys, (a, b, c), strict=True)))
    )
    rows = ranks.ranks[ranks.ranks["study"] == "s"].set_index("embedding")
    below = float((np.abs(a) < np.abs(b)).mean())
    assert rows.loc["A", "probability"] == rows.loc["B", "probability"] == below
    assert rows.loc["C", ["probability", "strongest", "rank_low"]].tolist() == [1, 1, 3]
    assert rows.loc["A", ["rank_low", "rank_high"]].tolist() == [1, 2]
    assert "C 5 (over 0.99)" in str(ranks)


def test_intervals_hold_all_ranks_at_once() -> None:
    """Six embeddings that cannot be told apart, and two that can: intervals of single ranks hold all in 0.81."""
    rng = np.random.default_rng(2)
    centers = np.array([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 8.0, 9.0])
    drawn = rng.normal(centers, 0.15, (4000, 8)).argsort(axis=1).argsort(axis=1) + 1.0
    low, high = simultaneous_ranks(drawn, 0.89)
    inside = ((low <= drawn) & (drawn <= high)).all(axis=1).mean()
    assert 0.89 <= inside < 0.95
    single = np.quantile(drawn, [0.055, 0.945], axis=0, method="inverted_cdf")
    assert ((single[0] <= drawn) & (drawn <= single[1])).all(axis=1).mean() < 0.85
    assert (low[6:].tolist(), high[6:].tolist()) == ([7, 8], [7, 8])


def test_the_probability_of_the_whole_order_is_a_share_of_the_draws() -> None:
    rng = np.random.default_rng(3)
    draws = {(name, "s", "weat"): rng.normal(place, 1.0, 2000) for place, name in enumerate("ABC", start=3)}
    ranks = bb.audits.rank(audit_of(dict(zip(draws, (3.0, 4.0, 5.0), strict=True)), draws))
    a, b, c = (np.abs(values) for values in draws.values())
    expected = float(((a < b) & (b < c)).mean())
    assert set(ranks.ranks["order_probability"]) == {expected}
    assert f"the whole order holds with probability {expected:.2f}." in " ".join(str(ranks).split())


def test_ties_share_their_rank() -> None:
    values = {(name, "s", "weat"): value for name, value in (("A", 1.0), ("B", -1.0), ("C", 2.0))}
    assert bb.audits.rank(audit_of(values, {})).ranks["rank"].tolist()[:3] == [1.5, 1.5, 3]


def test_only_studies_that_all_embeddings_answer_count() -> None:
    values = {("A", "s", "weat"): 1.0, ("B", "s", "weat"): 2.0, ("A", "t", "weat"): 9.0}
    ranks = bb.audits.rank(audit_of(values, {})).ranks
    assert ranks["study"].tolist() == ["s", "s", "", ""]
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
    draws = {(name, "s", "weat"): np.full(100, values[name, "s", "weat"]) for name in names}
    with_draws = bb.audits.rank(audit_of(values, draws)).correlations.set_index(["first", "second"])
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
        ["second", "B", 1.0],
        ["second", "A", 2.0],
        ["", "B", 1.0],
        ["", "A", 2.0],
    ]
