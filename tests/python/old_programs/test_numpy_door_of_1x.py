"""What mx.np and the modules around it take as 1.9.1 does, beyond NumPy. The numbers are those of
its wheel."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np, npx


@pytest.fixture(autouse=True)
def numpy_rules():
    before = mx.util.is_np_array(), mx.util.is_np_shape()
    npx.set_np()
    yield
    npx.set_np(shape=before[1], array=before[0]) if before[1] else npx.reset_np()


@pytest.mark.parametrize("shape, target, wanted", [
    ((3, 1, 5), (3, 4, -2), (3, 4, 5)), ((5,), (3, 4, -2), (3, 4, 5)), ((3, 1, 5), (-2, 4, -2), (3, 4, 5)),
    ((3, 1), (-2, 4), (3, 4)), ((0, 1), (-2, 2), (0, 2))])
def test_broadcast_to_keeps_sizes_of_the_input(shape, target, wanted):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.np.broadcast_to(x, target)

    net, x = Net(), np.arange(int(onp.prod(shape))).reshape(shape)
    net.hybridize()
    x.attach_grad()
    with autograd.record():
        results = [np.broadcast_to(x, target), net(x)]
    for y in results:
        assert y.shape == wanted
        onp.testing.assert_array_equal(y.asnumpy(), onp.broadcast_to(x.asnumpy(), wanted))
    results[0].backward()
    onp.testing.assert_array_equal(x.grad.asnumpy(), onp.full(shape, onp.prod(wanted) / max(1, onp.prod(shape))))


@pytest.mark.parametrize("shape, target", [((5,), (-2, 5)), ((3, 1), (3, -1)), ((2, 3), (-2,))])
def test_broadcast_to_refuses(shape, target):
    with pytest.raises(mx.MXNetError):
        np.broadcast_to(np.ones(shape), target)


@pytest.mark.parametrize("rows, order, axis, wanted", [
    ([1, -3], "inf", None, 3), ([1, -3], "-inf", None, 1), ([[1, -3], [2, 5]], "inf", None, 5), ([[1, -3], [2, 5]], "inf", 0, [2, 5]),
    ([[1, -3], [2, 5]], "-inf", (0, 1), 4)])
def test_norms_by_text(rows, order, axis, wanted):
    """The text is that of all elements where no axis is named; the number is NumPy's."""
    assert np.linalg.norm(np.array(rows), ord=order, axis=axis).asnumpy().tolist() == pytest.approx(wanted)
    assert np.linalg.norm(np.array([[1, -3], [2, 5]]), ord=onp.inf) == 7


def test_normal_vectors_in_sixteen_bits():
    mx.random.seed(3)
    mean, cov = np.array([1, -2], dtype="float16"), np.array([[2, 0.5], [0.5, 1]], dtype="float16")
    draws = np.random.multivariate_normal(mean, cov, size=(4000,))
    assert draws.dtype == onp.float16 and draws.shape == (4000, 2)
    values = draws.asnumpy().astype("float64")
    assert values.mean(0) == pytest.approx([1, -2], abs=0.1)
    assert onp.cov(values.T) == pytest.approx(cov.asnumpy(), abs=0.15)
    assert np.random.multivariate_normal(mean, cov).shape == (2,)


def test_results_that_out_cannot_take_are_errors_of_1x():
    for call in (lambda: np.exp(np.ones(2), out=np.zeros(2, dtype="int32")), lambda: np.isnan(np.ones(2), out=np.zeros(3)),
                 lambda: np.matmul(np.ones((2, 2)), np.ones((2, 2)), out=np.zeros((2, 2), dtype="int32"))):
        with pytest.raises(mx.MXNetError) as caught:
            call()
        assert isinstance(caught.value, (TypeError, ValueError))      # NumPy's


def test_names_around_the_door():
    assert npx.current_context() == mx.cpu()
    import mxnet._numpy_op_doc as texts
    assert texts._np_sum is np.sum and texts._npx_reshape is npx.reshape
    with pytest.raises(AttributeError):
        texts._np_nothing
    find = mx.numpy_op_signature._get_builtin_op
    assert [find(name) for name in ("_np_sum", "_npx_relu", "_npi_add", "relu")] == [np.sum, npx.relu, None, None]
    assert find("_npx__image_resize") is npx.image.resize
    assert all(callable(getattr(texts, name)) for name in dir(texts) if name.startswith("_np"))


def test_scope_says_its_switch():
    scope = mx.util._NumpyArrayScope
    assert scope(True)._is_np_array is True and scope(False)._is_np_array is False
    assert scope._current.value._is_np_array is True
    with scope(False):
        assert scope._current.value._is_np_array is False


def test_the_operator_of_a_symbol_without_inputs():
    whole = mx.sym.FullyConnected(mx.sym.var("a"), num_hidden=3, name="fc")
    atom = whole._gen_atomic_symbol()
    assert atom.list_arguments() == [] and atom.list_outputs() == ["output"] and atom.list_attr() == {"num_hidden": "3"}
    with pytest.raises(mx.MXNetError, match="the variable 'x'"):
        mx.sym.var("x")._gen_atomic_symbol()


def test_axes_of_averages_are_checked():
    """They were an IndexError, and a ZeroDivisionError, without a word about the axis."""
    for a, weights in ((np.ones((2, 0)), None), (np.ones((2, 3)), np.ones(3)), (np.ones((2, 3)), None)):
        with pytest.raises(mx.MXNetError, match=r"\[average\] axis is 5; an array of 2 dimensions accepts -2 to 1"):
            np.average(a, axis=5, weights=weights)
    assert np.average(np.array(2.0), axis=0, keepdims=True).asnumpy() == 2
    assert np.average(np.ones((2, 3)), axis=(0, -1)).asnumpy() == 1
