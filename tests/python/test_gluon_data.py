"""Datasets, samplers and the DataLoader."""
import gzip
import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import data as D
from mxnet.gluon.contrib.data import IntervalSampler
from mxnet.gluon.data import batchify, vision
from mxnet.gluon.data._workers import WorkerDied

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


# -- loader ----------------------------------------------------------------------------------------
MODES = [dict(), dict(num_workers=2), dict(num_workers=2, thread_pool=True), dict(num_workers=1, prefetch=0)]


@pytest.mark.parametrize('mode', MODES, ids=['here', 'processes', 'threads', 'no prefetch'])
def test_loader_batches(mode):
    loader = D.DataLoader(numbers(), 2, **mode)
    for _ in range(2):
        batches = list(loader)
        assert len(loader) == len(batches) == 3
        assert [b[1].asnumpy().tolist() for b in batches] == [[0, 1], [2, 3], [4]]
        assert batches[0][0].dtype == np.float32 and batches[0][1].dtype == np.int64
        np.testing.assert_array_equal(np.concatenate([b[0].asnumpy() for b in batches]), np.arange(10).reshape(5, 2))


def test_batches_of_processes_are_in_shared_memory():
    loader = D.DataLoader(numbers(), 2, num_workers=1)
    batches = list(loader)
    assert all(x.context.device_type == 'cpu_shared' for b in batches for x in b)
    del loader
    assert batches[1][0].asnumpy().tolist() == [[4, 5], [6, 7]]    # outlives its worker
    assert (batches[0][0] + 1).asnumpy().tolist() == [[1, 2], [3, 4]]


def own_segments():
    """Shared memory that this process or a child of it made; its name holds the maker's number.
    Other programs use /dev/shm too."""
    def parent(pid):
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
                return int(f.read().rpartition(')')[2].split()[1])
        except OSError:
            return None    # has ended; its segments may be ours
    found = set()
    for name in os.listdir('/dev/shm'):
        maker = name.split('-')[1] if name.startswith('mxnet-') and name.count('-') == 2 else ''
        if maker.isdigit() and (int(maker) == os.getpid() or parent(maker) in (os.getpid(), None)):
            found.add(name)
    return found


def test_shared_memory_is_given_back():
    before = own_segments()
    loader = D.DataLoader(D.SimpleDataset([np.zeros(5000, 'float32')] * 12), 2, num_workers=2)
    for _ in range(3):
        for i, _ in enumerate(loader):
            if i == 1:
                break    # leaves batches under way
    loader.close()
    del loader
    deadline = time.monotonic() + 10
    while own_segments() - before and time.monotonic() < deadline:
        nd.waitall()
        time.sleep(0.1)
    assert not own_segments() - before


def test_loader_shuffles_and_samples():
    loader = D.DataLoader(numbers(20), 5, shuffle=True)
    a, b = ([x for batch in loader for x in batch[1].asnumpy().tolist()] for _ in range(2))
    assert sorted(a) == sorted(b) == list(range(20)) and a != b
    loader = D.DataLoader(numbers(), 2, sampler=D.SequentialSampler(4, 1), last_batch='discard')
    assert [x[1].asnumpy().tolist() for x in loader] == [[1, 2], [3, 4]]
    loader = D.DataLoader(numbers(), batch_sampler=[[4], [0, 1, 2]])
    assert [x[1].asnumpy().tolist() for x in loader] == [[4], [0, 1, 2]]


def test_order_is_the_same_with_workers():
    orders = []
    for workers in (0, 2):
        np.random.seed(3)
        loader = D.DataLoader(numbers(20), 4, shuffle=True, num_workers=workers)
        orders.append([x for b in loader for x in b[1].asnumpy().tolist()])
    assert orders[0] == orders[1]


def test_contradicting_arguments():
    d = numbers()
    for wrong in (dict(), dict(batch_size=2, shuffle=True, sampler=D.SequentialSampler(3)), dict(batch_size=2, batch_sampler=[[1]]),
                  dict(shuffle=True, batch_sampler=[[1]])):
        with pytest.raises(ValueError):
            D.DataLoader(d, **wrong)
    with pytest.raises(AssertionError, match='timeout'):
        D.DataLoader(d, 2, timeout=0)


