"""x[key] and x[key] = value of mx.np arrays against NumPy: drawn keys of every kind, views,
gradients, errors."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd
from mxnet.numpy._dispatch import from_values

SHAPES = [(), (1,), (5,), (0,), (3, 4), (2, 1), (0, 3), (2, 3, 4), (3, 1, 2), (2, 3, 2, 2), (2, 2, 3, 1, 2)]


class Keys:
    """Draws keys for arrays of a shape."""

    def __init__(self, seed):
        self.rng = onp.random.default_rng(seed)

    def one_of(self, *what):
        return what[self.rng.integers(len(what))]

    def slice(self, size):
        def bound():
            return None if self.rng.random() < 0.4 else int(self.rng.integers(-size - 1, size + 2))
        step = self.one_of(None, None, 1, 2, -1, -2, 3)
        return slice(bound(), bound(), step)

    def indices(self, size, block):
        low = -size if self.rng.random() < 0.5 else 0
        if size == 0:
            block = tuple(block[:-1]) + (0,) if block else (0,)
        values = self.rng.integers(low, max(size, 1), block)
        kind = self.one_of("list", "numpy", "ours", "int32", "float")
        if kind == "list":
            return values.tolist() if values.ndim else int(values)
        if kind == "numpy":
            return values
        return from_values(values, dtype={"ours": "int64", "int32": "int32", "float": "float32"}[kind])

    def mask(self, shape):
        values = self.rng.random(shape) < 0.5
        kind = self.one_of("list", "numpy", "ours")
        if kind == "list" and values.ndim and values.size:
            return values.tolist()
        return from_values(values) if kind == "ours" else values

    def key(self, shape, arrays):
        """A key with or without arrays, of fewer or as many parts as axes."""
        parts, axis, masks = [], 0, 0
        block = [(), (3,), (2, 3), (1, 3), (2, 1)][self.rng.integers(5)]
        while axis < len(shape) and self.rng.random() < 0.85:
            size, kind = shape[axis], self.rng.random()
            if arrays and kind < 0.45:
                parts.append(self.indices(size, block[int(self.rng.integers(len(block) + 1)):]))
            elif arrays and kind < 0.55 and masks == 0:
                rank = int(self.rng.integers(1, len(shape) - axis + 1))
                parts.append(self.mask(shape[axis:axis + rank]))
                axis += rank - 1
                masks += 1
            elif kind < 0.75 and size:
                index = int(self.rng.integers(-size, size))
                parts.append(self.one_of(index, onp.int64(index)))
            else:
                parts.append(self.slice(size))
            axis += 1
        for extra, chance in ((None, 0.25), (Ellipsis, 0.25), (bool(self.rng.integers(2)), 0.05 if arrays else 0)):
            if self.rng.random() < chance:
                parts.insert(int(self.rng.integers(len(parts) + 1)), extra)
        return parts[0] if len(parts) == 1 and self.rng.random() < 0.5 else tuple(parts)


def plain(key):
    """The key for NumPy."""
    if isinstance(key, tuple):
        return tuple(plain(k) for k in key)
    if isinstance(key, list) and not key:
        return onp.zeros(0, "int64")
    if isinstance(key, mx.np.ndarray):
        values = key.asnumpy()
        return values.astype("int64") if values.dtype.kind == "f" else values
    return onp.zeros(onp.shape(key), "int64") if isinstance(key, list) and onp.size(key) == 0 else key


def expected(data, key):
    """What NumPy gives, or its IndexError."""
    try:
        return data[plain(key)]
    except IndexError as error:
        return error


def drawn(seed, number, arrays):
    """(array of ours, NumPy's, key) as often as asked."""
    keys = Keys(seed)
    for _ in range(number):
        shape = SHAPES[keys.rng.integers(len(SHAPES))]
        dtype = keys.one_of("float32", "float64", "int32", "uint8", "bool")
        data = keys.rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
        yield from_values(data), data, keys.key(shape, arrays)


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_get(seed, arrays):
    for a, data, key in drawn(seed, 500, arrays):
        want = expected(data, key)
        if isinstance(want, IndexError):
            with pytest.raises(IndexError):
                a[key].asnumpy()
            continue
        got = a[key]
        assert type(got) is mx.np.ndarray and got.dtype == data.dtype, key
        assert got.shape == want.shape, (data.shape, key, got.shape, want.shape)
        assert onp.array_equal(got.asnumpy(), want), (data, key)


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("seed", range(10, 14))
def test_set(seed, arrays):
    rng = onp.random.default_rng(seed)
    for a, data, key in drawn(seed, 500, arrays):
        want = expected(data, key)
        if isinstance(want, IndexError):
            with pytest.raises(IndexError):
                a[key] = 1
                a.asnumpy()
            continue
        shape = tuple(1 if rng.random() < 0.3 else n for n in want.shape)
        shape = shape[int(rng.integers(len(shape) + 1)):] if rng.random() < 0.3 else shape
        value = rng.integers(0, 2, shape)
        value = [value, value.tolist(), from_values(value), from_values(value, dtype=data.dtype), 1, 1.0][rng.integers(6)]
        numpys = onp.asarray(value.asnumpy() if isinstance(value, mx.np.ndarray) else value)
        try:
            data[plain(key)] = numpys.reshape(numpys.shape)
        except ValueError:    # NumPy's masks want the whole selection where a list of zero elements is given
            continue
        a[key] = value
        assert onp.array_equal(a.asnumpy(), data), (key, value)


def pieces(a, seed):
    """Weights that make every element of a gradient different."""
    return from_values(onp.random.default_rng(seed).uniform(1, 2, a.shape), dtype="float64")


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("seed", [20, 21])
def test_gradients_of_get(seed, arrays):
    for i, (_, data, key) in enumerate(drawn(seed, 150, arrays)):
        want = expected(data, key)
        if isinstance(want, IndexError) or 0 in want.shape:
            continue
        a = from_values(data, dtype="float64")
        a.attach_grad()
        with autograd.record():
            out = a[key] * 1
            out = out * pieces(out, i)
        out.backward()
        flat = onp.arange(data.size).reshape(data.shape)[plain(key)].reshape(-1)
        sums = onp.zeros(data.size)
        onp.add.at(sums, flat, pieces(out, i).asnumpy().reshape(-1))
        assert onp.allclose(a.grad.asnumpy(), sums.reshape(data.shape)), (data.shape, key)


@pytest.mark.parametrize("arrays", [False, True])
def test_gradients_of_set(arrays):
    """Assignment to a result while autograd records."""
    for i, (_, data, key) in enumerate(drawn(30, 150, arrays)):
        want = expected(data, key)
        flat = None if isinstance(want, IndexError) else onp.arange(data.size).reshape(data.shape)[plain(key)]
        if flat is None or 0 in want.shape or len(set(flat.reshape(-1))) != flat.size:
            continue
        a, v = from_values(data, dtype="float64"), from_values(onp.ones(want.shape), dtype="float64")
        a.attach_grad()
        v.attach_grad()
        weights = pieces(a, i)
        with autograd.record():
            out = a * 2
            out[key] = v * 3
            out = out * weights
        out.backward()
        rest = onp.array(weights.asnumpy() * 2)
        rest.reshape(-1)[flat.reshape(-1)] = 0
        assert onp.allclose(a.grad.asnumpy(), rest), (data.shape, key)
        assert onp.allclose(v.grad.asnumpy(), weights.asnumpy().reshape(-1)[flat] * 3), (data.shape, key)


# ---- hybridized blocks

class Indexed(mx.gluon.HybridBlock):
    """Applies a function to its inputs."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


TRACED = {
    "integer": lambda x: x[0], "last": lambda x: x[-1], "column": lambda x: x[:, 1], "slice": lambda x: x[1:],
    "negative step": lambda x: x[::-1],
    "new axes": lambda x: x[:, None, ..., None], "ellipsis": lambda x: x[..., 0], "mixed": lambda x: x[1:3, None, -1],
    "whole": lambda x: x[:],
    "list": lambda x: x[:, [0, 1]], "two lists": lambda x: x[[0, 1], [1, 0]],
}


@pytest.mark.parametrize("name", TRACED)
def test_traced(name):
    """A traced block gives what it gives eagerly, and basic keys also for other sizes of the first
    axis."""
    net = Indexed(TRACED[name])
    net.hybridize()
    for rows in (4, 6):
        x = from_values(onp.arange(rows * 6.0).reshape(rows, 3, 2))
        x.attach_grad()
        with autograd.record():
            y = net(x) * 2
        y.backward()
        grad = x.grad.asnumpy()
        want = TRACED[name](x.asnumpy())
        assert y.shape == want.shape and onp.array_equal(y.asnumpy(), want * 2)
        with autograd.record():
            y = TRACED[name](x) * 2
        y.backward()
        assert onp.array_equal(grad, x.grad.asnumpy()) and grad.sum() == 2 * want.size


def test_traced_arrays():
    net = Indexed(lambda x, i, j: x[i, j])
    net.hybridize()
    x, i, j = from_values(onp.arange(12.0).reshape(3, 4)), from_values([0, 2]), from_values([-1, 1])
    assert net(x, i, j).tolist() == [3.0, 9.0] and net(x, j, i).tolist() == [8.0, 6.0]
    with pytest.raises(IndexError):
        net(x, from_values([0, 7]), j).asnumpy()


# ---- values and errors

def test_views():
    """Integers and slices of the first axes share memory, everything else does not."""
    def shared(key):
        a = from_values(onp.zeros((3, 4, 2)))
        a[key][()] = 1
        return bool(a.asnumpy().any())
    for key in (0, -1, slice(1, 3), (1, 2), (0, slice(1, 3)), (1, 2, 0), (), Ellipsis, None, (0, None, 1), (slice(1, 2), slice(0, 2))):
        assert shared(key), key
    for key in ([0], (slice(None), 0), slice(None, None, -1), slice(None, None, 2), (Ellipsis, 0), onp.array([1]), True,
                onp.array([True, False, True]), from_values([0, 1]), from_values(1)):
        assert not shared(key), key


@pytest.mark.parametrize("key, error, text", [
    (3, IndexError, "index 3 is out of bounds for axis 0 with size 3"),
    ((0, -5), IndexError, "index -5 is out of bounds for axis 1 with size 4"),
    ((0, 0, 0), IndexError, "too many indices"), ((Ellipsis, Ellipsis), IndexError, "single ellipsis"), (1.0, IndexError, "no index"),
    ("a", IndexError, "no index"), ([0.5], IndexError, "fractions"),
    ([0, 3], IndexError, "index 3 is out of bounds for axis 0 with size 3"),
    ((slice(None), [0, -5]), IndexError, "index -5 is out of bounds for axis 1 with size 4"), ([[0], [1, 2]], IndexError, "rectangular"),
    (([0, 1], [0, 1, 2]), IndexError, r"broadcast together with shapes \(2,\) \(3,\)"), (slice(0, 1.5), TypeError, "1.5"),
    ([True, False], IndexError, "axis 0; size of axis is 3 but size of corresponding boolean axis is 2"),
    (slice(None, None, 0), ValueError, "zero"),
    (onp.ones((3, 5), bool), IndexError, "axis 1; size of axis is 4"), (["a"], IndexError, "dtype"), (onp.array([1j]), IndexError, "dtype"),
])
def test_refused_keys(key, error, text):
    a = from_values(onp.zeros((3, 4)))
    with pytest.raises(error, match=text):
        a[key]
    with pytest.raises(error, match=text):
        a[key] = 1
    assert not a.asnumpy().any()


def test_indices_on_devices_are_checked_by_the_operator():
    a = from_values(onp.zeros((3, 4)))
    for key in (from_values([0, 3]), (slice(None), from_values([4])), (from_values([0]), from_values([-5], dtype="int32"))):
        with pytest.raises(IndexError, match="out of bounds"):
            a[key].asnumpy()


@pytest.mark.parametrize("key", [0, slice(None), ([0, 1],), (slice(None), 1), onp.array([True, False]), [0]])
@pytest.mark.parametrize("value", ["a", {}, 1j, [[1], [1, 2]], onp.zeros((7,)), None])
def test_refused_values(key, value):
    a = from_values(onp.zeros((2, 3)), dtype="int32")
    with pytest.raises((TypeError, ValueError)):
        a[key] = value
    with pytest.raises(TypeError):
        del a[key]
    assert not a.asnumpy().any()


def test_assigned_values():
    a = from_values(onp.zeros((2, 3)), dtype="int64")
    a[0] = 2 ** 62 + 1
    a[1, [0, 2]] = -(2 ** 62) - 1
    a[from_values([[False, False, False], [False, True, False]])] = 2 ** 62 + 3
    assert a.tolist() == [[2 ** 62 + 1] * 3, [-(2 ** 62) - 1, 2 ** 62 + 3, -(2 ** 62) - 1]]
    a[:] = 1.75
    assert a.tolist() == [[1] * 3] * 2
    b = from_values(onp.zeros(3))
    b[0] = None
    assert onp.isnan(b.asnumpy()[0])
    with pytest.raises(TypeError, match="as_np_ndarray"):
        b[:] = mx.nd.ones((3,))
    b[:] = mx.nd.ones((3,)).as_np_ndarray()
    b[[0, 1]] += 10
    b[b > 5] *= 2
    assert b.tolist() == [22.0, 22.0, 1.0]


def test_overlapping_assignment():
    for key, other in ((slice(1, None), slice(None, -1)), (slice(None, None, -1), slice(None)), ([1, 0, 2, 4, 3], slice(None))):
        a, want = from_values(onp.arange(5.0)), onp.arange(5.0)
        a[key] = a[other]
        want[key] = want[other].copy()
        assert a.tolist() == want.tolist()


def test_two_by_many_dimensions():
    """Keys of arrays with more dimensions than the loops of the compiled binding have room for."""
    a = from_values(onp.arange(2.0).reshape((2,) + (1,) * 20))
    assert a[1].shape == (1,) * 20 and a[from_values([1])].shape == (1,) + (1,) * 20 and a[(0,) * 21].item() == 0


@pytest.mark.parametrize("key", [slice(-3, 0, -1), slice(-9, None, -2), (slice(None), slice(-4, -4, -1)), (1, slice(-7, None, -1))])
def test_falling_slices_that_begin_before_the_array(key):
    """They choose nothing, also while autograd records, and nothing is written there."""
    values = onp.arange(6.0, dtype="float32").reshape(2, 3)
    x = mx.np.array(values)
    x.attach_grad()
    with autograd.record():
        y = x[key]
        z = x * 2
        z[key] = 9
        loss = y.sum() + z.sum()
    loss.backward()
    assert y.shape == values[key].shape and 0 in y.shape
    assert z.tolist() == (values * 2).tolist() and x.grad.tolist() == [[2] * 3] * 2


def test_copyto_leaves_out_leading_dimensions_of_one():
    for to, shape in (((3,), (1, 3)), ((2, 3), (1, 1, 2, 3)), ((2, 3), (1, 1, 1, 3)), ((), (1,)), ((2, 3), (1,))):
        source = onp.arange(onp.prod(shape)).reshape(shape) + 1.0
        want = onp.zeros(to)
        onp.copyto(want, source)
        for values in (source, mx.np.array(source), source.tolist()):
            got = mx.np.zeros(to)
            mx.np.copyto(got, values)
            onp.testing.assert_array_equal(got.asnumpy(), want)
    with pytest.raises(ValueError, match="does not broadcast"):
        mx.np.copyto(mx.np.zeros(3), mx.np.ones((2, 3)))


def test_none_is_false_and_nan():
    for dtype, want in (("bool", [False, True]), ("float32", [onp.nan, 1])):
        for array in (mx.np.ones(2, dtype=dtype), mx.nd.ones(2, dtype=dtype)):
            array[0] = None
            onp.testing.assert_array_equal(array.asnumpy(), want)
    for array in (mx.np.ones(2, dtype="int32"), mx.nd.ones(2, dtype="int32")):
        with pytest.raises(TypeError, match="NoneType; accepted: numbers"):
            array[0] = None
