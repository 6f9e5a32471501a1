"""Hybridized blocks whose arrays have shapes that depend on values: they become graphs, which are
exported, unless Python reads such a shape."""
import warnings

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, gluon

X = np.array([[1.0, -2.0, 3.0], [0.0, 5.0, -6.0]], "float32")
Y = np.array([[-1.0, 2.0, 0.0], [4.0, -5.0, -6.0]], "float32")


def _assigned(x, key, value):
    """A copy of `x` with other values in places that its own values tell."""
    y = x * 1
    y[key(y)] = value(y)
    return y


FORWARDS = {
    "mask": lambda x: x[x > 0] * 2,
    "mask of a result": lambda x: (x * 2 + 1)[x > 0],
    "sum of a mask": lambda x: x[x > 0].sum(),
    "rows": lambda x: (x * 2)[x[:, 0] > 0].sum(axis=0),
    "nonzero": lambda x: mx.npx.nonzero(x),
    "unique": lambda x: mx.np.unique(x + 1),
    "reshaped": lambda x: mx.np.exp(x[x > 0].reshape(-1, 1)),
    "twice": lambda x: x[x > 0][x[x > 0] > 2],
    "two": lambda x: (x[x > 0], x[x < 0] * 3),
    "counts": lambda x: mx.np.bincount(mx.np.abs(x).reshape(-1).astype("int32")),
    "last": lambda x: mx.np.concatenate([x, x * 0 + 1])[mx.np.concatenate([x, x * 0 + 1]) > 0][-1:],
    "products": lambda x: mx.np.dot(x[x > 0], x[x > 0]) + mx.np.outer(x[x > 0], x[x > 0]).std(),
    "places": lambda x: x[mx.np.nonzero(x > 0)],
    "places of rows": lambda x: x[mx.np.nonzero(x[:, 0] > 0)[0]] * 2,
    "places and a number": lambda x: (x * 2)[mx.np.flatnonzero(x[:, 0] > 0), 1],
    "places apart": lambda x: mx.np.stack([x, x + 1])[1, :, mx.np.flatnonzero(x[0] > 0)],
    "places and new axes": lambda x: x[None, mx.np.flatnonzero(x[:, 0] > 0), ..., None],
    "places and a slice": lambda x: mx.np.stack([x, x + 1], axis=1)[mx.np.flatnonzero(x[:, 0] > 0), :, 1:],
    "mask and a number": lambda x: x[x[:, 0] > 0, 1] + 1,
    "compress": lambda x: mx.np.compress(x[:, 0] > 0, x, axis=0),
    "extract": lambda x: mx.np.extract(x > 0, x),
    "histogram": lambda x: mx.np.histogram(x[x > 0], 4, (0, 8), weights=x[x > 0])[0],
    "isin": lambda x: mx.np.isin(x, x[x > 3]),
    "two masks": lambda x: mx.np.stack([x, x + 1])[:, x > 0, None],
    "places of a mask": lambda x: x[x > 0][mx.np.flatnonzero(x[x > 0] > 2)],
    "masked values": lambda x: _assigned(x, lambda y: y > 0, lambda y: y[y > 0] * 3),
    "masked part": lambda x: _assigned(x, lambda y: (x[:, 0] > 0, 1), lambda y: 7),
    "assigned places": lambda x: _assigned(x, lambda y: mx.np.nonzero(y > 0), lambda y: y[y > 0] + 1),
    "places apart, assigned": lambda x: _assigned(mx.np.stack([x, x + 1]),
                                                  lambda y: (1, slice(None), mx.np.flatnonzero(x[0] > 0)), lambda y: -x[0, :1]),
    "padded": lambda x: mx.np.pad(x[x > 0], (1, 2), constant_values=4),
    "padded rows": lambda x: mx.np.pad(x[x[:, 0] > -2], ((0, 0), (1, 2)), mode="edge"),
    "turned around": lambda x: mx.np.flip(x[x > 0]),
    "split": lambda x: mx.np.split(x[x > 0], [1]),
    "split columns": lambda x: mx.np.hsplit((x * 2)[x[:, 0] > -2], [1, 2]),
    "uneven parts": lambda x: mx.np.array_split(x[x > -9], 4),
    "weighted": lambda x: mx.np.concatenate([x[x > 0], x[x < 0]]).mean(),
}


class Block(gluon.HybridBlock):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def _values(result):
    return [r.asnumpy().tolist() for r in (result if isinstance(result, (list, tuple)) else [result])]


@pytest.fixture(autouse=True)
def numpy_semantics():
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


