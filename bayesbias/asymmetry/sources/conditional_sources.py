"""What a source of P(b given a) is, and the log asymmetry ratio of pairs of words that any such source gives."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from bayesbias.asymmetry.sources.log_ratios import normal_summary
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_frame, check_probability, check_type
from bayesbias.errors import MeasureError, name_some

CONDITIONALS = ("cue", "response", "log_probability", "sd", "left_out")
PAIR = ("a", "b")
_NUMBERS = ("log_b_given_a", "log_a_given_b", "lar", "sd", "hdi_low", "hdi_high", "probability_of_direction")


@runtime_checkable
class ConditionalSource(Protocol):
    """What gives the probability of a response given a cue: people's associations, vectors, a language model.

    Anything with this name and this method is a source; `evocation`, `static` and `masked_model` make some. A
    source whose posterior of an LAR is not about Normal may have a second method,
    ``lar_summary(a, b, hdi_prob=...)``, that returns a frame with `hdi_low`, `hdi_high` and
    `probability_of_direction`, and with `sd` where the errors of the two directions hang together.
    """

    @property
    def name(self) -> str:
        """What results call the source."""
        ...

    def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
        """Return log P(response given cue) of pairs.

        Parameters
        ----------
        cues, responses
            Words, as many responses as cues: pair by pair.

        Returns
        -------
        pandas.DataFrame
            One row a pair, in order: `cue`, `response`, `log_probability` (natural logarithm), `sd` (its standard
            error; 0 where the source has none) and `left_out`: why there is no number, else empty.
        """
        ...


def lar(
    source: ConditionalSource, pairs: pd.DataFrame | Sequence[tuple[str, str]], *, hdi_prob: float = HDI_PROB
) -> pd.DataFrame:
    """Return the log asymmetry ratio of pairs of words: whether a evokes b more than b evokes a.

    LAR(a; b) = log P(b given a) - log P(a given b).

    Parameters
    ----------
    source
        Of the probabilities: `evocation`, `static`, `masked_model`, or anything with the methods of
        `ConditionalSource`.
    pairs
        Pairs (a, b), or a frame with the columns `a` and `b` whose other columns, such as `relation`, are kept.
    hdi_prob
        Probability inside the intervals.

    Returns
    -------
    pandas.DataFrame
        One row a pair, in order: `a`, `b`, the other columns of `pairs`, `log_b_given_a`, `log_a_given_b`, `lar`, its
        standard error `sd`, `hdi_low`, `hdi_high`, `probability_of_direction` (0.5 to 1) and `left_out`. Where the
        source has no number, `left_out` says why and the numbers are missing; elsewhere it is empty.

    Raises
    ------
    MeasureError
        If there is no pair, a pair stands twice (with the same relation, if there is one), a word is paired with itself
        or is no text, or the source does not answer as `ConditionalSource` says.

    Notes
    -----
    Natural logarithms: LAR = 0.69 says that b follows a twice as often as a follows b.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 1; Griffiths, Steyvers and Tenenbaum (2007).

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "cue": ["guitar", "guitar", "music"], "response": ["music", "string", "guitar"],
    ...     "count": [30, 41, 2], "participants": [146, 146, 150],
    ... })
    >>> found = bb.asymmetry.lar(bb.asymmetry.evocation(table), [("guitar", "music")])
    >>> found.loc[0, "hdi_low"] > 1
    np.True_
    """
    check_probability("hdi_prob", hdi_prob)
    if not isinstance(source, ConditionalSource):
        raise MeasureError(
            f"The source is {type(source).__name__}. Give bb.asymmetry.evocation(table), .static(embedding), "
            ".masked_model(model, index), or an object with a name and a method log_conditionals."
        )
    frame = checked_pairs(pairs)
    a, b = (frame[side].tolist() for side in PAIR)
    forward, backward = asked(source, a, b), asked(source, b, a)
    reasons = _reasons(forward, backward)
    kept = np.array([not reason for reason in reasons])
    columns = {name: np.full(len(frame), np.nan) for name in _NUMBERS}
    if kept.any():
        ahead, back = forward[kept], backward[kept]
        both = np.stack([ahead["log_probability"].to_numpy(), back["log_probability"].to_numpy()])
        errors = np.hypot(ahead["sd"].to_numpy(), back["sd"].to_numpy())
        found = {"log_b_given_a": both[0], "log_a_given_b": both[1], "lar": both[0] - both[1], "sd": errors}
        first, second = ([word for word, keep in zip(side, kept, strict=True) if keep] for side in (a, b))
        found |= _summary(source, first, second, found["lar"], errors, hdi_prob)
        for name, values in found.items():
            columns[name][kept] = values
    return frame.assign(**columns, left_out=reasons)


def _summary(
    source: ConditionalSource, a: list[str], b: list[str], ratios: Floats, errors: Floats, hdi_prob: float
) -> dict[str, Floats]:
    own = getattr(source, "lar_summary", None)
    if own is None:
        return normal_summary(ratios, errors, hdi_prob)
    frame = own(a, b, hdi_prob=hdi_prob)
    names = ("sd", "hdi_low", "hdi_high", "probability_of_direction")
    return {name: frame[name].to_numpy() for name in names if name in frame}


def asked(source: ConditionalSource, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
    """Return a source's answer for pairs; raise `MeasureError` if it is not what `ConditionalSource` says."""
    answer: Any = source.log_conditionals(cues, responses)
    if not isinstance(answer, pd.DataFrame) or not set(CONDITIONALS) <= set(answer.columns):
        raise MeasureError(
            f"The source {source.name!r} does not return a frame with the columns {', '.join(CONDITIONALS)}."
        )
    if answer["cue"].tolist() != list(cues) or answer["response"].tolist() != list(responses):
        raise MeasureError(f"The source {source.name!r} does not return the pairs in the order in which it was asked.")
    kept = answer["left_out"] == ""
    numbers = answer.loc[kept, ["log_probability", "sd"]].to_numpy(dtype=np.float64)
    # A probability is at most 1 but for rounding.
    wrong = ~np.isfinite(numbers).all(axis=1) | (numbers[:, 0] > 1e-6) | (numbers[:, 1] < 0)
    if wrong.any():
        row = answer[kept].iloc[int(np.argmax(wrong))]
        raise MeasureError(
            f"The source {source.name!r} gives {row['cue']} -> {row['response']} the log probability "
            f"{row['log_probability']:g} with the standard error {row['sd']:g}. Give finite numbers, a logarithm of at "
            "most 0, or say in left_out why there is none: log P is not finite where P is 0."
        )
    return answer.reset_index(drop=True)


