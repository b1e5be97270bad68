r"""Texts for readers: rounded numbers, counts with their noun, and escaped words of others.

Control characters, and characters that are invisible or change the direction of a text, are shown as Python writes
them: ``\x1b``, ``\u202e``. Markup is escaped by the function of each form: HTML and Markdown in `statements`, LaTeX in
`bayesbias.delivery.documents`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from math import floor, isfinite, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.errors import HIDDEN, HIDDEN_SIGN, name_some
from bayesbias.errors import visible as visible

if TYPE_CHECKING:
    import pandas as pd


def distance_text(value: float) -> str:
    """Return a distance with three decimals.

    >>> distance_text(0.89249), distance_text(float("nan"))
    ('0.892', 'undefined')
    """
    return f"{value:.3f}" if isfinite(value) else "undefined"


def signed_text(value: float) -> str:
    """Return a difference of distances with its sign and three decimals, or as many as show its first digit, up to six.

    >>> signed_text(-0.0314), signed_text(0.02), signed_text(-0.00021), signed_text(1e-9)
    ('-0.031', '+0.020', '-0.0002', '0.000')
    """
    if not isfinite(value):
        return "undefined"
    decimals = next((number for number in range(3, 7) if round(value, number)), 0)
    return f"{value:+.{decimals}f}" if decimals else "0.000"


def interval_text(low: float, high: float) -> str:
    """Return an interval of a difference in words.

    >>> interval_text(-0.046, 0.0191)
    '-0.046 to +0.019'
    """
    return f"{signed_text(low)} to {signed_text(high)}"


def probability_text(value: float) -> str:
    """Return a probability with two decimals, but never as 0 or 1, which draws cannot show.

    >>> probability_text(0.997), probability_text(0.5), probability_text(0.001)
    ('over 0.99', '0.50', 'under 0.01')
    """
    return "over 0.99" if value > 0.99 else "under 0.01" if value < 0.01 else f"{value:.2f}"


def percent_text(probability: float) -> str:
    """Return a probability as a percentage, unrounded.

    >>> percent_text(0.89), percent_text(0.895)
    ('89%', '89.5%')
    """
    return f"{100 * probability:g}%"


def share_text(value: float) -> str:
    """Return a share as a percentage with one decimal.

    >>> share_text(0.8951)
    '89.5%'
    """
    return f"{value:.1%}" if isfinite(value) else "undefined"


def exact_text(value: float) -> str:
    """Return a number with all its digits, and none more.

    >>> exact_text(0.02), exact_text(1.0), exact_text(0.02000001)
    ('0.02', '1', '0.02000001')
    """
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


def digits_text(value: float, digits: int = 3) -> str:
    """Return a number with a few significant digits.

    >>> digits_text(0.96643), digits_text(0.96643, 4), digits_text(0.00003), digits_text(12345.6)
    ('0.966', '0.9664', '0.00003', '12,346')
    """
    if not isfinite(value):
        return "undefined"
    text = f"{value:.{digits}g}"
    if "e" not in text or not 1e-6 <= abs(value) < 1e9:
        return text
    return f"{value:,.0f}" if abs(value) > 1 else f"{value:.6f}".rstrip("0")


def estimate_text(row: Mapping[Any, Any], *, signed: bool = False) -> str:
    """Return the mean of an estimate with its interval, with as many decimals as show three digits of the largest.

    `signed` numbers above 0 have a plus, as changes have.

    >>> estimate_text({"mean": -0.0154, "hdi_low": -0.0184, "hdi_high": -0.01227})
    '-0.0154 (-0.0184 to -0.0123)'
    >>> estimate_text({"mean": -0.00118, "hdi_low": -0.00189, "hdi_high": -0.000411})
    '-0.00118 (-0.00189 to -0.00041)'
    >>> estimate_text({"mean": 0.0154, "hdi_low": 0.0, "hdi_high": 0.0307}, signed=True)
    '+0.0154 (0.0000 to +0.0307)'
    """
    values = [float(row[name]) for name in ("mean", "hdi_low", "hdi_high")]
    largest = max(map(abs, values))
    if isfinite(largest) and 1e-6 <= largest < 1000:
        decimals = max(2 - floor(log10(largest)), 0)
        texts = [f"{value:z.{decimals}f}" for value in values]
    else:
        texts = [digits_text(value) for value in values]
    if signed:
        is_above = [value > 0 and bool(text.strip("0.")) for value, text in zip(values, texts, strict=True)]
        texts = [f"+{text}" if above else text for above, text in zip(is_above, texts, strict=True)]
    mean, low, high = texts
    return f"{mean} ({low} to {high})"


def signed_digits_text(value: float) -> str:
    """Return a number with its sign and three significant digits, as of a slope for a small unit.

    >>> signed_digits_text(-0.0011834), signed_digits_text(0.71349), signed_digits_text(0)
    ('-0.00118', '+0.713', '0')
    """
    text = digits_text(value)
    return f"+{text}" if isfinite(value) and value > 0 else text


def correlation_text(value: float) -> str:
    """Return a correlation or cosine with its sign and two decimals, but never as -0.00.

    >>> correlation_text(0.344), correlation_text(-0.001)
    ('+0.34', '+0.00')
    """
    return f"{value:+z.2f}" if isfinite(value) else "undefined"


def p_value_text(value: float) -> str:
    """Return a p-value with four decimals.

    >>> p_value_text(0.02274), p_value_text(0.00001)
    ('0.0227', 'below 0.0001')
    """
    return f"{value:.4f}" if value >= 0.0001 else "below 0.0001"


def p_text(value: float) -> str:
    """Return a p-value as an equation or inequality.

    >>> p_text(0.02274), p_text(0.00001)
    ('p = 0.0227', 'p < 0.0001')
    """
    return f"p = {value:.4f}" if value >= 0.0001 else "p < 0.0001"


def count_text(value: float) -> str:
    """Return a whole number.

    >>> count_text(4830)
    '4,830'
    """
    return f"{value:,.0f}" if isfinite(value) else "undefined"


def shown_name(name: str) -> str:
    """Return the name of a group, a list or a model as people read it.

    >>> shown_name("male_names")
    'male names'
    """
    return name.replace("_", " ")


def quoted_name(name: str) -> str:
    """Return the name of a group or a list in a sentence, where quotes tell it from the sentence's own words.

    >>> quoted_name("old_people")
    "'old people'"
    """
    return repr(shown_name(name))


def counted(count: float, one: str, many: str = "") -> str:
    """Return a count with its noun, or with what else differs between one and several; `many` is one with an s.

    >>> counted(1, "seed"), counted(4830, "word"), counted(2, "study was lost", "studies were lost")
    ('1 seed', '4,830 words', '2 studies were lost')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


