"""`bayesbias table` for surprisals and for scores, and the commands that go on with such tables."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.cli.running import in_process

STUDY = """
name = "occupations"
associated = [["men", "male"], ["women", "female"]]
[protected]
men = ["engineer", "carpenter", "mechanic", "pilot"]
women = ["nurse", "librarian", "secretary", "dancer"]
[attributes]
male = ["he", "him"]
female = ["she", "her"]
[controls]
human = "none"
neutral = "none"
"""
MEN = ("engineer", "carpenter", "mechanic", "pilot")
CLIENT = """
asked = []
def score(prompts):
    asked.extend(prompts)
    rows = []
    for prompt in prompts:
        men = any(word in prompt.before for word in ("engineer", "carpenter", "mechanic", "pilot"))
        noise = [0.05 * (sum(map(ord, prompt.before[:20] + word)) * 7 % 20) for word in prompt.words]
        rows.append([-1 - x - 0.6 * ((word in ("he", "him")) != men) for x, word in zip(noise, prompt.words)])
    return rows
"""
SURPRISAL = ("--study", "occupations.toml", "--surprisal", "--templates", "pronouns", "--output", "t.csv")
SCORES = ("--scores", "times.csv", "--study", "occupations.toml", "--output", "t.csv")
OF_SCORES = ("--value", "time", "--unit", "ms", "--lower", "nearer")


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return MODULE:FUNCTION of a model, in a folder with a study and a file of scores."""
    monkeypatch.chdir(tmp_path)
    name = f"client_{tmp_path.name}".replace("-", "_")
    Path(f"{name}.py").write_text(CLIENT)
    Path("occupations.toml").write_text(STUDY)
    study, rng = bb.load_study("occupations.toml"), np.random.default_rng(0)
    pairs = [
        (word, other) for words in study.protected.values() for word in words for other in ("he", "him", "she", "her")
    ]
    rows = [(*pair, 600 + 50 * ((pair[0] in MEN) != (pair[1] in ("he", "him"))) + 20 * rng.normal()) for pair in pairs]
    pd.DataFrame(rows, columns=["protected_word", "attribute_word", "time"]).to_csv("times.csv", index=False)
    monkeypatch.syspath_prepend("")
    return f"{name}:score"


