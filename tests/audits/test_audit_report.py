"""Reports of audits: counts by reading, tables, and limits that say how many intervals miss."""

from dataclasses import replace

import numpy as np

from bayesbias.audits.audit_frame import AuditFrame
from bayesbias.audits.audit_report import AuditReport
from bayesbias.delivery.plots.style import forest
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


def test_a_question_stands_once_beside_its_answer_or_else_alone() -> None:
    frame = audit()
    frame.record = replace(frame.record, questions={"s": "Is it so?"})
    texts = [one.text for one in AuditReport(frame).contents.answers]
    assert sum("Is it so?" in text for text in texts) == 1
    assert AuditReport(frame).contents.parts == ()
    measured = AuditFrame(frame[frame["measure"] == "weat"])
    measured.record = frame.record
    (questions,) = AuditReport(measured).contents.parts
    assert [one.text for one in questions.statements] == ["s: Is it so?"]


def test_the_figure_of_answers_has_a_dot_where_an_answer_is_borderline() -> None:
    frame = audit()
    frame.loc[1, "reading"] = "borderline"
    answers = AuditReport(frame).contents.figures["answers"]
    (dot,) = forest(answers.data, **answers.options).axes[0].collections
    assert dot.get_offsets().tolist() == [[frame.loc[1, "mean"], 2]]  # after those that are settled
