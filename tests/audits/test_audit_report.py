"""Reports of audits: counts by reading, tables, and how many of the settled questions are expected to be wrong."""

from dataclasses import replace

import numpy as np

from bayesbias.audits.audit_frame import AuditFrame
from bayesbias.audits.audit_report import AuditReport
from bayesbias.base.checks import HDI_PROB
from bayesbias.delivery.plots.style import forest
from bayesbias.estimates.decisions import decisions
from tests.audits.test_ranks import audit_of

STUDIES = ("s", "t", "u", "v")


def audit() -> AuditFrame:
    keys = [("A", study, "contrast") for study in STUDIES] + [("A", "s", "weat")]
    draws = {key: np.full(20, -0.1) + np.arange(20) / 1000 for key in keys}
    frame = audit_of(dict.fromkeys(keys, 0.0), draws)
    frame["reading"] = ["nearer", "nearer", "not settled", "farther", ""]
    frame["quantity"] = ["associated - different"] * 4 + ["effect size"]
    frame["probability_of_direction"] = [0.999, 0.98, 0.6, 0.97, np.nan]
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


def test_settled_questions_are_judged_together() -> None:
    """The number that is expected to be wrong is that of the three settled of four questions."""
    contents = AuditReport(audit()).contents
    found = decisions([0.999, 0.98, 0.6, 0.97], [True, True, False, True], HDI_PROB)
    limit, *_ = contents.limits
    assert limit.text == f"Which answers are chance. {found.text('question')}"
    assert limit.numbers["expected_wrong"] == found.expected
    rows = contents.tables["decided"].frame
    assert rows["study"].tolist() == ["s", "t", "v"], "the surest first"
    np.testing.assert_allclose(rows["wrong"], found.wrong[[0, 1, 3]])
    one = audit()
    one["reading"] = "not settled"
    assert "decided" not in AuditReport(one).contents.tables
    assert "Intervals are those of single questions" in AuditReport(one).contents.limits[0].text


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
