"""Metrics as MXNet 2.0 has them.

They differ from those of :mod:`mxnet.metric` in three ways. Sums count samples, not batches, so a
smaller last batch has less weight. Measures of classes take several classes and several labels
(`class_type`), and are those of all samples together (`average='micro'`). There is one total, not a
local and a global one.

Labels and predictions are lists of arrays (NDArray or numpy.ndarray), one for each output of a
network. Every metric is an :class:`mxnet.metric.EvalMetric` as well.
"""
import math

import numpy

from .. import metric as _old
from .. import registry
from ..base import CheckedValueError
from ..metric import check_label_shapes
from ..metric.base import _pairs
from ._class_counts import _Counts, predict_with_threshold

__all__ = ["Accuracy", "BinaryAccuracy", "CompositeEvalMetric", "CrossEntropy", "CustomMetric", "EvalMetric", "F1", "Fbeta",
           "Loss", "MAE", "MCC", "MSE", "MeanCosineSimilarity", "MeanPairwiseDistance", "PCC", "PearsonCorrelation",
           "Perplexity", "RMSE", "TopKAccuracy", "Torch", "alias", "check_label_shapes", "create", "np",
           "predict_with_threshold", "register"]


class EvalMetric(_old.EvalMetric):
    """Base of the metrics of this module: a sum divided by a number of samples.

    Parameters are those of :class:`mxnet.metric.EvalMetric`. A subclass defines ``update(labels,
    preds)``, which adds to `sum_metric` and `num_inst`.

    >>> class Largest(mx.gluon.metric.EvalMetric):
    ...     def update(self, labels, preds):
    ...         for label, pred in zip(labels, preds):
    ...             self.sum_metric += float((pred - label).abs().max().asscalar())
    ...             self.num_inst += 1
    >>> metric = Largest('largest')
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
    >>> metric.get()
    ('largest', 2.0)
    """


_enter = registry.get_register_func(EvalMetric, "metric")
_enter_as = registry.get_alias_func(EvalMetric, "metric")


def register(klass, name=None):
    """Class decorator: make the metric known under its name in lower case, or `name`.

    >>> @mx.gluon.metric.register
    ... class Always(mx.gluon.metric.EvalMetric):
    ...     def update(self, labels, preds):
    ...         self.sum_metric, self.num_inst = 1, 1
    >>> metric = mx.gluon.metric.create('always', name='always')
    >>> metric.update([], [])
    >>> metric.get()
    ('always', 1.0)
    """
    return _enter(klass, name)


def alias(*aliases):
    """Class decorator: make the metric known under further names.

    >>> @mx.gluon.metric.alias('top_3')
    ... class Top3(mx.gluon.metric.TopKAccuracy):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(top_k=3, **kwargs)
    >>> mx.gluon.metric.create('top_3').top_k
    3
    """
    return _enter_as(*aliases)
_create = registry.get_create_func(EvalMetric, "metric")


def create(metric, *args, **kwargs):
    """A metric of this module from its name, from a function ``(label, pred) -> value``, or a
    composite from a list of such. An instance is returned as it is.

    >>> create('fbeta', beta=2).beta
    2
    """
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        return CompositeEvalMetric([create(one, *args, **kwargs) for one in metric])
    if isinstance(metric, _old.EvalMetric):
        return metric
    return _create(metric, *args, **kwargs)


def np(numpy_feval, name=None, allow_extra_outputs=False):
    """A :class:`CustomMetric` of a function of NumPy arrays (label, pred), under the function's
    name.

    >>> def largest(label, pred):
    ...     return float(abs(label - pred).max())
    >>> metric = mx.gluon.metric.np(largest)
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
    >>> metric.get()
    ('largest', 2.0)
    """
    return CustomMetric(numpy_feval, name, allow_extra_outputs)


@alias("composite")
@register
class CompositeEvalMetric(_old.CompositeEvalMetric, EvalMetric):
    """Several metrics in one: names and values are lists.

    Parameters
    ----------
    metrics : list of EvalMetric or anything else that :func:`create` takes
    name, output_names, label_names
        As in :class:`EvalMetric`.

    Examples
    --------
    >>> metric = mx.gluon.metric.CompositeEvalMetric([mx.gluon.metric.MAE(), mx.gluon.metric.MSE()])
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
    >>> metric.get()
    (['mae', 'mse'], [1.0, 2.0])
    """

    def __init__(self, metrics=None, name="composite", output_names=None, label_names=None):
        super().__init__([create(one) for one in metrics or ()], name, output_names, label_names)

    def add(self, metric):
        self.metrics.append(create(metric))


