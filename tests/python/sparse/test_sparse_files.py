"""Files and pickles with sparse arrays, those of 1.9.1 among them; files whose indices lead
outside."""
import os
import pickle
import struct

import mxnet as mx
import numpy as np
import pytest

pytestmark = pytest.mark.on_gpu

DATA = os.path.join(os.path.dirname(__file__), '..', 'data')
sparse = mx.nd.sparse


def some():
    """What sparse_list_1.9.1.params holds; 1.9.1 wrote the columns of the last one's second row out
    of order."""
    csr = sparse.csr_matrix(([5., 6., 7.], [1, 0, 2], [0, 1, 3]), shape=(2, 3))
    return [csr, sparse.row_sparse_array((np.array([[1, 2], [3, 4]], 'float64'), [1, 3]), shape=(5, 2)),
            sparse.row_sparse_array((np.ones((1, 2, 2), 'int32'), [0]), shape=(2, 2, 2)),
            mx.nd.zeros((2, 3), stype='csr'), mx.nd.zeros((4,), stype='row_sparse', dtype='float16'), mx.nd.ones((2,)),
            sparse.csr_matrix(([10., 12., 14.], [1, 0, 2], [0, 1, 3]), shape=(2, 3))]


def parts(array):
    if array.stype == 'default':
        return [array.asnumpy()]
    return [a.asnumpy() for a in (array.data, array.indices, *([array.indptr] if array.stype == 'csr' else []))]


def check_same(got, wanted):
    assert type(got) is type(wanted) and got.shape == wanted.shape and got.dtype == wanted.dtype
    for a, b in zip(parts(got), parts(wanted)):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    if got.stype != 'default':
        got.check_format()


def test_files_of_1_9_1():
    for got, wanted in zip(mx.nd.load(os.path.join(DATA, 'sparse_list_1.9.1.params')), some()):
        check_same(got, wanted)
    found = mx.nd.load(os.path.join(DATA, 'sparse_dict_1.9.1.params'))
    assert sorted(found) == ['arg:r', 'c', 'e']
    for name, wanted in zip(('c', 'arg:r', 'e'), (some()[0], some()[1], some()[3])):
        check_same(found[name], wanted)


def test_files_and_pickles_keep_storage_and_bytes(tmp_path):
    arrays, path = some(), str(tmp_path / 'x.params')
    mx.nd.save(path, arrays)
    for got, wanted in zip(mx.nd.load(path), arrays):
        check_same(got, wanted)
    with open(path, 'rb') as ours, open(os.path.join(DATA, 'sparse_list_1.9.1.params'), 'rb') as theirs:
        ours, theirs = ours.read(), theirs.read()
    assert len(ours) == len(theirs) and ours[:400] == theirs[:400]      # all but the array that they left unsorted
    for wanted in arrays:
        check_same(pickle.loads(pickle.dumps(wanted)), wanted)


def csr_bytes(indptr, columns, values, shape, index='<q', storage_shape=None):
    code = {'<q': 6, '<i': 4, '<f': 0}[index]
    one = struct.pack('<Iiiq', 0xF993FAC9, 2, 1, len(values) if storage_shape is None else storage_shape)
    one += struct.pack('<iqqiii', 2, *shape, 1, 0, 0)
    one += struct.pack('<iiq', code, 1, len(indptr)) + struct.pack('<iiq', code, 1, len(columns))
    one += np.float32(values).tobytes() + b''.join(struct.pack(index, i) for i in (*indptr, *columns))
    return one


def rows_bytes(ids, shape, width):
    one = struct.pack('<Iiiqq', 0xF993FAC9, 1, 2, len(ids), width) + struct.pack('<iqqiii', 2, *shape, 1, 0, 0)
    return one + struct.pack('<iiq', 6, 1, len(ids)) + np.ones(len(ids) and len(ids) * width, 'float32').tobytes() + np.int64(ids).tobytes()


def load(one):
    return mx.nd.load_frombuffer(struct.pack('<QQQ', 0x112, 0, 1) + one + struct.pack('<Q', 0))[0]


def test_dtypes_of_indices_are_kept():
    array = load(csr_bytes([0, 1, 2], [2, 0], [5, 6], (2, 3), '<i'))
    assert array.indices.dtype == array.indptr.dtype == np.int32
    np.testing.assert_array_equal(array.asnumpy(), [[0, 0, 5], [6, 0, 0]])
    check_same(pickle.loads(pickle.dumps(array)), array)


