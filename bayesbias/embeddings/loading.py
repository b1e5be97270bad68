"""`load_embedding`: recognise a source, and read it with the reader for its format."""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import get_args

from bayesbias.base.checks import check_choice, check_items, normalized
from bayesbias.base.files.foreign import foreign_kind
from bayesbias.base.files.inputs import archive_and_member, open_content, printable, readable
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, Phrases, Vectors, check_word_list, with_phrases
from bayesbias.embeddings.encoders.folders import folder_encoder, folder_kind
from bayesbias.embeddings.readers.fasttext_bin import FASTTEXT_MAGIC, read_fasttext_bin
from bayesbias.embeddings.readers.gensim_files import read_gensim
from bayesbias.embeddings.readers.histwords import read_histwords
from bayesbias.embeddings.readers.layouts import PEEKED, layout_of, unusual_layout
from bayesbias.embeddings.readers.npz import read_npz, read_sample, read_steps
from bayesbias.embeddings.readers.text import parse_header, read_glove, read_text
from bayesbias.embeddings.readers.word2vec_binary import read_word2vec_binary
from bayesbias.embeddings.rows import Rows, Wanted, check_input, checked, column_fault, from_object, without_junk
from bayesbias.embeddings.vocabularies import Case, Form, case_rule, case_text, forms, spelling_hint, spelling_rule
from bayesbias.embeddings.vocabulary_sample import FIRST_ENTRIES, WantedWithSample, common_words, sampled_vectors
from bayesbias.errors import ArgumentError, EmbeddingError, InputFileError, LostWordsError, name_some, setting

# One function for each file format; `recognise` finds the format from the content.
READERS: dict[str, Callable[[Path, Wanted], Rows]] = {
    "word2vec_binary": read_word2vec_binary,
    "word2vec_text": read_text,
    "glove": read_glove,
    "fasttext_vec": read_text,
    "fasttext_bin": read_fasttext_bin,
    "npz": read_npz,
    "gensim": read_gensim,
    "histwords": read_histwords,
}
_SUFFIXES = {
    ".bin",
    ".bz2",
    ".csv",
    ".gz",
    ".kv",
    ".model",
    ".npz",
    ".tsv",
    ".tar",
    ".tgz",
    ".txt",
    ".vec",
    ".xz",
    ".zip",
}
_BOM = b"\xef\xbb\xbf"
_SAMPLE = 1 << 20


