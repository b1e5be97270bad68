"""Regressions of cosine similarities on sets of pairs, and the terms that they omit (Kindel's supplement)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_choice, check_count, check_probability, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.results import Contents, Result, contents_of
from bayesbias.base.statements import Statement, StatementList
from bayesbias.cosine_regressions.designs import Design
from bayesbias.cosine_regressions.linear_model import (
    LinearPrior,
    distortion_slopes,
    find_prior,
    global_shares,
    regression_draws,
)
from bayesbias.cosine_regressions.statements import dependence, model_statement, restrictions, weak_data
from bayesbias.cosine_regressions.study_rows import DESIGNS, ListVectors, StudyRows
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.estimates.intervals import estimates
from bayesbias.metrics.look_up import find_lists, four_lists
from bayesbias.studies.study import StudyLike

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

MODELS = ("inner_product", "corrected_ratio", "constrained")


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
        Units: cosine similarity (see `bayesbias.cosine_regressions.vector_pairs`).
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


def _coefficients(drawn: "xr.Dataset", design: Design, prior: LinearPrior, hdi_prob: float) -> "pd.DataFrame":
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


def _parts(coefficients: "xr.DataArray", design: Design) -> "xr.Dataset":
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


def _decomposition(parts: "xr.Dataset", design: Design, hdi_prob: float) -> "pd.DataFrame":
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
