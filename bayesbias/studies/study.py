"""Studies: which words are compared with which, and what is expected to be close to what.

A study is a TOML file or a `Study` made in Python; both go through the same checks, which list every fault at
once. The studies of the literature travel with the package (`list_studies`).
"""

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

from bayesbias.base.checks import check_path, check_type
from bayesbias.base.files import bundled
from bayesbias.base.outputs import atomic_path
from bayesbias.base.statements import Described, Facts
from bayesbias.errors import BayesBiasError, InputFileError, OutputError, StudyError, did_you_mean, raise_faults
from bayesbias.studies.faults import ABOVE, CONTROLS, file_faults, study_faults

CONNECTIONS = ("associated", "different", "human", "neutral")
"""How an attribute word relates to a protected word, in the order of every table and figure."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Study(Described):
    """Word lists, and which attribute group is expected to be close to which protected group.

    Making one checks it; every fault is listed in one error.

    Parameters
    ----------
    name : str
        The study's name in tables and reports.
    protected, attributes : mapping of str to sequence of str
        Groups of protected words and of attribute words: group -> words. A word is in one list only.
        Attribute groups may not be called ``human`` or ``neutral``.
    associated : sequence of (str, str)
        Pairs (protected group, attribute group) that are expected to be close; all others are ``different``.
    human, neutral : sequence of str, "paper" or "none", default "paper"
        Control words. ``"paper"`` takes the bundled list (see `control_list`) without the words that the
        study uses itself, whatever their case. Afterwards always the words; no words for ``"none"``.
    questions : mapping of str to sequence of (str, str)
        Questions of your own, for `contrast`: name -> two or four pairs (protected group, attribute list).
    description, source, notes : str
        What is asked, where the words come from, and what a reader should know.

    Attributes
    ----------
    left_out_controls : tuple of str
        Words of the bundled control lists that were left out because the study uses them itself.

    Raises
    ------
    StudyError
        If the study has faults: the message lists all of them, one a line.

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
    description: str = field(default="", repr=False)
    source: str = field(default="", repr=False)
    notes: str = field(default="", repr=False)
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
        """Check the study, then store its lists as tuples and the names of control lists as words."""
        for name in ("human", "neutral"):
            object.__setattr__(self, name, _listed(getattr(self, name)))
        for name in ("protected", "attributes"):
            if isinstance(groups := getattr(self, name), Mapping):
                object.__setattr__(self, name, {group: _listed(words) for group, words in groups.items()})
        raise_faults(StudyError, f"Study {self.name!r}", list(study_faults(vars(self))))
        own_lists = [words for words in (self.human, self.neutral) if not isinstance(words, str)]
        own_lists += [*self.protected.values(), *self.attributes.values()]
        # Without regard to case: where an embedding is read in lower case, Billy and billy are one vector.
        own = {word.casefold() for words in own_lists for word in words}
        left_out: list[str] = []
        for control in CONTROLS:
            words = getattr(self, control)
            if words == "none":
                words = ()
            elif words == "paper":
                left_out += [word for word in control_list(control) if word in own]
                words = [word for word in control_list(control) if word not in own]
            object.__setattr__(self, control, tuple(words))
        for kind in ("protected", "attributes"):
            groups = {group: tuple(words) for group, words in getattr(self, kind).items()}
            object.__setattr__(self, kind, groups)
        object.__setattr__(self, "associated", tuple((p, a) for p, a in self.associated))
        questions = {name: tuple((p, a) for p, a in sides) for name, sides in self.questions.items()}
        object.__setattr__(self, "questions", questions)
        object.__setattr__(self, "left_out_controls", tuple(left_out))

    @property
    def protected_words(self) -> tuple[str, ...]:
        """All protected words, group after group."""
        return tuple(word for words in self.protected.values() for word in words)

    @property
    def attribute_words(self) -> tuple[str, ...]:
        """All words of the attribute groups, group after group, without the control words."""
        return tuple(word for words in self.attributes.values() for word in words)

    @property
    def attribute_lists(self) -> dict[str, tuple[str, ...]]:
        """The words of the attribute groups, and those of ``human`` and ``neutral`` where there are any."""
        lists = {**self.attributes, "human": self.human, "neutral": self.neutral}
        return {name: tuple(words) for name, words in lists.items() if words}

    @property
    def words(self) -> tuple[str, ...]:
        """Every word of the study once, control words included."""
        return (*self.protected_words, *(word for words in self.attribute_lists.values() for word in words))

    @property
    def connections(self) -> tuple[str, ...]:
        """The connections that this study has by design, in the order of `CONNECTIONS`."""
        found = {self.connection(*pair) for pair in product(self.protected, self.attribute_lists)}
        return tuple(connection for connection in CONNECTIONS if connection in found)

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
        for group, known in ((protected_group, self.protected), (attribute_group, self.attribute_lists)):
            if group not in known:
                kind = "protected" if known is self.protected else "attribute"
                raise StudyError(f"Study {self.name!r} has no {kind} group {group!r}{did_you_mean(group, known)}.")
        if attribute_group in CONTROLS:
            return attribute_group
        return "associated" if (protected_group, attribute_group) in self.associated else "different"


