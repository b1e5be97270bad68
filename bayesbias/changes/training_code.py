"""How to repeat a comparison of seeds: Python code that runs as written, if the vectors came from files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted
from bayesbias.base.results import call_options


@dataclass(frozen=True)
class TrainingSources:
    """Files behind a comparison of seeds.

    - `paths`: path of each embedding, by seed; `resampled`: of those trained on resampled documents.
    - `study`: name or path of the study.
    - `loading`: options of `bayesbias.load_embedding` that differ from their defaults.
    - `folders`: folder of each second condition that was read from files, by its name.
    - `methods`, `sets`: names of debiasing methods, and name or path of their word lists.
    """

    paths: Mapping[str, str]
    study: str
    loading: Mapping[str, Any] = field(default_factory=dict)
    resampled: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    methods: tuple[str, ...] = ()
    sets: str = ""


def training_code(facts: Mapping[str, Any], sources: TrainingSources | None, hdi_prob: float, random_seed: int) -> str:
    """Return Python code that repeats a comparison, given `TrainingComparison.facts`; without files, an outline."""
    settings = "".join(f", {name}={value}" for name, value in facts["settings"].items())
    lost = call_options(max_lost=(facts["max_lost"], MAX_LOST))
    further = call_options(
        first=(facts["first"], "original"),
        baseline=(facts["baseline"], "associated"),
        level=(facts["level"], "overall"),
        scope=(facts["scope"], "population"),
        rope=(facts["rope"], None),
        hdi_prob=(hdi_prob, HDI_PROB),
    )
    others = ", changed=changed" if facts["changed"] else ", resampled=resampled" if facts["resamples"] else ""
    lines = [
        "import bayesbias as bb",
        "",
        *(_outline(facts) if sources is None else _inputs(sources)),
        "",
        "def fitted(vectors):",
        f"    return bb.fit(bb.distance_table(vectors, study{lost}), {facts['model']!r}{settings})",
        "",
        *(_placeholders(facts) if sources is None else _fits(sources)),
        f"compared = bb.compare_trainings(fits{others}{further}, random_seed={random_seed})",
        'bb.write(compared, "trainings.html")',
    ]
    return "\n".join(lines)


def _outline(facts: Mapping[str, Any]) -> list[str]:
    return [
        "study = STUDY",
        f"vectors = {{seed: EMBEDDING, ...}}  # {counted(len(facts['embeddings']), 'embedding')}, by seed",
    ]


def _placeholders(facts: Mapping[str, Any]) -> list[str]:
    lines = ["fits = {seed: fitted(embedding) for seed, embedding in vectors.items()}"]
    if facts["changed"]:
        names = ", ".join(f"{name!r}: {{seed: fitted(OTHER_EMBEDDING), ...}}" for name in facts["changed"])
        lines.append(f"changed = {{{names}}}")
    elif count := facts["resamples"]:
        lines.append(f"resampled = {{name: fitted(EMBEDDING), ...}}  # {counted(count, 'training')} on such documents")
    return lines


def _inputs(sources: TrainingSources) -> list[str]:
    lines = [f"study = bb.load_study({sources.study!r})", f"paths = {dict(sources.paths)!r}"]
    if sources.resampled:
        lines.append(f"resampled_paths = {dict(sources.resampled)!r}")
    if sources.folders:
        lines.append(f"changed_paths = { ({name: dict(paths) for name, paths in sources.folders.items()})!r}")
    if sources.methods:
        lines.append(f"methods = bb.debias.methods_from_names({[*sources.methods]!r}, {{}})")
        lines.append(f"sets = bb.debias.load_debias_words({sources.sets!r})")
    return lines


def _fits(sources: TrainingSources) -> list[str]:
    loading = "".join(f", {name}={value!r}" for name, value in sources.loading.items())
    of_study = f"fitted(bb.load_embedding(path, words=study.words{loading}))"
    whole = f"bb.load_embedding(path{loading})"
    lines = [f"fits = {{seed: {of_study} for seed, path in paths.items()}}"]
    if sources.resampled:
        lines.append(f"resampled = {{name: {of_study} for name, path in resampled_paths.items()}}")
    if sources.folders or sources.methods:
        lines.append("changed = {}")
    if sources.folders:
        lines += [
            "for name, its_paths in changed_paths.items():",
            f"    changed[name] = {{seed: fitted({whole}) for seed, path in its_paths.items()}}",
        ]
    if sources.methods:
        lines += [
            "for name, method in methods.items():",
            "    changed[name] = {}",
            "    for seed, path in paths.items():",
            f"        vectors = {whole}",
            "        changed[name][seed] = fitted(method.fit(vectors, sets).transform(vectors))",
        ]
    return lines
