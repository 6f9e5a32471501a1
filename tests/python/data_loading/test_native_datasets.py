"""Datasets, samplers and functions that make batches of the native library, and the DataLoader over
them."""
import copy
import gc
import json
import os
import pickle
import struct

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon.data import ArrayDataset, BatchSampler, DataLoader, RandomSampler, SequentialSampler, SimpleDataset, _internal, batchify
from mxnet.gluon.data._internal import (GroupBatchify, GroupDataset, ImageRecordFileDataset, ImageSequenceDataset, IndexedDataset,
                                        LazyTransformDataset, MXDataset, MXSampler, NDArrayDataset, PadBatchify,
                                        RecordFileDataset, StackBatchify)

from record_iterators import recorded

pytestmark = pytest.mark.sanitized

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data')
X = np.arange(12, dtype='float32').reshape(6, 2)


def pairs():
    return GroupDataset(datasets=[NDArrayDataset(arr=mx.nd.array(X)), NDArrayDataset(arr=mx.nd.arange(6))])


def values(item):
    return [values(part) for part in item] if isinstance(item, (list, tuple)) else item.asnumpy().tolist()


@pytest.mark.parametrize('what', ['datasets', 'batchify functions'])
def test_parameters_are_those_of_2_0(what):
    with open(os.path.join(DATA, 'iterators_2_0.json')) as f:
        assert recorded()[what] == json.load(f)[what]
    for name, params in recorded()[what].items():
        doc = getattr(_internal, name).__doc__
        assert all(f'{parameter} : {kind}' in doc for parameter, kind in params)


# ---- datasets


def test_datasets_of_arrays():
    one = NDArrayDataset(arr=mx.nd.array(X, dtype='int32'))
    assert len(one) == 6 and values(list(one)) == X.tolist() and one[-1].dtype == np.int32 and isinstance(one, MXDataset)
    assert NDArrayDataset(arr=mx.nd.arange(3))[np.int64(2)].shape == ()
    both = pairs()
    assert isinstance(both[1], tuple) and values(both[1]) == [[2, 3], 1]
    assert values(GroupDataset(datasets=(both, one))[2]) == [[4, 5], 2, [4, 5]]
    assert values(list(IndexedDataset(base=both, indices=[4, 0, 4]))) == [[[8, 9], 4], [[0, 1], 0], [[8, 9], 4]]
    assert len(IndexedDataset(base=one, indices=range(0))) == 0
    assert values(list(one.take(2))) == X[:2].tolist() and len(one.shard(4, 0)) == 2


def test_parts_outlive_their_names():
    both = pairs()
    chosen = IndexedDataset(base=both, indices=(5,))
    del both
    gc.collect()
    assert values(chosen[0]) == [[10, 11], 5]


def test_wrong_datasets():
    one = NDArrayDataset(arr=mx.nd.array(X))
    for index in (6, -7, 1 << 63):
        with pytest.raises(IndexError, match='out of bound'):
            one[index]
    for index in (1.5, slice(2), [1], None):
        with pytest.raises(TypeError):
            one[index]
    for make in (lambda: NDArrayDataset(arr=X), lambda: NDArrayDataset(arr=3), lambda: NDArrayDataset(one), lambda: NDArrayDataset(arr=one),
                 lambda: GroupDataset(datasets=[3]), lambda: GroupDataset(datasets=[mx.nd.ones(3)]),
                 lambda: IndexedDataset(base=StackBatchify(), indices=[0]),
                 lambda: LazyTransformDataset(cached_op=3, dataset=one, scalar_outputs=()),
                 lambda: MXDataset(3)):
        with pytest.raises(TypeError):
            make()
    for make in (NDArrayDataset, lambda: NDArrayDataset(arr=mx.nd.array(3)), lambda: GroupDataset(datasets=[]),
                 lambda: GroupDataset(datasets=[one, NDArrayDataset(arr=mx.nd.ones(3))]), lambda: IndexedDataset(base=one, indices=[-1]),
                 lambda: IndexedDataset(base=one, indices='x'), lambda: ImageSequenceDataset(img_list='a', flag='x'),
                 lambda: ImageSequenceDataset(img_list='a', path_sep='ab')):
        with pytest.raises((ValueError, mx.MXNetError)):
            make()
    with pytest.raises(IndexError, match='9 of 6'):
        IndexedDataset(base=one, indices=[9])
    with pytest.warns(UserWarning, match='arguments foo are ignored'):
        NDArrayDataset(arr=mx.nd.ones(1), foo=1)
    for function in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match='cannot be pickled'):
            function(one)


