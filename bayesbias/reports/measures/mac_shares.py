"""Shares of similarities by connection and by protected word, before any model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_choice, check_number
from bayesbias.base.number_text import counted, distance_text, interval_text, share_text, signed_text
from bayesbias.base.results import SHOWS, Contents, Result, ResultFigure, contents_of, forest_figure
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import ReportError
from bayesbias.studies.faults import CONTROLS
from bayesbias.studies.study import CONNECTIONS
from bayesbias.tables.schema import FrameLike, as_frame, check_cosine_table, validate_table

if TYPE_CHECKING:
    import pandas as pd

LEVELS = ("connection", "word")
_STEREOTYPES = ("associated", "different")
_QUANTILES = {"low_89": 0.055, "low_50": 0.25, "median": 0.5, "high_50": 0.75, "high_89": 0.945}

_ROUNDING = 1e-7  # of cosines of float32 vectors


@dataclass(frozen=True, eq=False, repr=False)
class MacShares(Result):
    """Shares of pairs that are as similar as MAC takes for bias.

    Parameters
    ----------
    shares : pandas.DataFrame
        One row per connection, or per protected word and connection: `connection` (for words also `protected_word` and
        `protected_group`; of several tables first the `table`'s name), `pairs` (their number), and for their cosine
        similarities (-1 to 1) `mean`, `sd` (missing for a single pair) and the quantiles `low_89` and `high_89` (89 %
        of the pairs lie between them), `low_50`, `median` and `high_50`; then the shares of pairs `inside` the band
        from -(1 - MAC) to 1 - MAC, ends included, `above` it (more similar than MAC takes for bias) and `below` it.
    mac, band
        MAC that sets the band, and the half-width of the band, abs(1 - MAC).
    of_table
        Whether this MAC is that of the table, of several tables that of the first.
    """

    shares: "pd.DataFrame"
    mac: float
    band: float
    of_table: bool

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        numbers = {"mac": self.mac, "band": self.band}
        answer = Statement("mac", f"MAC is {distance_text(self.mac)}{self._whose}.{self._share_above}", numbers)
        about = Statement(
            "band",
            "MAC is the mean average cosine distance. Below 1, it counts as bias in the literature. The band of "
            f"MAC is {interval_text(-self.band, self.band)}; a pair above it is nearer than the MAC of this study. "
            "Compare the shares of associated pairs with those of control words.",
            numbers,
        )
        rows = tuple(
            Statement(
                "connection",
                f"{self._label(row)}: {share_text(row['inside'])} inside the band, {share_text(row['above'])} above "
                f"it, mean {signed_text(row['mean'])}.",
                row,
            )
            for row in rows_of(self.shares)
            if "protected_word" not in row
        )
        return StatementList("", (answer, about), bulleted=False), StatementList("", rows)

    @property
    def _share_above(self) -> str:
        """The shares of associated and of control pairs above the band, where the rows show both."""
        if "protected_word" in self.shares or "table" in self.shares:
            return ""
        above = dict(zip(self.shares["connection"].astype(str), self.shares["above"], strict=True))
        control = next((name for name in CONTROLS if name in above), "")
        if not control or "associated" not in above:
            return ""
        return (
            f" {share_text(above['associated'])} of associated pairs and {share_text(above[control])} of pairs with "
            f"{control} words have a similarity above abs(1 - MAC) = {distance_text(self.band)}."
        )

    @property
    def _whose(self) -> str:
        if not self.of_table:
            return ""
        return f" in {str(self.shares['table'].iloc[0])!r}" if "table" in self.shares else " here"

    @staticmethod
    def _label(row: "dict[str, Any]") -> str:
        return f"{row['table']!r}, {row['connection']}" if "table" in row else str(row["connection"])

    def __repr__(self) -> str:
        return f"MacShares({counted(len(self.shares), 'row')}, mac={self.mac:.3f}, band={self.band:.3f})"

    def _figure(self) -> ResultFigure:
        """Return a forest of similarities by connection or word, with the band of MAC shaded."""
        frame = self.shares
        names = [
            name for name in ("table", "protected_word", "connection") if name in frame and (frame[name] != "").any()
        ]
        rows = frame.assign(
            label=[" ".join(str(row[name]) for name in names) for row in rows_of(frame)],
            hdi_low=frame["low_89"],
            hdi_high=frame["high_89"],
            filled=False,
        )
        caption = "Mean similarity (points) and 89% of the pairs (lines). Shaded: the band of MAC."
        return forest_figure(caption, rows, label="Similarity", rope=(-self.band, self.band))

    @property
    def contents(self) -> Contents:
        """The shares of pairs inside and outside the band."""
        return contents_of(
            self,
            title="How ordinary are the similarities that MAC takes for bias?",
            opened=("Shares", SHOWS),
            captions={"shares": "Shares of pairs inside, above (nearer) and below (farther) the band of MAC"},
            differences=("shares",),
            figures={"similarities": self._figure()},
            headings={"mean": "Mean similarity", "low_89": "89% between", "inside": "Inside", "above": "Above"},
        )


def mac_shares(
    table: "FrameLike | Mapping[str, FrameLike]", *, level: str = "connection", mac: float | None = None
) -> MacShares:
    """Return the shares of pairs that are as similar as MAC takes for bias, by connection or by word.

    MAC, the mean average cosine distance, is the mean over protected words and attribute lists of the mean distance
    between the two, without control lists. In the literature a MAC below 1, or a mean similarity of 1 - MAC above 0,
    counts as bias. The shares show how ordinary such similarities are, also among control words.

    Parameters
    ----------
    table
        Distance table; or tables to compare, by name, such as ``{"before": table, "after": other}``. All have one band:
        with a band of its own, a table whose similarities all shrink has the same shares.
    level
        ``"connection"``: one row per connection; ``"word"``: one row per protected word and connection.
    mac
        MAC that sets the band, such as a published one. Default: that of the table, of several tables that of the
        first.

    Returns
    -------
    MacShares
        The shares in `shares`. A word without pairs of a connection has no row for it.

    Raises
    ------
    TableError
        If the table breaks the schema.
    ArgumentError
        If `level` or `mac` is not usable.
    ReportError
        If the mapping has no tables, or the table has no stereotype lists that MAC could be computed from.

    References
    ----------
    Dobrzeniecka and Urbaniak, figure "Empirical distributions of cosine similarities", where MAC is 0.859 for
    religion; Manzini, Lim, Tsvetkov and Black (2019) for MAC.

    Examples
    --------
    >>> mac_shares(table).shares[["connection", "pairs", "inside", "above"]].round(3)
       connection  pairs  inside  above
    ...
    >>> mac_shares({"before": table, "after": table}).shares["table"].unique().tolist()
    ['before', 'after']
    """
    table = as_frame(table)
    import pandas as pd

    check_choice("level", level, LEVELS)
    tables = valid_tables(table)
    used = (
        mean_average_distance(next(iter(tables.values()))) if mac is None else check_number("mac", mac, low=0, high=2)
    )
    band = abs(1 - used)
    frames = {name: _shares(one, level, band) for name, one in tables.items()}
    if isinstance(table, Mapping):
        shares = pd.concat(frames, names=["table"]).reset_index(level="table").reset_index(drop=True)
    else:
        (shares,) = frames.values()
    return MacShares(shares, mac=float(used), band=float(band), of_table=mac is None)


def valid_tables(table: "pd.DataFrame | Mapping[str, pd.DataFrame]") -> "dict[str, pd.DataFrame]":
    """Return valid tables by name, a single one under ""; raise `ReportError` if there is none."""
    named = table if isinstance(table, Mapping) else {"": table}
    if not named:
        raise ReportError("There are no tables. Give at least one by name, such as {'before': table, 'after': other}.")
    tables = {str(name): validate_table(as_frame(one)) for name, one in named.items()}
    for valid in tables.values():
        check_cosine_table(valid, "MAC")
    return tables


def _shares(table: "pd.DataFrame", level: str, band: float) -> "pd.DataFrame":
    """Return the shares of one table's pairs inside and outside a band."""
    import pandas as pd

    similarity = table["cosine_similarity"]
    frame = table.assign(
        # Rounding must not move a pair across an end of the band.
        inside=similarity.abs() <= band + _ROUNDING,
        above=similarity > band + _ROUNDING,
        below=similarity < -band - _ROUNDING,
    )
    keys = ["connection"] if level == "connection" else ["protected_group", "protected_word", "connection"]
    frame["connection"] = frame["connection"].astype(str)
    by_keys = frame.groupby(keys, sort=False)
    values = by_keys["cosine_similarity"]
    columns = {"pairs": values.size(), "mean": values.mean(), "sd": values.std()}
    columns |= {name: values.quantile(share) for name, share in _QUANTILES.items()}
    columns |= {name: by_keys[name].mean() for name in ("inside", "above", "below")}
    result = pd.DataFrame(columns)[["pairs", "mean", "sd", *_QUANTILES, "inside", "above", "below"]].reset_index()
    # Protected groups and words in the order of the table, connections in the order of the schema.
    places = {name: {label: position for position, label in enumerate(frame[name].unique())} for name in keys}
    places["connection"] = {name: position for position, name in enumerate(CONNECTIONS)}
    return result.sort_values(keys, key=lambda labels: labels.map(places[str(labels.name)]), ignore_index=True)


def mean_average_distance(table: "pd.DataFrame") -> float:
    """Return MAC as a cosine distance: the mean over protected words and stereotype lists of the mean distance.

    Raises `ReportError` if the table has no stereotype lists.
    """
    stereotypes = table[table["connection"].isin(_STEREOTYPES)]
    if stereotypes.empty:
        raise ReportError(
            "The table has only control words, which MAC leaves out. Give the MAC of the band, such as mac=0.859."
        )
    means = stereotypes.groupby(["protected_word", "attribute_group"], observed=True)["cosine_distance"].mean()
    return float(np.mean(means))
