"""How many words a study needs: tables simulated from a fitted or an assumed model, and fitted again."""

from collections.abc import Mapping, Sequence
from itertools import product
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.arguments import HDI_PROB, check_probability, resolve_seed
from bayesbias.errors import FitError, ReportError, did_you_mean
from bayesbias.models.contrast_estimate import draws_estimate, mixture_estimate
from bayesbias.models.data import ModelData
from bayesbias.models.samplers.collapsed import CollapseError, collapse
from bayesbias.models.samplers.connection_means import connection_mean_posterior
from bayesbias.models.samplers.exact import sample_exact, why_not_exact
from bayesbias.models.samplers.importance import KHAT_MAX
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.robustness.study_plan import Plan, assumed_plan, plan_from_fit
from bayesbias.statements import percent_text

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# Protected words a group, and attribute words a list, that are tried unless the user says otherwise.
SIZES = tuple(product((5, 10, 20, 40), (10, 20, 40, 80)))
# A size suffices if at least this share of the studies of that size has an interval narrower than asked.
ASSURANCE = 0.8
_POINTS = 500
_DRAWS = 2000
# Distances lie in 0 to 2, and so a difference of their means in -2 to 2.
_WIDEST = 4.0
_MOST_ROWS = 20_000_000


def required_words(
    fit: "xr.DataTree | Mapping[str, Any]",
    *,
    width: float,
    contrast: str = "associated - different",
    hdi_prob: float = HDI_PROB,
    sizes: Sequence[tuple[int, int]] | None = None,
    replicates: int = 20,
    random_seed: int | None = None,
) -> "pd.DataFrame":
    """Say how many words a study needs for a contrast's interval to be narrower than a given width.

    For each size, studies are simulated: parameters are drawn from the posterior, then new protected words, new
    attribute words and distances from the parameters; the model is fitted to each, and its interval measured.

    Parameters
    ----------
    fit
        What `fit` returned; or an assumed model, a mapping of `connection_mean`, `word_sd` and `sigma` (each a mapping
        from connection to number; the last two may be one number for all), and if wanted `attribute_sd` (a number, or a
        mapping from ``"stereotype"``, ``"human"``, ``"neutral"``), `protected_groups` (2 unless given) and `controls`
        (words of the ``"human"`` and ``"neutral"`` lists; as many as a list has, unless given).
    width
        The widest interval that will do, in units of cosine distance.
    contrast
        Two connections, such as ``"associated - different"``.
    hdi_prob
        Probability inside the highest posterior density interval.
    sizes
        Pairs of protected words a group and attribute words a list; by default 5 to 40 by 10 to 80. Each protected
        group has one attribute list; a single group has a second list, of different words.
    replicates
        Studies simulated for each size, the same parameters in the same order for every size.
    random_seed
        0 to 2**32 - 1. None draws a seed and records it.

    Returns
    -------
    pandas.DataFrame
        A row for each size: `protected_words` (a group), `attribute_words` (a list), `pairs` (rows of such a table),
        `mean_width` and `mc_se` (its Monte Carlo standard error) in units of cosine distance, `share_narrower` (share
        of the studies whose interval is narrower than `width`) and `share_se` (its own), `studies` (those that could
        be fitted), `suffices` (`share_narrower` is at least 0.8), and `smallest` (it suffices, and no other size tried
        does with no more words of either kind). ``attrs``: `reading`, `width`, `contrast`, `hdi_prob`, `model`, `seed`.

    Raises
    ------
    FitError, ReportError, ModelError
        If `fit` is neither a fit nor a usable mapping, its model is not one that the fast samplers fit, or an argument
        is not usable; before anything is simulated.

    Notes
    -----
    Control lists keep the sizes that they have in the fit. With attribute effects, more protected words cannot make
    up for few attribute words, and the other way round: both widths have a floor. The answer is about the width only,
    not about the difference being detected, and no better than the fit: a model without attribute effects asks for
    too few words.

    References
    ----------
    Joseph, Wolfson and du Berger (1995), Sample size calculations for binomial proportions via highest posterior
    density intervals, for the average length criterion; Kruschke (2015), Doing Bayesian data analysis, chapter 13, for
    planning by simulated precision.

    Examples
    --------
    >>> from bayesbias.reports.robustness.study_size import required_words
    >>> assumed = {"connection_mean": {"associated": 0.9, "different": 0.95}, "word_sd": 0.03, "sigma": 0.06}
    >>> found = required_words(assumed, width=0.03, sizes=[(5, 5), (40, 20)], replicates=5, random_seed=1)
    >>> found["suffices"].tolist()
    [False, True]
    """
    import pandas as pd

    check_probability("hdi_prob", hdi_prob)
    if isinstance(width, bool) or not isinstance(width, Real) or not 0 < width < _WIDEST:
        raise ReportError(f"width={width!r}: give a number above 0 and below {_WIDEST:g}, such as 0.05.")
    if isinstance(replicates, bool) or not isinstance(replicates, int | np.integer) or replicates < 2:
        raise ReportError(f"replicates={replicates!r}: give a whole number of at least 2.")
    tried = _checked_sizes(sizes)
    seed = resolve_seed(random_seed)
    plan = assumed_plan(fit) if isinstance(fit, Mapping) and not hasattr(fit, "children") else plan_from_fit(fit)
    pair = _pair(contrast, plan.connections)
    _check_rows(plan, tried)
    rows = []
    for protected, attributes in tried:
        widths = []
        for replicate in range(replicates):
            data = _simulate(plan, protected, attributes, np.random.default_rng([seed, replicate]))
            widths.append(_width(data, plan.spec, pair, float(hdi_prob), np.random.default_rng([seed, replicate, 1])))
        known = np.array([value for value in widths if value is not None])
        if len(known) < 2:
            raise ReportError(
                f"The simulated studies with {protected} protected words a group and {attributes} attribute words a "
                "list cannot be fitted by the fast sampler. Leave this size out, or give larger ones."
            )
        share = float((known < width).mean())
        rows.append(
            {
                "protected_words": protected,
                "attribute_words": attributes,
                "pairs": len(data.distance),
                "mean_width": float(known.mean()),
                "mc_se": float(known.std(ddof=1) / np.sqrt(len(known))),
                "share_narrower": share,
                "share_se": float(np.sqrt(share * (1 - share) / len(known))),
                "studies": len(known),
                "suffices": share >= ASSURANCE,
            }
        )
    result = pd.DataFrame(rows)
    result["smallest"] = _smallest(result)
    result.attrs = {
        "reading": _reading(result, plan, float(width), contrast, float(hdi_prob)),
        "width": float(width),
        "contrast": contrast,
        "hdi_prob": hdi_prob,
        "model": plan.spec.name,
        "seed": seed,
    }
    return result


