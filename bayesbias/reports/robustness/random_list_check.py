"""Share of claims that a model and the single-number tests make for attribute words drawn at random."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import (
    HDI_PROB,
    Limit,
    check_count,
    check_items,
    check_probability,
    resolve_seed,
)
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import digits_text, interval_text, percent_text, signed_text
from bayesbias.base.progress import stopped_statement, with_progress
from bayesbias.base.results import DOUBTS, Contents, Result, ResultFigure, contents_of
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import ReportError
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.numerics.contrast_estimate import ContrastEstimate
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.quick import quick_contrasts
from bayesbias.models.samplers.registry import SAMPLERS, sampler_for
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.reports.measures.null_simulation import excess_figure, rate
from bayesbias.reports.robustness.random_lists import (
    COHERENCE,
    CONTRAST,
    LEVEL,
    METHODS,
    list_tests,
    random_lists,
    weat_lists,
)
from bayesbias.studies.study import Study, StudyLike, load_study
from bayesbias.tables.build import distance_table

if TYPE_CHECKING:
    import pandas as pd


_TITLES = {
    "weat": "WEAT's permutation test",
    "t_test_preaveraged": "the t-test of word averages",
    "t_test_raw": "the t-test of all pairs",
    "mac_t_test": "the t-test of MAC against 1",
}
_TAILS = (0.055, 0.945)
# A share differs from the nominal one if samples with that share would be so far from it in fewer cases.
_CLEAR = 0.05
_CONTRAST_COLUMNS = ("sample", "method", "value", "claims", "p_value", "sd", "hdi_low", "hdi_high")
_FEWEST = 10
_WINDOW = 1000
_POINTS = 500


def method_row(rows: "pd.DataFrame", rule: str, nominal: float) -> dict[str, Any]:
    """Return the row of a method in `RandomListCheck.methods`; sample 0 is the study's own."""
    study_row, random = rows.iloc[0], rows.iloc[1:]
    value = random["value"].to_numpy(dtype=float)
    claims, claims_se = rate(random["claims"].to_numpy(dtype=bool))
    as_extreme, as_extreme_se = rate(np.abs(value) >= abs(study_row["value"]))
    low, high = np.quantile(value, _TAILS)
    row = {
        "method": str(study_row["method"]),
        "rule": rule,
        "nominal": round(nominal, 4),
        "samples": len(value),
        "claims": claims,
        "claims_se": claims_se,
        "quantity": str(study_row["quantity"]),
        "sd": float(value.std(ddof=1)),
        "low": float(low),
        "high": float(high),
        "study_value": float(study_row["value"]),
        "study_claims": bool(study_row["claims"]),
        "share_as_extreme": as_extreme,
        "share_as_extreme_se": as_extreme_se,
    }
    if "sd" in rows:
        square = value**2
        error = float(np.sqrt(square.mean()))
        row |= {
            "posterior_sd": float(np.sqrt(np.square(random["sd"].to_numpy(dtype=float)).mean())),
            "error": error,
            "error_se": float(square.std(ddof=1) / np.sqrt(len(square)) / (2 * error)),
        }
    return row


def claim_problems(row: dict[str, Any], spec: ModelSpec, samples: int, not_fitted: int) -> tuple[Statement, ...]:
    """Return statements on a model that claims more than it promises, and on samples that it was not fitted to."""
    problems = []
    if row["claims"] > row["nominal"] and _differs(row):
        text = (
            f"The model {spec.name!r} claims an association for {share_with_error(row['claims'], row['claims_se'])} of "
            f"the random lists, where its intervals promise {percent_text(row['nominal'])}: a claim about the study's "
            "own words is weaker evidence than it seems. Compare the study's contrast with those of the random lists."
        )
        problems.append(Statement("claims", text, row))
    if not_fitted:
        text = (
            f"In {not_fitted:,} of the {samples:,} samples a diagnostic of the fast sampler of {spec.name!r} failed: "
            "the numbers of the model leave these samples out. If they are many, use another model."
        )
        problems.append(Statement("not fitted", text, {"not_fitted": not_fitted, "samples": samples}))
    return tuple(problems)


