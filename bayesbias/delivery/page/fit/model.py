"""The section on the model: equations, priors and the sampler."""

from bayesbias.delivery.page.blocks import Block, Paragraph, Section, Verbatim, fact_table
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.fit_report import FitReport
from bayesbias.reports.posterior.methods import methods


def model_section(page: FitReport) -> Section:
    """Return the section on the fitted model."""
    spec = page.spec
    draws, chains = fit_attribute(page.fit, "draws"), fit_attribute(page.fit, "chains")
    headline = (
        f"Model {spec.name}: {spec.description.rstrip('.') or 'without a description'}. Sampler "
        f"{fit_attribute(page.fit, 'sampler')}, {draws * chains:,} draws, seed "
        f"{fit_attribute(page.fit, 'random_seed')}."
    )
    blocks: list[Block] = [
        *_methods_paragraph(page),
        Verbatim("\n".join(model_equations(spec))),
        fact_table("Priors", {name: str(prior) for name, prior in spec.priors.items()}, header=("Parameter", "Prior")),
        *([Paragraph(f"When to use another model: {spec.avoid}")] if spec.avoid else []),
    ]
    return Section("model", "Model, priors and sampler", blocks, [headline])


def _methods_paragraph(page: FitReport) -> list[Block]:
    """Return the methods paragraph for papers, as text that can be copied."""
    return [Paragraph("For a paper (bb.methods, Markdown):"), Verbatim(methods(page.fit, hdi_prob=page.hdi_prob))]


def model_equations(spec: ModelSpec) -> list[str]:
    """Return the equations of a model as lines of text, with the names of its parameters.

    Indices are i (protected word), j (attribute word), c (connection), l (list).
    """
    switches = spec.switches
    if spec.multivariate:
        family = "StudentT(nu, {})" if switches["likelihood"] == "student_t" else "Normal({})"
        return [
            f"distance[·, j] ~ Multivariate{family.format('mean[·, l(j)], covariance[l(j)]')}",
            "mean[group, l] ~ Flat",
            "words like these: levels, gaps and effects on controls of single words have sds effect_sd",
            "mean[i, l] | mean[group(i), l]: a regression of single words on their group, with",
            "    slopes of mean 0 and sd slope_sd, and variance list_effect times the residual variance for each list",
            "covariance[l]: around a target of attribute_sd² (all protected words), group_attribute_sd² (groups), and",
            "    sigma² list_scale[l]² (single words), with weights target_weight and residual_weight",
        ]
    effect = {"none": "", "one": "attribute_sd", "per_list": "attribute_sd[l(j)]"}[switches["attribute_effects"]]
    location = f"word_mean[i, c]{' + attribute_effect[j]' if effect else ''}"
    pooled = (
        "Normal(connection_mean[c], word_sd[c])" if switches["pooling"] == "partial" else "the prior of connection_mean"
    )
    return [
        f"distance[i, j] ~ Normal({location}, sigma[c])    with c = connection(i, j)",
        f"word_mean[i, c] ~ {pooled}",
        *([f"attribute_effect[j] ~ Normal(0, {effect})"] if effect else []),
    ]