def cached_op(function, inputs=1):
    return mx.nd.CachedOp(function(*(mx.sym.var(f'x{i}') for i in range(inputs))))


def test_transformed_items():
    twice = cached_op(lambda x: 2 * x)
    base = pairs()
    assert values(LazyTransformDataset(cached_op=twice, dataset=base, scalar_outputs=(0,))[1]) == [[4, 6], 1]
    assert values(LazyTransformDataset(cached_op=twice, dataset=base, transform_indices=(1,), scalar_outputs=(0,))[3]) == [[6, 7], 6]
    total = cached_op(lambda x, y: mx.sym.broadcast_mul(x, y).sum(), 2)
    item = LazyTransformDataset(cached_op=total, dataset=base, transform_indices=(0, 1), scalar_outputs=(1,))[2]
    assert item.shape == () and item.asscalar() == 18
    with pytest.raises(ValueError, match='scalar_outputs'):
        LazyTransformDataset(cached_op=twice, dataset=base, scalar_outputs=())
    with pytest.raises(IndexError, match='transform_indices'):
        LazyTransformDataset(cached_op=twice, dataset=base, transform_indices=(2,), scalar_outputs=(0,))[0]
    with pytest.raises(ValueError, match='2 inputs'):
        LazyTransformDataset(cached_op=total, dataset=base, scalar_outputs=(0,))[0]


# ---- files



@pytest.fixture
def png(tmp_path, monkeypatch):
    """A file of 1 x 2 pixels."""
    import zlib
    monkeypatch.chdir(tmp_path)

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    data = (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 2, 1, 8, 2, 0, 0, 0))
            + chunk(b'IDAT', zlib.compress(b'\0' + bytes([1, 2, 3, 40, 50, 60]))) + chunk(b'IEND', b''))
    (tmp_path / 'i.png').write_bytes(data)
    return data


@pytest.fixture
def records(png):
    writer = mx.recordio.MXIndexedRecordIO('r.idx', 'r.rec', 'w')
    for key, label in ((7, 3.0), (2, [4.0, 5.0])):
        writer.write_idx(key, mx.recordio.pack(mx.recordio.IRHeader(0, label, key, 0), png))
    writer.write_idx(9, b'ab\xff')
    writer.close()
    return {'rec_file': 'r.rec', 'idx_file': 'r.idx'}


def test_record_files(records):
    raw = RecordFileDataset(**records)
    assert len(raw) == 3 and raw[2].dtype == np.int8 and values(raw[2]) == [97, 98, -1]
    pid = os.fork()
    if pid == 0:    # a child reads through a file of its own
        os._exit(values(raw[2]) == [97, 98, -1])
    assert os.waitpid(pid, 0)[1] == 1 << 8


def test_images(records):
    try:
        mx.image.imread('i.png')
    except mx.MXNetError:
        pytest.skip('no decoder')
    images = ImageRecordFileDataset(**records)
    assert images[0][0].dtype == np.uint8 and values(images[0]) == [[[[1, 2, 3], [40, 50, 60]]], 3]
    assert values(images[1][1]) == [4, 5]
    assert images[0][0].shape == (1, 2, 3) and ImageRecordFileDataset(flag=0, **records)[0][0].shape == (1, 2, 1)
    with pytest.raises(ValueError, match='r.rec, record 2 at byte [0-9]+: 3 bytes hold no packed image'):
        images[2]
    with mx.recordio.MXIndexedRecordIO('b.idx', 'b.rec', 'w') as broken:
        broken.write_idx(0, b'')
        broken.write_idx(1, mx.recordio.pack((0, 1, 0, 0), b'no image'))
    with pytest.raises(mx.MXNetError, match=r'^\[ImageRecordFileDataset\] b\.rec, record 1 at byte 8: .*no known format'):
        ImageRecordFileDataset(rec_file='b.rec', idx_file='b.idx')[1]
    files = ImageSequenceDataset(img_list='i.png;none', path_sep=';')
    assert len(files) == 2 and values(files[0]) == [[[1, 2, 3], [40, 50, 60]]]
    with pytest.raises(mx.MXNetError, match='none'):
        files[1]


