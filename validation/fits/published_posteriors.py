"""The 15 posteriors that Dobrzeniecka and Urbaniak published, beside ours of the same tables; tables before and after.

    python validation/fits/published_posteriors.py FOLDER

FOLDER is a copy of the authors' repository, github.com/rfl-urbaniak/BayesBias, or of a part of its files. It has no
licence for its data, so that they are not bundled. Writes published.csv and debiased.csv, whose columns README.md
explains. The notebook reproducing_the_paper calls `published` and `debiased`.
"""

import argparse
import gzip
import io
import struct
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesbias as bb

HERE = Path(__file__).resolve().parent
EMBEDDINGS = ("google", "glove", "reddit")
QUESTIONS = {
    "weat1": "weat_1_{}.csv",
    "weat7": "weat_7_{}.csv",
    "religion": "religion_group_{}_dataset.csv",
    "race": "race_group_{}_dataset.csv",
    "gender": "gender_group_{}_dataset.csv",
}
# For each name, the authors' table and the summary of their draws from its posterior.
PUBLISHED = {
    f"{question}_{embedding}": (
        f"datasets/macWeatDatasets/{file.format(embedding)}",
        f"resultsDFs/{question.title()}{embedding.title()}DF.rds",
    )
    for question, file in QUESTIONS.items()
    for embedding in EMBEDDINGS
}
# The tables of the Reddit vectors before and after the authors' debiasing, which have fewer attribute words.
DEBIASED = {
    question: (f"datasets/{question}Reddit.csv", f"datasets/debiased{question.title()}Reddit.csv")
    for question in ("religion", "race", "gender")
}
# The authors' letters. R numbers protected words, and the connections of s, in the order of the alphabet.
WORD_MEANS = {"d": "different", "a": "associated", "h": "human", "n": "neutral"}
CONNECTIONS = sorted(WORD_MEANS.values())
KEY = ["parameter", "connection", "protected_word"]
Show = Callable[[str, pd.DataFrame, xr.DataTree, float | None], object]
PARAMETERS = ("connection_mean", "word_mean", "word_sd", "sigma")


def read_rds(path: Path) -> pd.DataFrame:
    """Return the data frame of numbers that R's saveRDS wrote; its index holds the names of the rows."""
    file = io.BytesIO(gzip.decompress(path.read_bytes()))
    header, *_, length = struct.unpack(">2s4i", file.read(18))
    if header != b"X\n":
        raise ValueError(f"{path} holds no binary data of R.")
    file.read(length)  # the encoding
    columns, attributes = _value(file, [])
    return pd.DataFrame(dict(zip(attributes["names"], columns, strict=True)), index=attributes["row.names"])


def _value(file: io.BytesIO, symbols: list[str]) -> Any:
    """Return the next value: numbers, texts, or a list and its attributes (R Internals, section 1.8)."""
    flags = _integers(file, 1)[0]
    kind, attributed, tagged = flags & 255, flags & 512, flags & 1024
    if kind == 254:  # the end of a chain of attributes
        return {}
    if kind == 255:  # a name that has occurred
        return symbols[(flags >> 8) - 1]
    if kind == 1:
        symbols.append(_value(file, symbols))
        return symbols[-1]
    if kind == 2 and tagged:
        name, value = _value(file, symbols), _value(file, symbols)
        return {name: value} | _value(file, symbols)
    size = _integers(file, 1)[0]
    if kind == 9:
        return file.read(size).decode()
    if kind == 14:
        values: Any = list(struct.unpack(f">{size}d", file.read(8 * size)))
    elif kind in (16, 19):
        values = [_value(file, symbols) for _ in range(size)]
    else:
        raise ValueError(f"A data frame of numbers has no values of R's type {kind}.")
    attributes = _value(file, symbols) if attributed else {}
    return (values, attributes) if kind == 19 else values


def _integers(file: io.BytesIO, size: int) -> tuple[int, ...]:
    return struct.unpack(f">{size}i", file.read(4 * size))


def published_posterior(path: Path, words: Iterable[str]) -> pd.DataFrame:
    """Return a row for each parameter of the authors' draws: `KEY`, `mean`, `sd`, and `n_eff`, its effective draws."""
    rows = read_rds(path).rename_axis("name").reset_index()
    parts = rows["name"].str.extract(r"^(?P<letter>[dahns])(?P<what>bar|sigmabar|)(?:\[(?P<number>\d+)\])?$")
    numbers = pd.to_numeric(parts["number"]).fillna(0).astype(int)
    spread = parts["letter"].eq("s")
    names = {"bar": "connection_mean", "sigmabar": "word_sd", "": "word_mean"}
    rows["parameter"] = parts["what"].map(names).mask(spread, "sigma")
    rows["connection"] = parts["letter"].map(WORD_MEANS).mask(spread, numbers.map(dict(enumerate(CONNECTIONS, 1))))
    rows["protected_word"] = numbers.map({0: "", **dict(enumerate(sorted(words), 1))}).mask(spread, "")
    return rows[[*KEY, "mean", "sd", "n_eff"]]


