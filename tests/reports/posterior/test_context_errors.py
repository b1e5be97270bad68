"""The error of contrasts over contexts: on the contrasts and conclusions of a fit."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.contextual.spread import ContextualEmbedding

STUDY = bb.Study(
    name="toy",
    protected={"one": ["a", "b", "c"], "two": ["d", "e", "f"]},
    attributes={"up": ["p", "q", "r", "s"], "down": ["t", "u", "v", "w"]},
    associated=[("one", "up"), ("two", "down")],
    human="none",
    neutral="none",
)


def fitted(size):
    """A fit of random vectors that lean to their lists, with errors over templates of a size."""
    rng = np.random.default_rng(2)
    lean = np.array([1] * 3 + [-1] * 3 + [1] * 4 + [-1] * 4)[:, None] * np.eye(12)[0]
    embedding = ContextualEmbedding(
        words=STUDY.words,
        vectors=lean + 0.2 * rng.standard_normal((14, 12)),
        deviations=(size * rng.standard_normal((14, 20, 12))).astype(np.float32),
        contexts=np.full(14, 20),
        pieces=np.ones(14, dtype=int),
        paired=True,
    )
    return bb.fit(bb.distance_table(embedding, STUDY), random_seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "decides"), [(0.005, False), (0.6, True)])
def test_the_error_over_templates_widens_the_interval_and_is_told(size, decides):
    fit = fitted(size)
    row = bb.contrasts(fit).iloc[0]
    half, wider = (row["hdi_high"] - row["hdi_low"]) / 2, (row["context_high"] - row["context_low"]) / 2
    # Of Normal draws with a Normal error: half widths add in squares.
    assert wider == pytest.approx(np.hypot(half, 1.598 * row["context_sd"]), rel=0.1)
    (statement,) = (item for item in bb.conclusions(fit).shown if item.kind == "contexts")
    assert statement.numbers["context_sd"] == row["context_sd"]
    assert statement.numbers["decides"] == decides
    assert f"{row['context_sd']:.3f}" in statement.text
    assert ("includes 0" in statement.text) == decides


def test_other_fits_have_no_error_over_contexts(fit):
    assert "context_sd" not in bb.contrasts(fit)
    assert all(statement.kind != "contexts" for statement in bb.conclusions(fit).shown)
