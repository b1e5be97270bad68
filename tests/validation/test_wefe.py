"""Every line of the page "From WEFE", beside what WEFE itself gave (`validation/wefe/wefe.json`)."""

import contextlib
import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from tests.validation import test_debiasing as debiasing
from tests.validation.scripts import VALIDATION, load_script

FOLDER = VALIDATION / "wefe"
KEPT = json.loads((FOLDER / "wefe.json").read_text(encoding="utf-8"))
ON_PAGE = json.loads((FOLDER / "page.json").read_text(encoding="utf-8"))
PAGE = (VALIDATION.parent / "docs" / "from_wefe.md").read_text(encoding="utf-8")
PROSE = " ".join(PAGE.split())  # the page without its line breaks
MEASURES, RIPA, LOOK_UP, DEBIAS = (KEPT[name] for name in ("measures", "ripa", "look_up", "debias"))
TARGETS, ATTRIBUTES = MEASURES["lists"]["targets"], MEASURES["lists"]["attributes"]
FLOAT32 = 1e-6  # what cosines in float32 leave of the digits

pytestmark = pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")


def vectors(seed: int = 1, **options: Any) -> bb.Embedding:
    name = f"wikipedia2018_skipgram_seed{seed}"
    return bb.load_embedding(bb.bundled("data", "vectors", f"{name}.npz"), **options)


def ours(name: str, study: Any = "weat7", **options: Any) -> Any:
    return bb.metrics.measure(name, vectors(), study, **options)


def stated(text: str) -> None:
    """Check that the page says something in these words."""
    assert text in PROSE


def query() -> None:
    lists = {**TARGETS, **ATTRIBUTES}
    study = bb.Study(
        name="asked", protected=TARGETS, attributes=ATTRIBUTES, associated=list(zip(TARGETS, ATTRIBUTES, strict=True))
    )
    assert ON_PAGE["query"]["template"] == [len(study.protected), len(study.attributes)]
    for given, options in ((study, {}), (lists, {"targets": ("math", "arts"), "attributes": ("male", "female")})):
        value = ours("weat", given, ddof=0, **options).effect_size
        assert value == pytest.approx(MEASURES["weat"]["effect_size"], abs=FLOAT32)


def word_embedding_model() -> None:
    from gensim.models import KeyedVectors

    source = vectors()
    wv = KeyedVectors(source.dimensions)
    wv.add_vectors([f"/c/en/{word}" for word in source.words], source.vectors)
    prefixed = bb.load_embedding(wv, case=lambda word: f"/c/en/{word}")
    value = bb.metrics.weat(prefixed, "weat7", ddof=0).effect_size
    assert value == pytest.approx(ON_PAGE["vocab_prefix"]["/c/en/"], abs=FLOAT32)
    assert ON_PAGE["vocab_prefix"]["None"] is None


def plot_queries_results() -> None:
    embeddings = [vectors(seed) for seed in (1, 2, 3)]
    audit = bb.audit(embeddings, ["weat7", "gender"], ["weat"], model=None, progress=False)
    cells = [float(text.get_text()) for text in bb.plots.plot_heatmap(audit, "weat").axes[0].texts]
    answers = [bb.metrics.weat(one, study) for one in embeddings for study in ("weat7", "gender")]
    assert cells == [round(answer.effect_size, 3) for answer in answers]
    bars = [height for name in ON_PAGE["vectors"] for height in ON_PAGE["plot_queries_results"][name]]
    assert [answer.test_statistic for answer in answers] == pytest.approx(bars, abs=FLOAT32)


def weat_statistic() -> None:
    assert ours("weat").test_statistic == pytest.approx(MEASURES["weat"]["weat"], abs=FLOAT32)
    unequal = {"math": TARGETS["math"], "arts": TARGETS["arts"][:5]}
    unequal |= {"male": ATTRIBUTES["male"], "female": ATTRIBUTES["female"][:6]}
    found = ours("weat", unequal, ddof=0)
    assert found.test_statistic == pytest.approx(MEASURES["weat_unequal"]["weat"], abs=FLOAT32)
    assert found.effect_size == pytest.approx(MEASURES["weat_unequal"]["effect_size"], abs=FLOAT32)


