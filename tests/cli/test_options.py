"""The table of options: every command and option has a help, and every entry of the table is used."""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from bayesbias.cli.base import app
from bayesbias.cli.options import OPTIONS


def _parameters(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parameters of all commands, with the names of their commands."""
    context = command.make_context(path, [], resilient_parsing=True)
    for parameter in command.get_params(context):
        yield path, parameter
    for name, inner in getattr(command, "commands", {}).items():
        yield from _parameters(inner, f"{path} {name}".strip())


def test_every_option_has_a_text() -> None:
    texts = {(path, parameter.name): parameter.help for path, parameter in _parameters(get_command(app))}
    assert len(texts) > 300
    assert not [option for option, text in texts.items() if not (text or "").endswith(".")]


def test_every_entry_of_the_table_is_used() -> None:
    used = set()
    for path, parameter in _parameters(get_command(app)):
        names = (f"{path.replace(' ', '_').replace('-', '_')}.{parameter.name}", parameter.name)
        used |= {next((name for name in names if name in OPTIONS), "")}
    assert OPTIONS.keys() <= used
