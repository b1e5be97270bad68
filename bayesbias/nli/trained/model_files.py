"""Files of trained models: their content is checked completely when they are read."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import SEED_LIMIT, check_path, is_count, is_number, is_text
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import MeasureError, name_some
from bayesbias.nli.trained.attention_model import MODEL, VECTORS, AttentionModel
from bayesbias.nli.trained.checkpoints import history_frame
from bayesbias.nli.trained.network import weight_shapes
from bayesbias.nli.trained.pytorch import pytorch
from bayesbias.nli.trained.sentences import FIRST, NULL, WordVectors, unit_vectors
from bayesbias.nli.trained.tensor_files import damaged, read_tensors

_CLOSE = 1e-5  # largest difference between equal unit vectors in float32


def load(
    path: str | os.PathLike[str], *, embedding: EmbeddingLike | None = None, progress: bool = True
) -> AttentionModel:
    """Return a model from a file that `AttentionModel.save` wrote.

    Parameters
    ----------
    path
        Path of the file. It need not be trusted: no code is run, and its content is checked.
    embedding
        Vectors that the model was trained with, for words that the file lacks: it holds those that the model had met
        when it was saved, and those of the bundled test sets. If None, other words raise an error that names them.
    progress
        Whether the model shows a progress bar while it answers.

    Raises
    ------
    InputFileError
        If the file does not exist, is damaged or truncated, or is not a model of this package.
    MeasureError
        If PyTorch is not installed, or the embedding differs from that of the training.

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
    facts, arrays = read_tensors(source, MODEL)
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
    """Return the model that a file describes, or None if its parts are inconsistent."""
    matrix = arrays.pop(VECTORS)
    weights = {name.removeprefix("weights/"): array for name, array in arrays.items()}
    settings, words, forms, warned = facts["settings"], facts["words"], facts["forms"], facts["warned"]
    losses, accuracies, sources = facts["losses"], facts["accuracies"], facts["sources"]
    hidden, intra = settings["hidden_units"], settings["intra_attention"]
    sound = (
        isinstance(hidden, int) and isinstance(intra, bool) and hidden > 0 and matrix.ndim == 2
        and is_count(facts["random_seed"]) and facts["random_seed"] < SEED_LIMIT
        and all(map(is_text, settings))
        and all(is_number(number) or isinstance(number, bool) for number in settings.values())
        and {name: array.shape for name, array in weights.items()}
        == weight_shapes(matrix.shape[1], hidden, intra_attention=intra)
        and isinstance(forms, list) and isinstance(words, dict) and isinstance(warned, list)
        and all(map(is_text, [*forms, *words, *warned])) and len(set(forms)) == len(forms)
        and len(matrix) == FIRST + len(forms) and bool((abs(matrix) < 2).all())
        and bool((abs(np.linalg.norm(matrix, axis=1) - 1) < 1e-3).all())
        and all(type(row) is int and NULL < row < len(matrix) for rows in words.values() for row in rows)
        and all(words.values())
        and len(losses) == len(accuracies) > 0 and all(map(is_number, [*losses, *accuracies]))
        and isinstance(sources, dict) and all(map(is_text, [*sources, *sources.values()])) and "embedding" in sources
    )  # fmt: skip
    if not sound:
        return None
    rows = {word: tuple(word_rows) for word, word_rows in words.items()}
    vectors = WordVectors(None, f"The model {source.name}", forms, matrix, rows, set(warned))
    history = history_frame(losses, accuracies)
    return AttentionModel(settings, facts["random_seed"], history, sources, weights, vectors, progress)


def _check_same(vectors: WordVectors, embedding: Embedding, source: Path) -> None:
    """Raise `MeasureError` unless an embedding has the vectors that a model was trained with."""
    wanted = vectors.matrix[FIRST:]
    embedding_words = set(embedding.words)
    there = [row for row, form in enumerate(vectors.forms) if form in embedding_words]
    other = sorted(set(vectors.forms) - {vectors.forms[row] for row in there})
    if there and embedding.dimensions == wanted.shape[1]:
        vectors_there = unit_vectors(embedding.stored([vectors.forms[row] for row in there]))
        far = abs(vectors_there - wanted[there]).max(axis=1) > _CLOSE
        other += [vectors.forms[row] for row, differs in zip(there, far, strict=True) if differs]
    elif there:
        other = vectors.forms
    if other:
        raise MeasureError(
            f"The embedding {embedding.name!r} differs from that of the training of the model {source.name}: "
            f"{len(other):,} of {len(vectors.forms):,} words have other vectors or none: {name_some(other)}. Give the "
            "same embedding, or none."
        )
