"""Questions about chosen lists: how much nearer one protected group is to one attribute list than another."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.number_text import counted, interval_text, shown_name, signed_text
from bayesbias.base.statements import Statement, rows_of
from bayesbias.errors import (
    QuestionWarning,
    ReportError,
    collected_warnings,
    did_you_mean,
    name_some,
    raise_faults,
    warn_user,
    worded,
)
from bayesbias.estimates.intervals import DIAGNOSTICS, direction_of, estimates, independent_draws, is_borderline
from bayesbias.models.data import SIDES, ModelData
from bayesbias.models.fits import (
    check_fit,
    fit_attribute,
    fitted_model,
    fitted_rows,
    fitted_table,
    groups_without_contrast,
    hdi_prob_of,
    measured_in,
    rope_of,
)
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.numerics.contrast_estimate import draws_interval
from bayesbias.models.spec import DEFAULT_MODEL
from bayesbias.reports.posterior.group_statements import lists_of_connection, unsettled_text
from bayesbias.studies.faults import QUESTION_SIDES, question_faults
from bayesbias.tables.measures import COSINE_DISTANCE, Measure
from bayesbias.tables.schema import ATTRS_KEY, source_name

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


Side = tuple[str, str]
"""A protected group and an attribute list: the mean distance between their words."""

_CONTROLS = {"human": "human control words", "neutral": "neutral control words"}


def planned_contrasts(
    fit: "xr.DataTree",
    *sides: Side,
    hdi_prob: float | None = None,
    rope: float | tuple[float, float] | None = None,
) -> "pd.DataFrame":
    """Return differences between the mean distances of protected groups to attribute lists.

    Parameters
    ----------
    fit
        Fit returned by `fit`.
    *sides
        Two or four pairs (protected group, attribute list), such as ``("science", "male")``. Of two, the first minus
        the second; of four, the difference of differences (first - second) - (third - fourth). Without any, the
        questions of the study (`Study.questions`; ``[questions]`` in its TOML file), in their order.
    hdi_prob
        Probability inside the highest posterior density interval. None: that of the fit.
    rope
        Region of practical equivalence in units of cosine distance: a half-width, or (low, high). None: that of the
        fit, if `bayesbias.fit` got one.

    Returns
    -------
    pandas.DataFrame
        One row for each question: `question`, `pairs` (rows of the table behind it), `observed`, `mean`,
        `sd`, `hdi_low`, `hdi_high`, `low_se`, `high_se`, `borderline` and the rest as in `contrasts`, in units of
        cosine distance. Questions of the study that have no answer are left out; ``settings["unanswered"]`` says why.

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
    The answer is about these protected words, with attribute words like these. The words of a group have equal weights;
    where pairs were lost, only the words that all sides with that group share are compared. The multivariate models
    have a mean for each list. The others distinguish attribute lists by their connection alone: a difference between
    lists with the same connection to a word is 0 by assumption, and an error here; and `mean` is about all lists with
    that connection, whereas `observed` is about the named ones.

    Examples
    --------
    >>> answers = bb.planned_contrasts(fit, ("math", "male"), ("arts", "male"))
    >>> answers.loc[0, "question"], int(answers.loc[0, "pairs"])
    ('math to male - arts to male', 128)
    """
    from bayesbias.estimates.frames import EstimateFrame

    check_fit(fit)
    prob, region = hdi_prob_of(fit, hdi_prob), rope_of(fit, rope)
    rows, table = fitted_rows(fit), fitted_table(fit)
    questions = {_question_name(sides): sides} if sides else own_questions(table)
    if not questions:
        raise ReportError(
            "No question was given, and the study has none. Give two or four pairs (protected group, attribute list)"
            f"{_example(table)}, or write [questions] in the study's TOML file and build the table again."
        )
    pairs = _Pairs(
        rows,
        np.asarray(table["attribute_group"], dtype=str),
        _model_means(fit, rows),
        model=fitted_model(fit).name,
        not_fitted=groups_without_contrast(fit),
    )
    answers, unanswered = [], {}
    for name, question_sides in questions.items():
        try:
            answers.append(_answer(fit, name, question_sides, pairs, prob, region))
        except ReportError as error:
            if sides:
                raise
            unanswered[name] = str(error)
    if unanswered:
        reasons = "\n".join(f"- {reason}" for reason in unanswered.values())
        warn_user(f"Questions without an answer:\n{reasons}", QuestionWarning)
    frame = EstimateFrame(answers)
    frame.settings = {
        "hdi_prob": prob,
        "rope": None if region is None else list(region),
        "source": source_name(fit_attribute(fit, "table")),
        **measured_in(fit),
        "unanswered": unanswered,
    }
    return frame


def _example(table: "pd.DataFrame") -> str:
    """Return a question that the lists of a table allow, as the caller would write it; empty for one list alone."""
    protected, attributes = (list(dict.fromkeys(table[f"{side}_group"])) for side in ("protected", "attribute"))
    sides = [(protected[0], attributes[0]), (protected[-1], attributes[0])]
    if len(protected) == 1:
        sides[1] = (protected[0], attributes[-1])
    if sides[0] == sides[1]:
        return ""
    typed = " ".join(shlex.quote(str(name)) for side in sides for name in side)
    return f", such as {worded(', '.join(str(tuple(map(str, side))) for side in sides), f'`{typed}`')}"


def question_statements(
    fit: "xr.DataTree", hdi_prob: float, rope: float | tuple[float, float] | None
) -> tuple[Statement, ...]:
    """Return a statement for each question of a fit's study that has an answer."""
    if not fit_attribute(fit, "table").get("questions"):
        return ()
    with collected_warnings(QuestionWarning):  # the page shows why a question has no answer
        frame = planned_contrasts(fit, hdi_prob=hdi_prob, rope=rope)
    return tuple(
        Statement(
            "question",
            f"Question of the study, {shown_name(row['question'])}: the difference is {signed_text(row['mean'])} "
            f"(observed {signed_text(row['observed'])}), interval {interval_text(row['hdi_low'], row['hdi_high'])}"
            f"{unsettled_text(row, direction=True)}.",
            row,
        )
        for row in rows_of(frame)
    )


