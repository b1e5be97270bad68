"""Training, development and test parts, by the names that data sets give them."""

import pandas as pd
import pytest

from bayesbias.errors import MeasureError
from bayesbias.nli.training import split_pairs


def pairs(*splits: str) -> pd.DataFrame:
    return pd.DataFrame({"premise": [f"p{place}" for place in range(len(splits))], "split": splits})


@pytest.mark.parametrize("development", ["dev", "Development", "TRIAL", "valid", " validation "])
def test_parts_are_found_by_any_of_their_names(development: str) -> None:
    given = pairs("train", development, "TEST", "Training", "test")
    train, held_out, test = split_pairs(given)
    assert train["premise"].tolist() == ["p0", "p3"]
    assert held_out["premise"].tolist() == ["p1"]
    assert test["premise"].tolist() == ["p2", "p4"]
    assert all(part.index.tolist() == list(range(len(part))) for part in (train, held_out, test))


def test_parts_that_are_absent_are_none() -> None:
    train, held_out, test = split_pairs(pairs("train", "train"))
    assert (len(train), held_out, test) == (2, None, None)
    train, held_out, test = split_pairs(pairs("", " "))
    assert (len(train), held_out, test) == (2, None, None)


@pytest.mark.parametrize(
    ("splits", "fact"), [(("train", "held"), "held, .*train"), (("dev", "test"), "dev, test, .*training")]
)
def test_splits_that_cannot_be_used_are_named(splits: tuple[str, ...], fact: str) -> None:
    with pytest.raises(MeasureError, match=fact):
        split_pairs(pairs(*splits))
