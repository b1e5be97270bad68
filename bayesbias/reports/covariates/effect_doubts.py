"""Doubts about slopes on covariates: lost words, and single words that decide a slope."""

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.number_text import counted, quoted_name, shown_name, signed_digits_text
from bayesbias.base.statements import Statement
from bayesbias.errors import name_some, worded
from bayesbias.models.covariates import NO_NUMBER
from bayesbias.models.fits import fit_attribute
from bayesbias.reports.covariates.effect_statements import all_quoted
from bayesbias.reports.covariates.slopes import CovariateDesign, Leans, design_of, robust_freedom
from bayesbias.reports.posterior.doubts import data_doubts

if TYPE_CHECKING:
    import xarray as xr


# With fewer degrees of freedom, single words decide a slope; ten evenly spaced values have 4.4.
_FEW_EFFECTIVE = 3.0
_LEVERAGE_MARGIN = 0.1  # of degrees of freedom below those of evenly spaced values
_DOUBTS_OF_DATA = ("repeated pairs", "same vectors", "same distances", "edited table", "short list", "tied words")


def effect_doubts(
    fit: "xr.DataTree", design: CovariateDesign, names: tuple[str, ...], words: np.ndarray, leans: Leans
) -> Iterator[Statement]:
    """Yield doubts about the draws, and about single words that decide a slope."""
    for problem in fit_attribute(fit, "convergence_problems"):
        yield Statement("convergence", problem)
    yield from lost_word_doubts(fit, leans)
    yield from (doubt for doubt in data_doubts(fit) if doubt.kind in _DOUBTS_OF_DATA)
    if len(names) > 1:
        yield several_covariates(names)
    means = leans.draws.mean(axis=0)
    residual = design.residuals @ means
    for name, row, freedom, sole in zip(names, design.coefficients, robust_freedom(design), design.sole, strict=True):
        shift = row * residual / design.unexplained
        slope, shown = float(row @ means), quoted_name(name)
        place = int(np.argmax(shift * np.sign(slope)))
        if sole.any():
            named = name_some(map(repr, words[sole].tolist()))
            yield Statement(
                "leverage",
                f"The slope on {shown} depends on {named} alone. No other word shows how much such words vary, so the "
                f"interval assumes that they vary as the others do. Add words with such a {shown}.",
                {"covariate": name, "words": words[sole].tolist()},
            )
        elif freedom < _FEW_EFFECTIVE:
            freedom_text = f"(its error has {freedom:.1f} degrees of freedom, for {counted(len(words), 'word')})"
            even = design_of(
                np.arange(float(len(words)))[:, None], np.zeros(len(words), dtype=int), design.correlations
            )
            if freedom < robust_freedom(even)[0] - _LEVERAGE_MARGIN:
                text = (
                    f"A few words with extreme values decide the slope on {shown} {freedom_text}. Intervals may be too "
                    f"narrow: take the logarithm or ranks of {shown}, or more words."
                )
            else:
                text = (
                    f"Few words decide the slope on {shown} {freedom_text}. Intervals may be too narrow: take more "
                    "words."
                )
            yield Statement("leverage", text, {"covariate": name, "freedom": float(freedom)})
        if np.sign(slope - shift[place]) != np.sign(slope):
            yield Statement(
                "influence",
                f"Without {str(words[place])!r}, the slope on {shown} would have the other sign.",
                {"covariate": name, "word": str(words[place])},
            )


def several_covariates(names: Sequence[str]) -> Statement:
    """Return that each of several slopes is what a covariate adds to the others, and how to have one alone."""
    alone = worded("give a frame with that column", f"--column {shlex.quote(names[0])}")
    return Statement(
        "several covariates",
        f"{all_quoted(names)} are covariates together: each slope holds the others fixed, and can be uncertain because "
        f"they go together. For the slope on one alone: {alone}.",
        {"covariates": list(names)},
    )


def largest_changes(
    design: CovariateDesign, names: tuple[str, ...], words: np.ndarray, leans: Leans
) -> Iterator[Statement]:
    """Yield which word changes each observed slope most, and the slope without it."""
    for name, row in zip(names, design.coefficients, strict=True):
        slope, shifts = float(row @ leans.observed), row * (design.residuals @ leans.observed) / design.unexplained
        place = int(np.argmax(np.abs(shifts)))
        without = slope - float(shifts[place])
        yield Statement(
            "single word",
            f"Of all words, {str(words[place])!r} changes the observed slope on {quoted_name(name)} most: without it, "
            f"the slope is {signed_digits_text(without)} in place of {signed_digits_text(slope)}.",
            {"covariate": name, "word": str(words[place]), "without": without, "slope": slope},
        )


def lost_word_doubts(fit: "xr.DataTree", leans: Leans) -> Iterator[Statement]:
    """Yield all words that were left out without a number, and those of the lists that were lost, with reasons."""
    lists = {name for name, size in zip(leans.sample.lists, np.abs(leans.weights).max(axis=0), strict=True) if size}
    by_place: dict[tuple[str, str, str], list[str]] = {}
    for entry in fit_attribute(fit, "table").get("lost_words", ()):
        list_name = "" if entry["reason"] == NO_NUMBER else entry["list"]
        if entry["role"] == "protected" or entry["list"] in lists:
            by_place.setdefault((list_name, entry["role"], entry["reason"]), []).append(entry["word"])
    for (name, role, reason), words in by_place.items():
        was = "was" if len(words) == 1 else "were"
        how = f" of {shown_name(name)} {was} lost ({reason})" if name else f" without a number {was} left out"
        text = f"{counted(len(words), f'{role} word')}{how}: {name_some(words, len(words))}."
        if role == "protected":
            text += " Words that are left out may follow the covariate in another way."
        yield Statement("lost words", text, {"list": name, "words": words})
