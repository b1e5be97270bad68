"""Pages of the site generated from the code: cards, gallery, reference; and copies of notebooks and validations."""

import contextlib
import io
import json
import re
import shutil
import warnings
from collections.abc import Iterator
from doctest import DocTestParser
from inspect import getdoc
from pathlib import Path
from types import ModuleType
from typing import Any

import bayesbias as bb
from bayesbias.debias import METHODS
from bayesbias.errors import BayesBiasWarning
from bayesbias.metrics import MEASURES
from bayesbias.models.quick import sampler_for
from bayesbias.models.spec import DEFAULT_MODEL

ROOT = Path(__file__).resolve().parents[1]
_IMAGES = (".png", ".svg")
_SET_UP = """
import numpy as np
import pandas as pd

import bayesbias as bb

path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
vectors = bb.load_embedding(path)
study = bb.load_study("weat7")
table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
fit = bb.fit(table, random_seed=1, progress=False)
"""
_MODELS = """# Models

A distance *d* of protected word *i* to attribute word *j* is 1 minus the cosine similarity. *c*(*i*, *j*) is the
connection of the two words (associated, different, human, neutral); *L* is the list of an attribute word and *l* the
kind of list; *m* is the mean of a word, *μ* that of a connection (`connection_mean`); *τ* is the sd of word means
around *μ* (`word_sd`); *b* is the effect of an attribute word, with sd *ω* (`attribute_sd`); *σ* is the residual sd;
*Σ* is the covariance over protected words of the attribute words of a kind of list; *S* is the covariance of a word's
effects; *ν* is the degrees of freedom (`nu`).

Use a model by its name, `bb.fit(table, "crossed")`, or by the path of your own file in the format of
`models/crossed.toml`."""
_SAMPLERS = {
    "exact": "Independent draws (`exact`), in well under a second.",
    "collapsed": "Independent draws, with all locations integrated out (`collapsed`), in well under a second.",
    "conjugate": "Independent draws (`conjugate`), in about a second; MCMC sweeps if pairs are missing.",
}
# Figures in the order of the gallery, and the code that it shows and runs. Others are drawn by the example of their
# function's docstring.
GALLERY = {
    "plot_contrasts": "figure = bb.plots.plot_contrasts(fit, rope=0.02)",
    "plot_words": "figure = bb.plots.plot_words(fit)",
    "plot_connections": "figure = bb.plots.plot_connections(fit)",
    "plot_distances": "figure = bb.plots.plot_distances(table)",
    "plot_check": "figure = bb.plots.plot_check(bb.check_posterior(fit, random_seed=1, progress=False))",
    "plot_prior_check": """prior = bb.check_prior(table, random_seed=1, progress=False)
figure = bb.plots.plot_prior_check(prior)""",
    "plot_changes": """debiased = bb.debias.HardDebias().fit(vectors, "gender_bolukbasi").transform(vectors)
embeddings = {"original": vectors, "debiased": debiased}
tables = {name: bb.distance_table(each, study) for name, each in embeddings.items()}
compared = bb.compare_embeddings(tables, random_seed=1, progress=False)
figure = bb.plots.plot_changes(compared)""",
    "plot_covariate": """letters = {word: len(word) for word in table["protected_word"].unique()}
fitted = bb.fit(table, covariates={"letters": letters}, random_seed=1, progress=False)
figure = bb.plots.plot_covariate(bb.covariate_effect(fitted, ("male", "female")))""",
    "plot_trend": """folder = bb.bundled("data", "vectors", "planted_drift")
moved = bb.trend(folder, "weat6", random_seed=1, progress=False)
figure = bb.plots.plot_trend(moved)""",
    "plot_measure": """measure = bb.measure_posterior(fit, "weat", random_seed=1, progress=False)
figure = bb.plots.plot_measure(measure)""",
    "plot_measure_words": """words = bb.measure_posterior(fit, random_seed=1, progress=False)
figure = bb.plots.plot_measure_words(words)""",
    "plot_axis": """words = ["nurse", "engineer", "doctor", "teacher", "lawyer", "soldier", "artist"]
gender = [("he", "she"), ("man", "woman"), ("boy", "girl"), ("father", "mother")]
mood = [("happy", "sad"), ("wonderful", "terrible"), ("love", "abuse"), ("joy", "evil")]
projection = bb.project(vectors, words, {"gender": gender, "mood": mood}, random_seed=1)
figure = bb.plots.plot_axis(projection)""",
    "plot_axes_map": "figure = bb.plots.plot_axes_map(projection)",
    "plot_null": """null = bb.reports.simulate_null(samples=2000, random_seed=1, progress=False)
figure = bb.plots.plot_null(null, observed={"effect_size": 0.97})""",
    "plot_false_positive_rates": """rates = bb.reports.false_positive_rates(samples=200, random_seed=1, progress=False)
figure = bb.plots.plot_false_positive_rates(rates)""",
    "plot_asymmetry": """words = study.protected_words
rows = [(a, b, 2 + at, 200) for a in words for at, b in enumerate(words) if a != b]
made = pd.DataFrame(rows, columns=["cue", "response", "count", "participants"])
norms = bb.asymmetry.evocation(made, name="made up")
found = bb.asymmetry.report(norms, [bb.asymmetry.static(vectors)], random_seed=1)
figure = bb.asymmetry.plot_asymmetry(found)""",
    "plot_relations": """heads = norms.pairs()[["a", "b"]].set_axis(["head", "tail"], axis=1)
names = ["IsA" if at % 3 else "PartOf" for at in range(len(heads))]
relations = heads.assign(relation=names)
beside = [bb.asymmetry.static(vectors)]
found = bb.asymmetry.report(norms, beside, relations, random_seed=1)
figure = bb.asymmetry.plot_relations(found)""",
    "plot_lar_distributions": "figure = bb.asymmetry.plot_lar_distributions(found)",
    "plot_accuracy_by_context": """import tempfile

words, rng = study.protected_words, np.random.default_rng(1)
rows = [(a, b, 2 + at, 200) for a in words for at, b in enumerate(words) if a != b]
made = pd.DataFrame(rows, columns=["cue", "response", "count", "participants"])
texts = [" by ".join(rng.choice(words, rng.integers(2, 9))) for _ in range(500)]
norms = bb.asymmetry.evocation(made, name="made up")
index = bb.embeddings.index_contexts(texts, tempfile.mkdtemp() + "/made.contexts")
truth = bb.asymmetry.lar(norms, norms.pairs())
found = bb.asymmetry.lar(bb.asymmetry.static(vectors), norms.pairs())
by_contexts = bb.asymmetry.accuracy_by_context(truth, found, index)
figure = bb.asymmetry.plot_accuracy_by_context(by_contexts)""",
    "plot_audit": """folder = bb.bundled("data", "vectors")
seeds = "seed1", "seed2", "seed3"
embeddings = {name: folder / f"wikipedia2018_skipgram_{name}.npz" for name in seeds}
settings = {"random_seed": 1, "progress": False}
audit = bb.audit(embeddings, ["weat7", "gender"], **settings)
figure = bb.plots.plot_audit(audit)""",
    "plot_heatmap": "figure = bb.plots.plot_heatmap(audit)",
    "plot_ranks": "figure = bb.plots.plot_ranks(bb.audits.rank(audit))",
    "plot_debias_report": """settings = {"random_seed": 1, "progress": False}
methods, sets = ["linear", "hard", "soft", "inlp"], "gender_bolukbasi"
settings |= {"sets": sets}
report = bb.debias_report(embeddings, "gender", methods, **settings)
figure = bb.plots.plot_debias_report(report)""",
    "plot_inference": """def trained(contrast):  # stands for your own models, one per training
    def model(premises, hypotheses):
        he = np.array([text.startswith("He ") for text in hypotheses])
        entailed = 0.3 + contrast * he + np.array([len(h) for h in hypotheses]) / 500
        return np.column_stack([1 - entailed, entailed, 0 * entailed])
    return model
contrasts = {"original": (0.3, 0.35, 0.4, 0.45, 0.5)}
contrasts["hard"] = (0.1, 0.12, 0.15, 0.2, 0.25)
models = {name: [trained(contrast) for contrast in of] for name, of in contrasts.items()}
pairs = bb.nli.test_set("explicit")
figure = bb.nli.plot_inference(bb.nli.compare_answers(models, pairs, random_seed=1))""",
    "plot_trainings": """fits = {}
for name, path in embeddings.items():
    seed_table = bb.distance_table(path, "gender")
    fits[name] = bb.fit(seed_table, random_seed=1, progress=False)
figure = bb.plots.plot_trainings(bb.compare_trainings(fits, random_seed=1))""",
    "plot_reliability": """queries = bb.reliability.load_queries("gender")
wanted = sorted({word for words in queries.values() for word in words})
rules = ["db_wa", "ripa"]
options = {"rules": rules, "max_lost": 0.5, "progress": False}
scores = bb.reliability.score_array(embeddings, wanted, **options)
frame = bb.reliability.internal_consistency(scores, queries, max_lost=0.7)
figure = bb.reliability.plot_reliability({"queries": frame}, label="query")""",
    "plot_base_pairs": """of_pairs = [rate(scores, "base_pair") for rate in
            (bb.reliability.test_retest, bb.reliability.inter_rater)]
figure = bb.reliability.plot_base_pairs(*of_pairs)""",
    "plot_word_scores": """words = study.attributes | study.protected
pairs = [("he", "she"), ("man", "woman")]
rules = "db_wa", "ripa"
scores = [bb.metrics.word_scores(vectors, words, pairs, rule=rule) for rule in rules]
figure = bb.plots.plot_word_scores(*scores)""",
    "plot_components": "figure = bb.plots.plot_components(bb.metrics.kindel_comparison(vectors, 'weat7'))",
    "plot_congruences": """nulls = bb.metrics.study_nulls(vectors, study, samples=500, random_seed=1, progress=False)
figure = bb.plots.plot_congruences(*nulls.values())""",
    "plot_lattices": """male = study.attributes["male"][:5]
figure = bb.plots.plot_lattices(bb.metrics.lattice(vectors, male, progress=False))""",
    "plot_lattice_spread": """lists = male, study.attributes["female"][:5]
metrics = "canonical_subspace", "mean_squared_cosine"
lattices = [
    bb.metrics.lattice(vectors, *lists, metric=name, progress=False) for name in metrics
]
figure = bb.plots.plot_lattice_spread(*lattices)""",
    "plot_consistency": """consistency = bb.metrics.subset_consistency(vectors, male, progress=False)
figure = bb.plots.plot_consistency(consistency)""",
}


