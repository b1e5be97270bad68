"""Notes of a gate on harmless changes: seeds of one training, where nothing but chance differs."""

from itertools import permutations
from pathlib import Path

import pytest

import bayesbias as bb

STUDIES = ("gender", "race", "religion", "weat1", "weat2", "weat7", "weat8", "weat9")


def notes_between(seeds: tuple[int, ...], folder: Path) -> list[str]:
    """Return the notes of the gates of all pairs of seeds, with the studies that the bundled vectors can answer."""
    audits, baselines = {}, {}
    for seed in seeds:
        vectors = bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz")
        settings = {"random_seed": 1, "progress": False, "max_lost": 0.6}
        audits[seed] = bb.audit({"W": vectors}, STUDIES, ["contrast"], **settings)
        baselines[seed] = bb.write(bb.gate(audits[seed], rope=0.2), folder / f"{seed}.json")
    gates = {pair: bb.gate(audits[pair[1]], rope=0.2, baseline=baselines[pair[0]]) for pair in permutations(seeds, 2)}
    assert {result.outcome for result in gates.values()} == {"pass"}
    return [f"{pair}: {note}" for pair, result in gates.items() for note in result.notes]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_another_seed_of_the_same_training_has_no_note(tmp_path: Path) -> None:
    assert notes_between((1, 2, 5), tmp_path) == []
