"""Training, development and test parts of a data set of labelled pairs."""

from typing import TYPE_CHECKING

from bayesbias.errors import MeasureError, name_some

if TYPE_CHECKING:
    import pandas as pd

_NAMES = {
    "train": ("train", "training"),
    "development": ("dev", "development", "trial", "valid", "validation"),
    "test": ("test",),
}
"""Names of the parts in data sets, in lower case."""


def parts_of(pairs: "pd.DataFrame") -> "tuple[pd.DataFrame, pd.DataFrame | None, pd.DataFrame | None]":
    """Return the training, development and test pairs by their `split`; without splits, all are training pairs.

    >>> pairs = pd.DataFrame({"premise": list("abc"), "hypothesis": list("abc"), "label": ["neutral"] * 3})
    >>> [len(part) for part in parts_of(pairs.assign(split=["TRAIN", "TRIAL", "TEST"]))]
    [1, 1, 1]
    >>> parts_of(pairs.assign(split=""))[1:]
    (None, None)
    """
    splits = pairs["split"].str.strip().str.lower()
    split_names = sorted(set(splits))
    if split_names == [""]:
        return pairs, None, None
    if unknown := [name for name in split_names if not any(name in names for names in _NAMES.values())]:
        known_names = ", ".join(name for names in _NAMES.values() for name in names)
        raise MeasureError(
            f"The pairs have the split {name_some(unknown)}, which is not one of {known_names}. Keep only the training "
            "pairs: bb.nli.read_pairs(path, splits=...)."
        )
    parts = {part: pairs[splits.isin(names)].reset_index(drop=True) for part, names in _NAMES.items()}
    if parts["train"].empty:
        raise MeasureError(
            f"The pairs have the splits {name_some(split_names)}, but no training split. Give a file with one."
        )
    development, test = (None if parts[name].empty else parts[name] for name in ("development", "test"))
    return parts["train"], development, test
