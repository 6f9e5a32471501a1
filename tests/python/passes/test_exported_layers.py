"""Passes for what exporters write: biases and transposes as nodes of their own, stacks of heads."""
import pytest

import mxnet as mx
from test_passes import X, compare, operators

INTERNAL = mx.sym._internal


def variables(names):
    return [mx.sym.Variable(name) for name in names]


# ---- join_bias

@pytest.mark.parametrize("shape", [(6,), (1, 6), (1, 1, 6)])
@pytest.mark.parametrize("first", [False, True])
def test_a_vector_behind_a_dense_layer_is_its_bias(shape, first):
    bias, = variables(["v"])
    layer = mx.sym.FullyConnected(X, num_hidden=6, no_bias=True, flatten=False, name="f")
    net = INTERNAL._npi_add(*((bias, layer) if first else (layer, bias)))
    joined, _ = compare(net, {"x": (2, 3, 5), "v": shape}, ["join_bias"], fewer=False)
    assert [name for name in operators(joined) if name not in ("Reshape",)] == ["FullyConnected"]


def test_an_activation_follows_the_bias():
    bias, = variables(["v"])
    layer = mx.sym.FullyConnected(X, num_hidden=6, no_bias=True, name="f")
    net = mx.sym.relu(mx.sym.broadcast_add(layer, bias))
    joined, _ = compare(net, {"x": (3, 5), "v": (1, 6)}, ["join_bias", "fuse_dense"], fewer=False)
    assert "_fused_dense" in operators(joined) and "relu" not in operators(joined)


def test_a_vector_of_channels_is_the_bias_of_a_convolution():
    bias, = variables(["v"])
    layer = mx.sym.Convolution(X, kernel=(3, 3), num_filter=4, no_bias=True, name="c")
    net = mx.sym.broadcast_add(layer, bias)
    joined, _ = compare(net, {"x": (2, 3, 7, 8), "v": (1, 4, 1, 1)}, ["join_bias"], fewer=False)
    assert "broadcast_add" not in operators(joined)


@pytest.mark.parametrize("shape", [(3, 6), (1, 1), (3, 1), (1, 3, 6)])
def test_what_is_no_vector_of_filters_stays(shape):
    other, = variables(["v"])
    layer = mx.sym.FullyConnected(X, num_hidden=6, no_bias=True, name="f")
    net = INTERNAL._npi_add(layer, other)
    joined, _ = compare(net, {"x": (3, 5), "v": shape}, ["join_bias"], fewer=False)
    assert "_npi_add" in operators(joined) or "_fused_dense" in operators(joined)


def test_a_layer_that_others_read_keeps_its_result():
    bias, = variables(["v"])
    layer = mx.sym.FullyConnected(X, num_hidden=6, no_bias=True, name="f")
    net = mx.sym.Group([mx.sym.sin(layer), mx.sym.broadcast_add(layer, bias)])
    joined, plain = compare(net, {"x": (3, 5), "v": (1, 6)}, ["join_bias"], fewer=False)
    assert "broadcast_add" in operators(joined) and "broadcast_add" in operators(plain)


# ---- fold_padding

def padded(name, widths, **kwargs):
    if name == "pad":
        return mx.sym.pad(X, mode="constant", pad_width=sum(widths, ()), **kwargs)
    return INTERNAL._npi_pad(X, pad_width=widths, mode="constant", **kwargs)


@pytest.mark.parametrize("name", ["_npi_pad", "pad"])
@pytest.mark.parametrize("sides", [(1, 1), (0, 2)])
def test_convolutions_pad_by_the_zeros_in_front(name, sides):
    height, width = ((side, side) for side in sides)
    layer = mx.sym.Convolution(padded(name, ((0, 0), (0, 0), height, width)), kernel=(3, 3), num_filter=4, stride=(2, 1),
                               pad=(0, 1), name="c")
    folded, _ = compare(layer, {"x": (2, 3, 7, 8)}, ["fold_padding"])
    assert name not in operators(folded) and "Pad" not in operators(folded)


@pytest.mark.parametrize("widths,value", [(((0, 0), (0, 0), (0, 1), (1, 1)), 0), (((0, 0), (1, 1), (1, 1), (1, 1)), 0),
                                          (((1, 1), (0, 0), (1, 1), (1, 1)), 0), (((0, 0), (0, 0), (1, 1), (1, 1)), 0.5)])
