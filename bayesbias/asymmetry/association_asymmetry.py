"""`study_asymmetry`: log asymmetry ratios of the words of a study, by connection."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.asymmetry.agreement import similarity
from bayesbias.asymmetry.relation_means import Codes, dyadic_variance, ratio_text, usable, word_codes
from bayesbias.asymmetry.vector_source import ConditionalSource, lar
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_probability
from bayesbias.base.machine import check_memory
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.results import DOUBTS, Contents, Result, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.embeddings.embedding import Embedding, unit_rows_of
from bayesbias.errors import MeasureError, name_some
from bayesbias.estimates.dependence import LinkedWords, check_room_for_pairs
from bayesbias.estimates.intervals import contrast_name, settled_text
from bayesbias.studies.study import StudyLike, load_study
from bayesbias.tables.build import vocabulary_statistics

if TYPE_CHECKING:
    import pandas as pd

_TITLES = {"lar": "LAR", "log_similarity": "log similarity"}
_BYTES_A_PAIR = 1000
_NUMBERS = ("mean", "sd", "hdi_low", "hdi_high", "probability_of_direction")


@dataclass(frozen=True, eq=False, repr=False)
class StudyAsymmetry(Result):
    """Asymmetry of association between a study's protected words and its attribute words.

    Parameters
    ----------
    source, study
        Names of the source and of the study.
    means
        One row per quantity and connection: `quantity` (``"lar"``, positive if protected words evoke attribute words
        more than the reverse, or ``"log_similarity"``, both directions together), `connection`, `pairs`, `mean`, `sd`,
        `hdi_low`, `hdi_high`, `probability_of_direction`.
    contrasts
        The same for differences of connections: `quantity`, `contrast`, `mean`, `sd`, `hdi_low`, `hdi_high`,
        `probability_of_direction`.
    pairs
        One row per pair, from `lar`: `a` is the protected word and `b` the attribute word.
    left_out
        Numbers of pairs without a number, by reason: `left_out`, `pairs`.
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
    def _parts(self) -> tuple[StatementList, ...]:
        means = [_mean_statement(row) for row in rows_of(self.means) if row["quantity"] == "lar"]
        contrasts = [_contrast_statement(row) for row in rows_of(self.contrasts)]
        lost = int(self.left_out["pairs"].sum())
        limits = [
            Statement(
                "words",
                "A salient word is evoked by many words and evokes few in particular, which affects the mean LAR of a "
                "connection. It does not affect differences between connections that share their words.",
            )
        ]
        if lost:
            reasons = name_some((f"{row['left_out']} ({row['pairs']:,})" for row in rows_of(self.left_out)), 4)
            text = f"{lost:,} of {len(self.pairs):,} pairs have no number: {reasons}."
            limits.append(Statement("left out", text, {"pairs": lost}))
        title = f"LAR in {self.source}, {self.study} ({percent_text(self.hdi_prob)} intervals, natural logarithms)"
        first = next((row for row in rows_of(self.means) if row["quantity"] == "lar"), None)
        answer = [Statement("answer", _mean_statement(first).text, first)] if first else []
        return (
            StatementList("", tuple(answer), bulleted=False),
            StatementList(title, tuple(means[1:])),
            StatementList("Differences", tuple(contrasts)),
            StatementList(DOUBTS, tuple(limits)),
        )

    @cached_property
    def contents(self) -> Contents:
        """Means of connections, their differences, and pairs."""
        return contents_of(
            self,
            title=f"Which evokes the other more? {self.study} in {self.source}",
            captions={"means": "Means of connections, natural logarithms", "contrasts": "Differences of connections"},
            differences=("means", "contrasts", "pairs"),
        )


def _mean_statement(row: Mapping[str, Any]) -> Statement:
    what = settled_text(row["hdi_low"], row["hdi_high"])
    text = (
        f"{row['connection']}, {counted(row['pairs'], 'pair')}: protected words evoke attribute words "
        f"{ratio_text(row['mean'])} the reverse: {row['mean']:+z.3f} ({row['hdi_low']:+z.3f} to "
        f"{row['hdi_high']:+z.3f}), {what}."
    )
    return Statement("mean", text, row)


