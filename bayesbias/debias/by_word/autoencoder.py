"""An autoencoder of one hidden layer and two classifiers of it: values and gradients, as arrays."""

from dataclasses import dataclass, field

import numpy as np

from bayesbias.base.arrays import Floats

Weights = dict[str, Floats]


@dataclass
class Adam:
    """Adam of Kingma and Ba (2015), algorithm 1, with its usual constants."""

    rate: float
    step: int = 0
    moments: dict[str, list[Floats]] = field(default_factory=dict)

    def update(self, weights: Weights, slopes: Weights) -> None:
        """Change weights in place."""
        self.step += 1
        for name, slope in slopes.items():
            mean, square = self.moments.setdefault(name, [np.zeros_like(slope), np.zeros_like(slope)])
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope * slope - square)
            size = np.sqrt(square / np.float32(1 - 0.999**self.step)) + np.float32(1e-8)
            weights[name] -= np.float32(self.rate / (1 - 0.9**self.step)) * mean / size


def first_weights(dimensions: int, generator: np.random.Generator) -> Weights:
    """Return weights drawn evenly within one over the square root of the dimensions, as PyTorch's layers begin."""
    bound = 1 / np.sqrt(dimensions)
    shapes: dict[str, tuple[int, ...]] = {"first": (dimensions,), "second": (dimensions,)}
    shapes |= {"first_bias": (1,), "second_bias": (1,)}
    shapes |= {"encoder": (dimensions, dimensions), "decoder": (dimensions, dimensions)}
    shapes |= {"encoder_bias": (dimensions,), "decoder_bias": (dimensions,)}
    return {name: generator.uniform(-bound, bound, size=shape).astype(np.float32) for name, shape in shapes.items()}


def encoded(rows: Floats, weights: Weights) -> Floats:
    """Return the hidden layer: ``tanh(x W + b)``."""
    hidden: Floats = np.tanh(rows @ weights["encoder"] + weights["encoder_bias"])
    return hidden


def reconstruction(rows: Floats, seen: Floats, weights: Weights) -> tuple[float, Floats, Floats, Weights]:
    """Return the mean squared error of the decoded rows, the hidden layer, and the slopes of the error.

    Parameters
    ----------
    rows
        What is to come out.
    seen
        What goes in: the rows, some entries of which are dropped.
    weights
        Of encoder and decoder.

    Returns
    -------
    error, hidden, slope of hidden, slopes of the decoder's weights
    """
    hidden = encoded(seen, weights)
    out = np.tanh(hidden @ weights["decoder"] + weights["decoder_bias"])
    missed = out - rows
    inner = (2 / rows.size) * missed * (1 - out * out)
    slopes = {"decoder": hidden.T @ inner, "decoder_bias": inner.sum(axis=0)}
    return float((missed * missed).mean()), hidden, inner @ weights["decoder"].T, slopes


def through_encoder(seen: Floats, hidden: Floats, slope: Floats) -> Weights:
    """Return the slopes of the encoder's weights, given those of the hidden layer."""
    inner = slope * (1 - hidden * hidden)
    return {"encoder": seen.T @ inner, "encoder_bias": inner.sum(axis=0)}


def classification(hidden: Floats, labels: Floats, name: str, weights: Weights) -> tuple[float, Floats, Weights]:
    """Return a logistic classifier's cross-entropy, in nats, and its slopes: of the hidden layer, of its weights."""
    score = hidden @ weights[name] + weights[f"{name}_bias"]
    loss = float((np.logaddexp(0, score) - labels * score).mean())
    inner = (1 / (1 + np.exp(-score)) - labels) / len(labels)
    return loss, np.outer(inner, weights[name]), {name: hidden.T @ inner, f"{name}_bias": inner.sum(keepdims=True)}
