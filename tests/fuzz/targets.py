"""What is fuzzed: for each kind of input, how one is made, and what reads it."""

import gzip
import io
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow
import xarray as xr
from h5netcdf.utils import CompatibilityError
from pyarrow import parquet

import bayesbias as bb
from bayesbias.base.files.inputs import sealed
from bayesbias.embeddings.training.corpus import read_corpus
from bayesbias.metrics.intrinsic.quality import benchmark_measure, read_words
from bayesbias.models.priors import DISTRIBUTIONS
from bayesbias.models.samplers.registry import sampler_for
from bayesbias.tables.table_files import _MARK, _checksum
from tests.embeddings.files import fasttext_of_one_word
from tests.embeddings.readers import glove_v_files
from tests.fuzz import (
    answers,
    archives,
    bombs,
    checkpoints,
    contexts,
    histwords,
    layouts,
    modules,
    pages,
    places,
    storages,
    two_users,
)
from tests.fuzz.mutations import flipped, mutated
from tests.fuzz.odd import odd_value, with_odd_value
from tests.fuzz.sound import (
    BENCHMARKS,
    LABELLED,
    NORMS,
    RELATIONS,
    STUDY,
    VECTORS,
    small_fit,
    whole,
)
from tests.nli.made import PETS, by_length

Generator = np.random.Generator


@dataclass(frozen=True)
class Target:
    """A kind of input.

    `make` returns an input, the content of a file; `read` reads the file at a path and returns what it says, to be
    compared. `original` is what a whole file says, where any flipped bit must be found or change nothing. `warm` is
    called once before, without a limit of time; an input may take so many `seconds` of processor time.
    """

    make: Callable[[Generator], bytes]
    read: Callable[[Path], object]
    suffix: str
    original: Callable[[], object] | None = None
    warm: Callable[[], object] = lambda: None
    seconds: float = 10


# --- what inputs say --------------------------------------------------------------------------------------


def vectors_of(path: Path) -> object:
    """Read an embedding, whole and in part."""
    read = bb.load_embedding(path)
    bb.load_embedding(path, words=["he", "art"])
    return list(read.words), np.asarray(read.vectors).tolist()


def table_of(path: Path) -> object:
    """Read a table, and write and describe what was read."""
    table = bb.read_table(path)
    facts = dict(table.attrs["bayesbias"])
    bb.write_table(table, path.with_name("again.csv"), overwrite=True)
    bb.lost_words(table).to_csv(io.StringIO())
    return table.astype({"connection": str}).to_dict("list"), json.dumps(facts, sort_keys=True)


def fit_of(path: Path) -> object:
    """Read a fit, and ask what it says."""
    fit = bb.read_fit(path)
    said = str(bb.conclusions(fit)), bb.summary(fit).to_csv(), bb.contrasts(fit, level="all").to_csv()
    bb.models.fitted_table(fit)
    return said


def fit_in_little_memory(path: Path) -> object:
    """Read a fit where there is little memory, and ask what it says."""
    return bombs.in_little_memory(fit_of, path)


def corpus_of(path: Path) -> object:
    """Read a corpus."""
    return read_corpus(path, min_count=1).facts()


def trained_of(path: Path) -> object:
    """Read a folder of trained embeddings."""
    named = path.with_name("glove_seed1.npz")
    named.write_bytes(path.read_bytes())
    trained = bb.embeddings.read_embeddings(path.parent)
    return str(trained), trained[1].digest


def study_of(path: Path) -> object:
    """Read a study."""
    return str(bb.load_study(path))


def test_set_of(path: Path) -> object:
    """Generate a test set of inference, and ask a model about it."""
    scores = bb.nli.score(bb.nli.test_set(path), by_length)
    return bb.nli.neutral_error(scores).to_csv()


def pairs_of(path: Path) -> object:
    """Read labelled pairs."""
    return bb.nli.read_pairs(path).to_csv()


def model_of(path: Path) -> object:
    """Read a model, and fit it to a few rows where it samples quickly."""
    return str(bb.load_model(path).to_dict())