# Pages that are shown as samples: what they are, the code, and the name of the result in it.
# All but the gate are results of the gallery.
SAMPLES = {
    "fit": ("one question in one embedding", 'bb.write(fit, "fit.html")', "fit"),
    "audit": ("two questions in three embeddings", 'bb.write(audit, "audit.html")', "audit"),
    "gate": (
        "which associations pass a release",
        """vectors = {"release": embeddings["seed1"]}
limits = {"rope": 0.03, "max_lost": 0.4, "random_seed": 1, "progress": False}
release = bb.audit(vectors, ["weat1", "weat2", "gender"], ["contrast"], **limits)
gate = bb.gate(release)
bb.write(gate, "gate.html")""",
        "gate",
    ),
    "trend": ("one question in five periods", 'bb.write(moved, "trend.html")', "moved"),
    "axes": ("occupations along two axes", 'bb.write(projection, "axes.html")', "projection"),
}


def everything(docs: Path) -> None:
    """Write all generated pages into the folder of the site's sources."""
    import dependencies

    made = docs / "generated"
    shutil.rmtree(made / "api", ignore_errors=True)  # pages of names that are no more
    made.mkdir(exist_ok=True)
    _write(made / "models.md", model_cards(made))
    _write(made / "measures.md", measure_cards())
    _write(made / "debiasing.md", debiasing_cards())
    _write(made / "dependencies.md", dependencies.page())
    _write(docs / "api.md", reference())
    samples(made, gallery(made))
    figures(docs, made / "figures")
    notebooks(docs / "notebooks")
    validation(docs / "validation")


