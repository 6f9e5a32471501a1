"""Metrics of real-valued predictions, and means of losses."""
import copy

import numpy

from .base import EvalMetric, _is_array, _numpy, _pairs, alias, check_label_shapes, register

__all__ = ["Caffe", "Loss", "MAE", "MSE", "PearsonCorrelation", "RMSE", "Torch"]


class _ErrorMetric(EvalMetric):
    """The mean over updates of an error of real-valued predictions, which have the shape of the
    labels."""

    def __init__(self, name, output_names, label_names):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    @staticmethod
    def _error(difference):
        """Of each element."""
        raise NotImplementedError

    def _add_errors(self, errors):
        self._add(float(errors.mean()), 1)

    def update(self, labels, preds):
        for label, pred in _pairs(labels, preds):
            label = label.reshape(-1, 1) if label.ndim == 1 else label
            pred = pred.reshape(-1, 1) if pred.ndim == 1 else pred
            self._add_errors(self._error(label - pred))


@register
class MAE(_ErrorMetric):
    """Mean absolute error; the mean over updates of the mean over the elements of a batch.

    >>> metric = mx.metric.MAE()
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 5])])
    >>> metric.get()
    ('mae', 1.5)
    """

    def __init__(self, name="mae", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _error(difference):
        return numpy.abs(difference)


@register
class MSE(_ErrorMetric):
    """Mean squared error; the mean over updates of the mean over the elements of a batch.

    >>> metric = mx.metric.MSE()
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
    >>> metric.get()
    ('mse', 2.0)
    """

    def __init__(self, name="mse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _error(difference):
        return difference ** 2


@register
class RMSE(_ErrorMetric):
    """Root of the mean squared error; the mean over updates of the root for a batch.

    >>> metric = mx.metric.RMSE()
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([3, 4])])
    >>> metric.get()
    ('rmse', 2.0)
    """

    def __init__(self, name="rmse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    _error = staticmethod(MSE._error)

    def _add_errors(self, errors):
        self._add(float(numpy.sqrt(errors.mean())), 1)


class _Comoments:
    """Means, variances and covariance of two series that arrive in parts (Chan, Golub and LeVeque,
    1979)."""

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

    `average`: 'macro' is the mean of the correlations of all updates, 'micro' the correlation of
    all elements together. Labels and predictions have one shape; other pairs are a ValueError.

    >>> metric = mx.metric.PearsonCorrelation()
    >>> metric.update([mx.nd.array([1, 2, 3])], [mx.nd.array([2, 4, 6])])
    >>> round(float(metric.get()[1]), 3)
    1.0
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
        """Forget the local moments of 'micro'.

        >>> metric = mx.metric.PearsonCorrelation(average='micro')
        >>> metric.update([mx.nd.array([1, 2, 3])], [mx.nd.array([2, 4, 6])])
        >>> metric.reset_micro()
        >>> metric.update([mx.nd.array([1, 2, 3])], [mx.nd.array([3, 2, 1])])
        >>> round(float(metric.get()[1]), 3)
        -1.0
        """
        self._local = _Comoments()

    def update_variance(self, new_values, *aggregate):
        """Count, mean and sum of squared deviations after `new_values` have joined those in
        `aggregate`.

        >>> metric = mx.metric.PearsonCorrelation()
        >>> count, mean, squares = metric.update_variance([1, 3], 0, 0, 0)
        >>> [float(x) for x in metric.update_variance([8], count, mean, squares)]
        [3.0, 4.0, 26.0]
        """
        count, mean, squares = aggregate
        new_values = _numpy(new_values).astype(numpy.float64).ravel()
        n = new_values.size
        if n == 0:
            return count, mean, squares
        shift = new_values.mean() - mean
        squares += ((new_values - new_values.mean()) ** 2).sum() + shift * shift * count * n / (count + n)
        return count + n, mean + shift * n / (count + n), squares

    def update_cov(self, label, pred):
        """Let a batch join the moments of 'micro'.

        >>> metric = mx.metric.PearsonCorrelation(average='micro')
        >>> metric.update_cov(mx.nd.array([1, 2, 3]), mx.nd.array([2, 4, 6]))
        >>> metric.num_inst = 1    # `update` does both
        >>> round(float(metric.get()[1]), 3)
        1.0
        """
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

    # -- pickling: 1.x keeps the local moments under these names, and no global ones --
    def __getstate__(self):
        state = self.__dict__.copy()
        if self.average == "micro":
            moments = self._local
            (state["_mean_l"], state["_mean_p"]), squares = moments.mean.tolist(), moments.products.tolist()
            state.update(_sse_l=squares[0][0], _sse_p=squares[1][1], _conv=squares[0][1], _label_nums=moments.n, _pred_nums=moments.n)
            state["_global"] = self._global.n, self._global.mean.tolist(), self._global.products.tolist()
        else:
            del state["_global"]
        del state["_local"]
        return state

    def __setstate__(self, state):
        state = dict(state)
        self._local, self._global = _Comoments(), _Comoments()
        moments = {key: state.pop(key) for key in ("_mean_l", "_mean_p", "_sse_l", "_sse_p",
                                                   "_conv", "_label_nums", "_pred_nums")
                   if key in state}
        whole = state.pop("_global", None)
        self.__dict__.update(state)
        if moments:
            covariance = moments["_conv"]
            self._local.n = moments["_label_nums"]
            self._local.mean = numpy.array([moments["_mean_l"], moments["_mean_p"]], dtype=float)
            self._local.products = numpy.array([[moments["_sse_l"], covariance], [covariance, moments["_sse_p"]]], dtype=float)
        if whole is not None:
            self._global.n, self._global.mean, self._global.products = whole[0], numpy.array(whole[1]), numpy.array(whole[2])
        elif moments:
            self._global = copy.deepcopy(self._local)

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
    """Mean of the predictions themselves: for networks whose outputs are losses.

    >>> metric = mx.metric.Loss()
    >>> metric.update(None, mx.nd.array([1, 2, 6]))
    >>> metric.get()
    ('loss', 3.0)
    """

    def __init__(self, name="loss", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, _, preds):
        for pred in [preds] if _is_array(preds) else preds:
            pred = _numpy(pred)
            self._add(float(pred.sum()), pred.size)


@register
class Torch(Loss):
    """:class:`Loss` for Torch criterions.

    >>> metric = mx.metric.Torch()
    >>> metric.update(None, [mx.nd.array([4])])
    >>> metric.get()
    ('torch', 4.0)
    """

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """:class:`Loss` for Caffe criterions.

    >>> metric = mx.metric.Caffe()
    >>> metric.update(None, [mx.nd.array([4])])
    >>> metric.get()
    ('caffe', 4.0)
    """

    def __init__(self, name="caffe", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)
