"""Whether the words of a study evoke each other asymmetrically: log asymmetry ratios by connection."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.asymmetry.ratios.agreement import similarity
from bayesbias.asymmetry.ratios.alar import usable
from bayesbias.asymmetry.ratios.pair_statistics import Codes, dyadic_variance, word_codes
from bayesbias.asymmetry.sources.conditional_sources import ConditionalSource, lar
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.base.statements import Rendered, Statement, StatementList, percent_text, rows_of
from bayesbias.errors import MeasureError, name_some
from bayesbias.estimates.intervals import contrast_name, settled
from bayesbias.studies.study import StudyLike, load_study

if TYPE_CHECKING:
    import pandas as pd

_TITLES = {"lar": "LAR", "log_similarity": "log similarity"}


@dataclass(frozen=True, eq=False, repr=False)
class StudyAsymmetry(Rendered):
    """Whether a study's protected words evoke its attribute words more than the other way round.

    Parameters
    ----------
    source, study
        Their names.
    means
        One row a quantity and connection: `quantity` (``"lar"``: above 0, protected words evoke attribute words more
        than these evoke them; ``"log_similarity"``: both directions together), `connection`, `pairs`, `mean`, `sd`,
        `hdi_low`, `hdi_high`, `probability_of_direction`.
    contrasts
        The same for differences of connections: `quantity`, `contrast`, `mean`, `sd`, `hdi_low`, `hdi_high`,
        `probability_of_direction`.
    pairs
        One row a pair, from `lar`: `a` is the protected word and `b` the attribute word.
    left_out
        How many pairs have no number, by reason: `left_out`, `pairs`.
    hdi_prob
        Probability inside the intervals.
    """

    source: str
    study: str
    means: "pd.DataFrame"
    contrasts: "pd.DataFrame"
    pairs: "pd.DataFrame"
    left_out: "pd.DataFrame"
    hdi_prob: float

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the text: means, contrasts, and what was left out."""
        means = [_mean_statement(row) for row in rows_of(self.means) if row["quantity"] == "lar"]
        contrasts = [_contrast_statement(row) for row in rows_of(self.contrasts)]
        lost = int(self.left_out["pairs"].sum())
        limits = [
            Statement(
                "words",
                "A word that is on everybody's mind is evoked by many and evokes few in particular: a mean LAR of one "
                "connection says that too. A difference of connections that share their words does not.",
            )
        ]
        if lost:
            reasons = name_some((f"{row['left_out']} ({row['pairs']:,})" for row in rows_of(self.left_out)), 4)
            text = f"{lost:,} of {len(self.pairs):,} pairs have no number: {reasons}."
            limits.append(Statement("left out", text, {"pairs": lost}))
        title = f"LAR in {self.source}, {self.study} ({percent_text(self.hdi_prob)} intervals, natural logarithms)"
        parts = (
            StatementList(title, tuple(means)),
            StatementList("Differences", tuple(contrasts)),
            StatementList("Beware", tuple(limits)),
        )
        return tuple(part for part in parts if part.statements)


def _mean_statement(row: Mapping[str, Any]) -> Statement:
    more = "more" if row["mean"] > 0 else "less"
    text = (
        f"{row['connection']}, {row['pairs']:,} pairs: protected words evoke attribute words "
        f"{np.exp(abs(row['mean'])):.2f} times {more} than these evoke them: {row['mean']:+.3f} "
        f"({row['hdi_low']:+.3f} to {row['hdi_high']:+.3f})."
    )
    return Statement("mean", text, row)


def _contrast_statement(row: Mapping[str, Any]) -> Statement:
    what = "settled" if settled(row["hdi_low"], row["hdi_high"]) else "not settled"
    text = (
        f"{_TITLES[row['quantity']]}, {row['contrast']}: {row['mean']:+.3f} ({row['hdi_low']:+.3f} to "
        f"{row['hdi_high']:+.3f}), {what}."
    )
    return Statement("contrast", text, row)


_NUMBERS = ("mean", "sd", "hdi_low", "hdi_high", "probability_of_direction")


