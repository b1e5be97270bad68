"""Results whose words, lists, studies, embeddings and texts have hostile names, one of each kind of name at least."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import xarray as xr

import bayesbias as bb
from bayesbias.audits.audit_report import AuditReport
from bayesbias.base.results import Result
from tests.asymmetry.made import made_norms, made_relations, made_vectors
from tests.audits import debiased_pets as pets
from tests.audits import pets as studies
from tests.audits.test_ranks import audit_of
from tests.nli.made import compared
from tests.reliability.made import PAIRS, made_seeds
from tests.reliability.test_driver_regression import simulated

LINES = (  # of signs that a word may have
    "![t](http://other.example/t.png)",
    "<img src=http://other.example/t.png>",
    "[t](javascript:alert) <http://other.example>",
    "=cmd|' /C calc'!A0",
    "-1+1",
    "@SUM(1)",
    "+1",
    "word;=1+1",
    "a|b `c *d* _e_ ~~f~~ ``` {{7*7}}",
    "$\\frac{1}{2}$ $\\bad$",
    '\\input{/etc/hostname} % ^^5c "a',
    "\u202eturned \u2066 \u200b \ufeff \x1b[31m \x9b",
    "first\n# second\n\n- third\tfourth",
    "1. one",
    "'s",
    "back\\x3dslash",
)
WORD = " ".join(LINES)
ANY = f"{WORD} \0"
"""A name of all of them, with what no word may have."""
HIDDEN = "\0\x1b\x9b\u202e\u2066\u200b\ufeff"


def table(seed: int = 4) -> pd.DataFrame:
    """Two groups of eight words and two lists of four, with hostile names of everything."""
    rng = np.random.default_rng(seed)
    groups, lists = (LINES[0] + LINES[3], "=" + " ".join(LINES[8:11])), ("<i>" + LINES[8], "-" + LINES[9])
    rows = [
        {
            "protected_word": word,
            "protected_group": groups[place % 2],
            "attribute_word": f"{LINES[number]} {number}{kind}",
            "attribute_group": name if kind < 2 else ("human", "neutral")[kind - 2],
            "connection": ("associated", "different")[(place + kind) % 2]
            if kind < 2
            else ("human", "neutral")[kind - 2],
            "cosine_distance": 0.7 + 0.05 * kind + 0.05 * (place % 2) + rng.normal(0, 0.05),
        }
        for place, word in enumerate(LINES)
        for kind, name in enumerate((*lists, "human", "neutral"))
        for number in range(4)
    ]
    made = pd.DataFrame(rows)
    made.attrs["bayesbias"] = {
        "study": ANY,
        "embedding": {"name": ANY, "hash": LINES[0], "case": LINES[0], "steps": ANY},
        "questions": {LINES[0] + LINES[9]: [[groups[0], lists[0]], [groups[1], lists[0]]]},
        "lost_words": [{"word": WORD, "role": "attribute", "list": lists[0], "reason": ANY}],
        "left_out_controls": list(LINES),
    }
    return made


@cache
def fit() -> xr.DataTree:
    return bb.fit(table(), draws=200, random_seed=1, progress=False)


def audited() -> pd.DataFrame:
    keys = [(name, study, "contrast") for name in (ANY, f"=2{ANY}") for study in LINES[:4]]
    frame = audit_of({key: -0.1 * place for place, key in enumerate(keys, 1)}, {key: np.full(20, -0.1) for key in keys})
    frame[["reading", "quantity"]] = ["nearer", "associated - different"]
    frame[["hdi_low", "hdi_high", "ess_bulk"]] = [-0.25, -0.02, 100.0]
    return frame


def vectors() -> dict[str, np.ndarray]:
    return {word: np.random.default_rng(place).normal(size=8) for place, word in enumerate([*LINES, *"abcdefgh"])}


MORE = tuple(f"{line} {number}" for number in (1, 2) for line in LINES)


def asymmetries() -> Result:
    people = bb.asymmetry.evocation(made_norms(words=MORE), name=ANY)
    sources = {f"=2{ANY}": bb.asymmetry.static(made_vectors(words=MORE))}
    relations = made_relations(MORE).replace({"relation": {"IsA": WORD, "PartOf": LINES[3]}})
    return bb.asymmetry.report(people, sources, relations, random_seed=1)


def reliabilities() -> Result:
    return bb.reliability.reliability_report(
        {ANY: made_seeds(2, words=LINES)},
        {ANY: LINES, LINES[3]: LINES[:5]},
        rules=["db_wa", "ripa"],
        base_pairs=PAIRS,
        queries={ANY: LINES[:4]},
        table_2=False,
        random_seed=1,
        progress=False,
    )


def explained() -> Result:
    rows = simulated(40, 1)
    words = {word: f"{LINES[place % len(LINES)]}{place}" for place, word in enumerate(rows["word"].unique())}
    levels = {"algorithm": {"glove": ANY}, "pos": dict(zip(("noun", "verb"), LINES[2:], strict=False)), "word": words}
    return bb.reliability.drivers(
        rows.replace(levels).rename(columns={"stability": LINES[0]}),
        [LINES[0], "rule", "pos"],
        joint_drops={ANY: [LINES[0], "pos"]},
        random_seed=1,
    )


def debiased() -> Result:
    source = pets.embedding()
    named = bb.Embedding(source.words, source.vectors, name=ANY)
    settings = {**pets.SMALL, "measures": ["vocabulary_direct_bias"]}
    return bb.debias_report([named], studies.study(ANY), {ANY: pets.Weak()}, sets=pets.SETS, **settings)


def drawn(*words: str) -> dict[str, np.ndarray]:
    return dict(zip(words, np.random.default_rng(5).normal(size=(len(words), 8)) + 0.5, strict=True))


RESULTS: dict[str, Callable[[], Result]] = {
    "fit": lambda: bb.report(fit(), title=ANY, quick=True),
    "trainings": lambda: bb.compare_trainings({ANY: fit(), LINES[3]: fit()}, level="all", random_seed=1),
    "embeddings": lambda: bb.compare_embeddings({ANY: table(), LINES[3]: table(5)}, draws=200, random_seed=1),
    "audit": lambda: AuditReport(audited()),
    "gate": lambda: bb.gate(audited(), rope=0.02),
    "posterior check": lambda: bb.check_posterior(fit(), random_seed=1),
    "prior check": lambda: bb.check_prior(table(), "hierarchical", samples=200, random_seed=1),
    "measure": lambda: bb.measure_posterior(fit(), "mac", random_seed=1),
    "trend": lambda: bb.trend(
        {f"1{ANY}": table(), f"2{LINES[3]}": table(5), "3": table(6)}, draws=200, random_seed=1, progress=False
    ),
    "projection": lambda: bb.project(
        vectors(), LINES[:6], {ANY: [("a", "b"), ("c", "d"), *zip(LINES[6:9], LINES[9:12], strict=True)]}, random_seed=1
    ),
    "asymmetry": asymmetries,
    "reliability": reliabilities,
    "drivers": explained,
    "debiasing": debiased,
    "inference": lambda: compared({ANY: 0.2, LINES[3]: 0.1}),
    "study measure": lambda: bb.metrics.weat(
        drawn(*LINES),
        {LINES[0]: LINES[:4], LINES[3]: LINES[4:8], LINES[8]: LINES[8:12], LINES[9]: LINES[12:]},
        random_seed=1,
    ),
    "sub-lists": lambda: bb.metrics.subset_consistency(drawn(*LINES), LINES[:5]),
    "words left out": lambda: bb.metrics.leave_one_word_out(
        drawn(*LINES), {ANY: LINES[:3], LINES[3]: LINES[3:5]}, samples=20, random_seed=1, progress=False
    ),
    "two metrics": lambda: bb.metrics.kindel_comparison(
        drawn(*LINES), {LINES[0]: LINES[:4], LINES[3]: LINES[4:8], LINES[8]: LINES[8:12], LINES[9]: LINES[12:]}
    ),
    "score": lambda: bb.metrics.vocabulary_direct_bias(drawn(*LINES, "he", "she"), LINES, random_seed=1),
    "words": lambda: bb.check_words(
        vectors(), {LINES[0]: [LINES[3]], LINES[3]: ["Cat"], LINES[9]: ["b", LINES[11]], LINES[8]: ["c"]}
    ),
    "covariate": lambda: bb.covariate_effect(
        bb.fit(table(), covariates={WORD: {word: place for place, word in enumerate(LINES)}}, draws=200, random_seed=1)
    ),
}


@cache
def result_of(kind: str) -> Result:
    """Return the result of a kind."""
    return RESULTS[kind]()
