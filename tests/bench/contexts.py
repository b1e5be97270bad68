"""Contextual vectors beside plain loops, on whatever device there is; then what precisions do to contrasts.

``make bench`` measures the first line with a small model. The whole, with BERT-base, is::

    python -m tests.bench.contexts --json FILE [--models FOLDER ... --corpus FILE]

All models have random weights but those of `--models`, folders of real masked or causal models, whose contrasts in the
bundled studies are computed in every precision, in templates and in contexts of the corpus.
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import bayesbias as bb
from tests.bench import Figure, seconds_of

SMALL = {"num_hidden_layers": 4, "hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024}
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
STUDIES = ("weat6", "weat7", "weat8", "gender")


@dataclass(frozen=True)
class Size:
    """Settings of the model beside BERT-base's, and how many words, contexts and words of a context there are."""

    settings: dict[str, Any]
    words: int
    contexts: int
    shortest: int
    longest: int


ON_GPU = Size({}, 300, 29_990, 150, 213)
ON_PROCESSOR = Size(SMALL, 4, 100, 60, 200)


def measure() -> Iterator[Figure]:
    """Yield our time over a plain loop's in float32, or on a GPU over the fastest that the default allows."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        return
    import torch

    on_gpu = torch.cuda.is_available()
    with tempfile.TemporaryDirectory() as folder:
        case = made_case(Path(folder), ON_GPU if on_gpu else ON_PROCESSOR)
        precision, limit = ("tf32", 2.0) if on_gpu else ("float32", 1.25)
        # Of a processor its own time, so that whatever else the machine does enters neither.
        clock = time.perf_counter if on_gpu else time.process_time
        plain = min(seconds_of(lambda: plain_vectors(case, precision), clock) for _ in range(2))
        ours = min(seconds_of(case.vectors, clock) for _ in range(2))
        yield Figure(f"{case.pieces:,} pieces in context", ours / plain, limit, "times a plain loop")


@dataclass(frozen=True)
class Case:
    """A model's folder, an index of contexts, words in it, and what a plain loop needs: the model and its rows."""

    folder: Path
    index: bb.embeddings.ContextIndex
    words: list[str]
    model: Any
    rows: list[list[int]]
    places: list[int]

    @property
    def pieces(self) -> int:
        """Number of pieces of all contexts."""
        return sum(map(len, self.rows))

    def vectors(self, precision: Any = None) -> np.ndarray:
        """Return the vectors of the words from `contextual_embedding`."""
        embedding = bb.embeddings.contextual_embedding(
            self.folder, self.words, self.index, precision=precision, random_seed=1, progress=False
        )
        return embedding.matrix(self.words)


