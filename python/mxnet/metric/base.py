"""What a metric is; composites, and metrics of functions."""
from collections import OrderedDict

import numpy

from .. import registry
from .._display.repr import from_arguments
from ..ndarray import NDArray

__all__ = ["CompositeEvalMetric", "CustomMetric", "EvalMetric", "alias", "check_label_shapes", "create", "np", "register"]


def check_label_shapes(labels, preds, wrap=False, shape=False):
    """Raise ValueError unless there are as many labels as predictions (`shape`: unless their shapes
    are the same).

    With `wrap` single arrays become lists of one. Returns labels and predictions.

    >>> mx.metric.check_label_shapes([mx.nd.ones(2)], [mx.nd.ones(2)])[0][0].shape
    (2,)
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


def _plain(value):
    """A number of NumPy, which its version 2 shows as ``np.float64(0.5)``, as one of Python."""
    return value.item() if isinstance(value, numpy.generic) else value


class EvalMetric:
    """Base of the metrics: a sum divided by a number of instances. A subclass defines
    :meth:`update`.

    Parameters
    ----------
    name : str
        Name under which the value is reported.
    output_names, label_names : list of str, optional
        Which predictions and labels :meth:`update_dict` uses; all of them when None.
    **kwargs
        Further parameters, kept for :meth:`get_config`. ``has_global_stats=True`` says that
        `update` keeps the global totals too.

    Examples
    --------
    >>> class Largest(mx.metric.EvalMetric):
    ...     def update(self, labels, preds):
    ...         for label, pred in zip(labels, preds):
    ...             self.sum_metric += float((pred - label).abs().max().asscalar())
    ...             self.num_inst += 1
    >>> metric = Largest('largest')
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
    >>> metric.get()
    ('largest', 2.0)
    """

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    __repr__ = from_arguments()

    def __str__(self):
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self):
        """The parameters as a dictionary from which :func:`create` makes the metric again.

        >>> mx.metric.TopKAccuracy(top_k=3).get_config()['top_k']
        3
        """
        return {**self._kwargs, "metric": type(self).__name__, "name": self.name, "output_names": self.output_names,
                "label_names": self.label_names}

    def update(self, labels, preds):
        """Take in a batch: lists of NDArrays, the label and the prediction of each output."""
        raise NotImplementedError(f"[{type(self).__name__}] update is not defined")

    def update_dict(self, label, pred):
        """:meth:`update` from dictionaries of arrays by name, as `output_names` and `label_names`
        say.

        >>> metric = mx.metric.MAE(output_names=['a'], label_names=['l'])
        >>> outputs = {'a': mx.nd.array([1, 4]), 'b': mx.nd.zeros(2)}
        >>> metric.update_dict({'l': mx.nd.array([1, 2])}, outputs)
        >>> metric.get()
        ('mae', 1.0)
        """
        preds = list(pred.values()) if self.output_names is None else [pred[name] for name in self.output_names]
        labels = list(label.values()) if self.label_names is None else [label[name] for name in self.label_names]
        self.update(labels, preds)

    def reset(self):
        """Forget everything.

        >>> metric = mx.metric.Accuracy()
        >>> metric.update([mx.nd.array([0])], [mx.nd.array([0])])
        >>> metric.reset()
        >>> metric.get()
        ('accuracy', nan)
        """
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
        return self.name, _plain(self._value(self.sum_metric, self.num_inst))

    def get_global(self):
        """Name and value since the last full reset.

        >>> metric = mx.metric.Accuracy()
        >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([0, 1])])
        >>> metric.reset_local()
        >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([1, 0])])
        >>> metric.get(), metric.get_global(), metric.get_global_name_value()
        (('accuracy', 0.0), ('accuracy', 0.5), [('accuracy', 0.5)])
        """
        if not self._has_global_stats:
            return self.get()
        if self.global_num_inst == 0:
            return self.name, float("nan")
        return self.name, _plain(self._value(self.global_sum_metric, self.global_num_inst))

    @staticmethod
    def _name_value(name, value):
        return list(zip(name if isinstance(name, list) else [name], value if isinstance(value, list) else [value]))

    def get_name_value(self):
        """:meth:`get` as a list of (name, value).

        >>> metric = mx.metric.create(['acc', 'ce'])
        >>> [name for name, value in metric.get_name_value()]
        ['accuracy', 'cross-entropy']
        """
        return self._name_value(*self.get())

    def get_global_name_value(self):
        """:meth:`get_global` as a list of (name, value)."""
        if not self._has_global_stats:      # the metric of a program may define the others alone
            return self.get_name_value()
        return self._name_value(*self.get_global())


_enter = registry.get_register_func(EvalMetric, "metric")
_enter_as = registry.get_alias_func(EvalMetric, "metric")


def register(klass, name=None):
    """Class decorator: make the metric known under its name in lower case, or `name`.

    >>> @mx.metric.register
    ... class Always(mx.metric.EvalMetric):
    ...     def update(self, labels, preds):
    ...         self.sum_metric, self.num_inst = 1, 1
    >>> metric = mx.metric.create('always', name='always')
    >>> metric.update([], [])
    >>> metric.get()
    ('always', 1.0)
    """
    return _enter(klass, name)


def alias(*aliases):
    """Class decorator: make the metric known under further names.

    >>> @mx.metric.alias('top_3')
    ... class Top3(mx.metric.TopKAccuracy):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(top_k=3, **kwargs)
    >>> mx.metric.create('top_3').top_k
    3
    """
    return _enter_as(*aliases)
_create = registry.get_create_func(EvalMetric, "metric")


def create(metric, *args, **kwargs):
    """A metric from its name, from a function ``(label, pred) -> value``, or a composite from a
    list of such.

    An instance is returned as it is; other arguments go to the constructor.

    >>> mx.metric.create('top_k_accuracy', top_k=3).top_k
    3
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

    Examples
    --------
    >>> metric = mx.metric.CompositeEvalMetric(['mae', mx.metric.MSE()])
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
    >>> metric.get()
    (['mae', 'mse'], [1.0, 2.0])
    """

    def __init__(self, metrics=None, name="composite", output_names=None, label_names=None):
        self.metrics = [create(metric) for metric in (() if metrics is None else metrics)]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric):
        """Append a metric.

        >>> metric = mx.metric.CompositeEvalMetric()
        >>> metric.add('mae')
        >>> metric.get_metric(0).name
        'mae'
        """
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

    Examples
    --------
    >>> def largest(label, pred):
    ...     return float(abs(label - pred).max())
    >>> metric = mx.metric.CustomMetric(largest)
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
    >>> metric.get()
    ('largest', 2.0)
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
    """A :class:`CustomMetric` of a function of NumPy arrays (label, pred), under the function's
    name.

    >>> def largest(label, pred):
    ...     return float(abs(label - pred).max())
    >>> metric = mx.metric.np(largest)
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
    >>> metric.get()
    ('largest', 2.0)
    """
    return CustomMetric(numpy_feval, name, allow_extra_outputs)
