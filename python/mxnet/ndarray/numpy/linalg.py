"""``mx.nd.np.linalg``: the functions of :mod:`mxnet.numpy.linalg`."""
from ._namespace import same_names as _same_names

__getattr__, __dir__ = _same_names(__name__, "mxnet.numpy.linalg")