def benchmark_of(path: Path) -> object:
    """Read a file of pairs, of questions, of tuples, and of words, and score vectors by it."""
    scores: list[Callable[[], object]] = [
        lambda: bb.metrics.word_similarity(VECTORS, path, random_seed=1).estimates.to_csv(),
        lambda: bb.metrics.analogies(VECTORS, path, random_seed=1, progress=False).estimates.to_csv(),
        lambda: bb.metrics.sembias(VECTORS, path, random_seed=1).estimates.to_csv(),
        lambda: read_words(path) and benchmark_measure(path),
    ]
    said, refused = [], None
    for score in scores:
        try:
            said.append(score())
        except bb.errors.BayesBiasError as error:
            refused = error
    if refused is not None and not said:
        raise refused
    return said


def prior_of(path: Path) -> object:
    """Fit a few rows with another prior."""
    model, name, prior = path.read_text(encoding="utf-8").split("|")
    if sampler_for(bb.load_model(model, priors={name: prior})) == "nuts":
        return "left to NUTS, which is compiled first"
    fit = bb.fit(
        bb.models.fitted_table(small_fit()), model, priors={name: prior}, draws=20, tune=20, chains=1, random_seed=1,
        progress=False,
    )  # fmt: skip
    return bool(np.isfinite(fit["posterior"]["connection_mean"].to_numpy()).all())


# --- inputs -----------------------------------------------------------------------------------------------


def lying_table(rng: Generator) -> bytes:
    """Return a CSV whose provenance lies and whose checksum is right."""
    first, rows = whole("csv").decode().split("\n", 1)
    said = f"{json.dumps(with_odd_value(json.loads(first[first.index('{') :]), rng))}\n{rows}"
    return f"{_MARK}{_checksum(said)} {said}".encode()


def odd_parquet(rng: Generator) -> bytes:
    """Return a Parquet table with a column of another type, or with one that is repeated."""
    table = parquet.read_table(io.BytesIO(whole("parquet")))
    rows, names = table.num_rows, table.column_names
    columns = [
        pyarrow.array([b"\xff"] * rows),
        pyarrow.array([["a"]] * rows),
        pyarrow.array([int(rng.integers(-(2**62), 2**62))] * rows, type=pyarrow.timestamp("us", tz="UTC")),
        pyarrow.array([2**62] * rows, type=pyarrow.duration("s")),
        table.column(int(rng.integers(len(names)))),
    ]
    column, place = columns[int(rng.integers(len(columns)))], int(rng.integers(len(names)))
    table = (
        table.append_column(names[place], column)
        if rng.random() < 0.3
        else table.set_column(place, names[place], column)
    )
    content = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(None), content)
    return content.getvalue()


def long_words(rng: Generator) -> bytes:
    """Return a fastText .bin with a word of any length, and n-grams of any length."""
    return fasttext_of_one_word(int(rng.integers(1, 10_000)), int(10 ** rng.uniform(0, 9)))


def tampered_fit(rng: Generator) -> bytes:
    """Return a fit in which something is not what it should be, with a checksum that is right."""
    fit = small_fit().copy(deep=True)
    if rng.random() < 0.4:
        name = list(fit.attrs)[int(rng.integers(len(fit.attrs)))]
        fit.attrs[name] = json.dumps(with_odd_value(json.loads(str(fit.attrs[name])), rng))
        if rng.random() < 0.1:
            fit.attrs[name] = odd_value(rng) if isinstance(odd_value(rng), str) else 5
    else:
        group = list(fit.children)[int(rng.integers(len(fit.children)))]
        data = fit[group].to_dataset()
        names = [str(name) for name in data.variables]
        name = names[int(rng.integers(len(names)))]
        values = data[name].to_numpy()
        changes: list[Callable[[], xr.Dataset]] = [
            lambda: data.drop_vars(name),
            lambda: data.rename({name: "other"}),
            lambda: data.assign({name: (data[name].dims, np.full(values.shape, -1))}),
            lambda: data.assign({name: (data[name].dims, np.full(values.shape, 30_000))}),
            lambda: data.assign({name: (data[name].dims, np.full(values.shape, np.nan))}),
            lambda: data.assign({name: (data[name].dims, np.full(values.shape, "x"))}),
            lambda: data.assign({name: (data[name].dims, values[..., ::-1])}),
            lambda: data.assign({name: (data[name].dims, values.astype(bool))}),
            lambda: data.drop_vars(name).assign({name: ((), 1.0)}),
            lambda: data.isel({dim: slice(0, 1) for dim in data[name].dims[:1]}),
            lambda: data.isel({dim: slice(0, 0) for dim in data[name].dims[:1]}),
        ]
        try:
            fit[group] = xr.DataTree(changes[int(rng.integers(len(changes)))]())
        except (ValueError, TypeError):  # xarray itself does not take it
            return whole("nc")[:100]
    try:
        return sealed(bytes(fit.to_netcdf(engine="h5netcdf")))
    except (ValueError, TypeError, CompatibilityError):  # nor does it write it
        return whole("nc")[:100]


