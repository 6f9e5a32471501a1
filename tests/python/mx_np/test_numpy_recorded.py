"""Functions of mx.np that are made of operators where autograd records: values are NumPy's,
gradients those of finite differences."""
import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd

NAN = float("nan")
X = np.array([[1.0, 5.0, 2.0], [4.0, 0.0, 3.0]])
HOLES = np.array([[1.0, NAN, 2.5, 7.0], [4.0, 0.5, NAN, 3.0], [NAN, 9.0, 8.0, 2.0]])
PLACES, POINTS, VALUES = np.array([0.5, 1.5, 2.6, 3.5, 4.4, -1.3]), np.array([5.0, 2.0, -0.9]), np.array([1.0, 4.0, 2.0])


def _weighted(result):
    """A sum in which every element counts differently."""
    weights = np.arange(1, result.size + 1, dtype="float64").reshape(result.shape)
    return (result * (mx.np.array(weights, dtype="float64") if isinstance(result, mx.np.ndarray) else weights)).sum()


def _check(name, *arrays, **options):
    """`name` of arrays of mx.np against NumPy's, and its gradients."""
    given = [mx.np.array(a, dtype="float64") for a in arrays]
    for a in given:
        a.attach_grad()
    with autograd.record():
        result = getattr(mx.np, name)(*given, **options)
        total = _weighted(result)
    total.backward()
    want = getattr(np, name)(*arrays, **options)
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-6)
    assert result.dtype == want.dtype and result.shape == want.shape
    for k, array in enumerate(arrays):
        for at in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [a.copy() for a in arrays]
                moved[k][at] += step
                ends.append(_weighted(getattr(np, name)(*moved, **options)))
            slope = (ends[0] - ends[1]) / 2e-6
            np.testing.assert_allclose(given[k].grad[at].item(), slope, atol=1e-4, rtol=1e-4, err_msg=f"{name} {options} of {k} at {at}")


@pytest.mark.parametrize("period", [4, 4.2, -6])
def test_interp_with_a_period(period):
    _check("interp", PLACES, POINTS, VALUES, period=period)


def test_interp_of_a_number_with_a_period():
    fp = mx.np.array(VALUES, dtype="float64")
    fp.attach_grad()
    with autograd.record():
        y = mx.np.interp(400, mx.np.array([10.0, 130.0, 250.0], dtype="float64"), fp, period=360, left=99)
    y.backward()
    assert y.item() == pytest.approx(np.interp(400, [10.0, 130.0, 250.0], VALUES, period=360)) and fp.grad.tolist() == [0.75, 0.25, 0]


@pytest.mark.parametrize("mode", ["minimum", "maximum"])
@pytest.mark.parametrize("width", [1, ((1, 2), (2, 1)), ((0, 0), (3, 0))])
def test_pad_with_extremes(mode, width):
    _check("pad", X, pad_width=width, mode=mode)


def test_pad_with_extremes_of_integers_keeps_the_dtype():
    with autograd.record():
        padded = mx.np.pad(mx.np.array([3, 1, 2], dtype="int8"), 1, mode="maximum")
    assert padded.dtype == np.dtype("int8") and padded.tolist() == [3, 3, 1, 2, 3]


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_nanmedian(axis, keepdims):
    _check("nanmedian", HOLES, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_nanquantile(method):
    _check("nanquantile", HOLES, q=0.3, axis=1, method=method)
    _check("nanquantile", HOLES, q=[0.13, 0.52, 1.0], axis=0, method=method)
    _check("nanpercentile", HOLES, q=30, method=method)


def test_lines_without_numbers_give_nan():
    with autograd.record():
        found = mx.np.nanmedian(mx.np.array([[NAN, NAN], [1.0, NAN]]), axis=1)
    np.testing.assert_array_equal(found.asnumpy(), [NAN, 1])
    with pytest.raises(ValueError), autograd.record():
        mx.np.nanquantile(mx.np.array([1.0]), 1.5)


def test_nanmedian_in_a_block():
    class Middle(mx.gluon.HybridBlock):
        def forward(self, x):
            return mx.np.nanmedian(x, axis=1)
    block = Middle()
    block.hybridize()
    np.testing.assert_array_equal(block(mx.np.array(HOLES)).asnumpy(), np.nanmedian(HOLES, axis=1).astype("float32"))


@pytest.mark.parametrize("name, q", [("median", ()), ("percentile", (30,)), ("quantile", (0.3,)), ("nanmedian", ()),
                                     ("nanpercentile", (30,)), ("nanquantile", (0.3,))])
def test_axes_that_an_array_does_not_have(name, q):
    x = mx.np.array(X)
    x.attach_grad()
    with autograd.record():
        for axis in (2, 5, -3, (0, 2), (0, -2)):
            with pytest.raises(ValueError, match="axis"):
                getattr(mx.np, name)(x, *q, axis=axis)
        assert getattr(mx.np, name)(x[0, 0], *q, axis=0).item() == X[0, 0]


def test_deviations_of_equal_numbers_have_a_gradient():
    for options in ({}, {"axis": 1}, {"axis": 1, "keepdims": True}):
        for name, more in (("nanstd", {}), ("std", {"where": mx.np.array([True, True, False])})):
            x = mx.np.array([[2.0, 2.0, 2.0], [0.5, 0.5, 0.5]] if options else [3.0, 3.0, 3.0])
            x.attach_grad()
            with autograd.record():
                y = getattr(mx.np, name)(x, **options, **more).sum()
            y.backward()
            assert y.item() == 0 and not x.grad.any()