def test_other_padding_stays_and_lies_as_images_do(widths, value):
    """Behind a convolution it lies channels last."""
    first = mx.sym.Convolution(X, kernel=(3, 3), num_filter=4, name="first")
    around = INTERNAL._npi_pad(first, pad_width=widths, mode="constant", constant_values=value)
    layer = mx.sym.Convolution(around, kernel=(3, 3), num_filter=4, pad=(1, 1), name="c")
    folded, _ = compare(layer, {"x": (2, 3, 9, 8)}, ["fold_padding", "layout"], fewer=False)
    assert "_npi_pad" in operators(folded) and operators(folded).count("_to_layout") <= 2


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_padding_of_images_that_lie_channels_last_has_gradients(mode):
    first = mx.sym.Convolution(X, kernel=(3, 3), num_filter=4, name="first")
    around = INTERNAL._npi_pad(first, pad_width=((0, 0), (1, 2), (2, 1), (0, 3)), mode=mode)
    layer = mx.sym.Convolution(around, kernel=(3, 3), num_filter=4, name="c")
    lying, _ = compare(layer, {"x": (2, 3, 9, 8)}, ["layout"], tolerance=1e-3, train=True, fewer=False)
    names = operators(lying)
    assert "_backward_npi_pad" in names and names.count("_to_layout") <= 4


# ---- fold_transposes

@pytest.mark.parametrize("axes", [(0, 1, 3, 2), (0, 2, 3, 1)])
@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("already", [False, True])
def test_products_read_transposed_matrices_as_they_lie(axes, second, already):
    a, b = variables("ab")
    turned = mx.sym.transpose(b, axes=axes)
    shape = (2, 3, 4, 5) if axes == (0, 1, 3, 2) else (2, 4, 3, 5)  # turned: (2, 3, 5, 4)
    if second:
        net = mx.sym.batch_dot(a, turned, transpose_b=already)
        other = (2, 3, 7, 4) if already else (2, 3, 7, 5)
    else:
        net = mx.sym.batch_dot(turned, a, transpose_a=already)
        other = (2, 3, 5, 7) if already else (2, 3, 4, 7)
    folded, _ = compare(net, {"a": other, "b": shape}, ["fold_transposes"], fewer=False)
    assert operators(folded).count("transpose") == (axes != (0, 1, 3, 2))


@pytest.mark.parametrize("flat", [(6, 4, 5), (1, 6, 4, 5), (3, 2, 4, 5)])
@pytest.mark.parametrize("second", [False, True])
def test_products_read_matrices_that_were_transposed_in_another_stack(flat, second):
    a, b = variables("ab")
    n = len(flat)
    turned = mx.sym.transpose(mx.sym.reshape(b, shape=flat), axes=(*range(n - 2), n - 1, n - 2))
    apart = mx.sym.reshape(turned, shape=(2, 3, 5, 4))
    net = mx.sym.batch_dot(a, apart) if second else mx.sym.batch_dot(apart, a)
    folded, _ = compare(net, {"a": (2, 3, 7, 5) if second else (2, 3, 4, 7), "b": (2, 3, 4, 5)}, ["fold_transposes"], fewer=False)
    assert "transpose" not in operators(folded)


@pytest.mark.parametrize("flat, axes, shape", [((6, 20), (1, 0), (2, 3, 5, 4)), ((2, 3, 4, 5), (1, 0, 3, 2), (2, 3, 5, 4)),
                                               ((6, 4, 5), (0, 2, 1), (2, 3, 4, 5))])
def test_reshapes_that_mix_matrices_stay(flat, axes, shape):
    a, b = variables("ab")
    apart = mx.sym.reshape(mx.sym.transpose(mx.sym.reshape(b, shape=flat), axes=axes), shape=shape)
    folded, _ = compare(mx.sym.batch_dot(a, apart), {"a": (2, 3, 7, shape[2]), "b": (2, 3, 4, 5)}, ["fold_transposes"], fewer=False)
    assert "transpose" in operators(folded)


def test_a_transpose_that_others_read_stays():
    a, b = variables("ab")
    turned = mx.sym.transpose(b, axes=(0, 2, 1))
    net = mx.sym.Group([mx.sym.batch_dot(a, turned), mx.sym.sin(turned)])
    folded, _ = compare(net, {"a": (2, 7, 5), "b": (2, 4, 5)}, ["fold_transposes"], fewer=False)
    assert "transpose" in operators(folded)


# ---- attention of stacks (batch, heads, rows, width)

STACKED_MASKS = [None, (7, 9), (3, 7, 9), (1, 1, 7, 9), (2, 1, 1, 9), (2, 3, 7, 9), (1, 3, 1, 9), (2, 1, 7, 1)]


@pytest.mark.parametrize("mask", STACKED_MASKS)
@pytest.mark.parametrize("turned", [False, True])
def test_attention_of_stacks_is_one_operator(mask, turned):
    q, k, v, m = variables("qkvm")
    keys = mx.sym.transpose(k, axes=(0, 1, 3, 2)) if turned else k
    scores = INTERNAL._npi_true_divide_scalar(mx.sym.batch_dot(q, keys, transpose_b=not turned), scalar=1.5)
    if mask:
        scores = INTERNAL._npi_add(scores, m)
    net = mx.sym.batch_dot(mx.sym.softmax(scores, axis=-1), v)
    shapes = dict({"q": (2, 3, 7, 5), "k": (2, 3, 9, 5), "v": (2, 3, 9, 4)}, **({"m": mask} if mask else {}))
    fused, _ = compare(net, shapes, ["fold_transposes", "fuse_attention"], tolerance=2e-6, fewer=False)
    assert operators(fused).count("_fused_attention") == 1 and "softmax" not in operators(fused)


