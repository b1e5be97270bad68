"""Statements of a report on asymmetry: pairs in one direction, and differences of many sources."""

import bayesbias as bb
from bayesbias.asymmetry.ratios.asymmetry_report import COVERAGE
from tests.asymmetry.made import made_norms, made_relations, made_vectors


def test_one_relation_and_pairs_in_one_direction() -> None:
    source = bb.asymmetry.evocation(made_norms(), name="people")
    vectors = [bb.asymmetry.static(made_vectors(2))]
    written = bb.asymmetry.report(source, vectors, made_relations(), relation="IsA", seen="either", random_seed=1)
    assert written.ratios["relation"].unique().tolist() == ["IsA"]
    assert (written.ratios[["forward", "backward"]].min(axis=1) == 0).any()
    rows = written.ratios[written.ratios["source"] == "people"]
    one_way = int((rows[["forward", "backward"]].min(axis=1) == 0).sum())
    low, high = COVERAGE["one"]
    (stated,) = (text for part in written.parts for text in part.statements if text.kind == "coverage")
    assert stated.numbers == {"pairs": one_way, "low": low, "high": high}
    assert f"{one_way} pairs" in stated.text
    assert f"{low:.0%} to {high:.0%}" in stated.text
    assert stated.text in written.contents.verdict
    plain = bb.asymmetry.report(source, vectors, random_seed=1)
    assert "coverage" not in {text.kind for part in plain.parts for text in part.statements}
    assert plain.agreement["relation"].tolist() == ["all pairs"]
    assert plain.relations.empty
    assert "LAR" in bb.plots.plot_asymmetry(plain).axes[0].get_xlabel()


def test_of_many_sources_the_text_has_the_differences_from_the_best() -> None:
    people = bb.asymmetry.evocation(made_norms(), name="people")
    sources = {f"v{number}": bb.asymmetry.static(made_vectors(number)) for number in range(6)}
    written = bb.asymmetry.report(people, sources, random_seed=1)
    assert len(written.differences) == 15
    texts = [text for part in written.parts for text in part.statements if text.kind == "difference"]
    best = written.agreement.set_index("source")["cam"].idxmax()
    assert len(texts) == 5
    assert all(best in (text.numbers["first"], text.numbers["second"]) for text in texts)
