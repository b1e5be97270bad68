"""How many of several settled changes are expected to be none: of all conditions, and of the words under each."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.statements import Statement
from bayesbias.errors import name_some
from bayesbias.estimates.decisions import decisions
from bayesbias.estimates.intervals import is_settled

if TYPE_CHECKING:
    import pandas as pd

TOGETHER = "by chance"
"""Kind of the statements."""
_AT_ONCE = "Often several are wrong at once, because they share words."


def settled_together(frame: "pd.DataFrame", hdi_prob: float) -> tuple[Statement, ...]:
    """Return what the settled contrasts, or changes of contrasts, of a frame are worth together.

    The first statements are about the conditions, if there are several, and the others about the words under each; all
    are about the first contrast. Where nothing is settled, or one question was asked, there is none. `frame` has the
    columns of `Changes.changes`, without `second` if it holds contrasts under one condition.
    """
    if frame.empty:
        return ()
    first = frame[frame["contrast"] == frame["contrast"].iloc[0]]
    of_word = first["protected_word"] != ""
    words, everyone = first[of_word], first[~of_word & (first["protected_group"] == "")]
    if "second" not in first:
        return tuple(together(words, "protected_word", "word", "effect", hdi_prob))
    families = [(everyone, "second", "condition", "")]
    families += [(some, "protected_word", "word", f" in {name}") for name, some in words.groupby("second", sort=False)]
    return tuple(
        statement
        for rows, key, noun, where in families
        for statement in together(rows, key, noun, "change", hdi_prob, where)
    )


def together(
    rows: "pd.DataFrame", key: str, noun: str, effect: str, hdi_prob: float, where: str = ""
) -> Iterator[Statement]:
    """Yield what the settled rows are worth, if there are several, with the probability that each is wrong.

    `rows` have a column `key` with their names, `contrast`, `hdi_low`, `hdi_high`, `borderline` and
    `probability_of_direction`.
    """
    rows = rows[rows["hdi_low"] < rows["hdi_high"]]  # nothing is left to judge where no distance differs
    ends = zip(rows["hdi_low"], rows["hdi_high"], rows["borderline"], strict=True)
    settled = np.array([is_settled(low, high) and not borderline for low, high, borderline in ends], dtype=bool)
    if len(rows) < 2 or not settled.any():
        return
    of_all = decisions(rows["probability_of_direction"], settled, hdi_prob)
    wrong = dict(zip(rows[key][settled], of_all.wrong[settled].tolist(), strict=True))
    chosen = rows[key][of_all.decided].astype(str).tolist()
    numbers = {"of": noun, "contrast": rows["contrast"].iloc[0], **of_all.numbers, "wrong": wrong, "chosen": chosen}
    named = f" ({name_some(chosen, 12)})" if 0 < len(chosen) < len(wrong) else ""
    text = f"{of_all.text(noun, effect, where).removesuffix('.')}{named}. {_AT_ONCE}"
    yield Statement(TOGETHER, text, numbers)


def note_together(statements: Sequence[Statement], noun: str) -> str:
    """Return the statements about all conditions, or about their words, as the note of a table."""
    return " ".join(str(statement) for statement in statements if statement.numbers["of"] == noun)
