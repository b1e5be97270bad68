"""Models: what they are (`spec`), their PyMC form (`pymc_model`), their fits, and fitting them (`sampling`)."""

from .fitted.fit_source import fitted_table as fitted_table
from .fitted.fits import fit_attribute as fit_attribute
from .pymc_model import pymc_model as pymc_model
from .simulate import simulate_table as simulate_table
