"""``mx.nd.np.random``: the functions of :mod:`mxnet.numpy.random`."""
from ._namespace import same_names as _same_names

__getattr__, __dir__ = _same_names(__name__, "mxnet.numpy.random")
