"""A cell of an audit: one study of one embedding, by one model and one seed, with all measures."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.audits.audit_frame import BESIDE, CONTEXTS, CONTRAST, PAIR_SD, STANDARDISED, TEXTS
from bayesbias.audits.coherence import Coherence, list_coherence
from bayesbias.audits.plan import question_table
from bayesbias.audits.table_sources import Source, StudyTables
from bayesbias.audits.word_contributions import (
    PAIR_COLUMNS,
    ROLES,
    WORD_COLUMNS,
    WORD_TEXTS,
    Rows,
    contrast_contributions,
    measure_contributions,
    single_sd,
)
from bayesbias.base.checks import is_number, is_text
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding
from bayesbias.embeddings.templates import IN_SENTENCES
from bayesbias.errors import MeasureError, collected_warnings
from bayesbias.estimates.intervals import contrast_name, estimates, independent_draws, is_settled, reading
from bayesbias.metrics.directions.direction import GENDER_PAIRS
from bayesbias.metrics.directions.word_scores import load_base_pairs
from bayesbias.metrics.registry import MEASURES, measure
from bayesbias.models.data import SIDES
from bayesbias.models.fits import fitted_rows, groups_without_contrast
from bayesbias.models.scales import DISTANCE_ERROR
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.measures.measure_posterior import expected_value
from bayesbias.reports.plans.record import DEPENDENCE, SENTENCES, Region, study_content
from bayesbias.studies.study import CONNECTIONS, Study
from bayesbias.tables.build import matched_words
from bayesbias.tables.measures import measure_of
from bayesbias.tables.schema import table_facts
from bayesbias.workers.cells import Answer, content_digest, has_texts, has_types, package_version, warning_texts

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, eq=False)
class AuditCell:
    """One study of one embedding, or of tables in its place, by one model and one seed, with all measures.

    - `embedding`: name of the embedding or tables, which does not enter the answer.
    - `vectors`: hash of the words and vectors that can enter the answer (`vectors_digest`, `sample_digest`), or of the
      table.
    - `study`, `model`, `random_seed`, `measures`, `max_lost`, `hdi_prob`, `draws`, `tune`, `chains`: as for
      `bayesbias.audit`.
    - `region`: region of practical equivalence.
    - `keep_fit`: whether the answer holds the fit and its distance table too.
    """

    embedding: str
    vectors: str
    study: Study
    model: ModelSpec | None
    random_seed: int
    measures: tuple[str, ...]
    max_lost: float
    hdi_prob: float
    draws: int
    tune: int
    chains: int
    region: Region | None = None
    keep_fit: bool = False

    @property
    def source(self) -> str:
        """Name of the embedding."""
        return self.embedding

    @property
    def question(self) -> tuple[str, str]:
        """Names of embedding and study."""
        return self.embedding, self.study.name

    @property
    def variant(self) -> tuple[str, int]:
        """Name of the model, empty if there is none, and the seed that was given."""
        return (self.model.name if self.model else ""), self.random_seed

    @cached_property
    def _data(self) -> list[Any]:
        return [self.vectors, study_content(self.study), self.model.digest if self.model else "", self.random_seed]

    def shuffled(self, draws: np.ndarray) -> np.ndarray:
        """Return draws in an order of this cell's data.

        Fits with the same seed have correlated draws, and a gate compares the draws of several cells.
        """
        order = np.random.default_rng(int(content_digest(self._data)[:8], 16)).permutation(len(draws))
        return draws[order]

    @cached_property
    def digest(self) -> str:
        """Hash of all that enters the answer: cells with equal hashes have equal answers."""
        region = None if self.region is None else vars(self.region)
        settings = [self.max_lost, self.hdi_prob, self.draws, self.tune, self.chains, region]
        measures = [[name, repr(MEASURES[name].options) if name in MEASURES else ""] for name in self.measures]
        return content_digest([self._data, measures, settings, package_version()])[:32]

    def answer(self, source: Source) -> Answer:
        """Return rows of the audit's frame (`rows`), posterior draws by measure (`draws`), and what was left out.

        `contributions` and `pair_contributions` have what words and single pairs contribute to the errors of these
        measures, and `own_errors` what else there is.

        Of tables, measures other than the contrast are left out: they are about vectors.

        Linear algebra runs in one thread, so that the answer is the same, bit for bit, wherever on a machine it is
        made.
        """
        import pandas as pd

        from bayesbias.base.machine import threadpool_limits

        rows: list[Mapping[str, Any]] = []
        draws: dict[str, np.ndarray] = {}
        words: list[dict[str, Any]] = []
        pairs = pd.DataFrame(columns=list(PAIR_COLUMNS), dtype=float)
        own_errors: dict[str, float] = {}
        left_out: dict[str, str] = {}
        objects: dict[str, Any] = {}
        coherence: Coherence | None = None
        spreads: dict[str, Any] = {}
        means_of_lists: list[list[Any]] = []
        with threadpool_limits(1, "blas"), collected_warnings() as caught:
            fitted = None
            if self.model is not None:
                # Samplers are slow to import: only where a model is fitted.
                from bayesbias.models.sampling import fit

                table = question_table(source, self.study, self.max_lost)
                sizes: dict[str, Any] = {"draws": self.draws, "tune": self.tune, "chains": self.chains}
                spreads = {STANDARDISED[0]: _control_sd(table), PAIR_SD: pair_sd(table)}
                spreads |= {"mean_number": float(table[numbers_column(table)].mean()), "word_sd": word_sd(table)}
                means_of_lists = list_means(table)
                fitted = fit(table, self.model, progress=False, random_seed=self.random_seed, **sizes)
                if CONTRAST in self.measures:
                    coherence = None if isinstance(source, StudyTables) else list_coherence(source, self.study)
                    left_out = {
                        f"{CONTRAST} of {group}": f"{lacking}, so it is in no contrast"
                        for group, lacking in groups_without_contrast(fitted).items()
                    }
                objects = {"fit": fitted, "table": table} if self.keep_fit else {}
            for name in self.measures:
                try:
                    for row, row_draws in self._rows(source, name, fitted, spreads, coherence):
                        rows.append(row)
                        if row_draws is not None and fitted is not None:
                            draws[name] = self.shuffled(row_draws)
                            of_words, of_pairs = _contributions(name, fitted)
                            words += [{"measure": name, **word} for word in of_words]
                            pairs = pairs if of_pairs is None else of_pairs
                            own_errors[name] = _own_error(row, fitted)
                except MeasureError as error:
                    left_out[name] = str(error)
        warned = warning_texts(caught)
        frames = {"rows": pd.DataFrame(rows), "draws": pd.DataFrame(draws)}
        frames["contributions"] = pd.DataFrame(words, columns=list(WORD_COLUMNS))
        frames["pair_contributions"] = pairs
        facts: dict[str, Any] = {
            "left_out": left_out,
            "coherence": None if coherence is None else vars(coherence),
            "spreads": spreads,
        }
        facts["own_errors"], facts["list_means"] = own_errors, means_of_lists
        return Answer(frames, facts, warned, objects)

    def accepts(self, answer: Answer) -> bool:
        """Whether an answer that was read from a file can be one of this cell."""
        rows, draws = answer.frames["rows"], answer.frames["draws"].to_numpy(float)
        measures, words = set(self.measures), answer.frames["contributions"]
        pairs = answer.frames["pair_contributions"]
        return (
            has_types(rows, TEXTS)
            and (tuple(words), tuple(pairs)) == (WORD_COLUMNS, PAIR_COLUMNS)
            and has_types(words, WORD_TEXTS)
            and bool(np.isfinite(pairs.to_numpy(float)).all())
            and bool(pairs[list(ROLES)].isin(range((words["measure"] == CONTRAST).sum())).to_numpy().all())
            and set(words["measure"]) <= set(answer.facts["own_errors"]) <= measures
            and bool(np.isfinite(words[["contribution", "effect"]].to_numpy(float)).all())
            and all(value is None or is_number(value) for value in answer.facts["own_errors"].values())
            and (rows.empty or set(rows["measure"]) <= measures)
            and set(answer.frames["draws"]) <= measures
            and bool(np.isfinite(draws).all())
            and has_texts(answer.facts["left_out"])
            and (answer.facts["coherence"] is None or Coherence.read(answer.facts["coherence"]) is not None)
            and all(value is None or value != value or is_number(value) for value in answer.facts["spreads"].values())
            and all(map(_is_list_mean, answer.facts["list_means"]))
        )

    def _rows(
        self,
        source: Source,
        name: str,
        fitted: "xr.DataTree | None",
        spreads: Mapping[str, float],
        coherence: Coherence | None,
    ) -> Iterator[tuple[dict[str, Any], np.ndarray | None]]:
        """Yield the rows of a measure, each with the posterior draws of its value where it has some."""
        if name == CONTRAST and fitted is not None:
            control_sd, single_sd = spreads[STANDARDISED[0]], spreads[PAIR_SD]
            for row, row_draws in _contrast_rows(
                fitted, self.hdi_prob, _region_ends(self.region, coherence, single_sd)
            ):
                values = (control_sd, *(row[key] / control_sd for key in ("mean", "hdi_low", "hdi_high")))
                yield row | dict(zip(STANDARDISED, values, strict=True)) | {PAIR_SD: single_sd}, row_draws
            return
        if isinstance(source, StudyTables):
            raise MeasureError(f"it is about vectors, and {source.name!r} has a table of {source.measure.numbers}")
        entry = MEASURES[name]
        result = measure(
            name, source, self.study, max_lost=self.max_lost, **entry.accepted(random_seed=self.random_seed)
        )
        row = {"measure": name, "quantity": next(iter(result.statistics)), "protected_group": ""}
        row |= {"observed": result.value, "mean": np.nan, "reading": ""}
        row |= {key: result.statistics[key] for key in ("p_value", "p_value_mcse") if key in result.statistics}
        function, draws = entry.of_similarities, None
        # A measure whose posterior is that of another variant of it, or whose lists have no contrast, has none here.
        comparable = {"associated", "different"} <= set(self.study.connections)
        # A measure of all groups has no posterior here if the model was fitted without some of them.
        comparable &= fitted is None or set(self.study.protected) == set(fitted_rows(fitted).protected_groups.tolist())
        if fitted is not None and function is not None and not function.same_as and comparable:
            value = expected_value(fitted, function)
            moments = estimates(value, hdi_prob=self.hdi_prob, independent=independent_draws(fitted)).iloc[0].to_dict()
            row |= {key: moments.get(key) for key in ("mean", *BESIDE)}
            draws = value.to_numpy().ravel()
        yield row, draws


def _contributions(name: str, fitted: "xr.DataTree") -> tuple[Rows, "pd.DataFrame | None"]:
    """Return what words contribute to the error of a measure, and pairs to that of the contrast; it is standardised."""
    if name == CONTRAST:
        return contrast_contributions(fitted_rows(fitted))
    function = MEASURES[name].of_similarities
    return ([] if function is None else measure_contributions(fitted, function)), None


def _own_error(row: Mapping[str, Any], fitted: "xr.DataTree") -> float:
    """Return the error of a measure, that of a contrast standardised, that no other embedding shares.

    Numbers are known to within the error of a distance, and vectors over contexts also vary with these.
    """
    if row["measure"] != CONTRAST:
        return DISTANCE_ERROR
    contexts = row["context_sd"]
    contexts = 0.0 if contexts is None or np.isnan(contexts) else contexts
    return float(np.hypot(contexts, fitted_rows(fitted).distance_error) / row[PAIR_SD])


def _region_ends(region: Region | None, coherence: Coherence | None, single_sd: float) -> tuple[float, float] | None:
    """Return a region in the unit of the contrasts; None if there is none, or nothing to standardise by."""
    if region is None:
        return None
    ends = region.ends(single_sd if coherence is None else coherence.coherence)
    return ends if ends[0] < ends[1] else None


def _contrast_rows(
    fitted: "xr.DataTree", hdi_prob: float, rope: tuple[float, float] | None
) -> Iterator[tuple[dict[str, Any], np.ndarray | None]]:
    """Yield the contrast of associated words with the first other connection: overall, then of each group.

    Groups whose words lack a side are left out; if all lack one, this raises a `MeasureError`.
    """
    from bayesbias.reports.posterior.contrasts import contrasts

    posterior = fitted["posterior"].to_dataset()
    present = [name for name in CONNECTIONS if name in posterior["connection"].to_numpy()]
    means = posterior["connection_mean"]
    overall = (means.sel(connection=present[0]) - means.sel(connection=present[1])).transpose("chain", "draw")
    for level in ("overall", "protected_group"):
        frame = contrasts(fitted, level=level, hdi_prob=hdi_prob, rope=rope)
        for row in frame[frame["contrast"] == contrast_name(*present[:2])].to_dict("records"):
            if not np.isfinite(row["observed"]):
                if level == "overall":
                    raise MeasureError(
                        f"no protected word has both {present[0]} and {present[1]} attribute words: give a group "
                        "lists of both kinds"
                    )
                continue
            audit_row = {
                "measure": CONTRAST,
                "quantity": row["contrast"],
                "protected_group": row["protected_group"],
                "observed": row["observed"],
                "mean": row["mean"],
                "reading": reading_with_contexts(row),
                "context_sd": row.get("context_sd"),
                **{key: row.get(key) for key in BESIDE},
            }
            yield audit_row, overall.to_numpy().ravel() if level == "overall" else None


def _control_sd(table: "pd.DataFrame") -> float:
    """Return the standard deviation of distances to neutral control words, of human ones without these, or NaN.

    It is that of single pairs, without the mean distance of each word on either side, which cancels in a contrast too.
    If a part that all vectors share makes distances small, it shrinks by about the same factor as a contrast.
    """
    connections = set(table["connection"])
    if not (controls := [name for name in ("neutral", "human") if name in connections]):
        return float("nan")
    return single_sd([_pairs(table[table["connection"] == controls[0]])])


def _own_lists(table: "pd.DataFrame") -> Any:
    """Return the rows of a table by protected group and attribute list (a grouped frame), without control words."""
    question_rows = table[table["connection"].isin(SIDES)]
    return question_rows.groupby(["protected_group", "attribute_group"], observed=True)


def pair_sd(table: "pd.DataFrame") -> float:
    """Return the standard deviation of single numbers of a study's own pairs, or NaN if its lists have one word each.

    It is that without the mean of each word in each pair of lists, so that no association enters it. Attribute words
    without a number beside each protected word of a list are left out.
    """
    return single_sd([_pairs(rows) for _, rows in _own_lists(table)])


def word_sd(table: "pd.DataFrame") -> float:
    """Return the standard deviation of the means of single words in each pair of lists, or NaN as `pair_sd`.

    Noise of single pairs hardly enters it, and numbers that were all shrunk show in it.
    """
    squares, free = 0.0, 0
    for _, rows in _own_lists(table):
        pairs = _pairs(rows)
        pairs = pairs[:, np.isfinite(pairs).all(axis=0)]
        for means in (pairs.mean(axis=0), pairs.mean(axis=1)) if pairs.size else ():
            squares += float(((means - means.mean()) ** 2).sum())
            free += len(means) - 1
    return float(np.sqrt(squares / free)) if free else float("nan")


def list_means(table: "pd.DataFrame") -> list[list[Any]]:
    """Return group, attribute list and mean number of each pair of these, without the means of group and list.

    Empty if a group has no numbers beside one of the lists.
    """
    means = _own_lists(table)[numbers_column(table)].mean().unstack()
    values = means.to_numpy(dtype=float)
    if not np.isfinite(values).all():
        return []
    leans = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    return [
        [str(group), str(name), float(lean)]
        for group, row in zip(means.index, leans, strict=True)
        for name, lean in zip(means.columns, row, strict=True)
    ]


def _is_list_mean(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 3 and all(map(is_text, item[:2])) and is_number(item[2])


def numbers_column(table: "pd.DataFrame") -> str:
    """Return the column that holds the numbers of a table."""
    return measure_of(table_facts(table)).column


def _pairs(rows: "pd.DataFrame") -> np.ndarray:
    """Return the numbers of rows, shape (protected words, attribute words), NaN for pairs that they lack."""
    values = numbers_column(rows)
    pairs = rows.pivot_table(index="protected_word", columns="attribute_word", values=values, observed=True)
    return pairs.to_numpy(dtype=float)


def reading_with_contexts(row: Mapping[Any, Any]) -> str:
    """Return the reading of a contrast, which is not settled if the choice of contexts decides."""
    low, high = (row.get(name, np.nan) for name in CONTEXTS)
    # Vectors may be means over sentences, whose choice must not decide.
    undecided = np.isfinite(low) and not is_settled(low, high)
    return "not settled" if undecided and not row.get("borderline", False) else reading(row)


def words_hash(embedding: Source, study: Study) -> str:
    """Return a hash of the words of a study's groups that have a vector of their own, and of their forms and sentences.

    Another case rule, prefix or suffix changes it, and so do another lost word, other templates and another layer.
    """
    if isinstance(embedding, StudyTables):
        return embedding.words_hash(study)
    forms, _ = matched_words(embedding, study)
    words = [word for lists in (study.protected, study.attributes) for words in lists.values() for word in words]
    sentences = [step for step in embedding.steps if step.startswith(IN_SENTENCES)]
    return content_digest([*sorted((word, forms[word]) for word in words if word in forms), *sentences])[:16]


def needed_words(studies: Iterable[Study], measures: Sequence[str]) -> list[str] | None:
    """Return the words that can enter an answer, or None if all words of an embedding do."""
    if any(name != CONTRAST and MEASURES[name].whole_vocabulary for name in measures):
        return None
    pairs = (*load_base_pairs(), *GENDER_PAIRS)
    return [word for study in studies for word in study.words] + [word for pair in pairs for word in pair]


def needs_pairs(measures: Sequence[str]) -> bool:
    """Return whether any of the measures takes words besides those of the studies.

    >>> needs_pairs(["contrast", "weat"]), needs_pairs(["contrast", "ripa"])
    (False, True)
    """
    return any(name != CONTRAST and not MEASURES[name].posterior for name in measures)


def vectors_digest(embedding: Embedding, study: Study, measures: Sequence[str]) -> str:
    """Return a hash of the words and vectors that can enter an answer, and of the errors of these over contexts.

    Other words of the embedding do not change it.

    >>> cats = {"cat": [1.0, 0.0], "tom": [0.8, 0.6], "purr": [0.6, 0.8]}
    >>> lists = {"protected": {"cats": ["cat", "tom"]}, "attributes": {"quiet": ["purr"]}}
    >>> study = bb.Study(name="cats", **lists, associated=[("cats", "quiet")], human="none", neutral="none")
    >>> some, more = bb.load_embedding(cats), bb.load_embedding(cats | {"dog": [0.0, 1.0]})
    >>> vectors_digest(some, study, ["mac"]) == vectors_digest(more, study, ["mac"])
    True
    >>> vectors_digest(some, study, ["nbm"]) == vectors_digest(more, study, ["nbm"])
    False
    """
    words = needed_words([study], measures)
    stored_words = embedding.lookup(study.words if words is None else words).matches
    arrays: list[np.ndarray] = [] if words is None else [embedding.stored(stored_words.values())]
    if isinstance(embedding, ContextualEmbedding):
        stored = embedding.keeping(stored_words.values())
        arrays += [stored.deviations, stored.contexts, np.array(stored.paired)]
    whole = embedding.digest if words is None else ""
    return content_digest([stored_words, whole, *map(_array_digest, arrays)])


def sample_digest(embedding: Embedding) -> str:
    """Return a hash of the random words beside which a table finds the words that depend on each other."""
    return "" if embedding.reference is None else _array_digest(embedding.reference)


def _array_digest(array: np.ndarray) -> str:
    content = hashlib.sha256(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).data)
    return f"{array.dtype.name} {array.shape} {content.hexdigest()}"


def interval_includes(embedding: Source) -> str:
    """Return what an interval includes besides the choice of independent words, by what comes with the vectors.

    >>> interval_includes(bb.load_embedding({"cat": [1.0, 0.0]}))
    ''
    """
    if isinstance(embedding, StudyTables):
        return embedding.interval_includes
    dependence = [] if embedding.reference is None else [DEPENDENCE]
    sentences = [SENTENCES] if isinstance(embedding, ContextualEmbedding) else []
    return ", ".join(dependence + sentences)


def make_cells(
    sources: Iterable[Source],
    studies: Sequence[Study],
    models: Sequence[ModelSpec | None],
    seeds: Sequence[int],
    **settings: Any,
) -> list[AuditCell]:
    """Return a cell for each source, study, model and seed, in this order; `settings` are those of `AuditCell`."""
    questions: list[tuple[str, str, Study]] = []
    for source in sources:
        if isinstance(source, StudyTables):
            questions += [(source.name, source.digest(study), study) for study in studies]
            continue
        sample = sample_digest(source)
        digests = [content_digest([sample, vectors_digest(source, study, settings["measures"])]) for study in studies]
        questions += [(source.name, digest, study) for study, digest in zip(studies, digests, strict=True)]
    return [
        AuditCell(name, vectors, study, model, seed, **settings)
        for (name, vectors, study), model, seed in product(questions, models, seeds)
    ]
