"""Iterators and datasets that several threads use at a time: each batch goes to one of them, and
what one does leaves the epochs of others alone."""
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon.data import ArrayDataset, BatchSampler, DataLoader, RandomSampler, RecordFileDataset
from mxnet.gluon.data._internal import MXSampler, NDArrayDataset, StackBatchify

pytestmark = pytest.mark.sanitized

COUNT = 600


def in_threads(work, count=4):
    """The results of `work(number of the thread)`; raises what it raised."""
    results, errors, begin = [None] * count, [], threading.Barrier(count)

    def run(i):
        try:
            begin.wait()
            results[i] = work(i)
        except BaseException as error:      # pylint: disable=broad-except
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / 'rows.csv'
    path.write_text(''.join(f'{i}\n' for i in range(COUNT)))
    return {'data_csv': str(path), 'data_shape': (1,), 'batch_size': 2}


def taken(batches):
    return sorted(sum((batch.asnumpy().ravel().tolist() for batch in batches), []))


@pytest.mark.parametrize('kind', ['one thread ahead', 'none ahead', 'prefetching', 'loader'])
def test_each_batch_goes_to_one_thread(csv, kind):
    if kind == 'loader':
        it = mx.io.ThreadedDataLoader(dataset=NDArrayDataset(arr=mx.nd.arange(COUNT)), batchify_fn=StackBatchify(), num_workers=2,
                                      sampler=MXSampler('RandomSampler', length=COUNT, batch_size=2))
    else:
        it = mx.io.CSVIter(prefetch_buffer=0 if kind == 'none ahead' else 2, **csv)
        if kind == 'prefetching':
            it = mx.io.PrefetchingIter([it, mx.io.CSVIter(**csv)], [{'data': 'a'}, {'data': 'b'}])
    for _ in range(3):
        lists = in_threads(lambda _: list(it))
        batches = sum(lists, [])
        assert taken(batch.data[0] for batch in batches) == list(range(COUNT))
        for batch in batches:
            if kind == 'prefetching':
                assert (batch.data[0].asnumpy() == batch.data[1].asnumpy()).all()
            else:
                assert batch.index.tolist() == batch.data[0].asnumpy().ravel().tolist()
        it.reset()


@pytest.mark.parametrize('prefetch', [0, 3])
def test_reset_while_other_threads_read(csv, prefetch):
    it = mx.io.CSVIter(prefetch_buffer=prefetch, **csv)

    def work(i):
        for _ in range(150):
            if i == 0:
                it.reset()
            else:
                batch = next(it, None)
                assert batch is None or batch.data[0].asnumpy()[1] == batch.data[0].asnumpy()[0] + 1
    in_threads(work)
    it.reset()
    it.reset()
    assert taken(batch.data[0] for batch in it) == list(range(COUNT))


def test_calls_of_c_in_several_threads(csv):
    """Also the calls that look at what another one found."""
    it = mx.io.CSVIter(**csv)._native
    handle, call = it.handle, mx.base._LIB
    import ctypes

    def work(i):
        found, pad, size = ctypes.c_int(), ctypes.c_int(), ctypes.c_uint64()
        array, index = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_uint64)()
        for _ in range(200):
            if i == 0:
                call.MXDataIterBeforeFirst(handle)
            call.MXDataIterNext(handle, ctypes.byref(found))
            if call.MXDataIterGetData(handle, ctypes.byref(array)) == 0:
                assert mx.nd.NDArray(mx.base.NDArrayHandle(array.value)).shape == (2, 1)
            call.MXDataIterGetPadNum(handle, ctypes.byref(pad))
            call.MXDataIterGetIndex(handle, ctypes.byref(index), ctypes.byref(size))
    in_threads(work)


def test_handles_that_were_freed(csv):
    import ctypes
    it = mx.io.CSVIter(**csv)._native
    handle, it.handle = it.handle, None
    found = ctypes.c_int()
    assert mx.base._LIB.MXDataIterNext(handle, ctypes.byref(found)) == 0
    for _ in range(2):
        assert mx.base._LIB.MXDataIterFree(handle) == 0
    for handle in (handle, ctypes.c_void_p(8)):
        with pytest.raises(mx.MXNetError, match='is no handle of this kind'):
            mx.base.check_call(mx.base._LIB.MXDataIterNext(handle, ctypes.byref(found)))


