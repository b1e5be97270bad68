"""How to repeat changes: Python code that runs as written, if the inputs came from files."""

import os
from collections.abc import Mapping
from typing import Any

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.results import call_options

DRAWS = 1000
"""Default posterior draws per chain."""


def input_code(value: Any, placeholder: str) -> str:
    """Return an input as Python code: the path or paths of files, or a placeholder of what came from no file.

    >>> input_code("decades/", "PERIODS"), input_code({1900: "a.npz"}, "PERIODS"), input_code(object(), "STUDY")
    ("'decades/'", "{1900: 'a.npz'}", 'STUDY')
    """
    if isinstance(value, str | os.PathLike):
        return repr(os.fspath(value))
    if isinstance(value, Mapping) and all(isinstance(one, str | os.PathLike) for one in value.values()):
        return repr({name: os.fspath(path) for name, path in value.items()})
    return placeholder


def change_code(facts: Mapping[str, Any]) -> str:
    """Return Python code that repeats changes, given `Changes.facts`."""
    options = call_options(
        walk=(facts["walk"], False),
        baseline=(facts["baseline"], "associated"),
        scope=(facts["scope"], "population"),
        hdi_prob=(facts["hdi_prob"], HDI_PROB),
        rope=(facts["rope"], None),
        draws=(facts["draws"], DRAWS),
    )
    seed = f"random_seed={facts['random_seed']}"
    lines = ["import bayesbias as bb", ""]
    if facts["times"] is None:
        names = ", ".join(f"{name!r}: table_{place}" for place, name in enumerate(facts["conditions"], start=1))
        call = f"compared = bb.compare_embeddings({{{names}}}{options}, {seed})"
        tables = (
            f'# table_1 to table_{len(facts["conditions"])}: the distance tables, such as bb.read_table("table.csv")'
        )
        return "\n".join([*lines, tables, call, 'bb.write(compared, "changes.html")'])
    inputs, lost = facts["inputs"], call_options(max_lost=(facts["max_lost"], MAX_LOST))
    periods, *given = (f"{name}={text}" if name != "periods" else text for name, text in inputs.items())
    call = f"moved = bb.trend({', '.join([periods, *given])}{lost}{options}, {seed})"
    return "\n".join([*lines, call, 'bb.write(moved, "trend.html")'])
