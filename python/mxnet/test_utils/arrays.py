"""Shapes and arrays for tests, random and regular."""
import numpy as np

from .. import ndarray as nd
from ..base import CheckedValueError, error_class
from ._defaults import default_context, default_dtype
from .sparse_arrays import rand_sparse_ndarray

__all__ = ["assign_each", "assign_each2", "collapse_sum_like", "create_2d_np_tensor", "create_2d_tensor", "create_vector",
           "get_identity_mat", "get_identity_mat_batch", "new_matrix_with_real_eigvals_2d", "new_matrix_with_real_eigvals_nd",
           "new_orthonormal_matrix_2d", "new_sym_matrix_with_real_eigvals_2d", "new_sym_matrix_with_real_eigvals_nd",
           "np_reduce", "rand_coord_2d", "rand_ndarray", "rand_shape_2d", "rand_shape_3d", "rand_shape_nd", "random_arrays",
           "random_sample", "random_uniform_arrays"]


# ---- random ----

def rand_shape_nd(num_dim, dim=10, allow_zero_size=False):
    """A shape of `num_dim` random lengths up to `dim`.

    >>> shape = mx.test_utils.rand_shape_nd(4, dim=5)
    >>> len(shape), max(shape) <= 5
    (4, True)
    """
    return tuple(np.random.randint(0 if allow_zero_size else 1, dim + 1, size=num_dim).tolist())


def rand_shape_2d(dim0=10, dim1=10, allow_zero_size=False):
    """A shape of two random lengths.

    >>> rows, columns = mx.test_utils.rand_shape_2d(3, 5)
    >>> rows <= 3, columns <= 5
    (True, True)
    """
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1))


def rand_shape_3d(dim0=10, dim1=10, dim2=10, allow_zero_size=False):
    """A shape of three random lengths.

    >>> len(mx.test_utils.rand_shape_3d(3, 4, 5))
    3
    """
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1, dim2))


def rand_coord_2d(x_low, x_high, y_low, y_high):
    """A pair of random integers; the upper limits are not among them.

    >>> x, y = mx.test_utils.rand_coord_2d(0, 3, 10, 13)
    >>> x < 3, y >= 10
    (True, True)
    """
    return int(np.random.randint(x_low, x_high)), int(np.random.randint(y_low, y_high))


def random_arrays(*shapes):
    """Normally distributed NumPy arrays of the default dtype: one for one shape, a list for
    several.

    >>> a, b = mx.test_utils.random_arrays((2, 3), (4,))
    >>> a.shape, b.dtype.name
    ((2, 3), 'float32')
    """
    arrays = [np.array(np.random.randn(*shape), dtype=default_dtype()) for shape in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes, **kwargs):
    """A list of uniformly distributed NumPy arrays; ``low=0``, ``high=1``, ``dtype``.

    >>> a, = mx.test_utils.random_uniform_arrays((2, 3), low=5, high=6)
    >>> bool(a.min() >= 5)
    True
    """
    low, high = kwargs.pop("low", 0.0), kwargs.pop("high", 1.0)
    dtype = kwargs.pop("dtype", default_dtype())
    if kwargs:
        raise TypeError(f"[random_uniform_arrays] unexpected arguments {', '.join(kwargs)}")
    return [np.random.uniform(low, high, size=shape).astype(dtype) for shape in shapes]


def random_sample(population, k):
    """`k` different members in random order, as ``numpy.random.seed`` makes it.

    >>> sorted(mx.test_utils.random_sample([1, 2, 3], 3))
    [1, 2, 3]
    """
    if not 0 <= k <= len(population):
        raise CheckedValueError(f"[random_sample] k={k}; 0 to {len(population)} are accepted")
    members = list(population)
    np.random.shuffle(members)
    return members[:k]


def rand_ndarray(shape, stype="default", density=None, dtype=None, modifier_func=None, shuffle_csr_indices=False,
                 distribution=None, ctx=None):
    """A normally distributed dense array, or a sparse one of `rand_sparse_ndarray`, which takes all
    but `shape` and `ctx`.

    Parameters
    ----------
    shape : tuple of int
    stype : {'default', 'row_sparse', 'csr'}
    density, modifier_func, shuffle_csr_indices, distribution : optional
    dtype : type, optional
    ctx : Context, optional

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.test_utils.rand_ndarray((2, 3), dtype='float16').shape
    (2, 3)
    """
    dtype = default_dtype() if dtype is None else dtype
    ctx = default_context() if ctx is None else ctx
    if stype == "default":
        return nd.array(np.random.randn(*shape), dtype=dtype, ctx=ctx)
    return rand_sparse_ndarray(shape, stype, density=density, dtype=dtype, modifier_func=modifier_func,
                               shuffle_csr_indices=shuffle_csr_indices, distribution=distribution, ctx=ctx)[0]


# ---- regular ----

def create_2d_tensor(rows, columns, dtype=np.int64):
    """An NDArray whose rows are filled with their number.

    >>> mx.test_utils.create_2d_tensor(2, 3).asnumpy()
    array([[0, 0, 0],
           [1, 1, 1]])
    """
    return nd.array(np.arange(rows).repeat(columns).reshape(rows, columns), dtype=dtype)


