"""mx.rnn: symbolic cells, sentences in buckets, checkpoints."""
import json
import pathlib
import random
import sys

import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.on_gpu

DATA = pathlib.Path(__file__).parents[1] / 'data'
sys.path.insert(0, str(DATA))
import rnn_symbol_cases as cases  # noqa: E402


@pytest.mark.parametrize('name', cases.CASES)
def test_as_in_1_9_1(name):
    """Values, names of the parameters, and what each gate's part holds."""
    with np.load(DATA / 'rnn.npz') as stored:
        expected, names = stored[name], json.loads(stored['names'].tobytes())['symbol_' + name]
    cell, outputs, by_gate = cases.run(mx, name)
    assert [list(o.shape) for o in outputs] == names['shapes']
    np.testing.assert_allclose(np.concatenate([o.asnumpy().ravel() for o in outputs]), expected, 1e-4, 1e-5)
    symbol = cases.graph(mx, name)[1]
    assert sorted(symbol.list_arguments()) == sorted(names['arguments'])
    assert {k: list(v.shape) for k, v in by_gate.items()} == {k: v[0] for k, v in names['by_gate'].items()}
    for key, (_, total) in names['by_gate'].items():
        assert abs(by_gate[key].sum().asscalar() - total) < 1e-4, key
    args = cases.values(mx, name, symbol)
    packed = cell.pack_weights(by_gate)
    for key, value in packed.items():
        np.testing.assert_array_equal(value.asnumpy(), args[key].asnumpy())
    # the same as a list of steps
    listed = cases.graph(mx, name, merge=False)[1].bind(mx.cpu(), args).forward()
    steps = cases.CASES[name][1][1]
    np.testing.assert_allclose(np.stack([o.asnumpy() for o in listed[:steps]], 1), outputs[0].asnumpy(), 1e-5, 1e-6)


@pytest.mark.parametrize('mode, bidirectional', [('lstm', True), ('gru', False), ('rnn_relu', True), ('rnn_tanh', False)])
def test_unfuse(mode, bidirectional):
    fused = mx.rnn.FusedRNNCell(5, 2, mode, bidirectional=bidirectional, prefix='f_', dropout=0.2)
    stack = fused.unfuse()
    x = mx.sym.var('x')
    outputs = []
    args = None
    for cell in (fused, stack):
        symbol, _ = cell.unroll(4, x, layout='TNC', merge_outputs=True)
        shapes = dict(zip(symbol.list_arguments(), symbol.infer_shape(x=(4, 3, 6))[0]))
        if args is None:
            args = {k: mx.nd.random.uniform(-1, 1, shapes[k]) for k in shapes}
        else:
            args = stack.pack_weights(fused.unpack_weights(args))
        outputs.append(symbol.bind(mx.cpu(), args).forward()[0].asnumpy())
    np.testing.assert_allclose(*outputs, 1e-5, 1e-6)


def test_steps_states_and_errors():
    cell = mx.rnn.LSTMCell(3, prefix='c_')
    states = cell.begin_state(func=mx.sym.var)
    assert [s.name for s in states] == ['c_begin_state_0', 'c_begin_state_1'] and cell.state_shape == [(0, 3), (0, 3)]
    output, states = cell(mx.sym.var('x'), states)
    assert output.name == 'c_t0_out' and states[1].name == 'c_t0_state'
    shared = mx.rnn.LSTMCell(3, prefix='other_', params=cell.params)
    assert shared.unroll(2, mx.sym.var('x'), merge_outputs=True)[0].list_arguments()[1] == 'c_i2h_weight'
    zoneout = mx.rnn.ZoneoutCell(cell, 0.1)
    assert [s.name for s in zoneout.begin_state()] == ['c_begin_state_0', 'c_begin_state_1']
    for message, wrong in (('ModifierCell', cell.begin_state), ('unfuse', lambda: mx.rnn.ZoneoutCell(mx.rnn.FusedRNNCell(3))),
                           ('length=3', lambda: zoneout.unroll(3, [mx.sym.var('x')])),
                           ('layout', lambda: zoneout.unroll(3, mx.sym.var('x'), layout='NXC'))):
        with pytest.raises(AssertionError, match=message):
            wrong()
    stack = mx.rnn.SequentialRNNCell(params=mx.rnn.RNNParams('p_'))
    stack.add(mx.rnn.GRUCell(2))
    with pytest.raises(AssertionError, match='params'):
        stack.add(mx.rnn.GRUCell(2, params=mx.rnn.RNNParams('q_')))
    for cell in (mx.rnn.FusedRNNCell(3), mx.rnn.BidirectionalCell(mx.rnn.RNNCell(2), mx.rnn.RNNCell(2))):
        with pytest.raises(NotImplementedError, match='unroll'):
            cell(mx.sym.var('x'), [])
    with pytest.warns(UserWarning):
        outputs, _ = mx.rnn.rnn_unroll(mx.rnn.RNNCell(3), 2, input_prefix='in_')
    assert [n for n in mx.sym.Group(outputs).list_arguments() if n.endswith('data')] == ['in_t0_data', 'in_t1_data']


def test_zoneout_in_training():
    cell = mx.rnn.ZoneoutCell(mx.rnn.RNNCell(200, prefix='c_'), 0.5, 0)
    symbol, _ = cell.unroll(2, mx.sym.var('x'), merge_outputs=True)
    shapes = dict(zip(symbol.list_arguments(), symbol.infer_shape(x=(3, 2, 4))[0]))
    executor = symbol.bind(mx.cpu(), {k: mx.nd.random.uniform(0.1, 1, s) for k, s in shapes.items()})
    quiet, noisy = executor.forward()[0].asnumpy(), executor.forward(is_train=True)[0].asnumpy()
    assert (quiet != 0).all() and 0.3 < (noisy[:, 0] == 0).mean() < 0.7
    kept = noisy[:, 1] == noisy[:, 0]
    assert 0.3 < kept.mean() < 0.7 and ((noisy[:, 1] == quiet[:, 1]) | kept).all()


