"""The correlation of WEFAT's statistic with the share of women in occupations (Caliskan, Bryson and Narayanan 2017).

    python validation/covariates/wefat.py EMBEDDINGS COVARIATES

EMBEDDINGS is the folder of the Google News and GloVe vectors, COVARIATES that of the shares of women in occupations
that Garg et al. (2018) published. It writes `wefat.csv`; README.md says what the table means.
"""

import argparse
from pathlib import Path

import pandas as pd

import bayesbias as bb

FOLDER = Path(__file__).resolve().parent
VECTORS = {"google_news": "googlenews_word2vec_300d_13784.npz", "glove": "glove_6b_50d_10382.txt"}
# The lists and the 50 occupations of the paper's supplement.
FEMALE = ("female", "woman", "girl", "sister", "she", "her", "hers", "daughter")
MALE = ("male", "man", "boy", "brother", "he", "him", "his", "son")
OCCUPATIONS = (
    *("technician", "accountant", "supervisor", "engineer", "worker", "educator", "clerk", "counselor", "inspector"),
    *("mechanic", "manager", "therapist", "administrator", "salesperson", "receptionist", "librarian", "advisor"),
    *("pharmacist", "janitor", "psychologist", "physician", "carpenter", "nurse", "investigator", "bartender"),
    *("specialist", "electrician", "officer", "pathologist", "teacher", "lawyer", "planner", "practitioner"),
    *("plumber", "instructor", "surgeon", "veterinarian", "paramedic", "examiner", "chemist", "machinist"),
    *("appraiser", "nutritionist", "architect", "hairdresser", "baker", "programmer", "paralegal", "hygienist"),
    "scientist",
)
COLUMNS = (
    "wefat_correlation",
    "correlation",
    "slope",
    "hdi_low",
    "hdi_high",
    "least_squares_low",
    "least_squares_high",
)


def shares_of_women(folder: Path) -> pd.Series:
    """Return the share of women in each occupation of the census of 2015."""
    census = pd.read_csv(folder / "occupation_shares_of_women_us.csv.gz")
    return census[census["Census year"] == 2015].set_index("Occupation")["Female"].rename("share_of_women")


def correlations(embeddings: Path, shares: pd.Series) -> pd.DataFrame:
    """Return a row for each embedding and list of occupations."""
    rows = []
    for vectors, file in VECTORS.items():
        embedding = bb.load_embedding(embeddings / file)
        vocabulary = set(embedding.words)
        occupations_with_vector = [word for word in shares.index if word in vocabulary]
        for occupations, words in {
            "paper": [word for word in occupations_with_vector if word in OCCUPATIONS],
            "all": occupations_with_vector,
        }.items():
            table = bb.distance_table(embedding, {"occupations": words, "female": FEMALE, "male": MALE})
            effects = bb.covariate_effect(
                bb.fit(table, covariates=shares, random_seed=1, draws=1000, progress=False)
            ).effects
            of_population = effects[effects["scope"] == "population"].set_index("quantity")
            slope, link = of_population.loc["slope"], of_population.loc["correlation"]
            numbers = (link["wefat_correlation"], link["observed"], slope["observed"])
            ends = slope[["hdi_low", "hdi_high", "least_squares_low", "least_squares_high"]]
            with_share = len(shares.index if occupations == "all" else set(OCCUPATIONS) & set(shares.index))
            rows.append((vectors, occupations, with_share, len(words), *numbers, *ends))
    return pd.DataFrame(rows, columns=["vectors", "occupations", "with_share", "words", *COLUMNS]).round(4)


def markdown(table: pd.DataFrame) -> str:
    """Return the table in Markdown."""
    head = "| vectors | occupations | words | WEFAT | correlation of leans | slope | interval | least squares |"
    rows = [
        f"| {row['vectors']} | {row['occupations']} | {row['words']} | {row['wefat_correlation']:.2f} | "
        f"{row['correlation']:.2f} | {row['slope']:.3f} | {row['hdi_low']:.3f} to {row['hdi_high']:.3f} | "
        f"{row['least_squares_low']:.3f} to {row['least_squares_high']:.3f} |"
        for row in table.to_dict("records")
    ]
    return "\n".join([head, "|---" * 8 + "|", *rows])


def main() -> None:
    """Write `wefat.csv` and print it as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("covariates", type=Path)
    parser.add_argument("--output", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    table = correlations(arguments.embeddings, shares_of_women(arguments.covariates))
    table.to_csv(arguments.output / "wefat.csv", index=False)
    print(markdown(table))


if __name__ == "__main__":
    main()
