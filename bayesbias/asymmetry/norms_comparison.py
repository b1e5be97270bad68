"""`compare_norms`: means of relations in several norms, and how far the norms agree on asymmetry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from bayesbias.asymmetry.agreement import LEAST_PAIRS, WEIGHTED, cam
from bayesbias.asymmetry.norms_source import Evocation
from bayesbias.asymmetry.relation_means import alar, chosen_relations, with_relations
from bayesbias.asymmetry.vector_source import lar
from bayesbias.base.checks import HDI_PROB, check_items, check_probability, check_type, resolve_seed
from bayesbias.base.number_text import counted, interval_text, percent_text
from bayesbias.base.results import Contents, Result, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import MeasureError, setting
from bayesbias.estimates.intervals import settled_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class NormsComparison(Result):
    """Asymmetry in several norms: means of relations, and correlations between norms.

    Parameters
    ----------
    norms
        Names of the norms.
    counts
        Numbers of pairs: `norms`, `pairs`, and `common`, those that all norms list.
    relations
        One row per norms and relation, from `alar` of all their pairs: `norms` and its columns; empty without relations
        that order their words.
    agreement
        One row per two norms and relation, from `cam` of their common pairs: `first`, `second` and its columns.
    seen, hdi_prob, random_seed
        The arguments of `compare_norms`; the seed is the one used.
    """

    norms: tuple[str, ...]
    counts: "pd.DataFrame"
    relations: "pd.DataFrame"
    agreement: "pd.DataFrame"
    seen: str
    hdi_prob: float
    random_seed: int

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        counts = [
            Statement(
                "pairs", f"{row['norms']}: {counted(row['pairs'], 'pair')}, and all norms list {row['common']:,}.", row
            )
            for row in rows_of(self.counts)
        ]
        whole = self.agreement
        if (whole["relation"] == WEIGHTED).any():
            whole = whole[whole["relation"] == WEIGHTED]
        title = f"Agreement of norms ({percent_text(self.hdi_prob)} intervals)"
        row = rows_of(whole)[0]
        agree = "agree" if row["hdi_low"] > 0 else "disagree" if row["hdi_high"] < 0 else ""
        names = f"{row['first']} and {row['second']}"
        text = (
            f"{names} {agree} on which word evokes the other more"
            if agree
            else f"Whether {names} agree on which word evokes the other more is not settled"
        )
        ends = interval_text(row["hdi_low"], row["hdi_high"])
        answer = Statement("answer", f"{text}: rank correlation {row['cam']:+z.3f} ({ends}).", row)
        return (
            StatementList("", (answer,), bulleted=False),
            StatementList("Pairs", tuple(counts)),
            StatementList(title, tuple(map(_agreement_statement, rows_of(whole)))),
        )

    @cached_property
    def contents(self) -> Contents:
        """Numbers of pairs, means of relations, and agreement of norms."""
        return contents_of(
            self,
            title=f"Do {' and '.join(self.norms)} agree on which word evokes the other more?",
            captions={
                "counts": "Pairs of each of the norms",
                "relations": "Mean log asymmetry ratio (ALAR) of each relation in each of the norms",
                "agreement": "Correlation on asymmetry (CAM) of norms, on the pairs that all list",
            },
            differences=("relations",),
        )


def _agreement_statement(row: Mapping[str, Any]) -> Statement:
    what = settled_text(row["hdi_low"], row["hdi_high"])
    text = (
        f"{row['first']} and {row['second']}, {counted(row['pairs'], 'pair')}: CAM {row['cam']:+z.3f} "
        f"({interval_text(row['hdi_low'], row['hdi_high'])}), {what}; with infinitely many participants "
        f"{row['cam_corrected']:+z.3f} ({interval_text(row['cam_corrected_low'], row['cam_corrected_high'])})."
    )
    return Statement("agreement", text, row)


def compare_norms(
    norms: Mapping[str, Evocation] | Sequence[Evocation],
    relations: "pd.DataFrame | None" = None,
    *,
    relation: Any = None,
    seen: str = "both",
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> NormsComparison:
    """Return means of relations in several norms, and how far the norms agree on which word evokes the other more.

    Parameters
    ----------
    norms
        At least two, from `evocation`: a list, or a mapping of names.
    relations, relation, seen, hdi_prob, random_seed
        As for `report`.

    Returns
    -------
    NormsComparison
        Means of relations over all pairs of each of the norms, and correlations over the pairs that all norms list.

    Raises
    ------
    MeasureError
        If there are fewer than two norms, two have the same name, or they have fewer than ten pairs in common.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), tables 1 and 5.

    Examples
    --------
    >>> words = bb.load_study("weat7").protected_words[:6]
    >>> rows = [(a, b, 2 + at, 100) for a in words for at, b in enumerate(words) if a != b]
    >>> table = pd.DataFrame(rows, columns=["cue", "response", "count", "participants"])
    >>> norms = {name: bb.asymmetry.evocation(table) for name in ("first", "second")}
    >>> bb.asymmetry.compare_norms(norms, random_seed=1).agreement[["relation", "pairs", "cam"]].values.tolist()
    [['all pairs', 15, 1.0]]
    """
    import pandas as pd

    seed = resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    every = named_norms(norms)
    if len(every) < 2:
        raise MeasureError(f"There is one of the norms, {next(iter(every))}. Give at least two to compare them.")
    pairs = {name: pairs_of(of_people, relations, relation=relation, seen=seen) for name, of_people in every.items()}
    ratios = {name: lar(every[name], frame, hdi_prob=hdi_prob) for name, frame in pairs.items()}
    keys = {name: _unordered(frame) for name, frame in ratios.items()}
    in_all = set.intersection(*map(set, keys.values()))
    common = {name: frame[[key in in_all for key in keys[name]]] for name, frame in ratios.items()}
    counts = [{"norms": name, "pairs": len(set(keys[name])), "common": len(in_all)} for name in every]
    directed = {name: frame for name, frame in ratios.items() if "directed" in frame and frame["directed"].sum() > 1}
    means = {name: alar(frame, hdi_prob=hdi_prob, random_seed=seed) for name, frame in directed.items()}
    if len(in_all) < LEAST_PAIRS:
        raise MeasureError(
            f"{', '.join(every)} have {len(in_all)} pairs in common; at least {LEAST_PAIRS} are needed. Give norms of "
            "the same language and case."
        )
    agreement = [
        cam(common[first], common[second], hdi_prob=hdi_prob).assign(first=first, second=second)
        for first, second in combinations(every, 2)
    ]
    whole = pd.concat(agreement, ignore_index=True)
    return NormsComparison(
        norms=tuple(every),
        counts=pd.DataFrame(counts),
        relations=stacked(means, "norms"),
        agreement=whole[["first", "second", *(name for name in whole.columns if name not in ("first", "second"))]],
        seen=seen,
        hdi_prob=hdi_prob,
        random_seed=seed,
    )


def pairs_of(norms: Evocation, relations: "pd.DataFrame | None", *, relation: Any, seen: str) -> "pd.DataFrame":
    """Return the pairs of norms with the chosen relations; raise `MeasureError` if there are too few."""
    pairs = norms.pairs(seen=seen)
    if relations is not None:
        pairs = with_relations(pairs, relations)
        if relation is not None:
            pairs = pairs[pairs["relation"].isin(chosen_relations(pairs, relation))]
    elif relation is not None:
        raise MeasureError(f"relation={relation!r}, but no relations are given. Give them: {setting('relations')}.")
    if len(pairs) < LEAST_PAIRS:
        raise MeasureError(
            f"{norms.name} has {len(pairs)} such pairs; at least {LEAST_PAIRS} are needed. Choose more relations, or "
            "seen='either'."
        )
    return pairs


def named_norms(norms: Any) -> dict[str, Evocation]:
    """Return norms by name, each with the name of its key; raise an error unless they are evocation data."""
    what = "evocation data, bb.asymmetry.evocation(table), or a list or mapping of such"
    if isinstance(norms, Mapping):
        listed = [
            replace(check_type("norms", of_people, Evocation, what), name=name) for name, of_people in norms.items()
        ]
    else:
        listed = [check_type("norms", of_people, Evocation, what) for of_people in check_items("norms", norms, what)]
    every = {of_people.name: of_people for of_people in listed}
    if not every or len(every) < len(listed):
        names = ", ".join(of_people.name for of_people in listed) or "missing"
        raise MeasureError(f"The names of the norms are {names}. Give each once, with a name of its own: {what}.")
    return every


def _unordered(frame: "pd.DataFrame") -> list[tuple[str, str]]:
    return [(min(pair), max(pair)) for pair in zip(frame["a"], frame["b"], strict=True)]


def stacked(frames: "Mapping[str, pd.DataFrame]", label: str = "source") -> "pd.DataFrame":
    """Return frames in one, with their names in a first column."""
    import pandas as pd

    if not frames:
        return pd.DataFrame(columns=[label, "relation"])
    parts = [pd.DataFrame(frame).assign(**{label: name}) for name, frame in frames.items()]
    whole = pd.concat(parts, ignore_index=True)
    return whole[[label, *(name for name in whole.columns if name != label)]]
