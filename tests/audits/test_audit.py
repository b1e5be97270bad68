"""Audits: every number is that of the function which gives it alone, and what is missing is said."""

import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits.audit import AuditGrid, audit_frame
from bayesbias.audits.audit_cell import AuditCell, make_cells, reading_with_contexts
from bayesbias.audits.audit_frame import COLUMNS, AuditFrame
from bayesbias.audits.audit_report import AuditReport
from bayesbias.audits.word_contributions import PAIR_COLUMNS, WORD_COLUMNS
from bayesbias.errors import BayesBiasWarning, InputFileError, LostWordsWarning, MeasureError, ReportError
from bayesbias.workers.cells import Answer
from tests.audits import pets

VECTORS = {f"seed {seed}": bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2)}
SETTINGS = {"draws": 500, "random_seed": 1}


@pytest.fixture(scope="module")
def audited() -> AuditFrame:
    return bb.audit(VECTORS, ["weat7"], ["contrast", "weat", "mac", "ect"], model="crossed", **SETTINGS)


def test_numbers_are_those_of_the_functions_alone(audited: AuditFrame) -> None:
    assert tuple(audited.columns) == COLUMNS
    for name, path in VECTORS.items():
        with pytest.warns(LostWordsWarning, match="71 .* 226 .* 'neutral'"):  # of the study's own words none
            table = bb.distance_table(path, "weat7")
        fit = bb.fit(table, "crossed", progress=False, **SETTINGS)
        here = audited[audited["embedding"] == name].set_index(["measure", "protected_group"])
        for level, group in (("overall", ""), ("protected_group", "math"), ("protected_group", "arts")):
            frame = bb.contrasts(fit, level=level)
            row = frame[(frame["contrast"] == "associated - different") & (frame["protected_group"].isin(["", group]))]
            row = row[row["protected_group"] == group].iloc[0]
            ours = here.loc[("contrast", group)]
            assert (ours["observed"], ours["mean"]) == (row["observed"], row["mean"])
            assert (ours["hdi_low"], ours["hdi_high"]) == (row["hdi_low"], row["hdi_high"])
        weat = bb.metrics.weat(path, "weat7")
        ours = here.loc[("weat", "")]
        assert ours["observed"] == pytest.approx(weat.effect_size, abs=1e-12)
        assert (ours["p_value"], ours["p_value_mcse"]) == (weat.p_value, 0)
        posterior = bb.measure_posterior(fit, "weat", random_seed=1, progress=False).summary.iloc[0]
        assert ours["mean"] == pytest.approx(posterior["mean"], rel=1e-9)
        assert ours["hdi_low"] == pytest.approx(posterior["hdi_low"], rel=1e-9)
        ect = here.loc[("ect", "")]
        assert ect["observed"] == pytest.approx(bb.metrics.ect(path, "weat7").ect)
        assert np.isnan(ect[["mean", "hdi_low"]].astype(float)).all()


def test_an_audit_and_a_fit_with_the_same_seed_give_the_same_verdict() -> None:
    vectors = VECTORS["seed 1"]
    study = bb.load_study("weat7").without_controls()
    three = replace(study, name="three", protected={**study.protected, "jobs": ("nurse", "doctor", "teacher")})
    with pytest.warns(BayesBiasWarning, match="contrast of jobs .*no associated list"):
        audited = bb.audit({"E": vectors}, [three], ["contrast"], random_seed=3, progress=False)
    fit = bb.fit(bb.distance_table(vectors, three), random_seed=3, progress=False)
    frames = [bb.contrasts(fit, level=level) for level in ("overall", "protected_group")]
    verdicts = pd.concat(frames)[["protected_group", "mean", "hdi_low", "hdi_high"]]
    assert verdicts.to_numpy().tolist() == audited[list(verdicts)].to_numpy().tolist()  # of the same groups too


def test_draws_of_different_embeddings_are_independent(audited: AuditFrame) -> None:
    for measure in ("contrast", "weat", "mac"):
        draws = [audited.record.draws[name, "weat7", measure] for name in VECTORS]
        assert abs(np.corrcoef(*draws)[0, 1]) < 4 / np.sqrt(2000)


