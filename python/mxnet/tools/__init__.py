"""Programs that come with the package: ``python -m mxnet.tools.im2rec`` and
``python -m mxnet.tools.launch``."""
import importlib


def __getattr__(name):
    if name in __dir__():
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return ["im2rec", "launch", "launch_rank"]
