"""Are contrasts over few templates right, and their error? Few are drawn from a hundred, which give the truth.

    python validation/templates/trial.py [--samples 200] [--fixed 400]

README.md says what the tables mean. The vectors of a real encoder are in ``minilm.npz`` (`make_vectors.py` made them),
so that neither torch nor a model is needed.
"""

import argparse
import json
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB

FOLDER = Path(__file__).resolve().parent
SEED = 20261124
WORDS = 8  # of a list in a table
COUNTS = (2, 4, 8, 14)  # templates that are drawn
QUESTIONS = {
    "gendered work": {"male": "male_work", "female": "female_work"},
    "flowers and insects": {"male": "insects", "female": "flowers"},
}


class Population:
    """The vectors of all words in all templates, and the truths that they imply."""

    def __init__(self) -> None:
        with np.load(FOLDER / "minilm.npz") as stored:
            self.templates = stored["templates"].tolist()
            vectors = stored["vectors"] * stored["step"]
            self.lists = stored["lists"].tolist()
            self.words = np.array_split(stored["words"], len(self.lists))
        self.vectors = {
            template.replace("WORD", word): vectors[row, column]
            for row, word in enumerate(np.concatenate(self.words).tolist())
            for column, template in enumerate(self.templates)
        }

    def encoder(self, texts: list[str]) -> np.ndarray:
        """Return the stored vectors of texts, as an encoder would."""
        return np.stack([self.vectors[text] for text in texts])

    def study(self, question: str, rng: np.random.Generator | None = None) -> bb.Study:
        """Return a question of all words of its lists, or of a few that are drawn."""
        pairs = QUESTIONS[question]
        lists = dict(zip(self.lists, self.words, strict=True))

        def some(name: str) -> list[str]:
            return lists[name].tolist() if rng is None else rng.choice(lists[name], WORDS, replace=False).tolist()

        return bb.Study(
            name=question,
            protected={name: some(name) for name in pairs},
            attributes={name: some(name) for name in pairs.values()},
            associated=list(pairs.items()),
            human="none",
            neutral="none",
        )

    def table(self, study: bb.Study, templates: list[str]) -> pd.DataFrame:
        """Return the distances of a study, over some templates."""
        embedding = bb.encode(self.encoder, study, templates, name="MiniLM", progress=False)
        return bb.distance_table(embedding, study)


def observed_contrast(table: pd.DataFrame, column: str = "cosine_distance") -> float:
    """Return the observed difference of associated and different distances, lists and groups with equal weights."""
    lists = ["connection", "protected_group", "attribute_group"]
    means = table.groupby(lists, observed=True)[column].mean().groupby("connection", observed=True).mean()
    return float(means["associated"] - means["different"])


def fixed_words(population: Population, question: str, count: int, samples: int) -> pd.DataFrame:
    """Return the observed contrast of words that stay, over drawn templates, beside that over all templates."""
    rng = np.random.default_rng([SEED, count, *question.encode()])
    quantile = stats.t.ppf((1 + HDI_PROB) / 2, count - 1)
    rows = []
    for sample in range(samples):
        if sample % 20 == 0:  # other words
            study = population.study(question, rng)
            truth = observed_contrast(population.table(study, population.templates))
        table = population.table(study, rng.choice(population.templates, count, replace=False).tolist())
        (error,) = [
            entry["sd"]
            for entry in table.attrs["bayesbias"]["context_errors"]
            if (entry["contrast"], entry["level"]) == ("associated - different", "overall")
        ]
        difference, plain = (
            observed_contrast(table, column) - truth for column in ("cosine_distance", "plain_distance")
        )
        covered = abs(difference) <= quantile * error
        rows.append({"difference": difference, "plain": plain, "sd": error, "covered": covered, "truth": truth})
    return pd.DataFrame(rows)


