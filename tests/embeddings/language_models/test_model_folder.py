"""Folders of models: links and names that lead outside are refused, those of a snapshot of the Hub are not."""

import json
import os
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from time import sleep

import pytest

import bayesbias as bb
from bayesbias.embeddings.language_models.model_folder import (
    check_model_folder,
    file_states,
    unchanged,
)
from bayesbias.errors import InputFileError, NotEnoughMemoryError
from tests.embeddings.encoders.module_folders import tensors
from tests.fuzz.answers import write_model_folder

_TICK = 0.02  # seconds after which a file system writes another time
OWN = [{"type": "sentence_transformers.models.Transformer", "path": ""}]


@pytest.mark.parametrize(
    "described",
    [
        {"links": {"model.safetensors": "/etc/passwd"}},
        {"links": {"config.json": "../elsewhere.json"}},
        {"links": {"part": ".."}},
        *(
            {"files": {"model.safetensors.index.json": json.dumps({"weight_map": {"a": name}})}}
            for name in ("../outside.safetensors", "/etc/passwd", "below/part.safetensors", "..", "", 5)
        ),
        {"files": {"model.safetensors.index.json": "[]"}},
    ],
)
def test_files_outside_of_the_folder_are_refused_before_any_library(tmp_path, described) -> None:
    folder = write_model_folder({"modules": OWN, **described}, tmp_path / "model")
    with pytest.raises(InputFileError, match=r"outside of the folder|not an index of weights"):
        check_model_folder(folder)
    with pytest.raises(InputFileError):
        bb.embeddings.load_encoder(folder)
    if (folder / "config.json").is_file():
        with pytest.raises(InputFileError, match=r"outside of the folder|not an index of weights"):
            bb.nli.pipeline(folder)


@pytest.mark.parametrize("name", ["README.md", "config_sentence_transformers.json", "1_Pooling/config.json"])
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path, name) -> None:
    folder = write_model_folder({"modules": OWN}, tmp_path / "model")
    check_model_folder(folder)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(InputFileError, match=f"{name} is not an ordinary file"):
        check_model_folder(folder)


