"""The plan compiler's passes: each gives what the graph without it gives, is seen in the plan, and
leaves parameters alone."""
import contextlib
import re

import numpy as np
import pytest

import mxnet as mx
from contraction import assert_same

pytestmark = pytest.mark.on_gpu


@contextlib.contextmanager
def off(*names):
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", ",".join(names))
    try:
        yield
    finally:
        mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")


def bind(net, shapes, train=False, dtype="float32", seed=0, dtypes=None):
    """An executor with the same random arrays whenever it is called with the same arguments."""
    rng = np.random.RandomState(seed)
    types = {n: dtype for n in net.list_arguments()}
    types.update(dtypes or {})
    e = net.simple_bind(mx.cpu(), grad_req="write" if train else "null", type_dict=types, **shapes)
    for name in sorted(e.arg_dict):
        e.arg_dict[name][:] = rng.uniform(-1, 1, e.arg_dict[name].shape)
    for name in sorted(e.aux_dict):
        e.aux_dict[name][:] = rng.uniform(0.5, 1.5, e.aux_dict[name].shape)
    return e


def run(e, train=False, seed=None, **inputs):
    if seed is not None:
        mx.random.seed(seed)
    outputs = [o.asnumpy() for o in e.forward(is_train=train, **inputs)]
    if train:
        e.backward([mx.nd.array(np.linspace(-1, 1, o.size).reshape(o.shape), dtype=o.dtype) for o in e.outputs])
        outputs += [e.grad_dict[n].asnumpy() for n in sorted(e.grad_dict) if e.grad_dict[n] is not None]
    return outputs


def operators(e):
    """Operator of every node of the plan, in order."""
    return [line.split()[1] for line in e.debug_str().splitlines() if line[:1].isdigit()]


def compare(net, shapes, passes, tolerance=1e-5, train=False, dtype="float32", fewer=True, **kwargs):
    """(with the passes, without them) after checking that the results agree. tolerance 0: to the
    bit, where kernels can."""
    seed = 5   # of what is random: the same for both
    with off("fuse_pointwise", *passes):
        plain = bind(net, shapes, train, dtype, **kwargs)
        expected = run(plain, train, seed)
    fused = bind(net, shapes, train, dtype, **kwargs)
    actual = run(fused, train, seed)
    assert len(actual) == len(expected) and (not fewer or len(operators(fused)) < len(operators(plain))), fused.debug_str()
    for a, b in zip(actual, expected):
        assert a.dtype == b.dtype
        if tolerance:
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
        else:
            assert_same(a, b)
    for n, a in plain.arg_dict.items():
        np.testing.assert_array_equal(a.asnumpy(), fused.arg_dict[n].asnumpy())
    # parameters changed afterwards are respected
    for e in (plain, fused):
        for n in e.arg_dict:
            e.arg_dict[n][:] = e.arg_dict[n] * 0.5 + 0.1
        for n in e.aux_dict:
            e.aux_dict[n][:] = e.aux_dict[n] + 0.25
    for a, b in zip(run(fused, train, seed), run(plain, train, seed)):
        np.testing.assert_allclose(a, b, rtol=tolerance or 1e-6, atol=tolerance or 1e-6)
    return fused, plain


X = mx.sym.Variable("x")

