"""Recurrent layers and cells: against what mxnet 1.9.1 computes, against each other, compiled,
exported, and their gradients."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import contrib, rnn

pytestmark = pytest.mark.on_gpu

DATA = pathlib.Path(__file__).parents[1] / 'data'
sys.path.insert(0, str(DATA))
import rnn_cases  # noqa: E402

RNG = np.random.RandomState(5)


def uniform(*shape):
    return nd.array(RNG.uniform(-1, 1, shape))


def fill(block, scale=0.4):
    block.initialize(mx.init.Uniform(scale))
    for p in block.collect_params().values():
        p.set_data(nd.array(RNG.uniform(-scale, scale, p.shape)))
    return block


def numpy(x):
    return [numpy(i) for i in x] if isinstance(x, (list, tuple)) else x.asnumpy()


def assert_same(a, b, tolerance=1e-5):
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            assert_same(x, y, tolerance)
    else:
        a, b = (x.asnumpy() if isinstance(x, nd.NDArray) else x for x in (a, b))
        np.testing.assert_allclose(a, b, tolerance, tolerance)


# ---- against 1.9.1 -------------------------------------------------------------------------------
@pytest.fixture(scope='module')
def reference():
    with np.load(DATA / 'rnn.npz') as stored:
        found = dict(stored)
    found['names'] = json.loads(found['names'].tobytes())
    return found


@pytest.mark.parametrize('number', range(len(rnn_cases.CASES)), ids=[c[0] for c in rnn_cases.CASES])
def test_as_in_1_9_1(reference, number):
    block, found = rnn_cases.run(mx, number)
    names = reference['names'][rnn_cases.CASES[number][0]]
    assert {key: list(array.shape) for key, array in found.items()} == names['arrays']
    at = 0
    for key, shape in names['arrays'].items():
        size = int(np.prod(shape))
        np.testing.assert_allclose(found[key].asnumpy(), reference[str(number)][at:at + size].reshape(shape), 2e-4, 2e-5, err_msg=key)
        at += size
    assert list(block.collect_params()) == names['collected']
    assert list(block._collect_params_with_prefix()) == names['paths']
    assert repr(block).split() == names['repr'].split()


def test_files_of_1_9_1():
    layer = rnn.LSTM(6, 2, bidirectional=True)
    layer.load_parameters(str(DATA / 'rnn_layer.params'))
    x = uniform(4, 3, 5)
    first = layer(x)
    again = rnn.LSTM(6, 2, bidirectional=True)
    again.load_dict({key: p.data() for key, p in layer._reg_params.items()})    # names like l0_i2h_weight
    assert_same(again(x), first, 0)

    net = rnn_cases._net(mx)
    net.load_parameters(str(DATA / 'rnn_net-0000.params'))
    imported = gluon.SymbolBlock.imports(str(DATA / 'rnn_net-symbol.json'), ['data'], str(DATA / 'rnn_net-0000.params'))
    x = uniform(4, 3, 5)
    assert_same(imported(x), net(x))


# ---- compiled ------------------------------------------------------------------------------------
LAYERS = {
    'lstm': lambda **kw: rnn.LSTM(7, **kw),
    'lstm2bi': lambda **kw: rnn.LSTM(7, 2, bidirectional=True, **kw),
    'lstmp': lambda **kw: rnn.LSTM(7, 2, projection_size=3, **kw),
    'clipped': lambda **kw: rnn.LSTM(7, state_clip_min=-0.1, state_clip_max=0.1, **kw),
    'gru2': lambda **kw: rnn.GRU(7, 2, **kw),
    'relu': lambda **kw: rnn.RNN(7, **kw),
    'tanhbi': lambda **kw: rnn.RNN(7, 1, 'tanh', bidirectional=True, **kw),
}


@pytest.mark.parametrize('layout', ['TNC', 'NTC'])
@pytest.mark.parametrize('lengths', [False, True])
@pytest.mark.parametrize('kind', LAYERS)
def test_layer(tmp_path, kind, layout, lengths):
    """Eager, compiled, exported, and (where there are such cells) unrolled: the same output, states
    and gradients."""
    layer = fill(LAYERS[kind](layout=layout, input_size=5, use_sequence_length=lengths))
    x = uniform(*((4, 3, 5) if layout == 'TNC' else (3, 4, 5)))
    states = [uniform(*info['shape']) for info in layer.state_info(3)]
    more = [nd.array([3, 4, 1])] if lengths else []

    def run(f):
        for a in [x] + states:
            a.attach_grad()
        with autograd.record():
            out, last = f()
            loss = (out * out).sum() + sum(s.sum() for s in last)
        loss.backward()
        params = [p.grad().copy() for p in layer.collect_params().values()]
        return [out, *last] + [a.grad.copy() for a in [x] + states] + params

    eager = run(lambda: layer(x, states, *more))
    if kind != 'clipped':
        cells = layer._unfuse()

        def unrolled():
            flat = [s[i:i + 1].reshape((3, -1)) for i in range(len(states[0])) for s in states]
            out, last = cells.unroll(4, x, flat, layout, True, *more)
            per = len(states)
            return out, [nd.stack(*last[k::per]) for k in range(per)]
        assert_same(run(unrolled), eager, 1e-4)
    layer.hybridize()
    assert_same(run(lambda: layer(x, states, *more)), eager, 1e-4)
    if not lengths:
        assert_same(layer(x), layer(x, layer.begin_state(3))[0], 0)
    layer.hybridize(static_alloc=True, static_shape=True)
    assert_same(run(lambda: layer(x, states, *more)), eager, 1e-4)
    layer.export(str(tmp_path / 'layer'))
    names = [f'data{i}' for i in range(1 + len(states) + len(more))]
    imported = gluon.SymbolBlock.imports(str(tmp_path / 'layer-symbol.json'), names, str(tmp_path / 'layer-0000.params'))
    assert_same(imported(x, *states, *more), eager[:1 + len(states)], 1e-4)
    layer.save_parameters(str(tmp_path / 'layer.params'))
    other = LAYERS[kind](layout=layout, use_sequence_length=lengths)
    other.load_parameters(str(tmp_path / 'layer.params'))
    assert_same(other(x, states, *more)[0], eager[0], 0)


@pytest.mark.parametrize('kind', LAYERS)
def test_layer_gradient(kind):
    """Against finite differences of the eager layer, float64."""
    layer = fill(LAYERS[kind](input_size=2, dtype='float64'), 0.7)
    x = nd.array(RNG.uniform(-1, 1, (3, 2, 2)), dtype='float64')
    weights = nd.array(RNG.uniform(-1, 1, layer(x).shape), dtype='float64')
    x.attach_grad()

    def loss():
        return (layer(x) * weights).sum()
    with autograd.record():
        value = loss()
    value.backward()
    for array, grad in [(x, x.grad)] + [(p.data(), p.grad()) for p in layer.collect_params().values()]:
        direction = nd.array(RNG.normal(size=array.shape), dtype='float64')
        expected = (grad * direction).sum().asscalar()
        step = 1e-6
        before = array.copy()
        array[:] = before + step * direction
        up = loss().asscalar()
        array[:] = before - step * direction
        down = loss().asscalar()
        array[:] = before
        assert abs((up - down) / (2 * step) - expected) < 1e-6 * max(1, abs(expected))


@pytest.mark.parametrize('kind', ['lstm', 'gru', 'tanh', 'relu'])
@pytest.mark.parametrize('batch', [1, 2, 5, 14])
def test_packed_sizes(kind, batch):
    """Units and sequences that do and do not fill the blocks of the packed products; eager and
    compiled, with and without gradient."""
    hidden, features = {1: (70, 33), 2: (160, 7), 5: (64, 20), 14: (101, 40)}[batch]
    layer = {'lstm': lambda: rnn.LSTM(hidden, bidirectional=True), 'gru': lambda: rnn.GRU(hidden),
             'tanh': lambda: rnn.RNN(hidden, activation='tanh'),
             'relu': lambda: rnn.RNN(hidden)}[kind]()
    layer.initialize(mx.init.Uniform(0.1))
    x = uniform(6, batch, features)
    layer(x)
    cells = layer._unfuse()

    def run(f):
        x.attach_grad()
        with autograd.record():
            out = f()
        out.backward(out_grad=out * 0.3)
        return [out, x.grad.copy()] + [p.grad().copy() for p in layer.collect_params().values()]
    unrolled = run(lambda: cells.unroll(6, x, layout='TNC', merge_outputs=True)[0])
    assert_same(run(lambda: layer(x)), unrolled, 2e-4)
    assert_same(layer(x), unrolled[0], 2e-4)
    layer.hybridize(static_alloc=True)
    assert_same(run(lambda: layer(x)), unrolled, 2e-4)
    assert_same(layer(x), unrolled[0], 2e-4)
    for p in layer.collect_params().values():    # what was packed is packed again
        p.set_data(p.data() * 0.5)
    with autograd.pause():
        compiled = layer(x)
    layer.hybridize(False)
    assert_same(layer(x), compiled, 2e-4)


SHARED = """
import hashlib, sys
import mxnet as mx
mx.random.seed(3)
for kind in (mx.gluon.rnn.GRU, mx.gluon.rnn.LSTM):
    layer = kind(101, use_sequence_length=True)
    layer.initialize(mx.init.Uniform(0.3))
    x = mx.nd.random.uniform(-1, 1, shape=(9, 13, 40))
    lengths = mx.nd.arange(13, dtype='int32') % 10
    out, states = layer(x, layer.begin_state(13), lengths)
    print(hashlib.sha256(b"".join(a.asnumpy().tobytes() for a in [out, *states])).hexdigest())
