"""``mx.nd.np``: the functions of :mod:`mxnet.numpy`, which blocks know as ``F.np``."""
from ._namespace import same_names as _same_names

__getattr__, __dir__ = _same_names(__name__, "mxnet.numpy", ("_internal", "linalg", "random"))
