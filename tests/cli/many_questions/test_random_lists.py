"""Claims for random lists on the command line."""

import json

import pytest

import bayesbias as bb
from tests.cli.running import in_process


def test_claims_for_random_lists_are_printed_as_text_and_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    command = ["random-lists", vectors, "--study", "weat7", "--model", "hierarchical", "--samples", "10", "--seed", "1"]
    monkeypatch.setattr("warnings.warn", lambda *_, **__: None)  # of words that the vectors lack
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    printed_text = capsys.readouterr().out
    assert "16 attribute words of the study 'weat7'" in printed_text
    assert "order of the embedding" in printed_text  # by default, drawn words match by rank
    assert in_process(*command, "--match", "none", "--json", monkeypatch=monkeypatch) == 0
    printed = json.loads(capsys.readouterr().out)
    settings = {"model": "hierarchical", "samples": 10, "match": None, "random_seed": 1, "progress": False}
    expected = bb.check_random_lists(bb.load_embedding(vectors), "weat7", **settings)
    assert printed == json.loads(json.dumps(expected.to_dict()))
    assert [row["method"] for row in printed["tables"]["methods"]][:2] == ["hierarchical", "weat"]
