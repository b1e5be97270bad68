"""Freezing: a plan of a study or of an audit, before its vectors are read."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.audits.audit_frame import CONTRAST
from bayesbias.audits.plan import AuditPlan, check_measures, read_audit_plan, read_studies
from bayesbias.base.checks import HDI_PROB, check_choice, check_items, check_probability, resolve_seed
from bayesbias.base.files.inputs import read_toml
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.embeddings.vocabularies import case_text, spelling_rule
from bayesbias.errors import ArgumentError, ReportError, name_some
from bayesbias.estimates.intervals import contrast_name
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.reports.plans.frozen_plan import LEVELS, FrozenPlan, decision_rule, planned_sizes
from bayesbias.reports.plans.record import AskedQuestion, PlanRecord, RopeLike, check_region, study_hash
from bayesbias.reports.robustness.study_size import required_words
from bayesbias.studies.study import Study, StudyLike, list_studies
from bayesbias.workers.cells import package_version

if TYPE_CHECKING:
    import xarray as xr


def freeze_plan(
    source: StudyLike,
    *,
    model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    hdi_prob: float = HDI_PROB,
    rope: RopeLike | None = None,
    contrasts: Sequence[str] | None = None,
    levels: Sequence[str] = LEVELS[:2],
    pilot: "xr.DataTree | Mapping[str, Any] | None" = None,
    width: float = 0.03,
    true_contrast: float | None = None,
    samples: int = 20,
    random_seed: int | None = None,
    progress: bool = True,
) -> FrozenPlan:
    """Return the plan of a study or an audit, to be written before its vectors are read.

    Parameters
    ----------
    source
        A study, as for `load_study`; or the path of the TOML file of an audit.
    model
        Model that will be fitted, as for `fit`; an audit has its own.
    hdi_prob
        Probability inside the highest posterior density intervals; an audit has its own.
    rope
        Region of practical equivalence, as for `audit`; an audit has its own.
    contrasts
        Contrasts of interest, such as ``["associated - different"]``. None: the first contrast of each study.
    levels
        Levels at which they are of interest, of ``"overall"``, ``"protected_group"`` and ``"word"``. Numbers of other
        contrasts and levels are exploratory. The questions of a study and the effects of its factors are planned.
    pilot
        Fit of a pilot study, or assumed parameters, as for `required_words`, from which studies of the planned size are
        simulated. None: the plan states no power.
    width
        Width that the interval should have, in units of cosine distance, with `pilot`.
    true_contrast
        True value of the contrast whose power is wanted, such as -0.05, with `pilot`.
    samples
        Number of simulated studies, with `pilot`.
    random_seed
        Seed of the simulation, from 0 to 2**32 - 1. None draws a seed and records it.
    progress
        Whether to show a progress bar of the simulation.

    Returns
    -------
    FrozenPlan
        The plan, with hashes of lists and model, today's date (UTC) and the version of the package; `write_plan` writes
        it. `report` and ``bayesbias audit --frozen-plan`` compare results with it.

    Raises
    ------
    StudyError, ReportError, ModelError, ArgumentError, InputFileError
        If the study or audit cannot be read or has faults, or another argument is not usable: a contrast that no study
        has, a model, region or interval beside those of an audit, or a pilot for several studies.

    Notes
    -----
    No vectors are read: which words they lack, and what intervals can include, is no part of the plan.

    Examples
    --------
    >>> plan = bb.audits.freeze_plan("weat7", rope=0.02)
    >>> plan.contrasts, plan.levels, list(plan.models)
    (('associated - different',), ('overall', 'protected_group'), ['multivariate'])
    """
    seed = None if random_seed is None else resolve_seed(random_seed)
    audit = _audit_of(source)
    if audit is None:
        studies, embeddings = read_studies(source), [""]
        specs: list[ModelSpec | None] = [load_model(model)]
        measures: tuple[str, ...] = (CONTRAST,)
        settings: dict[str, Any] = {}
    else:
        given = {"model": (model, DEFAULT_MODEL), "hdi_prob": (hdi_prob, HDI_PROB), "rope": (rope, None)}
        if twice := [name for name, (value, usual) in given.items() if value != usual]:
            raise ArgumentError(f"{twice[0]}: the audit has its own. Leave it out, or write it into the file.")
        settings = dict(audit.settings)
        embeddings = list(audit.embeddings)
        studies, specs = _studies_of(audit), _models_of(settings)
        measures = check_measures(audit.measures, specs)
        hdi_prob, rope = settings.get("hdi_prob", HDI_PROB), settings.get("rope")
    region = check_region(rope)
    record = PlanRecord(
        region,
        check_probability("hdi_prob", hdi_prob),
        {
            (embedding, study.name, "" if spec is None else spec.name): AskedQuestion(
                study_hash(study), "" if spec is None else spec.digest, study=study, model=spec
            )
            for embedding, study, spec in product(embeddings, studies, specs)
        },
        name="plan",
    )
    chosen = _checked_contrasts(contrasts, studies)
    checked_levels = check_items("levels", levels, "a list of levels")
    for level in checked_levels or [""]:
        check_choice("levels", level, LEVELS)
    plan = FrozenPlan(
        record=record,
        date=datetime.now(UTC).date().isoformat(),
        package=f"bayesbias {package_version()}",
        rule=decision_rule(region),
        measures=measures,
        contrasts=chosen if CONTRAST in measures else (),
        levels=tuple(checked_levels) if CONTRAST in measures else (),
        settings={} if audit is None else _setting_texts(settings),
    )
    if pilot is None:
        return plan
    simulation = {
        "width": width,
        "true_contrast": true_contrast,
        "samples": samples,
        "random_seed": seed,
        "progress": progress,
    }
    return replace(plan, power=_power(plan, pilot, simulation))


def _audit_of(source: Any) -> AuditPlan | None:
    """Return the audit of a TOML file, or None if the source is a study."""
    if not isinstance(source, str | os.PathLike) or source in list_studies() or Path(source).suffix != ".toml":
        return None
    if not Path(source).exists() or "embeddings" not in read_toml(source, ReportError):
        return None
    return read_audit_plan(source)


def _studies_of(audit: AuditPlan) -> list[Study]:
    studies = read_studies(list(audit.studies))
    return studies if audit.settings.get("controls", True) else [study.without_controls() for study in studies]


def _models_of(settings: Mapping[str, Any]) -> list[ModelSpec | None]:
    names = settings.get("models", [settings.get("model", DEFAULT_MODEL)])
    return [None if name is None else load_model(name) for name in names]


def _setting_texts(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of an audit that decide which words enter, as its record has them."""
    rule = spelling_rule(*(settings.get(name, usual) for name, usual in _FORMS.items()))
    return {
        "Case rules": case_text(rule),
        "Largest share of lost words": f"{settings.get('max_lost', MAX_LOST):g}",
    }


