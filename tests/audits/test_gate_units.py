"""Gates of language models and scores: regions in their unit or standardised, baselines, and what is not checked."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.gate_files import read_baseline
from bayesbias.errors import ReportError
from bayesbias.reports.plans.record import Region, check_region
from bayesbias.tables.measures import SURPRISAL, Measure
from tests.audits.test_ranks import audit_of
from tests.refusals import refusals

SPREAD = np.random.default_rng(1).normal(0, 0.005, 4000)
TIME = Measure("reaction time", "ms")


def audited(
    means: Mapping[str, float], measure: Measure = SURPRISAL, factor: float = 1.0, pair_sd: float = 0.1, **record: Any
) -> pd.DataFrame:
    """An audit of the table M, whose draws are Normal with sd 0.005, times a factor; its pairs have an sd of 0.1."""
    draws = {("M", study, "contrast"): factor * (mean + SPREAD) for study, mean in means.items()}
    frame = audit_of({key: float(values.mean()) for key, values in draws.items()}, draws)
    frame["pair_sd"] = factor * pair_sd
    spreads = {
        key[:2]: {"pair_sd": factor * pair_sd, "word_sd": factor * 0.2, "mean_number": factor * 5.0} for key in draws
    }
    of_table = {"units": {"M": measure}, "tables_of": frozenset({"M"}), "spreads": spreads, "coherences": {}}
    frame.record = replace(frame.record, **(of_table | record))
    return frame


def beside_vectors(means: Mapping[str, float], pair_sd: float = 0.1) -> pd.DataFrame:
    """That audit, and one of vectors with the same contrasts, whose coherence is 0.2."""
    draws = {(name, study, "contrast"): mean + SPREAD for name in "VM" for study, mean in means.items()}
    frame, record = audit_of({key: float(values.mean()) for key, values in draws.items()}, draws), audited(means).record
    spreads = {key[:2]: {"pair_sd": pair_sd, "mean_number": 5.0} for key in draws}
    more = {"units": record.units, "tables_of": record.tables_of, "spreads": spreads}
    vectors = bb.audits.AuditRecord.unit_of(record, "V")
    frame.record = replace(frame.record, **(more | {"units": {"V": vectors, "M": SURPRISAL}}))
    return frame


def test_a_region_is_in_the_unit_of_the_contrasts() -> None:
    result = bb.gate(audited({"small": 0.0, "large": 0.05}), rope={"nats": 0.02})
    assert result.questions["outcome"].tolist() == ["pass", "fail"]
    assert result.region == Region(-0.02, 0.02, unit="nats")
    assert "FAIL M, large: +0.050 nats (89% interval" in str(result)
    thousand = bb.gate(audited({"small": 0.0, "large": 0.05}, TIME, 1000.0), rope={"ms": 20})
    assert thousand.questions["outcome"].tolist() == ["pass", "fail"]
    np.testing.assert_allclose(thousand.questions["mean"], 1000 * result.questions["mean"])
    of_audit = bb.gate(audited({"small": 0.0}, region=Region(-0.02, 0.02, unit="nats")))
    assert of_audit.region == result.region, "the audit had checked its unit"


def test_a_standardised_region_is_in_units_of_single_pairs() -> None:
    """0.3 of 0.1 is 0.03: the same outcomes in any unit, also where noise widened the deviation since a baseline."""
    means = {"in": 0.015, "out": 0.05}
    for measure, factor in ((SURPRISAL, 1.0), (TIME, 1000.0)):
        result = bb.gate(audited(means, measure, factor), rope={"standardised": 0.3})
        assert result.questions["outcome"].tolist() == ["pass", "fail"]
        np.testing.assert_allclose(result.questions["rope_high"], 0.03 * factor)
    assert "-0.3 to 0.3 in units of the standard deviation of single pairs, 0.100" in str(
        bb.gate(audited(means), rope={"standardised": 0.3})
    )
    single = bb.gate(audited(means, pair_sd=np.nan), rope={"standardised": 0.3})
    assert set(single.questions["outcome"]) == {"not comparable"}
    assert bb.gate(audited(means, pair_sd=np.nan), rope={"nats": 0.03}).outcome == "fail"


def test_noise_since_the_baseline_widens_no_standardised_region(tmp_path: Path) -> None:
    path = bb.write(bb.gate(audited({"s": 0.0}), rope={"standardised": 0.3}), tmp_path / "old.json")
    noisy = bb.gate(audited({"s": 0.05}, pair_sd=0.2), rope={"standardised": 0.3}, baseline=path)
    assert noisy.questions["rope_high"].item() == pytest.approx(0.03)
    assert noisy.outcome == "fail"
    assert bb.gate(audited({"s": 0.05}, pair_sd=0.2), rope={"standardised": 0.3}).outcome == "pass"


def test_vectors_and_tables_are_decided_by_one_standardised_region() -> None:
    """Coherence 0.2 and a deviation of 0.1: a contrast of 0.045 is 0.225 of one and 0.45 of the other."""
    result = bb.gate(beside_vectors({"s": 0.045}), rope={"standardised": 0.3})
    rows = result.questions.set_index("embedding")
    assert rows["outcome"].to_dict() == {"V": "pass", "M": "fail"}
    assert rows["contrast_unit"].to_dict() == {"V": "cosine distance", "M": "nats"}
    contents = result.contents
    assert "in units of coherence, of tables of the standard deviation of single pairs" in contents.about
    figure = contents.figures["gate"]
    drawn = figure.data.set_index("label")["mean"]
    np.testing.assert_allclose(drawn.loc[["s in V", "s in M"]], [0.225, 0.45], atol=0.002)
    assert figure.options["rope"] == (-0.3, 0.3)
    assert "s in M, +0.045 nats" in contents.estimate or "M, s: +0.045 nats" in contents.estimate
    assert "differences of cosine distance or surprisal (nats)" in result.model_card
    assert "+0.045 nats" in result.model_card


def test_of_a_language_model_nothing_speaks_of_distances() -> None:
    result = bb.gate(audited({"s": 0.05}), rope={"nats": 0.02})
    contents = result.contents
    figure = contents.figures["gate"]
    shown = [str(result), result.model_card, result.junit, contents.about, figure.caption, str(figure.options)]
    shown += [contents.tables["questions"].caption, *(statement.text for statement in contents.limits)]
    text = "\n".join(shown)
    assert "distance" not in text
    assert "vectors" not in text
    assert "nearer" not in text
    assert "below 0, associated words are likelier" in text


def test_what_is_not_checked_of_a_table_is_a_note(tmp_path: Path) -> None:
    result = bb.gate(audited({"a": 0.0, "b": 0.0, "c": 0.05}), rope={"nats": 0.02})
    (note,) = result.notes
    assert "M passes without the checks that vectors have" in note
    path = bb.write(result, tmp_path / "old.json")

    def notes(**changes: Any) -> list[str]:
        now = bb.gate(audited({"a": 0.001}, **changes), rope={"nats": 0.02}, baseline=path, strict=False)
        return [one for one in now.notes if "not like those of the baseline" in one]

    assert notes() == []
    assert "standard deviation of single pairs 0.15, 0.1" in notes(pair_sd=0.15)[0]
    other = {("M", "a"): {"pair_sd": 0.1, "mean_number": 9.0}}
    assert "mean 9, 5 in the baseline" in notes(spreads=other)[0]
    # Numbers that were shrunk, with noise that restores the deviation of single pairs.
    shrunk = {("M", "a"): {"pair_sd": 0.1, "word_sd": 0.1, "mean_number": 5.0}}
    assert "of the means of words 0.1, 0.2" in notes(spreads=shrunk)[0]
    assert not bb.gate(audited({"a": 0.05}), rope={"nats": 0.02}).notes, "it does not pass"


def test_a_baseline_records_the_unit_and_another_one_is_a_changed_plan(tmp_path: Path) -> None:
    path = bb.write(bb.gate(audited({"s": 0.05}), rope={"nats": 0.02}), tmp_path / "old.json")
    content = json.loads(path.read_text())
    assert content["unit"] == content["questions"][0]["contrast_unit"] == "nats"
    assert bb.gate(audited({"s": 0.05}), rope={"nats": 0.02}, baseline=path).outcome == "pass", "not worse"
    other = bb.gate(audited({"s": 0.0}, Measure("surprisal", "bits")), rope={"bits": 0.02}, baseline=path)
    assert other.outcome == "changed plan"
    assert "rope: -0.02 to 0.02 in nats in the baseline, -0.02 to 0.02 in bits now" in str(other)
    assert "its contrasts are in bits, those of the baseline in nats" in str(other)
    path.write_text(json.dumps(content | {"unit": "bits"}))
    with pytest.raises(ReportError, match="was changed after a gate wrote it"):
        read_baseline(path)


def test_draws_of_other_units_are_read_back_however_large(tmp_path: Path) -> None:
    path = bb.write(bb.gate(audited({"s": 0.5}, TIME, 1000.0), rope={"ms": 20}), tmp_path / "old" / "")
    earlier = read_baseline(path / "gate.json").answers["M", "s", "crossed"]
    assert earlier.mean == pytest.approx(500, abs=1)
    assert (earlier.pair_sd, earlier.mean_number) == (100.0, 5000.0)


test_refusals = refusals(
    (lambda: bb.gate(audited({"s": 0.0}), rope=0.02), ReportError, "cosine distance is no region for M, .* in nats"),
    (lambda: bb.gate(audited({"s": 0.0}, TIME), rope={"nats": 1}), ReportError, r"rope=\{'ms': 0\.1\}"),
    (lambda: bb.gate(beside_vectors({"s": 0.0}), rope={"nats": 0.02}), ReportError, "in nats is no region for V"),
)


def test_a_region_of_another_unit_says_so() -> None:
    assert str(check_region({"nats": (-1, 0.5)})) == "-1 to 0.5 in nats"
    assert check_region({"cosine distance": 0.02}) == check_region(0.02)
