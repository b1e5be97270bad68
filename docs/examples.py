"""Examples of the guides and the output below them: `python docs/examples.py [PAGE ...]` runs them and writes it."""

import contextlib
import io
import re
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import bayesbias as bb
from bayesbias import cli

HERE = Path(__file__).resolve().parent
PAGES = [
    page
    for page in (*sorted((HERE / "guide").glob("*.md")), *sorted(HERE.glob("from_*.md")))
    if "```" in page.read_text(encoding="utf-8")
]
LINES = 44  # of what a call prints that are shown
_FENCES = re.compile(r"^```(\w*)\n(.*?)^```\n(?:\n```output\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
# What an output shows of the machine: the length of rules, and which program sampled.
_OF_THE_MACHINE = re.compile(r"[-─]{3,}|\bsampled by \w+ [\d.]+\d")
# Draws differ from one kind of processor to another, by a few Monte Carlo errors.
_MARGIN, _SHARE = 0.005, 0.06


@dataclass(frozen=True)
class Example:
    """Code of a page (``"python"``, or ``""`` for commands) and the output that the page shows, or None."""

    language: str
    code: str
    output: str | None

    @property
    def fences(self) -> str:
        """Return the example as the page has it."""
        code = f"```{self.language}\n{self.code}```\n"
        return code if self.output is None else f"{code}\n```output\n{self.output}```\n"


def examples(page: str) -> list[Example]:
    """Return the examples of a page, in their order."""
    fenced = (Example(*match.groups()) for match in _FENCES.finditer(page))
    return [example for example in fenced if example.language in ("python", "")]


def write_vectors(path: Path) -> None:
    """Write the bundled vectors as text: the `vectors.txt` of the guides."""
    embedding = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    with path.open("w", encoding="utf-8", newline="\n") as lines:
        for word, vector in zip(embedding.words, embedding.vectors, strict=True):
            lines.write(f"{word} {' '.join(f'{value:.6f}' for value in vector)}\n")


def run(example: Example) -> list[str]:
    """Run an example in the current folder; return what each call of `print`, or each command, prints."""
    if example.language == "python":
        texts: list[str] = []

        def record(*values: object) -> None:
            texts.append(" ".join(map(str, values)) + "\n")

        exec(example.code, {"print": record})
        return texts
    return [_command(line) for line in example.code.splitlines()]


def _command(line: str) -> str:
    printed, before = io.StringIO(), sys.argv
    sys.argv = line.split()
    try:
        with contextlib.redirect_stdout(printed):
            cli.main()
    except SystemExit as stopped:
        if stopped.code:
            raise RuntimeError(f"{line!r} ended with code {stopped.code}") from stopped
    finally:
        sys.argv = before
    return printed.getvalue()


def shown(texts: list[str]) -> str:
    """Return the lines of an output that a page shows: of each text the first ones."""
    lines = [[line.rstrip() for line in text.strip("\n").splitlines()] for text in texts]
    return "".join(f"{line}\n" for some in lines for line in [*some[:LINES], *["..."][: len(some) > LINES]])


def difference(texts: list[str], output: str) -> str:
    """Return in which line an output differs from that of its page beyond Monte Carlo error; empty where in none."""
    new, old = shown(texts).splitlines(), output.splitlines()
    if len(new) != len(old):
        return f"{len(new)} lines in place of {len(old)}"
    for new_line, old_line in zip(new, old, strict=True):
        lines = [_OF_THE_MACHINE.sub("", line) for line in (new_line, old_line)]
        masked = {" ".join(_NUMBER.sub("0", line).split()) for line in lines}
        numbers = [[text.replace(",", "") for text in _NUMBER.findall(line)] for line in lines]
        if len(masked) > 1 or not all(_near(*pair) for pair in zip(*numbers, strict=True)):
            return f"{new_line!r} in place of {old_line!r}"
    return ""


def _near(new: str, old: str) -> bool:
    last_digit = 10.0 ** -max(len(text.partition(".")[2]) for text in (new, old)) if "e" not in new + old else 0.0
    return abs(float(new) - float(old)) <= _MARGIN + last_digit / 2 + _SHARE * abs(float(old))


def written(page: str) -> str:
    """Return a page whose Python examples, and commands with an output, have that of a run in the current folder."""

    def again(match: re.Match[str]) -> str:
        example = Example(*match.groups())
        if example.language not in ("python", ""):
            return match[0]
        texts = run(example)
        if example.language == "" and example.output is None:
            return match[0]
        return Example(example.language, example.code, shown(texts) or None).fences

    return _FENCES.sub(again, page)


if __name__ == "__main__":
    for path in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_vectors(Path("vectors.txt"))
            path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(path.name)
