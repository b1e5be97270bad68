"""What an audit answers: of every question whether it is settled, and which way."""

from typing import TYPE_CHECKING

from bayesbias.base.statements import Statement, interval_text, p_value_text, percent_text, rows_of, signed_text
from bayesbias.reports.audits.audit_frame import CONTRAST, audit_rows

if TYPE_CHECKING:
    import pandas as pd

_SAID = {
    "nearer": "Settled, associated words are nearer",
    "farther": "Settled, associated words are farther",
    "borderline": "Borderline",
    "not settled": "Not settled",
}


def answers(audit: "pd.DataFrame") -> tuple[Statement, ...]:
    """Say of every contrast of all protected words whether it is settled, with what WEAT says where it was asked.

    Parameters
    ----------
    audit
        What `bayesbias.audit` returned.

    Returns
    -------
    tuple of Statement
        One a question, the settled ones first; its kind is the conclusion, its numbers are the row's and WEAT's
        one-sided `weat_p`, if any. Empty without contrasts.

    Raises
    ------
    ReportError
        If it is no audit.
    """
    every, record = audit_rows(audit)
    rows = every[(every["measure"] == CONTRAST) & (every["protected_group"] == "")]
    weat = every[every["measure"] == "weat"].set_index(["embedding", "study"])["p_value"].to_dict()
    several = rows["embedding"].nunique() > 1
    prob = percent_text(record.hdi_prob)
    found = []
    for row in rows_of(rows):
        key = row["embedding"], row["study"]
        question = f"{asked} " if (asked := record.questions.get(row["study"])) else ""
        text = (
            f"{key[1]}{f' in {key[0]}' if several else ''}: {question}{_SAID[row['conclusion']]}: "
            f"{signed_text(row['estimate'])}, {prob} interval {interval_text(row['hdi_low'], row['hdi_high'])}."
        )
        p = weat.get(key)
        if p is not None and p == p:
            text += f" WEAT: p = {p_value_text(p)}."
            row["weat_p"] = p
        found.append(Statement(row["conclusion"], text, row))
    return tuple(sorted(found, key=lambda said: list(_SAID).index(said.kind)))
