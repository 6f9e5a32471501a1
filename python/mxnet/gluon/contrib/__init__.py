"""Layers and samplers that may still change."""
from . import cnn, data, estimator, nn, rnn
