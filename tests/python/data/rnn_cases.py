"""Recurrent layers and cells for which make_rnn_reference.py records what mxnet 1.9.1 computes.
Runs under both libraries.

A case is (name, function of mx that makes the block, shape of the input, how it is run, attributes
of the run).
"""
import numpy as np


def _stack(mx):
    cell = mx.gluon.rnn.HybridSequentialRNNCell(prefix='stack_')
    with cell.name_scope():
        cell.add(mx.gluon.rnn.LSTMCell(4))
        cell.add(mx.gluon.rnn.DropoutCell(0.5))
        cell.add(mx.gluon.rnn.BidirectionalCell(mx.gluon.rnn.GRUCell(3, prefix='l_'), mx.gluon.rnn.RNNCell(3, prefix='r_')))
        cell.add(mx.gluon.rnn.ResidualCell(mx.gluon.rnn.GRUCell(6)))
    return cell


def _net(mx):
    net = mx.gluon.nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(4, flatten=False),
                mx.gluon.rnn.LSTM(5, 2, layout='NTC', bidirectional=True, dropout=0.5),
                mx.gluon.nn.Dense(3))
    return net


TNC = (4, 3, 5)
LENGTHS = np.array([2, 4, 1], 'float32')
CASES = [
    ('lstm', lambda mx: mx.gluon.rnn.LSTM(6, prefix='l_'), TNC, 'layer', {}),
    ('lstm2bi', lambda mx: mx.gluon.rnn.LSTM(6, 2, bidirectional=True, dropout=0.3, prefix='l_'), TNC, 'layer', {}),
    ('lstmp', lambda mx: mx.gluon.rnn.LSTM(6, 2, projection_size=3, layout='NTC', prefix='l_'), TNC, 'layer', {'forward_only': True}),
    ('gru', lambda mx: mx.gluon.rnn.GRU(6, 2, layout='NTC', prefix='l_'), TNC, 'layer', {}),
    ('grubi', lambda mx: mx.gluon.rnn.GRU(6, bidirectional=True, input_size=5, prefix='l_'), TNC, 'layer', {}),
    ('relu', lambda mx: mx.gluon.rnn.RNN(6, 2, prefix='l_'), TNC, 'layer', {}),
    ('tanhbi', lambda mx: mx.gluon.rnn.RNN(6, 2, 'tanh', bidirectional=True, prefix='l_'), TNC, 'layer', {}),
    ('net', _net, TNC, 'block', {}),
]
_cells = {
    'rnn': lambda mx: mx.gluon.rnn.RNNCell(6, prefix='c_'),
    'relu': lambda mx: mx.gluon.rnn.RNNCell(6, activation='relu', prefix='c_'),
    'lstm': lambda mx: mx.gluon.rnn.LSTMCell(6, prefix='c_'),
    'lstmsign': lambda mx: mx.gluon.rnn.LSTMCell(6, activation='softsign', recurrent_activation='tanh', prefix='c_'),
    'gru': lambda mx: mx.gluon.rnn.GRUCell(6, prefix='c_'),
    'lstmp': lambda mx: mx.gluon.contrib.rnn.LSTMPCell(6, 3, prefix='c_'),
    'bi': lambda mx: mx.gluon.rnn.BidirectionalCell(mx.gluon.rnn.LSTMCell(3, prefix='l_'), mx.gluon.rnn.GRUCell(2, prefix='r_')),
    'residual': lambda mx: mx.gluon.rnn.ResidualCell(mx.gluon.rnn.GRUCell(5, prefix='c_')),
    'zoneout': lambda mx: mx.gluon.rnn.ZoneoutCell(mx.gluon.rnn.LSTMCell(6, prefix='c_'), 0.3, 0.2),
    'vardrop': lambda mx: mx.gluon.contrib.rnn.VariationalDropoutCell(mx.gluon.rnn.LSTMCell(6, prefix='c_'), 0.3, 0.2, 0.1),
    'vardropio': lambda mx: mx.gluon.contrib.rnn.VariationalDropoutCell(mx.gluon.rnn.LSTMCell(6, prefix='c_'), 0.3, 0, 0.1),
    'stack': _stack,
}
for _name, _make in _cells.items():
    CASES.append(('cell_' + _name, _make, (3, 4, 5), 'unroll', {'layout': 'NTC', 'merge_outputs': _name != 'gru'}))
    CASES.append(('cell_' + _name + '_lengths', _make, TNC, 'unroll', {'layout': 'TNC', 'lengths': True}))
for _kind in ('RNN', 'LSTM', 'GRU'):
    for _n, _space in ((1, (5,)), (2, (5, 4)), (3, (3, 4, 3))):
        CASES.append((f'conv_{_kind}{_n}', lambda mx, k=_kind, n=_n, s=_space: getattr(mx.gluon.contrib.rnn, f'Conv{n}D{k}Cell')(
            (2,) + s, 3, i2h_kernel=2, h2h_kernel=3, i2h_pad=1, h2h_dilate=2 if n == 1 else 1, prefix='c_'), (2, 2, 2) + _space, 'unroll',
                      {'layout': {1: 'NTCW', 2: 'NTCHW', 3: 'NTCDHW'}[_n], 'merge_outputs': True}))


def fill(block, seed=3):
    """Give the parameters values that only depend on their order and shapes."""
    rng = np.random.RandomState(seed)
    for param in block.collect_params().values():
        param.set_data(rng.uniform(-0.6, 0.6, param.shape).astype('float32'))


def run(mx, number):
    """(block, {what: NDArray}) of one case, in inference mode: outputs, states, and gradients of
    sum(sin(output)) + sum(states) (1.9.1 has none for projections: `forward_only`)."""
    name, make, shape, how, attrs = CASES[number]
    rng = np.random.RandomState(number)
    x = mx.nd.array(rng.uniform(-1, 1, shape).astype('float32'))
    block = make(mx)
    block.initialize()
    attrs = dict(attrs)
    record = not attrs.pop('forward_only', False)
    if attrs.pop('lengths', False):
        attrs['valid_length'] = mx.nd.array(LENGTHS)

    def forward(x, states):
        if how == 'layer':
            return block(x, states)
        if how == 'block':
            return block(x), []
        return block.unroll(shape[attrs['layout'].find('T')], x, begin_state=states, **attrs)

    states = []
    if how != 'block':
        batch = shape[(attrs.get('layout') or block._layout).find('N')]
        states = block.begin_state(batch_size=batch, func=mx.nd.zeros)
        for state in states:
            state[:] = mx.nd.array(rng.uniform(-1, 1, state.shape).astype('float32'))
    forward(x, states)    # completes the shapes
    fill(block)
    for array in [x] + states:
        array.attach_grad()
    with mx.autograd.record(train_mode=False) if record else mx.autograd.pause():
        outputs, last = forward(x, states)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        loss = sum([mx.nd.sin(o).sum() for o in outputs] + [s.sum() for s in last])
    if record:
        loss.backward()
    found = {f'out{i}': o for i, o in enumerate(outputs)}
    found.update({f'last{i}': s for i, s in enumerate(last)})
    if record:
        found.update({f'dx{i}': a.grad for i, a in enumerate([x] + states)})
        for key, param in block.collect_params().items():
            found['d_' + key] = param.grad()
    return block, found
