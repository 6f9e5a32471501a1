"""Parts of 1.x that programs still use: executor_manager, MNIST helpers and iterator, 'teststore'
and stores of one's own, files that are missing."""
import gzip
import os
import struct

import numpy as np
import pytest

import mxnet as mx
from mxnet.executor_manager import DataParallelExecutorManager, _check_arguments, _split_input_slice

SIDE = 28


def write_images(path, count, compressed=False):
    with (gzip.open if compressed else open)(path, 'wb') as out:
        out.write(struct.pack('>4I', 2051, count, SIDE, SIDE) + (np.arange(count * SIDE * SIDE) % 251).astype(np.uint8).tobytes())


def write_labels(path, count, compressed=False):
    with (gzip.open if compressed else open)(path, 'wb') as out:
        out.write(struct.pack('>2I', 2049, count) + (np.arange(count) % 10).astype(np.uint8).tobytes())


# ---- executor_manager

@pytest.mark.parametrize('size, loads, ends', [
    (10, [1, 1, 1], [3, 6, 10]), (10, [1, 1, 2], [2, 4, 10]), (11, [1, 2, 3], [2, 6, 11]),
    (7, [3, 1], [5, 7]), (5, [1, 1], [2, 5]), (9, [1, 1, 1, 1], [2, 4, 6, 9]),
    (10, [.5, .2], [7, 10])])
def test_slices_are_those_of_1_9_1(size, loads, ends):
    assert [s.stop for s in _split_input_slice(size, loads)] == ends


def test_slices_that_are_empty():
    with pytest.raises(ValueError, match='Too many slices'):
        _split_input_slice(8, [1] * 5)
    x = mx.sym.Variable('x')
    with pytest.raises(ValueError, match='duplicated argument name "x"'):
        _check_arguments(x + mx.sym.Variable('x'))


def network(_=None):
    normal = mx.sym.BatchNorm(mx.sym.Variable('data'), name='bn')
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(normal, num_hidden=3, name='fc'), name='softmax')


def data(batch=10):
    rng = np.random.RandomState(0)
    x = rng.randn(60, 4).astype(np.float32)
    return mx.io.NDArrayIter(x, (x[:, 0] > 0).astype(np.float32) + (x[:, 1] > 0), batch)


def test_a_training_loop_with_the_manager():
    """The loop of FeedForward in 1.x, written by hand, on two devices; what 1.9.1 gets to is
    recorded."""
    rng = np.random.RandomState(1)
    train, net = data(), network()
    manager = DataParallelExecutorManager(net, [mx.cpu(0), mx.cpu(1)], train, work_load_list=[2, 3])
    assert manager.param_names == ['bn_gamma', 'bn_beta', 'fc_weight', 'fc_bias'] and [s.stop for s in manager.slices] == [4, 10]
    shapes = dict(zip(net.list_arguments(), net.infer_shape(data=(10, 4))[0]))
    params = {name: mx.nd.ones(shapes[name]) if name == 'bn_gamma'
              else mx.nd.array(rng.normal(0, .1, shapes[name])) for name in manager.param_names}
    states = {'bn_moving_mean': mx.nd.zeros((4,)), 'bn_moving_var': mx.nd.ones((4,))}
    manager.set_params(params, states)
    updaters = [mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=.5, rescale_grad=.1)) for _ in range(2)]
    metric = mx.metric.Accuracy()
    for _ in range(30):
        metric.reset()
        train.reset()
        for batch in train:
            manager.load_data_batch(batch)
            manager.forward(is_train=True)
            manager.backward()
            for index, (weights, grads) in enumerate(zip(manager.param_arrays, manager.grad_arrays)):
                total = grads[0] + grads[1].as_in_context(grads[0].context)
                for updater, weight in zip(updaters, weights):
                    updater(index, total.as_in_context(weight.context), weight)
            manager.update_metric(metric, batch.label)
    manager.copy_to(params, states)
    np.testing.assert_allclose(metric.get()[1], .56666667, 1e-6)
    for name, total in (('bn_beta', -.4137178), ('fc_weight', -.16534857), ('fc_bias', -.10080761),
                        ('bn_moving_mean', .19794454), ('bn_moving_var', 2.892703)):
        np.testing.assert_allclose({**params, **states}[name].asnumpy().sum(), total, 1e-4, 1e-5)
    for copies, name in zip(manager.param_arrays, manager.param_names):
        np.testing.assert_allclose(params[name].asnumpy(), copies[1].asnumpy(), 1e-5, 1e-6)
    assert abs(states['bn_moving_mean'].asnumpy()).sum() > 0 and len(manager.aux_arrays) == 2


