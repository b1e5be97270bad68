"""The registry of debiasing methods: names, chains, settings and requirements."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias.method import Method
from bayesbias.errors import ArgumentError
from tests.debias.made import PAIRS, made_embedding


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
        (["misp", "misp"], {}, "each method once"),
        (["hard"], {"strength": 1.0}, r"'hard'\] has no strength\..*: soft\."),
    ):
        with pytest.raises(ArgumentError, match=message):
            bb.debias.methods_from_names(names, settings)


def test_every_public_method_has_a_name_in_the_registry() -> None:
    public = [getattr(bb.debias, name) for name in bb.debias.__all__]
    methods = {value for value in public if isinstance(value, type) and issubclass(value, Method)}
    assert set(bb.debias.METHODS.values()) == methods - {bb.debias.Chain}
    assert all(method.name == name for name, method in bb.debias.METHODS.items())


def test_a_chain_fits_each_method_to_what_the_one_before_it_made() -> None:
    embedding = made_embedding()
    chain = bb.debias.Chain(bb.debias.GNGloVe(components=2), bb.debias.LinearProjection(), bb.debias.HardDebias())
    debiased = chain.fit(embedding, PAIRS).transform(embedding)
    current = bb.Embedding(embedding.words, embedding.vectors[:, :-2], name="made, without its last 2 components")
    for method in chain.methods[1:]:
        current = method.fit(current, PAIRS).transform(current)
    np.testing.assert_array_equal(debiased.vectors, current.vectors)
    assert debiased.name.startswith(
        "made, without its last 2 components, linear-debiased (custom words), hard-debiased ("
    )
    for wrong in ((), (bb.debias.MISP,), ("misp",)):
        with pytest.raises(ArgumentError, match="Chain"):
            bb.debias.Chain(*wrong)