@pytest.mark.parametrize('one, words', [
    (csr_bytes([0, 1, 2], [2, 3], [5, 6], (2, 3)), r'byte 148: column index 3 is outside shape \(2,3\)'),
    (csr_bytes([0, 1, 2], [2, -1], [5, 6], (2, 3)), 'byte 148: column index -1 is outside'),
    (csr_bytes([0, 2, 1], [2, 1], [5, 6], (2, 3)), 'byte 132: csr index pointer 1 is not in order'),
    (csr_bytes([1, 1, 2], [2, 1], [5, 6], (2, 3)), 'byte 116: csr index pointer 1 is not in order'),
    (csr_bytes([0, 1, 9], [2, 1], [5, 6], (2, 3)), 'byte 132: csr index pointer 9 is not in order'),
    (csr_bytes([0, 1, 1], [2, 1], [5, 6], (2, 3)), 'byte 132: csr index pointers end with 1 and there are 2 values'),
    (csr_bytes([0, 2], [2, 1], [5, 6], (2, 3)), 'one index pointer per row plus one'),
    (csr_bytes([0, 1, 2], [2], [5, 6], (2, 3)), '1 indices and 2 values'),
    (csr_bytes([0, 1, 2], [2, 1], [5, 6], (2, 3), '<f'), 'auxiliary type flag 0; accepted: those of integers'),
    (csr_bytes([0, 1, 2], [2, 1], [5, 6], (2, 3), storage_shape=2 ** 60), 'needs more bytes than are left'),
    (rows_bytes([0, 5], (5, 2), 2), r'byte 124: row index 5 is outside shape \(5,2\)'),
    (rows_bytes([-1, 2], (5, 2), 2), 'byte 116: row index -1 is outside'),
    (rows_bytes([2, 2], (5, 2), 2), 'row index 2 stands twice'),
    (rows_bytes([1, 2], (5, 3), 2), r'values of shape \(2,2\) for an array of shape \(5,3\)'),
    (rows_bytes([], (2 ** 62, 2 ** 62), 2 ** 62), 'malformed'),
])
def test_bad_indices_are_refused_with_offset(one, words):
    with pytest.raises(OSError, match='malformed NDArray data at ' if words == 'malformed' else words):
        load(one)


def test_rows_out_of_order_are_put_into_order():
    np.testing.assert_array_equal(load(rows_bytes([3, 1], (5, 2), 2)).indices.asnumpy(), [1, 3])
    again = load(csr_bytes([0, 3, 3], [2, 0, 2], [1, 2, 4], (2, 3)))    # a column twice: its values add up
    np.testing.assert_array_equal(again.asnumpy(), [[2, 0, 5], [0, 0, 0]])


def test_cut_and_mutated_files():
    for good in (csr_bytes([0, 1, 2], [2, 0], [5, 6], (2, 3)), rows_bytes([1, 3], (5, 2), 2)):
        for end in range(len(good)):
            with pytest.raises(OSError, match=r'^\[load\] malformed NDArray data at byte \d+'):
                load(good[:end] if end else b'')
        rng = np.random.default_rng(3)
        for _ in range(2000):
            bad = bytearray(good)
            for at in rng.integers(0, len(bad), size=rng.integers(1, 4)):
                bad[at] = rng.integers(0, 256)
            try:
                array = load(bytes(bad))
                if array.ndim >= 0 and array.stype != 'default':
                    array.check_format(full_check=False)
            except (OSError, ValueError):
                pass


def test_malformed_arrays_are_not_written(tmp_path):
    bad = sparse.csr_matrix(([1., 2.], [0, 5], [0, 1, 2]), shape=(2, 2))
    with pytest.raises(ValueError, match=r'indices\[1\] is 5'):
        mx.nd.save(str(tmp_path / 'bad.params'), [bad])
    assert os.listdir(tmp_path) == []


def test_parameters_of_sparse_files(tmp_path):
    weight = sparse.row_sparse_array(([[1., 2., 3.]], [1]), shape=(2, 3))
    layer = mx.gluon.nn.Dense(2, in_units=3, use_bias=False)
    mx.nd.save(str(tmp_path / 'x.params'), {'weight': weight})
    layer.load_parameters(str(tmp_path / 'x.params'))
    np.testing.assert_array_equal(layer.weight.data().asnumpy(), weight.asnumpy())
    data = mx.sym.var('data')
    module = mx.mod.Module(mx.sym.FullyConnected(data, num_hidden=2, no_bias=True, name='fc'), label_names=[])
    module.bind([('data', (1, 3))], for_training=False)
    module.set_params({'fc_weight': weight}, {})
    np.testing.assert_array_equal(module.get_params()[0]['fc_weight'].asnumpy(), weight.asnumpy())
