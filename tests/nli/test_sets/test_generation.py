"""Test sets: counts, sentences, and what is wrong with a file."""

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import InputFileError, MeasureError

# Of Dawkins (2021), sections 3.2, 3.3 and appendix A, and Dev et al. (2020) as she counts them in section 2.1.
COUNTS = {"explicit": 15_744, "names": 125_952, "occupations": 62_976, "dev_occupations": 1_936_512}
WORDS = {"explicit": 8, "names": 64, "occupations": 32, "dev_occupations": 6}


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    """Return all test sets: the largest has two million pairs."""
    return {name: bb.nli.test_set(name) for name in COUNTS}


@pytest.mark.parametrize("name", ["explicit", "names", "occupations", "dev_occupations"])
def test_the_counts_are_those_of_the_papers(name: str, frames: dict[str, pd.DataFrame]) -> None:
    frame = frames[name]
    assert len(frame) == COUNTS[name]
    assert frame["word"].nunique() == WORDS[name]
    assert frame.groupby("group", observed=True).size().nunique() == 1  # as many of each gender
    assert (frame["verb"].nunique(), frame["object"].nunique()) == (27, 184)
    premises = frame[["premise"]].iloc[: len(frame) // WORDS[name]]
    assert premises["premise"].is_unique
    assert len(premises) == 1968 * (164 if name == "dev_occupations" else 1)


@pytest.mark.parametrize("name", ["explicit", "names", "occupations"])
def test_a_pair_is_found_again_by_its_index(name: str, frames: dict[str, pd.DataFrame]) -> None:
    frame, again = frames[name], bb.nli.test_set(name)
    words = frame["word"].cat.categories
    for index in (0, 1967, 1968, 5000, len(frame) - 1):
        assert frame.loc[index].tolist() == again.loc[index].tolist()
        assert frame.loc[index, "word"] == words[index // 1968]
        assert frame.loc[index, "premise"] == frame.loc[index % 1968, "premise"]


def test_articles_and_capitals(frames: dict[str, pd.DataFrame]) -> None:
    frame = frames["explicit"]
    assert set(frame["hypothesis"].str.split().str[0]) == {"A", "He", "She"}
    sentences = set(frame["hypothesis"])
    assert {"A man ate an apple.", "He crashed an SUV.", "A lady owns a TV.", "She bought headphones."} <= sentences
    assert {"A guy met a VIP.", "A girl visited an heir."} & sentences == {"A guy met a VIP."}
    occupations = frames["occupations"]["hypothesis"]
    assert {"An engineer sold an oven.", "A nurse sold an oven."} <= set(occupations)
    assert set(frames["names"]["hypothesis"].str.split().str[0]) >= {"Noah", "Emma"}
    dev = frames["dev_occupations"].iloc[0]
    assert (dev["premise"], dev["subject"]) == ("An accountant bought an apple.", "accountant")
    assert dev["hypothesis"] == "A man bought an apple."


def test_the_rule_of_the_pairs(frames: dict[str, pd.DataFrame]) -> None:
    """As the code of Dev et al. combines its lists: 10 x 95 + 10 x 89 + 2 x 9 + 5 x 22."""
    pairs = frames["explicit"].iloc[:1968][["verb", "object"]].astype(str)
    counts = pairs.groupby("verb")["object"].nunique()
    assert sorted(counts) == sorted([95] * 10 + [89] * 10 + [9] * 2 + [22] * 5)
    assert counts["drove"] == 9
    assert counts["ate"] == 22


def test_names_that_do_not_exist() -> None:
    with pytest.raises(MeasureError, match=r"'explict' .*'explicit'"):
        bb.nli.test_set("explict")
    with pytest.raises(InputFileError, match=r"none\.toml"):
        bb.nli.test_set("none.toml")
    assert bb.nli.list_test_sets() == sorted(COUNTS)
