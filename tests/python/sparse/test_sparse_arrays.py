"""Arrays of row_sparse and csr storage: what 1.9.1 gives for expressions about them (recorded by
record_sparse_arrays.py), and what it has not or does wrong."""
import copy
import json
import os
import pickle
import threading

import mxnet as mx
import numpy as np
import pytest

import sparse_array_cases as cases
from mxnet.ndarray._sparse_native import set_part

pytestmark = pytest.mark.on_gpu

sparse = mx.nd.sparse
with open(os.path.join(os.path.dirname(__file__), '..', 'data', 'sparse_arrays_1.9.1.json')) as _file:
    RECORDED = json.load(_file)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.cpu      # results name their device
@pytest.mark.parametrize('expression, exact', cases.everything(), ids=[e for e, _ in cases.everything()])
def test_as_in_1_9_1(expression, exact):
    pytest.importorskip('scipy')
    kind, wanted, wanted_warnings = RECORDED[expression]
    if kind == 'crash':
        pytest.skip('ends 1.9.1')
    got_kind, got, got_warnings = cases.outcome(expression, exact)
    assert got_kind == kind, (got, wanted)
    if kind == 'error':
        assert wanted[0] in got, got
    else:
        assert json.loads(json.dumps(got)) == wanted
    assert got_warnings == wanted_warnings


def csr():
    return sparse.csr_matrix(([5., 6., 7.], [1, 0, 2], [0, 1, 3]), shape=(2, 3))


def rows():
    return sparse.row_sparse_array(([[1., 2.], [3., 4.]], [1, 3]), shape=(5, 2))


def test_parts_and_rows():
    x = csr()
    assert x.data.asnumpy().tolist() == [5, 6, 7] and x.indices.asnumpy().tolist() == [1, 0, 2]
    x.data[:] = 0                       # a copy
    assert x.asnumpy().tolist() == [[0, 5, 0], [6, 0, 7]]
    assert [row.asnumpy().tolist() for row in x] == [[[0, 5, 0]], [[6, 0, 7]]]
    assert x[np.int64(1)].asnumpy().tolist() == [[6, 0, 7]]
    for empty in (x[0:0], x[2:], x[1:1]):
        assert empty.shape == (0, 3) and empty.stype == 'csr' and empty.asnumpy().shape == (0, 3)
    for bad in (2, -3):
        with pytest.raises(IndexError, match='accepted: -2 to 1'):
            x[bad]
    with pytest.raises(NotImplementedError, match='retain'):
        rows()[0]


def test_slices_are_differentiated():
    x = csr()
    x.attach_grad(stype='default')
    with mx.autograd.record():
        y = (x[1] * mx.nd.array([[1, 2, 3]])).sum()
    y.backward()
    assert x.grad.asnumpy()[1].tolist()[0::2] == [1, 3] and x.grad.asnumpy()[0].tolist() == [0, 0, 0]


def test_what_is_wrong_in_1_9_1():
    x = csr()
    assert sparse.subtract(1, x).asnumpy().tolist() == (1 - x.asnumpy()).tolist()
    assert sparse.divide(1, x + 1).asnumpy().tolist() == (1 / (x.asnumpy() + 1)).tolist()
    assert (x / mx.nd.ones((2, 3))).asnumpy().tolist() == x.asnumpy().tolist()
    y = x.copy()
    y -= y
    assert y.asnumpy().tolist() == [[0] * 3] * 2 and y.stype == 'csr'
    x[:] = [[1, 0, 2], [0, 0, 3]]
    assert x.indices.asnumpy().tolist() == [0, 2, 2]
    dense = mx.nd.zeros((2, 3))
    dense[:] = x
    dense[0:1] = x[1]
    assert dense.asnumpy().tolist() == [[0, 0, 3], [0, 0, 3]]


def test_numpy_and_dlpack_are_refused():
    for x in (csr(), rows()):
        with pytest.raises(TypeError, match='accepted: what asnumpy'):
            np.asarray(x)
        for refused in (x.__dlpack__, x.to_dlpack_for_read, x.to_dlpack_for_write):
            with pytest.raises(BufferError, match="tostype"):
                refused()
        with pytest.raises(ValueError, match='tostype'):
            x.as_np_ndarray()
        with pytest.raises(TypeError, match='no number'):
            float(x)
        assert '%s' % x == '{}'.format(x) == repr(x)
        assert 5. in csr() and 9. not in csr()


