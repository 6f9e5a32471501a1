"""Operators of MXNet 1.9 that compute with NumPy, on the host: custom operators for mx.np arrays
and symbols, and how to add one."""
import ast

import numpy as np

from . import operator
from .ndarray.numpy import _internal as _nd_npi
from .symbol.numpy import _internal as _sym_npi
from ._arrays.classes import to_class_of
from .util import np_array, np_shape

__all__ = ["register", "EmptyLike", "EmptyLikeProp", "MultivariateNormal", "MultivariateNormalProp", "Resize", "ResizeProp",
           "Unravel_index", "Unravel_indexProp"]


def register(op_name, imperative=True, symbolic=True):
    """Decorator of a CustomOpProp: its operator is ``mx.nd.numpy._internal.OP_NAME(*arrays,
    **arguments)`` and, for symbols, ``mx.sym.numpy._internal.OP_NAME``. Its functions get mx.np
    arrays.

    Parameters
    ----------
    op_name : str
        What it is called.
    imperative, symbolic : bool
        Whether there is a function for arrays, and for symbols.
    """
    def do_register(prop_cls):
        operator.register(op_name)(prop_cls)
        for wanted, module in ((imperative, _nd_npi), (symbolic, _sym_npi)):
            if wanted:
                setattr(module, op_name, module.custom(op_name))
        return prop_cls
    return do_register


class _OnHost(operator.CustomOp):
    """Computes one output with NumPy."""

    def compute(self, *arrays):
        """The values of the output, from NumPy arrays."""
        raise NotImplementedError(f"[{type(self).__name__}] defines no compute")

    def forward(self, is_train, req, in_data, out_data, aux):
        with np_shape(), np_array():
            values = np.asarray(self.compute(*(a.asnumpy() for a in in_data)))
            from .numpy._dispatch import from_values
            self.assign(out_data[0], req[0], from_values(values, out_data[0].context, out_data[0].dtype))

    def assign(self, dst, req, src):
        """Writes `src` to `dst`, or adds it, as `req` says."""
        if req == "null":
            return
        src = to_class_of(src, dst)
        dst[()] = dst + src if req == "add" else src

    def backward(self, out_grad, req, in_data, out_data, in_grad, aux):
        raise NotImplementedError(f"[{type(self).__name__}] has no gradient: it computes with NumPy")


def _literal(text):
    """A value from its text; texts of other things stay texts."""
    try:
        return ast.literal_eval(text) if isinstance(text, str) else text
    except (ValueError, SyntaxError):
        return text


def _shape(value):
    value = _literal(value)
    return () if value is None else (value,) if isinstance(value, int) else tuple(value)


class EmptyLike(_OnHost):
    """Zeros in the form of an array, as far as it is not overruled."""

    def __init__(self, dtype, order, subok, shape):
        super().__init__()
        self._dtype, self._order, self._subok, self._shape = dtype, order, subok, shape

    def compute(self, prototype):
        return np.zeros_like(prototype, dtype=self._dtype, order=self._order, subok=self._subok, shape=self._shape)


@register("empty_like_fallback")
class EmptyLikeProp(operator.CustomOpProp):
    """``empty_like`` of NumPy."""

    def __init__(self, dtype, order, subok, shape):
        super().__init__(need_top_grad=True)
        self._dtype, self._order, self._subok = _literal(dtype), order, _literal(subok)
        self._shape = None if _literal(shape) is None else _shape(shape)

    def list_arguments(self):
        return ["prototype"]

    def infer_shape(self, in_shape):
        return (in_shape[0],), (in_shape[0] if self._shape is None else self._shape,), ()

    def infer_type(self, in_type):
        return (in_type[0],), (in_type[0] if self._dtype is None else np.dtype(self._dtype).type,), ()

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return EmptyLike(self._dtype, self._order, self._subok, self._shape)


class Resize(_OnHost):
    """Values repeated or cut to a shape."""

    def __init__(self, new_shape):
        super().__init__()
        self._new_shape = new_shape

    def compute(self, a):
        return np.resize(a, self._new_shape)


@register("resize_fallback")
class ResizeProp(operator.CustomOpProp):
    """``resize`` of NumPy."""

    def __init__(self, new_shape):
        super().__init__(need_top_grad=True)
        self._new_shape = _shape(new_shape)

    def list_arguments(self):
        return ["a"]

    def infer_shape(self, in_shape):
        return (in_shape[0],), (self._new_shape,), ()

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Resize(self._new_shape)


class Unravel_index(_OnHost):   # pylint: disable=invalid-name
    """Positions in an array of a shape, one row for each dimension."""

    def __init__(self, shape):
        super().__init__()
        self._shape = shape

    def compute(self, indices):
        return np.stack(np.unravel_index(indices.astype(np.int64), self._shape))


@register("unravel_index_fallback")
class Unravel_indexProp(operator.CustomOpProp):   # pylint: disable=invalid-name
    """``unravel_index`` of NumPy."""

    def __init__(self, shape):
        super().__init__(need_top_grad=True)
        self._shape = _shape(shape)

    def list_arguments(self):
        return ["indices"]

    def infer_shape(self, in_shape):
        return (in_shape[0],), ((len(self._shape), *in_shape[0]),), ()

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Unravel_index(self._shape)


class MultivariateNormal(_OnHost):
    """Draws of a normal distribution with a covariance matrix."""

    def __init__(self, size=None):
        super().__init__()
        self._size = size

    def compute(self, mean, cov):
        # The generator is mx.np's: numpy.random knows nothing of mx.np.random.seed.
        from .numpy._dispatch import call
        shape = (*(() if self._size is None else self._size), *mean.shape)
        normal = call("_npi_normal", (), loc=0.0, scale=1.0, size=shape, dtype="float64").asnumpy()
        return mean + normal @ np.linalg.cholesky(cov.astype(np.float64)).T


@register("mvn_fallback")
class MultivariateNormalProp(operator.CustomOpProp):
    """``random.multivariate_normal`` of NumPy."""

    def __init__(self, size=None):
        super().__init__(need_top_grad=True)
        self._size = None if _literal(size) is None else _shape(size)

    def list_arguments(self):
        return ["mean", "cov"]

    def infer_shape(self, in_shape):
        return in_shape, ((*(self._size or ()), *in_shape[0]),), ()

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return MultivariateNormal(self._size)
