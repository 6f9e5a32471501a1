"""mx.np.ndarray: the array class whose rules are NumPy's."""
import builtins
import importlib
import os
import pickle

import numpy as onp

from .. import _dtypes
from .._files.whole_files import write_file
from .._binding import NumpyProperty, _numpy_base, _set_indexing, _set_numpy_class, is_traced
from ..base import _MXValueError, error_class
from ..ndarray import NDArray
from ..numpy_dispatch_protocol import is_masked
from . import _indexing
from ..ndarray._native import _call as invoked, reread_shape, shared, view_as
from ._dispatch import call, check_order, compiled, device_of, operand
from ._flat import Flags, flatiter, write_flat
from ._methods import add_methods
from ._in_place import cast_in_place, whole_in_place
from ._operators import PYTHON_OPERATORS
from ._printing import array_repr, array_str
from ._views import in_memory, makes_views, reshaped, shown_as, shows

__all__ = ["ndarray", "flatiter"]

# By number; -1, of an array without shape and memory, has none.
_DTYPES = tuple(kind if kind is _dtypes.bfloat16 else onp.dtype(kind) for kind in _dtypes.TYPES) + (None,)
_API_VERSIONS = ("2021.12", "2022.12", "2023.12")


def _function(name):
    """A function of mx.np."""
    return getattr(importlib.import_module("mxnet.numpy.multiarray"), name)    # which stands on this module


_Base = _numpy_base(NDArray, [(method, row.arrays, row.number, row.left, row.truth) for method, row in PYTHON_OPERATORS.items()])


@compiled("_npi_reshape")
@shows(reshaped)
def _compiled_reshape(a, newshape):
    return call("_npi_reshape", (a,), newshape=newshape)


@compiled("_npi_transpose")
@shows(onp.transpose)
def _compiled_transpose(a, axes=None):
    return call("_npi_transpose", (a,), axes=axes)


def _attribute(name):
    """Decorator of a property that the binding reads."""
    return lambda function: NumpyProperty(function, name, _DTYPES)


