"""Encoders of folders: what is recognised, what is refused, and a real encoder beside its own library."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.encoders.folders import folder_encoder, folder_kind
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError
from tests.base.files.test_files_that_change import before_opening
from tests.cli.running import in_process
from tests.embeddings.encoders.module_folders import (
    DENSE,
    HOMES,
    OTHER_CLASSES,
    OTHER_FILES,
    OTHER_SETTINGS,
    POOLING,
    TOO_LARGE,
    TRANSFORMER,
    Touch,
    tensors,
    with_other_files,
    written,
)
from tests.embeddings.encoders.opened_files import opened_files, opened_paths
from tests.embeddings.language_models.toy_models import save_masked

OWN = "sentence_transformers.models.Transformer"


def folder_with(tmp_path, modules, **files):
    folder = tmp_path / "model"
    folder.mkdir()
    if modules is not None:
        (folder / "modules.json").write_text(json.dumps(modules))
    for name, content in files.items():
        (folder / name.replace("_json", ".json")).write_text(content)
    return folder


@pytest.mark.parametrize(
    ("modules", "config", "kind"),
    [
        ([{"type": OWN, "path": ""}], "{}", "sentence-transformers"),
        ([{"type": "sentence_transformers.models.StaticEmbedding", "path": "."}], "{}", "model2vec"),
        ([{"type": "sentence_transformers.models.StaticEmbedding", "path": "0_S"}], "{}", "sentence-transformers"),
        ([{"type": "sentence_transformers.models.StaticEmbedding", "path": ""}], None, "sentence-transformers"),
        (None, '{"model_type": "bert"}', "transformers"),
    ],
)
def test_folders_are_recognised(tmp_path, modules, config, kind):
    files = {} if config is None else {"config_json": config}
    assert folder_kind(folder_with(tmp_path, modules, **files)) == kind


@pytest.mark.parametrize(
    ("modules", "fact"),
    [
        ([{"type": "os.system", "path": ""}], "'os.system'"),
        ([{"path": ""}], "type"),
        ([{"type": OWN, "path": "../elsewhere"}], "outside"),
    ],
)
def test_folders_that_would_run_code_are_refused(tmp_path, modules, fact):
    with pytest.raises(InputFileError, match=fact):
        bb.embeddings.load_encoder(folder_with(tmp_path, modules))


def test_pickles_are_refused(tmp_path):
    folder = folder_with(tmp_path, [{"type": OWN, "path": ""}])
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x02.")
    with pytest.raises(InputFileError, match=r"pytorch_model\.bin"):
        bb.embeddings.load_encoder(folder)


def test_other_folders_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    language_model = folder_with(tmp_path, None, config_json='{"model_type": "bert"}')
    for path, fact in ((tmp_path / "empty", "empty"), (tmp_path / "absent", "absent"), (language_model, "contextual")):
        with pytest.raises(BayesBiasError, match=fact):
            bb.embeddings.load_encoder(path)
    with pytest.raises(EmbeddingError, match=r"study\.words"):
        bb.load_embedding(language_model)


def test_damaged_descriptions_are_refused(tmp_path):
    folder = folder_with(tmp_path, None, modules_json="[{", config_json="{}")
    with pytest.raises(InputFileError, match=r"modules\.json"):
        bb.embeddings.load_encoder(folder)


@pytest.mark.extras
def test_a_real_encoder_gives_the_vectors_of_its_library(minilm):
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(minilm), local_files_only=True)
    words = ["king", "queen", "ice cream", "Müller"]
    expected = library.encode(words)
    for embedding in (
        bb.encode(minilm, words),
        bb.encode(library.encode, words),
        bb.encode(lambda texts: library.encode(texts, convert_to_tensor=True).bfloat16(), words),
        bb.load_embedding(minilm, words=words),
    ):
        tolerance = 1e-2 if embedding.name == "<lambda>" else 1e-5
        np.testing.assert_allclose(embedding.matrix(words), expected, atol=tolerance)
    sentences = bb.embeddings.load_templates("noun")
    mean = library.encode([text.replace("WORD", "king") for text in sentences]).mean(axis=0)
    np.testing.assert_allclose(bb.encode(minilm, ["king"], "noun")["king"], mean, atol=1e-5)


@pytest.mark.extras
def test_only_weights_and_texts_of_a_real_folder_are_opened(minilm, tmp_path):
    folder = with_other_files(Path(shutil.copytree(minilm, tmp_path / "made")))
    with opened_files(folder) as opened:
        vectors = bb.encode(folder, ["king", "queen"]).vectors
    assert "tokenizer_config.json" in opened
    assert opened.isdisjoint(OTHER_FILES)
    assert {Path(name).suffix for name in opened} <= {".json", ".safetensors", ".txt"}
    assert not (tmp_path / "trace").exists()
    np.testing.assert_allclose(vectors, bb.encode(minilm, ["king", "queen"]).vectors, atol=1e-6)


_TRACED = """
import os, sys
def note(event, arguments):
    for argument in arguments:
        if isinstance(argument, str) and "torchinductor_" in argument and "/" in argument:
            print("touched", argument)
