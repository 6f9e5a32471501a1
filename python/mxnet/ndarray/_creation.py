"""Arrays out of nothing or out of other values, and functions of several arrays that are no
operators of their own."""
import numbers
import warnings

import numpy as np

from .. import _dtypes
from .._binding import wait_all
from .._startup.names import hint_of_any
from ..base import mx_real_t, CheckedValueError, _MXTypeError, error_class
from ..context import current_context
from ._array import NDArray
from ._dlpack import from_dlpack
from ._native import _as_shape, _call, _new_array, _new_filled, from_values

__all__ = ["arange", "array", "concatenate", "empty", "eye", "from_numpy", "full", "histogram",
           "imdecode", "linspace", "moveaxis", "onehot_encode", "ones", "split_v2", "waitall", "zeros"]

# Functions of the same names for sparse arrays: _sparse_creation, which stands on this module, puts
# them here.
SPARSE = {}


def array(source_array, ctx=None, dtype=None):
    """Array with the values of a list, number, NumPy array or NDArray.

    `dtype` defaults to the source's for an NDArray and to float32 for everything else, as in 1.x.
    Sparse arrays and sparse matrices of SciPy make sparse arrays of their dtype.
    Raises TypeError for what is no rectangular collection of numbers.

    >>> mx.nd.array([[1, 2], [3, 4]]).asnumpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    >>> mx.nd.array([1, 2], dtype='int32').dtype.__name__
    'int32'
    """
    ctx = ctx or current_context()
    if hasattr(source_array, "tocsr") or isinstance(source_array, NDArray) and source_array.stype != "default":
        return SPARSE["array"](source_array, ctx, dtype)
    if isinstance(source_array, NDArray):
        dtype = source_array.dtype if dtype is None else dtype
        target = _new_array(source_array.shape, ctx, dtype)
        if source_array.context == ctx or _dtypes.number(dtype) == source_array._dtype_id:
            return source_array.copyto(target)
        return source_array.astype(dtype).copyto(target)
    if dtype is None:
        dtype = mx_real_t
    if _dtypes.number(dtype) == _dtypes.BFLOAT16:
        return array(source_array, ctx, "float32").astype("bfloat16")
    if isinstance(source_array, (list, tuple)):
        return from_values(source_array, ctx, dtype)
    shares = hasattr(source_array, "__dlpack__") or hasattr(source_array, "__cuda_array_interface__")
    if shares and not isinstance(source_array, np.ndarray) and not hasattr(source_array, "__array__"):
        return from_dlpack(source_array).as_in_context(ctx).astype(dtype)
    return from_values(source_array, ctx, dtype)


def from_numpy(ndarray, zero_copy=True, array_cls=NDArray):
    """Array from a NumPy array; with `zero_copy` it shares the memory, and the NumPy array becomes
    read-only.

    >>> import numpy
    >>> x = mx.nd.from_numpy(numpy.ones((2, 3), dtype='float32'))
    >>> x.shape
    (2, 3)
    """
    if not isinstance(ndarray, np.ndarray):
        raise error_class(TypeError, AttributeError)(f"[from_numpy] got a {type(ndarray).__name__}; accepted: a NumPy array")
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError("[from_numpy] only C-contiguous arrays can be shared; use zero_copy=False")
    _dtypes.number(ndarray.dtype)
    out = from_dlpack(ndarray) if ndarray.flags["WRITEABLE"] else array(ndarray, dtype=ndarray.dtype)
    ndarray.flags["WRITEABLE"] = False
    return out


def empty(shape, ctx=None, dtype=None, stype=None):
    """Array with whatever the memory held; with `stype` 'csr' or 'row_sparse' one that stores
    nothing.

    >>> mx.nd.empty((2, 3)).shape
    (2, 3)
    """
    if stype not in (None, "default"):
        return SPARSE["empty"](stype, shape, ctx, dtype)
    return _new_array(shape, ctx or current_context(), mx_real_t if dtype is None else dtype)


def _filled(operator, shape, ctx, dtype, out=None, **params):
    if out is None:
        return _new_filled(operator, shape, ctx or current_context(), dtype, params.get("value"))
    return _call(operator, (), out, shape=_as_shape(shape), dtype=_dtypes.name(out.dtype), **params)


def _out_of(function, kwargs, accepted="shape, ctx, dtype, out"):
    """The argument `out`; `name` and attributes (`__layout__`), which cells give to either kind of
    zeros, mean nothing for an array."""
    unknown = [k for k in kwargs if k not in ("out", "name") and not k.startswith("__")]
    if unknown:
        near = hint_of_any(unknown, accepted.split(", "))
        raise _MXTypeError(f"[{function}] got unexpected arguments {', '.join(unknown)}; {near}accepted: {accepted}")
    return kwargs.get("out")