def odd_prior(rng: Generator) -> bytes:
    """Return a model, a parameter and a prior of it, with numbers at the ends of what can be written."""
    numbers = ("0", "-1", "1e-300", "1e-200", "1e-30", "1e-9", "0.5", "1", "30", "1e9", "1e200", "1000", "nan", "1_0")
    models = ("hierarchical", "crossed", "multivariate", "no_pooling")
    model = models[int(rng.integers(len(models)))]
    names = list(bb.load_model(model).priors)
    family = list(DISTRIBUTIONS)[int(rng.integers(len(DISTRIBUTIONS)))]
    values = ", ".join(numbers[int(rng.integers(len(numbers)))] for _ in DISTRIBUTIONS[family])
    return f"{model}|{names[int(rng.integers(len(names)))]}|{family}({values})".encode()


def damaged(name: str) -> Callable[[Generator], bytes]:
    """Return what damages a sound file."""
    return lambda rng: mutated(whole(name), rng)


def one_bit(name: str) -> Callable[[Generator], bytes]:
    """Return what flips a bit of a sound file."""
    return lambda rng: flipped(whole(name), rng)


def zipped(rng: Generator) -> bytes:
    """Return damage inside sound gzip data."""
    return gzip.compress(mutated(whole("csv"), rng), mtime=0)


def said(name: str, read: Callable[[Path], object]) -> Callable[[], object]:
    """Return what a sound file says."""

    def read_whole() -> object:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / f"sound.{name}"
            place.write_bytes(whole(name))
            return read(place)

    return read_whole


def own_table(rng: Generator) -> bytes:
    """Return a damaged table that says nothing of itself."""
    return mutated(whole("csv").split(b"\n", 1)[1], rng)


def corpus_text(rng: Generator) -> bytes:
    """Return a damaged text, or a sound one in damaged gzip data."""
    text = STUDY.encode() * 3
    return mutated(text, rng) if rng.random() < 0.5 else mutated(gzip.compress(text, mtime=0), rng)


def study_text(rng: Generator) -> bytes:
    """Return a damaged study."""
    return mutated(STUDY.encode(), rng)


def test_set_text(rng: Generator) -> bytes:
    """Return a damaged test set of inference."""
    return mutated(PETS.encode(), rng)


def pairs_text(rng: Generator) -> bytes:
    """Return a damaged file of labelled pairs, at times zipped."""
    content = mutated(LABELLED[int(rng.integers(len(LABELLED)))].encode(), rng)
    return gzip.compress(content, mtime=0) if rng.random() < 0.2 else content


def benchmark_text(rng: Generator) -> bytes:
    """Return a damaged file of pairs, of questions or of tuples."""
    return mutated(BENCHMARKS[int(rng.integers(len(BENCHMARKS)))].encode(), rng)


def model_text(rng: Generator) -> bytes:
    """Return a damaged model."""
    models = bb.list_models()
    return mutated(bb.bundled("models", f"{models[int(rng.integers(len(models)))]}.toml").read_bytes(), rng)


def compiled() -> object:
    """Compile the sampler that is compiled."""
    return bb.fit(bb.models.fitted_table(small_fit()), draws=20, tune=20, chains=1, random_seed=1, progress=False)