def has_slopes(fit: "xr.DataTree") -> bool:
    """Return whether a fit has covariates, and leans of associated minus different words that can follow them."""
    connections = fit["posterior"].coords["connection"].to_numpy().tolist()
    return "covariate_value" in fit["constant_data"] and set(SIDES) <= set(connections)


def has_factors(fit: "xr.DataTree") -> bool:
    """Return whether the study of a fit has factors of its protected groups, for `factor_effects`."""
    return bool(fit_attribute(fit, "table").get("factors", {}).get("factors"))


def own_questions(table: "pd.DataFrame") -> dict[str, tuple[Side, ...]]:
    """Return the questions of a table's study by name; raise a `ReportError` if they are not valid questions."""
    stored = table.attrs.get(ATTRS_KEY, {}).get("questions", {})
    raise_faults(ReportError, "The table's record of its study's questions", list(question_faults(stored)))
    return {
        name: tuple((str(group), str(attribute_list)) for group, attribute_list in sides)
        for name, sides in stored.items()
    }


def _question_name(sides: tuple[Side, ...]) -> str:
    if len(sides) not in QUESTION_SIDES or not all(isinstance(side, tuple | list) and len(side) == 2 for side in sides):
        raise ReportError(
            f"{counted(len(sides), 'side')}: give two or four pairs (protected group, attribute list), such as "
            "('science', 'male'), ('arts', 'male')."
        )
    names = [f"{group} to {attribute_list}" for group, attribute_list in sides]
    return " - ".join(names) if len(sides) == 2 else f"({names[0]} - {names[1]}) - ({names[2]} - {names[3]})"


@dataclass(frozen=True, eq=False)
class _Means:
    """Draws of the means of a model, and the mean of each row of its fit.

    `draws` has the dims chain, draw, protected_word, and either attribute_group (`by_list`) or connection; `place` is
    the position of each row along the last dim.
    """

    draws: "xr.DataArray"
    place: np.ndarray
    by_list: bool


