"""Any question of lists: how much nearer one protected group is to one attribute list than another to another."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_probability, check_rope
from bayesbias.errors import QuestionWarning, ReportError, did_you_mean, raise_faults, warn_user
from bayesbias.estimates.intervals import DIAGNOSTICS, direction_of, estimates, independent_draws, is_borderline
from bayesbias.models.data import ModelData
from bayesbias.models.fitted.fit_source import fitted_rows, fitted_table
from bayesbias.models.fitted.fits import check_fit
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.numerics.contrast_estimate import draws_interval
from bayesbias.studies.faults import QUESTION_SIDES, question_faults
from bayesbias.tables.schema import ATTRS_KEY

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Side = tuple[str, str]
"""A protected group and an attribute list: the mean distance between their words."""


def contrast(
    fit: "xr.DataTree",
    *sides: Side,
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
) -> "pd.DataFrame":
    """Compare the mean distances of protected groups to attribute lists.

    Parameters
    ----------
    fit
        What `fit` returned.
    *sides
        Two or four pairs (protected group, attribute list), such as ``("science", "male")``. Of two, the first minus
        the second; of four, the difference of differences (first - second) - (third - fourth). Without any, the
        questions of the study (`Study.questions`; ``[questions]`` in its TOML file), in their order.
    hdi_prob
        Probability inside the highest posterior density interval.
    rope
        Region of practical equivalence in units of cosine distance: a half-width, or (low, high).

    Returns
    -------
    pandas.DataFrame
        A row for each question: `question`, `pairs` (rows of the table behind it), `observed`, `mean`,
        `sd`, `hdi_low`, `hdi_high`, `low_se`, `high_se`, `borderline` and the rest as in `contrasts`, in units of
        cosine distance. Questions of the study that have no answer are left out, and ``attrs["unanswered"]`` says why.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit, a list or group is unknown or has no pairs, or an argument is not usable.

    Warns
    -----
    QuestionWarning
        If a question of the study has no answer, or a side names one of several lists with the same connection.

    Notes
    -----
    It is about these protected words, with attribute words like these: the means of the words of a group, each with the
    same weight; where pairs were lost, of those words of a group that all sides with that group have. The multivariate
    models have a mean for each list. The others know attribute lists by their connection alone: a difference of lists
    with the same connection to a word is 0 by assumption, and an error here; and `mean` is of all such lists where
    `observed` is of those that are named.

    Examples
    --------
    >>> found = bb.planned_contrasts(fit, ("math", "male"), ("arts", "male"))
    >>> found.loc[0, "question"], int(found.loc[0, "pairs"])
    ('math to male - arts to male', 128)
    """
    from bayesbias.estimates.estimate_frame import EstimateFrame

    check_fit(fit)
    check_probability("hdi_prob", hdi_prob)
    region = check_rope(rope)
    rows, table = fitted_rows(fit), fitted_table(fit)
    asked = {_named(sides): sides} if sides else own_questions(table)
    if not asked:
        raise ReportError(
            "No question is asked, and the study has none of its own. Give two or four pairs (protected group, "
            "attribute list), such as ('science', 'male'), ('arts', 'male'), or write [questions] in the study's TOML "
            "file and build the table again."
        )
    pairs = _Pairs(rows, np.asarray(table["attribute_group"], dtype=str), _of_means(fit, rows))
    answers, unanswered = [], {}
    for name, of in asked.items():
        try:
            answers.append(_answer(fit, name, of, pairs, hdi_prob, region))
        except ReportError as error:
            if sides:
                raise
            unanswered[name] = str(error)
    if unanswered:
        warn_user(f"Questions without an answer:\n{_listed(unanswered.values())}", QuestionWarning)
    frame = EstimateFrame(answers)
    region_asked = None if region is None else list(region)
    frame.attrs = {"hdi_prob": hdi_prob, "rope": region_asked, "unanswered": unanswered}
    return frame


def own_questions(table: "pd.DataFrame") -> dict[str, tuple[Side, ...]]:
    """Return the questions that the study of a table asks, by name; raise a `ReportError` if they are none."""
    stored = table.attrs.get(ATTRS_KEY, {}).get("questions", {})
    raise_faults(ReportError, "What the table says of its study's questions", list(question_faults(stored)))
    return {name: tuple((str(group), str(of)) for group, of in sides) for name, sides in stored.items()}


def _named(sides: tuple[Side, ...]) -> str:
    if len(sides) not in QUESTION_SIDES or not all(isinstance(side, tuple | list) and len(side) == 2 for side in sides):
        raise ReportError(
            f"{len(sides)} sides: give two or four pairs (protected group, attribute list), such as "
            "('science', 'male'), ('arts', 'male')."
        )
    names = [f"{group} to {of}" for group, of in sides]
    return " - ".join(names) if len(sides) == 2 else f"({names[0]} - {names[1]}) - ({names[2]} - {names[3]})"


@dataclass(frozen=True, eq=False)
class _Means:
    """The means that a model has for the rows of its fit.

    `draws` have the dims chain, draw, protected_word, and either attribute_group (`by_list`) or connection; `place` is
    the position along the last of each row.
    """

    draws: "xr.DataArray"
    place: np.ndarray
    by_list: bool


def _of_means(fit: "xr.DataTree", rows: ModelData) -> _Means:
    posterior = fit["posterior"].to_dataset()
    if "list_mean" in posterior:
        draws = posterior["list_mean"].transpose("chain", "draw", "protected_word", "attribute_group")
        return _Means(draws, attribute_sample(rows).list_of[rows.attribute], by_list=True)
    draws = posterior["word_mean"].transpose("chain", "draw", "protected_word", "connection")
    return _Means(draws, rows.connection.astype(np.int64), by_list=False)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The rows of a fit, the attribute list of each, and the means that the model has for them."""

    rows: ModelData
    lists: np.ndarray
    means: _Means

    @property
    def groups(self) -> np.ndarray:
        """The protected group of each row."""
        return np.asarray(self.rows.protected_groups[self.rows.protected])

    def of(self, group: str, name: str) -> np.ndarray:
        """Return which rows are of a protected group and an attribute list."""
        for what, value, known in (("attribute list", name, self.lists), ("protected group", group, self.groups)):
            choices = list(dict.fromkeys(known.tolist()))
            if value not in choices:
                raise ReportError(
                    f"The fit has no {what} {value!r}{did_you_mean(value, choices)}; it has {', '.join(choices)}."
                )
        here = (self.lists == name) & (self.groups == group)
        if not here.any():
            raise ReportError(
                f"The fit has no pairs of {name!r} and {group!r}. Ask of lists and groups that have pairs."
            )
        return np.asarray(here)

    def weights(self, here: np.ndarray) -> np.ndarray:
        """Return the weight of each row in the mean over words of their means."""
        words = self.rows.protected[here]
        counts = np.bincount(words, minlength=len(self.rows.protected_words))
        weights = np.zeros(len(here))
        weights[here] = 1 / counts[words] / (counts > 0).sum()
        return weights


