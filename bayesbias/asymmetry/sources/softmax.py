"""Softmax over a vocabulary, block by block; arrays in, arrays out."""

import numpy as np

from bayesbias.base.arrays import Floats

BLOCK = 512
"""Cues whose projections on the whole vocabulary are held at once."""


def log_normalisers(cues: Floats, vocabulary: Floats, temperature: float = 1.0) -> Floats:
    """Return log of the sum over the vocabulary of exp(<v, c> / (|c| temperature)), one a cue c.

    Parameters
    ----------
    cues : array, shape (cues, dimensions)
        Of any length: they are divided by it.
    vocabulary : array, shape (words, dimensions)
        The v, as they are.
    temperature
        Above 0.

    Examples
    --------
    >>> log_normalisers(np.array([[2.0, 0.0]]), np.array([[1.0, 5.0], [1.0, 7.0]])).round(4)
    array([1.6931])
    """
    found = np.empty(len(cues), dtype=np.float64)
    turned = np.ascontiguousarray(vocabulary.T)
    logits = np.empty((min(BLOCK, len(cues)), len(vocabulary)), dtype=np.result_type(cues, vocabulary))
    for start in range(0, len(cues), BLOCK):
        block = scaled(cues[start : start + BLOCK], temperature).astype(logits.dtype, copy=False)
        part = logits[: len(block)]
        np.matmul(block, turned, out=part)
        highest = part.max(axis=1)
        part -= highest[:, np.newaxis]
        np.exp(part, out=part)
        found[start : start + BLOCK] = np.log(part.sum(axis=1, dtype=np.float64)) + highest
    return found


def scaled(cues: Floats, temperature: float) -> Floats:
    """Return cues of the length 1 / temperature, in their own precision."""
    lengths = np.sqrt(np.einsum("ij,ij->i", cues, cues, dtype=np.float64))
    found: Floats = (cues / (lengths * temperature)[:, np.newaxis]).astype(cues.dtype)
    return found
