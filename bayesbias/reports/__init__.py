"""Reports: tables of numbers and sentences, computed from a fit."""