def claims_text(row: dict[str, Any]) -> str:
    """Return a sentence on how often a method claims an association of random lists, and what it promises."""
    method = _TITLES.get(row["method"], f"the model {row['method']!r}")
    excess = row["claims"] - row["nominal"]
    comparison = (
        "a share that so many samples cannot distinguish from"
        if not _differs(row)
        else "more often than"
        if excess > 0
        else "less often than"
    )
    claim = "that MAC is not 1" if row["method"] == "mac_t_test" else "an association"
    study_verb = "claims" if row["study_claims"] else "does not claim"
    return (
        f"{method[0].upper()}{method[1:]} ({row['rule']}) claims {claim} for "
        f"{share_with_error(row['claims'], row['claims_se'])} of the random lists, {comparison} the "
        f"{percent_text(row['nominal'])} that its rule allows. It {study_verb} it for the study's own words."
    )


def _differs(row: Mapping[str, Any]) -> bool:
    """Return whether the share of claims differs from the nominal one (exact binomial test)."""
    from scipy.stats import binomtest

    count = round(row["claims"] * row["samples"])
    return bool(binomtest(count, row["samples"], row["nominal"]).pvalue < _CLEAR)


def share_with_error(share: float, error: float) -> str:
    """Return a share and its Monte Carlo error in percent."""
    return f"{100 * share:.0f}% ± {100 * error:.0f}%"


_SAMPLES = Limit(100_000, 0.1, 1e5)  # lists, each of which is fitted