def test_broken_record_files(records):
    for index, message in (('0\tx\n', "r.idx, line 1: '0"), ('0\n', 'line 1'), ('0\t-4\n', 'line 1')):
        with open('r.idx', 'w') as out:
            out.write(index)
        with pytest.raises(mx.MXNetError, match=message):
            RecordFileDataset(**records)
    for index in ('0\t999999\n', '0\t2\n'):
        with open('r.idx', 'w') as out:
            out.write(index)
        with pytest.raises(mx.MXNetError, match='r.rec'):
            RecordFileDataset(**records)[0]
    for wrong in ({'rec_file': 'none'}, {'idx_file': 'none'}):
        with pytest.raises(FileNotFoundError, match='none'):
            RecordFileDataset(**{'rec_file': 'r.rec', 'idx_file': 'r.idx', **wrong})


# ---- batches of items


def test_stack_and_pad():
    ones, twos = mx.nd.ones((2,)), mx.nd.ones((3,), dtype='int32') * 2
    assert values(StackBatchify()([ones, ones * 2])) == [[1, 1], [2, 2]]
    assert StackBatchify()([np.ones(2, 'int8'), np.zeros(2, 'int8')]).dtype == np.int8
    assert values(StackBatchify()([1., 2.])) == [1, 2]
    assert values(StackBatchify()([(ones, 3), (ones, 4)], num_out=2)) == [[[1, 1], [1, 1]], [3, 4]]
    assert StackBatchify(use_shared_mem=1)([ones]).context.device_type == 'cpu_shared'
    padded = PadBatchify(pad_val=-1)([twos, ones])
    assert padded.dtype == np.int32 and values(padded) == [[2, 2, 2], [1, 1, -1]]
    assert PadBatchify(dtype='float64')([ones]).dtype == np.float64 and PadBatchify(dtype=6)([ones]).dtype == np.int64
    assert PadBatchify(round_to=4)([np.ones((2, 5)), np.ones((3, 1))]).shape == (2, 4, 8)
    box = PadBatchify(pad_val=9)([np.arange(4.).reshape(2, 2, 1), np.arange(6.).reshape(1, 2, 3)])
    expected = np.full((2, 2, 2, 3), 9.)
    expected[0, :, :, :1], expected[1, :1] = np.arange(4).reshape(2, 2, 1), np.arange(6).reshape(1, 2, 3)
    np.testing.assert_array_equal(box.asnumpy(), expected)
    assert PadBatchify()([np.zeros((0, 2)), np.zeros((3, 1))]).shape == (2, 3, 2)
    both = GroupBatchify(functions=[StackBatchify(), PadBatchify()])([(ones, twos), (ones, ones)])
    assert values(both) == [[[1, 1], [1, 1]], [[2, 2, 2], [1, 1, 0]]]


def test_wrong_batches():
    ones = mx.nd.ones((2,))
    for function, data, *num_out in ((StackBatchify(), [ones, mx.nd.ones((3,))]), (PadBatchify(), [ones, mx.nd.ones((3, 1))]),
                                     (StackBatchify(), []), (StackBatchify(), [(ones, ones), (ones,)]),
                                     (StackBatchify(), [(ones, ones)], 3), (StackBatchify(), [()]),
                                     (GroupBatchify(functions=[StackBatchify()]), [(ones, ones)])):
        with pytest.raises(ValueError):
            function(data, *num_out)
    for make in (lambda: PadBatchify(round_to=0), lambda: PadBatchify(dtype=99), lambda: PadBatchify(pad_val='x')):
        with pytest.raises(ValueError):
            make()
    with pytest.raises(TypeError):
        GroupBatchify(functions=[batchify.Stack()])


