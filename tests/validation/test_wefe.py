"""Every line of the page "From WEFE", beside what WEFE itself gave (`validation/wefe/wefe.json`)."""

import contextlib
import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import load_script
from tests.validation.wefe_debiasing import DEBIASING_ROWS
from tests.validation.wefe_page import (
    ATTRIBUTES,
    FOLDER,
    KEPT,
    LOOK_UP,
    MEASURES,
    ON_PAGE,
    PAGE,
    RIPA,
    TARGETS,
    near,
    ours,
    stated,
    vectors,
    with_attributes,
)

pytestmark = pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")


def query() -> None:
    lists = {**TARGETS, **ATTRIBUTES}
    study = bb.Study(
        name="asked", protected=TARGETS, attributes=ATTRIBUTES, associated=list(zip(TARGETS, ATTRIBUTES, strict=True))
    )
    assert ON_PAGE["query"]["template"] == [len(study.protected), len(study.attributes)]
    for given, options in ((study, {}), (lists, {"targets": ("math", "arts"), "attributes": ("male", "female")})):
        value = ours("weat", given, ddof=0, **options).effect_size
        assert value == near(MEASURES["weat"]["effect_size"])


def word_embedding_model() -> None:
    from gensim.models import KeyedVectors

    source = vectors()
    wv = KeyedVectors(source.dimensions)
    wv.add_vectors([f"/c/en/{word}" for word in source.words], source.vectors)
    prefixed = bb.load_embedding(wv, case=lambda word: f"/c/en/{word}")
    value = bb.metrics.weat(prefixed, "weat7", ddof=0).effect_size
    assert value == near(ON_PAGE["vocab_prefix"]["/c/en/"])
    assert ON_PAGE["vocab_prefix"]["None"] is None


def plot_queries_results() -> None:
    embeddings = [vectors(seed) for seed in (1, 2, 3)]
    audit = bb.audit(embeddings, ["weat7", "gender"], ["weat"], model=None, progress=False)
    cells = [float(text.get_text()) for text in bb.plots.plot_heatmap(audit, "weat").axes[0].texts]
    answers = [bb.metrics.weat(one, study) for one in embeddings for study in ("weat7", "gender")]
    assert cells == [round(answer.effect_size, 3) for answer in answers]
    bars = [height for name in ON_PAGE["vectors"] for height in ON_PAGE["plot_queries_results"][name]]
    assert [answer.test_statistic for answer in answers] == near(bars)


def weat_statistic() -> None:
    assert ours("weat").test_statistic == near(MEASURES["weat"]["weat"])
    unequal = {"math": TARGETS["math"], "arts": TARGETS["arts"][:5]}
    unequal |= {"male": ATTRIBUTES["male"], "female": ATTRIBUTES["female"][:6]}
    found = ours("weat", unequal, ddof=0)
    assert found.test_statistic == near(MEASURES["weat_unequal"]["weat"])
    assert found.effect_size == near(MEASURES["weat_unequal"]["effect_size"])


def weat_effect_size() -> None:
    for kept, sign in (("weat", 1), ("weat_normalize", 1), ("weat_swapped", -1)):
        assert sign * ours("weat", ddof=0).effect_size == near(MEASURES[kept]["effect_size"])
    assert abs(ours("weat").effect_size - MEASURES["weat"]["effect_size"]) > 0.03


def weat_p_value() -> None:
    kept, swapped = MEASURES["weat_p"], ("arts", "math")
    assert all(each["draws_with_a_word_twice"] == each["draws"] == 500 for each in kept.values())
    stated("in each of 500 draws of the 16 words of WEAT 7 a word occurs twice")
    found, other = ours("weat"), ours("weat", targets=swapped, attributes=("male", "female"))
    stated(f"Its p-value is {kept['as asked, right-sided']['p_value']:.3f} from these draws")
    stated(f"that of all {found.partitions:,.0f} partitions is {found.p_value:.4f}")
    assert "NotImplementedError" in MEASURES["weat_p_exact"]["error"]
    assert kept["swapped, two-sided"]["p_value"] == 1.0
    assert kept["as asked, two-sided"]["p_value"] < 0.1
    assert found.p_value_two_sided == other.p_value_two_sided
    stated(f"Here it is {found.p_value_two_sided:.4f} either way")


