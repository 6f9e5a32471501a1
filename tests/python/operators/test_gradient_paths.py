"""Gradients that have a short way of their own: straight into gradient arrays, whole rows at a
time, scaled probabilities."""
import numpy as np
import pytest

import mxnet as mx


def _grads(f, *arrays, req="write", head=None):
    given = [mx.nd.array(a) for a in arrays]
    for g in given:
        g.attach_grad(req)
    with mx.autograd.record():
        y = f(*given)
    y.backward(None if head is None else mx.nd.array(head))
    return [g.grad.asnumpy() for g in given]


@pytest.mark.parametrize("req", ["write", "add"])
def test_products_with_and_without_broadcasting(req):
    rng = np.random.default_rng(0)
    a, b, row, head = (rng.standard_normal(s).astype("float32") for s in ((6, 40), (6, 40), (1, 40), (6, 40)))
    for got, expected in ((_grads(lambda x, y: x * y, a, b, req=req, head=head), (head * b, head * a)),
                          (_grads(lambda x, y: mx.nd.broadcast_mul(x, y), a, row, req=req,
                                  head=head), (head * row, (head * a).sum(0, keepdims=True))),
                          (_grads(lambda x, y: x / y, a, b, req=req, head=head), (head / b, -head * a / b / b)),
                          (_grads(lambda x, y: x - y, a, b, req=req, head=head), (head, -head)),
                          (_grads(lambda x: x * x, a, req=req, head=head), (2 * a * head,)),
                          (_grads(lambda x, y: x * y + x, a, b, req=req, head=head), (head * b + head, head * a))):
        for g, e in zip(got, expected):
            np.testing.assert_allclose(g, e, rtol=2e-4, atol=1e-4)


def test_a_product_of_two_dtypes_reaches_the_gradient():
    x = mx.nd.array([1.0, 2.0], dtype="float16")
    x.attach_grad()
    with mx.autograd.record():
        y = (x.astype("float32") * mx.nd.array([3.0, 4.0])).sum()
    y.backward()
    assert x.grad.dtype == np.float16 and x.grad.asnumpy().tolist() == [3.0, 4.0]


