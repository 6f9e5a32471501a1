"""Linear algebra where the cases of op_cases/linalg.py do not reach: gradients along symmetric
directions, degenerate and singular matrices, shapes inferred backwards, parallel batches."""
import numpy as np
import pytest

import mxnet as mx
from mxnet._operators import functions as _op_functions

L = mx.nd.linalg


def array(a, dtype="float64"):
    return mx.nd.array(np.asarray(a), dtype=dtype)


def positive(n, seed=0, batch=()):
    a = np.random.default_rng(seed).uniform(-1, 1, (*batch, n, n))
    return a @ np.swapaxes(a, -1, -2) + np.eye(n)


def symmetric(shape, seed):
    a = np.random.default_rng(seed).uniform(-1, 1, shape)
    return (a + np.swapaxes(a, -1, -2)) / 2


def loss(f, x, weights):
    out = f(x)
    out = out if isinstance(out, (list, tuple)) else [out]
    return sum((o * array(w)).sum() for o, w in zip(out, weights))


def gradient(f, a, weights, order=1, along=None):
    x = array(a)
    x.attach_grad()
    with mx.autograd.record():
        y = loss(f, x, weights)
        if order == 2:
            first = mx.autograd.grad(y, x, create_graph=True, retain_graph=True)
            y = ((first[0] if isinstance(first, list) else first) * array(along)).sum()
    y.backward()
    return x.grad.asnumpy()


def slope(f, h=1e-4):
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def cholesky_upper(x):
    return _op_functions.ndarray_function("_npi_cholesky")(x, lower=False)


@pytest.mark.parametrize("name,f", [
    ("potrf", lambda x: L.potrf(x)), ("upper", cholesky_upper), ("syevd", lambda x: L.syevd(x)),
    ("values", lambda x: L.syevd(x)[1])])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_gradients_along_symmetric_directions(name, f, batch):
    a = positive(4, 3, batch) + np.diag([0, 1, 2, 4.0])
    out = f(array(a))
    out = out if isinstance(out, (list, tuple)) else [out]
    rng = np.random.default_rng(1)
    weights = [rng.uniform(-1, 1, o.shape) for o in out]
    direction, along = symmetric(a.shape, 5), symmetric(a.shape, 6)
    got = gradient(f, a, weights)
    np.testing.assert_allclose(got, np.swapaxes(got, -1, -2), rtol=1e-9, atol=1e-12)
    want = slope(lambda h: float(loss(f, array(a + h * direction), weights).asscalar()))
    np.testing.assert_allclose((got * direction).sum(), want, rtol=1e-7)
    second = gradient(f, a, weights, 2, along)
    want = slope(lambda h: (gradient(f, a + h * direction, weights) * along).sum())
    np.testing.assert_allclose((second * direction).sum(), want, rtol=1e-6)


def test_third_derivatives():
    a = positive(3, 1)
    x = array(a)
    x.attach_grad()

    def thrice(a):
        x = array(a)
        x.attach_grad()
        with mx.autograd.record():
            y = L.potrf(x).sum() + L.inverse(x).sum() + L.slogdet(x)[1].sum() + L.trsm(x, x).sum()
            for _ in range(2):
                y = mx.autograd.grad(y, x, create_graph=True, retain_graph=True)
                y = ((y[0] if isinstance(y, list) else y) * array(np.arange(9.0).reshape(3, 3) + np.arange(9.0).reshape(3, 3).T)).sum()
        y.backward()
        return float(y.asscalar()), x.grad.asnumpy()
    d = symmetric((3, 3), 2)
    np.testing.assert_allclose((thrice(a)[1] * d).sum(), slope(lambda h: thrice(a + h * d)[0]), rtol=1e-6)


def test_equal_eigenvalues_add_nothing():
    for dtype in ("float32", "float64"):
        x = array(np.eye(3), dtype)
        x.attach_grad()
        with mx.autograd.record():
            u, w = L.syevd(x)
            y = (u * array(np.arange(9).reshape(3, 3), dtype)).sum() + (w * array([1, 2, 3], dtype)).sum()
        y.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), np.diag([1, 2, 3]))
    with pytest.raises(mx.MXNetError):
        L.syevd(mx.nd.ones((2, 3)))


