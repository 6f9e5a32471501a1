"""Measures of how good predictions are, accumulated over batches.

Every metric keeps two totals: a local one, which a logger may restart in the middle of an epoch (`reset_local`), and a
global one over the epoch.
"""
import math
from collections import OrderedDict

import numpy

from . import registry
from .ndarray import NDArray

__all__ = ["Accuracy", "Caffe", "CompositeEvalMetric", "CrossEntropy", "CustomMetric", "EvalMetric", "F1", "Loss", "MAE",
           "MCC", "MSE", "NegativeLogLikelihood", "PCC", "PearsonCorrelation", "Perplexity", "RMSE", "TopKAccuracy",
           "Torch", "alias", "check_label_shapes", "create", "np", "register"]


def check_label_shapes(labels, preds, wrap=False, shape=False):
    """Raise ValueError unless there are as many labels as predictions (`shape`: unless their shapes are the same).

    With `wrap` single arrays become lists of one. Returns labels and predictions.
    """
    left, right = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if left != right:
        raise ValueError(f"[metric] Shape of labels {left} does not match shape of predictions {right}")
    if wrap:
        labels = [labels] if _is_array(labels) else labels
        preds = [preds] if _is_array(preds) else preds
    return labels, preds


def _is_array(x):
    return isinstance(x, (NDArray, numpy.ndarray))


def _numpy(x):
    return x.asnumpy() if isinstance(x, NDArray) else numpy.asarray(x)


def _pairs(labels, preds):
    """Labels and predictions in pairs, as NumPy arrays."""
    labels, preds = check_label_shapes(labels, preds, True)
    return [(_numpy(label), _numpy(pred)) for label, pred in zip(labels, preds)]