def test_python_pad_and_group():
    assert values(batchify.Pad()([[1, 2], [1]])) == [[1, 2], [1, 0]]
    assert batchify.Pad(dtype='float32', val=2.5)([mx.nd.ones((1, 2)), mx.nd.ones((2, 1))]).asnumpy().tolist() == \
        [[[1, 1], [2.5, 2.5]], [[1, 2.5], [1, 2.5]]]
    assert batchify.Pad(round_to=4)([np.ones((2, 1)), np.ones((5, 3))]).shape == (2, 8, 4)
    group = batchify.Group([batchify.Stack(), batchify.Pad()])
    assert values(group([(1, [1]), (2, [3, 4])])) == [[1, 2], [[1, 0], [3, 4]]]
    with pytest.raises(AssertionError, match='items'):
        group([(1, 2, 3)])
    with pytest.raises(AssertionError, match='callables'):
        batchify.Group(batchify.Stack(), 3)
    with pytest.raises(AssertionError, match='either'):
        batchify.Group([batchify.Stack()], batchify.Pad())
    with pytest.raises(NotImplementedError, match='Group'):
        batchify.Pad()([(1, 2)])


# ---- samplers


@pytest.mark.parametrize('last_batch', ['keep', 'discard', 'rollover'])
@pytest.mark.parametrize('length,size', [(5, 2), (6, 3), (1, 4), (0, 2), (7, 7)])
def test_sequential_batches_are_those_of_the_python_sampler(last_batch, length, size):
    ours = MXSampler('SequentialSampler', length=length, batch_size=size, last_batch=last_batch, start=3)
    theirs = BatchSampler(SequentialSampler(length, 3), size, last_batch)
    for _ in range(4):
        if last_batch != 'rollover':
            assert len(ours) == len(theirs)
        assert list(ours) == list(theirs)


def test_single_numbers():
    assert list(MXSampler('SequentialSampler', length=3, batch_size=1)) == [0, 1, 2]


def test_random_batches():
    sampler = MXSampler('RandomSampler', length=50, batch_size=50)
    mx.random.seed(5)
    epochs = [next(iter(sampler)) for _ in range(3)]
    assert all(sorted(epoch) == list(range(50)) for epoch in epochs) and epochs[0] != epochs[1] != epochs[2]
    mx.random.seed(5)
    assert [next(iter(sampler)) for _ in range(3)] == epochs


def test_wrong_samplers():
    with pytest.raises(ValueError, match='Foo is not a valid MXDataIter class'):
        MXSampler('Foo', length=3)
    for wrong in ({'batch_size': 0}, {'batch_size': -1}, {'length': -1}, {'last_batch': 'pad'}, {'length': None}):
        with pytest.raises(ValueError):
            MXSampler('RandomSampler', **{'length': 3, 'batch_size': 2, **wrong})


# ---- loading


def test_threaded_loader():
    for workers in (0, 1, 3):
        loader = mx.io.ThreadedDataLoader(dataset=pairs(), sampler=MXSampler('SequentialSampler', length=6, batch_size=4),
                                          batchify_fn=StackBatchify(), num_workers=workers)
        assert len(loader) == 2 and loader.provide_data == [('data', (4, 2))] and loader.provide_label == [('softmax_label', (4,))]
        for _ in range(2):
            batches = list(loader)
            assert values([b.data[0] for b in batches]) == [X[:4].tolist(), X[4:].tolist()]
            assert values([b.label[0] for b in batches]) == [[0, 1, 2, 3], [4, 5]] == [b.index.tolist() for b in batches]
            loader.reset()
        assert loader.next() and values(loader.getitems()) == [X[:4].tolist(), [0, 1, 2, 3]]


def test_loader_errors():
    parts = {'dataset': NDArrayDataset(arr=mx.nd.array(X)), 'sampler': MXSampler('SequentialSampler', length=8, batch_size=4),
             'batchify_fn': StackBatchify()}
    loader = mx.io.ThreadedDataLoader(**parts)
    loader.next()
    with pytest.raises(IndexError, match='item 6; the dataset has 6'):
        loader.next()
    loader.reset()
    assert values(loader.next().data[0]) == X[:4].tolist()
    for wrong in ({'dataset': parts['sampler']}, {'sampler': parts['dataset']}, {'batchify_fn': batchify.Stack()}, {'dataset': 3}):
        with pytest.raises(TypeError):
            mx.io.ThreadedDataLoader(**{**parts, **wrong})
    with pytest.raises(ValueError, match='num_workers'):
        mx.io.ThreadedDataLoader(num_workers=-1, **parts)


