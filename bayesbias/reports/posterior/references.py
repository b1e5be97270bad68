"""The references that texts for papers cite, as BibTeX: those of `data/references.bib`, and the package itself."""

import re
from dataclasses import dataclass
from functools import cache

from bayesbias.base.files.inputs import bundled

PACKAGES = {
    "arviz": "kumar2019",
    "numpy": "harris2020",
    "pandas": "mckinney2010",
    "pymc": "abrilpla2023",
    "scipy": "virtanen2020",
    "xarray": "hoyer2017",
}
"""Package -> key of its paper. Packages without a paper are entries of their own."""
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

    def is_cited(self, text: str) -> bool:
        """Return whether a text cites the reference: authors and year, with its title if others have the same.

        >>> [reference("nutpie").is_cited(text) for text in ("nutpie 0.15", "nutpie")]
        [True, False]
        """
        if not self.year:
            return re.search(rf"\b{self.key} \d", text) is not None
        last = self.families[-1]
        full = rf"\b{self.families[0]}\b[^()\d]{{0,200}}\b{last}" if len(self.families) > 1 else rf"\b{last}"
        cited = re.search(rf"(?:{full}|\b{re.escape(self.authors)}),? \(?{self.year}\b", text) is not None
        return cited and (not self._shared or _letters(self.title) in _letters(text))

    @property
    def _shared(self) -> bool:
        same = (other for other in references().values() if other.key != self.key)
        return any((other.families, other.year) == (self.families, self.year) for other in same)


@cache
def references() -> dict[str, Reference]:
    """Return all references by key."""
    entries = bundled("data", "references.bib").read_text(encoding="utf-8").split("\n@")
    entries = [f"@{entry.removeprefix('@').strip()}" for entry in entries]
    return {made.key: made for made in map(_reference, [_package_entry(), *entries])}


def reference(key: str) -> Reference:
    """Return a reference."""
    return references()[key]


def cite(key: str, *, inside: bool = False) -> str:
    """Return a citation of a reference in a sentence, or `inside` brackets.

    >>> cite("lindley1972"), cite("kumar2019", inside=True)
    ('Lindley and Smith (1972)', 'Kumar et al. 2019')
    """
    cited = reference(key)
    return f"{cited.authors} {cited.year if inside else f'({cited.year})'}"


def package_citation(name: str, version: str) -> str:
    """Return a package with its version and the citation of its paper, if it has one.

    >>> package_citation("arviz", "1.3.0"), package_citation("nutpie", "0.16.0")
    ('arviz 1.3.0 (Kumar et al. 2019)', 'nutpie 0.16.0')
    """
    paper = f" ({cite(PACKAGES[name], inside=True)})" if name in PACKAGES else ""
    return f"{name} {version}{paper}"


def cited_references(text: str) -> list[Reference]:
    """Return the references that a text cites, in the order of their keys, the package first."""
    return [entry for entry in references().values() if entry.is_cited(text)]


def _package_entry() -> str:
    """Return the entry of the package, from its CITATION.cff."""
    text = bundled("CITATION.cff").read_text(encoding="utf-8").partition("references:")[0]
    name, title, version = (
        re.findall(rf'^[ -]*{field}: "?(.*?)"?$', text, re.MULTILINE)[0] for field in ("name", "title", "version")
    )
    return "\n".join(
        [
            "@software{bayesbias,",
            f"  author = {{{{{name}}}}},",
            f"  title = {{{title}}},",
            f"  version = {{{version}}},",
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


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())