def some_norms(rng: Generator) -> bytes:
    """Return damaged norms, sometimes packed."""
    content = mutated(NORMS[rng.integers(len(NORMS))], rng)
    return gzip.compress(content, mtime=0) if rng.random() < 0.1 else content


def norms_of(path: Path) -> object:
    """Return what norms say: posteriors of their pairs, if there are any."""
    source = bb.asymmetry.evocation(bb.asymmetry.read_evocation(path))
    pairs = source.pairs(seen="either")
    return bb.asymmetry.lar(source, pairs).to_csv() if len(pairs) else len(source.cues)


def some_relations(rng: Generator) -> bytes:
    """Return damaged relations."""
    return mutated(RELATIONS[rng.integers(len(RELATIONS))], rng)


def relations_of(path: Path) -> object:
    """Return what relations say."""
    return bb.asymmetry.read_relations(path).to_csv()


def damaged_tensors(rng: Generator) -> bytes:
    """Return damaged covariances of GloVe-V."""
    return mutated(glove_v_files.tensor_bytes(glove_v_files.approximations(glove_v_files.made_arrays()[1])), rng)


def covariances_of(path: Path) -> object:
    """Read a folder of GloVe-V whose covariances are at a path."""
    folder = glove_v_files.write_folder(path.parent / "glove_v", chunks=False)
    (folder / "ApproximationVariances.safetensors").write_bytes(path.read_bytes())
    return bb.embeddings.read_glove_variance(folder, glove_v_files.WORDS).covariances.tolist()


_IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0  # who alone can act as two users
# Each with its share of the inputs.
TARGETS: dict[str, tuple[float, Target]] = {
    "GloVe text": (15, Target(damaged("glove.txt"), vectors_of, ".txt")),
    "word2vec text": (15, Target(damaged("txt"), vectors_of, ".txt")),
    "word2vec binary": (10, Target(damaged("bin"), vectors_of, ".bin")),
    "word2vec binary, one bit": (5, Target(one_bit("bin"), vectors_of, ".bin", said("bin", vectors_of))),
    "npz": (10, Target(damaged("npz"), vectors_of, ".npz")),
    "npz, one bit": (5, Target(one_bit("npz"), vectors_of, ".npz", said("npz", vectors_of))),
    "vocabulary of HistWords": (10, Target(histwords.vocabulary, histwords.vocabulary_of, "-vocab.pkl")),
    "vectors of HistWords": (5, Target(histwords.damaged_vectors, histwords.vectors_of, "-w.npy")),
    "covariances of GloVe-V": (10, Target(damaged_tensors, covariances_of, ".safetensors")),
    "CSV table": (10, Target(damaged("csv"), table_of, ".csv")),
    "CSV table, one bit": (5, Target(one_bit("csv"), table_of, ".csv", said("csv", table_of))),
    "CSV table of one's own": (20, Target(own_table, table_of, ".csv")),
    "zipped CSV table": (4, Target(zipped, table_of, ".csv.gz")),
    "Parquet table": (5, Target(damaged("parquet"), table_of, ".parquet")),
    "Parquet table of other types": (5, Target(odd_parquet, table_of, ".parquet")),
    "fastText of long words": (3, Target(long_words, vectors_of, ".bin")),
    "Parquet table, one bit": (5, Target(one_bit("parquet"), table_of, ".parquet", said("parquet", table_of))),
    "provenance that lies": (4, Target(lying_table, table_of, ".csv")),
    "corpus": (10, Target(corpus_text, corpus_of, ".txt")),
    "trained vectors": (4, Target(damaged("trained.npz"), trained_of, ".npz")),
    "trained vectors, one bit": (
        4,
        Target(one_bit("trained.npz"), trained_of, ".npz", said("trained.npz", trained_of)),
    ),
    "checkpoint of inference": (4, Target(checkpoints.damaged, checkpoints.continued, "")),
    "checkpoint of inference, one bit": (4, Target(checkpoints.one_bit, checkpoints.continued, "", checkpoints.whole)),
    "checkpoint of inference that lies": (4, Target(checkpoints.lying, checkpoints.continued, "")),
    "index of contexts, one bit": (
        4,
        Target(contexts.one_bit_of_an_index, contexts.index_of, ".contexts", contexts.said_by_index),
    ),
    "index of contexts that lies": (8, Target(contexts.lying_index, contexts.index_of, ".contexts")),
    "words asked of an index": (8, Target(answers.asked_words, answers.counts_of, ".json", answers.counted)),
    "contextual vectors": (5, Target(contexts.damaged_vectors, contexts.contextual_vectors_of, ".npz")),
    "study": (15, Target(study_text, study_of, ".toml")),
    "test set of inference": (8, Target(test_set_text, test_set_of, ".toml")),
    "norms": (8, Target(some_norms, norms_of, ".csv")),
    "relations": (5, Target(some_relations, relations_of, ".csv")),
    "pairs of inference": (6, Target(pairs_text, pairs_of, ".txt")),
    "benchmark": (10, Target(benchmark_text, benchmark_of, ".txt")),
    "model": (15, Target(model_text, model_of, ".toml")),
    "fit, one bit": (3, Target(one_bit("nc"), fit_of, ".nc", said("nc", fit_of))),
    "fit that was tampered with": (1, Target(tampered_fit, fit_of, ".nc")),
    "prior": (1, Target(odd_prior, prior_of, ".txt", warm=compiled)),
    "kept answer, damaged": (8, Target(answers.damaged_answer, answers.answer_of, ".npz", answers.answered)),
    "kept answer that lies": (4, Target(answers.lying_answer, answers.answer_of, ".npz", warm=answers.answered)),
    "frozen plan": (10, Target(answers.frozen_plan_text, answers.frozen_plan_of, ".toml")),
    "plan of an audit": (15, Target(answers.plan_text, answers.plan_of, ".toml")),
    "HDF5 of any storage": (20, Target(storages.hostile_fit, fit_of, ".nc", warm=storages.whole_fit)),
    "places of HDF5": (
        20,
        Target(
            places.hostile_places, lambda path: bombs.in_little_memory(fit_of, path), ".nc", warm=said("nc", fit_of)
        ),
    ),
    "SQLite of contexts": (20, Target(storages.hostile_index, contexts.index_of, ".contexts")),
    "SQLite of a cache": (20, Target(storages.hostile_cache, storages.cache_of, ".sqlite")),
    "modules of an encoder": (20, Target(modules.described_folder, modules.encoder_of, ".json")),
    "member of a zip file": (8, Target(archives.zip_members, archives.member_of(".zip"), ".bomb")),
    "member of a tar file": (8, Target(archives.tar_members, archives.member_of(".tar"), ".bomb")),
    "vectors in cells": (15, Target(layouts.vectors_in_cells, vectors_of, ".csv")),
    "word lists in cells": (10, Target(layouts.words_in_cells, layouts.lists_of, ".csv")),
    "numbers of words": (10, Target(layouts.numbers_of_words, layouts.numbers_of, ".csv")),
    "bomb of arrays": (8, Target(bombs.bomb_of_arrays, bombs.arrays_read_by_name, ".bomb")),
    "bomb of rows": (8, Target(bombs.bomb_of_rows, bombs.rows_of, ".parquet")),
    "bomb of text": (5, Target(bombs.bomb_of_text, bombs.text_of, ".bomb")),
    **(
        {"two users": (2, Target(two_users.plan, two_users.written_of, ".json", warm=two_users.loaded))}
        if _IS_ROOT
        else {}
    ),
    "folder of a model": (8, Target(answers.hostile_folder, answers.model_folder_of, ".json")),
    **{
        f"page: {kind}": (
            0.2,
            Target(pages.hostile_names, pages.page_of(kind), ".json", list, warm=pages.drawn(kind), seconds=60),
        )
        for kind in pages.MAKERS
    },
}


def shares(inputs: int) -> Iterator[tuple[str, Target, int]]:
    """Yield each kind of input, and how many of so many are of this kind."""
    total = sum(share for share, _ in TARGETS.values())
    for name, (share, target) in TARGETS.items():
        yield name, target, max(1, round(inputs * share / total))
