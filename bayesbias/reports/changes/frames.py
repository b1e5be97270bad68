"""Frames of changes: gaps under each condition, changes between conditions, and of mean distances."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import ROUNDING
from bayesbias.base.checks import check_choice, check_count, check_probability, check_rope, resolve_seed
from bayesbias.base.statements import rows_of
from bayesbias.estimates.intervals import (
    diagnostics_of,
    direction_of,
    is_borderline,
    moments,
    settled,
)
from bayesbias.models.numerics.contrast_estimate import draws_interval
from bayesbias.models.periods.contrast_draws import ContrastDraws, draw_contrast
from bayesbias.models.periods.gap_draws import ListDeviations, list_deviations
from bayesbias.models.periods.period_line import LineDraws
from bayesbias.models.periods.period_sample import PeriodSample
from bayesbias.reports.posterior.contrasts import SCOPES

if TYPE_CHECKING:
    import pandas as pd

CHAINS = 4


@dataclass(frozen=True)
class Estimation:
    """How changes are estimated: draws of each chain, seed, interval, rope, scope, and baseline of the contrasts."""

    draws: int
    seed: int
    hdi_prob: float
    rope: tuple[float, float] | None = None
    scope: str = "population"
    baseline: str = "associated"

    @classmethod
    def checked(
        cls,
        *,
        draws: int,
        random_seed: int | None,
        hdi_prob: float,
        rope: float | tuple[float, float] | None,
        scope: str = "population",
        baseline: str = "associated",
    ) -> "Estimation":
        """Return what a user's arguments say, or raise `ArgumentError`."""
        check_probability("hdi_prob", hdi_prob)
        check_choice("scope", scope, SCOPES)
        count, seed = check_count("draws", draws, least=100), resolve_seed(random_seed)
        return cls(count, seed, hdi_prob, check_rope(rope), scope, baseline)


@dataclass(frozen=True, eq=False)
class Pairing:
    """Conditions whose distances are one sample, and positions of the pairs that are compared, shape (pairs, 2).

    `all_pairs` are those of all words, `ends` those of groups and of single words. `short_controls` are control lists
    that the sample leaves out, with the number of their words.
    """

    sample: PeriodSample
    times: np.ndarray
    all_pairs: np.ndarray
    ends: np.ndarray
    short_controls: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def list_parts(self) -> list[ListDeviations]:
        """The contribution of each attribute word to the means of its list."""
        return list_deviations(self.sample)

    def draw(self, estimation: Estimation, contrast: tuple[int, int | None]) -> ContrastDraws:
        """Return draws of the gaps between two connections, or of the mean distances to one."""
        return draw_contrast(
            self.sample,
            self.list_parts,
            self.times,
            contrast,
            draws=CHAINS * estimation.draws,
            chains=CHAINS,
            seed=estimation.seed,
        )


def estimate_rows(
    draws: np.ndarray,
    labels: Mapping[str, Sequence[Any]],
    hdi_prob: float,
    rope: tuple[float, float] | None = None,
    *,
    means: np.ndarray | None = None,
    directions: bool = True,
) -> "pd.DataFrame":
    """Return labels, estimates and directions of each column of draws (draws, rows), chain after chain.

    `means` (rows,) replace the means of the draws where the posterior is symmetric around them, which says more with
    few degrees of freedom: the draws' own can lie outside the interval. Draws that are all 0 have the direction
    ``"equal"`` and no diagnostics.
    """
    import pandas as pd
    import xarray as xr

    array = xr.DataArray(
        draws.reshape(CHAINS, -1, draws.shape[1]),
        dims=("chain", "draw", "row"),
        coords={"row": np.arange(draws.shape[1])},
    )
    with np.errstate(invalid="ignore", divide="ignore"):  # diagnostics of constant draws are undefined
        numbers = moments(array).drop(columns="row")
    diagnostics = numbers[diagnostics_of(numbers)]
    intervals = [draws_interval(column, hdi_prob) for column in draws.T]
    constant = (numbers["sd"] < ROUNDING).to_numpy()
    frame = pd.DataFrame(dict(labels))
    frame["mean"], frame["sd"] = numbers["mean"] if means is None else means, numbers["sd"]
    ends = {"hdi_low": "low", "hdi_high": "high", "low_se": "low_se", "high_se": "high_se"}
    for column, name in ends.items():
        frame[column] = [getattr(interval, name) for interval in intervals]
    frame["borderline"] = [
        not same and is_borderline(*row)
        for same, row in zip(constant, frame[list(ends)].itertuples(index=False, name=None), strict=True)
    ]
    if directions:
        sides = direction_of(array, rope)
        equal = constant & (numbers["mean"].abs() < ROUNDING).to_numpy()
        frame = frame.assign(**sides | {"direction": np.where(equal, "equal", sides["direction"])})
    return pd.concat([frame, diagnostics.mask(np.tile(constant[:, None], len(diagnostics.columns)))], axis=1)


