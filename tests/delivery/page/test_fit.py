"""The page: whole, safe, and with the numbers of the reports."""

import ast
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.changes.change_statements import reading_text
from bayesbias.changes.compare import compare_embeddings
from bayesbias.delivery.page import fit as conclusions
from bayesbias.delivery.page import fit as report
from bayesbias.delivery.page.blocks import Bullets, Notice, Paragraph, Table, Verbatim
from bayesbias.delivery.page.fit import data_section, question_section
from bayesbias.delivery.page.fit_sections import PRIOR_SAMPLES
from bayesbias.errors import ArgumentError, FitError, OutputError, ReportError
from bayesbias.models.fits import fit_attribute
from bayesbias.reports.checks.posterior_check import check_posterior
from bayesbias.reports.checks.prior_check import check_prior
from bayesbias.reports.fit_report import FitReport, check_comparison, table_of
from bayesbias.reports.robustness.model_comparison import compare_models
from bayesbias.tables.measures import CHANGE, COSINE_DISTANCE, SURPRISAL, Measure
from bayesbias.tables.schema import table_facts, with_provenance
from tests.delivery.page.pages import HOSTILE, TAG, TITLE, TURNED, Reader, fit_page, small_table


@pytest.fixture(scope="module")
def page(page_file: Path) -> str:
    return page_file.read_text(encoding="utf-8")


IMAGES = ("data:image/svg+xml;base64,", "data:image/png;base64,")


def test_every_word_is_text_and_none_is_markup(page: str) -> None:
    reader = Reader(page)
    shown = " ".join(reader.texts)
    for word in (*HOSTILE, "<s>weather</s>", "vectors <tiny>", "summer <u>", "warm & <i>", "<i>Title</i>"):
        assert word in shown
    assert not {"b", "i", "s", "u", "tiny"} & {tag for tag, _ in reader.elements}
    assert not [name for _, attrs in reader.elements for name in attrs if name.startswith("on")]
    assert len(reader.all("style")) == len(reader.all("script")) == 1
    assert all(str(image["src"]).startswith(IMAGES) for image in reader.all("img"))


def test_what_turns_or_breaks_text_is_an_escape(page: str) -> None:
    assert "\u202e" not in page
    assert r"\u202eturned" in page
    assert r"half\ud83d" in page


def test_nothing_is_loaded_from_outside_and_no_other_script_may_run(page: str) -> None:
    reader = Reader(page)
    loading = [attrs.get(name) for _, attrs in reader.elements for name in ("src", "srcset", "data", "action")]
    assert all(value is None or value.startswith(IMAGES) for value in loading)
    links = [str(attrs["href"]) for tag, attrs in reader.elements if "href" in attrs]
    anchors = {attrs["id"] for _, attrs in reader.elements if "id" in attrs}
    assert links
    assert all(link[0] == "#" and link[1:] in anchors for link in links)
    style = (Path(report.__file__).parent / "report.css").read_text(encoding="utf-8")
    assert "url(" not in style
    assert "@import" not in style
    (policy,) = [meta["content"] for meta in reader.all("meta") if "http-equiv" in meta]
    assert str(policy).startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-")


def test_figures_and_tables_can_be_read_without_seeing_them(page: str, fitted: xr.DataTree) -> None:
    reader = Reader(page)
    images, headers = reader.all("img"), reader.all("th")
    assert len(images) == 11
    for image in images:
        assert sum(character.isdigit() for character in str(image["alt"])) >= 4
        assert int(str(image["width"])) > int(str(image["height"])) / 4 > 0
        assert int(str(image["width"])) <= 520 or image["class"] == "wide"
    for row in bb.summary(fitted, level="overall").query("parameter == 'connection_mean'").to_dict("records"):
        expected_text = f"{row['connection']} {row['mean']:.3f} ({row['hdi_low']:.3f} to {row['hdi_high']:.3f})"
        assert any(expected_text in str(image["alt"]) for image in images)
    assert all(header.get("scope") in ("col", "row") for header in headers)
    assert len(reader.tables) == len(reader.all("table"))
    assert all(caption.strip() for caption in reader.tables)
    assert [tag for tag, _ in reader.elements].count("h1") == 1
    assert reader.all("html")[0]["lang"] == "en"
    assert "width=device-width" in str([meta for meta in reader.all("meta") if meta.get("name") == "viewport"])


