# Generated from the modules by `./dev docs`; do not edit.
from collections.abc import Sequence
from typing import Any
from mxnet.base import CheckedValueError as CheckedValueError
from mxnet.initializer import from_arguments as from_arguments

class CosineScheduler(LRScheduler):
    def __call__(self, num_update: Any) -> float: ...
    def __init__(self, max_update: int, base_lr: float = ..., final_lr: float = ..., warmup_steps: Any = ..., warmup_begin_lr: Any = ..., warmup_mode: Any = ...) -> None: ...
    base_lr: float
    base_lr_orig: Any
    final_lr: Any
    max_steps: Any
    max_update: Any
    warmup_begin_lr: float
    warmup_final_lr: float
    warmup_mode: Any
    warmup_steps: Any

class FactorScheduler(LRScheduler):
    def __call__(self, num_update: Any) -> float: ...
    def __init__(self, step: int, factor: float = ..., stop_factor_lr: float = ..., base_lr: float = ..., warmup_steps: Any = ..., warmup_begin_lr: Any = ..., warmup_mode: Any = ...) -> None: ...
    base_lr: float
    count: Any
    factor: Any
    step: Any
    stop_factor_lr: Any
    warmup_begin_lr: float
    warmup_final_lr: float
    warmup_mode: Any
    warmup_steps: Any

class LRScheduler:
    def __call__(self, num_update: Any) -> float: ...
    def __init__(self, base_lr: float = ..., warmup_steps: int = ..., warmup_begin_lr: float = ..., warmup_mode: Any = ...) -> None: ...
    def __repr__(self) -> str: ...
    def get_warmup_lr(self, num_update: Any) -> float: ...
    base_lr: float
    warmup_begin_lr: float
    warmup_final_lr: float
    warmup_mode: Any
    warmup_steps: Any

class MultiFactorScheduler(LRScheduler):
    def __call__(self, num_update: Any) -> float: ...
    def __init__(self, step: Sequence[int], factor: float = ..., base_lr: float = ..., warmup_steps: Any = ..., warmup_begin_lr: Any = ..., warmup_mode: Any = ...) -> None: ...
    base_lr: float
    count: Any
    cur_step_ind: Any
    factor: Any
    step: Any
    warmup_begin_lr: float
    warmup_final_lr: float
    warmup_mode: Any
    warmup_steps: Any

class PolyScheduler(LRScheduler):
    def __call__(self, num_update: Any) -> float: ...
    def __init__(self, max_update: int, base_lr: float = ..., pwr: float = ..., final_lr: float = ..., warmup_steps: Any = ..., warmup_begin_lr: Any = ..., warmup_mode: Any = ...) -> None: ...
    base_lr: float
    base_lr_orig: Any
    final_lr: Any
    max_steps: Any
    max_update: Any
    power: Any
    warmup_begin_lr: float
    warmup_final_lr: float
    warmup_mode: Any
    warmup_steps: Any
pi: Any
