"""Datasets, samplers and functions that make batches."""
import gzip
import os
import struct

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import data as D
from mxnet.gluon.contrib.data import IntervalSampler
from mxnet.gluon.data import batchify, dataloader, vision

pytestmark = pytest.mark.on_gpu


def numbers(n=5):
    return D.ArrayDataset(np.arange(2 * n, dtype='float32').reshape(n, 2), list(range(n)))


# -- datasets --------------------------------------------------------------------------------------
def test_array_dataset():
    d = numbers()
    assert len(d) == 5 and d[1][0].tolist() == [2, 3] and d[1][1] == 1
    assert D.ArrayDataset(nd.arange(4))[1] == 1.0 and D.SimpleDataset([7, 8])[1] == 8
    with pytest.raises(AssertionError, match='equal lengths'):
        D.ArrayDataset([1, 2], [1])
    with pytest.raises(AssertionError):
        D.ArrayDataset()


def test_transforms_are_lazy_unless_asked():
    calls = []

    def double(x, y):
        calls.append(y)
        return x * 2, y
    lazy = numbers().transform(double)
    assert not calls and lazy[1][0].tolist() == [4, 6] and calls == [1]
    eager = numbers().transform(double, lazy=False)
    assert len(calls) == 6 and eager[1][0].tolist() == [4, 6] and len(calls) == 6
    first = numbers().transform_first(lambda x: x + 1)
    assert first[2][0].tolist() == [5, 6] and first[2][1] == 2
    assert D.SimpleDataset([1, 2]).transform_first(lambda x: -x)[1] == -2


def test_views():
    d = numbers()
    assert [x[1] for x in (d.filter(lambda e: e[1] % 2)[i] for i in range(2))] == [1, 3]
    assert [[e[1] for e in (s[i] for i in range(len(s)))] for s in (d.shard(2, 0), d.shard(2, 1))] == [[0, 1, 2], [3, 4]]
    assert len(d.take(2)) == 2 and len(d.take(99)) == len(d.take(None)) == 5
    assert d.sample(D.SequentialSampler(2, 3))[0][1] == 3
    for wrong, error in ((lambda: d.shard(2, 2), AssertionError), (lambda: d.take(-1), ValueError), (lambda: d.sample([0]), TypeError)):
        with pytest.raises(error):
            wrong()


def test_record_file_dataset(tmp_path):
    recordio = pytest.importorskip('mxnet.recordio')
    record = recordio.MXIndexedRecordIO(str(tmp_path / 'r.idx'), str(tmp_path / 'r.rec'), 'w')
    for i in range(6):
        record.write_idx(i, b'payload %d' % i)
    record.close()
    d = D.RecordFileDataset(str(tmp_path / 'r.rec'))
    assert len(d) == 6 and d[4] == b'payload 4'
    lengths = [n for b in D.DataLoader(d, 2, num_workers=2, batchify_fn=lambda s: [int(x[-1:]) for x in s]) for n in b]
    assert lengths == list(range(6)) and d[1] == b'payload 1'


# -- samplers --------------------------------------------------------------------------------------
def test_samplers():
    assert list(D.SequentialSampler(3, 2)) == [2, 3, 4]
    shuffled = D.RandomSampler(50)
    a, b = list(shuffled), list(shuffled)
    assert sorted(a) == list(range(50)) and a != b and len(shuffled) == 50
    assert list(D.FilterSampler(lambda e: e[1] > 2, numbers())) == [3, 4]
    assert list(IntervalSampler(7, 3)) == [0, 3, 6, 1, 4, 2, 5] and len(IntervalSampler(7, 3)) == 7
    assert list(IntervalSampler(7, 3, rollover=False)) == [0, 3, 6] and len(IntervalSampler(7, 3, rollover=False)) == 3


def test_batch_sampler():
    keep = D.BatchSampler(D.SequentialSampler(5), 2)
    assert list(keep) == [[0, 1], [2, 3], [4]] and len(keep) == 3
    discard = D.BatchSampler(D.SequentialSampler(5), 2, 'discard')
    assert list(discard) == [[0, 1], [2, 3]] and len(discard) == 2
    roll = D.BatchSampler(D.SequentialSampler(5), 2, 'rollover')
    assert len(roll) == 2 and list(roll) == [[0, 1], [2, 3]] and len(roll) == 3 and list(roll) == [[4, 0], [1, 2], [3, 4]]
    with pytest.raises(ValueError, match='last_batch'):
        len(D.BatchSampler(D.SequentialSampler(5), 2, 'other'))
    for size in (0, -1):
        with pytest.raises(ValueError, match=f'batch_size={size} given; 1 or more'):
            len(D.DataLoader(nd.zeros((5,)), batch_size=size))