sys.addaudithook(note)
import bayesbias as bb
bb.encode(sys.argv[1], ["king"])
for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
    print(oct(os.stat(os.path.dirname(os.environ[name])).st_mode), os.environ[name])
"""


@pytest.mark.extras
def test_compiled_code_is_neither_read_nor_kept_where_all_may_write(
    minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch's folder is `torchinductor_USER` there, which another user can make first."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    command = [sys.executable, "-c", _TRACED, str(minilm)]

    def paths() -> dict[str, set[Path]]:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        kinds: dict[str, set[Path]] = {}
        for kind, path in (line.split(" ", 1) for line in done.stdout.splitlines()):
            kinds.setdefault(kind, set()).add(Path(path))
        return kinds

    traced = paths()
    folders = traced.pop("0o40700")
    assert traced.pop("touched", set()) <= folders
    assert not traced
    assert {path.parent.parent for path in folders} == {tmp_path}
    assert not list(tmp_path.iterdir()), "what was made is removed at the end"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "own"))
    assert {tmp_path, tmp_path / "own"} <= set.union(*paths().values()), "a folder that the user names stays"


@pytest.mark.extras
def test_an_incomplete_download_without_its_tokenizer_is_refused(minilm, tmp_path):
    folder = Path(shutil.copytree(minilm, tmp_path / "made"))
    (folder / "tokenizer.json").unlink()
    for read in (
        bb.embeddings.load_encoder,
        lambda path: bb.encode(path, ["king", "queen"]),
        lambda path: bb.load_embedding(path, words=["king", "queen"]),
        lambda path: bb.embeddings.contextual_embedding(path, ["king"], progress=False),
        bb.nli.pipeline,
    ):
        with pytest.raises(InputFileError, match=r"knows \d pieces of words, and its model 30,522"):
            read(folder)


@pytest.mark.extras
def test_the_commands_read_the_folder(minilm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (
        ("encode", str(minilm), "--study", "weat7", "--templates", "noun", "--output", "minilm.npz"),
        ("table", "minilm.npz", "--study", "weat7", "--output", "weat7.csv"),
        ("table", str(minilm), "--study", "weat7", "--output", "alone.csv"),
    ):
        assert in_process(*command, monkeypatch=monkeypatch) == 0
    assert (bb.read_table("weat7.csv")["cosine_sd"] > 0).all()
    words = bb.load_embedding(minilm, words=["math", "man"]).matrix(["math", "man"])
    rows = bb.read_table("alone.csv").set_index(["protected_word", "attribute_word"])
    assert rows.loc[("math", "man"), "cosine_similarity"] == pytest.approx(float(words[0] @ words[1]), abs=1e-5)


@pytest.mark.extras
def test_a_static_encoder_gives_the_vectors_of_its_library(tmp_path):
    model2vec = pytest.importorskip("model2vec")
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "[PAD]": 1, "king": 2, "queen": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    rows = np.random.default_rng(1).standard_normal((4, 8)).astype(np.float32)
    model = model2vec.StaticModel(rows, tokenizer, normalize=True)
    model.save_pretrained(tmp_path / "static")
    assert folder_kind(tmp_path / "static") == "model2vec"
    embedding = bb.encode(tmp_path / "static", ["king", "queen"])
    np.testing.assert_allclose(embedding["king"], rows[2] / np.linalg.norm(rows[2]), atol=1e-6)


@pytest.mark.extras
def test_a_second_run_needs_neither_library_nor_model(minilm, tmp_path, monkeypatch):
    cache = tmp_path / "c.sqlite"
    first = bb.encode(minilm, ["king", "queen"], cache=cache)
    monkeypatch.setattr("bayesbias.embeddings.encoders.folders._LOADERS", {})
    np.testing.assert_array_equal(bb.encode(minilm, ["king", "queen"], cache=cache).vectors, first.vectors)


@pytest.mark.extras
@pytest.mark.parametrize("pooling", ["cls_token", "mean_tokens", "max_tokens"])
def test_pooling_normalisation_prompt_and_length_are_those_of_the_folder(minilm, tmp_path, pooling):
    from sentence_transformers import SentenceTransformer

    folder = Path(shutil.copytree(minilm, tmp_path / "made"))

    def change(name, **facts):
        path = folder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | facts))

    modes = dict.fromkeys(("cls_token", "mean_tokens", "max_tokens"), False) | {pooling: True}
    change("1_Pooling/config.json", **{f"pooling_mode_{name}": chosen for name, chosen in modes.items()})
    change("sentence_bert_config.json", max_seq_length=8)
    change("config_sentence_transformers.json", prompts={"query": "query: "}, default_prompt_name="query")
    if pooling != "mean_tokens":  # without the normalisation
        modules = json.loads((folder / "modules.json").read_text())
        (folder / "modules.json").write_text(json.dumps(modules[:2]))
    texts = ["king", "a very long text of many words, which is cut after a few of its pieces"]
    library = SentenceTransformer(str(folder), local_files_only=True)
    np.testing.assert_allclose(bb.encode(folder, texts).matrix(texts), library.encode(texts), atol=1e-5)
    assert abs(library.encode(texts, prompt="") - library.encode(texts)).max() > 1e-2  # the prompt counts


@pytest.mark.extras
def test_token_vectors_of_a_sentence_encoder_say_what_they_are(minilm):
    with pytest.warns(bb.errors.BayesBiasWarning, match="bb.encode"):
        bb.embeddings.contextual_embedding(minilm, ["king"], progress=False)


@pytest.mark.parametrize("kind", OTHER_CLASSES)
def test_other_classes_are_refused_and_their_weights_stay_unopened(tmp_path: Path, kind: Any) -> None:
    trace = tmp_path / "trace"
    files = {
        "1/router_config.json": {
            "types": {"weights": "sklearn.utils.parallel.joblib"},
            "structure": {"a": ["weights"]},
        },
        "1/config.json": {"types": {"weights": "sklearn.utils.parallel.joblib"}},
        "1/weights": pickle.dumps(Touch(trace)),
    }
    folder = written(tmp_path / "model", [TRANSFORMER, {"type": kind, "path": "1"}], files)
    with opened_files(folder) as opened, pytest.raises(InputFileError, match=r"modules\.json names the class"):
        bb.embeddings.load_encoder(folder)
    assert "1/weights" not in opened
    assert not trace.exists()


@pytest.mark.parametrize(("name", "file", "settings"), OTHER_SETTINGS)
def test_settings_that_name_functions_or_other_models_are_refused(
    tmp_path: Path, name: str, file: str, settings: Any
) -> None:
    modules = [{"type": f"{HOMES[0]}.{name}", "path": "0"}, POOLING]
    with pytest.raises(InputFileError, match=file.replace(".", r"\.")):
        folder_encoder(written(tmp_path / "model", modules, {f"0/{file}": settings}))


@pytest.mark.parametrize(("name", "file", "settings"), TOO_LARGE)
def test_sizes_beyond_those_of_the_weights_are_refused_before_the_library_is_called(
    tmp_path: Path, name: str, file: str, settings: Any
) -> None:
    modules = [{"type": f"{HOMES[0]}.{name}", "path": "0"}, POOLING]
    files = {f"0/{file}": settings, "0/model.safetensors": tensors(a=(2, 2), b=(2,))}
    with pytest.raises(InputFileError, match=file.replace(".", r"\.")):
        folder_encoder(written(tmp_path / "model", modules, files))


@pytest.mark.extras
def test_a_configuration_without_sizes_does_not_make_a_large_encoder(tmp_path: Path) -> None:
    folder = save_masked(tmp_path / "model")
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    (folder / "modules.json").write_text(json.dumps([{"type": OWN, "path": ""}]))
    with pytest.raises(InputFileError, match="describes a model of"):
        folder_encoder(folder).load()


@pytest.mark.parametrize("path", ["", ".", "0/.."])
def test_a_part_is_loaded_once(tmp_path: Path, path: str) -> None:
    again = {**TRANSFORMER, "path": path}
    (tmp_path / "model" / "0").mkdir(parents=True)
    with pytest.raises(InputFileError, match="twice"):
        folder_encoder(written(tmp_path / "model", [TRANSFORMER, again]))


def test_a_long_prompt_is_refused(tmp_path: Path) -> None:
    prompts = {"config_sentence_transformers.json": {"prompts": {"query": "a" * 20_000}}}
    with pytest.raises(InputFileError, match="a prompt of 20,000 letters"):
        folder_encoder(written(tmp_path / "model", [TRANSFORMER], prompts))


@pytest.mark.extras
@pytest.mark.parametrize("is_loading", [True, False])
def test_an_encoder_that_changes_after_its_checks_is_refused(minilm: Path, tmp_path: Path, is_loading: bool) -> None:
    folder = Path(shutil.copytree(minilm, tmp_path / "made"))
    encoder, path = folder_encoder(folder), folder / "config.json"
    if not is_loading:
        path.touch()
    with before_opening(path, 1, path.touch), pytest.raises(InputFileError, match="made changed while the model was"):
        encoder.load()


@pytest.mark.extras
def test_a_chat_template_is_not_run(minilm: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(minilm, tmp_path / "made"))
    how = {"method": "forward", "method_output_name": "last_hidden_state"}
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    for name, changes in (
        ("tokenizer_config.json", {"chat_template": endless}),
        (
            "sentence_bert_config.json",
            {"modality_config": {"text": how, "message": how}, "module_output_name": "token_embeddings"},
        ),
    ):
        path = folder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(InputFileError, match="chat template"):
        bb.encode(folder, ["king", "queen"], progress=False)


@pytest.mark.extras
def test_a_panic_of_a_tokenizer_is_an_error(minilm: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(minilm, tmp_path / "made"))
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    endless = {"type": "Split", "pattern": {"Regex": "(a+)+b"}, "behavior": "Isolated", "invert": False}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer | {"pre_tokenizer": endless}))
    settings = json.loads((folder / "tokenizer_config.json").read_text()) | {
        "tokenizer_class": "PreTrainedTokenizerFast"
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    words = ["a" * 40, "b"]
    with pytest.raises(EmbeddingError, match="made fails"):
        bb.encode(folder, words, attempts=1, progress=False)
    with pytest.raises(EmbeddingError, match="made fails"), pytest.warns(bb.errors.BayesBiasWarning):
        bb.embeddings.contextual_embedding(folder, words, progress=False)


def test_shapes_without_numbers_do_not_count(tmp_path: Path) -> None:
    modules, size = [{"type": f"{HOMES[0]}.LayerNorm", "path": "0"}], 3_000_000_000
    header = json.dumps({"norm.weight": {"dtype": "F32", "shape": [size], "data_offsets": [0, 4 * size]}}).encode()
    weights = len(header).to_bytes(8, "little") + header
    files = {"0/config.json": {"dimension": size}, "0/model.safetensors": weights}
    with pytest.raises(InputFileError, match="lacks it"):
        folder_encoder(written(tmp_path / "model", modules, files))


@pytest.mark.parametrize("file", ["0/config.json", "modules.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_settings_that_are_not_json_are_refused(tmp_path: Path, file: str, content: bytes) -> None:
    modules = [{"type": f"{HOMES[0]}.Dense", "path": "0"}]
    with pytest.raises(InputFileError, match=file.replace(".", r"\.")):
        folder_encoder(written(tmp_path / "model", modules, {file: content}))


@pytest.mark.parametrize("path", ["..", "/etc", "../model2", "a\0b", "0/../../other"])
def test_modules_outside_of_the_folder_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputFileError, match="outside of the folder"):
        folder_encoder(written(tmp_path / "model", [TRANSFORMER | {"path": path}]))


@pytest.mark.parametrize("name", ["modules.json", "config.json"])
def test_a_file_outside_of_the_folder_is_not_opened(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path / "model", [TRANSFORMER], {"config.json": {"model_type": "bert"}})
    outside = (folder / name).rename(tmp_path / "outside.json")
    (folder / name).symlink_to(outside)
    with opened_paths() as paths, pytest.raises(InputFileError, match="link"):
        folder_encoder(folder)
    assert not [path for path in paths if Path(path).resolve() == outside]


@pytest.mark.parametrize(
    "type_", [*(f"{home}.Transformer" for home in HOMES), "sentence_transformers.base.modules.transformer.Transformer"]
)
def test_settings_of_real_folders_are_accepted(tmp_path: Path, type_: str) -> None:
    modules = [
        {"idx": 0, "name": "0", "type": type_, "path": ""},
        POOLING,
        {"type": f"{HOMES[0]}.Dense", "path": "2_Dense"},
        {"type": "sentence_transformers.base.modules.dense.Dense", "path": "3_Dense"},
        {"type": f"{HOMES[0]}.Normalize", "path": "4_Normalize"},
        {"type": f"{HOMES[0]}.BoW", "path": "5_BoW"},
        {"type": f"{HOMES[0]}.WordEmbeddings", "path": "6"},
    ]
    files = {
        "sentence_bert_config.json": {
            "max_seq_length": 512,
            "do_lower_case": False,
            "transformer_task": "feature-extraction",
            "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
            "module_output_name": "token_embeddings",
            "processing_kwargs": {"text": {"padding": "longest"}, "chat_template": {"template": "{{ a.b }}"}},
            "model_args": {"torch_dtype": "bfloat16", "attn_implementation": "sdpa", "trust_remote_code": True},
            "tokenizer_args": {"padding_side": "left", "model_max_length": 512},
            "config_args": {},
        },
        "tokenizer_config.json": {
            "tokenizer_class": "BertTokenizer",
            "name_or_path": "/home/reader/models/base",
            "special_tokens_map_file": __file__,
            "tokenizer_file": None,
            "auto_map": {"AutoTokenizer": ["tokenization.Own", None]},
        },
        "config.json": {"_name_or_path": str(tmp_path), "auto_map": {"AutoModel": "modeling.Own"}, "vocab_size": 9},
        "1_Pooling/config.json": {
            "word_embedding_dimension": 4,
            "pooling_mode_mean_tokens": True,
            "pooling_mode": "mean",
        },
        "2_Dense/config.json": {"in_features": 4, "out_features": 4, "bias": True, "activation_function": DENSE},
        "2_Dense/model.safetensors": tensors(**{"linear.weight": (4, 4), "linear.bias": (4,)}),
        "3_Dense/config.json": {"activation_function": "torch.nn.modules.linear.Identity"},
        "5_BoW/config.json": {"vocab": ["e.g.", "modules.json", "a/b", "os.system"], "word_weights": {"e.g.": 0.5}},
        "6/wordembedding_config.json": {
            "tokenizer_class": f"{HOMES[0]}.tokenizer.WhitespaceTokenizer.WhitespaceTokenizer"
        },
    }
    assert folder_encoder(written(tmp_path / "model", modules, files)).kind == "sentence-transformers"


def test_pickles_beside_other_weights_are_refused(tmp_path: Path) -> None:
    modules = [{"type": f"{HOMES[0]}.Dense", "path": "0"}]
    files = {
        "0/pytorch_model.bin": b"",
        "0/other.safetensors": b"",
        "0/model.safetensors.index.json": {"weight_map": {}},
    }
    with pytest.raises(InputFileError, match=r"pytorch_model\.bin may be a pickle.* no model\.safetensors"):
        folder_encoder(written(tmp_path / "model", modules, files))
    folder_encoder(
        written(tmp_path / "model", [{**modules[0], "type": f"{HOMES[0]}.Transformer"}], files)
    )  # reads the index
    folder_encoder(written(tmp_path / "model", modules, {"0/model.safetensors": b""}))


def test_only_weights_and_texts_are_opened_before_the_library(tmp_path: Path) -> None:
    texts = {"1_Pooling/config.json": {}, "tokenizer_config.json": {}, "tokenizer.json": {}}
    texts |= {"model.safetensors": tensors(weight=(2, 2))}
    folder = with_other_files(written(tmp_path / "model", [TRANSFORMER, POOLING], texts))
    with opened_files(folder) as opened:
        digest = folder_encoder(folder).digest
    assert opened == {"modules.json", "config.json", *texts}
    (folder / "onnx" / "config.json").write_bytes(b"other")
    assert folder_encoder(folder).digest == digest
    (folder / "1_Pooling" / "config.json").write_bytes(b"{ }")
    assert folder_encoder(folder).digest != digest


def test_a_name_that_no_folder_can_have_is_that_of_no_folder(tmp_path: Path) -> None:
    assert folder_encoder(written(tmp_path / "model", [TRANSFORMER, POOLING | {"path": "a" * 5000}])).digest


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are of Unix")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = written(tmp_path / "model", [TRANSFORMER, POOLING], {"1_Pooling/config.json": {}})
    for name in ("sentence_bert_config.json", "tokenizer_config.json", "model.safetensors.index.json", "vocab.txt"):
        os.mkfifo(folder / name)
    with pytest.raises(InputFileError, match="is not an ordinary file"):
        folder_encoder(folder)


def test_no_library_is_imported_by_the_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("torch", "transformers", "sentence_transformers", "model2vec"):
        monkeypatch.setitem(sys.modules, library, None)
    folder_encoder(written(tmp_path / "model", [TRANSFORMER]))


def _made(kind: str) -> list[Any]:
    """Return small modules of every class that is allowed, apart from transformers."""
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from torch import nn

    words = ["king", "queen", "e.g.", "modules.json"]
    if kind == "bag of words":
        return [modules.BoW(words, {"e.g.": 2.0}), modules.Dense(4, 3, activation_function=nn.GELU())]
    if kind == "static":
        tokenizer = Tokenizer(WordLevel({word: row for row, word in enumerate(["[UNK]", *words])}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = Whitespace()
        rows = np.arange(20, dtype=np.float32).reshape(5, 4) ** 2
        return [modules.StaticEmbedding(tokenizer, embedding_weights=rows), modules.Normalize(), modules.LayerNorm(4)]
    tokenizer = modules.tokenizer.WhitespaceTokenizer(words)
    last = modules.CNN(4, 4, [1]) if kind == "convolution" else modules.LSTM(4, 2)
    return [
        modules.WordEmbeddings(tokenizer, np.eye(4, dtype=np.float32)), modules.WordWeights(words, {"king": 0.5}), last,
        modules.Pooling(4, "max"), modules.Dropout(0.1), modules.Dense(4, 4, activation_function=nn.Identity()),
    ]  # fmt: skip


@pytest.mark.extras
@pytest.mark.parametrize("kind", ["bag of words", "static", "convolution", "recurrent"])
def test_what_the_library_saves_is_read(tmp_path: Path, kind: str) -> None:
    library = pytest.importorskip("sentence_transformers")
    model = library.SentenceTransformer(modules=_made(kind), device="cpu")
    model.save(str(tmp_path / "model"))
    loaded = folder_encoder(tmp_path / "model")(["king", "queen"])
    np.testing.assert_allclose(loaded, model.encode(["king", "queen"]), atol=1e-6)


@pytest.mark.extras
def test_every_class_of_the_library_is_allowed_or_refused(tmp_path: Path) -> None:
    from sentence_transformers.base.modules import Module

    pytest.importorskip("sentence_transformers.sparse_encoder.modules")
    waiting, classes = [Module], set()
    while waiting:
        kind = waiting.pop()
        classes.add(f"{kind.__module__}.{kind.__name__}")
        waiting += kind.__subclasses__()
    read = set()
    for kind in classes:
        try:
            folder_encoder(written(tmp_path / "model", [{"type": kind, "path": "0"}]))
        except InputFileError:
            continue
        read.add(kind.rpartition(".")[2])
    assert read == {
        *(
            "BoW",
            "CLIPModel",
            "CNN",
            "Dense",
            "Dropout",
            "LSTM",
            "LayerNorm",
            "Normalize",
            "Pooling",
            "StaticEmbedding",
        ),
        *("Transformer", "WeightedLayerPooling", "WordEmbeddings", "WordWeights"),
    }


@pytest.mark.extras
def test_the_library_itself_imports_no_class_of_another_package(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    trace = tmp_path / "trace"
    settings = {
        "types": {"weights": "sklearn.utils.parallel.joblib"},
        "structure": {"a": ["weights"]},
        "parameters": {},
    }
    router = {"name": "0", "type": "sentence_transformers.models.Router", "path": "0"}
    files = {"0/router_config.json": settings, "0/weights": pickle.dumps(Touch(trace))}
    folder = written(tmp_path / "model", [router], files)
    with pytest.raises(ValueError, match="trust_remote_code"):
        library.SentenceTransformer(str(folder), local_files_only=True)
    assert not trace.exists()
