"""`reliability_report`: figures 2 to 5 and table 2 of Du, Fang and Nguyen (2021) for one's own embeddings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import HDI_PROB, check_probability, resolve_seed
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted, digits_text, percent_text, share_text
from bayesbias.base.results import (
    DOUBTS,
    LIMITS,
    Contents,
    Result,
    ResultFigure,
    ResultTable,
    contents_of,
    forest_figure,
)
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import ReportError, name_some
from bayesbias.estimates.frames import EstimateFrame
from bayesbias.estimates.intervals import is_settled
from bayesbias.metrics.directions.word_scores import BasePairs
from bayesbias.reliability.bias_scores import Queries, as_queries, score_array
from bayesbias.reliability.consistency import inter_rater, internal_consistency, test_retest
from bayesbias.reliability.driver_regression import ReliabilityRegression, explained
from bayesbias.reliability.mean_squares import shape_doubts

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

POOR, ACCEPTABLE = 0.5, 0.7
_LIMITS = (
    "What holds for rarer words or another corpus. Intervals are about words and base pairs like these.",
    "Which reliability is enough. Koo and Li (2016) call an ICC below 0.5 poor, below 0.75 moderate, below 0.9 good; "
    "an alpha of 0.7 counts as acceptable.",
)
_TITLES = {
    "words_over_seeds": ("Over seeds (figure 2)", "Test-retest reliability of target words, ICC(2,1)"),
    "words_over_rules": ("Over rules (figure 3)", "Inter-rater consistency of target words, ICC(3,1)"),
    "queries": ("Within queries and over base pairs (figure 4)", "Internal consistency, Cronbach's alpha"),
    "pairs_over_seeds": ("Base pairs (figure 5)", "Test-retest reliability of base pairs, ICC(2,1)"),
    "pairs_over_rules": ("Base pairs (figure 5)", "Inter-rater consistency of base pairs, ICC(3,1)"),
}


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityReport(Result):
    """Result of `reliability_report`: whether scores would be the same with another seed, rule or word.

    Parameters
    ----------
    words_over_seeds, words_over_rules : pandas.DataFrame
        From `test_retest` and `inter_rater`, with the columns `vectors` and `list`; over rules empty for one rule.
    pairs_over_seeds, pairs_over_rules : pandas.DataFrame
        The same of base pairs, over all target words.
    queries : pandas.DataFrame
        From `internal_consistency`, with the column `vectors`.
    drivers
        What explains the reliability of target words: ``"over seeds"`` and ``"over rules"`` -> result of `drivers`.
    not_explained
        Reasons why a regression, or a feature, is left out.
    facts
        `words`, `base_pairs`, `rules`, `seeds` (numbers by vectors), `lost_words`, `lost_base_pairs`, `hdi_prob`,
        `seed`.
    """

    words_over_seeds: "pd.DataFrame"
    words_over_rules: "pd.DataFrame"
    pairs_over_seeds: "pd.DataFrame"
    pairs_over_rules: "pd.DataFrame"
    queries: "pd.DataFrame"
    drivers: Mapping[str, ReliabilityRegression] = field(default_factory=dict)
    not_explained: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        lost = self.facts["lost_words"]
        doubts = [Statement("left out", reason) for reason in self.not_explained]
        if lost:
            doubts.append(
                Statement(
                    "lost words",
                    f"{counted(len(lost), 'word is', 'words are')} left out: {name_some(lost, 5)}.",
                    {"words": lost},
                )
            )
        several = ["vectors"] if len(self.facts["seeds"]) > 1 else []
        doubts += shape_doubts(self.words_over_seeds, [*several, "list", "rule"], "Over seeds")
        doubts += shape_doubts(self.words_over_rules, [*several, "list"], "Over rules")
        doubts += [
            Statement(doubt.kind, f"{name}: {doubt.text}", doubt.numbers)
            for name, result in self.drivers.items()
            for part in result.parts
            if part.title == DOUBTS
            for doubt in part.statements
        ]
        levels = [*_levels(self.words_over_seeds, "Over seeds"), *_levels(self.words_over_rules, "Over rules")]
        parts = [StatementList("", (self._answer,), bulleted=False), StatementList(DOUBTS, tuple(doubts))]
        parts.append(StatementList("", (*levels, *_alphas(self.queries))))
        parts += [StatementList(_explained(name), _shares_and_drops(result)) for name, result in self.drivers.items()]
        parts.append(StatementList(LIMITS, tuple(Statement("limits", text) for text in _LIMITS), detail=True))
        return tuple(parts)

    @property
    def _answer(self) -> Statement:
        """How many scores are reliable over seeds, and over rules if there are several."""
        counts = {
            name: (int((frame["observed"] >= POOR).sum()), len(frame))
            for name, frame in (("seeds", self.words_over_seeds), ("scoring rules", self.words_over_rules))
            if len(frame)
        }
        texts = [f"{good} of {every} over {name}" for name, (good, every) in counts.items()]
        text = f"Scores of words that are at least moderately reliable ({POOR:g} or more): {' and '.join(texts)}."
        return Statement("answer", text, counts)

    @cached_property
    def contents(self) -> Contents:
        """Figures 2 to 5, table 2, and the numbers of each word, base pair and query."""
        prob = percent_text(self.facts["hdi_prob"])
        sizes = self.facts
        tables = {
            name: ResultTable(getattr(self, name), section, f"{caption}, {prob} HPDI", folded=True)
            for name, (section, caption) in _TITLES.items()
            if len(getattr(self, name))
        }
        for name, result in self.drivers.items():
            key = name.replace(" ", "_")
            shares = (
                f"Share of the variance that each part explains, {name}, {prob} HPDI; population: algorithms and "
                "corpora like these, as in the paper"
            )
            for frame, caption, differences in (
                ("r_squared", shares, False),
                ("drops", f"Share of the variance that is lost without a factor, {name}, {prob} HPDI", False),
                ("coefficients", f"Coefficients of standardised factors, {name}, in units of reliability", True),
            ):
                tables[f"{key}_{frame}"] = ResultTable(
                    getattr(result, frame), _explained(name), caption, differences=differences, folded=True
                )
        contents = contents_of(
            self,
            title="Are these bias scores reliable?",
            about=f"{counted(sizes['words'], 'target word')}, {counted(sizes['base_pairs'], 'base pair')}, "
            f"{counted(len(sizes['rules']), 'rule')}; seeds: "
            f"{', '.join(f'{count} of {name}' for name, count in sizes['seeds'].items())}.",
            figures=self._figures(prob),
        )
        settings = {"Rules": ", ".join(sizes["rules"]), "Interval": f"{prob} HPDI", "Seed": str(sizes["seed"])}
        return replace(contents, tables=tables, settings=settings)

    def _level_figure(self) -> ResultFigure:
        """Return a forest of the reliability of words by list: over seeds by rule, and over rules."""
        import pandas as pd

        parts = []
        for frame, what in ((self.words_over_seeds, "over seeds"), (self.words_over_rules, "over rules")):
            if len(frame):
                names = [name for name in ("vectors", "list", "rule") if name in frame and frame[name].nunique() > 1]
                groups = frame.groupby(names, sort=False)["observed"] if names else [("", frame["observed"])]
                for key, values in groups:
                    label = " ".join([*map(str, key if isinstance(key, tuple) else (key,)), what]).strip()
                    parts.append((label, values.mean(), values.quantile(0.055), values.quantile(0.945)))
        rows = pd.DataFrame(parts, columns=["label", "mean", "hdi_low", "hdi_high"]).assign(filled=False)
        caption = f"Reliability of words: mean (points), and 89% of the words (lines). At least {POOR:g}: moderate."
        return forest_figure(caption, rows, label="Reliability")

    def _figures(self, prob: str) -> dict[str, ResultFigure]:
        boxes = "For more than 12, a box shows the middle half of the posterior means and whiskers 89 % of them."
        figures = {
            "levels": self._level_figure(),
            "figure_2": ResultFigure(
                "reliability.plot_reliability",
                f"Reliability of target words over seeds, by list and rule: means and {prob} intervals. {boxes}",
                data=_by_row(self.words_over_seeds),
                section=_TITLES["words_over_seeds"][0],
            ),
        }
        if len(self.words_over_rules):
            figures["figure_3"] = ResultFigure(
                "reliability.plot_reliability",
                f"Consistency of the scoring rules for target words, by list. {boxes}",
                data=_by_row(self.words_over_rules),
                options={"split": None},
                section=_TITLES["words_over_rules"][0],
            )
        names = list(self.facts["seeds"])
        for name in names:
            suffix = "" if len(names) == 1 else f"_{names.index(name) + 1}"
            title = "" if len(names) == 1 else f"{name}: "
            of_queries, over_seeds, over_rules = (
                frame[frame["vectors"] == name] if len(frame) else frame
                for frame in (self.queries, self.pairs_over_seeds, self.pairs_over_rules)
            )
            figures[f"figure_4{suffix}"] = ResultFigure(
                "reliability.plot_reliability",
                f"{title}Cronbach's alpha of the words of each query and of base pairs: means and {prob} intervals.",
                data={"": of_queries},
                options={"label": "query"},
                section=_TITLES["queries"][0],
            )
            if len(over_rules):
                figures[f"figure_5{suffix}"] = ResultFigure(
                    "reliability.plot_base_pairs",
                    f"{title}Reliability of base pairs over seeds (left), rules (right): means and {prob} intervals.",
                    data=over_seeds,
                    options={"inter_rater": over_rules},
                    section=_TITLES["pairs_over_seeds"][0],
                )
        return figures


def reliability_report(
    embeddings: Mapping[str, Mapping[Any, Any]],
    words: Mapping[str, Sequence[str]],
    *,
    rules: Sequence[str] = ("db_wa", "ripa", "nbm"),
    base_pairs: BasePairs = "gender",
    queries: Queries = "gender",
    counts: Mapping[str, int] | None = None,
    properties: Any = "wordnet",
    table_2: bool = True,
    draws: int = 1000,
    hdi_prob: float = HDI_PROB,
    max_lost: float = MAX_LOST,
    random_seed: int | None = None,
    progress: bool = True,
) -> ReliabilityReport:
    """Return the reliability of scores of one's own embeddings: figures 2 to 5 and table 2 of the paper.

    Parameters
    ----------
    embeddings
        Name of an algorithm or corpus -> embeddings by seed (see `score_array`), at least two each.
    words
        Target words by the name of their list.
    rules, base_pairs, queries, max_lost
        As in `score_array` and `internal_consistency`.
    counts, properties
        Features of words for table 2 (see `word_features`); a property that over half of the words lack is left out.
    table_2
        Whether to estimate what explains reliability, by `drivers`: factors are the rule, the features, and the groups
        of embeddings if there are several.
    draws
        Posterior draws per chain, of 4 chains.
    hdi_prob, random_seed, progress
        As in `drivers`.

    Returns
    -------
    ReliabilityReport
        Report to print, or to write with `bayesbias.write` as a page with figures and tables.

    Raises
    ------
    ReportError
        If there are no embeddings or lists of words; and the errors of `score_array`.

    References
    ----------
    Yupei Du, Qixiang Fang and Dong Nguyen (2021). Assessing the reliability of word embedding gender bias measures.
    EMNLP 2021, 10012-10034, figures 2 to 5 and table 2.

    Examples
    --------
    >>> seeds = {seed: bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2, 3)}
    >>> pairs, maths = [("he", "she"), ("man", "woman"), ("son", "daughter")], ["algebra", "geometry", "calculus"]
    >>> options = {"base_pairs": pairs, "queries": {"maths": maths}, "table_2": False, "progress": False}
    >>> report = bb.reliability.reliability_report({"skip-gram": seeds}, {"words": maths}, **options)
    >>> report.contents.answers[0].text
    'Over seeds, words: median 0.057 by db_wa, 0.67 by ripa, 0.89 by nbm; 3 of 9 reliabilities are poor (below 0.5).'
    """
    import pandas as pd

    check_probability("hdi_prob", hdi_prob)
    seed = resolve_seed(random_seed)
    if not embeddings or not words or not all(isinstance(seeds, Mapping) for seeds in embeddings.values()):
        raise ReportError(
            'Give embeddings such as {"skip-gram": {1: first, 2: second}} and words such as {"jobs": [...]}.'
        )
    query_words = as_queries(queries)
    every = list(dict.fromkeys(word for listed in (*words.values(), *query_words.values()) for word in listed))
    arrays = {
        name: score_array(seeds, every, rules=rules, base_pairs=base_pairs, max_lost=max_lost, progress=progress)
        for name, seeds in embeddings.items()
    }
    frames: dict[str, list[pd.DataFrame]] = {name: [] for name in _TITLES}
    for name, array in arrays.items():
        targets = _of_words(array, [word for listed in words.values() for word in listed])
        for function, label in ((test_retest, "over_seeds"), (inter_rater, "over_rules")):
            if function is inter_rater and array.sizes["rule"] < 2:
                continue
            for title, listed in words.items():
                frame = function(_of_words(array, listed), hdi_prob=hdi_prob)
                frames[f"words_{label}"].append(frame.assign(vectors=name, list=title))
            frames[f"pairs_{label}"].append(function(targets, "base_pair", hdi_prob=hdi_prob).assign(vectors=name))
        consistency = internal_consistency(array, query_words, max_lost=max_lost, hdi_prob=hdi_prob)
        frames["queries"].append(consistency.assign(vectors=name))
    tables = {
        name: EstimateFrame(pd.concat(parts, ignore_index=True)) if parts else pd.DataFrame()
        for name, parts in frames.items()
    }
    results: dict[str, ReliabilityRegression] = {}
    reasons: tuple[str, ...] = ()
    if table_2:
        results, reasons = explained(
            tables, embeddings, counts=counts, properties=properties,
            settings={"draws": draws, "hdi_prob": hdi_prob, "random_seed": seed},
        )  # fmt: skip
    first = next(iter(arrays.values()))
    facts = {
        "words": tables["words_over_seeds"]["target_word"].nunique(),
        "base_pairs": first.sizes["base_pair"],
        "rules": first["rule"].values.tolist(),
        "seeds": {name: array.sizes["seed"] for name, array in arrays.items()},
        "lost_words": list(dict.fromkeys(word for array in arrays.values() for word in array.attrs["lost_words"])),
        "lost_base_pairs": first.attrs["lost_base_pairs"],
        "hdi_prob": hdi_prob,
        "seed": seed,
    }
    return ReliabilityReport(**tables, drivers=results, not_explained=reasons, facts=facts)


def _of_words(array: "xr.DataArray", words: Sequence[str]) -> "xr.DataArray":
    chosen = set(words)
    return array.sel(target_word=[word for word in array["target_word"].values.tolist() if word in chosen])


def _by_row(frame: "pd.DataFrame") -> dict[str, "pd.DataFrame"]:
    several = frame["vectors"].nunique() > 1
    return {
        f"{vectors}: {title}" if several else str(title): part
        for (vectors, title), part in frame.groupby(["vectors", "list"], sort=False)
    }


def _explained(name: str) -> str:
    return f"What explains reliability {name} (table 2)"


def _shares_and_drops(result: ReliabilityRegression) -> tuple[Statement, ...]:
    """Return one statement on the shares of variance, one on the drops, and one on the directions that are settled."""
    shares = result.r_squared[result.r_squared["scope"] == "these_words"]
    names = {"fixed": "factors", "total": "all of these", "word": "words beyond them"}
    texts = {
        "shares": "Share of the variance in these vectors: " + _listed(shares, "part", names),
        "drops": "Drop without it: " + _listed(result.drops, "factor", {}),
    }
    rows = [row for row in rows_of(result.coefficients) if is_settled(row["hdi_low"], row["hdi_high"])]
    signs = [
        f"{row['factor']} {row['level']}".strip() + (" (higher)" if row["mean"] > 0 else " (lower)") for row in rows
    ]
    texts["directions"] = f"Settled directions of reliability: {', '.join(signs) or 'none'}."
    return tuple(Statement(kind, text, {"rows": len(result.drops)}) for kind, text in texts.items())


def _listed(frame: "pd.DataFrame", label: str, names: Mapping[str, str]) -> str:
    parts = [
        f"{names.get(row[label], row[label])} {share_text(row['mean'])} ({share_text(row['hdi_low'])} to "
        f"{share_text(row['hdi_high'])})"
        for row in rows_of(frame)
    ]
    return ", ".join(parts) + "."


def _levels(frame: "pd.DataFrame", how: str) -> list[Statement]:
    """Return a statement on each list of words: medians by rule, and how many are poor."""
    statements = []
    for title, part in _by_row(frame).items() if len(frame) else ():
        rules = part.groupby("rule", sort=False) if "rule" in part else [("", part)]
        medians = {str(rule): float(rows["observed"].median()) for rule, rows in rules}
        text = ", ".join(f"{digits_text(value, 2)}{f' by {rule}' if rule else ''}" for rule, value in medians.items())
        poor = int((part["observed"] < POOR).sum())
        whole = f"{how}, {title}: median {text}; {poor} of {len(part)} reliabilities are poor (below {POOR:g})."
        statements.append(Statement(how.lower(), whole, {"medians": medians, "poor": poor, "rows": len(part)}))
    return statements


def _alphas(frame: "pd.DataFrame") -> list[Statement]:
    statements = []
    for vectors, part in frame.groupby("vectors", sort=False):
        above, below = int((part["hdi_low"] > ACCEPTABLE).sum()), int((part["hdi_high"] < ACCEPTABLE).sum())
        several = f", {vectors}" if frame["vectors"].nunique() > 1 else ""
        text = (
            f"Within queries and over base pairs{several}: of {len(part)} alphas {above} are above {ACCEPTABLE:g}, "
            f"{below} below, and {len(part) - above - below} are not settled."
        )
        statements.append(Statement("alphas", text, {"alphas": len(part), "above": above, "below": below}))
    return statements
