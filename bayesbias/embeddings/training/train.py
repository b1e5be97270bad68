"""`train_embeddings`: training with several seeds, with one file of vectors per seed."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bayesbias.base.checks import (
    check_choice,
    check_count,
    check_items,
    check_number,
    check_path,
    resolve_seed,
    shown,
)
from bayesbias.base.files.outputs import check_unshared, check_writable, claimed
from bayesbias.base.machine import require
from bayesbias.base.progress import progress_bar, with_progress
from bayesbias.embeddings.rows import MOST_DIMENSIONS
from bayesbias.embeddings.training.corpus import Corpus, CorpusLike, Trainer, check_neighbours, read_corpus, resampled
from bayesbias.embeddings.training.gensim_trainers import cbow, fasttext, skipgram
from bayesbias.embeddings.training.glove import glove, gn_glove
from bayesbias.embeddings.training.trained import (
    TrainedEmbeddings,
    differing,
    provenances,
    read_embeddings,
    seed_content,
    seed_file,
    write_seed,
)
from bayesbias.errors import (
    ArgumentError,
    ClusterError,
    EmbeddingError,
    NotEnoughMemoryError,
    OutputError,
    TrainingWarning,
    name_some,
    setting,
    warn_user,
)
from bayesbias.workers.cells import Answer, content_digest
from bayesbias.workers.choice import choose_workers
from bayesbias.workers.workers import StartWorkers

CORPUS = "corpus"
"""Name of the only source of trainings."""

type TrainerOf = Callable[[Corpus, dict[str, Any], int], Trainer]
"""Takes a corpus, settings and a number of threads, and returns a function that trains with one seed."""
_MOST = 1_000_000  # gensim hangs if a number overflows its own type


@dataclass(frozen=True, eq=False)
class TrainingCell:
    """A training with one seed; its answer has the content of the file.

    - `package`: name of the package that trains; a worker must have the version that the facts name.
    - `facts`: what the file says of the training.
    - `seed`: seed of the training.
    """

    trainer_of: TrainerOf
    package: str
    facts: dict[str, Any]
    seed: int
    source: str = CORPUS

    @property
    def digest(self) -> str:
        """Hash of all that enters the answer."""
        return content_digest([self.facts, self.seed])

    def answer(self, source: Corpus) -> Answer:
        """Return the content of the file."""
        if (here := package_with_version(self.package)) != self.facts["trainer"]:
            raise ClusterError(
                f"This worker has {here}, and the run was started with {self.facts['trainer']}. Install the same."
            )
        words, train = words_and_trainer(self.trainer_of, source, self.facts["settings"], self.seed)
        arrays = train(self.seed, lambda _: None)
        return Answer({}, objects={"content": seed_content(words, arrays, {**self.facts, "seed": self.seed})})


def package_with_version(package: str) -> str:
    """Return the name and the version of a package that trains, as files say them; raise an error if it is missing."""
    require(package, None, "This algorithm", error=EmbeddingError, advice="Or take the algorithm glove.")
    return f"{package} {version(package)}"


def words_and_trainer(
    trainer_of: TrainerOf, text: Corpus, settings: dict[str, Any], seed: int, *, threads: int = 1
) -> tuple[tuple[str, ...], Trainer]:
    """Return the words that get vectors, and the function that trains them, on drawn documents if settings say so."""
    if "resample" in settings:
        # A drawn document counts as often as it is drawn; which words have vectors was decided by the whole corpus.
        text, settings = resampled(text, seed), {**settings, "min_count": 1}
    return text.words, trainer_of(text, settings, threads)


def bytes_of_training(text: Corpus, settings: dict[str, Any]) -> int:
    """Return the least bytes that a training takes: the corpus, with its draw, and two matrices.

    >>> from bayesbias.embeddings.training.corpus import read_corpus
    >>> text = read_corpus([["a", "b", "a"], ["b", "c"]], min_count=1)
    >>> bytes_of_training(text, {"dimensions": 10}), 4 * len(text.stream) + 4 * 2 * 3 * 10
    (268, 268)
    """
    copies = 5 if "resample" in settings else 1
    rows = 2 * len(text.words) + settings.get("buckets", 0)
    return int(copies * text.stream.nbytes + 4 * rows * settings["dimensions"])


@dataclass(frozen=True)
class Algorithm:
    """A training algorithm: its function, the defaults of its settings, and its fixed settings.

    `train` takes a corpus, settings and a number of threads, and returns a function that trains with one seed.
    `parallel_repeats` is True if the result is the same with any number of threads.
    """

    train: TrainerOf
    package: str
    defaults: Mapping[str, Any]
    fixed: Mapping[str, Any]
    parallel_repeats: bool = False


_WORD2VEC_DEFAULTS = MappingProxyType({"window": 5, "epochs": 5, "negative": 5})
_WORD2VEC_FIXED = MappingProxyType({"sample": 1e-3, "learning_rate": 0.025, "last_learning_rate": 1e-4})
_GLOVE_DEFAULTS = MappingProxyType({"window": 15, "epochs": 15, "x_max": 100.0, "alpha": 0.75})
_GLOVE_FIXED = MappingProxyType({"learning_rate": 0.05})
ALGORITHMS: dict[str, Algorithm] = {
    "skipgram": Algorithm(skipgram, "gensim", _WORD2VEC_DEFAULTS, _WORD2VEC_FIXED),
    "cbow": Algorithm(cbow, "gensim", _WORD2VEC_DEFAULTS, _WORD2VEC_FIXED),
    "fasttext": Algorithm(
        fasttext, "gensim", _WORD2VEC_DEFAULTS, {**_WORD2VEC_FIXED, "min_n": 3, "max_n": 6, "buckets": 2_000_000}
    ),
    "glove": Algorithm(glove, "numba", _GLOVE_DEFAULTS, _GLOVE_FIXED, parallel_repeats=True),
    "gn_glove": Algorithm(
        gn_glove,
        "numba",
        _GLOVE_DEFAULTS,
        {**_GLOVE_FIXED, "apart_weight": 0.8, "neutral_weight": 0.8},
        parallel_repeats=True,
    ),
}


def train_embeddings(
    corpus: CorpusLike,
    folder: str | os.PathLike[str],
    *,
    algorithm: str = "skipgram",
    seeds: Iterable[int] = (1, 2, 3),
    dimensions: int = 300,
    min_count: int = 5,
    window: int | None = None,
    epochs: int | None = None,
    negative: int | None = None,
    x_max: float | None = None,
    alpha: float | None = None,
    resample: str | None = None,
    pairs: Iterable[Sequence[str]] | None = None,
    sides: Iterable[Sequence[str]] | None = None,
    threads: int = 1,
    workers: int | None = None,
    scheduler: str | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> TrainedEmbeddings:
    """Return embeddings trained on a corpus with several seeds, to show how results depend on the seed.

    Each seed has one file, ``ALGORITHM_seedSEED.npz``, written when its training ends. The same call continues an
    interrupted run: existing files of the same corpus and settings are kept.

    Parameters
    ----------
    corpus
        UTF-8 text file, gzipped or not, with one document per line; or a folder whose files (``.txt``, ``.txt.gz``,
        also in subfolders) are one document each. Text is lower-cased and split into words without numbers and
        punctuation. Or an iterable of documents, each a list of words, taken as they are. The corpus is read once into
        memory, at 4 bytes per word. Windows do not cross documents.
    folder
        Folder of the files, created if necessary; it holds one training.
    algorithm
        ``"skipgram"`` or ``"cbow"`` (word2vec with negative sampling), ``"fasttext"`` (skip-gram with n-grams of 3 to 6
        letters), all by gensim, which Python 3.14 lacks; ``"glove"``; or ``"gn_glove"``, GloVe whose last component
        separates two sides, such as gender. `bb.debias.GNGloVe` drops that component.
    seeds
        Distinct whole numbers. A seed determines the starting values, and the order or the samples of the training.
    dimensions
        Dimensions of a vector.
    min_count
        Smallest number of occurrences of words with a vector.
    window
        Largest distance, in words, between a word and its context. Default: 5; GloVe 15.
    epochs
        Passes over the corpus, or over its co-occurrences for GloVe. Default: 5; GloVe 15.
    negative
        Noise words for each context word (not GloVe). Default: 5.
    x_max, alpha
        Parameters of GloVe's weights, min(1, (X / x_max)^alpha). Defaults: 100, 0.75.
    resample
        ``"documents"``: each seed is trained on as many documents, drawn with replacement from those of the corpus, so
        that embeddings differ as those of other samples of such documents would; the seed determines the draw, too.
        Words need `min_count` occurrences in the whole corpus, and one among the drawn documents. None: all documents,
        each once. `bayesbias.compare_trainings` compares both kinds.
    pairs
        Pairs of words that define the direction between the sides (GN-GloVe only, which needs them), such as the
        ``definitional`` sets of `bb.debias.load_debias_words`. A pair of which the corpus lacks a word is left out.
    sides
        Two lists of words: the last component is driven to 1 for those of the first, to -1 for those of the second; all
        other words are kept neutral (GN-GloVe only). Default: the first and the second words of the pairs.
    threads
        Number of threads of one training. With 1 (for GloVe with any number), the same seed, corpus, settings and
        versions give the same file bit for bit on the same machine. gensim with more threads does not, and a
        `TrainingWarning` is given.
    workers
        Number of processes of this machine, of one core each, that train several seeds at once, as in
        `bayesbias.audit`. 1: this process, with one core. None: this process, one seed after the other, with `threads`.
        The files are the same with any number of workers.
    scheduler
        Address of a Dask scheduler whose workers train, such as ``"tls://10.0.0.1:8786"``, as in `bayesbias.audit`.
        Workers are sent the corpus, and this process writes the files: they need neither the path of the corpus nor
        that of the folder.
    overwrite
        Whether files of another training with the same names may be replaced.
    progress
        Whether to show a bar with words per second and the time left.

    Returns
    -------
    TrainedEmbeddings
        A mapping of all seeds in the folder to embeddings, whose words are sorted by frequency. GloVe's vectors are W +
        C, as its authors publish them. `both_matrices` returns word vectors and context vectors apart.

    Raises
    ------
    ArgumentError
        If an argument is not usable, or the algorithm has no such setting.
    EmbeddingError
        If fewer than two words occur `min_count` times, or no document has two of these; or if the algorithm is
        gensim's, which Python 3.14 lacks.
    InputFileError
        If the corpus cannot be read.
    NotEnoughMemoryError
        If corpus, vectors or co-occurrences do not fit into memory, or a training not into that of a worker.
    ClusterError
        If a scheduler does not answer, workers are lost, or a training fails on a worker. All others are written, and
        the same call trains those that lack.
    OutputError
        If the folder holds another training or cannot be written.

    References
    ----------
    Du, Fang and Nguyen (2021), *Assessing the reliability of word embedding gender bias measures*, section 5.1, whose
    settings are the defaults. Mikolov et al. (2013) for skip-gram and CBOW; Bojanowski et al. (2017) for fastText;
    Pennington, Socher and Manning (2014) for GloVe; Zhao, Zhou, Li, Wang and Chang (2018), *Learning gender-neutral
    word embeddings*, section 3, for GN-GloVe.

    Examples
    --------
    >>> import tempfile
    >>> documents = [["the", "king", "and", "the", "queen"], ["a", "king", "and", "a", "queen"]] * 5
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     settings = {"algorithm": "glove", "dimensions": 4, "epochs": 2, "seeds": [1, 7]}
    ...     trained = bb.embeddings.train_embeddings(documents, folder, **settings)
    ...     [path.name for path in trained.paths.values()], trained[7]
    (['glove_seed1.npz', 'glove_seed7.npz'], Embedding(name='glove, seed 7', words=5, dimensions=4, case='exact'))
    """
    chosen = ALGORITHMS[check_choice("algorithm", algorithm, ALGORITHMS)]
    wanted = _seeds(seeds)
    given = {"window": window, "epochs": epochs, "negative": negative, "x_max": x_max, "alpha": alpha}
    settings = {
        "dimensions": check_count("dimensions", dimensions, most=MOST_DIMENSIONS),
        "min_count": check_count("min_count", min_count),
        **_settings(algorithm, given),
        **_sides(algorithm, pairs, sides),
    }
    if resample is not None:
        settings["resample"] = check_choice("resample", resample, ("documents",))
    threads = check_count("threads", threads)
    start_workers = choose_workers(workers, scheduler, verbose=bool(progress))
    on_workers = workers is not None or scheduler is not None
    if on_workers and threads > 1:
        raise ArgumentError(f"threads={threads}: a worker has one core. Give threads, or workers or a scheduler.")
    trainer = package_with_version(chosen.package)
    place = _folder(folder)
    with claimed(place):
        text = read_corpus(corpus, min_count=settings["min_count"])
        facts = {
            "algorithm": algorithm,
            "settings": settings,
            "corpus": text.facts(),
            "trainer": trainer,
            "repeats": threads == 1 or chosen.parallel_repeats,
        }
        if missing := _missing(place, facts, wanted, overwrite=overwrite):
            if not facts["repeats"]:
                warn_user(
                    f"With {threads} threads, {algorithm} will not give the same vectors again, even with the same "
                    "seed. Take threads=1 if they must be repeated.",
                    TrainingWarning,
                )
            if on_workers:
                cells = [TrainingCell(chosen.train, chosen.package, facts, seed) for seed in missing]
                _train_on_workers(cells, text, place, start_workers, progress=progress)
            else:
                _train(chosen, text, facts, missing, place, threads=threads, progress=progress)
    return read_embeddings(place)


def _train(
    chosen: Algorithm,
    text: Corpus,
    facts: dict[str, Any],
    seeds: list[int],
    place: Path,
    *,
    threads: int,
    progress: bool,
) -> None:
    """Train with one seed after the other, in this process."""
    settings = facts["settings"]
    made = None  # shared by all seeds, unless each has documents of its own
    words_to_read = len(seeds) * text.tokens * settings["epochs"]
    with progress_bar(words_to_read, facts["algorithm"], progress=progress, unit="words") as bar:
        for number, seed in enumerate(seeds, 1):
            bar.describe(f"{facts['algorithm']}, seed {seed} ({number} of {len(seeds)})")
            if made is None or "resample" in settings:
                made = words_and_trainer(chosen.train, text, settings, seed, threads=threads)
            words, train = made
            content = seed_content(words, train(seed, bar.advance), {**facts, "seed": seed})
            write_seed(seed_file(place, facts["algorithm"], seed), content)


def _train_on_workers(
    cells: list[TrainingCell], text: Corpus, place: Path, start_workers: StartWorkers, *, progress: bool
) -> None:
    """Train each seed on one of the workers, and write its file here as soon as it comes."""
    facts, failed = cells[0].facts, list[str]()
    check_neighbours(text, facts["settings"]["min_count"])
    what_stays = f"Trainings that ended are in {place}: run it again, and it goes on."
    with start_workers() as team:
        if (needed := bytes_of_training(text, facts["settings"])) > team.memory:
            raise NotEnoughMemoryError(
                f"A training needs at least {needed / 1e9:,.1f} GB, and a worker has {team.memory / 1e9:,.1f} GB. Take "
                "fewer workers or dimensions, or a larger min_count."
            )
        steps = with_progress(range(len(cells)), "Trainings", progress=progress)
        try:
            for _, (cell, ended) in zip(steps, team.outcomes({CORPUS: text}, cells), strict=True):
                if isinstance(ended, str):
                    failed.append(f"seed {cell.seed}: {ended}")
                else:
                    write_seed(seed_file(place, facts["algorithm"], cell.seed), ended.objects["content"])
        except ClusterError as error:
            raise ClusterError(f"{error} {what_stays}") from error
    if failed:
        count = f"{len(failed):,} of {len(cells):,}"
        raise ClusterError(f"{count} trainings failed on the workers: {failed[0].rstrip('.')}. {what_stays}")


def _missing(place: Path, facts: dict[str, Any], wanted: list[int], *, overwrite: bool) -> list[int]:
    """Return the seeds without a file of this training; raise `OutputError` if files of another are in the way."""
    stored = {}
    if place.is_dir():
        check_unshared(place / "vectors")  # another user may have made it meanwhile
        stored = provenances(place)
    names = {seed: seed_file(place, facts["algorithm"], seed) for seed in wanted}
    others = {path: difference for path, other in stored.items() if (difference := differing(facts, other))}
    not_replaced = [path for path in others if path not in names.values()]
    if others and not overwrite:
        path, difference = next(iter(others.items()))
        raise OutputError(
            f"{place} holds another training: {name_some(other.name for other in others)}. This one has {difference} "
            f"({path.name}). Give another folder, or allow overwriting ({setting('overwrite', True)})."
        )
    if not_replaced:
        raise OutputError(
            f"{place} holds seeds of another training that would remain beside the new ones: "
            f"{name_some(path.name for path in not_replaced)}. Give another folder, or remove them."
        )
    return [seed for seed, path in names.items() if path not in stored or path in others]


def _settings(algorithm: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the user's settings or the algorithm's defaults, checked, and its fixed settings."""
    chosen = ALGORITHMS[algorithm]
    for name, value in given.items():
        if value is not None and name not in chosen.defaults:
            owners = [owner for owner, other in ALGORITHMS.items() if name in other.defaults]
            raise ArgumentError(
                f"{name}={value!r}: {algorithm} lacks this setting of {', '.join(owners)}. Leave it out."
            )
    settings: dict[str, Any] = {}
    for name, default in chosen.defaults.items():
        value = default if given[name] is None else given[name]
        if not isinstance(default, int):
            settings[name] = check_number(name, value, low=0, high=1e9, above=True)
        else:
            settings[name] = check_count(name, value, most=None if name == "epochs" else _MOST)
    return {**settings, **chosen.fixed}


