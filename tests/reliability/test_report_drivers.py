"""The regressions of a report: what enters them, and why something does not."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.reliability import report_drivers
from tests.reliability.made import WORDS, made_seeds

TABLE = pd.DataFrame({"target_word": WORDS, "vectors": "made", "rule": "ripa", "estimate": np.linspace(0, 1, 12)})


def tables(*, rules: int = 1) -> dict[str, pd.DataFrame]:
    by_rule = pd.concat([TABLE.assign(rule=f"rule {number}") for number in range(rules)])
    return {"words_over_seeds": by_rule, "words_over_rules": TABLE.drop(columns="rule").head(0)}


def test_one_seed_has_no_stability_and_so_no_regression() -> None:
    results, reasons = report_drivers.explained(
        tables(), {"made": made_seeds(1)}, counts=None, properties=None, settings={}
    )
    assert (results, len(reasons)) == ({}, 1)
    assert "2 seeds" in reasons[0]


def test_features_and_rules_are_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(report_drivers, "drivers", lambda *given, **options: calls.append((given, options)))
    counts = dict.fromkeys(made_seeds(1)[1].words, 5) | {word: 10 + place for place, word in enumerate(WORDS)}
    properties = pd.DataFrame({"word": WORDS, "senses": [1, *range(1, 12)], "rare": [1.0, 2.0] + [np.nan] * 10})
    results, reasons = report_drivers.explained(
        tables(rules=2), {"made": made_seeds(2)}, counts=counts, properties=properties, settings={"draws": 7}
    )
    assert list(results) == ["over seeds"]
    ((data, factors), options) = calls[0]
    assert factors[0] == "rule"
    assert {"stability", "log_senses"} <= set(factors)
    assert "rare" not in factors
    assert "rare is not a factor: 83 %" in reasons[0]
    assert len(data) == 2 * 12
    assert (options["draws"], options["groupings"]) == (7, [])
    assert options["joint_drops"] == {"frequency": ["log_frequency", "log_frequency_squared"]}
