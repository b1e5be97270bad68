"""The section on claims for attribute words drawn at random from the same vectors."""

from bayesbias.base.statements import digits_text, share_text
from bayesbias.delivery.page.blocks import Block, Bullets, Paragraph, Section, frame_table
from bayesbias.reports.fit_report import FitReport
from bayesbias.reports.robustness.random_list_check import RandomListCheck

_TITLE = "Claims for random words"


def random_lists_section(page: FitReport) -> Section:
    """Return the section on how often methods claim an association for random attribute words."""
    claims: RandomListCheck | None = page.claims
    if claims is None:
        missing = (
            "Not computed, because it needs the vectors: how often the model claims an association for attribute words "
            "drawn at random. Run bb.check_random_lists(embedding, study) and give the result to the page: "
            "bb.report(fit, claims=checked)."
        )
        return Section("random-lists", _TITLE, [Paragraph(missing)])
    about, model, *others = claims.summary
    blocks: list[Block] = [
        Paragraph(str(about)),
        frame_table(
            claims.methods,
            f"Claims of an association in {claims.samples:,} sets of random attribute words",
            {
                "method": ("Method", None),
                "rule": ("Claim", None),
                "nominal": ("Nominal rate", share_text),
                "claims": ("Claims", share_text),
                "claims_se": ("Monte Carlo error", share_text),
                "quantity": ("Number", None),
                "sd": ("Its sd", digits_text),
                "study_value": ("The study's own", digits_text),
                "share_as_extreme": ("Random lists as far from 0", share_text),
            },
        ),
        Bullets(tuple(str(statement) for statement in (model, *others))),
    ]
    return Section(
        "random-lists", _TITLE, blocks, [str(model), *(f"Beware: {statement}" for statement in claims.problems)]
    )
