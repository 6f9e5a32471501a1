"""mx.np.ndarray: the array class whose rules are NumPy's."""
import numpy as onp

from .. import _dtypes
from .._binding import _numpy_base, _set_indexing, _set_numpy_class
from ..ndarray import NDArray
from . import _indexing
from ..ndarray._native import shared
from ._dispatch import call
from ._operators import PYTHON_OPERATORS

__all__ = ["ndarray"]

_Base = _numpy_base(NDArray, [(method, row.arrays, row.number, row.left) for method, row in PYTHON_OPERATORS.items()])


class ndarray(_Base):   # pylint: disable=invalid-name
    """Multi-dimensional array on one device, with NumPy's rules for shapes, dtypes, indexing and
    operators.

    Arrays are made by functions (``mx.np.array``, ``zeros``, ``arange``, ...). As with mx.nd,
    operations return at once and run in the background; reading values waits for them.
    """

    __module__ = "mxnet.numpy"
    __slots__ = []

    @property
    def dtype(self):
        """NumPy dtype of the elements (``bfloat16`` for bfloat16)."""
        kind = _dtypes.type_of(self._dtype_id)
        return kind if kind is _dtypes.bfloat16 else onp.dtype(kind)

    def as_nd_ndarray(self):
        """The array as one of mx.nd, sharing memory and gradients."""
        return shared(self, NDArray)

    def as_np_ndarray(self):
        """The array itself."""
        return self

    def reshape(self, *shape, order="C", **kwargs):
        """Array of another shape; -1 stands for what is left."""
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return call("_npi_reshape", (self,), newshape=tuple(kwargs.get("newshape", shape)), order=order)

    def __repr__(self):
        return repr(self.asnumpy())

    def __str__(self):
        return str(self.asnumpy())


_set_numpy_class(ndarray)
_set_indexing(_indexing.getitem, _indexing.setitem, True)
