"""mx.np.linalg against NumPy in float64: values, gradients (also of gradients), refusals; and
operators that op_cases does not cover: _npi_lstsq, and _npi_backward_polyval, the gradient of
polyval."""
import numpy as onp
import pytest

import mxnet as mx

np, L = mx.np, mx.np.linalg
RNG = onp.random.default_rng(3)


def draw(*shape):
    return RNG.uniform(-2, 2, shape)


def array(value, dtype="float64"):
    return np.array(value, dtype=dtype)


def same(got, want, tol=1e-9):
    want = onp.asarray(want)
    assert got.shape == want.shape
    onp.testing.assert_allclose(got.asnumpy(), want, rtol=tol, atol=tol)


def many(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def check_gradient(function, *values, symmetric=False, second=True):
    """The derivative along one direction against differences, and that of that."""
    rng = onp.random.default_rng(5)
    weights = [rng.uniform(-1, 1, y.shape) for y in many(function(*map(array, values)))]

    def along():
        d = [onp.asarray(rng.uniform(-1, 1, onp.shape(v))) for v in values]
        return [v + onp.swapaxes(v, -1, -2) for v in d] if symmetric else d

    def loss(arrays):
        return sum((y * array(w)).sum() for y, w in zip(many(function(*arrays)), weights))

    def moved(by, step):
        return [array(v + step * d) for v, d in zip(values, by)]

    arrays = [array(v) for v in values]
    for a in arrays:
        a.attach_grad()
    with mx.autograd.record():
        y = loss(arrays)
    y.backward()
    first, step = along(), 1e-6
    want = (float(loss(moved(first, step)).asnumpy()) - float(loss(moved(first, -step)).asnumpy())) / (2 * step)
    got = sum((a.grad.asnumpy() * d).sum() for a, d in zip(arrays, first))
    assert abs(got - want) <= 1e-5 * (1 + abs(want)), (got, want)
    if not second:
        return

    def slope(arrays):
        with mx.autograd.record():
            grads = mx.autograd.grad(loss(arrays), arrays, create_graph=True, retain_graph=True)
            return sum((g * array(d)).sum() for g, d in zip(grads, first))

    with mx.autograd.record():
        y = slope(arrays)
    y.backward()
    by, step = along(), 1e-5
    want = (float(slope(moved2(values, by, step)).asnumpy()) - float(slope(moved2(values, by, -step)).asnumpy())) / (2 * step)
    got = sum((a.grad.asnumpy() * d).sum() for a, d in zip(arrays, by))
    assert abs(got - want) <= 1e-3 * (1 + abs(want)), (got, want)


def moved2(values, by, step):
    arrays = [array(v + step * d) for v, d in zip(values, by)]
    for a in arrays:
        a.attach_grad()
    return arrays


def mirrored(*shape):
    a = draw(*shape)
    return a + onp.swapaxes(a, -1, -2)


def regular(*shape):
    return draw(*shape) + 4 * onp.eye(shape[-1])


@pytest.mark.parametrize("lead", [(), (2,)])
@pytest.mark.parametrize("size", [(2, 3), (3, 2), (3, 3)])
def test_gradients_of_factors(lead, size):
    check_gradient(L.svd, draw(*lead, *size))
    check_gradient(L.svdvals, draw(*lead, *size))
    check_gradient(L.qr, draw(*lead, *size))
    check_gradient(L.pinv, draw(*lead, *size))


@pytest.mark.parametrize("lead", [(), (2,)])
def test_gradients_of_eigenvalues(lead):
    for uplo in "LU":
        check_gradient(lambda a, u=uplo: L.eigh(a, u), mirrored(*lead, 3, 3), symmetric=True)
        check_gradient(lambda a, u=uplo: L.eigvalsh(a, u), mirrored(*lead, 3, 3), symmetric=True)
    general = onp.diag([1.0, 2, 3]) + 0.1 * draw(*lead, 3, 3)
    check_gradient(L.eig, general)
    check_gradient(L.eigvals, general)


@pytest.mark.parametrize("lead", [(), (2,)])
def test_gradients_of_solutions(lead):
    a = regular(*lead, 3, 3)
    check_gradient(L.solve, a, draw(*lead, 3, 2))
    check_gradient(L.solve, a, draw(*lead, 3))
    for f in (L.inv, L.det, L.slogdet):
        check_gradient(f, a)
    check_gradient(L.cholesky, a @ onp.swapaxes(a, -1, -2), symmetric=True)


def test_gradients_of_tensors():
    check_gradient(L.tensorinv, draw(2, 2, 4))
    check_gradient(lambda a: L.tensorinv(a, ind=1), draw(6, 2, 3))
    check_gradient(L.tensorsolve, draw(2, 3, 6), draw(2, 3), second=False)
    check_gradient(lambda a, b: L.tensorsolve(a, b, axes=(0,)), draw(6, 2, 3), draw(2, 3), second=False)


@pytest.mark.parametrize("types", [("float32", "bool"), ("float64", "float32"), ("float32", "float64"), ("int32", "float32")])
@pytest.mark.parametrize("function", ("solve", "tensorsolve"))
def test_gradients_of_equations_of_mixed_types(function, types):
    matrix, right = onp.float64([[2, 1, 0], [0, 4, 0], [1, 0, 5]]), onp.float64([1, 0, 1])
    inputs = [array(value, dtype) for value, dtype in zip((matrix, right), types)]
    floats = [x for x in inputs if x.dtype.kind == "f"]
    for x in floats:
        x.attach_grad()
    with mx.autograd.record():
        result = getattr(L, function)(*inputs)
    result.backward()
    solution, back = onp.linalg.solve(matrix, right), onp.linalg.solve(matrix.T, onp.ones(3))
    same(result.astype("float64"), solution, 1e-5)
    for x in floats:
        assert x.grad.dtype == x.dtype
        same(x.grad.astype("float64"), -onp.outer(back, solution) if x is inputs[0] else back, 1e-5)


def test_second_gradient_of_a_tensorsolve_in_b():
    a = array(draw(2, 3, 6))
    check_gradient(lambda b: L.tensorsolve(a, b) ** 2, draw(2, 3))


def test_gradient_where_singular_values_are_zero():
    a = array([[1.0, 2], [2, 4]])
    a.attach_grad()
    with mx.autograd.record():
        y = L.norm(a, "nuc")
    y.backward()
    assert onp.isfinite(a.grad.asnumpy()).all()


ORDERS = [None, 1, 2, 3, 0.5, 0, -1, -2, onp.inf, -onp.inf]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms_of_vectors(order, keepdims):
    for shape, axis in [((4,), None), ((2, 3), 1), ((2, 3), 0), ((2, 3, 4), -2), ((4,), 0), ((2, 3), (1,))]:
        x = draw(*shape)
        same(L.norm(array(x), order, axis, keepdims), onp.linalg.norm(x, order, axis, keepdims))
        if axis is not None:
            same(L.vector_norm(array(x), ord=order, axis=axis, keepdims=keepdims), onp.linalg.norm(x, order, axis, keepdims))
    x = draw(2, 3)
    same(L.vector_norm(array(x), ord=order), onp.linalg.norm(x.ravel(), order))
    same(L.vector_norm(array(x), ord=order, axis=(0, 1), keepdims=True), onp.linalg.norm(x.ravel(), order).reshape(1, 1))
    if order not in (0, None):
        check_gradient(lambda v: L.norm(v, order, 1), draw(2, 3), second=order in (2, 3))


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, onp.inf, -onp.inf])
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms_of_matrices(order, keepdims):
    for shape, axis in [((2, 3), None), ((2, 3, 4), (0, 1)), ((2, 3, 4), (2, 0)), ((2, 3, 4), (-1, -2)), ((3, 3), (1, 0))]:
        x = draw(*shape)
        same(L.norm(array(x), order, axis, keepdims), onp.linalg.norm(x, order, axis, keepdims))
    x = draw(2, 3, 3)
    same(L.matrix_norm(array(x), order or "fro", keepdims=keepdims), onp.linalg.norm(x, order, (1, 2), keepdims))
    check_gradient(lambda v: L.norm(v, order, (0, 1)), draw(3, 2), second=False)


