"""One small result of each report, for what holds of all of them."""

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
from tests.audits.test_ranks import audit_of
from tests.delivery.page.pages import small_table
from tests.nli.made import compared
from tests.reliability.made import PAIRS, made_seeds
from tests.reliability.made import WORDS as WORDS_OF_SEEDS
from tests.reliability.test_driver_regression import SETTINGS, simulated
from tests.reports.covariates import made as covariates
from tests.reports.made import made_fit
from tests.reports.posterior import made_factors as factors
from tests.reports.random_letters import noise, study

WORDS = tuple(f"<b>w{number:02}" for number in range(30))


def audited() -> pd.DataFrame:
    """An audit of two embeddings, one with a hostile name."""
    keys = [(name, "s", "contrast") for name in ("<b>first</b>", "second")]
    frame = audit_of({key: -0.1 * place for place, key in enumerate(keys, 1)}, {key: np.full(20, -0.1) for key in keys})
    frame[["reading", "quantity"]] = ["nearer", "associated - different"]
    frame[["hdi_low", "hdi_high", "ess_bulk"]] = [-0.25, -0.02, 100.0]
    return frame


def fitted() -> xr.DataTree:
    return made_fit(draws=200)


def compared_tables() -> Result:
    table = small_table()
    table.attrs = {}  # the page shows the lost word with other characters
    noise = np.random.default_rng(2).normal(0.01, 0.02, len(table))
    tables = {"<i>one": table, "two": table.assign(cosine_distance=table["cosine_distance"] + noise)}
    return bb.compare_embeddings(tables, draws=200, random_seed=1, progress=False)


def changed_over_seeds() -> Result:
    table = small_table()
    noise = np.random.default_rng(4).normal(0.01, 0.02, (3, len(table)))
    tables = [table, *(table.assign(cosine_distance=table["cosine_distance"] + by) for by in noise)]
    first, second, *changed = (bb.fit(one, draws=100, random_seed=1, progress=False) for one in tables)
    conditions = {"<b>hard": dict(zip((1, 2), changed, strict=True)), "soft": {1: second, 2: first}}
    return bb.compare_trainings({1: first, 2: second}, changed=conditions, level="all", rope=0.01, random_seed=1)


def asymmetries() -> Result:
    people = bb.asymmetry.evocation(made_norms(words=WORDS), name="<i>people")
    sources = {"<u>vectors": bb.asymmetry.static(made_vectors(words=(*WORDS[:28], "x", "y")))}
    return bb.asymmetry.report(people, sources, made_relations(WORDS), random_seed=1)


def measured() -> Result:
    table = small_table(("associated", "different"))
    fit = bb.fit(table, "hierarchical", draws=100, chains=2, random_seed=1)
    return bb.measure_posterior(fit, "mac", random_seed=1)


def reliabilities() -> Result:
    return bb.reliability.reliability_report(
        {"<b>made": made_seeds(2)},
        {"<i>words": WORDS_OF_SEEDS},
        rules=["db_wa", "ripa"],
        base_pairs=PAIRS,
        queries={"<u>query": WORDS_OF_SEEDS[:4]},
        table_2=False,
        random_seed=1,
        progress=False,
    )


def explained() -> Result:
    words = simulated(40, 1).replace({"algorithm": {"glove": "<b>glove"}})
    drops = {"<i>both": ["stability", "pos"]}
    return bb.reliability.drivers(words, ["stability", "rule", "pos"], joint_drops=drops, **SETTINGS)


def random_lists() -> Result:
    vectors = noise()
    settings = {"model": "hierarchical", "samples": 40, "match": None, "random_seed": 1, "progress": False}
    return bb.check_random_lists(vectors, study(vectors), **settings)


def sizes() -> Result:
    means = {"associated": 0.9, "different": 0.95}
    assumed = {"connection_mean": means, "word_sd": 0.03, "sigma": 0.06}
    return bb.required_words(assumed, width=0.03, sizes=[(5, 5), (40, 20)], samples=6, random_seed=1)


def _drawn(*words: str) -> dict[str, np.ndarray]:
    return dict(zip(words, np.random.default_rng(5).normal(size=(len(words), 8)) + 0.5, strict=True))


def moved() -> Result:
    table = small_table()
    table.attrs = {}  # the page shows the lost word with other characters
    rng = np.random.default_rng(3)
    later = table.assign(cosine_distance=table["cosine_distance"] + rng.normal(0.01, 0.02, len(table)))
    last = later.assign(cosine_distance=table["cosine_distance"] + rng.normal(0.02, 0.02, len(table)))
    lacking = last[last["protected_word"] != last["protected_word"].iloc[0]]
    tables = {"<b>1900": table, "1950": later, "1990": lacking}
    return bb.trend(tables, draws=100, random_seed=1, progress=False)


