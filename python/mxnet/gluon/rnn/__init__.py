"""Recurrent layers over whole sequences, and cells that are stepped or unrolled."""
from .rnn_cell import *
from .rnn_layer import *
from . import rnn_cell, rnn_layer

# MXNet 2.0 has the cells of gluon.contrib.rnn here.
_OF_CONTRIB = ('LSTMPCell', 'VariationalDropoutCell', *(f'Conv{n}D{kind}Cell' for n in (1, 2, 3) for kind in ('RNN', 'LSTM', 'GRU')))


def __getattr__(name):
    if name in _OF_CONTRIB:
        from ..contrib import rnn as found
        return getattr(found, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
