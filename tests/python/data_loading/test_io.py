"""Data iterators: what is in each batch, padding, shuffling, files, threads."""
import gc
import gzip
import pickle
import signal
import struct
import sys
import threading
import time

import numpy as np
import pytest

import mxnet as mx
from mxnet import io, nd
from mxnet._ctypes import ndarray as ctypes_binding
from mxnet.io import _native

DATA = np.arange(10, dtype='float32').reshape(5, 2)
LABEL = np.arange(5)


def labels(batches):
    return [batch.label[0].asnumpy().astype(int).tolist() for batch in batches]


def pads(batches):
    return [batch.pad for batch in batches]


def check_rows(batches):
    for batch in batches:
        data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
        assert (data == np.stack([2 * label, 2 * label + 1], axis=1)).all()


@pytest.mark.parametrize('handle, expected, padding', [
    ('pad', [[0, 1], [2, 3], [4, 0]], [0, 0, 1]),
    ('discard', [[0, 1], [2, 3]], [0, 0])])
def test_ndarray_iter(handle, expected, padding):
    it = io.NDArrayIter(DATA, LABEL, batch_size=2, last_batch_handle=handle)
    for _ in range(2):
        batches = list(it)
        check_rows(batches)
        assert labels(batches) == expected and pads(batches) == padding
        it.reset()
    assert it.provide_data == [('data', (2, 2))] and it.provide_label == [('softmax_label', (2,))]
    assert it.provide_data[0].dtype == np.float32 and it.provide_data[0].layout == 'NCHW'


def test_roll_over():
    it = io.NDArrayIter(DATA, LABEL, batch_size=2, last_batch_handle='roll_over')
    passes = []
    for _ in range(3):
        batches = list(it)
        check_rows(batches)
        passes.append(labels(batches))
        it.reset()
    assert passes == [[[0, 1], [2, 3]], [[4, 0], [1, 2], [3, 4]], [[0, 1], [2, 3]]]
    it.hard_reset()
    assert labels(it) == [[0, 1], [2, 3]]


@pytest.mark.parametrize('handle', ['pad', 'discard', 'roll_over'])
def test_shuffling_keeps_rows_together_and_loses_none(handle):
    np.random.seed(0)
    it = io.NDArrayIter(np.arange(200, dtype='float32').reshape(100, 2), np.arange(100), 10, shuffle=True, last_batch_handle=handle)
    orders = []
    for _ in range(3):
        batches = list(it)
        check_rows(batches)
        orders.append(sum(labels(batches), []))
        assert sorted(orders[-1]) == list(range(100))
        it.reset()
    assert orders[0] != orders[1] != orders[2] and orders[0] != list(range(100))


def test_batches_bigger_than_the_data():
    batches = list(io.NDArrayIter(DATA, LABEL, 13))
    assert labels(batches) == [[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2]] and pads(batches) == [8]
    assert list(io.NDArrayIter(DATA, LABEL, 13, last_batch_handle='discard')) == []


def test_forms_of_data():
    several = io.NDArrayIter({'b': DATA, 'a': nd.array(DATA * 2)}, {'y': LABEL}, 3)
    assert [d.name for d in several.provide_data] == ['a', 'b'] and several.provide_label[0].name == 'y'
    batch = next(several)
    assert (batch.data[0].asnumpy() == 2 * batch.data[1].asnumpy()).all()
    assert [d.name for d in io.NDArrayIter([DATA, DATA], None, 2).provide_data] == ['_0_data', '_1_data']
    assert io.NDArrayIter(DATA, batch_size=2).provide_label == [] and next(io.NDArrayIter(DATA, batch_size=2)).label == []
    for dtype in ('float64', 'int32', 'uint8'):
        assert next(io.NDArrayIter(DATA.astype(dtype), LABEL, 2)).data[0].dtype == np.float32
        assert next(io.NDArrayIter(nd.array(DATA, dtype=dtype), LABEL, 2)).data[0].dtype == np.dtype(dtype)


@pytest.mark.parametrize('wrong, error', [
    (lambda: io.NDArrayIter(DATA, LABEL[:3]), ValueError), (lambda: io.NDArrayIter([]), ValueError),
    (lambda: io.NDArrayIter(DATA, [1, 2]), ValueError),
    (lambda: io.NDArrayIter(None), ValueError),
    (lambda: io.NDArrayIter(3), TypeError), (lambda: io.NDArrayIter(['a']), TypeError),
    (lambda: io.NDArrayIter(DATA, batch_size=0), ValueError),
    (lambda: io.NDArrayIter(DATA, batch_size=2).getdata(), ValueError),
    (lambda: io.DataBatch(3), TypeError), (lambda: io.DataBatch([], 3), TypeError)])
def test_wrong_arguments(wrong, error):
    with pytest.raises(error):
        wrong()


