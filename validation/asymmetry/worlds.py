"""Worlds of associations whose true probabilities are known, none of them made by the package's prior."""

import numpy as np

WORDS, FRIENDS = 400, 30
CUES = 6 / 7  # a seventh of the answers is given to words that are no cues
WORLDS = {
    "zipf": "a cue's answers fall like rank ** -1.4, as in Zipf's law",
    "log-normal": "a cue's answers are log-normal, with a standard deviation of 1.5",
    "dirichlet": "a cue's answers are drawn from a Dirichlet distribution with 0.3 for each",
    "softmax": "a softmax of cosines of 20 dimensions over 0.08: both directions are nearly alike",
    "softmax, middle": "a softmax of cosines of 50 dimensions over 0.03",
    "softmax, sharp": "a softmax of cosines of 10 dimensions over 0.02: they differ by a factor of 30 and more",
    "topics": "P(b given a) of 40 topics, each of a few words",
    "co-occurrence": "symmetric counts of pairs, divided by those of the cue",
    "one way": "half of the related pairs are 1,000 times rarer in one direction",
}


def world(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return the true probabilities of answers, of shape (cues, words)."""
    weights = _WEIGHTS[kind](rng)
    np.fill_diagonal(weights, 0.0)
    totals = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0) * CUES


def _related(rng: np.random.Generator) -> np.ndarray:
    related = np.triu(rng.random((WORDS, WORDS)) < FRIENDS / WORDS, 1)
    return related | related.T


def _strength(rng: np.random.Generator) -> np.ndarray:
    popular = np.log(rng.pareto(1.2, WORDS) + 0.2)
    bond = np.triu(rng.standard_normal((WORDS, WORDS)), 1)
    return popular + (bond + bond.T) * 0.7 + rng.standard_normal((WORDS, WORDS))


def _zipf(rng: np.random.Generator) -> np.ndarray:
    related = _related(rng)
    rank = (-np.where(related, _strength(rng), -np.inf)).argsort(axis=1).argsort(axis=1) + 1
    return np.where(related, rank**-1.4, 0.0)


def _log_normal(rng: np.random.Generator) -> np.ndarray:
    related, strength = _related(rng), _strength(rng)
    return np.where(related, np.exp(1.5 / strength[related].std() * strength), 0.0)


def _dirichlet(rng: np.random.Generator) -> np.ndarray:
    # Below 1e-12 of a cue's answers the logarithm of a ratio has no meaning.
    return np.where(_related(rng), np.maximum(rng.gamma(0.3, size=(WORDS, WORDS)), 1e-12), 0.0)


def _softmax(dimensions: int, temperature: float, rng: np.random.Generator) -> np.ndarray:
    vectors = rng.standard_normal((WORDS, dimensions))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    logits = vectors @ vectors.T / temperature
    np.fill_diagonal(logits, -np.inf)
    return np.exp(logits - logits.max(axis=1, keepdims=True))


def _topics(rng: np.random.Generator) -> np.ndarray:
    topics, shares = rng.dirichlet(np.full(WORDS, 0.05), 40), rng.dirichlet(np.ones(40))
    of_words = topics * shares[:, np.newaxis]
    return (of_words / of_words.sum(axis=0)).T @ topics


def _co_occurrence(rng: np.random.Generator) -> np.ndarray:
    popular = rng.pareto(1.2, WORDS) + 0.2
    bond = np.triu(rng.standard_normal((WORDS, WORDS)), 1) * 2.5
    return np.exp(bond + bond.T) * np.outer(popular, popular)


def _one_way(rng: np.random.Generator) -> np.ndarray:
    bond = np.triu(1.3 * rng.standard_normal((WORDS, WORDS)), 1)
    one_way, forward = np.triu(rng.random((2, WORDS, WORDS)) < 0.5, 1)
    rarer = 0.001 ** ((one_way & forward).astype(float) + (one_way & ~forward).T)
    noise = 0.5 * rng.standard_normal((WORDS, WORDS))
    return np.where(_related(rng), np.exp(bond + bond.T + noise) * rarer, 0.0)


_WEIGHTS = {
    "zipf": _zipf,
    "log-normal": _log_normal,
    "dirichlet": _dirichlet,
    "softmax": lambda rng: _softmax(20, 0.08, rng),
    "softmax, middle": lambda rng: _softmax(50, 0.03, rng),
    "softmax, sharp": lambda rng: _softmax(10, 0.02, rng),
    "topics": _topics,
    "co-occurrence": _co_occurrence,
    "one way": _one_way,
}