def gap_rows(gaps_by_condition: "Mapping[str, pd.DataFrame]") -> "pd.DataFrame":
    """Return the contrasts of each condition's own fit, one condition after the other."""
    import pandas as pd

    if not gaps_by_condition:
        return pd.DataFrame(columns=["condition", "contrast", "protected_group", "protected_word"])
    frame = pd.concat(gaps_by_condition, names=["condition"]).reset_index(level="condition")
    return frame.reset_index(drop=True)


def change_rows(drawn: ContrastDraws, pairing: Pairing, gaps: "pd.DataFrame", estimation: Estimation) -> "pd.DataFrame":
    """Return the changes of a contrast with their readings: of all words, of groups, and of single words.

    `gaps` are the rows of the contrast from `gap_rows`.
    """
    import pandas as pd

    sample, ends = pairing.sample, pairing.ends
    overall = drawn.overall(estimation.scope).draws
    same = _unmoved(drawn.plain_words)
    parts = [_labelled(overall, drawn.plain, pairing.all_pairs, sample, same, {})]
    if len(drawn.group_places) > 1:
        parts += [
            _labelled(
                drawn.groups[:, :, place],
                drawn.plain_groups[:, place],
                ends,
                sample,
                same,
                {"protected_group": sample.groups[group]},
            )
            for place, group in enumerate(drawn.group_places)
        ]
    frames = [
        estimate_rows(draws, labels, estimation.hdi_prob, estimation.rope, means=np.array(labels["observed"]))
        for draws, labels in parts
    ]
    words = _word_parts(drawn, sample, ends, same)
    if words is not None:
        frames.append(estimate_rows(*words, estimation.hdi_prob, estimation.rope))
    frame = pd.concat(frames, ignore_index=True)
    gap_by_key = {(row["condition"], row["protected_group"], row["protected_word"]): row for row in rows_of(gaps)}
    frame["reading"] = [
        reading_of(
            row, *(gap_by_key.get((row[side], row["protected_group"], row["protected_word"])) for side in _SIDES)
        )
        for row in rows_of(frame)
    ]
    return frame


_SIDES = ("first", "second")


def _unmoved(values: np.ndarray) -> np.ndarray:
    """Return whether plain values (conditions, ...) differ by rounding alone, for each pair of conditions."""
    rows = values.reshape(len(values), -1)
    return np.asarray(np.abs(rows[:, None] - rows[None]).max(axis=2) <= ROUNDING)


def _labelled(
    draws: np.ndarray,
    plain: np.ndarray,
    pairs: np.ndarray,
    sample: PeriodSample,
    same: np.ndarray,
    labels: Mapping[str, str],
) -> tuple[np.ndarray, dict[str, list[Any]]]:
    """Return draws of changes (draws, pairs), and their labels; where no distance differs, all draws are 0."""
    first, second = pairs.T
    texts = {
        "first": [sample.periods[place] for place in first],
        "second": [sample.periods[place] for place in second],
        "protected_group": [labels.get("protected_group", "")] * len(pairs),
        "protected_word": [""] * len(pairs),
        "observed": (plain[second] - plain[first]).tolist(),
    }
    return (draws[:, second] - draws[:, first]) * ~same[first, second], texts


def _word_parts(
    drawn: ContrastDraws, sample: PeriodSample, ends: np.ndarray, same: np.ndarray
) -> tuple[np.ndarray, dict[str, list[Any]]] | None:
    """Return draws of the changes of single words and their labels, or None without words.

    Of one pair of ends, a word that lacks one has the change between the first and the last condition that it has.
    """
    columns: list[np.ndarray] = []
    labels: dict[str, list[Any]] = {
        name: [] for name in ("first", "second", "protected_group", "protected_word", "observed")
    }
    for pair in ends:
        for place, word in enumerate(drawn.word_places):
            has = np.flatnonzero(sample.protected_present[word])
            first, second = (has[0], has[-1]) if len(ends) == 1 and len(has) > 1 else pair
            if not {first, second} <= set(has.tolist()):
                continue
            texts = (
                *(sample.periods[first], sample.periods[second], "", sample.protected_words[word]),
                float(drawn.plain_words[second, place] - drawn.plain_words[first, place]),
            )
            for name, text in zip(labels, texts, strict=True):
                labels[name].append(text)
            columns.append((drawn.words[:, second, place] - drawn.words[:, first, place]) * ~same[first, second])
    return (np.stack(columns, axis=1), labels) if columns else None