@pytest.mark.parametrize(
    ("name", "settings", "fact"),
    [
        *(
            ("tokenizer_config.json", settings, "outside.txt")
            for settings in (
                {"vocab": "OUTSIDE"},
                {"vocab_file": "OUTSIDE"},
                {"init_inputs": ["OUTSIDE"]},
                {"vocab": "../outside.txt"},
                {"vocab": "outside.txt"},  # in the working directory
                {"fast_tokenizer_files": ["../outside.txt"]},
                {"added_tokens_decoder": {"special_tokens_map_file": {"0": "OUTSIDE"}}},
            )
        ),
        ("config.json", {"index_path": "OUTSIDE"}, "outside.txt"),
        ("processor_config.json", {"a": [{"b": "../outside.txt"}]}, "outside.txt"),
        ("adapter_config.json", {"base_model_name_or_path": "../base"}, "adapter"),
        ("config.json", {"backbone": "microsoft/resnet-50"}, "'backbone'"),
        ("config.json", {"vision_config": {"backbone": "../other"}}, "'backbone'"),
        ("config.json", {"quantization_config": {"quant_method": "fp8"}}, "'quantization_config'"),
        ("config.json", {"transformers_weights": "below/m.safetensors.index.json"}, "'transformers_weights'"),
        *(
            ("config.json", {key: value}, "kernels-community")
            for key in ("attn_implementation", "_attn_implementation", "experts_implementation")
            for value in (
                "kernels-community/flash-attn2",
                {"": "kernels-community/flash-attn2:f"},
                ["kernels-community"],
            )
        ),
        ("config.json", {"text_config": {"attn_implementation": "flash_attention_2"}}, "flash_attention_2"),
        # Classes of transformers that read or download further models, and files of tokenizers in other folders.
        ("processor_config.json", {"audio_tokenizer": {"audio_tokenizer_name_or_path": "a/b"}}, "'audio_tokenizer'"),
        ("audio_tokenizer_config.json", {"audio_tokenizer_class": "DacModel"}, "'audio_tokenizer_class'"),
        ("preprocessor_config.json", {"class_info_file": "a.json", "repo_path": "a/b"}, "'class_info_file'"),
        *(
            (name, {key: value}, f"'{value}'")
            for name, key, value in (
                ("processor_config.json", "processor_class", "RagRetriever"),
                ("config.json", "processor_class", "AutoModel"),
                ("processor_config.json", "processor_class", "MgpstrProcessor"),
                ("tokenizer_config.json", "tokenizer_class", "RagTokenizer"),
                ("preprocessor_config.json", "image_processor_type", "RagModel"),
                ("preprocessor_config.json", "feature_extractor_type", "BertModel"),
                ("tokenizer_config.json", "fast_tokenizer_files", "below/tokenizer.4.0.0.json"),
            )
        ),
        # It is compiled, and the compiled code of other users may be run.
        ("config.json", {"_attn_implementation": "flex_attention"}, "'flex_attention'"),
    ],
)
def test_settings_that_lead_outside_are_refused_for_encoders_and_for_language_models(
    tmp_path, monkeypatch, name, settings, fact
) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    monkeypatch.chdir(tmp_path)
    text = json.dumps({"model_type": "bert", **settings}).replace("OUTSIDE", str(tmp_path / "outside.txt"))
    folder = write_model_folder({"modules": OWN, "files": {name: text}}, tmp_path / "model")
    for read in (
        bb.embeddings.load_encoder,
        bb.nli.pipeline,
        lambda path: bb.embeddings.contextual_embedding(path, ["cat"]),
    ):
        with pytest.raises(InputFileError, match=rf"{name.replace('.', r'\.')}.*{fact.replace('.', r'\.')}"):
            read(folder)


def test_settings_of_real_folders_are_accepted(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bert").mkdir()
    settings = {
        "config.json": {
            "_name_or_path": str(tmp_path / "bert"),
            "attn_implementation": "sdpa",
            "_attn_implementation_autoset": True,
            "experts_implementation": None,
            "quantization_config": None,
            "id2label": {"0": "config.json"},
        },
        "tokenizer_config.json": {
            "name_or_path": "bert",
            "tokenizer_class": "PreTrainedTokenizerFast",
            "processor_class": "CLIPProcessor",
            "fast_tokenizer_files": ["tokenizer.json", "tokenizer.4.0.0.json"],
            "special_tokens_map_file": __file__,
            "vocab_file": "vocab.txt",
            "tokenizer_file": "/home/reader/.cache/huggingface/no/such/tokenizer.json",
            "added_tokens_decoder": {"0": {"content": "[PAD]"}, "1": {"content": "a\0b"}, "2": {"content": "x" * 9999}},
        },
    }
    files = {"vocab.txt": "", **{name: json.dumps(content) for name, content in settings.items()}}
    check_model_folder(write_model_folder({"modules": OWN, "files": files}, tmp_path / "model"))


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "model.safetensors.index.json"])
@pytest.mark.parametrize("content", ["", "{", "[" * 100_000])
def test_settings_that_are_not_json_are_refused(tmp_path, name, content) -> None:
    folder = write_model_folder({"modules": OWN, "files": {name: content}}, tmp_path / "model")
    with pytest.raises(InputFileError, match=name.replace(".", r"\.")):
        check_model_folder(folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((name, b"[" + b"[]," * 100_000 + b"[]]") for name in ("config.json", "tokenizer.json", "modules.json")),
        ("vocab.txt", b"a\n" * 100_000),
        ("model.safetensors", bytes(10_000_000)),
        ("README.md", bytes(10_000_000)),
    ],
)
def test_the_memory_for_files_is_checked_before_any_library_reads_them(tmp_path, monkeypatch, name, content) -> None:
    folder = write_model_folder({"modules": OWN}, tmp_path / "model")
    (folder / name).write_bytes(content)
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 5_000_000)
    with pytest.raises(NotEnoughMemoryError):
        bb.embeddings.load_encoder(folder)
    with pytest.raises(NotEnoughMemoryError):
        check_model_folder(folder)


