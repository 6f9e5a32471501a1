"""``mx.nd.npx.random``: the functions of :mod:`mxnet.numpy_extension.random`."""
from ..numpy._namespace import same_names as _same_names

__getattr__, __dir__ = _same_names(__name__, "mxnet.numpy_extension.random")
