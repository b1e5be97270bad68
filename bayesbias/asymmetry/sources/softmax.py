"""Normalisers of a softmax over a vocabulary, computed in blocks; arrays in, arrays out."""

import numpy as np

from bayesbias.base.arrays import Floats

BLOCK = 512
"""Number of cues whose projections on the whole vocabulary are in memory at once."""


def log_normalisers(cues: Floats, vocabulary: Floats, temperature: float = 1.0) -> Floats:
    """Return the log of the sum over the vocabulary of exp(<v, c> / (|c| temperature)) for each cue c.

    Parameters
    ----------
    cues : array, shape (cues, dimensions)
        Vectors c of any length.
    vocabulary : array, shape (words, dimensions)
        Vectors v.
    temperature
        Positive number.

    Examples
    --------
    >>> log_normalisers(np.array([[2.0, 0.0]]), np.array([[1.0, 5.0], [1.0, 7.0]])).round(4)
    array([1.6931])
    """
    normalisers = np.empty(len(cues), dtype=np.float64)
    turned = np.ascontiguousarray(vocabulary.T)
    logits = np.empty((min(BLOCK, len(cues)), len(vocabulary)), dtype=np.result_type(cues, vocabulary))
    for start in range(0, len(cues), BLOCK):
        block = scaled(cues[start : start + BLOCK], temperature).astype(logits.dtype, copy=False)
        part = logits[: len(block)]
        np.matmul(block, turned, out=part)
        highest = part.max(axis=1)
        part -= highest[:, np.newaxis]
        np.exp(part, out=part)
        normalisers[start : start + BLOCK] = np.log(part.sum(axis=1, dtype=np.float64)) + highest
    return normalisers


def scaled(cues: Floats, temperature: float) -> Floats:
    """Return cues scaled to the length 1 / temperature, in the same precision."""
    lengths = np.sqrt(np.einsum("ij,ij->i", cues, cues, dtype=np.float64))
    vectors: Floats = (cues / (lengths * temperature)[:, np.newaxis]).astype(cues.dtype)
    return vectors
