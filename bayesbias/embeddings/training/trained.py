"""Files of trained vectors with their provenance, one for each seed, and a folder of them as a mapping."""

import json
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_path, is_count, is_text
from bayesbias.base.files.inputs import input_file, is_folder, parse_json, printable
from bayesbias.base.files.outputs import atomic_path, create_folder
from bayesbias.base.files.stored_arrays import read_arrays
from bayesbias.base.number_text import visible
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import Embedding, as_vectors
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import EmbeddingError, InputFileError, name_some

_PATTERN = "*_seed*.npz"
# Facts that may differ between the seeds of one training.
_SEED_FACTS = ("seed", "versions")


@dataclass(frozen=True, eq=False, repr=False)
class TrainedEmbeddings(Described, Mapping[int, Embedding]):
    """Embeddings of one training: a mapping of seeds to embeddings, each read from its file on access.

    Parameters
    ----------
    folder
        Folder of the files.
    paths
        File of each seed, with ``words``, ``vectors``, ``provenance`` (JSON), ``context_vectors`` (the weights by which
        negative sampling predicts a word, or GloVe's C), and GloVe's W as ``word_vectors``.
    provenance
        Facts common to all seeds: ``algorithm``, ``settings``, ``corpus`` (name, hash, documents, tokens), ``trainer``
        (program and version), and ``repeats``, whether another run would give the same bits.

    Examples
    --------
    >>> import tempfile
    >>> documents = [["the", "king", "and", "the", "queen"], ["a", "king", "and", "a", "queen"]] * 5
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trained = bb.embeddings.train_embeddings(documents, folder, seeds=[1, 2], dimensions=4, epochs=1)
    ...     print(trained)
    ...     {seed: embedding.words for seed, embedding in trained.items()}
    skipgram, seeds 1 and 2, of lists of words (50 words)
    {1: ('a', 'queen', 'and', 'king', 'the'), 2: ('a', 'queen', 'and', 'king', 'the')}
    """

    folder: Path
    paths: dict[int, Path]
    provenance: dict[str, Any]

    def __getitem__(self, seed: int) -> Embedding:
        if seed not in self.paths:
            raise KeyError(f"There is no seed {seed!r} in {self.folder}; the seeds are {name_some(self.paths)}.")
        return load_embedding(self.paths[seed], name=f"{self.provenance['algorithm']}, seed {seed}")

    def both_matrices(self, training_seed: int) -> tuple[Embedding, Embedding]:
        """Return the word vectors and the context vectors of a seed, for `bb.asymmetry.static`.

        Words whose context vector is 0, because no window had them, are missing from the second.

        Parameters
        ----------
        training_seed
            One of the seeds.

        Raises
        ------
        EmbeddingError
            If the file was written without context vectors.
        """
        if training_seed not in self.paths:
            raise KeyError(
                f"There is no seed {training_seed!r} in {self.folder}; the seeds are {name_some(self.paths)}."
            )
        return read_matrices(self.paths[training_seed], name=f"{self.provenance['algorithm']}, seed {training_seed}")

    def __iter__(self) -> Iterator[int]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def _facts(self) -> Facts:
        return {
            "algorithm": self.provenance["algorithm"],
            "seeds": list(map(str, self.paths)),
            "corpus": str(self.provenance["corpus"]["name"]),
            "folder": str(self.folder),
        }

    def __str__(self) -> str:
        *most, last = map(str, self.paths)
        seeds = f"seeds {', '.join(most)} and {last}" if most else f"seed {last}"
        corpus = self.provenance["corpus"]
        return visible(f"{self.provenance['algorithm']}, {seeds}, of {corpus['name']} ({corpus['tokens']:,} words)")


def read_embeddings(folder: str | os.PathLike[str]) -> TrainedEmbeddings:
    """Return the embeddings that `train_embeddings` wrote into `folder`.

    Raises
    ------
    InputFileError
        If there is no such folder, it holds no trained embeddings, or a file is damaged.
    EmbeddingError
        If the files are from more than one training.
    """
    place = check_path(folder, "folder")
    if not is_folder(place):
        raise InputFileError(f"There is no folder {place}. Give one that train_embeddings wrote.")
    stored = provenances(place)
    if not stored:
        raise InputFileError(f"{place} holds no file {_PATTERN} of trained embeddings. Train some: train_embeddings.")
    (first, facts), *others = stored.items()
    for path, other in others:
        if difference := differing(facts, other):
            raise EmbeddingError(
                f"{path.name} is of another training than {first.name}, in the same folder {place}: {difference}. Keep "
                "each training in a folder of its own."
            )
    paths = dict(sorted((other["seed"], path) for path, other in stored.items()))
    return TrainedEmbeddings(place, paths, {name: value for name, value in facts.items() if name not in _SEED_FACTS})


