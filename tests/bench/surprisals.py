"""Surprisals of a masked model beside a plain loop: 40 protected words x 300 attribute words x 40 templates."""

import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import bayesbias as bb
from tests.bench import Figure, seconds_of
from tests.bench.contexts import MARKS, SMALL, Case, Size, made_case

PROTECTED, ATTRIBUTES, TEMPLATES, FILLERS = 40, 300, 40, 60
# Random weights, in the size of a small model that was trained on a corpus.
MODEL = Size({**SMALL, "num_hidden_layers": 6}, PROTECTED + ATTRIBUTES + FILLERS, contexts=1, shortest=1, longest=1)
_BATCH = 64


def measure() -> Iterator[Figure]:
    """Yield our processor time, and what it is over that of a plain loop, whose numbers are the same."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        case, rng = made_case(Path(folder), MODEL, "BertForMaskedLM"), np.random.default_rng(1)
        protected, attributes, fillers = np.split(np.array(case.words), [PROTECTED, PROTECTED + ATTRIBUTES])
        study = bb.Study(
            name="made",
            protected={"one": protected[::2].tolist(), "two": protected[1::2].tolist()},
            attributes={"first": attributes[::2].tolist(), "second": attributes[1::2].tolist()},
            associated=[("one", "first"), ("two", "second")],
        )
        templates = [
            " ".join(rng.permutation(["PROTECTED", "ATTRIBUTE", *rng.choice(fillers, rng.integers(4, 9))]))
            for _ in range(TEMPLATES)
        ]
        tables = []

        def ours() -> None:
            tables.append(bb.surprisal_table(case.folder, study, templates, progress=False))

        # Whatever else the machine does enters neither.
        seconds = min(seconds_of(ours, time.process_time) for _ in range(2))
        yield Figure(f"{PROTECTED} x {ATTRIBUTES} surprisals in {TEMPLATES} templates", seconds, 20.0)
        plain = plain_surprisals(case, templates, protected, attributes)
        of_pairs = tables[0].set_index(["protected_word", "attribute_word"])["surprisal"].unstack()
        np.testing.assert_allclose(of_pairs.loc[protected, attributes], plain, atol=1e-4)
        loop = min(
            seconds_of(lambda: plain_surprisals(case, templates, protected, attributes), time.process_time)
            for _ in range(2)
        )
        yield Figure("the same", seconds / loop, 1.25, "times a plain loop")


def plain_surprisals(case: Case, templates: list[str], protected: np.ndarray, attributes: np.ndarray) -> np.ndarray:
    """Return mean surprisals (protected, attributes): the protected words of each template in a batch."""
    import torch

    place_of = {word: len(MARKS) + place for place, word in enumerate(case.words)}
    start, end, mask = (MARKS.index(mark) for mark in ("[CLS]", "[SEP]", "[MASK]"))
    wanted, total = [place_of[word] for word in attributes], np.zeros((len(protected), len(attributes)))
    with torch.inference_mode():
        for template in templates:
            words = template.split()
            rows = [
                [start, *(mask if part == "ATTRIBUTE" else place_of.get(part, place_of[word]) for part in words), end]
                for word in protected
            ]
            for first in range(0, len(rows), _BATCH):
                ids = torch.tensor(rows[first : first + _BATCH], device=case.model.device)
                logits = case.model(input_ids=ids).logits[:, 1 + words.index("ATTRIBUTE")]
                total[first : first + _BATCH] -= torch.log_softmax(logits, dim=-1)[:, wanted].double().cpu().numpy()
    return total / len(templates)
