"""Recurrent networks as symbols: cells for Module and BucketingModule, iterators over sentences,
checkpoints."""
from .rnn_cell import *
from .conv_cell import *
from .rnn import *
from .io import *
from . import io, rnn, rnn_cell
