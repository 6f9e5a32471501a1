"""``mx.npx.image``: operators for pictures on mx.np arrays and symbols, and what :mod:`mxnet.image`
has."""
import importlib as _importlib

from .._operators.functions import attach as _attach
from ._generate import generate as _generate

_operator, _directory = _attach(__name__, "_npx__image_", _generate)


def __getattr__(name):
    try:
        return _operator(name)
    except AttributeError:
        classic = _importlib.import_module("mxnet.image")
        if name.startswith("_") or not hasattr(classic, name):
            raise
    value = globals()[name] = getattr(classic, name)
    return value


def __dir__():
    classic = _importlib.import_module("mxnet.image")
    return sorted({*_directory(), *(n for n in dir(classic) if not n.startswith("_"))})
