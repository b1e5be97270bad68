"""Doubts about the effects of covariates: draws that did not converge, and words that decide a slope."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.number_text import counted
from bayesbias.base.statements import Statement
from bayesbias.errors import name_some
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.reports.covariates.leans import Leans
from bayesbias.reports.covariates.slopes import Design, design_of, robust_freedom

if TYPE_CHECKING:
    import xarray as xr

# With fewer degrees of freedom, single words decide a slope; ten evenly spaced values have 4.4.
_FEW_EFFECTIVE = 3.0
_LEVERAGE_MARGIN = 0.1  # of degrees of freedom below those of evenly spaced values


def effect_doubts(
    fit: "xr.DataTree", design: Design, names: tuple[str, ...], words: np.ndarray, leans: Leans
) -> Iterator[Statement]:
    """Yield doubts about the draws, and about single words that decide a slope."""
    for problem in fit_attribute(fit, "convergence_problems"):
        yield Statement("convergence", problem)
    means = leans.draws.mean(axis=0)
    residual = design.residuals @ means
    for name, row, freedom, sole in zip(names, design.coefficients, robust_freedom(design), design.sole, strict=True):
        shift = row * residual / design.unexplained
        slope = float(row @ means)
        place = int(np.argmax(shift * np.sign(slope)))
        if sole.any():
            named = name_some(map(repr, words[sole].tolist()))
            yield Statement(
                "leverage",
                f"The slope on {name} rests on {named}: no other word tells how such words vary, and the interval "
                f"takes it to be as much as the others do. Take more words with such a {name}.",
                {"covariate": name, "words": words[sole].tolist()},
            )
        elif freedom < _FEW_EFFECTIVE:
            freedom_text = f"(its error has {freedom:.1f} degrees of freedom, for {counted(len(words), 'word')})"
            even = design_of(
                np.arange(float(len(words)))[:, None], np.zeros(len(words), dtype=int), design.correlations
            )
            if freedom < robust_freedom(even)[0] - _LEVERAGE_MARGIN:
                text = (
                    f"A few words with extreme values decide the slope on {name} {freedom_text}. Intervals may be too "
                    f"narrow: take the logarithm or ranks of {name}, or more words."
                )
            else:
                text = (
                    f"Few words decide the slope on {name} {freedom_text}. Intervals may be too narrow: take more "
                    "words."
                )
            yield Statement("leverage", text, {"covariate": name, "freedom": float(freedom)})
        if np.sign(slope - shift[place]) != np.sign(slope):
            yield Statement(
                "influence",
                f"Without {str(words[place])!r}, the slope on {name} would have the other sign.",
                {"covariate": name, "word": str(words[place])},
            )