@register
class CustomMetric(_old.CustomMetric, EvalMetric):
    """Values of a function, see :class:`mxnet.metric.CustomMetric`.

    >>> def largest(label, pred):
    ...     return float(abs(label - pred).max())
    >>> metric = mx.gluon.metric.CustomMetric(largest)
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
    >>> metric.get()
    ('largest', 2.0)
    """


@alias("acc")
@register
class Accuracy(_old.Accuracy, EvalMetric):
    """Share of right classes, see :class:`mxnet.metric.Accuracy`.

    >>> metric = mx.gluon.metric.Accuracy()
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([[0.9, 0.1], [0.8, 0.2]])])
    >>> metric.get()
    ('accuracy', 0.5)
    """


@alias("top_k_accuracy", "top_k_acc")
@register
class TopKAccuracy(_old.TopKAccuracy, EvalMetric):
    """Share of samples whose class is among the best, see :class:`mxnet.metric.TopKAccuracy`.

    >>> metric = mx.gluon.metric.TopKAccuracy(top_k=2)
    >>> metric.update([mx.nd.array([0, 2])], [mx.nd.array([[0.1, 0.7, 0.2], [0.2, 0.3, 0.5]])])
    >>> metric.get()
    ('top_k_accuracy_2', 0.5)
    """


@register
class Loss(_old.Loss, EvalMetric):
    """Mean of the predictions themselves: for networks whose outputs are losses.

    >>> metric = mx.gluon.metric.Loss()
    >>> metric.update(None, [mx.nd.array([1, 2, 6])])
    >>> metric.get()
    ('loss', 3.0)
    """


@register
class Torch(Loss):
    """:class:`Loss` for Torch criterions.

    >>> metric = mx.gluon.metric.Torch()
    >>> metric.update(None, [mx.nd.array([4])])
    >>> metric.get()
    ('torch', 4.0)
    """

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@register
class BinaryAccuracy(EvalMetric):
    """Share of right answers to questions of yes and no.

    Labels (0 and 1) and predictions are arrays of the same number of elements; a prediction above
    `threshold` means 1.

    >>> metric = BinaryAccuracy(threshold=0.6)
    >>> metric.update([numpy.array([0, 1, 0])], [numpy.array([0.7, 0.8, 0.4])])
    >>> round(metric.get()[1], 4)
    0.6667
    """

    def __init__(self, name="binary_accuracy", output_names=None, label_names=None, threshold=0.5):
        self.threshold = threshold
        super().__init__(name, output_names, label_names, threshold=threshold, has_global_stats=True)

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            guess = predict_with_threshold(pred, self.threshold).astype(numpy.int32).ravel()
            label = label.astype(numpy.int32).ravel()
            check_label_shapes(label, guess)
            self._add(float((guess == label).sum()), len(guess))


@register
class F1(EvalMetric):
    """Harmonic mean of precision and recall (van Rijsbergen, 1979) of all samples since the reset.

    Parameters
    ----------
    name, output_names, label_names
        As in :class:`EvalMetric`.
    class_type : str
        'binary': labels 0 and 1 of shape (n,), predictions of shape (n,), which mean 1 above
        `threshold`, or scores of shape (n, 2). 'multiclass': labels of shape (n,), scores of shape
        (n, classes). 'multilabel': labels 0 and 1 and predictions of shape (n, classes).
    threshold : float or array
        See :func:`predict_with_threshold`.
    average : str or None
        'micro' for one value of all classes together, 'macro' for the mean of the values of the
        classes, anything else for an array with a value for each class.

    Raises
    ------
    ValueError
        if an array has another shape, or a label is out of range.

    >>> metric = F1(class_type='multiclass', average='macro')
    >>> metric.update([numpy.array([0, 1])], [numpy.array([[0.9, 0.1], [0.8, 0.2]])])
    >>> round(float(metric.get()[1]), 4)
    0.3333
    """

    _beta = 1

    def __init__(self, name="f1", output_names=None, label_names=None, class_type="binary", threshold=0.5, average="micro"):
        self.average = average
        self.metrics = _Counts(class_type, threshold)
        super().__init__(name, output_names, label_names, class_type=class_type, threshold=threshold, average=average)

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            self.metrics.update(label, pred)
        scores = self.metrics.fscore(self._beta, self.average == "micro")
        if self.average == "micro":
            scores = float(scores[0])
        elif self.average == "macro":
            scores = float(scores.mean())
        self.num_inst = self.metrics.num_examples
        self.sum_metric = scores * self.num_inst

    def reset(self):
        super().reset()
        self.metrics.reset()