def load_embedding(
    source: EmbeddingLike,
    *,
    words: Iterable[str] | None = None,
    format: str = "auto",  # noqa: A002 - the word that every user expects
    case: Case = "exact",
    prefix: str = "",
    suffix: str = "",
    name: str | None = None,
    allow_pickle: bool = False,
    phrases: Phrases = "whole",
) -> Embedding:
    """Load an embedding from a file or from an object.

    Parameters
    ----------
    source
        A path, or an object: gensim KeyedVectors (or a model that has them as ``.wv``), a mapping of words to
        vectors, a pair ``(words, matrix)``, a frame whose index has the words, or an `Embedding`. Text files, word2vec
        files and ``.npz`` may be packed by gzip, bzip2 or xz; of a zip or tar with several files, the path names one,
        such as ``"glove.6B.zip:glove.6B.50d.txt"``. Of the folder of an encoder, `words` get the vectors that it gives
        them alone: `encode` has more choices.
    words
        Words to keep, under the case rule; None (default) keeps all. A file is read once, and only the vectors to keep
        are held in memory. Words that the source lacks are silently left out.
    format
        ``"auto"`` (default) recognises the content, whatever the file's name. Otherwise ``"word2vec_binary"``,
        ``"word2vec_text"``, ``"fasttext_vec"`` (the same layout), ``"glove"`` (no header line), ``"npz"``
        (arrays ``words`` and ``vectors``), ``"fasttext_bin"``, ``"gensim"`` (written by its ``save``), or
        ``"histwords"`` (``1990-w.npy`` beside ``1990-vocab.pkl``, which is read without unpickling).
        A word of a text file may hold spaces. Fields may be between spaces, tabs, commas or semicolons.
    case
        Case rule, used here and later: see `Embedding`.
    prefix, suffix
        Text before and after each word of the source, such as ``"/c/en/"`` of ConceptNet or ``"_NOUN"``: the words are
        looked up with it, here and later, and tables record it in the case rule.
    name
        Name of the embedding; by default that of the file, or ``"embedding"`` for an object.
    allow_pickle
        Whether files that gensim's ``save`` wrote may be loaded. They are pickles: loading one runs any code that its
        author put in it.
    phrases
        How entries of several words, such as ``"civil war"``, are looked up: ``"whole"`` (default), so that those which
        are not stored are lost; or ``"mean"``: of those, the vector is the mean of the vectors of their words, each
        scaled to length 1, if all of them are stored. This needs `words`.

    Returns
    -------
    Embedding
        Words in the order of the source; repeats of a word with the same vector are dropped.

    Raises
    ------
    ArgumentError
        If there is no such case rule or format.
    EmbeddingError
        If the content is damaged, cut short or not usable: a column that is no dimension, such as a count, quantised
        vectors, or more than one row in eight without a usable vector; the message gives the line, row or byte.
        Encoding, number and lengths of rows are always checked, numbers only of words that are kept.
    InputFileError
        If the file cannot be opened, or is of no known format.
    LostWordsError
        If the source has none of `words`; the message shows entries of it, and a spelling rule that finds them.

    Warns
    -----
    LostWordsWarning
        If rows without a usable vector are left out: zero, not finite, one word with two vectors, or not UTF-8.

    Notes
    -----
    A text file must end with a line end; otherwise ``0.41`` could be ``0.4183`` cut short. A GloVe file that was cut
    exactly between two lines is read without an error, because the format has no count of words.

    For the function of an encoder, such as ``SentenceTransformer(...).encode``, use `encode`.

    For a spaCy vector table, leave out its empty rows, because a zero vector has no direction (pruned words share one
    vector, and tables count it once)::

        table = nlp.vocab.vectors
        rows = {nlp.vocab.strings[key]: table.data[row] for key, row in table.key2row.items()}
        load_embedding({word: row for word, row in rows.items() if word and row.any()})

    Examples
    --------
    >>> load_embedding({"king": [1.0, 0.0], "queen": [0.6, 0.8]}, words=["queen", "knave"])
    Embedding(name='embedding', words=1, dimensions=2, case='exact')
    """
    rule = spelling_rule(case, prefix, suffix)
    if words is not None and not isinstance(words, str):
        words = tuple(check_items("words", words, "a list of words, or None for all of them"))
    check_choice("format", format, ("auto", *READERS))
    check_choice("phrases", phrases, get_args(Phrases.__value__))
    if phrases == "mean":
        if words is None:
            raise ArgumentError("phrases='mean' needs to know the entries: give words=[...], such as study.words.")
        wanted = _wanted(dict.fromkeys(part for word in words for part in (word, *word.split())), rule)
    else:
        wanted = _wanted(words, rule)
    if isinstance(source, str | os.PathLike) and is_encoder(source):
        return _encoded(Path(source), words, rule, name)
    sampled = None if wanted is None else WantedWithSample(wanted)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        rows = _read(path, sampled, format, allow_pickle=allow_pickle)
        origin, given_name = str(path), file_stem(path)
    else:
        rows = from_object(source, sampled)
        origin = f"the given {type(source).__name__}"
        given_name = source.name if isinstance(source, Embedding) else "embedding"
    _check_columns(source, rows, origin)
    sample = None
    if sampled is not None:
        rows, sample = _without_sample(rows, sampled)
    if not rows.words and wanted is not None and sampled is not None:
        some = name_some(map(repr, sorted(wanted)), limit=5)
        hint = spelling_hint([] if words is None else words, sampled.entries)
        more = (
            f" Check its language; if only the spelling differs, try {setting('case', 'exact,lower,title,unaccented')}."
        )
        raise LostWordsError(
            f"{origin} has none of the words ({some}) under the case rule {case_text(rule)!r}.{hint}"
            f"{'' if hint.options else more}"
        )
    rows, reasons = without_junk(rows, origin, wanted=wanted is not None)
    if not rows.words:
        raise LostWordsError(f"{origin} has no usable vector of the words: {name_some(map(repr, reasons), limit=5)}.")
    distinct_words, vectors = checked(rows, origin)
    try:
        loaded = Embedding(
            words=distinct_words, vectors=vectors, name=name or given_name, case=rule, left_out=tuple(reasons.items())
        )
    except EmbeddingError as error:
        raise EmbeddingError(f"{origin}: {error}") from error
    loaded = replace(_with_record(loaded, source), vocabulary_sample=_stored_sample(source, sample))
    if phrases == "whole":
        return loaded
    if type(loaded) is not Embedding:
        raise ArgumentError("phrases='mean' is for vectors of single words, and these come from contexts.")
    return with_phrases(loaded, words or ())