def test_sentences():
    words = [['a', 'b', 'c'], ['b', 'd']]
    assert mx.rnn.encode_sentences(words) == ([[0, 1, 2], [1, 3]], {'\n': -1, 'a': 0, 'b': 1, 'c': 2, 'd': 3})
    assert mx.rnn.encode_sentences(words, start_label=1, invalid_label=2)[0] == [[1, 3, 4], [3, 5]]
    with pytest.raises(AssertionError, match="'z'"):
        mx.rnn.encode_sentences([['a', 'z']], vocab={'a': 1})
    assert mx.rnn.encode_sentences([['a', 'z']], vocab={'a': 1}, unknown_token='u') == ([[1, 0]], {'a': 1, 'u': 0})
    assert mx.rnn.encode_sentences([['a', 'z']], vocab={'a': 1, 'u': 5}, unknown_token='u')[0] == [[1, 5]]


@pytest.mark.parametrize('layout', ['NT', 'TN'])
def test_bucket_iterator(layout):
    sentences = [[1, 2, 3], [2, 3, 4], [4, 5], [5, 6], [1], [1, 2, 3, 4, 5, 6, 7], [3, 3, 3], [3, 4, 4]]
    random.seed(0)
    np.random.seed(0)
    it = mx.rnn.BucketSentenceIter(sentences, 2, buckets=[2, 3, 5], layout=layout, invalid_label=-2)
    assert (it.default_bucket_key == 5 and it.provide_data[0].shape
            == ((2, 5) if layout == 'NT' else (5, 2)) and it.provide_data[0].layout == layout)
    for _ in range(2):
        seen, keys = [], []
        for batch in it:
            data, label = (a.asnumpy() if layout == 'NT' else a.asnumpy().T for a in (batch.data[0], batch.label[0]))
            assert batch.provide_data[0].shape == batch.data[0].shape and batch.provide_label[0].name == 'softmax_label'
            assert (label[:, :-1] == data[:, 1:]).all() and (label[:, -1] == -2).all() and data.shape == (2, batch.bucket_key)
            seen += [[int(w) for w in row if w != -2] for row in data]
            keys.append(batch.bucket_key)
        assert sorted(keys) == [2, 3, 3]
        assert all(s in sentences for s in seen) and len(seen) == 6
        it.reset()
    assert mx.rnn.BucketSentenceIter(sentences, 2).buckets == [2, 3]
    with pytest.raises(ValueError, match='XY'):
        mx.rnn.BucketSentenceIter(sentences, 2, layout='XY')


def test_bucketing_module_and_checkpoints(tmp_path):
    """A language model of repeated digits is learned, saved by gate and read again into cells of
    another kind."""
    random.seed(1)
    np.random.seed(1)
    mx.random.seed(1)
    sentences = [[(start + i) % 5 + 1 for i in range(length)] for length in (4, 6) for start in range(5) for _ in range(8)]
    data = mx.rnn.BucketSentenceIter(sentences, 8, buckets=[4, 6], invalid_label=0)
    fused = mx.rnn.FusedRNNCell(16, 1, 'lstm', prefix='lstm_')
    stack = fused.unfuse()

    def network(cell):
        def generate(length):
            x = mx.sym.Embedding(mx.sym.var('data'), input_dim=6, output_dim=8, name='embed')
            outputs, _ = cell.unroll(length, x, merge_outputs=True)
            scores = mx.sym.FullyConnected(mx.sym.reshape(outputs, shape=(-1, 16)), num_hidden=6, name='scores')
            label = mx.sym.reshape(mx.sym.var('softmax_label'), shape=(-1,))
            return mx.sym.SoftmaxOutput(scores, label, name='softmax', use_ignore=True, ignore_label=0), ('data',), ('softmax_label',)
        return generate

    module = mx.mod.BucketingModule(network(fused), default_bucket_key=6)
    metric = mx.metric.Perplexity(0)
    module.fit(data, eval_metric=metric, num_epoch=8, optimizer='adam', optimizer_params={'learning_rate': 0.05},
               initializer=mx.init.Xavier(), epoch_end_callback=mx.rnn.do_rnn_checkpoint(fused, str(tmp_path / 'model'), 8))
    assert metric.get()[1] < 1.5
    assert 'arg:lstm_l0_i2h_i_weight' in mx.nd.load(str(tmp_path / 'model-0008.params'))
    _, args, aux = mx.rnn.load_rnn_checkpoint(stack, str(tmp_path / 'model'), 8)
    unfused = mx.mod.BucketingModule(network(stack), default_bucket_key=6)
    unfused.bind(data.provide_data, data.provide_label, for_training=False)
    unfused.set_params(args, aux)
    data.reset()
    assert unfused.score(data, mx.metric.Perplexity(0))[0][1] < 1.5


def test_zoneout_names_the_output_before_the_states():   # the names of 1.9.1
    with mx.name.NameManager():
        outputs, states = mx.rnn.ZoneoutCell(mx.rnn.GRUCell(5, prefix='g_'), 0.5, 0.5).unroll(2, mx.sym.var('x'))
    assert [o.name for o in outputs] + [s.name for s in states] == ['where0', 'where2', 'where3']
