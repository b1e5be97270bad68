"""What Du, Fang and Nguyen (2021) say of reliability, beside the tables of this folder, with 89 % intervals."""

from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

import bayesbias as bb

ACCEPTABLE_ICC, ACCEPTABLE_ALPHA, POOR = 0.6, 0.7, 0.5
PLURALS = {
    "boy ~ girl": "boys ~ girls",
    "brother ~ sister": "brothers ~ sisters",
    "father ~ mother": "fathers ~ mothers",
    "male ~ female": "males ~ females",
    "man ~ woman": "men ~ women",
    "nephew ~ niece": "nephews ~ nieces",
    "son ~ daughter": "sons ~ daughters",
    "uncle ~ aunt": "uncles ~ aunts",
}
# In the order of the paper, which says that the first is the lowest. Of its code's RIPA too.
_CORRELATIONS = {
    "ripa and nbm": "0.836", "ripa_unit and nbm": "0.836", "db_wa and nbm": "0.897", "db_wa and ripa": "0.923",
    "db_wa and ripa_unit": "0.923",
}  # fmt: skip
# The paper leaves the frequency out together with its square.
_DROPS = {
    "stability": "0.1020", "norm": "0.0456", "frequency": "0.0275", "neighbour_similarity": "0.0120",
    "log_frequency_squared": "0.0051", "rule": "0.0040",
}  # fmt: skip
_TAIL = 0.055
_SAMPLES = 100_000


def read_scores(path: Path) -> dict[str, xr.DataArray]:
    """Return the score array of each algorithm, as `bb.reliability.score_array` gives it, from the kept file."""
    with np.load(path) as arrays:
        dims = ("rule", "base_pair", "target_word", "seed")
        every = xr.DataArray(
            arrays["scores"].astype(np.float64),
            dims=("algorithm", *dims),
            coords={dim: arrays[dim] for dim in ("algorithm", *dims)},
        )
    return {str(name): every.sel(algorithm=name, drop=True) for name in every["algorithm"].values}


def beside(paper: float, low: float, high: float) -> str:
    """Say on which side of the paper's number an interval lies."""
    if low <= paper <= high:
        return "as in the paper"
    return "higher" if low > paper else "lower"


def settled(estimate: float, low: float, high: float, line: float, above: bool) -> str:
    """Say whether an interval lies on the side of a line on which the paper has it."""
    if low <= line <= high:
        return "cannot tell"
    return "agrees" if (estimate > line) == above else "disagrees"


def share(holds: np.ndarray) -> tuple[float, float, float]:
    """Return a share of words or base pairs with the interval of Jeffreys' prior, Beta(1/2, 1/2)."""
    ends = stats.beta.ppf([_TAIL, 1 - _TAIL], holds.sum() + 0.5, (~holds).sum() + 0.5)
    return float(holds.mean()), float(min(ends[0], holds.mean())), float(max(ends[1], holds.mean()))


def over_pairs(values: np.ndarray) -> tuple[float, float, float]:
    """Return a mean of few values with the interval of Student's t."""
    mean, half = values.mean(), stats.t.ppf(1 - _TAIL, len(values) - 1) * stats.sem(values)
    return float(mean), float(mean - half), float(mean + half)


def of_correlation(one: np.ndarray, other: np.ndarray) -> tuple[float, float, float]:
    """Return a correlation with the interval of Fisher's z."""
    r = float(np.corrcoef(one, other)[0, 1])
    half = stats.norm.ppf(1 - _TAIL) / np.sqrt(len(one) - 3)
    return r, float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))


def of_row(row: pd.Series) -> tuple[float, float, float]:
    """Return the mean of a posterior with its interval."""
    return float(row["mean"]), float(row["hdi_low"]), float(row["hdi_high"])


