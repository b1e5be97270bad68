"""Small pages: a table with hostile words, and a reader of HTML."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd

TAG = "<img src=x onerror=alert(1)>"
HOSTILE = (TAG, "</style><script>alert(2)</script>", '"><b>bold</b>', "{{ 7 * 7 }}", "&amp;", "$\\frac{1}{2}$")
TURNED, HALVED = "\u202eturned", "half\ud83d"
TITLE = f"<i>Title</i> {HALVED}"
_VOID = ("meta", "img", "br", "hr", "link", "input")


def small_table(connections: tuple[str, ...] = ("associated", "different", "human", "neutral")) -> pd.DataFrame:
    """Two groups of three hostile words, two lists of four, and two control lists of five."""
    rng = np.random.default_rng(5)
    lists = {"warm & <i>": 4, "cold": 4, "human": 5, "neutral": 5}
    rows = []
    for place, word in enumerate(HOSTILE):
        group = ("summer <u>", "winter")[place % 2]
        for name, size in lists.items():
            if name in ("human", "neutral"):
                connection = name
            else:
                connection = "associated" if (group == "winter") == (name == "cold") else "different"
            mean = {"associated": 0.7, "different": 0.8, "human": 0.9, "neutral": 0.9}[connection]
            rows += [
                {
                    "protected_word": word,
                    "protected_group": group,
                    "attribute_word": f"{name}{number}",
                    "attribute_group": name,
                    "connection": connection,
                    "cosine_distance": mean + rng.normal(0, 0.05),
                }
                for number in range(size)
            ]
    table = pd.DataFrame(rows)
    table = table[table["connection"].isin(connections)].reset_index(drop=True)
    table.attrs["bayesbias"] = {
        "study": "<s>weather</s>",
        "embedding": {"name": "vectors <tiny>", "hash": "0", "case": "exact"},
        "questions": {"<b>nearer</b> to cold": [["winter", "cold"], ["summer <u>", "cold"]]},
        "lost_words": [{"word": TURNED, "role": "attribute", "list": "cold", "reason": "not there"}],
    }
    return table


class Reader(HTMLParser):
    """The elements of a page, its texts, and its tables by caption; raises where tags do not match."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.open: list[str] = []
        self._cell: list[str] | None = None
        self._rows: list[list[str]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "table":
            self._rows = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("th", "td", "caption"):
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if self._cell is not None and tag in ("th", "td"):
            self._rows[-1].append("".join(self._cell))
        elif self._cell is not None and tag == "caption":
            self.tables["".join(self._cell)] = self._rows

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._cell is not None:
            self._cell.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of each element of a kind."""
        return [attrs for name, attrs in self.elements if name == tag]

    def table(self, beginning: str) -> list[list[str]]:
        """Return the rows, the header first, of the one table whose caption begins so."""
        (rows,) = [rows for caption, rows in self.tables.items() if caption.startswith(beginning)]
        return rows
