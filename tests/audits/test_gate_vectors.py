"""The gate beside the coherence of lists: what broken vectors and standardised regions do to an outcome."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.coherence import Coherence
from bayesbias.audits.gate_rule import WIDEST
from bayesbias.errors import ArgumentError, ReportError
from tests.audits.test_gate import SPREAD, audited, outcomes
from tests.audits.test_ranks import SOUND
from tests.refusals import refusals


def with_coherence(mean: float, coherence: Coherence = SOUND) -> pd.DataFrame:
    return audited({"s": mean}, coherences={("A", "s"): coherence})


def with_spread_of(mean: float, factor: float, coherence: Coherence = SOUND) -> pd.DataFrame:
    frame = with_coherence(mean, coherence)
    draws = mean + factor * SPREAD
    frame.record.draws["A", "s", "contrast"][:] = draws
    frame[["mean", "hdi_low", "hdi_high"]] = [draws.mean(), *np.quantile(draws, [0.055, 0.945])]
    return frame


def baseline_of(folder: Path, mean: float = 0.0, rope: object = 0.02) -> Path:
    return bb.write(bb.gate(with_coherence(mean), rope=rope), folder / "old") / "gate.json"


@pytest.mark.parametrize(
    ("now", "outcome"),
    [
        (SOUND, "pass"),
        (Coherence(0.18, 0.29, 0.15, 0.0), "pass"),
        (Coherence(0.1, 0.3, 0.6, 0.0), "not comparable"),
        (Coherence(0.2, 0.2, 0.1, 0.0), "not comparable"),
        (Coherence(0.3, 0.3, 0.1, 0.0), "not comparable"),
        (Coherence(0.0, 0.0, 0.1, 0.4), "not comparable"),
    ],
)
def test_what_moved_beyond_a_bound_does_not_pass(tmp_path: Path, now: Coherence, outcome: str) -> None:
    result = bb.gate(with_coherence(0.0, now), rope=0.02, baseline=baseline_of(tmp_path))
    assert (result.outcome, result.exit_code) == (outcome, {"pass": 0, "not comparable": 6}[outcome])
    assert result.questions["coherence"].item() == now.coherence
    if outcome != "pass":
        assert "NOT COMPARABLE A, s" in str(result)
        assert "1 is not comparable" in result.summary.text
        assert 'errors="1"' in result.junit


def test_nothing_passes_without_a_coherence(tmp_path: Path) -> None:
    nothing = Coherence(np.nan, np.nan, np.nan, np.nan)
    assert bb.gate(with_coherence(0.0, nothing), rope=0.02, baseline=baseline_of(tmp_path)).exit_code == 6
    path = bb.write(bb.gate(with_coherence(0.0, nothing), rope=0.02), tmp_path / "without.json")
    for rope in (0.02, {"standardised": 0.1}):
        result = bb.gate(with_coherence(0.0, nothing), rope=rope, baseline=path, strict=False)
        assert result.exit_code == 6
        assert "no list has two words" in str(result)
    assert bb.gate(with_coherence(0.0), rope=0.02, baseline=path).exit_code == 0, "the baseline has no answer"


def test_inside_the_bounds_a_smaller_coherence_gains_nothing(tmp_path: Path) -> None:
    """A contrast of 0.035 fails, and the same vectors with contrasts and coherence times 0.9 fail too."""
    path = baseline_of(tmp_path, rope=0.026)
    assert bb.gate(with_coherence(0.035), rope=0.026, baseline=path).outcome == "fail"
    shrunk = 0.9 * (0.035 + SPREAD)
    frame = with_coherence(0.0, Coherence(0.18, 0.3, 0.19, 0.0))
    frame.record.draws["A", "s", "contrast"][:] = shrunk
    frame[["mean", "hdi_low", "hdi_high"]] = [shrunk.mean(), *np.quantile(shrunk, [0.055, 0.945])]
    assert bb.gate(frame, rope=0.026).outcome == "undecided"
    result = bb.gate(frame, rope=0.026, baseline=path)
    assert result.outcome == "fail"
    assert result.questions[["rope_low", "rope_high"]].to_numpy().ravel() == pytest.approx([-0.0234, 0.0234])
    assert "the region times 0.90" in str(result)


def test_a_raw_region_shows_nothing_where_all_words_resemble_each_other(tmp_path: Path) -> None:
    alike = Coherence(0.05, 0.3, 0.7, 0.0)
    result = bb.gate(with_coherence(0.0, alike), rope=0.02)
    assert result.outcome == "not comparable"
    assert "mean cosine 0.70" in str(result)
    assert "standardised" in str(result)
    assert bb.gate(with_coherence(0.05, alike), rope=0.02).outcome == "fail"
    assert bb.gate(with_coherence(0.0, alike), rope={"standardised": 0.4}).outcome == "pass"
    path = bb.write(bb.gate(with_coherence(0.0, alike), rope=0.02), tmp_path / "old.json")
    assert bb.gate(with_coherence(0.0, alike), rope=0.02, baseline=path).outcome == "not comparable"


def test_random_vectors_are_named_without_a_baseline() -> None:
    result = bb.gate(with_coherence(0.0, Coherence(0.001, 0.001, 0.0, 0.4)), rope=0.02)
    assert result.exit_code == 6
    assert "no more coherent than chance" in str(result)


def test_a_standardised_region_is_a_share_of_the_coherence() -> None:
    result = bb.gate(with_coherence(0.03), rope={"standardised": 0.1})
    assert result.rope == (-0.1, 0.1)
    assert result.questions[["rope_low", "rope_high"]].to_numpy().ravel() == pytest.approx([-0.02, 0.02])
    assert outcomes(result) == outcomes(bb.gate(with_coherence(0.03), rope=0.02))
    assert "-0.1 to 0.1 in units of coherence" in str(result)
    one_sided = bb.gate(with_coherence(0.03), rope={"standardised": (-0.1, 1)})
    assert one_sided.outcome == "pass"
    apart = Coherence(-0.01, 0.1, 0.1, 0.0)
    assert "no unit" in str(bb.gate(with_coherence(0.0, apart), rope={"standardised": 0.1}))


def test_a_standardised_gate_compares_in_its_units(tmp_path: Path) -> None:
    """Contrast and coherence halve by a part that all words share: nothing got worse."""
    rope = {"standardised": 0.1}
    path = baseline_of(tmp_path, 0.06, rope)
    half = Coherence(0.1, 0.3, 0.55, 0.0)
    same = bb.gate(with_spread_of(0.03, 0.5, half), rope=rope, baseline=path).questions.iloc[0]
    assert same["probability_worse"] == pytest.approx(0.5, abs=0.1)
    assert same["outcome"] == "pass"
    assert bb.gate(with_spread_of(0.06, 0.5, half), rope=rope, baseline=path).outcome == "fail"


@pytest.mark.slow
def test_an_audit_has_the_facts_and_the_region() -> None:
    vectors = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    settings = {"random_seed": 1, "progress": False, "rope": {"standardised": 0.3}}
    audit = bb.audit({"W": vectors}, ["gender"], ["contrast"], **settings)
    coherence = audit.record.coherences["W", "gender"]
    assert audit.record.rope is None
    assert audit.record.settings["Region of practical equivalence"] == "-0.3 to 0.3 in units of coherence"
    question = bb.gate(audit).questions.iloc[0]
    assert question["rope_high"] == pytest.approx(0.3 * coherence.coherence)
    assert audit["probability_in_rope"].iloc[0] == pytest.approx(question["probability_in_rope"])
    shifted = (vectors.words, np.asarray(vectors.vectors, dtype=float) + 1)
    broken = bb.audit({"W": shifted}, ["gender"], ["contrast"], **settings | {"rope": 0.03})
    assert bb.gate(broken).outcome == "not comparable"


def test_vectors_without_a_vocabulary_say_so() -> None:
    whole = audited({"s": 0.0}, interval_includes={"A": "dependence of words"})
    assert "without random words" not in bb.gate(whole, rope=0.02).model_card
    assert "A: its vectors come without random words" in bb.gate(audited({"s": 0.0}), rope=0.02).model_card


@pytest.mark.parametrize(
    ("mean", "factor", "outcome"),
    [
        (0.03, 1.0, "fail"),
        (0.03, 1.6, "undecided"),
        (0.022, 1.2, "pass"),
        (0.022, 1.6, "undecided"),
        (0.019, 1.6, "undecided"),
        (0.012, 1.6, "pass"),
    ],
)
def test_a_wider_interval_does_not_hide_what_got_worse(
    tmp_path: Path, mean: float, factor: float, outcome: str
) -> None:
    """The vectors of other words widen intervals; then "not shown to be worse" is no pass."""
    path = bb.write(bb.gate(with_coherence(0.02), rope=0.01), tmp_path / "old.json")
    result = bb.gate(with_spread_of(mean, factor), rope=0.01, baseline=path)
    assert result.outcome == outcome
    assert ("too wide to show it" in str(result)) == (outcome == "undecided")


@pytest.mark.slow
def test_seeds_of_one_training_have_intervals_of_nearly_the_same_width() -> None:
    files = {f"{seed}": bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2, 5)}
    settings, studies = {"random_seed": 1, "progress": False, "max_lost": 0.6}, ["gender", "weat2", "weat8"]
    with pytest.warns(bb.errors.LostWordsWarning):
        audit = bb.audit(files, studies, ["contrast"], **settings)
    sds = [[audit.record.draws[name, study, "contrast"].std() for name in files] for study in studies]
    assert max(max(row) / min(row) for row in sds) < 0.95 * WIDEST


test_refusals = refusals(
    (lambda: bb.gate(with_coherence(0.0), rope={"standardised": -1}), ArgumentError, r"rope=.*-1"),
    (lambda: bb.gate(with_coherence(0.0), rope={"standardized": 0.3}), ArgumentError, "standardised"),
    (lambda: bb.gate(with_coherence(0.0), rope={}), ArgumentError, "standardised"),
    (lambda: bb.gate(with_coherence(0.0), rope=0.02, strict=1), ArgumentError, "strict"),
)


def test_a_baseline_of_an_older_form_says_so(tmp_path: Path) -> None:
    path = baseline_of(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 1}))
    with pytest.raises(ReportError, match="older form"):
        bb.gate(with_coherence(0.0), rope=0.02, baseline=path)
