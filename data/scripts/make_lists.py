"""Make `data/lists/`: python data/scripts/make_lists.py EDS BING_LIU.

EDS is the folder `data` of github.com/nikhgarg/EmbeddingDynamicStereotypes; BING_LIU is a folder with Bing Liu's
`positive-words.txt` and `negative-words.txt`.
"""

import csv
import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "lists"
YEAR, MOST = "2015", 10
FILES = {  # the names are those of WEFE's `fetch_eds`
    "male_terms": "male_pairs",
    "female_terms": "female_pairs",
    "adjectives_appearance": "adjectives_appearance",
    "adjectives_intelligence": "adjectives_intelligencegeneral",
    "adjectives_otherization": "adjectives_otherization",
    "adjectives_sensitive": "adjectives_sensitive",
    **{f"names_{group}": f"names_{group}" for group in ("asian", "black", "chinese", "hispanic", "russian", "white")},
    "words_christianity": "words_christianity",
    "words_islam": "words_islam",
    "words_terrorism": "words_terrorism",
}
EDS = r'''
description = "Words of Garg et al. for gender, ethnicity and religion: people, adjectives, occupations"
source = """
Nikhil Garg, Londa Schiebinger, Dan Jurafsky and James Zou (2018). Word embeddings quantify 100 years of gender and \
ethnic stereotypes. PNAS 115(16), E3635-E3644: its supplement, and the folder data of its code, \
EmbeddingDynamicStereotypes (commit b4382df)."""
licence = "The lists are facts; the authors ask that the paper be cited."
notes = """
The names of the lists are those of fetch_eds in the package WEFE. Words that a list has twice are here once. \
Occupations: of the census of 2015, held by at least as many men as women (male_occupations) or by fewer; \
occupations_white and so on are the ten with the largest share of the group. WEFE's lists of these four names are \
the ten with the smallest. Lists share some words, such as the names harris and robinson."""
'''
BING_LIU = r'''
description = "English opinion words, positive and negative"
source = """
Minqing Hu and Bing Liu (2004). Mining and summarizing customer reviews. KDD 2004, 168-177: the opinion lexicon, \
in the version of 2011."""
licence = "Copyright (C) 2011 Bing Liu. CC BY 4.0, as the NLTK project distributes it."
notes = """
Misspelt words are meant: they are frequent in reviews. Envious, enviously and enviousness are in both lists: leave \
them out of one to have two lists of a study."""
'''


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a census file that are of the year."""
    with path.open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["Census year"] == YEAR]


def eds(folder: Path) -> dict[str, list[str]]:
    """Return the lists of Garg et al."""
    lists = {name: (folder / f"{file}.txt").read_text(encoding="utf-8").split() for name, file in FILES.items()}
    gender = rows(folder / "occupation_percentages_gender_occ1950.csv")
    lists["male_occupations"] = [row["Occupation"] for row in gender if float(row["Male"]) >= float(row["Female"])]
    lists["female_occupations"] = [row["Occupation"] for row in gender if float(row["Male"]) < float(row["Female"])]
    ethnicity = rows(folder / "occupation_percentages_race_occ1950.csv")
    for group in ("white", "black", "asian", "hispanic"):
        most = sorted(ethnicity, key=lambda row: -float(row[group]))[:MOST]
        lists[f"occupations_{group}"] = [row["Occupation"] for row in most]
    return lists


def bing_liu(folder: Path) -> dict[str, list[str]]:
    """Return the opinion words."""
    lists = {}
    for sign in ("positive", "negative"):
        lines = (folder / f"{sign}-words.txt").read_text(encoding="latin-1").splitlines()
        lists[f"{sign}_words"] = [line for line in lines if line and not line.startswith(";")]
    return lists


def write(name: str, head: str, lists: Mapping[str, Sequence[str]]) -> None:
    """Write lists as a TOML file."""
    lines = [head.strip(), "", "[lists]"]
    for key, words in lists.items():
        text = ", ".join(json.dumps(word, ensure_ascii=False) for word in dict.fromkeys(words))
        wrapped = textwrap.wrap(text, 106, break_on_hyphens=False, break_long_words=False)
        lines += [f"{key} = [", *(f"    {line}" for line in wrapped[:-1]), f"    {wrapped[-1]},", "]"]
    TARGET.mkdir(exist_ok=True)
    (TARGET / f"{name}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write("eds", EDS, eds(Path(sys.argv[1])))
    write("bing_liu", BING_LIU, bing_liu(Path(sys.argv[2])))
