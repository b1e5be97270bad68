"""Outcomes of a gate in the forms of other tools: JUnit XML for continuous integration, Markdown for model cards."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from bayesbias.base.escapes import visible
from bayesbias.base.number_text import interval_text, percent_text, signed_text
from bayesbias.base.statements import markdown_text

_ELEMENTS = {"fail": "failure", "undecided": "skipped", "unanswered": "error"}


def junit_xml(questions: Sequence[Mapping[str, Any]], not_asked: Sequence[str] = ()) -> str:
    """Return JUnit XML with a test case for each question, and a skipped one for each text of `not_asked`.

    >>> print(junit_xml([{"embedding": "A & B", "study": "weat7", "model": "m", "random_seed": 1, "outcome": "fail",
    ...     "reason": "beyond."}]))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites>
      <testsuite name="bayesbias gate" tests="1" failures="1" errors="0" skipped="0">
        <testcase classname="A &amp; B" name="weat7 (model m, seed 1)">
          <failure message="beyond." />
        </testcase>
      </testsuite>
    </testsuites>
    <BLANKLINE>
    """
    outcomes = [row["outcome"] for row in questions]
    counts = {"failures": "fail", "errors": "unanswered", "skipped": "undecided"}
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        suites, "testsuite", name="bayesbias gate", tests=str(len(outcomes) + len(not_asked))
    )
    for attribute, outcome in counts.items():
        suite.set(attribute, str(outcomes.count(outcome) + (len(not_asked) if attribute == "skipped" else 0)))
    for row in questions:
        name = f"{row['study']} (model {row['model']}, seed {row['random_seed']})"
        case = ElementTree.SubElement(suite, "testcase", classname=visible(row["embedding"]), name=visible(name))
        if element := _ELEMENTS.get(row["outcome"]):
            ElementTree.SubElement(case, element, message=visible(row["reason"]))
    for text in not_asked:
        case = ElementTree.SubElement(suite, "testcase", classname="not asked", name=visible(text))
        ElementTree.SubElement(case, "skipped", message=visible(text))
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def model_card(
    questions: Sequence[Mapping[str, Any]], rope: tuple[float, float], hdi_prob: float, limits: Sequence[str]
) -> str:
    """Return the section "Bias, Risks, and Limitations" of a model card (Mitchell et al. 2019), in Markdown."""
    lines = [
        "## Bias, Risks, and Limitations",
        "",
        "Associations of word lists, as differences of cosine distance (negative: associated words are nearer), with "
        f"{percent_text(hdi_prob)} highest posterior density intervals. Contrasts inside {interval_text(*rope)} count "
        "as too small to matter.",
        "",
        "| Embedding | Question | Estimate | Interval | Outcome |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for row in questions:
        numbers = ["", ""]
        if row["outcome"] != "unanswered":
            numbers = [signed_text(row["estimate"]), interval_text(row["hdi_low"], row["hdi_high"])]
        cells = [
            markdown_text(row["embedding"]),
            markdown_text(row["study"]),
            *numbers,
            f"{row['outcome']}: {markdown_text(row['reason'])}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"- {markdown_text(text)}" for text in limits), ""])
