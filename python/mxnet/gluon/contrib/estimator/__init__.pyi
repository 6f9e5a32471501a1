# Generated from the modules by `./dev docs`; do not edit.
from collections.abc import Callable
from typing import Any

class BatchBegin:
    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...

class BatchEnd:
    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...

class BatchProcessor:
    def __init__(self) -> None: ...
    def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: Any = ...) -> Any: ...
    def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: Any = ...) -> Any: ...

class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    def __init__(self, model_dir: str, model_prefix: str = ..., monitor: Any = ..., verbose: int = ..., save_best: bool = ..., mode: str = ..., epoch_period: Any = ..., batch_period: Any = ..., max_checkpoints: int = ..., resume_from_checkpoint: bool = ...) -> None: ...
    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    batch_period: Any
    best: Any
    current_batch: Any
    current_epoch: Any
    epoch_period: Any
    max_checkpoints: Any
    model_dir: Any
    model_prefix: Any
    monitor: Any
    monitor_op: Any
    resume_from_checkpoint: Any
    save_best: Any
    saved_checkpoints: Any
    trained_batch: Any
    trained_epoch: Any
    verbose: Any

class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    def __init__(self, monitor: Any, min_delta: float = ..., patience: int = ..., mode: str = ..., baseline: float | None = ...) -> None: ...
    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    baseline: Any
    best: Any
    current_epoch: Any
    min_delta: Any
    monitor: Any
    monitor_op: Any
    patience: Any
    stop_training: Any
    stopped_epoch: Any
    wait: Any

class EpochBegin:
    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...

class EpochEnd:
    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...

class Estimator:
    def __init__(self, net: Any, loss: Any, train_metrics: Any = ..., val_metrics: Any = ..., initializer: Any = ..., trainer: Any = ..., context: Any = ..., val_net: Any = ..., val_loss: Any = ..., batch_processor: Any = ..., *, device: Any = ...) -> None: ...
    @property
    def device(self) -> Any: ...
    def evaluate(self, val_data: Any, batch_axis: int = ..., event_handlers: Any = ...) -> Any: ...
    def fit(self, train_data: Any, val_data: Any = ..., epochs: Any = ..., event_handlers: Any = ..., batches: Any = ..., batch_axis: int = ...) -> Any: ...
    logger: Any
    @property
    def train_metrics(self) -> Any: ...
    @property
    def val_metrics(self) -> Any: ...
    batch_axis: Any
    batch_processor: Any
    context: Any
    loss: Any
    max_batch: Any
    max_epoch: Any
    net: Any
    trainer: Any
    val_loss: Any
    val_net: Any

class GradientUpdateHandler(BatchEnd):
    def __init__(self, priority: int = ...) -> None: ...
    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    priority: Any

class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    def __init__(self, log_interval: Any = ..., metrics: Any = ..., priority: float = ...) -> None: ...
    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    batch_index: Any
    batch_start: Any
    current_epoch: Any
    epoch_start: Any
    log_interval: Any
    log_interval_time: Any
    metrics: Any
    priority: Any
    processed_samples: Any
    train_start: Any

class MetricHandler(EpochBegin, BatchEnd):
    def __init__(self, metrics: Any, priority: int = ...) -> None: ...
    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    metrics: Any
    priority: Any

class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    def __init__(self, max_epoch: Any = ..., max_batch: Any = ...) -> None: ...
    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    current_batch: Any
    current_epoch: Any
    max_batch: Any
    max_epoch: Any
    stop_training: Any

class TrainBegin:
    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...

class TrainEnd:
    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...

class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    def __init__(self, val_data: Any, eval_fn: Callable[..., Any], epoch_period: Any = ..., batch_period: Any = ..., priority: int = ..., event_handlers: Any = ...) -> None: ...
    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any: ...
    batch_period: Any
    current_batch: Any
    current_epoch: Any
    epoch_period: Any
    eval_fn: Any
    event_handlers: Any
    priority: Any
    val_data: Any
batch_processor: Any
estimator: Any
event_handler: Any
utils: Any