def fail(x, y):
    if y == 3:
        raise KeyError('boom')
    return x, y


class Unpicklable(Exception):
    def __init__(self, a, b):
        super().__init__(a)


def fail_unpicklable(x, y):
    raise Unpicklable('first', 'second')


@pytest.mark.parametrize('mode', MODES[:3], ids=['here', 'processes', 'threads'])
def test_exceptions_arrive(mode):
    loader = D.DataLoader(numbers().transform(fail), 2, **mode)
    got = []
    with pytest.raises(KeyError, match='boom') as caught:
        for batch in loader:
            got.append(batch)
    assert len(got) == 1
    if mode.get('num_workers') and not mode.get('thread_pool'):
        assert 'in fail' in str(caught.value.__cause__)    # the worker's traceback
    with pytest.raises(KeyError):
        list(loader)    # and the loader can be used again


def test_exception_that_cannot_be_pickled():
    with pytest.raises(RuntimeError, match='Unpicklable: first'):
        list(D.DataLoader(numbers().transform(fail_unpicklable), 2, num_workers=1))


@pytest.mark.parametrize('threads', [False, True])
def test_timeout(threads):
    context = multiprocessing.get_context('fork')
    go_on, done = context.Event(), context.Event()

    def slow(x, y):
        go_on.wait(60)
        done.set()
        return x, y
    with pytest.raises(multiprocessing.TimeoutError, match='timeout'):
        list(D.DataLoader(numbers().transform(slow), 1, num_workers=1, timeout=0.3, thread_pool=threads))
    assert not done.is_set()    # nobody waited for the worker
    go_on.set()


def test_worker_that_dies_is_reported_at_once():
    def die(x, y):
        os.kill(os.getpid(), signal.SIGKILL)
    with pytest.raises(WorkerDied, match='exit code -9'):    # what waits for its batch for a minute raises a TimeoutError
        list(D.DataLoader(numbers().transform(die), 2, num_workers=2, timeout=60))


def test_leaving_early_and_starting_again():
    loader = D.DataLoader(numbers(40), 2, num_workers=2)
    for _ in range(3):
        for batch in loader:
            assert batch[1].asnumpy().tolist() == [0, 1]
            break
    assert len(list(loader)) == 20
    first, second = iter(loader), iter(loader)
    assert next(first)[1].asnumpy().tolist() == next(second)[1].asnumpy().tolist() == [0, 1]


def test_workers_end_with_the_loader():
    loader = D.DataLoader(numbers(), 2, num_workers=2)
    list(loader)
    processes = list(loader._workers._processes.values())
    assert all(p.is_alive() for p in processes)
    threads = threading.active_count()
    loader.close()
    assert not any(p.is_alive() for p in processes) and threading.active_count() < threads


def test_workers_end_before_the_interpreter():
    """A loader that lives until the end, as in a cycle: its __del__ would find the lock of a thread
    that is stopped already."""
    program = '''
import atexit
kept = []
atexit.register(lambda: print(kept[0]._workers._closed))    # runs behind the handlers of what is imported now
from mxnet.gluon import data
loader = data.DataLoader(data.SimpleDataset([1, 2, 3]), 1, num_workers=2)
next(iter(loader))
loader.itself = loader
kept.append(loader)
'''
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == 'True\n', done.stderr


def test_auto_reload_prepares_the_next_epoch():
    loader = D.DataLoader(numbers(), 2, num_workers=1, auto_reload=True)
    assert loader._prefetch_iter is not None
    for _ in range(2):
        assert [b[1].asnumpy().tolist() for b in loader] == [[0, 1], [2, 3], [4]]
        assert loader._prefetch_iter is not None
    loader.clean()
    assert loader._prefetch_iter is None


