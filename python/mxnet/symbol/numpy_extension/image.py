"""``mx.sym.npx.image``: operators for pictures."""
from .._functions import attach as _attach
from ..numpy import _Symbol

__getattr__, __dir__ = _attach(__name__, "_npx__image_", _Symbol)
