"""Answers of an audit: whether each question is settled, and in which direction."""

from typing import TYPE_CHECKING

from bayesbias.base.number_text import interval_text, p_text, percent_text, signed_text
from bayesbias.base.statements import Statement, rows_of
from bayesbias.reports.audits.audit_frame import CONTRAST, audit_rows

if TYPE_CHECKING:
    import pandas as pd

_CONCLUSIONS = {
    "nearer": "Settled, associated words are nearer",
    "farther": "Settled, associated words are farther",
    "borderline": "Borderline",
    "not settled": "Not settled",
}


def answers(audit: "pd.DataFrame") -> tuple[Statement, ...]:
    """Return a statement for each contrast of all protected words: whether it is settled, and WEAT's p-value, if any.

    Parameters
    ----------
    audit
        What `bayesbias.audit` returned.

    Returns
    -------
    tuple of Statement
        One statement per question, settled ones first. Its kind is the conclusion; its numbers are those of the row,
        and WEAT's one-sided `weat_p`, if any. Empty without contrasts.

    Raises
    ------
    ReportError
        If `audit` is not an audit.
    """
    audited, record = audit_rows(audit)
    rows = audited[(audited["measure"] == CONTRAST) & (audited["protected_group"] == "")]
    weat = audited[audited["measure"] == "weat"].set_index(["embedding", "study"])["p_value"].to_dict()
    several = rows["embedding"].nunique() > 1
    prob = percent_text(record.hdi_prob)
    statements = []
    for row in rows_of(rows):
        key = row["embedding"], row["study"]
        question = f"{text} " if (text := record.questions.get(row["study"])) else ""
        text = (
            f"{key[1]}{f' in {key[0]}' if several else ''}: {question}{_CONCLUSIONS[row['conclusion']]}: "
            f"{signed_text(row['estimate'])} (plain {signed_text(row['observed'])}), {prob} interval "
            f"{interval_text(row['hdi_low'], row['hdi_high'])}."
        )
        p = weat.get(key)
        if p is not None and p == p:
            text += f" WEAT: {p_text(p)}."
            row["weat_p"] = p
        statements.append(Statement(row["conclusion"], text, row))
    return tuple(sorted(statements, key=lambda statement: list(_CONCLUSIONS).index(statement.kind)))
