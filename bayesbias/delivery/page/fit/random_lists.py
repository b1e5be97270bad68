"""What the model and the tests would claim for attribute words drawn at random from the same vectors."""

from bayesbias.base.statements import digits_text, share_text
from bayesbias.delivery.page.blocks import Block, Bullets, Paragraph, Section, frame_table
from bayesbias.delivery.page.page_input import PageInput
from bayesbias.reports.robustness.random_list_check import RandomListCheck

_TITLE = "Where nothing is associated"


def claims_for_random_words(page: PageInput) -> Section:
    """Show how often methods claim an association for random attribute words, and how large such gaps are."""
    claims: RandomListCheck | None = page.claims
    if claims is None:
        missing = (
            "How often the model would claim an association for attribute words drawn at random was not asked: that "
            "needs the vectors. Run bb.check_random_lists(embedding, study), and give the result to the page: "
            "bb.write_report(fit, path, claims=checked)."
        )
        return Section("random-lists", _TITLE, [Paragraph(missing)])
    about, model, *rest = claims.summary
    blocks: list[Block] = [
        Paragraph(str(about)),
        frame_table(
            claims.methods,
            f"Claims of an association in {claims.samples:,} sets of random attribute words",
            {
                "method": ("Method", None),
                "rule": ("Claim", None),
                "nominal": ("Promised", share_text),
                "claims": ("Claims", share_text),
                "claims_se": ("Monte Carlo error", share_text),
                "quantity": ("Number", None),
                "sd": ("Its sd", digits_text),
                "own": ("The study's own", digits_text),
                "beyond": ("Random lists as far from 0", share_text),
            },
        ),
        Bullets(tuple(str(said) for said in (model, *rest))),
    ]
    return Section("random-lists", _TITLE, blocks, [str(model), *(f"Beware: {said}" for said in claims.problems)])
