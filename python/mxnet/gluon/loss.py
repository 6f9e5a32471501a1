"""Losses. Unless said otherwise, `label` is reshaped to the shape of `pred`, `weight` (a number)
and `sample_weight` (an array that broadcasts against the loss) multiply the loss, and the result is
its mean over all axes but `batch_axis`: shape (batch size,)."""
import math
import numbers

from .. import _dtypes
from .._arrays.classes import is_np_ndarray
from .block import HybridBlock

__all__ = ['Loss', 'L2Loss', 'L1Loss', 'SigmoidBinaryCrossEntropyLoss', 'SigmoidBCELoss', 'SoftmaxCrossEntropyLoss', 'SoftmaxCELoss',
           'KLDivLoss', 'CTCLoss', 'HuberLoss', 'HingeLoss', 'SquaredHingeLoss', 'LogisticLoss', 'TripletLoss', 'PoissonNLLLoss',
           'CosineEmbeddingLoss', 'SDMLLoss']


def _times(F, x, y):
    """`x` times `y`, which broadcast. Arrays of mx.np may have different dtypes."""
    return x * y if is_np_ndarray(x) else F.broadcast_mul(x, y)


def _apply_weighting(F, loss, weight=None, sample_weight=None):
    """`loss` times `sample_weight`, an array that broadcasts, and `weight`, a number;
    AssertionError for a weight that is none."""
    if sample_weight is not None:
        if is_np_ndarray(loss) and sample_weight.dtype != loss.dtype:
            sample_weight = sample_weight.astype(loss.dtype)
        loss = _times(F, loss, sample_weight)
    if weight is None:
        return loss
    assert isinstance(weight, numbers.Number) or hasattr(weight, '__float__'), (
        f'[gluon.loss] weight of type {type(weight).__name__} given; a number or None is accepted')
    return loss * weight


def _reshape_like(F, x, y):
    """`x` in the shape of `y`."""
    return F.reshape_like(x, y)


class Loss(HybridBlock):
    """Base class: `weight` is a number or None, `batch_axis` the axis of the samples. Subclasses
    define hybrid_forward.

    >>> class Quartic(mx.gluon.loss.Loss):
    ...     def hybrid_forward(self, F, pred, label):
    ...         return ((pred - label) ** 4).mean(axis=0, exclude=True)
    >>> pred, label = mx.nd.array([[1], [3]]), mx.nd.ones((2, 1))
    >>> Quartic(weight=None, batch_axis=0)(pred, label).asnumpy()
    array([ 0., 16.], dtype=float32)
    """

    def __init__(self, weight, batch_axis, **kwargs):
        super().__init__(**kwargs)
        assert weight is None or isinstance(weight, (int, float)) or hasattr(weight, '__float__'), (
            f'[gluon.loss] weight of type {type(weight).__name__} given; a number or None is accepted')
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self):
        return f'{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})'

    def _weighted(self, F, loss, sample_weight, weight=None):
        return _apply_weighting(F, loss, self._weight if weight is None else weight, sample_weight)

    def _mean(self, F, loss):
        return F.mean(loss, axis=self._batch_axis, exclude=True)

    def _reduced(self, F, loss, classic):
        """`loss` as MXNet 2.0 reduces all losses of mx.np arrays: to its mean over all axes but the
        batch's. Of mx.nd arrays, what `classic` makes of it."""
        return self._mean(F, loss) if is_np_ndarray(loss) else classic(loss)


def _logistic_loss(F, pred, label):
    """-log of the probability that sigmoid(pred) gives to `label` in {0, 1}; stable for
    large |pred|."""
    return F.relu(pred) - pred * label + F.Activation(-F.abs(pred), act_type='softrelu')


