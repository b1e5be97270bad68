"""Doubts about equalized words: one for each role that has any."""

from bayesbias.reports.embeddings.equalized_doubts import equalized_doubts


def test_each_role_with_equalized_words_has_a_doubt() -> None:
    doubts = list(equalized_doubts(["he", "she"], ["king", "queen"], place="After hard,", baseline="the original"))
    assert [doubt.kind for doubt in doubts] == ["equalized words", "equalized attribute words"]
    assert doubts[0].text.startswith("After hard, 2 protected words (he, she) are exactly as near")
    assert "2 attribute words (king, queen)" in doubts[1].text
    assert "unlike in the original" in doubts[1].text
    assert [doubt.numbers["words"] for doubt in doubts] == [("he", "she"), ("king", "queen")]
    assert list(equalized_doubts([], [], place="", baseline="")) == []
