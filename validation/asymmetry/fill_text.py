"""Write README.md from template.md and the tables of this folder.

python validation/asymmetry/fill_text.py
"""

import json
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).resolve().parent


def table(name: str) -> pd.DataFrame:
    """Return a table of this folder."""
    return pd.read_csv(FOLDER / f"{name}.csv")


def markdown(frame: pd.DataFrame, digits: int = 3) -> str:
    """Return a frame as a table in Markdown, numbers with so many decimals."""

    def text(value: object) -> str:
        return f"{value:.{digits}f}" if isinstance(value, float) else str(value)

    cells = [list(map(text, row)) for row in frame.itertuples(index=False)]
    rows = [frame.columns.tolist(), ["---"] * len(frame.columns), *cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def span(values: pd.Series) -> str:
    """Return the lowest and the highest of some numbers."""
    return f"{values.min():.2f} to {values.max():.2f}"


def coverage_table(norms: pd.DataFrame) -> str:
    """Return the ranges of coverage by world."""
    columns = ["coverage", "before", "jeffreys"]
    return markdown(norms.groupby("world", sort=False)[columns].agg(span).reset_index())


def clear_rates(rows: pd.DataFrame, prefix: str = "") -> dict[str, float]:
    """Return how many directions are clear, what is said of these on average, and how many are right."""
    rows = rows[rows[f"{prefix}clear_said"].notna()]
    clear = rows[f"{prefix}clear"] * rows["pairs"]
    rates = {name: (rows[f"{prefix}clear_{name}"] * clear).sum() / clear.sum() for name in ("said", "right")}
    return {"clear": clear.sum() / rows["pairs"].sum(), **rates}


def norms_texts() -> dict[str, str]:
    """Return the numbers of norms.csv."""
    norms = table("norms")
    texts = {}
    for seen in ("both", "one"):
        part = norms[norms["seen"] == seen]
        texts[f"table_{seen}"] = coverage_table(part)
        for label, column in (("", "coverage"), ("before_", "before"), ("jeffreys_", "jeffreys")):
            values = part[column]
            texts |= {f"{seen}_{label}{name}": f"{getattr(values, how)():.2f}" for name, how in
                      (("low", "min"), ("high", "max"), ("mean", "mean"))}  # fmt: skip
    one = norms[norms["seen"] == "one"].set_index("world")
    for label, world in (("sharp", "softmax, sharp"), ("one_way", "one way"), ("dirichlet", "dirichlet")):
        texts[f"{label}_low"] = f"{one.loc[world, 'coverage'].min():.2f}"
        texts[f"{label}_high"] = f"{one.loc[world, 'coverage'].max():.2f}"
    texts["sharp_before_low"] = f"{one.loc['softmax, sharp', 'before'].min():.2f}"
    rows = []
    for world, part in norms.groupby("world", sort=False):
        now, before = clear_rates(part), clear_rates(part, "before_")
        rows.append({"world": world, **now, **{f"before: {name}": value for name, value in before.items()}})
    texts["table_clear"] = markdown(pd.DataFrame(rows))
    softmax = norms[norms["world"] == "softmax"]
    for label, prefix, part in (("softmax", "", softmax), ("softmax_before", "before_", softmax),
                                ("ten_before", "before_", softmax[softmax["participants"] == 10])):  # fmt: skip
        rates = clear_rates(part, prefix)
        texts |= {f"{label}_{name}": f"{rates[name]:.3f}" for name in ("said", "right")}
    return texts


def statistics_texts() -> dict[str, str]:
    """Return the numbers of statistics.csv and differences.csv."""
    statistics = table("statistics")
    shares = statistics[["alar", "alar_pooled", "cam", "cam_corrected"]]
    shown = statistics[["words", "pairs", "tails"]].join(shares.rename(columns={"alar_pooled": "pooled"}))
    differences = table("differences").rename(columns={"sd_over_error": "sd / error", "mc_se": "Monte Carlo error"})
    return {
        "table_statistics": markdown(shown),
        "statistics_error": f"{statistics['mc_se'].max():.3f}",
        "statistics_low": f"{shares.to_numpy().min():.2f}",
        "statistics_high": f"{shares.to_numpy().max():.2f}",
        "table_differences": markdown(differences),
    }


def usf_texts() -> dict[str, str]:
    """Return the numbers of USF."""
    agreement, paper = table("agreement"), table("paper").set_index("relation")
    whole = agreement[agreement["relation"] == "SA"]
    reduction = 1 - whole["cam"] / whole["cam_corrected"]
    reduction = reduction[whole["pairs"] > 1000]
    columns = ["source", "seen", "pairs", "cam", "hdi_low", "hdi_high", "cam_corrected"]
    differences = table("usf_differences")
    differences = differences[differences["relation"] == "SA"]
    names = ["first", "second", "seen", "pairs", "difference", "hdi_low", "hdi_high"]
    unit = differences[
        (differences["first"] == "glove, unit length")
        & (differences["second"] == "google_news, unit length")
        & (differences["seen"] == "both")
    ].iloc[0]
    prior, people, relations = table("prior"), table("people").set_index("seen"), table("relations")
    counts, reverse = (prior[prior["what"] == what] for what in ("count", "reverse listed"))
    of_people = relations[relations["source"] == "USF"]
    part_of = of_people[(of_people["relation"] == "PartOf") & (of_people["seen"] == "both")].iloc[0]
    in_paper = of_people[of_people["verdict"] != "not in the paper"]
    settled = in_paper[in_paper["verdict"] != "not settled"]
    words = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight"]
    return {
        "people_low": f"{reduction.min():.0%}",
        "people_high": f"{reduction.max():.0%}",
        "table_agreement": markdown(whole[columns], 3),
        "table_usf_differences": markdown(differences[names], 3),
        "unit_difference": f"{unit['difference']:+.3f}",
        "unit_low": f"{unit['hdi_low']:+.3f}",
        "unit_high": f"{unit['hdi_high']:+.3f}",
        "paper_word2vec": f"{paper.loc['SA', 'word2vec']:.2f}",
        "paper_glove": f"{paper.loc['SA', 'glove']:.2f}",
        "prior_pairs": f"{people.loc['either', 'pairs']:,}",
        "prior_people": str(int(prior["high"].max())),
        "table_counts": markdown(counts[["low", "observed", "expected"]].rename(columns={"low": "count"})),
        "table_reverse": markdown(
            reverse.assign(
                count=[f"{low} to {high}" for low, high in zip(reverse["low"], reverse["high"], strict=True)]
            )[["count", "observed", "expected"]]
        ),
        "partof_counts": f"{part_of['mean_from_counts']:.3f}",
        "partof_lar": f"{part_of['mean_lar']:.3f}",
        "settled_both": words[int((settled["seen"] == "both").sum())],
        "settled_either": words[int((settled["seen"] == "either").sum())],
        "agree_either": words[int(((settled["seen"] == "either") & (settled["verdict"] == "agrees")).sum())],
    }


def filled() -> str:
    """Return the text with the numbers of the tables."""
    run = json.loads((FOLDER / "run.json").read_text())
    texts = {**norms_texts(), **statistics_texts(), **usf_texts(), "worlds": run["worlds"], "studies": run["studies"]}
    return (FOLDER / "template.md").read_text(encoding="utf-8").format(**texts)


if __name__ == "__main__":
    (FOLDER / "README.md").write_text(filled(), encoding="utf-8")