def column(rows: list[list[str]], name: str) -> list[str]:
    return [row[rows[0].index(name)] for row in rows[1:]]


def test_numbers_are_those_of_the_reports(page: str, fitted: xr.DataTree) -> None:
    reader = Reader(page)

    def same(caption: str, frame: pd.DataFrame, columns: dict[str, tuple[str, Any]]) -> None:
        rows = reader.table(caption)
        assert len(rows) - 1 == len(frame) > 0
        for header, (name, form) in columns.items():
            ends = [frame[end].map(form.format) for end in name.split(":")]
            expected = ends[0] if len(ends) == 1 else ends[0] + " to " + ends[1]
            assert column(rows, header) == expected.tolist()

    means = {"Mean": ("mean", "{:.3f}"), "SD": ("sd", "{:.3f}"), "Interval": ("hdi_low:hdi_high", "{:.3f}")}
    differences = {"Estimate": ("mean", "{:+.3f}"), "SD": ("sd", "{:.3f}"), "Interval": ("hdi_low:hdi_high", "{:+.3f}")}
    overall = bb.summary(fitted, level="overall")
    word = bb.summary(fitted, level="word").query("parameter == 'word_mean'")
    same(
        "Mean cosine distance of all",
        overall.query("parameter == 'connection_mean'"),
        {**means, "Pairs": ("pairs", "{}")},
    )
    same("Variation", overall.query("parameter != 'connection_mean'"), means)
    same("Mean cosine distance of each", word, {**means, "Word": ("protected_word", "{}")})
    same("Differences of overall means", bb.contrasts(fitted, rope=0.02), differences)
    for level, label in (("protected_group", "group"), ("word", "word")):
        level_contrasts = bb.contrasts(fitted, level=level, rope=0.02)
        same(
            f"Differences for each protected {label}",
            level_contrasts,
            {**differences, "Observed": ("observed", "{:+.3f}")},
        )
    same("Questions of ", bb.planned_contrasts(fitted, rope=0.02), differences)

    check = check_posterior(fitted, random_seed=4)
    same(
        "Shares of pairs inside their",
        check.coverage,
        {"Inside 89%": ("inside_89", "{:.1%}"), "Pairs": ("pairs", "{}")},
    )
    same(
        "Statistics of the distances",
        check.statistics,
        {"Observed": ("observed", "{:.3f}"), "Range": ("low:high", "{:.3f}")},
    )
    table = small_table()
    prior = check_prior(table, "crossed", samples=PRIOR_SAMPLES, random_seed=4).distances
    same("Prior predictive", prior, {"Median": ("median", "{:.3f}"), "Impossible": ("outside", "{:.1%}")})
    models = ["crossed", "hierarchical", "crossed_per_list", "multivariate"]
    compared = compare_models(table, models, draws=500, random_seed=4).models
    same("Expected log", compared, {"Words": ("elpd_words", "{:,.1f}"), "Pairs": ("elpd_pairs", "{:,.1f}")})

    pairs = table.groupby("connection", sort=False)["cosine_distance"]
    rows = reader.table("Cosine distances by connection")
    for name, values in pairs:
        (row,) = [row for row in rows if row[0] == name]
        assert row[1] == str(len(values))
        assert row[4:] == [f"{number:.3f}" for number in (values.mean(), values.std(), values.min(), values.max())]
    turned = TURNED.replace("\u202e", r"\u202e")
    assert reader.table("Lost words")[1:] == [["cold", "attribute", "1", turned, "not there"]]


def test_sections_are_all_there_and_settings_are_those_of_the_fit(page: str) -> None:
    reader = Reader(page)
    sections = [section["id"] for section in reader.all("section")]
    assert sections == ["answer", "questions", "groups", "words", "part-checks", "part-methods"]
    details = [part["id"] for part in reader.all("div") if "id" in part]
    expected = "conclusions predictions sensitivity comparison priors single-numbers words overall question data"
    assert details == [*expected.split(), "model", "reproduce", "cite"]
    settings = dict(row[:2] for row in reader.table("Settings")[1:])
    assert settings["Model"].startswith("crossed (")
    assert (settings["Sampler"].rpartition(", ")[2], settings["Seed of this page"]) == ("seed 4", "4")
    assert settings["Prior of connection_mean"] == "Normal(mu=1, sigma=0.3)"
    versions = dict(row[:2] for row in reader.table("Versions")[1:])
    assert versions["bayesbias"] == bb.__version__
    text = " ".join(reader.texts)
    assert "@software{bayesbias," in text
    assert "bayesbias random-lists VECTORS" in text


