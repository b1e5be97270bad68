"""The table of a paper: its rows, marks, caption and label, with the numbers of the contrasts of the fit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base.results import VERDICTS
from bayesbias.delivery.documents import markdown
from bayesbias.delivery.page.sections import table_block
from bayesbias.errors import ArgumentError
from tests import third_group


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    return bb.fit(third_group.table("none"), draws=400, random_seed=1, progress=False)


def rows_of(fit: xr.DataTree, **options: str) -> pd.DataFrame:
    return bb.reports.paper_table(fit, **options).contents.tables["contrasts"].frame


def test_all_words_and_each_group_have_the_numbers_of_the_contrasts(fit: xr.DataTree) -> None:
    rows, every = rows_of(fit), bb.contrasts(fit, level="all")
    every = every[every["protected_word"] == ""]
    assert len(rows) == len(every)
    key = ["contrast", "protected_group"]
    joined = rows.merge(every.replace({"protected_group": {"": "All words"}}), on=key, suffixes=("", "_of_contrasts"))
    for name in ("mean", "hdi_low", "hdi_high", "observed", "net_mean", "net_low", "net_high"):
        np.testing.assert_array_equal(joined[name], joined[f"{name}_of_contrasts"])
    assert rows["contrast"].tolist() == sorted(rows["contrast"], key=list(dict.fromkeys(every["contrast"])).index)
    settled = (rows["hdi_low"] > 0) | (rows["hdi_high"] < 0)
    assert (rows["reading"].isin(["nearer", "farther"]) == (settled & ~rows["borderline"])).all()


def test_a_group_names_its_lists_and_a_word_its_group(fit: xr.DataTree) -> None:
    table = bb.models.fitted_table(fit)
    rows = rows_of(fit, level="word")
    words = rows[rows["protected_word"] != ""]
    groups = table.drop_duplicates("protected_word").set_index("protected_word")["protected_group"].astype(str)
    assert (words["protected_group"] == words["protected_word"].map(groups)).all()
    of_group = table[table["connection"] == "associated"].groupby("protected_group", observed=True)["attribute_group"]
    for group, lists in of_group.unique().items():
        assert set(rows.loc[rows["protected_group"] == group, "own_lists"]) == {", ".join(lists)}
    assert set(rows_of(fit, level="overall")["protected_group"]) == {"All words"}


def test_caption_and_legend_say_what_the_numbers_are(fit: xr.DataTree, tmp_path: Path) -> None:
    paper = bb.reports.paper_table(fit, scope="these_words")
    table = paper.contents.tables["contrasts"]
    for fact in ("89% HPDI", "below 0, associated words are nearer"):
        assert fact in table.caption
    assert len(table.caption.split()) < 30, "it had 120 words"
    assert "Rows over all words are about these words" in table.legend
    assert f"Settled: {VERDICTS['settled']}." in table.legend
    assert ("Borderline" in table.legend) == table.frame["borderline"].any()
    text = bb.write(paper, tmp_path / "weat 7_b.tex").read_text(encoding="utf-8")
    assert r"\label{tab:weat-7-b}" in text
    assert text.index(r"\caption") < text.index(r"\label") < text.index(r"\begin{tabular}")
    assert text.index(r"\end{tabular}") < text.index("Rows over all words")
    block = table_block(table)
    assert block.header[:4] == ("Group", "Answer", "Words used", "Associated lists")
    markdown = bb.write(paper, tmp_path / "weat7.md").read_text(encoding="utf-8")
    for row in block.rows:
        assert f"| {' | '.join(row)} |" in markdown


def test_parameters_are_tables_of_their_own(fit: xr.DataTree) -> None:
    tables = bb.reports.paper_table(fit, parameters="protected_group").contents.tables
    assert list(tables) == ["contrasts", "means"]
    assert set(tables["means"].frame["parameter"]) == {"group_mean"}
    tables = bb.reports.paper_table(fit, parameters="overall").contents.tables
    assert list(tables) == ["contrasts", "means", "parameters"]
    assert "whatever the scope" in tables["means"].caption


def test_a_level_that_no_table_has_is_refused(fit: xr.DataTree) -> None:
    with pytest.raises(ArgumentError, match="level='all': use overall, protected_group, word"):
        bb.reports.paper_table(fit, level="all")


def test_names_of_groups_and_lists_are_read_with_spaces_and_kept_in_columns(table: pd.DataFrame) -> None:
    """Sentences, tables and captions have no underscore of a name; the columns and CSV files have the names."""
    names = {"math": "math_words", "arts": "arts_words", "male": "male_words", "female": "female_words"}
    renamed = table.assign(
        protected_group=table["protected_group"].replace(names), attribute_group=table["attribute_group"].replace(names)
    )
    facts = {name: value for name, value in table.attrs["bayesbias"].items() if name not in ("dependent_words", "hash")}
    questions = {"math_first": [["math_words", "male_words"], ["arts_words", "male_words"]]}
    renamed.attrs["bayesbias"] = facts | {"study": "own_study", "lost_words": [], "questions": questions}
    fit = bb.fit(renamed, draws=100, random_seed=1, progress=False)
    raw = {*names.values(), "own_study", "math_first"}
    paper, asked = bb.reports.paper_table(fit), bb.planned_contrasts(fit)
    assert set(paper.frames["contrasts"]["protected_group"]) == {"All words", "math_words", "arts_words"}
    assert asked["question"].tolist() == ["math_first"]
    questions_table = bb.reports.EstimateTables({"questions": asked})
    texts = [str(bb.conclusions(fit)), str(paper), str(questions_table), bb.methods(fit), str(bb.report(fit))]
    texts += [markdown(result) for result in (paper, questions_table, bb.report(fit))]
    for text in texts:
        assert not [name for name in raw if name in text]
    assert "math words" in " ".join(texts)
    assert "About exactly these protected words" in str(questions_table)