def test_parts_of_next():
    it = io.NDArrayIter(DATA, LABEL, 2)
    assert it.iter_next() and it.getpad() == 0 and it.getindex() is None
    assert it.getdata()[0].asnumpy().tolist() == DATA[:2].tolist() and it.getlabel()[0].asnumpy().tolist() == [0, 1]
    it.next(), it.next()
    with pytest.raises(StopIteration):
        it.next()


def test_descriptions():
    desc = io.DataDesc('x', (2, 3), 'float16', 'TNC')
    assert desc == ('x', (2, 3)) and (desc.dtype, desc.layout) == ('float16', 'TNC')
    assert str(desc) == 'DataDesc[x,(2, 3),float16,TNC]'
    again = pickle.loads(pickle.dumps(desc))
    assert (again, again.dtype, again.layout) == (desc, 'float16', 'TNC')
    assert [io.DataDesc.get_batch_axis(layout) for layout in ('NCHW', 'TNC', None, 'HW')] == [0, 1, 0, -1]
    assert io.DataDesc.get_list([('a', (1,))], [('a', np.int32)])[0].dtype == np.int32
    assert io.DataDesc.get_list([('a', (1,))], None)[0].dtype == np.float32
    assert str(io.DataBatch([nd.ones((2, 3))], [nd.ones((2,))])) == 'DataBatch: data shapes: [(2, 3)] label shapes: [(2,)]'


def test_resize_iter():
    it = io.ResizeIter(io.NDArrayIter(DATA, LABEL, 2), 5)
    assert (it.provide_data, it.batch_size) == ([('data', (2, 2))], 2)
    for _ in range(2):
        batches = list(it)
        assert labels(batches) == [[0, 1], [2, 3], [4, 0], [0, 1], [2, 3]] and pads(batches) == [0, 0, 1, 0, 0]
        assert list(it) == []
        it.reset()
    it = io.ResizeIter(io.NDArrayIter(DATA, LABEL, 2), 2, reset_internal=False)
    first = labels(it)
    it.reset()
    assert (first, labels(it)) == ([[0, 1], [2, 3]], [[4, 0], [0, 1]])


def test_prefetching_iter():
    it = io.PrefetchingIter([io.NDArrayIter(DATA, LABEL, 2), io.NDArrayIter(DATA * 2, LABEL, 2)],
                            rename_data=[{'data': 'd1'}, {'data': 'd2'}], rename_label=[{'softmax_label': 'l1'}, {'softmax_label': 'l2'}])
    assert [d.name for d in it.provide_data + it.provide_label] == ['d1', 'd2', 'l1', 'l2']
    for _ in range(3):
        batches = list(it)
        assert labels(batches) == [[0, 1], [2, 3], [4, 0]] and pads(batches) == [0, 0, 1]
        assert all((b.data[1].asnumpy() == 2 * b.data[0].asnumpy()).all() for b in batches)
        with pytest.raises(StopIteration):
            it.next()
        it.reset()
    next(it)
    it.reset()                                  # in the middle of a pass
    assert labels(it) == [[0, 1], [2, 3], [4, 0]]


class Failing(io.NDArrayIter):
    failures = 1

    def next(self):
        if self.cursor == 0 and self.failures:
            self.failures -= 1
            raise RuntimeError('disk on fire')
        return super().next()


def test_prefetching_iter_raises_what_the_iterator_raises():
    it = io.PrefetchingIter(Failing(DATA, LABEL, 2))
    assert next(it).pad == 0
    with pytest.raises(RuntimeError, match='disk on fire'):
        next(it)
    with pytest.raises(StopIteration):
        next(it)
    it.reset()
    assert labels(it) == [[0, 1], [2, 3], [4, 0]]
    with pytest.raises(ValueError, match='lengths'):
        list(io.PrefetchingIter([io.NDArrayIter(DATA, LABEL, 2), io.NDArrayIter(DATA[:4], LABEL[:4], 2)]))


def test_prefetching_threads_end():
    def count(expected):
        deadline = time.time() + 5
        while True:
            gc.collect()
            found = sum(thread.name == 'PrefetchingIter' for thread in threading.enumerate())
            if found == expected or time.time() > deadline:
                return found
            time.sleep(0.01)

    assert count(0) == 0
    it = io.PrefetchingIter([io.NDArrayIter(DATA, LABEL, 2) for _ in range(3)])
    assert count(3) == 3
    del it
    assert count(0) == 0


@pytest.fixture
def csv(tmp_path):
    data, label = tmp_path / 'd.csv', tmp_path / 'l.csv'
    data.write_text('1,2,3,4\n5,6,7,8\n9,10,11,12\n')
    label.write_text('0\n1\n2\n')
    return {'data_csv': str(data), 'label_csv': str(label)}


