"""Every command and example that the README shows is run; its map is that of the code."""

import ast
import importlib.util
import operator
import re
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias import cli
from bayesbias.reports.checks.prior_check import check_prior
from bayesbias.reports.robustness import study_size

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def script(name: str) -> Any:
    """Return a module of the site's folder."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the `vectors.txt` of the README and of the guides: bundled vectors as text."""
    folder = tmp_path_factory.mktemp("readme")
    script("examples").write_vectors(folder / "vectors.txt")
    return folder


@pytest.fixture
def few_prior_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages draw less from the priors: the tests of the page compare these numbers with those of the check."""
    monkeypatch.setattr("bayesbias.delivery.page.fit_sections.check_prior", partial(check_prior, samples=200))


@pytest.mark.slow
@pytest.mark.usefixtures("quick_page", "few_prior_draws")
@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
def test_the_two_commands_of_the_tour(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    monkeypatch.setattr("warnings.showwarning", warnings.showwarning)  # the command line puts its own there
    commands = [line for block in blocks("") for line in block.splitlines() if line.startswith("bayesbias ")]
    assert [line.split()[1] for line in commands] == ["table", "fit", "report"]
    for line in commands:
        monkeypatch.setattr(sys, "argv", line.split())
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        assert not stopped.value.code, capsys.readouterr().err
    made = {path.name for path in (workplace / "weat7").iterdir()}
    named = set(re.findall(r"`([\w.]+\.(?:nc|csv|png|txt|json))`", README))
    assert made <= named


def test_a_shell_finds_the_command_of_the_tour_where_make_demo_put_it(tmp_path: Path) -> None:
    (tour,) = (block for block in blocks("") if "bayesbias table" in block)
    before = tour.partition("bayesbias table")[0]
    assert "\nBIN := .venv/bin\n" in (ROOT / "Makefile").read_text()
    (tmp_path / ".venv").symlink_to(sys.prefix)
    done = subprocess.run(
        ["bash", "-c", f"{before}\ncommand -v bayesbias"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).resolve() == Path(sys.prefix, "bin", "bayesbias").resolve()


@pytest.mark.slow
@pytest.mark.usefixtures("quick_page", "few_prior_draws")
def test_the_python_of_the_tour(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    (tour,) = blocks("python")
    with pytest.warns(bb.errors.LostWordsWarning):
        exec(tour, {})
    assert (workplace / "weat7.png").stat().st_size > 10_000


def test_the_toml_of_the_tour_is_a_study(workplace: Path) -> None:
    (toml,) = blocks("toml")
    path = workplace / "my_study.toml"
    path.write_text(toml, encoding="utf-8")
    study = bb.load_study(path)
    assert list(study.protected) == ["science", "arts"]
    with pytest.warns(bb.errors.LostWordsWarning):
        table = bb.distance_table(bb.load_embedding(workplace / "vectors.txt", words=study.words), study)
    assert np.isfinite(table["cosine_distance"]).all()


def test_every_room_of_the_map_exists_and_every_room_is_on_it() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text[text.index("| room | what it holds |") :].partition("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    named = {path.rstrip("/") for row in rows for path in re.findall(r"`([\w./]+)`", row.split("|")[1])}
    assert all((ROOT / path).exists() for path in named), named
    rooms = {
        f"bayesbias/{path.name}"
        for path in (ROOT / "bayesbias").iterdir()
        if not path.name.startswith("_") and path.suffix in ("", ".py")
    }
    assert rooms <= named


def test_the_site_lists_every_guide_notebook_and_validation() -> None:
    """Sphinx refuses a page outside the table of contents, but only when the site is built."""
    listed = set((ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines())
    pages = {f"guide/{path.stem}" for path in (ROOT / "docs" / "guide").glob("*.md")}
    pages |= {path.stem for path in (ROOT / "docs").glob("from_*.md")}
    pages |= {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    pages |= {f"validation/{path.parent.name}" for path in (ROOT / "validation").glob("*/README.md")}
    assert pages - listed == set()


def test_names_and_paths_of_the_page_of_papers_exist() -> None:
    """A public name loads; another name is a column, an argument or an option of the package's text."""
    names = re.findall(r"`([^`\n]+)`", (ROOT / "docs" / "papers.md").read_text(encoding="utf-8"))
    assert len(names) > 100
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bayesbias").rglob("*.py"))
    sources += (ROOT / "validation" / "study_over_seeds" / "study_over_seeds.py").read_text(encoding="utf-8")
    for name in names:
        if name.startswith("bb."):
            assert operator.attrgetter(name.removeprefix("bb."))(bb) is not None
        elif "/" in name:
            assert (ROOT / name).exists(), name
        elif name != "bb.":
            assert f'"{name}"' in sources or f"    {name}\n" in sources, name