def rnd(their_distance: str, **options: str) -> None:
    sign = -1 if options else 1
    for normalize in (False, True):
        found = ours("rnd", attributes="male", normalize=normalize, **options).rnd
        assert sign * found == near(MEASURES["rnd"][f"{their_distance}, normalize={normalize}"]["rnd"])


def rnd_norm() -> None:
    rnd("norm")
    assert MEASURES["rnd"]["norm, normalize=True"]["rnd"] * MEASURES["rnd"]["norm, normalize=False"]["rnd"] < 0


def rnsb_of_all() -> None:
    pytest.importorskip("sklearn")
    named = {**TARGETS, **ATTRIBUTES}
    assert ours("rnsb", named, splits=0).rnsb == pytest.approx(MEASURES["rnsb"]["normalize=False"]["rnsb"], abs=2e-16)
    judged = ours("rnsb", named, splits=0).scores.set_index("word")["score"].to_dict()
    assert judged == pytest.approx(MEASURES["rnsb"]["normalize=False"]["negative_sentiment_probabilities"], abs=1e-12)
    unit = ours("rnsb", named, splits=0, normalize=True).rnsb
    assert unit == near(MEASURES["rnsb"]["normalize=True"]["rnsb"])
    religion = {**bb.load_study("religion").protected, **ATTRIBUTES}
    three_groups = MEASURES["rnsb_three_groups"]["rnsb"]
    assert ours("rnsb", religion, splits=0).rnsb == pytest.approx(three_groups, abs=2e-16)


def rnsb_of_a_split() -> None:
    pytest.importorskip("sklearn")
    splits = MEASURES["rnsb_holdout"].values()
    stated(f"five seeds gave {min(splits):.3f} to {max(splits):.3f} for the same lists")
    found = ours("rnsb", {**TARGETS, **ATTRIBUTES}, splits=50, random_seed=1)
    stated(f"words gives {found.rnsb:.3f}")
    # The mean of five of WEFE's splits is that of ours within the error of five.
    error = np.hypot(found.split_sd / np.sqrt(5), found.split_mcse)
    assert abs(np.mean(list(splits)) - found.split_mean) < 4 * error


def mac() -> None:
    kept = MEASURES["mac"]
    found = ours("mac", "religion", max_lost=0.25)
    assert set(kept["targets_eval"]) == {"jew", "christian", "muslim"}
    assert found.mac == near(kept["mac"])
    scores = found.scores.set_index(["group", "word", "attribute_group"])["score"]
    for group, words in kept["targets_eval"].items():
        for word, sets in words.items():
            assert {name: scores[group, word, name] for name in sets} == near(sets)


def ect() -> None:
    for normalize in (False, True):
        kept = MEASURES["ect"][f"normalize={normalize}"]["ect"]
        assert ours("ect", attributes="male", normalize=normalize).ect == pytest.approx(kept, abs=1e-12)


def ripa() -> None:
    words = TARGETS["math"]

    def mean(pairs: list[tuple[str, str]]) -> float:
        return float(ours("ripa", words, base_pairs=pairs).mean)

    pairs = {name: list(zip(*case["targets"].values(), strict=True)) for name, case in RIPA.items()}
    assert mean(pairs["whole"]) == near(RIPA["whole"]["result"]["ripa"])
    assert RIPA["one side lost"]["error"].startswith("IndexError")
    wrong = [("man", "woman"), ("boy", "she"), ("he", "sister"), ("son", "daughter")]
    kept, right = RIPA["both sides lost"]["result"]["ripa"], mean(pairs["both sides lost"])
    assert mean(wrong) == near(kept)
    assert right == pytest.approx(mean([("man", "woman"), ("he", "she"), ("son", "daughter")]), abs=1e-15)
    stated(f"{kept:.3f} in place of {right:.3f}")