type StudyLike = Study | str | os.PathLike[str] | Mapping[str, Sequence[str]]
"""What stands for a study, everywhere: a `Study`, the name of a bundled one, the path of a TOML file, or a mapping of
the names of lists to their words (see `load_study`)."""


def list_studies() -> list[str]:
    """Return the names of the bundled studies.

    Examples
    --------
    >>> list_studies()[:4]
    ['gender', 'race', 'religion', 'weat1']
    """
    names = [path.stem for path in bundled("data", "studies").glob("[!_]*.toml")]
    # weat2 comes before weat10.
    return sorted(names, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])


def load_study(study: StudyLike) -> Study:
    """Return a bundled study, one from a TOML file, or one of four lists; a `Study` is returned as it is.

    Parameters
    ----------
    study : StudyLike
        A name from `list_studies`, or the path of a TOML file (`write_study_template` writes one). For a file
        with the name of a bundled study, write ``./religion``. Or a mapping of four lists by name, X, Y, A, B: the
        protected words X are expected to be close to the attribute words A, and Y to B; there are no control words.

    Raises
    ------
    InputFileError
        If there is no such study or file, or the file cannot be read as text.
    StudyError
        If the file is not valid TOML or the study has faults: the message lists all of them, one a line.

    Examples
    --------
    >>> study = load_study("weat7")
    >>> study.associated
    (('math', 'male'), ('arts', 'female'))
    >>> load_study({"flowers": ["rose"], "insects": ["ant"], "good": ["joy"], "bad": ["war"]}).associated
    (('flowers', 'good'), ('insects', 'bad'))
    """
    if isinstance(study, Study):
        return study
    if isinstance(study, Mapping):
        if len(study) != 4:
            raise StudyError(f"Found {len(study)} word lists. Give four by name, in the order X, Y, A, B, or a Study.")
        x, y, a, b = study
        lists: dict[str, Any] = {"protected": {x: study[x], y: study[y]}, "attributes": {a: study[a], b: study[b]}}
        return Study(name="four lists", **lists, associated=[(x, a), (y, b)], human="none", neutral="none")
    check_type("study", study, (str, os.PathLike), "a Study, the name of one, a path, or four lists by name")
    is_bundled = study in list_studies()
    path = bundled("data", "studies", f"{study}.toml") if is_bundled else Path(study)
    document = _read(path)
    fields: dict[str, Any] = {"name": path.stem, "protected": {}, "attributes": {}, "associated": []}
    fields |= {key: document[key] for key in (*ABOVE, "protected", "attributes", "questions") if key in document}
    controls = document.get("controls")
    if isinstance(controls, dict):
        fields |= {key: controls[key] for key in CONTROLS if key in controls}
    # The file and the study inside it are judged together, so that all faults are reported at once.
    raise_faults(StudyError, f"Study file {path}", [*file_faults(document), *study_faults(fields)])
    return Study(**fields)


@cache
def control_list(name: str) -> tuple[str, ...]:
    """Return a bundled list of control words, ``"human"`` or ``"neutral"``.

    They are those of Dobrzeniecka and Urbaniak (2024), appendix on word lists: 85 words that are related to
    humans but free of stereotypes, and 226 neutral words.

    >>> len(control_list("human")), len(control_list("neutral"))
    (85, 226)
    """
    if name not in CONTROLS:
        raise StudyError(f"There is no control list {name!r}{did_you_mean(name, CONTROLS)}: human or neutral.")
    return tuple(tomllib.loads(bundled("data", "controls.toml").read_text(encoding="utf-8"))[name])