def test_the_record_stays_while_rows_are_chosen(audited: AuditFrame, tmp_path: Path) -> None:
    for chosen in (
        audited[audited["measure"] == "weat"],
        audited.sort_values("mean").reset_index(drop=True),
        audited.copy(),
        audited.query("study == 'weat7'").convert_dtypes(),
        audited.astype({"protected_group": "category"}),
        pickle.loads(pickle.dumps(audited)),
    ):
        assert bb.audits.rank(chosen).ranks["rank"].notna().all()
    audited.to_parquet(tmp_path / "audit.parquet")
    for lost in (pd.DataFrame(audited.to_dict("records")), pd.read_parquet(tmp_path / "audit.parquet")):
        with pytest.raises(ReportError, match="audit: "):
            bb.audits.rank(lost)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.assign(mean=-rows["mean"]),
        lambda rows: rows.replace({"embedding": {"seed 1": "other"}}),
        lambda rows: rows.replace({"embedding": {"seed 1": "seed 2", "seed 2": "seed 1"}}),
        lambda rows: rows.replace({"embedding": {"seed 1": "seed 2"}}),
        lambda rows: rows.assign(measure=rows["measure"].str.upper()),
        lambda rows: rows.assign(mean="x"),
        lambda rows: rows.iloc[:0],
    ],
)
def test_a_frame_that_was_changed_is_refused(audited: AuditFrame, change: Callable[[AuditFrame], AuditFrame]) -> None:
    for use in (bb.audits.rank, bb.plots.plot_audit):
        with pytest.raises(ReportError, match="audit: "):
            use(change(audited))


def test_rows_of_groups_alone_are_no_figure(audited: AuditFrame) -> None:
    with pytest.raises(ReportError, match="protected_group"):
        bb.plots.plot_audit(audited[audited["protected_group"] != ""])


def test_without_a_model_there_are_values_only() -> None:
    frame = bb.audit(VECTORS["seed 1"], "weat7", ["weat", "rnd"], model=None, random_seed=1)
    assert frame["observed"].notna().all()
    assert frame[["mean", "hdi_low", "hdi_high", "ess_bulk"]].isna().all(axis=None)
    with pytest.raises(ReportError, match="measures: 'contrast'"):
        bb.audit(VECTORS, "weat7", model=None)


def test_what_has_no_answer_is_left_out_and_said() -> None:
    with pytest.warns(BayesBiasWarning) as warned:
        frame = bb.audit(VECTORS["seed 1"], ["religion", "weat7"], ["weat", "mac"], model=None, max_lost=0.25)
    texts = [str(warning.message) for warning in warned]
    assert any("weat of religion" in text and "3 protected groups" in text for text in texts)
    assert any(issubclass(warning.category, LostWordsWarning) for warning in warned)
    assert list(zip(frame["study"], frame["measure"], strict=True)) == [
        ("religion", "mac"),
        ("weat7", "weat"),
        ("weat7", "mac"),
    ]
    assert frame["lost_words"].tolist() == [1, 0, 0]
    with pytest.warns(BayesBiasWarning, match=r"1 of 1 question without an answer\. .*, religion: weat: "):
        frame = bb.audit(VECTORS["seed 1"], ["religion"], ["weat"], model=None, max_lost=0.25)
    assert frame.empty
    assert "3 protected groups" in next(iter(frame.record.failed.values())), "no measure has an answer"


def test_all_lists_that_lost_too_many_words_are_named_at_once() -> None:
    with pytest.warns(BayesBiasWarning) as caught:
        frame = bb.audit(VECTORS, ["weat1", "religion", "weat7"], ["mac"], model=None)
    first = str(caught[0].message)
    assert first.startswith(f"{len(frame.record.failed)} of 6 questions cannot be answered")
    assert "seed 1, weat1: " in first
    assert "1 of the 4 of 'muslim stereotype' (uneducated)" in frame.record.failed["seed 2", "religion"]
    assert set(frame["study"]) == {"weat7"}
    named = max(float(text.rsplit("max_lost=", 1)[1].rstrip(".")) for text in frame.record.failed.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostWordsWarning)
        assert len(bb.audit(VECTORS, ["weat1", "religion", "weat7"], ["mac"], model=None, max_lost=named)) == 6


