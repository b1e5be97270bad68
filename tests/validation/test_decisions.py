"""The trial of rules for many questions: what its page says is in its table, and the rule keeps its rate."""

from pathlib import Path

import pandas as pd

from bayesbias.estimates.decisions import DECISION_RATE

FOLDER = Path(__file__).resolve().parents[2] / "validation" / "decisions"


def test_the_rule_keeps_its_rate_and_decides_at_least_as_many_as_others() -> None:
    rows = pd.read_csv(FOLDER / "families.csv")
    decided = rows["decided_wrong"] + rows["decided_right"]
    assert (rows["decided_wrong"] / decided)[decided > 0.5].max() < DECISION_RATE + 0.03
    assert rows["decided_wrong"][decided <= 0.5].max() < 0.1, "of few decisions, hardly any is wrong"
    assert (rows["decided_right"] >= rows[["hochberg_right", "bonferroni_right"]].max(axis=1)).all()
    stated = (rows["stated"] - rows["wrong"]) / rows["settled"]
    assert stated.min() > -0.55
    assert (rows["within"][rows["kind"] != "words"] > 0.9).all()


def test_the_page_has_the_numbers_of_the_table() -> None:
    page, rows = (FOLDER / "README.md").read_text(encoding="utf-8"), pd.read_csv(FOLDER / "families.csv")
    for row in rows.to_dict("records"):
        numbers = [row["settled"], row["wrong"], row["stated"], row["decided_right"], row["decided_wrong"]]
        numbers += [row["hochberg_right"], row["hochberg_wrong"], row["bonferroni_right"], row["bonferroni_wrong"]]
        line = f"| {row['kind']} | {row['size']} | {' | '.join(f'{number:.2f}' for number in numbers)} |"
        assert line in page, line
