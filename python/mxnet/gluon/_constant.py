"""Parameters that are never trained."""
import warnings

from .. import initializer, ndarray as nd
from .._arrays.classes import to_class_of
from .._training.initializers import KEPT
from ..util import default_array
from ._parameter import Parameter

__all__ = ['Constant']


class _FixedValue(initializer.Initializer):
    """Fills an array with one given array."""

    def __init__(self, name, value):
        super().__init__()
        self.name = name
        self.value = value

    def _init_weight(self, _, arr):
        to_class_of(self.value, arr).copyto(arr)

    _init_default = _init_bias = _init_gamma = _init_beta = _init_weight

    def dumps(self):
        """The name that graphs have, known from then on: a graph may outlive the Block."""
        name = f'Constant_{self.name}_{id(self)}'
        KEPT[name] = self
        return name


class Constant(Parameter):
    """A Parameter that is never trained: `value` (NDArray or nested list) is its data from
    `initialize` on, `grad_req` is 'null'.

    >>> table = mx.gluon.Constant('table', [[1, 2], [3, 4]])
    >>> table.initialize()
    >>> table.data().asnumpy(), table.grad_req
    (array([[1., 2.],
           [3., 4.]], dtype=float32), 'null')
    """

    def __init__(self, name, value=None):
        if value is None:      # MXNet 2.0 has no names here
            name, value = 'const', name
        if not isinstance(value, nd.NDArray):
            value = default_array(value)
        self.value = value
        super().__init__(name, grad_req='null', shape=value.shape, dtype=value.dtype, init=_FixedValue(name, value))

    def __getstate__(self):
        return {**super().__getstate__(), 'init': initializer.Constant(self.value)}    # which 1.x has as well

    def __setstate__(self, state):
        super().__setstate__(state)
        self.init, self._grad_req = _FixedValue(self.name, self.value), 'null'

    @property
    def grad_req(self):
        """Always 'null'; setting anything else warns and changes nothing."""
        return 'null'

    @grad_req.setter
    def grad_req(self, req):
        self._grad_req = 'null'
        if req != 'null':
            warnings.warn(f'Constant parameter "{self.name}" does not support grad_req other than "null", '
                          f'and new value "{req}" is ignored.', stacklevel=2)
