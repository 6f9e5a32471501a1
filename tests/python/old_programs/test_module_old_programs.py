"""What programs written for MXNet 1.9.1 do with modules, and what it answers there."""
from collections import namedtuple

import numpy as np
import pytest

import mxnet as mx

RANDOM = np.random.RandomState(0)
X, Y = RANDOM.rand(20, 5).astype('float32'), RANDOM.randint(0, 3, 20).astype('float32')


def mlp():
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=4, name='fc1')
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type='relu', name='relu1'), num_hidden=3, name='fc2')
    return mx.sym.SoftmaxOutput(net, name='softmax')


def bound(batch=4, **options):
    module = mx.mod.Module(mlp(), context=options.pop('context', None))
    module.bind([('data', (batch, 5))], [('softmax_label', (batch,))], **options)
    module.init_params(mx.init.Xavier())
    return module


# ---- buckets
def unnamed(key):
    """A network whose layers have automatic names."""
    data, label = mx.sym.var('data'), mx.sym.var('softmax_label')
    net = mx.sym.reshape(mx.sym.Embedding(data, input_dim=10, output_dim=4), shape=(-1, 4))
    net = mx.sym.FullyConnected(net, num_hidden=3)
    return mx.sym.SoftmaxOutput(net, mx.sym.reshape(label, shape=(-1,)), name='softmax'), ('data',), ('softmax_label',)


def bucket(key):
    return mx.io.DataBatch([mx.nd.ones((2, key))], [mx.nd.ones((2, key))], bucket_key=key, provide_data=[('data', (2, key))],
                           provide_label=[('softmax_label', (2, key))])


NAMES = ['embedding0_weight', 'fullyconnected0_bias', 'fullyconnected0_weight']


def test_automatic_names_begin_anew_in_each_bucket():
    module = mx.mod.BucketingModule(unnamed, default_bucket_key=5)
    module.bind([('data', (2, 5))], [('softmax_label', (2, 5))])
    module.init_params(mx.init.One())
    module.init_optimizer()
    for key in (5, 3, 4, 5):
        module.forward(bucket(key), is_train=True)
        module.backward()
        module.update()
        assert sorted(module.get_params()[0]) == NAMES
        assert module.symbol.list_arguments() == ['data', 'embedding0_weight',
                                                  'fullyconnected0_weight', 'fullyconnected0_bias',
                                                  'softmax_label']
    np.testing.assert_allclose(module.get_params()[0]['fullyconnected0_bias'].asnumpy(), [-0.0506, 0.1013, -0.0506], atol=1e-4)


def test_buckets_do_not_take_the_names_around_them():
    with mx.name.Prefix('around_'):
        module = mx.mod.BucketingModule(unnamed, default_bucket_key=5)
        module.bind([('data', (2, 5))], [('softmax_label', (2, 5))])
        module.init_params(mx.init.One())
        module.forward(bucket(3))
        assert sorted(module.get_params()[0]) == NAMES
        assert mx.sym.relu(mx.sym.var('x')).name == 'around_relu0'


# ---- batches
Batch = namedtuple('Batch', ['data'])


class Bare:
    def __init__(self, **values):
        self.__dict__.update(values)


@pytest.mark.parametrize('size', [4, 7, 2])
@pytest.mark.parametrize('make', [lambda n: Batch([mx.nd.ones((n, 5))]), lambda n: Bare(data=[mx.nd.ones((n, 5))]),
                                  lambda n: Bare(data=[mx.nd.ones((n, 5))], label=None),
                                  lambda n: Bare(data=[mx.nd.ones((n, 5))],
                                                 label=[mx.nd.zeros(n)])])
def test_anything_with_data_is_a_batch(make, size):
    module = bound()
    module.forward(make(size), is_train=False)
    assert module.get_outputs()[0].shape == (size, 3)
    module.forward(make(size), is_train=True)
    module.backward()
    assert module.get_outputs()[0].shape == (size, 3)


def test_a_batch_for_each_device():
    module = bound(context=[mx.cpu(0), mx.cpu(1)])
    whole = mx.io.DataBatch([mx.nd.array(X[:4])], [mx.nd.array(Y[:4])])
    module.forward(whole, is_train=False)
    expected = module.get_outputs()[0].asnumpy()
    parts = [mx.io.DataBatch([mx.nd.array(X[i:i + 2])], [mx.nd.array(Y[i:i + 2])]) for i in (0, 2)]
    module.forward(parts)
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), expected, rtol=1e-6)
    module.backward()


