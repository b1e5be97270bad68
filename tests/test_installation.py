"""What the package loads and does where extras, and gensim, are not installed: `.ci/wheel` runs it there too."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import EmbeddingError, InputFileError, OutputError, SamplerWarning, TableError
from tests.embeddings.training.texts import SHORT, documents
from tests.models.tables import small

HEAVY = ("arviz_stats", "gensim", "matplotlib", "numba", "nutpie", "pymc", "pytensor")
FIRST_FIT = f"""
import sys, bayesbias as bb
table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
fit = bb.fit(table, draws=50, chains=2, random_seed=1, progress=False)
print(len(bb.contrasts(fit)) > 0, [name for name in {HEAVY} if name in sys.modules])
print(*bb.models.fit_attribute(fit, "versions"))
"""


def test_a_fit_and_its_contrasts_load_no_compiler_and_no_trainer() -> None:
    lines = subprocess.run([sys.executable, "-c", FIRST_FIT], capture_output=True, text=True, check=True).stdout
    assert lines.splitlines() == ["True []", "bayesbias numpy pandas scipy xarray"]


@pytest.mark.parametrize("ending", [".parquet", ".parquet.gz"])
def test_without_pyarrow_parquet_names_its_extra(
    ending: str, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / f"t{ending}"
    with pytest.raises(OutputError, match=r"needs pyarrow, .*'bayesbias\[parquet\]'.*csv"):
        bb.write_table(table, path)
    path.write_bytes(b"PAR1")
    with pytest.raises(InputFileError, match=r"needs pyarrow, .*'bayesbias\[parquet\]'"):
        bb.read_table(path)


def test_without_pyarrow_a_frame_that_needs_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars")

    def to_pandas(_: object) -> None:
        raise ModuleNotFoundError("pa.Table requires 'pyarrow' module to be installed")

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(polars.DataFrame, "to_pandas", to_pandas)
    with pytest.raises(TableError, match=r"DataFrame .* needs pyarrow, .*'bayesbias\[parquet\]'"):
        bb.fit(polars.DataFrame({"protected_word": ["he"]}))


@pytest.mark.slow
def test_without_nutpie_pymc_samples_and_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from pymc.sampling import mcmc

    monkeypatch.setitem(sys.modules, "nutpie", None)
    monkeypatch.setattr(mcmc, "NUTPIE_INSTALLED", False)
    with pytest.warns() as warned:
        fit = bb.fit(small(2, 2), "hierarchical", sampler="nuts", draws=20, tune=20, chains=1, random_seed=1)
    assert "'bayesbias[nuts]'" in next(str(one.message) for one in warned if one.category is SamplerWarning)
    assert list(bb.models.fit_attribute(fit, "versions"))[-2:] == ["pymc", "pytensor"]
    assert fit["posterior"].sizes["draw"] == 20


@pytest.mark.parametrize("algorithm", ["skipgram", "cbow", "fasttext"])
def test_without_gensim_its_trainers_say_what_they_need(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(EmbeddingError, match=r"needs gensim, .*Python < 3\.14.*glove"):
        bb.embeddings.train_embeddings(documents(), tmp_path / "folder", algorithm=algorithm, **SHORT)
    assert not (tmp_path / "folder").exists()
