"""NDArray: a tensor on a device whose contents are computed asynchronously."""
import ctypes
import importlib
import numbers
import warnings

import numpy as np

from .. import _dtypes
from .._arrays import tape as _tape
from .._binding import NDArrayBase, _set_ndarray_class, _set_trace_note
from .._operators.methods import ARRAY_METHODS, METHODS, add_methods
from .._arrays.tracing import is_deferred_compute, note, note_alias
from ..base import NDArrayHandle, _LIB, check_call, CheckedTypeError, error_class
from ..context import Context
from . import _internal
from ._exchange import _Exchange
from ._native import _as_shape, _call, _new_array, _new_filled, _recorded, shared
from ._sparse_native import check_stype, new_sparse

__all__ = ["NDArray"]

_context_of = {}   # (kind, number) -> Context; asked for by every compiled call


class NDArray(_Exchange, NDArrayBase):
    """Multi-dimensional array on one device.

    Operations return at once and run in the background; reading values (``asnumpy``, ``asscalar``,
    printing) waits for them and raises what they failed with. Views made by slicing rows and by
    ``reshape`` share memory with the array.

    >>> x = mx.nd.array([[1, 2], [3, 4]])
    >>> x.shape, x.dtype.__name__, x.context
    ((2, 2), 'float32', cpu(0))
    >>> (x[0] + 10).asnumpy()
    array([11., 12.], dtype=float32)
    """

    __module__ = "mxnet.ndarray.ndarray"   # its home in 1.x, and where pickles look for it
    __slots__ = []
    __array_priority__ = 1000.0   # NumPy leaves mixed arithmetic to us

    def _beside(self, other, record, _in_place):
        """The array that is the other operand of the operator `record` in place of `other`, which
        is neither an array nor a number; the binding calls it."""
        if record in ("broadcast_equal", "broadcast_not_equal") and isinstance(other, (list, tuple)):
            # Python would make False of it, where the program means the elements
            raise TypeError(f"[NDArray] an array compared with a {type(other).__name__}; accepted: arrays and numbers "
                            "(mx.nd.array makes an array)")
        return NotImplemented

    # ---- what it is

    @property
    def dtype(self):
        """NumPy scalar type of the elements (``mx.nd.bfloat16`` for bfloat16)."""
        return _dtypes.type_of(self._dtype_id) if self._dtype_id >= 0 else None

    @property
    def context(self):
        """Device of the array.

        >>> x = mx.nd.ones(2, ctx=mx.cpu(1))
        >>> x.context, x.ctx, x.device
        (cpu(1), cpu(1), cpu(1))
        """
        ids = self._ctx_ids
        found = _context_of.get(ids)
        if found is None:
            found = _context_of[ids] = Context(Context.devtype2str[ids[0]], ids[1])
        return found

    ctx = context
    device = context

    @property
    def stype(self):
        """Storage type: 'default' for dense arrays, 'row_sparse' or 'csr'."""
        return "default"

    @property
    def T(self):
        """Transposed array (axes reversed).

        >>> mx.nd.array([[1, 2, 3]]).T.asnumpy().ravel()
        array([1., 2., 3.], dtype=float32)
        """
        return self if self.ndim < 2 else _call("transpose", (self,))

    def __len__(self):
        if self.ndim < 1:
            raise error_class(TypeError, IndexError)("[len] an array without dimensions has no length")
        return self.shape[0]

    def __reversed__(self):
        return (self[i] for i in range(len(self) - 1, -1, -1))

    def __bool__(self):
        if self.size == 0:
            return False
        if self.size == 1:
            return bool(self.asscalar())
        raise ValueError(f"[bool] an array of shape {self.shape} has more than one truth value; "
                         f"accepted: size 1 (compare, or use asnumpy().any())")

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

    def __format__(self, spec):
        if not spec:
            return str(self)
        if self.size != 1:
            raise TypeError(f"[format] {spec!r} for an array of shape {self.shape}; accepted: an array with one value, or no format")
        return format(self.asscalar().item(), spec)

    def _repr_html_(self):
        from .._display.html import array_html
        return array_html(self)

    def __iter__(self):
        if self.ndim < 1:
            raise TypeError("[iter] an array without dimensions cannot be iterated")
        for i in range(self.shape[0]):
            yield self[i]

    def __contains__(self, value):
        return bool((self.asnumpy() == value).any())

    # ---- values in and out

    def _sync_copyfrom(self, source_array):
        """Takes the values of a NumPy array, or of what makes one, of the same shape (1.x)."""
        values = np.asarray(source_array, dtype=self.dtype)
        if values.shape != self.shape:
            raise ValueError(f"[copyfrom] an array of shape {values.shape}; accepted: {self.shape}")
        self[...] = values

    def asnumpy(self):
        """Copies the values to a NumPy array (bfloat16 arrives as float32). Waits for pending
        writes.

        >>> mx.nd.ones(2).asnumpy()
        array([1., 1.], dtype=float32)
        """
        number = self._dtype_id
        if number < 0:
            raise ValueError("[asnumpy] the array is empty (none)")
        if number == _dtypes.BFLOAT16:
            return self.astype("float32").asnumpy()
        out = np.empty(self.shape, dtype=_dtypes.TYPES[number])
        self._copy_to(out, out.nbytes)
        return out

    def asscalar(self):
        """The value of an array of size 1 as a NumPy scalar.

        >>> float(mx.nd.array([3]).asscalar())
        3.0
        """
        if self.size != 1:
            raise error_class(ValueError, TypeError)(f"[asscalar] an array of shape {self.shape} has {self.size} elements; accepted: 1")
        value = self._value()
        return self.asnumpy().reshape(())[()] if value is None else _dtypes.TYPES[self._dtype_id](value)

    item = asscalar

    def tolist(self):
        """The values as nested lists.

        >>> mx.nd.array([[1, 2], [3, 4]]).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
        """
        values = self._lists()
        return self.asnumpy().tolist() if values is None else values

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("[__array__] values are copied to NumPy; copy=False cannot be granted (DLPack shares memory)")
        out = self.asnumpy()
        return out if dtype is None else out.astype(dtype, copy=False)

    # ---- copies

    def copy(self):
        """A new array with the same contents, on the same device.

        >>> x = mx.nd.ones(2)
        >>> y = x.copy()
        >>> y[0] = 5
        >>> x.asnumpy()
        array([1., 1.], dtype=float32)
        """
        if self._ctx_ids[0] < 3:
            return _call("_copy", (self,))
        return self.copyto(self.context)   # results of operators are in ordinary memory

    def copyto(self, other):
        """Copies into an array (of the same shape; dtypes may differ) or to a device; returns the
        target. An array that is its own target stays as it is: a warning, and False.

        >>> target = mx.nd.zeros(2)
        >>> _ = mx.nd.ones(2).copyto(target)
        >>> target.asnumpy()
        array([1., 1.], dtype=float32)
        """
        if isinstance(other, NDArrayBase):
            if other.handle.value == self.handle.value:
                warnings.warn("You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2)
                return False
            return _call("_copyto", (self,), other)
        if isinstance(other, Context):
            target = _new_array(self.shape, other, self.dtype, True)
            return _call("_copyto", (self,), target)
        raise TypeError(f"[copyto] got {type(other).__name__}; accepted: NDArray or Context")

    def as_in_context(self, context):
        """The array itself when it is on that device, a copy there otherwise.

        >>> mx.nd.ones(2).as_in_context(mx.cpu(1)).context
        cpu(1)
        """
        return self if self.context == context else self.copyto(context)

    as_in_ctx = as_in_context
    to_device = as_in_context

    def astype(self, dtype, copy=True):
        """Array of another dtype; itself when `copy` is false and the dtype is the same.

        >>> mx.nd.array([1.7]).astype('int32').asnumpy()
        array([1], dtype=int32)
        """
        if not copy and self._dtype_id == _dtypes.number(dtype):
            return self
        return _call("Cast", (self,), dtype=_dtypes.name(dtype))

    def as_nd_ndarray(self):
        """The array as ``mx.nd.NDArray``: itself."""
        return self

    def as_np_ndarray(self):
        """The array as one of ``mx.np``, sharing memory and gradients.

        >>> x = mx.nd.zeros(2)
        >>> y = x.as_np_ndarray()
        >>> y[0] = 5
        >>> x.asnumpy(), type(y.as_nd_ndarray()).__name__
        (array([5., 0.], dtype=float32), 'NDArray')
        """
        return shared(self, importlib.import_module("mxnet.numpy").ndarray)   # which stands on this module

    def tostype(self, stype):
        """Copy in another storage type: 'default', 'row_sparse', or 'csr' for two dimensions.

        >>> x = mx.nd.array([[0, 1], [0, 0]])
        >>> x.tostype('csr').stype, x.tostype('row_sparse').indices.asnumpy()
        ('csr', array([0]))
        """
        if stype == "default":
            return self.copy()
        if stype == "csr" and self.ndim != 2:
            raise ValueError(f"[tostype] to convert to a CSR, the NDArray should be 2 Dimensional; the current shape is {self.shape}")
        return _call("cast_storage", (self,), stype=str(stype))

    def detach(self):
        """View of the same memory that autograd does not follow.

        >>> x = mx.nd.array([3])
        >>> x.attach_grad()
        >>> with mx.autograd.record():
        ...     y = x * (x * x).detach()
        >>> y.backward()
        >>> x.grad.asnumpy()
        array([9.], dtype=float32)
        """
        if is_deferred_compute():
            out = _call("BlockGrad", (self,))
            note_alias(self, out)
            return out
        return self._detach()

    # ---- autograd

    @property
    def grad(self):
        """Gradient array attached by ``attach_grad``; None without one."""
        handle = NDArrayHandle()
        check_call(_LIB.MXNDArrayGetGrad(self.handle, ctypes.byref(handle)))
        return type(self)(handle) if handle.value else None

    def attach_grad(self, grad_req="write", stype=None):
        """Makes the array a variable of autograd with a gradient of zeros; `grad_req`: 'write',
        'add' or 'null'. The gradient has the array's storage, or that of `stype`.

        >>> x = mx.nd.array([1, 2])
        >>> x.attach_grad()
        >>> with mx.autograd.record():
        ...     y = x * x
        >>> y.backward()
        >>> x.grad.asnumpy()
        array([2., 4.], dtype=float32)
        """
        ctx = Context("cpu", 0) if self.context.device_type in ("cpu_shared", "cpu_pinned") else self.context   # as of results
        stype = self.stype if stype is None else stype
        check_stype("attach_grad", stype)
        if stype == "default":
            grad = _new_filled("_zeros", self.shape, ctx, self.dtype)
        else:
            grad = NDArray(new_sparse(stype, self.shape, ctx, self.dtype))
        _tape.mark_variables([self], [grad], [grad_req])

    @property
    def _fresh_grad(self):
        """Whether a backward pass touched the gradient since this was last set to False; the
        Trainer's test for stale gradients."""
        state = ctypes.c_int()
        check_call(_LIB.MXNDArrayGetGradState(self.handle, ctypes.byref(state)))
        return bool(state.value)

    @_fresh_grad.setter
    def _fresh_grad(self, state):
        check_call(_LIB.MXNDArraySetGradState(self.handle, ctypes.c_int(bool(state))))

    def drop_grad(self):
        """Takes the gradient away again.

        >>> x = mx.nd.ones(2)
        >>> x.attach_grad()
        >>> x.drop_grad()
        >>> x.grad is None
        True
        """
        check_call(_LIB.MXAutogradDropGrads(ctypes.c_uint(1), ctypes.byref(self.handle)))

    def backward(self, out_grad=None, retain_graph=False, train_mode=True):
        """Differentiates this array with respect to the variables that it was computed from.

        `out_grad`: gradient of the array itself, ones if None. See :func:`mxnet.autograd.backward`.

        >>> x = mx.nd.array([1, 2])
        >>> x.attach_grad()
        >>> with mx.autograd.record():
        ...     y = x * x
        >>> y.backward(mx.nd.array([1, 10]))
        >>> x.grad.asnumpy()
        array([ 2., 40.], dtype=float32)
        """
        _tape.backward([self], [out_grad], retain_graph, train_mode)

    # ---- shape

    def reshape(self, *shape, **kwargs):
        """Array of another shape, sharing memory (while autograd records: as a recorded operation).

        Codes in `shape`: 0 copies a dimension, -1 infers one, -2 copies the rest, -3 merges two, -4
        splits one into the two sizes behind it. ``reverse=True`` reads them from the right.

        >>> x = mx.nd.ones((2, 3, 4))
        >>> x.reshape((-1, 4)).shape, x.reshape((0, -1)).shape
        ((6, 4), (2, 12))
        """
        if shape:
            kwargs.pop("shape", None)     # the one given by position counts, as in 1.x
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = shape[0]
        elif not shape:
            shape = kwargs.pop("shape", None)
            if shape is None:
                raise CheckedTypeError("[reshape] needs a shape")
        reverse = bool(kwargs.pop("reverse", False))
        if kwargs:
            raise TypeError(f"[reshape] got unexpected arguments {', '.join(kwargs)}; accepted: shape, reverse")
        shape = _as_shape(shape)
        if _recorded(self):
            out = _call("Reshape", (self,), shape=shape, reverse=reverse)
            if is_deferred_compute():
                note_alias(self, out)
            return out
        return self._reshape_view(shape, reverse)

    def expand_dims(self, axis, inplace=False):
        """Array with a dimension of size 1 inserted at `axis`, which may be negative: -1 stands for
        behind the last one. With `inplace` a view of the same memory.

        >>> mx.nd.array([1, 2]).expand_dims(0).asnumpy()
        array([[1., 2.]], dtype=float32)
        """
        if not inplace:
            return _call("expand_dims", (self,), axis=axis)
        shape = list(self.shape)
        axis = axis + self.ndim + 1 if axis < 0 else axis
        if not 0 <= axis <= self.ndim:
            raise ValueError(f"[expand_dims] axis {axis} for an array of shape {self.shape}")
        shape.insert(axis, 1)
        return self._reshape_exact(shape)

    def flatten(self, inplace=False):
        """Array of two dimensions: the first one, and all others merged. With `inplace` a view of
        the same memory.

        >>> mx.nd.ones((2, 3, 4)).flatten().shape
        (2, 12)
        """
        if not inplace:
            return _call("Flatten", (self,))
        return self.reshape((0, -1))

    def squeeze(self, axis=None, inplace=False):
        """Array without its dimensions of size 1, or without those of `axis` (int or tuple of int).
        With `inplace` a view of the same memory. Raises ValueError if one of `axis` has another
        size.

        >>> x = mx.nd.ones((1, 3, 1))
        >>> x.squeeze().shape, x.squeeze(axis=0).shape
        ((3,), (3, 1))
        """
        if not inplace:
            return _call("squeeze", (self,), axis=axis)
        return self._reshape_exact(_call("squeeze", (self,), axis=axis).shape)   # the operator knows which axes can go

    def _reshape_exact(self, shape):
        # sizes only: 0 means zero elements here, not "copy"
        if 0 in shape:
            return _call("_np_reshape", (self,), newshape=tuple(shape))
        return self.reshape(tuple(shape))

    def transpose(self, *axes, **kwargs):
        """Array with permuted axes, reversed by default. The axes are ints or one tuple, or `axes`
        by name.

        >>> x = mx.nd.ones((2, 3, 4))
        >>> x.transpose().shape, x.transpose((0, 2, 1)).shape
        ((4, 3, 2), (2, 4, 3))
        """
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = axes[0] or ()
        axes = kwargs.pop("axes", None) or axes
        if kwargs:
            raise TypeError(f"[transpose] got unexpected arguments {', '.join(kwargs)}; accepted: axes")
        return _call("transpose", (self,), axes=tuple(axes) if axes else None)

    def broadcast_to(self, shape):
        """Array expanded to `shape`, which may have more dimensions, in front of the array's; 0
        keeps a dimension. Only dimensions of size 1 are expanded.

        >>> mx.nd.array([[1], [2]]).broadcast_to((2, 3)).asnumpy()
        array([[1., 1., 1.],
               [2., 2., 2.]], dtype=float32)
        """
        shape = _as_shape(shape)
        missing = len(shape) - self.ndim
        array = self._reshape_exact((1,) * missing + self.shape) if missing > 0 else self
        return _call("broadcast_to", (array,), shape=shape)

    def broadcast_like(self, other, lhs_axes=None, rhs_axes=None):
        """Array expanded to the shape of `other`, which may have more dimensions; with `lhs_axes`
        and `rhs_axes`, tuples of int, only those axes to the sizes of these.

        >>> mx.nd.array([[1, 2]]).broadcast_like(mx.nd.zeros((2, 2))).asnumpy()
        array([[1., 2.],
               [1., 2.]], dtype=float32)
        """
        missing = other.ndim - self.ndim if lhs_axes is None and rhs_axes is None else 0
        array = self._reshape_exact((1,) * missing + self.shape) if missing > 0 else self
        return _call("broadcast_like", (array, other), lhs_axes=lhs_axes, rhs_axes=rhs_axes)

    def split_v2(self, indices_or_sections, axis=0, squeeze_axis=False):
        """The array in a number of equal parts along `axis`, or cut in front of the indices of a
        tuple. With `squeeze_axis` parts of size 1 lose the axis. Raises ValueError where equal
        parts do not fit.

        >>> x = mx.nd.array([1, 2, 3, 4])
        >>> [part.asnumpy().tolist() for part in x.split_v2(2)]
        [[1.0, 2.0], [3.0, 4.0]]
        >>> [part.asnumpy().tolist() for part in x.split_v2((1, 3))]
        [[1.0], [2.0, 3.0], [4.0]]
        """
        if isinstance(indices_or_sections, (int, np.integer)):
            indices_or_sections = int(indices_or_sections)
            if axis < -self.ndim or axis >= self.ndim:
                raise ValueError(f"[split_v2] axis {axis} for an array of shape {self.shape}")
            if self.shape[axis] % indices_or_sections:
                raise ValueError(f"[split_v2] {self.shape[axis]} elements along axis {axis} cannot be split "
                                 f"into {indices_or_sections} equal sections")
            return _call("_split_v2", (self,), indices=(), axis=axis, squeeze_axis=squeeze_axis, sections=indices_or_sections)
        return _call("_split_v2", (self,), indices=(0,) + tuple(indices_or_sections), axis=axis, squeeze_axis=squeeze_axis)

    def slice_assign(self, rhs, begin, end, step):
        """Writes `rhs` into a strided slice of this array.

        >>> x = mx.nd.zeros((2, 3))
        >>> _ = x.slice_assign(mx.nd.ones((1, 2)), begin=(0, 1), end=(1, 3), step=(1, 1))
        >>> x.asnumpy()
        array([[0., 1., 1.],
               [0., 0., 0.]], dtype=float32)
        """
        return _call("_slice_assign", (self, rhs), self, begin=begin, end=end, step=step)

    def slice_assign_scalar(self, value, begin, end, step):
        """Writes a number into a strided slice of this array.

        >>> x = mx.nd.zeros((2, 3))
        >>> _ = x.slice_assign_scalar(7, begin=(0, 1), end=(1, 3), step=(1, 1))
        >>> x.asnumpy()
        array([[0., 7., 7.],
               [0., 0., 0.]], dtype=float32)
        """
        return _call("_slice_assign_scalar", (self,), self, scalar=float(value), begin=begin, end=end, step=step)

    def diag(self, k=0, **kwargs):
        """Diagonal of a matrix, or a matrix with the array as diagonal. `k` above 0 is that many
        places above the main diagonal, below 0 under it.

        >>> x = mx.nd.array([[1, 2], [3, 4]])
        >>> x.diag().asnumpy(), x.diag(k=1).asnumpy()
        (array([1., 4.], dtype=float32), array([2.], dtype=float32))
        """
        return _call("diag", (self,), k=k, **kwargs)

    # ---- logical negation and the rest of the operators

    def __invert__(self):
        return _call("logical_not", (self,))      # comparisons give 0 and 1 of the operands' dtype

    def __floordiv__(self, other):
        if isinstance(other, numbers.Number):
            return _call("_npi_floor_divide_scalar", (self,), scalar=other + 0)    # True is 1
        return _call("_npi_floor_divide", (self, other))

    def __rfloordiv__(self, other):
        return _call("_npi_rfloor_divide_scalar", (self,), scalar=other + 0)

    def __matmul__(self, other):
        return _call("dot", (self, other)) if isinstance(other, NDArray) else NotImplemented

    def __deepcopy__(self, memo):
        return self.copy()

    def __copy__(self):
        return self.copy()


_set_ndarray_class(NDArray)
_set_trace_note(note)


def _method(name):
    """The operator `name` as a method."""
    function = getattr(_internal, name)

    def call(self, *args, **kwargs):
        return function(self, *args, **kwargs)
    call.__doc__ = f"``mx.nd.{name}`` with this array as first argument."
    return call


add_methods(NDArray, [name for name in METHODS + ARRAY_METHODS if not hasattr(NDArray, name)], _method, "nd")