@pytest.mark.parametrize("exponent", [2.5, -1.5, 2, 0.5, 3])
def test_powers_with_a_number(exponent):
    rng = np.random.default_rng(1)
    x, head = rng.uniform(0.2, 3, 1500).astype("float32"), rng.standard_normal(1500).astype("float32")
    np.testing.assert_allclose(_grads(lambda a: a ** exponent, x, head=head)[0],
                               head * exponent * x.astype("float64") ** (exponent - 1), rtol=2e-6)
    np.testing.assert_allclose(_grads(lambda a: exponent ** a, x, head=head)[0] if exponent > 0 else 0,
                               head * float(exponent) ** x.astype("float64") * np.log(exponent)
                               if exponent > 0 else 0, rtol=2e-5, atol=1e-6)
    b = rng.uniform(-2, 2, 1500).astype("float32")
    ga, gb = _grads(lambda u, v: mx.nd.broadcast_power(u, v), x, b, head=head)
    wide = x.astype("float64") ** b
    np.testing.assert_allclose(ga, head * b * wide / x, rtol=2e-6, atol=1e-7)
    np.testing.assert_allclose(gb, head * wide * np.log(x.astype("float64")), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("reps", [(2, 1), (1, 3), (2, 3), (4, 1, 1)])
def test_tiles_and_repetitions(reps):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((5, 600)).astype("float32")
    head = rng.standard_normal(np.tile(x, reps).shape).astype("float32")
    lead = head.shape[:-2]
    r, c = head.shape[-2] // 5, head.shape[-1] // 600
    parts = head.reshape(lead + (r, 5, c, 600)).astype("float64")
    expected = parts.sum(tuple(range(len(lead))) + (len(lead), len(lead) + 2))
    np.testing.assert_allclose(_grads(lambda a: mx.nd.tile(a, reps), x, head=head)[0], expected, rtol=1e-5, atol=1e-5)
    head = rng.standard_normal((10, 600)).astype("float32")
    np.testing.assert_allclose(_grads(lambda a: mx.nd.repeat(a, 2, axis=0), x, head=head)[0],
                               head.reshape(5, 2, 600).sum(1), rtol=1e-5, atol=1e-5)


def test_broadcast_rows():
    x = np.arange(5, dtype="float32").reshape(5, 1)
    for width in (1, 7, 16, 100, 5000):
        for dtype in ("float32", "float64", "int32", "float16", "uint8"):
            got = mx.nd.broadcast_to(mx.nd.array(x, dtype=dtype), (5, width)).asnumpy()
            np.testing.assert_array_equal(got, np.broadcast_to(x.astype(dtype), (5, width)))
    got = mx.nd.broadcast_to(mx.nd.array(x.reshape(1, 5, 1)), (3, 5, 33)).asnumpy()
    np.testing.assert_array_equal(got, np.broadcast_to(x.reshape(1, 5, 1), (3, 5, 33)))


def _softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("settings", [{}, {"use_ignore": True, "ignore_label": 2},
                                      {"normalization": "valid", "use_ignore": True,
                                       "ignore_label": 2}, {"grad_scale": 3.0},
                                      {"smooth_alpha": 0.1}, {"out_grad": True}])
@pytest.mark.parametrize("multi", [False, True])
def test_softmax_output(settings, multi):
    if multi and "smooth_alpha" in settings:
        return
    rng = np.random.default_rng(3)
    shape = (4, 37, 19) if multi else (23, 37)
    x = rng.standard_normal(shape).astype("float32")
    label = rng.integers(0, 5, (4, 19) if multi else (23,)).astype("float32")
    label.flat[1], label.flat[3] = 40, 4.5   # no class; cut
    head = rng.standard_normal(shape).astype("float32")
    got = _grads(lambda a: mx.nd.SoftmaxOutput(a, mx.nd.array(label), multi_output=multi, **settings), x, head=head)[0]
    classes = np.arange(37).reshape((1, 37) + (1,) * multi)
    hit = classes == np.trunc(np.expand_dims(label, 1))
    alpha = settings.get("smooth_alpha", 0.0)
    expected = _softmax(x.astype("float64"), 1) - np.where(hit, 1 - alpha, alpha / 36)
    if settings.get("use_ignore"):
        expected = expected * (np.expand_dims(label, 1) != 2)
    if settings.get("normalization") == "valid":
        expected /= (label != 2).sum()
    elif multi:
        expected /= 19
    expected *= settings.get("grad_scale", 1.0)
    if settings.get("out_grad"):
        expected *= head
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


def _ctc(x, label):
    """Loss and gradient in logarithms, after Graves et al. (2006)."""
    steps, c = x.shape
    logp = np.log(_softmax(x, 1) + 0.0)
    symbols = [0] + [s for one in label for s in (one, 0)]
    n = len(symbols)

    def run(order, emit):
        table = np.full((steps, n), -np.inf)
        for i, t in enumerate(order):
            for s in range(n):
                if i == 0:
                    v = 0.0 if s < 2 else -np.inf
                else:
                    before = table[order[i - 1]]
                    v = before[s]
                    if s >= 1:
                        v = np.logaddexp(v, before[s - 1])
                    if s >= 2 and emit[s] != 0 and emit[s] != emit[s - 2]:
                        v = np.logaddexp(v, before[s - 2])
                table[t, s] = v + logp[t, emit[s]]
        return table

    alpha = run(list(range(steps)), symbols)
    beta = run(list(range(steps))[::-1], symbols[::-1])[:, ::-1]
    total = np.logaddexp(alpha[-1, -1], alpha[-1, -2]) if n > 1 else alpha[-1, -1]
    if total == -np.inf:
        return 0.0, np.zeros_like(x)
    grad = np.exp(logp)
    for s, k in enumerate(symbols):
        grad[:, k] -= np.exp(alpha[:, s] + beta[:, s] - logp[:, k] - total)
    return -total, grad


@pytest.mark.parametrize("kind", ["usual", "tight", "impossible", "peaked", "masked", "long", "empty"])
def test_ctc_loss(kind):
    rng = np.random.default_rng(4)
    steps, classes = {"tight": (9, 7), "impossible": (5, 7), "long": (400, 9)}.get(kind, (30, 11))
    labels = {"tight": [[1, 2, 3, 4, 5], [1, 1, 2, 2, 3], [6, 5, 4, 3, 2]], "impossible": [[1, 1, 1, 2], [1, 2, 3, 4], [2, 2, 2, 2]],
              "long": [list(rng.integers(1, 9, 60)) for _ in range(3)],
              "empty": [[0, 0], [1, 0], [2, 2]]}.get(kind, [[1, 2, 2, 3], [4, 4, 1, 0],
                                                            [5, 6, 7, 8]])
    x = rng.standard_normal((steps, 3, classes)) * {"peaked": 60, "long": 6}.get(kind, 2)
    if kind == "masked":
        x[:, 0, 1] = -1e4   # a class of the label that never occurs: the loss is finite in logarithms only
        x[3:9, 1, 5] = -1e30
    x = x.astype("float32")
    head = np.array([1.0, -2.0, 0.5], "float32")
    given = mx.nd.array(x)
    given.attach_grad()
    with mx.autograd.record():
        loss = mx.nd.CTCLoss(given, mx.nd.array(labels))
    loss.backward(mx.nd.array(head))
    with np.errstate(divide="ignore"):
        for n, row in enumerate(labels):
            expected, grad = _ctc(x[:, n].astype("float64"), [int(one) for one in row if one != 0])
            if np.isfinite(expected) and not (kind == "masked" and n == 0):
                np.testing.assert_allclose(loss.asnumpy()[n], expected, rtol=2e-5, atol=1e-4)
                np.testing.assert_allclose(given.grad.asnumpy()[:, n], head[n] * grad, rtol=2e-4, atol=2e-5)
    if kind == "masked":
        assert loss.asnumpy()[0] > 9e3 and np.isfinite(given.grad.asnumpy()).all()


def test_index_copy():
    """The gradient is one node, _contrib_backward_index_copy, whose numbers are those of 1.9.1."""
    old, index, new = (mx.sym.var(n) for n in ("old", "index", "new"))
    ex = mx.sym.contrib.index_copy(old, index, new).simple_bind(mx.cpu(), old=(5, 2), index=(2,), new=(2, 2))
    ex.forward(is_train=True, index=np.array([3, 1]))
    ex.backward(mx.nd.arange(1, 11).reshape((5, 2)))
    assert ex.grad_dict["old"].asnumpy().tolist() == [[1, 2], [0, 0], [5, 6], [0, 0], [9, 10]]
    assert ex.grad_dict["new"].asnumpy().tolist() == [[7, 8], [3, 4]]
    assert ex.grad_dict["index"].asnumpy().tolist() == [0, 0]
