"""NDArray: a tensor on a device whose contents are computed asynchronously."""
import ctypes

import numpy as np

from .. import _dtypes, _opgen
from ..base import NDArrayHandle, _LIB, check_call, mx_real_t
from ..context import Context, current_context
from . import _indexing
from ._internal import NDArrayBase, _set_ndarray_class, invoke

__all__ = ["NDArray", "array", "arange", "concatenate", "empty", "eye", "from_dlpack", "from_numpy", "full", "histogram", "linspace", "moveaxis",
           "onehot_encode", "ones", "to_dlpack_for_read", "to_dlpack_for_write", "waitall", "zeros", "add", "subtract", "multiply", "divide",
           "true_divide", "modulo", "power", "maximum", "minimum", "equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal",
           "logical_and", "logical_or", "logical_xor", "bfloat16"]

bfloat16 = _dtypes.bfloat16
_GRAD_REQ_MAP = {"null": 0, "write": 1, "add": 3}
_STORAGE_TYPE_STR_TO_ID = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
_STORAGE_TYPE_ID_TO_STR = {v: k for k, v in _STORAGE_TYPE_STR_TO_ID.items()}
_handle_of = {}
_context_of = {}   # (kind, number) -> Context; asked for by every compiled call


def _call(name, inputs, out=None, **params):
    """Runs the operator `name`; parameters that are None are left out."""
    handle = _handle_of.get(name)
    if handle is None:
        handle = _handle_of[name] = _opgen.op_info(name).handle
    keys = tuple(k for k, v in params.items() if v is not None)
    return invoke(handle, inputs, keys, tuple(params[k] for k in keys), out)


def _recording():
    flag = ctypes.c_bool()
    _LIB.MXAutogradIsRecording(ctypes.byref(flag))
    if flag.value:
        return True
    deferred = ctypes.c_int()
    _LIB.MXNDArrayIsDeferredCompute(ctypes.byref(deferred))
    return bool(deferred.value)


def _as_shape(shape):
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(d) for d in shape)


def _new_handle(shape, ctx, dtype, delay=False):
    shape = _as_shape(shape)
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayCreateEx64((ctypes.c_int64 * len(shape))(*shape), ctypes.c_int(len(shape)), ctypes.c_int(ctx.device_typeid),
                                        ctypes.c_int(ctx.device_id), ctypes.c_int(delay), ctypes.c_int(_dtypes.number(dtype)), ctypes.byref(handle)))
    return handle


def _new_empty_handle():
    """Handle of an array without shape and memory; an operator's output gives it both."""
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayCreateNone(ctypes.byref(handle)))
    return handle


