"""People and vectors side by side: the report, and the command."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.stats import spearmanr

import bayesbias as bb
from bayesbias.asymmetry.asymmetry_report import COVERAGE
from bayesbias.errors import ArgumentError, MeasureError, QuestionWarning
from tests.asymmetry.made import WORDS, made_norms, made_relations, made_vectors
from tests.cli.running import in_process


@pytest.fixture(scope="module")
def people() -> bb.asymmetry.Evocation:
    return bb.asymmetry.evocation(made_norms(), name="people")


@pytest.fixture(scope="module")
def report(people: bb.asymmetry.Evocation) -> bb.asymmetry.AsymmetryReport:
    vectors = {"one": bb.asymmetry.static(made_vectors(2)), "two": bb.asymmetry.static(made_vectors(3))}
    return bb.asymmetry.report(people, vectors, made_relations(), random_seed=1)


def test_the_report_holds_what_the_functions_give(report: bb.asymmetry.AsymmetryReport) -> None:
    assert report.ratios["source"].unique().tolist() == ["people", "one", "two"]
    by_source = {name: part.drop(columns="source") for name, part in report.ratios.groupby("source")}
    truth = by_source["people"].reset_index(drop=True)
    agreed = bb.asymmetry.cam(truth, by_source["two"].reset_index(drop=True))
    of_two = report.agreement[report.agreement["source"] == "two"].drop(columns="source").reset_index(drop=True)
    pd.testing.assert_frame_equal(of_two, agreed)
    assert set(report.relations["relation"]) == {"IsA", "PartOf"}
    text = str(report)
    assert "AGREEMENT WITH THEM" in text
    assert text.count("CAM") == 3  # of each source, and their difference
    assert "<h4>Agreement with them</h4>" in report._repr_html_()


def test_a_pair_with_two_relations_counts_as_one_pair(people: bb.asymmetry.Evocation) -> None:
    relations = made_relations()
    twice = relations[relations["relation"] == "IsA"].assign(relation="PartOf")
    single = bb.asymmetry.report(people, [bb.asymmetry.static(made_vectors(2))], relations, random_seed=1)
    double = bb.asymmetry.report(
        people, [bb.asymmetry.static(made_vectors(2))], pd.concat([relations, twice]), random_seed=1
    )
    before, after = (result.parts[1].statements[0] for result in (single, double))
    assert after.numbers["pairs"] == before.numbers["pairs"] == before.numbers["rows"]
    assert after.numbers["clear"] == before.numbers["clear"]
    both = int((single.ratios[single.ratios["source"] == "people"]["relation"] == "IsA").sum())
    assert after.numbers["rows"] == before.numbers["pairs"] + both > before.numbers["pairs"]
    assert f"{after.numbers['rows']:,} with a row for each relation" in after.text
    assert "with a row" not in before.text
    settings = double.contents.settings
    assert settings["Pairs"] == f"{after.numbers['pairs']:,}"
    assert settings["Pairs and relations"] == f"{after.numbers['rows']:,}"


@pytest.mark.usefixtures("small_figures")
def test_a_source_that_knows_few_pairs_is_shown_and_not_compared(
    tmp_path: Path, people: bb.asymmetry.Evocation
) -> None:
    all_words = made_vectors(2)
    few = bb.asymmetry.static(bb.Embedding(all_words.words[:4], all_words.vectors[:4], name="few"))
    vectors = bb.asymmetry.static(made_vectors(3))
    with pytest.warns(QuestionWarning, match=r"few with people: \d pairs? .* 10 "):
        written = bb.asymmetry.report(people, {"few": few, "known": vectors}, made_relations(), random_seed=1)
    assert set(written.agreement["source"]) == set(written.accuracy["source"]) == {"known"}
    assert list(written.not_compared) == ["few"]
    text = str(written)
    assert f"few: not available. {written.not_compared['few']}" in " ".join(text.split())
    assert "RELATIONS IN KNOWN (89% HPDI)" in text
    page = bb.write(written, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "at least 10 are needed" in page
    with pytest.warns(QuestionWarning, match=" few with people"):
        alone = bb.asymmetry.report(people, {"few": few}, made_relations(), random_seed=1)
    assert alone.agreement.empty
    assert "few: not available." in bb.write(alone, tmp_path / "alone.html").read_text(encoding="utf-8")
    assert len(bb.asymmetry.plot_asymmetry(alone).axes) == 2
    strange = bb.asymmetry.static({"x": [1.0, 0.0], "y": [0.0, 1.0]})
    with pytest.raises(MeasureError, match="strange"):
        bb.asymmetry.report(people, {"strange": strange})


def test_reports_that_cannot_be(people: bb.asymmetry.Evocation) -> None:
    vectors = bb.asymmetry.static(made_vectors(2))
    for sources in ([], [vectors, vectors], {"people": vectors}):
        with pytest.raises(MeasureError, match=r"name"):
            bb.asymmetry.report(people, sources)  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match="relation='IsA'"):
        bb.asymmetry.report(people, [vectors], relation="IsA")
    with pytest.raises(MeasureError, match="'Is'"):
        bb.asymmetry.report(people, [vectors], made_relations(), relation="Is")
    with pytest.raises(ArgumentError, match="norms="):
        bb.asymmetry.report(vectors, [vectors])  # type: ignore[arg-type]
    few = made_norms().head(3)
    with pytest.raises(MeasureError, match=" 10 "):
        bb.asymmetry.report(bb.asymmetry.evocation(few), [vectors], seen="either")


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made_norms().to_csv("norms.csv", index=False)
    made_relations().to_csv("relations.csv", index=False)
    for seed in (2, 3):
        bb.write_embedding(made_vectors(seed), f"vectors{seed}.npz")
    return tmp_path


@pytest.fixture
def small_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write an empty figure in place of each, where another test draws figures of such a report."""

    def drawn(*_: object) -> Figure:
        return Figure((1, 1))

    monkeypatch.setattr("bayesbias.delivery.writing.drawn", drawn)
    monkeypatch.setattr("bayesbias.delivery.page.sections.drawn", drawn)


