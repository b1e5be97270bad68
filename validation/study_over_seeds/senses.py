"""Write `senses.csv` anew from the tables beside it: python validation/study_over_seeds/senses.py."""

import pandas as pd
from study_over_seeds import FOLDER, with_senses, write


def main() -> None:
    """Write what senses and parts of speech explain."""
    words, features = (pd.read_csv(FOLDER / f"{name}.csv.gz", keep_default_na=False) for name in ("words", "features"))
    write(with_senses(words, features, 1500), FOLDER / "senses.csv")


if __name__ == "__main__":
    main()