class L2Loss(Loss):
    """weight / 2 * (label - pred)^2.

    >>> pred, label = mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[1, 2], [3, 6]])
    >>> mx.gluon.loss.L2Loss()(pred, label).asnumpy()
    array([0., 1.], dtype=float32)
    """

    def __init__(self, weight=1.0, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.square(F.reshape_like(label, pred) - pred)
        return self._mean(F, self._weighted(F, loss, sample_weight, 0.5 if self._weight is None else self._weight / 2))


class L1Loss(Loss):
    """|label - pred|.

    >>> pred, label = mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[1, 2], [3, 6]])
    >>> mx.gluon.loss.L1Loss()(pred, label).asnumpy()
    array([0., 1.], dtype=float32)
    """

    def __init__(self, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        return self._mean(F, self._weighted(F, F.abs(F.reshape_like(label, pred) - pred), sample_weight))


class SigmoidBinaryCrossEntropyLoss(Loss):
    """-(label log p + (1 - label) log(1 - p)), with p = sigmoid(pred), or p = pred for
    `from_sigmoid`.

    `pos_weight` (broadcasts against label) multiplies the first term.

    >>> pred, label = mx.nd.array([[0], [3]]), mx.nd.array([[1], [1]])
    >>> mx.gluon.loss.SigmoidBinaryCrossEntropyLoss()(pred, label).asnumpy().round(3)
    array([0.693, 0.049], dtype=float32)
    """

    def __init__(self, from_sigmoid=False, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(self, F, pred, label, sample_weight=None, pos_weight=None):
        label = F.reshape_like(label, pred)
        if not self._from_sigmoid:
            if pos_weight is None:
                loss = _logistic_loss(F, pred, label)
            else:
                log_weight = 1 + _times(F, pos_weight - 1, label)
                loss = pred - pred * label + log_weight * (F.Activation(-F.abs(pred), act_type='softrelu') + F.relu(-pred))
        else:
            eps = 1e-12
            positive = F.log(pred + eps) * label
            if pos_weight is not None:
                positive = _times(F, positive, pos_weight)
            loss = -(positive + F.log(1. - pred + eps) * (1. - label))
        return self._mean(F, self._weighted(F, loss, sample_weight))


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """-log softmax(pred)[label] along `axis`.

    `sparse_label`: labels are class indices with the shape of pred without `axis`; otherwise
    probabilities with the shape of pred. `from_logits`: pred already holds log-probabilities.

    >>> scores, label = mx.nd.array([[0, 0], [0, 4]]), mx.nd.array([0, 1])
    >>> mx.gluon.loss.SoftmaxCrossEntropyLoss()(scores, label).asnumpy().round(3)
    array([0.693, 0.018], dtype=float32)
    """

    def __init__(self, axis=-1, sparse_label=True, from_logits=False, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -F.pick(pred, label, axis=self._axis, keepdims=True)
        else:
            loss = -F.sum(pred * F.reshape_like(label, pred), axis=self._axis, keepdims=True)
        return self._mean(F, self._weighted(F, loss, sample_weight))


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """Kullback-Leibler divergence: the sum (of mx.np arrays the mean) of label * (log label - pred)
    over all axes but `batch_axis`. pred holds log-probabilities, or, without `from_logits`, what
    log_softmax along `axis` turns into them.

    >>> log_p = mx.nd.log(mx.nd.array([[0.5, 0.5]]))
    >>> mx.gluon.loss.KLDivLoss()(log_p, mx.nd.array([[0.25, 0.75]])).asnumpy().round(3)
    array([0.131], dtype=float32)
    """

    def __init__(self, from_logits=True, axis=-1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        loss = self._weighted(F, label * (F.log(label + 1e-12) - pred), sample_weight)
        return self._reduced(F, loss, lambda loss: F.sum(loss, axis=self._batch_axis, exclude=True))


class CTCLoss(Loss):
    """Connectionist temporal classification (Graves et al., 2006), blank = the last class; result
    of shape (batch size,).

    pred: (N, T, C) for `layout` 'NTC' or (T, N, C) for 'TNC', before softmax. label: (N, L) for
    `label_layout` 'NT', padded with -1, or (L, N) for 'TN'. `pred_lengths` and `label_lengths`:
    (N,), optional.

    >>> scores = mx.nd.zeros((1, 5, 4))
    >>> mx.gluon.loss.CTCLoss()(scores, mx.nd.array([[1, 2]])).shape
    (1,)
    """

    def __init__(self, layout='NTC', label_layout='NT', weight=None, **kwargs):
        assert layout in ('NTC', 'TNC'), f"[gluon.loss.CTCLoss] layout={layout!r} given; 'NTC' or 'TNC' is accepted"
        assert label_layout in ('NT', 'TN'), f"[gluon.loss.CTCLoss] label_layout={label_layout!r} given; 'NT' or 'TN' is accepted"
        self._layout = layout
        self._label_layout = label_layout
        super().__init__(weight, label_layout.find('N'), **kwargs)

    def hybrid_forward(self, F, pred, label, pred_lengths=None, label_lengths=None, sample_weight=None):
        if self._layout == 'NTC':
            pred = F.swapaxes(pred, 0, 1)
        if self._batch_axis == 1:
            label = F.swapaxes(label, 0, 1)
        lengths = {}
        if pred_lengths is not None:
            lengths['data_lengths'] = pred_lengths
        if label_lengths is not None:
            lengths['label_lengths'] = label_lengths
        loss = F.CTCLoss(pred, label, use_data_lengths=pred_lengths is not None, use_label_lengths=label_lengths is not None,
                         blank_label='last', **lengths)
        return self._weighted(F, loss, sample_weight)


class HuberLoss(Loss):
    """Quadratic near 0, linear beyond `rho`: |d| - rho / 2 for |d| > rho, d^2 / (2 rho) otherwise,
    d = label - pred.

    >>> pred, label = mx.nd.array([[0.5], [3]]), mx.nd.zeros((2, 1))
    >>> mx.gluon.loss.HuberLoss(rho=1)(pred, label).asnumpy()
    array([0.125, 2.5  ], dtype=float32)
    """

    def __init__(self, rho=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        difference = F.reshape_like(label, pred) - pred
        # For the usual rho one operator has the same values. Graphs keep the names of 1.x.
        if self._rho == 1 and hasattr(pred, 'dtype') and _dtypes.number(pred.dtype) in _dtypes.FLOATS:
            return self._mean(F, self._weighted(F, F.smooth_l1(difference, scalar=1.0), sample_weight))
        loss = F.abs(difference)
        loss = F.where(loss > self._rho, loss - 0.5 * self._rho, (0.5 / self._rho) * F.square(loss))
        return self._mean(F, self._weighted(F, loss, sample_weight))


class HingeLoss(Loss):
    """max(0, margin - pred * label), label in {-1, 1}.

    >>> pred, label = mx.nd.array([[0.5], [3]]), mx.nd.array([[1], [1]])
    >>> mx.gluon.loss.HingeLoss()(pred, label).asnumpy()
    array([0.5, 0. ], dtype=float32)
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.relu(self._margin - pred * F.reshape_like(label, pred))
        return self._mean(F, self._weighted(F, loss, sample_weight))


class SquaredHingeLoss(Loss):
    """max(0, margin - pred * label)^2, label in {-1, 1}.

    >>> pred, label = mx.nd.array([[0.5], [3]]), mx.nd.array([[1], [1]])
    >>> mx.gluon.loss.SquaredHingeLoss()(pred, label).asnumpy()
    array([0.25, 0.  ], dtype=float32)
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.square(F.relu(self._margin - pred * F.reshape_like(label, pred)))
        return self._mean(F, self._weighted(F, loss, sample_weight))


class LogisticLoss(Loss):
    """log(1 + exp(-pred * label)) for `label_format` 'signed' (labels -1 and 1); 'binary' has
    labels 0 and 1.

    >>> pred, label = mx.nd.array([[0.5], [3]]), mx.nd.array([[1], [-1]])
    >>> mx.gluon.loss.LogisticLoss()(pred, label).asnumpy().round(3)
    array([0.474, 3.049], dtype=float32)
    """

    def __init__(self, weight=None, batch_axis=0, label_format='signed', **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ('signed', 'binary'):
            raise ValueError(f"[gluon.loss.LogisticLoss] label_format={label_format!r} given; 'signed' or 'binary' is accepted")
        self._label_format = label_format

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = F.reshape_like(label, pred)
        if self._label_format == 'signed':
            label = (label + 1.0) / 2.0
        return self._mean(F, self._weighted(F, _logistic_loss(F, pred, label), sample_weight))


class TripletLoss(Loss):
    """max(0, margin + sum((positive - pred)^2 - (negative - pred)^2)), the sum over all axes but
    `batch_axis`.

    >>> anchor, near, far = mx.nd.zeros((1, 2)), mx.nd.ones((1, 2)), 2 * mx.nd.ones((1, 2))
    >>> mx.gluon.loss.TripletLoss(margin=10)(anchor, near, far).asnumpy()
    array([4.], dtype=float32)
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, positive, negative, sample_weight=None):
        positive, negative = F.reshape_like(positive, pred), F.reshape_like(negative, pred)
        distance = F.sum(F.square(positive - pred) - F.square(negative - pred), axis=self._batch_axis, exclude=True)
        return self._weighted(F, F.relu(distance + self._margin), sample_weight)


class PoissonNLLLoss(Loss):
    """Negative log-likelihood of counts `target` under Poisson(rate): rate - target log rate, rate
    = exp(pred) for `from_logits` and pred otherwise. `compute_full` adds Stirling's approximation
    of log(target!) where target > 1. The result is the mean over all elements, or, of mx.np arrays,
    over all axes but `batch_axis`.

    >>> log_rate, count = mx.nd.zeros((2, 1)), mx.nd.array([[1], [3]])
    >>> mx.gluon.loss.PoissonNLLLoss()(log_rate, count).asnumpy()
    array([1.], dtype=float32)
    """

    def __init__(self, weight=None, from_logits=True, batch_axis=0, compute_full=False, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(self, F, pred, target, sample_weight=None, epsilon=1e-08):
        target = F.reshape_like(target, pred)
        if self._from_logits:
            loss = F.exp(pred) - target * pred
        else:
            loss = pred - target * F.log(pred + epsilon)
        if self._compute_full:
            # Below 2 the approximation is not used; log(max(target, 1)) keeps 0 * log(0) out of the
            # sum.
            safe = F.maximum(target, 1.0)
            stirling = safe * F.log(safe) - safe + 0.5 * F.log(2 * safe * math.pi)
            loss = loss + stirling * (target > 1)
        return self._reduced(F, self._weighted(F, loss, sample_weight), F.mean)


class CosineEmbeddingLoss(Loss):
    """1 - cos(input1, input2) where label = 1, max(0, cos(input1, input2) - margin) where label =
    -1, 0 elsewhere; the cosine along the last axis. The result is not averaged: shape (number of
    cosines, 1), or (number of cosines,) of mx.np arrays.

    >>> a, b = mx.nd.array([[1, 0], [1, 0]]), mx.nd.array([[0, 1], [2, 0]])
    >>> mx.gluon.loss.CosineEmbeddingLoss()(a, b, mx.nd.array([1, 1])).asnumpy().round(3)
    array([[1.],
           [0.]], dtype=float32)
    """

    def __init__(self, weight=None, batch_axis=0, margin=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, input1, input2, label, sample_weight=None):
        input1 = F.reshape_like(input1, input2)
        label = label.reshape((-1, 1))    # in this order, which the names of the graph show
        norm1, norm2 = F.norm(input1, axis=-1).reshape((-1, 1)), F.norm(input2, axis=-1).reshape((-1, 1))
        dot = F.sum(input1 * input2, axis=-1).reshape((-1, 1))
        cos = dot / F.maximum(norm1 * norm2, 1e-12)
        loss = (1 - cos) * (label == 1) + F.relu((label == -1) * (cos - self._margin))
        return self._reduced(F, self._weighted(F, loss, sample_weight), lambda loss: loss)


class SDMLLoss(Loss):
    """Smoothed deep metric learning: rows of x1 and x2, both (N, D), with the same index belong
    together and all others do not; the loss is the divergence between softmax(-squared distances)
    and labels smoothed by `smoothing_parameter` (Bonadiman et al., 2019).

    >>> a = mx.nd.array([[0, 0], [5, 5]])
    >>> mx.gluon.loss.SDMLLoss()(a, a + 0.1).shape
    (2,)
    """

    def __init__(self, smoothing_parameter=0.3, weight=1., batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    def hybrid_forward(self, F, x1, x2):
        distances = F.sum(F.square(F.broadcast_sub(F.expand_dims(x1, 1), F.expand_dims(x2, 0))), axis=2)
        log_probabilities = F.log_softmax(-distances, axis=1)
        position = F.cumsum(F.ones_like(F.slice_axis(x1, axis=1, begin=0, end=1)), axis=0)    # 1 to N, shape (N, 1)
        gold = F.broadcast_equal(position, F.transpose(position))
        others = F.broadcast_sub(F.sum(F.ones_like(gold), axis=1, keepdims=True), F.ones_like(gold))
        labels = gold * (1 - self.smoothing_parameter) + (1 - gold) * self.smoothing_parameter / others
        return self.kl_loss(log_probabilities, labels)
