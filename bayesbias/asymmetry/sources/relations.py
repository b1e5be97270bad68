"""`with_relations`: relations of pairs of words, as listed by ConceptNet, EVALution and others."""

from typing import Any

import pandas as pd

from bayesbias.asymmetry.sources.conditional_sources import PAIR, checked_pairs
from bayesbias.base.checks import check_type, is_text, shown
from bayesbias.errors import ArgumentError, MeasureError, did_you_mean, name_some

RELATION_COLUMNS = ("head", "relation", "tail")
REST = "RelatedTo"
"""Relation of pairs that are not listed, as in ConceptNet."""


def with_relations(pairs: Any, relations: pd.DataFrame, *, unlisted: str | None = REST) -> pd.DataFrame:
    """Return pairs of words with their relations, each in the order of its relation.

    Parameters
    ----------
    pairs
        Pairs (a, b), or a frame with the columns `a` and `b`, in any order; other columns are kept.
    relations
        From `read_relations`: `head`, `relation`, `tail`.
    unlisted
        Relation of pairs that `relations` does not list, as in the paper. None leaves them out.

    Returns
    -------
    pandas.DataFrame
        One row for each pair and relation: `a` (the head), `b` (the tail), `relation`, `directed`, and the other
        columns of `pairs`, where `forward` and `backward` (from `Evocation.pairs`) follow the order of the pair. A pair
        with several relations has several rows. A pair that a relation lists in both orders
        has one row in the given order and no direction (`directed` is False), like the pairs of `unlisted`: their mean
        LAR would depend on an arbitrary order.

    Raises
    ------
    MeasureError
        If a frame is invalid, or no pair has a relation.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), section 5.

    Examples
    --------
    >>> relations = pd.DataFrame({"head": ["ellipse"], "relation": ["IsA"], "tail": ["shape"]})
    >>> bb.asymmetry.with_relations([("shape", "ellipse"), ("shape", "circle")], relations)
             a        b   relation  directed
    0  ellipse    shape        IsA      True
    1    shape   circle  RelatedTo     False
    """
    frame = checked_pairs(pairs)
    listed = checked_relations(relations)
    if unlisted is not None and not is_text(unlisted):
        raise ArgumentError(f"unlisted={shown(unlisted)}: give the name of a relation, or None.")
    frame = frame.drop(columns=[name for name in ("relation", "directed") if name in frame])
    frame = frame.assign(_row=range(len(frame)))
    same = listed.rename(columns={"head": "a", "tail": "b"}).assign(_turned=False)
    turned = listed.rename(columns={"head": "b", "tail": "a"}).assign(_turned=True)
    joined = frame.merge(pd.concat([same, turned]), on=list(PAIR), how="left")
    if joined["relation"].isna().all():
        raise MeasureError(
            f"None of the {len(frame):,} pairs has a relation, for example not {frame['a'][0]} - {frame['b'][0]}. Give "
            "relations of words of the same language and case."
        )
    both = joined.duplicated(["_row", "relation"], keep=False) & joined["relation"].notna()
    joined = joined[~(both & joined["_turned"].eq(True))]
    joined = joined.assign(directed=~both[joined.index] & joined["relation"].notna())
    turn = joined["_turned"].eq(True)
    heads, tails = joined["a"].where(~turn, joined["b"]), joined["b"].where(~turn, joined["a"])
    joined = joined.assign(a=heads, b=tails)
    joined = joined[joined["relation"].notna()] if unlisted is None else joined.fillna({"relation": unlisted})
    for name in (name for name in frame.columns if name.startswith("forward")):
        if (opposite := name.replace("forward", "backward", 1)) in frame:
            ahead, back = joined[name], joined[opposite]
            joined = joined.assign(**{name: ahead.where(~turn, back), opposite: back.where(~turn, ahead)})
    others = [name for name in frame.columns if name not in {*PAIR, "_row"}]
    return joined[[*PAIR, "relation", "directed", *others]].reset_index(drop=True)


def chosen_relations(frame: pd.DataFrame, relations: Any) -> list[str]:
    """Return the chosen relations, by default all, the largest first; raise `MeasureError` if one is unknown."""
    if "relation" not in frame:
        raise MeasureError("The pairs have no column relation. Add it with bb.asymmetry.with_relations.")
    names = list(frame["relation"].value_counts().index)
    if relations is None:
        return names
    chosen = [relations] if isinstance(relations, str) else list(relations)
    for name in chosen:
        if name not in names:
            raise MeasureError(
                f"There is no relation {name!r}{did_you_mean(str(name), names)}. Choose from {name_some(names, 40)}."
            )
    return list(dict.fromkeys(chosen))


def checked_relations(relations: Any) -> pd.DataFrame:
    """Return the columns of relations, each tuple once; raise `MeasureError` if they are invalid."""
    check_type(
        "relations", relations, pd.DataFrame, "a frame with head, relation and tail (bb.asymmetry.read_relations)"
    )
    if lacking := [name for name in RELATION_COLUMNS if name not in relations.columns]:
        raise MeasureError(f"The relations lack the columns {', '.join(lacking)}. Give head, relation and tail.")
    frame = pd.DataFrame(relations)[list(RELATION_COLUMNS)].drop_duplicates().reset_index(drop=True)
    if frame.empty:
        raise MeasureError("The relations have no rows. Give head, relation and tail.")
    for name in RELATION_COLUMNS:
        for row, word in enumerate(frame[name].tolist()):
            if not isinstance(word, str) or not word:
                raise MeasureError(f"Row {row} of the relations has {shown(word)} as {name}. Give text.")
    return frame