def weat_effect_size() -> None:
    for kept, sign in (("weat", 1), ("weat_normalize", 1), ("weat_swapped", -1)):
        assert sign * ours("weat", ddof=0).effect_size == pytest.approx(MEASURES[kept]["effect_size"], abs=FLOAT32)
    assert abs(ours("weat").effect_size - MEASURES["weat"]["effect_size"]) > 0.03


def weat_p_value() -> None:
    kept, swapped = MEASURES["weat_p"], ("arts", "math")
    assert all(each["draws_with_a_word_twice"] == each["draws"] == 500 for each in kept.values())
    stated("in each of 500 draws of the 16 words of WEAT 7 a word stands twice")
    found, other = ours("weat"), ours("weat", targets=swapped, attributes=("male", "female"))
    stated(f"Its p-value is {kept['as asked, right-sided']['p_value']:.3f} from these draws")
    stated(f"that of all {found.partitions:,.0f} partitions is {found.p_value:.4f}")
    assert "NotImplementedError" in MEASURES["weat_p_exact"]["error"]
    assert kept["swapped, two-sided"]["p_value"] == 1.0
    assert kept["as asked, two-sided"]["p_value"] < 0.1
    assert found.p_value_two_sided == other.p_value_two_sided
    stated(f"Here it is {found.p_value_two_sided:.4f} either way")


def rnd() -> None:
    for normalize in (False, True):
        kept = MEASURES["rnd"][f"norm, normalize={normalize}"]["rnd"]
        assert ours("rnd", attributes="male", normalize=normalize).rnd == pytest.approx(kept, abs=FLOAT32)
    assert MEASURES["rnd"]["norm, normalize=True"]["rnd"] * MEASURES["rnd"]["norm, normalize=False"]["rnd"] < 0


def rnd_cosine() -> None:
    for normalize in (False, True):
        kept = MEASURES["rnd"][f"cos, normalize={normalize}"]["rnd"]
        found = ours("rnd", attributes="male", normalize=normalize, distance="cosine").rnd
        assert -found == pytest.approx(kept, abs=FLOAT32)


def rnsb_of_all() -> None:
    pytest.importorskip("sklearn")
    named = {**TARGETS, **ATTRIBUTES}
    assert ours("rnsb", named, splits=0).rnsb == pytest.approx(MEASURES["rnsb"]["normalize=False"]["rnsb"], abs=2e-16)
    judged = ours("rnsb", named, splits=0).scores.set_index("word")["score"].to_dict()
    assert judged == pytest.approx(MEASURES["rnsb"]["normalize=False"]["negative_sentiment_probabilities"], abs=1e-12)
    unit = ours("rnsb", named, splits=0, normalize=True).rnsb
    assert unit == pytest.approx(MEASURES["rnsb"]["normalize=True"]["rnsb"], abs=FLOAT32)
    religion = {**bb.load_study("religion").protected, **ATTRIBUTES}
    kept = MEASURES["rnsb_three_groups"]["rnsb"]
    assert ours("rnsb", religion, splits=0).rnsb == pytest.approx(kept, abs=2e-16)


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
    assert found.mac == pytest.approx(kept["mac"], abs=FLOAT32)
    scores = found.scores.set_index(["group", "word", "attribute_group"])["score"]
    for group, words in kept["targets_eval"].items():
        for word, sets in words.items():
            assert {name: scores[group, word, name] for name in sets} == pytest.approx(sets, abs=FLOAT32)


def ect() -> None:
    for normalize in (False, True):
        kept = MEASURES["ect"][f"normalize={normalize}"]["ect"]
        assert ours("ect", attributes="male", normalize=normalize).ect == pytest.approx(kept, abs=1e-12)