ACTIVATIONS = {
    "relu": lambda s: mx.sym.Activation(s, act_type="relu"),
    "relu_op": mx.sym.relu,
    "sigmoid": lambda s: mx.sym.Activation(s, act_type="sigmoid"),
    "tanh": mx.sym.tanh,
    "softrelu": lambda s: mx.sym.Activation(s, act_type="softrelu"),
    "gelu": lambda s: mx.sym.LeakyReLU(s, act_type="gelu"),
    "leaky": lambda s: mx.sym.LeakyReLU(s, act_type="leaky", slope=0.2),
    "elu": lambda s: mx.sym.LeakyReLU(s, act_type="elu", slope=0.7),
    "relu6": lambda s: mx.sym.clip(s * 8, 0, 6),
    "hard_sigmoid": lambda s: mx.sym.hard_sigmoid(s, alpha=0.3, beta=0.4),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("layer", ["dense", "convolution"])
def test_activation_joins_the_layer(layer, name):
    if layer == "dense":
        net, shapes, fused_name = mx.sym.FullyConnected(X, num_hidden=9, name="f"), {"x": (5, 7)}, "_fused_dense"
    else:
        net, shapes, fused_name = mx.sym.Convolution(X, num_filter=9, kernel=(3, 3), name="f"), {"x": (2, 3, 8, 8)}, "_fused_convolution"
    fused, plain = compare(ACTIVATIONS[name](net), shapes, ["fuse_dense", "fuse_convolution", "fold_scale_shift"])
    assert fused_name in operators(fused) and fused_name not in operators(plain)
    assert not {"Activation", "LeakyReLU", "clip", "relu", "tanh", "hard_sigmoid"} & set(operators(fused))


def expansion(filters=32, act=True, no_bias=False, kernel=(3, 3), pad=(1, 1), stride=(1, 1), groups=None, **more):
    s = mx.sym.Convolution(X, num_filter=filters, kernel=(1, 1), no_bias=no_bias, name="e")
    s = mx.sym.clip(s, 0, 6) if act else s
    s = mx.sym.Convolution(s, num_filter=filters, num_group=groups or filters, kernel=kernel,
                           pad=pad, stride=stride, no_bias=not no_bias, name="d", **more)
    return mx.sym.relu(s) if act else s


@pytest.mark.cpu
@pytest.mark.parametrize("given", [{}, {"stride": (1, 1)}, {"pad": (1, 1)}, {"stride": (), "pad": (), "dilate": ()}])
def test_expansion_without_strides_or_pads(given):
    s = mx.sym.Convolution(X, num_filter=32, kernel=(1, 1), no_bias=True, name="e")
    net = mx.sym.Convolution(s, num_filter=32, num_group=32, kernel=(3, 3), no_bias=True, name="d", **given)
    fused, _ = compare(net, {"x": (2, 5, 7, 6)}, ["fuse_expansion"], fewer=False)
    assert "_fused_expand_depthwise" in operators(fused)


@pytest.mark.cpu
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("act", [False, True])
def test_expansion_joins_the_depthwise_convolution(act, stride):
    shapes = {"x": (2, 5, 11, 13)}
    for no_bias in (False, True):
        net = mx.sym.Pooling(expansion(act=act, no_bias=no_bias, stride=(stride, stride)), kernel=(2, 2), pool_type="avg")
        fused, plain = compare(net, shapes, ["fuse_expansion", "fuse_convolution"], fewer=False)
        assert "_fused_expand_depthwise" in operators(fused) and "_fused_expand_depthwise" not in operators(plain)
        assert not {"Convolution", "_fused_convolution", "clip"} & set(operators(fused))
        with off("layout"):
            planes = bind(net, shapes)
            assert "_fused_expand_depthwise" in operators(planes) and "_to_layout" not in operators(planes)
            for name in plain.arg_dict:
                planes.arg_dict[name][:] = plain.arg_dict[name]
            np.testing.assert_allclose(run(planes)[0], run(plain)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("change", [dict(filters=24), dict(kernel=(3, 1), pad=(1, 0)),
                                    dict(kernel=(5, 5), pad=(2, 2)), dict(stride=(1, 2)),
                                    dict(dilate=(2, 2)), dict(groups=2),
                                    dict(pad=(2, 2))])
def test_other_pairs_of_convolutions_stay(change):
    assert "_fused_expand_depthwise" not in operators(bind(expansion(**change), {"x": (1, 4, 9, 9)}))


def test_expansion_that_others_read_stays():
    net = expansion(act=False)
    net = mx.sym.Group([net, net.get_internals()["e_output"]])
    assert "_fused_expand_depthwise" not in operators(bind(net, {"x": (1, 4, 9, 9)}))
    assert "_fused_expand_depthwise" not in operators(bind(expansion(), {"x": (1, 4, 9, 9)}, train=True))
    assert "_fused_expand_depthwise" not in operators(bind(expansion(), {"x": (1, 4, 9, 9)}, dtype="float64"))


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("side", [0, 1])
def test_addition_joins_the_dense_layer(side, no_bias, rows):
    dense = mx.sym.FullyConnected(X, num_hidden=6, flatten=False, no_bias=no_bias)
    other = mx.sym.exp(mx.sym.Variable("y"))
    net = mx.sym.relu(mx.sym.elemwise_add(dense, other) if side == 0 else mx.sym.broadcast_add(other, dense))
    fused, _ = compare(net, {"x": (rows, rows * rows, 5), "y": (rows, rows * rows, 6)}, ["fuse_dense"])
    assert operators(fused) == ["exp", "_fused_dense"]


def test_addition_that_broadcasts_stays():
    net = mx.sym.broadcast_add(mx.sym.FullyConnected(X, num_hidden=6), mx.sym.Variable("y"))
    for shape in [(1, 6), (3, 1)]:
        assert "_fused_dense" not in operators(bind(net, {"x": (3, 5), "y": shape}))
    # the layer's own result is the one that is broadcast
    assert "_fused_dense" not in operators(bind(net, {"x": (1, 5), "y": (3, 6)}))


def test_what_others_read_is_not_fused():
    dense = mx.sym.FullyConnected(X, num_hidden=6, name="f")
    assert "_fused_dense" not in operators(bind(mx.sym.Group([mx.sym.relu(dense), dense]), {"x": (3, 5)}))
    assert "_fused_dense" not in operators(bind(mx.sym.relu(dense), {"x": (3, 5)}, train=True))
    assert "_fused_dense" not in operators(bind(mx.sym.relu(dense), {"x": (3, 5)}, dtype="float64"))


NORMS = {
    "dense": (lambda: mx.sym.FullyConnected(X, num_hidden=6, no_bias=True), {}, {"x": (4, 5)}),
    "dense 3d": (lambda: mx.sym.FullyConnected(X, num_hidden=6, flatten=False), {"axis": -1}, {"x": (2, 3, 5)}),
    "convolution": (lambda: mx.sym.Convolution(X, num_filter=6, kernel=(3,), num_group=2), {}, {"x": (2, 4, 9)}),
    "channels last": (lambda: mx.sym.Convolution(X, num_filter=6, kernel=(3, 3), layout="NHWC"), {"axis": 3}, {"x": (2, 8, 8, 3)}),
}


@pytest.mark.parametrize("name", NORMS)
def test_norm_and_numbers_fold_into_the_layer(name):
    layer, norm, shapes = NORMS[name]
    net = 3 - mx.sym.BatchNorm(layer() * 0.5 + 0.25, fix_gamma=False, eps=1e-2, **norm) / 4
    fused, plain = compare(net, shapes, ["fold_scale_shift"], tolerance=2e-5)
    assert len(operators(fused)) == 2 and operators(fused)[0] == "_fold_scale_shift", fused.debug_str()
    assert "BatchNorm" in operators(plain)


def test_norm_over_another_axis_is_not_folded():
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(X, num_hidden=6, flatten=False), axis=1)
    assert "BatchNorm" in operators(bind(net, {"x": (2, 3, 5)}))
    # its mean is read by somebody
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(X, num_hidden=6), output_mean_var=True)
    assert "BatchNorm" in operators(bind(net, {"x": (2, 5)}))


