"""Expressions about sparse arrays, for MXNet 1.9.1 (record_sparse_arrays.py) and for this package
(test_sparse_arrays.py)."""
import warnings

import mxnet as mx
import numpy as np

D = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 4, 0]])
DF = D.astype('float32')

# Storage, parts, dtypes and errors are those of 1.9.1.
EXACT = '''
csr(D)
csr(DF)
csr(D.tolist())
csr(D.astype('float64'))
csr(D.astype('float64'), dtype='float16')
csr(mx.nd.array(D))
csr(mx.nd.array(D, dtype='int32'))
csr(S)
csr(S.astype('float64'))
csr(S.astype('int32'))
csr(S, dtype='float64')
csr(S, shape=(3, 4))
csr(S, shape=(4, 4))
csr(c)
csr(c, dtype='float64')
csr(c, shape=(3, 4))
csr(c, shape=(3, 5))
csr(r)
csr(c, ctx=mx.cpu(1))
csr((3, 4))
csr((3, 4), dtype='int32')
csr((3, 4), shape=(3, 4))
csr((3, 4), shape=(3, 5))
csr(3)
csr(([1, 2, 3], [0, 2, 1], [0, 1, 2, 3]))
csr(([1, 2, 3], [0, 2, 1], [0, 1, 2, 3]), shape=(3, 4))
csr(([1, 2, 3], [0, 2, 1], [0, 1, 2, 3]), shape=(3, 4), dtype='float64')
csr((np.array([1, 2, 3.]), np.array([0, 2, 1]), np.array([0, 1, 2, 3])), shape=(3, 4))
csr((np.array([1, 2, 3]), np.array([0, 2, 1], 'int32'), np.array([0, 1, 2, 3], 'int32')), shape=(3, 4))
csr((mx.nd.array([1, 2, 3]), mx.nd.array([0, 2, 1]), mx.nd.array([0, 1, 2, 3])), shape=(3, 4))
csr(([1, 2, 3], [[0, 2, 1]], [0, 1, 2, 3]), shape=(3, 4))
csr(([1, 2, 3], [0, 2, 1], [0, 1, 2, 3]), shape=(3, 4, 1))
csr(([1, 2, 3], ([0, 1, 2], [0, 1, 3])))
csr(([1, 2, 3], ([0, 1, 2], [0, 1, 3])), shape=(4, 5))
csr(([1, 2, 3], (np.array([0, 0, 2]), np.array([3, 1, 1]))), shape=(4, 5), dtype='int32')
csr((np.array([1, 2, 3.]), (mx.nd.array([0, 0, 2]), mx.nd.array([3, 1, 1]))), shape=(4, 5))
csr((mx.nd.array([1, 2, 3.]), (mx.nd.array([0, 0, 2]), mx.nd.array([3, 1, 1]))), shape=(4, 5))
csr(([1, 2, 3], ([0, 0, 2], [1, 1, 1])), shape=(4, 5))
csr(([1, 2, 3], ([0, 1, 9], [0, 1, 3])), shape=(4, 5))
csr([])
csr([1, 2])
csr(np.zeros((2, 3, 4)))
csr(np.zeros((2, 3)))
csr([[1, 2]], shape=(1, 3))
csr([[1, 2]], shape=(1, 2))
csr('a')
rsp(D)
rsp(DF)
rsp(D.tolist())
rsp(mx.nd.array(D, dtype='int32'))
rsp(c)
rsp(r)
rsp(r, dtype='int32')
rsp(r, shape=(3, 4))
rsp(r, shape=(4, 4))
rsp(S)
rsp((3, 4))
rsp((3, 4, 5), dtype='float16')
rsp((3, ))
rsp((3, 4), shape=(3, 4))
rsp(([[1, 2], [3, 4]], [0, 2]))
rsp(([[1, 2], [3, 4]], [0, 2]), shape=(4, 2))
rsp((np.ones((2, 2)), np.array([0, 2])), shape=(4, 2))
rsp((np.ones((2, 2), 'int32'), np.array([0, 2], 'int32')), shape=(4, 2))
rsp((mx.nd.ones((2, 2), dtype='float64'), mx.nd.array([0, 2])), shape=(4, 2))
rsp((mx.nd.ones((2, 2)), mx.nd.array([0, 2])), shape=(4, 2), dtype='float64')
rsp((np.ones((2, 2, 3)), np.array([0, 2])))
rsp((np.ones((2, )), np.array([0, 2])), shape=(5, ))
rsp(([], []), shape=(5, 2))
rsp((np.zeros((0, 2)), np.zeros((0, ))), shape=(5, 2))
rsp('a')
sparse.zeros('csr', (2, 3))
sparse.zeros('csr', (2, 3), dtype='int32')
sparse.zeros('row_sparse', (2, 3), ctx=mx.cpu(1))
sparse.zeros('default', (2, 3))
sparse.zeros('bla', (2, 3))
sparse.empty('csr', (2, 3))
sparse.empty('row_sparse', (2, 3), dtype='int8')
sparse.empty('x', (2, 3))
sparse.array(c)
sparse.array(r)
sparse.array(r, dtype='float64')
sparse.array(S)
sparse.array(S.astype('float64'))
sparse.array(D)
sparse.array(mx.nd.array(D))
sparse.array([1, 2])
mx.nd.array(S)
mx.nd.array(c)
mx.nd.array(c, dtype='float64')
mx.nd.array(r, dtype='float16')
mx.nd.array(S, dtype='int32')
mx.nd.array(S, ctx=mx.cpu(2))
mx.nd.zeros((2, 3), stype='csr')
mx.nd.zeros((2, 3), stype='row_sparse')
mx.nd.zeros((2, 3), stype='default')
mx.nd.zeros((2, 3), stype='foo')
mx.nd.zeros((2, 3), mx.cpu(1), 'float64', 'csr')
mx.nd.empty((2, 3), stype='csr')
mx.nd.empty((2, 3), stype='row_sparse', dtype='float16')
c.asscipy()
sparse.zeros('csr', (2, 3)).asscipy()
mx.nd.sparse.cast_storage(mx.nd.array(D), 'csr')
mx.nd.cast_storage(mx.nd.array(D), stype='row_sparse')
mx.nd.array(D).tostype('csr')
mx.nd.array(D).tostype('row_sparse')
mx.nd.array(D).tostype('x')
mx.nd.ones((2, )).tostype('csr')
mx.nd.ones((2, 3, 4)).tostype('row_sparse')
mx.nd.ones((2, 3, 4)).tostype('csr')
mx.nd.ones((2, )).tostype('row_sparse')
repr(c)
repr(r)
str(c)
len(c), len(r)
c.size
r.size
c.data, c.indices, c.indptr
r.data, r.indices
r.indptr
c._num_aux, r._num_aux, c._aux_types, r._aux_types
c.stype, r.stype, c.context, c.ndim, c.shape, c.dtype
c.reshape((4, 3))
r.reshape(8)
c[0:2]
c[1:]
c[:]
c[0], c[-1], c[1]
c[:2], c[-2:], c[1:9]
c[::2]
c[0, 1]
c[0:2, 1:3]
c[(0, )]
c[[0, 1]]
c[mx.nd.array([0])]
c[None]
c[...]
r[:]
r[0]
r[0:2]
r[...]
r[[0]]
c.astype('float64')
r.astype('int32')
c.copy(), copy.copy(c), copy.deepcopy(c), copy.copy(r)
c.tostype('default'), r.tostype('default')
c.tostype('row_sparse')
r.tostype('csr')
c.tostype('csr') is c
c.as_in_context(mx.cpu()) is c
c.as_in_context(mx.cpu(1))
c.copyto(mx.cpu(1))
c.copyto(c)
c.copyto(mx.nd.zeros((3, 4)))
c.copyto(mx.nd.zeros((3, 4), stype='csr'))
c.copyto(mx.nd.zeros((3, 4), stype='csr', dtype='float64'))
c.copyto(mx.nd.zeros((3, 4), stype='row_sparse'))
r.copyto(mx.nd.zeros((3, 4)))
r.copyto(mx.nd.zeros((3, 4), stype='csr'))
r.copyto(mx.nd.zeros((3, 4), stype='row_sparse', dtype='float64'))
mx.nd.ones((4, 2)).copyto(mx.nd.zeros((4, 2), stype='row_sparse'))
mx.nd.ones((4, 2)).copyto(mx.nd.zeros((4, 2), stype='csr'))
c.copyto(mx.nd.zeros((2, 4)))
c.copyto(3)
c.asscalar()
float(c)
int(c)
bool(c)
c.detach(), c.grad
c._sync_copyfrom(np.zeros((3, 4)))
c._slice(0, 1)
c._at(0)
c.as_np_ndarray()
c.as_nd_ndarray() is c
pickle.loads(pickle.dumps(c)), pickle.loads(pickle.dumps(r))
c.__reduce__()[2]['handle'].hex()
r.__reduce__()[2]['handle'].hex()
put(c, slice(None), 2)
put(c, slice(None), c * 2)
put(c, slice(None), mx.nd.ones((3, 4)))
put(c, slice(None), DF * 3)
put(c, slice(None), r)
put(c, slice(None), mx.nd.ones((1, 4)))
put(c, slice(None), 'a')
put(c, slice(0, 1), 0)
put(c, 0, 0)
put(r, slice(None), 2.5)
put(r, slice(None), r * 2)
put(r, slice(None), mx.nd.ones((3, 4)))
put(r, slice(None), DF * 3)
put(r, slice(None), c)
put(r, slice(None), mx.nd.ones((1, 4)))
put(r, slice(None), 'a')
put(r, slice(0, 1), 0)
put(r, 0, 0)
grad_of(c, None), grad_of(r, None), grad_of(c, 'csr'), grad_of(r, 'row_sparse')
grad_of(mx.nd.ones((3, 4)), 'row_sparse'), grad_of(mx.nd.ones((3, 4)), 'csr'), grad_of(mx.nd.ones((3, 4)), 'default')
grad_of(mx.nd.ones((3, 4)), 'x')
back_of(mx.nd.ones((3, 4)), 'row_sparse')
back_of(r, 'row_sparse'), back_of(r, None), back_of(c, None)
c.check_format(), r.check_format(), c.check_format(full_check=False)
csr(([1., 2.], [0, 5], [0, 1, 2]), shape=(2, 2)).check_format()
csr(([1., 2.], [0, 5], [0, 1, 2]), shape=(2, 2)).check_format(False)
csr(([1., 2.], [0, 1], [0, 3, 2]), shape=(2, 2)).check_format(False)
csr(([1., 2.], [0, 1], [0, 3, 2]), shape=(2, 2)).check_format(True)
csr(([1., 2.], [0, 1], [0, 1, 2, 2]), shape=(2, 2)).check_format(False)
csr(([1., 2.], [1, 0], [0, 2]), shape=(1, 2)).check_format()
csr(([1., 2.], [0, 0], [0, 2]), shape=(1, 2)).check_format()
rsp(([[1, 2], [3, 4]], [0, 9]), shape=(4, 2)).check_format()
rsp(([[1, 2], [3, 4]], [0, 9]), shape=(4, 2)).check_format(False)
rsp(([[1, 2], [3, 4]], [2, 2]), shape=(4, 2)).check_format()
rsp(([[1, 2], [3, 4]], [-1, 2]), shape=(4, 2)).check_format()
saved([c, r, mx.nd.ones(2)])
saved({'a': c, 'b': r})
issubclass(sparse.CSRNDArray, sparse.BaseSparseNDArray), issubclass(sparse.BaseSparseNDArray, mx.nd.NDArray)
isinstance(c, mx.nd.NDArray), isinstance(c, sparse.RowSparseNDArray), isinstance(mx.nd.ones(2), sparse.BaseSparseNDArray)
sparse.add(c, 'a')
sparse.add(c, None)
sparse.add(1, 2), sparse.subtract(1, 2), sparse.multiply(3, 2), sparse.divide(1, 2)
'''.strip().split('\n')

