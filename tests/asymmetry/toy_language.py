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


def trained_bert(folder: Path, language: Language, *, steps: int, rate: float = 4e-3) -> Path:
    """Train a small BERT to predict a masked word, on all sentences at once by their probability, and save it.

    That is the usual loss with an endless corpus in each step: each topic with each X, and with each Y, is a row, whose
    masked word has the probabilities of the language.
    """
    import torch

    model, tokenizer = tiny_bert(folder)
    numbers = tokenizer.convert_tokens_to_ids([*TOPICS, *WORDS])
    topics, words = torch.tensor(numbers[: len(TOPICS)]), torch.tensor(numbers[len(TOPICS) :])
    frame = torch.tensor(tokenizer("North: bado saw bado.")["input_ids"])
    places = [place for place, number in enumerate(frame.tolist()) if number in numbers]
    joint = torch.tensor(language.joint, dtype=torch.float32)
    rows, targets = [], []
    for shown, masked, by_shown in ((1, 2, joint), (2, 1, joint.transpose(1, 2))):
        block = frame.repeat(len(TOPICS), len(WORDS), 1)
        block[:, :, places[0]] = topics[:, None]
        block[:, :, places[shown]] = words
        block[:, :, places[masked]] = tokenizer.mask_token_id
        rows.append(block.reshape(-1, len(frame)))
        targets.append(by_shown.reshape(-1, len(WORDS)))
    sentences, probabilities = torch.cat(rows), torch.cat(targets) / 2
    mask_places = (sentences == tokenizer.mask_token_id).int().argmax(dim=1)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=rate, total_steps=steps)
    for _ in range(steps):
        logits = model(input_ids=sentences).logits[torch.arange(len(mask_places)), mask_places]
        loss = -(probabilities * torch.log_softmax(logits, dim=-1)[:, words]).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    model.save_pretrained(folder)
    return folder