class NDArray(NDArrayBase):
    """Multi-dimensional array on one device.

    Operations return at once and run in the background; reading values (``asnumpy``, ``asscalar``, printing) waits for them and raises
    what they failed with. Views made by slicing rows and by ``reshape`` share memory with the array.
    """

    __slots__ = []
    __array_priority__ = 1000.0   # NumPy leaves mixed arithmetic to us

    # ---- what it is

    @property
    def dtype(self):
        """NumPy scalar type of the elements (``mx.nd.bfloat16`` for bfloat16)."""
        return _dtypes.type_of(self._dtype_id) if self._dtype_id >= 0 else None

    @property
    def context(self):
        """Device of the array."""
        ids = self._ctx_ids
        found = _context_of.get(ids)
        if found is None:
            found = _context_of[ids] = Context(Context.devtype2str[ids[0]], ids[1])
        return found

    ctx = context
    device = context

    @property
    def stype(self):
        """Storage type: 'default' for dense arrays."""
        return "default"

    @property
    def T(self):
        """Transposed array (axes reversed)."""
        return self if self.ndim < 2 else _call("transpose", (self,))

    def __len__(self):
        if self.ndim < 1:
            raise TypeError("[len] an array without dimensions has no length")
        return self.shape[0]

    def __bool__(self):
        if self.size == 0:
            return False
        if self.size == 1:
            return bool(self.asscalar())
        raise ValueError(f"[bool] an array of shape {self.shape} has more than one truth value; accepted: size 1 (compare, or use asnumpy().any())")

    def __int__(self):
        return int(self.asscalar())

    def __float__(self):
        return float(self.asscalar())

    def __index__(self):
        value = self.asscalar()
        if not isinstance(value, (np.integer, np.bool_)):
            raise TypeError(f"[index] an array of dtype {self.dtype} is no index; accepted: an integer array of size 1")
        return int(value)

    def __repr__(self):
        if self.ndim < 0:
            return "<NDArray empty>"
        return f"\n{self.asnumpy()}\n<{type(self).__name__} {'x'.join(str(d) for d in self.shape)} @{self.context}>"

    __str__ = __repr__

    def __iter__(self):
        if self.ndim < 1:
            raise TypeError("[iter] an array without dimensions cannot be iterated")
        for i in range(self.shape[0]):
            yield self[i]

    def __contains__(self, value):
        return bool((self.asnumpy() == value).any())

    # ---- values out

    def asnumpy(self):
        """Copies the values to a NumPy array (bfloat16 arrives as float32). Waits for pending writes."""
        number = self._dtype_id
        if number < 0:
            raise ValueError("[asnumpy] the array is empty (none)")
        if number == 12:
            return self.astype("float32").asnumpy()
        out = np.empty(self.shape, dtype=_dtypes.TYPES[number])
        self._copy_to(out.ctypes.data, out.nbytes)
        return out

    def asscalar(self):
        """The value of an array of size 1 as a NumPy scalar."""
        if self.size != 1:
            raise ValueError(f"[asscalar] an array of shape {self.shape} has {self.size} elements; accepted: 1")
        return self.asnumpy().reshape(())[()]

    item = asscalar

    def tolist(self):
        """The values as nested lists."""
        return self.asnumpy().tolist()

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("[__array__] values are copied to NumPy; copy=False cannot be granted (DLPack shares memory)")
        out = self.asnumpy()
        return out if dtype is None else out.astype(dtype, copy=False)

    # ---- copies

    def copy(self):
        """A new array with the same contents, on the same device."""
        return self.copyto(self.context)

    def copyto(self, other):
        """Copies into an array (of the same shape; dtypes may differ) or to a device; returns the target."""
        if isinstance(other, NDArrayBase):
            if other.handle == self.handle:
                return other
            return _call("_copyto", (self,), other)
        if isinstance(other, Context):
            target = type(self)(_new_handle(self.shape, other, self.dtype, True))
            return _call("_copyto", (self,), target)
        raise TypeError(f"[copyto] got {type(other).__name__}; accepted: NDArray or Context")

    def as_in_context(self, context):
        """The array itself when it is on that device, a copy there otherwise."""
        return self if self.context == context else self.copyto(context)

    as_in_ctx = as_in_context
    to_device = as_in_context

    def astype(self, dtype, copy=True):
        """Array of another dtype; itself when `copy` is false and the dtype is the same."""
        if not copy and self._dtype_id == _dtypes.number(dtype):
            return self
        return _call("Cast", (self,), dtype=_dtypes.name(dtype))

    def as_nd_ndarray(self):
        """The array as ``mx.nd.NDArray``: itself."""
        return self

    def tostype(self, stype):
        """Array of another storage type."""
        _dense_only("tostype", stype)
        return self

    def detach(self):
        """View of the same memory that autograd does not follow."""
        return self._detach()

    # ---- autograd

    @property
    def grad(self):
        """Gradient array attached by ``attach_grad``; None without one."""
        handle = NDArrayHandle()
        check_call(_LIB.MXNDArrayGetGrad(ctypes.c_void_p(self.handle), ctypes.byref(handle)))
        return type(self)(handle) if handle.value else None

    def attach_grad(self, grad_req="write", stype=None):
        """Makes the array a variable of autograd with a gradient of zeros; `grad_req`: 'write', 'add' or 'null'."""
        from .. import autograd
        if stype not in (None, "default"):
            raise ValueError(f"[attach_grad] stype={stype!r}; accepted: 'default'")
        grad = zeros(self.shape, ctx=self.context, dtype=self.dtype)
        autograd.mark_variables([self], [grad], [grad_req])

    @property
    def _fresh_grad(self):
        """Whether a backward pass touched the gradient since this was last set to False; the Trainer's test for stale gradients."""
        state = ctypes.c_int()
        check_call(_LIB.MXNDArrayGetGradState(ctypes.c_void_p(self.handle), ctypes.byref(state)))
        return bool(state.value)

    @_fresh_grad.setter
    def _fresh_grad(self, state):
        check_call(_LIB.MXNDArraySetGradState(ctypes.c_void_p(self.handle), ctypes.c_int(bool(state))))

    def drop_grad(self):
        """Takes the gradient away again."""
        check_call(_LIB.MXAutogradDropGrads(ctypes.c_uint(1), ctypes.byref(ctypes.c_void_p(self.handle))))

    def backward(self, out_grad=None, retain_graph=False, train_mode=True):
        """Differentiates this array with respect to the variables that it was computed from.

        `out_grad`: gradient of the array itself, ones if None. See :func:`mxnet.autograd.backward`.
        """
        from .. import autograd
        autograd.backward([self], [out_grad], retain_graph, train_mode)

    # ---- shape

    def reshape(self, *shape, **kwargs):
        """Array of another shape, sharing memory (while autograd records: as a recorded operation).

        Codes in `shape`: 0 copies a dimension, -1 infers one, -2 copies the rest, -3 merges two, -4 splits one into the two sizes behind it.
        ``reverse=True`` reads them from the right.
        """
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = shape[0]
        elif not shape:
            shape = kwargs.pop("shape", None)
            if shape is None:
                raise TypeError("[reshape] needs a shape")
        elif "shape" in kwargs:
            raise TypeError("[reshape] got the shape twice, by position and by keyword")
        reverse = bool(kwargs.pop("reverse", False))
        if kwargs:
            raise TypeError(f"[reshape] got unexpected arguments {', '.join(kwargs)}; accepted: shape, reverse")
        shape = _as_shape(shape)
        if _recording():
            return _call("Reshape", (self,), shape=shape, reverse=reverse)
        return self._reshape_view(shape, reverse)

    def expand_dims(self, axis, inplace=False):
        """Array with a dimension of size 1 inserted at `axis`."""
        if not inplace:
            return _call("expand_dims", (self,), axis=axis)
        shape = list(self.shape)
        axis = axis + self.ndim + 1 if axis < 0 else axis
        if not 0 <= axis <= self.ndim:
            raise ValueError(f"[expand_dims] axis {axis} for an array of shape {self.shape}")
        shape.insert(axis, 1)
        return self._reshape_exact(shape)

    def flatten(self, inplace=False):
        """Array of two dimensions: the first one, and all others merged."""
        if not inplace:
            return _call("Flatten", (self,))
        return self.reshape((0, -1))

    def squeeze(self, axis=None, inplace=False):
        """Array without its dimensions of size 1 (or without those of `axis`)."""
        if not inplace:
            return _call("squeeze", (self,), axis=axis)
        axes = range(self.ndim) if axis is None else [a % self.ndim for a in ([axis] if isinstance(axis, int) else axis)]
        return self._reshape_exact([d for i, d in enumerate(self.shape) if not (i in axes and d == 1)])

    def _reshape_exact(self, shape):
        # sizes only: 0 means zero elements here, not "copy"
        if 0 in shape:
            return _call("_np_reshape", (self,), newshape=tuple(shape))
        return self.reshape(tuple(shape))

    def transpose(self, *axes, **kwargs):
        """Array with permuted axes, reversed by default."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = axes[0] or ()
        axes = kwargs.pop("axes", None) or axes
        if kwargs:
            raise TypeError(f"[transpose] got unexpected arguments {', '.join(kwargs)}; accepted: axes")
        return _call("transpose", (self,), axes=tuple(axes) if axes else None)

    def broadcast_to(self, shape):
        """Array expanded to `shape`; 0 keeps a dimension."""
        return _call("broadcast_to", (self,), shape=_as_shape(shape))

    def broadcast_like(self, other, lhs_axes=None, rhs_axes=None):
        """Array expanded to the shape of `other`."""
        return _call("broadcast_like", (self, other), lhs_axes=lhs_axes, rhs_axes=rhs_axes)

    def slice_assign(self, rhs, begin, end, step):
        """Writes `rhs` into a strided slice of this array."""
        return _call("_slice_assign", (self, rhs), self, begin=begin, end=end, step=step)

    def slice_assign_scalar(self, value, begin, end, step):
        """Writes a number into a strided slice of this array."""
        return _call("_slice_assign_scalar", (self,), self, scalar=float(value), begin=begin, end=end, step=step)

    def diag(self, k=0, **kwargs):
        """Diagonal of the array, or a matrix with it as diagonal."""
        return _call("diag", (self,), k=k, **kwargs)

    # ---- indexing

    def __getitem__(self, key):
        return _indexing.getitem(self, key)

    def __setitem__(self, key, value):
        _indexing.setitem(self, key, value)

    # ---- logical negation and the rest of the operators

    def __invert__(self):
        return _call("logical_not", (self,))

    def __floordiv__(self, other):
        return (self / other).floor()

    def __matmul__(self, other):
        return _call("dot", (self, other))

    def __deepcopy__(self, memo):
        return self.copy()

    def __copy__(self):
        return self.copy()

    # ---- exchange

    def __reduce__(self):
        return _rebuild, (type(self), _raw_bytes(self), str(self.context))

    def __dlpack__(self, stream=None, **_):
        """DLPack capsule that shares this array's memory, after pending work is done."""
        return to_dlpack_for_write(self)

    def __dlpack_device__(self):
        kind, number = self._ctx_ids
        return ({2: 2, 3: 3}.get(kind, 1), number if kind == 2 else 0)

    def to_dlpack_for_read(self):
        """DLPack capsule of this array, for reading."""
        return to_dlpack_for_read(self)

    def to_dlpack_for_write(self):
        """DLPack capsule of this array, for writing."""
        return to_dlpack_for_write(self)

    def __array_function__(self, function, types, args, kwargs):
        # NumPy functions work on values: arrays become NumPy arrays, the result stays one.
        def convert(x):
            if isinstance(x, NDArray):
                return x.asnumpy()
            if isinstance(x, (list, tuple)):
                return type(x)(convert(v) for v in x)
            return x
        return function(*[convert(a) for a in args], **{k: convert(v) for k, v in kwargs.items()})

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or kwargs.get("out") is not None:
            return NotImplemented
        ours = {"add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "divide": "__truediv__", "true_divide": "__truediv__",
                "power": "__pow__", "remainder": "__mod__", "equal": "__eq__", "not_equal": "__ne__", "less": "__lt__", "less_equal": "__le__",
                "greater": "__gt__", "greater_equal": "__ge__"}
        if ufunc.__name__ in ours and len(inputs) == 2 and not kwargs:
            a, b = (x if isinstance(x, NDArray) else array(x, ctx=self.context, dtype=self.dtype) if isinstance(x, np.ndarray) else x for x in inputs)
            if isinstance(a, NDArray):
                return getattr(a, ours[ufunc.__name__])(b)
            return getattr(array(np.asarray(a), ctx=self.context, dtype=self.dtype), ours[ufunc.__name__])(b)
        return ufunc(*[x.asnumpy() if isinstance(x, NDArray) else x for x in inputs], **kwargs)