def test_csv_iter(csv):
    it = io.CSVIter(data_shape=(2, 2), batch_size=2, **csv)
    assert it.provide_data == [('data', (2, 2, 2))] and it.provide_label == [('softmax_label', (2,))]
    first = list(it)
    assert first[0].data[0].asnumpy().tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    assert labels(first) == [[0, 1], [2, 0]] and pads(first) == [0, 1]
    assert [b.index.tolist() for b in first] == [[0, 1], [2, 0]]
    it.reset()
    assert labels(it) == [[1, 2]]               # the first row was used to fill the last batch
    it.reset()
    assert labels(it) == [[0, 1], [2, 0]]


def test_csv_iter_without_rounding(csv):
    it = io.CSVIter(data_shape=(4,), batch_size=2, round_batch=False, **csv)
    for _ in range(2):
        batches = list(it)
        assert labels(batches) == [[0, 1], [2, 1]] and pads(batches) == [0, 1]
        it.reset()
    del csv['label_csv']
    batches = list(io.CSVIter(data_shape=(4,), batch_size=3, dtype='int64', **csv))
    assert labels(batches) == [[0, 0, 0]] and batches[0].data[0].dtype == np.int64
    assert batches[0].data[0].asnumpy()[2].tolist() == [9, 10, 11, 12]
    assert pads(io.CSVIter(data_shape=(4,), batch_size=7, **csv)) == [4]


def test_csv_errors(csv, tmp_path):
    with pytest.raises(OSError):
        io.CSVIter(data_csv=str(tmp_path / 'none'), data_shape=(4,), batch_size=1)
    with pytest.raises(ValueError, match='d.csv, line 1: 4 numbers; accepted: 3'):
        io.CSVIter(data_shape=(3,), batch_size=2, **csv)
    with pytest.raises(ValueError, match='dtype'):
        io.CSVIter(data_shape=(4,), dtype='float64', batch_size=1, **csv)
    for size in (0, -1):
        with pytest.raises(ValueError, match='batch_size'):
            io.CSVIter(data_shape=(4,), batch_size=size, **csv)
    (tmp_path / 'l.csv').write_text('1\n')
    with pytest.raises(ValueError, match='different numbers'):
        list(io.CSVIter(data_shape=(4,), batch_size=2, **csv))
    (tmp_path / 'd.csv').write_text('1,2\n3,x\n')
    with pytest.raises(ValueError, match='[Cc]ould not convert'):
        next(io.CSVIter(data_csv=csv['data_csv'], data_shape=(2,), batch_size=2))
    (tmp_path / 'd.csv').write_text('')
    with pytest.raises(ValueError, match='there is no batch'):
        io.CSVIter(data_csv=csv['data_csv'], data_shape=(2,), batch_size=2)


def test_dummy_iter():
    dummy = mx.test_utils.DummyIter(io.NDArrayIter(DATA, LABEL, 2))
    assert labels([next(dummy) for _ in range(4)]) == [[0, 1]] * 4


@pytest.fixture
def mnist(tmp_path):
    images = np.random.RandomState(0).randint(0, 256, (25, 28, 28)).astype('uint8')
    images[:, 0, 0] = np.arange(25)
    digits = np.arange(25) % 10
    (tmp_path / 'images').write_bytes(struct.pack('>4I', 0x803, 25, 28, 28) + images.tobytes())
    with gzip.open(tmp_path / 'labels', 'wb') as out:
        out.write(struct.pack('>2I', 0x801, 25) + digits.astype('uint8').tobytes())
    return {'image': str(tmp_path / 'images'), 'label': str(tmp_path / 'labels'), 'silent': True}, images


def test_mnist_iter(mnist):
    files, images = mnist
    it = io.MNISTIter(batch_size=10, shuffle=False, **files)
    assert it.provide_data == [('data', (10, 1, 28, 28))] and it.provide_label == [('softmax_label', (10,))]
    for _ in range(2):
        batches = list(it)
        assert labels(batches) == [list(range(10))] * 2 and pads(batches) == [0, 0]
        np.testing.assert_array_equal(batches[1].data[0].asnumpy()[:, 0], images[10:20] / np.float32(256))
        it.reset()
    flat = io.MNISTIter(batch_size=4, shuffle=False, flat=True, num_parts=2, part_index=1, dtype='float64', **files)
    batch = next(flat)
    assert batch.data[0].shape == (4, 784) and batch.data[0].dtype == np.float64 and batch.index.tolist() == [12, 13, 14, 15]
    assert len(list(flat)) == 2
    mixed = io.MNISTIter(batch_size=5, seed=3, **files)
    order = [int(i) for b in mixed for i in b.index]
    assert sorted(order) == list(range(25)) != order
    mixed.reset()
    for b in mixed:
        assert (b.data[0].asnumpy()[:, 0, 0, 0] * 256).round().tolist() == b.index.tolist()


