"""The references that texts for papers cite, as BibTeX: those of `data/references.bib`, and the package itself."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from bayesbias.base.files.inputs import bundled
from bayesbias.models.spec import list_models, load_model
from bayesbias.studies.study import list_studies, load_study

PACKAGES = {
    "arviz": "kumar2019",
    "numpy": "harris2020",
    "pandas": "mckinney2010",
    "pymc": "abrilpla2023",
    "scipy": "virtanen2020",
    "xarray": "hoyer2017",
}
"""Package -> key of its paper. Packages without a paper are entries of their own."""
_WEAT = {
    "greenwald1998": ("weat1", "weat2", "weat3"),
    "nosek2002harvesting": ("weat6", "weat7", "weat10"),
    "nosek2002math": ("weat8",),
    "monteith2011": ("weat9",),
}
WORKS = {
    **{study: ("caliskan2017", key) for key, studies in _WEAT.items() for study in studies},
    "weat4": ("caliskan2017", "bertrand2004", "greenwald1998"),
    "weat5": ("caliskan2017", "bertrand2004", "nosek2002harvesting"),
    "names_race_gender": ("bertrand2004", "greenwald1998", "caliskan2017"),
    **dict.fromkeys(("gender", "race", "religion"), ("manzini2019", "dobrzeniecka2024")),
    **dict.fromkeys(("hierarchical", "no_pooling"), ("dobrzeniecka2024",)),
    **dict.fromkeys(("crossed", "crossed_per_list"), ("dobrzeniecka2024", "baayen2008")),
    **dict.fromkeys(("multivariate", "multivariate_robust"), ("lindley1972", "huang2013")),
}
"""Bundled study or model -> keys of the works that its source names."""
_MOST_NAMED = 3  # authors; of more, the first stands for all


@dataclass(frozen=True)
class Reference:
    """An entry of BibTeX.

    - `key`, `entry`: its key and text.
    - `families`: family names of its authors.
    - `year`: its year; empty for a package, which is cited by its name and version.
    - `title`: its title, without braces.
    - `et_al`: whether there are authors that the entry does not name.
    """

    key: str
    entry: str
    families: tuple[str, ...]
    year: str
    title: str
    et_al: bool

    @property
    def authors(self) -> str:
        """The authors in a sentence.

        >>> reference("lindley1972").authors, reference("vehtari2021").authors
        ('Lindley and Smith', 'Vehtari et al.')
        """
        if self.et_al or len(self.families) > _MOST_NAMED:
            return f"{self.families[0]} et al."
        return " and ".join(filter(None, [", ".join(self.families[:-1]), self.families[-1]]))


@cache
def references() -> dict[str, Reference]:
    """Return all references by key."""
    entries = bundled("data", "references.bib").read_text(encoding="utf-8").split("\n@")
    entries = [f"@{entry.removeprefix('@').strip()}" for entry in entries]
    return {made.key: made for made in map(_reference, [_package_entry(), *entries])}


def reference(key: str) -> Reference:
    """Return a reference."""
    return references()[key]


class Bibliography:
    """The references that a text cites, noted while it is written.

    >>> cited = Bibliography()
    >>> cited.cite("lindley1972"), cited.cite("kumar2019", inside=True)
    ('Lindley and Smith (1972)', 'Kumar et al. 2019')
    >>> cited.package("arviz", "1.3.0"), cited.package("nutpie", "0.16.0")
    ('arviz 1.3.0 (Kumar et al. 2019)', 'nutpie 0.16.0')
    >>> cited.keys
    ['kumar2019', 'lindley1972', 'nutpie']
    """

    def __init__(self) -> None:
        self._cited: set[str] = set()

    def cite(self, key: str, *, inside: bool = False) -> str:
        """Return a citation in a sentence, or `inside` brackets."""
        self._cited.add(key)
        cited = reference(key)
        return f"{cited.authors} {cited.year if inside else f'({cited.year})'}"

    def package(self, name: str, version: str) -> str:
        """Return a package with its version and the citation of its paper, if it has one."""
        if name in PACKAGES:
            return f"{name} {version} ({self.cite(PACKAGES[name], inside=True)})"
        self._cited |= {name} & references().keys()
        return f"{name} {version}"

    def source(self, text: str) -> str:
        """Return the source of a model or study; if the package has it, its works are cited."""
        self._cited.update(_works_of_sources().get(text.strip(), ()))
        return text.strip().rstrip(".")

    @property
    def commands(self) -> dict[str, str]:
        r"""Citations in the text as commands of natbib, the longest first.

        Works whose citations are equal have none: their entries are named by the command `nocite` alone.

        >>> cited = Bibliography()
        >>> text = cited.cite("lindley1972"), cited.cite("kumar2019", inside=True)
        >>> cited.commands["Lindley and Smith (1972)"], cited.commands["Kumar et al. 2019"]
        ('\\citet{lindley1972}', '\\citealp{kumar2019}')
        """
        dated = [reference(key) for key in self.keys if reference(key).year]
        counts = Counter(f"{work.authors} {work.year}" for work in dated)
        works = [work for work in dated if counts[f"{work.authors} {work.year}"] == 1]
        commands = {f"({work.authors} {work.year}, {work.title})": rf"\citep{{{work.key}}}" for work in works}
        commands |= {f"({work.authors} {work.year})": rf"\citep{{{work.key}}}" for work in works}
        commands |= {f"{work.authors} ({work.year})": rf"\citet{{{work.key}}}" for work in works}
        return commands | {f"{work.authors} {work.year}": rf"\citealp{{{work.key}}}" for work in works}

    @property
    def keys(self) -> list[str]:
        """Keys of the references in the order of `data/references.bib`, the package first."""
        return [key for key in references() if key in self._cited]

    @property
    def bibtex(self) -> str:
        """The entries."""
        return "\n".join(reference(key).entry for key in self.keys)


@cache
def _works_of_sources() -> dict[str, tuple[str, ...]]:
    """Return the keys of the works that the source of each bundled study and model names, by its text."""
    sources = {name: load_study(name).source for name in list_studies()}
    sources |= {name: load_model(name).source for name in list_models()}
    return {text.strip(): WORKS[name] for name, text in sources.items()}


def _package_entry() -> str:
    """Return the entry of the package, from its CITATION.cff."""
    text = bundled("CITATION.cff").read_text(encoding="utf-8").partition("references:")[0]
    name, title, version, url = (
        re.findall(rf'^[ -]*{field}: "?(.*?)"?$', text, re.MULTILINE)[0]
        for field in ("name", "title", "version", "url")
    )
    return "\n".join(
        [
            "@software{bayesbias,",
            f"  author = {{{{{name}}}}},",
            f"  title = {{{title}}},",
            f"  version = {{{version}}},",
            f"  url = {{{url}}},",
            "}",
        ]
    )


def _reference(entry: str) -> Reference:
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))
    authors = fields["author"].split(" and ")
    names = [_plain(author if author.startswith("{") else author.partition(",")[0]) for author in authors]
    return Reference(
        key=re.findall(r"@\w+\{([^,]+),", entry)[0],
        entry=entry,
        families=tuple(name for name in names if name != "others"),
        year=fields.get("year", ""),
        title=_plain(fields["title"]),
        et_al="others" in names,
    )


def _plain(text: str) -> str:
    """Return a text of BibTeX without its braces and accents."""
    return re.sub(r"""[{}]|\\["'`^~]""", "", text)
