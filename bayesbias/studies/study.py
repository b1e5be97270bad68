"""Studies: word lists, and which of them are expected to be close; and the bundled collections of lists.

A study is a TOML file or a `Study` made in Python; both go through the same checks, which list all faults at once.
Studies of the literature are bundled (`list_studies`).
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from bayesbias.base.checks import check_path, check_type, normalized
from bayesbias.base.files.inputs import TOML, bundled, parse_toml, printable, read_toml, read_utf8
from bayesbias.base.files.outputs import atomic_path
from bayesbias.base.files.word_lists import read_word_lists
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import InputFileError, OutputError, StudyError, did_you_mean, raise_faults
from bayesbias.studies.faults import ABOVE, CONTROLS, SECTIONS, file_faults, plain_factors, study_faults

_LIST_FILES = (".csv", ".tsv", ".txt")
CONNECTIONS = ("associated", "different", "human", "neutral")
"""How an attribute word relates to a protected word, in the order of every table and figure."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Study(Described):
    """Word lists, and which attribute group is expected to be close to which protected group.

    Parameters
    ----------
    name : str
        The study's name in tables and reports.
    protected, attributes : mapping of str to sequence of str
        Groups of protected words and of attribute words: group -> words. A word is in one list only. Words are stored
        in Unicode's normal form NFC, in which "ä" is one character.
        Attribute groups may not be called ``human`` or ``neutral``.
    associated : sequence of (str, str)
        Pairs (protected group, attribute group) that are expected to be close; all other pairs are ``different``.
    human, neutral : sequence of str, "paper" or "none", default "paper"
        Control words. ``"paper"`` takes the bundled list (see `control_list`) without words that the study uses itself
        in any case; ``"none"``, or an empty tuple, takes none. The attribute always holds a tuple of words.
    language : str, default "en"
        Code of the language of the words, such as ``"de"``. The bundled control lists are English: a study in another
        language takes ``"none"``, or control words in its language.
    questions : mapping of str to sequence of (str, str)
        Custom questions for `contrast`: name -> two or four pairs (protected group, attribute list).
    factors : mapping of str to mapping of str to sequence of str
        Factors that cross the protected groups, for `factor_effects`: factor -> level -> protected groups. A group is
        in one level of each factor, or in no level at all; each cell of the crossing needs a group.
    attribute_factors : mapping of str to mapping of str to sequence of str
        The same for attribute lists, of which the control lists may be some. Without them, lists are compared in pairs.
    trends : mapping of str to mapping of str to float
        Ordered factors: factor -> level -> number, such as an age. They have a linear trend.
    level_weights : mapping of str to mapping of str to float
        Factor -> level -> weight in averages over the factor. All levels weigh the same by default.
    description, source, notes : str
        Question of the study, origin of the words, and remarks.

    Attributes
    ----------
    left_out_controls : tuple of str
        Words of the bundled control lists that were left out, because the study uses them itself.

    Raises
    ------
    StudyError
        If the study has faults; the message lists all of them, one per line.

    Examples
    --------
    >>> study = Study(
    ...     name="weather",
    ...     protected={"summer": ["july", "august"], "winter": ["january", "february"]},
    ...     attributes={"warm": ["hot", "sunny"], "cold": ["snow", "ice"]},
    ...     associated=[("summer", "warm"), ("winter", "cold")],
    ...     human="none",
    ... )
    >>> study.connection("summer", "cold")
    'different'
    >>> study.connections
    ('associated', 'different', 'neutral')
    """

    name: str
    protected: Mapping[str, Sequence[str]]
    attributes: Mapping[str, Sequence[str]]
    associated: Sequence[tuple[str, str]]
    human: Sequence[str] | Literal["paper", "none"] = field(default="paper", repr=False)
    neutral: Sequence[str] | Literal["paper", "none"] = field(default="paper", repr=False)
    questions: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict, repr=False)
    factors: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict, repr=False)
    attribute_factors: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict, repr=False)
    trends: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    level_weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    description: str = field(default="", repr=False)
    source: str = field(default="", repr=False)
    notes: str = field(default="", repr=False)
    language: str = field(default="en", repr=False)
    left_out_controls: tuple[str, ...] = field(default=(), init=False, repr=False)

    @property
    def _facts(self) -> Facts:
        return {
            "name": self.name,
            "protected": self.protected,
            "attributes": self.attributes,
            "associated": self.associated,
            "human": self.human,
            "neutral": self.neutral,
        }

    def __post_init__(self) -> None:
        """Check the study, and store its lists as tuples, bundled control lists included."""
        for name in ("human", "neutral"):
            words = getattr(self, name)
            if isinstance(words, tuple) and not words:
                words = "none"
            # `dataclasses.replace` passes the words of the old study, and the new one may ask for others.
            words = "paper" if isinstance(words, _PaperControls) else _listed(words)
            object.__setattr__(self, name, words)
        for name in ("protected", "attributes"):
            if isinstance(groups := getattr(self, name), Mapping):
                object.__setattr__(self, name, {group: _listed(words) for group, words in groups.items()})
        raise_faults(StudyError, f"Study {self.name!r}", study_faults(vars(self)))
        study_lists = [words for words in (self.human, self.neutral) if not isinstance(words, str)]
        study_lists += [*self.protected.values(), *self.attributes.values()]
        # Ignoring case: in an embedding read in lower case, Billy and billy have one vector.
        study_words = {word.casefold() for words in study_lists for word in words}
        left_out: list[str] = []
        for control in CONTROLS:
            words = getattr(self, control)
            if words == "paper":
                left_out += [word for word in control_list(control) if word in study_words]
                words = _PaperControls(word for word in control_list(control) if word not in study_words)
            elif words == "none":
                words = ()
            object.__setattr__(self, control, words if isinstance(words, _PaperControls) else tuple(words))
        for kind in ("protected", "attributes"):
            groups = {group: tuple(words) for group, words in getattr(self, kind).items()}
            object.__setattr__(self, kind, groups)
        object.__setattr__(self, "associated", tuple((p, a) for p, a in self.associated))
        questions = {name: tuple((p, a) for p, a in sides) for name, sides in self.questions.items()}
        object.__setattr__(self, "questions", questions)
        for section in SECTIONS:
            object.__setattr__(self, section, plain_factors(vars(self)).get(section, {}))
        object.__setattr__(self, "left_out_controls", tuple(left_out))

    def without_controls(self) -> "Study":
        """Return the study without its human and neutral control words, such as to spare their vectors.

        >>> study = load_study("weat7")
        >>> len(study.words), len(study.without_controls().words)
        (343, 32)
        """
        return replace(self, human="none", neutral="none")

    @property
    def protected_words(self) -> tuple[str, ...]:
        """All protected words, group by group."""
        return tuple(word for words in self.protected.values() for word in words)

    @property
    def attribute_words(self) -> tuple[str, ...]:
        """All words of the attribute groups, group by group, without control words."""
        return tuple(word for words in self.attributes.values() for word in words)

    @property
    def attribute_lists(self) -> dict[str, tuple[str, ...]]:
        """The attribute groups, and the control lists ``human`` and ``neutral`` unless they are empty, by name."""
        lists = {**self.attributes, "human": self.human, "neutral": self.neutral}
        return {name: tuple(words) for name, words in lists.items() if words}

    @property
    def words(self) -> tuple[str, ...]:
        """Every word of the study once, control words included."""
        return (*self.protected_words, *(word for words in self.attribute_lists.values() for word in words))

    @property
    def connections(self) -> tuple[str, ...]:
        """The connections that this study has by design, in the order of `CONNECTIONS`."""
        # Counted, since a study of many groups has the square of their number of pairs.
        pairs = len(self.protected) * len(self.attributes)
        present = {"associated", *(name for name in CONTROLS if getattr(self, name))}
        if len(self._pairs) < pairs:
            present.add("different")
        return tuple(connection for connection in CONNECTIONS if connection in present)

    def connection(self, protected_group: str, attribute_group: str) -> str:
        """Return how the words of an attribute group (or control list) relate to those of a protected group.

        Raises
        ------
        StudyError
            If the study has no such group.

        Examples
        --------
        >>> load_study("weat7").connection("math", "male")
        'associated'
        """
        is_control = attribute_group in CONTROLS and bool(getattr(self, attribute_group))
        for kind, group, is_there in (
            ("protected", protected_group, protected_group in self.protected),
            ("attribute", attribute_group, is_control or attribute_group in self.attributes),
        ):
            if not is_there:
                groups = self.protected if kind == "protected" else self.attribute_lists
                raise StudyError(f"Study {self.name!r} has no {kind} group {group!r}{did_you_mean(group, groups)}.")
        if is_control:
            return attribute_group
        return "associated" if (protected_group, attribute_group) in self._pairs else "different"

    @cached_property
    def _pairs(self) -> frozenset[tuple[str, str]]:
        """The pairs of `associated`: looking each pair of groups up in a long sequence takes cubic time."""
        return frozenset(self.associated)


