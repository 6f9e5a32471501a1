"""``mx.sym.npx``: operators of ``mx.npx`` on symbols with NumPy's rules.

They have the signatures and defaults of their records, and inputs that are not given become
variables: ``fully_connected(x, num_hidden=3)`` has a bias.
"""
import importlib as _importlib

from ...numpy_extension.control_flow import cond, foreach, while_loop
from ..._operators.functions import attach as _attach
from .._functions import symbol_function as _symbol_function
from ..numpy import _Symbol

_SUBMODULES = ("image", "random")
_operator, _directory = _attach(__name__, "_npx_", _symbol_function, cls=_Symbol)


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module("." + name, __name__)
    return _operator(name)


def __dir__():
    return sorted({*_directory(), *_SUBMODULES})