def test_one_command_writes_everything(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["norms.csv", "vectors2.npz", "vectors3.npz", "--relations", "relations.csv", "--seed", "1"]
    assert in_process("asymmetry", *arguments, "--output", "evoked", monkeypatch=monkeypatch) == 0
    message = capsys.readouterr().out
    assert "vectors3, " in message
    made = {path.name for path in (workplace / "evoked").iterdir()}
    frames = {"pairs.csv", "relations.csv", "agreement.csv", "accuracy.csv", "differences.csv"}
    assert made == frames | {
        "conclusions.txt",
        "conclusions.json",
        "agreement.png",
        "asymmetry.png",
        "relations.png",
        "lar_distributions.png",
        "report.html",
    }
    assert (workplace / "evoked" / "asymmetry.png").stat().st_size > 20_000
    assert (workplace / "evoked" / "conclusions.txt").read_text().splitlines()[0] in message


@pytest.mark.usefixtures("small_figures")
def test_the_command_takes_a_relation_and_prints_json(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["norms.csv", "vectors2.npz", "vectors3.npz", "--relations", "relations.csv", "--seed", "1"]
    relation = [*arguments, "--relation", "IsA", "--either", "--json", "--output", "one"]
    assert in_process("asymmetry", *relation, monkeypatch=monkeypatch) == 0
    written = json.loads(capsys.readouterr().out)
    assert {row["relation"] for row in written["tables"]["relations"]} == {"IsA"}
    assert "report.html" in {path.name for path in (workplace / "one").iterdir()}


def test_the_command_with_context_vectors_and_a_study(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = (
        '[protected]\nx = ["w00", "w01"]\ny = ["w02", "w03"]\n[attributes]\na = ["w04", "w05"]\nb = ["w06", "w07"]\n'
    )
    head = 'name = "made"\nassociated = [["x", "a"], ["y", "b"]]\n'
    (workplace / "made.toml").write_text(f'{head}{lists}[controls]\nhuman = "none"\nneutral = "none"\n')
    more = ["--context", "vectors3.npz", "--study", "made.toml", "--output", "evoked", "--seed", "1"]
    assert in_process("asymmetry", "norms.csv", "vectors2.npz", *more, monkeypatch=monkeypatch) == 0
    text = capsys.readouterr().out
    written = (workplace / "evoked" / "conclusions.txt").read_text()
    assert "associated - different" in written
    assert written.strip() in text
    rows = pd.read_csv(workplace / "evoked" / "vectors2_contrasts.csv")
    assert "associated - different" in set(rows["contrast"])
    two = ["norms.csv", "vectors2.npz", "vectors3.npz", *more[:2], "--output", "two"]
    assert in_process("asymmetry", *two, monkeypatch=monkeypatch) == 2
    assert "--context" in capsys.readouterr().err
    unknown = ["norms.csv", "vectors2.npz", "--relations", "relations.csv", "--relation", "IsAA", "--output", "three"]
    assert in_process("asymmetry", *unknown, monkeypatch=monkeypatch) == 2
    assert "did you mean 'IsA'" in capsys.readouterr().err
    assert not (workplace / "three").exists()


def some_of(vectors: bb.Embedding, words: slice) -> bb.Embedding:
    return bb.Embedding(vectors.words[words], vectors.vectors[words], name="some")


def test_sources_are_compared_on_the_pairs_that_all_have(people: bb.asymmetry.Evocation) -> None:
    """A source lacks words: its CAM, and that of the other source, are those of the pairs that remain."""
    sources = {
        "all": bb.asymmetry.static(made_vectors(2)),
        "some": bb.asymmetry.static(some_of(made_vectors(3), slice(0, 22))),
    }
    pairs = people.pairs()
    words = set(made_vectors(3).words[:22])
    inside = pairs[[{a, b} <= words for a, b in zip(pairs["a"], pairs["b"], strict=True)]]
    assert 10 < len(inside) < len(pairs)
    of_people, of_all = (bb.asymmetry.lar(source, inside) for source in (people, sources["all"]))
    common = bb.asymmetry.report(people, sources, random_seed=1)
    rows = common.agreement.set_index("source")
    assert rows["pairs"].tolist() == [len(inside)] * 2
    by_hand = spearmanr(of_people["lar"], of_all["lar"]).statistic
    assert rows.loc["all", "cam"] == pytest.approx(by_hand)
    assert common.ratios.groupby("source")["compared"].sum().tolist() == [len(inside)] * 3
    assert f"{len(inside)} of {len(pairs)} pairs" in " ".join(str(common).split())
    difference = common.differences.loc[0]
    assert (difference["first"], difference["second"], difference["pairs"]) == ("all", "some", len(inside))
    assert difference["difference"] == pytest.approx(rows.loc["all", "cam"] - rows.loc["some", "cam"])
    own = bb.asymmetry.report(people, sources, common=False, random_seed=1)
    assert own.agreement["pairs"].tolist() == [len(pairs), len(inside)]
    assert own.differences.loc[0, "difference"] == pytest.approx(difference["difference"])


def test_sources_without_common_pairs_are_refused_with_the_one_to_leave_out(people: bb.asymmetry.Evocation) -> None:
    halves = {
        "left": bb.asymmetry.static(some_of(made_vectors(2), slice(0, 17))),
        "right": bb.asymmetry.static(some_of(made_vectors(2), slice(13, 30))),
    }
    with pytest.raises(MeasureError, match=r" \d pairs of people .*(left|right)"):
        bb.asymmetry.report(people, halves)
    assert len(bb.asymmetry.report(people, halves, common=False, random_seed=1).agreement) == 2


def test_several_thresholds(people: bb.asymmetry.Evocation) -> None:
    vectors = bb.asymmetry.static(made_vectors(2))
    written = bb.asymmetry.report(people, [vectors], gamma=[0, 0.1, 1], random_seed=1)
    assert written.accuracy["gamma"].tolist() == [0, 0.1, 1]
    pairs = people.pairs()
    sides = [bb.asymmetry.lar(source, pairs)["lar"].to_numpy() for source in (people, vectors)]
    for row in written.accuracy.itertuples():
        first, second = (np.where(np.abs(side) > row.gamma, np.sign(side), 0) for side in sides)
        assert row.accuracy == pytest.approx((first == second).mean())


def test_the_command_takes_further_norms(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made_norms(seed=2).to_csv("others.csv", index=False)
    arguments = ["norms.csv", "vectors2.npz", "--norms", "others.csv", "--gamma", "0", "--gamma", "0.1", "--seed", "1"]
    assert in_process("asymmetry", *arguments, "--output", "two", monkeypatch=monkeypatch) == 0
    made = {path.name for path in (workplace / "two").iterdir()}
    assert {"between_norms_agreement.csv", "norms_agreement.csv", "others_agreement.csv", "report.html"} <= made
    assert pd.read_csv(workplace / "two" / "others_accuracy.csv")["gamma"].tolist() == [0, 0.1]
    twice = [*arguments[:2], "--norms", "norms.csv", "--output", "x"]
    assert in_process("asymmetry", *twice, monkeypatch=monkeypatch) == 2
    capsys.readouterr()


@pytest.mark.gensim
@pytest.mark.usefixtures("small_figures")
def test_the_command_takes_both_matrices_of_a_training(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file twice gives its word vectors and context vectors, as in Python."""
    rng = np.random.default_rng(3)
    texts = [list(map(str, rng.choice(WORDS, 8))) for _ in range(300)]
    settings = {"dimensions": 5, "epochs": 2, "min_count": 1, "progress": False, "seeds": [1]}
    trained = bb.embeddings.train_embeddings(texts, workplace / "trained", **settings)
    path = str(trained.paths[1])
    arguments = ["norms.csv", path, "--context", path, "--output", "both", "--seed", "1"]
    assert in_process("asymmetry", *arguments, monkeypatch=monkeypatch) == 0
    people = bb.asymmetry.evocation(bb.asymmetry.read_evocation("norms.csv"))
    source = bb.asymmetry.static(*trained.both_matrices(1), vocabulary=people.vocabulary)
    expected = bb.asymmetry.lar(source, people.pairs())["lar"]
    rows = pd.read_csv(workplace / "both" / "pairs.csv")
    np.testing.assert_allclose(rows.loc[rows["source"] == "skipgram_seed1", "lar"], expected, atol=1e-5)


def test_one_relation_and_pairs_in_one_direction() -> None:
    source = bb.asymmetry.evocation(made_norms(), name="people")
    vectors = [bb.asymmetry.static(made_vectors(2))]
    written = bb.asymmetry.report(source, vectors, made_relations(), relation="IsA", seen="either", random_seed=1)
    assert written.ratios["relation"].unique().tolist() == ["IsA"]
    assert (written.ratios[["forward", "backward"]].min(axis=1) == 0).any()
    rows = written.ratios[written.ratios["source"] == "people"]
    one_way = int((rows[["forward", "backward"]].min(axis=1) == 0).sum())
    low, high = COVERAGE["one"]
    (stated,) = (text for part in written.parts for text in part.statements if text.kind == "coverage")
    assert stated.numbers == {"pairs": one_way, "low": low, "high": high}
    assert f"{one_way} pairs" in stated.text
    assert f"{low:.0%} to {high:.0%}" in stated.text
    assert stated in written.contents.doubts
    plain = bb.asymmetry.report(source, vectors, random_seed=1)
    assert "coverage" not in {text.kind for part in plain.parts for text in part.statements}
    assert plain.agreement["relation"].tolist() == ["all pairs"]
    assert plain.relations.empty
    assert "LAR" in bb.asymmetry.plot_asymmetry(plain).axes[0].get_xlabel()


def test_of_many_sources_the_text_has_the_differences_from_the_best() -> None:
    people = bb.asymmetry.evocation(made_norms(), name="people")
    sources = {f"v{number}": bb.asymmetry.static(made_vectors(number)) for number in range(6)}
    written = bb.asymmetry.report(people, sources, random_seed=1)
    assert len(written.differences) == 15
    texts = [text for part in written.parts for text in part.statements if text.kind == "difference"]
    best = written.agreement.set_index("source")["cam"].idxmax()
    assert len(texts) == 5
    assert all(best in (text.numbers["first"], text.numbers["second"]) for text in texts)