def _check_columns(source: EmbeddingLike, rows: Rows, origin: str) -> None:
    """Raise `EmbeddingError` if a column of new vectors is none, or all are quantised."""
    is_array = isinstance(source, str | os.PathLike) and rows.unit != "line"
    if not isinstance(source, Embedding) and (fault := column_fault(rows.vectors, everywhere=not is_array)):
        raise EmbeddingError(f"{origin}: {fault}")


def is_encoder(source: object) -> bool:
    """Return whether a source is the folder of an encoder or a language model."""
    # os.path.isdir is False for a path that cannot be, where Path.is_dir raises.
    is_folder = isinstance(source, str | os.PathLike) and os.path.isdir(source)  # noqa: PTH112
    return is_folder and folder_kind(Path(source)) is not None  # type: ignore[arg-type]


def _encoded(folder: Path, words: Iterable[str] | None, case: Case, name: str | None) -> Embedding:
    """Return the vectors that the encoder of a folder gives to words alone."""
    from bayesbias.embeddings.encoders.encoding import encode

    if words is None:
        raise EmbeddingError(f"{folder} is a folder of an encoder, which has no list of words. Give words=study.words.")
    sample = _encoded_common_words(folder, folder_encoder(folder).digest)
    return replace(encode(folder, words, name=name), case=case_rule(case), vocabulary_sample=sample)


@lru_cache(maxsize=4)
def _encoded_common_words(folder: Path, digest: str) -> Vectors | None:
    """Return the vectors of the bundled common words, encoded once for all studies; `digest` is that of the encoder."""
    from bayesbias.embeddings.encoders.encoding import encode

    del digest  # another encoder in the same folder is encoded anew
    common = encode(folder, common_words())
    return sampled_vectors(common.words, common.vectors)


def _with_record(loaded: Embedding, source: EmbeddingLike) -> Embedding:
    """Return an embedding with the steps, and the spread over contexts, of its source, if that has them."""
    from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding, with_spread

    if isinstance(source, ContextualEmbedding):
        return replace(source.keeping(loaded.words), name=loaded.name, case=loaded.case)
    if isinstance(source, Embedding):
        return replace(loaded, steps=source.steps, left_out=(*source.left_out, *loaded.left_out))
    if isinstance(source, str | os.PathLike) and recognise(Path(source)) == "npz":
        return replace(with_spread(loaded, Path(source)), steps=read_steps(Path(source)))
    return loaded


def _without_sample(rows: Rows, sampled: WantedWithSample) -> tuple[Rows, Vectors | None]:
    """Return the rows of the words to keep, and the vectors of the sample that was read beside them."""
    keys = [normalized(word) for word in rows.words]
    plain = frozenset(sampled)
    keep = [place for place, key in enumerate(keys) if key in plain]
    drawn = [place for place, key in enumerate(keys) if sampled.is_sampled(key)]
    wanted = Rows([rows.words[row] for row in keep], rows.vectors[keep], [rows.places[row] for row in keep], rows.unit)
    return wanted, sampled_vectors([keys[row] for row in drawn], rows.vectors[drawn])


def _stored_sample(source: EmbeddingLike, read: Vectors | None) -> Vectors | None:
    """Return the sample of the vocabulary that a source carries, or the one that was read from its words."""
    if isinstance(source, Embedding) and source.vocabulary_sample is not None:
        return source.vocabulary_sample
    if isinstance(source, str | os.PathLike) and recognise(Path(source)) == "npz":
        stored = read_sample(Path(source))
        return read if stored is None else stored
    return read


class _Vocabulary(WantedWithSample):
    """Words to keep, with a sample of all others, which notes the place of every word that it is asked for."""

    ranks: dict[str, int]

    def __contains__(self, word: object) -> bool:
        if self.count < FIRST_ENTRIES:
            wanted = super().__contains__(word)
        else:
            self.count += 1
            wanted = frozenset.__contains__(self, word)
        self.ranks.setdefault(str(word), self.count)
        return wanted

    def settle(self) -> None:
        """Go on noting places when the sample is complete."""


