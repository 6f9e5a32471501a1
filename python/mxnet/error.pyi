# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
import mxnet.base
from mxnet.base import MXNetError as MXNetError
from mxnet.base import register_error as _base_register_error
from mxnet.base import register_error as register_error

class InternalError(mxnet.base.MXNetError):
    def __init__(self, msg: Any) -> None: ...
register = _base_register_error
