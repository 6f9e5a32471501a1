"""Arrays that are broadcast along outer dimensions, over more elements than one block has."""
import ctypes

import mxnet as mx
import numpy as np
import pytest
from mxnet.base import _LIB

RNG = np.random.default_rng(3)
PAIRS = [((3000, 3), (3,)), ((5000, 16), (16,)), ((2000, 40), (40,)), ((700, 255), (255,)), ((700, 256), (256,)), ((300, 257), (257,)),
         ((700, 300), (300,)), ((8, 1, 1, 16), (8, 30, 31, 16)), ((9, 1, 7, 5), (9, 40, 7, 5)), ((4, 1, 3, 1, 5), (4, 50, 3, 60, 5)),
         ((6, 20, 1), (6, 20, 70)), ((2, 1, 9), (1, 3000, 9)), ((40000, 5), (40000, 1)), ((1, 7), (9000, 1)), ((50001, 7), (7,)),
         ((3, 1, 4, 5), (3, 600, 4, 1)), ((2, 1, 100), (2, 2000, 1)),
         # one element for each row, of rows that end within blocks and of longer ones
         ((40, 64, 1), (40, 64, 100)), ((3, 50, 1), (3, 50, 3000)), ((512, 1), (2, 512, 49)), ((20, 30, 1), (20, 30, 31)),
         ((64, 1), (700, 64, 4)), ((300, 7), (300, 7, 1, 1)), ((5, 40, 128, 1), (5, 40, 1, 16)), ((9000, 2), (9000, 1)),
         # turns that are shorter than a block
         ((1000, 3, 4), (1000, 1, 4)), ((900, 1, 11), (900, 5, 11))]


@pytest.fixture(scope="module", autouse=True, params=[4, 3, 2])
def level(request):
    """Each level of the CPU has gathers of its own."""
    cap = getattr(_LIB, "_ZN5mxnet11CapCpuLevelENS_8CpuLevelE")
    mx.nd.waitall()
    cap(ctypes.c_int(request.param))
    yield
    mx.nd.waitall()
    cap(ctypes.c_int(4))


def arrays(shapes, dtypes):
    return [RNG.integers(-50, 50, s).astype(d) for s, d in zip(shapes, dtypes)]


@pytest.mark.parametrize("shapes", PAIRS)
@pytest.mark.parametrize("dtypes", [("float32", "float32"), ("float64", "float64"), ("int32", "int32"), ("float16", "float16"),
                                    ("float32", "float16"), ("int8", "float32")])
def test_results(shapes, dtypes):
    a, b = arrays(shapes, dtypes)
    expected = a.astype("float64") - b.astype("float64")
    result = mx.np.array(a, dtype=dtypes[0]) - mx.np.array(b, dtype=dtypes[1])
    np.testing.assert_array_equal(result.asnumpy(), expected)


@pytest.mark.parametrize("shapes", PAIRS)
def test_added_results(shapes):
    """A gradient of grad_req="add" is added to blocks."""
    a, b = (mx.np.array(v) for v in arrays(shapes, ("float32", "float32")))
    for v in (a, b):
        v.attach_grad("add")
    for _ in range(2):
        with mx.autograd.record():
            y = a * b
        y.backward(mx.np.ones(y.shape))

    def summed(other, shape):
        whole = np.broadcast_to(other.asnumpy(), y.shape).astype("float64")
        lead = tuple(range(len(y.shape) - len(shape)))
        return 2 * whole.sum(lead + tuple(i + len(lead) for i, d in enumerate(shape) if d == 1), keepdims=True).reshape(shape)
    np.testing.assert_array_equal(a.grad.asnumpy(), summed(b, a.shape))
    np.testing.assert_array_equal(b.grad.asnumpy(), summed(a, b.shape))


@pytest.mark.parametrize("shapes", PAIRS)
@pytest.mark.parametrize("dtypes", [("float32", "float32"), ("float16", "float16")])
def test_fused_programs(shapes, dtypes):
    """Several steps are one program in a plan; two arrays are broadcast, of which one is scaled."""
    a, b = arrays(shapes, dtypes)
    x, y = mx.sym.Variable("x"), mx.sym.Variable("y")
    net = mx.sym.relu(mx.sym.broadcast_add(x, y)) * 0.5 - mx.sym.broadcast_mul(x, y * 2)
    got = net.eval(x=mx.nd.array(a, dtype=dtypes[0]), y=mx.nd.array(b, dtype=dtypes[1]))[0]
    wide = [v.astype("float64") for v in (a, b)]
    expected = np.maximum(wide[0] + wide[1], 0) * 0.5 - wide[0] * wide[1] * 2
    np.testing.assert_allclose(got.asnumpy(), expected, rtol=2e-3 if dtypes[0] == "float16" else 0, atol=4 if dtypes[0] == "float16" else 0)


@pytest.mark.parametrize("shapes", [s for s in PAIRS if len(s[0]) == len(s[1])])
def test_fused_gradients(shapes):
    """The program of the gradients is given rows, too."""
    a, b = arrays(shapes, ("float32", "float32"))
    b = np.abs(b) + 1
    x, y = mx.sym.Variable("x"), mx.sym.Variable("y")
    net = mx.sym.broadcast_div(mx.sym.tanh(x), y) * 3 + mx.sym.broadcast_maximum(x, y)
    bound = net.bind(mx.cpu(), {"x": mx.nd.array(a), "y": mx.nd.array(b)}, {"x": mx.nd.zeros(a.shape), "y": mx.nd.zeros(b.shape)})
    bound.forward(is_train=True)
    bound.backward(mx.nd.ones(bound.outputs[0].shape))
    a, b = a.astype("float64"), b.astype("float64")
    summed = lambda v, shape: v.sum(tuple(i for i, d in enumerate(shape) if d == 1 and v.shape[i] != 1), keepdims=True)
    dx, dy = 3 / b / np.cosh(a) ** 2 + (a >= b), -3 * np.tanh(a) / b ** 2 + (a < b)
    # 1 - tanh(x)^2 is rounded to 1e-7, as often as it is added up
    rounded = 1e-7 * (3 / b * np.ones_like(dx)).sum() / a.size
    np.testing.assert_allclose(bound.grad_dict["x"].asnumpy(), summed(dx, a.shape), rtol=1e-5, atol=1e-4 + rounded)
    np.testing.assert_allclose(bound.grad_dict["y"].asnumpy(), summed(dy, b.shape), rtol=1e-4, atol=1e-3)


def test_layouts():
    """A scale for each channel, where the plan lays images channels last."""
    data = RNG.standard_normal((3, 20, 17, 19)).astype("float32")
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(24, 3, padding=1, in_channels=20))
    net.initialize()
    scale = mx.gluon.nn.HybridLambda(lambda F, x: F.broadcast_mul(x, F.sigmoid(F.mean(x, axis=(2, 3), keepdims=True))))
    net.add(scale)
    x = mx.nd.array(data)
    expected = net(x).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(3):
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-5)
