"""`read_pairs`: labelled pairs of sentences from SNLI's format or from tables."""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias.base.checks import check_frame, check_items, is_text
from bayesbias.base.files.contents import MemoryCost
from bayesbias.base.files.documents import parse_json
from bayesbias.base.files.inputs import input_file, read_utf8
from bayesbias.errors import MeasureError, did_you_mean, name_some, raise_faults
from bayesbias.nli.test_sets.scores import LABELS

COLUMNS = ("premise", "hypothesis", "label", "split")
_WITHOUT_LABEL = "-"
# Names of these columns in SNLI, MultiNLI, SICK and others.
_NAMES = {
    "premise": ("premise", "sentence1", "sentence_A"),
    "hypothesis": ("hypothesis", "sentence2", "sentence_B"),
    "label": ("label", "gold_label", "entailment_label", "entailment_judgment"),
    "split": ("split", "SemEval_set"),
}
_PAIRS = MemoryCost(4, 500)

type Record = tuple[int, Mapping[str, Any]]


def read_pairs(path: str | os.PathLike[str], *, splits: str | Iterable[str] | None = None) -> pd.DataFrame:
    r"""Return the labelled pairs of sentences in a file.

    Parameters
    ----------
    path
        Either ``.jsonl`` in the format of SNLI and MultiNLI (`gold_label`, `sentence1`, `sentence2`), or a table with a
        header line and columns separated by commas or tabs: `premise`, `hypothesis`, `label` and optionally `split`, or
        those of SICK (`sentence_A`, `sentence_B`, `entailment_label`, `SemEval_set`) or SNLI. UTF-8, optionally
        gzipped.
    splits
        Splits to keep, such as ``"TRAIN"`` or ``["TRAIN", "TRIAL"]``, in upper or lower case. None keeps all.

    Returns
    -------
    pandas.DataFrame
        `premise`, `hypothesis`, `label` (``"neutral"``, ``"entailment"``, ``"contradiction"``) and `split` (empty if
        the file has none). Pairs with the label ``"-"``, on which SNLI's annotators did not agree, are left out;
        ``frame.attrs["without_label"]`` is their number.

    Raises
    ------
    InputFileError
        If the file cannot be read.
    MeasureError
        If a line is empty or malformed, a sentence is missing, or a label is unknown; all such lines are listed.

    References
    ----------
    Bowman et al. (2015), *A large annotated corpus for learning natural language inference*; Marelli et al. (2014),
    *A SICK cure for the evaluation of compositional distributional semantic models*.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "pairs.csv"
    >>> _ = path.write_text("premise,hypothesis,label\nA man sleeps,Nobody sleeps,CONTRADICTION\n")
    >>> bb.nli.read_pairs(path)
            premise      hypothesis          label split
    0  A man sleeps  Nobody sleeps  contradiction
    """
    source = input_file(path)
    wanted = None if splits is None else _wanted(splits)
    text = read_utf8(source, _PAIRS, MeasureError)
    if not text.strip():
        raise MeasureError(f"{source} is empty. Give a file of labelled pairs.")
    records = _json_records(source, text) if text.lstrip()[0] == "{" else _table_records(source, text)
    rows: list[tuple[str, str, str, str]] = []
    faults: list[str] = []
    left_out = 0
    for number, record in records:
        fields = [_value(record, name) for name in COLUMNS]
        premise, hypothesis, label, split = ("" if value is None else value for value in fields)
        if fault := _fault(premise, hypothesis, label, split):
            faults.append(f"line {number}: {fault}")
        elif wanted is not None and split.lower() not in wanted:
            wanted.setdefault("", []).append(split)  # other splits, for the message
        elif label.strip() == _WITHOUT_LABEL:
            left_out += 1
        else:
            rows.append((premise.strip(), hypothesis.strip(), label.strip().lower(), split))
    raise_faults(MeasureError, str(source), faults)
    frame = pd.DataFrame(rows, columns=list(COLUMNS), dtype=str)
    if wanted is not None:
        _check_splits(source, wanted, {row[3].lower() for row in rows})
    if frame.empty:
        raise MeasureError(f"{source} has no pair with a label. Give a file of labelled pairs.")
    frame.attrs["without_label"] = left_out
    return frame