def test_manager_with_buckets_and_monitor():
    class Bucketed(mx.io.NDArrayIter):
        default_bucket_key = 4

    batch = data().next()
    train = Bucketed(np.zeros((20, 4), np.float32), np.zeros(20, np.float32), 10)
    manager = DataParallelExecutorManager(network(), [mx.cpu()], train, sym_gen=network)
    manager.set_params({'fc_bias': mx.nd.array([1, 2, 3])}, {})
    for key in (4, 7):
        manager.load_data_batch(mx.io.DataBatch(batch.data, batch.label, bucket_key=key,
                                                provide_data=train.provide_data,
                                                provide_label=train.provide_label))
        manager.forward(is_train=True)
        manager.backward()
        assert manager.curr_execgrp.param_arrays[3][0].asnumpy().tolist() == [1, 2, 3]
    assert sorted(manager.execgrp_bucket) == [4, 7]
    manager.execgrp_bucket[7].param_arrays[3][0][:] = 5       # one array for all buckets
    assert manager.param_arrays[3][0].asnumpy().tolist() == [5, 5, 5]
    monitor = mx.monitor.Monitor(1, pattern='fc_output')
    manager.install_monitor(monitor)
    for key in (4, 7, 9):       # the last bucket is made after the monitor came
        manager.load_data_batch(mx.io.DataBatch(batch.data, batch.label, bucket_key=key,
                                                provide_data=train.provide_data,
                                                provide_label=train.provide_label))
        monitor.tic()
        manager.forward()
        assert [row[1] for row in monitor.toc()] == ['fc_output'], key
    plain = DataParallelExecutorManager(network(), [mx.cpu()], train)
    monitor = mx.monitor.Monitor(1, pattern='fc_output')
    plain.install_monitor(monitor)
    plain.load_data_batch(batch)
    monitor.tic()
    plain.forward()
    assert [row[1] for row in monitor.toc()] == ['fc_output']


# ---- MNIST

@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_mnist_iterator_takes_the_arguments_of_1_9_1(folder):
    write_images('i', 7)
    write_labels('l', 7)
    base = dict(image='i', label='l', batch_size=2, shuffle=False, silent=True)
    for kwargs, shape in (({'data_shape': (784,)}, (2, 1, 28, 28)),
                          ({'input_shape': (1, 28, 28)}, (2, 1, 28, 28)),
                          ({'flat': 'True'}, (2, 784)), ({'flat': 0, 'silent': 1}, (2, 1, 28, 28))):
        assert mx.io.MNISTIter(**{**base, **kwargs}).next().data[0].shape == shape
    second = list(mx.io.MNISTIter(**base, num_parts=2, part_index=1))       # 3 and 4 instances, not 3 and 3
    assert [b.label[0].asnumpy().tolist() for b in second] == [[3, 4], [5, 6]]
    with pytest.warns(UserWarning, match='arguments foo are ignored'):
        mx.io.MNISTIter(**base, foo=3)
    with pytest.raises(ValueError, match="flat expect boolean but value='maybe'"):
        mx.io.MNISTIter(**{**base, 'flat': 'maybe'})


