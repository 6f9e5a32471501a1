"""The products of mx.np against NumPy: forms of arguments, dtypes that meet, numbers and lists,
out; op_cases/numpy_linalg.py has shapes, gradients and refusals of the operators."""
import numpy as onp
import pytest

import mxnet as mx
from np_table import check_gradient, fixed
from mxnet.numpy.type_functions import result_type

np = mx.np
RNG = onp.random.default_rng(4)


def draw(*shape):
    return RNG.uniform(-2, 2, shape).astype("float32")


def same(got, want, tol=1e-5):
    want = onp.asarray(want)
    assert isinstance(got, np.ndarray) and got.shape == want.shape
    onp.testing.assert_allclose(got.asnumpy().astype("float64"), want.astype("float64"), rtol=tol, atol=tol)


PAIRS = [("dot", (2, 3), (3, 4)), ("matmul", (5, 2, 3), (3, 4)), ("inner", (2, 3), (4, 3)), ("outer", (2, 2), (3,)), ("vdot", (2, 3), (2,
    3)),
         ("kron", (2, 2), (3,)), ("cross", (4, 3), (3,)), ("tensordot", (2, 3, 4), (3, 4, 2)), ("polyval", (3,), (2, 2))]


@pytest.mark.parametrize("name,a,b", PAIRS)
def test_pairs(name, a, b):
    a, b = draw(*a), draw(*b)
    ours, theirs = getattr(np, name), getattr(onp, name)
    want = theirs(a, b)
    same(ours(np.array(a), np.array(b)), want)
    same(ours(np.array(a), b), want)             # NumPy's array and lists as operands
    same(ours(a.tolist(), np.array(b)), want)
    assert ours(np.array(a), np.array(b)).dtype == onp.float32


@pytest.mark.parametrize("name,a,b", PAIRS)
@pytest.mark.parametrize("types", [("float32", "float64"), ("float16", "float32"), ("int32", "int64"), ("float32", "int32"), ("uint8",
    "int32")])
def test_dtypes_meet(name, a, b, types):
    a, b = (RNG.integers(0, 3, s) for s in (a, b))
    x, y = (np.array(v, dtype=t) for v, t in zip((a, b), types))
    got = getattr(np, name)(x, y)
    same(got, getattr(onp, name)(a, b))
    assert got.dtype == result_type(x, y)


def test_numbers():
    x = np.array([1, 2], dtype="int32")
    assert np.dot(x, 3).dtype == onp.int32
    same(np.dot(x, 3), [3, 6])
    same(np.dot(2.5, np.array([1.0, 2])), [2.5, 5])
    same(np.inner(np.array([1.0, 2]), 2), [2, 4])
    same(np.kron(2, np.array([1.0, 2])), [2, 4])
    same(np.polyval(np.array([1.0, 2]), 3), 5)
    same(np.inner(np.array(2.0), np.ones(3)), onp.full(3, 2))
    with pytest.raises(ValueError):
        np.matmul(np.ones(2), 3.0)


def test_out():
    a, b = draw(2, 2), draw(2, 2)
    x, y = np.array(a), np.array(b)
    for run, want in [(lambda out: np.dot(x, y, out=out), a @ b), (lambda out: np.matmul(x, y, out=out), a @ b),
                      (lambda out: np.einsum("ij,jk", x, y, out=out), a @ b), (lambda out: np.einsum("ij->ji", x, dtype="float64",
                          out=out), a.T)]:
        out = np.zeros((2, 2))
        assert run(out) is out
        same(out, want)
    out = np.zeros(())
    assert np.trace(x, out=out) is out
    same(out, onp.trace(a))
    same(np.trace(np.array(a > 0, dtype=bool)), onp.trace(a > 0))
    out = np.zeros((4, 4))
    assert np.outer(x, y, out=out) is out


def test_tensordot_axes():
    a, b = draw(2, 3, 4), draw(4, 3, 2)
    for axes in [([1, 2], [1, 0]), ((0,), (2,)), (1, 1), (0, -1), ([], []), ([-1], [0])]:
        same(np.tensordot(np.array(a), np.array(b), axes), onp.tensordot(a, b, axes), 1e-4)
    for axes in [([0, 1], [1]), ([0], [0]), ([7], [0]), 9, -1]:
        with pytest.raises(ValueError):
            np.tensordot(np.array(a), np.array(b), axes)


def test_einsum_forms():
    a, b = draw(2, 3), draw(3, 4)
    x, y = np.array(a), np.array(b)
    want = a @ b
    for optimize in (False, True, "greedy", "optimal"):
        same(np.einsum("ij,jk->ik", x, y, optimize=optimize), want)
    same(np.einsum(x, [0, 1], y, [1, 2]), want)
    same(np.einsum(x, [0, 1], y, [1, 2], [2, 0]), want.T)
    same(np.einsum(x, [5, 3], y, [3, 1]), onp.einsum(a, [5, 3], b, [3, 1]))
    same(np.einsum(x, [Ellipsis, 1]), a)
    same(np.einsum("ij->j", x, dtype="float64"), a.sum(0))
    assert np.einsum("ij->j", x, dtype="float64").dtype == onp.float64
    same(np.einsum("ij,j", x, [1, 2, 3]), a @ [1, 2, 3])
    for wrong in [lambda: np.einsum("ij"), lambda: np.einsum(), lambda: np.einsum("ij", y, x), lambda: np.einsum("ijk", x)]:
        with pytest.raises(ValueError, match="einsum"):
            wrong()
    with pytest.raises(TypeError, match="wrong"):
        np.einsum("ij", x, wrong=1)