def test_batchify():
    assert batchify.Stack()([nd.ones((2,)), nd.zeros((2,))]).asnumpy().tolist() == [[1, 1], [0, 0]]
    a, b = batchify.Stack()([(1, 2.5), (3, 4.5)])
    assert a.dtype == np.int64 and b.asnumpy().tolist() == [2.5, 4.5]
    parts = batchify.Append()([np.ones(2), np.ones(3)])
    assert [p.shape for p in parts] == [(1, 2), (1, 3)]
    assert [p.shape for p in batchify.Append(expand=False)([np.ones(2), np.ones(3)])] == [(2,), (3,)]
    assert batchify.AsList()((1, 'x')) == [1, 'x']


# -- image datasets --------------------------------------------------------------------------------
def write_idx(path, array, compress=True):
    content = struct.pack('>BBBB', 0, 0, 8, array.ndim) + struct.pack(f'>{array.ndim}I', *array.shape) + array.tobytes()
    with (gzip.open if compress else open)(path, 'wb') as file:
        file.write(content)


@pytest.mark.parametrize('kind', ['MNIST', 'FashionMNIST'])
def test_mnist_from_local_files(tmp_path, kind):
    images = np.random.RandomState(0).randint(0, 256, (7, 28, 28)).astype('uint8')
    labels = np.arange(7, dtype='uint8')
    for part in ('train', 't10k'):
        write_idx(tmp_path / f'{part}-images-idx3-ubyte.gz', images if part == 'train' else images[:3])
        write_idx(tmp_path / f'{part}-labels-idx1-ubyte.gz', labels if part == 'train' else labels[:3], compress=part == 'train')
    with pytest.warns(UserWarning, match='published'):
        train = getattr(vision, kind)(root=str(tmp_path))
        test = getattr(vision, kind)(root=str(tmp_path), train=False, transform=lambda x, y: (x.astype('float32') / 255, int(y)))
    assert len(train) == 7 and len(test) == 3
    image, label = train[2]
    assert image.shape == (28, 28, 1) and image.dtype == np.uint8 and np.array_equal(image.asnumpy()[..., 0], images[2]) and label == 2
    assert np.allclose(test[1][0].asnumpy()[..., 0], images[1] / 255) and test[1][1] == 1
    (tmp_path / 'train-images-idx3-ubyte.gz').write_bytes(gzip.compress(struct.pack('>BBBBIII', 0, 0, 8, 3, 99, 28, 28)))
    with pytest.raises(ValueError, match='77616'):
        vision.MNIST(root=str(tmp_path))
    (tmp_path / 'train-images-idx3-ubyte.gz').write_bytes(b'nothing like it')
    with pytest.raises(ValueError, match='IDX'):
        vision.MNIST(root=str(tmp_path))


def test_cifar_from_local_files(tmp_path):
    rng = np.random.RandomState(0)
    ten = rng.randint(0, 256, (4, 3073)).astype('uint8')
    for i in range(1, 6):
        ten.tofile(tmp_path / f'data_batch_{i}.bin')
    ten[:2].tofile(tmp_path / 'test_batch.bin')
    d = vision.CIFAR10(root=str(tmp_path))
    assert len(d) == 20 and len(vision.CIFAR10(root=str(tmp_path), train=False)) == 2
    image, label = d[5]
    assert image.shape == (32, 32, 3) and label == ten[1, 0]
    assert np.array_equal(image.asnumpy(), ten[1, 1:].reshape(3, 32, 32).transpose(1, 2, 0))
    hundred = rng.randint(0, 100, (3, 3074)).astype('uint8')
    hundred.tofile(tmp_path / 'train.bin')
    assert vision.CIFAR100(root=str(tmp_path))[1][1] == hundred[1, 0]
    assert vision.CIFAR100(root=str(tmp_path), fine_label=True)[1][1] == hundred[1, 1]
    hundred.ravel()[:-1].tofile(tmp_path / 'train.bin')
    with pytest.raises(ValueError, match='multiple of 3074'):
        vision.CIFAR100(root=str(tmp_path))


def test_cifar_archive_is_fetched_from_the_repository(tmp_path, monkeypatch):
    import hashlib
    import tarfile
    repo = tmp_path / 'repo' / 'gluon' / 'dataset' / 'cifar10'
    repo.mkdir(parents=True)
    records = np.zeros((2, 3073), 'uint8')
    with tarfile.open(repo / 'cifar-10-binary.tar.gz', 'w:gz') as tar:
        for name, _ in vision.CIFAR10._files[True]:
            records.tofile(tmp_path / name)
            tar.add(tmp_path / name, 'cifar-10-batches-bin/' + name)
        tar.add(tmp_path / name, '../../escaped.bin')
    digest = hashlib.sha1((repo / 'cifar-10-binary.tar.gz').read_bytes()).hexdigest()
    monkeypatch.setattr(vision.CIFAR10, '_archive', ('cifar-10-binary.tar.gz', digest))
    monkeypatch.setattr(vision.datasets, '_get_repo_file_url', lambda space, name: (tmp_path / 'repo' / space / name).as_uri())
    root = tmp_path / 'a' / 'b' / 'kept'
    assert len(vision.CIFAR10(root=str(root))) == 10
    assert not list(tmp_path.rglob('escaped.bin'))