def test_norms_of_everything():
    for shape in [(), (3,), (2, 3), (2, 3, 4), (0,), (2, 0)]:
        x = draw(*shape)
        same(L.norm(array(x)), onp.linalg.norm(x.ravel()))
        same(L.norm(array(x), keepdims=True), onp.linalg.norm(x.ravel()).reshape((1,) * x.ndim))
    same(L.norm(array([3, 4], "int32")), 5.0)
    assert L.norm(array([3, 4], "int32")).dtype == onp.float64
    assert L.norm(array([3, 4], "float16")).dtype == onp.float16
    for wrong in [lambda: L.norm(array(draw(2, 3, 4)), 2), lambda: L.norm(array(draw(3)), "fro"), lambda: L.norm(array(draw(2, 3)), "x"),
                  lambda: L.norm(array(draw(2, 3)), axis=2), lambda: L.norm(array(draw(2, 3)), axis=(0, 0)), lambda: L.norm(array(draw(2,
                      3)), 7, (0, 1))]:
        with pytest.raises(ValueError, match=r"\[norm\]") as error:
            wrong()
        assert isinstance(error.value, mx.MXNetError)       # which 2.0 raises


def test_wrong_arguments_are_errors_of_the_library():
    """2.0 raises MXNetError for most of these, NumPy ValueError."""
    x, cube = array(draw(2, 3)), array(draw(2, 3, 3))
    for wrong in [lambda: np.tensordot(x, x, ([0], [0, 1])), lambda: np.einsum("", *[]), lambda: L.qr(x, "x"), lambda: L.eigh(cube, "x"),
                  lambda: L.matrix_power(x, 2), lambda: L.multi_dot([x]), lambda: L.multi_dot([cube, x])]:
        with pytest.raises(mx.MXNetError) as error:
            wrong()
        assert isinstance(error.value, ValueError)
    with pytest.raises(L.LinAlgError):
        L.matrix_power(x, 2)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (2, 3, 5), (0, 3), (2, 5, 0)])
