"""Recurrent layers over whole sequences, and cells that are stepped or unrolled."""
from .rnn_cell import *
from .rnn_layer import *
from . import rnn_cell, rnn_layer
