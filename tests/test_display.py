"""What a terminal and a notebook show of what public functions return."""

import importlib.util
import inspect
import os
import pty
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias import metrics
from bayesbias.metrics.look_up import find_lists
from tests.audits import debiased_pets as pets
from tests.debias.made import WORDS, made_embedding

ROOT = Path(__file__).resolve().parents[1]
ROOMS = [value for name in bb.__all__ if isinstance(value := getattr(bb, name), ModuleType)]
CLASSES = {
    value
    for room in (bb, *ROOMS)
    for name in room.__all__
    if inspect.isclass(value := getattr(room, name)) and not issubclass(value, Exception)
}
# Settings and results of a few numbers, which their line shows whole, and a recipe that only registries hold.
FEW_NUMBERS = {
    bb.cosine_regressions.LinearPrior,
    bb.debias.Chain,
    *bb.debias.METHODS.values(),
    metrics.PermutationTest,
    metrics.TTest,
}
FEW_NUMBERS |= {metrics.SimilarityMeasure, metrics.Quantity, bb.asymmetry.PowerLawPrior}
FEW_NUMBERS |= {bb.asymmetry.ConditionalSource}  # what others make
results = bb.results
FEW_NUMBERS |= {results.Contents, results.ContentsSection, results.LinkedPage}  # parts of a result
FEW_NUMBERS |= {results.ResultFigure, results.ResultTable}
LONGEST = 600
TAGS = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "h4", "ul", "li", "div", "style"}
# Words that a page must not take for tags.
NASTY = {"<b>he</b>": [1.0, 0.1], "him": [1.1, 0.3], "she": [-1.0, 0.2], "her": [-1.0, 0.4]}
NASTY |= {"<i>nurse": [0.3, 1.0], "a&b": [0.5, 0.5], "cook": [0.2, 1.1], "clerk": [-0.2, 0.9]}


