"""Names under which 1.x had experimental parts; each leads to where the part lives now."""
import sys as _sys

from .. import amp

_sys.modules[__name__ + ".amp"] = amp
_sys.modules[__name__ + ".amp.amp"] = amp.amp
_sys.modules[__name__ + ".amp.loss_scaler"] = amp.loss_scaler