_FORMS = {"case": "exact", "prefix": "", "suffix": ""}


def _checked_contrasts(contrasts: Sequence[str] | None, studies: Sequence[Study]) -> tuple[str, ...]:
    """Return the contrasts of interest, which a study must have; by default the first of each study."""
    by_study = [
        [contrast_name("associated", other) for other in study.connections if other != "associated"]
        for study in studies
    ]
    if contrasts is None:
        return tuple(dict.fromkeys(names[0] for names in by_study if names))
    chosen = check_items("contrasts", contrasts, "a list of contrasts")
    present = dict.fromkeys(name for names in by_study for name in names)
    if not chosen or any(name not in present for name in chosen):
        raise ReportError(f"contrasts: give some of those that the plan can have: {name_some(present)}.")
    return tuple(dict.fromkeys(chosen))


def _power(plan: FrozenPlan, pilot: Any, simulation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the power of the planned sizes, and what it was simulated from."""
    if len(plan.studies) > 1 or not plan.contrasts:
        raise ReportError(
            f"pilot: power is that of one study's contrast, and the plan has {name_some(plan.studies)}. Freeze one "
            "study at a time, or leave the pilot out."
        )
    (study,) = plan.studies.values()
    planned = planned_sizes(study)
    if planned["attribute_words_per_list"] < 2:
        raise ReportError(
            f"pilot: a list of {study.name!r} has one word, and studies are simulated with two or more. Add words, or "
            "leave the pilot out."
        )
    sizes = [(planned["protected_words_per_group"], planned["attribute_words_per_list"])]
    contrast = plan.contrasts[0]
    result = required_words(
        pilot,
        contrast=contrast,
        hdi_prob=plan.record.hdi_prob,
        sizes=sizes,
        **simulation,
    )
    row = result.frame.to_dict("records")[0]
    assumed = isinstance(pilot, Mapping) and not hasattr(pilot, "children")
    power: dict[str, Any] = {
        "source": "assumed parameters" if assumed else "a pilot fit",
        "contrast": contrast,
        "width": result.width,
        **planned,
        "mean_width": float(row["mean_width"]),
        "mean_width_mcse": float(row["mc_se"]),
        "share_narrower": float(row["share_narrower"]),
        "share_narrower_mcse": float(row["share_se"]),
        "simulated_studies": int(row["studies"]),
        "random_seed": result.random_seed,
    }
    if result.true_contrast is not None:
        power |= {
            "true_contrast": result.true_contrast,
            "power": float(row["power"]),
            "power_mcse": float(row["power_se"]),
        }
    return power