def create_2d_np_tensor(rows, columns, dtype=np.int64):
    """An array of ``mx.np`` whose rows are filled with their number.

    >>> mx.test_utils.create_2d_np_tensor(2, 3)
    array([[0, 0, 0],
           [1, 1, 1]], dtype=int64)
    """
    return create_2d_tensor(rows, columns, dtype).as_np_ndarray()


def create_vector(size, dtype=np.int64):
    """An NDArray 0, 1, 2, ...

    >>> mx.test_utils.create_vector(3).asnumpy()
    array([0, 1, 2])
    """
    return nd.arange(0, size, dtype=dtype)


def get_identity_mat(size):
    """The identity matrix as an NDArray.

    >>> mx.test_utils.get_identity_mat(2).asnumpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return nd.array(np.identity(size))


def get_identity_mat_batch(size):
    """Two identity matrices in one NDArray.

    >>> mx.test_utils.get_identity_mat_batch(2).shape
    (2, 2, 2)
    """
    return nd.array(np.stack([np.identity(size)] * 2))


def new_orthonormal_matrix_2d(n):
    """A random n x n NumPy matrix with orthonormal columns.

    >>> import numpy
    >>> q = mx.test_utils.new_orthonormal_matrix_2d(3)
    >>> bool(abs(q.T @ q - numpy.eye(3)).max() < 1e-6)
    True
    """
    return np.linalg.qr(np.random.randn(n, n))[0]


def new_matrix_with_real_eigvals_2d(n):
    """A random n x n NumPy matrix whose eigenvalues are real.

    >>> import numpy
    >>> a = mx.test_utils.new_matrix_with_real_eigvals_2d(3)
    >>> bool(numpy.isreal(numpy.linalg.eigvals(a)).all())
    True
    """
    basis = np.random.randn(n, n) + n * np.identity(n)      # far from singular
    return basis @ np.diag(np.random.uniform(-1, 1, n)) @ np.linalg.inv(basis)


def new_sym_matrix_with_real_eigvals_2d(n):
    """A random symmetric n x n NumPy matrix.

    >>> a = mx.test_utils.new_sym_matrix_with_real_eigvals_2d(3)
    >>> bool(abs(a - a.T).max() < 1e-6)
    True
    """
    half = np.random.uniform(-1, 1, (n, n))
    return half + half.T


def _stacked(make, shape):
    count = int(np.prod(shape[:-2]))
    return np.stack([make(shape[-1]) for _ in range(count)]).reshape(shape)


def new_matrix_with_real_eigvals_nd(shape):
    """Random square NumPy matrices with real eigenvalues in the last two dimensions.

    >>> mx.test_utils.new_matrix_with_real_eigvals_nd((2, 3, 3)).shape
    (2, 3, 3)
    """
    return _stacked(new_matrix_with_real_eigvals_2d, shape)


def new_sym_matrix_with_real_eigvals_nd(shape):
    """Random symmetric NumPy matrices in the last two dimensions.

    >>> mx.test_utils.new_sym_matrix_with_real_eigvals_nd((2, 3, 3)).shape
    (2, 3, 3)
    """
    return _stacked(new_sym_matrix_with_real_eigvals_2d, shape)


# ---- element by element ----

def assign_each(the_input, function):
    """A NumPy array of `function` of each element; a copy when there is no function.

    >>> import numpy
    >>> mx.test_utils.assign_each(numpy.array([1., 2.]), lambda x: 10 * x)
    array([10., 20.])
    """
    array = np.array(the_input)
    return array if function is None else np.vectorize(function, otypes=[np.float64])(array)


def assign_each2(input1, input2, function):
    """A NumPy array of `function` of each pair of elements; a copy of the first when there is no
    function.

    >>> import numpy
    >>> mx.test_utils.assign_each2(numpy.array([1., 2.]), numpy.array([3., 4.]), lambda x, y: x * y)
    array([3., 8.])
    """
    array = np.array(input1)
    return array if function is None else np.vectorize(function, otypes=[np.float64])(array, np.array(input2))


def np_reduce(dat, axis, keepdims, numpy_reduce_func):
    """A reduction of NumPy over one axis or several.

    >>> import numpy
    >>> mx.test_utils.np_reduce(numpy.ones((2, 3, 4)), (0, 2), True, numpy.sum)
    array([[[8.],
            [8.],
            [8.]]])
    """
    axes = range(dat.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    result = dat
    for i in sorted((a % dat.ndim for a in axes), reverse=True):
        result = numpy_reduce_func(result, axis=i)
    if keepdims:
        kept = {a % dat.ndim for a in axes}
        result = np.reshape(result, [1 if i in kept else length for i, length in enumerate(dat.shape)])
    return result


def collapse_sum_like(a, shape):
    """The sum of a NumPy array over the axes along which `shape` would be broadcast to it.

    >>> import numpy
    >>> mx.test_utils.collapse_sum_like(numpy.ones((2, 3)), (1, 3))
    array([[2., 2., 2.]])
    """
    if len(shape) > a.ndim:
        raise error_class(ValueError, AssertionError)(f"[collapse_sum_like] {a.shape} has fewer dimensions than {shape}")
    result = a.sum(axis=tuple(range(a.ndim - len(shape))))
    axes = tuple(i for i, (have, want) in enumerate(zip(result.shape, shape)) if have != want)
    if any(shape[i] != 1 for i in axes):
        raise error_class(ValueError, AssertionError)(f"[collapse_sum_like] {shape} does not broadcast to {a.shape}")
    return result.sum(axis=axes, keepdims=True) if axes else result