def _model_means(fit: "xr.DataTree", rows: ModelData) -> _Means:
    posterior = fit["posterior"].to_dataset()
    if "list_mean" in posterior:
        draws = posterior["list_mean"].transpose("chain", "draw", "protected_word", "attribute_group")
        return _Means(draws, attribute_sample(rows).list_of[rows.attribute], by_list=True)
    draws = posterior["word_mean"].transpose("chain", "draw", "protected_word", "connection")
    return _Means(draws, rows.connection.astype(np.int64), by_list=False)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Rows of a fit, their attribute lists, the means that the model has for them, and its name.

    `not_fitted` are the groups without a contrast, with what they lack: models of rows are fitted without them.
    """

    rows: ModelData
    lists: np.ndarray
    means: _Means
    model: str
    not_fitted: Mapping[str, str]

    @property
    def groups(self) -> np.ndarray:
        """Protected group of each row."""
        return np.asarray(self.rows.protected_groups[self.rows.protected])

    def select(self, group: str, name: str) -> np.ndarray:
        """Return a mask of the rows of a protected group and an attribute list."""
        for label, value, names in (("attribute list", name, self.lists), ("protected group", group, self.groups)):
            choices = list(dict.fromkeys(names.tolist()))
            if label == "protected group" and value in self.not_fitted and value not in choices:
                raise ReportError(
                    f"The model {self.model!r} is fitted without {value!r}, which has {self.not_fitted[value]} and so "
                    f"is in no contrast. Fit the model {DEFAULT_MODEL!r}, which has a mean for each group and list."
                )
            if value not in choices:
                raise ReportError(
                    f"The fit has no {label} {value!r}{did_you_mean(value, choices)}; it has {', '.join(choices)}."
                )
        selected = (self.lists == name) & (self.groups == group)
        if not selected.any():
            raise ReportError(
                f"The fit has no pairs of {name!r} and {group!r}. Choose lists and groups that have pairs."
            )
        return np.asarray(selected)

    def weights(self, in_side: np.ndarray) -> np.ndarray:
        """Return the weight of each row in the mean of the means of words, over the rows of a side."""
        words = self.rows.protected[in_side]
        counts = np.bincount(words, minlength=len(self.rows.protected_words))
        weights = np.zeros(len(in_side))
        weights[in_side] = 1 / counts[words] / (counts > 0).sum()
        return weights


def _side_rows(question: str, sides: tuple[Side, ...], pairs: _Pairs) -> list[np.ndarray]:
    """Return a mask of the rows of each side, for the words that all sides with the same group share."""
    masks = [pairs.select(*side) for side in sides]
    for group in dict.fromkeys(group for group, _ in sides):
        group_masks = [mask for mask, (side_group, _) in zip(masks, sides, strict=True) if side_group == group]
        words = [pairs.rows.protected[mask] for mask in group_masks]
        shared = np.logical_and.reduce(
            [np.bincount(codes, minlength=len(pairs.rows.protected_words)) > 0 for codes in words]
        )
        if not shared.any():
            raise ReportError(
                f"{question}: no word of {group!r} has pairs on all sides. Choose lists that share words."
            )
        for mask in group_masks:
            mask &= shared[pairs.rows.protected]
    return masks


def _warn_of_shared_means(question: str, sides: tuple[Side, ...], rows: list[np.ndarray], pairs: _Pairs) -> None:
    """Warn of sides that name one of several lists that a model does not distinguish."""
    merged_lists = []
    for (group, name), in_side in zip(sides, rows, strict=True):
        connections = np.unique(pairs.rows.connection[in_side])
        same_mean = (pairs.groups == group) & np.isin(pairs.rows.connection, connections)
        names = list(dict.fromkeys(pairs.lists[same_mean].tolist()))
        if len(names) > 1:
            merged_lists.append(f"{name} of {group} ({', '.join(names)})")
    if merged_lists:
        warn_user(
            f"{question}: the model has one mean for all lists with the same connection to a group. The answer is "
            f"therefore about all lists in brackets: {'; '.join(dict.fromkeys(merged_lists))}. The column observed is "
            "about the lists in the question. For a mean of each list, fit a multivariate model.",
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
    rows, side_rows = pairs.rows, _side_rows(question, sides, pairs)
    row_weights = [sign * pairs.weights(mask) for sign, mask in zip((1, -1, -1, 1), side_rows, strict=False)]
    side_weights = np.zeros((len(row_weights), *pairs.means.draws.shape[2:]))
    for mean_weights, weights in zip(side_weights, row_weights, strict=True):
        np.add.at(mean_weights, (rows.protected, pairs.means.place), weights)
    weights = side_weights.sum(axis=0)
    differences = [side_weights[first] + side_weights[first + 1] for first in range(0, len(side_weights), 2)]
    if any(np.allclose(difference, 0) for difference in (*differences, weights)):
        if pairs.means.by_list:
            raise ReportError(
                f"{question}: both sides have the same words and lists, so they do not differ. Give others."
            )
        raise ReportError(
            f"{question}: these lists have the same connection to these words, so they have the same mean in this "
            "model, and their difference is 0 by assumption. Choose lists with different connections, or fit a "
            "multivariate model."
        )
    if not pairs.means.by_list:
        _warn_of_shared_means(question, sides, side_rows, pairs)
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
    leading = {
        "question": question,
        "pairs": int(np.logical_or.reduce(side_rows).sum()),
        "observed": float(np.sum(row_weights, axis=0) @ rows.distance),
    }
    diagnostics = {name: row.pop(name) for name in DIAGNOSTICS if name in row}
    return {**leading, **row, **ends, "borderline": borderline, **direction, **diagnostics}


@dataclass(frozen=True)
class AttributePhrases:
    """Phrases for sentences about the attribute words of a study.

    - `words` (mapping of str): noun phrase for the attribute words of a connection.
    - `associated`: associated words, after "nearer to".
    - `different`: different words, after "nearer to the associated words than".
    - `reverse`: what it reverses that associated words are farther away than different ones.
    - `not_specific`: what is not settled where associated words are nearer than control words alone.
    - `nothing`: verdict where no contrast is settled.
    """

    words: dict[str, str]
    associated: str
    different: str
    reverse: str
    not_specific: str
    nothing: str


_SEVERAL_GROUPS = AttributePhrases(
    {
        "associated": "associated attribute words",
        "different": "attribute words associated with other groups",
        **_CONTROLS,
    },
    associated="the attribute words associated with their own group",
    different="the words associated with other groups",
    reverse="the stereotype",
    not_specific="whether they follow the stereotype",
    nothing="No association that follows the stereotype is settled for word lists like these.",
)
_TWO_GROUPS = replace(
    _SEVERAL_GROUPS,
    words={**_SEVERAL_GROUPS.words, "different": "attribute words associated with the other group"},
    different="the words associated with the other group",
)
_ONE_GROUP = AttributePhrases(
    {"associated": "associated attribute words", "different": "the other attribute words", **_CONTROLS},
    associated="the associated attribute words",
    different="the other attribute words",
    reverse="the association in question",
    not_specific="whether they are nearer to one list than to the other",
    nothing="The protected words as a whole are not shown to be nearer to one list than to the other.",
)


_ONE_GROUP_WITH = replace(
    _ONE_GROUP,
    not_specific="whether this holds of one list more than of the other",
    nothing="Neither list is shown to be more strongly associated with the protected words as a whole.",
)


def attribute_phrases(groups: int, measure: Measure = COSINE_DISTANCE) -> AttributePhrases:
    """Return phrases for a study with this number of protected groups.

    >>> attribute_phrases(2).words["different"], attribute_phrases(1).words["different"]
    ('attribute words associated with the other group', 'the other attribute words')
    """
    one_group = _ONE_GROUP if measure.to == "to" else _ONE_GROUP_WITH
    return {1: one_group, 2: _TWO_GROUPS}.get(groups, _SEVERAL_GROUPS)


def named_phrases(data: ModelData) -> dict[str, str]:
    """Return a noun phrase for each connection, with the names of the two lists if one protected group is compared."""
    groups = sorted(set(data.protected_groups[data.compared].tolist()))
    words = attribute_phrases(len(groups)).words
    if len(groups) > 1 or data.attribute_groups is None:
        return words
    lists = {
        name: lists_of_connection(data, groups[0], name)
        for name in ("associated", "different")
        if name in data.connections
    }
    return words | {name: f"{words[name]} ({name_some(map(shown_name, names), 4)})" for name, names in lists.items()}
