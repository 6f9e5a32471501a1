"""Shapes and dtypes of a symbol's arguments and results."""
import ctypes
import numbers
import warnings

from .. import _dtypes
from ..base import _LIB, c_str_array, check_call


class _SymbolInference:
    """The part of :class:`Symbol` that infers."""

    __slots__ = ()

    def infer_shape(self, *args, **kwargs):
        """Shapes of arguments, outputs and auxiliary states, from some known shapes (positional, or
        by name).

        Returns three lists of tuples; (None, None, None) with a warning when not everything can be
        told. A dimension of 0 is unknown.
        """
        result = self._infer_shape(False, args, kwargs)
        if result[0] is None:
            arg_shapes = self._infer_shape(True, args, kwargs)[0]
            unknown = [f"{n}: {s}" for n, s in zip(self.list_arguments(), arg_shapes) if s is None or len(s) == 0 or any(d <= 0 for d in s)]
            warnings.warn("Cannot decide shape for the following arguments (0s in shape means "
                          "unknown dimensions). Consider providing them as input:\n\t"
                          + "\n\t".join(unknown), stacklevel=2)
        return result

    def infer_shape_partial(self, *args, **kwargs):
        """As :meth:`infer_shape`, with what is known; () is an unknown shape.

        >>> net = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=3, name='fc')
        >>> net.infer_shape_partial()[0]
        [(), (3, 0), (3,)]
        """
        return self._infer_shape(True, args, kwargs)

    def _infer_shape(self, partial, args, kwargs):
        if args and kwargs:
            raise ValueError("[infer_shape] got positional and keyword shapes; accepted: one kind")
        names, pointer, dims = [], [0], []
        for name, shape in kwargs.items() if kwargs else enumerate(args):
            if shape is None:
                if not kwargs:
                    pointer.append(len(dims))   # a place in the order, of unknown shape
                continue
            if not isinstance(shape, tuple):                # lists are refused, as in 1.x
                raise TypeError(f"[infer_shape] Arguments need to be shapes (tuple), but argument {name} is {type(shape)}.")
            for d in shape:
                if not isinstance(d, numbers.Integral):
                    raise TypeError(f"[infer_shape] argument {name} has dimension {d!r}; accepted: whole numbers")
            names.append(name)
            dims.extend(int(d) for d in shape)
            pointer.append(len(dims))
        lists = [(ctypes.c_size_t(), ctypes.POINTER(ctypes.c_int)(), ctypes.POINTER(ctypes.POINTER(ctypes.c_int64))()) for _ in range(3)]
        complete = ctypes.c_int()
        function = _LIB.MXSymbolInferShapePartialEx64 if partial else _LIB.MXSymbolInferShapeEx64
        check_call(function(self.handle, ctypes.c_uint(len(pointer) - 1),
                            c_str_array(names) if kwargs else None,
                            (ctypes.c_int64 * len(pointer))(*pointer),
                            (ctypes.c_int64 * len(dims))(*dims),
                            *(ctypes.byref(x) for three in lists for x in three),
                            ctypes.byref(complete)))
        if not complete.value:
            return (None, None, None)
        from ..util import is_np_shape
        np_shape = is_np_shape()
        return tuple([None if np_shape and ndim[i] < 0 else tuple(data[i][:ndim[i]])
                      for i in range(size.value)] for size, ndim, data in lists)

    def infer_type(self, *args, **kwargs):
        """Dtypes of arguments, outputs and auxiliary states, from some known dtypes. (None, None,
        None) with a warning when they cannot be told."""
        result = self._infer_type(False, args, kwargs)
        if result[0] is None:
            arg_types = self._infer_type(True, args, kwargs)[0]
            unknown = [f"{n}: {t}" for n, t in zip(self.list_arguments(), arg_types) if t is None]
            warnings.warn("Cannot decide type for the following arguments. Consider providing them "
                          "as input:\n\t" + "\n\t".join(unknown), stacklevel=2)
        return result

    def infer_type_partial(self, *args, **kwargs):
        """As :meth:`infer_type`, with None where unknown.

        >>> net = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=3, name='fc')
        >>> net.infer_type_partial(x='float16')[1]
        [<class 'numpy.float16'>]
        """
        return self._infer_type(True, args, kwargs)

    def _infer_type(self, partial, args, kwargs):
        if args and kwargs:
            raise ValueError("[infer_type] got positional and keyword dtypes; accepted: one kind")
        names, types = [], []
        for name, dtype in kwargs.items() if kwargs else enumerate(args):
            if dtype is None:
                if not kwargs:
                    types.append(-1)
                continue
            names.append(name)
            types.append(_dtypes.number(dtype))
        lists = [(ctypes.c_uint(), ctypes.POINTER(ctypes.c_int)()) for _ in range(3)]
        complete = ctypes.c_int()
        function = _LIB.MXSymbolInferTypePartial if partial else _LIB.MXSymbolInferType
        check_call(function(self.handle, ctypes.c_uint(len(types)),
                            c_str_array(names) if kwargs else None,
                            (ctypes.c_int * len(types))(*types),
                            *(ctypes.byref(x) for two in lists for x in two), ctypes.byref(complete)))
        if not complete.value:
            return (None, None, None)
        return tuple([None if data[i] < 0 else _dtypes.type_of(data[i]) for i in range(size.value)] for size, data in lists)