def test_fused_operators_say_what_they_accept():
    # a graph that the compiler made can be read back; a wrong one is refused
    e = bind(mx.sym.relu(mx.sym.FullyConnected(X, num_hidden=3, name="f")), {"x": (2, 4)})
    text = e.get_optimized_symbol().tojson()
    again = mx.sym.load_json(text).bind(mx.cpu(), dict(e.arg_dict))
    np.testing.assert_array_equal(again.forward()[0].asnumpy(), e.forward()[0].asnumpy())
    for wrong in ["swoosh", "clip:1", "relu:1", "leaky:a"]:
        with pytest.raises(mx.MXNetError, match="accepted: relu"):
            mx.sym.load_json(re.sub(r'("post": *)"relu"', rf'\1"{wrong}"', text))


# ---- remove_identities

def test_what_changes_nothing_goes():
    y = mx.sym.Dropout(mx.sym.identity(mx.sym.sin(X)), p=0.5)
    y = mx.sym.Cast(mx.sym.reshape(mx.sym.BlockGrad(y), shape=(2, 3, 4)), dtype="float32")
    y = mx.sym.transpose(mx.sym.transpose(y, axes=(2, 0, 1)), axes=(1, 2, 0))
    net = mx.sym.softmax(mx.sym.transpose(mx.sym.transpose(y, axes=(2, 0, 1)), axes=(2, 0, 1)))
    fused, _ = compare(net, {"x": (2, 3, 4)}, ["remove_identities"], tolerance=0)
    assert operators(fused) == ["sin", "transpose", "softmax"]


