"""The section on claims for attribute words drawn at random from the same vectors."""

from bayesbias.base.number_text import digits_text, share_text
from bayesbias.delivery.page.blocks import Block, Bullets, Paragraph, Section, frame_table
from bayesbias.reports.fit_report import FitReport
from bayesbias.reports.robustness.random_list_check import RandomListCheck

_TITLE = "Is it only frequency? Claims for random words"


def random_lists_section(page: FitReport) -> Section:
    """Return the section on how often methods claim an association for random attribute words."""
    claims: RandomListCheck | None = page.claims
    if claims is None:
        study = page.facts.get("study", "STUDY")
        ask = (
            "Is it only frequency? To see what random words of about the same frequency show, run bayesbias "
            f"random-lists VECTORS --study {study}, or give bb.report(fit, claims=bb.check_random_lists(...))."
        )
        return Section("random-lists", _TITLE, [], [ask])
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
