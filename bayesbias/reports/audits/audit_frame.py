"""What an audit gives: a frame, and beside it what its ranks and its page rest on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.arguments import check_type
from bayesbias.errors import ReportError
from bayesbias.metrics.registry import MEASURES
from bayesbias.statements import Described, Facts

if TYPE_CHECKING:
    import xarray as xr

CONTRAST = "contrast"
"""The model's own answer among the measures: how much nearer associated words are than the others."""
TEXTS = ("embedding", "study", "measure", "quantity", "protected_group", "conclusion")
BESIDE = ("hdi_low", "hdi_high", "ess_bulk", "ess_tail", "r_hat")
NUMBERS = ("observed", "estimate", "p_value", "p_value_mcse", *BESIDE)
COLUMNS = (
    *("embedding", "study", "measure", "quantity", "protected_group", "observed", "estimate", "hdi_low", "hdi_high"),
    *("conclusion", "p_value", "p_value_mcse", "ess_bulk", "ess_tail", "r_hat", "lost_words"),
)


@dataclass(frozen=True, eq=False, repr=False)
class AuditRecord(Described):
    """What an audit keeps beside its frame.

    Parameters
    ----------
    draws
        (embedding, study, measure) -> posterior draws of the estimate, shape (draws,), of all protected words.
    lost_words
        (embedding, study) -> the words of the study's groups that the embedding lacks.
    left_out
        (embedding, study, measure) -> why the measure has no answer there.
    seeds
        (embedding, study) -> the seed of the fit.
    hdi_prob, model
        Settings; `model` is empty if no model was fitted.
    settings
        All that was asked, by name, as texts.
    questions
        study -> its question in words; empty where the study has none.
    fits, tables
        (embedding, study) -> the fit and its distance table, if `audit` was told to keep the fits.
    """

    draws: Mapping[tuple[str, str, str], np.ndarray] = field(repr=False)
    lost_words: Mapping[tuple[str, str], tuple[str, ...]] = field(repr=False)
    left_out: Mapping[tuple[str, str, str], str]
    seeds: Mapping[tuple[str, str], int] = field(repr=False)
    hdi_prob: float
    model: str
    settings: Mapping[str, str] = field(repr=False, default_factory=dict)
    questions: Mapping[str, str] = field(repr=False, default_factory=dict)
    fits: "Mapping[tuple[str, str], xr.DataTree]" = field(repr=False, default_factory=dict)
    tables: Mapping[tuple[str, str], pd.DataFrame] = field(repr=False, default_factory=dict)

    @property
    def _facts(self) -> Facts:
        return {
            "embeddings": list(dict.fromkeys(embedding for embedding, _ in self.lost_words)),
            "studies": list(dict.fromkeys(study for _, study in self.lost_words)),
            "model": self.model,
            "hdi_prob": self.hdi_prob,
            "left_out": {", ".join(key): why for key, why in self.left_out.items()},
            "lost_words": {", ".join(key): words for key, words in self.lost_words.items() if words},
        }


class AuditFrame(pd.DataFrame):
    """A pandas frame that keeps the record of its audit while rows are chosen, sorted or copied.

    Parameters
    ----------
    record : AuditRecord
        An attribute; None once frames are joined or read from a file.
    """

    _metadata = ["record"]  # noqa: RUF012 - as pandas asks for it
    record: AuditRecord | None

    @property
    def _constructor(self) -> Callable[..., "AuditFrame"]:
        return AuditFrame


def audit_rows(audit: Any) -> tuple[pd.DataFrame, AuditRecord]:
    """Return the rows of an audit as a plain frame, and its record.

    Raises
    ------
    ReportError
        If it is none, has lost its record, or was changed, so that its numbers are no longer those of its draws.
    """
    check_type("audit", audit, pd.DataFrame, "what bb.audit returned")
    record = getattr(audit, "record", None)
    if not isinstance(record, AuditRecord) or not set(COLUMNS) <= set(audit.columns):
        raise ReportError("audit: give what bb.audit returned; a frame that was joined or read keeps no draws.")
    rows = pd.DataFrame(
        {name: audit[name].astype(object).map(str) for name in TEXTS}
        | {name: pd.to_numeric(audit[name], errors="coerce").astype(float) for name in NUMBERS}
        | {"lost_words": audit["lost_words"]}
    )[list(COLUMNS)].reset_index(drop=True)
    if rows.empty:
        raise ReportError("audit: no rows are left. Choose fewer away.")
    changed = "audit: its rows were changed after they were computed"
    again = "Give rows as bb.audit returned them."
    if rows.duplicated(["embedding", "study", "measure", "protected_group"]).any():
        raise ReportError(f"{changed}: some stand twice. {again}")
    for row in rows[rows["protected_group"] == ""].to_dict("records"):
        key = row["embedding"], row["study"], row["measure"]
        known = key[:2] in record.lost_words and (key[2] in MEASURES or key[2] == CONTRAST)
        draws = record.draws.get(key)
        same = np.isnan(row["hdi_low"]) if draws is None else np.isclose(draws.mean(), row["estimate"], rtol=1e-6)
        if not known or not np.isfinite(row["estimate"]) or not same:
            raise ReportError(f"{changed}: {', '.join(key)}. {again}")
    return rows, record
