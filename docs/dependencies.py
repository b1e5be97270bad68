"""Purpose and size of each dependency: `python docs/dependencies.py` prints the page."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PURPOSES = {
    "arviz": "convergence diagnostics, intervals, leave-one-out; the format of a fit",
    "cloudpickle": "sending functions of a script or a notebook to processes of the machine",
    "gensim": "reading gensim's own files; training word2vec and fastText vectors. Not for Python 3.14",
    "h5netcdf": "fits as files",
    "h5py": "the format of these files",
    "jinja2": "the page",
    "lazy-loader": "loading of names at their first use",
    "matplotlib": "figures",
    "narwhals": "tables of polars and any other frame",
    "numba": "compiled training of GloVe vectors",
    "numpy": "arrays",
    "pandas": "tables",
    "psutil": "checks of the available memory",
    "pymc": "the models, for NUTS and for your own changes",
    "rich": "progress bars in a terminal",
    "scipy": "distributions, linear algebra",
    "threadpoolctl": "one thread for small matrices",
    "tomli-w": "files of frozen plans",
    "typer": "the command line",
    "xarray": "labelled draws; the format of a fit",
}
EXTRAS = {
    "contextual": "vectors and probabilities of BERT-like models (PyTorch: 5 GB from the usual index)",
    "encoders": "sentence encoders and static distillations (sentence-transformers, model2vec; PyTorch as above)",
    "nli": "training and evaluation of models of inference (PyTorch: 5 GB from the usual index)",
    "classifiers": "the measures RNSB, clustering and recoverability, the debiasing method INLP (scikit-learn)",
    "cluster": "`audit` and `debias_report` on a Dask cluster; scores of seeds that do not fit into memory",
    "nuts": "faster NUTS for models without a sampler of their own (nutpie, which brings pyarrow)",
    "parquet": "tables as Parquet files, and frames of polars and Arrow (pyarrow)",
    "all": "all of these",
    "docx": 'results as Word documents: `bb.write(result, "report.docx")` (python-docx)',
}


_LARGE = 5  # MB


def project() -> dict[str, Any]:
    """Return the project's own metadata."""
    metadata: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return metadata


def page() -> Iterator[str]:
    """Yield the page: a table of the direct dependencies, of the others, and of the extras."""
    requirements = map(Requirement, project()["dependencies"])
    names = [one.name for one in requirements if one.marker is None or one.marker.evaluate()]
    needed = {name: required(name) for name in closure(names)}
    sizes = {name: size(name) for name in needed}
    yield (
        "# Dependencies\n\nThe package needs Python 3.12, 3.13 or 3.14 and "
        f"{len(names)} packages, which require {len(needed) - len(names)} more: together {sum(sizes.values()):,} MB on "
        "the machine that made this table (`python docs/dependencies.py`). Each is imported only when it is used."
    )
    rows = ["| package | purpose | MB | required by |", "|---|---|--:|---|"]
    for name in names:
        others = [other for other in names if other != name and name in needed[other]]
        rows.append(f"| {name} | {PURPOSES[name]} | {_shown(sizes[name])} | {', '.join(['bayesbias', *others])} |")
    yield "\n".join(rows)
    largest = sorted((name for name in needed if name not in names), key=lambda name: -sizes[name])
    listed = ", ".join(f"{name} ({sizes[name]} MB)" for name in largest if sizes[name] >= _LARGE)
    yield f"The largest of the further packages are {listed}."
    yield "## Extras\n\n" + "\n".join(
        f"- `pip install 'bayesbias[{name}]'`: {EXTRAS[name]}" for name in project()["optional-dependencies"]
    )


def closure(names: list[str]) -> list[str]:
    """Return packages and all that they require."""
    packages: list[str] = []
    waiting = list(names)
    while waiting:
        if (name := waiting.pop(0)) not in packages:
            packages.append(name)
            waiting += required(name)
    return packages


def required(name: str) -> list[str]:
    """Return what an installed package requires here, without its extras."""
    texts = [Requirement(text) for text in distribution(name).requires or ()]
    requirements = [one for one in texts if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [normal for one in requirements if installed(normal := re.sub(r"[-_.]+", "-", one.name).lower())]


def installed(name: str) -> bool:
    """Whether a package is installed."""
    try:
        return distribution(name) is not None
    except PackageNotFoundError:
        return False


def size(name: str) -> int:
    """Return the size of an installed package's files in MB, without what Python compiles of them."""
    files = (file for file in distribution(name).files or () if file.suffix != ".pyc")
    return round(sum(path.stat().st_size for file in files if (path := Path(str(file.locate()))).exists()) / 1e6)


def _shown(size: int) -> str:
    return f"{size:,}" if size else "under 1"


if __name__ == "__main__":
    print("\n\n".join(page()))
