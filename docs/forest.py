"""Draw the picture of the README: WEAT 7 in Google News, by the default model."""

from pathlib import Path

import bayesbias as bb

table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
fit = bb.fit(table, random_seed=1)
bb.plots.plot_contrasts(fit, rope=0.02).savefig(Path(__file__).parent / "forest.png", dpi=110)