def test_home_and_repository_variables(tmp_path):
    before = {n: mx.env.value(n) for n in ('MXNET_HOME', 'MXNET_GLUON_REPO')}
    try:
        mx.util.set_env('MXNET_HOME', str(tmp_path / 'home'))
        mx.util.set_env('MXNET_GLUON_REPO', (tmp_path / 'repo').as_uri())
        assert gluon.utils._get_repo_file_url('gluon/dataset/mnist', 'x') == (tmp_path / 'repo').as_uri() + '/gluon/dataset/mnist/x'
        with pytest.raises(OSError):    # nothing in that repository
            vision.MNIST()
        assert os.path.isdir(tmp_path / 'home' / 'datasets' / 'mnist')
    finally:
        for name, value in before.items():
            mx.util.set_env(name, value)


def test_compose_and_cast():
    from mxnet.gluon.data.vision import transforms
    chain = transforms.Compose([transforms.Cast('float32'), gluon.nn.HybridLambda(lambda F, x: x / 2), gluon.nn.Lambda(lambda x: x + 1)])
    assert len(chain) == 2 and chain(nd.array([2, 4], dtype='uint8')).asnumpy().tolist() == [2, 3]
    maybe = transforms.RandomApply(lambda x: x + 1, p=0.5)
    assert {maybe(1) for _ in range(60)} == {1, 2}


def test_to_tensor_and_normalize():
    from mxnet.gluon.data.vision import transforms
    image = np.random.RandomState(0).randint(0, 256, (4, 5, 3)).astype('uint8')
    for batch in (image, image[None]):
        tensor = batch.swapaxes(-1, -3).swapaxes(-1, -2) / 255
        for compiled in (False, True):
            to_tensor, normalize = transforms.ToTensor(), transforms.Normalize((0.1, 0.2, 0.3), (1, 2, 4))
            if compiled:
                to_tensor.hybridize()
                normalize.hybridize()
            got = to_tensor(nd.array(batch, dtype='uint8'))
            np.testing.assert_allclose(got.asnumpy(), tensor, rtol=1e-5)
            expected = (tensor - np.array([0.1, 0.2, 0.3])[:, None, None]) / np.array([1, 2, 4])[:, None, None]
            np.testing.assert_allclose(normalize(got).asnumpy(), expected, rtol=1e-4, atol=1e-6)
    assert transforms.Normalize(0.5, 2)(nd.array([[[1.5]]])).asscalar() == 0.5
    with pytest.raises(AssertionError, match='deviations'):
        transforms.Normalize((1, 2), (1, 2, 3))


def test_batches_of_lists_of_numbers():
    """1.9.1 takes tuples apart, and lists not."""
    from mxnet.gluon.data.dataloader import default_batchify_fn, default_mp_batchify_fn
    for make in (default_batchify_fn, default_mp_batchify_fn):
        batch = make([[1, 2], [3, 4], [5, 6]])
        assert batch.dtype == np.int64 and batch.asnumpy().tolist() == [[1, 2], [3, 4], [5, 6]]
        assert make([[1., 2], [3, 4]]).dtype == np.float64
        assert make([[[1, 2], [3, 4]]] * 2).shape == (2, 2, 2)
        rows, numbers = make([([1, 2], 3)] * 3)
        assert rows.shape == (3, 2) and numbers.shape == (3,)
        assert [a.shape for a in make([(1, 2), (3, 4)])] == [(2,), (2,)]
        assert [a.shape for a in make([[nd.ones((2,)), 1]] * 3)] == [(3, 2), (3,)]
        with pytest.raises(ValueError, match='cannot be stacked'):
            make([[1, 2], [3]])


# ---- samples within samples


class Nested(D.Dataset):
    """Item i is of one of the kinds that programs make."""

    def __init__(self, kind, length=10):
        self.kind, self.length = kind, length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        return {'tuple': lambda: (nd.full((3,), i), (np.full((2,), i, 'float32'), i), [i, float(i)]),
                'list': lambda: [nd.full((2, 2), i), np.int64(i), [nd.full((1,), -i), i]],
                'dict': lambda: {'x': nd.full((3,), i), 'y': (i, {'z': np.float16(i)})},
                'list of dicts': lambda: [{'x': i}, {'x': -i}]}[self.kind]()