def _pair(contrast: str, connections: tuple[str, ...]) -> tuple[int, int]:
    """Return the positions of the two connections of a contrast."""
    names = [name.strip() for name in contrast.split(" - ")] if isinstance(contrast, str) else []
    if len(names) != 2 or names[0] == names[1]:
        raise ReportError(
            f"contrast={contrast!r}: write two connections with a minus between, such as 'associated - different'."
        )
    for name in names:
        if name not in connections:
            raise ReportError(
                f"The model has no connection {name!r}{did_you_mean(name, connections)}; it has "
                f"{', '.join(connections)}. Choose a contrast of these."
            )
    return connections.index(names[0]), connections.index(names[1])


def _checked_sizes(sizes: Sequence[tuple[int, int]] | None) -> list[tuple[int, int]]:
    wrong = ReportError(
        f"sizes={sizes!r}: give pairs of whole numbers, protected words a group (at least 1) and attribute words a "
        "list (at least 2), such as [(5, 10), (10, 20)]."
    )
    try:
        pairs = [tuple(size) for size in (SIZES if sizes is None else sizes)]
    except TypeError as error:
        raise wrong from error
    for pair in pairs:
        whole = all(isinstance(count, int | np.integer) and not isinstance(count, bool) for count in pair)
        if len(pair) != 2 or not whole or pair[0] < 1 or pair[1] < 2:
            raise wrong
    if not pairs:
        raise wrong
    return sorted({(int(protected), int(attributes)) for protected, attributes in pairs})


def _check_rows(plan: Plan, sizes: list[tuple[int, int]]) -> None:
    for protected, attributes in sizes:
        rows = plan.groups * protected * sum(count for _, _, count in plan.lists(attributes))
        if rows > _MOST_ROWS:
            raise ReportError(
                f"A study with {protected:,} protected words a group and {attributes:,} attribute words a list has "
                f"{rows:,} pairs, more than the {_MOST_ROWS:,} that are simulated at once. Leave this size out."
            )