def _contrast_statement(row: Mapping[str, Any]) -> Statement:
    what = settled_text(row["hdi_low"], row["hdi_high"])
    text = (
        f"{_TITLES[row['quantity']]}, {row['contrast']}: {row['mean']:+z.3f} ({row['hdi_low']:+z.3f} to "
        f"{row['hdi_high']:+z.3f}), {what}."
    )
    return Statement("contrast", text, row)


def study_asymmetry(
    source: ConditionalSource, study: StudyLike, *, controls: bool = True, hdi_prob: float = HDI_PROB
) -> StudyAsymmetry:
    """Return mean log asymmetry ratios of the protected and attribute words of a study, by connection.

    Parameters
    ----------
    source
        Source of conditional probabilities, as for `lar`.
    study
        Word lists: see `load_study`.
    controls
        Whether to include control words.
    hdi_prob
        Probability inside the intervals.

    Returns
    -------
    StudyAsymmetry
        Means of LAR by connection, and differences of connections; the same for the log similarity, from the geometric
        mean of both directions, which is what other measures of association describe.

    Raises
    ------
    MeasureError
        If fewer than two protected or two attribute words have pairs with numbers.
    NotEnoughMemoryError
        If all pairs do not fit into the free memory.

    Notes
    -----
    Words are treated as a sample: pairs that share a word vary together, and intervals are those of a t distribution
    with one degree of freedom less than the number of protected or of attribute words, whichever is smaller, among the
    pairs of the connection. If the source has vectors (`static`), words of a list that depend on each other, such as
    synonyms, count as the independent words that they are worth, as in the default model. The errors of the ratios
    widen them. A connection with one word has no row. Norms list few pairs of a study; the ratios of other pairs are
    near 0, with large errors.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 1, for the ratio. Contrasts by connection are our extension.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> asymmetry = bb.asymmetry.study_asymmetry(bb.asymmetry.static(vectors), "weat7", controls=False)
    >>> asymmetry.contrasts[["quantity", "contrast"]].values.tolist()
    [['lar', 'associated - different'], ['log_similarity', 'associated - different']]
    """
    import pandas as pd

    check_probability("hdi_prob", hdi_prob)
    loaded = load_study(study)
    lists = loaded.attribute_lists if controls else {name: tuple(words) for name, words in loaded.attributes.items()}
    rows_listed, columns_listed = (sum(map(len, side.values())) for side in (loaded.protected, lists))
    check_memory(
        rows_listed * columns_listed * _BYTES_A_PAIR,
        f"The pairs of {rows_listed:,} protected and {columns_listed:,} attribute words",
        "Take shorter lists, or allow more memory.",
    )
    rows = [
        (a, b, group, attribute, loaded.connection(group, attribute))
        for (group, words), (attribute, others) in product(loaded.protected.items(), lists.items())
        for a, b in product(words, others)
        if a != b
    ]
    frame = pd.DataFrame(rows, columns=["a", "b", "protected_group", "attribute_group", "connection"])
    pairs = lar(source, frame.drop_duplicates(["a", "b"]), hdi_prob=hdi_prob)
    usable_pairs = similarity(usable(pairs))
    words = min(usable_pairs["a"].nunique(), usable_pairs["b"].nunique())
    if words < 2:
        raise MeasureError(
            f"{source.name} has numbers for {len(usable_pairs)} of the {counted(len(pairs), 'pair')} of "
            f"{loaded.name}, with {usable_pairs['a'].nunique()} protected and "
            f"{counted(usable_pairs['b'].nunique(), 'attribute word')}. At least 2 of each are needed: give a source "
            "with more of the words."
        )
    connections = [name for name in loaded.connections if (usable_pairs["connection"] == name).any()]
    codes = word_codes(usable_pairs["a"].tolist(), usable_pairs["b"].tolist())
    links = _links_of_lists(source, usable_pairs)
    correlations = _correlations(links, codes, usable_pairs)
    sides = [(usable_pairs["connection"] == name).to_numpy() for name in connections]
    shares = [side / side.sum() for side in sides]
    counts = [
        min(
            _worth(usable_pairs[side], role, column, links) for role, column in (("protected", "a"), ("attribute", "b"))
        )
        for side in sides
    ]
    sizes = [min(usable_pairs.loc[side, "a"].nunique(), usable_pairs.loc[side, "b"].nunique()) for side in sides]
    means, contrasts = [], []
    for quantity, part in (("lar", 1.0), ("log_similarity", 0.5)):
        values = usable_pairs[quantity].to_numpy(dtype=np.float64)
        errors = usable_pairs["sd"].to_numpy(dtype=np.float64) * part
        parts = [_influences(values, side) for side in sides]
        for place, (name, (mean, influences)) in enumerate(zip(connections, parts, strict=True)):
            if sizes[place] < 2:
                continue
            estimate = _estimate(mean, influences, shares[place] * errors, codes, correlations, counts[place], hdi_prob)
            means.append({"quantity": quantity, "connection": name, "pairs": int(sides[place].sum()), **estimate})
            if not place or sizes[0] < 2:
                continue
            noise, worth = (shares[0] - shares[place]) * errors, min(counts[0], counts[place])
            estimate = _estimate(
                parts[0][0] - mean, parts[0][1] - influences, noise, codes, correlations, worth, hdi_prob
            )
            contrasts.append({"quantity": quantity, "contrast": contrast_name(connections[0], name), **estimate})
    lost = pairs.loc[pairs["left_out"] != "", "left_out"].value_counts()
    return StudyAsymmetry(
        source=source.name,
        study=loaded.name,
        means=pd.DataFrame(means),
        contrasts=pd.DataFrame(contrasts, columns=["quantity", "contrast", *_NUMBERS]),
        pairs=pairs,
        left_out=pd.DataFrame({"left_out": lost.index, "pairs": lost.to_numpy()}),
        hdi_prob=hdi_prob,
    )