def model_cards(made: Path) -> Iterator[str]:
    """Yield the card of each model: equation, priors, sampler, when not to use it."""
    yield _MODELS
    table = bb.read_table(bb.bundled("data", "tables", "weat7_google_news.csv.gz"))
    for name in bb.list_models():
        spec = bb.load_model(name)
        default = " (default)" if name == DEFAULT_MODEL else ""
        yield f"## {name}{default}\n\n{spec.description.strip()}"
        equation = _equation(spec.switches)
        _draw(equation, made / f"equation_{name}.svg")
        yield f"![{spelt(equation)}](equation_{name}.svg)"
        draw_graph(bb.pymc_model(table, name), made / f"graph_{name}.svg")
        yield f"![Graph of the PyMC model {name}: priors above, then means, then the distances](graph_{name}.svg)"
        yield _table({"Prior": ""} | {f"`{parameter}`": f"`{prior}`" for parameter, prior in spec.priors.items()})
        yield f"**Sampler.** {_SAMPLERS[sampler_for(spec)]}"
        yield f"**When not to use it.** {f'{spec.caution} {spec.avoid}'.strip()}"
        yield f"**Source.** {spec.source.strip() or 'bayesbias'}"


def _table(rows: dict[str, str]) -> str:
    """Return rows of two cells; the first is the head where it has no second cell."""
    head = next(iter(rows)) if "" in rows.values() else ""
    cells = (f"| {title} | {_cell(text)} |" for title, text in rows.items() if text)
    return "\n".join([f"| {head} | |", "|---|---|", *cells])


