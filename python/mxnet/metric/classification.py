"""Metrics of predicted classes and probabilities."""
import math

import numpy

from ..base import CheckedValueError
from .base import EvalMetric, _numpy, _pairs, alias, check_label_shapes, register

__all__ = ["Accuracy", "CrossEntropy", "F1", "MCC", "NegativeLogLikelihood", "PCC", "Perplexity", "TopKAccuracy"]


@alias("acc")
@register
class Accuracy(EvalMetric):
    """Share of right classes.

    Labels are classes; predictions have the same shape, or scores of the classes along `axis`.

    >>> metric = mx.metric.Accuracy()
    >>> metric.update(mx.nd.array([0, 1]), mx.nd.array([[0.9, 0.1], [0.8, 0.2]]))
    >>> metric.get()
    ('accuracy', 0.5)
    """

    def __init__(self, axis=1, name="accuracy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, axis=axis, has_global_stats=True)
        self.axis = axis

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            if pred.shape != label.shape:
                if not -pred.ndim <= self.axis < pred.ndim:
                    raise CheckedValueError(f"[Accuracy] predictions of shape {pred.shape} for labels of shape {label.shape}; accepted: "
                                            f"the same shape, or scores with the classes along axis {self.axis}")
                pred = pred.argmax(axis=self.axis)      # before the copy to the host: fewer numbers travel
            pred, label = (_numpy(x).astype(numpy.int32).ravel() for x in (pred, label))
            check_label_shapes(label, pred)
            self._add(float((pred == label).sum()), len(pred))


@alias("top_k_accuracy", "top_k_acc")
@register
class TopKAccuracy(EvalMetric):
    """Share of instances whose class is among the `top_k` with the highest scores.

    Labels have shape (n,), predictions (n, classes); `top_k` is at least 2.

    >>> metric = mx.metric.TopKAccuracy(top_k=2)
    >>> metric.update([mx.nd.array([0, 2])], [mx.nd.array([[0.1, 0.7, 0.2], [0.2, 0.3, 0.5]])])
    >>> metric.get()
    ('top_k_accuracy_2', 0.5)
    """

    def __init__(self, top_k=1, name="top_k_accuracy", output_names=None, label_names=None):
        if top_k <= 1:
            raise CheckedValueError(f"[TopKAccuracy] top_k={top_k}; Please use Accuracy if top_k is no more than 1")
        super().__init__(f"{name}_{top_k}", output_names, label_names, top_k=top_k, has_global_stats=True)
        self.top_k = top_k

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            if pred.ndim != 2:
                raise CheckedValueError(f"[TopKAccuracy] predictions of shape {pred.shape}; (n, classes) is expected")
            label = label.astype(numpy.int32).ravel()
            check_label_shapes(label, pred)
            k = min(self.top_k, pred.shape[1])
            best = numpy.argpartition(pred.astype(numpy.float32), -k, axis=1)[:, -k:]
            self._add(float((best == label[:, None]).sum()), len(label))


class _BinaryClassificationMetrics:
    """True and false positives and negatives since the local and the full reset, and what is made
    of them.

    Name and attributes are those of 1.x, whose pickles hold it.
    """

    _CELLS = ("true_positives", "false_positives", "true_negatives", "false_negatives")

    def __init__(self):
        self.reset_stats()

    def reset_stats(self):
        """Everything back to zero."""
        for cell in self._CELLS:
            setattr(self, "global_" + cell, 0)
        self.local_reset_stats()

    def local_reset_stats(self):
        """The local counts back to zero."""
        for cell in self._CELLS:
            setattr(self, cell, 0)

    def update_binary_stats(self, label, pred):
        """Count labels (n,) and predictions (n, 2) of one batch, as NDArrays or NumPy arrays. Where
        each place is an example, these are (n, ...) and (n, 2, ...). Further columns are scores of
        a class that is not 1."""
        label, pred = _numpy(label).astype(numpy.int32), _numpy(pred)
        if pred.ndim < 2 or len(numpy.unique(label)) > 2:
            raise ValueError(f"[metric] predictions of shape {pred.shape} and classes {numpy.unique(label)[:10]}; "
                             "only binary classification is supported, with scores of shape (n, 2) or (n, 2, ...)")
        guess, truth = pred.argmax(axis=1).ravel() == 1, label.ravel() == 1
        check_label_shapes(truth, guess)
        for cell, found in zip(self._CELLS, (guess & truth, guess & ~truth, ~guess & ~truth, ~guess & truth)):
            count = int(found.sum())
            setattr(self, cell, getattr(self, cell) + count)
            setattr(self, "global_" + cell, getattr(self, "global_" + cell) + count)

    def _cells(self, prefix=""):
        return [getattr(self, prefix + cell) for cell in self._CELLS]

    @staticmethod
    def _share(part, rest):
        return part / float(part + rest) if part + rest else 0.

    @property
    def precision(self):
        """Share of the positive guesses that are right."""
        return self._share(self.true_positives, self.false_positives)

    @property
    def global_precision(self):
        """:attr:`precision` since the full reset."""
        return self._share(self.global_true_positives, self.global_false_positives)

    @property
    def recall(self):
        """Share of the positive labels that were found."""
        return self._share(self.true_positives, self.false_negatives)

    @property
    def global_recall(self):
        """:attr:`recall` since the full reset."""
        return self._share(self.global_true_positives, self.global_false_negatives)

    @staticmethod
    def _harmonic(precision, recall):
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.

    @property
    def fscore(self):
        """Harmonic mean of precision and recall."""
        return self._harmonic(self.precision, self.recall)

    @property
    def global_fscore(self):
        """:attr:`fscore` since the full reset."""
        return self._harmonic(self.global_precision, self.global_recall)

    def matthewscc(self, use_global=False):
        """Matthews' correlation coefficient; 0 without examples."""
        tp, fp, tn, fn = self._cells("global_" if use_global else "")
        if not tp + fp + tn + fn:
            return 0.
        # An empty row or column of the table makes the numerator zero as well: its factor counts as
        # one.
        denominator = math.prod(float(f) for f in (tp + fp, tp + fn, tn + fp, tn + fn) if f)
        return (float(tp) * tn - float(fp) * fn) / math.sqrt(denominator)

    @property
    def total_examples(self):
        """Number of labels."""
        return sum(self._cells())

    @property
    def global_total_examples(self):
        """Number of labels since the full reset."""
        return sum(self._cells("global_"))


class _BinaryMetric(EvalMetric):
    """A measure of a 2 by 2 table: the mean over updates ('macro') or of one table of all instances
    ('micro', and any other text, as in 1.x)."""

    def __init__(self, name, output_names, label_names, average):
        self._start(average, _BinaryClassificationMetrics())
        super().__init__(name, output_names, label_names, has_global_stats=True)

    # A subclass keeps the two under the names that they have in 1.x: _start(average, counts),
    # _parts().
    def _measure(self, counts, use_global):
        raise NotImplementedError

    def update(self, labels, preds):
        average, counts = self._parts()
        for label, pred in _pairs(labels, preds):
            counts.update_binary_stats(label, pred)
        if average == "macro":
            self._add(self._measure(counts, False), 1)
            counts.reset_stats()
        else:
            self.num_inst, self.global_num_inst = counts.total_examples, counts.global_total_examples
            self.sum_metric = self._measure(counts, False) * self.num_inst
            self.global_sum_metric = self._measure(counts, True) * self.global_num_inst

    def reset(self):
        super().reset()
        self._parts()[1].reset_stats()

    def reset_local(self):
        super().reset_local()
        self._parts()[1].local_reset_stats()


@register
class F1(_BinaryMetric):
    """Harmonic mean of precision and recall of class 1, of two classes.

    Labels have shape (n,), predictions (n, 2). `average`: 'macro' is the mean of the values of all
    updates, 'micro' the value of all instances together.

    >>> metric = mx.metric.F1()
    >>> metric.update([mx.nd.array([1, 1, 0])], [mx.nd.array([[0.1, 0.9], [0.8, 0.2], [0.7, 0.3]])])
    >>> name, value = metric.get()
    >>> name, round(value, 3)
    ('f1', 0.667)
    """

    def __init__(self, name="f1", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)

    def _start(self, average, counts):
        self.average, self.metrics = average, counts

    def _parts(self):
        return self.average, self.metrics

    def _measure(self, counts, use_global):
        return counts.global_fscore if use_global else counts.fscore


@register
class MCC(_BinaryMetric):
    """Matthews' correlation coefficient of two classes (Matthews, 1975).

    Labels have shape (n,), predictions (n, 2). `average` as in :class:`F1`.

    >>> metric = mx.metric.MCC()
    >>> metric.update([mx.nd.array([1, 1, 0])], [mx.nd.array([[0.1, 0.9], [0.8, 0.2], [0.7, 0.3]])])
    >>> round(metric.get()[1], 3)
    0.5
    """

    def __init__(self, name="mcc", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)

    def _start(self, average, counts):
        self._average, self._metrics = average, counts

    def _parts(self):
        return self._average, self._metrics

    def _measure(self, counts, use_global):
        return counts.matthewscc(use_global)

    def reset(self):
        super().reset()
        self.num_inst = self.global_num_inst = 0.0      # a float here, as in 1.x

    def reset_local(self):
        super().reset_local()
        self.num_inst = 0.0


class _Portable:
    """Pickles an array by its values: NumPy 2 writes names that the NumPy of MXNet 1.x does not
    know."""

    def __init__(self, array):
        self._array = array

    def __reduce__(self):
        return numpy.array, (self._array.tolist(),)


@register
class PCC(EvalMetric):
    """Correlation of classes: Matthews' coefficient for any number of them (Gorodkin, 2004).

    Labels have shape (n,); predictions are classes, or scores of shape (n, classes).

    >>> metric = mx.metric.PCC()
    >>> metric.update([mx.nd.array([0, 1, 2])], [mx.nd.array([[1, 0, 0], [0, 1, 0], [0, 1, 0]])])
    >>> round(float(metric.get()[1]), 3)
    0.612
    >>> round(metric.sum_metric, 3), round(metric.global_sum_metric, 3)
    (0.612, 0.612)
    """

    def __init__(self, name="pcc", output_names=None, label_names=None, has_global_stats=True):
        self.k = 2                  # classes so far; lcm and gcm count them by (prediction, label), locally and globally
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def __getstate__(self):
        return {**self.__dict__, "lcm": _Portable(self.lcm), "gcm": _Portable(self.gcm)}

    @staticmethod
    def _added(table, label, pred):
        size = int(max(label.max(initial=-1), pred.max(initial=-1))) + 1
        if size > len(table):
            table = numpy.pad(table, (0, size - len(table)))
        numpy.add.at(table, (pred, label), 1)
        return table

    @staticmethod
    def _measure(table):
        n = table.sum()
        guesses, truths = table.sum(axis=1), table.sum(axis=0)
        spread = float((guesses * (n - guesses)).sum()) * float((truths * (n - truths)).sum())
        if spread == 0:
            return float("nan")
        return float((table.diagonal() * n - guesses * truths).sum()) / math.sqrt(spread)

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            label = label.astype(numpy.int64).ravel()
            pred = (pred if pred.shape == label.shape else pred.argmax(axis=1)).astype(numpy.int64).ravel()
            check_label_shapes(label, pred)
            self.lcm = self._added(self.lcm, label, pred)
            self.gcm = self._added(self.gcm, label, pred)
            self.k = len(self.gcm)
        self.num_inst += 1
        self.global_num_inst += 1

    @property
    def sum_metric(self):
        """The local value times the number of updates."""
        return self._measure(self.lcm) * self.num_inst

    @property
    def global_sum_metric(self):
        """The global value times the number of updates."""
        return self._measure(self.gcm) * self.global_num_inst

    def reset(self):
        self.gcm = numpy.zeros((self.k, self.k))
        self.global_num_inst = 0
        self.reset_local()

    def reset_local(self):
        self.lcm = numpy.zeros((self.k, self.k))
        self.num_inst = 0


@register
class Perplexity(EvalMetric):
    """Exponential of the mean negative logarithm of the probability of the right class.

    Parameters
    ----------
    ignore_label : int or None
        Class that is not counted.
    axis : int
        Axis of the classes in the predictions.
    name, output_names, label_names
        As in :class:`EvalMetric`.

    Examples
    --------
    >>> metric = mx.metric.Perplexity(ignore_label=None)
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([[0.5, 0.5], [0.75, 0.25]])])
    >>> round(metric.get()[1], 3)
    2.828
    """

    def __init__(self, ignore_label, axis=-1, name="perplexity", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, ignore_label=ignore_label, has_global_stats=True)
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels, preds):
        if len(labels) != len(preds):
            raise CheckedValueError(f"[Perplexity] {len(labels)} labels and {len(preds)} predictions")
        total, count = 0., 0
        for label, pred in _pairs(labels, preds):
            pred = numpy.moveaxis(pred, self.axis, -1)
            if label.size * pred.shape[-1] != pred.size:
                raise CheckedValueError(f"[Perplexity] shape mismatch: {label.shape} vs. {pred.shape}")
            label = label.ravel()
            pred = pred.reshape(len(label), -1)
            # As a device would pick: classes outside of the range count as the nearest one.
            chosen = pred[numpy.arange(len(label)), label.astype(numpy.int64).clip(0, pred.shape[-1] - 1)]
            if self.ignore_label is not None:
                chosen = chosen[label != self.ignore_label]
            total -= float(numpy.log(numpy.maximum(chosen, 1e-10)).sum(dtype=numpy.float64))
            count += len(chosen)
        self._add(total, count)

    def _value(self, total, count):
        return math.exp(total / count)