def test_what_changes_something_stays():
    shapes = {"x": (2, 3)}
    def left(net, **kwargs):
        return operators(bind(net, shapes, **kwargs))
    sin = mx.sym.sin(X)
    assert "Dropout" in left(mx.sym.Dropout(sin, mode="always"))
    assert "Dropout" in left(mx.sym.sum(mx.sym.Dropout(sin)), train=True)
    assert "Cast" in left(mx.sym.Cast(sin, dtype="float64"))
    assert "Reshape" in left(mx.sym.reshape(sin, shape=(3, 2)))
    assert "transpose" in left(mx.sym.transpose(sin))
    assert "_copy" in left(mx.sym.identity(X))          # a result has memory of its own


def test_gradient_stops_without_its_node():
    net = mx.sym.sin(X) * mx.sym.BlockGrad(mx.sym.identity(mx.sym.cos(X)))
    compare(net, {"x": (3, 4)}, ["remove_identities"], tolerance=0, train=True)


def test_sums_and_broadcasts_of_one_shape_go():
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    y = mx.sym.broadcast_like(mx.sym.broadcast_to(mx.sym.sin(a), shape=(3, 4)), b)
    net = mx.sym.softmax(mx.sym.slice_like(y, b) + mx.sym.broadcast_add(mx.sym.cos(a), b))
    fused, plain = compare(net, {"a": (3, 4), "b": (3, 4)}, ["remove_identities"], tolerance=0, train=True)
    for gone in ("broadcast_like", "broadcast_to", "slice_like", "_sum_like"):
        assert gone in operators(plain) and gone not in operators(fused)


# ---- fold_constants

def test_arrays_without_inputs_are_computed_once():
    position = mx.sym.reshape(mx.sym.sin(mx.sym.arange(12) / 3), shape=(3, 4))
    net = mx.sym.broadcast_add(mx.sym.softmax(X), position) + mx.sym.ones_like(X)
    fused, plain = compare(net, {"x": (3, 4)}, ["fold_constants"], tolerance=1e-6, fewer=False)
    assert fused.debug_str().count(" constant@") > 4 and " constant@" not in plain.debug_str()
    for _ in range(3):
        np.testing.assert_array_equal(run(fused)[0], run(plain)[0])
    # gradients of what is constant are not asked for; those of what is not stay right
    compare(net, {"x": (3, 4)}, ["fold_constants"], tolerance=1e-6, train=True, fewer=False)


def test_results_random_and_large_arrays_are_no_constants():
    assert " constant@" in bind(mx.sym.zeros((3, 3)) + X, {"x": (3, 3)}).debug_str()
    assert " constant@" not in bind(mx.sym.zeros((300, 300)) + X, {"x": (300, 300)}).debug_str()
    e = bind(mx.sym.zeros((2, 3)) + 1, {})
    for _ in range(2):
        np.testing.assert_array_equal(run(e)[0], np.ones((2, 3)))   # the last node writes the caller's array
    e = bind(mx.sym.random.uniform(shape=(2, 3)) * X, {"x": (2, 3)})
    assert " constant@" not in e.debug_str() and not np.array_equal(run(e)[0], run(e)[0])


# ---- all passes together

def all_passes():
    """Names of the passes of inference and training, as the plans themselves tell."""
    e = bind(mx.sym.relu(X), {"x": (2,)}, train=True)
    names = []
    for train in (False, True):
        run(e, train)
        names += [p["name"] for p in e.explain(runs=0).plan["passes"]]
    return sorted(set(names))


@pytest.mark.parametrize("name, size", [("mobilenetv2_0.25", 64), ("resnet18_v1", 64), ("squeezenet1.1", 224)])
def test_networks_compute_the_same_without_passes(name, size):
    """The bound that docs/passes.md states, and parameters that nothing touches."""
    mx.random.seed(1)
    net = mx.gluon.model_zoo.vision.get_model(name, classes=7)
    net.initialize(mx.init.Xavier())
    x = mx.nd.array(np.random.RandomState(0).uniform(-1, 1, (2, 3, size, size)))
    net(x).wait_to_read()
    before = {n: p.data().asnumpy() for n, p in net.collect_params().items()}
    results, nodes = [], []
    for passes in ([], all_passes()):
        with off(*passes):
            net.hybridize(static_alloc=True, static_shape=True)
            results.append(net(x).asnumpy())
            nodes.append(net.explain(runs=0).plan["stats"]["num_nodes"])
    assert nodes[0] < 0.8 * nodes[1], nodes
    assert np.abs(results[0] - results[1]).max() <= 1e-5 * np.abs(results[1]).max()
    for n, p in net.collect_params().items():
        np.testing.assert_array_equal(p.data().asnumpy(), before[n])


