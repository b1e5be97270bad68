"""Test sets: pairs of sentences generated from a definition in TOML, or read from files."""

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, Required, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias.base.checks import check_frame, check_items, check_type, is_text
from bayesbias.base.files.inputs import MemoryCost, bundled, input_file, parse_json, read_toml, read_utf8
from bayesbias.base.files.settings import toml_faults
from bayesbias.base.machine import check_memory
from bayesbias.errors import MeasureError, did_you_mean, name_some, raise_faults
from bayesbias.nli.model_scores import LABELS
from bayesbias.nli.sentences import words_of

_CONTENT = ("articles", "objects", "pairs")
_VOWELS = "aeiou"
# Measured.
_BYTES_AN_ACTION, _BYTES_A_PAIR, _BYTES_A_TEXT = 250, 500, 100
_COPIES = 5  # of a text, while the texts are made
KINDS = {"nouns": "noun", "pronouns": "pronoun", "names": "name"}
"""Lists of a group, and the kind of their words: nouns have an article, the others have none."""
COLUMNS = ("premise", "hypothesis", "label", "split")
_WITHOUT_LABEL = "-"
# Names of these columns in SNLI, MultiNLI, SICK and others.
_NAMES = {
    "premise": ("premise", "sentence1", "sentence_A"),
    "hypothesis": ("hypothesis", "sentence2", "sentence_B"),
    "label": ("label", "gold_label", "entailment_label", "entailment_judgment"),
    "split": ("split", "SemEval_set"),
}


class _Articles(TypedDict, total=False):
    before_consonant: str
    before_vowel: str
    exceptions: dict[str, str]


class _Group(TypedDict, total=False):
    nouns: list[str]
    pronouns: list[str]
    names: list[str]


class _Rule(TypedDict):
    verbs: list[str]
    objects: list[str]


class _TestSetFile(TypedDict, total=False):
    name: str
    description: str
    source: str
    premise: str
    hypothesis: str
    subjects: list[str]
    groups: Required[dict[str, _Group]]
    sentences: str
    articles: _Articles
    objects: dict[str, list[str]]
    pairs: list[_Rule]


@dataclass(frozen=True)
class Articles:
    """Indefinite articles: by the first letter of a word, except for exceptions."""

    before_consonant: str = ""
    before_vowel: str = ""
    exceptions: Mapping[str, str] = field(default_factory=dict)

    def put(self, word: str) -> str:
        """Return a word with its article.

        >>> [Articles("a", "an", {"SUV": "an"}).put(word) for word in ("car", "oven", "SUV")]
        ['a car', 'an oven', 'an SUV']
        """
        first = self.before_vowel if word[0].lower() in _VOWELS else self.before_consonant
        return f"{self.exceptions.get(word, first)} {word}".strip()


@dataclass(frozen=True)
class Definition:
    """Definition of a test set.

    - `premise`, `hypothesis`: templates, with ``{word}`` in the hypothesis, and ``{verb}`` and ``{object}`` in both.
    - `words`: (word, word with its article, group, kind), in order.
    - `subjects`: words for ``{subject}`` in the premise, if it has one.
    - `pairs`: (verb, object, object with its article), each once.
    - `articles`: articles of the subjects.
    """

    premise: str
    hypothesis: str
    words: tuple[tuple[str, str, str, str], ...]
    subjects: tuple[str, ...]
    pairs: tuple[tuple[str, str, str], ...]
    articles: Articles


