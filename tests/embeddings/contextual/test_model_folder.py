"""Folders of models: links and names that lead outside are refused, those of a snapshot of the Hub are not."""

import json

import pytest

import bayesbias as bb
from bayesbias.embeddings.contextual.model_folder import check_model_folder
from bayesbias.errors import InputFileError
from tests.fuzz.answers import write_model_folder

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
    with pytest.raises(InputFileError, match=r"outside of the folder|no index of weights"):
        check_model_folder(folder)
    with pytest.raises(InputFileError):
        bb.embeddings.load_encoder(folder)
    if (folder / "config.json").is_file():
        with pytest.raises(InputFileError, match=r"outside of the folder|no index of weights"):
            bb.nli.pipeline(folder)


def test_a_snapshot_of_the_hub_and_parts_inside_are_read(tmp_path) -> None:
    model = tmp_path / "models--one--two"
    (model / "snapshots").mkdir(parents=True)
    (model / "blobs").mkdir()
    (model / "blobs" / "0123").write_text("{}")
    index = json.dumps({"weight_map": {"a": "model-00001-of-00001.safetensors"}})
    described = {"modules": OWN, "links": {"config.json": "../../blobs/0123"}, "files": {"m.index.json": index}}
    check_model_folder(write_model_folder(described, model / "snapshots" / "abc"))
