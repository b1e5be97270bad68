"""How often does the gate pass or fail what it should not? Tables are drawn from large lists of real words.

    python validation/gate/gate.py EMBEDDINGS LISTS [--samples 100]

The folders, cells and truths are those of validation/real_contrasts: the truth is the mean of whole lists, which no
model makes. README.md says what the tables mean.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "real_contrasts"))

import real_contrasts  # noqa: E402 - a script in another folder

from bayesbias.audits.gate_files import probability_worse  # noqa: E402
from bayesbias.audits.gate_rule import outcome_of  # noqa: E402
from bayesbias.base.checks import HDI_PROB  # noqa: E402
from bayesbias.base.exit_codes import FAIL, PASS  # noqa: E402
from bayesbias.models.data import model_data  # noqa: E402
from bayesbias.models.multivariate.attribute_sample import attribute_sample  # noqa: E402
from bayesbias.models.multivariate.posterior_draws import sample_list_means  # noqa: E402
from bayesbias.models.numerics.contrast_estimate import draws_interval  # noqa: E402

# Lists of equal length and spread whose contrasts are real: something associated, and random lists (noise 99).
CELLS = [0, 1, 3, 6, 9, 11, 13, 15, 18, 24, 25]
# Distance from the edge of the region to the truth, in median posterior sds; above 0 the truth lies inside.
INSIDE = (-4, -3, -2, -1, -0.01, 0.01, 1, 2, 3, 4)
DRAWS = 4000


def posterior(table: pd.DataFrame, seed: int) -> np.ndarray:
    """Return draws of the contrast of words like these, by the default model at the audit's number of draws."""
    data = model_data(table)
    settings = {"draws": DRAWS, "seed": seed, "priors": real_contrasts.PRIORS, "covariances": False}
    means = sample_list_means(attribute_sample(data), data.connections, **settings).posterior["connection_mean"]
    return means[..., 0] - means[..., 1]


def run_cell(number: int, embeddings: Path, lists: Path, samples: int) -> tuple[pd.DataFrame, list[dict[str, float]]]:
    """Return the outcomes of samples of a cell by the half-width of the region, and probabilities of worse."""
    cell = real_contrasts.CELLS[number]
    whole = real_contrasts.populations(cell, embeddings, lists)
    means = [
        np.array([whole.distances(group, words).mean() for words in whole.attributes]) for group in whole.protected
    ]
    truth = float(real_contrasts.contrasts(np.array(means), np.arange(cell.groups)).mean())
    rng = np.random.default_rng([real_contrasts.SEED, number])
    draws = [posterior(real_contrasts.sampled_table(whole, cell, rng)[0], seed) for seed in range(samples)]
    intervals = [draws_interval(values, HDI_PROB) for values in draws]
    sd = float(np.median([values.std() for values in draws]))
    rows = []
    for inside in INSIDE:
        width = abs(truth) + inside * sd
        if width <= 0:
            continue
        outcomes = [outcome_of(interval, (-width, width))[0] for interval in intervals]
        shares = {"passes": outcomes.count(PASS) / samples, "fails": outcomes.count(FAIL) / samples}
        rows.append({"cell": number, "samples": samples, "truth": truth, "sd": sd, "inside": inside, **shares})
    # Two samples of one population have the same truth: nothing got worse.
    pairs = zip(draws[::2], draws[1::2], strict=False)
    worse = [{"cell": number, "probability_worse": probability_worse(new, old)} for new, old in pairs]
    return pd.DataFrame(rows), worse


def markdown(rows: pd.DataFrame) -> str:
    """Return the table of README.md: outcomes over cells by the distance from the edge of the region to the truth."""
    lines = ["| inside, in sds | cells | passes | highest | fails | highest |", "|---" * 6 + "|"]
    for inside, part in rows.groupby("inside"):
        shares = [part["passes"].mean(), part["passes"].max(), part["fails"].mean(), part["fails"].max()]
        lines.append(f"| {inside:g} | {len(part)} | {' | '.join(f'{share:.3f}' for share in shares)} |")
    return "\n".join(lines)


def main() -> None:
    """Run the cells and write gate.csv, worse.csv and run.json."""
    options = real_contrasts.script_options(__doc__, FOLDER, samples=100)
    begin, frames, worse = time.time(), [], []
    with threadpool_limits(1, "blas"):
        for number in CELLS:
            frame, probabilities = run_cell(number, options.embeddings, options.lists, options.samples)
            frames.append(frame)
            worse += probabilities
            pd.concat(frames).round(4).to_csv(options.output / "gate.csv", index=False)
            pd.DataFrame(worse).round(4).to_csv(options.output / "worse.csv", index=False)
            print(f"cell {number}: {time.time() - begin:.0f} s", flush=True)
    run = {
        "seed": real_contrasts.SEED,
        "samples": options.samples,
        "draws": DRAWS,
        "seconds": round(time.time() - begin),
    }
    (options.output / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
