"""Where a table comes from; what is impossible is shown with the tables (`test_schema.py`)."""

import pandas as pd

from bayesbias.tables.schema import ATTRS_KEY


def test_a_copy_of_a_table_has_facts_of_its_own_that_share_their_lists(table: pd.DataFrame) -> None:
    """pandas copies attrs deeply at every step, which of thousands of lost words takes most of the time."""
    copied = table.copy()
    facts, others = table.attrs[ATTRS_KEY], copied.attrs[ATTRS_KEY]
    assert facts == others
    assert all(others[name] is value for name, value in facts.items())
    others["study"] = "another"
    assert table.attrs[ATTRS_KEY]["study"] != "another"
