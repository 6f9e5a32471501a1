"""Functions of numbers, reductions and softmax as ONNX operators."""
import numpy as np
import pytest
from onnx_checks import around_zero, check_symbol, operators, positive

import mxnet as mx

S = mx.sym
x, y, z = S.var("x"), S.var("y"), S.var("z")


@pytest.mark.parametrize("name", """abs negative exp sin cos tan arctan sinh cosh tanh arcsinh erf sign
    square cbrt floor ceil trunc fix round rint expm1 degrees radians sigmoid relu softsign
    logical_not ones_like zeros_like size_array shape_array BlockGrad identity""".split())
def test_of_any_number(name, tmp_path):
    check_symbol(getattr(S, name)(x), {"x": around_zero(3, 4)}, {}, tmp_path)


@pytest.mark.parametrize("name", """log sqrt rsqrt rcbrt log2 log10 log1p arcsin arccos arctanh
    reciprocal""".split())
def test_of_positive_numbers(name, tmp_path):
    check_symbol(getattr(S, name)(x), {"x": positive(3, 4)}, {}, tmp_path)


def test_halves_are_rounded_as_here(tmp_path):
    halves = {"x": np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], "float32")}
    check_symbol(S.Group([S.round(x), S.rint(x), S.fix(x), S.arccosh(x + 4)]), halves, {}, tmp_path)


@pytest.mark.parametrize("name", """add sub mul div mod power maximum minimum hypot equal not_equal
    greater greater_equal lesser lesser_equal logical_and logical_or logical_xor""".split())
def test_of_two_arrays(name, tmp_path):
    symbol = getattr(S, "broadcast_" + name)(x, y)
    arrays = {"x": np.round(positive(3, 4) * 4), "y": np.round(positive(1, 4, seed=5) * 4)}
    check_symbol(symbol, arrays, {}, tmp_path)


@pytest.mark.parametrize("function", [
    lambda a: a + 2.5, lambda a: a - 2.5, lambda a: 2.5 - a, lambda a: a * 3, lambda a: a / 3,
    lambda a: 3 / a, lambda a: a % .3, lambda a: 2 % a, lambda a: a ** 2.5, lambda a: 2.5 ** a,
    lambda a: a > .5, lambda a: a >= .5, lambda a: a < .5, lambda a: a <= .5, lambda a: a == .5,
    lambda a: a != .5, lambda a: S.maximum(a, .5), lambda a: S.minimum(a, .5)])
def test_with_a_number(function, tmp_path):
    check_symbol(function(x), {"x": positive(3, 4)}, {}, tmp_path)


def test_remainders_have_the_sign_of_the_divisor(tmp_path):
    arrays = {"x": around_zero(3, 4), "y": around_zero(3, 4, seed=7)}
    arrays["y"][0, 0] = 0
    check_symbol(S.broadcast_mod(x, y), arrays, {}, tmp_path)


@pytest.mark.parametrize("kind", "relu sigmoid softrelu softsign tanh mish log_sigmoid".split())
@pytest.mark.parametrize("opset", [13, 21])
def test_activation(kind, opset, tmp_path):
    check_symbol(S.Activation(x, act_type=kind), {"x": around_zero(3, 4)}, {}, tmp_path,
                 opset_version=opset)


@pytest.mark.parametrize("kind", "elu gelu leaky rrelu selu".split())
@pytest.mark.parametrize("opset", [13, 21])
def test_leaky(kind, opset, tmp_path):
    check_symbol(S.LeakyReLU(x, act_type=kind, slope=0.3), {"x": around_zero(3, 4)}, {}, tmp_path,
                 opset_version=opset)


@pytest.mark.parametrize("slopes", [1, 3])
def test_prelu(slopes, tmp_path):
    check_symbol(S.LeakyReLU(x, y, act_type="prelu"), {"x": around_zero(2, 3, 4)},
                 {"y": positive(slopes)}, tmp_path)


@pytest.mark.parametrize("function", [
    lambda: S.hard_sigmoid(x, alpha=0.3), lambda: S.clip(x, -1, 1), lambda: S.add_n(x, x, x),
    lambda: S.smooth_l1(x, scalar=2.0), lambda: S.contrib.quadratic(x, a=1, b=2, c=3),
    lambda: S.contrib.div_sqrt_dim(x)])
def test_others(function, tmp_path):
    check_symbol(function(), {"x": around_zero(2, 3, 4)}, {}, tmp_path)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
@pytest.mark.parametrize("more", [{"axis": 1}, {"temperature": 2.0}])
def test_softmax(name, more, tmp_path):
    check_symbol(getattr(S, name)(x, **more), {"x": around_zero(2, 3, 4)}, {}, tmp_path)


@pytest.mark.parametrize("axis, lengths", [(-1, [[1, 2, 3], [4, 1, 2]]),
                                           (1, [[1, 2, 3, 1], [3, 1, 2, 2]])])
def test_softmax_of_lengths(axis, lengths, tmp_path):
    check_symbol(S.softmax(x, y, use_length=True, axis=axis),
                 {"x": around_zero(2, 3, 4), "y": np.array(lengths, "int32")}, {}, tmp_path)


