"""Fill README.md from the tables and `README.template.md`: python validation/reliability/reliability_text.py."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from bayesbias.reliability.mean_squares import is_doubted

FOLDER = Path(__file__).resolve().parent
STUDY = FOLDER.parent / "study_over_seeds" / "scores.npz"
LEAST_COVERED = {"algorithm": "skipgram", "rule": "nbm", "base_pair": "his ~ hers"}
NEAR_1 = 0.03
NAMES = {"icc_2_1": "ICC(2,1)", "icc_3_1": "ICC(3,1)", "cronbach_alpha": "alpha"}


def markdown(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    heads = list(headings)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def ends(values: pd.Series) -> str:
    """Return the lowest and highest of some shares or ratios."""
    return f"{values.min():.3f} to {values.max():.3f}"


def values(folder: Path) -> dict[str, str]:
    """Return the numbers and tables of the template by name."""
    coverage, real, choices = (pd.read_csv(folder / f"{name}.csv") for name in ("coverage", "real", "choices"))
    far = pd.read_csv(folder / "row_shapes.csv")
    run = pd.read_json(folder / "run.json", typ="series")
    equal = coverage["column_scales"] == "1 : 1"
    normal = coverage["scores"] == "normal"
    usual = coverage[equal & normal & (coverage["rows"] >= 23)]
    few_rows = coverage[equal & normal & (coverage["rows"] < 23)]
    unequal = coverage[~equal & normal]
    other = coverage[~normal]
    filled = {
        "matrices": f"{run['matrices']:,}",
        "minutes": f"{run['seconds'] / 60:.0f}",
        "three_errors": f"{3 * coverage['mc_se'].max():.4f}",
        "usual": markdown(
            ("reliability", "columns", "cells", "posterior", "F interval", "sd over error"),
            (
                (
                    NAMES[name],
                    k,
                    len(part),
                    ends(part["posterior"]),
                    ends(part["f_interval"]),
                    ends(part["sd_over_error"]),
                )
                for (name, k), part in usual.groupby(["reliability", "columns"])
            ),
        ),
        "few_rows": "; ".join(
            f"{row.posterior:.3f} ({row.f_interval:.3f}) with {row.rows} rows and {row.columns} columns"
            for row in few_rows.itertuples()
        ),
        "few_columns_highest": f"{usual.loc[usual['columns'] < 8, 'posterior'].max():.3f}",
        "many_columns": ends(usual.loc[usual["columns"] >= 8, "posterior"]),
        "usual_lowest": f"{usual['posterior'].min():.3f}",
        "unequal": markdown(
            ("reliability", "rows", "posterior", "F interval", "sd over error", "length over that of the F interval"),
            (
                (
                    *(NAMES[name], n, ends(part["posterior"]), ends(part["f_interval"]), ends(part["sd_over_error"])),
                    ends(part["posterior_length"] / part["f_interval_length"]),
                )
                for (name, n), part in unequal.groupby(["reliability", "rows"])
            ),
        ),
        "departures": markdown(
            (
                "scores",
                "equal columns",
                "F interval",
                "columns 1 : 4 : 7.9",
                "F interval",
                "low kurtosis",
                "high kurtosis",
            ),
            (
                (
                    kind,
                    *(
                        ends(part.loc[(part["column_scales"] == "1 : 1") == alike, name])
                        for alike in (True, False)
                        for name in ("posterior", "f_interval")
                    ),
                    ends(part["low_kurtosis"]),
                    ends(part["high_kurtosis"]),
                )
                for kind, part in other.groupby("scores", sort=False)
            ),
        ),
        "departures_sd": ends(other["sd_over_error"]),
        "real": markdown(
            ("reliability", "columns", "populations", "mean", "of single ones", "F interval, mean", "of single ones"),
            (
                (
                    *(NAMES[name], columns, part.groupby("algorithm")["populations"].first().sum()),
                    f"{part['posterior'].mean():.3f}",
                    f"{part['posterior_lowest'].min():.3f} to {part['posterior_highest'].max():.3f}",
                    f"{part['f_interval'].mean():.3f}",
                    f"{part['f_interval_lowest'].min():.3f} to {part['f_interval_highest'].max():.3f}",
                )
                for (name, columns), part in real.groupby(["reliability", "columns"], sort=False)
            ),
        ),
        "real_mean": ends(real["posterior"]),
        "real_f": ends(real["f_interval"]),
        "real_sd": ends(real["sd_over_error"]),
        "real_sd_rules": ends(real.loc[real["reliability"] == "icc_3_1", "sd_over_error"]),
        "rules_spread": ends(real.loc[real["reliability"] == "icc_3_1", "spread_ratio"]),
    }
    with np.load(STUDY) as arrays:
        place = [arrays[name].tolist().index(of) for name, of in LEAST_COVERED.items()]
        scores = arrays["scores"][tuple(place)].astype(float)
    filled["saturated"] = f"{(np.abs(scores) >= 1 - NEAR_1).mean():.0%}".replace("%", " %")
    filled |= {name: ends(choices[name]) for name in ("exponent_1", "icc_scale")}
    half = choices[(choices["truth"] == 0.5) & (choices["column_variance"] == 0)]
    filled["not_negative"] = ends(half["not_negative"])
    filled["not_negative_at_0"] = f"{choices.loc[choices['truth'] == 0, 'not_negative'].max():.3f}"
    far = far.assign(doubted=[is_doubted(row.far_share, row.rows) for row in far.itertuples()])
    filled["row_shapes"] = markdown(
        ("rows", "share of matrices with rows far from Normal", "coverage", "doubted cells", "their coverage"),
        (
            (
                *(kind, ends(part["far_share"]), ends(part["posterior"])),
                f"{part['doubted'].sum()} of {len(part)}",
                ends(part.loc[part["doubted"], "posterior"]) if part["doubted"].any() else "",
            )
            for kind, part in far.groupby("scores", sort=False)
        ),
    )
    filled["doubted"], filled["not_doubted"] = (
        ends(far.loc[far["doubted"] == is_one, "posterior"]) for is_one in (1, 0)
    )
    normal = far[far["scores"] == "normal"]
    filled["normal_far"] = f"{normal['far_share'].max():.3f}"
    filled["normal_far_8"] = f"{normal.loc[normal['rows'] < 12, 'far_share'].max():.3f}"
    few = choices[choices["columns"] < 8]
    return filled | {"exponent_1": ends(few["exponent_1"])}


def filled_readme(folder: Path) -> str:
    """Return the README of the tables in a folder."""
    return (FOLDER / "README.template.md").read_text(encoding="utf-8").format(**values(folder))


if __name__ == "__main__":
    (FOLDER / "README.md").write_text(filled_readme(FOLDER), encoding="utf-8")
