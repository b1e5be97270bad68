"""What an audit answers, question by question."""

from dataclasses import replace

import numpy as np

from bayesbias.audits.audit_frame import answers
from tests.audits.test_ranks import audit_of

DRAWS = {"open": np.linspace(-0.03, 0.02, 101), "near": np.linspace(-0.09, -0.01, 101)}


def test_settled_questions_come_first_each_with_its_numbers_and_weat() -> None:
    keys = {study: ("A", study, "contrast") for study in DRAWS}
    values = dict.fromkeys(keys.values(), 0.0) | {("A", "open", "weat"): 1.2, ("A", "near", "weat"): 0.4}
    frame = audit_of(values, {keys[study]: draws for study, draws in DRAWS.items()})
    frame.record = replace(frame.record, questions={"open": "Are x nearer to y?", "near": ""})
    frame["reading"] = ["not settled", "nearer", "", ""]
    frame["p_value"] = [np.nan, np.nan, 0.02, np.nan]
    settled, not_settled = answers(frame)
    assert (settled.kind, not_settled.kind) == ("nearer", "not settled")
    low, high = np.quantile(DRAWS["near"], [0.055, 0.945])
    assert str(settled) == (
        "near: Associated words are nearer, and this is settled. The difference is -0.050 (observed 0.000), "
        f"89% interval {low:+.3f} to {high:+.3f}."
    )
    assert str(not_settled).startswith(
        "open: Are x nearer to y? Not settled. The difference is -0.005 (observed 0.000), "
    )
    assert str(not_settled).endswith(" WEAT: p = 0.0200.")
    assert not_settled.numbers["weat_p"] == 0.02
    assert "weat_p" not in settled.numbers


def test_of_several_embeddings_each_is_named() -> None:
    keys = [(name, "near", "contrast") for name in ("A", "B")]
    frame = audit_of(dict.fromkeys(keys, 0.0), dict.fromkeys(keys, DRAWS["near"]))
    frame["reading"] = ["nearer", "borderline"]
    assert [str(statement).split(". The", 1)[0] for statement in answers(frame)] == [
        "near in A: Associated words are nearer, and this is settled",
        "near in B: Borderline (an end of the interval is within three Monte Carlo errors of 0; more draws "
        "(--draws N, draws=N) can decide)",
    ]


def test_without_contrasts_nothing_is_answered() -> None:
    assert answers(audit_of({("A", "s", "weat"): 1.0}, {})) == ()
