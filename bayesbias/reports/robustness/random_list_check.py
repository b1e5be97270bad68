"""How often a model and the single-number tests claim an association for attribute words drawn at random."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_count, check_items, check_probability, resolve_seed, with_progress
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.statements import (
    Rendered,
    Statement,
    StatementList,
    count_text,
    digits_text,
    interval_text,
    percent_text,
    rows_of,
    signed_text,
)
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import ReportError
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.numerics.contrast_estimate import Estimate
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.quick import quick_contrasts, sampler_for
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.reports.measures.null_simulation import rate
from bayesbias.reports.robustness.list_tests import CONTRAST, LEVEL, METHODS, list_tests, weat_lists
from bayesbias.reports.robustness.random_lists import random_lists
from bayesbias.studies.study import Study, StudyLike, load_study
from bayesbias.tables.build import distance_table

if TYPE_CHECKING:
    import pandas as pd

_TITLES = {
    "weat": "WEAT's permutation test",
    "t_test_preaveraged": "the t-test of one average a protected word",
    "t_test_raw": "the t-test of all pairs",
    "mac_t_test": "the t-test of MAC against 1",
}
_FEWEST = 10
_WINDOW = 1000
_DRAWS = {"exact": 4000, "collapsed": 4000, "conjugate": 2000}
_POINTS = 500
_TAILS = (0.055, 0.945)
# A share that is further from what is promised than this many standard errors is said to differ.
_CLEAR = 2.0


@dataclass(frozen=True, eq=False, repr=False)
class RandomListCheck(Rendered):
    """What would be claimed for attribute words drawn at random. `print` says it in words.

    Parameters
    ----------
    methods : pandas.DataFrame
        A row for the model and each test: `method`; `rule`, what counts as a claim; `nominal`, the share of claims
        that the rule promises where nothing is associated; `samples`, to which it could be applied; `claims`, the
        share of these with a claim, and its Monte Carlo standard error `claims_se`; `quantity`, the number that the
        claim is about (``"posterior mean"``, ``"effect size"``, ``"difference of means"``, ``"MAC - 1"``); its `sd`
        and its `low` to `high`, between which 89 % of it lie, over the samples; `own`, that of the study's own
        words; `own_claims`, whether they are claimed to be associated; `beyond`, the share of the samples whose
        number is at least as far from 0 as the study's, and `beyond_se`. Of the model also `posterior_sd` (root mean
        square, in units of cosine distance), `error` (root mean square of the posterior mean, whose truth is 0) and
        its `error_se`.
    gaps : pandas.DataFrame
        A row for each sample and method: `sample`, `method`, `value` (the number above), `claims`; of a test
        `p_value`; of the model `sd`, `hdi_low`, `hdi_high`.
    drawn : dict
        What was drawn: `words` (attribute words of a sample), `vocabulary` (words that they are drawn from), `match`
        and `window`.
    problems : tuple of Statement
        Of the kinds ``"claims"`` (a model that claims clearly more than it promises) and ``"not fitted"``.
    model, study, embedding
        Names.
    samples, not_fitted, hdi_prob, seed
        Samples drawn; those in which a diagnostic of the fast sampler failed, which are in no row of the model;
        probability inside the intervals; seed.
    """

    methods: "pd.DataFrame"
    gaps: "pd.DataFrame"
    drawn: dict[str, Any]
    problems: tuple[Statement, ...]
    model: str
    study: str
    embedding: str
    samples: int
    not_fitted: int
    hdi_prob: float
    seed: int

    @property
    def summary(self) -> tuple[Statement, ...]:
        """What was drawn; what the model and each test claim; how large such gaps are; the study's own among them."""
        model, *tests = rows_of(self.methods)
        said = [Statement("about", self._about(), self.drawn), Statement("claims", _claims_text(model), model)]
        said += [Statement("test", _claims_text(row), row) for row in tests]
        spread = (
            f"The model's gaps ({CONTRAST}) of random lists lie {digits_text(model['error'])} from their truth, 0 "
            f"(root mean square), where its posterior sd says {digits_text(model['posterior_sd'])}; 89% of them lie "
            f"from {interval_text(model['low'], model['high'])}."
        )
        share = _share_text(model["beyond"], model["beyond_se"])
        own = (
            f"The study's own gap is {signed_text(model['own'])}: {share} of the "
            "random lists have one that is at least as far from 0."
        )
        return (*said, Statement("gaps", spread, model), Statement("own gap", own, model))

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """What to beware of, and the summary."""
        about, *rest = self.summary
        beware = [StatementList("Beware", self.problems)] if self.problems else []
        return (
            *beware,
            StatementList("", (about,), bulleted=False),
            StatementList("Where nothing is associated", tuple(rest)),
        )

    def _about(self) -> str:
        near = {
            "rank": f", each among the {count_text(self.drawn['window'])} that are nearest to one of the study's in "
            "the order of the embedding (in most files that of frequency)",
            "norm": f", each among the {count_text(self.drawn['window'])} whose vectors' lengths are nearest to one's "
            "of the study",
        }.get(str(self.drawn["match"]), "")
        return (
            f"The {self.drawn['words']} attribute words of the study {self.study!r} were replaced {self.samples:,} "
            f"times by words drawn at random from {self.embedding} ({self.drawn['vocabulary']:,} words{near}), dealt "
            "to the lists at random, so that nothing is associated by construction. Protected words, groups and "
            "control words are the study's own."
        )