def list_word_lists() -> list[str]:
    """Return the names of the bundled collections of word lists, to make studies of.

    >>> list_word_lists()
    ['bing_liu', 'eds']
    """
    return sorted(path.stem for path in bundled("data", "lists").glob("*.toml"))


def load_word_lists(name: str) -> dict[str, tuple[str, ...]]:
    """Return a bundled collection of word lists: name of the list -> its words.

    Parameters
    ----------
    name
        A name from `list_word_lists`: ``"eds"``, the lists of Garg et al. (2018) for gender, ethnicity and religion;
        ``"bing_liu"``, the positive and negative opinion words of Hu and Liu (2004). Their sources and licences are in
        ``bb.bundled("data", "README.md")`` and in the files beside it. Cite the paper.

    Raises
    ------
    StudyError
        If there is no such collection.

    Examples
    --------
    >>> lists = load_word_lists("eds")
    >>> lists["adjectives_appearance"][:3]
    ('alluring', 'voluptuous', 'blushing')
    >>> study = Study(
    ...     name="appearance",
    ...     protected={"women": lists["female_terms"], "men": lists["male_terms"]},
    ...     attributes={
    ...         "appearance": lists["adjectives_appearance"],
    ...         "intelligence": lists["adjectives_intelligence"],
    ...     },
    ...     associated=[("women", "appearance"), ("men", "intelligence")],
    ... )
    """
    known = list_word_lists()
    if name not in known:
        raise StudyError(f"There are no word lists {name!r}{did_you_mean(str(name), known)}: {', '.join(known)}.")
    document = tomllib.loads(bundled("data", "lists", f"{name}.toml").read_text(encoding="utf-8"))
    return {group: tuple(words) for group, words in document["lists"].items()}


def write_study_template(path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a study with comments that explain every key, to be filled with one's own words.

    Parameters
    ----------
    path : str or path
        The TOML file to write. Its name becomes the study's name.
    overwrite : bool, default False
        Whether a file of that name may be replaced.

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
    """Return words of a Series, an Index or an array as a list, whatever index they have."""
    return words.tolist() if hasattr(words, "tolist") else words


def study_text(study: Study) -> str:
    """Return a study as the text of a TOML file, its control words spelt out.

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
        # A text of JSON is one of TOML too, once its letters are not escaped.
        return json.dumps(value, ensure_ascii=False)

    lines = [f"{key} = {text(getattr(study, key))}" for key in ("name", "description", "source", "notes")]
    lines = [line for line in lines if not line.endswith(' = ""')]
    sections: dict[str, Mapping[str, Any]] = {
        "protected": study.protected,
        "attributes": study.attributes,
        "controls": {name: getattr(study, name) or "none" for name in CONTROLS},
        "questions": study.questions,
    }
    lines.append(f"associated = {text(study.associated)}")
    for name, entries in sections.items():
        if entries:
            lines += ["", f"[{name}]", *(f"{text(key)} = {text(value)}" for key, value in entries.items())]
    return "\n".join(lines)


def _read(path: Path) -> dict[str, Any]:
    """Return the content of a study file."""
    try:
        if path.exists() and not path.is_file():
            raise InputFileError(f"{path} is a folder or a device: give the name of a TOML file.")
        data = path.read_bytes()
        text = data.decode("utf-8-sig")  # Windows editors put a byte order mark first
        if not text.strip():
            raise InputFileError(f"{path} is empty: `bayesbias studies new NAME.toml` writes a start.")
        return tomllib.loads(text)
    except BayesBiasError:
        raise
    except FileNotFoundError as error:
        near = [*list_studies(), *(file.name for file in path.parent.glob("*.toml"))]
        raise InputFileError(
            f"There is no study and no file {str(path)!r}{did_you_mean(path.name, near)}. Give the name of a "
            f"TOML file, or one of the bundled studies: {', '.join(list_studies())}."
        ) from error
    except OSError as error:
        raise InputFileError(f"Cannot read {str(path)!r}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputFileError(
            f"{path} is not UTF-8 text: byte {error.start} (line {line}) cannot be read. Save it as UTF-8."
        ) from error
    # TOMLDecodeError is a ValueError; so are a number with too many digits and a null byte in a file's name.
    # Lists that are nested too deeply end in a RecursionError.
    except (ValueError, RecursionError) as error:
        raise StudyError(
            f"{str(path)!r} is not a valid TOML file: {error}. "
            "Look there for a word without quotes, a missing comma or bracket, or a key that is given twice."
        ) from error