def _influences(values: Floats, side: Any) -> tuple[float, Floats]:
    """Return the mean over the pairs of one side, and the influence of every pair on it."""
    mean = float(values[side].mean())
    return mean, np.where(side, values - mean, 0.0) / side.sum()


type _Links = dict[tuple[str, str], tuple[list[str], LinkedWords]]
"""Words of each list, by role and name, and the links between them."""


def _links_of_lists(source: ConditionalSource, pairs: "pd.DataFrame") -> _Links:
    """Return the links within the lists of pairs; words of sources without vectors are independent."""
    embedding: Any = getattr(source, "embedding", None)
    vocabulary = vocabulary_statistics(embedding) if isinstance(embedding, Embedding) else None
    links = {}
    for role, column in (("protected", "a"), ("attribute", "b")):
        for name, rows in pairs.groupby(f"{role}_group", sort=False):
            words = list(dict.fromkeys(rows[column]))
            linked = LinkedWords.none(len(words))
            if vocabulary is not None:
                vectors = unit_rows_of(embedding, words)
                linked = vocabulary.links(vectors)
            links[role, str(name)] = words, linked
    return links


def _correlations(links: _Links, codes: tuple[Codes, Codes], pairs: "pd.DataFrame") -> Floats:
    """Return the correlations of all words beyond chance, shape (words, words)."""
    code_of = dict(zip([*pairs["a"], *pairs["b"]], np.concatenate(codes).tolist(), strict=True))
    check_room_for_pairs(len(code_of))
    correlations = np.eye(len(code_of))
    for words, linked in links.values():
        places = [code_of[word] for word in words]
        block = linked.correlations(np.zeros(len(words)))
        correlations[np.ix_(places, places)] = np.maximum(correlations[np.ix_(places, places)], block)
    return correlations


def _worth(pairs: "pd.DataFrame", role: str, column: str, links: _Links) -> float:
    """Return how many independent words of a role are in some pairs."""
    worth = 0.0
    for name, words_of_list in pairs.groupby(f"{role}_group", sort=False)[column]:
        words, linked = links[role, str(name)]
        members = set(words_of_list)
        here = np.flatnonzero([word in members for word in words])
        worth += len(here) / linked.design_effect(here)
    # A word of two lists is one word.
    return min(worth, float(pairs[column].nunique()))


def _estimate(
    mean: float,
    influences: Floats,
    noise: Floats,
    codes: tuple[Codes, Codes],
    correlations: Floats,
    words: float,
    hdi_prob: float,
) -> dict[str, float]:
    from scipy.stats import t

    freedom = max(words - 1, 1.0)
    error = float(np.sqrt(dyadic_variance(influences, *codes, correlations) * words / freedom + noise @ noise))
    half = float(t.ppf((1 + hdi_prob) / 2, freedom)) * error
    certain = float(t.cdf(abs(mean) / error, freedom)) if error else 1.0 if mean else 0.5
    return dict(zip(_NUMBERS, (mean, error, mean - half, mean + half, certain), strict=True))