RESULTS: dict[str, Callable[[], Result]] = {
    "fit": lambda: bb.report(fitted(), quick=True),
    "factors": lambda: bb.factor_effects(factors.made_fit()),
    "covariate": lambda: bb.covariate_effect(covariates.made_fit()),
    "trainings": lambda: bb.compare_trainings({"one": fitted(), "<i>two": fitted()}, level="all", random_seed=1),
    "changes over seeds": changed_over_seeds,
    "embeddings": compared_tables,
    "audit": lambda: AuditReport(audited()),
    "gate": lambda: bb.gate(audited(), rope=0.02),
    "asymmetry": asymmetries,
    "inference": lambda: compared({"original": 0.2, "<b>": 0.1}),
    "debiasing": pets.report,
    "posterior check": lambda: bb.check_posterior(fitted(), random_seed=1),
    "prior check": lambda: bb.check_prior(small_table(), samples=500, random_seed=1),
    "reliability": reliabilities,
    "measure": measured,
    "reliability drivers": explained,
    "random lists": random_lists,
    "study sizes": sizes,
    "sensitivity": lambda: bb.sensitivity(small_table(), draws=100, random_seed=1, progress=False),
    "projection": lambda: bb.project(
        {word: np.random.default_rng(place).normal(size=8) for place, word in enumerate(WORDS)},
        WORDS[:6],
        {
            "<b>axis": list(zip(WORDS[6:18:2], WORDS[7:18:2], strict=True)),
            "up": [*zip(WORDS[18::2], WORDS[19::2], strict=True)],
        },
        ratings=dict(zip(WORDS[:6], range(6), strict=True)),
        random_seed=1,
    ),
    "trend": moved,
    "slopes": lambda: bb.trend(
        {year: covariates.made_table(seed=seed).drop(columns="share") for year, seed in (("<b>1990", 1), ("2000", 2))},
        word_covariates=covariates.made_table()[["protected_word", "share"]].drop_duplicates(),
        draws=100,
        random_seed=1,
        progress=False,
    ),
    "null": lambda: bb.reports.simulate_null(samples=50, random_seed=1, progress=False),
    "false claims": lambda: bb.reports.false_positive_rates(
        samples=20, random_seed=1, methods=["weat", "t_test_raw"], progress=False
    ),
    "shares": lambda: bb.reports.mac_shares(small_table(("associated", "different"))),
    "study measure": lambda: bb.metrics.weat(
        {"<b>": [1.0, 0.1], "cat": [0.2, 1.0], "dog": [0.4, 0.9], "he": [0.9, 0.3], "she": [0.1, 0.8]}
        | {"purr": [0.3, 0.7], "bark": [0.6, 0.6], "<i>": [0.8, 0.2]},
        {"<u>p": ["<b>", "cat"], "q": ["dog", "he"], "a": ["she", "purr"], "b": ["bark", "<i>"]},
        random_seed=1,
    ),
    "consistency of sub-lists": lambda: bb.metrics.subset_consistency(_drawn("<b>", *"abcd"), ["<b>", *"abcd"]),
    "words left out": lambda: bb.metrics.leave_one_word_out(
        _drawn(*WORDS), {"<i>": WORDS[:3], "q": WORDS[3:5]}, samples=20, random_seed=1, progress=False
    ),
    "two metrics": lambda: bb.metrics.kindel_comparison(
        _drawn(*WORDS),
        {"<u>p": WORDS[:3], "q": WORDS[3:6], "a": WORDS[6:9], "<b>": WORDS[9:12]},
    ),
    "score of an embedding": lambda: bb.metrics.vocabulary_direct_bias(
        {"she": [1.0, 0.0], "he": [-1.0, 0.0], "nurse": [0.6, 0.8], "clerk": [0.0, 1.0], "<b>": [0.5, 0.5]},
        ["nurse", "clerk", "<b>"],
        random_seed=1,
    ),
    "words": lambda: bb.check_words(
        {"<b>": [1.0, 0.0], "cat": [0.0, 1.0]}, {"p": ["<b>"], "q": ["cat"], "a": ["Cat"], "b": ["<i>"]}
    ),
}
"""Kind of result -> what makes a small one; tests write each of them in every form."""


@cache
def result_of(kind: str) -> Result:
    """Return the small result of a kind."""
    return RESULTS[kind]()