def test_mnist_helpers_read_local_files(folder):
    for function in (mx.test_utils.get_mnist, mx.test_utils.get_mnist_ubyte,
                     lambda: mx.test_utils.get_mnist_iterator(2, (784,)),
                     mx.test_utils.get_cifar10):
        with pytest.raises(FileNotFoundError, match='train-images-idx3-ubyte.*put the files there|cifar') as found:
            function()
        assert isinstance(found.value, mx.MXNetError)
    os.mkdir('data')
    for name, count, compressed in (('train', 60, True), ('t10k', 20, False)):
        write_images(f'data/{name}-images-idx3-ubyte' + '.gz' * compressed, count, compressed)
        write_labels(f'{name}-labels-idx1-ubyte' + '.gz' * compressed, count, compressed)
    arrays = mx.test_utils.get_mnist()
    assert {k: (v.shape, v.dtype.name) for k, v in arrays.items()} == {
        'train_data': ((60, 1, 28, 28), 'float32'), 'train_label': ((60,), 'int8'),
        'test_data': ((20, 1, 28, 28), 'float32'), 'test_label': ((20,), 'int8')}
    assert arrays['train_data'].max() == np.float32(250) / 255
    train, val = mx.test_utils.get_mnist_iterator(10, (1, 28, 28), num_parts=2, part_index=1)
    assert train.provide_data[0].shape == (10, 1, 28, 28) and (len(list(train)), len(list(val))) == (3, 1)
    mx.test_utils.get_mnist_ubyte()
    assert sorted(n for n in os.listdir('data') if not n.endswith('.gz')) == sorted(
        f'{p}-{k}' for p in ('train', 't10k') for k in ('images-idx3-ubyte', 'labels-idx1-ubyte'))
    import pickle
    with gzip.open(mx.test_utils.get_mnist_pkl()) as file:
        (images, labels), valid, test = pickle.load(file)
    assert images.shape == (50, 784) and labels.shape == (50,) and valid[0].shape == (10, 784) and test[1].shape == (20,)


def test_archives(folder):
    import bz2
    import zipfile
    with zipfile.ZipFile('a.zip', 'w') as out:
        out.writestr('inside.txt', 'text')
    with bz2.BZ2File('b.bz2', 'w') as out:
        out.write(b'plain')
    mx.test_utils.get_zip_data('.', 'http://127.0.0.1:9/a.zip', 'a.zip')
    mx.test_utils.get_bz2_data('.', 'b', 'http://127.0.0.1:9/b.bz2', 'b.bz2')
    assert open('inside.txt').read() == 'text' and open('b').read() == 'plain'
    assert mx.test_utils.download((folder / 'b').as_uri(), 'c', 'sub') == os.path.join('sub', 'c') and open('sub/c').read() == 'plain'


def test_models_by_name(folder):
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc')
    arrays = {'fc_weight': mx.nd.ones((2, 3)), 'fc_bias': mx.nd.zeros((2,))}
    mx.model.save_checkpoint('given', 7, net, arrays, {})
    urls = {'symbol': (folder / 'given-symbol.json').as_uri(), 'params': (folder / 'given-0007.params').as_uri()}
    prefix, epoch = mx.test_utils.download_model('fc', 'models', {'fc': urls})
    assert (prefix, epoch) == (os.path.join('models', 'fc'), 0)
    symbol, args, _ = mx.model.load_checkpoint(prefix, epoch)
    assert symbol.list_arguments() == net.list_arguments() and args['fc_weight'].shape == (2, 3)
    assert mx.test_utils.download_model('unknown') == mx.test_utils.download_model('fc', 'models', {}) == (None, 0)
    with pytest.raises(AssertionError, match='params'):
        mx.test_utils.download_model('fc', 'models', {'fc': {'symbol': urls['symbol']}})


# ---- stores

def train_with(store, **kwargs):
    parameter = mx.gluon.Parameter('w', shape=(2,))
    parameter.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(1)])
    trainer = mx.gluon.Trainer([parameter], 'sgd', {'learning_rate': .1}, kvstore=store, **kwargs)
    for _ in range(2):
        with mx.autograd.record():
            losses = [(d * (i + 1)).sum() for i, d in enumerate(parameter.list_data())]
        mx.autograd.backward(losses)
        trainer.step(1)
    return [d.asnumpy().tolist() for d in parameter.list_data()], trainer


@pytest.fixture
def my_store():
    class MyStore(mx.kvstore.KVStoreBase):
        log = []

        def broadcast(self, key, value, out, priority=0):
            self.log.append(('broadcast', key))
            for target in out if isinstance(out, list) else [out]:
                value.copyto(target)

        def pushpull(self, key, value, out=None, priority=0):
            self.log.append(('pushpull', key, out))
            total = sum(v.as_in_context(mx.cpu()) for v in value)
            for target in value if out is None else out:
                total.copyto(target)

        @staticmethod
        def is_capable(capability):
            return False

        type, rank, num_workers = 'mystore', 0, 1

    mx.kvstore.KVStoreBase.register(MyStore)
    yield MyStore
    del mx.kvstore.KVStoreBase.kv_registry['mystore']