def _cell(text: str) -> str:
    """Return a text for a cell: bars and stars stand for themselves."""
    return text.replace("|", "\\|").replace("*", "\\*")


def _draw(equation: str, path: Path) -> None:
    """Write an equation as an image: scripts that set it in a browser come from a network."""
    from matplotlib.figure import Figure

    figure = Figure(facecolor="white")
    figure.text(0, 0, f"${equation}$", fontsize=13, math_fontfamily="cm")
    figure.savefig(path, bbox_inches="tight", pad_inches=0.08)


_SIGNS = {"sim": "~", "cdot": "·", "mu": "μ", "nu": "ν", "sigma": "σ", "Sigma": "Σ", "tau": "τ", "omega": "ω"}


def spelt(equation: str) -> str:
    """Return an equation in signs, for those who do not see its picture."""
    signs = re.sub(r"\\([A-Za-z]+)", lambda command: _SIGNS.get(command[1], ""), equation)
    return " ".join(re.sub(r"[{}\\]", "", signs).split())


def draw_graph(model: Any, path: Path) -> None:
    """Write the graph of a PyMC model as an image."""
    import pymc as pm
    from pygraphviz import AGraph

    graph = AGraph(string=pm.model_to_graphviz(model).source)
    graph.node_attr["fontname"] = graph.graph_attr["fontname"] = "sans-serif"
    graph.draw(path, prog="dot")


def _equation(switches: Any) -> str:
    if switches["attribute_effects"] == "covariance":
        noise = r"d_{\cdot j} \sim t_\nu" if switches["likelihood"] == "student_t" else r"d_{\cdot j} \sim N"
        return rf"{noise}(m_{{\cdot L(j)}},\ \Sigma_{{l(j)}}), \qquad m_i \sim N(\mu, S)"
    effect = "" if switches["attribute_effects"] == "none" else " + b_j"
    pooled = r"m_{ic} \sim N(\mu_c, \tau_c^2)" if switches["pooling"] == "partial" else r"m_{ic} \sim \mathrm{prior}"
    omega = r"\omega_l" if switches["attribute_effects"] == "per_list" else r"\omega"
    of_effect = rf", \qquad b_j \sim N(0, {omega}^2)" if effect else ""
    return rf"d_{{ij}} \sim N(m_{{i c(i,j)}}{effect},\ \sigma_c^2), \qquad {pooled}{of_effect}"


_HEADINGS = {"avoid": "When not to use it"}