# Values are those of 1.9.1; of which storage a result is belongs to its operator.
VALUES = '''
c + 1, 1 + c, c - 1, 1 - c, c * 2, 2 * c, c / 2, 2 / c, c ** 2, 2 ** c, c % 2
-c, abs(c), -r, abs(r)
c + c, c - c, c * c, c / c, r + r, r - r, r * r, r / r
c + r, c * r, c - r, c / r, r + c
c == c, c == 1, c != 0, c > 0, c >= 0, c < 0, c < 1, r == 1, r != 0, c < r
c + one, one + c, c * one, one * c, one / c, c - one, one - c
r + one, one + r, r * one, one * r, r - one, r / one
c * row, row * c, c + row, row + c, c - row, row - c, c / row
c * col, c + col, c / col, r * row, r + row, r * col
c * mx.nd.ones((4, )), c * mx.nd.ones((1, )), c + mx.nd.ones((4, )), c / mx.nd.ones((4, ))
sparse.add(c, c), sparse.add(c, 1), sparse.add(1, c), sparse.add(c, one), sparse.add(c, row), sparse.add(row, c), sparse.add(r, r)
sparse.subtract(c, c), sparse.subtract(c, 1), sparse.subtract(c, one), sparse.subtract(one, c), sparse.subtract(r, one)
sparse.multiply(c, c), sparse.multiply(c, 2), sparse.multiply(2, c), sparse.multiply(c, one), sparse.multiply(one, c)
sparse.multiply(c, row), sparse.multiply(row, c), sparse.multiply(r, row), sparse.multiply(r, r), sparse.multiply(c, r)
sparse.divide(c, c), sparse.divide(c, 2), sparse.divide(c, one), sparse.divide(c, row), sparse.divide(c, col)
sparse.multiply(c, mx.nd.ones((2, )))
c * mx.nd.ones((3, ))
in_place('c += c'), in_place('c += 1'), in_place('c *= 2'), in_place('c /= 2'), in_place('c -= 1'), in_place('c *= one')
in_place('c *= row'), in_place('c += one'), in_place('r += r'), in_place('r *= 2'), in_place('r += 1'), in_place('r += one')
in_place('c %= 2'), in_place('c **= 2')
c.T, r.T, c.flatten(), c.expand_dims(0), c.broadcast_to((3, 4)), c.slice_axis(axis=0, begin=0, end=1)
c.sum(), c.sum(axis=0), c.sum(axis=1), c.mean(), c.square(), c.sqrt(), c.relu(), c.abs(), r.norm(), c.zeros_like(), c.ones_like()
mx.nd.dot(c, mx.nd.ones((4, 2))), sparse.dot(c, mx.nd.ones((4, 2)))
mx.nd.concat(c, c, dim=0), mx.nd.stack(c, c), mx.nd.concat(c, c, dim=1)
put(r, slice(None), 0), mx.nd.add(c, c), mx.nd.multiply(c, 2), mx.nd.elemwise_add(c, c), mx.nd.broadcast_mul(c, row)
'''.strip().split('\n')