def check_random_lists(
    embedding: EmbeddingLike,
    study: StudyLike,
    *,
    model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    samples: int = 200,
    vocabulary: Sequence[str] | None = None,
    match: str | None = "rank",
    window: int = _WINDOW,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
    progress: bool = True,
    max_lost: float = MAX_LOST,
) -> RandomListCheck:
    """Say how often an association is claimed for attribute words that are drawn at random from an embedding.

    Protected words, their groups and the control words are the study's own. The words of its attribute lists are
    replaced by others of the vocabulary, dealt to the lists at random: nothing is associated by construction, and the
    vectors are real.

    Parameters
    ----------
    embedding
        The embedding, with its vocabulary: of a file all vectors are read, or those of the study and of `vocabulary`.
    study
        A `Study`, the name of a bundled one, the path of a TOML file, or a mapping of lists. It must have *different*
        pairs.
    model
        As for `fit`; a model that has a fast sampler.
    samples
        Random lists, at least 10.
    vocabulary
        Words to draw from; by default all of the embedding. Words with anything but letters, and those of the study in
        any case, are left out.
    match
        ``"rank"`` (words about as frequent as the study's, where the embedding is in the order of frequency, as
        word2vec, GloVe and fastText write it), ``"norm"`` (vectors of about the same length), or None (any words).
    window
        How many words, the nearest in rank or norm, each word is drawn from; a window larger than the vocabulary is all
        of it.
    hdi_prob
        Probability inside the model's interval: it promises claims in 1 - `hdi_prob` of the samples.
    random_seed
        The same seed gives the same check on the same machine; None draws one and records it.
    max_lost
        As for `distance_table`.
    progress
        Show a progress bar where there is somebody to see it.

    Returns
    -------
    RandomListCheck
        Frames of claims and of gaps; printed, it says what they mean.

    Raises
    ------
    ArgumentError
        If an argument is not usable.
    LostWordsError, StudyError, FitError
        If the study's own table cannot be made or fitted.
    ReportError
        If the study has no *different* pairs, the model no fast sampler, the vocabulary too few words, or the fast
        sampler failed for each sample.

    Notes
    -----
    All attribute words of a sample are drawn together and dealt to the lists, so that the expected gap is exactly 0
    for each protected word. The model claims where the interval of *associated - different* leaves out 0, on either
    side; WEAT where its one-sided p is below 0.05 (two protected groups with a list each; exact up to a million
    partitions); the t-tests where their two-sided p is: Welch's, of associated and different distances, and MAC's,
    whose question, whether the mean distance is 1, has no reason to be true of random words.

    The sd of such gaps is what attribute words alone do: where the model's posterior sd is smaller, its intervals are
    too narrow for these vectors. Control words differ from random words, so nothing is said of contrasts with them.

    References
    ----------
    Caliskan, Bryson and Narayanan (2017) for WEAT's test; Manzini et al. (2019) for MAC's. Ethayarajh, Duvenaud and
    Hirst (2019), Understanding undesirable word embedding associations, for random lists as a check of WEAT.

    Examples
    --------
    >>> from dataclasses import replace
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> study = replace(bb.load_study("weat7"), neutral="none")
    >>> check = bb.check_random_lists(vectors, study, model="hierarchical", samples=50, random_seed=1)
    >>> check.methods[["method", "samples", "claims", "quantity"]].round(1)
                   method  samples  claims             quantity
    0        hierarchical       50     0.3       posterior mean
    1                weat       50     0.3          effect size
    2  t_test_preaveraged       50     0.3  difference of means
    3          t_test_raw       50     0.3  difference of means
    4          mac_t_test       50     1.0              MAC - 1
    """
    import pandas as pd
    from threadpoolctl import threadpool_limits

    seed, samples = resolve_seed(random_seed), check_count("samples", samples, least=_FEWEST)
    check_probability("hdi_prob", hdi_prob)
    spec, loaded = load_model(model), load_study(study)
    _check_request(spec, loaded)
    if vocabulary is not None:
        vocabulary = check_items("vocabulary", vocabulary, "a list of words")
    source = _read(embedding, loaded, vocabulary)
    data = model_data(distance_table(source, loaded, max_lost=max_lost))
    lists = random_lists(source, loaded, data, vocabulary=vocabulary, match=match, window=window)
    weat = weat_lists(loaded, data)
    rng = np.random.default_rng([seed, 0])

    def estimate(data: ModelData, at: int) -> Estimate:
        draws, stream = _DRAWS[sampler_for(spec)], np.random.default_rng([seed, 1, at])
        return quick_contrasts(data, spec, draws=draws, points=_POINTS, rng=stream)[CONTRAST](hdi_prob)

    fitted: dict[int, Estimate] = {}
    distances = [lists.distances]
    with threadpool_limits(1, "blas"):
        fitted[0] = estimate(data, 0)
        tables = lists.tables(samples, rng)
        for at in with_progress(range(1, samples + 1), f"Random lists, {spec.name}", progress=progress):
            table, drawn = next(tables)
            distances.append(drawn)
            with suppress(SamplerFailedError):
                fitted[at] = estimate(table, at)
        every = [_model_rows(spec, fitted), *list_tests(np.stack(distances), lists, weat, seed)]
    if len(fitted) == 1:
        raise ReportError(
            f"The fast sampler of {spec.name!r} failed for each of the {samples:,} samples. Take another model."
        )
    nominal = {spec.name: 1 - hdi_prob} | dict.fromkeys(METHODS, LEVEL)
    rules = {spec.name: f"0 outside the {percent_text(hdi_prob)} HPDI", "weat": f"p < {LEVEL}, one-sided"}
    rows = [
        _method_row(rows, rules.get(name := str(rows["method"].iloc[0]), f"p < {LEVEL}, two-sided"), nominal[name])
        for rows in every
    ]
    gaps = pd.concat([rows[rows["sample"] > 0] for rows in every], ignore_index=True)
    gaps["sample"] -= 1
    lost = samples + 1 - len(fitted)
    return RandomListCheck(
        methods=pd.DataFrame(rows),
        gaps=gaps.drop(columns="quantity").reindex(columns=_GAP_COLUMNS),
        drawn={
            "words": len(lists.drawn),
            "vocabulary": lists.vocabulary,
            "match": match,
            "window": int(lists.candidates.shape[1]),
        },
        problems=_problems(rows[0], spec, samples, lost),
        model=spec.name,
        study=loaded.name,
        embedding=source.name,
        samples=samples,
        not_fitted=lost,
        hdi_prob=hdi_prob,
        seed=seed,
    )