@pytest.mark.parametrize("text,shapes", [("ij,jk,kl,lm->im", [(8, 30), (30, 4), (4, 50), (50, 6)]), ("bhqd,bhkd->bhqk", [(2, 3, 5, 4), (2,
    3, 6, 4)]),
                                         ("ab,cd,ef,ac,be->df", [(3, 4), (5, 6), (7, 2), (3, 5), (4, 7)]), ("i,i,i,i->", [(9,)] * 4)])
def test_paths(text, shapes):
    values = [draw(*s) for s in shapes]
    same(np.einsum(text, *map(np.array, values)), onp.einsum(text, *[v.astype("float64") for v in values]), 1e-4)


def test_einsum_of_bools_is_or_of_and():
    a, b = RNG.random((6, 300)) < 0.05, RNG.random((300, 5)) < 0.05
    got = np.einsum("ij,jk->ik", np.array(a, dtype="bool"), np.array(b, dtype="bool"))
    assert got.dtype == onp.bool_
    onp.testing.assert_array_equal(got.asnumpy(), onp.einsum("ij,jk->ik", a, b))


def test_integers_wrap():
    a = onp.array([[100, 100]], "int8")
    got = np.matmul(np.array(a, dtype="int8"), np.array(a.T, dtype="int8"))
    assert got.dtype == onp.int8 and int(got[0, 0]) == int((a @ a.T)[0, 0])


def test_interp():
    xp, fp = onp.array([1.0, 2, 4]), onp.array([3.0, 1, 5])
    x = onp.linspace(0, 5, 12).reshape(3, 4)
    for kw in [{}, dict(left=-1, right=9), dict(period=3)]:
        same(np.interp(np.array(x), np.array(xp), np.array(fp), **kw), onp.interp(x.astype("float32"), xp, fp, **kw))
        same(np.interp(2.5, np.array(xp), np.array(fp), **kw), onp.interp(2.5, xp, fp, **kw))
    got = np.interp(x.tolist(), np.array(xp), fp)
    assert got.dtype == onp.float64
    same(got, onp.interp(x, xp, fp))


def test_vecdot_and_cross():
    a, b = draw(2, 4, 3), draw(4, 3)
    same(np.vecdot(np.array(a), np.array(b)), (a * b).sum(-1))
    same(np.vecdot(np.array(a), np.array(a), axis=1), (a * a).sum(1))
    for kw in [dict(axis=2), dict(axisc=0), {}]:
        same(np.cross(np.array(a), np.array(a[::-1].copy()), **kw), onp.cross(a, a[::-1], **kw))


def test_through_the_array_class_and_numpy():
    a, b = draw(2, 3), draw(3, 2)
    x, y = np.array(a), np.array(b)
    same(x @ y, a @ b)
    same(x.dot(y), a @ b)
    same(onp.dot(x, y), a @ b)
    same(onp.linalg.norm(x), onp.linalg.norm(a))


def test_gradients_through_a_hybridized_block():
    class Net(mx.gluon.HybridBlock):
        def forward(self, a, b):
            return np.einsum("ij,kj->ik", np.dot(a, b), np.kron(np.ones((1, 2)), b)[:, :2]) + np.trace(a @ b)

    with mx.util.np_shape(True), mx.util.np_array(True):
        net = Net()
        results = []
        for hybrid in (False, True):
            if hybrid:
                net.hybridize()
            a, b = np.array(draw_fixed(2, 3)), np.array(draw_fixed(3, 2))
            a.attach_grad()
            with mx.autograd.record():
                y = net(a, b)
            y.backward()
            results.append((y.asnumpy(), a.grad.asnumpy()))
        for one, two in zip(*results):
            onp.testing.assert_allclose(one, two, rtol=1e-5)


def draw_fixed(*shape):
    return onp.random.default_rng(9).uniform(-1, 1, shape).astype("float32")


@pytest.mark.parametrize("options", [{}, {"left": -1.0}, {"left": 2.0, "right": 3.0}], ids=str)
def test_gradients_of_interp(options):
    """Inside and beyond the points, with respect to all three."""
    check_gradient(("interp", [fixed([0.3, 1.4, 2.2, -1.0, 5.0]), fixed([0.0, 1.0, 2.0, 4.0]), fixed([1.0, -2.0, 0.5, 3.0])], options))
    check_gradient(("interp", [fixed([[0.3, 1.4], [2.2, 3.9]]), fixed([0.0, 1.0, 2.0, 4.0]), fixed([1.0, -2.0, 0.5, 3.0])], options))
    x = mx.np.array([1.0, 3.0])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.np.interp(2.5, [1, 2, 3], x[0] * mx.np.array([1.0, 2.0, 3.0]))
    y.backward()
    assert y.shape == () and x.grad.tolist() == [2.5, 0]


@pytest.mark.parametrize("m, k, n", [(300, 70, 200), (70, 200, 301), (9, 90, 4001), (4001, 90, 9), (2, 400000, 2), (700, 600, 500)])
def test_products_of_float64_are_shared_among_threads(m, k, n):
    """Rows or columns of middle sizes, with operands as they are and turned; more work than that
    is left to the library."""
    rng = onp.random.default_rng(0)
    a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    want = a @ b
    for turn_a in (False, True):
        for turn_b in (False, True):
            sides = (mx.nd.array(a.T if turn_a else a, dtype="float64"), mx.nd.array(b.T if turn_b else b, dtype="float64"))
            got = mx.nd.dot(*sides, transpose_a=turn_a, transpose_b=turn_b).asnumpy()
            onp.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
