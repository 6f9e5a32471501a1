"""``mx.nd.npx``: what blocks know as ``F.npx``.

Operators have the signatures and defaults of their records, so that a block computes the same with
arrays as with symbols; everything else is that of :mod:`mxnet.numpy_extension`.
"""
from ..._operators.functions import attach as _attach
from ...numpy_extension._generate import generate as _generate
from ...numpy_extension.control_flow import cond, foreach, while_loop   # noqa: F401
from ..numpy._namespace import same_names as _same_names

_operator, _operators = _attach(__name__, "_npx_", _generate, records=True)
_other, _others = _same_names(__name__, "mxnet.numpy_extension", ("image", "random"))


def __getattr__(name):
    try:
        return _operator(name)
    except AttributeError:
        return _other(name)


def __dir__():
    return sorted({*_operators(), *_others()})
