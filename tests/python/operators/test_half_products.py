"""Products, transposed convolutions and pooling of half types: which kernel runs depends on the
processor and the size, the result does not."""
import numpy as np
import pytest

from mxnet import autograd, nd

from half_numbers import HALVES, close, drawn, step_of


def matrices(m, n, k, ta, tb, batch, rng):
    return drawn(batch + ((k, m) if ta else (m, k)), rng), drawn(batch + ((n, k) if tb else (k, n)), rng)


def turned(x, yes):
    return x.swapaxes(-1, -2) if yes else x


# beyond and below 2^18 multiplications, from which a library takes them; one row, one column
SIZES = [(96, 80, 72, ()), (33, 129, 65, ()), (1, 640, 512, ()), (640, 1, 512, ()), (8, 9, 10, ()), (33, 31, 70, (5,)), (3, 4, 5, (2,))]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("m,n,k,batch", SIZES)
@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("tb", [False, True])
def test_products_and_their_gradients(dtype, m, n, k, batch, ta, tb):
    rng = np.random.default_rng(m + n)
    a, b = matrices(m, n, k, ta, tb, batch, rng)
    head = drawn(batch + (m, n), rng)
    left, right, g = (x.asnumpy().astype("float64") for x in (a, b, head))
    a, b = a.astype(dtype), b.astype(dtype)
    a.attach_grad()
    b.attach_grad("add")
    b.grad[:] = 1
    with autograd.record():
        y = (nd.batch_dot if batch else nd.dot)(a, b, transpose_a=ta, transpose_b=tb)
    y.backward(head.astype(dtype))
    x, w = turned(left, ta), turned(right, tb)
    close(y, x @ w, dtype)
    close(a.grad, turned(g @ w.swapaxes(-1, -2), ta), dtype)
    # the sum is rounded once, or the product first
    extra = 2 * step_of(dtype) * np.abs(x.swapaxes(-1, -2) @ g).max()
    got, want = b.grad.astype("float32").asnumpy(), turned(x.swapaxes(-1, -2) @ g, tb) + 1
    np.testing.assert_allclose(got, want, rtol=step_of(dtype), atol=extra)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("rows,filters,inputs", [(64, 96, 80), (7, 700, 65), (3, 5, 4), (1030, 3, 129)])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("req", ["write", "add"])
def test_dense_layers(dtype, rows, filters, inputs, bias, req):
    rng = np.random.default_rng(rows)
    x, w, b, head = (drawn(s, rng) for s in [(rows, inputs), (filters, inputs), (filters,), (rows, filters)])
    X, W, B, G = (v.asnumpy().astype("float64") for v in (x, w, b, head))
    given = [v.astype(dtype) for v in ([x, w, b] if bias else [x, w])]
    for v in given:
        v.attach_grad(req)
        v.grad[:] = 2
    with autograd.record():
        y = nd.FullyConnected(*given, num_hidden=filters, no_bias=not bias)
    y.backward(head.astype(dtype))
    close(y, X @ W.T + (B if bias else 0), dtype)
    for v, want in zip(given, [G @ W, G.T @ X, G.sum(0)]):
        if req == "write":
            close(v.grad, want, dtype)
        else:  # the sum is rounded, and perhaps the product before
            got, atol = v.grad.astype("float32").asnumpy(), 2 * step_of(dtype) * np.abs(want).max()
            np.testing.assert_allclose(got, want + 2, rtol=step_of(dtype), atol=atol)


@pytest.mark.parametrize("dtype", HALVES)
def test_one_wanted_gradient(dtype):
    rng = np.random.default_rng(1)
    x, w, b = (drawn(s, rng).astype(dtype) for s in [(64, 80), (96, 80), (96,)])
    b.attach_grad()
    with autograd.record():
        y = nd.FullyConnected(x, w, b, num_hidden=96)
    y.backward()
    close(b.grad, np.full(96, 64), dtype)


