"""Long work that is interrupted keeps the part that was done."""

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import StoppedWarning
from bayesbias.reports.robustness import random_list_check, sensitivity, study_size


class Interrupted:
    """A function that is interrupted at its last call, as by Ctrl-C."""

    def __init__(self, function: object, calls: int) -> None:
        """Keep the function and the number of calls that it answers."""
        self.function, self.calls = function, calls

    def __call__(self, *args: object, **settings: object) -> object:
        """Return what the function returns, until it is interrupted."""
        if not self.calls:
            raise KeyboardInterrupt
        self.calls -= 1
        return self.function(*args, **settings)  # type: ignore[operator]


SIZES = {"width": 0.03, "sizes": [(3, 3), (4, 4), (5, 5)], "samples": 2, "random_seed": 1, "progress": False}
ASSUMED = {"connection_mean": {"associated": 0.9, "different": 0.95}, "word_sd": 0.03, "sigma": 0.06}


def test_sensitivity_returns_the_refits_that_were_done(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"leave_out": "protected_word", "draws": 100, "random_seed": 1, "progress": False}
    whole = bb.sensitivity(table, "hierarchical", **settings)
    monkeypatch.setattr(sensitivity, "_obstacles", Interrupted(sensitivity._obstacles, 3))
    with pytest.warns(StoppedWarning, match=r"Interrupted after 3 of 17 refits"):
        part = bb.sensitivity(table, "hierarchical", **settings)
    assert part.stopped
    assert not whole.stopped
    assert part.refits == part.shifts["left_out"].nunique() == 3
    merged = part.shifts.merge(whole.shifts, on=["left_out", "contrast"], suffixes=("", "_whole"))
    assert merged["shift"].tolist() == merged["shift_whole"].tolist()
    assert "Interrupted" in part.statements[0].text


def test_required_words_returns_the_sizes_that_were_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_size, "_simulate", Interrupted(study_size._simulate, 4))
    with pytest.warns(StoppedWarning, match="2 of 3 sizes"):
        sizes = bb.required_words(ASSUMED, **SIZES)
    assert sizes.frame["protected_words"].tolist() == [3, 4]
    assert "Interrupted" in str(sizes)


def test_an_interrupt_before_anything_is_done_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_size, "_simulate", Interrupted(study_size._simulate, 1))
    with pytest.raises(KeyboardInterrupt):
        bb.required_words(ASSUMED, **SIZES)


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.parametrize("done", [6, 14])
def test_random_lists_are_those_that_were_done(done: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    quick = Interrupted(random_list_check.quick_contrasts, done + 1)  # the study's own table is the first
    monkeypatch.setattr(random_list_check, "quick_contrasts", quick)
    settings = {"model": "hierarchical", "samples": 20, "random_seed": 1, "progress": False}
    if done < 10:
        with pytest.raises(KeyboardInterrupt):
            bb.check_random_lists(vectors, "weat7", **settings)
        return
    with pytest.warns(StoppedWarning, match="14 of 20 random lists"):
        check = bb.check_random_lists(vectors, "weat7", **settings)
    assert check.samples == 14
    assert set(check.methods["samples"]) == {14}
    assert "Interrupted" in str(check)
