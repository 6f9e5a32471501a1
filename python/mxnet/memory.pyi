# Generated from the modules by `./dev docs`; do not edit.
from collections.abc import Sequence
from typing import Any
from mxnet.symbol.symbol import Symbol
from mxnet.base import c_str_array as c_str_array
from mxnet.base import check_call as check_call
from mxnet.base import py_str as py_str
from mxnet.context import Context as Context
from mxnet.context import current_context as current_context

class MemoryPlan:
    def __init__(self, symbol: Symbol, block: Any, num_bytes: Any, costs: Any, recomputed: Sequence[str]) -> None: ...
    def __repr__(self) -> str: ...
    def apply(self) -> Any: ...
    extra_flops: Any
    extra_seconds: Any
    kept_bytes: Any
    lower_bound_bytes: Any
    planned_bytes: Any
    recomputed: Any
    step_flops: Any
    step_seconds: Any
    symbol: Any
def plan(symbol_or_block: Any, budget: Any = ..., ctx: Any = ..., type_dict: Any = ..., grad_names: Sequence[str] | None = ..., **shapes: Any) -> Any: ...