def measure_cards() -> Iterator[str]:
    """Yield the card of each measure: of a study's lists, then of the bias and of the quality of a whole embedding."""
    yield (
        "# Measures\n\nRun one by its name: `bb.metrics.measure(name, embedding, data)`. On the command line, "
        "`bayesbias measure NAME` computes one of a study, `bayesbias intrinsic` those of the bias of a whole "
        "embedding, `bayesbias quality` those of its quality. The change of a score of a whole embedding has its own "
        "interval (`bb.metrics.paired_change`)."
    )
    for entry in sorted(MEASURES.values(), key=lambda entry: entry.about):
        rows = {_HEADINGS.get(name, name.capitalize()): text for name, text in entry.card.items()}
        yield f"## {entry.name}\n\n{entry.title[0].upper()}{entry.title[1:]}."
        yield _table(rows | {"In Python": f"`bb.metrics.{entry.function.__name__}`"})


def debiasing_cards() -> Iterator[str]:
    """Yield the card of each debiasing method."""
    from numpydoc.docscrape import NumpyDocString

    yield "# Debiasing\n\n`bb.debias.METHODS`; on the command line `bayesbias debias --method NAME`."
    for name, method in METHODS.items():
        text = NumpyDocString(getdoc(method) or "")
        yield f"## {name}\n\n`bb.debias.{method.__name__}`. {' '.join(text['Summary'])}"
        yield "\n".join(text["Notes"])
        settings = [f"- `{setting.name}`: {' '.join(setting.desc)}" for setting in text["Parameters"]]
        yield "**Settings.**\n\n" + "\n".join(settings) if settings else "**Settings.** None."
        yield f"**Source.** {' '.join(text['References'])}"


def reference() -> Iterator[str]:
    """Yield the page of the public names."""
    yield "# Reference"
    rooms = {
        "bayesbias": bb,
        **{f"bayesbias.{name}": getattr(bb, name) for name in bb.__all__ if isinstance(getattr(bb, name), ModuleType)},
    }
    for name, room in rooms.items():
        public = [public_name for public_name in getattr(room, "__all__", ()) if callable(getattr(room, public_name))]
        if not public:
            public = [
                public_name
                for public_name in vars(room)
                if not public_name.startswith("_") and callable(getattr(room, public_name))
            ]
            public = [
                public_name for public_name in public if getattr(getattr(room, public_name), "__module__", "") == name
            ]
        listed = "\n".join(f"   {room.__name__}.{public_name}" for public_name in public)
        yield f"## {name}\n\n```{{eval-rst}}\n.. autosummary::\n   :toctree: generated/api\n\n{listed}\n```"


def figure_functions() -> dict[str, Any]:
    """Return the public functions that draw a figure: those of `bb.plots`, and those of the rooms that own theirs."""
    rooms = (bb.plots, bb.asymmetry, bb.nli, bb.reliability)
    return {name: getattr(room, name) for room in rooms for name in room.__all__ if name.startswith("plot_")}


def gallery_code() -> dict[str, str]:
    """Return the code that draws each figure, by the name of its function."""
    return GALLERY | {name: _example(plot) for name, plot in figure_functions().items() if name not in GALLERY}


def _example(plot: Any) -> str:
    """Return the example in the docstring of a plot, which ends in ``len(bb.plots.NAME(...).axes)``, as code."""
    examples = DocTestParser().get_examples(getdoc(plot) or "")
    *before, last = [example.source for example in examples]
    return "".join([*before, re.sub(r"len\((.*)\.axes\).*", r"figure = \1", last)]).strip()


def caption(name: str) -> str:
    """Return what the figure of a function shows: the first sentence of its docstring."""
    sentence = " ".join((getdoc(figure_functions()[name]) or "").split("\n\n")[0].split()).removeprefix("Draw ")
    return sentence[0].upper() + sentence[1:]


def gallery(made: Path) -> dict[str, Any]:
    """Draw every figure, and write the page that shows it with its code; return the names that the code defined."""
    namespace: dict[str, Any] = {}
    codes = gallery_code()
    places = [f"[![{caption(name)}]({name}.svg)](#{name})\n\n{name}" for name in codes]
    cells = "\n".join(f"```{{container}} thumbnail\n{place}\n```" for place in places)
    parts = [
        f"# Gallery\n\nEvery figure, with the code that draws it.\n\n````{{container}} thumbnails\n{cells}\n````",
        f"Run this first:\n\n```python\n{_SET_UP.strip()}\n```",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesBiasWarning)
        exec(_SET_UP, namespace)
        for name, code in codes.items():
            exec(code, namespace)
            namespace["figure"].savefig(made / f"{name}.svg")
            room = figure_functions()[name].__module__.split(".")[1].replace("delivery", "plots")
            text = f"{caption(name)} `bb.{room}.{name}` has the settings."
            parts.append(f"## {name}\n\n{text}\n\n```python\n{code}\n```\n\n![{caption(name)}]({name}.svg)")
    _write(made / "gallery.md", parts)
    return namespace


