"""``mx.sym.npx.random``: the functions of :mod:`mxnet.numpy_extension.random` on symbols."""
from ..numpy._namespace import symbolic_names as _symbolic_names

__getattr__, __dir__ = _symbolic_names(__name__, "mxnet.numpy_extension.random")