def _sides(algorithm: str, pairs: Any, sides: Any) -> dict[str, list[list[str]]]:
    """Return pairs and sides as lists, for GN-GloVe alone."""
    if algorithm != "gn_glove":
        for name, value in (("pairs", pairs), ("sides", sides)):
            if value is not None:
                raise ArgumentError(f"{name}: {algorithm} lacks this setting of gn_glove. Leave it out.")
        return {}
    what = "pairs of words, such as [['she', 'he'], ['woman', 'man']]"
    pair_lists = [_texts("pairs", pair, what) for pair in check_items("pairs", pairs, what)]
    if not pair_lists or any(len(set(pair)) != 2 or len(pair) != 2 for pair in pair_lists):
        raise ArgumentError(f"pairs: give {what}, each of two different words.")
    given = list(map(list, zip(*pair_lists, strict=True))) if sides is None else sides
    what = "two lists of words"
    side_lists = [list(dict.fromkeys(_texts("sides", side, what))) for side in check_items("sides", given, what)]
    if len(side_lists) != 2 or not all(side_lists):
        raise ArgumentError(f"sides: there are {len(side_lists)}. Give {what}, neither of them empty.")
    if shared := set(side_lists[0]) & set(side_lists[1]):
        raise ArgumentError(f"{min(shared)!r} is on both sides. Keep it on one.")
    return {"pairs": pair_lists, "sides": side_lists}