# ---- callbacks, errors
def test_callbacks_find_the_variables_of_fit():
    seen = []
    module = mx.mod.Module(mlp())
    module.fit(mx.io.NDArrayIter(X, Y, 4), num_epoch=1, batch_end_callback=lambda p: seen.append(p.locals))
    assert {'self', 'train_data', 'data_batch', 'next_data_batch', 'data_iter', 'end_of_batch',
            'nbatch', 'epoch', 'eval_metric', 'num_epoch', 'begin_epoch',
            'optimizer', 'optimizer_params', 'kvstore', 'tic', 'monitor', 'eval_data', 'validation_metric', 'initializer'} <= set(seen[0])
    assert seen[0]['self'] is module and [s['nbatch'] for s in seen] == [0, 1, 2, 3, 4]
    assert [s['end_of_batch'] for s in seen] == [False] * 4 + [True]
    assert seen[0]['data_batch'].data[0].shape == (4, 5) and seen[0]['next_data_batch'].data[0].shape == (4, 5)


def monitored(stat_func):
    monitor, module = mx.mon.Monitor(1, stat_func=stat_func), bound()
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(mx.io.DataBatch([mx.nd.ones((4, 5))]))
    monitor.toc()


@pytest.mark.parametrize('wrong', [
    lambda: mx.mod.Module(mlp()).init_params(), lambda: mx.mod.Module(mlp()).forward(mx.io.DataBatch([mx.nd.ones((4, 5))])),
    lambda: mx.mod.Module(mlp()).get_params(), lambda: mx.mod.Module(mlp()).output_shapes,
    lambda: bound().update(), lambda: bound().get_input_grads(),
    lambda: bound().init_optimizer(optimizer=5),
    lambda: mx.mod.Module(mlp()).fit(mx.io.NDArrayIter(X, Y, 4)),
    lambda: mx.mod.BucketingModule(unnamed),
    lambda: mx.mod.Module(mlp()).bind([('data', (4, 5))], for_training=False, inputs_need_grad=True),
    lambda: bound(for_training=False).backward(), lambda: mx.mod.SequentialModule().add(mx.mod.Module(mlp()), foo=True),
    lambda: mx.mod.SequentialModule().bind([('data', (2, 3))]), lambda: mx.sym.FullyConnected(mx.nd.ones((2, 2)), num_hidden=2),
    lambda: monitored(lambda array: 3), lambda: monitored(lambda array: [array, 3]),
    lambda: mx.metric.Perplexity(0).update([mx.nd.ones(2)], [mx.nd.ones((2, 3))] * 2)])
def test_what_was_asserted_can_be_caught_so(wrong):
    with pytest.raises(AssertionError):
        wrong()


def test_wrong_shapes_and_parameters_can_be_caught_as_before():
    module = mx.mod.Module(mlp())
    module.bind([('data', (4, 5))], [('softmax_label', (4,))])
    with pytest.raises(mx.MXNetError, match='fc1_weight'):
        module.init_params(arg_params={'fc1_weight': mx.nd.ones((3, 3))}, allow_missing=True)
    with pytest.raises(mx.MXNetError, match='foo'):
        mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, foo=1)


# ---- loaded modules, metrics of the program's own, FeedForward
def test_a_loaded_module_has_its_parameters_before_it_is_bound(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = bound()
    module.save_checkpoint('net', 1)
    again = mx.mod.Module.load('net', 1)
    again.get_params()[0]['fc1_bias'][:] = 3
    again.save_checkpoint('again', 2)
    again.bind([('data', (4, 5))], [('softmax_label', (4,))])
    values = again.get_params()[0]
    assert (values['fc1_bias'].asnumpy() == 3).all()
    np.testing.assert_array_equal(values['fc1_weight'].asnumpy(), module.get_params()[0]['fc1_weight'].asnumpy())
    assert (mx.nd.load('again-0002.params')['arg:fc1_bias'].asnumpy() == 3).all()


class MultiAccuracy(mx.metric.EvalMetric):
    """As in the example of several tasks: totals are lists, and names and values come from methods
    of its own."""

    def __init__(self):
        super().__init__('multi-accuracy')

    def reset(self):
        self.num_inst, self.sum_metric = [0, 0], [0.0, 0.0]

    def update(self, labels, preds):
        for i, (label, pred) in enumerate(zip(labels, preds)):
            self.sum_metric[i] += float((pred.asnumpy().argmax(axis=1) == label.asnumpy()).sum())
            self.num_inst[i] += len(pred)

    def get(self):
        return zip(*((f'{self.name}_{i}', self.sum_metric[i] / self.num_inst[i] if self.num_inst[i] else float('nan'))
                     for i in range(2)))

    def get_name_value(self):
        return list(zip(*self.get()))


def test_a_metric_with_names_and_values_of_its_own(caplog):
    hidden = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=4, name='fc')
    heads = [mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=3, name=f'o{i}'), name=f'softmax{i}') for i in (1, 2)]
    labels = {'softmax1_label': Y, 'softmax2_label': Y}
    module = mx.mod.Module(mx.sym.Group(heads), label_names=list(labels))
    batches = mx.io.NDArrayIter({'data': X}, labels, 5)
    with caplog.at_level('INFO'):
        module.fit(batches, eval_data=batches, eval_metric=MultiAccuracy(), num_epoch=1)
    lines = [record.getMessage().split('=')[0] for record in caplog.records if 'Time' not in record.getMessage()]
    assert lines == [f'Epoch[0] {part}-multi-accuracy_{i}' for part in ('Train', 'Validation') for i in (0, 1)]