def _sides_of(question: str, sides: tuple[Side, ...], pairs: _Pairs) -> list[np.ndarray]:
    """Return the rows of each side, of the words that all sides with the same group have."""
    rows = [pairs.of(*side) for side in sides]
    for group in dict.fromkeys(group for group, _ in sides):
        own = [here for here, (other, _) in zip(rows, sides, strict=True) if other == group]
        shared = np.logical_and.reduce(
            [np.bincount(pairs.rows.protected[here], minlength=len(pairs.rows.protected_words)) > 0 for here in own]
        )
        if not shared.any():
            raise ReportError(
                f"{question}: no word of {group!r} has pairs on all sides. Ask of lists that share words."
            )
        for here in own:
            here &= shared[pairs.rows.protected]
    return rows


def _warn_of_shared_means(question: str, sides: tuple[Side, ...], rows: list[np.ndarray], pairs: _Pairs) -> None:
    """Say which sides name one of several lists that a model does not tell apart."""
    said = []
    for (group, name), here in zip(sides, rows, strict=True):
        connections = np.unique(pairs.rows.connection[here])
        alike = (pairs.groups == group) & np.isin(pairs.rows.connection, connections)
        names = list(dict.fromkeys(pairs.lists[alike].tolist()))
        if len(names) > 1:
            said.append(f"{name} of {group} ({', '.join(names)})")
    if said:
        warn_user(
            f"{question}: the model gives all lists with the same connection to a group one mean, so that the answer "
            f"is about all those in brackets: {'; '.join(dict.fromkeys(said))}. Column observed is of the lists asked.",
            QuestionWarning,
        )


def _answer(
    fit: "xr.DataTree",
    question: str,
    sides: tuple[Side, ...],
    pairs: _Pairs,
    hdi_prob: float,
    region: tuple[float, float] | None,
) -> dict[str, Any]:
    """Return the row of a question."""
    rows, of_sides = pairs.rows, _sides_of(question, sides, pairs)
    signed = [sign * pairs.weights(here) for sign, here in zip((1, -1, -1, 1), of_sides, strict=False)]
    cells = np.zeros((len(signed), *pairs.means.draws.shape[2:]))
    for cell, weights in zip(cells, signed, strict=True):
        np.add.at(cell, (rows.protected, pairs.means.place), weights)
    halves = [cells[at] + cells[at + 1] for at in range(0, len(cells), 2)]
    if any(np.allclose(each, 0) for each in (*halves, cells.sum(axis=0))):
        raise ReportError(
            f"{question}: these lists have the same connection to these words, and the model gives all lists of one "
            "connection the same mean: their difference is 0 by assumption. Ask of lists with different connections."
        )
    if not pairs.means.by_list:
        _warn_of_shared_means(question, sides, of_sides, pairs)
    weights, by_row = cells.sum(axis=0), np.sum(signed, axis=0)
    observed = float(by_row @ rows.distance)
    used = np.logical_or.reduce(of_sides)
    draws = pairs.means.draws[..., 0, 0].copy(data=np.einsum("cdij,ij->cd", pairs.means.draws.to_numpy(), weights))
    interval = draws_interval(draws.to_numpy().reshape(-1), hdi_prob)
    row = {
        str(name): value
        for name, value in estimates(draws, hdi_prob=hdi_prob, independent=independent_draws(fit)).iloc[0].items()
    }
    row |= {"hdi_low": interval.low, "hdi_high": interval.high}
    ends = {"low_se": interval.low_se, "high_se": interval.high_se}
    borderline = is_borderline(interval.low, interval.high, **ends)
    direction = {name: value.item() for name, value in direction_of(draws, region).items()}
    leading = {"question": question, "pairs": int(used.sum()), "observed": observed}
    diagnostics = {name: row.pop(name) for name in DIAGNOSTICS if name in row}
    return {**leading, **row, **ends, "borderline": borderline, **direction, **diagnostics}


def _listed(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)
