"""Blocks of mx.np and mx.npx as ONNX models."""
import numpy as np
import pytest
from onnx_checks import around_zero, check_block, operators, positive

import mxnet as mx
from mxnet import np as mnp, npx

pytestmark = pytest.mark.usefixtures("numpy_semantics")


def check(function, arrays, folder, **options):
    class Net(mx.gluon.HybridBlock):
        def forward(self, *inputs):
            return function(*inputs)

    check_block(Net(), arrays, folder, **options)


def whole(*shape):
    return np.random.RandomState(len(shape)).randint(1, 5, shape).astype("int32")


@pytest.mark.parametrize("name", """absolute negative exp sin cos tan arctan sinh cosh tanh arcsinh sign square
    cbrt expm1 degrees radians logical_not isnan isinf isfinite isposinf isneginf""".split())
def test_of_one_number(name, tmp_path):
    check(getattr(mnp, name), [around_zero(3, 4)], tmp_path)
    check(getattr(mnp, name), [whole(3, 4)], tmp_path)


@pytest.mark.parametrize("name", "floor ceil trunc fix rint log sqrt log2 log10 log1p arcsin arccos arctanh reciprocal".split())
def test_of_positive_numbers(name, tmp_path):
    check(getattr(mnp, name), [positive(3, 4)], tmp_path)


@pytest.mark.parametrize("name", """add subtract multiply true_divide mod power maximum minimum equal not_equal greater
    greater_equal less less_equal logical_and logical_or logical_xor fmax fmin fmod floor_divide""".split())
def test_of_two_numbers(name, tmp_path):
    function = getattr(mnp, name)
    check(function, [around_zero(3, 4), around_zero(1, 4)], tmp_path)
    check(function, [whole(3, 4), whole(1, 4) + 1], tmp_path)
    check(function, [around_zero(3, 4), whole(1, 4)], tmp_path)
    for scalar in (2, 1.5):
        check(lambda a: (function(a, scalar), function(scalar, a)), [around_zero(3, 4)], tmp_path)
        check(lambda a: function(a, scalar), [whole(3, 4)], tmp_path)


@pytest.mark.parametrize("name", ["hypot", "arctan2", "copysign", "logaddexp"])
def test_of_two_real_numbers(name, tmp_path):
    check(getattr(mnp, name), [around_zero(3, 4), around_zero(1, 4)], tmp_path)


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits(name, tmp_path):
    check(getattr(mnp, name), [whole(3, 4), whole(3, 4) + 1], tmp_path)
    check(lambda a: (getattr(mnp, name)(a, 3), mnp.bitwise_not(a)), [whole(3, 4)], tmp_path)


@pytest.mark.parametrize("name", "sum mean max min prod std var argmax argmin all any".split())
def test_reductions(name, tmp_path):
    function = getattr(mnp, name)
    for more in ({}, {"axis": 1}, {"axis": -1, "keepdims": True}):
        check(lambda a: function(a, **more), [positive(2, 3, 4)], tmp_path)
    check(lambda a: function(a, axis=1), [whole(2, 3, 4)], tmp_path)


