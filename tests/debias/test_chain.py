"""Chains: each method is fitted to the embedding that the previous one debiased."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError
from tests.debias.made import PAIRS, made_embedding


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
