"""Make golden_pingouin.json: 50 words' scores and the coefficients that pingouin finds for them.

python3 -m venv /tmp/golden && /tmp/golden/bin/pip install pingouin==0.7.0
/tmp/golden/bin/python tests/reliability/make_golden.py
"""

import json
import platform
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

WORDS, PAIRS, SEEDS = 50, 23, 8


def made_scores() -> np.ndarray:
    """Return scores in thousandths: words from hardly to very reliable, with effects of pairs and of seeds."""
    rng = np.random.default_rng(2021)
    scores = (
        rng.normal(size=(WORDS, 1, 1)) * 100
        + rng.normal(size=(WORDS, PAIRS, 1)) * np.linspace(0, 200, WORDS)[:, None, None]
        + rng.normal(size=(WORDS, 1, SEEDS)) * np.linspace(30, 0, WORDS)[:, None, None]
        + rng.standard_t(4, size=(WORDS, PAIRS, SEEDS)) * 60
    )
    return np.round(scores).astype(int)


def coefficients(scores: np.ndarray) -> dict[str, float]:
    """Return ICC(2,1), ICC(3,1) and alpha of one word, rows as targets (subjects) and columns as raters (items)."""
    import pingouin  # not of the project's environment

    wide = pd.DataFrame(scores / 1000)
    long = wide.rename_axis("row").reset_index().melt("row", var_name="column", value_name="score")
    by_type = pingouin.intraclass_corr(long, targets="row", raters="column", ratings="score").set_index("Type")["ICC"]
    names = ("ICC2", "ICC3") if "ICC2" in by_type.index else ("ICC(A,1)", "ICC(C,1)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alpha = pingouin.cronbach_alpha(data=wide)[0]
    return {"icc_2_1": float(by_type[names[0]]), "icc_3_1": float(by_type[names[1]]), "cronbach_alpha": float(alpha)}


def main() -> None:
    """Write the file beside this one."""
    scores = made_scores()
    rows = [coefficients(word) for word in scores]
    content = {
        "made_by": "python tests/reliability/make_golden.py",
        "pingouin": version("pingouin"),
        "python": platform.python_version(),
        "unit": 0.001,
        "scores": scores.tolist(),
        **{name: [row[name] for row in rows] for name in rows[0]},
    }
    Path(__file__).with_name("golden_pingouin.json").write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
