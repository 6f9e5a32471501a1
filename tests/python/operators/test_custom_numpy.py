"""Custom operators in programs with NumPy's rules: the class of the arrays that their methods
get."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon, npx

np = mx.np
SEEN = []


class Scale(mx.operator.CustomOp):
    """Twice the input; the methods compute with functions of the class that they get."""

    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0]
        SEEN.append({type(a) for a in (*in_data, *out_data, *aux)})
        with pytest.raises(ValueError, match="read-only"):
            x += 1
        self.assign(out_data[0], req[0], np.multiply(x, 2) if isinstance(x, np.ndarray) else mx.nd.broadcast_mul(x, x.ones_like() * 2))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        SEEN.append({type(a) for a in (*out_grad, *in_data, *out_data, *in_grad)})
        self.assign(in_grad[0], req[0], out_grad[0] * 2)


@mx.operator.register("custom_numpy_scale")
class ScaleProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Scale()


class Net(gluon.HybridBlock):
    def forward(self, x):
        return mx.nd.Custom(x, op_type="custom_numpy_scale") + 1


@pytest.fixture(autouse=True)
def nothing_seen():
    SEEN.clear()


def gradient(function, x, req="write"):
    x.attach_grad(req)
    with autograd.record():
        y = function(x)
    y.backward()
    return y, x.grad


@pytest.mark.parametrize("shape", [(), (2, 3), (0, 2)])
@pytest.mark.parametrize("hybridize", [False, True])
def test_methods_get_arrays_of_np(numpy_semantics, shape, hybridize):
    net = Net()
    if hybridize:
        net.hybridize()
    x = np.ones(shape)
    y, grad = gradient(net, x)
    assert type(y) is type(grad) is np.ndarray
    onp.testing.assert_array_equal(y.asnumpy(), onp.full(shape, 3, "float32"))
    onp.testing.assert_array_equal(grad.asnumpy(), onp.full(shape, 2, "float32"))
    assert SEEN and all(kinds == {np.ndarray} for kinds in SEEN)


def test_methods_get_arrays_of_nd_without_numpy_semantics():
    y, grad = gradient(Net(), mx.nd.ones((2,)))
    assert y.asnumpy().tolist() == [3, 3] and grad.asnumpy().tolist() == [2, 2]
    assert len(SEEN) == 2 and all(kinds == {mx.nd.NDArray} for kinds in SEEN)


def test_graphs_bound_with_numpy_semantics(numpy_semantics):
    y = mx.sym.Custom(mx.sym.var("x"), op_type="custom_numpy_scale")
    executor = y.bind(mx.cpu(), {"x": np.ones((2,))})
    assert executor.forward()[0].asnumpy().tolist() == [2, 2]
    assert SEEN == [{np.ndarray}]


def test_gradients_are_added(numpy_semantics):
    x = np.ones((2,))
    x.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            y = Net()(x)
        y.backward()
    assert x.grad.asnumpy().tolist() == [4, 4]


def test_numpy_semantics_hold_in_methods(numpy_semantics):
    modes = []

    class Modes(Scale):
        def forward(self, is_train, req, in_data, out_data, aux):
            modes.append((mx.util.is_np_array(), mx.util.is_np_shape()))
            self.assign(out_data[0], req[0], in_data[0])

    @mx.operator.register("custom_numpy_modes")
    class ModesProp(mx.operator.CustomOpProp):     # pylint: disable=unused-variable
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Modes()
    mx.nd.Custom(np.ones(()), op_type="custom_numpy_modes").wait_to_read()
    npx.reset_np()
    mx.nd.Custom(mx.nd.ones((1,)), op_type="custom_numpy_modes").wait_to_read()
    assert modes == [(True, True), (False, False)]


@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_older_classes_get_arrays_of_nd(numpy_semantics):
    kinds = []

    class Twice(mx.operator.NDArrayOp):
        def forward(self, in_data, out_data):
            kinds.extend(type(a) for a in (*in_data, *out_data))
            out_data[0][:] = in_data[0] * 2
    y = Twice().get_symbol(mx.sym.var("x"))
    assert y.bind(mx.cpu(), {"x": np.ones((2,))}).forward()[0].asnumpy().tolist() == [2, 2]
    assert set(kinds) == {mx.nd.NDArray}