def test_a_file_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import bayesbias.audits.plan as module

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
    frame = bb.audit([here], study, ["mac"], model=None)
    assert frame["embedding"].tolist() == ["loud"]
    assert frame["observed"].tolist() == [bb.metrics.mac(_pets(), study).mac]


def _pets() -> dict[str, list[float]]:
    rng = np.random.default_rng(1)
    return {word: rng.normal(size=5).tolist() for word in ["cat", "tom", "dog", "pup", "purr", "nap", "bark", "howl"]}


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (([], ["weat7"]), "embeddings"),
        (({"": VECTORS["seed 1"]}, ["weat7"]), "embeddings: ''"),
        ((VECTORS, []), "studies"),
        ((VECTORS, ["weat7", "weat7"]), "studies: .*'weat7'"),
        (([VECTORS["seed 1"], VECTORS["seed 1"]], ["weat7"]), "embeddings: .*'wikipedia2018_skipgram_seed1'"),
        ((VECTORS, ["weat7"], []), r"measures=\[\]"),
        ((VECTORS, ["weat7"], ["mac", "mac"]), r"measures=\['mac', 'mac'\]"),
        ((VECTORS, ["weat7"], ["waet"]), "'weat'"),
        ((VECTORS, 5), "studies=5"),
        ((5, ["weat7"]), "embeddings=5"),
    ],
)
def test_mistakes(arguments: tuple[object, ...], fact: str) -> None:
    with pytest.raises((ReportError, MeasureError, ValueError), match=fact):
        bb.audit(*arguments, progress=False)  # type: ignore[arg-type]


def test_what_cannot_be_answered_is_said_before_any_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    import bayesbias.audits.audit as module

    def begin(*_: object, **__: object) -> None:
        raise RuntimeError("a cell began")

    monkeypatch.setattr(module, "run_cells", begin)
    whole = bb.load_embedding(VECTORS["seed 1"])
    study = bb.load_study("weat7")
    bare = bb.load_embedding(whole, words=[*study.protected_words, *study.attribute_words], name="bare")
    with pytest.warns(BayesBiasWarning, match="'human'"), pytest.raises(RuntimeError, match="a cell began"):
        bb.audit([whole, bare], ["weat7"], ["contrast"], model="crossed")


def test_every_p_value_repeats() -> None:
    rng = np.random.default_rng(1)
    words = [f"w{number}" for number in range(32)]
    vectors = dict(zip(words, rng.normal(size=(32, 6)), strict=True))
    study = bb.Study(
        name="own",
        protected={"X": words[:4]},
        attributes={"A": words[4:18], "B": words[18:]},
        associated=[("X", "A")],
        human="none",
        neutral="none",
    )
    p_values = [
        bb.audit([bb.load_embedding(vectors, name="v")], study, ["sc_weat"], model=None, random_seed=1)["p_value"][0]
        for _ in range(2)
    ]
    assert p_values[0] == p_values[1]


def test_studies_that_ask_other_contrasts_have_no_common_mean() -> None:
    study = bb.load_study("weat7")
    alone = bb.Study(
        name="alone",
        protected={"math": study.protected["math"]},
        attributes={"male": study.attributes["male"]},
        associated=[("math", "male")],
        neutral="none",
    )
    settings = {"model": "crossed", "draws": 200, "random_seed": 1}
    frame = bb.audit(VECTORS, ["weat7", alone], ["contrast", "mac"], **settings)
    # Where all pairs are associated, nothing could be unassociated: MAC has a value there, and no posterior.
    mac = frame[frame["measure"] == "mac"].set_index("study")
    assert mac.loc["alone", ["mean", "hdi_low"]].isna().all(axis=None)
    assert mac.loc["weat7", "hdi_low"].notna().all()
    assert mac.loc["alone", "observed"].notna().all()
    frame = frame[frame["measure"] == "contrast"]
    assert set(frame["quantity"]) == {"associated - different", "associated - human"}
    ranks = bb.audits.rank(frame).ranks
    strengths = ranks.pivot_table(index="embedding", columns="study", values="strength")
    assert (strengths[""] == strengths["weat7"]).all()