def _whole(function, argument, value):
    try:
        if int(value) == value:
            return int(value)
    except (TypeError, ValueError):
        pass
    raise _MXTypeError(f"[{function}] {argument}={value!r}; accepted: an integer")


def zeros(shape, ctx=None, dtype=None, stype=None, **kwargs):
    """Array of zeros. `dtype` float32 by default; `stype` 'csr' or 'row_sparse' for a sparse one.

    >>> mx.nd.zeros((2, 2)).asnumpy()
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    >>> mx.nd.zeros((2, 2), stype='csr')
    <BLANKLINE>
    <CSRNDArray 2x2 @cpu(0)>
    """
    if stype not in (None, "default"):
        return SPARSE["zeros"](stype, shape, ctx, dtype, **kwargs)
    out = _out_of("zeros", kwargs, "shape, ctx, dtype, stype, out") if kwargs else None
    return _filled("_zeros", shape, ctx, mx_real_t if dtype is None else dtype, out)


def ones(shape, ctx=None, dtype=None, **kwargs):
    """Array of ones. `dtype` float32 by default.

    >>> mx.nd.ones((2, 2), dtype='int32').asnumpy()
    array([[1, 1],
           [1, 1]], dtype=int32)
    """
    return _filled("_ones", shape, ctx, mx_real_t if dtype is None else dtype, _out_of("ones", kwargs) if kwargs else None)


def full(shape, val, ctx=None, dtype=mx_real_t, out=None):
    """Array filled with `val`: a number, or an array or nested list that is broadcast to
    `shape`.

    >>> mx.nd.full((2, 2), 7).asnumpy()
    array([[7., 7.],
           [7., 7.]], dtype=float32)
    """
    if type(val) not in (int, float) and not np.isscalar(val):
        target = out if out is not None else empty(shape, ctx, dtype)
        target[:] = val
        return target
    return _filled("_full", shape, ctx, mx_real_t if dtype is None else dtype, out, value=float(val))


def _made(operator, ctx, dtype, out, **params):
    ctx = ctx or current_context()
    return _call(operator, (), out, ctx=str(ctx), dtype="float64" if dtype is None else _dtypes.name(dtype), **params)


def arange(start, stop=None, step=1.0, repeat=1, infer_range=None, ctx=None, dtype=mx_real_t):
    """Evenly spaced values in [start, stop), each `repeat` times; with one argument from 0.

    `infer_range` does nothing but warn.

    >>> mx.nd.arange(2, 8, 2).asnumpy()
    array([2., 4., 6.], dtype=float32)
    """
    if infer_range is not None:
        warnings.warn("`infer_range` argument has been deprecated", DeprecationWarning, stacklevel=2)
    if stop is None:
        start, stop = 0, start
    return _made("_arange", ctx, dtype, None, start=float(start), stop=float(stop),
                 step=float(step), repeat=_whole("arange", "repeat", repeat))


def linspace(start, stop, num, endpoint=True, ctx=None, dtype=mx_real_t):
    """`num` evenly spaced values from `start` to `stop`.

    >>> mx.nd.linspace(0, 1, 5).asnumpy()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    return _made("_linspace", ctx, dtype, None, start=float(start), stop=float(stop),
                 num=_whole("linspace", "num", num), endpoint=bool(endpoint))


def eye(N, M=0, k=0, ctx=None, dtype=None, **kwargs):
    """Matrix of N rows and M columns (N if 0) with ones on diagonal `k`.

    >>> mx.nd.eye(2, 3, k=1).asnumpy()
    array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    out = _out_of("eye", kwargs, "N, M, k, ctx, dtype, out")
    dtype = mx_real_t if dtype is None else dtype
    return _made("_eye", ctx, dtype, out, N=_whole("eye", "N", N), M=_whole("eye", "M", M), k=_whole("eye", "k", k))


def moveaxis(tensor, source, destination):
    """Array with axes moved to other positions.

    >>> mx.nd.moveaxis(mx.nd.ones((2, 3, 4)), 0, 2).shape
    (3, 4, 2)
    """
    source, destination = ([axes] if hasattr(axes, "__index__") and not getattr(axes, "ndim", 0) else list(axes)
                           for axes in (source, destination))
    n = tensor.ndim
    for a in source + destination:
        if not -n <= a < n:
            raise ValueError(f"[moveaxis] axis {a} for an array of {n} dimensions; accepted: {-n} to {n - 1}")
    source, destination = [a % n for a in source], [a % n for a in destination]
    if len(source) != len(destination) or len(set(source)) != len(source) or len(set(destination)) != len(destination):
        raise ValueError(f"[moveaxis] source {source} and destination {destination}; accepted: as many different axes in both")
    order = [a for a in range(n) if a not in source]
    for d, s in sorted(zip(destination, source)):
        order.insert(d, s)
    return _call("transpose", (tensor,), axes=tuple(order))