NESTED = {'tuple': [('float32', (4, 3)), [('float32', (4, 2)), ('int64', (4,))], ('float64', (4, 2))],
          'list': [('float32', (4, 2, 2)), ('int64', (4,)), [('float32', (4, 1)), ('int64', (4,))]],
          'dict': {'x': ('float32', (4, 3)), 'y': [('int64', (4,)), {'z': ('float16', (4,))}]},
          'list of dicts': [{'x': ('int64', (4,))}, {'x': ('int64', (4,))}]}


def parts(batch, of):
    if isinstance(batch, dict):
        return {key: parts(value, of) for key, value in batch.items()}
    return [parts(value, of) for value in batch] if isinstance(batch, (list, tuple)) else of(batch)


@pytest.mark.parametrize('options', [{}, {'num_workers': 2}, {'num_workers': 2, 'thread_pool': True}], ids=['0', 'processes', 'threads'])
@pytest.mark.parametrize('kind', NESTED)
def test_nested_samples(kind, options):
    plain = list(D.DataLoader(Nested(kind), 4, last_batch='discard'))
    assert [parts(batch, lambda a: (np.dtype(a.dtype).name, a.shape)) for batch in plain] == [NESTED[kind]] * 2
    values = [parts(batch, lambda a: a.asnumpy().tolist()) for batch in plain]
    for pinned in (False, True):
        batches = list(D.DataLoader(Nested(kind), 4, last_batch='discard', pin_memory=pinned, **options))
        assert [parts(batch, lambda a: a.asnumpy().tolist()) for batch in batches] == values
        if pinned:
            devices = [parts(batch, lambda a: a.context.device_type) for batch in batches]
            assert 'cpu_pinned' in str(devices) and "'cpu'" not in str(devices) and 'shared' not in str(devices)


class EndsItself(D.Dataset):
    """Raises StopIteration for one index, as a reader does that calls next()."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        return next(iter([] if index == 4 else [float(index)]))


def stops(samples):
    raise StopIteration


@pytest.mark.parametrize('options', [{}, {'num_workers': 2}, {'num_workers': 2, 'thread_pool': True}], ids=['0', 'processes', 'threads'])
def test_a_dataset_cannot_end_the_epoch(options):
    """StopIteration of a sample ended the epoch early, without an error."""
    seen = []
    with pytest.raises(RuntimeError, match='the dataset, for index 4, raised StopIteration'):
        for batch in D.DataLoader(EndsItself(), 2, **options):
            seen.append(batch.asnumpy().tolist())
    assert seen == [[0, 1], [2, 3]]
    with pytest.raises(RuntimeError, match=r'batchify_fn, for the samples \[0, 1\], raised StopIteration'):
        next(iter(D.DataLoader(numbers(), 2, batchify_fn=stops, **options)))


def test_a_pool_of_the_callers_cannot_end_the_epoch_either():
    from multiprocessing.pool import ThreadPool
    with ThreadPool(1) as pool:
        batches = dataloader._MultiWorkerIter(pool, dataloader.default_batchify_fn, [[0, 1], [4, 5]], dataset=EndsItself())
        assert next(batches).asnumpy().tolist() == [0, 1]
        with pytest.raises(RuntimeError, match='for index 4, raised StopIteration'):
            next(batches)


def test_datasets_within_datasets():
    """Views of views, and a dataset whose items are another one's."""
    x, y = np.arange(60, dtype='float32').reshape(20, 3), np.arange(20)
    base = D.ArrayDataset(x, y)
    even = base.filter(lambda item: item[1] % 2 == 0).transform_first(lambda row: row * 2).transform_first(lambda row: row + 1)
    view = D.ArrayDataset(D.SimpleDataset(even.shard(2, 1)), D.SimpleDataset(range(5))).sample(D.SequentialSampler(3)).take(2)
    want = [[[[x[i] * 2 + 1 for i in (10, 12)], [10, 12]], [0, 1]]]
    for options in ({}, {'num_workers': 2}, {'num_workers': 2, 'thread_pool': True}):
        got = [parts(batch, lambda a: a.asnumpy().tolist()) for batch in D.DataLoader(view, 2, **options)]
        assert got == parts(want, lambda a: a.tolist() if isinstance(a, np.ndarray) else a)


@pytest.mark.parametrize('samples, error, message', [
    (['a', 'b'], TypeError, 'samples of type str'), ([None, None], TypeError, 'samples of type NoneType'),
    ([{'a': 1}, {'b': 1}], ValueError, 'other keys'), ([{'a': 1}, 3], ValueError, 'other keys'),
    ([np.ones(2), np.ones(3)], ValueError, 'cannot be stacked')])
def test_samples_that_make_no_batch(samples, error, message):
    for options in ({}, {'num_workers': 1}):
        with pytest.raises(error, match=message):
            list(D.DataLoader(samples, 2, **options))
