"""The page of an audit: it holds what was found, and no word of a user is markup."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import OutputError
from tests.reports.audits.test_ranks import audit_of

KEYS = [(name, "s", "contrast") for name in ("<b>first</b>", "second")]


def test_the_page_holds_what_was_found(tmp_path: Path) -> None:
    frame = audit_of({key: -0.1 * at for at, key in enumerate(KEYS, 1)}, {key: np.full(20, -0.1) for key in KEYS})
    frame[["conclusion", "quantity"]] = ["nearer", "associated - different"]
    frame[["hdi_low", "hdi_high", "ess_bulk"]] = [-0.25, -0.02, 100.0]
    path = bb.write_audit_page(frame, tmp_path / "audit.html")
    page = path.read_text(encoding="utf-8")
    assert "Of 2 contrasts of associated with other attribute words: 2 nearer." in page
    assert "-0.250 to -0.020" in page
    assert "&lt;b&gt;first&lt;/b&gt;" in page
    assert "<b>first" not in page
    assert "Ranks of the embeddings" in page
    with pytest.raises(OutputError, match="exists"):
        bb.write_audit_page(frame, path)
    with pytest.raises(OutputError, match=r"\.html file"):
        bb.write_audit_page(frame, tmp_path / "audit.txt")
