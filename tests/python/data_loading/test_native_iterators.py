"""Iterators of the native library: what they are called with, and what comes out (CSV, LibSVM,
MNIST)."""
import copy
import gzip
import inspect
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

import mxnet as mx

from record_iterators import recorded

pytestmark = pytest.mark.sanitized

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data')
OURS = recorded()
OWN = {'scaled_decode', 'layout'}


def record_of(version):
    with open(os.path.join(DATA, f'iterators_{version}.json')) as f:
        return json.load(f)


@pytest.mark.parametrize('name', sorted(OURS['iterators']))
def test_parameters(name):
    """Those of 2.0 in its order, then our own; and all of 1.9.1 with its types, but for choices
    that 2.0 has added."""
    assert [p for p in OURS['iterators'][name] if p[0] not in OWN] == record_of('2_0')['iterators'][name]
    assert OURS['iterators'][name][-1][0] in OWN or not name.startswith('ImageRecord')
    old = record_of('1_9_1')['iterators'].get(name, [])
    assert [p for p in old if p not in OURS['iterators'][name] and p[0] != 'ctx'] == []


def test_functions_come_from_the_records():
    assert {'CSVIter', 'LibSVMIter', 'MNISTIter'} <= set(OURS['iterators'])
    for name, params in OURS['iterators'].items():
        function = getattr(mx.io, name)
        assert function is getattr(mx.io.io, name) and function.__name__ == name and name in mx.io.__all__
        parameters = inspect.signature(function).parameters
        assert list(parameters) == list(dict.fromkeys(p[0] for p in params)) + ['data_name', 'label_name']
        for parameter, kind in reversed(dict(reversed(params)).items()):     # the first of several with a name
            assert f'{parameter} : {kind}' in function.__doc__
            assert (parameters[parameter].default is inspect.Parameter.empty) == ('required' in kind)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(iterator):
    """For each batch: first column of the data, labels, numbers of the rows, and the padding."""
    return [(b.data[0].asnumpy().reshape(b.data[0].shape[0], -1)[:, 0].tolist(), b.label[0].asnumpy().tolist(), b.index.tolist(), b.pad)
            for b in iterator]


@pytest.fixture
def csv(here):
    (here / 'd.csv').write_text(''.join(f'{i},{i + 0.5},-1e1,+3\n' for i in range(7)))
    (here / 'l.csv').write_text(''.join(f'{10 * i}\n' for i in range(7)))
    return {'data_csv': 'd.csv', 'label_csv': 'l.csv', 'data_shape': (2, 2)}


# ---- what MNISTIter, CSVIter and LibSVMIter of 1.9.1 give:
# tests/python/data_loading/record_batches.py


def test_recorded_batches(here):
    import record_batches
    with open(os.path.join(DATA, 'iterator_batches_1_9_1.json')) as f:
        expected = json.load(f)
    assert record_batches.recorded() == expected


# ---- epochs


@pytest.mark.parametrize('prefetch', [0, 1, 4, 100])
def test_reset_in_the_middle_begins_at_the_first_row(csv, prefetch):
    it = mx.io.CSVIter(batch_size=3, prefetch_buffer=prefetch, **csv)
    it.reset()      # nothing was taken
    for _ in range(3):
        assert next(it).index.tolist() == [0, 1, 2] and next(it).index.tolist() == [3, 4, 5]
        it.reset()
    assert [b.index.tolist() for b in it] == [[0, 1, 2], [3, 4, 5], [6, 0, 1]]
    assert not it.iter_next() and not it.iter_next()
    it.reset()
    assert [b.index.tolist() for b in it] == [[2, 3, 4], [5, 6, 0]]
    it.reset()
    next(it)
    it.reset()
    assert next(it).index.tolist() == [0, 1, 2]


def test_no_epoch_is_empty(csv):
    it = mx.io.CSVIter(batch_size=14, **csv)
    for _ in range(3):
        assert [(b.index.tolist(), b.pad) for b in it] == [([*range(7)] * 2, 7)]
        it.reset()


def test_arrays_stay_as_they_are(csv):
    it = mx.io.CSVIter(batch_size=2, **csv)
    kept = list(it)
    before = [b.data[0].asnumpy() for b in kept]
    for _ in range(3):
        it.reset()
        for batch in it:
            batch.data[0][:] = -1
    for batch, values in zip(kept, before):
        np.testing.assert_array_equal(batch.data[0].asnumpy(), values)


