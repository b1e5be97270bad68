"""What differs between two studies or two models, word by word and prior by prior."""

from collections.abc import Iterator, Mapping, Sequence

from bayesbias.base.number_text import quoted_name
from bayesbias.models.spec import ModelSpec
from bayesbias.studies.faults import CONTROLS, plain_factors
from bayesbias.studies.study import Study


def study_changes(before: Study, now: Study) -> Iterator[str]:
    """Yield how a study differs from an earlier one: words of each list, lists, associations, questions and factors.

    >>> lists = {"attributes": {"good": ["joy"], "bad": ["war"]}, "associated": [("pets", "good")]}
    >>> before, now = (
    ...     bb.Study(name="pets", protected={"pets": words}, **lists, human="none", neutral="none")
    ...     for words in (["cat", "dog"], ["cat", "hamster"])
    ... )
    >>> list(study_changes(before, now))
    ["'hamster' was added to 'pets'", "'dog' was removed from 'pets'"]
    """
    yield from _list_changes(before.protected, now.protected, "protected group")
    yield from _list_changes(before.attributes, now.attributes, "attribute list")
    controls, controls_now = (
        {name: getattr(study, name) for name in CONTROLS if getattr(study, name)} for study in (before, now)
    )
    yield from _list_changes(controls, controls_now, "control list")
    for verb, pairs in _added_and_removed(before.associated, now.associated):
        yield from (f"the association of {quoted_name(a)} with {quoted_name(b)} was {verb}" for a, b in pairs)
    yield from _entry_changes(before.questions, now.questions, "question")
    factors, factors_now = (plain_factors(vars(study)) for study in (before, now))
    for section in dict.fromkeys((*factors, *factors_now)):
        yield from _entry_changes(factors.get(section, {}), factors_now.get(section, {}), section.replace("_", " "))


def model_changes(before: ModelSpec, now: ModelSpec) -> Iterator[str]:
    """Yield how a model differs from an earlier one in its name, its switches and its priors.

    >>> changed = bb.load_model("crossed", priors={"sigma": "HalfNormal(0.2)"})
    >>> list(model_changes(bb.load_model("crossed"), changed))
    ['the prior of sigma was Exponential(rate=2) and is HalfNormal(sigma=0.2)']
    """
    if before.name != now.name:
        yield f"the model was {quoted_name(before.name)} and is {quoted_name(now.name)}"
    for switch, value in before.switches.items():
        if value != now.switches[switch]:
            yield f"{switch} was {value} and is {now.switches[switch]}"
    for name in dict.fromkeys((*before.priors, *now.priors)):
        old, new = (str(spec.priors.get(name, "none")) for spec in (before, now))
        if old != new:
            yield f"the prior of {name} was {old} and is {new}"


def _list_changes(before: Mapping[str, Sequence[str]], now: Mapping[str, Sequence[str]], kind: str) -> Iterator[str]:
    for verb, names in _added_and_removed(list(before), list(now)):
        yield from (f"the {kind} {quoted_name(name)} was {verb}" for name in names)
    for name in (name for name in before if name in now):
        for verb, words in _added_and_removed(before[name], now[name]):
            place = f"{'to' if verb == 'added' else 'from'} {quoted_name(name)}"
            yield from (f"{quoted_name(word)} was {verb} {place}" for word in words)


def _entry_changes(before: Mapping[str, object], now: Mapping[str, object], kind: str) -> Iterator[str]:
    for verb, names in _added_and_removed(list(before), list(now)):
        yield from (f"the {kind} {quoted_name(name)} was {verb}" for name in names)
    yield from (
        f"the {kind} {quoted_name(name)} was changed" for name in before if name in now and before[name] != now[name]
    )


def _added_and_removed[Entry](before: Sequence[Entry], now: Sequence[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    old, new = set(before), set(now)
    yield "added", [entry for entry in now if entry not in old]
    yield "removed", [entry for entry in before if entry not in new]
