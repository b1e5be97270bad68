"""Relations of words: which pairs of words are related how, as ConceptNet, EVALution and such list them."""

from typing import Any

import pandas as pd

from bayesbias.asymmetry.sources.conditional_sources import PAIR, checked_pairs
from bayesbias.base.checks import check_type, is_text, shown
from bayesbias.errors import ArgumentError, MeasureError, did_you_mean, name_some

RELATION_COLUMNS = ("head", "relation", "tail")
REST = "RelatedTo"
"""What pairs without a relation are called, as in ConceptNet."""


def with_relations(pairs: Any, relations: pd.DataFrame, *, rest: str | None = REST) -> pd.DataFrame:
    """Give pairs of words their relations, and the order that these say.

    Parameters
    ----------
    pairs
        Pairs (a, b), or a frame with the columns `a` and `b`, in any order; other columns are kept.
    relations
        From `read_relations`: `head`, `relation`, `tail`.
    rest
        The relation of pairs that `relations` does not have, as in the paper; None: they are left out.

    Returns
    -------
    pandas.DataFrame
        A row for each pair and relation: `a` (the head), `b` (the tail), `relation`, `directed`, and the other columns
        of `pairs`. A pair with several relations has several rows. A pair that one relation lists in both orders stands
        once, in the order given, and has no direction (`directed` is False), as have those of `rest`: their mean LAR
        depends on the order in which they happen to be written.

    Raises
    ------
    MeasureError
        If the frames are not such, or no pair has a relation.

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
    known = checked_relations(relations)
    if rest is not None and not is_text(rest):
        raise ArgumentError(f"rest={shown(rest)}: give the name of a relation, or None.")
    frame = frame.drop(columns=[name for name in ("relation", "directed") if name in frame])
    frame = frame.assign(_row=range(len(frame)))
    same = known.rename(columns={"head": "a", "tail": "b"}).assign(_turned=False)
    turned = known.rename(columns={"head": "b", "tail": "a"}).assign(_turned=True)
    joined = frame.merge(pd.concat([same, turned]), on=list(PAIR), how="left")
    if joined["relation"].isna().all():
        raise MeasureError(
            f"None of the {len(frame):,} pairs has a relation, such as {frame['a'][0]} - {frame['b'][0]}. Do the "
            "relations have the same language and case?"
        )
    both = joined.duplicated(["_row", "relation"], keep=False) & joined["relation"].notna()
    joined = joined[~(both & joined["_turned"].eq(True))]
    joined = joined.assign(directed=~both[joined.index] & joined["relation"].notna())
    turn = joined["_turned"].eq(True)
    heads, tails = joined["a"].where(~turn, joined["b"]), joined["b"].where(~turn, joined["a"])
    joined = joined.assign(a=heads, b=tails)
    joined = joined[joined["relation"].notna()] if rest is None else joined.fillna({"relation": rest})
    others = [name for name in frame.columns if name not in {*PAIR, "_row"}]
    return joined[[*PAIR, "relation", "directed", *others]].reset_index(drop=True)


def chosen_relations(frame: pd.DataFrame, relations: Any) -> list[str]:
    """Return the relations asked for, by default all, the largest first; raise `MeasureError` if one is unknown."""
    if "relation" not in frame:
        raise MeasureError(
            "The pairs have no relation. Give them one (bb.asymmetry.with_relations), or a column named relation."
        )
    known = list(frame["relation"].value_counts().index)
    if relations is None:
        return known
    given = [relations] if isinstance(relations, str) else list(relations)
    for name in given:
        if name not in known:
            raise MeasureError(
                f"There is no relation {name!r}{did_you_mean(str(name), known)}: {name_some(known, 40)}."
            )
    return list(dict.fromkeys(given))


def checked_relations(relations: Any) -> pd.DataFrame:
    """Return the columns of relations, each tuple once; raise `MeasureError` with what is wrong."""
    check_type(
        "relations", relations, pd.DataFrame, "a frame with head, relation and tail (bb.asymmetry.read_relations)"
    )
    if lacking := [name for name in RELATION_COLUMNS if name not in relations.columns]:
        raise MeasureError(f"The relations lack the columns {', '.join(lacking)}. Give head, relation and tail.")
    frame = pd.DataFrame(relations)[list(RELATION_COLUMNS)].drop_duplicates().reset_index(drop=True)
    if frame.empty:
        raise MeasureError("There are no relations.")
    for name in RELATION_COLUMNS:
        for row, word in enumerate(frame[name].tolist()):
            if not isinstance(word, str) or not word:
                raise MeasureError(f"Row {row} of the relations has {shown(word)} as {name}. Words are text.")
    return frame