def run_queries() -> None:
    studies = load_script("wefe", "time_ours").questions()
    kept = KEPT["run_queries"]
    embeddings = [vectors(seed) for seed in (1, 2, 3)]
    found = bb.audit(embeddings, studies, ["mac", "weat"], model=None, progress=False)
    for embedding, rows in found[found["measure"] == "mac"].groupby("embedding"):
        # WEFE's last column is the aggregate of the others.
        values = kept["MAC"]["values"][embedding]
        assert rows["observed"].tolist() == near(values[:-1])
        assert np.abs(rows["observed"]).mean() == near(values[-1])
    weat = found[(found["measure"] == "weat") & (found["embedding"] == embeddings[1].name)]
    again = [bb.metrics.weat(embeddings[1], study) for study in studies]
    assert weat["observed"].tolist() == [each.effect_size for each in again]
    sums = [each.test_statistic for each in again]
    assert sums == near(kept["WEAT"]["values"][embeddings[1].name][:-1])


def create_ranking() -> None:
    for title, ranks in KEPT["run_queries"]["ranking"].items():
        values = KEPT["run_queries"][title.split(":")[0]]["values"]
        by_size = sorted(ranks, key=lambda embedding: values[embedding][-1])
        assert [ranks[embedding] for embedding in by_size] == [1, 2, 3]


def lost_words() -> None:
    for kept, case, options in (
        ("a fifth lost", "a fifth lost", {}),
        ("more lost, threshold 0.5", "more lost", {"max_lost": 0.5}),
    ):
        found = ours("weat", with_attributes(case), ddof=0, **options)
        assert found.effect_size == near(LOOK_UP[kept]["effect_size"])
    assert LOOK_UP["more lost"]["effect_size"] is None
    with pytest.raises(bb.errors.LostWordsError, match=re.escape("max_lost")):
        ours("weat", with_attributes("more lost"), ddof=0)


def preprocessors() -> None:
    from bayesbias.embeddings.vocabularies import FORMS

    rule = ("exact", "lower", lambda word: FORMS["unaccented"](word.lower()))
    for case in ("other forms", "a word in two forms"):
        warned = pytest.warns(bb.errors.DuplicatesWarning) if "two" in case else contextlib.nullcontext()
        with warned:
            found = bb.metrics.weat(vectors(case=rule), with_attributes(case), ddof=0)
        assert found.effect_size == near(LOOK_UP[case]["effect_size"])
    assert LOOK_UP["other forms, no preprocessors"]["effect_size"] is None


def eds() -> None:
    kept, lists = KEPT["fetch_eds"], bb.studies.load_word_lists("eds")
    assert set(kept) == set(lists)
    for name, words in lists.items():
        theirs = list(dict.fromkeys(kept[name]))
        if re.fullmatch("occupations_(white|black|asian|hispanic)", name):
            assert len(theirs) == len(words) == 10
            assert not set(theirs) & set(words)
        else:
            assert list(words) == theirs
    stated(f"begins with {', '.join(kept['occupations_black'][:3])}")
    assert {"farmer", "veterinarian", "pilot"} < set(lists["occupations_white"])


def bing_liu() -> None:
    ours_, kept = bb.studies.load_word_lists("bing_liu"), KEPT["load_bingliu"]
    assert {name: len(words) for name, words in ours_.items()} == kept["words"]
    digests = {name: hashlib.sha256("\n".join(words).encode()).hexdigest() for name, words in ours_.items()}
    assert digests == kept["sha256"]


ROWS: dict[str, Callable[[], object]] = {
    "`Query`": query,
    "`WordEmbeddingModel`": word_embedding_model,
    "`WEAT`, weat": weat_statistic,
    "`WEAT`, effect_size": weat_effect_size,
    "`WEAT`, p_value": weat_p_value,
    "`RND`": rnd_norm,
    '`RND`, distance="cos"': lambda: rnd("cos", distance="cosine"),
    "`RNSB`, holdout=False": rnsb_of_all,
    "`RNSB`": rnsb_of_a_split,
    "`MAC`": mac,
    "`ECT`": ect,
    "`RIPA`": ripa,
    "`run_queries`": run_queries,
    "`plot_queries_results`": plot_queries_results,
    "`create_ranking`": create_ranking,
    "`lost_vocabulary_threshold`": lost_words,
    "`preprocessors`": preprocessors,
    **DEBIASING_ROWS,
    "`fetch_eds`": eds,
    "`load_bingliu`": bing_liu,
}