@pytest.mark.parametrize("name", FORWARDS)
@pytest.mark.parametrize("static", [False, True])
def test_graphs(name, static, tmp_path):
    function = FORWARDS[name]
    block = Block(function)
    block.hybridize(static_alloc=static)
    with warnings.catch_warnings():
        warnings.simplefilter("error")      # running operator by operator would warn
        for values in (X, Y, X, Y - 3):
            x = mx.np.array(values)
            assert _values(block(x)) == _values(function(x)), name
        block.export(str(tmp_path / "net"))
        again = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"])
        for values in (Y, X, X[:, :2], Y[:1]):
            assert _values(again(mx.np.array(values))) == _values(function(mx.np.array(values)))
        for values in (Y[:1], np.concatenate([X, Y])):     # graphs of their own
            assert _values(block(mx.np.array(values))) == _values(function(mx.np.array(values)))


@pytest.mark.parametrize("name", [
    "mask", "mask of a result", "sum of a mask", "rows", "reshaped", "twice", "products", "weighted", "places", "places apart",
    "places and a slice", "two masks", "masked values", "assigned places", "places apart, assigned"])
def test_gradients(name):
    block = Block(FORWARDS[name])
    block.hybridize()
    for values in (X, Y):
        found = []
        for function in (block, FORWARDS[name]):
            x = mx.np.array(values)
            x.attach_grad()
            with autograd.record():
                total = (function(x) * 1.5).sum()
            total.backward()
            found.append((total.item(), x.grad.tolist()))
        assert found[0] == found[1]


@pytest.mark.parametrize("function", [
    lambda x: x[x > 0] * x[x > 0].shape[0], lambda x: x[x > 0] * len(x[x > 0]), lambda x: x[x > 0] / x[x > 0].size,
    lambda x: mx.np.ones(x[x > 0].shape), lambda x: sum(v for v in x[x > 0]), lambda x: mx.np.median(x[x > 0]),
], ids=["shape", "len", "size", "ones", "loop", "median"])
def test_reading_a_shape_ends_the_graph(function):
    block = Block(function)
    block.hybridize()
    with pytest.warns(UserWarning, match="operator by operator"):
        first = block(mx.np.array(X))
    assert first.asnumpy().tolist() == function(mx.np.array(X)).asnumpy().tolist()
    assert block(mx.np.array(Y)).asnumpy().tolist() == function(mx.np.array(Y)).asnumpy().tolist()


def test_ranks_may_be_read():
    block = Block(lambda x: x[x > 0] * x[x > 0].ndim)
    block.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert block(mx.np.array(X)).tolist() == [1, 3, 5] and block(mx.np.array(Y)).tolist() == [2, 4]


def test_layers_in_front(tmp_path):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense, self.head = gluon.nn.Dense(4, in_units=3), gluon.nn.Dense(2, in_units=4)

        def forward(self, x, keep):
            return self.head(self.dense(x)[keep])
    net = Net()
    net.initialize(mx.init.Constant(0.1))
    net.hybridize()
    keep = mx.np.array([False, True], dtype="bool")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert net(mx.np.array(X), keep).shape == (1, 2)
        assert net(mx.np.array(X), ~(keep & ~keep)).shape == (2, 2)
    net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data0", "data1"], str(tmp_path / "net-0000.params"))
    np.testing.assert_allclose(again(mx.np.array(X), keep).asnumpy(), net(mx.np.array(X), keep).asnumpy(), rtol=1e-6)


def test_histograms_of_weights():
    block = Block(lambda x: mx.np.histogram(x, 3, (-3, 3), weights=x * 2)[0])
    block.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (X, Y):
            expected = np.histogram(values, 3, (-3, 3), weights=values * 2)[0]
            assert block(mx.np.array(values)).tolist() == expected.tolist()


def test_edges_of_histograms_do_not_fall():
    for bins in ([2, 1], (0.0, 2.0, 1.0), np.array([1.0, 0.0])):
        with pytest.raises(ValueError, match="histogram.*fall"):
            mx.np.histogram(mx.np.array(X), bins)
    assert mx.np.histogram(mx.np.array([1.0]), [1, 1, 2])[0].tolist() == [0, 1]


def test_effects_happen_once():
    """Moving means and random numbers are not computed only to find a shape."""
    def run(hybridize):
        mx.np.random.seed(3)
        norm = gluon.nn.BatchNorm(in_channels=3)
        norm.initialize()
        block = Block(lambda x: mx.npx.dropout(norm(x), 0.5)[x > 0])
        block.norm = norm
        if hybridize:
            block.hybridize()
        with warnings.catch_warnings(), autograd.record():
            warnings.simplefilter("ignore")
            results = [block(mx.np.array(v)).tolist() for v in (X, Y)]
        return results, norm.running_mean.data().tolist(), mx.np.random.uniform(size=(2,)).tolist()
    assert run(True)[1] == run(False)[1]
    assert run(True) == run(False)
