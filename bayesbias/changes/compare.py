"""`compare_embeddings`: how a contrast differs between embeddings, such as an original and a debiased one."""

from collections.abc import Mapping

from bayesbias.base.checks import HDI_PROB
from bayesbias.changes.change_code import DRAWS
from bayesbias.changes.engine import changes_of, checked_tables
from bayesbias.changes.result import Changes, Estimation
from bayesbias.tables.schema import FrameLike


def compare_embeddings(
    tables: Mapping[str, FrameLike],
    *,
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
    draws: int = DRAWS,
    random_seed: int | None = None,
    progress: bool = True,
) -> Changes:
    """Return how the contrasts between associated and other attribute words differ between embeddings.

    Each embedding is compared with the first, as `trend` compares two periods, whatever the others are: the sample are
    the vectors of an attribute word's distances in both embeddings, so that what they share cancels, such as which
    words are near in general. Each table is also fitted by itself, with the default model.

    Parameters
    ----------
    tables
        Tables of one measure (cosine distances, surprisals, scores) by the names of their embeddings, or of what else
        they come from, in reports; the others are compared with the first.
    hdi_prob
        Probability inside the highest posterior density intervals.
    rope
        Changes too small to matter, in the unit of the tables: a half-width, or (low, high).
    draws
        Posterior draws per chain, of 4 chains.
    random_seed
        Seed of the draws. None draws one and records it.
    progress
        Whether to show a progress bar.

    Returns
    -------
    Changes
        Frames `contrasts`, `changes` and `distances`. `print` shows its conclusions.

    Raises
    ------
    TableError
        If a table breaks the schema, tables have different measures, a pair has different connections, a list that is
        no control has fewer than two words (a control list is left out and named, see `Changes.doubts`), or a table
        lacks single pairs of words that it has.
    ReportError, ArgumentError
        If there are fewer than two tables, a name or a setting is not usable, or no contrast is measured.
    NotEnoughMemoryError
        If the draws do not fit into memory.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Rethinking debiasing", compare two fits by eye. Gelman and Hill (2007), Data
    analysis using regression and multilevel/hierarchical models, section 9.3, on modelling gains.

    Examples
    --------
    >>> noise = np.random.default_rng(1).normal(0, 0.01, len(table))
    >>> debiased = table.drop(columns="cosine_similarity")
    >>> debiased["cosine_distance"] += 0.1 + noise
    >>> compared = bb.compare_embeddings({"original": table, "debiased": debiased}, random_seed=1)
    >>> compared.distances[["connection", "direction"]].iloc[0].tolist()
    ['associated', 'farther']
    """
    estimation = Estimation.checked(draws=draws, random_seed=random_seed, hdi_prob=hdi_prob, rope=rope)
    return changes_of(checked_tables(tables), estimation, progress=progress)