class EvalMetric:
    """Base of the metrics: a sum divided by a number of instances. A subclass defines :meth:`update`.

    Parameters
    ----------
    name : str
        Name under which the value is reported.
    output_names, label_names : list of str, optional
        Which predictions and labels :meth:`update_dict` uses; all of them when None.
    **kwargs
        Further parameters, kept for :meth:`get_config`. ``has_global_stats=True`` says that `update` keeps the global
        totals too.
    """

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self):
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self):
        """The parameters as a dictionary from which :func:`create` makes the metric again."""
        return {**self._kwargs, "metric": type(self).__name__, "name": self.name, "output_names": self.output_names,
                "label_names": self.label_names}

    def update(self, labels, preds):
        """Take in a batch: lists of NDArrays, the label and the prediction of each output."""
        raise NotImplementedError(f"[{type(self).__name__}] update is not defined")

    def update_dict(self, label, pred):
        """:meth:`update` from dictionaries of arrays by name, as `output_names` and `label_names` say."""
        preds = list(pred.values()) if self.output_names is None else [pred[name] for name in self.output_names]
        labels = list(label.values()) if self.label_names is None else [label[name] for name in self.label_names]
        self.update(labels, preds)

    def reset(self):
        """Forget everything."""
        self.num_inst = 0
        self.sum_metric = 0.0
        self.global_num_inst = 0
        self.global_sum_metric = 0.0

    def reset_local(self):
        """Forget the local totals."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def _add(self, total, count):
        self.sum_metric += total
        self.global_sum_metric += total
        self.num_inst += count
        self.global_num_inst += count

    def _value(self, total, count):
        """The value of the metric, given its totals."""
        return total / count

    def get(self):
        """Name and value since the last reset of any kind; NaN before the first update."""
        if self.num_inst == 0:
            return self.name, float("nan")
        return self.name, self._value(self.sum_metric, self.num_inst)

    def get_global(self):
        """Name and value since the last full reset."""
        if not self._has_global_stats:
            return self.get()
        if self.global_num_inst == 0:
            return self.name, float("nan")
        return self.name, self._value(self.global_sum_metric, self.global_num_inst)

    @staticmethod
    def _name_value(name, value):
        return list(zip(name if isinstance(name, list) else [name], value if isinstance(value, list) else [value]))

    def get_name_value(self):
        """:meth:`get` as a list of (name, value)."""
        return self._name_value(*self.get())

    def get_global_name_value(self):
        """:meth:`get_global` as a list of (name, value)."""
        return self._name_value(*self.get_global())


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
_create = registry.get_create_func(EvalMetric, "metric")


def create(metric, *args, **kwargs):
    """A metric from its name, from a function ``(label, pred) -> value``, or a composite from a list of such.

    An instance is returned as it is; other arguments go to the constructor.
    """
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        composite = CompositeEvalMetric()
        for child in metric:
            composite.add(create(child, *args, **kwargs))
        return composite
    return _create(metric, *args, **kwargs)


@alias("composite")
@register
class CompositeEvalMetric(EvalMetric):
    """Several metrics in one: names and values are lists.

    Parameters
    ----------
    metrics : list of EvalMetric or anything else that :func:`create` takes
    name, output_names, label_names
        As in :class:`EvalMetric`.
    """

    def __init__(self, metrics=None, name="composite", output_names=None, label_names=None):
        self.metrics = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric):
        """Append a metric."""
        self.metrics.append(create(metric))

    def get_metric(self, index):
        """The metric at `index`; raises ValueError if there is none."""
        if not -len(self.metrics) <= index < len(self.metrics):
            raise ValueError(f"[CompositeEvalMetric] Metric index {index} is out of range 0 and {len(self.metrics)}")
        return self.metrics[index]

    def update_dict(self, labels, preds):
        if self.label_names is not None:
            labels = OrderedDict((name, array) for name, array in labels.items() if name in self.label_names)
        if self.output_names is not None:
            preds = OrderedDict((name, array) for name, array in preds.items() if name in self.output_names)
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels, preds):
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self):
        for metric in self.metrics:
            metric.reset()

    def reset_local(self):
        for metric in self.metrics:
            metric.reset_local()

    @staticmethod
    def _joined(results):
        names, values = [], []
        for name, value in results:
            names.extend([name] if isinstance(name, str) else name)
            values.extend(value if isinstance(value, list) else [value])
        return names, values

    def get(self):
        return self._joined(metric.get() for metric in self.metrics)

    def get_global(self):
        return self._joined(metric.get_global() for metric in self.metrics)

    def get_config(self):
        return {**super().get_config(), "metrics": [metric.get_config() for metric in self.metrics]}


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


class _ErrorMetric(EvalMetric):
    """The mean over updates of an error of real-valued predictions, which have the shape of the labels."""

    def __init__(self, name, output_names, label_names):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    @staticmethod
    def _error(difference):
        raise NotImplementedError

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            label = label.reshape(-1, 1) if label.ndim == 1 else label
            pred = pred.reshape(-1, 1) if pred.ndim == 1 else pred
            self._add(float(self._error(label - pred)), 1)


@register
class MAE(_ErrorMetric):
    """Mean absolute error; the mean over updates of the mean over the elements of a batch."""

    def __init__(self, name="mae", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _error(difference):
        return numpy.abs(difference).mean()


@register
class MSE(_ErrorMetric):
    """Mean squared error; the mean over updates of the mean over the elements of a batch."""

    def __init__(self, name="mse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _error(difference):
        return (difference ** 2).mean()


@register
class RMSE(_ErrorMetric):
    """Root of the mean squared error; the mean over updates of the root for a batch."""

    def __init__(self, name="rmse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _error(difference):
        return numpy.sqrt((difference ** 2).mean())


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


class _Comoments:
    """Means, variances and covariance of two series that arrive in parts (Chan, Golub and LeVeque, 1979)."""

    def __init__(self):
        self.n = 0
        self.mean = numpy.zeros(2)
        self.products = numpy.zeros((2, 2))

    def add(self, label, pred):
        values = numpy.stack([label, pred]).astype(numpy.float64)
        n = values.shape[1]
        if n == 0:
            return
        mean = values.mean(axis=1)
        centred = values - mean[:, None]
        shift = mean - self.mean
        self.products += centred @ centred.T + numpy.outer(shift, shift) * (self.n * n / (self.n + n))
        self.mean += shift * (n / (self.n + n))
        self.n += n

    def correlation(self):
        with numpy.errstate(invalid="ignore", divide="ignore"):
            return float(self.products[0, 1] / numpy.sqrt(self.products[0, 0] * self.products[1, 1]))


@alias("pearsonr")
@register
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation of labels and predictions of the same shape.

    `average`: 'macro' is the mean of the correlations of all updates, 'micro' the correlation of all elements together.
    """

    def __init__(self, name="pearsonr", output_names=None, label_names=None, average="macro"):
        if average not in ("macro", "micro"):
            raise ValueError(f"[PearsonCorrelation] average={average!r}; 'macro' and 'micro' are accepted")
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def reset(self):
        self._global = _Comoments()
        self.global_num_inst = 0
        self.global_sum_metric = 0.0
        self.reset_local()

    def reset_local(self):
        self.num_inst = 0
        self.sum_metric = 0.0
        self.reset_micro()

    def reset_micro(self):
        """Forget the local moments of 'micro'."""
        self._local = _Comoments()

    def update_variance(self, new_values, *aggregate):
        """Count, mean and sum of squared deviations after `new_values` have joined those in `aggregate`."""
        count, mean, squares = aggregate
        new_values = _numpy(new_values).astype(numpy.float64).ravel()
        n = new_values.size
        if n == 0:
            return count, mean, squares
        shift = new_values.mean() - mean
        squares += ((new_values - new_values.mean()) ** 2).sum() + shift * shift * count * n / (count + n)
        return count + n, mean + shift * n / (count + n), squares

    def update_cov(self, label, pred):
        """Let a batch join the moments of 'micro'."""
        label, pred = _numpy(label).ravel(), _numpy(pred).ravel()
        self._local.add(label, pred)
        self._global.add(label, pred)

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            check_label_shapes(label, pred, False, True)
            if self.average == "macro":
                batch = _Comoments()
                batch.add(label.ravel(), pred.ravel())
                self._add(batch.correlation(), 1)
            else:
                self.update_cov(label, pred)
                self._add(0., 1)

    def get(self):
        if self.average == "micro" and self.num_inst:
            return self.name, self._local.correlation()
        return super().get()

    def get_global(self):
        if self.average == "micro" and self.global_num_inst:
            return self.name, self._global.correlation()
        return super().get_global()