def test_weights_that_may_be_pickles_are_not_parts_of_an_index(tmp_path) -> None:
    index = json.dumps({"weight_map": {"a": "m-1.safetensors", "b": "pytorch_model.bin"}})
    folder = write_model_folder({"modules": OWN, "files": {"model.safetensors.index.json": index}}, tmp_path / "model")
    with pytest.raises(InputFileError, match=r"'pytorch_model\.bin', which may be a pickle"):
        check_model_folder(folder)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("block_repeats", [1, 1 << 20]),  # of Funnel: weights that it goes through again and again
        ("pretraining_tp", 1 << 20),  # of BLOOM
        ("H_cycles", 1 << 20),
        ("hc_sinkhorn_iters", 1 << 20),
        ("num_hashes", 1 << 14),  # of Reformer
        ("chunk_size", 1 << 14),  # of Mamba 2, which makes squares of it
    ],
)
def test_what_needs_no_weights_is_not_done_again_and_again(tmp_path, setting, value) -> None:
    files = {"config.json": json.dumps({"model_type": "bert", setting: value})}
    folder = write_model_folder({"modules": OWN, "files": files}, tmp_path / "model")
    (folder / "model.safetensors").write_bytes(tensors(a=(2, 2)))
    with pytest.raises(InputFileError, match=f"the setting {setting} "):
        check_model_folder(folder)


@pytest.mark.parametrize("setting", ["num_labels", "attention_window"])
def test_settings_that_count_names_or_padding_are_small(tmp_path, setting) -> None:
    files = {"config.json": json.dumps({"model_type": "bert", setting: 10**7})}
    folder = write_model_folder({"modules": OWN, "files": files}, tmp_path / "model")
    (folder / "model.safetensors").write_bytes(tensors(a=(2, 2)))
    with pytest.raises(InputFileError, match=f"the setting {setting} 10,000,000"):
        check_model_folder(folder)


def test_squares_of_positions_are_checked_before_the_library_makes_them(tmp_path) -> None:
    for kind, positions in (("gpt_neo", 2048), ("bert", 10**7), ("gpt_neo", 10**7)):
        files = {"config.json": json.dumps({"model_type": kind, "max_position_embeddings": positions})}
        folder = write_model_folder({"modules": OWN, "files": files}, tmp_path / f"{kind}{positions}")
        (folder / "model.safetensors").write_bytes(tensors(a=(2, 2)))
        if kind == "gpt_neo" and positions > 2048:
            with pytest.raises(NotEnoughMemoryError, match="max_position_embeddings 10,000,000"):
                check_model_folder(folder)
        else:
            check_model_folder(folder)


def test_sizes_are_compared_whatever_the_header_of_the_weights_repeats(tmp_path) -> None:
    """The library takes a header that names a key twice, and would make all layers of the settings."""
    folder = write_model_folder({"modules": OWN, "files": {}}, tmp_path / "model")
    header = b'{"__metadata__":{"format":"pt","format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    (folder / "config.json").write_text('{"num_hidden_layers": 20000}')
    with pytest.raises(InputFileError, match=r"model\.safetensors"):
        check_model_folder(folder)


def test_the_regular_expression_of_a_tokenizer_is_not_tried(tmp_path) -> None:
    slow = {"type": "Replace", "pattern": {"Regex": "(?:(?:(?:(?:c?){300}){300}){300}){300}z"}, "content": "a"}
    files = {"tokenizer.json": json.dumps({"normalizer": slow})}
    check_model_folder(write_model_folder({"modules": OWN, "files": files}, tmp_path / "model"))