@alias("ce")
@register
class CrossEntropy(EvalMetric):
    """Mean of ``-log(probability of the right class + eps)``; labels (n,), predictions (n,
    classes).

    >>> metric = mx.metric.CrossEntropy()
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([[0.5, 0.5], [0.5, 0.5]])])
    >>> round(float(metric.get()[1]), 3)
    0.693
    """

    def __init__(self, eps=1e-12, name="cross-entropy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            label = label.ravel()
            if len(label) != pred.shape[0]:
                raise CheckedValueError(f"[{type(self).__name__}] {len(label)} labels for predictions of shape {pred.shape}")
            chosen = pred[numpy.arange(len(label)), label.astype(numpy.int64)]
            self._add(float((-numpy.log(chosen + self.eps)).sum()), len(label))


@alias("nll_loss")
@register
class NegativeLogLikelihood(CrossEntropy):
    """The same as :class:`CrossEntropy`, under the name that it has in other libraries.

    >>> metric = mx.metric.NegativeLogLikelihood()
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([[0.5, 0.5], [0.5, 0.5]])])
    >>> round(float(metric.get()[1]), 3)
    0.693
    """

    def __init__(self, eps=1e-12, name="nll-loss", output_names=None, label_names=None):
        super().__init__(eps, name, output_names, label_names)
