"""Metrics of predicted classes and probabilities."""
import math

import numpy

from .base import EvalMetric, _numpy, _pairs, alias, check_label_shapes, register

__all__ = ["Accuracy", "CrossEntropy", "F1", "MCC", "NegativeLogLikelihood", "PCC", "Perplexity", "TopKAccuracy"]


@alias("acc")
@register
class Accuracy(EvalMetric):
    """Share of right classes.

    Labels are classes; predictions have the same shape, or scores of the classes along `axis`.
    """

    def __init__(self, axis=1, name="accuracy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, axis=axis, has_global_stats=True)
        self.axis = axis

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            if pred.shape != label.shape:
                pred = pred.argmax(axis=self.axis)      # before the copy to the host: fewer numbers travel
            pred, label = (_numpy(x).astype(numpy.int32).ravel() for x in (pred, label))
            check_label_shapes(label, pred)
            self._add(float((pred == label).sum()), len(pred))


@alias("top_k_accuracy", "top_k_acc")
@register
class TopKAccuracy(EvalMetric):
    """Share of instances whose class is among the `top_k` with the highest scores.

    Labels have shape (n,), predictions (n, classes); `top_k` is at least 2.
    """

    def __init__(self, top_k=1, name="top_k_accuracy", output_names=None, label_names=None):
        if top_k <= 1:
            raise ValueError(f"[TopKAccuracy] top_k={top_k}; Please use Accuracy if top_k is no more than 1")
        super().__init__(f"{name}_{top_k}", output_names, label_names, top_k=top_k, has_global_stats=True)
        self.top_k = top_k

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            if pred.ndim != 2:
                raise ValueError(f"[TopKAccuracy] predictions of shape {pred.shape}; (n, classes) is expected")
            label = label.astype(numpy.int32).ravel()
            check_label_shapes(label, pred)
            k = min(self.top_k, pred.shape[1])
            best = numpy.argpartition(pred.astype(numpy.float32), -k, axis=1)[:, -k:]
            self._add(float((best == label[:, None]).sum()), len(label))


class _BinaryCounts:
    """True and false positives and negatives, and what is made of them."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.tp = self.fp = self.tn = self.fn = 0

    def add(self, label, pred):
        if pred.ndim != 2 or pred.shape[1] != 2 or len(numpy.unique(label)) > 2:
            raise ValueError(f"[metric] predictions of shape {pred.shape} and classes {numpy.unique(label)[:10]}; "
                             "only binary classification is supported, with scores of shape (n, 2)")
        guess, truth = pred.argmax(axis=1) == 1, label.astype(numpy.int32).ravel() == 1
        check_label_shapes(truth, guess)
        self.tp += int((guess & truth).sum())
        self.fp += int((guess & ~truth).sum())
        self.fn += int((~guess & truth).sum())
        self.tn += int((~guess & ~truth).sum())

    @property
    def total(self):
        return self.tp + self.fp + self.tn + self.fn

    def f1(self):
        precision = self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.
        recall = self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.

    def mcc(self):
        # An empty row or column of the table makes the numerator zero as well: its factor counts as one.
        factors = (self.tp + self.fp, self.tp + self.fn, self.tn + self.fp, self.tn + self.fn)
        denominator = math.prod(float(f) for f in factors if f)
        return (float(self.tp) * self.tn - float(self.fp) * self.fn) / math.sqrt(denominator)


class _BinaryMetric(EvalMetric):
    """A measure of a 2 by 2 table: the mean over updates ('macro') or of one table of all instances ('micro')."""

    def __init__(self, name, output_names, label_names, average):
        if average not in ("macro", "micro"):
            raise ValueError(f"[{type(self).__name__}] average={average!r}; 'macro' and 'micro' are accepted")
        self.average = average
        self._local, self._global = _BinaryCounts(), _BinaryCounts()
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _measure(self, counts):
        raise NotImplementedError

    def update(self, labels, preds):
        pairs = _pairs(labels, preds)
        for label, pred in pairs:
            self._local.add(label, pred)
            if self.average == "micro":
                self._global.add(label, pred)
        if self.average == "macro":
            self._add(self._measure(self._local), 1)
            self._local.reset()
        else:
            self.num_inst, self.global_num_inst = self._local.total, self._global.total
            self.sum_metric = self._measure(self._local) * self.num_inst
            self.global_sum_metric = self._measure(self._global) * self.global_num_inst

    def reset(self):
        super().reset()
        self._local.reset()
        self._global.reset()

    def reset_local(self):
        super().reset_local()
        self._local.reset()


@register
class F1(_BinaryMetric):
    """Harmonic mean of precision and recall of class 1, of two classes.

    Labels have shape (n,), predictions (n, 2). `average`: 'macro' is the mean of the values of all updates, 'micro' the
    value of all instances together.
    """

    def __init__(self, name="f1", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)

    def _measure(self, counts):
        return counts.f1()


@register
class MCC(_BinaryMetric):
    """Matthews' correlation coefficient of two classes (Matthews, 1975).

    Labels have shape (n,), predictions (n, 2). `average` as in :class:`F1`.
    """

    def __init__(self, name="mcc", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)

    def _measure(self, counts):
        return counts.mcc() if counts.total else 0.


@register
class PCC(EvalMetric):
    """Correlation of classes: Matthews' coefficient for any number of them (Gorodkin, 2004).

    Labels have shape (n,); predictions are classes, or scores of shape (n, classes).
    """

    def __init__(self, name="pcc", output_names=None, label_names=None, has_global_stats=True):
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

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
            self._table = self._added(self._table, label, pred)
            self._global_table = self._added(self._global_table, label, pred)
        self.num_inst += 1
        self.global_num_inst += 1

    @property
    def sum_metric(self):
        """The local value times the number of updates."""
        return self._measure(self._table) * self.num_inst

    @property
    def global_sum_metric(self):
        """The global value times the number of updates."""
        return self._measure(self._global_table) * self.global_num_inst

    def reset(self):
        self._global_table = numpy.zeros((0, 0), dtype=numpy.int64)
        self.global_num_inst = 0
        self.reset_local()

    def reset_local(self):
        self._table = numpy.zeros((0, 0), dtype=numpy.int64)
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
    """

    def __init__(self, ignore_label, axis=-1, name="perplexity", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, ignore_label=ignore_label, has_global_stats=True)
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels, preds):
        if len(labels) != len(preds):
            raise ValueError(f"[Perplexity] {len(labels)} labels and {len(preds)} predictions")
        total, count = 0., 0
        for label, pred in _pairs(labels, preds):
            pred = numpy.moveaxis(pred, self.axis, -1)
            if label.size * pred.shape[-1] != pred.size:
                raise ValueError(f"[Perplexity] shape mismatch: {label.shape} vs. {pred.shape}")
            label = label.astype(numpy.int64).ravel()
            pred = pred.reshape(len(label), -1)
            # As a device would pick: classes outside of the range count as the nearest one.
            chosen = pred[numpy.arange(len(label)), label.clip(0, pred.shape[-1] - 1)]
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
    """Mean of ``-log(probability of the right class + eps)``; labels (n,), predictions (n, classes)."""

    def __init__(self, eps=1e-12, name="cross-entropy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            label = label.ravel()
            if len(label) != pred.shape[0]:
                raise ValueError(f"[{type(self).__name__}] {len(label)} labels for predictions of shape {pred.shape}")
            chosen = pred[numpy.arange(len(label)), label.astype(numpy.int64)]
            self._add(float((-numpy.log(chosen + self.eps)).sum()), len(label))


@alias("nll_loss")
@register
class NegativeLogLikelihood(CrossEntropy):
    """The same as :class:`CrossEntropy`, under the name that it has in other libraries."""

    def __init__(self, eps=1e-12, name="nll-loss", output_names=None, label_names=None):
        super().__init__(eps, name, output_names, label_names)
