"""Regressions of cosine similarities on sets of pairs, and the terms that they omit (Kindel's supplement)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_choice, check_count, check_probability, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import (
    count_text,
    counted,
    digits_text,
    distance_text,
    interval_text,
    percent_text,
    probability_text,
    signed_text,
)
from bayesbias.base.results import Contents, Result, contents_of
from bayesbias.base.statements import Statement, StatementList
from bayesbias.cosine_regressions.designs import (
    InnerProductDesign,
    binary_design,
    bivariate_design,
    centroid_design,
    centroid_weights,
    overlapping_bivariate_centroid_design,
    overlapping_design,
)
from bayesbias.cosine_regressions.linear_model import (
    LinearPrior,
    WordEffects,
    distortion_slopes,
    find_prior,
    global_shares,
    regression_draws,
)
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, name_some
from bayesbias.estimates.intervals import estimates
from bayesbias.metrics.look_up import find_lists, four_lists
from bayesbias.studies.study import StudyLike

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_MOSTLY_PRIOR = 0.5
MODELS = ("inner_product", "corrected_ratio", "constrained")


class ListVectors(NamedTuple):
    """Names, words and vectors of the lists X, Y, A, B."""

    names: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    vectors: tuple[Floats, ...]


class StudyRows(NamedTuple):
    """A design and the words of its rows."""

    design: InnerProductDesign
    first: list[str]
    second: list[str]
    sides: tuple[str, str] | None  # descriptions of sides 0 and 1 of the comparison
    effects: dict[str, WordEffects]
    notes: tuple[Statement, ...] = ()


def _crossed(
    lists: ListVectors,
    blocks: Sequence[tuple[int, int, int]],
    sides: tuple[str, str],
    build: Callable[..., InnerProductDesign],
) -> StudyRows:
    """Return a design of all pairs of some lists, each block given as (first list, second list, side)."""
    rows = [
        (one, i, other, j, side)
        for one, other, side in blocks
        for i in range(len(lists.words[one]))
        for j in range(len(lists.words[other]))
    ]
    first, second = [lists.words[one][i] for one, i, *_ in rows], [lists.words[other][j] for *_, other, j, _ in rows]
    design = build(
        np.stack([lists.vectors[one][i] for one, i, *_ in rows]),
        np.stack([lists.vectors[other][j] for *_, other, j, _ in rows]),
        np.array([side for *_, side in rows]),
    )
    effects = {"target_word": WordEffects(first), "attribute_word": WordEffects(second)}
    return StudyRows(design, first, second, sides, effects)


def _binary(lists: ListVectors) -> StudyRows:
    x, y, a, b = lists.names
    return _crossed(lists, [(0, 2, 1), (1, 3, 0)], (f"{y} with {b}", f"{x} with {a}"), binary_design)


def _overlapping(lists: ListVectors) -> StudyRows:
    x, y, a, b = lists.names
    sides = (f"{x} with {b}, {y} with {a}", f"{x} with {a}, {y} with {b}")
    built = _crossed(lists, [(0, 2, 1), (1, 3, 1), (0, 3, 0), (1, 2, 0)], sides, overlapping_design)
    assert built.design.side is not None
    # Every word is on both sides, and words vary in the difference of the sides.
    contrast = built.design.side - 0.5
    by_side = {f"{name}_by_side": effect._replace(by=contrast) for name, effect in built.effects.items()}
    return built._replace(effects=built.effects | by_side)


def _centroid(lists: ListVectors) -> StudyRows:
    (x, y, a, b), words, vectors = lists
    design = centroid_design([vectors[3], vectors[2]], [vectors[1], vectors[0]])
    ends = [f"centroid of {b}"] * len(words[1]) + [f"centroid of {a}"] * len(words[0])
    collinear = (
        "The comparison and the lengths of the two centroids are collinear: "
        f"{design.constrained[1]} cannot separate one from the other."
    )
    notes = (_isotropy(lists), Statement("collinear terms", collinear))
    return StudyRows(design, [*words[1], *words[0]], ends, (f"{y} with {b}", f"{x} with {a}"), {}, notes)


def _bivariate(lists: ListVectors) -> StudyRows:
    _matched(lists, (0, 1), (2, 3))
    words, vectors = lists.words, lists.vectors
    i, j = (index.ravel() for index in np.indices((len(words[0]), len(words[2]))))
    design = bivariate_design(vectors[0][i], vectors[2][j], vectors[1][i], vectors[3][j])
    return StudyRows(
        design, [words[0][word] for word in i], [words[2][word] for word in j], None,
        {"target_words": WordEffects(i), "attribute_words": WordEffects(j)}, (_BY_POSITION,),
    )  # fmt: skip


def _bivariate_centroid(lists: ListVectors) -> StudyRows:
    _matched(lists, (0, 1))
    x, y, a, b = lists.vectors
    design = bivariate_design(np.broadcast_to(a.sum(axis=0), x.shape), x, np.broadcast_to(b.sum(axis=0), y.shape), y)
    ends = [f"centroid of {lists.names[2]}"] * len(x)
    return StudyRows(design, list(lists.words[0]), ends, None, {}, (_BY_POSITION, _isotropy(lists)))


def _overlapping_bivariate_centroid(lists: ListVectors) -> StudyRows:
    x, y, a, b = lists.vectors
    design = overlapping_bivariate_centroid_design(a.sum(axis=0), b.sum(axis=0), np.concatenate([x, y]))
    words = [*lists.words[0], *lists.words[1]]
    collinear = (
        "Both cosines share the word, whose length cancels from LNW/LNW_R: gamma_5 cannot be distinguished from "
        "gamma_1, nor gamma_7 from gamma_2, so that the slope cannot be interpreted on its own."
    )
    notes = (Statement("collinear terms", collinear), _isotropy(lists))
    return StudyRows(design, words, [f"centroid of {lists.names[2]}"] * len(words), None, {}, notes)


DESIGNS: dict[str, Callable[[ListVectors], StudyRows]] = {
    "binary": _binary,
    "overlapping": _overlapping,
    "centroid": _centroid,
    "bivariate": _bivariate,
    "bivariate_centroid": _bivariate_centroid,
    "overlapping_bivariate_centroid": _overlapping_bivariate_centroid,
}

_BY_POSITION = Statement(
    "matching", "Words of both lists are matched by position: another order of a list gives another result."
)


def _matched(lists: ListVectors, *which: tuple[int, int]) -> None:
    """Raise `MeasureError` unless lists that are matched by position have the same length."""
    for one, other in which:
        if len(lists.words[one]) != len(lists.words[other]):
            raise MeasureError(
                f"{lists.names[one]!r} has {len(lists.words[one])} words and {lists.names[other]!r} has "
                f"{len(lists.words[other])}, but the design matches them by position. Give lists of the same length."
            )


def _isotropy(lists: ListVectors) -> Statement:
    """Return the statement of the mean weight psi of the words in each centroid."""
    means = {lists.names[which]: float(centroid_weights(lists.vectors[which]).mean()) for which in (2, 3)}
    weights = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
    return Statement(
        "centroid weights",
        "Mean weight psi of the components (1 if a centroid's cosine equals the mean of its words' cosines; below 1 it "
        f"overstates that mean): {weights}.",
        means,
    )


def model_statement(built: StudyRows, drawn: "xr.Dataset", prior: LinearPrior, seed: int) -> Statement:
    """Return the statement of the design, the prior and the draws."""
    design = built.design
    ends = f"{built.sides[1]} (1) against {built.sides[0]} (0)" if built.sides else "no sides are compared"
    numbers = {
        "rows": len(design.pairs.inner),
        "coefficients": len(design.symbols),
        "lnw_unit": design.pairs.unit,
        "draws": drawn.sizes["chain"] * drawn.sizes["draw"],
        "random_seed": seed,
    }
    given = "flat" if np.isinf(prior.coefficient_sd) else (
        f"Normal(0, {prior.coefficient_sd:g} residual sds), residual sd guessed at {prior.sigma:g} with the weight of "
        f"{prior.rows:g} {'row' if prior.rows == 1 else 'rows'}"
    )  # fmt: skip
    return Statement(
        "model",
        f"{design.name.capitalize()} design, {counted(numbers['rows'], 'row')}, {numbers['coefficients']} "
        f"coefficients: {ends}. 1 unit of LNW is {digits_text(design.pairs.unit, 4)}, the geometric mean of the pairs. "
        f"Prior of coefficients: {given}. {count_text(numbers['draws'])} independent draws, seed {seed}.",
        numbers,
    )


def restrictions(
    parts: "xr.Dataset", coefficients: "pd.DataFrame", design: InnerProductDesign, hdi_prob: float
) -> Statement:
    """Return the statement of the terms that the constrained cosine regression omits."""
    slope = coefficients[coefficients["model"] == "constrained"].iloc[1]
    omitted = coefficients[
        (coefficients["model"] == "corrected_ratio") & ~coefficients["symbol"].isin(design.constrained)
    ]
    away = omitted[(omitted["hdi_low"] > 0) | (omitted["hdi_high"] < 0)]
    names = ", ".join(f"{symbol} ({term})" for symbol, term in zip(away["symbol"], away["term"], strict=True)) or "none"
    numbers: dict[str, Any] = {
        **{name: float(slope[name]) for name in ("mean", "hdi_low", "hdi_high")},
        **{name: float(parts[name].mean()) for name in ("comparison", "distortion", "absolute distortion")},
        "opposite_signs": float((parts["comparison"] * parts["sum"] < 0).mean()),
        "omitted": len(omitted),
        "omitted_away_from_0": list(away["symbol"]),
    }
    hpdi = f"{percent_text(hdi_prob)} HPDI"
    return Statement(
        "restrictions",
        f"In the cosine regression, {slope['symbol']} = {signed_text(slope['mean'])} ({hpdi} "
        f"{interval_text(slope['hdi_low'], slope['hdi_high'])}). Without its restrictions, the coefficient of the same "
        f"term is {signed_text(numbers['comparison'])}. The terms that it fixes to 0 account for "
        f"{signed_text(numbers['distortion'])} ({distance_text(numbers['absolute distortion'])} in absolute values). "
        f"The two coefficients have opposite signs with probability {probability_text(numbers['opposite_signs'])}. Of "
        f"the {len(omitted)} terms fixed to 0, the {hpdi} excludes 0 for {names}.",
        numbers,
    )


def dependence(built: StudyRows, word_effects: bool) -> Statement:
    """Return the statement of the rows that share words."""
    if not built.effects:
        text = "No target word is in several rows. One centroid serves many rows, and its error is ignored."
    elif word_effects:
        text = f"Rows that share a word are dependent: the models have word effects ({', '.join(built.effects)})."
    else:
        text = "Rows that share a word count as independent, so most intervals are too narrow (set word_effects=True)."
    return Statement("dependence", text)


def weak_data(coefficients: "pd.DataFrame") -> tuple[Statement, ...]:
    """Return the statement of the coefficients whose posterior is mostly the prior."""
    rows = coefficients[(coefficients["model"] == "corrected_ratio") & (coefficients["prior_share"] > _MOSTLY_PRIOR)]
    if rows.empty:
        return ()
    text = (
        f"The rows carry little information on {name_some(rows['symbol'])}: the posterior sd is more than half the "
        "prior's, since the terms are nearly collinear. Another prior would change them, but hardly their sum."
    )
    return (Statement("prior", text, dict(zip(rows["symbol"], rows["prior_share"], strict=True))),)


@dataclass(frozen=True, eq=False, repr=False)
class CosineRegression(Result):
    """A cosine regression, the inner product regression that contains it, and their difference.

    Parameters
    ----------
    design
        Name of the design, one of `DESIGNS`.
    coefficients
        A row for each coefficient of the three models: `model`, `symbol`, `term`, then mean, sd, HPDI, diagnostics of
        the draws, and `prior_share`: posterior sd over prior sd, near 1 if the rows carry no information.
        Units: cosine similarity (see `bayesbias.cosine_regressions.designs`).
    decomposition
        The slope alpha_1* of the cosine regression as a sum: `part` is ``"comparison"`` (the coefficient of the
        comparison), ``"omitted"`` (one row a term), ``"sum"``, ``"distortion"`` (sum minus comparison) or ``"absolute
        distortion"`` (sum of the absolute values of the omitted terms); `slope` is the factor of each coefficient.
    similarity
        For each side of the comparison (`side`) the mean cosine, and the means of local similarity and of the global
        discrepancy, which add up to it. None for designs without a comparison.
    pairs
        For each pair its words, cosine and, in designs with a comparison, its side and local similarity (mean and sd).
    draws
        Independent draws of all three models (`bayesbias.cosine_regressions.linear_model.regression_draws`).
    notes
        Statements of the results and their assumptions.
    study, embedding
        Names.
    lost_words
        List -> words that the embedding lacks.
    random_seed
        Seed that repeats the draws.
    """

    design: str
    coefficients: "pd.DataFrame"
    decomposition: "pd.DataFrame"
    similarity: "pd.DataFrame | None"
    pairs: "pd.DataFrame"
    draws: "xr.Dataset"
    notes: tuple[Statement, ...]
    study: str
    embedding: str
    lost_words: Mapping[str, tuple[str, ...]]
    random_seed: int

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return (StatementList("", self.notes, bulleted=False),)

    @cached_property
    def contents(self) -> Contents:
        """Coefficients of the three models, the decomposition of the slope, and similarities."""
        return contents_of(
            self,
            title=f"Cosine regression of {self.study} in {self.embedding}",
            captions={"coefficients": "Coefficients, in units of cosine similarity"},
            differences=("coefficients", "decomposition"),
        )


def cosine_regression(
    embedding: EmbeddingLike,
    study: StudyLike,
    design: str = "overlapping",
    *,
    targets: tuple[str, str] | None = None,
    attributes: tuple[str, str] | None = None,
    prior: str | LinearPrior = "weak",
    word_effects: bool = True,
    draws: int = 1000,
    chains: int = 4,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
    max_lost: float = MAX_LOST,
) -> CosineRegression:
    """Fit a cosine regression, and the inner product regression without its restrictions.

    With lists X, Y (targets) and A, B (attributes) of a study, the designs are:

    - ``"binary"``: the pairs of X and A against those of Y and B; no word is on both sides;
    - ``"overlapping"``: the pairs of X and A and of Y and B against those of X and B and of Y and A;
    - ``"centroid"``: the words of X with the centroid of A against those of Y with the centroid of B;
    - ``"bivariate"``: the cosines of X and A on those of Y and B, words matched by position;
    - ``"bivariate_centroid"``: those of X with the centroid of A on those of Y with the centroid of B, by position;
    - ``"overlapping_bivariate_centroid"``: those of X and Y with the centroid of A on those with the centroid of B.

    In the overlapping design the slope alpha_1* is half of WEAT's difference of means, for lists of equal length.

    Parameters
    ----------
    embedding
        An `Embedding`, or an input of `load_embedding`. Its vectors must have their original lengths.
    max_lost
        Largest share of a list's words that the embedding may lack, from 0 to 1.
    study
        A `Study`, the name of a bundled one, the path of a TOML file, or four lists by name: X, Y, A, B.
    design
        One of `DESIGNS`.
    targets
        The protected groups X and Y; may be left out where the study has exactly two.
    attributes
        The attribute groups (or control lists) A and B; by default the one associated with X and with Y.
    prior
        ``"weak"`` (each coefficient has a prior sd of 20 residual sds, about 1 in units of a cosine), ``"flat"``
        (least squares), or a `LinearPrior`.
    word_effects
        Whether each word in several rows has an effect (in the overlapping design, on both sides and on their
        difference). Without it rows count as independent, as in the supplement, and intervals are mostly too narrow.
    draws, chains
        Number of independent draws per chain, and of chains.
    hdi_prob
        Probability inside the highest posterior density intervals.
    random_seed
        Seed that repeats the result; drawn and recorded if None.

    Raises
    ------
    MeasureError
        If the groups are not determined, there are no more rows than coefficients, or terms are collinear.
    ArgumentError
        If the design or the prior is unknown, or another argument cannot be used.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks some words.

    Notes
    -----
    The regressions describe these lists in this embedding. A distortion measures how far the difference of mean cosines
    follows the lengths of the vectors; it does not show which of the two is the true association. Most omitted terms
    are near 1 at usual lengths and vanish for long vectors: the coefficient of the comparison is an extrapolation. It
    and the distortion are often large, uncertain and of opposite signs, although their sum is well determined. The
    absolute distortion cannot be negative, so that uncertainty alone makes its mean positive.

    In the bivariate designs word effects do not let words differ in the slope of cos_R.

    References
    ----------
    Alexander T. Kindel (2023). Geometrically consistent estimation of multidimensional word associations in text
    corpora. Supplement, "Frequency bias in cosine similarity regression". Its displays have no numbers; the
    functions of `bayesbias.cosine_regressions.designs` and `bayesbias.cosine_regressions.linear_model` name each.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> result = cosine_regression(vectors, "weat7", "binary", random_seed=1)
    >>> result.decomposition[["part", "term"]].head(4)
             part   term
    0  comparison      X
    1     omitted  1/LNW
    2     omitted  X/LNW
    3         sum
    """
    seed, chosen = resolve_seed(random_seed), find_prior(prior)
    check_choice("design", design, DESIGNS)
    check_probability("hdi_prob", hdi_prob)
    draws, chains = check_count("draws", draws), check_count("chains", chains)
    lists = four_lists(study, targets, attributes)
    looked_up = find_lists(embedding, lists.by_name, max_lost=max_lost)
    vectors = tuple(looked_up.vectors.values())
    built = DESIGNS[design](ListVectors(tuple(looked_up.words), tuple(looked_up.words.values()), vectors))
    effects = built.effects if word_effects else {}
    drawn = regression_draws(
        built.design, effects=list(effects.values()), prior=chosen, draws=draws, chains=chains, random_seed=seed
    )  # fmt: skip
    if effects:
        drawn = drawn.assign_coords(effect=list(effects))
    coefficients = _coefficients(drawn, built.design, chosen, hdi_prob)
    parts = _parts(drawn["corrected_ratio"], built.design)
    return CosineRegression(
        design=design,
        coefficients=coefficients,
        decomposition=_decomposition(parts, built.design, hdi_prob),
        similarity=_similarity(drawn["inner_product"], built, hdi_prob),
        pairs=_pairs(drawn["inner_product"], built),
        draws=drawn,
        notes=(
            model_statement(built, drawn, chosen, seed),
            restrictions(parts, coefficients, built.design, hdi_prob),
            dependence(built, word_effects),
            *weak_data(coefficients),
            *built.notes,
        ),
        study=lists.study,
        embedding=looked_up.source.name,
        lost_words=looked_up.lost,
        random_seed=seed,
    )


def _estimates(draws: "xr.DataArray", hdi_prob: float) -> "pd.DataFrame":
    """Return a summary of draws without R-hat: chains are only labels."""
    return estimates(draws, hdi_prob=hdi_prob).drop(columns="r_hat")


def _coefficients(
    drawn: "xr.Dataset", design: InnerProductDesign, prior: LinearPrior, hdi_prob: float
) -> "pd.DataFrame":
    import pandas as pd

    frames = []
    constrained_terms = [design.ratio_terms[position] for position in design.constrained_columns]
    for model, terms in zip(MODELS, (design.terms, design.ratio_terms, constrained_terms), strict=True):
        frame = _estimates(drawn[model], hdi_prob)
        frame = frame.rename(columns={frame.columns[0]: "symbol"})
        frame.insert(0, "model", [model] * len(frame))
        frame.insert(2, "term", list(terms))
        frame["prior_share"] = frame["sd"] / (prior.coefficient_sd * float(drawn[f"{model}_sigma"].mean()))
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _parts(coefficients: "xr.DataArray", design: InnerProductDesign) -> "xr.Dataset":
    """Return draws of the coefficient of the comparison and of each omitted term's share in alpha_1*."""
    import xarray as xr

    shares = coefficients * xr.DataArray(distortion_slopes(design), dims="coefficient")
    omitted: xr.DataArray = shares.sel(
        coefficient=[symbol for symbol in design.symbols if symbol not in design.constrained]
    )
    comparison = shares.sel(coefficient=design.constrained[1], drop=True)
    distortion = omitted.sum("coefficient")
    return xr.Dataset(
        {
            "comparison": comparison,
            "omitted": omitted,
            "sum": comparison + distortion,
            "distortion": distortion,
            "absolute distortion": abs(omitted).sum("coefficient"),
        }
    )