def test_sections_that_do_not_apply_say_why(tmp_path: Path) -> None:
    fitted = bb.fit(small_table(("neutral",)), "hierarchical", draws=100, chains=2, random_seed=1)
    text = " ".join(Reader(fit_page(fitted, tmp_path / "p.html").read_text(encoding="utf-8")).texts)
    assert text.count("The only attribute words are neutral ones") >= 3
    for expected_text in (
        "No differences are shown",
        "Not computed",
        "No conclusion about associations",
        "WEAT is not shown",
    ):
        assert expected_text in text
    assert "not compared with MAC" in text


@pytest.mark.usefixtures("quick_page")
def test_beside_another_embedding(fitted: xr.DataTree, page: str, tmp_path: Path) -> None:
    table = small_table()
    after = table.assign(cosine_distance=table["cosine_distance"] * 0.9 + 0.1)
    after.loc[0, "cosine_distance"] += 0.01
    compared = compare_embeddings({"one": table, "<b>other</b>": after}, draws=200, random_seed=2)
    path = fit_page(fitted, tmp_path / "p.html", comparison=compared, rope=0.02, title=TITLE)
    text = path.read_text(encoding="utf-8")
    reader = Reader(text)
    contrasts = compared.changes[compared.changes["protected_word"] == ""]
    for title, frame in (("Changes of mean distances,", compared.distances), ("Changes of contrasts", contrasts)):
        assert column(reader.table(title), "Change") == [f"{value:+.3f}" for value in frame["mean"]]
    assert column(reader.table("Changes of contrasts"), "Reading") == contrasts["reading"].tolist()
    assert not reader.all("b")
    assert any(
        f"from one to <b>other</b>: {reading_text(contrasts['reading'].iloc[0], '<b>other</b>')}" in text
        for text in reader.texts
    )
    assert len(reader.all("img")) == 9
    # All else is of the same fit and seed: the same, byte by byte.
    quick_sections, page_sections = (
        dict(
            re.findall(r'<div id="([\w-]+)"(.*?)</div>\n</details>\n(?=<p|<details class="part|</section)', html, re.S)
        )
        for html in (text, page)
    )
    assert quick_sections.keys() - {"embeddings"} == page_sections.keys() - {"comparison", "sensitivity"}
    shared = quick_sections.keys() & page_sections.keys()
    assert {name for name in shared if quick_sections[name] != page_sections[name]} == {"reproduce"}


