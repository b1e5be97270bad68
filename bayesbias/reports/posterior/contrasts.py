"""How much nearer one kind of attribute word is than another."""

from typing import TYPE_CHECKING

from bayesbias.arguments import HDI_PROB, check_rope
from bayesbias.estimates import ESTIMATE_COLUMNS, check_baseline, direction_of, estimates, most_effective
from bayesbias.models.fit_source import fitted_rows
from bayesbias.models.fits import check_fit
from bayesbias.models.samplers.exact import cell_statistics
from bayesbias.reports.posterior.summary import check_level, pair_count

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import xarray as xr

LEVELS = ("overall", "word", "all")


def contrasts(
    fit: "xr.DataTree",
    *,
    baseline: str = "associated",
    level: str = "overall",
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
) -> "pd.DataFrame":
    """Compare one connection with each of the others, draw by draw.

    Parameters
    ----------
    fit
        What `fit` returned.
    baseline
        The connection from which the others are subtracted.
    level
        ``"overall"``: the means of all protected words; ``"word"``: each protected word; ``"all"``: both.
    hdi_prob
        Probability inside the highest posterior density interval.
    rope
        Region of practical equivalence in units of cosine distance: a half-width, or (low, high).

    Returns
    -------
    pandas.DataFrame
        Columns `contrast` (such as ``"associated - different"``), `protected_word` (empty for all words),
        `baseline_pairs` and `other_pairs` (rows of the table behind each side; a side with 0 was not measured),
        `observed` (difference of the plain averages of these rows, missing where a side was not measured),
        `mean`, `sd`, `hdi_low`, `hdi_high` of baseline minus other, in units of cosine distance: negative
        means that the baseline's attribute words are nearer. Then `direction` (the more probable one:
        ``"nearer"`` or ``"farther"``), `probability_of_direction` (0.5 to 1; Makowski, Ben-Shachar, Chen and
        Luedecke 2019), `probability_in_rope` if `rope` is given (Kruschke 2018), and the diagnostics.
        ``attrs`` keep `hdi_prob`, `baseline` and `rope`.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit, or the fit lacks the baseline, or an argument is not usable.

    Examples
    --------
    >>> bb.contrasts(fit, rope=0.02)[["contrast", "direction"]]
                     contrast direction
    0  associated - different    nearer
    1      associated - human    nearer
    2    associated - neutral    nearer
    """
    import pandas as pd

    posterior = check_fit(fit)["posterior"].to_dataset()
    check_level(level, LEVELS)
    region = check_rope(rope)
    connections = [str(name) for name in posterior["connection"].values]
    check_baseline(baseline, connections, "fit")
    variables = {"overall": ["connection_mean"], "word": ["word_mean"], "all": ["connection_mean", "word_mean"]}[level]
    averages, frames = _averages(fit), []
    for variable in variables:
        means = posterior[variable]
        for other in connections:
            if other == baseline:
                continue
            draws = means.sel(connection=baseline, drop=True) - means.sel(connection=other, drop=True)
            frame = estimates(draws, hdi_prob=hdi_prob, most=most_effective(fit))
            frame = frame.assign(**direction_of(draws, region))
            frame["contrast"] = f"{baseline} - {other}"
            frame["protected_word"] = words = frame.get("protected_word", pd.Series("", index=frame.index))
            frame["baseline_pairs"] = [pair_count(fit, word, baseline) for word in words]
            frame["other_pairs"] = [pair_count(fit, word, other) for word in words]
            frame["observed"] = [averages(baseline, word) - averages(other, word) for word in words]
            frames.append(frame)
    result = pd.concat(frames, ignore_index=True)
    leading = ["contrast", "protected_word", "baseline_pairs", "other_pairs", "observed"]
    probabilities = [name for name in result.columns if name.startswith(("direction", "probability"))]
    result = result[[*leading, *ESTIMATE_COLUMNS[:4], *probabilities, *ESTIMATE_COLUMNS[4:]]]
    result.attrs = {"hdi_prob": hdi_prob, "baseline": baseline, "rope": None if region is None else list(region)}
    return result


def _averages(fit: "xr.DataTree") -> "Callable[[str, str], float]":
    """Return a function: the average distance of a connection, of one protected word or, for an empty one, of all."""
    rows = fitted_rows(fit)
    cells = cell_statistics(rows)
    total = cells.count * cells.mean
    place = {word: at for at, word in enumerate(map(str, rows.protected_words))}

    def average(connection: str, word: str) -> float:
        g = rows.connections.index(connection)
        at = [place[word]] if word else slice(None)
        count = cells.count[at, g].sum()
        return float(total[at, g].sum() / count) if count else float("nan")

    return average