class _PaperControls(tuple[str, ...]):
    """Words of a bundled control list."""


def is_bundled(words: object) -> bool:
    """Return whether the control words of a study are those of a bundled list."""
    return isinstance(words, _PaperControls)


type StudyLike = Study | str | os.PathLike[str] | Mapping[str, Sequence[str]]
"""A study: a `Study`, the name of a bundled one, the path of a TOML file, or a mapping of three or four list names to
words (see `load_study`)."""


def list_studies() -> list[str]:
    """Return the names of the bundled studies.

    Examples
    --------
    >>> list_studies()
    ['gender', ..., 'weat9', 'weat10'...]
    """
    names = [path.stem for path in bundled("data", "studies").glob("[!_]*.toml")]
    # In natural order: weat2 before weat10.
    return sorted(names, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])


def load_study(study: StudyLike) -> Study:
    """Return a bundled study, one from a TOML file, or one of named lists; a `Study` is returned as it is.

    Parameters
    ----------
    study : StudyLike
        A name from `list_studies`, or the path of a TOML file (`write_study_template` writes one); for a file with the
        name of a bundled study, write ``./religion``. Or a mapping of four lists by name, in the order X, Y, A, B: the
        protected words X are expected to be close to the attribute words A, and Y to B; there are no control words. A
        mapping of three lists X, A, B has one group of protected words, such as occupations, close to A; a TOML file
        of one group and two lists needs no `associated` either. A CSV or text file has such lists as columns, with
        their names in the first line.

    Raises
    ------
    InputFileError
        If there is no such study or file, or the file is empty or not UTF-8.
    StudyError
        If the file is not valid TOML or the study has faults; the message lists all of them, one per line.

    Examples
    --------
    >>> study = load_study("weat7")
    >>> study.associated
    (('math', 'male'), ('arts', 'female'))
    >>> load_study({"flowers": ["rose"], "insects": ["ant"], "good": ["joy"], "bad": ["war"]}).associated
    (('flowers', 'good'), ('insects', 'bad'))
    >>> load_study({"occupations": ["nurse"], "female": ["she"], "male": ["he"]}).associated
    (('occupations', 'female'),)
    """
    if isinstance(study, Study):
        return study
    if isinstance(study, Mapping):
        if len(study) not in (3, 4):
            raise StudyError(
                f"The study has {len(study)} word lists. Give four by name, in the order X, Y, A, B; three, in the "
                "order X, A, B; or a Study."
            )
        *protected, a, b = study
        lists: dict[str, Any] = {
            "protected": {name: study[name] for name in protected},
            "attributes": {a: study[a], b: study[b]},
        }
        associated, name = list(zip(protected, (a, b), strict=False)), "four" if len(study) == 4 else "three"
        return Study(name=f"{name} lists", **lists, associated=associated, human="none", neutral="none")
    check_type("study", study, (str, os.PathLike), "a Study, the name of one, a path, or three or four lists by name")
    is_bundled = study in list_studies()
    path = bundled("data", "studies", f"{study}.toml") if is_bundled else Path(study)
    if not is_bundled and path.suffix.lower() in _LIST_FILES and os.path.lexists(path):
        return replace(load_study(_lists_of_file(path)), name=printable(path.stem))
    return study_of_document(_read(path), printable(path.stem), f"Study file {path}")