def made_case(folder: Path, size: Size, kind: str = "BertModel") -> Case:
    """Return a case with random weights and random texts, in each of which one of the words stands once."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    rng = np.random.default_rng(1)
    letters = np.array([chr(ord("a") + place) for place in range(26)])
    drawn = ("".join(rng.choice(letters, rng.integers(2, 6))) for _ in range(60_000))
    others = list(dict.fromkeys(drawn))[: 30_522 - len(MARKS) - size.words]
    words = [f"word{''.join(letters[[place // 26 % 26, place % 26]])}" for place in range(size.words)]
    vocabulary = {word: place for place, word in enumerate([*MARKS, *words, *others])}
    pieces = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer(lowercase=True)
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(mark, vocabulary[mark]) for mark in ("[CLS]", "[SEP]")]
    pieces.post_processor = processors.BertProcessing(ends[1], ends[0])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=pieces, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=512,
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    model = getattr(transformers, kind)(transformers.BertConfig(vocab_size=len(vocabulary), **size.settings)).eval()
    model.save_pretrained(folder)
    texts, rows, places = [], [], []
    for number in range(size.contexts):
        text = [
            others[place] for place in rng.integers(len(others), size=rng.integers(size.shortest, size.longest + 1))
        ]
        text.insert(place := int(rng.integers(len(text))), words[number % size.words])
        texts.append(" ".join(text))
        rows.append([2, *(vocabulary[word] for word in text), 3])
        places.append(1 + place)
    index = bb.embeddings.index_contexts(texts, folder / "made.contexts", longest=3_000, progress=False)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Case(folder, index, words, model.to(device), rows, places)


def precisions() -> list[str]:
    """Return the precisions that the device has."""
    import torch

    return ["float32", *(["tf32"] if torch.cuda.is_available() else []), "bfloat16"]


def plain_vectors(case: Case, precision: str, rows: int | None = None) -> np.ndarray:
    """Return the vector of the word in each of the first rows: batched by pieces, pooled on the device, copied once."""
    import torch

    device = case.model.device
    pieces = 65_536 if device.type == "cuda" else 4_096
    chosen = sorted(range(len(case.rows))[:rows], key=lambda row: -len(case.rows[row]))
    model = deepcopy(case.model).bfloat16() if precision == "bfloat16" else case.model
    torch.backends.cuda.matmul.fp32_precision = "tf32" if precision == "tf32" else "ieee"
    parts = []
    with torch.inference_mode():
        while chosen:
            width = len(case.rows[chosen[0]])
            block, chosen = chosen[: max(1, pieces // width)], chosen[max(1, pieces // width) :]
            numbers, mask = np.zeros((2, len(block), width), dtype=np.int64)
            for place, row in enumerate(block):
                numbers[place, : len(case.rows[row])] = case.rows[row]
                mask[place, : len(case.rows[row])] = 1
            columns = torch.tensor([case.places[row] for row in block], device=device)
            sent = {name: torch.from_numpy(array).to(device) for name, array in (("ids", numbers), ("mask", mask))}
            hidden = model(input_ids=sent["ids"], attention_mask=sent["mask"]).last_hidden_state
            parts.append(hidden[torch.arange(len(block), device=device), columns].float())
        vectors = torch.cat(parts).cpu().numpy()
    torch.backends.cuda.matmul.fp32_precision = "none"
    return vectors


def loops(case: Case) -> Iterator[dict[str, Any]]:
    """Yield the time of plain loops and of ours in every precision, and how much their vectors differ from float32."""
    exact: dict[str, np.ndarray] = {}
    for precision in precisions():
        plain_vectors(case, precision, rows=1_000)
        start = time.perf_counter()
        vectors = plain_vectors(case, precision)
        seconds = time.perf_counter() - start
        contrast = difference(vectors, exact.setdefault("plain", vectors))
        yield row("plain loop", precision, seconds, case.pieces, contrast)
    for precision in [*precisions(), None]:
        start = time.perf_counter()
        vectors = case.vectors(precision)
        seconds = time.perf_counter() - start
        named = precision or f"default, {default_precision()}"
        contrast = difference(vectors, exact.setdefault("ours", vectors))
        yield row("contextual_embedding", named, seconds, case.pieces, contrast)
    yield from parts_of(case)


def parts_of(case: Case) -> Iterator[dict[str, Any]]:
    """Yield the times of the parts of `contextual_embedding`, and what one block copies and waits for."""
    import torch

    from bayesbias.embeddings.language_models.language_model import load_language_model, mean_piece_vectors

    start = time.perf_counter()
    model = load_language_model(case.folder)
    yield row("loading the model", "", time.perf_counter() - start, 0)
    texts = case.index.texts(range(min(4_000, len(case.rows))))
    start = time.perf_counter()
    pieces = model.pieces(texts)
    yield row(f"tokenising {len(texts):,} contexts", "", time.perf_counter() - start, len(pieces.ids))
    places = np.array(case.places[: len(texts)])
    spans = np.stack([places, places + 1], axis=1)
    run = lambda: mean_piece_vectors(model, pieces, spans, layer=-1)  # noqa: E731 - twice below
    run()
    yield row(f"{len(texts):,} contexts on the device", model.loop.precision, seconds_of(run), len(pieces.ids))
    if case.model.device.type != "cuda":
        return
    torch.cuda.set_sync_debug_mode("warn")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    torch.cuda.set_sync_debug_mode("default")
    lines = [
        f"{Path(warning.filename).name}:{warning.lineno}" for warning in caught if "synchroniz" in str(warning.message)
    ]
    yield {
        "what": f"synchronisations of a block of {len(texts):,} contexts",
        "by line": {line: lines.count(line) for line in sorted(set(lines))},
    }


def masked_words(folder: Path, size: Size) -> Iterator[dict[str, Any]]:
    """Yield the time of masked words."""

    from bayesbias.embeddings.language_models.language_model import load_language_model, masked_log_probabilities

    case = made_case(
        folder, Size(size.settings, size.words, size.contexts // 4, size.shortest, size.longest), "BertForMaskedLM"
    )
    case.model.to("cpu")
    exact: np.ndarray | None = None
    for precision in precisions():
        model = load_language_model(folder, predicts="masked", precision=precision)
        texts = case.index.texts(range(len(case.rows)))
        start = time.perf_counter()
        answers = np.concatenate(
            [
                masked_log_probabilities(
                    model, model.pieces(texts[first : first + 4_096]), np.array(case.places[first : first + 4_096])
                )
                for first in range(0, len(texts), 4_096)
            ]
        )
        seconds = time.perf_counter() - start
        exact = answers if exact is None else exact
        yield row(f"{len(texts):,} masked words", precision, seconds, case.pieces, float(abs(answers - exact).max()))


def classifiers(folder: Path, size: Size) -> Iterator[dict[str, Any]]:
    """Yield the time of a model of inference, beside batches of 32 pairs as the library has them."""
    import torch
    from transformers import AutoTokenizer

    labels = {"id2label": dict(enumerate(("neutral", "entailment", "contradiction"))), "num_labels": 3}
    case = made_case(folder, Size(size.settings | labels, 2, 4, 5, 9), "BertForSequenceClassification")
    premises, hypotheses = pairs(size.contexts // 2)
    answers: dict[str, np.ndarray] = {}
    for precision in precisions():
        model = bb.nli.pipeline(folder, precision=precision, progress=False)  # type: ignore[arg-type]
        model(premises[:200], hypotheses[:200])
        start = time.perf_counter()
        answers[precision] = model(premises, hypotheses)
        seconds = time.perf_counter() - start
        contrast = float(abs(answers[precision] - answers["float32"]).max())
        yield row(f"{len(premises):,} pairs of sentences", precision, seconds, 0, contrast)
    device = model.loop.device
    theirs, tokenizer = case.model, AutoTokenizer.from_pretrained(folder)
    order = np.argsort([-len(a) - len(b) for a, b in zip(premises, hypotheses, strict=True)])

    def plain() -> None:
        with torch.inference_mode():
            for first in range(0, len(order), 32):
                batch = order[first : first + 32]
                texts = [premises[place] for place in batch], [hypotheses[place] for place in batch]
                theirs(**tokenizer(*texts, padding=True, return_tensors="pt").to(device)).logits.cpu()

    yield row(f"{len(premises):,} pairs, plain batches of 32", "float32", seconds_of(plain), 0)


def pairs(count: int) -> tuple[list[str], list[str]]:
    """Return random pairs of sentences."""
    rng = np.random.default_rng(2)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, rng.integers(1, 3))) for _ in range(500)]
    sentences = [" ".join(rng.choice(words, rng.integers(4, 30))) for _ in range(2 * count)]
    return sentences[:count], sentences[count:]


def encoders(folder: Path, size: Size) -> Iterator[dict[str, Any]]:
    """Yield the time of an encoder beside its library."""
    if find_spec("sentence_transformers") is None:
        return
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as parts

    made_case(folder / "bert", Size(size.settings, 2, 4, 5, 9)).model.to("cpu")
    transformer = parts.Transformer(str(folder / "bert"))
    library = SentenceTransformer(modules=[transformer, parts.Pooling(transformer.get_embedding_dimension())])
    library.save(str(folder / "encoder"))
    texts = list(dict.fromkeys(pairs(size.contexts // 4)[0]))
    exact: np.ndarray | None = None
    for precision in precisions():
        encoder = bb.embeddings.load_encoder(folder / "encoder", precision=precision)  # type: ignore[arg-type]
        encoder(texts[:200])
        start = time.perf_counter()
        vectors = np.concatenate([encoder(texts[first : first + 512]) for first in range(0, len(texts), 512)])
        seconds = time.perf_counter() - start
        exact = vectors if exact is None else exact
        yield row(f"{len(texts):,} texts of an encoder", precision, seconds, 0, difference(vectors, exact))
    library.encode(texts[:200])
    yield row(f"{len(texts):,} texts, the library", "float32", seconds_of(lambda: library.encode(texts)), 0)


def real_contrasts(models: list[Path], corpus: Path | None, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the largest difference from float32 of the contrasts of each real model and study, for each precision."""

    studies = [bb.load_study(name) for name in STUDIES]
    words, lists = (
        list(dict.fromkeys(word for study in chosen for word in study.words))
        for chosen in (studies, [study.without_controls() for study in studies])
    )
    sources: dict[str, Any] = {"templates": None}
    if corpus is not None:
        sources["contexts"] = bb.embeddings.index_contexts(corpus, folder / "corpus.contexts", progress=False)
    for model in models:
        for source, contexts in sources.items():
            exact: dict[str, dict[str, float]] = {}
            first: np.ndarray | None = None
            for precision in precisions():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    start = time.perf_counter()
                    given: dict[str, Any] = {"precision": precision, "most": 50, "random_seed": 1, "progress": False}
                    chosen = words if contexts is None else lists
                    embedding = bb.embeddings.contextual_embedding(model, chosen, contexts, **given)
                    seconds = time.perf_counter() - start
                first = embedding.vectors if first is None else first
                found = {study.name: contrasts_of(embedding, study) for study in studies}
                exact = exact or found
                contrasts = {
                    f"{name} {level}": max(
                        abs(value - exact[name][key]) for key, value in values.items() if key.startswith(level)
                    )
                    for name, values in found.items()
                    for level in ("overall", "list", "word")
                }
                yield {
                    **row(
                        f"{model.name}, {source}: {len(embedding):,} words",
                        precision,
                        seconds,
                        0,
                        difference(embedding.vectors, first),
                    ),
                    "contrasts": max(contrasts.values()),
                    "overall": max(contrast for name, contrast in contrasts.items() if "overall" in name),
                    "by study and level": contrasts,
                }


