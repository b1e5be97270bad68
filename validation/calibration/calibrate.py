"""Check the samplers and their intervals by simulation: simulation-based calibration, and two coverage studies.

    python validation/calibration/calibrate.py [--replicates 1000] [--resume] [--out FOLDER] [PART ...]

Writes a CSV file for each part, run.json, results.md and PNG figures. README.md says what they mean.
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from figures import draw_coverage, draw_ranks
from scipy import stats
from simulations import (
    BIN_COLUMNS,
    SEED,
    coverage_from_posterior,
    coverage_from_prior,
    coverage_from_prior_again,
    coverage_from_prior_large,
    rank_counts,
    sampler_of,
    simulated_ranks,
    small_data,
    uniformity,
)
from threadpoolctl import threadpool_limits

from bayesbias.base.checks import HDI_PROB
from bayesbias.delivery.plots.style import save_figure

FOLDER = Path(__file__).resolve().parent
# Results are written after so many data sets, so that a run that was stopped goes on with --resume.
_BATCH = 50


@dataclass(frozen=True)
class Ranked:
    """A model and a sampler that are ranked; each replicate takes `draws`, of which `kept` (thinned) are looked at."""

    model: str
    sampler: str
    draws: int
    kept: int
    controls: bool = True
    again: bool = False

    @property
    def name(self) -> str:
        """What its files are called."""
        design = "" if self.controls else "_without_controls"
        return f"ranks_{self.model}_{self.sampler}{design}{'_again' if self.again else ''}"

    @property
    def seed(self) -> int:
        """The seed of its data sets; `again`, with other ones."""
        return SEED + self.again


RANKED = (
    Ranked("hierarchical", "exact", 99, 99),
    Ranked("no_pooling", "exact", 99, 99),
    Ranked("crossed", "collapsed", 2000, 99),
    Ranked("crossed_per_list", "collapsed", 2000, 99),
    Ranked("hierarchical", "nutpie", 1900, 19),
    Ranked("multivariate", "conjugate", 400, 99),
    Ranked("multivariate", "conjugate", 400, 99, controls=False),
)
COVERED = ("hierarchical", "crossed")


COVERAGE = {
    "coverage_prior": coverage_from_prior,
    "coverage_posterior": coverage_from_posterior,
    "coverage_prior_again": coverage_from_prior_again,
    "coverage_prior_large": coverage_from_prior_large,
}


def draw_figures(out: Path) -> None:
    """Draw what the CSV files in a folder hold."""
    for ranked in RANKED:
        source = out / f"{ranked.name}.csv"
        if source.exists():
            frame = pd.read_csv(source)
            total = int(frame[BIN_COLUMNS].iloc[0].sum())
            design = "" if ranked.controls else ", no control words"
            design += ", other data sets" if ranked.again else ""
            title = f"{ranked.model}{design}, {ranked.sampler} sampler: {total:,} data sets, {ranked.kept} draws each"
            save_figure(draw_ranks(frame, title), source.with_suffix(".png"), overwrite=True)
    titles = {
        "prior_large": "Parameters from the prior\n(8 protected and 37 attribute words)",
        "posterior": "Parameters from a real posterior\n(WEAT 7, Google News)",
    }
    frames = {
        title: pd.read_csv(out / f"coverage_{name}.csv")
        for name, title in titles.items()
        if (out / f"coverage_{name}.csv").exists()
    }
    if frames:
        save_figure(draw_coverage(frames), out / "coverage.png", overwrite=True)


def write_results(out: Path) -> None:
    """Write results.md: the tables that README.md speaks of, from the CSV files and run.json in a folder."""
    facts = json.loads((out / "run.json").read_text(encoding="utf-8"))
    lines = [
        "# Results of the calibration run",
        "",
        "Written by `calibrate.py`; README.md says what the columns mean.",
        "",
        "## Ranks",
        "",
        "| model | sampler | data sets | given up | quantities | smallest p | p below 0.01 | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    values: list[float] = []
    for ranked in RANKED:
        if ranked.name not in facts:
            continue
        frame, fact = pd.read_csv(out / f"{ranked.name}.csv"), facts[ranked.name]
        worst = frame.loc[frame["p_value"].idxmin()]
        values += list(frame["p_value"])
        lines.append(
            f"| `{ranked.model}`{'' if ranked.controls else ', no controls'}"
            f"{', other data sets' if ranked.again else ''} | {ranked.sampler} | "
            f"{fact['replicates']:,} | {fact['given_up']} | {len(frame)} | "
            f"{worst['p_value']:.2g}, `{worst['quantity']}` | {int((frame['p_value'] < 0.01).sum())} | "
            f"{fact['seconds']:.0f} |"
        )
    p = np.array(values)
    if len(p):
        lines += [
            "",
            f"The whole set: {len(p)} p values, the smallest {p.min():.2g} (Bonferroni's bound at 0.05 is "
            f"{0.05 / len(p):.2g}), {int((p < 0.01).sum())} below 0.01 (expected {0.01 * len(p):.1f}), "
            f"{int((p < 0.05).sum())} below 0.05 (expected {0.05 * len(p):.1f}). Kolmogorov-Smirnov test that p values "
            f"are uniform, as if they were independent: p = {stats.kstest(p, 'uniform').pvalue:.2g}.",
        ]
    for name, title in _COVERAGE_TITLES.items():
        if name not in facts:
            continue
        frame, fact = pd.read_csv(out / f"{name}.csv"), facts[name]
        se = frame["monte_carlo_se"].max()
        lines += [
            "",
            f"## Coverage of the 89 % HPDI: {title}",
            "",
            f"{fact['replicates']:,} data sets, {fact['given_up']} of them given up and counted for neither model; "
            f"{fact['seconds']:.0f} seconds. Monte Carlo standard error {se:.4f}: 0.89 within three of them is "
            f"{HDI_PROB - 3 * se:.3f} to {HDI_PROB + 3 * se:.3f}.",
            "",
            "| quantity | hierarchical | standard errors from 0.89 | mean width | crossed | standard errors from 0.89 "
            "| mean width |",
            "|---|---|---|---|---|---|---|",
        ]
        by_model = {model: part.set_index("quantity") for model, part in frame.groupby("model")}
        for quantity in by_model["crossed"].index:
            row = [by_model[model].loc[quantity] for model in COVERED]
            cells = [f"{one['coverage']:.3f} | {one['z']:+.1f} | {one['mean_width']:.3g}" for one in row]
            lines.append(f"| {quantity} | {' | '.join(cells)} |")
    (out / "results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


_COVERAGE_TITLES = {
    "coverage_prior": "parameters from the prior",
    "coverage_prior_again": "parameters from the prior, other data sets",
    "coverage_prior_large": "parameters from the prior, five times as many other data sets",
    "coverage_posterior": "parameters from the posterior of WEAT 7, Google News",
}


class Record:
    """run.json and the CSV files of a folder."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.file = out / "run.json"
        self.facts = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}

    def write(self, name: str, frame: pd.DataFrame, facts: dict[str, Any]) -> None:
        """Write the results of a part and what is known of its run."""
        frame.to_csv(self.out / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")
        packages = ("bayesbias", "numpy", "scipy", "nutpie", "pymc")
        versions = {package: version(package) for package in packages}
        self.facts[name] = {**facts, "seed": SEED, "versions": versions}
        self.file.write_text(json.dumps(self.facts, indent=2) + "\n", encoding="utf-8")


def run_ranks(name: str, record: Record, *, replicates: int, resume: bool) -> pd.DataFrame:
    """Rank one model under one sampler, batch by batch."""
    ranked = next(one for one in RANKED if name == one.name)
    facts, counts = {"replicates": 0, "given_up": 0, "seconds": 0.0}, None
    if resume and name in record.facts:
        facts = {key: record.facts[name][key] for key in facts}
        counts = pd.read_csv(record.out / f"{name}.csv", index_col="quantity")[BIN_COLUMNS]
    data = small_data(controls=ranked.controls)
    sample = sampler_of(ranked.model, ranked.sampler, ranked.draws, ranked.kept, data)
    while facts["replicates"] < replicates:
        start, size = time.perf_counter(), min(_BATCH, replicates - facts["replicates"])
        ranks, given_up = simulated_ranks(
            ranked.model, sample, data, replicates=size, first=facts["replicates"], seed=ranked.seed
        )
        counted = rank_counts(ranks, ranked.kept)
        counts = counted if counts is None else counts + counted
        facts["replicates"] += size
        facts["given_up"] += given_up
        facts["seconds"] = round(facts["seconds"] + time.perf_counter() - start, 1)
        record.write(name, uniformity(counts), facts)
    return uniformity(counts)


def run_coverage(name: str, record: Record, *, replicates: int) -> pd.DataFrame:
    """Measure one coverage."""
    start = time.perf_counter()
    frame, given_up = COVERAGE[name](replicates)
    seconds = round(time.perf_counter() - start, 1)
    data_sets = int(frame["data_sets"].max()) + given_up
    record.write(name, frame, {"replicates": data_sets, "given_up": given_up, "seconds": seconds})
    return frame


def main() -> None:
    """Run all parts, or those that are named, and draw the figures."""
    names = [*(ranked.name for ranked in RANKED), *COVERAGE]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(names)}, figures; default: all")
    parser.add_argument("--replicates", type=int, default=1000, help="data sets a part (default 1000)")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the results (default: this one)")
    parser.add_argument("--resume", action="store_true", help="go on with ranks where an earlier run was stopped")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.parts if name not in (*names, "figures")]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}")
    if arguments.replicates < 100:
        parser.error("fewer than 100 replicates tell nothing")
    arguments.out.mkdir(parents=True, exist_ok=True)
    record = Record(arguments.out)
    # The matrices are small: with more threads, linear algebra takes longer.
    with threadpool_limits(1):
        for name in arguments.parts or names:
            if name == "figures":
                continue
            if name in COVERAGE:
                frame = run_coverage(name, record, replicates=arguments.replicates)
            else:
                frame = run_ranks(name, record, replicates=arguments.replicates, resume=arguments.resume)
            shown = frame[["quantity", "p_value"]] if "p_value" in frame else frame
            facts = record.facts[name]
            print(f"{name}: {facts['seconds']} s, {facts['given_up']} given up\n{shown.to_string(index=False)}\n")
            sys.stdout.flush()
    draw_figures(arguments.out)
    if record.facts:
        write_results(arguments.out)


if __name__ == "__main__":
    main()
