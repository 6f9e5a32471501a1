"""One harness for functions of mx.np: a table of calls, each made here and in NumPy and compared in
values, shape and dtype; gradients against finite differences.

A row is ``(name, arguments)`` or ``(name, arguments, keywords)``. Arrays among the arguments are
:func:`rand` or :func:`ints`: in NumPy they are arrays, here arrays of mx.np of the same dtype.
"""
import numpy as np
import pytest

import mxnet as mx

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int64", "int32", "int8", "uint8")
ALL = FLOATS + INTEGERS + ("bool",)


class Drawn:
    """An array of a shape, in the dtype that a test asks for or in its own."""

    def __init__(self, shape, low=-4, high=5, dtype=None, values=None):
        self.shape, self.low, self.high, self.dtype, self.fixed = tuple(shape), low, high, dtype, values

    def values(self, rng, dtype):
        dtype = self.dtype or dtype
        if self.fixed is not None:
            return np.array(self.fixed, dtype)
        if dtype == "bool":
            return rng.integers(0, 2, self.shape).astype(bool)
        low = max(self.low, 0) if dtype.startswith("u") else self.low
        values = np.array(rng.integers(low, self.high, self.shape)).astype(dtype)
        return values

    def __repr__(self):
        return f"{self.dtype or ''}{list(self.shape)}"


def rand(*shape, low=-4, high=5, dtype=None):
    """Whole numbers, which every dtype holds exactly."""
    return Drawn(shape, low, high, dtype)


def fixed(values, dtype=None):
    """An array with these values."""
    return Drawn(np.shape(values), dtype=dtype, values=values)


def build(value, rng, dtype, to):
    """`value` with its drawn arrays made: `to` turns a NumPy array into what the call gets."""
    if isinstance(value, Drawn):
        return to(value.values(rng, dtype))
    if isinstance(value, (list, tuple)) and any(isinstance(v, (Drawn, list, tuple)) for v in value):
        return type(value)(build(v, rng, dtype, to) for v in value)
    return value


def arrays_of(result):
    """The arrays of a result as a flat list of NumPy arrays."""
    if result is None:
        return []
    if isinstance(result, (list, tuple)):
        return [a for r in result for a in arrays_of(r)]
    return [result.asnumpy() if hasattr(result, "asnumpy") else np.asarray(result)]


def named(space, name):
    """The function of a module, or with a dot in its name of a module below."""
    for part in name.split("."):
        space = getattr(space, part)
    return space


def both(row, dtype, seed=0, here=mx.np):
    """What the row gives here and in NumPy."""
    name, args, kwargs = row if len(row) == 3 else (*row, {})
    def made(to):
        rng = np.random.default_rng(seed)
        return build(tuple(args), rng, dtype, to), {k: build(v, rng, dtype, to) for k, v in kwargs.items()}
    ours_args, ours_kwargs = made(lambda a: mx.np.array(a, dtype=a.dtype))
    args, kwargs = made(lambda a: a)
    ours, theirs = named(here, name)(*ours_args, **ours_kwargs), named(np, name)(*args, **kwargs)
    return (ours, theirs) if theirs is not None else (ours_args[0], args[0])   # in place


def compare(row, dtype, same_dtype=True, here=mx.np, tolerance=None):
    """Fails where the row's results differ from those of NumPy by more than rounding, or more than
    `tolerance`. `here`: the module whose functions are called."""
    ours, theirs = both(row, dtype, here=here)
    assert isinstance(theirs, (list, tuple)) == isinstance(ours, (list, tuple)), (type(ours), type(theirs))
    ours, theirs = arrays_of(ours), arrays_of(theirs)
    assert len(ours) == len(theirs)
    tol = tolerance or {"float16": 2e-3, "float32": 2e-6, "float64": 1e-12}.get(dtype, 1e-6)
    for a, b in zip(ours, theirs):
        assert a.shape == b.shape, (a.shape, b.shape)
        if same_dtype:
            assert a.dtype == b.dtype, (a.dtype, b.dtype)
        np.testing.assert_allclose(a.astype("float64"), b.astype("float64"), rtol=tol, atol=tol)


def rows(table, dtypes):
    """Parameters of a test of each row in each dtype."""
    return [pytest.param(row, dtype, id=f"{row[0]}-{i}-{dtype}") for i, row in enumerate(table) for dtype in dtypes]


def check_gradient(row, eps=1e-3, relative=1e-6):
    """Finite differences, in float64, of a weighted sum of the results with respect to every drawn
    array that has no dtype of its own. They agree up to the error `relative`."""
    name, args, kwargs = row if len(row) == 3 else (*row, {})
    inputs = []

    def to(values):
        x = mx.np.array(values, dtype=values.dtype)
        if values.dtype == "float64":
            inputs.append(x)
        return x
    rng = np.random.default_rng(1)
    built = build(tuple(args), rng, "float64", to)
    keywords = {k: build(v, rng, "float64", to) for k, v in kwargs.items()}
    for x in inputs:
        x.attach_grad()
    function = named(mx.np, name)

    def terms():
        results = function(*built, **keywords)
        return [r for r in (results if isinstance(results, (list, tuple)) else [results]) if r.dtype == np.float64]
    with mx.autograd.record():
        results = terms()
        weights = [mx.np.array(rng.uniform(0.5, 1.5, r.shape), dtype="float64") for r in results]
        heads = [r * w for r, w in zip(results, weights)]
    mx.autograd.backward(heads)
    assert results and inputs
    for x in inputs:
        before, grad = x.asnumpy(), x.grad.asnumpy()
        for i in np.ndindex(*before.shape):
            sums = []
            for step in (eps, -eps):
                moved = before.copy()
                moved[i] += step
                x[...] = mx.np.array(moved, dtype="float64")
                sums.append(sum(float((r.asnumpy() * w.asnumpy()).sum()) for r, w in zip(terms(), weights)))
            x[...] = mx.np.array(before, dtype="float64")
            np.testing.assert_allclose(grad[i], (sums[0] - sums[1]) / (2 * eps), rtol=relative, atol=max(1e-8, relative / 10))
