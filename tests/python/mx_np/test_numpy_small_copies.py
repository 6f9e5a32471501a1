"""x[:, 1], x[::2], x.T and their like of small arrays, which the binding copies itself: against
NumPy, below and above the size where operators take over, and where something else is going on."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import np, npx
from mxnet.gluon import HybridBlock

pytestmark = [pytest.mark.on_gpu, pytest.mark.sanitized_address]

DTYPES = ["bool", "int8", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
SHAPES = [(1,), (7,), (4, 5), (1, 6), (3, 4, 5), (2, 1, 3, 4), (2, 3, 1, 2, 3), (63, 65), (64, 64), (65, 64), (16, 16, 17)]
KEYS = {
    "column": lambda x: x[..., -1], "columns": lambda x: x[..., 1:3], "steps": lambda x: x[::2], "reversed": lambda x: x[::-1],
    "both": lambda x: x[::-1, ::-1], "backwards": lambda x: x[..., ::-3], "new": lambda x: x[:, None, 1:3],
    "around": lambda x: x[None, ..., 0, None], "inner": lambda x: x[:, 1:-1], "odd": lambda x: x[1::2, ..., ::2],
    "empty": lambda x: x[..., 3:3], "last": lambda x: x[-1:, ..., -2:], "number": lambda x: x[1, ..., ::2],
    "T": lambda x: x.T, "transpose": lambda x: x.transpose(), "axes": lambda x: x.transpose(*range(1, x.ndim), 0),
    "tuple": lambda x: x.transpose((-1,) + tuple(range(x.ndim - 1))), "swapaxes": lambda x: x.swapaxes(0, -1),
}


def values_of(shape, dtype):
    """NumPy's array of that dtype, of float32 for bfloat16: numbers that all of them hold."""
    numbers = onp.arange(onp.prod(shape, dtype=int)).reshape(shape) * 7 % 127
    return (numbers % 3 == 0) if dtype == "bool" else numbers.astype("float32" if dtype == "bfloat16" else dtype)


def check(x, values, name):
    try:
        want = KEYS[name](values)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            KEYS[name](x)
        return
    got = KEYS[name](x)
    assert type(got) is type(x) and got.dtype == x.dtype and got.shape == want.shape
    onp.testing.assert_array_equal(got.astype("float32").asnumpy() if str(x.dtype) == "bfloat16" else got.asnumpy(), want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KEYS)
def test_values(name, dtype):
    for shape in SHAPES:
        values = values_of(shape, dtype)
        check(np.array(values, dtype=dtype), values, name)


@pytest.mark.parametrize("name", KEYS)
def test_parts(name):
    """Of an array that lies inside of another one, and of one that has not been computed yet."""
    values = values_of((6, 4, 5), "float32")
    check(np.array(values)[2], values[2], name)
    check(np.array(values)[1:5], values[1:5], name)
    check(np.array(values).reshape((8, 15)), values.reshape((8, 15)), name)
    for _ in range(20):
        large = np.dot(np.ones((700, 700)), np.eye(700))
        check((large + np.arange(700))[3:6, :40], (onp.ones((700, 700)) + onp.arange(700)).astype("float32")[3:6, :40], name)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0, 2)])
def test_no_elements(shape):
    values = onp.zeros(shape, "float32")
    x = np.array(values)
    for turned, want in ((x.T, values.T), (np.transpose(x), values.T), (x.transpose(), values.T)):
        assert turned.shape == want.shape
        onp.testing.assert_array_equal(turned.asnumpy(), want)
    if x.ndim > 1:
        assert x.swapaxes(0, 1).shape == values.swapaxes(0, 1).shape and x[:, ::-1].shape == shape


@pytest.mark.parametrize("call", [lambda x: x.transpose(0, 0), lambda x: x.transpose(0, 2), lambda x: x.transpose(0, 1, 2),
                                  lambda x: np.transpose(x, (1,)), lambda x: x.swapaxes(0, 2), lambda x: x.swapaxes(-3, 0)])
def test_refused_axes(call):
    x = np.ones((2, 3))
    with pytest.raises((ValueError, IndexError)):
        call(x)


def test_most_dimensions():
    shape = (1, 2) + (1,) * 28 + (3, 1)
    values = values_of(shape, "float32")
    x = np.array(values)
    onp.testing.assert_array_equal(x.T.asnumpy(), values.T)
    onp.testing.assert_array_equal(x[:, ::-1, ..., ::2, :].asnumpy(), values[:, ::-1, ..., ::2, :])


def test_copies():
    """Later writes, of either, are not seen in the other."""
    x = np.array(values_of((4, 5), "float32"))
    before = x.asnumpy()
    taken = [x[:, 1:3].copy(), x[:, 2], x[::2], x.T, x.swapaxes(0, 1)]
    kept = [t.asnumpy() for t in taken]
    x[:] = -1
    for t, values in zip(taken, kept):
        onp.testing.assert_array_equal(t.asnumpy(), values)
    x = np.array(before)
    turned = x.T
    turned[:] = 9
    onp.testing.assert_array_equal(x.asnumpy(), before)