_set_ndarray_class(NDArray)


def _add_methods():
    """Methods that are the operator of that name with the array as first input."""
    names = """abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort batch_take broadcast_axes broadcast_axis cbrt ceil clip cos
    cosh degrees depth_to_space exp expm1 fix flip floor gamma gammaln log log10 log1p log2 log_softmax max mean min nanprod nansum norm one_hot
    ones_like pad pick prod radians rcbrt reciprocal relu repeat reshape_like rint round rsqrt shape_array sigmoid sign sin sinh size_array slice
    slice_axis slice_like softmax softmin sort space_to_depth split split_v2 sqrt square sum swapaxes take tan tanh tile topk trunc
    zeros_like""".split()
    renamed = {"split_v2": "_split_v2"}

    def make(method, operator):
        def call(self, *args, **kwargs):
            return _lookup(operator)(self, *args, **kwargs)
        call.__name__ = method
        call.__doc__ = f"``mx.nd.{method}`` with this array as first argument."
        return call

    for n in names:
        if not hasattr(NDArray, n):
            setattr(NDArray, n, make(n, renamed.get(n, n)))


def _lookup(name):
    from . import _internal
    if name == "_split_v2":
        from .. import ndarray as package
        return package.split_v2
    return getattr(_internal, name)


_add_methods()


