"""Ask many studies of many embeddings with many measures, and return one tidy frame."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.arguments import (
    HDI_PROB,
    check_count,
    check_flag,
    check_items,
    check_probability,
    is_text,
    resolve_seed,
    with_progress,
)
from bayesbias.embeddings import Embedding, EmbeddingLike, load_embedding
from bayesbias.embeddings.case_rules import Case
from bayesbias.errors import (
    BayesBiasWarning,
    LostWordsError,
    LostWordsWarning,
    MeasureError,
    ReportError,
    collected_warnings,
    name_some,
    warn_user,
)
from bayesbias.estimates import contrast_name, estimates, independent_draws, settled
from bayesbias.losses import MAX_LOST, WordList, allowance, check_max_lost
from bayesbias.metrics.direct_bias import GENDER_PAIRS
from bayesbias.metrics.registry import MEASURES, find_measure
from bayesbias.metrics.word_scores import load_base_pairs
from bayesbias.models.sampling import fit
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.reports.audits.audit_frame import BESIDE, COLUMNS, CONTRAST, NUMBERS, AuditFrame, AuditRecord
from bayesbias.reports.measures.measure_draws import expected_value
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.studies import CONNECTIONS, Study, StudyLike, load_study
from bayesbias.tables.build import distance_table

if TYPE_CHECKING:
    import xarray as xr

AUDIT_MEASURES = (CONTRAST, "weat", "weat_score", "mac", "rnd", "ect")


def audit(
    embeddings: Mapping[str, EmbeddingLike] | Sequence[EmbeddingLike],
    studies: Sequence[StudyLike] | StudyLike,
    measures: Sequence[str] = AUDIT_MEASURES,
    *,
    model: str | os.PathLike[str] | ModelSpec | None = DEFAULT_MODEL,
    case: Case = "exact",
    max_lost: float = MAX_LOST,
    hdi_prob: float = HDI_PROB,
    draws: int = 1000,
    tune: int = 2000,
    chains: int = 4,
    keep_fits: bool = False,
    random_seed: int | None = None,
    progress: bool = True,
) -> "AuditFrame":
    """Ask every study of every embedding with every measure.

    Every file is read once, for the words of all studies.

    Parameters
    ----------
    embeddings
        Embeddings by the names that the frame calls them, or a list of them, which then have names of their own. Each
        is an `Embedding`, a path, or anything else that `load_embedding` takes.
    studies
        Studies, names of bundled ones, or paths of TOML files; each needs a name of its own.
    measures
        ``"contrast"``, the model's own answer (see `contrasts`), and names in `bayesbias.metrics.MEASURES`.
    model
        What is fitted to each study in each embedding, as for `fit`. None: no model. Then there are no contrasts and no
        intervals, and an audit takes a moment.
    case
        How words are looked up in what is not yet an `Embedding` (see there).
    max_lost
        The share of a group's words that an embedding may lack, from 0 to 1.
    hdi_prob
        Probability inside the highest posterior density intervals.
    draws, tune, chains, random_seed
        As for `fit`; each fit has a seed of its own, made from this one (`record.seeds`).
    keep_fits
        Keep every fit with all its draws (`record.fits`) and its table (`record.tables`), such as for a page of each.
    progress
        Show a progress bar where there is somebody to see it.

    Returns
    -------
    AuditFrame
        A pandas frame: one row an embedding, study and measure, and for ``"contrast"`` one more for each protected
        group: `embedding`,
        `protected_group` (empty: all of them); `observed` (the measure's value as it is defined; of a contrast the
        difference of plain averages); `estimate` with `hdi_low` to `hdi_high` (of a contrast the posterior mean, in
        units of cosine distance, negative is nearer; of a measure that has a posterior that of the value which it would
        have without the noise of single pairs, see `measure_posterior`; of any other the observed value, without an
        interval); `conclusion` (of a contrast: ``"nearer"``, ``"farther"``, ``"borderline"``, or ``"not settled"``);
        `p_value` (one-sided, of `weat`) with its Monte Carlo error `p_value_mcse` (0: exact); the diagnostics
        `ess_bulk`, `ess_tail` and `r_hat`; and `lost_words` (how many of the study's groups).
        What does not exist is missing. Its attribute `record` keeps draws, lost words and settings (`AuditRecord`).

    Raises
    ------
    LostWordsError
        If embeddings lack more than `max_lost` of a group of a study: all of these are named, before any work.
    ReportError, MeasureError, StudyError, ArgumentError, ModelError, EmbeddingError
        If names are not distinct, or a measure, study, model, embedding or setting is not usable; or no measure has an
        answer.

    Warns
    -----
    LostWordsWarning
        Once, if words were lost.
    BayesBiasWarning
        Once, if a measure has no answer to a study, such as `weat` to one of three groups: it is left out there.
    ConvergenceWarning
        As by `fit`.

    Notes
    -----
    No correction for many questions is made: of 100 intervals of 89 %, 11 are expected to miss. Report how many were
    asked. For two embeddings with the same words, such as an original and a debiased one, `compare_embeddings` is
    sharper, since what they share cancels.

    References
    ----------
    Badilla, Bravo-Marquez and Perez (2020), WEFE: The word embeddings fairness evaluation framework. IJCAI 2020, for
    queries in many models; of these the posterior and its intervals are not a part.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> found = bb.audit({"Wikipedia": vectors}, ["gender", "weat7"], ["mac"], model=None)
    >>> found[["study", "observed", "lost_words"]].round(3)
        study  observed  lost_words
    0  gender     0.604           0
    1   weat7     0.756           0
    """
    import pandas as pd

    seed, limit = resolve_seed(random_seed), check_max_lost(max_lost)
    check_probability("hdi_prob", hdi_prob)
    counts = {"draws": draws, "tune": tune, "chains": chains}
    settings: dict[str, Any] = {name: check_count(name, value) for name, value in counts.items()}
    check_flag("keep_fits", keep_fits)
    spec = None if model is None else load_model(model)
    names = _checked_measures(measures, spec)
    asked = _checked_studies(studies)
    sources = _read(embeddings, asked, names, case)
    lost = _lost_words(sources, asked, limit)
    pairs = list(product(sources.values(), asked))
    # Each fit has a seed of its own: with the same one, draws of different embeddings would go up and down together.
    drawn = np.random.default_rng(seed).integers(2**32, size=len(pairs)).tolist()
    seeds = {(source.name, study.name): each for (source, study), each in zip(pairs, drawn, strict=True)}
    every: list[dict[str, Any]] = []
    kept: dict[tuple[str, str, str], np.ndarray] = {}
    left_out: dict[tuple[str, str, str], str] = {}
    fits: dict[tuple[str, str], xr.DataTree] = {}
    with collected_warnings() as caught:
        built = [] if spec is None else [distance_table(*pair, max_lost=limit) for pair in pairs]
        tables = dict(zip(seeds, built, strict=False))
        for table in tables.values():  # before any work
            if not {"associated"} < set(table["connection"]):
                raise ReportError(f"The study {table.attrs['bayesbias']['study']!r} has nothing to compare.")
        for source, study in with_progress(pairs, "Questions", progress=progress):
            key = source.name, study.name
            fitted = None
            if spec is not None:
                fitted = fit(tables[key], spec, progress=False, random_seed=seeds[key], **settings)
                if keep_fits:
                    fits[key] = fitted
            for row, found in _answers(source, study, names, fitted, limit, hdi_prob, seeds[key], left_out):
                every.append({"embedding": key[0], "study": key[1], "lost_words": len(lost[key])} | row)
                if found is not None:
                    kept[*key, row["measure"]] = found
    _repeat(caught)
    if not every:
        raise MeasureError(f"No measure has an answer to any study: {_reasons(left_out)}.")
    if left_out:
        warn_user(f"Left out what has no answer: {_reasons(left_out)}.", BayesBiasWarning)
    if some := {key: words for key, words in lost.items() if words}:
        named = "; ".join(
            f"{embedding}, {study}: {name_some(words, 3)}" for (embedding, study), words in list(some.items())[:5]
        )
        warn_user(
            f"In {len(some)} of {len(pairs)} questions words of the study's groups were lost (column lost_words): "
            f"{named}. The answers are about the words that are left.",
            LostWordsWarning,
        )
    frame = AuditFrame(pd.DataFrame(every).reindex(columns=list(COLUMNS)).astype(dict.fromkeys(NUMBERS, float)))
    told = {
        "Embeddings": ", ".join(f"{name} (hash {source.digest})" for name, source in sources.items()),
        "Case rules": ", ".join(dict.fromkeys(source.case_text for source in sources.values())),
        "Studies": ", ".join(study.name for study in asked),
        "Measures": ", ".join(names),
        "Largest share of lost words": f"{limit:g}",
        "Model": f"{spec.name} (hash {spec.digest})" if spec else "none",
        "Draws": f"{settings['draws']:,} in each of {settings['chains']} chains" if spec else "none",
        "Seed": str(seed),
    }
    frame.record = AuditRecord(
        *(kept, lost, left_out, seeds, hdi_prob, spec.name if spec else "", told),
        questions={study.name: study.description for study in asked},
        fits=fits,
        tables={key: tables[key] for key in fits},
    )
    return frame


# --- what is asked ----------------------------------------------------------------------------------------


def _checked_measures(measures: Sequence[str], spec: ModelSpec | None) -> tuple[str, ...]:
    names = (measures,) if isinstance(measures, str) else tuple(check_items("measures", measures, "a list of measures"))
    for name in names:
        if name != CONTRAST:
            find_measure(name)
    if not names or len(set(names)) < len(names):
        raise ReportError(f"measures={measures!r}: name each measure once, such as {', '.join(AUDIT_MEASURES[:3])}.")
    if spec is None and CONTRAST in names:
        raise ReportError("measures: 'contrast' is the answer of a model. Give a model, or leave it out.")
    return names


def _checked_studies(studies: Any) -> list[Study]:
    single = isinstance(studies, Study | str | os.PathLike | Mapping)
    asked = [
        load_study(each) for each in ([studies] if single else check_items("studies", studies, "a list of studies"))
    ]
    _raise_unless_distinct("studies", [study.name for study in asked])
    return asked


def _raise_unless_distinct(what: str, names: list[str]) -> None:
    if not names:
        raise ReportError(f"{what}: give at least one.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReportError(f"{what}: two are called {twice!r}. Give each a name of its own.")


def _read(embeddings: Any, asked: list[Study], names: tuple[str, ...], case: Case) -> dict[str, Embedding]:
    """Return the embeddings by name, each with the words of all studies (all its words for `nbm`, which needs them)."""
    words = [word for study in asked for word in study.words]
    words += [word for pair in (*load_base_pairs(), *GENDER_PAIRS) for word in pair]
    wanted = None if "nbm" in names else words
    if isinstance(embeddings, str | os.PathLike | Embedding):
        embeddings = [embeddings]
    given = (
        list(embeddings.items())
        if isinstance(embeddings, Mapping)
        else [(None, each) for each in check_items("embeddings", embeddings, "embeddings by name, or a list of them")]
    )
    read = []
    for name, source in given:
        if isinstance(embeddings, Mapping) and not (is_text(name) and str(name).strip()):
            raise ReportError(f"embeddings: {name!r} is no name. Give a text that is not blank.")
        # An embedding that is loaded already keeps its own look-up rule.
        rule = source.case if isinstance(source, Embedding) else case
        read.append(load_embedding(source, words=wanted, case=rule, name=name))
    _raise_unless_distinct("embeddings", [source.name for source in read])
    return {source.name: source for source in read}


def _lost_words(
    sources: Mapping[str, Embedding], asked: list[Study], limit: float
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the lost words of the studies' groups; raise one `LostWordsError` that names all that lost too many."""
    lost: dict[tuple[str, str], tuple[str, ...]] = {}
    too_many: list[WordList] = []
    for source, study in product(sources.values(), asked):
        lists = [
            WordList(f"{source.name}, {study.name}: {name}", len(words), source.lookup(words).lost)
            for name, words in (*study.protected.items(), *study.attributes.items())
        ]
        too_many += [each for each in lists if each.is_over(limit)]
        lost[source.name, study.name] = tuple(word for each in lists for word in each.lost)
    if too_many:
        raise LostWordsError(
            f"{len(too_many)} lists lost more than {100 * limit:g}% of their words (max_lost={limit:g}): "
            f"{name_some(too_many, 20)}. Look the words up in other forms (case), or leave these studies or embeddings "
            f"out{allowance(too_many)}."
        )
    return lost


# --- what is answered -------------------------------------------------------------------------------------


def _answers(
    source: Embedding,
    study: Study,
    names: tuple[str, ...],
    fitted: "xr.DataTree | None",
    limit: float,
    hdi_prob: float,
    seed: int,
    left_out: dict[tuple[str, str, str], str],
) -> Iterator[tuple[dict[str, Any], np.ndarray | None]]:
    """Yield rows, each with the posterior draws of its estimate where it has some."""
    for name in names:
        if name == CONTRAST and fitted is not None:
            yield from _contrast_rows(fitted, hdi_prob)
            continue
        entry = MEASURES[name]
        options = {"random_seed": seed} if "random_seed" in signature(entry.function).parameters else {}
        try:
            result = entry.function(source, study, max_lost=limit, **entry.options, **options)
        except MeasureError as error:
            left_out[source.name, study.name, name] = str(error)
            continue
        row: dict[str, Any] = {"measure": name, "quantity": next(iter(result.statistics)), "protected_group": ""}
        row |= {"observed": result.value, "estimate": result.value, "conclusion": ""}
        row |= {key: result.statistics[key] for key in ("p_value", "p_value_mcse") if key in result.statistics}
        function, draws = entry.of_similarities, None
        # None is shown of a measure whose posterior is that of another variant of it, or whose lists have no contrast.
        comparable = {"associated", "different"} <= set(study.connections)
        if fitted is not None and function is not None and not function.same_as and comparable:
            value = expected_value(fitted, function)
            moments = estimates(value, hdi_prob=hdi_prob, independent=independent_draws(fitted)).iloc[0].to_dict()
            row |= {"estimate": moments["mean"], **{key: moments.get(key) for key in BESIDE}}
            draws = value.to_numpy().ravel()
        yield row, draws


def _contrast_rows(fitted: "xr.DataTree", hdi_prob: float) -> Iterator[tuple[dict[str, Any], np.ndarray | None]]:
    """Yield the contrast of associated words with the first other connection: overall, then of each group."""
    posterior = fitted["posterior"].to_dataset()
    present = [name for name in CONNECTIONS if name in posterior["connection"].to_numpy()]
    means = posterior["connection_mean"]
    overall = (means.sel(connection=present[0]) - means.sel(connection=present[1])).transpose("chain", "draw")
    for level in ("overall", "protected_group"):
        frame = contrasts(fitted, level=level, hdi_prob=hdi_prob)
        for row in frame[frame["contrast"] == contrast_name(*present[:2])].to_dict("records"):
            one = {
                "measure": CONTRAST,
                "quantity": row["contrast"],
                "protected_group": row["protected_group"],
                "observed": row["observed"],
                "estimate": row["mean"],
                "conclusion": _conclusion(row),
                **{key: row.get(key) for key in BESIDE},
            }
            yield one, overall.to_numpy().ravel() if level == "overall" else None


def _conclusion(row: Mapping[Any, Any]) -> str:
    if row["borderline"]:
        return "borderline"
    return str(row["direction"]) if settled(row["hdi_low"], row["hdi_high"]) else "not settled"


def _reasons(left_out: Mapping[tuple[str, str, str], str]) -> str:
    listed = {f"{measure} of {study} ({reason.rstrip('.')})" for (_, study, measure), reason in left_out.items()}
    return name_some(sorted(listed), 5)


def _repeat(caught: list[warnings.WarningMessage]) -> None:
    """Give each warning once that is not about lost words, which are told together."""
    for message, category in dict.fromkeys(
        (str(each.message), each.category) for each in caught if not issubclass(each.category, LostWordsWarning)
    ):
        warn_user(message, category) if issubclass(category, BayesBiasWarning) else warnings.warn(message, category, 2)