def test_no_limit_is_advised_that_would_leave_too_few_words() -> None:
    source = bb.load_embedding(VECTORS["seed 1"])
    lost = bb.load_study("weat7").protected["math"][1:]
    words = [word for word in source.words if word not in lost]
    few = bb.load_embedding((words, source.matrix(words)))
    for measure in ("mac", "contrast"):
        with pytest.warns(BayesBiasWarning, match=r"\(max_lost=0\.2\)") as caught:
            bb.audit(few, ["weat7"], [measure], model=None if measure == "mac" else "hierarchical")
        assert "--max-lost" not in str(caught[0].message)
        assert "allow it" not in str(caught[0].message)
    with pytest.warns(LostWordsWarning):
        frame = bb.audit(few, ["weat7"], ["contrast"], model="hierarchical", max_lost=0.88, draws=100, tune=50)
    assert not frame.empty


def test_a_region_of_practical_equivalence_is_that_of_contrasts() -> None:
    frame = bb.audit([pets.embedding(1)], pets.study(), ["contrast", "mac"], rope=0.1, random_seed=1, **pets.SMALL)
    draws = frame.record.draws["E1", "pets", "contrast"]
    overall = frame[frame["protected_group"] == ""].set_index("measure")["probability_in_rope"]
    assert overall["contrast"] == pytest.approx((abs(draws) <= 0.1).mean())
    assert np.isnan(overall["mac"])
    assert frame.record.rope == (-0.1, 0.1)


def test_the_choice_of_templates_is_part_of_a_reading() -> None:
    vectors = bb.load_embedding(VECTORS["seed 1"])
    study = bb.load_study("gender").without_controls()

    def encode(texts: list[str]) -> np.ndarray:
        of_words = np.stack([vectors[text.split()[0]] for text in texts])
        noises = [np.random.default_rng([1, *text.encode()]).standard_normal(vectors.dimensions) for text in texts]
        return of_words + 0.02 * np.stack(noises) * vectors.vectors.std()

    words = [word for word in study.words if word in vectors]
    with warnings.catch_warnings(action="ignore", category=BayesBiasWarning):
        encoded = bb.encode(encode, words, templates=["WORD here", "WORD there"], progress=False)
        frame = bb.audit({"encoder": encoded}, study, ["contrast"], max_lost=0.5, random_seed=1)
    row = frame[frame["protected_group"] == ""].iloc[0]
    contrast = bb.contrasts(bb.fit(bb.distance_table(encoded, study, max_lost=0.5), random_seed=1)).iloc[0]
    for name in ("context_low", "context_high"):
        assert row[name] == pytest.approx(contrast[name], abs=0.01)  # tails of Student's t with 1 degree of freedom
    assert row["context_high"] - row["context_low"] > row["hdi_high"] - row["hdi_low"]
    assert row["reading"] == reading_with_contexts(row) == "nearer"
    assert reading_with_contexts({**row, "context_high": 0.001}) == "not settled"
    assert {"context_low", "context_high"} <= set(AuditReport(frame).contents.tables["contrasts"].columns)


def test_a_question_without_an_answer_does_not_stop_the_others() -> None:
    few = bb.Embedding(words=pets.WORDS[:9], vectors=pets.embedding(1).vectors[:9], name="few")
    settings = {"random_seed": 1, **pets.SMALL}
    with pytest.warns(BayesBiasWarning, match="1 of 2 questions cannot be answered"):
        frame = bb.audit([few, pets.embedding(1)], pets.study(), ["contrast"], **settings)
    assert set(frame["embedding"]) == {"E1"}
    assert "loud" in frame.record.failed["few", "pets"]
    with pytest.warns(BayesBiasWarning):
        assert bb.audit([few], pets.study(), ["contrast"], **settings).empty


SOURCES = {f"E{seed}": pets.embedding(seed) for seed in (1, 2)}
LOST: dict[tuple[str, str], tuple[str, ...]] = {(name, "pets"): () for name in SOURCES}


def cells() -> list[AuditCell]:
    settings = {"measures": ("mac",), "max_lost": 0.2, "hdi_prob": 0.89, "draws": 25, "tune": 50, "chains": 4}
    return make_cells(list(SOURCES.values()), [pets.study()], [None], [1], **settings)  # type: ignore[arg-type]


