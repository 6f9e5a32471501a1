"""More recurrent cells."""
from .conv_rnn_cell import *
from .rnn_cell import *
from . import conv_rnn_cell, rnn_cell