@pytest.mark.parametrize("batch", [1, 2])
def test_stacks_that_were_split_are_read_before_that(batch):
    names = variables("qkv")
    q, k, v = (mx.sym.transpose(mx.sym.reshape(n, shape=(batch, -1, 3, 4)), axes=(0, 2, 1, 3)) for n in names)
    weights = mx.sym.softmax(mx.sym.batch_dot(q, k, transpose_b=True) * 0.5, axis=-1)
    joined = mx.sym.transpose(mx.sym.batch_dot(weights, v), axes=(0, 2, 1, 3))
    net = mx.sym.reshape(joined, shape=(batch, -1, 12))
    shapes = {"q": (batch, 7, 12), "k": (batch, 9, 12), "v": (batch, 9, 12)}
    fused, _ = compare(net, shapes, ["fuse_attention"], tolerance=2e-6, fewer=False)
    assert operators(fused) == ["_fused_attention"]


# ---- gelu of files in 16-bit types

@pytest.mark.parametrize("root", [1.4140625, 1 / 0.70703125, 1 / 0.70710678, 1.4142135])
def test_gelu_with_a_rounded_number_joins_the_layer(root):
    y = mx.sym.FullyConnected(X, num_hidden=6, name="f")
    net = 0.5 * y * (1 + mx.sym.erf(y / root))
    fused, _ = compare(net, {"x": (3, 5)}, ["fuse_gelu", "fuse_dense"], tolerance=2e-4, fewer=False)
    assert operators(fused) == ["_fused_dense"]


@pytest.mark.parametrize("root", [1.41, 1.415, 1.4])
def test_gelu_of_another_slope_stays(root):
    y = mx.sym.sin(X)
    fused, _ = compare(0.5 * y * (1 + mx.sym.erf(y / root)), {"x": (3, 5)}, ["fuse_gelu"], fewer=False)
    assert "LeakyReLU" not in operators(fused)


# ---- inputs that are read as another shape

def test_a_reshape_of_an_input_is_no_copy():
    """Its readers see the caller's array, also one that is given later."""
    net = mx.sym.sqrt(mx.sym.reshape(X, shape=(6, 4)))
    bound = net.simple_bind(mx.cpu(), grad_req="null", x=(2, 3, 4))
    for value in (4.0, 9.0):
        assert (bound.forward(is_train=False, x=mx.nd.full((2, 3, 4), value))[0].asnumpy() == value ** 0.5).all()
    assert "nothing to copy" in str(bound.explain(runs=1))


def test_a_reshaped_input_that_a_node_changes_is_copied():
    """A state that is updated between the reshape and its reader."""
    data, gamma, beta, mean, var = variables(["data", "gamma", "beta", "mean", "var"])
    norm = mx.sym.BatchNorm(data, gamma, beta, mean, var, fix_gamma=False, momentum=0.5, name="n")
    net = mx.sym.broadcast_add(mx.sym.reshape(mean, shape=(1, 3)), mx.sym.sum(norm, keepdims=True) * 0)
    bound = net.simple_bind(mx.cpu(), data=(4, 3))
    bound.arg_dict["data"][:] = mx.nd.array([[1, 2, 3]] * 4)
    before = bound.aux_dict["mean"].asnumpy()
    result = bound.forward(is_train=True)[0].asnumpy()
    after = bound.aux_dict["mean"].asnumpy()
    assert (result == before).all() and not (after == before).all()


def test_an_output_may_not_lie_in_an_input_that_is_read_later():
    """One name reads the array as another shape, and the array itself is read behind that."""
    flat = mx.sym.reshape(X, shape=(12,))
    net = mx.sym.Group([mx.sym.relu(flat), mx.sym.broadcast_add(X * 2, mx.sym.reshape(mx.sym.sum(mx.sym.relu(flat)) * 0, shape=(1, 1)))])
    op = mx.nd.CachedOp(net)
    x = mx.nd.array([[-1.0, 2, -3, 4], [5, -6, 7, -8], [-9, 10, -11, 12]])
    wanted = x.asnumpy()
    given = x.reshape((12,))
    relu, double = op(x, out=[given, mx.nd.zeros((3, 4))])
    assert (double.asnumpy() == 2 * wanted).all() and (relu.asnumpy() == wanted.clip(0).ravel()).all()