def claims(folder: Path) -> pd.DataFrame:
    """Return one row a claim and algorithm: the paper's words and number, ours with its interval, and the verdict."""
    words, pairs, rules, shares, drops, coefficients = (
        pd.read_csv(folder / name, keep_default_na=False, na_values=[])
        for name in (
            *("words.csv.gz", "base_pairs.csv", "correlations.csv"),
            *("drivers_r_squared.csv", "drivers_drops.csv", "drivers_coefficients.csv"),
        )
    )
    lists = pd.read_json(folder / "lists.json", typ="series")
    rows: list[dict[str, object]] = []

    def claim(where: str, claimed: str, paper: str, what: str, algorithm: str, ours: tuple[float, float, float],
              line: float | None = None, above: bool = True) -> None:  # fmt: skip
        estimate, low, high = ours
        verdict = beside(float(paper), low, high) if line is None else settled(estimate, low, high, line, above)
        numbers = {"ours": estimate, "low": low, "high": high}
        rows.append({"where": where, "claim": claimed, "paper": paper, "measured": what, "algorithm": algorithm,
                     **numbers, "verdict": verdict})  # fmt: skip

    scores = read_scores(folder / "scores.npz")
    of_pairs = base_pair_medians(pairs)
    for algorithm, array in scores.items():
        mine = words[words["algorithm"] == algorithm]
        again = mine[(mine["kind"] == "test_retest") & (mine["rule"] != "ripa_unit")]
        vocabulary, frequent = (again[again["target_word"].isin(lists[name])] for name in ("vocabulary", "frequent"))
        for rule, part in vocabulary.groupby("rule", sort=False):
            claim("Figure 2", "most words come out again over seeds", "most above 0.6",
                  f"share of sampled vocabulary with ICC(2,1) above 0.6, {rule}", algorithm,
                  share((part["observed"] > ACCEPTABLE_ICC).to_numpy()), 0.5)  # fmt: skip
        claim("Figure 2", "most base pairs come out again over seeds", "most above 0.6",
              "share of base pairs whose median ICC(2,1) of the rules is above 0.6", algorithm,
              share((of_pairs[algorithm, "test_retest"] > ACCEPTABLE_ICC).to_numpy()), 0.5)  # fmt: skip
        claim("Figure 2", "rare words are less reliable", "below 0.5: 0.1 % of all, 0.01 % of frequent words",
              "share of words below 0.5 by some rule, vocabulary minus frequent words", algorithm,
              _difference(vocabulary, frequent), 0.0)  # fmt: skip
        for kind, which in (("inter_rater", "RIPA of the equation"), ("inter_rater_code", "RIPA of its code")):
            for name in ("vocabulary", "frequent"):
                part = mine[(mine["kind"] == kind) & mine["target_word"].isin(lists[name])]
                claim("Figure 3", "most words differ between rules", "most rather low",
                      f"share of {name} words with ICC(3,1) below 0.5, {which}", algorithm,
                      share((part["observed"] < POOR).to_numpy()), 0.5)  # fmt: skip
            claim("Figure 3", "most base pairs differ between rules", "most rather low",
                  f"share of base pairs with ICC(3,1) below 0.5, {which}", algorithm,
                  share((of_pairs[algorithm, kind] < POOR).to_numpy()), 0.5)  # fmt: skip
        mine = rules[rules["algorithm"] == algorithm].set_index("rules")
        for name, paper in _CORRELATIONS.items():
            ours = tuple(map(float, mine.loc[name, ["r", "low", "high"]]))
            claim("section 5.3", "rules correlate over words", paper, f"correlation of {name}", algorithm, ours)
        alphas = bb.reliability.internal_consistency(
            array.sel(rule=["db_wa", "ripa", "nbm"]), _known_queries(array), max_lost=0.5
        )
        for name, part in alphas.groupby("query", sort=False):
            for row in part.itertuples():
                claim("Figure 4", "queries and base pairs are consistent", "most at least 0.7",
                      f"alpha of {name}, {row.rule}", algorithm, (row.mean, row.hdi_low, row.hdi_high),
                      ACCEPTABLE_ALPHA)  # fmt: skip
        for kind, paper, line in (("test_retest", "higher, t(7) = 2.45", 0.0), ("inter_rater", "0", None)):
            medians = of_pairs.xs((algorithm, kind), level=("algorithm", "kind"))
            contrasts = np.array([medians[one] - medians[many] for one, many in PLURALS.items()])
            claim("Figure 5", "singular pairs are more reliable than plural ones", paper,
                  f"mean difference over 8 pairs of pairs, {kind}", algorithm, over_pairs(contrasts), line)  # fmt: skip
        one, other = (
            of_pairs.xs((algorithm, kind), level=("algorithm", "kind")) for kind in ("test_retest", "inter_rater")
        )
        claim("Figure 5", "base pairs that come out again over seeds do so over rules", "r = 0.644",
              "correlation over 23 base pairs", algorithm, of_correlation(one.to_numpy(), other[one.index].to_numpy()),
              0.0)  # fmt: skip
    shares = shares[shares["scope"] == "population"].set_index(["ripa", "kind", "part"])
    drops, coefficients = (
        frame[frame["kind"] == "test_retest"].set_index(["ripa", "factor"])
        for frame in (drops, coefficients[coefficients["level"] == ""])
    )
    for ripa, which in (("equation", "RIPA of the equation"), ("code", "RIPA of its code")):
        # The paper's shares are lmer's variance components, those of a population of algorithms.
        for kind, fixed, by_algorithm in (("test_retest", "0.326", "0.180"), ("inter_rater", "0.058", "0.431")):
            for part, paper in (("fixed", fixed), ("algorithm", by_algorithm)):
                claim("Table 2", "what explains the reliability of words", paper, f"R2 of {part}, {kind}, {which}",
                      "both", of_row(shares.loc[ripa, kind, part]))  # fmt: skip
        for factor, paper in _DROPS.items():
            claim("Table 2", "what explains the reliability of words over seeds", paper,
                  f"R2 lost without {factor}, {which}", "both", of_row(drops.loc[ripa, factor]))  # fmt: skip
        for factor, paper, above in (("stability", "+", True), ("norm", "-", False), ("log_frequency", "+", True)):
            claim("Table 2", "sign of what goes with reliability over seeds", paper,
                  f"coefficient of {factor}, {which}", "both", of_row(coefficients.loc[ripa, factor]), 0.0,
                  above)  # fmt: skip
    return pd.DataFrame(rows)


def base_pair_medians(pairs: pd.DataFrame) -> pd.Series:
    """Return the median reliability over rules of each algorithm, kind and base pair, as the paper takes it."""
    of_paper = pairs[pairs["rule"] != "ripa_unit"]
    return of_paper.groupby(["algorithm", "kind", "base_pair"])["observed"].median()


def _difference(one: pd.DataFrame, other: pd.DataFrame) -> tuple[float, float, float]:
    """Return the difference of two shares of words that are below `POOR` by some rule, with draws of both shares."""
    rng, shares, draws = np.random.default_rng(1), [], []
    for frame in (one, other):
        low = frame.groupby("target_word")["observed"].min() < POOR
        shares.append(low.mean())
        draws.append(rng.beta(low.sum() + 0.5, (~low).sum() + 0.5, _SAMPLES))
    return float(shares[0] - shares[1]), *map(float, np.quantile(draws[0] - draws[1], [_TAIL, 1 - _TAIL]))


def _known_queries(array: xr.DataArray) -> dict[str, list[str]]:
    scored_words = set(array["target_word"].values.tolist())
    return {
        name: [word for word in words if word in scored_words] for name, words in bb.reliability.load_queries().items()
    }
