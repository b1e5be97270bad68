"""Embeddings: words with their vectors, read from any common format, trained, or taken from language models."""

from .contexts import ContextIndex as ContextIndex
from .contexts import TextsLike as TextsLike
from .contexts import index_contexts as index_contexts
from .contexts import read_contexts as read_contexts
from .contextual import ContextsLike as ContextsLike
from .contextual import ContextualEmbedding as ContextualEmbedding
from .contextual import contextual_embedding as contextual_embedding
from .embedding import Lookup as Lookup
from .encoders import Encoder as Encoder
from .encoders import FolderEncoder as FolderEncoder
from .encoders import load_encoder as load_encoder
from .isotropy import common_part as common_part
from .isotropy import without_common_part as without_common_part
from .names import names_in as names_in
from .periods import load_periods as load_periods
from .templates import TemplatesLike as TemplatesLike
from .templates import load_templates as load_templates
from .templates import templates_by_list as templates_by_list
from .training import ALGORITHMS as ALGORITHMS
from .training import CorpusLike as CorpusLike
from .training import TrainedEmbeddings as TrainedEmbeddings
from .training import VectorVariance as VectorVariance
from .training import glove_variance as glove_variance
from .training import read_embeddings as read_embeddings
from .training import tokenize as tokenize
from .training import train_embeddings as train_embeddings