def test_factors(shape):
    a = draw(*shape)
    u, s, v = L.svd(array(a))
    same(np.matmul(u * np.expand_dims(s, -2), v), a)
    same(L.svdvals(array(a)), onp.linalg.svd(a, compute_uv=False))
    q, r = L.qr(array(a))
    same(np.matmul(q, r), a)
    same(L.qr(array(a), "r"), r.asnumpy())
    if a.size:
        q, r = L.qr(array(a), "complete")
        m = shape[-2]
        assert q.shape == shape[:-2] + (m, m) and r.shape == shape
        same(np.matmul(q, r), a)
        same(np.matmul(np.swapaxes(q, -1, -2), q), onp.broadcast_to(onp.eye(m), q.shape))


AWKWARD = {"normal": lambda a, m, n: a, "tiny": lambda a, m, n: a * 1e-36, "huge": lambda a, m, n: a * 1e36,
           "tiny squares": lambda a, m, n: a * 1e-300, "huge squares": lambda a, m, n: a * 1e300,
           "equal rows": lambda a, m, n: onp.ones((m, n)), "zeros": lambda a, m, n: a * 0, "identity": lambda a, m, n: onp.eye(m, n),
           "rank 1": lambda a, m, n: a[:, :1] * onp.arange(1, n + 1) * 1e3}