def test_the_current_batch(csv):
    it = mx.io.CSVIter(batch_size=4, data_name='x', label_name='y', **csv)
    assert it.provide_data == [('x', (4, 2, 2))] and it.provide_label == [('y', (4,))] and it.batch_size == 4
    assert it.getdata().shape == (4, 2, 2)      # read ahead: it comes with the first iter_next
    assert it.iter_next() and it.getdata().shape == (4, 2, 2) and it.getlabel().asnumpy().tolist() == [0, 10, 20, 30]
    assert it.getindex().tolist() == [0, 1, 2, 3] and it.getpad() == 0
    assert it.iter_next() and it.getpad() == 1
    assert not it.iter_next()
    with pytest.raises(mx.MXNetError, match='no current batch'):
        it.getpad()


def test_debug_skip_load_repeats_the_first_batch(csv):
    it = mx.io.CSVIter(batch_size=4, **csv)
    it.debug_skip_load()
    assert [next(it).index.tolist() for _ in range(5)] == [[0, 1, 2, 3]] * 5


def test_an_iterator_that_trains(csv):
    """Module.fit takes it, and sees each instance of an epoch."""
    x = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1)
    module = mx.mod.Module(mx.sym.LinearRegressionOutput(x, mx.sym.var('softmax_label')))
    seen = []
    module.fit(mx.io.CSVIter(batch_size=7, **csv), num_epoch=3, eval_metric='mse', batch_end_callback=lambda p: seen.append(p.epoch))
    assert seen == [0, 1, 2]


# ---- arguments


def test_a_batch_that_memory_cannot_hold_fails_at_once(csv):
    """It does not repeat a few rows until memory is full."""
    for round_batch in (True, False):
        with pytest.raises(mx.MXNetError, match='out of memory'):
            next(mx.io.CSVIter(batch_size=2**31 - 1, round_batch=round_batch, **csv))


def test_arguments(csv):
    with pytest.raises(TypeError, match='can only accept keyword arguments'):
        mx.io.CSVIter('d.csv', (4,))
    with pytest.warns(UserWarning, match='arguments foo, zap are ignored'):
        mx.io.CSVIter(batch_size=1, foo=1, zap=2, **csv)
    for wrong in ({'batch_size': 'x'}, {'batch_size': 1.5}, {'batch_size': -1}, {'batch_size': 0}, {'batch_size': 1 << 31},
                  {'prefetch_buffer': -1}, {'ctx': 'tpu'}, {'dtype': 'float64'}, {'dtype': 'complex'}, {'round_batch': 'perhaps'},
                  {'data_shape': (-1,)}, {'data_shape': (0,)}, {'data_shape': 'x'}, {'label_shape': (-2,)}):
        with pytest.raises(mx.MXNetError, match=rf'(?s)^\[CSVIter\].*{next(iter(wrong))}|^\[CSVIter\] Invalid Input'):
            mx.io.CSVIter(**{**csv, 'batch_size': 1, **wrong})
    with pytest.raises(mx.MXNetError, match='data_csv'):
        mx.io.CSVIter(data_shape=(1,), batch_size=1)
    for same in ({'data_shape': [2, 2]}, {'data_shape': np.array([2, 2])}, {'batch_size': '2'}, {'batch_size': np.int64(2)},
                 {'dtype': np.float32}, {'dtype': None}, {'round_batch': 'True'}, {'ctx': 'cpu'}, {'ctx': 'gpu'}, {'ctx': 'cpu_pinned'}):
        assert next(mx.io.CSVIter(**{**csv, 'batch_size': 2, **same})).data[0].dtype == np.float32


def test_file_names(csv, here):
    (here / 'folder').mkdir()
    (here / 'folder' / 'b').write_text('7,8\n')
    (here / 'folder' / 'a').write_text('5,6')       # no end of the line
    for name in ('folder', 'folder/a;folder/b', 'file://folder/a;folder/b', here / 'folder', 'folder?format=csv'):
        assert rows_of(mx.io.CSVIter(data_csv=name, data_shape=(2,), batch_size=2)) == [([5, 7], [0, 0], [0, 1], 0)]
    assert next(mx.io.CSVIter(data_csv='folder?label_column=0', data_shape=(1,), batch_size=2)).data[0].asnumpy().tolist() == [[6], [8]]
    (here / 'odd?name=1').write_text('1\n')
    assert rows_of(mx.io.CSVIter(data_csv='odd?name=1', data_shape=(1,), batch_size=1)) == [([1], [0], [0], 0)]
    for name in ('none', '', ';', 'd.csv;none', '/dev/null', 'd.csv?format=libsvm', 'd.csv?label_column=x'):
        with pytest.raises(mx.MXNetError, match=r'^\[CSVIter\]'):
            mx.io.CSVIter(data_csv=name, data_shape=(4,), batch_size=1)
    with pytest.raises(FileNotFoundError, match='none'):
        mx.io.CSVIter(data_csv='none', data_shape=(4,), batch_size=1)


