"""A frozen plan as answers to the fields of the OSF preregistration."""

import bayesbias as bb
from tests.audits.test_freezing import ASSUMED
from tests.reports.plans.test_frozen_plan import pets

# The sections and fields of the OSF preregistration, in its order (osf.io/preprints/metaarxiv/epgjd).
FIELDS = """
Title, Authors, Description, Hypotheses, Study type, Blinding, Study design, Randomization, Existing data,
Explanation of existing data, Data collection procedures, Sample size, Sample size rationale, Stopping rule,
Manipulated variables, Measured variables, Indices, Statistical models, Transformations, Inference criteria,
Data exclusion, Missing data, Exploratory analysis, Other
"""


def fields_of(text: str) -> dict[str, str]:
    parts = [part.partition("\n") for part in text.split("\n### ")[1:]]
    return {name: answer.partition("\n## ")[0].strip() for name, _, answer in parts}


def test_every_field_is_answered_or_open() -> None:
    answers = fields_of(bb.reports.registration_text(bb.audits.freeze_plan(pets())))
    assert list(answers) == [name.strip() for name in FIELDS.split(",")]
    assert all(answers.values())


def test_the_answers_are_those_of_the_plan() -> None:
    power = {"pilot": ASSUMED, "true_contrast": -0.05, "samples": 2, "random_seed": 1, "progress": False}
    study = pets(attributes={"quiet": ["purr", "nap"], "loud": ["bark", "growl"]})
    plan = bb.audits.freeze_plan(study, rope=0.02, model="crossed", **power)  # type: ignore[arg-type]
    answers = fields_of(bb.reports.registration_text(plan))
    assert "cats: cat, tom." in answers["Study design"]
    assert "at least 1 protected word in each of 2 groups" in answers["Sample size"]
    assert "simulated from assumed parameters" in answers["Sample size rationale"]
    assert "sigma \\~ Exponential(rate=2)" in answers["Statistical models"]
    assert "-0.02 to 0.02 in units of cosine distance" in answers["Inference criteria"]
    assert plan.record.questions["", "pets", "crossed"].study_hash in answers["Other"]
    assert "neither its date nor its checksum proves" in answers["Other"]


def test_what_is_measured_has_the_unit_of_the_region() -> None:
    plans = {unit: bb.audits.freeze_plan(pets(), rope={unit: 0.1}) for unit in ("cosine distance", "nats")}
    measured = {
        unit: fields_of(bb.reports.registration_text(plan))["Measured variables"] for unit, plan in plans.items()
    }
    assert measured["cosine distance"].startswith("The cosine distance of each protected word")
    assert measured["nats"].startswith("A number in nats of each protected word")


def test_no_word_is_markup() -> None:
    assert "\\*cat\\*" in bb.reports.registration_text(bb.audits.freeze_plan(pets(neutral=["*cat*"])))
