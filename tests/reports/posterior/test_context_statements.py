"""What single templates do to a contrast: against tables that are built without them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base.statements import rows_of
from bayesbias.embeddings.language_models.prompts import Prompt
from bayesbias.errors import TableError
from bayesbias.estimates.intervals import is_settled
from bayesbias.reports.posterior.context_statements import _without_each

SHIFTS = {"Yesterday": 1.6, "As a": 0.2, "left": 0.1, "says": 0.5, "Every": 0.4, "thought": 0.35, "said": 0.3}
"""A text before ATTRIBUTE -> the association in such a template, in nats."""
TEMPLATES = [
    "The PROTECTED said that ATTRIBUTE was tired.",
    "As a PROTECTED, ATTRIBUTE worked in the city.",
    "The PROTECTED left because ATTRIBUTE was late.",
    "Yesterday the PROTECTED said that ATTRIBUTE was glad.",
    "The PROTECTED says that ATTRIBUTE is glad.",
    "Every PROTECTED knew that ATTRIBUTE was late.",
    "The PROTECTED thought that ATTRIBUTE was tired.",
]
STUDY = bb.Study(
    name="occupations",
    protected={"male": ["engineer", "plumber", "pilot"], "female": ["nurse", "nanny", "maid"]},
    attributes={"he": ["he", "man", "boy"], "she": ["she", "woman", "girl"]},
    associated=[("male", "he"), ("female", "she")],
    human="none",
    neutral="none",
)
NOISE = np.random.default_rng(4).normal(0, 0.25, (6, 6))


PROTECTED, ATTRIBUTES = (
    [word for words in lists.values() for word in words] for lists in (STUDY.protected, STUDY.attributes)
)


def model(prompts: list[Prompt]) -> list[list[float]]:
    """Associated words are likelier by the association of the template; each pair has a part of its own."""
    answers = []
    for prompt in prompts:
        (row,) = [row for row, word in enumerate(PROTECTED) if word in prompt.before]
        shift = next(shift for text, shift in SHIFTS.items() if text in prompt.before)
        places = [ATTRIBUTES.index(word) for word in prompt.words]
        answers.append([NOISE[row, place] - 4 + shift * ((row < 3) == (place < 3)) for place in places])
    return answers


def fitted(templates: list[str]) -> Any:
    table = bb.surprisal_table(model, STUDY, templates, name="words", progress=False)
    return bb.fit(table, random_seed=1, progress=False)


def of_templates(fit: Any) -> Any:
    return next(statement for statement in bb.conclusions(fit).shown if statement.kind == "templates")


def test_contrasts_of_single_templates_are_those_of_their_tables() -> None:
    table = bb.surprisal_table(model, STUDY, TEMPLATES, name="words", progress=False)
    (entry,) = table.attrs["bayesbias"]["template_contrasts"]
    assert entry["contrast"] == "associated - different"
    long = bb.surprisal_table(model, STUDY, TEMPLATES, by_template=True, progress=False)
    for template, value in zip(TEMPLATES, entry["values"], strict=True):
        rows = long[long["template"] == template]
        contrasts = rows.groupby(["protected_group", "connection"], observed=True)["surprisal"].mean().unstack()
        assert value == pytest.approx((contrasts["associated"] - contrasts["different"]).mean(), abs=1e-9)


def test_what_is_said_of_a_table_without_a_template_is_what_that_table_says() -> None:
    fit = fitted(TEMPLATES)
    whole, statement = rows_of(bb.contrasts(fit))[0], of_templates(fit)
    assert f"({TEMPLATES[3]!r}) to" in statement.text, "the strongest association is below the others"
    without = _without_each(whole, np.array(list(statement.numbers["values"].values())))
    for place, (mean, low, high) in enumerate(zip(*without, strict=True)):
        rest = rows_of(bb.contrasts(fitted([*TEMPLATES[:place], *TEMPLATES[place + 1 :]])))[0]
        width = rest["context_high"] - rest["context_low"]
        assert mean == pytest.approx(rest["mean"], abs=0.02)
        assert low == pytest.approx(rest["context_low"], abs=0.2 * width)
        assert high == pytest.approx(rest["context_high"], abs=0.2 * width)
        decides = is_settled(low, high) != is_settled(whole["context_low"], whole["context_high"])
        assert (TEMPLATES[place] in statement.numbers["decide"]) == decides


def test_few_templates_have_nothing_to_say_of_one() -> None:
    kinds = [statement.kind for statement in bb.conclusions(fitted(TEMPLATES[:4])).shown]
    assert "contexts" in kinds
    assert "templates" not in kinds


@pytest.mark.parametrize("values", [[1.0], [1.0, "x", 0.0, 0.0], "no list", None])
def test_a_table_with_other_contrasts_of_templates_is_refused(values: Any) -> None:
    table = bb.surprisal_table(model, STUDY, TEMPLATES, name="words", progress=False)
    facts = table.attrs["bayesbias"] | {
        "template_contrasts": [{"contrast": "associated - different", "values": values}]
    }
    changed = pd.DataFrame(table)
    changed.attrs["bayesbias"] = facts
    with pytest.raises(TableError, match="template_contrasts must be sections"):
        bb.fit(changed, random_seed=1, progress=False)
