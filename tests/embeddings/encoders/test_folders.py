"""Encoders of folders: what is recognised, what is refused, and a real encoder beside its own library."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.encoders.folders import folder_kind
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError
from tests.cli.running import in_process
from tests.embeddings.encoders.module_folders import OTHER_FILES, with_other_files
from tests.embeddings.encoders.opened_files import opened_files

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
