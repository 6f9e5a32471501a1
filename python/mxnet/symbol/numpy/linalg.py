"""``mx.sym.np.linalg``: the functions of :mod:`mxnet.numpy.linalg` on symbols."""
from ._namespace import symbolic_names as _symbolic_names

__getattr__, __dir__ = _symbolic_names(__name__, "mxnet.numpy.linalg")