def _raw_bytes(a):
    size, data = ctypes.c_size_t(), ctypes.POINTER(ctypes.c_char)()
    check_call(_LIB.MXNDArraySaveRawBytes(ctypes.c_void_p(a.handle), ctypes.byref(size), ctypes.byref(data)))
    return ctypes.string_at(data, size.value)


def _rebuild(cls, data, context):
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayLoadFromRawBytes(data, ctypes.c_size_t(len(data)), ctypes.byref(handle)))
    a = cls(handle)
    kind, number = context.rstrip(")").split("(")
    return a if kind != "gpu" else a.as_in_context(Context(kind, int(number)))


# ---- creation

def array(source_array, ctx=None, dtype=None):
    """Array with the values of a list, number, NumPy array or NDArray.

    `dtype` defaults to the source's for an NDArray and to float32 for everything else, as in 1.x. Raises TypeError for what is no
    rectangular collection of numbers.
    """
    ctx = ctx or current_context()
    if isinstance(source_array, NDArray):
        dtype = source_array.dtype if dtype is None else dtype
        target = NDArray(_new_handle(source_array.shape, ctx, dtype))
        if source_array.context == ctx or _dtypes.number(dtype) == source_array._dtype_id:
            return source_array.copyto(target)
        return source_array.astype(dtype).copyto(target)
    if dtype is None:
        dtype = mx_real_t
    if _dtypes.number(dtype) == 12:
        return array(source_array, ctx, "float32").astype("bfloat16")
    if hasattr(source_array, "__dlpack__") and not isinstance(source_array, np.ndarray) and not hasattr(source_array, "__array__"):
        return from_dlpack(source_array).as_in_context(ctx).astype(dtype)
    try:
        values = np.asarray(source_array)
    except ValueError:
        values = None
    if values is None or values.dtype.kind in "OUSV":
        raise TypeError(f"[array] got a {type(source_array).__name__} that is no rectangular collection of numbers; accepted: numbers, nested lists of equal lengths, arrays")
    values = np.ascontiguousarray(values, dtype=_dtypes.TYPES[_dtypes.number(dtype)]).reshape(values.shape)
    out = NDArray(_new_handle(values.shape, ctx, dtype))
    out._copy_from(values.ctypes.data, values.nbytes)
    return out


