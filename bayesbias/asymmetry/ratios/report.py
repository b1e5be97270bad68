"""`report`: compare people's associations with vectors or models, by pairs, relations and agreement."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, overload

from bayesbias.asymmetry.ratios.agreement import LEAST_PAIRS, cam, directional_accuracy, too_few
from bayesbias.asymmetry.ratios.alar import alar, usable
from bayesbias.asymmetry.ratios.asymmetry_report import AsymmetryReport
from bayesbias.asymmetry.ratios.compare_norms import compare_norms, named_norms, pairs_of, stacked
from bayesbias.asymmetry.ratios.differences import cam_difference
from bayesbias.asymmetry.sources.conditional_sources import ConditionalSource, lar
from bayesbias.asymmetry.sources.evocation import Evocation
from bayesbias.base.checks import HDI_PROB, check_items, check_probability, resolve_seed
from bayesbias.base.results import Result, ResultGroup
from bayesbias.errors import MeasureError, QuestionWarning, collected_warnings, warn_user

if TYPE_CHECKING:
    import pandas as pd

type Source = ConditionalSource | Callable[[Evocation], ConditionalSource]
type Sources = Mapping[str, Source] | Sequence[ConditionalSource]
type Norms = Mapping[str, Evocation] | Sequence[Evocation]


@overload
def report(
    norms: Evocation,
    sources: Sources,
    relations: "pd.DataFrame | None" = None,
    *,
    relation: Any = None,
    seen: str = "both",
    common: bool = True,
    gamma: float | Sequence[float] = 0.0,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> AsymmetryReport: ...


@overload
def report(
    norms: Norms,
    sources: Sources,
    relations: "pd.DataFrame | None" = None,
    *,
    relation: Any = None,
    seen: str = "both",
    common: bool = True,
    gamma: float | Sequence[float] = 0.0,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> ResultGroup: ...


def report(
    norms: Evocation | Norms,
    sources: Sources,
    relations: "pd.DataFrame | None" = None,
    *,
    relation: Any = None,
    seen: str = "both",
    common: bool = True,
    gamma: float | Sequence[float] = 0.0,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> AsymmetryReport | ResultGroup:
    """Return a comparison of people's associations with vectors or models: which word of a pair evokes the other more.

    Parameters
    ----------
    norms
        From `evocation`; or several, as a list or a mapping of names.
    sources
        Any number of sources to compare with the norms, from `static` and others: a list, or a mapping of names. In a
        mapping, a source may be a function that takes the norms, such as one that makes `static` with their
        vocabulary.
    relations
        From `read_relations`; None for pairs without relations.
    relation
        Names of the relations to use. None uses all, with ``RelatedTo`` for pairs that are not listed.
    seen
        ``"both"`` for pairs that evoke each other, or ``"either"`` to include pairs listed in only one direction.
    common
        Whether agreement, accuracy and means of relations are those of the pairs for which all sources have a number,
        as in the paper. If False, each source has its own pairs, and only `differences` compares like with like.
    gamma
        Threshold of directions, or several: see `directional_accuracy`.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Seed of the draws of means of relations.

    Returns
    -------
    AsymmetryReport or ResultGroup
        With several norms, a group: `compare_norms` as ``"between_norms"``, and a report for each of the norms by
        name.

    Raises
    ------
    MeasureError
        If there is no source, or two have the same name; if a relation is unknown, or the norms have too few pairs; if
        a source has no number for any of the pairs, or the sources have too few pairs in common.

    Warns
    -----
    QuestionWarning
        If a relation has too few pairs for a correlation, or a source has too few of all pairs, so that its agreement
        with the norms is not available.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 9 for the common pairs; tables 1 (norms), 2 (vectors and models,
    several norms) and 3 (many models).

    Examples
    --------
    >>> words = bb.load_study("weat7").protected_words[:6]
    >>> rows = [(a, b, 2 + at, 100) for a in words for at, b in enumerate(words) if a != b]
    >>> table = pd.DataFrame(rows, columns=["cue", "response", "count", "participants"])
    >>> vectors = bb.asymmetry.static(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> found = bb.asymmetry.report(bb.asymmetry.evocation(table), [vectors], random_seed=1)
    >>> len(found.ratios)
    30
    """
    seed = resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    settings: dict[str, Any] = {"relation": relation, "seen": seen, "hdi_prob": hdi_prob, "random_seed": seed}
    if isinstance(norms, Evocation):
        return _report(norms, sources, relations, common=common, gamma=gamma, **settings)
    every = named_norms(norms)
    results: dict[str, Result] = {}
    if len(every) > 1:
        results["between_norms"] = compare_norms(every, relations, **settings)
    for name, of_people in every.items():
        results[name] = _report(of_people, sources, relations, common=common, gamma=gamma, **settings)
    return ResultGroup(f"Which word evokes the other more? {', '.join(every)}", results)


def _report(
    norms: Evocation,
    sources: Sources,
    relations: "pd.DataFrame | None",
    *,
    common: bool,
    gamma: float | Sequence[float],
    **settings: Any,
) -> AsymmetryReport:
    hdi_prob, seed = settings["hdi_prob"], settings["random_seed"]
    named = _named(sources, norms)
    pairs = pairs_of(norms, relations, relation=settings["relation"], seen=settings["seen"])
    every: dict[str, ConditionalSource] = {norms.name: norms, **named}
    ratios = {name: lar(source, pairs, hdi_prob=hdi_prob) for name, source in every.items()}
    for name, frame in ratios.items():
        usable(frame, name)
    truth = ratios[norms.name]
    not_compared = {name: why for name in named if (why := too_few(truth, ratios[name]))}
    compared = [name for name in named if name not in not_compared]
    in_all = _in_all([truth, *(ratios[name] for name in compared)]) if common else truth["left_out"] == ""
    if in_all.sum() < LEAST_PAIRS:
        fewest = min(compared, key=lambda name: int((ratios[name]["left_out"] == "").sum()))
        raise MeasureError(
            f"The sources have {int(in_all.sum())} pairs of {norms.name} in common; at least {LEAST_PAIRS} are needed. "
            f"Leave out {fewest}, which has the fewest, or compare each on its own pairs (common=False, or --own)."
        )
    ratios = {name: frame.assign(compared=in_all & (frame["left_out"] == "")) for name, frame in ratios.items()}
    shared = {name: frame[frame["compared"]] for name, frame in ratios.items() if frame["compared"].any()}
    directed = {name: frame for name, frame in shared.items() if "directed" in frame and frame["directed"].sum() > 1}
    means = {name: alar(frame, hdi_prob=hdi_prob, random_seed=seed) for name, frame in directed.items()}
    lost = {
        name: frame.loc[frame["left_out"] != "", "left_out"]
        .value_counts()
        .rename_axis("left_out")
        .reset_index(name="pairs")
        for name, frame in ratios.items()
    }
    people = shared[norms.name]
    with collected_warnings(QuestionWarning) as caught:  # all sources have the same small relations
        agreement = {name: cam(people, shared[name], hdi_prob=hdi_prob) for name in compared}
        accuracy = {
            name: directional_accuracy(people, shared[name], gamma=gamma, hdi_prob=hdi_prob) for name in compared
        }
        differences = [
            cam_difference(people, shared[first], shared[second], hdi_prob=hdi_prob).assign(first=first, second=second)
            for first, second in combinations(compared, 2)
            if not too_few(shared[first], shared[second])
        ]
    unsaid = [f"No agreement of {name} with {norms.name}: {why}" for name, why in not_compared.items()]
    for text in dict.fromkeys([*unsaid, *(str(warning.message) for warning in caught)]):
        warn_user(text, QuestionWarning)
    return AsymmetryReport(
        norms=norms.name,
        sources=tuple(named),
        ratios=stacked(ratios),
        relations=stacked(means),
        agreement=stacked(agreement),
        accuracy=stacked(accuracy),
        differences=_listed(differences),
        left_out=stacked(lost),
        not_compared=not_compared,
        seen=settings["seen"],
        common=common,
        hdi_prob=hdi_prob,
        random_seed=seed,
    )


def _in_all(frames: "list[pd.DataFrame]") -> "pd.Series[bool]":
    """Return whether all frames, whose rows are the same pairs, have a number, for each row."""
    in_all = frames[0]["left_out"] == ""
    for frame in frames[1:]:
        in_all &= frame["left_out"] == ""
    return in_all


def _named(sources: Any, norms: Evocation) -> dict[str, ConditionalSource]:
    """Return the sources by name; a function of the norms becomes the source that it makes."""
    if isinstance(sources, Mapping):
        named = dict(sources)
    else:
        listed = check_items("sources", sources, "a list of sources")
        named = {getattr(source, "name", ""): source for source in listed}
        if len(named) < len(listed):
            raise MeasureError(
                "Two sources have the same name. Give a mapping of names, such as {'before': ..., 'after': ...}."
            )
    if not named or norms.name in named or not all(isinstance(name, str) and name for name in named):
        raise MeasureError(
            f"The names of the sources are {', '.join(map(str, named)) or 'missing'}. Give at least one source, each "
            f"with a unique name other than {norms.name!r}."
        )
    return {name: source_of(source, norms) for name, source in named.items()}


def source_of(source: Source, norms: Evocation) -> ConditionalSource:
    """Return a source, or the one that a function makes for norms."""
    if isinstance(source, ConditionalSource):
        return source
    return source(norms) if callable(source) else source  # `lar` refuses what is no source


def _listed(differences: "list[pd.DataFrame]") -> "pd.DataFrame":
    import pandas as pd

    if not differences:
        return pd.DataFrame(columns=["first", "second", "relation"])
    whole = pd.concat(differences, ignore_index=True)
    return whole[["first", "second", *(name for name in whole.columns if name not in ("first", "second"))]]
