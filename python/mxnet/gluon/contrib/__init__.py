"""Layers and samplers that may still change."""
from . import data, nn, rnn
