"""``mx.nd.npx``: the functions of :mod:`mxnet.numpy_extension`, under the name that blocks know as
``F.npx``."""
from ..numpy._namespace import same_names as _same_names

__getattr__, __dir__ = _same_names(__name__, "mxnet.numpy_extension", ("image", "random"))
