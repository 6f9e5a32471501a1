"""Kernels for many rows of few numbers beside NumPy in float64: thin products and the batch norms
of tiny planes have loops of their own."""
import numpy as np
import pytest

from mxnet import autograd, nd


def close(got, want, dtype="float32"):
    exact = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(got.asnumpy(), want, exact, exact * max(1.0, np.abs(want).max()))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [1, 64, 67, 1000])
def test_thin_products(dtype, rows):
    rs = np.random.RandomState(rows)
    for columns in (1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33):
        for inner in (1, 2, 3, 7):
            a, b = rs.randn(rows, inner).astype(dtype), rs.randn(columns, inner).astype(dtype)
            bias, c = rs.randn(columns).astype(dtype), rs.randn(rows, columns).astype(dtype)
            x, w, v, addend = (nd.array(given, dtype=dtype) for given in (a, b, bias, c))
            product = a.astype("f8") @ b.T.astype("f8")
            close(nd.dot(x, w, transpose_b=True), product, dtype)
            close(nd.dot(x, nd.array(b.T, dtype=dtype)), product, dtype)
            close(nd.FullyConnected(x, w, v, num_hidden=columns), product + bias, dtype)
            close(nd.FullyConnected(x, w, no_bias=True, num_hidden=columns), product, dtype)
            want = 0.5 * product - 2 * c
            close(nd.linalg.gemm(x, w, addend, transpose_b=True, alpha=0.5, beta=-2.), want, dtype)
            nd.linalg.gemm(x, w, addend, transpose_b=True, alpha=0.5, beta=-2., out=addend)
            close(addend, want, dtype)


def test_many_small_products_with_an_addend():
    rs = np.random.RandomState(3)
    a, b, c = rs.randn(50, 2, 3), rs.randn(50, 3, 4), rs.randn(50, 2, 4)
    got = nd.linalg.gemm(*(nd.array(v, dtype="float64") for v in (a, b, c)), alpha=3., beta=.25)
    close(got, 3 * (a @ b) + .25 * c, "float64")
    turned = nd.linalg.gemm(*(nd.array(v, dtype="float64") for v in (a[0].T.copy(), b[0], c[0])), transpose_a=True, alpha=3., beta=.25)
    close(turned, 3 * (a[0] @ b[0]) + .25 * c[0], "float64")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_a_product_of_vectors(dtype):
    rs = np.random.RandomState(0)
    a, b = rs.randn(100_003).astype(dtype), rs.randn(100_003).astype(dtype)
    x, y = nd.array(a, dtype=dtype), nd.array(b, dtype=dtype)
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        out = nd.dot(x, y)
    out.backward(nd.array([-1.5], dtype=dtype))
    close(x.grad, -1.5 * b, dtype)
    close(y.grad, -1.5 * a, dtype)


EPS = float(np.float32(1e-3))     # as the operator has it


def batch_norm(x, g, gamma, beta, relu):
    """The result, the batch's moments, and the gradients of x, gamma and beta, in float64."""
    axes, shape, n = (0, 2, 3), (1, -1, 1, 1), x.size // x.shape[1]
    mean, var = x.mean(axes), x.var(axes)
    inverse = 1 / np.sqrt(var + EPS)
    normal = (x - mean.reshape(shape)) * inverse.reshape(shape)
    out = normal * gamma.reshape(shape) + beta.reshape(shape)
    if relu:
        g = g * (out > 0)
        out = np.maximum(out, 0)
    dbeta, dgamma = g.sum(axes), (g * normal).sum(axes)
    dx = (gamma * inverse).reshape(shape) * (g - dbeta.reshape(shape) / n - normal * dgamma.reshape(shape) / n)
    return out, mean, var, dx, dgamma, dbeta


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("shape", [(8, 3, 1, 2), (40, 5, 2, 2), (9, 600, 1, 3), (33, 2, 4, 8), (7, 3, 2, 2), (16, 3, 3, 11)])
def test_batch_norm_of_small_planes(shape, relu):
    rs = np.random.RandomState(1)
    operator = nd.contrib.BatchNormWithReLU if relu else nd.BatchNorm
    x, g = rs.randn(*shape) + 3, rs.randn(*shape)
    gamma, beta = rs.rand(shape[1]) + .5, rs.randn(shape[1])
    given = [nd.array(v, dtype="float64") for v in (x, gamma, beta)]
    moving = [nd.zeros(shape[1], dtype="float64"), nd.ones(shape[1], dtype="float64")]
    for array in given:
        array.attach_grad()
    with autograd.record():
        out = operator(*given, *moving, fix_gamma=False, momentum=0.5)
    out.backward(nd.array(g, dtype="float64"))
    want, mean, var, *gradients = batch_norm(x, g, gamma, beta, relu)
    close(out, want, "float64")
    close(moving[0], mean / 2, "float64")
    close(moving[1], (1 + var) / 2, "float64")
    for array, gradient in zip(given, gradients):
        close(array.grad, gradient, "float64")
    plain = operator(*given, *moving, fix_gamma=False)
    scaled = (x - mean.reshape(1, -1, 1, 1) / 2) / np.sqrt((1 + var) / 2 + EPS).reshape(1, -1, 1, 1)
    scaled = scaled * gamma.reshape(1, -1, 1, 1) + beta.reshape(1, -1, 1, 1)
    close(plain, np.maximum(scaled, 0) if relu else scaled, "float64")


@pytest.mark.parametrize("target", [(3, 4), (1, 5), (90, 70)])
def test_affine_grids(target):
    theta = np.random.RandomState(2).randn(5, 6)
    v, u = (a.ravel() for a in np.meshgrid(*(np.linspace(-1, 1, n) if n > 1 else np.zeros(1) for n in target), indexing="ij"))
    want = np.einsum("nij,jk->nik", theta.reshape(5, 2, 3), np.stack([u, v, np.ones_like(u)])).reshape(5, 2, *target)
    close(nd.GridGenerator(nd.array(theta, dtype="float64"), transform_type="affine", target_shape=target), want, "float64")
    close(nd.GridGenerator(nd.array(theta), transform_type="affine", target_shape=target), want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("name", ["sum", "max", "min", "prod", "nansum", "norm"])
def test_reductions_of_short_rows(name, dtype):
    if dtype == "int64" and name in ("nansum", "norm"):
        pytest.skip("of floats")
    rs = np.random.RandomState(5)
    reference = {"norm": lambda x: np.sqrt((x * x).sum(1))}.get(name, lambda x: getattr(np, name)(x, axis=1))
    for rows in (1, 7, 19):
        for columns in (1, 2, 3, 7, 8, 9, 15, 23, 24, 25, 31, 33, 47, 63, 65):
            x = rs.uniform(-1.2, 1.2, (rows, columns)).astype("f8") if dtype != "int64" else rs.randint(-2, 3, (rows, columns))
            if name == "nansum":
                x[0, columns // 2] = np.nan
            got = getattr(nd, name)(nd.array(x, dtype=dtype), axis=1)
            close(got, reference(x.astype(dtype).astype("f8")), "float64" if dtype == "int64" else dtype)
            if dtype != "int64" and name in ("max", "min", "sum"):
                x[-1, -1] = np.nan
                assert np.isnan(getattr(nd, name)(nd.array(x, dtype=dtype), axis=1).asnumpy()[-1])
