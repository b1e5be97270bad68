"""The registry of debiasing methods: names, chains, settings and requirements."""

import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError


def test_what_a_method_needs_is_a_line_for_each() -> None:
    for name in bb.debias.METHODS:
        requirements = bb.debias.method_requirements(name)
        assert requirements.endswith(".")
        assert "\n" not in requirements
    with pytest.raises(ArgumentError, match="'hard'"):
        bb.debias.method_requirements("hrad")


def test_methods_by_name() -> None:
    methods = bb.debias.methods_from_names(["soft", "gn_glove+misp"], {"strength": 2.0})
    assert methods["soft"] == bb.debias.SoftDebias(strength=2.0)
    assert methods["gn_glove+misp"] == bb.debias.Chain(bb.debias.GNGloVe(), bb.debias.MISP())
    for names, settings, message in (
        (["mips"], {}, "'misp'"),
        (["misp", "misp"], {}, "misp misp"),
        (["hard"], {"strength": 1.0}, r"hard has no strength\..*: soft\."),
    ):
        with pytest.raises(ArgumentError, match=message):
            bb.debias.methods_from_names(names, settings)


def test_every_method_is_offered_by_its_class_too() -> None:
    assert {method.__name__ for method in bb.debias.METHODS.values()} <= set(bb.debias.__all__)
