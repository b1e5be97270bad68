"""Audits: every number is that of the function which gives it alone, and what is missing is said."""

import copy
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, LostWordsError, LostWordsWarning, MeasureError, ReportError
from bayesbias.reports.audits.audit import AUDIT_KEY, COLUMNS, audit_record

VECTORS = {f"seed {seed}": bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2)}
SETTINGS = {"draws": 500, "random_seed": 1}


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    return bb.audit(VECTORS, ["weat7"], ["contrast", "weat", "mac", "ect"], model="crossed", **SETTINGS)


def test_numbers_are_those_of_the_functions_alone(found: pd.DataFrame) -> None:
    assert tuple(found.columns) == COLUMNS
    for name, path in VECTORS.items():
        with pytest.warns(LostWordsWarning, match="71 of the 226 of 'neutral'"):  # of the study's own words none
            table = bb.distance_table(path, "weat7")
        fit = bb.fit(table, "crossed", progress=False, **SETTINGS)
        here = found[found["embedding"] == name].set_index(["measure", "protected_group"])
        for level, group in (("overall", ""), ("protected_group", "math"), ("protected_group", "arts")):
            frame = bb.contrasts(fit, level=level)
            row = frame[(frame["contrast"] == "associated - different") & (frame["protected_group"].isin(["", group]))]
            row = row[row["protected_group"] == group].iloc[0]
            ours = here.loc[("contrast", group)]
            assert (ours["observed"], ours["estimate"]) == (row["observed"], row["mean"])
            assert (ours["hdi_low"], ours["hdi_high"]) == (row["hdi_low"], row["hdi_high"])
        weat = bb.metrics.weat(path, "weat7")
        ours = here.loc[("weat", "")]
        assert ours["observed"] == pytest.approx(weat.effect_size, abs=1e-12)
        assert (ours["p_value"], ours["p_value_mcse"]) == (weat.p_value, 0)
        posterior = bb.measure_posterior(fit, "weat", random_seed=1, progress=False).summary.iloc[0]
        assert ours["estimate"] == pytest.approx(posterior["mean"], rel=1e-9)
        assert ours["hdi_low"] == pytest.approx(posterior["hdi_low"], rel=1e-9)
        ect = here.loc[("ect", "")]
        assert ect["estimate"] == ect["observed"] == pytest.approx(bb.metrics.ect(path, "weat7").ect)
        assert np.isnan(ect["hdi_low"])


def test_the_record_survives_what_pandas_does(found: pd.DataFrame) -> None:
    record = audit_record(found[found["measure"] == "weat"])
    assert copy.deepcopy(record) is record
    pd.concat([found, found])
    assert record.draws["seed 1", "weat7", "weat"].shape == (2000,)
    assert record.lost_words == {("seed 1", "weat7"): (), ("seed 2", "weat7"): ()}
    with pytest.raises(ReportError, match="keeps no draws"):
        audit_record(pd.DataFrame(found.to_dict("records")))
    assert found.attrs[AUDIT_KEY].model == "crossed"


def test_without_a_model_there_are_values_only() -> None:
    found = bb.audit(VECTORS["seed 1"], "weat7", ["weat", "rnd"], model=None, random_seed=1)
    assert found["estimate"].equals(found["observed"])
    assert found[["hdi_low", "hdi_high", "ess_bulk"]].isna().all(axis=None)
    with pytest.raises(ReportError, match="'contrast' is the answer of a model"):
        bb.audit(VECTORS, "weat7", model=None)


def test_what_has_no_answer_is_left_out_and_said() -> None:
    with pytest.warns(BayesBiasWarning) as warned:
        found = bb.audit(VECTORS["seed 1"], ["religion", "weat7"], ["weat", "mac"], model=None, max_lost=0.25)
    texts = [str(each.message) for each in warned]
    assert any("weat of religion (The study 'religion' has 3 protected groups" in text for text in texts)
    assert any(issubclass(each.category, LostWordsWarning) for each in warned)
    assert list(zip(found["study"], found["measure"], strict=True)) == [
        ("religion", "mac"),
        ("weat7", "weat"),
        ("weat7", "mac"),
    ]
    assert found["lost_words"].tolist() == [1, 0, 0]
    with pytest.raises(MeasureError, match="No measure has an answer"):
        bb.audit(VECTORS["seed 1"], ["religion"], ["weat"], model=None, max_lost=0.25)