def test_big_batches_and_other_objects():
    big = D.SimpleDataset([np.full((3, 200, 200), i, 'float32') for i in range(6)])
    for i, b in enumerate(D.DataLoader(big, 2, num_workers=2)):
        assert b.shape == (2, 3, 200, 200) and b[1].asnumpy().max() == 2 * i + 1
    texts = D.DataLoader(D.SimpleDataset(['x' * 200000] * 4), 1, num_workers=1, batchify_fn=batchify.AsList())
    assert [len(b[0]) for b in texts] == [200000] * 4


def test_workers_compute_with_ndarrays():
    """On the CPU, whatever the loop's device is."""
    def work(x, y):
        return (nd.array(x) * 2 + 1), y
    nd.ones((3,)).wait_to_read()    # the parent's engine runs before the fork
    loader = D.DataLoader(numbers().transform(work), 2, num_workers=2)
    np.testing.assert_array_equal(np.concatenate([b[0].asnumpy() for b in loader]), np.arange(10).reshape(5, 2) * 2 + 1)


def test_workers_draw_different_random_numbers():
    def draw(x, y):
        time.sleep(0.01)
        return np.random.rand(), y
    values = [v for b in D.DataLoader(numbers(40).transform(draw), 1, num_workers=2) for v in b[0].asnumpy()]
    assert len(set(values)) == 40


@pytest.mark.parametrize('method', ['spawn', 'forkserver'])
def test_workers_start_as_the_program_says(tmp_path, method):
    (tmp_path / 'program.py').write_text("""
import multiprocessing, os, sys
import mxnet as mx, numpy as np

class Data(mx.gluon.data.Dataset):
    def __init__(self):
        self.values = mx.nd.arange(8)
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return self.values[i] * 2, os.getppid(), mx.env.value('MXNET_CPU_WORKER_NTHREADS')

if __name__ == '__main__':
    multiprocessing.set_start_method(sys.argv[1])
    loader = mx.gluon.data.DataLoader(Data(), batch_size=4, num_workers=2)
    for epoch in range(2):
        for values, parents, threads in loader:
            print(values.asnumpy().ravel().tolist(), threads.asnumpy().tolist())
    print((parents.asscalar() if parents.size == 1 else parents[0].asscalar()) == os.getpid(), 'OMP_NUM_THREADS' in os.environ)
    try:
        mx.gluon.data.DataLoader([1, 2], batch_size=1, num_workers=1, batchify_fn=lambda x: x)
    except Exception as error:
        print('cannot be pickled' if 'pickle' in str(error) else error)
""")
    env = {k: v for k, v in os.environ.items() if k != 'OMP_NUM_THREADS'}
    done = subprocess.run([sys.executable, str(tmp_path / 'program.py'), method], capture_output=True, text=True, timeout=120,
                          env={**env, 'MXNET_MP_WORKER_NTHREADS': '3'})
    epoch = ['[0.0, 2.0, 4.0, 6.0] [3, 3, 3, 3]', '[8.0, 10.0, 12.0, 14.0] [3, 3, 3, 3]']
    assert done.stdout.splitlines() == 2 * epoch + [f'{method == "spawn"} False', 'cannot be pickled'], done.stderr


@pytest.mark.parametrize('name, value', [('MXNET_MP_WORKER_NTHREADS', '3'), ('MXNET_MP_OPENCV_NUM_THREADS', '2')])
def test_worker_settings(name, value):
    def look(_):
        return {'OMP_NUM_THREADS': mx.env.value('OMP_NUM_THREADS'),
                'opencv': os.environ['OPENCV_FOR_THREADS_NUM'], name: mx.env.value(name)}
    before = mx.env.value(name)
    try:
        mx.util.set_env(name, value)
        seen = next(iter(D.DataLoader(D.SimpleDataset([0]).transform(look), 1, num_workers=1, batchify_fn=batchify.AsList())))[0]
        assert seen['OMP_NUM_THREADS'] == 1 and str(seen[name]) == value
        assert seen['opencv'] == ('2' if 'OPENCV' in name else str(max(1, mx.env.value('MXNET_MP_OPENCV_NUM_THREADS'))))
    finally:
        mx.util.set_env(name, before)


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
    (gzip.open if compress else open)(path, 'wb').write(content)


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