def test_iterators_that_go_while_they_are_read(csv):
    def work(_):
        for _ in range(20):
            it = mx.io.CSVIter(prefetch_buffer=4, **csv)
            reader = threading.Thread(target=lambda it: [next(it) for _ in range(3)], args=(it,))
            reader.start()
            del it
            reader.join()
    in_threads(work)


# ---- samplers and loaders


def numbers(batches):
    return sum(batches, [])


@pytest.mark.parametrize('name', ['SequentialSampler', 'RandomSampler'])
def test_epochs_of_a_sampler_have_their_own_state(name):
    sampler = MXSampler(name, length=7, batch_size=2)
    pairs = [(a, b) for a in sampler for b in sampler]
    assert len(pairs) == 16 and sorted(numbers(b for _, b in pairs[:4])) == list(range(7))
    assert sorted(numbers(a for a, _ in pairs[::4])) == list(range(7))
    for epoch in in_threads(lambda _: [numbers(sampler) for _ in range(20)]):
        assert all(sorted(order) == list(range(7)) for order in epoch)
    one = iter(sampler)
    assert sorted(numbers(sum(in_threads(lambda _: list(one)), []))) == list(range(7)) and list(one) == []


def test_numbers_left_over_go_to_the_next_epoch():
    sampler = MXSampler('SequentialSampler', length=5, batch_size=2, last_batch='rollover')
    assert list(sampler) == [[0, 1], [2, 3]]
    last = iter(sampler)
    assert next(last) == [4, 0] and list(last) == [[1, 2], [3, 4]]
    first = iter(sampler)                       # `last` is over, though it is still there
    assert next(first) == [0, 1] and next(iter(sampler)) == [0, 1] and next(first) == [2, 3]


def test_a_sampler_is_read_while_a_loader_has_it():
    data = ArrayDataset(mx.nd.arange(60))
    sampler = MXSampler('RandomSampler', length=60, batch_size=4)
    loader = DataLoader(data, batch_sampler=sampler, num_workers=2, try_nopython=True)
    native = mx.io.ThreadedDataLoader(dataset=NDArrayDataset(arr=mx.nd.arange(60)), sampler=sampler, batchify_fn=StackBatchify())

    def work(i):
        for _ in range(10):
            if i == 0:
                assert taken(loader) == list(range(60))
            elif i == 1:
                native.reset()
                assert taken(batch.data[0] for batch in native) == list(range(60))
            else:
                assert sorted(numbers(sampler)) == list(range(60))
    in_threads(work)


def test_a_handle_of_a_sampler_outlives_its_epochs():
    """What another thread reads meanwhile may take the iterator's place."""
    sampler = MXSampler('SequentialSampler', length=6, batch_size=2)
    handle, first = sampler.handle, iter(sampler)
    second = iter(sampler)
    assert next(first) == next(second) == [0, 1]
    del second, first       # one of the two iterators is kept for the next epoch
    mx.base.check_call(mx.base._LIB.MXDataIterBeforeFirst(handle))
    loader = mx.io.ThreadedDataLoader(dataset=NDArrayDataset(arr=mx.nd.arange(6)), sampler=sampler, batchify_fn=StackBatchify())
    assert taken(batch.data[0] for batch in loader) == list(range(6))


@pytest.mark.parametrize('options', [{'num_workers': 2, 'try_nopython': True}, {}, {'num_workers': 3, 'thread_pool': True},
                                     pytest.param({'num_workers': 2}, marks=pytest.mark.several_threads)], ids=str)
def test_threads_share_the_epoch_of_a_loader(options):
    loader = DataLoader(ArrayDataset(mx.nd.arange(COUNT)), batch_sampler=BatchSampler(RandomSampler(COUNT), 5, 'keep'), **options)
    for _ in range(2):
        epoch = iter(loader)
        assert taken(sum(in_threads(lambda _, epoch=epoch: list(epoch)), [])) == list(range(COUNT))