@pytest.mark.parametrize("kind", AWKWARD)
@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (16, 16), (65, 65), (33, 129), (129, 33), (130, 128), (20, 300), (200, 200)])
def test_factors_of_awkward_matrices(shape, kind):
    m, n = shape
    dtype = "float64" if "squares" in kind else "float32"
    unit = onp.finfo(dtype).eps * max(shape)
    a = AWKWARD[kind](draw(*shape), m, n).astype(dtype)
    size = max(float(abs(a).max()), float(onp.finfo(dtype).tiny))
    wide = onp.asarray(a, "longdouble") / size

    def orthonormal(x):
        onp.testing.assert_allclose(x.T @ x, onp.eye(x.shape[1]), atol=4 * unit)

    q, r = (x.asnumpy().astype("longdouble") for x in mx.np.linalg.qr(array(a, dtype)))
    orthonormal(q)
    onp.testing.assert_allclose(q @ (r / size), wide, atol=4 * unit * max(shape) ** 0.5)
    u, s, v = (x.asnumpy().astype("longdouble") for x in mx.np.linalg.svd(array(a, dtype)))
    orthonormal(u)
    orthonormal(v.T)
    norm = max(1, float(s[0] / size))
    onp.testing.assert_allclose(u * (s / size) @ v, wide, atol=4 * unit * norm)
    assert (onp.diff(s) <= 0).all()
    onp.testing.assert_allclose(mx.np.linalg.svdvals(array(a, dtype)).asnumpy() / size, s / size, atol=4 * unit * norm)
    if m == n:
        mirror = (onp.tril(wide) + onp.tril(wide, -1).T)
        w, x = (x.asnumpy().astype("longdouble") for x in mx.np.linalg.eigh(array((mirror * size).astype(dtype), dtype)))
        orthonormal(x)
        norm = max(1, float(abs(w).max() / size))
        onp.testing.assert_allclose(x * (w / size) @ x.T, mirror, atol=4 * unit * norm)
        assert (onp.diff(w) >= 0).all()


def test_eigenvalues():
    a = draw(2, 4, 4)
    for uplo, upper in [("L", False), ("U", True), ("l", False), ("u", True)]:
        w, v = L.eigh(array(a), uplo)
        same(w, onp.linalg.eigvalsh(a, uplo))
        for other in (L.eigh(array(a), upper=upper), L.eigh(array(a), upper)):
            same(other[1], v.asnumpy())
        same(L.eigvalsh(array(a), upper), w.asnumpy())
    for n in (32, 33, 64, 65):   # beyond some of these LAPACK is asked
        large = mirrored(n, n)
        same(L.eigvalsh(array(large)), onp.linalg.eigvalsh(large))
        same(L.eigvalsh(array(large, "float32")), onp.linalg.eigvalsh(large), 1e-4)
    general = onp.triu(a)
    same(L.eigvals(array(general)), onp.linalg.eigvals(general))
    w, v = L.eig(array(general))
    same(np.matmul(array(general), v), v.asnumpy() * w.asnumpy()[:, None, :])
    with pytest.raises(ValueError, match="not real"):
        L.eigvals(array([[0, -1], [1, 0]])).asnumpy()
    with pytest.raises(ValueError, match="UPLO is 'X'"):
        L.eigh(array(a), "X")


def test_nan_gives_nan():
    bad = array([[onp.nan, 1], [1, 2]])
    for result in [*L.svd(bad), *L.eigh(bad), *L.eig(bad), L.pinv(bad)]:
        assert onp.isnan(result.asnumpy()).all()
    with pytest.raises(ValueError, match="NaN"):
        L.lstsq(bad, array([1, 2]))


