"""Arrays that count how often they are compared: once for each group takes the square of the number of groups."""

from typing import Any, ClassVar

import numpy as np


class CountedArray(np.ndarray):
    """An array that counts its comparisons with ``==``."""

    comparisons: ClassVar[int] = 0

    def __eq__(self, other: object) -> Any:
        """Compare as any array."""
        CountedArray.comparisons += 1
        return super().__eq__(other)