def checked_pairs(pairs: Any) -> pd.DataFrame:
    """Return pairs of words as a frame with the columns a and b first; raise `MeasureError` with what is wrong."""
    if isinstance(pairs, pd.DataFrame):
        check_frame("pairs", pairs, "pairs of words")
        if lacking := [name for name in PAIR if name not in pairs.columns]:
            raise MeasureError(f"The pairs lack the columns {', '.join(lacking)}. Give a frame with a and b.")
        others = [name for name in pairs.columns if name not in {*PAIR, *_NUMBERS, "left_out"}]
        frame = pairs[[*PAIR, *others]].reset_index(drop=True)
    else:
        check_type("pairs", pairs, Sequence, "pairs of words such as [('guitar', 'music')], or a frame with a and b")
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise MeasureError(f"{pair!r} is not a pair of words. Give pairs such as ('guitar', 'music').")
        frame = pd.DataFrame(list(map(tuple, pairs)), columns=list(PAIR))
    if frame.empty:
        raise MeasureError("There are no pairs. Give at least one, such as ('guitar', 'music').")
    for name in PAIR:
        for row, word in enumerate(frame[name].tolist()):
            if not isinstance(word, str) or not word:
                raise MeasureError(f"Row {row} of the pairs has {word!r} as {name}. Words are text.")
    if len(same := frame.index[frame["a"] == frame["b"]]):
        raise MeasureError(f"{frame.loc[same[0], 'a']!r} is paired with itself. Leave such pairs out.")
    labels = [*PAIR, "relation"] if "relation" in frame else list(PAIR)
    twice = frame[frame.duplicated(labels)]
    if len(twice):
        named = name_some(" - ".join(map(str, row)) for row in twice[labels].itertuples(index=False))
        raise MeasureError(f"Some pairs stand twice: {named}. Keep each once (drop_duplicates).")
    return frame


def _reasons(forward: pd.DataFrame, backward: pd.DataFrame) -> list[str]:
    """Return why pairs are left out: each reason once."""
    both = zip(forward["left_out"], backward["left_out"], strict=True)
    return ["; ".join(dict.fromkeys(reason for reason in pair if reason)) for pair in both]