@pytest.mark.parametrize("row", ROWS)
def test_line_of_the_page(row: str) -> None:
    ROWS[row]()


def test_every_line_of_the_page_is_tested() -> None:
    assert re.findall(r"^\| (`[^|]*?) \|", PAGE, re.MULTILINE) == list(ROWS)
    stated(f"WEFE {KEPT['versions']['wefe']} gave")


@pytest.mark.slow
@pytest.mark.parametrize("place", range(3))
def test_the_code_of_the_page_prints_what_wefe_printed(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = re.findall(r"^```py\n(.*?)^```.*?^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(pairs) == len(ON_PAGE["blocks"]) == 3
    theirs, code = pairs[place]
    stored = ON_PAGE["blocks"][place]
    assert stored["code"] == theirs, "run validation/wefe/run_page.py again"
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        exec(code, {})
    printed = [float(number) for number in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", shown.getvalue())]
    assert printed == near(stored["printed"])


def test_the_page_states_the_numbers_of_weat_7() -> None:
    divided = [ours("weat", ddof=ddof) for ddof in (0, 1)]
    stated(f"{divided[0].effect_size:.3f} or {divided[1].effect_size:.3f} for WEAT 7")
    stated(f"WEAT's exact p-value is {divided[0].p_value:.3f}")


@pytest.mark.slow
def test_the_contrast_of_weat_7_is_not_settled() -> None:
    stated("the overall contrast of these lists is not settled")
    overall = bb.contrasts(bb.fit(bb.distance_table(vectors(), "weat7"), random_seed=1, progress=False))
    (row,) = overall[overall["contrast"] == "associated - different"].to_dict("records")
    assert row["hdi_low"] < 0 < row["hdi_high"]


def test_the_vectors_are_those_that_wefe_had() -> None:
    assert ON_PAGE["vectors"] == KEPT["vectors"]
    assert ON_PAGE["versions"]["wefe"] == KEPT["versions"]["wefe"]
    for name, digest in KEPT["vectors"].items():
        assert hashlib.sha256(bb.bundled("data", "vectors", f"{name}.npz").read_bytes()).hexdigest() == digest
    study = bb.load_study("weat7")
    assert {name: tuple(words) for name, words in TARGETS.items()} == study.protected
    assert {name: tuple(words) for name, words in ATTRIBUTES.items()} == study.attributes


def test_the_readme_shows_the_times() -> None:
    times = json.loads((FOLDER / "times.json").read_text(encoding="utf-8"))
    text = Path(FOLDER / "README.md").read_text(encoding="utf-8")
    for measures in load_script("wefe", "compare_times").MEASURES:
        for kind in ("warm", "cold"):
            row = times[measures][kind]
            assert row["ratio"] == pytest.approx(row["bayesbias"] / row["wefe"])
            cells = [measures.replace(",", ", "), kind, f"{row['wefe']:.2f}", f"{row['bayesbias']:.2f}"]
            assert f"| {' | '.join([*cells, f'{row["ratio"]:.2f}'])} |" in text
    several = times["weat,rnd,ect,mac"]["numbers"]
    computed = [
        f"results of WEFE {KEPT['versions']['wefe']} on",
        f"It uses {MEASURES['weat_p']['as asked, right-sided']['draws']} draws",
        f"({several['wefe']} numbers in all, {several['bayesbias']} here)",
    ]
    assert unexplained(prose(FOLDER / "README.md"), computed) == []
    assert times["weat"]["warm"]["ratio"] < 0.2
    stated(f"take {times['weat']['warm']['ratio']:.2f} of WEFE's processor time")
