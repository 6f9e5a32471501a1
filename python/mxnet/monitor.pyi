# Generated from the modules by `./dev docs`; do not edit.
from collections.abc import Callable
from typing import Any
from mxnet.base import CheckedTypeError as CheckedTypeError
from mxnet.ndarray.ndarray import NDArray as NDArray

class Monitor:
    def __init__(self, interval: int, stat_func: Callable[..., Any] | None = ..., pattern: str = ..., sort: bool = ..., monitor_all: bool = ...) -> None: ...
    def install(self, exe: Any) -> Any: ...
    def stat_helper(self, name: Any, array: Any) -> Any: ...
    def tic(self) -> Any: ...
    def toc(self) -> Any: ...
    def toc_print(self) -> Any: ...
    activated: Any
    exes: Any
    interval: Any
    monitor_all: Any
    queue: Any
    re_prog: Any
    sort: Any
    stat_func: Any
    step: Any
