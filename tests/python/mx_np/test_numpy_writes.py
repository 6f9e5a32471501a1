"""Programs that write into recorded results: values are NumPy's, gradients those of finite
differences, eager and hybridized. Most are put together at random."""
import random
import sys
import warnings

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd

pytestmark = pytest.mark.filterwarnings("ignore:.*is not used by any computation")
SHAPES = {"x": (3, 4), "v": (5,), "w": (4,)}
WEIGHTS = np.random.RandomState(3).uniform(-1, 1, (3, 4))


class Writer:
    """Makes lines that write into `o`, an array of shape (3, 4), what comes of `x`, `v` and `w`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = ["extra = 0.0", self.random.choice(["o = x * 2", "o = np.sin(x)", "o = x + w", "o = np.zeros_like(x) + x * 0.5"])]
        for _ in range(self.random.randrange(1, 6)):
            self.lines.append(self.write())
            self.lines += [line for line in ("o = o * 1.1", "extra = extra + (o * o * x).sum()") if self.random.random() < 0.2]
        self.lines.append("out = (o * weights).sum() + (o * o).sum() * 0.3 + extra")

    def number(self):
        i, j, k = (self.random.randrange(n) for n in (3, 4, 5))
        return self.random.choice([f"v[{k}]", f"w[{j}] * v[{k}]", "w.sum()", "1.7", f"o[{i}, {j}]", "o.mean()", "(x * o).sum() * 0.1"])

    def vector(self, n):
        i = self.random.randrange(3)
        return self.random.choice([self.number(), f"np.concatenate([v, w, w])[:{n}]", f"np.concatenate([v * v, v])[::-1][:{n}]"]
                                  + [f"w[:{n}] * 2", f"x[{i}, :{n}] * o[{i}, :{n}]"] * (n <= 4))

    def matrix(self, m, n):
        products = f"np.outer(np.concatenate([v, w])[:{m}], np.concatenate([v, v])[:{n}])"
        return self.random.choice([self.vector(n), products] + [f"x[:{m}, :{n}] * 3", f"o[3 - {m}:, 4 - {n}:] * 1.5"] * (m <= 3 and n <= 4))

    def places(self, n, count):
        """Indices of a dimension of size n; some stand there twice."""
        given = [self.random.randrange(-n, n) for _ in range(count)]
        return self.random.choice([repr(given), f"np.array({given}, dtype='int64')"])

    def write(self):
        r, k = self.random, self.random.randrange(1, 6)
        i, j, (a, b) = r.randrange(-3, 3), r.randrange(-4, 4), sorted(r.sample(range(5), 2))
        put, change = r.choice(["=", "=", "+=", "*=", "-="]), r.choice(["+=", "*=", "-="])
        return r.choice([
            lambda: f"o[{i}] {put} {self.vector(4)}",
            lambda: f"o[{i}, {j}] {put} {self.number()}",
            lambda: f"o[{self.places(3, k)}] {put} {self.matrix(k, 4)}",
            lambda: f"o[{self.places(3, k)}, {self.places(4, k)}] {put} {self.vector(k)}",
            lambda: f"o[:, {a}:{b}] {put} {self.matrix(3, b - a)}",
            lambda: f"o[:, {self.places(4, k)}] {put} {self.matrix(3, k)}",
            lambda: f"o[{i}, {self.places(4, k)}] {put} {self.vector(k)}",
            lambda: f"o[None, {self.places(3, k)}, {a}:{b}] {put} {self.matrix(k, b - a)}",
            lambda: f"o[x > 0.1] {put} {self.number()}",
            lambda: "o[x > 0.1] = (x * w)[x > 0.1]",
            lambda: f"o[:, w > 0.2] {put} {self.number()}",
            lambda: f"o[::2, ::-1] {put} {self.matrix(2, 4)}",
            lambda: f"o[...] {put} {self.matrix(3, 4)}",
            lambda: f"o {change} {self.matrix(3, 4)}",
            lambda: f"row = o[{i}]; row {change} {self.vector(4)}",
            lambda: f"row = o[{i}]; row[{j}] {put} {self.number()}",
            lambda: f"o[{i}][{self.places(4, k)}] {put} {self.vector(k)}",
            lambda: f"o[1:3][{self.places(2, k)}] = {self.matrix(k, 4)}",
            lambda: f"np.put_along_axis(o, np.array([[{a}, {a}], [{b - 1}, 0], [1, 2]], dtype='int64') % 4, np.outer(v[:3], w[:2]), 1)",
            lambda: f"np.put(o, np.array([{a}, 5, {a}, {b}], dtype='int64'), v[:4])",
            lambda: f"np.copyto(o, {self.matrix(3, 4)}, where=x > 0)",
            lambda: f"np.fill_diagonal(o, {r.choice([self.number(), 'v', 'w[:2]'])})",
            lambda: f"np.multiply(o, {self.matrix(3, 4)}, out=o)",
            lambda: f"o.flat[{self.places(12, k)}] = {self.number()}"])()


def _run(lines, namespace, arrays, weights):
    space = dict(np=namespace, weights=weights, **arrays)
    exec("\n".join(lines), space)
    return space["out"], space["o"]


class Program(mx.gluon.HybridBlock):
    def __init__(self, lines):
        super().__init__()
        self.lines = lines

    def forward(self, x, v, w, weights):
        return _run(self.lines, mx.np, {"x": x, "v": v, "w": w}, weights)


def _slopes(lines, values, name):
    """The gradient of the program's result by finite differences."""
    out = np.zeros(SHAPES[name])
    for at in np.ndindex(*SHAPES[name]):
        ends = []
        for step in (1e-5, -1e-5):
            moved = {n: v.copy() for n, v in values.items()}
            moved[name][at] += step
            ends.append(_run(lines, np, moved, WEIGHTS)[0])
        out[at] = (ends[0] - ends[1]) / 2e-5
    return out