@register
class Fbeta(F1):
    """:class:`F1` with a recall that counts `beta` times as much as the precision.

    >>> metric = Fbeta(beta=2)
    >>> metric.update([numpy.array([1, 1, 0])], [numpy.array([0.9, 0.1, 0.2])])
    >>> round(metric.get()[1], 4)
    0.5556
    """

    def __init__(self, name="fbeta", output_names=None, label_names=None, class_type="binary", beta=1, threshold=0.5,
                 average="micro"):
        super().__init__(name, output_names, label_names, class_type, threshold, average)
        self.beta = self._beta = beta
        self._kwargs["beta"] = beta


@register
class MCC(EvalMetric):
    """Matthews' correlation coefficient (Matthews, 1975) of two classes, of all samples since the
    reset. Labels and predictions are those of :class:`F1` with ``class_type='binary'``.

    >>> metric = mx.gluon.metric.MCC()
    >>> metric.update([mx.nd.array([1, 1, 0])], [mx.nd.array([[0.1, 0.9], [0.8, 0.2], [0.7, 0.3]])])
    >>> round(float(metric.get()[1]), 3)
    0.5
    """

    def __init__(self, name="mcc", output_names=None, label_names=None):
        self._metrics = _Counts("binary", 0.5)
        super().__init__(name, output_names, label_names)

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            self._metrics.update(label, pred)
        self.num_inst = self._metrics.num_examples
        self.sum_metric = self._metrics.matthews() * self.num_inst

    def reset(self):
        super().reset()
        self._metrics.reset()


