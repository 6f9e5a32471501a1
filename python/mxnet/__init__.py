"""A deep-learning runtime with the programming interface of Apache MXNet 1.9 (an independent
implementation).

``import mxnet as mx`` loads the native library and the array interface; everything else
(``mx.gluon``, ``mx.sym``, ``mx.mod``, ``mx.io``, ...) is imported when it is first used.
"""
import atexit as _atexit
import functools as _functools
import importlib as _importlib
import os as _os

from ._startup import imports as _imports, names as _names, process as _process, tracebacks as _tracebacks
from .base import MXNetError, __version__
from .context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus
from . import ndarray
from . import ndarray as nd
from . import autograd

# Short names of modules; the rest of __getattr__'s names are modules of that very name.
_ALIASES = {"sym": "symbol", "mod": "module", "init": "initializer", "viz": "visualization", "kv": "kvstore", "img": "image",
            "rnd": "random", "np": "numpy", "npx": "numpy_extension", "mon": "monitor", "ag": "autograd", "nd": "ndarray"}
_MEMBERS = {"AttrScope": "attribute", "Device": "device", "Executor": "executor", "NDArray": "ndarray", "Symbol": "symbol",
            "current_device": "device",
            **dict.fromkeys(("is_np_array", "is_np_default_dtype", "is_np_shape", "np_array", "np_default_dtype", "np_shape",
                             "set_np_shape", "use_np", "use_np_array", "use_np_default_dtype", "use_np_shape"), "util")}


_imports.complete_standard_packages()


def _find(name):
    if name in _MEMBERS:
        value = getattr(_importlib.import_module("." + _MEMBERS[name], __name__), name)
    elif name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        target = f"{__name__}.{_ALIASES.get(name, name)}"
        try:
            value = _importlib.import_module(target)
        except ModuleNotFoundError as error:
            if error.name != target:
                raise   # the module exists; something that it needs does not
            raise _names.MissingName(__name__, name) from None
    globals()[name] = value
    return value


__getattr__ = _functools.partial(_names.lookup, __name__, before=_find)


def __dir__():
    return sorted({*globals(), *_ALIASES, *_MEMBERS, *_names.submodules()})


@_atexit.register
def _warn_of_late_changes(ran=None):
    if _os.environ != _process.AT_START:
        from ._machine.environment import warn_of_late_changes
        warn_of_late_changes(ran.info.raw_cell if ran else None)


if _process.shell() is not None:
    _process.shell().events.register("post_run_cell", lambda result: _warn_of_late_changes(result))


if _os.environ.get("DMLC_ROLE") in ("server", "scheduler"):   # started by a launcher, with a worker's command
    from .kvstore.kvstore_server import _init_kvstore_server_module
    _init_kvstore_server_module()
