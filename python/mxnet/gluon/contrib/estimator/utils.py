"""Checks of metrics that several modules of the estimator share."""
from ....metric import Accuracy, CompositeEvalMetric, EvalMetric
from ...loss import SoftmaxCrossEntropyLoss


def _check_metrics(metrics):
    """`metrics` as a list: None gives an empty one, a composite its parts."""
    if isinstance(metrics, CompositeEvalMetric):
        return list(metrics.metrics)
    if isinstance(metrics, EvalMetric):
        return [metrics]
    found = list(metrics) if isinstance(metrics, (list, tuple)) else [] if metrics is None else None
    if found is None or not all(isinstance(metric, EvalMetric) for metric in found):
        raise ValueError("[Estimator] metrics must be a Metric or a list of Metric, refer to "
                         f"mxnet.metric.EvalMetric: {metrics}")
    return found


def _check_handler_metric_ref(handler, known_metrics):
    """Refuse a handler whose `metrics` or `train_metrics` nobody updates."""
    for attribute in ("metrics", "train_metrics"):
        referred = getattr(handler, attribute, None)
        if referred is None:
            continue
        for metric in referred if isinstance(referred, (list, tuple)) else [referred]:
            _check_metric_known(handler, metric, known_metrics)


def _check_metric_known(handler, metric, known_metrics):
    if not any(metric is known for known in known_metrics):
        raise ValueError(f"[Estimator] Event handler {type(handler).__name__} refers to a metric instance {metric} "
                         "outside of the known training and validation metrics. Please use the metrics from "
                         "estimator.train_metrics and estimator.val_metrics instead.")


def _suggest_metric_for_loss(loss):
    """A metric that goes with `loss`, or None."""
    return Accuracy() if isinstance(loss, SoftmaxCrossEntropyLoss) else None