@pytest.mark.parametrize("n", [2, 3, 20, 40, 80])
def test_not_a_number_never_hangs(n):
    for place in [(0, 0), (n - 1, 0), (n - 1, n - 1), (n // 2, n // 3)]:
        for bad in (np.nan, np.inf):
            a = positive(n)
            a[place] = bad
            x = array([a, positive(n)])
            u, w = L.syevd(x)
            assert np.isnan(u.asnumpy()[0]).all() and np.isnan(w.asnumpy()[0]).all() and np.isfinite(u.asnumpy()[1]).all()
            for f in (L.inverse, L.potrf, L.potri, L.det, L.slogdet, L.gelqf):
                try:
                    out = f(x)
                    for one in out if isinstance(out, list) else [out]:
                        one.asnumpy()
                except mx.MXNetError as error:
                    assert "[_linalg_" in str(error)


def test_errors_name_the_matrix():
    a = np.array([np.eye(3)] * 5)
    a[3, 2, 2] = 0
    for f, word in [(L.potrf, "positive definite"), (L.potri, "diagonal"), (L.inverse, "singular")]:
        with pytest.raises(ValueError, match=f"matrix 3 of A.*{word}"):
            f(array(a)).wait_to_read()


def test_shapes_in_both_directions():
    def shapes(out, **known):
        arguments, outputs, _ = out.infer_shape(**known)
        return dict(zip(out.list_arguments(), arguments)), outputs
    A, B, C = mx.sym.Variable("A"), mx.sym.Variable("B"), mx.sym.Variable("C")
    S = mx.sym.linalg
    got, out = shapes(S.gemm(A, B, C, transpose_b=True), A=(2, 3, 4), C=(2, 3, 5))
    assert got["B"] == (2, 5, 4) and out == [(2, 3, 5)]
    got, out = shapes(S.trsm(A, B, rightside=True), B=(2, 3, 4))
    assert got["A"] == (2, 4, 4)
    z = mx.sym.Variable("z", shape=(2, 5, 5))
    for f, want in [(S.potrf, (2, 5, 5)), (S.inverse, (2, 5, 5)), (lambda a: S.makediag(a, offset=2), (2, 3)),
                    (lambda a: S.maketrian(a, offset=-1), (2, 10))]:
        assert dict(zip(["A"], (f(A) + z).infer_shape()[0]))["A"] == want
    z = mx.sym.Variable("z", shape=(2, 6))
    for f, want in [(lambda a: S.extractdiag(a, offset=-1), (2, 7, 7)), (lambda a: S.extracttrian(a, offset=1), (2, 4, 4))]:
        assert dict(zip(["A"], (f(A) + z).infer_shape()[0]))["A"] == want
    assert S.det(A, name="x").list_outputs() == ["x_output0"]
    assert S.syevd(A, name="x").list_outputs() == ["x_output0", "x_output1"]


def test_in_place_and_added():
    a = array(positive(4))
    want = L.potrf(a).asnumpy()
    L.potrf(a, out=a)
    np.testing.assert_array_equal(a.asnumpy(), want)
    for f in (L.inverse, L.potri, lambda x, out: L.trsm(x, x, out=out), lambda x, out: L.gemm2(x, x, out=out),
              lambda x, out: L.gemm(x, x, x, out=out), lambda x, out: L.trmm(x, x, out=out), L.syrk):
        a = array(positive(4))
        want = f(a, out=array(np.zeros((4, 4)))).asnumpy()
        f(a, out=a)
        np.testing.assert_allclose(a.asnumpy(), want, rtol=1e-12)


@pytest.mark.parametrize("n", [3, 70])
def test_batches_are_independent_of_their_neighbours(n):
    a = positive(n, 7, (64,)).astype("float32")
    x = array(a, "float32")
    for f in (L.potrf, L.inverse, L.det, L.potri, lambda x: L.trsm(x, x), lambda x: L.syevd(x)[0], lambda x: L.gelqf(x)[0], L.syrk):
        whole = f(x).asnumpy()
        for i in (0, 31, 63):
            np.testing.assert_array_equal(whole[i], f(array(a[i:i + 1], "float32")).asnumpy()[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 65])
def test_eigenvectors_are_accurate(n, dtype):
    """On both sides of the orders where LAPACK takes over: random, scaled, of rank one, with equal
    and with clustered eigenvalues."""
    base = symmetric((4, n, n), n)
    v = np.linspace(-1, 2, n)
    huge = 1e37 if dtype == "float32" else 1e306
    kinds = [base[0], base[1] * huge / n, base[2] / huge * 10, np.outer(v, v), np.zeros((n, n)), np.diag(v[::-1]),
             np.eye(n) + 1e-7 * base[3]]
    a = np.array(kinds).astype(dtype)
    u, w = (out.asnumpy().astype("float64") for out in L.syevd(array(a, dtype)))
    exact = a.astype("float64")
    unit = 40 * np.finfo(dtype).eps
    norm = np.maximum(np.abs(exact).sum(-1).max(-1), np.finfo("float64").tiny)
    assert (np.diff(w) >= 0).all()
    assert (np.abs(exact @ np.swapaxes(u, 1, 2) - np.swapaxes(u, 1, 2) * w[:, None]).max((1, 2)) <= unit * norm).all()
    assert np.abs(u @ np.swapaxes(u, 1, 2) - np.eye(n)).max() <= unit
    np.testing.assert_array_less(np.abs(w - np.linalg.eigvalsh(exact)).max(-1), unit * norm + np.finfo("float64").tiny)
    assert (np.take_along_axis(u, np.abs(u).argmax(-1)[..., None], -1) > 0).all()


@pytest.mark.parametrize("m,n,k", [(64, 128, 200), (29, 50, 600), (500, 41, 17), (24, 31, 1024), (37, 97, 700)])
def test_products_of_a_transposed_factor(m, n, k):
    """As gradients of dense layers' weights have it; with columns that fill no vector, and added to
    what is there."""
    rng = np.random.RandomState(m)
    a, b, before = (rng.uniform(-1, 1, shape).astype("float32") for shape in ((k, m), (k, n), (m, n)))
    want = a.astype("float64").T @ b
    one, two = mx.nd.array(a), mx.nd.array(b)
    tolerance = {"rtol": 1e-5, "atol": 1e-6 * k}
    np.testing.assert_allclose(mx.nd.linalg.gemm2(one, two, transpose_a=True).asnumpy(), want, **tolerance)
    for beta in (1, -0.5):
        out = mx.nd.linalg.gemm(one, two, mx.nd.array(before), transpose_a=True, beta=beta)
        np.testing.assert_allclose(out.asnumpy(), want + beta * before, **tolerance)