class ndarray(_Base):   # pylint: disable=invalid-name
    """Multi-dimensional array on one device, with NumPy's rules for shapes, dtypes, indexing and
    operators.

    Arrays are made by functions (``mx.np.array``, ``zeros``, ``arange``, ...). As with mx.nd,
    operations return at once and run in the background; reading values waits for them. Row slices
    and integers give views, as in NumPy; other indexing, ``reshape`` and ``T`` give copies, and
    ``sort`` returns the sorted array.

    >>> x = mx.np.array([[1, 2, 3], [4, 5, 6]])
    >>> x.shape, x.dtype, x.size, x.ndim
    ((2, 3), dtype('float32'), 6, 2)
    >>> x[:, 1:] * mx.np.array([10, 100])
    array([[ 20., 300.],
           [ 50., 600.]])
    >>> x[0][:] = 0    # a row is a view
    >>> x
    array([[0., 0., 0.],
           [4., 5., 6.]])
    """

    __module__ = "mxnet.numpy"
    __slots__ = []

    # ---- what it is

    @_attribute("dtype")
    def dtype(self):
        """NumPy dtype of the elements (``bfloat16`` for bfloat16).

        >>> mx.np.ones(2).dtype, mx.np.array([1, 2], dtype='int8').dtype
        (dtype('float32'), dtype('int8'))
        """
        return _DTYPES[self._dtype_id]

    @_attribute("itemsize")
    def itemsize(self):
        """Bytes of one element.

        >>> mx.np.ones(3, dtype='float16').itemsize
        2
        """
        return _dtypes.ITEM_BYTES[self._dtype_id]

    @_attribute("nbytes")
    def nbytes(self):
        """Bytes of all elements.

        >>> mx.np.ones((2, 3)).nbytes
        24
        """
        return self.size * self.itemsize

    @_attribute("T")
    def T(self):
        """The array with its axes reversed; itself if it has fewer than two.

        >>> mx.np.ones((2, 3, 4)).T.shape
        (4, 3, 2)
        """
        return self if self.ndim < 2 else _compiled_transpose(self)

    @property
    def mT(self):
        """The array with its last two axes exchanged. Raises ValueError for fewer than two.

        >>> mx.np.ones((2, 3, 4)).mT.shape
        (2, 4, 3)
        """
        ndim = self.ndim
        if ndim < 2:
            raise ValueError(f"[mT] an array of {ndim} dimensions; accepted: at least 2")
        view = shown_as(self, lambda x: x.swapaxes(-1, -2))
        return call("_npi_transpose", (self,), axes=(*range(ndim - 2), ndim - 1, ndim - 2)) if view is None else view

    def __len__(self):
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value):
        return bool((self.asnumpy() == (value.asnumpy() if isinstance(value, NDArray) else value)).any())

    def __repr__(self):
        return array_repr(self)

    def __str__(self):
        return array_str(self)

    def __format__(self, spec):
        if self.ndim == 0 or spec and self.size == 1:
            return format(self.item(), spec)
        if spec:
            raise TypeError(f"unsupported format string {spec!r} passed to an array of shape {self.shape}; accepted: none, or an array "
                            "with one value")
        return str(self)

    # ---- as a number

    def _scalar(self):
        value = self._value()
        if value is not None:
            return value
        if self.size != 1:
            raise TypeError(f"only size-1 arrays can be converted to Python scalars; this one has the shape {self.shape}")
        return self.asnumpy().item()    # of a dtype that the binding leaves to NumPy

    def __bool__(self):
        if self.size > 1:
            raise ValueError("The truth value of an ndarray with multiple elements is ambiguous; accepted: a.any() or a.all()")
        return self.size == 1 and bool(self._scalar())

    def __int__(self):
        return int(self._scalar())

    def __float__(self):
        return float(self._scalar())

    def __complex__(self):
        return complex(self._scalar())

    def __index__(self):
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index; this one has the shape "
                            f"{self.shape} and dtype {self.dtype}")
        return self._scalar()

    def __round__(self, n=0):
        return self.round(n)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    # ---- values out

    @compiled("_copy", "item")
    def item(self, *args):
        """The value of an array of size 1, or of the element at a flat index or at indices, as a
        Python number.

        >>> mx.np.array([[1., 2.], [3., 4.]]).item(1, 0)
        3.0
        """
        if args:
            key = self._place(args[0] if len(args) == 1 else args)
            return self.asnumpy().item(*args) if key is None else self[key].item()
        value = self._value()
        if value is not None:
            return value
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._scalar()

    def _place(self, given):
        """The indices of the element that `item` is asked for; None where there is no such one."""
        shape = self.shape
        if type(given) is not int:      # pylint: disable=unidiomatic-typecheck
            known = isinstance(given, tuple) and len(given) == len(shape)
            return given if known and all(type(i) is int and -n <= i < n for i, n in zip(given, shape)) else None
        if not -self.size <= given < self.size:
            return None
        given %= self.size
        places = []
        for n in reversed(shape):
            given, place = divmod(given, n)
            places.append(place)
        return tuple(reversed(places))

    def tobytes(self, order="C"):
        """The elements as bytes, in the machine's byte order. `order` is NumPy's.

        >>> mx.np.array([1, 2], dtype='uint8').tobytes()
        b'\\x01\\x02'
        """
        return self.asnumpy().tobytes(order)

    def tofile(self, fid, sep="", format="%s"):    # pylint: disable=redefined-builtin
        """Writes the elements to a file, as bytes or, separated by `sep`, as text. Arguments are
        those of NumPy's method.

        >>> mx.np.array([1, 2.5]).tofile('numbers.txt', sep=' ')
        >>> with open('numbers.txt') as file:
        ...     file.read()
        '1.0 2.5'
        """
        self.asnumpy().tofile(fid, sep, format)

    def dumps(self):
        """The array as the bytes of a pickle.

        >>> import pickle
        >>> pickle.loads(mx.np.array([1, 2]).dumps())
        array([1., 2.])
        """
        return pickle.dumps(self)

    def dump(self, file):
        """Writes the pickle of the array to a file: a path, or one that is open for bytes.

        >>> mx.np.array([1, 2]).dump('array.pickle')
        >>> import pickle
        >>> with open('array.pickle', 'rb') as file:
        ...     pickle.load(file)
        array([1., 2.])
        """
        if hasattr(file, "write"):
            file.write(self.dumps())
        else:
            write_file(os.fspath(file), self.dumps())

    def fill(self, value):
        """Sets every element to a number, or to an array that broadcasts.

        >>> x = mx.np.zeros(2); x.fill(3); x
        array([3., 3.])
        """
        self[...] = value

    @property
    def real(self):
        """The array itself: there are no complex dtypes.

        >>> mx.np.array([1, 2]).real
        array([1., 2.])
        """
        return self

    @property
    def imag(self):
        """Zeros of the array's shape and dtype.

        >>> mx.np.array([1, 2]).imag
        array([0., 0.])
        """
        return call("zeros_like", (self,))

    # ---- copies

    @compiled("_copy", "copy")
    def copy(self, order="C"):
        """A copy on the same device, row by row whatever `order`, which is NumPy's, says.

        >>> x = mx.np.ones(2)
        >>> y = x.copy()
        >>> y[0] = 5
        >>> x, y
        (array([1., 1.]), array([5., 1.]))
        """
        if order != "C":
            check_order("copy", order)
        return call("_copy", (self,)) if self._ctx_ids[0] < 3 else super().copy()

    def copyto(self, other):
        """Copies into another array of mx.np of the same shape, cast to its dtype, or to a device;
        returns the target.

        >>> target = mx.np.zeros(2, dtype='int32')
        >>> mx.np.array([1.5, 2.5]).copyto(target)
        array([1, 2], dtype=int32)
        >>> mx.np.ones(2).copyto(mx.cpu(1)).device
        cpu(1)
        """
        if isinstance(other, NDArray):
            if not isinstance(other, ndarray):
                raise TypeError("[copyto] got an array of mx.nd; accepted: one of mx.np (as_np_ndarray() makes it one), or a device")
            return other if other.handle.value == self.handle.value else call("_copyto", (self,), other)
        return super().copyto(device_of(other) if isinstance(other, str) else other).as_np_ndarray()

    def as_in_context(self, context):
        """The array itself if it is on that device, a copy there otherwise.

        >>> x = mx.np.ones(2)
        >>> x.as_in_context(mx.cpu(0)) is x, x.as_in_context(mx.cpu(1)).context
        (True, cpu(1))
        """
        return super().as_in_context(device_of(context) if isinstance(context, str) else context)

    def as_in_ctx(self, ctx):
        """:meth:`as_in_context`.

        >>> mx.np.ones(2).as_in_ctx(mx.cpu(1)).context
        cpu(1)
        """
        return self.as_in_context(ctx)

    def to_device(self, device, stream=None):
        """The array itself if it is on that device, a copy there otherwise. `stream` must be None:
        the engine orders all work.

        >>> mx.np.ones(2).to_device(mx.cpu(1)).device
        cpu(1)
        """
        if stream is not None:
            raise ValueError(f"[to_device] stream={stream!r}; accepted: None")
        return self.as_in_context(device)

    @compiled("_npi_cast", "cast")
    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """The array in another dtype; itself if `copy` is false and it has that dtype.

        `casting` is NumPy's rule, "unsafe" by default: a TypeError where it forbids the cast.
        `order` is NumPy's and changes nothing: arrays lie in memory row by row. `subok` is NumPy's,
        too; its default is accepted. Fractions become integers by cutting them off.

        >>> mx.np.array([1.7, -1.7]).astype('int32')
        array([ 1, -1], dtype=int32)
        """
        if order != "K":
            check_order("astype", order)
        if casting != "unsafe":
            wanted = _dtypes.name(dtype).replace("bfloat", "float")
            if not onp.can_cast(_dtypes.name(self.dtype).replace("bfloat", "float"), wanted, casting):
                raise error_class(TypeError, ValueError)(
                    f"[astype] {self.dtype} to {dtype} with casting={casting!r}; accepted: what that rule of NumPy allows")
        if not subok:
            raise ValueError("[astype] subok=False; accepted: True")
        if dtype is None:
            dtype = "float32"
        if not copy and self._dtype_id == _dtypes.number(dtype):
            return self
        return call("_npi_cast", (self,), dtype=_dtypes.name(dtype))

    def as_nd_ndarray(self):
        """The array as one of mx.nd, sharing memory and gradients.

        >>> x = mx.np.zeros(2)
        >>> x.as_nd_ndarray()[0] = 5
        >>> x
        array([5., 0.])
        """
        return shared(self, NDArray)

    def as_np_ndarray(self):
        """The array itself.

        >>> x = mx.np.zeros(2)
        >>> x.as_np_ndarray() is x
        True
        """
        return self

    # ---- shape

    @compiled("_npi_reshape", "spread")
    def reshape(self, *shape, order="C", copy=None):
        """A copy in another shape; -1 stands for what is left. `order` 'F' counts the elements down
        the columns. With `copy` False it is a view.

        >>> mx.np.arange(6).reshape(2, -1).shape
        (2, 3)
        """
        if not shape:
            raise TypeError("[reshape] needs a shape")
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = shape[0] if isinstance(shape[0], (tuple, list)) else onp.atleast_1d(onp.asarray(shape[0])).tolist()
        if order != "C" or copy is False:
            return _function("reshape")(self, tuple(shape), order=order, copy=copy)
        return _compiled_reshape(self, tuple(shape))

    def reshape_view(self, *shape, **kwargs):
        """A view in another shape, by the rules and codes of ``mx.nd.NDArray.reshape``.

        >>> x = mx.np.zeros((2, 2))
        >>> x.reshape_view(-1)[0] = 5
        >>> x
        array([[5., 0.],
               [0., 0.]])
        """
        return super().reshape(*shape, **kwargs)

    def view(self, dtype=None, type=None):    # pylint: disable=redefined-builtin
        """Another array in the same memory. With another `dtype` the bytes are read in it: the last
        dimension grows or shrinks with the size of an element. `type` is NumPy's, and must be this
        class or None.

        Raises ValueError where the bytes of the last dimension fill no whole number of elements,
        where the first element is not at a multiple of the new size, and, with another `dtype`,
        while autograd records or a block is traced.

        >>> x = mx.np.array([1.0, -2.0])
        >>> x.view('int32')
        array([ 1065353216, -1073741824], dtype=int32)
        >>> x.view('int32')[0] = 0
        >>> x.view()[1] = 5
        >>> x
        array([0., 5.])
        """
        if isinstance(dtype, builtins.type) and issubclass(dtype, NDArray):
            dtype, type = None, dtype
        if type not in (None, ndarray):
            raise TypeError(f"[view] type={type!r}; accepted: mx.np.ndarray, None")
        if dtype is None or _dtypes.number(dtype) == self._dtype_id:
            return shared(self, ndarray)
        if is_traced():
            raise ValueError("[view] another dtype while autograd records or a block is traced; accepted: the array's own")
        number = _dtypes.number(dtype)
        return view_as(self, reread_shape(self.shape, self.itemsize, _dtypes.ITEM_BYTES[number]), number)

    @compiled("_npi_reshape", "vector")
    def flatten(self, order="C"):
        """A copy with one dimension; `order` 'F' counts the elements down the columns.

        >>> mx.np.array([[1, 2], [3, 4]]).flatten()
        array([1., 2., 3., 4.])
        """
        if order != "C":
            return _function("ravel")(self, order)
        return call("_npi_reshape", (self,), newshape=(-1,))

    @compiled("_npi_transpose", "spread")
    def transpose(self, *axes):
        """The array with permuted axes, ints or one tuple, reversed by default. Raises ValueError
        unless all axes are named once.

        >>> mx.np.ones((2, 3, 4)).transpose(0, 2, 1).shape
        (2, 4, 3)
        """
        axes = axes[0] if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))) else axes
        return _compiled_transpose(self, tuple(axes) if axes else None)

    def _beside(self, other, record, in_place):
        """A list, a tuple or a NumPy array as the other operand of the operator `record`; the
        binding calls it. In place it gets the array's dtype if NumPy would cast it there. Masked
        arrays know how to work with arrays, and keep their masks."""
        if not record or not isinstance(other, (list, tuple, onp.ndarray, onp.generic)) or is_masked(type(other)):
            return NotImplemented
        made = operand(other, like=self)
        if in_place and made.dtype != self.dtype and onp.can_cast(made.dtype, self.dtype, "same_kind"):
            return made.astype(self.dtype)
        return made

    def __imatmul__(self, other):
        product = self.__matmul__(other)    # which cannot be written where its factor is being read
        if product is NotImplemented:
            return product
        if product.shape != self.shape:
            raise _MXValueError("[matmul] a product whose shape is not that of the left array cannot be written there; "
                             "accepted: a = a @ b")
        return invoked("_copyto", (product,), self)

    @staticmethod
    def _product(a, b):
        """The binding's ``a @ b`` of several dtypes, or of an array and what becomes one."""
        if is_masked(type(a)) or is_masked(type(b)):
            return NotImplemented
        return _function("matmul")(a, b)

    _in_place, _whole = cast_in_place, whole_in_place

    def _reshape_exact(self, shape):
        return _indexing.shaped(self, shape)

    # ---- in memory

    @property
    def strides(self):
        """Bytes from an element to the next one along each dimension, the last of which lies side
        by side. Those of a view, with ``npx.set_np(views=True)``, are what it shows of an array.

        >>> mx.np.zeros((2, 3)).strides
        (12, 4)
        """
        if makes_views():
            return in_memory(self).strides
        step, steps = self.itemsize if self.size else 0, []
        for size in reversed(self.shape):
            steps.append(step)
            step *= size
        return tuple(reversed(steps))

    @property
    def base(self):
        """None: an array does not say whose memory it looks into, also where it is a view.
        :func:`mxnet.np.shares_memory` tells whether two arrays share any.

        >>> x = mx.np.zeros((2, 3))
        >>> x[0].base is None, mx.np.shares_memory(x[0], x)
        (True, True)
        """
        return None

    @property
    def flags(self):
        """How the elements lie in memory, as NumPy's `flags`, which cannot be set here.

        >>> mx.np.zeros((2, 3)).flags.c_contiguous
        True
        """
        return Flags(self)

    @property
    def flat(self):
        """The elements as those of a vector, to be read, written and gone through: a
        :class:`flatiter`. ``x.flat = values`` writes all of them.

        >>> mx.np.array([[1, 2], [3, 4]]).flat[2]
        array(3.)
        """
        return flatiter(self)

    @flat.setter
    def flat(self, values):
        write_flat(self, values)

    def partition(self, kth, axis=-1, kind="introselect", order=None):
        """In place: moves the entries of each line of dimension `axis` so that the `kth` is where
        sorting would put it, smaller ones before and larger ones behind it. `kind` and `order` are
        NumPy's.

        >>> x = mx.np.array([3, 1, 2]); x.partition(0); x[0]
        array(1.)
        """
        self[...] = _function("partition")(self, kth, axis, kind, order)

    # ---- exchange

    def __array_namespace__(self, api_version=None):
        """``mx.np.array_api``, for code on the array API standard: mx.np with the standard's rules
        where they differ. Raises ValueError for versions of it that are not known."""
        if api_version is not None and api_version not in _API_VERSIONS:
            raise ValueError(f"[__array_namespace__] api_version={api_version!r}; accepted: None, {', '.join(_API_VERSIONS)}")
        return importlib.import_module("mxnet.numpy.array_api")    # which stands on this module


add_methods(ndarray)
_set_numpy_class(ndarray)
_set_indexing(_indexing.getitem, _indexing.setitem, True)
