"""The section on claims for attribute words drawn at random from the same vectors."""

from bayesbias.delivery.page.blocks import Section
from bayesbias.delivery.page.sections import embedded
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
    headlines = [str(claims.summary[1]), *(f"Beware: {statement}" for statement in claims.problems)]
    return embedded(claims, "random-lists", _TITLE, headlines)