def answer(observed: float | None) -> Answer:
    """Return an answer with a value of MAC, or one that leaves it out."""
    rows = [] if observed is None else [{"measure": "mac", "observed": observed, "mean": observed}]
    left_out = {"mac": "too few words."} if observed is None else {}
    frames = {"rows": pd.DataFrame(rows), "draws": pd.DataFrame({"mac": [0.5, 0.7]})}
    frames["contributions"] = pd.DataFrame(columns=list(WORD_COLUMNS))
    frames["pair_contributions"] = pd.DataFrame(columns=list(PAIR_COLUMNS))
    return Answer(frames, {"left_out": left_out, "own_errors": {}})


def test_rows_and_draws_are_those_of_the_answers() -> None:
    first, second = cells()
    grid = AuditGrid([first, second], SOURCES, LOST)
    frame = audit_frame(grid, {first.digest: answer(0.25), second.digest: answer(0.75)}, {})
    assert frame[["embedding", "study", "observed"]].to_numpy().tolist() == [["E1", "pets", 0.25], ["E2", "pets", 0.75]]
    assert np.array_equal(frame.record.draws["E2", "pets", "mac"], [0.5, 0.7])
    assert frame.record.failed == {}


def test_a_cell_that_failed_is_recorded_and_its_words_that_were_lost() -> None:
    first, second = cells()
    grid = AuditGrid([first, second], SOURCES, LOST | {("E1", "pets"): ("cat", "dog", "pup")})
    with pytest.warns(BayesBiasWarning) as caught:
        frame = audit_frame(grid, {first.digest: answer(0.25)}, {("E2", second.digest): "no memory."})
    assert frame["lost_words"].tolist() == [3]
    assert frame.record.failed == {("E2", "pets"): "no memory."}
    failure, lost = (str(warning.message) for warning in caught)
    assert "1 of 2 questions" in failure
    assert "E2, pets: no memory." in failure
    assert caught[1].category is LostWordsWarning
    assert "In 1 of 1 answered question " in lost
    assert "E2" not in lost, "it has no answer"


def test_without_any_answer_the_frame_is_empty_and_says_why() -> None:
    first, second = cells()
    grid = AuditGrid([first, second], SOURCES, LOST)
    with pytest.warns(BayesBiasWarning, match=r"2 of 2 questions without an answer\. E1, pets: no memory"):
        frame = audit_frame(grid, {}, {(cell.source, cell.digest): "no memory" for cell in (first, second)})
    assert frame.empty
    with pytest.warns(BayesBiasWarning, match=r"2 of 2 .* E1, pets: mac: too few words"):
        frame = audit_frame(grid, dict.fromkeys((first.digest, second.digest), answer(None)), {})
    assert frame.record.failed["E2", "pets"] == "mac: too few words"


def test_an_embedding_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    embeddings = {"gone": tmp_path / "none.txt", "here": pets.embedding(1)}
    with pytest.warns(BayesBiasWarning, match="1 of 2 questions cannot be answered"):
        frame = bb.audit(embeddings, pets.study(), ["mac"], model=None)
    assert set(frame["embedding"]) == {"here"}
    assert "none.txt" in frame.record.failed["gone", "pets"]
    with pytest.warns(BayesBiasWarning, match="1 of 1 question cannot be answered"):
        frame = bb.audit({"other": {"table": [1.0, 2.0]}}, pets.study(), ["contrast"])
    assert frame.empty
    assert "none of the words" in frame.record.failed["other", "pets"]
    with pytest.raises(InputFileError, match=r"none\.txt"):
        bb.audit({"gone": tmp_path / "none.txt"}, pets.study(), ["mac"], model=None)


def test_an_error_names_its_own_embedding_where_two_have_the_same_vectors() -> None:
    vectors = pets.embedding(1)
    twins = {
        name: bb.Embedding(words=vectors.words[:9], vectors=vectors.vectors[:9], name=name) for name in ("one", "two")
    }
    settings = {"random_seed": 1, "max_lost": 1.0, **pets.SMALL}
    with pytest.warns(BayesBiasWarning):
        frame = bb.audit(twins, pets.study(), ["contrast"], **settings)
    for name in twins:
        assert f"'{name}'" in frame.record.failed[name, "pets"]
