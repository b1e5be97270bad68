"""The application, how a function becomes a command, and the printing of results."""

import json
import shlex
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer
from typer.core import TyperCommand
from typer.models import OptionInfo

import bayesbias as bb
from bayesbias.base.machine import show
from bayesbias.base.number_text import counted
from bayesbias.cli.called import called_parameters
from bayesbias.cli.messages import RUNNING, spoken
from bayesbias.cli.options import COMMON, OPTIONS
from bayesbias.errors import ArgumentError, ModelError, ReportError

if TYPE_CHECKING:
    import pandas as pd

type Settings = dict[str, Any]
"""Options that a command collects for a function that it calls."""
Loading = Annotated[Settings, "bb.load_embedding case prefix suffix format"]
# Commands that a message names for an option which the running one lacks, the first that has it, before all others.
_BEST_KNOWN = ("fit", "table", "summary")
OF_SEEDS = "that differ only in the seed of their training"


class Command(TyperCommand):
    """A command whose options say what the functions say that it calls."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with defaults and texts of the functions that get them."""
        options: dict[str | None, Any] = {option.name: option for option in self.params}
        for call in getattr(self.callback, "calls", ()):
            for name, (default, text) in called_parameters(call).items():
                options[name].default = default
                options[name].help = options[name].help or text
        return super().get_params(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line, with arguments in capitals without braces, as in manual pages."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command(
    name: str | None = None, group: typer.Typer = app, *, fill: Mapping[str, str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds a function to the application, or to a group, as a command of this name.

    `fill` has texts that replace names in braces in the docstring, which is the help.

    Each parameter of the function is an option, which the table `OPTIONS` describes, but for two kinds:

    - One of the type ``Annotated[Settings, "bb.fit draws chains"]`` gets a dict of options with the names of these
      parameters of a public function, whose defaults they have, and whose texts where the table has none.
    - One whose type is a dataclass stands for options with the names of its fields.
    """

    def add(function: Callable[..., None]) -> Callable[..., None]:
        if fill is not None:
            function.__doc__ = (function.__doc__ or "").format(**fill)
        parameters = signature(function).parameters.values()
        groups = {parameter.name: several for parameter in parameters if (several := _group(parameter))}

        @wraps(function)
        def run(**values: Any) -> None:
            RUNNING.options, RUNNING.others = _options_of(options), "--option" if "option" in values else ""
            made = {
                name: make(**{option.name: values.pop(option.name) for option in options})
                for name, (make, options) in groups.items()
            }
            function(**values, **made)

        options = [
            option.replace(kind=Parameter.KEYWORD_ONLY, annotation=_annotation(function.__name__, option))
            for parameter in parameters
            for option in (groups[parameter.name][1] if parameter.name in groups else [parameter])
        ]
        command_name = name or function.__name__.replace("_", "-")
        for parameter_name, spelled in _options_of(options).items():
            before = RUNNING.elsewhere.get(parameter_name, "").rpartition(" ")[2]
            if not before or _place(command_name) < _place(before):
                RUNNING.elsewhere[parameter_name] = f"{spelled} {command_name}"
        # Typer lists them in this order.
        options.sort(key=lambda option: (option.default is not Parameter.empty, option.name in COMMON))
        vars(run).update(__signature__=Signature(options), calls=list(filter(None, map(_call, parameters))))
        group.command(command_name, cls=Command)(run)
        return function

    return add


def _place(command_name: str) -> int:
    """Return the place of a command among those that messages name first; those that are not listed come last."""
    return _BEST_KNOWN.index(command_name) if command_name in _BEST_KNOWN else len(_BEST_KNOWN)


def _options_of(parameters: list[Parameter]) -> dict[str, str]:
    """Return the longest name of each option, by the name of its parameter."""
    infos = {one.name: info for one in parameters for info in one.annotation.__metadata__}
    spelled = {}
    for name, info in infos.items():
        if isinstance(info, OptionInfo):  # Typer takes the first name of an option for its default
            given = [text for text in map(str, (info.default, *(info.param_decls or ()))) if text.startswith("-")]
            spelled[name] = max(given or [f"--{name.replace('_', '-')}"], key=len).partition("/")[0]
    return spelled


def _call(parameter: Parameter) -> str:
    """Return the public function and the names of its parameters which a parameter collects, if it does."""
    return next((text for text in getattr(parameter.annotation, "__metadata__", ()) if isinstance(text, str)), "")


def _group(parameter: Parameter) -> tuple[Callable[..., Any], list[Parameter]] | None:
    """Return what makes the value of a parameter from several options, and these options."""
    kind = parameter.annotation
    if call := _call(parameter):
        return dict, [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in call.split()[1:]]
    return (kind, [*signature(kind).parameters.values()]) if isinstance(kind, type) and is_dataclass(kind) else None


def _annotation(command_name: str, parameter: Parameter) -> Any:
    """Return the type of an option with what the table says of it, unless the command's signature says it."""
    kind = parameter.annotation
    if get_origin(kind) is Annotated:
        return kind
    option = OPTIONS.get(f"{command_name}.{parameter.name}") or OPTIONS[parameter.name]
    kind = option.type if kind is Parameter.empty else kind
    if option.argument:
        return Annotated[kind, typer.Argument(metavar=option.metavar, help=option.text)]
    names = option.names or ((f"--{parameter.name.replace('_', '-')}",) if kind is bool else ())
    metavar = " " if kind is bool else option.metavar  # a flag takes no value
    return Annotated[kind, typer.Option(*names, metavar=metavar, help=option.text or None)]


def _print_version(requested: bool) -> None:
    if requested:
        import platform
        import re
        from importlib.metadata import PackageNotFoundError, requires, version

        print(f"bayesbias {version('bayesbias')}")
        print(f"Python {platform.python_version()}, {platform.platform()}")
        for name in sorted({re.split(r"[^\w.-]", line)[0] for line in requires("bayesbias") or []}):
            with suppress(PackageNotFoundError):  # of an extra
                print(f"{name} {version(name)}")
        raise typer.Exit


@app.callback()
def bayesbias(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_print_version,
            help="Print the version, and those of Python and libraries, and exit.",
        ),
    ] = False,
) -> None:
    """Measure associations in word embeddings, with their uncertainty.

    Two commands lead from an embedding to an answer:

        bayesbias table vectors.txt --study religion --output religion.csv

        bayesbias fit religion.csv --output religion/

    Begin with `bayesbias demo`, which needs no files. `bayesbias studies` lists the bundled studies.
    """