@register
class Loss(EvalMetric):
    """Mean of the predictions themselves: for networks whose outputs are losses."""

    def __init__(self, name="loss", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, _, preds):
        for pred in [preds] if _is_array(preds) else preds:
            pred = _numpy(pred)
            self._add(float(pred.sum()), pred.size)


@register
class Torch(Loss):
    """:class:`Loss` for Torch criterions."""

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """:class:`Loss` for Caffe criterions."""

    def __init__(self, name="caffe", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@register
class CustomMetric(EvalMetric):
    """Values of a function.

    Parameters
    ----------
    feval : callable
        From label and prediction, NumPy arrays, to a value, or to a sum and a number of instances.
    name : str, optional
        The function's name when None.
    allow_extra_outputs : bool
        Accept more predictions than labels; the first ones are used.
    output_names, label_names
        As in :class:`EvalMetric`.
    """

    def __init__(self, feval, name=None, allow_extra_outputs=False, output_names=None, label_names=None):
        if name is None:
            name = getattr(feval, "__name__", type(feval).__name__)
            if "<" in name:
                name = f"custom({name})"
        super().__init__(name, output_names, label_names, feval=feval, allow_extra_outputs=allow_extra_outputs,
                         has_global_stats=True)
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels, preds):
        if _is_array(labels):
            labels = [labels]
        if _is_array(preds):
            preds = [preds]
        if not self._allow_extra_outputs:
            check_label_shapes(labels, preds)
        for pred, label in zip(preds, labels):
            value = self._feval(_numpy(label), _numpy(pred))
            self._add(*(value if isinstance(value, tuple) else (value, 1)))

    def get_config(self):
        raise NotImplementedError("CustomMetric cannot be serialized")


def np(numpy_feval, name=None, allow_extra_outputs=False):
    """A :class:`CustomMetric` of a function of NumPy arrays (label, pred), under the function's name."""
    return CustomMetric(numpy_feval, numpy_feval.__name__ if name is None else name, allow_extra_outputs)
