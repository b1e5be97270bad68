"""WEAT 7 in real vectors, with a third group of protected words that no list, or every list, is associated with."""

from functools import cache

import pandas as pd

import bayesbias as bb
from bayesbias.embeddings.embedding import Embedding

PEOPLE = ("farmer", "doctor", "teacher", "soldier", "lawyer", "nurse", "artist")
QUESTION = {"people to lists": (("people", "male"), ("people", "female"))}
CONTROLS = ("dallas", "called", "exports", "corrected", "solutions", "households", "north", "reach")
# What the third group lacks, by design.
LACKING = {"none": {"people": "no associated list"}, "both": {"people": "no different list"}}


@cache
def vectors() -> Embedding:
    return bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))


def study(third: str = "") -> bb.Study:
    """Return WEAT 7; `third` is a third group that is associated with no list ("none") or "both"."""
    weat = bb.load_study("weat7")
    pairs = [("people", name) for name in weat.attributes] if third == "both" else []
    return bb.Study(
        name=f"weat7 and people, {third}" if third else "weat7",
        protected=dict(weat.protected) | ({"people": PEOPLE} if third else {}),
        attributes=weat.attributes,
        associated=(*weat.associated, *pairs),
        human="none",
        neutral=CONTROLS,
        questions=QUESTION if third else {},
    )


@cache
def table(third: str = "") -> pd.DataFrame:
    return bb.distance_table(vectors(), study(third))
