"""What the posterior says of each parameter."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.models.fits import check_fit
from bayesbias.reports.intervals import ESTIMATE_COLUMNS, HDI_PROB, check_choice, estimates

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

LEVELS = ("all", "group", "word")


def summary(fit: "xr.DataTree", *, level: str = "all", hdi_prob: float = HDI_PROB) -> "pd.DataFrame":
    """Summarise a fit by connection and by protected word.

    Parameters
    ----------
    fit
        What `fit` returned.
    level
        ``"group"``: `group_mean`, `word_sd` and `sigma` of each connection; ``"word"``: `word_mean` of each
        protected word and connection; ``"all"``: both.
    hdi_prob
        Probability inside the highest posterior density interval.

    Returns
    -------
    pandas.DataFrame
        Columns `parameter`, `connection`, `protected_word` and `protected_group` (empty for group
        parameters), `pairs` (rows of the table behind the estimate; 0 means that only the prior and the other
        words speak), `mean`, `sd`, `hdi_low`, `hdi_high` in units of cosine distance, `ess_bulk`, `ess_tail`,
        `r_hat`. ``attrs["hdi_prob"]`` keeps the probability.

    Raises
    ------
    FitError, ReportError
        If `fit` is not a fit, or `level` or `hdi_prob` is not usable.

    Examples
    --------
    >>> bb.summary(fit, level="group").query("parameter == 'group_mean'")[["connection", "pairs"]]
       connection  pairs
    0  associated    128
    1   different    128
    2       human   1248
    3     neutral   1328
    """
    import pandas as pd

    posterior = check_fit(fit)["posterior"].to_dataset()
    check_choice("level", level, LEVELS)
    frames = []
    for parameter, draws in posterior.data_vars.items():
        by_word = "protected_word" in draws.dims
        if level != "all" and by_word != (level == "word"):
            continue
        frame = estimates(draws, hdi_prob=hdi_prob)
        frame.insert(0, "parameter", str(parameter))
        frames.append(frame)
    result = pd.concat(frames, ignore_index=True)
    if "protected_word" not in result:
        result["protected_word"] = ""
    result["protected_word"] = result["protected_word"].fillna("")
    result["protected_group"] = result["protected_word"].map({**_word_groups(fit), "": ""})
    result["pairs"] = [
        pair_count(fit, word, connection)
        for word, connection in zip(result["protected_word"], result["connection"], strict=True)
    ]
    leading = ["parameter", "connection", "protected_word", "protected_group", "pairs"]
    result = result[[*leading, *ESTIMATE_COLUMNS]]
    result.attrs = {"hdi_prob": hdi_prob}
    return result


def _word_groups(fit: "xr.DataTree") -> dict[str, str]:
    groups = fit["constant_data"]["protected_group"]
    return dict(zip(np.asarray(groups["protected_word"], dtype=str), np.asarray(groups, dtype=str), strict=True))


def pair_count(fit: "xr.DataTree", word: str, connection: str) -> int:
    """Return the rows of the table behind an estimate: of one protected word, or of all for an empty one."""
    counts = fit["constant_data"]["pair_count"].sel(connection=connection)
    return int(counts.sel(protected_word=word) if word else counts.sum())
