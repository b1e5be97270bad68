"""Reports of audits: counts by reading, tables, and limits that say how many intervals miss."""

import numpy as np

from bayesbias.audits.audit_frame import AuditFrame
from bayesbias.audits.audit_report import AuditReport
from tests.audits.test_ranks import audit_of

STUDIES = ("s", "t", "u", "v")


def audit() -> AuditFrame:
    keys = [("A", study, "contrast") for study in STUDIES] + [("A", "s", "weat")]
    draws = {key: np.full(20, -0.1) + np.arange(20) / 1000 for key in keys}
    frame = audit_of(dict.fromkeys(keys, 0.0), draws)
    frame["reading"] = ["nearer", "nearer", "not settled", "farther", ""]
    frame["quantity"] = ["associated - different"] * 4 + ["effect size"]
    assert isinstance(frame, AuditFrame)
    return frame


def test_the_verdict_counts_contrasts_by_conclusion() -> None:
    contents = AuditReport(audit()).contents
    expected = "2 are settled (s, t), 1 is settled, but farther (v), 1 is not settled."
    assert contents.answer == f"Of 4 associations, {expected}"
    assert contents.tables["contrasts"].frame["study"].tolist() == list(STUDIES)
    assert contents.tables["contrasts"].frame["protected_group"].tolist() == ["all"] * 4
    assert contents.tables["measures"].frame["measure"].tolist() == ["weat"]
    assert "failed" not in contents.tables
    assert repr(AuditReport(audit())) == "AuditReport(5 rows)"


def test_limits_say_how_many_intervals_miss() -> None:
    """Of 4 intervals of 89 %, 4 * 0.11 = 0.44 miss."""
    limits = " ".join(limit.text for limit in AuditReport(audit()).contents.limits)
    assert "4 intervals of 89%, 0.4 are" in limits