def _check(lines, seed, hybrid):
    values = {n: np.random.RandomState(seed).uniform(-1, 1, s) for n, s in SHAPES.items()}
    want = _run(lines, np, {n: v.copy() for n, v in values.items()}, WEIGHTS)[1]
    given = {n: mx.np.array(v, dtype="float64") for n, v in values.items()}
    for a in given.values():
        a.attach_grad()
    block = Program(lines)
    if hybrid:
        block.hybridize()
    with autograd.record():
        out, o = block(*given.values(), mx.np.array(WEIGHTS, dtype="float64"))
    out.backward()
    np.testing.assert_allclose(o.asnumpy(), want, rtol=1e-6, atol=1e-9)
    for name, array in given.items():
        np.testing.assert_allclose(array.grad.asnumpy(), _slopes(lines, values, name), rtol=1e-4, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed, hybrid):
    lines = Writer(seed).lines
    try:
        with mx.util.np_shape(True), mx.util.np_array(True):
            _check(lines, seed, hybrid)
    except Exception as error:
        raise AssertionError("\n".join(lines)) from error


@pytest.mark.parametrize("key,value", [("[0, 1, 0, 2]", "w"), ("[2, 2, 2]", "v[:3]"), ("[[0, 1], [1, 0]]", "w.reshape(2, 2)")])
@pytest.mark.parametrize("hybrid", [False, True])
def test_of_several_values_for_one_place_the_last_has_the_gradient(key, value, hybrid):
    places = f"np.array({key}, dtype='int64')"
    with mx.util.np_shape(True), mx.util.np_array(True):
        for line in (f"o[{places}, 1] = {value}", f"o[{places}, {places}] = {value}", f"o[{places}] = 3 * {value}.sum()"):
            _check(["o = x * x", line, "out = (o * o * weights).sum()"], 5, hybrid)


def test_second_derivative_of_a_write():
    v, places = mx.np.array([1.0, 2.0, 3.0]), mx.np.array([1, 0, 1], dtype="int64")
    v.attach_grad()
    with autograd.record():
        o = mx.np.zeros(2) * v.sum()
        o[places] = v * v * v
        first = autograd.grad(o.sum(), v, create_graph=True)[0]
        total = (first * first).sum()
    total.backward()
    assert first.tolist() == [0, 12, 27] and v.grad.tolist() == [0, 2 * 12 * 12, 2 * 27 * 18]


# ---- copies that NumPy has as views

def warnings_of(run):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run()
    return [str(w.message) for w in found if "write into a copy" in str(w.message)]


def test_writes_into_copies_of_parts_warn_once():
    x = mx.np.ones((3, 4))
    y, z, into = x[:, 1], x[::2], x[..., 0]

    def write():
        nonlocal y
        y += 1
        y += 1
        z[0] = 7
        mx.np.add(into, 1, out=into)
    assert len(warnings_of(write)) == (3 if sys.version_info < (3, 14) else 1)     # later Pythons lend their variables
    assert (x.asnumpy() == 1).all() and y.tolist() == [3, 3, 3]


def test_writes_that_are_not_lost_do_not_warn():
    x = mx.np.ones((3, 4))

    def write():
        x[:, 1] += 1
        x[:, 2] = 5
        row, copy, temporary = x[1], x[:, 1].copy(), (x * 2)[:, 1]
        row += 1
        copy += 1
        temporary += 1
        mx.np.add(x[:, 1], 1)
    assert not warnings_of(write)
    assert x.tolist() == [[1, 2, 5, 1], [2, 3, 6, 2], [1, 2, 5, 1]]