def _dense_only(function, stype):
    if stype not in (None, "default"):
        raise ValueError(f"[{function}] stype={stype!r}; accepted: 'default'")


def empty(shape, ctx=None, dtype=None, stype=None):
    """Array with whatever the memory held."""
    _dense_only("empty", stype)
    return NDArray(_new_handle(shape, ctx or current_context(), mx_real_t if dtype is None else dtype))


def _filled(operator, shape, ctx, dtype, out=None, **params):
    target = out if out is not None else NDArray(_new_handle(shape, ctx or current_context(), dtype, True))
    return _call(operator, (), target, shape=_as_shape(shape), dtype=_dtypes.name(target.dtype), **params)


def zeros(shape, ctx=None, dtype=None, stype=None, **kwargs):
    """Array of zeros. `dtype` float32 by default."""
    _dense_only("zeros", stype)
    return _filled("_zeros", shape, ctx, mx_real_t if dtype is None else dtype, kwargs.get("out"))


def ones(shape, ctx=None, dtype=None, **kwargs):
    """Array of ones. `dtype` float32 by default."""
    return _filled("_ones", shape, ctx, mx_real_t if dtype is None else dtype, kwargs.get("out"))


def full(shape, val, ctx=None, dtype=mx_real_t, out=None):
    """Array filled with `val`."""
    return _filled("_full", shape, ctx, mx_real_t if dtype is None else dtype, out, value=float(val))


def _made(operator, ctx, dtype, out, **params):
    ctx = ctx or current_context()
    dtype = _dtypes.name(mx_real_t if dtype is None else dtype)
    return _call(operator, (), out, ctx=str(ctx), dtype=dtype, **params)


def arange(start, stop=None, step=1.0, repeat=1, infer_range=None, ctx=None, dtype=mx_real_t):
    """Evenly spaced values in [start, stop), each `repeat` times; with one argument from 0."""
    if stop is None:
        start, stop = 0, start
    return _made("_arange", ctx, dtype, None, start=float(start), stop=float(stop), step=float(step), repeat=int(repeat))