INTERRUPTED = '''
import sys, time
import mxnet as mx
from mxnet import gluon, nd
data = gluon.data.ArrayDataset(nd.ones((64, 4)), nd.ones((64,)))
print('ready', flush=True)
try:
    end = time.time() + 20
    while time.time() < end:
        loader = gluon.data.DataLoader(data, 8, num_workers=2, thread_pool={threads})
        for _ in range(2):
            for x, y in loader:
                x.sum()
            for x, y in loader:
                break
except KeyboardInterrupt:
    sys.exit(2)
'''


def interrupt_loops(repetitions, threads):
    """Exit codes of loops over loaders, half of them with their workers, that get SIGINT after a
    random time; 2 where it was seen."""
    random, codes = np.random.RandomState(repetitions), []
    for i in range(repetitions):
        loop = subprocess.Popen([sys.executable, '-c', INTERRUPTED.format(threads=threads)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)
        loop.stdout.readline()
        time.sleep(.05 + .6 * random.rand())
        (os.killpg if i % 2 else os.kill)(loop.pid, signal.SIGINT)
        loop.communicate(timeout=60)
        codes.append(loop.returncode)
    return codes


@pytest.mark.parametrize('threads', [False, True])
def test_interrupt_is_not_lost(threads):
    assert interrupt_loops(4, threads) == [2] * 4


EARLY = '''
import os, signal, sys
from mxnet import gluon

class Finder:
    def find_spec(self, name, *_):
        if name == 'mxnet.gluon.data._workers':
            os.kill(os.getpid(), signal.SIGINT)
            print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, flush=True)

sys.meta_path.insert(0, Finder())
try:
    gluon.data.DataLoader([1, 2], 1, num_workers=1, thread_pool={threads})
except KeyboardInterrupt:
    print(hasattr(sys.modules.get('mxnet.gluon.data._workers'), 'ThreadWorkers'))
    sys.exit(2)
'''


@pytest.mark.parametrize('threads', [False, True])
def test_interrupt_waits_for_imports(threads):
    """Imports of Python lose it at times."""
    done = subprocess.run([sys.executable, '-c', EARLY.format(threads=threads)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()) == (2, ['False', 'True']), done.stderr


@pytest.mark.nightly
@pytest.mark.parametrize('threads', [False, True])
def test_interrupt_is_not_lost_in_100_loops(threads):
    assert interrupt_loops(100, threads) == [2] * 100


EPOCHS = '''
import os, resource, sys
import numpy as np
from mxnet import nd
from mxnet.gluon import data
epochs, workers = int(sys.argv[1]), int(sys.argv[2])

def resident():
    return int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize()

def children():
    task = f'/proc/self/task/{os.getpid()}/children'
    return open(task).read().split()

def files():
    return len(os.listdir('/proc/self/fd'))

dataset = data.ArrayDataset(np.random.uniform(size=(256, 3000)).astype('float32'), list(range(256)))
before = files()
loader = data.DataLoader(dataset, 8, shuffle=True, num_workers=workers)
sizes = []
for epoch in range(epochs):
    assert sum(int(labels.sum().asscalar()) for _, labels in loader) == 255 * 128
    if epoch % 7 == 0:
        next(iter(loader))                      # and an epoch that nobody finishes
    sizes.append(resident())
nd.waitall()
pids = [str(os.getpid()), *children()]
assert len(pids) == workers + 1, pids
loader.close()
del loader
nd.waitall()
settled = sizes[epochs // 2]
assert max(sizes[-5:]) < settled + (8 << 20), (settled, sizes[-5:])
assert not children() and files() <= before + 1, (children(), files(), before)
print(*pids)
'''


@pytest.mark.parametrize('epochs, workers', [(6, 2), pytest.param(200, 8, marks=pytest.mark.nightly)])
def test_epochs_leave_nothing_behind(epochs, workers):
    done = subprocess.run([sys.executable, '-c', EPOCHS, str(epochs), str(workers)], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    pids = set(done.stdout.split())
    assert len(pids) == workers + 1
    assert not [name for name in os.listdir('/dev/shm') if name.startswith('mxnet-') and name.split('-')[1] in pids]


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