def test_nodes_that_nobody_reads_are_not_in_the_plan():
    net = mx.sym.FullyConnected(mx.sym.tanh(mx.sym.exp(X)), num_hidden=3, name="f")
    with off("fuse_pointwise"):
        names = {}
        for wanted in ("x", "f_weight"):
            e = net.simple_bind(mx.cpu(), grad_req={n: "write" if n == wanted else "null" for n in net.list_arguments()}, x=(2, 4))
            run(e, True)
            names[wanted] = operators(e)
        assert len(names["f_weight"]) == 4 and names["f_weight"][-1] == "_backward_FullyConnected"     # x's gradient ends in two more
        assert len(names["x"]) > 5
        both = mx.sym.Group([mx.sym.exp(X), net])
        assert operators(bind(both[0], {"x": (2, 4)})) == ["exp"]


# ---- optimize_for

def test_backends_of_graphs():
    net = mx.sym.relu(mx.sym.FullyConnected(X, num_hidden=3, name="f"))
    e = bind(net, {"x": (2, 4)})
    for made in [net.get_backend_symbol("MKLDNN"), net.optimize_for("ONEDNN", dict(e.arg_dict)),
                 net.optimize_for("MKLDNN_QUANTIZE", shape_dict={"x": (2, 4)})]:
        assert made.list_arguments() == net.list_arguments() and made.list_outputs() == net.list_outputs()
        np.testing.assert_array_equal(made.bind(mx.cpu(), dict(e.arg_dict)).forward()[0].asnumpy(), e.forward()[0].asnumpy())
    for call in (net.get_backend_symbol, net.optimize_for):
        with pytest.raises(ValueError, match="no backend 'TensorRT'; accepted: MKLDNN, "):
            call("TensorRT")
        with pytest.raises(TypeError, match="backend=None; accepted: the name of a subgraph backend"):
            call(None)
    wrong = {"shape_dict": {"x": (2, 4), "f_weight": (3, 5)}}
    with pytest.raises(mx.MXNetError, match="f_weight|weight"):
        net.optimize_for("MKLDNN", **wrong)
    net.optimize_for("MKLDNN", skip_infer=True, **wrong)


def test_backends_of_blocks():
    net = mx.gluon.nn.Dense(3, activation="relu")
    net.initialize()
    x = mx.nd.ones((2, 4))
    y = net(x)
    net.optimize_for(x, backend="MKLDNN")
    np.testing.assert_allclose(net(x).asnumpy(), y.asnumpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="no backend 'other'"):
        net.optimize_for(x, backend="other")


def test_a_constant_that_fails_fails_in_every_run():
    words = mx.sym.take(mx.sym.ones((3, 2)), mx.sym.arange(5), mode="raise", name="words")
    e = bind(mx.sym.broadcast_add(X, mx.sym.sum(words)), {"x": (2, 2)})
    assert "constant" in e.debug_str()
    for _ in range(3):
        with pytest.raises(mx.MXNetError, match="words"):
            e.forward()[0].wait_to_read()


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN"])
def test_rnn_parameters_are_put_together_once(layer):
    net = getattr(mx.gluon.rnn, layer)(20, num_layers=2, bidirectional=True, input_size=12)
    net.initialize(mx.init.Uniform(0.3))
    x = mx.nd.random.uniform(-1, 1, shape=(5, 3, 12))
    eager = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), eager, rtol=1e-5, atol=1e-6)
    text = str(net.explain(runs=0))
    assert "_join_parameters" in text and "2 nodes" in text
    for p in net.collect_params().values():   # new parameters are seen
        p.set_data(p.data() * 0.5)
    changed = net(x).asnumpy()
    net.hybridize(False)
    np.testing.assert_allclose(changed, net(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert abs(changed - eager).max() > 1e-2
