"""Fill README.md from the tables and `README.template.md`: python validation/study_over_seeds/study_text.py."""

import json
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).resolve().parent
HEADINGS = ("where", "measured", "paper", "algorithm", "here, 89 % interval", "verdict")


def claims_table(claims: pd.DataFrame) -> str:
    """Return claims as a Markdown table, the algorithms of one claim below each other."""
    order = {measured: place for place, measured in enumerate(dict.fromkeys(claims["measured"]))}
    ordered = claims.sort_values("measured", key=lambda names: names.map(order), kind="stable")
    rows = [
        (row.where, row.measured, row.paper, row.algorithm, _interval(row.ours, row.low, row.high), row.verdict)
        for row in ordered.itertuples()
    ]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (HEADINGS, ["---"] * len(HEADINGS), *rows))


def _interval(mean: float, low: float, high: float, digits: int = 3) -> str:
    return f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def values(folder: Path) -> dict[str, object]:
    """Return the numbers and tables of the template by name."""
    claims, words, pairs, shares, coefficients = (
        pd.read_csv(folder / name, keep_default_na=False, na_values=[])
        for name in (
            *("claims.csv", "words.csv.gz", "base_pairs.csv", "drivers_r_squared.csv", "drivers_coefficients.csv"),
        )
    )
    lists = json.loads((folder / "lists.json").read_text(encoding="utf-8"))
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    where = claims["where"]
    alphas = claims[where == "Figure 4"]
    filled: dict[str, object] = {
        "figure_2": claims_table(claims[where == "Figure 2"]),
        "figure_3": claims_table(claims[where == "Figure 3"]),
        "correlations": claims_table(claims[where == "section 5.3"]),
        "figure_4": claims_table(alphas[alphas["verdict"] != "agrees"]),
        "figure_5": claims_table(claims[where == "Figure 5"]),
        "table_2": claims_table(claims[where == "Table 2"]),
        "alphas": len(alphas),
        "settled_alphas": int((alphas["verdict"] == "agrees").sum()),
        "million_words": f"{run['provenance']['skipgram']['corpus']['tokens'] / 1e6:.1f}",
        "sampled": f"{words['target_word'].nunique():,}",
    }
    again = words[(words["kind"] == "test_retest") & (words["rule"] != "ripa_unit")]
    for algorithm, part in again[again["observed"] < 0.5].groupby("algorithm"):
        rules = ", ".join(f"{row.target_word} by {row.rule}" for row in part.sort_values("target_word").itertuples())
        filled |= {f"below_{algorithm}": part["target_word"].nunique(), f"rules_{algorithm}": rules}
    males = pairs.query("base_pair == 'males ~ females' and algorithm == 'glove' and kind == 'test_retest'")["observed"]
    filled["males_females"] = f"{males.min():.2f} to {males.max():.2f}"
    frequent = words[(words["algorithm"] == "glove") & words["target_word"].isin(lists["frequent"])]
    for name, kind in (("frequent", "inter_rater"), ("code", "inter_rater_code")):
        estimates = frequent.loc[frequent["kind"] == kind, "observed"]
        filled |= {f"{name}_above": f"{(estimates > 0.5).mean():.0%}".replace("%", " %")}
        filled |= {f"{name}_median": f"{estimates.median():.2f}"}
    same = claims.loc[claims["measured"] == "correlation of db_wa and ripa_unit", "ours"]
    filled["same_score"] = f"{same.min():.2f} to {same.max():.2f}"
    rows = shares.set_index(["ripa", "scope", "part", "kind"])
    for name, *key in (
        ("algorithm_rules", "equation", "population", "algorithm", "inter_rater"),
        ("algorithm_rules_code", "code", "population", "algorithm", "inter_rater"),
        ("algorithm_seeds", "equation", "population", "algorithm", "test_retest"),
        ("features_rules", "equation", "population", "fixed", "inter_rater"),
        ("features_rules_code", "code", "population", "fixed", "inter_rater"),
        ("these_rules", "equation", "these_words", "algorithm", "inter_rater"),
        ("these_seeds", "equation", "these_words", "algorithm", "test_retest"),
    ):
        row = rows.loc[tuple(key)]
        filled[name] = _interval(row["mean"], row["hdi_low"], row["hdi_high"], 2)
    senses = pd.read_csv(folder / "senses.csv")
    filled["senses_words"] = f"{senses['words'].unique().item():,}"
    by_factor = senses.drop_duplicates(["quantity", "factor", "kind"]).set_index(["quantity", "factor", "kind"])
    for name, quantity, factor in (
        ("pos", "R2 lost", "part_of_speech"),
        ("senses", "R2 lost", "log_senses"),
        ("more", "coefficient", "log_senses"),
    ):
        for over, kind in (("seeds", "test_retest"), ("rules", "inter_rater")):
            row = by_factor.loc[(quantity, factor, kind)]
            filled[f"{name}_{over}"] = _interval(row["mean"], row["hdi_low"], row["hdi_high"], 4)
    lower = coefficients[coefficients["level"].isin(["ripa", "ripa_unit"])].set_index("ripa")["mean"]
    return filled | {f"ripa_lower_{name}": f"{-lower[name]:.2f}" for name in ("equation", "code")}


def filled_readme(folder: Path) -> str:
    """Return the README of the tables in a folder."""
    return (FOLDER / "README.template.md").read_text(encoding="utf-8").format(**values(folder))


if __name__ == "__main__":
    (FOLDER / "README.md").write_text(filled_readme(FOLDER), encoding="utf-8")
