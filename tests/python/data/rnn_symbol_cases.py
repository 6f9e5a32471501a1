"""Symbolic recurrent cells for which make_rnn_reference.py records what mxnet 1.9.1 computes. Runs
under both libraries."""
import numpy as np


def _sequence(mx):
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.ZoneoutCell(mx.rnn.LSTMCell(4, prefix='a_'), 0.2, 0.1))
    stack.add(mx.rnn.DropoutCell(0.3, prefix='d_'))
    stack.add(mx.rnn.ResidualCell(mx.rnn.GRUCell(4, prefix='b_')))
    stack.add(mx.rnn.RNNCell(3, activation='relu', prefix='c_'))
    return stack


IMAGES = (2, 3, 2, 5, 4)    # batch, steps, image
CASES = {
    'rnn': (lambda mx: mx.rnn.RNNCell(4), (2, 3, 5)),
    'lstm': (lambda mx: mx.rnn.LSTMCell(4, forget_bias=0.5), (2, 3, 5)),
    'gru': (lambda mx: mx.rnn.GRUCell(4), (2, 3, 5)),
    'sequence': (_sequence, (2, 3, 5)),
    'bi': (lambda mx: mx.rnn.BidirectionalCell(mx.rnn.LSTMCell(3, prefix='l_'), mx.rnn.GRUCell(2, prefix='r_')), (2, 3, 5)),
    'fused_lstm': (lambda mx: mx.rnn.FusedRNNCell(4, 2, 'lstm', bidirectional=True, prefix='f_', get_next_state=True), (2, 3, 5)),
    'fused_gru': (lambda mx: mx.rnn.FusedRNNCell(4, 2, 'gru', prefix='f_'), (2, 3, 5)),
    'conv_rnn': (lambda mx: mx.rnn.ConvRNNCell((1, 2, 5, 4), 3), IMAGES),
    'conv_lstm': (lambda mx: mx.rnn.ConvLSTMCell((1, 2, 5, 4), 3, activation='tanh'), IMAGES),
    'conv_gru': (lambda mx: mx.rnn.ConvGRUCell((1, 2, 5, 4), 3, i2h_kernel=(2, 2), i2h_pad=(0, 0), i2h_stride=(2, 1)), IMAGES),
}


def graph(mx, name, merge=True):
    make, shape = CASES[name]
    cell = make(mx)
    outputs, states = cell.unroll(shape[1], mx.sym.var('x'), merge_outputs=merge, layout='NTC')
    flat = [s for group in states for s in (group if isinstance(group, list) else [group])]
    return cell, mx.sym.Group((outputs if isinstance(outputs, list) else [outputs]) + flat)


def values(mx, name, symbol):
    """Arguments for the graph of a case."""
    shape = CASES[name][1]
    shapes = dict(zip(symbol.list_arguments(), symbol.infer_shape(x=shape)[0]))
    rng = np.random.RandomState(7)
    return {key: mx.nd.array(rng.uniform(-0.7, 0.7, shapes[key]).astype('float32')) for key in sorted(shapes)}


def run(mx, name):
    """(cell, outputs and states, {parameter by gate: shape})."""
    cell, symbol = graph(mx, name)
    args = values(mx, name, symbol)
    outputs = symbol.bind(mx.cpu(), args, grad_req='null').forward()
    by_gate = cell.unpack_weights({k: v for k, v in args.items() if k != 'x'})
    return cell, outputs, by_gate