def test_teststore():
    store = mx.kv.create('teststore')
    assert (store.type, store.rank, store.num_workers, store.is_capable('optimizer')) == ('teststore', 0, 1, False)
    with pytest.raises(ValueError, match='Unknown capability'):
        store.is_capable('x')
    with pytest.raises(NotImplementedError):
        store.set_optimizer(mx.optimizer.SGD())
    values = [mx.nd.ones((2,)), mx.nd.ones((2,)) * 5]
    store.pushpull('k', values)
    out = mx.nd.zeros((2,))
    store.pushpull('k', values, out=out)
    assert [v.asnumpy().tolist() for v in values] == [[6, 6], [6, 6]] and out.asnumpy().tolist() == [12, 12]
    weights, trainer = train_with('teststore')
    np.testing.assert_allclose(weights, .4, 1e-6)
    assert type(trainer._kvstore).__name__ == 'TestStore' and trainer._update_on_kvstore is False
    with pytest.raises(ValueError, match='update_on_kvstore'):
        train_with('teststore', update_on_kvstore=True)


def test_a_store_of_ones_own(my_store):
    for store in ('mystore', my_store()):
        my_store.log.clear()
        np.testing.assert_allclose(train_with(store)[0], .4, 1e-6)
        assert my_store.log == [('broadcast', 0), ('pushpull', 0, None), ('pushpull', 0, None)]
    with pytest.warns(UserWarning, match='overriding existing'):
        mx.kvstore.KVStoreBase.register(my_store)


# ---- files that are missing

@pytest.mark.parametrize('opens', [
    lambda f: mx.nd.load(f), lambda f: mx.sym.load(f), lambda f: mx.recordio.MXRecordIO(f, 'r'),
    lambda f: mx.recordio.MXRecordIO(f + '/b', 'w'),
    lambda f: mx.recordio.MXIndexedRecordIO(f + '.idx', f, 'r'),
    lambda f: mx.model.load_checkpoint(f, 1), lambda f: mx.model.load_params(f, 1),
    lambda f: mx.mod.Module.load(f, 1),
    lambda f: mx.gluon.nn.Dense(1).load_parameters(f),
    lambda f: mx.gluon.SymbolBlock.imports(f, ['data']), lambda f: mx.gluon.ParameterDict().load(f),
    lambda f: mx.init.Load(f),
    lambda f: mx.io.MNISTIter(image=f), lambda f: mx.io.CSVIter(data_csv=f, data_shape=(2,),
                                                                batch_size=1),
    lambda f: mx.gluon.data.RecordFileDataset(f),
    lambda f: mx.nd.save(f + '/b', mx.nd.ones((1,)))])
def test_missing_files_are_both_errors(opens, tmp_path):
    path = str(tmp_path / 'none')
    for kind in (mx.MXNetError, OSError, FileNotFoundError):
        with pytest.raises(kind, match='No such file or directory'):
            opens(path)


@pytest.mark.parametrize("decorator", [mx.util.wrap_np_unary_func, mx.util.wrap_np_binary_func])
def test_options_of_ufuncs_are_refused_as_in_1_9_1(decorator):
    """The error for each value that 1.9.1 raises; None: it calls the function."""
    @decorator
    def function(x, y=None, out=None, **kwargs):
        return sorted(kwargs)

    answers = {"where": [(True, None), (1, None), (False, NotImplementedError), ([True], NotImplementedError)],
               "subok": [(True, None), (False, NotImplementedError), ("no", TypeError)],
               "casting": [("same_kind", None), ("no", NotImplementedError), ("bogus", TypeError)],
               "order": [("K", None), ("C", NotImplementedError), ("X", NotImplementedError), (1, TypeError)],
               "dtype": [(None, None), ("float16", NotImplementedError), (np.int32, NotImplementedError),
                         (float, TypeError), ("bool", TypeError), (np.dtype("float32"), TypeError)],
               "extra": [(1, TypeError)]}
    for option, values in answers.items():
        for value, error in values:
            if error is None:
                assert function(1, **{option: value}) == []
                continue
            with pytest.raises(error, match=rf"\[function\] {option}") as raised:
                function(1, **{option: value})
            assert raised.type is error, (option, value)
