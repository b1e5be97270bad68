"""Messages of functions in the words of the command line: an argument of Python becomes the option that sets it."""

import re
import shlex
from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# An argument and its value as Python writes them: not in a path, a quotation or a text that the user wrote.
_ARGUMENT = re.compile(
    r"""(?<![\w/\\.'"=-])(?P<name>[a-z][a-z0-9_]*)=(?P<value>
    \.\.\. | N\b | (?:None|True|False|-?nan|-?inf)\b | -?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w/]|\.\w) |
    '[^'\n]*' | "[^"\n]*" | \([^()\n]*\) | \[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\])""",
    re.VERBOSE,
)
_OF_PYTHON = ", or None to have one drawn"
# An option before the argument that it sets: results, which pages show too, name both.
_BOTH = re.compile(r"--(?P<name>[a-z]+)\s+N,\s+(?=(?P=name)=N\b)")


@dataclass
class Spelling:
    """How a command spells the arguments of the functions that it calls.

    - `options`: name of an argument -> the option that sets it.
    - `others`: option that sets all other arguments as ``name=value``; empty without one.
    - `elsewhere`: name of an argument that other commands set -> the option, a space, and one such command.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    others: str = ""
    elsewhere: dict[str, str] = field(default_factory=dict)

    def option(self, name: str) -> str | None:
        """Return the option that sets an argument, or one value of it at a time; None if the command has none."""
        return self.options.get(name, self.options.get(name.removesuffix("s")))


RUNNING = Spelling()
"""Spelling of the command that runs in this process."""


def of_command(name: str, spelling: Spelling = RUNNING) -> str:
    """Return what follows the option of a setting that only another command has; empty if the running one has it.

    >>> of_command("case", Spelling(elsewhere={"case": "--case table"}))
    ' of `bayesbias table`'
    """
    command = spelling.elsewhere.get(name, "").partition(" ")[2]
    return f" of `bayesbias {command}`" if command and not spelling.option(name) else ""


def spoken(text: object, spelling: Spelling = RUNNING) -> str:
    """Return a message with the options of a command in place of arguments of Python.

    >>> spelling = Spelling({"scope": "--scope", "lists": "--lists", "random_seed": "--seed"}, others="--option")
    >>> spoken("Use scope='these_words', lists=('male', 'female') or random_seed=1 for a/scope=1.csv.", spelling)
    'Use --scope these_words, --lists male,female or --seed 1 for a/scope=1.csv.'
    >>> spoken("More draws (--draws N, draws=N) can decide.", Spelling({"draws": "--draws"}))
    'More draws (--draws N) can decide.'
    >>> spoken("ddof=3: give 0 or 1.", spelling)
    '--option ddof=3: give 0 or 1.'
    """

    def as_option(match: re.Match[str]) -> str:
        name, value, other = match["name"], _value(match["value"]), ""
        option = spelling.option(name)
        if option is None and spelling.others:
            return f"{spelling.others} {name}={value if isinstance(value, str) else match['value']}"
        if option is None:
            option, other = spelling.elsewhere.get(name, "").partition(" ")[0], of_command(name, spelling)
        if not option:
            return match[0]
        if value is None or value is False:
            return f"no {option}{other}"
        return f"{option}{other}" if value is True or value is ... else f"{option} {value}{other}"

    return _ARGUMENT.sub(as_option, _BOTH.sub("", str(text).replace(_OF_PYTHON, "")))


def _value(written: str) -> Any:
    """Return True, False, None or an ellipsis, else what is typed after an option: names with commas, then numbers."""
    try:
        value = literal_eval(written)
    except (ValueError, SyntaxError):  # nan, N for any number, or names of variables
        return written
    if isinstance(value, tuple | list):
        texts = any(isinstance(one, str) for one in value)
        return shlex.quote(",".join(map(str, value))) if texts or isinstance(value, list) else " ".join(map(str, value))
    if value is None or value is ... or isinstance(value, bool):
        return value
    return f"{value:.15g}" if isinstance(value, float) else shlex.quote(str(value))