def samples(made: Path, namespace: dict[str, Any]) -> None:
    """Write a page of each kind as `bb.write` gives it, and the page that links them; `namespace` is of the gallery."""
    folder = made / "extra" / "samples"
    folder.mkdir(parents=True, exist_ok=True)
    parts = [
        '# Sample pages\n\n`bb.write(result, "page.html")` writes one page that needs no network, as `--output` does. '
        "These are made from bundled data whenever the site is built. `fit`, `audit`, `moved` and `projection` are "
        "those of [the gallery](gallery.md)."
    ]
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesBiasWarning)
        for name, (text, code, result) in SAMPLES.items():
            *before, _ = code.splitlines()
            exec("\n".join(before), namespace)
            bb.write(namespace[result], f"{name}.html", overwrite=True)
            link = f'<a href="../samples/{name}.html">{name}.html</a>'
            parts.append(f"**{link}**: {text}.\n\n```python\n{code}\n```")
    _write(made / "samples.md", parts)


def figures(docs: Path, folder: Path) -> None:
    """Draw the figures that pages show, by the code on the same page that saves them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for page in (*sorted(docs.glob("from_*.md")), *sorted((docs / "guide").glob("*.md"))):
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page's tests show them
            for code in drawing_code(page.read_text(encoding="utf-8")):
                exec(code, {})


def drawing_code(page: str) -> list[str]:
    """Return the Python code of a page that saves a figure shown on it."""
    shown = re.findall(r"!\[[^\]]*\]\([./]*generated/figures/([\w.]+)\)", page)
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return [code for code in blocks if any(f'.savefig("{name}"' in code for name in shown)]


def notebooks(folder: Path) -> None:
    """Copy the notebooks, which hold their outputs; each figure gets a text for those who do not see it."""
    folder.mkdir(exist_ok=True)
    for source in (ROOT / "notebooks").glob("*.ipynb"):
        notebook = json.loads(source.read_text(encoding="utf-8"))
        heading = ""
        for cell in notebook["cells"]:
            text = "".join(cell["source"])
            heading = next(iter(re.findall(r"^#+ (?:\d+\. )?(.+)", text, re.MULTILINE)[-1:]), heading)
            if cell["cell_type"] == "code":
                plots = [name for name in re.findall(r"\bplot_\w+", text) if name in figure_functions()]
                shown = caption(plots[-1]) if plots else "Figure made by the code above."
                cell["metadata"]["mystnb"] = {"image": {"alt": f"{heading}: {shown}"}}
        (folder / source.name).write_text(json.dumps(notebook), encoding="utf-8")


def validation(folder: Path) -> None:
    """Copy what proves the package: the texts and their figures; links to code become its names."""
    folder.mkdir(exist_ok=True)
    sources = {path.parent.name: path for path in (ROOT / "validation").glob("*/README.md")}
    for name, source in {"index": ROOT / "validation" / "README.md", **sources}.items():

        def link(match: re.Match[str], source: Path = source, name: str = name) -> str:
            mark, text, target = match.groups()
            path = (source.parent / target.partition("#")[0]).resolve()
            if path.suffix in _IMAGES:
                shutil.copy(path, folder / f"{name}_{path.name}")
                return f"{mark}[{text}]({name}_{path.name})"
            if path.name == "README.md" and path.parent.name in sources:
                return f"[{text}]({path.parent.name}.md)"
            return match[0] if target.startswith("http") else text

        content = re.sub(r"(!?)\[([^\]]*)\]\(([^)]+)\)", link, source.read_text(encoding="utf-8"))
        _write(folder / f"{name}.md", [content])


def _write(path: Path, parts: Any) -> None:
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