def study_of_document(document: Mapping[str, Any], name: str, what: str) -> Study:
    """Return the study of a TOML document, which may be a section of a file.

    `name` is that of the study if the document has none, and `what` says in errors what has the faults. Raises
    `StudyError` if the document has faults; the message lists all of them.
    """
    fields: dict[str, Any] = {"name": name, "protected": {}, "attributes": {}, "associated": []}
    fields |= {
        key: document[key] for key in (*ABOVE, "protected", "attributes", "questions", *SECTIONS) if key in document
    }
    groups, two = (part if isinstance(part, dict) else {} for part in (fields["protected"], fields["attributes"]))
    if not fields["associated"] and (len(groups), len(two)) == (1, 2):  # close to the first list, as in a mapping
        fields["associated"] = [[*groups, next(iter(two))]]
    controls = document.get("controls")
    if isinstance(controls, dict):
        fields |= {key: controls[key] for key in CONTROLS if key in controls}
    # Check file and study together, to report all faults at once.
    raise_faults(StudyError, what, chain(file_faults(document), study_faults(fields)))
    return Study(**fields)


@cache
def control_list(name: str) -> tuple[str, ...]:
    """Return a bundled list of control words, ``"human"`` or ``"neutral"``.

    The lists are those of Dobrzeniecka and Urbaniak (2024), appendix on word lists: 85 words that are related to humans
    but free of stereotypes, and 226 neutral words.

    >>> len(control_list("human")), len(control_list("neutral"))
    (85, 226)
    """
    if name not in CONTROLS:
        raise StudyError(f"There is no control list {name!r}{did_you_mean(name, CONTROLS)}: human or neutral.")
    return tuple(read_toml(bundled("data", "controls.toml"), StudyError)[name])