def everything():
    """All expressions, each with whether storages and parts are compared."""
    return [(e, True) for e in EXACT] + [(e, False) for e in VALUES]


def parts(value, exact):
    """What is recorded of a value."""
    if isinstance(value, mx.nd.NDArray) and not exact:
        return ['values', list(value.shape), np.dtype(value.dtype).name, [str(x) for x in value.asnumpy().ravel().tolist()]]
    if isinstance(value, mx.nd.NDArray):
        arrays = [value] if value.stype == 'default' else [value.data, value.indices]
        arrays += [value.indptr] if value.stype == 'csr' else []
        return [value.stype, type(value).__name__, list(value.shape), str(value.context),
                [[np.dtype(a.dtype).name, list(a.shape), a.asnumpy().ravel().tolist()] for a in arrays]]
    if hasattr(value, 'tocsr'):
        return [type(value).__name__, value.dtype.name, list(value.shape)] + [a.tolist() for a in (value.data, value.indices, value.indptr)]
    if isinstance(value, (list, tuple)):
        return [parts(v, exact) for v in value]
    return value if isinstance(value, (str, bool, int, float, type(None))) else str(value)


def _put(array, key, value):
    array[key] = value
    return array


def _grad_of(array, stype):
    array = array.copy()
    array.attach_grad(stype=stype)
    return array.grad