# ---- files of records


@pytest.fixture
def rec(tmp_path):
    base = str(tmp_path / 'a')
    with mx.recordio.MXIndexedRecordIO(base + '.idx', base + '.rec', 'w') as out:
        in_threads(lambda t: [out.write_idx(i, f'{i:05d}'.encode() * (i % 5 + 1)) for i in range(t, COUNT, 4)])
    return base


def check(i, record):
    assert record == f'{i:05d}'.encode() * (i % 5 + 1)


def test_records_by_index_in_several_threads(rec):
    reader = mx.recordio.MXIndexedRecordIO(rec + '.idx', rec + '.rec', 'r')
    assert sorted(reader.keys) == list(range(COUNT))
    in_threads(lambda _: [check(i, reader.read_idx(i)) for i in np.random.RandomState(0).permutation(COUNT)])
    data = RecordFileDataset(rec + '.rec')
    in_threads(lambda _: [check(reader.keys[i], data[i]) for i in range(COUNT)])
    batches = list(DataLoader(data.transform(lambda record: int(record[:5])), 8, num_workers=4, thread_pool=True))
    assert taken(batches) == list(range(COUNT))


@pytest.mark.parametrize('skip', [False, True])
def test_records_in_turn_in_several_threads(rec, skip):
    reader = mx.recordio.MXRecordIO(rec + '.rec', 'r', skip_malformed=skip)
    found = sum(in_threads(lambda _: list(iter(reader.read, None))), [])
    assert sorted(int(record[:5]) for record in found) == list(range(COUNT))


FORK = """
import os, sys, threading
import mxnet as mx
reader = mx.recordio.MXIndexedRecordIO(sys.argv[1] + '.idx', sys.argv[1] + '.rec', 'r')
sampler = mx.gluon.data._internal.MXSampler('SequentialSampler', length=100, batch_size=1)
threads = [threading.Thread(target=lambda: [(reader.read_idx(5), list(sampler)) for _ in range(30)]) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:      # whoever held a lock is not here
        assert reader.read_idx(7).startswith(b'00007') and list(sampler) == list(range(100))
        os._exit(5)
    assert os.waitpid(child, 0)[1] == 5 << 8
for thread in threads:
    thread.join()
"""


@pytest.mark.several_threads
def test_forks_while_threads_read(rec):
    ran = subprocess.run([sys.executable, '-c', FORK, rec], check=False, timeout=300, env={**os.environ, 'OMP_NUM_THREADS': '1'})
    assert ran.returncode == 0


FORK_IN_READ = """
import io, os, sys, threading
import mxnet as mx

class Slow(io.FileIO):
    def readinto(self, buffer):
        begun.set()
        go_on.wait()
        return super().readinto(buffer)

begun, go_on = threading.Event(), threading.Event()
reader = mx.recordio.MXIndexedRecordIO(sys.argv[1] + '.idx', sys.argv[1] + '.rec', 'r')
first = reader.read_idx(7)
reader._file = io.BufferedReader(Slow(sys.argv[1] + '.rec'))
thread = threading.Thread(target=reader.read_idx, args=(5,))
thread.start()
begun.wait()        # it holds the lock of the buffer from here on
child = os.fork()
if child == 0:
    if sys.argv[2] == 'read':
        assert reader.read_idx(7) == first
    reader.close()
    os._exit(5)
assert os.waitpid(child, 0)[1] == 5 << 8
go_on.set()
thread.join()
"""


@pytest.mark.several_threads
@pytest.mark.parametrize('then', ['read', 'close'])
def test_fork_while_a_thread_waits_for_the_file(rec, then):
    ran = subprocess.run([sys.executable, '-c', FORK_IN_READ, rec, then], check=False, timeout=60,
                         env={**os.environ, 'OMP_NUM_THREADS': '1'})
    assert ran.returncode == 0