def read_vocabulary(
    source: EmbeddingLike,
    words: Iterable[str] = (),
    *,
    format: str = "auto",  # noqa: A002 - as in load_embedding
    allow_pickle: bool = False,
) -> tuple[dict[str, int], dict[str, Vectors], Vectors | None]:
    """Return the words of an embedding in normal form, with their places from 1, in one pass over its file.

    Also returned are the vectors of `words`, forms in normal form, as far as they are stored and have a direction, and
    those of a sample of the vocabulary (`Embedding.reference`), or None if it has too few words.

    >>> read_vocabulary({"king": [1.0, 0.0], "queen": [0.6, 0.8]})[0]
    {'king': 1, 'queen': 2}
    """
    check_choice("format", format, ("auto", *READERS))
    vocabulary = _Vocabulary(frozenset(words))
    vocabulary.ranks = {}
    if isinstance(source, str | os.PathLike):
        rows = _read(Path(source), vocabulary, format, allow_pickle=allow_pickle)
    else:
        rows = from_object(source, vocabulary)
    origin = str(source) if isinstance(source, str | os.PathLike) else f"the given {type(source).__name__}"
    _check_columns(source, rows, origin)
    wanted, sample = _without_sample(rows, vocabulary)
    wanted, _ = without_junk(wanted, origin, wanted=True)
    vectors = {normalized(word): vector for word, vector in zip(wanted.words, wanted.vectors, strict=True)}
    return vocabulary.ranks, vectors, _stored_sample(source, sample)


def recognise(path: Path) -> str:
    """Return the format of a file, recognised by its content.

    Raises `InputFileError` if the file is empty, or of no known format.
    """
    with readable(path), open_content(path) as stream:
        sample = stream.read(_SAMPLE)
    first, _, next_lines = sample.partition(b"\n")
    header = parse_header(first)
    lines = sample.removeprefix(_BOM).lstrip(b"\r\n").split(b"\n", PEEKED)[:PEEKED]
    layout = layout_of([line + b"\n" for line in lines])
    if not sample:
        raise InputFileError(f"{path} is empty after decompression. Download or write it again.")
    if sample[:1] == b"\x80" and sample[1:2] in (b"\2", b"\3", b"\4", b"\5"):
        return "gensim"
    if (layout is None or b"\0" in sample[:300]) and header is None and (kind := foreign_kind(sample)):
        raise InputFileError(f"{path} is {kind}")
    if sample[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "npz"
    if sample[:6] == b"\x93NUMPY":
        return "histwords"
    if sample[:4] == FASTTEXT_MAGIC:
        return "fasttext_bin"
    if header is None and (unusual := unusual_layout(sample)):
        raise InputFileError(f"{path} is {unusual}")
    if header is not None:
        # Half of the expected numbers is enough, so that a damaged text file is reported as text.
        body = next_lines.lstrip(b"\r\n").split(b"\n", PEEKED)[:PEEKED]
        rows = layout_of([line + b"\n" for line in body])
        numbers = 0 if rows is None or b"\0" in body[0] else rows.dimensions
        return "word2vec_text" if numbers >= 1 and 2 * numbers >= min(header[1], 10) else "word2vec_binary"
    if layout is not None:
        return "glove"
    raise InputFileError(
        f"{path} is no embedding of a known format (it begins {sample[:12]!r}). The formats are {', '.join(READERS)}; "
        f"give one ({setting('format')}) to see what is wrong with the file. To fit a distance table, no embedding is "
        "needed."
    )


def _read(path: Path, wanted: Wanted, form: str, *, allow_pickle: bool) -> Rows:
    with readable(path):
        check_input(path)
        chosen = recognise(path) if form == "auto" else form
        if chosen == "gensim" and not allow_pickle:
            with open_content(path) as stream:
                start = stream.read(_SAMPLE)
            is_gensim = b"gensim" in start or path.suffix in (".kv", ".model")
            if form == "auto" and not is_gensim and (kind := foreign_kind(start)):
                raise EmbeddingError(f"{path} is {kind}")
            raise EmbeddingError(
                f"{path} is a pickle (a file that gensim's save wrote): loading it runs any code that its author put "
                f"in it. If you trust its author, give {setting('allow_pickle', True)}; gensim's save_word2vec_format "
                "writes safe files."
            )
        return READERS[chosen](path, wanted)


def _wanted(words: Iterable[str] | None, rule: tuple[str | Form, ...]) -> Wanted:
    if words is None:
        return None
    wanted = frozenset(normalized(form) for word in check_word_list(words) for form in forms(word, rule))
    if not wanted:
        raise EmbeddingError("words is empty, so there is nothing to load. Give words, or None for all of them.")
    return wanted


def file_stem(path: Path) -> str:
    """Return the name of a file without the endings of embeddings.

    >>> file_stem(Path("vectors/news.vec.gz"))
    'news'
    """
    _, member = archive_and_member(path)
    name = Path(member or path).name
    while Path(name).suffix in _SUFFIXES:
        name = Path(name).stem
    return printable(name)
