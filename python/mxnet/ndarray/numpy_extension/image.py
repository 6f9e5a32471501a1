"""``mx.nd.npx.image``: the functions of :mod:`mxnet.numpy_extension.image`."""
from ..numpy._namespace import same_names as _same_names

__getattr__, __dir__ = _same_names(__name__, "mxnet.numpy_extension.image")