def _simulate(plan: Plan, protected: int, attributes: int, rng: np.random.Generator) -> ModelData:
    """Return a table of a new study: new words, drawn from one draw of the parameters."""
    draw = int(rng.integers(len(plan.connection_mean)))
    place = {name: position for position, name in enumerate(plan.connections)}
    group = np.repeat(np.arange(plan.groups), protected)
    words = len(group)
    columns = []
    for kind, owner, count in plan.lists(attributes):
        if kind != "stereotype":
            column = np.full(words, place[kind])
        else:
            column = np.where(group == owner, place.get("associated", -1), place.get("different", -1))
        columns.append(np.repeat(column[:, None], count, axis=1))
    connection = np.concatenate(columns, axis=1)
    row, attribute = np.nonzero(connection >= 0)
    code = connection[row, attribute]
    word_mean = plan.connection_mean[draw] + plan.word_sd[draw] * rng.standard_normal((words, len(plan.connections)))
    # All connections of one attribute word are of one kind, and so have one sd.
    of_attribute = connection.max(axis=0)
    effect = plan.attribute_sd[draw][of_attribute] * rng.standard_normal(connection.shape[1])
    distance = word_mean[row, code] + effect[attribute] + plan.sigma[draw][code] * rng.standard_normal(len(row))
    return ModelData(
        distance=distance,
        protected=row.astype(np.int64),
        connection=code.astype(np.int64),
        attribute=attribute.astype(np.int64),
        protected_words=np.array([f"p{number}" for number in range(words)]),
        protected_groups=np.array([f"g{number}" for number in group]),
        attribute_words=np.array([f"a{number}" for number in range(connection.shape[1])]),
        connections=plan.connections,
        table_hash="simulated",
    )


def _width(
    data: ModelData, spec: ModelSpec, pair: tuple[int, int], hdi_prob: float, rng: np.random.Generator
) -> float | None:
    """Return the width of the contrast's interval in a fit, or None where the fast sampler cannot vouch for it."""
    base, other = pair
    if why_not_exact(spec) is None:
        try:
            means = sample_exact(data, spec, draws=_DRAWS, rng=rng)[0]["connection_mean"]
        except FitError:
            return None
        found = draws_estimate(means[:, base] - means[:, other], hdi_prob)
    else:
        try:
            drawn = connection_mean_posterior(collapse(data, spec), draws=_POINTS, rng=rng)
        except (CollapseError, np.linalg.LinAlgError):
            return None
        if not drawn.khat <= KHAT_MAX:
            return None
        covariance = drawn.covariance
        variance = covariance[:, base, base] + covariance[:, other, other] - 2 * covariance[:, base, other]
        difference = drawn.mean[:, base] - drawn.mean[:, other]
        found = mixture_estimate(drawn.weights, difference, np.sqrt(variance), hdi_prob)
    return found.high - found.low


def _smallest(result: "pd.DataFrame") -> list[bool]:
    enough = [
        (int(row["protected_words"]), int(row["attribute_words"]), bool(row["suffices"]))
        for row in result.to_dict("records")
    ]
    return [
        suffices
        and not any(
            ok and (p, a) != (protected, attributes) and p <= protected and a <= attributes for p, a, ok in enough
        )
        for protected, attributes, suffices in enough
    ]


def _reading(result: "pd.DataFrame", plan: Plan, width: float, contrast: str, hdi_prob: float) -> str:
    what = f"the {percent_text(hdi_prob)} interval of {contrast!r} narrower than {width:g}"
    rows = result[result["smallest"]].to_dict("records")
    if rows:
        options = [
            f"{row['protected_words']} protected words a group with {row['attribute_words']} attribute words a list"
            for row in rows
        ]
        text = (
            f"Of the sizes tried, the smallest that make {what} in at least {percent_text(ASSURANCE)} of the studies: "
        )
        text += f"{'; or '.join(options)}."
    else:
        best = result.iloc[int(np.argmin(result["mean_width"]))]
        text = (
            f"None of the sizes tried makes {what} in at least {percent_text(ASSURANCE)} of the studies: the narrowest "
            f"on average is {best['mean_width']:.3f}, with {best['protected_words']} protected words a group and "
            f"{best['attribute_words']} attribute words a list. Try larger sizes, or accept a wider interval."
        )
    if not plan.attribute_sd.any():
        text += (
            f" The model {plan.spec.name!r} treats attribute words as independent, and so asks for too few of them "
            "where some attribute words are nearer to everything."
        )
    return text
