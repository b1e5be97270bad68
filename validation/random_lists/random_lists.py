"""What models and WEAT claim of attribute lists drawn at random from real vectors, where nothing is associated.

    python validation/random_lists/random_lists.py EMBEDDINGS [--samples 500] [--part 1/2] [--fits FOLDER]

EMBEDDINGS is the folder with the Google News and GloVe vectors; the third are bundled. Samples that the folder of fits
has are not fitted again, so that a run can be interrupted, and made longer. README.md says what the tables mean.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from random_list_cells import LIST, PROTECTED, SEED, VECTORS, Cell, cells

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.errors import FitError
from bayesbias.estimates.intervals import is_settled
from bayesbias.metrics.associations.weat import association
from bayesbias.metrics.significance import p_value
from bayesbias.models.data import ModelData
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.multivariate.posterior_draws import sample_list_means
from bayesbias.models.numerics.contrast_estimate import draws_interval, mixture_estimate
from bayesbias.models.quick import quick_contrasts

FOLDER = Path(__file__).resolve().parent
CONTRASTS = (0.0, -0.03, -0.08)
OTHERS = ("crossed_per_list", "hierarchical")
DRAWS = 1000
# Samples to which the other models are fitted: they are here for comparison.
OTHER_SAMPLES = 60
_BLOCK = 10


def contrast_weights(cell: Cell) -> np.ndarray:
    """Return the weight of each list's mean in each word's own contrast, associated - different: (words, lists)."""
    in_list = cell.group_of[:, None] == np.arange(cell.lists)
    return np.where(in_list, 1.0, -1 / (cell.lists - 1))


@cache
def oracle(cell: Cell) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what it is to know the covariance of the vocabulary's distances.

    The words' own contrasts d, from the means of the lists, are Normal around g 1, with covariance W + tau^2 I; W is
    known from the vocabulary, g has a flat prior, and tau, the sd of the contrasts between words, the model's half-t
    prior (2 degrees of freedom, 0.1). The result is (tau grid, W, prior weights).
    """
    covariance = np.cov(1 - cell.pool @ cell.protected.T, rowvar=False)
    weights = contrast_weights(cell)
    tau = np.concatenate([[1e-5], np.geomspace(1e-4, 1, 79)])
    density = (1 + (tau / 0.1) ** 2 / 2) ** -1.5 * np.gradient(tau)
    return tau, covariance * (weights @ weights.T) / LIST, density / density.sum()


