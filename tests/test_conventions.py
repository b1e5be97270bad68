"""The conventions of the public names: one sweep over all signatures, seeds, errors and lists of names."""

import ast
import contextlib
import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.errors import ArgumentError, BayesBiasError, BayesBiasWarning

PACKAGE = Path(bb.__file__).parent
ROOMS = [value for name in bb.__all__ if isinstance(value := getattr(bb, name), ModuleType)]

DEFAULTS = {"random_seed": None, "overwrite": False, "hdi_prob": HDI_PROB, "progress": True}
PLANS = {"bayesbias.required_words"}  # for another study than that of the fit
ANNOTATIONS = {"embedding": "EmbeddingLike", "study": "StudyLike"}
POSTERIOR_DRAWS = {
    "bayesbias.asymmetry.alar",
    "bayesbias.audit",
    "bayesbias.compare_embeddings",
    "bayesbias.compare_models",
    "bayesbias.cosine_regressions.cosine_regression",
    "bayesbias.metrics.direction_posterior",
    "bayesbias.fit",
    "bayesbias.nli.train_and_compare",
    "bayesbias.nli.compare_answers",
    "bayesbias.nli.posterior",
    "bayesbias.embeddings.VectorVariance.draws",
    "bayesbias.reports.Projection.draws",
    "bayesbias.reliability.drivers",
    "bayesbias.reliability.reliability_report",
    "bayesbias.debias_report",
    "bayesbias.sensitivity",
    "bayesbias.trend",
}
OTHER_NAMES = {
    "random_seed": {"seed", "rng", "random_state"},
    "draws": {"n_draws", "ndraws", "num_draws", "iterations"},
    "samples": {"n_samples", "num_samples", "data_sets", "replicates", "replications", "permutations", "simulations"},
    "progress": {"progressbar", "progress_bar", "verbose", "quiet"},
    "overwrite": {"force", "replace", "exist_ok"},
    "hdi_prob": {"ci", "ci_prob", "cred_mass", "interval_prob"},
}


def public_names(room: ModuleType) -> list[tuple[str, Any]]:
    return [(f"{room.__name__}.{name}", getattr(room, name)) for name in room.__all__]


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every public function, and the methods and properties' functions of every public class."""
    for name, value in (pair for room in (bb, *ROOMS) for pair in public_names(room)):
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value) and not issubclass(value, BayesBiasError | BayesBiasWarning):
            for attribute, method in vars(value).items():
                function = method.fget if isinstance(method, property) else inspect.unwrap(method)
                function = getattr(function, "__func__", function)  # of a class method
                if inspect.isfunction(function) and not attribute.startswith("_"):
                    yield f"{name}.{attribute}", function


CALLABLES = dict(callables())
SEEDED = {
    name: function
    for name, function in CALLABLES.items()
    if "random_seed" in inspect.signature(function).parameters and "self" not in inspect.signature(function).parameters
}


@pytest.mark.parametrize("name", CALLABLES)
def test_arguments_are_called_the_same_and_have_one_default(name: str) -> None:
    parameters = inspect.signature(CALLABLES[name]).parameters
    for usual, others in OTHER_NAMES.items():
        assert not others & set(parameters), f"call it {usual}"
    for argument, default in DEFAULTS.items():
        if argument in parameters:
            of_fit = argument == "hdi_prob" and next(iter(parameters)) == "fit" and name not in PLANS
            assert parameters[argument].default == (None if of_fit else default), argument  # None: that of the fit
            assert parameters[argument].kind is inspect.Parameter.KEYWORD_ONLY, argument
    for argument, alias in ANNOTATIONS.items():
        if argument in parameters:
            assert alias in inspect.formatannotation(parameters[argument].annotation), argument


def test_draws_are_those_of_a_posterior() -> None:
    assert {name for name, function in CALLABLES.items() if "draws" in inspect.signature(function).parameters} == (
        POSTERIOR_DRAWS
    )