_GAP_COLUMNS = ("sample", "method", "value", "claims", "p_value", "sd", "hdi_low", "hdi_high")


def _check_request(spec: ModelSpec, study: Study) -> None:
    if sampler_for(spec) == "nuts":
        raise ReportError(
            f"The model {spec.name!r} is sampled by NUTS, which would take hours for hundreds of samples. Take a model "
            "with a fast sampler, such as the default."
        )
    if not {"associated", "different"} <= set(study.connections):
        raise ReportError(
            f"The study {study.name!r} has no pairs that are 'different' beside 'associated' ones, so random lists "
            "show nothing: control words differ from random ones. Add a second attribute group."
        )


def _read(embedding: EmbeddingLike, study: Study, vocabulary: Sequence[str] | None) -> Embedding:
    if isinstance(embedding, Embedding):
        return embedding
    return load_embedding(embedding, words=None if vocabulary is None else [*study.words, *vocabulary])


def _model_rows(spec: ModelSpec, fitted: dict[int, Estimate]) -> "pd.DataFrame":
    """Return a row for each sample that was fitted; 0 is the study's own."""
    import pandas as pd

    return pd.DataFrame(
        {
            "sample": at,
            "method": spec.name,
            "quantity": "posterior mean",
            "value": one.mean,
            "claims": one.conclusion != "not settled",
            "sd": one.sd,
            "hdi_low": one.low,
            "hdi_high": one.high,
        }
        for at, one in fitted.items()
    )


