"""What the package prints is edited English: rules that a program can check, over every string in the syntax trees."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "bayesbias"
MOST_WORDS = 45
CLUMSY = {
    "no rows for one side": "pairs on one side only",
    "these very words": "these words",
    "is that of both": "name what it is",
    "reaches across": "is partly outside",
    "not settled any more": "no longer settled",
    "told apart": "separated",
    "least of all": "in particular",
    "net of that": "without that",
    "is no bias": "is not a bias",
    "treated as free of error": "their errors are ignored",
    "its error is not included": "its error is ignored",
    "as free of error": "ignores the error",
    "net of what": "without what",
    "attribute words are the sample": "uncertainty comes from the choice of attribute words",
    "of all words is about words like these": "the overall contrast generalises to similar words",
}
TEXTS = [PACKAGE.parent / "README.md", *(PACKAGE.parent / "docs").rglob("*.md")]
TEXTS = [path for path in TEXTS if not {"generated", "notebooks", "validation", "_build"} & {*path.parts}]
TEXTS += [*(PACKAGE.parent / "models").glob("*.toml"), *(PACKAGE.parent / "notebooks").glob("*.ipynb")]
TEXTS += [PACKAGE.parent / "paper" / "paper.md"]


def printed_strings() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each string of several words that is no docstring; a value is shown in braces."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                inner |= {id(part) for part in ast.walk(node) if part is not node}
        for node in ast.walk(tree):
            if id(node) not in inner and (text := _text(node)).count(" ") > 2:
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", text  # type: ignore[attr-defined]


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = []
    for part in node.values:
        spec = ast.unparse(part.format_spec)[2:-1] if isinstance(part, ast.FormattedValue) and part.format_spec else ""
        parts.append(part.value if isinstance(part, ast.Constant) else f"{{{spec}}}")
    return "".join(map(str, parts))


STRINGS = list(printed_strings())


def faulty(pattern: str) -> list[str]:
    return [f"{place}: {text}" for place, text in STRINGS if re.search(pattern, text, re.IGNORECASE)]


def test_the_walk_finds_the_sentences_that_readers_get() -> None:
    assert len(STRINGS) > 2000
    texts = {text for _, text in STRINGS}
    assert "A contrast that is not settled need not be 0." in texts
    assert not any(text.startswith("Return ") for text in texts), "a docstring is nothing that is printed"


@pytest.mark.parametrize("phrase", CLUMSY)
def test_phrases_that_readers_read_twice_do_not_come_back(phrase: str) -> None:
    assert not faulty(re.escape(phrase)), f"write {CLUMSY[phrase]!r}"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_nor_do_they_stand_in_guides(path: Path) -> None:
    text = " ".join(path.read_text(encoding="utf-8").split()).lower()
    assert [phrase for phrase in CLUMSY if phrase in text] == []


def test_no_sentence_has_so_many_words_that_it_is_read_twice() -> None:
    long = [
        f"{place}: {sentence}"
        for place, text in STRINGS
        for sentence in re.split(r"(?<=[.?!])\s+(?=[A-Z{])|\n\n", text)
        if len(sentence.split()) > MOST_WORDS and "=" not in sentence
    ]
    assert not long, "\n".join(long)


def test_a_rounded_number_has_no_sign_of_its_own_where_it_is_0() -> None:
    assert not faulty(r"\{\+\.\df\}"), "-0.00 is no number: write +z"


def test_no_number_of_a_sentence_has_a_power_of_ten() -> None:
    assert not faulty(r"\{[^}]*\.\dg\}"), "write digits_text"
