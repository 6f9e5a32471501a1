"""FeedForward: what programs of 1.x override, ask and hand to it."""
import copy

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd

pytestmark = pytest.mark.filterwarnings('ignore:FeedForward is deprecated')
X = np.random.RandomState(0).rand(10, 3).astype(np.float32)
Y = np.arange(10, dtype=np.float32) % 2


def network(data='data'):
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable(data), num_hidden=2, name='f'), name='softmax')


def test_steps_that_subclasses_override():
    seen = []

    class Noting(mx.model.FeedForward):
        def _init_iter(self, X, y, is_train):
            seen.append(('iter', is_train))
            return mx.io.NDArrayIter(X, y, 5) if isinstance(X, np.ndarray) else super()._init_iter(X, y, is_train)

        def _init_eval_iter(self, eval_data):
            seen.append('eval')
            return super()._init_eval_iter(eval_data)

        def _init_params(self, inputs, overwrite=False):
            seen.append([name for name, _ in inputs])
            return super()._init_params(inputs, overwrite)

        def _init_predictor(self, input_shapes, type_dict=None):
            seen.append([shape for _, shape in input_shapes])
            return super()._init_predictor(input_shapes, type_dict)
    model = Noting(network(), num_epoch=1)
    assert model.argument_checked and model._pred_exec is None and model.sym_gen is None
    model.fit(X, Y)
    assert seen == [('iter', True), 'eval', ['data', 'softmax_label']]
    del seen[:]
    model.predict(X)
    first = model._pred_exec
    model.predict(mx.io.NDArrayIter(X, batch_size=5))
    assert seen == [('iter', False), [(5, 3)], ('iter', False), [(5, 3)]] and model._pred_exec is first
    assert model._init_params([('data', (4, 3)), ('softmax_label', (4,))]) == (
        ['data', 'f_weight', 'f_bias', 'softmax_label'], ['f_weight', 'f_bias'], [])
    again = copy.deepcopy(model)
    assert np.array_equal(again.predict(X), model.predict(X))


def test_predictions_follow_the_parameters():
    model = mx.model.FeedForward(network(), arg_params={'f_weight': nd.ones((2, 3)), 'f_bias': nd.array([0, 1])})
    assert model.predict(X)[0].argmax() == 1
    model.arg_params['f_bias'][:] = nd.array([1, 0])
    assert model.predict(X)[0].argmax() == 0
    model.arg_params = {'f_weight': nd.ones((2, 3)), 'f_bias': nd.array([0, 1])}
    assert model.predict(X)[0].argmax() == 1


def test_scores_of_arrays():
    """Their labels are 0, as in 1.9.1."""
    model = mx.model.FeedForward(network(), numpy_batch_size=5,
                                 arg_params={'f_weight': nd.zeros((2, 3)), 'f_bias': nd.array([1, 0])})
    assert model.score(X) == model.score(nd.array(X)) == 1
    assert model.score(mx.io.NDArrayIter(X, Y, 5)) == .5
    seen = []
    model.score(mx.io.NDArrayIter(X, Y, 5), 'ce', num_batch=1, batch_end_callback=lambda p: seen.append((p.epoch, p.nbatch)))
    assert seen == [(None, 0)]


def test_networks_and_values_that_do_not_fit():
    twice = mx.sym.Variable('data') + mx.sym.Variable('data')
    with pytest.raises(ValueError, match='duplicated argument name "data"'):
        mx.model.FeedForward(twice)
    values = {'f_weight': nd.ones((2, 3)), 'f_bias': nd.zeros(2), 'more': nd.ones(1)}
    model = mx.model.FeedForward(network(), arg_params=values)
    for _ in range(2):
        with pytest.raises(ValueError, match='more'):
            model.predict(X)
    model = mx.model.FeedForward(network(), arg_params=values, allow_extra_params=True)
    assert sorted(model.arg_params) == ['f_bias', 'f_weight'] and model.predict(X).shape == (10, 2)
    with pytest.raises(TypeError):
        model._init_eval_iter(X)
    assert model._init_eval_iter([X.tolist(), Y.tolist()]).batch_size == 10


def test_networks_by_bucket():
    class Buckets(mx.io.DataIter):
        default_bucket_key, provide_data, provide_label = 4, [('data', (2, 4))], [('softmax_label', (2, 4))]

        def __init__(self):
            super().__init__(2)
            self.reset()

        def reset(self):
            self.keys = [4, 2, 4]

        def next(self):
            if not self.keys:
                raise StopIteration
            key = self.keys.pop()
            values = nd.array(np.arange(2 * key).reshape(2, key) % 3)
            return mx.io.DataBatch([values], [values], 0, bucket_key=key, provide_data=[('data', (2, key))],
                                   provide_label=[('softmax_label', (2, key))])

    def network_of(key):
        rows = mx.sym.Embedding(mx.sym.Variable('data'), input_dim=3, output_dim=4, name='e')
        scores = mx.sym.FullyConnected(mx.sym.Reshape(rows, shape=(-1, 4)), num_hidden=3, name='f')
        return mx.sym.SoftmaxOutput(scores, mx.sym.Reshape(mx.sym.Variable('softmax_label'), shape=(-1,)), name='softmax')
    model = mx.model.FeedForward(network_of, num_epoch=30, learning_rate=.5, initializer=mx.init.Normal(.5))
    assert model.symbol is None and model.sym_gen is network_of
    metric = mx.metric.Perplexity(None)
    model.fit(Buckets(), eval_metric=metric)
    assert metric.get()[1] < 1.5
    assert model.symbol.list_arguments() == network_of(4).list_arguments()
    assert sorted(model.arg_params) == ['e_weight', 'f_bias', 'f_weight']