def test_every_class_that_is_returned_is_a_public_name() -> None:
    own = {
        found for path in PACKAGE.rglob("*.py") for found in re.findall(r"^class (\w+)", path.read_text(), re.MULTILINE)
    }
    public = {name.rpartition(".")[2] for room in (bb, *ROOMS) for name, _ in public_names(room)}
    hidden = {
        name: sorted(returned)
        for name, function in CALLABLES.items()
        if (returned := own & set(re.findall(r"\w+", _returned(function))) - public)
    }
    assert not hidden


def _returned(function: Callable[..., Any]) -> str:
    """Return the return annotation, without the names that its module has from other packages."""
    annotation = inspect.signature(function).return_annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    source = Path(str(inspect.getsourcefile(inspect.unwrap(function)))).read_text()
    others = re.findall(r"^ +from (?!bayesbias)\S+ import (\w+)$", source, re.MULTILINE)
    return " ".join(word for word in re.findall(r"\w+", text) if word not in others)


class Untouched:
    """An argument that says so if anything is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"work was begun: {name}")


@pytest.mark.parametrize("name", SEEDED)
def test_seeds_that_are_none_are_refused_before_any_work(name: str) -> None:
    needed = {
        argument: Untouched()
        for argument, parameter in inspect.signature(SEEDED[name]).parameters.items()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    }
    for seed in (True, np.True_, -1, 1.5, "1", 2**32):
        with pytest.raises(ArgumentError, match="random_seed="):
            SEEDED[name](**needed, random_seed=seed)


def test_errors_and_warnings_derive_from_one_base_and_from_what_fits() -> None:
    known = dict(public_names(bb.errors))
    for name, error in known.items():
        short = name.rpartition(".")[2]
        if short not in ("BayesBiasError", "BayesBiasWarning"):
            assert issubclass(error, BayesBiasWarning if short.endswith("Warning") else BayesBiasError)
            assert short.endswith("Warning") or issubclass(
                error, ValueError | TypeError | OSError | LookupError | MemoryError
            )
    classes = ast.parse(Path(bb.errors.__file__).read_text())
    assert {node.name for node in classes.body if isinstance(node, ast.ClassDef)} == set(bb.errors.__all__)


@pytest.mark.parametrize("room", [bb, *ROOMS], ids=lambda room: room.__name__)
def test_lists_of_names_are_whole(room: ModuleType) -> None:
    assert len(set(room.__all__)) == len(room.__all__)
    assert set(room.__all__) - {"__version__"} <= set(dir(room))
    assert all(not name.startswith("_") for name in set(room.__all__) - {"__version__"})


STUBS = sorted(PACKAGE.rglob("__init__.pyi"))


@pytest.mark.parametrize("stub", STUBS, ids=lambda path: path.parent.name)
def test_names_that_are_loaded_late_are_those_that_type_checkers_see(stub: Path) -> None:
    """And none is hidden by a module of its name, which would take its place as soon as anything imports it."""
    relative = stub.parent.relative_to(PACKAGE.parent)
    package = importlib.import_module(".".join(relative.parts))
    lines = [line for line in ast.parse(stub.read_text()).body if isinstance(line, ast.ImportFrom)]
    names = [(alias.name, alias.asname, line.module) for line in lines for alias in line.names]
    assert all(name == other for name, other, _ in names)
    assert {name for name, _, _ in names} == set(package.__all__) - {"__version__"}
    for name, _, module in names:
        is_module = module is None or name in ("plots", "results")
        assert isinstance(getattr(package, name), ModuleType) == is_module, name
        assert is_module or importlib.util.find_spec(f"{package.__name__}.{name}") is None, name


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in bb.__all__ if inspect.isfunction(getattr(bb, name))])
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_a_wrong_type_is_an_error_of_ours(
    name: str, short_table: pd.DataFrame, short_fit: xr.DataTree, tmp_path: Path
) -> None:
    """Each argument in turn is something that no function takes; the others are sound, or missing."""
    function = getattr(bb, name)
    sound: dict[str, Any] = {
        **dict.fromkeys(("table", "design_or_table"), short_table),
        **{"fit": short_fit, "study": "weat7", "embedding": {"he": [1.0, 2.0], "she": [2.0, 1.0]}},
        "path": tmp_path / "output.csv",
    }
    parameters = inspect.signature(function).parameters.values()
    named = [each for each in parameters if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
    for wrong in named:
        if wrong.name == "progress":  # whatever is true
            continue
        given = {each.name: sound.get(each.name) for each in named if each.default is each.empty}
        given[wrong.name] = object()
        first = [given.pop(each.name) for each in named if each.kind is each.POSITIONAL_ONLY and each.name in given]
        with contextlib.suppress(BayesBiasError):
            function(*first, **given)


MODULES = sorted(
    path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path.name not in ("__init__.py", "__main__.py")
)


def test_each_module_has_tests_in_files_of_its_name() -> None:
    """`room/concept.py` has `room/test_concept.py`, and parts of it have `room/test_concept_part.py`."""
    tests = Path(__file__).parent
    test_files = {module: sorted((tests / module.parent).glob(f"test_{module.stem}*.py")) for module in MODULES}
    assert [str(module) for module, paths in test_files.items() if not paths] == []
    assert [str(p) for paths in test_files.values() for p in paths if "def test_" not in p.read_text()] == []


READING = {
    *("np.load", "numpy.load", "pd.read_csv", "pandas.read_csv", "pd.read_parquet", "parquet.read_table"),
    *("parquet.ParquetFile", "tomllib.load", "tomllib.loads"),
    *("gzip.open", "gzip.decompress", "bz2.open", "bz2.decompress", "lzma.open", "lzma.decompress"),
}


def test_packed_files_arrays_frames_and_toml_are_read_by_the_room_that_checks_their_memory() -> None:
    elsewhere = [
        f"{module}:{node.lineno}: {name}"
        for module in MODULES
        if module.parent != Path("base/files")
        for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and (name := ast.unparse(node)) in READING
    ]
    assert elsewhere == []


def documented_names() -> dict[str, Any]:
    """Return the public functions, and the public classes that are made with arguments, by their first name."""
    values: dict[Any, str] = {}
    for name, value in (pair for room in (bb, *ROOMS) for pair in public_names(room)):
        own_frame = inspect.isclass(value) and issubclass(value, pd.DataFrame)  # with the arguments of pandas
        if inspect.isfunction(value) or ("Parameters\n---" in (value.__doc__ or "") and not own_frame):
            values.setdefault(value, name)
    return {name: value for value, name in values.items()}


DOCUMENTED = documented_names()
# Files whose examples are those of what writes or reads them, lists of names, and a helper of reports.
WITHOUT_EXAMPLE = {
    *("read_fit", "write_fit", "read_embeddings", "fit_attribute", "checked_rows", "contents_of"),
    *("list_models", "list_debias_words", "list_word_lists"),
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstrings_of_public_names_are_whole(name: str) -> None:
    """Every parameter is described or named, by reference to a sibling at least; functions say what they return."""
    value = DOCUMENTED[name]
    text = inspect.getdoc(value) or ""
    entries = re.findall(r"^(\S.*)\n    \S", text, re.MULTILINE)
    described = {part.strip(" *`") for entry in entries for part in entry.partition(" : ")[0].split(",")}
    described |= set(re.findall(r"`\*{0,2}(\w+)`", text))
    if "Arguments" not in text:  # those of a sibling
        parameters = inspect.signature(value).parameters
        assert [parameter for parameter in parameters if parameter[0] != "_" and parameter not in described] == []
    if inspect.isfunction(value):
        assert text.startswith(("Return ", "Load ", "Write ", "Fit ", "Draw ")), text.splitlines()[0]
        assert ">>> " in text or "::\n" in text or name.rpartition(".")[2] in WITHOUT_EXAMPLE


def test_measures_and_methods_name_their_source() -> None:
    functions = [measure.function for measure in bb.metrics.MEASURES.values()]
    without = [value.__name__ for value in functions if not re.search(r"\(\d{4}\w?\)", value.__doc__ or "")]
    classes = [
        method for method in bb.debias.METHODS.values() if "\nReferences\n" not in (inspect.getdoc(method) or "")
    ]
    assert (without, classes) == ([], [])