def _decomposition(parts: "xr.Dataset", design: InnerProductDesign, hdi_prob: float) -> "pd.DataFrame":
    import pandas as pd

    slopes = dict(zip(design.symbols, distortion_slopes(design), strict=True))
    terms = dict(zip(design.symbols, design.ratio_terms, strict=True))
    frames = []
    for part in parts:
        frame = _estimates(parts[part], hdi_prob)
        symbols = list(frame.pop("coefficient")) if "coefficient" in frame else [""]
        if part == "comparison":
            symbols = [design.constrained[1]]
        frame.insert(0, "part", [str(part)] * len(frame))
        frame.insert(1, "symbol", symbols)
        frame.insert(2, "term", [terms.get(symbol, "") for symbol in symbols])
        frame.insert(3, "slope", [slopes.get(symbol, np.nan) for symbol in symbols])
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _similarity(coefficients: "xr.DataArray", built: StudyRows, hdi_prob: float) -> "pd.DataFrame | None":
    """Return means of cosine, local similarity and global discrepancy by side."""
    import pandas as pd
    import xarray as xr

    design = built.design
    if built.sides is None or design.side is None:
        return None
    frames = []
    for number, side in enumerate(built.sides):
        rows = np.equal(design.side, number)
        cosine = float(design.pairs.cosine[rows].mean())
        shares = xr.DataArray(global_shares(design)[rows].mean(axis=0), dims="coefficient")
        discrepancy = (coefficients * shares).sum("coefficient")
        for kind, values in (("local similarity", cosine - discrepancy), ("global discrepancy", discrepancy)):
            frame = _estimates(values, hdi_prob)
            frame.insert(0, "side", side)
            frame.insert(1, "pairs", int(rows.sum()))
            frame.insert(2, "mean_cosine", cosine)
            frame.insert(3, "kind", kind)
            frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _pairs(coefficients: "xr.DataArray", built: StudyRows) -> "pd.DataFrame":
    """Return the words and the cosine of each pair, and mean and sd of its local similarity."""
    import pandas as pd

    design = built.design
    frame = pd.DataFrame({"first_word": built.first, "second_word": built.second, "cosine": design.pairs.cosine})
    frame["lnw"] = design.pairs.lnw
    if built.sides is not None:
        assert design.side is not None
        frame.insert(2, "side", [built.sides[number] for number in design.side])
        drawn = np.asarray(coefficients).reshape(-1, len(design.symbols))
        shares = global_shares(design)
        frame["local_similarity"] = frame["cosine"] - shares @ drawn.mean(axis=0)
        frame["local_similarity_sd"] = np.sqrt(np.einsum("ij,jk,ik->i", shares, np.cov(drawn.T), shares))
    return frame
