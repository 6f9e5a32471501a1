"""Initializers: which rule a name gets, distributions, serialisation."""
import json
import warnings

import numpy as np
import pytest

import mxnet as mx
from mxnet import initializer as init
from mxnet import nd

pytestmark = pytest.mark.on_gpu


def filled(initializer, name='fc_weight', shape=(4, 3), attrs=None, dtype='float32'):
    array = nd.zeros(shape, dtype=dtype)
    array[:] = -7
    initializer(init.InitDesc(name, attrs), array)
    return array.asnumpy()


@pytest.mark.parametrize('name, value', [
    ('fc_weight', 5), ('xweight', 5), ('fc_bias', 0), ('bn_gamma', 1), ('bn_beta', 0), ('q_min', 0), ('q_max', 1),
    ('bn_moving_mean', 0), ('bn_moving_var', 1), ('bn_running_mean', 0), ('bn_running_var', 1), ('bn_moving_inv_var', 0),
    ('bn_moving_avg', 0)])
def test_rules_for_names(name, value):
    assert (filled(init.Constant(5), name) == value).all()


@pytest.mark.parametrize('name', ['foo', 'weight_g', 'state', 'rnn_parameters'])
def test_names_without_a_rule(name):
    with pytest.raises(ValueError, match=name):
        filled(init.One(), name)


def test_attributes_go_before_names():
    assert (filled(init.Zero(), 'foo', attrs={'__init__': '["one", {}]'}) == 1).all()
    assert (filled(init.Zero(), 'x_bias', attrs={'__init__': init.Constant(3).dumps()}) == 3).all()


def test_plain_strings_still_work():
    array = nd.zeros((2, 2))
    with pytest.warns(DeprecationWarning):
        init.One()('fc_weight', array)
    assert (array.asnumpy() == 1).all()
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        stn = nd.ones((6,))
        init.One()('stn_loc_bias', stn)
        assert stn.asnumpy().tolist() == [1, 0, 0, 0, 1, 0]
        up = nd.zeros((2, 2, 4, 4))
        init.One()('upsampling0_weight', up)
        row = np.array([0.25, 0.75, 0.75, 0.25])
        assert np.allclose(up.asnumpy(), np.outer(row, row))
        with pytest.raises(TypeError):
            init.One()('fc_weight', [1])
    with pytest.raises(TypeError):
        init.One()(3, array)


def check_uniform(values, bound):
    assert np.abs(values).max() <= bound and np.abs(values).max() > 0.99 * bound
    assert abs(values.mean()) < 0.02 * bound and values.std() == pytest.approx(bound / 3 ** 0.5, rel=0.02)


def check_normal(values, sigma):
    assert abs(values.mean()) < 0.02 * sigma and values.std() == pytest.approx(sigma, rel=0.02)
    assert 0.66 < (np.abs(values) < sigma).mean() < 0.71


def test_random_distributions():
    mx.random.seed(1)
    shape = (200, 300)
    check_uniform(filled(init.Uniform(0.3), shape=shape), 0.3)
    check_normal(filled(init.Normal(0.2), shape=shape), 0.2)
    check_uniform(filled(init.Xavier(), shape=shape), (3 / 250) ** 0.5)
    check_uniform(filled(init.Xavier('uniform', 'in', 2), shape=shape), (2 / 300) ** 0.5)
    check_uniform(filled(init.Xavier('uniform', 'out', 2.5), shape=shape), (2.5 / 200) ** 0.5)
    check_normal(filled(init.Xavier('gaussian', 'avg', 2), shape=(20, 30, 10, 10)), (2 / 2500) ** 0.5)
    check_normal(filled(init.MSRAPrelu('in', 0.5), shape=shape), (2 / 1.25 / 300) ** 0.5)


@pytest.mark.parametrize('rand_type', ['uniform', 'normal'])
@pytest.mark.parametrize('shape', [(4, 6), (6, 4), (4, 2, 3)])
def test_orthogonal(rand_type, shape):
    matrix = filled(init.Orthogonal(2.0, rand_type), shape=shape).reshape(shape[0], -1)
    if matrix.shape[0] > matrix.shape[1]:
        matrix = matrix.T
    assert np.allclose(matrix @ matrix.T, 4 * np.identity(len(matrix)), atol=1e-5)


def test_bilinear_interpolates():
    kernel = filled(init.Bilinear(), shape=(1, 1, 3, 4))[0, 0]
    assert np.allclose(kernel[0], [0.0625, 0.1875, 0.1875, 0.0625]) and np.allclose(kernel[1], kernel[2])


def test_lstm_bias():
    assert filled(init.LSTMBias(1.5), 'x_weight', (8,)).tolist() == [0, 0, 1.5, 1.5, 0, 0, 0, 0]