def test_the_output_is_checked_before_anything_is_computed(
    fitted: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no(*_: object, **__: object) -> str:
        raise AssertionError("computed")

    monkeypatch.setattr("bayesbias.delivery.page.fit_details", no)
    taken = tmp_path / "taken.html"
    taken.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        fit_page(fitted, taken)
    with pytest.raises(OutputError, match="nowhere"):
        fit_page(fitted, tmp_path / "nowhere" / "p.html")
    with pytest.raises(OutputError, match=r"\.html"):
        fit_page(fitted, tmp_path / "page.pdf")
    with pytest.raises(OutputError, match="proc"):
        fit_page(fitted, "/proc/p.html")
    with pytest.raises(ArgumentError, match="rope"):
        fit_page(fitted, tmp_path / "p.html", rope=-1)
    with pytest.raises(ReportError, match="compare_embeddings"):
        fit_page(fitted, tmp_path / "p.html", comparison="that")  # type: ignore[arg-type]
    with pytest.raises(FitError, match="fit"):
        fit_page(xr.DataTree(), tmp_path / "p.html")
    with pytest.raises(ReportError, match="hash"):
        fit_page(fitted, tmp_path / "p.html", table=small_table(("associated", "different")))
    assert taken.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [taken]


def test_a_comparison_that_begins_with_another_table_is_refused(fitted: xr.DataTree, tmp_path: Path) -> None:
    table = small_table()
    changed = table["cosine_distance"] * 0.9 + 0.1
    other = table.assign(cosine_distance=changed.where(table.index > 0, table["cosine_distance"]))
    first = compare_embeddings({"other": other, "own": table}, draws=200, random_seed=2)
    where = f"{table.loc[1, 'protected_word']!r} with {table.loc[1, 'attribute_word']!r}"
    with pytest.raises(ReportError, match=rf"'other'.* {re.escape(where)}") as caught:
        fit_page(fitted, tmp_path / "p.html", comparison=first)
    assert str(caught.value).startswith("comparison: its first table")
    assert not list(tmp_path.iterdir())
    own = replace(first, facts={**first.facts, "conditions": ["own", "other"]})
    check_comparison(own, table.sample(frac=1, random_state=0))
    with pytest.raises(ReportError, match="'own'"):
        check_comparison(own, table.drop(index=3))


def test_an_old_page_stays_until_the_new_one_is_whole(
    fitted: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tmp_path / "taken.html"
    taken.write_text("mine")

    def fails(*_: object, **__: object) -> str:
        assert taken.read_text() == "mine"
        raise ReportError("half way")

    monkeypatch.setattr("bayesbias.delivery.page.fit_details", fails)
    with pytest.raises(ReportError, match="half way"):
        fit_page(fitted, taken, overwrite=True)
    assert taken.read_text() == "mine"
    monkeypatch.setattr("bayesbias.delivery.page.fit_details", lambda *_, **__: [])
    assert fit_page(fitted, taken, overwrite=True).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [taken]


def test_the_tag_is_in_the_summary_as_text(page: str) -> None:
    assert TAG.replace("<", "&lt;").replace(">", "&gt;") in page


@pytest.mark.slow
def test_a_table_with_one_attribute_word_has_a_page(tmp_path: Path) -> None:
    """Models cannot be compared there, which is said, and is no reason to have no page."""
    table = pd.DataFrame(
        {
            "protected_word": ["he", "she", "his", "her"],
            "attribute_word": "nurse",
            "connection": ["associated", "different"] * 2,
            "cosine_distance": [0.5, 0.6, 0.55, 0.62],
        }
    )
    fit = bb.fit(table, "hierarchical", draws=100, chains=2, random_seed=1)
    page = fit_page(fit, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "one attribute word at a time" in page


def tables(blocks: object) -> dict[str, Table]:
    return {block.caption: block for block in blocks if isinstance(block, Table)}  # type: ignore[attr-defined]


def test_lists_are_shown_with_what_they_are_associated_with(given: FitReport) -> None:
    shown_tables = tables(question_section(given).blocks)
    assert shown_tables["Protected words"].rows == (
        ("summer <u>", "3", "3.0", "warm & <i>", ", ".join(HOSTILE[::2])),
        ("winter", "3", "3.0", "cold", ", ".join(HOSTILE[1::2])),
    )
    assert [row[:2] for row in shown_tables["Attribute words"].rows] == [("warm & <i>", "4"), ("cold", "4")]
    assert shown_tables["Attribute words"].rows[1][3] == "cold0, cold1, cold2, cold3"
    assert [row[:2] for row in shown_tables["Control words"].rows] == [("human", "5"), ("neutral", "5")]


def test_a_bundled_study_says_what_it_is_about(fit: xr.DataTree, given: FitReport) -> None:
    bundled = question_section(FitReport(fit, table_of(fit, None), None, None, 0.89, 1))
    assert sum(isinstance(block, Paragraph) for block in bundled.blocks) > 2
    assert next(block.text for block in question_section(given).blocks if isinstance(block, Paragraph)) == (
        "Study: <s>weather</s>. Embedding: vectors <tiny>."
    )


def test_only_controls_have_no_other_lists(controls_only: FitReport) -> None:
    shown_tables = tables(question_section(controls_only).blocks)
    assert "Attribute words" not in shown_tables
    assert [row[3] for row in shown_tables["Protected words"].rows] == ["none", "none"]


def test_counts_are_those_of_the_table(given: FitReport) -> None:
    shown_tables = tables(data_section(given).blocks)
    (caption,) = [caption for caption in shown_tables if caption.startswith("Cosine distances by connection")]
    rows = shown_tables[caption].rows
    assert [row[:4] for row in rows] == [
        ("associated", "24", "6", "8"),
        ("different", "24", "6", "8"),
        ("human", "30", "6", "5"),
        ("neutral", "30", "6", "5"),
    ]


def test_lost_words_are_named(given: FitReport) -> None:
    blocks = data_section(given).blocks
    (notice,) = [block for block in blocks if isinstance(block, Notice)]
    assert notice.text.startswith("1 word was lost (1 of cold).")
    assert tables(blocks)["Lost words"].rows == (("cold", "attribute", "1", TURNED, "not there"),)


def test_doubts_about_the_data_and_what_was_left_out_are_listed(fitted: xr.DataTree) -> None:
    fit = fitted.copy()
    facts = {"duplicates": {"dropped": 2, "same_vectors": 3}, "left_out_controls": ["dinner"], "edited": True}
    fit.attrs["table"] = json.dumps({**facts, "lost_words": [], "simulated": True})
    table = small_table()
    table.attrs = {}
    given = FitReport(fit, table, None, None, 0.89, 1)
    doubts = [doubt.text for doubt in given.contents.doubts]
    for beginning in ("3 rows compare", "The table was changed"):
        assert any(text.startswith(beginning) for text in doubts), beginning
    blocks = data_section(given).blocks
    (notes,) = [block for block in blocks if isinstance(block, Bullets)]
    beginnings = ["2 repeated rows", "Control words", "The distances were"]
    assert [text[: len(start)] for text, start in zip(notes.entries, beginnings, strict=True)] == beginnings
    assert Paragraph("The embedding has all words of the study.") in blocks


def test_what_is_not_known_is_said(fitted: xr.DataTree) -> None:
    fit = fitted.copy()
    fit.attrs["table"] = "{}"
    given = FitReport(fit, small_table(), None, None, 0.89, 1)
    assert Paragraph("The table does not say whether words of the study were lost.") in data_section(given).blocks
    assert Paragraph("The table (a table without a source) does not name a study.") in question_section(given).blocks


def test_every_statement_is_shown(given: FitReport) -> None:
    conclusion_texts = given.conclusions
    section = conclusions.conclusions_section(given)
    assert section.blocks[0] == Paragraph(conclusion_texts.verdict.text)
    shown, limits = [block.entries for block in section.blocks if isinstance(block, Bullets)]
    assert shown == tuple(statement.text for statement in conclusion_texts.shown)
    assert limits == tuple(statement.text for statement in conclusion_texts.limits)


def test_without_contrasts_nothing_is_concluded(controls_only: FitReport) -> None:
    (notice,) = conclusions.conclusions_section(controls_only).blocks
    assert isinstance(notice, Notice)
    assert controls_only.nothing_to_compare in notice.text


def test_settings_study_and_code_are_those_of_the_fit(given: FitReport, tmp_path: Path) -> None:
    blocks = conclusions.reproduction_section(given).blocks
    settings = dict(next(block for block in blocks if isinstance(block, Table)).rows)
    assert settings["Draws"] == "200 in each of 2 chains"
    assert settings["Region of practical equivalence"] == "-0.020 to +0.020"
    assert settings["Table hash"] == fit_attribute(given.fit, "table_hash")
    study, code = (block.text for block in blocks if isinstance(block, Verbatim))
    calls = {node.func.attr: node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)}  # type: ignore[attr-defined]
    assert list(calls) == ["load_study", "load_embedding", "distance_table", "fit", "report", "write"]
    options = {option.arg: ast.literal_eval(option.value) for option in calls["fit"].keywords}
    assert options["random_seed"] == 4
    assert ast.literal_eval(calls["load_study"].args[0]) == "_s_weather_s_.toml"
    path = tmp_path / "study.toml"
    path.write_text(study, encoding="utf-8")
    read, fitted_study = bb.load_study(path), given.study_of_table
    assert read == fitted_study
    table = given.table
    for kind, lists in (("protected", read.protected), ("attribute", read.attribute_lists)):
        lost = {entry["word"] for entry in given.facts["lost_words"] if entry["role"] == kind}
        assert {word for words in lists.values() for word in words} == set(table[f"{kind}_word"]) | lost


def test_a_table_without_a_study_is_read_from_its_file(controls_only: FitReport) -> None:
    fit = controls_only.fit.copy()
    fit.attrs["table"] = '{"source": "my \\"table\\".csv"}'
    code = conclusions.reproduction_section(replace(controls_only, fit=fit)).blocks[-1].text  # type: ignore[union-attr]
    assert 'table = bb.read_table("my \\"table\\".csv")' in code
    ast.parse(code)


def test_how_to_cite(given: FitReport) -> None:
    texts = " ".join(block.text for block in conclusions.citation_section(given).blocks)  # type: ignore[union-attr]
    assert "@software{bayesbias," in texts
    assert "@article{dobrzeniecka2024," in texts
    assert "The bayesbias developers" in texts


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    "change",
    [
        {"associated": [("math", "female"), ("arts", "male")]},
        {"human": "none"},
        {"questions": {"q": [("math", "male"), ("arts", "male")]}},
    ],
)
def test_a_study_with_the_name_of_a_bundled_one_is_printed_where_it_differs(change: dict[str, Any]) -> None:
    bundled = bb.load_study("weat7")
    given = {"associated": bundled.associated, "human": bundled.human, "neutral": bundled.neutral} | change
    study = bb.Study(name="weat7", protected=bundled.protected, attributes=bundled.attributes, **given)
    rng = np.random.default_rng(1)
    vectors = dict(zip(bundled.words, rng.normal(size=(len(bundled.words), 9)), strict=True))
    for fitted_study, printed in ((bundled, False), (study, True)):
        table = bb.distance_table(vectors, fitted_study)
        fit = bb.fit(table, "hierarchical", draws=50, chains=2, random_seed=1, progress=False)
        page = FitReport(fit=fit, table=table, comparison=None, rope=None, hdi_prob=0.89, random_seed=1)
        texts = [block.text for block in conclusions.reproduction_section(page).blocks if isinstance(block, Verbatim)]
        assert len(texts) == 1 + printed
        shown = " ".join(str(block) for block in question_section(page).blocks)
        assert (bundled.description in shown) is not printed
        if printed:
            assert page.study_of_table == study


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
def test_other_priors_are_repeated(given: FitReport) -> None:
    table = bb.models.fitted_table(given.fit)
    fit = bb.fit(
        table, "hierarchical", priors={"sigma": "HalfNormal(0.2)"}, draws=50, chains=2, random_seed=1, progress=False
    )
    page = FitReport(fit=fit, table=table, comparison=None, rope=None, hdi_prob=0.89, random_seed=1)
    code = conclusions.reproduction_section(page).blocks[-1].text  # type: ignore[union-attr]
    assert 'priors={"sigma": "HalfNormal(sigma=0.2)"}' in code
    assert "priors" not in conclusions.reproduction_section(given).blocks[-1].text  # type: ignore[union-attr]


@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    ("measure", "call"),
    [
        (COSINE_DISTANCE, "bb.distance_table(embedding, study"),
        (CHANGE, "bb.read_table("),
        (SURPRISAL, 'bb.surprisal_table("PATH", study, ["The PROTECTED said that ATTRIBUTE won."]'),
    ],
)
def test_the_code_makes_the_table_of_its_measure(given: FitReport, measure: Measure, call: str) -> None:
    table = bb.models.fitted_table(given.fit)
    facts = {**table_facts(table), "templates": ["The PROTECTED said that ATTRIBUTE won."]}
    facts |= {} if measure == COSINE_DISTANCE else {"measure": measure.record()}
    if measure.column == SURPRISAL.column:
        table = table.rename(columns={"cosine_distance": SURPRISAL.column}).drop(columns="cosine_similarity")
    table = with_provenance(table, facts)
    fit = bb.fit(table, "hierarchical", draws=50, chains=2, random_seed=1, progress=False)
    page = FitReport(fit=fit, table=table, comparison=None, rope=None, hdi_prob=0.89, random_seed=1)
    code = conclusions.reproduction_section(page).blocks[-1].text  # type: ignore[union-attr]
    assert [name for name in ("bb.distance_table(", "bb.read_table(", "bb.surprisal_table(") if name in code] == [
        call[: call.index("(") + 1]
    ]
    assert call in code