# ---- broken files


@pytest.mark.parametrize('text,message', [
    (b'1,2\n3,x\n', r"line 2: could not convert 'x'"), (b'1,2\n\n3\n', 'line 3: 1 numbers; accepted: 2'),
    (b'1,2,3\n', 'line 1: 3 numbers'), (b'', 'there is no batch'), (b'\n \n\t\n', 'there is no batch'),
    (b'1,0x10\n', 'could not convert'), (b'1,2 3\n', "could not convert '2 3'"), (b'1,--2\n', 'could not convert'),
    (b'\x1f\x8b\x08\x00\xff\xfe,' * 3, r"could not convert '\?+'"), (b'1;2\n', "could not convert '1;2'"),
    (b'y' * 1000, r"'y{40}\.\.\.'")])
def test_broken_csv(here, text, message):
    (here / 'd.csv').write_bytes(text)
    with pytest.raises(mx.MXNetError, match=message):
        list(mx.io.CSVIter(data_csv='d.csv', data_shape=(2,), batch_size=2))


def test_what_csv_accepts(here):
    (here / 'd.csv').write_bytes(b'\xef\xbb\xbf 1 ,+2,\r\n\r\n-.5,1e400\rnan,-inf\n1e-400,' + b'0' * 100000 + b'7')
    data = next(mx.io.CSVIter(data_csv='d.csv', data_shape=(2,), batch_size=4)).data[0]
    np.testing.assert_array_equal(data.asnumpy(), np.float32([[1, 2], [-.5, np.inf], [np.nan, -np.inf], [0, 7]]))


def test_lines_longer_than_what_is_read_at_a_time(here):
    """The end of a line falls on the end of a read, between the two bytes of it, or far behind."""
    for size in (1 << 18, (1 << 18) - 1, (1 << 18) - 2, (1 << 19) + 5):
        for end in (b'\r\n', b'\n', b'\r'):
            (here / 'd.csv').write_bytes(b'1.' + b'0' * (size - 3) + b'5' + end + b'2' + end + b'3')
            assert rows_of(mx.io.CSVIter(data_csv='d.csv', data_shape=(1,), batch_size=3)) == [([1, 2, 3], [0] * 3, [0, 1, 2], 0)]


def test_integers_in_csv(here):
    (here / 'd.csv').write_text('1.7,-2.9\n9007199254740993,1e3\n')
    data = next(mx.io.CSVIter(data_csv='d.csv', data_shape=(2,), batch_size=2, dtype='int64')).data[0]
    assert data.dtype == np.int64 and data.asnumpy().tolist() == [[1, -2], [9007199254740993, 1000]]
    for text in ('1,2147483648\n', '1,nan\n', '1,1e300\n', '1,3e9\n'):
        (here / 'd.csv').write_text(text)
        with pytest.raises(ValueError, match='integers that the dtype holds'):
            mx.io.CSVIter(data_csv='d.csv', data_shape=(2,), batch_size=1, dtype='int32')


def test_an_error_ends_one_batch(here):
    """The rows behind a broken one can be read, with a thread that reads ahead and without."""
    (here / 'd.csv').write_text('0\n1\nx\n3\n4\n')
    for prefetch in (0, 4):
        it = mx.io.CSVIter(data_csv='d.csv', data_shape=(1,), batch_size=1, prefetch_buffer=prefetch)
        assert [next(it).data[0].asscalar() for _ in range(2)] == [0, 1]
        with pytest.raises(ValueError, match='line 3'):
            next(it)
        assert [b.data[0].asscalar() for b in it] == [3, 4]
        it.reset()
        assert next(it).data[0].asscalar() == 0


def test_a_file_that_is_replaced_while_it_is_read(csv, here):
    it = mx.io.CSVIter(batch_size=7, prefetch_buffer=0, **csv)
    list(it)
    (here / 'd.csv').write_text('')
    it.reset()
    assert list(it) == []
    os.remove('d.csv')
    with pytest.raises(OSError, match='d.csv'):
        it.reset()


