"""What the lists of a table are worth in independent words, and which words count nearly as one."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import counted, quoted_name, shown_name
from bayesbias.base.statements import Statement
from bayesbias.errors import FitError, name_some, worded
from bayesbias.estimates.dependence import LinkedWords, clusters
from bayesbias.models.data import ModelData, attribute_lists, list_kinds, model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.studies.faults import CONTROLS
from bayesbias.tables.measures import COSINE_DISTANCE, Measure
from bayesbias.tables.schema import FrameLike, as_frame, table_facts
from bayesbias.tables.word_worths import KEY

if TYPE_CHECKING:
    import pandas as pd

# Words whose links are at least this strong count nearly as one.
NEARLY_ONE = 0.77
# A list is worth clearly less than its words below this share.
_CLEARLY_LESS = 0.85
# Groups of words that a sentence names.
_MOST_SHOWN = 3
_SHOWN = 0.05  # one decimal shows less
_MEASURED = {True: "distances", False: "unknown"}


def effective_words(table: FrameLike) -> "pd.DataFrame":
    """Return how many independent words each list of a distance table is worth.

    Synonyms and forms of one word are no independent sample of a concept. The default model, trends, covariates and
    axes count a list of n words as n / d, with its design effect d.

    Parameters
    ----------
    table
        A distance table.

    Returns
    -------
    pandas.DataFrame
        A row for each `list`:

        - `role` (``"protected"`` or ``"attribute"``), `words` (their number), `effective_words` (what they are worth);
        - `nearly_one`: words that count nearly as one, in groups separated by semicolons;
        - `topic`: whether the words resemble each other more than those of 99 % of random lists, so that intervals
          speak about this topic alone;
        - `measured`: what d comes from: the number of random words whose vectors were compared; ``"distances"``, which
          show about half of it; or ``"unknown"``: too few distances, so that words count as independent.

    Raises
    ------
    TableError, FitError
        If the table breaks the schema.

    Notes
    -----
    d = 1 + what the words of a list share beyond chance, by the correlations of their distances to random words of the
    vocabulary around the mean of the list (Kish 1965, Survey sampling, for the design effect).

    Examples
    --------
    >>> bb.effective_words(table)[["list", "nearly_one", "words", "effective_words"]].round(1).head(4)
         list        nearly_one  words  effective_words
    0    math     math, algebra      8              6.7
    1    arts                        8              7.1
    2    male      brother, son      8              4.3
    3  female  sister, daughter      8              4.7
    """
    table = as_frame(table)
    import pandas as pd

    data = model_data(table)
    return pd.DataFrame(list_records(data, table_facts(table)))


def list_records(data: ModelData, facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of `effective_words` for rows of a table and its provenance."""
    topics = {(record["role"], record["list"]): record["topic"] for record in facts.get(KEY, {}).get("lists", ())}
    lists = data.attribute_groups
    if lists is None:
        lists = np.asarray(list_kinds(data))[attribute_lists(data)]
    records = []
    for role, words, names in (
        ("protected", data.protected_words, data.protected_groups),
        ("attribute", data.attribute_words, lists),
    ):
        links = links_of(data, role)
        # Links from distances have chance links; no links at all are those of words that nothing is known of.
        measured = facts[KEY]["measured"] if KEY in facts else _MEASURED[bool(links.chance.any())]
        for name in dict.fromkeys(names.tolist()):
            members = np.flatnonzero(names == name)
            joined = clusters(links.keep(members), NEARLY_ONE) if KEY in facts else []
            records.append(
                {
                    "role": role,
                    "list": name,
                    "words": len(members),
                    "effective_words": len(members) / links.design_effect(members),
                    "nearly_one": "; ".join(", ".join(map(str, words[members[places]])) for places in joined),
                    "topic": topics.get((role, name), False),
                    "measured": measured,
                }
            )
    return records


def links_of(data: ModelData, role: str) -> LinkedWords:
    """Return the links between the words of a role, from the table's record or from its distances.

    Distances show none where rows repeat a pair, or an attribute word is in lists of two kinds.
    """
    links = {"protected": data.protected_links, "attribute": data.attribute_links}[role]
    if links is not None:
        return links
    try:
        sample = attribute_sample(data)
    except FitError:
        return LinkedWords.none(len({"protected": data.protected_words, "attribute": data.attribute_words}[role]))
    return {"protected": sample.protected_links, "attribute": sample.attribute_links}[role]