# Outputs that the command holds until it ends.
held_outputs = ExitStack()


def claim(output: Path) -> None:
    """Hold an output until the command ends, so that another run with the same output fails before its work."""
    from bayesbias.base.files.outputs import claimed

    held_outputs.enter_context(claimed(output))


def answer(text: str, data: Any = None, *, as_json: bool = False, quiet: bool = False) -> None:
    """Print a text, or with `as_json` the data as one JSON object, which quiet commands print too."""
    if as_json:
        from bayesbias.base.statements import plain

        print(json.dumps(plain(data), indent=2))
    elif not quiet:
        show(text)


@dataclass(frozen=True)
class Delivery:
    """How a command delivers its result: on the terminal, and in files if `output` is given.

    Its fields are options of the command.
    """

    output: Path | None = None
    as_json: bool = False
    quiet: bool = False
    overwrite: bool = False

    @property
    def progress(self) -> bool:
        """Whether to show progress."""
        return not self.quiet

    def begin(self) -> None:
        """Hold the output until the command ends; raise before any work if it cannot be written."""
        if self.output is not None:
            from bayesbias.delivery.writing import check_target

            check_target(self.output, overwrite=self.overwrite)
            claim(self.output)

    def answer(self, text: str, data: Any = None) -> None:
        """Print a text, or with --json the data."""
        answer(text, data, as_json=self.as_json, quiet=self.quiet)

    def write(self, result: Any, **options: Any) -> Path | None:
        """Write a result to the output, if given, and return its path."""
        from bayesbias.delivery.writing import write

        if self.output is None:
            return None
        return write(result, self.output, **{"overwrite": self.overwrite, "progress": self.progress} | options)

    def finish(self, result: Any, *, text: str = "", next_step: str = "") -> None:
        """Write a result to the output, if given, and print a text, by default its statements, or one JSON object.

        Details are left to the page, if one is written.
        """
        from bayesbias.delivery.writing import PAGE, as_result

        shown = as_result(result)
        self.write(shown)
        brief, end = "", ""
        if self.output is not None:
            page = self.output if self.output.suffix else self.output / PAGE
            end = f"Wrote {self.output}."
            if page.suffix == ".html" and page.exists():
                brief, where = beside_page(shown, page)
                end = f"{end} {where}"
        texts = [text or brief or spoken(shown), *filter(None, [end])]
        data = shown.to_dict() if self.as_json else None
        if data is not None and self.output is not None:
            data["output"] = str(self.output)
        self.answer("\n\n".join(texts) + (f"\n{next_step}" if next_step else ""), data)


