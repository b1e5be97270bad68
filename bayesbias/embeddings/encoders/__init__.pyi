"""Encoders: vectors of texts from any function, such as a sentence encoder, a static distillation or a service."""

from .calls import Encoder as Encoder
from .encoding import encode as encode
from .folders import FolderEncoder as FolderEncoder
from .folders import load_encoder as load_encoder
