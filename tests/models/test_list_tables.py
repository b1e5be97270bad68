"""The default model on tables of every make: each is answered, and of whole groups with the observed difference."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import FitError, NotEnoughMemoryError
from bayesbias.tables.codes import PAIR_COLUMNS

SETTINGS = {"draws": 500, "random_seed": 1, "progress": False}


def table(
    groups: dict[str, int],
    lists: dict[str, tuple[tuple[str, ...], int]],
    *,
    dimensions: int = 20,
    controls: int = 8,
    equal: bool = False,
) -> pd.DataFrame:
    """A table of vectors: `lists` are (groups that they are associated with, words) by name."""
    rng = np.random.default_rng(3)
    words = {f"{group}{number}": group for group, count in groups.items() for number in range(count)}
    centre = {group: rng.standard_normal(dimensions) for group in groups}
    vectors = {word: centre[group] + rng.standard_normal(dimensions) for word, group in words.items()}
    if equal:
        vectors[next(iter(words))] = vectors[list(words)[1]]
    rows = []
    every = {**lists, **({"neutral": ((), controls)} if controls else {})}
    for name, (owners, count) in every.items():
        for number in range(count):
            other = rng.standard_normal(dimensions) + sum(0.3 * centre[owner] for owner in owners)
            for word, group in words.items():
                vector = vectors[word]
                distance = 1 - vector @ other / np.linalg.norm(vector) / np.linalg.norm(other)
                connection = "neutral" if name == "neutral" else "associated" if group in owners else "different"
                rows.append((word, group, f"{name}{number}", name, connection, distance))
    return pd.DataFrame(rows, columns=[*PAIR_COLUMNS, "cosine_distance"])


TABLES = {
    "two groups": table({"x": 3, "y": 4}, {"a": (("x",), 5), "b": (("y",), 6)}),
    "no controls": table({"x": 3, "y": 3}, {"a": (("x",), 5), "b": (("y",), 5)}, controls=0),
    "groups of one word": table({"x": 1, "y": 1}, {"a": (("x",), 6), "b": (("y",), 6)}),
    "a group of one word": table({"x": 1, "y": 4}, {"a": (("x",), 6), "b": (("y",), 6)}),
    "a list of one word": table({"x": 3, "y": 3}, {"a": (("x",), 1), "b": (("y",), 6)}),
    "one group": table({"x": 5}, {"a": (("x",), 6), "b": ((), 6)}),
    "three groups": table({"x": 3, "y": 3, "z": 3}, {"a": (("x",), 4), "b": (("y",), 4), "c": (("z",), 5)}),
    "a shared list": table({"x": 3, "y": 3, "z": 3}, {"a": (("x", "y"), 5), "b": (("z",), 5)}),
    "two lists a group": table({"x": 3, "y": 3}, {"a": (("x",), 4), "c": (("x",), 7), "b": (("y",), 5)}),
    "equal vectors": table({"x": 3, "y": 3}, {"a": (("x",), 5), "b": (("y",), 5)}, equal=True),
    **{
        f"more words than {count} dimensions": table(
            {"x": 8, "y": 8}, {"a": (("x",), 9), "b": (("y",), 9)}, dimensions=count
        )
        for count in (2, 3, 5, 10)
    },
}


@pytest.mark.parametrize("name", TABLES)
def test_groups_have_their_plain_differences(name: str) -> None:
    fit = bb.fit(TABLES[name], **SETTINGS)
    frame = bb.contrasts(fit, level="all", scope="these_words").query("contrast == 'associated - different'")
    assert np.isfinite(frame[["mean", "sd", "observed"]].to_numpy()).all()
    of_groups = frame[frame["protected_word"] == ""]
    error = of_groups["sd"] / np.sqrt(1000)
    assert ((of_groups["mean"] - of_groups["observed"]).abs() < 4 * error).all()
    # Single words never leave their observed difference by more than its interval's width.
    words = frame[frame["protected_word"] != ""]
    assert ((words["mean"] - words["observed"]).abs() < words["hdi_high"] - words["hdi_low"]).all()
    assert fit.attrs["convergence_problems"] == "[]"


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.parametrize("dimensions", [2, 3, 5, 10])
@pytest.mark.parametrize("study", ["weat7", "gender"])
def test_few_dimensions_of_real_vectors_have_their_plain_difference(study: str, dimensions: int) -> None:
    """There are 14 and 16 protected words: their distances move together, and no answer may be near 0 for that."""
    whole = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    rows = bb.distance_table(bb.Embedding(whole.words, whole.vectors[:, :dimensions]), study, max_lost=0.3)
    fit = bb.fit(rows, **SETTINGS)
    words = rows.groupby(["protected_word", "connection"], observed=True)["cosine_distance"].mean().unstack()
    spread = (words["associated"] - words["different"]).std() / np.sqrt(len(words))
    for scope in ("these_words", "population"):
        contrast = bb.contrasts(fit, level="overall", scope=scope).iloc[0]
        assert contrast["observed"] != 0
        assert contrast["mean"] == pytest.approx(contrast["observed"], abs=4 * contrast["sd"] / np.sqrt(1000))
        assert 0.4 * spread < contrast["sd"] < 4 * spread


def test_words_of_one_group_with_different_connections_have_their_plain_difference() -> None:
    """They are groups of their own for the model, which else would take the mean of both for that of each."""
    rows = TABLES["no controls"].assign(protected_group="one")
    frame = bb.contrasts(bb.fit(rows, **SETTINGS), level="overall", scope="these_words")
    (contrast,) = frame.to_dict("records")
    assert contrast["mean"] == pytest.approx(contrast["observed"], abs=4 * contrast["sd"] / np.sqrt(1000))


def test_a_short_list_of_wide_spread_widens_its_own_interval() -> None:
    """The words of a long, tight list say nothing about those of a short, wide one."""
    rows = table({"x": 3, "y": 3}, {"a": (("x",), 4), "b": (("y",), 30)}, controls=0)
    distances = rows["cosine_distance"]
    centre = distances.groupby([rows["protected_word"], rows["attribute_group"]]).transform("mean")
    wide = rows.assign(
        cosine_distance=centre + (distances - centre) * np.where(rows["attribute_group"] == "a", 2.0, 0.5)
    )
    draws = bb.fit(wide, **SETTINGS)["covariances"]["residual_covariance"]
    spread = np.sqrt(draws.sel(other_protected_word=draws["protected_word"].values[0]).isel(protected_word=0))
    of_list = spread.mean(("chain", "draw"))
    assert float(of_list.sel(attribute_group="a") / of_list.sel(attribute_group="b")) > 2


def test_nearness_of_lists_cancels_over_groups_and_not_in_one() -> None:
    """A list that is moved away from every word changes each group, and neither the whole nor what is net of it."""
    rows = TABLES["two groups"]
    moved = rows.assign(cosine_distance=rows["cosine_distance"] + 0.6 * (rows["attribute_group"] == "a"))
    frames = [
        bb.contrasts(bb.fit(table, **SETTINGS), level="protected_group").query("contrast == 'associated - different'")
        for table in (rows, moved)
    ]
    before, after = (frame.set_index("protected_group") for frame in frames)
    error = 4 * before["sd"].max() / np.sqrt(1000)
    for group, sign in (("x", 1), ("y", -1)):
        assert after.loc[group, "mean"] - before.loc[group, "mean"] == pytest.approx(0.6 * sign, abs=error)
        nearness = after.loc[group, "list_nearness"] - before.loc[group, "list_nearness"]
        assert nearness == pytest.approx(0.6 * sign, abs=error)
        assert after.loc[group, "net_mean"] == pytest.approx(before.loc[group, "net_mean"], abs=error)
    conclusions = bb.conclusions(bb.fit(moved, **SETTINGS))
    group_x, _ = [one for one in conclusions.shown if one.kind == "group"]
    (shared,) = [one for one in conclusions.shown if one.kind == "nearness of lists"]
    assert group_x.numbers["decides"]
    assert group_x.numbers["associated"] == ["a"]
    assert "'b' is nearer to the words than 'a', by 0." in shared.text
    assert f"Without it, the difference of each group is {group_x.numbers['net_mean']:+.3f}" in shared.text
    assert group_x.numbers["nearness_low"] < group_x.numbers["list_nearness"] < group_x.numbers["nearness_high"]


def test_control_words_change_no_contrast_of_stereotype_lists() -> None:
    rows = TABLES["two groups"]
    without = rows[rows["connection"] != "neutral"]
    frames = [bb.contrasts(bb.fit(table, **SETTINGS), level="overall").iloc[0] for table in (rows, without)]
    for name in ("mean", "sd"):
        assert frames[0][name] == pytest.approx(frames[1][name], abs=4 * frames[0]["sd"] / np.sqrt(1000))
    scoped = [bb.contrasts(bb.fit(table, **SETTINGS), scope="these_words").iloc[0] for table in (rows, without)]
    assert scoped[0]["mean"] == pytest.approx(scoped[1]["mean"], abs=1e-9)
    assert scoped[0]["sd"] == pytest.approx(scoped[1]["sd"], abs=1e-9)


def test_a_list_without_pairs_with_a_group_is_refused_and_named() -> None:
    rows = TABLES["two groups"]
    lacking = rows[~((rows["protected_group"] == "x") & (rows["attribute_group"] == "neutral"))]
    with pytest.raises(FitError, match="'neutral'"):
        bb.fit(lacking, **SETTINGS)


def test_lost_pairs_hardly_move_the_answer() -> None:
    share = 0.05
    rows = TABLES["two groups"]
    remaining = rows[np.random.default_rng(1).random(len(rows)) >= share].reset_index(drop=True)
    assert len(remaining) < len(rows)
    whole, part = (bb.contrasts(bb.fit(table, **SETTINGS), scope="these_words").iloc[0] for table in (rows, remaining))
    assert abs(part["mean"] - whole["mean"]) < 0.5 * whole["sd"]
    assert part["sd"] == pytest.approx(whole["sd"], rel=0.2)


def test_a_fit_without_the_covariance_predicts_no_pairs_and_says_why() -> None:
    fit = bb.fit(TABLES["two groups"], **SETTINGS)
    del fit["covariances"]
    with pytest.raises(NotEnoughMemoryError, match=r"no covariance of its distances.*does not keep it"):
        bb.check_posterior(fit, random_seed=1, progress=False)


def test_short_lists_and_groups_of_one_word_are_doubted() -> None:
    (of_list,) = bb.conclusions(bb.fit(TABLES["a list of one word"], **SETTINGS)).doubts
    (of_groups,) = bb.conclusions(bb.fit(TABLES["groups of one word"], **SETTINGS)).doubts
    assert (of_list.kind, of_groups.kind) == ("short list", "one word a group")
    assert "The list a has fewer than 3 attribute words" in of_list.text


def test_words_for_which_the_nearness_of_a_list_decides_are_said_to_be_such() -> None:
    rows = TABLES["two groups"]
    moved = rows.assign(cosine_distance=rows["cosine_distance"] + 0.6 * (rows["attribute_group"] == "a"))
    report = bb.conclusions(bb.fit(moved, **SETTINGS))
    words = next(one for one in report.shown if one.kind == "words")
    assert words.numbers["by_nearness"] == ["x0", "x1", "x2"]
    assert "the result changes for x0, x1, x2." in words.text
    # Where it decides for one group, all groups show it.
    groups = [one for one in report.shown if one.kind == "group"]
    (shared,) = [one for one in report.shown if one.kind == "nearness of lists"]
    assert len(groups) == 2
    assert "Without it, the difference of each group is" in shared.text