@pytest.mark.parametrize('text,message', [
    ('1 0:1 4:1\n', 'line 1: feature 4; accepted: 0 to 3'), ('1 -1:1\n', 'feature -1'), ('1 x:1\n', "could not convert 'x:1'"),
    ('x 1:1\n', "could not convert 'x 1:1'; accepted: a label"), ('1,2 0:1\n', 'could not convert'), ('1 1:\n', "convert '1:'"),
    ('1 1:2:3\n', 'could not convert'), ('1:x 1:2\n', 'a label'), ('1 qid:x 1:2\n', 'could not convert'),
    ('1 99999999999999999999:1\n', 'could not convert'), ('', 'there is no batch'), ('# nothing\n', 'there is no batch')])
def test_broken_libsvm(here, text, message):
    (here / 'a.svm').write_text(text)
    with pytest.raises(mx.MXNetError, match=message):
        mx.io.LibSVMIter(data_libsvm='a.svm', data_shape=(4,), batch_size=1)


def test_libsvm_arguments(here):
    (here / 'a.svm').write_text('1 1:2 4:3\n0:0.5 2 3 # two without values\n')
    it = mx.io.LibSVMIter(data_libsvm='a.svm?indexing_mode=1', data_shape=(4,), batch_size=2)
    assert next(it).data[0].asnumpy().tolist() == [[2, 0, 0, 3], [0, 1, 1, 0]]
    for wrong in ({'data_shape': (2, 2)}, {'data_shape': ()}, {'label_shape': (2,)}, {'dtype': 'float64'}, {'num_parts': 0},
                  {'part_index': 1}, {'part_index': -1}, {'data_libsvm': 'a.svm?indexing_mode=2'}, {'data_libsvm': 'a.svm?x=2'}):
        with pytest.raises(ValueError, match=r'^\[LibSVMIter\].*' + next(iter(wrong)).replace('data_libsvm', '')):
            mx.io.LibSVMIter(**{'data_libsvm': 'a.svm', 'data_shape': (5,), 'batch_size': 2, **wrong})


def test_damaged_files_end_in_errors(here):
    """Bytes changed, put in and left out: batches come, or an error that says where."""
    random = np.random.RandomState(3)
    alphabet = b'0123456789.,:;-+eEinfax \t\r\n#\0\xff\xef'
    svm = {'data_libsvm': 'f', 'data_shape': (4,), 'num_parts': 2, 'part_index': 1}
    for turn in range(150):
        text = bytearray([b'1,2,3\n4,-5e3,.6\r\n7,8,9\n', b'1 0:1 2:3.5\n0:2 qid:3 1:2 # c\n2\n'][turn % 2])
        for at in sorted(random.randint(0, len(text), 4), reverse=True):
            text[at:at + random.randint(0, 3)] = bytes(random.choice(list(alphabet), random.randint(0, 3)).tolist())
        (here / 'f').write_bytes(text)
        left = 100
        try:
            it = mx.io.LibSVMIter(batch_size=2, **svm) if turn % 2 else mx.io.CSVIter(data_csv='f', data_shape=(3,), batch_size=2)
            while left and it.iter_next():
                left -= 1
        except mx.MXNetError as error:
            assert str(error).startswith('[')
        assert left


# ---- MNIST


@pytest.fixture
def mnist(here):
    for name, magic, shape in (('images', 0x803, (25, 5, 4)), ('labels', 0x801, (25,))):
        data = struct.pack(f'>{1 + len(shape)}I', magic, *shape) + bytes(i % 256 for i in range(int(np.prod(shape))))
        (here / name).write_bytes(data)
        with gzip.open(here / (name + '.gz'), 'wb') as out:
            out.write(data)
    return {'image': 'images', 'label': 'labels', 'silent': True, 'batch_size': 5}


def test_mnist_compressed_files_and_dtypes(mnist):
    plain = rows_of(mx.io.MNISTIter(**mnist))
    assert sorted(i for _, _, index, _ in plain for i in index) == list(range(25)) and all(labels == index for _, labels, index, _ in plain)
    assert rows_of(mx.io.MNISTIter(**{**mnist, 'image': 'images.gz', 'label': 'labels.gz'})) == plain
    for dtype in ('float64', 'float16'):
        batch = next(mx.io.MNISTIter(dtype=dtype, **mnist))
        assert batch.data[0].dtype == np.dtype(dtype) and batch.label[0].dtype == np.float32
        assert batch.data[0].asnumpy().max() < 1