def beside_page(result: Any, page: Path) -> tuple[str, str]:
    """Return what a terminal says of a result whose page is written, and a sentence on the page and its details."""
    from bayesbias.base.statements import render_text

    opened = f"Open {page} in a browser."
    if not (details := [part.title.partition(" (")[0].lower() for part in result.parts if part.detail]):
        return spoken(result), opened
    text = spoken(render_text(part for part in result.parts if not part.detail))
    return text, f"{opened} Folded on the page: {', '.join(details)}."


@dataclass(frozen=True)
class FileDelivery(Delivery):
    """How a command delivers its result that always writes it."""

    output: Path = field()


def command_line(*arguments: object) -> str:
    """Return a command to type, with what a shell would split or read in quotes."""
    return shlex.join(["bayesbias", *map(str, arguments)])


def file_names(embeddings: list[Path], why: str) -> list[str]:
    """Return the names of at least two embeddings, from their files; `why` ends the message if there is only one."""
    from bayesbias.base.files.inputs import printable

    names = [printable(path.stem) for path in embeddings]
    if len(names) < 2:
        raise ArgumentError(f"There is one embedding, {embeddings[0]}. Give two or more {why}.")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ArgumentError(f"Two embeddings are called {twice!r}. Give each once, in files with different names.")
    return names


def read_each(paths: list[Path]) -> "dict[str, pd.DataFrame]":
    """Return tables by the paths of their files."""
    from bayesbias.base.files.inputs import printable

    names = [printable(str(path)) for path in paths]
    if len(set(names)) < len(names):
        raise ReportError(f"A table is repeated in {', '.join(names)}. Give each once.")
    return {name: bb.read_table(path) for name, path in zip(names, paths, strict=True)}


def by_embedding(tables: "dict[str, pd.DataFrame]") -> "dict[str, pd.DataFrame]":
    """Return tables by the names of their embeddings, or of their files if those are missing or not distinct."""
    embedding_names = [table.attrs.get("bayesbias", {}).get("embedding", {}).get("name") for table in tables.values()]
    files = [Path(name).name.split(".")[0] for name in tables]
    for names in (embedding_names, files):
        if all(names) and len(set(names)) == len(tables):
            return dict(zip(names, tables.values(), strict=True))
    return tables


def names_of(text: str) -> tuple[str, ...]:
    """Return the names that commas separate.

    >>> names_of("female, male")
    ('female', 'male')
    """
    return tuple(name.strip() for name in text.split(","))


def rated_table(
    table: "pd.DataFrame",
    covariates: Path | None,
    word_column: str | None,
    *,
    column: list[str] | None,
    drop_unrated: bool,
) -> "tuple[pd.DataFrame, pd.DataFrame | None]":
    """Return a distance table, without words that lack a number if that is wanted, and the covariates of a file."""
    from bayesbias.models.covariates import frame_by_word, read_covariates, without_unrated

    if covariates is None:
        return table, None
    numbers = read_covariates(covariates, word_column, columns=column or ())
    if drop_unrated:
        table = without_unrated({"": table}, {"": frame_by_word(numbers, table)})[""]
    return table, numbers


def describe(table: "pd.DataFrame") -> str:
    """Return the size of a distance table, and which lists are associated with which groups."""
    from bayesbias.tables.schema import associated_lists, associations_text

    counts = table["connection"].value_counts().sort_index()
    pairs = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return (
        f"{counted(table['protected_word'].nunique(), 'protected word')}, "
        f"{counted(table['attribute_word'].nunique(), 'attribute word')}, {counted(len(table), 'pair')}: {pairs}."
        f"{f' Associated: {named}.' if (named := associations_text(associated_lists(table))) else ''}"
    )


def printed(frame: "pd.DataFrame", *, digits: int = 3) -> str:
    """Return a frame as text, without columns in which nothing stands."""
    from bayesbias.estimates.frames import filled, frame_text

    return frame_text(filled(frame), digits=digits, index=False)


def priors_from(texts: list[str]) -> dict[str, str]:
    """Return priors by parameter, from texts such as ``"sigma=HalfNormal(0.2)"``."""
    priors = {}
    for text in texts:
        name, equals, prior_text = text.partition("=")
        if not equals:
            raise ModelError(f"--prior {text!r}: write it as 'parameter=Distribution(...)', in quotes.")
        if name.strip() in priors:
            raise ModelError(f"--prior {text!r}: {name.strip()!r} has a prior already. Give each prior once.")
        priors[name.strip()] = prior_text.strip()
    return priors
