"""The section on other embeddings."""

from bayesbias.delivery.page.blocks import Section
from bayesbias.delivery.page.sections import embedded
from bayesbias.reports.fit_report import FitReport

_TITLE = "Comparison with other embeddings"


def embeddings_section(page: FitReport) -> Section:
    """Return the section on the changes from the fitted embedding to others."""
    changes = page.comparison
    if changes is None:
        return Section("embeddings", _TITLE, [])
    headlines = [*map(str, changes.verdicts), *(f"Beware: {doubt}" for doubt in changes.doubts)]
    return embedded(changes, "embeddings", _TITLE, headlines)