def test_in_the_order_of_writes():
    """Of an array that operations which were pushed before write again and again."""
    x = np.zeros((64, 64))
    large = np.ones((400, 400))
    for i in range(60):
        large = np.dot(large, large) * 0 + 1
        x[:] = (large * i)[:64, :64]
        assert x[::9, 5].asnumpy().tolist() == [i] * 8
        assert x[:8, :8].T.asnumpy().sum() == 64 * i


def test_failed_writes():
    """What could not be computed is told of, not read."""
    x = np.linalg.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(mx.MXNetError):
        x[:, 1].asnumpy()
    x = np.linalg.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(mx.MXNetError):
        x.T.asnumpy()


def test_gradients():
    x = np.array(values_of((4, 5), "float32"))
    x.attach_grad()
    with mx.autograd.record():
        y = (x[:, 2] * 2).sum() + (x[::-2] * 3).sum() + (x.T * np.arange(4)).sum() + (x.swapaxes(0, 1)[::2] * 5).sum()
    y.backward()
    want = onp.zeros((4, 5), "float32")
    want[:, 2] += 2
    want[::-2] += 3
    want += onp.arange(4)[:, None]
    want[:, ::2] += 5
    onp.testing.assert_array_equal(x.grad.asnumpy(), want)
    with mx.autograd.record():          # of an array that no gradient needs
        z = np.ones((3, 4))
        parts = z[:, 1], z.T
    assert parts[0].shape == (3,) and parts[1].shape == (4, 3)


class Parts(HybridBlock):
    def forward(self, x):
        return x[:, ::2], x.T, x.transpose(1, 0), x.swapaxes(0, 1) + 1, x[..., None, 1]


def test_traced():
    """A recorded forward has operators, which other values go through."""
    block = Parts()
    block.initialize()
    block.hybridize()
    for shape in ((4, 5), (4, 5), (3, 7)):
        values = values_of(shape, "float32")
        got = block(np.array(values))
        want = values[:, ::2], values.T, values.T, values.T + 1, values[..., None, 1]
        for g, w in zip(got, want):
            onp.testing.assert_array_equal(g.asnumpy(), w)


def test_classic():
    """mx.nd has its own rules and its own class."""
    values = values_of((4, 5), "float32")
    x = mx.nd.array(values)
    for got, want in ((x[:, 2], values[:, 2]), (x[::2], values[::2]), (x[:, ::-2], values[:, ::-2]), (x[1:3, 2:3], values[1:3, 2:3]),
                      (x.T, values.T), (x.transpose((1, 0)), values.T), (x.swapaxes(0, 1), values.T)):
        assert type(got) is mx.nd.NDArray
        onp.testing.assert_array_equal(got.asnumpy(), want)
    assert x[:, 2:3][1:2, 0].shape == (1,)


def test_while_profiled(tmp_path):
    """A profiler is to see operators."""
    mx.profiler.set_config(profile_all=True, filename=str(tmp_path / "profile.json"), aggregate_stats=True)
    mx.profiler.set_state("run")
    try:
        x = np.array(values_of((4, 5), "float32"))
        got = x[:, 2].asnumpy(), x.T.asnumpy()
    finally:
        mx.profiler.set_state("stop")
    text = mx.profiler.dumps(reset=True)
    assert "slice" in text and "transpose" in text
    onp.testing.assert_array_equal(got[0], x.asnumpy()[:, 2])
    onp.testing.assert_array_equal(got[1], x.asnumpy().T)


@pytest.mark.skipif(not hasattr(mx._binding._backend, "_sources"), reason="views need the compiled binding")
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(5, 6), (70, 90), (20, 3, 40), (6, 9, 10, 11)])
def test_writes_into_turned_views(shape, dtype):
    """Copies the other way round: whatever order and direction the elements lie in."""
    npx.set_np(views=True)
    try:
        rng = onp.random.default_rng(3)
        for _ in range(12):
            order = rng.permutation(len(shape))
            key = tuple(slice(None, None, int(s)) for s in rng.choice([1, -1, 2, -3], len(shape)))
            values = values_of(shape, dtype)
            x = np.array(values, dtype=dtype)
            part, want = x[key].transpose(*map(int, order)), values[key].transpose(order)
            onp.testing.assert_array_equal(part.asnumpy(), want)
            new = rng.integers(0, 99, want.shape).astype(dtype)
            part[...] = np.array(new, dtype=dtype)
            want[...] = new
            onp.testing.assert_array_equal(x.asnumpy(), values)
    finally:
        npx.reset_np()
