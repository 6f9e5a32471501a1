"""Vocabularies and word embeddings."""
from . import embedding, utils, vocab
