"""How many of several settled changes are expected to be none: of all conditions, and of the words under each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesbias.base.statements import Statement
from bayesbias.estimates.decisions import judged_together

if TYPE_CHECKING:
    import pandas as pd


def settled_together(frame: "pd.DataFrame", hdi_prob: float) -> tuple[Statement, ...]:
    """Return what the settled contrasts, or changes of contrasts, of a frame are worth together.

    The first statements are about the conditions, if there are several, and the others about the words under each; all
    are about the first contrast. Where nothing is settled, or few questions were asked, there is none. `frame` has the
    columns of `Changes.changes`, without `second` if it holds contrasts under one condition, and `settled`.
    """
    if frame.empty:
        return ()
    first = frame[frame["contrast"] == frame["contrast"].iloc[0]]
    of_word = first["protected_word"] != ""
    words, everyone = first[of_word], first[~of_word & (first["protected_group"] == "")]
    if "second" not in first:
        return tuple(judged_together(words, "protected_word", "word", "effect", hdi_prob))
    families = [(everyone, "second", "condition", "")]
    families += [(some, "protected_word", "word", f" in {name}") for name, some in words.groupby("second", sort=False)]
    return tuple(
        statement
        for rows, key, noun, where in families
        for statement in judged_together(rows, key, noun, "change", hdi_prob, where)
    )


def note_together(statements: Sequence[Statement], noun: str) -> str:
    """Return the statements about all conditions, or about their words, as the note of a table."""
    return " ".join(str(statement) for statement in statements if statement.numbers["of"] == noun)
