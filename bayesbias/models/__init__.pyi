from .fits import add_groups as add_groups
from .fits import fit_attribute as fit_attribute
from .fits import fitted_table as fitted_table
from .simulate import simulate_table as simulate_table