def linspace(start, stop, num, endpoint=True, ctx=None, dtype=mx_real_t):
    """`num` evenly spaced values from `start` to `stop`."""
    return _made("_linspace", ctx, dtype, None, start=float(start), stop=float(stop), num=int(num), endpoint=bool(endpoint))


def eye(N, M=0, k=0, ctx=None, dtype=None, **kwargs):
    """Matrix of N rows and M columns (N if 0) with ones on diagonal `k`."""
    return _made("_eye", ctx, dtype, kwargs.get("out"), N=int(N), M=int(M), k=int(k))


def moveaxis(tensor, source, destination):
    """Array with axes moved to other positions."""
    source = [source] if isinstance(source, int) else list(source)
    destination = [destination] if isinstance(destination, int) else list(destination)
    n = tensor.ndim
    for a in source + destination:
        if not -n <= a < n:
            raise ValueError(f"[moveaxis] axis {a} for an array of {n} dimensions")
    source, destination = [a % n for a in source], [a % n for a in destination]
    if len(source) != len(destination) or len(set(source)) != len(source) or len(set(destination)) != len(destination):
        raise ValueError(f"[moveaxis] source {source} and destination {destination}; accepted: as many different axes in both")
    order = [a for a in range(n) if a not in source]
    for d, s in sorted(zip(destination, source)):
        order.insert(d, s)
    return _call("transpose", (tensor,), axes=tuple(order))


def concatenate(arrays, axis=0, always_copy=True):
    """Joins arrays along `axis`."""
    if not arrays:
        raise ValueError("[concatenate] got no arrays")
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return _call("Concat", tuple(arrays), dim=axis, num_args=len(arrays))


def onehot_encode(indices, out):
    """Writes ones at `indices` (one per row) of `out` and zeros elsewhere."""
    return _call("_onehot_encode", (indices, out), out)


def histogram(a, bins=10, range=None):
    """Counts of values per bin, and the bin edges."""
    if isinstance(bins, NDArray):
        return _call("_histogram", (a, bins))
    if range is None:
        values = a.asnumpy()
        range = (float(values.min()), float(values.max()))
        if range[0] == range[1]:
            range = (range[0] - 0.5, range[1] + 0.5)
    return _call("_histogram", (a,), bin_cnt=int(bins), range=tuple(range))


def waitall():
    """Blocks until everything that was started is done; raises the first failure that nobody has seen."""
    check_call(_LIB.MXNDArrayWaitAll())


# ---- two-operand functions: arrays with arrays or numbers

def _two(method, array_op, scalar_op, reverse_op, doc):
    def function(lhs, rhs):
        if isinstance(lhs, NDArrayBase):
            if isinstance(rhs, NDArrayBase):
                return _call(array_op, (lhs, rhs))
            if np.isscalar(rhs) or getattr(rhs, "ndim", None) == 0:
                return _call(scalar_op, (lhs,), scalar=float(rhs), is_int=isinstance(rhs, (int, np.integer)))
        elif isinstance(rhs, NDArrayBase) and (np.isscalar(lhs) or getattr(lhs, "ndim", None) == 0):
            return _call(reverse_op, (rhs,), scalar=float(lhs), is_int=isinstance(lhs, (int, np.integer)))
        elif np.isscalar(lhs) and np.isscalar(rhs):
            return getattr(np, {"lesser": "less", "lesser_equal": "less_equal", "modulo": "mod"}.get(method, method))(lhs, rhs)
        raise TypeError(f"[{method}] got {type(lhs).__name__} and {type(rhs).__name__}; accepted: NDArrays and numbers")
    function.__name__ = method
    function.__doc__ = doc + " Shapes are broadcast; either side may be a number."
    return function