def _texts(name: str, words: Any, what: str) -> list[str]:
    given = list(check_items(name, words, what))
    if not all(isinstance(word, str) and word for word in given):
        raise ArgumentError(f"{name}: {shown(given)} holds something that is not a word. Give {what}.")
    return given


def _seeds(seeds: Any) -> list[int]:
    given = check_items("seeds", seeds, "a list of whole numbers, such as range(1, 9)")
    try:
        checked = [resolve_seed(seed) for seed in given if seed is not None]
    except ArgumentError as error:
        raise ArgumentError(
            str(error).replace("random_seed=", "seeds: ").replace(", or None to have one drawn", "")
        ) from error
    if not checked or len(checked) < len(given) or len(set(checked)) < len(checked):
        raise ArgumentError(f"seeds={seeds!r}: give one or more distinct whole numbers.")
    check_count("seeds", len(checked))
    return checked


def _folder(folder: str | os.PathLike[str]) -> Path:
    """Return the folder if files can be written to it."""
    place = check_path(folder, "folder")
    if place.exists() and not place.is_dir():
        raise OutputError(f"{place} is a file. Give a folder.")
    if not place.is_dir() and not place.parent.is_dir():
        raise OutputError(f"Cannot write {place}: the folder {place.parent} does not exist. Create it first.")
    if place.is_dir():
        check_unshared(place / "vectors")
    else:
        check_writable(place.parent)
    return place