def test_inverses_and_determinants():
    a = regular(2, 3, 3)
    same(L.inv(array(a)), onp.linalg.inv(a))
    same(L.det(array(a)), onp.linalg.det(a))
    for got, want in zip(L.slogdet(array(a)), onp.linalg.slogdet(a)):
        same(got, want)
    positive = a @ onp.swapaxes(a, -1, -2)
    same(L.cholesky(array(positive)), onp.linalg.cholesky(positive))
    same(L.cholesky(array(positive), upper=True), onp.swapaxes(onp.linalg.cholesky(positive), -1, -2))
    for wrong in (L.inv, L.cholesky):
        with pytest.raises(ValueError):
            wrong(array([[0, 0], [0, 0]])).asnumpy()
    same(L.pinv(array(a[:, :2])), onp.linalg.pinv(a[:, :2]))
    same(L.pinv(array(a), array([0.1, 0.9])), onp.linalg.pinv(a, onp.array([0.1, 0.9])))
    same(L.pinv(array(a), rtol=0.5), onp.linalg.pinv(a, 0.5))
    same(L.tensorinv(array(a.reshape(2, 3, 3)[0]), ind=1), onp.linalg.inv(a[0]))


def test_solutions():
    a = regular(2, 3, 3)
    for b in (draw(2, 3, 2), draw(3, 2)[None], draw(5, 1, 3, 2)):
        same(L.solve(array(a), array(b)), onp.linalg.solve(a, b))
    b = draw(4, 3, 2)
    same(L.solve(array(a[0]), array(b)), onp.linalg.solve(a[0], b))
    same(L.solve(array(a), array(a[:, 0])), onp.linalg.solve(a, a[:, 0][..., None])[..., 0])
    same(L.solve(array(a), array(a[0, 0])), onp.linalg.solve(a, onp.broadcast_to(a[0, 0], (2, 3))[..., None])[..., 0])
    assert L.solve(array(a, "float32"), array(a, "int32")).dtype == onp.float64
    with pytest.raises(ValueError, match="singular"):
        L.solve(array([[1, 2], [2, 4]]), array([1, 2])).asnumpy()
    t = draw(2, 3, 6)
    same(L.tensorsolve(array(t), array(t[..., 0])), onp.linalg.tensorsolve(t, t[..., 0]), 1e-7)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (0, 2), (2, 0)])
@pytest.mark.parametrize("rcond", ["warn", -1, None, 0.3])
def test_lstsq(shape, rcond):
    a = draw(*shape)
    for b in (draw(shape[0]), draw(shape[0], 2)):
        got = L.lstsq(array(a), array(b), rcond)
        want = onp.linalg.lstsq(a, b, -1 if rcond == "warn" else rcond)
        assert isinstance(got, tuple) and got[2].dtype == onp.int64
        for g, w in zip(got, want):
            same(g, w)
    x = array(a)
    x.attach_grad()
    with mx.autograd.record():
        loss = L.lstsq(x, array(draw(shape[0])))[0].sum()
    loss.backward()
    assert x.grad.shape == shape and onp.isfinite(x.grad.asnumpy()).all()
    with pytest.raises(ValueError, match=r"\[_npi_lstsq\] A has shape"):
        L.lstsq(array(a), array(draw(shape[0] + 1)))


def test_ranks():
    a = onp.array([[[10.0, 0], [0, 1]], [[1, 2], [2, 4]]])
    for kw in [{}, dict(tol=2.0), dict(tol=array([20, 0]))]:
        want = onp.linalg.matrix_rank(a, **{k: v.asnumpy() if hasattr(v, "asnumpy") else v for k, v in kw.items()})
        same(L.matrix_rank(array(a), **kw), want)
    same(L.matrix_rank(array(a), rtol=2.0), [1, 1])
    for v in (onp.zeros(3), onp.ones(3), onp.array(2.0), onp.zeros((0, 3))):
        same(L.matrix_rank(array(v)), onp.linalg.matrix_rank(v))