def authors_table(path: Path) -> pd.DataFrame:
    """Return a table of the authors, with the repeated pairs that they counted and without the words that are lost."""
    with warnings.catch_warnings(action="ignore"):
        return bb.read_table(path, duplicates="keep")


def fitted(table: pd.DataFrame, **settings: Any) -> tuple[xr.DataTree, pd.DataFrame]:
    """Return a fit of the paper's model, and a row for each parameter: `KEY`, `mean`, `sd` and `draws`."""
    fit = bb.fit(table, "hierarchical", random_seed=1, progress=False, **{"draws": 25_000, **settings})
    frames = []
    for parameter in PARAMETERS:
        draws = fit["posterior"][parameter].stack(sample=("chain", "draw"))
        moments = xr.Dataset({"mean": draws.mean("sample"), "sd": draws.std("sample")})
        frames.append(moments.to_dataframe().reset_index().assign(parameter=parameter, draws=draws.sizes["sample"]))
    return fit, pd.concat(frames).fillna({"protected_word": ""})[[*KEY, "mean", "sd", "draws"]]


def comparison(ours: pd.DataFrame, theirs: pd.DataFrame) -> dict[str, Any]:
    """Return how far our means of all parameters are from theirs, in their sd, and the ratios of our sd to theirs."""
    both = ours.merge(theirs, on=KEY, suffixes=("", "_theirs"), validate="one_to_one")
    if not len(both) == len(ours) == len(theirs):
        raise ValueError("The summary of the draws is not of the words of the table.")
    ratio, difference = both["sd"] / both["sd_theirs"], (both["mean"] - both["mean_theirs"]) / both["sd_theirs"]
    errors = (difference / (1 / both["n_eff"] + ratio**2 / both["draws"]) ** 0.5).abs()
    return {
        "parameters": len(both),
        "difference": difference.abs().max(),
        "ratio_low": ratio.min(),
        "ratio_high": ratio.max(),
        "n_eff": theirs["n_eff"].min().round(),
        "errors": errors.max(),
        "beyond": int((errors > 1.96).sum()),
    }


def published(folder: Path, show: Show = lambda *_: None) -> pd.DataFrame:
    """Return a row for each published posterior of a folder.

    `show` gets the name, table and fit of each, and no MAC: the band of its figure is that of the table.
    """
    rows = []
    for name, (table_file, summary_file) in PUBLISHED.items():
        if _are_there(folder, table_file, summary_file):
            table = authors_table(folder / table_file)
            words = table["protected_word"].unique()
            fit, ours = fitted(table)
            theirs = published_posterior(folder / summary_file, words)
            rows.append({"table": name, "protected_words": len(words), "pairs": len(table), **comparison(ours, theirs)})
            show(name, table, fit, None)
    return pd.DataFrame(rows)


def debiased(folder: Path, show: Show = lambda *_: None) -> pd.DataFrame:
    """Return a row for each question and connection: the posterior of its mean before and after debiasing.

    `inside` are the shares of pairs inside the band of MAC, that of the table before debiasing. `show` gets that MAC.
    """
    frames = []
    for question, files in DEBIASED.items():
        if not _are_there(folder, *files):
            continue
        frame, mac = pd.DataFrame({"question": question, "connection": CONNECTIONS}), None
        for when, file in zip(("before", "after"), files, strict=True):
            table = authors_table(folder / file)
            fit, _ = fitted(table)
            means = bb.summary(fit, level="overall").query("parameter == 'connection_mean'").set_index("connection")
            shares = bb.reports.mac_shares(table, mac=mac)
            mac = shares.mac
            columns = means[["mean", "hdi_low", "hdi_high"]].join(shares.shares.set_index("connection")["inside"])
            frame = frame.join(columns.add_suffix(f"_{when}"), on="connection")
            show(f"{question}_{when}", table, fit, mac)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _are_there(folder: Path, *files: str) -> bool:
    if not (folder / "datasets").is_dir():
        raise FileNotFoundError(f"{folder} is no copy of the authors' repository: it has no folder datasets.")
    absent = [file for file in files if not (folder / file).is_file()]
    for file in absent:
        print(f"{file}: not in {folder.name}, left out")
    return not absent


def main() -> None:
    """Compare all posteriors; sample that which differs most from its published form by NUTS too."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=HERE)
    given = parser.parse_args()
    rows = published(given.folder).set_index("table")
    worst = str(rows["difference"].idxmax())
    table = authors_table(given.folder / PUBLISHED[worst][0])
    chains = fitted(table, sampler="nuts", draws=10_000)[1].assign(n_eff=np.inf)  # their error is not asked for
    rows.loc[worst, "nuts_difference"] = comparison(fitted(table)[1], chains)["difference"]
    rows.reset_index().to_csv(given.out / "published.csv", index=False, float_format="%.5g", lineterminator="\n")
    debiased(given.folder).to_csv(given.out / "debiased.csv", index=False, float_format="%.5g", lineterminator="\n")


if __name__ == "__main__":
    main()
