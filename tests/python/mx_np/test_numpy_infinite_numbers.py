"""Infinities and NaN as numbers among the arguments of mx.np, and axes of arrays without
dimensions."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np
from mxnet.numpy._dispatch import call as call_record

INF = float("inf")
X = [1.0, 2.0, 3.0]


@pytest.mark.parametrize("call", [
    lambda np, x: np.clip(x, 2, INF),
    lambda np, x: np.clip(x, -INF, 2),
    lambda np, x: x.clip(-INF, INF),
    lambda np, x: np.sum(x, initial=INF),
    lambda np, x: np.prod(x, initial=-INF),
    lambda np, x: np.max(x, initial=-INF),
    lambda np, x: np.min(x, where=x > 5, initial=INF),
    lambda np, x: np.max(x[:0], initial=-INF),
    lambda np, x: np.nan_to_num(x * INF, posinf=INF, neginf=-INF),
    lambda np, x: np.insert(x, 1, INF),
    lambda np, x: np.insert(x, 1, float("nan")),
    lambda np, x: np.ediff1d(x, to_begin=-INF, to_end=INF),
    lambda np, x: np.interp(x, onp.array([1.5, 2.5]), onp.array([1.0, 2.0]), left=-INF, right=INF),
])
def test_infinite_arguments(call):
    got, expected = call(np, np.array(X)), call(onp, onp.array(X, "float32"))
    onp.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-6)


def test_infinite_bound_in_graphs_and_of_softmax():
    x = mx.sym.np.clip(mx.sym.var("x").as_np_ndarray(), 0, INF)
    again = mx.sym.load_json(x.tojson())
    with mx.util.np_shape(True):
        out = again.bind(mx.cpu(), {"x": mx.nd.array([-1.0, 5.0])}).forward()[0]
    assert out.asnumpy().tolist() == [0.0, 5.0]
    onp.testing.assert_allclose(mx.npx.softmax(np.array(X), temperature=INF).asnumpy(), 1 / 3, rtol=1e-6)


@pytest.mark.parametrize("text", ["infinite", "1x", "", "--1"])
def test_malformed_numbers_are_refused(text):
    with pytest.raises(mx.MXNetError, match="a_min"):
        call_record("_npi_clip", (np.ones(2),), a_min=text)


def test_range_without_end_is_refused():
    with pytest.raises(ValueError, match="too many values"):
        np.arange(0, INF)


def test_gradient_of_prod_keeps_small_initial():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = np.prod(x, initial=1e-8)
    y.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), [2e-8, 1e-8], rtol=1e-6)


@pytest.mark.parametrize("name", "sum prod max min any all argmax argmin ptp nansum nanmax".split())
def test_axes_of_arrays_without_dimensions(name):
    x = np.array(3.0)
    for axis in (0, -1):
        out = getattr(np, name)(x, axis=axis)
        assert out.shape == () and float(out) == float(getattr(onp, name)(onp.float32(3.0), axis=axis))
    with pytest.raises(ValueError, match="axis 1"):
        getattr(np, name)(x, axis=1)


def test_gradient_along_an_axis_of_an_array_without_dimensions():
    x = np.array(3.0)
    x.attach_grad()
    with autograd.record():
        y = np.sum(x, axis=0) * 2 + np.max(x, axis=-1)
    y.backward()
    assert x.grad.item() == 3.0
