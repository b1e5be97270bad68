"""Language models and scores in an audit: each in its unit, standardised side by side, never compared raw."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.audit_cell import AuditCell, list_means, make_cells, pair_sd, word_sd
from bayesbias.audits.audit_frame import AuditFrame, audit_rows, comparable_rows
from bayesbias.audits.audit_report import AuditReport
from bayesbias.audits.table_sources import StudyTables, is_table_source, read_tables
from bayesbias.errors import BayesBiasWarning, LostWordsWarning, ReportError, TableError
from tests.audits import pets
from tests.refusals import refusals

TEMPLATES = ["The PROTECTED likes to ATTRIBUTE.", "A PROTECTED can ATTRIBUTE."]
SETTINGS = {"random_seed": 1, "draws": 500, "progress": False, "workers": 1}


def language_model(prompts: list[Any], shift: float = 0.5) -> list[list[float]]:
    """Cats are likelier with quiet words, dogs with loud ones, by `shift` nats."""
    answers = []
    for prompt in prompts:
        is_cat = any(word in prompt.before.split() for word in pets.WORDS[:3])
        noise = [sum(map(ord, prompt.before + word)) % 17 / 40 for word in prompt.words]
        associated = [(word in pets.WORDS[6:9]) == is_cat for word in prompt.words]
        answers.append([-2 - x - shift * (not near) for x, near in zip(noise, associated, strict=True)])
    return answers


def surprisals(templates: list[str] = TEMPLATES, **options: Any) -> Callable[[bb.Study], pd.DataFrame]:
    function = partial(language_model, **options)
    return partial(bb.surprisal_table, function, templates=templates, name="toy", progress=False)


def times(study: bb.Study | None = None, factor: float = 1.0, unit: str = "ms") -> pd.DataFrame:
    rng = np.random.default_rng(3)
    pairs = [(a, b, factor * rng.normal(600, 20)) for a in pets.WORDS[:6] for b in pets.WORDS[6:]]
    frame = pd.DataFrame(pairs, columns=["protected_word", "attribute_word", "time"])
    return bb.score_table(frame, study or pets.study(), value="time", unit=unit, lower="nearer", source="people")


@pytest.fixture(scope="module")
def mixed() -> AuditFrame:
    sources = {"vectors": pets.embedding(1), "model": surprisals(), "people": times()}
    with pytest.warns(
        BayesBiasWarning, match=r"Left out .*weat, mac of pets \(it is about vectors.*'model'.*surprisals"
    ):
        return bb.audit(sources, pets.study(), ["contrast", "weat", "mac"], **SETTINGS)


def test_each_contrast_is_that_of_its_table_alone_and_in_its_unit(mixed: AuditFrame) -> None:
    tables = {
        "vectors": bb.distance_table(pets.embedding(1), pets.study()),
        "model": surprisals()(pets.study()),
        "people": times(),
    }
    rows = mixed[(mixed["measure"] == "contrast") & (mixed["protected_group"] == "")].set_index("embedding")
    assert rows["contrast_unit"].to_dict() == {"vectors": "cosine distance", "model": "nats", "people": "ms"}
    for name, table in tables.items():
        fitted = bb.fit(table, draws=500, random_seed=1, progress=False)
        contrast = bb.contrasts(fitted).iloc[0]
        for column in ("observed", "mean", "hdi_low", "hdi_high"):
            assert rows.loc[name, column] == contrast[column]
        assert rows.loc[name, "pair_sd"] == pair_sd(table)
        standardised = rows.loc[name, ["standardised", "standardised_low", "standardised_high"]].astype(float)
        np.testing.assert_allclose(
            standardised, contrast[["mean", "hdi_low", "hdi_high"]].astype(float) / pair_sd(table)
        )
    assert set(mixed.loc[mixed["embedding"] != "vectors", "measure"]) == {"contrast"}
    assert (mixed.loc[mixed["measure"] != "contrast", "contrast_unit"] == "").all()


def test_the_deviation_of_pairs_is_that_without_words_and_lists() -> None:
    """Of 100 x 100 pairs in each of four blocks, the deviation is known to 0.5 %; associations do not enter it."""
    rng = np.random.default_rng(1)
    words, blocks = 100, []
    for group in "ab":
        for attributes in "xy":
            near = (group == "a") == (attributes == "x")
            numbers = (
                5 * near + rng.normal(size=(words, 1)) + rng.normal(size=words) + 0.1 * rng.normal(size=(words, words))
            )
            places = [(p, a) for p in range(words) for a in range(words)]
            blocks.append(
                pd.DataFrame(
                    {
                        "protected_word": [f"{group}{p}" for p, _ in places],
                        "protected_group": group,
                        "attribute_word": [f"{attributes}{a}" for _, a in places],
                        "attribute_group": attributes,
                        "connection": "associated" if near else "different",
                        "cosine_distance": numbers.ravel(),
                    }
                )
            )
    assert pair_sd(pd.concat(blocks)) == pytest.approx(0.1, rel=0.02)
    assert np.isnan(pair_sd(blocks[0][blocks[0]["protected_word"] == "a0"]))
    table = pd.concat(blocks)
    pairs = [
        block.pivot(index="protected_word", columns="attribute_word", values="cosine_distance") for block in blocks
    ]
    variances = [pair.mean(axis=axis).var() for pair in pairs for axis in (0, 1)]
    assert word_sd(table) == pytest.approx(np.sqrt(np.mean(variances)))
    means = table.groupby(["protected_group", "attribute_group"])["cosine_distance"].mean().unstack()
    leans = means.sub(means.mean(axis=0), axis=1).sub(means.mean(axis=1), axis=0) + means.to_numpy().mean()
    for group, name, mean in list_means(table):
        assert mean == pytest.approx(leans.loc[group, name])
    assert len(list_means(table)) == means.size
    assert list_means(pd.concat(blocks[1:])) == [], "a group has no numbers beside one of the lists"


def test_another_unit_of_the_same_numbers_changes_no_standardised_contrast() -> None:
    sources = {"ms": times(), "s": times(factor=0.001, unit="s")}
    frame = bb.audit(sources, pets.study(), ["contrast"], **SETTINGS)
    first, second = (frame[frame["embedding"] == name].reset_index(drop=True) for name in sources)
    names = ["standardised", "standardised_low", "standardised_high", "probability_of_direction"]
    np.testing.assert_allclose(first[names].astype(float), second[names].astype(float), rtol=1e-6)
    np.testing.assert_allclose(first["mean"], 1000 * second["mean"], rtol=1e-6)
    ranks = bb.audits.rank(frame).ranks
    assert ranks["strength"].round(9).nunique() == 1, "not the raw values, of which one is 1,000 times the other"


def test_what_is_shown_names_each_unit_and_compares_standardised_contrasts(mixed: AuditFrame) -> None:
    report = AuditReport(mixed)
    contents, text = report.contents, str(report)
    assert "1 embedding, 1 language model and 1 table" in contents.about
    flat = " ".join(text.split())
    assert "in model: Associated words are likelier, and this is settled. The difference is -0." in flat
    assert " nats (observed " in flat
    assert "in 1 of 3 sources" in contents.answer
    assert "in model, -" in contents.estimate
    assert "standardised -" in contents.estimate
    assert "associated words are likelier" in contents.estimate
    table = contents.tables["contrasts"]
    assert "each in its unit" in table.caption
    assert {"contrast_unit", "mean", "standardised"} <= set(table.columns)
    marks = [table.mark(row) for row in table.frame.to_dict("records")]
    assert "● ← likelier" in marks
    assert contents.figures["answers"].options["label"] == "Standardised difference"
    rows, record = audit_rows(mixed)
    comparable = comparable_rows(rows[(rows["measure"] == "contrast") & (rows["protected_group"] == "")], record)
    np.testing.assert_allclose(comparable["mean"], comparable["standardised"])
    for axes in (bb.plots.plot_audit(mixed).axes[0], bb.plots.plot_heatmap(mixed).axes[1]):
        assert "standardised; below 0: nearer or likelier" in axes.get_title(loc="left") + axes.get_ylabel()
    ranks = bb.audits.rank(mixed)
    assert "Strengths of contrasts are standardised" in " ".join(str(ranks).split())
    strength = ranks.ranks.query("study == 'pets' and measure == 'contrast'").set_index("embedding")["strength"]
    np.testing.assert_allclose(strength, comparable.set_index("embedding")["observed"].abs().loc[strength.index])


def test_of_one_unit_nothing_speaks_of_distances(mixed: AuditFrame) -> None:
    alone = mixed[mixed["embedding"] == "model"]
    report = AuditReport(alone)
    shown = "\n".join([str(report), *(table.caption for table in report.contents.tables.values() if len(table.frame))])
    shown += report.contents.estimate + "".join(figure.caption for figure in report.contents.figures.values())
    assert "distance" not in shown
    assert "nearer" not in shown
    assert report.contents.figures["answers"].options["label"] == "Difference of mean surprisals (nats)"
    assert "Surprisal of associated words minus that of others" in report.contents.figures["answers"].caption
    assert "nats; below 0: likelier" in bb.plots.plot_audit(alone).axes[0].get_title(loc="left")
    assert not bb.audits.rank(mixed).ranks.empty


def cell(source: Any, study: bb.Study | None = None, **changes: Any) -> AuditCell:
    study = study or pets.study()
    tables, errors = read_tables("source", source, [study])
    assert not errors
    settings = {"measures": ("contrast",), "max_lost": 0.2, "hdi_prob": 0.89, "draws": 25, "tune": 50, "chains": 4}
    (made,) = make_cells([tables], [study], [bb.load_model("multivariate")], [1], **settings | changes)
    return made


def test_the_hash_of_a_cell_is_that_of_model_templates_measure_and_numbers() -> None:
    table = surprisals()(pets.study())
    facts = table.attrs["bayesbias"]

    def saying(**changes: Any) -> pd.DataFrame:
        other = table.copy()
        other.attrs = {"bayesbias": {**facts, **changes}}
        return other

    sources = [
        surprisals(),
        surprisals(shift=0.4),
        surprisals(TEMPLATES[:1] * 2 + ["One PROTECTED will ATTRIBUTE."]),
        saying(embedding={**facts["embedding"], "hash": "other files"}),
        saying(templates=["The PROTECTED wants to ATTRIBUTE.", TEMPLATES[1]]),
        saying(measure={**facts["measure"], "unit": "bits"}),
        saying(context_errors=[]),
        times(),
        times(factor=2),
    ]
    digests = [cell(source).digest for source in sources]
    assert len(set(digests)) == len(digests)
    assert cell(table).digest == cell([table]).digest == digests[0], "a table and the function that returns it"


def test_kept_answers_of_a_language_model_are_not_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, counted = AuditCell.answer, []
    monkeypatch.setattr(AuditCell, "answer", lambda cell, source: counted.append(cell.digest) or answer(cell, source))

    def audit(**options: Any) -> AuditFrame:
        settings = SETTINGS | {"cells": tmp_path / "cells"}
        return bb.audit({"model": surprisals(**options)}, pets.study(), ["contrast"], **settings)

    first = audit()
    assert audit().to_csv() == first.to_csv()
    assert len(counted) == 1
    audit(shift=0.1)
    assert len(counted) == 2


def test_words_of_a_table_that_are_missing_are_lost_words() -> None:
    frame = times()[["protected_word", "attribute_word", "score"]]
    with pytest.warns(LostWordsWarning, match="nap"):
        fewer = bb.score_table(
            frame[frame["attribute_word"] != "nap"], pets.study(), value="score", lower="nearer", max_lost=1.0
        )
    with pytest.warns(LostWordsWarning, match="people, pets: nap"):
        audited = bb.audit({"people": fewer}, pets.study(), ["contrast"], **SETTINGS, max_lost=0.5)
    assert set(audited["lost_words"]) == {1}
    assert audited.record.lost_words["people", "pets"] == ("nap",)
    with pytest.warns(BayesBiasWarning, match=r"lost more than 20% .*nap.*Leave the study or the table out"):
        assert bb.audit({"people": fewer}, pets.study(), ["contrast"], **SETTINGS).empty


def test_one_source_that_cannot_answer_does_not_stop_the_others() -> None:
    sources = {"people": times(), "model": partial(bb.surprisal_table, "no folder", templates=TEMPLATES)}
    with pytest.warns(BayesBiasWarning, match="1 of 2 questions cannot be answered"):
        frame = bb.audit(sources, pets.study(), ["contrast"], **SETTINGS)
    assert set(frame["embedding"]) == {"people"}
    assert "no folder" in frame.record.failed["model", "pets"]
    others = [pets.study(), pets.study("others")]
    with pytest.warns(BayesBiasWarning, match="no table of the study 'others', only of 'pets'"):
        assert set(bb.audit({"people": times()}, others, ["contrast"], **SETTINGS)["study"]) == {"pets"}


def test_control_words_that_a_study_does_not_have_are_left_out() -> None:
    study = replace(pets.study(), human=["person", "child"], neutral=["table", "lamp"])
    vectors = bb.load_embedding(
        dict(zip([*study.words], np.random.default_rng(1).normal(size=(len(study.words), 5)), strict=True))
    )
    whole = bb.distance_table(vectors, study)
    tables, _ = read_tables("source", whole, [study.without_controls()])
    assert set(tables.tables["pets"]["connection"]) == {"associated", "different"}
    assert "edited" not in tables.facts(study)
    assert len(whole) > len(tables.tables["pets"])


def test_tables_and_functions_of_a_study_are_told_from_vectors() -> None:
    assert is_table_source(times())
    assert is_table_source((times(), times()))
    assert is_table_source(surprisals())
    frame = pd.DataFrame([[1.0, 0.0]], index=["cat"])
    for vectors in (pets.embedding(1), {"cat": [1.0]}, "vectors.txt", (["cat"], [[1.0]]), frame, Path(), []):
        assert not is_table_source(vectors)
    assert isinstance(read_tables(None, times(), [pets.study()])[0], StudyTables)


def nameless() -> pd.DataFrame:
    table = times()
    table.attrs = {"bayesbias": {key: value for key, value in table.attrs["bayesbias"].items() if key != "study"}}
    return table


def asked(sources: Any, study: bb.Study | None = None, **settings: Any) -> AuditFrame:
    return bb.audit(sources, study or pets.study(), ["contrast"], **SETTINGS, **settings)


test_refusals = refusals(
    (lambda: asked([surprisals()]), ReportError, "a function has no name"),
    (lambda: asked({"f": lambda study: [1.0]}), ReportError, "'f' returned a list .*bb.encode"),
    (lambda: asked({"two": [times(), times()]}), ReportError, "'two' has two tables of the study 'pets'"),
    (lambda: asked({"none": nameless()}), ReportError, "does not say of which study"),
    (lambda: asked({"f": lambda study: times(pets.study("others"))}), ReportError, "gave a table of 'others'"),
    (
        lambda: asked({"people": times(replace(pets.study(), associated=[("cats", "loud"), ("dogs", "quiet")]))}),
        TableError,
        "not of the word lists of the study 'pets': 'quiet' is different for 'cats'",
    ),
    (
        lambda: asked({"people": times()}, pets.study(protected={"cats": pets.WORDS[3:6], "dogs": pets.WORDS[:3]})),
        TableError,
        "'cat' is not in its list 'cats'",
    ),
    (lambda: asked({"model": surprisals()}, rope=0.02), ReportError, "no region for model, .* in nats"),
    (
        lambda: asked({"vectors": pets.embedding(1)}, rope={"nats": 0.2}),
        ReportError,
        "in nats is no region for vectors",
    ),
    (
        lambda: asked({"vectors": pets.embedding(1), "model": surprisals()}, rope=0.02),
        ReportError,
        r"cosine distance is no region for model.*rope=\{'nats': 0\.1\}.*\{'standardised': 0\.3\}",
    ),
)


def test_a_region_is_in_the_unit_of_the_table_or_standardised() -> None:
    raw = asked({"model": surprisals()}, rope={"nats": 0.51})
    width = 0.51 / raw["pair_sd"].iloc[0]
    standardised = asked({"model": surprisals()}, rope={"standardised": width})
    inside = raw["probability_in_rope"]
    assert 0 < inside.iloc[0] < 1
    np.testing.assert_allclose(inside, standardised["probability_in_rope"])