def test_other_kinds_of_scipy():
    sp = pytest.importorskip('scipy.sparse')
    dense = np.float32([[0, 5, 0], [6, 0, 7]])
    for matrix in (sp.coo_matrix(dense), sp.csc_matrix(dense), sp.csr_array(dense)):
        for made in (sparse.csr_matrix(matrix), sparse.array(matrix), mx.nd.array(matrix)):
            assert made.stype == 'csr' and made.dtype == np.float32
            np.testing.assert_array_equal(made.asnumpy(), dense)
    unsorted = sp.csr_matrix((np.float32([1, 2, 3]), [2, 0, 2], [0, 3]), shape=(1, 3))
    made = sparse.csr_matrix(unsorted)
    made.check_format()
    np.testing.assert_array_equal(made.asnumpy(), [[2, 0, 4]])
    assert unsorted.indices.tolist() == [2, 0, 2]


def test_scipy_has_no_copy_of_a_copy():
    pytest.importorskip('scipy')
    matrix = csr().asscipy()
    assert matrix.data.base is not None and matrix.data.flags.writeable
    matrix.data[0] = 9
    assert csr().asnumpy()[0, 1] == 5


@pytest.mark.parametrize("columns, ends, word", [([0, 9], [0, 1, 2], r"indices\[1\] is 9"), ([-1, 0], [0, 1, 2], r"indices\[0\] is -1"),
                                                 ([0, 1], [0, 2, 1], "indptr")])
def test_scipy_gets_no_parts_that_lead_outside(columns, ends, word):
    pytest.importorskip('scipy')
    with pytest.raises(mx.MXNetError, match=word):
        mx.nd.sparse.csr_matrix(([1., 2.], columns, ends), shape=(2, 3)).asscipy()


def test_index_dtypes():
    for dtype in ('int8', 'uint8', 'int32', 'int64', 'float32', 'float64'):
        x = sparse.csr_matrix((mx.nd.array([1, 2]), np.array([1, 0], dtype), np.array([0, 1, 2], dtype)), shape=(2, 2))
        assert x.indices.dtype == np.int64 and x.asnumpy().tolist() == [[0, 1], [2, 0]]


@pytest.mark.parametrize('make, words', [
    (lambda: sparse.csr_matrix(([1., 2.], [0, 5], [0, 1, 2]), shape=(2, 2)), r'indices\[1\] is 5'),
    (lambda: sparse.csr_matrix(([1., 2.], [0, -1], [0, 1, 2]), shape=(2, 2)), r'indices\[1\] is -1'),
    (lambda: sparse.csr_matrix(([1., 2.], [0, 1], [0, 3, 2]), shape=(2, 2)), 'numbers that do not fall'),
    (lambda: sparse.csr_matrix(([1., 2.], [0, 1], [0, 1, 1]), shape=(2, 2)), 'ends with 1'),
    (lambda: sparse.csr_matrix(([1., 2.], [0, 1], [0, 1, 2, 2]), shape=(2, 2)), 'has 4 numbers; accepted: 3'),
    (lambda: sparse.row_sparse_array(([[1.], [2.]], [0, 9]), shape=(4, 1)), r'indices\[1\] is 9'),
    (lambda: sparse.row_sparse_array(([[1.], [2.]], [-1, 2]), shape=(4, 1)), r'indices\[0\] is -1'),
    (lambda: sparse.row_sparse_array(([[1.], [2.]], [2, 2]), shape=(4, 1)), 'each once'),
])
def test_parts_that_lead_outside_are_never_read(make, words):
    bad = make()
    for use in (lambda: bad.asnumpy(), lambda: (bad * 2).asnumpy(), lambda: mx.nd.dot(bad, mx.nd.ones((bad.shape[1], 2))).asnumpy(),
                lambda: bad.copyto(mx.nd.zeros(bad.shape)).asnumpy()):
        with pytest.raises(mx.MXNetError, match=words):
            use()