def drawn_words(population: Population, question: str, count: int, samples: int) -> pd.DataFrame:
    """Return the intervals of fits to drawn words in drawn templates, with and without the error over templates."""
    rng = np.random.default_rng([SEED, 1, count, *question.encode()])
    truth = observed_contrast(population.table(population.study(question), population.templates))
    rows = []
    for _ in range(samples):
        study = population.study(question, rng)
        table = population.table(study, rng.choice(population.templates, count, replace=False).tolist())
        fit = bb.fit(table, draws=1000, chains=2, random_seed=int(rng.integers(2**31)), progress=False)
        row = bb.contrasts(fit).iloc[0]
        rows.append(
            {
                "difference": row["mean"] - truth,
                "plain": observed_contrast(table, "plain_distance") - truth,
                "sd": row["sd"],
                "context_sd": row["context_sd"],
                "covered": row["hdi_low"] <= truth <= row["hdi_high"],
                "covered_with": row["context_low"] <= truth <= row["context_high"],
                "claims": not row["hdi_low"] <= 0 <= row["hdi_high"],
                "claims_with": not row["context_low"] <= 0 <= row["context_high"],
                "truth": truth,
            }
        )
    return pd.DataFrame(rows)


def summary_of_fixed(rows: pd.DataFrame) -> dict[str, float]:
    """Return coverage, bias and error of the observed contrast of words that stay."""
    return {
        "tables": len(rows),
        "truth": rows["truth"].mean(),
        "plain_bias": rows["plain"].mean(),
        "bias": rows["difference"].mean(),
        "plain_error": float(np.sqrt((rows["plain"] ** 2).mean())),
        "error": float(np.sqrt((rows["difference"] ** 2).mean())),
        "context_sd": float(np.sqrt((rows["sd"] ** 2).mean())),
        "coverage": rows["covered"].mean(),
    }


def summary_of_drawn(rows: pd.DataFrame) -> dict[str, float]:
    """Return coverage, bias and claims of fits."""
    return {
        "tables": len(rows),
        "truth": rows["truth"].iloc[0],
        "plain_bias": rows["plain"].mean(),
        "bias": rows["difference"].mean(),
        "sd": float(np.sqrt((rows["sd"] ** 2).mean())),
        "context_sd": float(np.sqrt((rows["context_sd"] ** 2).mean())),
        "coverage": rows["covered"].mean(),
        "coverage_with": rows["covered_with"].mean(),
        "claims": rows["claims"].mean(),
        "claims_with": rows["claims_with"].mean(),
    }


def markdown(frame: pd.DataFrame, digits: int) -> str:
    """Return a frame as a Markdown table; shares have two digits, distances `digits`."""
    shares = {"coverage", "coverage_with", "claims", "claims_with"}

    def cell(name: str, value: object) -> str:
        return f"{value:.{2 if name in shares else digits}f}" if isinstance(value, float) else str(value)

    rows = [list(frame.columns), ["---"] * frame.shape[1]]
    rows += [[cell(str(name), value) for name, value in row.items()] for row in frame.to_dict("records")]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Run all cells, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200, help="tables that are fitted in a cell")
    parser.add_argument("--fixed", type=int, default=400, help="tables of words that stay in a cell")
    options = parser.parse_args()
    population, start = Population(), time.perf_counter()
    fixed, drawn = [], []
    with threadpool_limits(1, "blas"):
        for question, count in product(QUESTIONS, COUNTS):
            cell = {"question": question, "templates": count}
            fixed.append(cell | summary_of_fixed(fixed_words(population, question, count, options.fixed)))
            print(fixed[-1], flush=True)
            pd.DataFrame(fixed).round(4).to_csv(FOLDER / "fixed.csv", index=False)
        for question, count in product(QUESTIONS, COUNTS):
            cell = {"question": question, "templates": count}
            drawn.append(cell | summary_of_drawn(drawn_words(population, question, count, options.samples)))
            print(drawn[-1], flush=True)
            pd.DataFrame(drawn).round(4).to_csv(FOLDER / "drawn.csv", index=False)
    run = {"seed": SEED, "samples": options.samples, "fixed": options.fixed, "seconds": time.perf_counter() - start}
    (FOLDER / "run.json").write_text(json.dumps(run, indent=2) + "\n")


if __name__ == "__main__":
    main()
