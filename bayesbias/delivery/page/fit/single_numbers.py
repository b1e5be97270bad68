"""The section on single-number measures of the same distances."""

from collections.abc import Iterator

import pandas as pd

from bayesbias.base.number_text import interval_text, p_text, p_value_text, signed_text
from bayesbias.base.results import ResultTable
from bayesbias.base.statements import rows_of
from bayesbias.delivery.page.blocks import Block, Heading, Paragraph, Section, fact_table
from bayesbias.delivery.page.sections import table_block
from bayesbias.errors import MeasureError, StudyError
from bayesbias.estimates.intervals import settled
from bayesbias.metrics.associations.weat import associations, weat_statistics
from bayesbias.metrics.look_up import four_lists
from bayesbias.metrics.significance.permutation_test import p_value
from bayesbias.metrics.significance.t_tests import mac_t_tests, t_tests
from bayesbias.metrics.similarities import Similarities, table_study
from bayesbias.reports.fit_report import FitReport
from bayesbias.reports.measures.false_positive_rates import LEVEL
from bayesbias.reports.posterior.contrasts import contrasts


def single_numbers_section(page: FitReport) -> Section:
    """Return the section on single-number measures, where they are defined."""
    blocks: list[Block] = [
        Paragraph(
            "Measures from the literature that summarise the same distances in one number. Their p-values ask whether "
            "these particular words differ by more than chance. They treat words or pairs as independent. WEAT and MAC "
            "ignore control words, which may show the same: the t-tests have rows for them."
        )
    ]
    blocks += [Heading("WEAT"), *_weat(page), Heading("MAC and t-tests"), *_t_tests(page)]
    return Section("single-numbers", "What single numbers say", blocks)


def _weat(page: FitReport) -> Iterator[Block]:
    groups = page.table["protected_group"].nunique()
    if groups != 2:
        yield Paragraph(f"WEAT is not shown: it compares two groups of protected words, and there are {groups}.")
        return
    try:
        lists = four_lists(table_study(page.table))
        similarities = Similarities.of_table(page.table, lists)
        sizes = [weat_statistics(similarities, statistic="mean", ddof=ddof)["effect_size"] for ddof in (1, 0)]
        values = associations(similarities)
        test = p_value(*similarities.by_group(values), random_seed=page.random_seed)
    except (MeasureError, StudyError) as error:
        yield Paragraph(f"WEAT is not shown: {error}")
        return
    (first, second), (near, far) = lists.protected, lists.attributes
    how = f"all {test.partitions:,} partitions" if test.exact else f"{test.partitions:,} partitions drawn at random"
    yield fact_table(
        f"WEAT: {first} and {second} against {near} and {far}; p-value from {how}",
        {
            "Effect size, sd with n - 1": signed_text(float(sizes[0])),
            "Effect size, sd with n": signed_text(float(sizes[1])),
            "One-sided p-value": p_value_text(float(test.p_value)),
        },
        header=("Number", "Value"),
    )
    yield table_block(
        ResultTable(
            pd.DataFrame({"word": similarities.words, "group": similarities.groups, "value": values}),
            "",
            f"WEAT association of each word: mean cosine similarity to {near} minus that to {far}",
            headings={"value": "Association"},
            differences=True,
            folded=True,
        )
    )
    yield from _beside_the_contrast(page, float(test.p_value))


def _beside_the_contrast(page: FitReport, p: float) -> Iterator[Block]:
    """Yield a paragraph on why WEAT and the contrast disagree, if they do."""
    if page.nothing_to_compare or "different" not in set(page.table["connection"].astype(str)):
        return
    row = rows_of(contrasts(page.fit, hdi_prob=page.hdi_prob))[0]
    claimed = settled(row["hdi_low"], row["hdi_high"]) and row["direction"] == "nearer"
    if claimed == (p < LEVEL):
        return
    interval = interval_text(row["hdi_low"], row["hdi_high"])
    if p < LEVEL:
        yield Paragraph(
            f"WEAT finds an association ({p_text(p)}) where the contrast does not settle one ({interval}): "
            "its permutations exchange protected words but hold the attribute words fixed, so they ignore how other "
            "attribute words of the same kind would vary. Random attribute words show how often this misleads."
        )
    else:
        yield Paragraph(
            f"The contrast settles an association ({interval}) where WEAT does not ({p_text(p)}): "
            "WEAT compares the two groups over few words; the contrast uses all words of the fit and models their "
            "correlation."
        )


def _t_tests(page: FitReport) -> Iterator[Block]:
    test = ("difference", "low", "high", "p_value")
    headings = {"low": "95% confidence interval", "mean": "MAC"}
    try:
        frame = mac_t_tests(page.table)
    except MeasureError as error:
        yield Paragraph(f"MAC is not tested: {error}")
    else:
        caption = "MAC against 1, the distance of unrelated words: t-tests of averages and of single pairs"
        yield table_block(ResultTable(frame, "", caption, ("values", "n", "mean", *test), headings))
    try:
        frame = t_tests(page.table)
    except MeasureError as error:
        yield Paragraph(f"Two groups are not tested against each other: {error}")
        return
    first, second = page.table["protected_group"].astype(str).unique()
    caption = f"Mean distance of {first} minus that of {second}, by attribute list: Welch's t-tests"
    columns = ("attribute_group", "values", *test)
    yield table_block(ResultTable(frame, "", caption, columns, headings, differences=True, folded=True))
