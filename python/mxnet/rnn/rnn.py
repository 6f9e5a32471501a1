"""Checkpoints of networks with cells: files hold one array per gate, whether the cells are fused or
not."""
import warnings

from .. import symbol
from .._model import load_checkpoint, save_checkpoint
from .rnn_cell import BaseRNNCell

__all__ = ['rnn_unroll', 'save_rnn_checkpoint', 'load_rnn_checkpoint', 'do_rnn_checkpoint']


def rnn_unroll(cell, length, inputs=None, begin_state=None, input_prefix='', layout='NTC'):
    """Deprecated: `cell.unroll`. Without inputs, variables `{input_prefix}t0_data`,
    `{input_prefix}t1_data`, ... are made."""
    warnings.warn('[rnn.rnn_unroll] deprecated; use cell.unroll', DeprecationWarning, stacklevel=2)
    if inputs is None:
        inputs = [symbol.var(f'{input_prefix}t{i}_data') for i in range(length)]
    return cell.unroll(length, inputs, begin_state=begin_state, layout=layout)


def _cells(cells):
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def save_rnn_checkpoint(cells, prefix, epoch, symbol, arg_params, aux_params):
    """`mx.model.save_checkpoint`, with the weights of `cells` (one or a list) by gate."""
    for cell in _cells(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells, prefix, epoch):
    """(symbol, arg_params, aux_params) of a file of `save_rnn_checkpoint`, with the weights as
    `cells` take them."""
    sym, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _cells(cells):
        arg_params = cell.pack_weights(arg_params)
    return sym, arg_params, aux_params


def do_rnn_checkpoint(cells, prefix, period=1):
    """A callback for `Module.fit` that saves every `period` epochs with `save_rnn_checkpoint`."""
    period = int(max(1, period))

    def callback(epoch, sym=None, arg_params=None, aux_params=None):
        if (epoch + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, epoch + 1, sym, arg_params, aux_params)
    return callback