def clusters_of(data: ModelData, role: str) -> list[list[int]]:
    """Return the positions of words that count nearly as one, for a role: ``"protected"`` or ``"attribute"``.

    Distances alone show how much words depend on each other, but not reliably which.
    """
    links = {"protected": data.protected_links, "attribute": data.attribute_links}[role]
    return [] if links is None else clusters(links, NEARLY_ONE)


def worth_text(record: Mapping[str, Any]) -> str:
    """Return what a list is worth, with the words that count nearly as one.

    >>> worth_text({"list": "male", "words": 8, "effective_words": 5.7, "nearly_one": "he, him"})
    'male: 8 words, worth about 5.7 independent ones (these count nearly as one word: he, him)'
    """
    return f"{shown_name(record['list'])}: {counted(record['words'], 'word')}{worth_phrase(record)}"


def worth_phrase(record: Mapping[str, Any]) -> str:
    """Return what a list is worth, for the end of a sentence; empty if it is worth all its words."""
    if not record["words"] - record["effective_words"] >= _SHOWN:  # also without words, which are worth NaN
        return ""
    joined = record["nearly_one"].split("; ") if record["nearly_one"] else []
    more = f" and {len(joined) - _MOST_SHOWN} more groups" if len(joined) > _MOST_SHOWN else ""
    kind = "groups that count nearly as one word" if len(joined) > 1 else "these count nearly as one word"
    named = f" ({kind}: {'; '.join(joined[:_MOST_SHOWN])}{more})" if joined else ""
    return f", worth about {record['effective_words']:.1f} independent ones{named}"


def dependence_statements(
    records: list[dict[str, Any]], measure: Measure = COSINE_DISTANCE, *, multivariate: bool
) -> Iterator[Statement]:
    """Yield what the rows of `effective_words` say about a study's lists: dependent words, and lists of one topic.

    Only multivariate models count words as what they are worth.
    """
    lists = [record for record in records if is_question_list(record)]
    less, measured = [record for record in lists if is_clearly_less(record)], records[0]["measured"]
    if less:
        text = (
            "That each word of a list is separate evidence. Words that resemble each other count for less in all "
            "intervals here"
        )
        if not multivariate:
            text = (
                "That words of a list are independent. This model counts each word in full, so intervals are too "
                "narrow where words resemble each other. The model 'multivariate' counts such words for less"
            )
        yield Statement("dependent words", f"{text}: {'; '.join(map(worth_text, less))}.", {"lists": less})
    builder = worded("bb.distance_table", "`bayesbias table`")
    of_vectors = measure.column == COSINE_DISTANCE.column
    build = f" Build the table from the vectors ({builder})." if of_vectors else ""
    if measured == "distances" and multivariate:
        text = (
            f"How far words of a list depend on each other. The table does not say; the {measure.numbers} show about "
            "half of it, which the intervals take into account. Lists with many synonyms or forms of one word have "
            f"intervals that are too narrow.{build}"
        )
        yield Statement("dependence from distances", text)
    elif measured in _MEASURED.values():
        text = (
            "That words of a list are independent. The table does not say which of them depend on each other, and has "
            "too few numbers to show it. Synonyms and forms of one word count as separate evidence, so lists with "
            f"many of them have intervals that are too narrow.{build}"
        )
        yield Statement("unknown dependence", text)
    if topics := [record["list"] for record in lists if record["topic"]]:
        within = "the list" if len(topics) == 1 else "each of the lists"
        text = (
            f"What holds beyond the topics of these lists. Within {within} {name_some(map(quoted_name, topics), 6)}, "
            "words resemble each other more than within 99% of random lists. The intervals are about words of the same "
            "topic, not about all words that could stand for the concept."
        )
        yield Statement("topic", text, {"lists": topics})


def is_clearly_less(record: Mapping[str, Any]) -> bool:
    """Return whether a list is worth clearly less than its words."""
    return bool(record["effective_words"] < _CLEARLY_LESS * record["words"])


def is_question_list(record: Mapping[str, Any]) -> bool:
    """Return whether a list is one of the question, and no control list."""
    return record["role"] == "protected" or record["list"] not in CONTROLS
