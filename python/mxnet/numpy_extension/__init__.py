"""``mx.npx``: what NumPy has not: functions for neural networks, loops, files and switches, on
arrays of mx.np."""
import importlib as _importlib

from ..context import Context as Device
from ..context import cpu, cpu_pinned, gpu, gpu_memory_info, num_gpus
from ..context import current_context
from ..context import current_context as current_device
from ..ndarray import waitall
from ..util import (get_cuda_compute_capability, is_np_array, is_np_default_dtype, is_np_shape, is_np_views, np_views, reset_np,
                    set_np, set_np_default_dtype, set_np_views)
from . import control_flow, utils
from .._operators.functions import attach as _attach
from ._generate import generate as _generate
from .control_flow import cond, foreach, while_loop
from .utils import from_dlpack, from_numpy, load, save, savez, to_dlpack_for_read, to_dlpack_for_write

_SUBMODULES = ("image", "random")
_operator, _directory = _attach(__name__, "_npx_", _generate)


def seed(seed, ctx="all", device=None):   # pylint: disable=redefined-outer-name
    """Seeds the generators of random numbers of all devices, or of one.

    >>> draws = []
    >>> for _ in range(2):
    ...     mx.npx.seed(7)
    ...     draws.append(mx.np.random.uniform(size=3))
    >>> draws[0] == draws[1]
    array([ True,  True,  True])
    """
    from .. import random as classic
    classic.seed(seed, device if device is not None else ctx)


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module("." + name, __name__)
    return _operator(name)


def __dir__():
    return sorted({*_directory(), *_SUBMODULES})
