"""Passes ask what operators compute, not what they are called: graphs of mx.np's operators are
optimized as those of mx.nd are."""

import numpy as np
import pytest
from test_passes import X, bind, compare, operators

import mxnet as mx

Y = mx.sym.Variable("y")


def op(name):
    return getattr(mx.sym._internal, name)


def layer(kind):
    if kind == "dense":
        return mx.sym.FullyConnected(X, num_hidden=6, name="f"), {"x": (4, 5)}, (4, 6)
    net = mx.sym.Convolution(X, num_filter=6, kernel=(3, 3), pad=(1, 1), name="f")
    return net, {"x": (2, 3, 8, 8)}, (2, 6, 8, 8)


LAYERS = {"dense": "_fused_dense", "convolution": "_fused_convolution"}


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("activation", ["_npx_relu", "_npi_tanh", "_npx_sigmoid", "_npi_clip"])
def test_sum_and_activation_join_the_layer(activation, kind):
    net, shapes, shape = layer(kind)
    bounds = {"a_min": -0.5, "a_max": 0.5} if activation == "_npi_clip" else {}
    net = op(activation)(op("_npi_add")(Y, net), **bounds)
    off = ["fuse_dense", "fuse_convolution"]
    fused, _ = compare(net, {**shapes, "y": shape}, off)
    assert [name for name in operators(fused) if name != "_to_layout"] == [LAYERS[kind]]


NUMBERS = {
    "_npi_add_scalar": 2,
    "_npi_subtract_scalar": 0.5,
    "_npi_rsubtract_scalar": 3,
    "_npi_multiply_scalar": -2,
    "_npi_true_divide_scalar": 4,
}


@pytest.mark.parametrize("kind", LAYERS)
def test_numbers_and_a_norm_fold_into_the_layer(kind):
    net, shapes, _ = layer(kind)
    for name, number in NUMBERS.items():
        net = op(name)(net, scalar=number)
    net = op("_npx_batch_norm")(net, fix_gamma=False, name="norm")
    net = op("_npi_negative")(op("_npi_multiply_scalar")(net, scalar=0.25))
    fused, plain = compare(net, shapes, ["fold_scale_shift"], tolerance=2e-5)
    assert operators(fused)[0] == "_fold_scale_shift" and len(operators(fused)) <= 4
    assert len(operators(plain)) >= 9


# What gives its input, shape for shape (2, 3, 4).
IDENTITIES = {
    "copy": lambda s: op("_npi_copy")(s),
    "old copy": lambda s: op("_np_copy")(s),
    "cast": lambda s: op("_npi_cast")(s, dtype="float32"),
    "reshape": lambda s: op("_npx_reshape")(s, newshape=(2, 3, 4)),
    "numpy reshape": lambda s: op("_np_reshape")(s, newshape=(2, 3, 4)),
    "squeeze": lambda s: op("_npi_squeeze")(s),
    "broadcast": lambda s: op("_npi_broadcast_to")(s, shape=(2, 3, 4)),
    "transpose": lambda s: op("_npi_transpose")(s, axes=(0, 1, 2)),
    "transposes": lambda s: op("_npi_transpose")(
        op("_npi_transpose")(s, axes=(2, 0, 1)), axes=(1, 2, 0)
    ),
    "transposes of both kinds": lambda s: mx.sym.transpose(
        op("_npi_transpose")(s, axes=(2, 0, 1)), axes=(1, 2, 0)
    ),
    "swapped axes": lambda s: op("_npi_swapaxes")(s, dim1=1, dim2=1),
    "dropout": lambda s: op("_npx_dropout")(s, p=0.5),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_what_changes_nothing_goes(name):
    net = mx.sym.softmax(IDENTITIES[name](mx.sym.sin(X)))
    fused, plain = compare(net, {"x": (2, 3, 4)}, ["remove_identities"], tolerance=0)
    assert operators(fused) == ["sin", "softmax"]
    assert len(operators(plain)) > 2


def test_two_transposes_become_one():
    turned = op("_npi_transpose")(mx.sym.sin(X), axes=(2, 0, 1))
    net = mx.sym.softmax(op("_npi_transpose")(turned, axes=(2, 0, 1)))
    fused, _ = compare(net, {"x": (2, 3, 4)}, ["remove_identities"], tolerance=0)
    assert operators(fused) == ["sin", "transpose", "softmax"]


def test_what_changes_something_stays():
    for net in (
        op("_npi_transpose")(mx.sym.sin(X), axes=(1, 0, 2)),
        op("_npx_reshape")(mx.sym.sin(X), newshape=(3, 2, 4)),
        op("_npi_swapaxes")(mx.sym.sin(X), dim1=0, dim2=1),
        op("_npi_cast")(mx.sym.sin(X), dtype="float64"),
    ):
        assert len(operators(bind(mx.sym.softmax(net), {"x": (2, 3, 4)}))) == 3


def test_norm_sum_and_relu_are_one_in_training():
    norm = op("_npx_batch_norm")(X, fix_gamma=False, name="norm")
    net = op("_npx_relu")(op("_npi_add")(norm, Y))
    shapes = {"x": (2, 6, 5, 5), "y": (2, 6, 5, 5)}
    fused, _ = compare(net, shapes, ["fuse_batch_norm_add_relu"], tolerance=1e-4, train=True)
    assert "_fused_batch_norm_add_relu" in operators(fused)


@pytest.mark.parametrize("reshape", ["_npx_reshape", "_np_reshape"])
def test_parameters_of_recurrent_layers_are_put_together_once(reshape):
    names = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
    shapes = dict(zip(names, ((32, 5), (32, 8), (32,), (32,)), strict=True))
    parts = [op(reshape)(mx.sym.Variable(n), newshape=(-1,)) for n in names]
    parameters = op("_npi_rnn_param_concat")(*parts, dim=0, num_args=4)
    net = mx.sym.RNN(
        X, parameters, Y, mx.sym.Variable("cell"), state_size=8, num_layers=1, mode="lstm"
    )
    shapes.update({"x": (3, 2, 5), "y": (1, 2, 8), "cell": (1, 2, 8)})
    fused, _ = compare(net, shapes, ["fold_rnn_parameters"])
    assert operators(fused) == ["_join_parameters", "RNN"]


def test_casts_of_weights_run_once_per_plan():
    net = mx.sym.FullyConnected(
        op("_npi_cast")(X, dtype="float16"),
        *(op("_npi_cast")(mx.sym.Variable(n), dtype="float16") for n in ("weight", "bias")),
        num_hidden=6,
    )
    e = bind(net, {"x": (4, 5), "weight": (6, 5), "bias": (6,)})
    assert e.debug_str().count(" constant@") >= 2
    assert e.forward()[0].dtype == np.float16
