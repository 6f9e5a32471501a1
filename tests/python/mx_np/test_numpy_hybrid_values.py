"""Hybridized blocks of mx.np arrays whose results have shapes that depend on values, or that read
no argument."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from mxnet import np as mnp

pytestmark = pytest.mark.usefixtures("numpy_semantics")


class Function(gluon.HybridBlock):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def hybrid(function):
    block = Function(function)
    block.hybridize()
    return block


def draws():
    """Arrays of one shape with other numbers of positive elements."""
    rng = onp.random.RandomState(0)
    return [rng.randint(-3, 4, (3, 4)).astype("float32") for _ in range(3)]


OF_VALUES = {
    "mask": (lambda x: x[x > 0], lambda x: x[x > 0]),
    "nonzero": (mnp.nonzero, onp.nonzero),
    "where": (lambda x: mnp.where(x > 0), lambda x: onp.where(x > 0)),
    "argwhere": (mnp.argwhere, onp.argwhere),
    "flatnonzero": (mnp.flatnonzero, onp.flatnonzero),
    "unique": (mnp.unique, onp.unique),
    "unique and more": (lambda x: mnp.unique(x, return_index=True, return_counts=True),
                        lambda x: onp.unique(x, return_index=True, return_counts=True)),
    "in the middle": (lambda x: mnp.unique(x * 2).sum() + x.mean(),
                      lambda x: onp.unique(x * 2).sum() + x.mean()),
    "bincount": (lambda x: mnp.bincount(x.astype("int32").reshape(-1) + 3),
                 lambda x: onp.bincount(x.astype("int32").reshape(-1) + 3)),
    "shape": (lambda x: x[x > 0].shape, lambda x: x[x > 0].shape),
}


@pytest.mark.filterwarnings("ignore:.*operator by operator")
@pytest.mark.parametrize("name", OF_VALUES)
def test_shapes_follow_the_values_of_each_call(name):
    ours, numpys = OF_VALUES[name]
    block = hybrid(ours)
    for x in draws():
        got, want = block(mnp.array(x)), numpys(x)
        several = isinstance(want, tuple)
        assert isinstance(got, (tuple, list)) == several
        for g, w in zip(got, want, strict=True) if several else [(got, want)]:
            onp.testing.assert_allclose(g, w, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*operator by operator")
def test_gradients_go_through_masks():
    block = hybrid(lambda x: (x[x > 0] * 2).sum())
    for x in draws():
        a = mnp.array(x)
        a.attach_grad()
        with autograd.record():
            y = block(a)
        y.backward()
        onp.testing.assert_array_equal(a.grad, 2.0 * (x > 0))


@pytest.mark.parametrize("options", [{}, {"left": 7.0, "right": -7.0}, {"period": 4.0}], ids=str)
def test_gradients_go_through_interpolation(options):
    def function(x, xp, fp):
        return mnp.interp(x, xp, fp, **options)
    found = []
    for block in (Function(function), hybrid(function)):
        arrays = [mnp.array(v) for v in ([-1.0, 0.25, 2.5, 9.0], [0.0, 1.0, 3.0], [1.0, 5.0, 2.0])]
        for a in arrays:
            a.attach_grad()
        with autograd.record():
            y = block(*arrays)
            loss = (y * y).sum()
        loss.backward()
        found.append([y.tolist()] + [a.grad.tolist() for a in arrays])
    x, xp, fp = (a.asnumpy() for a in arrays)
    onp.testing.assert_allclose(found[1][0], onp.interp(x, xp, fp, **options), rtol=1e-6)
    assert onp.any(found[1][1]) and onp.any(found[1][2]) and onp.any(found[1][3])
    for eager, compiled in zip(*found, strict=True):
        onp.testing.assert_allclose(compiled, eager, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*not used")
def test_blocks_that_read_no_argument_give_np_arrays():
    kept = mnp.arange(4)
    x = mnp.ones(2)
    for function in (lambda x: mnp.ones((2, 3)), lambda x: kept,
                     lambda x: (mnp.arange(3), [mnp.zeros(2) + 1, None])):
        got = hybrid(function)(x)
        for array in [got] if not isinstance(got, list) else [got[0], got[1][0]]:
            assert type(array) is mx.np.ndarray
    x.attach_grad()
    block = hybrid(lambda x: mnp.ones(2) * 3)
    with autograd.record():
        y = block(x) + x
    y.backward()
    assert y.asnumpy().tolist() == [4, 4] and x.grad.asnumpy().tolist() == [1, 1]


@pytest.mark.filterwarnings("ignore:.*not used")
def test_blocks_that_read_no_argument_give_nd_arrays_without_numpy():
    mx.util.reset_np()
    assert type(hybrid(lambda x: mx.nd.ones((2, 3)))(mx.nd.ones(2))) is mx.nd.NDArray


def test_complex_numbers_are_refused():
    for call in (lambda: mnp.array([1 + 2j, 3]), lambda: mnp.array(onp.array([1j])),
                 lambda: mnp.asarray([1j]), lambda: mnp.zeros(3, dtype="complex64"),
                 lambda: mnp.ones(3).astype(onp.complex128), lambda: mnp.ones(2) * 1j, lambda: mnp.full(2, 1j)):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("vector", [lambda x: x.reshape(-1), lambda x: x[mnp.arange(3), mnp.arange(3)], lambda x: x[0]],
                         ids=["reshape", "index", "row"])
@pytest.mark.parametrize("reduced", [mnp.mean, mnp.sum], ids=["mean", "sum"])
def test_gradients_behind_a_vectors_mean_have_no_dimensions(vector, reduced):
    """The shape of the mean's gradient was taken for (1,) where the data's was known earlier."""
    x = mnp.array(draws()[0])
    x.attach_grad()
    grads = []
    for block in (Function(lambda x: -reduced(vector(x))), hybrid(lambda x: -reduced(vector(x)))):
        with autograd.record():
            loss = block(x)
        loss.backward()
        assert loss.shape == ()
        grads.append(x.grad.asnumpy().copy())
    onp.testing.assert_allclose(*grads, rtol=1e-6)


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("axis, keepdims", [(None, False), (0, True), (1, False)])
def test_percentiles_given_by_arrays(method, axis, keepdims):
    """They had no gradient in a graph; and rows with NaN had numbers while autograd recorded."""
    data = onp.random.RandomState(1).normal(size=(5, 3))
    holes = data.copy()
    holes[2, 1] = onp.nan
    for values, which in ((data, [[10.0, 62.5], [0, 100]]), (data, 50.0), (holes, [50.0, 12.5])):
        x, q = mnp.array(values, dtype="float64"), mnp.array(which, dtype="float64")
        x.attach_grad()
        q.attach_grad()
        found = []
        for make in (Function, hybrid):
            block = make(lambda x, q: mnp.percentile(x, q, axis=axis, interpolation=method, keepdims=keepdims))
            with autograd.record():
                result = block(x, q)
                (result * result).sum().backward()
            assert not q.grad.any()
            found += [block(x, q).asnumpy(), result.asnumpy(), x.grad.asnumpy()]
        expected = onp.percentile(values, which, axis=axis, method=method, keepdims=keepdims)
        for result in found[0], found[1], found[3], found[4]:
            assert result.shape == expected.shape
            onp.testing.assert_allclose(result, expected, rtol=1e-9)
        onp.testing.assert_allclose(found[5], found[2], rtol=1e-6, atol=1e-9)


def test_nan_percentiles_given_by_arrays():
    x = mnp.array([[1.0, onp.nan, 3.0, 5.0]])
    x.attach_grad()
    with autograd.record():
        result = mnp.nanpercentile(x, mnp.array([25.0, 50.0]), axis=1)
    result.backward()
    assert result.tolist() == [[2.0], [3.0]] and x.grad.tolist() == [[0.5, 0.0, 1.5, 0.0]]
    with autograd.record():     # halves go to the even place, as in NumPy
        assert mnp.nanpercentile(mnp.arange(4.0), 50, interpolation="nearest").item() == 2


@pytest.mark.parametrize("function", [lambda x: mnp.nanquantile(x, 0.3, axis=0), lambda x: mnp.nanmedian(x)])
def test_nan_quantiles_of_integers_are_float64(function):
    x = mnp.array([[1, 7], [4, 2], [2, 2]], dtype="int32")
    eager, compiled = function(x), hybrid(function)(x)
    assert eager.dtype == compiled.dtype == "float64"
    onp.testing.assert_allclose(compiled.asnumpy(), eager.asnumpy(), rtol=1e-12)
