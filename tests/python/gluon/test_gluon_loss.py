"""Losses against their formulas in NumPy."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import loss as L

pytestmark = pytest.mark.on_gpu

RNG = np.random.RandomState(5)
PRED = RNG.randn(4, 5).astype('float32')
LABEL = RNG.randn(4, 5).astype('float32')
SIGN = np.sign(RNG.randn(4, 5)).astype('float32')
CLASSES = np.array([0, 3, 2, 4])
WEIGHT = np.array([[1], [2], [0.5], [0]], 'float32')
PROB = np.exp(LABEL) / np.exp(LABEL).sum(1, keepdims=True)


def log_softmax(x, axis=-1):
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def softplus(x):
    return np.logaddexp(0, x)


def check(loss, args, expected, rtol=1e-4, atol=1e-5):
    """Value eager and compiled, and the gradient of the first argument against differences of the
    value."""
    arrays = [nd.array(a) for a in args]
    arrays[0].attach_grad()
    for compiled in (False, True):
        if compiled:
            loss.hybridize()
        with autograd.record():
            value = loss(*arrays)
        np.testing.assert_allclose(value.asnumpy(), expected, rtol=rtol, atol=atol)
        assert value.shape == np.shape(expected)
    value.backward()
    direction = RNG.randn(*args[0].shape)
    step = 1e-2
    up = float(loss(nd.array(args[0] + step * direction), *arrays[1:]).sum().asscalar())
    down = float(loss(nd.array(args[0] - step * direction), *arrays[1:]).sum().asscalar())
    slope = float((arrays[0].grad.asnumpy() * direction).sum())
    np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=0.05, atol=0.03)


def rows(x):
    return x.mean(axis=1)


def test_l2_l1():
    check(L.L2Loss(), (PRED, LABEL), rows((PRED - LABEL) ** 2) / 2)
    check(L.L2Loss(weight=3), (PRED, LABEL, WEIGHT), rows((PRED - LABEL) ** 2 * WEIGHT) * 1.5)
    check(L.L2Loss(batch_axis=1), (PRED, LABEL), ((PRED - LABEL) ** 2).mean(0) / 2)
    check(L.L2Loss(), (PRED, LABEL.reshape(2, 10)), rows((PRED - LABEL) ** 2) / 2)
    check(L.L1Loss(weight=2), (PRED, LABEL, WEIGHT), rows(abs(PRED - LABEL) * WEIGHT) * 2)


def test_sigmoid_bce():
    y = (SIGN + 1) / 2
    direct = softplus(PRED) - PRED * y
    check(L.SigmoidBCELoss(), (PRED, y), rows(direct))
    check(L.SigmoidBCELoss(weight=0.5), (PRED, y, WEIGHT), rows(direct * WEIGHT) / 2)
    pos = np.array([[1, 2, 3, 4, 5]], 'float32')
    check(L.SigmoidBCELoss(), (PRED, y, WEIGHT, pos), rows((pos * y * softplus(-PRED) + (1 - y) * softplus(PRED)) * WEIGHT))
    p = 1 / (1 + np.exp(-PRED))
    loss = L.SigmoidBCELoss(from_sigmoid=True)
    np.testing.assert_allclose(loss(nd.array(p), nd.array(y)).asnumpy(), rows(direct), rtol=1e-4)
    extreme = L.SigmoidBCELoss()(nd.array([[1000., -1000.]]), nd.array([[0., 1.]])).asnumpy()
    assert extreme.tolist() == [1000.0]
    assert L.SigmoidBCELoss is L.SigmoidBinaryCrossEntropyLoss


def test_softmax_ce():
    picked = -log_softmax(PRED)[np.arange(4), CLASSES]
    check(L.SoftmaxCELoss(), (PRED, CLASSES), picked)
    check(L.SoftmaxCELoss(weight=0.5), (PRED, CLASSES, WEIGHT), picked * WEIGHT[:, 0] / 2)
    check(L.SoftmaxCELoss(sparse_label=False), (PRED, PROB), -(log_softmax(PRED) * PROB).sum(1))
    check(L.SoftmaxCELoss(from_logits=True), (PRED, CLASSES), -PRED[np.arange(4), CLASSES])
    x, y = RNG.randn(2, 4, 3), RNG.randint(0, 4, (2, 3))
    expected = -np.take_along_axis(log_softmax(x, 1), y[:, None], 1)
    check(L.SoftmaxCELoss(axis=1), (x, y), expected.mean((1, 2)))
    assert L.SoftmaxCELoss is L.SoftmaxCrossEntropyLoss


def test_kl_div():
    check(L.KLDivLoss(), (log_softmax(PRED), PROB), (PROB * (np.log(PROB) - log_softmax(PRED))).sum(1))
    check(L.KLDivLoss(from_logits=False), (PRED, PROB), (PROB * (np.log(PROB) - log_softmax(PRED))).sum(1))


def test_huber_hinge_logistic():
    d = abs(PRED - LABEL)
    check(L.HuberLoss(), (PRED, LABEL), rows(np.where(d > 1, d - 0.5, 0.5 * d * d)))
    check(L.HuberLoss(rho=0.3, weight=2), (PRED, LABEL, WEIGHT), 2 * rows(np.where(d > 0.3, d - 0.15, d * d / 0.6) * WEIGHT))
    margin = np.maximum(0, 1 - PRED * SIGN)
    check(L.HingeLoss(), (PRED, SIGN), rows(margin))
    check(L.SquaredHingeLoss(), (PRED, SIGN), rows(margin ** 2))
    check(L.LogisticLoss(), (PRED, SIGN), rows(softplus(-PRED * SIGN)))
    check(L.LogisticLoss(label_format='binary'), (PRED, (SIGN + 1) / 2), rows(softplus(-PRED * SIGN)))
    with pytest.raises(ValueError, match='label_format'):
        L.LogisticLoss(label_format='other')


def test_triplet():
    positive, negative = RNG.randn(4, 5), RNG.randn(4, 5)
    expected = np.maximum(0, 1 + ((positive - PRED) ** 2 - (negative - PRED) ** 2).sum(1))
    check(L.TripletLoss(), (PRED, positive, negative), expected)
    check(L.TripletLoss(weight=2), (PRED, positive, negative, np.arange(4.)), 2 * expected * np.arange(4))


def test_poisson_nll():
    target = RNG.randint(0, 6, (4, 5)).astype('float32')
    check(L.PoissonNLLLoss(), (PRED, target), np.array([(np.exp(PRED) - target * PRED).mean()]))
    rate = np.exp(PRED)
    check(L.PoissonNLLLoss(from_logits=False), (rate, target), np.array([(rate - target * np.log(rate + 1e-8)).mean()]))
    big = np.maximum(target, 1)
    stirling = np.where(target > 1, big * np.log(big) - big + 0.5 * np.log(2 * np.pi * big), 0)
    check(L.PoissonNLLLoss(compute_full=True), (PRED, target), np.array([(np.exp(PRED) - target * PRED + stirling).mean()]))


def test_cosine_embedding():
    label = np.array([1, -1, 1, -1])
    cos = (PRED * LABEL).sum(1) / np.linalg.norm(PRED, axis=1) / np.linalg.norm(LABEL, axis=1)
    expected = np.where(label == 1, 1 - cos, np.maximum(0, cos - 0.1))[:, None]
    check(L.CosineEmbeddingLoss(margin=0.1), (PRED, LABEL, label), expected)
    check(L.CosineEmbeddingLoss(margin=0.1, weight=2), (PRED, LABEL, label, WEIGHT), 2 * expected * WEIGHT)


def test_sdml():
    x1, x2 = RNG.randn(3, 5) * 0.3, RNG.randn(3, 5) * 0.3
    logp = log_softmax(-((x1[:, None] - x2[None]) ** 2).sum(2), 1)
    labels = np.where(np.eye(3) == 1, 0.7, 0.15)
    check(L.SDMLLoss(), (x1, x2), (labels * (np.log(labels) - logp)).sum(1))


def ctc_reference(scores, label):
    """Sum over all alignments, by dynamic programming; blank is the last class."""
    logp = log_softmax(scores)
    blank = scores.shape[1] - 1
    extended = [blank]
    for c in label:
        extended += [c, blank]
    alpha = np.full(len(extended), -np.inf)
    alpha[0] = logp[0, blank]
    if len(extended) > 1:
        alpha[1] = logp[0, extended[1]]
    for t in range(1, len(scores)):
        new = np.full_like(alpha, -np.inf)
        for s, c in enumerate(extended):
            ways = [alpha[s]]
            if s > 0:
                ways.append(alpha[s - 1])
            if s > 1 and c != blank and c != extended[s - 2]:
                ways.append(alpha[s - 2])
            new[s] = np.logaddexp.reduce(ways) + logp[t, c]
        alpha = new
    return -np.logaddexp.reduce(alpha[-2:])


def test_ctc():
    scores = RNG.randn(2, 20, 4)
    labels = [[1, 0], [2, 1, 1]]
    padded = np.array([[1, 0, -1, -1], [2, 1, 1, -1]])
    expected = np.array([ctc_reference(s, label) for s, label in zip(scores, labels)])
    check(L.CTCLoss(), (scores, padded), expected, rtol=1e-3)
    check(L.CTCLoss(layout='TNC', label_layout='TN', weight=2), (scores.transpose(1, 0, 2), padded.T), 2 * expected, rtol=1e-3)
    shorter = np.array([ctc_reference(s[:n], label) for s, n, label in zip(scores, (18, 20), labels)])
    full = np.array([[1, 0, 3, 3], [2, 1, 1, 3]])
    value = L.CTCLoss()(nd.array(scores), nd.array(full), nd.array([18, 20]), nd.array([2, 3]))
    np.testing.assert_allclose(value.asnumpy(), shorter, rtol=1e-3)
    with pytest.raises(AssertionError, match='layout'):
        L.CTCLoss(layout='CNT')


def test_losses_train():
    """Each loss goes down by gradient descent on its first argument."""
    for loss, target in ((L.L2Loss(), LABEL), (L.L1Loss(), LABEL), (L.HuberLoss(), LABEL), (L.SoftmaxCELoss(), CLASSES),
                         (L.SigmoidBCELoss(), (SIGN + 1) / 2), (L.HingeLoss(), SIGN), (L.LogisticLoss(), SIGN)):
        x, y = nd.array(PRED), nd.array(target)
        x.attach_grad()
        history = []
        for _ in range(20):
            with autograd.record():
                value = loss(x, y).mean()
            value.backward()
            x -= 0.5 * x.grad
            x.attach_grad()
            history.append(value.asscalar())
        assert history[-1] < history[0], type(loss).__name__


def test_weight_must_be_a_number():
    with pytest.raises(AssertionError, match='weight'):
        gluon.loss.L1Loss(weight='heavy')


def test_cosine_embedding_of_labels_that_are_neither():   # 1.9.1: a label says similar, different, or nothing
    x, y = mx.nd.array([[1., 0], [1, 0], [1, 0]]), mx.nd.array([[1., 1], [1, 1], [1, 1]])
    cos = 2 ** -0.5
    loss = mx.gluon.loss.CosineEmbeddingLoss(margin=0.1)(x, y, mx.nd.array([1, -1, 0])).asnumpy()
    np.testing.assert_allclose(loss.ravel(), [1 - cos, cos - 0.1, 0], rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int64", "bool", "float64"])
def test_weights_and_labels_of_other_dtypes_in_numpy(dtype):
    """As 2.0 does: a weight of another dtype multiplies the loss, which keeps its own."""
    with mx.util.np_shape(True), mx.util.np_array(True):
        pred, weight = mx.np.array([[1., 2, 3], [3, 2, 1]]), mx.np.array([[1], [0]], dtype=dtype)
        loss = gluon.loss.SoftmaxCELoss()(pred, mx.np.array([0, 1], dtype="int32"), weight)
        assert loss.dtype == np.float32
        np.testing.assert_allclose(loss.asnumpy(), [2.407606, 0], rtol=1e-5)
        label = mx.np.array([[1, 0, 0], [0, 1, 0]], dtype=dtype)
        one = gluon.loss.SigmoidBCELoss()(pred, label, None, mx.np.array([1, 2, 3]))
        np.testing.assert_allclose(one.asnumpy(), [1.829602, 1.538579], rtol=1e-5)


def huber_formula(pred, label):
    distance = nd.abs(label - pred)
    return nd.where(distance > 1, distance - 0.5, 0.5 * nd.square(distance))


@pytest.mark.parametrize('hybridize', [False, True])
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'bfloat16'])
def test_huber_has_the_values_of_its_formula(dtype, hybridize):
    """Bit by bit, on both sides of rho and at it, with the gradients of both arguments."""
    values = np.concatenate([np.random.RandomState(0).randn(500) * 2, [0, -0.0, 1, -1, 1e-4, 1e-7, 0.9995117, 1.0009766, np.nan, 300]])
    pred = nd.array(values, dtype=dtype).reshape((-1, 1))
    label = nd.array(np.concatenate([np.random.RandomState(1).randn(500), np.zeros(10)]), dtype=dtype).reshape((-1, 1))
    loss = L.HuberLoss()
    loss.hybridize(hybridize)
    got = []
    for one in (loss, huber_formula):
        for x in (pred, label):
            x.attach_grad()
        with autograd.record():
            y = one(pred, label)
        y.backward()
        got.append([x.astype('float64').asnumpy().ravel() for x in (y, pred.grad, label.grad)])
    for ours, formula in zip(*got):
        np.testing.assert_array_equal(ours, formula)


def test_huber_of_numpy_arrays_infinities_and_whole_numbers():
    with mx.util.np_shape(True), mx.util.np_array(True):
        pred = mx.np.array([[0.5, 3.0]])
        pred.attach_grad()
        with autograd.record():
            y = L.HuberLoss()(pred, mx.np.zeros((1, 2)))
        y.backward()
        assert isinstance(y, mx.np.ndarray) and y.tolist() == [1.3125] and pred.grad.tolist() == [[0.25, 0.5]]
    far = nd.array([[np.inf], [-np.inf]])
    far.attach_grad()
    with autograd.record():
        y = L.HuberLoss()(far, nd.zeros((2, 1)))
    y.backward()
    assert far.grad.asnumpy().ravel().tolist() == [1, -1] and np.isinf(y.asnumpy()).all()
    whole = nd.array([[3], [1]], dtype='int32')
    assert L.HuberLoss()(whole, nd.zeros((2, 1), dtype='int32')).asnumpy().tolist() == [3, 0]   # as in 1.9.1
