"""What a page is about: a fit, its rows and the settings of the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias.base.statements import Conclusions
from bayesbias.errors import ReportError
from bayesbias.metrics.similarities import table_study
from bayesbias.models.data import model_data
from bayesbias.models.fitted.fit_source import fitted_model, fitted_table
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.quick import sampler_for
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.embeddings.comparison import EmbeddingComparison
from bayesbias.reports.posterior.conclusions import conclusions, nothing_to_compare
from bayesbias.studies.faults import CONTROLS
from bayesbias.studies.study import Study, list_studies, load_study
from bayesbias.tables.conversion import as_frame
from bayesbias.tables.schema import validate_table

if TYPE_CHECKING:
    import xarray as xr

BASELINE = "associated"
# A page fits a table again, whole or in parts, as long as pairs times fits are fewer.
_MOST_PAIRS_FITTED = 30_000_000


@dataclass(frozen=True, eq=False)
class PageInput:
    """What every section is made from.

    Parameters
    ----------
    fit
        A fit.
    table
        Its rows: the given table, or one rebuilt from the fit.
    comparison, claims
        What `compare_embeddings` and `check_random_lists` returned, or None.
    rope, hdi_prob, seed, quick
        As in `write_report`.
    """

    fit: "xr.DataTree"
    table: pd.DataFrame
    comparison: Any
    rope: float | tuple[float, float] | None
    hdi_prob: float
    seed: int
    claims: Any = None
    quick: bool = False

    @property
    def facts(self) -> dict[str, Any]:
        """Where the table comes from, as the fit keeps it."""
        return dict(fit_attribute(self.fit, "table"))

    @property
    def spec(self) -> ModelSpec:
        """The fitted model, with the priors that it was fitted with."""
        return fitted_model(self.fit)

    @property
    def embedding(self) -> str:
        """The name of the embedding, or of the file that the table was read from."""
        facts = self.facts
        return str(facts.get("embedding", {}).get("name") or facts.get("source") or "a table without a source")

    @property
    def nothing_to_compare(self) -> str:
        """Why there is no contrast; empty if there is one."""
        return nothing_to_compare(self.fit["constant_data"].to_dataset()["connection"].to_numpy().tolist())

    @cached_property
    def conclusions(self) -> Conclusions:
        """What `conclusions` returns; only where there is something to compare."""
        return conclusions(self.fit, hdi_prob=self.hdi_prob, rope=self.rope)

    @cached_property
    def own_study(self) -> Study | None:
        """The study, lost words included, unless it is one that travels with the package, whole and unchanged."""
        facts = self.facts
        if not {"study", "embedding"} <= set(facts) or BASELINE not in set(self.table["connection"]):
            return None
        here = table_study(self.table, facts["study"])
        lists: dict[str, dict[str, list[str]]] = {
            "protected": {name: list(words) for name, words in here.protected.items()},
            "attribute": {name: list(words) for name, words in here.attribute_lists.items()},
        }
        for entry in facts.get("lost_words", []):
            lists[entry["role"]].setdefault(entry["list"], []).append(entry["word"])
        asked = {name: tuple(map(tuple, sides)) for name, sides in facts.get("questions", {}).items()}
        if facts["study"] in list_studies():
            known = load_study(facts["study"])
            same = _as_sets(lists["protected"]) == _as_sets(known.protected)
            same &= _as_sets(lists["attribute"]) == _as_sets(known.attribute_lists)
            if same and set(here.associated) == set(known.associated) and asked == known.questions:
                return None
        controls: dict[str, Any] = {name: lists["attribute"].pop(name, "none") for name in CONTROLS}
        return Study(
            name=facts["study"],
            protected=lists["protected"],
            attributes=lists["attribute"],
            associated=here.associated,
            questions=asked,
            **controls,
        )

    def shown(self, kind: str) -> tuple[str, ...]:
        """Return what the posterior shows of a kind, ``"contrast"`` or ``"words"``; nothing without a contrast."""
        if self.nothing_to_compare:
            return ()
        return tuple(found.text for found in self.conclusions.shown if found.kind == kind)

    def too_long(self, fits: int, command: str) -> str:
        """Return why the table is not fitted that many times more for the page; empty if it can be."""
        if self.quick:
            return f"This is a quick page. Run {command}, or bb.write_report(fit, path) for the whole page."
        if (pairs := len(self.table)) * fits <= _MOST_PAIRS_FITTED:
            return ""
        return f"{fits:,} more fits of {pairs:,} pairs would take a page too long. Run {command}."

    @property
    def needs_nuts(self) -> bool:
        """Whether each fit of the model takes a sampler that needs up to a minute."""
        return sampler_for(self.spec) == "nuts"


def _as_sets(lists: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    return {name: set(words) for name, words in lists.items()}


def table_of(fit: "xr.DataTree", table: pd.DataFrame | None) -> pd.DataFrame:
    """Return the rows of a fit: the given table if it is the fitted one, else a table rebuilt from the fit.

    Raises
    ------
    ReportError
        If the given table is not the one that was fitted.
    """
    if table is None:
        return fitted_table(fit)
    table = as_frame(table)
    if model_data(table).table_hash != fit_attribute(fit, "table_hash"):
        raise ReportError(
            "The table is not the one that was fitted: their hashes differ. Give the fitted table, or leave `table` "
            "out and the page takes the rows that the fit keeps."
        )
    return validate_table(table)


def check_comparison(comparison: Any, table: pd.DataFrame) -> None:
    """Raise `ReportError` unless a comparison is None, or one whose first distances are those of `table`."""
    if comparison is None:
        return
    if not isinstance(comparison, EmbeddingComparison):
        raise ReportError(f"comparison: give what bb.compare_embeddings returned, not {type(comparison).__name__}.")
    pair = ["protected_word", "attribute_word"]
    compared = fitted_table(comparison.fits[comparison.baseline]).set_index(pair)["cosine_distance"]
    here = table.drop_duplicates(pair).set_index(pair)["cosine_distance"].reindex(compared.index)
    if not (different := (here != compared)).any():
        return
    protected, attribute = compared.index[int(different.to_numpy().argmax())]
    raise ReportError(
        f"comparison: its first table, {comparison.baseline!r}, is not the one that was fitted; the first pair that "
        f"differs is {protected!r} with {attribute!r}. Give bb.compare_embeddings the fitted table first."
    )
