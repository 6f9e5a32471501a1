"""Guesses of classes from scores, and counts of right and wrong ones: parts of gluon.metric."""
import math

import numpy

from .._arrays.classes import to_class_of
from ..metric import check_label_shapes
from ..metric.base import _numpy
from ..ndarray import NDArray

__all__ = ["predict_with_threshold"]


def predict_with_threshold(pred, threshold=0.5):
    """Where predictions are above a threshold.

    Parameters
    ----------
    pred : NDArray or numpy.ndarray
        Scores of shape (n,) or (n, classes).
    threshold : float, NDArray or numpy.ndarray
        One for all, or one for each class.

    Raises
    ------
    ValueError
        if `threshold` is something else.

    >>> predict_with_threshold(numpy.array([0.2, 0.7]))
    array([False,  True])
    """
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, numpy.number, numpy.ndarray, NDArray)):
        raise ValueError(f"[predict_with_threshold] {type(threshold)} is a wrong type for threshold!")
    if isinstance(threshold, (NDArray, numpy.ndarray)):
        values = _numpy(threshold)
        if values.ndim != 1 or pred.shape[-1] != len(values):
            raise ValueError(f"[predict_with_threshold] threshold of shape {values.shape} for predictions of shape "
                             f"{pred.shape}; one value for each class is accepted")
        if isinstance(pred, NDArray):
            from .. import nd
            return nd.broadcast_greater(pred, to_class_of(nd.array(values, ctx=pred.context).reshape((1,) * (pred.ndim - 1) + (-1,)), pred))
        threshold = values
    return pred > threshold


predict_with_threshold.__module__ = "mxnet.gluon.metric"   # its home in 2.0


class _Counts:
    """True and false positives and negatives of each class."""

    __module__ = "mxnet.gluon.metric"   # where pickles look for it
    KINDS = ("binary", "multiclass", "multilabel")

    def __init__(self, class_type, threshold):
        if class_type not in self.KINDS:
            raise ValueError(f"[metric] Wrong class_type {class_type}! Only supports {list(self.KINDS)}")
        self.class_type = class_type
        self.threshold = threshold
        self.reset()

    def reset(self):
        self.num_examples = 0
        self.table = numpy.zeros((4, 1))        # tp, fp, fn, tn

    def _binary(self, label, pred):
        label = label.ravel()
        if label.size and (label.max() > 1 or label.min() < 0):
            raise ValueError(f"[metric] Wrong label for binary classification: {label.min()} to {label.max()}; 0 and 1 are accepted")
        if pred.ndim == 2 and pred.shape[1] == 2 and len(pred) == len(label):
            guess = pred.argmax(axis=1)
        else:
            guess = predict_with_threshold(pred, self.threshold).ravel()
        check_label_shapes(label, guess)
        return label[:, None] == 1, guess[:, None] == 1

    def _multiclass(self, label, pred):
        label = label.ravel().astype(numpy.int64)
        if pred.ndim != 2 or len(pred) != len(label):
            raise ValueError(f"[metric] {len(label)} labels and predictions of shape {pred.shape}; (n, classes) is accepted")
        classes = numpy.arange(pred.shape[1])
        if label.size and not (0 <= label.min() and label.max() < len(classes)):
            raise ValueError(f"[metric] labels from {label.min()} to {label.max()} for {len(classes)} classes")
        return label[:, None] == classes, pred.argmax(axis=1)[:, None] == classes

    def _multilabel(self, label, pred):
        check_label_shapes(label, pred, False, True)
        guess = predict_with_threshold(pred, self.threshold)
        return label.reshape(-1, label.shape[-1]) == 1, guess.reshape(-1, guess.shape[-1])

    def update(self, label, pred):
        truth, guess = getattr(self, "_" + self.class_type)(label, pred)
        cells = numpy.array([(truth & guess).sum(0), (~truth & guess).sum(0), (truth & ~guess).sum(0), (~truth & ~guess).sum(0)])
        if self.num_examples and cells.shape != self.table.shape:
            raise ValueError(f"[metric] {cells.shape[1]} classes given after {self.table.shape[1]}")
        self.table = self.table + cells if self.num_examples else cells.astype(float)
        self.num_examples += len(truth)

    def fscore(self, beta, together):
        """F-beta of each class, or of all classes together; 0 where nothing was found."""
        tp, fp, fn, _ = self.table.sum(axis=1, keepdims=True) if together else self.table
        precision, recall = (numpy.divide(tp, tp + other, out=numpy.zeros_like(tp), where=tp + other > 0) for other in (fp, fn))
        below = beta ** 2 * precision + recall
        return numpy.divide((1 + beta ** 2) * precision * recall, below, out=numpy.zeros_like(tp), where=below > 0)

    def matthews(self):
        tp, fp, fn, tn = (float(one.sum()) for one in self.table)
        below = math.prod(f for f in (tp + fp, tp + fn, tn + fp, tn + fn) if f)
        return (tp * tn - fp * fn) / math.sqrt(below)
