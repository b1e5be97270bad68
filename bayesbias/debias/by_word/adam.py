"""Adam, the optimizer of methods that descend a gradient."""

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
        """Change weights in place, by the slopes of a loss."""
        self.step += 1
        for name, slope in slopes.items():
            mean, square = self.moments.setdefault(name, [np.zeros_like(slope), np.zeros_like(slope)])
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope * slope - square)
            size = np.sqrt(square / np.float32(1 - 0.999**self.step)) + np.float32(1e-8)
            weights[name] -= np.float32(self.rate / (1 - 0.9**self.step)) * mean / size