def test_broken_mnist(mnist, here):
    data = (here / 'images').read_bytes()
    (here / 'short').write_bytes(data[:-1])
    (here / 'huge').write_bytes(struct.pack('>4I', 0x803, 2**32 - 1, 2**32 - 1, 2**32 - 1) + data[16:])
    (here / 'head').write_bytes(data[:9])
    (here / 'few').write_bytes(struct.pack('>4I', 0x803, 24, 5, 4) + data[16:])
    (here / 'cut.gz').write_bytes((here / 'images.gz').read_bytes()[:40])
    (here / 'empty').write_bytes(b'')
    for name, message in (('short', '499 bytes of data; accepted: .*500'), ('huge', 'more than 2.64'), ('head', '9 bytes'),
                          ('few', '24 images'), ('cut.gz', "can't be uncompressed"), ('empty', '0 bytes'), ('none', 'none'),
                          ('labels', 'begins with 0x801; accepted: 0x803')):
        with pytest.raises(mx.MXNetError, match=message):
            mx.io.MNISTIter(**{**mnist, 'image': name})
    with pytest.raises(ValueError, match='there is no batch'):
        mx.io.MNISTIter(**{**mnist, 'batch_size': 26})
    for wrong in ({'batch_size': 0}, {'num_parts': 0}, {'part_index': 1}, {'part_index': -1}, {'dtype': 'int32'}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            mx.io.MNISTIter(**{**mnist, **wrong})


def test_mnist_tells_what_it_loaded(mnist, capfd):
    mx.io.MNISTIter(**{**mnist, 'silent': False, 'flat': True})
    assert 'load 25 images, shuffle=1, shape=(5,20)' in capfd.readouterr().err


# ---- processes and threads


def test_pickling(csv):
    it = mx.io.CSVIter(batch_size=2, **csv)
    for function in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match='cannot be pickled'):
            function(it)


def test_many_iterators_in_threads(csv):
    """Each thread sees its own rows, and iterators that are dropped in the middle end."""
    errors = []

    def work():
        try:
            for _ in range(10):
                it = mx.io.CSVIter(batch_size=2, **csv)
                next(it)
                assert [b.index.tolist() for b in it] == [[2, 3], [4, 5], [6, 0]]
                mx.io.CSVIter(batch_size=2, **csv).next()
        except BaseException as error:      # pylint: disable=broad-except
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


CHILD = """
import os, sys
import mxnet as mx
open('f.csv', 'w').write(''.join('%d\\n' % i for i in range(1000)))
it = mx.io.CSVIter(data_csv='f.csv', data_shape=(1,), batch_size=1)
next(it)
child = os.fork()
if child == 0:
    try:
        next(it)
    except mx.MXNetError as error:
        assert 'belongs to the process that made it' in str(error), error
    else:
        os._exit(1)
    try:
        it.reset()
    except mx.MXNetError:
        pass
    else:
        os._exit(2)
    del it
    assert sum(1 for _ in mx.io.CSVIter(data_csv='f.csv', data_shape=(1,), batch_size=1)) == 1000
    os._exit(7)
assert os.waitpid(child, 0)[1] == 7 << 8
assert sum(1 for _ in it) == 999
kept = mx.io.CSVIter(data_csv='f.csv', data_shape=(1,), batch_size=1)      # alive when the process ends
print('done')
"""


def test_an_interrupt_while_an_iterator_is_freed_is_not_lost(csv, monkeypatch):
    """Python drops what is raised in a __del__."""
    from mxnet.io import _native
    free, freed = _native._LIB.MXDataIterFree, []

    def interrupted(handle):
        signal.raise_signal(signal.SIGINT)
        freed.append(free(handle))

    it = mx.io.CSVIter(batch_size=2, **csv)
    monkeypatch.setattr(_native, "_LIB", types.SimpleNamespace(MXDataIterFree=interrupted))
    with pytest.raises(KeyboardInterrupt):
        del it
        for _ in range(1000):
            time.sleep(0.01)
    assert freed == [0]


@pytest.mark.several_threads
def test_forked_children_and_the_end_of_the_process(here):
    ran = subprocess.run([sys.executable, '-c', CHILD], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=300)
    assert (ran.returncode, ran.stdout) == (0, b'done\n')