def read_definition(path: Path) -> Definition:
    """Return the definition in a TOML file; raise `MeasureError` with all of its faults."""
    content = read_toml(path, MeasureError)
    where = f"The test set {path}"
    faults = (toml_faults(content, _TestSetFile), _template_faults(content), _sentences_faults(content))
    raise_faults(MeasureError, where, chain.from_iterable(faults))
    if name := content.get("sentences"):
        shared = read_toml(bundled("data", "nli", "sentences", f"{name}.toml"), MeasureError)
        content = {**{key: shared[key] for key in _CONTENT if key in shared}, **content}
    raise_faults(MeasureError, where, _list_faults(content))
    _check_size(content, path)
    articles = Articles(**content.get("articles", {}))
    words = [
        (word, articles.put(word) if kind == "noun" else word, group, kind)
        for group, kinds in content["groups"].items()
        for listed, kind in KINDS.items()
        for word in kinds.get(listed, ())
    ]
    pairs = dict.fromkeys(
        (verb, thing, articles.put(thing))
        for rule in content["pairs"]
        for verb in rule["verbs"]
        for name in rule["objects"]
        for thing in content["objects"][name]
    )
    return Definition(
        content["premise"], content["hypothesis"], tuple(words), tuple(content.get("subjects", ())), tuple(pairs),
        articles,
    )  # fmt: skip


def _check_size(content: Mapping[str, Any], path: Path) -> None:
    """Raise `NotEnoughMemoryError` if the pairs of all words and actions do not fit into the free memory."""
    words = [word for kinds in content["groups"].values() for listed in kinds.values() for word in listed]
    subjects = content.get("subjects", [""])
    letters = {name: sum(map(len, listed)) for name, listed in content["objects"].items()}
    actions = letters_of_actions = 0
    for rule in content["pairs"]:
        verbs, objects = len(rule["verbs"]), sum(len(content["objects"][name]) for name in rule["objects"])
        actions += verbs * objects
        letters_of_actions += verbs * sum(letters[name] for name in rule["objects"])
        letters_of_actions += objects * sum(map(len, rule["verbs"]))
    needed = actions * _BYTES_AN_ACTION + len(words) * len(subjects) * actions * _BYTES_A_PAIR
    for key, firsts in (("premise", subjects), ("hypothesis", words)):
        texts = len(firsts) * actions
        letters_of_texts = texts * len(content[key]) + len(firsts) * letters_of_actions
        letters_of_texts += actions * sum(map(len, firsts))
        needed += texts * _BYTES_A_TEXT + _COPIES * letters_of_texts
    pairs = f"The {len(words) * len(subjects) * actions:,} pairs of the test set {path}"
    check_memory(needed, pairs, "Give fewer or shorter words, verbs or objects.")


def _sentences_faults(content: Mapping[str, Any]) -> Iterator[str]:
    bundled_names = sorted(path.stem for path in bundled("data", "nli", "sentences").glob("*.toml"))
    name = content.get("sentences")
    if name is None:
        for key in ("objects", "pairs"):
            if key not in content:
                yield (
                    f"{key} is missing: give verbs and objects, or use bundled ones, such as "
                    f'sentences = "{bundled_names[0]}".'
                )
    elif name not in bundled_names:
        hint = did_you_mean(str(name), bundled_names)
        yield f"sentences is {name!r}{hint}: the bundled ones are {', '.join(bundled_names)}."
    elif both := [key for key in ("objects", "pairs") if key in content]:
        yield f"sentences and {' and '.join(both)} are both given: use either the bundled sentences or your own."


def _template_faults(content: Mapping[str, Any]) -> Iterator[str]:
    subject = {"subject"} if "subjects" in content else set()
    for key, wanted in (("premise", {"verb", "object", *subject}), ("hypothesis", {"word", "verb", "object"})):
        text = content.get(key, "")
        if not isinstance(text, str) or not text.strip():
            yield f'{key} is missing: write a template, such as {key} = "{_example(wanted)}".'
            continue
        placeholders = re.findall(r"\{(\w*)\}", text)
        if (
            set(placeholders) != wanted
            or len(placeholders) != len(wanted)
            or re.search(r"[{}]", re.sub(r"\{\w*\}", "", text))
        ):
            names = ", ".join(f"{{{name}}}" for name in sorted(wanted))
            yield f"{key} is {text!r}: it must contain {names}, each once, and no other braces."