def concatenate(arrays, axis=0, always_copy=True):
    """Joins arrays along `axis`.

    >>> mx.nd.concatenate([mx.nd.ones((1, 2)), mx.nd.zeros((2, 2))]).shape
    (3, 2)
    """
    if isinstance(arrays, NDArray) or not arrays:
        raise CheckedValueError("[concatenate] got no list of arrays; accepted: a list or tuple with at least one")
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    first = arrays[0]
    for number, array_ in enumerate(arrays):
        if not isinstance(array_, NDArray) or not isinstance(first, NDArray):
            break       # the operator says what it takes
        rest = [[n for a, n in enumerate(x.shape) if a != axis % max(x.ndim, 1)] for x in (first, array_)]
        if rest[0] != rest[1] or first._dtype_id != array_._dtype_id:
            raise CheckedValueError(f"[concatenate] array {number} has shape {array_.shape} and dtype {np.dtype(array_.dtype).name}, the "
                                    f"first {first.shape} and {np.dtype(first.dtype).name}; accepted: one dtype, and shapes that differ "
                                    f"along axis {axis} alone")
    return _call("Concat", tuple(arrays), dim=axis, num_args=len(arrays))


def imdecode(str_img, clip_rect=(0, 0, 0, 0), out=None, index=0, channels=3, mean=None):
    """Decodes the bytes of an image file to planes (channels, height, width) of float32.

    Parameters
    ----------
    str_img : bytes
    clip_rect : (x0, y0, x1, y1)
        The box that is wanted; zeros mean the whole image.
    out : NDArray, optional
        An array of that shape, or one of several images, of which image `index` is written.
    mean : NDArray, optional
        What is subtracted, of the shape of the result.

    Raises
    ------
    MXNetError
        for bytes of no image, and for a box that is not inside of it.

    Examples
    --------
    >>> import numpy
    >>> picture = mx.nd.array(numpy.full((4, 6, 3), 200), dtype='uint8')
    >>> mx.image.imsave('grey.png', picture)
    >>> with open('grey.png', 'rb') as file:
    ...     planes = mx.nd.imdecode(file.read(), clip_rect=(0, 0, 5, 2))
    >>> planes.shape, planes.dtype.__name__, float(planes.max().asscalar())
    ((3, 2, 5), 'float32', 200.0)
    """
    import base64
    mean = array([], dtype=np.float32) if mean is None else mean
    text = base64.b64encode(str_img).decode("ascii")
    return _call("_imdecode", (mean,), out, index=index, x0=clip_rect[0], y0=clip_rect[1], x1=clip_rect[2], y1=clip_rect[3], c=channels,
                 size=len(str_img), str_img=text)


def onehot_encode(indices, out):
    """Writes ones at `indices` (one per row) of `out` and zeros elsewhere.

    >>> mx.nd.onehot_encode(mx.nd.array([0, 2]), mx.nd.zeros((2, 3))).asnumpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    return _call("_onehot_encode", (indices, out), out)


def histogram(a, bins=10, range=None):
    """Counts of values per bin, and the bin edges.

    >>> counts, edges = mx.nd.histogram(mx.nd.array([0, 1, 1, 3]), bins=3, range=(0, 3))
    >>> counts.asnumpy(), edges.asnumpy()
    (array([1, 2, 1]), array([0., 1., 2., 3.], dtype=float32))
    """
    if isinstance(bins, NDArray):
        return _call("_histogram", (a, bins))
    if not isinstance(bins, numbers.Integral):
        raise error_class(ValueError, TypeError)(f"[histogram] bins={bins!r}; accepted: an integer or an NDArray")
    if range is None:
        warnings.warn("range is not specified, using numpy's result to ensure consistency with numpy", stacklevel=2)
        counts, edges = np.histogram(a.asnumpy(), bins)   # as in 1.9.1: both as float32, in a tuple
        return array(counts, a.context), array(edges, a.context)
    return _call("_histogram", (a,), bin_cnt=int(bins), range=tuple(range))


def waitall():
    """Blocks until everything that was started is done; raises the first failure that nobody has
    seen.

    Examples
    --------
    >>> x = mx.np.ones(3) * 2
    >>> mx.npx.waitall()
    """
    wait_all()


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Splits an array along `axis` into equal sections (an int) or at given positions (a tuple).
    Returns a list.

    >>> [part.shape for part in mx.nd.split_v2(mx.nd.ones((6, 2)), (1, 4))]
    [(1, 2), (3, 2), (2, 2)]
    """
    return NDArray.split_v2(ary, indices_or_sections, axis, squeeze_axis)