add = _two("add", "broadcast_add", "_plus_scalar", "_plus_scalar", "Sum.")
subtract = _two("subtract", "broadcast_sub", "_minus_scalar", "_rminus_scalar", "Difference.")
multiply = _two("multiply", "broadcast_mul", "_mul_scalar", "_mul_scalar", "Product.")
divide = _two("divide", "broadcast_div", "_div_scalar", "_rdiv_scalar", "Quotient.")
true_divide = _two("true_divide", "broadcast_div", "_div_scalar", "_rdiv_scalar", "Quotient.")
modulo = _two("modulo", "broadcast_mod", "_mod_scalar", "_rmod_scalar", "Remainder with the divisor's sign.")
power = _two("power", "broadcast_power", "_power_scalar", "_rpower_scalar", "`lhs` to the power `rhs`.")
maximum = _two("maximum", "broadcast_maximum", "_maximum_scalar", "_maximum_scalar", "Larger value.")
minimum = _two("minimum", "broadcast_minimum", "_minimum_scalar", "_minimum_scalar", "Smaller value.")
equal = _two("equal", "broadcast_equal", "_equal_scalar", "_equal_scalar", "1 where equal, else 0.")
not_equal = _two("not_equal", "broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar", "1 where different, else 0.")
greater = _two("greater", "broadcast_greater", "_greater_scalar", "_lesser_scalar", "1 where `lhs` is larger, else 0.")
greater_equal = _two("greater_equal", "broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar", "1 where `lhs` is not smaller, else 0.")
lesser = _two("lesser", "broadcast_lesser", "_lesser_scalar", "_greater_scalar", "1 where `lhs` is smaller, else 0.")
lesser_equal = _two("lesser_equal", "broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar", "1 where `lhs` is not larger, else 0.")
logical_and = _two("logical_and", "broadcast_logical_and", "_logical_and_scalar", "_logical_and_scalar", "1 where both are non-zero, else 0.")
logical_or = _two("logical_or", "broadcast_logical_or", "_logical_or_scalar", "_logical_or_scalar", "1 where one is non-zero, else 0.")
logical_xor = _two("logical_xor", "broadcast_logical_xor", "_logical_xor_scalar", "_logical_xor_scalar", "1 where exactly one is non-zero, else 0.")


# ---- DLPack and NumPy without copies

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_capsule_name = ctypes.pythonapi.PyCapsule_SetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype, _capsule_is.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_raw_is = ctypes.PyDLL(None).PyCapsule_IsValid
_raw_is.restype, _raw_is.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
_raw_pointer = ctypes.PyDLL(None).PyCapsule_GetPointer
_raw_pointer.restype, _raw_pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
_DLTENSOR, _USED = b"dltensor", b"used_dltensor"


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _free_unused_capsule(capsule):
    # A consumer renames the capsule and becomes the owner; what nobody consumed is ours to free.
    if _raw_is(capsule, _DLTENSOR):
        _LIB.MXNDArrayCallDLPackDeleter(ctypes.c_void_p(_raw_pointer(capsule, _DLTENSOR)))


def to_dlpack_for_write(data):
    """DLPack capsule that shares memory with `data`, for writing, once pending work on it is done."""
    tensor = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayToDLPack(ctypes.c_void_p(data.handle), ctypes.byref(tensor)))
    return _capsule_new(tensor, _DLTENSOR, _free_unused_capsule)


def to_dlpack_for_read(data):
    """DLPack capsule that shares memory with `data`, for reading, once pending writes are done."""
    return to_dlpack_for_write(data)


def from_dlpack(dlpack):
    """Array that shares memory with a DLPack capsule or an object that has ``__dlpack__``. The capsule is used up."""
    if hasattr(dlpack, "__dlpack__"):
        dlpack = dlpack.__dlpack__()
    if not _capsule_is(dlpack, _DLTENSOR):
        raise ValueError("[from_dlpack] got no fresh DLPack capsule; each can be consumed once")
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayFromDLPackEx(ctypes.c_void_p(_capsule_pointer(dlpack, _DLTENSOR)), ctypes.c_bool(False), ctypes.byref(handle)))
    _capsule_name(dlpack, _USED)
    return NDArray(handle)


def from_numpy(ndarray, zero_copy=True, array_cls=NDArray):
    """Array from a NumPy array; with `zero_copy` it shares the memory, and the NumPy array becomes read-only."""
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError("[from_numpy] only C-contiguous arrays can be shared; use zero_copy=False")
    _dtypes.number(ndarray.dtype)
    out = from_dlpack(ndarray) if ndarray.flags["WRITEABLE"] else array(ndarray, dtype=ndarray.dtype)
    ndarray.flags["WRITEABLE"] = False
    return out
