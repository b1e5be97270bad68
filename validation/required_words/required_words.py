"""Are the widths and the power that `bb.required_words` predicts right? Pilots and larger studies of real words.

    python validation/required_words/required_words.py EMBEDDINGS LISTS [--pilots 10] [--studies 20]

The folders are those of validation/real_contrasts. Pilots of 8 protected words per group and 8 attribute words per list
are drawn from large lists of real words, and so are the studies that they plan. README.md says what the tables mean.
"""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "real_contrasts"))

import real_contrasts  # noqa: E402 - a script in another folder

import bayesbias as bb  # noqa: E402
from bayesbias.base.checks import HDI_PROB  # noqa: E402
from bayesbias.models.data import model_data  # noqa: E402
from bayesbias.models.quick import quick_contrasts  # noqa: E402

SEED = 20261126
PILOT = (8, 8)
# Of the second kind, all that the shorter list has if it has fewer.
LARGER = ((10, 20), (20, 40))
LISTS = (
    ("google_news", "gendered words, professions"),
    ("google_news", "gendered words, names"),
    ("google_news", "professions, gendered words"),
    ("google_news", "professions, names"),
    ("google_news", "names, gendered words"),
    ("google_news", "names, professions"),
    ("google_news", "gendered words, valence"),
    ("google_news", "professions, valence"),
    ("glove", "gendered words, professions"),
    ("glove", "professions, gendered words"),
    ("glove", "gendered words, valence"),
)
# Smaller contrasts are not planned for.
LEAST_CONTRAST = 0.01
CONTRAST = "associated - different"


def sizes_of(whole: real_contrasts.Populations) -> list[tuple[int, int]]:
    """Return the sizes of studies that lists are long enough for, the pilot's first."""
    shortest = min(map(len, whole.attributes))
    return [PILOT, *((words, min(attributes, shortest)) for words, attributes in LARGER)]


def contrast_of(whole: real_contrasts.Populations) -> float:
    """Return the contrast of whole lists."""
    means = [[whole.distances(group, words).mean() for words in whole.attributes] for group in whole.protected]
    return float(real_contrasts.contrasts(np.array(means), np.arange(len(means))).mean())


def drawn_table(
    whole: real_contrasts.Populations, cell: real_contrasts.Cell, size: tuple[int, int], place: int
) -> pd.DataFrame:
    """Return the table of one study of a size."""
    rng = np.random.default_rng([SEED, *size, place])
    return real_contrasts.sampled_table(whole, replace(cell, words=size[0], attributes=size[1]), rng)[0]


def met(
    whole: real_contrasts.Populations, cell: real_contrasts.Cell, size: tuple[int, int], studies: int
) -> np.ndarray:
    """Return the ends of the intervals of real studies of a size, shape (studies, 2)."""
    spec, ends = bb.load_model("multivariate"), []
    for place in range(studies):
        data = model_data(drawn_table(whole, cell, size, place))
        contrasts = quick_contrasts(data, spec, draws=2000, points=500, rng=np.random.default_rng([SEED, place]))
        interval = contrasts[CONTRAST](HDI_PROB)
        ends.append((interval.low, interval.high))
    return np.array(ends)


def predicted(
    whole: real_contrasts.Populations, cell: real_contrasts.Cell, contrast: float, pilots: int, samples: int
) -> pd.DataFrame:
    """Return the widths and the power that each pilot predicts, a row for each pilot and size."""
    frames = []
    for pilot in range(pilots):
        # Studies are drawn with other seeds than pilots.
        fit = bb.fit(
            drawn_table(whole, cell, PILOT, 1000 + pilot), draws=500, chains=2, random_seed=pilot, progress=False
        )
        planned = bb.required_words(
            fit,
            width=0.03,
            true_contrast=contrast,
            sizes=sizes_of(whole),
            samples=samples,
            random_seed=pilot,
            progress=False,
        )
        frames.append(planned.frame.assign(pilot=pilot))
    return pd.concat(frames, ignore_index=True)