def oracle_rows(cell: Cell, distances: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield the estimates of who knows the covariance: the words' contrasts as equal, or with a sd to be learnt."""
    means = distances[:, : cell.lists * LIST].reshape(len(distances), cell.lists, LIST).mean(axis=2)
    contrasts_of_words = (contrast_weights(cell) * means).sum(axis=1)
    tau, covariance, prior = oracle(cell)
    logs, mean, sd = np.empty(len(tau)), np.empty(len(tau)), np.empty(len(tau))
    for place, spread in enumerate(tau):
        lower = np.linalg.cholesky(covariance + spread**2 * np.eye(len(contrasts_of_words)))
        ones, solved = (
            np.linalg.solve(lower, np.ones(len(contrasts_of_words))),
            np.linalg.solve(lower, contrasts_of_words),
        )
        precision = ones @ ones
        mean[place], sd[place] = ones @ solved / precision, precision**-0.5
        logs[place] = (
            -np.log(np.diag(lower)).sum() - 0.5 * np.log(precision) - 0.5 * np.sum((solved - ones * mean[place]) ** 2)
        )
    weights = prior * np.exp(logs - logs.max())
    yield {"method": "oracle", **numbers(weights / weights.sum(), mean, sd)}
    yield {"method": "oracle_equal_contrasts", **numbers(np.ones(1), mean[:1], sd[:1])}
    plain = np.sqrt(covariance.mean())
    yield {
        "method": "oracle_plain_difference",
        **numbers(np.ones(1), contrasts_of_words.mean(keepdims=True), plain[None]),
    }


def numbers(weights: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> dict[str, float]:
    """Return moments and interval of a mixture of Normals."""
    mixture = mixture_estimate(weights, mean, sd, HDI_PROB)
    return {name: getattr(mixture, name) for name in ("mean", "sd", "low", "high")}


def multivariate_row(data: ModelData, seed: int, spec: bb.ModelSpec) -> dict[str, Any]:
    """Fit the model, and return estimates of the contrast in the population, of these words, and of single words."""
    settings = {"draws": DRAWS, "seed": seed, "priors": spec.priors, "covariances": False}
    posterior = sample_list_means(attribute_sample(data), data.connections, **settings).posterior
    population, words = (posterior[name][..., 0] - posterior[name][..., 1] for name in ("connection_mean", "word_mean"))
    groups = [words[:, data.protected_groups == group].mean(axis=1) for group in np.unique(data.protected_groups)]
    row: dict[str, Any] = {"method": spec.name, **of_draws(population)}
    row |= {f"these_words_{name}": value for name, value in of_draws(np.mean(groups, axis=0)).items()}
    for level, draws in (("word", list(words.T)), ("protected_group", groups)):
        summaries = [of_draws(one) for one in draws]
        row[f"{level}_mean_square"] = np.mean([one["mean"] ** 2 for one in summaries])
        row[f"{level}_variance"] = np.mean([one["sd"] ** 2 for one in summaries])
        for contrast in CONTRASTS:
            row[f"{level}_claims{contrast:g}"] = np.mean(
                [is_settled(one["low"] + contrast, one["high"] + contrast) for one in summaries]
            )
    return row


def of_draws(draws: np.ndarray) -> dict[str, float]:
    """Return moments and interval of draws."""
    interval = draws_interval(draws, HDI_PROB)
    return {"mean": draws.mean(), "sd": draws.std(), "low": interval.low, "high": interval.high}


def fit_sample(cell: Cell, sample: int) -> list[dict[str, Any]]:
    """Return a row for each method."""
    distances = cell.distances(sample)
    data = cell.table(sample)
    rng = np.random.default_rng([SEED, 1, sample])
    rows = [multivariate_row(data, int(rng.integers(2**32)), bb.load_model("multivariate"))]
    for method in OTHERS if sample < OTHER_SAMPLES else ():
        try:
            fitted_contrasts = quick_contrasts(data, bb.load_model(method), draws=2000, points=200, rng=rng)
        except FitError:
            rows.append({"method": method})
            continue
        estimate = fitted_contrasts["associated - different"](HDI_PROB)
        values = {name: getattr(estimate, name) for name in ("mean", "sd", "low", "high")}
        rows.append({"method": method, **values})
    rows += oracle_rows(cell, distances)
    if cell.lists == 2:
        row: dict[str, Any] = {"method": "weat"}
        for contrast in CONTRASTS:
            s = association(1 - distances[:, :LIST], 1 - distances[:, LIST : 2 * LIST])
            s = s - contrast * np.where(cell.group_of == 0, 1, -1)
            row[f"p{contrast:g}"] = float(p_value(s[cell.group_of == 0], s[cell.group_of == 1]).p_value)
        rows.append(row)
    return [{"sample": sample, **row} for row in rows]


def summarise(fits: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each cell, method and contrast: claims, and the posterior sd beside the actual error."""
    rows = []
    keys = ["vectors", "protected", "controls", "method"]
    for key, part in fits.groupby(keys, sort=False):
        here = dict(zip(keys, key, strict=True))
        if here["method"] == "weat":
            rows += [here | {"contrast": contrast, **share(part[f"p{contrast:g}"] < 0.05)} for contrast in CONTRASTS]
            continue
        fitted = part.dropna(subset=["mean"])
        lost = {"not_fitted": len(part) - len(fitted)}
        for contrast in CONTRASTS:
            row = here | {
                "contrast": contrast,
                **share((fitted["low"] + contrast > 0) | (fitted["high"] + contrast < 0)),
                **lost,
            }
            row |= spread(fitted["mean"], fitted["sd"])
            if here["method"].startswith("multivariate"):
                claims = (fitted["these_words_low"] + contrast > 0) | (fitted["these_words_high"] + contrast < 0)
                row |= {f"these_words_{name}": value for name, value in share(claims).items() if name != "samples"}
                row |= {
                    f"these_words_{name}": x
                    for name, x in spread(fitted["these_words_mean"], fitted["these_words_sd"]).items()
                }
                for level in ("word", "protected_group"):
                    claims_of_level = fitted[f"{level}_claims{contrast:g}"]
                    row[f"{level}_claims"], row[f"{level}_claims_se"] = claims_of_level.mean(), claims_of_level.sem()
                    ratio = fitted[f"{level}_variance"].mean() / fitted[f"{level}_mean_square"].mean()
                    row[f"{level}_sd_to_error"] = ratio**0.5
            rows.append(row)
    return pd.DataFrame(rows)


def share(claims: pd.Series) -> dict[str, float]:
    """Return a share and its Monte Carlo standard error."""
    rate = float(claims.mean())
    return {"samples": len(claims), "claims": rate, "claims_se": float(np.sqrt(rate * (1 - rate) / len(claims)))}


def spread(mean: pd.Series, sd: pd.Series) -> dict[str, float]:
    """Return the posterior sd (root mean square), the actual error, and their ratio with its standard error."""
    square, variance = mean**2, sd**2
    error, posterior = np.sqrt(square.mean()), np.sqrt(variance.mean())
    relative = np.hypot(square.sem() / square.mean(), variance.sem() / variance.mean()) / 2
    ratio = posterior / error
    return {"sd": posterior, "error": error, "sd_to_error": ratio, "sd_to_error_se": ratio * relative}


def read_fits(folder: Path) -> pd.DataFrame:
    """Return all fits of a folder."""
    parts = []
    for path in sorted(folder.glob("*.csv")):
        vectors, protected, controls = path.stem.rsplit("_", 1)[0], "", int(path.stem.rsplit("_", 1)[1])
        protected = next(name for name in PROTECTED if vectors.endswith(name))
        part = pd.read_csv(path)
        part.insert(0, "controls", controls)
        part.insert(0, "protected", protected)
        part.insert(0, "vectors", vectors.removesuffix(f"_{protected}"))
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def run(all_cells: list[Cell], samples: int, folder: Path) -> None:
    """Fit what a folder does not have yet, all cells in turn, and write it there after each block."""
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, samples, _BLOCK):
        for cell in all_cells:
            path = folder / f"{cell.name}.csv"
            have = set(pd.read_csv(path)["sample"]) if path.exists() else set()
            new = [sample for sample in range(start, min(start + _BLOCK, samples)) if sample not in have]
            rows = [row for sample in new for row in fit_sample(cell, sample)]
            if rows:
                frame = pd.DataFrame(rows).reindex(columns=COLUMNS)
                frame.to_csv(path, mode="a", header=not have, index=False, float_format="%.6g")


def pooled(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method, contrast and number of controls: all cells together, each weighing the same.

    Shares are averaged, and ratios of posterior sd and actual error as logarithms.
    """
    rows = []
    for (method, contrast, controls), part in table.groupby(["method", "contrast", "controls"], sort=False):
        row = {"method": method, "contrast": contrast, "controls": controls, "samples": part["samples"].sum()}
        for name in ("claims", "word_claims"):
            row |= {name: part[name].mean(), f"{name}_se": np.sqrt((part[f"{name}_se"] ** 2).sum()) / len(part)}
        for name in ("sd_to_error", "these_words_sd_to_error"):
            relative = part[f"{name}_se"] / part[name]
            ratio = np.exp(np.log(part[name]).mean())
            row |= {name: ratio, f"{name}_se": ratio * np.sqrt((relative**2).sum()) / len(part)}
        rows.append(row)
    return pd.DataFrame(rows)


def markdown(table: pd.DataFrame) -> str:
    """Return the two tables of README.md."""
    cells = [
        ("vectors", "protected", "controls"),
        *table.groupby(["vectors", "protected", "controls"], sort=False).groups,
    ]
    lists = {(*key,): table.loc[table[list(cells[0])].eq(list(key)).all(axis=1)] for key in cells[1:]}
    every = pooled(table)
    lists |= {("all", "all", controls): part for controls, part in every.groupby("controls", sort=False)}

    def row_of(part: pd.DataFrame, method: str, contrast: float) -> dict[str, Any]:
        rows_of_method = part[(part["method"] == method) & (part["contrast"] == contrast)].to_dict("records")
        return {str(name): value for name, value in rows_of_method[0].items()} if rows_of_method else {}

    def claims(row: dict[str, Any], name: str = "claims") -> str:
        return f"{100 * row[name]:.0f} ± {100 * row[f'{name}_se']:.0f}" if row else ""

    def ratio(row: dict[str, Any], name: str = "sd_to_error") -> str:
        return f"{row[name]:.2f} ± {row[f'{name}_se']:.2f}" if row else ""

    names = ["vectors", "protected words", "controls"]
    nothing = [
        [*names, "samples", "`multivariate`", "sd / error", "these words: sd / error", "single words", "oracle",
         "sd / error", "`crossed_per_list`", "sd / error", "`hierarchical`", "sd / error", "WEAT (5)"]
    ]  # fmt: skip
    powers = [
        [*names, *[f"{method}, {contrast:g}" for contrast in CONTRASTS[1:] for method in (
            "`multivariate`", "oracle", "known sd", "`crossed_per_list`", "`hierarchical`", "WEAT")]]
    ]  # fmt: skip
    for key, part in lists.items():
        default_row, oracle_row = row_of(part, "multivariate", 0.0), row_of(part, "oracle", 0.0)
        line = [
            *map(str, key),
            str(default_row["samples"]),
            claims(default_row),
            ratio(default_row),
            ratio(default_row, "these_words_sd_to_error"),
        ]
        line += [claims(default_row, "word_claims"), claims(oracle_row), ratio(oracle_row)]
        for method in OTHERS:
            line += [claims(row := row_of(part, method, 0.0)), ratio(row)]
        nothing.append([*line, claims(row_of(part, "weat", 0.0))])
        methods = ("multivariate", "oracle", "oracle_plain_difference", *OTHERS, "weat")
        powers.append(
            [
                *map(str, key),
                *[claims(row_of(part, method, contrast)) for contrast in CONTRASTS[1:] for method in methods],
            ]
        )
    return "\n\n".join("\n".join(_lines(rows)) for rows in (nothing, powers)) + "\n"


def _lines(rows: list[list[str]]) -> Iterator[str]:
    for place, row in enumerate(rows):
        yield f"| {' | '.join(row)} |"
        if place == 0:
            yield "|" + "---|" * len(row)


def sizes(all_cells: list[Cell]) -> dict[str, dict[str, object]]:
    """Return how many words attribute lists are drawn from, and how many protected words each group has."""
    return {
        f"{cell.vectors}_{cell.words}": {
            "drawn_from": len(cell.pool),
            "protected_words": dict(zip(cell.groups, np.bincount(cell.group_of).tolist(), strict=True)),
        }
        for cell in all_cells
    }


def refits(all_cells: list[Cell], samples: int) -> pd.DataFrame:
    """Return how far a fit with a contrast added to the distances lies from the shifted fit without it.

    A row for each cell, sample and contrast: the difference of means, and of lower and upper ends, in posterior sds.
    """
    rows, spec = [], bb.load_model("multivariate")
    for cell, sample in product(all_cells, range(samples)):
        data = cell.table(sample)
        plain = multivariate_row(data, sample, spec)
        for contrast in CONTRASTS[1:]:
            refit = multivariate_row(
                replace(data, distance=data.distance + contrast * (data.connection == 0)), sample, spec
            )
            moved = {name: (refit[name] - plain[name] - contrast) / plain["sd"] for name in ("mean", "low", "high")}
            rows.append({"cell": cell.name, "sample": sample, "contrast": contrast, **moved})
    return pd.DataFrame(rows)


COLUMNS = [
    "sample", "method", "mean", "sd", "low", "high",
    *[f"these_words_{name}" for name in ("mean", "sd", "low", "high")],
    *[f"{level}_{what}" for level in ("word", "protected_group")
      for what in ("mean_square", "variance", *[f"claims{contrast:g}" for contrast in CONTRASTS])],
    *[f"p{contrast:g}" for contrast in CONTRASTS],
]  # fmt: skip


def main() -> None:
    """Make everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("--samples", type=int, default=250)
    parser.add_argument("--vectors", nargs="+", choices=list(VECTORS), default=list(VECTORS))
    parser.add_argument("--part", default="1/1", help="which of how many parts of the cells to fit")
    parser.add_argument(
        "--refits", type=int, default=0, help="samples a cell that are fitted again with a contrast added"
    )
    parser.add_argument("--fits", type=Path, default=FOLDER / "fits")
    parser.add_argument("--out", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    every = list(cells(arguments.embeddings, arguments.vectors))
    if arguments.refits:
        refits(every, arguments.refits).to_csv(arguments.out / "refits.csv", index=False, float_format="%.3g")
        return
    part, parts = map(int, arguments.part.split("/"))
    run(every[part - 1 :: parts], arguments.samples, arguments.fits)
    fits = read_fits(arguments.fits)
    fits.to_csv(
        arguments.out / "fits.csv.gz", index=False, float_format="%.4g", compression={"method": "gzip", "mtime": 0}
    )
    table = summarise(fits)
    table.to_csv(arguments.out / "claims.csv", index=False, float_format="%.4g")
    print(markdown(pd.read_csv(arguments.out / "claims.csv")))
    counts = table[(table["method"] == "multivariate") & (table["contrast"] == 0)]
    settings = {
        "seed": SEED, "draws": DRAWS, "samples_of_other_models": OTHER_SAMPLES,
        "samples": {f"{row.vectors}_{row.protected}_{row.controls}": row.samples for row in counts.itertuples()},
        "words": sizes(every),
    }  # fmt: skip
    (arguments.out / "run.json").write_text(json.dumps(settings, indent=2) + "\n")


if __name__ == "__main__":
    main()