def distance_rows(drawn: ContrastDraws, pairing: Pairing, estimation: Estimation) -> "pd.DataFrame":
    """Return the changes of the mean distance to one kind of attribute words: of all words, then of single words."""
    import pandas as pd

    sample, ends = pairing.sample, pairing.ends
    same = _unmoved(drawn.plain_words)
    draws, labels = _labelled(drawn.population.draws, drawn.plain, ends, sample, same, {})
    frames = [estimate_rows(draws, labels, estimation.hdi_prob, estimation.rope, means=np.array(labels["observed"]))]
    words = _word_parts(drawn, sample, ends, same)
    if words is not None:
        frames.append(estimate_rows(*words, estimation.hdi_prob, estimation.rope))
    return pd.concat(frames, ignore_index=True).drop(columns="protected_group")


def reading_of(change: Mapping[Any, Any], first: Mapping[Any, Any] | None, second: Mapping[Any, Any] | None) -> str:
    """Return how a gap differs between two conditions, from its change and from the gap under each of them.

    All are rows with `mean`, `hdi_low`, `hdi_high` and `borderline`. A gap that was not measured is not settled.

    >>> settled_below = {"mean": -0.2, "hdi_low": -0.3, "hdi_high": -0.1, "borderline": False}
    >>> change = {"mean": 0.1, "hdi_low": 0.05, "hdi_high": 0.15, "borderline": False, "direction": "farther"}
    >>> reading_of(change, settled_below, settled_below), reading_of(change, settled_below, None)
    ('narrower', 'first only')
    """
    if change["direction"] == "equal":
        return "equal"
    if change["borderline"]:
        return "borderline"
    if not settled(change["hdi_low"], change["hdi_high"]):
        return "not settled"
    is_first, is_second = (
        gap is not None and settled(gap["hdi_low"], gap["hdi_high"]) and not gap["borderline"]
        for gap in (first, second)
    )
    if first is None or not is_first:
        return "second only" if is_second else "neither"
    if second is not None and is_second and first["mean"] * second["mean"] < 0:
        return "reversed"
    # The change decides, and not the sizes of the two gaps, which come from two fits.
    if change["mean"] * first["mean"] > 0:
        return "wider"
    return "narrower" if is_second else "first only"


def line_rows(line: LineDraws, names: Sequence[str], sd_name: str, hdi_prob: float) -> "pd.DataFrame":
    """Return the coefficients of a trend, and the sd of periods around it."""
    draws = np.column_stack([line.coefficients, line.period_sd])
    labels = {"parameter": [*names, sd_name], "observed": [*line.plain, np.nan]}
    frame = estimate_rows(draws, labels, hdi_prob, directions=False)
    # The sd has no mean with few periods, but always a median.
    frame["mean"] = [*line.plain, np.median(line.period_sd)]
    frame["settled"] = [settled(low, high) for low, high in zip(frame["hdi_low"], frame["hdi_high"], strict=True)]
    frame.loc[len(names), "settled"] = False
    return frame


def lacking_rows(tables: "Mapping[str, pd.DataFrame]", facts: Mapping[str, Mapping[str, Any]]) -> "pd.DataFrame":
    """Return a row for each word that a condition lacks, and for each that none has."""
    import pandas as pd

    records: list[tuple[Any, ...]] = []
    stored: set[str] = set()
    for role, list_column in (("protected", "protected_group"), ("attribute", "attribute_group")):
        columns = [f"{role}_word", list_column]
        lists = {
            name: dict(table[columns].drop_duplicates().astype(str).itertuples(index=False, name=None))
            for name, table in tables.items()
        }
        every = {word: list_name for of_condition in lists.values() for word, list_name in of_condition.items()}
        stored |= set(every)
        for word, list_name in every.items():
            if lacks := [name for name, of_condition in lists.items() if word not in of_condition]:
                records.append((word, role, list_name, len(tables) - len(lacks), ", ".join(lacks)))
    records += [(word, *where, 0, "all") for word, where in dict(_lost_words(facts)).items() if word not in stored]
    return pd.DataFrame(records, columns=["word", "role", "list", "conditions", "lacks"])


def _lost_words(facts: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, str]]]:
    for of_condition in facts.values():
        for entry in of_condition.get("lost_words", []):
            yield entry["word"], (entry["role"], entry["list"])