def _back_of(array, stype):
    array = array.copy()
    array.attach_grad(stype=stype)
    with mx.autograd.record():
        y = array * 2
    y.backward()
    return array.grad


def _saved(arrays):
    mx.nd.save('saved.nd', arrays)
    found = mx.nd.load('saved.nd')
    return found if isinstance(found, list) else sorted(found.items())


def space():
    """The names that the expressions know."""
    import copy
    import pickle

    import scipy.sparse as sp
    sparse = mx.nd.sparse
    names = {'mx': mx, 'np': np, 'sp': sp, 'sparse': sparse, 'D': D, 'DF': DF, 'csr': sparse.csr_matrix, 'rsp': sparse.row_sparse_array,
             'S': sp.csr_matrix(DF), 'one': mx.nd.ones((3, 4)), 'row': mx.nd.array([[1, 2, 4, 8]]), 'col': mx.nd.array([[1], [2], [4]]),
             'put': _put, 'grad_of': _grad_of, 'back_of': _back_of, 'saved': _saved, 'copy': copy, 'pickle': pickle,
             'c': sparse.csr_matrix(DF), 'r': sparse.row_sparse_array(DF)}

    def in_place(statement):
        inner = dict(names, c=names['c'].copy(), r=names['r'].copy())
        exec(statement, inner)
        return inner[statement[0]]
    names['in_place'] = in_place
    return names


def outcome(expression, exact):
    """What an expression gives: a value, or the classes of its exception; and its warnings."""
    names = space()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        try:
            result = ['value', parts(eval(expression, names), exact)]
        except Exception as e:      # whatever 1.9.1 raises
            result = ['error', [c.__name__ for c in type(e).__mro__]]
    own = sorted({w.category.__name__ for w in seen if 'ssigning' in str(w.message) or 'copy an array' in str(w.message)})
    return result + [own]