def both(f, dtype, shapes, seed=2):
    """Results and gradients in the half type and in float32."""
    found = []
    for kind in (dtype, "float32"):
        rng = np.random.default_rng(seed)
        given = [drawn(s, rng).astype(kind) for s in shapes]
        for a in given:
            a.attach_grad()
        with autograd.record():
            y = f(*given)
        y.backward(drawn(y.shape, rng).astype(kind))
        found.append([y, *(a.grad for a in given)])
    return zip(*found)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "data,weight,attrs",
    [
        ((2, 32, 14, 14), (32, 16, 4, 4), {"kernel": (4, 4), "stride": (2, 2), "pad": (1, 1), "num_filter": 16}),
        ((2, 6, 9, 7), (6, 5, 3, 3), {"kernel": (3, 3), "num_filter": 5}),
        ((2, 8, 30), (8, 4, 5), {"kernel": (5,), "num_filter": 8, "num_group": 2, "stride": (3,), "adj": (1,)}),
        ((1, 4, 5, 6, 7), (4, 3, 2, 2, 2), {"kernel": (2, 2, 2), "stride": (2, 2, 2), "num_filter": 3}),
    ],
)
def test_transposed_convolutions(dtype, bias, data, weight, attrs):
    shapes = [data, weight] + ([(attrs["num_filter"],)] if bias else [])
    for half, full in both(lambda *a: nd.Deconvolution(*a, no_bias=not bias, **attrs), dtype, shapes):
        half, full = half.astype("float32").asnumpy(), full.asnumpy()
        # a bias is added to the rounded sum
        np.testing.assert_allclose(half, full, rtol=2 * step_of(dtype), atol=2 * step_of(dtype) * np.abs(full).max())


POOLS = [
    ((2, 5, 40, 44), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}),
    ((2, 20, 300, 250), {"kernel": (2, 2), "stride": (2, 2)}),
    ((3, 24, 7, 7), {"global_pool": True, "kernel": (1, 1)}),
    ((2, 9, 33), {"kernel": (4,), "stride": (3,), "pooling_convention": "full"}),
    ((1, 3, 9, 10, 11), {"kernel": (2, 3, 2)}),
]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("shape,attrs", POOLS)
@pytest.mark.parametrize("kind", ["max", "avg", "sum", "lp"])
@pytest.mark.parametrize("last", [False, True])
def test_pooling(dtype, shape, attrs, kind, last):
    attrs = dict(attrs, pool_type=kind, **({"p_value": 2} if kind == "lp" else {}))
    if last:
        shape = (shape[0], *shape[2:], shape[1])
        attrs["layout"] = {3: "NWC", 4: "NHWC", 5: "NDHWC"}[len(shape)]
    for half, full in both(lambda x: nd.Pooling(x, **attrs), dtype, [shape]):
        half, full = half.astype("float32").asnumpy(), full.asnumpy()
        # slopes of p-norms are taken at the rounded result
        np.testing.assert_allclose(half, full, rtol=3 * step_of(dtype), atol=step_of(dtype) * np.abs(full).max())


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("last", [False, True])
def test_pooling_twice(dtype, last):
    attrs = {"kernel": (2, 2), "stride": (2, 2), "layout": "NHWC" if last else "NCHW"}
    found = []
    for kind in (dtype, "float32"):
        rng = np.random.default_rng(4)
        x = drawn((2, 12, 12, 20) if last else (2, 20, 12, 12), rng).astype(kind)
        x.attach_grad()
        with autograd.record():
            y = nd.Pooling(x, pool_type="max", **attrs)
            (dx,) = autograd.grad((y * y).sum(), [x], create_graph=True)
            z = (dx * dx).sum()
        z.backward()
        found.append(x.grad.astype("float32").asnumpy())
    np.testing.assert_allclose(*found, rtol=4 * step_of(dtype), atol=step_of(dtype))