def checked_pairs(name: str, pairs: Any, *, training: bool = False) -> pd.DataFrame:
    """Return a frame of labelled pairs with labels in lower case; raise `MeasureError` if it is invalid.

    Pairs for `training` must have all three labels and a single split.
    """
    frame = check_frame(name, pairs, "a frame from bb.nli.read_pairs")
    if lacking := [column for column in COLUMNS[:3] if column not in frame.columns]:
        raise MeasureError(f"{name} lacks the columns {', '.join(lacking)}. Make it with bb.nli.read_pairs.")
    if frame.empty:
        raise MeasureError(f"{name} has no rows. Make it with bb.nli.read_pairs.")
    rows = zip(*(frame[column].tolist() for column in COLUMNS[:3]), strict=True)
    faults = [
        f"row {row_number}: {fault}"
        for row_number, row in enumerate(rows)
        if (fault := _fault(row[0], row[1], row[2], ""))
    ]
    raise_faults(MeasureError, name, faults)
    labelled = frame.assign(label=frame["label"].str.strip().str.lower())
    if (labelled["label"] == _WITHOUT_LABEL).any():
        raise MeasureError(f"{name} has pairs without a label ('-'). Leave them out: bb.nli.read_pairs does.")
    if not training:
        return labelled
    if absent := [label for label in LABELS if label not in set(labelled["label"])]:
        there = name_some(sorted(set(labelled["label"])))
        raise MeasureError(
            f"{name} has no pair with the label {' or '.join(absent)}, only with {there}. Give all three labels."
        )
    if "split" in labelled.columns and labelled["split"].nunique() > 1:
        splits = labelled["split"].astype(str).unique().tolist()
        raise MeasureError(
            f"{name} has {len(splits)} splits ({name_some(splits)}), but a model must not be tested on its training "
            f"pairs. Take one split: pairs[pairs['split'] == {splits[0]!r}]; or drop the column to take all."
        )
    return labelled


def _fault(premise: Any, hypothesis: Any, label: Any, split: Any) -> str:
    for name, value in (("premise", premise), ("hypothesis", hypothesis)):
        if value is None or value != value:  # a missing value of pandas
            return f"the {name} is missing."
        if not is_text(value):
            return f"the {name} is {value!r:.60}, which is not text."
        if not value.strip():
            return f"the {name} is empty."
    if not is_text(label) or not is_text(split):
        return f"the label or split is {label!r:.60}, {split!r:.60}, which is not text."
    if label.strip().lower() not in (*LABELS, _WITHOUT_LABEL):
        hint = did_you_mean(label.strip().lower(), LABELS)
        return f"the label is {label[:60]!r}{hint}; use {', '.join(LABELS)}, or '-' for no label."
    return ""


def _wanted(splits: str | Iterable[str]) -> dict[str, list[str]]:
    names = [splits] if isinstance(splits, str) else check_items("splits", splits, "names of splits")
    if not names or not all(map(is_text, names)):
        raise MeasureError(f'splits={splits!r:.60}: give names of splits, such as ["TRAIN"].')
    return {name.lower(): [] for name in names if name}


def _check_splits(source: Path, wanted: Mapping[str, list[str]], splits_present: set[str]) -> None:
    if lacking := [name for name in wanted if name and name not in splits_present]:
        there = sorted({*wanted.get("", ()), *splits_present} - {""})
        what = f"it has {name_some(there)}" if there else "it has no splits: leave out the argument splits"
        raise MeasureError(f"{source} has no pairs of the split {name_some(lacking)}; {what}.")


def _value(record: Mapping[str, Any], name: str) -> Any:
    return next((record[alias] for alias in _NAMES[name] if alias in record), None)


def _json_records(source: Path, text: str) -> Iterator[Record]:
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1] if not lines[-1].strip() else lines, start=1):
        if not line.strip():
            raise MeasureError(f"{source}, line {number} is empty. Delete it.")
        try:
            record = parse_json(line)
        except ValueError as fault:
            raise MeasureError(
                f"{source}, line {number} is no usable JSON ({fault}): {line[:60]!r}. Correct it."
            ) from fault
        if not isinstance(record, dict):
            raise MeasureError(f"{source}, line {number} is {line[:60]!r}, which is not a pair. Correct it.")
        if number == 1:
            _check_columns(source, record)
        yield number, record


def _table_records(source: Path, text: str) -> Iterator[Record]:
    first = text.partition("\n")[0]
    lines = io.StringIO(text, newline="")
    # In tables with tabs, such as those of SICK and SNLI, quotation marks are part of the sentences.
    tabs = "\t" in first
    layout: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if tabs else {}
    reader = csv.reader(lines, strict=True, **layout)
    head: list[str] = []
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as fault:
            raise MeasureError(f"{source}, line {number} is malformed ({fault}). Correct it.") from fault
        if cells is None:
            return
        if not any(cell.strip() for cell in cells):
            raise MeasureError(f"{source}, line {number} is empty. Delete it.")
        if not head:
            head = cells
            if len(set(head)) < len(head):
                raise MeasureError(f"{source}, line 1: two columns have the same name. Rename one.")
            _check_columns(source, head)
            continue
        if len(cells) != len(head):
            raise MeasureError(
                f"{source}, line {number} has {len(cells)} columns, but line 1 has {len(head)}. Correct it."
            )
        yield number, dict(zip(head, cells, strict=True))


def _check_columns(source: Path, names: Iterable[str]) -> None:
    there = list(names)
    if lacking := [name for name in COLUMNS[:3] if not any(alias in there for alias in _NAMES[name])]:
        wanted = "; ".join(f"{name} (or {', '.join(_NAMES[name][1:])})" for name in lacking)
        raise MeasureError(f"{source}, line 1 has {name_some(there)}, but lacks {wanted}. Rename its columns.")