def ripa() -> None:
    words = TARGETS["math"]

    def mean(pairs: list[tuple[str, str]]) -> float:
        return float(ours("ripa", words, base_pairs=pairs).mean)

    pairs = {name: list(zip(*case["targets"].values(), strict=True)) for name, case in RIPA.items()}
    assert mean(pairs["whole"]) == pytest.approx(RIPA["whole"]["result"]["ripa"], abs=FLOAT32)
    assert RIPA["one side lost"]["error"].startswith("IndexError")
    wrong = [("man", "woman"), ("boy", "she"), ("he", "sister"), ("son", "daughter")]
    kept, right = RIPA["both sides lost"]["result"]["ripa"], mean(pairs["both sides lost"])
    assert mean(wrong) == pytest.approx(kept, abs=FLOAT32)
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
        assert rows["observed"].tolist() == pytest.approx(values[:-1], abs=FLOAT32)
        assert np.abs(rows["observed"]).mean() == pytest.approx(values[-1], abs=FLOAT32)
    weat = found[(found["measure"] == "weat") & (found["embedding"] == embeddings[1].name)]
    again = [bb.metrics.weat(embeddings[1], study) for study in studies]
    assert weat["observed"].tolist() == [each.effect_size for each in again]
    sums = [each.test_statistic for each in again]
    assert sums == pytest.approx(kept["WEAT"]["values"][embeddings[1].name][:-1], abs=FLOAT32)


def create_ranking() -> None:
    for title, ranks in KEPT["run_queries"]["ranking"].items():
        values = KEPT["run_queries"][title.split(":")[0]]["values"]
        by_size = sorted(ranks, key=lambda embedding: values[embedding][-1])
        assert [ranks[embedding] for embedding in by_size] == [1, 2, 3]


def lost_words() -> None:
    def asked(case: str, **options: Any) -> Any:
        return ours("weat", {**LOOK_UP[case]["targets"], **ATTRIBUTES}, ddof=0, **options)

    kept = LOOK_UP["a fifth lost"]["effect_size"]
    assert asked("a fifth lost").effect_size == pytest.approx(kept, abs=FLOAT32)
    assert LOOK_UP["more lost"]["effect_size"] is None
    with pytest.raises(bb.errors.LostWordsError, match=re.escape("max_lost")):
        asked("more lost")
    kept = LOOK_UP["more lost, threshold 0.5"]["effect_size"]
    assert asked("more lost", max_lost=0.5).effect_size == pytest.approx(kept, abs=FLOAT32)


def preprocessors() -> None:
    from bayesbias.embeddings.case_rules import FORMS

    rule = ("exact", "lower", lambda word: FORMS["unaccented"](word.lower()))
    found = bb.metrics.weat(vectors(case=rule), {**LOOK_UP["other forms"]["targets"], **ATTRIBUTES}, ddof=0)
    assert found.effect_size == pytest.approx(LOOK_UP["other forms"]["effect_size"], abs=FLOAT32)
    assert LOOK_UP["other forms, no preprocessors"]["effect_size"] is None
    twice = {**LOOK_UP["a word in two forms"]["targets"], **ATTRIBUTES}
    with pytest.warns(bb.errors.DuplicatesWarning):
        found = bb.metrics.weat(vectors(case=rule), twice, ddof=0)
    assert found.effect_size == pytest.approx(LOOK_UP["a word in two forms"]["effect_size"], abs=FLOAT32)


def debiased(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, int]]:
    """Return cosines of words after our debiasing, WEFE's, the lengths of WEFE's vectors, and the words' places."""
    kept, one, two = DEBIAS[kind], vectors(1), vectors(2)
    titled = kept["title_cased"]
    matrix = np.concatenate([one.vectors, two.matrix([word.lower() for word in titled])])
    cased = bb.Embedding((*one.words, *titled), matrix, name="cased")
    fitted = bb.debias.HardDebias().fit(cased, kept["sets"], equalize=kept["equalize"])
    assert fitted.subspace.explained.tolist() == pytest.approx(kept["explained"], abs=FLOAT32)
    after = fitted.transform(cased).matrix(kept["words"]).astype(np.float64)
    theirs = np.array(kept["cosines"])
    lengths = np.sqrt(np.diag(theirs))
    return after @ after.T, theirs / np.outer(lengths, lengths), lengths, {w: n for n, w in enumerate(kept["words"])}


