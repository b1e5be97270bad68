"""The first sections: the question and the data."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from bayesbias.base.number_text import counted, distance_text
from bayesbias.base.results import ResultTable
from bayesbias.delivery.page.blocks import Block, Bullets, Notice, Paragraph, Section, Table, figure
from bayesbias.delivery.page.sections import table_block
from bayesbias.delivery.plots.posterior.distances import plot_distances
from bayesbias.errors import ReportError, name_some
from bayesbias.models.fitted.fit_source import fitted_rows
from bayesbias.reports.fit_report import BASELINE, FitReport
from bayesbias.reports.measures.mac_shares import mac_shares
from bayesbias.reports.posterior.attribute_phrases import attribute_phrases
from bayesbias.reports.posterior.doubts import data_doubts
from bayesbias.reports.posterior.effective_words import list_records
from bayesbias.studies.study import list_studies, load_study
from bayesbias.tables.schema import lost_words

_CONTROLS = ("human", "neutral")


def question_section(page: FitReport) -> Section:
    """Return the section on the question: word lists, and which lists are associated with which groups."""
    table, records = page.table, list_records(fitted_rows(page.fit), page.facts)
    protected = _words_by(table, "protected_group", "protected_word")
    attributes = _words_by(table, "attribute_group", "attribute_word")
    associated = table[table["connection"] == BASELINE].groupby("protected_group")["attribute_group"].unique()
    protected["expected"] = [name_some(associated.get(name, ["none"])) for name in protected["name"]]
    control = attributes["name"].isin(_CONTROLS)
    for frame, role in ((protected, "protected"), (attributes, "attribute")):
        worth = {record["list"]: record["effective_words"] for record in records if record["role"] == role}
        frame["effective_words"] = [worth.get(name, float("nan")) for name in frame["name"]]
    blocks: list[Block] = [
        *_about_the_study(page),
        Paragraph(
            f"Are the protected words nearer to {_attribute_words_text(page)}, to control words about people (human), "
            "and to neutral control words? Nearness is the cosine distance of two word vectors: 0 for the same "
            "direction, 1 for unrelated, 2 for opposite."
        ),
        _words_table(protected, "Protected words", "Group"),
    ]
    if not control.all():
        blocks.append(_words_table(attributes[~control], "Attribute words", "List"))
    if control.any():
        blocks.append(_words_table(attributes[control], "Control words", "List", folded=True))
    return Section("question", "The question", blocks)


def _words_table(frame: pd.DataFrame, caption: str, name: str, *, folded: bool = False) -> Table:
    columns = ("name", "size", "effective_words", "expected", "words")
    headings = {"name": name, "size": "Words", "expected": "Associated lists", "words": "The words"}
    return table_block(ResultTable(frame, "", caption, columns, headings, folded=folded))


def _attribute_words_text(page: FitReport) -> str:
    """Return which attribute words are in question: associated ones and others."""
    phrases = attribute_phrases(len(page.compared_groups))
    return f"{phrases.associated} than to {phrases.different} (different)"


def _words_by(table: pd.DataFrame, by: str, word: str) -> pd.DataFrame:
    """Return the words of each group or list: columns `name`, `size`, `words`."""
    lists = table.drop_duplicates(word).groupby(by, sort=False)[word]
    return lists.agg(size="size", words=", ".join).rename_axis("name").reset_index().astype({"name": str})


def _about_the_study(page: FitReport) -> Iterator[Block]:
    name = page.facts.get("study")
    if name is None:
        yield Paragraph(f"The table ({page.embedding}) does not name a study.")
        return
    yield Paragraph(f"Study: {name}. Embedding: {page.embedding}.")
    if name not in list_studies() or page.own_study is not None:
        return
    study = load_study(name)
    if set(page.table["protected_word"]) <= set(study.protected_words):
        for text in (study.description, study.notes, f"Source of the words: {study.source}" if study.source else ""):
            if text:
                yield Paragraph(text)


def data_section(page: FitReport) -> Section:
    """Return the section on the data: distances, lost words and duplicates."""
    table, facts = page.table, page.facts
    by_connection = table.groupby("connection", observed=True, sort=True)
    distances = by_connection["cosine_distance"]
    pairs = pd.DataFrame(
        {
            "pairs": distances.size(),
            "protected_words": by_connection["protected_word"].nunique(),
            "attribute_words": by_connection["attribute_word"].nunique(),
            "average": distances.mean(),
            "sd": distances.std(),
            "smallest": distances.min(),
            "largest": distances.max(),
        }
    ).reset_index()
    blocks: list[Block] = [
        Paragraph(
            f"{counted(table['protected_word'].nunique(), 'protected word')} and {table['attribute_word'].nunique():,} "
            f"attribute words give {counted(len(table), 'pair')}."
        ),
        table_block(
            ResultTable(
                pairs,
                "",
                "Cosine distances by connection, as they are in the table: each pair counts once. In plain differences "
                "each list, word and group counts the same",
            )
        ),
        *_distributions(page),
        *_lost(page),
    ]
    notes = [doubt.text for doubt in data_doubts(page.fit)]
    if dropped := facts.get("duplicates", {}).get("dropped", 0):
        notes.append(f"{counted(dropped, 'repeated row was', 'repeated rows were')} dropped before the fit.")
    if left_out := facts.get("left_out_controls"):
        notes.append(f"Control words left out because the study uses them: {name_some(left_out, 20)}.")
    if facts.get("simulated"):
        notes.append("The distances were simulated; they come from no embedding.")
    if notes:
        blocks.append(Bullets(tuple(notes)))
    return Section("data", "The data", blocks)


def _distributions(page: FitReport) -> Iterator[Block]:
    try:
        shares = mac_shares(page.table)
    except ReportError as error:
        yield Paragraph(f"The distributions are not compared with MAC. {error}")
        return
    (about,), rows = (part.statements for part in shares.parts)
    yield Paragraph(about.text)
    yield figure(
        plot_distances(page.table),
        f"Similarities (1 minus distance) as they are in the table, by connection, with the band 0 +/- "
        f"{distance_text(shares.band)}.",
        f"Histograms of cosine similarity, one per connection. {'; '.join(row.text.rstrip('.') for row in rows)}.",
    )
    columns = ("connection", "pairs", "mean", "low_89", "high_89", "inside", "above", "below")
    yield table_block(replace(shares.contents.tables["shares"], section="", columns=columns, folded=True))


def _lost(page: FitReport) -> Iterator[Block]:
    if "lost_words" not in page.facts:
        yield Paragraph("The table does not say whether words of the study were lost.")
        return
    lost = lost_words(page.table)
    if lost.empty:
        yield Paragraph("The embedding has all words of the study.")
        return
    by_list = lost.groupby("list", sort=False)["word"].size()
    where = ", ".join(f"{number} of {name}" for name, number in by_list.items())
    yield Notice(
        f"{counted(len(lost), 'word was', 'words were')} lost ({where}). All numbers describe the remaining words."
    )
    rows = lost.groupby(["list", "role", "reason"], sort=False)["word"].agg(size="size", words=", ".join).reset_index()
    columns, headings = ("list", "role", "size", "words", "reason"), {"size": "Words", "words": "The words"}
    yield table_block(ResultTable(rows, "", "Lost words", columns, headings, folded=True))