X = around_zero(2, 3, 4)
FUNCTIONS = {
    "std ddof": (lambda a: mnp.std(a, ddof=1, axis=0), X), "cumsum": (lambda a: mnp.cumsum(a), X),
    "average": (lambda a, w: mnp.average(a, axis=1, weights=w), positive(2, 3), positive(2, 3)),
    "average of rows": (lambda a, w: mnp.average(a, axis=1, weights=w, returned=True), X, positive(3)),
    "average of places": (lambda a, w: mnp.average(a, axis=-1, weights=w), X, positive(4)),
    "norm": (lambda a: mnp.linalg.norm(a), X), "diff": (lambda a: mnp.diff(a, n=2), X),
    "around": (lambda a: mnp.around(a, 1), X), "clip": (lambda a: mnp.clip(a, -1, 1), X),
    "nan_to_num": (mnp.nan_to_num, np.array([1, np.nan, np.inf, -np.inf], "float32")),
    "reshape": (lambda a: a.reshape(-1, 4), X), "npx.reshape": (lambda a: npx.reshape(a, (-2, -1)), X),
    "T": (lambda a: a.T, X), "squeeze": (lambda a: mnp.squeeze(a[:, None]), X),
    "moveaxis": (lambda a: mnp.moveaxis(a, 0, -1), X), "rollaxis": (lambda a: mnp.rollaxis(a, 2), X),
    "flip": (lambda a: (mnp.flip(a, 1), mnp.flip(a)), X), "roll": (lambda a: (mnp.roll(a, 2, axis=1), mnp.roll(a, 5)), X),
    "rot90": (lambda a: tuple(mnp.rot90(a, k) for k in range(4)), around_zero(3, 4)),
    "concatenate": (lambda a, b: (mnp.concatenate([a, b], 1), mnp.concatenate([a, b], None)), X, around_zero(2, 1, 4)),
    "stack": (lambda a, b: (mnp.stack([a, b], -1), mnp.vstack([a, b]), mnp.hstack([a, b]), mnp.dstack([a, b])),
              around_zero(2, 3), positive(2, 3)),
    "split": (lambda a: (*mnp.split(a, 2, axis=2), *mnp.split(a, [1, 3], axis=2), *mnp.hsplit(a, 3)), X),
    "array_split": (lambda a: mnp.array_split(a, 3, axis=2), X),
    "tile": (lambda a: (mnp.tile(a, (2, 1)), mnp.repeat(a, 2, axis=1), mnp.repeat(a, [1, 2, 0], axis=1)), X),
    "pad": (lambda a: (mnp.pad(a, ((1, 2), (0, 1))), mnp.pad(a, 1, mode="edge")), around_zero(2, 3)),
    "triangles": (lambda a: (mnp.tril(a, 1), mnp.triu(a, -1), mnp.trace(a), mnp.diag(a, 1)), around_zero(4, 4)),
    "where": (lambda a: (mnp.where(a > 0, a, 1.5), mnp.where(a > 0, 1.5, a), mnp.where(a > 0, 1.5, 2.5)), X),
    "dot": (lambda a, b: (mnp.dot(a, b), mnp.matmul(a, b)), X, around_zero(4, 5)),
    "dot 3": (mnp.dot, X, around_zero(5, 4, 2)), "kron": (mnp.kron, around_zero(2, 3), around_zero(2, 2)),
    "convolve": (lambda a, b: [mnp.convolve(*pair, mode) for mode in ("full", "same", "valid") for pair in ((a, b), (b, a))],
                 around_zero(9), around_zero(4)),
    "correlate": (lambda a, b: [mnp.correlate(*pair, mode) for mode in ("full", "same", "valid") for pair in ((a, b), (b, a))],
                  around_zero(9), around_zero(4)),
    "tensordot": (lambda a, b: (mnp.tensordot(a, b, ((1, 2), (0, 1))), mnp.einsum("ijk,jkl->il", a, b)), X, around_zero(3, 4, 5)),
    "index": (lambda a: (a[:, 1], a[..., ::-1], a[0, 1:, ::2]), X),
    "index by arrays": (lambda a, i, j: (a[i], a[i, j], a[:, j]), around_zero(6, 6), whole(3), whole(3)[::-1].copy()),
    "mask": (lambda a, m: a[m], around_zero(4, 3), np.array([1, 0, 1, 1], bool)),
    "nonzero": (lambda m: npx.nonzero(m), np.array([[1, 0], [1, 1]], bool)),
    "sort": (lambda a: (mnp.sort(a, axis=1), mnp.argsort(a)), X),
    "index_update": (lambda a, i, v: (npx.index_update(a, i, v), npx.index_add(a, i, v)), X,
                     np.array([[0, 1], [2, 0]], "int32"), around_zero(2, 4)),
    "sequence_mask": (lambda a, n: npx.sequence_mask(a, n, use_sequence_length=True, axis=1), X, np.array([1, 2], "float32")),
    "constants": (lambda a: a + mnp.ones((3, 1)) + mnp.arange(4) + mnp.eye(3, 4) + mnp.full_like(a, 3.0), X),
}


@pytest.mark.parametrize("draw", """exponential(size=3) gamma(2,size=3) gumbel(size=3) laplace(size=3) logistic(size=3)
    pareto(2,size=3) power(2,size=3) rayleigh(size=3) weibull(2,size=3) choice(5,size=3) multinomial(3,[.5,.5])
    randint(0,5,size=3)""".split())
def test_random_numbers_do_not_become_constants(draw, tmp_path):
    class Net(mx.gluon.HybridBlock):
        def forward(self, a):
            return a + eval("mnp.random." + draw).sum()

    net = Net()
    net.hybridize()
    net(mnp.ones(2))
    path = mx.onnx.export_model(net, onnx_file_path=str(tmp_path / "model.onnx"))
    model = mx.onnx.load(path)
    if "multinomial" in draw:       # whose sum is always the same
        assert "Multinomial" in operators(path)
    else:
        assert len({float(model(mnp.ones(2))[0]) for _ in range(20)}) > 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name, tmp_path):
    function, *arrays = FUNCTIONS[name]
    check(function, arrays, tmp_path)


@pytest.mark.parametrize("layer", ["LSTM", "GRU"])
def test_recurrent_layers_make_states_for_any_batch(layer, tmp_path):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.layer = getattr(mx.gluon.rnn, layer)(4, num_layers=2, bidirectional=True)

        def forward(self, x):
            return npx.relu(self.layer(x))

    net = Net()
    net.initialize()
    check_block(net, [around_zero(5, 3, 6)], tmp_path, others=[[around_zero(5, 7, 6)]],
                dynamic=True, dynamic_input_shapes=[(5, "batch", 6)])
