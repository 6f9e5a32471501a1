"""Operators ``_npi_*`` as functions of mx.np arrays, each written from its record when first used,
and those that :func:`mxnet.numpy_op_fallback.register` added."""
from ..._operators.functions import attach as _attach
from ...numpy_extension._generate import generate as _generate

__getattr__, __dir__ = _attach(__name__, "_npi_", _generate, records=True)


def custom(op_name):
    """The function of the custom operator `op_name`: arrays by position, its arguments by
    keyword."""
    from ... import nd
    from ...util import np_array, np_shape

    def function(*data, **kwargs):
        with np_shape(), np_array():
            return nd.Custom(*data, op_type=op_name, **kwargs)
    function.__name__ = function.__qualname__ = op_name
    return function
