"""JUnit XML and Markdown of outcomes with hostile names, read back by their own parsers."""

from xml.etree import ElementTree

from bayesbias.reports.audits.gate_files import junit_xml, model_card

HOSTILE = "<b>&\"'\x00\x1b[31m\ud800|`x`\n# y"
ROW = {"embedding": HOSTILE, "study": HOSTILE, "model": "m", "random_seed": 1, "outcome": "fail", "reason": HOSTILE}


def test_xml_is_read_back() -> None:
    case = ElementTree.fromstring(junit_xml([ROW]).encode())[0][0]
    shown = HOSTILE.replace("\x00", r"\x00").replace("\x1b", r"\x1b").replace("\ud800", r"\ud800")
    assert case.get("classname") == case[0].get("message") == shown
    assert str(case.get("name")).startswith(shown)


def test_a_row_of_markdown_stays_a_row() -> None:
    numbers = {"estimate": -0.05, "hdi_low": -0.06, "hdi_high": -0.04}
    lines = model_card([ROW | numbers], (-0.02, 0.02), 0.89, ["one"]).splitlines()
    row = lines[6]
    assert row.count("|") - row.count("\\|") == 6
    assert "<b>" not in row
    assert "-0.060 to -0.040" in row
    assert lines[-1] == "- one"