def test_made_of_others():
    a = regular(3, 3)
    for p in (None, 2, -2, 1, -1, onp.inf, -onp.inf, "fro", "nuc"):
        same(L.cond(array(a), p), onp.linalg.cond(a, p))
    for n in (0, 1, 2, 3, 7, -1, -3):
        same(L.matrix_power(array(a), n), onp.linalg.matrix_power(a, n))
        same(L.matrix_power(array([a, 2 * a]), n), onp.linalg.matrix_power(onp.array([a, 2 * a]), n))
    for shapes in ([(2, 3), (3, 4), (4, 2)], [(3,), (3, 4), (4,)], [(2, 3), (3,)], [(3,), (3, 2)], [(2, 3), (3, 4), (4, 5), (5, 2)]):
        matrices = [draw(*s) for s in shapes]
        same(L.multi_dot([array(m) for m in matrices]), onp.linalg.multi_dot(matrices))
    b = draw(2, 3, 4)
    same(L.matrix_transpose(array(b)), onp.swapaxes(b, 1, 2))
    for k in (0, 1, -1):
        same(L.diagonal(array(b), offset=k), onp.diagonal(b, k, 1, 2))
        same(L.trace(array(b), offset=k), onp.trace(b, k, 1, 2))
    same(L.vecdot(array(b), array(b)), (b * b).sum(-1))
    same(L.vecdot(array(b), array(b), axis=0), (b * b).sum(0))
    same(L.cross(array(b[..., :3]), array([1, 2, 3])), onp.cross(b[..., :3], [1.0, 2, 3]))
    same(L.matmul(array(a), array(a)), a @ a)
    with pytest.raises(ValueError):
        L.matrix_power(array(b), 2)
    with pytest.raises(TypeError):
        L.matrix_power(array(a), 1.5)
    with pytest.raises(ValueError):
        L.multi_dot([array(a)])
    for shapes in ([(2, 3), (1, 4)], [(2, 1), (3, 4)], [(3,), (1, 2), (2,)]):     # nothing is repeated
        with pytest.raises(ValueError, match="multi_dot.*columns"):
            L.multi_dot([array(draw(*s)) for s in shapes])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64", "bool"])
def test_integers_are_computed_in_float64(dtype):
    a = onp.array([[2, 1], [0, 1]]) if dtype != "bool" else onp.eye(2)
    x = array(a, dtype)
    for f in (L.inv, L.det, L.eigvals, L.eigvalsh, L.pinv, L.norm, L.svdvals, L.matrix_norm):
        assert f(x).dtype == onp.float64, f
    same(L.inv(x), onp.linalg.inv(a))
    for f in (L.svd, L.qr, L.eigh, L.eig, L.slogdet):
        assert all(r.dtype == onp.float64 for r in f(x)), f
    assert L.matrix_rank(x).dtype == onp.int64
    same(L.tensorinv(x, ind=1), onp.linalg.inv(a))


def test_gradient_of_mixed_dtypes_has_each_dtype():
    a, b = array(regular(3, 3), "float32"), array(draw(3), "float64")
    a.attach_grad()
    b.attach_grad()
    with mx.autograd.record():
        y = L.solve(a, b).sum()
    y.backward()
    assert a.grad.dtype == onp.float32 and b.grad.dtype == onp.float64
    same(b.grad, onp.linalg.solve(a.asnumpy().T, onp.ones(3)), 1e-5)


def test_float16_is_refused():
    for f in (L.svd, L.qr, L.eigh, L.inv, L.pinv):
        with pytest.raises(mx.MXNetError, match="float16"):
            f(array(onp.eye(2), "float16"))


def test_symbols():
    a = mx.sym.np.Variable("a") if hasattr(mx.sym.np, "Variable") else mx.sym.var("a").as_np_ndarray()
    value = array(regular(3, 3), "float32")
    for build in (L.inv, L.det, lambda s: L.norm(s), lambda s: L.svd(s)[1], lambda s: L.norm(s, axis=1), lambda s: L.norm(s, 1, (0, 1))):
        out = build(a)
        ran = out.bind(mx.cpu(), {"a": value}).forward()[0] if hasattr(out, "bind") else out
        same(ran, build(value).asnumpy(), 1e-5)


