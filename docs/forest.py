"""Two questions and their answers, the picture of the README and of the site: `python docs/forest.py` draws it."""

from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.metrics.significance import p_value

PICTURE = Path(__file__).parent / "forest.png"
_COLOUR = "#0b6e8f"
_QUESTIONS = {
    "weat6": "Are words of career nearer to men's names,\nand words of family to women's names?",
    "weat7": "Are words of mathematics nearer to male words,\nand words of the arts to female words?",
}


class Answer(NamedTuple):
    """The overall contrast of a bundled table of Google News, and WEAT's p-value for the same lists."""

    mean: float
    low: float
    high: float
    settled: bool
    p: float


def answer(name: str) -> Answer:
    """Return the answer of the default model to a bundled study in Google News."""
    table = bb.read_table(bb.bundled("data", "tables", f"{name}_google_news.csv.gz"))
    row = bb.contrasts(bb.fit(table, random_seed=1, progress=False)).iloc[0]
    study = bb.load_study(name)
    words = ["protected_group", "protected_word", "attribute_group"]
    means = table.groupby(words, observed=True)["cosine_similarity"].mean().unstack()
    first, second = study.attributes
    x, y = (means.loc[group, first] - means.loc[group, second] for group in study.protected)
    low, high = row["hdi_low"], row["hdi_high"]
    return Answer(row["mean"], low, high, bool((low > 0 or high < 0) and not row["borderline"]), p_value(x, y).p_value)


def draw(answers: dict[str, Answer]) -> Figure:
    """Return a figure with a line for each answer."""
    figure = Figure(figsize=(6.4, 2.9), layout="constrained")
    axes = figure.subplots()
    axes.axvline(0, color="black", linewidth=0.8)
    for height, (name, (mean, low, high, settled, p)) in enumerate(reversed(answers.items())):
        axes.plot([low, high], [height, height], color=_COLOUR, linewidth=2.5, zorder=2)
        filled = _COLOUR if settled else "white"
        axes.plot(mean, height, "o", color=_COLOUR, markerfacecolor=filled, markersize=9, markeredgewidth=2)
        axes.text(-0.112, height + 0.27, _QUESTIONS[name], fontsize=9.5, va="bottom")
        verdict = "settled" if settled else "not settled"
        axes.text(0.014, height, f"{verdict}\n(WEAT: p {shown(p)})", fontsize=9.5, va="center")
    axes.set(xlim=(-0.113, 0.05), ylim=(-0.4, 1.85), yticks=[], xticks=[-0.1, -0.05, 0])
    axes.set_xlabel("difference in mean cosine distance; left of 0: nearer, as asked", fontsize=9.5, loc="left")
    axes.spines[["left", "right", "top"]].set_visible(False)
    return figure


def shown(p: float) -> str:
    """Return a p-value as the picture and the texts have it."""
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"


if __name__ == "__main__":
    answers = {name: answer(name) for name in _QUESTIONS}
    draw(answers).savefig(PICTURE, dpi=160)
    for name, numbers in answers.items():
        print(name, *(f"{number:.3f}" for number in numbers[:3]), "settled" if numbers.settled else "not settled")
        print(f"WEAT: p {shown(numbers.p)}")
