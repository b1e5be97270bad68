"""Contents of results: what becomes a table, a setting or a diagnostic, and names in a group of results."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from bayesbias.base.results import Contents, Result, ResultFigure, ResultGroup, contents_of, forest_figure
from bayesbias.base.statements import Statement, StatementList
from bayesbias.delivery.plots.style import forest


@dataclass(frozen=True, eq=False, repr=False)
class Weights(Result):
    """A result with a part of each kind."""

    mean_weights: pd.DataFrame
    priors: dict[str, object]
    unit: str = "kg"
    draws: int = 400
    names: tuple[str, ...] = ("a", "b")

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        titles = ("", "Doubts", "Means", "Left out")
        return tuple(StatementList(title, (Statement("kind", f"In {title!r}."),)) for title in titles)

    @cached_property
    def contents(self) -> Contents:
        figures = {"weights": ResultFigure("plot_weights", "Weights")}
        return contents_of(self, title=f"Weights in {self.unit}", differences=("mean_weights",), figures=figures)


def weights(unit: str = "kg") -> Weights:
    priors = {"sd": 0.5, "groups": ("x", "y"), "model": object()}
    return Weights(pd.DataFrame({"mean": [60.0, 75.5]}), priors, unit)


def test_contents_of_a_dataclass() -> None:
    contents = weights().contents
    assert list(contents.tables) == ["mean_weights"]
    table = contents.tables["mean_weights"]
    assert (table.section, table.caption, table.differences) == ("Mean weights", "Mean weights", True)
    assert contents.settings == {"Priors: sd": "0.5", "Priors: groups": "x, y", "Unit": "kg", "Draws": "400"}
    places = {name: [str(text) for text in getattr(contents, name)] for name in ("doubts", "answers", "limits")}
    assert places == {"doubts": ["In 'Doubts'."], "answers": [], "limits": ["In 'Left out'."]}
    assert contents.answer == "In ''."
    assert [part.title for part in contents.parts] == ["Means"]
    assert contents.file_names == ["mean_weights.csv", "weights.png"]


def test_a_dictionary_has_unrounded_numbers() -> None:
    written = weights().to_dict()
    assert written["title"] == "Weights in kg"
    assert written["tables"] == {"mean_weights": [{"mean": 60.0}, {"mean": 75.5}]}
    assert [part["title"] for part in written["parts"]] == ["Means"]


def test_a_group_tells_files_of_the_same_name_apart() -> None:
    results = {"metric": weights(), "imperial": weights("lb")}
    contents = ResultGroup("Both", results).contents
    assert contents.file_names == [
        *("metric_mean_weights.csv", "imperial_mean_weights.csv"),
        *("weights.png", "imperial_weights.png"),
    ]
    assert [figure.data for figure in contents.figures.values()] == list(results.values())
    assert contents.settings["imperial: Unit"] == "lb"
    assert [part.title for part in contents.parts] == ["Weights in kg: Means", "Weights in lb: Means"]
    assert len(contents.doubts) == 2
    alone = ResultGroup("One", {"metric": weights()}).contents
    assert alone.file_names == ["mean_weights.csv", "weights.png"]


def test_a_group_says_each_answer_once() -> None:
    short = {"one": "Cats lie nearer.", "two": "Dogs lie farther."}
    long = {name: f"{answer[:-1]} {'and so on ' * 10}here." for name, answer in short.items()}
    for answers, joined in ((short, True), (long, False)):
        results = {name: weights() for name in answers}
        for name, answer in answers.items():
            results[name].__dict__["contents"] = Contents("Q?", answer=answer)
        contents = ResultGroup("Both", results).contents
        texts = [contents.answer, *map(str, contents.answers)]
        assert all(" ".join(texts).count(answer) == 1 for answer in answers.values())
        assert (not contents.answers) == joined


def test_a_forest_says_how_many_of_all_lines_it_shows() -> None:
    rows = pd.DataFrame({"label": [f"line {place}" for place in range(20)], "mean": 0.5, "filled": True})
    rows = rows.assign(hdi_low=0.4, hdi_high=0.6)
    request = forest_figure("Differences.", rows, label="Difference")
    assert request.caption == "Differences. 12 of 20 lines are shown; the tables have all."
    (axes,) = forest(rows, label="Difference").axes
    assert len(axes.get_yticklabels()) == 12
    assert axes.get_xlabel() == "Difference\n(12 of 20 lines)"
    assert forest_figure("Differences.", rows.head(12), label="Difference").caption == "Differences."
    assert "line 11" in request.alt
    assert "line 12" not in request.alt
