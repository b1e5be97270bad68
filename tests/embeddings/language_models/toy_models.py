"""Untrained models with real tokenizers: WordPiece for a masked one, byte-level BPE for a causal one."""

from pathlib import Path
from typing import Any

TEXT = [
    "The nurse said that she was tired.",
    "The engineer said that he was tired.",
    "As a nurse, she worked in the city. As an engineer, he was a hero.",
    "An old woman met the heroine and the man. He left. She stayed until the heron was ready.",
] * 4


def save_masked(folder: Path) -> Path:
    """Save an untrained BERT that splits rare words into several pieces."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer(lowercase=True)
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pieces.train_from_iterator(
        TEXT, trainers.WordPieceTrainer(vocab_size=90, special_tokens=marks, show_progress=False)
    )
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    pieces.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), marks, strict=True))
    from transformers import BertConfig, BertForMaskedLM

    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=pieces.get_vocab_size(), max_position_embeddings=64, initializer_range=0.5, **shape)
    return _save(folder, pieces, names, BertForMaskedLM, config)


def save_causal(folder: Path) -> Path:
    """Save an untrained GPT-2 with capitals, spaces before words, and rare words in several pieces."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel

    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    pieces.train_from_iterator(TEXT, trainer)
    names = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
    config = GPT2Config(
        vocab_size=pieces.get_vocab_size(), n_positions=64, n_embd=32, n_layer=2, n_head=2, initializer_range=0.5,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    return _save(folder, pieces, names, GPT2LMHeadModel, config)


def _save(folder: Path, pieces: Any, names: dict[str, str], kind: Any, config: Any) -> Path:
    import torch
    from transformers import PreTrainedTokenizerFast

    PreTrainedTokenizerFast(tokenizer_object=pieces, model_max_length=64, **names).save_pretrained(folder)
    torch.manual_seed(1)
    kind(config).save_pretrained(folder)
    return folder
