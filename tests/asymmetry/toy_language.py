"""A language of two-word sentences whose conditional probabilities are known, and a small BERT that learns it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

WORDS = [f"{first}{last}" for first in "bdfgklmn" for last in ("ado", "ile")]
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOPICS = ["north", "south", "east", "west"]
OTHERS = ["the", "saw", "and", ":", ".", "split", "##ter"]


@dataclass(frozen=True)
class Language:
    """Sentences such as "North: bado saw gile." with P(topic, X, Y) = `joint`; X and Y are never the same word."""

    joint: np.ndarray

    @staticmethod
    def made(seed: int) -> "Language":
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, len(WORDS), 3))
        frequent = rng.normal(size=(2, 1, len(WORDS))) + rng.normal(scale=0.7, size=(2, len(TOPICS), len(WORDS)))
        joint = np.exp(0.7 * x @ y.T + frequent[0][:, :, None] + frequent[1][:, None, :])
        joint[:, range(len(WORDS)), range(len(WORDS))] = 0
        return Language(joint / joint.sum())

    def drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return places of topics, X and Y: shape (sentences, 3)."""
        chosen = rng.choice(self.joint.size, size=count, p=self.joint.ravel())
        return np.stack(np.unravel_index(chosen, self.joint.shape), axis=1)

    def sentences(self, count: int, rng: np.random.Generator) -> list[str]:
        return [f"{TOPICS[topic].title()}: {WORDS[x]} saw {WORDS[y]}." for topic, x, y in self.drawn(count, rng)]

    def log_conditional(self, cue: int, response: int) -> float:
        """Return log P(response given cue) as the source defines it, of an endless corpus and a model without error.

        Sentences with the cue as X and the response as Y, in which the model gives Y its probability given topic and X,
        and those the other way round, among all sentences that hold the cue.
        """
        given_x = self.joint / self.joint.sum(axis=2, keepdims=True)
        given_y = self.joint / self.joint.sum(axis=1, keepdims=True)
        both = (self.joint * given_x)[:, cue, response].sum() + (self.joint * given_y)[:, response, cue].sum()
        return float(np.log(both / (self.joint[:, cue].sum() + self.joint[:, :, cue].sum())))


def tiny_bert(folder: Path, **settings: Any) -> tuple[Any, Any]:
    """Save the tokenizer of the language in a folder, and return it with an untrained model."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    vocabulary = [*MARKS, *OTHERS, *TOPICS, *WORDS]
    pieces = Tokenizer(models.WordPiece({word: place for place, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer(lowercase=True)
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", vocabulary.index("[CLS]")), ("[SEP]", vocabulary.index("[SEP]"))]
    pieces.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces, **dict(zip(names, MARKS, strict=True)))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    shape = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 96}
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, **{**shape, **dropout, **settings})
    return BertForMaskedLM(config), tokenizer


def trained_bert(folder: Path, language: Language, *, steps: int, rate: float = 4e-3, seed: int = 3) -> Path:
    """Train a small BERT on endless sentences of a language, each with one of its two words masked, and save it."""
    import torch

    model, tokenizer = tiny_bert(folder)
    rng = np.random.default_rng(seed)
    numbers = torch.tensor(tokenizer.convert_tokens_to_ids([*TOPICS, *WORDS]))
    frame = torch.tensor(tokenizer("North: bado saw bado.")["input_ids"])
    first, after = len(TOPICS), [place for place, number in enumerate(frame) if number in numbers]
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=rate, total_steps=steps)
    for _ in range(steps):
        words = numbers[torch.tensor(language.drawn(256, rng) + np.array([0, first, first]))]
        rows = frame.repeat(len(words), 1)
        rows[:, after] = words
        side = torch.tensor(rng.integers(1, 3, size=len(words)))
        each, at = torch.arange(len(words)), torch.tensor(after)[side]
        rows[each, at] = tokenizer.mask_token_id
        logits = model(input_ids=rows).logits[each, at]
        loss = torch.nn.functional.cross_entropy(logits, words[each, side])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    model.save_pretrained(folder)
    return folder
