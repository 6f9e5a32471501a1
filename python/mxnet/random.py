"""Seeding of the random generators, and the samplers of :mod:`mxnet.ndarray.random` under a shorter
name."""
import ctypes
import importlib
import numbers

from .base import _LIB, check_call, error_class
from .context import Context
from .util import accepts_device

__all__ = ["seed"]


@accepts_device
def seed(seed_state, ctx="all"):
    """Restart the library's random generators.

    Arrays drawn after two calls with the same seed are the same, on the same kind of device.

    Parameters
    ----------
    seed_state : int
        The seed; its low 32 bits are used.
    ctx : Context or 'all'
        Device whose generator is seeded. 'all' seeds every device, each with a different sequence.

    Raises
    ------
    ValueError
        if the seed is not an integer.

    Examples
    --------
    >>> mx.random.seed(5)
    >>> a = mx.nd.random.uniform(shape=3)
    >>> mx.random.seed(5)
    >>> bool((a == mx.nd.random.uniform(shape=3)).min().asscalar())
    True
    """
    if not isinstance(seed_state, numbers.Integral):
        raise ValueError(f"[random.seed] seed_state must be int, {type(seed_state).__name__} was given")
    state = ctypes.c_int(int(seed_state))
    if isinstance(ctx, str):
        if ctx != "all":
            raise error_class(ValueError, KeyError)(f"[random.seed] ctx={ctx!r}; a Context or 'all' is accepted")
        check_call(_LIB.MXRandomSeed(state))
    else:
        ctx = Context(ctx)
        check_call(_LIB.MXRandomSeedContext(state, ctypes.c_int(ctx.device_typeid), ctypes.c_int(ctx.device_id)))


# Forwarded on first use, not copied: mxnet.ndarray itself imports this package's parts while it
# loads.
def _samplers():
    return importlib.import_module(__package__ + ".ndarray.random")


def __getattr__(name):
    if not name.startswith("_") and name in _samplers().__all__:
        value = globals()[name] = getattr(_samplers(), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(set(globals()) | set(_samplers().__all__))