def write_study_template(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a template of a study, with comments that explain every key.

    Parameters
    ----------
    path : str or path
        TOML file to write; its name becomes the study's name.
    overwrite : bool, default False
        Whether an existing file may be replaced.

    Raises
    ------
    OutputError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_study(write_study_template(f"{folder}/jobs.toml")).name
    'jobs'
    """
    if check_path(path).suffix != ".toml":
        raise OutputError(f"{path}: a study is a .toml file. Give it that ending.")
    with atomic_path(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(bundled("data", "studies", "_template.toml").read_bytes())
    return Path(path)


def _listed(words: Any) -> Any:
    """Return words of a list, a tuple, a Series, an Index or an array in normal form; anything else as it is."""
    words = words.tolist() if hasattr(words, "tolist") else words
    if not isinstance(words, list | tuple):
        return words
    return list(map(normal_form, words))


def normal_form(word: Any) -> Any:
    """Return a word as studies and tables store it, in Unicode's normal form NFC; anything else as it is."""
    return normalized(word, error=StudyError) if isinstance(word, str) else word


def study_file_name(name: str) -> str:
    """Return a name for the file of a study.

    >>> study_file_name("old & young")
    'old_young.toml'
    """
    return f"{re.sub(r'[^\w-]+', '_', name)}.toml"


def study_text(study: Study) -> str:
    """Return a study as the text of a TOML file, with all its control words.

    >>> lists = {"protected": {"cats": ["cat"]}, "attributes": {"quiet": ["purr"]}}
    >>> pets = Study(name="pets", **lists, associated=[("cats", "quiet")], human="none", neutral="none")
    >>> print(study_text(pets))
    name = "pets"
    associated = [["cats", "quiet"]]
    <BLANKLINE>
    [protected]
    "cats" = ["cat"]
    <BLANKLINE>
    [attributes]
    "quiet" = ["purr"]
    <BLANKLINE>
    [controls]
    "human" = "none"
    "neutral" = "none"
    """

    def text(value: Any) -> str:
        # Unescaped JSON is also TOML.
        return json.dumps(value, ensure_ascii=False)

    lines = [f"{key} = {text(getattr(study, key))}" for key in ("name", "description", "source", "notes", "language")]
    lines = [line for line in lines if not line.endswith((' = ""', 'language = "en"'))]
    sections: dict[str, Mapping[str, Any]] = {
        "protected": study.protected,
        "attributes": study.attributes,
        "controls": {name: getattr(study, name) or "none" for name in CONTROLS},
        "questions": study.questions,
    }
    for section, factors in plain_factors(vars(study)).items():
        sections |= {f"{section}.{text(factor)}": levels for factor, levels in factors.items()}
    lines.append(f"associated = {text(study.associated)}")
    for name, entries in sections.items():
        if entries:
            lines += ["", f"[{name}]", *(f"{text(key)} = {text(value)}" for key, value in entries.items())]
    return "\n".join(lines)


def _lists_of_file(path: Path) -> dict[str, list[str]]:
    """Return the three or four word lists of a CSV or text file."""
    lists = read_word_lists(path, numbers=False)
    if len(lists) not in (3, 4):
        raise StudyError(
            f"{path} has {len(lists)} word list{'s' * (len(lists) != 1)}. A study as CSV has four columns: two groups "
            "of protected words, then the attribute list that is associated with each. Or it has three: one group, its "
            "associated list, and another list. "
            "`bayesbias studies new NAME.toml` writes a study with more."
        )
    return lists


def _read(path: Path) -> dict[str, Any]:
    try:
        text = read_utf8(path, TOML)
    except InputFileError:
        if os.path.lexists(path):
            raise
        near = [*list_studies(), *(file.name for file in path.parent.glob("*.toml"))]
        raise InputFileError(
            f"There is no study and no file {str(path)!r}{did_you_mean(path.name, near)}. Give the name of a "
            f"TOML or CSV file, or one of the bundled studies: {', '.join(list_studies())}."
        ) from None  # a name is misspelt, rather than a file missing
    if not text.strip():
        raise InputFileError(f"{path} is empty: `bayesbias studies new NAME.toml` writes a start.")
    return parse_toml(text, path, StudyError)


def list_word_lists() -> list[str]:
    """Return the names of the bundled collections of word lists, from which studies can be made.

    >>> list_word_lists()
    ['bing_liu', 'eds']
    """
    return sorted(path.stem for path in bundled("data", "lists").glob("*.toml"))


def load_word_lists(name: str) -> dict[str, tuple[str, ...]]:
    """Return a bundled collection of word lists: name of a list -> words.

    Parameters
    ----------
    name
        A name from `list_word_lists`: ``"eds"``, the lists of Garg et al. (2018) for gender, ethnicity and religion;
        ``"bing_liu"``, the positive and negative opinion words of Hu and Liu (2004). Cite these papers. Sources and
        licences are in ``bb.bundled("data", "README.md")`` and in the files beside it.

    Raises
    ------
    StudyError
        If there is no such collection.

    Examples
    --------
    >>> lists = load_word_lists("eds")
    >>> lists["adjectives_appearance"][:3]
    ('alluring', 'voluptuous', 'blushing')
    >>> study = bb.Study(
    ...     name="appearance",
    ...     protected={"women": lists["female_terms"], "men": lists["male_terms"]},
    ...     attributes={
    ...         "appearance": lists["adjectives_appearance"],
    ...         "intelligence": lists["adjectives_intelligence"],
    ...     },
    ...     associated=[("women", "appearance"), ("men", "intelligence")],
    ... )
    """
    names = list_word_lists()
    if name not in names:
        raise StudyError(f"There are no word lists {name!r}{did_you_mean(str(name), names)}: {', '.join(names)}.")
    document = read_toml(bundled("data", "lists", f"{name}.toml"), StudyError)
    return {group: tuple(words) for group, words in document["lists"].items()}