def native(data, **kwargs):
    loader = DataLoader(data, **{'batch_size': 4, 'num_workers': 2, 'try_nopython': True, **kwargs})
    assert loader._mx_iter is not None
    return loader


class Plus(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x + 1


@pytest.mark.parametrize('data', [
    ArrayDataset(mx.nd.array(X)), ArrayDataset(X, list(range(6))), SimpleDataset(X), ArrayDataset(X, X).shard(2, 1),
    ArrayDataset(X).take(3),
    ArrayDataset(X).filter(lambda x: x[0] > 3), ArrayDataset(mx.nd.array(X)).transform(Plus()),
    ArrayDataset(mx.nd.array(X), X).transform_first(Plus()),
    pairs(),
    ArrayDataset(mx.nd.array(X, dtype='uint8')).transform(mx.gluon.data.vision.transforms.Cast('float16'))], ids=lambda d: type(d).__name__)
def test_nopython_gives_what_python_gives(data):
    for kwargs in ({}, {'last_batch': 'discard'}, {'last_batch': 'rollover', 'batch_size': 5}, {'batchify_fn': batchify.Stack()},
                   {'sampler': SequentialSampler(2, 1)}):
        loader = native(data, **kwargs)
        plain = DataLoader(data, **{'batch_size': 4, **kwargs})
        for _ in range(3):
            ours, theirs = list(loader), list(plain)
            assert len(ours) == len(theirs)
            for one, other in zip(ours, theirs):
                assert isinstance(one, tuple) == isinstance(other, list)
                for a, b in zip(one if isinstance(one, tuple) else [one], other if isinstance(other, list) else [other]):
                    assert a.dtype == b.dtype and a.shape == b.shape
                    np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


def test_nopython_epochs():
    loader = native(ArrayDataset(X), shuffle=True, pin_memory=True)
    assert len(loader) == 2
    first = next(iter(loader))      # and the rest of this epoch is not read
    assert first.shape == (4, 2)
    assert sorted(sum((values(b) for b in loader), [])) == X.tolist()
    nested = [(values(a), values(b)) for a in loader for b in loader]
    assert len(nested) == 4 and sorted(sum((b for _, b in nested[:2]), [])) == X.tolist() == sorted(nested[0][0] + nested[2][0])
    loader.refresh()
    loader.close()


def test_nopython_batches_of_pairs():
    loader = native(ArrayDataset(X, X), batchify_fn=batchify.Group(batchify.Pad(val=1, dtype='int32', round_to=3), batchify.Stack()))
    data, label = next(iter(loader))
    assert data.dtype == np.int32 and data.shape == (4, 3) and data.asnumpy()[1].tolist() == [2, 3, 1] and values(label) == X[:4].tolist()


@pytest.mark.parametrize('given,name', [
    ({'dataset': [1, 2, 3, 'x']}, 'dataset'), ({'dataset': SimpleDataset(['a'])}, 'dataset'),
    ({'dataset': ArrayDataset(X).transform(lambda x: x)}, 'dataset'),
    ({'dataset': ArrayDataset(X).transform(mx.gluon.nn.Dense(2))}, 'dataset'),
    ({'batchify_fn': lambda x: x}, 'batchify_fn'), ({'batchify_fn': batchify.Append()}, 'batchify_fn'),
    ({'sampler': [0, 2]}, 'batch_sampler'),
    ({'batch_sampler': [[0]], 'batch_size': None}, 'batch_sampler')])
def test_nopython_says_what_it_cannot_do(given, name):
    arguments = {'dataset': ArrayDataset(X), 'batch_size': 2, **given}
    with pytest.raises(RuntimeError, match=rf'cannot run the given {name};'):
        DataLoader(num_workers=1, try_nopython=True, **arguments)
    for free in ({'try_nopython': None, 'num_workers': 1}, {'try_nopython': False}, {'try_nopython': True, 'num_workers': 0}):
        assert DataLoader(**free, **arguments)._mx_iter is None


def test_random_order_without_python():
    mx.random.seed(1)
    loader = native(ArrayDataset(X), batch_size=None, batch_sampler=BatchSampler(RandomSampler(6), 6))
    first = values(next(iter(loader)))
    mx.random.seed(1)
    assert values(next(iter(native(ArrayDataset(X), shuffle=True, batch_size=6)))) == first and sorted(first) == X.tolist()
