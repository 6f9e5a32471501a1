"""``mx.sym.npx.image``: operators for pictures."""
from ..._operators.functions import attach as _attach
from .._functions import symbol_function as _symbol_function
from ..numpy import _Symbol

__getattr__, __dir__ = _attach(__name__, "_npx__image_", _symbol_function, cls=_Symbol)
