"""The model, the rows and the table that a fit was made from."""

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.models.data import ModelData
from bayesbias.models.fitted.fit_content import stored_model, stored_rows
from bayesbias.models.fitted.fits import check_fit, fit_attribute
from bayesbias.models.multivariate.list_model import DISTANCE_ERROR
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.provenance import Provenance
from bayesbias.tables.schema import ATTRS_KEY, validate_table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def fitted_model(fit: "xr.DataTree") -> ModelSpec:
    """Return the model of a fit, with the priors that it was fitted with.

    >>> str(fitted_model(fit).priors["sigma"])
    'Exponential(rate=2)'
    """
    return stored_model(fit_attribute(fit, "model"))


def fitted_rows(fit: "xr.DataTree") -> ModelData:
    """Return the rows that the model was fitted to, as arrays."""
    return stored_rows(check_fit(fit))


def groups_without_contrast(fit: "xr.DataTree") -> dict[str, str]:
    """Return the side that each protected group lacks which is in no contrast, as in "no associated list"."""
    stored: dict[str, str] = fit_attribute(fit, "groups_not_compared")
    return stored


def tied_directions(fit: "xr.DataTree") -> int:
    """Return the number of directions in which the distances to the protected words are tied, in a multivariate fit.

    In these directions the posterior mean of the covariance of attribute words has an sd of at most three times
    DISTANCE_ERROR for each kind of list: hard debiasing removed the direction, words have the same vector, or there are
    more words than dimensions.
    """
    posterior = fit["posterior"].to_dataset()
    if "residual_covariance" not in posterior:
        return 0
    covariance = posterior["residual_covariance"].mean(("chain", "draw", "attribute_group")).to_numpy()
    return int((np.linalg.eigvalsh(covariance) < (3 * DISTANCE_ERROR) ** 2).sum())


def fitted_table(fit: "xr.DataTree") -> "pd.DataFrame":
    """Return the distance table that the model was fitted to, rebuilt from the fit.

    Returns
    -------
    pandas.DataFrame
        The same rows in the same order, with their provenance.

    Examples
    --------
    >>> rebuilt = bb.models.fitted_table(fit)
    >>> bool((rebuilt["cosine_distance"].to_numpy() == table["cosine_distance"].to_numpy()).all())
    True
    """
    import pandas as pd

    rows = fitted_rows(fit)
    connections = np.asarray(rows.connections, dtype=str)
    table = pd.DataFrame(
        {
            "protected_word": rows.protected_words[rows.protected],
            "protected_group": rows.protected_groups[rows.protected],
            "attribute_word": rows.attribute_words[rows.attribute],
            "connection": connections[rows.connection],
            "cosine_distance": rows.distance,
            "cosine_similarity": 1.0 - rows.distance,
        }
    )
    facts = fit_attribute(fit, "table")
    constant = fit["constant_data"].to_dataset()
    table["attribute_group"] = constant["attribute_group"].to_numpy()[constant["attribute_group_index"].to_numpy()]
    table.attrs[ATTRS_KEY] = Provenance({name: value for name, value in facts.items() if name != "hash"})
    return validate_table(table)