def _example(wanted: set[str]) -> str:
    first = "{word}" if "word" in wanted else "{subject}" if "subject" in wanted else "A person"
    return f"{first} {{verb}} {{object}}."


def _list_faults(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield words that are not usable or occur twice, and lists of objects that do not exist."""
    groups, objects = content["groups"], content["objects"]
    lists = {f"objects.{name}": words for name, words in objects.items()}
    lists |= {f"pairs (item {number}).verbs": rule["verbs"] for number, rule in enumerate(content["pairs"], start=1)}
    if "subjects" in content:
        lists["subjects"] = content["subjects"]
    places: dict[str, str] = {}
    for group, kinds in groups.items():
        if not kinds:
            yield f"groups.{group} has no words: give nouns (with an article), names or pronouns (without one)."
        for kind, words in kinds.items():
            place = f"groups.{group}.{kind}"
            lists[place] = words
            for word in dict.fromkeys(words):
                if word in places:
                    yield f"{word!r} is in {places[word]} and in {place}: keep one of them."
                places[word] = place
    for place, words in lists.items():
        for word in words:
            if not word or word != word.strip() or not word.isprintable() or set(word) & set("{}"):
                yield f"{place} has {word!r}: a word is text without braces, and without spaces around it."
        if twice := sorted(word for word, count in Counter(words).items() if count > 1):
            yield f"{place} has {', '.join(twice)} more than once."
    for number, rule in enumerate(content["pairs"], start=1):
        for name in rule["objects"]:
            if name not in objects:
                yield f"pairs (item {number}): there is no list {name!r} in objects{did_you_mean(name, objects)}."


def list_test_sets() -> list[str]:
    """Return the names of the bundled test sets.

    Examples
    --------
    >>> bb.nli.list_test_sets()
    ['dev_occupations', 'explicit', 'names', 'occupations']
    """
    return sorted(path.stem for path in bundled("data", "nli").glob("*.toml"))


def test_set(name: str | os.PathLike[str]) -> pd.DataFrame:  # not a test of pytest
    """Return the pairs of sentences of a test set, whose correct label is always "neutral".

    Parameters
    ----------
    name
        ``"explicit"``: A person VERB OBJECT -> A man VERB OBJECT (8 words, 15,744 pairs); ``"names"`` (64 words,
        125,952 pairs); ``"occupations"`` (32 words, 62,976 pairs); ``"dev_occupations"``: An OCCUPATION VERB OBJECT ->
        A man VERB OBJECT (164 occupations, 6 words, 1,936,512 pairs). Or the path of a TOML file (text that ends in
        ``.toml`` is a path).

    Returns
    -------
    pandas.DataFrame
        One row per pair, word by word, each with the same premises in the same order: `premise`, `hypothesis`, `word`,
        `group`, `kind` (``"noun"``, ``"pronoun"`` or ``"name"``), `verb` and `object`; and `subject`, the subject of
        the premise, if the definition has subjects. The same file always gives the same rows, so the index identifies a
        pair.

    Raises
    ------
    MeasureError
        If there is no such test set, or the file has faults; all are listed.
    InputFileError
        If the file cannot be read.

    Notes
    -----
    Verbs and objects, and the rule that combines them, are those of the code of Dev et al.; so are the occupations of
    ``"dev_occupations"``. Dawkins's names and occupations were not available: those of ``"names"`` and
    ``"occupations"`` are our choice, in the same numbers and as the paper describes them.

    References
    ----------
    Hillary Dawkins (2021). Marked attribute bias in natural language inference. Findings of ACL-IJCNLP 2021, sections
    3.2 and 3.3, appendix A. Sunipa Dev, Tao Li, Jeff M. Phillips and Vivek Srikumar (2020). On measuring and mitigating
    biased inferences of word embeddings. AAAI 34(05), 7659-7666.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit")
    >>> len(pairs), *pairs.loc[15_743, ["premise", "hypothesis"]]
    (15744, 'A person prepared a soup.', 'She prepared a soup.')
    """
    return pairs_of(read_definition(_path(name)))


def pairs_of(definition: Definition) -> pd.DataFrame:
    """Return the pairs of sentences of a definition."""
    actions = [(verb, put) for verb, _, put in definition.pairs]
    words, subjects = definition.words, definition.subjects or ("",)
    # Each sentence is made once, and shared by the rows.
    with_articles = [definition.articles.put(subject) if subject else "" for subject in subjects]
    premises = _sentences(definition.premise, with_articles, actions)
    hypotheses = _sentences(definition.hypothesis, [put for _, put, _, _ in words], actions).reshape(len(words), 1, -1)
    of_word, of_subject, of_action = (
        index.ravel() for index in np.indices((len(words), len(subjects), len(actions)), dtype=np.int32)
    )
    shape = (len(words), len(subjects), len(actions))
    frame = pd.DataFrame(
        {
            "premise": np.tile(premises, len(words)),
            "hypothesis": np.broadcast_to(hypotheses, shape).ravel(),
            "word": _labels(of_word, [word for word, _, _, _ in words]),
            "group": _labels(of_word, [group for _, _, group, _ in words]),
            "kind": _labels(of_word, [kind for _, _, _, kind in words]),
            "verb": _labels(of_action, [verb for verb, _, _ in definition.pairs]),
            "object": _labels(of_action, [thing for _, thing, _ in definition.pairs]),
        }
    )
    if definition.subjects:
        frame["subject"] = _labels(of_subject, subjects)
    return frame


def _sentences(template: str, firsts: Sequence[str], actions: Sequence[tuple[str, str]]) -> NDArray[np.object_]:
    """Return the sentences of all actions about the first word or subject, then those about the second, and so on."""
    of_actions = [template.replace("{verb}", verb).replace("{object}", thing) for verb, thing in actions]
    filled = [text.replace("{word}", first).replace("{subject}", first) for first in firsts for text in of_actions]
    return np.array([text[0].upper() + text[1:] for text in filled], dtype=object)


def _labels(codes: NDArray[np.int32], values: Sequence[str]) -> Any:
    categories = list(dict.fromkeys(values))
    place = {value: code for code, value in enumerate(categories)}
    of_values = np.array([place[value] for value in values], dtype=np.int32)
    return pd.Categorical.from_codes(of_values[codes], pd.Index(categories))


def _path(name: str | os.PathLike[str]) -> Path:
    check_type("name", name, (str, os.PathLike), "the name of a test set, or the path of a TOML file")
    if isinstance(name, os.PathLike) or name.endswith(".toml"):
        return Path(name)
    bundled_names = list_test_sets()
    if name not in bundled_names:
        raise MeasureError(
            f"There is no test set {name!r}{did_you_mean(name, bundled_names)}. Give the name of a bundled one "
            f"({', '.join(bundled_names)}) or the path of a TOML file."
        )
    return bundled("data", "nli", f"{name}.toml")


_PAIRS = MemoryCost(4, 500, b"\n\r")

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
    text = read_utf8(source, _PAIRS, MeasureError, most=inf)  # MNLI has more than other texts may have
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


def checked_sentence_pairs(name: str, pairs: Any, *, training: bool = False) -> pd.DataFrame:
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


def bundled_words() -> set[str]:
    """Return the words of the bundled test sets."""
    words = set()
    for name in list_test_sets():
        definition = read_definition(bundled("data", "nli", f"{name}.toml"))
        texts = [re.sub(r"\{\w*\}", " ", template) for template in (definition.premise, definition.hypothesis)]
        # A sentence may begin with these, and then with a capital.
        first = [*map(definition.articles.put, definition.subjects), *(text for _, text, _, _ in definition.words)]
        texts += [*definition.subjects, *first, *(text[:1].upper() + text[1:] for text in first)]
        texts += [f"{verb} {thing}" for verb, _, thing in definition.pairs]
        words |= {word for text in texts for word in words_of(text)}
    return words