TWO = [mx.cpu(0), mx.cpu(1)]


@pytest.mark.parametrize('options, expected', [
    ({}, [6.4126, 3.5, .4798, -.5352]),
    ({'optimizer': 'adam'}, [6.2166, 3.5, .4623, -.5406]),
    ({'optimizer': 'rmsprop'}, [6.1914, 3.5, .4583, -.5440]),
    ({'optimizer': 'ftrl'}, [.4628, .9274, .0348, -.0260]),
    ({'optimizer': 'nag', 'momentum': .9}, [6.2220, 3.5, .4477, -.3749]),
    ({'learning_rate': .1, 'wd': .1, 'momentum': .5}, [2.2903, 1.2749, .1538, -.1026]),
    ({'ctx': TWO, 'learning_rate': .1, 'wd': .1, 'momentum': .5}, [2.2903, 1.2749, .1538, -.1026]),
    ({'ctx': TWO, 'kvstore': None, 'learning_rate': .1, 'wd': .1, 'momentum': .5}, [2.4325, 1.2749, .1765, -.2315])])
def test_weights_after_50_steps(options, expected):
    """As 1.9.1 has them: an optimizer that is named has its own learning rate. Devices without a
    store train each for itself, and only what is handed out is their mean."""
    x = np.random.RandomState(0).rand(20, 3).astype(np.float32)
    hidden = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=4, no_bias=True, name='f')
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=2, name='g'), name='softmax')
    first = {'f_weight': np.arange(12).reshape(4, 3) / 10, 'g_weight': np.arange(8).reshape(2, 4) / 8, 'g_bias': np.array([.5, -.5])}
    options = dict(options)
    store = options.pop('kvstore', 'local')
    model = mx.model.FeedForward(net, options.pop('ctx', None), 10, arg_params={n: nd.array(v) for n, v in first.items()}, **options)
    model.fit(mx.io.NDArrayIter(x, np.arange(20) % 2, 4), kvstore=store)
    f, g, bias = (model.arg_params[name].asnumpy() for name in ('f_weight', 'g_weight', 'g_bias'))
    assert [f.sum(), g.sum(), f[1, 2], bias[1]] == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize('store, names', [
    ('local', ['f_weight', 'f_bias']),
    (None, ['f_weight', 'f_weight', 'f_bias', 'f_bias'])])
def test_fit_leaves_what_the_optimizer_was_told_in_kwargs(store, names):
    """As 1.9.1 does. A store updates once for all devices; without one each device updates, and
    their indices alternate. A second fit, and a copy, take the arguments as they are."""
    model = mx.model.FeedForward(network(), TWO, 1, learning_rate=.1)
    assert sorted(model.kwargs) == ['learning_rate']
    for trained in (model, copy.deepcopy(model)):
        trained.fit(mx.io.NDArrayIter(X, Y, 2), kvstore=store)
        trained.fit(mx.io.NDArrayIter(X, Y, 2), kvstore=store)
        assert sorted(trained.kwargs) == ['learning_rate', 'param_idx2name', 'sym']
        assert trained.kwargs['sym'] is trained.symbol
        assert trained.kwargs['param_idx2name'] == dict(enumerate(names))


def test_kwargs_of_an_optimizer_that_was_made_before_and_of_buckets():
    model = mx.model.FeedForward(network(), num_epoch=1, optimizer=mx.optimizer.SGD(rescale_grad=.5))
    model.fit(mx.io.NDArrayIter(X, Y, 2))
    assert model.kwargs == {'sym': model.symbol, 'param_idx2name': {0: 'f_weight', 1: 'f_bias'}}

    class Bucketed(mx.io.NDArrayIter):
        default_bucket_key = 3

        def next(self):
            batch = super().next()
            batch.bucket_key = 3
            batch.provide_data, batch.provide_label = self.provide_data, self.provide_label
            return batch
    model = mx.model.FeedForward(lambda key: network(), num_epoch=1)
    model.fit(Bucketed(X, Y, 2))
    assert model.kwargs['sym'] is model.symbol and model.kwargs['param_idx2name'] == {0: 'f_weight', 1: 'f_bias'}