def test_gradients_of_polyval():
    check_gradient(np.polyval, draw(4), draw(2, 3))


@pytest.mark.parametrize("shapes", [((4, 3), (4, 2)), ((4, 3), (4,)), ((2, 3), (2,)), ((3, 3), (3, 2))], ids=str)
def test_gradients_of_lstsq(shapes):
    """Of the solution and the residuals, with respect to both operands, by finite differences."""
    rng = onp.random.default_rng(2)
    values = [rng.normal(size=shape) for shape in shapes]

    def total(a, b):
        x, residuals, _, _ = mx.np.linalg.lstsq(a, b, rcond=None)
        return (x * x * 0.5 + x).sum() + (residuals * 3).sum()
    arrays = [mx.np.array(v, dtype="float64") for v in values]
    outside = mx.np.linalg.lstsq(*arrays, rcond=None)
    for x in arrays:
        x.attach_grad()
    with mx.autograd.record():
        inside = mx.np.linalg.lstsq(*arrays, rcond=None)
        loss = total(*arrays)
    loss.backward()
    for one, other in zip(outside, inside):
        assert one.shape == other.shape and one.dtype == other.dtype
        onp.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-9, atol=1e-12)
    for k, x in enumerate(arrays):
        for i in onp.ndindex(*values[k].shape):
            sums = []
            for step in (1e-5, -1e-5):
                moved = [v.copy() for v in values]
                moved[k][i] += step
                sums.append(float(total(*(mx.np.array(v, dtype="float64") for v in moved))))
            onp.testing.assert_allclose(x.grad.asnumpy()[i], (sums[0] - sums[1]) / 2e-5, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shapes", [((5, 3), (5, 2)), ((5, 3), (5,)), ((3, 5), (3,)), ((4, 4), (4, 2))], ids=str)
@pytest.mark.parametrize("rank_lost", [False, True])
def test_lstsq_in_hybridized_blocks(shapes, rank_lost):
    """Results and gradients are those of the block that is not hybridized."""
    class Solve(mx.gluon.HybridBlock):
        def forward(self, a, b):
            return mx.np.linalg.lstsq(a, b, rcond=None)

    rng = onp.random.default_rng(3)
    values = [rng.normal(size=shape) for shape in shapes]
    if rank_lost:
        values[0][:, -1] = values[0][:, 0]
    seen = []
    for hybridized in (False, True):
        block, arrays = Solve(), [mx.np.array(v, dtype="float64") for v in values]
        if hybridized:
            block.hybridize()
        for a in arrays:
            a.attach_grad()
        with mx.autograd.record():
            x, residuals, rank, s = block(*arrays)
            loss = (x * x * 0.5 + x).sum() + (residuals * 3).sum()
        loss.backward()
        seen.append([x, residuals, rank, s] + [a.grad for a in arrays])
    for one, other in zip(*seen):
        assert one.shape == other.shape and one.dtype == other.dtype
        onp.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-8, atol=1e-10)


def test_errors_of_matrices_have_a_class():
    for call in (lambda: mx.np.linalg.inv(mx.np.zeros((2, 2))), lambda: mx.np.linalg.cholesky(-mx.np.eye(2)),
                 lambda: mx.np.linalg.solve(mx.np.zeros((2, 2)), mx.np.ones(2)), lambda: mx.np.linalg.inv(mx.np.ones((2, 3)))):
        with pytest.raises(mx.np.linalg.LinAlgError):
            call().asnumpy()


@pytest.mark.parametrize("name", ["inv", "svd", "svdvals", "qr", "eigh", "eigvalsh", "eig", "eigvals", "cholesky", "det", "slogdet", "pinv",
                                  "matrix_rank", "cond"])
def test_halves_are_of_the_wrong_type(name):
    with pytest.raises(TypeError, match="float16.*accepted: float32, float64"):
        getattr(np.linalg, name)(np.eye(2, dtype="float16"))