@register
class PCC(_old.PCC, EvalMetric):
    """Correlation of any number of classes, see :class:`mxnet.metric.PCC`.

    >>> metric = mx.gluon.metric.PCC()
    >>> metric.update([mx.nd.array([0, 1, 2])], [mx.nd.array([[1, 0, 0], [0, 1, 0], [0, 1, 0]])])
    >>> round(float(metric.get()[1]), 3)
    0.612
    """

    def __init__(self, name="pcc", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@alias("pearsonr")
@register
class PearsonCorrelation(_old.PearsonCorrelation, EvalMetric):
    """Pearson's correlation of all elements since the reset.

    >>> metric = mx.gluon.metric.PearsonCorrelation()
    >>> metric.update([mx.nd.array([1, 2, 3])], [mx.nd.array([2, 4, 6])])
    >>> round(float(metric.get()[1]), 3)
    1.0
    """

    def __init__(self, name="pearsonr", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, average="micro")


@alias("ce")
@register
class CrossEntropy(EvalMetric):
    """Mean of ``-log(max(probability of the right class, eps))``.

    Parameters
    ----------
    eps : float
        The least probability; it keeps the logarithm finite.
    ignore_label : int or None
        Class that is not counted.
    axis : int
        Axis of the classes in the predictions; labels have the shape that is left without it.
    from_logits : bool
        Predictions are numbers from which softmax makes probabilities.
    name, output_names, label_names
        As in :class:`EvalMetric`.

    Raises
    ------
    AssertionError
        if labels do not fit predictions.

    Examples
    --------
    >>> metric = mx.gluon.metric.CrossEntropy()
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([[0.5, 0.5], [0.5, 0.5]])])
    >>> round(float(metric.get()[1]), 3)
    0.693
    """

    def __init__(self, eps=1e-12, ignore_label=None, axis=-1, from_logits=False, name="cross-entropy", output_names=None,
                 label_names=None):
        super().__init__(name, output_names, label_names, eps=eps, ignore_label=ignore_label, axis=axis,
                         from_logits=from_logits, has_global_stats=True)
        self.eps = eps
        self.ignore_label = ignore_label
        self.axis = axis
        self.from_logits = from_logits

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            pred = numpy.moveaxis(pred, self.axis, -1)
            if label.size * pred.shape[-1] != pred.size:
                raise CheckedValueError(f"[{type(self).__name__}] shape mismatch: {label.shape} vs. {pred.shape}")
            label, pred = label.ravel().astype(numpy.int64), pred.reshape(label.size, -1)
            counted = numpy.ones(label.shape, bool) if self.ignore_label is None else label != self.ignore_label
            label, pred = label[counted], pred[counted]
            if label.size and not (0 <= label.min() and label.max() < pred.shape[1]):
                raise CheckedValueError(f"[{type(self).__name__}] labels from {label.min()} to {label.max()} for "
                                        f"{pred.shape[1]} classes")
            self._add(float(-self._logarithms(label, pred).sum(dtype=numpy.float64)), len(label))

    def _logarithms(self, label, pred):
        rows = numpy.arange(len(label))
        if not self.from_logits:
            return numpy.log(numpy.maximum(pred[rows, label], self.eps))
        greatest = pred.max(axis=1, initial=-numpy.inf)
        return pred[rows, label] - greatest - numpy.log(numpy.exp(pred - greatest[:, None]).sum(axis=1))


@register
class Perplexity(CrossEntropy):
    """Exponential of :class:`CrossEntropy`, with the same parameters.

    Other than in :mod:`mxnet.metric`, `eps` comes before `ignore_label`.

    >>> metric = mx.gluon.metric.Perplexity()
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([[0.5, 0.5], [0.5, 0.5]])])
    >>> round(float(metric.get()[1]), 3)
    2.0
    """

    def __init__(self, eps=1e-12, ignore_label=None, axis=-1, from_logits=False, name="perplexity", output_names=None,
                 label_names=None):
        super().__init__(eps, ignore_label, axis, from_logits, name, output_names, label_names)

    def _value(self, total, count):
        return math.exp(total / count)


class _OfSamples:
    """Counts samples where the base counts updates."""

    def _add_errors(self, errors):
        n = errors.shape[0]
        self._add(float(errors.mean(dtype=numpy.float64)) * n if n else 0., n)


@register
class MAE(_OfSamples, _old.MAE, EvalMetric):
    """Mean absolute error over all samples.

    >>> metric = mx.gluon.metric.MAE()
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 5])])
    >>> metric.get()
    ('mae', 1.5)
    """


@register
class MSE(_OfSamples, _old.MSE, EvalMetric):
    """Mean squared error over all samples.

    >>> metric = mx.gluon.metric.MSE()
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
    >>> metric.get()
    ('mse', 2.0)
    """


@register
class RMSE(MSE):
    """Root of the mean squared error over all samples.

    >>> metric = mx.gluon.metric.RMSE()
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([3, 4])])
    >>> metric.get()
    ('rmse', 2.0)
    """

    def __init__(self, name="rmse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _value(self, total, count):
        return math.sqrt(total / count)


@register
class MeanPairwiseDistance(EvalMetric):
    """Mean over samples of the p-norm of the difference of label and prediction.

    Labels and predictions have the same shape, (n, ...).

    >>> metric = MeanPairwiseDistance()
    >>> metric.update([numpy.array([[0., 0.]])], [numpy.array([[3., 4.]])])
    >>> metric.get()
    ('mpd', 5.0)
    """

    def __init__(self, name="mpd", output_names=None, label_names=None, p=2):
        self.p = p
        super().__init__(name, output_names, label_names, p=p, has_global_stats=True)

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            check_label_shapes(label, pred, False, True)
            difference = numpy.abs(label - pred).reshape(len(label), -1)
            distance = (difference ** self.p).sum(axis=1) ** (1. / self.p)
            self._add(float(distance.sum(dtype=numpy.float64)), len(label))


@register
class MeanCosineSimilarity(EvalMetric):
    """Mean over samples of the cosine of the angle between label and prediction, along the last
    axis. `eps` is the least product of their lengths.

    Labels and predictions have the same shape, (n, length).

    >>> metric = MeanCosineSimilarity()
    >>> metric.update([numpy.array([[3., 4.], [2., 2.]])], [numpy.array([[3., 4.], [1., -1.]])])
    >>> metric.get()
    ('cos_sim', 0.5)
    """

    def __init__(self, name="cos_sim", output_names=None, label_names=None, eps=1e-8):
        self.eps = eps
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            check_label_shapes(label, pred, False, True)
            label, pred = numpy.atleast_2d(label), numpy.atleast_2d(pred)
            lengths = numpy.linalg.norm(label, axis=-1) * numpy.linalg.norm(pred, axis=-1)
            cosine = (label * pred).sum(axis=-1) / numpy.maximum(lengths, self.eps)
            self._add(float(cosine.sum(dtype=numpy.float64)), cosine.size)