"""


def test_threads_share_sequences():
    """Each takes some of them: not a bit depends on how many threads there are."""
    def run(threads):
        return subprocess.run([sys.executable, '-c', SHARED], env={**os.environ, 'OMP_NUM_THREADS': str(threads)},
                              capture_output=True, text=True, check=True).stdout
    alone = run(1)
    assert len(alone.split()) == 2
    assert run(2) == alone
    assert run(3) == alone


def test_layer_in_networks(tmp_path):
    """Open numbers of features are found through the graph, in both directions and at every
    layer."""
    for layer in (rnn.LSTM(5, 2, layout='NTC', bidirectional=True), rnn.GRU(5, layout='NTC'),
                  rnn.LSTM(5, 2, layout='NTC', projection_size=2)):
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Embedding(11, 6), layer, gluon.nn.Dense(2))
        net.initialize()
        net.hybridize()
        x = nd.array(RNG.randint(0, 11, (3, 4)))
        compiled = net(x)
        assert layer.l0_i2h_weight.shape[1] == 6
        net.export(str(tmp_path / 'net'))
        imported = gluon.SymbolBlock.imports(str(tmp_path / 'net-symbol.json'), ['data'], str(tmp_path / 'net-0000.params'))
        assert_same(imported(x), compiled, 1e-6)
        assert_same(net(x[:2]), compiled[:2])    # another batch
        net.hybridize(False)
        assert_same(net(x), compiled)


def test_layer_dropout_and_training():
    layer = fill(rnn.LSTM(16, 2, dropout=0.5, input_size=3))
    x = uniform(5, 2, 3)
    quiet = layer(x)
    assert_same(layer(x), quiet, 0)
    with autograd.record():
        assert abs(layer(x) - quiet).max().asscalar() > 1e-3
    layer = rnn.GRU(8, dtype='float64')
    layer.initialize()
    assert layer(uniform(2, 2, 3).astype('float64')).dtype == np.float64
    layer.cast('float16')
    assert layer(uniform(2, 2, 3).astype('float16')).dtype == np.float16
    assert layer.begin_state(2)[0].dtype == np.float16

    # learns to remember the first input
    net = gluon.nn.HybridSequential()
    net.add(rnn.LSTM(16, layout='NTC'), gluon.nn.HybridLambda(lambda F, x: F.slice_axis(x, axis=1, begin=-1, end=None)), gluon.nn.Dense(1))
    mx.random.seed(1)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.02})
    loss_of = gluon.loss.L2Loss()
    for _ in range(150):
        x = nd.array(RNG.randint(0, 2, (16, 6, 1)))
        with autograd.record():
            loss = loss_of(net(x), x[:, 0])
        loss.backward()
        trainer.step(16)
    assert loss.mean().asscalar() < 0.02


def test_layer_errors():
    with pytest.raises(AssertionError, match='TCN'):
        rnn.LSTM(3, layout='TCN')
    with pytest.raises(ValueError, match='softplus'):
        rnn.RNN(3, activation='softplus')
    layer = rnn.LSTM(3)
    layer.initialize()
    with pytest.raises(ValueError, match='use_sequence_length'):
        layer(uniform(2, 2, 2), None, nd.array([1, 2]))
    with pytest.raises(ValueError, match='use_sequence_length'):
        rnn.LSTM(3, use_sequence_length=True)(uniform(2, 2, 2))
    with pytest.raises((AssertionError, ValueError), match='three axes'):
        layer(uniform(2, 2))
    with pytest.raises(mx.MXNetError, match='state'):
        layer(uniform(2, 2, 4), layer.begin_state(3))


# ---- cells ---------------------------------------------------------------------------------------
CELLS = {
    'rnn': lambda: rnn.RNNCell(4), 'lstm': lambda: rnn.LSTMCell(4), 'gru': lambda: rnn.GRUCell(4),
    'lstmp': lambda: contrib.rnn.LSTMPCell(4, 2),
    'residual': lambda: rnn.ResidualCell(rnn.GRUCell(5)), 'bi': lambda: rnn.BidirectionalCell(rnn.LSTMCell(2), rnn.GRUCell(3)),
    'zoneout': lambda: rnn.ZoneoutCell(rnn.LSTMCell(4), 0.5, 0.5),
    'vardrop': lambda: contrib.rnn.VariationalDropoutCell(rnn.GRUCell(4), 0.1, 0.1, 0.1),
    'vardropio': lambda: contrib.rnn.VariationalDropoutCell(rnn.GRUCell(4), 0.1, 0, 0.1),
    'resbi': lambda: rnn.ResidualCell(rnn.BidirectionalCell(rnn.GRUCell(2), rnn.GRUCell(3))), 'stack': lambda: rnn_cases._stack(mx),
}


class Unrolled(gluon.HybridBlock):
    def __init__(self, cell, **how):
        super().__init__()
        self.cell, self.how = cell, how

    def hybrid_forward(self, F, x, *lengths):
        out, states = self.cell.unroll(4, x, valid_length=lengths[0] if lengths else None, **self.how)
        return out, states


@pytest.mark.parametrize('lengths', [False, True])
@pytest.mark.parametrize('kind', CELLS)
def test_cell_unroll(tmp_path, kind, lengths):
    """Merged or not, either layout, eager or compiled: the same numbers."""
    cell = CELLS[kind]()
    cell.initialize(mx.init.Uniform(0.5))
    x = uniform(3, 4, 5)
    valid = [nd.array([2, 4, 1])] if lengths else []
    kw = {'valid_length': valid[0]} if lengths else {}
    merged, states = cell.unroll(4, x, merge_outputs=True, **kw)
    assert merged.shape[:2] == (3, 4)
    if lengths:
        mask = np.arange(4)[None, :, None] >= np.array([2, 4, 1])[:, None, None]
        assert not (merged.asnumpy() * mask).any()
        short, short_states = cell.unroll(2, x[:1, :2], merge_outputs=True)
        assert_same(short, merged[:1, :2])
        assert_same([s[:1] for s in states], short_states)
    for layout, inputs, merge in (('NTC', x, False), ('NTC', [x[:, i] for i in range(4)], True),
                                  ('NTC', [x[:, i] for i in range(4)], False),
                                  ('TNC', x.swapaxes(0, 1), True), ('TNC', x.swapaxes(0, 1), False)):
        out, last = cell.unroll(4, inputs, layout=layout, merge_outputs=merge, **kw)
        assert isinstance(out, nd.NDArray) == merge
        out = (out if layout == 'NTC' else out.swapaxes(0, 1)) if merge else nd.stack(*out, axis=1)
        assert_same([out, *last], [merged, *states])
    net = Unrolled(cell, merge_outputs=True)
    net.hybridize()
    out, last = net(x, *valid)
    assert_same([out, *last], [merged, *states])
    net.export(str(tmp_path / 'net'))
    imported = gluon.SymbolBlock.imports(str(tmp_path / 'net-symbol.json'),
                                         ['data0', 'data1'] if lengths else ['data'],
                                         str(tmp_path / 'net-0000.params'))
    assert_same(imported(x, *valid), [merged, *states])
    plain = Unrolled(cell)
    out, last = plain(x, *valid)
    assert_same(out if isinstance(out, nd.NDArray) else nd.stack(*out, axis=1), merged)


@pytest.mark.parametrize('kind', [k for k in CELLS if k not in ('bi', 'resbi', 'stack')])
def test_cell_steps(kind):
    cell = CELLS[kind]()
    cell.initialize(mx.init.Uniform(0.5))
    x = uniform(3, 4, 5)
    outputs, last = cell.unroll(4, x)
    cell.reset()
    states = cell.begin_state(batch_size=3)
    assert [s.shape for s in states] == [i['shape'] for i in cell.state_info(3)]
    for step in range(4):
        out, states = cell(x[:, step], states)
        assert_same(out, outputs[step] if isinstance(outputs, list) else outputs[:, step])
    assert_same(states, last)
    cell.hybridize()
    cell.reset()
    out, _ = cell(x[:, 0], cell.begin_state(batch_size=3))
    assert_same(out, outputs[0] if isinstance(outputs, list) else outputs[:, 0])


def test_sequential_cell():
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(4))
    stack.add(rnn.ZoneoutCell(rnn.GRUCell(3), 0.1))
    assert len(stack) == 2 and isinstance(stack[0], rnn.LSTMCell) and not isinstance(stack, gluon.HybridBlock)
    stack.initialize()
    x = uniform(2, 3, 5)
    outputs, last = stack.unroll(3, x)
    stack.reset()
    states = stack.begin_state(batch_size=2)
    for step in range(3):
        out, states = stack(x[:, step], states)
        assert_same(out, outputs[step])
    assert_same(states, last)
    with pytest.raises(ValueError, match='HybridBlock'):
        rnn.HybridSequentialRNNCell().add(stack)


def test_regularisation():
    """What dropout, zoneout and variational dropout do in training."""
    ones = nd.ones((1, 6, 400))
    drop = rnn.DropoutCell(0.5)
    with autograd.record():
        out, _ = drop.unroll(6, ones, merge_outputs=False)
        whole, _ = drop.unroll(6, ones)
    assert set(np.unique(whole.asnumpy())) == {0, 2} and set(np.unique(out[0].asnumpy())) == {0, 2}

    class Count(rnn.HybridRecurrentCell):
        """Output and state: the state before plus one."""
        def state_info(self, batch_size=0):
            return [{'shape': (batch_size, 400), '__layout__': 'NC'}]

        def hybrid_forward(self, F, inputs, states):
            return states[0] + 1, [states[0] + 1]

    with autograd.record():
        out, states = rnn.ZoneoutCell(Count(), 0.5, 0).unroll(6, ones, merge_outputs=True)
        held, held_states = rnn.ZoneoutCell(Count(), 0, 0.5).unroll(6, ones, merge_outputs=True)
    out, held = out.asnumpy()[0], held.asnumpy()[0]
    change = np.diff(out, axis=0)
    assert ((change == 0) | (out[1:] == np.arange(2, 7)[:, None])).all() and 0.3 < (change == 0).mean() < 0.7
    assert states[0].asnumpy().min() == 6
    assert set(np.unique(np.diff(held, axis=0))) == {0, 1} and 1.5 < held_states[0].mean().asscalar() < 4.5

    vardrop = contrib.rnn.VariationalDropoutCell(Count(), 0, 0, 0.5)
    stepwise = contrib.rnn.VariationalDropoutCell(Count(), 0, 1e-9, 0.5)
    for cell in (vardrop, stepwise):
        with autograd.record():
            first, _ = cell.unroll(6, ones, merge_outputs=True)
            second, _ = cell.unroll(6, ones, merge_outputs=True)
        zero = first.asnumpy()[0] == 0
        assert (zero == zero[0]).all() and 0.3 < zero.mean() < 0.7
        assert (zero != (second.asnumpy()[0] == 0)).any()


def test_names_and_symbols():
    cell = rnn.LSTMCell(4, prefix='c_')
    out, states = cell.unroll(2, [mx.sym.var('a'), mx.sym.var('b')], begin_state=cell.begin_state(func=mx.sym.var))
    graph = mx.sym.Group(out + states)
    assert graph.list_arguments() == ['a', 'c_i2h_weight', 'c_i2h_bias', 'c_begin_state_0',
                                      'c_h2h_weight', 'c_h2h_bias', 'c_begin_state_1', 'b']
    assert [o.name for o in out] == ['c_t0_out', 'c_t1_out']
    assert [rnn.LSTM(2).name[:4], rnn.GRU(2).name[:3], contrib.rnn.Conv1DGRUCell((2, 3), 2, 1, 1).name[:8]] == ['lstm', 'gru', 'conv_gru']
    with rnn.LSTMCell(2).name_scope():
        pass
    shared = rnn.LSTMCell(4, params=cell.params)
    assert shared.i2h_weight is cell.i2h_weight
    layer = rnn.LSTM(3, prefix='l_')
    out, states = layer(mx.sym.var('x'), layer.begin_state(func=mx.sym.var))
    assert 'l_h0_0' in out.list_arguments() and out.infer_shape(x=(4, 2, 5))[1] == [(4, 2, 3)]


def test_cell_errors():
    cell = rnn.RNNCell(3)
    cell.initialize()
    with pytest.raises(AssertionError, match='length=3'):
        cell.unroll(3, uniform(2, 2, 4))
    with pytest.raises(AssertionError, match='XYZ'):
        cell.unroll(3, uniform(2, 2, 4), layout='XYZ')
    zoneout = rnn.ZoneoutCell(cell)
    with pytest.raises(AssertionError, match='ModifierCell'):
        cell.begin_state(2)
    with pytest.raises(AssertionError, match='another ModifierCell'):
        rnn.ResidualCell(cell)
    both = rnn.BidirectionalCell(rnn.RNNCell(2), rnn.RNNCell(2))
    with pytest.raises(NotImplementedError, match='unroll'):
        both(uniform(2, 2), both.begin_state(batch_size=2))
    with pytest.raises(AssertionError, match='Bidirectional'):
        rnn.ZoneoutCell(both, 0.1)
    with pytest.raises(AssertionError, match='odd'):
        contrib.rnn.Conv2DLSTMCell((3, 4, 4), 3, 3, 2)
    with pytest.raises(AssertionError, match='rate'):
        rnn.DropoutCell('half')
    assert zoneout.begin_state(batch_size=2)[0].shape == (2, 3)


def test_conv_cell_channels_last():
    """The same numbers in either layout of Conv2D."""
    first = fill(contrib.rnn.Conv2DGRUCell((2, 5, 4), 3, 3, 3, 1))
    last = contrib.rnn.Conv2DGRUCell((5, 4, 2), 3, 3, 3, 1, conv_layout='NHWC')
    last.initialize()
    for a, b in zip(first.collect_params().values(), last.collect_params().values()):
        b.set_data(a.data().transpose((0, 2, 3, 1)) if len(a.shape) == 4 else a.data())
    x = uniform(2, 2, 5, 4)
    out, _ = first(x, first.begin_state(2))
    other, _ = last(x.transpose((0, 2, 3, 1)), last.begin_state(2))
    assert_same(other.transpose((0, 3, 1, 2)), out)


@pytest.mark.parametrize("activation", ["tanh", "relu", "softsign"])
def test_the_output_of_an_lstm_is_activated_by_the_operator_of_1_9_1(activation):
    cell = rnn.LSTMCell(3, activation=activation, prefix="l_")
    output, _ = cell(mx.sym.var("x"), [mx.sym.var("h"), mx.sym.var("c")])
    nodes = {node["name"]: node for node in json.loads(output.tojson())["nodes"]}
    last = nodes["l_t0_activation0"]
    assert last["op"] == "Activation" and last["attrs"] == {"act_type": activation}
    assert nodes["l_t0_c"]["op"] == activation


@pytest.mark.parametrize("layout", ["TNC", "NTC"])
@pytest.mark.parametrize("lengths", [None, [4, 2]])
def test_dynamic_unroll_in_a_hybridized_block(layout, lengths):
    class Unrolled(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.cell = rnn.LSTMCell(3, input_size=5)

        def hybrid_forward(self, F, x, h, c, *length):
            out, states = contrib.rnn.dynamic_unroll(self.cell, x, [h, c], layout=layout,
                                                     valid_length=length[0] if length else None)
            return [out] + states

    net = Unrolled()
    net.initialize(mx.init.Uniform(0.5))
    x = uniform(*((4, 2, 5) if layout == "TNC" else (2, 4, 5)))
    args = [x, uniform(2, 3), uniform(2, 3)] + ([nd.array(lengths)] if lengths else [])
    want = net(*args)
    net.hybridize()
    x.attach_grad()
    with autograd.record():
        got = net(*args)
        total = got[0].sum() + got[2].sum()
    total.backward()
    for a, b in zip(got, want):
        assert_same(a, b)
    assert x.grad.asnumpy().any()