def read_matrices(path: Path, *, name: str | None = None) -> tuple[Embedding, Embedding]:
    """Return the word vectors and the context vectors of a file that `train_embeddings` wrote."""
    title = printable(path.stem) if name is None else name
    matrices = dict.fromkeys(("vectors", "word_vectors", "context_vectors"), ("f", 2))
    arrays = read_arrays(input_file(path), {"words": ("U", 1), **matrices})
    if not {"words", "vectors", "context_vectors"} <= set(arrays):
        raise EmbeddingError(f"{path} has no context vectors. Train again with this version: train_embeddings.")
    words, contexts = arrays["words"].tolist(), arrays["context_vectors"]
    vectors = arrays.get("word_vectors", arrays["vectors"])
    try:
        return Embedding(words=tuple(words), vectors=vectors, name=title), _contexts(words, contexts, title)
    except EmbeddingError as error:
        raise EmbeddingError(f"{path}: {error}") from error


def _contexts(words: list[str], contexts: Any, title: str) -> Embedding:
    """Return the context vectors of the words that have one; others are zeros."""
    vectors = as_vectors(contexts)
    if len(words) != len(vectors):
        raise EmbeddingError(f"{len(words):,} words have {len(vectors):,} context vectors. Train again.")
    has_length = vectors.any(axis=1)  # a NaN counts, and is refused
    words_with_context = tuple(word for word, keep in zip(words, has_length.tolist(), strict=True) if keep)
    return Embedding(words=words_with_context, vectors=vectors[has_length], name=f"{title}, contexts")


def provenances(folder: Path) -> dict[Path, dict[str, Any]]:
    """Return the provenance of each file of trained vectors in a folder."""
    return {path: _provenance(path) for path in sorted(folder.glob(_PATTERN))}


def is_resampled(path: Path) -> bool:
    """Return whether `train_embeddings` wrote a file of vectors, of resampled documents."""
    if path.suffix.lower() != ".npz":
        return False
    try:
        return "resample" in parse_json(_provenance_text(path))["settings"]
    except (InputFileError, ValueError, TypeError, KeyError):
        return False  # the array may be of another program


def _provenance_text(path: Path) -> str:
    return str(read_arrays(input_file(path), {"provenance": ("U", 0)}).get("provenance", ""))


def _provenance(path: Path) -> dict[str, Any]:
    text = _provenance_text(path)
    try:
        facts = parse_json(text)
        if _is_training(facts) and path == seed_file(path.parent, facts["algorithm"], facts["seed"]):
            return dict(facts)
    except (ValueError, TypeError, KeyError):
        pass
    raise EmbeddingError(f"{path} has no valid provenance: train_embeddings did not write it. Move it away.")


def _is_training(facts: Any) -> bool:
    """Return whether a provenance is complete and valid; raise `KeyError` or `TypeError` if it lacks facts."""
    corpus = facts["corpus"]
    texts = facts["algorithm"], facts["trainer"], corpus["name"], corpus["sha256"]
    counts = facts["seed"], corpus["documents"], corpus["tokens"]
    shaped = isinstance(facts["settings"], dict) and isinstance(facts["repeats"], bool)
    return shaped and all(map(is_text, texts)) and all(map(is_count, counts))


def seed_file(folder: Path, algorithm: str, seed: int) -> Path:
    """Return the file of a seed."""
    return folder / f"{algorithm}_seed{seed}.npz"


def differing(facts: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return how two provenances differ apart from the seed, as text; empty if they do not."""
    facts, other = _flat(facts), _flat(other)
    names = [name for name in {**facts, **other} if facts.get(name) != other.get(name)]
    return "; ".join(f"{name} {_shown(facts.get(name))}, there {_shown(other.get(name))}" for name in names)


def _flat(facts: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: value for name, value in facts.items() if name not in _SEED_FACTS}
    corpus = {"corpus": facts["corpus"]["sha256"]}  # not its name
    return {**facts, **corpus, "settings": None, **facts["settings"]}


def _shown(value: object) -> str:
    return "none" if value is None else value[:12] if isinstance(value, str) and len(value) == 64 else str(value)


def seed_content(words: tuple[str, ...], arrays: dict[str, NDArray[np.float32]], facts: dict[str, Any]) -> bytes:
    """Return the content of the file of one seed; the same vectors and facts give the same bytes."""
    vectors = arrays["vectors"]
    Embedding(words=words, vectors=vectors)  # raises if a vector has no direction
    versions = {name: version(name) for name in ("bayesbias", "numpy")} | {"python": platform.python_version()}
    provenance = json.dumps({**facts, "versions": versions}, ensure_ascii=False)
    content = BytesIO()
    np.savez_compressed(
        content, allow_pickle=False, words=np.asarray(words, dtype=str), provenance=np.asarray(provenance), **arrays
    )
    return content.getvalue()


def write_seed(path: Path, content: bytes) -> None:
    """Write the file of one seed, whole or not at all, into a folder that may be new."""
    create_folder(path.parent)
    with atomic_path(path, overwrite=True) as temporary:
        temporary.write_bytes(content)
