"""Tables of several periods as one sample."""

import numpy as np
import pytest

from bayesbias.errors import TableError
from bayesbias.models.periods.period_sample import period_sample
from tests.models.periods.made import made_tables


def test_distances_are_those_of_the_tables() -> None:
    tables = made_tables()
    sample = period_sample(tables)
    assert sample.periods == ("1900", "1910", "1920")
    assert sample.distances.shape == (3, 8, 6)
    row = tables["1910"].iloc[13]
    places = sample.attribute_words.index(row["attribute_word"]), sample.protected_words.index(row["protected_word"])
    assert sample.distances[(1, *places)] == row["cosine_distance"]
    assert sample.lists == ("list0", "list1")
    assert sample.groups == ("group0", "group1")


def test_lacking_words_are_noted_by_period() -> None:
    tables = made_tables()
    tables["1900"] = tables["1900"].query("protected_word != 'w1'")
    tables["1920"] = tables["1920"].query("attribute_word != 'a5'")
    sample = period_sample(tables)
    lacks = {
        sample.protected_words[word]: sample.periods[period] for word, period in np.argwhere(~sample.protected_present)
    }
    assert lacks == {"w1": "1900"}
    assert np.isnan(sample.distances).sum() == 6
    assert np.argwhere(~sample.attribute_present).tolist() == [[sample.attribute_words.index("a5"), 2]]


@pytest.mark.parametrize(
    ("period", "rows", "message"),
    [
        ("1910", "protected_word != 'w1' or attribute_word != 'a2'", "'w1' with 'a2'"),
        ("1910", "protected_group != 'group1'", "'group1'.* has 0 of 3 words in 1910"),
        ("1910", "attribute_group != 'list1' or attribute_word == 'a4'", "'list1'.* has 1 of 4 words in 1910"),
    ],
)
def test_periods_that_lack_too_much_are_refused(period: str, rows: str, message: str) -> None:
    tables = made_tables()
    tables[period] = tables[period].query(rows)
    with pytest.raises(TableError, match=message):
        period_sample(tables)


def test_periods_that_one_attribute_word_links_are_refused() -> None:
    tables = made_tables(periods=2, attributes=4)
    tables["1900"] = tables["1900"].query("attribute_word not in ('a0', 'a1')")
    assert len(period_sample(tables).periods) == 2
    tables["1910"] = tables["1910"].query("attribute_word != 'a3'")
    with pytest.raises(TableError, match="'list0', 'a2' alone links"):
        period_sample(tables)


def test_periods_without_common_words_are_refused() -> None:
    tables = made_tables()
    tables["1900"] = tables["1900"].query("protected_word != 'w0'")
    for period in ("1910", "1920"):
        tables[period] = tables[period].query("protected_word not in ('w1', 'w2')")
    with pytest.raises(TableError, match="links '1900'"):
        period_sample(tables)
