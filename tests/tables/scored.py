"""Distance tables as tables of scores, and the texts of results about them."""

import json
import re
from pathlib import Path

import pandas as pd

import bayesbias as bb
from bayesbias.base.results import Result
from bayesbias.tables.measures import Measure

RATING = Measure("rating", "points")
OF_COSINES = re.compile("cosine|embedding|vector|distance|WEAT|WEFAT", re.IGNORECASE)


def scored(table: pd.DataFrame, factor: float = 1.0, shift: float = 0.0, *, measure: Measure = RATING) -> pd.DataFrame:
    """Return a table of cosine distances as one of another measure, whose numbers are a multiple of the distances."""
    numbers = shift + factor * table["cosine_distance"]
    others = table.drop(columns=["cosine_distance", "cosine_similarity"], errors="ignore")
    made = others.assign(**{measure.column: numbers})
    made.attrs = {"bayesbias": {"study": "made", "measure": measure.record()}}
    return made


def texts(result: Result) -> str:
    """Return the sentences, captions and labels of a result, as printed and as on its page."""
    contents = result.contents
    parts = [str(result), contents.title, contents.about, contents.answer, contents.estimate]
    parts += [json.dumps([str(one) for one in (*contents.answers, *contents.doubts, *contents.limits)])]
    parts += [str(statement) for part in contents.parts for statement in part.statements]
    parts += [f"{name}: {text}" for name, text in contents.settings.items()]
    parts += [f"{table.section} {table.caption} {table.note}" for table in contents.tables.values()]
    parts += [f"{one.caption} {one.alt} {one.options}" for one in contents.figures.values()]
    return "\n".join(parts)


def page_text(result: Result, folder: Path) -> str:
    """Return the visible text of the page of a result."""
    page = bb.write(result, folder / "page.html", overwrite=True).read_text()
    body = re.sub(r"<(script|style|code|pre)\b.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", body)
