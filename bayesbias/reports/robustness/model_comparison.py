"""Comparison of models by how well they predict pairs, and attribute words, that were left out."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_count, check_items, check_probability, resolve_seed
from bayesbias.base.number_text import counted, digits_text, percent_text, visible
from bayesbias.base.progress import with_progress
from bayesbias.base.results import SHOWS, Contents, Result, ResultTable
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import FitError, ModelError, ReportError, name_some
from bayesbias.estimates.intervals import independent_draws, mark
from bayesbias.models.data import ModelData, attribute_lists, compared_part, groups_not_compared, model_data
from bayesbias.models.densities import densities
from bayesbias.models.likelihood import log_mean, psis_loo
from bayesbias.models.multivariate.predictive_density import left_out_words
from bayesbias.models.numerics.proposals import KHAT_MAX
from bayesbias.models.sampling import check_room_for_draws, fit
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.models.units import in_unit
from bayesbias.reports.posterior.conclusions import nothing_to_compare
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.group_statements import without_contrast
from bayesbias.tables.measures import COSINE_DISTANCE, Measure, measure_of
from bayesbias.tables.schema import FrameLike, as_frame, table_facts

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

MODELS = ("hierarchical", "crossed_per_list", "multivariate")
PREFERRED = "preferred"
AS_GOOD = "as good as the preferred one"
WORSE = "worse at unseen words"
FEWEST_WORDS = 2
# A difference of elpd below this is small whatever its standard error says (Sivula, Magnusson and Vehtari 2022).
_SMALL = 4.0
_MOST_NAMED = 3

_SHOWN = (
    *("model", "reading", "elpd_words", "words_diff", "words_diff_se"),
    *("elpd_pairs", "pairs_diff", "pairs_diff_se"),
)

_Fit = partial["xr.DataTree"]
"""`fit` with given draws and chains."""


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(Result):
    """Comparison returned by `compare_models`; `print` says which model to trust, and why.

    Parameters
    ----------
    models : pandas.DataFrame
        One row for each `model`, the best first:

        - `elpd_words`, `elpd_words_se`: expected log predictive density of attribute words (higher is better), and its
          standard error;
        - `words_diff`, `words_diff_se`: difference to the best, and its standard error, paired over words;
        - `words_refitted`: number of words whose Pareto k-hat was above 0.7 (less with few draws), so that the model
          was fitted again without them; for the default model only if k-hat is also high with its means and
          covariances integrated out;
        - `words_unreliable`: number of those that could not be left out, as the only word of a connection;
        - `elpd_pairs`, `elpd_pairs_se`, `pairs_diff`, `pairs_diff_se`: the same for pairs, given the effects of their
          attribute words; `pairs_k_high`: number of pairs with a high k-hat, which are not refitted;
        - `p_loo`: effective number of parameters;
        - `reading`: the verdict in words. A model is as good as the preferred one if it is at most two standard errors,
          or at most 4, behind in `elpd_words`.
    contrasts : pandas.DataFrame
        The rows of `contrasts` of each model's fit to the whole table, with a column `model`, if there are any.
    elpd_words
        For each model, each attribute word's contribution to the sum.
    advice
        Statements on which model to trust, and why.
    random_seed, hdi_prob
        As in `compare_models`.
    total_draws
        Posterior draws of each model, all chains together.
    measure
        What the numbers of the table measure.
    """

    models: "pd.DataFrame"
    contrasts: "pd.DataFrame"
    elpd_words: dict[str, dict[str, float]]
    advice: tuple[Statement, ...]
    random_seed: int
    hdi_prob: float
    total_draws: int
    measure: Measure = COSINE_DISTANCE

    def __repr__(self) -> str:
        return visible(f"ModelComparison({', '.join(self.models['model'])})")

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        estimate = (Statement("estimate", self._estimate),) if self._estimate else ()
        return (StatementList("", (*self.advice[:1], *estimate, *self.advice[1:]), bulleted=False),)

    @property
    def _estimate(self) -> str:
        """How far the second best model is behind the best; empty if there is one model."""
        if len(self.models) < 2:
            return ""
        row = rows_of(self.models)[1]
        return (
            f"{row['model']} is behind by {digits_text(abs(row['words_diff']))} in expected log predictive density, "
            f"standard error {digits_text(row['words_diff_se'])}."
        )

    @cached_property
    def contents(self) -> Contents:
        """Which model to trust, how well each predicts, and the contrasts in each."""
        prob = f"{percent_text(self.hdi_prob)} HPDI"
        marked = partial(mark, below=self.measure.nearer, above=self.measure.farther)
        return Contents(
            title=f"Which model predicts these {self.measure.numbers} best?",
            about=f"{counted(len(self.models), 'model')} of the same table.",
            answer=self.advice[0].text if self.advice else "",
            estimate=self._estimate,
            answers=self.advice[1:],
            opened=("In each model", SHOWS),
            tables={
                "contrasts": ResultTable(
                    self.contrasts,
                    "In each model",
                    f"The same differences in each model, {prob}; below 0, {self.measure.nearer}",
                    ("contrast", "model", "mean", "sd", "hdi_low", "hdi_high", "observed"),
                    differences=True,
                    mark=marked if len(self.contrasts) else None,
                ),
                "models": ResultTable(
                    self.models,
                    "Predictions",
                    "Expected log predictive density (elpd) of attribute words left out, and of pairs left out; higher "
                    "is better",
                    _SHOWN,
                ),
            },
            settings={
                "Draws of each model": f"{self.total_draws:,}, all chains together",
                "Seed": str(self.random_seed),
                "Interval": prob,
            },
        )


def compare_models(
    table: FrameLike,
    models: Sequence[str | os.PathLike[str] | ModelSpec] = MODELS,
    *,
    hdi_prob: float = HDI_PROB,
    draws: int = 1000,
    chains: int = 4,
    random_seed: int | None = None,
    progress: bool = True,
) -> ModelComparison:
    """Return a comparison of models by how well they predict pairs and attribute words that were left out.

    Each model is fitted with the sampler ``"auto"``. In turn, every pair, and every attribute word with all its pairs,
    is left out and predicted from the rest. Models are judged by attribute words: the pairs of one attribute word are
    alike, so a pair is easily predicted from the others; and the question is about a kind of attribute words, not about
    these words alone.

    Parameters
    ----------
    table
        A table (`distance_table`, `surprisal_table`, `score_table`, `read_table`).
    models
        Names of `list_models`, paths of TOML files, or `ModelSpec`.
    hdi_prob
        Probability inside the intervals of contrasts.
    draws, chains
        Draws and chains of each fit, as in `fit`.
    random_seed
        Seed of the fits. None: a seed is drawn and recorded. The numbers of a model do not depend on the others.
    progress
        Whether to show a progress bar.

    Returns
    -------
    ModelComparison
        Frames `models` and `contrasts`; `print` says which model to trust.

    Raises
    ------
    TableError, ModelError, FitError, ReportError, ArgumentError
        If the table or a model is not usable, the table has only one attribute word, or a model is listed twice;
        before any sampling starts.

    Warns
    -----
    ConvergenceWarning
        As for `fit`, for each model's fit to the whole table.

    Notes
    -----
    Models that need NUTS are fitted again for each word with a high k-hat, which takes long.

    References
    ----------
    Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation using leave-one-out cross-validation and
    WAIC; Merkle, Furr and Rabe-Hesketh (2019), Bayesian comparison of latent variable models, for leaving out whole
    clusters with their effects integrated out; Sivula, Magnusson and Vehtari (2022) for the reading of differences.

    Examples
    --------
    >>> compared = compare_models(table, models=("hierarchical", "crossed"), draws=250, random_seed=1)
    >>> compared.models[["model", "reading"]]
              model                          reading
    0       crossed                        preferred
    1  hierarchical  worse at unseen words
    """
    rows = as_frame(table)
    import pandas as pd

    seed = resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    data, measure = model_data(rows), measure_of(table_facts(rows))
    specs = [in_unit(spec, data.scale) for spec in _specs(models)]
    not_compared = groups_not_compared(data)
    if not_compared and not all(spec.multivariate for spec in specs):
        # The same rows for all models: those of rows are fitted without groups that are in no contrast.
        rows, data = rows[data.compared[data.protected]], compared_part(data)
    if len(data.attribute_words) < FEWEST_WORDS:
        raise ReportError(
            f"The table has {len(data.attribute_words)} attribute word, and models are compared by leaving out one at "
            f"a time. Give a table with at least {FEWEST_WORDS}."
        )
    if any(spec.switches["attribute_effects"] == "per_list" for spec in specs):
        attribute_lists(data)  # raises an error if a word is in several lists, before the first model is fitted
    total_draws = check_count("draws", draws) * check_count("chains", chains)
    for spec in specs:
        check_room_for_draws(data, spec, total_draws)
    fit_short = partial(fit, draws=draws, chains=chains)
    scores = [_score(rows, data, spec, fit_short, seed, hdi_prob, progress=progress) for spec in specs]
    best_words = max(scores, key=lambda score: score.words.sum())
    best_pairs = max(scores, key=lambda score: score.pairs.sum())
    frame = pd.DataFrame(
        {
            "model": score.model,
            "elpd_words": score.words.sum(),
            "elpd_words_se": _se(score.words),
            "words_diff": (score.words - best_words.words).sum(),
            "words_diff_se": _se(score.words - best_words.words),
            "words_refitted": score.refitted,
            "words_unreliable": score.unreliable,
            "elpd_pairs": score.pairs.sum(),
            "elpd_pairs_se": _se(score.pairs),
            "pairs_diff": (score.pairs - best_pairs.pairs).sum(),
            "pairs_diff_se": _se(score.pairs - best_pairs.pairs),
            "p_loo": score.p_loo,
            "pairs_k_high": score.k_high,
        }
        for score in sorted(scores, key=lambda score: -score.words.sum())
    )
    small = np.fmax(_SMALL, 2 * frame["words_diff_se"])
    frame["reading"] = np.where(-frame["words_diff"] <= small, AS_GOOD, WORSE)
    frame.loc[0, "reading"] = PREFERRED
    by_word = {
        score.model: dict(zip(data.attribute_words.tolist(), score.words.tolist(), strict=True)) for score in scores
    }
    return ModelComparison(
        models=frame,
        contrasts=pd.DataFrame([{"model": score.model, **row} for score in scores for row in score.contrasts]),
        elpd_words=by_word,
        advice=(*_advice(frame, len(data.attribute_words)), *without_contrast(not_compared)),
        random_seed=seed,
        hdi_prob=hdi_prob,
        total_draws=total_draws,
        measure=measure,
    )


@dataclass(frozen=True, eq=False)
class _Score:
    """Log predictive densities of the attribute words and of the rows, their diagnostics, and the contrasts."""

    model: str
    words: np.ndarray
    pairs: np.ndarray
    p_loo: float
    k_high: int
    refitted: int
    unreliable: int
    contrasts: list[dict[str, Any]]


def _specs(models: Sequence[str | os.PathLike[str] | ModelSpec]) -> list[ModelSpec]:
    is_single = isinstance(models, str | os.PathLike | ModelSpec)
    model_list: list[Any] = [models] if is_single else check_items("models", models, "a list of models")
    if not model_list:
        raise ModelError("models is empty. Name at least one model.")
    specs = [load_model(model) for model in model_list]
    names = [spec.name for spec in specs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ModelError(f"The model {twice[0]!r} is listed twice. Name each once, or rename your own.")
    return specs


def _score(
    table: "pd.DataFrame",
    data: ModelData,
    spec: ModelSpec,
    fit_short: _Fit,
    seed: int,
    hdi_prob: float,
    *,
    progress: bool,
) -> _Score:
    fitted = fit_short(table, spec, random_seed=seed, progress=progress)
    seeds = np.random.default_rng(seed).integers(2**32, size=len(data.attribute_words))
    efficiency = _relative_efficiency(fitted)
    likelihood = densities(fitted, data)
    k_limit = min(KHAT_MAX, 1 - 1 / np.log10(likelihood.draws))

    pairs, pairs_khat = np.empty((2, len(data.distance)))
    words, khat = np.empty((2, len(data.attribute_words)))
    in_sample = 0.0
    for block in likelihood.blocks():
        rows, of_rows, of_words = likelihood.of_block(block)
        pairs[rows], pairs_khat[rows] = psis_loo(of_rows, relative_efficiency=efficiency)
        words[block], khat[block] = psis_loo(of_words, relative_efficiency=efficiency)
        in_sample += log_mean(of_rows).sum()

    high = np.flatnonzero(~(khat <= k_limit)).tolist()
    if (left_out := left_out_words(fitted, data)) is not None:
        for word in high:
            log_density, khat[word] = left_out.log_density(word)
            if khat[word] <= k_limit:
                words[word] = log_density - np.sum(data.attribute == word) * np.log(data.scale.unit)
        high = [word for word in high if not khat[word] <= k_limit]
    unreliable = 0
    for word in with_progress(high, f"Refits of {spec.name} without a word", progress=progress):
        exact = _without(table, data, word, spec, fit_short, int(seeds[word]))
        if np.isfinite(exact):
            words[word] = exact
        else:
            unreliable += 1
    return _Score(
        model=spec.name,
        words=words,
        pairs=pairs,
        p_loo=float(in_sample - pairs.sum()),
        k_high=int((~(pairs_khat <= k_limit)).sum()),
        refitted=len(high) - unreliable,
        unreliable=unreliable,
        contrasts=[] if nothing_to_compare(data.connections) else rows_of(contrasts(fitted, hdi_prob=hdi_prob)),
    )


def _without(table: "pd.DataFrame", data: ModelData, word: int, spec: ModelSpec, fit_short: _Fit, seed: int) -> float:
    """Return log p(rows of a word | all other rows) from a fit without them, or NaN if there is no such fit."""
    other_rows = table[np.asarray(table["attribute_word"], dtype=str) != data.attribute_words[word]]
    try:
        refitted = fit_short(other_rows, spec, random_seed=seed, progress=False)
    except FitError:  # nothing is left, or nothing that shows the scale
        return float("nan")
    likelihood = densities(refitted, data, effects=False)
    return float(log_mean(likelihood.of_words([word]))[0])


def _relative_efficiency(fitted: "xr.DataTree") -> float:
    """Return the mean effective sample size over the number of draws, 1 for independent draws."""
    if independent_draws(fitted) is not None:
        return 1.0
    import arviz_stats

    posterior = fitted["posterior"].to_dataset()[["connection_mean", "word_mean"]]
    sizes = arviz_stats.ess(posterior, method="mean")
    ess = np.concatenate([np.ravel(sizes[name]) for name in sizes.data_vars])
    return float(ess.mean() / (posterior.sizes["chain"] * posterior.sizes["draw"]))


def _se(pointwise: np.ndarray) -> float:
    return float(np.sqrt(len(pointwise)) * np.std(pointwise, ddof=1)) if len(pointwise) > 1 else float("nan")


def _advice(frame: "pd.DataFrame", words: int) -> tuple[Statement, ...]:
    preferred, as_good, worse = (
        frame.loc[frame["reading"] == reading, "model"].tolist() for reading in (PREFERRED, AS_GOOD, WORSE)
    )
    models = {"preferred": preferred[0], "as_good": as_good, "worse": worse}
    if len(frame) == 1:
        text = f"Only the model {preferred[0]} was fitted, so nothing shows whether another one is better. Name more."
        return (Statement("advice", text, models),)
    advice = f"Trust {preferred[0]}: it best predicts attribute words that were left out"
    if worse:
        advice += f", clearly better than {name_some(worse, _MOST_NAMED)}"
    if as_good:
        advice += f". They do not distinguish it from {name_some(as_good, _MOST_NAMED)}"
    advice += "."
    criterion = (
        f"Models are judged by leaving out each of the {words} attribute words with all its pairs. The question is "
        "about a kind of words, not about these words, and the pairs of one attribute word are not independent: from "
        "its other pairs, a model would learn a word's effect."
    )
    if worse:
        criterion += f" Do not use the intervals of {name_some(worse)}, which predict worse: they can be wrong."
    statements = [Statement("advice", advice, models), Statement("criterion", criterion, {"words": words})]
    if unreliable := int(frame["words_unreliable"].max()):
        text = (
            f"Attribute words that could not be left out exactly, as no other is in their list or has their "
            f"connection: {unreliable}. Add words to these lists."
        )
        statements.append(Statement("unreliable words", text, {"words": unreliable}))
    return tuple(statements)