def contrasts_of(embedding: Any, study: Any) -> dict[str, float]:
    """Return the differences of mean cosine distances between connections: overall, by list, and by word."""
    units = {
        word: embedding[word] / np.linalg.norm(embedding[word].astype(np.float64))
        for word in study.words
        if word in embedding
    }
    attributes = {
        name: [units[word] for word in words if word in units] for name, words in study.attribute_lists.items()
    }
    by_word: dict[str, dict[str, float]] = {}
    for group, words in study.protected.items():
        for word in filter(units.__contains__, words):
            distances: dict[str, list[float]] = {}
            for name, vectors in attributes.items():
                kind = name if name in ("human", "neutral") else study.connection(group, name)
                distances.setdefault(kind, []).extend(1 - float(units[word] @ vector) for vector in vectors)
            means = {kind: float(np.mean(values)) for kind, values in distances.items() if values}
            for kind, mean in means.items():
                if kind != "associated" and "associated" in means:
                    by_word[f"word {group} {word} {kind}"] = {"contrast": means["associated"] - mean}
    result = {name: values["contrast"] for name, values in by_word.items()}
    for group in study.protected:
        for kind in ("different", "human", "neutral"):
            contrasts = [
                contrast
                for name, contrast in result.items()
                if name.startswith(f"word {group} ") and name.endswith(f" {kind}")
            ]
            if contrasts:
                result[f"list {group} {kind}"] = float(np.mean(contrasts))
    for kind in ("different", "human", "neutral"):
        contrasts = [
            contrast for name, contrast in result.items() if name.startswith("list ") and name.endswith(f" {kind}")
        ]
        if contrasts:
            result[f"overall {kind}"] = float(np.mean(contrasts))
    return result