@pytest.mark.parametrize('call, words', [
    (lambda: sparse.csr_matrix(([1., 2.], [0], [0, 1, 2]), shape=(2, 2)), '2 values and 1 indices'),
    (lambda: sparse.row_sparse_array(([[1.], [2.]], [0]), shape=(4, 1)), '2 rows and 1 indices'),
    (lambda: sparse.row_sparse_array(([[1.], [2.]], [0, 1]), shape=(4, 2)), r"accepted: \('n', 2\)"),
    (lambda: sparse.csr_matrix((1, 2, 3)), 'two dimensions'),
    (lambda: sparse.zeros('csr', (2, 3, 4)), 'two dimensions'),
    (lambda: mx.nd.zeros((), stype='row_sparse'), 'at least one dimension'),
    (lambda: sparse.zeros('csr', (2, 3), typo=1), 'unexpected arguments typo'),
    (lambda: sparse.csr_matrix(([1.5], [0.5], [0, 1]), shape=(1, 2)), 'fractions'),
])
def test_definitions_are_checked(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


@pytest.mark.parametrize('make', [
    lambda: sparse.csr_matrix(([1., 2., 3.], [0, 1], [0, 1, 2]), shape=(2, 2)),
    lambda: sparse.row_sparse_array(([[1.]], [0, 1]), shape=(4, 1)),
])
def test_lengths_that_differ_are_both_kinds_of_errors(make):
    """1.x finds them in the library, and so raises MXNetError."""
    with pytest.raises(mx.MXNetError, match='accepted: as many'):
        make()
    with pytest.raises(ValueError, match='accepted: as many'):
        make()


def test_values_become_integers_as_in_dense_arrays():
    values, wanted = [1.5, -2.7], np.array([1, -2], 'int32')
    x = sparse.csr_matrix((values, [0, 1], [0, 1, 2]), shape=(2, 2), dtype='int32')
    np.testing.assert_array_equal(x.data.asnumpy(), wanted)
    x = sparse.row_sparse_array(([[v] for v in values], [0, 2]), shape=(3, 1), dtype='int32')
    np.testing.assert_array_equal(x.data.asnumpy()[:, 0], wanted)
    np.testing.assert_array_equal(x.data.asnumpy()[:, 0], mx.nd.array(values, dtype='int32').asnumpy())


def test_empty_shapes():
    for shape, stype in (((0, 3), 'csr'), ((3, 0), 'csr'), ((0, 3), 'row_sparse'), ((3, 0), 'row_sparse')):
        x = mx.nd.zeros(shape, stype=stype)
        assert x.asnumpy().shape == shape and x.tostype('default').tostype(stype).shape == shape
        x.check_format()


def test_classes_follow_storage():
    x = mx.nd.ones((2, 2))
    handle = mx.nd.ndarray._new_empty_handle()
    out = mx.nd.NDArray(handle)
    mx.nd.cast_storage(x, stype='csr', out=out)
    assert type(out) is sparse.CSRNDArray and out.stype == 'csr'
    x.attach_grad(stype='row_sparse')
    assert type(x.grad) is sparse.RowSparseNDArray
    y = mx.np.ones((2, 2))
    y.attach_grad(stype='row_sparse')
    assert type(y.grad) is sparse.RowSparseNDArray      # mx.np has no sparse arrays of its own
    z = csr()
    z.attach_grad(stype='default')
    assert type(z.grad) is mx.nd.NDArray
    del z, y, out
    many = [csr() for _ in range(200)] + [mx.nd.ones(1) for _ in range(200)]
    assert {type(a) for a in many} == {sparse.CSRNDArray, mx.nd.NDArray}


def test_subclasses_keep_their_class():
    class Mine(mx.nd.NDArray):
        pass
    x = csr()
    assert type(Mine(mx.nd.ndarray._new_empty_handle())) is Mine
    assert isinstance(copy.deepcopy(x), sparse.BaseSparseNDArray) and pickle.loads(pickle.dumps(x)).stype == 'csr'


def test_star_exports():
    space = {}
    exec('from mxnet.ndarray.sparse import *', space)
    assert {'CSRNDArray', 'RowSparseNDArray', 'BaseSparseNDArray', 'csr_matrix', 'row_sparse_array', 'retain', 'dot', 'sum', 'add',
            'adagrad_update', 'zeros_like', '_ndarray_cls'} <= set(space)
    assert not {'zeros', 'array', 'empty'} & set(space)
    assert type(sparse._ndarray_cls(mx.nd.ndarray._new_empty_handle())) is mx.nd.NDArray
    for name in mx.nd.sparse.__all__:
        if name in mx.sym.sparse.__all__:
            assert callable(getattr(mx.sym.sparse, name)) and callable(getattr(mx.nd.sparse, name))
    with pytest.raises(AttributeError, match='no operator that knows sparse storage'):
        mx.nd.sparse.Convolution


def test_unsorted_columns():
    shuffled = mx.test_utils.create_sparse_array((4, 8), 'csr', density=.9, shuffle_csr_indices=True)
    with pytest.raises(mx.MXNetError, match='ascending'):
        shuffled.check_format()
    assert shuffled.asscipy().toarray().tolist() == shuffled.asnumpy().tolist()


def test_random_arrays_of_test_utils():
    tools = mx.test_utils
    for stype, density in (('csr', 0), ('csr', .5), ('csr', 1), ('row_sparse', 0), ('row_sparse', 1)):
        array, given = tools.rand_sparse_ndarray((6, 4), stype, density=density, dtype='float64')
        array.check_format()
        assert array.stype == stype and array.dtype == np.float64
        if stype == 'csr':
            assert array.data.size == round(density * 24) and len(given) == 3
            tools.assert_almost_equal(sparse.csr_matrix((given[2], given[1], given[0]), shape=(6, 4)), array)
    array, (values, ids) = tools.rand_sparse_ndarray((6, 4), 'row_sparse', rsp_indices=np.array([1, 4]), data_init=3)
    assert ids.tolist() == [1, 4] and values.tolist() == [[3] * 4] * 2 and array.indices.asnumpy().tolist() == [1, 4]
    assert set(tools.create_sparse_array((4, 3), 'row_sparse', modifier_func=lambda x: 9, density=1).data.asnumpy().ravel()) == {9}
    assert tools.create_sparse_array_zd((4, 3), 'row_sparse', .5, rsp_indices=[1]).indices.asnumpy().tolist() == [1]
    assert tools.create_sparse_array_zd((4, 3), 'csr', .5, data_init=4).data.asnumpy().tolist() == [4] * 6
    power = tools.rand_sparse_ndarray((4, 8), 'csr', density=.5, distribution='powerlaw')[0]
    assert power.indptr.asnumpy().tolist() == [0, 2, 6, 14, 16]         # of 1.9.1
    assert power.indices.asnumpy().tolist() == [0, 1, 0, 1, 2, 3, *range(8), 0, 1]
    for bad in (lambda: tools.rand_sparse_ndarray((4, 8), 'default'), lambda: tools.rand_sparse_ndarray((4, 8, 2), 'csr'),
                lambda: tools.rand_sparse_ndarray((4, 8), 'csr', distribution='x'),
                lambda: tools.rand_sparse_ndarray((4, 8), 'row_sparse', distribution='powerlaw')):
        with pytest.raises(AssertionError):
            bad()
    with pytest.raises(AssertionError):
        tools.assert_almost_equal(csr(), csr() * 2)


def test_notebooks_show_what_is_stored():
    shown = csr()._repr_html_()
    assert '>6</td>' in shown and f'CSRNDArray 2x3, float32, {mx.cpu(0)}, 3 elements stored' in shown
    assert [row.count('</td>') for row in shown.split('<tr>')[2:]] == [3, 3, 3]
    shown = rows()._repr_html_()
    assert '2 rows stored' in shown and '<td style="text-align:right;padding:1px 6px">3</td>' in shown
    many = mx.nd.ones((6, 20)).tostype('csr')._repr_html_()
    assert '120 in all' in many and many.count('</tr>') == 11
    assert '0 rows stored' in mx.nd.zeros((3, 2), stype='row_sparse')._repr_html_()
    assert '0 elements stored' in mx.nd.zeros((3, 2), stype='csr')._repr_html_()


def _is_csr(data, indices, indptr, shape):
    """Whether these are the parts of a matrix, whatever the order in a row."""
    return (len(data) == len(indices) and len(indptr) == shape[0] + 1 and indptr[0] == 0 and indptr[-1] == len(data)
            and all(a <= b for a, b in zip(indptr, indptr[1:])) and all(0 <= i < shape[1] for i in indices))


def _dense_of(data, indices, indptr, shape):
    out = np.zeros(shape, 'float32')
    for r in range(shape[0]):
        for k in range(indptr[r], indptr[r + 1]):
            out[r, indices[k]] += data[k]
    return out


def test_random_parts_are_computed_with_or_refused():
    """Whatever the parts: an operator gives what they stand for, or raises MXNetError."""
    rng, good = np.random.RandomState(5), 0
    for _ in range(600):
        shape = tuple(rng.randint(1, 5, 2))
        count = rng.randint(0, 7)
        data = rng.randint(1, 9, count).astype('float32')
        indices = rng.randint(-1 if rng.rand() < .2 else 0, shape[1] + (rng.rand() < .2), count)
        indptr = np.sort(rng.randint(0, count + 1, shape[0] + 1 + (rng.rand() < .1)))
        if rng.rand() < .8:
            indptr[0], indptr[-1] = 0, count
        if rng.rand() < .1:
            indptr = indptr[::-1].copy()
        x = mx.nd.zeros(shape, stype='csr')
        for part, values in ((-1, data), (0, indptr), (1, indices)):
            set_part(x, part, mx.nd.array(values, dtype=values.dtype))
        valid = _is_csr(data, indices, indptr, shape)
        good += valid
        dense = _dense_of(data, indices, indptr, shape) if valid else None
        right = mx.nd.ones((shape[1], 2))
        for use, wanted in ((lambda: x.asnumpy(), lambda: dense), (lambda: (x * 2).asnumpy(), lambda: dense * 2),
                            (lambda: mx.nd.dot(x, right).asnumpy(), lambda: dense @ np.ones((shape[1], 2), 'float32')),
                            (lambda: pickle.loads(pickle.dumps(x)).asnumpy(), lambda: dense)):
            if valid:
                np.testing.assert_array_equal(use(), wanted())
            else:
                with pytest.raises(mx.MXNetError):
                    use()
    assert 100 < good < 500


@pytest.mark.parametrize('seed', range(3))
def test_random_calls_of_c_functions(seed):
    """Numbers of any kind where storage, dtypes, parts and sizes are expected: an error or an
    array, never a crash."""
    import ctypes

    from mxnet.base import _LIB, MXNetError, NDArrayHandle, check_call
    rng = np.random.RandomState(seed)

    def odd(*usual):
        return int(rng.choice(usual)) if rng.rand() < .97 else int(rng.choice([-2, -1, 0, 3, 7, 99]))
    made = 0
    for _ in range(400):
        handle, parts, ndim = NDArrayHandle(), odd(1, 2) & 3, rng.randint(0, 4)
        shape = (ctypes.c_int64 * 4)(*[odd(1, 2, 3) for _ in range(4)])
        sizes = (ctypes.c_int64 * 4)(*[int(rng.choice([0, 0, 1, 2, 4, -1])) for _ in range(4)])
        try:
            check_call(_LIB.MXNDArrayCreateSparseEx64(odd(1, 2), shape, int(ndim), odd(1), 0, int(rng.rand() < .5), odd(0, 1), parts,
                                                      (ctypes.c_int * 4)(*[odd(6, 4) for _ in range(4)]),
                                                      (ctypes.c_int * 4)(*[odd(1, 1) for _ in range(4)]), sizes,
                                                      ctypes.byref(handle)))
        except MXNetError:
            continue
        made += 1
        x = mx.nd.NDArray(handle)
        for _ in range(4):
            values = mx.nd.array(rng.randint(-1, 4, rng.randint(0, 5, rng.randint(1, 3))), dtype=rng.choice(['float32', 'int64', 'int32']))
            try:
                check_call(_LIB.MXNDArraySyncCopyFromNDArray(x.handle, values.handle, ctypes.c_int(odd(-1, 0, 1))))
                x.asnumpy()
                x.check_format(full_check=bool(rng.rand() < .5))
                mx.nd.sparse.array(x * 3)
            except MXNetError:
                pass
    assert made > 20


def test_symbolic_checks_take_sparse_arrays():
    tools = mx.test_utils
    r, c = tools.rand_ndarray((4, 5), 'row_sparse', density=1.), tools.rand_ndarray((4, 5), 'csr', density=.5)
    x, y = mx.sym.Variable('x', stype='row_sparse'), mx.sym.Variable('y', stype='csr')
    assert tools.check_symbolic_forward(mx.sym.sparse.elemwise_add(y, y), {'y': c}, [2 * c.asnumpy()])[0].stype == 'csr'
    square = mx.sym.square(x)
    found = tools.check_symbolic_backward(square, {'x': r}, [mx.nd.ones((4, 5))], {'x': 2 * r.asnumpy()}, grad_stypes={'x': 'row_sparse'})
    assert found['x'].stype == 'row_sparse'
    with pytest.raises(AssertionError):
        tools.check_symbolic_backward(square, {'x': r}, [mx.nd.ones((4, 5))], {'x': 3 * r.asnumpy()}, grad_stypes={'x': 'row_sparse'})
    tools.check_numeric_gradient(square, {'x': r}, grad_stype_dict={'x': 'row_sparse'})


@pytest.mark.cpu
@pytest.mark.sanitized
@pytest.mark.parametrize('stype', ['row_sparse', 'csr'])
def test_parts_are_read_while_other_threads_write(stype):
    arrays = [mx.nd.array(x).tostype(stype) for x in (np.zeros((50, 8)), np.eye(50, 8), np.ones((50, 8)))]
    sizes = [a.indices.shape for a in arrays]
    shared, over = arrays[0].copy(), threading.Event()

    def write():
        while not over.is_set():
            for array in arrays:
                array.copyto(shared)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(500):
            assert shared.indices.shape in sizes
            assert shared.data.shape[:1] in sizes
            shared.check_format(True)
    finally:
        over.set()
        thread.join()


def test_initializers_store_every_row():
    """1.9.1 stores rows of zeros, too, so that `indices` of a weight are those of all rows."""
    for init in (mx.init.Zero(), mx.init.One()):
        parameter = mx.gluon.Parameter("w", shape=(9, 4), stype="row_sparse", grad_stype="row_sparse")
        parameter.initialize(init)
        mx.gluon.Trainer([parameter], "sgd")
        rows = parameter.row_sparse_data(mx.nd.array([5, 1, 5]))
        assert rows.indices.asnumpy().tolist() == [1, 5]
    x = mx.nd.sparse.zeros("row_sparse", (3, 2))
    mx.nd._internal._set_value(src=0, out=x)
    assert x.indices.shape == (3,)
    x[:] = mx.nd.zeros((3, 2))   # of arrays, rows that are zero are not stored
    assert x.indices.shape == (0,)


@pytest.mark.cpu
@pytest.mark.parametrize("source, target", [("default", "row_sparse"), ("default", "csr"), ("row_sparse", "default"), ("csr", "default")])
def test_copies_take_another_dtype_into_another_storage(source, target):
    """1.9.1 refuses this, while copies within one storage convert in both."""
    values = np.array([[1.5, 0, 2], [0, 0, 0], [0, -3, 0]])
    for dtype in ("float64", "float16", "int32"):
        array = mx.nd.array(values).tostype(source)
        copied, assigned = (mx.nd.ones((3, 3), dtype=dtype).tostype(target) for _ in range(2))
        assert array.copyto(copied) is copied
        assigned[:] = array
        for result in (copied, assigned):
            assert result.stype == target and result.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(result.asnumpy(), values.astype(dtype))


@pytest.mark.cpu
def test_set_data_converts_into_a_sparse_parameter():
    parameter = mx.gluon.Parameter("w", shape=(4, 3), stype="row_sparse")
    parameter.initialize()
    parameter.cast("float64")
    parameter.set_data(mx.nd.ones((4, 3)))
    found = parameter.row_sparse_data(mx.nd.arange(4))
    assert found.dtype == np.float64 and found.asnumpy().sum() == 12