def test_all_lists_that_lost_too_many_words_are_named_at_once() -> None:
    with pytest.raises(LostWordsError) as caught:
        bb.audit(VECTORS, ["weat1", "religion", "weat7"], ["mac"], model=None)
    text = str(caught.value)
    assert "seed 1, weat1" in text
    assert "seed 2, religion: 1 of the 4 of 'muslim_stereotype' (uneducated)" in text
    named = float(text.rsplit("max_lost=", 1)[1].rstrip("."))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostWordsWarning)
        assert len(bb.audit(VECTORS, ["weat1", "religion", "weat7"], ["mac"], model=None, max_lost=named)) == 6


def test_a_file_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import bayesbias.reports.audits.audit as module

    read: list[object] = []

    def counted(source: object, **options: object) -> object:
        read.append(source)
        return bb.load_embedding(source, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "load_embedding", counted)
    bb.audit(VECTORS, ["weat7", "gender"], ["weat", "mac"], model=None)
    assert read == list(VECTORS.values())


def test_an_embedding_keeps_its_own_rule() -> None:
    words = {word.upper(): vector for word, vector in _pets().items()}
    here = bb.load_embedding(words, case="upper", name="loud")
    study = {"cats": ["cat", "tom"], "dogs": ["dog", "pup"], "quiet": ["purr", "nap"], "loud": ["bark", "howl"]}
    found = bb.audit([here], study, ["mac"], model=None)
    assert found["embedding"].tolist() == ["loud"]
    assert found["observed"].tolist() == [bb.metrics.mac(_pets(), study).mac]


def _pets() -> dict[str, list[float]]:
    rng = np.random.default_rng(1)
    return {word: rng.normal(size=5).tolist() for word in ["cat", "tom", "dog", "pup", "purr", "nap", "bark", "howl"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], ["weat7"]), "embeddings: give at least one"),
        ((VECTORS, []), "studies: give at least one"),
        ((VECTORS, ["weat7", "weat7"]), "two are called 'weat7'"),
        (([VECTORS["seed 1"], VECTORS["seed 1"]], ["weat7"]), "two are called"),
        ((VECTORS, ["weat7"], []), "name each measure once"),
        ((VECTORS, ["weat7"], ["mac", "mac"]), "name each measure once"),
        ((VECTORS, ["weat7"], ["waet"]), "did you mean 'weat'"),
        ((VECTORS, 5), "studies=5"),
        ((5, ["weat7"]), "embeddings=5"),
    ],
)
def test_mistakes(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises((ReportError, MeasureError, ValueError), match=message):
        bb.audit(*arguments, progress=False)  # type: ignore[arg-type]


def test_a_plan(tmp_path: Path) -> None:
    from bayesbias.reports.audits.plan import read_audit_plan

    path = tmp_path / "audit.toml"
    path.write_text('studies = ["weat7", "mine.toml"]\nmodel = "none"\nseed = 3\n[embeddings]\nA = "a.txt"\n')
    plan = read_audit_plan(path)
    assert plan.embeddings == {"A": tmp_path / "a.txt"}
    assert plan.studies == ("weat7", str(tmp_path / "mine.toml"))
    assert plan.settings == {"model": None, "random_seed": 3}
    assert "contrast" not in plan.measures
    path.write_text('studies = "weat7"\nmeasure = ["weat"]\nmeasures = []\ncase = 3\n[embeddings]\nA = 5\n')
    with pytest.raises(ReportError) as caught:
        read_audit_plan(path)
    for part in (
        "5 faults",
        "unknown key 'measure' (did you mean 'measures'?)",
        "'A' is not",
        "studies must",
        "case must",
    ):
        assert part in str(caught.value)
    path.write_text("studies = [")
    with pytest.raises(ReportError, match="not valid TOML"):
        read_audit_plan(path)
