"""Files of trained models: written whole, and checked in all that they say when they are read."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import SEED_LIMIT, check_path, is_count, is_number, is_text
from bayesbias.base.files import bundled
from bayesbias.base.outputs import check_output
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import MeasureError, name_some
from bayesbias.nli.test_sets.definition import read_definition
from bayesbias.nli.test_sets.generation import list_test_sets
from bayesbias.nli.trained.attention_model import AttentionModel
from bayesbias.nli.trained.checkpoints import history_frame
from bayesbias.nli.trained.network import weight_shapes
from bayesbias.nli.trained.pytorch import pytorch
from bayesbias.nli.trained.sentences import FIRST, NULL, WordVectors, unit_vectors, words_of
from bayesbias.nli.trained.tensor_files import damaged, read_tensors, write_tensors

_KIND = "model"
_VECTORS = "vectors"
_CLOSE = 1e-5  # of vectors of length 1 in float32


def write_model(model: AttentionModel, path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Write a model with the vectors of all words that it has met, and of those of the bundled test sets."""
    place = check_output(path, overwrite=overwrite)
    vectors = model.vectors
    if vectors.embedding is not None:
        vectors.look_up(_test_words())
    facts = {
        "settings": dict(model.settings),
        "random_seed": model.random_seed,
        "sources": dict(model.sources),
        "losses": model.history["loss"].tolist(),
        "accuracies": model.history["accuracy"].tolist(),
        "forms": vectors.forms,
        "words": {word: list(rows) for word, rows in vectors.words.items()},
        "warned": sorted(vectors.told),
    }
    arrays = {**{f"weights/{name}": each for name, each in model.weights.items()}, _VECTORS: vectors.matrix}
    write_tensors(place, _KIND, facts, arrays, overwrite=overwrite)
    return place


def load(
    path: str | os.PathLike[str], *, embedding: EmbeddingLike | None = None, progress: bool = True
) -> AttentionModel:
    """Load a model that `AttentionModel.save` wrote.

    Parameters
    ----------
    path
        Its file. It may come from a stranger: no code in it is run, and all that it says is checked.
    embedding
        The vectors that it was trained with, for sentences with words that the file does not hold: it holds those that
        the model had met when it was saved, and those of the bundled test sets. If it is left out, other words are an
        error that names them.
    progress
        Whether the model shows a bar while it answers.

    Raises
    ------
    InputFileError
        If the file is not there, is damaged or cut short, or is none of ours.
    MeasureError
        If PyTorch is not installed, or the embedding has other vectors than the model was trained with.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> labels = ["neutral", "entailment", "contradiction"]
    >>> pairs = pd.DataFrame({"premise": ["A man sleeps"] * 3, "label": labels})
    >>> pairs["hypothesis"] = ["A man eats", "A man sleeps", "Nobody sleeps"]
    >>> vectors = dict(zip(["a", "man", "sleeps", "eats", "nobody"], np.eye(5)))
    >>> model = bb.nli.train(vectors, pairs, development=pairs, hidden_units=4, epochs=1, random_seed=1)
    >>> again = bb.nli.load(model.save(f"{mkdtemp()}/model.safetensors"))
    >>> bool((again(["A man eats"], ["Nobody eats"]) == model(["A man eats"], ["Nobody eats"])).all())
    True
    """
    source = check_path(path)
    facts, arrays = read_tensors(source, _KIND)
    pytorch()
    try:
        model = _model(facts, arrays, source, progress=progress)
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise damaged(source) from fault
    if model is None:
        raise damaged(source)
    if embedding is not None:
        loaded = embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
        _check_same(model.vectors, loaded, source)
        model.vectors.embedding = loaded
    return model


def _model(
    facts: Mapping[str, Any], arrays: dict[str, Floats], source: Path, *, progress: bool
) -> AttentionModel | None:
    """Return the model that a file describes, or None where its parts do not fit each other."""
    matrix = arrays.pop(_VECTORS)
    weights = {name.removeprefix("weights/"): each for name, each in arrays.items()}
    settings, words, forms, told = facts["settings"], facts["words"], facts["forms"], facts["warned"]
    losses, accuracies, sources = facts["losses"], facts["accuracies"], facts["sources"]
    hidden, intra = settings["hidden_units"], settings["intra_attention"]
    sound = (
        isinstance(hidden, int) and isinstance(intra, bool) and hidden > 0 and matrix.ndim == 2
        and is_count(facts["random_seed"]) and facts["random_seed"] < SEED_LIMIT
        and all(map(is_text, settings)) and all(is_number(each) or isinstance(each, bool) for each in settings.values())
        and {name: each.shape for name, each in weights.items()}
        == weight_shapes(matrix.shape[1], hidden, intra_attention=intra)
        and isinstance(forms, list) and isinstance(words, dict) and isinstance(told, list)
        and all(map(is_text, [*forms, *words, *told])) and len(set(forms)) == len(forms)
        and len(matrix) == FIRST + len(forms) and bool((abs(np.linalg.norm(matrix, axis=1) - 1) < 1e-3).all())
        and all(type(row) is int and NULL < row < len(matrix) for rows in words.values() for row in rows)
        and all(words.values())
        and len(losses) == len(accuracies) > 0 and all(map(is_number, [*losses, *accuracies]))
        and isinstance(sources, dict) and all(map(is_text, [*sources, *sources.values()])) and "embedding" in sources
    )  # fmt: skip
    if not sound:
        return None
    rows = {word: tuple(each) for word, each in words.items()}
    vectors = WordVectors(None, f"The model {source.name}", forms, matrix, rows, set(told))
    history = history_frame(losses, accuracies)
    return AttentionModel(settings, facts["random_seed"], history, sources, weights, vectors, progress)


def _check_same(vectors: WordVectors, embedding: Embedding, source: Path) -> None:
    """Raise `MeasureError` unless an embedding has the vectors that a model was trained with."""
    wanted = vectors.matrix[FIRST:]
    known = set(embedding.words)
    there = [at for at, form in enumerate(vectors.forms) if form in known]
    other = sorted(set(vectors.forms) - {vectors.forms[at] for at in there})
    if there and embedding.dimensions == wanted.shape[1]:
        found = unit_vectors(embedding.stored([vectors.forms[at] for at in there]))
        far = abs(found - wanted[there]).max(axis=1) > _CLOSE
        other += [vectors.forms[at] for at, each in zip(there, far, strict=True) if each]
    elif there:
        other = vectors.forms
    if other:
        raise MeasureError(
            f"The embedding {embedding.name!r} is not that which the model {source.name} was trained with: "
            f"{len(other):,} of {len(vectors.forms):,} words have other vectors or none: {name_some(other)}. Give the "
            "same embedding, or leave it out."
        )


def _test_words() -> set[str]:
    """Return the words of the bundled test sets."""
    found = set()
    for name in list_test_sets():
        made = read_definition(bundled("data", "nli", f"{name}.toml"))
        texts = [re.sub(r"\{\w*\}", " ", each) for each in (made.premise, made.hypothesis)]
        texts += [*made.subjects, *map(made.articles.put, made.subjects)]
        texts += [text for _, text, _ in made.words] + [f"{verb} {thing}" for verb, _, thing in made.pairs]
        found |= {word for text in texts for word in words_of(text)}
    return found
