"""The ground floor: what every room stands on."""

from . import results as results