def test_the_page_of_papers_is_on_the_site_and_says_the_time_of_a_training() -> None:
    assert "papers" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines()
    lines = (ROOT / "validation" / "training" / "training.csv").read_text(encoding="utf-8").splitlines()
    seconds = {line.split(",")[0]: float(line.split(",")[-1]) for line in lines[1:]}
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert f"({seconds['skipgram']:.0f} s for each training" in page


TEXTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "data/README.md", "docs/papers.md")]
TEXTS += sorted((ROOT / "validation").rglob("README.md"))
EXAMPLES = script("examples")
GUIDE = EXAMPLES.PAGES
PICTURED = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *GUIDE, *(ROOT / "validation").rglob("README.md")]


@pytest.mark.slow
@pytest.mark.usefixtures("quick_page")
@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
@pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto")
@pytest.mark.parametrize("page", GUIDE, ids=lambda path: path.stem)
def test_every_example_of_the_guide_prints_what_the_page_shows(
    page: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers may differ by Monte Carlo error from one kind of processor to another."""
    folder = workplace / page.stem
    folder.mkdir()
    (folder / "vectors.txt").write_bytes((workplace / "vectors.txt").read_bytes())
    monkeypatch.chdir(folder)
    monkeypatch.setattr("warnings.showwarning", warnings.showwarning)
    content = page.read_text(encoding="utf-8")
    differences = []
    for example in EXAMPLES.examples(content):
        texts = EXAMPLES.run(example)
        if example.output is not None:
            differences.append(EXAMPLES.difference(texts, example.output))
        assert example.output is not None or example.language == "" or not texts, example.code
    assert [difference for difference in differences if difference] == []
    for name in re.findall(r"!\[[^\]]*\]\([./]*generated/figures/([\w.]+)\)", content):
        assert Path(name).stat().st_size > 5000


@pytest.mark.parametrize("page", GUIDE, ids=lambda path: path.stem)
def test_the_numbers_of_a_caption_are_among_those_that_the_page_shows(page: Path) -> None:
    content = page.read_text(encoding="utf-8")
    outputs = "".join(example.output or "" for example in EXAMPLES.examples(content))
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", outputs)]
    for caption in re.findall(r"^\*[^*].*?\*$", content, re.DOTALL | re.MULTILINE):
        for number in re.findall(r"(?<![\w.])-?\d+\.\d+", caption):
            last_digit = 10.0 ** -len(number.partition(".")[2])
            nearest = min((abs(float(number) - value) for value in numbers), default=1.0)
            assert nearest <= 0.5001 * last_digit, f"{number} is in no output of the page"


def test_an_output_that_differs_is_seen() -> None:
    output = "mean -0.014, interval -0.038 to +0.007\n4000 draws\n"
    difference = EXAMPLES.difference
    assert not difference(["mean  -0.012, interval -0.040 to +0.005\n4000 draws"], output)
    assert difference(["mean -0.034, interval -0.038 to +0.007\n4000 draws"], output)
    assert difference(["mean -0.014, interval -0.038 to +0.007\n2000 draws"], output)
    assert difference(["sd -0.014, interval -0.038 to +0.007\n4000 draws"], output)
    assert difference(["mean -0.014, interval -0.038 to +0.007"], output)


@pytest.mark.parametrize("text", PICTURED, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_text_of_a_picture_says_what_is_seen(text: Path) -> None:
    for words in re.findall(r"!\[([^\]]*)\]\(", text.read_text(encoding="utf-8")):
        assert len(words.split()) >= 4, words
        assert not re.search(r"\w\.(png|svg)", words), words


@pytest.mark.slow
def test_the_sizes_that_the_guide_names_suffice_and_no_smaller_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares of simulated studies may differ by their Monte Carlo error from one kind of processor to another."""
    content = (ROOT / "docs" / "guide" / "how_many_words.md").read_text(encoding="utf-8")
    (call,) = re.findall(r"`print\((bb\.required_words\(.+?\))\)`", content)
    (sentence,) = re.findall(r"names the smallest sizes that suffice: (.+?)\. It", content, re.DOTALL)
    named = {(int(one), int(other)) for one, other in re.findall(r"(\d+)\D+?with\s(\d+)", sentence)}
    smaller = {size for one, other in named for size in ((one // 2, other), (one, other // 2))}
    monkeypatch.setattr(study_size, "SIZES", sorted(named | (smaller & set(study_size.SIZES))))
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    frame = eval(call, {"bb": bb, "fit": bb.fit(table, random_seed=1)}).frame
    assert f"simulates {frame['studies'].iloc[0]} studies of each size" in " ".join(content.split())
    sizes = frame.set_index(["protected_words", "attribute_words"])
    shares, errors = sizes["share_narrower"], sizes["share_se"]
    assert named
    assert all(shares[size] >= 0.8 - errors[size] for size in named)
    assert all(shares[size] <= 0.8 + errors[size] for size in smaller & set(shares.index))


def test_the_page_of_dependencies_says_what_each_is_for() -> None:
    page = script("dependencies")
    project = page.project()
    assert set(page.PURPOSES) == {re.split(r"[^\w-]", text)[0] for text in project["dependencies"]}
    assert set(page.EXTRAS) == set(project["optional-dependencies"])
    text = "\n".join(page.page())
    for name in filter(page.installed, page.PURPOSES):  # gensim is not, on Python 3.14
        assert re.search(rf"^\| {name} \| .+ \| (?:under 1|[\d,]+) \| bayesbias", text, re.MULTILINE), name
    assert "pyarrow" in page.required("nutpie")


def test_every_card_says_when_not_to_use_it() -> None:
    assert [name for name in bb.list_models() if not bb.load_model(name).avoid.endswith(".")] == []
    for entry in bb.metrics.MEASURES.values():
        assert entry.avoid.startswith(("to ", "where ", "with ", "without ")), entry.name
        assert all(entry.card.values()), entry.name
    for method in bb.debias.METHODS.values():
        parts = re.findall(r"\*\*(What it [a-z ]+)\.\*\*", str(method.__doc__))
        assert parts == ["What it needs", "What it changes", "What it cannot do"]


def test_the_licence_names_that_of_the_vectors() -> None:
    project = script("dependencies").project()
    assert project["license"] == "Apache-2.0 AND CC-BY-SA-3.0 AND CC-BY-4.0 AND LicenseRef-WordNet"
    assert "creativecommons.org/licenses/by-sa/3.0" in (ROOT / "data" / "README.md").read_text()
    assert "LICENSES/*" in project["license-files"]


def test_the_readme_has_no_link_that_a_package_index_cannot_follow() -> None:
    """But for its picture, whose words an index shows in its place."""
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", README)
    assert [target for mark, target in links if not mark and not target.startswith("https://")] == []
    assert [target for mark, target in links if mark] == ["docs/forest.png"]


def test_the_gallery_has_every_figure() -> None:
    codes = script("generate").gallery_code()
    # Longer lines would have to be scrolled.
    assert max(len(line) for code in codes.values() for line in code.splitlines()) <= 90
    assert set(bb.plots.__all__) < set(codes) == set(script("generate").figure_functions())
    for name, code in codes.items():
        assert re.search(rf"figure = bb\.(plots|asymmetry|nli|reliability)\.{name}\(", code)


def test_a_figure_that_the_gallery_does_not_list_is_drawn_by_its_example(monkeypatch: pytest.MonkeyPatch) -> None:
    generate = script("generate")
    monkeypatch.setattr(generate, "GALLERY", {})
    assert generate.gallery_code()["plot_contrasts"] == "figure = bb.plots.plot_contrasts(fit, rope=0.02)"
    assert generate.gallery_code()["plot_trainings"].endswith("bb.compare_trainings({1: fit, 2: fit}, random_seed=1))")


def test_the_figures_of_a_page_are_drawn_by_its_code() -> None:
    generate = script("generate")
    for page in GUIDE:
        text = page.read_text(encoding="utf-8")
        shown = re.findall(r"generated/figures/([\w.]+)", text)
        saved = re.findall(r'\.savefig\("([\w.]+)"', "".join(generate.drawing_code(text)))
        assert set(shown) <= set(saved), page.name


@pytest.mark.slow
@pytest.mark.parametrize(("name", "title"), [("weat6", "(WEAT 6)"), ("weat7", "(WEAT 7)")])
def test_the_numbers_of_the_first_page_and_the_readme_are_those_of_their_picture(name: str, title: str) -> None:
    """Ends of intervals differ a little from one kind of processor to another."""
    forest = script("forest")
    lines = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines()
    (row,) = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if title in line]
    answer = forest.answer(name)
    mean, ends = row[1], row[2]
    assert [float(mean), *map(float, ends.split(" to "))] == pytest.approx(answer[:3], abs=0.003)
    assert row[3].startswith("settled" if answer.settled else "not settled")
    assert row[4] == f"p {forest.shown(answer.p)}"
    assert re.search(rf"{mean},? \({ends}\)", " ".join(README.split()))


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_that_a_text_names_exists(text: Path) -> None:
    content = text.read_text(encoding="utf-8")
    links = [text.parent / link for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", content)]
    # Names in capitals stand for one of many; models/ and data/ are folders of the package's user too.
    rooms = r"(?:bayesbias|tests|validation|notebooks)/[\w./]+"
    named = [ROOT / name for name in re.findall(rf"(?<![\w/.])({rooms})", content) if not re.search("[A-Z]{3}", name)]
    assert [str(path) for path in links + named if not Path(str(path).rstrip(".")).exists()] == []


def test_a_name_in_backquotes_leads_to_its_page_and_an_argument_does_not() -> None:
    pytest.importorskip("sphinx")
    target = script("links")._target
    names = ("bayesbias.fit", "bayesbias.plots.plot_words", "bayesbias.Study")
    objects = {name: SimpleNamespace(docname=f"generated/api/{name}", node_id=name) for name in names}
    documents = {"guide/gate", "validation/gate", "validation/index", *(f"generated/api/{name}" for name in names)}
    env = SimpleNamespace(domaindata={"py": {"objects": objects}}, found_docs=documents)
    app = SimpleNamespace(env=env)
    for text, page in (
        ("bb.fit", "generated/api/bayesbias.fit"),
        ("bb.fit(table, random_seed=1)", "generated/api/bayesbias.fit"),
        ("bb.Study.words", "generated/api/bayesbias.Study"),
        ("bb.plots", "api"),
        ("validation/gate", "validation/gate"),
        ("validation/README.md", "validation/index"),
        ("docs/guide/gate.md", "guide/gate"),
    ):
        assert target(app, text, None, set())[0] == page
    assert [target(app, text, None, set()) for text in ("fit", "pd.DataFrame", "notebooks/none.ipynb")] == [None] * 3
    docstring = re.match("(bayesbias.+)", "bayesbias.plots.plot_contrasts")
    assert target(app, "plot_words", docstring, set())[0] == "generated/api/bayesbias.plots.plot_words"
    assert target(app, "fit", docstring, {"fit"}) is None


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`?make (\w+)", README):
        assert f"\n{target}:" in makefile


def test_the_changelog_and_the_citation_name_this_version() -> None:
    assert f"## {bb.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {bb.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f'version = "{bb.__version__}"' in (ROOT / "pyproject.toml").read_text()


def test_public_names_load_and_are_documented() -> None:
    for name in bb.__all__:
        value = getattr(bb, name)
        if callable(value):
            assert value.__doc__, name
            assert value.__module__.startswith("bayesbias")
    with pytest.raises(AttributeError, match=r"'sumary'.*'summary'"):
        _ = bb.sumary
    assert "fit" in dir(bb)


# Names of other packages and files, and columns that the package makes of parts.
OTHER_NAMES = {
    *("az", "plot_forest", "Router", "approxchunk_0", "completechunk_0", "part_of_speech"),
    *("congruence_1", "mcs_a_c", "cca_a_c", "definition_of_subset", "p_value_two_sided_mcse"),
    *("direct_bias_sd", "direct_bias_hdi_low", "direct_bias_hdi_high"),
}


def test_every_name_that_a_docstring_puts_in_backquotes_exists() -> None:
    """As a module, name, argument, attribute or text of the package, part by part; or as a file."""
    existing, docstrings = set(OTHER_NAMES), []
    for path in (ROOT / "bayesbias").rglob("*.py"):
        existing.update(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                docstrings.append((path.name, ast.get_docstring(node, clean=False) or ""))
            fields = [getattr(node, field, None) for field in ("name", "arg", "id", "attr", "value")]
            texts = [field for field in fields if isinstance(field, str) and not field.endswith((".", "\n", " "))]
            existing.update(word for text in texts for word in re.findall(r"\w+", text))
    named = [(file, name) for file, text in docstrings for name in re.findall(r"(?<!`)`([A-Za-z_][\w./]*)`(?!`)", text)]
    paths = {name for _, name in named if "/" in name or name.endswith(".md")}
    endings = r"\.(py|csv|txt|toml|xml|json|safetensors)$"
    names = {(file, re.sub(endings, "", name)) for file, name in named if name not in paths}
    assert [f"{file}: {name}" for file, name in names if set(name.split(".")) - existing] == []
    assert len(paths) > 5
    assert [path for path in paths if not any((folder / path).exists() for folder in (ROOT, ROOT / "bayesbias"))] == []


def test_the_import_is_light() -> None:
    code = (
        "import sys, bayesbias, bayesbias.cli; "
        "print([m for m in ('pymc', 'gensim', 'matplotlib', 'pandas', 'numpy', 'arviz') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_files_stay_short() -> None:
    for path in (ROOT / "bayesbias").rglob("*.py"):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= 600, f"{path.name} has {lines} lines"
