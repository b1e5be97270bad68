"""Batches give what a model gives one row at a time, whatever its kind."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bayesbias.embeddings.contextual.forward import masked_log_probabilities, mean_piece_vectors
from bayesbias.embeddings.contextual.language_model import LanguageModel

MASK, PADDING = 4, 1
ROWS = [[5, 6, 7, 8], [5, 9, 10, 11, 12, 6], [5, 7], [5, 13, 14, 6, 9, 9, 9, 8]]
PLACES = [1, 4, 1, 7]


def made_model(kind: str) -> LanguageModel:
    import torch
    import transformers

    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20}
    if kind == "DistilBert":
        small = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 20}
    if kind in ("Albert", "Electra"):
        small |= {"embedding_size": 12}
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=15, max_position_embeddings=20, pad_token_id=PADDING, bos_token_id=0, eos_token_id=2, **small
    )
    torch.manual_seed(2)
    model = getattr(transformers, f"{kind}ForMaskedLM")(config).eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(0.3 * torch.randn_like(weights))
    tokenizer = SimpleNamespace(mask_token_id=MASK, pad_token_id=PADDING)
    return LanguageModel(kind, model, tokenizer, "cpu", 20, "")


@pytest.mark.extras
@pytest.mark.parametrize("kind", ["Bert", "Roberta", "Albert", "DistilBert", "Electra"])
def test_masked_words_and_vectors_are_those_of_single_rows(kind: str) -> None:
    import torch

    made = made_model(kind)
    spans = [range(place, place + 1) for place in PLACES]
    spans[3] = range(2, 5)
    log_probabilities = masked_log_probabilities(made, ROWS, PLACES, batch=3, progress=False)
    vectors = mean_piece_vectors(made, ROWS, spans, layer=-1, batch=3)
    inner: list[Any] = []
    for row, place, span in zip(ROWS, PLACES, spans, strict=True):
        with torch.no_grad():
            masked = torch.tensor([[*row[:place], MASK, *row[place + 1 :]]])
            scores = torch.log_softmax(made.model(input_ids=masked).logits[0, place], dim=-1)
            hidden = made.model(input_ids=torch.tensor([row]), output_hidden_states=True).hidden_states
        assert log_probabilities[len(inner)] == pytest.approx(scores[row[place]].item(), abs=1e-5)
        inner.append(hidden[-1][0, span.start : span.stop].mean(dim=0).numpy())
    np.testing.assert_allclose(vectors, inner, atol=1e-5)
    assert not made.model.get_output_embeddings()._forward_pre_hooks