class Tags(HTMLParser):
    """The tags of a text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.add(tag)


def test_every_public_class_shows_itself_in_a_notebook() -> None:
    assert {each.__name__ for each in CLASSES - FEW_NUMBERS if not hasattr(each, "_repr_html_")} == set()


@pytest.fixture(scope="module")
def shown(short_table: pd.DataFrame, short_fit: xr.DataTree, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """One object of each class that is made in little time."""
    nasty = bb.load_embedding(NASTY)
    study = bb.load_study(
        {"<b>X": ["<b>he</b>", "him"], "Y": ["she", "her"], "A": ["<i>nurse", "a&b"], "B": ["cook", "clerk"]}
    )
    names = [["<b>he</b>", "him"], ["she", "her"]]
    sets = bb.debias.DebiasWords("<u>gender", [["<b>he</b>", "she"]], specific=["<i>nurse"], names=names)
    hard, soft, linear = (bb.debias.METHODS[name]().fit(nasty, sets) for name in ("hard", "soft", "linear"))
    chain, gn_glove = (method.fit(nasty, sets) for method in (bb.debias.Chain(bb.debias.MHD(1)), bb.debias.GNGloVe()))
    methods = [bb.debias.RAN(), bb.debias.OSCaR(), bb.debias.DoubleHardDebias(), bb.debias.GenderPreserving(epochs=1)]
    moved = [method.fit(made_embedding(), WORDS) for method in methods]
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    other = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed2.npz")
    audit = bb.audit([vectors, other], ["weat7"], ["weat"], model=None, random_seed=1)
    male = bb.load_study("weat7").attributes["male"][:4]
    quiet: dict[str, Any] = {"random_seed": 1, "progress": False}
    conclusions = bb.conclusions(short_fit)
    asked = [(a, b, 2 + at, 100) for a in NASTY for at, b in enumerate(NASTY) if a != b]
    norms = bb.asymmetry.evocation(pd.DataFrame(asked, columns=["cue", "response", "count", "participants"]))
    static = bb.asymmetry.static(nasty)
    return [
        *(nasty, study, sets, hard, soft, linear, chain, gn_glove, *moved, hard.subspace, nasty.lookup(["she", "<s>"])),
        bb.debias.INLP().fit(vectors, [["he", "she"]]),
        bb.metrics.direction_posterior(nasty, [("<b>he</b>", "she"), ("him", "her")], random_seed=1),
        metrics.gender_direction(nasty, [("<b>he</b>", "she")]),
        find_lists(nasty, {"<b>X": ["<b>he</b>", "she"]}),
        metrics.lattice(vectors, male, **quiet),
        metrics.randomisation_nulls(vectors, {"male": male, "arts": ["art", "dance"]}, samples=100, **quiet),
        metrics.MEASURES["weat"],
        metrics.MEASURES["gipe"],
        bb.reports.mac_shares(short_table),
        bb.reports.simulate_null(samples=20, **quiet),
        bb.reports.false_positive_rates(samples=10, methods=["weat"], **quiet),
        metrics.vocabulary_direct_bias(nasty, ["<i>nurse", "a&b", "<s>"], pair=("<b>he</b>", "she"), random_seed=1),
        metrics.measure("mac", nasty, study),
        metrics.Similarities(np.array([[0.1]]), {"<b>X": ["<b>he</b>"]}, {"A": ["cook"]}),
        bb.load_model("multivariate"),
        bb.audits.freeze_plan(study),
        *(audit.record, bb.audits.rank(audit), audit),
        pets.report(1),
        *(conclusions, conclusions.shown[0], conclusions.parts[0]),
        bb.check_posterior(short_fit, **quiet),
        bb.check_prior(short_table, "crossed", **quiet),
        bb.sensitivity(short_table, "hierarchical", leave_out="list", draws=100, **quiet),
        bb.compare_models(short_table, ["hierarchical", "crossed"], draws=100, **quiet),
        bb.measure_posterior(short_fit, **quiet),
        bb.cosine_regressions.cosine_regression(vectors, "weat7", draws=200, random_seed=1),
        bb.embeddings.index_contexts(["<b>he</b> and she"], tmp_path_factory.mktemp("shown") / "<i>.contexts"),
        bb.embeddings.ContextualEmbedding(
            words=("<b>he</b>", "she"),
            vectors=np.eye(2),
            deviations=np.ones((2, 3, 2), dtype=np.float32),
            contexts=np.array([4, 5]),
            pieces=np.array([1, 1]),
            paired=False,
            left_out=(("<i>it", "no context"),),
        ),
        *(norms, static, bb.asymmetry.study_asymmetry(static, study)),
        bb.asymmetry.report(norms, [static], seen="either", random_seed=1),
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_what_is_returned_is_one_short_line_and_a_table_of_escaped_words(shown: list[Any]) -> None:
    for each in shown:
        line, html = repr(each), each._repr_html_()
        name = type(each).__name__
        if not isinstance(each, pd.DataFrame):
            assert name in line
            assert "\n" not in line, name
            assert len(line) <= LONGEST, name
            assert "array(" not in line
        assert Tags(html).found <= {
            "table",
            "caption",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "p",
            "h4",
            "ul",
            "li",
            "div",
            "style",
        }, name
        assert "object at 0x" not in line + html
    covered = {type(each) for each in shown}
    elsewhere = {  # tested in their rooms
        *("Changes", "RandomListCheck", "StudySizes", "GateResult", "WordCheck"),
        *("NormsComparison", "ReliabilityReport"),
        *("TrainingComparison", "ReliabilityRegression", "TrainedEmbeddings", "InferencePosterior", "GroupDistance"),
        *("InferenceComparison", "InferenceCheck"),
        *("Accuracy", "AttentionModel", "SequenceClassifier", "FolderEncoder"),
        "MaskedModel",
        *("Result", "ResultGroup", "FitReport", "AuditReport"),
        *("CovariateEffect", "FactorEffects", "Projection", "VectorMap", "VectorVariance"),
        *("EstimateTables", "KindelComparison", "SubsetConsistency", "WordsLeftOut"),
    }
    assert {each.__name__ for each in CLASSES - FEW_NUMBERS - covered} <= elsewhere


@pytest.mark.slow
def test_a_notebook_shows_a_figure_once_and_a_study_as_a_table_and_a_bar_while_it_works() -> None:
    spec = importlib.util.spec_from_file_location("run_notebooks", ROOT / "notebooks" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    bar = (
        "import time\nfrom bayesbias.base import progress\nprogress._PATIENCE = 0\n"
        "for _ in progress.with_progress([1, 2, 3], 'Work <ing>', progress=True): time.sleep(0.01); seen.append(1)"
    )
    cells = [
        "import bayesbias as bb\nseen = []\n"
        "table = bb.read_table(bb.bundled('data', 'tables', 'weat7_google_news.csv.gz'))",
        "bb.plots.plot_distances(table)",
        "figure = bb.plots.plot_distances(table)",
        "bb.load_study('weat7')",
        bar,
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    runner.tidy, tidied = (lambda fresh: fresh), runner.tidy
    fresh = runner.execute(notebook)
    made = [[sorted(output.get("data", {})) for output in cell.outputs] for cell in fresh.cells]
    assert made[:4] == [[], [["image/png", "text/plain"]], [], [["text/html", "text/plain"]]]
    assert "<caption>Study</caption>" in fresh.cells[3].outputs[0].data["text/html"]
    assert [output.data["text/html"] for output in fresh.cells[4].outputs] == [""]  # the bar, when all is done
    assert tidied(fresh).cells[4].outputs == []


def test_a_terminal_shows_a_bar_while_it_works() -> None:
    code = (
        "import time\nfrom bayesbias.base.progress import with_progress\n"
        "for _ in with_progress([1, 2], 'Working', progress=True): time.sleep(0.2)"
    )
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run([sys.executable, "-c", code], stderr=theirs, stdout=subprocess.PIPE, check=True)
        assert done.stdout == b""
        assert b"Working" in os.read(ours, 10_000)
    finally:
        os.close(ours)
        os.close(theirs)