def _method_row(rows: "pd.DataFrame", rule: str, nominal: float) -> dict[str, Any]:
    """Return what `RandomListCheck.methods` says of a method; sample 0 is the study's own."""
    own, random = rows.iloc[0], rows.iloc[1:]
    value = random["value"].to_numpy(dtype=float)
    claims, claims_se = rate(random["claims"].to_numpy(dtype=bool))
    beyond, beyond_se = rate(np.abs(value) >= abs(own["value"]))
    low, high = np.quantile(value, _TAILS)
    found = {
        "method": str(own["method"]),
        "rule": rule,
        "nominal": round(nominal, 4),
        "samples": len(value),
        "claims": claims,
        "claims_se": claims_se,
        "quantity": str(own["quantity"]),
        "sd": float(value.std(ddof=1)),
        "low": float(low),
        "high": float(high),
        "own": float(own["value"]),
        "own_claims": bool(own["claims"]),
        "beyond": beyond,
        "beyond_se": beyond_se,
    }
    if "sd" in rows:
        square = value**2
        error = float(np.sqrt(square.mean()))
        found |= {
            "posterior_sd": float(np.sqrt(np.square(random["sd"].to_numpy(dtype=float)).mean())),
            "error": error,
            "error_se": float(square.std(ddof=1) / np.sqrt(len(square)) / (2 * error)),
        }
    return found


def _problems(row: dict[str, Any], spec: ModelSpec, samples: int, lost: int) -> tuple[Statement, ...]:
    problems = []
    if row["claims"] - row["nominal"] > _CLEAR * row["claims_se"]:
        text = (
            f"For random attribute words the model {spec.name!r} claims an association in "
            f"{_share_text(row['claims'], row['claims_se'])} of the samples, where its intervals promise "
            f"{percent_text(row['nominal'])}: a claim about the study's own words says less than it seems to."
        )
        problems.append(Statement("claims", text, row))
    if lost:
        text = (
            f"In {lost:,} of the {samples:,} samples a diagnostic of the fast sampler of {spec.name!r} failed: they "
            "are left out of what is said of the model."
        )
        problems.append(Statement("not fitted", text, {"not_fitted": lost, "samples": samples}))
    return tuple(problems)


def _claims_text(row: dict[str, Any]) -> str:
    who = _TITLES.get(row["method"], f"the model {row['method']!r}")
    excess = row["claims"] - row["nominal"]
    how = (
        "which so many samples cannot tell from"
        if abs(excess) <= _CLEAR * row["claims_se"]
        else "more often than"
        if excess > 0
        else "less often than"
    )
    what = "that MAC is not 1" if row["method"] == "mac_t_test" else "an association"
    own = "claims" if row["own_claims"] else "does not claim"
    return (
        f"{who[0].upper()}{who[1:]} ({row['rule']}) claims {what} for "
        f"{_share_text(row['claims'], row['claims_se'])} of the random lists, {how} the "
        f"{percent_text(row['nominal'])} that its rule promises. For the study's own words it {own} it."
    )


def _share_text(share: float, error: float) -> str:
    return f"{100 * share:.0f}% ± {100 * error:.0f}%"
