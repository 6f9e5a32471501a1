# Generated from the modules by `./dev docs`; do not edit.
# mypy: disable-error-code="override"
from collections.abc import Callable
from typing import Any, overload
from mxnet._typing import Decorated

class Accuracy(EvalMetric):
    def __init__(self, axis: Any = ..., name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    axis: Any
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class Caffe(Loss):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class CompositeEvalMetric(EvalMetric):
    def __init__(self, metrics: Any = ..., name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def add(self, metric: Any) -> Any: ...
    def get(self) -> tuple[list[str], list[float]]: ...
    def get_config(self) -> dict[str, Any]: ...
    def get_global(self) -> tuple[list[str], list[float]]: ...
    def get_metric(self, index: Any) -> Any: ...
    def reset(self) -> None: ...
    def reset_local(self) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    def update_dict(self, labels: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    metrics: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class CrossEntropy(EvalMetric):
    def __init__(self, eps: float = ..., name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    eps: Any
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class CustomMetric(EvalMetric):
    def __init__(self, feval: Callable[..., Any], name: str | None = ..., allow_extra_outputs: bool = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def get_config(self) -> dict[str, Any]: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class EvalMetric:
    def __init__(self, name: str, output_names: Any = ..., label_names: Any = ..., **kwargs: Any) -> None: ...
    def __repr__(self) -> str: ...
    def __str__(self) -> str: ...
    def get(self) -> tuple[str, float]: ...
    def get_config(self) -> dict[str, Any]: ...
    def get_global(self) -> tuple[str, float]: ...
    def get_global_name_value(self) -> list[tuple[str, float]]: ...
    def get_name_value(self) -> list[tuple[str, float]]: ...
    def reset(self) -> None: ...
    def reset_local(self) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    def update_dict(self, label: Any, pred: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class F1(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ..., average: Any = ...) -> None: ...
    def reset(self) -> None: ...
    def reset_local(self) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    average: Any
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    metrics: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class Loss(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def update(self, _: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class MAE(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class MCC(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ..., average: Any = ...) -> None: ...
    def reset(self) -> None: ...
    def reset_local(self) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class MSE(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class NegativeLogLikelihood(CrossEntropy):
    def __init__(self, eps: float = ..., name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    eps: Any
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class PCC(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ..., has_global_stats: bool = ...) -> None: ...
    @property
    def global_sum_metric(self) -> Any: ...
    def reset(self) -> None: ...
    def reset_local(self) -> None: ...
    @property
    def sum_metric(self) -> Any: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    gcm: Any
    global_num_inst: Any
    k: Any
    label_names: Any
    lcm: Any
    name: Any
    num_inst: Any
    output_names: Any

class PearsonCorrelation(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ..., average: Any = ...) -> None: ...
    def get(self) -> tuple[str, float]: ...
    def get_global(self) -> tuple[str, float]: ...
    def reset(self) -> None: ...
    def reset_local(self) -> None: ...
    def reset_micro(self) -> Any: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    def update_cov(self, label: Any, pred: Any) -> Any: ...
    def update_variance(self, new_values: Any, *aggregate: Any) -> Any: ...
    average: Any
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class Perplexity(EvalMetric):
    def __init__(self, ignore_label: Any, axis: int = ..., name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    axis: Any
    global_num_inst: Any
    global_sum_metric: Any
    ignore_label: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class RMSE(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class TopKAccuracy(EvalMetric):
    def __init__(self, top_k: Any = ..., name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any
    top_k: Any

class Torch(Loss):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any
def alias(*aliases: str) -> Callable[[Decorated], Decorated]: ...
base: Any
def check_label_shapes(labels: Any, preds: Any, wrap: bool = ..., shape: bool = ...) -> Any: ...
classification: Any
@overload
def create(metric: list[Any] | tuple[Any, ...], *args: Any, **kwargs: Any) -> CompositeEvalMetric: ...
@overload
def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric: ...
def np(numpy_feval: Any, name: Any = ..., allow_extra_outputs: bool = ...) -> Any: ...
def register(klass: Decorated, name: str | None = ...) -> Decorated: ...
regression: Any
