"""The page of an audit: it holds what was found, and no word of a user is markup."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.delivery.page.audit import write_audit_pages
from bayesbias.errors import OutputError
from bayesbias.reports.audits.answers import answers
from tests.delivery.page.pages import Reader
from tests.reports.audits.test_ranks import audit_of

KEYS = [(name, "s", "contrast") for name in ("<b>first</b>", "second")]


def test_the_page_holds_what_was_found(tmp_path: Path) -> None:
    frame = audit_of({key: -0.1 * at for at, key in enumerate(KEYS, 1)}, {key: np.full(20, -0.1) for key in KEYS})
    frame[["conclusion", "quantity"]] = ["nearer", "associated - different"]
    frame[["hdi_low", "hdi_high", "ess_bulk"]] = [-0.25, -0.02, 100.0]
    path = bb.write_audit_page(frame, tmp_path / "audit.html")
    page = path.read_text(encoding="utf-8")
    assert "Of 2 contrasts of associated with other attribute words: 2 nearer (s)." in page
    assert "-0.250 to -0.020" in page
    assert "&lt;b&gt;first&lt;/b&gt;" in page
    assert "<b>first" not in page
    assert "Ranks of the embeddings" in page
    with pytest.raises(OutputError, match="exists"):
        bb.write_audit_page(frame, path)
    with pytest.raises(OutputError, match=r"\.html file"):
        bb.write_audit_page(frame, tmp_path / "audit.txt")


def test_each_question_has_a_page_to_which_the_audit_links(tmp_path: Path) -> None:
    vectors = {"Wiki <i>": bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")}
    words = bb.load_study("weat7")
    few = {
        "associated": words.associated,
        "protected": {name: listed[:3] for name, listed in words.protected.items()},
        "attributes": {name: listed[:3] for name, listed in words.attributes.items()},
        "human": "none",
        "neutral": ["stone", "door", "river"],
    }
    studies = [bb.Study(name=name, description=f"Is {name}?", **few) for name in ("first", "second")]
    settings = {"model": "hierarchical", "draws": 200, "keep_fits": True, "random_seed": 1, "progress": False}
    found = bb.audit(vectors, studies, ["contrast", "weat"], **settings)
    write_audit_pages(found, tmp_path, progress=False)
    assert {path.name for path in tmp_path.iterdir()} == {"audit.html", "question_1.html", "question_2.html"}
    page = Reader((tmp_path / "audit.html").read_text(encoding="utf-8"))
    links = [link["href"] for link in page.all("a") if not str(link["href"]).startswith("#")]
    assert sorted(map(str, links)) == ["question_1.html", "question_2.html"]
    shown = " ".join(page.texts)
    for said in answers(found):
        assert str(said) in shown
    for number, study in enumerate(("first", "second"), start=1):
        one = Reader((tmp_path / f"question_{number}.html").read_text(encoding="utf-8"))
        texts = " ".join(one.texts)
        assert f"{study} in Wiki <i>" in texts
        assert texts.count("This is a quick page.") == 3  # other models, refits, priors
        mean = found.query(f"study == '{study}' and measure == 'contrast' and protected_group == ''")["estimate"]
        assert f"{mean.item():+.3f}" in texts