def hard_debias() -> None:
    cosines, theirs, lengths, place = debiased("hard")
    np.testing.assert_allclose(cosines, theirs, atol=2e-6)
    np.testing.assert_allclose(np.diag(cosines), 1.0, atol=1e-6)
    stated(f"(woman {lengths[place['woman']]:.3f}, man {lengths[place['man']]:.3f})")


def hard_debiased(
    case: str, *, components: int | None = None, equalize: Any = None, **transforming: Any
) -> tuple[bb.Embedding, dict[str, Any]]:
    """Return our hard-debiased vectors, which agree with WEFE's of this case, and what it stored."""
    pairs = [["woman", "man"], ["girl", "boy"], ["she", "he"], ["mother", "father"], ["daughter", "son"]]
    source = vectors()
    before = source.vectors.copy()
    fitted = bb.debias.HardDebias(components).fit(source, pairs, equalize=equalize and pairs[:equalize], name="gender")
    after = fitted.transform(source, **transforming)
    theirs = ON_PAGE["hard_debias"][case]
    assert bb.metrics.weat(after, "weat7", ddof=0).effect_size == pytest.approx(theirs["effect_size"], abs=FLOAT32)
    units = [one.vectors / np.linalg.norm(one.vectors, axis=1, keepdims=True) for one in (source, after)]
    assert int((np.abs(units[0] - units[1]).max(axis=1) > 1e-6).sum()) == theirs["changed"]
    np.testing.assert_array_equal(source.vectors, before)
    return after, theirs


def hard_debias_components() -> None:
    hard_debiased("pca_args, 1", components=1)
    hard_debiased("pca_args, 3", components=1)


def hard_debias_name() -> None:
    after, theirs = hard_debiased("as it is")
    assert "gender" in after.name
    assert "gender" in theirs["name"]


def hard_debias_copy() -> None:
    assert hard_debiased("as it is")[1]["original_unchanged"], "WEFE's default; ours was compared above"


def hard_debias_target() -> None:
    in_pairs = ["woman", "man", "girl", "boy", "she", "he", "mother", "father", "daughter", "son"]
    hard_debiased("target", target=["math", "poetry", *in_pairs])
    with pytest.raises(AssertionError):
        hard_debiased("target", target=["math", "poetry"])


def multiclass_hard_debias() -> None:
    cosines, theirs, _, place = debiased("multiclass")
    torah = place["Torah"]
    rest = [row for row in place.values() if row != torah]
    np.testing.assert_allclose(cosines[np.ix_(rest, rest)], theirs[np.ix_(rest, rest)], atol=2e-6)
    on_directions = np.array(DEBIAS["multiclass"]["on_directions"])
    assert np.abs(on_directions[torah]).max() < 1e-6 < np.abs(on_directions[place["torah"]]).max()
    assert abs(cosines[torah, place["torah"]] - theirs[torah, place["torah"]]) > 0.1


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
    "`RND`": rnd,
    '`RND`, distance="cos"': rnd_cosine,
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
    "`HardDebias`": hard_debias,
    "`HardDebias(pca_args=...)`": hard_debias_components,
    "`HardDebias(criterion_name=...)`": hard_debias_name,
    "`fit(equalize_pairs=...)`": lambda: hard_debiased("equalize_pairs", equalize=2),
    "`transform(ignore=...)`": lambda: hard_debiased("ignore", ignore=["math", "poetry"]),
    "`transform(target=...)`": hard_debias_target,
    "`transform(copy=...)`": hard_debias_copy,
    "`MulticlassHardDebias`": multiclass_hard_debias,
    "`HalfSiblingRegression`": debiasing.test_half_sibling_regression_of_wefe,
    "`DoubleHardDebias`": debiasing.test_the_parts_of_double_hard_debiasing_of_wefe,
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
    assert printed == pytest.approx(stored["printed"], abs=FLOAT32)


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
    assert times["weat"]["warm"]["ratio"] < 0.2
    stated(f"take {times['weat']['warm']['ratio']:.2f} of WEFE's processor time")
