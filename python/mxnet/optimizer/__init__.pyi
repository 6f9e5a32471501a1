# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet._typing import Decorated
from mxnet.symbol.symbol import Symbol

class AdaBelief(Optimizer):
    def __init__(self, learning_rate: float = ..., beta1: float = ..., beta2: float = ..., epsilon: float = ..., correct_bias: bool = ..., use_fused_step: bool = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def fused_step(self, indices: Any, weights: Any, grads: Any, states: Any, /) -> Any: ...
    def step(self, indices: Any, weights: Any, grads: Any, states: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    beta1: Any
    beta2: Any
    clip_gradient: Any
    correct_bias: Any
    epsilon: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    use_fused_step: Any
    wd: float
    wd_mult: Any

class AdaDelta(Optimizer):
    def __init__(self, rho: float = ..., epsilon: float = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    epsilon: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    rho: Any
    sym_info: Any
    wd: float
    wd_mult: Any

class AdaGrad(Optimizer):
    def __init__(self, eps: float = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    epsilon: Any
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    float_stable_eps: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class Adam(Optimizer):
    def __init__(self, learning_rate: float = ..., beta1: float = ..., beta2: float = ..., epsilon: float = ..., lazy_update: bool = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    beta1: Any
    beta2: Any
    clip_gradient: Any
    epsilon: Any
    idx2name: Any
    lazy_update: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class AdamW(Optimizer):
    def __init__(self, learning_rate: float = ..., beta1: float = ..., beta2: float = ..., epsilon: float = ..., correct_bias: bool = ..., use_fused_step: bool = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def fused_step(self, indices: Any, weights: Any, grads: Any, states: Any, /) -> Any: ...
    def step(self, indices: Any, weights: Any, grads: Any, states: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    beta1: Any
    beta2: Any
    clip_gradient: Any
    correct_bias: Any
    epsilon: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    use_fused_step: Any
    wd: float
    wd_mult: Any

class Adamax(Optimizer):
    def __init__(self, learning_rate: float = ..., beta1: float = ..., beta2: float = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    epsilon: Any
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    beta1: Any
    beta2: Any
    clip_gradient: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class DCASGD(Optimizer):
    def __init__(self, momentum: float = ..., lamda: float = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    idx2name: Any
    lamda: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    momentum: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any
    weight_previous: Any

class FTML(Optimizer):
    def __init__(self, beta1: float = ..., beta2: float = ..., epsilon: float = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    beta1: Any
    beta2: Any
    clip_gradient: Any
    epsilon: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class Ftrl(Optimizer):
    def __init__(self, lamda1: float = ..., learning_rate: float = ..., beta: float = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    beta: Any
    clip_gradient: Any
    idx2name: Any
    lamda1: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class GroupAdaGrad(Optimizer):
    def __init__(self, eps: float = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    float_stable_eps: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class LAMB(Optimizer):
    def __init__(self, learning_rate: float = ..., beta1: float = ..., beta2: float = ..., epsilon: float = ..., lower_bound: Any = ..., upper_bound: Any = ..., bias_correction: bool = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def fused_step(self, indices: Any, weights: Any, grads: Any, states: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    beta1: Any
    beta2: Any
    bias_correction: Any
    clip_gradient: Any
    epsilon: Any
    idx2name: Any
    lower_bound: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    upper_bound: Any
    wd: float
    wd_mult: Any

class LANS(Optimizer):
    def __init__(self, learning_rate: float = ..., beta1: float = ..., beta2: float = ..., epsilon: float = ..., lower_bound: Any = ..., upper_bound: Any = ..., aggregate_num: int = ..., use_fused_step: bool = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def fused_step(self, indices: Any, weights: Any, grads: Any, states: Any, /) -> Any: ...
    def step(self, indices: Any, weights: Any, grads: Any, states: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    beta1: Any
    beta2: Any
    clip_gradient: Any
    epsilon: Any
    idx2name: Any
    lower_bound: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    upper_bound: Any
    use_fused_step: Any
    wd: float
    wd_mult: Any

class LARS(SGD):
    def __init__(self, momentum: float = ..., lazy_update: bool = ..., eta: float = ..., eps: float = ..., momentum_correction: bool = ..., **kwargs: Any) -> None: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    cur_lr: Any
    eps: Any
    eta: Any
    idx2name: Any
    last_lr: Any
    lazy_update: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    momentum: Any
    momentum_correction: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    skip: Any
    sym_info: Any
    wd: float
    wd_mult: Any

class LBSGD(Optimizer):
    def __init__(self, momentum: float = ..., multi_precision: bool = ..., warmup_strategy: Any = ..., warmup_epochs: Any = ..., batch_scale: int = ..., updates_per_epoch: Any = ..., begin_epoch: int = ..., num_epochs: int = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def create_state_multi_precision(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    adaptive: Any
    admult: Any
    aggregate_num: Any
    allow_np_array: Any
    batch_scale: Any
    begin_num_update: Any
    clip_gradient: Any
    cumgrads: Any
    idx2name: Any
    init_updates: Any
    lbmult: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    momentum: Any
    multi_precision: Any
    num_epochs: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    updates_per_epoch: Any
    warmup_epochs: Any
    warmup_strategy: Any
    wd: float
    wd_mult: Any

class NAG(Optimizer):
    def __init__(self, momentum: float = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def create_state_multi_precision(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    momentum: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any
NDabs: Any

class Nadam(Optimizer):
    def __init__(self, learning_rate: float = ..., beta1: float = ..., beta2: float = ..., epsilon: float = ..., schedule_decay: float = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    beta1: Any
    beta2: Any
    clip_gradient: Any
    epsilon: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    m_schedule: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    schedule_decay: Any
    sym_info: Any
    wd: float
    wd_mult: Any

class Optimizer:
    def __init__(self, rescale_grad: float = ..., param_idx2name: Any = ..., wd: float = ..., clip_gradient: float | None = ..., learning_rate: float | None = ..., lr_scheduler: Any = ..., sym: Symbol | None = ..., begin_num_update: int = ..., multi_precision: bool = ..., param_dict: Any = ..., aggregate_num: Any = ..., use_fused_step: Any = ...) -> None: ...
    def __repr__(self) -> str: ...
    def _get_lr(self, index: Any) -> Any: ...
    def _get_lrs(self, indices: Any) -> Any: ...
    def _get_wd(self, index: Any) -> Any: ...
    def _get_wds(self, indices: Any) -> Any: ...
    def _update_count(self, index: Any) -> Any: ...
    @staticmethod
    def create_optimizer(name: Any, **kwargs: Any) -> Optimizer: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def create_state_multi_precision(self, index: Any, weight: Any, /) -> Any: ...
    def fused_step(self, indices: Any, weights: Any, grads: Any, states: Any, /) -> Any: ...
    @property
    def learning_rate(self) -> float: ...
    opt_registry: Any
    @staticmethod
    def register(klass: Decorated) -> Decorated: ...
    def set_learning_rate(self, lr: Any) -> None: ...
    def set_lr_mult(self, args_lr_mult: Any) -> Any: ...
    def set_lr_scale(self, args_lrscale: Any) -> Any: ...
    def set_wd_mult(self, args_wd_mult: Any) -> Any: ...
    def step(self, indices: Any, weights: Any, grads: Any, states: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class RMSProp(Optimizer):
    def __init__(self, learning_rate: float = ..., gamma1: float = ..., gamma2: float = ..., epsilon: float = ..., centered: bool = ..., clip_weights: float | None = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    centered: Any
    clip_gradient: Any
    clip_weights: Any
    epsilon: Any
    gamma1: Any
    gamma2: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class SGD(Optimizer):
    def __init__(self, momentum: float = ..., lazy_update: bool = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def create_state_multi_precision(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    idx2name: Any
    lazy_update: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    momentum: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class SGLD(Optimizer):
    def __init__(self, **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class Signum(Optimizer):
    def __init__(self, learning_rate: float = ..., momentum: float = ..., wd_lh: float = ..., **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    momentum: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_lh: Any
    wd_mult: Any

class Test(Optimizer):
    def __init__(self, **kwargs: Any) -> None: ...
    def create_state(self, index: Any, weight: Any, /) -> Any: ...
    def update(self, index: Any, weight: Any, grad: Any, state: Any, /) -> Any: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    idx2name: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any

class Updater:
    def __call__(self, index: Any, grad: Any, weight: Any) -> Any: ...
    def __init__(self, optimizer: Any) -> None: ...
    def __repr__(self) -> str: ...
    for_store: Any
    def get_states(self, dump_optimizer: bool = ...) -> Any: ...
    part: Any
    def set_states(self, states: Any, weights: Any = ...) -> Any: ...
    def sync_state_context(self, state: Any, context: Any) -> Any: ...
    aggregate_updates: Any
    optimizer: Any
    states: Any
    states_synced: Any
adaptive: Any
base: Any

class ccSGD(SGD):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    aggregate_num: Any
    allow_np_array: Any
    begin_num_update: Any
    clip_gradient: Any
    idx2name: Any
    lazy_update: Any
    lr: float
    lr_mult: Any
    lr_scheduler: Any
    momentum: Any
    multi_precision: Any
    num_update: Any
    param_dict: Any
    rescale_grad: float
    sym_info: Any
    wd: float
    wd_mult: Any
contrib: Any
def create(name: Any, **kwargs: Any) -> Optimizer: ...
def get_updater(optimizer: Any) -> Any: ...
optimizer: Any
def register(klass: Decorated) -> Decorated: ...
several: Any
sgd: Any
updater: Any