def parts(mode, layers, hidden, inputs, directions):
    """Offsets of (weights, biases) and the biases' indices of LSTM forget gates in a fused
    parameter vector."""
    gates = {'lstm': 4, 'gru': 3, 'rnn_tanh': 1}[mode]
    weights = 0
    for layer in range(layers):
        width = inputs if layer == 0 else hidden * directions
        weights += directions * gates * hidden * (width + hidden)
    biases = layers * directions * 2 * gates * hidden
    forget = [weights + block * 4 * hidden + hidden + k for block in range(layers * directions * 2) for k in range(hidden)]
    return weights, biases, forget


@pytest.mark.parametrize('mode, bidirectional', [('lstm', False), ('lstm', True), ('gru', True), ('rnn_tanh', False)])
def test_fused_rnn(mode, bidirectional):
    weights, biases, forget = parts(mode, 2, 3, 5, 2 if bidirectional else 1)
    initializer = init.FusedRNN(init.One(), 3, 2, mode, bidirectional, forget_bias=2.0)
    vector = filled(init.Zero(), 'rnn_parameters', (weights + biases,), attrs={'__init__': initializer.dumps()})
    expected = np.concatenate([np.ones(weights), np.zeros(biases)])
    if mode == 'lstm':
        expected[forget] = 2
    assert (vector == expected).all()
    with pytest.raises(ValueError):
        filled(init.Zero(), 'rnn_parameters', (weights + biases + 1,), attrs={'__init__': initializer.dumps()})


def test_dumps_and_create():
    for initializer in (init.Zero(), init.One(), init.Constant(3), init.Uniform(0.1), init.Normal(2), init.Xavier('gaussian', 'in', 2),
                        init.MSRAPrelu('out', 0.1), init.Orthogonal(2, 'normal'), init.Bilinear(), init.LSTMBias(0.5),
                        init.Constant(nd.array([1, 2])), init.FusedRNN(init.Xavier(), 3, 2, 'gru')):
        again = init.create(initializer.dumps())
        assert type(again) is type(initializer) and again == initializer and again.dumps() == initializer.dumps()
    assert json.loads(init.Xavier().dumps()) == ['xavier', {'rnd_type': 'uniform', 'factor_type': 'avg', 'magnitude': 3}]
    assert init.Xavier(magnitude=2) != init.Xavier() and init.Zero() != init.One()
    assert isinstance(init.create('zeros'), init.Zero) and init.create('xavier', magnitude=2).magnitude == 2
    with pytest.raises(ValueError):
        init.create('no_such_initializer')


def test_register():
    @init.alias('lucky_number')
    @init.register
    class Seven(init.Initializer):
        def _init_weight(self, name, arr):
            arr[:] = 7

    assert (filled(init.create('seven')) == 7).all() and (filled(init.create('lucky_number')) == 7).all()


def test_constant_broadcasts():
    assert filled(init.Constant([1, 2, 3])).tolist() == [[1, 2, 3]] * 4


def test_mixed():
    mixed = init.Mixed(['.*bias', 'fc', '.*'], [init.Zero(), init.One(), init.Constant(2)])
    assert (filled(mixed, 'fc_bias') == 0).all() and (filled(mixed, 'fc_weight') == 1).all() and (filled(mixed, 'x_weight') == 2).all()
    with pytest.raises(ValueError):
        filled(init.Mixed(['fc'], [init.Zero()]), 'x_weight')
    with pytest.raises(ValueError):
        init.Mixed(['a'], [])


def test_load(tmp_path):
    path = str(tmp_path / 'x.params')
    nd.save(path, {'arg:a_weight': nd.ones((4, 3)), 'aux:b': nd.ones((2,))})
    load = init.Load(path, default_init=init.Constant(3))
    assert (filled(load, 'a_weight') == 1).all() and (filled(load, 'c_weight') == 3).all()
    with pytest.raises(ValueError, match='Shape mismatch'):
        filled(load, 'b')
    with pytest.raises(ValueError, match='Not found'):
        filled(init.Load({}), 'x_weight')


@pytest.mark.parametrize('wrong', [
    lambda: filled(init.Xavier(), shape=(3,)), lambda: filled(init.Xavier('gauss')), lambda: filled(init.Xavier('uniform', 'up')),
    lambda: init.Orthogonal(rand_type='x'), lambda: filled(init.Bilinear()), lambda: init.FusedRNN(None, 1, 1, 'x')])
def test_wrong_parameters(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_verbosity(caplog):
    with caplog.at_level('INFO'):
        filled(init.One().set_verbosity(True))
        filled(init.One().set_verbosity(True, lambda x: 'SUMMARY'))
    assert caplog.messages == ['Initialized fc_weight as weight: 1.0', 'Initialized fc_weight as weight: SUMMARY']