@pytest.mark.parametrize('size,batches,lines', [
    (None, [(0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 2), (1, 3), (1, 4)], [
        'Start training with [cpu(0)]', 'Epoch[0] Resetting Data Iterator', 'Epoch[0] Time cost', 'Epoch[0] Validation-accuracy',
        'Epoch[1] Resetting Data Iterator', 'Epoch[1] Time cost', 'Epoch[1] Validation-accuracy']),
    (6, [(0, n) for n in range(1, 7)] + [(1, n) for n in range(1, 7)], [
        'Start training with [cpu(0)]', 'Epoch[0] Resetting Data Iterator', 'Epoch[0] Time cost', 'Epoch[0] Validation-accuracy',
        'Epoch[1] Resetting Data Iterator', 'Epoch[1] Time cost', 'Epoch[1] Validation-accuracy'])])
def test_feed_forward_logs_and_counts_as_it_did(size, batches, lines, caplog):
    seen = []
    with pytest.warns(DeprecationWarning):
        model = mx.model.FeedForward(mlp(), num_epoch=2, epoch_size=size)
    data = mx.io.NDArrayIter(X, Y, 5)
    data.next()                                 # fit begins at the first batch all the same
    with caplog.at_level('INFO'):
        model.fit(data, eval_data=mx.io.NDArrayIter(X, Y, 5), batch_end_callback=lambda p: seen.append((p.epoch, p.nbatch)))
    assert seen == batches
    assert [record.getMessage().split('=')[0] for record in caplog.records] == lines


def test_inputs_of_devices_come_with_their_slices():
    group = bound(context=[mx.cpu(0), mx.cpu(1)])._exec_group
    assert [[(piece, array.shape) for piece, array in on_devices] for on_devices in group.data_arrays + group.label_arrays] == \
        [[(slice(0, 2), (2, 5)), (slice(2, 4), (2, 5))], [(slice(0, 2), (2,)), (slice(2, 4), (2,))]]


def test_fit_says_that_data_were_used_before():
    """1.9.1 raises StopIteration, too, without a word."""
    data = mx.io.NDArrayIter(np.ones((20, 4), "float32"), np.zeros(20), 5)
    for _ in data:
        pass
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    module = mx.mod.Module(net)
    with pytest.raises(StopIteration, match=r"\[Module.fit\] epoch 0: the training data give no batch.*reset\(\)"):
        module.fit(data, num_epoch=2)
    data.reset()
    module.fit(data, num_epoch=2)


def test_parameters_without_an_initializer_need_values():
    module = mx.mod.Module(mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=2, name='fc'), label_names=None)
    module.bind([('data', (1, 3))])
    with pytest.raises(TypeError, match='neither an initializer nor values'):
        module.init_params(initializer=None)
    assert not module.params_initialized
    module.init_params(initializer=None, arg_params={'fc_weight': mx.nd.ones((2, 3))}, allow_missing=True)
    assert module.get_params()[0]['fc_weight'].asnumpy().tolist() == [[1, 1, 1]] * 2


def test_an_output_may_also_be_a_state():
    """The last output of a recurrent cell: two outputs have one name then."""
    cell = mx.rnn.GRUCell(4, prefix='g_')
    output, states = cell(mx.sym.var('x'), cell.begin_state(func=mx.sym.var))
    module = mx.mod.Module(mx.sym.Group([output] + states), data_names=['x', 'g_begin_state_0'], label_names=None)
    module.bind([('x', (2, 3)), ('g_begin_state_0', (2, 4))], for_training=False)
    module.init_params(mx.init.One())
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 3)), mx.nd.ones((2, 4))]))
    first, second = module.get_outputs()
    assert module.output_names == ['g_t0_out_output'] * 2
    assert first.shape == (2, 4) and first.asnumpy().tolist() == second.asnumpy().tolist()
