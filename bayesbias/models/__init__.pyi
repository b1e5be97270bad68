"""Models: what they are (`spec`), their PyMC form (`pymc_model`), their fits, and fitting them (`sampling`)."""

from .fits import add_groups as add_groups
from .fits import fit_attribute as fit_attribute
from .fits import fitted_table as fitted_table
from .pymc_form import pymc_model as pymc_model
from .simulate import simulate_table as simulate_table
