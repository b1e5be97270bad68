"""Parts of a data set of labelled pairs: to train on, to stop by, to test."""

from typing import TYPE_CHECKING

from bayesbias.errors import MeasureError, name_some

if TYPE_CHECKING:
    import pandas as pd

_NAMES = {
    "train": ("train", "training"),
    "development": ("dev", "development", "trial", "valid", "validation"),
    "test": ("test",),
}
"""What data sets call their parts, in lower case."""


def parts_of(pairs: "pd.DataFrame") -> "tuple[pd.DataFrame, pd.DataFrame | None, pd.DataFrame | None]":
    """Return what to train on, to stop by and to test, by the `split` of each pair; all to train on if there is none.

    >>> pairs = pd.DataFrame({"premise": list("abc"), "hypothesis": list("abc"), "label": ["neutral"] * 3})
    >>> [len(part) for part in parts_of(pairs.assign(split=["TRAIN", "TRIAL", "TEST"]))]
    [1, 1, 1]
    >>> parts_of(pairs.assign(split=""))[1:]
    (None, None)
    """
    splits = pairs["split"].str.strip().str.lower()
    there = sorted(set(splits))
    if there == [""]:
        return pairs, None, None
    if unknown := [name for name in there if not any(name in names for names in _NAMES.values())]:
        known = ", ".join(name for names in _NAMES.values() for name in names)
        raise MeasureError(
            f"The pairs have the split {name_some(unknown)}, and these are known: {known}. Keep those to train on: "
            "bb.nli.read_pairs(path, splits=...)."
        )
    parts = {part: pairs[splits.isin(names)].reset_index(drop=True) for part, names in _NAMES.items()}
    if parts["train"].empty:
        raise MeasureError(f"The pairs have the splits {name_some(there)}, and none to train on. Give a file with one.")
    development, test = (None if parts[name].empty else parts[name] for name in ("development", "test"))
    return parts["train"], development, test