def test_mnist_errors(mnist, tmp_path):
    files, _ = mnist
    with pytest.raises(OSError):
        io.MNISTIter(**{**files, 'image': str(tmp_path / 'none')})
    with pytest.raises(ValueError, match='0x803'):
        io.MNISTIter(**{**files, 'image': files['label']})
    (tmp_path / 'short').write_bytes(struct.pack('>4I', 0x803, 1 << 30, 1 << 30, 28) + b'abc')
    with pytest.raises(ValueError, match='3 bytes'):
        io.MNISTIter(**{**files, 'image': str(tmp_path / 'short')})
    with pytest.raises(ValueError, match='part_index'):
        io.MNISTIter(num_parts=2, part_index=2, **files)


@pytest.mark.parametrize("last_batch_handle", ["pad", "discard", "roll_over"])
def test_writing_into_a_batch_leaves_the_data_alone(last_batch_handle):
    data = mx.nd.arange(6)
    batches = mx.io.NDArrayIter(data, data.copy(), 4, last_batch_handle=last_batch_handle)
    passes = []
    for _ in range(2):
        batches.hard_reset()
        passes.append([])
        for batch in batches:
            passes[-1].append(batch.data[0].asnumpy().tolist() + batch.label[0].asnumpy().tolist())
            batch.data[0][:] = -1
            batch.label[0] -= 100
    assert passes[0] == passes[1] and data.asnumpy().tolist() == [0, 1, 2, 3, 4, 5]


def interrupt_at_the_call(number):
    """Python's SIGINT at the call of a Python function of that number, in this thread."""
    left = [number]

    def trace(frame, event, arg):
        if event == 'call':
            left[0] -= 1
            if left[0] < 0:
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
    sys.settrace(trace)


def interrupted(number, call):
    """Whether Ctrl-C ended the call."""
    interrupt_at_the_call(number)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


@pytest.mark.parametrize('what', ['next', 'reset'])
def test_prefetching_goes_on_after_ctrl_c_anywhere(what):
    """No batch is lost on the way, doubled or paired with that of another place; nothing waits."""
    for number in range(1000):
        it = io.PrefetchingIter([io.NDArrayIter(DATA, LABEL, 2), io.NDArrayIter(DATA * 2, LABEL, 2)],
                                [{'data': 'd1'}, {'data': 'd2'}], [{'softmax_label': 'l1'}, {'softmax_label': 'l2'}])
        first = next(it)
        ended = interrupted(number, getattr(it, what))
        if what == 'reset':
            it.reset()
        rest = list(it)
        assert all((b.data[1].asnumpy() == 2 * b.data[0].asnumpy()).all() for b in rest)
        seen = labels(rest if what == 'reset' else [first, *rest])
        assert seen in ([[0, 1], [2, 3], [4, 0]], *([[0, 1], [4, 0]] for _ in range(what == 'next'))), (number, seen)
        it.reset()
        assert labels(it) == [[0, 1], [2, 3], [4, 0]]
        if not ended:
            break
    assert 1 < number < 999


def test_a_prefetching_constructor_that_ctrl_c_ended_leaves_no_thread():
    for number in range(1000):
        if not interrupted(number, lambda: io.PrefetchingIter([io.NDArrayIter(DATA, LABEL, 2), io.NDArrayIter(DATA, LABEL, 2)],
                                                              [{'data': 'd1'}, {'data': 'd2'}])):
            break
    assert 1 < number < 999
    deadline = time.time() + 5
    while any(thread.name == 'PrefetchingIter' for thread in threading.enumerate()) and time.time() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert not any(thread.name == 'PrefetchingIter' for thread in threading.enumerate())


def test_objects_whose_constructor_ended_early_are_dropped_silently():
    heard = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda event: heard.append(event.exc_value)
    try:
        for cls in (_native._Epoch, _native.NativeIterator, ctypes_binding.CachedOp, mx.recordio.MXRecordIO, mx.profiler.Task,
                    mx.executor.Executor, mx.kvstore.KVStore, mx.sym.Symbol):
            cls.__new__(cls)
            gc.collect()
    finally:
        sys.unraisablehook = hook
    assert heard == []


def test_batches_of_row_sparse_arrays_are_dense():
    x = np.array([[0, 1], [0, 0], [2, 3]], 'float32')
    batches = mx.io.NDArrayIter(mx.nd.array(x).tostype('row_sparse'), batch_size=2)
    got = [batch.data[0] for batch in batches]
    assert [b.stype for b in got] == ['default', 'default']
    np.testing.assert_array_equal(np.concatenate([b.asnumpy() for b in got]), x[[0, 1, 2, 0]])
