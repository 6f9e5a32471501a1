# Generated from the modules by `./dev docs`; do not edit.
from typing import Any, Self
from mxnet.base import check_call as check_call
from mxnet.base import py_str as py_str
from mxnet.context import current_context as current_context

class StorageStats(tuple[Any, ...]):
    def __new__(_cls, used_bytes: Any, cached_bytes: Any, peak_bytes: Any, peak_used_bytes: Any, hits: Any, misses: Any, releases: Any, limit_bytes: Any, given_back_blocks: Any, given_back_bytes: Any) -> Self: ...
    def __repr__(self) -> str: ...
    cached_bytes: Any
    given_back_blocks: Any
    given_back_bytes: Any
    hits: Any
    limit_bytes: Any
    misses: Any
    peak_bytes: Any
    peak_used_bytes: Any
    releases: Any
    used_bytes: Any
def pool_name(ctx: Any = ...) -> Any: ...
def reset_peak(ctx: Any = ...) -> Any: ...
def stats(ctx: Any = ...) -> Any: ...
