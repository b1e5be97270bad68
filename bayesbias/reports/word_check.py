"""Check of a study's words in a vocabulary, before any distance is computed."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.base.arrays import unit_rows
from bayesbias.base.checks import check_choice, normalized
from bayesbias.base.lost_words import MAX_LOST, WordList, allowance, check_max_lost
from bayesbias.base.number_text import counted
from bayesbias.base.results import DOUBTS, Contents, Result, contents_of
from bayesbias.base.statements import Statement, StatementList
from bayesbias.embeddings.loading import read_vocabulary
from bayesbias.embeddings.vocabularies import FORMS, Case, Spellings, case_text, forms, spelling_hint, spelling_rule
from bayesbias.errors import name_some, setting
from bayesbias.estimates.dependence import clusters
from bayesbias.reports.posterior.effective_words import NEARLY_ONE, worth_phrase
from bayesbias.studies.faults import CONTROLS
from bayesbias.studies.study import Study, StudyLike, is_bundled, load_study
from bayesbias.tables.word_worths import Vocabulary

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import EmbeddingLike, Phrases

_MOST_CONTROLS = 10


@dataclass(frozen=True, eq=False, repr=False)
class WordCheck(Result):
    """Words of a study in a vocabulary, from `check_words`; `print` shows the lists and the lost words.

    Parameters
    ----------
    study, case, phrases, max_lost
        Name of the study, and the arguments of `check_words`.
    vocabulary
        Number of words in the vocabulary, repeats in normal form counted once.
    lists : DataFrame
        One row for each `list`, with its `kind` (``"protected"`` or ``"attribute"``). `median_place` and
        `effective_words` are of its stored words, the latter NaN if the vocabulary has fewer than 1,000 words to
        compare them with.
    words : DataFrame
        One row for each word of a `list`, with its `kind`:

        - `word`; `form`: the stored form, in normal form; ``"mean"`` of a phrase whose words are stored; empty if lost;
        - `place`: from 1, in the order of the file, which in most files is that of frequency; NaN if not stored;
        - `left_out`: reason of a lost word: ``"case"``, ``"normal form"``, ``"accents"``, ``"spaces"``, ``"script"``,
          ``"mixed scripts"``, ``"several words"``, ``"absent"``, or ``"no usable vector"`` (zero, not finite, or two);
        - `near`: spellings in the vocabulary, separated by commas.
    doubts
        Statements on lists that lost too much, and on English control words.
    """

    study: str
    case: str
    phrases: str
    max_lost: float
    vocabulary: int
    lists: pd.DataFrame
    words: pd.DataFrame
    doubts: tuple[Statement, ...]

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        lost = self.words[self.words["form"] == ""]
        # The bundled control lists can lose hundreds, and no user corrects them one by one.
        many = lost["list"].isin(CONTROLS) & (lost.groupby("list")["word"].transform("size") > _MOST_CONTROLS)
        total = len(self.words)
        first = Statement(
            "words",
            f"{total - len(lost):,} of the {counted(total, 'word')} of {self.study}"
            f"{' and its control lists' if self.words['list'].isin(CONTROLS).any() else ''} are in the vocabulary of "
            f"{self.vocabulary:,} words (case rule {self.case!r}).",
            {"words": total, "lost": len(lost), "vocabulary": self.vocabulary},
        )
        lists = tuple(
            Statement(
                "list",
                f"{row['list']}: {row['words'] - row['lost']} of {row['words']}"
                + (f", median rank in the file {row['median_place']:,.0f}" if row["lost"] < row["words"] else "")
                + worth_phrase(
                    {**{str(name): value for name, value in row.items()}, "words": row["words"] - row["lost"]}
                ),
                {"words": row["words"], "lost": row["lost"], "median_place": row["median_place"]},
            )
            for row in self.lists.to_dict("records")
        )
        texts = tuple(
            Statement(
                "lost words",
                f"{row['word']} ({row['list']}): {row['left_out']}"
                + (f"; similar spellings: {row['near']}" if row["near"] else ""),
            )
            for row in lost[~many].to_dict("records")
        )
        texts += tuple(
            Statement("lost words", f"{name}, {counted(len(rows), 'word')}: {name_some(rows['word'], _MOST_CONTROLS)}")
            for name, rows in lost[many].groupby("list", sort=False)
        )
        return (
            StatementList("", (first,), bulleted=False),
            StatementList(DOUBTS, self.doubts),
            StatementList("Lists", lists),
            StatementList("Lost words", texts),
        )

    @cached_property
    def contents(self) -> Contents:
        """Words that were looked up, by list and by word."""
        captions = {"lists": "Lists of the study", "words": "Words of the study, with their places in the vocabulary"}
        return contents_of(self, title=f"Which words of {self.study} are in the vocabulary?", captions=captions)


def check_words(
    embedding: "EmbeddingLike",
    study: StudyLike,
    *,
    case: Case = "exact",
    prefix: str = "",
    suffix: str = "",
    phrases: "Phrases" = "whole",
    max_lost: float = MAX_LOST,
    format: str = "auto",  # noqa: A002 - as in load_embedding
    allow_pickle: bool = False,
) -> WordCheck:
    """Return which words of a study a vocabulary has and where, why it lacks the others, and similar spellings.

    The file is read once, and no vectors but those of the study and of a sample of the vocabulary are held in memory.
    Spellings are sought among the first 100,000 words, by at most a million comparisons; other forms of a lost word
    (case, accents, spaces) among all.

    Parameters
    ----------
    embedding
        An `Embedding`, or anything that `load_embedding` takes.
    study
        A `Study`, the name of a bundled one, or the path of a TOML file.
    case, prefix, suffix, phrases, format, allow_pickle
        As in `load_embedding`.
    max_lost
        Largest share of a group's words that may be lost, as in `distance_table`; more is a doubt here, not an error.

    Raises
    ------
    ArgumentError
        If there is no such case rule, or `phrases` or `max_lost` is not valid.
    InputFileError, EmbeddingError
        If the vectors cannot be read.
    StudyError
        If the study has faults.

    Examples
    --------
    >>> vectors = {"mathe": [1.0, 0.0], "Kunst": [0.0, 1.0], "Männer": [1.0, 1.0], "frauen": [1.0, 2.0]}
    >>> lists = {"math": ["mathe"], "arts": ["kunst"], "men": ["männer"], "women": ["frauen"]}
    >>> check = bb.check_words(vectors, lists)
    >>> check.words[["word", "form", "place", "left_out", "near"]]
         word    form  place left_out    near
    0   mathe   mathe    1.0
    1   kunst            NaN     case   Kunst
    2  männer            NaN     case  Männer
    3  frauen  frauen    4.0
    """
    rule, study = spelling_rule(case, prefix, suffix), load_study(study)
    check_choice("phrases", phrases, ("whole", "mean"))
    check_max_lost(max_lost)
    parts = [part for word in study.words for part in ((word, *word.split()) if phrases == "mean" else (word,))]
    forms_of_words = [normalized(form) for word in parts for form in forms(word, rule)]
    vocabulary, vectors, sample = read_vocabulary(embedding, forms_of_words, format=format, allow_pickle=allow_pickle)

    def stored(word: str) -> str:
        return next((form for form in forms(word, rule) if form in vectors), "")

    spellings = Spellings(vocabulary)
    rows = []
    for kind, lists in (("protected", study.protected), ("attribute", study.attribute_lists)):
        for name, words in lists.items():
            for word in words:
                form, reason = stored(word), ""
                near: tuple[str, ...] = ()
                place = float(vocabulary.get(form, float("nan")))
                if not form and phrases == "mean" and " " in word and all(map(stored, word.split())):
                    form = "mean"
                elif not form and any(spelling in vocabulary for spelling in forms(word, rule)):
                    reason = "no usable vector"
                elif not form:
                    reason, near = spellings.reason(word)
                rows.append((kind, name, word, form, place, reason, ", ".join(near)))
    frame = pd.DataFrame(rows, columns=["kind", "list", "word", "form", "place", "left_out", "near"])
    by_list = frame.assign(lost=frame["form"] == "").groupby(["kind", "list"], sort=False)
    counts = by_list.agg(words=("word", "size"), lost=("lost", "sum"), median_place=("place", "median")).reset_index()
    counts = counts.merge(_worths(frame, vectors, sample), on=["kind", "list"], how="left")
    return WordCheck(
        study=study.name,
        case=case_text(rule),
        phrases=phrases,
        max_lost=max_lost,
        vocabulary=len(vocabulary),
        lists=counts,
        words=frame,
        doubts=(*_spelling(frame, vocabulary), *_doubts(study, frame, max_lost)),
    )


def _by_list(frame: pd.DataFrame) -> Iterator[tuple[tuple[str, str], list[Any]]]:
    """Yield the kind and the name of each list with its rows; a frame for each of thousands of lists takes long."""
    lists = defaultdict(list)
    for row in frame.itertuples(index=False):
        lists[str(row.kind), str(row.list)].append(row)
    yield from lists.items()


def _worths(frame: pd.DataFrame, vectors: Mapping[str, np.ndarray], sample: np.ndarray | None) -> pd.DataFrame:
    """Return what each list is worth in independent words, and which words count nearly as one."""
    columns = ["kind", "list", "effective_words", "nearly_one"]
    if sample is None:
        return pd.DataFrame([], columns=columns).astype({"effective_words": float})
    vocabulary, records = Vocabulary.from_reference(unit_rows(sample)), []
    for (kind, name), rows in _by_list(frame[frame["form"].isin(vectors)]):
        words, forms_of_list = [row.word for row in rows], list(dict.fromkeys(row.form for row in rows))
        links = vocabulary.links(unit_rows(np.stack([vectors[form] for form in forms_of_list])))
        worth = len(forms_of_list) / links.design_effect(np.arange(len(forms_of_list)))
        joined = "; ".join(", ".join(words[place] for place in places) for places in clusters(links, NEARLY_ONE))
        records.append((kind, name, worth, joined))
    return pd.DataFrame(records, columns=columns)


def _spelling(frame: pd.DataFrame, vocabulary: Mapping[str, int]) -> Iterator[Statement]:
    """Yield how the vocabulary spells words, if most words are lost and it spells them in another way."""
    lost = frame.loc[frame["form"] == "", "word"]
    hint = spelling_hint(lost, vocabulary)
    if 2 * len(lost) > len(frame) and hint.options:
        yield Statement("spelling", f"Most words are spelt in another way.{hint}", dict(hint.options))


def _doubts(study: Study, frame: pd.DataFrame, max_lost: float) -> Iterator[Statement]:
    """Yield statements on lists that lost too many words, and on English control words."""
    for (kind, name), rows in _by_list(frame):
        missing = [row for row in rows if row.form == ""]
        is_control = kind == "attribute" and name in CONTROLS
        word_list = WordList(name, len(rows), [row.word for row in missing], limited=not is_control)
        numbers = {"words": len(rows), "lost": len(missing)}
        if word_list.is_over(max_lost):
            spelt = _cases_of_others(missing)
            left = replace(word_list, lost=[word for word in word_list.lost if word not in spelt])
            advice = f"use other words{allowance([word_list])}"
            if spelt and not left.is_over(max_lost):
                forms_text = ",".join(("exact", *dict.fromkeys(spelt.values())))
                advice = f"look their other forms up, which are stored ({setting('case', forms_text)})"
            text = f"{word_list} are lost, more than {100 * max_lost:g}%: {advice}."
            yield Statement("lost words", text, numbers)
        elif is_control and is_bundled(getattr(study, name)) and 2 * len(missing) > len(rows):
            text = f"{word_list} are lost, so contrasts with these control words rest on few of them."
            if not " ".join(frame["word"]).isascii():
                text = (
                    f"{word_list} are lost: these bundled control words are English. In a study of another language, "
                    f'give language = "de" (its code) and {name} = "none", or control words in that language.'
                )
            yield Statement("controls", text, numbers)


def _cases_of_others(missing: list[Any]) -> dict[str, str]:
    """Return the lost words that the vocabulary has in another case, with the name of that form."""
    return {
        row.word: case for row in missing for case in ("upper", "title", "lower") if FORMS[case](row.word) == row.near
    }