def row(what: str, precision: str, seconds: float, pieces: int, contrast: float | None = None) -> dict[str, Any]:
    """Return a line of the table."""
    return {
        "what": what,
        "precision": precision,
        "seconds": round(seconds, 3),
        "pieces a second": round(pieces / seconds) if pieces else None,
        "difference": contrast,
    }


def difference(vectors: np.ndarray, exact: np.ndarray) -> float:
    """Return the largest relative difference of rows."""
    return float((np.linalg.norm(vectors - exact, axis=1) / np.linalg.norm(exact, axis=1)).max())


def default_precision() -> str:
    """Return what `precision=None` takes here."""
    from bayesbias.embeddings.language_models.device_loop import device_loop

    return device_loop(None, None, None).precision


def main() -> None:
    """Print the table, and write it as JSON."""
    import torch
    import transformers

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--models", type=Path, nargs="*", default=[])
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    size = ON_GPU if torch.cuda.is_available() and not given.small else ON_PROCESSOR
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "processor"
    facts: dict[str, Any] = {
        "device": device, "torch": torch.__version__, "transformers": transformers.__version__,
        "python": sys.version.split()[0], "threads": torch.get_num_threads(), "rows": [],
    }  # fmt: skip
    print(json.dumps(facts), flush=True)
    start = time.perf_counter()

    def contexts(folder: Path) -> Iterator[dict[str, Any]]:
        began = time.perf_counter()
        case = made_case(folder, size)
        yield row("making the model, texts and index", "", time.perf_counter() - began, case.pieces)
        yield from loops(case)

    parts: tuple[Callable[[Path], Iterator[dict[str, Any]]], ...] = (
        contexts,
        lambda folder: real_contrasts(given.models, given.corpus, folder),
        lambda folder: masked_words(folder, size),
        lambda folder: classifiers(folder, size),
        lambda folder: encoders(folder, size),
    )
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            try:
                for line in part(Path(folder)):
                    facts["rows"].append(line)
                    shown = {
                        name: value
                        for name, value in line.items()
                        if value is not None and name != "by study and level"
                    }
                    print(f"{time.perf_counter() - start:6.1f}", json.dumps(shown), flush=True)
                    if given.json:
                        given.json.write_text(json.dumps(facts, indent=1), encoding="utf-8")
            except Exception as fault:  # noqa: BLE001 - the other parts are still measured
                print(f"FAILED: {type(fault).__name__}: {fault}", flush=True)
                import traceback

                traceback.print_exc()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