# A spreadsheet takes these signs for the beginning of a formula, in a cell, and after a semicolon, where it may begin
# another cell.
_IN_CELL = re.compile(f'[{HIDDEN}\t\n\\\\]|(?:^|(?<=;))[ "]*[=+@\uff0b\uff0d\uff1d\uff20-]')


def listed(names: Sequence[str], most: int) -> str:
    """Return names in a sentence, or the number of those beyond the first `most`.

    >>> listed(["hard", "soft"], 3), listed(["hard", "soft", "linear", "misp"], 2)
    ('hard and soft', 'hard, soft and 2 more')
    """
    if len(names) > most:
        return name_some(names, most)
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def csv_cell(text: str) -> str:
    r"""Return a text as a cell of a CSV, in which it is no formula; as in a Python literal, a backslash is doubled.

    >>> print(csv_cell("=1+1"), csv_cell("-lrb-"), csv_cell("'s"), csv_cell("a\\b"))
    \x3d1+1 \x2dlrb- 's a\\b
    """
    return _IN_CELL.sub(lambda match: match[0][:-1] + _literal(match[0][-1]), text)


def _literal(sign: str) -> str:
    shown = ascii(sign)[1:-1]
    return f"\\x{ord(sign):02x}" if shown == sign else shown


def write_csv(frame: "pd.DataFrame", path: Path) -> None:
    """Write a table of a report as CSV: numbers unrounded, texts and the names of columns as `csv_cell` shows them."""
    import pandas as pd

    def cell(value: Any) -> Any:
        return csv_cell(value) if isinstance(value, str) else value

    columns = [
        column if pd.api.types.is_numeric_dtype(column) else column.astype(object).map(cell)
        for _, column in frame.items()
    ]
    texts = pd.concat(columns, axis=1) if columns else pd.DataFrame(frame)
    texts.columns = texts.columns.map(cell)
    texts.to_csv(path, index=False)


def json_text(data: Any, *, indent: int = 2) -> str:
    r"""Return data as JSON, in which control characters and invisible ones are escapes, which readers decode.

    >>> print(json_text(["caf\u00e9 \u202e"], indent=0))
    [
    "café \u202e"
    ]
    """
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    return HIDDEN_SIGN.sub(lambda match: json.dumps(match[0])[1:-1], text)