def run_lists(
    vectors: str, axis: str, folders: tuple[Path, Path], pilots: int, studies: int, samples: int
) -> pd.DataFrame:
    """Return a row for each size of studies of two kinds of lists: what pilots predict, and what studies have."""
    cell = real_contrasts.Cell(vectors, axis, 0, 2, *PILOT, 0)
    whole = real_contrasts.populations(cell, *folders)
    contrast = contrast_of(whole)
    plans, rows = predicted(whole, cell, contrast, pilots, samples), []
    for size in sizes_of(whole):
        of_size = plans[(plans["protected_words"] == size[0]) & (plans["attribute_words"] == size[1])]
        ends = met(whole, cell, size, studies)
        width = float((ends[:, 1] - ends[:, 0]).mean())
        side = ends[:, 1] < 0 if contrast < 0 else ends[:, 0] > 0
        planned = abs(contrast) >= LEAST_CONTRAST
        rows.append(
            {
                "vectors": vectors,
                "lists": axis,
                "protected_words": size[0],
                "attribute_words": size[1],
                "pilots": pilots,
                "studies": studies,
                "contrast": contrast,
                "predicted_width": of_size["mean_width"].mean(),
                "met_width": width,
                "ratio": of_size["mean_width"].mean() / width,
                "lowest_ratio": of_size["mean_width"].min() / width,
                "highest_ratio": of_size["mean_width"].max() / width,
                "predicted_power": of_size["power"].mean() if planned else np.nan,
                "met_power": side.mean() if planned else np.nan,
            }
        )
    return pd.DataFrame(rows)


def by_size(table: pd.DataFrame) -> pd.DataFrame:
    """Return the means over lists of each size, the largest of each list as one."""
    size = table["protected_words"].map({PILOT[0]: "pilot", **{words: f"{words} words" for words, _ in LARGER}})
    means = table.groupby(size, sort=False).agg(
        lists=("ratio", "size"),
        studies=("studies", "sum"),
        predicted_width=("predicted_width", "mean"),
        met_width=("met_width", "mean"),
        ratio=("ratio", "mean"),
        lowest=("ratio", "min"),
        highest=("ratio", "max"),
        predicted_power=("predicted_power", "mean"),
        met_power=("met_power", "mean"),
    )
    return means.rename_axis("size").reset_index()


def markdown(table: pd.DataFrame) -> str:
    """Return the table of README.md."""
    means = by_size(table)
    digits = {"predicted_width": 4, "met_width": 4}
    lines = [f"| {' | '.join(name.replace('_', ' ') for name in means)} |", "|---" * len(means.columns) + "|"]
    for row in means.to_dict("records"):
        values = [f"{x:.{digits.get(name, 2)}f}" if isinstance(x, float) else str(x) for name, x in row.items()]
        lines.append(f"| {' | '.join(values)} |")
    return "\n".join(lines)


def main() -> None:
    """Run all lists and write the table."""
    given = real_contrasts.script_options(__doc__, FOLDER, pilots=10, studies=20, samples=10)
    begin, frames = time.time(), []
    with threadpool_limits(1, "blas"):
        for number, (vectors, axis) in enumerate(LISTS):
            folders = given.embeddings, given.lists
            frames.append(run_lists(vectors, axis, folders, given.pilots, given.studies, given.samples))
            pd.concat(frames).round(4).to_csv(given.output / "widths.csv", index=False)
            print(f"{number + 1} of {len(LISTS)} lists: {time.time() - begin:.0f} s", flush=True)
    settings = {"seed": SEED, "pilots": given.pilots, "studies": given.studies, "samples": given.samples}
    settings["seconds"] = round(time.time() - begin)
    (given.output / "run.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    print(markdown(pd.read_csv(given.output / "widths.csv")))


if __name__ == "__main__":
    main()
