"""Checkpoints of networks with cells: files hold one array per gate, whether the cells are fused or
not."""
import warnings

from .. import symbol
from .._training.model import load_checkpoint, save_checkpoint
from .rnn_cell import BaseRNNCell

__all__ = ['rnn_unroll', 'save_rnn_checkpoint', 'load_rnn_checkpoint', 'do_rnn_checkpoint']


def rnn_unroll(cell, length, inputs=None, begin_state=None, input_prefix='', layout='NTC'):
    """Deprecated: `cell.unroll`. Without inputs, variables `{input_prefix}t0_data`,
    `{input_prefix}t1_data`, ... are made.

    >>> cell = mx.rnn.RNNCell(16, prefix='a_')
    >>> outputs, states = mx.rnn.rnn_unroll(cell, 3, mx.sym.var('x'))
    >>> len(outputs)
    3
    """
    warnings.warn('rnn_unroll is deprecated. Please call cell.unroll directly.', UserWarning, stacklevel=2)
    if inputs is None:
        inputs = [symbol.var(f'{input_prefix}t{i}_data') for i in range(length)]
    return cell.unroll(length, inputs, begin_state=begin_state, layout=layout)


def _cells(cells):
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def save_rnn_checkpoint(cells, prefix, epoch, symbol, arg_params, aux_params):
    """`mx.model.save_checkpoint`, with the weights of `cells` (one or a list) by gate.

    >>> cell = mx.rnn.RNNCell(2, prefix='a_')
    >>> outputs, states = cell.unroll(1, mx.sym.var('x'), merge_outputs=True)
    >>> args = {'a_i2h_weight': mx.nd.ones((2, 3)), 'a_i2h_bias': mx.nd.zeros(2),
    ...         'a_h2h_weight': mx.nd.ones((2, 2)), 'a_h2h_bias': mx.nd.zeros(2)}
    >>> mx.rnn.save_rnn_checkpoint(cell, 'net', 1, outputs, args, {})
    >>> symbol, arguments, states = mx.rnn.load_rnn_checkpoint(cell, 'net', 1)
    >>> sorted(arguments) == sorted(args)
    True
    """
    for cell in _cells(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells, prefix, epoch):
    """(symbol, arg_params, aux_params) of a file of `save_rnn_checkpoint`, with the weights as
    `cells` take them.

    >>> cell = mx.rnn.RNNCell(2, prefix='a_')
    >>> outputs, states = cell.unroll(1, mx.sym.var('x'), merge_outputs=True)
    >>> args = {'a_i2h_weight': mx.nd.ones((2, 3)), 'a_i2h_bias': mx.nd.zeros(2),
    ...         'a_h2h_weight': mx.nd.ones((2, 2)), 'a_h2h_bias': mx.nd.zeros(2)}
    >>> mx.rnn.save_rnn_checkpoint(cell, 'net', 1, outputs, args, {})
    >>> mx.rnn.load_rnn_checkpoint(cell, 'net', 1)[1]['a_i2h_weight'].shape
    (2, 3)
    """
    sym, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _cells(cells):
        arg_params = cell.pack_weights(arg_params)
    return sym, arg_params, aux_params


def do_rnn_checkpoint(cells, prefix, period=1):
    """A callback for `Module.fit` that saves every `period` epochs with `save_rnn_checkpoint`.

    >>> cell = mx.rnn.RNNCell(2, prefix='a_')
    >>> save = mx.rnn.do_rnn_checkpoint(cell, 'net', period=2)
    >>> outputs, states = cell.unroll(1, mx.sym.var('x'), merge_outputs=True)
    >>> args = {'a_i2h_weight': mx.nd.ones((2, 3)), 'a_i2h_bias': mx.nd.zeros(2),
    ...         'a_h2h_weight': mx.nd.ones((2, 2)), 'a_h2h_bias': mx.nd.zeros(2)}
    >>> save(1, outputs, args, {})
    >>> import os
    >>> os.path.exists('net-0002.params')
    True
    """
    period = int(max(1, period))

    def callback(epoch, sym=None, arg_params=None, aux_params=None):
        if (epoch + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, epoch + 1, sym, arg_params, aux_params)
    return callback