def test_tokenizers_of_real_folders_are_accepted(tmp_path) -> None:
    charsmap = b64encode((4).to_bytes(4, "little") + b"trie" + "\u0635\u0644\u0649\0a\0".encode() * 9).decode()
    pieces = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    tokenizer = {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": charsmap},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
                {"type": "Prepend", "prepend": "_"},
            ],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "Split", "pattern": {"Regex": r"\\p{N}"}}, {"type": "ByteLevel"}],
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": pieces,
            "pair": pieces * 2,
            "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}},
        },
    }
    files = {"tokenizer.json": json.dumps(tokenizer)}
    check_model_folder(write_model_folder({"modules": OWN, "files": files}, tmp_path / "model"))


def test_a_snapshot_of_the_hub_and_parts_inside_are_read(tmp_path) -> None:
    model = tmp_path / "models--one--two"
    (model / "snapshots").mkdir(parents=True)
    (model / "blobs").mkdir()
    (model / "blobs" / "0123").write_text("{}")
    index = json.dumps({"weight_map": {"a": "model-00001-of-00001.safetensors"}})
    described = {"modules": OWN, "links": {"config.json": "../../blobs/0123"}, "files": {"m.index.json": index}}
    check_model_folder(write_model_folder(described, model / "snapshots" / "abc"))


def test_settings_without_end_are_refused(tmp_path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"id2label": [0] * 1_000_000}))
    with pytest.raises(InputFileError, match="more than 1,000,000 settings"):
        check_model_folder(tmp_path)


def _write(path: Path) -> None:
    path.write_bytes(path.read_bytes())


def _replace(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)


def _swap(path: Path) -> None:
    """Let another file have the name for a moment."""
    spare = path.with_name("spare")
    path.rename(spare)
    path.touch()
    spare.replace(path)


def _swap_folder(path: Path) -> None:
    spare = path.parent.with_name("spare")
    path.parent.rename(spare)
    path.parent.mkdir()
    path.parent.rmdir()
    spare.rename(path.parent)


def _come_and_go(path: Path) -> None:
    other = path.with_name("adapter_config.json")
    other.touch()
    other.unlink()


@pytest.mark.skipif(os.name == "nt", reason="times there are coarse, and folders in use cannot be renamed")
@pytest.mark.parametrize("change", [_write, _replace, _swap, _swap_folder, _come_and_go, Path.unlink])
@pytest.mark.parametrize("name", ["model.safetensors", "0/config.json"])
def test_a_folder_that_changes_while_a_library_reads_it_is_refused(
    tmp_path: Path, name: str, change: Callable[[Path], None]
) -> None:
    folder = tmp_path / "model"
    (folder / "0").mkdir(parents=True)
    for place in ("model.safetensors", "0/config.json"):
        (folder / place).write_text("{}")
    files = file_states(folder)
    with unchanged(folder, files):
        (folder / name).read_bytes()
    sleep(_TICK)
    with pytest.raises(InputFileError, match="changed while the model was read"), unchanged(folder, files):
        change(folder / name)


def test_files_that_changed_before_a_library_reads_them_are_refused_and_others_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    files = file_states(tmp_path)
    (tmp_path / "vectors.npz").touch()
    with unchanged(tmp_path, files):
        pass
    (tmp_path / "adapter_config.json").touch()
    with pytest.raises(InputFileError, match="changed while the model was read"), unchanged(tmp_path, files):
        pass


def test_a_file_to_which_a_snapshot_has_a_link_is_compared(tmp_path: Path) -> None:
    folder, blobs = tmp_path / "snapshots" / "1", tmp_path / "blobs"
    for place in (folder, blobs):
        place.mkdir(parents=True)
    for name in ("a", "b"):
        (blobs / name).write_text("{}")
    (folder / "config.json").symlink_to(blobs / "a")
    files = file_states(folder)
    sleep(_TICK)
    with pytest.raises(InputFileError, match="changed while the model was read"), unchanged(folder, files):
        (blobs / "a").write_text("[]")