@dataclass(frozen=True, eq=False, repr=False)
class RandomListCheck(Result):
    """Claims for attribute words drawn at random; `print` explains them.

    Parameters
    ----------
    methods : pandas.DataFrame
        A row for the model and each test, its `method`:

        - `rule`, the condition of a claim, and `nominal`, the share of claims that it promises without an association;
        - `samples`, to which it could be applied, and `claims`, the share of these with a claim, with `claims_se`;
        - `quantity`, the number behind the claim (``"posterior mean"``, ``"effect size"``, ``"difference of means"``,
          ``"MAC - 1"``); its `sd`, and `low` to `high`, which hold 89 % of it, over the samples;
        - `study_value`, `study_claims`: the number of the study's own words, and whether they are claimed;
        - `share_as_extreme`: share of the samples at least as far from 0 as the study, with `share_as_extreme_se`;
        - of the model `posterior_sd` (root mean square, in units of cosine distance) and `error` (root mean square of
          the posterior mean, whose truth is 0) with `error_se`.
    contrasts : pandas.DataFrame
        One row for each sample and method: `sample`, `method`, `value` (the number above), `claims`; of a test
        `p_value`; of the model `sd`, `hdi_low`, `hdi_high`.
    drawn : dict
        Number of attribute `words` in a sample, size of the `vocabulary` that they are drawn from, `match` and
        `window`.
    problems : tuple of Statement
        Statements of the kinds ``"claims"`` (the model claims clearly more than it promises) and ``"not fitted"``.
    model, study, embedding
        Names.
    samples, not_fitted, hdi_prob, random_seed
        Number of samples; number of samples without a row of the model, as a diagnostic of the fast sampler failed;
        probability inside the intervals; seed.
    """

    methods: "pd.DataFrame"
    contrasts: "pd.DataFrame"
    drawn: dict[str, Any]
    problems: tuple[Statement, ...]
    model: str
    study: str
    embedding: str
    samples: int
    not_fitted: int
    hdi_prob: float
    random_seed: int

    @property
    def summary(self) -> tuple[Statement, ...]:
        """Statements on the samples, on the claims of the model and each test, on contrasts and the study's own one."""
        model, *tests = rows_of(self.methods)
        statements = [Statement("about", self._about(), self.drawn), Statement("claims", claims_text(model), model)]
        statements += [Statement("test", claims_text(row), row) for row in tests]
        spread = (
            f"The model's contrasts ({CONTRAST}, over words like these) of random lists have an error of "
            f"{digits_text(model['error'])} (root mean square; the true contrast is 0). The model gives such a "
            f"contrast a posterior sd of {digits_text(model['posterior_sd'])} (root mean square over the lists). 89% "
            f"of the contrasts lie from {interval_text(model['low'], model['high'])}."
        )
        share = share_with_error(model["share_as_extreme"], model["share_as_extreme_se"])
        study_contrast = (
            f"The contrast of the study's own words is {signed_text(model['study_value'])}: {share} of the random "
            "lists have a contrast at least as far from 0."
        )
        return (*statements, Statement("contrasts", spread, model), Statement("study contrast", study_contrast, model))

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        about, *findings = self.summary
        return (
            StatementList("", (self._answer,), bulleted=False),
            StatementList(DOUBTS, self.problems),
            StatementList("", (about,), bulleted=False),
            StatementList("Where nothing is associated", tuple(findings)),
        )

    @property
    def _answer(self) -> Statement:
        """How often the model and WEAT claim an association of random lists."""
        model, *tests = rows_of(self.methods)
        text = (
            f"The model claims an association for {model['claims']:.0%} of the random lists, where its rule allows "
            f"{model['nominal']:.0%}"
        )
        if tests:
            text += f"; WEAT claims one for {tests[0]['claims']:.0%}, where {tests[0]['nominal']:.0%} are promised"
        text += "."
        return Statement("answer", text, model)

    def _about(self) -> str:
        order = {"rank": "in the order of the embedding, in most files that of frequency", "norm": "in vector length"}
        candidates = ""
        drawn = "drawn at random from"
        dealt = " and dealt to the lists at random, so nothing is associated by construction"
        if self.drawn["match"] in order:
            candidates = (
                f" Each was drawn from the {self.drawn['window']:,} words that are nearest to a word of the study "
                f"{order[self.drawn['match']]}."
            )
        if self.drawn["match"] == COHERENCE:
            drawn = "about random topics of"
            dealt = (
                ": each list is a random word with some of its neighbours, which are together as alike as the words of "
                "the study's list. No topic is associated with a group on average, but two topics do differ"
            )
        return (
            f"The {self.drawn['words']} attribute words of the study {self.study!r} were replaced {self.samples:,} "
            f"times by words {drawn} {self.embedding} ({self.drawn['vocabulary']:,} words){dealt}.{candidates} "
            "Protected words, groups and control words are the study's own."
        )

    @cached_property
    def contents(self) -> Contents:
        """How often each method claims an association of random lists."""
        return contents_of(
            self,
            title="How often is an association claimed for random words?",
            about=f"{self.study} in {self.embedding}, model {self.model}.",
            opened=("Methods", "Where nothing is associated"),
            captions={
                "methods": f"Claims of an association in {self.samples:,} sets of random attribute words; 89% of the "
                "values over these"
            },
            differences=("methods",),
            data=("contrasts",),
            figures={"claims": self._claims_figure()},
        )

    def _claims_figure(self) -> ResultFigure:
        """Return a forest of the claims of the model and each test above or below what its rule allows."""
        rows = self.methods[["method", "claims", "nominal", "claims_se"]].assign(
            label=[
                f"{_TITLES.get(name, name).removeprefix('the ')}, {percent_text(nominal)}"
                for name, nominal in self.methods[["method", "nominal"]].itertuples(index=False, name=None)
            ]
        )
        rows = rows.rename(columns={"claims": "share", "nominal": "promised", "claims_se": "error"})
        return excess_figure(rows, "random lists", "method and promised share")


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
    """Return how often an association is claimed for attribute words drawn at random from an embedding.

    Protected words, their groups and the control words are the study's own. The words of its attribute lists are
    replaced by others of the vocabulary, dealt to the lists at random: the vectors are real, and nothing is associated
    by construction.

    Parameters
    ----------
    embedding
        The embedding. Of a file, all vectors are read, or with `vocabulary` only its vectors and those of the study.
    study
        A `Study`, the name of a bundled one, the path of a TOML file, or a mapping of lists. It must have *different*
        pairs.
    model
        As for `fit`; a model that has a fast sampler.
    samples
        Number of random lists, at least 10.
    vocabulary
        Words to draw from; by default all of the embedding. Words with other characters than letters are left out, as
        are those of the study, in upper or lower case.
    match
        ``"rank"`` (words about as frequent as the study's, where the embedding is in the order of frequency, as
        word2vec, GloVe and fastText write it), ``"norm"`` (vectors of about the same length), ``"coherence"`` (each
        list about a random topic, with a mean cosine between its words like that of the study's list, of words about as
        frequent as the study's), or None (any words).
    window
        Number of candidates for each word, the nearest in rank or norm; at most the whole vocabulary is used.
    hdi_prob
        Probability inside the model's interval, which promises claims in 1 - `hdi_prob` of the samples.
    random_seed
        Seed of the simulation. None: a seed is drawn and recorded in the result.
    max_lost
        As for `distance_table`.
    progress
        Whether to show a progress bar.

    Returns
    -------
    RandomListCheck
        Frames of claims and of contrasts; `print` explains them. If an interrupt, such as Ctrl-C, ends the samples,
        those that were done are returned if they are at least 10, with a warning.

    Raises
    ------
    ArgumentError
        If an argument is not usable.
    LostWordsError, StudyError, FitError
        If the study's own table cannot be made or fitted.
    ReportError
        If the study has no *different* pairs, the model no fast sampler, the vocabulary too few words, or the fast
        sampler failed for the study's own table or for each sample.

    Notes
    -----
    All attribute words of a sample are drawn together and dealt to the lists, so the expected contrast is exactly 0
    for each protected word. The model claims an association if the interval of *associated - different* excludes 0,
    on either side; WEAT if its one-sided p is below 0.05 (two protected groups with a list each; exact up to a million
    partitions); the t-tests if their two-sided p is: Welch's, of associated and different distances, and MAC's, whose
    null hypothesis, a mean distance of 1, need not hold for random words.

    With ``match="coherence"``, a list is a random word and others drawn from its nearest neighbours, as many as have
    the mean cosine of the study's own list. A contrast that is rare among lists of random words may be common among
    such topics: `share_as_extreme` is then the share of pairs of topics with a contrast as far from 0. Which topic is
    nearer to which group is random, so contrasts are 0 on average, but those of two given topics are not: a method that
    claims more often than its rule promises may be right about the words of these topics.

    The sd of these contrasts is due to attribute words alone: if the model's posterior sd is smaller, its intervals are
    too narrow for these vectors. Contrasts with control words are not checked, as these differ from random words.

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

    from bayesbias.base.machine import threadpool_limits

    seed, samples = resolve_seed(random_seed), check_count("samples", samples, least=_FEWEST, limit=_SAMPLES)
    check_probability("hdi_prob", hdi_prob)
    spec, loaded = load_model(model), load_study(study)
    _check_request(spec, loaded)
    if vocabulary is not None:
        vocabulary = check_items("vocabulary", vocabulary, "a list of words")
    source = embedding
    if not isinstance(source, Embedding):
        source = load_embedding(source, words=None if vocabulary is None else [*loaded.words, *vocabulary])
    data = model_data(distance_table(source, loaded, max_lost=max_lost))
    lists = random_lists(source, loaded, data, vocabulary=vocabulary, match=match, window=window)

    def estimate(data: ModelData, number: int) -> ContrastEstimate:
        draws, rng = SAMPLERS[sampler_for(spec)].quick_draws, np.random.default_rng([seed, 1, number])
        return quick_contrasts(data, spec, draws=draws, points=_POINTS, rng=rng)[CONTRAST](hdi_prob)

    distances = [lists.distances]
    with threadpool_limits(1, "blas"):
        try:
            fitted = {0: estimate(data, 0)}
        except SamplerFailedError as error:
            raise ReportError(
                f"{spec.name!r} has no fast fit of the table of {loaded.name!r} in {source.name!r}: {error}. Fit this "
                "table with bb.fit, which may use another sampler, or give another model here."
            ) from error
        tables = lists.tables(samples, np.random.default_rng([seed, 0]))
        stopped: tuple[Statement, ...] = ()
        try:
            for number in with_progress(range(1, samples + 1), f"Random lists, {spec.name}", progress=progress):
                table, sample_distances = next(tables)
                with suppress(SamplerFailedError):
                    fitted[number] = estimate(table, number)
                distances.append(sample_distances)
        except KeyboardInterrupt:
            done = len(distances) - 1
            fitted = {number: fitted[number] for number in fitted if number <= done}
            stopped = (stopped_statement(done if done >= _FEWEST else 0, samples, "random lists"),)
            samples = done
        method_frames = [
            _model_rows(spec, fitted),
            *list_tests(np.stack(distances), lists, weat_lists(loaded, data), seed),
        ]
    if len(fitted) == 1:
        raise ReportError(f"The fast sampler of {spec.name!r} failed for all {samples:,} samples. Use another model.")
    nominal = {spec.name: 1 - hdi_prob} | dict.fromkeys(METHODS, LEVEL)
    rules = {spec.name: f"0 outside the {percent_text(hdi_prob)} HPDI", "weat": f"p < {LEVEL}, one-sided"}
    rows = []
    for frame in method_frames:
        name = str(frame["method"].iloc[0])
        rows.append(method_row(frame, rules.get(name, f"p < {LEVEL}, two-sided"), nominal[name]))
    contrasts = pd.concat([frame[frame["sample"] > 0] for frame in method_frames], ignore_index=True)
    contrasts["sample"] -= 1
    not_fitted = samples + 1 - len(fitted)
    return RandomListCheck(
        methods=pd.DataFrame(rows),
        contrasts=contrasts.drop(columns="quantity").reindex(columns=_CONTRAST_COLUMNS),
        drawn={
            "words": len(lists.drawn),
            "vocabulary": lists.vocabulary,
            "match": match,
            "window": int(lists.candidates.shape[1]),
        },
        problems=(*stopped, *claim_problems(rows[0], spec, samples, not_fitted)),
        model=spec.name,
        study=loaded.name,
        embedding=source.name,
        samples=samples,
        not_fitted=not_fitted,
        hdi_prob=hdi_prob,
        random_seed=seed,
    )


def _check_request(spec: ModelSpec, study: Study) -> None:
    if sampler_for(spec) == "nuts":
        raise ReportError(
            f"The model {spec.name!r} is sampled by NUTS, which would take hours for hundreds of samples. Use a model "
            "with a fast sampler, such as the default."
        )
    if not {"associated", "different"} <= set(study.connections):
        raise ReportError(
            f"The study {study.name!r} does not have both 'associated' and 'different' pairs, and random lists cannot "
            "replace control words. Add a second attribute group."
        )


def _model_rows(spec: ModelSpec, fitted: dict[int, ContrastEstimate]) -> "pd.DataFrame":
    """Return a row for each sample that was fitted; sample 0 is the study's own."""
    import pandas as pd

    return pd.DataFrame(
        {
            "sample": number,
            "method": spec.name,
            "quantity": "posterior mean",
            "value": estimate.mean,
            "claims": estimate.reading != "not settled",
            "sd": estimate.sd,
            "hdi_low": estimate.low,
            "hdi_high": estimate.high,
        }
        for number, estimate in fitted.items()
    )