@pytest.mark.parametrize("name", ["masked_softmax", "masked_log_softmax"])
def test_masked_softmax(name, tmp_path):
    check_symbol(getattr(S, name)(x, y), {"x": around_zero(2, 3, 4),
                                          "y": around_zero(2, 3, 4, seed=3) > -1}, {}, tmp_path)


@pytest.mark.parametrize("symbol, label", [
    (lambda: S.SoftmaxOutput(x, y), (2,)), (lambda: S.SoftmaxOutput(x, y, multi_output=True), (2, 4)),
    (lambda: S.SoftmaxOutput(x, y, preserve_shape=True), (2, 3)),
    (lambda: S.LinearRegressionOutput(x, y), None), (lambda: S.LogisticRegressionOutput(x, y), None),
    (lambda: S.MAERegressionOutput(x, y), None), (lambda: S.SVMOutput(x, y), (2,))])
def test_layers_of_losses_need_no_label(symbol, label, tmp_path):
    shape = (2, 3) if label in (None, (2,)) else (2, 3, 4)
    arrays = {"x": around_zero(*shape), "y": np.zeros(label or shape, "float32")}
    path = check_symbol(symbol(), arrays, {}, tmp_path)
    assert "y" not in str(mx_inputs(path))


def mx_inputs(path):
    import onnx
    return [i.name for i in onnx.load(path).graph.input]


@pytest.mark.parametrize("mode", ["instance", "channel"])
def test_softmax_activation(mode, tmp_path):
    check_symbol(S.SoftmaxActivation(x, mode=mode), {"x": around_zero(2, 3, 4)}, {}, tmp_path)


# ---- reductions

@pytest.mark.parametrize("name", "sum mean max min prod nansum nanprod norm".split())
@pytest.mark.parametrize("more", [{}, {"axis": 1}, {"axis": (0, 2)}, {"axis": -1, "keepdims": True},
                                  {"keepdims": True}, {"axis": 1, "exclude": True}])
def test_reduction(name, more, tmp_path):
    if name == "norm" and "exclude" in more:
        more = {"ord": 1, "axis": 1}
    for opset in (13, 18):
        check_symbol(getattr(S, name)(x, **more), {"x": positive(2, 3, 4)}, {}, tmp_path,
                     opset_version=opset)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("more", [{}, {"axis": 1}, {"axis": 1, "keepdims": True}])
def test_positions_of_extremes(name, more, tmp_path):
    check_symbol(getattr(S, name)(x, **more), {"x": around_zero(2, 3, 4)}, {}, tmp_path)


@pytest.mark.parametrize("function", [
    lambda: S.argmax_channel(S.Reshape(x, shape=(6, 4))), lambda: S.cumsum(x, axis=1), lambda: S.cumsum(x),
    lambda: S.Group(list(S.moments(x, axes=(0, 2)))),
    lambda: S.Group(list(S.moments(x, axes=(0, 2), keepdims=True))),
    lambda: S.Group([S.L2Normalization(x, mode=m) for m in ("instance", "channel")]),
    lambda: S.L2Normalization(S.Reshape(x, shape=(-1,))), lambda: S.sum(x, axis=(0, 1, 2), exclude=True),
    lambda: S.norm(S.sum(x, axis=(0, 2)), axis=0, keepdims=True)])
def test_other_reductions(function, tmp_path):
    check_symbol(function(), {"x": around_zero(2, 3, 4)}, {}, tmp_path)


def test_cross_entropy(tmp_path):
    check_symbol(S.softmax_cross_entropy(x, y),
                 {"x": around_zero(3, 4), "y": np.array([0, 1, 3], "float32")}, {}, tmp_path)


# ---- matrices

@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_products(first, second, tmp_path):
    turns = {"transpose_a": first, "transpose_b": second}
    a, b = around_zero(2, 3, 4), around_zero(2, 4, 5)
    a, b = (a.swapaxes(1, 2) if first else a).copy(), (b.swapaxes(1, 2) if second else b).copy()
    check_symbol(S.batch_dot(x, y, **turns), {"x": a, "y": b}, {}, tmp_path)
    check_symbol(S.linalg.gemm2(x, y, alpha=2.0, **turns), {"x": a, "y": b}, {}, tmp_path)
    check_symbol(S.dot(x, y, **turns), {"x": a[0], "y": b[0]}, {}, tmp_path)


@pytest.mark.parametrize("left, right, more", [
    ((3,), (3,), {}), ((2, 3, 4), (4, 5), {}), ((2, 3, 4), (4, 5, 2), {}),
    ((4, 2, 3), (4, 5), {"transpose_a": True}), ((2, 4), (3, 5, 4), {"transpose_b": True})])
def test_dot_of_other_ranks(left, right, more, tmp_path):
    check_symbol(S.dot(x, y, **more), {"x": around_zero(*left), "y": around_zero(*right)}, {}, tmp_path)


def test_products_of_linalg(tmp_path):
    check_symbol(S.linalg.gemm(x, y, z, alpha=2.0, beta=0.5), {
        "x": around_zero(2, 3, 4), "y": around_zero(2, 4, 5), "z": around_zero(2, 3, 5)}, {}, tmp_path)
    check_symbol(S.linalg.syrk(x, transpose=True), {"x": around_zero(2, 3, 4)}, {}, tmp_path)
    path = check_symbol(S.linalg.det(x), {"x": around_zero(2, 3, 3)}, {}, tmp_path)
    assert operators(path) == ["Det"]
