"""How to repeat slopes on covariates: a command and Python code that run as written."""

import json
import shlex
from inspect import signature
from typing import TYPE_CHECKING

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.results import call_options
from bayesbias.models.covariates import NO_NUMBER
from bayesbias.models.fits import fit_attribute, fitted_model
from bayesbias.models.sampling import fit as fit_model
from bayesbias.models.spec import model_code

if TYPE_CHECKING:
    import xarray as xr

FIT_SETTINGS = ("draws", "tune", "chains", "random_seed")
"""Settings of a fit that repeat its draws."""


def effect_code(fit: "xr.DataTree", lists: tuple[str, str] | None, *, within_groups: bool, hdi_prob: float) -> str:
    """Return Python code that repeats slopes, after the command as a comment if the command `covariate` can make them.

    Numbers that came from no file are `COVARIATES`.
    """
    facts = fit_attribute(fit, "table")
    table = fit_attribute(fit, "table_file") if "table_file" in fit.attrs else facts.get("source", "PATH")
    # The file, then the name of its column of words, if it has another one, and the columns that were chosen.
    source = fit_attribute(fit, "covariates_source") if "covariates_source" in fit.attrs else []
    file, word_column, *columns = (*source, "", "")[: max(len(source), 2)]
    is_short = any(entry["reason"] == NO_NUMBER for entry in facts.get("lost_words", ()))
    lines = ["import bayesbias as bb"]
    if source:
        names = "frame_by_word, read_covariates, without_unrated" if is_short else "read_covariates"
        lines += [f"from bayesbias.models.covariates import {names}"]
    lines += ["", f"table = bb.read_table({json.dumps(table)})"]
    if source:
        arguments = [repr(file), *([repr(word_column)] if word_column else [])]
        arguments += [f"columns={columns!r}"] if columns else []
        lines += [f"covariates = read_covariates({', '.join(arguments)})"]
        if is_short:
            lines += ['table = without_unrated({"": table}, {"": frame_by_word(covariates, table)})[""]']
    else:
        lines += ["# COVARIATES: a frame with the column 'word' and the columns of numbers of the table of words"]
    settings = "".join(f", {name}={fit_attribute(fit, name)}" for name in FIT_SETTINGS)
    model = model_code(fitted_model(fit))
    further = call_options(within_groups=(within_groups, False), hdi_prob=(hdi_prob, HDI_PROB))
    lines += [
        f"fit = bb.fit(table, {model}, sampler={json.dumps(fit_attribute(fit, 'sampler'))}"
        f"{settings}, covariates={'covariates' if source else 'COVARIATES'})",
        f"effect = bb.covariate_effect(fit{'' if lists is None else f', {lists!r}'}{further})",
        'bb.write(effect, "covariate.html")',
    ]
    defaults = signature(fit_model).parameters
    can_command = model == json.dumps(defaults["model"].default) and all(
        fit_attribute(fit, name) == defaults[name].default for name in ("tune", "chains")
    )
    if source and can_command:
        words = ["bayesbias", "covariate", table, "--covariates", file]
        words += ["--word-column", word_column] if word_column else []
        words += [word for name in columns for word in ("--column", name)]
        words += ["--drop-unrated"] if is_short else []
        words += [] if lists is None else ["--lists", ",".join(lists)]
        words += ["--within-groups"] if within_groups else []
        words += [] if hdi_prob == HDI_PROB else ["--hdi-prob", str(hdi_prob)]
        words += ["--draws", str(fit_attribute(fit, "draws")), "--seed", str(fit_attribute(fit, "random_seed"))]
        command = shlex.join([*words, "--output", "covariate/"])
        if command.isprintable():  # a name with a line break would end the comment
            lines = [f"# On the command line: {command}", *lines]
    return "\n".join(lines)
