# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet.base import MXNetError as MXNetError
from mxnet.base import c_str as c_str
from mxnet.base import check_call as check_call

class MXlib:
    def __init__(self, handle: Any) -> None: ...
    handle: Any
def compiled_with_gcc_cxx11_abi() -> Any: ...
def load(path: str, verbose: bool = ...) -> Any: ...
