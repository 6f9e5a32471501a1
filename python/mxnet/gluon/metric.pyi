# Generated from the modules by `./dev docs`; do not edit.
from collections.abc import Callable
from typing import Any, overload
import mxnet.metric
from mxnet._typing import Decorated
from mxnet import registry as registry
from mxnet.base import CheckedValueError as CheckedValueError
from mxnet.metric import check_label_shapes as check_label_shapes

class Accuracy(mxnet.metric.Accuracy, EvalMetric):
    axis: Any
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class BinaryAccuracy(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ..., threshold: float = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any
    threshold: Any

class CompositeEvalMetric(mxnet.metric.CompositeEvalMetric, EvalMetric):
    def __init__(self, metrics: Any = ..., name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def add(self, metric: Any) -> Any: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    metrics: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class CrossEntropy(EvalMetric):
    def __init__(self, eps: float = ..., ignore_label: Any = ..., axis: int = ..., from_logits: bool = ..., name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    axis: Any
    eps: Any
    from_logits: Any
    global_num_inst: Any
    global_sum_metric: Any
    ignore_label: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class CustomMetric(mxnet.metric.CustomMetric, EvalMetric):
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class EvalMetric(mxnet.metric.EvalMetric):
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class F1(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ..., class_type: str = ..., threshold: float = ..., average: Any = ...) -> None: ...
    def reset(self) -> None: ...
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

class Fbeta(F1):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ..., class_type: Any = ..., beta: Any = ..., threshold: float = ..., average: Any = ...) -> None: ...
    average: Any
    beta: Any
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    metrics: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class Loss(mxnet.metric.Loss, EvalMetric):
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class MAE(mxnet.metric.MAE, EvalMetric):
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class MCC(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    def reset(self) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class MSE(mxnet.metric.MSE, EvalMetric):
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class MeanCosineSimilarity(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ..., eps: float = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    eps: Any
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class MeanPairwiseDistance(EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ..., p: Any = ...) -> None: ...
    def update(self, labels: Any, preds: Any) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    p: Any
    sum_metric: Any

class PCC(mxnet.metric.PCC, EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    gcm: Any
    global_num_inst: Any
    global_sum_metric: Any
    k: Any
    label_names: Any
    lcm: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class PearsonCorrelation(mxnet.metric.PearsonCorrelation, EvalMetric):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    average: Any
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class Perplexity(CrossEntropy):
    def __init__(self, eps: float = ..., ignore_label: Any = ..., axis: Any = ..., from_logits: bool = ..., name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    axis: Any
    eps: Any
    from_logits: Any
    global_num_inst: Any
    global_sum_metric: Any
    ignore_label: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class RMSE(MSE):
    def __init__(self, name: Any = ..., output_names: Any = ..., label_names: Any = ...) -> None: ...
    global_num_inst: Any
    global_sum_metric: Any
    label_names: Any
    name: Any
    num_inst: Any
    output_names: Any
    sum_metric: Any

class TopKAccuracy(mxnet.metric.TopKAccuracy, EvalMetric):
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
@overload
def create(metric: list[Any] | tuple[Any, ...], *args: Any, **kwargs: Any) -> CompositeEvalMetric: ...
@overload
def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric: ...
def np(numpy_feval: Any, name: Any = ..., allow_extra_outputs: bool = ...) -> Any: ...
def predict_with_threshold(pred: Any, threshold: float = ...) -> Any: ...
def register(klass: Decorated, name: str | None = ...) -> Decorated: ...