def test_a_model_gives_surprisals_in_the_words_of_the_function(
    client: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process("table", client, *SURPRISAL, "--cache", "c.sqlite", monkeypatch=monkeypatch) == 0
    printed = capsys.readouterr()
    assert "8 protected words, 4 attribute words, 32 pairs: 16 associated, 16 different." in printed.out
    assert "Next: bayesbias fit t.csv --output t/" in printed.out
    module = sys.modules[client.partition(":")[0]]
    built, called = bb.read_table("t.csv"), bb.surprisal_table(module.score, "occupations.toml", "pronouns")
    np.testing.assert_allclose(built["surprisal"], called["surprisal"])
    np.testing.assert_allclose(built["surprisal_sd"], called["surprisal_sd"])
    assert built.attrs["bayesbias"]["embedding"]["name"] == client
    Path("own.txt").write_text("A PROTECTED is ATTRIBUTE.\nThe PROTECTED was ATTRIBUTE.\n")
    own = ("--templates", "own.txt", "--baseline", "person,someone", "--name", "mine", "--overwrite")
    assert in_process("table", client, *SURPRISAL, *own, monkeypatch=monkeypatch) == 0
    facts = bb.read_table("t.csv").attrs["bayesbias"]
    assert facts["templates"] == ["A PROTECTED is ATTRIBUTE.", "The PROTECTED was ATTRIBUTE."]
    assert facts["baseline"] == ["person", "someone"]
    assert facts["embedding"]["name"] == "mine"


def test_a_file_of_numbers_becomes_a_table_in_its_unit(
    client: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del client
    assert in_process("table", *SCORES, *OF_SCORES, monkeypatch=monkeypatch) == 0
    assert "32 pairs" in capsys.readouterr().out
    table, numbers = bb.read_table("t.csv"), pd.read_csv("times.csv")
    np.testing.assert_allclose(table["score"], numbers["time"])
    facts = table.attrs["bayesbias"]
    assert (facts["measure"]["name"], facts["measure"]["unit"]) == ("time", "ms")
    assert facts["embedding"]["name"] == "times"
    numbers.assign(chosen=3, trials=10).drop(columns="time").to_csv("times.csv", index=False)
    counts = ("--value", "chosen", "--trials", "trials", "--lower", "farther", "--name", "choices", "--overwrite")
    assert in_process("table", *SCORES, *counts, monkeypatch=monkeypatch) == 0
    table = bb.read_table("t.csv")
    np.testing.assert_allclose(table["score"], -np.log(3.5 / 7.5))
    np.testing.assert_allclose(table["score_sd"], np.sqrt(1 / 3.5 + 1 / 7.5))


@pytest.mark.slow
@pytest.mark.parametrize(("options", "kept"), [((), False), (("--controls",), True), (("--no-controls",), False)])
def test_surprisals_have_control_words_if_asked_for(
    client: str, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, *, kept: bool
) -> None:
    Path("occupations.toml").write_text(STUDY.partition("[controls]")[0])
    assert in_process("table", client, *SURPRISAL, *options, monkeypatch=monkeypatch) == 0
    assert ("neutral" in set(bb.read_table("t.csv")["connection"])) is kept


@pytest.mark.parametrize("kind", ["surprisal", "score"])
def test_such_a_table_goes_on_to_numbers(
    kind: str, client: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = (client, *SURPRISAL) if kind == "surprisal" else (*SCORES, *OF_SCORES)
    assert in_process("table", *command, monkeypatch=monkeypatch) == 0
    assert in_process("fit", "t.csv", "--seed", "1", "--output", "fit", monkeypatch=monkeypatch) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert ("likelier" in printed) == (kind == "surprisal")
    assert "cosine" not in printed
    assert in_process("summary", "fit/fit.nc", "--level", "overall", monkeypatch=monkeypatch) == 0
    printed = capsys.readouterr().out
    estimate = bb.contrasts(bb.read_fit("fit/fit.nc")).iloc[0]
    assert "associated - different" in printed
    assert f"{abs(estimate['mean']):.{3 if kind == 'surprisal' else 1}f}" in printed
    assert in_process("contrast", "fit/fit.nc", "men", "male", "women", "male", monkeypatch=monkeypatch) == 0
    assert "men" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (("CLIENT", *SURPRISAL, "--scores", "times.csv"), ["--surprisal and --scores"]),
        (("CLIENT", *SURPRISAL[:3], "-o", "t.csv"), ["--surprisal needs --templates", "PROTECTED"]),
        (("CLIENT", *SURPRISAL, "--contexts", "c.contexts"), ["no --contexts"]),
        (("CLIENT", *SURPRISAL, "--templates", "pronoun"), ["--templates pronoun", "pronouns"]),
        (("CLIENT", *SURPRISAL, "--context", "left"), ["--context left is not for this model"]),
        (("CLIENT", *SURPRISAL, "--baseline", "mask"), ["--baseline mask", "--baseline"]),
        (("CLIENT", *SURPRISAL, "--unit", "ms"), ["--unit needs --scores"]),
        (("absent:score", *SURPRISAL), ["VECTORS 'absent:score'", "MODULE:FUNCTION"]),
        (("vectors.npz", *SURPRISAL), ["vectors.npz"]),
        (("CLIENT", *SURPRISAL[:2], "--context", "left", "-o", "t.csv"), ["--context needs --surprisal"]),
        (SURPRISAL, ["Give VECTORS", "--scores"]),
        (SCORES, ["--scores needs --value and --lower", "--lower nearer"]),
        ((*SCORES, "--value", "time"), ["--scores needs --lower"]),
        ((*SCORES, *OF_SCORES, "--templates", "pronouns"), ["leave out VECTORS"]),
        (("CLIENT", *SCORES, *OF_SCORES), ["leave out VECTORS"]),
        ((*SCORES, "--value", "tim", "--lower", "nearer"), ["no column 'tim'", "'time'"]),
        ((*SCORES, *OF_SCORES, "--scores", "occupations.toml"), ["occupations.toml"]),
    ],
)
def test_mistakes_are_told_in_options(
    arguments: tuple[str, ...],
    facts: list[str],
    client: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [client if argument == "CLIENT" else argument for argument in arguments]
    assert in_process("table", *given, monkeypatch=monkeypatch) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert [fact for fact in facts if fact not in shown] == [], shown
    assert not Path("t.csv").exists()


@pytest.mark.extras
@pytest.mark.shared
@pytest.mark.parametrize(("kind", "settings"), [("masked", ("--baseline", "mask")), ("causal", ("--context", "left"))])
def test_a_models_folder_gives_the_table_of_the_function(
    kind: str, settings: tuple[str, ...], client: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del client
    folder = shared / "data" / "language_models" / kind
    assert in_process("table", str(folder), *SURPRISAL, *settings, "--quiet", monkeypatch=monkeypatch) == 0
    built = bb.read_table("t.csv")
    arguments = {settings[0].removeprefix("--"): settings[1]}
    called = bb.surprisal_table(folder, "occupations.toml", "pronouns", progress=False, **arguments)
    np.testing.assert_allclose(built["surprisal"], called["surprisal"], rtol=1e-6)
    of = built.groupby(["protected_group", "attribute_group"], observed=True)["surprisal"].mean()
    assert of["men", "male"] - of["men", "female"] < of["women", "male"] - of["women", "female"]