def study_asymmetry(
    source: ConditionalSource, study: StudyLike, *, controls: bool = True, hdi_prob: float = HDI_PROB
) -> StudyAsymmetry:
    """Ask whether the protected words of a study evoke its attribute words more than the other way round.

    Parameters
    ----------
    source
        Of conditional probabilities, as for `lar`.
    study
        Word lists: see `load_study`.
    controls
        Ask about its control words too.
    hdi_prob
        Probability inside the intervals.

    Returns
    -------
    StudyAsymmetry
        Means of LAR by connection, and differences of connections; the same of the logarithm of the similarity, the
        geometric mean of both directions, which is what other measures of association are about.

    Raises
    ------
    MeasureError
        If fewer than two protected words have pairs with numbers.

    Notes
    -----
    Words are a sample of words like these: two pairs that share a word vary together, and an interval is that of a t
    distribution with one degree of freedom less than there are protected (or attribute) words, whichever are fewer. The
    errors of the ratios make it wider. Norms list few pairs of a study: of the others the ratios are near 0, and their
    errors large.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 1, for the ratio. Contrasts by connection are this package's.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> found = bb.asymmetry.study_asymmetry(bb.asymmetry.static(vectors), "weat7", controls=False)
    >>> found.contrasts[["quantity", "contrast"]].values.tolist()
    [['lar', 'associated - different'], ['log_similarity', 'associated - different']]
    """
    import pandas as pd

    check_probability("hdi_prob", hdi_prob)
    asked = load_study(study)
    lists = asked.attribute_lists if controls else {name: tuple(words) for name, words in asked.attributes.items()}
    rows = [
        (a, b, group, attribute, asked.connection(group, attribute))
        for (group, words), (attribute, others) in product(asked.protected.items(), lists.items())
        for a, b in product(words, others)
        if a != b
    ]
    frame = pd.DataFrame(rows, columns=["a", "b", "protected_group", "attribute_group", "connection"])
    pairs = lar(source, frame.drop_duplicates(["a", "b"]), hdi_prob=hdi_prob)
    kept = similarity(usable(pairs))
    words = min(kept["a"].nunique(), kept["b"].nunique())
    if words < 2:
        raise MeasureError(
            f"Of {len(pairs):,} pairs of {asked.name} {source.name} knows {len(kept)}, with {kept['a'].nunique()} "
            "protected words. Two are needed of these and of attribute words."
        )
    connections = [name for name in asked.connections if (kept["connection"] == name).any()]
    codes = word_codes(kept["a"].tolist(), kept["b"].tolist())
    means, contrasts = [], []
    for quantity, part in (("lar", 1.0), ("log_similarity", 0.5)):
        values = kept[quantity].to_numpy(dtype=np.float64)
        errors = kept["sd"].to_numpy(dtype=np.float64) * part
        sides = [(kept["connection"] == name).to_numpy() for name in connections]
        parts = [_influences(values, side) for side in sides]
        shares = [side / side.sum() for side in sides]
        for name, side, share, (mean, influences) in zip(connections, sides, shares, parts, strict=True):
            found = _estimate(mean, influences, share * errors, codes, words, hdi_prob)
            means.append({"quantity": quantity, "connection": name, "pairs": int(side.sum()), **found})
        for name, share, (mean, influences) in zip(connections[1:], shares[1:], parts[1:], strict=True):
            noise = (shares[0] - share) * errors
            found = _estimate(parts[0][0] - mean, parts[0][1] - influences, noise, codes, words, hdi_prob)
            contrasts.append({"quantity": quantity, "contrast": contrast_name(connections[0], name), **found})
    lost = pairs.loc[pairs["left_out"] != "", "left_out"].value_counts()
    return StudyAsymmetry(
        source=source.name,
        study=asked.name,
        means=pd.DataFrame(means),
        contrasts=pd.DataFrame(contrasts, columns=["quantity", "contrast", *_NUMBERS]),
        pairs=pairs,
        left_out=pd.DataFrame({"left_out": lost.index, "pairs": lost.to_numpy()}),
        hdi_prob=hdi_prob,
    )


def _influences(values: Floats, side: Any) -> tuple[float, Floats]:
    """Return the mean of some pairs, and the influence of every pair on it."""
    mean = float(values[side].mean())
    return mean, np.where(side, values - mean, 0.0) / side.sum()


def _estimate(
    mean: float, influences: Floats, noise: Floats, codes: tuple[Codes, Codes], words: int, hdi_prob: float
) -> dict[str, float]:
    """Return a mean and its interval, where `words` words are the sample."""
    from scipy.stats import t

    freedom = words - 1
    error = float(np.sqrt(dyadic_variance(influences, *codes) * words / freedom + noise @ noise))
    half = float(t.ppf((1 + hdi_prob) / 2, freedom)) * error
    certain = float(t.cdf(abs(mean) / error, freedom)) if error else 1.0 if mean else 0.5
    return dict(zip(_NUMBERS, (mean, error, mean - half, mean + half, certain), strict=True))
